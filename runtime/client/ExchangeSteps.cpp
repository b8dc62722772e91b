// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExchangeSteps.cpp - Collectives, sends, infeeds --------------------===//
#include "runtime/client/ExecutorState.h"

#include <algorithm>
#include <cstring>

namespace millrace::runtime {

void Executor::leaveMeetings() {
  for (PendingCollective &each : pending)
    if (each.meeting)
      target.context->leave(*each.meeting);
  pending.clear();
}

Status Executor::runStep(Frame &frame, const CollectiveStep &s) {
  // The done half of a collective has had its results' memory since the start half: other members may be writing it.
  if (frame.cells && s.phase != CollectiveStep::Phase::Done)
    for (SlotId id : s.results)
      MILLRACE_TRY(prepareOutput(frame, id));
  if (!target.context)
    return internalError("a collective without a run context");
  std::string_view title = s.name.empty() ? "collective" : std::string_view(s.name);
  if (s.phase == CollectiveStep::Phase::Done) {
    auto found = std::find_if(pending.begin(), pending.end(), [&](const PendingCollective &each) {
      return each.call.step.pair == s.pair && each.function == frame.function;
    });
    if (found == pending.end())
      return internalError("a collective is done before it is started");
    // Nobody reads the call after finishCollective() returns, with success or an error.
    Status status = found->meeting ? finishCollective(*target.context, found->call, *found->meeting) : Status();
    pending.erase(found);
    return status.withContext(title);
  }
  CollectiveCall call{s, {}, {}, s.reducer == kNone ? nullptr : plan.code->kernel(s.reducer), where(),
                      target.replica, target.partition};
  MILLRACE_TRY(views(frame, s.arguments, call.arguments));
  MILLRACE_TRY(views(frame, s.results, call.results));
  // Others compare the shapes of results with those of all operands.
  using Kind = CollectiveStep::Kind;
  if (s.kind != Kind::AllGather && s.kind != Kind::AllToAll && s.kind != Kind::ReduceScatter)
    for (size_t i = 0; i < call.results.size(); ++i)
      if (call.results[i].bytes() != call.arguments[i].bytes())
        return internalError("result " + std::to_string(i) + " of a collective has " + std::to_string(call.results[i].bytes()) + " bytes, and its operand " +
                             std::to_string(call.arguments[i].bytes()));
  if (target.context->spansProcesses())
    call.title = describeCall(s, call.arguments);
  if (s.phase == CollectiveStep::Phase::Both)
    return runCollective(*target.context, call).withContext(title);
  PendingCollective &started = pending.emplace_back(PendingCollective{std::move(call), frame.function, nullptr});
  StatusOr<std::shared_ptr<RunContext::Meeting>> meeting = startCollective(*target.context, started.call);
  if (!meeting) {
    pending.pop_back();
    return meeting.status().withContext(title);
  }
  started.meeting = std::move(*meeting);
  return Status();
}

Status Executor::runStep(Frame &frame, const TransferStep &s) {
  using Kind = TransferStep::Kind;
  bool writes = s.kind == Kind::Infeed || s.kind == Kind::Recv;
  const char *const names[] = {"infeed", "outfeed", "send", "recv"};
  OperationId operation{&s, names[size_t(s.kind)], where()};
  if (writes && frame.cells)
    for (SlotId id : s.slots)
      MILLRACE_TRY(prepareOutput(frame, id));
  std::vector<TensorView> tensors;
  MILLRACE_TRY(views(frame, s.slots, tensors));
  std::vector<std::string> data;
  if (!writes)
    for (const TensorView &t : tensors)
      data.emplace_back(static_cast<const char *>(t.data), t.bytes());
  bool betweenDevices = (s.kind == Kind::Send || s.kind == Kind::Recv) && !s.isHostTransfer;
  if (betweenDevices) {
    // The pairs hold replica ids in programs with replicas, else partition ids.
    RunContext &context = *target.context;
    bool byReplica = context.numReplicas > 1;
    uint32_t self = byReplica ? target.replica : target.partition;
    auto member = [&](int64_t id) {
      return byReplica ? uint32_t(id) * context.numPartitions + target.partition
                       : target.replica * context.numPartitions + uint32_t(id);
    };
    uint32_t me = target.replica * context.numPartitions + target.partition;
    for (auto [source, destination] : s.sourceTargetPairs) {
      int64_t limit = byReplica ? context.numReplicas : context.numPartitions;
      if (source < 0 || destination < 0 || source >= limit || destination >= limit)
        return invalidArgument(std::string(operation.name) + ": source_target_pairs name a device that does not exist");
      if (s.kind == Kind::Send && source == self)
        for (std::string &bytes : data)
          context.send(me, member(destination), s.channel, bytes);
      if (s.kind == Kind::Recv && destination == self)
        for (size_t i = 0; i < tensors.size(); ++i) {
          StatusOr<std::string> bytes = context.receive(me, member(source), s.channel, operation);
          if (!bytes)
            return bytes.status();
          data.push_back(std::move(*bytes));
        }
    }
    if (s.kind == Kind::Recv && data.empty()) // no device sends to this one: the result is zeros, as for collective_permute
      for (const TensorView &t : tensors)
        data.emplace_back(t.bytes(), '\0');
  } else if (!target.channels) {
    return failedPrecondition(std::string(operation.name) + " needs a host that serves it");
  } else {
    int64_t channel = s.kind == Kind::Infeed    ? HostChannels::infeed
                      : s.kind == Kind::Outfeed ? HostChannels::outfeed
                                                : s.channel;
    if (!writes) {
      target.channels->push(channel, std::move(data));
      return Status();
    }
    StatusOr<std::vector<std::string>> received = target.channels->pop(channel, target.timeoutSeconds);
    if (!received)
      return received.status().withContext(operation.name);
    data = std::move(*received);
  }
  if (!writes)
    return Status();
  if (data.size() != tensors.size())
    return invalidArgument(std::string(operation.name) + ": expects " + std::to_string(tensors.size()) +
                           " tensors, but got " + std::to_string(data.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (data[i].size() != tensors[i].bytes())
      return invalidArgument(std::string(operation.name) + ": expects " + std::to_string(tensors[i].bytes()) +
                             " bytes, but got " + std::to_string(data[i].size()));
    if (!data[i].empty())
      std::memcpy(tensors[i].data, data[i].data(), data[i].size());
  }
  return Status();
}

} // namespace millrace::runtime
