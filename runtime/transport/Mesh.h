// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mesh.h - Processes of a job, connected with each other --------------===//
// Every process has two connections to every other one: for messages, in order, of any size; and for signs of life. Processes of one host
// use UNIX sockets and leave large messages in memory that the receiver maps (SharedMemory.h), others use TCP, over several connections where a
// message is large: networks give each a share. One thread reads them all and watches: it is native and waits for nobody, so that a process which
// compiles or holds Python's lock counts as alive.
//
// A process is lost when it ends without a word (its connection or its process ends), is stopped (SIGSTOP), or is not heard of for some
// seconds. Whoever notices tells all others, so that all name the same first cause. Who leaves in order says so and is not lost, but nothing
// can be sent to it.
#pragma once
#include "runtime/transport/Carrier.h"
#include "runtime/transport/SharedMemory.h"
#include "runtime/transport/Socket.h"
#include "runtime/transport/Store.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <sys/uio.h>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace millrace::runtime::transport {

struct MeshOptions {
  uint32_t rank = 0, size = 1;
  double connectSeconds = 300; ///< until all are there
  /// Name or address of the network interface that other hosts reach this process at. Nobody but this host does without one.
  std::string interface = "127.0.0.1";
  std::string host; ///< the same for processes of one host; "": what the system has for that
  bool usesUnixSockets = true;  ///< between processes of one host
  bool usesSharedMemory = true; ///< likewise, in addition
  uint64_t sharedLimit = uint64_t(2) << 30; ///< bytes of memory that messages of this process wait in; what is more goes through sockets
  uint32_t lanes = 4; ///< further TCP connections to each process of another host, at most maxLanes, which large messages are spread over
  std::string secret;  ///< of the job, the same in all processes: nobody gets in without it; "" for none
  std::string carrier; ///< the library that carries large messages (Carrier::load); "" for none
  bool watches = true;         ///< false for debuggers: a process that is stopped or silent is waited for
  double heartbeatSeconds = 0.5;
  double stoppedSeconds = 2.5;     ///< of silence, until a process of this host that is stopped counts as lost
  double unreachableSeconds = 4;   ///< of silence, until one of another host does
  double starvedSeconds = 60;      ///< of silence, until one of this host does that is neither stopped nor gone
};

/// Of MeshOptions::lanes.
constexpr uint32_t maxLanes = 16;

/// MILLRACE_INTERFACE, else GLOO_SOCKET_IFNAME: the interface. MILLRACE_TRANSPORT=tcp: no UNIX sockets; =unix: no shared memory; =mpi, =gloo
/// or a path: a carrier. MILLRACE_TCP_LANES: the further connections. MILLRACE_HOST_ID: the host. MILLRACE_SECRET: the secret. MILLRACE_LIVENESS=0:
/// nobody is lost by being silent.
StatusOr<MeshOptions> meshOptionsFromEnvironment();
/// Whether a process of this host is stopped, by a signal or a debugger.
bool isStopped(int pid);

struct Message {
  uint32_t kind = 0; ///< what it means is up to the receiver
  std::string head;
  std::shared_ptr<char> payload; ///< aligned to 64 bytes; null for none
  uint64_t payloadBytes = 0;
};

class Connector;

class Mesh {
public:
  /// Is called by the mesh's thread, or one that polls, for each sender in the order of sending, and must not wait or send.
  using Receiver = std::function<void(uint32_t from, Message)>;
  /// Likewise, once for a process that is lost or has left.
  using Lost = std::function<void(uint32_t rank, const Status &)>;

  /// Waits until all processes of the job are connected. `note` is given to all others (see noteOf).
  static StatusOr<std::unique_ptr<Mesh>> connect(Store &store, const MeshOptions &options, const std::string &note = "");
  ~Mesh() { stop(); }

  uint32_t rank() const { return settings.rank; }
  uint32_t size() const { return settings.size; }
  const std::string &noteOf(uint32_t rank) const { return peers[rank]->note; }
  /// A number that processes of one host have in common.
  const std::string &hostOf(uint32_t rank) const { return peers[rank]->bootId; }
  /// "process 1 (pid 4711 on host alpha)".
  std::string describe(uint32_t rank) const;

  /// Starts the thread. To be called once, before anything is sent.
  void start(Receiver receiver, Lost lost);
  /// Says goodbye to all, with the reason if it is a failure, and waits for the thread's end. Not to be called by the thread itself, which would be the last to hold the mesh.
  void stop(const std::string &failure = "");

