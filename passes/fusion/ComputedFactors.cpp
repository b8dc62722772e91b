// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ComputedFactors.cpp - Products with matrices that are computed ------===//
// Input:   %c = convert %codes : 4096x128x32xi8 -> f32 ; %m = multiply %c, broadcast(%scales : 4096x128) ; %w = reshape %m : 4096x4096
//          %0 = dot_general %x, %w over their last dimensions : 1x4096
// Output:  %0 = reduce add (multiply %m, broadcast(reshape(%x) : 128x32)) over [1, 2]: one kernel, which reads codes and scales. No %m in memory.
//          Several vectors have one reduction with as many sums.
//          So weights are written that are kept in few bits: one scale (and zero point) for each group of terms.
// Leaves alone more than a few vectors (for which the matrix is unpacked into panels), small matrices, factors with other readers, those that are read as they
// are (numbers that are only widened: the product itself does that), and what takes as many bytes as the factor.
//===----------------------------------------------------------------------===//
#include "passes/fusion/FusionPlan.h"
#include "passes/fusion/FusionPolicy.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

constexpr int64_t kMostVectors = 4;           ///< that are multiplied with the matrix
constexpr int64_t kFewestElements = 16 << 10; ///< of the matrix: smaller ones stay in the nearest cache
constexpr unsigned kMostOps = 12;             ///< between what is read and the factor

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

int64_t bytesOf(RankedTensorType type) { return type.getNumElements() * std::max<int64_t>(8, type.getElementTypeBitWidth()) / 8; }

/// What is read to compute `value` element by element, its own reader being the only one.
struct Sources {
  int64_t bytes = 0;
  unsigned ops = 0;
  bool isReadable = true; ///< false: a type without a size, or too many operations

  void add(Value value) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat()) {
      isReadable = false;
    } else if (op && op->hasOneUse() && hasPlainNumbers(op) && (isElementwise(op) || isa<BroadcastInDimOp>(op))) {
      if (++ops > kMostOps)
        isReadable = false;
      for (Value operand : op->getOperands())
        if (isReadable)
          add(operand);
    } else {
      bytes += bytesOf(type);
    }
  }
};

/// A product of `vectors` and a computed matrix.
struct Computed {
  DotGeneralOp dot;
  Value vectors, matrix; ///< the matrix in the shape in which it is computed
  int64_t rows = 1;      ///< vectors
  unsigned terms = 0;    ///< how many of its dimensions are added up: the last ones, or the first
  bool areFirst = false;
  bool isLeft = false;   ///< the matrix is the first factor

  bool match();
};

bool Computed::match() {
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  RankedTensorType result = typeOf(dot), lhs = typeOf(dot.getLhs()), rhs = typeOf(dot.getRhs());
  Type element = result.getElementType();
  if (!hasPlainNumbers(dot) || dot.getAlgorithm() || !numbers.getLhsBatchingDimensions().empty() || !(element.isF32() || element.isF64()) ||
      lhs.getElementType() != element || rhs.getElementType() != element || !lhs.hasStaticShape() || !rhs.hasStaticShape())
    return false;
  isLeft = lhs.getNumElements() > rhs.getNumElements();
  Value factor = isLeft ? dot.getLhs() : dot.getRhs();
  vectors = isLeft ? dot.getRhs() : dot.getLhs();
  ArrayRef<int64_t> summed = isLeft ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();
  ArrayRef<int64_t> summedOfVectors = isLeft ? numbers.getRhsContractingDimensions() : numbers.getLhsContractingDimensions();
  // Terms stand together, in one order in both factors.
  auto beginAt = [](ArrayRef<int64_t> dims, int64_t first) {
    for (auto [place, dim] : llvm::enumerate(dims))
      if (dim != first + int64_t(place))
        return false;
    return true;
  };
  RankedTensorType type = typeOf(factor), ofVectors = typeOf(vectors);
  const bool areLast = beginAt(summed, type.getRank() - int64_t(summed.size()));
  areFirst = !areLast && beginAt(summed, 0);
  if ((!areLast && !areFirst) || !beginAt(summedOfVectors, ofVectors.getRank() - int64_t(summedOfVectors.size())) || type.getNumElements() < kFewestElements)
    return false;
  auto some = [&](ArrayRef<int64_t> shape, size_t dims) { return areFirst ? shape.take_front(dims) : shape.take_back(dims); };
  int64_t count = product(some(type.getShape(), summed.size()));
  rows = ofVectors.getNumElements() / std::max<int64_t>(1, count);
  if (rows < 1 || rows > kMostVectors || count < 2)
    return false;
  matrix = factor;
  if (auto reshape = factor.getDefiningOp<ReshapeOp>(); reshape && reshape->hasOneUse())
    matrix = reshape.getOperand();
  Operation *op = matrix.getDefiningOp();
  if (!op || !op->hasOneUse() || !isElementwise(op) || !hasPlainNumbers(op) || (matrix == factor && isa<ConvertOp>(op)))
    return false;
  // The terms are whole dimensions of the shape in which the matrix is computed, too.
  ArrayRef<int64_t> shape = typeOf(matrix).getShape();
  for (terms = 0; terms < shape.size() && product(some(shape, terms)) < count;)
    ++terms;
  if (product(some(shape, terms)) != count || terms == 0 || terms == shape.size())
    return false;
  Sources sources;
  sources.add(matrix);
  return sources.isReadable && 2 * sources.bytes <= bytesOf(type);
}

