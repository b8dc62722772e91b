// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttrSyntax.cpp - Text of shardings and of sharding rules -----------===//
#include "dialects/sdy/Dialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
namespace millrace::sdy {

/// Emits, after the error itself, the error of MLIR's generated parsers about the parameter that contains it.
static Attribute badParameter(AsmParser &parser, StringRef attribute, StringRef parameter, StringRef type = "") {
  auto diag = parser.emitError(parser.getCurrentLocation(), "failed to parse Sdy_")
              << attribute << " parameter '" << parameter << "'";
  if (!type.empty())
    diag << " which is to be a `::llvm::ArrayRef<" << type << ">`";
  return {};
}

//===-- Meshes ------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> ids;
  auto parseAxis = [&]() -> ParseResult {
    auto axis = dyn_cast_or_null<MeshAxisAttr>(MeshAxisAttr::parse(parser, Type()));
    axes.push_back(axis);
    return success(bool(axis));
  };
  auto parseId = [&]() -> ParseResult { return parser.parseInteger(ids.emplace_back()); };
  if (parser.parseLess() || parser.parseLSquare())
    return {};
  if (failed(parser.parseOptionalRSquare())) {
    if (parser.parseCommaSeparatedList(parseAxis))
      return badParameter(parser, "Mesh", "axes", "MeshAxisAttr");
    if (parser.parseRSquare())
      return {};
  }
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("device_ids") || parser.parseEqual() || parser.parseLSquare())
      return {};
    if (parser.parseCommaSeparatedList(parseId))
      return badParameter(parser, "Mesh", "device_ids", "int64_t");
    if (parser.parseRSquare())
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto mesh = parser.getChecked<MeshAttr>(loc, parser.getContext(), ArrayRef<MeshAxisAttr>(axes), ArrayRef<int64_t>(ids));
  // A sorted permutation is the default and is not written.
  if (mesh && !axes.empty() && llvm::is_sorted(ids))
    return MeshAttr::get(parser.getContext(), axes, ArrayRef<int64_t>());
  return mesh;
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getAxes(), printer.getStream(), [&](MeshAxisAttr axis) { axis.print(printer); });
  printer << "]";
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer.getStream());
    printer << "]";
  }
  printer << ">";
}

//===-- Shardings ---------------------------------------------------------===//

/// Parses `p0`, `p12`, but not `p01`, so that each number has one spelling.
static ParseResult parsePriority(AsmParser &parser, StringRef word, std::optional<int64_t> &priority) {
  StringRef digits = word.drop_front();
  SMLoc loc = parser.getCurrentLocation();
  if (word.front() != 'p' || digits.empty() || !llvm::all_of(digits, llvm::isDigit))
    return parser.emitError(loc, "expecting priority in format 'p<number>', got: ") << word;
  if (digits.size() > 1 && digits.front() == '0')
    return parser.emitError(loc, "priorities with leading zeros are not allowed, got: ") << word;
  int64_t value;
  if (!llvm::to_integer(digits, value, 10))
    return parser.emitError(loc, "expecting integer priority, got: ") << word;
  priority = value;
  return success();
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLBrace())
    return {};
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  while (failed(parser.parseOptionalRBrace())) {
    if (!axes.empty() && parser.parseComma())
      return {};
    if (succeeded(parser.parseOptionalQuestion())) { // the question mark is always last
      isClosed = false;
      if (parser.parseRBrace())
        return {};
      break;
    }
    auto axis = dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, Type()));
    if (!axis)
      return {};
    axes.push_back(axis);
  }
  std::optional<int64_t> priority;
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word)) && parsePriority(parser, word, priority))
    return {};
  return DimensionShardingAttr::get(parser.getContext(), axes, isClosed, priority);
}

static void printAxes(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes) {
  llvm::interleaveComma(axes, printer.getStream(), [&](AxisRefAttr axis) { axis.print(printer); });
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << "{";
  printAxes(printer, getAxes());
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << "}";
  if (getPriority())
    printer << "p" << *getPriority();
}

/// Parses `@name` or `mesh<[...]>`.
static ParseResult parseMeshOrRef(AsmParser &parser, Attribute &meshOrRef) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    meshOrRef = MeshAttr::parse(parser, Type());
    return success(bool(meshOrRef));
  }
  FlatSymbolRefAttr name;
  if (parser.parseAttribute(name))
    return parser.emitError(loc, "expecting MeshAttr or FlatSymbolRefAttr");
  meshOrRef = name;
  return success();
}

