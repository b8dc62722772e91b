// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunKernels.h - Fourier transforms of contiguous lines ----------------===//
// Every vector holds runs of eight or four adjacent points, of one line or of several. The first pass has that radix, so that its results for so many
// places become such runs by one transposition in registers; in all later passes the lanes are adjacent points with the same operations. Compared
// with one line per lane (LineKernels.h) that takes five shuffles per vector instead of eight, and a few lines at a time stay in the level 1 cache
// where sixteen do not.
// One file per vector width includes this; LineKernels.h says what such a file may use.
#pragma once
#include "runtime/fft/LineKernels.h"

namespace millrace::runtime::fft {

#define MILLRACE_INLINE __attribute__((always_inline)) inline

template <typename T, int lanes, int run>
struct Runs {
  using G = Group<T, lanes>;
  using V = typename G::V;
  using Number = typename G::Number;
  using Place = typename G::Place;
  using Sequence = typename G::Sequence;
  static constexpr int64_t together = lanes / run; ///< lines in a vector
  static_assert(together == 1 || together == 2 || together == 4);
  typedef T Half __attribute__((ext_vector_type(lanes / 2)));

  template <int... i>
  static MILLRACE_INLINE V loadHalves(const T *first, const T *second, std::integer_sequence<int, i...>) {
    Half a, b;
    __builtin_memcpy(&a, first, sizeof a);
    __builtin_memcpy(&b, second, sizeof b);
    return __builtin_shufflevector(a, b, i...);
  }
  template <int... i>
  static MILLRACE_INLINE void storeHalves(V x, T *first, T *second, std::integer_sequence<int, i...>) {
    Half a = __builtin_shufflevector(x, x, i...), b = __builtin_shufflevector(x, x, (lanes / 2 + i)...);
    __builtin_memcpy(first, &a, sizeof a);
    __builtin_memcpy(second, &b, sizeof b);
  }
  /// Loads a run of points of each line, `at` numbers from their begin: two vectors.
  static MILLRACE_INLINE Number load(const T *const *lines, int64_t at) {
    if constexpr (together == 4)
      return G::split(loadHalves(lines[0] + at, lines[1] + at, Sequence()), loadHalves(lines[2] + at, lines[3] + at, Sequence()), Sequence());
    else
      return G::split(G::load(lines[0] + at), G::load(together == 2 ? lines[1] + at : lines[0] + at + lanes), Sequence());
  }
  static MILLRACE_INLINE void store(Number x, T *const *lines, int64_t at) {
    V low = G::joinLow(x.re, x.im, Sequence()), high = G::joinHigh(x.re, x.im, Sequence());
    if constexpr (together == 4) {
      using HalfSequence = std::make_integer_sequence<int, lanes / 2>;
      storeHalves(low, lines[0] + at, lines[1] + at, HalfSequence());
      storeHalves(high, lines[2] + at, lines[3] + at, HalfSequence());
    } else {
      G::store(low, lines[0] + at);
      G::store(high, together == 2 ? lines[1] + at : lines[0] + at + lanes);
    }
  }
  /// Loads a run of numbers that is the same for each line.
  template <int... i>
  static MILLRACE_INLINE V repeat(const T *from, std::integer_sequence<int, i...>) {
    typedef T Run __attribute__((ext_vector_type(run)));
    Run value;
    __builtin_memcpy(&value, from, sizeof value);
    return __builtin_shufflevector(value, value, (i % run)...);
  }

  /// An inverse transform is the forward one with the parts exchanged before and after it, and scaled.
  template <bool isInverse>
  static void firstPass(const LinePlan<T> &plan, const T *const *in, Place to) {
    int64_t m = plan.n / run;
    const T *turns = plan.firstTurns.data();
    for (int64_t next = 0; next < m; next += run) {
      int64_t first = next + run <= m ? next : m - run; // the last run overlaps the one before, which is faster than single points
      Number x[run];
      for (int64_t k = 0; k < run; ++k) {
        Number z = load(in, 2 * (first + m * k));
        x[k] = isInverse ? Number{z.im, z.re} : z;
      }
      G::template butterfly<run>(x);
      V re[run], im[run];
      re[0] = x[0].re, im[0] = x[0].im;
      for (int64_t j = 1; j < run; ++j) {
        const T *at = turns + 2 * m * (j - 1) + first;
        V c = repeat(at, Sequence()), s = repeat(at + m, Sequence());
        re[j] = x[j].re * c - x[j].im * s, im[j] = x[j].re * s + x[j].im * c;
      }
      G::template exchangeAll<run / 2, run>(re);
      G::template exchangeAll<run / 2, run>(im);
      for (int64_t p = 0; p < run; ++p)
        to.store(first + p, {re[p], im[p]});
    }
  }

