// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseCodedProducts.cpp - Multiply bytes with coded weights -------------===//
// Input:   %x = (convert %bytes : 3x4096xi8 -> f32) * %row_scales ; %w = ((stack(%nibbles & 15, %nibbles >> 4) - 8) -> f32) * %group_scales
//          %0 = dot_general %x, %w over their last dimensions : 3x4096 times 11008x4096
// Output:  %p = call @coded_product(%nibbles, %bytes, %group_scales), with kCodedProductAttr ; %0 = %p * %row_scales
//          The sums of a group are exact integers; scales are applied to them, not to each code. No weight is unpacked in memory.
//          Weights may lie column by column, as here, or row by row (%w : 4096x11008), with scales for each column of a group of rows; in bytes or
//          words of eight codes, which are neighbours in a column or, row by row, in a row, in any order.
//          Those in a row are packed anew, as neighbours in a column, by the preparation (xla-prepare-constants) where they are constant arguments.
//          A zero point of the rows of %x is subtracted by one more row, of ones.
//          Where a table says which scales each row of weights has (GPTQ's g_idx), in any order, rows of words and elements of %x are brought together
//          by groups: weights once, by the preparation for constant arguments (xla-prepare-constants).
// Leaves alone: factors one of which is computed from floats, so activations that the program has not rounded to 8 bits itself; weights whose dimensions
//          that are added up are neither the first nor the last ones; integers of bytes (other contractions have instructions for them);
//          rows that are no whole number of the smallest vectors; few rows of %x and columns where a table of groups or its weights are not constant
//          arguments.
//===----------------------------------------------------------------------===//
#include "dialects/millrace/Arguments.h"
#include "dialects/millrace/Attributes.h"
#include "passes/fusion/codes/CodedOperand.h"
#include "passes/fusion/codes/RaggedGroups.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"
#include "passes/fusion/VectorShapes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_FUSECODEDPRODUCTSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// Smaller matrices are left to the other contractions. Unit: weights. Source: judgement, not measured: as in xla-reduce-computed-operands.
constexpr int64_t kMinWeights = 16 << 10;
/// Longer sums are not exact in 32 bits. Unit: products per sum. Source: arithmetic: 2^31 / (255 * 128).
constexpr int64_t kMaxProducts = 65536;
/// Words of weights that change are brought together by groups in each call where that takes less time than products of floats: the sort of k rows by
/// groups has log2(k) comparisons for each of them, which is in as many products as x has rows and the result columns. Unit: products per comparison.
/// Source: xla-run --repeat of GPTQ's words with g_idx, one thread of an AMD EPYC (Zen 4): 4.3 ns per comparison; 85 products per comparison (4096 x 256,
/// 4 rows of x) 0.27 ms sorted and 0.22 not, with AVX2 0.32 and 0.22; 102 (1024 x 1024, one row) 0.09 and 0.12, 0.11 and 0.12; 341 (4096 x 256, 16 rows)
/// 0.37 and 0.53, 0.50 and 0.70; 341 (4096 x 4096, one row) 2.26 and 2.75, 2.76 and 4.84; 5461 (16 rows) 3.7 and 18.7, 7.8 and 27.5.
constexpr int64_t kProductsPerComparison = 128;
/// Fact: bytes of a sum, which is a lane.
constexpr int64_t kLaneBytes = 4;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A product whose operands are both computed from codes.
struct CodedProduct {
  Operation *root = nullptr; ///< whose result it is: of the contraction, or of the sum over groups
  Value left, right;         ///< what the contraction reads
  CodedOperand x, weights;
  bool isSwapped = false; ///< the weights are the left operand
  int64_t rows = 1, columns = 1, k = 1;
  int64_t group = 1;      ///< neighbouring k that share a scale and a zero
  bool isByRows = false;        ///< the codes of all columns for one k are neighbours
  bool isScaleByGroups = false; ///< scales of the weights are in the order [group, column]
  /// Returns true if the codes of a byte or word belong to neighbouring columns.
  bool isAcross() const { return weights.isPacked && isByRows && weights.run == 1; }
  /// Returns true if groups have any rows, which a table says.
  bool isRagged() const { return bool(weights.rowOf); }
  /// Returns how many codes of one column a byte has.
  int64_t codesInByte() const { return weights.isPacked && !isAcross() ? 2 : 1; }

  /// Matches a contraction of floats, or of integers without scales.
  bool match(DotGeneralOp dot);
  /// Matches a sum over groups of scales times an integer contraction for each group.
  bool match(ReduceOp sum);
  /// Returns true if bytes are multiplied as they are, and scaled afterwards: other contractions do it as well.
  bool isOfBytes() const { return !weights.isSmall() && weights.isSigned && group == k && !weights.zeros && !weights.zero && !x.zeros && !x.zero; }

  void packAlong();

private:
  bool takeFactor(BroadcastInDimOp factor, ArrayRef<int64_t> dimOf, int64_t firstOfRight, int64_t rank);
  bool isReadable() const;
  bool canSortRows() const;
  bool shouldSortRows() const;
};

