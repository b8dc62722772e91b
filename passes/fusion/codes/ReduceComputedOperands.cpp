// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReduceComputedOperands.cpp - Products with matrices that are computed -===//
// Input:   %c = convert %codes : 4096x128x32xi8 -> f32 ; %m = multiply %c, broadcast(%scales : 4096x128) ; %w = reshape %m : 4096x4096
//          %0 = dot_general %x, %w over their last dimensions : 1x4096
// Output:  %0 = reduce add (multiply %m, broadcast(reshape(%x) : 128x32)) over [1, 2]: one kernel, which reads codes and scales. No %m in memory.
//          Several vectors have one reduction with as many sums. Where words hold several codes (nibbles of bytes, eight codes in 32 bits), the codes
//          at one place of all words are multiplied with their own terms, or added to their own columns: nothing is unpacked in memory (MatrixParts.h).
//          So weights are written that are kept in few bits: one scale (and zero point) for each group of terms, or a table of their values.
//          With more vectors, codes in words are written as shifts by constants, whatever the program does: one elementwise kernel unpacks them.
// Leaves alone more than a few vectors with other matrices, small matrices, factors with other readers, those that are
// read as they are (numbers that are only widened: the product itself does that), and what is computed of more bytes than the factor has.
//===----------------------------------------------------------------------===//
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/codes/MatrixParts.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/ProgramBlocks.h"

#include "dialects/millrace/Ops.h"
#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include <optional>

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
/// Sums that one kernel computes in registers: of each vector one for each place in a word, if these are columns. Unit: sums. Source: arithmetic: eight
/// sums, a word and what is made of it fill 16 registers.
constexpr int64_t kMaxSums = 8;
/// More operations on floats are no part of the kernel: it would take in only some of them (kMaxClusterOps). Unit: operations. Source: arithmetic: what is
/// read, scaled and stored takes some, too.
constexpr int64_t kMaxSumOps = 84;
/// Operations between what is read and the factor: a bound of the size of a kernel, as kMaxClusterOps is. Unit: operations. Source: judgement, not
/// measured alone; commit 928db3a has the figures of the whole change.
constexpr unsigned kMaxFactorOps = 12;

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
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
    std::optional<int64_t> size = bytesOf(value.getType());
    if (!size) {
      isReadable = false;
    } else if (op && op->hasOneUse() && hasNumbers(op) && (isElementwise(op) || isa<BroadcastInDimOp>(op))) {
      if (++ops > kMaxFactorOps)
        isReadable = false;
      for (Value operand : op->getOperands())
        if (isReadable)
          add(operand);
    } else if (!isSplat(value)) {
      bytes += *size;
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
  int64_t count = 1;     ///< terms of a sum
  unsigned terms = 0;    ///< how many of its dimensions are added up: the last ones, or the first
  bool areFirst = false;
  bool isLeft = false;   ///< the matrix is the first factor
  bool isMany = false;   ///< there are more vectors, or sums, than one reduction has
  std::optional<MatrixParts> parts; ///< if it is computed from words that hold several codes

  bool match();
  bool findTerms();
  bool canJoinBytes() const;
  /// Returns the shape in which the matrix is computed.
  ArrayRef<int64_t> shape() const { return parts ? parts->shape() : typeOf(matrix).getShape(); }
  /// Returns true if codes of a word belong to the same column.
  bool isPartSummed() const { return areFirst ? parts->dim() < int64_t(terms) : parts->dim() >= int64_t(shape().size() - terms); }
  /// Returns true if scales and zero points may be applied to sums of codes: small floats would have been rounded before.
  bool canShare() const { return isPartSummed() && getElementTypeOrSelf(matrix.getType()).getIntOrFloatBitWidth() >= 32; }
  /// Returns how many operations on floats the kernel has that adds up the codes of a word.
  int64_t opsOfSums() const { return (3 * rows + 1) * (parts->count() + 1); }
};

