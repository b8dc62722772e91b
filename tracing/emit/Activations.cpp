// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Activations.cpp - Activation functions and their gradients ----------===//
#include "tracing/emit/Families.h"

#include <cmath>

namespace millrace::tracing {
namespace {

/// Adds an operator whose operands, the `arguments`, are converted and broadcast to the type and shape of the result.
void add(Registry &r, const char *name, std::vector<size_t> arguments, std::function<Val(Emitter &, const Vals &)> fn) {
  r.add({name}, [=](const Call &c) -> Vals {
    Vals operands;
    for (size_t index : arguments)
      operands.push_back(mathLike(c, index));
    return {finished(c, fn(c.e, operands))};
  });
}

Val isPositive(Emitter &e, const Val &x) { return e.compare(x, e.like(x, 0), "GT"); }
Val expm1(Emitter &e, const Val &x) { return e.op("stablehlo.exponential_minus_one", {x}); }
Val log1p(Emitter &e, const Val &x) { return e.op("stablehlo.log_plus_one", {x}); }
Val logistic(Emitter &e, const Val &x) { return e.op("stablehlo.logistic", {x}); }
/// Returns x limited to [low, high]: max(x, low) and min(x, high).
Val within(Emitter &e, const Val &x, double low, double high) { return minimum(e, maximum(e, x, e.like(x, low)), e.like(x, high)); }

/// Returns true for elements in [-limit, limit]; false for NaN.
Val isInside(Emitter &e, const Val &x, const Val &limit) { return both(e, e.compare(x, e.neg(limit), "GE"), e.compare(x, limit, "LE")); }

/// Arguments: grad, alpha, scale, input_scale, is_result, self or result.
Vals eluBackward(const Call &c) {
  Emitter &e = c.e;
  Val grad = mathLike(c, 0), scale = mathLike(c, 2), inputScale = mathLike(c, 3), x = mathLike(c, 5);
  Val negative = e.mul(mathLike(c, 1), scale);
  Val slope = c.flag(4) ? e.mul(inputScale, e.add(x, negative))
                        : e.mul(e.mul(inputScale, negative), exponential(e, e.mul(x, inputScale)));
  return {finished(c, e.mul(grad, e.select(e.compare(x, e.like(x, 0), "LE"), slope, scale)))};
}

Vals logSigmoid(const Call &c) {
  Emitter &e = c.e;
  Val x = mathLike(c, 0), small = exponential(e, e.neg(absolute(e, x)));
  Val buffer = c.out(1).count() == c.out().count() ? finished(c, small, 1) : zeros(e, c.out(1));
  return {finished(c, e.sub(minimum(e, x, e.like(x, 0)), log1p(e, small))), buffer};
}

/// Arguments: self, weight of a shape that broadcasts.
Vals prelu(const Call &c) {
  Val x = mathLike(c, 0);
  return {finished(c, c.e.select(isPositive(c.e, x), x, c.e.mul(x, mathLike(c, 1))))};
}
Vals preluBackward(const Call &c) {
  Emitter &e = c.e;
  Val grad = mathLike(c, 0), x = mathLike(c, 1), weight = mathLike(c, 2), isUp = isPositive(e, x);
  return {finished(c, e.select(isUp, grad, e.mul(weight, grad))),
          finished(c, e.select(isUp, e.like(x, 0), e.mul(x, grad)), 1)};
}

Vals glu(const Call &c, bool isBackward) {
  Emitter &e = c.e;
  Val x = mathValue(c, isBackward ? 1 : 0);
  if (!x)
    return {x};
  int64_t dim = wrapDim(c.integer(isBackward ? 2 : 1, -1), x.rank()), half = x.dims()[dim] / 2;
  Val a = e.sliceDim(x, dim, 0, half), gate = logistic(e, e.sliceDim(x, dim, half, 2 * half));
  if (!isBackward)
    return {finished(c, e.mul(a, gate))};
  Val grad = mathValue(c, 0), open = e.mul(gate, grad);
  Val side = e.mul(e.mul(open, e.sub(e.like(gate, 1), gate)), a);
  return {finished(c, e.concatenate({open, side}, dim))};
}

/// Computes a softmax that yields zeros instead of NaN for rows that are -inf throughout.
Vals safeSoftmax(const Call &c) {
  Emitter &e = c.e;
  Val x = mathValue(c, 0);
  if (!x)
    return {x};
  Ints dims = x.rank() ? Ints{wrapDim(c.integer(1), x.rank())} : Ints{};
  Val highest = spreadOver(e, e.reduce(x, e.lowest(x.dtype()), dims, "stablehlo.maximum"), dims, x.dims());
  Val isEmpty = e.compare(highest, e.like(x, -INFINITY), "EQ");
  Val share = exponential(e, e.sub(x, highest));
  share = e.div(share, spreadOver(e, total(e, share, dims), dims, x.dims()));
  return {finished(c, e.select(isEmpty, e.like(x, 0), share))};
}

/// Arguments: grad, self, noise, lower, upper, training, self_is_result.
Vals rreluBackward(const Call &c) {
  Emitter &e = c.e;
  Val grad = mathLike(c, 0), x = mathLike(c, 1);
  double lower = c.real(3), upper = c.real(4);
  if (c.flag(5) && upper - lower > 1e-6)
    return {finished(c, e.mul(grad, mathLike(c, 2)))};
  return {finished(c, e.select(isPositive(e, x), grad, e.mul(grad, e.like(grad, (lower + upper) / 2))))};
}

void registerShrinking(Registry &r) {
  add(r, "hardshrink", {0, 1}, [](Emitter &e, const Vals &in) { return e.select(isInside(e, in[0], in[1]), e.like(in[0], 0), in[0]); });
  for (const char *name : {"hardshrink_backward", "softshrink_backward"})
    add(r, name, {0, 1, 2}, [](Emitter &e, const Vals &in) { return e.select(isInside(e, in[1], in[2]), e.like(in[0], 0), in[0]); });
  add(r, "softshrink", {0, 1}, [](Emitter &e, const Vals &in) {
    Val low = e.add(in[0], in[1]), high = e.sub(in[0], in[1]), none = e.mul(in[0], e.like(in[0], 0));
    return e.select(e.compare(in[0], in[1], "GT"), high, e.select(e.compare(in[0], e.neg(in[1]), "LT"), low, none));
  });
  add(r, "threshold", {0, 1, 2}, [](Emitter &e, const Vals &in) { return e.select(e.compare(in[0], in[1], "LE"), in[2], in[0]); });
}

void registerHard(Registry &r) {
  add(r, "hardtanh_backward", {0, 1, 2, 3}, [](Emitter &e, const Vals &in) {
    Val isOut = either(e, e.compare(in[1], in[2], "LE"), e.compare(in[1], in[3], "GE"));
    return e.select(isOut, e.like(in[0], 0), in[0]);
  });
  add(r, "hardsigmoid", {0}, [](Emitter &e, const Vals &in) {
    return e.div(within(e, e.add(in[0], e.like(in[0], 3)), 0, 6), e.like(in[0], 6));
  });
  add(r, "hardsigmoid_backward", {0, 1}, [](Emitter &e, const Vals &in) {
    Val isSloped = both(e, e.compare(in[1], e.like(in[1], -3), "GT"), e.compare(in[1], e.like(in[1], 3), "LT"));
    return e.select(isSloped, e.div(in[0], e.like(in[0], 6)), e.like(in[0], 0));
  });
  add(r, "hardswish", {0}, [](Emitter &e, const Vals &in) {
    return e.div(e.mul(in[0], within(e, e.add(in[0], e.like(in[0], 3)), 0, 6)), e.like(in[0], 6));
  });
  add(r, "hardswish_backward", {0, 1}, [](Emitter &e, const Vals &in) {
    Val slope = e.add(e.div(in[1], e.like(in[1], 3)), e.like(in[1], 0.5));
    Val inner = e.select(e.compare(in[1], e.like(in[1], 3), "LT"), e.mul(in[0], slope), in[0]);
    return e.select(e.compare(in[1], e.like(in[1], -3), "LE"), e.like(in[0], 0), inner);
  });
}

void registerSmooth(Registry &r) {
  add(r, "elu", {0, 1, 2, 3}, [](Emitter &e, const Vals &in) {
    Val low = e.mul(e.mul(in[1], in[2]), expm1(e, e.mul(in[0], in[3])));
    return e.select(e.compare(in[0], e.like(in[0], 0), "LT"), low, e.mul(in[0], in[2]));
  });
  r.add({"elu_backward"}, eluBackward);
  add(r, "celu", {0, 1}, [](Emitter &e, const Vals &in) {
    return e.select(e.compare(in[0], e.like(in[0], 0), "LT"), e.mul(in[1], expm1(e, e.div(in[0], in[1]))), in[0]);
  });
  add(r, "softplus", {0, 1, 2}, [](Emitter &e, const Vals &in) {
    Val scaled = e.mul(in[0], in[1]);
    return e.select(e.compare(scaled, in[2], "GT"), in[0], e.div(log1p(e, exponential(e, scaled)), in[1]));
  });
  add(r, "softplus_backward", {0, 1, 2, 3}, [](Emitter &e, const Vals &in) {
    Val scaled = e.mul(in[1], in[2]);
    return e.select(e.compare(scaled, in[3], "GT"), in[0], e.mul(in[0], logistic(e, scaled)));
  });
  add(r, "mish", {0}, [](Emitter &e, const Vals &in) {
    return e.mul(in[0], e.op("stablehlo.tanh", {log1p(e, exponential(e, in[0]))}));
  });
  r.add({"log_sigmoid_forward"}, logSigmoid);
  add(r, "log_sigmoid_backward", {0, 1}, [](Emitter &e, const Vals &in) { return e.mul(in[0], logistic(e, e.neg(in[1]))); });
}

} // namespace

void registerActivations(Registry &r) {
  registerShrinking(r);
  registerHard(r);
  registerSmooth(r);
  add(r, "leaky_relu", {0, 1}, [](Emitter &e, const Vals &in) { return e.select(isPositive(e, in[0]), in[0], e.mul(in[0], in[1])); });
  add(r, "leaky_relu_backward", {0, 1, 2}, [](Emitter &e, const Vals &in) {
    return e.select(isPositive(e, in[1]), in[0], e.mul(in[0], in[2]));
  });
  r.add({"_prelu_kernel"}, prelu);
  r.add({"_prelu_kernel_backward"}, preluBackward);
  r.add({"glu"}, [](const Call &c) { return glu(c, false); });
  r.add({"glu_backward"}, [](const Call &c) { return glu(c, true); });
  r.add({"_safe_softmax"}, safeSoftmax);
  r.add({"rrelu_with_noise_backward"}, rreluBackward, /*numbersAreStatic=*/true);
}

} // namespace millrace::tracing
