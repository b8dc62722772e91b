// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementSyntax.cpp - Text of data movement ops -----------------===//
#include "dialects/stablehlo/DataMovementOps.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace mlir;
namespace millrace::stablehlo {

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), isa<IntegerType>(getType().getElementType()) ? "c" : "cst");
}

// `stablehlo.constant {attrs} dense<1> : tensor<i8>`; a quantized result, whose type differs from the value's, takes
// the form `stablehlo.constant() <{value = dense<1> : tensor<i8>}> : () -> tensor<!quant...>`.
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

/// `dense<"0x...">` of booleans with one byte per element, as newer MLIR writes it; this MLIR packs 8 into one.
/// Everything else is left to the builtin parser, which gives no way back: so look at the text first.
static OptionalParseResult parseByteBools(OpAsmParser &parser, ElementsAttr &value) {
  const char *text = parser.getCurrentLocation().getPointer();
  if (!StringRef(text, strnlen(text, 9)).starts_with("dense<\"0x"))
    return std::nullopt;
  SMLoc loc = parser.getCurrentLocation();
  std::string digits, bytes;
  Type type;
  if (parser.parseKeyword("dense") || parser.parseLess() || parser.parseString(&digits) || parser.parseGreater() ||
      parser.parseColonType(type))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return parser.emitError(loc, "expected a tensor of static shape");
  if (!llvm::tryGetFromHex(StringRef(digits).drop_front(2), bytes))
    return parser.emitError(loc, "expected hexadecimal digits");
  if (tensor.getElementType().isInteger(1) && static_cast<int64_t>(bytes.size()) == tensor.getNumElements() &&
      bytes.size() != 1) {
    value = DenseElementsAttr::get(tensor, llvm::to_vector(llvm::map_range(bytes, [](char c) { return c != 0; })));
    return success();
  }
  bool splat;
  ArrayRef<char> raw(bytes.data(), bytes.size());
  if (!DenseElementsAttr::isValidRawBuffer(tensor, raw, splat))
    return parser.emitError(loc, "elements hex data size is invalid for provided type: ") << type;
  value = DenseElementsAttr::getFromRawBuffer(tensor, raw);
  return success();
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
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  OptionalParseResult bools = parseByteBools(parser, value);
  if (bools.has_value() ? failed(*bools) : failed(parser.parseAttribute(value)))
    return failure();
  result.addAttribute("value", value);
  result.addTypes(value.getShapedType());
  return success();
}

} // namespace millrace::stablehlo
