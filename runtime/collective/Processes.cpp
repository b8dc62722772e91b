// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Processes.cpp - Processes that run programs together ----------------===//
// Every message of an execution begins with the key of its launch.
#include "runtime/collective/Processes.h"
#include "runtime/collective/RemoteCalls.h"
#include "runtime/transport/Wire.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace millrace::runtime {
namespace {

using transport::Message;
using transport::Reader;
using transport::SharedLease;
using transport::Writer;

enum Kind : uint32_t { Begin = 1, Arrive, Mail, Finish, Idle, Told, Part };

/// No process of this runtime is so many launches ahead of this one: the messages of one that claims it are ignored.
constexpr uint64_t maxAhead = 1 << 20;

/// A thread polls for a message for this long before it sleeps: about as long as it takes to wake two threads. Unit: microseconds. Source: `python -m
/// benchmarks.processes`, AMD EPYC, two cores: an all_reduce of 4 KB takes 45 us with it, 90 us without.
constexpr std::chrono::microseconds kPollingTime(50);

/// Stands for the number of a launch in messages of the context of replicas.
constexpr uint64_t replicasNumber = ~uint64_t(0);

Writer headFor(const std::vector<uint32_t> &clique, uint64_t number) {
  Writer writer;
  writer.list(clique);
  writer.number(number);
  return writer;
}

/// All objects that are connected, for millrace_end_processes().
struct Connected {
  std::mutex mutex;
  std::vector<std::weak_ptr<Processes>> all; ///< guarded by mutex
};

Connected &connectedOnes() {
  static auto *ones = new Connected;
  return *ones;
}

/// The header of a part of a result.
struct PartHead {
  std::vector<uint32_t> clique;
  uint64_t launch = 0;
  uint32_t origin = 0; ///< the process whose part it is
  std::vector<uint32_t> group;
  uint64_t number = 0; ///< number of the meeting

  /// Encodes the header. The receiver forwards the part to the processes `onward`.
  std::string encode(const std::vector<uint32_t> &onward) const {
    Writer writer = headFor(clique, launch);
    writer.number(origin);
    writer.list(group);
    writer.number(number);
    writer.list(onward);
    return std::move(writer.bytes);
  }
};

} // namespace

/// The members of one launch.
class Processes::Members final : public RemoteMembers {
public:
  Members(std::shared_ptr<Processes> owner, Key key, std::vector<uint32_t> processes)
      : owner(std::move(owner)), key(std::move(key)), processes(std::move(processes)) {}
  ~Members() override { owner->close(key); }
  uint32_t numProcesses() const override { return owner->size(); }
  uint32_t self() const override { return owner->rank(); }
  uint32_t processOf(uint32_t member) const override { return processes[member]; }
  const std::string &hostOf(uint32_t process) const override { return owner->mesh->hostOf(process); }
  std::string describe(uint32_t process) const override { return owner->mesh->describe(process); }
  std::string activityOf(uint32_t process) const override { return owner->mesh->activityOf(process); }

