// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionPlan.cpp - Plan blocks, panels and register tiles -------===//
// Input:   the model of a kernel.
// Output:  its rows, columns and sums, the register tile, blocks and units (ContractionPlan.h).
// Leaves alone: kernels with another reduction, one row (bound by memory: the row emitter's dot products are as fast),
//          outputs without contiguous m or n.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/ContractionPlan.h"

#include "dialects/millrace/Attributes.h"
#include "lowering/cpu/emitters/EmitterShell.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace millrace::lowering {

/// B is left unpacked when M spans at most this many register tiles. Unit: register tiles of rows. Source: judgement, not measured alone; commit
/// 00707ed has the figures of the whole change.
static constexpr int64_t kUnpackedTiles = 2;

LogicalResult ContractionPlan::match() {
  for (const Node &candidate : model.nodes) {
    if (!candidate.reduction)
      continue;
    if (!candidate.reads.empty()) {
      why = "a reduction of what it reads at computed indices";
      return failure();
    }
    if (node)
      siblings.emplace_back().node = &candidate;
    else
      node = &candidate;
  }
  if (!node) {
    why = "no reduction";
    return failure();
  }
  if (failed(matchSumOfProducts(*node, products, why)))
    return failure();
  static_cast<Factor &>(a) = products.a;
  static_cast<Factor &>(b) = products.b;
  accType = products.accType;
  if (readsComputed(*a.operand) || readsComputed(*b.operand)) {
    why = "a factor at computed indices";
    return failure();
  }
  return success();
}

bool ContractionPlan::readsComputed(const Operand &operand) const {
  if (operand.kind != Operand::Intermediate)
    return false;
  const Node &source = model.nodeOf(operand);
  return !source.reads.empty() || llvm::any_of(source.inputs, [&](const Operand &input) { return readsComputed(input); }) ||
         llvm::any_of(source.captured, [&](const auto &captured) { return readsComputed(captured.second); });
}

/// Matches several contractions with the same rows, in one buffer, and columns in another buffer, at other addresses for each.
LogicalResult ContractionPlan::matchSiblings() {
  if (siblings.empty())
    return success();
  if (a.packed || b.packed || matrixUnit || group != 1 || kBlocks() != 1 || !kMiddle.empty() || kInner < 0) {
    why = "several sums whose factors are not read in place, all k at once";
    return failure();
  }
  auto isLike = [&](const Side &factor, const Factor &other, int k) {
    const Operand &mine = *factor.operand, &its = *other.operand;
    if (its.kind != Operand::Buffer || !its.access.guards.empty() || its.access.buffer != mine.access.buffer || its.elementType != mine.elementType || other.converts)
      return false;
    for (int atom : members(mine.access.address.atoms() | its.access.address.atoms()))
      if (its.access.address.coefficient(atom) != (atom == k ? mine.access.address.coefficient(kInner) : atom == kInner ? 0 : mine.access.address.coefficient(atom)))
        return false;
    return its.access.address.coefficient(k) == mine.access.address.coefficient(kInner);
  };
  for (Sibling &sibling : siblings) {
    if (failed(matchSumOfProducts(*sibling.node, sibling.products, why)))
      return failure();
    sibling.kAtoms = sibling.node->reduced();
    why = "several sums of other k, for other elements, or in other types";
    if (llvm::popcount(sibling.kAtoms) != 1 || sibling.node->kept != node->kept || sibling.products.accType != accType)
      return failure();
    sibling.kInner = members(sibling.kAtoms).front();
    if (model.atomSizes[sibling.kInner] != model.atomSizes[kInner])
      return failure();
    why = "several sums that differ in more than the columns of a factor";
    sibling.a = a;
    sibling.b = b;
    static_cast<Factor &>(sibling.a) = sibling.products.a;
    static_cast<Factor &>(sibling.b) = sibling.products.b;
    if (!isLike(a, sibling.a, sibling.kInner))
      std::swap(static_cast<Factor &>(sibling.a), static_cast<Factor &>(sibling.b));
    if (!isLike(a, sibling.a, sibling.kInner) || !isLike(b, sibling.b, sibling.kInner))
      return failure();
  }
  return success();
}

double ContractionPlan::bytesOf(const Operand &operand, int atom, bool unit) const {
  if (operand.kind == Operand::Buffer) {
    int64_t coefficient = operand.access.address.coefficient(atom);
    return (unit ? coefficient == 1 : coefficient != 0) ? double(operand.access.numElements) : 0;
  }
  if (operand.kind != Operand::Intermediate)
    return 0;
  double bytes = 0;
  for (const Operand &input : model.nodeOf(operand).inputs)
    bytes += bytesOf(input, atom, unit);
  return bytes;
}

/// Returns the atom along which most of what the operand reads is contiguous.
int ContractionPlan::contiguousAtom(const Operand &operand, AtomSet candidates) const {
  int best = -1;
  double most = 0;
  for (int atom : members(candidates))
    if (double bytes = bytesOf(operand, atom, true); bytes > most) {
      most = bytes;
      best = atom;
    }
  return best;
}

/// Returns true if the register tile can read the operand in place.
bool ContractionPlan::plainBuffer(const Side &side) const {
  if (side.operand->kind != Operand::Buffer || !side.operand->access.guards.empty())
    return false;
  return group > 1 || (!side.converts && side.operand->elementType == accType);
}

/// Returns true if the operand is in memory as packing would store it.
bool ContractionPlan::isPanel(const Side &side) const {
  const LinearExpr &address = side.operand->access.address;
  return kMiddle.empty() && kInner >= 0 && model.atomSizes[nLane] == tile.nr() && address.coefficient(nLane) == 1 &&
         address.coefficient(kInner) == tile.nr();
}

