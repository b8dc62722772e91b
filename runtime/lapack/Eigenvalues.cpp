// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Eigenvalues.cpp - Eigenvalues, Schur, Hessenberg, tridiagonal -------===//
#include "runtime/lapack/Families.h"
#include "runtime/lapack/Matrices.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace millrace::runtime::lapack {
namespace {

double cube(int n) { return double(n) * n * n; }

/// Returns true if all elements are finite: with NaN, some iterations never end.
template <typename T>
bool isFinite(const T *matrix, int64_t size) {
  return std::all_of(matrix, matrix + size, [](T x) {
    return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
  });
}
constexpr int notFinite = -4; // "the fourth argument has an illegal value"

/// Eigenvalues of a Hermitian matrix: a [n, n] -> vectors [n, n], values [n] ascending, info []; mode 'V' or 'N', uplo.
template <typename T>
Status syevd(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2);
  Matrices<Real<T>> w = signature.result<Real<T>>(1);
  Matrices<int> info = signature.result<int>(0);
  char mode = signature.flag("mode"), uplo = signature.flag("uplo");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>(isComplexType<T> ? "heevd" : "syevd");
  if (!routine)
    return routine.status();
  int n = a.rows, ld = a.ld();
  if (a.count == 0)
    return Status();
  auto run = [&](int64_t i, T *work, int *size, Real<T> *realWork, int *realSize, int *integerWork, int *integerSize,
                 int *code) {
    if constexpr (isComplexType<T>)
      callFortran(*routine, &mode, &uplo, &n, a[i], &ld, w[i], work, size, realWork, realSize, integerWork, integerSize,
                  code, one, one);
    else
      callFortran(*routine, &mode, &uplo, &n, a[i], &ld, w[i], work, size, integerWork, integerSize, code, one, one);
  };
  T wanted = 0;
  Real<T> realWanted = 0;
  int integerWanted = 0, query = -1, code = 0;
  run(0, &wanted, &query, &realWanted, &query, &integerWanted, &query, &code);
  int size = workSize(wanted), realSize = workSize(realWanted), integerSize = integerWanted;
  return forMatrices(a.count, 9 * cube(n), [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    std::vector<Real<T>> realWork(realSize);
    std::vector<int> integerWork(std::max(1, integerSize));
    for (int64_t i = begin; i < end; ++i) {
      if (isFinite(a[i], a.size()))
        run(i, work.data(), &size, realWork.data(), &realSize, integerWork.data(), &integerSize, info[i]);
      else
        *info[i] = notFinite, std::fill_n(w[i], n, Real<T>(0));
    }
  });
}

/// Unpacks eigenvectors: LAPACK stores the real and imaginary parts of a conjugate pair in two columns.
template <typename R>
void unpackVectors(int n, const R *imaginary, const R *packed, std::complex<R> *vectors) {
  for (int j = 0; j < n; ++j) {
    const R *re = packed + int64_t(j) * n;
    bool isPair = imaginary[j] != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      vectors[int64_t(j) * n + i] = {re[i], isPair ? re[n + i] : 0};
      if (isPair)
        vectors[int64_t(j + 1) * n + i] = {re[i], -re[n + i]};
    }
    j += isPair;
  }
}

/// Eigenvalues: a [n, n] -> values [n] (real types: real parts, imaginary parts), left and right vectors [n, n] complex, info []; compute_left and
/// compute_right 'V' or 'N' (zeros).
template <typename T>
Status geev(const CustomCall &call) {
  using C = std::complex<Real<T>>;
  Signature signature(call);
  Matrices<T> a = signature.operand<T>(2), w = signature.result<T>(1), wi;
  if constexpr (!isComplexType<T>)
    wi = signature.result<T>(1);
  Matrices<C> left = signature.result<C>(2), right = signature.result<C>(2);
  Matrices<int> info = signature.result<int>(0);
  char wantsLeft = signature.flag("compute_left"), wantsRight = signature.flag("compute_right");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("geev");
  if (!routine)
    return routine.status();
  int n = a.rows, ld = a.ld();
  auto run = [&](int64_t i, T *matrix, T *vl, T *vr, T *work, int *size, Real<T> *realWork, int *code) {
    if constexpr (isComplexType<T>)
      callFortran(*routine, &wantsLeft, &wantsRight, &n, matrix, &ld, w[i], vl, &ld, vr, &ld, work, size, realWork,
                  code, one, one);
    else
      callFortran(*routine, &wantsLeft, &wantsRight, &n, matrix, &ld, w[i], wi[i], vl, &ld, vr, &ld, work, size, code,
                  one, one);
  };
  if (a.count == 0)
    return Status();
  T wanted = 0;
  Real<T> realUnused = 0;
  int query = -1, code = 0;
  run(0, a.data, &wanted, &wanted, &wanted, &query, &realUnused, &code);
  int size = workSize(wanted);
  return forMatrices(a.count, 25 * cube(n), [&](int64_t begin, int64_t end) {
    std::vector<T> work(size), matrix(a.size() + 1), vl(a.size() + 1), vr(a.size() + 1);
    std::vector<Real<T>> realWork(2 * size_t(n) + 1);
    for (int64_t i = begin; i < end; ++i) {
      std::fill(vl.begin(), vl.end(), T(0)), std::fill(vr.begin(), vr.end(), T(0));
      if (isFinite(a[i], a.size())) {
        std::copy_n(a[i], a.size(), matrix.begin());
        run(i, matrix.data(), vl.data(), vr.data(), work.data(), &size, realWork.data(), info[i]);
      } else {
        *info[i] = notFinite;
        std::fill_n(w[i], n, T(0));
        if constexpr (!isComplexType<T>)
          std::fill_n(wi[i], n, T(0));
      }
      if constexpr (isComplexType<T>) {
        std::copy_n(vl.begin(), a.size(), left[i]);
        std::copy_n(vr.begin(), a.size(), right[i]);
      } else {
        unpackVectors(n, wi[i], vl.data(), left[i]);
        unpackVectors(n, wi[i], vr.data(), right[i]);
      }
    }
  });
}

