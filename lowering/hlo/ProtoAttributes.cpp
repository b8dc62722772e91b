// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoAttributes.cpp - Attributes of HLO instructions as fields -----===//
// Input:   , window={size=2x2 stride=2x2}, to_apply=region.1
// Output:  fields 15 (Window) and 38 (ids of called computations) of HloInstructionProto
#include "lowering/hlo/ProtoAttributes.h"

#include "lowering/hlo/ProtoScanner.h"
#include "lowering/hlo/ProtoValues.h"
#include "runtime/base/Proto.h"

#include "llvm/ADT/StringSwitch.h"

#include <bit>
#include <cstdlib>

using namespace llvm;

namespace millrace::hlo {
namespace {

namespace proto = runtime::proto;
using runtime::Status;
using runtime::StatusOr;

/// Where the field of an attribute is, and how it is written.
struct PlainField {
  enum class Form { Number, Flag, List, Text } form;
  uint32_t number;
};

std::optional<PlainField> plainField(StringRef name) {
  using Form = PlainField::Form;
  return StringSwitch<std::optional<PlainField>>(name)
      .Case("index", PlainField{Form::Number, 13})
      .Cases({"dimensions", "iota_dimension"}, PlainField{Form::List, 14})
      .Case("feature_group_count", PlainField{Form::Number, 50})
      .Case("batch_group_count", PlainField{Form::Number, 58})
      .Case("exponent_bits", PlainField{Form::Number, 18})
      .Case("mantissa_bits", PlainField{Form::Number, 19})
      .Case("dynamic_slice_sizes", PlainField{Form::List, 20})
      .Case("outfeed_config", PlainField{Form::Text, 22})
      .Case("feature_index", PlainField{Form::Number, 25})
      .Case("channel_id", PlainField{Form::Number, 26})
      .Case("infeed_config", PlainField{Form::Text, 27})
      .Case("custom_call_target", PlainField{Form::Text, 28})
      .Case("fft_length", PlainField{Form::List, 32})
      .Case("slice_sizes", PlainField{Form::List, 34})
      .Case("backend_config", PlainField{Form::Text, 43})
      .Case("is_host_transfer", PlainField{Form::Flag, 47})
      .Case("is_stable", PlainField{Form::Flag, 60})
      .Case("direction", PlainField{Form::Text, 63})
      .Case("custom_call_has_side_effect", PlainField{Form::Flag, 65})
      .Case("indices_are_sorted", PlainField{Form::Flag, 67})
      .Case("unique_indices", PlainField{Form::Flag, 69})
      .Case("use_global_device_ids", PlainField{Form::Flag, 71})
      .Case("type", PlainField{Form::Text, 72})
      .Case("is_composite", PlainField{Form::Flag, 89})
      .Default(std::nullopt);
}

void put(std::string &out, PlainField field, StringRef value) {
  switch (field.form) {
  case PlainField::Form::Number:
    for (int64_t number : integers(value))
      proto::putKnownNumber(out, field.number, uint64_t(number));
    return;
  case PlainField::Form::Flag:
    return proto::putNumber(out, field.number, value == "true");
  case PlainField::Form::List:
    return proto::putPacked(out, field.number, integers(value));
  case PlainField::Form::Text:
    return proto::putText(out, field.number, unquoted(value));
  }
}

/// Numbers of the fields of GatherDimensionNumbers, ScatterDimensionNumbers and DotDimensionNumbers.
uint32_t gatherField(StringRef name) {
  return StringSwitch<uint32_t>(name)
      .Case("offset_dims", 1)
      .Case("collapsed_slice_dims", 2)
      .Case("start_index_map", 3)
      .Case("index_vector_dim", 4)
      .Case("operand_batching_dims", 5)
      .Case("start_indices_batching_dims", 6)
      .Default(0);
}
uint32_t scatterField(StringRef name) {
  return StringSwitch<uint32_t>(name)
      .Case("update_window_dims", 1)
      .Case("inserted_window_dims", 2)
      .Case("scatter_dims_to_operand_dims", 3)
      .Case("index_vector_dim", 4)
      .Case("input_batching_dims", 5)
      .Case("scatter_indices_batching_dims", 6)
      .Default(0);
}
uint32_t dotField(StringRef name) {
  return StringSwitch<uint32_t>(name)
      .Case("lhs_contracting_dims", 1)
      .Case("rhs_contracting_dims", 2)
      .Case("lhs_batch_dims", 3)
      .Case("rhs_batch_dims", 4)
      .Default(0);
}

int algorithmNumber(StringRef name) {
  return StringSwitch<int>(name)
      .Case("dot_any_f8_any_f8_f32", 1)
      .Case("dot_any_f8_any_f8_f32_fast_accum", 2)
      .Case("dot_f16_f16_f16", 3)
      .Case("dot_f16_f16_f32", 4)
      .Case("dot_bf16_bf16_bf16", 5)
      .Case("dot_bf16_bf16_f32", 6)
      .Case("dot_bf16_bf16_f32_x3", 7)
      .Case("dot_bf16_bf16_f32_x6", 8)
      .Case("dot_tf32_tf32_f32", 9)
      .Case("dot_tf32_tf32_f32_x3", 10)
      .Case("dot_f32_f32_f32", 11)
      .Case("dot_f64_f64_f64", 12)
      .Case("dot_bf16_bf16_f32_x9", 13)
      .Default(-1);
}

/// Window of `{size=2x2 stride=1x2 pad=0_1x1_0 lhs_dilate=.. rhs_dilate=.. rhs_reversal=..}`.
std::string windowProto(StringRef text) {
  SmallVector<int64_t> sizes, strides, low, high, operandDilation, windowDilation, reversal;
  for (StringRef word : splitOutside(withoutBraces(text), ' ')) {
    auto [name, value] = nameAndValue(word);
    if (name == "pad") {
      for (StringRef pair : splitOutside(value, 'x')) {
        const SmallVector<int64_t> both = integers(pair, '_');
        low.push_back(both.empty() ? 0 : both.front());
        high.push_back(both.empty() ? 0 : both.back());
      }
      continue;
    }
    auto *list = StringSwitch<SmallVector<int64_t> *>(name)
                     .Case("size", &sizes)
                     .Case("stride", &strides)
                     .Case("lhs_dilate", &operandDilation)
                     .Case("rhs_dilate", &windowDilation)
                     .Case("rhs_reversal", &reversal)
                     .Default(nullptr);
    if (list)
      *list = integers(value, 'x');
  }
  auto at = [](ArrayRef<int64_t> list, size_t i, int64_t otherwise) { return uint64_t(i < list.size() ? list[i] : otherwise); };
  std::string out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::string dimension;
    proto::putNumber(dimension, 1, uint64_t(sizes[i]));
    proto::putNumber(dimension, 2, at(strides, i, 1));
    proto::putNumber(dimension, 3, at(low, i, 0));
    proto::putNumber(dimension, 4, at(high, i, 0));
    proto::putNumber(dimension, 5, at(windowDilation, i, 1));
    proto::putNumber(dimension, 6, at(operandDilation, i, 1));
    proto::putNumber(dimension, 7, at(reversal, i, 0));
    proto::putBytes(out, 1, dimension);
  }
  return out;
}

/// ConvolutionDimensionNumbers of `b01f_01io->b01f`.
std::optional<std::string> convolutionProto(StringRef text) {
  auto [inputs, output] = text.split("->");
  auto [input, kernel] = inputs.split('_');
  std::string out;
  auto put = [&](StringRef labels, char first, uint32_t firstField, char second, uint32_t secondField, uint32_t spatialField) {
    SmallVector<int64_t> spatial(labels.size() < 2 ? 0 : labels.size() - 2, -1);
    for (auto [d, label] : enumerate(labels)) {
      if (label == first)
        proto::putNumber(out, firstField, d);
      else if (label == second)
        proto::putNumber(out, secondField, d);
      else if (size_t(label - '0') < spatial.size())
        spatial[size_t(label - '0')] = int64_t(d);
    }
    proto::putPacked(out, spatialField, spatial);
    return labels.contains(first) && labels.contains(second) && !is_contained(spatial, -1);
  };
  const bool isGood = put(input, 'b', 7, 'f', 8, 11) && put(kernel, 'i', 3, 'o', 4, 6) && put(output, 'b', 9, 'f', 10, 12);
  return isGood ? std::optional(out) : std::nullopt;
}

/// PaddingConfig of `0_1_2x0_0`.
std::string paddingProto(StringRef text) {
  std::string out;
  for (StringRef part : splitOutside(text, 'x')) {
    const SmallVector<int64_t> amounts = integers(part, '_');
    std::string dimension;
    for (auto [i, amount] : enumerate(amounts))
      proto::putNumber(dimension, uint32_t(i + 1), uint64_t(amount));
    proto::putBytes(out, 1, dimension);
  }
  return out;
}

/// Of `{[0:4], [1:5:2]}` a message each.
void putSlices(std::string &out, StringRef text) {
  for (StringRef part : splitOutside(withoutBraces(text))) {
    const SmallVector<int64_t> numbers = integers(part.trim("[]"), ':');
    std::string slice;
    for (size_t i = 0; i < 3; ++i)
      proto::putNumber(slice, uint32_t(i + 1), uint64_t(i < numbers.size() ? numbers[i] : 1));
    proto::putBytes(out, 17, slice);
  }
}

/// Of `{{}: (0, {}), {1}: (2, {})}` the fields of OutputOperandAliasing.
void putAliases(std::string &out, StringRef text) {
  for (StringRef part : splitOutside(withoutBraces(text))) {
    auto [result, rest] = part.split(':');
    const SmallVector<StringRef> operand = splitOutside(rest.trim().trim("()"));
    std::string alias;
    proto::putPacked(alias, 1, integers(result));
    if (!operand.empty())
      proto::putNumber(alias, 2, uint64_t(integers(operand[0]).empty() ? 0 : integers(operand[0])[0]));
    if (operand.size() > 1)
      proto::putPacked(alias, 3, integers(operand[1]));
    proto::putBytes(out, 74, alias);
  }
}

/// ResultAccuracy of `{mode=highest}` or `{tolerance={atol=1e-3,rtol=0,ulps=2}}`.
std::string accuracyProto(StringRef text) {
  std::string out;
  for (StringRef part : splitOutside(withoutBraces(text))) {
    auto [name, value] = nameAndValue(part);
    if (name == "mode")
      proto::putNumber(out, 1, value == "highest");
    if (name != "tolerance")
      continue;
    std::string tolerance;
    for (StringRef each : splitOutside(withoutBraces(value))) {
      auto [of, number] = nameAndValue(each);
      if (of == "ulps")
        for (int64_t ulps : integers(number))
          proto::putNumber(tolerance, 3, uint64_t(ulps));
      else
        proto::putReal(tolerance, of == "atol" ? 1 : 2, std::strtod(number.str().c_str(), nullptr));
    }
    proto::putBytes(out, 2, tolerance);
  }
  return out;
}

} // namespace

