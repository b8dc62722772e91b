// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cache.cpp - Persistent compilation cache ----------------------------===//
#include "runtime/cache/Cache.h"
#include "runtime/base/Environment.h"
#include "runtime/cache/PartsIndex.h"
#include "runtime/cache/Turn.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include "runtime/cache/Entry_generated.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t entryFormat = 1;
constexpr size_t trailerSize = 16;
constexpr std::string_view programExtension = ".mrc", kernelExtension = ".mrk", planExtension = ".mrs";

std::string_view extensionOf(EntryKind kind) {
  return kind == EntryKind::Program ? programExtension : kind == EntryKind::Kernel ? kernelExtension : planExtension;
}

/// Verifies structure and checksum; returns null and sets `why` unless the entry is intact.
const fb::CacheEntry *verify(std::string_view bytes, std::string &why) {
  if (bytes.size() < trailerSize) {
    why = "it is truncated";
    return nullptr;
  }
  std::string_view body = bytes.substr(0, bytes.size() - trailerSize);
  uint64_t hash, size;
  std::memcpy(&hash, bytes.data() + body.size(), 8);
  std::memcpy(&size, bytes.data() + body.size() + 8, 8);
  if (size != body.size() || hash != hash64(body.data(), body.size())) {
    why = "its checksum does not match";
    return nullptr;
  }
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(body.data()), body.size());
  if (!fb::VerifyCacheEntryBuffer(verifier)) {
    why = "it is malformed";
    return nullptr;
  }
  const fb::CacheEntry *entry = fb::GetCacheEntry(body.data());
  if (entry->format() != entryFormat || !entry->key() || !entry->parts() || !entry->value()) {
    why = "it has another format";
    return nullptr;
  }
  return entry;
}

struct EntryFile {
  fs::path path;
  uint64_t bytes = 0;
  int64_t used = 0; ///< nanoseconds
};

/// Appends the entries below `folder`, those of programs or all. Returns how many file names were read.
size_t appendEntries(const fs::path &folder, bool all, std::vector<EntryFile> &files) {
  size_t names = 0;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && it != end; it.increment(error), ++names) {
    const fs::path extension = it->path().extension();
    if (extension != programExtension && !(all && (extension == kernelExtension || extension == planExtension)))
      continue;
    struct stat info;
    if (::stat(it->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    files.push_back({it->path(), uint64_t(info.st_size),
                     int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec});
  }
  return names;
}

std::vector<EntryFile> listEntries(const std::string &folder) {
  std::vector<EntryFile> files;
  appendEntries(folder, /*all=*/true, files);
  return files;
}

/// Lists programs from the folders that were written to last, until `names` file names were read: a full cache has a hundred thousand.
std::vector<EntryFile> listRecentPrograms(const std::string &folder, size_t names) {
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  std::error_code error, ignored;
  fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && it != end; it.increment(error))
    if (it->is_directory(ignored))
      folders.push_back({it->last_write_time(ignored), it->path()});
  std::sort(folders.begin(), folders.end(), std::greater<>());
  std::vector<EntryFile> files;
  size_t seen = 0;
  for (size_t i = 0; i < folders.size() && seen < names; ++i)
    seen += appendEntries(folders[i].second, /*all=*/false, files);
  return files;
}

/// The total size of the cache's folder, kept in its file `usage`, since reading every entry takes half a second where there are a hundred thousand.
/// Processes write the file without locks and may lose an update; a recount once a day corrects the total.
struct Usage {
  uint64_t bytes = 0;
  int64_t counted = 0; ///< seconds since 1970
};

int64_t secondsNow() { return int64_t(::time(nullptr)); }

std::string usageFile(const std::string &folder) { return folder + "/usage"; }

