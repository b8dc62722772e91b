// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Operations.cpp - Regions, blocks and operations of a bytecode file -===//
#include "dialects/bytecode/Artifact.h"

namespace millrace::bytecode {
namespace {

enum OperationMask : uint8_t {
  kHasAttributes = 1, kHasResults = 2, kHasOperands = 4, kHasSuccessors = 8, kHasRegions = 16, kHasUseLists = 32,
  kHasProperties = 64, kUnknown = 128
};

constexpr unsigned kIRSection = 4;

/// The order of a value's uses, if it is not the default: a permutation, or pairs of positions that differ.
struct UseListOrder {
  size_t value;
  bool pairs;
  std::vector<uint64_t> indices;
};

/// The values that operands may refer to: those of the enclosing regions, up to the nearest isolated one.
struct Scope {
  std::vector<uint64_t> numUses; ///< number of uses by value
};

class OperationReader {
public:
  OperationReader(const Artifact &artifact) : artifact(artifact) {}

  /// The top level is one block without arguments or values.
  void run(Reader in) {
    scopes.emplace_back();
    Region top;
    top.isTop = true;
    block(in, top, 0);
    in.expectEnd("the operations");
  }

private:
  struct Region {
    bool isTop = false;
    size_t firstValue = 0; ///< index in the scope of the region's first value
    uint64_t numValues = 0, numDefined = 0, numBlocks = 0;
    std::vector<UseListOrder> orders;
  };

  Scope &scope() { return scopes.back(); }
  void attribute(Reader &in) { in.index(artifact.attributes.size(), "attribute"); }

  void region(Reader &in, unsigned depth) {
    if (depth > kMaxRegionDepth) {
      in.fail("regions nest deeper than " + llvm::Twine(kMaxRegionDepth));
      return;
    }
    Region region;
    region.numBlocks = in.count("blocks");
    if (!in.ok() || region.numBlocks == 0)
      return;
    region.numValues = in.count("values");
    region.firstValue = scope().numUses.size();
    scope().numUses.resize(region.firstValue + region.numValues);
    for (uint64_t i = 0; i < region.numBlocks && in.ok(); ++i)
      block(in, region, depth);
    // With fewer values there would be references to values that are never defined.
    if (in.ok() && region.numDefined != region.numValues)
      in.fail("expects " + llvm::Twine(region.numValues) + " values in a region, but got " + llvm::Twine(region.numDefined));
    for (const UseListOrder &order : region.orders)
      check(in, order);
    scope().numUses.resize(region.firstValue);
  }

  /// Numbers the values in the order of their definition.
  size_t define(Reader &in, Region &region, uint64_t number) {
    size_t first = region.firstValue + region.numDefined;
    region.numDefined += number;
    if (region.numDefined > region.numValues && in.ok())
      in.fail("expects " + llvm::Twine(region.numValues) + " values in a region, but got more");
    return first;
  }

  void block(Reader &in, Region &region, unsigned depth) {
    uint64_t sizeAndFlag = in.varint();
    if (sizeAndFlag & 1) {
      if (region.isTop)
        in.fail("the top level has arguments");
      uint64_t number = in.count("arguments");
      for (uint64_t i = 0; i < number && in.ok(); ++i)
        argument(in);
      size_t first = define(in, region, number);
      if (artifact.version >= kUseLists && in.byte())
        useListOrders(in, region, first, number);
    }
    for (uint64_t i = 0, e = sizeAndFlag >> 1; i < e && in.ok(); ++i)
      operation(in, region, depth);
  }

  void argument(Reader &in) {
    if (artifact.version < kElidedLocations) {
      in.index(artifact.types.size(), "type");
      attribute(in);
      return;
    }
    uint64_t typeAndFlag = in.varint();
    in.checkIndex(typeAndFlag >> 1, artifact.types.size(), "type");
    if (typeAndFlag & 1)
      attribute(in);
  }

