// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Processes.h - Processes that run programs together ------------------===//
// Each process of a program's devices launches the program. The launches of a set of processes are numbered in the order in which each process makes
// them; the n-th launches of all processes belong together and must be launches of the same program. Their members communicate through the Mesh.
//
// If every process is a replica that traces programs of its own (PyTorch), the programs need neither be equal nor be launched together: all
// executions share one context, in which the n-th collective of a group belongs to the n-th one that the other processes of the group execute.
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
  /// Makes an object that connects when that is first needed: a process that runs nothing with others does not wait for them.
  static std::shared_ptr<Processes> later(uint32_t rank, uint32_t size, Connect connect);

  /// Waits until all processes are connected; returns the same status at every call. The functions below require it.
  Status connect();
  bool isConnected() const { return connected.load(std::memory_order_acquire); }
  /// Leaves the other processes, if connected, with `failure` as the reason. The creator has to call it, because the last reference may be dropped on
  /// the mesh's own thread.
  void stop(const std::string &failure = "");

  uint32_t rank() const { return ownRank; }
  uint32_t size() const { return numProcesses; }
  const transport::Mesh &links() const { return *mesh; }

  /// The description of a launch that must be equal in all processes.
  struct Agreement {
    uint64_t ofProgram = 0; ///< equal for the same program
    uint64_t ofLaunch = 0;  ///< equal for the same launch of it; 0 if unknown
    std::string program;    ///< how messages name the program
    std::string launch;     ///< how messages name what ofLaunch stands for
    std::string advice;     ///< the end of messages if programs differ; not sent to other processes
    std::string arguments;  ///< types of the first arguments, for messages; one per line
    std::vector<uint64_t> parts; ///< the values from which ofLaunch is computed, if known; for messages
    /// Returns the text about a part whose value is `one` in one process and `other` in another. Not sent to other processes.
    std::function<std::string(size_t part, uint64_t one, uint64_t other)> difference;
  };
  /// Returns the context of the next launch of the processes in `processOf`, which has one entry per member. An error if one of the processes is
  /// lost.
  StatusOr<std::shared_ptr<RunContext>> launch(uint32_t numReplicas, uint32_t numPartitions, std::vector<uint32_t> processOf, Agreement agreement,
                                               double timeoutSeconds);
  /// Returns the context of all executions of replicas, one per process. Its timeout is that of the first call.
  StatusOr<std::shared_ptr<RunContext>> replicas(double timeoutSeconds);
  /// Sets a function that is called when another process announces that it waits in the context of replicas. The mesh's thread calls it, so that it
  /// must not wait. Must be set before connect().
  void onWait(std::function<void()> told) { tellWait = std::move(told); }

  /// Returns how many programs of all processes `rank` has launched, as far as this process knows.
  uint64_t launchesOf(uint32_t rank);

  /// Returns whether other processes have launched a program with this process, which has not launched it.
  bool isLate();

  /// Receives messages that belong to no execution. There is one listener. Its functions are called by the mesh's thread, or a polling one, and must
  /// neither wait nor send.
  struct Listener {
    std::function<void(uint32_t from, transport::Message)> receive;
    std::function<void(uint32_t rank)> lost;
  };
  /// Sets the listener. Must be called before connect().
  void listen(Listener to) { listener = std::move(to); }
  /// Sends to the listener of process `to`. Returns when the payload has been read. Errors: those of Mesh::send.
  Status tell(uint32_t to, std::string_view head, const std::vector<iovec> &payload = {});

private:
  class Members;
  /// The sorted ranks of the processes, and the number of the launch.
  using Key = std::pair<std::vector<uint32_t>, uint64_t>;
  struct Open {
    std::weak_ptr<RunContext> context; ///< null until this process launches it
    std::map<uint32_t, Agreement> programs; ///< per process
    std::vector<std::pair<uint32_t, transport::Message>> early; ///< messages that arrived before the launch
  };

  void receive(uint32_t from, transport::Message message);
  void lost(uint32_t rank, const Status &status);
  void close(const Key &key);
  Status compare(const Open &open) const;
  void hand(uint32_t from, transport::Message message, RunContext &context);

  void start(std::unique_ptr<transport::Mesh> made);
  /// Returns an error in a fork of the connected process.
  Status checkOwner() const;

  uint32_t ownRank = 0, numProcesses = 1;
  int owner = 0; ///< the process that connected
  std::function<void()> tellWait; ///< may be null
  Listener listener;              ///< may be null
  std::mutex connecting;
  Connect connectTo;           ///< null once it has been called; guarded by connecting
  Status connectStatus;        ///< result of the first connect(); guarded by connecting
  std::atomic<bool> connected{false};
  std::unique_ptr<transport::Mesh> mesh; ///< constant once it is connected
  std::mutex mutex;
  bool hasLeft = false;                           ///< guarded by mutex
  std::shared_ptr<RunContext> ofReplicas;         ///< guarded by mutex; null until the first request
  std::map<std::vector<uint32_t>, uint64_t> next; ///< number of the next launch; guarded by mutex
  std::map<Key, Open> open;                       ///< guarded by mutex
  TaskThread tasks;
  std::map<uint32_t, uint64_t> begun; ///< per process the launches of all processes that it has announced; guarded by mutex
};

} // namespace millrace::runtime

extern "C" {
/// Leaves the other processes of every job that this process is connected in, with the text `failure` as the reason that they are told.
void millrace_end_processes(const char *failure);
}
