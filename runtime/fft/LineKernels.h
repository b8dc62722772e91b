// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LineKernels.h - Fourier transforms of lines in vectors ---------------===//
// Every lane of a vector is a line. A group of lines is loaded into scratch memory with separate real and imaginary parts (transposed if lines are
// contiguous), goes through one pass per radix between two buffers (Stockham's autosort algorithm), and is stored.
// One file per vector width includes this and is compiled for processors with such vectors. All functions are templates of the number of lanes, so
// that the linker cannot mix versions for different processors; for the same reason no function of the standard library may be used.
// Where possible the first pass reads the tensor itself, and the last one writes it: lines that exceed the level 1 cache pass through it two times
// less.
#pragma once
#include "runtime/base/FftPlan.h"
#include "runtime/fft/Lines.h"

#include <type_traits>
#include <utility>

namespace millrace::runtime::fft {

#define MILLRACE_INLINE __attribute__((always_inline)) inline
#define MILLRACE_INLINE_LAMBDA __attribute__((always_inline))

template <typename T, int lanes>
struct Group {
  typedef T V __attribute__((ext_vector_type(lanes)));
  struct Number {
    V re, im;
  };
  /// The real and the imaginary parts of the points of all lines of a group.
  struct Place {
    V *re, *im;
    MILLRACE_INLINE Number load(int64_t at) const { return {re[at], im[at]}; }
    MILLRACE_INLINE void store(int64_t at, Number x) const { re[at] = x.re, im[at] = x.im; }
    Place swapped() const { return {im, re}; }
  };

  static MILLRACE_INLINE Number add(Number a, Number b) { return {a.re + b.re, a.im + b.im}; }
  static MILLRACE_INLINE Number sub(Number a, Number b) { return {a.re - b.re, a.im - b.im}; }
  static MILLRACE_INLINE Number mul(Number a, T re, T im) { return {a.re * re - a.im * im, a.re * im + a.im * re}; }
  static MILLRACE_INLINE Number scaled(Number a, T by) { return {a.re * by, a.im * by}; }
  /// Returns a + by b, as one fused operation per part if the processor has it.
  static MILLRACE_INLINE Number plus(Number a, Number b, T by) { return {a.re + b.re * by, a.im + b.im * by}; }
  static MILLRACE_INLINE Number minusI(Number a) { return {a.im, -a.re}; } ///< -i a
  static MILLRACE_INLINE V load(const T *from) {
    V value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
  static MILLRACE_INLINE void store(V value, T *to) { __builtin_memcpy(to, &value, sizeof value); }

  // Transposition of `lanes` vectors: elements i and i + distance are exchanged between vectors v and v + distance.
  template <int distance, int... i>
  static MILLRACE_INLINE void exchange(V &a, V &b, std::integer_sequence<int, i...>) {
    V low = __builtin_shufflevector(a, b, (i & distance ? lanes + i - distance : i)...);
    V high = __builtin_shufflevector(a, b, (i & distance ? lanes + i : i + distance)...);
    a = low, b = high;
  }
  /// Within each four elements, interleaves the first two, or the last two, of a and b: single elements (size 1) or halves (size 2).
  template <int size, bool isHigh, int... i>
  static MILLRACE_INLINE V zip(V a, V b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (i / 4 * 4 + i % size + (i % 4 / size / 2 + isHigh * 2 / size) * size + i / size % 2 * lanes)...);
  }
  template <int distance, int count = lanes>
  static MILLRACE_INLINE void exchangeAll(V *rows) {
    if constexpr (distance == 2 && sizeof(T) == 4) { // one instruction each; an exchange of neighbours would take two
#pragma clang loop unroll(full)
      for (int v = 0; v < count; v += 4) {
        V low[2], high[2];
        for (int i = 0; i < 2; ++i) {
          low[i] = zip<1, false>(rows[v + 2 * i], rows[v + 2 * i + 1], std::make_integer_sequence<int, lanes>());
          high[i] = zip<1, true>(rows[v + 2 * i], rows[v + 2 * i + 1], std::make_integer_sequence<int, lanes>());
        }
        rows[v] = zip<2, false>(low[0], low[1], std::make_integer_sequence<int, lanes>());
        rows[v + 1] = zip<2, true>(low[0], low[1], std::make_integer_sequence<int, lanes>());
        rows[v + 2] = zip<2, false>(high[0], high[1], std::make_integer_sequence<int, lanes>());
        rows[v + 3] = zip<2, true>(high[0], high[1], std::make_integer_sequence<int, lanes>());
      }
      return;
    }
#pragma clang loop unroll(full)
    for (int v = 0; v < count; ++v)
      if (!(v & distance))
        exchange<distance>(rows[v], rows[v + distance], std::make_integer_sequence<int, lanes>());
    if constexpr (distance > 1)
      exchangeAll<distance / 2, count>(rows);
  }

