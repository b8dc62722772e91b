// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FewTerms.cpp - Products with matrices of zeros, mostly ---------------===//
// One result is a row (what lies behind the dimension that is summed up), a sum of a few rows of x. Before the first row of a
// matrix of x that a thread computes, it looks whether all of the matrix is finite; if not, zeros count, too.
#include "runtime/kernels/FewTerms.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/kernels/WideVectors.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace millrace::runtime {
namespace {

#define MILLRACE_INLINE __attribute__((always_inline)) inline

template <typename T, typename Bits>
MILLRACE_INLINE bool areAllFinite(const T *x, int64_t count) {
  constexpr Bits exponent = sizeof(T) == 4 ? Bits(0x7f80'0000) : Bits(0x7ff0'0000'0000'0000);
  Bits found = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    found |= Bits((bits & exponent) == exponent);
  }
  return !found;
}

/// Lanes [at, at + width) of a row.
template <typename T, int width>
MILLRACE_INLINE void sumLanes(const T *x, int64_t size, int64_t at, const int32_t *positions, const T *weights, int64_t terms, int64_t stride, T *to) {
  typedef T Lanes __attribute__((ext_vector_type(width)));
  Lanes sum = {};
  for (int64_t t = 0; t < terms; ++t) {
    Lanes from;
    __builtin_memcpy(&from, x + positions[t * stride] * size + at, sizeof from);
    sum += from * weights[t * stride];
  }
  __builtin_memcpy(to + at, &sum, sizeof sum);
}

template <typename T>
MILLRACE_INLINE void sumOfRows(const T *x, int64_t size, const int32_t *positions, const T *weights, int64_t terms, int64_t stride, T *to) {
  int64_t at = 0;
  for (; at + 64 <= size; at += 64)
    sumLanes<T, 64>(x, size, at, positions, weights, terms, stride, to);
  for (; at + 16 <= size; at += 16)
    sumLanes<T, 16>(x, size, at, positions, weights, terms, stride, to);
  for (; at + 4 <= size; at += 4)
    sumLanes<T, 4>(x, size, at, positions, weights, terms, stride, to);
  for (; at < size; ++at)
    sumLanes<T, 1>(x, size, at, positions, weights, terms, stride, to);
}

/// Columns [0, count): their rows of the result one behind the other.
template <typename T>
MILLRACE_INLINE void sumColumns(const T *x, int64_t size, const int32_t *positions, const T *weights, int64_t terms, int64_t stride, int64_t count, T *to) {
  auto all = [&](int64_t known) __attribute__((always_inline)) {
    for (int64_t n = 0; n < count; ++n)
      sumOfRows(x, size, positions + n, weights + n, known, stride, to + n * size);
  };
  switch (terms) {
  case 1: return all(1);
  case 2: return all(2);
  case 3: return all(3);
  case 4: return all(4);
  default: return all(terms);
  }
}

MILLRACE_FOR_WIDE_VECTORS bool isFinite(const float *x, int64_t count) { return areAllFinite<float, uint32_t>(x, count); }
MILLRACE_FOR_WIDE_VECTORS bool isFinite(const double *x, int64_t count) { return areAllFinite<double, uint64_t>(x, count); }
MILLRACE_FOR_WIDE_VECTORS void sumRows(const float *x, int64_t size, const int32_t *positions, const float *weights, int64_t terms, int64_t stride, int64_t count, float *to) {
  sumColumns(x, size, positions, weights, terms, stride, count, to);
}
MILLRACE_FOR_WIDE_VECTORS void sumRows(const double *x, int64_t size, const int32_t *positions, const double *weights, int64_t terms, int64_t stride, int64_t count, double *to) {
  sumColumns(x, size, positions, weights, terms, stride, count, to);
}

