// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Spmd.cpp - The session's programs for several devices ---------------===//
// A program is traced and compiled once for all devices; each device gets its shard of every argument. Results keep the shardings that the compiler
// chose for them.
#include "tracing/Session.h"
#include "tracing/emit/Emit.h"
#include "tracing/emit/StoredTypes.h"
#include "tracing/graph/Liveness.h"
#include "tracing/graph/Origin.h"
#include "tracing/programs/Compile.h"
#include "tracing/reports/Dump.h"
#include "tracing/reports/Metrics.h"
#include "tracing/spmd/RemoteShards.h"

#include "runtime/base/Cpu.h"
#include "runtime/base/Environment.h"
#include "runtime/base/Hash.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

namespace millrace::tracing {

runtime::Status Session::usePartitions(bool isOn, bool isAuto) {
  MILLRACE_TRY(started());
  for (DType dtype : {DType::F32, DType::F64, DType::I64})
    if (isOn && storedType(dtype) != dtype)
      return runtime::unimplemented("SPMD does not support tensors that are stored in smaller types (XLA_USE_BF16 and related variables)");
  std::lock_guard lock(mutex);
  int64_t wanted = isOn ? int64_t(runtimeClient->numGlobalDevices()) : 0;
  if (wanted != numPartitions)
    programs.clear(); // the same graphs are now compiled to other programs
  numPartitions = wanted;
  splitsAlone = isAuto && wanted > 1;
  return {};
}

namespace {

/// Returns the mesh over which use_spmd(auto=True) shards: XLA_AUTO_SPMD_MESH ("2,4"), or one axis of all devices.
runtime::StatusOr<std::shared_ptr<const Mesh>> meshToSplitOver(int64_t devices) {
  auto mesh = std::make_shared<Mesh>();
  const std::string text = runtime::environment::text("XLA_AUTO_SPMD_MESH");
  int64_t product = 1;
  bool isValid = true;
  if (!text.empty())
    for (std::istringstream sizes(text); sizes && isValid;) {
      int64_t size = 0;
      char comma = ',';
      isValid = bool(sizes >> size) && size > 0 && (!(sizes >> comma) || comma == ',');
      mesh->sizes.push_back(size);
      product *= size;
    }
  else
    mesh->sizes = {product = devices};
  if (!isValid || product != devices)
    return runtime::invalidArgument("XLA_AUTO_SPMD_MESH: expects sizes of a mesh of " + std::to_string(devices) + " devices, as \"" +
                                    std::to_string(devices) + ",1\", but got \"" + text + "\"");
  for (size_t axis = 0; axis < mesh->sizes.size(); ++axis)
    mesh->names.push_back(mesh->sizes.size() == 1 ? "devices" : "axis_" + std::to_string(axis));
  for (int64_t device = 0; device < devices; ++device)
    mesh->devices.push_back(device);
  return std::shared_ptr<const Mesh>(std::move(mesh));
}

/// Returns in XLA's notation the sharding of the first of `rank` dims over all devices in order.
std::string rowsOver(int64_t devices, size_t rank) {
  std::string tiles = std::to_string(devices), list;
  for (size_t dim = 1; dim < rank; ++dim)
    tiles += ",1";
  for (int64_t device = 0; device < devices; ++device)
    list += (device ? "," : "") + std::to_string(device);
  return "{devices=[" + tiles + "]" + list + "}";
}

/// A tensor that is being copied to the devices.
struct Split {
  Value leaf;
  ShardingPtr sharding;
  Shards shards = {};
  runtime::Status status = {};
};

/// Copies the shards of every tensor, with as many threads as there are processors.
runtime::Status cutAll(Split *splits, size_t count, runtime::Client &client) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < count;) {
      Split &split = splits[i];
      runtime::StatusOr<std::shared_ptr<runtime::Storage>> memory = split.leaf.node->buffers[split.leaf.index]->acquire();
      runtime::StatusOr<Shards> shards = memory ? cut((*memory)->data(), split.leaf.shape(), split.sharding, client) : memory.status();
      if (shards)
        split.shards = std::move(*shards);
      else
        split.status = shards.status();
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min<size_t>(count, runtime::availableCpus()); ++i)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
  for (size_t i = 0; i < count; ++i)
    MILLRACE_TRY(splits[i].status);
  return {};
}

} // namespace

