// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Connector.cpp - How processes find and connect to each other --------===//
// Each process listens, and puts into the store what others need to connect: its addresses, who it is, and a secret of its own. It connects to
// those of lower rank and takes the connections of those of higher rank. Both ends show that they know the secret of the other: nobody without access
// to the store gets in, or passes for a process of the job. Where the job has a secret (MILLRACE_SECRET), nobody without that one does either,
// whatever the store tells: what a process puts there bears a proof of it, and connections show what only who knows it can make of the secrets in the
// store. Listening ends when all are there.
#include "runtime/base/Hash.h"
#include "runtime/transport/Mesh.h"
#include "runtime/transport/Wire.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace millrace::runtime::transport {
namespace {

/// Version of the messages between processes. A process with another version is refused with an error that names both.
constexpr uint32_t protocolVersion = 4;
constexpr size_t secretBytes = 32;
/// A caller that has not proved within this time that it knows the secret is disconnected; at most so many callers wait at once.
constexpr double helloSeconds = 10;
constexpr size_t maxCallers = 256;
/// Time between two searches of the store for processes that will not come.
constexpr double lookSeconds = 1;
/// A thread that has waited for other processes for this long reports it on standard error.
constexpr double toldSeconds = 5;

using Secret = std::array<char, secretBytes>;

/// The purpose of a connection: Lanes + i is lane i.
enum Channel : uint32_t { Data, Control, Lanes };

struct Hello {
  uint32_t magic, version, from, channel;
  uint32_t lanes; ///< number of lanes that follow
  Secret secretOfListener, secretOfCaller; ///< proofs of these secrets
};
struct Welcome {
  uint32_t magic, version;
  Secret secretOfCaller;
};
/// The roles for which each end proves that it knows the secrets: an end cannot send back a proof that it has received.
constexpr std::string_view asCaller = "caller", asListener = "listener";
constexpr uint32_t helloMagic = 0x4d524831, welcomeMagic = 0x4d525731;

StatusOr<std::string> randomBytes(size_t size) {
  std::string bytes(size, '\0');
  if (::getrandom(bytes.data(), size, 0) != ssize_t(size))
    return systemError("get random bytes", errno);
  return bytes;
}

/// Compares two secrets in a time that does not depend on their difference.
bool isEqual(const Secret &a, const Secret &b) {
  char difference = 0;
  for (size_t i = 0; i < secretBytes; ++i)
    difference |= char(a[i] ^ b[i]);
  return difference == 0;
}

Secret secretFrom(std::string_view bytes) {
  Secret secret = {};
  std::memcpy(secret.data(), bytes.data(), std::min(bytes.size(), secretBytes));
  return secret;
}

/// Returns the key under which a process leaves secretMark(); unlike the value of keyOf(), the mark stays when the process has left.
std::string secretKeyOf(uint32_t rank) { return "millrace/secret/" + std::to_string(rank); }

/// Returns the proof that the process that puts `bytes` into the store as process `rank` has the job's secret; "" if the job has none.
std::string signatureOf(std::string_view jobSecret, uint32_t rank, std::string_view bytes) {
  return jobSecret.empty() ? std::string() : hmacSha256(jobSecret, secretKeyOf(rank) + '/' + std::string(bytes));
}

/// Returns the mark that tells other processes with the job's secret whether this one has the same. Some stores hold no empty text.
std::string secretMark(std::string_view jobSecret, uint32_t rank) { return "proof:" + toHex(signatureOf(jobSecret, rank, "mark")); }

/// Returns an id that all processes of one host share until the host boots again.
std::string bootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string hostName() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// The value that a process puts into the store.
struct Card {
  std::string bootId, host, unixName, address, secret, note;
  uint32_t pid = 0;
  uint16_t port = 0;
  std::string bytes, signature; ///< the encoding of the fields above, and its signatureOf()

  /// Encodes the value that process `rank` of the job with this secret puts into the store.
  std::string encode(std::string_view jobSecret, uint32_t rank) const {
    Writer writer;
    writer.number(protocolVersion);
    for (const std::string *text : {&bootId, &host, &unixName, &address, &secret, &note})
      writer.text(*text);
    writer.number(pid);
    writer.number(port);
    writer.text(signatureOf(jobSecret, rank, writer.bytes));
    // Some stores hold text only.
    return toHex(writer.bytes);
  }

