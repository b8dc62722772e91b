// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReductionInfer.cpp - Result types of reduce, reduce_window, sort, map, batch_norm_* -===//
#include "dialects/stablehlo/ReductionOps.h"
#include "dialects/stablehlo/verify/RegionChecks.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
namespace millrace::stablehlo {
namespace {

/// Checks (C1) (C4) (C5) of reduce and returns the remaining shape with its bounds.
LogicalResult checkReduceShape(std::optional<Location> loc, TypeRange inputs, ArrayRef<int64_t> dimensions,
                               SmallVectorImpl<int64_t> &shape, Attribute &encoding) {
  auto first = cast<RankedTensorType>(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i)
    if (failed(verifyCompatibleShape(first, inputs[i])))
      return emitOptionalError(loc, "expects all inputs to have compatible shapes. Shape at input-index ", i,
                               " is not compatible with shape at input-index 0");
  llvm::SmallDenseSet<int64_t> reduced;
  for (int64_t dim : dimensions) {
    if (dim < 0 || dim >= first.getRank())
      return emitOptionalError(loc, "Out-of-bounds dimension ", dim, ", expected to be in range [0, ", first.getRank(),
                               ')');
    if (!reduced.insert(dim).second)
      return emitOptionalError(loc, "Duplicate reduction dimension: ", dim);
  }
  ArrayRef<int64_t> bounds = encodingToBounds(first.getEncoding());
  SmallVector<int64_t> keptBounds;
  for (int64_t dim = 0; dim != first.getRank(); ++dim) {
    if (reduced.contains(dim))
      continue;
    shape.push_back(first.getDimSize(dim));
    if (!bounds.empty())
      keptBounds.push_back(bounds[dim]);
  }
  encoding = keptBounds.empty() ? Attribute()
                                : boundsToEncoding(first.getContext(), first.getEncoding(), keptBounds);
  return success();
}

/// Checks (C1)..(C12) of reduce_window.
FailureOr<SmallVector<checks::WindowDim>>
checkReduceWindow(std::optional<Location> loc, TypeRange inputs, ArrayRef<int64_t> size,
                  std::optional<ArrayRef<int64_t>> strides, std::optional<ArrayRef<int64_t>> baseDilations,
                  std::optional<ArrayRef<int64_t>> windowDilations, std::optional<DenseIntElementsAttr> padding) {
  if (inputs.empty())
    return emitOptionalError(loc, "requires at least 1 input value");
  for (size_t i = 1; i < inputs.size(); ++i)
    if (failed(verifyCompatibleShape(inputs[0], inputs[i])))
      return emitOptionalError(loc, "expects all inputs to have compatible shapes. Shape at input-index ", i,
                               " is not compatible with shape at input-index 0");
  auto pairs = checks::paddingPairs(padding, loc);
  if (failed(pairs))
    return failure();
  for (Type type : inputs) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    if (rank != int64_t(size.size()))
      return emitOptionalError(loc, "expects window-dimensions size == input rank, but got window-dimensions size: ",
                               size.size(), " and input: ", type, " with rank = ", rank, ".");
  }
  return checks::checkWindow(loc, size, strides.value_or(ArrayRef<int64_t>()), *pairs,
                             baseDilations.value_or(ArrayRef<int64_t>()), windowDilations.value_or(ArrayRef<int64_t>()));
}

SmallVector<ShapedType> shapedTypes(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return cast<ShapedType>(type); });
}

bool pairwiseCompatible(TypeRange types) {
  return llvm::all_of(types, [&](Type a) {
    return llvm::all_of(types, [&](Type b) { return succeeded(verifyCompatibleShape(a, b)); });
  });
}

