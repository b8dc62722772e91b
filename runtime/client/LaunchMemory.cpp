// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchMemory.cpp - The memory of an execution -----------------------===//
#include "runtime/client/Launch.h"

namespace millrace::runtime {

/// Allocates the memory of an execution on `device`, for its temporary values and for results of known size. Returns false if there is too little.
bool Executable::Launch::provide(const Plan &plan, Device &device, bool isNested, Provision &provision) {
  const profile::MemoryFor purpose(profile::Purpose::Intermediate, placeOf(plan));
  provision.arena = device.lendArena(ArenaLayout(plan).bytes, /*isQueued=*/!isNested);
  if (!provision.arena)
    return false;
  for (const Result &spec : plan.program->results) {
    std::shared_ptr<Storage> &storage = provision.results.emplace_back();
    if (!isStatic(spec) || spec.aliasArgument != kNone)
      continue;
    StatusOr<uint64_t> bytes = denseBytes(spec.dtype, spec.dims);
    const profile::MemoryFor result(profile::Purpose::Result, placeOfResult(plan, provision.results.size() - 1));
    StatusOr<std::shared_ptr<Storage>> made = bytes ? device.allocate(*bytes) : StatusOr<std::shared_ptr<Storage>>(bytes.status());
    if (!made)
      return false;
    storage = std::move(*made);
  }
  return true;
}

std::vector<Provision> Executable::Launch::provideAll(const Plan &plan, std::span<Device *const> devices, bool isNested) {
  std::vector<Provision> provisions(devices.size());
  for (size_t d = 0; d < devices.size(); ++d)
    if (!provide(plan, *devices[d], isNested, provisions[d])) // the execution tries again, and fails if memory is still missing
      return {};
  return provisions;
}

/// Returns memory for each result, all in one block, or nothing if there is too little or a result has no known size. In one block, the results of
/// large programs, pieces of some hundred kilobytes that every execution reads, are in huge pages.
std::vector<std::shared_ptr<Storage>> Executable::Launch::provideTogether(const Plan &plan) {
  std::vector<uint64_t> sizes;
  uint64_t all = 0;
  for (const Result &spec : plan.program->results) {
    StatusOr<uint64_t> bytes = isStatic(spec) && spec.aliasArgument == kNone ? denseBytes(spec.dtype, spec.dims) : invalidArgument("no size");
    if (!bytes)
      return {};
    sizes.push_back(*bytes);
    all += alignedBytes(*bytes);
  }
  const profile::MemoryFor purpose(profile::Purpose::Result, placeOf(plan));
  StatusOr<std::shared_ptr<Storage>> block = Storage::allocate(allocator, all);
  if (!block)
    return {};
  std::vector<std::shared_ptr<Storage>> parts;
  uint64_t offset = 0;
  for (uint64_t bytes : sizes) {
    parts.push_back(Storage::import(static_cast<char *>((*block)->data()) + offset, bytes, /*isMutable=*/true, [kept = *block] {}));
    offset += alignedBytes(bytes);
  }
  return parts;
}

std::vector<BufferPtr> Executable::Launch::makeResults(const std::shared_ptr<Client> &client, Device &target, const std::vector<int64_t> &dims) {
  const Plan &plan = *state->plan;
  std::vector<BufferPtr> buffers;
  std::vector<std::shared_ptr<Storage>> together;
  if (state->resultsTogether && !client->options().memoryLimit) // with a memory limit executions wait for memory, which is counted per buffer
    together = provideTogether(plan);
  for (const Result &spec : plan.program->results) {
    auto value = std::make_shared<Buffer::Value>();
    value->dtype = spec.dtype;
    value->shapeIsKnown = isStatic(spec);
    if (value->shapeIsKnown) {
      value->dims = spec.dims;
    } else if (!dims.empty()) {
      const Function &entry = plan.program->functions[plan.program->entry];
      for (const Dim &dim : entry.slots[entry.results[buffers.size()]].dims)
        value->dims.push_back(dim.isRuntime ? dims[dim.value] : dim.value);
      value->shapeIsKnown = true;
    }
    value->ready = done.event();
    if (!together.empty()) {
      value->hasMemory = true;
      value->storage = together[buffers.size()];
    } else if (plan.mayWaitForCaller && isStatic(spec) && spec.aliasArgument == kNone) {
      StatusOr<uint64_t> bytes = denseBytes(spec.dtype, spec.dims);
      const profile::MemoryFor purpose(profile::Purpose::Result, placeOfResult(plan, buffers.size()));
      StatusOr<std::shared_ptr<Storage>> storage =
          bytes ? Storage::allocate(allocator, *bytes) : StatusOr<std::shared_ptr<Storage>>(bytes.status());
      value->hasMemory = storage.ok(); // otherwise the execution tries again, and may fail
      if (storage)
        value->storage = std::move(*storage);
    }
    const MemorySpace *space = target.memory(spec.memoryKind);
    buffers.push_back(std::make_shared<Buffer>(client, space ? space : &target.memories()[0], value));
    results.push_back(std::move(value));
  }
  return buffers;
}

} // namespace millrace::runtime
