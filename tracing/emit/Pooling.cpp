// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pooling.cpp - Windows over images -----------------------------------===//
#include "tracing/emit/Emit.h"

#include <algorithm>
#include <numeric>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

/// The arguments from `first` on: kernel_size, stride, padding. The windows extend over the last dims.
struct Pool {
  Ints window, stride, low, high, dilation;
  std::string padding;
  bool isValid = true;
  Pool(const Call &c, size_t first, int64_t spatial, int64_t rank, const Ints &input, const Ints &output, const Ints &dilations) {
    auto expanded = [&](Ints values, const Ints &otherwise) {
      if (values.empty())
        return otherwise;
      if (values.size() == 1)
        values.resize(spatial, values[0]);
      return values;
    };
    Ints kernel = expanded(c.ints(first), {}), steps = expanded(c.ints(first + 1), kernel);
    Ints pads = expanded(c.ints(first + 2), Ints(spatial, 0)), spread = expanded(dilations, Ints(spatial, 1));
    window = stride = dilation = Ints(rank, 1);
    low = high = Ints(rank, 0);
    for (int64_t i = 0; i < spatial; ++i) {
      int64_t at = rank - spatial + i;
      window[at] = kernel[i];
      stride[at] = steps[i];
      dilation[at] = spread[i];
      low[at] = pads[i];
      // The padding reaches to the end of the last window, which in ceil mode is beyond the given padding.
      high[at] = (output[at] - 1) * steps[i] + spread[i] * (kernel[i] - 1) + 1 - input[at] - pads[i];
    }
    padding = "dense<[";
    for (int64_t i = 0; i < rank; ++i)
      padding += (i ? ", [" : "[") + std::to_string(low[i]) + ", " + std::to_string(high[i]) + "]";
    padding += "]> : tensor<" + std::to_string(rank) + "x2xi64>";
  }
  std::vector<NamedText> attributes() const {
    return {{"window_dimensions", arrayText(window)}, {"window_strides", arrayText(stride)},
            {"window_dilations", arrayText(dilation)}, {"padding", padding}};
  }
};

/// Computes the greatest value of each window, and the flat position in the image of its first occurrence.
Vals maxPool(const Call &c, int64_t spatial) {
  Emitter &e = c.e;
  Val x = c.val(0);
  Pool pool(c, 1, spatial, x.rank(), x.dims(), c.out().dims, c.ints(4));
  Ints image(x.dims().end() - spatial, x.dims().end());
  int64_t count = std::accumulate(image.begin(), image.end(), int64_t(1), std::multiplies<>());
  Val flat = e.reshape(e.iota({DType::I64, {count}}, 0), image);
  Val positions = e.broadcast(flat, x.dims());
  Shape value{x.dtype(), {}}, position{DType::I64, {}};
  // The values are computed without the positions, which are seldom used: gradients find them again.
  Val greatest = e.ops("stablehlo.reduce_window", {x, e.lowest(x.dtype())}, pool.attributes(), {c.out(0)}, {value, value},
                       [&](const Vals &in) { return Vals{e.op("stablehlo.maximum", in)}; })[0];
  Val places = e.ops("stablehlo.reduce_window", {x, positions, e.lowest(x.dtype()), e.constant(count, position)},
               pool.attributes(), {c.out(0), c.out(1)}, {value, position, value, position}, [&](const Vals &in) -> Vals {
                 const Val &a = in[0], &i = in[1], &b = in[2], &j = in[3];
                 Val isNan = e.compare(a, a, "NE"), otherNan = e.compare(b, b, "NE");
                 Val same = e.op("stablehlo.or", {e.compare(a, b, "EQ"), e.op("stablehlo.and", {isNan, otherNan})});
                 Val better = e.op("stablehlo.or", {e.compare(a, b, "GT"), e.op("stablehlo.and", {isNan, e.op("stablehlo.not", {otherNan})})});
                 Val first = e.op("stablehlo.or", {better, e.op("stablehlo.and", {same, e.compare(i, j, "LT")})});
                 return {e.select(first, a, b), e.select(first, i, j)};
               })[1];
  return {greatest, places};
}

/// Arguments: grad, self, kernel, stride, padding, dilation, ceil_mode, indices. Adds each gradient at the position of the window's maximum.
Vals maxPoolBackward(const Call &c, int64_t spatial) {
  Emitter &e = c.e;
  Val grad = c.val(0), x = c.val(1), index = c.val(7);
  DType math = mathType(x.dtype());
  Shape scalar{math, {}};
  Pool pool(c, 2, spatial, x.rank(), x.dims(), grad.dims(), c.ints(5));
  if (pool.dilation == Ints(x.rank(), 1) && x.shape.count() && grad.shape.count()) {
    // The select region chooses the first greatest element of each window, with NaN as the greatest value, as the forward operator does.
    Region select{{scalar, scalar}, [&](const Vals &in) -> Vals {
                    return {e.op("stablehlo.or", {e.compare(in[0], in[1], "GE"), e.compare(in[0], in[0], "NE")})};
                  }};
    Region sum{{scalar, scalar}, [&](const Vals &in) -> Vals { return {e.add(in[0], in[1])}; }};
    std::vector<NamedText> attributes = {{"window_dimensions", arrayText(pool.window)}, {"window_strides", arrayText(pool.stride)},
                                         {"padding", pool.padding}};
    Val made = e.ops("stablehlo.select_and_scatter", {e.convert(x, math), e.convert(grad, math), e.constant(int64_t(0), scalar)},
                     attributes, {Shape{math, x.dims()}}, {select, sum})[0];
    return {e.convert(made, x.dtype())};
  }
  int64_t count = 1, planes = 1, outputs = 1;
  for (int64_t i = 0; i < x.rank(); ++i)
    (i < x.rank() - spatial ? planes : count) *= x.dims()[i];
  outputs = grad.shape.count() / planes;
  Shape flat{DType::I64, {planes, outputs}};
  Val plane = e.reshape(e.iota(flat, 0), {planes, outputs, 1}), place = e.reshape(index, {planes, outputs, 1});
  Val made = e.ops("stablehlo.scatter",
                   {e.constant(int64_t(0), {math, {planes, count}}), e.concatenate({plane, place}, 2),
                    e.reshape(e.convert(grad, math), {planes, outputs})},
                   {{"scatter_dimension_numbers", "#stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>"}},
                   {Shape{math, {planes, count}}}, {scalar, scalar},
                   [&](const Vals &in) { return Vals{e.add(in[0], in[1])}; })[0];
  return {e.convert(e.reshape(made, x.dims()), x.dtype())};
}

