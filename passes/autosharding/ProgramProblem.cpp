// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramProblem.cpp - Convert a program to a solver problem and back -===//
#include "passes/autosharding/ProgramProblem.h"
#include "passes/autosharding/Work.h"

#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/sharding/explain/Explanation.h"
#include "passes/sharding/explain/Origins.h"
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/spmd/OpRules.h"
#include "passes/spmd/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace millrace::sharding;
using namespace millrace::stablehlo;

namespace millrace::autosharding {
namespace {

/// The largest cost of a possible choice, a thousand seconds, so that sums stay far below the solver's cost of impossible ones. Unit: picoseconds.
/// Source: arithmetic: 1e15 of 1e18.
constexpr double kMostTicks = 1e15;

/// Ways to give the axes of a mesh to dimensions or factors that are enumerated. Unit: choices of one operation or tensor. Source: arithmetic: more
/// than 6 axes of a tensor of rank 4, or 4 of rank 10; a pair of such has 3e8 costs.
constexpr double kMostChoices = 20'000;
/// Different costs of pairs of choices that are computed and kept. Unit: costs of one program. Source: arithmetic: 8 bytes each, and the same again in
/// the solver's form: 2 GB.
constexpr size_t kMostCosts = size_t(1) << 27;

double timesOf(Operation *op) {
  double times = 1;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<WhileOp>(parent))
      times *= kLoopTurns;
  return times;
}

/// Returns true for operations in the body of a manual computation, which is not planned; open dimensions there are propagated.
bool isManual(Operation *op) { return bool(op->getParentOfType<sdy::ManualComputationOp>()); }

/// Returns the sharding with all dimensions closed.
TensorSharding closed(TensorSharding sharding) {
  for (DimSharding &dim : sharding.dims)
    dim.closed = true;
  return sharding;
}

/// Returns the sharding that shards no dimension.
TensorSharding wholeOf(Type type) {
  TensorSharding sharding;
  sharding.dims.resize(cast<RankedTensorType>(type).getRank());
  return closed(sharding);
}

int64_t ticks(double seconds) { return int64_t(std::min(seconds * kTicksPerSecond + 0.5, kMostTicks)); }

/// Returns the bytes of all results of an operation, not divided among devices.
double bytesOfResults(Operation *op) {
  double bytes = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
      bytes += double(tensor.getNumElements()) * double(elementBytes(tensor));
  return bytes;
}

} // namespace

ProgramProblem::ProgramProblem(ModuleGraph &graph, CostModel &costs, Attribute meshRef, sdy::MeshAttr mesh)
    : module(graph), graph(graph.graph), costs(costs), meshRef(meshRef), mesh(mesh) {}

//===-- Tables ------------------------------------------------------------===//

int ProgramProblem::number(const TensorSharding &sharding) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  auto print = [&](AxesRef axes) {
    for (const Axis &axis : axes)
      stream << axis.axis << ':' << axis.pre << ':' << axis.size << ' ';
    stream << '|';
  };
  for (const DimSharding &dim : sharding.dims)
    print(dim.axes);
  print(sharding.unreduced);
  auto [found, isNew] = numbers.try_emplace(key, int(known.size()));
  if (isNew)
    known.push_back(sharding);
  return found->second;
}

ProgramProblem::Table ProgramProblem::newVariable(ArrayRef<TensorSharding> choices) {
  Table table{int(variables.size()), {}};
  for (const TensorSharding &choice : choices)
    table.shardings.push_back(number(choice));
  variables.emplace_back().costs.resize(choices.size());
  return table;
}

/// Whether so many dimensions or factors can get each axis of the mesh, or none does, in few enough ways. `describe` names what has the dimensions, for
/// the error.
bool ProgramProblem::isFew(size_t places, Location where, llvm::function_ref<std::string()> describe) {
  double ways = 1;
  int axes = 0;
  for (int64_t size : costs.mesh())
    if (size > 1) {
      ways *= double(places + 1);
      ++axes;
    }
  if (ways <= kMostChoices)
    return true;
  if (tooLarge.empty()) {
    const std::string line = lineOf(where);
    tooLarge = llvm::formatv("{0}{1} can be split over {2} axes in {3} places, or not at all, in {4:f0} ways, of which at most {5:f0} can be compared", describe(),
                             line.empty() ? "" : " (" + line + ")", axes, places, ways, kMostChoices);
  }
  return false;
}

