// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardingOps.cpp - Definitions, syntax and checks of ShardingOps.td -===//
#include "dialects/sdy/Ops.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
namespace millrace::sdy {

//===-- Syntax ------------------------------------------------------------===//

/// Parses `[<@mesh, [{"a"}]>, ...]`: shardings without the attribute's name.
static ParseResult parseShardingList(OpAsmParser &parser, TensorShardingPerValueAttr &list) {
  SmallVector<TensorShardingAttr> shardings;
  auto parseOne = [&]() -> ParseResult {
    auto sharding = dyn_cast_or_null<TensorShardingAttr>(TensorShardingAttr::parse(parser, Type()));
    shardings.push_back(sharding);
    return success(bool(sharding));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  list = TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  return success();
}

static void printShardingList(OpAsmPrinter &printer, Operation *, TensorShardingPerValueAttr list) {
  printer << "[";
  llvm::interleaveComma(list.getShardings(), printer.getStream(),
                        [&](TensorShardingAttr sharding) { sharding.print(printer); });
  printer << "]";
}

/// Parses `(%arg: type, ...) { ... }`: the entry block's arguments precede the braces.
static ParseResult parseBodyWithArguments(OpAsmParser &parser, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true,
                                          /*allowAttrs=*/true) ||
                 parser.parseRegion(body, arguments));
}

static void printBodyWithArguments(OpAsmPrinter &printer, Operation *, Region &body) {
  printer << "(";
  llvm::interleaveComma(body.getArguments(), printer.getStream(),
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

} // namespace millrace::sdy

#define GET_OP_CLASSES
#include "dialects/sdy/ShardingOps.cpp.inc"

namespace millrace::sdy {

void SdyDialect::registerShardingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/sdy/ShardingOps.cpp.inc"
      >();
}

//===-- Checks ------------------------------------------------------------===//

/// Checks (C1) of both operations: axes that are unreduced with a sum must not become unreduced with a maximum.
static LogicalResult keepsReduction(Operation *op, TensorShardingAttr before, TensorShardingAttr after) {
  if (!before || before.getMeshOrRef() != after.getMeshOrRef() || before.getReductionOp() == after.getReductionOp() ||
      llvm::none_of(before.getUnreducedAxes(), [&](AxisRefAttr axis) { return llvm::is_contained(after.getUnreducedAxes(), axis); }))
    return success();
  return op->emitOpError("cannot change the reduction operator of kept unreduced axes from ")
         << stringifyReductionOp(before.getReductionOp()) << " to " << stringifyReductionOp(after.getReductionOp()) << ".";
}

LogicalResult ShardingConstraintOp::verify() {
  if (failed(verifySharding(getSharding(), getType(), *this, [&](const Twine &message) { return emitOpError(message); })))
    return failure();
  return keepsReduction(*this, millrace::sdy::getSharding(getInput()), getSharding());
}

LogicalResult ReshardOp::verify() {
  if (failed(verifySharding(getSharding(), getType(), *this, [&](const Twine &message) { return emitOpError(message); })))
    return failure();
  return keepsReduction(*this, millrace::sdy::getSharding(getInput()), getSharding());
}

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::BOTH) // (C1)
    return emitOpError("cannot specify `BOTH` as the direction. Not blocking propagation direction makes the op "
                       "redundant.");
  return success();
}

LogicalResult DataFlowEdgeOp::verify() {
  if (!cast<ShapedType>(getType()).hasStaticShape()) // (C1)
    return emitOpError("expected sdy.data_flow_edge to have a static-shaped result. type: ") << getType();
  if (!getInput().hasOneUse()) // (C2)
    return emitOpError("expected input of sdy.data_flow_edge to have a single user");
  Operation *source = getInput().getDefiningOp();
  if (source && isa<SdyDialect>(source->getDialect()) && !isa<NamedComputationOp, ManualComputationOp>(source)) { // (C3)
    auto diag = emitOpError("expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other than an "
                            "sdy.named_computation).");
    diag.attachNote(source->getLoc()) << "sdy op defining the input of the sdy.data_flow_edge";
    return diag;
  }
  if (!getShardingAttr()) // (C4)
    return success();
  return verifySharding(getShardingAttr(), getType(), *this,
                        [&](const Twine &message) { return emitOpError(message); });
}

