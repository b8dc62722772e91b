// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitReductions.cpp - Split large reductions for several threads ----===//
// Input:   %s = reduce(%x init: %zero) applies add across dimensions = [0, 1] : tensor<2048x2048xf32> -> tensor<f32>
// Output:  %p = reduce(%x init: %none) applies add across dimensions = [1] : -> tensor<2048xf32>
//          %s = reduce(%p init: %zero) applies add across dimensions = [0]
//          Sums of many short rows: %s = reduce(%x init: %zero) applies add across dimensions = [0] : tensor<100000x3xf32> -> tensor<3xf32>
//          the same for tensor<25x125x96xf32> -> tensor<25x96xf32>, and then for tensor<800x3xf32>: vectors are full, and threads share them
//          A kernel's range is never divided inside of a sum, so that threads do not change results: one result is one thread's work. The parts
//          depend on the shape alone. Values in memory, or computed from those elementwise, are divided evenly, by a reshape; of 1000003 elements,
//          which no number divides, the last 3 are added to the initial value: %s = reduce(%p init: %rest).
//          The same for the inner product of two large vectors, whose products are added up so.
//          Products of long and narrow matrices, as weights' gradients and Gram matrices are, in 4 to 16 parts of the sum:
//          %p = dot_general(%x, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1]) : (tensor<16x512x128xf32>, tensor<16x512x10xf32>)
//          %s = reduce(%p init: %zero) applies add across dimensions = [0] : tensor<16x128x10xf32> -> tensor<128x10xf32>
//          The same for sums down a few columns over rows of several dimensions, which a thread should read from one end to the other.
// Leaves alone small operands, combiners without a neutral number, sums of narrow floats (the parts would be rounded), other results of
// several numbers, which threads can share, and shapes that have no dimensions to cut at.
#include "passes/fusion/pieces/Combiners.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"
#include "passes/fusion/VectorShapes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A smaller sum takes some ten microseconds on one thread; a second kernel for the sum of parts costs as much as threads save. Unit: elements.
/// Source: judgement, not measured alone; commit 73d9927 has the figures of the whole change.
constexpr int64_t kMinSplitElements = 65536;
/// Parts of a reduction, a few for each of several threads. Unit: parts. Source: judgement, not measured alone; commit 73d9927 has the figures of the whole change.
constexpr int64_t kMinParts = 16;
/// The number of parts if no number divides all elements; the rest is added to the initial value of the sum of parts. Unit: parts. Source: judgement,
/// not measured alone; commit 2797e38 has the figures of the whole change.
constexpr int64_t kUnevenParts = 64;
/// The reduction of at most so many parts joins another kernel. Unit: parts. Source: judgement, not measured alone; commit 73d9927 has the figures of the whole
/// change.
constexpr int64_t kMaxEvenParts = 128;
/// The most parts of a reduction to a scalar. Unit: parts. Source: judgement, not measured alone; commit 73d9927 has the figures of the whole change.
constexpr int64_t kMaxPartsOfOne = 65536;
/// The least elements of a part: fewer do not fill the accumulators of a reduction several times. Unit: elements. Source: judgement, not measured alone; commit 73d9927 has the
/// figures of the whole change.
constexpr int64_t kMinPartElements = 256;
/// With as many columns or more, threads share the columns and no parts are needed. Unit: columns. Source: judgement, not measured alone; chosen in
/// commit f7caa64.
constexpr int64_t kMaxSumColumns = 64;
/// Elements computed by at most so many operations may be computed in the shape of the parts. Unit: operations. Source: judgement, not measured
/// alone; chosen in commit f7caa64.
constexpr unsigned kMaxSharedOps = 8;

/// Returns true if no kernel computes `value`: a reduction of it reads memory.
bool isInMemory(Value value) {
  Operation *source = value.getDefiningOp();
  return !source || classify(source) == OpRole::TopLevel;
}

/// Returns true if `value` is in memory, or computed from such values by at most `budget` elementwise operations without other users.
bool canReshape(Value value, unsigned &budget) {
  if (isInMemory(value) || isSplat(value))
    return true;
  Operation *source = value.getDefiningOp();
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  if (classify(source) != OpRole::Elementwise || !value.hasOneUse() || !hasVectorizableTypes(source) || source->getNumResults() != 1 || budget-- == 0)
    return false;
  return llvm::all_of(source->getOperands(), [&](Value operand) {
    return cast<RankedTensorType>(operand.getType()).getShape() == shape && canReshape(operand, budget);
  });
}

