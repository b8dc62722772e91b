// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matrices.cpp - Helpers for operators on batches of matrices ---------===//
#include "tracing/emit/Matrices.h"

#include <algorithm>
#include <numeric>

namespace millrace::tracing::matrices {

Ints batched(const Ints &dims, int64_t rank, const Ints &inner) {
  Ints made(dims.begin(), dims.end() - rank);
  made.insert(made.end(), inner.begin(), inner.end());
  return made;
}

Ints commonBatch(const Ints &a, const Ints &b) {
  Ints made(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < made.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    made[made.size() - 1 - i] = x == 1 ? y : x;
  }
  return made;
}

Val withBatch(Emitter &e, const Val &x, const Ints &batch, int64_t rank) {
  if (!x)
    return x;
  Ints dims = batch;
  dims.insert(dims.end(), x.dims().end() - rank, x.dims().end());
  return e.broadcast(x, dims);
}

Val conj(Emitter &e, const Val &x) {
  if (!x || !runtime::isComplex(x.dtype()))
    return x;
  return e.op("stablehlo.complex", {e.op("stablehlo.real", {x}), e.neg(e.op("stablehlo.imag", {x}))});
}

Val transposed(Emitter &e, const Val &x) {
  if (!x)
    return x;
  Ints order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return e.transpose(x, order);
}

Val adjoint(Emitter &e, const Val &x) { return conj(e, transposed(e, x)); }

Val multiply(Emitter &e, const Val &a, const Val &b) {
  if (!a || !b)
    return {};
  Ints batch(a.rank() - 2);
  std::iota(batch.begin(), batch.end(), 0);
  return e.dot(a, b, batch, batch, {a.rank() - 1}, {b.rank() - 2});
}

DType realType(DType dtype) {
  return dtype == DType::C64 ? DType::F32 : dtype == DType::C128 ? DType::F64 : dtype;
}

/// Compares the row and column indices of the elements of a matrix.
static Val positions(Emitter &e, const Ints &dims, int64_t diagonal, const char *direction) {
  Shape index{DType::I32, {dims[dims.size() - 2], dims.back()}};
  Val row = e.iota(index, 0), column = e.iota(index, 1);
  if (diagonal)
    row = e.add(row, e.constant(diagonal, index));
  return e.compare(column, row, direction);
}

Val identity(Emitter &e, const Shape &shape) {
  return e.broadcast(e.convert(positions(e, shape.dims, 0, "EQ"), shape.dtype), shape.dims);
}

Val triangle(Emitter &e, const Val &x, bool lower, int64_t diagonal) {
  if (!x)
    return x;
  Val keep = e.broadcast(positions(e, x.dims(), diagonal, lower ? "LE" : "GE"), x.dims());
  return e.select(keep, x, e.constant(int64_t(0), x.shape));
}

Val diagonal(Emitter &e, const Val &x) {
  if (!x)
    return x;
  Ints dims = batched(x.dims(), 2, {std::min(x.dim(-1), x.dim(-2))});
  if (x.shape.count() == 0)
    return e.constant(int64_t(0), {x.dtype(), dims});
  int64_t n = dims.back();
  Val square = e.sliceDim(e.sliceDim(x, x.rank() - 2, 0, n), x.rank() - 1, 0, n);
  Val isDiagonal = e.broadcast(positions(e, square.dims(), 0, "EQ"), square.dims());
  Val kept = e.select(isDiagonal, square, e.constant(int64_t(0), square.shape));
  return e.reduce(kept, e.constant(int64_t(0), {x.dtype(), {}}), {x.rank() - 2}, "stablehlo.add");
}

Val scaleColumns(Emitter &e, const Val &x, const Val &row) {
  if (!x || !row)
    return {};
  Ints mapping(row.rank());
  std::iota(mapping.begin(), mapping.end(), 0);
  mapping.back() = x.rank() - 1;
  return e.mul(x, e.broadcastInDim(row, x.dims(), mapping));
}

/// Returns a layout, minor to major, of column-major matrices with the batch dims as the major ones.
static std::string layoutText(int64_t total, int64_t rank) {
  Ints order;
  if (rank == 2)
    order = {total - 2, total - 1};
  else if (rank == 1)
    order = {total - 1};
  for (int64_t i = total - rank - 1; i >= 0; --i)
    order.push_back(i);
  std::string text = "dense<";
  if (!order.empty()) {
    text += "[";
    for (size_t i = 0; i < order.size(); ++i)
      text += (i ? ", " : "") + std::to_string(order[i]);
    text += "]";
  }
  return text + "> : tensor<" + std::to_string(total) + "xindex>";
}

static Vals call(Emitter &e, const std::string &target, const std::vector<std::pair<Val, int64_t>> &operands,
                 const std::vector<LapackShape> &results, const std::string &config) {
  Vals values, made;
  std::vector<Shape> shapes;
  std::string operandLayouts = "[", resultLayouts = "[";
  for (const auto &[value, rank] : operands) {
    if (!value)
      return Vals(results.size());
    operandLayouts += (values.empty() ? "" : ", ") + layoutText(value.rank(), rank);
    values.push_back(value);
  }
  bool isEmpty = values[0].shape.count() == 0;
  for (const LapackShape &part : results) {
    resultLayouts += (shapes.empty() ? "" : ", ") + layoutText(int64_t(part.shape.dims.size()), part.rank);
    shapes.push_back(part.shape);
    if (isEmpty)
      made.push_back(e.constant(int64_t(0), part.shape));
  }
  if (isEmpty)
    return made;
  return e.ops("stablehlo.custom_call", values,
               {{"call_target_name", "\"" + target + "\""},
                {"api_version", "4 : i32"},
                {"backend_config", config},
                {"operand_layouts", operandLayouts + "]"},
                {"result_layouts", resultLayouts + "]"}},
               shapes);
}

Vals lapack(Emitter &e, const std::string &real, const std::string &complex, const std::vector<std::pair<Val, int64_t>> &operands,
            const std::vector<LapackShape> &results, const std::string &config) {
  if (!operands[0].first)
    return Vals(results.size());
  DType type = operands[0].first.dtype();
  std::string prefix = type == DType::F32 ? "s" : type == DType::F64 ? "d" : type == DType::C64 ? "c" : "z";
  if (!runtime::isComplex(type) && type != DType::F32 && type != DType::F64)
    return Vals(results.size(), e.fail("LAPACK has no routines for this type"));
  return call(e, "lapack_" + prefix + (runtime::isComplex(type) ? complex : real) + "_ffi", operands, results, config);
}

std::string flagText(const std::string &name, char value) { return name + " = " + std::to_string(int(value)) + " : ui8"; }

Val solveTriangular(Emitter &e, const Val &a, const Val &b, bool left, bool lower, char transposition, bool unit) {
  if (!a || !b)
    return {};
  if (b.shape.count() == 0 || a.shape.count() == 0)
    return e.constant(int64_t(0), b.shape);
  return lapack(e, "trsm", "trsm", {{a, 2}, {b, 2}}, {{b.shape, 2}},
                "{" + flagText("side", left ? 'L' : 'R') + ", " + flagText("uplo", lower ? 'L' : 'U') + ", " +
                    flagText("trans_x", transposition) + ", " + flagText("diag", unit ? 'U' : 'N') + "}")[0];
}

Lu factorize(Emitter &e, const Val &a) {
  if (!a)
    return {};
  Shape pivots{DType::I32, batched(a.dims(), 2, {std::min(a.dim(-1), a.dim(-2))})}, info{DType::I32, batched(a.dims(), 2)};
  Vals made = lapack(e, "getrf", "getrf", {{a, 2}}, {{a.shape, 2}, {pivots, 1}, {info, 0}}, "{}");
  return {made[0], made[1], made[2]};
}

Val permutation(Emitter &e, const Val &pivots, int64_t rows, bool inverse) {
  if (!pivots)
    return {};
  Shape shape{DType::I32, batched(pivots.dims(), 1, {rows})};
  if (pivots.shape.count() == 0)
    return e.iota(shape, int64_t(shape.dims.size()) - 1);
  return call(e, "millrace_pivots_to_permutation", {{pivots, 1}}, {{shape, 1}},
              std::string("{inverse = ") + (inverse ? "true" : "false") + "}")[0];
}

Val takeRows(Emitter &e, const Val &x, const Val &rows) {
  if (!x || !rows || x.shape.count() == 0)
    return x;
  int64_t m = x.dim(-2), k = x.dim(-1), count = x.shape.count() / (m * k), taken = rows.dim(-1);
  Val flat = e.reshape(x, {count, m, k}), index = e.reshape(rows, {count, taken, 1});
  index = e.concatenate({e.iota(index.shape, 0), index}, 2);
  Ints dims = batched(x.dims(), 2, {taken, k});
  Val made = e.op("stablehlo.gather", {flat, index},
                  {{"dimension_numbers", "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], "
                                         "start_index_map = [0, 1], index_vector_dim = 2>"},
                   {"slice_sizes", arrayText({1, 1, k})}},
                  Shape{x.dtype(), {count, taken, k}});
  return e.reshape(made, dims);
}

Val solveFactorized(Emitter &e, const Val &factors, const Val &pivots, const Val &b, bool isAdjoint) {
  if (!factors || !pivots || !b)
    return {};
  int64_t n = factors.dim(-1);
  if (!isAdjoint) {
    Val x = takeRows(e, b, permutation(e, pivots, n, false));
    x = solveTriangular(e, factors, x, true, true, 'N', true);
    return solveTriangular(e, factors, x, true, false, 'N', false);
  }
  Val x = solveTriangular(e, factors, b, true, false, 'C', false);
  x = solveTriangular(e, factors, x, true, true, 'C', true);
  return takeRows(e, x, permutation(e, pivots, n, true));
}

} // namespace millrace::tracing::matrices