  /// Applies m sets of roots, in the order in which they are read. The roots of the last pass are 1.
  template <int radix, bool isLast = false>
  static void pass(Place from, Place to, const T *roots, int64_t m, int64_t stride) {
    for (int64_t p = 0; p < m; ++p, roots += 2 * (radix - 1)) {
      T re[radix], im[radix];
      for (int j = 1; j < radix; ++j)
        re[j] = isLast ? T(1) : roots[2 * j - 2], im[j] = isLast ? T(0) : roots[2 * j - 1];
      for (int64_t q = 0; q < stride; ++q) {
        Number x[radix];
        for (int k = 0; k < radix; ++k)
          x[k] = from.load(q + stride * (p + m * k));
        G::template butterfly<radix>(x);
        int64_t target = q + stride * radix * p;
        to.store(target, x[0]);
        for (int j = 1; j < radix; ++j)
          to.store(target + stride * j, isLast ? x[j] : G::mul(x[j], re[j], im[j]));
      }
    }
  }

  /// Runs the passes [1, end).
  static MILLRACE_INLINE Place middlePasses(const LinePlan<T> &plan, Place from, Place spare, std::size_t end) {
    int64_t current = plan.n / run, stride = 1;
    for (std::size_t number = 1; number < end; ++number) {
      int64_t radix = plan.runRadices[number], m = current / radix;
      const T *roots = plan.runRoots[number].data();
      switch (radix) {
      case 2: pass<2>(from, spare, roots, m, stride); break;
      case 3: pass<3>(from, spare, roots, m, stride); break;
      case 4: pass<4>(from, spare, roots, m, stride); break;
      case 5: pass<5>(from, spare, roots, m, stride); break;
      case 8: pass<8>(from, spare, roots, m, stride); break;
      default: G::oddPass(from, spare, plan.roots.data(), plan.n, m, stride, run, radix, plan.small[std::size_t(radix)].data()); break;
      }
      Place last = from;
      from = spare, spare = last;
      current = m, stride *= radix;
    }
    return from;
  }

  template <bool isInverse>
  static MILLRACE_INLINE Number result(Number x, T scale) {
    return isInverse ? Number{x.im * scale, x.re * scale} : x;
  }
  template <bool isInverse, int radix>
  static void lastPass(const LinePlan<T> &plan, Place from, T *const *out, T scale) {
    int64_t stride = plan.n / radix / run;
    for (int64_t q = 0; q < stride; ++q) {
      Number x[radix];
      for (int k = 0; k < radix; ++k)
        x[k] = from.load(q + stride * k);
      G::template butterfly<radix>(x);
      for (int j = 0; j < radix; ++j)
        store(result<isInverse>(x[j], scale), out, 2 * run * (q + stride * j));
    }
  }

  /// Transforms a line each from `in` to `out`.
  template <bool isInverse>
  static void transform(const LinePlan<T> &plan, const T *const *in, T *const *out, T scale, T *scratch) {
    const std::vector<int64_t> &radices = plan.runRadices;
    int64_t vectors = plan.n / run;
    V *memory = reinterpret_cast<V *>(scratch);
    Place from = {memory, memory + vectors}, spare = {memory + 2 * vectors, memory + 3 * vectors};
    firstPass<isInverse>(plan, in, from);
    int64_t last = radices[radices.size() - 1];
    bool ends = G::hasOwnButterfly(last);
    Place done = middlePasses(plan, from, spare, radices.size() - ends);
    if (!ends) {
      for (int64_t v = 0; v < vectors; ++v)
        store(result<isInverse>(done.load(v), scale), out, 2 * run * v);
      return;
    }
    switch (last) {
    case 2: return lastPass<isInverse, 2>(plan, done, out, scale);
    case 3: return lastPass<isInverse, 3>(plan, done, out, scale);
    case 4: return lastPass<isInverse, 4>(plan, done, out, scale);
    case 5: return lastPass<isInverse, 5>(plan, done, out, scale);
    default: return lastPass<isInverse, 8>(plan, done, out, scale);
    }
  }