/// Reshapes that exist: readers of one value share them, so that their kernels can be fused.
using Reshaped = llvm::DenseMap<std::pair<Value, Type>, Value>;

/// Returns the elements of `value` in another shape, which may have fewer elements: two-dimensional shapes have the first ones, one-dimensional shapes
/// the last ones.
Value reshape(OpBuilder &b, Value value, ArrayRef<int64_t> shape, Reshaped &known) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  Value &result = known[{value, type}];
  if (result)
    return result;
  if (Value splat = splatInShape(b, value, type))
    return splat;
  if (isInMemory(value)) {
    int64_t all = cast<RankedTensorType>(value.getType()).getNumElements(), some = type.getNumElements();
    if (some < all) {
      int64_t first = shape.size() == 1 ? all - some : 0;
      Value line = value.getType() == type.clone({all}) ? value : ReshapeOp::create(b, value.getLoc(), type.clone({all}), value).getResult();
      value = boxOf(b, value.getLoc(), line, Box::along({all}, 0, first, first + some));
    }
    return result = value.getType() == type ? value : ReshapeOp::create(b, value.getLoc(), type, value).getResult();
  }
  Operation *source = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : source->getOperands())
    mapping.map(operand, reshape(b, operand, shape, known));
  Operation *copy = b.clone(*source, mapping);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Returns the number of equal parts of a reduction of `elements`, preferably with aligned vectors; 0 if no number of parts divides them.
int64_t evenParts(int64_t elements) {
  int64_t best = 0;
  for (int64_t parts = kMinParts; parts <= kMaxEvenParts; ++parts)
    if (elements % parts == 0 && (elements / parts % 64 == 0 || !best || elements / best % 64 != 0))
      best = parts;
  return best;
}

/// Sums of a few columns over many rows of two or more dimensions, a normalization's of images with channels last: threads that share the columns
/// read a part of each row, threads that share the rows read memory from one end to the other.
bool hasNarrowColumns(ReduceOp reduce) {
  // Below, the columns of a normalization's sums are shared by threads without parts. Unit: elements. Source: judgement, not measured alone; chosen
  // in commit f7caa64.
  constexpr int64_t kMinElementsOfColumns = 1 << 19;
  // Wider rows are read in pieces that are long enough for memory. Unit: columns. Source: judgement, not measured alone; chosen in commit f7caa64.
  constexpr int64_t kMaxNarrowColumns = 512;
  auto type = cast<RankedTensorType>(reduce.getInputs().front().getType());
  int64_t columns = type.getShape().back();
  bool keepsLast = !llvm::is_contained(reduce.getDimensions(), type.getRank() - 1);
  return keepsLast && reduce.getDimensions().size() > 1 && columns >= kLanesOfLongest && columns <= kMaxNarrowColumns &&
         cast<RankedTensorType>(reduce.getResult(0).getType()).getNumElements() == columns && type.getNumElements() >= kMinElementsOfColumns;
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

/// Moves `op` before its first user, so that it does not separate kernels that could be fused.
void sink(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  if (first)
    op->moveBefore(first);
}

/// [parts, rows of each, columns] as which `rows` of `columns` numbers are added up; empty if there is no such shape. Of few columns several
/// rows side by side are one.
SmallVector<int64_t> columnParts(int64_t rows, int64_t columns) {
  while (columns < kMaxSumColumns && rows % 2 == 0)
    rows /= 2, columns *= 2;
  if (columns < kMaxSumColumns / 2)
    return {};
  for (int64_t parts = kMinParts; parts <= kMaxEvenParts; ++parts)
    if (rows % parts == 0 && rows / parts >= kMinParts)
      return {parts, rows / parts, columns};
  return {};
}

void splitColumns(ReduceOp reduce, ArrayRef<int64_t> dims, TypedAttr neutral, Reshaped &known) {
  Value operand = reduce.getInputs().front();
  auto type = cast<RankedTensorType>(operand.getType()), resultType = cast<RankedTensorType>(reduce.getResult(0).getType());
  unsigned budget = kMaxSharedOps;
  if (dims.back() != int64_t(dims.size()) - 1 || resultType.getNumElements() >= kMaxSumColumns || !canReshape(operand, budget))
    return;
  SmallVector<int64_t> parts = columnParts(type.getNumElements() / resultType.getNumElements(), resultType.getNumElements());
  if (parts.empty())
    return;
  OpBuilder b(reduce);
  Value none = ConstantOp::create(b, reduce.getLoc(), DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                                                                             ArrayRef<Attribute>{neutral}));
  Value partial = reduceParts(b, reduce, reshape(b, operand, parts, known), none, {1}).getResult(0);
  int64_t columns = resultType.getNumElements();
  partial = ReshapeOp::create(b, reduce.getLoc(), type.clone({parts[0] * parts[2] / columns, columns}), partial);
  Value result = reduceParts(b, reduce, partial, reduce.getInitValues().front(), {0}).getResult(0);
  if (result.getType() != resultType)
    result = ReshapeOp::create(b, reduce.getLoc(), resultType, result);
  reduce.getResult(0).replaceAllUsesWith(result);
  reduce.erase();
  eraseUnused(operand);
}

