// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RemoteShards.cpp - Shards of tensors that other processes hold -------===//
#include "tracing/spmd/RemoteShards.h"

#include "runtime/base/Hash.h"
#include "runtime/transport/Wire.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace millrace::tracing {
namespace {

using runtime::BufferPtr;
using runtime::Status;
using runtime::StatusOr;
using runtime::transport::Reader;
using runtime::transport::Writer;

enum What : uint32_t { Gift, GiftAsAnswer, Refusal, Ending };

/// The number of last launches whose histories a message with shards contains. In a loop that reads, no process is more launches ahead of another.
constexpr size_t kMostHistories = 64;
/// The time between two checks whether other processes are busy.
constexpr std::chrono::milliseconds kLook(200);

std::string headOf(uint32_t what, uint64_t read, const ShardsName &name, uint64_t history, std::string_view text = {}, uint64_t launch = 0,
                   const std::vector<uint64_t> &histories = {}) {
  Writer writer;
  writer.number(what);
  writer.number(read);
  writer.number(name.launch);
  writer.number(name.result);
  writer.number(history);
  writer.text(text);
  writer.number(launch);
  writer.list(histories);
  return std::move(writer.bytes);
}

} // namespace

std::shared_ptr<RemoteShards> RemoteShards::create(std::shared_ptr<runtime::Processes> processes, uint32_t devicesOfEach, double timeoutSeconds) {
  std::shared_ptr<RemoteShards> made(new RemoteShards(std::move(processes), devicesOfEach, timeoutSeconds));
  made->self = made;
  made->processes->listen({[weak = made->self](uint32_t from, Message message) {
                             if (std::shared_ptr<RemoteShards> shards = weak.lock())
                               shards->receive(from, std::move(message));
                           },
                           [weak = made->self](uint32_t) {
                             if (std::shared_ptr<RemoteShards> shards = weak.lock())
                               shards->changed.notify_all();
                           }});
  return made;
}

RemoteShards::RemoteShards(std::shared_ptr<runtime::Processes> processes, uint32_t devicesOfEach, double timeoutSeconds)
    : processes(std::move(processes)), devicesOfEach(devicesOfEach), timeoutSeconds(timeoutSeconds),
      areEnding(this->processes->size()), toldOf(this->processes->size()), launchOf(this->processes->size()) {}

//===-- Which process holds which shards --------------------------------------===//

bool RemoteShards::Entry::isHere() const {
  BufferPtr buffer = any.lock();
  return buffer && !buffer->isReleased();
}

/// Returns the devices of a process whose shards no lower device holds: the shards that the process sends.
std::vector<int64_t> RemoteShards::firstHolders(const Sharding &sharding, const std::vector<int64_t> &dims, uint32_t process) const {
  const std::vector<int64_t> replicas = sharding.replicaIds();
  std::vector<int64_t> devices, offset, inside;
  for (int64_t device = int64_t(process) * devicesOfEach; device < int64_t(process + 1) * devicesOfEach; ++device) {
    sharding.extentOf(device, dims, offset, inside);
    if (!replicas[size_t(device)] && std::find(inside.begin(), inside.end(), 0) == inside.end())
      devices.push_back(device);
  }
  return devices;
}

std::vector<std::vector<bool>> RemoteShards::traffic(const Sharding &sharding, const std::vector<int64_t> &dims) const {
  const uint32_t count = processes->size();
  std::vector<std::vector<std::vector<int64_t>>> held(count); // per process the offsets of its shards
  std::vector<int64_t> offset, inside;
  for (int64_t device = 0; device < sharding.devices; ++device) {
    sharding.extentOf(device, dims, offset, inside);
    held[size_t(device) / devicesOfEach].push_back(offset);
  }
  std::vector<std::vector<bool>> gives(count, std::vector<bool>(count));
  for (uint32_t from = 0; from < count; ++from)
    for (int64_t device : firstHolders(sharding, dims, from)) {
      sharding.extentOf(device, dims, offset, inside);
      for (uint32_t to = 0; to < count; ++to)
        if (std::find(held[to].begin(), held[to].end(), offset) == held[to].end())
          gives[from][to] = true;
    }
  return gives;
}

