// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrepareConstants.h - Compute values of constant arguments once -----===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace millrace::fusion {

/// One step from an operand to its panels: a reshape to `numbers`, a transposition by the permutation `numbers`, or zeros, as many behind each
/// dimension as `numbers` say.
struct PanelStep {
  enum class Kind { Reshape, Transpose, Pad };
  Kind kind = Kind::Reshape;
  llvm::SmallVector<int64_t> numbers;
};

/// How the contraction of a kernel reads one of the kernel's operands once that is packed.
struct PanelLayout {
  unsigned operand = 0;
  llvm::SmallVector<PanelStep> steps; ///< the last one is a reshape to one dimension
  int64_t elements() const { return steps.back().numbers.front(); }
  std::string text() const;
};

/// The operand that the code for a kernel (stablehlo on tensors, which stays as it is) packs in every call, if there is one and its packed form is a
/// rearrangement of it.
using PanelsOf = std::function<std::optional<PanelLayout>(mlir::func::FuncOp)>;

/// The pass that asks code generation; without its answer nothing is packed.
std::unique_ptr<mlir::Pass> createPrepareConstantsPass(PanelsOf panelsOf);

} // namespace millrace::fusion