/// Tensors of fewer elements are not sharded, because that is not worth the transfers. An estimate.
static constexpr int64_t kSmallestSplit = 1024;

runtime::StatusOr<std::string> Session::autoMesh() const {
  runtime::StatusOr<std::shared_ptr<const Mesh>> mesh = meshToSplitOver(numPartitions);
  if (!mesh)
    return mesh.status();
  std::string text;
  for (size_t axis = 0; axis < (*mesh)->sizes.size(); ++axis)
    text += (axis ? "," : "") + (*mesh)->names[axis] + "=" + std::to_string((*mesh)->sizes[axis]);
  return text;
}

runtime::Status Session::applyPlanSettings() {
  std::string settings = runtime::environment::text("XLA_AUTO_SPMD_MESH") + '\n' + planSettingsText();
  if (settings == planSettings)
    return {};
  MILLRACE_TRY(checkPlanSettings());
  if (!planSettings.empty()) {
    planned.clear();
    programs.clear();
  }
  planSettings = std::move(settings);
  return {};
}

runtime::StatusOr<Session::Planning> Session::planning(bool isPending) const {
  if (!splitsAlone || numPartitions < 2)
    return Planning();
  runtime::StatusOr<std::string> mesh = autoMesh();
  if (!mesh)
    return mesh.status();
  return Planning{*mesh, isPending ? kSmallestSplit : std::numeric_limits<int64_t>::max()};
}

runtime::StatusOr<std::vector<std::string>> Session::planLeaves(const Schedule &plan, const std::vector<Value> &roots, const std::string &mesh) {
  constexpr size_t mostKnown = 4096; // graphs, as many as a process of several models may have; a plan is some strings
  if (auto found = planned.find(plan.key); found != planned.end())
    return found->second;
  runtime::StatusOr<TracedModule> module =
      emitModule(plan, roots, {matchDonations(plan, roots, dyingLeaves(plan, roots)), /*packNumbers=*/true, /*withPlaces=*/true, numPartitions, replicas()});
  if (!module)
    return module.status();
  runtime::StatusOr<std::vector<std::string>> made = planArguments(std::move(*module), mesh, kSmallestSplit);
  if (!made) {
    if (!runtime::environment::text("XLA_AUTO_SPMD_MEMORY").empty())
      return made.status(); // the program would not be within the limit
    // As for annotations that cannot be partitioned, the program runs, with a warning.
    std::fprintf(stderr, "torch_xla: tensors of a program stay whole, because it cannot be planned: %s\n", std::string(made.status().message()).c_str());
    made = std::vector<std::string>(plan.leaves.size());
  }
  // Numbers are elements of packed parameters, which are not sharded.
  std::vector<std::string> byLeaf(plan.leaves.size());
  for (size_t i = 0, argument = 0; i < plan.leaves.size(); ++i)
    if (!plan.leaves[i].node->isNumber() && argument < made->size())
      byLeaf[i] = (*made)[argument++];
  made = std::move(byLeaf);
  if (planned.size() >= mostKnown)
    planned.clear();
  planned.emplace(plan.key, *made);
  return made;
}