bool RemoteShards::isExchanged(const Sharding &sharding, const std::vector<int64_t> &dims) const {
  const std::vector<std::vector<bool>> gives = traffic(sharding, dims);
  return std::any_of(gives.begin(), gives.end(), [](const auto &to) { return std::find(to.begin(), to.end(), true) != to.end(); });
}

RemoteShards::Buffers RemoteShards::givenOf(const Shards &shards, const Shape &shape) const {
  Buffers given;
  for (int64_t device : firstHolders(*shards.sharding, shape.dims, processes->rank()))
    given.push_back(shards.buffers[size_t(device) - size_t(processes->rank()) * devicesOfEach]);
  return given;
}

void RemoteShards::beginLaunch(uint64_t content) {
  std::lock_guard lock(mutex);
  next = {next.launch + 1, 0};
  histories.push_back(runtime::hash64(&content, sizeof content, histories.back()));
  if (histories.size() > 2 * kMostHistories)
    histories.erase(histories.begin(), histories.end() - kMostHistories);
  std::erase_if(kept, [&](const Kept &each) {
    return launchOf[each.process] > each.launch || processes->launchesOf(each.process) > each.launches || !processes->links().statusOf(each.process).ok();
  });
  for (uint32_t process = 0; process < processes->size(); ++process) // the processes that were ahead of this one
    if (const auto &[launch, told] = toldOf[process]; !isSameHistory(launch, told)) {
      diverge(process);
      refuseAll(process);
    }
  const bool isCluttered = std::any_of(entries.begin(), entries.end(), [](const auto &entry) {
    return std::any_of(entry.second.with.begin(), entry.second.with.end(), [](const auto &with) { return with.second.unread != 0; });
  });
  if (entries.size() < sweepAt && !isCluttered)
    return;
  std::erase_if(entries, [](const auto &entry) {
    const Entry &known = entry.second;
    return known.isKnown && !known.isHere() &&
           std::all_of(known.with.begin(), known.with.end(), [](const auto &with) { return !with.second.owed; });
  });
  sweepAt = 2 * entries.size() + 64;
}

bool RemoteShards::isAwaited() {
  std::unique_lock lock(mutex);
  const bool isNew = !std::exchange(isEnding, true);
  const bool isHolding = !kept.empty() ||
      std::any_of(entries.begin(), entries.end(), [](const auto &entry) { return entry.second.isKnown && entry.second.isHere(); });
  const std::vector<bool> ending = areEnding;
  lock.unlock();
  bool isAnybodyBusy = false;
  for (uint32_t process = 0; process < processes->size(); ++process) {
    if (process == processes->rank() || !processes->links().statusOf(process).ok())
      continue;
    if (isNew)
      (void)processes->tell(process, headOf(Ending, 0, {}, 0)).ok();
    isAnybodyBusy |= !ending[process];
  }
  return isHolding && isAnybodyBusy && !processes->isLate(); // a process that waits for a launch which this one will not make reads nothing
}

void RemoteShards::keep(Shards &shards, const Shape &shape) {
  Buffers given = givenOf(shards, shape);
  std::lock_guard lock(mutex);
  shards.name = next;
  ++next.result;
  Entry &entry = entries[shards.name];
  entry.isKnown = true;
  entry.history = histories.back();
  entry.any = shards.buffers.front();
  entry.given.assign(given.begin(), given.end());
  compare(entry);
  for (const auto &[process, exchange] : entry.with) // the processes that were ahead of this one
    for (uint64_t read = 0; read < exchange.theirReads; ++read)
      owe({shards.name, process, std::nullopt});
}

//===-- Answers to other processes --------------------------------------------===//

StatusOr<RemoteShards::Memories> RemoteShards::memoriesOf(const Buffers &buffers) {
  Memories memories;
  for (const BufferPtr &buffer : buffers) {
    StatusOr<std::shared_ptr<runtime::Storage>> memory = buffer->acquire();
    if (!memory)
      return memory.status();
    memories.push_back(std::move(*memory));
  }
  return memories;
}

