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

struct Piece;
struct Transfer;

/// Along `parts` every device of a group of `whole` holds a summand of the value, or a candidate of its maximum or minimum.
struct Pending {
  Tiles parts;
  sdy::ReductionOp kind;
  Scope whole;
  bool isEqual = false; ///< all hold the same candidate, which is the value then

  bool isLike(const Pending &other) const { return parts == other.parts && kind == other.kind; }
};

/// Represents a value of the global program: the local value of this device, its tile, and the devices whose tiles make up the value.
struct Shard {
  mlir::Value value;
  Placement placement; ///< empty for values that are not tensors
  Scope scope;
  llvm::SmallVector<int64_t, 4> shape; ///< of the whole, see Scope; empty for values that are not tensors
  /// Set where the value is unreduced: then `scope` is of devices that hold the same summand.
  std::optional<Pending> pending = {};
};

/// Returns the Shard of a value of type `global` with the local value `local`.
Shard shardOf(mlir::Type global, mlir::Value local, Placement placement, Scope scope);

/// The type of one tile of each dimension, filled up.
mlir::Type localType(mlir::Type global, const Placement &placement);

/// A constant of zeros.
mlir::ElementsAttr zerosOf(mlir::RankedTensorType type);

/// A constant that changes no value that is added to it: -0 + -0 is -0, but 0 + -0 is 0.
mlir::ElementsAttr nothingOf(mlir::RankedTensorType type);

/// The scalar zero of the element type of `like`.
mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value like);

/// Elements [begin, end) along `dim`.
mlir::Value cutOut(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, size_t dim, int64_t begin, int64_t end);

/// Emits the code that changes placements. Every collective gets a channel of its own.
class Resharder {
public:
  /// Makes a scalar of the element type of `like`.
  using Filling = std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value like)>;
  /// `filling`: of the last tiles, which no result depends on; zero without one.
  Resharder(mlir::ModuleOp module, int64_t devices, Filling filling = nullptr);

  /// Returns `shard` in the placement `target`, whose tiles are uniform in the scope. Dimensions whose tiles only get smaller are sliced, others
  /// gathered as far as necessary. Tiles that only change devices are permuted; an axis that moves to another dimension is an all_to_all.
  /// `lastUse`: the value has no other use, so an all_reduce that computed it and is sliced now becomes a reduce_scatter.
  mlir::Value reshard(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, const Placement &target,
                      bool lastUse = false);

  /// Combines the summands of `value` that the devices of each group hold, with the computation of `reducer`.
  mlir::Value allReduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const ReplicaGroups &groups,
                        mlir::Region &reducer);
  /// The same with addition, or the maximum or minimum.
  mlir::Value allReduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const ReplicaGroups &groups,
                        sdy::ReductionOp kind = sdy::ReductionOp::Sum);

  /// The values of the devices of each group, one behind the other along `dim`.
  mlir::Value gatherAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, size_t dim, const ReplicaGroups &groups);

  /// Along `dim`, elements [starts[device], starts[device] + width) of the whole, from whoever holds them: devices exchange
  /// what is missing, or all of it is gathered where that moves less.
  /// Elements outside of the whole are `fill`, a scalar; undefined without one.
  mlir::Value window(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, size_t dim,
                     llvm::ArrayRef<int64_t> starts, int64_t width, mlir::Value fill = {});

  /// Elements [begins[device], ends[device]) along `dim` of the local `value`, and `fill`, a scalar, in place of the others.
  mlir::Value keep(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, size_t dim,
                   llvm::ArrayRef<int64_t> begins, llvm::ArrayRef<int64_t> ends, mlir::Value fill);

  /// The device's own entry of `values`, as an i32.
  mlir::Value own(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> values);

  /// The elements that a device starts at `starts[device]` of, `size` along `dim`. Needs starts inside of the value.
  mlir::Value sliceAt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, size_t dim,
                      llvm::ArrayRef<int64_t> starts, int64_t size);

  /// Sends the value of `device` to all devices.
  mlir::Value broadcast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t device);

  /// A channel that no other collective of the module has.
  mlir::Attribute nextChannel(mlir::MLIRContext *context);

  /// The reshards done so far, so that a value with several users is resharded once. They are undone together with the code that they name.
  struct Done {
    Placement target;
    Scope scope;
    llvm::SmallVector<int64_t, 4> shape;
    mlir::Value result;
  };
  using Memory = llvm::DenseMap<mlir::Value, llvm::SmallVector<Done, 1>>;
  Memory memory() const { return done; }
  void setMemory(Memory memory) { done = std::move(memory); }

private:
  mlir::Value move(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, const Placement &target, bool lastUse);
  mlir::Value fillUp(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);
  // Each takes what `shard` is now one step further.
  void scatterSum(mlir::OpBuilder &builder, Shard &shard, const Placement &target);
  void gather(mlir::OpBuilder &builder, mlir::Location loc, Shard &shard, size_t dim, const Tiles &target);
  void exchange(mlir::OpBuilder &builder, mlir::Location loc, Shard &shard, size_t from, size_t to, const Placement &target);
  void slice(mlir::OpBuilder &builder, mlir::Location loc, Shard &shard, const Placement &target);
  void fetch(mlir::OpBuilder &builder, mlir::Location loc, Shard &shard, size_t dim, const Tiles &target);
  // The parts of window().
  mlir::Value join(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, size_t dim, llvm::ArrayRef<Piece> pieces);
  mlir::Value transfer(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, size_t dim, llvm::ArrayRef<Transfer> transfers,
                       llvm::ArrayRef<int64_t> starts, int64_t width, mlir::Value fill);
  mlir::Value windowOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value buffer, size_t dim, llvm::ArrayRef<int64_t> begins,
                       llvm::ArrayRef<int64_t> starts, int64_t width, int64_t size, mlir::Value fill);
  mlir::Value permute(mlir::OpBuilder &builder, mlir::Location loc, const Shard &shard, const Placement &target);
  mlir::Value permute(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const ReplicaGroups &pairs);

  int64_t numDevices;
  Filling filling;
  int64_t channel = 0;
  Memory done;
  llvm::SmallPtrSet<mlir::Operation *, 8> ownSums; ///< all_reduces that are not the program's own
};

} // namespace millrace::spmd
