// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Blocks.h - Triangular systems and factorizations in vectors ---------===//
// Matrices are real and row-major, as in programs, so that no library is needed. Every element is computed by the same operations in the same order
// for any number of threads and any width of a strip, and so has the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millrace::runtime::lapack {

/// Systems op(a) x = b (left) or x op(a) = b, which are solved for some columns, or rows, of x (a strip) at a time. `count` systems are contiguous.
template <typename T>
struct TriangularSystems {
  const T *a = nullptr, *b = nullptr;
  T *x = nullptr;
  int64_t n = 0, rows = 0, columns = 0; ///< a is n by n, b and x are rows by columns
  bool left = true, lower = true, transposed = false, unit = false;
  int64_t strips = 1, width = 0; ///< lines (columns of the left-hand case, rows of the other one) per strip: a multiple of the lanes
  __attribute__((always_inline)) int64_t lines() const { return left ? columns : rows; }
};

/// Returns the distance between rows of a square matrix in scratch memory. It is no power of two, because such rows share sets of the cache. Always
/// inlined, so that the linker cannot choose among versions that are compiled for different processors.
template <typename T>
__attribute__((always_inline)) inline int64_t rowLengthOf(int64_t n, int lanes) {
  int64_t length = (n + lanes - 1) / lanes * lanes;
  return length * int64_t(sizeof(T)) % 512 == 0 ? length + lanes : length;
}

/// Runs body(context, begin, end) for parts of [0, count), possibly in parallel.
using Share = void (*)(int64_t count, void (*body)(void *context, int64_t begin, int64_t end), void *context);

/// The functions for vectors of one width.
template <typename T>
struct Blocks {
  int lanes;
  /// Solves strips [begin, end) of all systems; `scratch` holds solveScratch numbers, aligned to 64 bytes.
  void (*solve)(const TriangularSystems<T> &systems, int64_t begin, int64_t end, T *scratch);
  /// Computes the Cholesky factor of a [n, n], with zeros in the other triangle. Returns 0, or the number (from 1) of the first pivot that is not
  /// positive. Only the triangle that `lower` names is read. `scratch` holds squareScratch numbers, for lu(), too.
  int (*cholesky)(const T *a, T *factor, int64_t n, bool lower, T *scratch);
  /// Does the same for `count` small contiguous matrices, one per lane, at most as many as lanes; `info` may be null. `scratch` holds n * n * lanes
  /// numbers.
  void (*choleskyInLanes)(const T *a, T *factors, int *info, int64_t n, bool lower, int64_t count, T *scratch);
  /// Computes the lower and the upper factor of a [m, n] in one matrix, and the row exchanges (from 1). Returns 0, or the number of the first pivot
  /// that is 0. Large products are handed to `share`, if there is one, without influence on the result.
  int (*lu)(const T *a, T *factors, int *exchanges, int64_t m, int64_t n, T *scratch, Share share);

  int64_t solveScratch(const TriangularSystems<T> &systems) const { return systems.n * systems.width + (systems.n + 15) / 16 * 16; }
  int64_t squareScratch(int64_t m, int64_t n) const { return m * rowLengthOf<T>(n, lanes) + (m + 2 * lanes) * lanes + n + 32; }
};

Blocks<float> portableFloatBlocks(), avx2FloatBlocks(), avx512FloatBlocks();
Blocks<double> portableDoubleBlocks(), avx2DoubleBlocks(), avx512DoubleBlocks();

} // namespace millrace::runtime::lapack