/// Returns true if consecutive k of a block are a constant distance apart in memory, as among packed ones.
bool ContractionPlan::isFlat(const Side &side) const {
  if (!plainBuffer(side) || kInner < 0 || !isDense())
    return false;
  const LinearExpr &address = side.operand->access.address;
  int64_t distance = address.coefficient(kInner) * model.atomSizes[kInner];
  for (int atom : llvm::reverse(kMiddle)) {
    if (address.coefficient(atom) != distance)
      return false;
    distance *= model.atomSizes[atom];
  }
  return true;
}

/// Returns true if whole rows of b can be packed two k at a time, in the order in which they are read.
bool ContractionPlan::canPackAhead() const {
  return target.avx512 && !matrixUnit && group == 1 && !hasOpenRows() && b.packed && b.lane == nLane && !runs && panelAtom < 0 && isFlat(b) &&
         model.atomSizes[kInner] % 2 == 0 && tile.kc % 2 == 0;
}

/// Packing takes a fifth to half of the time of some dozen rows if nothing overlaps with it, most of it waiting for memory.
bool ContractionPlan::shouldPackAhead(int64_t atOnce) const {
  // With fewer tiles, panels are not packed ahead: there is too little computation to hide it. Unit: register tiles of rows. Source: judgement, not
  // measured alone; commit 216f03c has the figures of the whole change.
  constexpr int64_t kMinTilesAhead = 4;
  // The same for short sums. Unit: k. Source: judgement, not measured alone; commit 216f03c has the figures of the whole change.
  constexpr int64_t kMinKAhead = 64;
  int64_t bytes = model.product(kAtoms) * model.atomSizes[nLane] * packType.getIntOrFloatBitWidth() / 8;
  int64_t last = tile.panels % tile.groupPanels;
  return packedK >= kMinKAhead && bytes >= blockCacheBytes() / 4 && rowTiles() >= kMinTilesAhead && tile.groupPanels >= atOnce &&
         (last == 0 || last >= atOnce) && (tile.groupPanels > atOnce || kBlocks() > 1);
}

/// Chooses the atom of k that is contiguous in a, else in b.
void ContractionPlan::chooseInnermost() {
  int contiguous = contiguousAtom(*a.operand, kAtoms);
  if (contiguous < 0)
    contiguous = contiguousAtom(*b.operand, kAtoms);
  SmallVector<int> order = outermostFirst(model, kAtoms);
  if (contiguous >= 0)
    kInner = contiguous;
  else if (!order.empty())
    kInner = order.back();
}

/// Chooses instructions that multiply narrow operands without widening them.
void ContractionPlan::chooseInstructions() {
  if (kInner < 0 || !isWidened(a, accType) || !isWidened(b, accType) || a.operand->elementType != b.operand->elementType)
    return;
  int64_t size = model.atomSizes[kInner];
  bool floats = accType.isF32();
  int64_t wanted = floats ? 2 : 4;
  if ((floats ? target.amxBf16 : target.amxInt8) && size % fusion::matrixUnitTerms(floats ? 16 : 8) == 0 && fusion::suitsMatrixUnit(rows(), model.atomSizes[nLane])) {
    matrixUnit = true;
    group = wanted;
  } else if (floats && target.fastBf16Pairs && size % 2 == 0) {
    grouped.instruction = GroupedProducts::Instruction::Bf16Pairs;
  } else if (GroupedProducts ofBytes = GroupedProducts::ofBytes(a, b, accType, target); siblings.empty() && 2 * size > ofBytes.group()) {
    // Missing k of the last group are zeros.
    grouped = ofBytes;
  }
  if (!matrixUnit)
    group = grouped.group();
  if (group > 1)
    packType = a.operand->elementType;
}

LogicalResult ContractionPlan::classify() {
  AtomSet inA = model.depends(*a.operand), inB = model.depends(*b.operand), kept = node->kept;
  kAtoms = node->reduced();
  if ((kAtoms & ~(inA & inB)) || (kept & ~(inA | inB))) {
    why = "an index that only one factor or only the result has";
    return failure();
  }
  for (const Output &output : model.outputs)
    if (output.store.address.atoms() != kept) {
      why = "an output with other indices than the sum";
      return failure();
    }
  batch = kept & inA & inB;
  mAtoms = kept & inA & ~inB;
  nAtoms = kept & inB & ~inA;
  auto unitAtom = [&](AtomSet atoms) {
    for (int atom : members(atoms))
      if (model.outputs[0].store.address.coefficient(atom) == 1)
        return atom;
    return -1;
  };
  nLane = unitAtom(nAtoms);
  if (nLane < 0 && (nLane = unitAtom(mAtoms)) >= 0) {
    std::swap(a, b);
    std::swap(mAtoms, nAtoms);
  }
  if (nLane < 0) {
    why = "no index of one factor is contiguous in the output";
    return failure();
  }
  if (rows() == 1) {
    why = "a single row: bandwidth-bound";
    return failure();
  }
  if (model.atomSizes[nLane] * 4 < target.vectorBits / 32 && rows() * model.product(kAtoms) > 64) {
    why = "fewer columns than a quarter of a vector";
    return failure();
  }
  batchOrder = outermostFirst(model, batch);
  mOrder = outermostFirst(model, mAtoms);
  nOuter = outermostFirst(model, nAtoms & ~atomBit(nLane));
  return success();
}

