// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOps.cpp - Definitions and checks of CollectiveOps.td -----===//
#include "dialects/sdy/Ops.h"
#include "llvm/ADT/BitVector.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace millrace::sdy;

// The text is `max` or `min` and the axes; a sum has no keyword. Axes are one list, or one per dimension.
template <typename AxesAttr>
static ParseResult parseReduction(OpAsmParser &parser, ReductionOpAttr &reduction, AxesAttr &axes) {
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word, {"sum", "max", "min"})) && word != "sum")
    reduction = ReductionOpAttr::get(parser.getContext(), *symbolizeReductionOp(word));
  return parser.parseCustomAttributeWithFallback(axes);
}

template <typename AxesAttr>
static void printReduction(OpAsmPrinter &printer, Operation *, ReductionOpAttr reduction, AxesAttr axes) {
  if (reduction && reduction.getValue() != ReductionOp::Sum)
    printer << stringifyReductionOp(reduction.getValue()) << ' ';
  printer.printStrippedAttrOrType(axes);
}

// In bytecode: the kind of reduction if it is not a sum, the sharding, the axes.
template <typename AxesAttr>
static LogicalResult readReduction(DialectBytecodeReader &reader, ReductionOpAttr &reduction, TensorShardingAttr &sharding,
                                   AxesAttr &axes) {
  Attribute first;
  if (failed(reader.readAttribute(first)))
    return failure();
  if (auto kind = dyn_cast<ReductionOpAttr>(first)) {
    reduction = kind;
    return success(succeeded(reader.readAttribute(sharding)) && succeeded(reader.readAttribute(axes)));
  }
  sharding = dyn_cast<TensorShardingAttr>(first);
  if (!sharding)
    return reader.emitError() << "expected a sharding or the kind of a reduction, but got " << first;
  return reader.readAttribute(axes);
}

static void writeReduction(DialectBytecodeWriter &writer, ReductionOpAttr reduction, TensorShardingAttr sharding, Attribute axes) {
  if (reduction && reduction.getValue() != ReductionOp::Sum)
    writer.writeAttribute(reduction);
  writer.writeAttribute(sharding);
  writer.writeAttribute(axes);
}

LogicalResult AllReduceOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  return readReduction(reader, properties.reduction_op, properties.out_sharding, properties.reduction_axes);
}

void AllReduceOp::writeProperties(DialectBytecodeWriter &writer) {
  writeReduction(writer, getReductionOpAttr(), getOutShardingAttr(), getReductionAxesAttr());
}

LogicalResult ReduceScatterOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  return readReduction(reader, properties.reduction_op, properties.out_sharding, properties.reduce_scatter_axes);
}

void ReduceScatterOp::writeProperties(DialectBytecodeWriter &writer) {
  writeReduction(writer, getReductionOpAttr(), getOutShardingAttr(), getReduceScatterAxesAttr());
}

#define GET_OP_CLASSES
#include "dialects/sdy/CollectiveOps.cpp.inc"

namespace millrace::sdy {

void SdyDialect::registerCollectiveOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/sdy/CollectiveOps.cpp.inc"
      >();
}

namespace {
/// The shardings of operand and result of a collective. Without a sharding the operand counts as replicated.
struct Sides {
  Operation *op;
  MeshAttr mesh;
  TensorShardingAttr operand, result;

  ArrayRef<AxisRefAttr> before(int64_t dim) const {
    return operand ? operand.getDimShardings()[dim].getAxes() : ArrayRef<AxisRefAttr>();
  }
  ArrayRef<AxisRefAttr> after(int64_t dim) const { return result.getDimShardings()[dim].getAxes(); }