ProgramProblem::Table ProgramProblem::shardingVariable(int tensor, const TensorSharding *wanted) {
  auto type = cast<RankedTensorType>(typeOf(tensor));
  const size_t places = size_t(llvm::count_if(type.getShape(), [](int64_t size) { return size > 1; }));
  mlir::Value value = module.place(tensor).value;
  if (!isFew(places, value ? value.getLoc() : module.getModule().getLoc(), [&] { return describePlace(module, tensor); }))
    return newVariable(wholeOf(type));
  std::vector<TensorSharding> choices;
  for (TensorSharding &each : shardingsOf(type.getShape(), costs.mesh()))
    if (!wanted || agrees(each, *wanted))
      choices.push_back(std::move(each));
  // The annotation is none of the choices, because it has sub-axes, another order of axes, or unequal shards: it becomes the only choice.
  if (choices.empty())
    choices.push_back(closed(*wanted));
  return newVariable(choices);
}

void ProgramProblem::addReader(const Table &has, const Table &wants, Type type, double times) {
  if (has.variable >= 0 && wants.variable >= 0)
    readers.push_back({has, wants, type, times});
}

Type ProgramProblem::typeOf(int tensor) const {
  const ModuleGraph::Place &place = module.place(tensor);
  return place.value ? place.value.getType() : func::FuncOp(place.function).getResultTypes()[place.result];
}

const TensorSharding *ProgramProblem::annotation(int tensor) const {
  const std::optional<TensorSharding> &sharding = graph.tensors[tensor].sharding;
  return sharding ? &*sharding : nullptr;
}

/// Returns true if several operations with choices of their own read the tensor: they share its reshards.
bool ProgramProblem::isShared(int tensor) const {
  int readers = 0;
  for (int node : graph.tensors[tensor].touched) {
    Operation *op = module.operation(node);
    bool isReader = llvm::any_of(graph.nodes[node].operands, [&](const View &view) { return view.tensor == tensor; });
    readers += op && isReader && !isElementwise(op) && !isa<sdy::DataFlowEdgeOp>(op);
  }
  return readers > 1;
}

/// The result of an operation is resharded at once if the user annotated it, and may be resharded once for several readers.
void ProgramProblem::define(int tensor, Table table, double times) {
  natural[tensor] = kept[tensor] = made[tensor] = table;
  const TensorSharding *wanted = annotation(tensor);
  if (table.variable < 0 || (!wanted && !isShared(tensor)))
    return;
  kept[tensor] = shardingVariable(tensor, wanted);
  addReader(table, kept[tensor], typeOf(tensor), times);
}

//===-- Variables ---------------------------------------------------------===//

/// Adds arguments, constants, and results of operations without a rule, whose operands and results are replicated.
void ProgramProblem::addSources() {
  llvm::DenseMap<Operation *, int> nodeOf;
  for (size_t node = 0; node < graph.nodes.size(); ++node)
    nodeOf[module.operation(int(node))] = int(node);
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    const ModuleGraph::Place &place = module.place(int(tensor));
    if (!place.value)
      continue;
    Operation *op = place.value.getDefiningOp();
    bool isInside = op ? isManual(op) : isa<sdy::ManualComputationOp>(cast<BlockArgument>(place.value).getOwner()->getParentOp());
    if (isInside || (op && nodeOf.contains(op)))
      continue;
    auto type = cast<RankedTensorType>(place.value.getType());
    if (type.getRank() == 0)
      continue;
    bool isFree = !op || (op->getNumOperands() == 0 && op->getNumRegions() == 0 && isPure(op));
    if (isFree) {
      natural[tensor] = kept[tensor] = shardingVariable(int(tensor), annotation(int(tensor)));
      continue;
    }
    define(int(tensor), newVariable(wholeOf(type)), timesOf(op));
  }
  // Operands of operations without a rule.
  module.getModule().walk([&](Operation *op) {
    bool isStructure = op->hasTrait<OpTrait::IsTerminator>() || isa<WhileOp, IfOp, CaseOp, OptimizationBarrierOp, func::FuncOp, ModuleOp>(op);
    if (isStructure || isManual(op) || nodeOf.contains(op) || isa<sdy::SdyDialect>(op->getDialect()))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      int tensor = module.tensorOf(operand.get());
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (tensor >= 0 && type && type.getRank() > 0)
        whole.push_back({&operand, newVariable(wholeOf(type))});
    }
  });
}

