// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.cpp - Operations between simulated devices --------------===//
// Process groups follow the specification: cross_replica, cross_partition, cross_replica_and_partition, flattened_ids.
// Reductions fold the group's values in group order.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Grid.h"
#include "dialects/stablehlo/verify/ReplicaGroups.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cstring>

using namespace mlir;

namespace millrace::eval {

namespace {

using Group = SmallVector<int64_t>;

int64_t channelOf(Call &call) {
  auto channel = call.op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
  return channel ? channel.getHandle() : 0;
}

/// Returns the rows of `replica_groups`; if there are none, all `ids` processes.
llvm::Expected<stablehlo::ReplicaGroups> replicaGroups(Call &call, int64_t ids) {
  stablehlo::ReplicaGroups groups;
  std::string why;
  if (failed(stablehlo::expandReplicaGroups(call.op->getAttr("replica_groups"), groups, why))) return call.error(why);
  if (groups.empty()) groups.push_back(llvm::to_vector(llvm::seq<int64_t>(0, ids)));
  return groups;
}

enum class Mode { CrossReplica, CrossPartition, CrossReplicaAndPartition, FlattenedIds };

/// Returns the devices of the caller's process group, in group order; empty if it is in none.
llvm::Expected<Group> processGroup(Call &call, Mode mode) {
  const Process &process = call.interpreter.process;
  Grid &grid = *process.grid;
  int64_t ids = mode == Mode::CrossPartition ? grid.partitions : mode == Mode::FlattenedIds ? grid.size() : grid.replicas;
  llvm::Expected<stablehlo::ReplicaGroups> groups = replicaGroups(call, ids);
  if (!groups) return groups.takeError();
  int64_t self = grid.deviceOf(process);
  for (const Group &group : *groups) {
    for (int64_t id : group)
      if (id >= ids) return call.error("replica group names process " + llvm::Twine(id) + " of only " + llvm::Twine(ids));
    Group devices;
    switch (mode) {
    case Mode::CrossReplica:
      for (int64_t replica : group) devices.push_back(replica * grid.partitions + process.partition);
      break;
    case Mode::CrossPartition:
      for (int64_t partition : group) devices.push_back(process.replica * grid.partitions + partition);
      break;
    case Mode::CrossReplicaAndPartition:
      for (int64_t partition = 0; partition < grid.partitions; ++partition)
        for (int64_t replica : group) devices.push_back(replica * grid.partitions + partition);
      break;
    case Mode::FlattenedIds: devices = group; break;
    }
    if (llvm::is_contained(devices, self)) return devices;
  }
  return Group();
}

Mode reducingMode(Call &call) {
  bool global = call.op->hasAttr("use_global_device_ids");
  if (auto flag = call.op->getAttrOfType<BoolAttr>("use_global_device_ids")) global = flag.getValue();
  if (channelOf(call) <= 0) return Mode::CrossReplica;
  return global ? Mode::FlattenedIds : Mode::CrossReplicaAndPartition;
}

Mode movingMode(Call &call) { return channelOf(call) > 0 ? Mode::CrossPartition : Mode::CrossReplica; }

/// Exchanges the operands of all devices of `group`.
llvm::Expected<std::vector<Grid::Inputs>> meet(Call &call, const Group &group) {
  if (group.empty()) return call.error("this process is in no replica group");
  std::string key = (call.op->getName().getStringRef() + "#" + llvm::Twine(channelOf(call))).str();
  // Operations without a channel are distinguished by their address in the program.
  if (channelOf(call) <= 0) key += "@" + std::to_string(reinterpret_cast<uintptr_t>(call.op->getAttrDictionary().getAsOpaquePointer()));
  return call.interpreter.process.grid->meet(call, key, group, Grid::Inputs(call.operands.begin(), call.operands.end()));
}

llvm::Error combine(Call &call, Region *computation, Tensor &accumulator, const Tensor &value) {
  if (accumulator.getShape() != value.getShape()) return call.error("expects operands of one shape in a process group");
  RankedTensorType scalar = RankedTensorType::get({}, accumulator.getElementType());
  unsigned width = accumulator.elementBytes();
  char *out = accumulator.mutableData();
  if (!computation) { // cross-replica-sum has no computation
    for (int64_t i = 0; i < accumulator.size(); ++i) {
      Kind kind = accumulator.kind();
      if (isInteger(kind)) storeInt(kind, out + i * width, kind == Kind::I1 ? (accumulator.getInt(i) | value.getInt(i))
                                                                             : static_cast<int64_t>(static_cast<uint64_t>(accumulator.getInt(i)) + static_cast<uint64_t>(value.getInt(i))));
      else if (isFloat(kind)) storeFloat(kind, out + i * width, accumulator.getFloat(i) + value.getFloat(i));
      else storeComplex(kind, out + i * width, accumulator.getComplex(i) + value.getComplex(i));
    }
    return llvm::Error::success();
  }
  Body body(call, *computation);
  SmallVector<Value, 2> results;
  for (int64_t i = 0; i < accumulator.size(); ++i) {
    Value arguments[] = {accumulator.element(i, scalar), value.element(i, scalar)};
    if (llvm::Error error = body(arguments, results)) return error;
    std::memcpy(out + i * width, results[0].tensor().data(), width);
  }
  return llvm::Error::success();
}

/// Returns operand `i`, reduced over the group.
llvm::Expected<Tensor> reduced(Call &call, const std::vector<Grid::Inputs> &all, unsigned i, Region *computation) {
  Type elementType = computation && computation->getNumArguments()
                         ? cast<ShapedType>(computation->getArgument(0).getType()).getElementType()
                         : call.resultElementType(i);
  auto promoted = [&](const Tensor &t) { return convertTo(t, RankedTensorType::get(t.getShape(), elementType)); };
  Tensor accumulator = promoted(all[0][i].tensor());
  for (size_t member = 1; member < all.size(); ++member)
    if (llvm::Error error = combine(call, computation, accumulator, promoted(all[member][i].tensor()))) return error;
  return accumulator.withType(call.typeWith(accumulator.getShape(), i));
}

llvm::Error evalAllReduce(Call &call) {
  bool sum = call.op->getNumRegions() == 0;
  llvm::Expected<Group> group = processGroup(call, sum ? Mode::CrossReplica : reducingMode(call));
  if (!group) return group.takeError();
  auto all = meet(call, *group);
  if (!all) return all.takeError();
  for (unsigned i = 0; i < call.op->getNumResults(); ++i) {
    llvm::Expected<Tensor> result = reduced(call, *all, i, sum ? nullptr : &call.op->getRegion(0));
    if (!result) return result.takeError();
    call.push(*result);
  }
  return llvm::Error::success();
}

int64_t positionIn(const Group &group, Call &call) {
  int64_t self = call.interpreter.process.grid->deviceOf(call.interpreter.process);
  return std::distance(group.begin(), llvm::find(group, self));
}

llvm::Error evalReduceScatter(Call &call) {
  llvm::Expected<Group> group = processGroup(call, reducingMode(call));
  if (!group) return group.takeError();
  auto all = meet(call, *group);
  if (!all) return all.takeError();
  int64_t dimension = call.op->getAttrOfType<IntegerAttr>("scatter_dimension").getInt();
  int64_t members = static_cast<int64_t>(group->size());
  for (unsigned i = 0; i < call.op->getNumResults(); ++i) {
    llvm::Expected<Tensor> sum = reduced(call, *all, i, &call.op->getRegion(0));
    if (!sum) return sum.takeError();
    if (dimension >= sum->rank() || sum->dim(dimension) % members) return call.error("scatter dimension is no multiple of the group size");
    Shape shape(sum->getShape()), start(sum->rank(), 0), ones(sum->rank(), 1);
    shape[dimension] /= members;
    start[dimension] = positionIn(*group, call) * shape[dimension];
    call.push(sliceOf(*sum, start, ones, call.typeWith(shape, i)));
  }
  return llvm::Error::success();
}

llvm::Error evalAllGather(Call &call) {
  llvm::Expected<Group> group = processGroup(call, reducingMode(call));
  if (!group) return group.takeError();
  auto all = meet(call, *group);
  if (!all) return all.takeError();
  int64_t dimension = call.op->getAttrOfType<IntegerAttr>("all_gather_dim").getInt();
  for (unsigned i = 0; i < call.op->getNumResults(); ++i) {
    SmallVector<const Tensor *> parts;
    Shape shape(call.in(i).getShape());
    if (dimension >= call.in(i).rank()) return call.error("all_gather_dim is out of range");
    shape[dimension] = 0;
    for (const Grid::Inputs &inputs : *all) {
      parts.push_back(&inputs[i].tensor());
      shape[dimension] += inputs[i].tensor().dim(dimension);
    }
    call.push(concatenateOf(parts, dimension, call.typeWith(shape, i)));
  }
  return llvm::Error::success();
}

llvm::Error evalAllToAll(Call &call) {
  llvm::Expected<Group> group = processGroup(call, movingMode(call));
  if (!group) return group.takeError();
  auto all = meet(call, *group);
  if (!all) return all.takeError();
  auto attr = [&](StringRef name) { return call.op->getAttrOfType<IntegerAttr>(name).getInt(); };
  int64_t split = attr("split_dimension"), concat = attr("concat_dimension"), count = attr("split_count");
  if (count != static_cast<int64_t>(group->size())) return call.error("split_count is not the group size");
  int64_t mine = positionIn(*group, call);
  for (unsigned i = 0; i < call.op->getNumResults(); ++i) {
    SmallVector<Tensor> parts;
    Shape shape(call.in(i).getShape());
    if (split >= call.in(i).rank() || concat >= call.in(i).rank() || shape[split] % count) return call.error("split dimension is no multiple of split_count");
    shape[split] /= count;
    for (const Grid::Inputs &inputs : *all) {
      const Tensor &operand = inputs[i].tensor();
      if (operand.getShape() != call.in(i).getShape()) return call.error("expects operands of one shape in a process group");
      Shape start(operand.rank(), 0), ones(operand.rank(), 1);
      start[split] = mine * shape[split];
      parts.push_back(sliceOf(operand, start, ones, RankedTensorType::get(shape, operand.getElementType())));
    }
    SmallVector<const Tensor *> views;
    for (const Tensor &part : parts) views.push_back(&part);
    shape[concat] *= count;
    call.push(concatenateOf(views, concat, call.typeWith(shape, i)));
  }
  return llvm::Error::success();
}

/// Returns the root's position in the group for each result: the first process, or the one that the last operand names for this result or for all.
llvm::Expected<SmallVector<size_t>> rootsOf(Call &call, const Group &group) {
  SmallVector<size_t> roots(call.op->getNumResults(), 0);
  if (!call.op->hasAttr("has_dynamic_root")) return roots;
  const Tensor &root = call.in(call.numInputs() - 1);
  if (!isInteger(root.kind()) || (root.size() != 1 && root.size() != static_cast<int64_t>(roots.size())))
    return call.error("expects one integer root, or one for each of the " + llvm::Twine(roots.size()) + " results, but got " +
                      toString(root.getType()));
  for (auto [i, position] : llvm::enumerate(roots)) {
    int64_t index = root.getInt(root.size() == 1 ? 0 : i);
    if (index < 0 || index >= static_cast<int64_t>(group.size()))
      return call.error("expects a root in [0, " + llvm::Twine(group.size()) + "), but got " + llvm::Twine(index));
    position = static_cast<size_t>(index);
  }
  return roots;
}

llvm::Error evalCollectiveBroadcast(Call &call) {
  llvm::Expected<Group> group = processGroup(call, movingMode(call));
  if (!group) return group.takeError();
  if (group->empty()) {
    for (unsigned i = 0; i < call.op->getNumResults(); ++i) call.push(Tensor(call.typeWith(call.in(i).getShape(), i)));
    return llvm::Error::success();
  }
  auto all = meet(call, *group);
  if (!all) return all.takeError();
  llvm::Expected<SmallVector<size_t>> roots = rootsOf(call, *group);
  if (!roots) return roots.takeError();
  for (unsigned i = 0; i < call.op->getNumResults(); ++i) call.push((*all)[(*roots)[i]][i]);
  return llvm::Error::success();
}

/// Evaluates collective_reduce, an all_reduce whose sum only the root gets; the others get zeros.
llvm::Error evalCollectiveReduce(Call &call) {
  llvm::Expected<Group> group = processGroup(call, reducingMode(call));
  if (!group) return group.takeError();
  auto all = meet(call, *group);
  if (!all) return all.takeError();
  llvm::Expected<SmallVector<size_t>> roots = rootsOf(call, *group);
  if (!roots) return roots.takeError();
  for (unsigned i = 0; i < call.op->getNumResults(); ++i) {
    if (positionIn(*group, call) != static_cast<int64_t>((*roots)[i])) {
      call.push(Tensor(call.typeWith(call.in(i).getShape(), i)));
      continue;
    }
    llvm::Expected<Tensor> result = reduced(call, *all, i, &call.op->getRegion(0));
    if (!result) return result.takeError();
    call.push(*result);
  }
  return llvm::Error::success();
}

llvm::Error evalCollectivePermute(Call &call) {
  const Process &process = call.interpreter.process;
  Grid &grid = *process.grid;
  bool partitions = movingMode(call) == Mode::CrossPartition;
  int64_t self = partitions ? process.partition : process.replica;
  std::string place = (llvm::Twine("collective_permute#") + llvm::Twine(channelOf(call)) + " in " +
                       (partitions ? "replica " : "partition ") + llvm::Twine(partitions ? process.replica : process.partition))
                          .str();
  Shape pairs = intsOf(call.op, "source_target_pairs");
  int64_t source = -1;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i] == self)
      grid.send(place + " from " + std::to_string(self) + " to " + std::to_string(pairs[i + 1]),
                Grid::Inputs(call.operands.begin(), call.operands.end()));
    if (pairs[i + 1] == self) source = pairs[i];
  }
  if (source < 0) {
    for (unsigned i = 0; i < call.op->getNumResults(); ++i) call.push(Tensor(call.typeWith(call.in(i).getShape(), i)));
    return llvm::Error::success();
  }
  auto received = grid.receive(call, place + " from " + std::to_string(source) + " to " + std::to_string(self));
  if (!received) return received.takeError();
  for (unsigned i = 0; i < call.op->getNumResults(); ++i) call.push((*received)[i]);
  return llvm::Error::success();
}

