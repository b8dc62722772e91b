// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RemoteCalls.cpp - Calls of collectives, on their way to processes ---===//
#include "runtime/collective/RemoteCalls.h"
#include "runtime/base/Alignment.h"
#include "runtime/base/Hash.h"
#include "runtime/program/Limits.h"
#include "runtime/transport/Wire.h"

#include <algorithm>
#include <cstring>

namespace millrace::runtime {
namespace {

using Kind = CollectiveStep::Kind;

/// Arguments begin at multiples of this in a payload.
constexpr uint64_t alignment = kBufferAlignment;
/// Fact: the mark in a message that an operand has no buffer.
constexpr uint64_t kNoBytes = ~uint64_t(0);
constexpr size_t maxArguments = 1 << 16, maxRank = 256;

const char zeros[alignment] = {};

/// Returns true if a device at `positions` of a group reads the arguments of the device at position `own`.
bool isRead(const CollectiveStep &step, size_t own, const std::vector<size_t> &positions) {
  switch (step.kind) {
  case Kind::CollectiveBroadcast:
    return step.dynamicRoot || size_t(step.root) == own;
  case Kind::CollectiveReduce:
    return step.dynamicRoot || std::find(positions.begin(), positions.end(), size_t(step.root)) != positions.end();
  case Kind::CollectivePermute:
    // The pairs hold ids; the members of the group are all ids, in order.
    return std::any_of(step.groups.begin(), step.groups.end(), [&](const std::vector<int64_t> &pair) {
      return pair[0] == int64_t(own) && std::find(positions.begin(), positions.end(), size_t(pair[1])) != positions.end();
    });
  default:
    return true;
  }
}

/// Packs the parts at `positions` of a tensor that is [outer][parts][part bytes] in memory, as [outer][positions][part bytes].
std::unique_ptr<char[]> pack(const char *from, size_t outer, size_t parts, size_t partBytes, const std::vector<size_t> &positions) {
  std::unique_ptr<char[]> packed(new char[outer * positions.size() * partBytes]);
  char *to = packed.get();
  for (size_t o = 0; o < outer; ++o)
    for (size_t position : positions) {
      std::memcpy(to, from + (o * parts + position) * partBytes, partBytes);
      to += partBytes;
    }
  return packed;
}

/// A call of another process, with the memory that the call points to.
struct RemoteCall {
  CollectiveStep step; ///< equals this process's step; its fields are unknown
  std::shared_ptr<char> payload;
  CollectiveCall call{step, {}, {}, nullptr, {}, 0, 0, true};
};

} // namespace

EncodedCall encodeCall(const CollectiveCall &call, size_t own, size_t size, const std::vector<size_t> &positions, ProcessPart part) {
  const bool isGathered = part.count && call.step.kind == Kind::AllGather; // operands are sent as parts
  bool read = isRead(call.step, own, positions) && !isGathered;
  int64_t split = splitDimension(call.step);
  // Sizes that do not divide are an error, which the devices report themselves.
  bool inParts = split >= 0 && std::all_of(call.arguments.begin(), call.arguments.end(), [&](const TensorView &argument) {
    return size_t(split) < argument.dims.size() && argument.dims[size_t(split)] % int64_t(size) == 0;
  });
  EncodedCall encoded;
  encoded.isWhole = read && !inParts && !part.count;
  transport::Writer writer;
  writer.number(call.replica);
  writer.number(call.partition);
  writer.number(part.index);
  writer.number(part.count);
  writer.list(inParts ? std::vector<uint32_t>(positions.begin(), positions.end()) : std::vector<uint32_t>());
  writer.number(uint32_t(call.arguments.size()));
  uint64_t end = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const TensorView &argument = call.arguments[i];
    writer.number(uint8_t(argument.dtype));
    writer.list(argument.dims);
    writer.number(read ? end : kNoBytes);
    if (!read)
      continue;
    size_t bytes = argument.bytes();
    if (part.count) {
      const auto [begin, end] = partOfProcess(call.arguments, i, part);
      bytes = size_t(end - begin) * byteSize(argument.dtype);
      encoded.payload.push_back({static_cast<char *>(argument.data) + size_t(begin) * byteSize(argument.dtype), bytes});
    } else if (!inParts) {
      encoded.payload.push_back({argument.data, bytes});
    } else if (bytes) {
      size_t outer = 1;
      for (size_t d = 0; d < size_t(split); ++d)
        outer *= size_t(argument.dims[d]);
      size_t partBytes = bytes / outer / size;
      auto *data = static_cast<char *>(argument.data);
      if (outer == 1) {
        for (size_t position : positions)
          encoded.payload.push_back({data + position * partBytes, partBytes});
      } else {
        encoded.packed.push_back(pack(data, outer, size, partBytes, positions));
        encoded.payload.push_back({encoded.packed.back().get(), outer * positions.size() * partBytes});
      }
      bytes = outer * positions.size() * partBytes;
    }
    size_t padding = size_t(-bytes % alignment);
    encoded.payload.push_back({const_cast<char *>(zeros), padding});
    end += bytes + padding;
  }
  encoded.head = std::move(writer.bytes);
  return encoded;
}

