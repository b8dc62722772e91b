// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.cpp - Where the devices of one execution meet ------------===//
#include "runtime/collective/Rendezvous.h"
#include "runtime/profile/Recorder.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace millrace::runtime {
namespace {

/// A process tells the others that it is idle when it has been idle for that long: most waits end before. Unit: seconds. Source: judgement, not
/// measured alone.
constexpr double kIdleSeconds = 0.25;

/// The error of a deadlock between processes lists the waits of at most so many members. Unit: members. Source: judgement: an error message stays
/// readable.
constexpr size_t kMaxToldWaits = 4;

std::vector<uint32_t> everybody(uint32_t size) {
  std::vector<uint32_t> members(size);
  std::iota(members.begin(), members.end(), 0);
  return members;
}

/// Returns "1" for "all_reduce of group 1 (sum) of f32[4]", as lowering/program/CollectiveSteps.cpp names a step; "" if no group is named.
std::string_view groupNameIn(std::string_view operation) {
  constexpr std::string_view before = " of group ";
  const size_t at = operation.find(before);
  if (at == std::string_view::npos)
    return {};
  operation.remove_prefix(at + before.size());
  return operation.substr(0, operation.find(' '));
}

std::string title(const OperationId &operation) {
  std::string text(operation.name);
  if (!operation.location.empty())
    text += " at " + std::string(operation.location);
  return text;
}

} // namespace

struct RunContext::Meeting {
  Meeting(const std::vector<uint32_t> &members, const RunContext &context)
      : members(members), contributions(members.size()), present(members.size()), statuses(members.size()), begun(members.size()), left(0) {
    for (size_t share = 0; share < members.size(); ++share)
      if (context.isLocal(members[share]))
        ++left;
      else
        begun[share] = 1; // the process of that member begins its share
    numOthers = context.otherProcesses(members).size();
  }

  const std::vector<uint32_t> members;
  OperationId operation; ///< its texts are `name` and `location` until a member of this process has arrived
  std::string name, location;
  std::vector<std::shared_ptr<const void>> held; ///< contributions of other processes
  uint32_t first = 0; ///< the member that arrived first, for messages
  size_t arrived = 0;
  std::vector<const void *> contributions; ///< constant once all have arrived
  std::vector<uint8_t> present;
  std::vector<Status> statuses;            ///< per share; written by the thread that does the share
  std::vector<std::atomic<uint8_t>> begun; ///< per share
  size_t left;                             ///< shares of this process that are not done; guarded by the context's mutex
  bool isBroken = false;                   ///< a member has left; guarded by the context's mutex
  uint64_t number = 0;                     ///< number among the group's meetings
  // The work if it is done in parts; guarded by the context's mutex.
  std::shared_ptr<const Parted> parted;
  bool isAttended = false;   ///< a member of this process completes the meeting; the last to arrive need not
  bool isUnattended = false; ///< another thread has to do the work; returned to one caller of enter()
  bool isTold = false;     ///< this process's part is sent, or never will be
  size_t numOthers = 0;    ///< number of other processes
  std::map<uint32_t, Part> parts; ///< parts of other processes; constant once all are present

  bool begin(size_t share) {
    return !begun[share].load(std::memory_order_relaxed) && !begun[share].exchange(1, std::memory_order_acq_rel);
  }
};

RunContext::RunContext(uint32_t numReplicas, uint32_t numPartitions, double timeoutSeconds, std::unique_ptr<RemoteMembers> remoteMembers)
    : numReplicas(numReplicas), numPartitions(numPartitions), timeout(timeoutSeconds), waiting(size()), finished(size(), 0), ticks(size()),
      remote(std::move(remoteMembers)), others(otherProcesses(everybody(size()))) {
  for (uint32_t member = 0; member < size(); ++member)
    localCount += isLocal(member);
  if (remote) {
    counts.sentTo.resize(remote->numProcesses());
    counts.receivedFrom.resize(remote->numProcesses());
  }
}
RunContext::~RunContext() = default;

std::vector<uint32_t> RunContext::otherProcesses(const std::vector<uint32_t> &members) const {
  std::vector<uint32_t> processes;
  if (!remote)
    return processes;
  for (uint32_t member : members)
    if (uint32_t process = remote->processOf(member);
        process != remote->self() && std::find(processes.begin(), processes.end(), process) == processes.end())
      processes.push_back(process);
  return processes;
}

