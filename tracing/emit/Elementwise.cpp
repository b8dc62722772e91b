// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.cpp - Operators on elements at equal positions ----------===//
// bf16 and f16 are computed in f32 and rounded once, as in PyTorch's CPU kernels. Operands are converted to the type of the result first, and so are
// numbers: x + 257 adds 256 to a bf16 tensor. Products and quotients use numbers unrounded.
#include "tracing/emit/Emit.h"
#include "tracing/emit/Gamma.h"
#include "tracing/emit/Matrices.h"

#include <cmath>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

/// Returns an argument in the shape and type in which this call computes its first result.
Val math(const Call &c, size_t index) {
  const DType type = c.out().dtype;
  Val value = c.val(index);
  if (value && runtime::isComplex(value.dtype()) == runtime::isComplex(type))
    value = c.e.convert(value, type);
  return c.e.broadcast(c.e.convert(value, mathType(type)), c.out().dims);
}
/// Does the same, but does not round a number, or a tensor of rank 0, to the type of the result.
Val exact(const Call &c, size_t index) {
  Val value = c.val(index);
  return value.rank() ? math(c, index) : c.e.broadcast(c.e.convert(value, mathType(c.out().dtype)), c.out().dims);
}
Vals done(const Call &c, const Val &value) { return {c.e.convert(value, c.out().dtype)}; }

void unary(Registry &r, std::initializer_list<const char *> names, std::string op) {
  r.add(names, [op](const Call &c) { return done(c, c.e.op(op, {math(c, 0)})); });
}
void unaryFn(Registry &r, std::initializer_list<const char *> names, std::function<Val(Emitter &, Val)> fn) {
  r.add(names, [fn](const Call &c) { return done(c, fn(c.e, math(c, 0))); });
}
using Reader = Val (*)(const Call &, size_t);
void binaryFn(Registry &r, std::initializer_list<const char *> names, std::function<Val(Emitter &, Val, Val)> fn,
              Reader left = math, Reader right = math, bool numbersAreStatic = false) {
  r.add(names, [=](const Call &c) { return done(c, fn(c.e, left(c, 0), right(c, 1))); }, numbersAreStatic);
}

Val scaled(const Call &c, size_t index, size_t factor) {
  Val value = math(c, index);
  if (!c.has(factor))
    return value;
  if (std::holds_alternative<int64_t>(c.args[factor]) && c.integer(factor) == 1)
    return value;
  return c.e.mul(value, exact(c, factor));
}

void comparison(Registry &r, const char *tensor, const char *scalar, std::string direction) {
  r.add({tensor, scalar}, [direction](const Call &c) -> Vals {
    Val a = c.val(0), b = c.val(1);
    DType type = commonType({a, b});
    if (runtime::isComplex(type) && direction != "EQ" && direction != "NE")
      return {c.e.fail("complex numbers have no order")};
    a = c.e.broadcast(c.e.convert(a, type), c.out().dims);
    b = c.e.broadcast(c.e.convert(b, type), c.out().dims);
    return {c.e.compare(a, b, direction)};
  });
}

Val truth(Emitter &e, const Val &value) {
  return value && value.dtype() != DType::I1 ? e.compare(value, e.like(value, 0), "NE") : value;
}

void logical(Registry &r, const char *name, std::string op) {
  r.add({name}, [op](const Call &c) -> Vals {
    Val a = c.e.broadcast(truth(c.e, c.val(0)), c.out().dims), b = c.e.broadcast(truth(c.e, c.val(1)), c.out().dims);
    return {c.e.op(op, {a, b})};
  });
}

