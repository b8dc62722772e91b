// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arguments.cpp - What is known of an entry function's arguments -----===//
#include "dialects/millrace/Arguments.h"
#include "dialects/millrace/Attributes.h"

using namespace mlir;

namespace millrace {

bool isDonated(FunctionOpInterface function, unsigned argument) {
  return function.getArgAttr(argument, "jax.buffer_donor") || function.getArgAttr(argument, "tf.aliasing_output");
}

bool isConstantArgument(FunctionOpInterface function, unsigned argument) {
  return function.getArgAttr(argument, kConstantAttr) && !isDonated(function, argument);
}

bool isConstantArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast_if_present<FunctionOpInterface>(argument.getOwner()->getParentOp()) : FunctionOpInterface();
  return function && isConstantArgument(function, argument.getArgNumber());
}

} // namespace millrace
