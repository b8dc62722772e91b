// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Transfer.cpp - From the host, to the host, between devices ----------===//
#include "pjrt/Slots.h"

#include <cstring>

namespace millrace::pjrt {
namespace {

/// Returns the byte strides of a dense host array in `layout`, one per logical dimension.
std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims, const Layout &layout, size_t elementBytes) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = int64_t(elementBytes);
  for (size_t i = 0; i < dims.size(); ++i) {
    size_t d = layout.empty() ? dims.size() - 1 - i : size_t(layout[i]);
    strides[d] = step;
    step *= dims[d];
  }
  return strides;
}

/// Returns a state that a caller must complete later, and the function that completes it.
template <typename Callback, typename Complete>
void giveCallback(void *&data, void (*&function)(Callback *), Complete complete) {
  auto *held = new Complete(std::move(complete));
  data = held;
  function = [](Callback *callback) {
    std::unique_ptr<Complete> owned(static_cast<Complete *>(callback->callback_data));
    (*owned)(*callback);
  };
}

rt::Event copyRange(const rt::BufferPtr &buffer, void *target, int64_t offset, int64_t size) {
  rt::EventSource source;
  rt::Event result = source.event();
  buffer->ready().onReady([=](const rt::Status &ready) {
    if (!ready.ok())
      return source.set(ready);
    rt::StatusOr<std::shared_ptr<rt::Storage>> storage = buffer->acquire();
    if (!storage)
      return source.set(storage.status());
    if (offset < 0 || size < 0 || uint64_t(offset) > (*storage)->size() ||
        uint64_t(size) > (*storage)->size() - uint64_t(offset))
      return source.set(rt::invalidArgument("bytes " + std::to_string(offset) + " to " + std::to_string(offset + size) +
                                            " of a buffer of " + std::to_string((*storage)->size())));
    if (size)
      std::memcpy(target, static_cast<const char *>((*storage)->data()) + offset, size_t(size));
    source.set();
  });
  return result;
}

} // namespace

