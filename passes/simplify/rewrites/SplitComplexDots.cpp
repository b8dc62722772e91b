// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitComplexDots.cpp - Complex contractions as real contractions ----===//
// Input:   %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (256x128, 128x192) -> 256x192 of complex<f32>
// Output:  one contraction of tensor<256x256xf32>, an alias of a, and tensor<256x192x2xf32>, whose rows are those of b and of i b in turns:
//            [ re b   im b ]
//            [-im b   re b ]
//          The result tensor<256x192x2xf32> is an alias of r. Aliases are millrace.alias. If a is much smaller than b, which is then not copied: one
//          contraction of tensor<2x256x128xf32>, the real and the imaginary part of a, with an alias of b, and a kernel that adds the results.
//          The real and imaginary parts of a tensor in a new last dimension, as rotary embeddings end, are an alias, too, and so is a
//          bitcast_convert between elements of different sizes. Reductions of complex values that no kernel computes (arguments, transforms) are
//          reductions of an alias.
// Leaves alone small contractions, those without contracted dimensions or with an algorithm, dynamic shapes.
#include "passes/simplify/Passes.h"

#include "dialects/millrace/Ops.h"
#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "passes/simplify/Builders.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {
#define GEN_PASS_DEF_SPLITCOMPLEXDOTSPASS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Smaller contractions gain less than the kernels cost that write the real operands. Unit: multiply-adds. Source: judgement, not measured alone; commit e7a2604 has
/// the figures of the whole change.
constexpr int64_t kMinComplexProducts = 1 << 15;
/// The same for products that are small beside their operands. Unit: multiply-adds per number that is placed. Source: judgement, not measured alone;
/// commit e7a2604 has the figures of the whole change.
constexpr int64_t kProductsPerPlacedNumber = 2;
/// The same for products that are small beside their result. Unit: multiply-adds per number of the result. Source: judgement, not measured alone;
/// commit e7a2604 has the figures of the whole change.
constexpr int64_t kProductsPerResult = 8;

/// Which operand is copied, and how many elements of f32 or f64 are written for that; the other operand is read in place.
struct Plan {
  enum { RepeatRight, RepeatLeft, TakeLeftApart } form;
  bool transposesLeft; ///< the left operand is transposed first
  int64_t placed;
};

Plan planFor(DotGeneralOp op) {
  int64_t lhs = typeOf(op.getLhs()).getNumElements(), rhs = typeOf(op.getRhs()).getNumElements(), result = typeOf(op).getNumElements();
  int64_t lhsLast = typeOf(op.getLhs()).getRank() - 1, rhsLast = typeOf(op.getRhs()).getRank() - 1;
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  // The real and imaginary parts are a new last dimension, which can be contracted if the last dimension is, and is a dimension of the result if the
  // last dimension is.
  bool isLhsSummed = llvm::is_contained(numbers.getLhsContractingDimensions(), lhsLast);
  bool isRhsSummed = llvm::is_contained(numbers.getRhsContractingDimensions(), rhsLast);
  bool isColumn = !isRhsSummed && !llvm::is_contained(numbers.getRhsBatchingDimensions(), rhsLast);
  Plan best{Plan::RepeatRight, !isLhsSummed, 4 * rhs + (isLhsSummed ? 0 : 2 * lhs)};
  if (Plan other{Plan::RepeatLeft, false, 4 * lhs + 2 * result}; isRhsSummed && other.placed < best.placed)
    best = other;
  if (Plan other{Plan::TakeLeftApart, false, 2 * lhs + 6 * result}; isColumn && other.placed < best.placed)
    best = other;
  return best;
}

