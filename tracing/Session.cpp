// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Session.cpp - Step barriers: compile, cache and run graphs ----------===//
#include "tracing/Session.h"

#include "tracing/Compile.h"
#include "tracing/Dump.h"
#include "tracing/Emit.h"
#include "tracing/Metrics.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace millrace::tracing {

Session &Session::get() {
  static auto *session = new Session; // lives as long as the process: threads may still run at exit
  return *session;
}

Session::Session() {
  runtime::ClientOptions options;
  if (const char *count = std::getenv("CPU_NUM_DEVICES"))
    options.numDevices = uint32_t(std::max(1l, std::strtol(count, nullptr, 10)));
  runtime::StatusOr<std::shared_ptr<runtime::Client>> made = runtime::Client::create(options);
  startError = made.status();
  if (made)
    runtimeClient = *made;
}

runtime::StatusOr<Value> Session::upload(const void *data, Shape shape) {
  MILLRACE_TRY(startError);
  Timed time("TransferToDeviceTime");
  const runtime::MemorySpace &memory = runtimeClient->devices()[0]->memories().front();
  runtime::StatusOr<runtime::BufferPtr> buffer = runtimeClient->bufferFromHost(
      data, shape.dtype, shape.dims, {}, runtime::HostSemantics::OnlyDuringCall, memory);
  if (!buffer)
    return buffer.status();
  return leaf(std::move(*buffer), std::move(shape));
}

runtime::StatusOr<runtime::BufferPtr> Session::buffer(const Value &value) {
  Node &node = *value.node;
  if (node.op)
    return runtime::failedPrecondition("the value has not been computed");
  if (!node.isNumber()) {
    if (!node.buffers[value.index])
      return runtime::failedPrecondition("the tensor was made while a function was traced: it has no value");
    return node.buffers[value.index];
  }
  runtime::StatusOr<Value> uploaded = upload(&node.bits, value.shape());
  if (!uploaded)
    return uploaded.status();
  return uploaded->node->buffers[0];
}

/// Results that take the memory of leaves. `roots` are the results; `dying[i]`: nobody else holds leaf i.
static std::vector<int64_t> matchDonations(const Schedule &schedule, const std::vector<Value> &roots,
                                           const std::vector<bool> &dying) {
  std::vector<int64_t> donations(schedule.leaves.size(), -1);
  std::vector<bool> taken(roots.size(), false);
  for (size_t i = 0; i < donations.size(); ++i) {
    const Value &leaf = schedule.leaves[i];
    if (!dying[i] || leaf.node->isNumber())
      continue;
    for (size_t k = 0; k < roots.size(); ++k)
      if (!taken[k] && roots[k].node->op && roots[k].shape() == leaf.shape()) {
        donations[i] = int64_t(k);
        taken[k] = true;
        break;
      }
  }
  return donations;
}

runtime::StatusOr<Session::Entry> Session::compileEntry(const Schedule &schedule, const std::vector<Value> &roots,
                                                        std::vector<int64_t> donations) {
  runtime::StatusOr<std::string> text = emitProgram(schedule, roots, donations);
  if (!text)
    return text.status();
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> executable = compileProgram(*text);
  if (!executable)
    return executable.status();
  return Entry{std::move(*executable), std::move(donations)};
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
  MILLRACE_TRY(startError);
  Timed time(isEager ? "EagerOpCompileTime" : "CompileTime");
  Metrics::get().count(isEager ? "EagerOpUncachedCompile" : "UncachedCompile");
  ++compiled;
  runtime::StatusOr<runtime::Program> program = compileText(text);
  if (!program)
    return program.status();
  return runtimeClient->load(std::move(*program));
}

runtime::StatusOr<std::vector<runtime::BufferPtr>>
Session::launch(runtime::Executable &executable, const std::vector<runtime::BufferPtr> &arguments,
                const runtime::ExecuteOptions &options) {
  if (!executionAllowed)
    return unexpectedExecution();
  Timed time(isEager ? "EagerOpExecuteTime" : "ExecuteTime");
  runtime::StatusOr<runtime::ExecuteResult> result =
      executable.executeOn(*runtimeClient->devices()[0], arguments, options);
  if (!result)
    return result.status();
  std::lock_guard lock(mutex);
  std::erase_if(inFlight, [](const runtime::Event &event) { return event.isReady(); });
  inFlight.push_back(result->done[0]);
  return std::move(result->results[0]);
}

