// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.cpp - Unary, binary, compare, select, clamp ------------===//
// Integers wrap around; x / 0 is -1 (all bits set) and x % 0 is x; INT_MIN / -1 is INT_MIN; shifts by the width or more
// give 0 or copies of the sign. Floats are computed in double and rounded once; for f64 transcendental functions are
// computed in long double. Booleans: add is or, multiply is and.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace millrace::eval {

namespace {

using LongComplex = std::complex<long double>;

//===-- Integer functions --------------------------------------------------===//

int64_t divideInt(Kind kind, int64_t a, int64_t b) {
  if (b == 0) return -1;
  if (isUnsigned(kind)) return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  return a / b;
}
int64_t remainderInt(Kind kind, int64_t a, int64_t b) {
  if (b == 0) return a;
  if (isUnsigned(kind)) return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  return b == -1 ? 0 : a % b;
}
bool lessInt(Kind kind, int64_t a, int64_t b) {
  return isUnsigned(kind) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}
int64_t powerInt(Kind kind, int64_t base, int64_t exponent) {
  if (!isUnsigned(kind) && exponent < 0) {
    // 1 / base^|exponent|, truncated.
    if (base == 1) return 1;
    if (base == -1) return exponent & 1 ? -1 : 1;
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return static_cast<int64_t>(result);
}
uint64_t lowBits(Kind kind, int64_t a) { return static_cast<uint64_t>(a) & (~uint64_t(0) >> (64 - bitWidth(kind))); }
bool shiftsOut(Kind kind, int64_t amount) { return lowBits(kind, amount) >= bitWidth(kind); }

int64_t addInt(Kind kind, int64_t a, int64_t b) {
  return kind == Kind::I1 ? (a | b) : static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t subtractInt(Kind, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t multiplyInt(Kind, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t maximumInt(Kind kind, int64_t a, int64_t b) { return lessInt(kind, a, b) ? b : a; }
int64_t minimumInt(Kind kind, int64_t a, int64_t b) { return lessInt(kind, b, a) ? b : a; }
int64_t andInt(Kind, int64_t a, int64_t b) { return a & b; }
int64_t orInt(Kind, int64_t a, int64_t b) { return a | b; }
int64_t xorInt(Kind, int64_t a, int64_t b) { return a ^ b; }
int64_t shiftLeftInt(Kind kind, int64_t a, int64_t b) {
  return shiftsOut(kind, b) ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
}
int64_t shiftRightLogicalInt(Kind kind, int64_t a, int64_t b) {
  return shiftsOut(kind, b) ? 0 : static_cast<int64_t>(lowBits(kind, a) >> b);
}
int64_t shiftRightArithmeticInt(Kind kind, int64_t a, int64_t b) {
  // The sign is the top bit of the representation, for unsigned types, too.
  unsigned unused = 64 - bitWidth(kind);
  int64_t value = static_cast<int64_t>(static_cast<uint64_t>(a) << unused) >> unused;
  return value >> (shiftsOut(kind, b) ? bitWidth(kind) - 1 : b);
}

int64_t absInt(Kind, int64_t a) { return a < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a; }
int64_t negateInt(Kind, int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }
int64_t notInt(Kind, int64_t a) { return ~a; }
int64_t popcntInt(Kind kind, int64_t a) { return llvm::popcount(lowBits(kind, a)); }
int64_t countLeadingZerosInt(Kind kind, int64_t a) {
  return llvm::countl_zero(lowBits(kind, a)) - (64 - static_cast<int>(bitWidth(kind)));
}
int64_t signInt(Kind kind, int64_t a) { return isUnsigned(kind) ? a != 0 : (a > 0) - (a < 0); }

//===-- Float functions ----------------------------------------------------===//

double add(double a, double b) { return a + b; }
double subtract(double a, double b) { return a - b; }
double multiply(double a, double b) { return a * b; }
double divide(double a, double b) { return a / b; }
double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double sign(double a) { return std::isnan(a) || a == 0 ? a : std::copysign(1.0, a); }

template <typename T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
template <typename T>
T reciprocalSqrt(T x) {
  return T(1) / std::sqrt(x);
}
template <typename T>
std::complex<T> cbrtComplex(std::complex<T> z) {
  return std::pow(z, T(1) / T(3));
}

/// Computes exp(x) (cos y + i sin y). The result is NaN if y is infinite, also for infinite x, where std::exp has a zero or an infinity. Real numbers
/// stay real.
template <typename T>
std::complex<T> expComplex(std::complex<T> z) {
  T x = z.real(), y = z.imag();
  if (y == 0) return {std::exp(x), y};
  if (!std::isfinite(y)) return {y - y, y - y};
  return std::exp(z);
}
/// sin and cos of two infinite parts are NaN, because neither angle nor magnitude is defined; the C library returns an infinity.
template <typename T>
std::complex<T> sinComplex(std::complex<T> z) {
  if (std::isinf(z.real()) && std::isinf(z.imag())) return {z.real() - z.real(), z.real() - z.real()};
  return std::sin(z);
}
template <typename T>
std::complex<T> cosComplex(std::complex<T> z) {
  if (std::isinf(z.real()) && std::isinf(z.imag())) return {z.real() - z.real(), z.real() - z.real()};
  return std::cos(z);
}
/// Computes exp(z) - 1 without cancellation near 0: (expm1(x) cos y - 2 sin^2(y / 2)) + i exp(x) sin y.
template <typename T>
std::complex<T> expm1Complex(std::complex<T> z) {
  T x = z.real(), y = z.imag(), half = std::sin(y / 2);
  if (y == 0) return {std::expm1(x), y};
  if (std::isinf(x) || std::isnan(x) || !std::isfinite(y)) return expComplex(z) - T(1);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}
/// Computes log(1 + z); log|1 + z| is log1p(2x + x^2 + y^2) / 2 as long as that does not cancel.
template <typename T>
std::complex<T> log1pComplex(std::complex<T> z) {
  long double x = z.real(), y = z.imag();
  if (std::fabs(x) < 0.5L && std::fabs(y) < 0.5L)
    return {static_cast<T>(std::log1p(x * (2 + x) + y * y) / 2), static_cast<T>(std::atan2(y, 1 + x))};
  LongComplex result = std::log(LongComplex(1 + x, y));
  return {static_cast<T>(result.real()), static_cast<T>(result.imag())};
}
template <typename T>
std::complex<T> logisticComplex(std::complex<T> z) {
  return T(1) / (T(1) + expComplex(-z));
}
template <typename T>
std::complex<T> multiplyComplex(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename T>
std::complex<T> divideComplex(std::complex<T> a, std::complex<T> b) {
  long double c = b.real(), d = b.imag(), re = a.real(), im = a.imag(), norm = c * c + d * d;
  if (std::isfinite(norm) && norm > 0)
    return {static_cast<T>((re * c + im * d) / norm), static_cast<T>((im * c - re * d) / norm)};
  return a / b;
}
template <typename T>
std::complex<T> reciprocalSqrtComplex(std::complex<T> z) {
  return divideComplex(std::complex<T>(1), std::sqrt(z));
}
template <typename T>
std::complex<T> signComplex(std::complex<T> z) {
  T magnitude = std::hypot(z.real(), z.imag());
  if (std::isnan(magnitude)) return {magnitude, magnitude};
  return magnitude == 0 ? z : std::complex<T>(z.real() / magnitude, z.imag() / magnitude);
}
template <typename T>
std::complex<T> powerComplex(std::complex<T> a, std::complex<T> b) {
  if (b == std::complex<T>(0)) return T(1);
  if (a == std::complex<T>(0)) return b.real() > 0 ? std::complex<T>(0) : std::pow(a, b);
  return std::exp(multiplyComplex(b, std::log(a)));
}
template <typename T>
std::complex<T> atan2Complex(std::complex<T> y, std::complex<T> x) {
  // -i log((x + i y) / sqrt(x^2 + y^2))
  std::complex<T> i(0, 1), norm = std::sqrt(multiplyComplex(x, x) + multiplyComplex(y, y));
  std::complex<T> logarithm = std::log(divideComplex(x + multiplyComplex(i, y), norm));
  return {logarithm.imag(), -logarithm.real()};
}

//===-- Drivers ------------------------------------------------------------===//

using IntUnary = int64_t (*)(Kind, int64_t);
struct Unary {
  IntUnary ofInt = nullptr;
  double (*ofFloat)(double) = nullptr;
  long double (*ofLong)(long double) = nullptr; ///< used for f64 if the function is not exact in double
  Complex (*ofComplex)(Complex) = nullptr;
  LongComplex (*ofLongComplex)(LongComplex) = nullptr;
};
struct Binary {
  IntBinary ofInt = nullptr;
  FloatBinary ofFloat = nullptr;
  long double (*ofLong)(long double, long double) = nullptr;
  Complex (*ofComplex)(Complex, Complex) = nullptr;
  LongComplex (*ofLongComplex)(LongComplex, LongComplex) = nullptr;
};

Complex narrow(LongComplex z) { return {static_cast<double>(z.real()), static_cast<double>(z.imag())}; }

llvm::Error unary(Call &call, const Unary &f) {
  const Tensor &x = call.in(0);
  RankedTensorType type = call.typeWith(x.getShape());
  Kind kind = x.kind();
  if (isInteger(kind) && f.ofInt) {
    Ints lanes = x.ints();
    for (int64_t &lane : lanes) lane = f.ofInt(kind, lane);
    call.push(Tensor::ofInts(type, lanes));
  } else if (isFloat(kind) && f.ofFloat) {
    Floats lanes = x.floats();
    if (kind == Kind::F64 && f.ofLong)
      for (double &lane : lanes) lane = static_cast<double>(f.ofLong(lane));
    else
      for (double &lane : lanes) lane = f.ofFloat(lane);
    call.push(Tensor::ofFloats(type, lanes));
  } else if (isComplex(kind) && f.ofComplex) {
    Complexes lanes = x.complexes();
    if (kind == Kind::C128 && f.ofLongComplex)
      for (Complex &lane : lanes) lane = narrow(f.ofLongComplex(LongComplex(lane.real(), lane.imag())));
    else
      for (Complex &lane : lanes) lane = f.ofComplex(lane);
    call.push(Tensor::ofComplexes(type, lanes));
  } else {
    return call.error("has no meaning for " + toString(x.getType()));
  }
  return llvm::Error::success();
}

llvm::Error sameShapes(Call &call) {
  for (unsigned i = 1; i < call.numInputs(); ++i)
    if (call.in(i).getShape() != call.in(0).getShape())
      return call.error("expects operands of one shape, but got " + toString(call.in(0).getType()) + " and " +
                        toString(call.in(i).getType()));
  return llvm::Error::success();
}

llvm::Error binary(Call &call, const Binary &f) {
  if (llvm::Error error = sameShapes(call)) return error;
  const Tensor &x = call.in(0), &y = call.in(1);
  if (x.kind() != y.kind()) return call.error("expects operands of one element type");
  RankedTensorType type = call.typeWith(x.getShape());
  Kind kind = x.kind();
  int64_t count = x.size();
  if (isInteger(kind) && f.ofInt) {
    Ints a = x.ints(), b = y.ints();
    for (int64_t i = 0; i < count; ++i) a[i] = f.ofInt(kind, a[i], b[i]);
    call.push(Tensor::ofInts(type, a));
  } else if (isFloat(kind) && f.ofFloat) {
    Floats a = x.floats(), b = y.floats();
    if (kind == Kind::F64 && f.ofLong)
      for (int64_t i = 0; i < count; ++i) a[i] = static_cast<double>(f.ofLong(a[i], b[i]));
    else
      for (int64_t i = 0; i < count; ++i) a[i] = f.ofFloat(a[i], b[i]);
    call.push(Tensor::ofFloats(type, a));
  } else if (isComplex(kind) && f.ofComplex) {
    Complexes a = x.complexes(), b = y.complexes();
    if (kind == Kind::C128 && f.ofLongComplex)
      for (int64_t i = 0; i < count; ++i)
        a[i] = narrow(f.ofLongComplex(LongComplex(a[i].real(), a[i].imag()), LongComplex(b[i].real(), b[i].imag())));
    else
      for (int64_t i = 0; i < count; ++i) a[i] = f.ofComplex(a[i], b[i]);
    call.push(Tensor::ofComplexes(type, a));
  } else {
    return call.error("has no meaning for " + toString(x.getType()));
  }
  return llvm::Error::success();
}

bool lessComplex(Complex a, Complex b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

const llvm::StringMap<Unary> &unaryTable() {
  static const llvm::StringMap<Unary> table = [] {
    llvm::StringMap<Unary> t;
#define MATH(NAME)                                                                                                     \
  [](double x) -> double { return std::NAME(x); }, [](long double x) -> long double { return std::NAME(x); }
#define COMPLEX_MATH(NAME)                                                                                             \
  [](Complex x) -> Complex { return std::NAME(x); }, [](LongComplex x) -> LongComplex { return std::NAME(x); }
    t["stablehlo.negate"] = {negateInt, [](double x) { return -x; }, nullptr, [](Complex x) { return -x; }, nullptr};
    t["stablehlo.sign"] = {signInt, sign, nullptr, signComplex<double>, signComplex<long double>};
    t["stablehlo.not"] = {notInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.popcnt"] = {popcntInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.count_leading_zeros"] = {countLeadingZerosInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.ceil"] = {nullptr, [](double x) { return std::ceil(x); }, nullptr, nullptr, nullptr};
    t["stablehlo.floor"] = {nullptr, [](double x) { return std::floor(x); }, nullptr, nullptr, nullptr};
    t["stablehlo.round_nearest_afz"] = {nullptr, [](double x) { return std::round(x); }, nullptr, nullptr, nullptr};
    t["stablehlo.round_nearest_even"] = {nullptr, [](double x) { return std::nearbyint(x); }, nullptr, nullptr, nullptr};
    t["stablehlo.cbrt"] = {nullptr, MATH(cbrt), cbrtComplex<double>, cbrtComplex<long double>};
    t["stablehlo.cosine"] = {nullptr, MATH(cos), cosComplex<double>, cosComplex<long double>};
    t["stablehlo.sine"] = {nullptr, MATH(sin), sinComplex<double>, sinComplex<long double>};
    t["stablehlo.tan"] = {nullptr, MATH(tan), COMPLEX_MATH(tan)};
    t["stablehlo.tanh"] = {nullptr, MATH(tanh), COMPLEX_MATH(tanh)};
    t["stablehlo.exponential"] = {nullptr, MATH(exp), expComplex<double>, expComplex<long double>};
    t["stablehlo.log"] = {nullptr, MATH(log), COMPLEX_MATH(log)};
    t["stablehlo.sqrt"] = {nullptr, [](double x) { return std::sqrt(x); }, nullptr, COMPLEX_MATH(sqrt)};
    t["stablehlo.exponential_minus_one"] = {nullptr, MATH(expm1), expm1Complex<double>, expm1Complex<long double>};
    t["stablehlo.log_plus_one"] = {nullptr, MATH(log1p), log1pComplex<double>, log1pComplex<long double>};
    t["stablehlo.logistic"] = {nullptr, logistic<double>, logistic<long double>, logisticComplex<double>,
                               logisticComplex<long double>};
    t["stablehlo.rsqrt"] = {nullptr, reciprocalSqrt<double>, reciprocalSqrt<long double>,
                            reciprocalSqrtComplex<double>, reciprocalSqrtComplex<long double>};
#undef MATH
#undef COMPLEX_MATH
    return t;
  }();
  return table;
}

const llvm::StringMap<Binary> &binaryTable() {
  static const llvm::StringMap<Binary> table = [] {
    llvm::StringMap<Binary> t;
    t["stablehlo.add"] = {addInt, add, nullptr, [](Complex a, Complex b) { return a + b; }, nullptr};
    t["stablehlo.subtract"] = {subtractInt, subtract, nullptr, [](Complex a, Complex b) { return a - b; }, nullptr};
    t["stablehlo.multiply"] = {multiplyInt, multiply, nullptr, multiplyComplex<double>, multiplyComplex<long double>};
    t["stablehlo.divide"] = {divideInt, divide, nullptr, divideComplex<double>, divideComplex<long double>};
    t["stablehlo.remainder"] = {remainderInt, [](double a, double b) { return std::fmod(a, b); }, nullptr, nullptr,
                                nullptr};
    t["stablehlo.maximum"] = {maximumInt, maximum, nullptr,
                              [](Complex a, Complex b) { return lessComplex(a, b) ? b : a; }, nullptr};
    t["stablehlo.minimum"] = {minimumInt, minimum, nullptr,
                              [](Complex a, Complex b) { return lessComplex(b, a) ? b : a; }, nullptr};
    t["stablehlo.power"] = {powerInt, [](double a, double b) { return std::pow(a, b); },
                            [](long double a, long double b) { return std::pow(a, b); }, powerComplex<double>,
                            powerComplex<long double>};
    t["stablehlo.atan2"] = {nullptr, [](double a, double b) { return std::atan2(a, b); },
                            [](long double a, long double b) { return std::atan2(a, b); }, atan2Complex<double>,
                            atan2Complex<long double>};
    t["stablehlo.and"] = {andInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.or"] = {orInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.xor"] = {xorInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.shift_left"] = {shiftLeftInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.shift_right_logical"] = {shiftRightLogicalInt, nullptr, nullptr, nullptr, nullptr};
    t["stablehlo.shift_right_arithmetic"] = {shiftRightArithmeticInt, nullptr, nullptr, nullptr, nullptr};
    return t;
  }();
  return table;
}

llvm::Error evalUnary(Call &call) { return unary(call, unaryTable().find(call.op->getName().getStringRef())->second); }
llvm::Error evalBinary(Call &call) {
  return binary(call, binaryTable().find(call.op->getName().getStringRef())->second);
}

llvm::Error evalAbs(Call &call) {
  const Tensor &x = call.in(0);
  if (isComplex(x.kind())) {
    Floats lanes;
    for (Complex z : x.complexes()) {
      long double magnitude = hypotl(z.real(), z.imag());
      lanes.push_back(static_cast<double>(magnitude));
    }
    call.push(Tensor::ofFloats(call.typeWith(x.getShape()), lanes));
    return llvm::Error::success();
  }
  return unary(call, {absInt, [](double v) { return std::fabs(v); }, nullptr, nullptr, nullptr});
}

llvm::Error evalIsFinite(Call &call) {
  Ints lanes;
  for (double lane : call.in(0).floats()) lanes.push_back(std::isfinite(lane));
  call.push(Tensor::ofInts(call.typeWith(call.in(0).getShape()), lanes));
  return llvm::Error::success();
}

llvm::Error evalReal(Call &call) {
  const Tensor &x = call.in(0);
  if (!isComplex(x.kind())) {
    call.push(x);
    return llvm::Error::success();
  }
  Floats lanes;
  for (Complex z : x.complexes()) lanes.push_back(z.real());
  call.push(Tensor::ofFloats(call.typeWith(x.getShape()), lanes));
  return llvm::Error::success();
}

llvm::Error evalImag(Call &call) {
  const Tensor &x = call.in(0);
  if (!isComplex(x.kind())) {
    call.push(Tensor(call.typeWith(x.getShape())));
    return llvm::Error::success();
  }
  Floats lanes;
  for (Complex z : x.complexes()) lanes.push_back(z.imag());
  call.push(Tensor::ofFloats(call.typeWith(x.getShape()), lanes));
  return llvm::Error::success();
}

llvm::Error evalComplex(Call &call) {
  if (llvm::Error error = sameShapes(call)) return error;
  Floats re = call.in(0).floats(), im = call.in(1).floats();
  Complexes lanes;
  for (auto [a, b] : llvm::zip(re, im)) lanes.push_back({a, b});
  call.push(Tensor::ofComplexes(call.typeWith(call.in(0).getShape()), lanes));
  return llvm::Error::success();
}

//===-- compare, select, clamp ---------------------------------------------===//

/// Orders bits as IEEE 754 totalOrder: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN. The NaN of a type without -0 has the bits of -0 and is
/// negative. Without signs, bits are ordered as unsigned integers.
int64_t totalOrderKey(const Tensor &tensor, int64_t i) {
  unsigned width = bitWidth(tensor.kind());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.at(i), tensor.elementBytes());
  if (tensor.kind() == Kind::F8E8M0FNU) return static_cast<int64_t>(bits);
  if (const FloatFormat *format = formatOf(tensor.kind()); format && !format->negativeZero && bits == static_cast<uint64_t>(format->nan))
    return std::numeric_limits<int64_t>::min();
  bits <<= 64 - width;
  int64_t key = static_cast<int64_t>(bits);
  return key < 0 ? static_cast<int64_t>(~bits ^ (uint64_t(1) << 63)) : key;
}

/// Orders numbers with both zeros equal, and all NaNs equal and after the numbers.
int64_t weakOrderKey(const Tensor &tensor, int64_t i) {
  double number = tensor.getFloat(i);
  if (std::isnan(number)) return std::numeric_limits<int64_t>::max();
  return number == 0 ? 0 : totalOrderKey(tensor, i);
}

template <typename T>
bool holds(stablehlo::ComparisonDirection direction, T a, T b) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ: return a == b;
  case stablehlo::ComparisonDirection::NE: return a != b;
  case stablehlo::ComparisonDirection::GE: return a >= b;
  case stablehlo::ComparisonDirection::GT: return a > b;
  case stablehlo::ComparisonDirection::LE: return a <= b;
  case stablehlo::ComparisonDirection::LT: return a < b;
  }
  llvm_unreachable("all directions handled");
}

llvm::Error evalCompare(Call &call) {
  if (llvm::Error error = sameShapes(call)) return error;
  const Tensor &x = call.in(0), &y = call.in(1);
  if (x.kind() != y.kind()) return call.error("expects operands of one element type");
  auto direction = call.op->getAttrOfType<stablehlo::ComparisonDirectionAttr>("comparison_direction").getValue();
  auto typeAttr = call.op->getAttrOfType<stablehlo::ComparisonTypeAttr>("compare_type");
  bool total = typeAttr && typeAttr.getValue() == stablehlo::ComparisonType::TOTALORDER;
  bool weak = typeAttr && typeAttr.getValue() == stablehlo::ComparisonType::WEAKORDER;
  int64_t count = x.size();
  Tensor result(call.typeWith(x.getShape()));
  char *out = result.mutableData();
  Kind kind = x.kind();
  for (int64_t i = 0; i < count; ++i) {
    if (isInteger(kind) && isUnsigned(kind))
      out[i] = holds(direction, static_cast<uint64_t>(x.getInt(i)), static_cast<uint64_t>(y.getInt(i)));
    else if (isInteger(kind))
      out[i] = holds(direction, x.getInt(i), y.getInt(i));
    else if (isFloat(kind) && total)
      out[i] = holds(direction, totalOrderKey(x, i), totalOrderKey(y, i));
    else if (isFloat(kind) && weak)
      out[i] = holds(direction, weakOrderKey(x, i), weakOrderKey(y, i));
    else if (isFloat(kind))
      out[i] = holds(direction, x.getFloat(i), y.getFloat(i));
    else if (direction == stablehlo::ComparisonDirection::EQ)
      out[i] = x.getComplex(i) == y.getComplex(i);
    else if (direction == stablehlo::ComparisonDirection::NE)
      out[i] = x.getComplex(i) != y.getComplex(i);
    else
      return call.error("complex numbers have no order");
  }
  call.push(std::move(result));
  return llvm::Error::success();
}

llvm::Error evalSelect(Call &call) {
  const Tensor &pred = call.in(0), &onTrue = call.in(1), &onFalse = call.in(2);
  if (onTrue.getShape() != onFalse.getShape() || onTrue.kind() != onFalse.kind() ||
      (pred.rank() != 0 && pred.getShape() != onTrue.getShape()))
    return call.error("expects operands of one type and a predicate of their shape or of rank 0");
  Tensor result(call.typeWith(onTrue.getShape()));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  bool scalar = pred.rank() == 0;
  for (int64_t i = 0, e = result.size(); i < e; ++i)
    std::memcpy(out + i * width, (pred.getInt(scalar ? 0 : i) ? onTrue : onFalse).at(i), width);
  call.push(std::move(result));
  return llvm::Error::success();
}

llvm::Error evalClamp(Call &call) {
  const Tensor &low = call.in(0), &x = call.in(1), &high = call.in(2);
  for (const Tensor *bound : {&low, &high})
    if ((bound->rank() != 0 && bound->getShape() != x.getShape()) || bound->kind() != x.kind())
      return call.error("expects bounds of the operand's element type, and of its shape or of rank 0");
  RankedTensorType type = call.typeWith(x.getShape());
  int64_t count = x.size();
  Kind kind = x.kind();
  auto at = [](const Tensor &t, int64_t i) { return t.rank() == 0 ? 0 : i; };
  if (isInteger(kind)) {
    Ints lanes(count);
    for (int64_t i = 0; i < count; ++i)
      lanes[i] = minimumInt(kind, maximumInt(kind, x.getInt(i), low.getInt(at(low, i))), high.getInt(at(high, i)));
    call.push(Tensor::ofInts(type, lanes));
  } else if (isFloat(kind)) {
    Floats lanes(count);
    for (int64_t i = 0; i < count; ++i)
      lanes[i] = minimum(maximum(x.getFloat(i), low.getFloat(at(low, i))), high.getFloat(at(high, i)));
    call.push(Tensor::ofFloats(type, lanes));
  } else {
    Complexes lanes(count);
    for (int64_t i = 0; i < count; ++i) {
      Complex a = low.getComplex(at(low, i)), b = high.getComplex(at(high, i)), v = x.getComplex(i);
      v = lessComplex(v, a) ? a : v;
      lanes[i] = lessComplex(b, v) ? b : v;
    }
    call.push(Tensor::ofComplexes(type, lanes));
  }
  return llvm::Error::success();
}

} // namespace

IntBinary intBinaryOf(Operation *op) {
  auto it = binaryTable().find(op->getName().getStringRef());
  return it == binaryTable().end() ? nullptr : it->second.ofInt;
}
FloatBinary floatBinaryOf(Operation *op) {
  // Only functions that are exact in double for every float type are returned.
  auto it = binaryTable().find(op->getName().getStringRef());
  return it == binaryTable().end() || it->second.ofLong ? nullptr : it->second.ofFloat;
}

void addElementwise(Dispatch &dispatch) {
  for (const auto &entry : unaryTable()) dispatch.add(entry.first(), evalUnary, Quantization::Expressed);
  for (const auto &entry : binaryTable()) dispatch.add(entry.first(), evalBinary, Quantization::Expressed);
  dispatch.add("stablehlo.abs", evalAbs, Quantization::Expressed);
  dispatch.add("stablehlo.is_finite", evalIsFinite, Quantization::Expressed);
  dispatch.add("stablehlo.real", evalReal);
  dispatch.add("stablehlo.imag", evalImag);
  dispatch.add("stablehlo.complex", evalComplex);
  dispatch.add("stablehlo.compare", evalCompare, Quantization::Expressed);
  dispatch.add("stablehlo.select", evalSelect);
  dispatch.add("stablehlo.clamp", evalClamp, Quantization::Expressed);
}

} // namespace millrace::eval
