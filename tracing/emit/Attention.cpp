// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attention.cpp - Scaled dot product attention ------------------------===//
// Operands are [batch, heads, length, width]. The backward pass computes the weights again from the saved logarithms of their sums.
#include "tracing/emit/Families.h"

#include <cmath>

namespace millrace::tracing {
namespace {

struct Attention {
  Val q, k, v;
  double scale;
  DType math;

  Attention(const Call &c, size_t first, size_t scaleAt) {
    Val given = c.val(first);
    if (!given)
      return;
    math = mathType(given.dtype());
    q = c.e.convert(given, math);
    k = c.e.convert(c.val(first + 1), math);
    v = c.e.convert(c.val(first + 2), math);
    scale = c.has(scaleAt) ? c.real(scaleAt) : 1 / std::sqrt(double(q.dim(-1)));
  }
  /// Returns the scores before the softmax, with -inf where attention is masked.
  Val scores(const Call &c, bool isCausal, size_t maskAt) const {
    Emitter &e = c.e;
    Val s = e.dot(q, k, {0, 1}, {0, 1}, {3}, {3});
    s = e.mul(s, e.like(s, scale));
    if (isCausal)
      s = e.select(e.compare(e.iota({DType::I64, s.dims()}, 2), e.iota({DType::I64, s.dims()}, 3), "GE"), s, e.like(s, -INFINITY));
    if (!c.has(maskAt))
      return s;
    Val mask = c.val(maskAt);
    if (mask && mask.dtype() == DType::I1)
      return e.select(e.broadcast(mask, s.dims()), s, e.like(s, -INFINITY));
    return e.add(s, e.broadcast(e.convert(mask, math), s.dims()));
  }
};

/// Arguments: query, key, value, dropout_p, is_causal, attn_mask, scale. Results: result, logarithm of the sum of each row.
Vals attention(const Call &c) {
  Emitter &e = c.e;
  Attention a(c, 0, 6);
  if (!a.q || c.real(3) != 0)
    return {a.q ? e.fail("attention with dropout is not supported") : Val(), Val()};
  Val s = a.scores(c, c.flag(4), 5);
  Val highest = e.reduce(s, e.lowest(a.math), {3}, "stablehlo.maximum");
  Val shift = e.select(e.op("stablehlo.is_finite", {highest}), highest, e.like(highest, 0));
  Val share = exponential(e, e.sub(s, spreadOver(e, shift, {3}, s.dims()))), sum = total(e, share, {3});
  Val isEmpty = e.compare(sum, e.like(sum, 0), "EQ"); // every key is masked: the result is zero, as in PyTorch
  Val inverse = e.select(isEmpty, e.like(sum, 0), e.div(e.like(sum, 1), sum));
  Val y = e.dot(e.mul(share, spreadOver(e, inverse, {3}, s.dims())), a.v, {0, 1}, {0, 1}, {3}, {2});
  return {finished(c, y), finished(c, e.add(logarithm(e, sum), shift), 1)};
}

/// Arguments: grad, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale.
Vals attentionBackward(const Call &c) {
  Emitter &e = c.e;
  Attention a(c, 1, 9);
  if (!a.q || c.real(6) != 0)
    return {a.q ? e.fail("attention with dropout is not supported") : Val(), Val(), Val()};
  Val grad = e.convert(c.val(0), a.math), out = e.convert(c.val(4), a.math);
  Val s = a.scores(c, c.flag(7), 8), log = e.convert(c.val(5), a.math);
  log = e.select(e.compare(log, e.like(log, -INFINITY), "EQ"), e.like(log, 0), log);
  Val share = exponential(e, e.sub(s, spreadOver(e, log, {3}, s.dims())));
  Val gradShare = e.dot(grad, a.v, {0, 1}, {0, 1}, {3}, {3});
  Val average = total(e, e.mul(grad, out), {3});
  Val gradScores = e.mul(e.mul(share, e.sub(gradShare, spreadOver(e, average, {3}, s.dims()))), e.like(s, a.scale));
  return {finished(c, e.dot(gradScores, a.k, {0, 1}, {0, 1}, {3}, {2}), 0),
          finished(c, e.dot(gradScores, a.q, {0, 1}, {0, 1}, {2}, {2}), 1),
          finished(c, e.dot(share, grad, {0, 1}, {0, 1}, {2}, {2}), 2)};
}

/// Arguments: i1, i2, i3, expand1, expand2, expand3, sumdim. Adds dims of size 1 (expand) to each operand and sums the product of all three.
Vals trilinear(const Call &c) {
  Emitter &e = c.e;
  Val factors[3];
  Ints dims;
  for (size_t i = 0; i < 3; ++i) {
    factors[i] = mathValue(c, i);
    if (!factors[i])
      return {Val()};
    Ints made = factors[i].dims();
    for (int64_t at : c.ints(3 + i))
      made.insert(made.begin() + at, 1);
    factors[i] = e.reshape(factors[i], made);
    dims.resize(made.size(), 1);
    for (size_t d = 0; d < made.size(); ++d)
      dims[d] = made[d] == 1 ? dims[d] : made[d];
  }
  Val product = e.mul(e.mul(e.broadcast(factors[0], dims), e.broadcast(factors[1], dims)), e.broadcast(factors[2], dims));
  Ints summed = c.ints(6);
  std::sort(summed.begin(), summed.end());
  return {finished(c, total(e, product, summed))};
}

} // namespace

void registerAttention(Registry &r) {
  r.add({"_scaled_dot_product_flash_attention_for_cpu"}, attention);
  r.add({"_scaled_dot_product_flash_attention_for_cpu_backward"}, attentionBackward);
  r.add({"_trilinear"}, trilinear);
}

} // namespace millrace::tracing
