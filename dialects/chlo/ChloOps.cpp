// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChloOps.cpp - Inference, verifiers and folds of CHLO ops -----------===//
#include "dialects/chlo/Ops.h"
#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using millrace::stablehlo::getSameShapeTensorType;
using millrace::stablehlo::isDynamicDimSize;
using millrace::stablehlo::isStaticDimSize;
namespace millrace::chlo {

//===-- Predicates --------------------------------------------------------===//

#define MILLRACE_INFER_PRED(OP)                                                                                        \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, std::optional<Location>, ValueRange operands,               \
                                     DictionaryAttr, OpaqueProperties, RegionRange,                                    \
                                     SmallVectorImpl<Type> &inferredReturnTypes) {                                     \
    inferredReturnTypes.push_back(                                                                                     \
        getSameShapeTensorType(cast<ShapedType>(operands.front().getType()), IntegerType::get(context, 1)));           \
    return success();                                                                                                  \
  }
MILLRACE_INFER_PRED(IsInfOp)
MILLRACE_INFER_PRED(IsNegInfOp)
MILLRACE_INFER_PRED(IsPosInfOp)
#undef MILLRACE_INFER_PRED

//===-- Broadcasting ------------------------------------------------------===//

/// Returns the sizes after broadcasting; fails if sizes differ and neither is 1.
static FailureOr<SmallVector<int64_t>> broadcastShapes(std::optional<Location> location, ArrayRef<int64_t> a,
                                                       ArrayRef<int64_t> b) {
  SmallVector<int64_t> shape(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= shape.size(); ++i) {
    int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    int64_t &size = shape[shape.size() - i];
    if (x == y || y == 1)
      size = x;
    else if (x == 1)
      size = y;
    else if (isDynamicDimSize(x))
      size = y;
    else if (isDynamicDimSize(y))
      size = x;
    else
      return emitOptionalError(location, "shapes [", stablehlo::dimSizesToString(a), "] and [",
                               stablehlo::dimSizesToString(b), "] do not broadcast");
  }
  return shape;
}

bool areValidBroadcastDimensions(ArrayRef<int64_t> dims, int64_t lhsRank, int64_t rhsRank) {
  int64_t small = std::min(lhsRank, rhsRank), large = std::max(lhsRank, rhsRank), last = -1;
  for (int64_t dim : dims) {
    if (dim <= last || dim >= large)
      return false;
    last = dim;
  }
  return static_cast<int64_t>(dims.size()) == small;
}

/// Returns the shape of a binary operation; `dims` maps the dimensions of the operand of lower rank to those of the other. Invalid dimensions are no
/// error here, because other tools write and accept them; legalization refuses them.
static FailureOr<SmallVector<int64_t>> broadcastBinary(std::optional<Location> location, RankedTensorType lhs,
                                                       RankedTensorType rhs,
                                                       std::optional<ArrayRef<int64_t>> dims) {
  if (!dims || lhs.getRank() == rhs.getRank())
    return broadcastShapes(location, lhs.getShape(), rhs.getShape());
  RankedTensorType small = lhs.getRank() < rhs.getRank() ? lhs : rhs;
  RankedTensorType large = lhs.getRank() < rhs.getRank() ? rhs : lhs;
  if (!areValidBroadcastDimensions(*dims, lhs.getRank(), rhs.getRank()))
    return SmallVector<int64_t>(large.getShape());
  SmallVector<int64_t> shape(large.getRank(), 1);
  for (auto [i, dim] : llvm::enumerate(*dims))
    shape[dim] = small.getDimSize(i);
  return broadcastShapes(location, shape, large.getShape());
}

/// Encodings with bounds are combined if both operands have the rank of the result.
static LogicalResult inferBinary(std::optional<Location> location, ValueRange operands,
                                 std::optional<ArrayRef<int64_t>> dims, Type elementType,
                                 SmallVectorImpl<Type> &inferredReturnTypes) {
  auto lhs = cast<RankedTensorType>(operands[0].getType()), rhs = cast<RankedTensorType>(operands[1].getType());
  if (!stablehlo::isCompatibleElementTypeForHloTypeInference(lhs, rhs))
    return emitOptionalError(location, "mismatched operand types");
  auto shape = broadcastBinary(location, lhs, rhs, dims);
  if (failed(shape))
    return failure();
  inferredReturnTypes.push_back(RankedTensorType::get(*shape, elementType ? elementType : lhs.getElementType()));
  return success();
}

