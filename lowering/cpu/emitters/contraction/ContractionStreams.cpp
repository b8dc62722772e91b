// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionStreams.cpp - Prefetch what consumers read and store ----===//
// Input:   a contraction whose consumers read other buffers element by element and store one or more results, more than the caches of the cores hold:
//          a weight's gradient, and the step of an optimizer that follows it.
// Output:  while a tile is multiplied, a line of each of these buffers is prefetched per step of k: the lines of the tile's rows, which are all on
//          other pages, so that hardware prefetchers do not find them.
// Leaves alone: blocks of k with partial sums (their products take much longer than what consumers wait for), AMX, rows that are not equally far
//          apart, short sums, which have no time to prefetch.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/ContractionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace millrace::lowering {

/// A step of the loop over k has no more of them where consumers' data is prefetched. Unit: k. Source: judgement, not measured alone.
static constexpr int64_t kMaxStepK = 4;

/// Adds the buffer of `access` to the streams if all of a tile's rows are equally far apart in it, as in those that are there already.
void ContractionEmitter::addStream(const Access &access, bool isStored) {
  const LinearExpr &address = access.address;
  int64_t stride = address.coefficient(mOrder.back());
  if (!access.guards.empty() || address.coefficient(nLane) != 1 || stride == 0 ||
      !model.bufferTypes[access.buffer].isIntOrFloat() ||
      model.bufferTypes[access.buffer].getIntOrFloatBitWidth() != accType.getIntOrFloatBitWidth())
    return;
  for (Stream &stream : streams.of)
    if (stream.access->buffer == access.buffer) {
      stream.isStored |= isStored;
      return;
    }
  if (!streams.of.empty() && stride != streams.rowStride)
    return;
  streams.rowStride = stride;
  streams.of.push_back({&access, isStored, {}});
}

/// Chooses the buffers that are prefetched, and after how many k a line follows the one before.
void ContractionEmitter::chooseStreams() {
  streams = {};
  if (!target.avx512 || matrixUnit || group > 1 || !siblings.empty() || kBlocks() != 1 || hasOpenRows() || panelAtom >= 0 || mOrder.empty() ||
      !(mOrder.size() == 1 || isStraight(tile.mr)))
    return;
  llvm::SmallPtrSet<const Node *, 8> seen;
  SmallVector<const Operand *> open;
  for (const Output &output : model.outputs) {
    addStream(output.store, /*isStored=*/true);
    open.push_back(&output.value);
  }
  while (!open.empty()) {
    const Operand &operand = *open.pop_back_val();
    if (operand.kind == Operand::Buffer)
      addStream(operand.access, /*isStored=*/false);
    if (operand.kind != Operand::Intermediate)
      continue;
    const Node &consumer = model.nodeOf(operand);
    if (consumer.reduction || !seen.insert(&consumer).second)
      continue;
    for (const Operand &input : consumer.inputs)
      open.push_back(&input);
  }
  int64_t bytes = 0;
  for (const Stream &stream : streams.of)
    bytes += stream.access->numElements * accType.getIntOrFloatBitWidth() / 8;
  // What fits the level 2 caches of the threads is there when it is needed.
  if (bytes <= target.threads * target.l2Bytes) {
    streams = {};
    return;
  }
  int64_t lineElements = target.lineBytes * 8 / accType.getIntOrFloatBitWidth();
  streams.rowLines = static_cast<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(tile.nr(), lineElements)));
  streams.lines = tile.mr * streams.rowLines;
  // The last lines have a quarter of the products' time to arrive.
  int64_t most = packedK * 3 / 4 / streams.lines;
  if (most == 0) {
    streams = {};
    return;
  }
  streams.everyK = int64_t(1) << llvm::Log2_64(most);
  // Several k per step, so that no line is requested more often than needed and indices are computed once for them.
  if (b.packed && kMiddle.empty() && kInner >= 0)
    while (streams.step < std::min(streams.everyK, kMaxStepK) && model.atomSizes[kInner] % (2 * streams.step) == 0)
      streams.step *= 2;
}

/// Finds where the tile with the first row `first` begins in each stream.
void ContractionEmitter::enterStreams(PointEvaluator &first) {
  for (Stream &stream : streams.of) {
    PointEvaluator point = first;
    point.enter(first.block());
    point.bindIndex(nLane, columnBegin);
    stream.begin = point.address(*stream.access);
  }
}

/// Prefetches the lines that are due at the step `packedIndex`. Lines of rows and columns that do not exist, even past the end of a buffer, are harmless.
void ContractionEmitter::prefetchStreams(PointEvaluator &at, Value packedIndex) {
  if (streams.of.empty())
    return;
  Location loc = at.loc();
  OpBuilder builder = at.builder();
  Value number = arith::ShRUIOp::create(builder, loc, packedIndex, at.constant(llvm::Log2_64(streams.everyK)));
  number = arith::MinUIOp::create(builder, loc, number, at.constant(streams.lines - 1));
  Value row = arith::ShRUIOp::create(builder, loc, number, at.constant(llvm::Log2_64(streams.rowLines)));
  Value line = arith::AndIOp::create(builder, loc, number, at.constant(streams.rowLines - 1));
  int64_t lineElements = target.lineBytes * 8 / accType.getIntOrFloatBitWidth();
  Value offset = at.add(at.mulConstant(row, streams.rowStride), at.mulConstant(line, lineElements));
  for (const Stream &stream : streams.of) {
    Value from = at.add(stream.begin, offset);
    builder = at.builder();
    memref::PrefetchOp::create(builder, loc, at.buffer(stream.access->buffer), ValueRange{from}, stream.isStored, /*localityHint=*/3,
                               /*isDataCache=*/true);
  }
}

} // namespace millrace::lowering