  /// Returns when the bytes are on their way: they have been read from `payload`. An error if `to` is lost or has left. `copied`: where a
  /// payload that is sent to several processes keeps its copy in shared memory, empty at first.
  Status send(uint32_t to, uint32_t kind, std::string_view head, const std::vector<iovec> &payload = {}, SharedLease *copied = nullptr);
  /// Whether a thread that waits for a message may look for it itself for a moment: there are processors enough for all processes of the host.
  bool mayPoll() const { return isPollingAllowed; }
  /// Hands over what has come from these processes, without waiting, instead of the mesh's thread, whom that would cost two changes of threads.
  /// Between beginPolling() and endPolling() that one does not look.
  void beginPolling(const std::vector<uint32_t> &ranks);
  void poll(const std::vector<uint32_t> &ranks);
  void endPolling(const std::vector<uint32_t> &ranks);
  /// What takes `rank` long, as it said last (Activity.h): "compiles a program"; "" for nothing.
  std::string activityOf(uint32_t rank) const;
  /// Why nothing can be sent to `rank`; ok if it can.
  Status statusOf(uint32_t rank) const;
  /// That of the first of `ranks` that was lost, which may be why others were; and which one it is.
  std::pair<uint32_t, Status> firstLoss(const std::vector<uint32_t> &ranks) const;

private:
  struct Peer {
    std::string host, bootId, note;
    int pid = 0;
    bool isOnThisHost = false; ///< `pid` means the same here as there
    bool sharesMemory = false; ///< files can be sent to it
    Socket data, control, process; ///< the last one is a pidfd; empty unless isOnThisHost
    std::vector<Socket> lanes;     ///< of a process of another host
    mutable std::mutex mutex;      ///< of what follows
    Status status;
    std::string activity;
    uint64_t lossNumber = 0; ///< how many were lost before, and this one
    std::mutex sending, controlling; ///< one writer at a time
    std::unordered_set<uint32_t> given; ///< the blocks whose files it has; guarded by sending
    std::mutex arming; ///< of what follows
    uint32_t pollers = 0;
    bool isSpread = false; ///< the payload that is being read comes over the lanes; `data` rests
    std::recursive_mutex reading; ///< of `data`, and what stands below of it; held while messages are handed over
    std::string spoiled;          ///< why nothing more can be read; for the mesh's thread to tell
    // Of the mesh's thread.
    Deadline lastHeard;
    bool isDrained = false; ///< everything that it ever sent has been read, or is being read
    bool saidGoodbye = false;
    std::string incoming;        ///< the part of a message's first bytes that is there
    std::string controlIncoming; ///< the same of the other connection
    std::optional<Message> message; ///< whose bytes are being read
    uint64_t filled = 0;            ///< of its head and payload
    bool isInPlace = false;         ///< its payload is in shared memory
    Carrier::Request carried = nullptr; ///< which brings its payload
    bool isCarried = false;             ///< the carrier brings it
    std::vector<uint64_t> laneFilled;   ///< what has come over each lane of a payload that is spread over them; empty for others
    std::vector<Socket> files;      ///< that came with its first bytes
    bool lacksFiles = false;        ///< some were lost
    std::unordered_map<uint32_t, std::shared_ptr<SharedMapping>> blocks; ///< of the peer, by their numbers
  };
  friend class Connector;
  explicit Mesh(const MeshOptions &options) : settings(options) {}
  void loop();
  bool readData(uint32_t rank, bool isOwnThread);
  Status sendByCarrier(uint32_t to, const std::vector<iovec> &payload, uint64_t bytes);
  Status sendOverLanes(uint32_t to, const std::vector<iovec> &payload, uint64_t bytes);
  Status brokenConnection(uint32_t to, int error) const;
  std::optional<bool> readLanes(uint32_t rank, size_t &taken);
  void spread(uint32_t rank, bool isSpread);
  Status openBlock(Peer &peer, uint32_t block, Message &message);
  bool readControl(uint32_t rank);
  void drain(uint32_t rank);
  void handleControl(uint32_t rank, uint32_t kind, std::string_view body);
  void sendControl(uint32_t rank, uint32_t kind, std::string_view body);
  void sayAlive();
  void sayGoodbye(const std::string &failure);
  void watch(Deadline now);
  void arm(uint32_t rank);
  void wakeUp();
  void tellSpoiled(uint32_t rank);
  void lose(uint32_t rank, const Status &status, bool tellOthers);

  const MeshOptions settings;
  std::unique_ptr<SharedBlocks> shared; ///< null without shared memory
  std::unique_ptr<Carrier> carrier;     ///< may be null
  std::atomic<uint32_t> numCarried{0};  ///< messages that it is bringing
  std::vector<std::unique_ptr<Peer>> peers; ///< by rank; that of this process has no connections
  Receiver receiver;
  Lost lost;
  Socket wake;    ///< an eventfd: the thread looks whether it has to end, and whom it has to lose
  Socket polling; ///< an epoll instance: what the thread waits for
  std::atomic<bool> isStopping{false};
  bool isPollingAllowed = false;
  std::thread thread;
  uint64_t losses = 0; ///< of the mesh's thread
  int owner = 0; ///< the process that started the thread: a fork of it has the connections, but speaks for nobody
};

} // namespace millrace::runtime::transport