/// Gives an elementwise operation the sharding of one of its operands, without a choice of its own.
bool ProgramProblem::follow(int node, Operation *op, double times) {
  const GraphNode &each = graph.nodes[node];
  if (!isElementwise(op) || op->getNumResults() != 1 || each.results[0].tensor < 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.getRank() == 0)
    return false;
  const Table *leader = nullptr;
  for (auto [operand, view] : llvm::zip_equal(op->getOperands(), each.operands)) {
    if (view.tensor < 0 || kept[view.tensor].variable < 0 || cast<RankedTensorType>(operand.getType()).getShape() != type.getShape())
      continue;
    // A constant gets the sharding of its readers.
    Operation *definition = operand.getDefiningOp();
    if (definition && definition->getNumOperands() == 0)
      continue;
    leader = &kept[view.tensor];
    break;
  }
  if (!leader)
    return false;
  Table table = *leader;
  Variable &variable = variables[table.variable];
  for (auto [choice, sharding] : llvm::enumerate(table.shardings)) {
    Strategy strategy;
    strategy.results.push_back(known[sharding]);
    for (mlir::Value operand : op->getOperands())
      strategy.operands.push_back(shapeOf(operand).empty() ? TensorSharding() : known[sharding]);
    variable.costs[choice].computing += times * costs.secondsOf(op, strategy);
  }
  for (auto [operand, view, wants] : llvm::zip_equal(op->getOperands(), each.operands, wanted[node]))
    if (view.tensor >= 0 && !shapeOf(operand).empty())
      wants = table;
  define(each.results[0].tensor, table, times);
  return true;
}

void ProgramProblem::addNode(int node) {
  const GraphNode &each = graph.nodes[node];
  Operation *op = module.operation(node);
  wanted[node].resize(each.operands.size());
  double times = timesOf(op);
  auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op);
  if (each.results.size() == 1 && each.results[0].manual == View::Manual::Add) {
    // Operands of a manual computation have the shardings that it names; dimensions that it leaves open may have further axes, which propagation brings
    // into the body.
    auto argument = cast<BlockArgument>(edge.getInput());
    auto manual = cast<sdy::ManualComputationOp>(argument.getOwner()->getParentOp());
    TensorSharding asked = fromAttr(manual.getInShardings().getShardings()[argument.getArgNumber()], mesh);
    const int operand = each.operands[0].tensor;
    if (operand < 0 || cast<RankedTensorType>(typeOf(operand)).getRank() == 0)
      return;
    wanted[node][0] = shardingVariable(operand, &asked);
    manualOperands[manual].push_back({typeOf(operand), wanted[node][0]});
    return;
  }
  if (isManual(op))
    return;
  if (edge || isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(op)) {
    int tensor = each.results[0].tensor;
    if (tensor < 0 || cast<RankedTensorType>(typeOf(tensor)).getRank() == 0)
      return;
    natural[tensor] = kept[tensor] = shardingVariable(tensor, annotation(tensor));
    for (Table &wants : wanted[node])
      wants = kept[tensor];
    // A body is not planned; as if it were elementwise, a result has the sharding of an operand of its type, or costs a reshard.
    if (auto manual = edge ? edge.getInput().getDefiningOp<sdy::ManualComputationOp>() : sdy::ManualComputationOp())
      for (const auto &[type, has] : manualOperands.lookup(manual))
        if (type == typeOf(tensor)) {
          addReader(has, kept[tensor], type, times);
          break;
        }
    return;
  }
  if (follow(node, op, times))
    return;
  spmd::SplitRule split = spmd::splitRuleOf(op);
  for (size_t factor = 0; factor < split.splittable.size(); ++factor)
    split.splittable[factor] = split.splittable[factor] && !split.moving[factor];
  if (!isFew(size_t(llvm::count(split.splittable, true)), op->getLoc(), [&] { return op->getName().getStringRef().str(); }))
    return;
  std::vector<Strategy> strategies = strategiesOf({split.rule, split.splittable, split.canFillUp}, costs.mesh());
  Table table{int(variables.size()), {}};
  Variable &variable = variables.emplace_back();
  const double leastShare = leastShareOfMessage(node);
  for (const Strategy &strategy : strategies) {
    Transfer reduction = costs.reductionOf(op, strategy, leastShare);
    variable.costs.push_back({times * costs.secondsOf(op, strategy), times * reduction.seconds, times * reduction.bytes});
  }
  for (size_t i = 0; i < each.operands.size(); ++i) {
    if (each.operands[i].tensor < 0 || shapeOf(op->getOperand(i)).empty())
      continue;
    wanted[node][i].variable = table.variable;
    for (const Strategy &strategy : strategies)
      wanted[node][i].shardings.push_back(number(strategy.operands[i]));
  }
  for (size_t i = 0; i < each.results.size(); ++i) {
    if (each.results[i].tensor < 0 || shapeOf(op->getResult(i)).empty())
      continue;
    Table results{table.variable, {}}, left{table.variable, {}};
    for (const Strategy &strategy : strategies) {
      results.shardings.push_back(number(strategy.results[i]));
      left.shardings.push_back(number(strategy.kept[i]));
    }
    int tensor = each.results[i].tensor;
    define(tensor, left, times);
    natural[tensor] = results;
  }
}

