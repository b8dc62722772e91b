// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlockKernels.h - Vector kernels of factorizations and solvers -------===//
// One tile does almost all the work: c -= a b for a few rows of c, a few vectors wide, with the elements of a broadcast from memory; then, if the
// rows are unknowns of a triangular system, the substitution among them.
// One file per vector width includes this and is compiled for processors with such vectors. As in runtime/fft/LineKernels.h, all functions are
// templates of the number of lanes, and no function of the standard library is used.
#pragma once
#include "runtime/lapack/Blocks.h"

#include <utility>

namespace millrace::runtime::lapack {

#define MILLRACE_INLINE __attribute__((always_inline)) inline

template <typename T, int lanes>
struct BlockKernels {
  typedef T V __attribute__((ext_vector_type(lanes)));
  /// Vectors of a tile's row. Unit: vectors. Source: arithmetic: 8 rows of 3 vectors of sums, or 4 of 3, fit 32 or 16 registers with the factors.
  static constexpr int kVectors = 3;
  /// Rows of a tile, whose sums fit the registers. Unit: rows. Source: arithmetic, as kVectors.
  static constexpr int kRows = lanes * sizeof(T) == 64 ? 8 : 4;

  static MILLRACE_INLINE V load(const T *from) {
    V value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
  static MILLRACE_INLINE void store(V value, T *to) { __builtin_memcpy(to, &value, sizeof value); }

  /// A matrix of factors; a(i, k) is data[i * row + k * step].
  struct Factors {
    const T *data;
    int64_t row, step;
    const T *at(int64_t i, int64_t k) const { return data + i * row + k * step; }
  };

  /// Computes c(r, :) -= sum over k of a(r, k) x(k, :). With `solves` the rows are the next ones of x, unknowns of the triangle that follows in a:
  /// x(r, :) = (c(r, :) - sum over the preceding unknowns) * inverse[r] (null: 1).
  template <int rows, int vectors, bool solves>
  static void tile(Factors a, int64_t terms, const T *x, T *c, int64_t length, const T *inverse) {
    V sums[rows][vectors];
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        sums[r][v] = load(c + r * length + v * lanes);
#pragma clang loop unroll_count(2)
    for (int64_t k = 0; k < terms; ++k) {
      V values[vectors];
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; ++v)
        values[v] = load(x + k * length + v * lanes);
      const T *factors = a.at(0, k);
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
          sums[r][v] -= factors[r * a.row] * values[v];
    }
    if constexpr (solves) {
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r) {
#pragma clang loop unroll(full)
        for (int s = 0; s < r; ++s)
          for (int v = 0; v < vectors; ++v)
            sums[r][v] -= *a.at(r, terms + s) * sums[s][v];
        if (inverse)
          for (int v = 0; v < vectors; ++v)
            sums[r][v] *= inverse[r];
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        store(sums[r][v], c + r * length + v * lanes);
  }

  template <int rows, bool solves>
  static MILLRACE_INLINE void tileOf(int vectors, Factors a, int64_t terms, const T *x, T *c, int64_t length, const T *inverse) {
    switch (vectors) {
    case 1: return tile<rows, 1, solves>(a, terms, x, c, length, inverse);
    case 2: return tile<rows, 2, solves>(a, terms, x, c, length, inverse);
    default: return tile<rows, 3, solves>(a, terms, x, c, length, inverse);
    }
  }

  /// Returns the number of rows of the next tile if `left` rows remain.
  static MILLRACE_INLINE int rowsOf(int64_t left) { return left >= kRows ? kRows : left >= 4 ? 4 : left >= 2 ? 2 : 1; }

  template <bool solves>
  static void anyTile(int rows, int vectors, Factors a, int64_t terms, const T *x, T *c, int64_t length, const T *inverse) {
    switch (rows) {
    case 1: return tileOf<1, solves>(vectors, a, terms, x, c, length, inverse);
    case 2: return tileOf<2, solves>(vectors, a, terms, x, c, length, inverse);
    case 4: return tileOf<4, solves>(vectors, a, terms, x, c, length, inverse);
    default: return tileOf<kRows, solves>(vectors, a, terms, x, c, length, inverse);
    }
  }

  /// Solves a x = c in the memory of c, n rows of `vectors` vectors; a is lower triangular.
  static void solveStrip(Factors a, int64_t n, T *x, int64_t length, int vectors, const T *inverse) {
    for (int64_t i = 0; i < n;) {
      int rows = rowsOf(n - i);
      anyTile<true>(rows, vectors, {a.at(i, 0), a.row, a.step}, i, x, x + i * length, length, inverse ? inverse + i : nullptr);
      i += rows;
    }
  }

  /// Returns the number of vectors of the next tile if `left` vectors remain; avoids a last tile of one vector.
  static MILLRACE_INLINE int vectorsOf(int64_t left) { return left == 4 ? 2 : left < kVectors ? int(left) : kVectors; }

  /// Computes c -= a x for m rows of `vectors` vectors.
  static void subtractProduct(Factors a, int64_t m, int64_t terms, const T *x, T *c, int64_t length, int64_t vectors) {
    for (int64_t v = 0; v < vectors;) {
      int count = vectorsOf(vectors - v);
      for (int64_t i = 0; i < m;) {
        int rows = rowsOf(m - i);
        anyTile<false>(rows, count, {a.at(i, 0), a.row, a.step}, terms, x + v * lanes, c + i * length + v * lanes, length, nullptr);
        i += rows;
      }
      v += count;
    }
  }

  static void solve(const TriangularSystems<T> &s, int64_t begin, int64_t end, T *scratch) {
    int64_t n = s.n, width = s.width, size = s.rows * s.columns;
    T *x = scratch, *inverse = scratch + n * width;
    // The rows of x op(a) = b are the columns of op(a)^T x^T = b^T. An upper triangle is solved from its end.
    bool isTransposed = s.transposed == s.left, isLower = s.lower != isTransposed;
    for (int64_t strip = begin; strip < end; ++strip) {
      int64_t system = strip / s.strips, first = strip % s.strips * width;
      int64_t lines = s.lines() - first < width ? s.lines() - first : width;
      const T *b = s.b + system * size;
      T *to = s.x + system * size;
      Factors a{s.a + system * n * n, isTransposed ? 1 : n, isTransposed ? n : 1};
      if (!isLower)
        a = {a.at(n - 1, n - 1), -a.row, -a.step};
      if (!s.unit)
        for (int64_t i = 0; i < n; ++i)
          inverse[i] = T(1) / *a.at(i, i);
      for (int64_t i = 0; i < n; ++i) {
        T *row = x + i * width;
        int64_t unknown = isLower ? i : n - 1 - i;
        if (s.left)
          __builtin_memcpy(row, b + unknown * s.columns + first, std::size_t(lines) * sizeof(T));
        else
          for (int64_t j = 0; j < lines; ++j)
            row[j] = b[(first + j) * n + unknown];
        for (int64_t j = lines; j < width; ++j)
          row[j] = 0;
      }
      for (int64_t v = 0, vectors = width / lanes; v < vectors;) {
        int count = vectorsOf(vectors - v);
        solveStrip(a, n, x + v * lanes, width, count, s.unit ? nullptr : inverse);
        v += count;
      }
      for (int64_t i = 0; i < n; ++i) {
        const T *row = x + i * width;
        int64_t unknown = isLower ? i : n - 1 - i;
        if (s.left)
          __builtin_memcpy(to + unknown * s.columns + first, row, std::size_t(lines) * sizeof(T));
        else
          for (int64_t j = 0; j < lines; ++j)
            to[(first + j) * n + unknown] = row[j];
      }
    }
  }

  /// Returns the row length of a square matrix in scratch memory, a multiple of the vector; elements after a row's end are 0.
  static MILLRACE_INLINE int64_t rowLength(int64_t n) { return rowLengthOf<T>(n, lanes); }

  /// Factors a = u^T u, row by row, with a matrix per lane; lanes beyond the last matrix repeat it.
  static void choleskyInLanes(const T *a, T *factors, int *info, int64_t n, bool lower, int64_t count, T *scratch) {
    auto place = [&](int64_t i, int64_t j) { return scratch + (i * n + j) * lanes; };
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j) {
        const T *from = a + (lower ? j * n + i : i * n + j);
        T *to = place(i, j);
#pragma clang loop unroll(full)
        for (int64_t l = 0; l < lanes; ++l)
          to[l] = from[(l < count ? l : count - 1) * n * n];
      }
    decltype(V{} > V{}) status = {};
    for (int64_t i = 0; i < n; ++i) {
      V pivot = load(place(i, i));
      for (int64_t k = 0; k < i; ++k) {
        V x = load(place(k, i));
        pivot -= x * x;
      }
      status = ((status == 0) & ~(pivot > 0)) ? i + 1 : status;
      V root = __builtin_elementwise_sqrt(pivot), over = T(1) / root;
      store(root, place(i, i));
      for (int64_t j = i + 1; j < n; ++j) {
        V sum = load(place(i, j));
        for (int64_t k = 0; k < i; ++k)
          sum -= load(place(k, i)) * load(place(k, j));
        store(sum * over, place(i, j));
      }
    }
    for (int64_t l = 0; l < count; ++l) {
      T *to = factors + l * n * n;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          to[i * n + j] = lower ? (j <= i ? place(j, i)[l] : 0) : (j >= i ? place(i, j)[l] : 0);
      if (info)
        info[l] = int(status[l]);
    }
  }

