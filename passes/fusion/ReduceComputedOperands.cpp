// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReduceComputedOperands.cpp - Products with matrices that are computed -===//
// Input:   %c = convert %codes : 4096x128x32xi8 -> f32 ; %m = multiply %c, broadcast(%scales : 4096x128) ; %w = reshape %m : 4096x4096
//          %0 = dot_general %x, %w over their last dimensions : 1x4096
// Output:  %0 = reduce add (multiply %m, broadcast(reshape(%x) : 128x32)) over [1, 2]: one kernel, which reads codes and scales. No %m in memory.
//          Several vectors have one reduction with as many sums. Codes of four bits, stack(%bytes & 15, %bytes >> 4), are multiplied with every
//          second term each, and not stacked.
//          So weights are written that are kept in few bits: one scale (and zero point) for each group of terms.
// Leaves alone more than a few vectors (for which the matrix is unpacked into panels), small matrices, factors with other readers, those that are
// read as they are (numbers that are only widened: the product itself does that), and what is computed of more bytes than the factor has.
//===----------------------------------------------------------------------===//
#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/ProgramBlocks.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include <optional>
#include <utility>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_REDUCECOMPUTEDOPERANDSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// Vectors that are multiplied with a matrix that is computed meanwhile; with more of them the matrix is written once. Unit: vectors. Source: `python
/// -m benchmarks.compare quantized`, Zen 5, 4096x4096 codes in groups of 32: four vectors take 1.4 ms, eight 4.9, writing the matrix first 3.7.
constexpr int64_t kMaxVectors = 4;
/// Smaller matrices, 64 KB of f32, cost little to write and read again. Unit: elements of the matrix. Source: judgement, not measured: an estimate
/// that holds on any machine.
constexpr int64_t kMinMatrixElements = 16 << 10;
/// Operations between what is read and the factor: a bound of the size of a kernel, as kMaxClusterOps is. Unit: operations. Source: judgement, not
/// measured alone; commit 928db3a has the figures of the whole change.
constexpr unsigned kMaxFactorOps = 12;

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

int64_t bytesOf(RankedTensorType type) { return type.getNumElements() * std::max<int64_t>(8, type.getElementTypeBitWidth()) / 8; }

/// Numbers that vectors hold, or that are widened to such from fewer bits than a byte has (each of them is a byte in memory).
bool hasNumbers(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  auto from = convert ? dyn_cast<RankedTensorType>(convert.getOperand().getType()) : RankedTensorType();
  return hasPlainNumbers(op) || (from && from.hasStaticShape() && isa<IntegerType>(from.getElementType()) && isa<FloatType>(typeOf(convert).getElementType()));
}

bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

/// The operands from which `value` is computed elementwise, with the value as their only user.
struct Sources {
  int64_t bytes = 0;
  unsigned ops = 0;
  bool isReadable = true; ///< false: a type without a size, or too many operations

  void add(Value value) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat()) {
      isReadable = false;
    } else if (op && op->hasOneUse() && hasNumbers(op) && (isElementwise(op) || isa<BroadcastInDimOp>(op))) {
      if (++ops > kMaxFactorOps)
        isReadable = false;
      for (Value operand : op->getOperands())
        if (isReadable)
          add(operand);
    } else if (!isSplat(value)) {
      bytes += bytesOf(type);
    }
  }
};

/// In which products of small floats are added up, as the product's own kernels do.
Type typeOfSum(Type element) { return element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(element.getContext()) : element; }

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
  Type element = lhs.getElementType();
  if (!hasPlainNumbers(dot) || dot.getAlgorithm() || !numbers.getLhsBatchingDimensions().empty() || !isa<FloatType>(element) ||
      rhs.getElementType() != element || (result.getElementType() != element && result.getElementType() != typeOfSum(element)))
    return false;
  isLeft = lhs.getNumElements() > rhs.getNumElements();
  Value factor = isLeft ? dot.getLhs() : dot.getRhs();
  vectors = isLeft ? dot.getRhs() : dot.getLhs();
  ArrayRef<int64_t> summed = isLeft ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();
  ArrayRef<int64_t> summedOfVectors = isLeft ? numbers.getRhsContractingDimensions() : numbers.getLhsContractingDimensions();
  // Terms are adjacent, in the same order in both operands.
  auto beginAt = [](ArrayRef<int64_t> dims, int64_t first) {
    for (auto [place, dim] : llvm::enumerate(dims))
      if (dim != first + int64_t(place))
        return false;
    return true;
  };
  RankedTensorType type = typeOf(factor), ofVectors = typeOf(vectors);
  const bool areLast = beginAt(summed, type.getRank() - int64_t(summed.size()));
  areFirst = !areLast && beginAt(summed, 0);
  if ((!areLast && !areFirst) || !beginAt(summedOfVectors, ofVectors.getRank() - int64_t(summedOfVectors.size())) || type.getNumElements() < kMinMatrixElements)
    return false;
  auto some = [&](ArrayRef<int64_t> shape, size_t dims) { return areFirst ? shape.take_front(dims) : shape.take_back(dims); };
  int64_t count = product(some(type.getShape(), summed.size()));
  rows = ofVectors.getNumElements() / std::max<int64_t>(1, count);
  if (rows < 1 || rows > kMaxVectors || count < 2)
    return false;
  matrix = factor;
  if (auto reshape = factor.getDefiningOp<ReshapeOp>(); reshape && reshape->hasOneUse())
    matrix = reshape.getOperand();
  Operation *op = matrix.getDefiningOp();
  if (!op || !op->hasOneUse() || !isElementwise(op) || !hasNumbers(op) || (matrix == factor && isa<ConvertOp>(op)))
    return false;
  // The terms are whole dimensions of the shape in which the matrix is computed, too.
  ArrayRef<int64_t> shape = typeOf(matrix).getShape();
  for (terms = 0; terms < shape.size() && product(some(shape, terms)) < count;)
    ++terms;
  if (product(some(shape, terms)) != count || terms == 0 || terms == shape.size())
    return false;
  Sources sources;
  sources.add(matrix);
  return sources.isReadable && sources.bytes <= bytesOf(type);
}

