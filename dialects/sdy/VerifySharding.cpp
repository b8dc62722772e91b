// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifySharding.cpp - Checks of shardings and of sharding rules -----===//
#include "dialects/sdy/Ops.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace millrace::sdy {

//===-- Lists of axes -----------------------------------------------------===//

static std::string axesOf(MeshAttr mesh) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(mesh.getAxes(), out, [&](MeshAxisAttr axis) { out << '"' << axis.getName() << "\"=" << axis.getSize(); });
  return text;
}

LogicalResult AxisListChecker::add(ArrayRef<AxisRefAttr> axes) {
  AxisRefAttr previous;
  for (AxisRefAttr axis : axes) {
    if (!mesh.getAxisSize(axis.getName()))
      return emitError(Twine("unknown axis name: \"") + axis.getName() + "\", expected one of the mesh's axes: " + axesOf(mesh));
    if (llvm::is_contained(seen, axis))
      return emitError("duplicate axis ref: " + axis.toString() + ", expected every axis at most once in a sharding");
    if (previous && previous.canMerge(axis))
      return emitError("two consecutive sub-axes can be merged: " + previous.toString() + ", " + axis.toString());
    seen.push_back(axis);
    previous = axis;
  }
  return success();
}

/// Orders axes by their position in the mesh, then sub-axes by their position in the axis.
static bool precedes(AxisRefAttr a, AxisRefAttr b, MeshAttr mesh) {
  auto key = [&](AxisRefAttr axis) {
    return std::tuple(mesh.getAxisPosition(axis.getName()), axis.getPreSize(), axis.getSize(mesh));
  };
  return key(a) < key(b);
}

LogicalResult AxisListChecker::addInMeshOrder(ArrayRef<AxisRefAttr> axes, StringRef kind) {
  if (!llvm::is_sorted(axes, [&](AxisRefAttr a, AxisRefAttr b) { return precedes(a, b, mesh); }))
    return emitError(kind + " axes are not ordered w.r.t. mesh");
  return add(axes);
}

static LogicalResult checkSubAxis(AxisRefAttr axis, int64_t axisSize, EmitErrorFn emitError) {
  SubAxisInfoAttr sub = axis.getSubAxisInfo();
  if (sub.getPreSize() < 1)
    return emitError("sub-axis pre-size must be at least 1: " + axis.toString());
  if (sub.getSize() <= 1)
    return emitError("sub-axis sizes must be greater than 1: " + axis.toString());
  int64_t end;
  if (llvm::MulOverflow(sub.getPreSize(), sub.getSize(), end) || axisSize % end != 0)
    return emitError("sub-axis next pre-size " + Twine(sub.getPreSize() * uint64_t(sub.getSize())) +
                     " doesn't divide the size of the full axis " + Twine(axisSize) + ": " + axis.toString());
  if (sub.getSize() == axisSize)
    return emitError("sub-axis size is equal to the full axis size: " + axis.toString());
  return success();
}

LogicalResult AxisListChecker::finish() {
  for (MeshAxisAttr axis : mesh.getAxes()) {
    SmallVector<AxisRefAttr> parts;
    bool whole = false;
    for (AxisRefAttr ref : seen)
      if (ref.getName() == axis.getName()) {
        if (ref.getSubAxisInfo())
          parts.push_back(ref);
        else
          whole = true;
      }
    if (whole && !parts.empty())
      return emitError(Twine("both sub-axis and full-axis are used for axis name: \"") + axis.getName() + "\"");
    llvm::sort(parts, [&](AxisRefAttr a, AxisRefAttr b) { return precedes(a, b, mesh); });
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (failed(checkSubAxis(part, axis.getSize(), emitError)))
        return failure();
      if (i && parts[i - 1].overlaps(part))
        return emitError("overlapping sub-axes: " + parts[i - 1].toString() + ", " + part.toString());
    }
  }
  return success();
}

//===-- Shardings ---------------------------------------------------------===//

