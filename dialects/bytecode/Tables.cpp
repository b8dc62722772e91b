// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tables.cpp - Header, sections and tables of a bytecode file --------===//
#include "dialects/bytecode/Artifact.h"

namespace millrace::bytecode {
namespace {

enum SectionId { kString, kDialect, kAttrType, kAttrTypeOffset, kIR, kResource, kResourceOffset, kDialectVersion,
                kProperties };

class TableReader {
public:
  TableReader(Reader file, Artifact &artifact) : file(file), artifact(artifact) {}

  void run() {
    readHeader();
    if (!file.ok())
      return;
    readStrings(section(kString));
    if (artifact.sections[kProperties])
      readProperties(section(kProperties));
    readDialects(section(kDialect));
    if (artifact.sections[kResource])
      readResources(section(kResourceOffset), section(kResource));
    readOffsets(section(kAttrTypeOffset));
  }

private:
  Reader section(SectionId id) { return file.within(*artifact.sections[id]); }

  llvm::StringRef string(uint64_t index, const Reader &in) {
    Reader at(in);
    index = at.checkIndex(index, artifact.strings.size(), "string");
    return at.ok() ? artifact.strings[index] : llvm::StringRef();
  }

  void readHeader() {
    if (file.bytes(4) != "ML\xefR") {
      file.fail("expects the magic number of MLIR bytecode");
      return;
    }
    artifact.version = file.varint();
    if (artifact.version > kNewestVersion)
      file.fail("expects bytecode version 0 to " + llvm::Twine(kNewestVersion) + ", but got " +
                llvm::Twine(artifact.version));
    artifact.producer = file.nulTerminated();
    while (file.ok() && !file.atEnd()) {
      Reader::Section next = file.section();
      if (!file.ok())
        return;
      if (artifact.sections[next.id])
        file.fail("section " + llvm::Twine(next.id) + " is there twice");
      artifact.sections[next.id] = next.data;
    }
    for (unsigned id : {kString, kDialect, kAttrType, kAttrTypeOffset, kIR})
      if (!artifact.sections[id])
        file.fail("section " + llvm::Twine(id) + " is missing");
    if (artifact.version >= kNativeProperties && !artifact.sections[kProperties])
      file.fail("section " + llvm::Twine(kProperties) + " is missing");
    if (artifact.sections[kResource].has_value() != artifact.sections[kResourceOffset].has_value())
      file.fail("expects both resource sections or none");
  }

  /// Reads sizes, last string first, and then the strings with their NUL, first string first.
  void readStrings(Reader in) {
    uint64_t number = in.count("strings");
    std::vector<uint64_t> sizes(number);
    for (uint64_t &size : llvm::reverse(sizes)) {
      size = in.varint();
      if (in.ok() && size == 0)
        in.fail("expects the size of a string to count its NUL, but got 0");
    }
    for (uint64_t size : sizes) {
      llvm::StringRef string = in.bytes(size);
      if (!in.ok())
        return;
      // MLIR passes some of these to code that relies on the NUL.
      if (string.back() != '\0') {
        in.fail("expects a NUL after each string");
        return;
      }
      artifact.strings.push_back(string.drop_back());
    }
    in.expectEnd("the strings");
  }

  void readDialects(Reader in) {
    uint64_t number = in.count("dialects");
    for (uint64_t i = 0; i < number && in.ok(); ++i) {
      uint64_t name = in.varint();
      bool versioned = false;
      if (artifact.version >= kDialectVersions) {
        versioned = name & 1;
        name >>= 1;
      }
      artifact.dialects.push_back({string(name, in)});
      if (versioned && in.section().id != kDialectVersion)
        in.fail("expects a section with the version of dialect '" + artifact.dialects.back().name + "'");
    }
    uint64_t announced = artifact.version >= kElidedLocations ? in.count("operation names") : 0;
    while (in.ok() && !in.atEnd()) {
      uint64_t dialect = in.index(artifact.dialects.size(), "dialect");
      uint64_t size = in.count("operation names");
      for (uint64_t i = 0; i < size && in.ok(); ++i) {
        uint64_t name = in.varint();
        llvm::StringRef spelled = string(artifact.version >= kNativeProperties ? name >> 1 : name, in);
        // Names without a dialect exist in MLIR's oldest files only; our dialects have no such names.
        if (in.ok() && spelled.empty())
          in.fail("an operation of dialect '" + artifact.dialects[dialect].name + "' has no name");
        artifact.operations.push_back({static_cast<uint32_t>(dialect), spelled});
      }
    }
    if (artifact.version >= kElidedLocations && in.ok() && announced != artifact.operations.size())
      in.fail("expects " + llvm::Twine(announced) + " operation names, but got " +
              llvm::Twine(artifact.operations.size()));
  }

