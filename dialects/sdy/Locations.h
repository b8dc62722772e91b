// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Locations.h - Locations of annotated arguments ----------------------===//
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace millrace::sdy {

/// Returns the location of an argument, because a signature may have many lines; if it is unknown, that of the function.
mlir::Location locationOfArgument(mlir::FunctionOpInterface function, unsigned index);

} // namespace millrace::sdy
