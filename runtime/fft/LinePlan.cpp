// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinePlan.cpp - Tables of a transform ---------------------------------===//
#include "runtime/base/FftPlan.h"
#include "runtime/fft/Lines.h"

#include <algorithm>

namespace millrace::runtime::fft {
namespace {

template <typename T>
std::vector<T> partsOf(const ComplexTable &table) {
  std::vector<T> parts(table.re.begin(), table.re.end());
  parts.insert(parts.end(), table.im.begin(), table.im.end());
  return parts;
}

/// Fewer passes with eight points at a time, where registers hold them. First a pass that reads whole vectors of neighbouring points.
std::vector<int64_t> passesOf(int64_t n, bool hasManyRegisters) {
  const int64_t points = n, block = 8;
  std::vector<int64_t> radices = fftRadices(n);
  if (!hasManyRegisters)
    return radices;
  int twos = 0;
  for (; n % 2 == 0; n /= 2)
    ++twos;
  std::vector<int64_t> passes;
  while (twos >= 5 || twos == 3)
    passes.push_back(8), twos -= 3;
  for (; twos >= 2; twos -= 2)
    passes.push_back(4);
  if (twos)
    passes.push_back(2);
  for (int64_t radix : radices)
    if (radix % 2)
      passes.push_back(radix);
  auto best = passes.end();
  for (auto it = passes.begin(); it != passes.end(); ++it)
    if (*it <= 8 && points / *it >= block && (best == passes.end() || *it > *best))
      best = it;
  if (best != passes.end())
    std::rotate(passes.begin(), best, best + 1);
  return passes;
}

} // namespace

template <typename T>
LinePlan<T>::LinePlan(int64_t n, bool hasManyRegisters) : n(n), radices(passesOf(n, hasManyRegisters)) {
  if (!radices.empty() && radices.back() > largestRadix) {
    convolution = chirpLength(n);
    radices = passesOf(convolution, hasManyRegisters);
    chirp = partsOf<T>(runtime::chirp(n));
    spectrum = partsOf<T>(chirpSpectrum(n));
  }
  roots = partsOf<T>(rootsOfUnity(convolution ? convolution : n));
  for (int64_t radix : radices)
    if (radix > 5 && radix % 2) {
      small.resize(std::size_t(radix) + 1);
      small.back() = partsOf<T>(rootsOfUnity(radix));
    }
  ComplexTable circle = rootsOfUnity(2 * n);
  circle.re.resize(std::size_t(n) + 1);
  circle.im.resize(std::size_t(n) + 1);
  halves = partsOf<T>(circle);
}

template struct LinePlan<float>;
template struct LinePlan<double>;

} // namespace millrace::runtime::fft