llvm::Error pushId(Call &call, int64_t id) {
  call.push(Tensor::ofInts(call.typeWith({}), {id}));
  return llvm::Error::success();
}
llvm::Error evalReplicaId(Call &call) { return pushId(call, call.interpreter.process.replica); }
llvm::Error evalPartitionId(Call &call) { return pushId(call, call.interpreter.process.partition); }

llvm::Error evalToken(Call &call) {
  call.push(Token());
  return llvm::Error::success();
}

//===-- send, recv, infeed, outfeed ----------------------------------------===//

bool isHostTransfer(Call &call) {
  auto flag = call.op->getAttrOfType<BoolAttr>("is_host_transfer");
  return flag && flag.getValue();
}

/// Programs of one run_parallel serve as each other's host: a send to the host on a channel is matched with another program's receive from the host.
bool isToRealHost(Call &call) { return isHostTransfer(call) && !call.interpreter.process.grid->isOwnHost; }

/// Returns the key of a message: the channel and, with source_target_pairs, the pair.
std::string messageKey(Call &call, int64_t source, int64_t target) {
  std::string key = (isHostTransfer(call) ? "host channel " : "channel ") + std::to_string(channelOf(call));
  if (target >= 0) key += " from " + std::to_string(source) + " to " + std::to_string(target);
  return key;
}

