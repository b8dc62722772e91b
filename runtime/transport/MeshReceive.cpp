// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshReceive.cpp - Receiving messages of other processes -------------===//
#include "runtime/transport/MeshFrames.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace millrace::runtime::transport {
namespace {

constexpr size_t maxBlocks = 1 << 16;
/// Bytes that are read from one connection before the other connections are read.
constexpr size_t turnBytes = 4 << 20;
constexpr size_t alignment = 64;

/// Calls recv() and takes the file descriptors that come with the first byte. Sets `isCut` if some of them could not be taken.
ssize_t receiveWithFiles(const Socket &socket, char *to, size_t room, std::vector<Socket> &files, bool &isCut) {
  iovec piece{to, room};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = ::recvmsg(socket.descriptor(), &message, MSG_CMSG_CLOEXEC);
  if (got <= 0)
    return got;
  isCut |= (message.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr *each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each))
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_RIGHTS && each->cmsg_len >= CMSG_LEN(sizeof(int))) {
      int descriptor;
      std::memcpy(&descriptor, CMSG_DATA(each), sizeof descriptor);
      files.emplace_back(descriptor);
    }
  return got;
}

} // namespace

std::shared_ptr<char> allocatePayload(uint64_t bytes) {
  void *memory = ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
  return std::shared_ptr<char>(static_cast<char *>(memory), [](char *held) { ::operator delete(held, std::align_val_t(alignment)); });
}

std::pair<uint64_t, uint64_t> stretchOf(uint64_t bytes, size_t lane, size_t lanes) {
  auto boundary = [&](size_t each) { return each == lanes ? bytes : bytes / lanes * each; };
  return {boundary(lane), boundary(lane + 1)};
}

/// Reports a damaged message. Called by the mesh's thread.
void Mesh::tellSpoiled(uint32_t rank) {
  std::string why;
  {
    std::lock_guard lock(peers[rank]->reading);
    why = peers[rank]->spoiled;
  }
  if (!why.empty())
    lose(rank, dataLoss(describe(rank) + " sent a message that cannot be read: " + why), true);
}

/// Lets the thread poll the connections from which messages are expected. The caller holds `arming`.
void Mesh::arm(uint32_t rank) {
  const Peer &peer = *peers[rank];
  auto watch = [&](const Socket &socket, uint64_t tag, bool isLookedAt) {
    epoll_event event = {};
    event.events = isLookedAt ? EPOLLIN : 0;
    event.data.u64 = tag;
    ::epoll_ctl(polling.descriptor(), EPOLL_CTL_MOD, socket.descriptor(), &event); // fails if the connection is closed
  };
  watch(peer.data, tagOf(Data, rank), !peer.pollers && !peer.isSpread);
  for (size_t lane = 0; lane < peer.lanes.size(); ++lane)
    watch(peer.lanes[lane], tagOf(Lane, rank, lane), !peer.pollers && peer.isSpread);
}

void Mesh::spread(uint32_t rank, bool isSpread) {
  std::lock_guard lock(peers[rank]->arming);
  peers[rank]->isSpread = isSpread;
  arm(rank);
}

void Mesh::beginPolling(const std::vector<uint32_t> &ranks) {
  for (uint32_t rank : ranks) {
    std::lock_guard lock(peers[rank]->arming);
    if (peers[rank]->pollers++ == 0)
      arm(rank);
  }
}

void Mesh::poll(const std::vector<uint32_t> &ranks) {
  for (uint32_t rank : ranks)
    if (std::unique_lock lock(peers[rank]->reading, std::try_to_lock); lock)
      readData(rank, /*isOwnThread=*/false);
}

void Mesh::endPolling(const std::vector<uint32_t> &ranks) {
  for (uint32_t rank : ranks) {
    std::lock_guard lock(peers[rank]->arming);
    if (--peers[rank]->pollers == 0)
      arm(rank);
  }
}

