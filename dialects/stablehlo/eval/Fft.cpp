// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fft.cpp - fft ------------------------------------------------------===//
// Computed in long double: by recursive halving while the length is even, by the defining sum for the odd rest. Complex transforms run over the last
// size(fft_length) dimensions; RFFT keeps the first n/2 + 1 values of the last one, IRFFT restores the others by Hermitian symmetry.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"
#include "dialects/stablehlo/eval/Lanes.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace millrace::eval {

using Lane = LongComplex;

/// Returns exp(sign * 2 pi i k / n), which is exact at multiples of an eighth of the circle.
static Lane root(int64_t k, int64_t n, int sign) {
  k %= n;
  if (4 * k % n == 0) {
    constexpr int cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
    int64_t quarter = 4 * k / n;
    return {static_cast<long double>(cosine[quarter]), static_cast<long double>(sign * sine[quarter])};
  }
  long double angle = 2 * std::numbers::pi_v<long double> * k / n;
  return {cosl(angle), sign * sinl(angle)};
}

static Lane times(Lane a, Lane b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Transforms `x` of length `n` without scaling.
static SmallVector<Lane, 0> transform(ArrayRef<Lane> x, int sign) {
  int64_t n = static_cast<int64_t>(x.size());
  SmallVector<Lane, 0> result(n);
  if (n % 2 || n <= 1) {
    SmallVector<Lane, 0> roots;
    for (int64_t k = 0; k < n; ++k) roots.push_back(root(k, n, sign));
    for (int64_t k = 0; k < n; ++k) {
      Lane sum(0);
      for (int64_t j = 0; j < n; ++j) sum += times(x[j], roots[k * j % n]);
      result[k] = sum;
    }
    return result;
  }
  SmallVector<Lane, 0> even, odd;
  for (int64_t j = 0; j < n; j += 2) {
    even.push_back(x[j]);
    odd.push_back(x[j + 1]);
  }
  even = transform(even, sign);
  odd = transform(odd, sign);
  for (int64_t k = 0; k < n / 2; ++k) {
    Lane turned = times(root(k, n, sign), odd[k]);
    result[k] = even[k] + turned;
    result[k + n / 2] = even[k] - turned;
  }
  return result;
}

/// Transforms along `dimension` of a tensor of `shape`.
static void transformAlong(MutableArrayRef<Lane> lanes, ArrayRef<int64_t> shape, int64_t dimension, int sign) {
  int64_t length = shape[dimension], stride = stridesOf(shape)[dimension];
  Shape outer(shape);
  outer[dimension] = 1;
  Shape strides = stridesOf(shape);
  if (numElements(shape) == 0) return;
  forEachIndex(outer, [&](ArrayRef<int64_t> index, int64_t) {
    int64_t base = 0;
    for (size_t d = 0; d < index.size(); ++d) base += index[d] * strides[d];
    SmallVector<Lane, 0> line;
    for (int64_t k = 0; k < length; ++k) line.push_back(lanes[base + k * stride]);
    line = transform(line, sign);
    for (int64_t k = 0; k < length; ++k) lanes[base + k * stride] = line[k];
  });
}

static llvm::Error evalFft(Call &call) {
  const Tensor &x = call.in(0);
  auto type = call.op->getAttrOfType<stablehlo::FftTypeAttr>("fft_type").getValue();
  Shape lengths = intsOf(call.op, "fft_length");
  int64_t rank = x.rank(), dims = static_cast<int64_t>(lengths.size());
  if (dims < 1 || dims > rank) return call.error("expects 1 to rank(operand) lengths");
  bool real = type == stablehlo::FftType::RFFT, restores = type == stablehlo::FftType::IRFFT;
  int sign = type == stablehlo::FftType::FFT || real ? -1 : 1;
  Shape shape(x.getShape());
  for (int64_t d = 0; d < dims; ++d) {
    int64_t expected = restores && d == dims - 1 ? (lengths[d] == 0 ? 0 : lengths[d] / 2 + 1) : lengths[d];
    if (shape[rank - dims + d] != expected)
      return call.error("expects dimension " + llvm::Twine(rank - dims + d) + " to be " + llvm::Twine(expected) + ", but got " + llvm::Twine(shape[rank - dims + d]));
  }
  SmallVector<Lane, 0> lanes = lanesOf<Lane>(x);
  int64_t last = rank - 1, full = lengths.back();

  if (restores) {
    // Transforms the other dimensions first, on the half that is given, then the last one, which is extended by symmetry.
    for (int64_t d = rank - dims; d < last; ++d) transformAlong(lanes, shape, d, sign);
    Shape wholeShape(shape);
    wholeShape[last] = full;
    SmallVector<Lane, 0> whole(numElements(wholeShape));
    int64_t half = shape[last], lines = half ? static_cast<int64_t>(lanes.size()) / half : 0;
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t k = 0; k < full; ++k)
        whole[line * full + k] = k < half ? lanes[line * half + k] : std::conj(lanes[line * half + full - k]);
    // Of the values that must be real only the real part is used.
    for (int64_t line = 0; line < lines && full > 0; ++line) {
      whole[line * full] = whole[line * full].real();
      if (full % 2 == 0) whole[line * full + full / 2] = whole[line * full + full / 2].real();
    }
    lanes = std::move(whole);
    shape = wholeShape;
    transformAlong(lanes, shape, last, sign);
  } else {
    for (int64_t d = last; d >= rank - dims; --d) {
      transformAlong(lanes, shape, d, sign);
      if (real && d == last) {
        int64_t half = full == 0 ? 0 : full / 2 + 1, lines = full ? static_cast<int64_t>(lanes.size()) / full : 0;
        SmallVector<Lane, 0> kept;
        for (int64_t line = 0; line < lines; ++line)
          for (int64_t k = 0; k < half; ++k) kept.push_back(lanes[line * full + k]);
        lanes = std::move(kept);
        shape[last] = half;
      }
    }
  }
  if (sign > 0) {
    long double scale = static_cast<long double>(numElements(lengths));
    for (Lane &lane : lanes) lane = Lane(lane.real() / scale, lane.imag() / scale);
  }
  Tensor result(call.typeWith(shape));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Kind kind = result.kind();
  for (const Lane &lane : lanes) {
    if (isComplex(kind)) storeLane(kind, out, lane);
    else storeLongFloat(kind, out, lane.real());
    out += width;
  }
  call.push(std::move(result));
  return llvm::Error::success();
}

void addFft(Dispatch &dispatch) { dispatch.add("stablehlo.fft", evalFft); }

} // namespace millrace::eval