Status RemoteShards::send(uint32_t to, uint64_t read, const Name &name, uint64_t history, const Memories &shards) {
  std::vector<iovec> payload;
  for (const std::shared_ptr<runtime::Storage> &part : shards)
    payload.push_back({part->data(), part->size()});
  std::vector<uint64_t> told;
  uint64_t launch = 0;
  {
    std::lock_guard lock(mutex);
    launch = next.launch;
    if (read)
      told.assign(histories.end() - std::ptrdiff_t(std::min(histories.size(), kMostHistories)), histories.end());
  }
  return processes->tell(to, headOf(read ? Gift : GiftAsAnswer, read, name, history, {}, launch, told), payload);
}

void RemoteShards::receive(uint32_t from, Message message) {
  Reader reader(message.head);
  const uint32_t what = reader.number<uint32_t>();
  const uint64_t read = reader.number<uint64_t>();
  Name name;
  name.launch = reader.number<uint64_t>(), name.result = reader.number<uint32_t>();
  const uint64_t theirs = reader.number<uint64_t>();
  std::string text = reader.text();
  const uint64_t theirLaunch = reader.number<uint64_t>();
  const std::vector<uint64_t> theirHistories = reader.list<uint64_t>();
  if (!reader.isComplete())
    return;
  std::lock_guard lock(mutex);
  launchOf[from] = std::max(launchOf[from], theirLaunch);
  if (what == Gift)
    toldOf[from] = {theirLaunch, theirHistories};
  if (what == Ending) {
    areEnding[from] = true;
    return;
  }
  auto [entry, isNew] = entries.try_emplace(name);
  Exchange &exchange = entry->second.with[from];
  exchange.history = theirs;
  if (isNew && name < next) { // the tensor was forgotten
    entry->second.isKnown = true;
    entry->second.history = theirs;
  }
  compare(entry->second);
  if (what == Gift && !isSameHistory(theirLaunch, theirHistories)) {
    diverge(from);
    return owe({name, from, std::nullopt}); // the answer says that this process does not have the tensor
  }
  if (what == Refusal)
    exchange.refusal = std::move(text);
  else if (message.payloadBytes) // without a payload the process asks and has no shards to send
    ++exchange.unread, exchange.gift = std::move(message);
  // The number of the last read for which this process has sent its shards: the other one reads in order, and this one sends for the larger of both.
  const uint64_t given = std::max(exchange.ownReads, exchange.theirReads);
  exchange.theirReads = std::max(exchange.theirReads, read);
  for (uint64_t each = given; entry->second.isKnown && each < exchange.theirReads; ++each)
    owe({name, from, std::nullopt});
  changed.notify_all();
}

/// Returns true if another process, which has reached `launch`, executed the same launches as this one, as far as both still know them. The caller
/// holds the mutex.
bool RemoteShards::isSameHistory(uint64_t launch, const std::vector<uint64_t> &theirs) const {
  auto at = [](const std::vector<uint64_t> &list, uint64_t last, uint64_t wanted) -> const uint64_t * {
    return wanted <= last && last - wanted < list.size() ? &list[list.size() - 1 - size_t(last - wanted)] : nullptr;
  };
  const uint64_t common = std::min(launch, next.launch);
  const uint64_t *their = at(theirs, launch, common), *own = at(histories, next.launch, common);
  return !their || !own || *their == *own;
}

/// Records that another process has executed other launches. The caller holds the mutex.
void RemoteShards::diverge(uint32_t from) {
  if (divergence.ok())
    divergence = runtime::failedPrecondition("a sharded tensor cannot be read: " + processes->links().describe(processes->rank()) + " and " +
                                             processes->links().describe(from) +
                                             " have not run the same programs with the same values, and under SPMD all processes have to");
  changed.notify_all();
}

/// Refuses the tensors that the process asked for before this process had them, because it will never have them. The caller holds the mutex.
void RemoteShards::refuseAll(uint32_t to) {
  for (auto &[name, entry] : entries)
    if (auto with = entry.with.find(to); with != entry.with.end() && !entry.isKnown && with->second.theirReads > with->second.ownReads) {
      with->second.ownReads = with->second.theirReads;
      owe({name, to, std::nullopt});
    }
}