/// Returns nullopt if the entries must be counted.
std::optional<Usage> readUsage(const std::string &folder) {
  StatusOr<FileContent> content = readWholeFile(usageFile(folder));
  if (!content)
    return std::nullopt;
  Usage usage;
  const char *begin = content->bytes.data(), *end = begin + content->bytes.size();
  auto bytes = std::from_chars(begin, end, usage.bytes);
  if (bytes.ec != std::errc() || bytes.ptr == end || *bytes.ptr != ' ')
    return std::nullopt;
  auto counted = std::from_chars(bytes.ptr + 1, end, usage.counted);
  constexpr int64_t day = 24 * 3600;
  if (counted.ec != std::errc() || usage.counted > secondsNow() || usage.counted < secondsNow() - day || usage.bytes > (uint64_t(1) << 60))
    return std::nullopt;
  return usage;
}

/// Writes the usage file. After a failure, other processes count the entries instead.
void writeUsage(const std::string &folder, const Usage &usage) {
  (void)writeFileAtomically(usageFile(folder), std::to_string(usage.bytes) + " " + std::to_string(usage.counted) + "\n");
}

/// Removes temporary files of writers that died. An hour is longer than any write takes.
void removeStaleTemporaries(const std::string &folder) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
  auto now = fs::file_time_type::clock::now();
  for (; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    auto isOf = [&](std::string_view extension) { return name.find(std::string(extension) + ".tmp.") != std::string::npos; };
    if (!isOf(programExtension) && !isOf(kernelExtension) && !isOf(planExtension))
      continue;
    std::error_code ignored;
    auto written = fs::last_write_time(it->path(), ignored);
    if (!ignored && now - written > std::chrono::hours(1))
      fs::remove(it->path(), ignored);
  }
}

} // namespace

void CacheKey::add(std::string name, std::string_view value) {
  Part part{std::move(name), Sha256::hex(value)};
  auto at = std::lower_bound(sorted.begin(), sorted.end(), part,
                             [](const Part &a, const Part &b) { return a.name < b.name; });
  assert((at == sorted.end() || at->name != part.name) && "parts have different names");
  sorted.insert(at, std::move(part));
}

std::string CacheKey::digest() const {
  Sha256 hash;
  for (const Part &part : sorted) {
    hash.update(std::to_string(part.name.size()) + ":" + part.name + "=" + part.digest + ";");
  }
  auto bytes = hash.finish();
  return toHex(bytes.data(), bytes.size());
}

StatusOr<CacheOptions> cacheOptionsFromEnvironment() {
  CacheOptions options;
  std::string mode = environment::text("MILLRACE_CACHE");
  if (mode == "off")
    options.mode = CacheMode::Off;
  else if (mode == "ro")
    options.mode = CacheMode::ReadOnly;
  else if (!mode.empty() && mode != "rw")
    return invalidArgument("expects MILLRACE_CACHE to be off, ro or rw, but got '" + mode + "'");
  if (std::string size = environment::text("MILLRACE_CACHE_SIZE"); !size.empty()) {
    char *end = nullptr;
    unsigned long long mebibytes = std::strtoull(size.c_str(), &end, 10);
    if (*end != '\0' || size[0] == '-' || mebibytes > (1ull << 40))
      return invalidArgument("expects MILLRACE_CACHE_SIZE to be a number of MiB, but got '" + size + "'");
    options.sizeLimit = uint64_t(mebibytes) << 20;
  }
  if (std::string folder = environment::text("MILLRACE_CACHE_DIR"); !folder.empty())
    options.folder = folder;
  // a relative path is ignored, as the XDG specification demands
  else if (std::string xdg = environment::text("XDG_CACHE_HOME"); xdg.starts_with('/'))
    options.folder = xdg + "/millrace";
  else if (std::string home = environment::text("HOME"); !home.empty())
    options.folder = home + "/.cache/millrace";
  else
    options.mode = CacheMode::Off;
  return options;
}

Cache::Cache(CacheOptions options) : settings(std::move(options)) {
  if (settings.folder.empty())
    settings.mode = CacheMode::Off;
}

