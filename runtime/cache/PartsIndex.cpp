// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartsIndex.cpp - The keys of a cache's programs, cheap to read -------===//
#include "runtime/cache/PartsIndex.h"
#include "runtime/base/File.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace millrace::runtime {
namespace {

// Fact: digits of a key, and of a part's digest in a line: 64 bits tell thousands of values apart.
constexpr size_t kKeyDigits = 64, kPartDigits = 16;

bool isHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// The last `most` bytes of a file, from the beginning of a line on.
std::string tailOf(int file, uint64_t size, uint64_t most) {
  const uint64_t begin = size > most ? size - most : 0;
  std::string text(size - begin, '\0');
  size_t got = 0;
  while (got < text.size()) {
    const ssize_t count = ::pread(file, text.data() + got, text.size() - got, off_t(begin + got));
    if (count <= 0)
      break;
    got += size_t(count);
  }
  text.resize(got);
  if (begin)
    text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

struct File {
  explicit File(int number) : number(number) {}
  File(const File &) = delete;
  ~File() {
    if (number >= 0)
      ::close(number);
  }
  int number;
};

} // namespace

std::string indexFile(const std::string &folder) { return folder + "/keys"; }

std::string indexLine(const std::string &digest, const std::vector<CacheKey::Part> &parts) {
  std::string line = digest + " ";
  for (const CacheKey::Part &part : parts) {
    for (char c : part.name)
      line += c == '=' || c == ';' || c == '\n' ? '_' : c;
    line += "=" + part.digest.substr(0, kPartDigits) + ";";
  }
  return line + "\n";
}

std::vector<IndexedKey> readIndex(std::string_view text) {
  std::vector<IndexedKey> keys;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos)
      break; // somebody is writing it
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.size() <= kKeyDigits || line[kKeyDigits] != ' ' || !isHex(line.substr(0, kKeyDigits)))
      continue;
    IndexedKey key;
    key.digest = line.substr(0, kKeyDigits);
    line.remove_prefix(kKeyDigits + 1);
    while (!line.empty()) {
      const size_t equals = line.find('='), semicolon = line.find(';');
      if (equals == std::string_view::npos || semicolon != equals + 1 + kPartDigits || !isHex(line.substr(equals + 1, kPartDigits)))
        break;
      key.parts.emplace_back(line.substr(0, equals), line.substr(equals + 1, kPartDigits));
      line.remove_prefix(semicolon + 1);
    }
    if (line.empty())
      keys.push_back(std::move(key));
  }
  return keys;
}

Difference differenceOf(const IndexedKey &stored, const IndexedKey &key, std::vector<std::string> *names) {
  Difference difference;
  size_t i = 0, k = 0;
  while (i < stored.parts.size() || k < key.parts.size()) {
    const bool isStored = i < stored.parts.size() && (k == key.parts.size() || stored.parts[i].first <= key.parts[k].first);
    const bool isAsked = k < key.parts.size() && (i == stored.parts.size() || key.parts[k].first <= stored.parts[i].first);
    if (!(isStored && isAsked && stored.parts[i].second == key.parts[k].second)) {
      const std::string_view name = isStored ? stored.parts[i].first : key.parts[k].first;
      ++difference.count;
      difference.isOtherProgram |= name == "program";
      if (names)
        names->emplace_back(name);
    }
    i += isStored;
    k += isAsked;
  }
  return difference;
}

void appendToIndex(const std::string &folder, const CacheKey &key) {
  const std::string name = indexFile(folder), line = indexLine(key);
  File file(::open(name.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  struct stat info;
  if (file.number < 0 || ::write(file.number, line.data(), line.size()) != ssize_t(line.size()) || ::fstat(file.number, &info) != 0)
    return;
  if (uint64_t(info.st_size) > 2 * kIndexBytes) // what others append meanwhile is lost
    (void)writeFileAtomically(name, tailOf(file.number, uint64_t(info.st_size), kIndexBytes));
}

std::string newestOfIndex(const std::string &folder, bool &isWhole) {
  isWhole = true;
  File file(::open(indexFile(folder).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.number < 0 || ::fstat(file.number, &info) != 0)
    return "";
  isWhole = uint64_t(info.st_size) <= kIndexBytes;
  return tailOf(file.number, uint64_t(info.st_size), kIndexBytes);
}

} // namespace millrace::runtime