std::string frontendAttributes(StringRef text) {
  std::string out;
  for (StringRef part : splitOutside(withoutBraces(text))) {
    auto [name, value] = nameAndValue(part);
    std::string entry;
    proto::putText(entry, 1, unquoted(name));
    proto::putText(entry, 2, unquoted(value));
    proto::putBytes(out, 1, entry);
  }
  return out;
}

std::string metadataProto(StringRef text) {
  std::string out;
  for (StringRef part : splitOutside(withoutBraces(text), ' ')) {
    auto [name, value] = nameAndValue(part);
    if (const uint32_t field = StringSwitch<uint32_t>(name).Case("op_type", 1).Case("op_name", 2).Case("source_file", 3).Default(0))
      proto::putText(out, field, unquoted(value));
    const uint32_t field = StringSwitch<uint32_t>(name)
                               .Case("source_line", 4)
                               .Case("source_end_line", 17)
                               .Case("source_column", 18)
                               .Case("source_end_column", 19)
                               .Default(0);
    for (int64_t number : integers(field ? value : StringRef()))
      proto::putNumber(out, field, uint64_t(number));
  }
  return out;
}

Status InstructionFields::addCalled(StringRef name, StringRef value) {
  // XLA's own order: the body of a loop comes before its condition.
  const int place = StringSwitch<int>(name).Cases({"condition", "false_computation", "scatter"}, 1).Default(0);
  int next = place;
  for (StringRef callee : splitOutside(withoutBraces(value))) {
    auto found = computations.find(plainName(callee));
    if (found == computations.end())
      return runtime::invalidArgument(("expects a computation " + callee + " in the text").str());
    called.push_back({next++, found->second});
  }
  return {};
}

