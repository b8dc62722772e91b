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

/// `count` contiguous column-major matrices, or vectors with cols = 1.
template <typename T>
struct Matrices {
  T *data = nullptr;
  int64_t count = 1;
  int rows = 1, cols = 1;
  int64_t size() const { return int64_t(rows) * cols; }
  T *operator[](int64_t i) const { return data + i * size(); }
  /// Returns the leading dimension, which LAPACK requires to be at least 1.
  int ld() const { return rows ? rows : 1; }
};

/// Reads the operands and results of a call in order and checks their types; the first error is kept.
class Signature {
public:
  explicit Signature(const CustomCall &call) : call(call) {}
  /// Returns the next operand (result), whose last `rank` dimensions are one matrix, vector or scalar.
  template <typename T>
  Matrices<T> operand(int rank) {
    return take<T>(call.arguments, argument++, rank, "operand");
  }
  template <typename T>
  Matrices<T> result(int rank) {
    return take<T>(call.results, resultIndex++, rank, "result");
  }
  /// Returns a result that is initialized with operand `index` (or aliases it).
  template <typename T>
  Matrices<T> updated(size_t index, int rank) {
    Matrices<T> target = result<T>(rank);
    if (error.ok())
      copyOperand(index, resultIndex - 1);
    return target;
  }
  /// Returns an attribute that is a character ('L') or a boolean.
  char flag(const char *name);
  int64_t integer(const char *name);
  /// Checks that all operands and results were read, and that all batches have the same size.
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

/// Runs body(begin, end) for pieces of [0, count) on the pool. `flops` is the work of one matrix, which determines the size of the pieces.
Status forMatrices(int64_t count, double flops, const std::function<void(int64_t, int64_t)> &body);

/// Returns the workspace size that a routine reported in its first element.
template <typename T>
int workSize(T reported) {
  double size = std::real(reported);
  // Single precision cannot represent every size, and the size must not be rounded down.
  return int(size * (1 + 1e-6)) + 1;
}

} // namespace millrace::runtime::lapack
