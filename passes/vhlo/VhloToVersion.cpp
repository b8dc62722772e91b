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

static LogicalResult convertOp(Operation *op, Version target) {
  // An operation may have changed more than once in between.
  for (const OpDef *def = opDef(op); def && !def->existsIn(target); def = opDef(op)) {
    bool upgrade = def->max < target;
    const OpDef *next = lookupOp(def->stem(), def->number() + (upgrade ? 1 : -1));
    std::string why = "version " + target.str() + " has no such operation";
    Operation *converted = nullptr;
    if (next)
      converted = upgrade ? upgradeOp(op, *next, why) : downgradeOp(op, *next, why);
    if (!converted)
      return reportIllegal(op, why);
    op = converted;
  }
  std::string why;
  return isLegal(op, target, why) ? success() : reportIllegal(op, why);
}

LogicalResult convertToVersion(ModuleOp module, Version target) {
  Version operations = target.withoutPatch();
  SmallVector<Operation *> portable;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (opDef(op))
      portable.push_back(op);
  });
  for (Operation *op : portable)
    if (failed(convertOp(op, operations)))
      return module.emitError() << "failed to convert VHLO to v" << operations.str();
  sortUses(module);
  return success();
}

namespace {
struct ToVersion : impl::VhloToVersionPassBase<ToVersion> {
  using VhloToVersionPassBase::VhloToVersionPassBase;
  void runOnOperation() override {
    FailureOr<Version> target = parseTargetVersion(targetVersion, [&] { return getOperation().emitError(); });
    if (failed(target) || failed(convertToVersion(getOperation(), *target)))
      signalPassFailure();
  }
};
} // namespace
} // namespace millrace::vhlo
