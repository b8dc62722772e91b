// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyTypes.cpp - Errors for types that the specification forbids --===//
// Input:   func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 0.5:300>>)
// Output:  error: expects a zero point in [-128, 127], but got 300, in type ... of argument 0 of @f
// Leaves alone every program.
#include "dialects/stablehlo/Passes.h"
#include "dialects/stablehlo/verify/TypeRules.h"

namespace millrace::stablehlo {
#define GEN_PASS_DEF_VERIFYTYPESPASS
#include "dialects/stablehlo/Passes.h.inc"

namespace {
struct VerifyTypes : impl::VerifyTypesPassBase<VerifyTypes> {
  using VerifyTypesPassBase::VerifyTypesPassBase;
  void runOnOperation() override {
    if (failed(verifyTypes(getOperation(), onlyKnown)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace millrace::stablehlo
