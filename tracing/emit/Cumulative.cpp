// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cumulative.cpp - Cumulative sums, products and extrema --------------===//
#include "tracing/emit/Order.h"

namespace millrace::tracing {
namespace order {

/// Emits a reduce_window whose windows reach from the first element to each element; the compiler recognizes it and makes a single pass.
Val running(Emitter &e, const Val &x, int64_t dim, const std::string &combine, const Val &init) {
  if (!x || x.rank() == 0 || x.shape.count() == 0)
    return x;
  Ints window(x.rank(), 1);
  window[dim] = x.dims()[dim];
  std::string padding = "dense<[";
  for (int64_t i = 0; i < x.rank(); ++i)
    padding += (i ? ", [" : "[") + std::to_string(i == dim ? window[dim] - 1 : 0) + ", 0]";
  padding += "]> : tensor<" + std::to_string(x.rank()) + "x2xi64>";
  Shape scalar{x.dtype(), {}};
  return e.ops("stablehlo.reduce_window", {x, init}, {{"window_dimensions", arrayText(window)}, {"padding", padding}}, {x.shape},
               {scalar, scalar}, [&](const Vals &in) { return Vals{e.op(combine, in, {}, scalar)}; })[0];
}

} // namespace order

namespace {

using namespace order;

Vals sumOrProduct(const Call &c, const char *combine, int64_t init) {
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val x = e.convert(c.val(0), math);
  if (!x)
    return {x};
  return {e.convert(running(e, x, dimOf(c.integer(1), x.rank()), combine, e.constant(init, {math, {}})), c.out().dtype)};
}

/// Computes cumulative extrema and the positions of the last elements that changed them; after a NaN all results are NaN.
Vals extremum(const Call &c, bool isMax) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (!x)
    return Vals(2);
  int64_t dim = dimOf(c.integer(1), x.rank());
  if (x.rank() == 0 || x.shape.count() == 0)
    return {x, e.constant(int64_t(0), c.out(1))};
  Val values = running(e, x, dim, isMax ? "stablehlo.maximum" : "stablehlo.minimum", isMax ? e.lowest(x.dtype()) : e.highest(x.dtype()));
  Val isRecord = e.compare(x, values, "EQ");
  if (runtime::isFloat(x.dtype()))
    isRecord = e.op("stablehlo.or", {isRecord, isNan(e, x)});
  Val place = e.iota({DType::I64, x.dims()}, dim);
  Val record = e.select(isRecord, place, e.like(place, 0));
  return {values, running(e, record, dim, "stablehlo.maximum", e.constant(int64_t(0), {DType::I64, {}}))};
}

/// log(exp(a) + exp(b)), exact where both are the same infinity.
Val logAddExp(Emitter &e, const Val &a, const Val &b) {
  Val high = e.op("stablehlo.maximum", {a, b}), low = e.op("stablehlo.minimum", {a, b});
  Val same = e.op("stablehlo.and", {e.compare(a, b, "EQ"), e.op("stablehlo.not", {e.op("stablehlo.is_finite", {a})})});
  Val more = e.op("stablehlo.log_plus_one", {e.op("stablehlo.exponential", {e.sub(low, high)})});
  return e.select(same, a, e.add(high, more));
}

/// Computes the same for complex numbers; the number with the larger real part is subtracted from both.
Val logAddExpComplex(Emitter &e, const Val &a, const Val &b) {
  Val shift = e.op("stablehlo.maximum", {e.op("stablehlo.real", {a}), e.op("stablehlo.real", {b})});
  shift = e.select(e.op("stablehlo.is_finite", {shift}), shift, e.like(shift, 0));
  shift = e.convert(shift, a ? a.dtype() : DType::C64);
  auto power = [&](const Val &x) { return e.op("stablehlo.exponential", {e.sub(x, shift)}); };
  return e.add(shift, e.op("stablehlo.log", {e.add(power(a), power(b))}));
}

/// Combines elements at distances that double in every step, because the operation has no neutral element that a window could start with without
/// rounding. Computes in double precision, because gradients subtract numbers that are nearly equal.
Vals logSumExp(const Call &c) {
  Emitter &e = c.e;
  bool isComplex = runtime::isComplex(c.out().dtype);
  Val x = e.convert(c.val(0), isComplex ? DType::C128 : DType::F64);
  if (!x || x.rank() == 0)
    return {e.convert(x, c.out().dtype)};
  int64_t dim = dimOf(c.integer(1), x.rank()), n = x.dims()[dim];
  for (int64_t step = 1; step < n; step *= 2) {
    Val before = e.sliceDim(x, dim, 0, n - step), here = e.sliceDim(x, dim, step, n);
    x = e.concatenate({e.sliceDim(x, dim, 0, step), isComplex ? logAddExpComplex(e, before, here) : logAddExp(e, before, here)}, dim);
  }
  return {e.convert(x, c.out().dtype)};
}

} // namespace

void registerCumulative(Registry &r) {
  r.add({"cumsum"}, [](const Call &c) { return sumOrProduct(c, "stablehlo.add", 0); });
  r.add({"cumprod"}, [](const Call &c) { return sumOrProduct(c, "stablehlo.multiply", 1); });
  r.add({"cummax"}, [](const Call &c) { return extremum(c, true); });
  r.add({"cummin"}, [](const Call &c) { return extremum(c, false); });
  r.add({"logcumsumexp", "_logcumsumexp"}, logSumExp);
  r.add({"logaddexp"}, [](const Call &c) -> Vals {
    DType math = mathType(c.out().dtype);
    auto operand = [&](size_t i) { return c.e.broadcast(c.e.convert(c.val(i), math), c.out().dims); };
    if (runtime::isComplex(math))
      return {logAddExpComplex(c.e, operand(0), operand(1))};
    return {c.e.convert(logAddExp(c.e, operand(0), operand(1)), c.out().dtype)};
  });
}

} // namespace millrace::tracing
