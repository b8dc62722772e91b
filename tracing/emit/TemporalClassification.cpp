// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TemporalClassification.cpp - CTC loss -------------------------------===//
// Labels are interleaved with blanks, which gives L = 2 S + 1 states. alpha[t, l] and beta[t, l] are logarithms of the probabilities of all
// alignments that are in state l at time t, for the times up to t and from t on. Both recurrences are loops of the program.
#include "tracing/emit/Families.h"

#include <cmath>

namespace millrace::tracing {
namespace {

/// Computes log(e^a + e^b + e^c) of values that may be -inf.
Val logSum(Emitter &e, const Val &a, const Val &b, const Val &c) {
  Val highest = maximum(e, maximum(e, a, b), c);
  highest = e.select(e.compare(highest, e.like(highest, -INFINITY), "EQ"), e.like(highest, 0), highest);
  Val sum = e.add(e.add(exponential(e, e.sub(a, highest)), exponential(e, e.sub(b, highest))), exponential(e, e.sub(c, highest)));
  return e.add(logarithm(e, sum), highest);
}

/// Shifts x [N, L] by `by` states and fills with -inf.
Val moved(Emitter &e, const Val &x, int64_t by) {
  Val none = e.constant(-INFINITY, {x.dtype(), {}});
  return e.pad(x, none, {0, by}, {0, -by});
}

struct Alignments {
  Val log;               ///< [T, N, C]
  Val state;             ///< [N, L]: the class of each state
  Val logState;          ///< [T, N, L]
  Val skipsTo;           ///< [N, L]: whether the state can be entered from two states before
  Val ends[2];           ///< [N, L]: the two states in which an alignment may end
  Val inputs;            ///< [N]: lengths in time
  int64_t steps, batch, classes, states;
  Ints dims;             ///< [N, L]

  /// The arguments from `first` on are log_probs and targets, those from `lengthsAt` on the lengths.
  Alignments(const Call &c, size_t first, size_t lengthsAt, int64_t blank) {
    Emitter &e = c.e;
    log = e.convert(c.val(first), mathType(c.val(first).dtype()));
    Val targets = e.convert(c.val(first + 1), DType::I64);
    Ints inputLengths = c.ints(lengthsAt), lengths = c.ints(lengthsAt + 1);
    if (!log || !targets)
      return;
    steps = log.dim(0);
    batch = log.dim(1);
    classes = log.dim(2);
    int64_t longest = 0;
    for (int64_t length : lengths)
      longest = std::max(longest, length);
    if (int64_t(lengths.size()) != batch || int64_t(inputLengths.size()) != batch) {
      e.fail("expects a length per sequence");
      return;
    }
    states = 2 * longest + 1;
    dims = {batch, states};
    // The position of each label among the targets; the states between labels, and those after the last one, are blanks.
    Ints place, isLabel, canSkip, end[2];
    int64_t start = 0, row = targets.rank() == 2 ? targets.dim(1) : 0;
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t l = 0; l < states; ++l) {
        bool label = l % 2 && l / 2 < lengths[n];
        place.push_back(label ? start + l / 2 : 0);
        isLabel.push_back(label);
        canSkip.push_back(label && l > 1);
        end[0].push_back(l == 2 * lengths[n]);
        end[1].push_back(lengths[n] > 0 && l == 2 * lengths[n] - 1);
      }
      start += targets.rank() == 2 ? row : lengths[n];
    }
    auto flags = [&](const Ints &values) { return e.constantInts(values, {DType::I1, dims}); };
    Val none = e.constant(blank, {DType::I64, dims});
    state = none;
    if (targets.shape.count())
      state = e.select(flags(isLabel), takeAlong(e, e.reshape(targets, {targets.shape.count()}), e.constantInts(place, none.shape), 0), none);
    Val before = e.pad(state, e.constant(blank, {DType::I64, {}}), {0, 2}, {0, -2});
    skipsTo = both(e, flags(canSkip), e.compare(state, before, "NE"));
    ends[0] = flags(end[0]);
    ends[1] = flags(end[1]);
    inputs = e.constantInts(inputLengths, {DType::I64, {batch}});
    Shape column{DType::I64, {batch, states, 1}};
    Val index = e.concatenate({e.iota(column, 0), e.reshape(state, column.dims)}, 2);
    logState = e.transpose(gatherAt(e, e.transpose(log, {1, 2, 0}), index, 2), {2, 0, 1});
  }