uint64_t RunContext::totalTicks() const {
  uint64_t total = 0;
  for (const Tick &tick : ticks)
    total += tick.value.load(std::memory_order_relaxed);
  return total;
}

void RunContext::abort(Status status) {
  if (aborted.ok())
    aborted = std::move(status);
  changed.notify_all();
}

/// Returns the members for which a waiting member waits.
std::vector<uint32_t> RunContext::missingFor(uint32_t member) const {
  const Waiting &w = waiting[member];
  if (!w.meeting)
    return {w.source};
  std::vector<uint32_t> missing;
  const bool isComplete = w.meeting->arrived == w.meeting->members.size(); // a complete meeting waits for parts
  for (size_t i = 0; i < w.meeting->members.size(); ++i)
    if (uint32_t each = w.meeting->members[i]; isComplete ? !isLocal(each) && !w.meeting->parts.count(remote->processOf(each)) : !w.meeting->present[i])
      missing.push_back(each);
  return missing;
}

/// Returns true if one of the processes that `member` waits for does something that takes long, and has not just failed to come.
bool RunContext::isSomebodyBusy(uint32_t member) const {
  std::vector<uint32_t> missing = missingFor(member);
  return remote && std::any_of(missing.begin(), missing.end(), [&](uint32_t other) {
    return !isLocal(other) && !remote->activityOf(remote->processOf(other)).empty();
  });
}

/// Returns "all_reduce at f.py:3 on device 0 waits for device 1, which has finished without taking part".
std::string RunContext::describe(uint32_t member) const {
  std::string text = title(waiting[member].operation) + " on device " + std::to_string(member) + " waits for ";
  std::vector<uint32_t> missing = missingFor(member);
  for (size_t i = 0; i < missing.size(); ++i) {
    uint32_t other = missing[i];
    text += (i ? "; for device " : "device ") + std::to_string(other);
    if (!isLocal(other))
      text += " of " + remote->describe(remote->processOf(other));
    if (const Meeting *meeting = waiting[member].meeting; meeting && meeting->arrived == meeting->members.size())
      text += ", whose part of the result has not come";
    else if (finished[other])
      text += ", which has finished without taking part";
    else if (waiting[other].active)
      text += ", which waits in " + title(waiting[other].operation);
    else
      text += ", which has not arrived";
    if (std::string activity = isLocal(other) ? "" : remote->activityOf(remote->processOf(other)); !activity.empty() && !finished[other])
      text += " and " + activity;
  }
  return text;
}

IdleState RunContext::idleState() const {
  IdleState state = counts;
  for (uint32_t member = 0; member < size(); ++member)
    if (waiting[member].active)
      state.waiting.emplace_back(member, describe(member));
  return state;
}

/// Finds members of a broadcast that name different roots. A broadcast's group begins with its root, so such members wait in groups of the same
/// members in another order, for ever. Returns "" if there are none.
std::string RunContext::differentRoots() const {
  std::map<std::vector<uint32_t>, const Meeting *> found; // by sorted members
  for (const auto &[members, group] : groups) {
    if (group.open.empty() || group.open.front()->operation.name.rfind("collective_broadcast", 0) != 0)
      continue;
    const Meeting *one = group.open.front().get();
    std::vector<uint32_t> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    auto [entry, isNew] = found.emplace(std::move(sorted), one);
    if (isNew)
      continue;
    const Meeting *other = entry->second;
    if (one->first > other->first) // every process reports the same order
      std::swap(one, other);
    auto describeOf = [](const Meeting &meeting) {
      return "device " + std::to_string(meeting.first) + " executes " + title(meeting.operation) + " from device " +
             std::to_string(meeting.members.front());
    };
    return "mismatched collectives: " + describeOf(*one) + ", but " + describeOf(*other);
  }
  return "";
}

