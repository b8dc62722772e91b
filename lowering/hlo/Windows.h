// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Windows.h - HLO's text of windows ----------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>

namespace millrace::hlo {

/// `{size=2x2 stride=1x2 pad=0_1x1_0 lhs_dilate=.. rhs_dilate=.. rhs_reversal=..}`: what a list leaves out (or is all
/// default) is not written. Dilations of the operand are lhs_dilate, those of the window rhs_dilate.
struct Window {
  llvm::SmallVector<int64_t> sizes;
  std::optional<llvm::ArrayRef<int64_t>> strides = {}, operandDilations = {}, windowDilations = {};
  std::optional<mlir::DenseIntElementsAttr> padding = {};
  std::optional<llvm::ArrayRef<bool>> reversal = {};

  std::string text() const;
};

} // namespace millrace::hlo
