// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatDivision.cpp - Quotients as products ---------------------------===//
// The processor divides a vector in 8 to 24 cycles, in which it could do 16 to 48 products. What comes out has the bits of the quotient.
#include "lowering/cpu/math/Functions.h"
#include "lowering/cpu/math/Reciprocal.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// The number in all lanes of a constant.
std::optional<double> constantOf(Value value) {
  if (auto spread = value.getDefiningOp<vector::BroadcastOp>())
    value = spread.getSource();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(constant); splat && isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().convertToDouble();
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValueAsDouble();
  return std::nullopt;
}

/// Where each lane of `value` is zero, infinite, NaN or at least 2^e in magnitude: e. Sums with a constant are never tiny: what is left of numbers
/// of its size is a multiple of a last place of half of it, or of half of it in twice the digits, where a product and a sum round once.
std::optional<int> leastExponent(Value value, int depth = 0) {
  constexpr int most = 12;
  Operation *op = value.getDefiningOp();
  if (!op || depth == most)
    return std::nullopt;
  bool isF32 = getElementTypeOrSelf(value).isF32();
  int digits = isF32 ? 24 : 53;
  // Numbers on the way are normal, too.
  auto normal = [&](int e) { return e > (isF32 ? -120 : -1000) ? std::optional(e) : std::nullopt; };
  auto of = [&](unsigned i) { return leastExponent(op->getOperand(i), depth + 1); };
  auto both = [&](unsigned i, unsigned j) -> std::optional<int> {
    std::optional<int> a = of(i), b = a ? of(j) : a;
    return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
  };
  auto exponentOf = [](std::optional<double> c) { return c && *c != 0 && std::isfinite(*c) ? std::optional(std::ilogb(*c)) : std::nullopt; };
  if (std::optional<double> constant = constantOf(value))
    return *constant == 0 ? std::optional(0) : exponentOf(constant);
  return TypeSwitch<Operation *, std::optional<int>>(op)
      .Case<arith::UIToFPOp, arith::SIToFPOp, math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(
          [](auto) { return std::optional(0); })
      .Case<arith::AddFOp, arith::SubFOp>([&](auto) -> std::optional<int> {
        std::optional<int> e = exponentOf(constantOf(op->getOperand(1)));
        if (!e)
          e = exponentOf(constantOf(op->getOperand(0)));
        bool mayFuse = llvm::any_of(op->getOperands(), [](Value operand) { return isa_and_present<arith::MulFOp>(operand.getDefiningOp()); });
        return e ? normal(*e - (mayFuse ? 2 * digits : digits) - 1) : std::nullopt;
      })
      .Case<arith::MulFOp>([&](auto) -> std::optional<int> {
        for (unsigned i : {0u, 1u})
          if (std::optional<int> e = exponentOf(constantOf(op->getOperand(i))))
            if (std::optional<int> least = of(1 - i))
              return *least + *e;
        return std::nullopt;
      })
      .Case<arith::DivFOp>([&](auto) -> std::optional<int> {
        std::optional<int> e = exponentOf(constantOf(op->getOperand(1))), least = e ? of(0) : e;
        return least ? normal(*least - *e - 1) : std::nullopt;
      })
      .Case<arith::ExtFOp>([&](auto) { return getElementTypeOrSelf(op->getOperand(0)).isF16() ? std::optional(-24) : std::nullopt; })
      .Case<arith::NegFOp, math::AbsFOp, math::CopySignOp>([&](auto) { return of(0); })
      .Case<vector::BroadcastOp, vector::ShapeCastOp, vector::TransposeOp>([&](auto) { return of(0); })
      .Case<arith::MaximumFOp, arith::MinimumFOp, LLVM::MaximumOp, LLVM::MinimumOp, vector::ShuffleOp>([&](auto) { return both(0, 1); })
      .Case<arith::SelectOp>([&](auto) { return both(1, 2); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Two products. Where it is not known that no lane is tiny, vectors that have such a lane are divided.
template <typename T>
Value divideByConstant(MathBuilder &b, arith::DivFOp op, T divisor) {
  Value a = op.getLhs();
  std::optional<int> exponent = leastExponent(a);
  if (!exponent && (!b.canScale(op.getType()) || !op->getParentOfType<scf::ForOp>()))
    return {};
  std::optional<Reciprocal<T>> reciprocal = reciprocalOf(divisor);
  if (!reciprocal)
    return {};
  auto product = [&] { return b.fma(a, double(reciprocal->high), b.mulf(a, double(reciprocal->low))); };
  if (exponent && *exponent >= reciprocal->leastExponent)
    return product();
  if (!b.canScale(op.getType()) || !op->getParentOfType<scf::ForOp>())
    return {};
  // Without its sign and less one, zero is the greatest of all numbers.
  bool isF32 = sizeof(T) == 4;
  Value bits = b.bits(a);
  uint64_t least = (uint64_t(reciprocal->leastExponent + (isF32 ? 127 : 1023)) << (isF32 ? 24 : 53)) - 1;
  Value isUsual = b.cmpi(arith::CmpIPredicate::uge, b.subi(b.addi(bits, bits), 1), b.i(int64_t(least), bits.getType()));
  Value all = vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::AND, isUsual);
  auto branch = scf::IfOp::create(b.builder, b.loc, op.getType(), all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b.builder, b.loc, product());
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, LLVM::FDivOp::create(b.builder, b.loc, a, op.getRhs()).getResult());
  return branch.getResult(0);
}

/// The same bits as the division of f32. Where a quotient is smaller than a normal number, a division takes processors a hundred cycles, and a
/// softmax with masks of -100 has little else. If y is between 1 and 2^24, as sums of exponentials are, such lanes are divided as integers: a in
/// units of 2^-149 has no fraction, and the rounded quotient is the bits of the result. No operation sees a subnormal number.
Value divideWithTiny(MathBuilder &b, Value a, Value y) {
  using arith::CmpFPredicate, arith::CmpIPredicate;
  // Fact: the least number of f32 is 2^-149.
  constexpr int kUnits = 149;
  // Fact: bits of f32's mantissa.
  constexpr int kMantissa = 23;
  // Fact: divisors below 2^24 keep the quotient's integer exact.
  constexpr int kMaxDivisorExponent = 24;
  Type type = a.getType(), integer = b.bitsOf(type);
  Value bits = b.bits(a), magnitude = b.andi(bits, 0x7fffffff);
  Value isSum = b.andi(b.cmpf(CmpFPredicate::OGE, y, 1.0), b.cmpf(CmpFPredicate::OLT, y, std::ldexp(1.0, kMaxDivisorExponent)));
  Value limit = b.select(isSum, b.subi(b.bits(b.mulf(b.select(isSum, y, b.f(1.0, type)), 0x1p-126)), 1), b.i(0, integer));
  Value isTiny = b.cmpi(CmpIPredicate::ult, b.subi(magnitude, 1), limit); // not where a is 0
  Value any = vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::OR, isTiny);
  auto branch = scf::IfOp::create(b.builder, b.loc, type, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, LLVM::FDivOp::create(b.builder, b.loc, a, y).getResult());
  b.builder.setInsertionPointToStart(branch.thenBlock());
  Value isSubnormal = b.cmpi(CmpIPredicate::ult, magnitude, int64_t(1) << kMantissa);
  Value units = b.select(isSubnormal, b.sitofp(magnitude, type), b.bitcast(b.addi(magnitude, int64_t(kUnits) << kMantissa), type));
  Value numerator = b.select(isTiny, units, a);
  Value quotient = LLVM::FDivOp::create(b.builder, b.loc, numerator, y);
  // Rounded towards 0, if not by the division; what that leaves is a number, and tells which of both neighbours is nearer.
  Value whole = b.fptosi(b.select(isTiny, quotient, b.f(0.0, type)), integer);
  Value rest = b.fma(b.negf(b.sitofp(whole, type)), y, numerator), twice = b.addf(rest, rest);
  Value isOdd = b.cmpi(CmpIPredicate::ne, b.andi(whole, 1), 0);
  Value isMore = b.ori(b.cmpf(CmpFPredicate::OGT, twice, y), b.andi(b.cmpf(CmpFPredicate::OEQ, twice, y), isOdd));
  Value rounded = b.select(isMore, b.addi(whole, 1), whole);
  Value sign = b.subi(bits, magnitude);
  scf::YieldOp::create(b.builder, b.loc, b.select(isTiny, b.bitcast(b.ori(rounded, sign), type), quotient));
  return branch.getResult(0);
}

