// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contractions.cpp - Matrix products and convolutions -----------------===//
#include "tracing/emit/Emit.h"

#include <algorithm>
#include <numeric>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

Val matmul(Emitter &e, const Val &a, const Val &b) {
  if (a.rank() == 3)
    return e.dot(a, b, {0}, {0}, {2}, {1});
  return e.dot(a, b, {}, {}, {a.rank() - 1}, {0});
}

Val scaledBy(const Call &c, const Val &value, size_t factor) {
  if (!c.has(factor) || (std::holds_alternative<int64_t>(c.args[factor]) && c.integer(factor) == 1))
    return value;
  return c.e.mul(value, c.e.broadcast(c.e.convert(c.val(factor), value.dtype()), value.dims()));
}

/// Computes beta * input + alpha * (a @ b); with `isSum` the products of all matrices of a batch are added up.
Vals addProduct(const Call &c, bool isSum) {
  Val product = isSum ? c.e.dot(c.val(1), c.val(2), {}, {}, {0, 2}, {0, 1}) : matmul(c.e, c.val(1), c.val(2));
  if (product && c.val(0).dtype() != product.dtype())
    return {c.e.fail("sums of operands of two types are not supported")};
  product = scaledBy(c, product, 4);
  if (c.has(3) && (std::holds_alternative<int64_t>(c.args[3]) || std::holds_alternative<double>(c.args[3])) && c.real(3) == 0)
    return {product};
  Val input = scaledBy(c, c.val(0), 3);
  return {c.e.add(c.e.broadcast(input, product.dims()), product)};
}

/// Arguments: a, b, offs. Products of groups that are consecutive along one dim and end at `offs`: rows of a (b has a matrix per group), columns of b
/// (a has a matrix per group), or the contracted dim (the result has a matrix per group). Elements outside of a group count as zero, so that no size
/// depends on values. Without `offs` both operands have a matrix per group.
Vals groupedProduct(const Call &c) {
  Emitter &e = c.e;
  Val a = c.val(0), b = c.val(1);
  if (!a || !b || c.has(3))
    return {c.has(3) ? e.fail("products of groups with a bias are not supported") : Val()};
  if (a.rank() == 3 && b.rank() == 3)
    return {e.convert(e.dot(a, b, {0}, {0}, {2}, {1}), c.out().dtype)};
  Val ends = e.convert(c.val(2), DType::I64);
  if (!ends)
    return {Val()};
  bool isOfColumns = a.rank() == 3;
  const Val &whole = isOfColumns ? b : a;
  int64_t groups = ends.dim(0), along = isOfColumns || b.rank() == 2 ? 1 : 0;
  Val zero = e.constant(int64_t(0), {DType::I64, {1}});
  Val starts = e.concatenate({zero, e.slice(ends, {0}, {groups - 1})}, 0);
  Ints dims = {groups, whole.dim(0), whole.dim(1)};
  Val at = e.iota({DType::I64, dims}, 1 + along);
  Val isInside = e.op("stablehlo.and", {e.compare(at, e.broadcastInDim(starts, dims, {0}), "GE"),
                                        e.compare(at, e.broadcastInDim(ends, dims, {0}), "LT")});
  Val parts = e.select(isInside, e.broadcastInDim(whole, dims, {1, 2}), e.constant(int64_t(0), {whole.dtype(), dims}));
  Val made = isOfColumns ? e.dot(a, parts, {}, {}, {0, 2}, {0, 1})
             : along == 0 ? e.dot(parts, b, {}, {}, {0, 2}, {0, 1})
                          : e.dot(parts, b, {}, {}, {2}, {0});
  return {e.convert(made, c.out().dtype)};
}

std::string matrixText(const std::vector<std::pair<int64_t, int64_t>> &rows) {
  std::string text = "dense<[";
  for (size_t i = 0; i < rows.size(); ++i)
    text += (i ? ", [" : "[") + std::to_string(rows[i].first) + ", " + std::to_string(rows[i].second) + "]";
  return text + "]> : tensor<" + std::to_string(rows.size()) + "x2xi64>";
}

/// Returns the text of a layout with the batch and feature dims first, for example "[b, f, 0, 1]".
std::string layout(const char *first, const char *second, int64_t spatial) {
  std::string text = std::string("[") + first + ", " + second;
  for (int64_t i = 0; i < spatial; ++i)
    text += ", " + std::to_string(i);
  return text + "]";
}

