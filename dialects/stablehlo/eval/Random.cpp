// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Random.cpp - rng_bit_generator, rng --------------------------------===//
// ThreeFry-2x32 (20 rounds) and Philox-4x32 (10 rounds) of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), arranged into
// tensors as in XLA, bit for bit. DEFAULT is Philox. rng draws from Philox with the key Options::rngSeed; the specification does not define its
// values.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

using namespace mlir;

namespace millrace::eval {

namespace {

std::pair<uint32_t, uint32_t> threeFry(uint32_t key0, uint32_t key1, uint32_t x0, uint32_t x1) {
  constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key0, key1, key0 ^ key1 ^ 0x1BD11BDA};
  x0 += keys[0];
  x1 += keys[1];
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned rotation : rotations[round % 2]) {
      x0 += x1;
      x1 = (x1 << rotation) | (x1 >> (32 - rotation));
      x1 ^= x0;
    }
    x0 += keys[(round + 1) % 3];
    x1 += keys[(round + 2) % 3] + round + 1;
  }
  return {x0, x1};
}

std::array<uint32_t, 4> philox(uint32_t key0, uint32_t key1, std::array<uint32_t, 4> x) {
  for (unsigned round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * x[0], b = uint64_t(0xCD9E8D57) * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

/// Returns 32-bit values in XLA's order: one dimension (the first of even size, else the first of the largest size) is cut into pairs, and the two
/// outputs of a counter value are adjacent along it.
std::vector<uint32_t> threeFryBits(uint64_t key, uint64_t &counter, ArrayRef<int64_t> shape) {
  auto draw = [&](uint64_t n) {
    uint64_t c = counter + n;
    return threeFry(static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32));
  };
  if (shape.empty()) {
    std::vector<uint32_t> single = {draw(0).first};
    counter += 1;
    return single;
  }
  size_t split = 0;
  bool even = false;
  for (size_t d = 0; d < shape.size() && !even; ++d)
    if (shape[d] % 2 == 0) {
      split = d;
      even = true;
    }
  if (!even)
    for (size_t d = 1; d < shape.size(); ++d)
      if (shape[d] > shape[split]) split = d;
  Shape half(shape);
  half[split] = (half[split] + 1) / 2;
  Shape halfStrides = stridesOf(half);
  std::vector<uint32_t> bits(numElements(shape));
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t linear) {
    uint64_t n = 0;
    for (size_t d = 0; d < index.size(); ++d) n += (d == split ? index[d] / 2 : index[d]) * halfStrides[d];
    auto [first, second] = draw(n);
    bits[linear] = index[split] % 2 ? second : first;
  });
  counter += numElements(half);
  return bits;
}

std::vector<uint64_t> threeFryBits64(uint64_t key, uint64_t &counter, int64_t count) {
  std::vector<uint64_t> bits;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t c = counter + i;
    auto [low, high] = threeFry(static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32));
    bits.push_back(low | uint64_t(high) << 32);
  }
  counter += count;
  return bits;
}

/// A 128-bit counter as two words, low first.
struct Counter {
  uint64_t low, high;
  void advance(uint64_t n) {
    low += n;
    high += low < n;
  }
};

std::vector<uint32_t> philoxBits(uint64_t key, Counter &counter, int64_t count) {
  std::vector<uint32_t> bits;
  Counter c = counter;
  int64_t blocks = (count + 3) / 4;
  for (int64_t i = 0; i < blocks; ++i, c.advance(1)) {
    auto block = philox(static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32),
                        {static_cast<uint32_t>(c.low), static_cast<uint32_t>(c.low >> 32), static_cast<uint32_t>(c.high), static_cast<uint32_t>(c.high >> 32)});
    for (uint32_t word : block)
      if (static_cast<int64_t>(bits.size()) < count) bits.push_back(word);
  }
  counter.advance(blocks);
  return bits;
}

