// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointKernels.h - Fourier transforms with points in the lanes ---------===//
// Every vector holds neighbouring points of one contiguous line. Passes are those of Stockham's autosort form, one per radix: point
// q + stride * (p + m * k), k < radix, go to q + stride * (radix * p + j). While the stride is shorter than a vector, whose lanes then are
// several p, results of a pass are woven into each other (log2(lanes) shuffles per vector, however long the line); behind that no
// element changes its lane. The first pass reads the tensor, the last one writes it; between them real and imaginary parts lie apart.
// A pass does a few lines before the next one begins, so that short lines do not wait for themselves.
// Included like LineKernels.h: once per vector width, nothing of the standard library with code in it.
#pragma once
#include "runtime/fft/LineKernels.h"

namespace millrace::runtime::fft {

#define MILLRACE_INLINE __attribute__((always_inline)) inline

template <typename T, int lanes>
struct Points {
  using G = Group<T, lanes>;
  using V = typename G::V;
  using Number = typename G::Number;

  static MILLRACE_INLINE Number turned(Number x, V re, V im) { return {x.re * re - x.im * im, x.re * im + x.im * re}; }

  // Blocks of `block` lanes of two vectors by turns: the lower half of the result, the upper one.
  template <int block, int first, int... i>
  static MILLRACE_INLINE V byTurns(V a, V b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (first + i / (2 * block) * block + i % block + (i / block % 2 ? lanes : 0))...);
  }
  /// `count` sequences of `width` vectors each become one, blocks of them by turns.
  template <int count, int width, int block>
  static MILLRACE_INLINE void weave(V *x) {
    if constexpr (count > 1) {
      V y[count * width];
      for (int pair = 0; pair < count / 2; ++pair) {
        const V *a = x + 2 * pair * width, *b = a + width;
        V *to = y + 2 * pair * width;
        for (int v = 0; v < width; ++v)
          if constexpr (block < lanes) {
            to[2 * v] = byTurns<block, 0>(a[v], b[v], typename G::Sequence());
            to[2 * v + 1] = byTurns<block, lanes / 2>(a[v], b[v], typename G::Sequence());
          } else {
            constexpr int whole = block / lanes;
            to[v / whole * 2 * whole + v % whole] = a[v];
            to[v / whole * 2 * whole + whole + v % whole] = b[v];
          }
      }
      for (int v = 0; v < count * width; ++v)
        x[v] = y[v];
      weave<count / 2, 2 * width, 2 * block>(x);
    }
  }
  /// `size` lanes from lane `first` on.
  template <int first, int... i>
  static MILLRACE_INLINE void storeLanes(V x, T *to, std::integer_sequence<int, i...>) {
    typedef T Part __attribute__((ext_vector_type(sizeof...(i))));
    Part part = __builtin_shufflevector(x, x, (first + i)...);
    __builtin_memcpy(to, &part, sizeof part);
  }
  template <int size, int... piece>
  static MILLRACE_INLINE void storePieces(V x, T *to, int64_t distance, std::integer_sequence<int, piece...>) {
    (storeLanes<piece * size>(x, to + piece * distance, std::make_integer_sequence<int, size>()), ...);
  }

  /// The passes while several p share a vector. `roots` has one number per root and butterfly, real and imaginary parts of each j apart.
  template <int radix, int stride, bool isFirst>
  static void narrowPass(const Lines<T> &job, const T *from, int64_t fromNext, T *to, const T *roots, int64_t n, int64_t lines) {
    const int64_t count = n / radix;
    const bool isSwapped = isFirst && job.swapIn;
    for (int64_t line = 0; line < lines; ++line, from += fromNext, to += 2 * n)
      for (int64_t next = 0; next < count; next += lanes) {
        int64_t at = next + lanes <= count ? next : count - lanes; // some once more rather than one by one
        Number x[radix];
        for (int k = 0; k < radix; ++k) {
          int64_t source = at + count * k;
          if constexpr (isFirst) {
            Number z = G::split(G::load(from + 2 * source), G::load(from + 2 * source + lanes), typename G::Sequence());
            x[k] = isSwapped ? Number{z.im, z.re} : z;
          } else {
            x[k] = {G::load(from + source), G::load(from + n + source)};
          }
        }
        G::template butterfly<radix>(x);
        for (int j = 1; j < radix; ++j) {
          const T *root = roots + 2 * count * (j - 1) + at;
          x[j] = turned(x[j], G::load(root), G::load(root + count));
        }
        if constexpr (radix % 2 == 0) {
          V re[radix], im[radix];
          for (int j = 0; j < radix; ++j)
            re[j] = x[j].re, im[j] = x[j].im;
          weave<radix, 1, stride>(re), weave<radix, 1, stride>(im);
          for (int j = 0; j < radix; ++j) {
            G::store(re[j], to + radix * at + j * lanes);
            G::store(im[j], to + n + radix * at + j * lanes);
          }
        } else {
          constexpr auto pieces = std::make_integer_sequence<int, lanes / stride>();
          for (int j = 0; j < radix; ++j) {
            storePieces<stride>(x[j].re, to + radix * at + stride * j, stride * radix, pieces);
            storePieces<stride>(x[j].im, to + n + radix * at + stride * j, stride * radix, pieces);
          }
        }
      }
  }

