// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Session.cpp - Step barriers: compile, cache and execute graphs ------===//
#include "tracing/Session.h"

#include "tracing/emit/Emit.h"
#include "tracing/emit/StoredTypes.h"
#include "tracing/graph/IrText.h"
#include "tracing/graph/Liveness.h"
#include "tracing/programs/Compile.h"
#include "tracing/programs/Executions.h"
#include "tracing/reports/Dump.h"
#include "tracing/reports/Metrics.h"
#include "tracing/reports/Places.h"
#include "tracing/spmd/Exchanges.h"
#include "tracing/spmd/RemoteShards.h"

#include "lowering/program/MemoryPlan.h"
#include "runtime/base/Environment.h"
#include "runtime/profile/Recorder.h"
#include "runtime/collective/Processes.h"
#include "runtime/transport/Mesh.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <unistd.h>

namespace millrace::tracing {

int &GraphMutex::depth() {
  static thread_local int held = 0;
  return held;
}

static std::atomic<bool> isStarted{false};

Session &Session::get() {
  static auto *session = new Session; // never destroyed, because threads may still run at exit
  return *session;
}

static runtime::Status goOn() { return {}; }
static runtime::Status (*interruptCheck)() = goOn;
void Session::setInterruptCheck(runtime::Status (*check)()) { interruptCheck = check; }
runtime::Status Session::mayGoOn() { return interruptCheck(); }

bool Session::hasStarted() { return isStarted; }

bool Session::isConnected() {
  const std::shared_ptr<runtime::Client> client = isStarted ? get().runtimeClient : nullptr;
  return client && client->options().processes && client->options().processes->isConnected();
}

runtime::StatusOr<World> Session::world() { return isStarted ? get().place : World::ofEnvironment(); }

int64_t Session::replicas() const {
  runtime::StatusOr<World> known = world();
  return known && !numPartitions ? known->size : 1;
}

const runtime::Status &Session::started() {
  std::call_once(starting, [this] {
    startError = start();
    isStarted = true;
  });
  return startError;
}

runtime::Status Session::start() {
  runtime::ClientOptions options;
  options.numDevices = uint32_t(std::max<uint64_t>(1, runtime::environment::count("CPU_NUM_DEVICES").value_or(1)));
  runtime::StatusOr<uint64_t> limit = runtime::memoryLimitFromEnvironment();
  runtime::StatusOr<double> timeout = runtime::collectiveTimeoutFromEnvironment();
  runtime::StatusOr<World> world = World::ofEnvironment();
  if (!limit || !timeout || !world)
    return !limit ? limit.status() : timeout ? world.status() : timeout.status();
  options.memoryLimit = *limit;
  options.timeoutSeconds = *timeout;
  place = *world;
  owner = ::getpid();
  MILLRACE_TRY(joinWorld(place, options));
  runtime::StatusOr<std::shared_ptr<runtime::Client>> made = runtime::Client::create(options);
  if (!made)
    return made.status();
  runtimeClient = *made;
  if (const std::shared_ptr<runtime::Processes> &processes = options.processes) {
    auto isAwaited = [processes, timeout = options.timeoutSeconds] { // must not depend on an execution, because there may have been none
      runtime::StatusOr<std::shared_ptr<runtime::RunContext>> context = processes->replicas(timeout);
      return context && (*context)->isAwaited();
    };
    progress = std::make_unique<Progress>(isAwaited, [this] { pushExchanges(); });
    remoteShards = RemoteShards::create(processes, options.numDevices, options.timeoutSeconds);
    processes->onWait([this] { progress->notify(); });
  }
  return {};
}

runtime::Status Session::connect() {
  MILLRACE_TRY(started());
  const std::shared_ptr<runtime::Processes> &processes = runtimeClient->options().processes;
  return processes ? processes->connect() : runtime::Status();
}

runtime::Status Session::setTimeout(const std::vector<uint32_t> &ranks, const std::string &group, uint32_t channels, double seconds) {
  MILLRACE_TRY(connect());
  const std::shared_ptr<runtime::Processes> &processes = runtimeClient->options().processes;
  if (!processes)
    return {};
  runtime::StatusOr<std::shared_ptr<runtime::RunContext>> context = processes->replicas(runtimeClient->options().timeoutSeconds);
  if (context)
    (*context)->setTimeout(ranks, group, channels, seconds);
  return context.status();
}

bool Session::isAwaited() {
  return isStarted && get().remoteShards && get().owner == ::getpid() && isConnected() && get().numPartitions > 1 && get().remoteShards->isAwaited();
}

runtime::Status Session::loss() {
  if (!isStarted || get().owner != ::getpid() || !isConnected())
    return {};
  const runtime::transport::Mesh &links = get().runtimeClient->options().processes->links();
  std::vector<uint32_t> ranks(links.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return links.firstLoss(ranks).second;
}

static std::atomic<bool> isTold{false};

void Session::setTold() { isTold = true; }

runtime::Status Session::leave(const std::string &failure) {
  if (!isStarted || get().owner != ::getpid())
    return {};
  const std::shared_ptr<runtime::Client> &client = get().runtimeClient;
  if (!client || !client->options().processes)
    return {};
  runtime::Status status;
  const std::shared_ptr<runtime::Processes> &processes = client->options().processes;
  get().progress->stop();
  if (failure.empty() && processes->isConnected()) { // an error is reported to the reader of the value
    status = get().settleExchanges();
    if (runtime::Status waited = get().wait(); status.ok())
      status = waited;
  }
  get().remoteShards->stop();
  processes->stop(failure);
  return isTold ? runtime::Status() : status;
}

void Session::forgetDone() {
  std::erase_if(inFlight, [&](const InFlight &each) {
    if (!each.event.isSet())
      return false;
    if (runtime::Status status = each.spansProcesses ? each.event.await() : runtime::Status(); !status.ok() && stepError.ok())
      stepError = status;
    return true;
  });
}

runtime::StatusOr<Value> Session::upload(const void *data, Shape shape) {
  MILLRACE_TRY(started());
  // Under SPMD the value has no memory on a device before a program or an annotation determines its sharding.
  std::optional<Timed> time;
  Timed sameTime("TensorToData");
  if (numPartitions <= 1) {
    time.emplace("TransferToDeviceTime");
    Metrics::get().sampleTransfer(1, double(shape.count() * int64_t(runtime::byteSize(shape.dtype))));
  }
  std::vector<char> converted;
  DType stored = storedType(shape.dtype);
  if (stored != shape.dtype) {
    converted.resize(size_t(shape.count()) * runtime::byteSize(stored));
    convertToStored(shape.dtype, data, converted.data(), shape.count());
    data = converted.data();
  }
  return uploadAs(stored, data, std::move(shape));
}

runtime::StatusOr<Value> Session::uploadAs(DType dtype, const void *data, Shape shape) {
  MILLRACE_TRY(started());
  const runtime::MemorySpace &memory = runtimeClient->devices()[0]->memories().front();
  runtime::StatusOr<runtime::BufferPtr> buffer = runtimeClient->bufferFromHost(
      data, dtype, shape.dims, {}, runtime::HostSemantics::OnlyDuringCall, memory);
  if (!buffer)
    return buffer.status();
  return leaf(std::move(*buffer), std::move(shape));
}

runtime::StatusOr<runtime::BufferPtr> Session::buffer(const Value &value) {
  Node &node = *value.node;
  if (node.op)
    return runtime::failedPrecondition("the value has not been computed");
  if (const Shards *shards = shardsOf(value)) {
    if (shards->sharding->isReplicated())
      return shards->buffers[0];
    Metrics::get().count("ReplicateShardedData");
    std::string whole(size_t(value.shape().count()) * runtime::byteSize(value.shape().dtype), '\0');
    MILLRACE_TRY(readShards(value, whole.data()));
    runtime::StatusOr<Value> uploaded = upload(whole.data(), value.shape());
    if (!uploaded)
      return uploaded.status();
    return uploaded->node->buffers[0];
  }
  if (!node.isNumber()) {
    if (!hasMemory(value))
      return runtime::failedPrecondition(node.givenUp ? "the memory of the tensor was given up: it is deleted"
                                                      : "the tensor was made while a function was traced: it has no value");
    return node.buffers[value.index];
  }
  runtime::StatusOr<Value> uploaded = upload(&node.bits, value.shape());
  if (!uploaded)
    return uploaded.status();
  return uploaded->node->buffers[0];
}

runtime::StatusOr<runtime::BufferPtr> Session::keyBuffer(uint64_t bits) {
  runtime::StatusOr<Value> uploaded = uploadAs(DType::I64, &bits, {DType::I64, {}});
  if (!uploaded)
    return uploaded.status();
  return uploaded->node->buffers[0];
}

runtime::StatusOr<runtime::BufferPtr> Session::plainBuffer(const Value &value) {
  runtime::StatusOr<runtime::BufferPtr> kept = buffer(value);
  const Shape &shape = value.shape();
  if (!kept || (*kept)->dtype() == shape.dtype)
    return kept;
  std::vector<char> bytes(size_t(shape.count()) * runtime::byteSize(shape.dtype));
  MILLRACE_TRY(download(value, bytes.data()));
  runtime::StatusOr<Value> made = uploadAs(shape.dtype, bytes.data(), shape);
  if (!made)
    return made.status();
  return made->node->buffers[0];
}

runtime::StatusOr<Value> Session::adopt(runtime::BufferPtr plain) {
  runtime::StatusOr<std::vector<int64_t>> dims = plain->dims();
  if (!dims)
    return dims.status();
  Shape shape{plain->dtype(), std::move(*dims)};
  if (storedType(shape.dtype) == shape.dtype)
    return leaf(std::move(plain), std::move(shape));
  std::vector<char> bytes(size_t(shape.count()) * runtime::byteSize(shape.dtype));
  MILLRACE_TRY(plain->toHost(bytes.data(), bytes.size()).await());
  return upload(bytes.data(), std::move(shape));
}

runtime::StatusOr<LoadedProgramPtr> Session::compileGraph(const Schedule &schedule, const std::vector<Value> &roots,
                                                          std::vector<int64_t> donations) {
  bool isSpread = numPartitions > 1 && isForSeveralDevices(schedule);
  ProgramOptions options{donations, /*packNumbers=*/true, /*withPlaces=*/true, isSpread ? numPartitions : 1, replicas()};
  runtime::StatusOr<TracedModule> module = emitModule(schedule, roots, options);
  if (!module)
    return module.status();
  std::string text = isSpread ? module->text() : std::string();
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> executable = compileProgram(std::move(*module));
  if (!executable && isSpread) {
    // A program whose annotations cannot be partitioned runs on the first device, with a warning.
    options.partitions = 1;
    runtime::StatusOr<TracedModule> whole = emitModule(schedule, roots, options);
    runtime::StatusOr<std::shared_ptr<runtime::Executable>> onOne = executable.status();
    if (whole)
      onOne = compileProgram(std::move(*whole));
    if (!onOne)
      return executable.status();
    Metrics::get().count("UnpartitionedProgram");
    std::fprintf(stderr, "torch_xla: a program with shardings runs on one device, because it cannot be partitioned: %s\n",
                 std::string(executable.status().message()).c_str());
    executable = std::move(onOne);
    isSpread = false;
  }
  if (!executable)
    return executable.status();
  auto made = std::make_shared<LoadedProgram>(LoadedProgram{std::move(*executable), std::move(donations)});
  for (const Value &root : roots)
    made->shapes.push_back(root.shape());
  for (const Value &leaf : schedule.leaves)
    made->numbers.push_back(leaf.node->isNumber() ? leaf.shape().dtype : DType::Invalid);
  if (!isEager) {
    Metrics &metrics = Metrics::get();
    metrics.sample("TensorsGraphSize", double(schedule.nodes.size()));
    metrics.sample("InputOutputAliasCount",
                   double(std::count_if(made->donations.begin(), made->donations.end(), [](int64_t to) { return to >= 0; })));
  }
  if (isSpread) {
    made->text = std::move(text);
    MILLRACE_TRY(findResultShardings(*made, schedule, roots));
  }
  return made;
}

static runtime::Status unexpectedExecution() {
  return runtime::failedPrecondition("Unexpected execution happens inside the compiled function, exiting: full_graph=True "
                                     "allows none before its end");
}

runtime::Status Session::syncEagerly(std::vector<Value> roots) {
  std::lock_guard lock(mutex);
  isEager = true;
  runtime::Status status = sync(std::move(roots));
  isEager = false;
  return status;
}

runtime::StatusOr<std::shared_ptr<runtime::Executable>> Session::compileProgram(const std::string &text) {
  runtime::StatusOr<TracedModule> module = TracedModule::parse(text);
  if (!module)
    return withProgram(module.status(), text);
  return compileProgram(std::move(*module));
}

runtime::StatusOr<std::shared_ptr<runtime::Executable>> Session::compileProgram(TracedModule module) {
  MILLRACE_TRY(started());
  Timed time(isEager ? "EagerOpCompileTime" : "CompileTime");
  Metrics::get().count(isEager ? "EagerOpUncachedCompile" : "UncachedCompile");
  Metrics::get().count("CreateCompileHandles");
  if (runtime::environment::isOn("XLA_STABLEHLO_COMPILE"))
    Metrics::get().count("StableHloCompile");
  if (splitsAlone)
    Metrics::get().count("CompileWithAutoSharding");
  ++compiled;
  std::string mesh;
  if (splitsAlone && numPartitions > 1) {
    runtime::StatusOr<std::string> found = autoMesh();
    if (!found)
      return found.status();
    mesh = std::move(*found);
  }
  const std::string text = showsFailedPrograms() ? module.text() : std::string(); // taken before the compilation, which changes the module
  runtime::StatusOr<std::shared_ptr<const runtime::Program>> program = compileModule(std::move(module), mesh);
  if (!program)
    return withProgram(program.status(), text);
  runtime::LoadOptions options;
  if (numPartitions > 1 && (*program)->numPartitions == uint64_t(numPartitions)) {
    for (int64_t device = 0; device < numPartitions; ++device)
      options.deviceAssignment.push_back(uint32_t(device));
  } else if (place.size > 1 && (*program)->numReplicas == place.size && (*program)->numPartitions == 1) {
    options.meets = runtime::Meets::InOperations;
    const uint32_t each = runtimeClient->options().numDevices;
    for (uint32_t rank = 0; rank < place.size; ++rank)
      options.deviceAssignment.push_back(rank * each);
  }
  return runtimeClient->load(std::move(*program), options);
}

runtime::StatusOr<std::shared_ptr<runtime::Executable>> Session::keptProgram(const Digest &key, const std::string &text) {
  {
    std::lock_guard lock(mutex);
    if (LoadedProgramPtr known = programs.find(key))
      return known->executable;
  }
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> made = compileProgram(text); // the mutex is released, so that other threads can record
  if (!made)
    return made;
  std::lock_guard lock(mutex);
  programs.add(key, std::make_shared<LoadedProgram>(LoadedProgram{*made}));
  return made;
}

runtime::StatusOr<std::vector<runtime::BufferPtr>>
Session::launch(runtime::Executable &executable, const std::vector<runtime::BufferPtr> &arguments,
                const runtime::ExecuteOptions &options) {
  if (executionAllowed && executable.assignment().size() > 1)
    MILLRACE_TRY(settleExchanges());
  return enqueue(executable, arguments, options);
}

runtime::StatusOr<std::vector<runtime::BufferPtr>>
Session::enqueue(runtime::Executable &executable, const std::vector<runtime::BufferPtr> &arguments,
                 const runtime::ExecuteOptions &options) {
  if (!executionAllowed)
    return unexpectedExecution();
  const auto start = std::chrono::steady_clock::now();
  const char *metric = isEager ? "EagerOpExecuteTime" : "ExecuteTime";
  const bool isForAnyDevice = executable.assignment().size() == 1;
  runtime::StatusOr<runtime::ExecuteResult> result =
      isForAnyDevice ? executable.executeOn(*runtimeClient->devices()[0], arguments, options) : executable.execute({arguments}, options);
  if (!result)
    return result.status();
  sampleExecution(metric, start, result->done[0]);
  static std::atomic<int64_t> &executions = Metrics::get().counter("ExecuteComputation");
  ++executions;
  std::lock_guard lock(mutex);
  forgetDone();
  inFlight.push_back({result->done[0], !isForAnyDevice && place.size > 1});
  return std::move(result->results[0]);
}

std::string Session::nearestDifference(const GraphSummary &now) const {
  std::optional<Difference> nearest;
  programs.forEach([&](const LoadedProgram &program) {
    const GraphSummary &known = program.summary;
    if (known.items.empty()) // the program was compiled before PT_XLA_DEBUG was set, or from text
      return;
    size_t nodes = std::max(now.items.size() - now.leaves, known.items.size() - known.leaves);
    Difference found = difference(known, now);
    if (found.alike * 2 >= nodes && (!nearest || found.isNearerThan(*nearest)))
      nearest = std::move(found);
  });
  return nearest ? nearest->text : "";
}

/// Returns true if no earlier program had this number. A known number counts as no transfer, because PyTorch/XLA keeps it on the device. Under
/// Session::mutex.
static bool isNewNumber(DType dtype, uint64_t bits) {
  static auto *seen = new std::unordered_set<uint64_t>;
  if (seen->size() > 1 << 16)
    seen->clear();
  return seen->insert(bits * 31 + uint64_t(dtype)).second;
}

runtime::StatusOr<std::vector<runtime::BufferPtr>> Session::gather(const Schedule &plan, const LoadedProgram &program,
                                                                   const std::vector<bool> &dying,
                                                                   runtime::ExecuteOptions &options) {
  std::vector<runtime::BufferPtr> arguments;
  arguments.reserve(plan.leaves.size());
  std::vector<uint64_t> numbers[2]; // floats, integers
  bool isNew[2] = {false, false};
  int64_t donated = 0;
  for (size_t i = 0; i < plan.leaves.size(); ++i) {
    const Value &leaf = plan.leaves[i];
    if (leaf.node->isNumber()) {
      const int kind = leaf.shape().dtype == DType::F64 ? 0 : 1;
      numbers[kind].push_back(leaf.node->bits);
      isNew[kind] |= isNewNumber(leaf.shape().dtype, leaf.node->bits) || !numbersKept;
      continue;
    }
    if (program.donations[i] >= 0) {
      if (dying[i] && !leaf.node->isShared)
        ++donated;
      else
        options.nonDonatable.push_back(uint32_t(arguments.size()));
    }
    if (!shardsOf(leaf)) {
      arguments.push_back(leaf.node->buffers[leaf.index]);
      continue;
    }
    runtime::StatusOr<runtime::BufferPtr> whole = buffer(leaf);
    if (!whole)
      return whole.status();
    arguments.push_back(std::move(*whole));
  }
  static std::atomic<int64_t> &donatedBuffers = Metrics::get().counter("DonatedBuffers");
  donatedBuffers += donated;
  for (int i = 0; i < 2; ++i) {
    if (numbers[i].empty())
      continue;
    static std::atomic<int64_t> &misses = Metrics::get().counter("DeviceDataCacheMiss"); // numbers are passed with every execution
    ++misses;
    std::optional<Timed> time, ofNumbers;
    if (isNew[i]) {
      time.emplace("TransferToDeviceTime");
      ofNumbers.emplace("IrValueTensorToXlaData");
      Metrics::get().sampleTransfer(1, double(numbers[i].size() * sizeof(uint64_t)));
    }
    runtime::StatusOr<runtime::BufferPtr> packed = runtimeClient->bufferFromHost(
        numbers[i].data(), i ? DType::I64 : DType::F64, {int64_t(numbers[i].size())}, {},
        runtime::HostSemantics::OnlyDuringCall, runtimeClient->devices()[0]->memories().front());
    if (!packed)
      return packed.status();
    arguments.push_back(std::move(*packed));
  }
  return arguments;
}

/// Turns the roots into leaves, which releases the nodes that they were computed from.
static void becomeLeaves(const std::vector<Value> &roots) {
  for (const Value &root : roots) {
    root.node->op = nullptr;
    std::vector<Value> trash = std::move(root.node->operands);
    root.node->operands.clear();
  }
}

/// Returns the user's line as a detail of a profile's record.
static std::string sourceDetail(const std::vector<Place> &stack) {
  const std::string place = userPlace(stack);
  return place.empty() ? "" : ", source=" + runtime::profile::asDetail(place);
}

runtime::StatusOr<LoadedProgramPtr> Session::findOrCompile(const Schedule &plan, const std::vector<Value> &roots,
                                                           const std::vector<bool> &dying, const AnalysisOf &what) {
  if (LoadedProgramPtr known = programs.find(plan.key)) {
    static std::atomic<int64_t> &cached = Metrics::get().counter("CachedCompile");
    static std::atomic<int64_t> &cachedEagerly = Metrics::get().counter("EagerOpCachedCompile");
    ++(isEager ? cachedEagerly : cached);
    return known;
  }
  const bool isReported = debugLevel() > 0 && !isEager;
  runtime::profile::Scope scope(runtime::profile::Kind::Cache, "new graph");
  GraphSummary summary;
  if (isReported || (scope.isRecorded() && !isEager)) {
    summary = summarize(plan, roots.size());
    const std::string nearest = nearestDifference(summary);
    if (isReported)
      reportCompilation(what, nearest);
    scope.setDetail("graph=" + what.graph.toString() + ", inputs=" + std::to_string(what.inputs) + ", outputs=" + std::to_string(what.outputs) +
                    (nearest.empty() ? "" : ", difference=" + runtime::profile::asDetail(nearest)) + sourceDetail(what.stack));
  }
  runtime::StatusOr<LoadedProgramPtr> made = compileGraph(plan, roots, matchDonations(plan, roots, dying));
  if (!made)
    return made;
  if (isReported)
    reportCompiled((*made)->executable->cost().memory);
  for (const auto &[key, value] : (*made)->executable->program().metadata)
    if (key == lowering::kGatheredBytesKey)
      gathered = std::max<uint64_t>(gathered, std::strtoull(value.c_str(), nullptr, 10));
  (*made)->summary = std::move(summary);
  programs.add(plan.key, *made);
  return made;
}

/// Adds the donors to a graph's key: the same graph with other donors is another program.
static Digest withDonors(const Digest &key, const std::vector<bool> &givenUp, Donors donors) {
  std::string content(reinterpret_cast<const char *>(&key), sizeof key);
  for (bool isGivenUp : givenUp)
    content += char('0' + isGivenUp);
  return Digest::of(content + (donors == Donors::GivenUp ? "given up" : "any"));
}

runtime::Status Session::sync(std::vector<Value> given, Roots which, Donors donors) {
  std::lock_guard lock(mutex);
  if (which == Roots::All && place.size > 1) {
    forgetDone();
    MILLRACE_TRY(std::exchange(stepError, runtime::Status()).withContext("an earlier step failed"));
  }
  std::vector<Value> roots = pendingRoots(given, which);
  PendingExchanges exchanges;
  if (exchanges.any()) {
    std::vector<Value> missing = exchanges.missing(schedule(roots), which);
    roots.insert(roots.end(), missing.begin(), missing.end());
  }
  if (roots.empty())
    return {};
  MILLRACE_TRY(started());
  if (!executionAllowed)
    return unexpectedExecution();
  runtime::profile::Scope scope(runtime::profile::Kind::Tracing, "SyncTensorsGraph");
  ++passed;
  saveGraph(roots);
  const bool keepsHeld = which == Roots::Some && ForAValue::isActive();
  if (splitsAlone) {
    // This precedes the planning of shardings, so that the planned program is the compiled one. The schedule must be destroyed by then, because it
    // holds the leaves.
    if (keepsHeld)
      keepHeld(schedule(roots), roots);
    MILLRACE_TRY(applyPlanSettings());
    MILLRACE_TRY(splitLeaves(roots));
  }
  Schedule plan = schedule(roots);
  if (keepsHeld && keepHeld(plan, roots))
    plan = schedule(roots);
  for (const Value &leaf : plan.leaves)
    if (!leaf.node->isNumber() && !hasMemory(leaf))
      return runtime::failedPrecondition(
          leaf.node->givenUp ? "the value depends on a tensor whose memory was given up: it is deleted"
                             : "the value depends on a tensor that was made while a function was traced: it has none");
  std::vector<bool> dying = dyingLeaves(plan, roots);
  std::vector<bool> givenUp;
  if (!isEager && (which == Roots::All || givenUpEverywhere))
    givenUp = givenUpLeaves(plan);
  if (!givenUp.empty() || donors == Donors::GivenUp) {
    plan.key = withDonors(plan.key, givenUp, donors);
    for (size_t i = 0; i < dying.size(); ++i)
      dying[i] = (dying[i] && donors == Donors::Any) || (!givenUp.empty() && givenUp[i]);
  }
  lastKey = plan.key.low;
  const int level = isEager ? 0 : debugLevel(); // in eager mode every operation would be a report
  AnalysisOf what;
  if (level || (scope.isRecorded() && !isEager)) {
    what = {plan.key, plan.leaves.size(), roots.size(), currentStack()};
    scope.setDetail("cause=" + runtime::profile::asDetail(syncCause(what.stack)) + ", graph=" + what.graph.toString() + sourceDetail(what.stack));
  }
  runtime::StatusOr<LoadedProgramPtr> program = findOrCompile(plan, roots, dying, what);
  if (!program)
    return program.status();
  if (level > 1)
    reportExecution(what);
  if (!isEager)
    Metrics::get().count("SyncTensorsToData", int64_t(roots.size()));
  if (!(*program)->text.empty()) {
    MILLRACE_TRY(runOnAll(plan, roots, **program, dying));
    releaseGivenUp(plan, givenUp);
    becomeLeaves(roots);
    saveShardings(roots);
    return {};
  }

  runtime::ExecuteOptions options;
  std::optional<Timed> unwrapping, wrapping;
  if (!isEager)
    unwrapping.emplace("UnwrapXlaData");
  runtime::StatusOr<std::vector<runtime::BufferPtr>> arguments = gather(plan, **program, dying, options);
  unwrapping.reset();
  if (!arguments)
    return arguments.status();
  runtime::StatusOr<std::vector<runtime::BufferPtr>> result = enqueue(*(*program)->executable, *arguments, options);
  if (!result)
    return result.status();
  if (!isEager)
    wrapping.emplace("WrapXlaData");
  std::vector<runtime::BufferPtr> &values = *result;
  Metrics::get().countBuffers(int64_t(values.size()));
  for (size_t k = 0; k < roots.size(); ++k) {
    Node &node = *roots[k].node;
    node.buffers.resize(node.results.size());
    node.buffers[roots[k].index] = std::move(values[k]);
  }
  releaseGivenUp(plan, givenUp);
  becomeLeaves(roots);
  return {};
}

runtime::Status Session::settleExchanges() {
  std::lock_guard lock(mutex);
  std::vector<Value> roots;
  {
    PendingExchanges exchanges;
    roots = exchanges.missing({}, Roots::All);
  }
  return sync(std::move(roots));
}

void Session::pushExchanges() {
  std::lock_guard lock(mutex);
  if (!executionAllowed)
    return;
  std::vector<Value> roots;
  {
    PendingExchanges exchanges;
    roots = exchanges.missing({}, Roots::All);
  }
  (void)sync(std::move(roots)).ok(); // an error is reported to the reader of the value
}

runtime::Status Session::download(const Value &value, void *target) {
  runtime::profile::Scope scope(runtime::profile::Kind::Tracing, "ReadByHost");
  if (scope.isRecorded())
    scope.setDetail("source=" + runtime::profile::asDetail(userPlace(currentStack())));
  if (const Shards *shards = shardsOf(value)) {
    if (!shards->sharding->isReplicated())
      Metrics::get().count("ReplicateShardedData");
    Timed time("TransferFromDeviceTime");
    return readShards(value, target);
  }
  runtime::StatusOr<runtime::BufferPtr> source = buffer(value);
  if (!source)
    return source.status();
  Timed time("TransferFromDeviceTime");
  const Shape &shape = value.shape();
  DType stored = (*source)->dtype();
  uint64_t bytes = uint64_t(shape.count()) * runtime::byteSize(stored);
  if (stored == shape.dtype)
    return await((*source)->toHost(target, bytes));
  std::vector<char> converted(bytes);
  MILLRACE_TRY(await((*source)->toHost(converted.data(), bytes)));
  convertFromStored(shape.dtype, converted.data(), target, shape.count());
  return {};
}

runtime::Status Session::await(const runtime::Event &event) const {
  constexpr double pause = 0.2; // seconds between two calls, so few that they cost nothing noticeable
  while (place.size > 1 && !event.awaitFor(pause))
    MILLRACE_TRY(mayGoOn());
  return event.await();
}

runtime::Status Session::wait() {
  std::vector<runtime::Event> events;
  runtime::Status earlier;
  {
    std::lock_guard lock(mutex);
    for (InFlight &each : std::exchange(inFlight, {}))
      events.push_back(std::move(each.event));
    earlier = std::exchange(stepError, runtime::Status());
  }
  runtime::Status status = await(runtime::whenAll(events));
  return earlier.ok() ? status : earlier;
}

runtime::StatusOr<std::string> Session::programText(const std::vector<Value> &given) {
  std::lock_guard lock(mutex);
  std::vector<Value> roots;
  for (const Value &root : given)
    if (root.node)
      roots.push_back(root);
  Schedule plan = schedule(roots);
  std::vector<Value> leaves;
  for (uint32_t index : parameterOrder(plan, roots))
    leaves.push_back(plan.leaves[index]);
  plan.leaves = std::move(leaves);
  ProgramOptions options;
  options.withPlaces = runtime::environment::isOn("XLA_HLO_DEBUG");
  if (numPartitions > 1 && isForSeveralDevices(plan))
    options.partitions = numPartitions;
  options.replicas = replicas();
  return emitProgram(plan, roots, options);
}

runtime::Status Session::setCacheFolder(const std::string &folder, bool readOnly) {
  std::lock_guard lock(mutex);
  if (compiled)
    return runtime::failedPrecondition("the computation client has been initialized: initialize_cache must come "
                                       "before the first computation");
  return useCacheFolder(folder, readOnly);
}

} // namespace millrace::tracing
