// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WrapInComposite.cpp - Operations behind composites of their name ---===//
// Input:   %1 = stablehlo.abs %0 : tensor<4xf32>                     with op-names=stablehlo.abs
// Output:  %1 = stablehlo.composite "stablehlo.abs" %0 {decomposition = @stablehlo.abs.impl, version = 0 : i32} : ..
//          func.func private @stablehlo.abs.impl(%arg0: tensor<4xf32>) -> tensor<4xf32> { .. stablehlo.abs .. }
// Leaves alone operations that are not named, and those in the regions of an operation that moves.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOWRAPINCOMPOSITEPASS
#include "passes/simplify/Passes.h.inc"

namespace {
struct WrapInComposite : impl::StablehloWrapInCompositePassBase<WrapInComposite> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<Operation *> wrapped;
    // Pre-order: `applies stablehlo.add` stays part of the reduction that moves.
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!llvm::is_contained(opNamesOption, op->getName().getStringRef()) || isa<CompositeOp>(op) ||
          op->hasTrait<mlir::OpTrait::IsTerminator>())
        return WalkResult::advance();
      // A value from outside of a region would have to become a parameter.
      bool capturing = false;
      op->walk([&](Operation *inner) {
        for (Value value : inner->getOperands())
          if (inner != op && !op->isProperAncestor(value.getParentBlock()->getParentOp()) &&
              value.getParentBlock()->getParentOp() != op)
            capturing = true;
      });
      if (capturing) {
        op->emitRemark("not wrapped: a region uses values from outside");
        return WalkResult::advance();
      }
      wrapped.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : wrapped) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      auto type = builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
      std::string name = (op->getName().getStringRef() + ".impl").str();
      for (unsigned number = 1; symbols.lookup(name); ++number)
        name = (op->getName().getStringRef() + ".impl").str() + std::to_string(number);
      auto function = func::FuncOp::create(loc, name, type);
      function.setPrivate();
      StringAttr symbol = symbols.insert(function);
      NamedAttrList attributes(op->getAttrDictionary());
      auto composite = CompositeOp::create(
          builder, loc, op->getResultTypes(), op->getOperands(), op->getName().getStringRef(),
          attributes.getDictionary(builder.getContext()), symbol.getValue(), uint32_t(versionOption));
      op->replaceAllUsesWith(composite);
      Block *body = function.addEntryBlock();
      // An operand that stands there twice is the last of its parameters in both places, as upstream writes it.
      llvm::DenseMap<Value, Value> parameters;
      for (auto [operand, parameter] : llvm::zip(op->getOperands(), body->getArguments()))
        parameters[operand] = parameter;
      op->moveBefore(body, body->end());
      for (OpOperand &operand : op->getOpOperands())
        operand.set(parameters.lookup(operand.get()));
      builder.setInsertionPointToEnd(body);
      func::ReturnOp::create(builder, loc, op->getResults());
    }
  }
};
} // namespace
} // namespace millrace::simplify
