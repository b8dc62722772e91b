// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contraction.cpp - Emit contractions --------------------------------===//
// Input:   c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n], each of batch, m, n, k any number of atoms in
//          any order in memory; elementwise producers of a and b, elementwise consumers of c.
// Output:  an iteration is one unit: a block of rows m and a group of panels of NR columns n. For each block of k: pack
//          the rows of a if they cannot be read in place, and for each panel pack b as [k][NR]; then for MR rows at a
//          time accumulate MR x NR/lanes vectors over k in registers. After the last block of k the consumers are
//          evaluated on the accumulators and the outputs are stored; before, partial sums wait in scratch.
//          The last rows overlap (a row may be computed twice by one tile, with the same result); the last columns are masked.
//          All operands of consumers are read before the tile is stored, once: a result may share the memory of such an operand.
// bf16 operands and f32 sums on processors with vdpbf16ps: b is packed in pairs of k, [k/2][NR][2], and one instruction adds two products per lane
// (subnormal operands count as 0).
// The same packing, or quadruples of 8-bit integers, is used for AMX (MatrixTile.cpp), and for the instructions that processors have for products of
// bytes (GroupedProducts.h): exact sums of any number of products.
// Leaves alone: what ContractionPlan refuses.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/ContractionEmitter.h"
#include "lowering/cpu/emitters/contraction/FewRows.h"
#include "lowering/cpu/emitters/FloatControl.h"
#include "lowering/cpu/emitters/contraction/MatrixUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace millrace::lowering {

/// Subnormal operands and sums are flushed to zero: an untrained network may have nothing else, and would take a hundred times as long. Computation
/// before and after the products, short runs of products, and f64 keep them; products of bf16 never see them. The flushed loops only multiply and
/// add: operands that are read in place are not converted there. The decision does not depend on threads.
bool ContractionEmitter::flushes() const {
  // A shorter run of products keeps subnormals: in its few thousand cycles the two changes of the control word would count. Unit: multiply-adds of
  // vectors. Source: judgement, not measured alone; commit 4b6841b has the figures of the whole change.
  constexpr int64_t kMinFlushedVectors = 9216;
  // The assumed register tile, for the length of that run. Unit: vectors of sums. Source: judgement, not measured alone; commit 4b6841b has the
  // figures of the whole change.
  constexpr int64_t kVectorsOfTile = 48;
  // The assumed panel, for the length of that run. Unit: vectors. Source: judgement, not measured alone; commit 4b6841b has the figures of the whole
  // change.
  constexpr int64_t kVectorsOfPanel = 4;
  // Rows between two changes of the control word where consumers follow. Unit: rows. Source: judgement, not measured alone; commit 4b6841b has the
  // figures of the whole change.
  constexpr int64_t kRowsOfStretch = 48;
  if (!target.avx512 || !accType.isF32() || group > 1)
    return false;
  int64_t rows = model.product(mAtoms), columns = llvm::divideCeil(model.product(nAtoms), tile.lanes);
  int64_t stretch = std::min(rows * columns, kVectorsOfTile);
  if (onlyStores()) // all rows of a panel, which is narrow where several sums share it
    stretch = std::min(rows, kRowsOfStretch) * (siblings.empty() ? std::min(columns, kVectorsOfPanel) : sums());
  return stretch * model.product(kAtoms) >= kMinFlushedVectors;
}

/// Emits all contractions of the chunk's rows in a panel, one after another, and then their consumers.
void ContractionEmitter::emitSiblings(PointEvaluator &panel, llvm::function_ref<void()> emitAllTiles, Value chunkEnd) {
  Sibling own{node, products, a, b, kAtoms, kInner};
  auto use = [&](const Sibling &which) {
    node = which.node;
    products = which.products;
    a = which.a;
    b = which.b;
    kAtoms = which.kAtoms;
    kInner = which.kInner;
  };
  if (floatControl)
    flushSubnormals(panel, floatControl);
  emitAllTiles();
  for (const Sibling &other : siblings) {
    ++sibling;
    use(other);
    emitAllTiles();
  }
  use(own);
  if (floatControl)
    keepSubnormals(panel, floatControl);
  OpBuilder builder = panel.builder();
  Value count = arith::SubIOp::create(builder, panel.loc(), chunkEnd, chunkBegin);
  finishRows(panel, chunkBegin, panel.constant(0), count, columnBegin);
}

