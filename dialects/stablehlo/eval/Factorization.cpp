// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Factorization.cpp - cholesky, triangular_solve ---------------------===//
// Computed in long double and rounded once. A matrix that is not positive definite gives NaN (from a square root or a division). The triangle that
// cholesky leaves to the implementation is zero.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"
#include "dialects/stablehlo/eval/Lanes.h"

#include <cmath>

using namespace mlir;

namespace millrace::eval {

static LongComplex times(LongComplex a, LongComplex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
static LongComplex over(LongComplex a, LongComplex b) {
  if (a.imag() == 0 && b.imag() == 0) return {a.real() / b.real(), 0};
  long double norm = b.real() * b.real() + b.imag() * b.imag();
  LongComplex product = times(a, std::conj(b));
  return {product.real() / norm, product.imag() / norm};
}

static Tensor fromLanes(RankedTensorType type, ArrayRef<LongComplex> lanes) {
  Tensor result(type);
  Kind kind = result.kind();
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  for (LongComplex lane : lanes) {
    if (isComplex(kind)) storeLane(kind, out, lane);
    else storeLongFloat(kind, out, lane.real());
    out += width;
  }
  return result;
}

static llvm::Error evalCholesky(Call &call) {
  const Tensor &a = call.in(0);
  if (a.rank() < 2 || a.dim(a.rank() - 1) != a.dim(a.rank() - 2)) return call.error("expects square matrices");
  auto lowerAttr = call.op->getAttrOfType<BoolAttr>("lower");
  bool lower = lowerAttr && lowerAttr.getValue();
  int64_t n = a.dim(a.rank() - 1), matrices = n ? a.size() / (n * n) : 0;
  SmallVector<LongComplex, 0> in = lanesOf<LongComplex>(a), out(a.size(), LongComplex(0));
  for (int64_t m = 0; m < matrices; ++m) {
    const LongComplex *x = in.data() + m * n * n;
    LongComplex *l = out.data() + m * n * n;
    // The factor L satisfies L * L^H = A; the upper factor is L^H. Only the given triangle of A is read.
    auto at = [&](int64_t i, int64_t j) { return lower ? x[i * n + j] : std::conj(x[j * n + i]); };
    SmallVector<LongComplex, 0> factor(n * n, LongComplex(0));
    for (int64_t j = 0; j < n; ++j) {
      long double diagonal = at(j, j).real();
      for (int64_t k = 0; k < j; ++k) diagonal -= std::norm(factor[j * n + k]);
      long double root = diagonal > 0 ? sqrtl(diagonal) : std::numeric_limits<long double>::quiet_NaN();
      factor[j * n + j] = root;
      for (int64_t i = j + 1; i < n; ++i) {
        LongComplex sum = at(i, j);
        for (int64_t k = 0; k < j; ++k) sum -= times(factor[i * n + k], std::conj(factor[j * n + k]));
        factor[i * n + j] = LongComplex(sum.real() / root, sum.imag() / root);
      }
    }
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j)
        (lower ? l[i * n + j] : l[j * n + i]) = lower ? factor[i * n + j] : std::conj(factor[i * n + j]);
  }
  call.push(fromLanes(call.typeWith(a.getShape()), out));
  return llvm::Error::success();
}

static llvm::Error evalTriangularSolve(Call &call) {
  const Tensor &a = call.in(0), &b = call.in(1);
  auto flag = [&](StringRef name) {
    auto attr = call.op->getAttrOfType<BoolAttr>(name);
    return attr && attr.getValue();
  };
  bool left = flag("left_side"), lower = flag("lower"), unit = flag("unit_diagonal");
  auto transpose = call.op->getAttrOfType<stablehlo::TransposeAttr>("transpose_a").getValue();
  bool transposed = transpose == stablehlo::Transpose::TRANSPOSE || transpose == stablehlo::Transpose::ADJOINT;
  bool conjugated = transpose == stablehlo::Transpose::ADJOINT;
  int64_t rank = b.rank();
  if (rank < 2 || a.rank() != rank || a.dim(rank - 1) != a.dim(rank - 2) || a.dim(rank - 1) != b.dim(left ? rank - 2 : rank - 1) ||
      a.getShape().drop_back(2) != b.getShape().drop_back(2))
    return call.error("expects square matrices that fit the right-hand sides");
  int64_t n = a.dim(rank - 1), rows = b.dim(rank - 2), columns = b.dim(rank - 1), others = left ? columns : rows;
  int64_t matrices = numElements(b.getShape().drop_back(2));
  SmallVector<LongComplex, 0> as = lanesOf<LongComplex>(a), xs = lanesOf<LongComplex>(b);
  for (int64_t m = 0; m < matrices; ++m) {
    const LongComplex *p = as.data() + m * n * n;
    LongComplex *x = xs.data() + m * rows * columns;
    // Returns op(a)(i, j). Solving x * op(a) = b is solving op(a)^T * x^T = b^T.
    auto coefficient = [&](int64_t i, int64_t j) {
      LongComplex value = transposed ? p[j * n + i] : p[i * n + j];
      return conjugated ? std::conj(value) : value;
    };
    auto matrix = [&](int64_t i, int64_t j) { return left ? coefficient(i, j) : coefficient(j, i); };
    bool isLower = (lower != transposed) == left;
    for (int64_t c = 0; c < others; ++c) {
      auto unknown = [&](int64_t i) -> LongComplex & { return left ? x[i * columns + c] : x[c * columns + i]; };
      for (int64_t step = 0; step < n; ++step) {
        int64_t i = isLower ? step : n - 1 - step;
        LongComplex sum = unknown(i);
        for (int64_t j = isLower ? 0 : i + 1, e = isLower ? i : n; j < e; ++j) sum -= times(matrix(i, j), unknown(j));
        unknown(i) = unit ? sum : over(sum, matrix(i, i));
      }
    }
  }
  call.push(fromLanes(call.typeWith(b.getShape()), xs));
  return llvm::Error::success();
}

void addFactorization(Dispatch &dispatch) {
  dispatch.add("stablehlo.cholesky", evalCholesky);
  dispatch.add("stablehlo.triangular_solve", evalTriangularSolve);
}

} // namespace millrace::eval
