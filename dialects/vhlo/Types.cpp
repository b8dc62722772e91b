// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Types.cpp - Types of the portable format: text and checks ----------===//
#include "dialects/vhlo/Builtin.h"

#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace millrace::vhlo;
#define GET_TYPEDEF_CLASSES
#include "dialects/vhlo/Types.cpp.inc"

namespace millrace::vhlo {

void VhloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/vhlo/Types.cpp.inc"
      >();
}

Type VhloDialect::parseType(DialectAsmParser &parser) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Type type;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (result.has_value())
    return succeeded(*result) ? type : Type();
  if (const ScalarDef *def = lookupScalar(mnemonic))
    return ScalarV1Type::get(getContext(), def->code);
  parser.emitError(loc) << "unknown vhlo type: " << mnemonic;
  return {};
}

void VhloDialect::printType(Type type, DialectAsmPrinter &printer) const {
  if (auto scalar = dyn_cast<ScalarV1Type>(type))
    printer << lookupScalar(scalar.getCode())->mnemonic;
  else if (failed(generatedTypePrinter(type, printer)))
    llvm_unreachable("a type of another dialect");
}

Version minVersion(Type type) {
  if (auto scalar = dyn_cast<ScalarV1Type>(type))
    return lookupScalar(scalar.getCode())->min;
  if (isa<UniformQuantizedPerAxisV1Type>(type))
    return {0, 18};
  if (isa<RankedBufferV1Type>(type))
    return {1, 13};
  if (isa<FutureV1Type>(type))
    return {1, 15};
  return minimumVersion;
}

//===-- Checks ------------------------------------------------------------===//

static LogicalResult expectVhlo(ArrayRef<Type> types, EmitError emitError) {
  for (Type type : types)
    if (!isVhlo(type))
      return emitError() << "expects a vhlo type, but got " << type;
  return success();
}

// Scales are doubles; a NaN would not even be equal to itself.
static LogicalResult expectScale(const APFloat &scale, EmitError emitError) {
  if (&scale.getSemantics() != &APFloat::IEEEdouble() || !scale.isFinite())
    return emitError() << "expects a finite double as scale";
  return success();
}

LogicalResult ScalarV1Type::verify(EmitError emitError, uint32_t code) {
  return lookupScalar(code) ? success() : LogicalResult(emitError() << "expects a vhlo type, but got code " << code);
}
LogicalResult ComplexV1Type::verify(EmitError emitError, Type elementType) { return expectVhlo(elementType, emitError); }
LogicalResult FunctionV1Type::verify(EmitError emitError, ArrayRef<Type> inputs, ArrayRef<Type> outputs) {
  return failed(expectVhlo(inputs, emitError)) ? failure() : expectVhlo(outputs, emitError);
}
LogicalResult RankedTensorV1Type::verify(EmitError emitError, ArrayRef<int64_t>, Type elementType, Attribute encoding) {
  if (encoding && !isVhlo(encoding))
    return emitError() << "expects a vhlo attribute, but got " << encoding;
  return expectVhlo(elementType, emitError);
}
LogicalResult TupleV1Type::verify(EmitError emitError, ArrayRef<Type> types) { return expectVhlo(types, emitError); }
LogicalResult UniformQuantizedV1Type::verify(EmitError emitError, unsigned, Type storageType, Type expressedType,
                                             APFloat scale, int64_t, int64_t, int64_t) {
  return failed(expectScale(scale, emitError)) ? failure() : expectVhlo({storageType, expressedType}, emitError);
}
LogicalResult UniformQuantizedPerAxisV1Type::verify(EmitError emitError, unsigned, Type storageType, Type expressedType,
                                                    int32_t, ArrayRef<APFloat> scales, ArrayRef<int64_t>, int64_t,
                                                    int64_t) {
  for (const APFloat &scale : scales)
    if (failed(expectScale(scale, emitError)))
      return failure();
  return expectVhlo({storageType, expressedType}, emitError);
}
LogicalResult UnrankedTensorV1Type::verify(EmitError emitError, Type elementType) {
  return expectVhlo(elementType, emitError);
}
LogicalResult RankedBufferV1Type::verify(EmitError emitError, ArrayRef<int64_t>, Type elementType) {
  return expectVhlo(elementType, emitError);
}
LogicalResult FutureV1Type::verify(EmitError emitError, ArrayRef<Type> types) { return expectVhlo(types, emitError); }

//===-- Text --------------------------------------------------------------===//

// Prints `2x?x!vhlo.f32_v1`.
static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  for (int64_t size : shape)
    printer << stablehlo::dimSizeToString(size) << 'x';
  printer << element;
}
static ParseResult parseShape(AsmParser &parser, SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/true, /*withTrailingX=*/true) ||
                 parser.parseType(element));
}

