// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Relayout.cpp - Tensors whose axes lie in another order --------------===//
// The last two axes in squares, each through a buffer of its own: rows and columns are then read and written in runs, and columns that
// lie a power of two apart do not displace each other in the cache.
#include "runtime/client/Relayout.h"
#include "runtime/base/ThreadPool.h"

#include <algorithm>

namespace millrace::runtime {
namespace {

/// The number of rows, and of columns, of the squares that are copied through a buffer: 8 KB of f64. Unit: elements. Source: judgement, not measured
/// alone; commit de3ef10 has the figures of the whole change.
constexpr int64_t kSideOfSquare = 32;

template <typename T>
struct Work {
  T *rowMajor, *other;
  int64_t rows, columns, rowStride, columnStride; ///< strides of `other`
  const std::vector<int64_t> &dims, &stride;
  bool toOther;
};

/// Returns where matrix `index` begins in the other tensor.
template <typename T>
int64_t positionOf(const Work<T> &w, int64_t index) {
  int64_t position = 0;
  for (size_t d = w.dims.size() - 2; d-- > 0; index /= w.dims[d])
    position += index % w.dims[d] * w.stride[d];
  return position;
}

template <typename T>
void moveSquare(const Work<T> &w, T *rowMajor, T *other, int64_t rows, int64_t columns) {
  T square[kSideOfSquare][kSideOfSquare + 1];
  if (w.toOther) {
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(rowMajor + r * w.columns, columns, square[r]);
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < rows; ++r)
        other[r * w.rowStride + c * w.columnStride] = square[r][c];
    return;
  }
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      square[r][c] = other[r * w.rowStride + c * w.columnStride];
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(square[r], columns, rowMajor + r * w.columns);
}

/// Moves bands [begin, end) of kSideOfSquare rows, counted over all matrices.
template <typename T>
int32_t moveBands(void *context, int64_t begin, int64_t end) {
  const auto &w = *static_cast<const Work<T> *>(context);
  int64_t perMatrix = (w.rows + kSideOfSquare - 1) / kSideOfSquare;
  for (int64_t band = begin; band < end; ++band) {
    int64_t matrix = band / perMatrix, row = band % perMatrix * kSideOfSquare, rows = std::min(kSideOfSquare, w.rows - row);
    T *rowMajor = w.rowMajor + (matrix * w.rows + row) * w.columns, *other = w.other + positionOf(w, matrix) + row * w.rowStride;
    for (int64_t column = 0; column < w.columns; column += kSideOfSquare)
      moveSquare(w, rowMajor + column, other + column * w.columnStride, rows, std::min(kSideOfSquare, w.columns - column));
  }
  return 0;
}

template <typename T>
void move(const TensorView &tensor, const std::vector<int64_t> &stride, void *other, bool toOther) {
  size_t rank = tensor.dims.size();
  Work<T> w{static_cast<T *>(tensor.data), static_cast<T *>(other), tensor.dims[rank - 2], tensor.dims[rank - 1], stride[rank - 2],
            stride[rank - 1], tensor.dims, stride, toOther};
  int64_t bands = tensor.elements() / (w.rows * w.columns) * ((w.rows + kSideOfSquare - 1) / kSideOfSquare);
  ThreadPool &pool = ThreadPool::global();
  pool.run(bands, pieceSize(bands, uint64_t(kSideOfSquare * w.columns) * 400, 1, pool.size()), moveBands<T>, &w);
}

} // namespace

void relayout(const TensorView &tensor, const std::vector<int64_t> &minorToMajor, void *other, bool toOther) {
  if (tensor.elements() == 0)
    return;
  std::vector<int64_t> stride(tensor.dims.size());
  int64_t step = 1;
  for (int64_t axis : minorToMajor) {
    stride[size_t(axis)] = step;
    step *= tensor.dims[size_t(axis)];
  }
  struct Pair {
    uint64_t parts[2];
  };
  switch (byteSize(tensor.dtype)) {
  case 1: return move<uint8_t>(tensor, stride, other, toOther);
  case 2: return move<uint16_t>(tensor, stride, other, toOther);
  case 4: return move<uint32_t>(tensor, stride, other, toOther);
  case 8: return move<uint64_t>(tensor, stride, other, toOther);
  case 16: return move<Pair>(tensor, stride, other, toOther);
  default: break; // tokens
  }
}

bool isRowMajor(const std::vector<int64_t> &minorToMajor) {
  for (size_t i = 0; i < minorToMajor.size(); ++i)
    if (minorToMajor[i] != int64_t(minorToMajor.size() - 1 - i))
      return false;
  return true;
}

} // namespace millrace::runtime
