// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Defaults.h - Attributes that StableHLO leaves out ------------------===//
#pragma once
#include "dialects/vhlo/Dialect.h"

namespace millrace::vhlo {

/// The portable attribute that `op` of StableHLO or func has when it leaves `name` out; null if it must not.
mlir::Attribute defaultFor(mlir::Operation *op, llvm::StringRef stem, llvm::StringRef name);
/// Whether `attr` of the portable `op` is what StableHLO leaves out.
bool isDefault(mlir::Operation *op, llvm::StringRef stem, llvm::StringRef name, mlir::Attribute attr);

} // namespace millrace::vhlo