/// Adds the results of the program.
void ProgramProblem::addBoundaries() {
  for (const GraphNode &boundary : graph.boundaries) {
    Table &table = returned.emplace_back();
    int value = boundary.operands[0].tensor, result = boundary.results[0].tensor;
    if (value < 0 || result < 0 || kept[value].variable < 0)
      continue;
    table = natural[result] = kept[result] = shardingVariable(result, annotation(result));
    addReader(kept[value], table, typeOf(result), 1);
    // A result that aliases an argument is the argument of the next execution.
    func::FuncOp function = module.place(result).function;
    for (BlockArgument argument : function.getArguments()) {
      auto aliased = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), spmd::kAlias);
      if (aliased && aliased.getInt() == int64_t(module.place(result).result) && module.tensorOf(argument) >= 0)
        alike.push_back({kept[module.tensorOf(argument)], table});
    }
  }
}

/// Finds results that no operation of long duration waits for, such as gradients of parameters, which the optimizer reads; activations are the next
/// layer's operands.
void ProgramProblem::findReaders() {
  feedsContraction.resize(graph.nodes.size());
  // Again after a change: what a loop's body returns is read in the next turn, by nodes in front of it.
  for (bool changed = true; changed;) {
    changed = false;
    for (int node = int(graph.nodes.size()) - 1; node >= 0; --node)
      for (const View &result : graph.nodes[node].results) {
        if (result.tensor < 0 || feedsContraction[node])
          continue;
        for (int reader : graph.tensors[result.tensor].touched)
          if (reader != node && (feedsContraction[reader] || flopsOf(module.operation(reader)) > 0))
            feedsContraction[node] = changed = true;
      }
  }
  for (size_t node = 0; node < graph.nodes.size(); ++node)
    if (Operation *op = module.operation(int(node)); !feedsContraction[node] && flopsOf(op) > 0) {
      LastContractions &last = lastContractions[op->getBlock()];
      ++last.number;
      last.bytes += bytesOfResults(op);
    }
}

/// Returns the least share of a message's latency that the sums of an operation's results pay: 1 if a contraction waits for them.
double ProgramProblem::leastShareOfMessage(int node) const {
  Operation *op = module.operation(node);
  const LastContractions waiting = lastContractions.lookup(op->getBlock());
  if (!costs.doSumsShareMessages() || feedsContraction[node] || waiting.number < 2)
    return 1;
  return waiting.bytes > 0 ? std::min(1.0, bytesOfResults(op) / waiting.bytes) : 1;
}

bool ProgramProblem::doSumsShareMessages() const {
  return costs.doSumsShareMessages() && llvm::any_of(lastContractions, [](const auto &each) { return each.second.number > 1; });
}

bool ProgramProblem::build() {
  natural.resize(graph.tensors.size());
  made.resize(graph.tensors.size());
  kept.resize(graph.tensors.size());
  wanted.resize(graph.nodes.size());
  findReaders();
  addSources();
  for (size_t node = 0; node < graph.nodes.size(); ++node)
    addNode(int(node));
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    const GraphNode &each = graph.nodes[node];
    Operation *op = module.operation(int(node));
    // What enters a loop is resharded once, what its body returns in every turn.
    auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op);
    SmallVector<OpOperand *> sources = edge ? edgeSources(edge.getInput()) : SmallVector<OpOperand *>();
    for (auto [i, view, wants] : llvm::enumerate(each.operands, wanted[node]))
      if (view.tensor >= 0)
        addReader(kept[view.tensor], wants, typeOf(view.tensor), timesOf(edge ? sources[i]->getOwner() : op));
  }
  for (auto &[operand, wants] : whole)
    addReader(kept[module.tensorOf(operand->get())], wants, operand->get().getType(), timesOf(operand->getOwner()));
  addBoundaries();
  for (ArrayRef<int> group : graph.groups)
    for (size_t i = 1; i < group.size(); ++i)
      alike.push_back({kept[group[i - 1]], kept[group[i]]});
  addMemory();
  problem.usageLimit = kNoLimit;
  return tooLarge.empty() && collect();
}

