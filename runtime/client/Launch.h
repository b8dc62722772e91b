// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.h - The execution of a program on one device (private) -------===//
// Launch.cpp puts the launches of all devices into their queues, in an order without deadlocks. LaunchArguments.cpp checks the arguments,
// LaunchMemory.cpp allocates the memory of results and temporary values, and LaunchRun.cpp is what a device's thread does.
#pragma once
#include "runtime/client/Executor.h"
#include "runtime/client/LaunchArguments.h"
#include "runtime/profile/Recorder.h"

namespace millrace::runtime {

/// An execution of at most this cost runs on the caller's thread, as the hand-over to the device's thread would cost more than it gains. Unit:
/// picoseconds of an execution. Source: judgement, not measured alone.
inline constexpr uint64_t kInlinePicoseconds = 100'000'000;

/// Memory that an execution on one device gets before it is enqueued; empty where the execution allocates it.
struct Provision {
  std::shared_ptr<Arena> arena; ///< may be shared: the executions on a device run one after the other
  std::vector<std::shared_ptr<Storage>> results; ///< null for a result of unknown size, or in the memory of an argument
};

/// Returns the program's line that defines result `r`; null unless a profile is recorded. The other overload returns that of the program.
inline const profile::Name *placeOfResult(const Plan &plan, size_t r) { return profile::isOn() ? plan.info()->resultPlaces[r] : nullptr; }
inline const profile::Name *placeOf(const Plan &plan) { return profile::isOn() ? plan.info()->place : nullptr; }

/// What the executions of a program share.
struct Executable::State {
  explicit State(std::shared_ptr<const Plan> given) : plan(std::move(given)), types(plan->program->arguments) {}
  std::shared_ptr<const Plan> plan;
  const ArgumentTypes types;
  bool onAnyThread = false; ///< the execution waits for nothing but the values of its arguments
  bool runsInline = false;
  std::vector<uint32_t> members; ///< members of this process's devices, in the order of Executable::devices()
  std::vector<uint32_t> processOf; ///< per member; empty if all members are of this process
  std::string argumentTypes; ///< likewise; one line per argument, of a program that meets other processes
  std::atomic<uint64_t> launches{0};
  Meets meets = Meets::InLaunches;
  bool resultsTogether = false; ///< one block of memory holds all results
  bool spansProcesses() const { return !processOf.empty(); }
};

/// The execution of one program on one device.
struct Executable::Launch {
  std::shared_ptr<State> state;
  std::shared_ptr<RunContext> context; ///< null if the program has no collectives
  std::shared_ptr<Allocator> allocator;
  std::shared_ptr<HostChannels> channels;
  uint32_t replica = 0, partition = 0, device = 0;
  double timeoutSeconds = 0;
  int64_t number = 0; ///< number of the execution; the launches on all devices share it
  uint64_t rngSeed = 0; ///< shared by the launches on all devices
  uint64_t launched = 0; ///< ticks, if a profile is recorded
  std::vector<std::shared_ptr<Buffer::Value>> arguments;
  std::vector<uint8_t> consumed; ///< per argument, whether the caller donates it; empty if none is donated
  std::vector<std::shared_ptr<Buffer::Value>> results;
  Provision provision;
  EventSource done; ///< set when the results are ready

  explicit Launch(const std::shared_ptr<Event::Worker> &worker) : done(worker) {}

  /// Implements Executable::execute() on `devices`.
  static StatusOr<ExecuteResult> start(Executable &executable, std::span<Device *const> devices, std::span<const BorrowedArguments> arguments,
                                       const ExecuteOptions &options);
  /// Executes the program, and sets `done`.
  void run();

private:
  using Values = std::vector<std::shared_ptr<Buffer::Value>>;
  /// Returns the values of the arguments of all devices, or an error. Everything is checked before anything is donated.
  static StatusOr<std::vector<Values>> checkedValues(const Program &p, const ArgumentTypes &types, std::span<Device *const> devices,
                                                     std::span<const BorrowedArguments> arguments, const std::vector<uint8_t> &consumes);

  /// Returns the context of the processes' next launch of the program.
  [[gnu::cold]] static StatusOr<std::shared_ptr<RunContext>> meetOthers(const Executable &executable, const ExecuteOptions &options, double timeout);
  /// Tells the processes that launch the program, too, why this one cannot: they would wait for its members until the timeout. The launch counts as
  /// theirs do, so that the next ones belong together and have the same random numbers. Returns `why`.
  [[gnu::cold]] static Status refuse(const Executable &executable, std::span<Device *const> devices, const ExecuteOptions &options, Status why);

  /// Allocates the memory of all executions before new buffers can take it. All of it or nothing: two threads that hold one part each would both fail.
  static std::vector<Provision> provideAll(const Plan &plan, std::span<Device *const> devices, bool isNested);
  static bool provide(const Plan &plan, Device &device, bool isNested, Provision &provision);
  std::vector<std::shared_ptr<Storage>> provideTogether(const Plan &plan);
  /// Makes the buffers of the results, whose values the execution computes.
  std::vector<BufferPtr> makeResults(const std::shared_ptr<Client> &client, Device &target, const std::vector<int64_t> &dims);

  Status compute();
  Status awaitArguments();
  StatusOr<std::shared_ptr<Storage>> memoryOfResult(size_t r, std::vector<BoundArgument> &boundArguments);
  Status keepResult(size_t r, BoundResult &bound);
};

} // namespace millrace::runtime