void split(ReduceOp reduce, Reshaped &known) {
  if (reduce.getInputs().size() != 1 || !hasVectorizableTypes(reduce))
    return;
  Value operand = reduce.getInputs().front();
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t elements = type.getNumElements();
  if (elements < kMinSplitElements || reduce.getDimensions().empty())
    return;
  Operation *combine = combinerOf(reduce.getBody());
  TypedAttr neutral = combine ? neutralElement(*combine, type.getElementType()) : TypedAttr();
  if (!neutral)
    return;
  SmallVector<int64_t> dims(reduce.getDimensions()), first, second;
  llvm::sort(dims);
  bool isOne = cast<RankedTensorType>(reduce.getResult(0).getType()).getNumElements() == 1;
  if (!isOne && !hasNarrowColumns(reduce))
    return splitColumns(reduce, dims, neutral, known);

  OpBuilder b(reduce);
  int64_t even = isOne ? evenParts(elements) : 0, parts = 1;
  for (int64_t dim : dims)
    if (parts < kMinParts) {
      parts *= type.getDimSize(dim);
      second.push_back(dim);
    } else {
      first.push_back(dim);
    }
  bool hasParts = !first.empty() && parts >= kMinParts && parts <= (isOne ? kMaxPartsOfOne : kMaxEvenParts) && elements / parts >= kMinPartElements;
  unsigned budget = kMaxSharedOps;
  int64_t rest = 0;
  if (!even && isOne && !hasParts)
    even = kUnevenParts, rest = elements % even;
  Value start = reduce.getInitValues().front();
  if (even && (isInMemory(operand) || (!hasParts && canReshape(operand, budget)))) {
    if (rest) // where the sum of the parts begins
      start = reduceParts(b, reduce, reshape(b, operand, {rest}, known), start, {0}).getResult(0);
    operand = reshape(b, operand, {even, elements / even}, known);
    first = {1};
    second = {0};
  } else if (!hasParts) {
    return;
  }
  Value none = ConstantOp::create(b, reduce.getLoc(), DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                                                                             ArrayRef<Attribute>{neutral}));
  Value partial = reduceParts(b, reduce, operand, none, first).getResult(0);
  // The dimensions that are left keep their order; those of the first reduction are gone.
  SmallVector<int64_t> left;
  for (int64_t dim : second)
    left.push_back(dim - llvm::count_if(first, [&](int64_t gone) { return gone < dim; }));
  ReduceOp last = reduceParts(b, reduce, partial, start, left);
  Value result = last.getResult(0);
  if (result.getType() != reduce.getResult(0).getType())
    result = ReshapeOp::create(b, reduce.getLoc(), reduce.getResult(0).getType(), result);
  reduce.getResult(0).replaceAllUsesWith(result);
  Value whole = reduce.getInputs().front();
  reduce.erase();
  eraseUnused(whole);
  if (!isOne)
    return;
  if (result != last.getResult(0))
    sink(result.getDefiningOp());
  sink(last);
}