runtime::Status Session::splitLeaves(const std::vector<Value> &roots) {
  runtime::StatusOr<std::shared_ptr<const Mesh>> mesh = meshToSplitOver(numPartitions);
  if (!mesh)
    return mesh.status();
  Schedule plan = schedule(roots);
  auto isOpen = [&](const Value &leaf) {
    return !leaf.node->isNumber() && hasMemory(leaf) && !shardsOf(leaf) && leaf.shape().count() >= kSmallestSplit;
  };
  if (std::none_of(plan.leaves.begin(), plan.leaves.end(), isOpen))
    return {};
  runtime::StatusOr<std::string> text = autoMesh();
  if (!text)
    return text.status();
  runtime::StatusOr<std::vector<std::string>> shardings = planLeaves(plan, roots, *text);
  if (!shardings)
    return shardings.status();
  std::vector<Split> splits;
  for (size_t i = 0; i < plan.leaves.size() && i < shardings->size(); ++i) {
    const Value &leaf = plan.leaves[i];
    if (!isOpen(leaf) || (*shardings)[i].empty())
      continue;
    runtime::StatusOr<ShardingPtr> sharding = readSharding((*shardings)[i], int64_t(leaf.shape().dims.size()), numPartitions, *mesh);
    if (!sharding)
      return sharding.status();
    splits.push_back({leaf, *sharding});
  }
  // Tensors are sharded all at once, or one after the other, so that at most one tensor is in memory twice.
  const size_t together = runtime::environment::isOff("XLA_AUTO_USE_GROUP_SHARDING") ? 1 : std::max<size_t>(1, splits.size());
  for (size_t begin = 0; begin < splits.size(); begin += together) {
    Metrics::get().count("ReshardParameters");
    if (runtime::Status status = cutAll(splits.data() + begin, together, *runtimeClient); !status.ok())
      return status;
    for (Split *split = splits.data() + begin; split != splits.data() + begin + together; ++split) {
      Node &node = *split->leaf.node;
      const size_t index = split->leaf.index;
      if (!node.spread)
        node.spread = std::make_shared<Spread>();
      node.spread->results.resize(std::max(node.spread->results.size(), index + 1));
      node.spread->results[index] = std::move(split->shards);
      node.buffers[index] = nullptr;
    }
  }
  return {};
}

bool Session::hasMemory(const Value &leaf) {
  const Node &node = *leaf.node;
  if (node.isParameter || node.op)
    return false;
  return shardsOf(leaf) || (leaf.index < node.buffers.size() && node.buffers[leaf.index]);
}

/// Returns a hash, never 0, of values that all processes have to upload alike. MILLRACE_SPMD_CHECK=0 turns the comparison off.
static uint64_t hashOf(const void *data, const Shape &shape) {
  static const bool isSwitchedOff = runtime::environment::isOff("MILLRACE_SPMD_CHECK");
  return isSwitchedOff ? 0 : runtime::hash64(data, size_t(shape.count()) * runtime::byteSize(shape.dtype), 1) | 1;
}

runtime::StatusOr<Value> Session::upload(const void *data, Shape shape, const ShardingPtr &sharding, std::shared_ptr<runtime::Storage> memory) {
  MILLRACE_TRY(started());
  Timed time("TransferToDeviceTime");
  Metrics::get().sampleTransfer(int64_t(runtimeClient->devices().size()),
                                double(shape.count() * int64_t(runtime::byteSize(shape.dtype))));
  runtime::StatusOr<Shards> shards = cut(data, shape, sharding, *runtimeClient);
  if (!shards)
    return shards.status();
  if (remoteShards)
    shards->unchecked = hashOf(data, shape);
  if (remoteShards && remoteShards->isExchanged(*sharding, shape.dims)) {
    if (!memory) { // a read before a launch has named the tensor needs no other process
      runtime::StatusOr<Value> copy = upload(data, shape);
      runtime::StatusOr<std::shared_ptr<runtime::Storage>> held = copy ? copy->node->buffers[0]->acquire() : copy.status();
      if (!held)
        return held.status();
      memory = std::move(*held);
    }
    shards->whole = std::move(memory);
  }
  return leaf(std::move(*shards), std::move(shape));
}

