// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshLiveness.cpp - Signs of life, and the loss of processes ---------===//
#include "runtime/base/Activity.h"
#include "runtime/transport/MeshFrames.h"
#include "runtime/transport/Wire.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <poll.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace millrace::runtime::transport {
namespace {

constexpr uint32_t controlMagic = 0x4d524331;
struct ControlHeader {
  uint32_t magic, kind, bytes;
};
enum ControlKind : uint32_t { Heartbeat = 1, Goodbye = 2, LostPeer = 3 };

constexpr uint32_t maxControlBytes = 64 << 10;
constexpr size_t maxActivityBytes = 1000;
/// The last message of a lost process may take so long to arrive: the carrier has received its bytes.
constexpr std::chrono::milliseconds carrierRest(300);
/// A process that leaves checks this often whether its messages have arrived at the other hosts.
constexpr std::chrono::milliseconds goodbyePause(1);

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

} // namespace

bool isStopped(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t name = text.rfind(')'); // the name before it may contain any character
  const char state = name == std::string::npos || name + 2 >= text.size() ? 0 : text[name + 2];
  return state == 'T' || state == 't';
}

std::string Mesh::activityOf(uint32_t rank) const {
  std::lock_guard lock(peers[rank]->mutex);
  return peers[rank]->activity;
}

Status Mesh::statusOf(uint32_t rank) const {
  std::lock_guard lock(peers[rank]->mutex);
  return peers[rank]->status;
}

std::pair<uint32_t, Status> Mesh::firstLoss(const std::vector<uint32_t> &ranks) const {
  std::pair<uint32_t, Status> first;
  uint64_t number = ~uint64_t(0);
  for (uint32_t rank : ranks) {
    std::lock_guard lock(peers[rank]->mutex);
    if (!peers[rank]->status.ok() && peers[rank]->lossNumber < number)
      first = {rank, peers[rank]->status}, number = peers[rank]->lossNumber;
  }
  return first;
}