  void operation(Reader &in, Region &parent, unsigned depth) {
    in.index(artifact.operations.size(), "operation name");
    uint8_t mask = in.byte();
    if (mask & kUnknown)
      in.fail("operation with unknown parts");
    attribute(in); // location
    if (mask & kHasAttributes)
      attribute(in);
    if (mask & kHasProperties) {
      if (artifact.version < kNativeProperties)
        in.fail("properties in bytecode version " + llvm::Twine(artifact.version));
      in.index(artifact.numProperties, "properties");
    }
    uint64_t numResults = mask & kHasResults ? in.count("results") : 0;
    for (uint64_t i = 0; i < numResults && in.ok(); ++i)
      in.index(artifact.types.size(), "type");
    uint64_t numOperands = mask & kHasOperands ? in.count("operands") : 0;
    for (uint64_t i = 0; i < numOperands && in.ok(); ++i) {
      uint64_t value = in.index(scope().numUses.size(), "value");
      if (in.ok())
        ++scope().numUses[value];
    }
    uint64_t numSuccessors = mask & kHasSuccessors ? in.count("successors") : 0;
    // A successor would name the top level's own block.
    if (numSuccessors && parent.isTop)
      in.fail("an operation of the top level has successors");
    for (uint64_t i = 0; i < numSuccessors && in.ok(); ++i)
      in.index(parent.numBlocks, "block");
    // Results of the top level have no numbers, because nothing can use them.
    size_t first = parent.isTop ? 0 : define(in, parent, numResults);
    if (artifact.version >= kUseLists && (mask & kHasUseLists))
      useListOrders(in, parent, first, numResults);
    if (mask & kHasRegions)
      regions(in, depth);
  }

  void regions(Reader &in, unsigned depth) {
    uint64_t numberAndFlag = in.varint();
    bool isolated = numberAndFlag & 1;
    uint64_t number = numberAndFlag >> 1;
    if (in.ok() && number > in.remaining())
      in.fail(llvm::Twine(number) + " regions cannot be in the " + llvm::Twine(in.remaining()) + " bytes that are left");
    if (!in.ok() || number == 0)
      return;
    if (isolated)
      scopes.emplace_back();
    if (isolated && artifact.version >= kIsolatedSections) {
      Reader::Section section = in.section();
      if (in.ok() && section.id != kIRSection)
        in.fail("expects a section with the regions of an operation");
      Reader inner = in.within(section.data);
      for (uint64_t i = 0; i < number && inner.ok(); ++i)
        region(inner, depth + 1);
      inner.expectEnd("the regions of an operation");
    } else {
      for (uint64_t i = 0; i < number && in.ok(); ++i)
        region(in, depth + 1);
    }
    if (isolated)
      scopes.pop_back();
  }

  /// Reads which of `number` values, from `first` on, have an order. A single value is not named.
  void useListOrders(Reader &in, Region &region, size_t first, uint64_t number) {
    uint64_t size = number > 1 ? in.count("orders of uses") : 1;
    if (in.ok() && (number == 0 || size == 0))
      in.fail("orders of uses without values");
    for (uint64_t i = 0; i < size && in.ok(); ++i) {
      uint64_t which = number > 1 ? in.index(number, "value") : 0;
      uint64_t lengthAndFlag = in.varint();
      UseListOrder order{first + which, (lengthAndFlag & 1) != 0, {}};
      uint64_t length = lengthAndFlag >> 1;
      if (in.ok() && length > in.remaining())
        in.fail(llvm::Twine(length) + " uses cannot be in the " + llvm::Twine(in.remaining()) + " bytes that are left");
      for (uint64_t k = 0; k < length && in.ok(); ++k)
        order.indices.push_back(in.varint());
      if (!region.isTop)
        region.orders.push_back(std::move(order));
    }
  }

  /// Checks that the order permutes the uses, because MLIR writes through these indices. All uses are known when the region ends.
  void check(Reader &in, const UseListOrder &order) {
    if (!in.ok())
      return;
    uint64_t uses = scope().numUses[order.value];
    std::vector<uint64_t> places = order.indices;
    bool valid = true;
    if (order.pairs) {
      places.resize(uses);
      for (uint64_t i = 0; i < uses; ++i)
        places[i] = i;
      valid = order.indices.size() % 2 == 0;
      for (size_t i = 0; valid && i < order.indices.size(); i += 2)
        if ((valid = order.indices[i] < uses))
          places[order.indices[i]] = order.indices[i + 1];
    }
    std::vector<bool> seen(uses);
    valid = valid && places.size() == uses;
    for (size_t i = 0; valid && i < places.size(); ++i) {
      valid = places[i] < uses && !seen[places[i]];
      if (valid)
        seen[places[i]] = true;
    }
    if (!valid)
      in.fail("expects the order of uses to permute the " + llvm::Twine(uses) + " uses of a value");
  }

  const Artifact &artifact;
  std::vector<Scope> scopes;
};

} // namespace

void checkOperations(Reader file, const Artifact &artifact) {
  OperationReader(artifact).run(file.within(*artifact.sections[kIRSection]));
}

} // namespace millrace::bytecode