void Cache::warn(const std::string &message) const {
  if (settings.warn)
    settings.warn(message);
  else
    std::fprintf(stderr, "millrace: warning: %s\n", message.c_str());
}

void Cache::warnOnce(const std::string &what, const std::string &message) const {
  static std::mutex mutex;
  static auto *told = new std::set<std::string>; // guarded by mutex
  {
    std::lock_guard lock(mutex);
    if (!told->insert(what + " " + settings.folder).second)
      return;
  }
  warn(message + " (said once)");
}

std::string Cache::path(const std::string &digest, EntryKind kind) const {
  return settings.folder + "/" + digest.substr(0, 2) + "/" + digest + std::string(extensionOf(kind));
}

std::shared_ptr<void> Cache::turn(const CacheKey &key) const {
  constexpr double longest = 300; // Seconds, chosen: processes that wait longer for the holder of the turn compile the program themselves.
  if (settings.mode != CacheMode::ReadWrite)
    return nullptr;
  std::string file = path(key.digest(), EntryKind::Program);
  (void)createFolders(file.substr(0, file.rfind('/'))).ok();
  return takeTurn(file + ".tmp.turn", longest); // a file that its process did not remove goes with the other temporary files
}

bool Cache::mayHave(const CacheKey &key) const {
  return settings.mode != CacheMode::Off && ::access(path(key.digest(), EntryKind::Program).c_str(), F_OK) == 0;
}

std::optional<Cache::Hit> Cache::find(const CacheKey &key, std::string *whyNot, EntryKind kind) {
  if (settings.mode == CacheMode::Off) {
    if (whyNot)
      *whyNot = "the cache is off";
    return std::nullopt;
  }
  std::string digest = key.digest(), file = path(digest, kind), why;
  auto count = [&](bool hit) {
    std::lock_guard lock(mutex);
    switch (kind) {
    case EntryKind::Program:
      ++(hit ? counters.hits : counters.misses);
      break;
    case EntryKind::Kernel:
      ++(hit ? counters.kernelHits : counters.kernelMisses);
      break;
    case EntryKind::Plan:
      ++(hit ? counters.planHits : counters.planMisses);
    }
  };
  StatusOr<FileContent> content = readWholeFile(file);
  if (content) {
    const fb::CacheEntry *entry = verify(content->bytes, why);
    if (entry) {
      bool same = entry->key()->str() == digest && entry->parts()->size() == key.parts().size();
      for (size_t i = 0; same && i < key.parts().size(); ++i) {
        const fb::KeyPart *part = entry->parts()->Get(flatbuffers::uoffset_t(i));
        same = part->name() && part->digest() && part->name()->str() == key.parts()[i].name &&
               part->digest()->str() == key.parts()[i].digest;
      }
      if (!same)
        why = "it belongs to another key";
      else if (settings.mode == CacheMode::ReadWrite)
        ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0); // marks the entry as used now; a failure only ages it
      if (same) {
        count(true);
        return Hit{{reinterpret_cast<const char *>(entry->value()->data()), entry->value()->size()}, content->owner};
      }
    }
    warn("the cache entry '" + file + "' is ignored: " + why);
    if (whyNot)
      *whyNot = "the entry is damaged: " + why;
    count(false);
    std::lock_guard lock(mutex);
    ++counters.damaged;
    return std::nullopt;
  }
  if (content.status().code() != Code::NotFound)
    warnOnce("read", "the cache cannot be read: " + std::string(content.status().message()));
  if (whyNot)
    *whyNot = explain(key);
  count(false);
  return std::nullopt;
}