  Val atTime(Emitter &e, const Val &all, const Val &t) const {
    Val zero = e.constant(int64_t(0), {DType::I64, {}});
    return e.reshape(e.op("stablehlo.dynamic_slice", {all, t, zero, zero}, {{"slice_sizes", arrayText({1, batch, states})}},
                          Shape{all.dtype(), {1, batch, states}}), dims);
  }
  Val withTime(Emitter &e, const Val &all, const Val &one, const Val &t) const {
    Val zero = e.constant(int64_t(0), {DType::I64, {}});
    return e.op("stablehlo.dynamic_update_slice", {all, e.reshape(one, {1, batch, states}), t, zero, zero});
  }
  static Val number(Emitter &e, int64_t value) { return e.constant(value, {DType::I64, {}}); }

  /// Computes alpha, [T, N, L].
  Val alpha(Emitter &e) const {
    Val none = e.constant(-INFINITY, {log.dtype(), dims}), all = e.constant(-INFINITY, logState.shape);
    if (steps == 0)
      return all;
    Val place = e.iota({DType::I64, dims}, 1), first = e.sliceDim(logState, 0, 0, 1);
    // An alignment begins in the first state, or in the second one if it is a label: a sequence has labels unless it ends in state 0.
    Val hasLabels = e.broadcastInDim(negated(e, e.reshape(e.sliceDim(ends[0], 1, 0, 1), {batch})), dims, {0});
    Val starts = either(e, e.compare(place, e.like(place, 0), "EQ"), both(e, hasLabels, e.compare(place, e.like(place, 1), "EQ")));
    Val now = e.select(starts, e.reshape(first, dims), none);
    Vals made = e.loop({number(e, 1), now, withTime(e, all, now, number(e, 0)), logState, skipsTo},
                       [&](const Vals &in) { return e.compare(in[0], number(e, steps), "LT"); },
                       [&](const Vals &in) -> Vals {
                         Val skipped = e.select(in[4], moved(e, in[1], 2), e.like(in[1], -INFINITY));
                         Val next = e.add(logSum(e, in[1], moved(e, in[1], 1), skipped), atTime(e, in[3], in[0]));
                         return {e.add(in[0], number(e, 1)), next, withTime(e, in[2], next, in[0]), in[3], in[4]};
                       });
    return made[2];
  }

  /// Computes beta, [T, N, L]; the recurrence of each sequence begins at its own last step.
  Val beta(Emitter &e) const {
    Val none = e.constant(-INFINITY, {log.dtype(), dims}), all = e.constant(-INFINITY, logState.shape);
    Val skipsFrom = e.pad(skipsTo, e.constant(int64_t(0), {DType::I1, {}}), {0, -2}, {0, 2});
    Val last = e.broadcastInDim(inputs, dims, {0});
    Vals made = e.loop({number(e, steps - 1), none, all, logState, skipsFrom, either(e, ends[0], ends[1]), last},
                       [&](const Vals &in) { return e.compare(in[0], number(e, 0), "GE"); },
                       [&](const Vals &in) -> Vals {
                         Val skipped = e.select(in[4], moved(e, in[1], -2), e.like(in[1], -INFINITY));
                         Val now = atTime(e, in[3], in[0]), t = e.broadcast(e.add(in[0], number(e, 1)), dims);
                         Val next = e.add(logSum(e, in[1], moved(e, in[1], -1), skipped), now);
                         Val ending = e.select(in[5], now, e.like(now, -INFINITY));
                         next = e.select(e.compare(t, in[6], "LT"), next,
                                         e.select(e.compare(t, in[6], "EQ"), ending, e.like(now, -INFINITY)));
                         return {e.sub(in[0], number(e, 1)), next, withTime(e, in[2], next, in[0]), in[3], in[4], in[5], in[6]};
                       });
    return made[2];
  }
};