/// Rewrites the inner product of two large vectors to a reduction, which can be split; returns null for other contractions.
ReduceOp asSum(DotGeneralOp dot) {
  auto type = cast<RankedTensorType>(dot.getLhs().getType()), result = cast<RankedTensorType>(dot.getType());
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  bool isSum = result.getRank() == 0 && dot.getRhs().getType() == type && type.getElementType() == result.getElementType() &&
               numbers.getLhsContractingDimensions() == numbers.getRhsContractingDimensions() && !dot.getAlgorithm();
  if (!isSum || !type.hasStaticShape() || !(type.getElementType().isF32() || type.getElementType().isF64()) || type.getNumElements() < kMinSplitElements)
    return {};
  OpBuilder b(dot);
  Value products = MulOp::create(b, dot.getLoc(), dot.getLhs(), dot.getRhs());
  Value zero = ConstantOp::create(b, dot.getLoc(), DenseElementsAttr::get(result, ArrayRef<Attribute>{b.getZeroAttr(result.getElementType())}));
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  auto reduce = ReduceOp::create(b, dot.getLoc(), TypeRange{result}, ValueRange{products}, ValueRange{zero}, b.getDenseI64ArrayAttr(all));
  Block *body = b.createBlock(&reduce.getBody(), {}, {result, result}, {dot.getLoc(), dot.getLoc()});
  ReturnOp::create(b, dot.getLoc(), AddOp::create(b, dot.getLoc(), body->getArgument(0), body->getArgument(1))->getResults());
  dot.getResult().replaceAllUsesWith(reduce.getResult(0));
  dot.erase();
  return reduce;
}

/// Returns the position of the reduced dimensions, if they are adjacent and in order, before or after all others; -1 if they are not.
int64_t placeOfSum(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t first = dims.empty() ? -1 : dims.front();
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim != first + int64_t(index))
      return -1;
  return first == 0 || first + int64_t(dims.size()) == type.getRank() ? first : -1;
}

/// Returns the number of parts of a contracted dimension of `terms` elements; 0 if it is not split. `isUpright`: it is the first dimension of both
/// operands.
int64_t partsOfProduct(int64_t terms, int64_t rows, int64_t columns, bool isUpright, bool mustBeEven) {
  // A part of a product's sums has no fewer terms. Unit: terms. Source: judgement, not measured alone; commit fe9d123 has the figures of the whole
  // change.
  constexpr int64_t kMinTermsOfPart = 512;
  // Fewer parts are not worth adding them up. Unit: parts. Source: judgement, not measured alone; commit fe9d123 has the figures of the whole change.
  constexpr int64_t kMinPartsOfProduct = 4;
  // More parts cost more memory and time to add up than threads save. Unit: parts. Source: judgement, not measured alone; commit fe9d123 has the
  // figures of the whole change.
  constexpr int64_t kMaxPartsOfProduct = 16;
  // A smaller product takes some ten microseconds on one thread. Unit: multiply-adds. Source: judgement, not measured alone; commit fe9d123 has the
  // figures of the whole change.
  constexpr int64_t kMinSplitProducts = 1 << 20;
  // Larger results cost too much to write once for every part. Unit: elements of the result. Source: judgement, not measured alone; commit fe9d123
  // has the figures of the whole change.
  constexpr int64_t kMaxSplitResults = 1 << 15;
  // A result that is wider than this on one side is cut only where both factors' rows are the terms. Unit: rows or columns. Source: judgement, not
  // measured alone; commit 28c24a9 has the figures of the whole change.
  constexpr int64_t kMaxNarrowSide = 64;
  // Few rows times a large matrix are read once, and threads share its columns.
  int64_t least = std::min(rows, columns), widest = std::max(rows, columns);
  if (terms < 4 * widest || (widest > kMaxNarrowSide && (!isUpright || least == 1)))
    return 0;
  int64_t most = std::min(kMaxPartsOfProduct, terms / kMinTermsOfPart);
  // Storing and loading the partial results is cheap compared with reading the operands.
  most = std::min(most, terms * (rows + columns) / (8 * rows * columns));
  if (most < kMinPartsOfProduct || rows * columns > kMaxSplitResults || terms * rows * columns < kMinSplitProducts)
    return 0;
  for (int64_t parts = most / 2 * 2; parts >= kMinPartsOfProduct; parts -= 2)
    if (terms % parts == 0)
      return parts;
  return mustBeEven ? 0 : most / 2 * 2;
}

