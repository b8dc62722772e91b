// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContiguousBytes.cpp - Values that share memory with slices and concatenations -===//
// x[3] of a stack of weights, the gates of a cell, the rows of jnp.stack: their bytes are a contiguous range of another value's bytes.
// Such a slice becomes a view, and operands of such a concatenation are computed in its memory; no kernel runs. In:
//   %a = call @gates(%x)   %b = call @slice_1(%a)   %c = call @tanh(%b)   %d = call @exp(%x)   %e = call @concatenate(%c, %d)
// Out: @tanh reads from within %a and writes into %e, @exp writes into %e. Left alone: slices with users other than kernels, slices of memory that is
// overwritten (states that a loop updates in place, donated arguments); concatenated operands with other users are copied.
#include "lowering/program/ContiguousBytes.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/program/FunctionBuilder.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "runtime/base/Alignment.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::runtime;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {

/// Smaller results may have any alignment: only kernels with larger results use streaming stores of whole cache lines, which DataMovement.cpp does
/// from kMinStreamedBytes on. Unit: bytes of the result. Source: arithmetic: not more than that.
constexpr uint64_t kMaxUnalignedResultBytes = 1 << 20;

/// Returns the only operation of `kernel`; null if there are others.
template <typename Op> static Op onlyOperation(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  auto op = dyn_cast<Op>(body.front());
  bool isAll = op && op->getNextNode() == body.getTerminator() && body.getTerminator()->getNumOperands() == 1 &&
               body.getTerminator()->getOperand(0) == op->getResult(0);
  return isAll ? op : Op();
}

/// Returns the bytes of an element; 0 for elements smaller than a byte.
static uint64_t elementBytes(RankedTensorType type) {
  Type element = type.getElementType();
  bool isPacked = isa<IntegerType>(element) && !element.isInteger(1) && element.getIntOrFloatBitWidth() < 8;
  return isPacked || !type.hasStaticShape() ? 0 : byteSize(dtypeOf(element));
}

std::optional<uint64_t> contiguousSliceOffset(func::FuncOp kernel) {
  auto slice = onlyOperation<shlo::SliceOp>(kernel);
  if (!slice || slice.getOperand() != kernel.getArgument(0))
    return std::nullopt;
  uint64_t bytes = elementBytes(cast<RankedTensorType>(slice.getOperand().getType()));
  std::optional<int64_t> offset = fusion::wholeRange(slice);
  return bytes == 0 || !offset ? std::nullopt : std::optional<uint64_t>(*offset * bytes);
}

std::vector<uint64_t> contiguousOperandOffsets(func::FuncOp kernel) {
  auto join = onlyOperation<shlo::ConcatenateOp>(kernel);
  if (!join || !llvm::equal(join->getOperands(), kernel.getArguments()))
    return {};
  auto type = cast<RankedTensorType>(join->getResult(0).getType());
  uint64_t bytes = elementBytes(type), offset = 0;
  if (bytes == 0 || llvm::any_of(type.getShape().take_front(join.getDimension()), [](int64_t size) { return size != 1; }) ||
      !llvm::all_of(join->getOperandTypes(), [](Type operand) { return cast<RankedTensorType>(operand).hasStaticShape(); }))
    return {};
  std::vector<uint64_t> offsets;
  for (Type operand : join->getOperandTypes()) {
    offsets.push_back(offset);
    offset += cast<RankedTensorType>(operand).getNumElements() * bytes;
  }
  return offsets;
}

SlotId FunctionBuilder::viewOf(SlotId base, uint64_t offset, RankedTensorType type) {
  if (result.slots[base].kind == Slot::Kind::View) {
    offset += result.slots[base].offset;
    base = result.slots[base].index;
  }
  Dims dims;
  for (int64_t size : type.getShape())
    dims.push_back(Dim::constant(size));
  SlotId view = addSlot(Slot::Kind::View, type, dims, base);
  result.slots[view].offset = offset;
  return view;
}