/// Compares the key with those of the index, and with the newest entries that it lacks (an older Millrace wrote none). Both are bounded: the
/// explanation is for people, and must not read gigabytes.
std::string Cache::explain(const CacheKey &key) const {
  const std::string line = indexLine(key);
  const IndexedKey asked = readIndex(line).at(0);
  bool isWhole = true;
  const std::string text = newestOfIndex(settings.folder, isWhole);
  std::vector<IndexedKey> stored = readIndex(text);
  std::reverse(stored.begin(), stored.end()); // the newest first
  std::unordered_set<std::string_view> known;
  for (const IndexedKey &each : stored)
    known.insert(each.digest);
  std::vector<EntryFile> files = listRecentPrograms(settings.folder, /*names=*/4096);
  const bool isEmpty = files.empty();
  std::erase_if(files, [&](const EntryFile &file) { return known.contains(file.path.stem().string()); });
  std::sort(files.begin(), files.end(), [](const EntryFile &a, const EntryFile &b) { return a.used > b.used; });
  constexpr size_t examined = 16;
  isWhole &= files.size() <= examined;
  files.resize(std::min(files.size(), examined));
  std::vector<std::string> lines; // of entries that are not in the index
  for (const EntryFile &file : files) {
    if (file.bytes > (uint64_t(16) << 20))
      continue;
    StatusOr<FileContent> content = readWholeFile(file.path.string());
    std::string ignored;
    const fb::CacheEntry *entry = content ? verify(content->bytes, ignored) : nullptr;
    if (!entry)
      continue;
    std::vector<CacheKey::Part> parts;
    for (const fb::KeyPart *part : *entry->parts())
      if (part->name() && part->digest())
        parts.push_back({part->name()->str(), part->digest()->str()});
    lines.push_back(indexLine(entry->key()->str(), parts));
  }
  for (const std::string &each : lines)
    for (IndexedKey &found : readIndex(each))
      stored.push_back(std::move(found));

  std::vector<std::pair<Difference, size_t>> candidates; // of equal ones the newest first
  for (size_t i = 0; i < stored.size(); ++i)
    candidates.emplace_back(differenceOf(stored[i], asked), i);
  std::sort(candidates.begin(), candidates.end());
  size_t numEvicted = 0;
  for (const auto &[difference, index] : candidates) {
    const IndexedKey &nearest = stored[index];
    if (::access(path(std::string(nearest.digest), EntryKind::Program).c_str(), F_OK) != 0) {
      // An index of evicted programs only is possible, and each costs a call. Unit: programs. Source: judgement, not measured alone.
      constexpr size_t kMostEvicted = 1024;
      if (++numEvicted == kMostEvicted)
        break;
      continue;
    }
    std::string told = isWhole ? "the most similar entry differs in: "
                               : "the most similar of the newest " + std::to_string(candidates.size()) + " entries differs in: ";
    std::vector<std::string> names;
    differenceOf(nearest, asked, &names);
    for (size_t i = 0; i < names.size(); ++i)
      told += (i ? ", " : "") + names[i];
    return told;
  }
  return isEmpty ? "the cache is empty" : "no intact entry is in the cache";
}

