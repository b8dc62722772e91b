// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RemoteShards.h - Shards of tensors that other processes hold ---------===//
// Under SPMD in several processes the shards of a tensor are on the devices of all processes. A process that reads the whole tensor sends its own
// shards to the processes that lack them and receives theirs. All processes run one program, so usually all of them read; if one process reads alone,
// the runtime of the others answers without involving their programs, as long as they still have the tensor. Reads of a tensor are numbered: with its
// n-th read a process sends its shards and n, unless it has already answered the n-th read of the other process.
#pragma once
#include "tracing/graph/Graph.h"

#include "runtime/base/TaskThread.h"
#include "runtime/collective/Processes.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace millrace::tracing {

class RemoteShards {
public:
  /// Must be called before the processes connect. `timeoutSeconds` limits a read during which no other process is busy.
  static std::shared_ptr<RemoteShards> create(std::shared_ptr<runtime::Processes> processes, uint32_t devicesOfEach, double timeoutSeconds);
  ~RemoteShards() { stop(); }
  /// Stops the thread that answers other processes, after the answers that it can give. Must be called before Processes::stop().
  void stop() { answers.stop(); }

  /// Begins a new launch, which is the same one in all processes; the following calls of keep() name its results. `content` is a hash of what the
  /// launch runs, by which a read detects processes that have run something else. Forgets tensors without shards in this process.
  void beginLaunch(uint64_t content);
  /// For a process that ends: tells the others, and returns true if one that does not end may still read a tensor of which this process has shards.
  bool isAwaited();
  /// Gives the launch's next tensor, an argument without a name or a result, its name.
  void keep(Shards &shards, const Shape &shape);
  /// Copies the whole of a named tensor to `target`, row-major. Waits for the other processes. `mayGoOn`, which may be null, is called repeatedly;
  /// its error ends the wait. Errors: that of the computation, Aborted or Unavailable if a process is lost, FailedPrecondition if a process no longer
  /// has its shards, DeadlineExceeded, DataLoss.
  runtime::Status read(const Shards &shards, const Shape &shape, void *target, const std::function<runtime::Status()> &mayGoOn);
  /// Returns true if some process lacks a shard of such a tensor; all processes get the same answer.
  bool isExchanged(const Sharding &sharding, const std::vector<int64_t> &dims) const;

private:
  using Name = ShardsName;
  using Message = runtime::transport::Message;
  using Buffers = std::vector<runtime::BufferPtr>;
  /// The state of the exchange of one tensor with one other process.
  struct Exchange {
    uint64_t ownReads = 0;
    uint64_t theirReads = 0;  ///< reads that the other process has announced; reads that needed nothing are not announced
    uint32_t owed = 0;        ///< answers that are being sent
    std::optional<uint64_t> history; ///< hash of the other process's launches, once it has sent it
    uint32_t unread = 0;      ///< messages with shards that arrived and have not been read yet
    Message gift;             ///< the last such message; all are equal
    std::string refusal;      ///< the reason that the other process gave instead of its shards
  };
  struct Entry {
    bool isKnown = false; ///< keep() has been called; other processes may have read the tensor before
    uint64_t history = 0;  ///< hash of the launches up to the tensor's launch
    std::weak_ptr<runtime::Buffer> any;                ///< a buffer of this process
    std::vector<std::weak_ptr<runtime::Buffer>> given; ///< the shards that this process sends
    std::map<uint32_t, Exchange> with;
    bool isHere() const;
  };
  struct Debt {
    Name name;
    uint32_t to;
    std::optional<Buffers> buffers; ///< set once they are known and ready
  };

  /// The shards of a tensor that this process has read and sent. Another process that has read alone before repeats its read at the point where this
  /// process reads, and this process may have released the tensor by then. The shards are kept until the other process has launched a later program.
  struct Kept {
    Name name;
    uint32_t process;
    uint64_t launch;   ///< the last launch of this process
    uint64_t launches; ///< the same launch as counted by Processes::launchesOf()
    std::vector<std::shared_ptr<runtime::Storage>> shards;
  };
  using Memories = std::vector<std::shared_ptr<runtime::Storage>>;

  RemoteShards(std::shared_ptr<runtime::Processes> processes, uint32_t devicesOfEach, double timeoutSeconds);
  std::vector<int64_t> firstHolders(const Sharding &sharding, const std::vector<int64_t> &dims, uint32_t process) const;
  /// Returns by [from][to] whether a process sends shards to another one.
  std::vector<std::vector<bool>> traffic(const Sharding &sharding, const std::vector<int64_t> &dims) const;
  std::vector<runtime::BufferPtr> givenOf(const Shards &shards, const Shape &shape) const;
  void receive(uint32_t from, Message message);
  void owe(Debt debt);
  void compare(const Entry &entry);
  bool isSameHistory(uint64_t launch, const std::vector<uint64_t> &theirs) const;
  void diverge(uint32_t from);
  void refuseAll(uint32_t to);
  void answer(Debt debt);
  /// Sends shards to process `to`. `read` is the number of this process's read, 0 for an answer.
  runtime::Status send(uint32_t to, uint64_t read, const Name &name, uint64_t history, const Memories &shards);
  static runtime::StatusOr<Memories> memoriesOf(const Buffers &buffers);
  runtime::Status lossOf(uint32_t process, const std::vector<uint32_t> &givers, const Shape &shape) const;
  std::string waitingFor(const Shape &shape, const std::vector<uint32_t> &missing) const;

  const std::shared_ptr<runtime::Processes> processes;
  const uint32_t devicesOfEach;
  const double timeoutSeconds;
  std::weak_ptr<RemoteShards> self; ///< for callbacks that may outlive the owner
  std::mutex mutex;
  std::condition_variable changed; ///< of the following members, all guarded by mutex
  std::map<Name, Entry> entries;
  Name next{0, 0};     ///< the name that keep() assigns next
  std::vector<uint64_t> histories{0}; ///< per recent launch a hash of the contents of all launches up to it
  runtime::Status divergence; ///< an error once another process is known to have launched other programs
  size_t sweepAt = 64; ///< number of entries at which unused ones are removed next
  std::deque<Kept> kept;
  bool isEnding = false;      ///< this process ends and has told the others
  std::vector<bool> areEnding; ///< per process, whether it ends
  std::vector<std::pair<uint64_t, std::vector<uint64_t>>> toldOf; ///< per process the last launch and histories that this process sent to it
  std::vector<uint64_t> launchOf; ///< per process the last launch that this process knows of
  runtime::TaskThread answers; ///< answers other processes; thread-safe by itself
};

} // namespace millrace::tracing
