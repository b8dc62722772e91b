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

namespace {

/// At least this part of the lanes works.
constexpr double kBusyLanes = 0.75;

/// The radices of a line in vectors, or nothing if its length does not suit them.
std::vector<int64_t> pointRadices(int64_t n, int64_t lanes, bool hasManyRegisters) {
  int64_t largest = hasManyRegisters ? 8 : 4;
  while (largest > 1 && n / largest < lanes)
    largest /= 2;
  int twos = 0;
  int64_t odd = n;
  for (; odd % 2 == 0; odd /= 2)
    ++twos;
  if (largest < 4)
    return {}; // more passes than a line is long
  std::vector<int64_t> radices;
  while (largest == 8 && (twos >= 5 || twos == 3))
    radices.push_back(8), twos -= 3;
  for (; largest >= 4 && twos >= 2; twos -= 2)
    radices.push_back(4);
  for (; twos; --twos)
    radices.push_back(2);
  for (int64_t radix : {5, 3})
    for (; odd % radix == 0; odd /= radix)
      radices.push_back(radix);
  int64_t stride = 1;
  double vectors = 0, least = 0;
  for (int64_t radix : radices) {
    int64_t line = stride < lanes ? n / radix : stride, whole = (line + lanes - 1) / lanes;
    bool isWoven = stride < lanes && radix % 2 == 0, isCut = stride < lanes && stride >= (radix == 3 ? 4 : 2) && lanes % stride == 0;
    if (line < lanes || (stride < lanes && !isWoven && !isCut))
      return {};
    vectors += double(whole) / double(line), least += 1 / double(lanes);
    stride *= radix;
  }
  return odd == 1 && stride / radices.back() >= lanes && least >= kBusyLanes * vectors ? radices : std::vector<int64_t>();
}

} // namespace

template <typename T>
PointPlan<T>::PointPlan(int64_t n, int64_t lanes, bool hasManyRegisters) : n(n), radices(pointRadices(n, lanes, hasManyRegisters)) {
  ComplexTable table = radices.empty() ? ComplexTable() : rootsOfUnity(n);
  int64_t stride = 1;
  for (int64_t radix : radices) {
    std::vector<T> &own = roots.emplace_back();
    int64_t count = n / radix;
    auto at = [&](int64_t p, int64_t j) { return size_t(p * stride * j); };
    if (stride < lanes)
      for (int64_t j = 1; j < radix; ++j)
        for (const std::vector<double> &part : {table.re, table.im})
          for (int64_t i = 0; i < count; ++i)
            own.push_back(T(part[at(i / stride, j)]));
    else
      for (int64_t p = 0; p < count / stride; ++p)
        for (int64_t j = 1; j < radix; ++j)
          own.push_back(T(table.re[at(p, j)])), own.push_back(T(table.im[at(p, j)]));
    stride *= radix;
  }
}

template struct PointPlan<float>;
template struct PointPlan<double>;
template struct LinePlan<float>;
template struct LinePlan<double>;

} // namespace millrace::runtime::fft
