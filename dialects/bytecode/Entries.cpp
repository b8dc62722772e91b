// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Entries.cpp - Contents of attribute and type entries ---------------===//
#include "dialects/bytecode/Grammar.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace millrace::bytecode {
namespace {

/// The deepest nesting of brackets in text, along which MLIR's parser recurses.
constexpr unsigned kMaxTextDepth = 64;
/// The longest text of an affine map, which bounds the depth of its tree.
constexpr size_t kMaxAffineText = 2048;

/// Returns true if all `array<` elements are integers or floats. MLIR's text parser crashes on `array<index`.
bool arraysHoldNumbers(llvm::StringRef text) {
  constexpr llvm::StringLiteral word("array");
  for (size_t at = text.find(word); at != llvm::StringRef::npos; at = text.find(word, at + 1)) {
    llvm::StringRef rest = text.drop_front(at + word.size()).ltrim();
    if (!rest.consume_front("<"))
      continue;
    rest = rest.ltrim();
    bool isInteger = rest.consume_front("i") && !rest.empty() && llvm::isDigit(rest.front());
    if (!isInteger && !rest.starts_with("f") && !rest.starts_with("bf"))
      return false;
  }
  return true;
}

class EntryReader {
public:
  EntryReader(Reader file, Artifact &artifact) : file(file), artifact(artifact) {}

  void run() {
    // Types are read first: their fields do not depend on other entries, and those of attributes depend on types.
    for (bool isType : {true, false})
      for (Entry &entry : isType ? artifact.types : artifact.attributes) {
        Reader in = file.within(entry.data);
        if (entry.custom)
          readCustom(in, entry, isType);
        else
          readText(in, entry, isType);
        if (!file.ok())
          return;
      }
    measure();
  }

private:
  void readCustom(Reader in, Entry &entry, bool isType) {
    entry.code = in.varint();
    const char *fields = in.ok() ? fieldsOf(entry.dialect, isType, entry.code) : nullptr;
    if (!fields) {
      in.fail(llvm::Twine(isType ? "type" : "attribute") + " code " + llvm::Twine(entry.code) + " of dialect '" +
              entry.dialect + "' is unknown");
      return;
    }
    for (char field; (field = *fields) != 0 && in.ok(); ++fields)
      if (field >= 'a' && field <= 'z') {
        readField(in, entry, field);
      } else {
        uint64_t length = in.count("list items");
        for (uint64_t i = 0; i < length && in.ok(); ++i)
          readField(in, entry, field - 'A' + 'a');
      }
    in.expectEnd("an attribute or type");
  }

  void reference(Reader &in, Entry &entry, bool isType, uint64_t index) {
    size_t size = isType ? artifact.types.size() : artifact.attributes.size();
    index = in.checkIndex(index, size, isType ? "type" : "attribute");
    entry.references.push_back({isType, static_cast<uint32_t>(index)});
  }

  void readField(Reader &in, Entry &entry, char field) {
    switch (field) {
    case 'a': return reference(in, entry, false, in.varint());
    case 't': return reference(in, entry, true, in.varint());
    case 'o':
      if (uint64_t value = in.varint(); value & 1)
        reference(in, entry, false, value >> 1);
      return;
    case 'h':
      if (in.varint())
        reference(in, entry, false, in.varint());
      return;
    case 'n': {
      uint64_t length = in.count("dictionary entries");
      for (uint64_t i = 0; i < 2 * length && in.ok(); ++i)
        reference(in, entry, false, in.varint());
      return;
    }
    case 'v': return entry.numbers.push_back(static_cast<int64_t>(in.varint()));
    case 'i': return entry.numbers.push_back(in.signedVarint());
    case 'y': return entry.numbers.push_back(in.byte());
    case 's': return entry.numbers.push_back(static_cast<int64_t>(in.index(artifact.strings.size(), "string")));
    case 'r': return entry.numbers.push_back(static_cast<int64_t>(in.index(artifact.resources.size(), "resource")));
    case 'b': entry.blob = in.bytes(in.varint()); return;
    case 'd': return entry.reals.push_back(static_cast<uint64_t>(in.signedVarint()));
    case 'x': case 'f': return readNumber(in, entry, field == 'f');
    case 'p': return readDenseStrings(in, entry);
    default: in.fail("the grammar has no field '" + llvm::Twine(field) + "'");
    }
  }

