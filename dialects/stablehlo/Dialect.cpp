// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.cpp - StableHLO dialect registration -----------------------===//
#include "dialects/stablehlo/Ops.h"
#include "mlir/Dialect/Quant/IR/Quant.h"

using namespace mlir;
namespace millrace::stablehlo {

void StablehloDialect::initialize() {
  registerElementwiseOps();
  registerDataMovementOps();
  registerIndexingOps();
  registerContractionOps();
  registerReductionOps();
  registerControlFlowOps();
  registerCollectiveOps();
  registerDynamismOps();
  registerRandomOps();
  registerAttributes();
  registerTypes();
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  // Only a constant of exactly this type is possible, because the operation infers its type from the attribute.
  if (!elements || !tensor || !tensor.hasStaticShape() || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

} // namespace millrace::stablehlo

#include "dialects/stablehlo/Dialect.cpp.inc"