  // Conversion between complex numbers with adjacent parts in two vectors and separate parts in two others.
  template <int... i>
  static MILLRACE_INLINE Number split(V a, V b, std::integer_sequence<int, i...>) {
    return {__builtin_shufflevector(a, b, (2 * i)...), __builtin_shufflevector(a, b, (2 * i + 1)...)};
  }
  template <int... i>
  static MILLRACE_INLINE V joinLow(V re, V im, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(re, im, (i / 2 + i % 2 * lanes)...);
  }
  template <int... i>
  static MILLRACE_INLINE V joinHigh(V re, V im, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(re, im, (lanes / 2 + i / 2 + i % 2 * lanes)...);
  }
  using Sequence = std::make_integer_sequence<int, lanes>;

  template <int radix>
  static MILLRACE_INLINE void butterfly(Number *x) {
    if constexpr (radix == 2) {
      Number a = x[0];
      x[0] = add(a, x[1]), x[1] = sub(a, x[1]);
    } else if constexpr (radix == 4) {
      Number even = add(x[0], x[2]), odd = add(x[1], x[3]), cross = sub(x[0], x[2]), turned = minusI(sub(x[1], x[3]));
      x[0] = add(even, odd), x[1] = add(cross, turned), x[2] = sub(even, odd), x[3] = sub(cross, turned);
    } else if constexpr (radix == 3) {
      constexpr T s = T(0.86602540378443864676);
      Number sum = add(x[1], x[2]), turned = minusI(sub(x[1], x[2])), middle = plus(x[0], sum, T(-0.5));
      x[0] = add(x[0], sum), x[1] = plus(middle, turned, s), x[2] = plus(middle, turned, -s);
    } else if constexpr (radix == 8) {
      constexpr T s = T(0.70710678118654752440);
      Number even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
      butterfly<4>(even), butterfly<4>(odd);
      odd[1] = {(odd[1].re + odd[1].im) * s, (odd[1].im - odd[1].re) * s};
      odd[2] = minusI(odd[2]);
      odd[3] = {(odd[3].im - odd[3].re) * s, (odd[3].re + odd[3].im) * -s};
      for (int j = 0; j < 4; ++j)
        x[j] = add(even[j], odd[j]), x[j + 4] = sub(even[j], odd[j]);
    } else {
      static_assert(radix == 5);
      constexpr T c1 = T(0.30901699437494742410), c2 = T(-0.80901699437494742410), s1 = T(0.95105651629515357212),
                  s2 = T(0.58778525229247312917);
      Number p = add(x[1], x[4]), q = add(x[2], x[3]), d = minusI(sub(x[1], x[4])), e = minusI(sub(x[2], x[3]));
      Number a = plus(plus(x[0], p, c1), q, c2), b = plus(plus(x[0], p, c2), q, c1);
      Number u = plus(scaled(d, s1), e, s2), v = plus(scaled(d, s2), e, -s1);
      x[0] = add(x[0], add(p, q));
      x[1] = add(a, u), x[4] = sub(a, u), x[2] = add(b, v), x[3] = sub(b, v);
    }
  }

  /// One pass: m * stride butterflies of a transform of length n.
  template <int radix>
  static void pass(Place from, Place to, const T *roots, int64_t n, int64_t m, int64_t stride) {
    for (int64_t p = 0; p < m; ++p) {
      T re[radix], im[radix];
      for (int j = 1; j < radix; ++j)
        re[j] = roots[p * stride * j], im[j] = roots[n + p * stride * j];
      for (int64_t q = 0; q < stride; ++q) {
        Number x[radix];
        for (int k = 0; k < radix; ++k)
          x[k] = from.load(q + stride * (p + m * k));
        butterfly<radix>(x);
        int64_t target = q + stride * radix * p;
        to.store(target, x[0]);
        for (int j = 1; j < radix; ++j)
          to.store(target + stride * j, p ? mul(x[j], re[j], im[j]) : x[j]);
      }
    }
  }