/// Returns how many tiles of `rows` rows have one row less, so that no row is computed twice: this pays if it saves a twentieth.
static int64_t shortTilesOf(int64_t rows, int64_t mr) {
  // Contractions of more rows have no tiles with one row less. Unit: rows. Source: commit 473d7f0, one thread: 16, 32 or 49 rows take 1.08 to 1.17
  // times less time, 128 gained nothing.
  constexpr int64_t kMaxShortTileRows = 160;
  // Short tiles get their own code if they save a twentieth of the rows. Unit: rows for each that is saved. Source: judgement, not measured alone;
  // commit 473d7f0 has the figures of the whole change.
  constexpr int64_t kShortTileShare = 20;
  int64_t missing = llvm::divideCeil(rows, mr) * mr - rows;
  return mr > 2 && rows <= kMaxShortTileRows && missing * kShortTileShare >= rows ? missing : 0;
}

/// Returns the vectors of the last panel that have columns: its own code pays if it saves a twentieth.
static int64_t lastVectorsOf(int64_t columns, int64_t lanes, int64_t nv) {
  // The last panel gets its own code if it saves a twentieth of the vectors. Unit: vectors for each that is saved. Source: judgement, not measured
  // alone; commit 00707ed has the figures of the whole change.
  constexpr int64_t kLastPanelShare = 20;
  int64_t panels = llvm::divideCeil(columns, nv * lanes), vectors = llvm::divideCeil(columns, lanes), missing = panels * nv - vectors;
  return panels > 1 && missing * kLastPanelShare >= vectors ? nv - missing : nv;
}

RegisterTile chooseRegisterTile(int64_t rows, int64_t columns, int64_t lanes, int64_t registers, int64_t threads, bool cutsLast) {
  // With at most so many rows the latency of a multiply-add does not count: they wait for b, which is read once. Unit: rows. Source: commit fceec99:
  // gemm_8x4096x1024 3.1 to 1.75 ms.
  constexpr int64_t kMaxStreamedRows = 12;
  // Half cycles per k, twice: two multiply-adds, two loads, at least the latency of one multiply-add and what hides it: nothing where few rows wait
  // for b, which is read once. There a panel of three vectors would be one and a half cache lines. The first of equally good tiles wins.
  int64_t latency = rows > kMaxStreamedRows ? 9 : 8;
  SmallVector<int64_t> widths = registers == 32 ? SmallVector<int64_t>{3, 4, 2, 1, 5} : SmallVector<int64_t>{2, 1, 3, 4};
  RegisterTile best{1, 1, INT64_MAX};
  for (int64_t nv : widths) {
    int64_t most = (registers - 1 - nv - (registers == 32 ? 2 : 0)) / nv;
    if (registers == 32)
      most = std::min<int64_t>(most, nv == 3 ? 8 : nv == 4 ? 6 : nv == 2 ? 12 : 16);
    int64_t tiles = llvm::divideCeil(rows, most), mr = llvm::divideCeil(rows, tiles);
    // A few panels are best as many as threads can share evenly, counted half, because one thread may have to do all. Unit: panels. Source:
    // judgement, not measured alone; commit 03ca61f has the figures of the whole change.
    constexpr int64_t kMaxSharedPanels = 16;
    // With more rows, threads share the rows instead. Unit: rows. Source: judgement, not measured alone; commit 03ca61f has the figures of the whole
    // change.
    constexpr int64_t kMaxSharedRows = 160;
    int64_t panels = llvm::divideCeil(columns, nv * lanes), shared = panels;
    bool sharesPanels = registers == 32 && panels > 1 && panels <= kMaxSharedPanels && rows <= kMaxSharedRows;
    if (sharesPanels)
      shared = llvm::alignTo(panels, threads);
    // Wide vectors: tiles of less than 24 sums, short ones among them, wait between steps. One of 8x3 instead makes 128x1024x1024 a tenth faster.
    bool wide = registers == 32;
    int64_t shortTiles = wide ? 0 : shortTilesOf(rows, mr);
    auto cyclesOf = [&](int64_t ofRows, int64_t vectors) { return std::max({ofRows * vectors, ofRows + vectors, latency}) + (wide ? 2 : 0); };
    int64_t cycles = ((tiles - shortTiles) * cyclesOf(mr, nv) + (shortTiles ? shortTiles * cyclesOf(mr - 1, nv) : 0)) * (panels + shared);
    // A panel of fewer vectors finishes sooner, which gains nothing if another thread has a whole one at that time.
    if (int64_t last = lastVectorsOf(columns, lanes, nv); cutsLast && last < nv && tiles > kUnpackedTiles)
      cycles -= tiles * (cyclesOf(mr, nv) - cyclesOf(mr, last)) * (sharesPanels && threads > 1 ? 1 : 2);
    if (cycles < best.cycles)
      best = {mr, nv, cycles};
  }
  return best;
}

int64_t choosePanelWidth(int64_t rows, int64_t columns, Type element, const KernelTarget &target) {
  int64_t lanes = target.vectorBits / element.getIntOrFloatBitWidth(), width = 0, least = INT64_MAX;
  for (int64_t nv = 1; nv <= 5; ++nv) {
    if (columns % (nv * lanes))
      continue;
    // The tile is the one of the plan for the columns of one panel.
    RegisterTile tile = chooseRegisterTile(rows, nv * lanes, lanes, target.vectorRegisters, target.threads, /*cutsLast=*/false);
    int64_t cycles = tile.cycles * (columns / (nv * lanes));
    if (tile.nv != nv || cycles >= least)
      continue;
    least = cycles;
    width = nv * lanes;
  }
  return width;
}