/// Returns true if `dims` are `first` and those that follow.
bool beginAt(ArrayRef<int64_t> dims, int64_t first) {
  for (auto [place, dim] : llvm::enumerate(dims))
    if (dim != first + int64_t(place))
      return false;
  return true;
}

/// Returns true if `dims` are the last dimensions of the operand, in order.
bool areLast(ArrayRef<int64_t> dims, Value operand) { return beginAt(dims, typeOf(operand).getRank() - int64_t(dims.size())); }

/// Returns true for what x may be: signed bytes with scales and zeros of whole rows.
bool isOfRows(const CodedOperand &operand, int64_t k) {
  auto isOfRows = [&](const std::optional<Repeated> &repeated) { return !repeated || (repeated->repeats % k == 0 && repeated->inner == 1); };
  return !operand.isSmall() && typeOf(operand.codes).getElementType().isSignlessInteger(8) && operand.isSigned && isOfRows(operand.scale) && isOfRows(operand.zeros);
}

/// Returns true if nothing but constant arguments of the program decides `value`.
bool isOfConstants(Value value, llvm::SmallPtrSetImpl<Operation *> &visited) {
  if (isa<BlockArgument>(value))
    return isConstantArgument(value);
  Operation *op = value.getDefiningOp();
  if (!visited.insert(op).second)
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isOfConstants(operand, visited); });
}

/// Returns true if rows of words can be brought together by groups.
bool CodedProduct::canSortRows() const {
  auto isTable = [&](const std::optional<Repeated> &numbers) { return numbers && numbers->repeats == 1 && typeOf(numbers->source).getDimSize(1) == columns; };
  return isByRows && weights.hasWords && weights.run == columns && k % kRowsOfPlace == 0 && columns % kShortestVectorBytes == 0 && columns * k >= kMinWeights &&
         k <= kMaxProducts && isTable(weights.scale) && (!weights.zeros || isTable(weights.zeros)) && typeOf(weights.rowOf).getNumElements() == k &&
         typeOf(weights.rowOf).getElementType().isSignlessInteger() && typeOf(weights.rowOf).getElementTypeBitWidth() >= 32 &&
         typeOf(weights.scale->source).getDimSize(0) * kRowsOfPlace <= k &&
         (!weights.zeros || typeOf(weights.zeros->source).getDimSize(0) == typeOf(weights.scale->source).getDimSize(0));
}

/// Returns true if that is worth it: rows of words are moved once, or many products read each of them.
bool CodedProduct::shouldSortRows() const {
  llvm::SmallPtrSet<Operation *, 16> visited;
  return rows * columns >= kProductsPerComparison * int64_t(llvm::Log2_64_Ceil(uint64_t(k))) || (isOfConstants(weights.codes, visited) && isOfConstants(weights.rowOf, visited));
}

/// Packs codes of neighbouring columns anew, as words of neighbours in a column, where a preparation does it once: few rows read those faster.
void CodedProduct::packAlong() {
  llvm::SmallPtrSet<Operation *, 16> visited;
  if (!isAcross() || k % kRowsOfPlace != 0 || group % kRowsOfPlace != 0 || !isOfConstants(weights.codes, visited))
    return;
  OpBuilder b(root);
  Location loc = root->getLoc();
  const int64_t count = weights.codesOfElement(), words = k / kRowsOfPlace, elements = columns / count;
  RankedTensorType each = RankedTensorType::get({words, elements, count}, b.getI32Type());
  auto splat = [&](int64_t number) -> Value { return ConstantOp::create(b, loc, DenseElementsAttr::get(each, b.getI32IntegerAttr(number))); };
  RankedTensorType stored = typeOf(weights.codes);
  Value all = ReshapeOp::create(b, loc, stored.clone({words, kRowsOfPlace, elements}), weights.codes);
  SmallVector<int32_t> amounts;
  for (int64_t place : weights.places())
    amounts.push_back(4 * place);
  Value by = ConstantOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({count}, b.getI32Type()), ArrayRef<int32_t>(amounts)));
  by = BroadcastInDimOp::create(b, loc, each, by, b.getDenseI64ArrayAttr({2}));
  Value packed;
  for (int64_t row = 0; row < kRowsOfPlace; ++row) {
    Value some = SliceOp::create(b, loc, stored.clone({words, 1, elements}), all, b.getDenseI64ArrayAttr({0, row, 0}), b.getDenseI64ArrayAttr({words, row + 1, elements}),
                                 b.getDenseI64ArrayAttr({1, 1, 1}));
    some = ReshapeOp::create(b, loc, stored.clone({words, elements}), some);
    // The low bits of an element are the same in a wider one, and all bits in one of this width, where a conversion might not have the number.
    RankedTensorType wide = RankedTensorType::get({words, elements}, b.getI32Type());
    if (stored.getElementTypeBitWidth() == 32 && stored.getElementType() != b.getI32Type())
      some = BitcastConvertOp::create(b, loc, wide, some);
    else if (stored.getElementTypeBitWidth() != 32)
      some = ConvertOp::create(b, loc, wide, some);
    some = BroadcastInDimOp::create(b, loc, each, some, b.getDenseI64ArrayAttr({0, 1}));
    some = AndOp::create(b, loc, ShiftRightLogicalOp::create(b, loc, some, by), splat(15));
    if (row > 0)
      some = ShiftLeftOp::create(b, loc, some, splat(4 * row));
    packed = packed ? Value(OrOp::create(b, loc, packed, some)) : some;
  }
  weights.codes = ReshapeOp::create(b, loc, RankedTensorType::get({words, columns}, b.getI32Type()), packed);
  weights.hasWords = true;
  weights.run = columns;
  weights.order.clear();
}