llvm::Error evalSend(Call &call) {
  const Process &process = call.interpreter.process;
  Grid::Inputs values(call.operands.begin(), call.operands.end() - 1);
  if (isToRealHost(call)) {
    if (call.interpreter.options.onOutfeed) call.interpreter.options.onOutfeed(process.grid->deviceOf(process), values);
  } else {
    Shape pairs = intsOf(call.op, "source_target_pairs");
    int64_t self = process.grid->partitions > 1 ? process.partition : process.replica;
    if (pairs.empty()) process.grid->send(messageKey(call, -1, -1), values);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (pairs[i] == self) process.grid->send(messageKey(call, self, pairs[i + 1]), values);
  }
  call.push(Token());
  return llvm::Error::success();
}

/// Returns the infeed's data: the results of the next function of the grid's queue, else the next entry of Options::infeed.
llvm::Error feed(Call &call, bool withToken) {
  Grid &grid = *call.interpreter.process.grid;
  size_t wanted = call.op->getNumResults() - (withToken ? 1 : 0);
  SmallVector<Value> values;
  if (!grid.infeed.empty()) {
    Operation *function = grid.infeed.front();
    grid.infeed.pop_front();
    if (llvm::Error error = call.interpreter.callFunction(function, {}, values, call.op)) return error;
  } else if (call.interpreter.infeedPosition < call.interpreter.options.infeed.size()) {
    const std::vector<Value> &entry = call.interpreter.options.infeed[call.interpreter.infeedPosition++];
    values.append(entry.begin(), entry.end());
  } else {
    return call.error("nothing is left to be fed");
  }
  if (values.size() > wanted && values.back().isToken()) values.pop_back();
  if (values.size() != wanted) return call.error("expects " + llvm::Twine(wanted) + " values to be fed, but got " + llvm::Twine(values.size()));
  call.results.append(values.begin(), values.end());
  if (withToken) call.push(Token());
  return llvm::Error::success();
}