void ContractionPlan::chooseTile() {
  tile.lanes = target.vectorBits / accType.getIntOrFloatBitWidth();
  int64_t columns = model.atomSizes[nLane];
  int registers = target.vectorRegisters;
  if (matrixUnit) {
    // There are four registers of sums: each of the two registers of a and of b is used twice.
    tile.mr = rows() > kMatrixRows ? 2 * kMatrixRows : kMatrixRows;
    tile.nv = columns > tile.lanes ? 2 : 1;
  } else {
    RegisterTile best = chooseRegisterTile(rows(), columns, tile.lanes, registers, target.threads, cutsLast());
    tile.mr = best.mr;
    tile.nv = best.nv;
  }
  // With more rows than registers for their addresses, which are half of the general ones, tiles within one run of rows, which share a register, are
  // better.
  const int64_t rowAddresses = target.generalRegisters / 2;
  if (tile.mr > rowAddresses && !mOrder.empty() && !matrixUnit) {
    int64_t run = model.atomSizes[mOrder.back()], mr = tile.mr;
    while (run % mr)
      --mr;
    if (mr >= rowAddresses - 1)
      tile.mr = mr;
  }
  // With an open number of rows no row is computed twice.
  if (hasOpenRows() && !matrixUnit)
    while (rows() % tile.mr)
      --tile.mr;
  // Few rows read b once and in place: wide pieces of its rows suit the prefetcher.
  if (rows() <= tile.mr && !matrixUnit && plainBuffer(b) && b.operand->access.address.coefficient(nLane) == 1) {
    int64_t widest = std::min<int64_t>((registers - 3) / (rows() + 1), 12);
    int64_t vectors = llvm::divideCeil(columns, tile.lanes);
    tile.nv = std::max(tile.nv, std::min<int64_t>(widest, llvm::divideCeil(vectors, 2 * target.threads)));
  }
  tile.panels = llvm::divideCeil(columns, tile.nr());
  // If there is one panel for each index of another atom, these are the panels, and rows are packed once for all of them.
  if (tile.panels == 1 && !nOuter.empty()) {
    panelAtom = nOuter.pop_back_val();
    tile.panels = model.atomSizes[panelAtom];
  }
}

/// Matches the weights of a convolution in PyTorch's order: for each column all k contiguous, input channels outermost, whereas rows of a have
/// channels innermost. `order`: the k atoms except kInner.
bool ContractionPlan::chooseRuns(SmallVector<int> order) {
  const LinearExpr &address = b.operand->access.address;
  if (kInner < 0 || order.empty() || group > 1 || !plainBuffer(b) || address.coefficient(nLane) == 1)
    return false;
  llvm::sort(order, [&](int x, int y) { return address.coefficient(x) > address.coefficient(y); });
  int64_t stride = 1;
  for (int atom : llvm::reverse(order)) {
    if (address.coefficient(atom) != stride)
      return false;
    stride *= model.atomSizes[atom];
  }
  int64_t size = model.atomSizes[kInner];
  if (address.coefficient(kInner) != stride)
    return false;
  int64_t chunks = llvm::divideCeil(size, std::max<int64_t>(tile.lanes, 1152 / stride));
  int64_t kc = chunks == 1 ? size : llvm::alignTo(llvm::divideCeil(size, chunks), tile.lanes);
  chunks = llvm::divideCeil(size, kc);
  // The last vector of a run begins earlier, but not before the run.
  if ((size - (chunks - 1) * kc) * stride < tile.lanes)
    return false;
  tile.kc = tile.kStride = kc;
  tile.kChunks = chunks;
  // Neighbours in a run are packed so far apart that they are not all in one cache set.
  while (tile.kStride * tile.nr() * accType.getIntOrFloatBitWidth() / 8 % 1024 == 0)
    ++tile.kStride;
  kMiddle = order;
  window = stride;
  packedK = tile.kStride * window;
  return runs = true;
}

