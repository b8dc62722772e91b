// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.h - Where the devices of one execution meet --------------===//
// One RunContext belongs to one execution of one program on all its devices ("members", numbered
// replica * numPartitions + partition). Nothing here can hang: a wait ends when all have arrived, when a member failed
// or finished without taking part, when all members wait for each other, when two members arrive with different
// operations, or when nothing has progressed for the timeout. Every error names operation, device and source location.
//
// A meeting has two halves. Who arrives goes on with other work; who completes it waits for the others to arrive, not for them to
// complete it, too: the work of a meeting comes in one share per member, and those who are there do the shares of those who are not.
//
// Members may be in other processes, behind a RemoteMembers: what those here contribute is sent there, what those there contribute arrives by
// remote…() calls, and each process does the shares of its own members. All of this holds for them, too: an error ends the waits in all
// processes, with the same text.
#pragma once
#include "runtime/base/Status.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace millrace::runtime {

/// The operation of a member, for comparison and messages.
struct OperationId {
  const void *step = nullptr; ///< equal for all members of this process that execute the same step
  std::string_view name;      ///< "all_reduce"
  std::string_view location;  ///< may be empty
  uint64_t signature = 0;     ///< equal for members of all processes that execute the same step; 0 where there is one process
};

/// The way to the members of a context that are in other processes. Nothing is called with the context's lock held.
class RemoteMembers {
public:
  virtual ~RemoteMembers() = default;
  virtual uint32_t numProcesses() const = 0; ///< of the job; the context may span some of them
  virtual uint32_t self() const = 0;         ///< this process
  virtual uint32_t processOf(uint32_t member) const = 0;
  /// The same for processes of one host.
  virtual const std::string &hostOf(uint32_t process) const = 0;
  virtual std::string describe(uint32_t process) const = 0;
  /// Returns what keeps the process busy, "" for nothing.
  virtual std::string activityOf(uint32_t process) const = 0;
  /// Each of these sends to the processes that need it: those of the group, of the target, or all of the context. The memory has been read when the
  /// call returns.
  virtual Status arrive(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, const void *contribution) = 0;
  virtual Status send(uint32_t source, uint32_t target, int64_t channel, const std::string &bytes) = 0;
  /// `cause`: of the error that ended the context, ok if none did.
  virtual void finish(uint32_t member, const Status &cause) = 0;
  virtual void idle(const struct IdleState &state) = 0;
  /// Tells the other processes of the group this one's part of the results of a meeting, the `number`-th of the group. It goes once to each
  /// other host, to firstToTell(), which passes it on to the others there.
  virtual Status tellPart(const std::vector<uint32_t> &group, uint64_t number, const std::vector<iovec> &part) = 0;
  /// Has another thread call `task` soon.
  virtual void callLater(std::function<void()> task) = 0;
  /// Calls `look` until it says true, up to a moment in which messages of these processes are handed over by this thread. Nothing where there are
  /// not processors enough.
  virtual void poll(const std::vector<uint32_t> &processes, const std::function<bool()> &look) = 0;
};

/// The one of the processes of another host, in the order of ranks, that `origin` tells its part. Each gets those of some.
inline uint32_t firstToTell(uint32_t origin, const std::vector<uint32_t> &ofHost) { return ofHost[origin % ofHost.size()]; }

/// The state of a process all of whose members of a context wait or have finished. Together these distinguish a deadlock from messages under way.
struct IdleState {
  std::vector<uint64_t> sentTo, receivedFrom;             ///< per process of the job: messages of this context
  std::vector<std::pair<uint32_t, std::string>> waiting; ///< members, and what each waits for
  bool operator==(const IdleState &) const = default;
};

class RunContext : public std::enable_shared_from_this<RunContext> {
public:
  static constexpr double defaultTimeout = 300;
  /// A thread that has waited for another process for so long reports it on standard error: a rank that is merely slow is no error before the
  /// timeout. As long as it may take to notice that a process is gone (MeshOptions); not a property of the machine.
  static constexpr double toldSeconds = 5;

