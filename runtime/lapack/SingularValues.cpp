// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SingularValues.cpp - Singular value decomposition -------------------===//
#include "runtime/lapack/Families.h"
#include "runtime/lapack/Matrices.h"

#include <algorithm>
#include <vector>

namespace millrace::runtime::lapack {
namespace {

/// Singular value decomposition: a [m, n] -> a (destroyed), s [min(m, n)], u [m, k], vt [l, n], info []; mode 'A' (square u and vt), 'S' (as many
/// vectors as values) or 'N' (none: u and vt are zeros).
template <typename T, bool divideAndConquer>
Status gesvd(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2);
  Matrices<Real<T>> s = signature.result<Real<T>>(1);
  Matrices<T> u = signature.result<T>(2), vt = signature.result<T>(2);
  Matrices<int> info = signature.result<int>(0);
  char mode = signature.flag("mode");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>(divideAndConquer ? "gesdd" : "gesvd");
  if (!routine)
    return routine.status();
  int m = a.rows, n = a.cols, lda = a.ld(), ldu = u.ld(), ldvt = vt.ld();
  int64_t small = std::min(m, n), large = std::max(m, n);
  int vectors = int(mode == 'A' ? m : small), rows = int(mode == 'A' ? n : small);
  if (mode != 'N' && (u.rows != m || u.cols != vectors || vt.rows != rows || vt.cols != n))
    return invalidArgument("expects u and vt of " + std::to_string(m) + "x" + std::to_string(vectors) + " and " +
                           std::to_string(rows) + "x" + std::to_string(n));
  if (mode == 'N') {
    std::fill_n(u.data, u.count * u.size(), T(0));
    std::fill_n(vt.data, vt.count * vt.size(), T(0));
  }
  auto run = [&](int64_t i, T *work, int *size, Real<T> *realWork, int *integerWork, int *code) {
    if constexpr (divideAndConquer && isComplexType<T>)
      callFortran(*routine, &mode, &m, &n, a[i], &lda, s[i], u[i], &ldu, vt[i], &ldvt, work, size, realWork,
                  integerWork, code, one);
    else if constexpr (divideAndConquer)
      callFortran(*routine, &mode, &m, &n, a[i], &lda, s[i], u[i], &ldu, vt[i], &ldvt, work, size, integerWork, code,
                  one);
    else if constexpr (isComplexType<T>)
      callFortran(*routine, &mode, &mode, &m, &n, a[i], &lda, s[i], u[i], &ldu, vt[i], &ldvt, work, size, realWork,
                  code, one, one);
    else
      callFortran(*routine, &mode, &mode, &m, &n, a[i], &lda, s[i], u[i], &ldu, vt[i], &ldvt, work, size, code, one,
                  one);
  };
  if (a.count == 0)
    return Status();
  T wanted = 0;
  Real<T> realQuery = 0;
  int query = -1, code = 0, integerQuery = 0;
  run(0, &wanted, &query, &realQuery, &integerQuery, &code);
  int size = workSize(wanted);
  // The sizes of the other workspaces are those of LAPACK's documentation.
  size_t realSize = isComplexType<T> ? size_t(std::max<int64_t>(5 * small * small + 7 * small,
                                                                2 * large * small + 2 * small * small + small)) + 1
                                     : 1;
  return forMatrices(a.count, 20.0 * m * n * double(small), [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    std::vector<Real<T>> realWork(realSize);
    std::vector<int> integerWork(8 * size_t(small) + 1);
    for (int64_t i = begin; i < end; ++i)
      run(i, work.data(), &size, realWork.data(), integerWork.data(), info[i]);
  });
}

template <typename T>
Status gesvdQr(const CustomCall &call) {
  return gesvd<T, false>(call);
}
template <typename T>
Status gesdd(const CustomCall &call) {
  return gesvd<T, true>(call);
}

} // namespace

void addSingularValues(Handlers &handlers) {
  MILLRACE_ADD_LAPACK(handlers, "gesdd", "gesdd", gesdd);
  MILLRACE_ADD_LAPACK(handlers, "gesvd", "gesvd", gesvdQr);
}

} // namespace millrace::runtime::lapack