  /// The same for any odd radix up to the largest one, by pairs of conjugated roots; `unit` adjacent points may share one root.
  /// all.
  static void oddPass(Place from, Place to, const T *roots, int64_t n, int64_t m, int64_t stride, int64_t unit, int64_t radix, const T *own) {
    Number sums[largestRadix / 2 + 1], differences[largestRadix / 2 + 1];
    int64_t half = radix / 2;
    for (int64_t p = 0; p < m; ++p)
      for (int64_t q = 0; q < stride; ++q) {
        int64_t source = q + stride * p, target = q + stride * radix * p;
        Number first = from.load(source), total = first;
        for (int64_t k = 1; k <= half; ++k) {
          Number a = from.load(source + stride * m * k), b = from.load(source + stride * m * (radix - k));
          sums[k] = add(a, b), differences[k] = minusI(sub(a, b));
          total = add(total, sums[k]);
        }
        to.store(target, total);
        for (int64_t j = 1; j <= half; ++j) {
          Number even = first, odd = {};
          for (int64_t k = 1, turn = j; k <= half; ++k, turn = turn + j >= radix ? turn + j - radix : turn + j) {
            even = plus(even, sums[k], own[turn]);
            odd = plus(odd, differences[k], -own[radix + turn]);
          }
          int64_t a = p * stride * unit * j, b = p * stride * unit * (radix - j);
          to.store(target + stride * j, mul(add(even, odd), roots[a], roots[n + a]));
          to.store(target + stride * (radix - j), mul(sub(even, odd), roots[b], roots[n + b]));
        }
      }
  }

  /// Transforms `from` of length n by mixed radices and returns which of the two buffers has the result. `begin` and `end` select the passes, because
  /// some are done elsewhere; `stride` is the product of the radices of the passes before.
  static MILLRACE_INLINE Place mixedRadix(const LinePlan<T> &plan, int64_t n, Place from, Place spare, std::size_t begin, std::size_t end,
                                          int64_t stride = 1) {
    int64_t current = n / stride;
    const T *roots = plan.roots.data();
    for (std::size_t number = begin; number < end; ++number) {
      int64_t radix = plan.radices[number], m = current / radix;
      switch (radix) {
      case 2: pass<2>(from, spare, roots, n, m, stride); break;
      case 3: pass<3>(from, spare, roots, n, m, stride); break;
      case 4: pass<4>(from, spare, roots, n, m, stride); break;
      case 5: pass<5>(from, spare, roots, n, m, stride); break;
      case 8: pass<8>(from, spare, roots, n, m, stride); break;
      default: oddPass(from, spare, roots, n, m, stride, 1, radix, plan.small[std::size_t(radix)].data()); break;
      }
      Place last = from;
      from = spare, spare = last;
      current = m;
      stride *= radix;
    }
    return from;
  }

  static Place transform(const LinePlan<T> &plan, Place from, Place spare) {
    int64_t n = plan.n, length = plan.convolution;
    if (!length)
      return mixedRadix(plan, n, from, spare, 0, plan.radices.size());
    const T *chirp = plan.chirp.data(), *spectrum = plan.spectrum.data();
    for (int64_t k = 0; k < n; ++k)
      from.store(k, mul(from.load(k), chirp[k], chirp[n + k]));
    for (int64_t k = n; k < length; ++k)
      from.store(k, {});
    Place there = mixedRadix(plan, length, from, spare, 0, plan.radices.size());
    for (int64_t k = 0; k < length; ++k)
      there.store(k, mul(there.load(k), spectrum[k], spectrum[length + k]));
    // The inverse transform is the forward one with the parts exchanged.
    Place other = there.re == from.re ? spare : from;
    Place back = mixedRadix(plan, length, there.swapped(), other.swapped(), 0, plan.radices.size()).swapped();
    for (int64_t k = 0; k < n; ++k)
      back.store(k, mul(back.load(k), chirp[k], chirp[n + k]));
    return back;
  }