/// A matrix whose last dimension is stacked of parts (the two codes of four bits that a byte holds, one after the other), and each part of it
/// in a shape of its own: its last dimension is shorter by the number of parts. Nothing is created before all of it is known to work.
class Stacked {
public:
  explicit Stacked(Value matrix) : matrix(matrix), whole(typeOf(matrix).getShape()) {
    if (!isOfParts(matrix, 0) || whole.back() % std::max<int64_t>(1, count) != 0)
      count = 0;
    shape.assign(whole.begin(), whole.end());
    if (count > 0)
      shape.back() /= count;
  }
  /// 0 if it is not stacked.
  int64_t parts() const { return count; }
  ArrayRef<int64_t> partShape() const { return shape; }
  Value part(OpBuilder &b, int64_t number) { return partOf(b, matrix, number); }

private:
  /// The stack that `value` is, through reshapes that keep its last dimension's neighbors together.
  static ConcatenateOp stackOf(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      if (!reshape->hasOneUse())
        return {};
      value = reshape.getOperand();
    }
    auto stack = value.getDefiningOp<ConcatenateOp>();
    if (!stack || !stack->hasOneUse() || !hasPlainNumbers(stack))
      return {};
    const int64_t last = typeOf(stack).getRank() - 1;
    bool isStack = int64_t(stack.getDimension()) == last && llvm::all_of(stack.getInputs(), [&](Value part) { return typeOf(part).getDimSize(last) == 1; });
    return isStack ? stack : ConcatenateOp();
  }

  bool isOfParts(Value value, unsigned depth) {
    if (typeOf(value).getRank() == 0 || isSplat(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || depth > kMaxFactorOps || typeOf(value).getShape() != ArrayRef(whole))
      return false;
    if (ConcatenateOp stack = stackOf(value)) {
      const int64_t number = stack.getInputs().size();
      const bool isFirst = std::exchange(count, number) == 0;
      return isFirst || count == number;
    }
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) // the same for all parts
      return !llvm::is_contained(broadcast.getBroadcastDimensions(), int64_t(whole.size()) - 1);
    return op->hasOneUse() && hasPlainNumbers(op) && isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isOfParts(operand, depth + 1); });
  }

  /// The elements of `value` in the shape of a part. Elementwise operations are moved there: a reshape between them would keep kernels apart.
  Value reshaped(OpBuilder &b, Value value, unsigned depth = 0) {
    RankedTensorType type = typeOf(value).clone(shape);
    Operation *op = value.getDefiningOp();
    if (isSplat(value))
      return ConstantOp::create(b, value.getLoc(), cast<DenseElementsAttr>(value.getDefiningOp<ConstantOp>().getValue()).resizeSplat(type));
    if (op && depth <= kMaxFactorOps && isa<ReshapeOp>(op))
      return reshaped(b, op->getOperand(0), depth + 1);
    auto keepsShape = [&](Value operand) { return typeOf(operand).getShape() == typeOf(value).getShape(); };
    if (op && depth <= kMaxFactorOps && op->hasOneUse() && op->getNumResults() == 1 && hasPlainNumbers(op) && isElementwise(op) && llvm::all_of(op->getOperands(), keepsShape)) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(reshaped(b, operand, depth + 1));
      return moved(b, op, operands);
    }
    return typeOf(value) == type ? value : ReshapeOp::create(b, value.getLoc(), type, value);
  }

  Value partOf(OpBuilder &b, Value value, int64_t number) {
    if (typeOf(value).getRank() == 0)
      return value;
    if (isSplat(value))
      return reshaped(b, value);
    if (ConcatenateOp stack = stackOf(value))
      return reshaped(b, stack.getInputs()[number]);
    Operation *op = value.getDefiningOp();
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
      return BroadcastInDimOp::create(b, op->getLoc(), typeOf(value).clone(shape), broadcast.getOperand(), broadcast.getBroadcastDimensionsAttr());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(partOf(b, operand, number));
    return moved(b, op, operands);
  }

  /// `op` with other operands, in the shape of a part.
  Value moved(OpBuilder &b, Operation *op, ArrayRef<Value> operands) {
    OperationState state(op->getLoc(), op->getName(), operands, typeOf(op->getResult(0)).clone(shape), op->getAttrs());
    return b.create(state)->getResult(0);
  }

  Value matrix;
  SmallVector<int64_t> whole, shape;
  int64_t count = 0;
};

