// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.cpp - Why every tensor is split as it is, or whole -----===//
#include "passes/sharding/explain/Explanation.h"

#include "dialects/millrace/Attributes.h"

#include "passes/sharding/propagation/DataFlow.h"
#include "passes/sharding/explain/Obstacles.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/sharding/explain/Origins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace millrace::sharding {

static constexpr llvm::StringLiteral kHloSharding = "mhlo.sharding";

// Sections, in this order.
static constexpr llvm::StringLiteral kAnnotated = "annotated:";
static constexpr llvm::StringLiteral kSplit = "split by propagation:";
static constexpr llvm::StringLiteral kUnreached = "whole, because no annotation reached them:";
static constexpr llvm::StringLiteral kScalars = "whole, because they have no dimensions:";
static constexpr llvm::StringLiteral kWhole = "whole, because annotations say so:";
static constexpr llvm::StringLiteral kNeeded = "whole, because an operation needs them whole:";
static constexpr llvm::StringLiteral kClosed = "whole, because their dimensions are closed:";
static constexpr llvm::StringLiteral kConflict = "whole, because of a conflict:";
static constexpr llvm::StringLiteral kBarrier = "whole, because of a barrier:";
static constexpr llvm::StringLiteral kSections[] = {kAnnotated, kSplit,  kWhole,   kClosed,   kConflict,
                                                    kNeeded,    kBarrier, kScalars, kUnreached};

void Explanation::mark(ModuleOp module) {
  auto unit = UnitAttr::get(module.getContext());
  module.walk([&](Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function) {
      if (op->hasAttr(sdy::shardingAttrName) || op->hasAttr(kHloSharding))
        op->setAttr(kAnnotatedAttr, unit);
      return;
    }
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, sdy::shardingAttrName) || function.getArgAttr(i, kHloSharding))
        function.setArgAttr(i, kAnnotatedAttr, unit);
  });
}

void Explanation::begin(const ModuleGraph &graph) {
  for (const GraphTensor &tensor : graph.graph.tensors)
    annotations.push_back(tensor.sharding);
}

std::string lineOf(Location loc) {
  std::string text;
  loc->walk([&](Location each) {
    auto file = dyn_cast<FileLineColLoc>(each);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
    return WalkResult::interrupt();
  });
  return text;
}

static std::string withLine(const std::string &what, const std::string &line) {
  return line.empty() ? what : what + " (" + line + ")";
}

/// Returns the client's name: in JAX the path of an argument or result, in PyTorch/XLA the user's expression.
static std::string clientName(const ModuleGraph::Place &place) {
  auto argument = dyn_cast_or_null<BlockArgument>(place.value);
  auto name = argument ? dyn_cast<NameLoc>(argument.getLoc()) : NameLoc();
  if (name && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return " \"" + name.getName().str() + "\"";
  if (!place.value)
    if (auto info = const_cast<func::FuncOp &>(place.function).getResultAttrOfType<StringAttr>(place.result, "jax.result_info"))
      return info.getValue().empty() ? "" : " \"" + info.getValue().str() + "\"";
  return "";
}

static sdy::TensorShardingAttr closed(sdy::TensorShardingAttr sharding) {
  auto dims = llvm::map_to_vector(sharding.getDimShardings(), [](sdy::DimensionShardingAttr dim) {
    return sdy::DimensionShardingAttr::get(dim.getContext(), dim.getAxes(), true, std::nullopt);
  });
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims, sharding.getReplicatedAxes(),
                                      sharding.getUnreducedAxes(), sharding.getReductionOp());
}

template <typename T> static std::string printed(T what) {
  std::string text;
  llvm::raw_string_ostream(text) << what;
  return text;
}

class Collector {
public:
  Collector(const ModuleGraph &graph, Explanation &explanation)
      : graph(graph), explanation(explanation), uses(graph.graph.tensors.size()) {
    auto add = [&](const GraphNode &node, int number) {
      int at = 0;
      for (auto *views : {&node.operands, &node.results})
        for (const View &view : *views) {
          if (view.tensor >= 0)
            uses[view.tensor].push_back({number, at});
          ++at;
        }
    };
    for (auto [i, node] : llvm::enumerate(graph.graph.nodes))
      add(node, int(i));
    for (auto [i, node] : llvm::enumerate(graph.graph.boundaries))
      add(node, -1 - int(i));
  }

