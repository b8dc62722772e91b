// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mesh.cpp - Messages between processes, and signs of life ------------===//
#include "runtime/transport/Mesh.h"
#include "runtime/base/Activity.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/Environment.h"
#include "runtime/transport/Wire.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <poll.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace millrace::runtime::transport {
namespace {

constexpr uint32_t dataMagic = 0x4d524431, controlMagic = 0x4d524331;
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
/// Payloads of at least so many bytes are spread over the lanes, if there are lanes. Chosen, not measured: no network here limits a connection.
constexpr uint64_t minSpreadBytes = 1 << 20;
/// The carrier brings payloads of at least so many bytes. Chosen, not measured: as minSharedBytes.
constexpr uint64_t minCarriedBytes = 32 << 10;
/// The last message of a lost process may take so long to arrive: the carrier has received its bytes.
constexpr std::chrono::milliseconds carrierRest(300);
/// A process that leaves checks this often whether its messages have arrived at the other hosts.
constexpr std::chrono::milliseconds goodbyePause(1);
/// A sender checks this often whether the carrier has finished.
constexpr std::chrono::microseconds carrierPause(20);
/// Payloads of at least so many bytes go through shared memory. Chosen, not measured: smaller messages take one system call at either end.
constexpr uint64_t minSharedBytes = 32 << 10;
struct ControlHeader {
  uint32_t magic, kind, bytes;
};
/// What an epoll event of the thread refers to: one of a peer's descriptors, and the peer.
enum Which : uint64_t { Data, Control, Process, Wake, Lane };
uint64_t tagOf(Which which, uint32_t rank, size_t lane = 0) { return uint64_t(rank) << 16 | uint64_t(lane) << 8 | which; }

enum ControlKind : uint32_t { Heartbeat = 1, Goodbye = 2, LostPeer = 3 };

/// Bounds of the sizes that a peer may announce. The peer has proved that it belongs to the job, but may be defective.
constexpr uint32_t maxHeadBytes = 16 << 20, maxControlBytes = 64 << 10;
constexpr uint64_t maxPayloadBytes = uint64_t(1) << 46;
constexpr size_t maxBlocks = 1 << 16;
/// Least number of characters of MILLRACE_SECRET: 64 bits if they are hexadecimal digits.
constexpr size_t shortestSecret = 16;
constexpr size_t maxActivityBytes = 1000;
constexpr size_t maxPieces = 64; ///< of one system call
/// Bytes that are read from one connection before the other connections are read.
constexpr size_t turnBytes = 4 << 20;
constexpr size_t alignment = 64;
/// A writer checks this often whether the receiver is lost.
constexpr int lostCheckMilliseconds = 100;

std::shared_ptr<char> allocate(uint64_t bytes) {
  void *memory = ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
  return std::shared_ptr<char>(static_cast<char *>(memory), [](char *held) { ::operator delete(held, std::align_val_t(alignment)); });
}

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

/// Returns the stretch [begin, end) of a payload that a lane brings.
std::pair<uint64_t, uint64_t> stretchOf(uint64_t bytes, size_t lane, size_t lanes) {
  auto boundary = [&](size_t each) { return each == lanes ? bytes : bytes / lanes * each; };
  return {boundary(lane), boundary(lane + 1)};
}

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

StatusOr<MeshOptions> meshOptionsFromEnvironment() {
  MeshOptions options;
  for (const std::string &value : {environment::text("MILLRACE_INTERFACE"), environment::text("GLOO_SOCKET_IFNAME")})
    if (!value.empty()) {
      options.interface = value;
      break;
    }
  if (const std::string name = environment::text("MILLRACE_TRANSPORT"); !name.empty()) {
    const bool isCarrier = name == "mpi" || name == "gloo" || name.find('/') != name.npos;
    if (name != "tcp" && name != "unix" && name != "auto" && !isCarrier)
      return invalidArgument("MILLRACE_TRANSPORT is '" + name +
                             "'; expects auto (memory and sockets of the host where possible), unix (its sockets alone), tcp, mpi, gloo or the path of "
                             "a carrier");
    if (isCarrier)
      options.carrier = name;
    options.usesUnixSockets = name != "tcp";
    options.usesSharedMemory = name == "auto";
  }
  if (std::string host = environment::text("MILLRACE_HOST_ID"); !host.empty())
    options.host = std::move(host);
  if (std::string secret = environment::text("MILLRACE_SECRET"); !secret.empty()) {
    options.secret = std::move(secret);
    if (options.secret.size() < shortestSecret) // a short secret could be guessed from the proofs in the store
      return invalidArgument("MILLRACE_SECRET has " + std::to_string(options.secret.size()) + " characters; expects at least " +
                             std::to_string(shortestSecret) + " that nobody can guess, for example of `openssl rand -hex 32`");
  }
  if (const std::string value = environment::text("MILLRACE_TCP_LANES"); !value.empty()) {
    char *end;
    const unsigned long lanes = std::strtoul(value.c_str(), &end, 10);
    if (*end || value[0] < '0' || value[0] > '9' || lanes > maxLanes)
      return invalidArgument("MILLRACE_TCP_LANES is '" + value + "'; expects a number from 0 to " + std::to_string(maxLanes));
    options.lanes = uint32_t(lanes);
  }
  if (const std::string text = environment::text("MILLRACE_LIVENESS"); !text.empty()) {
    if (text != "0" && text != "1")
      return invalidArgument("MILLRACE_LIVENESS is '" + text + "'; expects 0 or 1");
    options.watches = text == "1";
  }
  return options;
}

std::string Mesh::describe(uint32_t rank) const {
  const Peer &peer = *peers[rank];
  return "process " + std::to_string(rank) + " (pid " + std::to_string(peer.pid) + " on host " + peer.host + ")";
}

void Mesh::start(Receiver toReceive, Lost toLose) {
  receiver = std::move(toReceive);
  lost = std::move(toLose);
  uint32_t here = 0;
  for (auto &peer : peers) {
    peer->lastHeard = Clock::now();
    here += peer->bootId == peers[rank()]->bootId;
  }
  isPollingAllowed = here <= availableCpus();
  owner = ::getpid();
  thread = std::thread([this] { loop(); });
}

void Mesh::stop(const std::string &failure) {
  if (!thread.joinable())
    return;
  if (owner != ::getpid()) {
    thread.detach();
    return;
  }
  sayGoodbye(failure);
  isStopping = true;
  wakeUp();
  thread.join();
  if (carrier) // the thread has ended, so no other thread writes the peers' status
    carrier->end(std::all_of(peers.begin(), peers.end(), [](const auto &peer) { return peer->status.ok() || peer->saidGoodbye; }));
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
    if (!(memory = allocate(bytes)))
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

void Mesh::loop() {
  auto add = [&](const Socket &socket, Which which, uint32_t rank) {
    if (!socket)
      return;
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = tagOf(which, rank);
    ::epoll_ctl(polling.descriptor(), EPOLL_CTL_ADD, socket.descriptor(), &event);
  };
  add(wake, Wake, 0);
  for (uint32_t rank = 0; rank < size(); ++rank) {
    add(peers[rank]->data, Data, rank);
    add(peers[rank]->control, Control, rank);
    add(peers[rank]->process, Process, rank);
    for (size_t lane = 0; lane < peers[rank]->lanes.size(); ++lane) { // no payload is expected of the lanes yet
      epoll_event event = {};
      event.data.u64 = tagOf(Lane, rank, lane);
      ::epoll_ctl(polling.descriptor(), EPOLL_CTL_ADD, peers[rank]->lanes[lane].descriptor(), &event);
    }
  }
  auto remove = [&](const Socket &socket) { ::epoll_ctl(polling.descriptor(), EPOLL_CTL_DEL, socket.descriptor(), nullptr); };
  auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings.heartbeatSeconds));
  Deadline lastBeat = Clock::now() - period, lastTurn = Clock::now();
  while (true) {
    epoll_event events[64];
    int wait = std::max(1, int(settings.heartbeatSeconds * 1000 / 2));
    int count = ::epoll_wait(polling.descriptor(), events, 64, numCarried ? 0 : wait);
    if (numCarried)
      for (uint32_t rank = 0; rank < size(); ++rank)
        readData(rank, /*isOwnThread=*/true);
    Deadline now = Clock::now();
    if (now - lastTurn > 3 * period) // this process was stopped or starved itself: the peers are not at fault
      for (auto &peer : peers)
        peer->lastHeard += now - lastTurn;
    lastTurn = now;
    for (int i = 0; i < count; ++i) {
      auto which = Which(events[i].data.u64 & 0xff);
      auto rank = uint32_t(events[i].data.u64 >> 16);
      Peer &peer = *peers[rank];
      if (which == Wake) {
        if (isStopping)
          return;
        uint64_t count;
        (void)!::read(wake.descriptor(), &count, sizeof count);
        for (uint32_t each = 0; each < size(); ++each)
          tellSpoiled(each);
        continue;
      }
      if (which == Data && !readData(rank, /*isOwnThread=*/true))
        remove(peer.data);
      if (which == Lane) {
        bool isOpen = readData(rank, /*isOwnThread=*/true);
        if (!isOpen || events[i].events & (EPOLLHUP | EPOLLERR)) // the other connections give the reason
          remove(peer.lanes[events[i].data.u64 >> 8 & 0xff]);
      }
      if (which == Control && !readControl(rank))
        remove(peer.control);
      if (which == Process) {
        remove(peer.process);
        // Messages that the process has sent before it ended come first: a goodbye, and messages that other threads wait for.
        while (readControl(rank) && !peer.saidGoodbye) {
          pollfd more{peer.control.descriptor(), POLLIN, 0};
          if (::poll(&more, 1, 0) <= 0)
            break;
        }
        if (!peer.saidGoodbye)
          lose(rank, Status(Code::Unavailable, describe(rank) + " has ended without a word: it was killed, crashed or left by exit"), true);
      }
    }
    if (now - lastBeat >= period) {
      lastBeat = now;
      sayAlive();
      if (settings.watches)
        watch(now);
    }
  }
}

void Mesh::wakeUp() {
  uint64_t one = 1;
  (void)!::write(wake.descriptor(), &one, sizeof one);
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
      } else if (header.payloadBytes && !(message.payload = allocate(header.payloadBytes)))
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