  /// Computes the transform of x, n + 1 points, from the transform Z of z(j) = x(2j) + i x(2j + 1).
  static void splitReal(const LinePlan<T> &plan, Place z) {
    int64_t n = plan.n;
    const T *turn = plan.halves.data();
    z.store(n, z.load(0));
    for (int64_t k = 0, l = n; k <= l; ++k, --l) {
      Number a = z.load(k), b = z.load(l);
      Number even = {T(0.5) * (a.re + b.re), T(0.5) * (a.im - b.im)}, odd = {T(0.5) * (a.im + b.im), T(0.5) * (b.re - a.re)};
      Number turned = mul(odd, turn[k], turn[n + 1 + k]);
      z.store(k, add(even, turned));
      Number last = sub(even, turned);
      z.store(l, k == l ? add(even, turned) : Number{last.re, -last.im});
    }
  }
  /// Inverse of splitReal() without the factor 1/2: Z of n points from n + 1 points of X.
  static void joinReal(const LinePlan<T> &plan, Place z) {
    int64_t n = plan.n;
    const T *turn = plan.halves.data();
    z.im[0] = z.im[n] = V{};
    for (int64_t k = 0, l = n; k <= l; ++k, --l) {
      Number a = z.load(k), b = z.load(l);
      Number even = {a.re + b.re, a.im - b.im}, odd = mul({a.re - b.re, a.im + b.im}, turn[k], -turn[n + 1 + k]);
      z.store(k, {even.re - odd.im, even.im + odd.re});
      if (k != l)
        z.store(l, {even.re + odd.im, odd.re - even.im});
    }
  }

  const Lines<T> &job;
  int64_t count = lanes; ///< lines of this group
  int64_t first = 0;     ///< the first one's number
  const T *in[lanes];
  T *out[lanes];
  bool sideBySide = false, outSideBySide = false;
  int64_t done = 0; ///< first lines that the previous group writes; for columns only

  Group(const Lines<T> &lines, int64_t group) : job(lines) {
    int64_t o = 0, i = 0;
    if (job.areColumns(lanes)) {
      int64_t blocks = (job.inner + lanes - 1) / lanes;
      o = group / blocks, i = (group - o * blocks) * lanes;
      if (i + lanes > job.inner) {
        done = job.mayOverwrite ? 0 : i + lanes - job.inner;
        i = job.inner - lanes;
      }
      first = o * job.inner + i;
    } else {
      first = group * lanes;
      if (job.mayOverwrite && first + lanes > job.lines && job.lines >= lanes)
        first = job.lines - lanes;
      o = first / job.inner, i = first - o * job.inner; // avoids divisions, which take as long as a short line
    }
    count = job.lines - first < lanes ? job.lines - first : lanes;
    bool isWhole = count == lanes && i + lanes <= job.inner;
    const T *firstIn = job.in + o * job.inOuter + i * job.inInner;
    T *firstOut = job.out + o * job.outOuter + i * job.outInner;
    if (isWhole || job.inner == 1) {
      int64_t inNext = isWhole ? job.inInner : job.inOuter, outNext = isWhole ? job.outInner : job.outOuter;
      for (int64_t l = 0; l < lanes; ++l) {
        int64_t own = l < count ? l : count - 1;
        in[l] = firstIn + own * inNext, out[l] = firstOut + own * outNext;
      }
    } else {
      for (int64_t l = 0; l < lanes; ++l) {
        in[l] = job.in + o * job.inOuter + i * job.inInner;
        out[l] = job.out + o * job.outOuter + i * job.outInner;
        if (l + 1 < count && ++i == job.inner)
          i = 0, ++o;
      }
    }
    sideBySide = isWhole && job.inInner == 2, outSideBySide = isWhole && job.outInner == 2;
  }

  /// Stores one point of adjacent lines; isPartial: only of the lines that are not done.
  template <bool isPartial>
  MILLRACE_INLINE void storeColumns(Number x, T *at) const {
    V low = joinLow(x.re, x.im, Sequence()), high = joinHigh(x.re, x.im, Sequence());
    if constexpr (!isPartial) {
      store(low, at), store(high, at + lanes);
      return;
    }
    T both[2 * lanes];
    store(low, both), store(high, both + lanes);
    for (int64_t i = 2 * done; i < 2 * lanes; ++i)
      at[i] = both[i];
  }

