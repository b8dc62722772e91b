// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mutate.cpp - Damaged versions of a bytecode file -------------------===//
#include "test/fuzz/bytecode/Mutate.h"

#include "dialects/bytecode/Reader.h"

#include <algorithm>

namespace millrace::fuzz {
namespace {

/// SplitMix64: small, seedable by any number, the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t end) { return end ? next() % end : 0; }

private:
  uint64_t state;
};

struct Range {
  size_t begin, size;
};

/// The contents of the sections of a file that is still whole.
std::vector<Range> sectionsOf(const std::string &file) {
  std::string error;
  bytecode::Reader reader(file, error);
  reader.bytes(4);
  reader.varint();
  reader.nulTerminated();
  std::vector<Range> sections;
  while (reader.ok() && !reader.atEnd()) {
    bytecode::Reader::Section section = reader.section();
    if (reader.ok() && !section.data.empty())
      sections.push_back({static_cast<size_t>(section.data.data() - file.data()), section.data.size()});
  }
  return sections;
}

std::string varint(uint64_t value) {
  for (unsigned following = 0; following < 8; ++following)
    if (value < uint64_t(1) << (7 * (following + 1))) {
      uint64_t encoded = (value << 1 | 1) << following;
      return std::string(reinterpret_cast<const char *>(&encoded), following + 1);
    }
  return std::string(1, '\0') + std::string(reinterpret_cast<const char *>(&value), 8);
}

/// Numbers at which readers go wrong.
uint64_t interesting(Random &random, uint64_t value) {
  switch (random.below(8)) {
  case 0: return value + 1;
  case 1: return value - 1;
  case 2: return value ^ uint64_t(1) << random.below(12);
  case 3: return 0;
  case 4: return random.below(16);
  case 5: return uint64_t(1) << random.below(64);
  case 6: return (uint64_t(1) << random.below(64)) - 1;
  default: return ~random.below(4);
  }
}

void edit(std::string &file, const std::vector<std::string> &corpus, const std::vector<Range> &sections, Random &random) {
  if (file.empty())
    return;
  // Sections move when bytes are inserted; aiming a little off is as good.
  Range aim{0, file.size()};
  if (!sections.empty() && random.below(4) != 0) {
    Range section = sections[random.below(sections.size())];
    if (section.begin + section.size <= file.size())
      aim = section;
  }
  size_t at = aim.begin + random.below(aim.size);
  size_t length = 1 + random.below(std::min<size_t>(16, file.size() - at));
  switch (random.below(10)) {
  case 0: case 1: case 2:
    file[at] ^= char(1 << random.below(8));
    return;
  case 3:
    file[at] = static_cast<char>(random.next());
    return;
  case 4: case 5: case 6: {
    // Same length where possible: the sizes of the sections around stay right.
    std::string error;
    bytecode::Reader reader(file, error);
    reader.bytes(at);
    uint64_t value = reader.varint();
    if (!reader.ok())
      return;
    std::string changed = varint(interesting(random, value));
    size_t old = reader.offset() - at;
    if (random.below(2))
      changed.resize(old, '\x01');
    file.replace(at, old, changed);
    return;
  }
  case 7: {
    const std::string &other = corpus[random.below(corpus.size())];
    size_t from = random.below(other.size());
    std::string piece = other.substr(from, 1 + random.below(64));
    file.replace(at, random.below(2) ? std::min(piece.size(), file.size() - at) : 0, piece);
    return;
  }
  case 8:
    if (random.below(2))
      file.erase(at, length);
    else
      file.insert(at, file.substr(at, length));
    return;
  default: {
    // The same number elsewhere in the section: another index that exists.
    size_t from = aim.begin + random.below(aim.size);
    if (at < file.size() && from < file.size())
      file[at] = file[from];
    return;
  }
  }
}

} // namespace

std::string mutate(const std::vector<std::string> &corpus, uint64_t seed, uint64_t index, size_t &origin) {
  Random random(seed * 0x100000001B3 + index);
  random.next();
  origin = random.below(corpus.size());
  std::string file = corpus[origin];
  if (random.below(16) == 0) {
    file.resize(random.below(file.size()));
    return file;
  }
  std::vector<Range> sections = sectionsOf(file);
  for (uint64_t i = 0, edits = uint64_t(1) << random.below(4); i < edits; ++i)
    edit(file, corpus, sections, random);
  return file;
}

} // namespace millrace::fuzz
