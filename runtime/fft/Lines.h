// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lines.h - Fourier transforms of many lines at once -------------------===//
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::runtime::fft {

/// The tables for transforms of complex lines of length n, computed once per program.
template <typename T>
struct LinePlan {
  /// Makes the tables for vectors of `lanes` numbers.
  LinePlan(int64_t n, int64_t lanes);
  int64_t n = 1;
  std::vector<int64_t> radices;        ///< of n, or of `convolution` where that is not 0
  std::vector<T> roots;                ///< e^(-2 pi i k / n) for all k, or of the convolution: real parts, then imaginary ones
  std::vector<std::vector<T>> small;   ///< by radix, where it is odd and above 5: its own roots, the same way
  int64_t convolution = 0;             ///< length of Bluestein's convolution, for lengths with a large prime factor
  std::vector<T> chirp, spectrum;      ///< tables of the convolution; real parts, then imaginary ones
  std::vector<T> halves;               ///< e^(-2 pi i k / 2n), k <= n: roots that combine the halves of a real line of length 2n

  // Runs of neighbouring points in vectors (RunKernels.h).
  int64_t run = 0;                     ///< points of a run, 8 or 4; 0 where n is no multiple of them or has too few runs
  std::vector<int64_t> runRadices;     ///< `run` is the first
  std::vector<std::vector<T>> runRoots; ///< of each later pass, place by place: of its results 1, 2, ..., real and imaginary parts in turns
  std::vector<T> firstTurns;           ///< of the first pass: those of result j, 0 < j < run, at all n / run places, real before imaginary

  /// Returns the scratch memory of a transform of `lanes` lines, as a number of elements of type T.
  int64_t scratch(int64_t lanes) const { return 4 * lanes * ((convolution ? convolution : n) + 1); }
  /// Does the same for runs: two buffers for the points of all lines of a vector, and one for the joined lines.
  int64_t runScratch(int64_t lanes) const { return 6 * n * (lanes / run); }
};

/// The lines of one tensor and where their transforms are stored. Line l = o * inner + i begins at o * inOuter + i * inInner, its elements are inStep
/// apart; all numbers count real numbers (a complex one is two). A group is `lanes` lines, which are transformed together in vectors.
template <typename T>
struct Lines {
  enum class Ends : uint8_t {
    Complex,  ///< n complex numbers to as many
    RealIn,   ///< 2n real numbers to n + 1 complex ones; contiguous lines
    RealOut,  ///< n + 1 complex numbers to 2n real ones
    OddReal,  ///< n real numbers (n odd) to n / 2 + 1 complex ones
    OddOut,   ///< the inverse of OddReal
  };
  const LinePlan<T> *plan = nullptr;
  Ends ends = Ends::Complex;
  const T *in = nullptr;
  T *out = nullptr;
  int64_t lines = 0, inner = 1;
  int64_t inOuter = 0, inInner = 0, inStep = 2;
  int64_t outOuter = 0, outInner = 0, outStep = 2;
  bool swapIn = false, swapOut = false; ///< exchange real and imaginary parts; an inverse transform does both
  T scale = 1;
  bool mayOverwrite = false; ///< a group may write lines of the previous group again: input and output are distinct, and one thread does all
  /// Returns true if adjacent lines are contiguous and fill at least a group: then no group crosses the end of a run of such lines; the last group
  /// overlaps the one before.
  bool areColumns(int64_t lanes) const { return inInner == 2 && outInner == 2 && inner >= lanes; }
  int64_t groups(int64_t lanes) const {
    return areColumns(lanes) ? lines / inner * ((inner + lanes - 1) / lanes) : (lines + lanes - 1) / lanes;
  }
  /// Factors: point k of line l is multiplied by number k * lines + l; real parts, then imaginary ones. May be null.
  const T *turns = nullptr;
};

/// Transforms the lines of groups [begin, end). `scratch` has plan->scratch(lanes), or runScratch(lanes), numbers and is aligned to 64 bytes.
template <typename T>
using TransformGroups = void (*)(const Lines<T> &lines, int64_t begin, int64_t end, T *scratch);

/// Computes, for one line with adjacent parts, in place, the transform of x from that of x(2j) + i x(2j + 1), with one point more; or the inverse,
/// without the factor 1/2.
template <typename T>
using SplitLine = void (*)(const LinePlan<T> &plan, T *z);
template <typename T>
using JoinLine = void (*)(const LinePlan<T> &plan, const T *x, T *z);

template <typename T>
struct Implementation {
  int lanes;
  TransformGroups<T> transform;
  TransformGroups<T> transformRuns; ///< the same for contiguous lines, lanes / plan->run in a group
  SplitLine<T> split;
  JoinLine<T> join;
};

/// The implementations for vectors of 128, 256 and 512 bits. The last two require processors with AVX2 and AVX-512.
Implementation<float> portableFloat(), avx2Float(), avx512Float();
Implementation<double> portableDouble(), avx2Double(), avx512Double();

} // namespace millrace::runtime::fft