/// Returns true if the kernel can read the bytes of weights, and rows and groups of them are whole vectors.
bool CodedProduct::isReadable() const {
  // The halves of bytes are whole rows, or neighbours in a column or a row; so are the codes of words.
  const int64_t apart = isByRows ? columns : 1;
  if (isAcross()) {
    // A vector of bytes has twice as many columns.
    if (columns % (2 * kShortestVectorBytes) != 0)
      return false;
  } else if (weights.isPacked) {
    if ((weights.hasWords || !weights.order.empty()) && weights.run != apart)
      return false;
    if (weights.run % apart != 0 || group % (2 * (weights.run / apart)) != 0)
      return false;
  }
  // Numbers of groups are in the order of the codes.
  auto isInOrder = [&](const std::optional<Repeated> &repeated) { return !repeated || repeated->elements() == 1 || repeated->inner == apart || columns == 1; };
  if (k > kMaxProducts || columns * k < kMinWeights || !isInOrder(weights.scale) || !isInOrder(weights.zeros))
    return false;
  if (isOfBytes())
    return !weights.scale || weights.scale->elements() == 1 || weights.scale->elements() == columns;
  if (isByRows)
    return columns % kShortestVectorBytes == 0 && group / codesInByte() % kLaneBytes == 0;
  int64_t bytesOfGroup = group / codesInByte(), bytesOfRow = k / codesInByte();
  return bytesOfRow % kShortestVectorBytes == 0 && bytesOfGroup % kLaneBytes == 0 &&
         (bytesOfGroup % kShortestVectorBytes == 0 || kShortestVectorBytes % bytesOfGroup == 0);
}

bool CodedProduct::match(DotGeneralOp dot) {
  root = dot;
  left = dot.getLhs();
  right = dot.getRhs();
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  RankedTensorType result = typeOf(dot), lhs = typeOf(dot.getLhs()), rhs = typeOf(dot.getRhs());
  if (!result.hasStaticShape() || !lhs.hasStaticShape() || !rhs.hasStaticShape() || result.getNumElements() == 0 || dot.getAlgorithm() ||
      !numbers.getLhsBatchingDimensions().empty() || numbers.getLhsContractingDimensions().empty())
    return false;
  const bool isLeftLast = areLast(numbers.getLhsContractingDimensions(), left), isRightLast = areLast(numbers.getRhsContractingDimensions(), right);
  const bool isLeftFirst = beginAt(numbers.getLhsContractingDimensions(), 0), isRightFirst = beginAt(numbers.getRhsContractingDimensions(), 0);
  Type element = result.getElementType();
  if (!element.isF32() && !element.isSignlessInteger(32))
    return false;
  for (int64_t dim : numbers.getLhsContractingDimensions())
    k *= lhs.getDimSize(dim);
  if (k < kShortestVectorBytes || std::max(lhs.getNumElements(), rhs.getNumElements()) < kMinWeights)
    return false;
  std::optional<CodedOperand> ofLeft = CodedOperand::of(left), ofRight = CodedOperand::of(right);
  if (!ofLeft || !ofRight)
    return false;
  // Integers of bytes have contractions of their own. Where both operands are rows of bytes, the larger one is the weights.
  const bool isLeftRows = isLeftLast && (isRightLast || isRightFirst) && isOfRows(*ofLeft, k);
  const bool isRightRows = isRightLast && (isLeftLast || isLeftFirst) && isOfRows(*ofRight, k);
  if ((!isLeftRows && !isRightRows) || (isLeftRows && isRightRows && !element.isF32()))
    return false;
  isSwapped = !isLeftRows || (isRightRows && lhs.getNumElements() > rhs.getNumElements());
  if (isSwapped)
    std::swap(ofLeft, ofRight);
  x = *ofLeft;
  weights = *ofRight;
  isByRows = !(isSwapped ? isLeftLast : isRightLast);
  rows = (isSwapped ? rhs : lhs).getNumElements() / k;
  columns = (isSwapped ? lhs : rhs).getNumElements() / k;
  if (weights.scale && !isa<Float32Type, BFloat16Type, Float16Type>(weights.scale->type()))
    return false;
  if (isRagged()) {
    isScaleByGroups = true;
    return element.isF32() && canSortRows() && shouldSortRows();
  }
  // The scale of all weights is a factor of the result.
  auto groupOf = [&](const std::optional<Repeated> &repeated) { return repeated ? std::min(repeated->repeats, k) : k; };
  group = weights.scale ? groupOf(weights.scale) : groupOf(weights.zeros);
  if (k % group != 0 || (weights.zeros && groupOf(weights.zeros) != group) || (group == k && weights.zeros && weights.zeros->repeats > k))
    return false;
  if (element.isSignlessInteger(32) && (weights.scale || weights.zeros || x.scale || x.zeros || x.zero))
    return false;
  if (weights.scale && weights.scale->repeats > k && weights.scale->elements() != 1)
    return false;
  isScaleByGroups = isByRows;
  return isReadable();
}

