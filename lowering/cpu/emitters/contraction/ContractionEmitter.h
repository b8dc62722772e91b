// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionEmitter.h - State of the contraction emitter ------------===//
#pragma once

#include "lowering/cpu/emitters/contraction/ContractionPlan.h"
#include "lowering/cpu/emitters/EmitterShell.h"

namespace millrace::lowering {

/// Contraction.cpp has the loops of a unit. Packing is in ContractionPacking.cpp, register tiles of vectors are in VectorTile.cpp, AMX tiles in
/// MatrixTile.cpp, consumers in ContractionConsumers.cpp, and prefetches for them in ContractionStreams.cpp.
class ContractionEmitter : private ContractionPlan {
public:
  using ContractionPlan::ContractionPlan;
  mlir::FailureOr<EmittedKernel> run();

private:
  /// Emits the effect of one k (or `step` of them) on the carried values, given its position among the packed ones and its index.
  using KBody = llvm::function_ref<mlir::SmallVector<mlir::Value>(PointEvaluator &, mlir::Value packedIndex, mlir::Value k,
                                                                  mlir::SmallVector<mlir::Value>)>;

  bool emit();
  void takePackedRows(Scratch &scratch);
  /// The panel whose tiles are emitted: its index, the first panel that is packed with it, its number of tiles (if panels are packed ahead), the end
  /// of the chunk's rows, and whether the block of k is the first or last (null: it is the only one).
  struct PanelTiles {
    mlir::Value panel, packedBegin, tilesOfPanel, chunkEnd, isFirst, isLast;
  };
  mlir::Value countNeededRows(PointEvaluator &at);
  mlir::Value endOfNeededRows(PointEvaluator &at, mlir::Value rowEnd);
  void emitPanelTiles(PointEvaluator &at, const PanelTiles &of);
  void emitNeededTiles(PointEvaluator &at, const PanelTiles &of);
  void emitTiles(PointEvaluator &at, const PanelTiles &of, mlir::Value begin, mlir::Value end, int64_t mr, int64_t tilesBefore = 0);
  // Packing.
  void packRows(PointEvaluator &block, mlir::Value begin, mlir::Value end);
  void packRowsOfEachK(PointEvaluator &block, mlir::Value begin, mlir::Value end);
  void packPanels(PointEvaluator &panel, mlir::Value columnBegin, int64_t count = 1);
  void packColumns(PointEvaluator &panel, mlir::Value columnBegin);
  void packRuns(PointEvaluator &panel, mlir::Value columnBegin);
  void choosePanelsAhead(PointEvaluator &at, mlir::Value packedBegin, mlir::Value packedEnd, mlir::Value firstPanel, mlir::Value panelEnd,
                         mlir::Value tilesOfPanel);
  void packAhead(PointEvaluator &at, mlir::Value tileNumber);
  void prefetchAhead(PointEvaluator &at, mlir::Value packedIndex);
  void packManyPanels(PointEvaluator &block, mlir::Value begin, mlir::Value end, int64_t most, mlir::Value firstPanel, mlir::Value firstPacked);
  void enterPanel(PointEvaluator &at, mlir::Value panel, mlir::Value firstPanel, mlir::Value firstPacked);
  void addStream(const Access &access, bool isStored);
  void chooseStreams();
  void enterStreams(PointEvaluator &first);
  void prefetchStreams(PointEvaluator &at, mlir::Value packedIndex);
  mlir::SmallVector<mlir::Value> forEachK(PointEvaluator &at, int64_t step, mlir::SmallVector<mlir::Value> carried, KBody body);
  mlir::SmallVector<mlir::Value> forEachPacked(PointEvaluator &at, int64_t step, mlir::SmallVector<mlir::Value> carried, KBody body);
  mlir::Value packedFactor(PointEvaluator &at, const Side &side);
  mlir::Value factorOfGroup(PointEvaluator &at, const Side &side);
  mlir::Value columnMask(PointEvaluator &at, mlir::Value columnBegin, int64_t vector, mlir::Value &count);
  // Register tiles.
  struct TileRows {
    mlir::SmallVector<PointEvaluator, 8> points;
    mlir::SmallVector<mlir::Value> bases, partialBases; ///< in a, and among the partial sums
    mlir::SmallVector<mlir::Value> corrections;         ///< of each row in all lanes, if there are any
    /// The constant offsets of the addresses: consecutive rows share an address register.
    mlir::SmallVector<int64_t> offsets;
  };
  void bindRows(PointEvaluator &panel, int64_t mr, mlir::Value row, AtomSet inBlock, TileRows &made);
  void emitTile(PointEvaluator &panel, int64_t mr, mlir::Value row, mlir::Value isFirst, mlir::Value isLast);
  /// Returns true if the last tile begins earlier than a multiple of its rows, so that rows are computed twice.
  bool overlaps() const { return tile.shortTiles == 0 && rows() % tile.mr != 0; }
  void emitMatrixTile(PointEvaluator &panel, mlir::Value begin, mlir::Value row, mlir::Value isFirst, mlir::Value isLast);
  int64_t finishedPerStep() const;
  void finishLast(PointEvaluator &panel, mlir::Value begin, mlir::Value end, mlir::Value isLast);
  void forEachOfPart(PointEvaluator &at, KBody body);
  bool flushes() const;
  bool onlyStores() const;
  /// Returns true if subnormals are flushed for all tiles of a panel at once: no consumer computes between them, and panels packed ahead are copied.
  bool flushesRows() const { return floatControl && siblings.empty() && onlyStores(); }
  // Consumers and stores.
  double consumerCost() const;
  PointEvaluator columnPoint(PointEvaluator &panel, mlir::Value columnBegin, int64_t v);
  mlir::SmallVector<mlir::Value> outputsOf(PointEvaluator &point, mlir::ArrayRef<mlir::Value> ofSums);
  void finishTile(PointEvaluator &panel, mlir::Value row, mlir::MutableArrayRef<PointEvaluator> rows, mlir::Value columnBegin,
                  mlir::ArrayRef<mlir::Value> sums);
  void finishPanel(PointEvaluator &panel, mlir::Value row, mlir::MutableArrayRef<PointEvaluator> rows, mlir::Value columnBegin,
                   mlir::ArrayRef<mlir::Value> sums);
  void finishRowByRow(PointEvaluator &panel, int64_t mr, mlir::Value row, mlir::Value columnBegin, mlir::ArrayRef<mlir::Value> sums);
  void finishRows(PointEvaluator &panel, mlir::Value row, mlir::Value begin, mlir::Value end, mlir::Value columnBegin);
  void emitSiblings(PointEvaluator &panel, llvm::function_ref<void()> emitAllTiles, mlir::Value chunkEnd);

