// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementSyntax.cpp - Text of data movement ops -----------------===//
#include "dialects/stablehlo/DataMovementOps.h"

using namespace mlir;
namespace millrace::stablehlo {

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), isa<IntegerType>(getType().getElementType()) ? "c" : "cst");
}

// The form is `stablehlo.constant {attrs} dense<1> : tensor<i8>`. A quantized result, whose type differs from the value's, has the form
// `stablehlo.constant() <{value = dense<1> : tensor<i8>}> : () -> tensor<!quant...>`.
void ConstantOp::print(OpAsmPrinter &printer) {
  if (getValue().getType() == getType()) {
    printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
    printer << ' ';
    printer.printAttribute(getValue());
    return;
  }
  printer << "() <{value = ";
  printer.printAttribute(getValue());
  printer << "}>";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << " : () -> ";
  printer.printType(getType());
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalLParen())) {
    Type type;
    if (parser.parseRParen())
      return failure();
    if (succeeded(parser.parseOptionalLess())) {
      Attribute value;
      if (parser.parseLBrace() || parser.parseKeyword("value") || parser.parseEqual() ||
          parser.parseAttribute(value) || parser.parseRBrace() || parser.parseGreater())
        return failure();
      result.addAttribute("value", value);
    }
    if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() || parser.parseLParen() ||
        parser.parseRParen() || parser.parseArrow() || parser.parseType(type))
      return failure();
    result.addTypes(type);
    return success();
  }
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseAttribute(value))
    return failure();
  result.addAttribute("value", value);
  result.addTypes(value.getShapedType());
  return success();
}

} // namespace millrace::stablehlo
