// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Processes.h - Processes that run programs together ------------------===//
// A program whose devices belong to several processes is launched by each of them. Launches of the same processes are numbered, in the order
// in which each process makes them; the n-th ones belong together, and have to be launches of the same program. What their members have to
// tell each other goes through the Mesh.
//
// Where every process is a replica that traces programs of its own (PyTorch), these need not be equal, nor launched together: there is one
// context for all executions, in which the n-th collective of a group meets the n-th one that the other processes of the group execute.
#pragma once
#include "runtime/base/TaskThread.h"
#include "runtime/collective/Rendezvous.h"
#include "runtime/transport/Mesh.h"

#include <atomic>
#include <functional>

namespace millrace::runtime {

class Processes : public std::enable_shared_from_this<Processes> {
public:
  using Connect = std::function<StatusOr<std::unique_ptr<transport::Mesh>>()>;

  static std::shared_ptr<Processes> create(std::unique_ptr<transport::Mesh> mesh);
  /// Connects when it is first needed: a process that runs nothing with others does not wait for them.
  static std::shared_ptr<Processes> later(uint32_t rank, uint32_t size, Connect connect);

  /// Waits until all are connected; returns the same status at every call. The functions below need it.
  Status connect();
  bool isConnected() const { return connected.load(std::memory_order_acquire); }
  /// Leaves the other processes, if connected, with `failure` as the reason. The creator has to call this: the last reference may be dropped on the
  /// mesh's own thread.
  void stop(const std::string &failure = "");

  uint32_t rank() const { return ownRank; }
  uint32_t size() const { return numProcesses; }
  const transport::Mesh &links() const { return *mesh; }

  /// The description of a launch that must be equal in all processes.
  struct Agreement {
    uint64_t ofProgram = 0; ///< equal for the same program
    uint64_t ofLaunch = 0;  ///< equal for the same launch of it; 0 if unknown
    std::string program;    ///< how messages name the program
    std::string launch;     ///< how they name what ofLaunch stands for
    std::string advice;     ///< what they say at last where programs differ; of this process alone
    std::string arguments;  ///< types of the first ones, for messages; one per line
    std::vector<uint64_t> parts; ///< the values from which ofLaunch is computed, if known; for messages
    /// How messages name a part that is one value here and another there; of this process alone.
    std::function<std::string(size_t part, uint64_t one, uint64_t other)> difference;
  };
  /// The context of the next launch of the processes in `processOf`, one per member. An error if one of the processes is lost.
  StatusOr<std::shared_ptr<RunContext>> launch(uint32_t numReplicas, uint32_t numPartitions, std::vector<uint32_t> processOf, Agreement agreement,
                                               double timeoutSeconds);
  /// The context of all executions of replicas, one per process. Its timeout is that of the first call.
  StatusOr<std::shared_ptr<RunContext>> replicas(double timeoutSeconds);
  /// To be called when a process says that it waits in the context of replicas. By the mesh's thread: must not wait. Before connect().
  void onWait(std::function<void()> told) { tellWait = std::move(told); }

  /// How many programs of all processes `rank` has launched, as far as this process knows.
  uint64_t launchesOf(uint32_t rank);

  /// Returns whether other processes have launched a program with this process, which has not launched it.
  bool isLate();

  /// Messages that have nothing to do with an execution. There is one listener. Its functions are called by the mesh's thread, or one that
  /// polls, and must not wait or send.
  struct Listener {
    std::function<void(uint32_t from, transport::Message)> receive;
    std::function<void(uint32_t rank)> lost;
  };
  /// Before connect().
  void listen(Listener to) { listener = std::move(to); }
  /// To the listener of process `to`. Returns when the payload has been read. Errors: as Mesh::send.
  Status tell(uint32_t to, std::string_view head, const std::vector<iovec> &payload = {});

private:
  class Members;
  /// The sorted ranks of the processes, and the number of the launch.
  using Key = std::pair<std::vector<uint32_t>, uint64_t>;
  struct Open {
    std::weak_ptr<RunContext> context; ///< null as long as this process has not launched it
    std::map<uint32_t, Agreement> programs; ///< per process
    std::vector<std::pair<uint32_t, transport::Message>> early; ///< that arrived before the launch
  };

  void receive(uint32_t from, transport::Message message);
  void lost(uint32_t rank, const Status &status);
  void close(const Key &key);
  Status compare(const Open &open) const;
  void hand(uint32_t from, transport::Message message, RunContext &context);

  void start(std::unique_ptr<transport::Mesh> made);
  /// An error in a fork of the process that is connected.
  Status checkOwner() const;

  uint32_t ownRank = 0, numProcesses = 1;
  int owner = 0; ///< the process that connected
  std::function<void()> tellWait; ///< may be null
  Listener listener;              ///< likewise
  std::mutex connecting;
  Connect connectTo;           ///< null once it has been called; guarded by connecting
  Status connectStatus;        ///< likewise
  std::atomic<bool> connected{false};
  std::unique_ptr<transport::Mesh> mesh; ///< constant once it is connected
  std::mutex mutex;
  bool hasLeft = false;                           ///< guarded by mutex
  std::shared_ptr<RunContext> ofReplicas;         ///< guarded by mutex; null until the first request
  std::map<std::vector<uint32_t>, uint64_t> next; ///< number of the next launch; guarded by mutex
  std::map<Key, Open> open;                       ///< guarded by mutex
  TaskThread tasks;
  std::map<uint32_t, uint64_t> begun; ///< launches of all processes that others have told of; guarded by mutex
};

} // namespace millrace::runtime

extern "C" {
/// Takes leave of the other processes of every job that this one is connected in: it ends because of `failure`, a text that they are told.
void millrace_end_processes(const char *failure);
}
