// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Simulation.cpp - Model a step of a partitioned program --------------===//
#include "passes/autosharding/Simulation.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/autosharding/JsonNumber.h"
#include "passes/autosharding/Work.h"
#include "passes/sharding/explain/Explanation.h"
#include "passes/spmd/Communication.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <map>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::autosharding {
namespace {

/// Returns the link for the mesh of all devices in one axis, of which the collective's groups are a part.
const Link &linkOf(Operation *op, const Machine &machine) {
  int64_t span = 1;
  auto groups = op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  if (!groups)
    groups = op->getAttrOfType<DenseIntElementsAttr>("source_target_pairs");
  auto type = groups ? dyn_cast<RankedTensorType>(groups.getType()) : RankedTensorType();
  if (type && type.getRank() == 2 && type.getDimSize(1) > 0) {
    auto devices = llvm::map_to_vector(groups.getValues<APInt>(), [](const APInt &each) { return each.getSExtValue(); });
    for (size_t first = 0; first < devices.size(); first += type.getDimSize(1)) {
      auto group = ArrayRef<int64_t>(devices).slice(first, type.getDimSize(1));
      span = std::max(span, *llvm::max_element(group) - *llvm::min_element(group) + 1);
    }
  }
  for (const Link &link : machine.links)
    if (span <= link.devices)
      return link;
  return machine.links.back();
}

int64_t bytesOf(Value value) { return isa<RankedTensorType>(value.getType()) ? spmd::bytesOf(value.getType()) : 0; }

struct Simulator {
  const Machine &machine;
  Simulation &result;
  std::map<std::string, SimulatedCollective> kinds;
  double waited = 0, received = 0;

  double seconds() const {
    double sum = result.computing;
    for (auto &[name, kind] : kinds)
      sum += kind.seconds;
    return sum;
  }

  /// Records the operation, with an entry in the timeline. `alive` are the live bytes.
  void record(Operation &op, int64_t alive) {
    SimulatedStep step;
    step.begin = seconds();
    waited = received = 0;
    visit(op, 1);
    step.seconds = seconds() - step.begin;
    if (step.seconds <= 0)
      return;
    step.name = op.getName().stripDialect().str();
    step.line = sharding::lineOf(op.getLoc());
    step.waiting = waited, step.bytes = received, step.alive = alive;
    step.isCollective = spmd::communicationOf(&op).has_value();
    result.steps.push_back(std::move(step));
  }

  void visit(Operation &op, double times) {
    if (std::optional<spmd::Cost> cost = spmd::communicationOf(&op)) {
      SimulatedCollective &kind = kinds[op.getName().stripDialect().str()];
      kind.count += 1;
      kind.bytes += times * double(cost->received);
      const Link &link = linkOf(&op, machine);
      Traffic traffic;
      // An exchange between all devices takes one message per device.
      traffic.messages = isa<AllReduceOp>(op)                       ? machine.messagesOfSum(cost->devices)
                         : isa<ReduceScatterOp, AllGatherOp>(op) ? machine.messagesAmong(cost->devices)
                                                                 : cost->messages;
      traffic.received = double(cost->received);
      for (Value value : op.getOperands())
        traffic.operand += double(bytesOf(value));
      for (Value value : op.getResults())
        traffic.result += double(bytesOf(value));
      double waits = times * machine.latencyOf(link, traffic);
      kind.seconds += waits + times * machine.secondsOfBytes(link, traffic);
      kind.waiting += waits;
      waited += waits;
      received += times * double(cost->received);
      return;
    }
    bool isLoop = isa<WhileOp>(op);
    if (isLoop || isa<IfOp, CaseOp>(op)) {
      for (Region &region : op.getRegions())
        for (Operation &inner : region.front())
          visit(inner, isLoop ? times * kLoopTurns : times);
      return;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (callee && !callee.isExternal())
        for (Operation &inner : callee.getBody().front())
          visit(inner, times);
      return;
    }
    if (movesNothing(&op) || op.hasTrait<OpTrait::IsTerminator>())
      return;
    auto bytes = [](ValueRange values) { return llvm::map_to_vector(values, [](Value value) { return double(bytesOf(value)); }); };
    double flops = flopsOf(&op), moved = bytesMoved(&op, bytes(op.getOperands()), bytes(op.getResults()));
    result.flops += times * flops;
    double seconds = times * secondsOfWork(machine, &op, flops, moved);
    bool isArithmetic = flops > 0 && secondsOfWork(machine, &op, flops, 0) >= secondsOfWork(machine, &op, 0, moved);
    result.computing += seconds;
    result.operations += seconds > 0;
    if (isArithmetic) {
      result.arithmetic += seconds;
      result.arithmeticOperations += 1;
    }
  }
};

/// Calls `visit` with every operation and the bytes that are live while it runs. Values are live from their operation to their last reader, arguments
/// all the time.
void forEachAlive(func::FuncOp function, int64_t arguments, llvm::function_ref<void(Operation &, int64_t)> visit) {
  Block &block = function.getBody().front();
  llvm::DenseMap<Operation *, int64_t> freed;
  for (Operation &op : block)
    for (Value value : op.getResults()) {
      Operation *last = &op;
      for (Operation *user : value.getUsers()) {
        Operation *outer = block.findAncestorOpInBlock(*user);
        if (outer && last->isBeforeInBlock(outer))
          last = outer;
      }
      if (!movesNothing(&op))
        freed[last] += bytesOf(value);
    }
  int64_t alive = arguments;
  for (Operation &op : block) {
    if (!movesNothing(&op))
      for (Value value : op.getResults())
        alive += bytesOf(value);
    visit(op, alive);
    alive -= freed.lookup(&op);
  }
}

} // namespace

