// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileOptions.cpp - CompileOptionsProto, as far as we need it ------===//
#include "pjrt/CompileOptions.h"
#include "pjrt/ProtoReader.h"

#include <cstring>

namespace millrace::pjrt {
namespace {

using runtime::Status;
using runtime::StatusOr;

Status malformed() { return runtime::invalidArgument("the compile options are not a CompileOptionsProto"); }

/// Appends a repeated integer field, packed or not.
bool appendIntegers(const Field &field, std::vector<uint32_t> &values) {
  if (field.wireType == 0) {
    values.push_back(uint32_t(field.number));
    return field.number < 65536;
  }
  if (field.wireType != 2)
    return false;
  Reader reader(field.bytes);
  while (!reader.atEnd()) {
    uint64_t value;
    if (!reader.varint(value) || value >= 65536)
      return false;
    values.push_back(uint32_t(value));
  }
  return true;
}

bool decodeAssignment(std::string_view bytes, DeviceAssignment &assignment) {
  std::vector<std::vector<uint32_t>> partitions;
  bool ok = forEachField(bytes, [&](const Field &field) {
    if (field.id == 1 || field.id == 2) {
      if (field.wireType != 0 || field.number == 0 || field.number > 65536)
        return false;
      (field.id == 1 ? assignment.replicas : assignment.partitions) = uint32_t(field.number);
    } else if (field.id == 3) {
      std::vector<uint32_t> &ids = partitions.emplace_back();
      return field.wireType == 2 && forEachField(field.bytes, [&](const Field &inner) {
               return inner.id != 1 || appendIntegers(inner, ids);
             });
    }
    return true;
  });
  if (!ok || partitions.size() != assignment.partitions)
    return false;
  for (const std::vector<uint32_t> &ids : partitions)
    if (ids.size() != assignment.replicas)
      return false;
  for (uint32_t replica = 0; replica < assignment.replicas; ++replica)
    for (const std::vector<uint32_t> &ids : partitions)
      assignment.ids.push_back(ids[replica]);
  return true;
}

/// Appends a repeated bool field, packed or not.
bool appendFlags(const Field &field, std::vector<bool> &flags) {
  std::vector<uint32_t> numbers;
  if (!appendIntegers(field, numbers))
    return false;
  flags.insert(flags.end(), numbers.begin(), numbers.end());
  return true;
}

bool decodeBuildOptions(std::string_view bytes, CompileOptionsProto &options) {
  return forEachField(bytes, [&](const Field &field) {
    auto count = [&](uint32_t &target) {
      if (field.wireType != 0 || field.number > 65536)
        return false;
      target = field.number ? uint32_t(field.number) : 1;
      return true;
    };
    switch (field.id) {
    case 1:
      options.deviceOrdinal = int64_t(field.number);
      return field.wireType == 0;
    case 4:
      return count(options.numReplicas);
    case 5:
      return count(options.numPartitions);
    case 9:
      return field.wireType == 2 && decodeAssignment(field.bytes, options.assignment);
    case 12:
      return appendFlags(field, options.openResults);
    case 18:
      return appendFlags(field, options.openParameters);
    default:
      return true;
    }
  });
}

/// Decodes an entry of env_option_overrides: a name and a string, bool, int64 or double.
bool decodeOverride(std::string_view bytes, CompileOptionsProto &options) {
  std::string name, text;
  bool ok = forEachField(bytes, [&](const Field &field) {
    if (field.id == 1 && field.wireType == 2)
      name = field.bytes;
    if (field.id != 2)
      return true;
    return field.wireType == 2 && forEachField(field.bytes, [&](const Field &value) {
             if (value.id == 1 && value.wireType == 2)
               text = value.bytes;
             else if (value.id == 2 && value.wireType == 0)
               text = value.number ? "true" : "false";
             else if (value.id == 3 && value.wireType == 0)
               text = std::to_string(int64_t(value.number));
             else if (value.id == 4 && value.wireType == 1) {
               double number;
               std::memcpy(&number, value.bytes.data(), sizeof(number));
               text = std::to_string(number);
             }
             return true;
           });
  });
  if (ok)
    options.overrides.emplace_back(std::move(name), std::move(text));
  return ok;
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out += char(uint8_t(value) | 128);
  out += char(value);
}
void appendBytes(std::string &out, uint32_t id, std::string_view bytes) {
  appendVarint(out, id << 3 | 2);
  appendVarint(out, bytes.size());
  out += bytes;
}

} // namespace

StatusOr<CompileOptionsProto> decodeCompileOptions(std::string_view bytes) {
  CompileOptionsProto options;
  bool ok = forEachField(bytes, [&](const Field &field) {
    switch (field.id) {
    case 2:
      options.tupledArguments = field.number != 0;
      return field.wireType == 0;
    case 3:
      return field.wireType == 2 && decodeBuildOptions(field.bytes, options);
    case 4:
      options.isPortable = field.number != 0;
      return field.wireType == 0;
    case 7:
      return field.wireType == 2 && decodeOverride(field.bytes, options);
    default:
      return true;
    }
  });
  if (!ok)
    return malformed();
  return options;
}

std::string encodeDeviceAssignment(const DeviceAssignment &assignment) {
  std::string out;
  out += '\x08';
  appendVarint(out, assignment.replicas);
  out += '\x10';
  appendVarint(out, assignment.partitions);
  for (uint32_t partition = 0; partition < assignment.partitions; ++partition) {
    std::string ids, device;
    for (uint32_t replica = 0; replica < assignment.replicas; ++replica)
      appendVarint(ids, assignment.ids[size_t(replica) * assignment.partitions + partition]);
    appendBytes(device, 1, ids);
    appendBytes(out, 3, device);
  }
  return out;
}

} // namespace millrace::pjrt
