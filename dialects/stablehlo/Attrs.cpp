// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attrs.cpp - StableHLO enums and attributes -------------------------===//
#include "dialects/stablehlo/Dialect.h"
#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include <map>

using namespace mlir;
using namespace millrace::stablehlo;
#include "dialects/stablehlo/Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/stablehlo/Attrs.cpp.inc"

namespace millrace::stablehlo {

void StablehloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/stablehlo/Attrs.cpp.inc"
      >();
}

// Parses `<axes=[<name = "x", size = 4>], device_ids=dense<...>>`. The name of the axes' attribute is optional and not printed.
static Attribute parseMesh(AsmParser &parser) {
  SmallVector<Attribute> axes;
  auto parseAxis = [&]() -> ParseResult {
    MeshAxisAttr axis;
    OptionalParseResult whole = parser.parseOptionalAttribute(axis);
    if (whole.has_value() ? failed(*whole) : !(axis = dyn_cast_or_null<MeshAxisAttr>(MeshAxisAttr::parse(parser, {}))))
      return failure();
    axes.push_back(axis);
    return success();
  };
  DenseIntElementsAttr ids;
  if (parser.parseLess() || parser.parseKeyword("axes") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() || parser.parseAttribute(ids)))
    return {};
  return parser.parseGreater() ? Attribute() : MeshAttr::get(parser.getContext(), parser.getBuilder().getArrayAttr(axes), ids);
}

static void printMesh(MeshAttr mesh, AsmPrinter &printer) {
  printer << "mesh<axes=[";
  llvm::interleaveComma(mesh.getAxes(), printer, [&](Attribute axis) {
    if (auto typed = dyn_cast<MeshAxisAttr>(axis))
      typed.print(printer);
    else
      printer << axis;
  });
  printer << ']';
  if (mesh.getDeviceIds())
    printer << ", device_ids=" << mesh.getDeviceIds();
  printer << '>';
}

Attribute StablehloDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("mesh")))
    return parseMesh(parser);
  StringRef mnemonic;
  Attribute attr;
  OptionalParseResult result = generatedAttributeParser(parser, &mnemonic, type, attr);
  if (result.has_value())
    return succeeded(*result) ? attr : Attribute();
  // `#stablehlo.bounds<4, ?>` is short for type_extensions.
  if (mnemonic == "bounds") {
    SmallVector<int64_t> bounds;
    auto parseBound = [&]() -> ParseResult {
      int64_t bound = ShapedType::kDynamic;
      if (failed(parser.parseOptionalQuestion()) && parser.parseInteger(bound))
        return failure();
      bounds.push_back(bound);
      return success();
    };
    if (parser.parseLess() || parser.parseCommaSeparatedList(parseBound) || parser.parseGreater())
      return {};
    return TypeExtensionsAttr::get(parser.getContext(), bounds);
  }
  parser.emitError(loc) << "unknown stablehlo attribute: " << mnemonic;
  return {};
}

void StablehloDialect::printAttribute(Attribute attr, DialectAsmPrinter &printer) const {
  if (auto extensions = dyn_cast<TypeExtensionsAttr>(attr)) {
    printer << "bounds<";
    llvm::interleaveComma(extensions.getBounds(), printer.getStream(),
                          [&](int64_t bound) { printer.getStream() << dimSizeToString(bound); });
    printer << ">";
    return;
  }
  if (auto mesh = dyn_cast<MeshAttr>(attr))
    return printMesh(mesh, printer);
  if (failed(generatedAttributePrinter(attr, printer)))
    llvm_unreachable("an attribute of another dialect");
}

//===-- Verifiers ---------------------------------------------------------===//

LogicalResult TypeExtensionsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                                 function_ref<InFlightDiagnostic()> emitError) const {
  auto type = RankedTensorType::get(shape, elementType);
  if (getBounds().size() != shape.size())
    return emitError() << "Bounds length is " << getBounds().size() << ", expected to be equal to rank("
                       << shape.size() << ") of the tensor " << type;
  for (auto [dim, size, bound] : llvm::enumerate(shape, getBounds()))
    if (isStaticDimSize(bound) && isStaticDimSize(size))
      return emitError() << "Static dimension " << dim
                         << " cannot have a bound, use ShapedType::kDynamic to indicate a missing bound in tensor "
                         << type;
  return success();
}

