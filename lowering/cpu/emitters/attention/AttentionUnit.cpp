// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionUnit.cpp - Attention's contractions of bf16 by AMX ---------===//
// Scores of bf16 queries and keys, and contractions of weights with bf16 values: 32 x 32 sums of f32 at a time, over 32 terms per step. Packed
// operands are padded with zeros to whole steps, whatever the sizes are. An f32 weight is the sum of three bf16 values, whose products with the value
// are exact: there is no more rounding than with vectors. Contractions over the rows (gradients) use vectors.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/attention/AttentionEmitter.h"
#include "lowering/cpu/emitters/contraction/MatrixUnit.h"
#include "lowering/cpu/emitters/rows/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace millrace::lowering::attention {

/// Returns the operand of bf16 that is converted to f32 here; null if there is none.
const Operand *AttentionEmitter::narrowOf(const Factor &factor) const {
  auto isWidened = [](Value value) {
    auto widen = value.getDefiningOp<arith::ExtFOp>();
    return widen && isa<BlockArgument>(widen.getIn());
  };
  const Operand *operand = factor.operand;
  if (operand->elementType.isBF16())
    return !factor.converts || isWidened(factor.element) ? operand : nullptr;
  // The program may convert it in separate operations.
  while (!factor.converts && operand->kind == Operand::Intermediate) {
    const Node &node = model.nodeOf(*operand);
    if (node.reduction || !node.reads.empty() || node.inputs.size() != 1)
      return nullptr;
    operand = &node.inputs.front();
    if (!node.body)
      continue;
    return isWidened(node.body->getTerminator()->getOperand(0)) && operand->elementType.isBF16() ? operand : nullptr;
  }
  return nullptr;
}

bool AttentionEmitter::usesUnit() const {
  return llvm::any_of(sources, [](const Source &source) { return source.inUnit; }) ||
         llvm::any_of(products, [](const Product &product) { return product.inUnit; });
}

void AttentionEmitter::chooseUnit() {
  if (!target.amxBf16 || !type.isF32() || lanes != matrix::kRows || model.product(rowAtoms) < fusion::kMinMatrixUnitRows)
    return;
  for (Source &source : sources)
    source.inUnit = narrowOf(source.query) && narrowOf(source.keys);
  for (Product &product : products) {
    product.inUnit = !product.isSumOfRows && narrowOf(product.values);
    product.parts = narrowOf(product.weights) ? 1 : 3;
  }
}

/// Packs the operand for all indices `depth` and `column` as consecutive panels [depth / 2][kUnitColumns][2].
void AttentionEmitter::packPairs(PointEvaluator &unit, const Operand &operand, int column, int depth, Value memory) {
  int64_t columns = model.atomSizes[column], steps = model.atomSizes[depth], padded = llvm::alignTo(steps, kUnitDepth);
  bool isTransposed = !isContiguous(operand, column) && isContiguous(operand, depth);
  PointEvaluator at = unit;
  at.enter(at.block());
  for (int atom : rowOrder) // indices along which heads are repeated
    at.bindIndex(atom, at.constant(0));
  auto orZero = [](PointEvaluator &point, Value exists, Value value) {
    OpBuilder b = point.builder();
    Value zero = point.number(cast<TypedAttr>(b.getZeroAttr(value.getType())));
    return arith::SelectOp::create(b, point.loc(), exists, value, zero).getResult();
  };
  auto read = [&](PointEvaluator &point) {
    Value value = point.evaluateVector(operand);
    return point.laneMask() ? orZero(point, point.laneMask(), value) : value;
  };
  scf::ForOp panels = openLoop(at, at.constant(0), at.constant(columns), kUnitColumns);
  at.enterLoop(panels);
  Value first = panels.getInductionVar(), base = at.mulConstant(first, padded);
  scf::ForOp loop = openLoop(at, at.constant(0), at.constant(padded), isTransposed ? kUnitDepth : 2);
  at.enterLoop(loop);
  Value begin = loop.getInductionVar(), to = at.add(base, at.mulConstant(begin, kUnitColumns));
  auto store = [&](PointEvaluator &point, Value vector, Value address, int64_t offset) {
    Value place = point.addConstant(address, offset);
    OpBuilder b = point.builder();
    vector::StoreOp::create(b, point.loc(), vector, memory, ValueRange{place});
  };
  if (!isTransposed) {
    for (int64_t v = 0; v < kUnitColumns; v += lanes) {
      Value rows[2];
      for (int64_t row = 0; row < 2; ++row) {
        PointEvaluator one = at;
        one.enter(at.block());
        Value index = one.addConstant(begin, row), exists;
        if (steps % kUnitDepth) {
          OpBuilder b = one.builder();
          exists = arith::CmpIOp::create(b, one.loc(), arith::CmpIPredicate::ult, index, one.constant(steps));
          index = arith::MinUIOp::create(b, one.loc(), index, one.constant(steps - 1));
        }
        one.bindIndex(depth, index);
        bindLanes(one, column, one.addConstant(first, v), kUnitColumns);
        rows[row] = read(one);
        if (exists)
          rows[row] = orZero(one, exists, rows[row]);
      }
      OpBuilder b = at.builder();
      store(at, vector::InterleaveOp::create(b, at.loc(), rows[0], rows[1]), to, 2 * v);
    }
    at.leave();
    at.leave();
    return;
  }
  scf::ForOp inner = openLoop(at, at.constant(0), at.constant(kUnitColumns), lanes);
  at.enterLoop(inner);
  SmallVector<Value> pairs;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value index = at.addConstant(at.add(first, inner.getInductionVar()), lane);
    if (columns % kUnitColumns) {
      OpBuilder b = at.builder();
      index = arith::MinUIOp::create(b, at.loc(), index, at.constant(columns - 1));
    }
    Value halves[2];
    for (int64_t half = 0; half < 2; ++half) {
      PointEvaluator one = at;
      one.enter(at.block());
      one.bindIndex(column, index);
      bindLanes(one, depth, one.addConstant(begin, half * lanes), kUnitDepth);
      halves[half] = read(one);
    }
    SmallVector<int64_t> order(kUnitDepth);
    std::iota(order.begin(), order.end(), 0);
    OpBuilder b = at.builder();
    Value both = vector::ShuffleOp::create(b, at.loc(), halves[0], halves[1], order);
    pairs.push_back(vector::BitCastOp::create(b, at.loc(), at.vectorOf(b.getI32Type()), both));
  }
  OpBuilder b = at.builder();
  transposeInRegisters(b, at.loc(), pairs);
  Value place = at.add(to, at.mulConstant(inner.getInductionVar(), 2));
  for (auto [row, value] : llvm::enumerate(pairs)) {
    b = at.builder();
    Value narrow = vector::BitCastOp::create(b, at.loc(), VectorType::get({2 * lanes}, b.getBF16Type()), value);
    store(at, narrow, place, int64_t(row) * 2 * kUnitColumns);
  }
  for (int loops = 0; loops < 3; ++loops)
    at.leave();
}

