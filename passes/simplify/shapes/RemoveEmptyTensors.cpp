// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RemoveEmptyTensors.cpp - Values without elements are constants -----===//
// Input:   %0 = stablehlo.slice %a [2:2] : (tensor<2xf32>) -> tensor<0xf32>
// Output:  %0 = stablehlo.constant dense<> : tensor<0xf32>
// Leaves alone operations with side effects or with another result.
//===----------------------------------------------------------------------===//
#include "dialects/stablehlo/Ops.h"
#include "passes/simplify/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace millrace::simplify {
#define GEN_PASS_DEF_REMOVEEMPTYTENSORSPASS
#include "passes/simplify/Passes.h.inc"

namespace {

bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
}

struct RemoveEmptyTensors : impl::RemoveEmptyTensorsPassBase<RemoveEmptyTensors> {
  void runOnOperation() override {
    SmallVector<Operation *> empty;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() == 0 || isa<stablehlo::ConstantOp>(op) || !isMemoryEffectFree(op) || !llvm::all_of(op->getResultTypes(), isEmpty))
        return WalkResult::advance();
      empty.push_back(op);
      return WalkResult::skip(); // the erased operation's regions are not visited
    });
    for (Operation *op : empty) {
      OpBuilder builder(op);
      for (Value result : op->getResults()) {
        auto value = DenseElementsAttr::get(cast<ShapedType>(result.getType()), ArrayRef<Attribute>());
        result.replaceAllUsesWith(stablehlo::ConstantOp::create(builder, op->getLoc(), value));
      }
      op->dropAllUses();
    }
    for (Operation *op : llvm::reverse(empty))
      op->erase();
  }
};

} // namespace
} // namespace millrace::simplify
