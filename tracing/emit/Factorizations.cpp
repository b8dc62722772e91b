// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Factorizations.cpp - Cholesky, LU, QR, eigenvalues, singular values -===//
#include "tracing/emit/Matrices.h"

#include <algorithm>

namespace millrace::tracing {
namespace {

using namespace matrices;

Val zero(Emitter &e, const Shape &shape) { return e.constant(int64_t(0), shape); }

//===-- Cholesky ------------------------------------------------------------===//

Vals choleskyFactor(Emitter &e, const Val &a, bool upper) {
  if (!a)
    return Vals(2);
  Vals made = lapack(e, "potrf", "potrf", {{a, 2}}, {{a.shape, 2}, {{DType::I32, batched(a.dims(), 2)}, 0}},
                     "{" + flagText("uplo", upper ? 'U' : 'L') + "}");
  return {triangle(e, made[0], !upper), made[1]};
}

/// Solves L L^H x = b, or U^H U x = b.
Val choleskySolve(Emitter &e, const Val &factor, const Val &b, bool upper) {
  Val x = solveTriangular(e, factor, b, true, !upper, upper ? 'C' : 'N', false);
  return solveTriangular(e, factor, x, true, !upper, upper ? 'N' : 'C', false);
}

/// Arguments: self, A, upper.
Vals choleskySolveOp(const Call &c) {
  Val b = c.val(0), factor = c.val(1);
  if (!b || !factor)
    return {b};
  Ints batch = commonBatch(batched(b.dims(), 2), batched(factor.dims(), 2));
  return {choleskySolve(c.e, withBatch(c.e, factor, batch), withBatch(c.e, b, batch), c.flag(2))};
}

Vals choleskyInverse(const Call &c) {
  Val factor = c.val(0);
  return {choleskySolve(c.e, factor, identity(c.e, factor.shape), c.flag(1))};
}

//===-- LU ------------------------------------------------------------------===//

/// Computes the matrix P of a = P L U.
Val permutationMatrix(Emitter &e, const Val &pivots, int64_t rows, DType type) {
  Val order = permutation(e, pivots, rows, false);
  if (!order)
    return {};
  Ints dims = batched(order.dims(), 1, {rows, rows}), mapping;
  for (int64_t i = 0; i < order.rank(); ++i)
    mapping.push_back(i + (i == order.rank() - 1));
  Val column = e.broadcastInDim(order, dims, mapping);
  return e.convert(e.compare(column, e.iota(column.shape, column.rank() - 2), "EQ"), type);
}

Val lowerUnit(Emitter &e, const Val &lu) {
  int64_t k = std::min(lu.dim(-1), lu.dim(-2));
  Val l = triangle(e, e.sliceDim(lu, lu.rank() - 1, 0, k), true, -1);
  return e.add(l, identity(e, l.shape));
}
Val upperPart(Emitter &e, const Val &lu) {
  int64_t k = std::min(lu.dim(-1), lu.dim(-2));
  return triangle(e, e.sliceDim(lu, lu.rank() - 2, 0, k), false);
}

Vals luFactor(const Call &c) {
  if (!c.flag(1, true))
    return {c.e.fail("LU without pivoting is not supported")};
  Lu lu = factorize(c.e, c.val(0));
  return {lu.factors, lu.pivots, lu.info};
}

Vals lu(const Call &c) {
  if (!c.flag(1, true))
    return {c.e.fail("LU without pivoting is not supported")};
  Val a = c.val(0);
  Lu lu = factorize(c.e, a);
  if (!lu.factors)
    return Vals(3);
  return {permutationMatrix(c.e, lu.pivots, a.dim(-2), a.dtype()), lowerUnit(c.e, lu.factors), upperPart(c.e, lu.factors)};
}

/// Arguments: LU, pivots, unpack_data, unpack_pivots.
Vals luUnpack(const Call &c) {
  Val lu = c.val(0);
  if (!lu)
    return Vals(3);
  Vals made(3);
  if (c.flag(3, true))
    made[0] = permutationMatrix(c.e, c.val(1), lu.dim(-2), lu.dtype());
  if (c.flag(2, true)) {
    made[1] = lowerUnit(c.e, lu);
    made[2] = upperPart(c.e, lu);
  }
  for (size_t i = 0; i < 3; ++i)
    if (!made[i])
      made[i] = zero(c.e, c.out(i)); // not requested
  return made;
}

/// Arguments: LU, pivots, B, left, adjoint.
Vals luSolve(const Call &c) {
  Emitter &e = c.e;
  Val lu = c.val(0), pivots = c.val(1), b = c.val(2);
  if (!lu || !pivots || !b)
    return {Val()};
  bool left = c.flag(3, true), isAdjoint = c.flag(4);
  Ints batch = commonBatch(batched(lu.dims(), 2), batched(b.dims(), 2));
  lu = withBatch(e, lu, batch);
  pivots = withBatch(e, pivots, batch, 1);
  b = withBatch(e, b, batch);
  if (left)
    return {solveFactorized(e, lu, pivots, b, isAdjoint)};
  return {adjoint(e, solveFactorized(e, lu, pivots, adjoint(e, b), !isAdjoint))}; // x a = b is a^H x^H = b^H
}

Vals inverse(const Call &c) {
  Val a = c.val(0);
  Lu lu = factorize(c.e, a);
  if (!a)
    return Vals(2);
  return {solveFactorized(c.e, lu.factors, lu.pivots, identity(c.e, a.shape), false), lu.info};
}

//===-- QR ------------------------------------------------------------------===//

Vals reflectors(Emitter &e, const Val &a) {
  if (!a)
    return Vals(2);
  Shape tau{a.dtype(), batched(a.dims(), 2, {std::min(a.dim(-1), a.dim(-2))})};
  return lapack(e, "geqrf", "geqrf", {{a, 2}}, {{a.shape, 2}, {tau, 1}}, "{}");
}

/// Computes the first columns of the product of reflectors; their number is that of the columns of `reflectors`.
Val product(Emitter &e, const Val &reflectors, const Val &tau) {
  if (!reflectors || !tau)
    return {};
  if (tau.shape.count() == 0)
    return identity(e, reflectors.shape);
  return lapack(e, "orgqr", "ungqr", {{reflectors, 2}, {tau, 1}}, {{reflectors.shape, 2}}, "{}")[0];
}

Val withColumns(Emitter &e, const Val &x, int64_t columns) {
  if (!x || columns <= x.dim(-1))
    return x ? e.sliceDim(x, x.rank() - 1, 0, columns) : x;
  Ints low(x.rank(), 0), high(x.rank(), 0);
  high.back() = columns - x.dim(-1);
  return e.pad(x, e.constant(int64_t(0), {x.dtype(), {}}), low, high);
}

Vals qr(const Call &c) {
  Emitter &e = c.e;
  Val a = c.val(0);
  if (!a)
    return Vals(2);
  std::string mode = c.text(1);
  int64_t m = a.dim(-2), n = a.dim(-1), k = mode == "complete" ? m : std::min(m, n);
  Vals made = reflectors(e, a);
  Val q = mode == "r" ? zero(e, c.out(0)) : product(e, withColumns(e, made[0], k), made[1]);
  Val r = triangle(e, e.sliceDim(made[0], a.rank() - 2, 0, k), false);
  return {q, r};
}

/// Arguments: self (reflectors), tau, other, left, transpose.
Vals multiplyByQ(const Call &c) {
  Val a = c.val(0), tau = c.val(1), other = c.val(2);
  if (!a || !tau || !other)
    return {Val()};
  if (other.shape.count() == 0 || tau.shape.count() == 0)
    return {other};
  auto boolean = [](bool value) { return value ? std::string("true") : std::string("false"); };
  return lapack(c.e, "ormqr", "unmqr", {{a, 2}, {tau, 1}, {other, 2}}, {{other.shape, 2}},
                "{left = " + boolean(c.flag(3, true)) + ", transpose = " + boolean(c.flag(4)) + "}");
}

//===-- Eigenvalues and singular values -------------------------------------===//

/// Arguments: A, full_matrices, compute_uv, driver.
Vals svd(const Call &c) {
  Emitter &e = c.e;
  Val a = c.val(0);
  if (!a)
    return Vals(3);
  bool isFull = c.flag(1), wantsVectors = c.flag(2, true);
  int64_t m = a.dim(-2), n = a.dim(-1), k = std::min(m, n);
  Shape s{realType(a.dtype()), batched(a.dims(), 2, {k})};
  if (a.shape.count() == 0) // the matrix has no elements, so that the bases are identities
    return {wantsVectors ? identity(e, c.out(0)) : zero(e, c.out(0)), zero(e, s), wantsVectors ? identity(e, c.out(2)) : zero(e, c.out(2))};
  Shape u{a.dtype(), batched(a.dims(), 2, {m, isFull && wantsVectors ? m : k})};
  Shape v{a.dtype(), batched(a.dims(), 2, {isFull && wantsVectors ? n : k, n})};
  Vals made = lapack(e, "gesdd", "gesdd", {{a, 2}},
                     {{a.shape, 2}, {s, 1}, {u, 2}, {v, 2}, {{DType::I32, batched(a.dims(), 2)}, 0}},
                     "{" + flagText("mode", !wantsVectors ? 'N' : isFull ? 'A' : 'S') + "}");
  return {wantsVectors ? made[2] : zero(e, c.out(0)), made[1], wantsVectors ? made[3] : zero(e, c.out(2))};
}

/// Arguments: A, UPLO, compute_v.
Vals eigh(const Call &c) {
  Val a = c.val(0);
  if (!a)
    return Vals(2);
  char uplo = c.text(1) == "U" || c.text(1) == "u" ? 'U' : 'L';
  bool wantsVectors = c.flag(2, true);
  Shape values{realType(a.dtype()), batched(a.dims(), 1)};
  Vals made = lapack(c.e, "syevd", "heevd", {{a, 2}}, {{a.shape, 2}, {values, 1}, {{DType::I32, batched(a.dims(), 2)}, 0}},
                     "{" + flagText("mode", wantsVectors ? 'V' : 'N') + ", " + flagText("uplo", uplo) + "}");
  return {made[1], wantsVectors ? made[0] : zero(c.e, c.out(1))};
}

Vals eig(Emitter &e, const Val &a, bool wantsVectors) {
  if (!a)
    return Vals(2);
  bool isComplex = runtime::isComplex(a.dtype());
  DType complex = a.dtype() == DType::F64 || a.dtype() == DType::C128 ? DType::C128 : DType::C64;
  Shape values{a.dtype(), batched(a.dims(), 1)}, vectors{complex, a.dims()}, info{DType::I32, batched(a.dims(), 2)};
  std::vector<LapackShape> results = {{values, 1}, {vectors, 2}, {vectors, 2}, {info, 0}};
  if (!isComplex)
    results.insert(results.begin(), LapackShape{values, 1});
  Vals made = lapack(e, "geev", "geev", {{a, 2}}, results,
                     "{" + flagText("compute_left", 'N') + ", " + flagText("compute_right", wantsVectors ? 'V' : 'N') + "}");
  if (isComplex)
    return {made[0], made[2]};
  return {e.op("stablehlo.complex", {made[0], made[1]}), made[3]};
}

//===-- Symmetric indefinite matrices ---------------------------------------===//

/// Arguments: self, hermitian, check_errors.
Vals ldlFactor(const Call &c) {
  Val a = c.val(0);
  if (!a)
    return Vals(3);
  Ints batch = batched(a.dims(), 2);
  Vals made = lapack(c.e, "sytrf", c.flag(1) ? "hetrf" : "sytrf", {{a, 2}},
                     {{a.shape, 2}, {{DType::I32, batched(a.dims(), 1)}, 1}, {{DType::I32, batch}, 0}}, "{" + flagText("uplo", 'L') + "}");
  return {triangle(c.e, made[0], true), made[1], made[2]};
}

/// Arguments: LD, pivots, B, hermitian.
Vals ldlSolve(const Call &c) {
  Val factors = c.val(0), pivots = c.val(1), b = c.val(2);
  if (!factors || !pivots || !b)
    return {Val()};
  if (b.shape.count() == 0)
    return {zero(c.e, c.out())};
  Ints batch = commonBatch(batched(factors.dims(), 2), batched(b.dims(), 2));
  b = withBatch(c.e, b, batch);
  return lapack(c.e, "sytrs", c.flag(3) ? "hetrs" : "sytrs",
                {{withBatch(c.e, factors, batch), 2}, {withBatch(c.e, pivots, batch, 1), 1}, {b, 2}}, {{b.shape, 2}},
                "{" + flagText("uplo", 'L') + "}");
}

//===-- Triangular matrices -------------------------------------------------===//

/// Arguments: A, B, upper, left, unitriangular.
Vals solveTriangularOp(const Call &c) {
  Val a = c.val(0), b = c.val(1);
  if (!a || !b)
    return {Val()};
  Ints batch = commonBatch(batched(a.dims(), 2), batched(b.dims(), 2));
  return {solveTriangular(c.e, withBatch(c.e, a, batch), withBatch(c.e, b, batch), c.flag(3, true), !c.flag(2), 'N', c.flag(4))};
}

/// Arguments: B, A, upper, transpose, unitriangular.
Vals triangularSolve(const Call &c) {
  Val b = c.val(0), a = c.val(1);
  if (!a || !b)
    return Vals(2);
  Ints batch = commonBatch(batched(a.dims(), 2), batched(b.dims(), 2));
  a = withBatch(c.e, a, batch);
  return {solveTriangular(c.e, a, withBatch(c.e, b, batch), true, !c.flag(2, true), c.flag(3) ? 'T' : 'N', c.flag(4)), a};
}

} // namespace

void registerFactorizations(Registry &r) {
  r.add({"linalg_cholesky_ex"}, [](const Call &c) { return choleskyFactor(c.e, c.val(0), c.flag(1)); });
  r.add({"_cholesky_solve_helper", "cholesky_solve"}, choleskySolveOp);
  r.add({"cholesky_inverse"}, choleskyInverse);
  r.add({"linalg_lu_factor_ex"}, luFactor);
  r.add({"linalg_lu"}, lu);
  r.add({"lu_unpack"}, luUnpack);
  r.add({"linalg_lu_solve"}, luSolve);
  r.add({"linalg_inv_ex"}, inverse);
  r.add({"linalg_qr"}, qr);
  r.add({"geqrf"}, [](const Call &c) { return reflectors(c.e, c.val(0)); });
  r.add({"linalg_householder_product"}, [](const Call &c) -> Vals { return {product(c.e, c.val(0), c.val(1))}; });
  r.add({"ormqr"}, multiplyByQ);
  r.add({"_linalg_svd"}, svd);
  r.add({"_linalg_eigh"}, eigh);
  r.add({"linalg_eig"}, [](const Call &c) { return eig(c.e, c.val(0), true); });
  r.add({"_linalg_eigvals"}, [](const Call &c) -> Vals { return {eig(c.e, c.val(0), false)[0]}; });
  r.add({"linalg_ldl_factor_ex"}, ldlFactor);
  r.add({"linalg_ldl_solve"}, ldlSolve);
  r.add({"linalg_solve_triangular"}, solveTriangularOp);
  r.add({"triangular_solve"}, triangularSolve);
}

} // namespace millrace::tracing
