// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitReductions.cpp - A large sum to one number in two kernels ------===//
// Input:   %s = reduce(%x init: %zero) applies add across dimensions = [0, 1] : tensor<2048x2048xf32> -> tensor<f32>
// Output:  %p = reduce(%x init: %none) applies add across dimensions = [1] : -> tensor<2048xf32>
//          %s = reduce(%p init: %zero) applies add across dimensions = [0]
//          A kernel's range is never cut inside of a sum, so that threads do not change results: one number is one thread's work. Where
//          the parts begin depends on the shape alone. What lies in memory already is cut evenly, by a reshape.
// Leaves alone small operands, combiners without a neutral number, sums of narrow floats (the parts would be rounded), results of several
// numbers, which threads can share, and shapes that have no dimensions to cut at.
#include "passes/fusion/FusionPlan.h"
#include "passes/fusion/FusionPolicy.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

constexpr int64_t kFewElements = 65536;
constexpr int64_t kFewestParts = 16;   ///< a few for each of several threads
constexpr int64_t kMostEvenParts = 128; ///< so few that their sum is no kernel of its own
constexpr int64_t kMostParts = 65536;
constexpr int64_t kShortestPart = 256;

/// The number e with combine(e, x) = x for every x; null if there is none, or if parts would be rounded.
TypedAttr neutralNumber(Operation &combine, Type type) {
  Builder b(type.getContext());
  if (auto number = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = number.getFloatSemantics();
    bool isWide = type.isF32() || type.isF64();
    if (isa<AddOp>(combine) && isWide)
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<MulOp>(combine) && isWide)
      return b.getFloatAttr(type, APFloat::getOne(semantics));
    bool hasInfinity = isWide || type.isF16() || type.isBF16();
    if (isa<MaxOp, MinOp>(combine) && hasInfinity)
      return b.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/isa<MaxOp>(combine)));
    return {};
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return {};
  unsigned width = integer.getWidth();
  bool isUnsigned = integer.isUnsigned() || width == 1;
  if (isa<AddOp, OrOp, XorOp>(combine) && width > 1)
    return b.getIntegerAttr(type, APInt::getZero(width));
  if (isa<MulOp>(combine) && width > 1)
    return b.getIntegerAttr(type, APInt(width, 1));
  if (isa<AndOp>(combine) && width > 1)
    return b.getIntegerAttr(type, APInt::getAllOnes(width));
  if (isa<MaxOp>(combine) && width > 1)
    return b.getIntegerAttr(type, isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width));
  if (isa<MinOp>(combine) && width > 1)
    return b.getIntegerAttr(type, isUnsigned ? APInt::getAllOnes(width) : APInt::getSignedMaxValue(width));
  return {};
}

/// One operation of both arguments.
Operation *combinerOf(ReduceOp reduce) {
  Block &body = reduce.getBody().front();
  if (body.getNumArguments() != 2 || body.getOperations().size() != 2)
    return nullptr;
  Operation &combine = body.front();
  Value x = body.getArgument(0), y = body.getArgument(1);
  bool takesBoth = combine.getNumOperands() == 2 && combine.getNumResults() == 1 &&
                   ((combine.getOperand(0) == x && combine.getOperand(1) == y) || (combine.getOperand(0) == y && combine.getOperand(1) == x));
  return takesBoth && body.getTerminator()->getOperand(0) == combine.getResult(0) ? &combine : nullptr;
}

/// Nothing that computes the elements could share the kernel of the sum.
bool isInMemory(Value value) {
  Operation *source = value.getDefiningOp();
  return !source || classify(source) == OpRole::TopLevel;
}

/// Into how many equal parts, best of a size that keeps vectors aligned; 0 if there is no such number.
int64_t evenParts(int64_t elements) {
  int64_t best = 0;
  for (int64_t parts = kFewestParts; parts <= kMostEvenParts; ++parts)
    if (elements % parts == 0 && (elements / parts % 64 == 0 || !best || elements / best % 64 != 0))
      best = parts;
  return best;
}

ReduceOp reduceParts(OpBuilder &b, ReduceOp like, Value operand, Value init, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, int64_t(dim)))
      kept.push_back(size);
  auto reduce = ReduceOp::create(b, like.getLoc(), TypeRange{type.clone(kept)}, ValueRange{operand}, ValueRange{init},
                                 b.getDenseI64ArrayAttr(dims));
  IRMapping mapping;
  like.getBody().cloneInto(&reduce.getBody(), mapping);
  return reduce;
}

void split(ReduceOp reduce) {
  if (reduce.getInputs().size() != 1 || !hasPlainNumbers(reduce))
    return;
  Value operand = reduce.getInputs().front();
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getNumElements() < kFewElements || cast<RankedTensorType>(reduce.getResult(0).getType()).getNumElements() != 1)
    return;
  Operation *combine = combinerOf(reduce);
  TypedAttr neutral = combine ? neutralNumber(*combine, type.getElementType()) : TypedAttr();
  if (!neutral)
    return;

  OpBuilder b(reduce);
  SmallVector<int64_t> dims(reduce.getDimensions()), first, second;
  llvm::sort(dims);
  if (int64_t even = isInMemory(operand) ? evenParts(type.getNumElements()) : 0) {
    operand = ReshapeOp::create(b, reduce.getLoc(), type.clone({even, type.getNumElements() / even}), operand);
    first = {1};
    second = {0};
  } else {
    int64_t parts = 1;
    for (int64_t dim : dims)
      if (parts < kFewestParts) {
        parts *= type.getDimSize(dim);
        second.push_back(dim);
      } else {
        first.push_back(dim);
      }
    if (parts < kFewestParts || parts > kMostParts || type.getNumElements() / parts < kShortestPart)
      return;
  }
  Value none = ConstantOp::create(b, reduce.getLoc(), DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                                                                             ArrayRef<Attribute>{neutral}));
  Value partial = reduceParts(b, reduce, operand, none, first).getResult(0);
  // The dimensions that are left keep their order; those of the first reduction are gone.
  SmallVector<int64_t> rest;
  for (int64_t dim : second)
    rest.push_back(dim - llvm::count_if(first, [&](int64_t gone) { return gone < dim; }));
  Value result = reduceParts(b, reduce, partial, reduce.getInitValues().front(), rest).getResult(0);
  if (result.getType() != reduce.getResult(0).getType())
    result = ReshapeOp::create(b, reduce.getLoc(), reduce.getResult(0).getType(), result);
  reduce.getResult(0).replaceAllUsesWith(result);
  reduce.erase();
}

} // namespace

void splitReductions(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto reduce = dyn_cast<ReduceOp>(op))
      split(reduce);
}

} // namespace millrace::fusion
