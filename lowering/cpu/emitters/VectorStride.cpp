// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorStride.cpp - Every n-th element as one vector ----------------===//
#include "lowering/cpu/emitters/VectorStride.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Beyond it loads of single elements are as fast.
constexpr int64_t kLongestShuffle = 4;

} // namespace

Value loadStrided(OpBuilder &b, Location loc, VectorType type, Value memref, Value at, int64_t stride) {
  int64_t lanes = type.getDimSize(0);
  auto shifted = [&](int64_t by) -> Value {
    return by ? arith::AddIOp::create(b, loc, at, arith::ConstantIndexOp::create(b, loc, by)).getResult() : at;
  };
  if (stride > kLongestShuffle) {
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < lanes; ++lane)
      elements.push_back(memref::LoadOp::create(b, loc, memref, ValueRange{shifted(lane * stride)}));
    return vector::FromElementsOp::create(b, loc, type, elements);
  }
  Value result = vector::LoadOp::create(b, loc, type, memref, ValueRange{at});
  // Lanes [0, known) hold what they should after each shuffle; the first vector's stand at 0, stride, ... as they were loaded.
  for (int64_t part = 1; part < stride; ++part) {
    Value next = vector::LoadOp::create(b, loc, type, memref, ValueRange{shifted(part * lanes)});
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t from = lane * stride;
      if (from >= part * lanes)
        order.push_back(std::min(from - part * lanes, lanes - 1) + lanes);
      else
        order.push_back(part == 1 ? from : lane);
    }
    result = vector::ShuffleOp::create(b, loc, result, next, order);
  }
  return result;
}

} // namespace millrace::lowering
