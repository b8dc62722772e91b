// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Factorizations.cpp - Cholesky, LU, QR -------------------------------===//
// Every function: operands -> results, attributes. Shapes are those of one matrix; all have batch dimensions before.
#include "runtime/lapack/Families.h"
#include "runtime/lapack/Matrices.h"

#include <vector>

namespace millrace::runtime::lapack {
namespace {

double cube(int n) { return double(n) * n * n; }

/// Cholesky factorization: a [n, n] -> factor [n, n] (the other triangle keeps a), info []; uplo 'L' or 'U'.
template <typename T>
Status potrf(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2);
  Matrices<int> info = signature.result<int>(0);
  char uplo = signature.flag("uplo");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("potrf");
  if (!routine)
    return routine.status();
  return forMatrices(a.count, cube(a.rows) / 3, [&](int64_t begin, int64_t end) {
    int n = a.rows, ld = a.ld();
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &uplo, &n, a[i], &ld, info[i], one);
  });
}

/// LU factorization: a [m, n] -> lu [m, n], pivots [min(m, n)] (from 1), info [].
template <typename T>
Status getrf(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2);
  Matrices<int> pivots = signature.result<int>(1), info = signature.result<int>(0);
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("getrf");
  if (!routine)
    return routine.status();
  return forMatrices(a.count, cube(a.rows), [&](int64_t begin, int64_t end) {
    int m = a.rows, n = a.cols, ld = a.ld();
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &m, &n, a[i], &ld, pivots[i], info[i]);
  });
}

/// QR factorization: a [m, n] -> reflectors and R [m, n], tau [min(m, n)].
template <typename T>
Status geqrf(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2), tau = signature.result<T>(1);
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("geqrf");
  if (!routine)
    return routine.status();
  int m = a.rows, n = a.cols, ld = a.ld(), query = -1, info = 0;
  T wanted = 0;
  callFortran(*routine, &m, &n, a.data, &ld, tau.data, &wanted, &query, &info);
  int size = workSize(wanted);
  return forMatrices(a.count, 2 * cube(n), [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    int code = 0;
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &m, &n, a[i], &ld, tau[i], work.data(), &size, &code);
  });
}

/// QR factorization with column exchanges: a [m, n], columns [n] (non-zero: to the front) -> reflectors and R [m, n], columns [n] (from 1), tau
/// [min(m, n)].
template <typename T>
Status geqp3(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2), signature.operand<int>(1);
  Matrices<T> a = signature.updated<T>(0, 2);
  Matrices<int> columns = signature.updated<int>(1, 1);
  Matrices<T> tau = signature.result<T>(1);
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("geqp3");
  if (!routine)
    return routine.status();
  int m = a.rows, n = a.cols, ld = a.ld();
  auto run = [&](T *matrix, int *column, T *taus, T *work, int *size, Real<T> *realWork, int *info) {
    if constexpr (isComplexType<T>)
      callFortran(*routine, &m, &n, matrix, &ld, column, taus, work, size, realWork, info);
    else
      callFortran(*routine, &m, &n, matrix, &ld, column, taus, work, size, info);
  };
  int query = -1, info = 0;
  T wanted = 0;
  Real<T> unused = 0;
  run(a.data, columns.data, tau.data, &wanted, &query, &unused, &info);
  int size = workSize(wanted);
  return forMatrices(a.count, 2 * cube(n), [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    std::vector<Real<T>> realWork(isComplexType<T> ? 2 * size_t(n) + 1 : 0);
    int code = 0;
    for (int64_t i = begin; i < end; ++i)
      run(a[i], columns[i], tau[i], work.data(), &size, realWork.data(), &code);
  });
}

/// Q of reflectors: reflectors [m, n], tau [k] -> the first n columns of Q [m, n].
template <typename T>
Status orgqr(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> tau = signature.operand<T>(1), a = signature.updated<T>(0, 2);
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>(isComplexType<T> ? "ungqr" : "orgqr");
  if (!routine)
    return routine.status();
  int m = a.rows, n = a.cols, k = tau.rows, ld = a.ld(), query = -1, info = 0;
  if (m < n || n < k)
    return invalidArgument("expects at least as many rows as columns as reflectors, but got " + std::to_string(m) +
                           ", " + std::to_string(n) + ", " + std::to_string(k));
  T wanted = 0;
  callFortran(*routine, &m, &n, &k, a.data, &ld, tau.data, &wanted, &query, &info);
  int size = workSize(wanted);
  return forMatrices(a.count, 2 * cube(n), [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    int code = 0;
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &m, &n, &k, a[i], &ld, tau[i], work.data(), &size, &code);
  });
}

/// Multiplication by Q: reflectors [r, k], tau [k], c [m, n] -> Q c, Q^H c (left) or c Q, c Q^H; left and transpose booleans.
template <typename T>
Status ormqr(const CustomCall &call) {
  Signature signature(call);
  Matrices<T> a = signature.operand<T>(2), tau = signature.operand<T>(1);
  signature.operand<T>(2);
  Matrices<T> c = signature.updated<T>(2, 2);
  bool left = signature.integer("left"), transpose = signature.integer("transpose");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>(isComplexType<T> ? "unmqr" : "ormqr");
  if (!routine)
    return routine.status();
  char side = left ? 'L' : 'R', trans = transpose ? (isComplexType<T> ? 'C' : 'T') : 'N';
  int m = c.rows, n = c.cols, k = tau.rows, ldc = c.ld(), lda = a.ld(), query = -1, info = 0;
  if (a.rows != (left ? m : n) || k > a.rows || k > a.cols)
    return invalidArgument("expects reflectors of length " + std::to_string(left ? m : n) + ", but got " +
                           std::to_string(a.rows) + " (" + std::to_string(k) + " of them)");
  T wanted = 0;
  callFortran(*routine, &side, &trans, &m, &n, &k, a.data, &lda, tau.data, c.data, &ldc, &wanted, &query, &info, one,
              one);
  int size = workSize(wanted);
  return forMatrices(c.count, 4.0 * m * n * k, [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    int code = 0;
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &side, &trans, &m, &n, &k, a[i], &lda, tau[i], c[i], &ldc, work.data(), &size, &code, one,
                  one);
  });
}

} // namespace

void addFactorizations(Handlers &handlers) {
  MILLRACE_ADD_LAPACK(handlers, "potrf", "potrf", potrf);
  MILLRACE_ADD_LAPACK(handlers, "getrf", "getrf", getrf);
  MILLRACE_ADD_LAPACK(handlers, "geqrf", "geqrf", geqrf);
  MILLRACE_ADD_LAPACK(handlers, "geqp3", "geqp3", geqp3);
  MILLRACE_ADD_LAPACK(handlers, "orgqr", "ungqr", orgqr);
  MILLRACE_ADD_LAPACK(handlers, "ormqr", "unmqr", ormqr);
}

} // namespace millrace::runtime::lapack