  /// Reads contiguous lines of `numbers` real numbers: calls visit(i, vector) for all i.
  template <typename Visit>
  MILLRACE_INLINE void loadRows(int64_t numbers, Visit visit) const {
    int64_t i = 0;
    for (; i + lanes <= numbers; i += lanes) {
      V rows[lanes];
#pragma clang loop unroll(full)
      for (int l = 0; l < lanes; ++l)
        rows[l] = load(in[l] + i);
      exchangeAll<lanes / 2>(rows);
#pragma clang loop unroll(full)
      for (int l = 0; l < lanes; ++l)
        visit(i + l, rows[l]);
    }
    for (; i < numbers; ++i) {
      V column;
      for (int l = 0; l < lanes; ++l)
        column[l] = in[l][i];
      visit(i, column);
    }
  }
  template <typename Value>
  MILLRACE_INLINE void storeRows(int64_t numbers, Value value) const {
    int64_t i = 0;
    for (; i + lanes <= numbers; i += lanes) {
      V rows[lanes];
#pragma clang loop unroll(full)
      for (int l = 0; l < lanes; ++l)
        rows[l] = value(i + l);
      exchangeAll<lanes / 2>(rows);
      // Lanes beyond the last line repeat the last line.
#pragma clang loop unroll(full)
      for (int l = 0; l < lanes; ++l)
        store(rows[l], out[l] + i);
    }
    for (; i < numbers; ++i) {
      V column = value(i);
      for (int64_t l = 0; l < count; ++l)
        out[l][i] = column[l];
    }
  }

  void loadComplex(Place to, int64_t points) const {
    if (job.swapIn)
      to = to.swapped();
    if (job.inStep == 2)
      return loadRows(2 * points, [&](int64_t i, V value) { (i & 1 ? to.im : to.re)[i / 2] = value; });
    for (int64_t k = 0; k < points; ++k) {
      int64_t at = k * job.inStep;
      if (sideBySide) {
        to.store(k, split(load(in[0] + at), load(in[0] + at + lanes), Sequence()));
        continue;
      }
      Number x;
      for (int l = 0; l < lanes; ++l)
        x.re[l] = in[l][at], x.im[l] = in[l][at + 1];
      to.store(k, x);
    }
  }

  void storeComplex(Place from, int64_t points) const {
    if (job.swapOut)
      from = from.swapped();
    if (job.scale != 1)
      for (int64_t k = 0; k < points; ++k)
        from.store(k, scaled(from.load(k), job.scale));
    if (job.outStep == 2)
      return storeRows(2 * points, [&](int64_t i) { return (i & 1 ? from.im : from.re)[i / 2]; });
    for (int64_t k = 0; k < points; ++k) {
      int64_t at = k * job.outStep;
      Number x = from.load(k);
      if (outSideBySide) {
        done ? storeColumns<true>(x, out[0] + at) : storeColumns<false>(x, out[0] + at);
        continue;
      }
      for (int64_t l = 0; l < count; ++l)
        out[l][at] = x.re[l], out[l][at + 1] = x.im[l];
    }
  }

  /// Points of rows that are adjacent in a vector.
  static constexpr int64_t block = lanes / 2;

  static bool hasOwnButterfly(int64_t radix) { return radix <= 5 || radix == 8; }
  bool readsPoints() const { return job.inStep != 2 && sideBySide; }
  bool writesPoints() const { return job.outStep != 2 && outSideBySide; }
  /// Returns true if the first pass can read the tensor, because no other step precedes it.
  bool canStart(const LinePlan<T> &plan) const {
    using Ends = typename Lines<T>::Ends;
    return (job.ends == Ends::Complex || job.ends == Ends::RealIn) && !plan.convolution && plan.radices.size() >= 2 &&
           hasOwnButterfly(plan.radices[0]) && (readsPoints() || (job.inStep == 2 && plan.n / plan.radices[0] >= block));
  }
  /// Returns true if the last pass can write the tensor.
  bool canEnd(const LinePlan<T> &plan) const {
    using Ends = typename Lines<T>::Ends;
    return (job.ends == Ends::Complex || job.ends == Ends::RealOut) && !plan.convolution && plan.radices.size() >= 2 &&
           hasOwnButterfly(plan.radices[plan.radices.size() - 1]) && (writesPoints() || (job.outStep == 2 && !job.turns && plan.n / plan.radices[plan.radices.size() - 1] >= block));
  }