bool FunctionBuilder::isReadByKernelsOnly(Value value) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (fusion::isAlias(user))
      return llvm::all_of(user->getResults(), [&](Value renamed) { return isReadByKernelsOnly(renamed); });
    auto call = dyn_cast<func::CallOp>(user);
    return call && context.kernels.contains(call.getCallee());
  });
}

bool FunctionBuilder::viewPart(func::CallOp call, uint64_t offset) {
  Value value = call.getResult(0);
  if (preferred.contains(value) || copiedWhenMade.contains(value) || !isReadByKernelsOnly(value))
    return false;
  SlotId base = use(call.getOperand(0));
  if (!result.slots[base].isStatic() || llvm::is_contained(updatedStates, base))
    return false;
  // A donated argument is overwritten by a result while slices of it may still be live.
  uint32_t argument = argumentRead(base);
  if (isEntry && argument != kNone &&
      llvm::any_of(context.program.results, [&](const Result &each) { return each.aliasArgument == argument; }))
    return false;
  slots[value] = viewOf(base, offset, cast<RankedTensorType>(value.getType()));
  return true;
}

SlotId FunctionBuilder::placeInJoin(Value value) {
  auto maker = value.getDefiningOp<func::CallOp>();
  if (!maker || !context.kernels.contains(maker.getCallee()) || copiedWhenMade.contains(value))
    return kNone;
  Value renamed = value;
  while (renamed.hasOneUse() && isa<shlo::ReshapeOp>(*renamed.user_begin()) && fusion::isAlias(*renamed.user_begin()))
    renamed = renamed.user_begin()->getResult(0);
  auto join = renamed.hasOneUse() ? dyn_cast<func::CallOp>(*renamed.user_begin()) : func::CallOp();
  auto kernel = join ? context.kernels.find(join.getCallee()) : context.kernels.end();
  if (kernel == context.kernels.end() || kernel->second.joined.empty() || join->getBlock() != maker->getBlock())
    return kNone;
  auto type = cast<RankedTensorType>(value.getType());
  uint64_t offset = kernel->second.joined[renamed.use_begin()->getOperandNumber()];
  if (!type.hasStaticShape() || (offset % kBufferAlignment != 0 && type.getNumElements() * elementBytes(type) >= kMaxUnalignedResultBytes))
    return kNone;
  Value joined = join.getResult(0);
  if (!slots.contains(joined)) {
    // The concatenation's own destination must be unused until the concatenation is complete.
    auto wanted = preferred.find(joined);
    if (copiedWhenMade.contains(joined) ||
        (wanted != preferred.end() &&
         (!result.slots[wanted->second].isStatic() || llvm::is_contained(updatedStates, wanted->second) || argumentWritten(wanted->second) != kNone ||
          result.slots[wanted->second].kind == Slot::Kind::View)))
      return kNone;
    slotFor(joined);
  }
  return viewOf(slots.lookup(joined), offset, type);
}

void FunctionBuilder::completeJoin(func::CallOp join, ArrayRef<uint64_t> offsets) {
  SlotId whole = use(join.getResult(0));
  const Slot &joined = result.slots[whole]; // possibly a view itself
  SlotId base = joined.kind == Slot::Kind::View ? joined.index : whole;
  uint64_t begin = joined.kind == Slot::Kind::View ? joined.offset : 0;
  for (auto [operand, offset] : llvm::zip_equal(join.getOperands(), offsets)) {
    SlotId part = use(operand);
    Slot::Kind kind = result.slots[part].kind;
    bool isInPlace = kind == Slot::Kind::View && result.slots[part].index == base && result.slots[part].offset == begin + offset;
    if (!isInPlace && result.slots[part].bytes != 0)
      copy(part, viewOf(whole, offset, cast<RankedTensorType>(operand.getType())), join.getLoc());
  }
}

} // namespace millrace::lowering
