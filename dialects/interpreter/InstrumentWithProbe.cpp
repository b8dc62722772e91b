// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InstrumentWithProbe.cpp - Probe every tensor -----------------------===//
// Input:   %1 = stablehlo.add %0, %0 : tensor<i32> loc("sum@f.py")
// Output:  %1 = stablehlo.add %0, %0 : tensor<i32>
//          %2 = interpreter.probe %1, probe_id = "sum.1" : tensor<i32>    // and %2 in place of %1 from here on
// Leaves alone constants, and values that are not tensors.
#include "dialects/interpreter/Passes.h"

#include "mlir/IR/Builders.h"

namespace millrace::interpreter {
#define GEN_PASS_DEF_INTERPRETERINSTRUMENTWITHPROBEPASS
#include "dialects/interpreter/Passes.h.inc"

namespace {

struct InstrumentWithProbe : impl::InterpreterInstrumentWithProbePassBase<InstrumentWithProbe> {
  using InterpreterInstrumentWithProbePassBase::InterpreterInstrumentWithProbePassBase;

  std::string nameOf(mlir::Location location, unsigned number) {
    auto named = llvm::dyn_cast<mlir::NameLoc>(location);
    if (useDebugInfoOption && named)
      return named.getName().strref().split('@').first.str() + "." + std::to_string(number);
    return "probe" + std::to_string(number);
  }

  void runOnOperation() override {
    mlir::SmallVector<mlir::Value> values;
    getOperation().walk([&](mlir::Operation *op) {
      if (op->getName().getStringRef() == "stablehlo.constant") return;
      for (mlir::Value result : op->getResults())
        if (llvm::isa<mlir::RankedTensorType>(result.getType())) values.push_back(result);
    });
    unsigned number = 0;
    for (mlir::Value value : values) {
      mlir::OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(value);
      auto probe = ProbeOp::create(builder, value.getLoc(), value, builder.getStringAttr(nameOf(value.getLoc(), ++number)));
      value.replaceAllUsesExcept(probe.getResult(), probe);
    }
  }
};

} // namespace
} // namespace millrace::interpreter