  template <int radix>
  void firstPass(const LinePlan<T> &plan, Place to) const {
    int64_t n = plan.n, m = n / radix;
    const T *roots = plan.roots.data();
    auto combine = [&](int64_t p, Number *x) MILLRACE_INLINE_LAMBDA {
      butterfly<radix>(x);
      to.store(radix * p, x[0]);
      for (int j = 1; j < radix; ++j)
        to.store(radix * p + j, mul(x[j], roots[p * j], roots[n + p * j]));
    };
    auto given = [&](V re, V im) MILLRACE_INLINE_LAMBDA { return job.swapIn ? Number{im, re} : Number{re, im}; };
    if (readsPoints()) {
      for (int64_t p = 0; p < m; ++p) {
        Number x[radix];
        for (int k = 0; k < radix; ++k) {
          const T *at = in[0] + (p + m * k) * job.inStep;
          Number z = split(load(at), load(at + lanes), Sequence());
          x[k] = given(z.re, z.im);
        }
        combine(p, x);
      }
      return;
    }
    for (int64_t next = 0; next < m; next += block) {
      int64_t place = next + block <= m ? next : m - block; // the last block overlaps the one before, which is faster than single points
      V rows[radix][lanes];
      for (int k = 0; k < radix; ++k) {
        V turned[lanes];
#pragma clang loop unroll(full)
        for (int l = 0; l < lanes; ++l)
          turned[l] = load(in[l] + 2 * (place + m * k));
        exchangeAll<lanes / 2>(turned);
#pragma clang loop unroll(full)
        for (int l = 0; l < lanes; ++l)
          rows[k][l] = turned[l];
      }
      for (int64_t i = 0; i < block; ++i) {
        Number x[radix];
        for (int k = 0; k < radix; ++k)
          x[k] = given(rows[k][2 * i], rows[k][2 * i + 1]);
        combine(place + i, x);
      }
    }
  }

  template <int radix>
  void lastPass(const LinePlan<T> &plan, Place from, bool isSwapped) const {
    int64_t n = plan.n, stride = n / radix, group = job.turns ? first : 0;
    T scale = job.scale;
    auto combine = [&](int64_t q, Number *x, auto isPlain) MILLRACE_INLINE_LAMBDA {
      for (int k = 0; k < radix; ++k)
        x[k] = from.load(q + stride * k);
      butterfly<radix>(x);
      for (int j = 0; j < radix && !isPlain(); ++j) {
        if (job.turns) {
          const T *re = job.turns + (q + stride * j) * job.lines + group, *im = re + n * job.lines;
          V c = load(re), s = load(im);
          x[j] = {x[j].re * c - x[j].im * s, x[j].re * s + x[j].im * c};
        }
        if (scale != 1)
          x[j] = scaled(x[j], scale);
        if (isSwapped)
          x[j] = {x[j].im, x[j].re};
      }
    };
    std::true_type yes;
    std::false_type no;
    auto columns = [&](auto isPartial, auto isPlain) MILLRACE_INLINE_LAMBDA {
      for (int64_t q = 0; q < stride; ++q) {
        Number x[radix];
        combine(q, x, isPlain);
        for (int j = 0; j < radix; ++j)
          storeColumns<isPartial()>(x[j], out[0] + (q + stride * j) * job.outStep);
      }
    };
    if (writesPoints())
      return done ? columns(yes, no) : job.turns || scale != 1 || isSwapped ? columns(no, no) : columns(no, yes); // the last variant has no branches
    for (int64_t next = 0; next < stride; next += block) {
      int64_t place = next + block <= stride ? next : stride - block;
      V rows[radix][lanes];
      for (int64_t i = 0; i < block; ++i) {
        Number x[radix];
        combine(place + i, x, no);
        for (int j = 0; j < radix; ++j)
          rows[j][2 * i] = x[j].re, rows[j][2 * i + 1] = x[j].im;
      }
      for (int j = 0; j < radix; ++j) {
        V turned[lanes];
#pragma clang loop unroll(full)
        for (int l = 0; l < lanes; ++l)
          turned[l] = rows[j][l];
        exchangeAll<lanes / 2>(turned);
        // Lanes beyond the last line repeat the last line.
#pragma clang loop unroll(full)
        for (int l = 0; l < lanes; ++l)
          store(turned[l], out[l] + 2 * (place + stride * j));
      }
    }
  }