/// Splits a contraction of matrices whose contracted dimension is much larger than the others: threads share it, because the result is too small to be
/// shared.
bool splitProduct(DotGeneralOp dot, Reshaped &known) {
  auto result = cast<RankedTensorType>(dot.getType());
  Type element = result.getElementType();
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  if (dot.getAlgorithm() || !(element.isF32() || element.isF64()) || !result.hasStaticShape() || result.getRank() == 0 ||
      !numbers.getLhsBatchingDimensions().empty() || numbers.getLhsContractingDimensions().empty())
    return false;
  struct Factor {
    Value value;
    RankedTensorType type;
    int64_t place, others;
  };
  int64_t terms = 1;
  auto factorOf = [&](Value value, ArrayRef<int64_t> dims) {
    auto type = cast<RankedTensorType>(value.getType());
    terms = 1;
    for (int64_t dim : dims)
      terms *= type.getDimSize(dim);
    return Factor{value, type, placeOfSum(type, dims), terms > 0 ? type.getNumElements() / terms : 0};
  };
  auto isPlain = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.hasStaticShape() && type.getElementType() == element;
  };
  if (!isPlain(dot.getLhs()) || !isPlain(dot.getRhs()))
    return false;
  Factor factors[] = {factorOf(dot.getLhs(), numbers.getLhsContractingDimensions()), factorOf(dot.getRhs(), numbers.getRhsContractingDimensions())};
  int64_t dims = numbers.getLhsContractingDimensions().size();
  bool mustBeEven = false, isUpright = true;
  for (const Factor &factor : factors) {
    unsigned budget = kMaxSharedOps;
    if (factor.place < 0 || factor.others == 0 || !canReshape(factor.value, budget))
      return false;
    isUpright &= factor.place == 0;
    mustBeEven |= factor.place != 0 || dims != 1 || !isInMemory(factor.value);
  }
  int64_t parts = partsOfProduct(terms, factors[0].others, factors[1].others, isUpright, mustBeEven);
  if (parts == 0)
    return false;
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  int64_t length = terms / parts, rest = terms % parts;
  SmallVector<Value> cut, ends;
  for (Factor &factor : factors) {
    SmallVector<int64_t> shape{factor.type.getShape()};
    shape.erase(shape.begin() + factor.place, shape.begin() + factor.place + dims);
    shape.insert(shape.begin() + factor.place, {parts, length});
    cut.push_back(reshape(b, factor.value, shape, known));
    if (!rest)
      continue;
    ends.push_back(boxOf(b, loc, factor.value, Box::along(factor.type.getShape(), 0, terms - rest, terms)));
  }
  auto cutNumbers = DotDimensionNumbersAttr::get(b.getContext(), {factors[0].place}, {factors[1].place}, {factors[0].place + 1}, {factors[1].place + 1});
  SmallVector<int64_t> shape{parts};
  llvm::append_range(shape, result.getShape());
  Value products = DotGeneralOp::create(b, loc, result.clone(shape), cut[0], cut[1], cutNumbers, dot.getPrecisionConfigAttr(), DotAlgorithmAttr());
  Value zero = ConstantOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({}, element), ArrayRef<Attribute>{b.getZeroAttr(element)}));
  auto reduce = ReduceOp::create(b, loc, TypeRange{result}, ValueRange{products}, ValueRange{zero}, b.getDenseI64ArrayAttr({0}));
  {
    OpBuilder::InsertionGuard guard(b);
    auto number = RankedTensorType::get({}, element);
    Block *body = b.createBlock(&reduce.getBody(), {}, {number, number}, {loc, loc});
    ReturnOp::create(b, loc, AddOp::create(b, loc, body->getArgument(0), body->getArgument(1))->getResults());
  }
  Value sum = reduce.getResult(0);
  if (rest) {
    Value last = DotGeneralOp::create(b, loc, result, ends[0], ends[1], numbers, dot.getPrecisionConfigAttr(), DotAlgorithmAttr());
    sum = AddOp::create(b, loc, sum, last);
  }
  dot.getResult().replaceAllUsesWith(sum);
  dot.erase();
  for (Factor &factor : factors)
    eraseUnused(factor.value);
  return true;
}

struct SplitReductions : impl::SplitReductionsPassBase<SplitReductions> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      Reshaped known;
      for (Operation &op : llvm::make_early_inc_range(block)) {
        auto reduce = dyn_cast<ReduceOp>(op);
        if (auto dot = dyn_cast<DotGeneralOp>(op)) {
          if (splitProduct(dot, known))
            continue;
          reduce = asSum(dot);
        }
        if (reduce)
          split(reduce, known);
      }
    });
  }
};

} // namespace
} // namespace millrace::fusion