  /// The passes behind them: one p per vector, whose roots are one number for all lanes. The last one has no roots.
  template <int radix, bool isLast>
  static void widePass(const Lines<T> &job, const T *from, T *to, int64_t toNext, const T *roots, int64_t n, int64_t stride, int64_t lines) {
    const int64_t m = n / radix / stride;
    const bool isSwapped = isLast && job.swapOut, isScaled = isLast && job.scale != 1;
    const T scale = job.scale;
    for (int64_t line = 0; line < lines; ++line, from += 2 * n, to += toNext)
      for (int64_t p = 0; p < m; ++p) {
        const T *root = roots + 2 * (radix - 1) * p;
        for (int64_t next = 0; next < stride; next += lanes) {
          int64_t q = next + lanes <= stride ? next : stride - lanes;
          Number x[radix];
          for (int k = 0; k < radix; ++k) {
            int64_t source = q + stride * (p + m * k);
            x[k] = {G::load(from + source), G::load(from + n + source)};
          }
          G::template butterfly<radix>(x);
          for (int j = 0; j < radix; ++j) {
            int64_t target = q + stride * (radix * p + j);
            if constexpr (isLast) {
              Number y = isScaled ? G::scaled(x[j], scale) : x[j];
              if (isSwapped)
                y = {y.im, y.re};
              G::store(G::joinLow(y.re, y.im, typename G::Sequence()), to + 2 * target);
              G::store(G::joinHigh(y.re, y.im, typename G::Sequence()), to + 2 * target + lanes);
            } else {
              Number y = j ? G::mul(x[j], root[2 * j - 2], root[2 * j - 1]) : x[j];
              G::store(y.re, to + target), G::store(y.im, to + n + target);
            }
          }
        }
      }
  }

  template <int stride>
  static void narrow(const Lines<T> &job, int64_t radix, const T *from, int64_t fromNext, T *to, const T *roots, int64_t n, int64_t lines) {
    if constexpr (stride < lanes)
      switch (radix) {
      case 2: return narrowPass<2, stride, stride == 1>(job, from, fromNext, to, roots, n, lines);
      case 4: return narrowPass<4, stride, stride == 1>(job, from, fromNext, to, roots, n, lines);
      case 8: return narrowPass<8, stride, stride == 1>(job, from, fromNext, to, roots, n, lines);
      case 3:
        if constexpr (stride > 2)
          return narrowPass<3, stride, false>(job, from, fromNext, to, roots, n, lines);
        break;
      case 5:
        if constexpr (stride > 1)
          return narrowPass<5, stride, false>(job, from, fromNext, to, roots, n, lines);
        break;
      }
  }
  template <bool isLast>
  static void wide(const Lines<T> &job, int64_t radix, const T *from, T *to, int64_t toNext, const T *roots, int64_t n, int64_t stride, int64_t lines) {
    switch (radix) {
    case 2: return widePass<2, isLast>(job, from, to, toNext, roots, n, stride, lines);
    case 3: return widePass<3, isLast>(job, from, to, toNext, roots, n, stride, lines);
    case 4: return widePass<4, isLast>(job, from, to, toNext, roots, n, stride, lines);
    case 5: return widePass<5, isLast>(job, from, to, toNext, roots, n, stride, lines);
    case 8: return widePass<8, isLast>(job, from, to, toNext, roots, n, stride, lines);
    }
  }

  /// All passes of a few lines; `scratch` has room for them twice.
  static void run(const Lines<T> &job, const T *in, int64_t inNext, T *out, int64_t lines, T *scratch) {
    const PointPlan<T> &plan = *job.points;
    int64_t n = plan.n, stride = 1;
    T *place = scratch, *other = scratch + 2 * n * lines;
    for (std::size_t pass = 0; pass < plan.radices.size(); ++pass) {
      int64_t radix = plan.radices[pass];
      const T *from = pass ? place : in, *roots = plan.roots[pass].data();
      int64_t fromNext = pass ? 2 * n : inNext;
      T *to = pass ? other : place;
      switch (stride < lanes ? stride : 0) {
      case 1: narrow<1>(job, radix, from, fromNext, to, roots, n, lines); break;
      case 2: narrow<2>(job, radix, from, fromNext, to, roots, n, lines); break;
      case 4: narrow<4>(job, radix, from, fromNext, to, roots, n, lines); break;
      case 8: narrow<8>(job, radix, from, fromNext, to, roots, n, lines); break;
      default:
        if (pass + 1 == plan.radices.size())
          return wide<true>(job, radix, from, out, job.outOuter, roots, n, stride, lines);
        wide<false>(job, radix, from, to, 2 * n, roots, n, stride, lines);
      }
      if (pass)
        other = place, place = to;
      stride *= radix;
    }
  }

  static void transform(const Lines<T> &job, int64_t begin, int64_t end, T *scratch) {
    using Ends = typename Lines<T>::Ends;
    const PointPlan<T> &plan = *job.points;
    int64_t n = plan.n, together = plan.together();
    T *joined = scratch + 4 * n * together;
    for (int64_t line = begin; line < end; line += together) {
      int64_t lines = line + together <= end ? together : end - line, inNext = job.inOuter;
      const T *in = job.in + line * job.inOuter;
      T *out = job.out + line * job.outOuter;
      if (job.ends == Ends::RealOut) {
        for (int64_t l = 0; l < lines; ++l)
          G::joinLine(*job.plan, in + l * inNext, joined + 2 * n * l);
        in = joined, inNext = 2 * n;
      }
      run(job, in, inNext, out, lines, scratch);
      if (job.ends == Ends::RealIn)
        for (int64_t l = 0; l < lines; ++l)
          G::splitLine(*job.plan, out + l * job.outOuter);
    }
  }

  static constexpr Implementation<T> implementation{lanes, G::transformGroups, G::splitLine, G::joinLine, transform};
};

#undef MILLRACE_INLINE

} // namespace millrace::runtime::fft
