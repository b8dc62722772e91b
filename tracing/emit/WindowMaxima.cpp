// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowMaxima.cpp - Maxima of windows of different sizes or places ---===//
// Results are the maxima and their positions in the flat image. Gradients and unpooling write values to these positions.
#include "tracing/emit/Families.h"

#include <cmath>

namespace millrace::tracing {
namespace {

/// Computes the greatest value over `dims` and its first position in row-major order; NaN is the greatest value.
Vals greatest(Emitter &e, const Val &x, const Val &position, const Ints &dims) {
  Ints kept;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (std::find(dims.begin(), dims.end(), i) == dims.end())
      kept.push_back(x.dims()[i]);
  Shape value{x.dtype(), {}}, place{DType::I64, {}};
  return e.ops("stablehlo.reduce", {x, position, e.lowest(x.dtype()), e.highest(DType::I64)}, {{"dimensions", arrayText(dims)}},
               {Shape{x.dtype(), kept}, Shape{DType::I64, kept}}, {value, place, value, place}, [&](const Vals &in) -> Vals {
                 const Val &a = in[0], &i = in[1], &b = in[2], &j = in[3];
                 Val aNan = e.compare(a, a, "NE"), bNan = e.compare(b, b, "NE");
                 Val same = either(e, e.compare(a, b, "EQ"), both(e, aNan, bNan));
                 Val better = either(e, e.compare(a, b, "GT"), both(e, aNan, negated(e, bNan)));
                 Val first = either(e, better, both(e, same, e.compare(i, j, "LT")));
                 return {e.select(first, a, b), e.select(first, i, j)};
               });
}

/// The windows along one dim: the elements of each window, and which of them count.
struct Windows {
  Val place, counts; ///< [planes or none, outputs, longest]
};

Vals windowMaxima(const Call &c, const Val &x, const std::vector<Windows> &windows, bool perPlane) {
  Emitter &e = c.e;
  int64_t spatial = int64_t(windows.size()), planes = productOf(x.dims(), 0, size_t(x.rank() - spatial));
  Ints image(x.dims().end() - spatial, x.dims().end());
  // The dims of the elements of all windows: [planes, outputs..., elements...].
  Ints dims = perPlane ? Ints{planes} : Ints{}, reducedDims;
  int64_t lead = int64_t(dims.size());
  for (const Windows &w : windows)
    dims.push_back(w.place.dim(-2));
  for (const Windows &w : windows)
    dims.push_back(w.place.dim(-1));
  Val flat, counts;
  for (int64_t d = 0; d < spatial; ++d) {
    Ints mapping = perPlane ? Ints{0, lead + d, lead + spatial + d} : Ints{d, spatial + d};
    Val place = e.broadcastInDim(windows[d].place, dims, mapping);
    flat = flat ? e.add(e.mul(flat, e.like(flat, double(image[d]))), place) : place;
    if (windows[d].counts) {
      Val fits = e.broadcastInDim(windows[d].counts, dims, mapping);
      counts = counts ? both(e, counts, fits) : fits;
    }
  }
  Val planar = e.reshape(x, {planes, productOf(image)}), taken;
  Ints wide = dims;
  if (perPlane) {
    Ints column = dims;
    column.push_back(1);
    taken = gatherAt(e, planar, e.concatenate({e.iota({DType::I64, column}, 0), e.reshape(flat, column)}, int64_t(dims.size())), 2);
  } else {
    wide.insert(wide.begin(), planes);
    taken = takeAlong(e, planar, flat, 1);
    Ints mapping = countFrom(1, int64_t(wide.size()));
    flat = e.broadcastInDim(flat, wide, mapping);
    counts = counts ? e.broadcastInDim(counts, wide, mapping) : counts;
  }
  if (counts) {
    taken = e.select(counts, taken, e.broadcast(e.lowest(x.dtype()), wide));
    flat = e.select(counts, flat, e.broadcast(e.highest(DType::I64), wide));
  }
  Vals made = greatest(e, taken, flat, countFrom(1 + spatial, 1 + 2 * spatial));
  return {e.reshape(made[0], c.out(0).dims), e.reshape(made[1], c.out(1).dims)};
}

/// Arguments: self, output_size.
Vals adaptive(const Call &c, int64_t spatial) {
  Emitter &e = c.e;
  Val x = c.val(0);
  if (!x || c.out().count() == 0)
    return {x ? zeros(e, c.out(0)) : x, x ? zeros(e, c.out(1)) : x};
  std::vector<Windows> windows;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t in = x.dims()[x.rank() - spatial + d], out = c.out().dims[x.rank() - spatial + d], longest = 0;
    for (int64_t o = 0; o < out; ++o)
      longest = std::max(longest, ((o + 1) * in + out - 1) / out - o * in / out);
    Shape shape{DType::I64, {out, longest}};
    auto number = [&](int64_t value) { return e.constant(value, shape); };
    Val o = e.iota(shape, 0), start = e.div(e.mul(o, number(in)), number(out));
    Val end = e.div(e.add(e.mul(e.add(o, number(1)), number(in)), number(out - 1)), number(out));
    Val place = e.add(start, e.iota(shape, 1));
    windows.push_back({minimum(e, place, number(in - 1)), e.compare(place, end, "LT")});
  }
  return windowMaxima(c, x, windows, false);
}

/// Arguments: self, kernel_size, output_size, random_samples [N, C, spatial].
Vals fractional(const Call &c, int64_t spatial) {
  Emitter &e = c.e;
  Val x = c.val(0), samples = c.val(3);
  Ints kernel = c.ints(1), output = c.ints(2);
  if (!x || !samples || c.out().count() == 0)
    return {x ? zeros(e, c.out(0)) : x, x ? zeros(e, c.out(1)) : x};
  kernel.resize(size_t(spatial), kernel[0]);
  output.resize(size_t(spatial), output[0]);
  int64_t planes = productOf(x.dims(), 0, size_t(x.rank() - spatial));
  samples = e.reshape(samples, {planes, spatial});
  DType type = samples.dtype();
  std::vector<Windows> windows;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t in = x.dims()[x.rank() - spatial + d], out = output[d], column = spatial == 2 ? 1 - d : d, last = in - kernel[d];
    Shape shape{DType::I64, {planes, out}}, real{type, shape.dims};
    Val start = e.constant(last, shape);
    if (out > 1) {
      Val alpha = e.constant(double(last) / double(out - 1), real);
      Val sample = e.broadcastInDim(e.reshape(e.sliceDim(samples, 1, column, column + 1), {planes}), shape.dims, {0});
      Val at = e.convert(e.mul(e.add(e.iota(real, 1), sample), alpha), DType::I64);
      Val first = e.convert(e.mul(sample, alpha), DType::I64);
      start = e.select(e.compare(e.iota(shape, 1), e.constant(out - 1, shape), "LT"), e.sub(at, first), start);
    }
    Ints cube = {planes, out, kernel[d]};
    windows.push_back({e.add(e.broadcastInDim(start, cube, {0, 1}), e.iota({DType::I64, cube}, 2)), {}});
  }
  return windowMaxima(c, x, windows, true);
}

