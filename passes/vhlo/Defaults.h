// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Defaults.h - Attributes that StableHLO leaves out ------------------===//
#pragma once
#include "dialects/vhlo/Dialect.h"

namespace millrace::vhlo {

/// Returns the portable attribute that `op` of StableHLO or func has when it omits `name`; null if `name` is required.
mlir::Attribute defaultFor(mlir::Operation *op, llvm::StringRef stem, llvm::StringRef name);
/// Returns true if `attr` of the portable `op` is the default that StableHLO omits.
bool isDefault(mlir::Operation *op, llvm::StringRef stem, llvm::StringRef name, mlir::Attribute attr);

} // namespace millrace::vhlo