  /// Checks (C1) to (C4).
  LogicalResult verify(Value tensor, bool allowMissing, bool allowOtherMesh);
  LogicalResult expect(int64_t dim, ArrayRef<AxisRefAttr> axes) const;
  LogicalResult expectDropped(int64_t dim, ArrayRef<AxisRefAttr> axes, StringRef kind) const;
  LogicalResult checkLists(ArrayRef<AxisRefListAttr> lists) const;
  LogicalResult dropsPerDimension(ArrayRef<AxisRefListAttr> lists, StringRef kind) const;
  LogicalResult appendsPerDimension(ArrayRef<AxisRefListAttr> lists) const;
};
} // namespace

LogicalResult Sides::verify(Value tensor, bool allowMissing, bool allowOtherMesh) {
  operand = getSharding(tensor);
  if (!operand && !allowMissing)
    return op->emitOpError("collective on operand without sharding");
  if (failed(verifySharding(result, tensor.getType(), op, [&](const Twine &message) { return op->emitOpError(message); })))
    return failure();
  mesh = result.getMesh(op);
  MeshAttr operandMesh = operand ? operand.getMesh(op) : MeshAttr();
  if (operand && !operandMesh)
    return op->emitOpError("operand has a sharding of an unknown mesh");
  if (operandMesh && operandMesh != mesh && !allowOtherMesh) {
    auto diag = op->emitOpError("result mesh does not match operand mesh");
    diag.attachNote(tensor.getLoc()) << "operand mesh: " << operandMesh;
    return diag;
  }
  if (operand && operand.getRank() != result.getRank())
    return op->emitOpError("result sharding has rank ") << result.getRank() << " but operand sharding has rank "
                                                        << operand.getRank();
  return success();
}

LogicalResult Sides::expect(int64_t dim, ArrayRef<AxisRefAttr> axes) const {
  if (axes == after(dim))
    return success();
  auto diag = op->emitOpError("result sharding doesn't match expected sharding [");
  llvm::interleaveComma(axes, diag, [&](AxisRefAttr axis) { diag << axis.toString(); });
  return diag << "] on dimension " << dim;
}

LogicalResult Sides::expectDropped(int64_t dim, ArrayRef<AxisRefAttr> axes, StringRef kind) const {
  AxisRefAttr missing;
  auto rest = dropAxes(before(dim), axes, mesh, missing);
  if (!rest)
    return op->emitOpError("can't apply ") << kind << " axis " << missing.toString()
                                           << " to operand sharding on dimension " << dim;
  return expect(dim, *rest);
}

LogicalResult Sides::checkLists(ArrayRef<AxisRefListAttr> lists) const {
  auto emitError = [&](const Twine &message) { return op->emitOpError(message); };
  AxisListChecker checker(mesh, emitError);
  for (AxisRefListAttr list : lists)
    if (failed(checker.add(list.getValue())))
      return failure();
  if (failed(checker.finish()))
    return failure();
  if (int64_t(lists.size()) != result.getRank())
    return op->emitOpError("result sharding has rank ") << result.getRank() << " but collective axes has rank "
                                                        << lists.size();
  return success();
}

LogicalResult Sides::dropsPerDimension(ArrayRef<AxisRefListAttr> lists, StringRef kind) const {
  if (failed(checkLists(lists)))
    return failure();
  for (auto [dim, list] : llvm::enumerate(lists))
    if (failed(expectDropped(dim, list.getValue(), kind)))
      return failure();
  return success();
}

LogicalResult Sides::appendsPerDimension(ArrayRef<AxisRefListAttr> lists) const {
  if (failed(checkLists(lists)))
    return failure();
  for (auto [dim, list] : llvm::enumerate(lists))
    if (failed(expect(dim, appendAxes(before(dim), list.getValue(), mesh))))
      return failure();
  return success();
}

LogicalResult AllGatherOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  return failed(sides.verify(getTensor(), false, false)) ? failure()
                                                         : sides.dropsPerDimension(getGatheringAxes(), "gathering");
}

LogicalResult AllSliceOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  return failed(sides.verify(getTensor(), true, false)) ? failure() : sides.appendsPerDimension(getSlicingAxes());
}