void ContractionPlan::chooseBlocks() {
  // AMX stores the sums of one panel between parts of k, which are no longer than this. Unit: k of a part. Source: judgement, not measured alone;
  // commit f54b4fe has the figures of the whole change.
  constexpr int64_t kMaxPartK = 640;
  // Parts are about so long. Unit: k of a part. Source: commit f54b4fe, xla-run --repeat=300: gemm_1024 bf16 1.96 to 1.81 ms, one thread.
  constexpr int64_t kWantedPartK = 512;
  // Blocks of k have the atoms that are contiguous in a innermost; up to about 2000 in total, the innermost atom in equal chunks.
  SmallVector<int> order = outermostFirst(model, kAtoms);
  llvm::erase(order, kInner);
  if (kInner >= 0) {
    int64_t size = model.atomSizes[kInner];
    // Blocks are longer than suits the level 1 cache: panels of b come from level 2 in time, and blocks cost partial sums and the ends of tiles.
    // AMX would wait for level 2, and takes parts of a block.
    // Several sums have no place for partial ones.
    // Panels of bytes have four times as many k as panels of 32-bit elements.
    int64_t perWord = grouped.isOfBytes() ? 4 : 1;
    int64_t most = !siblings.empty() ? size : !matrixUnit ? 1024 * perWord : order.empty() ? 2048 : kMaxPartK;
    int64_t wanted = !matrixUnit ? 768 * perWord : order.empty() ? 2048 : kWantedPartK;
    tile.kChunks = size <= most ? 1 : llvm::divideCeil(size, wanted);
    tile.kc = llvm::divideCeil(size, tile.kChunks);
    if (tile.kChunks > 1)
      tile.kc = llvm::alignTo(tile.kc, matrixUnit ? matrixDepth() : tile.lanes);
    tile.kChunks = llvm::divideCeil(size, tile.kc);
  }
  packedK = tile.kStride = llvm::alignTo(tile.kc, group);
  if (matrixUnit && packedK > kMaxPartK && order.empty()) {
    tile.parts = llvm::divideCeil(packedK, kWantedPartK);
    tile.parts = llvm::divideCeil(packedK, partK());
  }
  const int64_t mostPacked = matrixUnit ? 768 : grouped.isOfBytes() ? 4 * 2400 : 2400;
  if (chooseRuns(order))
    order.clear();
  while (!order.empty() && tile.kChunks == 1 && packedK * model.atomSizes[order.back()] <= mostPacked) {
    packedK *= model.atomSizes[order.back()];
    kMiddle.insert(kMiddle.begin(), order.pop_back_val());
  }
  // The next atom is divided evenly, if that makes the block much longer: partial sums and packing are paid per block.
  if (!order.empty() && tile.kChunks == 1 && packedK <= mostPacked / 4) {
    int64_t size = model.atomSizes[order.back()];
    tile.splitLength = std::max<int64_t>(1, std::min(size, mostPacked / packedK));
    while (size % tile.splitLength)
      --tile.splitLength;
    tile.splits = size / tile.splitLength;
    if (tile.splitLength == 1) {
      tile.splits = 1;
    } else {
      packedK *= tile.splitLength;
      kMiddle.insert(kMiddle.begin(), order.pop_back_val());
    }
  }
  kOuter = order;

  // Here the operands that are read in place are chosen.
  int64_t tiles = llvm::divideCeil(rows(), tile.mr);
  a.packed = !plainBuffer(a) ||
             (kInner >= 0 && a.operand->access.address.coefficient(kInner) != 1 && (group > 1 || rows() > 16));
  // Few contiguous rows, and few columns, are read in place: packing would cost as much as the products. Unit: rows. Source: judgement, not measured
  // alone; commit fe9d123 has the figures of the whole change.
  constexpr int64_t kMaxRowsInPlace = 64;
  // The same for columns. Unit: panels. Source: judgement, not measured alone; commit fe9d123 has the figures of the whole change.
  constexpr int64_t kMaxPanelsInPlace = 2;
  if (a.packed && plainBuffer(a) && group == 1 && mOrder.size() == 1 && rows() <= kMaxRowsInPlace && tile.panels <= kMaxPanelsInPlace &&
      panelAtom < 0)
    a.packed = a.operand->access.address.coefficient(mOrder.back()) != 1;
  // AMX loads rows that are equally far apart, all of a tile, and a line of each at once.
  if (matrixUnit && !a.packed)
    a.packed = rows() % tile.mr != 0 || !isStraight(tile.mr) ||
               a.operand->access.address.coefficient(mOrder.back()) * packType.getIntOrFloatBitWidth() / 8 % (target.crowdedBytes() / 2) == 0;
  // Rows that are a multiple of half a page apart share few cache sets: a copy pays if many panels reuse it, unless a set has room for all rows of a
  // tile and more (gemm_1024: 12.4 -> 11.7 ms).
  if (!a.packed && target.l1Ways < 12 && rows() > 64 && tile.panels >= 8 && !mOrder.empty())
    a.packed = a.operand->access.address.coefficient(mOrder.back()) * packType.getIntOrFloatBitWidth() / 8 % target.crowdedBytes() == 0;
  // So do the short pieces of rows of one group of channels.
  if (!a.packed && !kMiddle.empty() && !mOrder.empty() && rows() > 64 && model.atomSizes[kInner] <= 16)
    a.packed = a.operand->access.address.coefficient(mOrder.back()) * packType.getIntOrFloatBitWidth() / 8 % (target.crowdedBytes() / 2) == 0;
  // Bytes that are widened, or are no whole number of groups.
  if (grouped.widens() || (kInner >= 0 && model.atomSizes[kInner] % group))
    a.packed = true;
  b.packed = group > 1 || runs || !plainBuffer(b) || b.operand->access.address.coefficient(nLane) != 1 || (tiles > kUnpackedTiles && !isPanel(b));
  a.lane = kInner;
  if (a.packed && !mOrder.empty() && group == 1) {
    // Rows are along lanes only if no vector crosses from one m atom to the next.
    int along = contiguousAtom(*a.operand, atomBit(kInner) | mAtoms);
    if (along >= 0 && along != kInner && model.atomSizes[along] % tile.lanes == 0) {
      llvm::erase(mOrder, along);
      mOrder.push_back(along);
    }
    if (along == mOrder.back() && (mOrder.size() == 1 || model.atomSizes[along] % tile.lanes == 0))
      a.lane = along;
  }
  b.lane = contiguousAtom(*b.operand, atomBit(kInner) | atomBit(nLane)) == kInner && kInner >= 0 ? kInner : nLane;

  findPanels();
  chooseUnits();
}

