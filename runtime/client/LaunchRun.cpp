// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchRun.cpp - The execution of a program on the thread of its device -===//
#include "runtime/client/DeviceErrors.h"
#include "runtime/client/Launch.h"

#include <cstring>
#include <new>

namespace millrace::runtime {

void Executable::Launch::run() {
  Status status;
  profile::Record record;
  if (profile::isOn()) [[unlikely]]
    record.start = profile::ticks();
  try {
    status = compute();
  } catch (const std::bad_alloc &) {
    status = resourceExhausted("out of memory");
  }
  status = onDevice(device, status);
  if (record.start) [[unlikely]] { // recorded before `done` is set, for a thread that waits for it may end the recording
    record.end = profile::ticks();
    record.kind = profile::Kind::Execution;
    record.what = state->plan->info();
    record.a = uint64_t(number);
    record.b = launched;
    record.device = uint16_t(device);
    profile::append(record);
  }
  // The context of replicas continues, unless no member may wait for this one any more.
  if (context && !(state->meets == Meets::InOperations && status.ok()))
    context->finish(replica * context->numPartitions + partition, status);
  arguments.clear(); // dropped before `done` is set, so that a donation that follows can reuse the memory
  results.clear();
  provision = {}; // memory that an error left unused
  done.set(status);
}

/// Waits for the values of the arguments, and compares the shapes that were unknown at the launch.
Status Executable::Launch::awaitArguments() {
  const Program &program = *state->plan->program;
  for (size_t k = 0; k < arguments.size(); ++k) {
    MILLRACE_TRY(arguments[k]->ready.await());
    if (k >= program.arguments.size()) // a prepared value, which this class has made
      continue;
    if (!arguments[k]->shapeIsKnown && !shapeMatches(program.arguments[k], arguments[k]->dims)) // values of known shape were compared at the launch
      return invalidArgument("expects " + argumentTitle(program, k) + " to be " + typeText(program.arguments[k]) +
                             ", but got " + typeText(arguments[k]->dtype, arguments[k]->dims));
  }
  return Status();
}

/// Returns the memory into which the program writes result `r`; null if its size is known at run time only. If the result is in the memory of an
/// argument that may not be overwritten, the memory is a copy of the argument, and the argument is bound to it.
StatusOr<std::shared_ptr<Storage>> Executable::Launch::memoryOfResult(size_t r, std::vector<BoundArgument> &boundArguments) {
  const Plan &plan = *state->plan;
  const Result &spec = plan.program->results[r];
  if (!isStatic(spec))
    return std::shared_ptr<Storage>();
  if (spec.aliasArgument != kNone) {
    const std::shared_ptr<Buffer::Value> &argument = arguments[spec.aliasArgument];
    // An argument is overwritten if its caller has donated it, no other value shares its memory, and the memory may be written.
    if (!consumed.empty() && consumed[spec.aliasArgument] && argument.use_count() == 1 && argument->storage.use_count() == 1 &&
        argument->storage->isMutable()) {
      // The fence synchronizes with readers that have released the memory: use_count() alone orders nothing.
      std::atomic_thread_fence(std::memory_order_acquire);
      return argument->storage;
    }
    const profile::MemoryFor purpose(profile::Purpose::Copy, placeOfResult(plan, r));
    StatusOr<std::shared_ptr<Storage>> copy = Storage::allocate(allocator, argument->storage->size());
    if (!copy)
      return copy.status();
    if (argument->storage->size())
      std::memcpy((*copy)->data(), argument->storage->data(), argument->storage->size());
    boundArguments[spec.aliasArgument].data = (*copy)->data();
    return copy;
  }
  if (results[r]->hasMemory)
    return results[r]->storage;
  if (!provision.results.empty())
    return std::move(provision.results[r]);
  StatusOr<uint64_t> bytes = denseBytes(spec.dtype, spec.dims);
  if (!bytes)
    return bytes.status();
  const profile::MemoryFor purpose(profile::Purpose::Result, placeOfResult(plan, r));
  return Storage::allocate(allocator, *bytes);
}

/// Gives result `r`, whose size was unknown, the memory of its cell, which the program has filled.
Status Executable::Launch::keepResult(size_t r, BoundResult &bound) {
  StatusOr<uint64_t> bytes = denseBytes(results[r]->dtype, bound.dims);
  const DynamicCell &cell = bound.cell;
  if (!bytes) {
    allocator->deallocate(cell.data, cell.capacity);
    return bytes.status();
  }
  if (!results[r]->shapeIsKnown) // otherwise other threads may be reading the shape
    results[r]->dims = std::move(bound.dims);
  if (cell.capacity == *bytes) {
    results[r]->storage = Storage::adopt(allocator, cell.data, cell.capacity);
    return Status();
  }
  // The cell has grown for a larger value, so the buffer gets memory of its own size.
  const profile::MemoryFor purpose(profile::Purpose::Result, placeOfResult(*state->plan, r));
  StatusOr<std::shared_ptr<Storage>> exact = Storage::allocate(allocator, *bytes);
  if (exact) {
    std::memcpy((*exact)->data(), cell.data, *bytes);
    results[r]->storage = std::move(*exact);
  }
  allocator->deallocate(cell.data, cell.capacity);
  return exact.status();
}

Status Executable::Launch::compute() {
  const Plan &plan = *state->plan;
  MILLRACE_TRY(awaitArguments());
  std::vector<BoundArgument> boundArguments(arguments.size());
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (k + kAhead < arguments.size())
      readSoon(arguments[k + kAhead]->storage.get());
    boundArguments[k] = {arguments[k]->storage->data(), arguments[k]->dims.data()};
  }
  std::vector<BoundResult> boundResults(results.size());
  std::vector<std::shared_ptr<Storage>> storages(results.size());
  for (size_t r = 0; r < results.size(); ++r) {
    StatusOr<std::shared_ptr<Storage>> memory = memoryOfResult(r, boundArguments);
    if (!memory)
      return memory.status();
    storages[r] = std::move(*memory);
    if (storages[r])
      boundResults[r].data = storages[r]->data();
  }
  Arena own;
  if (!provision.arena) {
    const profile::MemoryFor purpose(profile::Purpose::Intermediate, placeOf(plan));
    StatusOr<Arena> lent = allocator->lend(ArenaLayout(plan).bytes);
    if (!lent)
      return lent.status();
    own = std::move(*lent);
  }
  ExecutionTarget target{&ThreadPool::global(), allocator, context.get(), channels.get(),
                         replica,               partition, device,        timeoutSeconds,
                         number,                rngSeed};
  Status status = runtime::execute(plan, provision.arena ? provision.arena->data() : own.data(), target, boundArguments, boundResults);
  own = Arena(); // the next execution may need its memory
  provision.arena.reset();
  MILLRACE_TRY(status);
  for (size_t r = 0; r < results.size(); ++r) {
    if (!storages[r]) {
      if (Status kept = keepResult(r, boundResults[r]); !kept.ok()) // the cells of the other results are released, too
        status = kept;
    } else if (!results[r]->hasMemory) { // otherwise other threads may be reading the pointer
      results[r]->storage = std::move(storages[r]);
    }
  }
  return status;
}

} // namespace millrace::runtime