/// Returns true for the sum of one value over one dimension, and nothing else.
bool isPlainSum(ReduceOp sum) {
  if (sum.getInputs().size() != 1 || sum.getDimensions().size() != 1)
    return false;
  auto zero = sum.getInitValues()[0].getDefiningOp<ConstantOp>();
  auto splat = zero ? dyn_cast<SplatElementsAttr>(zero.getValue()) : SplatElementsAttr();
  if (!splat || !isa<FloatType>(splat.getElementType()) || !splat.getSplatValue<APFloat>().isZero())
    return false;
  Block &body = sum.getBody().front();
  auto add = dyn_cast<AddOp>(body.front());
  return add && body.getOperations().size() == 2 && body.back().getOperand(0) == add.getResult() && add.getLhs() != add.getRhs() &&
         isa<BlockArgument>(add.getLhs()) && isa<BlockArgument>(add.getRhs());
}

/// Takes a scale of groups and columns, or one of rows: `dimOf` has the dimension of the contraction's result for each dimension of the factor.
bool CodedProduct::takeFactor(BroadcastInDimOp factor, ArrayRef<int64_t> dimOf, int64_t firstOfRight, int64_t rank) {
  Value source = factor.getOperand();
  SmallVector<int64_t> dims;
  for (auto [place, dim] : llvm::enumerate(factor.getBroadcastDimensions())) {
    int64_t size = typeOf(source).getDimSize(place);
    if (size != typeOf(factor).getDimSize(dim))
      return false;
    if (size > 1)
      dims.push_back(dimOf[dim]);
  }
  RankedTensorType whole = typeOf(factor);
  auto seq = [&](int64_t begin, int64_t end) {
    SmallVector<int64_t> all;
    for (int64_t dim = begin; dim < end; ++dim)
      if (whole.getDimSize(std::distance(dimOf.begin(), llvm::find(dimOf, dim))) > 1)
        all.push_back(dim);
    return all;
  };
  SmallVector<int64_t> ofRows = isSwapped ? seq(firstOfRight, rank) : seq(1, firstOfRight), ofColumns = isSwapped ? seq(1, firstOfRight) : seq(firstOfRight, rank);
  if (dims == ofRows && !x.scale) {
    x.scale = Repeated{source, k, 1, {}};
    return true;
  }
  SmallVector<int64_t> columnsFirst = ofColumns, groupsFirst = seq(0, 1);
  columnsFirst.append(groupsFirst);
  groupsFirst.append(ofColumns);
  if (weights.scale || (dims != columnsFirst && dims != groupsFirst))
    return false;
  isScaleByGroups = dims != columnsFirst;
  weights.scale = Repeated{source, group, isByRows ? columns : 1, {}};
  return true;
}

bool CodedProduct::match(ReduceOp sum) {
  if (!isPlainSum(sum) || !typeOf(sum.getResult(0)).getElementType().isF32())
    return false;
  // Factors, and the contraction behind conversions and transpositions.
  SmallVector<BroadcastInDimOp> factors;
  DotGeneralOp dot;
  SmallVector<int64_t> dimOf = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(sum.getInputs()[0]).getRank()));
  SmallVector<Value> open{sum.getInputs()[0]};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasOneUse())
      return false;
    if (isa<MulOp>(op)) {
      open.append(op->operand_begin(), op->operand_end());
    } else if (auto factor = dyn_cast<BroadcastInDimOp>(op)) {
      factors.push_back(factor);
    } else if (dot) {
      return false;
    } else {
      for (; isa<ConvertOp, TransposeOp>(op); op = op->getOperand(0).getDefiningOp()) {
        if (auto transpose = dyn_cast<TransposeOp>(op))
          for (int64_t &dim : dimOf)
            dim = transpose.getPermutation()[dim];
        if (!op->getOperand(0).getDefiningOp() || !op->getOperand(0).hasOneUse())
          return false;
      }
      dot = dyn_cast<DotGeneralOp>(op);
      if (!dot)
        return false;
    }
  }
  if (!dot || !typeOf(dot).hasStaticShape() || typeOf(dot).getNumElements() == 0 || !typeOf(dot).getElementType().isSignlessInteger(32))
    return false;
  root = sum;
  left = dot.getLhs();
  right = dot.getRhs();
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> ofLeft = numbers.getLhsContractingDimensions(), ofRight = numbers.getRhsContractingDimensions();
  const int64_t rank = typeOf(dot).getRank(), summed = ofLeft.size(), firstOfRight = typeOf(left).getRank() - summed;
  // Groups are the dimension before those that are added up, and the first of the result.
  const bool isRightLast = areLast(ofRight, right), isRightFirst = beginAt(ofRight, 1);
  if (!areLast(ofLeft, left) || numbers.getLhsBatchingDimensions() != ArrayRef<int64_t>{firstOfRight - 1} || numbers.getRhsBatchingDimensions().size() != 1 ||
      dimOf[sum.getDimensions()[0]] != 0)
    return false;
  const int64_t batch = numbers.getRhsBatchingDimensions()[0];
  if (!(isRightLast && batch == typeOf(right).getRank() - summed - 1) && !(isRightFirst && batch == 0))
    return false;
  isByRows = !isRightLast;
  SmallVector<int64_t> keptDims = dimOf;
  llvm::erase(keptDims, 0);
  if (!llvm::is_sorted(keptDims))
    return false;
  const int64_t groups = typeOf(dot).getDimSize(0);
  group = 1;
  for (int64_t dim : ofLeft)
    group *= typeOf(left).getDimSize(dim);
  k = groups * group;
  std::optional<CodedOperand> codesOfLeft = CodedOperand::of(left), codesOfRight = CodedOperand::of(right);
  if (!codesOfLeft || !codesOfRight)
    return false;
  auto isPlain = [&](const CodedOperand &operand) { return isOfRows(operand, k) && !operand.zeros && !operand.zero; };
  // Where both may be the rows, the right operand is the weights.
  isSwapped = !isPlain(*codesOfLeft);
  x = isSwapped ? *codesOfRight : *codesOfLeft;
  weights = isSwapped ? *codesOfLeft : *codesOfRight;
  if (!isPlain(x) || weights.rowOf || (isSwapped && isByRows) || (weights.zeros && weights.zeros->repeats != group))
    return false;
  rows = typeOf(isSwapped ? right : left).getNumElements() / k;
  columns = typeOf(isSwapped ? left : right).getNumElements() / k;
  for (BroadcastInDimOp factor : factors)
    if (!takeFactor(factor, dimOf, firstOfRight, rank))
      return false;
  return weights.scale && isa<Float32Type>(weights.scale->type()) && isReadable();
}

