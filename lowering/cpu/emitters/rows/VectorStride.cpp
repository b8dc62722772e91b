// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorStride.cpp - Strided loads and interleaving stores -----------===//
#include "lowering/cpu/emitters/rows/VectorStride.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// With a longer stride, loads of single elements are as fast. Unit: elements. Source: judgement, not measured alone; commit e3a723d has the figures
/// of the whole change.
constexpr int64_t kMaxShuffledStride = 4;

/// Returns the lanes of all vectors in turn: those of the first result come first.
SmallVector<Value> laneByLane(OpBuilder &b, Location loc, ArrayRef<Value> vectors) {
  int64_t n = vectors.size(), lanes = cast<VectorType>(vectors[0].getType()).getDimSize(0);
  if (n == 1)
    return {vectors[0]};
  SmallVector<Value> results;
  if (n % 2 == 0) {
    SmallVector<Value> parts[2];
    for (int64_t k = 0; k < n; ++k)
      parts[k % 2].push_back(vectors[k]);
    SmallVector<Value> even = laneByLane(b, loc, parts[0]), odd = laneByLane(b, loc, parts[1]);
    for (auto [first, second] : llvm::zip_equal(even, odd))
      for (int64_t half = 0; half < 2; ++half) {
        SmallVector<int64_t> order;
        for (int64_t lane = 0; lane < lanes; ++lane)
          order.push_back((half * lanes + lane) / 2 + lane % 2 * lanes);
        results.push_back(vector::ShuffleOp::create(b, loc, first, second, order));
      }
    return results;
  }
  for (int64_t part = 0; part < n; ++part) {
    // Lanes that are known already stay in place, the others come from the next vector.
    Value result;
    for (int64_t k = 0; k < n; ++k) {
      SmallVector<int64_t> order;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t element = part * lanes + lane, from = element / n;
        bool isHere = element % n == k, isFirst = element % n == 0 && k == 1;
        order.push_back(isHere ? lanes + from : isFirst ? from : lane);
      }
      result = result ? vector::ShuffleOp::create(b, loc, result, vectors[k], order).getResult() : vectors[k];
    }
    results.push_back(result);
  }
  return results;
}

} // namespace

bool hasShuffles(VectorType type, int64_t stride) { return stride <= std::min(kMaxShuffledStride, type.getDimSize(0)); }

Value loadStrided(OpBuilder &b, Location loc, VectorType type, Value memref, Value at, int64_t stride, Beyond beyond, Value mask,
                  Value passThrough, int64_t phase) {
  assert((phase == 0 || (beyond == Beyond::Exists && hasShuffles(type, stride))) && "what is there before the first lane?");
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
  auto elementOf = [&](int64_t lane) { return lane * stride + phase; };
  auto partOf = [&](int64_t lane) { return elementOf(lane) / lanes; };
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
        order[elementOf(lane) - begin] = lane;
    auto bits = cast<VectorType>(mask.getType());
    Value off = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(bits)));
    Value here = stride == 1 ? mask : vector::ShuffleOp::create(b, loc, mask, off, order).getResult();
    return vector::MaskedLoadOp::create(b, loc, type, memref, ValueRange{shifted(begin)}, here, passThrough);
  };
  // The lanes of earlier parts hold what they should; those of the first stand where they were loaded.
  Value result = loadPart(0);
  for (int64_t part = 1; part < stride; ++part) {
    Value next = loadPart(part);
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(partOf(lane) == part ? lanes + elementOf(lane) - beginOf(part) : partOf(lane) == 0 && part == 1 ? elementOf(lane) : lane);
    result = vector::ShuffleOp::create(b, loc, result, next, order);
  }
  return result;
}

void storeInterleaved(OpBuilder &b, Location loc, ArrayRef<Value> vectors, Value memref, Value at, std::optional<int64_t> count) {
  auto type = cast<VectorType>(vectors[0].getType());
  SmallVector<Value> parts(vectors);
  // Small floats as the integers they are stored as: LLVM takes shuffles of them apart where the processor has no arithmetic on them.
  bool isSmallFloat = isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() < 32;
  auto castAll = [&](VectorType to) {
    if (isSmallFloat)
      for (Value &part : parts)
        part = arith::BitcastOp::create(b, loc, to, part);
  };
  castAll(type.clone(b.getIntegerType(type.getElementTypeBitWidth())));
  parts = laneByLane(b, loc, parts);
  castAll(type);
  int64_t lanes = type.getDimSize(0), left = count.value_or(lanes) * int64_t(vectors.size());
  for (auto [number, part] : llvm::enumerate(parts)) {
    Value by = arith::ConstantIndexOp::create(b, loc, number * lanes);
    Value to = number ? arith::AddIOp::create(b, loc, at, by).getResult() : at;
    int64_t here = std::min(lanes, left - int64_t(number) * lanes);
    if (here == lanes) {
      vector::StoreOp::create(b, loc, part, memref, ValueRange{to});
      continue;
    }
    if (here <= 0)
      break;
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), here, true);
    Value mask = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type.clone(b.getI1Type()), bits));
    vector::MaskedStoreOp::create(b, loc, memref, ValueRange{to}, mask, part);
  }
}

} // namespace millrace::lowering
