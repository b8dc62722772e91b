// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorTranspose.cpp - Transpose a square of vectors by shuffles ----===//
// log2(n) rounds: round d swaps, for all pairs of vectors i, i + d, the lanes with bit d set of the first with those
// without it of the second.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {

/// LLVM's instruction selection looks through shuffles of shuffles, from each of their results: four rounds of them take a fifth of the time that a
/// contraction's kernel compiles. The rounds up to this distance become one group of instructions; a fence, which is no instruction, keeps the next
/// ones apart from them. As many instructions are selected as without. Unit: lanes: rounds of 1 and 2. Source: commit 46aa831, `python -m
/// benchmarks.tiny_programs`: 24 contractions with a transposed operand compile in 345 ms instead of 437.
static constexpr int64_t kRoundsSeenTogether = 2;

void transposeInRegisters(OpBuilder &builder, Location loc, MutableArrayRef<Value> vectors) {
  int64_t n = vectors.size();
  // Small floats as the integers they are stored as: LLVM takes shuffles of them apart where the processor has no arithmetic on them.
  auto type = cast<VectorType>(vectors.front().getType());
  bool isSmallFloat = isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() < 32;
  VectorType bits = type.clone(builder.getIntegerType(type.getElementTypeBitWidth()));
  auto castAll = [&](VectorType to) {
    if (isSmallFloat)
      for (Value &vector : vectors)
        vector = arith::BitcastOp::create(builder, loc, to, vector);
  };
  castAll(bits);
  for (int64_t d = 1; d < n; d *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < n; ++lane) {
      low.push_back(lane & d ? n + lane - d : lane);
      high.push_back(lane & d ? n + lane : lane + d);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & d)
        continue;
      Value first = vectors[i], second = vectors[i + d];
      vectors[i] = vector::ShuffleOp::create(builder, loc, first, second, low);
      vectors[i + d] = vector::ShuffleOp::create(builder, loc, first, second, high);
    }
    if (d == kRoundsSeenTogether && d * 2 < n && !isSmallFloat && isa<FloatType>(type.getElementType()))
      for (Value &vector : vectors)
        vector = LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr("llvm.arithmetic.fence"), ValueRange{vector}).getResult(0);
  }
  castAll(type);
}

} // namespace millrace::lowering