/// Infers batch_norm_*: `wide` are the tensors, `vectors` the parameters per feature.
LogicalResult inferBatchNorm(std::optional<Location> loc, ValueRange wide, ValueRange vectors, int64_t featureIndex,
                             bool withStatistics, SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(wide[0].getType());
  if (!pairwiseCompatible(wide.getTypes()))
    return emitOptionalError(loc, "expects multi-dimensional operands to have compatible shapes.");
  if (!pairwiseCompatible(vectors.getTypes()))
    return emitOptionalError(loc, "expects single-dimensional operands to have compatible shapes.");
  if (featureIndex >= type.getRank())
    return emitOptionalError(loc,
                             "expects featureIndex to be smaller than the rank of multi-dimensional operands; got "
                             "featureIndex ",
                             featureIndex, ", and rank ", type.getRank(), ".");
  if (featureIndex < 0)
    return emitOptionalError(loc, "expects featureIndex to be a non-negative number, got ", featureIndex, ".");
  int64_t features = type.getDimSize(featureIndex);
  int64_t size = cast<RankedTensorType>(vectors[0].getType()).getDimSize(0);
  if (!checks::dimsAgree(size, features)) {
    auto text = [](int64_t dim) { return isDynamicDimSize(dim) ? std::string("?") : std::to_string(dim); };
    return emitOptionalError(loc,
                             "expects the size of single-dimensional operands to be compatible with feature count, "
                             "but the size of single-dimensional operands is ",
                             text(size), " and the feature count is ", text(features), ".");
  }
  results.push_back(type);
  if (!withStatistics)
    return success();
  Attribute encoding;
  if (ArrayRef<int64_t> bounds = encodingToBounds(type.getEncoding()); !bounds.empty())
    encoding = boundsToEncoding(type.getContext(), type.getEncoding(), bounds[featureIndex]);
  results.append(2, RankedTensorType::get({features}, type.getElementType(), encoding));
  return success();
}

} // namespace

//===-- reduce ------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "expects at least one input");
  SmallVector<int64_t> shape;
  Attribute encoding;
  if (failed(checkReduceShape(loc, adaptor.getInputs().getTypes(), adaptor.getDimensions(), shape, encoding)))
    return failure();
  auto accumulators = checks::accumulatorTypes(loc, adaptor.getBody());
  if (failed(accumulators))
    return failure();
  if (accumulators->size() < adaptor.getInputs().size())
    return emitOptionalError(loc, "Reduction-region here must produce ", adaptor.getInputs().size(),
                             " tensors, but produces ", accumulators->size(), " instead");
  for (size_t i = 0; i != adaptor.getInputs().size(); ++i)
    results.push_back(RankedTensorType::get(shape, (*accumulators)[i].getElementType(), encoding));
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getInputs().empty())
    return emitOpError("expects at least one input");
  SmallVector<int64_t> shape;
  Attribute encoding;
  if (failed(checkReduceShape(getLoc(), getInputs().getTypes(), getDimensions(), shape, encoding)))
    return failure();
  return checks::checkReducer(getLoc(), getBody().front(), shapedTypes(getInputs().getTypes()),
                              shapedTypes(getInitValues().getTypes()), shape);
}

void ReduceOp::build(OpBuilder &, OperationState &state, ValueRange inputs, ValueRange initValues,
                     DenseI64ArrayAttr dimensions, TypeRange elementTypes) {
  state.addOperands(inputs);
  state.addOperands(initValues);
  state.getOrAddProperties<Properties>().dimensions = dimensions;
  state.addRegion();
  SmallVector<int64_t> shape;
  Attribute encoding;
  if (failed(checkReduceShape(std::nullopt, inputs.getTypes(), dimensions.asArrayRef(), shape, encoding)))
    llvm::report_fatal_error("ReduceOp::build with dimensions that do not fit the inputs");
  for (Type elementType : elementTypes)
    state.addTypes(RankedTensorType::get(shape, elementType, encoding));
}

//===-- reduce_window -----------------------------------------------------===//

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  auto window = checkReduceWindow(loc, adaptor.getInputs().getTypes(), adaptor.getWindowDimensions(),
                                  adaptor.getWindowStrides(), adaptor.getBaseDilations(), adaptor.getWindowDilations(),
                                  adaptor.getPadding());
  if (failed(window))
    return failure();
  auto accumulators = checks::accumulatorTypes(loc, adaptor.getBody());
  if (failed(accumulators))
    return failure();
  if (accumulators->size() < adaptor.getInputs().size())
    return emitOptionalError(loc, "Reduction-region here must produce ", adaptor.getInputs().size(),
                             " tensors, but produces ", accumulators->size(), " instead");
  for (auto [input, accumulator] : llvm::zip(adaptor.getInputs(), *accumulators)) {
    auto type = cast<RankedTensorType>(input.getType());
    Attribute encoding;
    if (ArrayRef<int64_t> bounds = encodingToBounds(type.getEncoding()); !bounds.empty())
      encoding = boundsToEncoding(type.getContext(), type.getEncoding(), checks::windowPositions(bounds, *window));
    results.push_back(RankedTensorType::get(checks::windowPositions(type.getShape(), *window),
                                            accumulator.getElementType(), encoding));
  }
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  auto window = checkReduceWindow(getLoc(), getInputs().getTypes(), getWindowDimensions(), getWindowStrides(),
                                  getBaseDilations(), getWindowDilations(), getPadding());
  if (failed(window))
    return failure();
  return checks::checkReducer(getLoc(), getBody().front(), shapedTypes(getInputs().getTypes()),
                              shapedTypes(getInitValues().getTypes()), getWindowDimensions());
}