  Status arrive(uint32_t member, const std::vector<uint32_t> &group, const OperationId &operation, const void *contribution) override {
    std::map<uint32_t, std::vector<size_t>> positions; // positions of each process's members
    size_t own = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      positions[processes[group[i]]].push_back(i);
      if (group[i] == member)
        own = i;
    }
    auto hosts = [&] {
      std::vector<std::string> each;
      for (const auto &[process, theirs] : positions)
        each.push_back(hostOf(process));
      return each;
    };
    const auto &made = *static_cast<const CollectiveCall *>(contribution);
    const uint32_t numParts = isParted(made, hosts) ? uint32_t(positions.size()) : 0;
    SharedLease whole; // the block of operands that all processes read
    uint32_t next = 0;
    for (const auto &[process, theirs] : positions) {
      const ProcessPart part{numParts ? next++ : 0, numParts};
      if (process == self())
        continue;
      EncodedCall call = encodeCall(made, own, group.size(), theirs, part);
      Writer writer = headFor(key.first, key.second);
      writer.number(member);
      writer.list(group);
      writer.text(operation.name);
      writer.text(operation.location);
      writer.number(operation.signature);
      writer.text(call.head);
      MILLRACE_TRY(owner->mesh->send(process, Arrive, writer.bytes, call.payload, call.isWhole ? &whole : nullptr));
    }
    return Status();
  }

  Status tellPart(const std::vector<uint32_t> &group, uint64_t number, const std::vector<iovec> &part) override {
    std::map<std::string, std::set<uint32_t>> byHost;
    for (uint32_t member : group)
      if (processes[member] != self())
        byHost[hostOf(processes[member])].insert(processes[member]);
    const PartHead head{key.first, key.second, self(), group, number};
    SharedLease whole;
    for (const auto &[host, theirs] : byHost) {
      std::vector<uint32_t> direct(theirs.begin(), theirs.end()), onward;
      if (host != hostOf(self())) {
        const uint32_t first = firstToTell(self(), direct);
        std::erase(direct, first);
        onward = std::exchange(direct, {first});
      }
      for (uint32_t process : direct)
        MILLRACE_TRY(owner->mesh->send(process, Part, head.encode(onward), part, &whole));
    }
    return Status();
  }

  void callLater(std::function<void()> task) override { owner->tasks.add(std::move(task)); }

  Status send(uint32_t source, uint32_t target, int64_t channel, const std::string &bytes) override {
    Writer writer = headFor(key.first, key.second);
    writer.number(source);
    writer.number(target);
    writer.number(channel);
    return owner->mesh->send(processes[target], Mail, writer.bytes, {{const_cast<char *>(bytes.data()), bytes.size()}});
  }

  void poll(const std::vector<uint32_t> &from, const std::function<bool()> &look) override {
    if (!owner->mesh->mayPoll())
      return;
    const transport::Deadline end = transport::Clock::now() + kPollingTime;
    owner->mesh->beginPolling(from);
    do
      owner->mesh->poll(from);
    while (!look() && transport::Clock::now() < end);
    owner->mesh->endPolling(from);
  }

  void finish(uint32_t member, const Status &cause) override {
    Writer writer = headFor(key.first, key.second);
    writer.number(member);
    writer.number(uint32_t(cause.code()));
    writer.text(cause.message());
    tellAll(Finish, writer.bytes);
  }

  void idle(const IdleState &state) override {
    Writer writer = headFor(key.first, key.second);
    writer.list(state.sentTo);
    writer.list(state.receivedFrom);
    writer.number(uint32_t(state.waiting.size()));
    for (const auto &[member, text] : state.waiting) {
      writer.number(member);
      writer.text(text);
    }
    tellAll(Idle, writer.bytes);
  }

private:
  /// Sends the message to all processes that are not lost.
  void tellAll(Kind kind, const std::string &head) {
    for (uint32_t process : key.first)
      if (process != self())
        (void)owner->mesh->send(process, kind, head).ok();
  }

  const std::shared_ptr<Processes> owner;
  const Key key;
  const std::vector<uint32_t> processes; ///< per member
};

std::shared_ptr<Processes> Processes::create(std::unique_ptr<transport::Mesh> mesh) {
  auto made = std::make_shared<Processes>();
  made->start(std::move(mesh));
  return made;
}

std::shared_ptr<Processes> Processes::later(uint32_t rank, uint32_t size, Connect connect) {
  auto made = std::make_shared<Processes>();
  made->ownRank = rank, made->numProcesses = size;
  made->connectTo = std::move(connect);
  return made;
}