double Simulation::communicating() const {
  double seconds = 0;
  for (const SimulatedCollective &kind : collectives)
    seconds += kind.seconds;
  return seconds;
}

std::vector<SimulatedPart> Simulation::parts() const {
  std::vector<SimulatedPart> parts = {{"computing, limited by arithmetic", arithmetic, 0, arithmeticOperations},
                                      {"computing, limited by memory", computing - arithmetic, 0, operations - arithmeticOperations}};
  double waiting = 0;
  for (const SimulatedCollective &kind : collectives) {
    parts.push_back({kind.name, kind.seconds - kind.waiting, kind.bytes, kind.count});
    waiting += kind.waiting;
  }
  if (!collectives.empty())
    parts.push_back({"idle, waiting for messages", waiting, 0, 0});
  return parts;
}

Simulation simulate(ModuleOp module, const Machine &machine, const MemoryOf &memoryOf) {
  Simulation result;
  Simulator simulator{machine, result, {}};
  std::optional<CompiledMemory> memory = memoryOf ? memoryOf(module, 1, result.notLowered) : std::nullopt;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    int64_t arguments = 0;
    for (BlockArgument argument : function.getArguments())
      arguments += bytesOf(argument);
    result.argumentBytes = std::max(result.argumentBytes, arguments);
    result.peakBytes = std::max(result.peakBytes, arguments);
    const bool isMain = function.isPublic();
    if (memory && isMain) {
      const std::vector<int64_t> bytes = bytesByTime(*memory);
      result.compiledPeakBytes = arguments + *llvm::max_element(bytes);
      for (unsigned number : memory->ownResults)
        result.compiledPeakBytes += spmd::bytesOf(function.getResultTypes()[number]);
    }
    forEachAlive(function, arguments, [&](Operation &op, int64_t alive) {
      result.peakBytes = std::max(result.peakBytes, alive);
      if (isMain) // private functions take time where they are called
        simulator.record(op, alive);
    });
  }
  for (auto &[name, kind] : simulator.kinds) {
    kind.name = name;
    result.collectives.push_back(kind);
  }
  return result;
}