/// Enters a block of k.
void ContractionEmitter::bindBlock(PointEvaluator &at, Value block) {
  auto divide = [&](Value value, int64_t by, Value &rest) {
    OpBuilder builder = at.builder();
    rest = arith::RemUIOp::create(builder, at.loc(), value, at.constant(by));
    return arith::DivUIOp::create(builder, at.loc(), value, at.constant(by)).getResult();
  };
  Value chunk, part;
  Value outerK = divide(divide(block, tile.kChunks, chunk), tile.splits, part);
  bindLinear(at, outerK, kOuter);
  splitBegin = at.mulConstant(part, tile.splitLength);
  if (tile.kChunks == 1)
    return;
  int64_t size = model.atomSizes[kInner];
  kBegin = at.mulConstant(chunk, tile.kc);
  kEnd = at.addConstant(kBegin, tile.kc);
  if (size % tile.kc) {
    OpBuilder builder = at.builder();
    kEnd = arith::MinUIOp::create(builder, at.loc(), kEnd, at.constant(size));
  }
}

/// Takes scratch for the packed rows of a chunk, and sets their strides.
void ContractionEmitter::takePackedRows(Scratch &scratch) {
  int64_t lanes = tile.lanes;
  if (a.lane == kInner) {
    aRowStride = llvm::alignTo(packedK, lanes) + lanes;
    aKStride = 1;
    if (matrixUnit) {
      // The stride is an odd number of whole cache lines.
      int64_t line = target.lineBytes * 8 / packType.getIntOrFloatBitWidth();
      aRowStride = (llvm::divideCeil(packedK, line) | 1) * line;
    }
    packedA = scratch.take(packTypeOfA(), tile.chunkRows * aRowStride + lanes);
  } else {
    aRowStride = 1;
    // With an odd number of cache lines, consecutive k of a tile are in different cache sets.
    int64_t line = target.lineBytes * 8 / packType.getIntOrFloatBitWidth();
    aKStride = llvm::alignTo(tile.chunkRows, line);
    if (aKStride / line % 2 == 0 && packedK > 1)
      aKStride += line;
    packedA = scratch.take(packType, (packedK + 1) * aKStride + lanes);
  }
}

/// Emits the rows from `begin` to `end` of a panel, `mr` at a time.
void ContractionEmitter::emitTiles(PointEvaluator &at, const PanelTiles &of, Value begin, Value end, int64_t mr, int64_t tilesBefore) {
  if (flushesRows())
    flushSubnormals(at, floatControl);
  scf::ForOp rowLoop = openLoop(at, begin, end, mr);
  at.enterLoop(rowLoop);
  if (tile.ahead) {
    OpBuilder builder = at.builder();
    Value ofPanel = arith::SubIOp::create(builder, at.loc(), of.panel, of.packedBegin);
    Value ofRows = arith::SubIOp::create(builder, at.loc(), rowLoop.getInductionVar(), begin);
    ofRows = arith::DivUIOp::create(builder, at.loc(), ofRows, at.constant(mr));
    Value number = arith::MulIOp::create(builder, at.loc(), ofPanel, of.tilesOfPanel);
    packAhead(at, at.addConstant(at.add(number, ofRows), tilesBefore));
  }
  if (matrixUnit)
    emitMatrixTile(at, begin, rowLoop.getInductionVar(), of.isFirst, of.isLast);
  else
    emitTile(at, mr, rowLoop.getInductionVar(), of.isFirst, of.isLast);
  at.leave();
  if (flushesRows())
    keepSubnormals(at, floatControl);
  if (matrixUnit && finishedPerStep())
    finishLast(at, begin, end, of.isLast);
}

/// Emits the tiles of as many rows as are needed in a panel: whole ones, then smaller ones, and single rows where no other row may be touched.
void ContractionEmitter::emitNeededTiles(PointEvaluator &at, const PanelTiles &of) {
  // Chunks begin at whole tiles, so that what is left divides the rows of the contraction for each row of the program.
  SmallVector<int64_t> sizes{tile.mr};
  if (tailRows() < tile.mr && productRows() % tile.mr != 0)
    sizes.push_back(tailRows());
  if (hasExactRows() && productRows() % sizes.back() != 0)
    sizes.push_back(1);
  Value begin = chunkBegin;
  for (auto [number, size] : llvm::enumerate(sizes)) {
    Value end = of.chunkEnd;
    if (number + 1 < sizes.size()) {
      OpBuilder builder = at.builder();
      Value count = arith::SubIOp::create(builder, at.loc(), end, begin);
      Value whole = arith::DivUIOp::create(builder, at.loc(), count, at.constant(size));
      end = at.add(begin, at.mulConstant(whole, size));
    }
    emitTiles(at, of, begin, end, size);
    begin = end;
  }
}

