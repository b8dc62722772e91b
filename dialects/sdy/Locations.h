// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Locations.h - Where what is annotated stands -----------------------===//
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace millrace::sdy {

/// Of an argument: its own line, where it has one, for signatures may take many; else the function's.
mlir::Location locationOfArgument(mlir::FunctionOpInterface function, unsigned index);

} // namespace millrace::sdy