bool InstructionFields::addPlain(StringRef name, StringRef value) {
  std::optional<PlainField> field = plainField(name);
  if (field)
    put(fields, *field, value);
  return field.has_value();
}

bool InstructionFields::addDimensionNumbers(StringRef name, StringRef value) {
  const bool isScatter = opcode == "scatter";
  std::string &indexing = isScatter ? scatter : gather;
  if (uint32_t field = dotField(name))
    proto::putPacked(dot, field, integers(value));
  else if (name == "index_vector_dim")
    put(indexing, {PlainField::Form::Number, 4}, value);
  else if (uint32_t field = isScatter ? scatterField(name) : gatherField(name))
    proto::putPacked(indexing, field, integers(value));
  else
    return false;
  return true;
}

Status InstructionFields::addStructured(StringRef name, StringRef value) {
  auto putEnum = [&](std::string &out, uint32_t field, int number) -> Status {
    if (number < 0)
      return runtime::unimplemented((name + "=" + value).str());
    proto::putNumber(out, field, uint64_t(number));
    return {};
  };
  auto putMessage = [&](uint32_t field, const StatusOr<std::string> &message) -> Status {
    if (!message)
      return message.status();
    proto::putBytes(fields, field, *message);
    return {};
  };
  if (name == "metadata")
    return putMessage(7, metadataProto(value));
  if (name == "sharding")
    return putMessage(40, shardingProto(value));
  if (name == "frontend_attributes")
    return putMessage(68, frontendAttributes(value));
  if (name == "window")
    return putMessage(15, windowProto(value));
  if (name == "padding")
    return putMessage(21, paddingProto(value));
  if (name == "outfeed_shape")
    return putMessage(29, shapeProto(value));
  if (name == "result_accuracy")
    return putMessage(91, accuracyProto(value));
  if (name == "dim_labels") {
    std::optional<std::string> numbers = convolutionProto(value);
    return numbers ? putMessage(16, *numbers) : runtime::invalidArgument(("dim_labels=" + value).str());
  }
  if (name == "slice") {
    putSlices(fields, value);
    return {};
  }
  if (name == "output_to_operand_aliasing") {
    putAliases(fields, value);
    return {};
  }
  if (name == "replica_groups") {
    std::string groups;
    for (StringRef group : splitOutside(withoutBraces(value))) {
      std::string ids;
      proto::putPacked(ids, 1, integers(group));
      proto::putBytes(groups, 1, ids);
    }
    proto::putBytes(fields, 87, groups);
    return {};
  }
  if (name == "source_target_pairs") {
    for (StringRef pair : splitOutside(withoutBraces(value))) {
      std::string ids;
      for (auto [i, id] : enumerate(integers(pair)))
        proto::putNumber(ids, uint32_t(i + 1), uint64_t(id));
      proto::putBytes(fields, 52, ids);
    }
    return {};
  }
  if (name == "operand_layout_constraints") {
    proto::putNumber(fields, 56, 1);
    for (StringRef shape : splitOutside(withoutBraces(value)))
      if (Status status = putMessage(57, shapeProto(shape)); !status.ok())
        return status;
    return {};
  }
  if (name == "operand_precision") {
    SmallVector<int64_t> numbers;
    for (StringRef each : splitOutside(withoutBraces(value)))
      numbers.push_back(StringSwitch<int64_t>(each).Case("high", 1).Case("highest", 2).Default(0));
    proto::putPacked(precision, 1, numbers);
    hasPrecision = true;
    return {};
  }
  if (name == "algorithm" && opcode != "rng-bit-generator") {
    hasPrecision = true;
    return putEnum(precision, 2, algorithmNumber(value));
  }
  if (name == "algorithm")
    return putEnum(fields, 70, StringSwitch<int>(value).Case("rng_default", 0).Case("rng_three_fry", 1).Case("rng_philox", 2).Default(-1));
  if (name == "distribution")
    return putEnum(fields, 23, StringSwitch<int>(value).Case("rng_uniform", 1).Case("rng_normal", 2).Default(-1));
  if (name == "fft_type")
    return putEnum(fields, 31, StringSwitch<int>(value).Case("FFT", 0).Case("IFFT", 1).Case("RFFT", 2).Case("IRFFT", 3).Default(-1));
  if (name == "transpose_a")
    return putEnum(triangular, 4, StringSwitch<int>(value).Case("NO_TRANSPOSE", 1).Case("TRANSPOSE", 2).Case("ADJOINT", 3).Default(-1));
  if (name == "api_version") {
    hasApiVersion = true;
    return putEnum(fields, 77,
                   StringSwitch<int>(value)
                       .Case("API_VERSION_ORIGINAL", 1)
                       .Case("API_VERSION_STATUS_RETURNING", 2)
                       .Case("API_VERSION_STATUS_RETURNING_UNIFIED", 3)
                       .Case("API_VERSION_TYPED_FFI", 4)
                       .Default(-1));
  }
  if (name == "epsilon") {
    proto::putFixed32(fields, 24, std::bit_cast<uint32_t>(std::strtof(value.str().c_str(), nullptr)));
    return {};
  }
  const bool isTrue = value == "true";
  if (name == "lower" && opcode == "cholesky")
    proto::putNumber(cholesky, 1, isTrue);
  else if (name == "left_side" || name == "lower" || name == "unit_diagonal")
    proto::putNumber(triangular, name == "left_side" ? 1 : name == "lower" ? 2 : 3, isTrue);
  else
    return runtime::unimplemented((name + " of " + opcode).str());
  return {};
}

