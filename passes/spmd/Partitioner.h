// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Partitioner.h - Rebuilds a function for one device -----------------===//
// Visits the global function in order and emits the local one next to it. A Shard represents each global value.
#pragma once

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/spmd/OpRules.h"
#include "passes/spmd/Partition.h"
#include "passes/spmd/Reshard.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace millrace::spmd {

/// A wish for a placement. Open dimensions may stay cut more finely than asked.
struct Target {
  Placement placement;
  llvm::SmallVector<bool> open;
  std::vector<int32_t> manualKey; ///< from a string with manual subgroups: their number per device
  std::optional<Pending> pending = {}; ///< what is to stay unreduced; without a scope
};

/// Returns true if the global value has one user and its local value represents no other: it is asked only for results of operations that end in an
/// all_reduce, and those are new.
inline bool isUsedOnce(mlir::Value global) {
  return global.hasOneUse() && llvm::isa_and_nonnull<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp, stablehlo::GatherOp, stablehlo::ReduceOp,
                                                     stablehlo::ScatterOp>(global.getDefiningOp());
}

class Partitioner {
public:
  Partitioner(mlir::ModuleOp module, int64_t devices, const PartitionOptions &options)
      : module(module), numDevices(devices), options(options), resharder(module, devices, options.filling),
        builder(module.getContext()), currentScope(Scope::all(devices)) {}

  /// Replaces the function's signature and body.
  mlir::LogicalResult run(mlir::func::FuncOp function);

private:
  // PartitionFunction.cpp: the signature.
  /// `emitError` begins errors about tensors that are no operation's.
  using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
  mlir::FailureOr<Target> signatureTarget(mlir::func::FuncOp function, mlir::DictionaryAttr attrs, mlir::Type type, EmitError emitError);
  void describeSignature(mlir::func::FuncOp function, llvm::ArrayRef<Shard> arguments, llvm::ArrayRef<Shard> results);
  void keepAliases(mlir::func::FuncOp function, llvm::MutableArrayRef<mlir::FailureOr<Target>> results);

  // PartitionShardings.cpp: what annotations mean.
  mlir::FailureOr<Target> targetOf(sdy::TensorShardingAttr sharding, mlir::Type type, mlir::Operation *op,
                                   const Scope &scope, EmitError emitError = nullptr);
  mlir::FailureOr<Target> targetOf(llvm::StringRef sharding, mlir::Type type, mlir::Operation *op, EmitError emitError = nullptr);
  Placement choose(const Shard &shard, Target target, mlir::Operation *op);
  std::optional<Placement> wantedPlacement(mlir::OpResult result, const Scope &scope);
  void dropPointless(Target &target, mlir::Type type);

  // PartitionManual.cpp: into manual computations and out of them.
  mlir::LogicalResult emitManual(sdy::ManualComputationOp op);
  mlir::FailureOr<Shard> enter(const Shard &outside, sdy::TensorShardingAttr sharding,
                               llvm::ArrayRef<mlir::StringAttr> axes, mlir::Type global, mlir::Operation *op);
  mlir::FailureOr<Shard> leave(Shard shard, sdy::TensorShardingAttr sharding, llvm::ArrayRef<mlir::StringAttr> axes,
                               mlir::Type global, const Scope &scope, mlir::Operation *op);
  Scope scopeOfAxes(const Scope &outer, llvm::ArrayRef<mlir::StringAttr> axes, sdy::MeshAttr mesh);
  /// True if the custom call is one of the partitioner's own and was handled, with the outcome in `result`.
  bool emitShardingCall(stablehlo::CustomCallOp op, mlir::LogicalResult &result);
  mlir::LogicalResult emitSharding(stablehlo::CustomCallOp op);
  mlir::LogicalResult emitFullToShard(stablehlo::CustomCallOp op);
  mlir::LogicalResult emitShardToFull(stablehlo::CustomCallOp op);