/// Divides floats or integers and rounds towards minus infinity.
Val floorDivide(Emitter &e, const Val &a, const Val &b) {
  if (!a)
    return a;
  if (runtime::isFloat(a.dtype())) {
    // The quotient is computed from the exact remainder, as in PyTorch, so that 1 / 0.1 gives 9, although the rounded quotient is 10.
    Val rest = e.op("stablehlo.remainder", {a, b}), zero = e.like(a, 0), one = e.like(a, 1);
    Val quotient = e.div(e.sub(a, rest), b);
    Val differs = e.op("stablehlo.and", {e.compare(rest, zero, "NE"), e.op("stablehlo.xor", {e.compare(b, zero, "LT"), e.compare(rest, zero, "LT")})});
    quotient = e.select(differs, e.sub(quotient, one), quotient);
    Val low = e.op("stablehlo.floor", {quotient});
    low = e.select(e.compare(e.sub(quotient, low), e.like(a, 0.5), "GT"), e.add(low, one), low);
    return e.select(e.compare(b, zero, "EQ"), e.div(a, b), low);
  }
  if (!runtime::isSigned(a.dtype()))
    return e.div(a, b);
  Val quotient = e.div(a, b), rest = e.sub(a, e.mul(quotient, b)), zero = e.like(a, 0);
  Val down = e.op("stablehlo.and", {e.compare(rest, zero, "NE"),
                                    e.op("stablehlo.xor", {e.compare(rest, zero, "LT"), e.compare(b, zero, "LT")})});
  return e.select(down, e.sub(quotient, e.like(a, 1)), quotient);
}

Val remainder(Emitter &e, const Val &a, const Val &b) {
  Val rest = e.op("stablehlo.remainder", {a, b});
  if (!rest || (!runtime::isFloat(a.dtype()) && !runtime::isSigned(a.dtype())))
    return rest;
  Val zero = e.like(a, 0);
  Val wrongSide = e.op("stablehlo.and", {e.compare(rest, zero, "NE"), e.op("stablehlo.xor", {e.compare(rest, zero, "LT"), e.compare(b, zero, "LT")})});
  return e.select(wrongSide, e.add(rest, b), rest);
}

Val truncate(Emitter &e, const Val &x) {
  if (!x || !runtime::isFloat(x.dtype()))
    return x;
  return e.select(e.compare(x, e.like(x, 0), "LT"), e.op("stablehlo.ceil", {x}), e.op("stablehlo.floor", {x}));
}

Val sigmoid(Emitter &e, const Val &x) { return e.op("stablehlo.logistic", {x}); }

/// Computes the distribution function of the standard normal distribution.
Val phi(Emitter &e, const Val &x) {
  return e.mul(e.like(x, 0.5), e.add(e.like(x, 1), e.op("chlo.erf", {e.mul(x, e.like(x, M_SQRT1_2))})));
}
Val tanhInner(Emitter &e, const Val &x) {
  Val cube = e.mul(e.mul(x, x), x);
  return e.mul(e.like(x, M_SQRT2 * M_2_SQRTPI * 0.5), e.add(x, e.mul(e.like(x, 0.044715), cube)));
}

Vals gelu(const Call &c) {
  Val x = math(c, 0);
  if (c.text(1) != "tanh")
    return done(c, c.e.mul(x, phi(c.e, x)));
  Val t = c.e.op("stablehlo.tanh", {tanhInner(c.e, x)});
  return done(c, c.e.mul(c.e.mul(c.e.like(x, 0.5), x), c.e.add(c.e.like(x, 1), t)));
}

Vals geluBackward(const Call &c) {
  Emitter &e = c.e;
  Val grad = math(c, 0), x = math(c, 1);
  if (c.text(2) != "tanh") {
    Val density = e.mul(e.op("stablehlo.exponential", {e.mul(e.mul(x, x), e.like(x, -0.5))}), e.like(x, M_2_SQRTPI * M_SQRT1_2 * 0.5));
    return done(c, e.mul(grad, e.add(phi(e, x), e.mul(x, density))));
  }
  Val t = e.op("stablehlo.tanh", {tanhInner(e, x)}), one = e.like(x, 1), half = e.like(x, 0.5);
  Val inner = e.mul(e.like(x, M_SQRT2 * M_2_SQRTPI * 0.5), e.add(one, e.mul(e.like(x, 3 * 0.044715), e.mul(x, x))));
  Val left = e.mul(half, e.add(one, t)), right = e.mul(e.mul(e.mul(half, x), e.sub(one, e.mul(t, t))), inner);
  return done(c, e.mul(grad, e.add(left, right)));
}

Vals clamp(const Call &c) {
  Val x = math(c, 0);
  if (c.has(1))
    x = c.e.op("stablehlo.maximum", {x, math(c, 1)});
  if (c.has(2))
    x = c.e.op("stablehlo.minimum", {x, math(c, 2)});
  return done(c, x);
}