static ParseResult parseAxisList(AsmParser &parser, SmallVectorImpl<AxisRefAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    auto axis = dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, Type()));
    axes.push_back(axis);
    return success(bool(axis));
  });
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  Attribute meshOrRef;
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  auto reduction = ReductionOp::Sum;
  auto parseDim = [&]() -> ParseResult {
    auto dim = dyn_cast_or_null<DimensionShardingAttr>(DimensionShardingAttr::parse(parser, Type()));
    dims.push_back(dim);
    return success(bool(dim));
  };
  if (parser.parseLess())
    return {};
  if (parseMeshOrRef(parser, meshOrRef))
    return badParameter(parser, "TensorSharding", "mesh_or_ref");
  if (parser.parseComma() || parser.parseLSquare())
    return {};
  if (failed(parser.parseOptionalRSquare())) {
    if (parser.parseCommaSeparatedList(parseDim))
      return badParameter(parser, "TensorSharding", "dim_shardings", "DimensionShardingAttr");
    if (parser.parseRSquare())
      return {};
  }
  // Each list occurs at most once, in any order.
  while (succeeded(parser.parseOptionalComma())) {
    if (replicated.empty() && succeeded(parser.parseOptionalKeyword("replicated"))) {
      if (parser.parseEqual())
        return {};
      if (parseAxisList(parser, replicated))
        return badParameter(parser, "TensorSharding", "replicated_axes");
    } else if (unreduced.empty() && succeeded(parser.parseOptionalKeyword("unreduced"))) {
      if (parser.parseEqual())
        return {};
      if (succeeded(parser.parseOptionalKeyword("max")))
        reduction = ReductionOp::Max;
      else if (succeeded(parser.parseOptionalKeyword("min")))
        reduction = ReductionOp::Min;
      if (parseAxisList(parser, unreduced))
        return badParameter(parser, "TensorSharding", "unreduced_axes");
    } else {
      parser.emitError(parser.getCurrentLocation(),
                       "failed to parse Sdy_TensorSharding, expected valid named axis list after comma");
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return TensorShardingAttr::get(parser.getContext(), meshOrRef, dims, replicated, unreduced, reduction);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", [";
  llvm::interleaveComma(getDimShardings(), printer.getStream(), [&](DimensionShardingAttr dim) { dim.print(printer); });
  printer << "]";
  if (!getReplicatedAxes().empty()) {
    printer << ", replicated={";
    printAxes(printer, getReplicatedAxes());
    printer << "}";
  }
  if (!getUnreducedAxes().empty()) {
    printer << ", unreduced=";
    if (getReductionOp() != ReductionOp::Sum)
      printer << (getReductionOp() == ReductionOp::Max ? "max" : "min");
    printer << "{";
    printAxes(printer, getUnreducedAxes());
    printer << "}";
  }
  printer << ">";
}

//===-- Sharding rules ----------------------------------------------------===//

static constexpr int64_t letters = 'z' - 'i' + 1;

std::string factorSymbol(int64_t factor) {
  if (factor < letters)
    return std::string(1, char('i' + factor));
  return "z_" + std::to_string(factor - letters + 1);
}

/// Parses one symbol from the beginning of `text`.
static ParseResult parseFactor(AsmParser &parser, StringRef &text, int64_t &factor) {
  SMLoc loc = parser.getCurrentLocation();
  if (!text.consume_front("z_")) {
    if (text.empty() || text.front() < 'i' || text.front() > 'z')
      return parser.emitError(loc, "expecting symbol from 'i' to 'z'. Received: '") << text.take_front() << "'";
    factor = text.front() - 'i';
    text = text.drop_front();
    return success();
  }
  StringRef digits = text.take_while(llvm::isDigit);
  text = text.drop_front(digits.size());
  if (digits.empty())
    return parser.emitError(loc, "expecting integer after 'z_'. Received: 'z_") << text << "'";
  if (digits.front() == '0')
    return parser.emitError(loc, "expecting positive integer without leading zeros. Received: '") << digits << "'";
  int32_t number;
  if (!llvm::to_integer(digits, number, 10))
    return parser.emitError(loc, "expecting symbol index <=2^31-1. Received: '") << digits << "'";
  factor = letters - 1 + number;
  return success();
}

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> factors;
  StringRef text;
  if (failed(parser.parseOptionalStar()) && succeeded(parser.parseOptionalKeyword(&text)))
    while (!text.empty())
      if (parseFactor(parser, text, factors.emplace_back()))
        return {};
  return DimMappingAttr::get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  if (getFactorIndices().empty())
    printer << "*";
  for (int64_t factor : getFactorIndices())
    printer << factorSymbol(factor);
}

