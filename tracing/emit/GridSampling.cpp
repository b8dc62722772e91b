// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GridSampling.cpp - Sample images at the positions of a grid ---------===//
// The input is [N, C, (D,) H, W]; the grid is [N, (Do,) Ho, Wo, 2 or 3] and has positions in [-1, 1] whose first component is that of the last image
// dim.
#include "tracing/emit/Families.h"

#include <cmath>

namespace millrace::tracing {
namespace {

enum Mode { kLinear = 0, kNearest = 1, kCubic = 2 };
enum Padding { kZeros = 0, kBorder = 1, kReflection = 2 };

/// One of the elements along a dim that are interpolated; floats of the grid's shape [N, outputs].
struct Tap {
  Val place;  ///< index of the element, which may be out of bounds
  Val weight;
  Val slope;  ///< derivative of the weight by the grid's position
};

Val floorOf(Emitter &e, const Val &x) { return e.op("stablehlo.floor", {x}); }
Val times(Emitter &e, const Val &x, double factor) { return e.mul(x, e.like(x, factor)); }

/// A position that is in bounds, and its derivative by the original position.
struct Inside {
  Val at, slope;
};

Inside clipped(Emitter &e, const Val &x, double size) {
  Val last = e.like(x, size - 1), zero = e.like(x, 0);
  Val isInside = both(e, e.compare(x, zero, "GT"), e.compare(x, last, "LT"));
  return {minimum(e, maximum(e, x, zero), last), e.select(isInside, e.like(x, 1), zero)};
}

Inside reflected(Emitter &e, const Val &x, double size, bool alignCorners) {
  double low = alignCorners ? 0 : -0.5, span = alignCorners ? size - 1 : size;
  if (span == 0)
    return {e.like(x, 0), e.like(x, 0)};
  Val shifted = e.sub(x, e.like(x, low)), far = absolute(e, shifted), width = e.like(x, span);
  Val rest = e.op("stablehlo.remainder", {far, width}), flips = floorOf(e, e.div(far, width));
  Val isEven = e.compare(e.op("stablehlo.remainder", {flips, e.like(x, 2)}), e.like(x, 0), "EQ");
  Val at = e.add(e.select(isEven, rest, e.sub(width, rest)), e.like(x, low));
  Val sign = e.select(e.compare(shifted, e.like(x, 0), "LT"), e.like(x, -1), e.like(x, 1));
  Inside inside = clipped(e, at, size);
  return {inside.at, e.mul(inside.slope, e.select(isEven, sign, e.neg(sign)))};
}

Inside padded(Emitter &e, const Val &x, double size, int64_t padding, bool alignCorners) {
  if (padding == kBorder)
    return clipped(e, x, size);
  if (padding == kReflection)
    return reflected(e, x, size, alignCorners);
  return {x, e.like(x, 1)};
}

Val cubicWeight(Emitter &e, const Val &t, int tap, bool isSlope) {
  // The weights of cubic interpolation are polynomials of the distance to the element, for |x| <= 1 and 1 < |x| < 2, with a = -0.75.
  const double a = -0.75;
  bool isNear = tap == 1 || tap == 2;
  double direction = tap < 2 ? 1 : -1;
  Val x = tap == 0 ? e.add(t, e.like(t, 1)) : tap == 1 ? t : tap == 2 ? e.sub(e.like(t, 1), t) : e.sub(e.like(t, 2), t);
  double c3 = isNear ? a + 2 : a, c2 = isNear ? -(a + 3) : -5 * a, c1 = isNear ? 0 : 8 * a, c0 = isNear ? 1 : -4 * a;
  if (isSlope)
    return times(e, e.add(e.mul(e.add(times(e, x, 3 * c3), e.like(x, 2 * c2)), x), e.like(x, c1)), direction);
  return e.add(e.mul(e.add(e.mul(e.add(times(e, x, c3), e.like(x, c2)), x), e.like(x, c1)), x), e.like(x, c0));
}

std::vector<Tap> tapsOf(Emitter &e, const Val &position, int64_t size, int64_t mode, int64_t padding, bool alignCorners) {
  double extent = double(size), stretch = alignCorners ? (extent - 1) / 2 : extent / 2;
  Val x = e.add(times(e, position, stretch), e.like(position, (extent - 1) / 2)), one = e.like(x, 1);
  if (mode == kCubic) {
    Val base = floorOf(e, x), t = e.sub(x, base);
    std::vector<Tap> taps;
    for (int tap = 0; tap < 4; ++tap) {
      Val at = padded(e, e.add(base, e.like(x, tap - 1)), extent, padding, alignCorners).at;
      taps.push_back({floorOf(e, at), cubicWeight(e, t, tap, false), times(e, cubicWeight(e, t, tap, true), stretch)});
    }
    return taps;
  }
  Inside inside = padded(e, x, extent, padding, alignCorners);
  if (mode == kNearest)
    return {{e.op("stablehlo.round_nearest_even", {inside.at}), one, e.like(x, 0)}};
  Val base = floorOf(e, inside.at), t = e.sub(inside.at, base), slope = times(e, inside.slope, stretch);
  return {{base, e.sub(one, t), e.neg(slope)}, {e.add(base, one), t, slope}};
}

/// The state that forward and backward operators share. Images are [N, space..., C] here, so that one gather reads all channels.
struct Sampler {
  Val image;
  Ints imageDims, gridDims; ///< dims of the operands
  int64_t spatial, batch, channels, outputs;
  std::vector<std::vector<Tap>> taps;