Operation *ReduceWindowOp::getReductionOp(int index) {
  Operation *terminator = getBody().front().getTerminator();
  Operation *compute = terminator->getOperand(index).getDefiningOp();
  if (!compute || compute->getNumOperands() != 2)
    return nullptr;
  BlockArgument left = getBody().getArgument(index), right = getBody().getArgument(getInputs().size() + index);
  Value a = compute->getOperand(0), b = compute->getOperand(1);
  return (a == left && b == right) || (a == right && b == left) ? compute : nullptr;
}

//===-- select_and_scatter ------------------------------------------------===//

LogicalResult SelectAndScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  auto accumulators = checks::accumulatorTypes(loc, adaptor.getScatter());
  if (failed(accumulators))
    return failure();
  if (accumulators->empty())
    return emitOptionalError(loc, "The reduction-region expected to return some value(s)");
  results.push_back(getSameShapeTensorType(cast<ShapedType>(adaptor.getOperand().getType()),
                                           accumulators->front().getElementType()));
  return success();
}

LogicalResult SelectAndScatterOp::verify() {
  auto operandType = cast<RankedTensorType>(getOperand().getType());
  auto sourceType = cast<RankedTensorType>(getSource().getType());
  Block &select = getSelect().front();
  // (C9)
  if (select.getNumArguments() != 2)
    return emitOptionalError(getLoc(), "expects the select-region to take 2 parameters, but takes ",
                             select.getNumArguments());
  Type scalar = RankedTensorType::get({}, operandType.getElementType());
  for (BlockArgument argument : select.getArguments())
    if (!checks::sameShapeAndElementType(scalar, argument.getType(), /*ignoreFpPrecision=*/true))
      return emitOptionalError(getLoc(), "expects the type of select-region's parameter at index ",
                               argument.getArgNumber(), " to be ", scalar, ", but got ", argument.getType());
  OperandRange selected = select.getTerminator()->getOperands();
  if (selected.size() != 1)
    return emitOptionalError(getLoc(), "expects select-region to return single value, but got: ", selected.size());
  auto predicate = dyn_cast<RankedTensorType>(selected[0].getType());
  if (!predicate || !predicate.getElementType().isInteger(1) || predicate.getRank() != 0)
    return emitOptionalError(getLoc(), "expects the return-type of select-region to be tensor<i1>, but got: ",
                             selected[0].getType());
  // (C3) (C10)
  ShapedType source = RankedTensorType::get({}, sourceType.getElementType());
  if (failed(checks::checkReducer(getLoc(), getScatter().front(), source,
                                  cast<ShapedType>(getInitValue().getType()), {})))
    return failure();
  // (C4)..(C8)
  ArrayRef<int64_t> size = getWindowDimensions().value_or(ArrayRef<int64_t>());
  if (operandType.getRank() != int64_t(size.size()))
    return emitOptionalError(getLoc(), "expects window-dimensions size == operand rank, but got window-dimensions size: ",
                             size.size(), " and operand-type: ", operandType, " with rank = ", operandType.getRank(),
                             ".");
  auto pairs = checks::paddingPairs(getPadding(), getLoc());
  if (failed(pairs))
    return failure();
  auto window =
      checks::checkWindow(getLoc(), size, getWindowStrides().value_or(ArrayRef<int64_t>()), *pairs, {}, {});
  if (failed(window))
    return failure();
  // (C1) (C2)
  Type want =
      RankedTensorType::get(checks::windowPositions(operandType.getShape(), *window), operandType.getElementType());
  if (!checks::sameShapeAndElementType(want, sourceType, /*ignoreFpPrecision=*/true))
    return emitOptionalError(getLoc(), "expects source-type to be ", want, ", but got", sourceType);
  return success();
}