  static StatusOr<Card> decode(std::string_view hex) {
    std::optional<std::string> bytes = fromHex(hex);
    if (!bytes)
      return dataLoss("what another process put into the store cannot be read");
    Reader reader(*bytes);
    Card card;
    if (uint32_t version = reader.number<uint32_t>(); version != protocolVersion)
      return failedPrecondition("another process speaks version " + std::to_string(version) + " of the protocol, this one " +
                                std::to_string(protocolVersion) + ": all need the same release of Millrace");
    for (std::string *text : {&card.bootId, &card.host, &card.unixName, &card.address, &card.secret, &card.note})
      *text = reader.text();
    card.pid = reader.number<uint32_t>();
    card.port = reader.number<uint16_t>();
    card.signature = reader.text();
    if (!reader.isComplete() || card.secret.size() != secretBytes)
      return dataLoss("what another process put into the store cannot be read");
    card.bytes = bytes->substr(0, bytes->size() - sizeof(uint32_t) - card.signature.size());
    return card;
  }
};

} // namespace

/// Connects one mesh.
class Connector {
public:
  Connector(Store &store, Mesh &mesh) : store(store), mesh(mesh), deadline(after(mesh.settings.connectSeconds)) {}

  Status run(const std::string &note) {
    MILLRACE_TRY(listen(note));
    for (uint32_t rank = 0; rank < mesh.rank(); ++rank)
      MILLRACE_TRY(call(rank));
    return takeCalls();
  }

private:
  Status listen(const std::string &note) {
    StatusOr<std::string> secret = randomBytes(secretBytes), name = randomBytes(16);
    if (!secret || !name)
      return secret ? name.status() : secret.status();
    StatusOr<std::string> address = addressOfInterface(mesh.settings.interface);
    if (!address)
      return address.status().withContext("MILLRACE_INTERFACE");
    own.bootId = mesh.settings.host.empty() ? bootId() : mesh.settings.host;
    own.host = hostName(), own.secret = *secret, own.note = note, own.pid = uint32_t(::getpid());
    own.address = *address;
    if (mesh.settings.usesUnixSockets) {
      own.unixName = "millrace-" + toHex(*name);
      StatusOr<Socket> socket = Socket::listenUnix(own.unixName);
      if (!socket)
        return socket.status();
      listeners.push_back(std::move(*socket));
    }
    StatusOr<Socket> socket = Socket::listenTcp(own.address, own.port);
    if (!socket)
      return socket.status();
    listeners.push_back(std::move(*socket));
    fill(mesh.rank(), own);
    const std::string cannotJoin = "process " + std::to_string(mesh.rank()) + " cannot join the job";
    MILLRACE_TRY(store.put(secretKeyOf(mesh.rank()), secretMark(mesh.settings.secret, mesh.rank())).withContext(cannotJoin));
    return store.put(keyOf(mesh.rank()), own.encode(mesh.settings.secret, mesh.rank())).withContext(cannotJoin);
  }

  /// Returns the proof, for a purpose, of knowing the secret of a card and that of the job. The secrets themselves are never sent.
  Secret shown(std::string_view purpose, const std::string &secretOfCard) const {
    return secretFrom(hmacSha256(hmacSha256(mesh.settings.secret, secretOfCard), purpose));
  }

  /// Returns an error unless the text that process `rank` has put into the store proves this process's secret, for which it would be `expected`.
  Status checkSecret(uint32_t rank, const std::string &shown, const std::string &expected, const std::string &ofNone) const {
    // Takes the same time whatever the difference is.
    if (shown.size() == expected.size() && hmacSha256(own.secret, shown) == hmacSha256(own.secret, expected))
      return Status();
    std::string text = shown == ofNone      ? " has no MILLRACE_SECRET, but this process has one"
                       : expected == ofNone ? " has a MILLRACE_SECRET, but this process has none"
                                            : " has another MILLRACE_SECRET than this process";
    const Mesh::Peer &peer = *mesh.peers[rank];
    return Status(Code::Unauthenticated, (peer.pid ? mesh.describe(rank) : "process " + std::to_string(rank) + " of " + std::to_string(mesh.size())) + text +
                                             ": it has to be the same in all processes of a job");
  }

  /// Decodes the store's value under keyOf(rank) for a process of this job.
  StatusOr<Card> cardFrom(uint32_t rank, const std::string &text) {
    if (text == leftMark) {
      if (std::optional<std::string> mark = store.tryGet(secretKeyOf(rank))) // the process may have left because its secret differs
        MILLRACE_TRY(checkSecret(rank, *mark, secretMark(mesh.settings.secret, rank), secretMark("", rank)));
      return hasLeft(rank);
    }
    StatusOr<Card> card = Card::decode(text);
    if (!card)
      return card.status();
    fill(rank, *card);
    MILLRACE_TRY(checkSecret(rank, card->signature, signatureOf(mesh.settings.secret, rank, card->bytes), ""));
    return card;
  }

