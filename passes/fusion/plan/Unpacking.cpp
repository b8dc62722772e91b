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

int64_t bytesOf(RankedTensorType type) { return type.getNumElements() * std::max<int64_t>(8, type.getElementTypeBitWidth()) / 8; }

/// Returns true for operations of one instruction, and those that only address what they read. Words of several codes are not shifted while panels are
/// packed: on AVX2 a product of 128x2048x2048 took 1.6 times as long as with a matrix that is written first.
bool isCheap(Operation *op) {
  return isView(op) || isa<BroadcastInDimOp, ConvertOp, AndOp, OrOp, XorOp, AddOp, SubtractOp, MulOp, NegOp, SelectOp, CompareOp>(op);
}

/// Numbers that vectors hold, or that are widened to such from fewer bits than a byte has (each of them is a byte in memory).
bool hasNumbers(Operation *op) {
  if (hasVectorizableTypes(op))
    return true;
  auto convert = dyn_cast<ConvertOp>(op);
  return convert && typeOf(convert.getOperand()).hasStaticShape() && isa<IntegerType>(typeOf(convert.getOperand()).getElementType()) &&
         isa<FloatType>(typeOf(convert).getElementType());
}

/// What computes an operand of a contraction, from the outside inwards.
struct Unpacked {
  Unpacking ops;
  int64_t bytes = 0, codes = 0; ///< that are read: all bytes, and elements of the largest operand of integers
  bool isReadable = true;

  void add(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat()) {
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
    bytes += bytesOf(type);
    if (isa<IntegerType>(type.getElementType()))
      codes = std::max(codes, type.getNumElements());
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
        2 * unpacked.bytes <= bytesOf(type))
      all.insert(unpacked.ops.begin(), unpacked.ops.end());
  }
  return all;
}

} // namespace millrace::fusion