Vals power(const Call &c) {
  Emitter &e = c.e;
  Val base = math(c, 0);
  bool constant = c.args.size() > 1 && (std::holds_alternative<double>(c.args[1]) || std::holds_alternative<int64_t>(c.args[1]));
  double exponent = constant ? c.real(1) : 0;
  if (constant && exponent == 2)
    return done(c, e.mul(base, base));
  if (constant && exponent == 3)
    return done(c, e.mul(e.mul(base, base), base));
  if (constant && exponent == 1)
    return done(c, base);
  if (base && runtime::isFloat(base.dtype())) {
    if (constant && exponent == 0.5)
      return done(c, e.op("stablehlo.sqrt", {base}));
    if (constant && exponent == -0.5)
      return done(c, e.op("stablehlo.rsqrt", {base}));
    if (constant && exponent == -1)
      return done(c, e.div(e.like(base, 1), base));
  }
  return done(c, e.op("stablehlo.power", {base, math(c, 1)}));
}

Vals division(const Call &c) {
  std::string mode = c.text(2);
  Val a = math(c, 0), b = exact(c, 1);
  if (mode == "floor")
    return done(c, floorDivide(c.e, a, b));
  Val quotient = c.e.div(a, b);
  return done(c, mode == "trunc" ? truncate(c.e, quotient) : quotient);
}

Vals where(const Call &c) {
  Val condition = c.e.broadcast(truth(c.e, c.val(0)), c.out().dims);
  DType type = c.out().dtype;
  return {c.e.select(condition, c.e.broadcast(c.e.convert(c.val(1), type), c.out().dims),
                     c.e.broadcast(c.e.convert(c.val(2), type), c.out().dims))};
}

Vals maskedFill(const Call &c) {
  Val mask = c.e.broadcast(truth(c.e, c.val(1)), c.out().dims);
  DType type = c.out().dtype;
  return {c.e.select(mask, c.e.broadcast(c.e.convert(c.val(2), type), c.out().dims),
                     c.e.broadcast(c.e.convert(c.val(0), type), c.out().dims))};
}

Vals lerp(const Call &c) {
  Emitter &e = c.e;
  Val a = math(c, 0), b = math(c, 1), weight = exact(c, 2), difference = e.sub(b, a);
  Val size = e.op("stablehlo.abs", {weight}), near = e.compare(size, e.like(size, 0.5), "LT");
  return done(c, e.select(near, e.add(a, e.mul(weight, difference)),
                          e.sub(b, e.mul(difference, e.sub(e.like(weight, 1), weight)))));
}

