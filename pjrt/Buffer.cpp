// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Buffer.cpp - Buffers: what they are and how long they live ----------===//
#include "pjrt/Slots.h"
#include "runtime/profile/Environment.h"
#include "runtime/profile/Recorder.h"

namespace millrace::pjrt {

Buffer *makeBuffer(rt::BufferPtr buffer, Memory *memory, const std::vector<int64_t> *dims, Layout layout) {
  auto *made = new Buffer;
  made->buffer = std::move(buffer);
  made->memory = memory;
  made->layout = std::move(layout);
  if (dims) {
    made->dims = *dims;
    made->dimsKnown.store(true, std::memory_order_release);
  }
  return made;
}

const std::vector<int64_t> &dimsOf(Buffer &buffer) {
  if (buffer.dimsKnown.load(std::memory_order_acquire))
    return buffer.dims;
  rt::StatusOr<std::vector<int64_t>> dims = buffer.buffer->dims();
  std::lock_guard lock(buffer.mutex);
  if (!buffer.dimsKnown.load(std::memory_order_relaxed)) {
    // Getters have no errors; a caller that reads the value of a failed buffer gets the error then.
    if (dims)
      buffer.dims = toLogical(*dims, buffer.layout);
    buffer.dimsKnown.store(true, std::memory_order_release);
  }
  return buffer.dims;
}

namespace slots {

rt::Status Buffer_Destroy(Buffer_Destroy_Args &args) {
  delete args.object;
  return {};
}
rt::Status Buffer_ElementType(Buffer_ElementType_Args &args) {
  args.result = bufferTypeOf(args.object->buffer->dtype());
  return {};
}
rt::Status Buffer_Dimensions(Buffer_Dimensions_Args &args) {
  giveList(args, dimsOf(*args.object));
  return {};
}
rt::Status Buffer_UnpaddedDimensions(Buffer_UnpaddedDimensions_Args &args) { return Buffer_Dimensions(args); }
rt::Status Buffer_DynamicDimensionIndices(Buffer_DynamicDimensionIndices_Args &args) {
  args.list = nullptr; // the value's own sizes are reported, without padding
  args.size = 0;
  return {};
}
rt::Status Buffer_OnDeviceSizeInBytes(Buffer_OnDeviceSizeInBytes_Args &args) {
  rt::StatusOr<uint64_t> bytes = rt::denseBytes(args.object->buffer->dtype(), dimsOf(*args.object));
  args.result = bytes ? *bytes : 0;
  return {};
}
rt::Status Buffer_Device(Buffer_Device_Args &args) {
  args.result = args.object->memory->device;
  return {};
}
rt::Status Buffer_Memory(Buffer_Memory_Args &args) {
  args.result = args.object->memory;
  return {};
}
rt::Status Buffer_Delete(Buffer_Delete_Args &args) {
  dimsOf(*args.object); // the dimensions can be queried after the deletion
  args.object->buffer->release();
  return {};
}
rt::Status Buffer_IsDeleted(Buffer_IsDeleted_Args &args) {
  args.result = args.object->buffer->isReleased();
  return {};
}
rt::Status Buffer_IsOnCpu(Buffer_IsOnCpu_Args &args) {
  // True promises that the memory can be read as a row-major array of the element type.
  args.result = args.object->layout.empty() && args.object->buffer->dtype() != rt::DType::Token &&
                (rt::bitWidth(args.object->buffer->dtype()) >= 8 || args.object->buffer->dtype() == rt::DType::I1);
  return {};
}
rt::Status Buffer_ReadyEvent(Buffer_ReadyEvent_Args &args) {
  args.result = makeEvent(args.object->buffer->ready());
  return {};
}

rt::Status Buffer_UnsafePointer(Buffer_UnsafePointer_Args &args) {
  // acquire() is no choice: jaxlib holds the interpreter's lock here, for which a Python callback of the program may wait.
  rt::StatusOr<void *> address = args.object->buffer->address();
  if (!address)
    return address.status();
  args.result = reinterpret_cast<uintptr_t>(*address);
  return {};
}
rt::Status Buffer_IncreaseExternalReferenceCount(Buffer_IncreaseExternalReferenceCount_Args &args) {
  Buffer &buffer = *args.object;
  std::unique_lock lock(buffer.mutex);
  if (buffer.externalReferences == 0) {
    lock.unlock(); // this may wait for the value
    // np.asarray(x), memoryview(x) and DLPack read the memory of a value without a copy: no other call tells of it, and none of Python does.
    rt::profile::Scope read(rt::profile::Kind::Tracing, "ReadMemoryByHost");
    if (read.isRecorded())
      read.setDetail("source=" + rt::profile::asDetail(rt::profile::placeOfReader()));
    rt::StatusOr<std::shared_ptr<rt::Storage>> storage = buffer.buffer->acquire();
    if (!storage)
      return storage.status();
    lock.lock();
    buffer.storage = std::move(*storage);
  }
  ++buffer.externalReferences;
  return {};
}
rt::Status Buffer_DecreaseExternalReferenceCount(Buffer_DecreaseExternalReferenceCount_Args &args) {
  Buffer &buffer = *args.object;
  std::shared_ptr<rt::Storage> last; // freed after the lock is released
  std::lock_guard lock(buffer.mutex);
  if (buffer.externalReferences == 0)
    return rt::invalidArgument("the buffer has no external references");
  if (--buffer.externalReferences == 0)
    last.swap(buffer.storage);
  return {};
}
rt::Status Buffer_OpaqueDeviceMemoryDataPointer(Buffer_OpaqueDeviceMemoryDataPointer_Args &args) {
  {
    std::lock_guard lock(args.object->mutex);
    if (args.object->storage) {
      args.result = args.object->storage->data();
      return {};
    }
  }
  rt::StatusOr<std::shared_ptr<rt::Storage>> storage = args.object->buffer->acquire();
  if (!storage)
    return storage.status();
  args.result = (*storage)->data();
  return {};
}

rt::Status Buffer_Bitcast(Buffer_Bitcast_Args &args) {
  Buffer &buffer = *args.buffer;
  rt::StatusOr<Destination> type =
      destinationFrom(args.element_type, args.dims, args.num_dims, args.layout, nullptr, buffer.memory);
  if (!type)
    return type.status();
  rt::StatusOr<rt::BufferPtr> view = buffer.buffer->reinterpret(type->dtype, toPhysical(type->dims, type->layout));
  if (!view)
    return view.status();
  args.result = makeBuffer(std::move(*view), buffer.memory, &type->dims, std::move(type->layout));
  return {};
}

} // namespace slots
} // namespace millrace::pjrt
