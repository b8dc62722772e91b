// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mesh.h - Connections between the processes of a job -----------------===//
// Every process has two connections to every other one: one for messages of any size, in order, and one for signs of life. Processes of one host use
// UNIX sockets and leave large messages in memory that the receiver maps (SharedMemory.h). Other processes use TCP, with several connections for
// large messages, because networks give each connection a share of the bandwidth. One native thread reads all connections. It waits for no other
// thread, so that a process that compiles or holds Python's lock counts as alive.
//
// A process is lost when it ends without leaving (its connection or the process ends), is stopped (SIGSTOP), or sends nothing for some seconds. The
// process that notices the loss tells all others, so that all report the same first cause. A process that leaves announces it and is not lost, but
// nothing can be sent to it.
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
  double connectSeconds = 300; ///< timeout until all processes are connected
  /// The name or address of the network interface at which other hosts reach this process. The default is reachable from this host only.
  std::string interface = "127.0.0.1";
  std::string host; ///< an identifier that processes of one host share; "" for the system's own
  bool usesUnixSockets = true;  ///< between processes of one host
  bool usesSharedMemory = true; ///< between processes of one host, for large messages
  uint64_t sharedLimit = uint64_t(2) << 30; ///< bytes of shared memory for messages of this process; further messages use sockets
  uint32_t lanes = 4; ///< additional TCP connections to each process of another host, at most maxLanes, for large messages
  std::string secret;  ///< secret of the job, the same in all processes, without which no process can connect; "" for none
  std::string carrier; ///< the library that sends large messages (Carrier::load); "" for none
  bool watches = true;         ///< false for debuggers: stopped and silent processes are not lost
  double heartbeatSeconds = 0.5;
  double stoppedSeconds = 2.5;     ///< silence after which a stopped process of this host counts as lost
  double unreachableSeconds = 4;   ///< silence after which a process of another host counts as lost
  double starvedSeconds = 60;      ///< silence after which any process of this host counts as lost
};

/// The largest MeshOptions::lanes.
constexpr uint32_t maxLanes = 16;

/// Reads MILLRACE_INTERFACE, else GLOO_SOCKET_IFNAME: the interface. MILLRACE_TRANSPORT=tcp: no UNIX sockets; =unix: no shared memory; =mpi, =gloo or
/// a path: a carrier. MILLRACE_TCP_LANES: the additional connections. MILLRACE_HOST_ID: the host. MILLRACE_SECRET: the secret. MILLRACE_LIVENESS=0:
/// silent processes are not lost.
StatusOr<MeshOptions> meshOptionsFromEnvironment();
/// Returns true if a process of this host is stopped, by a signal or a debugger.
bool isStopped(int pid);

struct Message {
  uint32_t kind = 0; ///< defined by the receiver
  std::string head;
  std::shared_ptr<char> payload; ///< aligned to 64 bytes; null for none
  uint64_t payloadBytes = 0;
};

class Connector;

class Mesh {
public:
  /// Receives messages, for each sender in the order of sending. The mesh's thread, or a polling one, calls it, so that it must neither wait nor
  /// send.
  using Receiver = std::function<void(uint32_t from, Message)>;
  /// Called likewise, once for a process that is lost or has left.
  using Lost = std::function<void(uint32_t rank, const Status &)>;

  /// Waits until all processes of the job are connected. `note` is sent to all others (see noteOf).
  static StatusOr<std::unique_ptr<Mesh>> connect(Store &store, const MeshOptions &options, const std::string &note = "");
  ~Mesh() { stop(); }

  uint32_t rank() const { return settings.rank; }
  uint32_t size() const { return settings.size; }
  const std::string &noteOf(uint32_t rank) const { return peers[rank]->note; }
  /// Returns an identifier that processes of one host share.
  const std::string &hostOf(uint32_t rank) const { return peers[rank]->bootId; }
  /// Returns, for example, "process 1 (pid 4711 on host alpha)".
  std::string describe(uint32_t rank) const;

  /// Starts the thread. Must be called once, before anything is sent.
  void start(Receiver receiver, Lost lost);
  /// Leaves all processes, with the reason if it is a failure, and waits for the thread's end. Must not be called by the thread itself.
  void stop(const std::string &failure = "");