llvm::Error evalRecv(Call &call) {
  const Process &process = call.interpreter.process;
  if (isToRealHost(call)) return feed(call, true);
  Shape pairs = intsOf(call.op, "source_target_pairs");
  int64_t self = process.grid->partitions > 1 ? process.partition : process.replica, source = -1;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i + 1] == self) source = pairs[i];
  if (!pairs.empty() && source < 0) {
    for (unsigned i = 0; i + 1 < call.op->getNumResults(); ++i) {
      auto type = dyn_cast<RankedTensorType>(call.op->getResult(i).getType());
      if (!type || !type.hasStaticShape()) return call.error("expects static result shapes where nothing is received");
      call.push(Tensor(call.typeWith(type.getShape(), i)));
    }
    call.push(Token());
    return llvm::Error::success();
  }
  auto received = process.grid->receive(call, messageKey(call, source, pairs.empty() ? -1 : self));
  if (!received) return received.takeError();
  for (Value &value : *received) call.push(std::move(value));
  call.push(Token());
  return llvm::Error::success();
}

llvm::Error evalInfeed(Call &call) { return feed(call, true); }

llvm::Error evalOutfeed(Call &call) {
  const Process &process = call.interpreter.process;
  if (call.interpreter.options.onOutfeed)
    call.interpreter.options.onOutfeed(process.grid->deviceOf(process), call.operands.drop_back());
  call.push(Token());
  return llvm::Error::success();
}

