// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matrices.h - What operators on batches of matrices share ------------===//
// The last two dims are a matrix, all others the batch. Factorizations are calls of LAPACK (runtime/lapack).
#pragma once
#include "tracing/Emit.h"

namespace millrace::tracing::matrices {

using Vals = std::vector<Val>;

/// All dims but the last `rank`, and `inner` behind them.
Ints batched(const Ints &dims, int64_t rank, const Ints &inner = {});
/// NumPy's rule for the batch dims of two operands.
Ints commonBatch(const Ints &a, const Ints &b);
/// `x` with the batch dims `batch` and its own last `rank` dims.
Val withBatch(Emitter &e, const Val &x, const Ints &batch, int64_t rank = 2);

Val conj(Emitter &e, const Val &x);
Val transposed(Emitter &e, const Val &x);
Val adjoint(Emitter &e, const Val &x);
Val multiply(Emitter &e, const Val &a, const Val &b);
/// The real part of the type of complex numbers.
DType realType(DType dtype);
/// 1 where row == column.
Val identity(Emitter &e, const Shape &shape);
/// Elements on and below (lower) or above the diagonal; zero elsewhere.
Val triangle(Emitter &e, const Val &x, bool lower, int64_t diagonal = 0);
Val diagonal(Emitter &e, const Val &x);
/// x * row[..., None, :]
Val scaleColumns(Emitter &e, const Val &x, const Val &row);

/// An operand or a result of a routine: its last `rank` dims are one matrix (column by column), vector or number.
struct Part {
  Shape shape;
  int64_t rank = 2;
};
/// lapack_<s|d|c|z><name>_ffi, with another name for complex types; `config` is the text of its attributes. Matrices without
/// elements are not factorized: results are zeros.
Vals lapack(Emitter &e, const std::string &real, const std::string &complex, const std::vector<std::pair<Val, int64_t>> &operands,
            const std::vector<Part> &results, const std::string &config);
/// "{uplo = 76 : ui8}"
std::string flagText(const std::string &name, char value);

/// op(a) x = b or x op(a) = b; transposition is 'N', 'T' or 'C'.
Val solveTriangular(Emitter &e, const Val &a, const Val &b, bool left, bool lower, char transposition, bool unit);

struct Lu {
  Val factors, pivots, info;
};
Lu factorize(Emitter &e, const Val &a);
/// [..., m]: row i of the permuted matrix is row p[i] of the given one.
Val permutation(Emitter &e, const Val &pivots, int64_t rows, bool inverse);
Val takeRows(Emitter &e, const Val &x, const Val &rows);
/// a x = b (or a^H x = b) for factors of a; all with the same batch.
Val solveFactorized(Emitter &e, const Val &factors, const Val &pivots, const Val &b, bool isAdjoint);

} // namespace millrace::tracing::matrices