/// Arguments: log_probs, targets, input_lengths, target_lengths, blank. Results: -log(likelihood) [N], alpha [N, T, L].
Vals forward(const Call &c) {
  Emitter &e = c.e;
  if (!c.val(0))
    return {Val(), Val()};
  Alignments a(c, 0, 2, c.integer(4));
  if (e.failed())
    return {Val(), Val()};
  Val alpha = a.alpha(e), likelihood;
  Shape scalar{a.log.dtype(), {}};
  // The value of alpha at the last step of each sequence.
  Val final = e.constant(-INFINITY, {a.log.dtype(), a.dims});
  if (a.steps) {
    Shape column{DType::I64, {a.batch, 1}};
    Val at = maximum(e, e.sub(e.reshape(a.inputs, column.dims), e.constant(int64_t(1), column)), zeros(e, column));
    final = gatherAt(e, alpha, e.concatenate({at, e.iota(column, 0)}, 1), 2);
  }
  auto ending = [&](int i) {
    return e.reduce(e.select(a.ends[i], final, e.like(final, -INFINITY)), e.lowest(scalar.dtype), {1}, "stablehlo.maximum");
  };
  likelihood = logSum(e, ending(0), ending(1), e.constant(-INFINITY, {a.log.dtype(), {a.batch}}));
  // A sequence of length 0 in time has probability 1 if it has no labels.
  Val isEmpty = e.compare(a.inputs, e.like(a.inputs, 0), "EQ"), noLabels = e.reshape(e.sliceDim(a.ends[0], 1, 0, 1), {a.batch});
  Val certain = e.select(noLabels, e.like(likelihood, 0), e.like(likelihood, -INFINITY));
  likelihood = e.select(isEmpty, certain, likelihood);
  return {finished(c, e.neg(likelihood)), finished(c, e.transpose(alpha, {1, 0, 2}), 1)};
}

/// Arguments: grad, log_probs, targets, input_lengths, target_lengths, loss, alpha, blank, zero_infinity.
Vals backward(const Call &c) {
  Emitter &e = c.e;
  if (!c.val(1) || c.out().count() == 0)
    return {c.val(1) ? zeros(e, c.out()) : Val()};
  Alignments a(c, 1, 3, c.integer(7));
  if (e.failed())
    return {Val()};
  DType math = a.log.dtype();
  Val alpha = e.transpose(e.convert(c.val(6), math), {1, 0, 2}), joint = e.add(alpha, a.beta(e));
  const Ints &full = a.log.dims();
  // The sum over the states of each class is a contraction with [N, L, C] of zeros and ones.
  Val highest = e.reduce(joint, e.lowest(math), {2}, "stablehlo.maximum");
  highest = e.select(e.compare(highest, e.like(highest, -INFINITY), "EQ"), e.like(highest, 0), highest);
  Val share = exponential(e, e.sub(joint, spreadOver(e, highest, {2}, joint.dims())));
  Ints cube = {a.batch, a.states, a.classes};
  Val isClass = e.compare(e.iota({DType::I64, cube}, 2), spreadOver(e, a.state, {2}, cube), "EQ");
  Val perClass = e.transpose(e.dot(share, e.convert(isClass, math), {1}, {0}, {2}, {1}), {1, 0, 2});
  Val loss = e.convert(c.val(5), math), grad = e.convert(c.val(0), math);
  Val scale = e.add(spreadOver(e, highest, {2}, full), e.broadcastInDim(loss, full, {1}));
  Val expected = e.mul(perClass, exponential(e, e.sub(scale, a.log)));
  Val isPossible = e.broadcastInDim(e.compare(loss, e.like(loss, INFINITY), "NE"), full, {1});
  expected = e.select(both(e, isPossible, e.compare(perClass, e.like(perClass, 0), "EQ")), perClass, expected);
  Val made = e.mul(e.sub(exponential(e, a.log), expected), e.broadcastInDim(grad, full, {1}));
  Val isLive = e.compare(e.iota({DType::I64, full}, 0), e.broadcastInDim(a.inputs, full, {1}), "LT");
  if (c.flag(8))
    isLive = both(e, isLive, e.broadcastInDim(e.compare(loss, e.like(loss, INFINITY), "NE"), full, {1}));
  return {finished(c, e.select(isLive, made, e.like(made, 0)))};
}

} // namespace

void registerTemporalClassification(Registry &r) {
  r.add({"_ctc_loss"}, forward);
  r.add({"_ctc_loss_backward"}, backward);
}

} // namespace millrace::tracing
