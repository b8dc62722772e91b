// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionBuilder.h - Slots, steps and lifetimes of one function -----===//
#pragma once

#include "lowering/program/BuildProgram.h"
#include "lowering/program/MemoryPlan.h"
#include "lowering/program/ProgramTypes.h"

#include "passes/fusion/plan/ShapeRecipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace millrace::lowering {

/// The state that the builders of all functions of a program share.
struct ProgramContext {
  const llvm::StringMap<KernelSummary> &kernels;
  const mlir::SymbolTable &symbols; ///< of the module
  runtime::Program &program;
  uint64_t nearBytes = 0; ///< see buildProgram()
  llvm::StringMap<uint32_t> functions; ///< indices of the functions built so far (callees first)
  std::vector<uint64_t> liveBytes;     ///< of these functions: the largest sum of live temporaries at any step
  uint64_t gatheredBytes = 0;          ///< of the function that was built last: the same of results of all_gather
  llvm::StringMap<uint32_t> customCalls;
  LocationTable locations;

  uint32_t constant(llvm::StringRef bytes);
};

/// Builds one runtime function. Values of tensor type map to slots; operations that only rename bytes map their result to the operand's slot. Live
/// ranges are recorded while steps are emitted: a value that is defined before a loop and used in it lives until the loop ends.
class FunctionBuilder {
public:
  FunctionBuilder(ProgramContext &context, mlir::func::FuncOp function, bool isEntry);
  mlir::LogicalResult build();
  runtime::Function take() { return std::move(result); }

private:
  using SlotId = runtime::SlotId;

  // FunctionBuilder.cpp: values and memory
  using Dims = llvm::SmallVector<runtime::Dim>;
  SlotId addSlot(runtime::Slot::Kind kind, mlir::RankedTensorType type, const Dims &dims, uint32_t index = 0);
  SlotId newTemporary(mlir::RankedTensorType type, const Dims &dims); ///< in the arena; on the heap if `?`
  Dims dimsOf(mlir::Value value) const;      ///< sizes of a value that has a slot
  Dims freshDims(mlir::RankedTensorType type); ///< a new run-time dim for each `?`
  /// Sets the run-time dims of `to` to the sizes `from`.
  void assignDims(const Dims &to, const Dims &from, mlir::Location loc);
  /// Returns the slot that the step which computes `result` writes; if none is planned, `reused` if that is not kNone.
  SlotId slotFor(mlir::Value result, SlotId reused = runtime::kNone);
  SlotId use(mlir::Value value);                     ///< for a step that reads the address only
  SlotId useWithShape(mlir::Value value);            ///< for a step that reads shape and type
  /// Returns true if the slot has the element type and the sizes of the value: kernels ignore them, other steps do not.
  bool hasTypeOf(SlotId slot, mlir::Value value) const;
  void touch(SlotId slot); ///< extends the live range of the memory, a view's base, to this position
  void emit(runtime::Step step, mlir::Location loc);
  void copy(SlotId from, SlotId to, mlir::Location loc);
  void fill(mlir::Value constant, SlotId to, mlir::Location loc); ///< `constant` is in `fills`
  void start(mlir::Value value, SlotId at, mlir::Location loc);   ///< the bytes of `value`, to be updated at `at`
  bool isTensor(mlir::Value value) const;
  llvm::SmallVector<SlotId> useAll(mlir::ValueRange values);
  llvm::SmallVector<SlotId> slotsForAll(mlir::ValueRange values);
  void finishMemory();
  /// Turns temporaries that were placed in the memory of results into views of these.
  void useResultMemory();

  // Steps.cpp: one function per kind of operation
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitConstant(mlir::Operation *op, mlir::DenseElementsAttr value);
  mlir::LogicalResult visitCall(mlir::func::CallOp call);
  mlir::Value producedAs(mlir::Value value) const;
  /// Appends to `step`, which precedes the kernel, what computes the dynamic sizes of results, and creates their slots.
  mlir::LogicalResult sizeResults(mlir::func::CallOp call, mlir::func::FuncOp kernel, runtime::SetDimsStep &step);

