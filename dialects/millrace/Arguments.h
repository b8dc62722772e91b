// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arguments.h - What is known of an entry function's arguments -------===//
#pragma once
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace millrace {

/// Returns true if the caller gives up the argument's buffer (jax.buffer_donor, tf.aliasing_output), whose memory a result may take.
bool isDonated(mlir::FunctionOpInterface function, unsigned argument);

/// Returns true for an argument of which consecutive executions are expected to get the same buffer: it is marked (kConstantAttr), and its caller keeps
/// it. What depends on such arguments alone may be computed once.
bool isConstantArgument(mlir::FunctionOpInterface function, unsigned argument);

/// Returns true if `value` is such an argument of a function.
bool isConstantArgument(mlir::Value value);

} // namespace millrace