//===-- async --------------------------------------------------------------===//

llvm::Error evalAsyncStart(Call &call) {
  SmallVector<Value> results;
  if (llvm::Error error = call.interpreter.runRegion(call.op->getRegion(0), call.operands, results, call.scope)) return error;
  call.push(Value::tuple(std::vector<Value>(results.begin(), results.end())));
  return llvm::Error::success();
}

llvm::Error evalAsyncDone(Call &call) {
  if (!call.operands[0].isTuple()) return call.error("expects a future");
  ArrayRef<Value> values = call.operands[0].elements();
  call.results.append(values.begin(), values.end());
  return llvm::Error::success();
}

//===-- interpreter.run_parallel -------------------------------------------===//

llvm::Error evalRunParallel(Call &call) {
  auto programs = call.op->getAttrOfType<ArrayAttr>("programs");
  if (!programs || programs.empty()) return call.error("expects programs");
  int64_t replicas = programs.size(), partitions = cast<ArrayAttr>(programs[0]).size();
  if (partitions == 0 || replicas * partitions > 4096) return call.error("expects 1 to 4096 programs");
  auto lookup = [&](Attribute attr) -> FunctionOpInterface {
    return dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupNearestSymbolFrom(call.op, cast<FlatSymbolRefAttr>(attr)));
  };
  Grid grid(replicas, partitions);
  grid.isOwnHost = true;
  SmallVector<FunctionOpInterface> functions;
  SmallVector<SmallVector<Value>> arguments;
  size_t next = 0;
  for (Attribute row : programs) {
    if (static_cast<int64_t>(cast<ArrayAttr>(row).size()) != partitions) return call.error("expects as many programs in every row");
    for (Attribute symbol : cast<ArrayAttr>(row)) {
      FunctionOpInterface function = lookup(symbol);
      if (!function) return call.error("runs a function that does not exist");
      if (next + function.getNumArguments() > call.numInputs()) return call.error("expects more inputs");
      functions.push_back(function);
      arguments.emplace_back(call.operands.slice(next, function.getNumArguments()));
      next += function.getNumArguments();
    }
  }
  if (next != call.numInputs()) return call.error("has more inputs than its programs take");
  if (auto infeed = call.op->getAttrOfType<ArrayAttr>("infeed"))
    for (Attribute symbol : infeed) {
      FunctionOpInterface function = lookup(symbol);
      if (!function) return call.error("feeds from a function that does not exist");
      grid.infeed.push_back(function);
    }
  std::vector<SmallVector<Value>> results(functions.size());
  llvm::Error error = grid.run([&](Process process) -> llvm::Error {
    Interpreter interpreter(call.interpreter.options, process);
    int64_t device = grid.deviceOf(process);
    return interpreter.callFunction(functions[device], arguments[device], results[device], call.op);
  });
  if (error) return error;
  for (const SmallVector<Value> &list : results) call.results.append(list.begin(), list.end());
  return llvm::Error::success();
}

} // namespace

