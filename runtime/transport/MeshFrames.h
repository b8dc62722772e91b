// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshFrames.h - The bytes of messages between processes (private) ----===//
#pragma once
#include "runtime/transport/Mesh.h"

#include <cstring>

namespace millrace::runtime::transport {

constexpr uint32_t dataMagic = 0x4d524431;
struct DataHeader {
  uint32_t magic, kind, headBytes;
  uint32_t block; ///< 0: the payload follows; otherwise one more than the number of the block that contains it
  uint64_t payloadBytes;
};
/// In DataHeader::block: the header brings the block's file descriptor.
constexpr uint32_t withFile = 0x80000000;
/// In DataHeader::block, alone: the carrier brings the payload.
constexpr uint32_t byCarrier = 0x40000000;
/// In DataHeader::block, alone: each lane brings a stretch of the payload, in order.
constexpr uint32_t overLanes = 0x20000000;
/// Bounds of the sizes that a peer may announce. The peer has proved that it belongs to the job, but may be defective.
constexpr uint32_t maxHeadBytes = 16 << 20;
constexpr uint64_t maxPayloadBytes = uint64_t(1) << 46;

/// A thread that waits for the carrier checks this often whether it has finished.
constexpr std::chrono::microseconds carrierPause(20);

/// Allocates the memory of a payload; null if there is none.
std::shared_ptr<char> allocatePayload(uint64_t bytes);
/// Returns the stretch [begin, end) of a payload that a lane brings.
std::pair<uint64_t, uint64_t> stretchOf(uint64_t bytes, size_t lane, size_t lanes);

/// What an epoll event of the mesh's thread refers to: one of a peer's descriptors, and the peer.
enum Which : uint64_t { Data, Control, Process, Wake, Lane };
inline uint64_t tagOf(Which which, uint32_t rank, size_t lane = 0) { return uint64_t(rank) << 16 | uint64_t(lane) << 8 | which; }

} // namespace millrace::runtime::transport