LogicalResult ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError, APFloat atol, APFloat rtol,
                                         int64_t ulps, ResultAccuracyModeAttr mode) {
  if (atol.isNegative() || rtol.isNegative() || ulps < 0)
    return emitError() << "Negative tolerance";
  if (mode.getValue() != ResultAccuracyMode::TOLERANCE && (!atol.isZero() || !rtol.isZero() || ulps != 0))
    return emitError() << "Invalid tolerances for ResultAccuracyAttr with mode "
                       << stringifyEnum(mode.getValue()) << ", must be all zero.";
  return success();
}

LogicalResult SubAxisInfoAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t preSize, int64_t size) {
  if (preSize < 1)
    return emitError() << "sub-axis pre-size must be at least 1";
  if (size <= 1)
    return emitError() << "sub-axis sizes must be greater than 1";
  return success();
}

LogicalResult DotAlgorithmAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type lhsPrecisionType,
                                       Type rhsPrecisionType, Type accumulationType, int64_t lhsComponentCount,
                                       int64_t rhsComponentCount, int64_t numPrimitiveOperations, bool) {
  auto isFloat = [](Type type) { return isa<FloatType>(type); };
  if (!isFloat(lhsPrecisionType) || !isFloat(rhsPrecisionType) || !isFloat(accumulationType))
    return emitError() << "precision and accumulation types must be float types";
  if (lhsComponentCount < 1)
    return emitError() << "lhs component count must be positive";
  if (rhsComponentCount < 1)
    return emitError() << "rhs component count must be positive";
  if (numPrimitiveOperations < 1)
    return emitError() << "num primitive operations must be positive";
  return success();
}

//===-- Dimension lists ---------------------------------------------------===//

std::string dimSizeToString(int64_t size) { return isDynamicDimSize(size) ? "?" : std::to_string(size); }

std::string dimSizesToString(ArrayRef<int64_t> sizes) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(sizes))
    text += (i ? ", " : "") + dimSizeToString(size);
  return text + "]";
}

void printDimSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) { printer << dimSizesToString(sizes); }

ParseResult parseDimSizes(AsmParser &parser, SmallVector<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    int64_t size = ShapedType::kDynamic;
    if (failed(parser.parseOptionalQuestion()) && parser.parseInteger(size))
      return failure();
    sizes.push_back(size);
    return success();
  });
}

FailureOr<SmallVector<int64_t>> parseDimSizes(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  if (failed(parseDimSizes(parser, sizes)))
    return failure();
  return sizes;
}

FailureOr<APFloat> parseDouble(AsmParser &parser) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  return APFloat(value);
}

FailureOr<ResultAccuracyModeAttr> parseResultAccuracyMode(AsmParser &parser) {
  ResultAccuracyModeAttr mode;
  if (parser.parseAttribute(mode))
    return failure();
  return mode;
}

//===-- Structs of fields in any order, absent fields empty ---------------===//

