// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ComplexCalls.cpp - Call complex functions of the runtime -----------===//
// Input:   "cbrt" of a complex<f32> value
// Output:  %re, %im = func.call @millrace_rt_ccbrtf(%x, %y) : (f64, f64) -> (f64, f64), and its declaration
#include "lowering/linalg/scalar/ComplexCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace millrace::lowering {

Value emitComplexCall(ScalarBuilder &b, StringRef name, ValueRange operands) {
  Type part = cast<ComplexType>(operands.front().getType()).getElementType();
  Type f64 = b.builder.getF64Type();
  std::string symbol = ("millrace_rt_c" + name + (part.isF32() ? "f" : "")).str();
  // The builder may be in the region of an operation under construction, which has no parent yet.
  Operation *parent = b.builder.getInsertionBlock()->getParentOp();
  auto module = parent ? parent->getParentOfType<ModuleOp>() : ModuleOp();
  if (!module)
    return {};
  SmallVector<Value> parts;
  for (Value operand : operands) {
    parts.push_back(b.extf(b.re(operand), f64));
    parts.push_back(b.extf(b.im(operand), f64));
  }
  auto type = b.builder.getFunctionType(SmallVector<Type>(parts.size(), f64), {f64, f64});
  if (!module.lookupSymbol<func::FuncOp>(symbol)) {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(module.getBody());
    func::FuncOp::create(b.builder, b.loc, symbol, type).setPrivate();
  }
  auto call = func::CallOp::create(b.builder, b.loc, symbol, type.getResults(), parts);
  return b.complex(b.truncf(call.getResult(0), part), b.truncf(call.getResult(1), part));
}

} // namespace millrace::lowering