/// Checks (C6): a manual axis of an enclosing manual computation must not be used inside.
static LogicalResult checkManualAxes(TensorShardingAttr sharding, Operation *user, EmitErrorFn emitError) {
  for (auto parent = user->getParentOfType<ManualComputationOp>(); parent;
       parent = parent->getParentOfType<ManualComputationOp>()) {
    AxisRefAttr bound;
    sharding.walkAxes([&](AxisRefAttr axis) {
      for (StringAttr name : parent.getManualAxes())
        if (!bound && name.getValue() == axis.getName())
          bound = axis;
    });
    if (bound) {
      auto diag = emitError(Twine("operates on axis \"") + bound.getName() +
                            "\" which is already bound by a parent sdy.manual_computation op");
      diag.attachNote(parent.getLoc()) << "parent bounding this axis as manual";
      return diag;
    }
  }
  return success();
}

LogicalResult verifySharding(TensorShardingAttr sharding, Type type, Operation *user, EmitErrorFn emitError) {
  MeshAttr mesh = sharding.getMesh(user);
  if (!mesh) {
    std::string name;
    llvm::raw_string_ostream(name) << sharding.getMeshOrRef();
    return emitError("unknown mesh: " + name);
  }
  bool hasAxes = false;
  sharding.walkAxes([&](AxisRefAttr) { hasAxes = true; });
  bool bare = sharding.getRank() == 0 && !hasAxes;
  if (mesh.isMaximal() || !type) { // (C1)
    if (bare)
      return success();
    return emitError("a maximal sharding can only have a sharding with rank 0 and no replicated or unreduced axes.");
  }
  auto shaped = dyn_cast<ShapedType>(type);
  if (auto tuple = dyn_cast<TupleType>(type)) {
    if (tuple.size() != 1)
      return emitError("ops can only have a sharding for a tuple of size 1: ") << type;
    shaped = dyn_cast<ShapedType>(tuple.getType(0));
  }
  if (!shaped) {
    if (bare)
      return success();
    return emitError("non-shaped tensors can only have a sharding with rank 0 and no replicated or unreduced axes. type: ")
           << type << ", sharding: " << sharding;
  }
  if (!shaped.hasRank())
    return emitError("only ranked tensors can have a sharding. type: ") << type;
  if (sharding.getRank() != shaped.getRank()) // (C2)
    return emitError("sharding doesn't match tensor rank: " + Twine(sharding.getRank()) + " != " + Twine(shaped.getRank()))
           << ", expected an entry for each dimension of " << type << ", but got " << sharding;
  AxisListChecker checker(mesh, emitError);
  for (auto [i, dim] : llvm::enumerate(sharding.getDimShardings())) {
    if (dim.getPriority() && *dim.getPriority() < 0) // (C3)
      return emitError("dim " + Twine(i) + " has a negative priority");
    if (dim.getPriority() && dim.getIsClosed() && dim.getAxes().empty())
      return emitError("dim " + Twine(i) + " is empty and closed but has a priority");
    if (failed(checker.add(dim.getAxes()))) // (C4)
      return failure();
  }
  if (failed(checker.addInMeshOrder(sharding.getReplicatedAxes(), "replicated")) || // (C5)
      failed(checker.addInMeshOrder(sharding.getUnreducedAxes(), "unreduced")) || failed(checker.finish()))
    return failure();
  return checkManualAxes(sharding, user, emitError);
}

LogicalResult verifyShardings(ArrayRef<TensorShardingAttr> shardings, TypeRange types, Operation *user,
                              EmitErrorFn emitError) {
  // An operation without results can be bound to a device.
  if (types.empty() && shardings.size() == 1 && shardings[0].getRank() == 0)
    return verifySharding(shardings[0], Type(), user, [&](const Twine &message) { return emitError("- " + message); });
  if (shardings.size() != types.size())
    return emitError("shardings don't match number of values: " + Twine(shardings.size()) + " shardings vs " +
                     Twine(types.size()) + " values");
  for (auto [i, sharding, type] : llvm::enumerate(shardings, types)) {
    auto emitValueError = [&, i = i](const Twine &message) {
      return types.size() == 1 ? emitError("- " + message) : emitError(Twine(i) + " - " + message);
    };
    if (failed(verifySharding(sharding, type, user, emitValueError)))
      return failure();
  }
  return success();
}

//===-- Rules -------------------------------------------------------------===//

