// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckShapeAssertions.cpp - Decide assertions on shapes -------------===//
// Input:   stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "size {0} is odd", has_side_effect = true}
// Output:  nothing if %ok is true; the error message with the value of %n if it is false
// Leaves alone other custom calls. An assertion on something that is not a constant is an error.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOCHECKSHAPEASSERTIONSPASS
#include "passes/simplify/Passes.h.inc"

namespace {
struct CheckShapeAssertions : impl::StablehloCheckShapeAssertionsPassBase<CheckShapeAssertions> {
  using Base::Base;

  /// `{0}`, `{1}` in `message` replaced by the values of the operands after the condition.
  static FailureOr<std::string> format(CustomCallOp op, StringRef message) {
    std::string text;
    while (!message.empty()) {
      size_t open = message.find('{');
      text += message.take_front(open);
      message = message.drop_front(std::min(open, message.size()));
      if (message.empty())
        break;
      // A brace that starts no index stands for itself.
      size_t close = message.find_first_of(",}");
      unsigned index;
      if (close == StringRef::npos || message.slice(1, close).getAsInteger(10, index)) {
        text += '{';
        message = message.drop_front();
        continue;
      }
      int64_t value;
      if (index + 1 >= op->getNumOperands() || failed(matchInt(op->getOperand(index + 1), value)))
        return op.emitOpError("expects error_message to name constant operands, but {") << index << "} is none";
      text += std::to_string(value);
      message = message.drop_front(std::min(message.find('}'), message.size() - 1) + 1);
    }
    return text;
  }

  void runOnOperation() override {
    getOperation().walk([&](CustomCallOp op) {
      if (op.getCallTargetName() != "shape_assertion")
        return;
      if (!enableShapeAssertions) {
        op.erase();
        return;
      }
      auto message = op->getAttrOfType<StringAttr>("error_message");
      if (!op.getHasSideEffect()) {
        op.emitError("expects has_side_effect=true");
        return signalPassFailure();
      }
      if (!message) {
        op.emitError("expects error_message");
        return signalPassFailure();
      }
      int64_t holds;
      if (op->getNumOperands() == 0 || op->getNumResults() != 0 || failed(matchInt(op->getOperand(0), holds))) {
        op.emitError("expects a constant condition as first operand and no results");
        return signalPassFailure();
      }
      if (holds != 0) {
        op.erase();
        return;
      }
      FailureOr<std::string> text = format(op, message.getValue());
      if (succeeded(text))
        op.emitError(*text);
      signalPassFailure();
    });
  }
};
} // namespace
} // namespace millrace::simplify