LogicalResult FuncDataFlowEdgeOp::verify() {
  if (!cast<ShapedType>(getType()).hasStaticShape()) // (C1)
    return emitOpError("expected sdy.func_data_flow_edge to have a static-shaped result. type: ") << getType();
  if (!getOperand().hasOneUse()) // (C2)
    return emitOpError("expected operand of sdy.func_data_flow_edge to have a single user");
  // The operation is recognized by its name, because this dialect does not depend on func.
  auto isOp = [](Operation *op, StringRef name) { return op && op->getName().getStringRef() == name; };
  if (Operation *source = getOperand().getDefiningOp()) { // (C3)
    if (!isOp(source, "func.call"))
      return emitOpError("expected operand of sdy.func_data_flow_edge to be a result of call op.");
  } else if (!isOp(cast<BlockArgument>(getOperand()).getOwner()->getParentOp(), "func.func")) {
    return emitOpError("expected operand of sdy.func_data_flow_edge to be a block argument of a func op.");
  }
  return success();
}

static LogicalResult typesMatch(NamedComputationOp op, TypeRange inner, TypeRange outer, StringRef innerName,
                                StringRef outerName) {
  if (inner.size() != outer.size())
    return op.emitError("number of ") << innerName << "s must match the number of " << outerName
                                      << "s: " << inner.size() << " != " << outer.size();
  for (auto [i, innerType, outerType] : llvm::enumerate(inner, outer))
    if (innerType != outerType)
      return op.emitError("expected the type of the ") << i << "'th " << innerName
                                                       << " to match the type of the corresponding " << outerName
                                                       << ": " << innerType << " vs " << outerType;
  return success();
}

LogicalResult NamedComputationOp::verify() {
  TypeRange returned = getBody().front().getTerminator()->getOperandTypes();
  if (failed(typesMatch(*this, getBody().getArgumentTypes(), getOperandTypes(), "block argument", "operand")) || // (C1)
      failed(typesMatch(*this, returned, getResultTypes(), "returned value", "result")))
    return failure();
  if (getInShardings() && // (C2)
      failed(verifyShardings(getInShardings()->getShardings(), getOperandTypes(), *this,
                             [&](const Twine &message) { return emitOpError("in_shardings ") << message; })))
    return failure();
  if (getOutShardings() &&
      failed(verifyShardings(getOutShardings()->getShardings(), getResultTypes(), *this,
                             [&](const Twine &message) { return emitOpError("out_shardings ") << message; })))
    return failure();
  return success();
}

//===-- Manual computations -----------------------------------------------===//