/// Writes the kernel, and what is left of the program around it.
class Rewriter {
public:
  Rewriter(const CodedProduct &product, SymbolTable &symbols) : product(product), symbols(symbols), b(product.root), loc(product.root->getLoc()) {}
  void rewrite();

private:
  void finish(Value sums);
  bool hasZeroOfRows() const { return product.x.zeros || product.x.zero; }
  bool scaleIsOfColumns() const { return product.weights.scale && product.weights.scale->repeats <= product.k; }
  bool isScaled() const { return scaleIsOfColumns() || product.weights.zeros; }
  Value arrangeRows(int64_t groups, int64_t bytesOfGroup);
  Value orderedRows(Value x);
  Value codesAcross(OpBuilder &at, Value stored);
  func::FuncOp makeKernel(ArrayRef<Value> operands);
  Value kernelBody(OpBuilder &inner, ValueRange arguments);
  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    return typeOf(value).getShape() == shape ? value : Value(ReshapeOp::create(b, loc, typeOf(value).clone(shape), value));
  }
  Value splat(OpBuilder &at, RankedTensorType type, int64_t number) {
    Attribute value = isa<FloatType>(type.getElementType()) ? Attribute(at.getFloatAttr(type.getElementType(), double(number)))
                                                            : at.getIntegerAttr(type.getElementType(), number);
    return ConstantOp::create(at, loc, DenseElementsAttr::get(type, value));
  }
  Value converted(OpBuilder &at, Value value, Type element) {
    return typeOf(value).getElementType() == element ? value : Value(ConvertOp::create(at, loc, typeOf(value).clone(element), value));
  }
  /// Returns the numbers of the rows in all columns of a tensor of `type`.
  Value ofRows(const Repeated &repeated, RankedTensorType type) {
    // Several rows may share a number.
    int64_t count = repeated.elements();
    Value numbers = converted(b, repeated.materialize(b, loc, {count}), type.getElementType());
    Value all = BroadcastInDimOp::create(b, loc, type.clone({count, type.getNumElements() / count}), numbers, b.getDenseI64ArrayAttr({0}));
    return reshaped(all, type.getShape());
  }

  const CodedProduct &product;
  SymbolTable &symbols;
  OpBuilder b;
  Location loc;
  std::optional<RaggedGroups> ragged;
};

/// Returns the elements of x in the order of the codes in bytes or words.
Value Rewriter::orderedRows(Value x) {
  ArrayRef<int64_t> order = product.weights.order;
  const int64_t rows = typeOf(x).getDimSize(0), count = order.size(), words = product.k / count;
  SmallVector<int32_t> inverse(count);
  for (auto [neighbour, place] : llvm::enumerate(order))
    inverse[place] = neighbour;
  Value places = ConstantOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({count, 1}, b.getI32Type()), ArrayRef<int32_t>(inverse)));
  auto numbers = GatherDimensionNumbersAttr::get(b.getContext(), {0, 1}, {2}, {}, {}, {2}, 1);
  RankedTensorType type = typeOf(x).clone({rows, words, count});
  return reshaped(GatherOp::create(b, loc, type, reshaped(x, type.getShape()), places, numbers, b.getDenseI64ArrayAttr({rows, words, 1}), b.getBoolAttr(false)), {rows, product.k});
}