/// Packs rows [rowBegin, rowBegin + rows) of the operand, contiguous along `atom`, with zeros to a whole step.
void AttentionEmitter::packNarrowRows(PointEvaluator &tile, Value rowBegin, Value rows, const Operand &operand, int atom, const Matrix &to) {
  int64_t size = model.atomSizes[atom], padded = llvm::alignTo(size, kUnitDepth);
  PointEvaluator at = tile;
  scf::ForOp loop = openLoop(at, at.constant(0), rows, 1);
  at.enterLoop(loop);
  bindLinear(at, at.add(rowBegin, loop.getInductionVar()), rowOrder);
  Value base = at.mulConstant(loop.getInductionVar(), to.stride);
  for (int64_t step = 0; step < padded; step += lanes) {
    PointEvaluator one = at;
    one.enter(at.block());
    OpBuilder b = one.builder();
    Value vector = one.number(cast<TypedAttr>(b.getZeroAttr(one.vectorOf(b.getBF16Type()))));
    if (step < size) {
      bindLanes(one, atom, one.constant(step), lanes);
      Value read = one.evaluateVector(operand);
      b = one.builder();
      vector = one.laneMask() ? arith::SelectOp::create(b, one.loc(), one.laneMask(), read, vector).getResult() : read;
    }
    Value address = one.addConstant(base, step);
    b = one.builder();
    vector::StoreOp::create(b, one.loc(), vector, to.memory, ValueRange{address});
  }
  at.leave();
}

