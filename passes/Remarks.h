// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Remarks.h - Why a pass leaves an operation as it is ----------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace millrace {

/// The remark `pass` (the option --remarks-filter-missed) gives where it leaves `op` as it is: "stablehlo.sort stays: 3 of 8 elements are used".
inline void remarkMissed(mlir::Operation *op, llvm::StringRef pass, const llvm::Twine &reason) {
  using mlir::remark::RemarkOpts;
  mlir::remark::missed(op->getLoc(), RemarkOpts::name("not-changed").category(pass)) << (op->getName().getStringRef() + " stays: " + reason).str();
}

} // namespace millrace
