// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Resampling.cpp - Interpolation, adaptive averages, reflected edges --===//
#include "tracing/emit/Resampling.h"

#include <cmath>

namespace millrace::tracing {

Taps transposed(const Taps &taps, int64_t count) {
  Taps made(static_cast<size_t>(count));
  for (size_t row = 0; row < taps.size(); ++row)
    for (const Tap &tap : taps[row])
      made[size_t(tap.index)].push_back({int64_t(row), tap.weight});
  return made;
}

namespace {

/// Returns k if the result repeats every element k times, else 0.
int64_t repeats(const Taps &taps, int64_t count) {
  int64_t rows = int64_t(taps.size()), k = count ? rows / count : 0;
  if (k == 0 || k * count != rows)
    return 0;
  for (int64_t row = 0; row < rows; ++row)
    if (taps[row].size() != 1 || taps[row][0].index != row / k || taps[row][0].weight != 1)
      return 0;
  return k;
}

/// Returns k if every result is the sum of k adjacent elements with one common weight, else 0.
int64_t blocks(const Taps &taps, int64_t count) {
  int64_t rows = int64_t(taps.size()), k = rows ? count / rows : 0;
  if (k == 0 || k * rows != count)
    return 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (int64_t(taps[row].size()) != k)
      return 0;
    for (int64_t i = 0; i < k; ++i)
      if (taps[row][i].index != row * k + i || taps[row][i].weight != taps[0][0].weight)
        return 0;
  }
  return k;
}

Val scaledBy(Emitter &e, const Val &x, double factor) { return factor == 1 ? x : e.mul(x, e.like(x, factor)); }

} // namespace

Val resample(Emitter &e, const Val &x, int64_t dim, const Taps &taps) {
  if (!x)
    return x;
  int64_t rows = int64_t(taps.size()), count = x.dims()[dim];
  Ints dims = x.dims();
  dims[dim] = rows;
  size_t most = 0;
  bool isRagged = false, isPlain = true;
  for (const std::vector<Tap> &row : taps) {
    isRagged |= row.size() != taps[0].size();
    most = std::max(most, row.size());
    for (const Tap &tap : row)
      isPlain &= tap.weight == 1;
  }
  if (Shape{x.dtype(), dims}.count() == 0 || most == 0 || x.shape.count() == 0)
    return zeros(e, {x.dtype(), dims});
  Ints split = x.dims();
  if (int64_t k = repeats(taps, count)) {
    if (k == 1)
      return x;
    split.insert(split.begin() + dim + 1, k);
    return e.reshape(spreadOver(e, x, {dim + 1}, split), dims);
  }
  if (int64_t k = blocks(taps, count)) {
    split[dim] = rows;
    split.insert(split.begin() + dim + 1, k);
    return scaledBy(e, total(e, e.reshape(x, split), {dim + 1}), taps[0][0].weight);
  }
  // Rows that are shorter than others are padded with elements that are masked. A weight of 0 would not do, because it turns an infinity into NaN.
  Ints index, present;
  std::vector<double> weights;
  for (const std::vector<Tap> &row : taps)
    for (size_t i = 0; i < most; ++i) {
      bool isThere = i < row.size();
      index.push_back(isThere ? row[i].index : row.empty() ? 0 : row[0].index);
      weights.push_back(isThere ? row[i].weight : 0);
      present.push_back(isThere);
    }
  auto column = [&](const auto &table, size_t i) {
    std::decay_t<decltype(table)> made;
    for (size_t at = i; at < table.size(); at += most)
      made.push_back(table[at]);
    return made;
  };
  if (most <= 4) {
    Val sum;
    for (size_t i = 0; i < most; ++i) {
      Val taken = takeAlong(e, x, e.constantInts(column(index, i), {DType::I64, {rows}}), dim);
      if (!isPlain)
        taken = e.mul(taken, e.broadcastInDim(e.constantReals(column(weights, i), {x.dtype(), {rows}}), dims, {dim}));
      Ints mask = column(present, i);
      if (std::count(mask.begin(), mask.end(), 0))
        taken = e.select(e.broadcastInDim(e.constantInts(mask, {DType::I1, {rows}}), dims, {dim}), taken, e.like(taken, 0));
      sum = i ? e.add(sum, taken) : taken;
    }
    return sum;
  }
  Ints table = {rows, int64_t(most)};
  Val taken = takeAlong(e, x, e.constantInts(index, {DType::I64, table}), dim);
  if (!isPlain)
    taken = e.mul(taken, e.broadcastInDim(e.constantReals(weights, {x.dtype(), table}), taken.dims(), {dim, dim + 1}));
  if (isRagged)
    taken = e.select(e.broadcastInDim(e.constantInts(present, {DType::I1, table}), taken.dims(), {dim, dim + 1}), taken,
                     e.like(taken, 0));
  return total(e, taken, {dim + 1});
}