runtime::StatusOr<Value> Session::uploadShare(const void *data, Shape shape, const ShardingPtr &sharding) {
  MILLRACE_TRY(started());
  const int64_t own = int64_t(runtimeClient->devices().size()), all = int64_t(runtimeClient->numGlobalDevices());
  if (shape.dims.empty() || shape.dims[0] % own)
    return runtime::invalidArgument("a share of a batch " + shape.toString() + ": its first dim has to be a multiple of " + std::to_string(own) +
                                    ", the devices of this process");
  Timed time("TransferToDeviceTime");
  Metrics::get().sampleTransfer(own, double(shape.count() * int64_t(runtime::byteSize(shape.dtype))));
  Shape part = shape, whole = shape;
  part.dims[0] /= own;
  whole.dims[0] = part.dims[0] * all;
  runtime::StatusOr<ShardingPtr> asGiven = readSharding(all == 1 ? "{replicated}" : rowsOver(all, shape.dims.size()), int64_t(shape.dims.size()), all);
  if (!asGiven)
    return asGiven.status();
  Shards shards{*asGiven, {}};
  shards.isShare = true;
  const size_t bytes = size_t(part.count()) * runtime::byteSize(part.dtype);
  for (int64_t device = 0; device < own; ++device) {
    runtime::StatusOr<runtime::BufferPtr> buffer = runtimeClient->bufferFromHost(
        static_cast<const char *>(data) + size_t(device) * bytes, part.dtype, part.dims, {}, runtime::HostSemantics::OnlyDuringCall,
        runtimeClient->devices()[size_t(device)]->memories().front());
    if (!buffer)
      return buffer.status();
    shards.buffers.push_back(std::move(*buffer));
  }
  // If every device already has the rows that the sharding assigns to it, no processes need to communicate.
  if (sharding->tiles == (*asGiven)->tiles && sharding->tileOf == (*asGiven)->tileOf)
    shards.sharding = sharding;
  return leaf(std::move(shards), std::move(whole));
}

runtime::Status Session::readShards(const Value &leaf, void *target) {
  Shards shards;
  bool isExchanged = false; // all processes get the same answer, whichever shards they have
  {
    std::lock_guard lock(mutex); // other threads may read the tensor, too; the mutex is not held while waiting for values
    shards = *shardsOf(leaf);
    isExchanged = !shards.whole && remoteShards && remoteShards->isExchanged(*shards.sharding, leaf.shape().dims);
    if (isExchanged && !shards.name.launch) { // the processes have no common name for it; all of them launch a program that copies it
      static const Op *const annotation = findOp("millrace::sharding");
      Value copy = record(annotation, {leaf}, {Operand{0}, shards.sharding->text, shards.sharding->attribute}, {leaf.shape()});
      MILLRACE_TRY(sync({copy})); // the launch names its argument
      shards = *shardsOf(leaf);
      if (!shards.name.launch)
        return runtime::internalError("a sharded tensor has no name");
    }
  }
  if (isExchanged)
    return remoteShards->read(shards, leaf.shape(), target, mayGoOn);
  if (!shards.whole)
    return join(shards, leaf.shape(), target);
  std::memcpy(target, shards.whole->data(), size_t(leaf.shape().count()) * runtime::byteSize(leaf.shape().dtype));
  return {};
}

runtime::StatusOr<Shards> Session::spread(const Value &leaf) {
  if (const Shards *shards = shardsOf(leaf))
    return *shards;
  runtime::StatusOr<runtime::BufferPtr> whole = buffer(leaf);
  if (!whole)
    return whole.status();
  Timed time("TransferToDeviceTime");
  Metrics::get().sampleTransfer(int64_t(runtimeClient->devices().size()),
                                double(leaf.shape().count() * int64_t(runtime::byteSize(leaf.shape().dtype))));
  runtime::StatusOr<ShardingPtr> sharding = readSharding("{replicated}", int64_t(leaf.shape().dims.size()), runtimeClient->numGlobalDevices());
  if (!sharding)
    return sharding.status();
  runtime::StatusOr<std::vector<runtime::BufferPtr>> all = replicate(*whole, leaf.shape(), *runtimeClient);
  if (!all)
    return all.status();
  Shards shards{*sharding, std::move(*all)};
  if (leaf.node->isNumber())
    return shards;
  if (remoteShards) { // RemoteShards has waited already
    runtime::StatusOr<std::shared_ptr<runtime::Storage>> memory = (*whole)->acquire();
    if (!memory)
      return memory.status();
    shards.unchecked = hashOf((*memory)->data(), leaf.shape());
  }
  // The shards are kept for the next program, so that replicated values are not replicated again.
  Node &node = *leaf.node;
  if (!node.spread)
    node.spread = std::make_shared<Spread>();
  node.spread->results.resize(std::max(node.spread->results.size(), size_t(leaf.index) + 1));
  node.spread->results[leaf.index] = shards;
  return shards;
}