  /// Reads a number: one byte up to 8 bits, a signed varint up to 64 bits, else a list of words.
  void readNumber(Reader &in, Entry &entry, bool isFloat) {
    if (!in.ok())
      return;
    NumberType type = numberType(artifact, artifact.entry(entry.references.back()));
    bool fits = isFloat ? type.kind == NumberType::Float
                        : type.kind == NumberType::Integer || type.kind == NumberType::Index;
    if (!fits) {
      in.fail(llvm::Twine("expects ") + (isFloat ? "a float" : "an integer or index") + " type of a number");
    } else if (type.bits <= 8) {
      in.byte();
    } else if (type.bits <= 64) {
      in.signedVarint();
    } else {
      uint64_t words = in.count("words of a number");
      // Wide numbers of LLVM have at least one word.
      if (in.ok() && (words == 0 || words > (type.bits + 63) / 64))
        in.fail("expects 1 to " + llvm::Twine((type.bits + 63) / 64) + " words of a number, but got " + llvm::Twine(words));
      for (uint64_t i = 0; i < words && in.ok(); ++i)
        in.signedVarint();
    }
  }

  /// Reads a flag that says whether one string is a splat, then the strings, whose number follows from the type.
  void readDenseStrings(Reader &in, Entry &entry) {
    entry.numbers.push_back(static_cast<int64_t>(in.varint()));
    while (in.ok() && !in.atEnd())
      entry.numbers.push_back(static_cast<int64_t>(in.index(artifact.strings.size(), "string")));
  }

  void readText(Reader in, Entry &entry, bool isType) {
    llvm::StringRef text = in.nulTerminated();
    in.expectEnd("the text of an attribute or type");
    // Rules about parts of builtin types depend on the dialect that the table names.
    llvm::StringRef rest = text;
    bool prefixed = rest.consume_front(isType ? "!" : "#");
    bool ofDialect = prefixed && rest.consume_front(entry.dialect) && (rest.starts_with(".") || rest.starts_with("<"));
    if (entry.dialect == "builtin" ? prefixed : !ofDialect)
      in.fail("expects text of dialect '" + entry.dialect + "'");
    unsigned depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size() && in.ok(); ++i) {
      char c = text[i];
      if (quoted) {
        i += c == '\\';
        quoted = c != '"';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '/') {
        in.fail("the text of an attribute or type has a comment");
      } else if (llvm::StringRef("([{<").contains(c)) {
        if (++depth > kMaxTextDepth)
          in.fail("the text of an attribute or type nests deeper than " + llvm::Twine(kMaxTextDepth));
      } else if (llvm::StringRef(")]}>").contains(c) && depth > 0 && !(c == '>' && i > 0 && text[i - 1] == '-')) {
        --depth;
      }
    }
    if ((text.contains("affine_map") || text.contains("affine_set")) && text.size() > kMaxAffineText)
      in.fail("the text of an affine map is longer than " + llvm::Twine(kMaxAffineText));
    if (!arraysHoldNumbers(text))
      in.fail("expects arrays of integers or floats in the text of an attribute");
    // Resources must be referenced by codes, because a reference in text would bypass the check of their size.
    if (text.contains("dense_resource"))
      in.fail("a resource is referred to in text");
  }

  /// Computes the depth and size of every entry along its references, and reports cycles.
  void measure() {
    std::vector<State> attributes(artifact.attributes.size()), types(artifact.types.size());
    auto state = [&](Entry::Reference r) -> State & { return r.isType ? types[r.index] : attributes[r.index]; };
    std::vector<std::pair<Entry::Reference, size_t>> stack; // entry, next reference to follow
    auto visit = [&](Entry::Reference root) {
      if (state(root).depth)
        return;
      stack.push_back({root, 0});
      while (!stack.empty() && file.ok()) {
        auto &[current, next] = stack.back();
        const Entry &entry = artifact.entry(current);
        State &mine = state(current);
        mine.open = true;
        if (next == entry.references.size()) {
          close(mine, entry, state);
          stack.pop_back();
          continue;
        }
        Entry::Reference child = entry.references[next++];
        if (state(child).open)
          file.within(entry.data).fail("an attribute or type contains itself");
        else if (!state(child).depth)
          stack.push_back({child, 0});
      }
    };
    for (bool isType : {true, false})
      for (uint32_t i = 0, e = isType ? types.size() : attributes.size(); i < e && file.ok(); ++i)
        visit({isType, i});
  }

  struct State {
    bool open = false;
    unsigned depth = 0; ///< 0 if it is not known yet
    uint64_t size = 1;
  };

  template <typename StateOf>
  void close(State &mine, const Entry &entry, StateOf &state) {
    mine.open = false;
    mine.depth = 1;
    for (Entry::Reference child : entry.references) {
      mine.depth = std::max(mine.depth, state(child).depth + 1);
      mine.size = llvm::SaturatingAdd(mine.size, state(child).size);
    }
    Reader at = file.within(entry.data);
    if (mine.depth > kMaxEntryDepth)
      at.fail("attributes or types nest deeper than " + llvm::Twine(kMaxEntryDepth));
    if (mine.size > kMaxEntrySize)
      at.fail("an attribute or type written out has more than " + llvm::Twine(kMaxEntrySize) + " parts");
  }

  Reader file;
  Artifact &artifact;
};

} // namespace

void readEntries(Reader file, Artifact &artifact) { EntryReader(file, artifact).run(); }

} // namespace millrace::bytecode