  double secondsLeft() const { return std::max(0.0, std::chrono::duration<double>(deadline - Clock::now()).count()); }

  void fill(uint32_t rank, const Card &card) {
    Mesh::Peer &peer = *mesh.peers[rank];
    peer.host = card.host, peer.bootId = card.bootId, peer.note = card.note, peer.pid = int(card.pid);
  }

  Status hasLeft(uint32_t rank) const {
    return failedPrecondition("process " + std::to_string(rank) + " of " + std::to_string(mesh.size()) + " has ended without joining the others");
  }

  /// Waits for the card that the process of `rank` puts into the store, and returns it.
  StatusOr<Card> cardOf(uint32_t rank) {
    StatusOr<std::string> text = store.get(keyOf(rank), secondsLeft());
    if (!text)
      return text.status().withContext("process " + std::to_string(rank) + " of " + std::to_string(mesh.size()) + " has not come within " +
                                       std::to_string(int(mesh.settings.connectSeconds)) + " s");
    return cardFrom(rank, *text);
  }

  Status call(uint32_t rank) {
    StatusOr<Card> card = cardOf(rank);
    if (!card)
      return card.status();
    for (uint32_t channel = Data; channel < Lanes + mesh.peers[rank]->lanes.size(); ++channel) {
      StatusOr<Socket> socket = reach(*card);
      if (!socket)
        return socket.status().withContext(mesh.describe(rank) + " cannot be reached");
      if (channel == Data && !socket->peerProcess()) // a UNIX socket identifies the process at its other end
        mesh.peers[rank]->lanes.resize(lanes());
      Hello hello{helloMagic, protocolVersion,           mesh.rank(),          channel, uint32_t(mesh.peers[rank]->lanes.size()),
                  shown(asCaller, card->secret), shown(asCaller, own.secret)};
      Status status = socket->write(&hello, sizeof hello, deadline);
      Welcome welcome;
      if (status.ok())
        MILLRACE_TRY(awaitAnswer(*socket, rank, *card));
      if (status.ok())
        status = socket->read(&welcome, sizeof welcome, deadline);
      if (!status.ok())
        return status.withContext(mesh.describe(rank) + " does not answer");
      if (welcome.magic != welcomeMagic || !isEqual(welcome.secretOfCaller, shown(asListener, own.secret)))
        return Status(Code::Unauthenticated, "who answers in the place of " + mesh.describe(rank) + " is not of this job");
      keep(rank, channel, std::move(*socket));
    }
    return Status();
  }

  /// Waits until the connection to a listening process can be read or is closed. A process that is stopped does not answer.
  Status awaitAnswer(const Socket &socket, uint32_t rank, const Card &card) {
    while (Clock::now() < deadline) {
      pollfd answer{socket.descriptor(), POLLIN, 0};
      if (::poll(&answer, 1, int(lookSeconds * 1000)) > 0)
        break;
      MILLRACE_TRY(store.interrupted());
      MILLRACE_TRY(checkGoesOn(rank, card));
    }
    return Status();
  }