/// Returns why a contraction is not rewritten; empty if it is.
StringRef whyNot(DotGeneralOp op) {
  auto lhs = dyn_cast<RankedTensorType>(op.getLhs().getType()), rhs = dyn_cast<RankedTensorType>(op.getRhs().getType());
  auto result = dyn_cast<RankedTensorType>(op.getType());
  if (!lhs || !rhs || !result || !isa<ComplexType>(lhs.getElementType()))
    return "not of complex numbers";
  if (!lhs.hasStaticShape() || !rhs.hasStaticShape() || lhs.getEncoding() || rhs.getEncoding() || result.getEncoding())
    return "run-time shapes or encodings";
  if (lhs.getElementType() != rhs.getElementType() || lhs.getElementType() != result.getElementType() || op.getAlgorithm())
    return "an algorithm or several types";
  if (op.getDotDimensionNumbers().getLhsContractingDimensions().empty())
    return "nothing is summed";
  int64_t steps = result.getNumElements();
  for (int64_t dim : op.getDotDimensionNumbers().getLhsContractingDimensions())
    steps *= lhs.getDimSize(dim);
  int64_t least = std::max({kMinComplexProducts, kProductsPerPlacedNumber * planFor(op).placed, kProductsPerResult * result.getNumElements()});
  return steps < least ? "few steps" : "";
}

/// Returns an alias of `value` with another type.
Value aliasOf(OpBuilder &b, Location loc, Value value, RankedTensorType type) {
  return AliasOp::create(b, loc, type, value);
}

/// Returns an alias of `value` with the real and imaginary parts in a new last dimension.
Value partsOf(OpBuilder &b, Location loc, Value value) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  return aliasOf(b, loc, value, RankedTensorType::get(shape, cast<ComplexType>(type.getElementType()).getElementType()));
}

/// Merges dimension `dim` with the next one.
Value joinDims(OpBuilder &b, Location loc, Value value, int64_t dim) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= shape[dim + 1];
  shape.erase(shape.begin() + dim + 1);
  return ReshapeOp::create(b, loc, type.clone(shape), value);
}

/// Concatenates first(x) and second(x) along a new dimension `dim`, by a select, so that it is one kernel.
Value bothOf(OpBuilder &b, Location loc, Value x, int64_t dim, llvm::function_ref<Value(Value)> first, llvm::function_ref<Value(Value)> second) {
  RankedTensorType type = typeOf(x);
  SmallVector<int64_t> shape(type.getShape()), dims;
  shape.insert(shape.begin() + dim, 2);
  for (int64_t d = 0; d < type.getRank(); ++d)
    dims.push_back(d + (d >= dim));
  Value repeated = BroadcastInDimOp::create(b, loc, type.clone(shape), x, b.getDenseI64ArrayAttr(dims));
  auto counts = RankedTensorType::get(shape, b.getI32Type());
  Value number = IotaOp::create(b, loc, counts, dim), zero = ConstantOp::create(b, loc, DenseElementsAttr::get(counts, b.getI32IntegerAttr(0)));
  Value isFirst = CompareOp::create(b, loc, number, zero, ComparisonDirection::EQ);
  return SelectOp::create(b, loc, isFirst, first(repeated), second(repeated));
}

/// The steps of a sum with `step`, one of its dimensions, twice as many, for both parts of each result: [x, i x], or where the parts of a
/// number would not stand behind `step`, [conj x, i conj x]; the parts of the result are the last dimension that is not summed. Moves `step`.
Value repeat(OpBuilder &b, Location loc, Value x, int64_t &step) {
  auto re = [&](Value v) -> Value { return RealOp::create(b, loc, v); };
  auto im = [&](Value v) -> Value { return ImagOp::create(b, loc, v); };
  auto minus = [&](Value v) -> Value { return NegOp::create(b, loc, v); };
  auto number = [&](Value first, Value second) -> Value { return ComplexOp::create(b, loc, first, second); };
  if (step + 1 != typeOf(x).getRank()) {
    Value both = bothOf(b, loc, x, step + 1, [&](Value v) { return v; }, [&](Value v) { return number(minus(im(v)), re(v)); });
    return joinDims(b, loc, partsOf(b, loc, both), step);
  }
  Value both = bothOf(b, loc, x, step, [&](Value v) { return number(re(v), minus(im(v))); }, [&](Value v) { return number(im(v), re(v)); });
  return joinDims(b, loc, partsOf(b, loc, both), ++step);
}