ParseResult parseFields(AsmParser &parser, ArrayRef<AttrField> fields) {
  SmallVector<bool> seen(fields.size(), false);
  auto parseField = [&]() -> ParseResult {
    for (auto [i, field] : llvm::enumerate(fields)) {
      if (failed(parser.parseOptionalKeyword(field.name)))
        continue;
      if (seen[i])
        return parser.emitError(parser.getCurrentLocation()) << "duplicated `" << field.name << "` entry";
      seen[i] = true;
      if (parser.parseEqual())
        return failure();
      return field.dims ? parseDimSizes(parser, *field.dims) : parser.parseInteger(*field.number);
    }
    auto diag = parser.emitError(parser.getCurrentLocation()) << "expected one of: ";
    llvm::interleaveComma(fields, diag, [&](const AttrField &field) { diag << '`' << field.name << '`'; });
    return diag;
  };
  if (succeeded(parser.parseOptionalGreater()))
    return success();
  do {
    // A trailing comma is accepted.
    if (succeeded(parser.parseOptionalGreater()))
      return success();
    if (parseField())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseGreater();
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter field(printer);
  field("update_window_dims", getUpdateWindowDims());
  field("inserted_window_dims", getInsertedWindowDims());
  field("input_batching_dims", getInputBatchingDims());
  field("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  field("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  field("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> window, inserted, batching, indicesBatching, toOperand;
  int64_t indexVectorDim = 0;
  if (parser.parseLess() || parseFields(parser, {{"update_window_dims", &window},
                                                 {"inserted_window_dims", &inserted},
                                                 {"input_batching_dims", &batching},
                                                 {"scatter_indices_batching_dims", &indicesBatching},
                                                 {"scatter_dims_to_operand_dims", &toOperand},
                                                 {"index_vector_dim", nullptr, &indexVectorDim}}))
    return {};
  return get(parser.getContext(), window, inserted, batching, indicesBatching, toOperand, indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter field(printer);
  field("offset_dims", getOffsetDims());
  field("collapsed_slice_dims", getCollapsedSliceDims());
  field("operand_batching_dims", getOperandBatchingDims());
  field("start_indices_batching_dims", getStartIndicesBatchingDims());
  field("start_index_map", getStartIndexMap());
  field("index_vector_dim", getIndexVectorDim());
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, batching, indicesBatching, startIndexMap;
  int64_t indexVectorDim = 0;
  if (parser.parseLess() || parseFields(parser, {{"offset_dims", &offset},
                                                 {"collapsed_slice_dims", &collapsed},
                                                 {"operand_batching_dims", &batching},
                                                 {"start_indices_batching_dims", &indicesBatching},
                                                 {"start_index_map", &startIndexMap},
                                                 {"index_vector_dim", nullptr, &indexVectorDim}}))
    return {};
  return get(parser.getContext(), offset, collapsed, batching, indicesBatching, startIndexMap, indexVectorDim);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter field(printer);
  field("lhs_batching_dimensions", getLhsBatchingDimensions());
  field("rhs_batching_dimensions", getRhsBatchingDimensions());
  field("lhs_contracting_dimensions", getLhsContractingDimensions());
  field("rhs_contracting_dimensions", getRhsContractingDimensions());
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (parser.parseLess() || parseFields(parser, {{"lhs_batching_dimensions", &lhsBatch},
                                                 {"rhs_batching_dimensions", &rhsBatch},
                                                 {"lhs_contracting_dimensions", &lhsContract},
                                                 {"rhs_contracting_dimensions", &rhsContract}}))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
}

//===-- Convolution dimension numbers -------------------------------------===//

namespace {
/// One of the three bracketed lists: two letters and the positions of the spatial dimensions.
struct ConvSide {
  char first, second;
  int64_t *firstDim, *secondDim;
  SmallVector<int64_t> *spatial;
};
} // namespace

/// The largest rank that is printed. Attributes are printed before they are verified, for example in messages, and a number in them may be arbitrary.
constexpr int64_t kMaxConvRank = 256;

/// Returns the labels by position, "?" for a position without a role; fails if two roles share a position, or if one is no dimension.
static FailureOr<SmallVector<std::string>> labelsOf(char first, int64_t firstDim, char second, int64_t secondDim,
                                                    ArrayRef<int64_t> spatial) {
  SmallVector<std::string> labels;
  auto put = [&](int64_t dim, std::string label) {
    if (dim < 0 || dim >= kMaxConvRank)
      return false;
    if (dim >= static_cast<int64_t>(labels.size()))
      labels.resize(dim + 1);
    if (!labels[dim].empty())
      return false;
    labels[dim] = std::move(label);
    return true;
  };
  bool ok = put(firstDim, {first}) && put(secondDim, {second});
  for (auto [i, dim] : llvm::enumerate(spatial))
    ok = ok && put(dim, std::to_string(i));
  if (!ok)
    return failure();
  for (std::string &label : labels)
    if (label.empty())
      label = "?";
  return labels;
}

void printConvolutionDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr dims) {
  auto input = labelsOf('b', dims.getInputBatchDimension(), 'f', dims.getInputFeatureDimension(),
                        dims.getInputSpatialDimensions());
  auto kernel = labelsOf('i', dims.getKernelInputFeatureDimension(), 'o', dims.getKernelOutputFeatureDimension(),
                         dims.getKernelSpatialDimensions());
  auto output = labelsOf('b', dims.getOutputBatchDimension(), 'f', dims.getOutputFeatureDimension(),
                         dims.getOutputSpatialDimensions());
  if (failed(input) || failed(kernel) || failed(output)) {
    printer << "raw input_batch_dimension = " << dims.getInputBatchDimension()
            << ", input_feature_dimension = " << dims.getInputFeatureDimension()
            << ", input_spatial_dimensions = " << dimSizesToString(dims.getInputSpatialDimensions())
            << ", kernel_input_feature_dimension = " << dims.getKernelInputFeatureDimension()
            << ", kernel_output_feature_dimension = " << dims.getKernelOutputFeatureDimension()
            << ", kernel_spatial_dimensions = " << dimSizesToString(dims.getKernelSpatialDimensions())
            << ", output_batch_dimension = " << dims.getOutputBatchDimension()
            << ", output_feature_dimension = " << dims.getOutputFeatureDimension()
            << ", output_spatial_dimensions = " << dimSizesToString(dims.getOutputSpatialDimensions());
    return;
  }
  printer << "[" << llvm::join(*input, ", ") << "]x[" << llvm::join(*kernel, ", ") << "]->["
          << llvm::join(*output, ", ") << "]";
}

void printConvolutionDimensions(AsmPrinter &printer, Operation *, ConvDimensionNumbersAttr dims) {
  printConvolutionDimensions(printer, dims);
}

static ParseResult parseConvSide(AsmParser &parser, ConvSide side) {
  SMLoc loc = parser.getCurrentLocation();
  std::map<int64_t, int64_t> spatial; // label -> position
  int64_t position = 0, firstDim = -1, secondDim = -1;
  auto parseLabel = [&]() -> ParseResult {
    int64_t here = position++;
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    int64_t label;
    OptionalParseResult number = parser.parseOptionalInteger(label);
    if (number.has_value()) {
      if (failed(*number))
        return failure();
      if (!spatial.emplace(label, here).second)
        return parser.emitError(parser.getCurrentLocation(), "Duplicate entries for spatial dimension ") << label;
      return success();
    }
    StringRef keyword;
    SMLoc keywordLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    int64_t *target = keyword == StringRef(&side.first, 1)    ? &firstDim
                      : keyword == StringRef(&side.second, 1) ? &secondDim
                                                              : nullptr;
    if (!target)
      return parser.emitError(keywordLoc, "Unexpected keyword ") << keyword;
    if (*target != -1)
      return parser.emitError(keywordLoc, "Duplicate entries for keyword ") << keyword;
    *target = here;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseLabel))
    return failure();
  if (firstDim == -1)
    return parser.emitError(loc, "Expected dimension ") << side.first << " not specified";
  if (secondDim == -1)
    return parser.emitError(loc, "Expected dimension ") << side.second << " not specified";
  *side.firstDim = firstDim;
  *side.secondDim = secondDim;
  for (auto [label, at] : spatial) {
    if (label != static_cast<int64_t>(side.spatial->size()))
      return parser.emitError(loc, "expected spatial dimensions 0..") << spatial.size() - 1;
    side.spatial->push_back(at);
  }
  return success();
}

ParseResult parseConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &dims) {
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0, outputBatch = 0, outputFeature = 0;
  SmallVector<int64_t> inputSpatial, kernelSpatial, outputSpatial;
  if (parseConvSide(parser, {'b', 'f', &inputBatch, &inputFeature, &inputSpatial}) || parser.parseKeyword("x") ||
      parseConvSide(parser, {'i', 'o', &kernelInput, &kernelOutput, &kernelSpatial}) || parser.parseArrow() ||
      parseConvSide(parser, {'b', 'f', &outputBatch, &outputFeature, &outputSpatial}))
    return failure();
  dims = ConvDimensionNumbersAttr::get(parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput,
                                       kernelOutput, kernelSpatial, outputBatch, outputFeature, outputSpatial);
  return success();
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printConvolutionDimensions(printer, *this);
  printer << ">";
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalKeyword("raw"))) {
    ConvDimensionNumbersAttr dims;
    if (parseConvolutionDimensions(parser, dims) || parser.parseGreater())
      return {};
    return dims;
  }
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0, outputBatch = 0, outputFeature = 0;
  SmallVector<int64_t> inputSpatial, kernelSpatial, outputSpatial;
  if (parseFields(parser, {{"input_batch_dimension", nullptr, &inputBatch},
                           {"input_feature_dimension", nullptr, &inputFeature},
                           {"input_spatial_dimensions", &inputSpatial},
                           {"kernel_input_feature_dimension", nullptr, &kernelInput},
                           {"kernel_output_feature_dimension", nullptr, &kernelOutput},
                           {"kernel_spatial_dimensions", &kernelSpatial},
                           {"output_batch_dimension", nullptr, &outputBatch},
                           {"output_feature_dimension", nullptr, &outputFeature},
                           {"output_spatial_dimensions", &outputSpatial}}))
    return {};
  return get(parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput, kernelOutput, kernelSpatial,
             outputBatch, outputFeature, outputSpatial);
}

} // namespace millrace::stablehlo
