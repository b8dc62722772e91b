// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpSyntax.cpp - Parsers and printers of custom<...> directives ------===//
#include "dialects/stablehlo/syntax/OpSyntax.h"
#include "mlir/IR/Builders.h"
#include <set>

using namespace mlir;
namespace millrace::stablehlo {

//===-- Types -------------------------------------------------------------===//

void printSameTypes(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer.printType(types.back());
  else
    printer.printFunctionalType(types.drop_back(), types.take_back());
}

/// Assigns a parsed type, which is either one type for all values or a function type.
static ParseResult assignTypes(OpAsmParser &parser, SMLoc loc, Type parsed, ArrayRef<Type *> operands, Type &result) {
  auto function = dyn_cast<FunctionType>(parsed);
  if (!function) {
    for (Type *operand : operands)
      *operand = parsed;
    result = parsed;
    return success();
  }
  if (function.getNumInputs() != operands.size())
    return parser.emitError(loc) << operands.size() << " operands present, but expected " << function.getNumInputs();
  if (function.getNumResults() != 1)
    return parser.emitError(loc, "expected single output");
  for (auto [operand, type] : llvm::zip(operands, function.getInputs()))
    *operand = type;
  result = function.getResult(0);
  return success();
}

ParseResult parseSameTypes(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type parsed;
  if (parser.parseType(parsed))
    return failure();
  return assignTypes(parser, loc, parsed, types.drop_back(), *types.back());
}

void printComplexOpType(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  auto shaped = dyn_cast<ShapedType>(result);
  if (shaped && lhs == rhs && isa<ComplexType>(shaped.getElementType()) && createRealType(shaped) == lhs)
    printer.printType(result);
  else
    printer.printFunctionalType(ArrayRef<Type>{lhs, rhs}, ArrayRef<Type>{result});
}

ParseResult parseComplexOpType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type parsed;
  if (parser.parseType(parsed))
    return failure();
  if (isa<FunctionType>(parsed))
    return assignTypes(parser, loc, parsed, {&lhs, &rhs}, result);
  auto shaped = dyn_cast<ShapedType>(parsed);
  if (!shaped || !isa<ComplexType>(shaped.getElementType()))
    return parser.emitError(loc, "expected tensor with complex element type");
  result = parsed;
  lhs = rhs = createRealType(shaped);
  return success();
}

void printSelectOpType(OpAsmPrinter &printer, Operation *, Type pred, Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(ArrayRef<Type>{pred, onTrue, onFalse}, ArrayRef<Type>{result});
}

ParseResult parseSelectOpType(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    pred = types[0];
    result = onTrue = onFalse = types[1];
    return success();
  }
  if (types.size() != 1 || !isa<FunctionType>(types[0]))
    return parser.emitError(loc, "expected functional type or list of two types");
  return assignTypes(parser, loc, types[0], {&pred, &onTrue, &onFalse}, result);
}

//===-- Operands and numbers ----------------------------------------------===//

void printExponentMantissa(AsmPrinter &printer, Operation *, IntegerAttr exponent, IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

ParseResult parseExponentMantissa(AsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  int32_t exponentBits, mantissaBits;
  StringRef rest = text;
  // Missing digits, and digits that do not fit in 32 bits, are errors, too.
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) || !rest.consume_front("m") ||
      rest.consumeInteger(10, mantissaBits) || !rest.empty())
    return parser.emitError(loc, "expected exponent mantissa in format e#m#, saw ") << text;
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void printVariadicOperandWithAttribute(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  llvm::interleaveComma(operands, printer);
  printer << ',';
}

ParseResult parseVariadicOperandWithAttribute(OpAsmParser &parser,
                                              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  // Parses operands and commas up to something that is not an operand.
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult result = parser.parseOptionalOperand(operand);
    if (!result.has_value()) {
      // Without operands the comma that follows them is printed alone.
      if (operands.empty())
        (void)parser.parseOptionalComma();
      return success();
    }
    if (failed(*result))
      return failure();
    operands.push_back(operand);
    if (parser.parseComma())
      return failure();
  }
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
                      ArrayRef<int64_t> strides) {
  printer << '[';
  // Invalid IR is printed, too: for lists of different lengths with a note that cannot be parsed.
  size_t count = std::min({start.size(), limit.size(), strides.size()});
  for (size_t i = 0; i < count; ++i) {
    printer << (i ? ", " : "") << start[i] << ':' << limit[i];
    if (strides[i] != 1)
      printer << ':' << strides[i];
  }
  printer << ']';
  if (start.size() != count || limit.size() != count || strides.size() != count)
    printer << " <<expected as many start indices, limits and strides>>";
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &start, DenseI64ArrayAttr &limit,
                             DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> starts, limits, strideList;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(starts.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limits.emplace_back()))
      return failure();
    strideList.push_back(1);
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(strideList.back()) : ParseResult(success());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  Builder &builder = parser.getBuilder();
  start = builder.getDenseI64ArrayAttr(starts);
  limit = builder.getDenseI64ArrayAttr(limits);
  strides = builder.getDenseI64ArrayAttr(strideList);
  return success();
}

//===-- Contractions ------------------------------------------------------===//

void printDotDimensionNumbers(AsmPrinter &printer, Operation *, DotDimensionNumbersAttr dims) {
  if (!dims.getLhsBatchingDimensions().empty() || !dims.getRhsBatchingDimensions().empty())
    printer << "batching_dims = " << dimSizesToString(dims.getLhsBatchingDimensions()) << " x "
            << dimSizesToString(dims.getRhsBatchingDimensions()) << ", ";
  printer << "contracting_dims = " << dimSizesToString(dims.getLhsContractingDimensions()) << " x "
          << dimSizesToString(dims.getRhsContractingDimensions());
}

