// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matrices.h - Batches of matrices in the operands of a call ----------===//
#pragma once
#include "runtime/kernels/CustomCall.h"
#include "runtime/lapack/Library.h"

namespace millrace::runtime::lapack {

template <typename T>
inline constexpr DType dtypeOf = DType::Invalid;
template <>
inline constexpr DType dtypeOf<float> = DType::F32;
template <>
inline constexpr DType dtypeOf<double> = DType::F64;
template <>
inline constexpr DType dtypeOf<std::complex<float>> = DType::C64;
template <>
inline constexpr DType dtypeOf<std::complex<double>> = DType::C128;
template <>
inline constexpr DType dtypeOf<int> = DType::I32;

/// `count` matrices (or vectors, cols = 1), one after the other, each column by column.
template <typename T>
struct Matrices {
  T *data = nullptr;
  int64_t count = 1;
  int rows = 1, cols = 1;
  int64_t size() const { return int64_t(rows) * cols; }
  T *operator[](int64_t i) const { return data + i * size(); }
  /// Leading dimension for LAPACK, which wants at least 1.
  int ld() const { return rows ? rows : 1; }
};

/// Reads operands and results of a call in turn, checking their types; the first error stays.
class Signature {
public:
  explicit Signature(const CustomCall &call) : call(call) {}
  /// The next operand (result), whose last `rank` dimensions are one matrix, vector or scalar.
  template <typename T>
  Matrices<T> operand(int rank) {
    return take<T>(call.arguments, argument++, rank, "operand");
  }
  template <typename T>
  Matrices<T> result(int rank) {
    return take<T>(call.results, resultIndex++, rank, "result");
  }
  /// A result that starts as a copy of operand `index` (or is the same memory).
  template <typename T>
  Matrices<T> updated(size_t index, int rank) {
    Matrices<T> target = result<T>(rank);
    if (error.ok())
      copyOperand(index, resultIndex - 1);
    return target;
  }
  /// An attribute that is a character ('L') or a boolean.
  char flag(const char *name);
  int64_t integer(const char *name);
  /// All operands and results were read, and all batches are equally large.
  Status done();

private:
  template <typename T>
  Matrices<T> take(const std::vector<TensorView> &views, size_t index, int rank, const char *what) {
    Matrices<T> matrices;
    int64_t sizes[2] = {1, 1};
    if (check(views, index, rank, dtypeOf<T>, what, sizes, matrices.count)) {
      matrices.data = static_cast<T *>(views[index].data);
      matrices.rows = int(sizes[0]), matrices.cols = int(sizes[1]);
    }
    return matrices;
  }
  bool check(const std::vector<TensorView> &views, size_t index, int rank, DType dtype, const char *what,
             int64_t (&sizes)[2], int64_t &count);
  void copyOperand(size_t from, size_t to);

  const CustomCall &call;
  size_t argument = 0, resultIndex = 0;
  int64_t batch = -1;
  Status error;
};

/// Runs body(begin, end) for pieces of [0, count) on the pool; `flops` of one matrix decide about the pieces.
Status forMatrices(int64_t count, double flops, const std::function<void(int64_t, int64_t)> &body);

/// Workspace size that a routine reported in its first element.
template <typename T>
int workSize(T reported) {
  double size = std::real(reported);
  // Single precision cannot hold every size; rounding down would be too small.
  return int(size * (1 + 1e-6)) + 1;
}

} // namespace millrace::runtime::lapack