//===-- The solver's view -------------------------------------------------===//

Transfer ProgramProblem::reshard(Type type, int from, int to) const {
  if (from == to)
    return {};
  auto [found, isNew] = reshards.try_emplace({type, {from, to}});
  if (isNew)
    found->second = costs.reshard(type, known[from], known[to]);
  return found->second;
}

/// Returns the costs of an edge, in ticks.
std::vector<int64_t> ProgramProblem::costsOf(ArrayRef<PartOfEdge> parts, ArrayRef<const std::vector<int> *> lists) const {
  const size_t rows = lists[parts.front().rows]->size(), columns = lists[parts.front().columns]->size();
  std::vector<double> seconds(rows * columns);
  for (const PartOfEdge &part : parts)
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) {
        const int one = (*lists[part.rows])[row], other = (*lists[part.columns])[column];
        double &sum = seconds[row * columns + column];
        if (part.type)
          sum += part.times * reshard(Type::getFromOpaquePointer(part.type), part.isForward ? one : other, part.isForward ? other : one).seconds;
        else if (one != other)
          sum = std::numeric_limits<double>::infinity();
      }
  std::vector<int64_t> costs;
  costs.reserve(seconds.size());
  for (double each : seconds)
    costs.push_back(std::isinf(each) ? kImpossible : ticks(each));
  return costs;
}

bool ProgramProblem::collect() {
  // Layers that are alike have edges with the same costs, which are computed and kept once.
  std::map<std::vector<int>, int> numbersOfLists;
  std::vector<const std::vector<int> *> lists;
  auto numberOf = [&](const std::vector<int> &shardings) {
    auto [found, isNew] = numbersOfLists.try_emplace(shardings, int(lists.size()));
    if (isNew)
      lists.push_back(&found->first);
    return found->second;
  };
  std::map<std::pair<int, int>, std::vector<PartOfEdge>> edges;
  for (const Reader &reader : readers) {
    int a = reader.has.variable, b = reader.wants.variable;
    if (a == b) {
      for (size_t choice = 0; choice < variables[a].costs.size(); ++choice) {
        Transfer transfer = reshard(reader.type, reader.has.shardings[choice], reader.wants.shardings[choice]);
        variables[a].costs[choice].communicating += reader.times * transfer.seconds;
        variables[a].costs[choice].bytes += reader.times * transfer.bytes;
      }
      continue;
    }
    const int has = numberOf(reader.has.shardings), wants = numberOf(reader.wants.shardings);
    edges[std::minmax(a, b)].push_back({reader.type.getAsOpaquePointer(), reader.times, a < b ? has : wants, a < b ? wants : has, a < b});
  }
  for (const auto &[one, other] : alike) {
    if (one.variable < 0 || other.variable < 0 || one.variable == other.variable)
      continue; // both are one choice
    bool isOrdered = one.variable < other.variable;
    const Table &a = isOrdered ? one : other, &b = isOrdered ? other : one;
    edges[{a.variable, b.variable}].push_back({nullptr, 0, numberOf(a.shardings), numberOf(b.shardings), true});
  }
  std::map<std::vector<PartOfEdge>, PairCosts> tables;
  size_t sum = 0;
  for (const auto &[ends, parts] : edges)
    if (tables.try_emplace(parts).second)
      sum += variables[ends.first].costs.size() * variables[ends.second].costs.size();
  if (sum > kMostCosts) {
    tooLarge = llvm::formatv("operations and their operands have {0} different pairs of choices, of which at most {1} can be compared", sum, kMostCosts);
    return false;
  }
  for (auto &[parts, costs] : tables)
    costs.own() = costsOf(parts, lists);
  for (const Variable &variable : variables) {
    Node &node = problem.nodes.emplace_back();
    for (const Estimate &cost : variable.costs)
      node.costs.push_back(ticks(cost.computing + cost.communicating));
    node.usages.assign(node.costs.size(), 0);
  }
  for (const auto &[ends, parts] : edges)
    problem.edges.push_back({uint32_t(ends.first), uint32_t(ends.second), tables.at(parts)});
  return true;
}