  // SizeChecks.cpp
  /// Returns `recipe` in terms of run-time dims. Appends to `step` what loads the elements of shapes in it.
  runtime::DimExpr sizeExpr(const fusion::ShapeRecipe &recipe, mlir::func::CallOp call, runtime::SetDimsStep &step);
  /// Notes that `dim` is set to `expr` once in the whole function.
  void define(uint32_t dim, const runtime::DimExpr &expr);
  /// Returns `expr` in terms of the sizes of the function's arguments; none if it depends on more, or is long.
  std::optional<runtime::DimExpr> inArgumentSizes(const runtime::DimExpr &expr) const;
  /// Appends a check to `step`, or to the checks of the function if it is about its arguments and in every execution.
  void require(runtime::SizeCheck check, mlir::Location loc, runtime::SetDimsStep &step);
  /// Gives `value`, whose memory is that of a value with the sizes `from`, those that its type leaves open, and requires those that it states.
  void takeSizes(mlir::Value value, const Dims &from, mlir::Location loc);
  /// Appends what the kernel requires of sizes.
  mlir::LogicalResult checkSizes(mlir::func::CallOp call, mlir::func::FuncOp kernel, runtime::SetDimsStep &step);
  /// Returns the argument whose memory a slot reads, or a result writes (its alias); kNone for other memory.
  uint32_t argumentRead(SlotId slot) const;
  uint32_t argumentWritten(SlotId slot) const;
  bool isSameMemory(SlotId from, SlotId to) const; ///< reads of one and writes of the other touch the same memory
  mlir::LogicalResult visitWhile(mlir::Operation *op);
  mlir::LogicalResult visitBranches(mlir::Operation *op);
  mlir::LogicalResult visitCustomCall(mlir::Operation *op);
  mlir::LogicalResult visitReturn(mlir::Operation *op);

  // InPlace.cpp
  /// Returns buffers for operands that the kernel updates, indexed by operand; kNone for the others. Copies an operand whose old value is used later.
  llvm::SmallVector<SlotId> prepareInPlace(mlir::func::CallOp call, const KernelSummary &summary);
  /// Returns the value that a kernel, or a loop without a second buffer, updates in place to compute `value`; null if there is none.
  mlir::Value updatedBy(mlir::Value value) const;
  /// Returns the values from `value` back to the first update of `state`, each an update in place of the next, all after the last reader of `state`:
  /// one buffer is enough for all of them. Empty if it is not.
  llvm::SmallVector<mlir::Value> updatesOf(mlir::BlockArgument state, mlir::Value value) const;
  /// Does the same for any `state` and its updates in `block`, none if `value` is `state`; nullopt if one buffer is not enough.
  std::optional<llvm::SmallVector<mlir::Value>> updatesIn(mlir::Block &block, mlir::Value state, mlir::Value value) const;
  /// The kernel that makes `value`, the next value of a loop's `state`, may write it over `state`: it alone reads `state` then, an element of it
  /// for the same element of `value`.
  bool overwritesState(mlir::BlockArgument state, mlir::Value value) const;
  /// Returns the value that the branches of an if or case update in place or return unchanged as `made`; null if a branch does not, or reads it too
  /// late.
  mlir::Value updatedInBranches(mlir::OpResult made) const;
  /// Lets the branches of `op` update in place values that share the memory of their results, or whose live range ends here.
  void planBranches(mlir::Operation *op);
  /// Returns the operation of `block` at which `user` has read its operands, for an asynchronous collective its async_done. Null if it is elsewhere.
  static mlir::Operation *lastRead(mlir::Block &block, mlir::Operation *user);
  /// Plans `slot` as the memory of `value`, and of all values that are only computed to become `value` by updates in place.
  void preferUpdates(mlir::Value value, SlotId slot);
  /// Returns true if the user copies these bytes to its own memory and updates them there: a loop, or a kernel that works in place.
  bool isStartOfUpdates(mlir::OpOperand &use) const;
  /// Plans when the memory of a donated argument receives the result that replaces it: from the kernel that computes the result where that is safe,
  /// right after that kernel where the argument has no later readers, else when the function returns.
  void planReplacement(mlir::BlockArgument argument, mlir::Value value, SlotId target);
  /// Returns the memory of an operand whose live range ends with the kernel of `call`, which reads it elementwise for `value`; kNone if there is
  /// none. `taken` are the slots of other results.
  SlotId operandToOverwrite(mlir::func::CallOp call, mlir::Value value, const KernelSummary &kernel, llvm::ArrayRef<SlotId> taken) const;

