// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mesh.cpp - The thread that reads the connections to other processes -===//
// MeshSend.cpp sends messages, MeshReceive.cpp reads them, and MeshLiveness.cpp exchanges signs of life and finds lost processes.
#include "runtime/base/Cpu.h"
#include "runtime/transport/MeshFrames.h"

#include <algorithm>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace millrace::runtime::transport {

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

} // namespace millrace::runtime::transport
