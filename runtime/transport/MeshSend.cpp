// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshSend.cpp - Sending messages to other processes ------------------===//
#include "runtime/transport/MeshFrames.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace millrace::runtime::transport {
namespace {

/// Payloads of at least so many bytes are spread over the lanes, if there are lanes. Chosen, not measured: no network here limits a connection.
constexpr uint64_t minSpreadBytes = 1 << 20;
/// The carrier brings payloads of at least so many bytes. Chosen, not measured: as minSharedBytes.
constexpr uint64_t minCarriedBytes = 32 << 10;
/// Payloads of at least so many bytes go through shared memory. Chosen, not measured: smaller messages take one system call at either end.
constexpr uint64_t minSharedBytes = 32 << 10;
constexpr size_t maxPieces = 64; ///< of one system call
/// A writer checks this often whether the receiver is lost.
constexpr int lostCheckMilliseconds = 100;

/// Returns bytes [begin, end) of the concatenated pieces.
std::vector<iovec> cut(const std::vector<iovec> &pieces, uint64_t begin, uint64_t end) {
  std::vector<iovec> part;
  uint64_t at = 0;
  for (const iovec &piece : pieces) {
    const uint64_t from = std::max(at, begin), to = std::min(at + piece.iov_len, end);
    if (from < to)
      part.push_back({static_cast<char *>(piece.iov_base) + (from - at), size_t(to - from)});
    at += piece.iov_len;
  }
  return part;
}

/// Removes the bytes that were sent from the pieces, and moves `first` to the first piece that is left.
void advance(std::vector<iovec> &pieces, size_t &first, size_t sent) {
  while (first < pieces.size() && sent >= pieces[first].iov_len)
    sent -= pieces[first++].iov_len;
  if (sent) {
    pieces[first].iov_base = static_cast<char *>(pieces[first].iov_base) + sent;
    pieces[first].iov_len -= sent;
  }
}

} // namespace

Status Mesh::send(uint32_t to, uint32_t kind, std::string_view head, const std::vector<iovec> &payload, SharedLease *copied) {
  Peer &peer = *peers[to];
  DataHeader header{dataMagic, kind, uint32_t(head.size()), 0, 0};
  std::vector<iovec> pieces = {{&header, sizeof header}, {const_cast<char *>(head.data()), head.size()}};
  for (const iovec &piece : payload)
    header.payloadBytes += piece.iov_len;
  assert(head.size() <= maxHeadBytes && header.payloadBytes <= maxPayloadBytes);
  SharedLease lease;
  if (peer.sharesMemory && header.payloadBytes >= minSharedBytes) {
    MILLRACE_TRY(statusOf(to));
    lease = copied && *copied ? *copied : shared->copy(payload, header.payloadBytes);
    if (copied)
      *copied = lease;
  }
  const bool isCarried = carrier && !lease && header.payloadBytes >= minCarriedBytes;
  const bool isSpread = !isCarried && !lease && !peer.lanes.empty() && header.payloadBytes >= minSpreadBytes;
  std::lock_guard lock(peer.sending);
  bool sendsFile = false;
  auto uncount = [](SharedBlock *block) { block->mapping->readers().fetch_sub(1, std::memory_order_release); };
  std::unique_ptr<SharedBlock, decltype(uncount)> counted(nullptr, uncount); // until the receiver has the message
  if (lease) {
    header.block = lease->id + 1;
    sendsFile = !peer.given.count(lease->id);
    if (sendsFile)
      header.block |= withFile;
    lease->mapping->readers().fetch_add(1, std::memory_order_relaxed); // counts the receiver
    counted.reset(lease.get());
  } else if (isCarried) {
    header.block = byCarrier;
  } else if (isSpread) {
    header.block = overLanes;
  } else {
    pieces.insert(pieces.end(), payload.begin(), payload.end());
  }
  size_t first = 0;
  while (true) {
    advance(pieces, first, 0);
    if (first == pieces.size()) {
      (void)counted.release();
      return isCarried  ? sendByCarrier(to, payload, header.payloadBytes)
             : isSpread ? sendOverLanes(to, payload, header.payloadBytes)
                        : Status();
    }
    MILLRACE_TRY(statusOf(to)); // a message that breaks off is never completed: nothing can follow it
    msghdr message = {};
    message.msg_iov = &pieces[first];
    message.msg_iovlen = std::min(pieces.size() - first, maxPieces);
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (sendsFile) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr *file = CMSG_FIRSTHDR(&message);
      file->cmsg_level = SOL_SOCKET, file->cmsg_type = SCM_RIGHTS, file->cmsg_len = CMSG_LEN(sizeof(int));
      int descriptor = lease->file.descriptor();
      std::memcpy(CMSG_DATA(file), &descriptor, sizeof descriptor);
    }
    ssize_t put = ::sendmsg(peer.data.descriptor(), &message, MSG_NOSIGNAL);
    advance(pieces, first, put < 0 ? 0 : size_t(put));
    if (put > 0 && sendsFile) {
      sendsFile = false; // the descriptor goes with the first byte
      peer.given.insert(lease->id);
    }
    if (put >= 0 || errno == EINTR)
      continue;
    if (errno == EAGAIN) {
      pollfd poll{peer.data.descriptor(), POLLOUT, 0};
      ::poll(&poll, 1, lostCheckMilliseconds);
      continue;
    }
    return brokenConnection(to, errno);
  }
}

