// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.cpp - The pass xla-expand-math --------------------------===//
// Input:   %1 = math.exp %0 : vector<16xf32>
// Output:  about twenty arith operations on vector<16xf32>
// Leaves alone operations that LLVM has instructions for, and types other than f16, bf16, f32, f64 and complex.
#include "lowering/cpu/math/Passes.h"

#include "lowering/cpu/math/Functions.h"
#include "lowering/linalg/scalar/ComplexCalls.h"
#include "lowering/linalg/scalar/SmallFloats.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace millrace::lowering {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "lowering/cpu/math/Passes.h.inc"
} // namespace millrace::lowering

using namespace mlir;
using CmpF = arith::CmpFPredicate;

namespace millrace::lowering {
namespace {

bool hasElement(Value value, function_ref<bool(Type)> test) { return test(getElementTypeOrSelf(value.getType())); }
bool hasElement(Operation *op, function_ref<bool(Type)> test) {
  auto check = [&](Value value) { return hasElement(value, test); };
  return llvm::any_of(op->getOperands(), check) || llvm::any_of(op->getResults(), check);
}

/// f64 functions: what is left goes to the C library.
Value callLibrary(MathBuilder &b, StringRef name, ValueRange operands) {
  Type f64 = b.builder.getF64Type();
  auto type = b.builder.getFunctionType(SmallVector<Type>(operands.size(), f64), f64);
  auto module = b.builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol<func::FuncOp>(name)) {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(module.getBody());
    func::FuncOp::create(b.builder, b.loc, name, type).setPrivate();
  }
  auto call = [&](ValueRange scalars) {
    return func::CallOp::create(b.builder, b.loc, name, type.getResults(), scalars).getResult(0);
  };
  auto vectorType = dyn_cast<VectorType>(operands.front().getType());
  if (!vectorType)
    return call(operands);
  auto flatType = VectorType::get({vectorType.getNumElements()}, f64);
  SmallVector<Value> flat;
  for (Value operand : operands)
    flat.push_back(operand.getType() == flatType
                       ? operand
                       : Value(vector::ShapeCastOp::create(b.builder, b.loc, flatType, operand)));
  SmallVector<Value> lanes;
  for (int64_t lane : llvm::seq(flatType.getNumElements())) {
    SmallVector<Value> scalars;
    for (Value operand : flat)
      scalars.push_back(vector::ExtractOp::create(b.builder, b.loc, operand, lane));
    lanes.push_back(call(scalars));
  }
  Value result = vector::FromElementsOp::create(b.builder, b.loc, flatType, lanes);
  if (flatType == vectorType)
    return result;
  return vector::ShapeCastOp::create(b.builder, b.loc, vectorType, result);
}

/// The name in the C library of a function without expansion of its own, or none.
StringRef libraryName(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<math::AcosOp>([](auto) { return "acos"; })
      .Case<math::AcoshOp>([](auto) { return "acosh"; })
      .Case<math::AsinOp>([](auto) { return "asin"; })
      .Case<math::AsinhOp>([](auto) { return "asinh"; })
      .Case<math::AtanOp>([](auto) { return "atan"; })
      .Case<math::Atan2Op>([](auto) { return "atan2"; })
      .Case<math::AtanhOp>([](auto) { return "atanh"; })
      .Case<math::CbrtOp>([](auto) { return "cbrt"; })
      .Case<math::CosOp>([](auto) { return "cos"; })
      .Case<math::CoshOp>([](auto) { return "cosh"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::ErfcOp>([](auto) { return "erfc"; })
      .Case<math::Exp2Op>([](auto) { return "exp2"; })
      .Case<math::ExpM1Op>([](auto) { return "expm1"; })
      .Case<math::Log10Op>([](auto) { return "log10"; })
      .Case<math::Log1pOp>([](auto) { return "log1p"; })
      .Case<math::Log2Op>([](auto) { return "log2"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Case<math::SinOp>([](auto) { return "sin"; })
      .Case<math::SinhOp>([](auto) { return "sinh"; })
      .Case<math::TanOp>([](auto) { return "tan"; })
      .Default([](Operation *) { return StringRef(); });
}

Value expandF32(MathBuilder &b, Operation *op) {
  auto x = [&] { return op->getOperand(0); };
  Value known =
      TypeSwitch<Operation *, Value>(op)
          .Case<math::AcosOp>([&](auto) { return acosF32(b, x()); })
          .Case<math::AsinOp>([&](auto) { return asinF32(b, x()); })
          .Case<math::AtanOp>([&](auto) { return atanF32(b, x()); })
          .Case<math::Atan2Op>([&](auto) { return matchPattern(op->getOperand(1), m_OneFloat()) ? atanF32(b, x()) : atan2F32(b, x(), op->getOperand(1)); })
          .Case<math::CbrtOp>([&](auto) { return cbrtF32(b, x()); })
          .Case<math::CosOp>([&](auto) { return sinF32(b, x(), /*cosine=*/true); })
          .Case<math::CoshOp>([&](auto) { return coshF32(b, x()); })
          .Case<math::ErfOp>([&](auto) { return erfF32(b, x()); })
          .Case<math::ExpOp>([&](auto) { return expF32(b, x()); })
          .Case<math::Exp2Op>([&](auto) { return exp2F32(b, x()); })
          .Case<math::ExpM1Op>([&](auto) { return expm1F32(b, x()); })
          .Case<math::LogOp>([&](auto) { return logF32(b, x()); })
          .Case<math::Log10Op>([&](auto) { return log2F32(b, x(), /*base10=*/true); })
          .Case<math::Log1pOp>([&](auto) { return log1pF32(b, x()); })
          .Case<math::Log2Op>([&](auto) { return log2F32(b, x()); })
          .Case<math::PowFOp>([&](auto) { return powF32(b, x(), op->getOperand(1)); })
          .Case<math::RsqrtOp>([&](auto) { return rsqrt(b, x()); })
          .Case<math::SinOp>([&](auto) { return sinF32(b, x()); })
          .Case<math::SinhOp>([&](auto) { return sinhF32(b, x()); })
          .Case<math::TanOp>([&](auto) { return tanF32(b, x()); })
          .Case<math::TanhOp>([&](auto) { return tanhF32(b, x()); })
          .Default([](Operation *) { return Value(); });
  if (known)
    return known;
  StringRef name = libraryName(op);
  if (name.empty())
    return {};
  SmallVector<Value> wide;
  for (Value operand : op->getOperands())
    wide.push_back(b.extf(operand, b.f64Like(operand.getType())));
  return b.truncf(callLibrary(b, name, wide), op->getResult(0).getType());
}

/// The library's remainder of f32 numbers in f64 is an f32 number.
Value expandRemainder(MathBuilder &b, Value x, Value y) {
  Type type = x.getType();
  return remainder(b, x, y, [&] {
    Type f64 = b.f64Like(type);
    return b.truncf(callLibrary(b, "fmod", {b.extf(x, f64), b.extf(y, f64)}), type);
  });
}

Value expandF64(MathBuilder &b, Operation *op) {
  Value x = op->getOperand(0);
  if (isa<math::CbrtOp>(op))
    return cbrtF64(b, x);
  if (isa<math::ExpOp>(op))
    return expF64(b, x);
  if (isa<math::LogOp>(op))
    return logF64(b, x);
  if (isa<math::TanhOp>(op))
    return tanhF64(b, x);
  if (isa<math::RsqrtOp>(op))
    return rsqrt(b, x);
  if (isa<math::ExpM1Op>(op))
    return expm1F64(b, x);
  if (isa<math::Log1pOp>(op))
    return log1pF64(b, x);
  if (isa<math::AtanOp>(op) || (isa<math::Atan2Op>(op) && matchPattern(op->getOperand(1), m_OneFloat())))
    return atanF64(b, x);
  StringRef name = libraryName(op);
  auto library = [&] { return callLibrary(b, name, op->getOperands()); };
  if (isa<math::SinOp, math::CosOp>(op))
    return sinF64(b, x, isa<math::CosOp>(op), library);
  return name.empty() ? Value() : library();
}

/// The same operation with every operand and result of an element type for which `isNarrow` in f32.
Value widen(MathBuilder &b, Operation *op, function_ref<bool(Type)> isNarrow) {
  // One number for all lanes is widened before it is spread: where it is the same in a whole loop, that is known.
  auto wide = [&](Value operand) -> Value {
    Type type = b.f32Like(operand.getType());
    auto spread = operand.getDefiningOp<vector::BroadcastOp>();
    if (!spread || isa<VectorType>(spread.getSourceType()))
      return b.extf(operand, type);
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPoint(spread);
    return vector::BroadcastOp::create(b.builder, b.loc, type, b.extf(spread.getSource(), b.builder.getF32Type()));
  };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(hasElement(operand, isNarrow) ? wide(operand) : operand);
  Type type = op->getResult(0).getType();
  bool narrowResult = isNarrow(getElementTypeOrSelf(type));
  OperationState state(op->getLoc(), op->getName(), operands, narrowResult ? b.f32Like(type) : type, op->getAttrs());
  Value result = b.builder.create(state)->getResult(0);
  // The greater of two numbers is one of them, or a NaN whose low bits are zero.
  if (getElementTypeOrSelf(type).isBF16() && isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    return topOfBf16(b, result);
  return narrowResult ? b.truncf(result, type) : result;
}

/// Conversions between floats that round twice or call a library if left to LLVM.
Value expandFloatCast(MathBuilder &b, Operation *op) {
  Value x = op->getOperand(0);
  Type to = op->getResult(0).getType(), from = x.getType();
  Type toElement = getElementTypeOrSelf(to), fromElement = getElementTypeOrSelf(from);
  if (isa<arith::ExtFOp>(op) && fromElement.isBF16()) {
    Value wide = extendBf16(b, x);
    return toElement.isF32() ? wide : b.extf(wide, to);
  }
  if (isa<arith::TruncFOp>(op) && (toElement.isBF16() || toElement.isF16())) {
    if (fromElement.isF64())
      return b.truncf(truncToOddF32(b, x), to);
    if (toElement.isBF16() && fromElement.isF32())
      return roundToBf16(b, x);
  }
  return {};
}

Value expandComplex(MathBuilder &b, Operation *op) {
  auto call = [&](StringRef name) { return emitComplexCall(b, name, op->getOperands()); };
  auto parts = [&](unsigned i) { return ComplexParts{b.re(op->getOperand(i)), b.im(op->getOperand(i))}; };
  auto join = [&](ComplexParts result) { return b.complex(result.re, result.im); };
  auto isF32 = [&] { return cast<ComplexType>(op->getOperand(0).getType()).getElementType().isF32(); };
  return TypeSwitch<Operation *, Value>(op)
      .Case<complex::AbsOp>([&](auto) { return complexAbs(b, parts(0)); })
      .Case<complex::DivOp>([&](auto) { return isF32() ? join(complexDivision(b, parts(0), parts(1))) : call("div"); })
      .Case<complex::CosOp>([&](auto) { return call("cos"); })
      .Case<complex::ExpOp>([&](auto) { return join(complexExp(b, parts(0))); })
      .Case<complex::Expm1Op>([&](auto) { return call("expm1"); })
      .Case<complex::LogOp>([&](auto) { return call("log"); })
      .Case<complex::Log1pOp>([&](auto) { return call("log1p"); })
      .Case<complex::PowOp>([&](auto) { return isF32() ? join(complexPower(b, parts(0), parts(1))) : call("pow"); })
      .Case<complex::RsqrtOp>([&](auto) { return call("rsqrt"); })
      .Case<complex::SinOp>([&](auto) { return call("sin"); })
      .Case<complex::SqrtOp>([&](auto) { return isF32() ? join(complexSqrt(b, parts(0))) : call("sqrt"); })
      .Case<complex::TanOp>([&](auto) { return call("tan"); })
      .Case<complex::TanhOp>([&](auto) { return isF32() ? join(complexTanh(b, parts(0))) : call("tanh"); })
      .Default([](Operation *) { return Value(); });
}

/// Operations that move bits and need no arithmetic.
bool onlyMoves(Operation *op) {
  return isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp, math::AbsFOp, math::CopySignOp, arith::NegFOp>(op);
}

/// The replacement for the result of `op`, or null.
Value expand(MathBuilder &b, Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return {};
  if (isa<complex::ComplexDialect>(op->getDialect()))
    return expandComplex(b, op);
  bool isMath = isa<math::MathDialect>(op->getDialect());
  if (!isMath && !isa<arith::ArithDialect>(op->getDialect()))
    return {};
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return expandFloatCast(b, op);
  if (onlyMoves(op))
    return {};
  auto isBf16 = [](Type type) { return type.isBF16(); };
  auto isF16 = [](Type type) { return type.isF16(); };
  if (hasElement(op, isBf16))
    return widen(b, op, isBf16);
  // Upstream's expansion takes -0 and +0 for equal.
  if (isa<arith::MaximumFOp>(op))
    return LLVM::MaximumOp::create(b.builder, b.loc, op->getOperand(0), op->getOperand(1));
  if (isa<arith::MinimumFOp>(op))
    return LLVM::MinimumOp::create(b.builder, b.loc, op->getOperand(0), op->getOperand(1));
  if (auto division = dyn_cast<arith::DivFOp>(op))
    return divideFloats(b, division);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return divideIntegers(b, op);
  bool isRemainder = isa<arith::RemFOp>(op);
  if (!isMath && !isRemainder)
    return {};
  if (hasElement(op, isF16)) {
    // The processor's root of 32 f16 takes 1.6 times as long as two of 16 f32; f32 has enough bits to round twice.
    bool isFunction = isRemainder || !libraryName(op).empty() || isa<math::ExpOp, math::LogOp, math::RsqrtOp, math::SqrtOp, math::TanhOp>(op);
    return isFunction ? widen(b, op, isF16) : Value();
  }
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (isRemainder)
    return element.isF32() || element.isF64() ? expandRemainder(b, op->getOperand(0), op->getOperand(1)) : Value();
  return element.isF32() ? expandF32(b, op) : element.isF64() ? expandF64(b, op) : Value();
}

/// (p - square) + (q + rest), where p is exact, being a multiple of a short number: p - a * a is rounded once without the rest.
void sumOfSquare(MathBuilder &b, Value square, Value rest, Value a) {
  auto other = [](arith::AddFOp sum, Value part) { return sum.getLhs() == part ? sum.getRhs() : sum.getLhs(); };
  auto onlyUser = [](Value value) { return value.hasOneUse() ? dyn_cast<arith::AddFOp>(*value.user_begin()) : arith::AddFOp(); };
  auto low = onlyUser(rest);
  auto sum = low ? onlyUser(low) : arith::AddFOp();
  auto high = sum ? other(sum, low).getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  if (!high || !high->hasOneUse())
    return;
  for (Value part : high.getOperands())
    if (auto negative = part.getDefiningOp<arith::NegFOp>(); negative && negative.getOperand() == square) {
      OpBuilder::InsertionGuard guard(b.builder);
      b.builder.setInsertionPoint(sum);
      Value difference = b.fma(b.negf(a), a, other(high, part)), q = other(low, rest);
      auto factors = q.getDefiningOp<arith::MulFOp>();
      sum.replaceAllUsesWith(factors ? b.fma(factors.getLhs(), factors.getRhs(), difference) : b.addf(q, difference));
      return;
    }
}

/// A square in two parts, head^2 and (head - a) * (head + a), of which only the difference matters (kSquareAttr; here the flag afn):
/// a * a and what its rounding added, in two operations instead of six.
void roundSquare(arith::BitcastOp head) {
  OpBuilder builder(head);
  MathBuilder b(builder, head.getLoc(), /*avx512=*/true);
  if (!b.canScale(head.getType()) || b.isF64(head))
    return;
  auto isMarked = [](arith::MulFOp op) { return op && bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn); };
  arith::MulFOp square, rest;
  Value a;
  for (Operation *user : head->getUsers()) {
    if (auto product = dyn_cast<arith::MulFOp>(user); isMarked(product) && product.getLhs() == head && product.getRhs() == head)
      square = product;
    auto difference = dyn_cast<arith::SubFOp>(user);
    if (!difference || difference.getLhs() != head || !difference->hasOneUse())
      continue;
    auto product = dyn_cast<arith::MulFOp>(*difference->user_begin());
    auto sum = isMarked(product) ? product.getRhs().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
    if (sum && sum.getLhs() == head && sum.getRhs() == difference.getRhs()) {
      rest = product;
      a = sum.getRhs();
    }
  }
  if (!square || !rest || a.getParentBlock() != head->getBlock() || (a.getDefiningOp() && !a.getDefiningOp()->isBeforeInBlock(head)))
    return;
  Value product = b.mulf(a, a), added = b.fma(b.negf(a), a, product);
  rest.replaceAllUsesWith(added);
  sumOfSquare(b, square, added, a);
  square.replaceAllUsesWith(product);
}

/// The sine of a number whose cosine is computed in the same block, too: one angle for both.
void joinWaves(math::SinOp sine) {
  Value x = sine.getOperand();
  math::CosOp cosine;
  for (Operation *user : x.getUsers())
    if (auto other = dyn_cast<math::CosOp>(user); other && other->getBlock() == sine->getBlock())
      cosine = other;
  if (!cosine || !getElementTypeOrSelf(x.getType()).isF32())
    return;
  OpBuilder builder(sine->isBeforeInBlock(cosine) ? sine.getOperation() : cosine.getOperation());
  MathBuilder b(builder, sine.getLoc());
  auto [first, second] = sinCosF32(b, x);
  sine.replaceAllUsesWith(first);
  cosine.replaceAllUsesWith(second);
  sine.erase();
  cosine.erase();
}

/// Exponentials of vectors that follow each other in a block, none of which needs another one: computed together, so that they share a branch
/// and their steps stay in one block. What needs one of them moves behind the last.
class ExpGroups {
public:
  explicit ExpGroups(Block &block) : block(block) {}
  void run() {
    // Expansion inserts operations: those that are there now.
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops)
      add(op);
    finish();
  }

private:
  /// Exponentials of a block that share a branch for subnormal results. Unit: exponentials. Source: judgement, not measured alone; commit 889dabb has
  /// the figures of the whole change.
  static constexpr size_t kMaxGroup = 8;

  void add(Operation *op) {
    auto exp = dyn_cast<math::ExpOp>(op);
    OpBuilder builder(op);
    bool isWanted = exp && MathBuilder(builder, op->getLoc(), /*avx512=*/true).canScale(exp.getType());
    bool needsOne = false;
    op->walk([&](Operation *inside) {
      needsOne |= llvm::any_of(inside->getOperands(), [&](Value operand) { return behind.contains(operand); });
    });
    bool isOther = isWanted && !group.empty() && (exp.getType() != group[0].getType() || group.size() == kMaxGroup);
    if ((needsOne && (isWanted || !isMemoryEffectFree(op))) || isOther) {
      finish();
      needsOne = false;
    }
    if (isWanted) {
      group.push_back(exp);
      behind.insert(exp.getResult());
    } else if (needsOne) {
      users.push_back(op);
      behind.insert(op->result_begin(), op->result_end());
    }
  }

  void finish() {
    if (!group.empty()) {
      Operation *last = group.back();
      Operation *end = last;
      for (Operation *user : users)
        if (user->isBeforeInBlock(last)) {
          user->moveAfter(end);
          end = user;
        }
      SmallVector<Value> numbers;
      for (math::ExpOp exp : group)
        numbers.push_back(exp.getOperand());
      OpBuilder builder(last);
      MathBuilder b(builder, last->getLoc(), /*avx512=*/true);
      for (auto [exp, result] : llvm::zip_equal(group, expTogether(b, numbers))) {
        exp.getResult().replaceAllUsesWith(result);
        exp.erase();
      }
    }
    group.clear();
    users.clear();
    behind.clear();
  }

  Block &block;
  SmallVector<math::ExpOp> group;
  SmallVector<Operation *> users;
  llvm::DenseSet<Value> behind; ///< what needs one of the group
};

struct ExpandMath : impl::ExpandMathPassBase<ExpandMath> {
  using ExpandMathPassBase::ExpandMathPassBase;

  /// Expansions use other functions and casts: what is inserted is looked at too.
  struct Worklist : OpBuilder::Listener {
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.insert(op); }
    llvm::SetVector<Operation *> ops;
  };

  void groupExponentials() {
    SmallVector<math::ExpOp> all;
    getOperation().walk([&](math::ExpOp exp) { all.push_back(exp); });
    llvm::SetVector<Block *> blocks;
    for (math::ExpOp exp : all) {
      blocks.insert(exp->getBlock());
      auto isNarrow = [](Type type) { return type.isBF16() || type.isF16(); };
      if (!hasElement(exp.getOperand(), isNarrow))
        continue;
      OpBuilder builder(exp);
      MathBuilder b(builder, exp.getLoc(), avx512);
      exp.replaceAllUsesWith(widen(b, exp, isNarrow));
      exp.erase();
    }
    for (Block *block : blocks)
      ExpGroups(*block).run();
  }

  void runOnOperation() override {
    if (avx512)
      getOperation().walk([](arith::BitcastOp head) { roundSquare(head); });
    if (avx512)
      groupExponentials();
    SmallVector<math::SinOp> sines;
    getOperation().walk([&](math::SinOp sine) { sines.push_back(sine); });
    llvm::for_each(sines, joinWaves);
    Worklist worklist;
    getOperation().walk([&](Operation *op) { worklist.ops.insert(op); });
    while (!worklist.ops.empty()) {
      Operation *op = worklist.ops.pop_back_val();
      OpBuilder builder(op, &worklist);
      MathBuilder b(builder, op->getLoc(), avx512);
      Value result = expand(b, op);
      if (!result)
        continue;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
};

} // namespace
} // namespace millrace::lowering