/// Emits all tiles of the chunk's rows in a panel.
void ContractionEmitter::emitPanelTiles(PointEvaluator &at, const PanelTiles &of) {
  auto emitAllTiles = [&] {
    if (neededRows) {
      emitNeededTiles(at, of);
      return;
    }
    if (tile.shortTiles == 0) {
      emitTiles(at, of, chunkBegin, of.chunkEnd, tile.mr);
      return;
    }
    int64_t before = rows() - tile.shortTiles * (tile.mr - 1);
    if (before)
      emitTiles(at, of, at.constant(0), at.constant(before), tile.mr);
    emitTiles(at, of, at.constant(before), at.constant(rows()), tile.mr - 1, before / tile.mr);
  };
  int64_t ofLast = lastVectors();
  if (!siblings.empty()) {
    emitSiblings(at, emitAllTiles, of.chunkEnd);
  } else if (ofLast == tile.nv) {
    emitAllTiles();
  } else {
    OpBuilder builder = at.builder();
    Value isLastPanel = arith::CmpIOp::create(builder, at.loc(), arith::CmpIPredicate::eq, of.panel, at.constant(tile.panels - 1));
    auto branch = scf::IfOp::create(builder, at.loc(), isLastPanel, /*withElseRegion=*/true);
    for (bool narrow : {true, false}) {
      at.enterRegion(branch, narrow ? branch.thenBlock() : branch.elseBlock());
      vectors = narrow ? ofLast : tile.nv;
      emitAllTiles();
      at.leave();
    }
    vectors = tile.nv;
  }
}

/// Enters the loop over the parts of a block of k, if there are several; the first and last of all are then the first of the first block and the last
/// of the last one.
void ContractionEmitter::enterPart(PointEvaluator &at, Value &isFirst, Value &isLast) {
  partBegin = at.constant(0);
  partEnd = at.constant(packedK);
  if (tile.parts <= 1)
    return;
  scf::ForOp parts = openLoop(at, at.constant(0), at.constant(tile.parts), 1);
  at.enterLoop(parts);
  partBegin = at.mulConstant(parts.getInductionVar(), partK());
  partEnd = at.addConstant(partBegin, partK());
  OpBuilder builder = at.builder();
  auto isPart = [&](int64_t number, Value &isBlock) {
    Value is = arith::CmpIOp::create(builder, at.loc(), arith::CmpIPredicate::eq, parts.getInductionVar(), at.constant(number));
    isBlock = isBlock ? arith::AndIOp::create(builder, at.loc(), isBlock, is).getResult() : is;
  };
  isPart(0, isFirst);
  isPart(tile.parts - 1, isLast);
}

/// Sets `neededRows` where the number of rows is known at run time, and returns that number.
Value ContractionEmitter::countNeededRows(PointEvaluator &at) {
  if (!hasOpenRows())
    return {};
  Value openRows = rowsToCome(shell);
  OpBuilder builder = at.builder();
  neededRows = at.mulConstant(openRows, productRows());
  if (!hasExactRows()) {
    Value tails = arith::CeilDivUIOp::create(builder, at.loc(), neededRows, at.constant(tailRows()));
    neededRows = at.mulConstant(tails, tailRows());
  }
  builder = at.builder();
  neededRows = arith::MinUIOp::create(builder, at.loc(), neededRows, at.constant(rows()));
  return openRows;
}

/// Returns the end of a unit's rows where only `neededRows` exist; enters a branch around units beyond them.
Value ContractionEmitter::endOfNeededRows(PointEvaluator &at, Value rowEnd) {
  if (!neededRows)
    return rowEnd;
  OpBuilder builder = at.builder();
  if (tile.mBlocks > 1 && !rowsAreRange()) {
    Value isNeeded = arith::CmpIOp::create(builder, at.loc(), arith::CmpIPredicate::ult, rowBegin, neededRows);
    auto branch = scf::IfOp::create(builder, at.loc(), isNeeded, /*withElseRegion=*/false);
    at.enterRegion(branch, branch.thenBlock());
    builder = at.builder();
  }
  return arith::MinUIOp::create(builder, at.loc(), rowEnd, neededRows);
}

