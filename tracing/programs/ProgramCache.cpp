// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramCache.cpp - Loaded programs of this process ------------------===//
#include "tracing/programs/ProgramCache.h"

#include "tracing/reports/Metrics.h"
#include "runtime/base/Environment.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace millrace::tracing {

ProgramCache::Limits ProgramCache::Limits::ofEnvironment() {
  uint64_t memory = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  namespace environment = runtime::environment;
  return {size_t(std::max<uint64_t>(1, environment::count("XLA_COMPILATION_CACHE_SIZE").value_or(1024))),
          std::max<uint64_t>(1, environment::count("MILLRACE_PROGRAM_CACHE_BYTES").value_or(memory / 4))};
}

uint64_t LoadedProgram::bytes() const {
  constexpr uint64_t own = 32 << 10; // steps, symbols, the linker's tables: measured, 60 KB with a page or two of code
  runtime::MemoryStats memory = executable->cost().memory;
  return own + memory.code + memory.constants + text.size() + summary.items.size() * sizeof(GraphSummary::Item);
}

LoadedProgramPtr ProgramCache::find(const Digest &key) {
  auto found = places.find(key);
  if (found == places.end())
    return nullptr;
  order.splice(order.begin(), order, found->second);
  return found->second->program;
}

void ProgramCache::erase(std::list<Item>::iterator item) {
  held -= item->bytes;
  places.erase(item->key);
  order.erase(item);
}

void ProgramCache::add(const Digest &key, LoadedProgramPtr program) {
  if (auto found = places.find(key); found != places.end())
    erase(found->second);
  uint64_t bytes = program->bytes();
  order.push_front({key, std::move(program), bytes});
  places[key] = order.begin();
  held += bytes;
  while (order.size() > 1 && (order.size() > limits.programs || held > limits.bytes)) {
    erase(std::prev(order.end()));
    Metrics::get().count("EvictedPrograms");
  }
}

void ProgramCache::clear() {
  order.clear();
  places.clear();
  held = 0;
}

} // namespace millrace::tracing