// Reports a deadlock. Every member waits or has left, so no local member can end a wait. With several processes each sees its own members only; but
// if each process was idle when it said so, and had received all that the others had sent by then, no message is under way that could wake a member.
void RunContext::checkDeadlock() {
  if (!aborted.ok() || waitingCount == 0 || !isIdle())
    return;
  std::map<uint32_t, std::string> texts;
  for (const auto &[member, text] : idleState().waiting)
    texts.emplace(member, text);
  if (remote) {
    for (uint32_t process : others) {
      auto found = idle.find(process);
      if (found == idle.end())
        return;
      texts.insert(found->second.waiting.begin(), found->second.waiting.end());
    }
    std::vector<uint32_t> processes = others;
    processes.push_back(remote->self());
    auto stateOf = [&](uint32_t process) -> const IdleState & { return process == remote->self() ? counts : idle[process]; };
    // A process whose members have all finished is woken by nothing, and no longer counts messages.
    auto hasFinished = [&](uint32_t process) { return process != remote->self() && idle[process].waiting.empty(); };
    for (uint32_t a : processes)
      for (uint32_t b : processes)
        if (a != b && !hasFinished(b) && stateOf(a).sentTo[b] != stateOf(b).receivedFrom[a])
          return;
  }
  if (std::string text = differentRoots(); !text.empty())
    return abort(failedPrecondition(text));
  std::string all;
  size_t told = 0;
  for (const auto &[member, text] : texts)
    if (told++ < (remote ? kMaxToldWaits : 1)) // with one process, the text of the first wait contains the others
      all += (all.empty() ? "" : "; ") + text;
  abort(failedPrecondition("missing participant: " + all));
}

/// Tells the other processes that this one is idle, unless they know. Unlocks meanwhile.
void RunContext::tellIdle(std::unique_lock<std::mutex> &lock) {
  if (!remote || !isIdle())
    return;
  IdleState state = idleState();
  IdleState &told = idle[remote->self()];
  if (told == state)
    return;
  told = state;
  lock.unlock();
  remote->idle(state);
  lock.lock();
}

void RunContext::setTimeout(std::vector<uint32_t> members, const std::string &group, uint32_t channels, double seconds) {
  std::sort(members.begin(), members.end());
  std::lock_guard lock(mutex);
  timeouts[{std::move(members), group}] = seconds;
  channelTimeouts[channels] = seconds;
}

/// Returns the timeout of the wait of `member`.
double RunContext::timeoutOf(uint32_t member) const {
  const Waiting &w = waiting[member];
  if (!w.active || timeouts.empty())
    return timeout;
  if (!w.meeting) {
    auto found = channelTimeouts.find(uint32_t(uint64_t(w.channel) >> 32));
    return found == channelTimeouts.end() ? timeout : found->second;
  }
  std::vector<uint32_t> members = w.meeting->members;
  std::sort(members.begin(), members.end());
  auto found = timeouts.find({std::move(members), std::string(groupNameIn(w.operation.name))});
  return found == timeouts.end() ? timeout : found->second;
}

Status RunContext::waitUntil(std::unique_lock<std::mutex> &lock, uint32_t member, const std::function<bool()> &done) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [](double s) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s)); };
  checkDeadlock();
  if (remote && !done() && aborted.ok()) {
    std::vector<uint32_t> processes = otherProcesses(missingFor(member));
    lock.unlock();
    remote->poll(processes, [&] {
      std::lock_guard looking(mutex);
      return done() || !aborted.ok();
    });
    lock.lock();
  }
  Clock::time_point begin = Clock::now();
  const Clock::time_point start = begin;
  bool isTold = false;
  uint64_t seen = totalTicks();
  const double limit = timeoutOf(member);
  double slice = std::min(limit, remote ? kIdleSeconds : 1.0);
  while (!done() && aborted.ok()) {
    if (changed.wait_for(lock, seconds(slice)) == std::cv_status::no_timeout) {
      if (remote)
        checkDeadlock();
      continue;
    }
    tellIdle(lock);
    if (remote)
      checkDeadlock(); // a message that arrived while the mutex was unlocked has woken no thread
    if (remote && !isTold && Clock::now() - start >= seconds(toldSeconds) && waiting[member].active) {
      isTold = true;
      std::fprintf(stderr, "millrace: for %g s %s\n", toldSeconds, describe(member).c_str());
    }
    if (uint64_t now = totalTicks(); now != seen || isSomebodyBusy(member)) {
      seen = now;
      begin = Clock::now();
    } else if (!done() && aborted.ok() && Clock::now() - begin >= seconds(limit)) {
      char text[32];
      std::snprintf(text, sizeof text, "%g", limit);
      abort(deadlineExceeded("nothing has progressed for " + std::string(text) + " s: " + describe(member) +
                             "; set MILLRACE_COLLECTIVE_TIMEOUT, or the timeout of the group, to wait longer"));
    }
  }
  if (done())
    return Status();
  // The error's reason is shared by all members; the interrupted operation is this member's own.
  return aborted;
}