std::optional<fusion::PanelLayout> ContractionPlan::panelLayout() const {
  using Kind = fusion::PanelStep::Kind;
  if (!b.packed || !plainBuffer(b) || !siblings.empty() || !nOuter.empty() || tile.kStride % group)
    return std::nullopt;
  const Access &access = b.operand->access;
  // `atoms` are the operand's atoms in memory order.
  SmallVector<int> atoms = members(batch | kAtoms | nAtoms);
  llvm::stable_sort(atoms, [&](int x, int y) { return access.address.coefficient(x) > access.address.coefficient(y); });
  int64_t stride = 1;
  for (int atom : llvm::reverse(atoms)) {
    if (access.address.coefficient(atom) != stride)
      return std::nullopt;
    stride *= model.atomSizes[atom];
  }
  if (access.address.offset != 0 || stride != access.numElements)
    return std::nullopt;
  fusion::PanelLayout layout;
  layout.operand = access.buffer;
  SmallVector<int64_t> sizes, order, zeros, cut;
  for (int atom : atoms)
    sizes.push_back(model.atomSizes[atom]);
  auto placeOf = [&](int atom) { return int64_t(llvm::find(atoms, atom) - atoms.begin()); };
  if (kInner < 0)
    sizes.push_back(1); // where find() says that it is
  layout.steps.push_back({Kind::Reshape, sizes});

  // Each matrix of a batch has panels of its own: k comes first, from the outermost to the innermost atom, then columns; only whole chunks of k and
  // whole panels are packed in advance.
  bool isSplit = tile.splits > 1;
  auto add = [&](int atom, int64_t size) {
    order.push_back(placeOf(atom));
    zeros.push_back(size - sizes[order.back()]);
  };
  SmallVector<int> outside = batchOrder;
  outside.append(kOuter);
  for (int atom : outside) {
    add(atom, model.atomSizes[atom]);
    cut.push_back(model.atomSizes[atom]);
  }
  for (auto [depth, atom] : llvm::enumerate(kMiddle)) {
    add(atom, model.atomSizes[atom]);
    if (isSplit && depth == 0)
      cut.append({tile.splits, tile.splitLength});
    else
      cut.push_back(model.atomSizes[atom]);
  }
  add(kInner, tile.kChunks * tile.kc);
  cut.append({tile.kChunks, tile.kc});
  if (panelAtom >= 0)
    add(panelAtom, tile.panels);
  add(nLane, panelAtom >= 0 ? tile.nr() : tile.panels * tile.nr());
  cut.append({tile.panels, tile.nr()});
  layout.steps.push_back({Kind::Transpose, order});
  layout.steps.push_back({Kind::Pad, zeros});
  layout.steps.push_back({Kind::Reshape, cut});

  // The order is blocks of k, panels, the k of a block, columns.
  auto outer = static_cast<int64_t>(outside.size()), rank = static_cast<int64_t>(cut.size()), chunk = rank - 4, column = rank - 1;
  SmallVector<int64_t> byBlock;
  for (int64_t dim = 0; dim < outer + (isSplit ? 1 : 0); ++dim)
    byBlock.push_back(dim);
  auto middle = static_cast<int64_t>(byBlock.size());
  byBlock.append({chunk, rank - 2});
  for (int64_t dim = middle; dim < chunk; ++dim)
    byBlock.push_back(dim);
  byBlock.append({chunk + 1, column});
  layout.steps.push_back({Kind::Transpose, byBlock});
  SmallVector<int64_t> gap(rank, 0), shape;
  gap[rank - 2] = tile.kStride - tile.kc;
  layout.steps.push_back({Kind::Pad, gap});
  if (group > 1) {
    // Neighbouring k are interleaved.
    shape = {model.product(batch) * tile.panels * kBlocks() * packedK / group, group, tile.nr()};
    layout.steps.push_back({Kind::Reshape, shape});
    layout.steps.push_back({Kind::Transpose, {0, 2, 1}});
  }
  layout.steps.push_back({Kind::Reshape, {model.product(batch) * tile.panels * kBlocks() * packedK * tile.nr()}});
  return layout;
}

bool ContractionPlan::prefetchesPanels() const {
  return hasPanels() && !matrixUnit && model.bufferElements[panelsBuffer] * packType.getIntOrFloatBitWidth() / 8 >= blockCacheBytes() / 2;
}

/// Finds the panels that are an argument of the kernel; they are used only if their layout is that of this plan.
void ContractionPlan::findPanels() {
  auto panels = kernel->getAttrOfType<DictionaryAttr>(kPanelsAttr);
  std::optional<fusion::PanelLayout> layout = panels ? panelLayout() : std::nullopt;
  if (!layout || panels.getAs<IntegerAttr>("operand").getInt() != int64_t(layout->operand) || panels.getAs<StringAttr>("layout").getValue() != layout->text())
    return;
  int64_t buffer = panels.getAs<IntegerAttr>("panels").getInt();
  if (buffer < int64_t(kernel.getNumArguments()) && model.bufferElements[buffer] == layout->elements() && model.bufferTypes[buffer] == packType)
    panelsBuffer = int(buffer);
}