/// The same with all zeros of the matrix.
template <typename T>
void sumAll(const T *x, int64_t size, int64_t depth, const int32_t *positions, const T *weights, int64_t terms, int64_t stride, T *column, T *to) {
  std::memset(column, 0, size_t(depth) * sizeof(T));
  for (int64_t t = 0; t < terms; ++t)
    if (weights[t * stride] != 0)
      column[positions[t * stride]] = weights[t * stride];
  for (int64_t i = 0; i < size; ++i) {
    T sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += x[k * size + i] * column[k];
    to[i] = sum;
  }
}

template <typename T>
struct Work {
  const T *x;
  const int32_t *positions;
  const T *weights;
  T *to;
  int64_t depth, columns, terms, size; ///< x is [outer][depth][size]
};

template <typename T>
Status run(const CustomCall &call, int64_t depth, int64_t size) {
  const TensorView &x = call.arguments[0], &y = call.results[0];
  Work<T> work = {static_cast<const T *>(x.data), static_cast<const int32_t *>(call.arguments[1].data), static_cast<const T *>(call.arguments[2].data),
                  static_cast<T *>(y.data), depth, call.arguments[1].dims[1], call.arguments[1].dims[0], size};
  for (int64_t i = 0; i < work.terms * work.columns; ++i)
    if (work.positions[i] < 0 || work.positions[i] >= work.depth)
      return invalidArgument("a position lies outside of the dimension");
  auto rows = [](void *context, int64_t begin, int64_t end) -> int32_t {
    auto &work = *static_cast<const Work<T> *>(context);
    int64_t matrix = work.depth * work.size;
    for (int64_t row = begin, next; row < end; row = next) {
      int64_t outer = row / work.columns, column = row % work.columns;
      next = std::min(end, row - column + work.columns);
      const T *x = work.x + outer * matrix;
      if (isFinite(x, matrix)) {
        sumRows(x, work.size, work.positions + column, work.weights + column, work.terms, work.columns, next - row, work.to + row * work.size);
        continue;
      }
      T *whole = static_cast<T *>(threadScratch(size_t(work.depth) * sizeof(T)));
      if (!whole)
        return 1;
      for (int64_t own = row; own < next; ++own, ++column)
        sumAll(x, work.size, work.depth, work.positions + column, work.weights + column, work.terms, work.columns, whole, work.to + own * work.size);
    }
    return 0;
  };
  if (y.elements() == 0)
    return Status();
  int64_t count = y.elements() / work.size;
  uint64_t picoseconds = 4000 + uint64_t(work.size * (work.terms + 2)) * 30;
  ThreadPool &pool = ThreadPool::global();
  int32_t code = pool.run(count, pieceSize(count, picoseconds, 1, pool.size(), pool.leastPiece(false, picoseconds * uint64_t(count))), rows, &work);
  return code == 0 ? Status() : resourceExhausted("no memory for the sums");
}

} // namespace

Status fewTerms(const CustomCall &call) {
  const Attribute *sizes = call.attribute("sizes");
  bool fits = call.arguments.size() == 3 && call.results.size() == 1 && sizes && sizes->ints.size() == 3;
  if (fits) {
    const TensorView &x = call.arguments[0], &positions = call.arguments[1], &weights = call.arguments[2], &y = call.results[0];
    int64_t outer = sizes->ints[0], depth = sizes->ints[1], size = sizes->ints[2];
    fits = positions.dims.size() == 2 && positions.dims == weights.dims && positions.dtype == DType::I32 && weights.dtype == x.dtype &&
           y.dtype == x.dtype && outer >= 0 && depth >= 0 && size >= 0 && x.elements() == outer * depth * size &&
           y.elements() == outer * positions.dims[1] * size;
    if (fits && x.dtype == DType::F32)
      return run<float>(call, depth, size);
    if (fits && x.dtype == DType::F64)
      return run<double>(call, depth, size);
  }
  return invalidArgument("expects [outer, k, size] in any shape, positions and weights [terms, n] -> [outer, n, size] of type f32 or f64");
}

} // namespace millrace::runtime