namespace slots {

rt::Status Client_BufferFromHostBuffer(Client_BufferFromHostBuffer_Args &args) {
  rt::StatusOr<Destination> to =
      destinationFrom(args.type, args.dims, args.num_dims, args.device_layout, args.device, args.memory);
  if (!to)
    return to.status();
  if (args.host_buffer_semantics < OnlyDuringCall || args.host_buffer_semantics > MutableZeroCopy)
    return rt::invalidArgument("host buffer semantics " + std::to_string(args.host_buffer_semantics) + " do not exist");
  if (args.num_byte_strides && args.num_byte_strides != args.num_dims)
    return rt::invalidArgument("expects " + std::to_string(args.num_dims) + " strides, but got " +
                               std::to_string(args.num_byte_strides));
  std::vector<int64_t> strides(args.byte_strides, args.byte_strides + args.num_byte_strides);
  if (strides.empty() && !to->layout.empty())
    strides = denseStrides(to->dims, {}, rt::byteSize(to->dtype));
  rt::EventSource done;
  rt::StatusOr<rt::BufferPtr> buffer = args.client->client->bufferFromHost(
      args.data, to->dtype, toPhysical(to->dims, to->layout), strides.empty() ? strides : toPhysical(strides, to->layout),
      rt::HostSemantics(args.host_buffer_semantics), *to->memory->space, [done] { done.set(); });
  if (!buffer)
    return buffer.status();
  args.done_with_host_buffer = makeEvent(done.event());
  args.buffer = makeBuffer(std::move(*buffer), to->memory, &to->dims, std::move(to->layout));
  return {};
}

rt::Status Client_CreateViewOfDeviceBuffer(Client_CreateViewOfDeviceBuffer_Args &args) {
  Memory *memory = covers(args, args.memory) ? args.memory : nullptr;
  rt::StatusOr<Destination> to =
      destinationFrom(args.element_type, args.dims, args.num_dims, args.layout, args.device, memory);
  if (!to)
    return to.status();
  std::function<void()> release;
  if (args.on_delete)
    release = [callback = args.on_delete, data = args.data, argument = args.on_delete_arg] { callback(data, argument); };
  // The memory is immutable: a donation copies instead of writing into the caller's memory. Memory that is not aligned for kernels (NumPy's often is
  // not) is copied now, since jaxlib's own fallback asks for semantics that it does not pass through this ABI.
  rt::StatusOr<rt::BufferPtr> buffer = args.client->client->bufferFromHost(
      args.data, to->dtype, toPhysical(to->dims, to->layout), {}, rt::HostSemantics::ImmutableZeroCopy,
      *to->memory->space, std::move(release));
  if (!buffer)
    return buffer.status();
  args.buffer = makeBuffer(std::move(*buffer), to->memory, &to->dims, std::move(to->layout));
  return {};
}

rt::Status Client_CreateUninitializedBuffer(Client_CreateUninitializedBuffer_Args &args) {
  rt::StatusOr<Destination> to = destinationFrom(args.shape.element_type, args.shape.dims, args.shape.num_dims,
                                                 args.shape.layout, args.device, args.memory);
  if (!to)
    return to.status();
  rt::StatusOr<rt::BufferPtr> buffer =
      args.client->client->uninitialized(to->dtype, toPhysical(to->dims, to->layout), *to->memory->space);
  if (!buffer)
    return buffer.status();
  args.buffer = makeBuffer(std::move(*buffer), to->memory, &to->dims, std::move(to->layout));
  return {};
}

rt::Status Client_CreateErrorBuffer(Client_CreateErrorBuffer_Args &args) {
  rt::StatusOr<Destination> to = destinationFrom(args.shape.element_type, args.shape.dims, args.shape.num_dims,
                                                 args.shape.layout, nullptr, args.memory);
  if (!to)
    return to.status();
  rt::Status error = statusFrom(args.status);
  if (error.ok())
    return rt::invalidArgument("an error buffer needs an error");
  args.buffer = makeBuffer(args.client->client->errorBuffer(std::move(error), to->dtype,
                                                            toPhysical(to->dims, to->layout), *to->memory->space),
                           to->memory, &to->dims, std::move(to->layout));
  return {};
}

rt::Status Client_CreateAliasBuffer(Client_CreateAliasBuffer_Args &args) {
  rt::StatusOr<Destination> to = destinationFrom(args.shape.element_type, args.shape.dims, args.shape.num_dims,
                                                 args.shape.layout, nullptr, args.memory);
  if (!to)
    return to.status();
  rt::LaterBuffer later = args.client->client->later(to->dtype, toPhysical(to->dims, to->layout), *to->memory->space);
  args.fulfillment = std::make_unique<AliasFulfillment>(AliasFulfillment{std::move(later.fulfill)}).release();
  args.buffer = makeBuffer(std::move(later.buffer), to->memory, &to->dims, std::move(to->layout));
  return {};
}

rt::Status Client_FulfillAliasBuffer(Client_FulfillAliasBuffer_Args &args) {
  std::unique_ptr<AliasFulfillment> fulfillment(args.fulfillment);
  if (rt::Status error = statusFrom(args.status); !error.ok()) {
    fulfillment->fulfill(error);
    return {};
  }
  if (!args.buffer)
    return rt::invalidArgument("expects a buffer or an error");
  fulfillment->fulfill(args.buffer->buffer);
  return {};
}

rt::Status Buffer_ToHostBuffer(Buffer_ToHostBuffer_Args &args) {
  Buffer &buffer = *args.buffer;
  const std::vector<int64_t> &dims = dimsOf(buffer);
  rt::DType dtype = buffer.buffer->dtype();
  rt::StatusOr<uint64_t> bytes = rt::denseBytes(dtype, dims);
  if (!bytes)
    return bytes.status();
  if (!args.dst) {
    args.dst_size = *bytes;
    args.event = nullptr;
    return {};
  }
  if (args.dst_size < *bytes)
    return rt::invalidArgument("expects a destination of " + std::to_string(*bytes) + " bytes, but got " +
                               std::to_string(args.dst_size));
  if (args.host_layout && args.host_layout->type == MemoryLayout::Strides) {
    const StridedLayout &strided = args.host_layout->strides;
    if (strided.num_byte_strides != dims.size())
      return rt::invalidArgument("expects " + std::to_string(dims.size()) + " strides, but got " +
                                 std::to_string(strided.num_byte_strides));
    std::vector<int64_t> strides(strided.byte_strides, strided.byte_strides + strided.num_byte_strides);
    args.event = makeEvent(buffer.buffer->toHost(args.dst, toPhysical(strides, buffer.layout)));
    return {};
  }
  Layout host = buffer.layout;
  if (args.host_layout) {
    rt::StatusOr<Layout> given = layoutFrom(args.host_layout, dims.size());
    if (!given)
      return given.status();
    host = std::move(*given);
  }
  if (host == buffer.layout)
    args.event = makeEvent(buffer.buffer->toHost(args.dst, *bytes));
  else
    args.event = makeEvent(buffer.buffer->toHost(
        args.dst, toPhysical(denseStrides(dims, host, rt::byteSize(dtype)), buffer.layout)));
  return {};
}

rt::Status Buffer_CopyRawToHost(Buffer_CopyRawToHost_Args &args) {
  args.event = makeEvent(copyRange(args.buffer->buffer, args.dst, args.offset, args.transfer_size));
  return {};
}

rt::Status Buffer_CopyRawToHostFuture(Buffer_CopyRawToHostFuture_Args &args) {
  auto source = std::make_shared<rt::EventSource>();
  args.event = makeEvent(source->event());
  giveCallback(args.callback_data, args.ready,
               [source, buffer = args.buffer->buffer, offset = args.offset,
                size = args.transfer_size](const Buffer_CopyRawToHostFuture_Args::Callback &callback) {
                 if (rt::Status error = statusFrom(callback.status); !error.ok())
                   return source->set(error);
                 copyRange(buffer, callback.dst, offset, size).onReady([source](const rt::Status &status) {
                   source->set(status);
                 });
               });
  return {};
}

rt::Status Buffer_CopyToMemory(Buffer_CopyToMemory_Args &args) {
  rt::StatusOr<rt::BufferPtr> copy = args.buffer->buffer->copyTo(*args.memory->space);
  if (!copy)
    return copy.status();
  bool known = args.buffer->dimsKnown.load(std::memory_order_acquire);
  args.copy = makeBuffer(std::move(*copy), args.memory, known ? &args.buffer->dims : nullptr, args.buffer->layout);
  return {};
}

rt::Status Buffer_CopyToDevice(Buffer_CopyToDevice_Args &args) {
  MILLRACE_TRY(checkAddressable(*args.device));
  Buffer_CopyToMemory_Args toMemory{};
  toMemory.buffer = args.buffer;
  toMemory.memory = args.device->memories.front();
  MILLRACE_TRY(Buffer_CopyToMemory(toMemory));
  args.copy = toMemory.copy;
  return {};
}

rt::Status Buffer_DonateWithControlDependency(Buffer_DonateWithControlDependency_Args &args) {
  Buffer &buffer = *args.buffer;
  auto dependency = std::make_shared<rt::EventSource>();
  const std::vector<int64_t> &dims = dimsOf(buffer);
  rt::StatusOr<rt::BufferPtr> donated = buffer.buffer->donateAfter(dependency->event());
  if (!donated)
    return donated.status();
  args.donated = makeBuffer(std::move(*donated), buffer.memory, &dims, buffer.layout);
  giveCallback(args.callback_data, args.ready,
               [dependency](const Buffer_DonateWithControlDependency_Args::Callback &callback) {
                 dependency->set(statusFrom(callback.status));
               });
  return {};
}

} // namespace slots
} // namespace millrace::pjrt
