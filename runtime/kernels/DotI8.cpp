// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DotI8.cpp - Products of matrices of bytes ----------------------------===//
// One piece of work is a panel of 16 columns of b: its bytes are widened to pairs of 16-bit numbers of neighbouring k, which one
// instruction multiplies with a pair of a's and adds up in 32 bits. Rows of a, widened before, go past it six at a time.
#include "runtime/kernels/DotI8.h"
#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::runtime {
namespace {

/// Columns of a panel: two vectors of eight sums. Unit: columns. Source: arithmetic: 6 rows of 2 vectors of sums, 2 of factors and 1 spread are 15 of
/// 16 registers.
constexpr int64_t kColumns = 16;
/// Rows of a tile. Unit: rows. Source: arithmetic, as kColumns.
constexpr int64_t kRows = 6;

struct Work {
  const int16_t *a; ///< [m][2 * pairs]
  const int8_t *b;
  int32_t *to;
  int64_t m, n, k, pairs;
  bool transposed;
};

/// Rows [0, rows) of a times a panel, [pairs][kColumns][2], into `sums`, [rows][kColumns].
using MultiplyRows = void (*)(const int16_t *a, const int16_t *panel, int64_t pairs, int64_t rows, int32_t *sums);

void multiplyPortable(const int16_t *a, const int16_t *panel, int64_t pairs, int64_t rows, int32_t *sums) {
  for (int64_t r = 0; r < rows; ++r) {
    uint32_t running[kColumns] = {};
    for (int64_t p = 0; p < pairs; ++p)
      for (int64_t c = 0; c < kColumns; ++c)
        for (int64_t i = 0; i < 2; ++i)
          running[c] += uint32_t(int32_t(a[r * 2 * pairs + 2 * p + i]) * panel[(p * kColumns + c) * 2 + i]);
    std::memcpy(sums + r * kColumns, running, sizeof running);
  }
}

#if defined(__x86_64__)
template <int rows>
__attribute__((target("avx2"))) void multiplyRows(const int16_t *a, const int16_t *panel, int64_t pairs, int32_t *sums) {
  __m256i running[rows][2] = {};
  for (int64_t p = 0; p < pairs; ++p) {
    __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(panel + p * 2 * kColumns));
    __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(panel + p * 2 * kColumns + 16));
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r) {
      int32_t pair;
      std::memcpy(&pair, a + (r * pairs + p) * 2, sizeof pair);
      __m256i both = _mm256_set1_epi32(pair);
      running[r][0] = _mm256_add_epi32(running[r][0], _mm256_madd_epi16(both, low));
      running[r][1] = _mm256_add_epi32(running[r][1], _mm256_madd_epi16(both, high));
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int half = 0; half < 2; ++half)
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(sums + r * kColumns + half * 8), running[r][half]);
}

void multiplyAvx2(const int16_t *a, const int16_t *panel, int64_t pairs, int64_t rows, int32_t *sums) {
  switch (rows) {
  case 1: return multiplyRows<1>(a, panel, pairs, sums);
  case 2: return multiplyRows<2>(a, panel, pairs, sums);
  case 3: return multiplyRows<3>(a, panel, pairs, sums);
  case 4: return multiplyRows<4>(a, panel, pairs, sums);
  case 5: return multiplyRows<5>(a, panel, pairs, sums);
  default: return multiplyRows<6>(a, panel, pairs, sums);
  }
}
#endif

MultiplyRows bestMultiply() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return multiplyAvx2;
#endif
  return multiplyPortable;
}

/// Panels [begin, end).
int32_t multiplyPanels(void *context, int64_t begin, int64_t end) {
  static const MultiplyRows multiply = bestMultiply();
  const Work &w = *static_cast<const Work *>(context);
  auto *panel = static_cast<int16_t *>(threadScratch(size_t(w.pairs) * kColumns * 2 * sizeof(int16_t)));
  if (!panel)
    return 1;
  for (int64_t block = begin; block < end; ++block) {
    int64_t first = block * kColumns, columns = std::min(kColumns, w.n - first);
    std::memset(panel, 0, size_t(w.pairs) * kColumns * 2 * sizeof(int16_t));
    if (w.transposed) {
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t k = 0; k < w.k; ++k)
          panel[(k / 2 * kColumns + c) * 2 + k % 2] = w.b[(first + c) * w.k + k];
    } else {
      for (int64_t k = 0; k < w.k; ++k)
        for (int64_t c = 0; c < columns; ++c)
          panel[(k / 2 * kColumns + c) * 2 + k % 2] = w.b[k * w.n + first + c];
    }
    for (int64_t row = 0; row < w.m; row += kRows) {
      int64_t rows = std::min(kRows, w.m - row);
      int32_t sums[kRows * kColumns];
      multiply(w.a + row * 2 * w.pairs, panel, w.pairs, rows, sums);
      for (int64_t r = 0; r < rows; ++r)
        std::memcpy(w.to + (row + r) * w.n + first, sums + r * kColumns, size_t(columns) * sizeof(int32_t));
    }
  }
  return 0;
}

} // namespace

Status dotI8(const CustomCall &call) {
  const Attribute *transposed = call.attribute("transposed");
  bool isTransposed = transposed && !transposed->ints.empty() && transposed->ints[0];
  bool fits = call.arguments.size() == 2 && call.results.size() == 1 && call.arguments[0].dtype == DType::I8 &&
              call.arguments[1].dtype == DType::I8 && call.results[0].dtype == DType::I32 && call.arguments[0].dims.size() == 2 &&
              call.arguments[1].dims.size() == 2;
  int64_t m = fits ? call.arguments[0].dims[0] : 0, k = fits ? call.arguments[0].dims[1] : 0;
  int64_t n = fits ? call.arguments[1].dims[isTransposed ? 0 : 1] : 0;
  if (!fits || call.arguments[1].dims[isTransposed ? 1 : 0] != k || call.results[0].dims != std::vector<int64_t>{m, n})
    return invalidArgument("expects [m, k] and [k, n] of type i8 and a result [m, n] of type i32");
  Work work = {nullptr, static_cast<const int8_t *>(call.arguments[1].data), static_cast<int32_t *>(call.results[0].data),
               m, n, k, (k + 1) / 2, isTransposed};
  std::unique_ptr<int16_t[]> wide(new (std::nothrow) int16_t[size_t(m * 2 * work.pairs)]);
  if (!wide)
    return resourceExhausted("no memory for a product of bytes");
  const auto *from = static_cast<const int8_t *>(call.arguments[0].data);
  for (int64_t row = 0; row < m; ++row) {
    int16_t *to = wide.get() + row * 2 * work.pairs;
    for (int64_t i = 0; i < k; ++i)
      to[i] = from[row * k + i];
    if (k % 2)
      to[k] = 0;
  }
  work.a = wide.get();
  ThreadPool &pool = ThreadPool::global();
  int64_t panels = (n + kColumns - 1) / kColumns;
  uint64_t picoseconds = uint64_t(m) * uint64_t(k) + uint64_t(k) * kColumns * 500; // some 16 products per nanosecond
  int32_t code = pool.run(panels, pieceSize(panels, picoseconds, 1, pool.size()), multiplyPanels, &work);
  return code == 0 ? Status() : resourceExhausted("no memory for a product of bytes");
}

} // namespace millrace::runtime
