// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VhloToVersion.cpp - Portable format -> another of its versions -----===//
// Input:   "vhlo.exponential_v2"(%x) <{result_accuracy = default}>
// Output:  "vhlo.exponential_v1"(%x)                                       // target 1.8.0
// Leaves alone what both versions have. Fails for what the target cannot say.
#include "passes/vhlo/Passes.h"

#include "passes/vhlo/Legality.h"
#include "passes/vhlo/OpVersions.h"
#include "passes/vhlo/Rebuild.h"

using namespace mlir;

namespace millrace::vhlo {

#define GEN_PASS_DEF_VHLOTOVERSIONPASS
#include "passes/vhlo/Passes.h.inc"

// Returns the form of `op` in `target`, which may be `op` itself; null after an error. No operation has changed twice.
static Operation *convertOp(Operation *op, Version target) {
  const OpDef *def = opDef(op);
  std::string why;
  Operation *converted = op;
  if (!def->existsIn(target)) {
    bool upgrade = def->max < target;
    const OpDef *next = lookupOp(def->stem(), def->number() + (upgrade ? 1 : -1));
    if (!next || !next->existsIn(target))
      why = "version " + target.str() + " has no such operation", converted = nullptr;
    else
      converted = upgrade ? upgradeOp(op, *next, op->getOperands(), why) : downgradeOp(op, *next, op->getOperands(), why);
  }
  if (converted && isLegal(converted, target, why))
    return converted;
  (void)reportIllegal(op, why);
  return nullptr;
}

// All new operations are created, with the old operands, before the first old one is replaced. Upstream does the same, and the order of uses, which
// bytecode records, follows from it.
LogicalResult convertToVersion(ModuleOp module, Version target) {
  Version operations = target.withoutPatch();
  SmallVector<Operation *> portable;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (opDef(op))
      portable.push_back(op);
  });
  SmallVector<std::pair<Operation *, Operation *>> replacements;
  bool ok = true;
  for (Operation *op : portable) {
    Operation *converted = convertOp(op, operations);
    if (!(ok = converted))
      break;
    if (converted == op)
      continue;
    replacements.emplace_back(op, converted);
  }
  for (auto [op, converted] : replacements)
    replace(op, converted);
  if (ok)
    return success();
  return emitError(module.getLoc()) << "failed to convert VHLO to v" << operations.str();
}

namespace {
struct ToVersion : impl::VhloToVersionPassBase<ToVersion> {
  using VhloToVersionPassBase::VhloToVersionPassBase;
  void runOnOperation() override {
    FailureOr<Version> target = parseTargetVersion(targetVersion, [&] { return emitError(getOperation().getLoc()); });
    if (failed(target) || failed(convertToVersion(getOperation(), *target)))
      signalPassFailure();
  }
};
} // namespace
} // namespace millrace::vhlo