void registerUnary(Registry &r) {
  unary(r, {"exp"}, "stablehlo.exponential");
  unary(r, {"expm1"}, "stablehlo.exponential_minus_one");
  unary(r, {"log"}, "stablehlo.log");
  unary(r, {"log1p"}, "stablehlo.log_plus_one");
  unary(r, {"sqrt"}, "stablehlo.sqrt");
  unary(r, {"rsqrt"}, "stablehlo.rsqrt");
  unary(r, {"tanh"}, "stablehlo.tanh");
  unary(r, {"sigmoid"}, "stablehlo.logistic");
  unary(r, {"sin"}, "stablehlo.sine");
  unary(r, {"cos"}, "stablehlo.cosine");
  unary(r, {"tan"}, "stablehlo.tan");
  unary(r, {"neg"}, "stablehlo.negate");
  for (const char *name : {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "erf", "erfc", "lgamma"})
    unary(r, {name}, std::string("chlo.") + name);
  unaryFn(r, {"digamma"}, [](Emitter &e, Val x) { return digamma(e, x); });
  unary(r, {"erfinv"}, "chlo.erf_inv");
  unaryFn(r, {"log2"}, [](Emitter &e, Val x) { return e.mul(e.op("stablehlo.log", {x}), e.like(x, M_LOG2E)); });
  unaryFn(r, {"log10"}, [](Emitter &e, Val x) { return e.mul(e.op("stablehlo.log", {x}), e.like(x, M_LOG10E)); });
  unaryFn(r, {"exp2"}, [](Emitter &e, Val x) { return e.op("stablehlo.power", {e.like(x, 2), x}); });
  unaryFn(r, {"reciprocal"}, [](Emitter &e, Val x) { return e.div(e.like(x, 1), x); });
  unaryFn(r, {"relu"}, [](Emitter &e, Val x) { return e.op("stablehlo.maximum", {x, e.like(x, 0)}); });
  unaryFn(r, {"silu"}, [](Emitter &e, Val x) { return e.mul(x, sigmoid(e, x)); });
  unaryFn(r, {"trunc"}, truncate);
  unaryFn(r, {"square"}, [](Emitter &e, Val x) { return e.mul(x, x); });
  r.add({"abs"}, [](const Call &c) -> Vals {
    Val x = c.val(0);
    if (x && (runtime::isFloat(x.dtype()) || runtime::isSigned(x.dtype()) || runtime::isComplex(x.dtype())))
      return {c.e.op("stablehlo.abs", {x})};
    return {x};
  });
  unaryFn(r, {"sign", "sgn"}, [](Emitter &e, Val x) {
    if (!x || runtime::isFloat(x.dtype()) || runtime::isSigned(x.dtype()) || runtime::isComplex(x.dtype()))
      return e.op("stablehlo.sign", {x});
    return e.convert(e.compare(x, e.like(x, 0), "NE"), x.dtype());
  });
  for (auto [name, op] : {std::pair{"ceil", "stablehlo.ceil"}, {"floor", "stablehlo.floor"}, {"round", "stablehlo.round_nearest_even"}})
    unaryFn(r, {name}, [op = std::string(op)](Emitter &e, Val x) {
      return x && runtime::isFloat(x.dtype()) ? e.op(op, {x}) : x;
    });
  r.add({"isnan"}, [](const Call &c) -> Vals { Val x = c.val(0); return {c.e.compare(x, x, "NE")}; });
  r.add({"isinf"}, [](const Call &c) -> Vals {
    Val x = c.val(0);
    auto isInfinite = [&](const Val &v) { return c.e.compare(c.e.op("stablehlo.abs", {v}), c.e.like(v, INFINITY), "EQ"); };
    if (x && runtime::isComplex(x.dtype()))
      return {c.e.op("stablehlo.or", {isInfinite(c.e.op("stablehlo.real", {x})), isInfinite(c.e.op("stablehlo.imag", {x}))})};
    if (!x || !runtime::isFloat(x.dtype()))
      return {c.e.constant(int64_t(0), c.out())};
    return {isInfinite(x)};
  });
  r.add({"isfinite"}, [](const Call &c) -> Vals {
    Val x = c.val(0);
    if (x && runtime::isComplex(x.dtype()))
      return {c.e.op("stablehlo.and", {c.e.op("stablehlo.is_finite", {c.e.op("stablehlo.real", {x})}),
                                       c.e.op("stablehlo.is_finite", {c.e.op("stablehlo.imag", {x})})})};
    if (!x || !runtime::isFloat(x.dtype()))
      return {c.e.constant(int64_t(1), c.out())};
    return {c.e.op("stablehlo.is_finite", {x})};
  });
  r.add({"signbit"}, [](const Call &c) -> Vals {
    Val x = c.val(0);
    if (!x || !runtime::isFloat(x.dtype()))
      return {c.e.compare(x, c.e.like(x, 0), "LT")};
    x = c.e.convert(x, mathType(x.dtype()));
    Val raw = c.e.op("stablehlo.bitcast_convert", {x}, {}, Shape{x.dtype() == DType::F64 ? DType::I64 : DType::I32, x.dims()});
    return {c.e.compare(raw, c.e.constant(int64_t(0), raw.shape), "LT")};
  });
  r.add({"logical_not"}, [](const Call &c) -> Vals { return {c.e.op("stablehlo.not", {truth(c.e, c.val(0))})}; });
  r.add({"bitwise_not"}, [](const Call &c) -> Vals { return {c.e.op("stablehlo.not", {c.val(0)})}; });
  r.add({"gelu"}, gelu);
  r.add({"gelu_backward"}, geluBackward);
}