InFlightDiagnostic emitUnsupportedBroadcastDimensions(Operation *op, ArrayRef<int64_t> dims) {
  return op->emitWarning() << "unsupported non prefix-padded dynamic rank broadcast_dimensions = " << stablehlo::dimSizesToString(dims);
}

/// Computes the shape as a value. Returns failure for broadcast_dimensions other than the implicit ones.
static LogicalResult reifyBinary(Operation *op, OpBuilder &builder, ValueRange operands,
                                 std::optional<ArrayRef<int64_t>> dims, SmallVectorImpl<Value> &shapes) {
  int64_t ranks[] = {cast<RankedTensorType>(operands[0].getType()).getRank(),
                     cast<RankedTensorType>(operands[1].getType()).getRank()};
  int64_t small = std::min(ranks[0], ranks[1]), large = std::max(ranks[0], ranks[1]);
  if (dims)
    for (auto [i, dim] : llvm::enumerate(*dims))
      if (dim != large - small + static_cast<int64_t>(i))
        return emitUnsupportedBroadcastDimensions(op, *dims);
  SmallVector<Value> operandShapes;
  for (Value operand : operands)
    operandShapes.push_back(shape::ShapeOfOp::create(builder, op->getLoc(), operand));
  Type type = RankedTensorType::get({large}, builder.getIndexType());
  shapes.push_back(shape::BroadcastOp::create(builder, op->getLoc(), type, operandShapes, StringAttr()));
  return success();
}

#define MILLRACE_BROADCAST_BINARY(OP, ELEMENT)                                                                         \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,      \
                                     DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,      \
                                     SmallVectorImpl<Type> &inferredReturnTypes) {                                     \
    OP::Adaptor adaptor(operands, attributes, properties, regions);                                                    \
    Type element = getElementTypeOrSelf(operands.front());                                                             \
    (void)element;                                                                                                     \
    return inferBinary(location, operands, adaptor.getBroadcastDimensions(), ELEMENT, inferredReturnTypes);            \
  }                                                                                                                    \
  LogicalResult OP::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands, SmallVectorImpl<Value> &shapes) {   \
    return reifyBinary(getOperation(), builder, operands, getBroadcastDimensions(), shapes);                           \
  }
MILLRACE_BROADCAST_BINARY(BroadcastAddOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastAndOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastAtan2Op, Type())
MILLRACE_BROADCAST_BINARY(BroadcastComplexOp, ComplexType::get(element))
MILLRACE_BROADCAST_BINARY(BroadcastDivOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastMaxOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastMinOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastMulOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastNextAfterOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastOrOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastPolygammaOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastPowOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastRemOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastShiftLeftOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastShiftRightArithmeticOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastShiftRightLogicalOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastSubOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastXorOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastZetaOp, Type())
MILLRACE_BROADCAST_BINARY(BroadcastCompareOp, IntegerType::get(context, 1))
#undef MILLRACE_BROADCAST_BINARY

LogicalResult BroadcastSelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  ValueRange operands, DictionaryAttr attributes,
                                                  OpaqueProperties properties, RegionRange regions,
                                                  SmallVectorImpl<Type> &inferredReturnTypes) {
  BroadcastSelectOp::Adaptor adaptor(operands, attributes, properties, regions);
  auto pred = cast<RankedTensorType>(adaptor.getPred().getType());
  auto onTrue = cast<RankedTensorType>(adaptor.getOnTrue().getType());
  auto onFalse = cast<RankedTensorType>(adaptor.getOnFalse().getType());
  if (onTrue.getElementType() != onFalse.getElementType())
    return emitOptionalError(location, "mismatched operand types");
  auto branches = broadcastShapes(location, onTrue.getShape(), onFalse.getShape());
  auto shape = failed(branches) ? branches : broadcastShapes(location, pred.getShape(), *branches);
  if (failed(shape))
    return failure();
  inferredReturnTypes.push_back(RankedTensorType::get(*shape, onTrue.getElementType()));
  return success();
}

