// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matrices.h - Helpers for operators on batches of matrices -----------===//
// The last two dims are a matrix, all others are batch dims. Factorizations are calls of LAPACK (runtime/lapack).
#pragma once
#include "tracing/emit/Emit.h"

namespace millrace::tracing::matrices {

using Vals = std::vector<Val>;

/// Returns all dims but the last `rank`, followed by `inner`.
Ints batched(const Ints &dims, int64_t rank, const Ints &inner = {});
/// Returns the batch dims of two operands, broadcast by NumPy's rule.
Ints commonBatch(const Ints &a, const Ints &b);
/// Broadcasts `x` to the batch dims `batch`; its last `rank` dims stay.
Val withBatch(Emitter &e, const Val &x, const Ints &batch, int64_t rank = 2);

Val conj(Emitter &e, const Val &x);
Val transposed(Emitter &e, const Val &x);
Val adjoint(Emitter &e, const Val &x);
Val multiply(Emitter &e, const Val &a, const Val &b);
/// Returns the element type of the real part of complex numbers.
DType realType(DType dtype);
/// Returns 1 where row == column, else 0.
Val identity(Emitter &e, const Shape &shape);
/// Returns the elements on and below (lower) or above the diagonal, and zero elsewhere.
Val triangle(Emitter &e, const Val &x, bool lower, int64_t diagonal = 0);
Val diagonal(Emitter &e, const Val &x);
/// Returns x * row[..., None, :].
Val scaleColumns(Emitter &e, const Val &x, const Val &row);

/// An operand or a result of a LAPACK routine: its last `rank` dims are a matrix (column-major), a vector or a scalar.
struct LapackShape {
  Shape shape;
  int64_t rank = 2;
};
/// Calls lapack_<s|d|c|z><name>_ffi, whose name differs for complex types; `config` is the text of its attributes. Matrices without elements are not
/// factorized: the results are zeros.
Vals lapack(Emitter &e, const std::string &real, const std::string &complex, const std::vector<std::pair<Val, int64_t>> &operands,
            const std::vector<LapackShape> &results, const std::string &config);
/// Returns the text of an attribute of one character, for example "{uplo = 76 : ui8}".
std::string flagText(const std::string &name, char value);

/// Solves op(a) x = b, or x op(a) = b; `transposition` is 'N', 'T' or 'C'.
Val solveTriangular(Emitter &e, const Val &a, const Val &b, bool left, bool lower, char transposition, bool unit);

struct Lu {
  Val factors, pivots, info;
};
Lu factorize(Emitter &e, const Val &a);
/// Returns the permutation p as [..., m]: row i of the permuted matrix is row p[i] of the original one.
Val permutation(Emitter &e, const Val &pivots, int64_t rows, bool inverse);
Val takeRows(Emitter &e, const Val &x, const Val &rows);
/// Solves a x = b (or a^H x = b) with the factors of a; all operands have the same batch dims.
Val solveFactorized(Emitter &e, const Val &factors, const Val &pivots, const Val &b, bool isAdjoint);

} // namespace millrace::tracing::matrices
