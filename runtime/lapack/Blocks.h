// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Blocks.h - Triangular systems and factorizations in vectors ---------===//
// Real matrices, row by row, as programs have them: no other layout, no library. The same numbers come out for any number of threads and
// any width of a strip: every element is computed by the same operations in the same order.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millrace::runtime::lapack {

/// Columns of op(a) x = b (left) or rows of x op(a) = b, some of them (a strip) at a time. `count` systems, one after the other.
template <typename T>
struct TriangularSystems {
  const T *a = nullptr, *b = nullptr;
  T *x = nullptr;
  int64_t n = 0, rows = 0, columns = 0; ///< a is n by n, b and x are rows by columns
  bool left = true, lower = true, transposed = false, unit = false;
  int64_t strips = 1, width = 0; ///< lines (columns of the left-hand case, rows of the other one) per strip: a multiple of the lanes
  __attribute__((always_inline)) int64_t lines() const { return left ? columns : rows; }
};

/// Numbers from one row of a square in scratch memory to the next: rows a power of two apart would displace each other in the cache.
/// Inlined always: the linker must not choose among what is compiled for several processors.
template <typename T>
__attribute__((always_inline)) inline int64_t rowLengthOf(int64_t n, int lanes) {
  int64_t length = (n + lanes - 1) / lanes * lanes;
  return length * int64_t(sizeof(T)) % 512 == 0 ? length + lanes : length;
}

/// Runs body(context, begin, end) for parts of [0, count), maybe at the same time.
using Share = void (*)(int64_t count, void (*body)(void *context, int64_t begin, int64_t end), void *context);

/// For vectors of one width.
template <typename T>
struct Blocks {
  int lanes;
  /// Strips [begin, end) of all systems; `scratch` holds solveScratch numbers, aligned to 64 bytes.
  void (*solve)(const TriangularSystems<T> &systems, int64_t begin, int64_t end, T *scratch);
  /// a [n, n] -> its factor, zeros in the other triangle; 0 or the number (from 1) of the first pivot that is not positive. Only the
  /// triangle `lower` names is read. `scratch` holds squareScratch numbers; so for the next one.
  int (*cholesky)(const T *a, T *factor, int64_t n, bool lower, T *scratch);
  /// The same of `count` small matrices one behind the other, at most as many as lanes, each of which is one; info may be null. `scratch`
  /// holds n * n * lanes numbers.
  void (*choleskyInLanes)(const T *a, T *factors, int *info, int64_t n, bool lower, int64_t count, T *scratch);
  /// a [m, n] -> lower and upper factor in one, row exchanges (from 1); 0 or the number of the first pivot that is 0.
  /// Large products are handed to `share`, if there is one: the numbers are the same.
  int (*lu)(const T *a, T *factors, int *exchanges, int64_t m, int64_t n, T *scratch, Share share);

  int64_t solveScratch(const TriangularSystems<T> &systems) const { return systems.n * systems.width + (systems.n + 15) / 16 * 16; }
  int64_t squareScratch(int64_t m, int64_t n) const { return m * rowLengthOf<T>(n, lanes) + (m + 2 * lanes) * lanes + n + 32; }
};

Blocks<float> portableFloatBlocks(), avx2FloatBlocks(), avx512FloatBlocks();
Blocks<double> portableDoubleBlocks(), avx2DoubleBlocks(), avx512DoubleBlocks();

} // namespace millrace::runtime::lapack