LogicalResult BroadcastSelectOp::reifyReturnTypeShapes(OpBuilder &builder, ValueRange operands,
                                                       SmallVectorImpl<Value> &shapes) {
  SmallVector<Value> operandShapes;
  int64_t rank = 0;
  for (Value operand : operands) {
    operandShapes.push_back(shape::ShapeOfOp::create(builder, getLoc(), operand));
    rank = std::max(rank, cast<RankedTensorType>(operand.getType()).getRank());
  }
  shapes.push_back(shape::BroadcastOp::create(builder, getLoc(), RankedTensorType::get({rank}, builder.getIndexType()),
                                              operandShapes, StringAttr()));
  return success();
}

//===-- Constants ---------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                           DictionaryAttr attributes, OpaqueProperties properties,
                                           RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  ConstantOp::Adaptor adaptor(operands, attributes, properties, regions);
  inferredReturnTypes.push_back(adaptor.getValue().getType());
  return success();
}
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantLikeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                               DictionaryAttr attributes, OpaqueProperties properties,
                                               RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  ConstantLikeOp::Adaptor adaptor(operands, attributes, properties, regions);
  inferredReturnTypes.push_back(
      getSameShapeTensorType(cast<ShapedType>(adaptor.getOperand().getType()), adaptor.getValue().getType()));
  return success();
}

LogicalResult ConstantLikeOp::verify() {
  if (getValue().getType() != getElementTypeOrSelf(getType()))
    return emitOpError() << "value's type doesn't match element return type";
  return success();
}

OpFoldResult ConstantLikeOp::fold(FoldAdaptor) {
  auto type = cast<ShapedType>(getType());
  if (!type.hasStaticShape() || cast<ShapedType>(getOperand().getType()).getShape() != type.getShape())
    return {};
  // There is no typed attribute for complex values.
  if (!isa<IntegerAttr, FloatAttr>(getValue()))
    return {};
  return SplatElementsAttr::get(type, Attribute(getValue()));
}

//===-- top_k -------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &inferredReturnTypes) {
  TopKOp::Adaptor adaptor(operands, attributes, properties, regions);
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t k = adaptor.getK();
  if (operand.getRank() < 1)
    return emitOptionalError(location, "operand's rank must be at least 1");
  int64_t last = operand.getShape().back();
  if (k < 0 || (isStaticDimSize(last) && last < k))
    return emitOptionalError(location, "operand's last dimension must be at least ", k);
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = k;
  inferredReturnTypes.push_back(RankedTensorType::get(shape, operand.getElementType()));
  inferredReturnTypes.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

//===-- ragged_dot --------------------------------------------------------===//

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  stablehlo::FieldPrinter field(printer);
  field("lhs_batching_dimensions", getLhsBatchingDimensions());
  field("rhs_batching_dimensions", getRhsBatchingDimensions());
  field("lhs_contracting_dimensions", getLhsContractingDimensions());
  field("rhs_contracting_dimensions", getRhsContractingDimensions());
  field("lhs_ragged_dimensions", getLhsRaggedDimensions());
  field("rhs_group_dimensions", getRhsGroupDimensions());
}

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract, lhsRagged, rhsGroup;
  if (parser.parseLess() || stablehlo::parseFields(parser, {{"lhs_batching_dimensions", &lhsBatch},
                                                            {"rhs_batching_dimensions", &rhsBatch},
                                                            {"lhs_contracting_dimensions", &lhsContract},
                                                            {"rhs_contracting_dimensions", &rhsContract},
                                                            {"lhs_ragged_dimensions", &lhsRagged},
                                                            {"rhs_group_dimensions", &rhsGroup}}))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract, lhsRagged, rhsGroup);
}

