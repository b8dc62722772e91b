// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RemoteParts.h - Parts of tensors that other processes hold ----------===//
// Under SPMD in several processes a tensor is in parts on the devices of all of them. Whoever reads the whole of it gives its own parts to
// those who lack them, and takes theirs. All processes run one program, so as a rule all read; where one reads alone, the others answer without
// knowing it, as long as they still have the tensor. Reads of a tensor are counted: with the n-th one a process gives its parts and says n, unless
// it has answered the n-th one of the other process already.
#pragma once
#include "tracing/Graph.h"

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

class RemoteParts {
public:
  /// Before the processes connect. `timeoutSeconds`: of a read during which nobody else is busy.
  static std::shared_ptr<RemoteParts> create(std::shared_ptr<runtime::Processes> processes, uint32_t devicesOfEach, double timeoutSeconds);
  ~RemoteParts() { stop(); }
  /// Ends the thread that answers the others, after the answers that it can give. To be called before Processes::stop().
  void stop() { answers.stop(); }

  /// What keep() is told next are results of a new launch, which is the same one in all processes; `content` is a hash of what they run, by which
  /// a read finds out where that is not so. Tensors of which nobody here has parts any more are forgotten.
  void beginLaunch(uint64_t content);
  /// For a process that ends: whether another one, which does not yet end, may still read a tensor of which this one has parts. Tells them.
  bool isAwaited();
  /// The next tensor of the launch, an argument without a name or a result; gives it its name.
  void keep(Parts &parts, const Shape &shape);
  /// Copies the whole of a named tensor to `target`, row-major. Waits for the other processes. Errors: that of the computation, Aborted or
  /// Unavailable where a process is lost, FailedPrecondition where one does not have its parts any more, DeadlineExceeded, DataLoss.
  /// `mayGoOn` is asked now and then whether to; may be null.
  runtime::Status read(const Parts &parts, const Shape &shape, void *target, const std::function<runtime::Status()> &mayGoOn);
  /// Whether some process lacks a part of such a tensor: all processes find the same.
  bool isExchanged(const Sharding &sharding, const std::vector<int64_t> &dims) const;

private:
  using Name = PartsName;
  using Message = runtime::transport::Message;
  using Buffers = std::vector<runtime::BufferPtr>;
  /// With another process.
  struct Exchange {
    uint64_t ownReads = 0;
    uint64_t theirReads = 0;  ///< that it has told of; it has read more if it needed nothing for that
    uint32_t owed = 0;        ///< answers that are under way
    std::optional<uint64_t> history; ///< of the other process, once it has said it
    uint32_t unread = 0;      ///< gifts that came and have not been read yet
    Message gift;             ///< the last one: all are equal
    std::string refusal;      ///< instead of one
  };
  struct Entry {
    bool isKnown = false; ///< keep() has been called; others may have read before
    uint64_t history = 0;  ///< of the launches to that one
    std::weak_ptr<runtime::Buffer> any;                ///< one of this process
    std::vector<std::weak_ptr<runtime::Buffer>> given; ///< what this process gives
    std::map<uint32_t, Exchange> with;
    bool isHere() const;
  };
  struct Debt {
    Name name;
    uint32_t to;
    std::optional<Buffers> buffers; ///< once they are known and ready
  };

  /// What this process gave of a tensor that it has read: another one that had read alone before reads again where this process did, and this
  /// one may have given the tensor up. Kept until the other has launched a program after that place.
  struct Kept {
    Name name;
    uint32_t process;
    uint64_t launch;   ///< the last one of this process
    uint64_t launches; ///< the same by Processes::launchesOf()
    std::vector<std::shared_ptr<runtime::Storage>> parts;
  };
  using Memories = std::vector<std::shared_ptr<runtime::Storage>>;

  RemoteParts(std::shared_ptr<runtime::Processes> processes, uint32_t devicesOfEach, double timeoutSeconds);
  std::vector<int64_t> firstHolders(const Sharding &sharding, const std::vector<int64_t> &dims, uint32_t process) const;
  /// [from][to]
  std::vector<std::vector<bool>> traffic(const Sharding &sharding, const std::vector<int64_t> &dims) const;
  std::vector<runtime::BufferPtr> givenOf(const Parts &parts, const Shape &shape) const;
  void receive(uint32_t from, Message message);
  void owe(Debt debt);
  void compare(const Entry &entry);
  bool isSameHistory(uint64_t launch, const std::vector<uint64_t> &theirs) const;
  void diverge(uint32_t from);
  void refuseAll(uint32_t to);
  void answer(Debt debt);
  /// `read`: which of this process's; 0 for an answer.
  runtime::Status send(uint32_t to, uint64_t read, const Name &name, uint64_t history, const Memories &parts);
  static runtime::StatusOr<Memories> memoriesOf(const Buffers &buffers);
  runtime::Status lossOf(uint32_t process, const std::vector<uint32_t> &givers, const Shape &shape) const;
  std::string waitingFor(const Shape &shape, const std::vector<uint32_t> &missing) const;

  const std::shared_ptr<runtime::Processes> processes;
  const uint32_t devicesOfEach;
  const double timeoutSeconds;
  std::weak_ptr<RemoteParts> self; ///< for what may come after the end
  std::mutex mutex;
  std::condition_variable changed; ///< of what follows, all guarded by mutex
  std::map<Name, Entry> entries;
  Name next{0, 0};     ///< of keep()
  std::vector<uint64_t> histories{0}; ///< after each of the last launches, a hash of the contents of all up to it
  runtime::Status divergence; ///< an error once another process is known to have another history
  size_t sweepAt = 64; ///< entries
  std::deque<Kept> kept;
  bool isEnding = false;      ///< and has said so
  std::vector<bool> areEnding; ///< the other processes
  std::vector<std::pair<uint64_t, std::vector<uint64_t>>> toldOf; ///< each process's last launch and histories when it last told them
  std::vector<uint64_t> launchOf; ///< each process's last launch that this one has heard of
  runtime::TaskThread answers; ///< to others; guards itself
};

} // namespace millrace::tracing
