// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Buffer.cpp - Tensors on devices, to and from the host ---------------===//
#include "runtime/client/Buffer.h"
#include "runtime/client/DeviceErrors.h"
#include "runtime/client/Executor.h"
#include "runtime/profile/Recorder.h"
#include "runtime/program/Limits.h"

#include <algorithm>
#include <cstring>

namespace millrace::runtime {
namespace {

/// Records a copy between host and device.
class TransferRecord : public profile::ScopedRecord {
public:
  TransferRecord(const char *name, uint64_t bytes, uint32_t device)
      : ScopedRecord([&](profile::Record &made) {
          made.kind = profile::Kind::Transfer;
          made.what = profile::intern(name);
          made.a = bytes;
          made.device = uint16_t(device);
        }) {}
};

std::vector<int64_t> rowMajorStrides(DType dtype, const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = int64_t(byteSize(dtype));
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = step;
    step *= dims[d];
  }
  return strides;
}

/// Copies elements between a dense row-major tensor and one with strides.
void copyStrided(char *dense, char *strided, const std::vector<int64_t> &dims, const std::vector<int64_t> &strides,
                 size_t elementBytes, bool toDense) {
  for (int64_t d : dims)
    if (d == 0)
      return;
  size_t rank = dims.size();
  std::vector<int64_t> index(rank, 0);
  // The loop over the innermost axis.
  int64_t inner = rank ? dims[rank - 1] : 1, innerStride = rank ? strides[rank - 1] : 0;
  char *position = strided;
  while (true) {
    if (innerStride == int64_t(elementBytes)) {
      std::memcpy(toDense ? dense : position, toDense ? position : dense, size_t(inner) * elementBytes);
      dense += size_t(inner) * elementBytes;
    } else {
      for (int64_t i = 0; i < inner; ++i, dense += elementBytes)
        std::memcpy(toDense ? dense : position + i * innerStride, toDense ? position + i * innerStride : dense,
                    elementBytes);
    }
    size_t d = rank ? rank - 1 : 0;
    while (d > 0) {
      --d;
      position += strides[d];
      if (++index[d] < dims[d])
        break;
      position -= strides[d] * dims[d];
      index[d] = 0;
      if (d == 0)
        return;
    }
    if (rank <= 1)
      return;
  }
}

bool isDense(DType dtype, const std::vector<int64_t> &dims, const std::vector<int64_t> &byteStrides) {
  if (byteStrides.empty())
    return true;
  std::vector<int64_t> dense = rowMajorStrides(dtype, dims);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1 && byteStrides[d] != dense[d])
      return false;
  return true;
}

} // namespace

StatusOr<uint64_t> denseBytes(DType dtype, const std::vector<int64_t> &dims) {
  if (dtype == DType::Invalid)
    return invalidArgument("invalid element type");
  if (const std::optional<uint64_t> bytes = bytesOfSizes(byteSize(dtype), dims.size(), [&](size_t d) { return dims[d]; }))
    return *bytes;
  std::string shape;
  for (int64_t size : dims) {
    if (size < 0)
      return invalidArgument("expects dimensions of at least 0, but got " + std::to_string(size));
    shape += (shape.empty() ? "" : ",") + std::to_string(size);
  }
  return invalidArgument("a tensor of shape " + std::string(name(dtype)) + "[" + shape + "] takes more than " +
                         std::to_string(maxValueBytes) + " bytes");
}

Buffer::Buffer(std::shared_ptr<Client> client, const MemorySpace *space, std::shared_ptr<Value> value)
    : client(std::move(client)), space(space), type(value->dtype), value(std::move(value)) {}
Buffer::~Buffer() = default;

StatusOr<std::shared_ptr<Buffer::Value>> Buffer::get() const {
  std::lock_guard lock(mutex);
  if (!value)
    return invalidArgument("the buffer has been deleted or donated");
  return value;
}

StatusOr<std::vector<int64_t>> Buffer::dims() const {
  StatusOr<std::shared_ptr<Value>> v = get();
  if (!v)
    return v.status();
  if (!(*v)->shapeIsKnown)
    MILLRACE_TRY((*v)->ready.await());
  return (*v)->dims;
}

Event Buffer::ready() const {
  StatusOr<std::shared_ptr<Value>> v = get();
  return v ? (*v)->ready : Event::ready(v.status());
}

