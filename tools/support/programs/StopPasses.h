// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StopPasses.h - xla-opt --emit --------------------------------------===//
#pragma once

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace millrace::tools {

/// Adds the passes of xla-compile up to the stop, which must be one at which the program is one module: stablehlo, sharded, partitioned, simplified,
/// fused. Returns an error text for any other stop.
std::string addPassesUpTo(llvm::StringRef stop, mlir::OpPassManager &pm);

} // namespace millrace::tools