  void start(const LinePlan<T> &plan, Place to) const {
    switch (plan.radices[0]) {
    case 2: return firstPass<2>(plan, to);
    case 3: return firstPass<3>(plan, to);
    case 4: return firstPass<4>(plan, to);
    case 5: return firstPass<5>(plan, to);
    default: return firstPass<8>(plan, to);
    }
  }
  void finish(const LinePlan<T> &plan, Place from, bool isSwapped) const {
    switch (plan.radices[plan.radices.size() - 1]) {
    case 2: return lastPass<2>(plan, from, isSwapped);
    case 3: return lastPass<3>(plan, from, isSwapped);
    case 4: return lastPass<4>(plan, from, isSwapped);
    case 5: return lastPass<5>(plan, from, isSwapped);
    default: return lastPass<8>(plan, from, isSwapped);
    }
  }

  void turn(Place z) const {
    int64_t n = job.plan->n;
    const T *re = job.turns, *im = re + n * job.lines;
    for (int64_t k = 0; k < n; ++k) {
      Number x = z.load(k), by = {};
      int64_t at = k * job.lines + first;
      if (count == lanes)
        by = {load(re + at), load(im + at)};
      else
        for (int64_t l = 0; l < count; ++l)
          by.re[l] = re[at + l], by.im[l] = im[at + l];
      z.store(k, {x.re * by.re - x.im * by.im, x.re * by.im + x.im * by.re});
    }
  }

  void run(T *scratch) {
    using Ends = typename Lines<T>::Ends;
    const LinePlan<T> &plan = *job.plan;
    int64_t n = plan.n, size = (plan.convolution ? plan.convolution : n) + 1;
    V *memory = reinterpret_cast<V *>(scratch);
    Place from = {memory, memory + size}, spare = {memory + 2 * size, memory + 3 * size};
    bool starts = canStart(plan), ends = canEnd(plan);
    if (starts)
      start(plan, from);
    else
      fetch(plan, from, spare);
    int64_t stride = starts ? plan.radices[0] : 1;
    Place result = plan.convolution ? transform(plan, from, spare)
                                  : mixedRadix(plan, n, from, spare, starts, plan.radices.size() - ends, stride);
    if (ends)
      return finish(plan, result, job.swapOut != (job.ends == Ends::RealOut));
    if (job.turns)
      turn(result);
    switch (job.ends) {
    case Ends::Complex: return storeComplex(result, n);
    case Ends::RealIn: splitReal(plan, result); return storeComplex(result, n + 1);
    case Ends::RealOut: return storeComplex(result.swapped(), n);
    case Ends::OddReal: return storeComplex(result, n / 2 + 1);
    case Ends::OddOut: return storeRows(n, [&](int64_t k) { return result.im[k] * job.scale; });
    }
  }

  /// Loads the operands of the first pass from the tensor.
  void fetch(const LinePlan<T> &plan, Place &from, Place &spare) const {
    using Ends = typename Lines<T>::Ends;
    int64_t n = plan.n;
    switch (job.ends) {
    case Ends::Complex:
    case Ends::RealIn: loadComplex(from, n); break;
    case Ends::RealOut:
      loadComplex(from, n + 1);
      joinReal(plan, from);
      from = from.swapped(), spare = spare.swapped(); // the inverse transform
      break;
    case Ends::OddReal:
      loadRows(n, [&](int64_t k, V value) { from.re[k] = value, from.im[k] = V{}; });
      break;
    case Ends::OddOut:
      loadComplex(from, n / 2 + 1);
      from.im[0] = V{};
      for (int64_t k = n / 2 + 1; k < n; ++k)
        from.re[k] = from.re[n - k], from.im[k] = -from.im[n - k];
      from = from.swapped(), spare = spare.swapped();
      break;
    }
  }

