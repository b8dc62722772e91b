// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origins.cpp - Which annotation put an axis where it is -------------===//
#include "passes/sharding/Origins.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

using namespace mlir;

namespace millrace::sharding {

/// The step in which the dimension got the axis; null if it always had it.
static const Cause *causeOf(const GraphTensor &tensor, int dim, const Axis &axis) {
  for (const Cause &cause : tensor.causes)
    if (cause.dim == dim && llvm::any_of(cause.axes, [&](const Axis &each) { return each.overlaps(axis); }))
      return &cause;
  return nullptr;
}

/// An annotation is what was there before any step: with one, the axis is in no cause or the cause only added others.
static bool isOwn(const GraphTensor &tensor, int dim, const Axis &axis) {
  return causeOf(tensor, dim, axis) == nullptr;
}

Origin originOf(const Graph &graph, int tensor, int dim, const Axis &axis) {
  Origin origin{tensor};
  std::set<int> seen;
  for (int at = tensor, atDim = dim; seen.insert(at).second;) {
    const GraphTensor &state = graph.tensors[at];
    origin.annotated = at;
    if (isOwn(state, atDim, axis))
      break;
    const Cause &cause = *causeOf(state, atDim, axis);
    if (at == tensor) {
      origin.node = cause.node;
      origin.source = cause.source;
    }
    if (cause.source < 0 || !graph.tensors[cause.source].sharding)
      break;
    at = cause.source;
    atDim = -1;
    for (auto [i, each] : llvm::enumerate(graph.tensors[at].sharding->dims))
      if (llvm::any_of(each.axes, [&](const Axis &other) { return other.overlaps(axis); }))
        atDim = i;
    if (atDim < 0)
      break;
  }
  return origin;
}

std::string describePlace(const ModuleGraph &graph, int tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ModuleGraph::Place place = graph.place(tensor);
  if (!place.value) {
    os << "result " << place.result << " of @" << place.function.getName();
    return text;
  }
  if (auto argument = dyn_cast<BlockArgument>(place.value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    os << "argument " << argument.getArgNumber() << " of ";
    if (function)
      os << "@" << function.getName();
    else
      os << argument.getOwner()->getParentOp()->getName();
    return text;
  }
  Operation *op = place.value.getDefiningOp();
  if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op)) {
    if (auto argument = dyn_cast<BlockArgument>(edge.getInput())) {
      os << "argument " << argument.getArgNumber() << " of " << argument.getOwner()->getParentOp()->getName();
      return text;
    }
    place.value = edge.getInput();
    op = edge.getInput().getDefiningOp();
  }
  os << op->getName();
  if (op->getNumResults() > 1)
    os << " result " << cast<OpResult>(place.value).getResultNumber();
  return text;
}

static Location locationOf(const ModuleGraph &graph, int tensor) {
  const ModuleGraph::Place &place = graph.place(tensor);
  return place.value ? place.value.getLoc() : const_cast<func::FuncOp &>(place.function).getLoc();
}