bool ContractionEmitter::emit() {
  shell = createShell(kernel, model);
  vectors = tile.nv;
  Scratch scratch(shell);
  int64_t lanes = tile.lanes;
  int64_t kBlocks = this->kBlocks();
  if (a.packed)
    takePackedRows(scratch);
  if (b.packed && !hasPanels())
    packedB = scratch.take(packType, (tile.ahead ? 2 : 1) * tile.packedPanels * panelElements() + std::max<int64_t>(2, group) * lanes * tile.nr());
  if (grouped.flips())
    corrections = scratch.take(accType, tile.chunkRows);
  if (kBlocks > 1)
    partials = scratch.take(accType, tile.blockRows * tile.groupPanels * tile.nr());
  else if (tile.parts > 1)
    partials = scratch.take(accType, tile.chunkRows * tile.nr());
  // Consumers with expensive functions read the sums from memory; for cheaper ones registers are faster (2 % of ResNet-50).
  if (!siblings.empty())
    finished = scratch.take(accType, sums() * sumElements());
  else if (matrixUnit || (tile.mr > 2 && consumerCost() >= 24))
    finished = scratch.take(accType, tile.mr * tile.nr());
  if (flushes())
    floatControl = scratch.take(IntegerType::get(kernel.getContext(), 32), kFloatControlWords);
  Value format = matrixUnit ? scratch.take(IntegerType::get(kernel.getContext(), 8), 64) : Value();
  scratchBytes = scratch.bytes();
  chooseStreams();

  PointEvaluator at(model, target, shell, lanes);
  if (hasPanels())
    packedB = at.buffer(panelsBuffer);
  if (matrixUnit)
    matrix::configure(at, format);
  if (floatControl)
    saveFloatControl(at, floatControl);
  Value openRows = countNeededRows(at);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  at.bindTask();
  auto divide = [&](Value value, int64_t by, Value &rest) {
    rest = at.constant(0);
    if (by == 1)
      return value;
    Value divisor = at.constant(by);
    OpBuilder builder = at.builder();
    rest = arith::RemUIOp::create(builder, at.loc(), value, divisor);
    return arith::DivUIOp::create(builder, at.loc(), value, divisor).getResult();
  };
  auto capped = [&](PointEvaluator &where, Value value, int64_t size, bool exact) {
    if (exact)
      return value;
    OpBuilder builder = where.builder();
    return arith::MinUIOp::create(builder, where.loc(), value, where.constant(size)).getResult();
  };
  Value mBlock, group;
  Value unit = divide(loop.getInductionVar(), tile.mBlocks, mBlock);
  unit = divide(unit, tile.groups, group);
  SmallVector<int> outer = batchOrder;
  outer.append(nOuter);
  bindLinear(at, unit, outer);
  rowBegin = at.mulConstant(mBlock, tile.blockRows);
  Value rowEnd = capped(at, at.addConstant(rowBegin, tile.blockRows), rows(), rows() % tile.blockRows == 0);
  rowEnd = endOfNeededRows(at, rowEnd);
  Value firstPanel = at.mulConstant(group, tile.groupPanels);
  Value panelEnd =
      capped(at, at.addConstant(firstPanel, tile.groupPanels), tile.panels, tile.panels % tile.groupPanels == 0);

  // Blocks of k.
  kBegin = at.constant(0);
  kEnd = at.constant(kInner < 0 ? 1 : model.atomSizes[kInner]);
  Value isFirst, isLast;
  if (kBlocks > 1) {
    scf::ForOp kLoop = openLoop(at, at.constant(0), at.constant(kBlocks), 1);
    at.enterLoop(kLoop);
    kBlock = kLoop.getInductionVar();
    OpBuilder builder = at.builder();
    isFirst = arith::CmpIOp::create(builder, at.loc(), arith::CmpIPredicate::eq, kBlock, at.constant(0));
    isLast = arith::CmpIOp::create(builder, at.loc(), arith::CmpIPredicate::eq, kBlock, at.constant(kBlocks - 1));
    bindBlock(at, kBlock);
  }
  packedBuffer = at.constant(0);
  bool inChunks = tile.chunkRows < tile.blockRows;
  const bool packsB = b.packed && !hasPanels();
  if (packsB && inChunks)
    packManyPanels(at, firstPanel, panelEnd, tile.groupPanels, firstPanel, firstPanel);
  chunkBegin = rowBegin;
  Value chunkEnd = rowEnd;
  if (inChunks) {
    scf::ForOp chunks = openLoop(at, rowBegin, rowEnd, tile.chunkRows);
    at.enterLoop(chunks);
    chunkBegin = chunks.getInductionVar();
    OpBuilder builder = at.builder();
    chunkEnd = arith::MinUIOp::create(builder, at.loc(), at.addConstant(chunkBegin, tile.chunkRows), rowEnd);
  }
  if (a.packed || corrections)
    packRows(at, chunkBegin, chunkEnd);
  Value packedBegin = firstPanel, packedEnd = panelEnd, firstPacked = firstPanel, tilesOfPanel;
  if (tile.ahead) {
    OpBuilder builder = at.builder();
    Value rowsHere = arith::SubIOp::create(builder, at.loc(), rowEnd, rowBegin);
    tilesOfPanel = arith::CeilDivUIOp::create(builder, at.loc(), rowsHere, at.constant(tile.mr));
    // The first panels are packed before the first multiplication.
    PointEvaluator first = at;
    if (isFirst) {
      auto branch = scf::IfOp::create(builder, at.loc(), isFirst, /*withElseRegion=*/false);
      first.enterRegion(branch, branch.thenBlock());
    } else {
      first.enter(at.block());
    }
    packManyPanels(first, firstPanel, first.addConstant(firstPanel, tile.packedPanels), tile.packedPanels, firstPanel, firstPanel);
    first.leave();
  }
  if (!inChunks && tile.packedPanels > 1) {
    // The last panels are packed together with some earlier ones.
    scf::ForOp some = openLoop(at, firstPanel, panelEnd, tile.packedPanels);
    at.enterLoop(some);
    packedBegin = firstPacked = some.getInductionVar();
    packedEnd = at.addConstant(packedBegin, tile.packedPanels);
    if (tile.panels % tile.groupPanels || tile.groupPanels % tile.packedPanels) {
      OpBuilder builder = at.builder();
      packedEnd = arith::MinUIOp::create(builder, at.loc(), packedEnd, panelEnd);
      firstPacked = arith::SubIOp::create(builder, at.loc(), packedEnd, at.constant(tile.packedPanels));
    }
    if (tile.ahead)
      choosePanelsAhead(at, packedBegin, packedEnd, firstPanel, panelEnd, tilesOfPanel);
    else
      packManyPanels(at, firstPacked, packedEnd, tile.packedPanels, firstPanel, firstPacked);
  }
  scf::ForOp panelLoop = openLoop(at, packedBegin, packedEnd, 1);
  at.enterLoop(panelLoop);
  enterPanel(at, panelLoop.getInductionVar(), firstPanel, firstPacked);
  if (packsB && !inChunks && tile.packedPanels == 1) {
    if (runs)
      packRuns(at, columnBegin);
    else
      packPanels(at, columnBegin);
  }
  enterPart(at, isFirst, isLast);
  emitPanelTiles(at, {panelLoop.getInductionVar(), packedBegin, tilesOfPanel, chunkEnd, isFirst, isLast});
  if (matrixUnit)
    matrix::release(shell);
  if (openRows)
    takeRows(shell, openRows);
  return !at.broken();
}