/// Chooses, of all divisions into blocks of rows and groups of panels, the one that finishes first.
void ContractionPlan::chooseUnits() {
  // Chunks of rows, each in the level 2 cache, that share the packed panels of a group; their partial sums wait together. Unit: chunks of rows.
  // Source: judgement, not measured alone; commit dbbe840 has the figures of the whole change.
  constexpr int64_t kMaxChunks = 8;
  int64_t bytes = accType.getIntOrFloatBitWidth() / 8;
  int64_t limit = std::max<int64_t>(64, blockCacheBytes() * 11 / 20 / (packedK * packType.getIntOrFloatBitWidth() / 8));
  // The windows of a convolution share elements.
  if (!a.packed && a.operand->access.numElements * packType.getIntOrFloatBitWidth() / 8 <= blockCacheBytes() * 11 / 20)
    limit = std::max(limit, rows());
  // With rows along lanes over several m atoms, blocks begin where no vector crosses from one atom to the next.
  int64_t align = a.packed && a.lane != kInner && mOrder.size() > 1 ? std::lcm(tile.mr, tile.lanes) : tile.mr;
  auto cutRows = [&](int64_t blocks) {
    tile.blockRows = llvm::alignTo(llvm::divideCeil(rows(), blocks), align);
    tile.mBlocks = llvm::divideCeil(rows(), tile.blockRows);
  };
  auto cutPanels = [&](int64_t groups) {
    tile.groupPanels = llvm::divideCeil(tile.panels, groups);
    tile.groups = llvm::divideCeil(tile.panels, tile.groupPanels);
  };
  // Cost for the comparison of divisions into units; the operand comes from beyond the near caches. Unit: cycles per vector of a that is packed.
  // Source: judgement, not measured alone; commit 1d8c63d has the figures of the whole change.
  constexpr double kPackedRowCycles = 8;
  // The same for b. Unit: cycles per vector of b that is packed. Source: judgement, not measured alone; commit 1d8c63d has the figures of the whole
  // change.
  constexpr double kPackedColumnCycles = 11;
  // The same where it is packed while other panels are multiplied. Unit: cycles per vector of b that is packed. Source: judgement, not measured
  // alone; commit 216f03c has the figures of the whole change.
  constexpr double kPackedAheadCycles = 5;
  // The fixed cost of a unit: the hand-over to a thread. Unit: cycles per unit. Source: judgement, not measured alone; commit 1d8c63d has the figures
  // of the whole change.
  constexpr double kUnitCycles = 1000;
  // How much later the last thread finishes. Unit: part of a unit. Source: judgement, not measured alone; commit 1d8c63d has the figures of the whole
  // change.
  constexpr double kLate = 0.05;
  // Divisions into more groups are not compared: a bound of the time to compile. Unit: groups of panels. Source: judgement, not measured alone;
  // commit 1d8c63d has the figures of the whole change.
  constexpr int64_t kMaxGroups = 32;
  // Divisions into more blocks are not compared: a bound of the time to compile. Unit: blocks of rows more than the fewest. Source: judgement, not
  // measured alone; commit 1d8c63d has the figures of the whole change.
  constexpr int64_t kMaxMoreBlocks = 16;
  // With at most so many products per sum, storing takes longer than computing: whole rows are stored one after another, as prefetchers like, instead
  // of panels. Unit: products per sum. Source: commit 5313dea, two threads: gemm_1000x10x1000 f32 0.30 to 0.09 ms, 4096x16x256 0.29 to 0.10.
  constexpr int64_t kMaxProductsOfRows = 48;
  // The same limit for a result that exceeds the near cache by far. Unit: products per sum. Source: commit 6f0da05, xla-run --repeat=100, one thread:
  // 768x128x3072 3.70 to 3.29 ms, 768x256x3072 6.03 to 5.70.
  constexpr int64_t kMaxProductsOfLargeResult = 256;
  // With fewer tiles, results are stored panel by panel. Unit: register tiles of rows. Source: judgement, not measured alone; commit 6f0da05 has the
  // figures of the whole change.
  constexpr int64_t kMinTilesOfRows = 16;
  // With an open number of rows, fewer rows of the contraction form no block if threads can share its columns, because each block packs b again.
  // Unit: rows of the product. Source: arithmetic: packing b costs a twentieth of the products of so many rows.
  constexpr int64_t kOpenBlockRows = 512;
  int64_t panelBytes = tile.nr() * packedK * packType.getIntOrFloatBitWidth() / 8, wholeGroups = 1;
  bool canBeWhole = tile.panels > 1 && panelAtom < 0 && rows() >= kMinTilesOfRows * tile.mr;
  bool hasFewProducts = model.product(kAtoms) <= kMaxProductsOfRows;
  bool wholeRows = canBeWhole && hasFewProducts && tile.panels * panelBytes <= blockCacheBytes() / 4;
  if (!hasFewProducts && canBeWhole && !matrixUnit && b.packed && kBlocks() == 1 && model.product(kAtoms) <= kMaxProductsOfLargeResult &&
      rows() * tile.panels * tile.nr() * bytes >= 3 * blockCacheBytes()) {
    wholeRows = true;
    wholeGroups = std::min<int64_t>(tile.panels, llvm::divideCeil(tile.panels * panelBytes, blockCacheBytes() / 2));
  }
  double k = model.product(kAtoms), lanes = tile.lanes, best = 0;
  int64_t outer = model.product(outerAtoms());
  int64_t least = llvm::divideCeil(rows(), std::max(limit, tile.mr) * (b.packed ? kMaxChunks : 1));
  int64_t most = std::max<int64_t>(least, llvm::divideCeil(rows(), 4 * tile.mr));
  int64_t fewestGroups = 1;
  if (hasOpenRows()) {
    // Blocks that may be empty are no work for threads, which share the groups of panels, unless each row of the program is a block.
    if (productRows() >= kOpenBlockRows || tile.panels < target.threads) {
      int64_t ofBlock = std::min(std::max(productRows(), kOpenBlockRows), std::max(limit, align));
      least = most = std::max<int64_t>(least, llvm::divideCeil(rows(), llvm::alignTo(ofBlock, align)));
    } else {
      most = least;
      fewestGroups = wholeRows ? 1 : std::min<int64_t>(tile.panels, target.threads);
    }
  }
  int64_t bestBlocks = least, bestGroups = std::max(wholeGroups, fewestGroups);
  // The length of the rows' pieces that are packed ahead: long enough for memory, and short enough for two of them to stay in the level 2 cache.
  // Unit: vectors of a row. Source: judgement, not measured alone; commit 216f03c has the figures of the whole change.
  constexpr int64_t kVectorsAhead = 6;
  int64_t atOnce = llvm::divideCeil(kVectorsAhead, tile.nv);
  bool canBeAhead = canPackAhead() && !wholeRows && !hasPanels();
  auto isAhead = [&] { return canBeAhead && tile.blockRows <= std::max(limit, align) && shouldPackAhead(atOnce); };
  // AMX finishes panels before the last-level cache delivers the next ones: panels that several chunks of rows use stay in the near cache, in half of
  // it if not all of them do.
  int64_t nearGroups = 1;
  if (matrixUnit && b.packed && tile.panels * panelBytes > blockCacheBytes())
    nearGroups = llvm::divideCeil(tile.panels, std::max<int64_t>(1, blockCacheBytes() / 2 / panelBytes));
  for (int64_t blocks = least; blocks <= std::min(most, least + kMaxMoreBlocks); ++blocks) {
    cutRows(blocks);
    const int64_t mostGroups = wholeRows ? wholeGroups : std::min(tile.panels, std::max(kMaxGroups, nearGroups));
    for (int64_t groups = wholeRows ? wholeGroups : fewestGroups; groups <= mostGroups; ++groups) {
      cutPanels(groups);
      if (tile.blockRows > std::max(limit, align) && groups < nearGroups)
        continue;
      double columns = double(tile.groupPanels * tile.nr());
      double cycles = kUnitCycles + double(sums()) * double(tile.blockRows) * columns * k / productsPerCycle();
      if (a.packed)
        cycles += double(tile.blockRows) * k / lanes * kPackedRowCycles;
      double waiting = columns;
      if (isAhead()) {
        waiting = std::min(columns, double(atOnce * tile.nr()) / double(kBlocks()));
        cycles += (columns - waiting) * k / lanes * kPackedAheadCycles;
      }
      if (b.packed && !hasPanels())
        cycles += waiting * k / lanes * kPackedColumnCycles;
      cycles *= double(llvm::divideCeil(outer * tile.groups * tile.mBlocks, target.threads)) + kLate;
      if (best != 0 && cycles >= best)
        continue;
      best = cycles;
      bestBlocks = blocks;
      bestGroups = groups;
    }
  }
  cutRows(bestBlocks);
  cutPanels(bestGroups);
  // Partial sums of the group stay in the last-level cache.
  if (kBlocks() > 1) {
    tile.groupPanels = std::clamp<int64_t>(4 * blockCacheBytes() / (tile.blockRows * tile.nr() * bytes), 1, tile.groupPanels);
    tile.groups = llvm::divideCeil(tile.panels, tile.groupPanels);
  }
  int64_t chunks = llvm::divideCeil(tile.blockRows, std::max(limit, align));
  if (matrixUnit && b.packed && chunks > 1)
    chunks = llvm::divideCeil(tile.blockRows, std::max(limit / 2, align));
  tile.chunkRows = llvm::alignTo(llvm::divideCeil(tile.blockRows, chunks), align);
  if (wholeRows)
    tile.chunkRows = std::min<int64_t>(tile.blockRows, llvm::alignTo(a.packed || !hasFewProducts ? 4 * tile.mr : tile.mr, align));
  tile.ahead = isAhead();
  if (hasPanels())
    tile.packedPanels = 1;
  else if (tile.ahead)
    tile.packedPanels = atOnce;
  else if (b.packed && tile.chunkRows < tile.blockRows)
    tile.packedPanels = tile.groupPanels;
  else if (b.packed && panelsAtOnce() > 1)
    tile.packedPanels = llvm::divideCeil(tile.groupPanels, llvm::divideCeil(tile.groupPanels, panelsAtOnce()));
  if (!matrixUnit && !hasOpenRows() && tile.mBlocks == 1 && tile.chunkRows >= tile.blockRows)
    tile.shortTiles = shortTilesOf(rows(), tile.mr);
}

