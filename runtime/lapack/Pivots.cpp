// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pivots.cpp - Row exchanges, and factorizations of indefinite matrices ===//
// Functions that PyTorch's linear algebra needs beyond JAX's: the permutation of an LU factorization's exchanges, and Bunch-Kaufman factorizations
// with their solvers.
#include "runtime/lapack/Families.h"
#include "runtime/lapack/Matrices.h"

#include <numeric>
#include <vector>

namespace millrace::runtime::lapack {
namespace {

/// Permutation of row exchanges: pivots [k] (from 1) -> permutation [m], where row i of the permuted matrix is row permutation[i] of the given one;
/// or its inverse.
Status permutationOfPivots(const CustomCall &call) {
  Signature signature(call);
  Matrices<int> pivots = signature.operand<int>(1), permutation = signature.result<int>(1);
  bool isInverse = signature.integer("inverse");
  MILLRACE_TRY(signature.done());
  int k = pivots.rows, m = permutation.rows;
  if (k > m)
    return invalidArgument("expects at most " + std::to_string(m) + " pivots, but got " + std::to_string(k));
  std::vector<int> order(m);
  for (int64_t i = 0; i < pivots.count; ++i) {
    std::iota(order.begin(), order.end(), 0);
    for (int j = 0; j < k; ++j) {
      int other = pivots[i][j] - 1;
      if (other < 0 || other >= m)
        return invalidArgument("pivot " + std::to_string(other + 1) + " is outside of [1, " + std::to_string(m) + "]");
      std::swap(order[j], order[other]);
    }
    for (int j = 0; j < m; ++j)
      (isInverse ? permutation[i][order[j]] : permutation[i][j]) = isInverse ? j : order[j];
  }
  return Status();
}

/// Bunch-Kaufman factorization: a [n, n] -> factors [n, n], pivots [n], info []; uplo. `isHermitian` makes a difference for complex types only.
template <typename T, bool isHermitian>
Status bunchKaufman(const CustomCall &call) {
  Signature signature(call);
  signature.operand<T>(2);
  Matrices<T> a = signature.updated<T>(0, 2);
  Matrices<int> pivots = signature.result<int>(1), info = signature.result<int>(0);
  char uplo = signature.flag("uplo");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>(isHermitian && isComplexType<T> ? "hetrf" : "sytrf");
  if (!routine)
    return routine.status();
  int n = a.rows, ld = a.ld(), query = -1, code = 0;
  T wanted = 0;
  callFortran(*routine, &uplo, &n, a.data, &ld, pivots.data, &wanted, &query, &code, one);
  int size = workSize(wanted);
  return forMatrices(a.count, double(n) * n * n / 3, [&](int64_t begin, int64_t end) {
    std::vector<T> work(size);
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &uplo, &n, a[i], &ld, pivots[i], work.data(), &size, info[i], one);
  });
}

/// Solution by Bunch-Kaufman factors: factors [n, n], pivots [n], b [n, k] -> x [n, k]; uplo.
template <typename T, bool isHermitian>
Status bunchKaufmanSolve(const CustomCall &call) {
  Signature signature(call);
  Matrices<T> a = signature.operand<T>(2);
  Matrices<int> pivots = signature.operand<int>(1);
  signature.operand<T>(2);
  Matrices<T> b = signature.updated<T>(2, 2);
  char uplo = signature.flag("uplo");
  MILLRACE_TRY(signature.done());
  StatusOr<void *> routine = routineFor<T>(isHermitian && isComplexType<T> ? "hetrs" : "sytrs");
  if (!routine)
    return routine.status();
  int n = b.rows, columns = b.cols, lda = a.ld(), ldb = b.ld();
  if (a.rows != n || a.cols != n || pivots.rows != n)
    return invalidArgument("expects factors of order " + std::to_string(n));
  return forMatrices(b.count, 2.0 * n * n * columns, [&](int64_t begin, int64_t end) {
    int code = 0;
    for (int64_t i = begin; i < end; ++i)
      callFortran(*routine, &uplo, &n, &columns, a[i], &lda, pivots[i], b[i], &ldb, &code, one);
  });
}

template <typename T>
Status sytrf(const CustomCall &call) {
  return bunchKaufman<T, false>(call);
}
template <typename T>
Status hetrf(const CustomCall &call) {
  return bunchKaufman<T, true>(call);
}
template <typename T>
Status sytrs(const CustomCall &call) {
  return bunchKaufmanSolve<T, false>(call);
}
template <typename T>
Status hetrs(const CustomCall &call) {
  return bunchKaufmanSolve<T, true>(call);
}

} // namespace

void addPivots(Handlers &handlers) {
  handlers.emplace_back("millrace_pivots_to_permutation", permutationOfPivots);
  MILLRACE_ADD_LAPACK(handlers, "sytrf", "sytrf", sytrf);
  MILLRACE_ADD_LAPACK(handlers, "sytrs", "sytrs", sytrs);
  handlers.emplace_back("lapack_chetrf_ffi", hetrf<std::complex<float>>);
  handlers.emplace_back("lapack_zhetrf_ffi", hetrf<std::complex<double>>);
  handlers.emplace_back("lapack_chetrs_ffi", hetrs<std::complex<float>>);
  handlers.emplace_back("lapack_zhetrs_ffi", hetrs<std::complex<double>>);
}

} // namespace millrace::runtime::lapack