/// Reads the message's bytes from the lanes. Returns nullopt if the message is complete, otherwise the result of readData().
std::optional<bool> Mesh::readLanes(uint32_t rank, size_t &taken) {
  Peer &peer = *peers[rank];
  const uint64_t bytes = peer.message->payloadBytes;
  uint64_t missing = 0;
  for (size_t lane = 0; lane < peer.lanes.size(); ++lane) {
    const auto [begin, end] = stretchOf(bytes, lane, peer.lanes.size());
    uint64_t &filled = peer.laneFilled[lane];
    if (begin + filled < end) {
      const ssize_t got = ::recv(peer.lanes[lane].descriptor(), peer.message->payload.get() + begin + filled,
                                 std::min(size_t(end - begin - filled), turnBytes / peer.lanes.size()), MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return false;
      filled += got > 0 ? uint64_t(got) : 0;
      taken += got > 0 ? size_t(got) : 0;
    }
    missing += end - begin - filled;
  }
  if (missing)
    return true;
  peer.laneFilled.clear();
  spread(rank, false);
  return std::nullopt;
}

/// Reads the bytes that have arrived, some megabytes at most. Returns false when no more can arrive.
bool Mesh::readData(uint32_t rank, bool isOwnThread) {
  Peer &peer = *peers[rank];
  std::lock_guard lock(peer.reading);
  if (!peer.spoiled.empty())
    return false;
  auto heard = [&] {
    if (isOwnThread) // for a polling thread, the control connection's signs of life suffice
      peer.lastHeard = Clock::now();
  };
  auto spoiled = [&](const char *why) {
    peer.spoiled = why;
    isOwnThread ? tellSpoiled(rank) : wakeUp();
    return false;
  };
  size_t taken = 0;
  while (taken < turnBytes) {
    char *to;
    size_t room;
    if (peer.carried) {
      const int state = carrier->test(peer.carried);
      if (!state)
        return true;
      peer.carried = nullptr;
      --numCarried;
      heard();
      if (state < 0)
        return spoiled("the carrier did not bring it");
      peer.filled += peer.message->payloadBytes;
    } else if (!peer.message) {
      size_t have = peer.incoming.size();
      peer.incoming.resize(sizeof(DataHeader));
      to = peer.incoming.data() + have, room = sizeof(DataHeader) - have;
      ssize_t got = receiveWithFiles(peer.data, to, room, peer.files, peer.lacksFiles);
      int error = errno;
      peer.incoming.resize(have + (got > 0 ? size_t(got) : 0));
      if (got < 0 && (error == EAGAIN || error == EINTR))
        return true;
      if (got <= 0)
        return false; // the control connection tells whether the peer has meant to close it
      heard();
      taken += size_t(got);
      if (peer.incoming.size() < sizeof(DataHeader))
        continue;
      DataHeader header;
      std::memcpy(&header, peer.incoming.data(), sizeof header);
      peer.incoming.clear();
      if (header.magic != dataMagic || header.headBytes > maxHeadBytes || header.payloadBytes > maxPayloadBytes)
        return spoiled("its first bytes are damaged");
      Message message;
      message.kind = header.kind;
      message.head.resize(header.headBytes);
      message.payloadBytes = header.payloadBytes;
      peer.isCarried = header.block == byCarrier;
      const bool isSpread = header.block == overLanes;
      peer.isInPlace = header.block != 0 && !peer.isCarried && !isSpread;
      if (isSpread && peer.lanes.empty())
        return spoiled("it comes over connections that there are not");
      if (peer.isCarried && !carrier)
        return spoiled("a carrier has it, and there is none here");
      if (peer.isInPlace) {
        if (Status status = openBlock(peer, header.block, message); !status.ok())
          return spoiled(std::string(status.message()).c_str());
      } else if (header.payloadBytes && !(message.payload = allocatePayload(header.payloadBytes)))
        return spoiled("there is no memory for it here");
      peer.message = std::move(message);
      peer.filled = 0;
      if (isSpread)
        peer.laneFilled.assign(peer.lanes.size(), 0);
    } else {
      Message &message = *peer.message;
      size_t headBytes = message.head.size();
      if (peer.filled < headBytes) {
        to = message.head.data() + peer.filled, room = headBytes - peer.filled;
      } else if (peer.isCarried) {
        ++numCarried;
        if (!(peer.carried = carrier->receive(rank, message.payload.get(), message.payloadBytes))) {
          --numCarried;
          return spoiled("the carrier does not bring it");
        }
        continue;
      } else if (!peer.laneFilled.empty()) {
        const size_t before = taken;
        if (std::optional<bool> more = readLanes(rank, taken)) {
          if (taken > before)
            heard();
          if (!*more || taken == before)
            return *more;
          continue;
        }
        heard();
        peer.filled += message.payloadBytes;
        to = nullptr, room = 0;
      } else
        to = message.payload.get() + (peer.filled - headBytes), room = message.payloadBytes - (peer.filled - headBytes);
      ssize_t got = room ? ::recv(peer.data.descriptor(), to, std::min(room, turnBytes), 0) : 0;
      if (room && got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
      if (room && got <= 0)
        return false;
      heard();
      peer.filled += size_t(got);
      taken += size_t(got);
    }
    if (peer.message && !peer.laneFilled.empty() && !peer.isSpread && peer.filled == peer.message->head.size())
      spread(rank, true);
    if (peer.message && peer.filled == peer.message->head.size() + (peer.isInPlace ? 0 : peer.message->payloadBytes)) {
      Message done = std::move(*peer.message);
      peer.message.reset();
      receiver(rank, std::move(done));
    }
  }
  return true;
}

/// Sets the payload of `message` to the contents of the block.
Status Mesh::openBlock(Peer &peer, uint32_t block, Message &message) {
  const uint32_t id = (block & ~withFile) - 1;
  if (block & withFile) {
    if (peer.lacksFiles)
      return resourceExhausted("this process cannot take the memory that comes with it, because it has too many open files (ulimit -n)");
    if (peer.files.empty() || peer.blocks.count(id) || peer.blocks.size() >= maxBlocks)
      return dataLoss("the memory that it names did not come with it");
    StatusOr<std::shared_ptr<SharedMapping>> mapping = SharedMapping::open(peer.files.front());
    peer.files.clear();
    if (!mapping)
      return mapping.status();
    peer.blocks.emplace(id, std::move(*mapping));
  }
  auto found = peer.blocks.find(id);
  if (found == peer.blocks.end() || message.payloadBytes > found->second->size())
    return dataLoss("the memory that it names is not there");
  message.payload = SharedMapping::reading(found->second);
  return Status();
}

} // namespace millrace::runtime::transport
