// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Random.cpp - Random numbers from a 64-bit key -----------------------===//
// Every random operation has a key of its own, a parameter of the program, so that new keys need no compilation. Equal keys give equal numbers.
#include "tracing/emit/Emit.h"

#include <cmath>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

/// Returns random bits of an unsigned type in the shape of the result.
Val bits(const Call &c, DType type) {
  Emitter &e = c.e;
  Val key = e.op("stablehlo.bitcast_convert", {e.convert(c.val(0), DType::I64)}, {}, Shape{DType::U64, {}});
  Val state = e.concatenate({e.reshape(key, {1}), e.constant(int64_t(0), {DType::U64, {1}})}, 0);
  return e.ops("stablehlo.rng_bit_generator", {state}, {{"rng_algorithm", "#stablehlo<rng_algorithm THREE_FRY>"}},
               {state.shape, Shape{type, c.out().dims}})[1];
}

/// Returns numbers in [0, 1) with as many random bits as the significand of the type has.
Val unit(const Call &c) {
  Emitter &e = c.e;
  DType type = c.out().dtype == DType::F64 ? DType::F64 : DType::F32;
  bool isDouble = type == DType::F64;
  Val raw = bits(c, isDouble ? DType::U64 : DType::U32);
  Val high = e.op("stablehlo.shift_right_logical", {raw, e.constant(int64_t(isDouble ? 11 : 8), raw.shape)});
  Val x = e.convert(high, type);
  return e.mul(x, e.like(x, isDouble ? 0x1p-53 : 0x1p-24));
}

Vals uniform(const Call &c) {
  Val x = unit(c);
  double from = c.real(1), to = c.real(2);
  return {c.e.add(c.e.mul(x, c.e.like(x, to - from)), c.e.like(x, from))};
}

Vals normal(const Call &c) {
  Emitter &e = c.e;
  Val x = unit(c);
  // The number is moved to the middle of the interval that its random bits stand for, in (-1, 1), because the inverse is infinite at the ends.
  double half = x.dtype() == DType::F64 ? 0x1p-54 : 0x1p-25;
  Val centered = e.sub(e.mul(e.add(x, e.like(x, half)), e.like(x, 2)), e.like(x, 1));
  double limit = x.dtype() == DType::F64 ? 1 - 0x1p-53 : 1 - 0x1p-24; // limits numbers that are rounded to an end nevertheless
  centered = e.op("stablehlo.clamp", {e.constant(-limit, {x.dtype(), {}}), centered, e.constant(limit, {x.dtype(), {}})});
  Val z = e.mul(e.op("chlo.erf_inv", {centered}), e.like(x, M_SQRT2));
  return {e.add(e.mul(z, e.like(x, c.real(2))), e.like(x, c.real(1)))};
}

/// Returns an f32 in [0, 1), whatever the type of the result.
Val unitF32(const Call &c) {
  Emitter &e = c.e;
  Val raw = bits(c, DType::U32);
  Val x = e.convert(e.op("stablehlo.shift_right_logical", {raw, e.constant(int64_t(8), raw.shape)}), DType::F32);
  return e.mul(x, e.like(x, 0x1p-24));
}

Vals bernoulli(const Call &c) {
  Val x = unitF32(c);
  return {c.e.compare(x, c.e.like(x, c.real(1)), "LT")};
}

Vals bernoulliTensor(const Call &c) {
  return {c.e.compare(unitF32(c), c.e.convert(c.val(1), DType::F32), "LT")};
}

Vals exponential(const Call &c) {
  Emitter &e = c.e;
  Val x = unit(c); // 1 - x is never 0
  return {e.div(e.neg(e.op("stablehlo.log_plus_one", {e.neg(x)})), e.like(x, c.real(1)))};
}

Vals randint(const Call &c) {
  Emitter &e = c.e;
  int64_t from = c.integer(1), to = c.integer(2);
  Val raw = bits(c, DType::U64);
  Val below = e.op("stablehlo.remainder", {raw, e.constant(to - from, raw.shape)});
  Val value = e.op("stablehlo.bitcast_convert", {below}, {}, Shape{DType::I64, c.out().dims});
  return {e.add(value, e.constant(from, value.shape))};
}

/// Returns the positions 0..n-1, sorted by random keys.
Vals randperm(const Call &c) {
  Emitter &e = c.e;
  Val keys = bits(c, DType::U64), positions = e.iota(c.out(), 0);
  if (c.out().count() < 2)
    return {positions};
  Shape key{DType::U64, {}}, position{DType::I64, {}};
  return {e.ops("stablehlo.sort", {keys, positions}, {{"dimension", intText(0)}, {"is_stable", "true"}},
                {keys.shape, positions.shape}, {key, key, position, position},
                [&](const Vals &in) { return Vals{e.compare(in[0], in[1], "LT")}; })[1]};
}

} // namespace

void registerRandom(Registry &r) {
  r.add({"millrace::uniform"}, uniform);
  r.add({"millrace::normal"}, normal);
  r.add({"millrace::bernoulli"}, bernoulli);
  r.add({"millrace::bernoulli_tensor"}, bernoulliTensor);
  r.add({"millrace::exponential"}, exponential);
  r.add({"millrace::randint"}, randint);
  r.add({"millrace::randperm"}, randperm);
}

} // namespace millrace::tracing
