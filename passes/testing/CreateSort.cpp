// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CreateSort.cpp - A sort by its first operand ------------------------===//
// Input:   %0:2 = "hlo_test_create_sort.build"(%keys, %values)
// Output:  %0:2 = "stablehlo.sort"(%keys, %values) <{dimension = 0, is_stable = false}> ({ less-than of the keys })
// Leaves alone operations with an operand that is no tensor, and without operands.
//===----------------------------------------------------------------------===//
#include "passes/testing/Passes.h"

using namespace mlir;

namespace millrace::testing {
#define GEN_PASS_DEF_HLOTESTCREATESORTPASS
#include "passes/testing/Passes.h.inc"

namespace {

struct HloTestCreateSort : impl::HloTestCreateSortPassBase<HloTestCreateSort> {
  void runOnOperation() override {
    SmallVector<Operation *> requests;
    getOperation().walk([&](Operation *op) {
      if (op->getName().getStringRef() == "hlo_test_create_sort.build" && op->getNumOperands() &&
          llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
        requests.push_back(op);
    });
    for (Operation *op : requests)
      build(op);
  }

  static void build(Operation *op) {
    OpBuilder builder(op);
    auto sort = stablehlo::SortOp::create(builder, op->getLoc(), op->getOperandTypes(), op->getOperands(),
                                          builder.getI64IntegerAttr(0), builder.getBoolAttr(false));
    Block &body = sort.getComparator().emplaceBlock();
    for (Type type : op->getOperandTypes()) {
      auto scalar = RankedTensorType::get({}, cast<RankedTensorType>(type).getElementType());
      body.addArguments({scalar, scalar}, {op->getLoc(), op->getLoc()});
    }
    builder.setInsertionPointToStart(&body);
    stablehlo::ComparisonTypeAttr order;
    // Floats are compared in total order, so that NaN is ordered.
    if (isa<FloatType>(cast<RankedTensorType>(body.getArgument(0).getType()).getElementType()))
      order = stablehlo::ComparisonTypeAttr::get(op->getContext(), stablehlo::ComparisonType::TOTALORDER);
    Value less = stablehlo::CompareOp::create(
        builder, op->getLoc(), body.getArgument(0), body.getArgument(1),
        stablehlo::ComparisonDirectionAttr::get(op->getContext(), stablehlo::ComparisonDirection::LT), order);
    stablehlo::ReturnOp::create(builder, op->getLoc(), less);
    op->replaceAllUsesWith(sort);
    op->erase();
  }
};

} // namespace
} // namespace millrace::testing