  /// Factors a = u^T u; computes the rows of u from the first one on, a tile at a time.
  static int cholesky(const T *a, T *factor, int64_t n, bool lower, T *scratch) {
    int64_t length = rowLength(n), used = (n + lanes - 1) / lanes * lanes;
    T *u = scratch, *inverse = scratch + n * length;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j)
        u[i * length + j] = lower ? a[j * n + i] : a[i * n + j];
      for (int64_t j = n; j < used; ++j)
        u[i * length + j] = 0;
      for (int64_t j = i / lanes * lanes; j < i; ++j)
        u[i * length + j] = 0;
    }
    int status = 0;
    for (int64_t i = 0; i < n;) {
      int rows = rowsOf(n - i);
      int64_t first = i / lanes * lanes, beyond = (i + rows + lanes - 1) / lanes * lanes; // the vectors with the diagonal
      Factors a{u + i, 1, length};
      anyTile<false>(rows, int((beyond - first) / lanes), a, i, u + first, u + i * length + first, length, nullptr);
      for (int r = 0; r < rows; ++r) {
        T *row = u + (i + r) * length;
        for (int s = 0; s < r; ++s) {
          const T *before = u + (i + s) * length;
          for (int64_t j = i + r; j < i + rows; ++j)
            row[j] -= before[i + r] * before[j];
        }
        T pivot = row[i + r];
        if (!(pivot > 0) && !status)
          status = int(i + r + 1);
        T root = __builtin_elementwise_sqrt(pivot), over = T(1) / root;
        row[i + r] = root, inverse[i + r] = over;
        for (int64_t j = i + r + 1; j < i + rows; ++j)
          row[j] *= over;
      }
      // The remaining columns of these rows, then the other rows.
      for (int r = 0; r < rows; ++r) {
        T *row = u + (i + r) * length;
        for (int64_t j = i + rows; j < beyond; ++j) {
          T value = row[j];
          for (int s = 0; s < r; ++s)
            value -= u[(i + s) * length + i + r] * u[(i + s) * length + j];
          row[j] = value * inverse[i + r];
        }
      }
      for (int64_t v = beyond; v < used;) {
        int count = vectorsOf((used - v) / lanes);
        anyTile<true>(rows, count, a, i, u + v, u + i * length + v, length, inverse + i);
        v += count * lanes;
      }
      i += rows;
    }
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        factor[i * n + j] = lower ? (j <= i ? u[j * length + i] : T(0)) : (j >= i ? u[i * length + j] : T(0));
    return status;
  }

  struct Lu {
    T *w, *columns; ///< w is the matrix, columns the columns of a panel
    int *exchanges;
    int64_t m, n, length;
    Share share;
    int status;
  };

  static MILLRACE_INLINE V sizes(V x) { return __builtin_elementwise_abs(x); }

  /// Returns the first of `numbers` [begin, end) of the largest magnitude. `numbers` is aligned; other elements of its vectors may be read.
  static int64_t largest(const T *numbers, int64_t begin, int64_t end) {
    V most = V(T(-1)), place;
    for (int lane = 0; lane < lanes; ++lane)
      place[lane] = T(lane);
    for (int64_t i = begin / lanes * lanes; i < end; i += lanes) {
      V next = sizes(load(numbers + i));
      if (i < begin)
        next = place >= T(begin - i) ? next : V(T(-1));
      if (i + lanes > end)
        next = place < T(end - i) ? next : V(T(-1));
      most = next > most ? next : most;
    }
    T best = most[0];
    for (int lane = 1; lane < lanes; ++lane)
      best = most[lane] > best ? most[lane] : best;
    for (int64_t i = begin; i < end; ++i)
      if (__builtin_elementwise_abs(numbers[i]) == best)
        return i;
    return begin; // all are NaN
  }

  // Transposition of `lanes` vectors: elements i and i + distance are exchanged between vectors v and v + distance.
  template <int distance, int... i>
  static MILLRACE_INLINE void exchange(V &a, V &b, std::integer_sequence<int, i...>) {
    V low = __builtin_shufflevector(a, b, (i & distance ? lanes + i - distance : i)...);
    V high = __builtin_shufflevector(a, b, (i & distance ? lanes + i : i + distance)...);
    a = low, b = high;
  }
  template <int distance = lanes / 2>
  static MILLRACE_INLINE void transpose(V *rows) {
#pragma clang loop unroll(full)
    for (int v = 0; v < lanes; ++v)
      if (!(v & distance))
        exchange<distance>(rows[v], rows[v + distance], std::make_integer_sequence<int, lanes>());
    if constexpr (distance > 1)
      transpose<distance / 2>(rows);
  }

  /// Factors one vector of columns, from row `first` on, column by column in scratch memory, where each column is contiguous.
  static void panel(Lu &lu, int64_t first) {
    int64_t rows = lu.m - first, padded = (rows + lanes - 1) / lanes * lanes, vectors = (lu.n + lanes - 1) / lanes;
    int64_t width = lu.n - first < lanes ? lu.n - first : lanes;
    T *w = lu.w + first * lu.length + first, *columns = lu.columns;
    for (int64_t i = 0; i < padded; i += lanes) {
      V block[lanes];
      for (int r = 0; r < lanes; ++r)
        block[r] = i + r < rows ? load(w + (i + r) * lu.length) : V(0);
      transpose(block);
      for (int c = 0; c < lanes; ++c)
        store(block[c], columns + c * padded + i);
    }
    V place;
    for (int lane = 0; lane < lanes; ++lane)
      place[lane] = T(lane);
    for (int64_t j = 0; j < width && j < rows; ++j) {
      T *column = columns + j * padded;
      int64_t chosen = largest(column, j, rows);
      lu.exchanges[first + j] = int(first + chosen + 1);
      if (chosen != j) {
        for (int c = 0; c < lanes; ++c) {
          T mine = columns[c * padded + j];
          columns[c * padded + j] = columns[c * padded + chosen];
          columns[c * padded + chosen] = mine;
        }
        T *x = lu.w + (first + j) * lu.length, *y = lu.w + (first + chosen) * lu.length;
        for (int64_t v = 0; v < vectors; ++v, x += lanes, y += lanes) {
          V mine = load(x);
          store(load(y), x);
          store(mine, y);
        }
      }
      T pivot = column[j];
      if (pivot == 0) {
        if (!lu.status)
          lu.status = int(first + j + 1);
        continue;
      }
      T over = T(1) / pivot, across[lanes];
      bool isTiny = over - over != 0; // the reciprocal is infinite, because the pivot is subnormal
      for (int64_t c = j + 1; c < width; ++c)
        across[c] = columns[c * padded + j];
      for (int64_t i = j / lanes * lanes; i < padded; i += lanes) {
        V old = load(column + i), factor = isTiny ? old / pivot : old * over;
        auto isBelow = place > T(j - i);
        if (i <= j)
          factor = isBelow ? factor : old;
        store(factor, column + i);
        for (int64_t c = j + 1; c < width; ++c) {
          T *to = columns + c * padded + i;
          V before = load(to), after = before - across[c] * factor;
          store(i <= j ? V(isBelow ? after : before) : after, to);
        }
      }
    }
    for (int64_t i = 0; i < padded; i += lanes) {
      V block[lanes];
      for (int c = 0; c < lanes; ++c)
        block[c] = load(columns + c * padded + i);
      transpose(block);
      for (int r = 0; r < lanes && i + r < rows; ++r)
        store(block[r], w + (i + r) * lu.length);
    }
  }

  /// Does the same row by row, for few rows.
  static void shortPanel(Lu &lu, int64_t first) {
    int64_t m = lu.m, last = first + lanes < lu.n ? first + lanes : lu.n, vectors = (lu.n + lanes - 1) / lanes;
    T *w = lu.w + first, *column = lu.columns;
    for (int64_t i = first; i < m; ++i)
      column[i] = __builtin_elementwise_abs(w[i * lu.length]);
    V numbers;
    for (int j = 0; j < lanes; ++j)
      numbers[j] = T(j);
    for (int64_t j = first; j < last && j < m; ++j) {
      int64_t chosen = j;
      for (int64_t i = j + 1; i < m; ++i)
        if (column[i] > column[chosen])
          chosen = i;
      lu.exchanges[j] = int(chosen + 1);
      if (chosen != j)
        for (int64_t v = 0; v < vectors; ++v) {
          T *x = lu.w + j * lu.length + v * lanes, *y = lu.w + chosen * lu.length + v * lanes;
          V mine = load(x);
          store(load(y), x);
          store(mine, y);
        }
      T pivot = w[j * lu.length + j - first];
      if (pivot == 0) {
        if (!lu.status)
          lu.status = int(j + 1);
        for (int64_t i = j + 1; i < m && j + 1 < last; ++i)
          column[i] = __builtin_elementwise_abs(w[i * lu.length + j + 1 - first]);
        continue;
      }
      T over = T(1) / pivot;
      bool isTiny = over - over != 0; // the reciprocal is infinite, because the pivot is subnormal
      V row = load(w + j * lu.length), place = numbers - T(j - first);
      row = place > T(0) ? row : V(0);
      for (int64_t i = j + 1; i < m; ++i) {
        T *to = w + i * lu.length;
        T factor = isTiny ? to[j - first] / pivot : to[j - first] * over;
        V value = load(to) - factor * row;
        store(place == T(0) ? V(factor) : value, to);
        column[i] = __builtin_elementwise_abs(to[j + 1 < last ? j + 1 - first : 0]);
      }
    }
  }

  /// The rows of a product below a corner that one thread computes, and the columns.
  struct Update {
    const Lu &lu;
    Factors corner, below;
    int64_t terms, rest; ///< rows of the corner; vectors to the right of it
    T *u;
    /// Rows of a product below a corner that one thread computes. Unit: rows. Source: judgement, not measured alone; commit 24d4e28 has the figures
    /// of the whole change.
    static constexpr int64_t kBand = 64;
    int64_t rows() const { return lu.m - (u - lu.w) / lu.length - terms; } ///< rows below the corner
    int64_t bands() const { return (rows() + kBand - 1) / kBand; }
    int64_t strips() const { return (rest + kVectors - 1) / kVectors; }
    int vectorsOf(int64_t strip) const { return rest - strip * kVectors < kVectors ? int(rest - strip * kVectors) : kVectors; }
  };
  static void solveStrips(void *context, int64_t begin, int64_t end) {
    auto &update = *static_cast<Update *>(context);
    for (int64_t strip = begin; strip < end; ++strip)
      solveStrip(update.corner, update.terms, update.u + strip * kVectors * lanes, update.lu.length, update.vectorsOf(strip), nullptr);
  }
  static void subtractBands(void *context, int64_t begin, int64_t end) {
    auto &update = *static_cast<Update *>(context);
    int64_t length = update.lu.length;
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t strip = unit / update.bands(), row = unit % update.bands() * Update::kBand, left = update.rows() - row;
      const T *u = update.u + strip * kVectors * lanes;
      T *c = update.u + strip * kVectors * lanes + (update.terms + row) * length;
      subtractProduct({update.below.at(row, 0), length, 1}, left < Update::kBand ? left : Update::kBand, update.terms, u, c, length,
                      update.vectorsOf(strip));
    }
  }

  /// Factors columns [begin, end), whole vectors except for the last ones, from row `begin` on, by halving the columns recursively.
  static void factorColumns(Lu &lu, int64_t begin, int64_t end) {
    if (end - begin <= lanes)
      return lu.m - begin <= 2 * lanes ? shortPanel(lu, begin) : panel(lu, begin);
    int64_t vectors = (end - begin + lanes - 1) / lanes, middle = begin + vectors / 2 * lanes, length = lu.length;
    factorColumns(lu, begin, middle);
    int64_t right = middle, terms = (right < lu.m ? right : lu.m) - begin; // with fewer rows than columns, all rows have their pivots then
    T *corner = lu.w + begin * length, *u = corner + right;
    Update update{lu, {corner + begin, length, 1}, {corner + terms * length + begin, length, 1}, terms, (end - right + lanes - 1) / lanes, u};
    // Fewer are not shared by threads. Unit: products. Source: judgement, not measured alone; commit 24d4e28 has the figures of the whole change.
    constexpr int64_t kMinSharedProducts = 1 << 19;
    auto share = [&](int64_t count, void (*body)(void *, int64_t, int64_t), int64_t products) {
      if (lu.share && products >= kMinSharedProducts)
        lu.share(count, body, &update);
      else
        body(&update, 0, count);
    };
    int64_t columns = end - right;
    share(update.strips(), solveStrips, terms * terms * columns / 2);
    if (right < lu.m) {
      share(update.strips() * update.bands(), subtractBands, terms * columns * (lu.m - right));
      factorColumns(lu, right, end);
    }
  }

  static int lu(const T *a, T *factors, int *exchanges, int64_t m, int64_t n, T *scratch, Share share) {
    Lu lu{scratch, scratch + (m * rowLength(n) + 15) / 16 * 16, exchanges, m, n, rowLength(n), share, 0};
    for (int64_t i = 0; i < m; ++i) {
      __builtin_memcpy(lu.w + i * lu.length, a + i * n, std::size_t(n) * sizeof(T));
      for (int64_t j = n; j < lu.length; ++j)
        lu.w[i * lu.length + j] = 0;
    }
    factorColumns(lu, 0, n);
    for (int64_t i = 0; i < m; ++i)
      __builtin_memcpy(factors + i * n, lu.w + i * lu.length, std::size_t(n) * sizeof(T));
    return lu.status;
  }

  static Blocks<T> blocks() { return {lanes, solve, cholesky, choleskyInLanes, lu}; }
};

} // namespace millrace::runtime::lapack