/// Schur decomposition: a [n, n] -> Schur form [n, n], vectors [n, n], values [n] (real types: two), selected [], info []; mode 'V' or 'N' (no
/// vectors: zeros), sort 'N'.
template <typename T>
Status gees(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2), vectors = signature.result<T>(2), w = signature.result<T>(1), wi;
  if constexpr (!isComplexType<T>)
    wi = signature.result<T>(1);
  Matrices<int> selected = signature.result<int>(0), info = signature.result<int>(0);
  char mode = signature.flag("mode"), sort = signature.flag("sort");
  MILLRACE_TRY(signature.done());
  if (sort != 'N')
    return unimplemented("sorted Schur forms");
  StatusOr<void *> routine = routineFor<T>("gees");
  if (!routine)
    return routine.status();
  int n = a.rows, ld = a.ld();
  void *select = nullptr;
  auto run = [&](int64_t i, T *work, int *size, Real<T> *realWork, int *booleans, int *code) {
    if constexpr (isComplexType<T>)
      callFortran(*routine, &mode, &sort, select, &n, a[i], &ld, selected[i], w[i], vectors[i], &ld, work, size,
                  realWork, booleans, code, one, one);
    else
      callFortran(*routine, &mode, &sort, select, &n, a[i], &ld, selected[i], w[i], wi[i], vectors[i], &ld, work, size,
                  booleans, code, one, one);
  };
  if (a.count == 0)
    return Status();
  if (mode == 'N')
    std::fill_n(vectors.data, vectors.count * vectors.size(), T(0));
  T wanted = 0;
  Real<T> realUnused = 0;
  int query = -1, code = 0, unused = 0;
  run(0, &wanted, &query, &realUnused, &unused, &code);
  int size = workSize(wanted);
  return forMatrices(a.count, 25 * cube(n), [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    std::vector<Real<T>> realWork(size_t(n) + 1);
    std::vector<int> booleans(size_t(n) + 1);
    for (int64_t i = begin; i < end; ++i) {
      if (isFinite(a[i], a.size())) {
        run(i, work.data(), &size, realWork.data(), booleans.data(), info[i]);
        continue;
      }
      *info[i] = notFinite, *selected[i] = 0;
      std::fill_n(vectors[i], vectors.size(), T(0)), std::fill_n(w[i], n, T(0));
      if constexpr (!isComplexType<T>)
        std::fill_n(wi[i], n, T(0));
    }
  });
}

/// Hessenberg reduction: a [n, n] -> Hessenberg form and reflectors [n, n], tau [n - 1], info []; low and high (from 1) bound the rows that are not
/// triangular yet.
template <typename T>
Status gehrd(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2), tau = signature.result<T>(1);
  Matrices<int> info = signature.result<int>(0);
  int low = int(signature.integer("low")), high = int(signature.integer("high"));
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>("gehrd");
  if (!routine)
    return routine.status();
  int n = a.rows, ld = a.ld(), query = -1, code = 0;
  T wanted = 0;
  callFortran(*routine, &n, &low, &high, a.data, &ld, tau.data, &wanted, &query, &code);
  int size = workSize(wanted);
  return forMatrices(a.count, 10 * cube(n) / 3, [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &n, &low, &high, a[i], &ld, tau[i], work.data(), &size, info[i]);
  });
}

/// Tridiagonal reduction: a [n, n] -> reflectors [n, n], diagonal [n], off-diagonal [n - 1], tau [n - 1], info []; uplo.
template <typename T>
Status sytrd(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2);
  Matrices<Real<T>> d = signature.result<Real<T>>(1), e = signature.result<Real<T>>(1);
  Matrices<T> tau = signature.result<T>(1);
  Matrices<int> info = signature.result<int>(0);
  char uplo = signature.flag("uplo");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>(isComplexType<T> ? "hetrd" : "sytrd");
  if (!routine)
    return routine.status();
  int n = a.rows, ld = a.ld(), query = -1, code = 0;
  T wanted = 0;
  callFortran(*routine, &uplo, &n, a.data, &ld, d.data, e.data, tau.data, &wanted, &query, &code, one);
  int size = workSize(wanted);
  return forMatrices(a.count, 4 * cube(n) / 3, [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &uplo, &n, a[i], &ld, d[i], e[i], tau[i], work.data(), &size, info[i], one);
  });
}

} // namespace

void addEigenvalues(Handlers &handlers) {
  MILLRACE_ADD_LAPACK(handlers, "syevd", "heevd", syevd);
  MILLRACE_ADD_LAPACK(handlers, "geev", "geev", geev);
  MILLRACE_ADD_LAPACK(handlers, "gees", "gees", gees);
  MILLRACE_ADD_LAPACK(handlers, "gehrd", "gehrd", gehrd);
  MILLRACE_ADD_LAPACK(handlers, "sytrd", "hetrd", sytrd);
}

} // namespace millrace::runtime::lapack
