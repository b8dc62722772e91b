// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shards.cpp - Copies between tensors and their shards -----------------===//
#include "tracing/graph/Graph.h"
#include "tracing/spmd/Sharding.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace millrace::tracing {
namespace {

std::vector<int64_t> byteStrides(const std::vector<int64_t> &dims, DType dtype) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = int64_t(runtime::byteSize(dtype));
  for (size_t i = dims.size(); i-- > 0; stride *= std::max<int64_t>(dims[i], 1))
    strides[i] = stride;
  return strides;
}

int64_t bytesAt(const std::vector<int64_t> &index, const std::vector<int64_t> &strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i)
    offset += index[i] * strides[i];
  return offset;
}

/// Copies a box of `dims` elements between memories of different strides.
void copyBox(const char *from, const std::vector<int64_t> &fromStrides, char *to, const std::vector<int64_t> &toStrides,
             const std::vector<int64_t> &dims, size_t elementBytes, size_t dim = 0) {
  if (dim + 1 >= dims.size()) {
    std::memcpy(to, from, (dims.empty() ? 1 : size_t(dims.back())) * elementBytes);
    return;
  }
  for (int64_t i = 0; i < dims[dim]; ++i)
    copyBox(from + i * fromStrides[dim], fromStrides, to + i * toStrides[dim], toStrides, dims, elementBytes, dim + 1);
}

runtime::StatusOr<runtime::BufferPtr> sameMemory(const std::shared_ptr<runtime::Storage> &memory, const Shape &part,
                                                 runtime::Client &client, size_t device) {
  return client.viewOf(memory->data(), part.dtype, part.dims, /*isMutable=*/false,
                       client.devices()[device]->memories().front(), [memory] {});
}

bool isEmpty(const std::vector<int64_t> &dims) {
  return std::find(dims.begin(), dims.end(), 0) != dims.end();
}

} // namespace

runtime::StatusOr<Shards> cut(const void *data, const Shape &shape, const ShardingPtr &sharding, runtime::Client &client) {
  Shards shards{sharding, {}};
  const Shape part{shape.dtype, sharding->shardDims(shape.dims)};
  const std::vector<int64_t> strides = byteStrides(shape.dims, shape.dtype), packed = byteStrides(part.dims, shape.dtype);
  std::map<std::vector<int64_t>, std::shared_ptr<runtime::Storage>> made; // by the offsets of the shards
  for (size_t device = 0; device < client.devices().size(); ++device) {
    const runtime::MemorySpace &space = client.devices()[device]->memories().front();
    std::vector<int64_t> offset, inside;
    sharding->extentOf(client.devices()[device]->id(), shape.dims, offset, inside);
    runtime::StatusOr<runtime::BufferPtr> buffer = runtime::BufferPtr();
    auto known = made.find(offset);
    if (known != made.end() && !isEmpty(inside)) {
      buffer = sameMemory(known->second, part, client, device);
    } else if (inside == part.dims) {
      const char *from = static_cast<const char *>(data) + bytesAt(offset, strides);
      buffer = client.bufferFromHost(from, part.dtype, part.dims, strides, runtime::HostSemantics::OnlyDuringCall, space);
    } else {
      size_t element = runtime::byteSize(part.dtype);
      std::string filled(size_t(part.count()) * element, '\0');
      if (!isEmpty(inside))
        copyBox(static_cast<const char *>(data) + bytesAt(offset, strides), strides, filled.data(), packed, inside, element);
      buffer = client.bufferFromHost(filled.data(), part.dtype, part.dims, {}, runtime::HostSemantics::OnlyDuringCall, space);
    }
    if (!buffer)
      return buffer.status();
    if (known == made.end() && !isEmpty(inside)) {
      runtime::StatusOr<std::shared_ptr<runtime::Storage>> memory = (*buffer)->acquire();
      if (!memory)
        return memory.status();
      made.emplace(offset, *memory);
    }
    shards.buffers.push_back(std::move(*buffer));
  }
  return shards;
}

runtime::Status join(const Shards &shards, const Shape &shape, void *target, const std::map<int64_t, const char *> &others) {
  const Sharding &sharding = *shards.sharding;
  const std::vector<int64_t> part = sharding.shardDims(shape.dims);
  const std::vector<int64_t> strides = byteStrides(shape.dims, shape.dtype), packed = byteStrides(part, shape.dtype);
  const size_t element = runtime::byteSize(shape.dtype);
  std::set<std::vector<int64_t>> done; // offsets of the shards
  auto copy = [&](int64_t device, auto memory) -> runtime::Status {
    std::vector<int64_t> offset, inside;
    sharding.extentOf(device, shape.dims, offset, inside);
    if (isEmpty(inside) || !done.insert(offset).second)
      return {};
    runtime::StatusOr<const char *> from = memory();
    if (!from)
      return from.status();
    copyBox(*from, packed, static_cast<char *>(target) + bytesAt(offset, strides), strides, inside, element);
    return {};
  };
  for (const runtime::BufferPtr &buffer : shards.buffers) {
    std::shared_ptr<runtime::Storage> held;
    MILLRACE_TRY(copy(buffer->device().id(), [&]() -> runtime::StatusOr<const char *> {
      runtime::StatusOr<std::shared_ptr<runtime::Storage>> memory = buffer->acquire();
      if (!memory)
        return memory.status();
      held = std::move(*memory);
      return static_cast<const char *>(held->data());
    }));
  }
  for (const auto &[device, memory] : others)
    MILLRACE_TRY(copy(device, [&, memory = memory]() -> runtime::StatusOr<const char *> { return memory; }));
  return {};
}

runtime::StatusOr<std::vector<runtime::BufferPtr>> replicate(const runtime::BufferPtr &buffer, const Shape &shape,
                                                             runtime::Client &client) {
  runtime::StatusOr<std::shared_ptr<runtime::Storage>> memory = buffer->acquire();
  if (!memory)
    return memory.status();
  std::vector<runtime::BufferPtr> made{buffer};
  for (size_t device = 1; device < client.devices().size(); ++device) {
    runtime::StatusOr<runtime::BufferPtr> view = sameMemory(*memory, shape, client, device);
    if (!view)
      return view.status();
    made.push_back(std::move(*view));
  }
  return made;
}

} // namespace millrace::tracing
