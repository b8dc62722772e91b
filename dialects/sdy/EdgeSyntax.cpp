// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EdgeSyntax.cpp - Text and checks of propagation edges ---------------===//
#include "dialects/sdy/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
namespace millrace::sdy {

//===-- Text --------------------------------------------------------------===//

Attribute EdgeValueRefAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  int64_t index;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return {};
  std::optional<EdgeNodeType> type = symbolizeEdgeNodeType(word);
  if (!type) {
    parser.emitError(loc, "expected operand or result, but got ") << word;
    return {};
  }
  if (parser.parseMinus() || parser.parseInteger(index))
    return {};
  return EdgeValueRefAttr::get(parser.getContext(), *type, index);
}

void EdgeValueRefAttr::print(AsmPrinter &printer) const { printer << stringifyEdgeNodeType(getType()) << "-" << getIndex(); }

/// Parses [{ENTRY}, ...].
template <typename Entry>
static ParseResult parseBraced(AsmParser &parser, SmallVectorImpl<Entry> &entries) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (parser.parseLBrace())
      return failure();
    auto entry = dyn_cast_or_null<Entry>(Entry::parse(parser, Type()));
    entries.push_back(entry);
    return failure(!entry || parser.parseRBrace());
  });
}

template <typename Entries>
static void printBraced(AsmPrinter &printer, const Entries &entries) {
  printer << "[";
  llvm::interleaveComma(entries, printer.getStream(), [&](auto entry) {
    printer << "{";
    entry.print(printer);
    printer << "}";
  });
  printer << "]";
}

Attribute PropagationOneStepAttr::parse(AsmParser &parser, Type) {
  int64_t index;
  SmallVector<AxisToPropagationDetailsAttr> entries;
  if (parser.parseKeyword("step") || parser.parseMinus() || parser.parseInteger(index) || parser.parseEqual() || parseBraced(parser, entries))
    return {};
  return PropagationOneStepAttr::get(parser.getContext(), index, entries);
}

void PropagationOneStepAttr::print(AsmPrinter &printer) const {
  printer << "step-" << getStepIndex() << " = ";
  printBraced(printer, getAxisEntries());
}

Attribute PropagationEdgesAttr::parse(AsmParser &parser, Type) {
  SmallVector<PropagationOneStepAttr> steps;
  if (parser.parseLess() || parseBraced(parser, steps) || parser.parseGreater())
    return {};
  return PropagationEdgesAttr::get(parser.getContext(), steps);
}

void PropagationEdgesAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBraced(printer, getValue());
  printer << ">";
}

//===-- Checks ------------------------------------------------------------===//

static LogicalResult verifyValueRef(EdgeValueRefAttr ref, Operation *op) {
  bool isOperand = ref.getType() == EdgeNodeType::Operand;
  int64_t count = isOperand ? op->getNumOperands() : op->getNumResults();
  if (ref.getIndex() < 0 || ref.getIndex() >= count)
    return op->emitOpError("expected a value ref to have ") << (isOperand ? "an operand" : "a result") << " index in range [0, "
                                                            << count << "), got: " << ref.getIndex();
  return success();
}

/// Returns the meshes that shardings of the operation's values refer to.
static SmallVector<MeshAttr> meshesOf(Operation *op) {
  SmallVector<MeshAttr> meshes;
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (TensorShardingAttr sharding = getSharding(value))
        if (MeshAttr mesh = sharding.getMesh(op); mesh && !llvm::is_contained(meshes, mesh))
          meshes.push_back(mesh);
  };
  add(op->getResults());
  add(op->getOperands());
  return meshes;
}

static LogicalResult verifyEdges(PropagationEdgesAttr edges, Operation *op) {
  // An edge of a function represents its calls, whose operands the function does not have.
  bool anyIndex = isa<FuncDataFlowEdgeOp, DataFlowEdgeOp>(op);
  SmallVector<MeshAttr> meshes = meshesOf(op);
  llvm::SmallSet<int64_t, 8> seen;
  for (PropagationOneStepAttr step : edges.getValue()) {
    if (step.getStepIndex() < 0) // (C1)
      return op->emitOpError("propagation edges have negative step index: ") << step.getStepIndex();
    if (!seen.insert(step.getStepIndex()).second)
      return op->emitOpError("propagation edges have duplicate step index: ") << step.getStepIndex();
    for (AxisToPropagationDetailsAttr entry : step.getAxisEntries()) {
      if (meshes.empty()) // (C4)
        return op->emitOpError("expected propagation edges attr to reference a sharding.");
      StringRef axis = entry.getAxisName().getName();
      if (llvm::none_of(meshes, [&](MeshAttr mesh) { return mesh.getAxisSize(axis) != 0; }))
        return op->emitOpError("expected axis ref to be in one of the meshes");
      if (!anyIndex && failed(verifyValueRef(entry.getSource(), op))) // (C3)
        return failure();
      SmallVector<EdgeValueRefAttr> targets;
      for (EdgeValueRefAttr target : entry.getTargets()) {
        if (!anyIndex && failed(verifyValueRef(target, op)))
          return failure();
        if (target == entry.getSource()) // (C2)
          return op->emitOpError("propagation edges have a source that is the same as a target");
        if (llvm::is_contained(targets, target))
          return op->emitOpError("propagation edges have duplicate targets for step index: ")
                 << step.getStepIndex() << " and axis: " << axis;
        targets.push_back(target);
      }
    }
  }
  return success();
}

LogicalResult verifyPropagationEdges(Operation *op, NamedAttribute attr) {
  if (attr.getName() == propagationEdgesAttrName) {
    auto edges = dyn_cast<PropagationEdgesAttr>(attr.getValue());
    if (!edges)
      return op->emitOpError("should have a propagation edges attribute of type PropagationEdgesAttr for attr named '")
             << propagationEdgesAttrName << "'";
    return verifyEdges(edges, op);
  }
  if (attr.getName() != resultPropagationEdgesAttrName && attr.getName() != blockArgPropagationEdgesAttrName)
    return success();
  auto list = dyn_cast<ArrayAttr>(attr.getValue());
  if (!list || !llvm::all_of(list, llvm::IsaPred<PropagationEdgesAttr>))
    return op->emitOpError("should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for attr named '")
           << resultPropagationEdgesAttrName << "' or '" << blockArgPropagationEdgesAttrName << "'";
  return success();
}

} // namespace millrace::sdy