std::optional<std::vector<uint32_t>> ProgramProblem::wholeChoices() const {
  // Axes are assigned to no dimension first (Strategies.cpp).
  auto isWhole = [&](const Table &table) {
    return table.variable < 0 || llvm::all_of(known[table.shardings.front()].dims, [](const DimSharding &dim) { return dim.axes.empty(); });
  };
  auto areWhole = [&](const auto &tables) { return llvm::all_of(tables, isWhole); };
  if (!areWhole(natural) || !areWhole(made) || !areWhole(kept) || !areWhole(returned) || !llvm::all_of(wanted, areWhole))
    return std::nullopt;
  return std::vector<uint32_t>(problem.nodes.size(), 0);
}

ProgramProblem::Estimate ProgramProblem::estimate(ArrayRef<uint32_t> choices) const {
  Estimate total;
  for (auto [variable, choice] : llvm::zip(variables, choices)) {
    total.computing += variable.costs[choice].computing;
    total.communicating += variable.costs[choice].communicating;
    total.bytes += variable.costs[choice].bytes;
  }
  for (const Reader &reader : readers) {
    if (reader.has.variable == reader.wants.variable)
      continue; // it is counted with the variable
    Transfer transfer = reshard(reader.type, reader.has.shardings[choices[reader.has.variable]], reader.wants.shardings[choices[reader.wants.variable]]);
    total.communicating += reader.times * transfer.seconds;
    total.bytes += reader.times * transfer.bytes;
  }
  return total;
}

//===-- Shardings of the program ----------------------------------------------===//

void ProgramProblem::apply(ArrayRef<uint32_t> choices) {
  auto chosen = [&](const Table &table) { return table.shardings[choices[table.variable]]; };
  auto attrOf = [&](int sharding) { return toAttr(known[sharding], meshRef, mesh); };
  llvm::DenseSet<std::pair<int, int>> brought; // tensors and shardings that a reader has had
  // Readers are handled first, while values have the names that the graph knows.
  auto bring = [&](OpOperand &operand, int tensor, const Table &wants) {
    if (tensor < 0 || wants.variable < 0 || kept[tensor].variable < 0 || chosen(kept[tensor]) == chosen(wants))
      return;
    OpBuilder builder(operand.getOwner());
    mlir::Value value = operand.get();
    const Location loc = value.getLoc();
    if (problem.usageLimit != kNoLimit && !brought.insert({tensor, chosen(wants)}).second) {
      auto fenced = OptimizationBarrierOp::create(builder, loc, value.getType(), value);
      value = sdy::DataFlowEdgeOp::create(builder, loc, value.getType(), fenced.getResult()[0], attrOf(chosen(kept[tensor])));
    }
    operand.set(sdy::ReshardOp::create(builder, loc, value, attrOf(chosen(wants))));
  };
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    Operation *op = module.operation(int(node));
    auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op);
    // A sharding constraint is a reshard itself.
    if (!edge && isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(op))
      continue;
    SmallVector<OpOperand *> operands;
    if (edge)
      operands = edgeSources(edge.getInput());
    else
      for (OpOperand &operand : op->getOpOperands())
        operands.push_back(&operand);
    for (auto [operand, view, wants] : llvm::zip_equal(operands, graph.nodes[node].operands, wanted[node]))
      bring(*operand, view.tensor, wants);
  }
  for (auto &[operand, wants] : whole)
    bring(*operand, module.tensorOf(operand->get()), wants);
  for (auto [boundary, wants] : llvm::zip_equal(graph.boundaries, returned)) {
    if (wants.variable < 0)
      continue;
    const ModuleGraph::Place &result = module.place(boundary.results[0].tensor);
    func::FuncOp function = result.function;
    bring(function.getBody().back().getTerminator()->getOpOperand(result.result), boundary.operands[0].tensor, wants);
    function.setResultAttr(result.result, sdy::shardingAttrName, attrOf(chosen(wants)));
  }
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    mlir::Value value = module.place(int(tensor)).value;
    if (!value || kept[tensor].variable < 0)
      continue;
    setSharding(value, attrOf(chosen(natural[tensor])));
    // First reshards to the sharding in which the operation leaves its result (an all_reduce becomes a reduce_scatter), then to that of its readers.
    int now = chosen(natural[tensor]);
    for (const Table *next : {&made[tensor], &kept[tensor]}) {
      if (next->variable < 0 || chosen(*next) == now)
        continue;
      now = chosen(*next);
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      auto reshard = sdy::ReshardOp::create(builder, value.getLoc(), value, attrOf(now));
      value.replaceAllUsesExcept(reshard, reshard);
      value = reshard;
    }
  }
}

} // namespace millrace::autosharding
