// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionPlan.h - How a sum of products is cut -------------------===//
// Which indices are rows, columns and sums, which factors are packed, and how large blocks and register tiles are: plain data,
// decided before any code is written.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/model/KernelModel.h"
#include "lowering/cpu/emitters/model/SumOfProducts.h"
#include "passes/fusion/MatrixUnitShapes.h"
#include "passes/fusion/PrepareConstants.h"

namespace millrace::lowering {

/// One factor of the products.
struct Side : Factor {
  bool packed = true;
  int lane = -1; ///< atom along which it is contiguous
};

/// Sizes of the loops.
struct Tiling {
  int64_t lanes = 1;
  int64_t mr = 1, nv = 1; ///< rows and vectors of the register tile
  int64_t shortTiles = 0; ///< of mr - 1 rows, after all others; without them the last tile begins earlier
  int64_t kc = 1;         ///< of the innermost k atom, per block
  int64_t kStride = 1;    ///< kc and a gap: from one index of the next k atom to the next among packed factors
  int64_t kChunks = 1;
  int64_t parts = 1;      ///< of a block's k, between which the matrix unit puts aside the sums of one panel
  int64_t splits = 1, splitLength = 1; ///< parts of the outermost k atom that is packed
  int64_t blockRows = 1, mBlocks = 1;
  int64_t chunkRows = 1;  ///< of a block, that stay in the level 2 cache while the panels of a group pass
  int64_t packedPanels = 1; ///< of a group, that scratch holds: all of them if there are several chunks, else those that are packed side by side
  int64_t groupPanels = 1, groups = 1, panels = 1;
  bool ahead = false; ///< while packedPanels are multiplied, the next ones come and are packed, a few rows of b before each tile
  int64_t nr() const { return lanes * nv; }
};

/// Rows and vectors of a register tile, and four times the cycles that products of `rows` x `columns` take per k. `cutsLast`: the last panel has
/// code of its own where that is worth it.
struct RegisterTile {
  int64_t mr, nv, cycles;
};
RegisterTile chooseRegisterTile(int64_t rows, int64_t columns, int64_t lanes, int64_t registers, int64_t threads, bool cutsLast);

/// Columns of the panels in which the plan for `rows` x `columns` reads a factor without packing it; 0 if they do not divide `columns`.
int64_t choosePanelWidth(int64_t rows, int64_t columns, mlir::Type element, const KernelTarget &target);

struct ContractionPlan {
  ContractionPlan(mlir::func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  /// Decides everything; on failure `why` tells what the emitter cannot treat.
  mlir::LogicalResult make();

  int64_t rows() const { return model.product(mAtoms); }
  /// How many rows there are is known at run time only: rows() is the most.
  bool hasOpenRows() const { return model.rowAtom >= 0 && (mAtoms & atomBit(model.rowAtom)); }
  /// Rows of the product for each row of the program.
  int64_t productRows() const { return rows() / model.atomSizes[model.rowAtom] * model.rowIndices; }
  /// Rows of the register tiles behind the last whole one: a divisor of its rows.
  int64_t tailRows() const;
  /// Iterations begin with rows, and with nothing else.
  bool rowsAreRange() const { return model.product(outerAtoms()) * tile.groups == 1; }
  /// What an iteration has one index of, beside blocks of rows and groups of panels.
  AtomSet outerAtoms() const { return batch | (nAtoms & ~atomBit(nLane) & ~atomBit(panelAtom)); }
  bool columnsMasked() const { return model.atomSizes[nLane] % tile.nr() != 0; }
  /// Whether the last panel may have code of its own. Without mask registers finishPanel() cuts code in two already.
  bool cutsLast() const { return target.avx512 && !matrixUnit && siblings.empty(); }
  /// Vectors of the last panel that have columns, if it is worth code of its own, else all of them.
  int64_t lastVectors() const;
  /// Blocks of k: partial sums wait between them.
  int64_t kBlocks() const;
  double productsPerCycle() const;
  /// How all panels of b lie one after the other as they are packed, block of k by block of k; nothing where b is not packed, or is not all of a buffer.
  std::optional<fusion::PanelLayout> panelLayout() const;
  /// All panels together are more than the near cache has from the execution before, and several tiles of rows pass each.
  bool prefetchesPanels() const;
  /// Panels come with the kernel (kPanelsAttr): nothing is packed.
  bool hasPanels() const { return panelsBuffer >= 0; }

  mlir::func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::string why;

  /// One of several sums over the same rows and other columns of a factor (the gates of a recurrent network): `node` and what it says of it.
  struct Sibling {
    const Node *node = nullptr;
    SumOfProducts products;
    Side a, b;
    AtomSet kAtoms = 0;
    int kInner = -1;
  };

  const Node *node = nullptr;
  SumOfProducts products;
  Side a, b;
  llvm::SmallVector<Sibling, 0> siblings; ///< of `node`; the consumers see all sums of a panel at once
  AtomSet batch = 0, mAtoms = 0, nAtoms = 0, kAtoms = 0;
  mlir::SmallVector<int> batchOrder, mOrder, nOuter, kOuter, kMiddle;
  int nLane = -1, kInner = -1;
  int panelsBuffer = -1; ///< with the panels of b, or -1
  int panelAtom = -1; ///< if not negative, its indices are the panels, and nLane's are the columns of one
  mlir::Type accType;
  Tiling tile;
  /// Neighbours of k that one instruction multiplies and adds up in a lane: two of bf16, four of 8-bit integers.
  int64_t group = 1;
  bool matrixUnit = false; ///< AMX: a register tile is 16 x 16 sums in each of its registers
  mlir::Type packType; ///< of the packed factors
  int64_t packedK = 0; ///< of a block
  /// b is contiguous along all of k, though in another order than a: kInner outermost, then kMiddle, `window` elements together.
  bool runs = false;
  int64_t window = 1;
  /// Every tile of `mr` rows is a piece of one run of the innermost row index.
  bool isStraight(int64_t mr) const {
    if (mOrder.size() == 1)
      return tile.shortTiles > 0 || rows() % tile.mr == 0;
    return !mOrder.empty() && tile.shortTiles == 0 && rows() % mr == 0 && model.atomSizes[mOrder.back()] % mr == 0;
  }
  /// Register tiles that the rows of a block are cut into.
  int64_t rowTiles() const { return llvm::divideCeil(tile.blockRows, tile.mr); }
  /// k that one multiplication of the matrix unit takes.
  int64_t matrixDepth() const { return kMatrixRows * group; }
  /// k of a part, the last one may have less.
  int64_t partK() const { return llvm::alignTo(llvm::divideCeil(packedK, tile.parts), matrixDepth()); }
  /// Packed factors have no gaps: k of a block can be counted instead of nested.
  bool isDense() const { return kMiddle.empty() || (tile.kStride == tile.kc && model.atomSizes[kInner] % tile.kc == 0); }

protected:
  /// Fact: rows of a register of the matrix unit, each a vector.
  static constexpr int64_t kMatrixRows = fusion::kMatrixUnitRows;
  /// Panels that are packed side by side, where b has rows that several of them are pieces of: all groups have enough of them. 1 where not.
  int64_t panelsAtOnce() const {
    if (b.lane != nLane || runs || panelAtom >= 0 || tile.groupPanels < 2)
      return 1;
    // Narrow factors that several chunks of rows pass: as many bytes of a row.
    int64_t last = tile.panels % tile.groupPanels;
    for (int64_t count : {8, 4})
      if ((count == 4 || (matrixUnit && tile.chunkRows < tile.blockRows)) && (last == 0 || last >= count))
        return std::min(count, tile.groupPanels);
    return 1;
  }
  /// Bytes of the level 2 cache that blocks are cut for. Vectors are not faster with blocks for more than 1 MiB: of 2 MiB, products of 1024 x 1024
  /// f32 take 13.5 ms where blocks for 1 MiB take 13.1 (Xeon, one thread, xla-run --target-caches); the matrix unit is, 2.09 to 1.94 ms in bf16.
  int64_t nearBytes() const {
    // Bytes of the level 2 cache that blocks are cut for. Vectors are not faster with blocks for more: the matrix unit is, 2.09 to 1.94 ms in bf16.
    // Unit: bytes. Source: xla-run --target-caches, Xeon, one thread: 1024 x 1024 f32 takes 13.5 ms with blocks for 2 MiB, 13.1 with 1 MiB.
    constexpr int64_t kMaxVectorBlockBytes = 1 << 20;
    return matrixUnit ? target.l2Bytes : std::min(target.l2Bytes, kMaxVectorBlockBytes);
  }

  /// `node` and its siblings.
  int64_t sums() const { return 1 + static_cast<int64_t>(siblings.size()); }

private:
  mlir::LogicalResult match();
  mlir::LogicalResult classify();
  mlir::LogicalResult matchSiblings();
  bool readsComputed(const Operand &operand) const;
  void chooseInnermost();
  void chooseInstructions();
  void chooseTile();
  void chooseBlocks();
  void findPanels();
  void chooseUnits();
  bool chooseRuns(llvm::SmallVector<int> order);
  int contiguousAtom(const Operand &operand, AtomSet candidates) const;
  bool plainBuffer(const Side &side) const;
  double bytesOf(const Operand &operand, int atom, bool unit) const;
  bool isPanel(const Side &side) const;
  bool isFlat(const Side &side) const;
  bool canPackAhead() const;
  bool shouldPackAhead(int64_t atOnce) const;
  bool isWidened(const Side &side) const;
};

/// The operand that the code of emitContraction() for `fn` packs in every call, see fusion::PanelsOf. `fn` stays as it is.
std::optional<fusion::PanelLayout> panelsOfContraction(mlir::func::FuncOp fn, const KernelTarget &target);

} // namespace millrace::lowering