  RunContext(uint32_t numReplicas, uint32_t numPartitions, double timeoutSeconds = defaultTimeout,
             std::unique_ptr<RemoteMembers> remote = nullptr);
  ~RunContext();

  const uint32_t numReplicas, numPartitions;
  uint32_t size() const { return numReplicas * numPartitions; }
  bool spansProcesses() const { return remote != nullptr; }
  /// Of a context that spans several.
  uint32_t processOf(uint32_t member) const { return remote->processOf(member); }
  const std::string &hostOf(uint32_t process) const { return remote->hostOf(process); }

  /// Members of one group that met, or will, for one operation.
  struct Meeting;
  /// Does the share of the member at a position of the group. Must not block.
  using Work = std::function<Status(const std::vector<const void *> &contributions, size_t position)>;

  /// Of a meeting in which each process works out a part of everybody's results and tells it to the others: what is contributed goes to
  /// the process whose part it is, instead of to all. Nothing here must block.
  struct Parted {
    Work share; ///< of this process's part
    /// Where this process's part is in the results of the member at a position. Called once, before take() is.
    std::function<std::vector<iovec>(const std::vector<const void *> &contributions, size_t position)> own;
    /// Writes the part of the process of that rank into the results of the member whose contribution is `own`. Those of other members may be gone.
    std::function<Status(const void *own, uint32_t process, const char *part, uint64_t bytes)> take;
  };

  /// Says that `member` of `group` (which contains it; equal order on all) takes part in its next meeting, with this operation. Never
  /// waits. The contribution is read until complete() or leave() returns, one of which has to follow. `parted`: the work, if it is done in
  /// parts; the same for all members, or they fail. It begins when all have arrived, whether anybody completes it yet or not.
  StatusOr<std::shared_ptr<Meeting>> arrive(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation,
                                            const void *contribution, std::shared_ptr<const Parted> parted = nullptr) {
    return join(member, group, operation, contribution, std::move(parted), /*completes=*/false);
  }
  /// Waits until every member has arrived and all shares are done, of which it does those that nobody has begun, and if the work is done in
  /// parts until all parts are there. The status is that of the member's own share. `work` is not used for parts.
  Status complete(uint32_t member, Meeting &meeting, const Work &work);
  /// Instead of complete(), by a member that fails: afterwards nobody touches its contribution. finish() with its error has to follow.
  void leave(Meeting &meeting);
  /// Both halves at once.
  Status meet(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, const void *contribution,
              const Work &work, std::shared_ptr<const Parted> parted = nullptr);

  /// Leaves bytes for `target`; never blocks.
  void send(uint32_t source, uint32_t target, int64_t channel, std::string bytes);
  /// Takes the oldest bytes that `source` sent to `member` on this channel.
  StatusOr<std::string> receive(uint32_t member, uint32_t source, int64_t channel, const OperationId &operation);

  /// Instead of the context's: of waits of these members, in whatever order a meeting has them, in operations that carry this group's name ("" for
  /// none), and of waits for what is sent on channels whose upper half is `channels`.
  void setTimeout(std::vector<uint32_t> members, const std::string &group, uint32_t channels, double seconds);

  /// `member` will not come again. An error ends the waits of all others at once.
  void finish(uint32_t member, const Status &status);

  // What members of other processes do. Called by the thread that hears of it, in the order in which the process did it.
  /// `contribution` is what Work makes of theirs; it is kept until the meeting is over.
  void remoteArrive(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, std::shared_ptr<const void> contribution);
  /// `part`: of the results of a meeting.
  void remotePart(uint32_t process, const std::vector<uint32_t> &group, uint64_t number, std::shared_ptr<char> part, uint64_t bytes);
  void remoteSend(uint32_t source, uint32_t target, int64_t channel, std::string bytes);
  void remoteFinish(uint32_t member, const Status &cause);
  void remoteIdle(uint32_t process, IdleState state);
  /// Another process waits, and no message that it could wait for is under way from this one, whose members do not wait themselves.
  bool isAwaited();
  /// Nothing more comes from `process`. Without effect once its members have finished.
  void remoteLost(uint32_t process, const Status &why);
  /// Ends all waits.
  void fail(const Status &why);

