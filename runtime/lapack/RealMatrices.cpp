// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RealMatrices.cpp - Systems and factorizations without a library ------===//
// Matrices of f32 and f64 row by row, as programs have them: the compiler calls these (passes/calls/CallRuntime.cpp) where a program has
// stablehlo.triangular_solve or cholesky, or JAX's calls of LAPACK for trsm, potrf, getrf.
#include "runtime/lapack/Blocks.h"
#include "runtime/lapack/Families.h"
#include "runtime/lapack/Matrices.h"

#include "runtime/base/ThreadPool.h"

#include <algorithm>

namespace millrace::runtime::lapack {
namespace {

/// Several matrices of at most this size are processed side by side in the lanes of vectors. Unit: rows of a matrix. Source: commit 5f4109f: 1000 of
/// 3x3 0.105 to 0.020 ms, 64 of 8x8 0.025 to 0.0064 on one thread, 256 of 16x16 0.206 to 0.047 on two.
constexpr int64_t kMaxLaneOrder = 16;

/// Returns the cost of one matrix (or strip) in the unit of forMatrices, an operation of LAPACK on small matrices. The kernels here are cheaper, but
/// have a fixed cost.
double costOf(double flops) { return flops / 8 + 80; }

template <typename T>
const Blocks<T> &blocks() {
  static const Blocks<T> best = [] {
    auto choose = [](auto single, auto twice) {
      if constexpr (sizeof(T) == sizeof(float))
        return single();
      else
        return twice();
    };
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return choose(avx512FloatBlocks, avx512DoubleBlocks);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return choose(avx2FloatBlocks, avx2DoubleBlocks);
#endif
    return choose(portableFloatBlocks, portableDoubleBlocks);
  }();
  return best;
}

template <typename T>
T *scratchOf(int64_t numbers) {
  void *memory = threadScratch(size_t(numbers) * sizeof(T));
  if (!memory)
    throw std::bad_alloc(); // forMatrices reports the error
  return static_cast<T *>(memory);
}

/// Triangular solution: a [n, n], b [rows, columns] -> x. Attributes left, lower, transposed, unit.
template <typename T>
Status triangularSolve(const CustomCall &call) {
  Signature signature(call);
  Matrices<T> a = signature.operand<T>(2), b = signature.operand<T>(2), x = signature.result<T>(2);
  TriangularSystems<T> s;
  s.left = signature.integer("left"), s.lower = signature.integer("lower");
  s.transposed = signature.integer("transposed"), s.unit = signature.integer("unit");
  MILLRACE_TRY(signature.done());
  s.a = a.data, s.b = b.data, s.x = x.data;
  s.n = a.rows, s.rows = b.rows, s.columns = b.cols;
  if (a.rows != a.cols || s.n != (s.left ? s.rows : s.columns) || x.rows != b.rows || x.cols != b.cols)
    return invalidArgument("expects a square matrix and a right-hand side that fit");
  if (b.size() == 0 || b.count == 0)
    return Status();
  const Blocks<T> &best = blocks<T>();
  // The strips are equal and have at most three vectors; there are more of them where one system must occupy all threads.
  int64_t vectors = (s.lines() + best.lanes - 1) / best.lanes, threads = ThreadPool::global().size();
  s.strips = (vectors + 2) / 3;
  if (b.count * s.strips < threads)
    s.strips = std::min(vectors, threads);
  s.width = (vectors + s.strips - 1) / s.strips * best.lanes;
  s.strips = (s.lines() + s.width - 1) / s.width;
  double flops = double(s.n) * s.n * s.width;
  return forMatrices(b.count * s.strips, costOf(flops), [&](int64_t begin, int64_t end) {
    best.solve(s, begin, end, scratchOf<T>(best.solveScratch(s)));
  });
}

/// Cholesky factorization: a [n, n] -> factor [n, n], zeros in the other triangle; info [] if it is asked for. Attribute lower.
template <typename T>
Status cholesky(const CustomCall &call) {
  Signature signature(call);
  Matrices<T> a = signature.operand<T>(2), factor = signature.result<T>(2);
  Matrices<int> info;
  if (call.results.size() > 1)
    info = signature.result<int>(0);
  bool lower = signature.integer("lower");
  MILLRACE_TRY(signature.done());
  int64_t n = a.rows;
  if (a.rows != a.cols || factor.rows != n || factor.cols != n)
    return invalidArgument("expects square matrices of one size");
  const Blocks<T> &best = blocks<T>();
  if (n <= kMaxLaneOrder && a.count * 2 >= best.lanes) {
    int64_t lanes = best.lanes;
    return forMatrices((a.count + lanes - 1) / lanes, costOf(8 * (double(n) * n * n / 3 + double(n * n * lanes))), [&](int64_t begin, int64_t end) {
      T *scratch = scratchOf<T>(n * n * lanes);
      for (int64_t i = begin * lanes; i < std::min(end * lanes, a.count); i += lanes)
        best.choleskyInLanes(a[i], factor[i], info.data ? info[i] : nullptr, n, lower, std::min(lanes, a.count - i), scratch);
    });
  }
  return forMatrices(a.count, costOf(double(n) * n * n / 3), [&](int64_t begin, int64_t end) {
    T *scratch = scratchOf<T>(best.squareScratch(n, n));
    for (int64_t i = begin; i < end; ++i) {
      int status = best.cholesky(a[i], factor[i], n, lower, scratch);
      if (info.data)
        *info[i] = status;
    }
  });
}

/// Distributes parts over all threads of the pool.
void shareOverPool(int64_t count, void (*body)(void *, int64_t, int64_t), void *context) {
  struct Work {
    void (*body)(void *, int64_t, int64_t);
    void *context;
  } work{body, context};
  auto run = [](void *work, int64_t begin, int64_t end) -> int32_t {
    auto &[body, context] = *static_cast<Work *>(work);
    body(context, begin, end);
    return 0;
  };
  ThreadPool &pool = ThreadPool::global();
  int64_t piece = std::max<int64_t>(1, count / (4 * pool.size()));
  pool.run(count, pool.size() == 1 ? count : piece, run, &work);
}

/// LU factorization: a [m, n] -> lower and upper factor in one [m, n], row exchanges [min(m, n)] (from 1), info [].
template <typename T>
Status lu(const CustomCall &call) {
  Signature signature(call);
  Matrices<T> a = signature.operand<T>(2), factors = signature.result<T>(2);
  Matrices<int> exchanges = signature.result<int>(1), info = signature.result<int>(0);
  MILLRACE_TRY(signature.done());
  int64_t m = a.rows, n = a.cols;
  if (factors.rows != m || factors.cols != n || exchanges.rows != std::min(m, n))
    return invalidArgument("expects factors of the operand's size and an exchange for each pivot");
  const Blocks<T> &best = blocks<T>();
  return forMatrices(a.count, costOf(double(m) * n * std::min(m, n)), [&](int64_t begin, int64_t end) {
    T *scratch = scratchOf<T>(best.squareScratch(m, n));
    for (int64_t i = begin; i < end; ++i)
      *info[i] = best.lu(a[i], factors[i], exchanges[i], m, n, scratch, a.count == 1 ? shareOverPool : nullptr);
  });
}

/// Calls the function for the element type of the first operand.
template <Function single, Function twice>
Status byType(const CustomCall &call) {
  return !call.arguments.empty() && call.arguments[0].dtype == DType::F64 ? twice(call) : single(call);
}

} // namespace

void addRealMatrices(Handlers &handlers) {
  handlers.emplace_back("millrace_triangular_solve", byType<triangularSolve<float>, triangularSolve<double>>);
  handlers.emplace_back("millrace_cholesky", byType<cholesky<float>, cholesky<double>>);
  handlers.emplace_back("millrace_lu", byType<lu<float>, lu<double>>);
}

} // namespace millrace::runtime::lapack