/// Returns the elements of x as [half of a byte of weights, row, group, byte of the group].
Value Rewriter::arrangeRows(int64_t groups, int64_t bytesOfGroup) {
  const CodedOperand &weights = product.weights;
  int64_t rows = product.rows;
  Value bytes = reshaped(product.x.codes, {rows, product.k});
  if (hasZeroOfRows()) {
    Value ones = splat(b, typeOf(bytes).clone({1, product.k}), 1);
    bytes = ConcatenateOp::create(b, loc, typeOf(bytes).clone({++rows, product.k}), ValueRange{bytes, ones}, 0);
  }
  if (ragged)
    bytes = ragged->columnsOf(bytes);
  else if (!weights.order.empty() && !product.isAcross())
    bytes = orderedRows(bytes);
  if (weights.isPacked && !product.isAcross()) {
    int64_t run = product.isByRows ? weights.run / product.columns : weights.run, blocks = typeOf(bytes).getDimSize(1) / (2 * run);
    bytes = reshaped(bytes, {rows, blocks, 2, run});
    bytes = TransposeOp::create(b, loc, typeOf(bytes).clone({2, rows, blocks, run}), bytes, b.getDenseI64ArrayAttr({2, 0, 1, 3}));
  }
  return reshaped(bytes, {product.codesInByte(), rows, groups, bytesOfGroup});
}

/// Returns the codes of all columns, in their order, from bytes or words that have some of them each.
Value Rewriter::codesAcross(OpBuilder &at, Value stored) {
  const CodedOperand &weights = product.weights;
  const int64_t count = weights.codesOfElement();
  SmallVector<APInt> amounts;
  const unsigned bits = typeOf(stored).getElementTypeBitWidth();
  for (int64_t place : weights.places())
    amounts.emplace_back(bits, place * 4);
  SmallVector<int64_t> shape(typeOf(stored).getShape());
  shape.push_back(count);
  RankedTensorType each = typeOf(stored).clone(shape);
  Value by = ConstantOp::create(at, loc, DenseElementsAttr::get(typeOf(stored).clone({count}), amounts));
  by = BroadcastInDimOp::create(at, loc, each, by, at.getDenseI64ArrayAttr({3}));
  Value all = BroadcastInDimOp::create(at, loc, each, stored, at.getDenseI64ArrayAttr({0, 1, 2}));
  Type small = IntegerType::get(at.getContext(), 4, weights.isSigned ? IntegerType::Signless : IntegerType::Unsigned);
  Value codes = converted(at, ShiftRightLogicalOp::create(at, loc, all, by), small);
  return ReshapeOp::create(at, loc, RankedTensorType::get({shape[0], shape[1], product.columns}, small), codes);
}

