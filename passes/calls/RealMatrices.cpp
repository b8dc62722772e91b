// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RealMatrices.cpp - Replace systems and factorizations by runtime calls ===//
// Input:   "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, ...}>, stablehlo.cholesky %a; JAX's form of the same:
//          stablehlo.custom_call @lapack_strsm_ffi(%a, %b), with column-major matrices; likewise spotrf, sgetrf and those of f64
// Output:  stablehlo.custom_call @millrace_triangular_solve(%a, %b) {left, lower, transposed, unit}, @millrace_cholesky(%a) {lower},
//          @millrace_lu(%a), which take row-major matrices, so that nothing is transposed
// Leaves alone complex types, dynamic shapes, other layouts, operations on tiny matrices, whose loops are compiled (strsm of those becomes one).
//===----------------------------------------------------------------------===//
#include "passes/Remarks.h"
#include "passes/calls/RuntimeCall.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
namespace {

/// Systems and factorizations with at most so many rows are computed by a kernel instead of a call. Unit: rows of the matrix. Source: judgement, not
/// measured alone; commit 24d4e28 has the figures of the whole change.
constexpr int64_t kMaxUnrolledOrder = 4;

bool isReal(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isF64();
}

NamedAttribute flag(Builder &b, StringRef name, bool value) { return b.getNamedAttr(name, b.getBoolAttr(value)); }

/// Returns true if `layouts` (minor to major) are column-major for the matrices and row-major for values of another rank.
bool isByColumns(ArrayAttr layouts, TypeRange types, int64_t matrixRank) {
  if (!layouts || layouts.size() != types.size())
    return false;
  for (auto [attribute, type] : llvm::zip_equal(layouts.getAsRange<DenseIntElementsAttr>(), types)) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    SmallVector<int64_t> wanted = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
    if (rank == matrixRank)
      std::swap(wanted[0], wanted[1]);
    if (!attribute || !llvm::equal(attribute.getValues<APInt>(), wanted, [](const APInt &a, int64_t b) { return a.getSExtValue() == b; }))
      return false;
  }
  return true;
}

/// Explains why `op` stays.
void stays(Operation *op, const Twine &why) { remarkMissed(op, "xla-call-runtime", why); }

void replace(Operation *op, StringRef target, ArrayRef<NamedAttribute> config) {
  OpBuilder b(op);
  auto call = callRuntime(b, op->getLoc(), target, op->getResultTypes(), op->getOperands(), config);
  op->replaceAllUsesWith(call);
  op->erase();
}

void callForLapack(CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (!target.consume_front("lapack_s") && !target.consume_front("lapack_d"))
    return;
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  bool isSolve = target == "trsm_ffi", isCholesky = target == "potrf_ffi", isLu = target == "getrf_ffi";
  unsigned operands = isSolve ? 2 : 1, results = isSolve ? 1 : isCholesky ? 2 : 3;
  if (!(isSolve || isCholesky || isLu))
    return;
  if (!config || op->getNumOperands() != operands || op->getNumResults() != results || !isReal(op->getOperand(0)))
    return stays(op, "its operands, results or attributes are not those of JAX");
  if (!hasStaticShapes(op))
    return stays(op, "sizes are not known");
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (rank < 2 || !isByColumns(op.getOperandLayoutsAttr(), op->getOperandTypes(), rank) ||
      !isByColumns(op.getResultLayoutsAttr(), op->getResultTypes(), rank))
    return stays(op, "its matrices are not column-major");
  auto letter = [&](StringRef name) -> char {
    auto value = config.getAs<IntegerAttr>(name);
    return value ? char(value.getValue().getLimitedValue(255)) : 0;
  };
  auto isOneOf = [&](StringRef name, StringRef letters) { return letters.contains(letter(name)); };
  // The handler of the call reports missing or wrong attributes.
  if ((!isLu && !isOneOf("uplo", "LU")) || (isSolve && !(isOneOf("side", "LR") && isOneOf("diag", "NU") && isOneOf("trans_x", "NTC"))))
    return stays(op, "an attribute is missing or unknown");
  Builder b(op);
  if (isSolve && cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back() <= kMaxUnrolledOrder) {
    OpBuilder builder(op);
    auto solve = TriangularSolveOp::create(builder, op.getLoc(), op->getResult(0).getType(), op->getOperand(0), op->getOperand(1), letter("side") == 'L',
                                           letter("uplo") == 'L', letter("diag") == 'U',
                                           letter("trans_x") == 'N' ? Transpose::NO_TRANSPOSE : Transpose::TRANSPOSE);
    op->getResult(0).replaceAllUsesWith(solve);
    return op.erase();
  }
  if (isSolve)
    return replace(op, "millrace_triangular_solve",
                   {flag(b, "left", letter("side") == 'L'), flag(b, "lower", letter("uplo") == 'L'),
                    flag(b, "transposed", letter("trans_x") != 'N'), flag(b, "unit", letter("diag") == 'U')});
  if (isCholesky)
    return replace(op, "millrace_cholesky", {flag(b, "lower", letter("uplo") == 'L')});
  replace(op, "millrace_lu", {});
}

} // namespace

void callMatrices(Operation *op) {
  if (auto call = dyn_cast<CustomCallOp>(op))
    return callForLapack(call);
  if (!hasStaticShapes(op))
    return stays(op, "sizes are not known");
  if (!isReal(op->getOperand(0)))
    return stays(op, "its elements are not f32 or f64");
  if (int64_t order = cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back(); order <= kMaxUnrolledOrder)
    return stays(op, "a kernel computes matrices of " + Twine(order) + " rows faster");
  Builder b(op);
  if (auto cholesky = dyn_cast<CholeskyOp>(op))
    return replace(op, "millrace_cholesky", {flag(b, "lower", cholesky.getLower())});
  auto solve = cast<TriangularSolveOp>(op);
  bool isTransposed = solve.getTransposeA() == Transpose::TRANSPOSE || solve.getTransposeA() == Transpose::ADJOINT;
  replace(op, "millrace_triangular_solve",
          {flag(b, "left", solve.getLeftSide()), flag(b, "lower", solve.getLower()), flag(b, "transposed", isTransposed),
           flag(b, "unit", solve.getUnitDiagonal())});
}

} // namespace millrace::calls
