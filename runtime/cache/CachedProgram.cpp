// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CachedProgram.cpp - A program from the cache, else from the compiler ===//
#include "runtime/cache/CachedProgram.h"

#include "runtime/profile/Recorder.h"
#include "runtime/program/KernelUpgrades.h"

#include <chrono>

namespace millrace::runtime {

StatusOr<Cache *> processCache() {
  struct Shared {
    std::unique_ptr<Cache> cache;
    Status status;
  };
  // The object is never destroyed, since threads may compile while the process exits.
  static Shared *shared = [] {
    auto *made = new Shared;
    StatusOr<CacheOptions> options = cacheOptionsFromEnvironment();
    made->status = options.status();
    if (options)
      made->cache = std::make_unique<Cache>(std::move(*options));
    return made;
  }();
  MILLRACE_TRY(shared->status);
  return shared->cache.get();
}

static ByteStore storeOf(Cache &cache, EntryKind kind) {
  ByteStore store;
  if (cache.options().mode == CacheMode::Off)
    return store;
  auto keyOf = [](const ByteStore::Key &parts) {
    CacheKey key;
    for (const auto &[name, value] : parts)
      key.add(name, value);
    return key;
  };
  store.find = [&cache, kind, keyOf](const ByteStore::Key &parts) -> std::optional<std::string> {
    std::optional<Cache::Hit> hit = cache.find(keyOf(parts), nullptr, kind);
    return hit ? std::optional<std::string>(hit->value) : std::nullopt;
  };
  if (cache.options().mode == CacheMode::ReadWrite)
    store.store = [&cache, kind, keyOf](const ByteStore::Key &parts, std::string_view value) { cache.store(keyOf(parts), value, kind); };
  return store;
}

ByteStore kernelStore(Cache &cache) { return storeOf(cache, EntryKind::Kernel); }

ByteStore planStore(Cache &cache) { return storeOf(cache, EntryKind::Plan); }

StatusOr<CachedProgram> cachedProgram(Cache &cache, const CacheKey &key, const std::function<StatusOr<Program>()> &compile, bool explain,
                                      const std::function<void(Program &)> &adapt) {
  CachedProgram result;
  auto since = [](std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  };
  auto find = [&] {
    const auto start = std::chrono::steady_clock::now();
    profile::Scope scope(profile::Kind::Cache, "cache miss");
    std::optional<Cache::Hit> hit = cache.find(key, explain || scope.isRecorded() ? &result.whyNot : nullptr);
    if (!hit) {
      if (!result.whyNot.empty())
        scope.setDetail("why=" + profile::asDetail(result.whyNot));
      return false;
    }
    StatusOr<Program> program = parse(hit->value, hit->owner);
    if (program) {
      if (adapt)
        adapt(*program);
      result.program = std::make_shared<const Program>(std::move(*program));
      scope.rename("cache hit");
      if (scope.isRecorded())
        scope.setDetail("program=" + profile::asDetail(result.program->name));
      result.loadNs = since(start);
      return result.hit = true;
    }
    result.whyNot = "the entry cannot be read: " + std::string(program.status().message());
    cache.warn(result.whyNot + "; it is compiled anew");
    return false;
  };
  if (find())
    return result;
  // Of the processes of a job that request the same program at once, one compiles it, and the others read its entry.
  const bool wasThere = cache.mayHave(key);
  std::shared_ptr<void> turn = cache.turn(key);
  if (!wasThere && cache.mayHave(key) && find())
    return result;
  StatusOr<Program> program = compile();
  if (!program)
    return program.status();
  result.program = std::make_shared<const Program>(std::move(*program));
  if (cache.options().mode != CacheMode::ReadWrite)
    return result;
  if (std::shared_ptr<KernelUpgrades> upgrades = result.program->upgrades) {
    // The program is stored once its machine code is what another process would compile. The stored copy does not keep its own upgrades alive.
    Program later = *result.program;
    later.upgrades = nullptr;
    upgrades->whenWhole([&cache, key, later = std::move(later)](const std::vector<KernelEntry> &kernels) {
      if (StatusOr<std::string> bytes = serialize(upgraded(later, kernels)))
        cache.store(key, *bytes);
    });
    return result;
  }
  const auto start = std::chrono::steady_clock::now();
  StatusOr<std::string> bytes = serialize(*result.program);
  if (!bytes)
    return bytes.status();
  cache.store(key, *bytes);
  result.storeNs = since(start);
  return result;
}

} // namespace millrace::runtime