  /// Reverses the order of each run: returns per line b[0], a[run - 1], a[run - 2], ..., a[1], where the run begins with a[0].
  template <int... i>
  static MILLRACE_INLINE V backwards(V a, V b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (i % run ? i / run * run + run - i % run : lanes + i)...);
  }
  template <int... i>
  static MILLRACE_INLINE V reversed(V a, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, a, (i / run * run + run - 1 - i % run)...);
  }

  /// Transforms real lines of 2n numbers: computes the transform of their halves, and from it n + 1 points (Group::splitReal).
  static void transformReal(const LinePlan<T> &plan, const T *const *in, T *const *out, T *scratch) {
    int64_t n = plan.n, vectors = n / run;
    V *memory = reinterpret_cast<V *>(scratch);
    Place from = {memory, memory + vectors}, spare = {memory + 2 * vectors, memory + 3 * vectors};
    firstPass<false>(plan, in, from);
    std::size_t last = plan.runRadices.size() - 1;
    Place z = middlePasses(plan, from, spare, last), other = z.re == from.re ? spare : from;
    int64_t stride = vectors / plan.runRadices[last];
    switch (plan.runRadices[last]) {
    case 2: pass<2, true>(z, other, nullptr, 1, stride); break;
    case 3: pass<3, true>(z, other, nullptr, 1, stride); break;
    case 4: pass<4, true>(z, other, nullptr, 1, stride); break;
    case 5: pass<5, true>(z, other, nullptr, 1, stride); break;
    case 8: pass<8, true>(z, other, nullptr, 1, stride); break;
    default: G::oddPass(z, other, plan.roots.data(), n, 1, stride, run, plan.runRadices[last], plan.small[std::size_t(plan.runRadices[last])].data()); break;
    }
    // Points k of a run are processed together with n - k. In the middle some are computed twice, and the later results stay.
    const T *turns = plan.halves.data();
    for (int64_t v = 0; run * v <= n / 2; ++v) {
      Number a = other.load(v), before = other.load(vectors - 1 - v), at = other.load(v ? vectors - v : 0);
      Number b = {backwards(before.re, at.re, Sequence()), backwards(before.im, at.im, Sequence())};
      constexpr T half = T(0.5);
      Number even = {half * (a.re + b.re), half * (a.im - b.im)}, odd = {half * (a.im + b.im), half * (b.re - a.re)};
      V c = repeat(turns + run * v, Sequence()), s = repeat(turns + n + 1 + run * v, Sequence());
      Number turned = {odd.re * c - odd.im * s, odd.re * s + odd.im * c};
      store(G::add(even, turned), out, 2 * run * v);
      store({reversed(even.re - turned.re, Sequence()), reversed(turned.im - even.im, Sequence())}, out, 2 * (n - run * v - run + 1));
    }
  }

  static void transformGroups(const Lines<T> &lines, int64_t begin, int64_t end, T *scratch) {
    using Ends = typename Lines<T>::Ends;
    const LinePlan<T> &plan = *lines.plan;
    bool joins = lines.ends == Ends::RealOut;
    for (int64_t group = begin; group < end; ++group) {
      const T *in[together];
      T *out[together];
      for (int64_t i = 0; i < together; ++i) {
        int64_t line = group * together + i < lines.lines ? group * together + i : lines.lines - 1; // beyond the last line, the last one is repeated
        in[i] = lines.in + line * lines.inOuter, out[i] = lines.out + line * lines.outOuter;
        if (joins) {
          T *joined = scratch + (4 * together + 2 * i) * plan.n;
          G::joinLine(plan, in[i], joined);
          in[i] = joined;
        }
      }
      if (lines.ends == Ends::RealIn)
        transformReal(plan, in, out, scratch);
      else if (lines.swapIn || joins)
        transform<true>(plan, in, out, lines.scale, scratch);
      else
        transform<false>(plan, in, out, lines.scale, scratch);
    }
  }
};

#undef MILLRACE_INLINE

/// Transforms contiguous lines of a plan with runs.
template <typename T, int lanes>
void transformRuns(const Lines<T> &lines, int64_t begin, int64_t end, T *scratch) {
  if constexpr (lanes >= 8)
    if (lines.plan->run == 8)
      return Runs<T, lanes, 8>::transformGroups(lines, begin, end, scratch);
  if constexpr (lanes >= 4)
    Runs<T, lanes, 4>::transformGroups(lines, begin, end, scratch);
}

template <typename T, int lanes>
constexpr Implementation<T> implementationOf{lanes, Group<T, lanes>::transformGroups, transformRuns<T, lanes>, Group<T, lanes>::splitLine,
                                             Group<T, lanes>::joinLine};

} // namespace millrace::runtime::fft