void registerBinary(Registry &r) {
  auto addLike = [](std::string op) {
    return [op](const Call &c) { return done(c, c.e.op(op, {math(c, 0), scaled(c, 1, 2)})); };
  };
  r.add({"add.Tensor", "add.Scalar"}, [](const Call &c) {
    bool isBool = c.out().dtype == DType::I1;
    return done(c, c.e.op(isBool ? "stablehlo.or" : "stablehlo.add", {math(c, 0), scaled(c, 1, 2)}));
  });
  r.add({"sub.Tensor", "sub.Scalar"}, addLike("stablehlo.subtract"));
  r.add({"rsub.Tensor", "rsub.Scalar"}, [](const Call &c) {
    return done(c, c.e.sub(math(c, 1), scaled(c, 0, 2)));
  });
  binaryFn(r, {"mul.Tensor", "mul.Scalar"}, [](Emitter &e, Val a, Val b) {
    return e.op(a && a.dtype() == DType::I1 ? "stablehlo.and" : "stablehlo.multiply", {a, b});
  }, exact, exact);
  r.add({"div.Tensor", "div.Scalar", "div.Tensor_mode", "div.Scalar_mode"}, division);
  binaryFn(r, {"floor_divide", "floor_divide.Scalar"}, floorDivide, math, exact);
  binaryFn(r, {"remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor"}, remainder);
  binaryFn(r, {"fmod.Tensor", "fmod.Scalar"}, [](Emitter &e, Val a, Val b) { return e.op("stablehlo.remainder", {a, b}); });
  binaryFn(r, {"maximum"}, [](Emitter &e, Val a, Val b) { return e.op("stablehlo.maximum", {a, b}); });
  binaryFn(r, {"minimum"}, [](Emitter &e, Val a, Val b) { return e.op("stablehlo.minimum", {a, b}); });
  binaryFn(r, {"atan2"}, [](Emitter &e, Val a, Val b) { return e.op("stablehlo.atan2", {a, b}); });
  for (bool isMax : {true, false}) // unlike maximum, the result is NaN only if both operands are
    binaryFn(r, {isMax ? "fmax" : "fmin"}, [isMax](Emitter &e, Val a, Val b) {
      Val made = e.op(isMax ? "stablehlo.maximum" : "stablehlo.minimum", {a, b});
      if (!made || !runtime::isFloat(a.dtype()))
        return made;
      return e.select(e.compare(a, a, "NE"), b, e.select(e.compare(b, b, "NE"), a, made));
    });
  binaryFn(r, {"copysign.Tensor", "copysign.Scalar"}, [](Emitter &e, Val a, Val b) {
    if (!a || !b)
      return Val();
    DType bits = a.dtype() == DType::F64 ? DType::I64 : DType::I32;
    Val raw = e.op("stablehlo.bitcast_convert", {b}, {}, Shape{bits, b.dims()});
    Val size = e.op("stablehlo.abs", {a});
    return e.select(e.compare(raw, e.constant(int64_t(0), raw.shape), "LT"), e.neg(size), size);
  });
  binaryFn(r, {"hypot"}, [](Emitter &e, Val a, Val b) {
    Val x = e.op("stablehlo.abs", {a}), y = e.op("stablehlo.abs", {b});
    Val high = e.op("stablehlo.maximum", {x, y}), low = e.op("stablehlo.minimum", {x, y});
    Val ratio = e.select(e.compare(high, low, "EQ"), e.like(high, 1), e.div(low, high));
    Val size = e.mul(high, e.op("stablehlo.sqrt", {e.add(e.like(high, 1), e.mul(ratio, ratio))}));
    return e.select(e.compare(high, e.like(high, 0), "EQ"), high, size);
  });
  binaryFn(r, {"nextafter"}, [](Emitter &e, Val a, Val b) { return e.op("chlo.next_after", {a, b}); });
  r.add({"pow.Tensor_Scalar"}, power, /*numbersAreStatic=*/true);
  r.add({"pow.Tensor_Tensor", "pow.Scalar"}, power);
  // Masks and distances of shifts say which bits are codes, from which kernels are chosen.
  for (auto [names, op] : {std::pair{std::pair{"bitwise_and.Tensor", "bitwise_and.Scalar"}, "stablehlo.and"},
                           {{"bitwise_or.Tensor", "bitwise_or.Scalar"}, "stablehlo.or"},
                           {{"bitwise_xor.Tensor", "bitwise_xor.Scalar"}, "stablehlo.xor"}})
    binaryFn(r, {names.first, names.second}, [op = std::string(op)](Emitter &e, Val a, Val b) { return e.op(op, {a, b}); }, math, math, /*numbersAreStatic=*/true);
  binaryFn(r, {"bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar", "__lshift__.Scalar", "__lshift__.Tensor"},
           [](Emitter &e, Val a, Val b) { return e.op("stablehlo.shift_left", {a, b}); }, math, math, /*numbersAreStatic=*/true);
  binaryFn(r, {"bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar", "__rshift__.Scalar", "__rshift__.Tensor"},
           [](Emitter &e, Val a, Val b) {
             return e.op(a && runtime::isSigned(a.dtype()) ? "stablehlo.shift_right_arithmetic" : "stablehlo.shift_right_logical", {a, b});
           }, math, math, /*numbersAreStatic=*/true);
  comparison(r, "eq.Tensor", "eq.Scalar", "EQ");
  comparison(r, "ne.Tensor", "ne.Scalar", "NE");
  comparison(r, "lt.Tensor", "lt.Scalar", "LT");
  comparison(r, "le.Tensor", "le.Scalar", "LE");
  comparison(r, "gt.Tensor", "gt.Scalar", "GT");
  comparison(r, "ge.Tensor", "ge.Scalar", "GE");
  logical(r, "logical_and", "stablehlo.and");
  logical(r, "logical_or", "stablehlo.or");
  logical(r, "logical_xor", "stablehlo.xor");
}

