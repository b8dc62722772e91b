// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Normalization.cpp - Softmax, layer and batch normalization, losses --===//
#include "tracing/emit/Emit.h"

#include <algorithm>
#include <numeric>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

Val sumOver(Emitter &e, const Val &x, const Ints &dims) {
  return e.reduce(x, e.constant(int64_t(0), {x.dtype(), {}}), dims, "stablehlo.add");
}

/// Broadcasts a reduced value over the dims that were reduced.
Val spread(Emitter &e, const Val &reduced, const Ints &dims, const std::vector<int64_t> &to) {
  Ints mapping;
  for (int64_t i = 0; i < int64_t(to.size()); ++i)
    if (std::find(dims.begin(), dims.end(), i) == dims.end())
      mapping.push_back(i);
  return e.broadcastInDim(reduced, to, mapping);
}

Ints dimOf(const Call &c, size_t index, const Val &x) {
  int64_t dim = c.integer(index);
  if (x.rank() == 0)
    return {};
  return {dim < 0 ? dim + x.rank() : dim};
}

Vals softmax(const Call &c, bool isLog) {
  Emitter &e = c.e;
  if (!runtime::isFloat(c.out().dtype))
    return {e.fail("softmax of " + c.out().toString())};
  Val x = e.convert(c.val(0), mathType(c.out().dtype));
  Ints dims = dimOf(c, 1, x);
  Val shifted = e.sub(x, spread(e, e.reduce(x, e.lowest(x.dtype()), dims, "stablehlo.maximum"), dims, x.dims()));
  Val exponential = e.op("stablehlo.exponential", {shifted}), total = sumOver(e, exponential, dims);
  Val made = isLog ? e.sub(shifted, spread(e, e.op("stablehlo.log", {total}), dims, x.dims()))
                   : e.div(exponential, spread(e, total, dims, x.dims()));
  return {e.convert(made, c.out().dtype)};
}

/// Arguments: grad, output, dim.
Vals softmaxBackward(const Call &c, bool isLog) {
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val grad = e.convert(c.val(0), math), y = e.convert(c.val(1), math);
  Ints dims = dimOf(c, 2, y);
  Val made;
  if (isLog)
    made = e.sub(grad, e.mul(e.op("stablehlo.exponential", {y}), spread(e, sumOver(e, grad, dims), dims, y.dims())));
  else
    made = e.mul(y, e.sub(grad, spread(e, sumOver(e, e.mul(grad, y), dims), dims, y.dims())));
  return {e.convert(made, c.out().dtype)};
}

/// Arguments: input, normalized_shape, weight, bias, eps. Results: result, mean, 1 / deviation.
Vals layerNorm(const Call &c) {
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val x = e.convert(c.val(0), math);
  int64_t inner = int64_t(c.ints(1).size());
  Ints dims(inner);
  std::iota(dims.begin(), dims.end(), x.rank() - inner);
  double count = 1;
  for (int64_t dim : dims)
    count *= double(x.dims()[dim]);
  Val total = sumOver(e, x, dims), mean = e.div(total, e.like(total, count));
  Val centered = e.sub(x, spread(e, mean, dims, x.dims()));
  Val variance = sumOver(e, e.mul(centered, centered), dims);
  variance = e.div(variance, e.like(variance, count));
  Val scale = e.op("stablehlo.rsqrt", {e.add(variance, e.like(variance, c.real(4)))});
  Val y = e.mul(centered, spread(e, scale, dims, x.dims()));
  if (c.has(2))
    y = e.mul(y, e.broadcast(e.convert(c.val(2), math), x.dims()));
  if (c.has(3))
    y = e.add(y, e.broadcast(e.convert(c.val(3), math), x.dims()));
  return {e.convert(y, c.out().dtype), e.convert(e.reshape(mean, c.out(1).dims), c.out(1).dtype),
          e.convert(e.reshape(scale, c.out(2).dims), c.out(2).dtype)};
}

/// Arguments: grad, input, normalized_shape, mean, rstd, weight, bias, output_mask.
Vals layerNormBackward(const Call &c) {
  Emitter &e = c.e;
  Val input = c.val(1);
  DType math = mathType(input.dtype());
  Val grad = e.convert(c.val(0), math), x = e.convert(input, math);
  int64_t inner = int64_t(c.ints(2).size());
  Ints dims(inner), outer(x.rank() - inner), keptDims = x.dims();
  std::iota(dims.begin(), dims.end(), x.rank() - inner);
  std::iota(outer.begin(), outer.end(), 0);
  double count = 1;
  for (int64_t dim : dims) {
    count *= double(x.dims()[dim]);
    keptDims[dim] = 1;
  }
  Val mean = e.broadcast(e.reshape(e.convert(c.val(3), math), keptDims), x.dims());
  Val scale = e.broadcast(e.reshape(e.convert(c.val(4), math), keptDims), x.dims());
  Val normal = e.mul(e.sub(x, mean), scale);
  Val weighted = c.has(5) ? e.mul(grad, e.broadcast(e.convert(c.val(5), math), x.dims())) : grad;
  auto average = [&](const Val &v) {
    Val total = sumOver(e, v, dims);
    return spread(e, e.div(total, e.like(total, count)), dims, x.dims());
  };
  Vals result(3);
  result[0] = e.mul(scale, e.sub(e.sub(weighted, average(weighted)), e.mul(normal, average(e.mul(weighted, normal)))));
  result[1] = sumOver(e, e.mul(grad, normal), outer);
  result[2] = sumOver(e, grad, outer);
  for (size_t i = 0; i < 3; ++i) {
    if (c.out(i).dims == Ints{0} && result[i].dims() != Ints{0})
      result[i] = e.constant(int64_t(0), c.out(i)); // not requested
    result[i] = e.convert(e.reshape(result[i], c.out(i).dims), c.out(i).dtype);
  }
  return result;
}

} // namespace

void registerNormalization(Registry &r) {
  r.add({"_softmax"}, [](const Call &c) { return softmax(c, false); });
  r.add({"_log_softmax"}, [](const Call &c) { return softmax(c, true); });
  r.add({"_softmax_backward_data"}, [](const Call &c) { return softmaxBackward(c, false); });
  r.add({"_log_softmax_backward_data"}, [](const Call &c) { return softmaxBackward(c, true); });
  r.add({"native_layer_norm"}, layerNorm);
  r.add({"native_layer_norm_backward"}, layerNormBackward);
}

} // namespace millrace::tracing
