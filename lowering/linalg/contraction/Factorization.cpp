// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Factorization.cpp - cholesky, triangular_solve to loops ------------===//
// Input:   stablehlo.cholesky %a, lower = true
// Output:  scf.for over batches, rows and columns: l(i, j) = (a(i, j) - sum_k l(i, k) conj(l(j, k))) / l(j, j), zeros in the
//          other triangle; the inner sum reads two contiguous rows. `lower = false` writes conj(l(i, j)) to (j, i).
// Input:   "stablehlo.triangular_solve"(%a, %b) <{left_side, lower, transpose_a, unit_diagonal}>
// Output:  substitution row by row; on the left side whole rows of the right-hand side are updated at a time
// Floats narrower than f32 are computed in f32. Only the triangle named by `lower` is read. Pivots are not checked: a matrix
// that is not positive definite gives NaN, a singular one infinities.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns f32 for narrower floats, otherwise the type itself.
Type workElement(Type element) {
  auto floatType = dyn_cast<FloatType>(element);
  return floatType && floatType.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

Value conjugate(LoopBuilder &l, Value value) {
  auto complexType = dyn_cast<ComplexType>(value.getType());
  if (!complexType)
    return value;
  // complex.conj is not used, because it becomes a call of the C library.
  Value im = arith::NegFOp::create(l.b, l.loc, complex::ImOp::create(l.b, l.loc, value));
  return complex::CreateOp::create(l.b, l.loc, complexType, complex::ReOp::create(l.b, l.loc, value), im);
}

Value subtract(LoopBuilder &l, Value lhs, Value rhs) {
  if (isa<ComplexType>(lhs.getType()))
    return complex::SubOp::create(l.b, l.loc, lhs, rhs);
  return arith::SubFOp::create(l.b, l.loc, lhs, rhs);
}

Value divide(LoopBuilder &l, Value lhs, Value rhs) {
  if (isa<ComplexType>(lhs.getType()))
    return complex::DivOp::create(l.b, l.loc, lhs, rhs);
  return arith::DivFOp::create(l.b, l.loc, lhs, rhs);
}

/// Returns the square root of the real part, because the diagonal of a Hermitian matrix is real.
Value squareRoot(LoopBuilder &l, Value value) {
  auto complexType = dyn_cast<ComplexType>(value.getType());
  if (!complexType)
    return math::SqrtOp::create(l.b, l.loc, value);
  Value re = math::SqrtOp::create(l.b, l.loc, complex::ReOp::create(l.b, l.loc, value));
  return complex::CreateOp::create(l.b, l.loc, complexType, re, l.zero(complexType.getElementType()));
}

SmallVector<Value> withMatrix(ValueRange batch, Value row, Value column) {
  SmallVector<Value> indices = llvm::to_vector(batch);
  indices.push_back(row);
  indices.push_back(column);
  return indices;
}

struct CholeskyPattern : OpConversionPattern<stablehlo::CholeskyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::CholeskyOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Value a = adaptor.getA();
    auto type = cast<RankedTensorType>(a.getType());
    Type element = getElementTypeOrSelf(op.getType()), work = workElement(element);
    bool lower = op.getLower();
    SmallVector<Value> sizes = l.dims(a);
    Value size = sizes.back();
    auto workType = RankedTensorType::get(type.getShape(), work);
    Value start = l.fill(l.zero(work), l.empty(workType, l.foldedDims(a)));

    auto perMatrix = [&](LoopBuilder &outer, ValueRange batch, ValueRange carried) {
      auto at = [&](Value i, Value j) { return lower ? withMatrix(batch, i, j) : withMatrix(batch, j, i); };
      Value zero = outer.index(0), one = outer.index(1);
      return outer.loop(zero, size, one, carried, [&](LoopBuilder &row, ValueRange i, ValueRange rowState) {
        Value rowEnd = row.add(i[0], one);
        return row.loop(zero, rowEnd, one, rowState, [&](LoopBuilder &column, ValueRange j, ValueRange state) {
          Value value = toCompute(column.b, column.loc, column.extract(a, at(i[0], j[0])), element);
          value = convertElement(column, value, element, work);
          // For `lower = false` the factor is stored conjugated in its own triangle, so that products of two elements are conjugated back.
          if (!lower)
            value = conjugate(column, value);
          Value sum = column.loop(zero, j[0], one, value, [&](LoopBuilder &in, ValueRange k, ValueRange running) {
            Value left = in.extract(state[0], at(i[0], k[0])), right = in.extract(state[0], at(j[0], k[0]));
            (lower ? right : left) = conjugate(in, lower ? right : left);
            return SmallVector<Value>{subtract(in, running[0], multiplyElements(in, left, right, work))};
          })[0];
          Value isDiagonal = column.compare(arith::CmpIPredicate::eq, i[0], j[0]);
          auto chosen = scf::IfOp::create(column.b, column.loc, TypeRange{work}, isDiagonal, /*withElseRegion=*/true);
          {
            OpBuilder::InsertionGuard guard(column.b);
            column.b.setInsertionPointToStart(chosen.thenBlock());
            scf::YieldOp::create(column.b, column.loc, squareRoot(column, sum));
            column.b.setInsertionPointToStart(chosen.elseBlock());
            Value quotient = divide(column, sum, column.extract(state[0], at(j[0], j[0])));
            scf::YieldOp::create(column.b, column.loc, lower ? quotient : conjugate(column, quotient));
          }
          return SmallVector<Value>{column.insert(chosen.getResult(0), state[0], at(i[0], j[0]))};
        });
      });
    };
    Value result = l.nest(ArrayRef(sizes).drop_back(2), start, perMatrix)[0];
    if (type.getRank() > 2)
      markParallel(result, kParallelRowsAttr);
    rewriter.replaceOp(op, convertTensor(l, result, work, element));
    return success();
  }
};