  mlir::func::FuncOp shell;
  mlir::Value packedA, packedB, partials;
  mlir::Value corrections; ///< for each row of the chunk, what a sum begins with if the elements of b are flipped
  mlir::Value floatControl; ///< for FloatControl.h, if subnormals are flushed in the products
  mlir::Value finished; ///< the sums of a tile, if consumers take them row by row; with siblings those of a chunk and a panel, one after another
  int64_t sumElements() const { return tile.chunkRows * tile.nr(); }
  int64_t sibling = 0; ///< the one that is emitted now; 0: `node`
  int64_t panelElements() const { return packedK * tile.nr(); }
  int64_t aRowStride = 0, aKStride = 1, scratchBytes = 0;
  mlir::Value rowBegin, chunkBegin; ///< of the block, and of the chunk: packed rows begin there
  int64_t vectors = 1; ///< of the panels for which code is emitted now
  bool panelIsWhole = false; ///< the code that is emitted now is for panels all of whose columns exist
  mlir::Value columnBegin, panelInGroup, packedBase; ///< of the panel; where it is in packedB
  mlir::Value packedBuffer; ///< where the panels are in packedB that are multiplied
  mlir::Value kBlock;
  void bindBlock(PointEvaluator &at, mlir::Value block);
  void enterPart(PointEvaluator &at, mlir::Value &isFirst, mlir::Value &isLast);
  /// The panels that are packed next, while others are multiplied.
  struct {
    mlir::Value buffer, columnBegin, address; ///< their destination, first column, and the address of their first k
    mlir::Value length, step, nextAddress;    ///< how many k they have, how many are packed before each tile, and where the next ones begin
  } ahead;
  /// A buffer of which consumers read or store an element for each sum, from or to far away.
  struct Stream {
    const Access *access = nullptr;
    bool isStored = false;
    mlir::Value begin; ///< the address of the tile's first element
  };
  /// What is prefetched while a tile is multiplied: `lines` lines of each stream, `rowLines` (a power of two) of a row, one per `everyK` (a power of
  /// two) k, of which `step` are one step of the loop.
  struct {
    mlir::SmallVector<Stream, 0> of;
    int64_t rowStride = 0, rowLines = 1, lines = 0, everyK = 1, step = 1;
  } streams;
  mlir::Value kBegin, kEnd; ///< of the innermost k atom in the current block
  mlir::Value splitBegin;   ///< of the outermost packed k atom
  mlir::Value neededRows; ///< where the number of rows is known at run time: so many, if not hasExactRows() in whole tiles of the last rows; else null
  mlir::Value partBegin, partEnd; ///< of the current part of the block, among the packed k; may be past the last one
};

} // namespace millrace::lowering