  static void transformGroups(const Lines<T> &lines, int64_t begin, int64_t end, T *scratch) {
    for (int64_t group = begin; group < end; ++group)
      Group(lines, group).run(scratch);
  }

  // One line with its parts side by side.
  template <int... i>
  static MILLRACE_INLINE V reversed(V a, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, a, (lanes - 1 - i)...);
  }
  static MILLRACE_INLINE Number loadPoints(const T *from) { return split(load(from), load(from + lanes), Sequence()); }
  static MILLRACE_INLINE Number loadReversed(const T *from) {
    Number x = loadPoints(from);
    return {reversed(x.re, Sequence()), reversed(x.im, Sequence())};
  }
  static MILLRACE_INLINE void storePoints(Number x, T *to) {
    store(joinLow(x.re, x.im, Sequence()), to);
    store(joinHigh(x.re, x.im, Sequence()), to + lanes);
  }

  /// Points k and l = n - k of the result, from those of z.
  static MILLRACE_INLINE void splitPoints(const T *z, int64_t k, int64_t l, const T *re, const T *im, T *x) {
    T even[2] = {T(0.5) * (z[2 * k] + z[2 * l]), T(0.5) * (z[2 * k + 1] - z[2 * l + 1])};
    T odd[2] = {T(0.5) * (z[2 * k + 1] + z[2 * l + 1]), T(0.5) * (z[2 * l] - z[2 * k])};
    T turned[2] = {odd[0] * re[k] - odd[1] * im[k], odd[0] * im[k] + odd[1] * re[k]};
    x[2 * l] = even[0] - turned[0], x[2 * l + 1] = turned[1] - even[1];
    x[2 * k] = even[0] + turned[0], x[2 * k + 1] = even[1] + turned[1];
  }
  static void splitLine(const LinePlan<T> &plan, T *z) {
    int64_t n = plan.n, k = 0;
    const T *re = plan.halves.data(), *im = re + n + 1;
    z[2 * n] = z[0], z[2 * n + 1] = z[1];
    for (; 2 * (k + lanes) <= n + 1; k += lanes) {
      T *first = z + 2 * k, *last = z + 2 * (n - k - lanes + 1);
      Number a = loadPoints(first), b = loadReversed(last);
      Number even = {T(0.5) * (a.re + b.re), T(0.5) * (a.im - b.im)}, odd = {T(0.5) * (a.im + b.im), T(0.5) * (b.re - a.re)};
      V c = load(re + k), s = load(im + k);
      Number turned = {odd.re * c - odd.im * s, odd.re * s + odd.im * c};
      storePoints(add(even, turned), first);
      storePoints({reversed(even.re - turned.re, Sequence()), reversed(turned.im - even.im, Sequence())}, last);
    }
    for (int64_t l = n - k; k <= l; ++k, --l)
      splitPoints(z, k, l, re, im, z);
  }
  static void joinLine(const LinePlan<T> &plan, const T *x, T *z) {
    int64_t n = plan.n, k = 1;
    const T *re = plan.halves.data(), *im = re + n + 1;
    auto point = [&](int64_t k, T a, T ai, T b, T bi) MILLRACE_INLINE_LAMBDA {
      T odd[2] = {(a - b) * re[k] + (ai + bi) * im[k], (ai + bi) * re[k] - (a - b) * im[k]};
      z[2 * k] = a + b - odd[1], z[2 * k + 1] = ai - bi + odd[0];
    };
    point(0, x[0], T(0), x[2 * n], T(0));
    for (; k + lanes <= n; k += lanes) {
      Number a = loadPoints(x + 2 * k), b = loadReversed(x + 2 * (n - k - lanes + 1));
      V c = load(re + k), s = load(im + k);
      Number difference = {a.re - b.re, a.im + b.im};
      Number odd = {difference.re * c + difference.im * s, difference.im * c - difference.re * s};
      storePoints({a.re + b.re - odd.im, a.im - b.im + odd.re}, z + 2 * k);
    }
    for (; k < n; ++k)
      point(k, x[2 * k], x[2 * k + 1], x[2 * (n - k)], x[2 * (n - k) + 1]);
  }
};

#undef MILLRACE_INLINE_LAMBDA
#undef MILLRACE_INLINE

} // namespace millrace::runtime::fft
