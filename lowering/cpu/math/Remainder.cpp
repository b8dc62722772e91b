// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Remainder.cpp - The remainder of a division ------------------------===//
#include "lowering/cpu/math/Functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using CmpF = arith::CmpFPredicate;

namespace millrace::lowering {

Value remainder(MathBuilder &b, Value x, Value y, function_ref<Value()> far) {
  Type type = x.getType();
  Value ax = b.absf(x), ay = b.absf(y);
  Value quotient = b.divf(ax, ay);
  // Infinite numerators, zero divisors and NaN are far, too.
  Value isFar = b.cmpf(CmpF::UGE, quotient, b.isF64(x) ? 0x1p51 : 0x1p22);
  Value any = isFar;
  if (isa<VectorType>(type))
    any = vector::ReductionOp::create(b.builder, b.loc, vector::CombiningKind::OR, isFar);
  auto branch = scf::IfOp::create(b.builder, b.loc, TypeRange{type}, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b.builder, b.loc, far());
  b.builder.setInsertionPointToStart(branch.elseBlock());
  // The difference has no more bits than x or y: it is exact. Where the quotient was rounded up to an integer it is negative.
  Value n = b.floor(quotient);
  Value rest = b.fma(b.negf(n), ay, ax);
  rest = b.select(b.cmpf(CmpF::OLT, rest, 0.0), b.addf(rest, ay), rest);
  rest = b.select(b.cmpf(CmpF::OEQ, n, 0.0), ax, rest); // not 0 * inf
  scf::YieldOp::create(b.builder, b.loc, b.copysign(rest, x));
  return branch.getResult(0);
}

} // namespace millrace::lowering