LogicalResult RaggedDotOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr attributes, OpaqueProperties properties,
                                            RegionRange regions, SmallVectorImpl<Type> &inferredReturnTypes) {
  RaggedDotOp::Adaptor adaptor(operands, attributes, properties, regions);
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType()), rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  auto groups = cast<RankedTensorType>(adaptor.getGroupSizes().getType());
  RaggedDotDimensionNumbersAttr dims = adaptor.getRaggedDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatch = dims.getLhsBatchingDimensions(), rhsBatch = dims.getRhsBatchingDimensions(),
                    lhsContract = dims.getLhsContractingDimensions(), rhsContract = dims.getRhsContractingDimensions(),
                    ragged = dims.getLhsRaggedDimensions(), group = dims.getRhsGroupDimensions();
  if (ragged.size() != 1)
    return emitOptionalError(location, "There must be exactly one ragged dimension in the lhs.");
  auto verifyDims = [&](ArrayRef<int64_t> list, RankedTensorType type, StringRef name) -> LogicalResult {
    for (int64_t dim : list)
      if (dim < 0 || dim >= type.getRank())
        return emitOptionalError(location, name, " value: ", dim, " is out of range: [0, ", type.getRank(), ")");
    return success();
  };
  if (failed(verifyDims(lhsBatch, lhs, "lhs_batching_dimensions")) ||
      failed(verifyDims(rhsBatch, rhs, "rhs_batching_dimensions")) ||
      failed(verifyDims(lhsContract, lhs, "lhs_contracting_dimensions")) ||
      failed(verifyDims(rhsContract, rhs, "rhs_contracting_dimensions")) ||
      failed(verifyDims(ragged, lhs, "lhs_ragged_dimensions")) ||
      failed(verifyDims(group, rhs, "rhs_group_dimensions")))
    return failure();
  if (lhsBatch.size() != rhsBatch.size())
    return emitOptionalError(location, "lhs and rhs should have the same number of batching dimensions");
  if (lhsContract.size() != rhsContract.size())
    return emitOptionalError(location, "lhs and rhs should have the same number of contracting dimensions");
  auto agree = [](int64_t a, int64_t b) { return isDynamicDimSize(a) || isDynamicDimSize(b) || a == b; };
  for (auto [l, r] : llvm::zip(lhsBatch, rhsBatch))
    if (!agree(lhs.getDimSize(l), rhs.getDimSize(r)))
      return emitOptionalError(location, "batching dimension sizes must match for lhs/rhs");
  for (auto [l, r] : llvm::zip(lhsContract, rhsContract))
    if (!agree(lhs.getDimSize(l), rhs.getDimSize(r)))
      return emitOptionalError(location, "contracting dimension sizes must match for lhs/rhs");
  bool isBatch = llvm::is_contained(lhsBatch, ragged[0]), isContracting = llvm::is_contained(lhsContract, ragged[0]);
  if (!isBatch && !isContracting) {
    if (group.size() != 1)
      return emitOptionalError(location, "There must be exactly one group dimension in the rhs when the lhs ragged "
                                         "dimension is non-contracting.");
    if (llvm::is_contained(rhsBatch, group[0]) || llvm::is_contained(rhsContract, group[0]))
      return emitOptionalError(location, "has duplicated dimension from rhs_group_dimensions and the other dimensions "
                                         "of rhs: ",
                               group[0]);
    if (!agree(rhs.getDimSize(group[0]), groups.getShape().back()))
      return emitOptionalError(location, "rhs group dimension is expected to have size=", groups.getShape().back(),
                               ", got ", rhs.getDimSize(group[0]));
  } else if (!group.empty()) {
    return emitOptionalError(location, "There must be zero group dimensions in the rhs when the ragged dimension is ",
                             isBatch ? "batch" : "contracting", ".");
  }
  SmallVector<int64_t> shape;
  if (isContracting)
    shape.push_back(groups.getShape().back());
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(lhsBatch, dim) && !llvm::is_contained(lhsContract, dim))
      shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(rhsBatch, dim) && !llvm::is_contained(rhsContract, dim) && !llvm::is_contained(group, dim))
      shape.push_back(rhs.getDimSize(dim));
  inferredReturnTypes.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

