// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scope.cpp - Named regions of the user's program ---------------------===//
#include "tracing/graph/Scope.h"

#include <map>
#include <mutex>

namespace millrace::tracing {
namespace {

struct Scopes {
  struct Entry {
    std::string path;
    size_t nextOutside; ///< the number of the next region with the same parent
  };
  std::vector<Entry> entries;
  size_t next = 1;
};
thread_local Scopes scopes;

/// In a region Origin::code points to this, with its lowest bit set; code objects have even addresses.
struct Scoped {
  const void *code;
  std::string scope;
};

const Scoped *scoped(const Origin &origin) {
  auto bits = reinterpret_cast<uintptr_t>(origin.code);
  return bits & 1 ? reinterpret_cast<const Scoped *>(bits - 1) : nullptr;
}

} // namespace

void pushScope(const std::string &name) {
  std::string path = scopes.entries.empty() ? "" : scopes.entries.back().path + "/";
  path += name + "." + std::to_string(scopes.next);
  scopes.entries.push_back({std::move(path), scopes.next + 1});
  scopes.next = 1;
}

void popScope() {
  if (scopes.entries.empty())
    return;
  scopes.next = scopes.entries.back().nextOutside;
  scopes.entries.pop_back();
}

const std::string *currentScope() { return scopes.entries.empty() ? nullptr : &scopes.entries.back().path; }

bool resetScopes() {
  if (!scopes.entries.empty())
    return false;
  scopes.next = 1;
  return true;
}

Origin inScope(const Origin &origin, const std::string &scope) {
  static std::mutex mutex;
  static auto *all = new std::map<std::pair<const void *, std::string>, Scoped>; // addresses of a map's elements do not change
  const Origin plain = withoutScope(origin);
  std::lock_guard lock(mutex);
  const Scoped &made = all->try_emplace({plain.code, scope}, Scoped{plain.code, scope}).first->second;
  return {reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(&made) + 1), plain.offset};
}

const std::string *scopeOf(const Origin &origin) {
  const Scoped *found = scoped(origin);
  return found ? &found->scope : nullptr;
}

Origin withoutScope(const Origin &origin) {
  const Scoped *found = scoped(origin);
  return found ? Origin{found->code, origin.offset} : origin;
}

} // namespace millrace::tracing
