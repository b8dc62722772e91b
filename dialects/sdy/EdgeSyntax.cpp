// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EdgeSyntax.cpp - Text and checks of where axes came from -----------===//
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

Attribute PropagationOneStepAttr::parse(AsmParser &parser, Type) {
  int64_t index;
  SmallVector<AxisToPropagationDetailsAttr> entries;
  auto parseEntry = [&]() -> ParseResult {
    if (parser.parseLBrace())
      return failure();
    auto entry = dyn_cast_or_null<AxisToPropagationDetailsAttr>(AxisToPropagationDetailsAttr::parse(parser, Type()));
    entries.push_back(entry);
    return failure(!entry || parser.parseRBrace());
  };
  if (parser.parseKeyword("step") || parser.parseMinus() || parser.parseInteger(index) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseEntry))
    return {};
  return PropagationOneStepAttr::get(parser.getContext(), index, entries);
}

void PropagationOneStepAttr::print(AsmPrinter &printer) const {
  printer << "step-" << getStepIndex() << " = [";
  llvm::interleaveComma(getAxisEntries(), printer.getStream(), [&](AxisToPropagationDetailsAttr entry) {
    printer << "{";
    entry.print(printer);
    printer << "}";
  });
  printer << "]";
}

Attribute PropagationEdgesAttr::parse(AsmParser &parser, Type) {
  SmallVector<PropagationOneStepAttr> steps;
  auto parseStep = [&]() -> ParseResult {
    if (parser.parseLBrace())
      return failure();
    auto step = dyn_cast_or_null<PropagationOneStepAttr>(PropagationOneStepAttr::parse(parser, Type()));
    steps.push_back(step);
    return failure(!step || parser.parseRBrace());
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStep) || parser.parseGreater())
    return {};
  return PropagationEdgesAttr::get(parser.getContext(), steps);
}

void PropagationEdgesAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getValue(), printer.getStream(), [&](PropagationOneStepAttr step) {
    printer << "{";
    step.print(printer);
    printer << "}";
  });
  printer << "]>";
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

/// Meshes that shardings of the operation's values name.
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
  // An edge at a function stands for calls, whose operands it does not have.
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
        return op->emitOpError("expected propagation edges attr to reference a sharding");
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