/// Compares the histories of the processes that have sent theirs for this tensor. The caller holds the mutex.
void RemoteShards::compare(const Entry &entry) {
  for (const auto &[process, exchange] : entry.with)
    if (entry.isKnown && exchange.history && *exchange.history != entry.history)
      diverge(process);
}

/// Enqueues an answer. The caller holds the mutex.
void RemoteShards::owe(Debt debt) {
  uint32_t &owed = entries[debt.name].with[debt.to].owed;
  if (answers.add([this, debt] { answer(debt); }))
    ++owed;
}

void RemoteShards::answer(Debt debt) {
  std::unique_lock lock(mutex);
  const Entry &entry = entries[debt.name];
  if (divergence.ok() && !debt.buffers && entry.isHere()) {
    // This thread does not wait for the shards, because their computation may wait for a process that waits for another answer of this thread.
    std::vector<runtime::Event> events;
    debt.buffers.emplace();
    for (const std::weak_ptr<runtime::Buffer> &each : entry.given)
      if (BufferPtr buffer = each.lock()) {
        events.push_back(buffer->ready());
        debt.buffers->push_back(std::move(buffer));
      }
    lock.unlock();
    runtime::whenAll(events).onReady([weak = self, debt](const Status &) {
      if (std::shared_ptr<RemoteShards> shards = weak.lock())
        shards->answers.add([shards = shards.get(), debt] { shards->answer(debt); });
    });
    return;
  }
  const size_t expected = entry.given.size();
  const uint64_t sameHistory = entry.history;
  std::string why = divergence.ok() ? "" : std::string(divergence.message());
  std::optional<Memories> shards;
  for (const Kept &each : kept)
    if (each.name == debt.name && each.process == debt.to)
      shards = each.shards;
  lock.unlock();
  if (debt.buffers && debt.buffers->size() == expected)
    if (StatusOr<Memories> own = memoriesOf(*debt.buffers))
      shards = std::move(*own);
  if (why.empty() && (!shards || !send(debt.to, /*read=*/0, debt.name, sameHistory, *shards).ok()))
    why = processes->links().describe(processes->rank()) + " went on without reading it, and has given up its shards";
  if (!why.empty()) {
    (void)processes->tell(debt.to, headOf(Refusal, 0, debt.name, sameHistory, why)).ok(); // a lost process does not wait
  }
  shards.reset();
  debt.buffers.reset();
  lock.lock();
  --entries[debt.name].with[debt.to].owed;
  changed.notify_all();
}

//===-- Reading ---------------------------------------------------------------===//

std::string RemoteShards::waitingFor(const Shape &shape, const std::vector<uint32_t> &missing) const {
  std::string text = processes->links().describe(processes->rank()) + " reads a tensor " + shape.toString() + ", of which it lacks the shards of ";
  for (uint32_t process : missing) {
    const std::string activity = processes->links().activityOf(process);
    text += (process == missing.front() ? "" : ", ") + processes->links().describe(process) +
            (activity.empty() ? ", which sends nothing" : ", which " + activity);
  }
  return text;
}

/// Returns the error for a process with shards that is lost.
Status RemoteShards::lossOf(uint32_t process, const std::vector<uint32_t> &givers, const Shape &shape) const {
  Status first = processes->links().firstLoss(givers).second;
  return (first.ok() ? processes->links().statusOf(process) : first).withContext("a tensor " + shape.toString() + " cannot be read");
}