StatusOr<std::shared_ptr<RunContext::Meeting>> RunContext::join(uint32_t member, const std::vector<uint32_t> &members,
                                                                const OperationId &operation, const void *contribution,
                                                                std::shared_ptr<const Parted> parted, bool completes) {
  tick(member);
  std::shared_ptr<Meeting> meeting;
  bool isUnattended = false;
  if (std::vector<uint32_t> processes = otherProcesses(members); !processes.empty()) {
    {
      std::lock_guard lock(mutex);
      if (!aborted.ok())
        return aborted;
      for (uint32_t process : processes)
        ++counts.sentTo[process];
    }
    // The arrival is sent before other threads can read the contribution: after a failure, there is no rendezvous to leave.
    if (Status status = remote->arrive(member, members, operation, contribution); !status.ok()) {
      // A process that ends because of another one is not the first cause.
      fail(status);
      std::lock_guard lock(mutex);
      return aborted;
    }
  }
  {
    std::lock_guard lock(mutex);
    MILLRACE_TRY(enter(member, members, operation, contribution, nullptr, std::move(parted), completes, meeting));
    isUnattended = std::exchange(meeting->isUnattended, false);
  }
  if (isUnattended)
    workLater(meeting);
  return meeting;
}

void RunContext::remoteArrive(uint32_t member, const std::vector<uint32_t> &members, const OperationId &operation,
                              std::shared_ptr<const void> contribution) {
  std::shared_ptr<Meeting> meeting;
  bool isUnattended = false;
  {
    std::lock_guard lock(mutex);
    ++counts.receivedFrom[remote->processOf(member)];
    const void *shown = contribution.get();
    // On an error the waits of local members end.
    if (!enter(member, members, operation, shown, std::move(contribution), nullptr, /*completes=*/false, meeting).ok())
      return;
    isUnattended = std::exchange(meeting->isUnattended, false);
  }
  if (isUnattended)
    workLater(meeting);
}

void RunContext::remotePart(uint32_t process, const std::vector<uint32_t> &members, uint64_t number, std::shared_ptr<char> part,
                            uint64_t bytes) {
  std::lock_guard lock(mutex);
  ++counts.receivedFrom[process];
  if (!aborted.ok())
    return;
  auto isOf = [&](uint32_t member) { return remote->processOf(member) == process; };
  bool isExpected = std::any_of(members.begin(), members.end(), isOf);
  std::shared_ptr<Meeting> meeting;
  if (isExpected) {
    Group &group = groups[members];
    Part received{std::move(part), bytes};
    if (auto unfinished = group.unfinished.find(number); unfinished != group.unfinished.end())
      meeting = unfinished->second;
    else if (number >= group.first && number - group.first < group.open.size())
      meeting = group.open[size_t(number - group.first)];
    if (meeting)
      isExpected = meeting->parts.try_emplace(process, std::move(received)).second;
    else
      isExpected = number >= group.first && group.early[number].try_emplace(process, std::move(received)).second;
  }
  if (!isExpected)
    return abort(dataLoss(remote->describe(process) + " sent a part of a result that nobody expects"));
  if (!meeting)
    return;
  if (meeting->parts.size() < meeting->numOthers)
    return;
  groups[members].unfinished.erase(number);
  for (uint32_t other : members)
    if (waiting[other].meeting == meeting.get() && meeting->arrived == members.size())
      stopWaiting(other);
  changed.notify_all();
}

void RunContext::stopWaiting(uint32_t member) {
  if (!waiting[member].active)
    return;
  waiting[member] = Waiting();
  --waitingCount;
}