void registerGradients(Registry &r) {
  binaryFn(r, {"tanh_backward"}, [](Emitter &e, Val g, Val y) { return e.mul(g, matrices::conj(e, e.sub(e.like(y, 1), e.mul(y, y)))); });
  binaryFn(r, {"sigmoid_backward"}, [](Emitter &e, Val g, Val y) { return e.mul(g, matrices::conj(e, e.mul(e.sub(e.like(y, 1), y), y))); });
  binaryFn(r, {"silu_backward"}, [](Emitter &e, Val g, Val x) {
    Val s = sigmoid(e, x), one = e.like(x, 1);
    return e.mul(g, e.mul(s, e.add(one, e.mul(x, e.sub(one, s)))));
  });
  r.add({"threshold_backward"}, [](const Call &c) {
    Val grad = math(c, 0), x = math(c, 1), limit = math(c, 2);
    return done(c, c.e.select(c.e.compare(x, limit, "LE"), c.e.like(grad, 0), grad));
  });
}

} // namespace

void registerElementwise(Registry &r) {
  registerUnary(r);
  registerBinary(r);
  registerGradients(r);
  r.add({"clamp", "clamp.Tensor"}, clamp);
  r.add({"clamp_min", "clamp_min.Tensor"}, [](const Call &c) {
    return done(c, c.e.op("stablehlo.maximum", {math(c, 0), math(c, 1)}));
  });
  r.add({"clamp_max", "clamp_max.Tensor"}, [](const Call &c) {
    return done(c, c.e.op("stablehlo.minimum", {math(c, 0), math(c, 1)}));
  });
  r.add({"hardtanh"}, clamp);
  r.add({"complex"}, [](const Call &c) -> Vals {
    return {c.e.op("stablehlo.complex", {c.e.broadcast(c.val(0), c.out().dims), c.e.broadcast(c.val(1), c.out().dims)})};
  });
  r.add({"millrace::conj", "_conj_physical"}, [](const Call &c) -> Vals { return {matrices::conj(c.e, c.val(0))}; });
  r.add({"where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar"}, where);
  r.add({"masked_fill.Scalar", "masked_fill.Tensor"}, maskedFill);
  r.add({"lerp.Scalar", "lerp.Tensor"}, lerp);
  r.add({"addcmul"}, [](const Call &c) {
    return done(c, c.e.add(math(c, 0), c.e.mul(scaled(c, 1, 3), math(c, 2))));
  });
  r.add({"addcdiv"}, [](const Call &c) {
    return done(c, c.e.add(math(c, 0), c.e.div(scaled(c, 1, 3), math(c, 2))));
  });
  r.add({"millrace::convert"}, [](const Call &c) -> Vals { // drops the imaginary part, as PyTorch's copy_
    Val x = c.val(0);
    bool drops = x && runtime::isComplex(x.dtype()) && !runtime::isComplex(c.out().dtype);
    return {c.e.convert(drops ? c.e.op("stablehlo.real", {x}) : x, c.out().dtype)};
  });
}

} // namespace millrace::tracing