namespace {
/// The innermost file and line of a location, or its name.
std::string lineOf(Location loc) {
  std::string text;
  loc->walk([&](Location each) {
    if (auto file = dyn_cast<FileLineColLoc>(each)) {
      text = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return text;
}

/// Calls back for every axis of the tensor's dimensions.
void forEachAxis(const ModuleGraph &graph, int tensor,
                 function_ref<void(int dim, const Axis &axis, sdy::AxisRefAttr name)> callback) {
  sdy::TensorShardingAttr attr = graph.attrOf(tensor);
  if (!attr)
    return;
  const TensorSharding &sharding = *graph.graph.tensors[tensor].sharding;
  for (auto [dim, each] : llvm::enumerate(sharding.dims))
    for (auto [axis, name] : llvm::zip_equal(each.axes, attr.getDimShardings()[dim].getAxes()))
      callback(dim, axis, name);
}

} // namespace

namespace {

/// Entry `index` of a list with one dictionary per value.
void setEntry(Operation *op, StringRef name, size_t size, size_t index, DictionaryAttr entry) {
  SmallVector<Attribute> all(size, DictionaryAttr::get(op->getContext()));
  if (auto before = op->getAttrOfType<ArrayAttr>(name); before && before.size() == size)
    all.assign(before.begin(), before.end());
  all[index] = entry;
  op->setAttr(name, ArrayAttr::get(op->getContext(), all));
}

/// Puts the dictionaries where Shardy puts them, under its names for whoever annotates.
class Attacher {
public:
  explicit Attacher(ModuleGraph &graph) : graph(graph) {
    // Constraints and manual computations get numbers, in the order of the program.
    std::vector<Operation *> sources;
    for (int tensor = 0; tensor < int(graph.graph.tensors.size()); ++tensor)
      if (Operation *op = sourceAt(tensor); op && !llvm::is_contained(sources, op))
        sources.push_back(op);
    if (!sources.empty())
      sources.front()->getParentOfType<ModuleOp>().walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!llvm::is_contained(sources, op))
          return;
        bool isManual = isa<sdy::ManualComputationOp>(op);
        names[op] = (isManual ? "mc_" : "constraint_") + std::to_string(isManual ? manuals++ : constraints++);
      });
  }

  void nameSources() {
    for (auto &[op, name] : names)
      op->setAttr("sdy.sharding_origin_name", StringAttr::get(op->getContext(), name));
  }

  std::string originName(int tensor, int annotated) {
    if (tensor == annotated)
      return "self";
    ModuleGraph::Place place = graph.place(annotated);
    if (!place.value)
      return "output: " + std::to_string(place.result);
    if (auto argument = dyn_cast<BlockArgument>(place.value); argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return "input: " + std::to_string(argument.getArgNumber());
    Operation *op = sourceAt(annotated);
    if (!op)
      return describePlace(graph, annotated);
    if (!isa<sdy::ManualComputationOp>(op))
      return names[op];
    Value end = cast<sdy::DataFlowEdgeOp>(place.value.getDefiningOp()).getInput();
    if (auto argument = dyn_cast<BlockArgument>(end))
      return names[op] + "_input: " + std::to_string(argument.getArgNumber());
    return names[op] + "_output: " + std::to_string(cast<OpResult>(end).getResultNumber());
  }

  void attach(int tensor, StringRef name, const NamedAttrList &entries) {
    ModuleGraph::Place place = graph.place(tensor);
    MLIRContext *context = place.value ? place.value.getContext() : place.function.getContext();
    DictionaryAttr all = entries.getDictionary(context);
    if (!place.value)
      return place.function.setResultAttr(place.result, name, all);
    if (auto argument = dyn_cast<BlockArgument>(place.value)) {
      if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        function.setArgAttr(argument.getArgNumber(), name, all);
      return;
    }
    Operation *op = place.value.getDefiningOp();
    if (isa<sdy::SdyDialect>(op->getDialect()) && op->getNumResults() == 1 && op->getNumRegions() == 0)
      op->setAttr(name, all);
    else
      setEntry(op, name, op->getNumResults(), cast<OpResult>(place.value).getResultNumber(), all);
  }

private:
  /// The constraint, or the manual computation of a data-flow edge, that the tensor is.
  Operation *sourceAt(int tensor) {
    Value value = graph.place(tensor).value;
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (isa_and_nonnull<sdy::ShardingConstraintOp>(op))
      return op;
    auto edge = dyn_cast_or_null<sdy::DataFlowEdgeOp>(op);
    if (!edge)
      return nullptr;
    auto argument = dyn_cast<BlockArgument>(edge.getInput());
    Operation *owner = argument ? argument.getOwner()->getParentOp() : edge.getInput().getDefiningOp();
    return isa<sdy::ManualComputationOp>(owner) ? owner : nullptr;
  }

  ModuleGraph &graph;
  llvm::DenseMap<Operation *, std::string> names;
  int manuals = 0, constraints = 0;
};

} // namespace

static void attachSteps(ModuleGraph &graph) {
  // Of every operation; of a function all that happened at its results, which stands at the first of them.
  llvm::MapVector<Operation *, SmallVector<sdy::PropagationOneStepAttr>> steps;
  llvm::SmallPtrSet<Operation *, 4> functions;
  for (const GraphStep &step : graph.graph.steps) {
    Operation *op = graph.operation(step.node);
    size_t operands = 1;
    if (op) {
      operands = graph.graph.nodes[step.node].operands.size();
    } else {
      op = graph.place(graph.graph.boundaries[-1 - step.node].results[0].tensor).function;
      functions.insert(op);
    }
    MLIRContext *context = op->getContext();
    auto ref = [&](int place) {
      bool isOperand = size_t(place) < operands;
      return sdy::EdgeValueRefAttr::get(context, isOperand ? sdy::EdgeNodeType::Operand : sdy::EdgeNodeType::Result,
                                        isOperand ? place : place - operands);
    };
    SmallVector<sdy::AxisToPropagationDetailsAttr> entries;
    auto &ofOp = steps[op];
    for (const GraphStep::Edge &edge : step.edges) {
      auto entry = sdy::AxisToPropagationDetailsAttr::get(context, graph.nameOf(edge.axis, step.mesh), ref(edge.source),
                                                          llvm::map_to_vector(edge.targets, ref));
      // Another result of the function, which is not told from the first.
      bool known = functions.contains(op) && llvm::any_of(ofOp, [&](sdy::PropagationOneStepAttr before) {
                     return llvm::is_contained(before.getAxisEntries(), entry);
                   });
      if (!known)
        entries.push_back(entry);
    }
    if (entries.empty() && functions.contains(op))
      continue;
    llvm::sort(entries, [](auto a, auto b) {
      auto key = [](sdy::AxisRefAttr axis) { return std::tuple(axis.getName(), axis.getPreSize()); };
      return key(a.getAxisName()) < key(b.getAxisName());
    });
    ofOp.push_back(sdy::PropagationOneStepAttr::get(context, step.number, entries));
  }
  for (auto &[op, list] : steps) {
    auto edges = sdy::PropagationEdgesAttr::get(op->getContext(), list);
    if (functions.contains(op))
      cast<func::FuncOp>(op).setResultAttr(0, sdy::propagationEdgesAttrName, edges);
    else
      op->setAttr(sdy::propagationEdgesAttrName, edges);
  }
}

void attachOrigins(ModuleGraph &graph, bool origins, bool edges) {
  if (edges)
    attachSteps(graph);
  if (!origins)
    return;
  Attacher attacher(graph);
  attacher.nameSources();
  for (int tensor = 0; tensor < int(graph.graph.tensors.size()); ++tensor) {
    NamedAttrList from;
    forEachAxis(graph, tensor, [&](int dim, const Axis &axis, sdy::AxisRefAttr name) {
      Origin origin = originOf(graph.graph, tensor, dim, axis);
      std::string key = name.getName().str();
      if (sdy::SubAxisInfoAttr sub = name.getSubAxisInfo())
        key += ":(" + std::to_string(sub.getPreSize()) + ")" + std::to_string(sub.getSize());
      from.set(key, StringAttr::get(name.getContext(), attacher.originName(tensor, origin.annotated)));
    });
    if (!from.empty())
      attacher.attach(tensor, "sdy.sharding_origins", from);
  }
}

void explainShardings(const ModuleGraph &graph, llvm::raw_ostream &os) {
  for (int tensor = 0; tensor < int(graph.graph.tensors.size()); ++tensor) {
    sdy::TensorShardingAttr attr = graph.attrOf(tensor);
    if (!attr || graph.graph.tensors[tensor].sharding->isEmpty())
      continue;
    const ModuleGraph::Place &place = graph.place(tensor);
    Type type = place.value ? place.value.getType() : const_cast<func::FuncOp &>(place.function).getResultTypes()[place.result];
    os << describePlace(graph, tensor) << " : " << type << " " << attr;
    if (std::string line = lineOf(locationOf(graph, tensor)); !line.empty())
      os << "  (" << line << ")";
    os << "\n";
    forEachAxis(graph, tensor, [&](int dim, const Axis &axis, sdy::AxisRefAttr name) {
      Origin origin = originOf(graph.graph, tensor, dim, axis);
      os << "  dimension " << dim << " " << name.toString() << ": ";
      if (origin.annotated == tensor) {
        os << "annotated here\n";
        return;
      }
      os << "from " << describePlace(graph, origin.annotated);
      if (std::string line = lineOf(locationOf(graph, origin.annotated)); !line.empty())
        os << " (" << line << ")";
      if (Operation *op = graph.operation(origin.node)) {
        os << ", through " << op->getName();
        if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op)) {
          Operation *owner = edge.getInput().getDefiningOp();
          os << " of " << (owner ? owner : edge.getInput().getParentBlock()->getParentOp())->getName();
        }
        if (std::string line = lineOf(op->getLoc()); !line.empty())
          os << " (" << line << ")";
      } else {
        os << ", returned";
      }
      os << "\n";
    });
  }
}

} // namespace millrace::sharding