/// Enters `member` into the next meeting of its group. `held` keeps the contribution of another process's member.
Status RunContext::enter(uint32_t member, const std::vector<uint32_t> &members, const OperationId &operation, const void *contribution,
                         std::shared_ptr<const void> held, std::shared_ptr<const Parted> parted, bool completes,
                         std::shared_ptr<Meeting> &meeting) {
  size_t position = size_t(std::find(members.begin(), members.end(), member) - members.begin());
  assert(position < members.size() && "a member meets in its own groups");
  Group &group = groups[members];
  group.next.resize(members.size());
  size_t index = size_t(group.next[position] - group.first);
  // An error of the other members' next operation must not fail an operation for which they have done their part. (Of several local members some may
  // have returned with the error, and their contributions are gone.)
  const bool isLast = !held && index < group.open.size() && group.open[index]->arrived + 1 == members.size() && group.open[index]->left == 1;
  if (!aborted.ok() && !isLast)
    return aborted;
  ++group.next[position];
  if (index == group.open.size()) {
    group.open.push_back(std::make_shared<Meeting>(members, *this));
    group.open.back()->number = group.first + index;
    if (auto parts = group.early.extract(group.open.back()->number))
      group.open.back()->parts = std::move(parts.mapped());
  }
  meeting = group.open[index];
  bool isFirst = meeting->arrived == 0;
  if (!isFirst && (operation.step && meeting->operation.step ? meeting->operation.step != operation.step
                                                             : meeting->operation.signature != operation.signature)) {
    // Every process detects the mismatch by itself, so the order in the text must not be that of arrival.
    auto one = std::pair(meeting->first, title(meeting->operation)), other = std::pair(member, title(operation));
    if (one.first > other.first)
      std::swap(one, other);
    Status status = failedPrecondition("mismatched collectives: device " + std::to_string(one.first) + " executes " + one.second +
                                       ", but device " + std::to_string(other.first) + " executes " + other.second);
    abort(status);
    return status;
  }
  if (isFirst)
    meeting->first = member;
  if (isFirst || !meeting->operation.step) {
    meeting->operation = operation;
    if (held) { // the texts are only valid as long as the message
      meeting->operation.name = meeting->name = operation.name;
      meeting->operation.location = meeting->location = operation.location;
    }
  }
  if (held)
    meeting->held.push_back(std::move(held));
  if (parted)
    meeting->parted = std::move(parted);
  meeting->isAttended |= completes;
  meeting->contributions[position] = contribution;
  meeting->present[position] = 1;
  if (++meeting->arrived < members.size())
    return Status();
  // Members enter the meetings of a group in order, so this meeting is the first one of `open`.
  if (meeting->parted && meeting->parts.size() < meeting->numOthers) {
    group.unfinished.emplace(meeting->number, meeting);
    if (Status why = whyPartsNeverCome(*meeting); !why.ok())
      abort(why);
  }
  group.open.pop_front();
  ++group.first;
  for (uint32_t other : members)
    if (waiting[other].meeting == meeting.get())
      stopWaiting(other);
  // Other processes may need this one's part before a local member completes the meeting, and that member may need a message of theirs first.
  if (meeting->parted && !std::exchange(meeting->isAttended, true)) {
    meeting->isUnattended = true;
    ++unattended;
  }
  changed.notify_all();
  return Status();
}

/// Lets another thread do the work of a complete meeting that no local member completes yet.
void RunContext::workLater(const std::shared_ptr<Meeting> &meeting) {
  remote->callLater([weak = weak_from_this(), meeting] {
    std::shared_ptr<RunContext> context = weak.lock();
    if (!context)
      return;
    context->doShares(*meeting, meeting->parted->share, 0);
    std::lock_guard lock(context->mutex);
    --context->unattended;
    context->changed.notify_all();
  });
}

/// Does the shares that have not begun, from position `first` on, and then sends this process's part to the other processes.
void RunContext::doShares(Meeting &meeting, const Work &work, size_t first) {
  const size_t size = meeting.members.size();
  size_t done = 0, last = 0;
  for (size_t i = 0; i < size; ++i)
    if (size_t share = (first + i) % size; meeting.begin(share)) {
      meeting.statuses[share] = work(meeting.contributions, share);
      ++done, last = share;
    }
  std::unique_lock lock(mutex);
  meeting.left -= done;
  if (!done || meeting.left)
    return;
  bool isWhole = !meeting.isBroken;
  for (size_t share = 0; share < size; ++share)
    isWhole &= meeting.statuses[share].ok(); // a failed share ends the waits of the others through RunContext::finish
  if (meeting.parted && isWhole) {
    for (uint32_t process : otherProcesses(meeting.members))
      ++counts.sentTo[process];
    lock.unlock();
    Status status = remote->tellPart(meeting.members, meeting.number, meeting.parted->own(meeting.contributions, last));
    lock.lock();
    if (!status.ok())
      abort(status);
  }
  meeting.isTold = true;
  changed.notify_all();
}