  /// Returns an error if connected processes are gone or stopped. Called every lookSeconds.
  Status checkTheyStay() {
    std::string gone; // lists all of them: one may have ended because of another
    for (uint32_t rank = 0; rank < mesh.size(); ++rank) {
      const Mesh::Peer &peer = *mesh.peers[rank];
      if (rank == mesh.rank() || !isConnected(rank))
        continue;
      MILLRACE_TRY(checkGoesOn(rank, peer.bootId, peer.pid));
      char byte;
      if (::recv(peer.data.descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) // the other end has closed the connection
        gone += (gone.empty() ? "" : ", and ") + mesh.describe(rank) + " has ended";
    }
    return gone.empty() ? Status() : Status(Code::Unavailable, gone + " before all processes had come");
  }

  Status checkGoesOn(uint32_t rank, const Card &card) {
    fill(rank, card);
    return checkGoesOn(rank, card.bootId, int(card.pid));
  }

  /// Returns an error if a process of this host has been stopped for MeshOptions::stoppedSeconds. Called every lookSeconds.
  Status checkGoesOn(uint32_t rank, const std::string &host, int pid) {
    if (!mesh.settings.watches || host != own.bootId || !isStopped(pid))
      stoppedLooks.erase(rank);
    else if (++stoppedLooks[rank] * lookSeconds > mesh.settings.stoppedSeconds)
      return Status(Code::Unavailable,
                    mesh.describe(rank) + " is stopped (SIGSTOP or a debugger; MILLRACE_LIVENESS=0 waits for it), although not all processes have come");
    return Status();
  }

  StatusOr<Socket> reach(const Card &card) {
    if (card.bootId == own.bootId && mesh.settings.usesUnixSockets && !card.unixName.empty())
      if (StatusOr<Socket> socket = Socket::connectUnix(card.unixName))
        return socket; // otherwise the process is in another network namespace
    bool isLoopback = card.address.rfind("127.", 0) == 0 || card.address == "::1";
    StatusOr<Socket> socket = Socket::connectTcp(card.address, card.port, deadline);
    if (!socket && isLoopback)
      return socket.status().withContext("it can be reached at " + card.address + " only, from its own host: set MILLRACE_INTERFACE there to "
                                         "the network interface that the hosts share");
    return socket;
  }

  void keep(uint32_t rank, uint32_t channel, Socket socket) {
    Mesh::Peer &peer = *mesh.peers[rank];
    // A process in another container has a pid that means another process here, or none.
    if (!peer.process && socket.peerProcess() == peer.pid) {
      peer.process = Socket(int(::syscall(SYS_pidfd_open, peer.pid, 0)));
      peer.isOnThisHost = bool(peer.process);
    }
    // A UNIX socket identifies the process at its other end.
    if (channel == Data)
      peer.sharesMemory = mesh.shared && socket.peerProcess() != 0;
    (channel == Data ? peer.data : channel == Control ? peer.control : peer.lanes[channel - Lanes]) = std::move(socket);
  }

  /// Returns the number of lanes to another host. The connections with all processes take at most half of the file descriptors that this process may
  /// open.
  uint32_t lanes() const {
    rlimit limit = {};
    if (mesh.settings.carrier.empty() && ::getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        uint64_t(mesh.size()) * (Lanes + mesh.settings.lanes) <= limit.rlim_cur / 2)
      return std::min(mesh.settings.lanes, maxLanes);
    return 0;
  }

  bool isConnected(uint32_t rank) const {
    const Mesh::Peer &peer = *mesh.peers[rank];
    return peer.data && peer.control && std::all_of(peer.lanes.begin(), peer.lanes.end(), [](const Socket &lane) { return bool(lane); });
  }

  /// A caller that has connected, but not proved yet which process it is.
  struct Caller {
    Socket socket;
    Deadline until;
    Hello hello;
    size_t filled = 0;
  };

  /// Waits until all processes of higher rank have connected. Other callers are disconnected.
  Status takeCalls() {
    auto missing = [&] {
      std::vector<uint32_t> ranks;
      for (uint32_t rank = mesh.rank() + 1; rank < mesh.size(); ++rank)
        if (!isConnected(rank))
          ranks.push_back(rank);
      return ranks;
    };
    auto nameOf = [&](const std::vector<uint32_t> &ranks) {
      std::string text = ranks.size() == 1 ? "process " : "processes ";
      for (uint32_t rank : ranks)
        text += (rank == ranks.front() ? "" : ", ") + std::to_string(rank);
      return text + " of " + std::to_string(mesh.size());
    };
    std::vector<Caller> callers;
    Deadline nextLook = after(lookSeconds);
    const Deadline toldFrom = after(toldSeconds);
    bool isTold = false;
    while (true) {
      std::vector<uint32_t> absent = missing();
      if (absent.empty())
        return Status();
      if (Clock::now() >= nextLook) {
        nextLook = after(lookSeconds);
        MILLRACE_TRY(store.interrupted());
        for (uint32_t rank : absent) {
          std::optional<std::string> text = store.tryGet(keyOf(rank));
          if (!text)
            continue;
          StatusOr<Card> card = cardFrom(rank, *text);
          if (!card)
            return card.status();
          // A process listens until all have connected, this one included: if its host refuses a connection, the process is gone.
          if (Socket::isRefused(card->address, uint16_t(card->port)))
            return Status(Code::Unavailable, mesh.describe(rank) + " has ended before all processes had come");
          MILLRACE_TRY(checkGoesOn(rank, *card));
        }
        MILLRACE_TRY(checkTheyStay()); // checked last: a connected process may have ended because another one has left
      }
      if (Clock::now() >= deadline)
        return deadlineExceeded(nameOf(absent) + (absent.size() == 1 ? " has" : " have") + " not come within " +
                                std::to_string(int(mesh.settings.connectSeconds)) + " s");
      if (!isTold && Clock::now() >= toldFrom) {
        isTold = true;
        std::fprintf(stderr, "millrace: for %g s process %u has waited for %s, which %s not come\n", toldSeconds, mesh.rank(), nameOf(absent).c_str(),
                     absent.size() == 1 ? "has" : "have");
      }
      std::vector<pollfd> polls;
      const bool isFull = callers.size() >= maxCallers; // further callers wait in the kernel's queue
      for (const Socket &listener : listeners)
        polls.push_back({isFull ? -1 : listener.descriptor(), POLLIN, 0});
      for (const Caller &caller : callers)
        polls.push_back({caller.socket.descriptor(), POLLIN, 0});
      ::poll(polls.data(), polls.size(), 100);
      for (size_t i = 0; i < callers.size();) {
        if (answer(callers[i]))
          callers.erase(callers.begin() + long(i));
        else
          ++i;
      }
      for (const Socket &listener : listeners)
        while (callers.size() < maxCallers) {
          Socket socket = listener.accept();
          if (!socket && (errno == EMFILE || errno == ENFILE))
            return systemError("take the connection of another process (`ulimit -n` shows how many files and connections this one may have open)", errno);
          if (!socket)
            break;
          callers.push_back({std::move(socket), after(helloSeconds), {}});
        }
    }
  }

  /// Handles a caller's message. Returns true if the caller is accepted or disconnected.
  bool answer(Caller &caller) {
    while (caller.filled < sizeof(Hello)) {
      ssize_t got = ::read(caller.socket.descriptor(), reinterpret_cast<char *>(&caller.hello) + caller.filled, sizeof(Hello) - caller.filled);
      if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return Clock::now() >= caller.until;
      if (got <= 0)
        return true;
      caller.filled += size_t(got);
    }
    const Hello &hello = caller.hello;
    if (hello.magic != helloMagic || hello.version != protocolVersion || !isEqual(hello.secretOfListener, shown(asCaller, own.secret)) ||
        hello.from <= mesh.rank() || hello.from >= mesh.size() || hello.lanes > maxLanes || hello.channel >= Lanes + hello.lanes)
      return true;
    std::vector<Socket> &lanes = mesh.peers[hello.from]->lanes;
    if (hello.channel == Data && lanes.empty())
      lanes.resize(hello.lanes);
    else if (hello.lanes != lanes.size())
      return true;
    // The process knows the secret of this one's card from the store, where its own card is, too.
    StatusOr<Card> card = cardOf(hello.from);
    if (!card || !isEqual(hello.secretOfCaller, shown(asCaller, card->secret)))
      return true;
    Welcome welcome{welcomeMagic, protocolVersion, shown(asListener, card->secret)};
    if (caller.socket.write(&welcome, sizeof welcome, after(helloSeconds)).ok())
      keep(hello.from, hello.channel, std::move(caller.socket));
    return true;
  }

  Store &store;
  Mesh &mesh;
  const Deadline deadline;
  Card own;
  std::vector<Socket> listeners;
  std::map<uint32_t, int> stoppedLooks; ///< how many consecutive checks found a process stopped
};

StatusOr<std::unique_ptr<Mesh>> Mesh::connect(Store &store, const MeshOptions &options, const std::string &note) {
  if (options.rank >= options.size)
    return invalidArgument("rank " + std::to_string(options.rank) + " of " + std::to_string(options.size) + " processes");
  std::unique_ptr<Mesh> mesh(new Mesh(options));
  if (options.usesUnixSockets && options.usesSharedMemory && options.carrier.empty())
    mesh->shared = std::make_unique<SharedBlocks>(options.sharedLimit);
  for (uint32_t rank = 0; rank < options.size; ++rank)
    mesh->peers.push_back(std::make_unique<Peer>());
  mesh->wake = Socket(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  mesh->polling = Socket(::epoll_create1(EPOLL_CLOEXEC));
  if (!mesh->wake || !mesh->polling)
    return systemError("watch the connections of a job", errno);
  MILLRACE_TRY(Connector(store, *mesh).run(note));
  if (!options.carrier.empty() && options.size > 1) {
    StatusOr<std::unique_ptr<Carrier>> carrier = Carrier::load(options.carrier, options.rank, options.size, store, options.connectSeconds);
    if (!carrier)
      return carrier.status();
    mesh->carrier = std::move(*carrier);
  }
  return mesh;
}

} // namespace millrace::runtime::transport
