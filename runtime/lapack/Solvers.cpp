// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Solvers.cpp - Triangular and tridiagonal systems --------------------===//
#include "runtime/lapack/Families.h"
#include "runtime/lapack/Matrices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace millrace::runtime::lapack {
namespace {

/// Triangular solution: a [k, k], b [m, n] -> x [m, n] with op(a) x = b (side 'L') or x op(a) = b ('R'); uplo, trans_x ('N', 'T', 'C'), diag.
template <typename T>
Status trsm(const CustomCall &call) {
  Signature signature(call);
  Matrices<T> a = signature.operand<T>(2);
  signature.operand<T>(2);
  Matrices<T> b = signature.updated<T>(1, 2);
  char side = signature.flag("side"), uplo = signature.flag("uplo"), trans = signature.flag("trans_x"),
       diag = signature.flag("diag");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("trsm");
  if (!routine)
    return routine.status();
  int m = b.rows, n = b.cols, lda = a.ld(), ldb = b.ld(), order = side == 'L' ? m : n;
  if (a.rows != order || a.cols != order)
    return invalidArgument("expects a triangle of order " + std::to_string(order) + ", but got " +
                           std::to_string(a.rows) + "x" + std::to_string(a.cols));
  // The columns of the left-hand case, and the rows of the right-hand one, are independent: they are solved in parts of this fixed size, whatever the
  // number of threads. Unit: right-hand sides. Source: judgement, not measured alone; commit de3ef10 has the figures of the whole change.
  constexpr int kLinesOfPart = 32;
  int lines = side == 'L' ? n : m, parts = std::max(1, (lines + kLinesOfPart - 1) / kLinesOfPart);
  return forMatrices(b.count * parts, double(m) * n * order / parts, [&](int64_t begin, int64_t end) {
    T alpha = 1;
    for (int64_t i = begin; i < end; ++i) {
      int first = int(i % parts) * kLinesOfPart, size = std::min(kLinesOfPart, lines - first);
      int rows = side == 'L' ? m : size, columns = side == 'L' ? size : n;
      T *part = b[i / parts] + (side == 'L' ? int64_t(first) * ldb : first);
      callFortran(*routine, &side, &uplo, &trans, &diag, &rows, &columns, &alpha, a[i / parts], &lda, part, &ldb, one, one, one, one);
    }
  });
}

/// Tridiagonal solution: diagonals dl, d, du [n] (dl[0] and du[n-1] are ignored), b [n, k] -> dl, d, du (destroyed), x [n, k], info [].
template <typename T>
Status gtsv(const CustomCall &call) {
  Signature signature(call);
  for (int i = 0; i < 3; ++i)
    signature.operand<T>(1);
  signature.operand<T>(2);
  Matrices<T> lower = signature.updated<T>(0, 1), middle = signature.updated<T>(1, 1), upper = signature.updated<T>(2, 1);
  Matrices<T> b = signature.updated<T>(3, 2);
  Matrices<int> info = signature.result<int>(0);
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("gtsv");
  if (!routine)
    return routine.status();
  int n = b.rows, columns = b.cols, ld = b.ld();
  if (lower.rows != n || middle.rows != n || upper.rows != n)
    return invalidArgument("expects diagonals of length " + std::to_string(n));
  return forMatrices(b.count, 10.0 * n * columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &n, &columns, lower[i] + (n ? 1 : 0), middle[i], upper[i], b[i], &ld, info[i]);
  });
}

/// Solves one tridiagonal system by elimination with row exchanges. Pivots below eps * (largest element of U) are replaced by that value, so that a
/// singular matrix gives a large but finite solution.
template <typename T>
void solvePerturbed(int n, const T *lower, const T *middle, const T *upper, int columns, T *b) {
  std::vector<T> d(middle, middle + n), u(upper, upper + n), u2(n, T(0));
  Real<T> largest = 0;
  auto raise = [&](T value) { largest = std::max(largest, std::abs(value)); };
  for (int i = 0; i + 1 < n; ++i) {
    T below = lower[i + 1];
    if (std::abs(d[i]) >= std::abs(below)) {
      T factor = d[i] == T(0) ? T(0) : below / d[i];
      d[i + 1] -= factor * u[i];
      for (int c = 0; c < columns; ++c)
        b[int64_t(c) * n + i + 1] -= factor * b[int64_t(c) * n + i];
    } else {
      T factor = d[i] / below;
      d[i] = below;
      T next = d[i + 1];
      d[i + 1] = u[i] - factor * next;
      u[i] = next;
      if (i + 2 < n) {
        u2[i] = u[i + 1];
        u[i + 1] = -factor * u[i + 1];
      }
      for (int c = 0; c < columns; ++c) {
        T *x = b + int64_t(c) * n;
        T first = x[i];
        x[i] = x[i + 1];
        x[i + 1] = first - factor * x[i + 1];
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    raise(d[i]);
    if (i + 1 < n)
      raise(u[i]);
    raise(u2[i]);
  }
  Real<T> smallest = std::numeric_limits<Real<T>>::epsilon() * largest;
  if (smallest == 0)
    smallest = std::numeric_limits<Real<T>>::epsilon();
  for (int i = 0; i < n; ++i)
    if (std::abs(d[i]) < smallest)
      d[i] = std::real(d[i]) < 0 ? T(-smallest) : T(smallest);
  for (int c = 0; c < columns; ++c) {
    T *x = b + int64_t(c) * n;
    for (int i = n - 1; i >= 0; --i) {
      T value = x[i];
      if (i + 1 < n)
        value -= u[i] * x[i + 1];
      if (i + 2 < n)
        value -= u2[i] * x[i + 2];
      x[i] = value / d[i];
    }
  }
}

/// Perturbed tridiagonal solution: diagonals dl, d, du [n], b [n, k] -> x [n, k].
template <typename T>
Status tridiagonalPerturbed(const CustomCall &call) {
  Signature signature(call);
  Matrices<T> lower = signature.operand<T>(1), middle = signature.operand<T>(1), upper = signature.operand<T>(1);
  signature.operand<T>(2);
  Matrices<T> b = signature.updated<T>(3, 2);
  MILLRACE_TRY(signature.done());
  int n = b.rows;
  if (lower.rows != n || middle.rows != n || upper.rows != n)
    return invalidArgument("expects diagonals of length " + std::to_string(n));
  return forMatrices(b.count, 10.0 * n * b.cols, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      solvePerturbed(n, lower[i], middle[i], upper[i], b.cols, b[i]);
  });
}

Status tridiagonalOfAnyType(const CustomCall &call) {
  switch (call.arguments.empty() ? DType::Invalid : call.arguments[0].dtype) {
  case DType::F64: return tridiagonalPerturbed<double>(call);
  case DType::C64: return tridiagonalPerturbed<std::complex<float>>(call);
  case DType::C128: return tridiagonalPerturbed<std::complex<double>>(call);
  default: return tridiagonalPerturbed<float>(call);
  }
}

} // namespace

void addSolvers(Handlers &handlers) {
  MILLRACE_ADD_LAPACK(handlers, "trsm", "trsm", trsm);
  MILLRACE_ADD_LAPACK(handlers, "gtsv", "gtsv", gtsv);
  handlers.emplace_back("tridiagonal_solve_perturbed_ffi", tridiagonalOfAnyType);
}

} // namespace millrace::runtime::lapack
