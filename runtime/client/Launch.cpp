// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.cpp - Launching a program on several devices -----------------===//
#include "runtime/client/Launch.h"
#include "runtime/base/Hash.h"
#include "runtime/client/DeviceErrors.h"
#include "runtime/collective/Processes.h"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace millrace::runtime {
namespace {

/// Held while an execution whose devices meet in collectives is enqueued: two such executions must stand in the same order in all queues to avoid a
/// deadlock. Also held where an execution may wait for its caller, so that it does not come between the executions of one rendezvous that do not.
std::mutex meetings;

/// Records the call that launches an execution, which began at `started` (0: before the recording).
class LaunchRecord : public profile::ScopedRecord {
public:
  LaunchRecord(const Plan &plan, int64_t number, uint64_t started)
      : ScopedRecord([&](profile::Record &made) {
          made.kind = profile::Kind::Launch;
          made.what = plan.info();
          made.a = uint64_t(number);
          made.start = started;
        }) {}
};

/// Returns true if `value` is ready, or an execution that does not wait for its caller computes it, and the release of its memory calls no foreign
/// code.
bool comesByItself(const Buffer::Value &value) {
  return value.comesByItself || (value.ready.isReady() && value.ready.await().ok() && !value.storage->isImported());
}

} // namespace

StatusOr<std::shared_ptr<RunContext>> Executable::Launch::meetOthers(const Executable &executable, const ExecuteOptions &options, double timeout) {
  const Program &p = executable.program();
  const State &state = *executable.state;
  const std::string name = options.program.empty() ? "'" + p.name + "'" : options.program;
  StatusOr<std::shared_ptr<RunContext>> begun = executable.client->options().processes->launch(
      p.numReplicas, p.numPartitions, state.processOf,
      {state.plan->agreement, options.agreement, name, options.agreementOn, options.advice, state.argumentTypes, options.agreementParts,
       options.agreementDifference},
      timeout);
  if (!begun)
    return begun.status().withContext(name + " cannot be launched");
  return begun;
}

Status Executable::Launch::refuse(const Executable &executable, std::span<Device *const> devices, const ExecuteOptions &options, Status why) {
  State &state = *executable.state;
  // Replicas that meet in operations keep one context for all launches: an error there would end it, also where all of them refuse and go on.
  if (!state.spansProcesses() || state.meets == Meets::InOperations || devices.empty())
    return why;
  const ClientOptions &ofClient = executable.client->options();
  const bool canTell = state.plan->meetsOthers && ofClient.processes->connect().ok(); // before the lock: connecting may take long
  std::unique_lock inOrder(meetings); // as in start(): the number of the launch and the meeting belong together
  ++state.launches;
  if (!canTell)
    return why;
  StatusOr<std::shared_ptr<RunContext>> context = meetOthers(executable, options, options.timeoutSeconds.value_or(ofClient.timeoutSeconds));
  inOrder.unlock();
  if (!context) // a process is lost, which the others learn as this one did
    return why;
  for (size_t d = 0; d < devices.size(); ++d)
    (*context)->finish(state.members[d], onDevice(devices[d]->id(), why));
  return why;
}