/// The product as one reduction, with a sum for each vector: the matrix is computed once for all of them.
void rewrite(Computed computed) {
  DotGeneralOp dot = computed.dot;
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  RankedTensorType of = typeOf(computed.matrix), result = typeOf(dot);
  Type sumType = typeOfSum(of.getElementType());
  // Parts of a stack are multiplied with their own terms, and never stacked.
  std::optional<Stacked> stacked;
  SmallVector<Value> parts{computed.matrix};
  if (!computed.areFirst && stacked.emplace(computed.matrix).parts() > 1) {
    parts.clear();
    for (int64_t part = 0; part < stacked->parts(); ++part)
      parts.push_back(stacked->part(b, part));
    of = of.clone(stacked->partShape());
  }
  const int64_t outer = of.getRank() - computed.terms, first = computed.areFirst ? 0 : outer;
  ArrayRef<int64_t> termSizes = of.getShape().slice(first, computed.terms), outerSizes = of.getShape().slice(computed.areFirst ? computed.terms : 0, outer);
  const int64_t columns = product(outerSizes), count = product(termSizes) * int64_t(parts.size());
  SmallVector<int64_t> summed = llvm::to_vector(llvm::seq<int64_t>(first, first + computed.terms));

  auto inSumType = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, sumType); };
  auto reshaped = [&](Value value, ArrayRef<int64_t> shape) {
    return typeOf(value).getShape() == shape ? value : Value(ReshapeOp::create(b, loc, typeOf(value).clone(shape), value));
  };
  auto converted = [&](Value value, Type type) {
    return typeOf(value).getElementType() == type ? value : Value(ConvertOp::create(b, loc, typeOf(value).clone(type), value));
  };
  for (Value &part : parts)
    part = converted(part, sumType);
  computed.vectors = converted(computed.vectors, sumType);
  Value vectors = computed.rows > 1 ? reshaped(computed.vectors, {computed.rows, count}) : computed.vectors;
  RankedTensorType wide = of.clone(sumType);
  SmallVector<Value> products;
  for (int64_t row = 0; row < computed.rows; ++row) {
    Value one = vectors;
    if (computed.rows > 1)
      one = boxOf(b, loc, vectors, Box::along({computed.rows, count}, 0, row, row + 1));
    Value sum;
    for (auto [place, matrix] : llvm::enumerate(parts)) {
      Value terms = one;
      if (parts.size() > 1) {
        SmallVector<int64_t> shape{count / int64_t(parts.size()), int64_t(parts.size())};
        terms = boxOf(b, loc, reshaped(one, shape), Box::along(shape, 1, int64_t(place), int64_t(place) + 1));
      }
      terms = BroadcastInDimOp::create(b, loc, wide, reshaped(terms, termSizes), b.getDenseI64ArrayAttr(summed));
      Value product = MulOp::create(b, loc, computed.isLeft ? matrix : terms, computed.isLeft ? terms : matrix);
      sum = sum ? AddOp::create(b, loc, sum, product) : product;
    }
    products.push_back(sum);
  }
  auto scalar = RankedTensorType::get({}, sumType);
  Value zero = ConstantOp::create(b, loc, DenseElementsAttr::get(scalar, ArrayRef<Attribute>{b.getZeroAttr(sumType)}));
  SmallVector<Type> kept(products.size(), inSumType(outerSizes));
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
    whole = ConcatenateOp::create(b, loc, inSumType(computed.isLeft ? SmallVector<int64_t>{columns, computed.rows} : SmallVector<int64_t>{computed.rows, columns}), sums,
                                  /*dimension=*/computed.isLeft ? 1 : 0);
  whole = converted(reshaped(whole, result.getShape()), result.getElementType());
  Value factor = computed.isLeft ? dot.getLhs() : dot.getRhs();
  dot.getResult().replaceAllUsesWith(whole);
  dot.erase();
  eraseUnused(factor); // the reshape, and a matrix that was stacked
}

struct ReduceComputedOperands : impl::ReduceComputedOperandsPassBase<ReduceComputedOperands> {
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      for (auto dot : llvm::make_early_inc_range(block.getOps<DotGeneralOp>())) {
        Computed computed;
        computed.dot = dot;
        if (computed.match())
          rewrite(computed);
      }
    });
  }
};

} // namespace
} // namespace millrace::fusion