void print(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os) {
  os << "a step on " << machine.name << ", per device:\n";
  os << llvm::formatv("{0,14:f3} ms in all\n{1,14:f3} ms computing, {2:f1} GFLOP in contractions\n", simulation.seconds() * 1e3,
                      simulation.computing * 1e3, simulation.flops / 1e9);
  for (const SimulatedCollective &kind : simulation.collectives)
    os << llvm::formatv("{0,14:f3} ms in {1} {2}, {3:f0} bytes received\n", kind.seconds * 1e3, kind.count, kind.name, kind.bytes);
  for (const SimulatedPart &part : simulation.parts())
    os << llvm::formatv("{0,14:f1} % {1}\n", simulation.seconds() > 0 ? 100 * part.seconds / simulation.seconds() : 0.0, part.name);
  os << llvm::formatv("{0,14} bytes of arguments\n{1,14} bytes of values at the worst time, of {2}\n", simulation.argumentBytes,
                      simulation.peakBytes, machine.memoryBytes);
  if (simulation.compiledPeakBytes > 0)
    os << llvm::formatv("{0,14} bytes at the worst time of the compiled program\n", simulation.compiledPeakBytes);
  else if (!simulation.notLowered.empty())
    os << "the compiled program's memory is unknown: " << simulation.notLowered << "\n";
  os << llvm::formatv("{0,14:f1} % of the machine's arithmetic\n",
                      simulation.seconds() > 0 ? 100 * simulation.flops / machine.flopsPerSecond / simulation.seconds() : 0.0);
  if (planned)
    os << llvm::formatv("the plan expected {0:f3} ms, {1:f3} of them computing, {2:f0} bytes received{3}{4}{5}\n",
                        (planned->computing + planned->communicating) * 1e3, planned->computing * 1e3, planned->bytes, gapText(*planned),
                        planned->isStored ? ", and was in the cache" : "", recomputationText(*planned));
  if (std::string text = planned ? candidatesText(*planned) : std::string(); !text.empty())
    os << text << "\n";
}

/// Prints the candidates that were compared.
static void printCandidates(llvm::json::OStream &json, const AutoShardingReport &planned) {
  json.attributeArray("candidates", [&] {
    for (const ComparedCandidate &each : planned.candidates)
      json.object([&] {
        json.attribute("name", name(each.candidate));
        json.attribute("taken", each.isTaken);
        json.attribute("seconds", each.seconds ? finite(*each.seconds) : llvm::json::Value(nullptr));
        json.attribute("peak_bytes", each.peak);
        if (!each.whyNot.empty())
          json.attribute("why_not", llvm::json::fixUTF8(each.whyNot));
      });
  });
}

void printJson(const Simulation &simulation, const AutoShardingReport *planned, const Machine &machine, llvm::raw_ostream &os) {
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("machine", machine.name);
    json.attribute("seconds", finite(simulation.seconds()));
    json.attribute("computing", finite(simulation.computing));
    json.attribute("arithmetic", finite(simulation.arithmetic));
    json.attribute("flops", finite(simulation.flops));
    json.attribute("argument_bytes", simulation.argumentBytes);
    json.attribute("peak_bytes", simulation.peakBytes);
    json.attribute("compiled_peak_bytes", simulation.compiledPeakBytes);
    json.attribute("not_lowered", simulation.notLowered);
    if (planned)
      json.attributeObject("planned", [&] {
        json.attribute("seconds", finite(planned->computing + planned->communicating));
        json.attribute("computing", finite(planned->computing));
        json.attribute("bytes", finite(planned->bytes));
        json.attribute("peak_bytes", planned->peak);
        json.attribute("partitioned_peak_bytes", planned->partitionedPeak);
        json.attribute("gap", finite(planned->gap));
        json.attribute("cached", planned->isStored);
        json.attribute("recomputed_values", planned->recomputedValues);
        json.attribute("recomputed_operations", planned->recomputedOperations);
        json.attribute("recomputing", finite(planned->recomputing));
        printCandidates(json, *planned);
      });
    json.attributeObject("collectives", [&] {
      for (const SimulatedCollective &kind : simulation.collectives)
        json.attributeObject(kind.name, [&] {
          json.attribute("count", kind.count);
          json.attribute("seconds", finite(kind.seconds));
          json.attribute("bytes", finite(kind.bytes));
          json.attribute("waiting", finite(kind.waiting));
        });
    });
  });
  os << "\n";
}

} // namespace millrace::autosharding