bool Computed::match() {
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  RankedTensorType result = typeOf(dot), lhs = typeOf(dot.getLhs()), rhs = typeOf(dot.getRhs());
  Type element = lhs.getElementType();
  if (!hasVectorizableTypes(dot) || dot.getAlgorithm() || !numbers.getLhsBatchingDimensions().empty() || !isa<FloatType>(element) ||
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
  count = product(areFirst ? type.getShape().take_front(summed.size()) : type.getShape().take_back(summed.size()));
  rows = ofVectors.getNumElements() / std::max<int64_t>(1, count);
  if (rows < 1 || count < 2)
    return false;
  isMany = rows > kMaxVectors;
  matrix = factor;
  parts = MatrixParts::of(factor);
  if (auto reshape = factor.getDefiningOp<ReshapeOp>(); reshape && reshape->hasOneUse() && !parts)
    matrix = reshape.getOperand();
  Operation *op = matrix.getDefiningOp();
  if (!op || !op->hasOneUse() || (!parts && (!isElementwise(op) || !hasNumbers(op) || (matrix == factor && isa<ConvertOp>(op)))))
    return false;
  if (!findTerms())
    return false;
  if (parts)
    isMany |= isPartSummed() ? terms == 1 || opsOfSums() > kMaxSumOps : rows * parts->count() > kMaxSums;
  if (parts || isMany)
    return parts.has_value();
  Sources sources;
  sources.add(matrix);
  return sources.isReadable && sources.bytes <= *bytesOf(type);
}

/// Finds the terms: whole dimensions of the shape in which the matrix is computed.
bool Computed::findTerms() {
  auto some = [&](size_t dims) { return areFirst ? shape().take_front(dims) : shape().take_back(dims); };
  for (terms = 0; terms < shape().size() && product(some(terms)) < count;)
    ++terms;
  return product(some(terms)) == count && terms > 0 && terms < shape().size();
}

/// Returns true if bytes whose codes are added up are the operand of a kernel that is not too large.
bool Computed::canJoinBytes() const {
  Computed wide = *this;
  return wide.parts->joinBytes() && wide.findTerms() && wide.isPartSummed() && int64_t(wide.terms) > wide.parts->dims() && wide.opsOfSums() <= kMaxSumOps;
}

/// Writes the product as one reduction, with a sum for each vector: the matrix is computed once for all of them.
class Rewriter {
public:
  explicit Rewriter(Computed &computed) : computed(computed), dot(computed.dot), b(computed.dot), loc(computed.dot.getLoc()) {}
  void rewrite();
  void unpack();

private:
  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    return typeOf(value).getShape() == shape ? value : Value(ReshapeOp::create(b, loc, typeOf(value).clone(shape), value));
  }
  Value converted(Value value, Type type) {
    return typeOf(value).getElementType() == type ? value : Value(ConvertOp::create(b, loc, typeOf(value).clone(type), value));
  }
  RankedTensorType inSumType(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, sumType); }
  void arrangeVectors();
  Value termsOf(int64_t row, size_t part);
  SmallVector<Value> sumsOf(ArrayRef<Value> values, ArrayRef<int64_t> dims, ArrayRef<int64_t> kept);
  Value columnsOf(ArrayRef<Value> sums);

  Computed &computed;
  DotGeneralOp dot;
  OpBuilder b;
  Location loc;
  MatrixParts::Parts parts; ///< the matrix, or what it has at each place of the words
  Type sumType;
  Value vectors; ///< [vector, terms], or [place in the word, vector, terms] if places are terms; the last place has the sums of all others
  SmallVector<int64_t> shape, termSizes, outerSizes, summed; ///< of a part
  bool isPartTerm = false, isPartColumn = false;
};