  Sampler(const Call &c, size_t first) {
    Emitter &e = c.e;
    image = mathValue(c, first);
    Val grid = c.val(first + 1);
    if (!image || !grid)
      return;
    grid = e.convert(grid, image.dtype());
    imageDims = image.dims();
    gridDims = grid.dims();
    spatial = image.rank() - 2;
    batch = image.dim(0);
    channels = image.dim(1);
    outputs = productOf(gridDims, 1, size_t(spatial) + 1);
    image = e.transpose(image, toLast());
    for (int64_t d = 0; d < spatial; ++d) {
      Val position = e.reshape(e.sliceDim(grid, grid.rank() - 1, spatial - 1 - d, spatial - d), {batch, outputs});
      taps.push_back(tapsOf(e, position, imageDims[d + 2], c.integer(first + 2), c.integer(first + 3), c.flag(first + 4)));
    }
  }
  Ints toLast() const {
    Ints order = {0};
    for (int64_t i = 0; i < spatial; ++i)
      order.push_back(i + 2);
    order.push_back(1);
    return order;
  }
  Ints fromLast() const {
    Ints order = {0, spatial + 1};
    for (int64_t i = 0; i < spatial; ++i)
      order.push_back(i + 1);
    return order;
  }
  Ints outputDims() const { // [N, outputs..., C]
    Ints dims(gridDims.begin(), gridDims.end() - 1);
    dims.push_back(channels);
    return dims;
  }
  Ints wide() const { return {batch, outputs, channels}; }