  void run() {
    for (sdy::MeshOp mesh : graph.getModule().getOps<sdy::MeshOp>()) {
      if (mesh.getMesh().getAxes().empty())
        continue;
      std::string text = "mesh @" + mesh.getSymName().str() + ":";
      for (auto [i, axis] : llvm::enumerate(mesh.getMesh().getAxes()))
        text += (i ? ", \"" : " \"") + axis.getName().str() + "\"=" + std::to_string(axis.getSize());
      explanation.meshes.push_back(text);
    }
    for (int tensor = 0; tensor < int(uses.size()); ++tensor)
      explanation.tensors.push_back(explain(tensor));
  }

private:
  const GraphNode &nodeOf(int number) const {
    return number < 0 ? graph.graph.boundaries[-1 - number] : graph.graph.nodes[number];
  }
  int tensorAt(const GraphNode &node, int place) const {
    size_t operands = node.operands.size();
    return size_t(place) < operands ? node.operands[place].tensor : node.results[place - operands].tensor;
  }
  std::string placeText(const GraphNode &node, int place) const {
    size_t operands = node.operands.size();
    return size_t(place) < operands ? "operand " + std::to_string(place) : "result " + std::to_string(place - operands);
  }

  Location locationOf(int tensor) const {
    const ModuleGraph::Place &place = graph.place(tensor);
    return place.value ? place.value.getLoc() : const_cast<func::FuncOp &>(place.function).getLoc();
  }
  std::string lineAt(int tensor) const {
    // A function has a line of its own in texts of ours; results have none.
    return graph.place(tensor).value ? lineOf(locationOf(tensor)) : "";
  }
  std::string name(int tensor) const {
    std::string place = describePlace(graph, tensor);
    if (place == sdy::ConstantOp::getOperationName()) // into which an import pass converted the program's
      place = "stablehlo.constant";
    return place + clientName(graph.place(tensor));
  }
  std::string nameWithLine(int tensor) const { return withLine(name(tensor), lineAt(tensor)); }

  /// Returns the operation of the node; for an edge its owner.
  Operation *operationOf(int node) const {
    Operation *op = node < 0 ? nullptr : graph.operation(node);
    auto edge = dyn_cast_or_null<sdy::DataFlowEdgeOp>(op);
    if (!edge)
      return op;
    if (auto argument = dyn_cast<BlockArgument>(edge.getInput()))
      return argument.getOwner()->getParentOp();
    return edge.getInput().getDefiningOp();
  }
  std::string nodeText(int node) const {
    Operation *op = operationOf(node);
    return op ? withLine(op->getName().getStringRef().str(), lineOf(op->getLoc())) : "return";
  }
  std::string ruleText(int node) const {
    StringRef text = "#sdy.op_sharding_rule<";
    std::string rule = printed(toAttr(nodeOf(node).rule, graph.getModule().getContext()));
    StringRef inner = rule;
    inner.consume_front(text);
    inner.consume_back(">");
    return inner.str();
  }