void RankedTensorV1Type::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, getShape(), getElementType());
  if (getEncoding())
    printer << ", " << getEncoding();
  printer << '>';
}
Type RankedTensorV1Type::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  Attribute encoding;
  if (parser.parseLess() || parseShape(parser, shape, element))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(encoding))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<RankedTensorV1Type>(loc, parser.getContext(), ArrayRef(shape), element, encoding);
}

void RankedBufferV1Type::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, getShape(), getElementType());
  printer << '>';
}
Type RankedBufferV1Type::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parseShape(parser, shape, element) || parser.parseGreater())
    return {};
  return parser.getChecked<RankedBufferV1Type>(loc, parser.getContext(), ArrayRef(shape), element);
}

// Parses `()`, or types separated by commas.
static void printTypes(AsmPrinter &printer, ArrayRef<Type> types) {
  if (types.empty())
    printer << "()";
  llvm::interleaveComma(types, printer);
}
static ParseResult parseTypes(AsmParser &parser, SmallVectorImpl<Type> &types) {
  if (succeeded(parser.parseOptionalLParen()))
    return parser.parseRParen();
  return parser.parseCommaSeparatedList([&] { return parser.parseType(types.emplace_back()); });
}

// Prints `<(a, b) -> c, d>`; a list without inputs is printed as `(())`.
void FunctionV1Type::print(AsmPrinter &printer) const {
  printer << "<(";
  printTypes(printer, getInputs());
  printer << ") -> ";
  printTypes(printer, getOutputs());
  printer << '>';
}
Type FunctionV1Type::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> inputs, outputs;
  if (parser.parseLess() || parser.parseLParen() || parseTypes(parser, inputs) || parser.parseRParen() ||
      parser.parseArrow() || parseTypes(parser, outputs) || parser.parseGreater())
    return {};
  return parser.getChecked<FunctionV1Type>(loc, parser.getContext(), ArrayRef(inputs), ArrayRef(outputs));
}

static void printTypeList(AsmPrinter &printer, ArrayRef<Type> types) {
  printer << '<';
  llvm::interleaveComma(types, printer);
  printer << '>';
}
template <typename T> static Type parseTypeList(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parser.parseType(types.emplace_back()); }))
    return {};
  return parser.getChecked<T>(loc, parser.getContext(), ArrayRef(types));
}
void TupleV1Type::print(AsmPrinter &printer) const { printTypeList(printer, getTypes()); }
Type TupleV1Type::parse(AsmParser &parser) { return parseTypeList<TupleV1Type>(parser); }
void FutureV1Type::print(AsmPrinter &printer) const { printTypeList(printer, getTypes()); }
Type FutureV1Type::parse(AsmParser &parser) { return parseTypeList<FutureV1Type>(parser); }

// `<!vhlo.i8_v1:!vhlo.f32_v1, 0, [5.0e-01, 2.5e-01], [3, 4], -128:127, 1>`.
void UniformQuantizedPerAxisV1Type::print(AsmPrinter &printer) const {
  printer << '<' << getStorageType() << ':' << getExpressedType() << ", " << getQuantizedDimension() << ", [";
  llvm::interleaveComma(getScales(), printer, [&](const APFloat &scale) { printer.printFloat(scale); });
  printer << "], [";
  llvm::interleaveComma(getZeroPoints(), printer);
  printer << "], " << getStorageTypeMin() << ':' << getStorageTypeMax() << ", " << getFlags() << '>';
}
Type UniformQuantizedPerAxisV1Type::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type storage, expressed;
  int32_t dimension;
  unsigned flags;
  SmallVector<APFloat> scales;
  SmallVector<int64_t> zeroPoints;
  int64_t min, max;
  auto parseScale = [&]() -> ParseResult {
    double scale;
    if (parser.parseFloat(scale))
      return failure();
    scales.push_back(APFloat(scale));
    return success();
  };
  if (parser.parseLess() || parser.parseType(storage) || parser.parseColon() || parser.parseType(expressed) ||
      parser.parseComma() || parser.parseInteger(dimension) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseScale) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(zeroPoints.emplace_back()); }) ||
      parser.parseComma() || parser.parseInteger(min) || parser.parseColon() || parser.parseInteger(max) ||
      parser.parseComma() || parser.parseInteger(flags) || parser.parseGreater())
    return {};
  return parser.getChecked<UniformQuantizedPerAxisV1Type>(loc, parser.getContext(), flags, storage, expressed, dimension,
                                                          ArrayRef(scales), ArrayRef(zeroPoints), min, max);
}

} // namespace millrace::vhlo