static LogicalResult verifyMappings(Operation *op, TypeRange types, ArrayRef<TensorMappingAttr> mappings,
                                    ArrayRef<int64_t> sizes, llvm::BitVector &used, StringRef kind) {
  if (types.size() != mappings.size()) // (C1)
    return op->emitOpError("number of ") << kind << "s and mappings must match: " << types.size()
                                         << " != " << mappings.size();
  if (mappings.empty())
    return op->emitOpError("number of ") << kind << "s mappings cannot be 0. Op sharding rules can only be defined on "
                                         << "operations with at least one operand and result.";
  for (auto [i, type, mapping] : llvm::enumerate(types, mappings)) {
    auto emitError = [&, i = i](const Twine &message) {
      auto diag = op->emitOpError(kind) << " ";
      if (types.size() != 1)
        diag << i << " ";
      return std::move(diag << "- " << message);
    };
    auto tensor = dyn_cast<ShapedType>(type);
    if (!tensor || !tensor.hasStaticShape()) // (C2)
      return emitError("expected a ranked tensor with a static shape. type: ") << type;
    if (int64_t(mapping.getDimMappings().size()) != tensor.getRank())
      return emitError("mapping rank must match: " + Twine(mapping.getDimMappings().size()) + " != " +
                       Twine(tensor.getRank()));
    llvm::BitVector inTensor(sizes.size());
    for (DimMappingAttr dim : mapping.getDimMappings()) { // (C3)
      if (dim.getFactorIndices().empty())
        return emitError("dim mapping must have at least one factor");
      for (int64_t factor : dim.getFactorIndices()) {
        if (factor < 0 || factor >= int64_t(sizes.size()))
          return emitError("expecting factor indices to be within 0<=...<num_factors; received: " + Twine(factor) +
                           ", num_factors: " + Twine(sizes.size()));
        if (inTensor.test(factor))
          return emitError("cannot reuse factors for the same tensor value");
        if (sizes[factor] == 1 && dim.getFactorIndices().size() > 1)
          return emitError("dim mapping can't have a factor of size 1 if there are multiple factors");
        inTensor.set(factor);
        used.set(factor);
      }
    }
  }
  return success();
}

static LogicalResult verifySpecialFactors(Operation *op, int64_t numFactors, ArrayRef<int64_t> factors) {
  if (factors.empty())
    return success();
  if (!llvm::is_sorted(factors))
    return op->emitOpError("indices of special factors must be sorted");
  if (std::adjacent_find(factors.begin(), factors.end()) != factors.end())
    return op->emitOpError("indices of special factors must be unique");
  if (factors.front() < 0)
    return op->emitOpError("index must be non-negative");
  if (factors.back() >= numFactors)
    return op->emitOpError("index must be less than ") << numFactors << ", got: " << factors.back();
  return success();
}

LogicalResult verifyRule(OpShardingRuleAttr rule, Operation *op) {
  ArrayRef<int64_t> sizes = rule.getFactorSizes();
  llvm::BitVector used(sizes.size());
  if (failed(verifyMappings(op, op->getOperandTypes(), rule.getOperandMappings(), sizes, used, "operand")) ||
      failed(verifyMappings(op, op->getResultTypes(), rule.getResultMappings(), sizes, used, "result")))
    return failure();
  if (!used.all()) { // (C4)
    int64_t factor = used.find_first_unset();
    return op->emitOpError("has factor ") << factorSymbol(factor) << "=" << sizes[factor]
                                          << " that isn't used in operand and result mappings";
  }
  llvm::BitVector special(sizes.size());
  for (ArrayRef<int64_t> factors : // (C5)
       {rule.getReductionFactors(), rule.getNeedReplicationFactors(), rule.getPermutationFactors()}) {
    if (failed(verifySpecialFactors(op, sizes.size(), factors)))
      return failure();
    for (int64_t factor : factors) {
      if (special.test(factor))
        return op->emitOpError("a factor can only be in one of the reduction, need replication, or permutation factor "
                               "sets");
      special.set(factor);
    }
  }
  return verifySpecialFactors(op, sizes.size(), rule.getBlockedPropagationFactors());
}

} // namespace millrace::sdy
