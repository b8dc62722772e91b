// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TransferManager.cpp - Buffers that are filled piece by piece --------===//
#include "pjrt/Slots.h"

#include <cstring>

namespace millrace::pjrt {

struct TransferManager {
  struct Entry {
    rt::PromisedBuffer promised;
    Destination type;
    bool retrieved = false, finished = false;
  };
  Client *client;
  Memory *memory;
  std::mutex mutex;
  std::vector<Entry> entries; ///< guarded by mutex

  /// Locks and finds the entry; returns null and sets `status` if there is no such buffer or it is complete.
  Entry *open(int index, rt::Status &status) {
    if (index < 0 || size_t(index) >= entries.size())
      status = rt::invalidArgument("buffer " + std::to_string(index) + " of " + std::to_string(entries.size()));
    else if (entries[size_t(index)].finished)
      status = rt::failedPrecondition("buffer " + std::to_string(index) + " is complete already");
    else
      return &entries[size_t(index)];
    return nullptr;
  }
};

namespace slots {

rt::Status Client_CreateBuffersForAsyncHostToDevice(Client_CreateBuffersForAsyncHostToDevice_Args &args) {
  if (args.num_layouts && args.num_layouts != args.num_shapes)
    return rt::invalidArgument("expects a layout per shape or none");
  auto manager = std::make_unique<TransferManager>();
  manager->client = args.client;
  manager->memory = args.memory;
  for (size_t i = 0; i < args.num_shapes; ++i) {
    const ShapeSpec &shape = args.shapes[i];
    rt::StatusOr<Destination> to = destinationFrom(shape.element_type, shape.dims, shape.num_dims,
                                                   args.num_layouts ? args.layouts[i] : nullptr, nullptr, args.memory);
    if (!to)
      return to.status();
    rt::StatusOr<rt::PromisedBuffer> promised =
        args.client->client->promise(to->dtype, toPhysical(to->dims, to->layout), *args.memory->space);
    if (!promised)
      return promised.status();
    manager->entries.push_back({std::move(*promised), std::move(*to)});
  }
  args.manager = manager.release();
  return {};
}

rt::Status AsyncHostToDeviceTransferManager_Destroy(AsyncHostToDeviceTransferManager_Destroy_Args &args) {
  delete args.object; // incomplete buffers become Cancelled
  return {};
}

rt::Status
AsyncHostToDeviceTransferManager_TransferData(AsyncHostToDeviceTransferManager_TransferData_Args &args) {
  std::unique_lock lock(args.manager->mutex);
  rt::Status status;
  TransferManager::Entry *entry = args.manager->open(args.index, status);
  if (!entry)
    return status;
  uint64_t size = entry->promised.storage->size();
  if (args.offset < 0 || args.size < 0 || uint64_t(args.offset) > size || uint64_t(args.size) > size - uint64_t(args.offset))
    return rt::invalidArgument("bytes " + std::to_string(args.offset) + " to " + std::to_string(args.offset + args.size) +
                               " of a buffer of " + std::to_string(size));
  if (args.size)
    std::memcpy(static_cast<char *>(entry->promised.storage->data()) + args.offset, args.data, size_t(args.size));
  args.done = makeEvent(rt::Event());
  if (!args.is_last_transfer)
    return {};
  entry->finished = true;
  entry->promised.storage.reset(); // released before the event is set, so that a donation that follows can reuse the memory
  rt::EventSource ready = entry->promised.ready;
  lock.unlock(); // callbacks of the event may call this object
  ready.set();
  return {};
}

rt::Status
AsyncHostToDeviceTransferManager_TransferLiteral(AsyncHostToDeviceTransferManager_TransferLiteral_Args &args) {
  uint64_t size;
  {
    std::lock_guard lock(args.manager->mutex);
    rt::Status status;
    TransferManager::Entry *entry = args.manager->open(args.index, status);
    if (!entry)
      return status;
    rt::StatusOr<Destination> literal = destinationFrom(args.shape.element_type, args.shape.dims, args.shape.num_dims,
                                                        args.shape.layout, nullptr, args.manager->memory);
    if (!literal)
      return literal.status();
    if (literal->dtype != entry->type.dtype || literal->dims != entry->type.dims)
      return rt::invalidArgument("the literal has another type than buffer " + std::to_string(args.index));
    if (literal->layout != entry->type.layout)
      return rt::unimplemented("a literal with another layout than its buffer");
    size = entry->promised.storage->size();
  }
  AsyncHostToDeviceTransferManager_TransferData_Args data{};
  data.manager = args.manager;
  data.index = args.index;
  data.data = args.data;
  data.size = int64_t(size);
  data.is_last_transfer = true;
  MILLRACE_TRY(AsyncHostToDeviceTransferManager_TransferData(data));
  args.done = data.done;
  return {};
}

rt::Status
AsyncHostToDeviceTransferManager_RetrieveBuffer(AsyncHostToDeviceTransferManager_RetrieveBuffer_Args &args) {
  std::lock_guard lock(args.manager->mutex);
  if (args.index < 0 || size_t(args.index) >= args.manager->entries.size())
    return rt::invalidArgument("buffer " + std::to_string(args.index) + " of " +
                               std::to_string(args.manager->entries.size()));
  TransferManager::Entry &entry = args.manager->entries[size_t(args.index)];
  if (entry.retrieved)
    return rt::invalidArgument("buffer " + std::to_string(args.index) + " has been retrieved already");
  entry.retrieved = true;
  args.buffer = makeBuffer(std::move(entry.promised.buffer), entry.type.memory, &entry.type.dims, entry.type.layout);
  return {};
}

rt::Status AsyncHostToDeviceTransferManager_Device(AsyncHostToDeviceTransferManager_Device_Args &args) {
  args.result = args.object->memory->device;
  return {};
}
rt::Status AsyncHostToDeviceTransferManager_BufferCount(AsyncHostToDeviceTransferManager_BufferCount_Args &args) {
  args.result = args.object->entries.size();
  return {};
}
rt::Status AsyncHostToDeviceTransferManager_BufferSize(AsyncHostToDeviceTransferManager_BufferSize_Args &args) {
  args.size = 0;
  if (args.index < 0 || size_t(args.index) >= args.manager->entries.size())
    return rt::invalidArgument("buffer " + std::to_string(args.index) + " of " +
                               std::to_string(args.manager->entries.size()));
  const Destination &type = args.manager->entries[size_t(args.index)].type;
  rt::StatusOr<uint64_t> bytes = rt::denseBytes(type.dtype, type.dims);
  args.size = bytes ? *bytes : 0;
  return {};
}

rt::Status
AsyncHostToDeviceTransferManager_SetBufferError(AsyncHostToDeviceTransferManager_SetBufferError_Args &args) {
  std::unique_lock lock(args.manager->mutex);
  rt::Status status;
  TransferManager::Entry *entry = args.manager->open(args.index, status);
  if (!entry)
    return status;
  rt::Status error = statusFrom({args.code, args.message, args.message_size});
  if (error.ok())
    return rt::invalidArgument("expects an error");
  entry->finished = true;
  rt::EventSource ready = entry->promised.ready;
  lock.unlock();
  ready.set(error);
  return {};
}

rt::Status AsyncHostToDeviceTransferManager_AddMetadata(AsyncHostToDeviceTransferManager_AddMetadata_Args &) {
  return {}; // metadata for profilers is not used
}

} // namespace slots
} // namespace millrace::pjrt
