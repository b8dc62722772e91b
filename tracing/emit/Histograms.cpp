// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Histograms.cpp - Histograms ------------------------------------------===//
#include "tracing/emit/Order.h"

#include <algorithm>
#include <limits>

namespace millrace::tracing {
namespace {

using namespace order;

/// The first and the last edge, in the type of x.
struct Range {
  Val low, high;
};

/// Returns the extrema of x, or zeros if x has no elements. widened() moves equal extrema apart.
Range rangeOf(Emitter &e, const Val &x) {
  Shape scalar{x.dtype(), {}};
  Range range{e.constant(int64_t(0), scalar), e.constant(int64_t(0), scalar)};
  if (x.shape.count()) {
    range.low = e.reduce(x, e.highest(x.dtype()), {0}, "stablehlo.minimum");
    range.high = e.reduce(x, e.lowest(x.dtype()), {0}, "stablehlo.maximum");
  }
  return range;
}
Range widened(Emitter &e, const Range &range, double by) {
  Val same = e.compare(range.low, range.high, "EQ"), step = e.like(range.low, by);
  return {e.select(same, e.sub(range.low, step), range.low), e.select(same, e.add(range.high, step), range.high)};
}

/// Returns `bins` + 1 edges, which are computed from both ends so that they are symmetric.
Val edgesOf(Emitter &e, const Range &range, int64_t bins) {
  Shape shape{range.low.dtype(), {bins + 1}};
  Val low = e.broadcast(range.low, shape.dims), high = e.broadcast(range.high, shape.dims);
  Val step = e.div(e.sub(high, low), e.constant(bins, shape)), index = e.iota(shape, 0);
  Val fromLow = e.add(low, e.mul(step, index)), fromHigh = e.sub(high, e.mul(step, e.sub(e.constant(bins, shape), index)));
  return e.select(e.compare(index, e.constant(double(bins + 1) / 2, shape), "LT"), fromLow, fromHigh);
}

/// Returns the bin of every element, or -1 if it is outside of the edges. The last bin includes its upper edge.
Val binsOf(Emitter &e, const Val &x, const Val &edges) {
  if (!x || !edges)
    return {};
  int64_t bins = edges.dim(0) - 1;
  Val found = search(e, edges, x, /*right=*/true), one = e.like(found, 1);
  Val last = e.broadcast(e.reshape(e.sliceDim(edges, 0, bins, bins + 1), {}), x.dims());
  Val bin = e.select(e.compare(x, last, "EQ"), e.like(found, double(bins)), found);
  bin = e.sub(bin, one);
  Val outside = e.op("stablehlo.or", {isNan(e, x), e.compare(bin, e.like(bin, double(bins)), "GE")});
  return e.select(outside, e.like(bin, -1), bin);
}

/// Arguments: self, bins, min, max.
Vals histc(const Call &c) {
  Emitter &e = c.e;
  DType math = runtime::isFloat(c.out().dtype) ? mathType(c.out().dtype) : DType::F64; // edges between integers are fractions
  Val x = c.val(0);
  if (!x)
    return {x};
  int64_t bins = c.integer(1, 100), n = x.shape.count();
  x = e.reshape(e.convert(x, math), {n});
  double low = c.real(2), high = c.real(3);
  Shape scalar{math, {}};
  Range range = low == high && n ? rangeOf(e, x) : Range{e.constant(low, scalar), e.constant(high, scalar)};
  range = widened(e, range, 1);
  Val from = e.broadcast(range.low, x.dims()), to = e.broadcast(range.high, x.dims());
  Val scaled = e.mul(e.div(e.sub(x, from), e.sub(to, from)), e.like(x, double(bins)));
  Val bin = e.convert(scaled, DType::I64);
  bin = e.op("stablehlo.minimum", {bin, e.like(bin, double(bins - 1))});
  Val inside = e.op("stablehlo.and", {e.compare(x, from, "GE"), e.compare(x, to, "LE")});
  bin = e.select(inside, bin, e.like(bin, -1));
  Val counts = addAt(e, e.constant(int64_t(0), {DType::I64, {bins}}), bin, e.constant(int64_t(1), bin.shape));
  return {e.convert(counts, c.out().dtype)};
}

/// Counts points [n, d], or sums their weights, with edges per dim. `density` divides by the volume of the bin and by the total.
Val histogram(Emitter &e, const Val &points, const Vals &edges, const std::optional<Val> &weight, bool density, const Shape &result) {
  int64_t n = points.dim(0), total = result.count();
  Val bin = e.constant(int64_t(0), {DType::I64, {n}}), outside = e.constant(int64_t(0), {DType::I1, {n}});
  for (size_t d = 0; d < edges.size(); ++d) {
    Val here = binsOf(e, e.reshape(e.sliceDim(points, 1, int64_t(d), int64_t(d) + 1), {n}), edges[d]);
    bin = e.add(e.mul(bin, e.like(bin, double(edges[d].dim(0) - 1))), here);
    outside = e.op("stablehlo.or", {outside, e.compare(here, e.like(here, 0), "LT")});
  }
  bin = e.select(outside, e.like(bin, -1), bin);
  Val updates = weight ? e.reshape(e.convert(*weight, result.dtype), {n}) : e.constant(int64_t(1), {result.dtype, {n}});
  Val made = e.reshape(addAt(e, e.constant(int64_t(0), {result.dtype, {total}}), bin, updates), result.dims);
  if (!density)
    return made;
  Ints all;
  for (size_t d = 0; d < edges.size(); ++d)
    all.push_back(int64_t(d));
  made = e.div(made, e.broadcast(sum(e, made, all), result.dims));
  for (size_t d = 0; d < edges.size(); ++d) {
    int64_t bins = edges[d].dim(0) - 1;
    Val widths = e.sub(e.sliceDim(edges[d], 0, 1, bins + 1), e.sliceDim(edges[d], 0, 0, bins));
    made = e.div(made, e.broadcastInDim(widths, result.dims, {int64_t(d)}));
  }
  return made;
}

std::vector<double> reals(const Call &c, size_t index) {
  const auto *list = index < c.args.size() ? std::get_if<std::vector<double>>(&c.args[index]) : nullptr;
  return list ? *list : std::vector<double>();
}

/// Returns the edges of histograms over the last dim of x, from the given range or from the extrema.
Vals edgesOfAll(Emitter &e, const Val &points, const Ints &bins, const std::vector<double> &range) {
  Vals made;
  for (size_t d = 0; d < bins.size(); ++d) {
    Shape scalar{points.dtype(), {}};
    Range found = range.size() == 2 * bins.size()
                      ? Range{e.constant(range[2 * d], scalar), e.constant(range[2 * d + 1], scalar)}
                      : rangeOf(e, e.reshape(e.sliceDim(points, 1, int64_t(d), int64_t(d) + 1), {points.dim(0)}));
    if (range.empty() && points.dim(0) == 0)
      found = {e.constant(0.0, scalar), e.constant(1.0, scalar)};
    made.push_back(edgesOf(e, widened(e, found, 0.5), bins[d]));
  }
  return made;
}

Val pointsOf(const Call &c, bool isFlat) {
  Val x = c.val(0);
  if (!x)
    return x;
  int64_t dims = isFlat ? 1 : x.dim(-1);
  return c.e.reshape(x, {dims ? x.shape.count() / dims : 0, dims});
}

/// Arguments: self, bins (tensors), weight, density.
Vals withEdges(const Call &c, bool isFlat) {
  Val points = pointsOf(c, isFlat);
  Vals edges;
  if (isFlat)
    edges.push_back(c.val(1));
  else
    for (const std::optional<Val> &edge : c.vals(1))
      edges.push_back(*edge);
  if (!points || !edges[0])
    return Vals(c.results.size());
  Vals made = {histogram(c.e, points, edges, c.optional(2), c.flag(3), c.out())};
  if (isFlat)
    made.push_back(edges[0]);
  return made;
}

/// Arguments: self, bins (numbers), range, weight, density.
Vals withCounts(const Call &c, bool isFlat) {
  Val points = pointsOf(c, isFlat);
  if (!points)
    return Vals(c.results.size());
  Vals edges = edgesOfAll(c.e, points, c.ints(1), reals(c, 2));
  Vals made = {histogram(c.e, points, edges, c.optional(3), c.flag(4), c.out())};
  if (isFlat)
    made.push_back(edges[0]);
  return made;
}

} // namespace

void registerHistograms(Registry &r) {
  r.add({"histc"}, histc, /*numbersAreStatic=*/true);
  r.add({"histogram.bins_tensor"}, [](const Call &c) { return withEdges(c, true); });
  r.add({"histogram.bin_ct"}, [](const Call &c) { return withCounts(c, true); });
  r.add({"_histogramdd_from_bin_cts"}, [](const Call &c) { return withCounts(c, false); });
  r.add({"_histogramdd_from_bin_tensors"}, [](const Call &c) { return withEdges(c, false); });
  r.add({"_histogramdd_bin_edges"}, [](const Call &c) -> Vals {
    Val points = pointsOf(c, false);
    return points ? edgesOfAll(c.e, points, c.ints(1), reals(c, 2)) : Vals(c.results.size());
  });
}

} // namespace millrace::tracing
