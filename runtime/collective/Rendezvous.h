// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.h - Rendezvous of the devices of an execution ------------===//
// One RunContext belongs to one execution of one program on all its devices ("members", numbered replica * numPartitions + partition). Every wait
// ends: when all members have arrived, when a member failed or finished without taking part, when all members wait for each other, when two members
// arrive with different operations, or when nothing has progressed for the timeout. Every error names operation, device and source location.
//
// A meeting has two halves. A member that arrives continues with other work. A member that completes the meeting waits until the others have arrived,
// not until they complete it, too: the work of a meeting has one share per member, and the members that complete it do the shares of the others.
//
// Members may be in other processes, behind a RemoteMembers: contributions of local members are sent there, contributions of remote members arrive by
// remote…() calls, and each process does the shares of its own members. The rules above hold for remote members, too: an error ends the waits in all
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

/// The identity of a member's operation, for comparison and messages.
struct OperationId {
  const void *step = nullptr; ///< equal for all members of this process that execute the same step
  std::string_view name;      ///< "all_reduce"
  std::string_view location;  ///< may be empty
  uint64_t signature = 0;     ///< equal for members of all processes that execute the same step; 0 where there is one process
};

/// The connection to the members of a context that are in other processes. Its functions are never called with the context's lock held.
class RemoteMembers {
public:
  virtual ~RemoteMembers() = default;
  virtual uint32_t numProcesses() const = 0; ///< number of processes of the job; the context may span some of them
  virtual uint32_t self() const = 0;         ///< this process
  virtual uint32_t processOf(uint32_t member) const = 0;
  /// Returns an identifier that processes of one host share.
  virtual const std::string &hostOf(uint32_t process) const = 0;
  virtual std::string describe(uint32_t process) const = 0;
  /// Returns the long-running work that the process has announced (Activity.h), "" for none.
  virtual std::string activityOf(uint32_t process) const = 0;
  /// These functions send to the processes that need the message: those of the group, of the target, or all of the context. The memory has been read
  /// when the call returns.
  virtual Status arrive(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, const void *contribution) = 0;
  virtual Status send(uint32_t source, uint32_t target, int64_t channel, const std::string &bytes) = 0;
  /// `cause` is that of the error that ended the context, Ok if none did.
  virtual void finish(uint32_t member, const Status &cause) = 0;
  virtual void idle(const struct IdleState &state) = 0;
  /// Sends this process's part of the results of the group's `number`-th meeting to the other processes of the group. It is sent once to each other
  /// host, to firstToTell(), which forwards it to the other processes there.
  virtual Status tellPart(const std::vector<uint32_t> &group, uint64_t number, const std::vector<iovec> &part) = 0;
  /// Calls `task` on another thread soon.
  virtual void callLater(std::function<void()> task) = 0;
  /// Calls `look` until it returns true, for a short time in which this thread delivers the messages of these processes. Does nothing if there are
  /// too few processors.
  virtual void poll(const std::vector<uint32_t> &processes, const std::function<bool()> &look) = 0;
};

/// Returns the process of another host to which `origin` sends its part. Origins are distributed over the processes of the host, in the order of
/// ranks.
inline uint32_t firstToTell(uint32_t origin, const std::vector<uint32_t> &ofHost) { return ofHost[origin % ofHost.size()]; }

/// The state of a process all of whose members of a context wait or have finished. The states of all processes distinguish a deadlock from messages
/// that have not been delivered yet.
struct IdleState {
  std::vector<uint64_t> sentTo, receivedFrom;             ///< per process of the job: messages of this context
  std::vector<std::pair<uint32_t, std::string>> waiting; ///< members, and what each waits for
  bool operator==(const IdleState &) const = default;
};

class RunContext : public std::enable_shared_from_this<RunContext> {
public:
  static constexpr double defaultTimeout = 300;
  /// A thread that has waited for another process for so long reports that on standard error, because a rank that is merely slow causes no error
  /// before the timeout. About the time in which the end of a process is noticed (MeshOptions); not a property of the machine.
  static constexpr double toldSeconds = 5;

  RunContext(uint32_t numReplicas, uint32_t numPartitions, double timeoutSeconds = defaultTimeout,
             std::unique_ptr<RemoteMembers> remote = nullptr);
  ~RunContext();

  const uint32_t numReplicas, numPartitions;
  uint32_t size() const { return numReplicas * numPartitions; }
  bool spansProcesses() const { return remote != nullptr; }
  /// Returns the process of a member; for a context of several processes only.
  uint32_t processOf(uint32_t member) const { return remote->processOf(member); }
  const std::string &hostOf(uint32_t process) const { return remote->hostOf(process); }

  /// The members of one group that meet for one operation.
  struct Meeting;
  /// Does the share of the member at a position of the group. Must not block.
  using Work = std::function<Status(const std::vector<const void *> &contributions, size_t position)>;

  /// A meeting in which each process computes a part of all members' results and sends it to the others. A contribution is sent to the process that
  /// computes the part, instead of to all. Its functions must not block.
  struct Parted {
    Work share; ///< computes this process's part
    /// Returns where this process's part is in the results of the member at a position. Called once, before take() is.
    std::function<std::vector<iovec>(const std::vector<const void *> &contributions, size_t position)> own;
    /// Writes the part of the process of that rank into the results of the member whose contribution is `own`. Other members' results may be freed
    /// already.
    std::function<Status(const void *own, uint32_t process, const char *part, uint64_t bytes)> take;
  };