runtime::Status Session::sync(std::vector<Value> given) {
  MILLRACE_TRY(startError);
  std::lock_guard lock(mutex);
  std::vector<Value> roots;
  {
    std::set<std::pair<const Node *, uint32_t>> seen;
    for (Value &root : given)
      if (root.node->op && seen.emplace(root.node.get(), root.index).second)
        roots.push_back(std::move(root));
    given.clear();
  }
  if (roots.empty())
    return {};
  if (!executionAllowed)
    return unexpectedExecution();
  saveGraph(roots);
  Schedule plan = schedule(roots);
  // A leaf dies with the graph if only nodes that die hold it. Roots turn into leaves; another node that something outside
  // the graph holds lives on, and with it all that it needs.
  std::vector<bool> dying(plan.leaves.size());
  {
    std::unordered_map<const Node *, long> inside;
    std::set<const Node *> isRoot, survives;
    for (const Node *node : plan.nodes)
      for (const Value &operand : node->operands)
        ++inside[operand.node.get()];
    for (const Value &root : roots)
      isRoot.insert(root.node.get());
    for (size_t i = plan.nodes.size(); i-- > 0;) {
      const Node *node = plan.nodes[i];
      if (isRoot.count(node) || !(survives.count(node) || plan.holders[i] > inside[node]))
        continue;
      for (const Value &operand : node->operands)
        survives.insert(operand.node.get());
    }
    for (const Value &leaf : plan.leaves) // the schedule holds them too
      ++inside[leaf.node.get()];
    for (size_t i = 0; i < plan.leaves.size(); ++i) {
      const NodePtr &node = plan.leaves[i].node;
      dying[i] = !survives.count(node.get()) && node.use_count() == inside[node.get()];
    }
  }
  lastKey = std::hash<std::string>()(plan.key);
  auto found = programs.find(plan.key);
  if (found == programs.end()) {
    runtime::StatusOr<Entry> entry = compileEntry(plan, roots, matchDonations(plan, roots, dying));
    if (!entry)
      return entry.status();
    found = programs.emplace(plan.key, std::move(*entry)).first;
  } else {
    Metrics::get().count(isEager ? "EagerOpCachedCompile" : "CachedCompile");
  }
  Entry &entry = found->second;

  std::vector<runtime::BufferPtr> arguments;
  runtime::ExecuteOptions options;
  for (size_t i = 0; i < plan.leaves.size(); ++i) {
    if (entry.donations[i] >= 0) {
      if (dying[i])
        Metrics::get().count("DonatedBuffers");
      else
        options.nonDonatable.push_back(uint32_t(i));
    }
    runtime::StatusOr<runtime::BufferPtr> made = buffer(plan.leaves[i]);
    if (!made)
      return made.status();
    arguments.push_back(std::move(*made));
  }
  runtime::StatusOr<std::vector<runtime::BufferPtr>> result = launch(*entry.executable, arguments, options);
  if (!result)
    return result.status();
  std::vector<runtime::BufferPtr> &values = *result;
  for (size_t k = 0; k < roots.size(); ++k) {
    Node &node = *roots[k].node;
    node.buffers.resize(node.results.size());
    node.buffers[roots[k].index] = std::move(values[k]);
  }
  for (const Value &root : roots) { // roots become leaves; what they were computed from dies here
    root.node->op = nullptr;
    std::vector<Value> trash = std::move(root.node->operands);
    root.node->operands.clear();
    root.node->args.clear();
  }
  return {};
}

runtime::Status Session::download(const Value &value, void *target) {
  runtime::StatusOr<runtime::BufferPtr> source = buffer(value);
  if (!source)
    return source.status();
  Timed time("TransferFromDeviceTime");
  uint64_t bytes = uint64_t(value.shape().count()) * runtime::byteSize(value.shape().dtype);
  return (*source)->toHost(target, bytes).await();
}

runtime::Status Session::wait() {
  std::vector<runtime::Event> events;
  {
    std::lock_guard lock(mutex);
    events = std::move(inFlight);
    inFlight.clear();
  }
  return runtime::whenAll(events).await();
}

runtime::StatusOr<std::string> Session::programText(const std::vector<Value> &given) {
  std::lock_guard lock(mutex);
  std::vector<Value> roots;
  for (const Value &root : given)
    if (root.node)
      roots.push_back(root);
  Schedule plan = schedule(roots);
  return emitProgram(plan, roots, std::vector<int64_t>(plan.leaves.size(), -1));
}

runtime::Status Session::setCacheFolder(const std::string &folder, bool readOnly) {
  std::lock_guard lock(mutex);
  if (compiled)
    return runtime::failedPrecondition("the computation client has been initialized: initialize_cache must come "
                                       "before the first computation");
  return useCacheFolder(folder, readOnly);
}

} // namespace millrace::tracing
