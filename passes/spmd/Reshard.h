// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshard.h - Operations that move values between devices ------------===//
#pragma once

#include "passes/spmd/Placement.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace millrace::spmd {

/// What stands for a value of the global program: what this device holds, which part that is, and among which devices the
/// parts make up the value.
struct Shard {
  mlir::Value value;
  Placement placement; ///< empty for values that are not tensors
  Scope scope;
};

/// The type of one tile of each dimension. Needs counts that divide.
mlir::Type localType(mlir::Type global, const Placement &placement);

/// A constant of zeros.
mlir::ElementsAttr zerosOf(mlir::RankedTensorType type);

/// Emits the code that changes placements. Every collective gets a channel of its own.
class Resharder {
public:
  Resharder(mlir::ModuleOp module, int64_t devices);

  /// `shard` in the placement `target`, whose tiles divide the dimensions and are uniform in the scope. Dimensions whose
  /// tiles only get smaller are sliced, others gathered as far as necessary. Tiles that only change hands are permuted,
  /// a cut that moves to another dimension is an all_to_all.
  /// `lastUse`: nobody else will ask for the value, so an all_reduce that was made for it and is sliced now becomes a
  /// reduce_scatter.
  mlir::Value reshard(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, const Placement &target,
                      bool lastUse = false);

  /// Combines the summands of `value` that the devices of each group hold, with the computation of `reducer`.
  mlir::Value allReduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const ReplicaGroups &groups,
                        mlir::Region &reducer);
  /// The same with addition.
  mlir::Value allReduceSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const ReplicaGroups &groups);

  /// What `device` has, on all devices.
  mlir::Value broadcast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t device);

  /// What has been moved where, so that a value with several users is moved once. To be put back with the code it names.
  struct Done {
    Placement target;
    Scope scope;
    mlir::Value result;
  };
  using Memory = llvm::DenseMap<mlir::Value, llvm::SmallVector<Done, 1>>;
  Memory memory() const { return done; }
  void setMemory(Memory memory) { done = std::move(memory); }

private:
  mlir::Value move(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, const Placement &target, bool lastUse);
  mlir::Value scatterSum(mlir::OpBuilder &builder, mlir::Value value, Placement &placement, const Placement &target);
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, Placement &placement, size_t dim,
                     const Tiles &target, const Scope &scope);
  mlir::Value permute(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, const Placement &target);
  mlir::Value exchange(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, Placement &placement, size_t from,
                       size_t to, const Placement &target, const Scope &scope);
  mlir::Value slice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, Placement &placement,
                    const Placement &target);
  mlir::Attribute nextChannel(mlir::MLIRContext *context);

  int64_t numDevices;
  int64_t channel = 0;
  Memory done;
  llvm::SmallPtrSet<mlir::Operation *, 8> ownSums; ///< all_reduces that are not the program's own
};

} // namespace millrace::spmd
