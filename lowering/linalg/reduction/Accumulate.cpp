// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Accumulate.cpp - The loop nest of reduce and reduce_window ---------===//
// Input:   inputs, initial accumulators, a computation
// Output:  linalg.generic whose body converts to the accumulators' types, combines and converts back
#include "lowering/linalg/reduction/Accumulate.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace millrace::lowering {

FailureOr<SmallVector<Value>> Accumulation::emit(LoopBuilder &l, ValueRange inputs, ValueRange inits,
                                                 ArrayRef<AffineMap> maps,
                                                 ArrayRef<utils::IteratorType> iterators) const {
  size_t count = inits.size();
  bool failedBody = false;
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    LoopBuilder inner(b, loc);
    SmallVector<Value> accumulators, values;
    for (size_t i = 0; i < count; ++i) {
      Value value = toCompute(b, loc, args[i], inputElements[i]);
      values.push_back(convertElement(inner, value, inputElements[i], accElements[i]));
      accumulators.push_back(toCompute(b, loc, args[inputs.size() + i], accElements[i]));
    }
    auto results = emitReducer(inner, reducer, region, accumulators, values, accElements);
    if (failed(results)) {
      failedBody = true;
      return;
    }
    for (size_t i = 0; i < count; ++i)
      (*results)[i] = toStorage(b, loc, (*results)[i], accElements[i]);
    linalg::YieldOp::create(b, loc, *results);
  };
  auto generic = linalg::GenericOp::create(l.b, l.loc, inits.getTypes(), inputs, inits, maps, iterators, body);
  if (failedBody)
    return failure();
  SmallVector<Value> results;
  for (size_t i = 0; i < count; ++i)
    results.push_back(convertTensor(l, generic.getResult(i), accElements[i], regionElements[i]));
  return results;
}

} // namespace millrace::lowering
