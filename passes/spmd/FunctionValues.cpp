// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionValues.cpp - A function whose values all change their types -===//
#include "passes/spmd/FunctionValues.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::spmd {

FunctionValues::FunctionValues(func::FuncOp function) {
  llvm::append_range(values, function.getArguments());
  function.walk([&](Operation *op) {
    if (op == function)
      return;
    ops.push_back(op);
    llvm::append_range(values, op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
  });
}

SmallVector<Type> retypeSignature(func::FuncOp function, function_ref<Type(Type, sdy::TensorShardingAttr)> typeOf) {
  SmallVector<Type> results;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    results.push_back(typeOf(type, function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName)));
  function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), results));
  return results;
}

LogicalResult checkReturned(func::FuncOp function, ArrayRef<Type> results, StringRef of) {
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    if (value.getType() != results[i])
      return terminator->emitOpError("result ") << i << " of the function is " << results[i] << " " << of << ", but "
                                                << value.getType() << " is returned: a reshard is missing";
  return success();
}

} // namespace millrace::spmd