//===-- sort, map ---------------------------------------------------------===//

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  llvm::append_range(results, adaptor.getInputs().getTypes());
  return success();
}

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return emitOpError("requires at least one input");
  // (C4)
  int64_t rank = cast<RankedTensorType>(getInputs()[0].getType()).getRank();
  int64_t dimension = getDimension();
  if (dimension < -rank || dimension >= rank)
    return emitOptionalError(getLoc(), "dimension attribute value must be in range [-", rank, ", ", rank,
                             "), but found ", dimension);
  // (C5)
  Block &block = getComparator().front();
  size_t count = getInputs().size();
  if (block.getNumArguments() != 2 * count)
    return emitOptionalError(getLoc(), "comparator block should have ", 2 * count, " arguments");
  for (auto [index, type] : llvm::enumerate(getInputs().getTypes())) {
    Type scalar = RankedTensorType::get({}, getElementTypeOrSelf(type));
    for (size_t i : {2 * index, 2 * index + 1})
      if (block.getArgument(i).getType() != scalar)
        return emitOptionalError(getLoc(), "comparator block argument #", i, " should be of type ", scalar, " but got ",
                                 block.getArgument(i).getType());
  }
  OperandRange returned = block.getTerminator()->getOperands();
  if (returned.size() != 1)
    return emitOptionalError(getLoc(), "comparator must return single output but got ", returned.size());
  auto predicate = dyn_cast<ShapedType>(returned[0].getType());
  if (!predicate || predicate.getRank() != 0 || !predicate.getElementType().isInteger(1))
    return emitOptionalError(getLoc(), "comparator must return tensor<i1> but got ", returned[0].getType());
  return success();
}

void SortOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs, int64_t dimension, bool isStable) {
  state.addOperands(inputs);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.dimension = builder.getI64IntegerAttr(dimension);
  properties.is_stable = builder.getBoolAttr(isStable);
  state.addTypes(inputs.getTypes());
  state.addRegion();
}

LogicalResult MapOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  Region &region = adaptor.getComputation();
  if (region.empty())
    return emitOptionalError(loc, "expect non-empty region");
  ValueRange inputs = adaptor.getInputs();
  if (inputs.empty())
    return emitOptionalError(loc, "expects at least one input");
  // (C4)
  Block &block = region.front();
  if (inputs.size() != block.getNumArguments())
    return emitOptionalError(loc, "expects number of operands to match the arity of map computation, but got: ",
                             inputs.size(), " and ", block.getNumArguments());
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() != 0)
      return emitOptionalError(loc, "computation arguments must be 0-rank tensor, but got: arg #", index, " of type ",
                               argument.getType());
    Type element = getElementTypeOrSelf(inputs[index].getType());
    if (type.getElementType() != element)
      return emitOptionalError(loc, "element type of operands and computation arguments must match, but got: ",
                               element, " and ", type.getElementType());
  }
  OperandRange returned = block.getTerminator()->getOperands();
  if (returned.size() != 1)
    return emitOptionalError(loc, "computation must return single output, but got: ", returned.size());
  auto output = dyn_cast<RankedTensorType>(returned[0].getType());
  if (!output || output.getRank() != 0)
    return emitOptionalError(loc, "computation must return 0-rank tensor, but got: ", returned[0].getType());
  // (C3)
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  for (auto [index, dim] : llvm::enumerate(dimensions))
    if (dim != int64_t(index))
      return emitOptionalError(loc, "requires monotonically increasing dimension numbers, but got: ", dimensions);
  for (Type type : inputs.getTypes())
    if (int64_t(dimensions.size()) != cast<RankedTensorType>(type).getRank())
      return emitOptionalError(loc,
                               "applied to a subset of dimensions currently not supported: operand dimensions = ",
                               cast<RankedTensorType>(type).getRank(),
                               ", requested map dimensions size = ", dimensions.size());
  results.push_back(getSameShapeTensorType(cast<ShapedType>(inputs[0].getType()), output.getElementType()));
  return success();
}

LogicalResult MapOp::verify() { return success(); }

//===-- batch_norm_* ------------------------------------------------------===//

LogicalResult BatchNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &results) {
  return inferBatchNorm(loc, {adaptor.getOperand(), adaptor.getGradOutput()},
                        {adaptor.getScale(), adaptor.getMean(), adaptor.getVariance()}, adaptor.getFeatureIndex(),
                        /*withStatistics=*/true, results);
}
LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &results) {
  return inferBatchNorm(loc, {adaptor.getOperand()},
                        {adaptor.getScale(), adaptor.getOffset(), adaptor.getMean(), adaptor.getVariance()},
                        adaptor.getFeatureIndex(), /*withStatistics=*/false, results);
}
LogicalResult BatchNormTrainingOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &results) {
  return inferBatchNorm(loc, {adaptor.getOperand()}, {adaptor.getScale(), adaptor.getOffset()},
                        adaptor.getFeatureIndex(), /*withStatistics=*/true, results);
}

} // namespace millrace::stablehlo