/// Returns the error of a broken connection. The mesh's thread sees the error, too, and knows more about its cause, so this function waits for the
/// thread for a moment.
Status Mesh::brokenConnection(uint32_t to, int error) const {
  for (int i = 0; i < 20; ++i) {
    MILLRACE_TRY(statusOf(to));
    ::poll(nullptr, 0, lostCheckMilliseconds / 2);
  }
  return systemError("send to " + describe(to), error);
}

/// Sends the payload over the lanes, after the header.
Status Mesh::sendOverLanes(uint32_t to, const std::vector<iovec> &payload, uint64_t bytes) {
  const std::vector<Socket> &lanes = peers[to]->lanes;
  struct Stretch {
    std::vector<iovec> pieces;
    size_t first = 0;
  };
  std::vector<Stretch> stretches(lanes.size());
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto [begin, end] = stretchOf(bytes, lane, lanes.size());
    stretches[lane].pieces = cut(payload, begin, end);
  }
  while (true) {
    MILLRACE_TRY(statusOf(to));
    std::vector<pollfd> blocked;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      auto &[pieces, first] = stretches[lane];
      if (first == pieces.size())
        continue;
      msghdr message = {};
      message.msg_iov = &pieces[first];
      message.msg_iovlen = std::min(pieces.size() - first, maxPieces);
      const ssize_t put = ::sendmsg(lanes[lane].descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && errno != EINTR && errno != EAGAIN)
        return brokenConnection(to, errno);
      advance(pieces, first, put < 0 ? 0 : size_t(put));
      if (first < pieces.size())
        blocked.push_back({lanes[lane].descriptor(), POLLOUT, 0});
    }
    if (blocked.empty())
      return Status();
    ::poll(blocked.data(), blocked.size(), lostCheckMilliseconds);
  }
}

/// Sends the payload by the carrier, which takes one piece, after the header.
Status Mesh::sendByCarrier(uint32_t to, const std::vector<iovec> &payload, uint64_t bytes) {
  auto filled = [](const iovec &piece) { return piece.iov_len != 0; };
  std::shared_ptr<char> memory;
  const void *data = std::find_if(payload.begin(), payload.end(), filled)->iov_base;
  if (std::count_if(payload.begin(), payload.end(), filled) > 1) {
    if (!(memory = allocatePayload(bytes)))
      return resourceExhausted("no memory for a message of " + std::to_string(bytes) + " bytes");
    char *end = memory.get();
    for (const iovec &piece : payload) {
      std::memcpy(end, piece.iov_base, piece.iov_len);
      end += piece.iov_len;
    }
    data = memory.get();
  }
  Carrier::Request request = carrier->send(to, data, bytes);
  int state = request ? 0 : -1;
  for (Deadline asked = Clock::now(); request && !(state = carrier->test(request));) {
    std::this_thread::sleep_for(carrierPause);
    if (Clock::now() - asked < std::chrono::milliseconds(lostCheckMilliseconds))
      continue;
    asked = Clock::now();
    if (Status status = statusOf(to); !status.ok()) {
      carrier->cancel(request, memory);
      return status;
    }
  }
  if (state > 0)
    return Status();
  MILLRACE_TRY(statusOf(to));
  return Status(Code::Unavailable, std::string("the carrier ") + carrier->name() + " does not bring a message to " + describe(to));
}

} // namespace millrace::runtime::transport
