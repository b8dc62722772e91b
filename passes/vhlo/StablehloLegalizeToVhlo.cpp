// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StablehloLegalizeToVhlo.cpp - StableHLO, func -> portable format ---===//
// Input:   func.func @f(%x: tensor<2xf32>) -> ... { "stablehlo.sort"(%x) ... }
// Output:  vhlo.func_v1 @f(%x: !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> (...) { "vhlo.sort_v1"(%x) <{dimension = -1, ...}> ... }
// Leaves alone, with allow-other-dialects, operations of other dialects; casts stand between their values and the rest.
#include "passes/vhlo/Passes.h"

#include "mlir/IR/Builders.h"
#include "passes/vhlo/Attributes.h"
#include "passes/vhlo/OpMap.h"
#include "passes/vhlo/Rebuild.h"

using namespace mlir;

namespace millrace::vhlo {

#define GEN_PASS_DEF_STABLEHLOLEGALIZETOVHLOPASS
#include "passes/vhlo/Passes.h.inc"

namespace {

/// Creates one cast for each value that portable and other operations share. The casts follow the definition, later ones first; their location is
/// that of the first operation that needed them.
class Casts {
public:
  Value castOf(Value value, Type type, Location loc) {
    Value &known = casts[value];
    if (!known) {
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      known = UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0);
    }
    return known;
  }

private:
  DenseMap<Value, Value> casts;
};

/// A use of a value by the other kind of operation, and the type that this operation expects.
struct Crossing {
  OpOperand *operand;
  Type type;
};

} // namespace

// Returns true for an operation that has a portable form, or is portable.
static bool isPortable(Operation *op) { return portableOp(op) || opDef(op); }

static bool isPortable(Value value) {
  Operation *owner = isa<BlockArgument>(value) ? cast<BlockArgument>(value).getOwner()->getParentOp()
                                               : value.getDefiningOp();
  return owner && isPortable(owner);
}

LogicalResult legalizeToVhlo(ModuleOp module, bool allowOtherDialects) {
  SmallVector<Operation *> ours;
  SmallVector<Crossing> crossings;
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool portable = isPortable(op);
    if (portableOp(op))
      ours.push_back(op);
    else if (!portable && !allowOtherDialects && !isa<ModuleOp>(op))
      return op->emitOpError("has no portable form; the option allow-other-dialects keeps it as it is"),
             WalkResult::interrupt();
    for (OpOperand &operand : op->getOpOperands())
      if (isPortable(operand.get()) != portable)
        crossings.push_back({&operand, operand.get().getType()});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  auto convert = [](Type type, Operation *owner) {
    Type converted = toVhlo(type);
    if (!converted)
      owner->emitOpError("has no portable form of type ") << type;
    return converted;
  };
  if (failed(retypeValues(module, convert, [](Operation *op) { return isPortable(op); })))
    return failure();
  Casts casts;
  for (Crossing &crossing : crossings) {
    Operation *user = crossing.operand->getOwner();
    bool toPortable = isPortable(user);
    Type type = toPortable ? convert(crossing.type, user) : crossing.type;
    if (!type)
      return failure();
    Value value = crossing.operand->get();
    crossing.operand->set(casts.castOf(value, type, toPortable ? user->getLoc() : value.getLoc()));
  }
  for (Operation *op : ours) {
    const OpDef *def = portableOp(op);
    NamedAttrList attributes;
    if (failed(attributesToVhlo(op, *def, allowOtherDialects, attributes)))
      return failure();
    replace(op, rebuild(op, ("vhlo." + def->name).str(), op->getOperands(), attributes));
  }
  return success();
}

namespace {
struct LegalizeToVhlo : impl::StablehloLegalizeToVhloPassBase<LegalizeToVhlo> {
  using StablehloLegalizeToVhloPassBase::StablehloLegalizeToVhloPassBase;
  void runOnOperation() override {
    if (failed(legalizeToVhlo(getOperation(), allowOtherDialects)))
      signalPassFailure();
  }
};
} // namespace
} // namespace millrace::vhlo
