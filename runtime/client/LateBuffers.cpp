// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LateBuffers.cpp - Buffers whose value comes from elsewhere ----------===//
#include "runtime/client/Buffer.h"
#include "runtime/client/DeviceErrors.h"

namespace millrace::runtime {
namespace {

/// Gives `target` the memory of `source` when `source` is ready, and releases `source` before `ready` is set.
void follow(std::shared_ptr<Buffer::Value> source, std::shared_ptr<Buffer::Value> target, EventSource ready) {
  Event when = source->ready;
  when.onReady([source = std::move(source), target = std::move(target), ready](const Status &status) mutable {
    if (status.ok()) {
      target->storage = source->storage;
      if (!target->shapeIsKnown)
        target->dims = source->dims;
    }
    source.reset();
    target.reset();
    ready.set(status);
  });
}

} // namespace

StatusOr<BufferPtr> Buffer::reinterpret(DType dtype, const std::vector<int64_t> &dims) const {
  StatusOr<std::shared_ptr<Value>> held = get();
  if (!held)
    return held.status();
  if (!(*held)->shapeIsKnown)
    MILLRACE_TRY((*held)->ready.await());
  StatusOr<uint64_t> have = denseBytes((*held)->dtype, (*held)->dims), want = denseBytes(dtype, dims);
  if (!have)
    return have.status();
  if (!want)
    return want.status();
  if (*have != *want)
    return invalidArgument("a buffer of " + std::to_string(*have) + " bytes cannot be seen as one of " +
                           std::to_string(*want));
  EventSource ready;
  auto result = std::make_shared<Value>();
  result->dtype = dtype;
  result->dims = dims;
  result->ready = ready.event();
  follow(*held, result, ready);
  return std::make_shared<Buffer>(client, space, std::move(result));
}

StatusOr<BufferPtr> Buffer::donateAfter(Event dependency) {
  StatusOr<std::shared_ptr<Value>> held = get();
  if (!held)
    return held.status();
  release();
  EventSource ready;
  auto result = std::make_shared<Value>();
  result->dtype = type;
  result->shapeIsKnown = (*held)->shapeIsKnown;
  if (result->shapeIsKnown)
    result->dims = (*held)->dims;
  result->ready = ready.event();
  auto buffer = std::make_shared<Buffer>(client, space, result);
  dependency.onReady([source = std::move(*held), result = std::move(result), ready](const Status &status) mutable {
    if (status.ok())
      follow(std::move(source), std::move(result), ready);
    else
      ready.set(status);
  });
  return buffer;
}

StatusOr<PromisedBuffer> Client::promise(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory) {
  StatusOr<BufferPtr> buffer = uninitialized(dtype, dims, memory);
  if (!buffer)
    return buffer.status();
  PromisedBuffer promised;
  promised.storage = (*buffer)->value->storage;
  (*buffer)->value->ready = promised.ready.event();
  promised.buffer = std::move(*buffer);
  return promised;
}

LaterBuffer Client::later(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory) {
  EventSource ready;
  auto value = std::make_shared<Buffer::Value>();
  value->dtype = dtype;
  value->dims = dims;
  value->ready = ready.event();
  LaterBuffer later;
  later.buffer = std::make_shared<Buffer>(shared_from_this(), &memory, value);
  later.fulfill = [value = std::move(value), ready](StatusOr<BufferPtr> with) mutable {
    std::shared_ptr<Buffer::Value> target = std::move(value);
    if (!with)
      return ready.set(with.status());
    StatusOr<std::shared_ptr<Buffer::Value>> source = (*with)->get();
    if (!source)
      return ready.set(source.status());
    if ((*source)->dtype != target->dtype || ((*source)->shapeIsKnown && (*source)->dims != target->dims))
      return ready.set(invalidArgument("the buffer has another type than the alias that it fulfils"));
    follow(std::move(*source), std::move(target), ready);
  };
  return later;
}

} // namespace millrace::runtime
