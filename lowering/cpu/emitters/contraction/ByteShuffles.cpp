// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ByteShuffles.cpp - Vectors that are joined and interleaved ----------===//
#include "lowering/cpu/emitters/contraction/ByteShuffles.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace millrace::lowering {

Value joined(OpBuilder &b, Location loc, Value low, Value high) {
  SmallVector<int64_t> order(2 * cast<VectorType>(low.getType()).getNumElements());
  std::iota(order.begin(), order.end(), 0);
  return vector::ShuffleOp::create(b, loc, low, high, order);
}

Value joined(OpBuilder &b, Location loc, SmallVector<Value> vectors) {
  while (vectors.size() > 1) {
    for (size_t i = 0; i < vectors.size() / 2; ++i)
      vectors[i] = joined(b, loc, vectors[2 * i], vectors[2 * i + 1]);
    vectors.resize(vectors.size() / 2);
  }
  return vectors.front();
}

SmallVector<Value> interleaved(OpBuilder &b, Location loc, ArrayRef<Value> rows) {
  const int64_t width = cast<VectorType>(rows.front().getType()).getNumElements(), part = std::min(kInterleavedBytes, width);
  // Low halves of all parts are in one vector, high halves in another one.
  auto interleave = [&](Value left, Value right, int64_t neighbours, bool isHigh) -> Value {
    SmallVector<int64_t> order;
    for (int64_t begin = 0; begin < width; begin += part)
      for (int64_t place = 0; place < part / 2; place += neighbours)
        for (int64_t of : {int64_t(0), width})
          for (int64_t byte = 0; byte < neighbours; ++byte)
            order.push_back(of + begin + (isHigh ? part / 2 : 0) + place + byte);
    return vector::ShuffleOp::create(b, loc, left, right, order);
  };
  // Neighbours are interleaved, and then pairs of neighbours.
  SmallVector<Value> pairs;
  for (size_t i = 0; i < rows.size(); i += 2)
    for (bool isHigh : {false, true})
      pairs.push_back(interleave(rows[i], rows[i + 1], 1, isHigh));
  if (rows.size() == 2)
    return pairs;
  SmallVector<Value> quads;
  for (size_t i = 0; i < 2; ++i)
    for (bool isHigh : {false, true})
      quads.push_back(interleave(pairs[i], pairs[2 + i], 2, isHigh));
  return quads;
}

} // namespace millrace::lowering