  // PartitionOps.cpp: blocks and plain operations.
  mlir::LogicalResult emitBlock(mlir::Block &block, llvm::SmallVectorImpl<Shard> &returned);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::LogicalResult emitKnown(mlir::Operation &op);
  mlir::LogicalResult constrain(mlir::Operation &op, sdy::TensorShardingAttr sharding);
  mlir::LogicalResult emitByRule(mlir::Operation &op);
  void clearFilling(mlir::Operation &op, llvm::MutableArrayRef<Shard> operands, const SplitRule &split,
                    llvm::ArrayRef<const Tiles *> assigned, mlir::Operation *combiner, mlir::ValueRange inits);
  llvm::SmallVector<mlir::Value> reduceAgain(stablehlo::ReduceOp op, mlir::ValueRange partial, const ReplicaGroups &groups);
  /// Makes `local` represent `global`.
  void bind(mlir::Value global, mlir::Value local, Placement placement, Scope scope);
  llvm::SmallVector<std::optional<Tiles>> assign(mlir::Operation &op, const SplitRule &split, const Scope &scope,
                                                 llvm::ArrayRef<std::optional<Placement>> wanted);
  mlir::LogicalResult emitPartitionedCall(stablehlo::CustomCallOp op);
  std::optional<int64_t> onlyDevice(stablehlo::CustomCallOp op);
  mlir::LogicalResult emitOnDevice(stablehlo::CustomCallOp op, int64_t device);
  mlir::LogicalResult emitCollective(mlir::Operation &op);
  mlir::Operation *emitLocal(mlir::Operation &op, mlir::ValueRange operands, llvm::ArrayRef<Placement> results);
  Scope scopeOf(mlir::Operation &op);
  Placement wholeOf(mlir::Type type) const;
  mlir::Value whole(const Shard &shard, const Scope &scope, mlir::Location loc);

  // PartitionIndexing.cpp: indices into dimensions that are split.
  mlir::Value localizeGather(stablehlo::GatherOp op, llvm::MutableArrayRef<mlir::Value> operands, const Placement &placement);
  mlir::Value maskGather(stablehlo::GatherOp op, mlir::Value result, mlir::Value inside);
  void localizeScatter(stablehlo::ScatterOp op, llvm::MutableArrayRef<mlir::Value> operands, const Placement &placement);
  /// Returns the value to which a device adds its updates: one device of each group has the operand, the others have zeros.
  mlir::Value startOfSum(stablehlo::ScatterOp op, mlir::Value input, const ReplicaGroups &groups);
  bool localizeUpdate(stablehlo::DynamicUpdateSliceOp op, llvm::MutableArrayRef<mlir::Value> operands, const Placement &placement);
  mlir::Value emitUpdate(stablehlo::DynamicUpdateSliceOp op, llvm::ArrayRef<mlir::Value> operands, const Placement &placement);

  // PartitionMoved.cpp: dimensions along which elements move.
  llvm::SmallVector<mlir::Value> emitMoved(mlir::Operation &op, llvm::MutableArrayRef<Shard> operands, llvm::ArrayRef<Placement> results);
  mlir::Value emitJoined(stablehlo::ConcatenateOp op, llvm::ArrayRef<Shard> operands, const Placement &result);
  mlir::Value emitScattered(stablehlo::SelectAndScatterOp op, llvm::MutableArrayRef<Shard> operands, const Placement &result);
  void moveConvolved(stablehlo::ConvolutionOp op, Shard &lhs, const Placement &result, llvm::MutableArrayRef<int64_t> padding,
                     llvm::MutableArrayRef<int64_t> dilation);
  mlir::Value spreadWindow(mlir::Location loc, const Shard &shard, size_t dim, llvm::ArrayRef<int64_t> starts, int64_t width,
                           int64_t step, mlir::Value fill);
  llvm::SmallVector<int64_t> perDevice(const Tiles &tiles, llvm::function_ref<int64_t(int64_t tile)> function);

  // PartitionUnreduced.cpp: values whose summands are still apart.
  Shard combined(const Shard &shard, mlir::Location loc);
  /// `shard`, whose devices hold summands of a value of its scope.
  Shard apart(Shard shard, std::optional<Pending> pending);
  /// `shard` as `target` wants its summands: combined here if the target has others or none, taken apart by splitSum(), which comes
  /// after resharding.
  Shard mergeSum(const Shard &shard, const Target &target, mlir::Location loc);
  Shard splitSum(const Shard &shard, const Target &target, mlir::Location loc);
  std::optional<Pending> pendingOf(sdy::TensorShardingAttr sharding, llvm::ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh);
  std::optional<Pending> wantedPending(mlir::Operation &op);
  bool staysApart(const Pending &wanted, mlir::Operation *combiner, const ReplicaGroups &groups, llvm::ArrayRef<const Tiles *> kept,
                  const Scope &scope);
  std::optional<Pending> passedOn(mlir::Operation &op);

  // PartitionRegions.cpp: control flow.
  mlir::LogicalResult emitWhile(stablehlo::WhileOp op);
  mlir::LogicalResult emitBranches(mlir::Operation &op);

  mlir::ModuleOp module;
  int64_t numDevices;
  const PartitionOptions &options;
  Resharder resharder;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, Shard> shards;
  Scope currentScope; ///< of the sdy region whose operations are emitted
};

} // namespace millrace::spmd
