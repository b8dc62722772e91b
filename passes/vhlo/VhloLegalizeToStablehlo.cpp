// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VhloLegalizeToStablehlo.cpp - Portable format -> StableHLO, func ---===//
// Input:   vhlo.func_v1 @f(%x: !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> (...) { "vhlo.sort_v1"(%x) <{dimension = -1, ...}> ... }
// Output:  func.func @f(%x: tensor<2xf32>) -> ... { "stablehlo.sort"(%x) ... }     // defaults are left out
// Leaves alone operations of other dialects, but their values get builtin types, and casts between both kinds disappear.
#include "passes/vhlo/Passes.h"

#include "dialects/stablehlo/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "passes/vhlo/Attributes.h"
#include "passes/vhlo/OpMap.h"
#include "passes/vhlo/Rebuild.h"

using namespace mlir;

namespace millrace::vhlo {

#define GEN_PASS_DEF_VHLOLEGALIZETOSTABLEHLOPASS
#include "passes/vhlo/Passes.h.inc"

static LogicalResult legalizeOp(Operation *op) {
  const OpDef *def = opDef(op);
  if (!def->existsIn(currentVersion))
    return op->emitOpError("is an older version of an operation: convert to version ") << currentVersion.str()
                                                                                      << " first";
  NamedAttrList attributes;
  if (failed(attributesFromVhlo(op, *def, attributes)))
    return failure();
  std::string name = stablehloName(op, *def);
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(OperationName(name, op->getContext()).verifyInherentAttrs(attributes, emitError)))
    return failure();
  replace(op, rebuild(op, name, op->getOperands(), attributes));
  return success();
}

LogicalResult legalizeToStablehlo(ModuleOp module) {
  if (failed(retypeValues(module, [](Type type, Operation *owner) {
        return fromVhlo(type, [&] { return owner->emitOpError(); });
      })))
    return failure();
  // A function comes before its operations, because it decides whether a return is one of func.
  SmallVector<Operation *> portable;
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (opDef(op))
      portable.push_back(op);
    else if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
      casts.push_back(cast);
  });
  for (Operation *op : portable)
    if (failed(legalizeOp(op)))
      return failure();
  for (UnrealizedConversionCastOp cast : casts) {
    if (cast.getOperandTypes() != cast.getResultTypes())
      return cast.emitOpError("is not one between a type and its portable form");
    cast.replaceAllUsesWith(cast.getInputs());
    cast.erase();
  }
  return success();
}

namespace {
struct LegalizeToStablehlo : impl::VhloLegalizeToStablehloPassBase<LegalizeToStablehlo> {
  void runOnOperation() override {
    if (failed(legalizeToStablehlo(getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace millrace::vhlo