/// Writes values [planes..., positions...] at `index` to zero images of the result's shape; values at equal positions are added, or the last one
/// stays.
Vals placed(const Call &c, const Val &given, const Val &index, int64_t spatial, bool isSum) {
  Emitter &e = c.e;
  if (!given || !index)
    return {Val()};
  DType math = isSum ? mathType(given.dtype()) : given.dtype();
  const Ints &dims = c.out().dims;
  int64_t planes = productOf(dims, 0, dims.size() - size_t(spatial)), size = productOf(dims, dims.size() - size_t(spatial));
  int64_t count = planes ? given.shape.count() / planes : 0;
  if (c.out().count() == 0 || count == 0)
    return {zeros(e, c.out())};
  Shape column{DType::I64, {planes, count, 1}};
  Val place = e.concatenate({e.iota(column, 0), e.reshape(e.convert(index, DType::I64), column.dims)}, 2);
  Val made = scatterAt(e, zeros(e, {math, {planes, size}}), place, e.reshape(e.convert(given, math), {planes, count}), 2,
                       isSum ? "stablehlo.add" : "");
  return {finished(c, made)};
}

} // namespace

void registerWindowMaxima(Registry &r) {
  for (int64_t spatial : {2, 3}) {
    std::string end = std::to_string(spatial) + "d";
    r.add({("adaptive_max_pool" + end).c_str()}, [=](const Call &c) { return adaptive(c, spatial); });
    r.add({("fractional_max_pool" + end).c_str()}, [=](const Call &c) { return fractional(c, spatial); });
    r.add({("max_unpool" + end).c_str()}, [=](const Call &c) { return placed(c, c.val(0), c.val(1), spatial, false); });
    r.add({("adaptive_max_pool" + end + "_backward").c_str()}, [=](const Call &c) { return placed(c, c.val(0), c.val(2), spatial, true); });
    r.add({("fractional_max_pool" + end + "_backward").c_str()}, [=](const Call &c) { return placed(c, c.val(0), c.val(4), spatial, true); });
  }
}

} // namespace millrace::tracing