namespace {

//===-- Interpolation -------------------------------------------------------===//

enum class Filter { Nearest, NearestExact, Linear, Cubic, LinearSmooth, CubicSmooth };

double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Returns the taps that resize `count` elements to `rows`. `given` is the scale factor, or 0 if there is none. Positions are computed as in PyTorch,
/// in f32 unless the tensor is f64, because near an edge rounding decides which neighbour is read.
Taps interpolation(Filter kind, int64_t count, int64_t rows, bool alignCorners, double given, bool isDouble) {
  auto rounded = [&](double value) { return isDouble ? value : double(float(value)); };
  bool isNearest = kind == Filter::Nearest || kind == Filter::NearestExact;
  double scale = given > 0 ? rounded(1.0 / given) : isDouble ? double(count) / double(rows) : double(float(count) / float(rows));
  if (isNearest)
    scale = given > 0 ? double(float(1.0 / given)) : double(float(count) / float(rows));
  else if (alignCorners)
    scale = rows > 1 ? rounded(rounded(double(count - 1)) / rounded(double(rows - 1))) : 0;
  Taps made(static_cast<size_t>(rows));
  auto clamped = [&](int64_t index) { return std::clamp<int64_t>(index, 0, count - 1); };
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<Tap> &taps = made[row];
    if (isNearest) {
      float at = kind == Filter::Nearest ? float(row) * float(scale) : float((double(row) + 0.5) * scale);
      taps.push_back({clamped(int64_t(std::floor(at))), 1});
      continue;
    }
    if (kind == Filter::LinearSmooth || kind == Filter::CubicSmooth) {
      double size = kind == Filter::LinearSmooth ? 2 : 4, support = size / 2 * std::max(1.0, scale), sum = 0;
      double center = scale * (double(row) + 0.5), inverse = scale >= 1 ? 1 / scale : 1;
      int64_t first = std::max<int64_t>(int64_t(center - support + 0.5), 0);
      int64_t last = std::min<int64_t>(int64_t(center + support + 0.5), count);
      for (int64_t index = first; index < last; ++index) {
        double x = (double(index) - center + 0.5) * inverse;
        double weight = kind == Filter::LinearSmooth ? std::max(0.0, 1 - std::abs(x)) : cubic(x, -0.5);
        taps.push_back({index, weight});
        sum += weight;
      }
      for (Tap &tap : taps)
        tap.weight = sum ? tap.weight / sum : 0;
      continue;
    }
    double at = alignCorners ? rounded(scale * double(row)) : rounded(rounded(scale * rounded(double(row) + 0.5)) - 0.5);
    if (kind == Filter::Linear) {
      at = std::max(at, 0.0);
      int64_t low = clamped(int64_t(at)), high = clamped(low + 1);
      double share = std::clamp(at - double(low), 0.0, 1.0);
      taps = {{low, 1 - share}, {high, share}};
    } else {
      int64_t base = int64_t(std::floor(at));
      for (int64_t i = -1; i <= 2; ++i)
        taps.push_back({clamped(base + i), cubic(at - double(base + i), -0.75)});
    }
  }
  return made;
}