/// Brings the terms of each part next to each other, and adds up those that are multiplied with codes of the same word.
void Rewriter::arrangeVectors() {
  const int64_t count = product(termSizes);
  vectors = converted(computed.vectors, sumType);
  if (!isPartTerm) {
    vectors = reshaped(vectors, {computed.rows, count});
    return;
  }
  const int64_t place = computed.parts->dim() - (computed.areFirst ? 0 : int64_t(computed.shape().size()) - int64_t(computed.terms));
  const int64_t before = product(ArrayRef(termSizes).take_front(place)), behind = count / before, number = parts.values.size();
  vectors = reshaped(vectors, {computed.rows, before, number, behind});
  vectors = TransposeOp::create(b, loc, inSumType({number, computed.rows, before, behind}), vectors, b.getDenseI64ArrayAttr({2, 0, 1, 3}));
  vectors = reshaped(vectors, {number, computed.rows, count});
  if (!parts.subtrahend)
    return;
  auto ofSums = inSumType({1, computed.rows, count});
  Value sums = reshaped(sumsOf(vectors, ArrayRef<int64_t>{int64_t(0)}, {computed.rows, count})[0], ofSums.getShape());
  vectors = ConcatenateOp::create(b, loc, inSumType({number + 1, computed.rows, count}), ValueRange{vectors, sums}, 0);
}

/// Returns the terms with which a part is multiplied for a vector, as often as there are columns.
Value Rewriter::termsOf(int64_t row, size_t part) {
  ArrayRef<int64_t> from = typeOf(vectors).getShape();
  Value terms = vectors;
  if (isPartTerm)
    terms = reshaped(boxOf(b, loc, terms, Box::along(from, 0, int64_t(part), int64_t(part) + 1)), from.drop_front());
  terms = boxOf(b, loc, terms, Box::along(typeOf(terms).getShape(), 0, row, row + 1));
  return BroadcastInDimOp::create(b, loc, inSumType(shape), reshaped(terms, termSizes), b.getDenseI64ArrayAttr(summed));
}

