// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinePlan.cpp - Tables of a transform ---------------------------------===//
#include "runtime/base/FftPlan.h"
#include "runtime/fft/Lines.h"

namespace millrace::runtime::fft {
namespace {

template <typename T>
std::vector<T> partsOf(const ComplexTable &table) {
  std::vector<T> parts(table.re.begin(), table.re.end());
  parts.insert(parts.end(), table.im.begin(), table.im.end());
  return parts;
}

} // namespace

template <typename T>
LinePlan<T>::LinePlan(int64_t n) : n(n), radices(fftRadices(n)) {
  if (!radices.empty() && radices.back() > largestRadix) {
    convolution = chirpLength(n);
    radices = fftRadices(convolution);
    chirp = partsOf<T>(runtime::chirp(n));
    spectrum = partsOf<T>(chirpSpectrum(n));
  }
  roots = partsOf<T>(rootsOfUnity(convolution ? convolution : n));
  for (int64_t radix : radices)
    if (radix > 5) {
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
