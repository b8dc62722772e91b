// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewTerms.cpp - Replace contractions with sparse constants by calls --===//
// Input:   %y = stablehlo.dot_general %w, %x, contracting_dims = [0] x [1]   // %w constant, two of the 56 elements of a column are not zero
// Output:  %y = stablehlo.custom_call @millrace_few_terms(%x, %positions, %weights) {sizes = [1, 56, 896]}, its result in the order of
//          %x, then a transpose if more than unit dimensions move; transposes before and behind the contraction become part of the call
// Resizing an image along one dimension is such a contraction. Zero times infinity or NaN stays NaN: the runtime looks for such elements.
// A matrix that is too large for the folder, as those of large images are, is evaluated here if it may hold zeros.
// Leaves alone matrices with more than a quarter of nonzero elements in a column, small contractions, matrices that hold infinities or NaNs, and
// contractions whose algorithm rounds the operands.
//===----------------------------------------------------------------------===//
#include "passes/calls/RuntimeCall.h"

#include "dialects/stablehlo/eval/Evaluator.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
namespace {

/// Sums with more nonzero terms are matrix products. Unit: terms of a sum. Source: judgement, not measured alone; commit 1f908c9 has the figures of
/// the whole change.
constexpr int64_t kMaxTerms = 64;
/// Less sparse matrices are multiplied densely: vectors of whole rows are faster than picking terms. Unit: elements of a column for each term.
/// Source: judgement, not measured alone; commit 1f908c9 has the figures of the whole change.
constexpr int64_t kZerosPerTerm = 4;
/// A smaller contraction takes microseconds. Unit: multiply-adds. Source: judgement, not measured alone; commit 14f8d55 has the figures of
/// the whole change.
constexpr int64_t kMinSparseProducts = 1 << 16;
/// Evaluating more elements takes over a tenth of a second of the compilation. Unit: elements of all operations that lead to a matrix. Source:
/// judgement, not measured alone; commit 1f908c9 has the figures of the whole change.
constexpr int64_t kMaxEvaluatedElements = 8 << 20;

struct Terms {
  SmallVector<int32_t> positions; ///< [count][columns]
  SmallVector<APFloat> weights;
  int64_t count = 0;
};

/// Collects the nonzero elements of each column of `matrix`, whose dimension `contracted` is contracted.
template <typename Number>
std::optional<Terms> fewTerms(DenseElementsAttr matrix, int64_t contracted) {
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t depth = type.getDimSize(contracted), columns = type.getDimSize(1 - contracted);
  auto values = matrix.getValues<Number>();
  SmallVector<SmallVector<int32_t>> places(columns);
  auto at = [&](int64_t k, int64_t n) -> Number { return values[contracted == 0 ? k * columns + n : n * depth + k]; };
  Terms terms;
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t k = 0; k < depth; ++k) {
      Number value = at(k, n);
      if (!std::isfinite(value))
        return std::nullopt;
      if (value != 0)
        places[n].push_back(int32_t(k));
    }
    terms.count = std::max(terms.count, int64_t(places[n].size()));
    if (terms.count > kMaxTerms || terms.count * kZerosPerTerm > depth)
      return std::nullopt;
  }
  if (terms.count == 0)
    return std::nullopt;
  for (int64_t t = 0; t < terms.count; ++t)
    for (int64_t n = 0; n < columns; ++n) {
      bool isThere = t < int64_t(places[n].size());
      terms.positions.push_back(isThere ? places[n][t] : places[n].empty() ? 0 : places[n].back());
      terms.weights.push_back(APFloat(isThere ? at(places[n][t], n) : Number(0)));
    }
  return terms;
}

