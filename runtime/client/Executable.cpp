// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Executable.cpp - Loaded programs ------------------------------------===//
#include "runtime/client/Launch.h"
#include "runtime/client/PreparedConstants.h"
#include "runtime/collective/Processes.h"
#include "runtime/program/Cost.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace millrace::runtime {

/// Each launch sends the types of at most so many arguments to other processes, usually of all: enough to name one that differs. Unit: arguments.
/// Source: judgement, not measured alone.
constexpr size_t kMaxToldArguments = 1024;

Executable::~Executable() = default;
const Program &Executable::program() const { return *state->plan->program; }

CostAnalysis Executable::cost() const {
  CostAnalysis cost;
  ProgramCost counted = costOf(program());
  cost.flops = counted.flops;
  cost.bytesAccessed = counted.bytesAccessed;
  cost.codeBytes = state->plan->code->codeBytes();
  cost.memory = program().memory;
  cost.memory.code = cost.codeBytes;
  return cost;
}

StatusOr<std::shared_ptr<Executable>> Client::load(Program program, const LoadOptions &options) {
  return load(std::make_shared<const Program>(std::move(program)), options);
}

StatusOr<std::shared_ptr<Executable>> Client::load(std::shared_ptr<const Program> program, const LoadOptions &options) {
  uint64_t needed = uint64_t(program->numReplicas) * program->numPartitions;
  std::vector<uint32_t> assignment = options.deviceAssignment;
  if (assignment.empty())
    for (uint32_t i = 0; i < needed; ++i)
      assignment.push_back(needed <= all.size() ? firstIds[processIndex()] + i : i);
  if (assignment.size() != needed)
    return invalidArgument("expects a device assignment of " + std::to_string(needed) + " ids, but got " +
                           std::to_string(assignment.size()));
  std::set<uint32_t> seen;
  for (uint32_t id : assignment) {
    if (id >= numGlobalDevices())
      return invalidArgument("the program needs " + std::to_string(needed) + " device" + (needed == 1 ? "" : "s") +
                             " (" + std::to_string(program->numReplicas) + " replicas x " +
                             std::to_string(program->numPartitions) + " partitions), device " + std::to_string(id) +
                             " among them, but there are " + std::to_string(numGlobalDevices()));
    if (!seen.insert(id).second)
      return invalidArgument("device " + std::to_string(id) + " appears twice in the device assignment");
  }
  StatusOr<std::shared_ptr<LoadedCode>> code =
      LoadedCode::load(*program, options.loader ? *options.loader : loaderOptionsFromEnvironment());
  if (!code)
    return code.status();
  StatusOr<std::shared_ptr<const Plan>> plan = Plan::create(program, std::move(*code));
  if (!plan)
    return plan.status();
  std::shared_ptr<Executable> executable(new Executable);
  executable->client = shared_from_this();
  executable->state = std::make_shared<Executable::State>(std::move(*plan));
  executable->state->onAnyThread = needed == 1 && !executable->state->plan->mayBlock();
  executable->state->runsInline = executable->state->onAnyThread && executable->state->plan->picoseconds < kInlinePicoseconds;
  for (uint32_t member = 0; member < needed; ++member) {
    if (Device *own = device(assignment[member])) {
      executable->assigned.push_back(own);
      executable->state->members.push_back(member);
    }
    executable->state->processOf.push_back(processOf(assignment[member]));
  }
  executable->ids = std::move(assignment);
  if (program->preparation.exists()) {
    // The preparation is the same machine code with another entry function.
    StatusOr<std::shared_ptr<const Plan>> preparation =
        Plan::create(std::make_shared<const Program>(preparationOf(*program)), executable->state->plan->code);
    if (!preparation)
      return preparation.status();
    executable->prepared = std::make_shared<Executable::Prepared>();
    std::shared_ptr<Executable> &own = executable->prepared->program;
    own.reset(new Executable);
    own->client = executable->client;
    own->state = std::make_shared<Executable::State>(std::move(*preparation));
    own->state->onAnyThread = !own->state->plan->mayBlock();
    own->state->resultsTogether = true;
    own->state->members = {0};
  }
  if (needed == 1)
    executable->state->members = {0}; // also where it is assigned to another process, and run in this one by executeOn()
  if (executable->assigned.size() == needed)
    executable->state->processOf.clear();
  if (executable->state->spansProcesses() && executable->state->plan->meetsOthers)
    for (size_t k = 0; k < std::min(executable->program().arguments.size(), kMaxToldArguments); ++k)
      executable->state->argumentTypes += typeText(executable->program().arguments[k].dtype, executable->program().arguments[k].dims) + "\n";
  if (options.meets == Meets::InOperations) {
    std::vector<uint32_t> all(settings.processes ? settings.processes->size() : 1);
    std::iota(all.begin(), all.end(), 0);
    if (executable->state->spansProcesses() && executable->state->processOf != all)
      return invalidArgument("a program that meets others in its operations needs one replica per process, in the order of the processes");
    executable->state->meets = options.meets;
  }
  return executable;
}

uint32_t Executable::memberOf(size_t d) const { return state->members[d]; }

StatusOr<ExecuteResult> Executable::execute(const std::vector<std::vector<BufferPtr>> &arguments,
                                            const ExecuteOptions &options) {
  return launch(assigned, arguments, options);
}

StatusOr<ExecuteResult> Executable::launch(const std::vector<Device *> &devices, const std::vector<std::vector<BufferPtr>> &arguments,
                                           const ExecuteOptions &options) {
  const std::vector<BorrowedArguments> borrowed(arguments.begin(), arguments.end());
  return Launch::start(*this, devices, borrowed, options);
}

StatusOr<ExecuteResult> Executable::executeOn(Device &device, const std::vector<BufferPtr> &arguments,
                                              const ExecuteOptions &options) {
  if (uint64_t needed = uint64_t(program().numReplicas) * program().numPartitions; needed != 1)
    return invalidArgument("a program for " + std::to_string(needed) + " devices cannot run on one");
  Device *const one = &device;
  const BorrowedArguments borrowed(arguments);
  return Launch::start(*this, {&one, 1}, {&borrowed, 1}, options);
}

} // namespace millrace::runtime