struct Window {
  Ints stride, lhsDilation, rhsDilation;
  std::vector<std::pair<int64_t, int64_t>> padding;
};

Val convolution(Emitter &e, const Val &x, const Val &w, const std::string &numbers, const Window &window,
                int64_t featureGroups, int64_t batchGroups, const Ints &dims) {
  std::vector<NamedText> attributes = {
      {"dimension_numbers", numbers},
      {"window_strides", arrayText(window.stride)},
      {"lhs_dilation", arrayText(window.lhsDilation)},
      {"rhs_dilation", arrayText(window.rhsDilation)},
      {"feature_group_count", intText(featureGroups)},
      {"batch_group_count", intText(batchGroups)}};
  if (!window.padding.empty())
    attributes.push_back({"padding", matrixText(window.padding)});
  return e.op("stablehlo.convolution", {x, w}, attributes, Shape{x.dtype(), dims});
}

/// The arguments from `first` on: stride, padding, dilation, transposed, output_padding, groups.
struct ConvolutionArguments {
  Ints stride, padding, dilation, outputPadding;
  bool transposed;
  int64_t groups, spatial;
  ConvolutionArguments(const Call &c, size_t first, int64_t spatial) : spatial(spatial) {
    stride = expanded(c.ints(first));
    padding = expanded(c.ints(first + 1));
    dilation = expanded(c.ints(first + 2));
    transposed = c.flag(first + 3);
    outputPadding = expanded(c.ints(first + 4));
    groups = c.integer(first + 5, 1);
  }
  Ints expanded(Ints values) const {
    if (values.size() == 1)
      values.resize(spatial, values[0]);
    return values;
  }
  Ints ones() const { return Ints(spatial, 1); }
};

std::string numbersText(const std::string &x, const std::string &w, const std::string &y) {
  return "#stablehlo.conv<" + x + "x" + w + "->" + y + ">";
}

/// Converts [i, o/groups, ...] to [o, i/groups, ...], or the other way round.
Val swapChannels(Emitter &e, const Val &w, int64_t groups) {
  Ints permutation(w.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[1]);
  if (groups == 1)
    return e.transpose(w, permutation);
  Ints split = w.dims(), merged = w.dims();
  split[0] /= groups;
  split.insert(split.begin(), groups);
  Ints grouped(split.size());
  std::iota(grouped.begin(), grouped.end(), 0);
  std::swap(grouped[1], grouped[2]);
  merged[0] = groups * w.dim(1);
  merged[1] = w.dim(0) / groups;
  return e.reshape(e.transpose(e.reshape(w, split), grouped), merged);
}

Val reversed(Emitter &e, const Val &w) {
  Ints dims(w.rank() - 2);
  std::iota(dims.begin(), dims.end(), 2);
  return e.op("stablehlo.reverse", {w}, {{"dimensions", arrayText(dims)}});
}

/// Computes the gradient of a convolution's input, which is also the transposed convolution: x is [b, o, ...], w is [o, i/groups, ...].
Val transposedConvolution(Emitter &e, const Val &x, const Val &w, const ConvolutionArguments &a, const Ints &dims) {
  Window window{a.ones(), a.stride, a.dilation, {}};
  for (int64_t i = 0; i < a.spatial; ++i) {
    int64_t reach = a.dilation[i] * (w.dims()[i + 2] - 1);
    int64_t low = reach - a.padding[i];
    int64_t length = (x.dims()[i + 2] - 1) * a.stride[i] + 1;
    window.padding.push_back({low, dims[i + 2] - (length + low - reach)});
  }
  std::string n = numbersText(layout("b", "f", a.spatial), layout("o", "i", a.spatial), layout("b", "f", a.spatial));
  return convolution(e, x, swapChannels(e, reversed(e, w), a.groups), n, window, a.groups, 1, dims);
}

Val addBias(Emitter &e, const Val &y, const std::optional<Val> &bias) {
  return bias ? e.add(y, e.broadcastInDim(*bias, y.dims(), {1})) : y;
}