/// Splits a tile's weights into parts, each with the next eight bits of the significand; stores zeros after the last key.
void AttentionEmitter::narrowWeights(PointEvaluator &tile, Value rows, const Product &product) {
  const Matrix &from = slots[product.slot], &to = product.narrowWeights;
  int64_t length = model.atomSizes[n], padded = llvm::alignTo(length, kUnitDepth);
  PointEvaluator at = tile;
  scf::ForOp loop = openLoop(at, at.constant(0), rows, 1);
  at.enterLoop(loop);
  Value fromRow = at.mulConstant(loop.getInductionVar(), from.stride), toRow = at.mulConstant(loop.getInductionVar(), to.stride);
  scf::ForOp along = openLoop(at, at.constant(0), keysEnd, kUnitDepth);
  at.enterLoop(along);
  Location loc = at.loc();
  for (int64_t half = 0; half < kUnitDepth; half += lanes) {
    Value key = at.addConstant(along.getInductionVar(), half), source = at.add(fromRow, key), place = at.add(toRow, key);
    OpBuilder b = at.builder();
    auto numbers = at.vectorOf(type), words = at.vectorOf(b.getI32Type()), halves = at.vectorOf(b.getI16Type());
    Value zero = at.number(cast<TypedAttr>(b.getZeroAttr(numbers)));
    Value weight = vector::LoadOp::create(b, loc, numbers, from.memory, ValueRange{source});
    if (length % kUnitDepth) {
      Value left = arith::SubIOp::create(b, loc, at.constant(length), key);
      left = arith::MaxSIOp::create(b, loc, left, at.constant(0));
      Value exists = vector::CreateMaskOp::create(b, loc, at.vectorOf(b.getI1Type()), ValueRange{left});
      weight = arith::SelectOp::create(b, loc, exists, weight, zero);
    }
    for (int64_t part = 0; part < product.parts; ++part) {
      Value address = at.addConstant(place, part * padded);
      b = at.builder();
      Value bits = vector::BitCastOp::create(b, loc, words, weight);
      Value high = arith::ShRUIOp::create(b, loc, bits, at.number(DenseElementsAttr::get(words, int32_t(16))));
      Value narrow = vector::BitCastOp::create(b, loc, at.vectorOf(b.getBF16Type()), arith::TruncIOp::create(b, loc, halves, high));
      vector::StoreOp::create(b, loc, narrow, to.memory, ValueRange{address});
      if (part + 1 == product.parts)
        break;
      Value first = arith::AndIOp::create(b, loc, bits, at.number(DenseElementsAttr::get(words, int32_t(0xffff0000))));
      Value rest = arith::SubFOp::create(b, loc, weight, vector::BitCastOp::create(b, loc, numbers, first));
      // The rest of infinity is NaN, which becomes zero.
      Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, rest, zero);
      weight = arith::SelectOp::create(b, loc, isNumber, rest, zero);
    }
  }
  at.leave();
  at.leave();
}

/// Computes c = a * panels for all rows of a tile and columns [0, columnsEnd), over [0, depthEnd) of the `depth` of each panel. a is the sum of
/// `parts` matrices that are `depth` elements apart.
void AttentionEmitter::multiplyInUnit(PointEvaluator &tile, Value rows, const Matrix &a, int64_t parts, Value panels, Value columnsEnd, Value depthEnd,
                                      int64_t depth, const Matrix &c) {
  // Fact: registers of a tile's rows.
  constexpr int64_t kTiles = kUnitRows / matrix::kRows;
  // Fact: registers of a tile's columns.
  constexpr int64_t kVectors = kUnitColumns / matrix::kRows;
  // Fact: the first register of the left operand, after the sums.
  constexpr int64_t kFirstOfA = kTiles * kVectors;
  // Fact: the first register of the right operand.
  constexpr int64_t kFirstOfB = kFirstOfA + kTiles;
  PointEvaluator at = tile;
  scf::ForOp columns = openLoop(at, at.constant(0), columnsEnd, kUnitColumns);
  at.enterLoop(columns);
  Value column = columns.getInductionVar(), panelBase = at.mulConstant(column, depth);
  scf::ForOp loop = openLoop(at, at.constant(0), rows, kUnitRows);
  at.enterLoop(loop);
  Value row = loop.getInductionVar(), aBase = at.mulConstant(row, a.stride), cBase = at.add(at.mulConstant(row, c.stride), column);
  for (int64_t sum = 0; sum < kTiles * kVectors; ++sum)
    matrix::clear(at, sum);
  scf::ForOp terms = openLoop(at, at.constant(0), depthEnd, kUnitDepth);
  PointEvaluator in = at;
  in.enterLoop(terms);
  Value term = terms.getInductionVar(), fromA = in.add(aBase, term), fromB = in.add(panelBase, in.mulConstant(term, kUnitColumns));
  for (int64_t v = 0; v < kVectors; ++v)
    matrix::move(in, matrix::Move::Load, kFirstOfB + v, panels, in.addConstant(fromB, v * 2 * matrix::kRows), 2 * kUnitColumns);
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t r = 0; r < kTiles; ++r) {
      matrix::move(in, matrix::Move::Load, kFirstOfA + r, a.memory, in.addConstant(fromA, part * depth + r * matrix::kRows * a.stride), a.stride);
      for (int64_t v = 0; v < kVectors; ++v)
        matrix::multiply(in, "tdpbf16ps", r * kVectors + v, kFirstOfA + r, kFirstOfB + v);
    }
  in.leave();
  for (int64_t r = 0; r < kTiles; ++r)
    for (int64_t v = 0; v < kVectors; ++v)
      matrix::move(at, matrix::Move::Store, r * kVectors + v, c.memory, at.addConstant(cBase, r * matrix::kRows * c.stride + v * matrix::kRows), c.stride);
  at.leave();
  at.leave();
}

} // namespace millrace::lowering::attention