  bool hasMark(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      return !function || function.getArgAttr(argument.getArgNumber(), kAnnotatedAttr);
    }
    Operation *op = value.getDefiningOp();
    return op->hasAttr(kAnnotatedAttr) || isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::ManualComputationOp, sdy::NamedComputationOp>(op);
  }

  /// Returns where the tensor's sharding before propagation was written: at itself, or at the constraint, manual computation or member of its group
  /// from which a pass copied it.
  std::string annotator(int tensor) const {
    Value value = graph.place(tensor).value;
    if (auto edge = value ? value.getDefiningOp<sdy::DataFlowEdgeOp>() : sdy::DataFlowEdgeOp())
      value = edge.getInput();
    if (!value || hasMark(value))
      return "";
    const std::optional<TensorSharding> &wanted = explanation.annotations[tensor];
    for (OpOperand &use : graph.place(tensor).value.getUses()) {
      Operation *user = use.getOwner();
      sdy::TensorShardingAttr asked;
      if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(user))
        asked = constraint.getSharding();
      else if (auto manual = dyn_cast<sdy::ManualComputationOp>(user))
        asked = manual.getInShardings().getShardings()[use.getOperandNumber()];
      sdy::MeshAttr mesh = asked ? asked.getMesh(user) : sdy::MeshAttr();
      if (mesh && wanted && fromAttr(asked, mesh) == *wanted)
        return withLine(user->getName().getStringRef().str(), lineOf(user->getLoc()));
    }
    if (int group = graph.graph.tensors[tensor].group; group >= 0)
      for (int member : graph.graph.groups[group])
        if (member != tensor && explanation.annotations[member] == wanted && annotator(member).empty())
          return nameWithLine(member) + ", of the same sdy.sharding_group";
    return "";
  }

  /// It was there before propagation.
  bool isOwn(int tensor, int dim, const Axis &axis) const {
    const std::optional<TensorSharding> &sharding = explanation.annotations[tensor];
    return sharding && size_t(dim) < sharding->dims.size() &&
           llvm::any_of(sharding->dims[dim].axes, [&](const Axis &each) { return each.contains(axis); });
  }

  /// The step that gave the axis, or most of it, before step `before`.
  const Cause *causeOf(int tensor, int dim, const Axis &axis, int before) const {
    const Cause *found = nullptr;
    for (const Cause &cause : graph.graph.tensors[tensor].causes)
      if (cause.step < before && cause.edge.dim == dim && cause.edge.axis.overlaps(axis) && (!found || cause.edge.axis == axis))
        found = &cause;
    return found;
  }

  int dimWith(int tensor, const Axis &axis) const {
    const std::optional<TensorSharding> &sharding = graph.graph.tensors[tensor].sharding;
    for (size_t dim = 0; sharding && dim < sharding->dims.size(); ++dim)
      if (llvm::any_of(sharding->dims[dim].axes, [&](const Axis &each) { return each.overlaps(axis); }))
        return int(dim);
    return -1;
  }

  /// Back to the annotation.
  int rootOf(const Cause *cause, const Axis &axis) const {
    for (;;) {
      int tensor = cause->source, dim = dimWith(tensor, axis);
      if (dim < 0 || isOwn(tensor, dim, axis))
        return tensor;
      // A group's members change in one step.
      int before = cause->node == kThroughGroup ? cause->step + 1 : cause->step;
      const Cause *next = causeOf(tensor, dim, axis, before);
      if (!next || next == cause)
        return tensor;
      cause = next;
    }
  }

  void noteRule(int node) {
    std::string line = "rule of " + nodeText(node) + ": " + ruleText(node);
    if (node >= 0 && !llvm::is_contained(rules, line))
      rules.push_back(line);
  }

  std::string whyAxis(int tensor, int dim, const Axis &axis, sdy::AxisRefAttr axisName) {
    std::string text = "dimension " + std::to_string(dim) + " " + axisName.toString() + ": ";
    const Cause *cause = isOwn(tensor, dim, axis) ? nullptr : causeOf(tensor, dim, axis, INT_MAX);
    if (!cause) {
      std::string from = annotator(tensor);
      return text + (from.empty() ? "annotated here" : "from " + from);
    }
    int root = rootOf(cause, axis);
    std::string by = annotator(root);
    text += "from " + (by.empty() ? nameWithLine(root) : by);
    if (cause->node == kThroughGroup)
      return text + ", as " + nameWithLine(cause->source) + ", which is of the same sdy.sharding_group";
    const GraphNode &node = nodeOf(cause->node);
    if (cause->node < 0)
      return text + ", returned";
    noteRule(cause->node);
    return text + ", through " + nodeText(cause->node) + " along " + sdy::factorSymbol(cause->edge.factor) + ", " +
           placeText(node, cause->edge.source) + " -> " + placeText(node, cause->edge.target);
  }

  std::string axesText(AxesRef axes, int mesh) const {
    std::string text;
    for (const Axis &axis : axes)
      text += (text.empty() ? "" : ", ") + graph.nameOf(axis, mesh).toString();
    return text;
  }
  Axes axesAt(const GraphNode &node, int place, int factor) const {
    Projection projection = projectionOf(graph.graph, node);
    size_t operands = projection.operands.size();
    return (size_t(place) < operands ? projection.operands[place] : projection.results[place - operands]).find(factor)->axes;
  }

  std::string obstacleText(const Missing &missing, const GraphNode &node, int tensor) const {
    switch (missing.why) {
    case Obstacle::Blocked:
      return node.rule.factors[missing.factor].kind == FactorKind::NeedReplication
                 ? "the operation needs it whole (need_replication)"
                 : "the rule lets nothing through (blocked_propagation)";
    case Obstacle::Direction:
      return "a barrier lets nothing through in this direction";
    case Obstacle::Disagreement:
      if (missing.other >= 0)
        return nameWithLine(tensorAt(node, missing.other)) + " has " +
               axesText(axesAt(node, missing.other, missing.factor), meshOf(graph.graph, node)) + " there";
      return "others have other axes there";
    case Obstacle::Closed: {
      std::string by = annotator(tensor);
      return "the dimension is closed" + (by.empty() ? "" : " by " + by);
    }
    case Obstacle::Kept:
      return "the annotation keeps the tensor replicated or unreduced along it";
    case Obstacle::Taken:
      return "it splits dimension " + std::to_string(missing.other);
    case Obstacle::Uneven:
      return "it does not divide the " + std::to_string(node.rule.factors[missing.factor].size) + " of " +
             sdy::factorSymbol(missing.factor);
    case Obstacle::Follows:
      return nameWithLine(tensorAt(node, missing.other)) + " could not take it either";
    case Obstacle::Unfinished:
      break;
    }
    return "other axes of the operation left no room for it";
  }

  static StringRef sectionOf(Obstacle why) {
    switch (why) {
    case Obstacle::Blocked:
      return kNeeded;
    case Obstacle::Direction:
      return kBarrier;
    case Obstacle::Closed:
    case Obstacle::Kept:
      return kClosed;
    default:
      return kConflict;
    }
  }

  /// Reports the axes that did not reach unsharded dimensions. Returns the section of the first.
  StringRef obstacles(int tensor, std::vector<std::string> &why) {
    StringRef section;
    for (auto [number, place] : uses[tensor]) {
      const GraphNode &node = nodeOf(number);
      int mesh = meshOf(graph.graph, node);
      if (mesh < 0)
        continue;
      SmallVector<Direction> directions;
      for (size_t factor = 0; factor < node.rule.factors.size(); ++factor)
        directions.push_back(directionInRound(node, factor, kOpPriorityRounds - 1));
      Projection projection = projectionOf(graph.graph, node);
      for (const Missing &missing : missingAxes(node.rule, projection, directions, place, node.elementwise)) {
        const std::optional<TensorSharding> &sharding = graph.graph.tensors[tensor].sharding;
        if (sharding && !sharding->dims[missing.dim].axes.empty())
          continue;
        if (section.empty())
          section = sectionOf(missing.why);
        noteRule(number);
        std::string line = "dimension " + std::to_string(missing.dim) + ": " + axesText(missing.axes, mesh) + " of " +
                           nameWithLine(tensorAt(node, missing.source)) + " did not come through " + nodeText(number) +
                           " along " + sdy::factorSymbol(missing.factor) + ": " +
                           obstacleText(missing, node, tensor);
        if (!llvm::is_contained(why, line))
          why.push_back(line);
      }
    }
    return section;
  }

  Explanation::Tensor explain(int tensor) {
    Explanation::Tensor result;
    rules.clear();
    const ModuleGraph::Place &place = graph.place(tensor);
    Type type = place.value ? place.value.getType() : const_cast<func::FuncOp &>(place.function).getResultTypes()[place.result];
    const std::optional<TensorSharding> &sharding = graph.graph.tensors[tensor].sharding;
    bool isSplit = sharding && (!sharding->isEmpty() || !sharding->unreduced.empty());
    result.head = name(tensor) + " : " + printed(type);
    result.line = lineAt(tensor);
    if (isSplit) {
      result.sharding = closed(graph.attrOf(tensor));
      result.head += " " + printed(result.sharding);
      for (auto [dim, each] : llvm::enumerate(sharding->dims))
        for (auto [axis, axisName] : llvm::zip_equal(each.axes, result.sharding.getDimShardings()[dim].getAxes()))
          result.why.push_back(whyAxis(tensor, dim, axis, axisName));
      if (!sharding->unreduced.empty())
        result.why.push_back("summands along " + axesText(sharding->unreduced, graph.graph.tensors[tensor].mesh) + ": unreduced");
    }
    const std::optional<TensorSharding> &before = explanation.annotations[tensor];
    bool isAnnotated = before && annotator(tensor).empty();
    StringRef section = obstacles(tensor, result.why);
    if (isSplit)
      section = isAnnotated && (!before->isEmpty() || !before->unreduced.empty()) ? kAnnotated : kSplit;
    else if (cast<ShapedType>(type).getRank() == 0)
      section = kScalars;
    else if (isAnnotated && llvm::all_of(before->dims, [](const DimSharding &dim) { return dim.closed; }))
      section = kWhole;
    else if (section.empty())
      section = kUnreached;
    result.section = section.str();
    llvm::append_range(result.why, rules);
    if (!place.value) {
      result.function = const_cast<func::FuncOp &>(place.function).getName().str();
      result.index = int(place.result);
    } else if (auto argument = dyn_cast<BlockArgument>(place.value)) {
      if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())) {
        result.function = function.getName().str();
        result.isArgument = true;
        result.index = int(argument.getArgNumber());
      }
    }
    return result;
  }

  const ModuleGraph &graph;
  Explanation &explanation;
  std::vector<SmallVector<std::pair<int, int>, 4>> uses; ///< node and place, by tensor
  std::vector<std::string> rules;                        ///< of the tensor that is explained
};