LogicalResult ReduceScatterOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  return failed(sides.verify(getTensor(), true, false)) ? failure() : sides.appendsPerDimension(getReduceScatterAxes());
}

LogicalResult AllToAllOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  if (failed(sides.verify(getTensor(), false, false)))
    return failure();
  if (getParams().empty()) // (C5)
    return emitOpError("parameter list is empty");
  int64_t rank = sides.result.getRank(), previous = -1;
  llvm::BitVector seen(rank);
  auto emitError = [&](const Twine &message) { return emitOpError(message); };
  AxisListChecker checker(sides.mesh, emitError);
  for (AllToAllParamAttr param : getParams()) {
    if (failed(checker.add(param.getAxes())))
      return failure();
    for (auto [dim, name] : {std::pair(param.getSrcDim(), "source"), std::pair(param.getTgtDim(), "target")}) {
      if (dim < 0 || dim >= rank) // (C6)
        return emitOpError(name) << " dimension " << dim << " is out of range [0, " << rank << ")";
    }
    for (int64_t dim : {param.getSrcDim(), param.getTgtDim()}) {
      if (seen.test(dim)) // (C7)
        return emitOpError("overlapping source/target dimensions in all-to-all params: ") << dim;
      seen.set(dim);
    }
    if (previous >= param.getSrcDim()) // (C8)
      return emitOpError("source dimensions are not sorted in ascending order: ")
             << param.getSrcDim() << " appears after " << previous;
    previous = param.getSrcDim();
  }
  if (failed(checker.finish()))
    return failure();
  for (AllToAllParamAttr param : getParams()) // (C9)
    if (failed(sides.expectDropped(param.getSrcDim(), param.getAxes(), "all-to-all")) ||
        failed(sides.expect(param.getTgtDim(), appendAxes(sides.before(param.getTgtDim()), param.getAxes(), sides.mesh))))
      return failure();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!seen.test(dim) && failed(sides.expect(dim, sides.before(dim))))
      return failure();
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  if (failed(sides.verify(getTensor(), false, true)))
    return failure();
  MeshAttr operandMesh = sides.operand.getMesh(*this);
  if (operandMesh.getAxes() != sides.mesh.getAxes()) { // (C3)
    auto diag = emitOpError("result mesh has different axes than operand mesh");
    diag.attachNote(getTensor().getLoc()) << "operand mesh: " << operandMesh;
    return diag;
  }
  if (sides.operand.getMeshOrRef() != sides.result.getMeshOrRef() &&
      operandMesh.getDeviceIds() == sides.mesh.getDeviceIds()) {
    auto diag = emitOpError("result mesh name is different but same device ids as operand");
    diag.attachNote(getTensor().getLoc()) << "operand mesh: " << operandMesh;
    return diag;
  }
  for (int64_t dim = 0; dim < sides.result.getRank(); ++dim) { // (C5)
    int64_t before = sides.operand.getDimShardings()[dim].getShardedSize(sides.mesh);
    int64_t after = sides.result.getDimShardings()[dim].getShardedSize(sides.mesh);
    if (before != after)
      return emitOpError("sharded size of result doesn't match operand on dimension ") << dim << ": " << after
                                                                                       << " != " << before;
  }
  return success();
}

static bool anyOverlap(ArrayRef<AxisRefAttr> axes, AxisRefAttr axis) {
  return llvm::any_of(axes, [&](AxisRefAttr other) { return other.overlaps(axis); });
}

