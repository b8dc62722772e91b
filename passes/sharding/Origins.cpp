// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origins.cpp - Which annotation put an axis where it is -------------===//
#include "passes/sharding/Origins.h"

#include "llvm/ADT/STLExtras.h"
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

/// Which operand or result of the node the tensor is.
std::string roleIn(const GraphNode &node, int tensor) {
  for (auto [i, view] : llvm::enumerate(node.operands))
    if (view.tensor == tensor)
      return "operand-" + std::to_string(i);
  for (auto [i, view] : llvm::enumerate(node.results))
    if (view.tensor == tensor)
      return "result-" + std::to_string(i);
  return "group";
}
} // namespace

void attachOrigins(ModuleGraph &graph, bool origins, bool edges) {
  for (int tensor = 0; tensor < int(graph.graph.tensors.size()); ++tensor) {
    Value value = graph.place(tensor).value;
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (!op)
      continue;
    Builder builder(op->getContext());
    NamedAttrList from, through;
    forEachAxis(graph, tensor, [&](int dim, const Axis &axis, sdy::AxisRefAttr name) {
      Origin origin = originOf(graph.graph, tensor, dim, axis);
      from.set(name.toString(), builder.getStringAttr(describePlace(graph, origin.annotated)));
      if (origin.node >= 0)
        through.set(name.toString(), builder.getStringAttr(roleIn(graph.graph.nodes[origin.node], origin.source)));
    });
    auto attach = [&](StringRef name, const NamedAttrList &entries) {
      SmallVector<Attribute> all(op->getNumResults(), builder.getDictionaryAttr({}));
      if (auto before = op->getAttrOfType<ArrayAttr>(name))
        all.assign(before.begin(), before.end());
      all[cast<OpResult>(value).getResultNumber()] = entries.getDictionary(op->getContext());
      op->setAttr(name, builder.getArrayAttr(all));
    };
    if (origins && !from.empty())
      attach("sdy.sharding_origins", from);
    if (edges && !through.empty())
      attach("sdy.propagation_edges", through);
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