/// Writes what the kernel computes, for code that has no better way to compute it.
Value Rewriter::kernelBody(OpBuilder &at, ValueRange arguments) {
  const CodedOperand &weights = product.weights;
  Value codes = arguments[0], x = arguments[1];
  Type i32 = at.getI32Type();
  int64_t groups = typeOf(x).getDimSize(2), bytes = typeOf(x).getDimSize(3), rows = typeOf(x).getDimSize(1);
  RankedTensorType type = typeOf(codes);
  unsigned next = 2;
  Value scales = isScaled() ? arguments[next++] : Value();
  Value zeros = weights.zeros ? converted(at, arguments[next++], i32) : Value();
  if (product.isRagged()) {
    // Each word is a group of its own.
    groups = type.getDimSize(1);
    bytes = kLaneBytes;
    type = type.clone({groups, 1, product.columns});
    codes = ReshapeOp::create(at, loc, type, codes);
    x = ReshapeOp::create(at, loc, typeOf(x).clone({2, rows, groups, bytes}), x);
    Value of = RaggedGroups::groupOfWords(at, loc, arguments[next], groups);
    scales = RaggedGroups::rowsOf(at, loc, scales, of);
    zeros = zeros ? RaggedGroups::rowsOf(at, loc, zeros, of) : Value();
  }
  SmallVector<Value> parts;
  if (weights.hasWords && !product.isAcross()) {
    // A byte of a word has two neighbouring codes.
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(4);
    codes = BitcastConvertOp::create(at, loc, RankedTensorType::get(shape, at.getI8Type()), codes);
    if (product.isByRows) {
      std::swap(shape[2], shape[3]);
      codes = TransposeOp::create(at, loc, typeOf(codes).clone(shape), codes, at.getDenseI64ArrayAttr({0, 1, 3, 2}));
    }
    type = RankedTensorType::get({groups, bytes, product.columns}, at.getI8Type());
    if (!product.isByRows)
      type = RankedTensorType::get({product.columns, groups, bytes}, at.getI8Type());
    codes = ReshapeOp::create(at, loc, type, codes);
  }
  Type small = IntegerType::get(at.getContext(), 4, weights.isSigned ? IntegerType::Signless : IntegerType::Unsigned);
  if (product.isAcross()) {
    parts = {codesAcross(at, codes)};
    type = typeOf(parts.front());
  } else if (weights.isPacked) {
    Value high = ShiftRightLogicalOp::create(at, loc, codes, splat(at, type, 4));
    parts = {converted(at, codes, small), converted(at, high, small)};
  } else {
    parts = {weights.isNarrow ? converted(at, codes, small) : codes};
  }
  // Codes are [column, group, byte] or [group, byte, column], other numbers the same without bytes.
  auto numbers = product.isByRows ? DotDimensionNumbersAttr::get(at.getContext(), {1}, {0}, {2}, {1}) : DotDimensionNumbersAttr::get(at.getContext(), {1}, {1}, {2}, {2});
  auto ofCodes = product.isByRows ? at.getDenseI64ArrayAttr({0, 2}) : at.getDenseI64ArrayAttr({0, 1});
  auto ofSums = product.isByRows ? at.getDenseI64ArrayAttr({0, 2}) : at.getDenseI64ArrayAttr({2, 0});
  RankedTensorType ofGroups = RankedTensorType::get({groups, rows, product.columns}, i32), wide = type.clone(i32);
  Value sum;
  for (auto [place, part] : llvm::enumerate(parts)) {
    Value number = converted(at, part, i32);
    if (weights.zero)
      number = SubtractOp::create(at, loc, number, splat(at, wide, weights.zero));
    if (zeros)
      number = SubtractOp::create(at, loc, number, BroadcastInDimOp::create(at, loc, wide, zeros, ofCodes));
    int64_t from = place;
    Value elements = SliceOp::create(at, loc, typeOf(x).clone({1, rows, groups, bytes}), x, at.getDenseI64ArrayAttr({from, 0, 0, 0}),
                                     at.getDenseI64ArrayAttr({from + 1, rows, groups, bytes}), at.getDenseI64ArrayAttr({1, 1, 1, 1}));
    elements = ReshapeOp::create(at, loc, typeOf(x).clone({rows, groups, bytes}), elements);
    Value one = DotGeneralOp::create(at, loc, ofGroups, converted(at, elements, i32), number, numbers, ArrayAttr(), DotAlgorithmAttr());
    sum = sum ? Value(AddOp::create(at, loc, sum, one)) : one;
  }
  if (isScaled())
    sum = converted(at, sum, at.getF32Type());
  if (scales)
    sum = MulOp::create(at, loc, sum, BroadcastInDimOp::create(at, loc, typeOf(sum), converted(at, scales, at.getF32Type()), ofSums));
  RankedTensorType result = typeOf(sum).clone({rows, product.columns}), scalar = typeOf(sum).clone(ArrayRef<int64_t>{});
  auto reduce = ReduceOp::create(at, loc, TypeRange(result), ValueRange(sum), ValueRange(splat(at, scalar, 0)), at.getDenseI64ArrayAttr({0}));
  OpBuilder::InsertionGuard guard(at);
  Block *body = at.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
  ReturnOp::create(at, loc, ValueRange(Value(AddOp::create(at, loc, body->getArgument(0), body->getArgument(1)))));
  return reduce.getResult(0);
}

func::FuncOp Rewriter::makeKernel(ArrayRef<Value> operands) {
  RankedTensorType result = RankedTensorType::get({typeOf(operands[1]).getDimSize(1), product.columns}, isScaled() ? Type(b.getF32Type()) : b.getI32Type());
  auto kernel = func::FuncOp::create(loc, "coded_product", b.getFunctionType(TypeRange(ValueRange(operands)), result));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, b.getUnitAttr());
  const CodedOperand &weights = product.weights;
  auto named = [&](StringRef name, bool value) { return b.getNamedAttr(name, b.getBoolAttr(value)); };
  kernel->setAttr(kCodedProductAttr, b.getDictionaryAttr({named("by_rows", product.isByRows), named("packed", weights.isPacked), named("narrow", weights.isNarrow), named("signed", weights.isSigned),
                                                          named("scaled", isScaled()), named("zeros", weights.zeros.has_value()), named("ragged", product.isRagged()),
                                                          b.getNamedAttr("zero", b.getI64IntegerAttr(weights.zero)),
                                                          b.getNamedAttr("across", b.getDenseI64ArrayAttr(product.isAcross() ? weights.places() : SmallVector<int64_t>()))}));
  OpBuilder inner = OpBuilder::atBlockEnd(kernel.addEntryBlock());
  Value value = kernelBody(inner, kernel.getArguments());
  func::ReturnOp::create(inner, loc, value);
  symbols.insert(kernel); // makes the name unique
  return kernel;
}

