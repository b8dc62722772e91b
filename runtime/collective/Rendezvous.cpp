// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.cpp - Where the devices of one execution meet ------------===//
#include "runtime/collective/Rendezvous.h"

#include <algorithm>
#include <chrono>

namespace millrace::runtime {
namespace {

std::string title(const OperationId &operation) {
  std::string text(operation.name);
  if (!operation.location.empty())
    text += " at " + std::string(operation.location);
  return text;
}

} // namespace

struct RunContext::Meeting {
  explicit Meeting(const std::vector<uint32_t> &members)
      : members(members), contributions(members.size()), present(members.size()), statuses(members.size()), begun(members.size()),
        left(members.size()) {}

  const std::vector<uint32_t> members;
  OperationId operation;
  uint32_t first = 0; ///< who arrived first, for messages
  size_t arrived = 0;
  std::vector<const void *> contributions; ///< constant once all have arrived
  std::vector<uint8_t> present;
  std::vector<Status> statuses;            ///< of the shares; each written by who does it
  std::vector<std::atomic<uint8_t>> begun; ///< per share
  size_t left;                             ///< shares that are not done; guarded by the context's mutex
  bool isBroken = false;                   ///< a member left; guarded likewise

  bool begin(size_t share) {
    return !begun[share].load(std::memory_order_relaxed) && !begun[share].exchange(1, std::memory_order_acq_rel);
  }
};

RunContext::RunContext(uint32_t numReplicas, uint32_t numPartitions, double timeoutSeconds)
    : numReplicas(numReplicas), numPartitions(numPartitions), timeout(timeoutSeconds), waiting(size()),
      finished(size(), 0), ticks(size()) {}

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

/// "all_reduce at f.py:3 on device 0 waits for device 1, which has finished without taking part".
std::string RunContext::describe(uint32_t member) const {
  const Waiting &w = waiting[member];
  std::string text = title(w.operation) + " on device " + std::to_string(member) + " waits for ";
  std::vector<uint32_t> missing;
  if (w.meeting) {
    for (size_t i = 0; i < w.meeting->members.size(); ++i)
      if (!w.meeting->present[i])
        missing.push_back(w.meeting->members[i]);
  } else {
    missing.push_back(w.source);
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    uint32_t other = missing[i];
    text += (i ? "; for device " : "device ") + std::to_string(other);
    if (finished[other])
      text += ", which has finished without taking part";
    else if (waiting[other].active)
      text += ", which waits in " + title(waiting[other].operation);
    else
      text += ", which has not arrived";
  }
  return text;
}

// Every member waits or is gone: nobody is left who could end a wait.
void RunContext::checkDeadlock() {
  if (!aborted.ok() || waitingCount == 0 || waitingCount + finishedCount != size())
    return;
  for (uint32_t member = 0; member < size(); ++member)
    if (waiting[member].active)
      return abort(failedPrecondition("missing participant: " + describe(member)));
}

Status RunContext::waitUntil(std::unique_lock<std::mutex> &lock, uint32_t member, const std::function<bool()> &done) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [](double s) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s)); };
  checkDeadlock();
  Clock::time_point begin = Clock::now();
  uint64_t seen = totalTicks();
  double slice = std::min(timeout, 1.0);
  while (!done() && aborted.ok()) {
    if (changed.wait_for(lock, seconds(slice)) == std::cv_status::no_timeout)
      continue;
    if (uint64_t now = totalTicks(); now != seen) {
      seen = now;
      begin = Clock::now();
    } else if (!done() && aborted.ok() && Clock::now() - begin >= seconds(timeout)) {
      char text[32];
      std::snprintf(text, sizeof text, "%g", timeout);
      abort(deadlineExceeded("nothing has progressed for " + std::string(text) + " s: " + describe(member)));
    }
  }
  if (done())
    return Status();
  // The reason is shared; the operation that it interrupts here is this member's own.
  return aborted;
}

