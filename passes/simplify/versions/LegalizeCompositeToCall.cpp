// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeCompositeToCall.cpp - Composite -> call of its decomposition -===//
// Input:   %1 = stablehlo.composite "foo.bar" %0 {decomposition = @bar} : (tensor<f32>) -> tensor<f32>
// Output:  %1 = call @bar(%0) : (tensor<f32>) -> tensor<f32>
// Leaves alone composites whose name is listed in `except`; an entry name@version means that version only.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOLEGALIZECOMPOSITETOCALLPASS
#include "passes/simplify/Passes.h.inc"

namespace {
struct LegalizeCompositeToCall : impl::StablehloLegalizeCompositeToCallPassBase<LegalizeCompositeToCall> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([&](CompositeOp op) {
      std::string version = (op.getName() + "@" + llvm::Twine(op.getVersion())).str();
      if (llvm::is_contained(exceptListOption, op.getName()) || llvm::is_contained(exceptListOption, version))
        return;
      OpBuilder builder(op);
      auto call = func::CallOp::create(builder, op.getLoc(), op.getDecomposition(), op.getResultTypes(), op.getInputs());
      // The attributes of the composite describe what the decomposition already does; others stay with the call.
      call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      op.replaceAllUsesWith(call);
      op.erase();
    });
  }
};
} // namespace
} // namespace millrace::simplify