/// The product as one reduction, with a sum for each vector: the matrix is computed once for all of them.
void rewrite(const Computed &computed) {
  DotGeneralOp dot = computed.dot;
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  RankedTensorType of = typeOf(computed.matrix), result = typeOf(dot);
  const int64_t outer = of.getRank() - computed.terms, first = computed.areFirst ? 0 : outer;
  ArrayRef<int64_t> termSizes = of.getShape().slice(first, computed.terms), outerSizes = of.getShape().slice(computed.areFirst ? computed.terms : 0, outer);
  const int64_t columns = product(outerSizes), count = product(termSizes);
  SmallVector<int64_t> summed = llvm::to_vector(llvm::seq<int64_t>(first, first + computed.terms));

  auto reshaped = [&](Value value, ArrayRef<int64_t> shape) {
    return typeOf(value).getShape() == shape ? value : Value(ReshapeOp::create(b, loc, result.clone(shape), value));
  };
  Value vectors = computed.rows > 1 ? reshaped(computed.vectors, {computed.rows, count}) : computed.vectors;
  SmallVector<Value> products;
  for (int64_t row = 0; row < computed.rows; ++row) {
    Value one = vectors;
    if (computed.rows > 1)
      one = SliceOp::create(b, loc, result.clone({1, count}), vectors, b.getDenseI64ArrayAttr({row, 0}), b.getDenseI64ArrayAttr({row + 1, count}),
                            b.getDenseI64ArrayAttr({1, 1}));
    one = BroadcastInDimOp::create(b, loc, of, reshaped(one, termSizes), b.getDenseI64ArrayAttr(summed));
    products.push_back(MulOp::create(b, loc, computed.isLeft ? computed.matrix : one, computed.isLeft ? one : computed.matrix));
  }
  auto scalar = RankedTensorType::get({}, result.getElementType());
  Value zero = ConstantOp::create(b, loc, DenseElementsAttr::get(scalar, ArrayRef<Attribute>{b.getZeroAttr(result.getElementType())}));
  SmallVector<Type> kept(products.size(), result.clone(outerSizes));
  auto reduce = ReduceOp::create(b, loc, kept, products, SmallVector<Value>(products.size(), zero), b.getDenseI64ArrayAttr(summed));
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> types(2 * products.size(), scalar);
    Block *body = b.createBlock(&reduce.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    SmallVector<Value> sums;
    for (size_t i = 0; i < products.size(); ++i)
      sums.push_back(AddOp::create(b, loc, body->getArgument(i), body->getArgument(products.size() + i)));
    ReturnOp::create(b, loc, sums);
  }
  // The result begins with the dimensions of the first factor.
  SmallVector<int64_t> columnOrRow = computed.isLeft ? SmallVector<int64_t>{columns, 1} : SmallVector<int64_t>{1, columns};
  SmallVector<Value> sums;
  for (Value sum : reduce.getResults())
    sums.push_back(computed.rows == 1 ? sum : reshaped(sum, columnOrRow));
  Value whole = sums.front();
  if (sums.size() > 1)
    whole = ConcatenateOp::create(b, loc, computed.isLeft ? result.clone({columns, computed.rows}) : result.clone({computed.rows, columns}), sums,
                                  /*dimension=*/computed.isLeft ? 1 : 0);
  whole = reshaped(whole, result.getShape());
  Operation *factor = (computed.isLeft ? dot.getLhs() : dot.getRhs()).getDefiningOp();
  dot.getResult().replaceAllUsesWith(whole);
  dot.erase();
  if (factor->use_empty())
    factor->erase(); // the reshape
}

} // namespace

void sumComputedFactors(Block &block) {
  for (auto dot : llvm::make_early_inc_range(block.getOps<DotGeneralOp>())) {
    Computed computed;
    computed.dot = dot;
    if (computed.match())
      rewrite(computed);
  }
}

} // namespace millrace::fusion
