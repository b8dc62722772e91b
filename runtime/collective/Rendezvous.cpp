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
  if (w.group) {
    for (size_t i = 0; i < w.members->size(); ++i)
      if (!w.group->present[i])
        missing.push_back((*w.members)[i]);
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

Status RunContext::meet(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation,
                        const void *contribution,
                        const std::function<Status(const std::vector<const void *> &)> &work) {
  size_t position = size_t(std::find(group.begin(), group.end(), member) - group.begin());
  assert(position < group.size() && "a member meets in its own groups");
  if (group.size() == 1) {
    tick(member);
    return work({contribution});
  }
  std::unique_lock lock(mutex);
  if (!aborted.ok())
    return aborted;
  tick(member);
  Group &g = groups[group];
  if (g.contributions.empty()) {
    g.contributions.resize(group.size());
    g.present.resize(group.size());
  }
  Waiting &w = waiting[member];
  // Others may still be inside the previous meeting; they never block there.
  changed.wait(lock, [&] { return g.working == 0 || !aborted.ok(); });
  if (!aborted.ok())
    return aborted;
  if (g.arrived == 0) {
    g.operation = operation;
    g.first = member;
  } else if (g.operation.step != operation.step) {
    Status status = failedPrecondition("mismatched collectives: device " + std::to_string(g.first) + " executes " +
                                       title(g.operation) + ", but device " + std::to_string(member) + " executes " +
                                       title(operation));
    abort(status);
    return status;
  }
  g.contributions[position] = contribution;
  g.present[position] = 1;
  if (++g.arrived == group.size()) {
    for (uint32_t other : group)
      if (waiting[other].active) {
        waiting[other] = Waiting();
        --waitingCount;
      }
    g.working = group.size();
    g.arrived = 0;
    ++g.generation;
    std::fill(g.present.begin(), g.present.end(), 0);
    changed.notify_all();
  } else {
    uint64_t generation = g.generation;
    w.active = true;
    w.operation = operation;
    w.group = &g;
    w.members = &group;
    ++waitingCount;
    Status status = waitUntil(lock, member, [&] { return g.generation != generation; });
    if (!status.ok()) {
      if (w.active) {
        w = Waiting();
        --waitingCount;
      }
      return status;
    }
  }
  // Nobody changes the contributions before all have left `work`.
  lock.unlock();
  Status status = work(g.contributions);
  lock.lock();
  if (--g.working == 0)
    changed.notify_all();
  else
    changed.wait(lock, [&, generation = g.generation] { return g.working == 0 || g.generation != generation; });
  return status;
}

void RunContext::send(uint32_t source, uint32_t target, int64_t channel, std::string bytes) {
  std::lock_guard lock(mutex);
  mail[{source, target, channel}].push_back(std::move(bytes));
  // The receiver may wait for just this: it no longer counts as waiting.
  Waiting &w = waiting[target];
  if (w.active && !w.group && w.source == source) {
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