  /// Calls `fn(index [N, outputs, 1 + spatial], isInside, tap of each dim)` for every combination of taps.
  void forEach(Emitter &e, const std::function<void(const Val &, const Val &, const std::vector<size_t> &)> &fn) const {
    std::vector<size_t> which(size_t(spatial), 0);
    Shape column{DType::I64, {batch, outputs, 1}};
    while (true) {
      Vals parts = {e.iota(column, 0)};
      Val isInside;
      for (int64_t d = 0; d < spatial; ++d) {
        const Val &place = taps[d][which[d]].place;
        Val fits = both(e, e.compare(place, e.like(place, 0), "GE"), e.compare(place, e.like(place, double(imageDims[d + 2] - 1)), "LE"));
        parts.push_back(e.reshape(e.convert(e.select(fits, place, e.like(place, 0)), DType::I64), column.dims));
        isInside = isInside ? both(e, isInside, fits) : fits;
      }
      fn(e.concatenate(parts, 2), isInside, which);
      size_t d = 0;
      while (d < which.size() && ++which[d] == taps[d].size())
        which[d++] = 0;
      if (d == which.size())
        return;
    }
  }
  /// Returns the product of the weights; for dim `slopeOf` the derivative replaces the weight.
  Val weight(Emitter &e, const std::vector<size_t> &which, int64_t slopeOf = -1) const {
    Val made;
    for (int64_t d = 0; d < spatial; ++d) {
      const Tap &tap = taps[d][which[d]];
      const Val &factor = d == slopeOf ? tap.slope : tap.weight;
      made = made ? e.mul(made, factor) : factor;
    }
    return made;
  }
  Val values(Emitter &e, const Val &index, const Val &isInside) const {
    Val taken = gatherAt(e, image, index, spatial + 1);
    return e.select(e.broadcastInDim(isInside, wide(), {0, 1}), taken, e.like(taken, 0));
  }
};

/// Arguments: input, grid, interpolation, padding, align_corners.
Vals sample(const Call &c) {
  Emitter &e = c.e;
  Sampler s(c, 0);
  if (s.taps.empty() || c.out().count() == 0)
    return {e.failed() ? Val() : zeros(e, c.out())};
  Val sum;
  s.forEach(e, [&](const Val &index, const Val &isInside, const std::vector<size_t> &which) {
    Val part = e.mul(s.values(e, index, isInside), e.broadcastInDim(s.weight(e, which), s.wide(), {0, 1}));
    sum = sum ? e.add(sum, part) : part;
  });
  return {finished(c, e.transpose(e.reshape(sum, s.outputDims()), s.fromLast()))};
}

/// Arguments: grad, input, grid, interpolation, padding, align_corners, mask.
Vals sampleBackward(const Call &c) {
  Emitter &e = c.e;
  Sampler s(c, 1);
  if (s.taps.empty())
    return {Val(), Val()};
  Ints mask = c.ints(6);
  Val grad = e.convert(c.val(0), s.image.dtype());
  grad = e.reshape(e.transpose(grad, s.toLast()), s.wide());
  Val ofImage = e.like(s.image, 0);
  Vals ofGrid(size_t(s.spatial), e.constant(0.0, {grad.dtype(), {s.batch, s.outputs}}));
  bool wantsGrid = mask.size() < 2 || mask[1], wantsImage = mask.empty() || mask[0];
  s.forEach(e, [&](const Val &index, const Val &isInside, const std::vector<size_t> &which) {
    Val zero = e.like(grad, 0), fits = e.broadcastInDim(isInside, s.wide(), {0, 1});
    if (wantsImage) {
      Val share = e.mul(grad, e.broadcastInDim(s.weight(e, which), s.wide(), {0, 1}));
      ofImage = scatterAt(e, ofImage, index, e.select(fits, share, zero), s.spatial + 1, "stablehlo.add");
    }
    if (wantsGrid) {
      Val along = total(e, e.mul(grad, s.values(e, index, isInside)), {2});
      for (int64_t d = 0; d < s.spatial; ++d)
        ofGrid[d] = e.add(ofGrid[d], e.mul(along, s.weight(e, which, d)));
    }
  });
  Vals parts;
  for (int64_t d = s.spatial - 1; d >= 0; --d)
    parts.push_back(e.reshape(ofGrid[d], {s.batch, s.outputs, 1}));
  Val first = c.out(0).dims == s.imageDims ? finished(c, e.transpose(ofImage, s.fromLast())) : zeros(e, c.out(0));
  return {first, finished(c, e.concatenate(parts, 2), 1)};
}

} // namespace

void registerGridSampling(Registry &r) {
  r.add({"grid_sampler_2d", "grid_sampler_3d", "_grid_sampler_2d_cpu_fallback"}, sample);
  r.add({"grid_sampler_2d_backward", "grid_sampler_3d_backward"}, sampleBackward);
}

} // namespace millrace::tracing