/// `a / b` in a loop that does not change b: products with 1 / b, corrected twice by what they leave of a. The first correction makes the
/// quotient one of both numbers next to the true one, what that leaves is a number, and the second one rounds as the division does (P. Markstein,
/// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990), if nothing underflows or overflows on the way. Other
/// vectors are divided.
Value divideByInvariant(MathBuilder &b, arith::DivFOp op) {
  Type type = op.getType();
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!b.canScale(type) || !getElementTypeOrSelf(type).isF32() || !loop)
    return {};
  auto spread = op.getRhs().getDefiningOp<vector::BroadcastOp>();
  Value x = spread && spread.getSource().getType().isF32() ? Value(spread.getSource()) : op.getRhs();
  if (!loop.isDefinedOutsideOfLoop(x))
    return {};
  Value divisor, reciprocal, count;
  // Fact: lanes between these exponents, and divisors between theirs: all numbers on the way are normal.
  constexpr int kLaneExponent = 100;
  // Fact: of the divisors.
  constexpr int kDivisorExponent = 24;
  auto exponent = [](int e) { return int64_t(e + 127) << 23; };
  auto magnitude = [&](Value x) { return b.andi(b.bits(x), 0x7fffffff); };
  {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPoint(loop);
    Value one = b.f(1.0, x.getType());
    Value isUsual = b.cmpi(arith::CmpIPredicate::ult, b.subi(magnitude(x), exponent(-kDivisorExponent)),
                             exponent(kDivisorExponent) - exponent(-kDivisorExponent));
    Type integer = b.bitsOf(x.getType());
    Value lanes = b.select(isUsual, b.i(exponent(kLaneExponent) - exponent(-kLaneExponent), integer), b.i(0, integer));
    auto splat = [&](Value value) -> Value {
      if (value.getType() == ScalarBuilder::typeLike(type, getElementTypeOrSelf(value)))
        return value;
      return vector::BroadcastOp::create(b.builder, b.loc, ScalarBuilder::typeLike(type, value.getType()), value);
    };
    divisor = splat(x);
    reciprocal = splat(LLVM::FDivOp::create(b.builder, b.loc, one, x));
    count = splat(lanes);
  }
  Value a = op.getLhs();
  Value isUsual = b.cmpi(arith::CmpIPredicate::ult, b.subi(magnitude(a), exponent(-kLaneExponent)), count);
  Value all = vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::AND, isUsual);
  auto branch = scf::IfOp::create(b.builder, b.loc, type, all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  Value quotient = b.mulf(a, reciprocal), negative = b.negf(divisor);
  for (int step = 0; step < 2; ++step)
    quotient = b.fma(b.fma(negative, quotient, a), reciprocal, quotient);
  scf::YieldOp::create(b.builder, b.loc, quotient);
  b.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b.builder, b.loc, divideWithTiny(b, a, divisor));
  return branch.getResult(0);
}

} // namespace

Value divideFloats(MathBuilder &b, arith::DivFOp op) {
  auto vector = dyn_cast<VectorType>(op.getType());
  if (op.getFastmath() != arith::FastMathFlags::none || !vector)
    return {};
  if (std::optional<double> divisor = constantOf(op.getRhs())) {
    if (vector.getElementType().isF32())
      return divideByConstant(b, op, float(*divisor));
    if (vector.getElementType().isF64())
      return divideByConstant(b, op, *divisor);
    return {};
  }
  return divideByInvariant(b, op);
}

} // namespace millrace::lowering