void Rewriter::rewrite() {
  const CodedOperand &weights = product.weights, &x = product.x;
  int64_t groups = product.k / product.group;
  if (product.isOfBytes()) {
    auto numbers = DotDimensionNumbersAttr::get(b.getContext(), {}, {}, {1}, {product.isByRows ? 0 : 1});
    SmallVector<int64_t> ofWeights = product.isByRows ? SmallVector<int64_t>{product.k, product.columns} : SmallVector<int64_t>{product.columns, product.k};
    Value sums = DotGeneralOp::create(b, loc, RankedTensorType::get({product.rows, product.columns}, b.getI32Type()), reshaped(x.codes, {product.rows, product.k}),
                                      reshaped(weights.codes, ofWeights), numbers, ArrayAttr(), DotAlgorithmAttr());
    return finish(sums);
  }
  int64_t bytesOfGroup = product.group / product.codesInByte();
  SmallVector<int64_t> ofGroups{product.columns, groups};
  if (product.isByRows)
    ofGroups = {groups, product.columns};
  Value stored = weights.codes;
  if (product.isRagged()) {
    ofGroups[0] = typeOf(weights.scale->source).getDimSize(0);
    ragged.emplace(b, loc, weights.rowOf, ofGroups[0]);
    stored = ragged->wordsOf(reshaped(stored, {product.k / kRowsOfPlace, product.columns}), weights.order);
    groups = 1;
    bytesOfGroup = ragged->places() / product.codesInByte();
  }
  const int64_t storedOfGroup = weights.hasWords && !product.isAcross() ? bytesOfGroup / kLaneBytes : bytesOfGroup;
  SmallVector<int64_t> ofCodes{product.columns, groups, storedOfGroup};
  if (product.isByRows)
    ofCodes = {groups, storedOfGroup, product.isAcross() ? product.columns / weights.codesOfElement() : product.columns};
  SmallVector<Value> operands{reshaped(stored, ofCodes), arrangeRows(groups, bytesOfGroup)};
  if (scaleIsOfColumns()) {
    Repeated scale = *weights.scale;
    // The kernel widens small floats itself.
    if (scale.conversions.size() == 1 && isa<BFloat16Type, Float16Type>(getElementTypeOrSelf(scale.source.getType())))
      scale.conversions.clear();
    if (product.isScaleByGroups != product.isByRows) {
      SmallVector<int64_t> other = llvm::to_vector(llvm::reverse(ofGroups));
      Value numbers = scale.materialize(b, loc, other);
      operands.push_back(TransposeOp::create(b, loc, typeOf(numbers).clone(ofGroups), numbers, b.getDenseI64ArrayAttr({1, 0})));
    } else {
      Value numbers = scale.materialize(b, loc, ofGroups);
      operands.push_back(ragged ? ragged->scalesOf(numbers) : numbers);
    }
  } else if (isScaled()) {
    operands.push_back(splat(b, RankedTensorType::get(ofGroups, b.getF32Type()), 1));
  }
  if (weights.zeros)
    operands.push_back(weights.zeros->materialize(b, loc, ofGroups));
  if (ragged)
    operands.push_back(ragged->starts());
  func::FuncOp kernel = makeKernel(operands);
  finish(func::CallOp::create(b, loc, kernel, operands).getResult(0));
}

/// Scales sums, subtracts what zeros of rows have added, and replaces the product.
void Rewriter::finish(Value sums) {
  const CodedOperand &weights = product.weights, &x = product.x;
  RankedTensorType result = typeOf(product.root->getResult(0));
  Type element = result.getElementType();
  sums = converted(b, sums, element);
  auto rowsOf = [&](int64_t begin, int64_t end) -> Value {
    return SliceOp::create(b, loc, typeOf(sums).clone({end - begin, product.columns}), sums, b.getDenseI64ArrayAttr({begin, 0}),
                           b.getDenseI64ArrayAttr({end, product.columns}), b.getDenseI64ArrayAttr({1, 1}));
  };
  Value whole = sums;
  auto type = RankedTensorType::get({product.rows, product.columns}, element);
  if (hasZeroOfRows()) {
    whole = rowsOf(0, product.rows);
    Value ofOnes = BroadcastInDimOp::create(b, loc, type, reshaped(rowsOf(product.rows, product.rows + 1), {product.columns}), b.getDenseI64ArrayAttr({1}));
    Value zeros = x.zeros ? ofRows(*x.zeros, type) : splat(b, type, x.zero);
    whole = SubtractOp::create(b, loc, whole, MulOp::create(b, loc, ofOnes, zeros));
  }
  if (x.scale)
    whole = MulOp::create(b, loc, whole, ofRows(*x.scale, type));
  if (weights.scale && !scaleIsOfColumns()) {
    whole = MulOp::create(b, loc, whole, ofRows(*weights.scale, type));
  } else if (weights.scale && product.isOfBytes()) {
    Value scales = converted(b, weights.scale->materialize(b, loc, {product.columns}), element);
    whole = MulOp::create(b, loc, whole, BroadcastInDimOp::create(b, loc, type, scales, b.getDenseI64ArrayAttr({1})));
  }
  if (product.isSwapped)
    whole = TransposeOp::create(b, loc, type.clone({product.columns, product.rows}), whole, b.getDenseI64ArrayAttr({1, 0}));
  // What nobody reads any more is erased at the end.
  product.root->getResult(0).replaceAllUsesWith(reshaped(whole, result.getShape()));
  product.root->erase();
}

struct FuseCodedProducts : impl::FuseCodedProductsPassBase<FuseCodedProducts> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    forEachProgramBlock(getOperation(), [&](Block &block) {
      // What is written and erased is before the operation that is looked at.
      for (Operation &op : llvm::make_early_inc_range(block)) {
        CodedProduct product;
        auto dot = dyn_cast<DotGeneralOp>(op);
        auto sum = dyn_cast<ReduceOp>(op);
        if ((dot && product.match(dot)) || (sum && product.match(sum))) {
          product.packAlong();
          Rewriter(product, symbols).rewrite();
        }
      }
    });
  }
};

} // namespace
} // namespace millrace::fusion
