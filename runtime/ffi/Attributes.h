// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.h - Attributes of a call in the FFI's layout -------------===//
#pragma once
#include "runtime/ffi/Objects.h"
#include "runtime/program/Program.h"

#include <memory>

namespace millrace::runtime::ffi {

/// A dictionary in the layout of the interface, with all the memory that it points to. It is immutable, so that all calls share it.
class AttributeTable {
public:
  explicit AttributeTable(const std::vector<Attribute> &attributes);
  AttributeTable(const AttributeTable &) = delete;
  const abi::Attributes &get() const { return table; }

private:
  struct Entry {
    std::string name;
    abi::Bytes nameBytes;
    std::vector<uint8_t> data; ///< storage of scalars and arrays
    std::string text;
    abi::Scalar scalar;
    abi::Array array;
    abi::Bytes string;
    std::unique_ptr<AttributeTable> dictionary;
  };
  abi::AttributeKind fill(Entry &entry, const Attribute &attribute, void *&value);

  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<abi::AttributeKind> kinds;
  std::vector<abi::Bytes *> names;
  std::vector<void *> values;
  abi::Attributes table;
};

} // namespace millrace::runtime::ffi