/// Checks (C4) to (C6) for one operand or result.
static LogicalResult verifyManualValue(ManualComputationOp op, int64_t index, Type global, Type local,
                                       TensorShardingAttr sharding, StringRef kind) {
  auto globalTensor = dyn_cast<ShapedType>(global);
  if (!globalTensor) // a token
    return success();
  auto isManual = [&](AxisRefAttr axis) {
    return llvm::any_of(op.getManualAxes(), [&](StringAttr name) { return name.getValue() == axis.getName(); });
  };
  MeshAttr mesh = sharding.getMesh(op);
  SmallVector<int64_t> shape;
  if (sharding.getRank() != globalTensor.getRank()) // a maximal mesh
    return success();
  for (auto [d, dim, size] : llvm::enumerate(sharding.getDimShardings(), globalTensor.getShape())) {
    int64_t parts = 1;
    AxisRefAttr free;
    for (AxisRefAttr axis : dim.getAxes()) {
      if (!isManual(axis)) {
        free = axis;
        continue;
      }
      if (free)
        return op->emitOpError(kind) << " sharding at index " << index
                                     << " must have all manual axes come before free axes in its dimension sharding at "
                                     << "index " << d << ". Saw manual axis " << axis.toString() << " after free axis "
                                     << free.toString();
      parts *= axis.getSize(mesh);
    }
    if (ShapedType::isDynamic(size)) {
      shape.push_back(size);
      continue;
    }
    if (size % parts != 0)
      return op->emitOpError(kind) << " dimension size " << size << " is not divisible by the manual axes size "
                                   << parts;
    shape.push_back(size / parts);
  }
  auto expected = RankedTensorType::get(shape, globalTensor.getElementType());
  if (expected != local)
    return op->emitOpError(kind) << " shape, corresponding sharding, and region " << kind << " shape at index " << index
                                 << " must match. Expected local shape " << expected << ", actual local shape "
                                 << local;
  return success();
}

static LogicalResult verifyManualValues(ManualComputationOp op, TypeRange global, TypeRange local,
                                        TensorShardingPerValueAttr shardings, StringRef kind) {
  if (global.empty() && local.empty() && shardings.getShardings().empty())
    return success();
  if (failed(verifyShardings(shardings.getShardings(), global, op, // (C2)
                             [&](const Twine &message) { return op->emitOpError(kind) << " " << message; })))
    return failure();
  if (global.size() != local.size()) // (C3)
    return op->emitOpError("number of op ") << kind << "s and region " << kind << "s must match. Op has "
                                            << global.size() << " op " << kind << "s and " << local.size()
                                            << " region " << kind << "s";
  for (auto [i, globalType, localType, sharding] : llvm::enumerate(global, local, shardings.getShardings()))
    if (failed(verifyManualValue(op, i, globalType, localType, sharding, kind)))
      return failure();
  return success();
}

LogicalResult ManualComputationOp::verify() {
  for (auto parent = (*this)->getParentOfType<ManualComputationOp>(); parent; // (C1)
       parent = parent->getParentOfType<ManualComputationOp>())
    for (StringAttr axis : getManualAxes())
      if (llvm::is_contained(parent.getManualAxes(), axis)) {
        auto diag = emitOpError("operates on axis \"") << axis.getValue()
                                                       << "\" which is already bound by a parent "
                                                          "sdy.manual_computation op";
        diag.attachNote(parent.getLoc()) << "parent bounding this axis as manual";
        return diag;
      }
  SmallVector<TensorShardingAttr> all(getInShardings().getShardings());
  llvm::append_range(all, getOutShardings().getShardings());
  if (all.empty() && !isa<ReturnOp>(getBody().front().front()) && !getManualAxes().empty()) // (C8)
    return emitOpError("cannot have manual_axes when there are no in/out shardings and the body is not empty.");
  TypeRange returned = getBody().front().getTerminator()->getOperandTypes();
  if (failed(verifyManualValues(*this, getOperandTypes(), getBody().getArgumentTypes(), getInShardings(), "operand")) ||
      failed(verifyManualValues(*this, getResultTypes(), returned, getOutShardings(), "result")))
    return failure();
  MeshAttr mesh; // (C7), placeholder meshes go with any
  for (TensorShardingAttr sharding : all) {
    MeshAttr other = sharding.getMesh(*this);
    if (other.getAxes().empty() && other.getDeviceIds().empty())
      continue;
    if (mesh && mesh != other && !getManualAxes().empty())
      return emitOpError("all in and out shardings must be bound to the same mesh or an empty mesh.");
    mesh = other;
  }
  for (StringAttr axis : getManualAxes())
    if (mesh && mesh.getAxisPosition(axis.getValue()) < 0)
      return emitOpError("unknown manual axis: ") << axis;
  return success();
}

} // namespace millrace::sdy