void Explanation::collect(const ModuleGraph &graph) { Collector(graph, *this).run(); }

void Explanation::settle(ModuleOp module) {
  module.walk([&](Operation *op) {
    op->removeAttr(kAnnotatedAttr);
    if (auto function = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, StringAttr::get(module.getContext(), kAnnotatedAttr));
  });
  for (Tensor &tensor : tensors) {
    auto function = module.lookupSymbol<func::FuncOp>(tensor.function);
    if (tensor.index < 0 || !function || !tensor.sharding)
      continue;
    auto now = tensor.isArgument
                   ? function.getArgAttrOfType<sdy::TensorShardingAttr>(tensor.index, sdy::shardingAttrName)
                   : function.getResultAttrOfType<sdy::TensorShardingAttr>(tensor.index, sdy::shardingAttrName);
    if (!now)
      tensor.why.push_back(tensor.isArgument ? "callers bring it whole, because it is not annotated; each device takes its part"
                                             : "callers get it whole");
    else if (closed(now).getDimShardings() != tensor.sharding.getDimShardings())
      tensor.why.push_back("for callers it is " + printed(closed(now)) + ": parts of equal sizes along whole axes");
  }
}

/// `a.py:3, a.py:7 x2`; without lines `x3`.
static std::string placesText(ArrayRef<std::string> lines) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (llvm::is_contained(lines.take_front(i), lines[i]))
      continue;
    auto count = llvm::count(lines, lines[i]);
    std::string place = lines[i];
    if (count > 1)
      place += (place.empty() ? "x" : " x") + std::to_string(count);
    if (!place.empty())
      text += (text.empty() ? "" : ", ") + place;
  }
  return text;
}

void Explanation::print(llvm::raw_ostream &os) const {
  for (const std::string &mesh : meshes)
    os << mesh << "\n";
  for (StringRef section : kSections) {
    // Equal texts in the order of the first, with their lines.
    std::vector<std::pair<std::string, std::vector<std::string>>> same;
    std::map<std::string, size_t> known;
    for (const Tensor &tensor : tensors) {
      if (tensor.section != section)
        continue;
      std::string key = tensor.head;
      for (const std::string &line : tensor.why)
        key += "\n  " + line;
      auto [found, isNew] = known.try_emplace(key, same.size());
      if (isNew)
        same.push_back({key, {}});
      same[found->second].second.push_back(tensor.line);
    }
    if (!same.empty())
      os << "\n" << section << "\n";
    for (auto &[key, lines] : same) {
      auto [head, why] = StringRef(key).split('\n');
      os << head;
      if (std::string places = placesText(lines); !places.empty())
        os << "  (" << places << ")";
      os << "\n";
      if (!why.empty())
        os << why << "\n";
    }
  }
}

} // namespace millrace::sharding