FailureOr<EmittedKernel> ContractionEmitter::run() {
  if (failed(make()))
    return refuse(kernel, "contraction", why);
  bool isWhole = emit();
  FailureOr<EmittedKernel> out = conclude(kernel, shell, "contraction", isWhole);
  if (failed(out))
    return failure();
  out->rangeEnd = model.product(outerAtoms()) * tile.groups * tile.mBlocks;
  out->takesRows = hasOpenRows();
  if (!out->takesRows)
    out->rows = rowRange(model, batchOrder, out->rangeEnd);
  else if (rowsAreRange())
    out->rows = {productRows(), tile.blockRows, 1};
  out->rows.isExact = out->takesRows ? hasExactRows() : out->rows.isExact;
  out->scratchBytesPerTask = scratchBytes;
  double products = double(sums()) * double(model.product(node->iteration)) / out->rangeEnd;
  // Large operands of short sums come from the last-level cache at best.
  double bytes = model.totalBytes() / out->rangeEnd;
  out->nanosPerIteration = std::max(products / (productsPerCycle() * target.gigahertz * 0.9), bytes / target.farBytesPerNanosecond);
  return out;
}

FailureOr<EmittedKernel> emitContraction(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<KernelModel> model = modelFor(fn, "contraction");
  if (failed(model))
    return failure();
  if (!model->hasComputedReads())
    if (FailureOr<EmittedKernel> kernel = emitFewRows(fn, *model, target); succeeded(kernel))
      return kernel;
  return ContractionEmitter(fn, *model, target).run();
}

std::optional<fusion::PanelLayout> panelsOfContraction(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<KernelModel> model = modelFor(fn, "contraction");
  if (failed(model))
    return std::nullopt;
  if (!model->hasComputedReads())
    if (FailureOr<EmittedKernel> kernel = emitFewRows(fn, *model, target); succeeded(kernel)) {
      kernel->fn.erase();
      return std::nullopt;
    }
  ContractionPlan plan(fn, *model, target);
  return succeeded(plan.make()) ? plan.panelLayout() : std::nullopt;
}

} // namespace millrace::lowering
