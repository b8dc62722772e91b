// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SeedRng.cpp - New random numbers in every execution ----------------===//
// Input:   %r = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (..) -> tensor<3xf32>
// Output:  %bits = stablehlo.rng %0, %max, %shape, distribution = UNIFORM {millrace.rng_ordinal = 0} : .. -> tensor<3xui64>
//          %seed = stablehlo.custom_call @millrace.rng_seed() {has_side_effect = true} : () -> tensor<ui64>
//          %r = %a + (%b - %a) * unit(mix(%bits + %seed))
// Leaves alone an rng that has the attribute already. mix is the finalizer of splitmix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", 2014); a normal number is made of two (Box and Muller, 1958).
#include "passes/simplify/Passes.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/simplify/Builders.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_SEEDRNGPASS
#include "passes/simplify/Passes.h.inc"

namespace {

class Drawing {
public:
  Drawing(OpBuilder &builder, RngOp op) : b(builder), loc(op.getLoc()), op(op) {
    auto type = cast<RankedTensorType>(op.getType());
    word = b.getIntegerType(64, /*isSigned=*/false);
    auto bitsType = RankedTensorType::get(type.getShape(), word, type.getEncoding());
    auto draw = RngOp::create(b, loc, bitsType, scalar(0), scalar(std::numeric_limits<uint64_t>::max()), op.getShape(),
                              RngDistribution::UNIFORM);
    draw->setAttr(kRngOrdinalAttr, b.getI64IntegerAttr(0));
    bits = draw;
    NamedAttribute attributes[] = {b.getNamedAttr("call_target_name", b.getStringAttr("millrace.rng_seed")),
                                   b.getNamedAttr("has_side_effect", b.getBoolAttr(true))};
    auto seed = CustomCallOp::create(b, loc, TypeRange(RankedTensorType::get({}, word)), ValueRange(), attributes);
    bits = AddOp::create(b, loc, bits, wide(seed.getResult(0)));
  }

  Value value() {
    Type element = cast<ShapedType>(op.getType()).getElementType();
    Value drawn = isa<FloatType>(element) ? real(cast<FloatType>(element)) : integer(cast<IntegerType>(element));
    return drawn.getType() == op.getType() ? drawn : ConvertOp::create(b, loc, op.getType(), drawn);
  }

private:
  Value scalar(uint64_t value) {
    auto type = RankedTensorType::get({}, word);
    return ConstantOp::create(b, loc, DenseElementsAttr::get(type, APInt(64, value)));
  }
  Value wide(Value scalar) { return broadcastLike(b, loc, scalar, bits, {}); }
  Value wide(uint64_t value) { return wide(scalar(value)); }

  /// The `index`-th word of every element.
  Value mixed(unsigned index) {
    Value x = index ? AddOp::create(b, loc, bits, wide(0x9E3779B97F4A7C15u * index)).getResult() : bits;
    for (auto [shift, factor] : {std::pair(30, uint64_t(0xBF58476D1CE4E5B9u)), {27, uint64_t(0x94D049BB133111EBu)}}) {
      x = XorOp::create(b, loc, x, ShiftRightLogicalOp::create(b, loc, x, wide(shift)));
      x = MulOp::create(b, loc, x, wide(factor));
    }
    return XorOp::create(b, loc, x, ShiftRightLogicalOp::create(b, loc, x, wide(31)));
  }

  /// In [0, 1), with all bits of the mantissa of `work`.
  Value unit(unsigned index, FloatType work) {
    unsigned precision = work.isF64() ? 53 : 24;
    Value top = ShiftRightLogicalOp::create(b, loc, mixed(index), wide(64 - precision));
    Value number = convertTo(b, loc, top, work);
    return MulOp::create(b, loc, number, constantLike(b, loc, number, std::ldexp(1.0, -int(precision))));
  }

  Value real(FloatType element) {
    FloatType work = element.isF64() ? FloatType(b.getF64Type()) : FloatType(b.getF32Type());
    Value low = wide(convertTo(b, loc, op.getA(), work)), high = wide(convertTo(b, loc, op.getB(), work));
    Value first = unit(0, work);
    if (op.getRngDistribution() == RngDistribution::UNIFORM) {
      Value span = SubtractOp::create(b, loc, high, low);
      Value drawn = AddOp::create(b, loc, low, MulOp::create(b, loc, first, span));
      // Rounding may yield the upper bound, which the half-open interval excludes.
      Value rounded = convertTo(b, loc, convertTo(b, loc, drawn, element), work);
      Value inside = CompareOp::create(b, loc, rounded, high, ComparisonDirection::LT);
      return convertTo(b, loc, SelectOp::create(b, loc, inside, rounded, low), element);
    }
    // Mean a, standard deviation b.
    auto number = [&](double value) { return constantLike(b, loc, first, value); };
    Value logarithm = Log1pOp::create(b, loc, NegOp::create(b, loc, first));
    Value radius = SqrtOp::create(b, loc, MulOp::create(b, loc, logarithm, number(-2.0)));
    Value angle = MulOp::create(b, loc, unit(1, work), number(2 * std::numbers::pi));
    Value normal = MulOp::create(b, loc, radius, CosineOp::create(b, loc, angle));
    return convertTo(b, loc, AddOp::create(b, loc, low, MulOp::create(b, loc, normal, high)), element);
  }

  /// a + bits mod (b - a); a if the interval is empty.
  Value integer(IntegerType element) {
    unsigned width = std::max(8u, element.getWidth());
    Type same = element.isUnsigned() ? b.getIntegerType(width, false) : b.getIntegerType(width);
    Type positive = b.getIntegerType(width, /*isSigned=*/false);
    Value low = convertTo(b, loc, op.getA(), same), high = convertTo(b, loc, op.getB(), same);
    auto asPositive = [&](Value value) -> Value {
      auto type = cast<RankedTensorType>(value.getType());
      return same == positive ? value : BitcastConvertOp::create(b, loc, RankedTensorType::get(type.getShape(), positive, type.getEncoding()), value);
    };
    Value span = convertTo(b, loc, asPositive(SubtractOp::create(b, loc, high, low)), word);
    Value isEmpty = CompareOp::create(b, loc, span, scalar(0), ComparisonDirection::EQ);
    Value divisor = SelectOp::create(b, loc, isEmpty, scalar(1), span);
    Value offset = convertTo(b, loc, RemOp::create(b, loc, mixed(0), wide(divisor)), positive);
    Value drawn = AddOp::create(b, loc, wide(asPositive(low)), offset);
    if (same != positive) {
      auto type = cast<RankedTensorType>(drawn.getType());
      drawn = BitcastConvertOp::create(b, loc, RankedTensorType::get(type.getShape(), same, type.getEncoding()), drawn);
    }
    return convertTo(b, loc, drawn, element);
  }

  OpBuilder &b;
  Location loc;
  RngOp op;
  Type word;
  Value bits;
};

struct SeedRng : impl::SeedRngPassBase<SeedRng> {
  void runOnOperation() override {
    SmallVector<RngOp> found;
    getOperation()->walk([&](RngOp op) {
      if (!op->hasAttr(kRngOrdinalAttr))
        found.push_back(op);
    });
    for (RngOp op : found) {
      OpBuilder builder(op);
      op->replaceAllUsesWith(ValueRange(Drawing(builder, op).value()));
      op->erase();
    }
  }
};

} // namespace
} // namespace millrace::simplify
