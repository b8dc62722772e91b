// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Unpacking.cpp - Operands that contractions unpack themselves --------===//
#include "passes/fusion/plan/Unpacking.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/plan/FusionPolicy.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

/// Operations that unpack an operand of a contraction: the code that packs panels is repeated for several vectors. Unit: operations. Source:
/// judgement, not measured alone: codes with scales and zero points of groups take a dozen.
constexpr unsigned kMaxUnpackingOps = 24;
/// Operands of fewer integers are no codes: masks, indices. Unit: codes of a word. Source: arithmetic: 64 bits hold 16 codes of four bits.
constexpr int64_t kMaxCodesOfWord = 16;

/// Returns true for operations of one instruction, and those that only address what they read. Words of several codes are not shifted while panels are
/// packed: on AVX2 a product of 128x2048x2048 took 1.6 times as long as with a matrix that is written first.
bool isCheap(Operation *op) {
  return isView(op) || isa<BroadcastInDimOp, ConvertOp, AndOp, OrOp, XorOp, AddOp, SubtractOp, MulOp, NegOp, SelectOp, CompareOp>(op);
}

/// What computes an operand of a contraction, from the outside inwards.
struct Unpacked {
  Unpacking ops;
  int64_t bytes = 0, codes = 0; ///< that are read: all bytes, and elements of the largest operand of integers
  bool isReadable = true;

  void add(Value value) {
    std::optional<int64_t> size = bytesOf(value.getType());
    if (!size) {
      isReadable = false;
      return;
    }
    Operation *op = value.getDefiningOp();
    if (op && op->hasOneUse() && isCheap(op) && hasNumbers(op)) {
      ops.insert(op);
      isReadable = isReadable && ops.size() <= kMaxUnpackingOps;
      for (Value operand : op->getOperands())
        if (isReadable)
          add(operand);
      return;
    }
    if (op && classify(op) == OpRole::Duplicated)
      return;
    bytes += *size;
    if (isa<IntegerType>(typeOf(value).getElementType()))
      codes = std::max(codes, typeOf(value).getNumElements());
  }
};

} // namespace

Unpacking unpackingOf(Operation *contraction) {
  Unpacking all;
  auto dot = dyn_cast<DotGeneralOp>(contraction);
  if (!dot || !hasVectorizableTypes(dot) || isTiny(dot))
    return all;
  for (Value operand : dot->getOperands()) {
    Unpacked unpacked;
    unpacked.add(operand);
    auto type = typeOf(operand);
    const bool isComputed = llvm::any_of(unpacked.ops, [](Operation *op) { return !isView(op) && !isa<BroadcastInDimOp>(op); });
    if (unpacked.isReadable && isComputed && isa<FloatType>(type.getElementType()) && unpacked.codes * kMaxCodesOfWord >= type.getNumElements() &&
        2 * unpacked.bytes <= *bytesOf(type))
      all.insert(unpacked.ops.begin(), unpacked.ops.end());
  }
  return all;
}

} // namespace millrace::fusion