/// Waits for `done` in a meeting.
Status RunContext::waitFor(std::unique_lock<std::mutex> &lock, uint32_t member, const Meeting &meeting, const std::function<bool()> &done) {
  if (done())
    return Status();
  Waiting &w = waiting[member];
  w.active = true;
  w.operation = meeting.operation;
  w.meeting = &meeting;
  ++waitingCount;
  const uint64_t begin = profile::isOn() ? profile::ticks() : 0;
  Status status = waitUntil(lock, member, done);
  if (begin)
    profile::waitedTicks += profile::ticks() - begin;
  stopWaiting(member);
  return status;
}

Status RunContext::complete(uint32_t member, Meeting &meeting, const Work &work) {
  const size_t size = meeting.members.size();
  size_t own = size_t(std::find(meeting.members.begin(), meeting.members.end(), member) - meeting.members.begin());
  std::unique_lock lock(mutex);
  meeting.isAttended = true;
  MILLRACE_TRY(waitFor(lock, member, meeting, [&] { return meeting.arrived == size; }));
  lock.unlock();
  doShares(meeting, meeting.parted ? meeting.parted->share : work, own);
  lock.lock();
  // A thread that has begun a share never blocks in it, except to send the part.
  changed.wait(lock, [&] { return meeting.left == 0 && meeting.isTold; });
  if (meeting.isBroken) {
    changed.wait(lock, [&] { return !aborted.ok(); }); // the member that left reports the reason
    return aborted;
  }
  MILLRACE_TRY(meeting.statuses[own]);
  if (!meeting.parted)
    return Status();
  MILLRACE_TRY(waitFor(lock, member, meeting, [&] { return meeting.parts.size() == meeting.numOthers; }));
  lock.unlock();
  for (const auto &[process, part] : meeting.parts)
    MILLRACE_TRY(meeting.parted->take(meeting.contributions[own], process, part.bytes.get(), part.size));
  return Status();
}

void RunContext::leave(Meeting &meeting) {
  std::unique_lock lock(mutex);
  meeting.isBroken = true;
  size_t begun = 0;
  for (size_t share = 0; share < meeting.members.size(); ++share)
    begun += meeting.begin(share); // the shares of other processes count as begun
  meeting.left -= begun;
  meeting.isTold |= begun && meeting.left == 0; // otherwise the thread of the last share sets the flag
  changed.notify_all();
  changed.wait(lock, [&] { return meeting.left == 0 && meeting.isTold; });
}

Status RunContext::meet(uint32_t member, const std::vector<uint32_t> &members, const OperationId &operation,
                        const void *contribution, const Work &work, std::shared_ptr<const Parted> parted) {
  if (members.size() == 1) {
    tick(member);
    return work({contribution}, 0);
  }
  StatusOr<std::shared_ptr<Meeting>> meeting = join(member, members, operation, contribution, std::move(parted), /*completes=*/true);
  return meeting ? complete(member, **meeting, work) : meeting.status();
}

void RunContext::send(uint32_t source, uint32_t target, int64_t channel, std::string bytes) {
  if (!isLocal(target)) {
    {
      std::lock_guard lock(mutex);
      ++counts.sentTo[remote->processOf(target)];
    }
    if (Status status = remote->send(source, target, channel, bytes); !status.ok())
      fail(status);
    return;
  }
  std::lock_guard lock(mutex);
  deliver(source, target, channel, std::move(bytes));
}

void RunContext::remoteSend(uint32_t source, uint32_t target, int64_t channel, std::string bytes) {
  std::lock_guard lock(mutex);
  ++counts.receivedFrom[remote->processOf(source)];
  deliver(source, target, channel, std::move(bytes));
}