//===-- scan --------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  Block &body = getBody().front();
  if (getInputs().empty() && getInits().empty())
    return emitOpError() << "expects at least one input or init";
  int64_t dimension = getDimension();
  if (body.getNumArguments() != getInputs().size() + getInits().size())
    return emitOpError() << "expects the body to take " << getInputs().size() + getInits().size()
                         << " arguments, but it takes " << body.getNumArguments();
  for (auto [input, argument] : llvm::zip(getInputs(), body.getArguments())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (dimension >= type.getRank())
      return emitOpError() << "expects dimension to be in range [0, " << type.getRank() << "), but got " << dimension;
    SmallVector<int64_t> slice(type.getShape());
    slice.erase(slice.begin() + dimension);
    auto argType = dyn_cast<RankedTensorType>(argument.getType());
    if (!argType || argType.getElementType() != type.getElementType() ||
        failed(verifyCompatibleShape(argType.getShape(), slice)))
      return emitOpError() << "expects body argument " << argument.getArgNumber() << " to be a slice of " << type
                           << " without dimension " << dimension << ", but got " << argument.getType();
    if (failed(verifyCompatibleShape(ArrayRef<int64_t>{type.getDimSize(dimension)},
                                     ArrayRef<int64_t>{cast<ShapedType>(getInputs()[0].getType()).getDimSize(dimension)})))
      return emitOpError() << "expects all inputs to have the same size in dimension " << dimension;
  }
  for (auto [init, argument] : llvm::zip(getInits(), body.getArguments().drop_front(getInputs().size())))
    if (!stablehlo::isCompatibleForHloTypeInference(init.getType(), argument.getType()))
      return emitOpError() << "expects body argument " << argument.getArgNumber() << " to have the type of its init "
                           << init.getType() << ", but got " << argument.getType();
  TypeRange returned = body.getTerminator()->getOperandTypes();
  if (returned.size() != getOutputs().size() + getCarries().size() || getCarries().size() != getInits().size())
    return emitOpError() << "expects the body to return " << getOutputs().size() << " outputs and "
                         << getInits().size() << " carries, but it returns " << returned.size() << " values";
  for (auto [carry, type] : llvm::zip(getCarries(), returned.drop_front(getOutputs().size())))
    if (!stablehlo::isCompatibleForHloTypeInference(carry.getType(), type))
      return emitOpError() << "expects a carry of type " << type << ", but got " << carry.getType();
  for (auto [output, type] : llvm::zip(getOutputs(), returned)) {
    auto outputType = cast<RankedTensorType>(output.getType());
    auto slice = dyn_cast<RankedTensorType>(type);
    if (!slice || slice.getRank() + 1 != outputType.getRank() || dimension >= outputType.getRank())
      return emitOpError() << "expects an output with the dimension " << dimension << " added to " << type
                           << ", but got " << outputType;
    SmallVector<int64_t> shape(outputType.getShape());
    shape.erase(shape.begin() + dimension);
    if (slice.getElementType() != outputType.getElementType() ||
        failed(verifyCompatibleShape(shape, slice.getShape())))
      return emitOpError() << "expects an output with the dimension " << dimension << " added to " << type
                           << ", but got " << outputType;
  }
  return success();
}

// `chlo.scan(%inputs) inits(%inits) dimension=0 {attributes} { body } : (types) -> (types)`.
void ScanOp::print(OpAsmPrinter &printer) {
  printer << "(" << getInputs() << ") inits(" << getInits() << ") dimension=" << getDimension();
  if (getIsReverse())
    printer << " is_reverse=true";
  if (auto associative = getIsAssociative())
    printer << " is_associative=" << (*associative ? "true" : "false");
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"dimension", "is_reverse", "is_associative", "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(getOperation());
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension;
  Builder &builder = parser.getBuilder();
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("dimension") ||
      parser.parseEqual() || parser.parseInteger(dimension))
    return failure();
  result.addAttribute("dimension", builder.getI64IntegerAttr(dimension));
  for (StringRef name : {"is_reverse", "is_associative"}) {
    if (failed(parser.parseOptionalKeyword(name)))
      continue;
    bool value = false;
    if (parser.parseEqual())
      return failure();
    if (succeeded(parser.parseOptionalKeyword("true")))
      value = true;
    else if (parser.parseKeyword("false"))
      return failure();
    result.addAttribute(name, builder.getBoolAttr(value));
  }
  Region *body = result.addRegion();
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body) ||
      parser.parseColonType(type))
    return failure();
  SmallVector<OpAsmParser::UnresolvedOperand> operands(inputs);
  llvm::append_range(operands, inits);
  if (parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  if (type.getNumResults() < inits.size())
    return parser.emitError(loc, "expected a carry per init among the results");
  int32_t outputs = type.getNumResults() - inits.size(), numInits = inits.size(), numInputs = inputs.size();
  result.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr({numInputs, numInits}));
  result.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr({outputs, numInits}));
  return success();
}

} // namespace millrace::chlo
