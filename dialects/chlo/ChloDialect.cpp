// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChloDialect.cpp - Registration of the CHLO dialect -----------------===//
#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/verify/TypeRules.h"
#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
#include "dialects/chlo/ChloDialect.cpp.inc"
#include "dialects/chlo/ChloEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/chlo/ChloAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/chlo/ChloOps.cpp.inc"

namespace millrace::chlo {

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/chlo/ChloOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/chlo/ChloAttrs.cpp.inc"
      >();
}

Operation *ChloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

} // namespace millrace::chlo