void RunContext::deliver(uint32_t source, uint32_t target, int64_t channel, std::string bytes) {
  mail[{source, target, channel}].push_back(std::move(bytes));
  // The receiver may wait for this message, and then no longer counts as waiting.
  Waiting &w = waiting[target];
  if (w.active && !w.meeting && w.source == source) {
    w.active = false;
    --waitingCount;
  }
  changed.notify_all();
}

StatusOr<std::string> RunContext::receive(uint32_t member, uint32_t source, int64_t channel,
                                          const OperationId &operation) {
  std::unique_lock lock(mutex);
  if (!aborted.ok())
    return aborted;
  tick(member);
  std::deque<std::string> &box = mail[{source, member, channel}];
  while (box.empty()) {
    Waiting &w = waiting[member];
    w = Waiting();
    w.active = true;
    w.operation = operation;
    w.source = source;
    w.channel = channel;
    ++waitingCount;
    Status status = waitUntil(lock, member, [&] { return !box.empty() || !w.active; });
    stopWaiting(member);
    MILLRACE_TRY(status);
  }
  std::string bytes = std::move(box.front());
  box.pop_front();
  return bytes;
}

void RunContext::finish(uint32_t member, const Status &status) {
  std::unique_lock lock(mutex);
  if (finished[member])
    return;
  finished[member] = 1;
  ++localFinished;
  if (!status.ok())
    abort(Status(status.code(), "device " + std::to_string(member) + " failed: " + std::string(status.message())));
  checkDeadlock();
  if (!remote)
    return;
  for (uint32_t process : others)
    ++counts.sentTo[process];
  Status cause = aborted;
  lock.unlock();
  remote->finish(member, cause);
  lock.lock();
  if (localFinished == localCount)
    tellIdle(lock); // other processes may wait for its members
}

void RunContext::remoteFinish(uint32_t member, const Status &cause) {
  std::lock_guard lock(mutex);
  ++counts.receivedFrom[remote->processOf(member)];
  finished[member] = 1;
  if (!cause.ok())
    abort(cause);
  changed.notify_all(); // waiting threads check whether it was the last member
}

bool RunContext::isAwaited() {
  std::lock_guard lock(mutex);
  if (!remote || !aborted.ok() || waitingCount)
    return false;
  const uint32_t self = remote->self();
  return std::any_of(idle.begin(), idle.end(), [&](const auto &entry) {
    const auto &[process, state] = entry;
    // The state is current unless the process has continued since it said so, or a message is under way to it.
    return process != self && !state.waiting.empty() && state.receivedFrom[self] == counts.sentTo[process] &&
           state.sentTo[self] == counts.receivedFrom[process];
  });
}

void RunContext::remoteIdle(uint32_t process, IdleState state) {
  std::lock_guard lock(mutex);
  if (state.sentTo.size() != remote->numProcesses() || state.receivedFrom.size() != remote->numProcesses())
    return abort(dataLoss("another process knows another number of processes"));
  idle[process] = std::move(state);
  changed.notify_all();
}

void RunContext::remoteLost(uint32_t process, const Status &why) {
  std::lock_guard lock(mutex);
  gone.emplace(process, why);
  for (uint32_t member = 0; member < size(); ++member)
    if (remote->processOf(member) == process && !finished[member])
      return abort(why);
  for (const auto &[members, group] : groups)
    for (const auto &[number, meeting] : group.unfinished)
      if (Status lost = whyPartsNeverCome(*meeting); !lost.ok())
        return abort(lost);
}

/// Returns an error if a process is gone that would have forwarded a missing part to this one. All that it had sent has been received.
Status RunContext::whyPartsNeverCome(const Meeting &meeting) const {
  if (gone.empty())
    return Status();
  std::vector<uint32_t> here = {remote->self()}, elsewhere;
  for (uint32_t process : otherProcesses(meeting.members))
    (remote->hostOf(process) == remote->hostOf(remote->self()) ? here : elsewhere).push_back(process);
  std::sort(here.begin(), here.end());
  for (uint32_t origin : elsewhere)
    if (auto found = gone.find(firstToTell(origin, here)); found != gone.end() && !meeting.parts.count(origin))
      return found->second;
  return Status();
}

void RunContext::fail(const Status &why) {
  std::lock_guard lock(mutex);
  abort(why);
}

} // namespace millrace::runtime