  /// Reads a count, then the size and the bytes of each item.
  void readProperties(Reader in) {
    if (in.atEnd())
      return;
    artifact.numProperties = in.count("properties");
    for (uint64_t i = 0; i < artifact.numProperties && in.ok(); ++i)
      in.bytes(in.varint());
    in.expectEnd("the properties");
  }

  void readResourceGroup(Reader &offsets, Reader &data, llvm::StringRef dialect) {
    uint64_t number = offsets.count("resources");
    for (uint64_t i = 0; i < number && offsets.ok(); ++i) {
      string(offsets.varint(), offsets);
      uint64_t size = offsets.varint();
      uint8_t kind = offsets.byte();
      if (offsets.ok() && kind > Resource::String)
        offsets.fail("resource kind " + llvm::Twine(kind) + " is unknown");
      Resource resource{dialect, static_cast<Resource::Kind>(kind), size == 0};
      Reader in = data.within(data.bytes(size));
      if (!resource.declarationOnly && in.ok())
        readResource(in, resource);
      if (!dialect.empty())
        artifact.resources.push_back(resource);
    }
  }

  void readResource(Reader in, Resource &resource) {
    switch (resource.kind) {
    case Resource::Bool:
      if (in.byte() > 1)
        in.fail("expects a boolean resource to be 0 or 1");
      break;
    case Resource::String:
      string(in.varint(), in);
      break;
    case Resource::Blob: {
      uint64_t alignment = in.varint();
      resource.blobSize = in.varint();
      in.align(alignment);
      in.bytes(resource.blobSize);
      break;
    }
    }
    in.expectEnd("a resource");
  }

  void readResources(Reader offsets, Reader data) {
    uint64_t external = offsets.count("groups of resources");
    for (uint64_t i = 0; i < external && offsets.ok(); ++i) {
      string(offsets.varint(), offsets);
      readResourceGroup(offsets, data, "");
    }
    while (offsets.ok() && !offsets.atEnd()) {
      uint64_t dialect = offsets.index(artifact.dialects.size(), "dialect");
      if (offsets.ok())
        readResourceGroup(offsets, data, artifact.dialects[dialect].name);
    }
  }

  /// Reads groups by dialect: the number of entries, then the size of each with a flag for the dialect's own encoding.
  void readOffsets(Reader in) {
    uint64_t numAttributes = in.count("attributes"), numTypes = in.count("types");
    Reader data = section(kAttrType);
    for (auto [table, size] : {std::pair(&artifact.attributes, numAttributes), std::pair(&artifact.types, numTypes)}) {
      table->resize(in.ok() ? size : 0);
      uint64_t next = 0;
      while (in.ok() && next != table->size()) {
        uint64_t dialect = in.index(artifact.dialects.size(), "dialect");
        uint64_t group = in.count("entries");
        if (in.ok() && (group == 0 || group > table->size() - next))
          in.fail("expects 1 to " + llvm::Twine(table->size() - next) + " entries, but got " + llvm::Twine(group));
        for (uint64_t i = 0; i < group && in.ok(); ++i) {
          uint64_t sizeAndFlag = in.varint();
          Entry &entry = (*table)[next++];
          entry.dialect = artifact.dialects[dialect].name;
          entry.custom = sizeAndFlag & 1;
          entry.data = data.bytes(sizeAndFlag >> 1);
        }
      }
    }
    in.expectEnd("the sizes of attributes and types");
    data.expectEnd("the attributes and types");
  }

  Reader file;
  Artifact &artifact;
};

} // namespace

void readTables(Reader file, Artifact &artifact) { TableReader(file, artifact).run(); }

} // namespace millrace::bytecode