/// Rounds the weights as PyTorch does for bytes: to 16 bits, of which as many are fractional as the greatest weight allows.
void inFixedPoint(Taps &taps) {
  double greatest = 0;
  for (const std::vector<Tap> &row : taps)
    for (const Tap &tap : row)
      greatest = std::max(greatest, tap.weight);
  int bits = 0;
  while (bits < 22 && int64_t(0.5 + greatest * double(int64_t(2) << bits)) < (1 << 15))
    ++bits;
  for (std::vector<Tap> &row : taps)
    for (Tap &tap : row)
      tap.weight = std::ldexp(std::round(std::ldexp(tap.weight, bits)), -bits);
}

/// Arguments: self or grad, output_size, [input_size], [align_corners], a scale factor per dim.
Vals interpolate(const Call &c, Filter kind, int64_t spatial, bool isBackward) {
  Emitter &e = c.e;
  Val x = mathValue(c, 0);
  if (!x)
    return {x};
  bool isNearest = kind == Filter::Nearest || kind == Filter::NearestExact, isRounded = !isNearest && runtime::isInteger(x.dtype());
  if (isRounded) // images of bytes
    x = e.convert(x, DType::F64);
  size_t at = isBackward ? 3 : 2;
  bool alignCorners = !isNearest && c.flag(at);
  at += isNearest ? 0 : 1;
  for (int64_t i = spatial - 1; i >= 0; --i) {
    int64_t dim = x.rank() - spatial + i, from = isBackward ? c.out().dims[dim] : x.dims()[dim];
    int64_t to = isBackward ? x.dims()[dim] : c.out().dims[dim];
    Taps taps = interpolation(kind, from, to, alignCorners, c.real(at + size_t(i)), x.dtype() == DType::F64);
    if (isRounded && from != to)
      inFixedPoint(taps);
    x = resample(e, x, dim, isBackward ? transposed(taps, from) : taps);
    if (isRounded) // the result is rounded after each dim, as in PyTorch
      x = e.op("stablehlo.clamp", {e.constant(0.0, {DType::F64, {}}), e.op("stablehlo.floor", {e.add(x, e.like(x, 0.5))}),
                                   e.constant(255.0, {DType::F64, {}})});
  }
  return {finished(c, x)};
}

//===-- Adaptive averages ---------------------------------------------------===//

Taps averages(int64_t count, int64_t rows) {
  Taps made(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t start = row * count / rows, end = ((row + 1) * count + rows - 1) / rows;
    for (int64_t index = start; index < end; ++index)
      made[row].push_back({index, 1.0 / double(end - start)});
  }
  return made;
}

Vals adaptiveAverage(const Call &c, int64_t spatial, bool isBackward) {
  Val x = mathValue(c, 0);
  if (!x)
    return {x};
  for (int64_t dim = x.rank() - spatial; dim < x.rank(); ++dim) {
    int64_t from = isBackward ? c.out().dims[dim] : x.dims()[dim], to = isBackward ? x.dims()[dim] : c.out().dims[dim];
    Taps taps = averages(from, to);
    x = resample(c.e, x, dim, isBackward ? transposed(taps, from) : taps);
  }
  return {finished(c, x)};
}

//===-- Edges ---------------------------------------------------------------===//

Val reversedAlong(Emitter &e, const Val &x, int64_t dim) { return e.op("stablehlo.reverse", {x}, {{"dimensions", arrayText({dim})}}); }

/// Pads one dim by `low` elements in front and `high` elements behind; negative numbers cut off.
Val padded(Emitter &e, Val x, int64_t dim, int64_t low, int64_t high, bool isReflected) {
  if (!x)
    return x;
  int64_t count = x.dims()[dim];
  Vals parts;
  Ints repeated = x.dims();
  if (low > 0 && isReflected)
    parts.push_back(reversedAlong(e, e.sliceDim(x, dim, 1, low + 1), dim));
  else if (low > 0)
    repeated[dim] = low, parts.push_back(e.broadcast(e.sliceDim(x, dim, 0, 1), repeated));
  parts.push_back(e.sliceDim(x, dim, std::max<int64_t>(0, -low), count - std::max<int64_t>(0, -high)));
  if (high > 0 && isReflected)
    parts.push_back(reversedAlong(e, e.sliceDim(x, dim, count - 1 - high, count - 1), dim));
  else if (high > 0)
    repeated[dim] = high, parts.push_back(e.broadcast(e.sliceDim(x, dim, count - 1, count), repeated));
  return e.concatenate(parts, dim);
}