// Sends a control message. A message that does not fit into the connection's buffer at once is dropped: its receiver is stopped or gone.
void Mesh::sendControl(uint32_t rank, uint32_t kind, std::string_view body) {
  ControlHeader header{controlMagic, kind, uint32_t(std::min<size_t>(body.size(), maxControlBytes))};
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  bytes += body.substr(0, header.bytes);
  Peer &peer = *peers[rank];
  std::lock_guard lock(peer.controlling);
  ssize_t put = ::send(peer.control.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (put > 0 && size_t(put) < bytes.size()) // an incomplete message would damage the messages that follow
    (void)!peer.control.write(bytes.data() + put, bytes.size() - size_t(put), after(1)).ok();
}

bool Mesh::readControl(uint32_t rank) {
  Peer &peer = *peers[rank];
  char buffer[4096];
  ssize_t got = ::recv(peer.control.descriptor(), buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (got <= 0) {
    if (!peer.saidGoodbye)
      lose(rank, Status(Code::Unavailable, describe(rank) + " has closed its connection without a word: it was killed, crashed or left by exit"),
           true);
    return false;
  }
  peer.lastHeard = Clock::now();
  peer.controlIncoming.append(buffer, size_t(got));
  while (peer.controlIncoming.size() >= sizeof(ControlHeader)) {
    ControlHeader header;
    std::memcpy(&header, peer.controlIncoming.data(), sizeof header);
    if (header.magic != controlMagic || header.bytes > maxControlBytes) {
      lose(rank, dataLoss(describe(rank) + " sent a sign of life that cannot be read"), true);
      return false;
    }
    if (peer.controlIncoming.size() < sizeof header + header.bytes)
      break;
    std::string body = peer.controlIncoming.substr(sizeof header, header.bytes);
    peer.controlIncoming.erase(0, sizeof header + header.bytes);
    handleControl(rank, header.kind, body);
  }
  return true;
}

void Mesh::handleControl(uint32_t rank, uint32_t kind, std::string_view body) {
  if (kind == Heartbeat) {
    std::lock_guard lock(peers[rank]->mutex);
    peers[rank]->activity = body.substr(0, maxActivityBytes);
  } else if (kind == Goodbye) {
    peers[rank]->saidGoodbye = true;
    lose(rank, body.empty() ? failedPrecondition(describe(rank) + " has left") : aborted(describe(rank) + " was ended by an error: " + std::string(body)),
         false);
  } else if (kind == LostPeer) {
    Reader reader(body);
    uint32_t who = reader.number<uint32_t>(), code = reader.number<uint32_t>();
    std::string text = reader.text();
    // A process that reports the loss of this one ignores its messages, so that process is lost for this one.
    uint32_t gone = who == this->rank() ? rank : who;
    if (reader.isComplete() && gone < size() && code && code <= uint32_t(Code::Unauthenticated))
      lose(gone, Status(Code(code), who == this->rank() ? describe(rank) + " gave this process up: " + text : text), false);
  }
}

void Mesh::sayAlive() {
  const std::string activity = currentActivity();
  for (uint32_t rank = 0; rank < size(); ++rank)
    if (rank != this->rank() && statusOf(rank).ok())
      sendControl(rank, Heartbeat, activity);
}

/// Says goodbye over the control connection. The goodbye arrives after the messages because these have arrived at the other host before it is sent.
void Mesh::sayGoodbye(const std::string &failure) {
  struct Pending {
    uint32_t rank;
    uint64_t bytes; ///< not yet arrived
    Deadline since; ///< the time since which no byte has arrived
  };
  auto bytesUnderWay = [&](uint32_t rank) {
    uint64_t bytes = 0;
    auto add = [&](const Socket &socket) {
      int queued = 0;
      if (::ioctl(socket.descriptor(), SIOCOUTQ, &queued) == 0 && queued > 0)
        bytes += uint64_t(queued);
    };
    if (!peers[rank]->data.peerProcess()) // bytes that were sent over a UNIX socket have arrived
      add(peers[rank]->data);
    for (const Socket &lane : peers[rank]->lanes)
      add(lane);
    return bytes;
  };
  std::vector<Pending> pending;
  for (uint32_t rank = 0; rank < size(); ++rank)
    if (rank != this->rank())
      pending.push_back({rank, ~uint64_t(0), Clock::now()});
  const auto patience = std::chrono::duration<double>(settings.unreachableSeconds);
  while (true) {
    std::erase_if(pending, [&](Pending &each) {
      if (!statusOf(each.rank).ok())
        return true;
      const uint64_t bytes = bytesUnderWay(each.rank);
      if (bytes < each.bytes)
        each.bytes = bytes, each.since = Clock::now();
      const bool isDone = bytes == 0 || Clock::now() - each.since >= patience;
      if (isDone)
        sendControl(each.rank, Goodbye, failure);
      return isDone;
    });
    if (pending.empty())
      return;
    std::this_thread::sleep_for(goodbyePause);
  }
}

void Mesh::watch(Deadline now) {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    Peer &peer = *peers[rank];
    if (rank == this->rank() || !statusOf(rank).ok())
      continue;
    double silent = std::chrono::duration<double>(now - peer.lastHeard).count();
    std::string since = "has been silent for " + secondsText(silent);
    if (peer.isOnThisHost && silent >= settings.stoppedSeconds) {
      if (isStopped(peer.pid))
        lose(rank, Status(Code::Unavailable, describe(rank) + " is stopped (SIGSTOP or a debugger; MILLRACE_LIVENESS=0 waits for it) and " + since),
             true);
      else if (silent >= settings.starvedSeconds)
        lose(rank, Status(Code::Unavailable, describe(rank) + " " + since + ", although it has not ended"), true);
    } else if (!peer.isOnThisHost && silent >= settings.unreachableSeconds) {
      lose(rank, Status(Code::Unavailable, describe(rank) + " cannot be reached: it " + since), true);
    }
  }
}

/// Reads the messages that `rank` has sent before it was lost: they have arrived, and a thread may wait for them.
void Mesh::drain(uint32_t rank) {
  Peer &peer = *peers[rank];
  if (std::exchange(peer.isDrained, true))
    return;
  const Deadline end = Clock::now() + carrierRest;
  while (readData(rank, /*isOwnThread=*/true)) {
    if (peer.carried) { // the payload may have been sent or not
      if (Clock::now() >= end)
        return;
      std::this_thread::sleep_for(carrierPause);
      continue;
    }
    std::vector<pollfd> more = {{peer.laneFilled.empty() ? peer.data.descriptor() : -1, POLLIN, 0}};
    for (const Socket &lane : peer.lanes)
      more.push_back({peer.laneFilled.empty() ? -1 : lane.descriptor(), POLLIN, 0});
    if (::poll(more.data(), more.size(), 0) <= 0)
      return;
  }
}

void Mesh::lose(uint32_t rank, const Status &status, bool tellOthers) {
  if (!statusOf(rank).ok())
    return;
  drain(rank);
  {
    std::lock_guard lock(peers[rank]->mutex);
    if (!peers[rank]->status.ok()) // a message could not be decoded
      return;
    peers[rank]->status = status;
    peers[rank]->lossNumber = ++losses;
  }
  {
    std::lock_guard lock(peers[rank]->reading);
    if (Carrier::Request request = std::exchange(peers[rank]->carried, nullptr)) {
      --numCarried;
      carrier->cancel(request, peers[rank]->message->payload);
    }
  }
  if (tellOthers) {
    Writer writer;
    writer.number(rank);
    writer.number(uint32_t(status.code()));
    writer.text(status.message());
    for (uint32_t other = 0; other < size(); ++other)
      if (other != this->rank() && (other == rank || statusOf(other).ok()))
        sendControl(other, LostPeer, writer.bytes);
  }
  lost(rank, status);
}

} // namespace millrace::runtime::transport