/// What stands at `places`, pairs of a dimension and an index.
Value partAt(OpBuilder &b, Location loc, Value value, ArrayRef<std::pair<int64_t, int64_t>> places) {
  Box box = Box::whole(typeOf(value).getShape());
  for (auto [dim, part] : places)
    box.start[dim] = part, box.limit[dim] = part + 1;
  return boxOf(b, loc, value, box);
}

void repeatOne(OpBuilder &b, DotGeneralOp op, bool right) {
  Location loc = op.getLoc();
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  SmallVector<int64_t> lhsContract(numbers.getLhsContractingDimensions()), rhsContract(numbers.getRhsContractingDimensions());
  Value whole = right ? op.getLhs() : op.getRhs(), repeated = right ? op.getRhs() : op.getLhs();
  int64_t last = typeOf(whole).getRank() - 1;
  SmallVector<int64_t> &ofWhole = right ? lhsContract : rhsContract, &ofRepeated = right ? rhsContract : lhsContract;
  whole = joinDims(b, loc, partsOf(b, loc, whole), last);
  repeated = repeat(b, loc, repeated, ofRepeated[llvm::find(ofWhole, last) - ofWhole.begin()]);
  auto renumbered = DotDimensionNumbersAttr::get(b.getContext(), numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(), lhsContract, rhsContract);
  RankedTensorType type = typeOf(op);
  SmallVector<int64_t> shape(type.getShape());
  int64_t where = right ? type.getRank() : typeOf(op.getLhs()).getRank() - int64_t(lhsContract.size());
  shape.insert(shape.begin() + where, 2);
  auto dot = DotGeneralOp::create(b, loc, typeOf(whole).clone(shape), right ? whole : repeated, right ? repeated : whole, renumbered,
                                  op.getPrecisionConfigAttr(), DotAlgorithmAttr());
  Value result = right ? aliasOf(b, loc, dot, type)
                       : ReshapeOp::create(b, loc, type, ComplexOp::create(b, loc, partAt(b, loc, dot, {{where, 0}}), partAt(b, loc, dot, {{where, 1}}))).getResult();
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

void takeLeftApart(OpBuilder &b, DotGeneralOp op) {
  Location loc = op.getLoc();
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  // In front of what is left of a: in the result, batching dimensions come first.
  int64_t where = numbers.getLhsBatchingDimensions().size();
  auto shifted = [](ArrayRef<int64_t> dims) { return llvm::to_vector(llvm::map_range(dims, [](int64_t dim) { return dim + 1; })); };
  Value lhs = bothOf(b, loc, op.getLhs(), 0, [&](Value x) { return RealOp::create(b, loc, x); }, [&](Value x) { return ImagOp::create(b, loc, x); });
  Value rhs = partsOf(b, loc, op.getRhs());
  auto renumbered = DotDimensionNumbersAttr::get(b.getContext(), shifted(numbers.getLhsBatchingDimensions()), numbers.getRhsBatchingDimensions(),
                                                 shifted(numbers.getLhsContractingDimensions()), numbers.getRhsContractingDimensions());
  RankedTensorType type = typeOf(op);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + where, 2);
  shape.push_back(2);
  auto dot = DotGeneralOp::create(b, loc, typeOf(lhs).clone(shape), lhs, rhs, renumbered, op.getPrecisionConfigAttr(), DotAlgorithmAttr());
  auto part = [&](int64_t ofLeft, int64_t ofRight) { return partAt(b, loc, dot, {{where, ofLeft}, {int64_t(shape.size()) - 1, ofRight}}); };
  Value re = SubtractOp::create(b, loc, part(0, 0), part(1, 1)), im = AddOp::create(b, loc, part(0, 1), part(1, 0));
  op.getResult().replaceAllUsesWith(ReshapeOp::create(b, loc, type, ComplexOp::create(b, loc, re, im)));
  op.erase();
}