Status InstructionFields::add(StringRef name, StringRef value) {
  static constexpr StringRef kCalls[] = {
      "to_apply", "calls",  "condition", "body", "true_computation", "false_computation", "branch_computations", "called_computations",
      "select",   "scatter"};
  if (is_contained(kCalls, name))
    return addCalled(name, value);
  if (addDimensionNumbers(name, value) || addPlain(name, value))
    return {};
  return addStructured(name, value);
}

std::string InstructionFields::finish() {
  if (opcode == "dot" || opcode == "ragged-dot")
    proto::putBytes(fields, 30, dot);
  if (opcode == "gather")
    proto::putBytes(fields, 33, gather);
  if (opcode == "scatter")
    proto::putBytes(fields, 48, scatter);
  if (opcode == "triangular-solve")
    proto::putBytes(fields, 59, triangular);
  if (opcode == "cholesky")
    proto::putBytes(fields, 62, cholesky);
  if (hasPrecision)
    proto::putBytes(fields, 51, precision);
  if (opcode == "custom-call" && !hasApiVersion)
    proto::putNumber(fields, 77, 1); // API_VERSION_ORIGINAL, which text leaves out
  llvm::stable_sort(called, [](const auto &a, const auto &b) { return a.first < b.first; });
  proto::putPacked(fields, 38, llvm::map_range(called, [](const auto &each) { return each.second; }));
  return std::move(fields);
}

} // namespace millrace::hlo