Taps edges(int64_t count, int64_t low, int64_t high, bool isReflected) {
  Taps made;
  for (int64_t i = -low; i < count + high; ++i) {
    int64_t index = !isReflected ? std::clamp<int64_t>(i, 0, count - 1) : i < 0 ? -i : i >= count ? 2 * (count - 1) - i : i;
    made.push_back({{index, 1}});
  }
  return made;
}

/// Arguments: self, padding, or grad, self, padding. The padding has pairs of numbers, from the last dim on.
Vals edgePad(const Call &c, int64_t spatial, bool isReflected, bool isBackward) {
  Val x = isBackward ? mathValue(c, 0) : c.val(0);
  Ints pads = c.ints(isBackward ? 2 : 1);
  if (!x || int64_t(pads.size()) != 2 * spatial)
    return {x ? c.e.fail("padding of this number of dims is not supported") : x};
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t dim = x.rank() - 1 - i, low = pads[2 * i], high = pads[2 * i + 1];
    if (isBackward)
      x = resample(c.e, x, dim, transposed(edges(c.out().dims[dim], low, high, isReflected), c.out().dims[dim]));
    else
      x = padded(c.e, x, dim, low, high, isReflected);
  }
  return {finished(c, x)};
}

} // namespace

void registerResampling(Registry &r) {
  for (auto [text, count, kind] : {std::tuple{"upsample_nearest1d", 1, Filter::Nearest},
                                   {"upsample_nearest2d", 2, Filter::Nearest},
                                   {"upsample_nearest3d", 3, Filter::Nearest},
                                   {"_upsample_nearest_exact1d", 1, Filter::NearestExact},
                                   {"_upsample_nearest_exact2d", 2, Filter::NearestExact},
                                   {"_upsample_nearest_exact3d", 3, Filter::NearestExact},
                                   {"upsample_linear1d", 1, Filter::Linear},
                                   {"upsample_bilinear2d", 2, Filter::Linear},
                                   {"upsample_trilinear3d", 3, Filter::Linear},
                                   {"upsample_bicubic2d", 2, Filter::Cubic},
                                   {"_upsample_bilinear2d_aa", 2, Filter::LinearSmooth},
                                   {"_upsample_bicubic2d_aa", 2, Filter::CubicSmooth}}) {
    std::string name = text;
    int64_t spatial = count;
    Filter how = kind;
    r.add({name.c_str()}, [=](const Call &c) { return interpolate(c, how, spatial, false); });
    r.add({(name + "_backward").c_str()}, [=](const Call &c) { return interpolate(c, how, spatial, true); });
  }
  for (int64_t spatial : {2, 3}) {
    std::string name = "_adaptive_avg_pool" + std::to_string(spatial) + "d";
    r.add({name.c_str()}, [=](const Call &c) { return adaptiveAverage(c, spatial, false); });
    r.add({(name + "_backward").c_str()}, [=](const Call &c) { return adaptiveAverage(c, spatial, true); });
  }
  for (int64_t spatial : {1, 2, 3})
    for (bool isReflected : {true, false}) {
      std::string name = (isReflected ? "reflection_pad" : "replication_pad") + std::to_string(spatial) + "d";
      r.add({name.c_str()}, [=](const Call &c) { return edgePad(c, spatial, isReflected, false); });
      r.add({(name + "_backward").c_str()}, [=](const Call &c) { return edgePad(c, spatial, isReflected, true); });
    }
}

} // namespace millrace::tracing
