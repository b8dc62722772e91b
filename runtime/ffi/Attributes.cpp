// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.cpp - Attributes of a call as FFI handlers see them ------===//
#include "runtime/ffi/Attributes.h"
#include "runtime/kernels/SmallFloat.h"

#include <algorithm>
#include <cstring>

namespace millrace::runtime::ffi {
namespace {

/// Returns the elements one after the other, each in the bytes of its type (little endian: the low bytes).
std::vector<uint8_t> bytesOf(const Attribute &attribute) {
  size_t width = byteSize(attribute.dtype);
  std::vector<uint8_t> bytes;
  auto append = [&](uint64_t bits) {
    size_t at = bytes.size();
    bytes.resize(at + width);
    std::memcpy(bytes.data() + at, &bits, width);
  };
  for (int64_t value : attribute.ints)
    append(uint64_t(value));
  for (double value : attribute.floats)
    append(encodeFloat(attribute.dtype, value));
  return bytes;
}

} // namespace

AttributeTable::AttributeTable(const std::vector<Attribute> &attributes) {
  std::vector<const Attribute *> sorted;
  for (const Attribute &attribute : attributes)
    sorted.push_back(&attribute);
  std::sort(sorted.begin(), sorted.end(), [](const Attribute *a, const Attribute *b) { return a->name < b->name; });
  for (const Attribute *attribute : sorted) {
    Entry &entry = *entries.emplace_back(new Entry);
    entry.name = attribute->name;
    entry.nameBytes = {entry.name.data(), entry.name.size()};
    names.push_back(&entry.nameBytes);
    kinds.push_back(fill(entry, *attribute, values.emplace_back()));
  }
  table = {{sizeof table, nullptr}, int64_t(entries.size()), kinds.data(), names.data(), values.data()};
}

abi::AttributeKind AttributeTable::fill(Entry &entry, const Attribute &attribute, void *&value) {
  switch (attribute.kind) {
  case Attribute::Kind::Bool:
  case Attribute::Kind::Int:
  case Attribute::Kind::Float:
    entry.data = bytesOf(attribute);
    entry.scalar = {abiType(attribute.dtype), entry.data.data()};
    value = &entry.scalar;
    return abi::AttributeKind::Scalar;
  case Attribute::Kind::IntArray:
  case Attribute::Kind::FloatArray:
    entry.data = bytesOf(attribute);
    entry.array = {abiType(attribute.dtype), attribute.ints.size() + attribute.floats.size(), entry.data.data()};
    value = &entry.array;
    return abi::AttributeKind::Array;
  case Attribute::Kind::String:
    entry.text = attribute.string;
    entry.string = {entry.text.data(), entry.text.size()};
    value = &entry.string;
    return abi::AttributeKind::String;
  case Attribute::Kind::Dictionary:
    entry.dictionary = std::make_unique<AttributeTable>(attribute.children);
    value = &entry.dictionary->table;
    return abi::AttributeKind::Dictionary;
  }
  return abi::AttributeKind::Dictionary; // not reached: the switch covers all kinds
}

} // namespace millrace::runtime::ffi