  /// Announces that `member` of `group` (which contains it; the order is equal on all members) takes part in the group's next meeting, with this
  /// operation. Never waits. The contribution is read until complete() or leave() returns, one of which has to follow. `parted` is the work if it is
  /// done in parts; it must be the same for all members. Such work begins when all have arrived, before any member completes the meeting.
  StatusOr<std::shared_ptr<Meeting>> arrive(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation,
                                            const void *contribution, std::shared_ptr<const Parted> parted = nullptr) {
    return join(member, group, operation, contribution, std::move(parted), /*completes=*/false);
  }
  /// Waits until every member has arrived and all shares are done; does the shares that no member has begun. If the work is done in parts, waits
  /// until all parts have arrived, and `work` is not used. The status is that of the member's own share.
  Status complete(uint32_t member, Meeting &meeting, const Work &work);
  /// Replaces complete() for a member that fails: afterwards its contribution is not accessed. finish() with its error has to follow.
  void leave(Meeting &meeting);
  /// Arrives and completes.
  Status meet(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, const void *contribution,
              const Work &work, std::shared_ptr<const Parted> parted = nullptr);

  /// Sends bytes to `target`; never blocks.
  void send(uint32_t source, uint32_t target, int64_t channel, std::string bytes);
  /// Receives the oldest bytes that `source` sent to `member` on this channel.
  StatusOr<std::string> receive(uint32_t member, uint32_t source, int64_t channel, const OperationId &operation);

  /// Sets a timeout that replaces the context's: for waits of these members, in any order, in operations with this group name ("" for none), and for
  /// receives on channels whose upper half is `channels`.
  void setTimeout(std::vector<uint32_t> members, const std::string &group, uint32_t channels, double seconds);

  /// Announces that `member` takes part in no further operation. An error ends the waits of all other members at once.
  void finish(uint32_t member, const Status &status);

  // Events of members of other processes, called by the thread that receives them, in the order in which the process sent them. `contribution`
  // replaces what Work gets of a local member; it is kept until the meeting is over.
  void remoteArrive(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, std::shared_ptr<const void> contribution);
  /// `part` is a part of the results of a meeting. A forwarded part may come before all arrivals: the others' come from their own processes, and a local
  /// one is announced to the others before the member enters.
  void remotePart(uint32_t process, const std::vector<uint32_t> &group, uint64_t number, std::shared_ptr<char> part, uint64_t bytes);
  void remoteSend(uint32_t source, uint32_t target, int64_t channel, std::string bytes);
  void remoteFinish(uint32_t member, const Status &cause);
  void remoteIdle(uint32_t process, IdleState state);
  /// Returns true if another process waits, no message that could end its wait is on its way from this process, and no member of this process waits.
  bool isAwaited();
  /// Announces that nothing more arrives from `process`. Has no effect if its members have finished.
  void remoteLost(uint32_t process, const Status &why);
  /// Ends all waits.
  void fail(const Status &why);

  /// Executors call it between steps, which keeps the timeout from expiring. Called on `member`'s thread only.
  void tick(uint32_t member) {
    auto &counter = ticks[member].value;
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

private:
  /// The bytes of a part of a meeting's results.
  struct Part {
    std::shared_ptr<char> bytes;
    uint64_t size;
  };
  struct Group {
    std::vector<uint64_t> next; ///< per position the number of its next meeting
    uint64_t first = 0;         ///< number of the first open meeting
    std::deque<std::shared_ptr<Meeting>> open; ///< meetings that some member has not reached yet
    std::map<uint64_t, std::shared_ptr<Meeting>> unfinished; ///< older meetings that lack parts of other processes, by their numbers
    std::map<uint64_t, std::map<uint32_t, Part>> early;      ///< parts by process, of meetings that no member is known to have reached, by their numbers
  };
  struct Waiting {
    bool active = false;
    OperationId operation;
    const Meeting *meeting = nullptr;
    uint32_t source = 0; ///< source of a receive
    int64_t channel = 0; ///< channel of a receive
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
  // The mutex guards all members below.
  std::map<std::vector<uint32_t>, Group> groups;
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, std::deque<std::string>> mail;
  std::vector<Waiting> waiting;
  std::vector<uint8_t> finished;
  uint32_t waitingCount = 0; ///< number of waiting members of this process
  uint32_t unattended = 0;   ///< meetings whose parted work another thread will do
  Status aborted;
  std::map<uint32_t, Status> gone; ///< processes from which nothing more comes, and why
  std::vector<Tick> ticks;
  const std::unique_ptr<RemoteMembers> remote; ///< null if all members are in this process
  const std::vector<uint32_t> others;          ///< the other processes
  IdleState counts;                            ///< numbers of messages
  std::map<uint32_t, IdleState> idle;          ///< the last idle state of each process, this one included
  uint32_t localCount = 0, localFinished = 0;
  std::map<std::pair<std::vector<uint32_t>, std::string>, double> timeouts; ///< by sorted members and the name of their group
  std::map<uint32_t, double> channelTimeouts;                              ///< by the upper half of a channel
};

} // namespace millrace::runtime
