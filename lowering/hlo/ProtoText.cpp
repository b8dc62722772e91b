// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoText.cpp - HloModuleProto as JSON and as text -----------------===//
#include "lowering/hlo/HloProto.h"

#include "runtime/base/Proto.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace llvm;

namespace millrace::hlo {
namespace {

namespace proto = runtime::proto;

struct Message;

/// A field of a message. Of lists each value is printed, packed or not.
struct Field {
  enum class Kind { Int64, Int32, Bool, Float, Double, Text, Bytes, Enum, Message };
  uint32_t number;
  StringRef name;
  Kind kind;
  bool isList = false;
  const Message *message = nullptr;
  const char *names = nullptr; ///< of an enum: from 0 on, with blanks between
};
struct Message {
  ArrayRef<Field> fields;
};

using K = Field::Kind;
const char kTypes[] =
    "PRIMITIVE_TYPE_INVALID PRED S8 S16 S32 S64 U8 U16 U32 U64 F16 F32 F64 TUPLE OPAQUE_TYPE C64 BF16 TOKEN C128 F8E5M2 F8E4M3FN S4 U4 "
    "F8E4M3B11FNUZ F8E5M2FNUZ F8E4M3FNUZ S2 U2 F8E4M3 F8E3M4 S1 U1 F4E2M1FN F8E8M0FNU BUFFER F6E3M2FN F6E2M3FN";
const char kShardings[] = "REPLICATED MAXIMAL TUPLE OTHER MANUAL UNKNOWN UNREDUCED";
const char kPrecisions[] = "DEFAULT HIGH HIGHEST";

const Field kLayoutFields[] = {{1, "minor_to_major", K::Int64, true}};
const Message kLayout{kLayoutFields};
extern const Message kShape;
const Field kShapeFields[] = {{2, "element_type", K::Enum, false, nullptr, kTypes},
                              {3, "dimensions", K::Int64, true},
                              {6, "is_dynamic_dimension", K::Bool, true},
                              {4, "tuple_shapes", K::Message, true, &kShape},
                              {5, "layout", K::Message, false, &kLayout}};
const Message kShape{kShapeFields};
const Field kProgramFields[] = {
    {1, "parameters", K::Message, true, &kShape}, {2, "result", K::Message, false, &kShape}, {3, "parameter_names", K::Text, true}};
const Message kProgram{kProgramFields};
const Field kMetadataFields[] = {
    {1, "op_type", K::Text},           {2, "op_name", K::Text},         {3, "source_file", K::Text},        {4, "source_line", K::Int32},
    {17, "source_end_line", K::Int32}, {18, "source_column", K::Int32}, {19, "source_end_column", K::Int32}};
const Message kMetadata{kMetadataFields};
const Field kLiteralFields[] = {{1, "shape", K::Message, false, &kShape},
                                {2, "preds", K::Bool, true},
                                {3, "u8s", K::Bytes},
                                {4, "s32s", K::Int32, true},
                                {5, "s64s", K::Int64, true},
                                {6, "u32s", K::Int32, true},
                                {7, "u64s", K::Int64, true},
                                {8, "f32s", K::Float, true},
                                {9, "f64s", K::Double, true},
                                {11, "f16s", K::Bytes},
                                {12, "c64s", K::Float, true},
                                {13, "bf16s", K::Bytes},
                                {15, "s8s", K::Bytes},
                                {16, "u16s", K::Bytes},
                                {17, "s16s", K::Bytes},
                                {18, "c128s", K::Double, true},
                                {19, "f8e5m2s", K::Bytes},
                                {20, "f8e4m3fns", K::Bytes},
                                {21, "s4s", K::Bytes},
                                {22, "u4s", K::Bytes},
                                {23, "f8e4m3b11fnuzs", K::Bytes},
                                {24, "f8e5m2fnuzs", K::Bytes},
                                {25, "f8e4m3fnuzs", K::Bytes},
                                {26, "s2s", K::Bytes},
                                {27, "u2s", K::Bytes},
                                {28, "f8e4m3s", K::Bytes},
                                {29, "f8e3m4s", K::Bytes},
                                {30, "s1s", K::Bytes},
                                {31, "u1s", K::Bytes},
                                {32, "f4e2m1fns", K::Bytes},
                                {33, "f8e8m0fnus", K::Bytes},
                                {35, "f6e3m2fns", K::Bytes},
                                {36, "f6e2m3fns", K::Bytes}};
const Message kLiteral{kLiteralFields};
const Field kWindowDimensionFields[] = {{1, "size", K::Int64},          {2, "stride", K::Int64},          {3, "padding_low", K::Int64},
                                        {4, "padding_high", K::Int64},  {5, "window_dilation", K::Int64}, {6, "base_dilation", K::Int64},
                                        {7, "window_reversal", K::Bool}};
const Message kWindowDimension{kWindowDimensionFields};
const Field kWindowFields[] = {{1, "dimensions", K::Message, true, &kWindowDimension}};
const Message kWindow{kWindowFields};
const Field kConvolutionFields[] = {{7, "input_batch_dimension", K::Int64},           {8, "input_feature_dimension", K::Int64},
                                    {11, "input_spatial_dimensions", K::Int64, true}, {3, "kernel_input_feature_dimension", K::Int64},
                                    {4, "kernel_output_feature_dimension", K::Int64}, {6, "kernel_spatial_dimensions", K::Int64, true},
                                    {9, "output_batch_dimension", K::Int64},          {10, "output_feature_dimension", K::Int64},
                                    {12, "output_spatial_dimensions", K::Int64, true}};
const Message kConvolution{kConvolutionFields};
const Field kSliceFields[] = {{1, "start", K::Int64}, {2, "limit", K::Int64}, {3, "stride", K::Int64}};
const Message kSlice{kSliceFields};
const Field kPaddingDimensionFields[] = {{1, "edge_padding_low", K::Int64}, {2, "edge_padding_high", K::Int64}, {3, "interior_padding", K::Int64}};
const Message kPaddingDimension{kPaddingDimensionFields};
const Field kPaddingFields[] = {{1, "dimensions", K::Message, true, &kPaddingDimension}};
const Message kPadding{kPaddingFields};
const Field kDotFields[] = {{1, "lhs_contracting_dimensions", K::Int64, true},
                            {2, "rhs_contracting_dimensions", K::Int64, true},
                            {3, "lhs_batch_dimensions", K::Int64, true},
                            {4, "rhs_batch_dimensions", K::Int64, true}};
const Message kDot{kDotFields};
const Field kGatherFields[] = {{1, "offset_dims", K::Int64, true},           {2, "collapsed_slice_dims", K::Int64, true},
                               {3, "start_index_map", K::Int64, true},       {4, "index_vector_dim", K::Int64},
                               {5, "operand_batching_dims", K::Int64, true}, {6, "start_indices_batching_dims", K::Int64, true}};
const Message kGather{kGatherFields};
const Field kScatterFields[] = {{1, "update_window_dims", K::Int64, true},           {2, "inserted_window_dims", K::Int64, true},
                                {3, "scatter_dims_to_operand_dims", K::Int64, true}, {4, "index_vector_dim", K::Int64},
                                {5, "input_batching_dims", K::Int64, true},          {6, "scatter_indices_batching_dims", K::Int64, true}};
const Message kScatter{kScatterFields};
extern const Message kSharding;
const Field kShardingFields[] = {{1, "type", K::Enum, false, nullptr, kShardings}, {3, "tile_assignment_dimensions", K::Int64, true},
                                 {4, "tile_assignment_devices", K::Int64, true},   {5, "tuple_shardings", K::Message, true, &kSharding},
                                 {6, "replicate_on_last_tile_dim", K::Bool},       {8, "last_tile_dims", K::Enum, true, nullptr, kShardings},
                                 {9, "iota_reshape_dims", K::Int64, true},         {10, "iota_transpose_perm", K::Int32, true}};
const Message kSharding{kShardingFields};
const Field kGroupFields[] = {{1, "replica_ids", K::Int64, true}};
const Message kGroup{kGroupFields};
const Field kDevicesFields[] = {{1, "replica_groups", K::Message, true, &kGroup}};
const Message kDevices{kDevicesFields};
const Field kPrecisionFields[] = {
    {1, "operand_precision", K::Enum, true, nullptr, kPrecisions},
    {2, "algorithm", K::Enum, false, nullptr,
     "ALG_UNSET ALG_DOT_ANY_F8_ANY_F8_F32 ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM ALG_DOT_F16_F16_F16 ALG_DOT_F16_F16_F32 "
     "ALG_DOT_BF16_BF16_BF16 ALG_DOT_BF16_BF16_F32 ALG_DOT_BF16_BF16_F32_X3 ALG_DOT_BF16_BF16_F32_X6 ALG_DOT_TF32_TF32_F32 "
     "ALG_DOT_TF32_TF32_F32_X3 ALG_DOT_F32_F32_F32 ALG_DOT_F64_F64_F64 ALG_DOT_BF16_BF16_F32_X9"}};
const Message kPrecision{kPrecisionFields};
const Field kPairFields[] = {{1, "source", K::Int64}, {2, "target", K::Int64}};
const Message kPair{kPairFields};
const Field kTriangularFields[] = {{1, "left_side", K::Bool},
                                   {2, "lower", K::Bool},
                                   {3, "unit_diagonal", K::Bool},
                                   {4, "transpose_a", K::Enum, false, nullptr, "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT"}};
const Message kTriangular{kTriangularFields};
const Field kCholeskyFields[] = {{1, "lower", K::Bool}};
const Message kCholesky{kCholeskyFields};
const Field kAliasingFields[] = {
    {1, "output_shape_index", K::Int64, true}, {2, "operand_index", K::Int64}, {3, "operand_shape_index", K::Int64, true}};
const Message kAliasing{kAliasingFields};
const Field kEntryFields[] = {{1, "key", K::Text}, {2, "value", K::Text}};
const Message kEntry{kEntryFields};
const Field kFrontendFields[] = {{1, "map", K::Message, true, &kEntry}};
const Message kFrontend{kFrontendFields};
const Field kToleranceFields[] = {{1, "atol", K::Double}, {2, "rtol", K::Double}, {3, "ulps", K::Int64}};
const Message kTolerance{kToleranceFields};
const Field kAccuracyFields[] = {{1, "mode", K::Enum, false, nullptr, "DEFAULT HIGHEST"}, {2, "tolerance", K::Message, false, &kTolerance}};
const Message kAccuracy{kAccuracyFields};
const Field kInstructionFields[] = {
    {1, "name", K::Text},
    {2, "opcode", K::Text},
    {3, "shape", K::Message, false, &kShape},
    {7, "metadata", K::Message, false, &kMetadata},
    {8, "literal", K::Message, false, &kLiteral},
    {9, "parameter_number", K::Int64},
    {13, "tuple_index", K::Int64},
    {14, "dimensions", K::Int64, true},
    {15, "window", K::Message, false, &kWindow},
    {16, "convolution_dimension_numbers", K::Message, false, &kConvolution},
    {17, "slice_dimensions", K::Message, true, &kSlice},
    {18, "exponent_bits", K::Int32},
    {19, "mantissa_bits", K::Int32},
    {20, "dynamic_slice_sizes", K::Int64, true},
    {21, "padding_config", K::Message, false, &kPadding},
    {22, "outfeed_config", K::Bytes},
    {23, "distribution", K::Enum, false, nullptr, "RNG_INVALID RNG_UNIFORM RNG_NORMAL"},
    {24, "epsilon", K::Float},
    {25, "feature_index", K::Int64},
    {26, "channel_id", K::Int64},
    {27, "infeed_config", K::Bytes},
    {28, "custom_call_target", K::Text},
    {29, "outfeed_shape", K::Message, false, &kShape},
    {30, "dot_dimension_numbers", K::Message, false, &kDot},
    {31, "fft_type", K::Enum, false, nullptr, "FFT IFFT RFFT IRFFT"},
    {32, "fft_length", K::Int64, true},
    {33, "gather_dimension_numbers", K::Message, false, &kGather},
    {34, "gather_slice_sizes", K::Int64, true},
    {35, "id", K::Int64},
    {36, "operand_ids", K::Int64, true},
    {38, "called_computation_ids", K::Int64, true},
    {40, "sharding", K::Message, false, &kSharding},
    {43, "backend_config", K::Bytes},
    {47, "is_host_transfer", K::Bool},
    {48, "scatter_dimension_numbers", K::Message, false, &kScatter},
    {50, "feature_group_count", K::Int64},
    {51, "precision_config", K::Message, false, &kPrecision},
    {52, "source_target_pairs", K::Message, true, &kPair},
    {56, "constrain_layout", K::Bool},
    {57, "operand_shapes_with_layout", K::Message, true, &kShape},
    {58, "batch_group_count", K::Int64},
    {59, "triangular_solve_options", K::Message, false, &kTriangular},
    {60, "is_stable", K::Bool},
    {62, "cholesky_options", K::Message, false, &kCholesky},
    {63, "comparison_direction", K::Text},
    {65, "custom_call_has_side_effect", K::Bool},
    {67, "indices_are_sorted", K::Bool},
    {68, "frontend_attributes", K::Message, false, &kFrontend},
    {69, "unique_indices", K::Bool},
    {70, "rng_algorithm", K::Enum, false, nullptr, "RNG_DEFAULT RNG_THREE_FRY RNG_PHILOX"},
    {71, "use_global_device_ids", K::Bool},
    {72, "comparison_type", K::Text},
    {74, "output_operand_aliasing", K::Message, true, &kAliasing},
    {77, "custom_call_api_version", K::Enum, false, nullptr,
     "API_VERSION_UNSPECIFIED API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING API_VERSION_STATUS_RETURNING_UNIFIED API_VERSION_TYPED_FFI"},
    {87, "collective_device_list", K::Message, false, &kDevices},
    {89, "is_composite", K::Bool},
    {91, "result_accuracy", K::Message, false, &kAccuracy}};
const Message kInstruction{kInstructionFields};
const Field kComputationFields[] = {{1, "name", K::Text},
                                    {2, "instructions", K::Message, true, &kInstruction},
                                    {4, "program_shape", K::Message, false, &kProgram},
                                    {5, "id", K::Int64},
                                    {6, "root_id", K::Int64}};
const Message kComputation{kComputationFields};
const Field kAliasEntryFields[] = {{1, "output_shape_index", K::Int64, true},
                                   {2, "parameter_number", K::Int64},
                                   {3, "parameter_shape_index", K::Int64, true},
                                   {4, "kind", K::Enum, false, nullptr, "UNDEFINED_ALIAS MAY_ALIAS MUST_ALIAS"}};
const Message kAliasEntry{kAliasEntryFields};
const Field kAliasFields[] = {{1, "entries", K::Message, true, &kAliasEntry}};
const Message kAlias{kAliasFields};
const Field kDonorEntryFields[] = {{1, "parameter_number", K::Int64}, {2, "parameter_shape_index", K::Int64, true}};
const Message kDonorEntry{kDonorEntryFields};
const Field kDonorFields[] = {{1, "entries", K::Message, true, &kDonorEntry}};
const Message kDonor{kDonorFields};
const Field kModuleFields[] = {{1, "name", K::Text},
                               {2, "entry_computation_name", K::Text},
                               {6, "entry_computation_id", K::Int64},
                               {3, "computations", K::Message, true, &kComputation},
                               {4, "host_program_shape", K::Message, false, &kProgram},
                               {5, "id", K::Int64},
                               {8, "input_output_alias", K::Message, false, &kAlias},
                               {18, "buffer_donor", K::Message, false, &kDonor},
                               {19, "frontend_attributes", K::Message, false, &kFrontend}};
const Message kModule{kModuleFields};

StringRef enumName(const Field &field, uint64_t value) {
  StringRef rest = field.names;
  for (; value; --value)
    rest = rest.split(' ').second;
  return rest.split(' ').first;
}

/// Calls `visit(number, bytes)` for each value of a field: packed lists one by one, others once.
template <typename Visit> void eachValue(const Field &field, const proto::Reader &reader, Visit visit) {
  const bool isBytes = field.kind == K::Text || field.kind == K::Bytes || field.kind == K::Message;
  if (isBytes || reader.bytes.empty())
    return visit(reader.number, reader.bytes);
  if (field.kind == K::Float || field.kind == K::Double) {
    const size_t size = field.kind == K::Float ? 4 : 8;
    for (size_t at = 0; at + size <= reader.bytes.size(); at += size) {
      uint64_t bits = 0;
      std::memcpy(&bits, reader.bytes.data() + at, size);
      visit(bits, std::string_view());
    }
    return;
  }
  for (proto::Reader packed(reader.bytes); packed.nextPacked();)
    visit(packed.number, std::string_view());
}

double realOf(const Field &field, uint64_t bits) {
  return field.kind == K::Float ? double(std::bit_cast<float>(uint32_t(bits))) : std::bit_cast<double>(bits);
}

std::string camelCase(StringRef name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i)
    out += name[i] == '_' && i + 1 < name.size() ? toUpper(name[++i]) : name[i];
  return out;
}

json::Value jsonOf(StringRef bytes, const Message &message);

json::Value jsonOf(const Field &field, uint64_t number, std::string_view bytes) {
  switch (field.kind) {
  case K::Int64:
    return std::to_string(int64_t(number));
  case K::Int32:
    return int64_t(number);
  case K::Bool:
    return number != 0;
  case K::Float:
  case K::Double: {
    const double value = realOf(field, number);
    return std::isfinite(value) ? json::Value(value) : json::Value(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
  case K::Text:
    return json::fixUTF8(bytes);
  case K::Bytes:
    return encodeBase64(StringRef(bytes));
  case K::Enum:
    return enumName(field, number);
  case K::Message:
    return jsonOf(bytes, *field.message);
  }
  return nullptr;
}

json::Value jsonOf(StringRef bytes, const Message &message) {
  json::Object made;
  for (const Field &field : message.fields) {
    const std::string name = camelCase(field.name);
    for (proto::Reader reader(bytes); reader.next();)
      if (reader.field == field.number)
        eachValue(field, reader, [&](uint64_t number, std::string_view content) {
          if (!field.isList) {
            made[name] = jsonOf(field, number, content);
            return;
          }
          if (!made.get(name))
            made[name] = json::Array();
          made.getArray(name)->push_back(jsonOf(field, number, content));
        });
  }
  return made;
}

void addText(std::string &out, StringRef bytes, const Message &message, unsigned indent) {
  for (const Field &field : message.fields)
    for (proto::Reader reader(bytes); reader.next();)
      if (reader.field == field.number)
        eachValue(field, reader, [&](uint64_t number, std::string_view content) {
          out.append(indent, ' ');
          out += field.name;
          if (field.kind == K::Message) {
            out += " {\n";
            addText(out, content, *field.message, indent + 2);
            out.append(indent, ' ');
            out += "}\n";
            return;
          }
          out += ": ";
          switch (field.kind) {
          case K::Bool:
            out += number ? "true" : "false";
            break;
          case K::Enum:
            out += enumName(field, number);
            break;
          case K::Float:
          case K::Double: {
            raw_string_ostream(out) << json::Value(realOf(field, number));
            break;
          }
          case K::Text:
          case K::Bytes: {
            raw_string_ostream stream(out);
            stream << '"';
            stream.write_escaped(content, /*UseHexEscapes=*/false);
            stream << '"';
            break;
          }
          default:
            out += std::to_string(int64_t(number));
          }
          out += "\n";
        });
}

} // namespace

std::string protoJson(StringRef module) {
  std::string out;
  raw_string_ostream(out) << jsonOf(module, kModule);
  return out;
}

std::string protoText(StringRef module) {
  std::string out;
  addText(out, module, kModule, 0);
  return out;
}

} // namespace millrace::hlo