  // Parts.cpp
  /// Returns a view of static shape, `offset` bytes into `base` or into the base of `base`.
  SlotId viewOf(SlotId base, uint64_t offset, mlir::RankedTensorType type);
  bool isReadByKernelsOnly(mlir::Value value) const;
  /// Makes the result of `call`, a slice at `offset`, a view of the operand; returns false if it needs its own memory.
  bool viewPart(mlir::func::CallOp call, uint64_t offset);
  /// Returns a view into the concatenation that is the only reader of `value`, for the kernel that computes `value`; kNone if there is none.
  SlotId placeInJoin(mlir::Value value);
  /// Copies those operands of a concatenation that were not computed in their place.
  void completeJoin(mlir::func::CallOp join, llvm::ArrayRef<uint64_t> offsets);

  // CollectiveSteps.cpp
  mlir::LogicalResult visitCollective(mlir::Operation *op);
  mlir::LogicalResult visitAsyncStart(mlir::Operation *op);
  mlir::LogicalResult visitAsyncDone(mlir::Operation *op);
  mlir::FailureOr<runtime::CollectiveStep> describeCollective(mlir::Operation *op);
  /// Gives results with open sizes those of the operands, and creates their slots. Fails where a collective changes sizes.
  mlir::LogicalResult sizeCollective(mlir::Operation *op, mlir::ValueRange operands, mlir::ValueRange results, mlir::Location loc);
  /// The slot of a result, which it has already if its sizes are open.
  SlotId slotOfResult(mlir::Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()).hasStaticShape() ? slotFor(value) : use(value); }
  mlir::LogicalResult visitTransfer(mlir::Operation *op);

  ProgramContext &context;
  mlir::func::FuncOp function;
  bool isEntry;
  runtime::Function result;
  runtime::Steps *steps; ///< the list that emit() appends to
  llvm::DenseMap<mlir::Value, SlotId> slots;
  llvm::DenseMap<mlir::Value, Dims> dynamicDims; ///< of values with `?`
  llvm::DenseMap<uint32_t, runtime::DimExpr> definitions; ///< run-time dims that follow from the sizes of arguments
  llvm::DenseMap<mlir::Value, SlotId> preferred; ///< results that are written to their destination directly
  llvm::DenseMap<mlir::Value, std::string> fills;            ///< one element of large splat constants
  llvm::DenseMap<mlir::Value, SlotId> copiedWhenMade;        ///< results that are copied once their kernel has run

  struct OpenLoop {
    uint32_t begin;
    llvm::SmallVector<SlotId> outer; ///< defined before the loop, used in it
  };
  llvm::SmallVector<OpenLoop> loops;
  llvm::SmallVector<SlotId> exchanged; ///< state and next slots of loops
  llvm::SmallVector<SlotId> updatedStates; ///< those of them that the loop updates in place: they get no views
  llvm::DenseMap<mlir::Value, runtime::CollectiveStep> started; ///< by the future, until it is done
  uint32_t numPairs = 0;
  uint32_t position = 0;
  struct Temporary {
    SlotId slot = runtime::kNone; ///< or kNone: the arena of a callee
    Lifetime lifetime;
  };
  std::vector<Temporary> temporaries;
  llvm::MapVector<SlotId, uint32_t> resultsFrom; ///< position from which on a result's memory is in use (of the loop, within one)
  llvm::DenseMap<SlotId, uint32_t> temporaryOf;
  llvm::SmallVector<SlotId> gathered; ///< results of all_gather
  /// Temporaries that are arenas of callees; CallStep::arenaOffset holds the index here until memory is planned.
  llvm::SmallVector<uint32_t> calleeArenas;
};

} // namespace millrace::lowering