StatusOr<std::shared_ptr<const CollectiveCall>> decodeCall(std::string_view head, size_t size, std::shared_ptr<char> payload,
                                                           uint64_t payloadBytes) {
  Status damaged = dataLoss("the operands of another process cannot be read");
  transport::Reader reader(head);
  auto remote = std::make_shared<RemoteCall>();
  remote->payload = std::move(payload);
  remote->call.replica = reader.number<uint32_t>();
  remote->call.partition = reader.number<uint32_t>();
  remote->call.part.index = reader.number<uint32_t>();
  remote->call.part.count = reader.number<uint32_t>();
  remote->call.pieces = reader.list<uint32_t>();
  uint32_t count = reader.number<uint32_t>();
  const ProcessPart part = remote->call.part;
  const bool isInPieces = !remote->call.pieces.empty();
  if (count > maxArguments || remote->call.pieces.size() > size || part.count > size || (part.count ? part.index >= part.count || isInPieces : part.index))
    return damaged;
  std::vector<uint64_t> offsets;
  uint64_t total = 0; // bytes of whole arguments
  for (uint32_t i = 0; i < count; ++i) {
    TensorView view;
    view.dtype = DType(reader.number<uint8_t>());
    view.dims = reader.list<int64_t>();
    uint64_t offset = reader.number<uint64_t>();
    if (!reader.ok() || view.dims.size() > maxRank || view.dtype > DType::Last)
      return damaged;
    const std::optional<uint64_t> bytes = bytesOfSizes(byteSize(view.dtype), view.dims.size(), [&](size_t d) { return view.dims[d]; });
    if (!bytes || __builtin_add_overflow(total, *bytes, &total) || total > uint64_t(INT64_MAX) || (isInPieces && *bytes % size))
      return damaged;
    remote->call.arguments.push_back(std::move(view));
    offsets.push_back(offset);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (offsets[i] == kNoBytes)
      continue;
    TensorView &view = remote->call.arguments[i];
    const auto [begin, end] = partOfProcess(remote->call.arguments, i, part);
    const uint64_t whole = uint64_t(end - begin) * byteSize(view.dtype);
    const uint64_t bytes = isInPieces ? whole / size * remote->call.pieces.size() : whole;
    if (offsets[i] % alignment || offsets[i] > payloadBytes || bytes > payloadBytes - offsets[i])
      return damaged;
    view.data = remote->payload.get() + offsets[i];
  }
  if (!reader.isComplete())
    return damaged;
  const CollectiveCall *call = &remote->call;
  return std::shared_ptr<const CollectiveCall>(std::move(remote), call);
}

uint64_t signatureOf(const CollectiveStep &step) {
  transport::Writer writer;
  for (int64_t number : {int64_t(step.kind), int64_t(step.groupMode), int64_t(step.reduction), step.channel, step.dimension, step.dimension2,
                         step.splitCount, step.root, int64_t(step.dynamicRoot), int64_t(step.results.size())})
    writer.number(number);
  writer.text(step.name); // the name includes that of the group, where several groups have the same members
  for (const std::vector<int64_t> &group : step.groups)
    writer.list(group);
  return hash64(writer.bytes.data(), writer.bytes.size());
}

} // namespace millrace::runtime
