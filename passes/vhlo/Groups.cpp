// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.cpp - Structured attributes, taken apart in the portable format ===//
#include "passes/vhlo/Groups.h"

#include "dialects/stablehlo/Dialect.h"
#include "passes/vhlo/Attributes.h"

using namespace mlir;

namespace millrace::vhlo {

//===-- Members -----------------------------------------------------------===//

int64_t MemberReader::integer() {
  auto value = dyn_cast_or_null<IntegerV1Attr>(next());
  ok = ok && value && value.getValue().getBitWidth() <= 64;
  return ok ? value.getValue().getSExtValue() : 0;
}
SmallVector<int64_t> MemberReader::integers() {
  auto values = integersOf(next());
  ok = ok && values;
  return ok ? *values : SmallVector<int64_t>();
}
Type MemberReader::type() {
  auto value = dyn_cast_or_null<TypeV1Attr>(next());
  ok = ok && value;
  return ok ? value.getValue() : Type();
}
bool MemberReader::boolean() {
  auto value = dyn_cast_or_null<BoolV1Attr>(next());
  ok = ok && value;
  return ok && value.getValue();
}

void MemberWriter::integer(int64_t value) { members.push_back(integerToVhlo(context, value)); }
void MemberWriter::integers(ArrayRef<int64_t> values) { members.push_back(integersToVhlo(context, values)); }
void MemberWriter::type(Type type) {
  Type converted = vhlo::toVhlo(type);
  members.push_back(converted ? TypeV1Attr::get(context, converted) : TypeV1Attr());
}
void MemberWriter::boolean(bool value) { members.push_back(BoolV1Attr::get(context, value)); }

namespace {

//===-- Dimension numbers -------------------------------------------------===//

Attribute packConv(MLIRContext *context, MemberReader &in, EmitError) {
  int64_t inputBatch = in.integer(), inputFeature = in.integer();
  SmallVector<int64_t> inputSpatial = in.integers();
  int64_t kernelInput = in.integer(), kernelOutput = in.integer();
  SmallVector<int64_t> kernelSpatial = in.integers();
  int64_t outputBatch = in.integer(), outputFeature = in.integer();
  return stablehlo::ConvDimensionNumbersAttr::get(context, inputBatch, inputFeature, inputSpatial, kernelInput,
                                                  kernelOutput, kernelSpatial, outputBatch, outputFeature,
                                                  in.integers());
}
void unpackConv(Attribute attr, MemberWriter &out) {
  auto dims = cast<stablehlo::ConvDimensionNumbersAttr>(attr);
  out.integer(dims.getInputBatchDimension());
  out.integer(dims.getInputFeatureDimension());
  out.integers(dims.getInputSpatialDimensions());
  out.integer(dims.getKernelInputFeatureDimension());
  out.integer(dims.getKernelOutputFeatureDimension());
  out.integers(dims.getKernelSpatialDimensions());
  out.integer(dims.getOutputBatchDimension());
  out.integer(dims.getOutputFeatureDimension());
  out.integers(dims.getOutputSpatialDimensions());
}

Attribute packDot(MLIRContext *context, MemberReader &in, EmitError) {
  SmallVector<int64_t> lhsBatching = in.integers(), rhsBatching = in.integers(), lhsContracting = in.integers();
  return stablehlo::DotDimensionNumbersAttr::get(context, lhsBatching, rhsBatching, lhsContracting, in.integers());
}
void unpackDot(Attribute attr, MemberWriter &out) {
  auto dims = cast<stablehlo::DotDimensionNumbersAttr>(attr);
  out.integers(dims.getLhsBatchingDimensions());
  out.integers(dims.getRhsBatchingDimensions());
  out.integers(dims.getLhsContractingDimensions());
  out.integers(dims.getRhsContractingDimensions());
}

Attribute packGather(MLIRContext *context, MemberReader &in, EmitError) {
  SmallVector<int64_t> offset = in.integers(), collapsed = in.integers(), operandBatching = in.integers(),
                       indicesBatching = in.integers(), indexMap = in.integers();
  return stablehlo::GatherDimensionNumbersAttr::get(context, offset, collapsed, operandBatching, indicesBatching,
                                                    indexMap, in.integer());
}
void unpackGather(Attribute attr, MemberWriter &out) {
  auto dims = cast<stablehlo::GatherDimensionNumbersAttr>(attr);
  out.integers(dims.getOffsetDims());
  out.integers(dims.getCollapsedSliceDims());
  out.integers(dims.getOperandBatchingDims());
  out.integers(dims.getStartIndicesBatchingDims());
  out.integers(dims.getStartIndexMap());
  out.integer(dims.getIndexVectorDim());
}

Attribute packScatter(MLIRContext *context, MemberReader &in, EmitError) {
  SmallVector<int64_t> window = in.integers(), inserted = in.integers(), inputBatching = in.integers(),
                       indicesBatching = in.integers(), toOperand = in.integers();
  return stablehlo::ScatterDimensionNumbersAttr::get(context, window, inserted, inputBatching, indicesBatching,
                                                     toOperand, in.integer());
}
void unpackScatter(Attribute attr, MemberWriter &out) {
  auto dims = cast<stablehlo::ScatterDimensionNumbersAttr>(attr);
  out.integers(dims.getUpdateWindowDims());
  out.integers(dims.getInsertedWindowDims());
  out.integers(dims.getInputBatchingDims());
  out.integers(dims.getScatterIndicesBatchingDims());
  out.integers(dims.getScatterDimsToOperandDims());
  out.integer(dims.getIndexVectorDim());
}

//===-- Others ------------------------------------------------------------===//

Attribute packAlgorithm(MLIRContext *context, MemberReader &in, EmitError emitError) {
  auto typeOf = [&] {
    Type type = in.type();
    Type converted = type ? fromVhlo(type, emitError) : Type();
    in.ok = in.ok && converted;
    return converted;
  };
  Type lhs = typeOf(), rhs = typeOf(), accumulation = typeOf();
  int64_t lhsComponents = in.integer(), rhsComponents = in.integer(), operations = in.integer();
  bool imprecise = in.boolean();
  if (!in.ok)
    return {};
  return stablehlo::DotAlgorithmAttr::getChecked(emitError, context, lhs, rhs, accumulation, lhsComponents,
                                                 rhsComponents, operations, imprecise);
}
void unpackAlgorithm(Attribute attr, MemberWriter &out) {
  auto algorithm = dyn_cast_or_null<stablehlo::DotAlgorithmAttr>(attr);
  if (!algorithm) // none_v1 in every member means that there is no algorithm
    for (int i = 0; i < 7; ++i)
      out.none();
  if (!algorithm)
    return;
  out.type(algorithm.getLhsPrecisionType());
  out.type(algorithm.getRhsPrecisionType());
  out.type(algorithm.getAccumulationType());
  out.integer(algorithm.getLhsComponentCount());
  out.integer(algorithm.getRhsComponentCount());
  out.integer(algorithm.getNumPrimitiveOperations());
  out.boolean(algorithm.getAllowImpreciseAccumulation());
}

Attribute packChannel(MLIRContext *context, MemberReader &in, EmitError) {
  int64_t handle = in.integer();
  return stablehlo::ChannelHandleAttr::get(context, handle, in.integer());
}
void unpackChannel(Attribute attr, MemberWriter &out) {
  auto channel = cast<stablehlo::ChannelHandleAttr>(attr);
  out.integer(channel.getHandle());
  out.integer(channel.getType());
}

// A channel between devices does not store the type; 0 means no channel.
Attribute packChannelId(MLIRContext *context, MemberReader &in, EmitError) {
  return stablehlo::ChannelHandleAttr::get(context, in.integer(), 0);
}
void unpackChannelId(Attribute attr, MemberWriter &out) {
  out.integer(attr ? cast<stablehlo::ChannelHandleAttr>(attr).getHandle() : 0);
}

constexpr AttributeGroup groups[] = {
    {"convolution dynamic_conv", "dimension_numbers",
     "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension "
     "kernel_output_feature_dimension kernel_spatial_dimensions output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions",
     false, packConv, unpackConv},
    {"dot_general", "dot_dimension_numbers",
     "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions", false,
     packDot, unpackDot},
    {"dot_general", "algorithm",
     "lhs_precision_type rhs_precision_type accumulation_type lhs_component_count rhs_component_count "
     "num_primitive_operations allow_imprecise_accumulation",
     true, packAlgorithm, unpackAlgorithm},
    {"gather dynamic_gather", "dimension_numbers",
     "offset_dims collapsed_slice_dims operand_batching_dims start_indices_batching_dims start_index_map "
     "index_vector_dim",
     false, packGather, unpackGather},
    {"scatter", "scatter_dimension_numbers",
     "update_window_dims inserted_window_dims input_batching_dims scatter_indices_batching_dims "
     "scatter_dims_to_operand_dims index_vector_dim",
     false, packScatter, unpackScatter},
    {"send recv", "channel_handle", "channel_id channel_type", false, packChannel, unpackChannel},
    {"all_gather all_reduce all_to_all collective_broadcast collective_permute collective_reduce reduce_scatter",
     "channel_handle", "channel_id", true, packChannelId, unpackChannelId},
};

SmallVector<StringRef> words(StringRef list) {
  SmallVector<StringRef> all;
  list.split(all, ' ');
  return all;
}

} // namespace

void MemberWriter::none() { type(NoneType::get(context)); }

LogicalResult AttributeGroup::fromVhlo(Operation *op, Attribute &packed) const {
  SmallVector<Attribute> values;
  for (StringRef member : words(members))
    values.push_back(op->getAttr(member));
  MemberWriter absent(op->getContext());
  if (optional)
    unpack(Attribute(), absent);
  if (optional && values == absent.members)
    return success();
  MemberReader in(values);
  packed = pack(op->getContext(), in, [&] { return op->emitOpError(); });
  if (!in.ok || !packed)
    return op->emitOpError("has members of '") << name << "' of the wrong kind";
  return success();
}

LogicalResult AttributeGroup::toVhlo(Operation *op, Attribute attr, NamedAttrList &attributes) const {
  if (!attr && !optional)
    return op->emitOpError("has no attribute '") << name << "'";
  MemberWriter out(op->getContext());
  unpack(attr, out);
  for (auto [member, value] : llvm::zip(words(members), out.members)) {
    if (!value)
      return op->emitOpError("has no portable form of attribute '") << name << "'";
    attributes.set(member, value);
  }
  return success();
}

SmallVector<AttributeGroup, 2> groupsOf(StringRef stem) {
  SmallVector<AttributeGroup, 2> found;
  for (const AttributeGroup &group : groups)
    if (llvm::is_contained(words(group.ops), stem))
      found.push_back(group);
  return found;
}

bool inGroup(StringRef stem, StringRef attribute) {
  return llvm::any_of(groupsOf(stem),
                      [&](const AttributeGroup &group) { return llvm::is_contained(words(group.members), attribute); });
}

} // namespace millrace::vhlo