StatusOr<std::shared_ptr<RunContext::Meeting>> RunContext::arrive(uint32_t member, const std::vector<uint32_t> &members,
                                                                  const OperationId &operation, const void *contribution) {
  size_t position = size_t(std::find(members.begin(), members.end(), member) - members.begin());
  assert(position < members.size() && "a member meets in its own groups");
  std::lock_guard lock(mutex);
  if (!aborted.ok())
    return aborted;
  tick(member);
  Group &group = groups[members];
  group.next.resize(members.size());
  size_t index = size_t(group.next[position]++ - group.first);
  if (index == group.open.size())
    group.open.push_back(std::make_shared<Meeting>(members));
  std::shared_ptr<Meeting> meeting = group.open[index];
  if (meeting->arrived == 0) {
    meeting->operation = operation;
    meeting->first = member;
  } else if (meeting->operation.step != operation.step) {
    Status status = failedPrecondition("mismatched collectives: device " + std::to_string(meeting->first) + " executes " +
                                       title(meeting->operation) + ", but device " + std::to_string(member) + " executes " +
                                       title(operation));
    abort(status);
    return status;
  }
  meeting->contributions[position] = contribution;
  meeting->present[position] = 1;
  if (++meeting->arrived < members.size())
    return meeting;
  // Nobody comes to a meeting before the earlier ones of its group: this is the first of them.
  group.open.pop_front();
  ++group.first;
  for (uint32_t other : members)
    if (Waiting &w = waiting[other]; w.active && w.meeting == meeting.get()) {
      w = Waiting();
      --waitingCount;
    }
  changed.notify_all();
  return meeting;
}

Status RunContext::complete(uint32_t member, Meeting &meeting, const Work &work) {
  const size_t size = meeting.members.size();
  size_t own = size_t(std::find(meeting.members.begin(), meeting.members.end(), member) - meeting.members.begin());
  std::unique_lock lock(mutex);
  if (meeting.arrived < size) {
    Waiting &w = waiting[member];
    w.active = true;
    w.operation = meeting.operation;
    w.meeting = &meeting;
    ++waitingCount;
    Status status = waitUntil(lock, member, [&] { return meeting.arrived == size; });
    if (w.active) {
      w = Waiting();
      --waitingCount;
    }
    MILLRACE_TRY(status);
  }
  lock.unlock();
  size_t done = 0;
  for (size_t i = 0; i < size; ++i)
    if (size_t share = (own + i) % size; meeting.begin(share)) {
      meeting.statuses[share] = work(meeting.contributions, share);
      ++done;
    }
  lock.lock();
  meeting.left -= done;
  if (done && meeting.left == 0)
    changed.notify_all();
  // Who has begun a share never blocks in it.
  changed.wait(lock, [&] { return meeting.left == 0; });
  if (meeting.isBroken) {
    changed.wait(lock, [&] { return !aborted.ok(); }); // who left says why
    return aborted;
  }
  return meeting.statuses[own];
}

void RunContext::leave(Meeting &meeting) {
  std::unique_lock lock(mutex);
  meeting.isBroken = true;
  for (size_t share = 0; share < meeting.members.size(); ++share)
    meeting.left -= meeting.begin(share);
  changed.notify_all();
  changed.wait(lock, [&] { return meeting.left == 0; });
}

Status RunContext::meet(uint32_t member, const std::vector<uint32_t> &members, const OperationId &operation,
                        const void *contribution, const Work &work) {
  if (members.size() == 1) {
    tick(member);
    return work({contribution}, 0);
  }
  StatusOr<std::shared_ptr<Meeting>> meeting = arrive(member, members, operation, contribution);
  return meeting ? complete(member, **meeting, work) : meeting.status();
}

void RunContext::send(uint32_t source, uint32_t target, int64_t channel, std::string bytes) {
  std::lock_guard lock(mutex);
  mail[{source, target, channel}].push_back(std::move(bytes));
  // The receiver may wait for just this: it no longer counts as waiting.
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
    ++waitingCount;
    Status status = waitUntil(lock, member, [&] { return !box.empty() || !w.active; });
    if (w.active) {
      w = Waiting();
      --waitingCount;
    }
    MILLRACE_TRY(status);
  }
  std::string bytes = std::move(box.front());
  box.pop_front();
  return bytes;
}

void RunContext::finish(uint32_t member, const Status &status) {
  std::lock_guard lock(mutex);
  if (finished[member])
    return;
  finished[member] = 1;
  ++finishedCount;
  if (!status.ok())
    abort(Status(status.code(), "device " + std::to_string(member) + " failed: " + std::string(status.message())));
  checkDeadlock();
}

} // namespace millrace::runtime