LogicalResult AllReduceOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  if (failed(sides.verify(getTensor(), true, false)))
    return failure();
  for (int64_t dim = 0; dim < sides.result.getRank(); ++dim) // (C5)
    if (sides.before(dim) != sides.after(dim))
      return emitOpError("operand and result shardings are not equivalent");
  auto emitError = [&](const Twine &message) { return emitOpError(message); };
  AxisListChecker checker(sides.mesh, emitError); // (C6)
  if (failed(checker.add(getReductionAxes())) || failed(checker.finish()))
    return failure();
  for (AxisRefAttr axis : getReductionAxes()) {
    bool used = sides.operand && anyOverlap(sides.operand.getReplicatedAxes(), axis); // (C7)
    for (int64_t dim = 0; dim < sides.result.getRank(); ++dim)
      used |= anyOverlap(sides.before(dim), axis);
    if (used)
      return emitOpError("reduction axis ") << axis.toString()
                                            << " overlaps with operand dimension sharding or replicated axes";
    if (anyOverlap(sides.result.getUnreducedAxes(), axis)) // (C8)
      return emitOpError("reduction axis ") << axis.toString() << " overlaps with result unreduced axes";
  }
  return success();
}

/// Returns true if `before` and `added` together are the same parts of the mesh as `after`; order and splitting are ignored.
static bool isUnion(ArrayRef<AxisRefAttr> before, ArrayRef<AxisRefAttr> added, ArrayRef<AxisRefAttr> after,
                    MeshAttr mesh) {
  auto normal = [&](SmallVector<AxisRefAttr> axes) {
    llvm::sort(axes, [&](AxisRefAttr a, AxisRefAttr b) {
      return std::tuple(mesh.getAxisPosition(a.getName()), a.getPreSize()) <
             std::tuple(mesh.getAxisPosition(b.getName()), b.getPreSize());
    });
    return appendAxes({}, axes, mesh);
  };
  SmallVector<AxisRefAttr> both(before);
  llvm::append_range(both, added);
  return normal(both) == normal(SmallVector<AxisRefAttr>(after));
}

LogicalResult ReplicatedToUnreducedOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  if (failed(sides.verify(getTensor(), true, false)))
    return failure();
  if (getAxes().empty()) // (C5)
    return emitOpError("r2u axes must not be empty");
  auto emitError = [&](const Twine &message) { return emitOpError(message); };
  AxisListChecker checker(sides.mesh, emitError);
  if (failed(checker.addInMeshOrder(getAxes(), "r2u")) || failed(checker.finish()))
    return failure();
  for (int64_t dim = 0; dim < sides.result.getRank(); ++dim) { // (C6)
    if (sides.before(dim) != sides.after(dim))
      return emitOpError("input and output must share the same dimension shardings");
    for (AxisRefAttr axis : getAxes()) // (C7)
      if (anyOverlap(sides.before(dim), axis))
        return emitOpError("r2u axis ") << axis.toString() << " overlaps with operand dimension sharding";
  }
  ArrayRef<AxisRefAttr> unreduced = sides.operand ? sides.operand.getUnreducedAxes() : ArrayRef<AxisRefAttr>();
  for (AxisRefAttr axis : getAxes())
    if (anyOverlap(unreduced, axis))
      return emitOpError("r2u axis ") << axis.toString() << " overlaps with operand unreduced axes";
  if (!isUnion(unreduced, getAxes(), sides.result.getUnreducedAxes(), sides.mesh)) // (C8)
    return emitOpError("out_unreduced_axes should be in_unreduced_axes + r2u_axes");
  return success();
}

LogicalResult ShardedToUnreducedOp::verify() {
  Sides sides{*this, {}, {}, getOutSharding()};
  if (failed(sides.verify(getTensor(), false, false)) ||
      failed(sides.dropsPerDimension(getAxes(), "shard-to-unreduce"))) // (C5)
    return failure();
  SmallVector<AxisRefAttr> added;
  for (AxisRefListAttr list : getAxes())
    llvm::append_range(added, list.getValue());
  if (!isUnion(sides.operand.getUnreducedAxes(), added, sides.result.getUnreducedAxes(), sides.mesh)) // (C6)
    return emitOpError("out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes");
  return success();
}

} // namespace millrace::sdy
