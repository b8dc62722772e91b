// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Losses.cpp - Loss functions and their gradients ---------------------===//
#include "tracing/emit/Families.h"

#include <cmath>
#include <limits>

namespace millrace::tracing {
namespace {

constexpr int64_t kNone = 0, kMean = 1;

Ints broadcastDims(const Ints &a, const Ints &b) {
  Ints made(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < made.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    made[made.size() - 1 - i] = x == 1 ? y : x;
  }
  return made;
}

/// Prediction and target, broadcast to one shape.
struct Pair {
  Val x, target;
  Pair(const Call &c, size_t first) : x(mathValue(c, first)), target(mathValue(c, first + 1)) {
    if (!x || !target)
      return;
    Ints dims = broadcastDims(x.dims(), target.dims());
    x = c.e.broadcast(x, dims);
    target = c.e.broadcast(target, dims);
  }
};

/// Reduces the losses of the elements as `reduction` says.
Vals reduced(const Call &c, const Val &losses, int64_t reduction) {
  if (!losses || reduction == kNone)
    return {finished(c, losses)};
  Val sum = total(c.e, losses, countFrom(0, losses.rank()));
  return {finished(c, reduction == kMean ? c.e.div(sum, c.e.like(sum, double(losses.shape.count()))) : sum)};
}

/// Returns the gradient of each element's loss.
Val incoming(const Call &c, size_t index, int64_t reduction, const Val &like) {
  if (!like)
    return like;
  Val grad = c.e.convert(c.val(index), like.dtype());
  if (reduction == kMean && grad)
    grad = c.e.div(grad, c.e.like(grad, double(like.shape.count())));
  return c.e.broadcast(grad, like.dims());
}

Vals squared(const Call &c) {
  Pair p(c, 0);
  Val difference = c.e.sub(p.x, p.target);
  return reduced(c, c.e.mul(difference, difference), c.integer(2, kMean));
}
Vals squaredBackward(const Call &c) {
  Pair p(c, 1);
  Val difference = c.e.sub(p.x, p.target), grad = incoming(c, 0, c.integer(3), p.x);
  return {finished(c, c.e.mul(c.e.mul(difference, c.e.like(p.x, 2)), grad))};
}

/// Computes a loss that is quadratic near 0 and linear beyond `limit`; smooth L1 is Huber's loss divided by the limit.
Vals huber(const Call &c, bool isSmoothL1) {
  Emitter &e = c.e;
  Pair p(c, 0);
  double limit = c.real(3, 1);
  Val size = absolute(e, e.sub(p.x, p.target)), bound = e.like(p.x, limit);
  if (isSmoothL1 && limit == 0)
    return reduced(c, size, c.integer(2, kMean));
  Val square = e.mul(e.mul(size, size), e.like(size, 0.5)), linear = e.sub(size, e.like(size, limit / 2));
  Val inside = e.compare(size, bound, isSmoothL1 ? "LT" : "LE");
  Val losses = isSmoothL1 ? e.select(inside, e.div(square, bound), linear) : e.select(inside, square, e.mul(linear, bound));
  return reduced(c, losses, c.integer(2, kMean));
}
Vals huberBackward(const Call &c, bool isSmoothL1) {
  Emitter &e = c.e;
  Pair p(c, 1);
  double limit = c.real(4);
  Val difference = e.sub(p.x, p.target), bound = e.like(p.x, limit), grad = incoming(c, 0, c.integer(3), p.x);
  Val slope = isSmoothL1 ? e.div(difference, bound) : difference, steep = e.like(p.x, isSmoothL1 ? 1 : limit);
  slope = e.select(e.compare(difference, e.neg(bound), "LE"), e.neg(steep),
                   e.select(e.compare(difference, bound, "GE"), steep, slope));
  return {finished(c, e.mul(slope, grad))};
}

Vals softMargin(const Call &c) {
  Emitter &e = c.e;
  Pair p(c, 0);
  return reduced(c, e.op("stablehlo.log_plus_one", {exponential(e, e.mul(e.neg(p.target), p.x))}), c.integer(2, kMean));
}
Vals softMarginBackward(const Call &c) {
  Emitter &e = c.e;
  Pair p(c, 1);
  Val wrong = e.op("stablehlo.logistic", {e.mul(e.neg(p.target), p.x)});
  return {finished(c, e.mul(e.mul(e.neg(p.target), wrong), incoming(c, 0, c.integer(3), p.x)))};
}

Val weighted(const Call &c, const Val &losses, size_t weight) {
  if (!losses || !c.has(weight))
    return losses;
  return c.e.mul(losses, c.e.broadcast(c.e.convert(c.val(weight), losses.dtype()), losses.dims()));
}

/// Arguments: self, target, weight, reduction. Logarithms are at least -100, as in PyTorch.
Vals crossEntropy(const Call &c) {
  Emitter &e = c.e;
  Pair p(c, 0);
  Val floor = e.like(p.x, -100), log = maximum(e, logarithm(e, p.x), floor);
  Val logOther = maximum(e, e.op("stablehlo.log_plus_one", {e.neg(p.x)}), floor);
  Val losses = e.sub(e.mul(e.sub(p.target, e.like(p.x, 1)), logOther), e.mul(p.target, log));
  return reduced(c, weighted(c, losses, 2), c.integer(3, kMean));
}
Vals crossEntropyBackward(const Call &c) {
  Emitter &e = c.e;
  Pair p(c, 1);
  Val variance = maximum(e, e.mul(e.sub(e.like(p.x, 1), p.x), p.x), e.like(p.x, 1e-12));
  Val slope = weighted(c, e.div(e.sub(p.x, p.target), variance), 3);
  return {finished(c, e.mul(slope, incoming(c, 0, c.integer(4, kMean), p.x)))};
}

/// Arguments: self, target, weight, pos_weight, reduction.
Vals crossEntropyOfLogits(const Call &c) {
  Emitter &e = c.e;
  Pair p(c, 0);
  Val one = e.like(p.x, 1), small = exponential(e, e.neg(absolute(e, p.x)));
  Val minusLog = e.sub(e.op("stablehlo.log_plus_one", {small}), minimum(e, p.x, e.like(p.x, 0))); // -log(sigmoid(x))
  if (c.has(3)) {
    Val positive = e.broadcast(e.convert(c.val(3), p.x.dtype()), p.x.dims());
    minusLog = e.mul(minusLog, e.add(e.mul(e.sub(positive, one), p.target), one));
  }
  Val losses = e.add(e.mul(e.sub(one, p.target), p.x), minusLog);
  return reduced(c, weighted(c, losses, 2), c.integer(4, kMean));
}

//===-- Losses of one class per row -------------------------------------------===//

/// Rows of classes: x is [N, C, ...] with targets [N, ...]; x [C] is one row.
struct Classes {
  Val x, target, valid, weight; ///< valid: whether the target counts; weight: that of the target's class
  Ints dims;                    ///< dims of x
  bool isRow;
  Classes(const Call &c, size_t first, size_t weightAt, int64_t ignored) {
    Emitter &e = c.e;
    x = mathValue(c, first);
    target = e.convert(c.val(first + 1), DType::I64);
    if (!x || !target)
      return;
    isRow = x.rank() < 2;
    if (isRow) {
      x = e.reshape(x, {1, x.shape.count()});
      target = e.reshape(target, {1});
    }
    dims = x.dims();
    valid = e.compare(target, e.constant(ignored, target.shape), "NE");
    target = e.select(valid, target, e.like(target, 0));
    Shape shape{x.dtype(), target.dims()};
    weight = e.constant(1.0, shape);
    if (c.has(weightAt)) {
      Ints column = target.dims();
      column.push_back(1);
      weight = gatherAt(e, e.convert(c.val(weightAt), x.dtype()), e.reshape(target, column), 1);
    }
    weight = e.select(valid, weight, e.constant(0.0, shape));
  }
  Val isTarget(Emitter &e) const {
    return e.compare(e.iota({DType::I64, dims}, 1), spreadOver(e, target, {1}, dims), "EQ");
  }
};

/// Arguments: self, target, weight, reduction, ignore_index. Results: loss, total weight.
Vals likelihood(const Call &c) {
  Emitter &e = c.e;
  Classes k(c, 0, 2, c.integer(4, -100));
  if (!k.x)
    return {Val(), Val()};
  Val picked;
  if (k.x.rank() == 2) {
    Ints column = {k.x.dim(0), 1};
    picked = gatherAt(e, k.x, e.concatenate({e.iota({DType::I64, column}, 0), e.reshape(k.target, column)}, 1), 2);
  } else {
    picked = total(e, e.select(k.isTarget(e), k.x, e.like(k.x, 0)), {1});
  }
  Val losses = e.select(k.valid, e.neg(e.mul(picked, k.weight)), e.like(picked, 0));
  Ints all = countFrom(0, losses.rank());
  Val weight = total(e, k.weight, all);
  if (c.integer(3) == kNone)
    return {finished(c, losses), e.convert(c.out(1).count() == 1 ? e.reshape(e.like(weight, 0), c.out(1).dims) : zeros(e, c.out(1)), c.out(1).dtype)};
  Val sum = total(e, losses, all);
  return {finished(c, c.integer(3) == kMean ? e.div(sum, weight) : sum), finished(c, weight, 1)};
}

/// Arguments: grad, self, target, weight, reduction, ignore_index, total weight.
Vals likelihoodBackward(const Call &c) {
  Emitter &e = c.e;
  Classes k(c, 1, 3, c.integer(5, -100));
  if (!k.x)
    return {Val()};
  Val grad = e.convert(c.val(0), k.x.dtype());
  if (c.integer(4) == kMean)
    grad = e.div(grad, e.reshape(e.convert(c.val(6), k.x.dtype()), grad.dims()));
  grad = k.isRow ? e.reshape(grad, {1}) : e.broadcast(grad, k.target.dims());
  Val share = e.select(k.valid, e.neg(e.mul(grad, k.weight)), e.like(grad, 0));
  return {finished(c, e.select(k.isTarget(e), spreadOver(e, share, {1}, k.dims), e.like(k.x, 0)))};
}

/// Computes per class how much its margin to the target's class falls short, [N, C]; 0 for the target's class.
Val shortfall(const Call &c, const Classes &k, double margin) {
  Emitter &e = c.e;
  Val isTarget = k.isTarget(e), zero = e.like(k.x, 0);
  Val own = spreadOver(e, total(e, e.select(isTarget, k.x, zero), {1}), {1}, k.dims);
  return e.select(isTarget, zero, maximum(e, e.add(e.sub(e.like(k.x, margin), own), k.x), zero));
}

/// Arguments: self, target, p, margin, weight, reduction.
Vals multiMargin(const Call &c) {
  Emitter &e = c.e;
  Classes k(c, 0, 4, std::numeric_limits<int64_t>::min());
  if (!k.x)
    return {Val()};
  Val over = shortfall(c, k, c.real(3, 1));
  if (c.real(2, 1) == 2)
    over = e.mul(over, over);
  Val sum = e.mul(total(e, over, {1}), k.weight);
  return reduced(c, e.div(sum, e.like(sum, double(k.dims[1]))), c.integer(5, kMean));
}

/// Arguments: grad, self, target, p, margin, weight, reduction.
Vals multiMarginBackward(const Call &c) {
  Emitter &e = c.e;
  Classes k(c, 1, 5, std::numeric_limits<int64_t>::min());
  if (!k.x)
    return {Val()};
  Val over = shortfall(c, k, c.real(4, 1)), zero = e.like(k.x, 0);
  Val slope = c.real(3, 1) == 2 ? e.add(over, over) : e.select(e.compare(over, zero, "GT"), e.like(k.x, 1), zero);
  slope = e.select(k.isTarget(e), spreadOver(e, e.neg(total(e, slope, {1})), {1}, k.dims), slope);
  Val grad = e.convert(c.val(0), k.x.dtype());
  grad = k.isRow ? e.reshape(grad, {1}) : e.broadcast(grad, k.target.dims());
  double share = 1 / double(k.dims[1]) / (c.integer(6, kMean) == kMean ? double(k.dims[0]) : 1);
  grad = e.mul(e.mul(grad, k.weight), e.like(grad, share));
  return {finished(c, e.mul(slope, spreadOver(e, grad, {1}, k.dims)))};
}

//===-- Losses of several classes per row ---------------------------------------===//

/// The targets of each row, which end at the first negative one.
struct Labels {
  Val x, isListed, isHit, isTarget, missing; ///< [N, C], [N, J], [N, J, C], [N, C]; missing [N, J, C] is how much the margin falls short
  int64_t rows, count;
  Labels(const Call &c, size_t first) {
    Emitter &e = c.e;
    x = mathValue(c, first);
    Val target = e.convert(c.val(first + 1), DType::I64);
    if (!x || !target)
      return;
    count = x.rank() ? x.dim(-1) : 1;
    rows = count ? x.shape.count() / count : 0;
    Ints flat = {rows, count}, cube = {rows, count, count};
    x = e.reshape(x, flat);
    target = e.reshape(target, flat);
    Val place = e.iota({DType::I64, flat}, 1);
    Val isEnd = e.compare(target, e.like(target, 0), "LT");
    Val end = e.reduce(e.select(isEnd, place, e.like(place, double(count))), e.constant(count, {DType::I64, {}}), {1}, "stablehlo.minimum");
    isListed = e.compare(place, spreadOver(e, end, {1}, flat), "LT");
    isHit = both(e, e.compare(e.iota({DType::I64, cube}, 2), spreadOver(e, target, {2}, cube), "EQ"), spreadOver(e, isListed, {2}, cube));
    isTarget = e.reduce(isHit, e.constant(int64_t(0), {DType::I1, {}}), {1}, "stablehlo.or");
    Val zero = e.constant(0.0, {x.dtype(), cube}), wide = spreadOver(e, x, {1}, cube);
    Val own = spreadOver(e, total(e, e.select(isHit, wide, zero), {2}), {2}, cube);
    Val over = maximum(e, e.add(e.sub(e.like(zero, 1), own), wide), zero);
    Val counts = both(e, spreadOver(e, isListed, {2}, cube), negated(e, spreadOver(e, isTarget, {1}, cube)));
    missing = e.select(counts, over, zero);
  }
};

Vals multiLabel(const Call &c) {
  Emitter &e = c.e;
  Labels l(c, 0);
  if (!l.x)
    return {Val(), Val()};
  Val sum = total(e, l.missing, {1, 2});
  Vals made = reduced(c, e.div(sum, e.like(sum, double(l.count))), c.integer(2));
  made.push_back(finished(c, e.convert(l.isTarget, c.out(1).dtype), 1));
  return made;
}

/// Arguments: grad, self, target, reduction, is_target.
Vals multiLabelBackward(const Call &c) {
  Emitter &e = c.e;
  Labels l(c, 1);
  if (!l.x)
    return {Val()};
  Val zero = e.like(l.missing, 0), isNear = e.select(e.compare(l.missing, zero, "GT"), e.like(zero, 1), zero);
  Val blame = spreadOver(e, total(e, isNear, {2}), {2}, l.missing.dims());
  Val slope = e.sub(total(e, isNear, {1}), total(e, e.select(l.isHit, blame, zero), {1}));
  Val grad = e.convert(c.val(0), l.x.dtype());
  double share = 1 / double(l.count) / (c.integer(3) == kMean ? double(l.rows) : 1);
  grad = e.mul(grad, e.like(grad, share));
  grad = grad.shape.count() == 1 ? e.broadcast(e.reshape(grad, {}), {l.rows}) : e.reshape(grad, {l.rows});
  return {finished(c, e.mul(slope, spreadOver(e, grad, {1}, slope.dims())))};
}

} // namespace

void registerLosses(Registry &r) {
  r.add({"mse_loss"}, squared);
  r.add({"mse_loss_backward"}, squaredBackward);
  r.add({"huber_loss"}, [](const Call &c) { return huber(c, false); });
  r.add({"smooth_l1_loss"}, [](const Call &c) { return huber(c, true); });
  r.add({"huber_loss_backward"}, [](const Call &c) { return huberBackward(c, false); });
  r.add({"smooth_l1_loss_backward"}, [](const Call &c) { return huberBackward(c, true); });
  r.add({"soft_margin_loss"}, softMargin);
  r.add({"soft_margin_loss_backward"}, softMarginBackward);
  r.add({"binary_cross_entropy"}, crossEntropy);
  r.add({"binary_cross_entropy_backward"}, crossEntropyBackward);
  r.add({"binary_cross_entropy_with_logits"}, crossEntropyOfLogits);
  r.add({"nll_loss_forward", "nll_loss2d_forward"}, likelihood);
  r.add({"nll_loss_backward", "nll_loss2d_backward"}, likelihoodBackward);
  r.add({"multi_margin_loss"}, multiMargin, /*numbersAreStatic=*/true);
  r.add({"multi_margin_loss_backward"}, multiMarginBackward, /*numbersAreStatic=*/true);
  r.add({"multilabel_margin_loss_forward"}, multiLabel);
  r.add({"multilabel_margin_loss_backward"}, multiLabelBackward);
}

} // namespace millrace::tracing
