// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OutlineReducers.cpp - Outline reducers of collectives as kernels ---===//
// Input:   "stablehlo.all_reduce"(%x) ({ ^bb0(%a, %b): %0 = multiply %a, %b; %1 = subtract %0, %a; return %1 })
// Output:  "stablehlo.all_reduce"(%x) ({ .. }) {millrace.reducer = @all_reduce_3}
//          func.func private @all_reduce_3(%a: tensor<2048xf32>, %b: tensor<2048xf32>) -> .. { map of the computation }
// Leaves alone reductions that the runtime implements: add, mul, min, max, and, or, xor of both arguments.
#include "lowering/program/OutlineReducers.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {

using Reduction = runtime::CollectiveStep::Reduction;

Reduction reductionOf(Operation *collective) {
  Operation *op = shlo::combinerOf(collective->getRegion(0));
  if (!op)
    return Reduction::None;
  if (isa<shlo::AddOp>(op))
    return Reduction::Sum;
  if (isa<shlo::MulOp>(op))
    return Reduction::Product;
  if (isa<ComplexType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return Reduction::None; // the runtime orders real numbers only
  if (isa<shlo::MinOp>(op))
    return Reduction::Min;
  if (isa<shlo::MaxOp>(op))
    return Reduction::Max;
  if (isa<shlo::AndOp>(op))
    return Reduction::And;
  if (isa<shlo::OrOp>(op))
    return Reduction::Or;
  if (isa<shlo::XorOp>(op))
    return Reduction::Xor;
  return Reduction::None;
}

namespace {

struct OutlineReducers : PassWrapper<OutlineReducers, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OutlineReducers)
  StringRef getArgument() const override { return "xla-outline-reducers"; }
  StringRef getDescription() const override { return "Give collectives with computations of their own a kernel for it"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<func::FuncDialect, shlo::StablehloDialect>();
  }

  void runOnOperation() override {
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (isa<shlo::AllReduceOp, shlo::ReduceScatterOp, shlo::CollectiveReduceOp>(op) &&
          reductionOf(op) == Reduction::None)
        collectives.push_back(op);
    });
    SymbolTable symbols(getOperation());
    for (Operation *op : collectives)
      if (failed(outline(op, symbols)))
        return signalPassFailure();
  }

  static LogicalResult outline(Operation *op, SymbolTable &symbols) {
    Region &region = op->getRegion(0);
    Location loc = op->getLoc();
    auto scalar = cast<RankedTensorType>(region.getArgument(0).getType());
    auto type = RankedTensorType::get({runtime::CollectiveStep::kReducerElements}, scalar.getElementType());
    OpBuilder builder(op->getContext());
    auto kernel = func::FuncOp::create(loc, op->getName().stripDialect(), builder.getFunctionType({type, type}, type));
    kernel.setPrivate();
    kernel->setAttr(kKernelAttr, builder.getUnitAttr());
    builder.setInsertionPointToStart(kernel.addEntryBlock());
    auto map = shlo::MapOp::create(builder, loc, TypeRange{type}, ValueRange(kernel.getArguments()),
                                   builder.getDenseI64ArrayAttr({0}));
    func::ReturnOp::create(builder, loc, map->getResults());

    IRMapping mapping;
    region.cloneInto(&map.getComputation(), mapping);
    // Constants defined outside are copied into the kernel; other outside values need not be equal on all devices.
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    builder.setInsertionPointToStart(&map.getComputation().front());
    for (Value value : captured) {
      auto constant = value.getDefiningOp<shlo::ConstantOp>();
      if (!constant) {
        kernel->erase();
        auto diagnostic = op->emitOpError("uses a value from outside of its computation that is no constant");
        diagnostic.attachNote(value.getLoc()) << "this value";
        return diagnostic;
      }
      replaceAllUsesInRegionWith(value, builder.clone(*constant)->getResult(0), map.getComputation());
    }
    symbols.insert(kernel);
    op->setAttr(kReducerAttr, FlatSymbolRefAttr::get(kernel.getNameAttr()));
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createOutlineReducersPass() { return std::make_unique<OutlineReducers>(); }
void registerOutlineReducersPass() { PassRegistration<OutlineReducers>(); }

} // namespace millrace::lowering