/// Returns the value of `matrix` if it is computed from constants, even beyond the limits of the folder; null if there are too many elements, or
/// if no operation among them creates zeros (a table of sines, say), so that a search for zeros would find none.
DenseElementsAttr evaluated(Value matrix) {
  Operation *last = matrix.getDefiningOp();
  if (!last)
    return nullptr;
  bool makesZeros = false, isOther = false;
  int64_t elements = 0;
  auto accepts = [&](Operation *op) {
    if (op->getBlock() != last->getBlock() || !isMemoryEffectFree(op) || !hasStaticShapes(op) || op->getNumResults() != 1 ||
        !(isa<ConstantOp, IotaOp, BroadcastInDimOp, ReshapeOp, TransposeOp, ReduceOp, ConvertOp, SelectOp, CompareOp>(op) ||
          op->hasTrait<OpTrait::Elementwise>()) ||
        llvm::any_of(op->getOperands(), [](Value operand) { return isa<BlockArgument>(operand); }))
      return false;
    makesZeros |= isa<SelectOp, MaxOp, ClampOp>(op) || (isa<ConvertOp>(op) && getElementTypeOrSelf(op->getOperand(0)).isInteger(1));
    int64_t largest = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
    for (Value operand : op->getOperands())
      largest = std::max(largest, cast<RankedTensorType>(operand.getType()).getNumElements());
    elements += isa<ConstantOp>(op) ? 0 : largest;
    // A value that a body reads from outside is not among the operands.
    bool isCapturing = false;
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) { isCapturing |= llvm::any_of(inner->getOperands(), [&](Value v) { return !region.isAncestor(v.getParentRegion()); }); });
    return !isCapturing && elements <= kMaxEvaluatedElements;
  };
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  // An operation that cannot be evaluated ends the search: behind it there may be the whole program.
  options.filter = [&](Operation *op) {
    isOther = isOther || !accepts(op);
    return !isOther;
  };
  if (failed(getBackwardSlice(last, &slice, options)) || isOther)
    return nullptr;
  if (!makesZeros || elements > kMaxEvaluatedElements)
    return nullptr;
  DenseMap<Value, eval::Value> known;
  for (Operation *op : slice) { // operands come before their users
    SmallVector<eval::Value> operands;
    for (Value operand : op->getOperands()) {
      auto it = known.find(operand);
      if (it == known.end())
        return nullptr; // an argument
      operands.push_back(it->second);
    }
    auto results = eval::evaluateOp(op, operands);
    if (!results) {
      llvm::consumeError(results.takeError());
      return nullptr;
    }
    known.try_emplace(op->getResult(0), std::move((*results)[0]));
  }
  DenseElementsAttr value = known.find(matrix)->second.tensor().toAttr();
  return value.getType() == matrix.getType() ? value : nullptr;
}

/// Erases `value`, the operand of an erased operation, and those of its producers that have no other users.
void eraseUnused(Value value) {
  llvm::SmallSetVector<Operation *, 8> open; // each once: a value with several users is erased with the last of them
  open.insert(value.getDefiningOp());
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!op || !isOpTriviallyDead(op))
      continue;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      open.insert(operand.getDefiningOp());
  }
}

} // namespace

bool callFewTerms(DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  auto result = cast<RankedTensorType>(op.getType());
  if (!hasStaticShapes(op) || op.getAlgorithm() || !numbers.getLhsBatchingDimensions().empty() || numbers.getLhsContractingDimensions().size() != 1)
    return false;
  auto isMadeOfConstants = [](Value value, DenseElementsAttr &matrix) {
    if (matchPattern(value, m_Constant(&matrix)))
      return true;
    matrix = nullptr;
    auto type = cast<RankedTensorType>(value.getType());
    return type.getRank() == 2 && (type.getElementType().isF32() || type.getElementType().isF64()) && (matrix = evaluated(value));
  };
  DenseElementsAttr matrix;
  bool isLeft = isMadeOfConstants(op.getLhs(), matrix);
  if (!isLeft && !isMadeOfConstants(op.getRhs(), matrix))
    return false;
  Value x = isLeft ? op.getRhs() : op.getLhs(), w = isLeft ? op.getLhs() : op.getRhs();
  int64_t contracted = numbers.getLhsContractingDimensions()[0], dimension = numbers.getRhsContractingDimensions()[0];
  if (!isLeft)
    std::swap(contracted, dimension);
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  // Columns come first or last.
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dimension)
      order.push_back(d);
  order.insert(isLeft ? order.begin() : order.end(), dimension);
  while (auto transpose = x.getDefiningOp<TransposeOp>()) {
    for (int64_t &d : order)
      d = transpose.getPermutation()[d];
    dimension = transpose.getPermutation()[dimension];
    x = transpose.getOperand();
  }
  auto type = cast<RankedTensorType>(x.getType());
  Type element = result.getElementType();
  if (!(element.isF32() || element.isF64()) || type.getElementType() != element || cast<RankedTensorType>(matrix.getType()).getRank() != 2 ||
      matrix.getElementType() != element)
    return false;
  int64_t columns = cast<RankedTensorType>(matrix.getType()).getDimSize(1 - contracted), row = 1;
  for (int64_t d = dimension + 1; d < rank; ++d)
    row *= type.getDimSize(d);
  if (type.getNumElements() * columns < kMinSparseProducts)
    return false;
  std::optional<Terms> terms = element.isF32() ? fewTerms<float>(matrix, contracted) : fewTerms<double>(matrix, contracted);
  if (!terms)
    return false;

  OpBuilder b(op);
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = columns;
  auto positions = RankedTensorType::get({terms->count, columns}, b.getI32Type()), weights = RankedTensorType::get({terms->count, columns}, element);
  Value operands[] = {x, ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(positions, ArrayRef<int32_t>(terms->positions))),
                      ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(weights, ArrayRef<APFloat>(terms->weights)))};
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
  Value factor = isLeft ? op.getRhs() : op.getLhs();
  last->erase();
  if (last != op)
    op.erase();
  eraseUnused(w);
  if (factor != x && factor != w)
    eraseUnused(factor);
  return true;
}

} // namespace millrace::calls