struct TriangularSolvePattern : OpConversionPattern<stablehlo::TriangularSolveOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TriangularSolveOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Value a = adaptor.getA(), b = adaptor.getB();
    Type element = getElementTypeOrSelf(op.getType()), work = workElement(element);
    bool isTransposed = op.getTransposeA() == stablehlo::Transpose::TRANSPOSE ||
                        op.getTransposeA() == stablehlo::Transpose::ADJOINT;
    bool isAdjoint = op.getTransposeA() == stablehlo::Transpose::ADJOINT;
    bool isLower = op.getLower() != isTransposed; // whether op(a) is lower triangular
    bool isUnit = op.getUnitDiagonal();
    Value start = convertTensor(l, b, element, work);
    SmallVector<Value> sizes = l.dims(b);
    Value rows = sizes[sizes.size() - 2], columns = sizes.back();
    ArrayRef<Value> batchSizes = ArrayRef(sizes).drop_back(2);

    // Returns op(a)(i, j).
    auto matrix = [&](LoopBuilder &in, ValueRange batch, Value i, Value j) {
      Value value = in.extract(a, isTransposed ? withMatrix(batch, j, i) : withMatrix(batch, i, j));
      value = convertElement(in, toCompute(in.b, in.loc, value, element), element, work);
      return isAdjoint ? conjugate(in, value) : value;
    };
    Value zero = l.index(0), one = l.index(1);

    // Solves op(a) x = b, whose unknowns are rows: from the first row down if op(a) is lower triangular, else from the last one up.
    auto solveLeft = [&](LoopBuilder &outer, ValueRange batch, ValueRange carried) {
      return outer.loop(zero, rows, one, carried, [&](LoopBuilder &step, ValueRange iv, ValueRange state) {
        Value i = isLower ? iv[0] : step.sub(step.sub(rows, one), iv[0]);
        Value from = isLower ? zero : step.add(i, one), to = isLower ? i : rows;
        auto eliminated = step.loop(from, to, one, state, [&](LoopBuilder &known, ValueRange k, ValueRange current) {
          Value factor = matrix(known, batch, i, k[0]);
          return known.loop(zero, columns, one, current, [&](LoopBuilder &in, ValueRange j, ValueRange x) {
            Value product = multiplyElements(in, factor, in.extract(x[0], withMatrix(batch, k[0], j[0])), work);
            Value value = subtract(in, in.extract(x[0], withMatrix(batch, i, j[0])), product);
            return SmallVector<Value>{in.insert(value, x[0], withMatrix(batch, i, j[0]))};
          });
        });
        if (isUnit)
          return eliminated;
        Value pivot = matrix(step, batch, i, i);
        return step.loop(zero, columns, one, eliminated, [&](LoopBuilder &in, ValueRange j, ValueRange x) {
          Value value = divide(in, in.extract(x[0], withMatrix(batch, i, j[0])), pivot);
          return SmallVector<Value>{in.insert(value, x[0], withMatrix(batch, i, j[0]))};
        });
      });
    };
    // Solves x op(a) = b, whose unknowns are columns, for each row of b separately: from the first column on if op(a) is upper triangular. A solved
    // unknown is eliminated from the rest of its row.
    auto solveRight = [&](LoopBuilder &outer, ValueRange batch, ValueRange carried) {
      return outer.loop(zero, rows, one, carried, [&](LoopBuilder &perRow, ValueRange r, ValueRange rowState) {
        return perRow.loop(zero, columns, one, rowState, [&](LoopBuilder &step, ValueRange iv, ValueRange state) {
          Value j = isLower ? step.sub(step.sub(columns, one), iv[0]) : iv[0];
          Value value = step.extract(state[0], withMatrix(batch, r[0], j));
          Value solved = state[0];
          if (!isUnit) {
            value = divide(step, value, matrix(step, batch, j, j));
            solved = step.insert(value, solved, withMatrix(batch, r[0], j));
          }
          Value from = isLower ? zero : step.add(j, one), to = isLower ? j : columns;
          return step.loop(from, to, one, solved, [&](LoopBuilder &in, ValueRange k, ValueRange x) {
            Value product = multiplyElements(in, value, matrix(in, batch, j, k[0]), work);
            Value rest = subtract(in, in.extract(x[0], withMatrix(batch, r[0], k[0])), product);
            return SmallVector<Value>{in.insert(rest, x[0], withMatrix(batch, r[0], k[0]))};
          });
        });
      });
    };
    Value result = op.getLeftSide() ? l.nest(batchSizes, start, solveLeft)[0] : l.nest(batchSizes, start, solveRight)[0];
    if (!batchSizes.empty())
      markParallel(result, kParallelRowsAttr);
    rewriter.replaceOp(op, l.cast(convertTensor(l, result, work, element), getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void populateFactorizationPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CholeskyPattern, TriangularSolvePattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
