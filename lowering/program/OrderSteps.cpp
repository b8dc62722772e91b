// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OrderSteps.cpp - Reorder steps to reduce memory ---------------------===//
// Input:   %g2 = call @back(%a2) ; %g1 = call @back(%a1, %g2) ; %w2 = call @update(%p2, %a2, %g2) ; %w1 = call @update(%p1, %a1, %g1)
// Output:  %g2 = call @back(%a2) ; %w2 = call @update(%p2, %a2, %g2) ; %g1 = call @back(%a1, %g2) ; %w1 = call @update(%p1, %a1, %g1)
//          The live ranges of %a2 and %g2 end before that of %w1 begins.
// Leaves alone blocks with values of dynamic size, and every order that is optimal. Operations with visible effects (collectives, transfers, custom
// calls) keep their order, which must be the same on all devices.
//===----------------------------------------------------------------------===//
#include "lowering/program/OrderSteps.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/program/BlockGraph.h"
#include "lowering/program/BuildProgram.h"
#include "lowering/program/StepOrder.h"
#include "passes/fusion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {

SmallVector<BlockArgument> replacedArguments(func::FuncOp function) {
  SmallVector<BlockArgument> replaced;
  if (function.isPrivate())
    return replaced;
  runtime::Program program;
  ScopedDiagnosticHandler silent(function.getContext(), [](Diagnostic &) { return success(); }); // reported when the program is built
  if (failed(describeSignature(function, program)))
    return replaced;
  SmallVector<BlockArgument> tensors;
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      tensors.push_back(argument);
  auto result = program.results.begin();
  for (Type type : function.getResultTypes()) {
    uint32_t alias = isa<RankedTensorType>(type) ? (result++)->aliasArgument : runtime::kNone;
    replaced.push_back(alias == runtime::kNone ? BlockArgument() : tensors[alias]);
  }
  return replaced;
}

namespace {

/// The largest sum of live bytes, in the given order and in the best one.
struct Peaks {
  uint64_t given = 0, chosen = 0, least = 0;
};

class Ordering {
public:
  explicit Ordering(ModuleOp module) : symbols(module), kernels(module) {}

  Peaks order(func::FuncOp function) {
    if (auto it = known.find(function); it != known.end())
      return it->second;
    known[function] = {}; // recursion, which a later stop refuses
    BlockTargets targets{BlockTargets::Function, replacedArguments(function)};
    Peaks peaks = order(function.getBody().front(), targets);
    known[function] = peaks;
    return peaks;
  }

private:
  /// Returns what an operation needs while it runs, in addition to the values of its block.
  Peaks orderInside(Operation *op) {
    Peaks most;
    auto add = [&](const Peaks &peaks) {
      most = {std::max(most.given, peaks.given), std::max(most.chosen, peaks.chosen), std::max(most.least, peaks.least)};
    };
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal())
        add(order(callee));
    } else if (isa<shlo::WhileOp, shlo::CaseOp, shlo::IfOp>(op)) {
      for (Region &region : op->getRegions()) {
        bool isCondition = isa<shlo::WhileOp>(op) && region.getRegionNumber() == 0;
        add(order(region.front(), {isCondition ? BlockTargets::Elsewhere : BlockTargets::Inner, {}}));
      }
    }
    return most;
  }

  Peaks order(Block &block, const BlockTargets &targets) {
    llvm::DenseMap<Operation *, Peaks> inside;
    for (Operation &op : block)
      if (!kernels.of(&op))
        if (Peaks peaks = orderInside(&op); peaks.given != 0)
          inside[&op] = peaks;
    auto graphWith = [&](uint64_t Peaks::*which) {
      return graphOf(block, targets, kernels, [&](Operation *op) { return inside.lookup(op).*which; });
    };
    auto graph = graphWith(&Peaks::chosen);
    Peaks peaks;
    for (auto &[op, each] : inside)
      peaks = {std::max(peaks.given, each.given), std::max(peaks.chosen, each.chosen), std::max(peaks.least, each.least)};
    if (!graph) {
      remark::missed(block.getParentOp()->getLoc(), remark::RemarkOpts::name("not-ordered").category("xla-order-steps"))
          << "steps stay in their order: sizes of values are not known";
      return peaks;
    }
    StepOrder found = orderSteps(*graph);
    if (inside.empty()) {
      peaks = {found.given.peak, found.use.peak, found.least};
    } else {
      std::vector<uint32_t> given(found.order.size());
      std::iota(given.begin(), given.end(), 0);
      peaks = {memoryOf(*graphWith(&Peaks::given), given).peak, found.use.peak, leastPeak(*graphWith(&Peaks::least))};
    }
    if (found.use.peak < found.given.peak) {
      SmallVector<Operation *> ops;
      for (Operation &op : block.without_terminator())
        ops.push_back(&op);
      for (uint32_t step : found.order)
        ops[step]->moveBefore(block.getTerminator());
      remark::passed(block.getParentOp()->getLoc(), remark::RemarkOpts::name("ordered").category("xla-order-steps"))
          << ("temporaries take " + Twine(found.use.peak) + " bytes at a time, as written " + Twine(peaks.given) + ", in no order fewer than " +
              Twine(peaks.least))
                 .str();
    }
    return peaks;
  }

  SymbolTable symbols;
  KernelTraits kernels;
  llvm::DenseMap<Operation *, Peaks> known;
};

struct OrderSteps : PassWrapper<OrderSteps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OrderSteps)
  StringRef getArgument() const override { return "xla-order-steps"; }
  StringRef getDescription() const override { return "Put calls of kernels and what is between them into the order that needs the least memory"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<func::FuncDialect, shlo::StablehloDialect>(); }

  void runOnOperation() override {
    Ordering ordering(getOperation());
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || function->hasAttr(kKernelAttr))
        continue;
      Peaks peaks = ordering.order(function);
      if (peaks.given != peaks.least)
        function->setAttr(kOrderBytesAttr, builder.getDenseI64ArrayAttr({int64_t(peaks.given), int64_t(peaks.least)}));
    }
  }
};

} // namespace

std::unique_ptr<Pass> createOrderStepsPass() { return std::make_unique<OrderSteps>(); }
void registerOrderStepsPass() { PassRegistration<OrderSteps>(); }

} // namespace millrace::lowering
