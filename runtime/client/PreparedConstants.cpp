// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PreparedConstants.cpp - What programs compute once of constant arguments -===//
#include "runtime/client/PreparedConstants.h"
#include "runtime/base/Environment.h"
#include "runtime/client/LaunchArguments.h"
#include "runtime/client/PreparedBytes.h"

#include <algorithm>
#include <unistd.h>

namespace millrace::runtime {
namespace {

/// The largest number of sets of one program and device: their buffers live as long as the arguments. Unit: sets. Source: judgement, not measured
/// alone: more than the layers of large models.
constexpr size_t kMaxSets = 256;

std::atomic<uint64_t> preparationsSoFar{0}, preparedBytes{0};
thread_local uint64_t notKept = 0;

} // namespace

uint64_t preparationsOfProcess() { return preparationsSoFar.load(); }
uint64_t preparedBytesOfProcess() { return preparedBytes.load(); }
uint64_t preparationsNotKept() { return notKept; }

bool KeptBytes::count(uint64_t bytes) {
  const uint64_t limit = environment::count("MILLRACE_PREPARED_BYTES")
                             .value_or(uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 4);
  uint64_t known = preparedBytes.load();
  do
    if (bytes > limit || known > limit - bytes)
      return false;
  while (!preparedBytes.compare_exchange_weak(known, known + bytes));
  counted = bytes;
  return true;
}

KeptBytes::~KeptBytes() { preparedBytes -= counted; }

bool Executable::Prepared::Set::isOf(const std::vector<std::shared_ptr<Buffer::Value>> &values) const {
  return std::equal(from.begin(), from.end(), values.begin(), values.end(), [](const auto &one, const auto &other) { return one.lock() == other; });
}

bool Executable::Prepared::Set::isGone() const {
  return std::any_of(from.begin(), from.end(), [](const auto &value) { return value.expired(); });
}

bool Executable::Prepared::Set::hasFailed() const {
  return std::any_of(results.begin(), results.end(), [](const BufferPtr &buffer) { return buffer->ready().isReady() && !buffer->ready().await().ok(); });
}

Executable::Prepared::Prepared() {
  std::lock_guard lock(allMutex);
  all.insert(this);
}

Executable::Prepared::~Prepared() {
  std::lock_guard lock(allMutex);
  all.erase(this);
}

uint64_t Executable::Prepared::bytes() const {
  uint64_t total = 0;
  for (const Result &result : program->program().results)
    if (StatusOr<uint64_t> size = denseBytes(result.dtype, result.dims))
      total += *size;
  return total;
}

void Executable::Prepared::dropGoneOfOthers() const {
  std::lock_guard lock(allMutex);
  for (Prepared *other : all)
    if (other != this)
      if (std::unique_lock own(other->mutex, std::try_to_lock); own)
        for (auto &[device, list] : other->sets)
          list.remove_if([](const Set &set) { return set.isGone(); });
}

Executable::Preparations Executable::preparations() const {
  if (!prepared)
    return {};
  std::lock_guard lock(prepared->mutex);
  return prepared->counts;
}

StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> Executable::prepare(Device &device, std::span<const BufferPtr> arguments) {
  std::vector<BufferPtr> buffers;
  std::vector<std::shared_ptr<Buffer::Value>> values;
  bool mayChange = false;
  for (uint32_t k : program().preparation.arguments) {
    StatusOr<std::shared_ptr<Buffer::Value>> value = arguments[k]->get();
    if (!value)
      return value.status().withContext(argumentTitle(program(), k));
    // The owner of imported memory may write to it unnoticed.
    if ((*value)->ready.isReady() && (*value)->storage && (*value)->storage->isImported() && (*value)->storage->isMutable())
      mayChange = true;
    buffers.push_back(arguments[k]);
    values.push_back(std::move(*value));
  }
  auto valuesOf = [](const std::vector<BufferPtr> &results) -> StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> {
    std::vector<std::shared_ptr<Buffer::Value>> made;
    for (const BufferPtr &buffer : results) {
      StatusOr<std::shared_ptr<Buffer::Value>> value = buffer->get();
      if (!value)
        return value.status();
      made.push_back(std::move(*value));
    }
    return made;
  };
  std::lock_guard lock(prepared->mutex);
  std::list<Prepared::Set> &sets = prepared->sets[device.id()];
  const size_t before = sets.size();
  sets.remove_if([&](const Prepared::Set &set) { return set.isGone() || set.hasFailed() || (mayChange && set.isOf(values)); });
  bool isChange = sets.size() < before;
  auto known = std::find_if(sets.begin(), sets.end(), [&](const Prepared::Set &set) { return set.isOf(values); });
  if (known != sets.end()) {
    sets.splice(sets.begin(), sets, known);
    prepared->counts.changesInARow = 0;
  } else {
    if (sets.size() == kMaxSets) {
      sets.pop_back();
      isChange = true;
    }
    StatusOr<ExecuteResult> made = prepared->program->launch({&device}, {buffers}, {});
    if (!made)
      return made.status().withContext("constants cannot be prepared");
    ++prepared->counts.all;
    prepared->counts.changesInARow += isChange;
    ++preparationsSoFar;
    KeptBytes kept;
    bool isKept = kept.count(prepared->bytes());
    if (!isKept) {
      prepared->dropGoneOfOthers();
      isKept = kept.count(prepared->bytes());
    }
    if (!isKept) {
      ++notKept;
      return valuesOf(made->results.front());
    }
    sets.push_front({std::move(kept), std::vector<std::weak_ptr<Buffer::Value>>(values.begin(), values.end()), std::move(made->results.front())});
  }
  return valuesOf(sets.front().results);
}

} // namespace millrace::runtime