Status RemoteShards::read(const Shards &shards, const Shape &shape, void *target, const std::function<Status()> &mayGoOn) {
  const uint32_t rank = processes->rank();
  const std::vector<std::vector<bool>> gives = traffic(*shards.sharding, shape.dims);
  std::vector<uint32_t> givers, partners;
  for (uint32_t process = 0; process < processes->size(); ++process) {
    if (gives[process][rank])
      givers.push_back(process);
    if (gives[process][rank] || gives[rank][process])
      partners.push_back(process);
  }
  for (const BufferPtr &buffer : shards.buffers)
    MILLRACE_TRY(buffer->ready().await());
  if (partners.empty())
    return join(shards, shape, target);
  MILLRACE_TRY(processes->connect());
  StatusOr<Memories> given = memoriesOf(givenOf(shards, shape));
  if (!given)
    return given.status();
  const uint64_t launches = processes->launchesOf(rank);

  std::unique_lock lock(mutex);
  std::vector<std::pair<uint32_t, uint64_t>> toGive; // processes, and the numbers of their reads
  for (uint32_t process : partners)
    if (Exchange &exchange = entries[shards.name].with[process]; ++exchange.ownReads > exchange.theirReads)
      toGive.emplace_back(process, exchange.ownReads);
  for (uint32_t process : partners)
    if (gives[rank][process]) {
      std::erase_if(kept, [&](const Kept &each) { return each.name == shards.name && each.process == process; });
      kept.push_back({shards.name, process, next.launch, launches, *given});
    }
  const uint64_t ownHistory = entries[shards.name].history;
  lock.unlock();
  for (auto [process, read] : toGive)
    if (Status status = send(process, read, shards.name, ownHistory, gives[rank][process] ? *given : Memories());
        !status.ok() && gives[process][rank])
      return lossOf(process, givers, shape);

  std::map<uint32_t, Message> received;
  const auto start = std::chrono::steady_clock::now();
  auto lastBusy = start;
  bool isTold = false;
  lock.lock();
  while (true) {
    MILLRACE_TRY(divergence);
    std::vector<uint32_t> missing;
    bool isOwing = false; // the caller may release the shards once no answer is owed
    for (uint32_t process : partners)
      isOwing |= entries[shards.name].with[process].owed && processes->links().statusOf(process).ok();
    for (uint32_t process : givers) {
      Exchange &exchange = entries[shards.name].with[process];
      if (received.count(process))
        continue;
      if (exchange.unread) {
        received.emplace(process, exchange.gift);
        if (!--exchange.unread)
          exchange.gift = Message();
        continue;
      }
      if (!exchange.refusal.empty())
        return runtime::failedPrecondition("a tensor " + shape.toString() + " cannot be read: " + std::exchange(exchange.refusal, "") +
                                           ". All processes have to read it, or to keep it until the last one has");
      if (!processes->links().statusOf(process).ok())
        return lossOf(process, givers, shape);
      missing.push_back(process);
    }
    if (missing.empty() && !isOwing)
      break;
    changed.wait_for(lock, kLook);
    if (mayGoOn) {
      lock.unlock();
      Status interrupted = mayGoOn();
      lock.lock();
      MILLRACE_TRY(interrupted);
    }
    const auto now = std::chrono::steady_clock::now();
    if (std::any_of(missing.begin(), missing.end(), [&](uint32_t process) { return !processes->links().activityOf(process).empty(); }))
      lastBusy = now;
    if (!isTold && !missing.empty() && now - start >= std::chrono::duration<double>(runtime::RunContext::toldSeconds)) {
      isTold = true;
      std::fprintf(stderr, "millrace: for %g s %s\n", runtime::RunContext::toldSeconds, waitingFor(shape, missing).c_str());
    }
    if (now - lastBusy >= std::chrono::duration<double>(timeoutSeconds)) {
      char text[32];
      std::snprintf(text, sizeof text, "%g", timeoutSeconds);
      return runtime::deadlineExceeded("nothing has come for " + std::string(text) + " s: " + waitingFor(shape, missing));
    }
  }
  lock.unlock();

  const uint64_t partBytes = uint64_t(Shape{shape.dtype, shards.sharding->shardDims(shape.dims)}.count()) * runtime::byteSize(shape.dtype);
  std::map<int64_t, const char *> others;
  for (const auto &[process, message] : received) {
    const std::vector<int64_t> devices = firstHolders(*shards.sharding, shape.dims, process);
    if (message.payloadBytes != devices.size() * partBytes)
      return runtime::dataLoss(processes->links().describe(process) + " sent " + std::to_string(message.payloadBytes) + " bytes of a tensor " +
                               shape.toString() + ", of which it has " + std::to_string(devices.size()) + " shards of " +
                               std::to_string(partBytes) + " bytes");
    for (size_t i = 0; i < devices.size(); ++i)
      others[devices[i]] = message.payload.get() + i * partBytes;
  }
  return join(shards, shape, target, others);
}

} // namespace millrace::tracing