/// Computes sums over windows.
Val sumPool(Emitter &e, const Val &x, const Pool &pool, const Ints &dims) {
  Shape scalar{x.dtype(), {}};
  return e.ops("stablehlo.reduce_window", {x, e.constant(int64_t(0), scalar)}, pool.attributes(), {Shape{x.dtype(), dims}},
               {scalar, scalar}, [&](const Vals &in) { return Vals{e.add(in[0], in[1])}; })[0];
}

/// Computes the divisor of the sum of each window. In ceil mode a window may reach beyond the padding: elements there never count. Padding counts if
/// `countsPadding` is true.
Val divisorOf(Emitter &e, const Pool &pool, const Ints &input, const Shape &output, bool countsPadding) {
  Val made;
  for (int64_t d = 0; d < int64_t(input.size()); ++d) {
    std::vector<double> counts;
    bool isEqual = true;
    for (int64_t o = 0; o < output.dims[d]; ++o) {
      int64_t start = o * pool.stride[d] - pool.low[d], end = std::min(start + pool.window[d], input[d] + pool.low[d]);
      if (!countsPadding) {
        start = std::max<int64_t>(start, 0);
        end = std::min(end, input[d]);
      }
      counts.push_back(double(end - start));
      isEqual &= counts.back() == counts.front();
    }
    if (counts.empty() || (isEqual && counts[0] == 1))
      continue;
    Val factor = isEqual ? e.constant(counts[0], output)
                         : e.broadcastInDim(e.constantReals(counts, {output.dtype, {output.dims[d]}}), output.dims, {d});
    made = made ? e.mul(made, factor) : factor;
  }
  return made ? made : e.constant(1.0, output);
}

/// Arguments: self, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override.
Vals avgPool(const Call &c, int64_t spatial) {
  Emitter &e = c.e;
  Val x = e.convert(c.val(0), mathType(c.out().dtype));
  if (!x || c.out().count() == 0)
    return {x ? e.constant(int64_t(0), c.out()) : x};
  Pool pool(c, 1, spatial, x.rank(), x.dims(), c.out().dims, {});
  Val total = sumPool(e, x, pool, c.out().dims);
  Val divisor = c.has(6) ? e.like(total, c.real(6)) : divisorOf(e, pool, x.dims(), total.shape, c.flag(5, true));
  return {e.convert(e.div(total, divisor), c.out().dtype)};
}

/// Arguments: grad, self, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override. Adds each window's gradient to its elements.
Vals avgPoolBackward(const Call &c, int64_t spatial) {
  Emitter &e = c.e;
  DType math = mathType(c.out().dtype);
  Val grad = e.convert(c.val(0), math), x = c.val(1);
  if (!grad || !x || c.out().count() == 0 || grad.shape.count() == 0)
    return {grad ? e.constant(int64_t(0), c.out()) : grad};
  Pool pool(c, 2, spatial, x.rank(), x.dims(), grad.dims(), {});
  Val divisor = c.has(7) ? e.like(grad, c.real(7)) : divisorOf(e, pool, x.dims(), grad.shape, c.flag(6, true));
  Ints low(x.rank(), 0), high(x.rank(), 0), interior(x.rank(), 0);
  Pool full = pool;
  full.stride = Ints(x.rank(), 1);
  for (int64_t i = 0; i < x.rank(); ++i) {
    interior[i] = pool.stride[i] - 1;
    low[i] = pool.window[i] - 1 - pool.low[i];
    int64_t length = (grad.dims()[i] - 1) * pool.stride[i] + 1;
    high[i] = x.dims()[i] + pool.window[i] - 1 - length - low[i];
  }
  Val spread = e.pad(e.div(grad, divisor), e.constant(int64_t(0), {math, {}}), low, high, interior);
  full.padding = "dense<0> : tensor<" + std::to_string(x.rank()) + "x2xi64>";
  return {e.convert(sumPool(e, spread, full, x.dims()), c.out().dtype)};
}

} // namespace

void registerPooling(Registry &r) {
  r.add({"max_pool2d_with_indices"}, [](const Call &c) { return maxPool(c, 2); });
  r.add({"max_pool3d_with_indices"}, [](const Call &c) { return maxPool(c, 3); });
  r.add({"max_pool2d_with_indices_backward"}, [](const Call &c) { return maxPoolBackward(c, 2); });
  r.add({"max_pool3d_with_indices_backward"}, [](const Call &c) { return maxPoolBackward(c, 3); });
  r.add({"avg_pool2d"}, [](const Call &c) { return avgPool(c, 2); });
  r.add({"avg_pool3d"}, [](const Call &c) { return avgPool(c, 3); });
  r.add({"avg_pool2d_backward"}, [](const Call &c) { return avgPoolBackward(c, 2); });
  r.add({"avg_pool3d_backward"}, [](const Call &c) { return avgPoolBackward(c, 3); });
}

} // namespace millrace::tracing
