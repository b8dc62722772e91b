// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchNormalization.cpp - Statistics per channel or group ------------===//
#include "tracing/emit/Families.h"

namespace millrace::tracing {
namespace {

/// A tensor reshaped to [outer, channels, inner]; statistics are computed over the other two dims.
struct Channels {
  Val x;
  Ints others, dims;
  double count = 1;
  DType math;
  Channels(const Call &c, size_t at) {
    Val given = c.val(at);
    if (!given)
      return;
    math = mathType(given.dtype());
    x = c.e.convert(given, math);
    dims = x.dims();
    for (int64_t i = 0; i < x.rank(); ++i)
      if (i != 1) {
        others.push_back(i);
        count *= double(dims[i]);
      }
  }
  Val spread(Emitter &e, const Val &perChannel) const { return e.broadcastInDim(e.convert(perChannel, math), dims, {1}); }
};

Val reciprocalRoot(Emitter &e, const Val &variance, double eps) {
  return e.op("stablehlo.rsqrt", {e.add(variance, e.like(variance, eps))});
}

Val scaledAndShifted(const Call &c, const Channels &k, Val y, size_t weight, size_t bias) {
  if (c.has(weight))
    y = c.e.mul(y, k.spread(c.e, c.val(weight)));
  if (c.has(bias))
    y = c.e.add(y, k.spread(c.e, c.val(bias)));
  return y;
}

/// The positions of the arguments; `statistics` is 0 if the operator has none.
struct Layout {
  size_t statistics, momentum;
};

/// Arguments: input, weight, bias, [running mean, running variance], [training], momentum, eps. Results: result, mean, 1 / deviation, and the new
/// running statistics if they are requested. `isTraining` normalizes with the statistics of this batch.
Vals batchNorm(const Call &c, bool isTraining, Layout at) {
  Emitter &e = c.e;
  Channels k(c, 0);
  if (!k.x)
    return {Val()};
  double eps = c.real(at.momentum + 1), momentum = c.real(at.momentum);
  bool hasRunning = at.statistics && c.has(at.statistics);
  if (!isTraining) {
    if (!hasRunning)
      return {e.fail("batch normalization in evaluation mode needs statistics")};
    Val mean = e.convert(c.val(at.statistics), k.math);
    Val scale = reciprocalRoot(e, e.convert(c.val(at.statistics + 1), k.math), eps);
    Val y = e.mul(e.sub(k.x, k.spread(e, mean)), k.spread(e, scale));
    Vals made = {finished(c, scaledAndShifted(c, k, y, 1, 2)), finished(c, mean, 1), finished(c, scale, 2)};
    for (size_t i = 3; i < c.results.size(); ++i)
      made.push_back(c.val(at.statistics + i - 3));
    return made;
  }
  Val mean = e.div(total(e, k.x, k.others), e.constant(k.count, {k.math, {k.dims[1]}}));
  Val centered = e.sub(k.x, k.spread(e, mean));
  Val squares = total(e, e.mul(centered, centered), k.others), variance = e.div(squares, e.like(squares, k.count));
  Val scale = reciprocalRoot(e, variance, eps);
  Val y = scaledAndShifted(c, k, e.mul(centered, k.spread(e, scale)), 1, 2);
  Vals made = {finished(c, y), finished(c, mean, 1), finished(c, scale, 2)};
  if (c.results.size() > 3) {
    Val unbiased = e.div(squares, e.like(squares, k.count - 1));
    for (size_t i : {0, 1}) {
      Val old = e.convert(c.val(at.statistics + i), k.math), now = i ? unbiased : mean;
      Val mixed = e.add(e.mul(old, e.like(old, 1 - momentum)), e.mul(now, e.like(now, momentum)));
      made.push_back(finished(c, mixed, 3 + i));
    }
  }
  return made;
}

/// Replaces gradients that were not requested by empty tensors, unless the front end omits them.
Vals wanted(const Call &c, Vals gradients, const Ints &mask) {
  for (size_t i = 0; i < 3; ++i)
    gradients[i] = i < mask.size() && mask[i] && c.out(i).count() == (gradients[i] ? gradients[i].shape.count() : -1)
                       ? finished(c, gradients[i], i)
                       : zeros(c.e, c.out(i));
  return gradients;
}

/// Arguments: grad, input, weight, running mean, running variance, saved mean, saved 1 / deviation, training, eps, mask.
Vals batchNormBackward(const Call &c) {
  Emitter &e = c.e;
  Channels k(c, 1);
  if (!k.x)
    return {Val()};
  bool isTraining = c.flag(7);
  Val grad = e.convert(c.val(0), k.math), mean = e.convert(c.val(isTraining ? 5 : 3), k.math);
  Val scale = isTraining ? e.convert(c.val(6), k.math) : reciprocalRoot(e, e.convert(c.val(4), k.math), c.real(8));
  Val centered = e.sub(k.x, k.spread(e, mean));
  Val sum = total(e, grad, k.others), dot = total(e, e.mul(grad, centered), k.others);
  Val factor = c.has(2) ? e.mul(scale, e.convert(c.val(2), k.math)) : scale;
  Val gradient = grad;
  if (isTraining) {
    Val count = e.like(sum, k.count), along = e.div(e.mul(e.mul(scale, scale), dot), count);
    gradient = e.sub(e.sub(grad, k.spread(e, e.div(sum, count))), e.mul(centered, k.spread(e, along)));
  }
  return wanted(c, {e.mul(gradient, k.spread(e, factor)), e.mul(dot, scale), sum}, c.ints(9));
}

//===-- Groups --------------------------------------------------------------===//

/// A tensor reshaped to [N, groups, channels of a group, inner]; statistics are computed over the last two dims.
struct Groups {
  Val x;
  Ints dims, channels;
  DType math;
  double count;
  Groups(const Call &c, size_t input, size_t sizes) {
    Val given = c.val(input);
    if (!given)
      return;
    int64_t n = c.integer(sizes), channelCount = c.integer(sizes + 1), inner = c.integer(sizes + 2), groups = c.integer(sizes + 3);
    math = mathType(given.dtype());
    dims = {n, groups, channelCount / groups, inner};
    channels = {groups, channelCount / groups};
    count = double(dims[2] * dims[3]);
    x = c.e.reshape(c.e.convert(given, math), dims);
  }
  Val perGroup(Emitter &e, const Val &v) const { return e.broadcastInDim(e.reshape(e.convert(v, math), {dims[0], dims[1]}), dims, {0, 1}); }
  Val perChannel(Emitter &e, const Val &v) const { return e.broadcastInDim(e.reshape(e.convert(v, math), channels), dims, {1, 2}); }
};

/// Arguments: input, weight, bias, N, C, HxW, group, eps. Results: result, mean, 1 / deviation.
Vals groupNorm(const Call &c) {
  Emitter &e = c.e;
  Groups g(c, 0, 3);
  if (!g.x)
    return {Val()};
  Val sum = total(e, g.x, {2, 3}), mean = e.div(sum, e.like(sum, g.count));
  Val centered = e.sub(g.x, g.perGroup(e, mean)), squares = total(e, e.mul(centered, centered), {2, 3});
  Val scale = reciprocalRoot(e, e.div(squares, e.like(squares, g.count)), c.real(7));
  Val y = e.mul(centered, g.perGroup(e, scale));
  if (c.has(1))
    y = e.mul(y, g.perChannel(e, c.val(1)));
  if (c.has(2))
    y = e.add(y, g.perChannel(e, c.val(2)));
  return {finished(c, y), finished(c, mean, 1), finished(c, scale, 2)};
}

/// Arguments: grad, input, mean, 1 / deviation, weight, N, C, HxW, group, mask.
Vals groupNormBackward(const Call &c) {
  Emitter &e = c.e;
  Groups g(c, 1, 5);
  if (!g.x)
    return {Val()};
  Val grad = e.reshape(e.convert(c.val(0), g.math), g.dims), scale = g.perGroup(e, c.val(3));
  Val normal = e.mul(e.sub(g.x, g.perGroup(e, c.val(2))), scale);
  Val weighted = c.has(4) ? e.mul(grad, g.perChannel(e, c.val(4))) : grad;
  auto average = [&](const Val &v) {
    Val sum = total(e, v, {2, 3});
    return g.perGroup(e, e.div(sum, e.like(sum, g.count)));
  };
  Val gradient = e.mul(scale, e.sub(e.sub(weighted, average(weighted)), e.mul(normal, average(e.mul(weighted, normal)))));
  return wanted(c, {gradient, total(e, e.mul(grad, normal), {0, 3}), total(e, grad, {0, 3})}, c.ints(9));
}

} // namespace

void registerBatchNormalization(Registry &r) {
  r.add({"_native_batch_norm_legit_functional"}, [](const Call &c) { return batchNorm(c, c.flag(5), {3, 6}); });
  r.add({"_native_batch_norm_legit.no_stats"}, [](const Call &c) { return batchNorm(c, true, {0, 4}); });
  r.add({"_native_batch_norm_legit_no_training"}, [](const Call &c) { return batchNorm(c, false, {3, 5}); });
  r.add({"native_batch_norm_backward", "batch_norm_backward"}, batchNormBackward);
  r.add({"native_group_norm"}, groupNorm);
  r.add({"native_group_norm_backward"}, groupNormBackward);
}

} // namespace millrace::tracing