  /// Sends a message. Returns when `payload` has been read. Errors: `to` is lost or has left. `copied`, empty at first, keeps the copy in shared
  /// memory of a payload that is sent to several processes.
  Status send(uint32_t to, uint32_t kind, std::string_view head, const std::vector<iovec> &payload = {}, SharedLease *copied = nullptr);
  /// Returns true if a thread that waits for a message may poll for a short time: there are enough processors for all processes of the host.
  bool mayPoll() const { return isPollingAllowed; }
  /// Delivers the messages that have arrived from these processes, without waiting. Between beginPolling() and endPolling() the mesh's thread does
  /// not read their connections, which saves two changes of threads per message.
  void beginPolling(const std::vector<uint32_t> &ranks);
  void poll(const std::vector<uint32_t> &ranks);
  void endPolling(const std::vector<uint32_t> &ranks);
  /// Returns the long-running work that `rank` last announced (Activity.h): "compiles a program"; "" for none.
  std::string activityOf(uint32_t rank) const;
  /// Returns why nothing can be sent to `rank`; Ok if it can.
  Status statusOf(uint32_t rank) const;
  /// Returns which of `ranks` was lost first, which may be the cause of the other losses, and its status.
  std::pair<uint32_t, Status> firstLoss(const std::vector<uint32_t> &ranks) const;

private:
  struct Peer {
    std::string host, bootId, note;
    int pid = 0;
    bool isOnThisHost = false; ///< the process is on this host and in this PID namespace
    bool sharesMemory = false; ///< files can be sent to the process
    Socket data, control, process; ///< the last one is a pidfd; empty unless isOnThisHost
    std::vector<Socket> lanes;     ///< of a process of another host
    mutable std::mutex mutex;      ///< guards the following members
    Status status;
    std::string activity;
    uint64_t lossNumber = 0; ///< position among the lost processes, from 1
    std::mutex sending, controlling; ///< one writer at a time
    std::unordered_set<uint32_t> given; ///< the blocks whose files the process has; guarded by sending
    std::mutex arming; ///< guards the following members
    uint32_t pollers = 0;
    bool isSpread = false; ///< the payload that is being read arrives over the lanes, not over `data`
    std::recursive_mutex reading; ///< guards reading from `data` and the members below; held while messages are delivered
    std::string spoiled;          ///< why nothing more can be read; reported by the mesh's thread
    // Used by the mesh's thread only.
    Deadline lastHeard;
    bool isDrained = false; ///< everything that the process sent has been read, or is being read
    bool saidGoodbye = false;
    std::string incoming;        ///< the part of a message's header that has arrived
    std::string controlIncoming; ///< the same for the control connection
    std::optional<Message> message; ///< the message whose bytes are being read
    uint64_t filled = 0;            ///< bytes of its head and payload that have been read
    bool isInPlace = false;         ///< its payload is in shared memory
    Carrier::Request carried = nullptr; ///< the carrier's request for its payload
    bool isCarried = false;             ///< the carrier receives the payload
    std::vector<uint64_t> laneFilled;   ///< bytes that have arrived over each lane, for a payload that uses them; else empty
    std::vector<Socket> files;      ///< files that arrived with its header
    bool lacksFiles = false;        ///< some files were lost
    std::unordered_map<uint32_t, std::shared_ptr<SharedMapping>> blocks; ///< blocks of the peer, by their numbers
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
  std::unique_ptr<SharedBlocks> shared; ///< null if shared memory is not used
  std::unique_ptr<Carrier> carrier;     ///< may be null
  std::atomic<uint32_t> numCarried{0};  ///< messages that the carrier is receiving
  std::vector<std::unique_ptr<Peer>> peers; ///< by rank; the entry of this process has no connections
  Receiver receiver;
  Lost lost;
  Socket wake;    ///< an eventfd that makes the thread check for its end and for lost processes
  Socket polling; ///< the epoll instance that the thread waits for
  std::atomic<bool> isStopping{false};
  bool isPollingAllowed = false;
  std::thread thread;
  uint64_t losses = 0; ///< number of lost processes; used by the mesh's thread
  int owner = 0; ///< the process that started the thread; its forks must not use the connections
};

} // namespace millrace::runtime::transport