/// Makes the last of the left operand's summed dimensions its last one.
void turnLeft(OpBuilder &b, DotGeneralOp op) {
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  int64_t rank = typeOf(op.getLhs()).getRank(), moved = numbers.getLhsContractingDimensions().back();
  SmallVector<int64_t> permutation, shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != moved)
      permutation.push_back(dim);
  permutation.push_back(moved);
  for (int64_t dim : permutation)
    shape.push_back(typeOf(op.getLhs()).getDimSize(dim));
  auto renumber = [&](ArrayRef<int64_t> dims) {
    return llvm::to_vector(llvm::map_range(dims, [&](int64_t dim) { return dim == moved ? rank - 1 : dim - (dim > moved); }));
  };
  op.getLhsMutable().assign(TransposeOp::create(b, op.getLoc(), typeOf(op.getLhs()).clone(shape), op.getLhs(), b.getDenseI64ArrayAttr(permutation)));
  op.setDotDimensionNumbersAttr(DotDimensionNumbersAttr::get(b.getContext(), renumber(numbers.getLhsBatchingDimensions()),
                                                             numbers.getRhsBatchingDimensions(), renumber(numbers.getLhsContractingDimensions()),
                                                             numbers.getRhsContractingDimensions()));
}

void split(DotGeneralOp op) {
  OpBuilder b(op);
  Plan plan = planFor(op);
  if (plan.transposesLeft)
    turnLeft(b, op);
  if (plan.form == Plan::TakeLeftApart)
    takeLeftApart(b, op);
  else
    repeatOne(b, op, plan.form == Plan::RepeatRight);
}

/// Returns the complex tensor whose real and imaginary parts `op` concatenates along a new last dimension; null if there is none.
Value partsSideBySide(ConcatenateOp op) {
  RankedTensorType type = typeOf(op);
  if (op.getInputs().size() != 2 || !type.hasStaticShape() || type.getEncoding() || int64_t(op.getDimension()) != type.getRank() - 1 || type.getShape().back() != 2)
    return {};
  auto source = [&](unsigned part) -> Operation * {
    auto reshape = op.getInputs()[part].getDefiningOp<ReshapeOp>();
    bool addsLast = reshape && typeOf(reshape).getShape().drop_back() == typeOf(reshape.getOperand()).getShape();
    return addsLast ? reshape.getOperand().getDefiningOp() : nullptr;
  };
  auto re = dyn_cast_or_null<RealOp>(source(0));
  auto im = dyn_cast_or_null<ImagOp>(source(1));
  // Of a real tensor the parts are itself and zeros.
  return re && im && re.getOperand() == im.getOperand() && isa<ComplexType>(typeOf(re.getOperand()).getElementType()) ? re.getOperand() : Value();
}

/// For fewer elements another kernel costs more than it gains. Unit: complex numbers. Source: judgement, not measured alone; commit 5b9e13a has the figures of
/// the whole change.
constexpr int64_t kMinSplitNumbers = 1 << 12;

/// Returns true if `value` may be unaligned for wider elements: a slice becomes an alias that begins at any element.
bool mayBeginAnywhere(Value bytes) {
  Operation *made = bytes.getDefiningOp();
  while (isa_and_present<ReshapeOp, BitcastConvertOp, AliasOp>(made))
    made = made->getOperand(0).getDefiningOp();
  return isa_and_present<SliceOp>(made);
}

/// Returns true for a bitcast_convert between elements of different sizes that becomes an alias.
bool isAliasingBitcast(BitcastConvertOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getOperand().getType()), to = dyn_cast<RankedTensorType>(op.getType());
  auto isWhole = [](RankedTensorType type) {
    Type element = type ? type.getElementType() : Type();
    return element && type.hasStaticShape() && !type.getEncoding() && element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0;
  };
  return isWhole(from) && isWhole(to) && from.getElementTypeBitWidth() != to.getElementTypeBitWidth() &&
         from.getNumElements() >= kMinSplitNumbers &&
         (from.getElementTypeBitWidth() > to.getElementTypeBitWidth() || !mayBeginAnywhere(op.getOperand()));
}

