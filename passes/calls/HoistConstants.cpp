// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HoistConstants.cpp - Turn constants of the program into arguments ---===//
// Input:   func.func @main() { %c = stablehlo.constant dense<[1, 2]> ... }
// Output:  func.func @main(%c) attributes {millrace.hoisted = [dense<[1, 2]>]} { ... }
// Leaves alone constants of at most one element, and those of private functions, which other functions call with their own arguments.
//===----------------------------------------------------------------------===//
#include "passes/Remarks.h"
#include "passes/calls/Passes.h"

#include "dialects/stablehlo/Ops.h"

using namespace mlir;

namespace millrace::calls {
#define GEN_PASS_DEF_HOISTCONSTANTSPASS
#include "passes/calls/Passes.h.inc"

namespace {

struct HoistConstants : impl::HoistConstantsPassBase<HoistConstants> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      hoist(function);
  }

  /// Returns why the constant stays; empty if it becomes an argument.
  static StringRef whyNot(func::FuncOp function, stablehlo::ConstantOp constant) {
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!type || type.getNumElements() <= 1)
      return "it has at most one element";
    return function.isPrivate() && function.getName() != "main" ? "its function is private" : "";
  }

  static void hoist(func::FuncOp function) {
    SmallVector<stablehlo::ConstantOp> constants;
    function.walk([&](stablehlo::ConstantOp constant) {
      if (StringRef why = whyNot(function, constant); !why.empty())
        remarkMissed(constant, "xla-hoist-constants", why);
      else
        constants.push_back(constant);
    });
    if (constants.empty())
      return;
    Block &entry = function.getBody().front();
    SmallVector<Attribute> values;
    SmallVector<Type> inputs(function.getArgumentTypes());
    SmallVector<DictionaryAttr> attrs;
    function.getAllArgAttrs(attrs);
    attrs.resize(inputs.size(), DictionaryAttr::get(function.getContext()));
    for (stablehlo::ConstantOp constant : constants) {
      values.push_back(constant.getValue());
      inputs.push_back(constant.getType());
      attrs.push_back(DictionaryAttr::get(function.getContext()));
      constant.replaceAllUsesWith(Value(entry.addArgument(constant.getType(), constant.getLoc())));
      constant.erase();
    }
    function.setFunctionType(FunctionType::get(function.getContext(), inputs, function.getResultTypes()));
    function.setAllArgAttrs(attrs);
    function->setAttr(kHoistedAttr, ArrayAttr::get(function.getContext(), values));
  }
};

} // namespace
} // namespace millrace::calls