Vals convolutionForward(const Call &c) {
  Val x = c.val(0), w = c.val(1);
  if (x.rank() != w.rank())
    return {c.e.fail("a convolution without a batch dim is not supported")};
  ConvolutionArguments a(c, 3, x.rank() - 2);
  if (std::any_of(a.padding.begin(), a.padding.end(), [](int64_t p) { return p < 0; }))
    return {c.e.fail("negative padding")};
  if (a.transposed)
    return {addBias(c.e, transposedConvolution(c.e, x, w, a, c.out().dims), c.optional(2))};
  Window window{a.stride, a.ones(), a.dilation, {}};
  for (int64_t pad : a.padding)
    window.padding.push_back({pad, pad});
  std::string n = numbersText(layout("b", "f", a.spatial), layout("o", "i", a.spatial), layout("b", "f", a.spatial));
  return {addBias(c.e, convolution(c.e, x, w, n, window, a.groups, 1, c.out().dims), c.optional(2))};
}

/// Computes the gradient of the weights [o, i/groups, ...] from the input and the gradient of the result: a convolution whose batch dim is the
/// channels, with strides and dilations exchanged.
Val weightGradient(Emitter &e, const Val &x, const Val &grad, const ConvolutionArguments &a, const Ints &dims) {
  Window window{a.dilation, a.ones(), a.stride, {}};
  for (int64_t i = 0; i < a.spatial; ++i) {
    int64_t used = (grad.dims()[i + 2] - 1) * a.stride[i] + 1 + a.dilation[i] * (dims[i + 2] - 1);
    window.padding.push_back({a.padding[i], used - x.dims()[i + 2] - a.padding[i]});
  }
  std::string n = numbersText(layout("f", "b", a.spatial), layout("i", "o", a.spatial), layout("f", "b", a.spatial));
  if (a.groups == 1)
    return convolution(e, x, grad, n, window, 1, 1, dims);
  return convolution(e, x, grad, n, window, 1, a.groups, dims);
}

/// Arguments: grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask.
Vals convolutionBackward(const Call &c) {
  Emitter &e = c.e;
  Val grad = c.val(0), x = c.val(1), w = c.val(2);
  ConvolutionArguments a(c, 4, x.rank() - 2);
  Ints mask = c.ints(10);
  Vals result(3);
  if (mask.size() != 3)
    return {e.fail("expects three flags of results")};
  if (mask[0]) {
    if (a.transposed) {
      Window window{a.stride, a.ones(), a.dilation, {}};
      for (int64_t i = 0; i < a.spatial; ++i) {
        int64_t used = (x.dims()[i + 2] - 1) * a.stride[i] + 1 + a.dilation[i] * (w.dims()[i + 2] - 1);
        window.padding.push_back({a.padding[i], used - grad.dims()[i + 2] - a.padding[i]});
      }
      std::string n = numbersText(layout("b", "f", a.spatial), layout("o", "i", a.spatial), layout("b", "f", a.spatial));
      result[0] = convolution(e, grad, w, n, window, a.groups, 1, x.dims());
    } else {
      result[0] = transposedConvolution(e, grad, w, a, x.dims());
    }
  }
  if (mask[1])
    result[1] = a.transposed ? weightGradient(e, grad, x, a, w.dims()) : weightGradient(e, x, grad, a, w.dims());
  if (mask[2]) {
    Ints dims = {0};
    for (int64_t i = 2; i < grad.rank(); ++i)
      dims.push_back(i);
    result[2] = e.reduce(grad, e.constant(int64_t(0), {grad.dtype(), {}}), dims, "stablehlo.add");
  }
  for (size_t i = 0; i < 3; ++i)
    if (!result[i])
      result[i] = e.constant(int64_t(0), {grad.dtype(), {0}}); // not requested; the front end returns None
  return result;
}

} // namespace

void registerContractions(Registry &r) {
  r.add({"mm", "bmm", "mv", "dot"}, [](const Call &c) -> Vals { return {matmul(c.e, c.val(0), c.val(1))}; });
  r.add({"_int_mm"}, [](const Call &c) -> Vals {
    return {matmul(c.e, c.e.convert(c.val(0), DType::I32), c.e.convert(c.val(1), DType::I32))};
  });
  r.add({"_grouped_mm"}, groupedProduct);
  r.add({"addmm", "baddbmm", "addmv"}, [](const Call &c) { return addProduct(c, false); });
  r.add({"addbmm"}, [](const Call &c) { return addProduct(c, true); });
  r.add({"convolution"}, convolutionForward);
  r.add({"convolution_backward"}, convolutionBackward);
}

} // namespace millrace::tracing