llvm::Error evalRngBitGenerator(Call &call) {
  const Tensor &state = call.in(0);
  auto declared = dyn_cast<RankedTensorType>(call.op->getResult(1).getType());
  if (!declared || !declared.hasStaticShape()) return call.error("expects a static output shape");
  auto algorithm = call.op->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm").getValue();
  bool isThreeFry = algorithm == stablehlo::RngAlgorithm::THREE_FRY;
  // The state has 128 (ThreeFry) or 128 to 192 bits (Philox), of any element type.
  int64_t words = state.numBytes() / 8;
  if (words < 2 || words > 3 || state.numBytes() % 8 || (isThreeFry && words != 2))
    return call.error("expects a state of " + llvm::Twine(isThreeFry ? "2" : "2 or 3") + " words of 64 bits");
  uint64_t w[3] = {0, 0, 0};
  std::memcpy(w, state.data(), state.numBytes());
  // In a state of two words XLA uses the key as the upper half of Philox's counter, too.
  if (words == 2) w[2] = w[0];
  Tensor output(call.typeWith(declared.getShape(), 1));
  unsigned width = output.elementBytes(), bits = bitWidth(output.kind());
  if (isComplex(output.kind())) return call.error("has no meaning for complex numbers");
  char *out = output.mutableData();
  int64_t count = output.size();
  if (bits == 64) {
    std::vector<uint64_t> values;
    if (isThreeFry) {
      values = threeFryBits64(w[0], w[1], count);
    } else {
      Counter counter{w[1], w[2]};
      std::vector<uint32_t> halves = philoxBits(w[0], counter, 2 * count);
      for (int64_t i = 0; i < count; ++i) values.push_back(halves[2 * i] | uint64_t(halves[2 * i + 1]) << 32);
      w[1] = counter.low;
      w[2] = counter.high;
    }
    std::memcpy(out, values.data(), count * 8);
  } else {
    std::vector<uint32_t> values;
    if (isThreeFry) {
      values = threeFryBits(w[0], w[1], declared.getShape());
    } else {
      Counter counter{w[1], w[2]};
      values = philoxBits(w[0], counter, count);
      w[1] = counter.low;
      w[2] = counter.high;
    }
    for (int64_t i = 0; i < count; ++i) {
      if (isInteger(output.kind())) storeInt(output.kind(), out + i * width, static_cast<int64_t>(values[i]));
      else {
        uint32_t low = values[i] & static_cast<uint32_t>((uint64_t(1) << bits) - 1);
        std::memcpy(out + i * width, &low, width);
      }
    }
  }
  Tensor next = Tensor::fromBytes(call.typeWith(state.getShape(), 0), ArrayRef<char>(reinterpret_cast<const char *>(w), state.numBytes()));
  call.push(std::move(next));
  call.push(std::move(output));
  return llvm::Error::success();
}

llvm::Error evalRng(Call &call) {
  const Tensor &a = call.in(0), &b = call.in(1);
  Shape shape = toShape(call.in(2));
  if (llvm::Error error = checkSize(call, shape, call.resultElementType())) return error;
  auto distribution = call.op->getAttrOfType<stablehlo::RngDistributionAttr>("rng_distribution").getValue();
  Tensor result(call.typeWith(shape));
  Kind kind = result.kind();
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Counter counter{call.interpreter.rngCounter, static_cast<uint64_t>(call.interpreter.process.replica) << 32 | static_cast<uint64_t>(call.interpreter.process.partition)};
  std::vector<uint32_t> bits = philoxBits(call.interpreter.options.rngSeed, counter, 4 * result.size());
  call.interpreter.rngCounter = counter.low;
  auto unit = [&](int64_t i) { return std::ldexp(static_cast<double>((bits[i] | uint64_t(bits[i + 1]) << 32) >> 11), -53); };
  for (int64_t i = 0; i < result.size(); ++i) {
    char *p = out + i * width;
    double u = unit(4 * i);
    if (distribution == stablehlo::RngDistribution::NORMAL) {
      double v = unit(4 * i + 2), z = std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v);
      storeFloat(kind, p, a.getFloat(0) + b.getFloat(0) * z);
    } else if (isInteger(kind)) {
      int64_t low = a.getInt(0), high = b.getInt(0);
      uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
      uint64_t draw = bits[4 * i] | uint64_t(bits[4 * i + 1]) << 32;
      storeInt(kind, p, static_cast<int64_t>(static_cast<uint64_t>(low) + (range ? draw % range : 0)));
    } else {
      double low = a.getFloat(0), high = b.getFloat(0), value = roundFloat(kind, low + (high - low) * u);
      // Rounding may reach the upper end, which is not in the interval.
      storeFloat(kind, p, value >= high && high > low ? low : value);
    }
  }
  call.push(std::move(result));
  return llvm::Error::success();
}

} // namespace

void addRandom(Dispatch &dispatch) {
  dispatch.add("stablehlo.rng_bit_generator", evalRngBitGenerator);
  dispatch.add("stablehlo.rng", evalRng);
}

} // namespace millrace::eval