  /// Called by executors between steps; keeps the timeout from firing. Only `member`'s thread.
  void tick(uint32_t member) {
    auto &counter = ticks[member].value;
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

private:
  struct Group {
    std::vector<uint64_t> next; ///< per position: the number of its next meeting
    uint64_t first = 0;         ///< number of the first one that is open
    std::deque<std::shared_ptr<Meeting>> open; ///< to which somebody has yet to come
    std::map<uint64_t, std::shared_ptr<Meeting>> unfinished; ///< those of the others that lack parts of other processes, by their numbers
  };
  struct Waiting {
    bool active = false;
    OperationId operation;
    const Meeting *meeting = nullptr;
    uint32_t source = 0; ///< of a receive
    int64_t channel = 0; ///< likewise
  };
  struct alignas(64) Tick {
    std::atomic<uint64_t> value{0};
  };

  bool isLocal(uint32_t member) const { return !remote || remote->processOf(member) == remote->self(); }
  std::vector<uint32_t> otherProcesses(const std::vector<uint32_t> &members) const;
  StatusOr<std::shared_ptr<Meeting>> join(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation,
                                          const void *contribution, std::shared_ptr<const Parted> parted, bool completes);
  Status enter(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, const void *contribution,
               std::shared_ptr<const void> held, std::shared_ptr<const Parted> parted, bool completes, std::shared_ptr<Meeting> &meeting);
  void workLater(const std::shared_ptr<Meeting> &meeting);
  void doShares(Meeting &meeting, const Work &work, size_t first);
  Status whyPartsNeverCome(const Meeting &meeting) const;
  Status waitFor(std::unique_lock<std::mutex> &lock, uint32_t member, const Meeting &meeting, const std::function<bool()> &done);
  void stopWaiting(uint32_t member);
  void deliver(uint32_t source, uint32_t target, int64_t channel, std::string bytes);
  Status waitUntil(std::unique_lock<std::mutex> &lock, uint32_t member, const std::function<bool()> &done);
  void checkDeadlock();
  std::string differentRoots() const;
  void tellIdle(std::unique_lock<std::mutex> &lock);
  IdleState idleState() const;
  std::string describe(uint32_t member) const;
  bool isIdle() const { return waitingCount + localFinished == localCount && !unattended; }
  double timeoutOf(uint32_t member) const;
  std::vector<uint32_t> missingFor(uint32_t member) const;
  bool isSomebodyBusy(uint32_t member) const;
  void abort(Status status);
  uint64_t totalTicks() const;

  const double timeout;
  std::mutex mutex;
  std::condition_variable changed;
  // All below guarded by mutex.
  std::map<std::vector<uint32_t>, Group> groups;
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, std::deque<std::string>> mail;
  std::vector<Waiting> waiting;
  std::vector<uint8_t> finished;
  uint32_t waitingCount = 0; ///< of this process
  uint32_t unattended = 0;   ///< meetings whose parted work another thread has yet to do
  Status aborted;
  std::map<uint32_t, Status> gone; ///< processes from which nothing more comes, and why
  std::vector<Tick> ticks;
  const std::unique_ptr<RemoteMembers> remote; ///< null: all members are here
  const std::vector<uint32_t> others;          ///< the other processes
  IdleState counts;                            ///< of messages
  std::map<uint32_t, IdleState> idle;          ///< what processes were when they were last idle, this one among them
  uint32_t localCount = 0, localFinished = 0;
  std::map<std::pair<std::vector<uint32_t>, std::string>, double> timeouts; ///< by sorted members and the name of their group
  std::map<uint32_t, double> channelTimeouts;                              ///< by the upper half of a channel
};

} // namespace millrace::runtime