Event Buffer::toHost(void *target, uint64_t size) const {
  StatusOr<std::shared_ptr<Value>> held = get();
  if (!held)
    return Event::ready(held.status());
  auto copy = [target, size, device = device().id()](const Value &v) -> Status {
    if (v.storage->size() != size)
      return invalidArgument("expects a destination of " + std::to_string(v.storage->size()) + " bytes, but got " +
                             std::to_string(size));
    TransferRecord record("TransferFromDevice", size, device);
    if (size)
      std::memcpy(target, v.storage->data(), size);
    return Status();
  };
  if ((*held)->ready.isReady()) {
    Status status = (*held)->ready.await();
    return Event::ready(status.ok() ? copy(**held) : status);
  }
  EventSource source((*held)->ready.worker());
  (*held)->ready.onReady([source, copy, v = *held](const Status &status) mutable {
    Status result = status.ok() ? copy(*v) : status;
    v.reset();
    source.set(result);
  });
  return source.event();
}

Event Buffer::toHost(void *target, std::vector<int64_t> byteStrides) const {
  StatusOr<std::shared_ptr<Value>> held = get();
  if (!held)
    return Event::ready(held.status());
  EventSource source((*held)->ready.worker());
  Event result = source.event();
  (*held)->ready.onReady([source, target, strides = std::move(byteStrides), v = *held, device = device().id()](const Status &ready) mutable {
    Status status = ready;
    if (status.ok() && strides.size() != v->dims.size())
      status = invalidArgument("expects " + std::to_string(v->dims.size()) + " strides, but got " +
                               std::to_string(strides.size()));
    if (status.ok()) {
      TransferRecord record("TransferFromDevice", v->storage->size(), device);
      copyStrided(static_cast<char *>(v->storage->data()), static_cast<char *>(target), v->dims, strides,
                  byteSize(v->dtype), false);
    }
    v.reset();
    source.set(status);
  });
  return result;
}

StatusOr<std::shared_ptr<Storage>> Buffer::acquire() const {
  StatusOr<std::shared_ptr<Value>> held = get();
  if (!held)
    return held.status();
  MILLRACE_TRY((*held)->ready.await());
  return (*held)->storage;
}

StatusOr<void *> Buffer::address() const {
  StatusOr<std::shared_ptr<Value>> held = get();
  if (!held)
    return held.status();
  if (!(*held)->hasMemory)
    MILLRACE_TRY((*held)->ready.await());
  return (*held)->storage->data();
}

StatusOr<BufferPtr> Buffer::copyTo(const MemorySpace &target) const {
  StatusOr<std::shared_ptr<Value>> held = get();
  if (!held)
    return held.status();
  auto result = std::make_shared<Value>();
  bool isThere = (*held)->ready.isReady() && (*held)->ready.await().ok();
  // A thread that waits for the copy may have to execute it, so the queue need not wake its own thread.
  EventSource source(isThere ? target.device->worker() : nullptr);
  result->dtype = type;
  result->shapeIsKnown = (*held)->shapeIsKnown;
  if (result->shapeIsKnown)
    result->dims = (*held)->dims;
  result->ready = source.event();
  auto copy = [v = *held, result, source, allocator = target.device->allocator, device = target.device->id()]() mutable {
    const profile::MemoryFor purpose(profile::Purpose::Copy);
    StatusOr<std::shared_ptr<Storage>> storage = Storage::allocate(allocator, v->storage->size());
    Status status = onDevice(device, storage.status());
    if (status.ok()) {
      TransferRecord record("CopyToDevice", v->storage->size(), device);
      if (v->storage->size())
        std::memcpy((*storage)->data(), v->storage->data(), v->storage->size());
      result->storage = std::move(*storage);
      if (!result->shapeIsKnown)
        result->dims = v->dims;
    }
    v.reset();
    source.set(status);
  };
  // A source that is still being computed is copied by the thread that finishes it. The target's queue could deadlock: a program that reads the copy
  // may already wait at the queue's head, with the copy behind it. A custom call (a Python callback that uses JAX) must not wait for the queue at
  // whose head it runs either.
  bool isImported = isThere && (*held)->storage->isImported(); // the release of imported memory calls its owner, who may wait for other threads
  result->comesByItself = (*held)->comesByItself;
  if (isThere && insideCustomCall())
    copy();
  else if (isThere)
    result->comesByItself = target.device->enqueue(std::move(copy), /*onAnyThread=*/true, /*endsByItself=*/!isImported);
  else
    (*held)->ready.onReady([copy = std::move(copy), source](const Status &ready) mutable {
      if (ready.ok())
        copy();
      else
        source.set(ready);
    });
  return std::make_shared<Buffer>(client, &target, result);
}