void addCollective(Dispatch &dispatch) {
  dispatch.add("stablehlo.all_gather", evalAllGather);
  dispatch.add("stablehlo.all_reduce", evalAllReduce);
  dispatch.add("stablehlo.cross-replica-sum", evalAllReduce);
  dispatch.add("stablehlo.all_to_all", evalAllToAll);
  dispatch.add("stablehlo.reduce_scatter", evalReduceScatter);
  dispatch.add("stablehlo.collective_broadcast", evalCollectiveBroadcast);
  dispatch.add("stablehlo.collective_reduce", evalCollectiveReduce);
  dispatch.add("stablehlo.collective_permute", evalCollectivePermute);
  dispatch.add("stablehlo.replica_id", evalReplicaId);
  dispatch.add("stablehlo.partition_id", evalPartitionId);
  dispatch.add("stablehlo.after_all", evalToken);
  dispatch.add("stablehlo.create_token", evalToken);
  dispatch.add("stablehlo.send", evalSend);
  dispatch.add("stablehlo.recv", evalRecv);
  dispatch.add("stablehlo.infeed", evalInfeed);
  dispatch.add("stablehlo.outfeed", evalOutfeed);
  dispatch.add("stablehlo.async_start", evalAsyncStart);
  dispatch.add("stablehlo.async_done", evalAsyncDone);
  dispatch.add("interpreter.run_parallel", evalRunParallel);
}

} // namespace millrace::eval