ParseResult parseDotDimensionNumbers(AsmParser &parser, DotDimensionNumbersAttr &dims) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  auto parsePair = [&](SmallVector<int64_t> &lhs, SmallVector<int64_t> &rhs) -> ParseResult {
    return failure(parser.parseEqual() || parseDimSizes(parser, lhs) || parser.parseKeyword("x") ||
                   parseDimSizes(parser, rhs));
  };
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parsePair(lhsBatch, rhsBatch) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") || parsePair(lhsContract, rhsContract))
    return failure();
  dims = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
  return success();
}

void printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr precisions) {
  if (!precisions)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precisions.getAsRange<PrecisionAttr>(), printer,
                        [&](PrecisionAttr attr) { printer << stringifyPrecision(attr.getValue()); });
  printer << ']';
}

/// `= [DEFAULT, HIGH]`.
static ParseResult parsePrecisionList(OpAsmParser &parser, ArrayAttr &precisions) {
  SmallVector<Attribute> attrs;
  auto parsePrecision = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    auto precision = symbolizePrecision(keyword);
    if (!precision)
      return parser.emitError(loc, "expected DEFAULT, HIGH or HIGHEST, got ") << keyword;
    attrs.push_back(PrecisionAttr::get(parser.getContext(), *precision));
    return success();
  };
  if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePrecision))
    return failure();
  precisions = parser.getBuilder().getArrayAttr(attrs);
  return success();
}

ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precisions) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("precision"))
    return failure();
  return parsePrecisionList(parser, precisions);
}

void printPrecisionConfigAndAlgorithm(OpAsmPrinter &printer, Operation *op, ArrayAttr precisions,
                                      DotAlgorithmAttr algorithm) {
  printPrecisionConfig(printer, op, precisions);
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

ParseResult parsePrecisionConfigAndAlgorithm(OpAsmParser &parser, ArrayAttr &precisions, DotAlgorithmAttr &algorithm) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("precision"))) {
    if (parsePrecisionList(parser, precisions))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  if (parser.parseKeyword("algorithm") || parser.parseEqual())
    return failure();
  algorithm = dyn_cast_or_null<DotAlgorithmAttr>(DotAlgorithmAttr::parse(parser, Type()));
  return success(static_cast<bool>(algorithm));
}

void printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides, DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation, DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto entry = [&](StringRef name) -> OpAsmPrinter & {
    printer << separator << name << " = ";
    separator = ", ";
    return printer;
  };
  if (strides)
    entry("stride") << dimSizesToString(strides.asArrayRef());
  if (padding) {
    entry("pad") << '[';
    auto values = llvm::to_vector(padding.getValues<int64_t>());
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      printer << (i ? ", " : "") << '[' << values[i] << ", " << values[i + 1] << ']';
    printer << ']';
  }
  if (lhsDilation)
    entry("lhs_dilate") << dimSizesToString(lhsDilation.asArrayRef());
  if (rhsDilation)
    entry("rhs_dilate") << dimSizesToString(rhsDilation.asArrayRef());
  if (reversal) {
    entry("reverse") << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer,
                          [&](bool reversed) { printer << (reversed ? "true" : "false"); });
    printer << ']';
  }
}

static ParseResult parseBools(OpAsmParser &parser, SmallVector<bool> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    // Older text has 0 and 1.
    int64_t number;
    OptionalParseResult result = parser.parseOptionalInteger(number);
    if (result.has_value()) {
      values.push_back(number != 0);
      return *result;
    }
    values.push_back(succeeded(parser.parseOptionalKeyword("true")));
    return values.back() ? ParseResult(success()) : parser.parseKeyword("false");
  });
}

static ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  SMLoc loc = parser.getCurrentLocation();
  auto parsePair = [&]() -> ParseResult {
    SmallVector<int64_t> pair;
    if (parseDimSizes(parser, pair))
      return failure();
    if (pair.size() != 2)
      return parser.emitError(loc, "Expected array with two elements for each dimension of `pad`");
    llvm::append_range(values, pair);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size()) / 2, 2},
                                    parser.getBuilder().getIntegerType(64));
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

ParseResult parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides, DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation, DenseI64ArrayAttr &rhsDilation,
                                  DenseBoolArrayAttr &reversal) {
  static constexpr StringLiteral names[] = {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"};
  std::set<StringRef> seen;
  // No entry at all: `window = {}`.
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&name)))
    return success();
  Builder &builder = parser.getBuilder();
  while (true) {
    if (!llvm::is_contained(names, name))
      return parser.emitError(loc, "Unexpected keyword ") << name;
    if (!seen.insert(name).second)
      return parser.emitError(loc, "Unexpected keyword ") << name;
    if (parser.parseEqual())
      return failure();
    if (name == "pad") {
      if (parsePadding(parser, padding))
        return failure();
    } else if (name == "reverse") {
      SmallVector<bool> values;
      if (parseBools(parser, values))
        return failure();
      reversal = builder.getDenseBoolArrayAttr(values);
    } else {
      SmallVector<int64_t> values;
      if (parseDimSizes(parser, values))
        return failure();
      (name == "stride" ? strides : name == "lhs_dilate" ? lhsDilation : rhsDilation) =
          builder.getDenseI64ArrayAttr(values);
    }
    if (failed(parser.parseOptionalComma()))
      return success();
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
  }
}

} // namespace millrace::stablehlo
