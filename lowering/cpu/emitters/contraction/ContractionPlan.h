// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContractionPlan.h - Plan blocks, panels and register tiles ---------===//
// Which indices are rows, columns and contracted, which operands are packed, and how large blocks and register tiles are: plain data, decided before
// any code is emitted.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/contraction/GroupedProducts.h"
#include "lowering/cpu/emitters/model/KernelModel.h"
#include "lowering/cpu/emitters/model/SumOfProducts.h"
#include "passes/fusion/MatrixUnitShapes.h"
#include "passes/fusion/operands/PrepareConstants.h"

namespace millrace::lowering {

/// One operand of the contraction.
struct Side : Factor {
  bool packed = true;
  int lane = -1; ///< atom along which it is contiguous
};

/// The sizes of the loops.
struct Tiling {
  int64_t lanes = 1;
  int64_t mr = 1, nv = 1; ///< rows and vectors of the register tile
  int64_t shortTiles = 0; ///< of mr - 1 rows, after all others; without them the last tile begins earlier
  int64_t kc = 1;         ///< of the innermost k atom, per block
  int64_t kStride = 1;    ///< distance between consecutive indices of the next k atom in packed operands: kc and padding
  int64_t kChunks = 1;
  int64_t parts = 1;      ///< of a block's k, between which AMX stores the sums of one panel
  int64_t splits = 1, splitLength = 1; ///< parts of the outermost k atom that is packed
  int64_t blockRows = 1, mBlocks = 1;
  int64_t chunkRows = 1;  ///< rows of a block that stay in the level 2 cache while they are multiplied with the panels of a group
  int64_t packedPanels = 1; ///< of a group, that scratch holds: all of them if there are several chunks, else those that are packed side by side
  int64_t groupPanels = 1, groups = 1, panels = 1;
  bool ahead = false; ///< the next panels are packed while packedPanels are multiplied, a few rows of b before each tile
  int64_t nr() const { return lanes * nv; }
};

/// The rows and vectors of a register tile, and four times the cycles that a contraction of `rows` x `columns` takes per k. `cutsLast`: the last
/// panel has its own code where that pays.
struct RegisterTile {
  int64_t mr, nv, cycles;
};
RegisterTile chooseRegisterTile(int64_t rows, int64_t columns, int64_t lanes, int64_t registers, int64_t threads, bool cutsLast);

/// Returns the width of the panels that the plan for `rows` x `columns` reads without packing; 0 if they do not divide `columns`.
int64_t choosePanelWidth(int64_t rows, int64_t columns, mlir::Type element, const KernelTarget &target);

struct ContractionPlan {
  ContractionPlan(mlir::func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  /// Makes the plan; on failure `why` names what the emitter does not support.
  mlir::LogicalResult make();

  int64_t rows() const { return model.product(mAtoms); }
  /// Returns true if the number of rows is known at run time only: rows() is the largest number.
  bool hasOpenRows() const { return model.rowAtom >= 0 && (mAtoms & atomBit(model.rowAtom)); }
  /// Returns the rows of the contraction for each row of the program.
  int64_t productRows() const { return rows() / model.atomSizes[model.rowAtom] * model.rowIndices; }
  /// Returns the rows of the register tiles after the last whole one: a divisor of the rows of a register tile.
  int64_t tailRows() const;
  /// Returns true if no row is computed behind the last one that exists. Rows that are packed, or multiplied by AMX, come in whole tiles.
  bool hasExactRows() const { return hasOpenRows() && !a.packed && !matrixUnit; }
  /// Returns true if the parallel range is blocks of rows only.
  bool rowsAreRange() const { return model.product(outerAtoms()) * tile.groups == 1; }
  /// Returns the atoms of which a unit has one index, besides blocks of rows and groups of panels.
  AtomSet outerAtoms() const { return batch | (nAtoms & ~atomBit(nLane) & ~atomBit(panelAtom)); }
  bool columnsMasked() const { return model.atomSizes[nLane] % tile.nr() != 0; }
  /// Returns true if the last panel may have its own code. Without mask registers finishPanel() has two versions of the code already.
  bool cutsLast() const { return target.avx512 && !matrixUnit && siblings.empty(); }
  /// Returns the vectors of the last panel that have columns, if it has its own code, else all of them.
  int64_t lastVectors() const;
  /// Returns the number of blocks of k, between which partial sums are stored.
  int64_t kBlocks() const;
  double productsPerCycle() const;
  /// Returns the layout of all packed panels of b, block of k by block of k; nothing if b is not packed, or is not all of a buffer.
  std::optional<fusion::PanelLayout> panelLayout() const;
  /// Returns true if all panels together exceed the nearest cache, and several tiles of rows read each.
  bool prefetchesPanels() const;
  /// Returns true if packed panels are an argument of the kernel (kPanelsAttr): nothing is packed.
  bool hasPanels() const { return panelsBuffer >= 0; }

  mlir::func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::string why;

  /// One of several contractions with the same rows and other columns of an operand (the gates of a recurrent network): `node` and its properties.
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
  /// Neighbouring k that one instruction multiplies and adds in a lane: two of bf16, four of 8-bit integers.
  int64_t group = 1;
  GroupedProducts grouped; ///< that instruction, unless AMX has it
  bool matrixUnit = false; ///< AMX: a register tile is 16 x 16 sums in each of its registers
  mlir::Type packType; ///< of the packed factors
  /// Returns the type of packed elements of a, which is read more often than b and is widened when it is packed.
  mlir::Type packTypeOfA() const { return grouped.widens() ? mlir::IntegerType::get(packType.getContext(), 16) : packType; }
  int64_t packedK = 0; ///< of a block
  /// True if b is contiguous along all of k, in another order than a: kInner outermost, then kMiddle, `window` elements together.
  bool runs = false;
  int64_t window = 1;
  /// Returns true if every tile of `mr` rows is within one run of the innermost row index.
  bool isStraight(int64_t mr) const {
    if (mOrder.size() == 1)
      return tile.shortTiles > 0 || rows() % tile.mr == 0;
    return !mOrder.empty() && tile.shortTiles == 0 && rows() % mr == 0 && model.atomSizes[mOrder.back()] % mr == 0;
  }
  /// Returns the number of register tiles for the rows of a block.
  int64_t rowTiles() const { return llvm::divideCeil(tile.blockRows, tile.mr); }
  /// Returns the number of k that one AMX multiplication takes.
  int64_t matrixDepth() const { return kMatrixRows * group; }
  /// Returns the number of k of a part; the last one may have fewer.
  int64_t partK() const { return llvm::alignTo(llvm::divideCeil(packedK, tile.parts), matrixDepth()); }
  /// Returns true if packed operands have no gaps, so that one loop counts the k of a block.
  bool isDense() const { return kMiddle.empty() || (tile.kStride == tile.kc && model.atomSizes[kInner] % tile.kc == 0); }

protected:
  /// Fact: rows of an AMX tile register, each a vector.
  static constexpr int64_t kMatrixRows = fusion::kMatrixUnitRows;
  /// Returns the number of panels that are packed together, where several panels are pieces of b's rows; 1 where they are not.
  int64_t panelsAtOnce() const {
    if (b.lane != nLane || runs || panelAtom >= 0 || tile.groupPanels < 2)
      return 1;
    // A narrow operand that several chunks of rows use: the panels hold as many bytes of a row.
    int64_t last = tile.panels % tile.groupPanels;
    for (int64_t count : {8, 4})
      if ((count == 4 || (matrixUnit && tile.chunkRows < tile.blockRows)) && (last == 0 || last >= count))
        return std::min(count, tile.groupPanels);
    return 1;
  }
  /// Returns the bytes of the level 2 cache that blocks may fill: all of the cache for AMX, and at most kMaxVectorBlockBytes for vectors.
  int64_t blockCacheBytes() const {
    // Bytes of the level 2 cache that blocks are cut for. Vectors are not faster with blocks for more: the matrix unit is, 2.09 to 1.94 ms in bf16.
    // Unit: bytes. Source: xla-run --target-caches, Xeon, one thread: 1024 x 1024 f32 takes 13.5 ms with blocks for 2 MiB, 13.1 with 1 MiB.
    constexpr int64_t kMaxVectorBlockBytes = 1 << 20;
    return matrixUnit ? target.l2Bytes : std::min(target.l2Bytes, kMaxVectorBlockBytes);
  }

  /// Returns the number of sums: `node` and its siblings.
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
};

/// The operand that the code of emitContraction() for `fn` packs in every call, see fusion::PanelsOf. `fn` stays as it is.
std::optional<fusion::PanelLayout> panelsOfContraction(mlir::func::FuncOp fn, const KernelTarget &target);

} // namespace millrace::lowering