/// Returns the sums of all values over `dims`, which leaves `kept`.
SmallVector<Value> Rewriter::sumsOf(ArrayRef<Value> values, ArrayRef<int64_t> dims, ArrayRef<int64_t> kept) {
  auto scalar = RankedTensorType::get({}, sumType);
  Value zero = ConstantOp::create(b, loc, DenseElementsAttr::get(scalar, ArrayRef<Attribute>{b.getZeroAttr(sumType)}));
  SmallVector<Type> results(values.size(), inSumType(kept));
  auto reduce = ReduceOp::create(b, loc, results, values, SmallVector<Value>(values.size(), zero), b.getDenseI64ArrayAttr(dims));
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types(2 * values.size(), scalar);
  Block *body = b.createBlock(&reduce.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  SmallVector<Value> sums;
  for (size_t i = 0; i < values.size(); ++i)
    sums.push_back(AddOp::create(b, loc, body->getArgument(i), body->getArgument(values.size() + i)));
  ReturnOp::create(b, loc, sums);
  return SmallVector<Value>(reduce.getResults());
}

/// Returns the sums of a vector, one for each column: those of a place in the word are neighbours of those of the next place.
Value Rewriter::columnsOf(ArrayRef<Value> sums) {
  if (!isPartColumn)
    return sums.front();
  const int64_t place = computed.parts->dim() - (computed.areFirst ? int64_t(computed.terms) : 0);
  SmallVector<int64_t> sizes(outerSizes);
  sizes.insert(sizes.begin() + place, 1);
  SmallVector<Value> pieces;
  for (Value sum : sums)
    pieces.push_back(reshaped(sum, sizes));
  sizes[place] = pieces.size();
  return ConcatenateOp::create(b, loc, inSumType(sizes), pieces, place);
}

/// Makes the product read the matrix as shifted words.
void Rewriter::unpack() {
  const unsigned place = computed.isLeft ? 0 : 1;
  Value factor = dot->getOperand(place), matrix = computed.parts->makeWhole(b);
  if (!matrix)
    return;
  dot->setOperand(place, reshaped(matrix, typeOf(factor).getShape()));
  eraseUnused(factor);
}

void Rewriter::rewrite() {
  RankedTensorType result = typeOf(dot);
  sumType = typeOfSum(typeOf(computed.matrix).getElementType());
  shape.assign(computed.shape());
  parts = {{computed.matrix}, {}, {}};
  if (computed.parts) {
    isPartTerm = computed.isPartSummed();
    isPartColumn = !isPartTerm;
    if (computed.canShare() && computed.canJoinBytes()) {
      Computed wide = computed;
      wide.parts->joinBytes();
      wide.findTerms();
      parts = wide.parts->make(b, /*isShared=*/true);
      if (!parts.values.empty())
        computed = wide;
    }
    if (parts.values.empty() || parts.values.front() == computed.matrix)
      parts = computed.parts->make(b, computed.canShare());
    if (parts.values.empty())
      return;
    shape = computed.parts->partShape();
  }
  const unsigned terms = computed.terms - (isPartTerm ? computed.parts->dims() : 0), outer = shape.size() - terms;
  const int64_t first = computed.areFirst ? 0 : outer;
  termSizes.assign(ArrayRef(shape).slice(first, terms));
  outerSizes.assign(ArrayRef(shape).slice(computed.areFirst ? terms : 0, outer));
  summed = llvm::to_vector(llvm::seq<int64_t>(first, first + terms));
  for (Value &part : parts.values)
    part = converted(part, sumType);
  arrangeVectors();
  SmallVector<Value> products;
  for (int64_t row = 0; row < computed.rows; ++row) {
    Value sum;
    for (auto [place, matrix] : llvm::enumerate(parts.values)) {
      Value terms = termsOf(row, place);
      Value product = MulOp::create(b, loc, computed.isLeft ? matrix : terms, computed.isLeft ? terms : matrix);
      sum = sum && isPartTerm ? AddOp::create(b, loc, sum, product).getResult() : product;
      if (isPartColumn || place + 1 == parts.values.size())
        products.push_back(sum);
    }
    // What all codes of a word share is applied to their sum.
    if (parts.subtrahend)
      products.back() = SubtractOp::create(b, loc, sum, MulOp::create(b, loc, termsOf(row, parts.values.size()), converted(parts.subtrahend, sumType)));
    for (Value factor : parts.factors)
      products.back() = MulOp::create(b, loc, products.back(), converted(factor, sumType));
  }
  SmallVector<Value> sums = sumsOf(products, summed, outerSizes);
  // The result begins with the dimensions of the first factor.
  const int64_t perRow = sums.size() / computed.rows, columns = product(outerSizes) * perRow;
  SmallVector<int64_t> columnOrRow = computed.isLeft ? SmallVector<int64_t>{columns, 1} : SmallVector<int64_t>{1, columns};
  SmallVector<Value> rows;
  for (int64_t row = 0; row < computed.rows; ++row) {
    Value ofRow = columnsOf(ArrayRef(sums).slice(row * perRow, perRow));
    rows.push_back(computed.rows == 1 ? ofRow : reshaped(ofRow, columnOrRow));
  }
  Value whole = rows.front();
  if (rows.size() > 1)
    whole = ConcatenateOp::create(b, loc, inSumType(computed.isLeft ? SmallVector<int64_t>{columns, computed.rows} : SmallVector<int64_t>{computed.rows, columns}), rows,
                                  /*dimension=*/computed.isLeft ? 1 : 0);
  whole = converted(reshaped(whole, result.getShape()), result.getElementType());
  Value factor = computed.isLeft ? dot.getLhs() : dot.getRhs();
  dot.getResult().replaceAllUsesWith(whole);
  dot.erase();
  eraseUnused(factor); // the reshape, and a matrix that is computed in parts
}

struct ReduceComputedOperands : impl::ReduceComputedOperandsPassBase<ReduceComputedOperands> {
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<MillraceDialect>(); } // bytes that are read as words
  void runOnOperation() override {
    forEachProgramBlock(getOperation(), [](Block &block) {
      for (auto dot : llvm::make_early_inc_range(block.getOps<DotGeneralOp>())) {
        Computed computed;
        computed.dot = dot;
        if (!computed.match())
          continue;
        if (computed.isMany)
          Rewriter(computed).unpack();
        else
          Rewriter(computed).rewrite();
      }
    });
  }
};

} // namespace
} // namespace millrace::fusion