/// For shorter rows, reductions by shuffles are faster than those of two columns. Unit: complex numbers of a row. Source: judgement, not measured alone;
/// commit 5b9e13a has the figures of the whole change.
constexpr int64_t kMinComplexRow = 256;

/// Returns true for a sum of complex elements that becomes a sum of an alias, in which the real and imaginary parts are columns.
bool isSumOfParts(ReduceOp op) {
  if (op.getInputs().size() != 1 || op.getDimensions().empty())
    return false;
  auto type = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
  Operation *made = op.getInputs()[0].getDefiningOp();
  DenseElementsAttr init;
  if (!type || !isa<ComplexType>(type.getElementType()) || !type.hasStaticShape() || type.getEncoding() || type.getNumElements() < kMinSplitNumbers ||
      int64_t(op.getDimensions().size()) == type.getRank() || (made && !isa<CustomCallOp, AliasOp, FftOp, DotGeneralOp>(made)) ||
      !matchPattern(op.getInitValues()[0], m_Constant(&init)))
    return false;
  if (llvm::is_contained(op.getDimensions(), type.getRank() - 1) && type.getShape().back() < kMinComplexRow)
    return false;
  auto isZero = [](const APFloat &part) { return part.isPosZero(); };
  auto zero = *init.getValues<std::complex<APFloat>>().begin();
  return isa_and_nonnull<AddOp>(combinerOf(op.getBody())) && isZero(zero.real()) && isZero(zero.imag());
}

void sumParts(ReduceOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  Value parts = partsOf(b, loc, op.getInputs()[0]);
  if (int64_t last = typeOf(parts).getRank() - 2; !llvm::is_contained(op.getDimensions(), last))
    parts = joinDims(b, loc, parts, last);
  Value summed = reduceSum(b, loc, parts, op.getDimensions());
  SmallVector<int64_t> shape(result.getShape());
  shape.push_back(2);
  if (typeOf(summed).getShape() != ArrayRef<int64_t>(shape))
    summed = ReshapeOp::create(b, loc, typeOf(summed).clone(shape), summed);
  op.getResult(0).replaceAllUsesWith(aliasOf(b, loc, summed, result));
  op.erase();
}

struct SplitComplexDots : impl::SplitComplexDotsPassBase<SplitComplexDots> {
  void getDependentDialects(DialectRegistry &registry) const override {
    SplitComplexDotsPassBase::getDependentDialects(registry);
    registry.insert<MillraceDialect>();
  }

  void runOnOperation() override {
    SmallVector<DotGeneralOp> found;
    getOperation()->walk([&](DotGeneralOp op) {
      if (whyNot(op).empty())
        found.push_back(op);
    });
    llvm::for_each(found, split);
    SmallVector<ConcatenateOp> stacks;
    getOperation()->walk([&](ConcatenateOp op) {
      if (partsSideBySide(op))
        stacks.push_back(op);
    });
    for (ConcatenateOp op : stacks) {
      OpBuilder b(op);
      op.getResult().replaceAllUsesWith(partsOf(b, op.getLoc(), partsSideBySide(op)));
      op.erase();
    }
    SmallVector<Operation *> others;
    getOperation()->walk([&](Operation *op) {
      auto bits = dyn_cast<BitcastConvertOp>(op);
      auto sum = dyn_cast<ReduceOp>(op);
      if ((bits && isAliasingBitcast(bits)) || (sum && isSumOfParts(sum)))
        others.push_back(op);
    });
    for (Operation *op : others)
      if (auto bits = dyn_cast<BitcastConvertOp>(op)) {
        OpBuilder b(op);
        bits.getResult().replaceAllUsesWith(aliasOf(b, op->getLoc(), bits.getOperand(), typeOf(bits)));
        op->erase();
      } else {
        sumParts(cast<ReduceOp>(op));
      }
  }
};

} // namespace

} // namespace millrace::simplify