void Processes::start(std::unique_ptr<transport::Mesh> made) {
  mesh = std::move(made);
  ownRank = mesh->rank(), numProcesses = mesh->size(), owner = ::getpid();
  connected.store(true, std::memory_order_release); // the mesh's thread, which ends before this object, may read the flag
  {
    Connected &ones = connectedOnes();
    std::lock_guard lock(ones.mutex);
    std::erase_if(ones.all, [](const auto &each) { return each.expired(); });
    ones.all.push_back(weak_from_this());
  }
  mesh->start([this](uint32_t from, Message message) { receive(from, std::move(message)); },
              [this](uint32_t rank, const Status &status) { lost(rank, status); });
}

Status Processes::checkOwner() const {
  if (owner == ::getpid())
    return Status();
  return failedPrecondition("this process is a fork of process " + std::to_string(ownRank) + " (pid " + std::to_string(owner) +
                            "), which alone belongs to the job: it cannot compute with the others");
}

Status Processes::connect() {
  if (isConnected())
    return checkOwner();
  std::lock_guard lock(connecting);
  if (Connect connectOnce = std::exchange(connectTo, nullptr)) {
    StatusOr<std::unique_ptr<transport::Mesh>> made = connectOnce();
    connectStatus = made.status();
    if (made)
      start(std::move(*made));
  }
  return connectStatus;
}

void Processes::stop(const std::string &failure) {
  {
    std::lock_guard lock(connecting);
    if (!isConnected()) {
      connectTo = nullptr;
      connectStatus = failedPrecondition("process " + std::to_string(ownRank) + " has left the job");
      return;
    }
  }
  std::shared_ptr<RunContext> context;
  {
    std::lock_guard lock(mutex);
    hasLeft = true;
    context = std::move(ofReplicas); // the context keeps this object alive
  }
  if (context)
    context->finish(ownRank, failure.empty() ? Status() : aborted(mesh->describe(ownRank) + " was ended by an error: " + failure));
  tasks.stop(); // messages that other processes need from this one go before the goodbye
  mesh->stop(failure);
}

