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

bool hasShuffles(VectorType type, int64_t stride) { return stride <= std::min(kLongestShuffle, type.getDimSize(0)); }

Value loadStrided(OpBuilder &b, Location loc, VectorType type, Value memref, Value at, int64_t stride, Beyond beyond, Value mask,
                  Value passThrough) {
  int64_t lanes = type.getDimSize(0);
  auto shifted = [&](int64_t by) -> Value {
    return by ? arith::AddIOp::create(b, loc, at, arith::ConstantIndexOp::create(b, loc, by)).getResult() : at;
  };
  if (!hasShuffles(type, stride)) {
    assert(!mask && "single elements are not masked");
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < lanes; ++lane)
      elements.push_back(memref::LoadOp::create(b, loc, memref, ValueRange{shifted(lane * stride)}));
    return vector::FromElementsOp::create(b, loc, type, elements);
  }
  auto partOf = [&](int64_t lane) { return lane * stride / lanes; };
  // The last vector may have to end with the last lane's element.
  bool isShort = beyond == Beyond::Unknown && !mask;
  auto beginOf = [&](int64_t part) { return isShort && part > 0 && part + 1 == stride ? (lanes - 1) * (stride - 1) : part * lanes; };
  auto loadPart = [&](int64_t part) -> Value {
    int64_t begin = beginOf(part);
    if (!mask)
      return vector::LoadOp::create(b, loc, type, memref, ValueRange{shifted(begin)});
    SmallVector<int64_t> order(lanes, lanes);
    for (int64_t lane = 0; lane < lanes; ++lane)
      if (partOf(lane) == part)
        order[lane * stride - begin] = lane;
    auto bits = cast<VectorType>(mask.getType());
    Value off = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(bits)));
    Value here = stride == 1 ? mask : vector::ShuffleOp::create(b, loc, mask, off, order).getResult();
    return vector::MaskedLoadOp::create(b, loc, type, memref, ValueRange{shifted(begin)}, here, passThrough);
  };
  // The lanes of earlier parts hold what they should; those of the first stand at 0, stride, ... as they were loaded.
  Value result = loadPart(0);
  for (int64_t part = 1; part < stride; ++part) {
    Value next = loadPart(part);
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(partOf(lane) == part ? lanes + lane * stride - beginOf(part) : partOf(lane) == 0 && part == 1 ? lane * stride : lane);
    result = vector::ShuffleOp::create(b, loc, result, next, order);
  }
  return result;
}

} // namespace millrace::lowering