StatusOr<ExecuteResult> Executable::Launch::start(Executable &executable, std::span<Device *const> devices,
                                                  std::span<const BorrowedArguments> arguments, const ExecuteOptions &options) {
  const std::shared_ptr<State> &state = executable.state;
  const std::shared_ptr<Client> &client = executable.client;
  const uint64_t started = profile::isOn() ? profile::ticks() : 0;
  const Program &p = executable.program();
  if (devices.empty() && arguments.empty()) // only other processes execute the program
    return ExecuteResult();
  if (arguments.size() != devices.size())
    return refuse(executable, devices, options,
                  invalidArgument("expects arguments for " + std::to_string(devices.size()) + " devices, but got " + std::to_string(arguments.size())));
  std::vector<uint8_t> consumes = state->types.donated;
  for (uint32_t k : options.nonDonatable)
    if (k < consumes.size())
      consumes[k] = 0;

  StatusOr<std::vector<Values>> checked = checkedValues(p, state->types, devices, arguments, consumes);
  if (!checked)
    return refuse(executable, devices, options, checked.status());
  std::vector<Values> &values = *checked;
  // The run-time dims that follow from the arguments' shapes, per device; empty if a shape is known later. None where nobody asks for them here.
  std::vector<std::vector<int64_t>> dims;
  if (state->plan->hasDimsOfArguments || !state->plan->entryFunction().checks.empty()) {
    // The memory of the last launch: a small program runs for a microsecond.
    thread_local std::vector<const std::vector<int64_t> *> shapes;
    thread_local std::vector<int64_t> known;
    if (state->plan->hasDimsOfArguments)
      dims.resize(devices.size());
    for (size_t d = 0; d < devices.size(); ++d)
      if (std::all_of(values[d].begin(), values[d].end(), [](const auto &value) { return value->shapeIsKnown; })) {
        shapes.clear();
        for (const auto &value : values[d])
          shapes.push_back(&value->dims);
        if (Status status = state->plan->dimsFor(shapes, known); !status.ok())
          return refuse(executable, devices, options, std::move(status));
        if (!dims.empty())
          dims[d] = known;
      }
  }

  if (executable.prepared)
    for (size_t d = 0; d < devices.size(); ++d) {
      StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> more = executable.prepare(*devices[d], arguments[d]);
      if (!more)
        return refuse(executable, devices, options, more.status());
      std::move(more->begin(), more->end(), std::back_inserter(values[d]));
    }

  double timeout = options.timeoutSeconds.value_or(client->options().timeoutSeconds);
  std::shared_ptr<RunContext> context;
  std::unique_lock inOrder(meetings, std::defer_lock);
  const bool isStanding = state->spansProcesses() && state->meets == Meets::InOperations;
  const bool spans = state->spansProcesses() && !isStanding;
  if (state->plan->meetsOthers && isStanding) {
    StatusOr<std::shared_ptr<RunContext>> standing = client->options().processes->replicas(client->options().timeoutSeconds);
    if (!standing)
      return standing.status();
    context = std::move(*standing);
  } else if (state->plan->meetsOthers && !spans) {
    context = std::make_shared<RunContext>(p.numReplicas, p.numPartitions, timeout);
  } else if (state->plan->meetsOthers) {
    MILLRACE_TRY(client->options().processes->connect()); // connecting may take long, and must not block other threads
  }
  // Only a launch under a memory limit needs the flag, which allocate() relies on.
  bool endsByItself = client->options().memoryLimit && !state->plan->mayWaitForCaller;
  for (const Values &ofDevice : values)
    endsByItself = endsByItself && std::all_of(ofDevice.begin(), ofDevice.end(), [](const auto &value) { return comesByItself(*value); });
  for (Device *device : devices)
    endsByItself = endsByItself && device->endsByItself();
  // The launch comes from a custom call (a Python callback that uses JAX): the device's thread is this one, and waits for the custom call.
  bool isNested = insideCustomCall() && devices.size() == 1;
  // One provision per device, or none.
  std::vector<Provision> provisions = endsByItself ? provideAll(*state->plan, devices, isNested) : std::vector<Provision>();
  if ((context && devices.size() > 1) || spans || (client->options().memoryLimit && !endsByItself && !isNested))
    inOrder.lock();
  for (Device *device : devices)
    endsByItself = endsByItself && device->endsByItself();
  static std::atomic<int64_t> executions{0};
  int64_t number = ++executions;
  // An execution in which several processes take part has the same numbers in all of them.
  const uint64_t execution[2] = {client->rngSeed, spans ? state->launches++ : client->executions++};
  uint64_t rngSeed = hash64(execution, sizeof execution, spans ? state->plan->agreement : 0);
  if (spans && state->plan->meetsOthers) {
    StatusOr<std::shared_ptr<RunContext>> begun = meetOthers(executable, options, timeout);
    if (!begun)
      return begun.status();
    context = std::move(*begun);
  }
  ExecuteResult result;
  LaunchRecord record(*state->plan, number, started);
  for (size_t d = 0; d < devices.size(); ++d) {
    // If all run-time dims are known, so are the results' shapes, and whether the execution costs less than its hand-over.
    bool runsInline = state->runsInline;
    std::vector<int64_t> known;
    if (state->plan->hasDimsOfArguments)
      known = std::move(dims[d]);
    if (!known.empty())
      runsInline = state->onAnyThread && state->plan->picosecondsFor(known) < kInlinePicoseconds;
    auto launch = std::make_shared<Launch>(state->onAnyThread ? devices[d]->worker() : nullptr);
    launch->state = state;
    launch->context = context;
    launch->allocator = devices[d]->allocator;
    launch->channels = devices[d]->channels;
    launch->replica = state->members[d] / p.numPartitions;
    launch->partition = state->members[d] % p.numPartitions;
    launch->device = devices[d]->id();
    launch->timeoutSeconds = timeout;
    launch->number = number;
    launch->rngSeed = rngSeed;
    launch->launched = started ? profile::ticks() : 0;
    launch->arguments = std::move(values[d]);
    launch->consumed = consumes;
    if (!provisions.empty())
      launch->provision = std::move(provisions[d]);
    for (size_t k = 0; k < consumes.size(); ++k)
      if (consumes[k])
        arguments[d][k]->release();
    std::vector<BufferPtr> &buffers = result.results.emplace_back(launch->makeResults(client, *devices[d], known));
    result.done.push_back(launch->done.event());
    if (isNested) {
      launch->run();
      continue;
    }
    if (runsInline && (endsByItself || !client->options().memoryLimit) && // otherwise the execution stands in the queue, where all threads can see it
        std::all_of(launch->arguments.begin(), launch->arguments.end(),
                    [](const std::shared_ptr<Buffer::Value> &v) { return v->ready.isReady(); }) &&
        devices[d]->tryInline([&] { launch->run(); }, endsByItself))
      continue;
    if (devices[d]->enqueue([launch] { launch->run(); }, state->onAnyThread, endsByItself))
      for (const BufferPtr &buffer : buffers) // no other thread has the buffers yet
        buffer->value->comesByItself = true;
  }
  return result;
}

} // namespace millrace::runtime