/// Returns " (argument 3 is f32[8] in the one and f32[6] in the other)"; "" if no difference is known.
static std::string differenceOf(const std::string &ofOne, const std::string &ofOther) {
  auto linesOf = [](const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> one = linesOf(ofOne), other = linesOf(ofOther);
  for (size_t k = 0; k < std::min(one.size(), other.size()); ++k)
    if (one[k] != other[k])
      return " (argument " + std::to_string(k) + " is " + one[k] + " in the one and " + other[k] + " in the other)";
  if (one.size() == other.size())
    return "";
  return " (the one has " + std::to_string(one.size()) + " arguments and the other " + std::to_string(other.size()) + ")";
}

/// Returns "; what differs is a number: 0.1 in the one, 0.2 in the other"; "" if the difference is unknown. `own` belongs to this process, which
/// knows the names.
static std::string differenceOf(const Processes::Agreement &one, const Processes::Agreement &other, const Processes::Agreement *own) {
  if (!own || !own->difference || one.parts.size() != own->parts.size() || other.parts.size() != own->parts.size())
    return "";
  for (size_t k = 0; k < one.parts.size(); ++k)
    if (one.parts[k] != other.parts[k])
      return "; what differs is " + own->difference(k, one.parts[k], other.parts[k]);
  return "";
}

/// Returns whether all processes that have announced their program launch the same one.
Status Processes::compare(const Open &launch) const {
  const auto &[firstRank, first] = *launch.programs.begin();
  const auto found = launch.programs.find(rank());
  const Agreement *own = found == launch.programs.end() ? nullptr : &found->second;
  for (const auto &[rank, other] : launch.programs) {
    auto both = [&](const std::string &ours, const std::string &theirs) {
      return mesh->describe(firstRank) + " launches " + ours + ", but " + mesh->describe(rank) + " launches " + theirs;
    };
    if (other.ofProgram != first.ofProgram)
      return failedPrecondition("the processes launch different programs: " + both(first.program, other.program) +
                                (other.program == first.program ? ", with other shapes or collectives" : "") +
                                differenceOf(first.arguments, other.arguments) + "; all have to launch the same ones in the same order" + (own ? own->advice : std::string()));
    if (other.ofLaunch != first.ofLaunch)
      return failedPrecondition("the processes do not do the same: " + both(first.program, "it with another " + other.launch) +
                                differenceOf(first, other, own));
  }
  return Status();
}

Status Processes::tell(uint32_t to, std::string_view head, const std::vector<iovec> &payload) {
  MILLRACE_TRY(checkOwner());
  return mesh->send(to, Told, head, payload);
}

StatusOr<std::shared_ptr<RunContext>> Processes::launch(uint32_t numReplicas, uint32_t numPartitions, std::vector<uint32_t> processOf,
                                                        Agreement agreement, double timeoutSeconds) {
  std::set<uint32_t> sorted(processOf.begin(), processOf.end());
  std::vector<uint32_t> clique(sorted.begin(), sorted.end());
  MILLRACE_TRY(checkOwner());
  std::shared_ptr<RunContext> context;
  uint64_t number;
  Status status;
  std::vector<uint32_t> late; // processes that have not begun this launch
  {
    std::lock_guard lock(mutex);
    number = next[clique]++;
    Key key(clique, number);
    context = std::make_shared<RunContext>(numReplicas, numPartitions, timeoutSeconds,
                                                std::make_unique<Members>(shared_from_this(), key, processOf));
    Open &launch = open[key];
    std::copy_if(clique.begin(), clique.end(), std::back_inserter(late), [&](uint32_t process) { return !launch.programs.count(process); });
    launch.programs[rank()] = agreement;
    status = compare(launch);
    if (status.ok())
      for (auto &[from, message] : launch.early)
        hand(from, std::move(message), *context);
    launch.early.clear();
    launch.context = context; // the mesh's thread hands over the messages from now on
  }
  // If a lost process had launched another program, that error is reported first. A process that has done its part of this launch may have left
  // since.
  if (status.ok())
    MILLRACE_TRY(mesh->firstLoss(late).second);
  auto hasDoneIts = [&](uint32_t process, const Status &why) {
    return why.code() == Code::FailedPrecondition && !std::binary_search(late.begin(), late.end(), process);
  };
  Writer writer = headFor(clique, number);
  writer.number(agreement.ofProgram);
  writer.number(agreement.ofLaunch);
  writer.text(agreement.program);
  writer.text(agreement.launch);
  writer.text(agreement.arguments);
  writer.list(agreement.parts);
  for (uint32_t process : clique)
    if (process != rank())
      if (Status sent = mesh->send(process, Begin, writer.bytes); status.ok() && !hasDoneIts(process, sent))
        status = sent;
  if (!status.ok())
    context->fail(status);
  // A process may have been lost before the context existed, when lost() could not inform the context.
  if (auto [process, loss] = mesh->firstLoss(clique); !loss.ok())
    context->remoteLost(process, loss);
  return context;
}

StatusOr<std::shared_ptr<RunContext>> Processes::replicas(double timeoutSeconds) {
  MILLRACE_TRY(connect());
  std::vector<uint32_t> all(size());
  std::iota(all.begin(), all.end(), 0);
  std::shared_ptr<RunContext> context;
  {
    std::lock_guard lock(mutex);
    if (hasLeft)
      return failedPrecondition("process " + std::to_string(ownRank) + " has left the job");
    if (ofReplicas)
      return ofReplicas;
    Key key(all, replicasNumber);
    ofReplicas = context =
        std::make_shared<RunContext>(size(), 1, timeoutSeconds, std::make_unique<Members>(shared_from_this(), key, all));
    Open &launch = open[key];
    for (auto &[from, message] : launch.early)
      hand(from, std::move(message), *context);
    launch.early.clear();
    launch.context = context;
  }
  if (auto [process, loss] = mesh->firstLoss(all); !loss.ok()) // lost() may have been called before the context existed
    context->remoteLost(process, loss);
  return context;
}

uint64_t Processes::launchesOf(uint32_t rank) {
  std::lock_guard lock(mutex);
  if (rank != ownRank)
    return begun[rank];
  std::vector<uint32_t> all(size());
  std::iota(all.begin(), all.end(), 0);
  return next[all];
}

bool Processes::isLate() {
  std::lock_guard lock(mutex);
  return std::any_of(open.begin(), open.end(), [&](const auto &launch) {
    return launch.first.second != replicasNumber && !launch.second.programs.empty() && !launch.second.programs.count(ownRank);
  });
}

void Processes::close(const Key &key) {
  std::lock_guard lock(mutex);
  open.erase(key);
}

void Processes::receive(uint32_t from, Message message) {
  if (message.kind == Told) {
    if (listener.receive)
      listener.receive(from, std::move(message));
    return;
  }
  Reader reader(message.head);
  Key key;
  key.first = reader.list<uint32_t>();
  key.second = reader.number<uint64_t>();
  bool isOurs = std::binary_search(key.first.begin(), key.first.end(), rank()) && std::binary_search(key.first.begin(), key.first.end(), from);
  if (!reader.ok() || !isOurs)
    return; // the message belongs to a launch without this process
  const bool isWait = message.kind == Idle && key.second == replicasNumber && tellWait;
  std::shared_ptr<RunContext> context;
  Status status;
  {
    std::lock_guard lock(mutex);
    bool isOfReplicas = key.second == replicasNumber;
    if (isOfReplicas && (message.kind == Begin || key.first.size() != size()))
      return;
    if (message.kind == Begin && key.first.size() == size())
      begun[from] = std::max(begun[from], key.second + 1);
    uint64_t &number = next[key.first];
    bool isLaunched = isOfReplicas ? ofReplicas || hasLeft : key.second < number;
    if (isLaunched && !open.count(key))
      return; // the launch has ended in this process
    if (!isLaunched && !isOfReplicas && key.second - number > maxAhead)
      return;
    Open &launch = open[key];
    context = launch.context.lock();
    if (message.kind == Begin) {
      Agreement agreement;
      agreement.ofProgram = reader.number<uint64_t>(), agreement.ofLaunch = reader.number<uint64_t>();
      agreement.program = reader.text(), agreement.launch = reader.text(), agreement.arguments = reader.text();
      agreement.parts = reader.list<uint64_t>();
      launch.programs[from] = std::move(agreement);
      status = isLaunched ? compare(launch) : Status();
    } else if (!isLaunched) {
      launch.early.emplace_back(from, std::move(message));
    }
    if (!context && !isWait)
      return;
  }
  if (!status.ok())
    context->fail(status);
  else if (context && message.kind != Begin) // NOLINT(bugprone-use-after-move): before its launch, a message has no context
    hand(from, std::move(message), *context);
  if (isWait)
    tellWait(); // a process without a context may make one
}

void Processes::hand(uint32_t from, Message message, RunContext &context) {
  auto damaged = [&] { context.fail(dataLoss("a message of process " + std::to_string(from) + " cannot be read")); };
  Reader reader(message.head);
  std::vector<uint32_t> clique = reader.list<uint32_t>();
  const uint64_t launch = reader.number<uint64_t>();
  auto isMemberOf = [&](uint32_t member, uint32_t process) { return member < context.size() && context.processOf(member) == process; };
  switch (message.kind) {
  case Arrive: {
    uint32_t member = reader.number<uint32_t>();
    std::vector<uint32_t> group = reader.list<uint32_t>();
    std::string name = reader.text(), location = reader.text();
    uint64_t signature = reader.number<uint64_t>();
    std::string head = reader.text();
    std::set<uint32_t> different(group.begin(), group.end());
    if (!reader.isComplete() || !isMemberOf(member, from) || different.size() != group.size() || !different.count(member) ||
        *different.rbegin() >= context.size())
      return damaged();
    auto call = decodeCall(head, group.size(), std::move(message.payload), message.payloadBytes);
    if (!call)
      return context.fail(call.status());
    return context.remoteArrive(member, group, {nullptr, name, location, signature}, std::move(*call));
  }
  case Part: {
    PartHead head{std::move(clique), launch};
    head.origin = reader.number<uint32_t>();
    head.group = reader.list<uint32_t>();
    head.number = reader.number<uint64_t>();
    const std::vector<uint32_t> onward = reader.list<uint32_t>();
    auto isOther = [&](uint32_t process) { return process != rank() && std::binary_search(head.clique.begin(), head.clique.end(), process); };
    if (!reader.isComplete() || !isOther(head.origin) || !std::all_of(onward.begin(), onward.end(), isOther) || onward.size() > head.clique.size())
      return damaged();
    // The part is forwarded first: once its own members have it, this process may end.
    if (!onward.empty())
      tasks.add([this, head, onward, payload = message.payload, bytes = message.payloadBytes] {
        SharedLease whole;
        for (uint32_t process : onward) // errors are ignored, for a lost process needs no part
          (void)mesh->send(process, Part, head.encode({}), {{payload.get(), bytes}}, &whole).ok();
      });
    return context.remotePart(head.origin, head.group, head.number, std::move(message.payload), message.payloadBytes);
  }
  case Mail: {
    uint32_t source = reader.number<uint32_t>(), target = reader.number<uint32_t>();
    int64_t channel = reader.number<int64_t>();
    if (!reader.isComplete() || !isMemberOf(source, from) || target >= context.size() || context.processOf(target) == from)
      return damaged();
    return context.remoteSend(source, target, channel, std::string(message.payload.get(), message.payloadBytes));
  }
  case Finish: {
    uint32_t member = reader.number<uint32_t>(), code = reader.number<uint32_t>();
    std::string text = reader.text();
    if (!reader.isComplete() || !isMemberOf(member, from) || code > uint32_t(Code::Unauthenticated))
      return damaged();
    return context.remoteFinish(member, code ? Status(Code(code), text) : Status());
  }
  case Idle: {
    IdleState state;
    state.sentTo = reader.list<uint64_t>();
    state.receivedFrom = reader.list<uint64_t>();
    uint32_t count = reader.number<uint32_t>();
    for (uint32_t i = 0; i < count && reader.ok(); ++i) {
      uint32_t member = reader.number<uint32_t>();
      state.waiting.emplace_back(member, reader.text());
    }
    if (!reader.isComplete())
      return damaged();
    return context.remoteIdle(from, std::move(state));
  }
  default:
    damaged();
  }
}

void Processes::lost(uint32_t rank, const Status &status) {
  std::vector<std::shared_ptr<RunContext>> contexts;
  {
    std::lock_guard lock(mutex);
    for (auto &[key, launch] : open)
      if (std::binary_search(key.first.begin(), key.first.end(), rank))
        if (std::shared_ptr<RunContext> context = launch.context.lock())
          contexts.push_back(std::move(context));
  }
  for (const auto &context : contexts)
    context->remoteLost(rank, status);
  if (listener.lost)
    listener.lost(rank);
}

} // namespace millrace::runtime

void millrace_end_processes(const char *failure) {
  using namespace millrace::runtime;
  std::vector<std::shared_ptr<Processes>> all;
  {
    Connected &ones = connectedOnes();
    std::lock_guard lock(ones.mutex);
    for (const std::weak_ptr<Processes> &each : ones.all)
      if (std::shared_ptr<Processes> processes = each.lock())
        all.push_back(std::move(processes));
  }
  for (const std::shared_ptr<Processes> &each : all)
    each->stop(failure);
}