runtime::Status Session::findResultShardings(LoadedProgram &program, const Schedule &schedule, const std::vector<Value> &roots) const {
  Metrics::get().count("UncachedOutputSharding");
  std::shared_ptr<const Mesh> mesh; // the mesh of the first annotation, whose axes the results' shardings use
  for (const Value &leaf : schedule.leaves)
    if (const Shards *shards = shardsOf(leaf); shards && shards->sharding->mesh && !mesh)
      mesh = shards->sharding->mesh;
  for (const Node *node : schedule.nodes)
    if (ShardingPtr wanted = mesh || node->results.size() != 1 ? nullptr : annotationOf(node, 0))
      mesh = wanted->mesh;
  for (size_t k = 0; k < roots.size(); ++k) {
    ShardingPtr wanted = annotationOf(roots[k].node.get(), roots[k].index);
    if (!wanted) {
      const std::string &text = program.executable->program().results[k].sharding;
      runtime::StatusOr<ShardingPtr> found =
          readSharding(text.empty() ? "{replicated}" : text, int64_t(roots[k].shape().dims.size()), numPartitions, mesh);
      if (!found)
        return found.status();
      wanted = *found;
    }
    program.results.push_back(std::move(wanted));
  }
  return {};
}

runtime::Status Session::runOnAll(const Schedule &plan, const std::vector<Value> &roots, const LoadedProgram &program,
                                  const std::vector<bool> &dying) {
  const size_t devices = runtimeClient->devices().size();
  std::vector<std::vector<runtime::BufferPtr>> arguments(devices);
  std::vector<uint64_t> numbers[2]; // floats, integers
  std::vector<std::string> compared; // descriptions of the tensors whose hashes the processes compare
  std::set<int64_t> shares;          // the numbers of rows of the batches' shards that this process uploaded
  runtime::ExecuteOptions options;
  for (size_t i = 0; i < plan.leaves.size(); ++i) {
    const Value &leaf = plan.leaves[i];
    if (leaf.node->isNumber()) {
      numbers[leaf.shape().dtype == DType::F64 ? 0 : 1].push_back(leaf.node->bits);
      continue;
    }
    if (program.donations[i] >= 0 && (!dying[i] || leaf.node->isShared))
      options.nonDonatable.push_back(uint32_t(arguments[0].size()));
    else if (program.donations[i] >= 0)
      Metrics::get().count("DonatedBuffers");
    runtime::StatusOr<Shards> shards = spread(leaf);
    if (!shards)
      return shards.status();
    for (size_t d = 0; d < devices; ++d)
      arguments[d].push_back(shards->buffers[d]);
    if (shards->isShare)
      shares.insert(leaf.shape().dims[0] * int64_t(devices) / int64_t(runtimeClient->numGlobalDevices()));
    if (shards->unchecked) {
      options.agreement = runtime::hash64(&shards->unchecked, sizeof shards->unchecked, options.agreement);
      options.agreementParts.push_back(shards->unchecked);
      compared.push_back(leaf.shape().toString() + " (argument " + std::to_string(arguments[0].size() - 1) +
                         (shards->file.empty() ? "" : ", annotated at " + shards->file + ":" + std::to_string(shards->line)) + ")");
      leaf.node->spread->results[leaf.index].unchecked = 0;
    }
  }
  for (int i = 0; i < 2; ++i)
    for (size_t d = 0; d < devices && !numbers[i].empty(); ++d) {
      runtime::StatusOr<runtime::BufferPtr> packed = runtimeClient->bufferFromHost(
          numbers[i].data(), i ? DType::I64 : DType::F64, {int64_t(numbers[i].size())}, {},
          runtime::HostSemantics::OnlyDuringCall, runtimeClient->devices()[d]->memories().front());
      if (!packed)
        return packed.status();
      arguments[d].push_back(std::move(*packed));
    }
  if (remoteShards) {
    for (const std::vector<uint64_t> &each : numbers) {
      options.agreement = runtime::hash64(each.data(), each.size() * sizeof(uint64_t), options.agreement + 1);
      options.agreementParts.insert(options.agreementParts.end(), each.begin(), each.end());
    }
    options.agreementDifference = [compared = std::move(compared), numFloats = numbers[0].size()](size_t part, uint64_t one, uint64_t other) {
      if (part < compared.size())
        return "the tensor " + compared[part];
      auto textOf = [isFloat = part - compared.size() < numFloats](uint64_t bits) {
        char text[32];
        double value;
        std::memcpy(&value, &bits, sizeof value);
        if (isFloat)
          std::snprintf(text, sizeof text, "%.9g", value);
        else
          std::snprintf(text, sizeof text, "%lld", static_cast<long long>(bits));
        return std::string(text);
      };
      return "a number: " + textOf(one) + " in the one, " + textOf(other) + " in the other";
    };
    options.agreementOn = "value among its arguments: numbers (learning rates, random seeds) and tensors that the processes are given have to be the same "
                          "in all of them, but for shares of a batch (minibatch=True); MILLRACE_SPMD_CHECK=0 compares no tensors";
    Place where = placeOf(currentOrigin());
    if (where.file.empty())
      where = placeOf(roots.front().node->origin);
    options.program = where.file.empty() ? "a program" : "the program of " + where.toString();
    for (int64_t rows : shares)
      options.program += (rows == *shares.begin() ? " with a share of " : " and one of ") + std::to_string(rows) + " rows of the batch";
    options.advice = ". A value that has not been computed is computed by all processes: read it in all of them, or after torch_xla.sync()";
    if (!shares.empty())
      options.advice += ". Shares of a batch (minibatch=True) have to have equal sizes in all processes: drop_last=True in a loader leaves the uneven rest out, "
                        "a DistributedSampler fills it up";
  }
  Metrics::get().count("ExecuteReplicated");
  Timed time("ExecuteReplicatedTime");
  Timed sameTime(isEager ? "EagerOpExecuteTime" : "ExecuteTime");
  runtime::StatusOr<runtime::ExecuteResult> result = program.executable->execute(arguments, options);
  if (!result)
    return result.status();
  forgetDone();
  for (runtime::Event &done : result->done)
    inFlight.push_back({std::move(done), place.size > 1});
  Metrics::get().countBuffers(int64_t(devices * roots.size()));
  if (remoteShards)
    remoteShards->beginLaunch(runtime::hash64(&plan.key, sizeof plan.key, options.agreement));
  for (const Value &leaf : plan.leaves)
    if (const Shards *shards = remoteShards ? shardsOf(leaf) : nullptr; shards && !shards->name.launch && !shards->sharding->isReplicated()) {
      Shards &argument = leaf.node->spread->results[leaf.index];
      remoteShards->keep(argument, leaf.shape());
      argument.whole = nullptr;
    }
  for (size_t k = 0; k < roots.size(); ++k) {
    Node &node = *roots[k].node;
    node.buffers.resize(node.results.size());
    if (!node.spread)
      node.spread = std::make_shared<Spread>();
    node.spread->results.resize(node.results.size());
    Shards &shards = node.spread->results[roots[k].index];
    shards.sharding = program.results[k];
    // A result that replaces an annotated tensor gets the place of its annotation.
    for (size_t i = 0; i < plan.leaves.size(); ++i)
      if (const Shards *old = program.donations[i] == int64_t(k) ? shardsOf(plan.leaves[i]) : nullptr) {
        shards.file = old->file;
        shards.line = old->line;
      }
    shards.buffers.clear();
    for (size_t d = 0; d < devices; ++d)
      shards.buffers.push_back(std::move(result->results[d][k]));
    shards.name = {};
    if (remoteShards)
      remoteShards->keep(shards, roots[k].shape());
  }
  lastSpread = program.text;
  return {};
}

} // namespace millrace::tracing
