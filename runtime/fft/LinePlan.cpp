// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinePlan.cpp - Tables of a transform ---------------------------------===//
#include "runtime/base/FftPlan.h"
#include "runtime/fft/Lines.h"

#include <algorithm>
#include <functional>

namespace millrace::runtime::fft {
namespace {

template <typename T>
std::vector<T> partsOf(const ComplexTable &table) {
  std::vector<T> parts(table.re.begin(), table.re.end());
  parts.insert(parts.end(), table.im.begin(), table.im.end());
  return parts;
}

/// Returns the factors of two as radices, the largest first: radix 8 gives fewer passes.
std::vector<int64_t> passesOfTwos(int64_t n) {
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
  return passes;
}

/// Returns the radices of the passes for processors whose registers hold eight points. The first pass reads whole vectors of contiguous points.
std::vector<int64_t> passesOf(int64_t n, bool hasManyRegisters) {
  const int64_t points = n, block = 8;
  std::vector<int64_t> radices = fftRadices(n);
  if (!hasManyRegisters)
    return radices;
  std::vector<int64_t> passes = passesOfTwos(n);
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

/// Returns the radices of the passes: first `run`, last the largest radix that has a butterfly of its own, since the last pass multiplies by no roots
/// of unity.
std::vector<int64_t> passesOfRuns(int64_t n, int64_t run) {
  std::vector<int64_t> twos = passesOfTwos(n / run), passes;
  if (twos == std::vector<int64_t>{4, 4})
    twos = {8, 2};
  for (int64_t radix : fftRadices(n / run))
    if (radix % 2)
      passes.push_back(radix);
  std::sort(passes.begin(), passes.end(), std::greater<>());
  passes.insert(passes.begin(), run);
  passes.insert(passes.end(), twos.rbegin(), twos.rend());
  return passes;
}

} // namespace

template <typename T>
LinePlan<T>::LinePlan(int64_t n, int64_t lanes) : n(n) {
  const bool hasManyRegisters = lanes * int64_t(sizeof(T)) == 64;
  radices = passesOf(n, hasManyRegisters);
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
  for (int64_t points : {8, 4})
    if (!run && !convolution && points <= lanes && n % points == 0 && n / points >= points)
      run = points;
  if (run) {
    runRadices = passesOfRuns(n, run);
    std::size_t places = std::size_t(n / run);
    for (std::size_t j = 1; j < std::size_t(run); ++j)
      for (std::size_t part : {std::size_t(0), std::size_t(n)})
        for (std::size_t p = 0; p < places; ++p)
          firstTurns.push_back(roots[part + p * j]);
    int64_t stride = 1;
    for (int64_t radix : runRadices) {
      std::vector<T> &own = runRoots.emplace_back();
      int64_t m = n / stride / radix;
      for (int64_t p = 0; p < m && stride > 1 && m > 1; ++p) // the first pass has its own roots, the last pass has none
        for (int64_t j = 1; j < radix; ++j)
          for (int64_t part : {int64_t(0), n})
            own.push_back(roots[std::size_t(part + p * stride * j)]);
      stride *= radix;
    }
  }
  ComplexTable circle = rootsOfUnity(2 * n);
  circle.re.resize(std::size_t(n) + 1);
  circle.im.resize(std::size_t(n) + 1);
  halves = partsOf<T>(circle);
}

template struct LinePlan<float>;
template struct LinePlan<double>;

} // namespace millrace::runtime::fft
