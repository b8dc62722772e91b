// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewTerms.cpp - Products with constant matrices of zeros, mostly -----===//
// Input:   %y = stablehlo.dot_general %w, %x, contracting_dims = [0] x [1]   // %w constant, two of 56 numbers of a column are not zero
// Output:  %y = stablehlo.custom_call @millrace_few_terms(%x, %positions, %weights) {sizes = [1, 56, 896]}, its result in the order of
//          %x, then a transposition if others than dimensions of size 1 move; one that followed is part of it
// What resizing an image along one dimension comes to. A product of zero and what is not finite stays NaN: the runtime looks for it.
// Leaves alone matrices with more than a quarter of other numbers in a column, small products, contractions of the last dimension (their
// terms do not lie side by side), matrices that hold infinities or NaNs, and products whose algorithm rounds the factors.
//===----------------------------------------------------------------------===//
#include "passes/calls/RuntimeCall.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
namespace {

constexpr int64_t kLeastRow = 8, kMostTerms = 16, kZerosPerTerm = 4;
constexpr int64_t kManyProducts = 1 << 16;

struct Terms {
  SmallVector<int32_t> positions; ///< [count][columns]
  SmallVector<APFloat> weights;
  int64_t count = 0;
};

/// The numbers of each column of `matrix`, whose dimension `contracted` is summed up, that are not zero.
std::optional<Terms> fewTerms(DenseElementsAttr matrix, int64_t contracted) {
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t depth = type.getDimSize(contracted), columns = type.getDimSize(1 - contracted);
  auto values = matrix.getValues<APFloat>();
  SmallVector<SmallVector<int32_t>> places(columns);
  auto at = [&](int64_t k, int64_t n) -> APFloat { return values[contracted == 0 ? k * columns + n : n * depth + k]; };
  Terms terms;
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t k = 0; k < depth; ++k) {
      APFloat value = at(k, n);
      if (!value.isFinite())
        return std::nullopt;
      if (!value.isZero())
        places[n].push_back(int32_t(k));
    }
    terms.count = std::max(terms.count, int64_t(places[n].size()));
    if (terms.count > kMostTerms || terms.count * kZerosPerTerm > depth)
      return std::nullopt;
  }
  if (terms.count == 0)
    return std::nullopt;
  const auto &semantics = cast<FloatType>(type.getElementType()).getFloatSemantics();
  for (int64_t t = 0; t < terms.count; ++t)
    for (int64_t n = 0; n < columns; ++n) {
      bool isThere = t < int64_t(places[n].size());
      terms.positions.push_back(isThere ? places[n][t] : places[n].empty() ? 0 : places[n].back());
      terms.weights.push_back(isThere ? at(places[n][t], n) : APFloat::getZero(semantics));
    }
  return terms;
}

} // namespace

bool callFewTerms(DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  auto result = cast<RankedTensorType>(op.getType());
  if (!hasStaticShapes(op) || op.getAlgorithm() || !numbers.getLhsBatchingDimensions().empty() || numbers.getLhsContractingDimensions().size() != 1)
    return false;
  DenseElementsAttr matrix;
  bool isLeft = matchPattern(op.getLhs(), m_Constant(&matrix));
  if (!isLeft && !matchPattern(op.getRhs(), m_Constant(&matrix)))
    return false;
  Value x = isLeft ? op.getRhs() : op.getLhs();
  auto type = cast<RankedTensorType>(x.getType());
  int64_t contracted = numbers.getLhsContractingDimensions()[0], dimension = numbers.getRhsContractingDimensions()[0];
  if (!isLeft)
    std::swap(contracted, dimension);
  Type element = result.getElementType();
  if (!(element.isF32() || element.isF64()) || type.getElementType() != element || cast<RankedTensorType>(matrix.getType()).getRank() != 2 ||
      matrix.getElementType() != element)
    return false;
  int64_t columns = cast<RankedTensorType>(matrix.getType()).getDimSize(1 - contracted), rank = type.getRank(), row = 1;
  for (int64_t d = dimension + 1; d < rank; ++d)
    row *= type.getDimSize(d);
  if (row < kLeastRow || type.getNumElements() * columns < kManyProducts)
    return false;
  std::optional<Terms> terms = fewTerms(matrix, contracted);
  if (!terms)
    return false;

  OpBuilder b(op);
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = columns;
  auto positions = RankedTensorType::get({terms->count, columns}, b.getI32Type()), weights = RankedTensorType::get({terms->count, columns}, element);
  Value operands[] = {x, ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(positions, ArrayRef<int32_t>(terms->positions))),
                      ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(weights, ArrayRef<APFloat>(terms->weights)))};
  // Columns come first or last.
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dimension)
      order.push_back(d);
  order.insert(isLeft ? order.begin() : order.end(), dimension);
  Operation *last = op;
  if (op->hasOneUse())
    if (auto transpose = dyn_cast<TransposeOp>(*op->user_begin())) {
      SmallVector<int64_t> both;
      for (int64_t d : transpose.getPermutation())
        both.push_back(order[d]);
      order = both;
      last = transpose;
    }
  SmallVector<int64_t> large;
  for (int64_t d : order)
    if (shape[d] != 1)
      large.push_back(d);
  bool isInOrder = llvm::is_sorted(large);
  Type wanted = last->getResult(0).getType();
  Value made = callRuntime(b, op.getLoc(), "millrace_few_terms", isInOrder ? wanted : type.clone(shape), operands,
                           b.getNamedAttr("sizes", b.getDenseI64ArrayAttr({type.getNumElements() / type.getDimSize(dimension) / row,
                                                                           type.getDimSize(dimension), row})))
                   .getResult(0);
  if (!isInOrder)
    made = TransposeOp::create(b, op.getLoc(), wanted, made, b.getDenseI64ArrayAttr(order));
  last->getResult(0).replaceAllUsesWith(made);
  last->erase();
  if (last != op)
    op.erase();
  return true;
}

} // namespace millrace::calls