void Cache::store(const CacheKey &key, std::string_view value, EntryKind kind) {
  if (settings.mode != CacheMode::ReadWrite)
    return;
  if (value.size() > (uint64_t(1900) << 20)) {
    warn("a program of " + std::to_string(value.size()) + " bytes is too large for the cache");
    return;
  }
  flatbuffers::FlatBufferBuilder builder(value.size() + 4096);
  std::vector<flatbuffers::Offset<fb::KeyPart>> parts;
  for (const CacheKey::Part &part : key.parts())
    parts.push_back(fb::CreateKeyPart(builder, builder.CreateString(part.name), builder.CreateString(part.digest)));
  std::string digest = key.digest();
  auto keyOffset = builder.CreateString(digest);
  auto partsOffset = builder.CreateVector(parts);
  builder.ForceVectorAlignment(value.size(), 1, 64);
  auto valueOffset = builder.CreateVector(reinterpret_cast<const uint8_t *>(value.data()), value.size());
  fb::FinishCacheEntryBuffer(builder, fb::CreateCacheEntry(builder, entryFormat, keyOffset, partsOffset, valueOffset));
  std::string bytes(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  uint64_t trailer[2] = {hash64(bytes.data(), bytes.size()), bytes.size()};
  bytes.append(reinterpret_cast<const char *>(trailer), sizeof trailer);

  std::string file = path(digest, kind);
  Status status = createFolders(fs::path(file).parent_path().string());
  if (status.ok())
    status = writeFileAtomically(file, bytes);
  if (!status.ok()) {
    warnOnce("write", "the cache entry cannot be written: " + std::string(status.message()));
    return;
  }
  if (kind == EntryKind::Program)
    appendToIndex(settings.folder, key);
  count(bytes.size(), /*tellOthers=*/kind == EntryKind::Program, file);
}

void Cache::count(uint64_t bytes, bool tellOthers, const std::string &justWritten) {
  bool scan = false;
  {
    std::lock_guard lock(mutex);
    ++counters.writes;
    untoldBytes += bytes;
    // Kernels are stored by the hundred, so their bytes are recorded together with those of their program.
    if (!estimatedBytes || tellOthers) {
      if (std::optional<Usage> usage = readUsage(settings.folder)) {
        usage->bytes += untoldBytes;
        untoldBytes = 0;
        estimatedBytes = usage->bytes;
        writeUsage(settings.folder, *usage);
      } else {
        scan = true;
      }
    } else {
      *estimatedBytes += bytes;
    }
    scan |= estimatedBytes && *estimatedBytes > settings.sizeLimit;
  }
  if (scan)
    evict(justWritten);
}

void Cache::evict(const std::string &justWritten) {
  removeStaleTemporaries(settings.folder);
  std::vector<EntryFile> files = listEntries(settings.folder);
  uint64_t total = 0, removed = 0;
  for (const EntryFile &file : files)
    total += file.bytes;
  if (total > settings.sizeLimit) {
    std::sort(files.begin(), files.end(), [](const EntryFile &a, const EntryFile &b) { return a.used < b.used; });
    for (const EntryFile &file : files) {
      if (total <= settings.sizeLimit)
        break;
      if (file.path == justWritten && file.bytes <= settings.sizeLimit)
        continue;
      std::error_code error; // another process may have removed the file
      fs::remove(file.path, error);
      total -= file.bytes;
      ++removed;
    }
  }
  std::lock_guard lock(mutex);
  estimatedBytes = total;
  untoldBytes = 0;
  writeUsage(settings.folder, {total, secondsNow()});
  counters.evicted += removed;
}

Status Cache::clear() {
  if (settings.mode != CacheMode::ReadWrite)
    return Status();
  removeStaleTemporaries(settings.folder);
  std::vector<fs::path> files{usageFile(settings.folder), indexFile(settings.folder)};
  for (const EntryFile &entry : listEntries(settings.folder))
    files.push_back(entry.path);
  Status status;
  for (const fs::path &file : files) {
    std::error_code error; // none if another process has deleted the file
    fs::remove(file, error);
    if (error && status.ok())
      status = Status(error == std::errc::permission_denied ? Code::PermissionDenied : Code::Internal,
                      "cannot delete the cache's file '" + file.string() + "': " + error.message());
  }
  std::lock_guard lock(mutex);
  estimatedBytes.reset();
  untoldBytes = 0;
  return status;
}

CacheStats Cache::stats() const {
  std::lock_guard lock(mutex);
  return counters;
}

Status Cache::checkWritable() const {
  if (settings.mode != CacheMode::ReadWrite)
    return Status();
  MILLRACE_TRY(createFolders(settings.folder));
  if (::access(settings.folder.c_str(), W_OK) != 0)
    return Status(Code::PermissionDenied, "cannot write to the cache folder '" + settings.folder + "'");
  return Status();
}

} // namespace millrace::runtime
