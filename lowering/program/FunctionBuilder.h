// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionBuilder.h - Slots, steps and lifetimes of one function -----===//
#pragma once

#include "lowering/program/BuildProgram.h"
#include "lowering/program/MemoryPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace millrace::lowering {

/// What the builders of all functions of a program share.
struct ProgramContext {
  const llvm::StringMap<KernelSummary> &kernels;
  runtime::Program &program;
  uint64_t nearBytes = 0; ///< see buildProgram()
  llvm::StringMap<uint32_t> functions; ///< indices of the functions built so far (callees first)
  std::vector<uint64_t> liveBytes;     ///< of these functions: the largest sum of live temporaries at any step
  uint64_t gatheredBytes = 0;          ///< of the function that was built last: the same of results of all_gather
  llvm::StringMap<uint32_t> locations, customCalls;

  uint32_t location(mlir::Location loc);
  uint32_t constant(llvm::StringRef bytes);
};

/// Builds one runtime function. Values of tensor type map to slots; operations that only rename bytes map their result
/// to the operand's slot. Lifetimes are recorded while steps are emitted: a value that is used in a loop but made
/// before it lives until the loop ends.
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
  /// Where the step that makes `result` writes; if nothing is planned for it, to `reused` if that is not kNone.
  SlotId slotFor(mlir::Value result, SlotId reused = runtime::kNone);
  SlotId use(mlir::Value value);                     ///< for a step that needs the address only
  SlotId useWithShape(mlir::Value value);            ///< for a step that looks at shape and type
  /// Whether the slot has the element type and the sizes of the value: kernels do not look at them, other steps do.
  bool hasTypeOf(SlotId slot, mlir::Value value) const;
  void touch(SlotId slot); ///< the memory is needed at this position, that of a view's base for a view
  void emit(runtime::Step step, mlir::Location loc);
  void copy(SlotId from, SlotId to, mlir::Location loc);
  void fill(mlir::Value constant, SlotId to, mlir::Location loc); ///< `constant` is in `fills`
  void start(mlir::Value value, SlotId at, mlir::Location loc);   ///< the bytes of `value`, to be updated at `at`
  bool isTensor(mlir::Value value) const;
  llvm::SmallVector<SlotId> useAll(mlir::ValueRange values);
  llvm::SmallVector<SlotId> slotsForAll(mlir::ValueRange values);
  void finishMemory();
  /// Makes temporaries that lie in the memory of results views of these.
  void useResultMemory();

  // Steps.cpp: one function per kind of operation
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitConstant(mlir::Operation *op, mlir::DenseElementsAttr value);
  mlir::LogicalResult visitCall(mlir::func::CallOp call);
  mlir::Value producedAs(mlir::Value value) const;
  /// Computes the sizes of results with `?` before the kernel runs, and makes their slots.
  mlir::LogicalResult sizeResults(mlir::func::CallOp call);
  /// The argument whose memory a slot reads, or that a result writes (its alias); kNone for other memory.
  uint32_t argumentRead(SlotId slot) const;
  uint32_t argumentWritten(SlotId slot) const;
  bool isSameMemory(SlotId from, SlotId to) const; ///< what is read from one lies where the other is written
  mlir::LogicalResult visitWhile(mlir::Operation *op);
  mlir::LogicalResult visitBranches(mlir::Operation *op);
  mlir::LogicalResult visitCustomCall(mlir::Operation *op);
  mlir::LogicalResult visitReturn(mlir::Operation *op);

  // InPlace.cpp
  /// Buffers for operands that the kernel updates, indexed by operand; kNone for the others. Copies where the old value
  /// is needed later.
  llvm::SmallVector<SlotId> prepareInPlace(mlir::func::CallOp call, const KernelSummary &summary);
  /// What a kernel, or a loop without a second buffer, updates in place to make `value`; null if it is made anew.
  mlir::Value updatedBy(mlir::Value value) const;
  /// The values from `value` back to the first update of `state`, each an update in place of the next, all after everything that reads
  /// `state`: one buffer is enough for all of them. Empty if it is not.
  llvm::SmallVector<mlir::Value> updatesOf(mlir::BlockArgument state, mlir::Value value) const;
  /// The same for any `state` and the updates of it in `block`, none if `value` is `state`; nullopt if one buffer is not enough.
  std::optional<llvm::SmallVector<mlir::Value>> updatesIn(mlir::Block &block, mlir::Value state, mlir::Value value) const;
  /// What the branches of an if or case update in place, or return as it is, to make `made`; null if a branch makes it anew, or reads it too late.
  mlir::Value updatedInBranches(mlir::OpResult made) const;
  /// Lets the branches of `op` update in place what has the memory of their results, or dies here.
  void planBranches(mlir::Operation *op);
  /// Where in `block` `user` has read its operands: an asynchronous collective reads until it is done. Null if it is elsewhere.
  static mlir::Operation *lastRead(mlir::Block &block, mlir::Operation *user);
  /// `value` belongs at `slot`: so does everything that was made only to become `value` by updates in place.
  void preferUpdates(mlir::Value value, SlotId slot);
  /// The user writes these bytes to memory of its own and updates them there: a loop, or a kernel that works in place.
  bool isStartOfUpdates(mlir::OpOperand &use) const;
  /// Plans when the memory of a donated argument receives the result that replaces it: by the kernel that makes the
  /// result where that is safe, right after it where nothing reads the argument any more, else when the function returns.
  void planReplacement(mlir::BlockArgument argument, mlir::Value value, SlotId target);
  /// The memory of an operand that nobody reads any more once the kernel of `call` has read it, element by element, for `value`; kNone if there
  /// is none. `taken`: of other results.
  SlotId operandToOverwrite(mlir::func::CallOp call, mlir::Value value, const KernelSummary &kernel, llvm::ArrayRef<SlotId> taken) const;

  // Parts.cpp
  /// A view of static shape, `offset` bytes into `base` or into what that views.
  SlotId viewOf(SlotId base, uint64_t offset, mlir::RankedTensorType type);
  bool isReadByKernelsOnly(mlir::Value value) const;
  /// Makes the result of `call`, a slice at `offset`, a view of the operand; false if it needs memory of its own.
  bool viewPart(mlir::func::CallOp call, uint64_t offset);
  /// A view into the concatenation that alone reads `value`, for the kernel that makes `value`; kNone if there is none.
  SlotId placeInJoin(mlir::Value value);
  /// Copies those operands of a concatenation that were not made in their places.
  void completeJoin(mlir::func::CallOp join, llvm::ArrayRef<uint64_t> offsets);

  // CollectiveSteps.cpp
  mlir::LogicalResult visitCollective(mlir::Operation *op);
  mlir::LogicalResult visitAsyncStart(mlir::Operation *op);
  mlir::LogicalResult visitAsyncDone(mlir::Operation *op);
  mlir::FailureOr<runtime::CollectiveStep> describeCollective(mlir::Operation *op);
  mlir::LogicalResult visitTransfer(mlir::Operation *op);

  ProgramContext &context;
  mlir::func::FuncOp function;
  bool isEntry;
  runtime::Function result;
  runtime::Steps *steps; ///< the list that emit() appends to
  llvm::DenseMap<mlir::Value, SlotId> slots;
  llvm::DenseMap<mlir::Value, Dims> dynamicDims; ///< of values with `?`
  llvm::DenseMap<mlir::Value, SlotId> preferred; ///< results that should be written straight to their destination
  llvm::DenseMap<mlir::Value, std::string> fills;            ///< one element of large constants of equal elements
  llvm::DenseMap<mlir::Value, SlotId> copiedWhenMade;        ///< results that move on once their kernel has run

  struct OpenLoop {
    uint32_t begin;
    llvm::SmallVector<SlotId> outer; ///< made before the loop, used in it
  };
  llvm::SmallVector<OpenLoop> loops;
  llvm::SmallVector<SlotId> exchanged; ///< state and next slots of loops
  llvm::SmallVector<SlotId> updatedStates; ///< of them, those that the loop updates in place: no views of them
  llvm::DenseMap<mlir::Value, runtime::CollectiveStep> started; ///< by the future, until it is done
  uint32_t numPairs = 0;
  uint32_t position = 0;
  struct Temporary {
    SlotId slot = runtime::kNone; ///< or kNone: the arena of a callee
    Lifetime lifetime;
  };
  std::vector<Temporary> temporaries;
  llvm::MapVector<SlotId, uint32_t> resultsFrom; ///< the position before which the memory of a result holds nothing; where a loop needs it, the loop's
  llvm::DenseMap<SlotId, uint32_t> temporaryOf;
  llvm::SmallVector<SlotId> gathered; ///< results of all_gather
  /// Temporaries that are arenas of callees; CallStep::arenaOffset holds the index here until memory is planned.
  llvm::SmallVector<uint32_t> calleeArenas;
};

} // namespace millrace::lowering