/// Parses `([i, j], [])`.
static ParseResult parseMappings(AsmParser &parser, SmallVectorImpl<TensorMappingAttr> &mappings) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    auto mapping = dyn_cast_or_null<TensorMappingAttr>(TensorMappingAttr::parse(parser, Type()));
    mappings.push_back(mapping);
    return success(bool(mapping));
  });
}

/// Parses `{i=8, j=16}`: all factors in order.
static ParseResult parseFactorSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
    StringRef text;
    int64_t factor;
    if (parser.parseKeyword(&text) || parseFactor(parser, text, factor))
      return failure();
    if (factor != int64_t(sizes.size()))
      return parser.emitError(parser.getCurrentLocation(), "expecting factor indices to be ordered like an iota "
                                                           "([0,1,2,...], e.g. {i=#, j=#, ...}). Expecting factor "
                                                           "index symbol '")
             << factorSymbol(sizes.size()) << "', received: '" << factorSymbol(factor) << "'";
    if (!text.empty())
      return parser.emitError(parser.getCurrentLocation(), "expecting single factor symbol: ") << text;
    return failure(parser.parseEqual() || parser.parseInteger(sizes.emplace_back()));
  });
}

/// Parses ` name={i, j}`, if it is present.
static ParseResult parseFactorList(AsmParser &parser, StringRef name, SmallVectorImpl<int64_t> &factors) {
  if (failed(parser.parseOptionalKeyword(name)))
    return success();
  return failure(parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
                   StringRef text;
                   if (parser.parseKeyword(&text) || parseFactor(parser, text, factors.emplace_back()))
                     return failure();
                   if (!text.empty())
                     return parser.emitError(parser.getCurrentLocation(), "expecting single factor symbol: ") << text;
                   return success();
                 }));
}

Attribute OpShardingRuleAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorMappingAttr> operands, results;
  SmallVector<int64_t> sizes, reduction, replication, permutation, blocked;
  if (parser.parseLess())
    return {};
  if (parseMappings(parser, operands))
    return badParameter(parser, "OpShardingRule", "operand_mappings", "TensorMappingAttr");
  if (parser.parseArrow())
    return {};
  if (parseMappings(parser, results))
    return badParameter(parser, "OpShardingRule", "result_mappings", "TensorMappingAttr");
  if (parseFactorSizes(parser, sizes) || parseFactorList(parser, "reduction", reduction) ||
      parseFactorList(parser, "need_replication", replication) ||
      parseFactorList(parser, "permutation", permutation) || parseFactorList(parser, "blocked_propagation", blocked))
    return {};
  bool isCustom = succeeded(parser.parseOptionalComma());
  if ((isCustom && parser.parseKeyword("custom")) || parser.parseGreater())
    return {};
  return OpShardingRuleAttr::get(parser.getContext(), sizes, operands, results, reduction, replication, permutation,
                                 blocked, isCustom);
}

void OpShardingRuleAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  auto mappings = [&](ArrayRef<TensorMappingAttr> list) {
    os << "(";
    llvm::interleaveComma(list, os, [&](TensorMappingAttr mapping) { mapping.print(printer); });
    os << ")";
  };
  auto factors = [&](StringRef name, ArrayRef<int64_t> list) {
    if (list.empty())
      return;
    os << " " << name << "={";
    llvm::interleaveComma(list, os, [&](int64_t factor) { os << factorSymbol(factor); });
    os << "}";
  };
  os << "<";
  mappings(getOperandMappings());
  os << "->";
  mappings(getResultMappings());
  if (!getFactorSizes().empty()) {
    os << " {";
    int64_t factor = 0;
    llvm::interleaveComma(getFactorSizes(), os, [&](int64_t size) { os << factorSymbol(factor++) << "=" << size; });
    os << "}";
  }
  factors("reduction", getReductionFactors());
  factors("need_replication", getNeedReplicationFactors());
  factors("permutation", getPermutationFactors());
  factors("blocked_propagation", getBlockedPropagationFactors());
  os << (getIsCustomRule() ? ", custom>" : ">");
}

} // namespace millrace::sdy