int64_t ContractionPlan::tailRows() const {
  // With fewer vectors of sums than three quarters of those in flight, for which a tile of eight rows has a divisor, sums wait for each other.
  const int64_t minVectors = target.sumsInFlight() * 3 / 4;
  if (matrixUnit)
    return tile.mr;
  for (int64_t count = 1; count < tile.mr; ++count)
    if (tile.mr % count == 0 && count * tile.nv >= minVectors)
      return count;
  return tile.mr;
}

int64_t ContractionPlan::lastVectors() const {
  if (!cutsLast() || panelAtom >= 0 || !b.packed)
    return tile.nv;
  return lastVectorsOf(model.atomSizes[nLane], tile.lanes, tile.nv);
}

double ContractionPlan::productsPerCycle() const {
  // Pairs of bytes take two instructions, of which three start per cycle.
  double perCycle = matrixUnit ? kMatrixRows : grouped.widens() ? 1.5 : target.multiplyAddsPerCycle;
  return perCycle * double(tile.lanes * group);
}

int64_t ContractionPlan::kBlocks() const {
  int64_t blocks = tile.kChunks * tile.splits;
  for (int atom : kOuter)
    blocks *= model.atomSizes[atom];
  return blocks;
}

LogicalResult ContractionPlan::make() {
  if (failed(match()) || failed(classify()))
    return failure();
  packType = accType;
  chooseInnermost();
  chooseInstructions();
  chooseTile();
  chooseBlocks();
  return matchSiblings();
}

} // namespace millrace::lowering