void Buffer::release() {
  std::shared_ptr<Value> old;
  std::lock_guard lock(mutex);
  old.swap(value);
}

bool Buffer::isReleased() const {
  std::lock_guard lock(mutex);
  return !value;
}

StatusOr<BufferPtr> Client::bufferFromHost(const void *data, DType dtype, const std::vector<int64_t> &dims,
                                           const std::vector<int64_t> &byteStrides, HostSemantics semantics,
                                           const MemorySpace &memory, std::function<void()> done) {
  StatusOr<uint64_t> bytes = denseBytes(dtype, dims);
  if (!bytes)
    return bytes.status();
  if (!byteStrides.empty() && byteStrides.size() != dims.size())
    return invalidArgument("expects " + std::to_string(dims.size()) + " strides, but got " +
                           std::to_string(byteStrides.size()));
  if (!data && *bytes)
    return invalidArgument("no data for " + std::to_string(*bytes) + " bytes");
  auto value = std::make_shared<Buffer::Value>();
  value->dtype = dtype;
  value->dims = dims;
  bool dense = isDense(dtype, dims, byteStrides);
  TransferRecord record("TransferToDevice", *bytes, memory.device->id());
  // A memory limit counts all memory that a device works on, so the memory has to be the device's own.
  bool zeroCopy = (semantics == HostSemantics::ImmutableZeroCopy || semantics == HostSemantics::MutableZeroCopy) && !settings.memoryLimit;
  if (zeroCopy && dense && uintptr_t(data) % kAlignment == 0 && data) {
    value->storage = Storage::import(const_cast<void *>(data), *bytes, semantics == HostSemantics::MutableZeroCopy,
                                     std::move(done));
    return std::make_shared<Buffer>(shared_from_this(), &memory, std::move(value));
  }
  const profile::MemoryFor purpose(profile::Purpose::Upload, profile::currentPlace());
  StatusOr<std::shared_ptr<Storage>> storage = memory.device->allocate(*bytes);
  if (!storage)
    return storage.status();
  if (*bytes && dense)
    std::memcpy((*storage)->data(), data, *bytes);
  else if (*bytes)
    copyStrided(static_cast<char *>((*storage)->data()), const_cast<char *>(static_cast<const char *>(data)), dims,
                byteStrides, byteSize(dtype), true);
  value->storage = std::move(*storage);
  if (done)
    done();
  return std::make_shared<Buffer>(shared_from_this(), &memory, std::move(value));
}

StatusOr<BufferPtr> Client::viewOf(void *data, DType dtype, const std::vector<int64_t> &dims, bool isMutable,
                                   const MemorySpace &memory, std::function<void()> release) {
  StatusOr<uint64_t> bytes = denseBytes(dtype, dims);
  if (!bytes)
    return bytes.status();
  if (uintptr_t(data) % kAlignment != 0)
    return invalidArgument("expects memory aligned to " + std::to_string(kAlignment) + " bytes");
  auto value = std::make_shared<Buffer::Value>();
  value->dtype = dtype;
  value->dims = dims;
  value->storage = Storage::import(data, *bytes, isMutable, std::move(release));
  return std::make_shared<Buffer>(shared_from_this(), &memory, std::move(value));
}

StatusOr<BufferPtr> Client::uninitialized(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory) {
  StatusOr<uint64_t> bytes = denseBytes(dtype, dims);
  if (!bytes)
    return bytes.status();
  const profile::MemoryFor purpose(profile::Purpose::Upload, profile::currentPlace());
  StatusOr<std::shared_ptr<Storage>> storage = memory.device->allocate(*bytes);
  if (!storage)
    return storage.status();
  auto value = std::make_shared<Buffer::Value>();
  value->dtype = dtype;
  value->dims = dims;
  value->storage = std::move(*storage);
  return std::make_shared<Buffer>(shared_from_this(), &memory, std::move(value));
}

BufferPtr Client::errorBuffer(Status error, DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory) {
  auto value = std::make_shared<Buffer::Value>();
  value->dtype = dtype;
  value->dims = dims;
  value->ready = Event::ready(std::move(error));
  return std::make_shared<Buffer>(shared_from_this(), &memory, std::move(value));
}

} // namespace millrace::runtime
