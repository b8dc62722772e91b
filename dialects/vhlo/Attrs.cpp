// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attrs.cpp - Attributes of the portable format: text and checks -----===//
#include "dialects/vhlo/Builtin.h"

#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace millrace::vhlo;
#define GET_ATTRDEF_CLASSES
#include "dialects/vhlo/Attrs.cpp.inc"

namespace millrace::vhlo {

void VhloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/vhlo/Attrs.cpp.inc"
      >();
}

// The text form is `#vhlo<precision_v1 HIGH>` for enumerations, `#vhlo.name<...>` for all others.
Attribute VhloDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic, name;
  Attribute attr;
  OptionalParseResult result = generatedAttributeParser(parser, &mnemonic, type, attr);
  if (result.has_value())
    return succeeded(*result) ? attr : Attribute();
  const EnumDef *def = lookupEnum(mnemonic);
  if (!def)
    return parser.emitError(loc) << "unknown vhlo attribute: " << mnemonic, Attribute();
  SMLoc nameLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return {};
  std::optional<unsigned> value = def->parse(name);
  if (!value)
    return parser.emitError(nameLoc) << "'" << name << "' is no value of " << mnemonic, Attribute();
  return EnumV1Attr::get(getContext(), def->code, *value);
}

void VhloDialect::printAttribute(Attribute attr, DialectAsmPrinter &printer) const {
  if (auto value = dyn_cast<EnumV1Attr>(attr)) {
    const EnumDef *def = lookupEnum(value.getCode());
    printer << def->mnemonic << ' ' << def->values[value.getValue()];
  } else if (failed(generatedAttributePrinter(attr, printer))) {
    llvm_unreachable("an attribute of another dialect");
  }
}

Version minVersion(Attribute attr) {
  if (auto value = dyn_cast<EnumV1Attr>(attr))
    return lookupEnum(value.getCode())->min;
  if (isa<ResultAccuracyV1Attr>(attr))
    return {1, 9};
  if (isa<SubAxisInfoV1Attr, AxisRefV1Attr, ReplicaGroupMeshAxesV1Attr, MeshAxisV1Attr, MeshV1Attr>(attr))
    return {1, 16};
  return minimumVersion;
}

//===-- Checks ------------------------------------------------------------===//

LogicalResult EnumV1Attr::verify(EmitError emitError, uint32_t code, uint32_t value) {
  const EnumDef *def = lookupEnum(code);
  if (!def)
    return emitError() << "expects an enumeration, but got code " << code;
  if (value >= def->values.size() || def->values[value].empty())
    return emitError() << value << " is no value of " << def->mnemonic;
  return success();
}

LogicalResult FloatV1Attr::verify(EmitError emitError, Type type, APFloat value) {
  if (floatSemantics(type) != &value.getSemantics())
    return emitError() << "expects a value of the float type, but the type is " << type;
  return success();
}

LogicalResult IntegerV1Attr::verify(EmitError emitError, Type type, APInt value) {
  if (unsigned width = integerWidth(type); width < 2 || width != value.getBitWidth())
    return emitError() << "expects a value of the integer type, but the type is " << type;
  return success();
}

LogicalResult TensorV1Attr::verify(EmitError emitError, Type type, ArrayRef<char> data) {
  return verifyElements(type, data, emitError);
}

//===-- Text --------------------------------------------------------------===//

// Types inside of an attribute's text have passed its verifier.
static InFlightDiagnostic impossible() { llvm_unreachable("the attribute was verified"); }

void ArrayV1Attr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getValue(), printer);
  printer << "]>";
}
Attribute ArrayV1Attr::parse(AsmParser &parser, Type) {
  SmallVector<Attribute> elements;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseAttribute(elements.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return ArrayV1Attr::get(parser.getContext(), elements);
}

void DictV1Attr::print(AsmPrinter &printer) const {
  printer << "<{";
  llvm::interleaveComma(getValue(), printer,
                        [&](const auto &entry) { printer << entry.first << " = " << entry.second; });
  printer << "}>";
}
Attribute DictV1Attr::parse(AsmParser &parser, Type) {
  SmallVector<std::pair<Attribute, Attribute>> entries;
  auto parseEntry = [&]() -> ParseResult {
    auto &[name, value] = entries.emplace_back();
    return failure(parser.parseAttribute(name) || parser.parseEqual() || parser.parseAttribute(value));
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry) ||
      parser.parseGreater())
    return {};
  return DictV1Attr::get(parser.getContext(), entries);
}

void FloatV1Attr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printFloat(getValue());
  printer << " : " << getType() << '>';
}
Attribute FloatV1Attr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  // NaN and infinity are written as the bits of the type, which is the last field.
  APInt bits;
  double number = 0;
  bool negative = succeeded(parser.parseOptionalMinus());
  OptionalParseResult isBits = parser.parseOptionalInteger(bits);
  if (isBits.has_value() ? failed(*isBits) : failed(parser.parseFloat(number)))
    return {};
  Type type;
  if (parser.parseColonType(type) || parser.parseGreater())
    return {};
  const llvm::fltSemantics *semantics = floatSemantics(type);
  if (!semantics)
    return parser.emitError(loc) << "expects a float type, but got " << type, Attribute();
  APFloat value(number);
  bool lossy;
  if (isBits.has_value())
    value = APFloat(*semantics, bits.zextOrTrunc(APFloat::getSizeInBits(*semantics)));
  else
    value.convert(*semantics, APFloat::rmNearestTiesToEven, &lossy);
  if (negative)
    value.changeSign();
  return parser.getChecked<FloatV1Attr>(loc, parser.getContext(), type, value);
}

void IntegerV1Attr::print(AsmPrinter &printer) const {
  printer << '<' << mlir::IntegerAttr::get(fromVhlo(getType(), impossible), getValue()) << '>';
}
Attribute IntegerV1Attr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  mlir::IntegerAttr value;
  if (parser.parseLess() || parser.parseAttribute(value) || parser.parseGreater())
    return {};
  return parser.getChecked<IntegerV1Attr>(loc, parser.getContext(), toVhlo(value.getType()), value.getValue());
}

void StringV1Attr::print(AsmPrinter &printer) const {
  printer << "<\"";
  llvm::printEscapedString(getValue(), printer.getStream());
  printer << "\">";
}
Attribute StringV1Attr::parse(AsmParser &parser, Type) {
  std::string value;
  if (parser.parseLess() || parser.parseString(&value) || parser.parseGreater())
    return {};
  return StringV1Attr::get(parser.getContext(), value);
}

void TensorV1Attr::print(AsmPrinter &printer) const { printer << '<' << fromVhlo(*this, impossible) << '>'; }
Attribute TensorV1Attr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  DenseIntOrFPElementsAttr elements;
  if (parser.parseLess() || parser.parseAttribute(elements) || parser.parseGreater())
    return {};
  return parser.getChecked<TensorV1Attr>(loc, parser.getContext(), toVhlo(elements.getType()), elements.getRawData());
}

} // namespace millrace::vhlo
