// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowEmitter.h - The state of emitRowKernel() ------------------------===//
// RowPlan.cpp chooses the lanes and the order of computation, RowKernel.cpp generates the code, RowTiles.cpp that of wide sums of columns,
// ShortRows.cpp that of rows shorter than a vector, RowBlocks.cpp that of sums of products with a shared operand.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/model/SumOfProducts.h"

#include <map>

namespace millrace::lowering {

/// Reductions and outputs that are computed in one sweep.
struct RowGroup {
  int level = 0;
  AtomSet inner = 0;
  int lane = -1;  ///< row mode: the inner atom along the lanes
  int strips = 1; ///< row mode: vectors per step
  mlir::SmallVector<const Node *> reductions;
  mlir::SmallVector<const Output *> outputs;
  mlir::SmallVector<mlir::Value> keep; ///< values that the sweep stores to scratch
  double cost = 0;                     ///< of the computation of each element
  /// Data that this sweep prefetches: the next row's elements (row mode), or elements at some distance.
  struct Ahead {
    const Access *access;
    int64_t elements;
    bool isStore;
  };
  mlir::SmallVector<Ahead> ahead;
};

struct RowPlan {
  AtomSet parallel = 0; ///< atoms of the range (without the lane atom in column mode)
  mlir::SmallVector<int> rows; ///< those of them that are loops of an iteration, outermost first
  int lane = -1;
  bool column = false;
  int element = -1; ///< column mode: the index along rows that are shorter than a vector
  int64_t width = 1;
  int strips = 4;
  int64_t chunk = 0;  ///< column mode: lane elements per iteration
  int64_t chunks = 1;
  bool tiled = false; ///< column mode: an iteration adds some rows of its chunk at a time, accumulators are in scratch
  std::vector<RowGroup> groups;
  int block = -1;          ///< column mode: the atom of which an iteration computes several indices, which share an operand
  int64_t blockRows = 1;   ///< number of these indices
  int window = -1;         ///< the reduced atom along which windows of neighbouring indices overlap
  int64_t windowStep = 0;  ///< distance between the windows of neighbouring indices
  AtomSet behindChunks = 0; ///< atoms of the range that vary faster than the pieces of the lane atom
};

class RowEmitter {
public:
  RowEmitter(mlir::func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  mlir::FailureOr<EmittedKernel> run();

private:
  using Points = mlir::SmallVector<PointEvaluator, 4>;
  mlir::LogicalResult plan();
  int chooseLane(AtomSet candidates) const;
  void collectGroups();
  void chooseKept();
  void chooseAhead();
  void chooseLater(double costPerPoint);
  int evenStrips(int64_t vectors, int64_t others) const;
  int soonestStrips(int64_t vectors, int64_t others) const;
  bool suitsTiles(AtomSet reduced, double costPerPoint) const;
  int rowsAsLanes(AtomSet parallel, AtomSet reduced) const;
  const Node *onlyReduction() const;
  bool chooseBlock(AtomSet reduced);
  void chooseWindow(const Factor &moving, AtomSet reduced);
  void chooseBlockSizes();
  mlir::SmallVector<int> rangeAtoms() const;
  void blockPoints(PointEvaluator &first, mlir::Value base, int64_t rows, Points &points);
  int64_t windowPiece() const;
  mlir::SmallVector<mlir::Value> slideAll(Points &points, const Node &node, mlir::SmallVector<mlir::Value> carried);
  mlir::SmallVector<mlir::Value> slide(Points &points, const Node &node, mlir::Value begin, int64_t size, mlir::SmallVector<mlir::Value> carried);
  bool emit();
  runtime::RowRange rowsOfRange(int64_t rangeEnd) const;

  void emitGroups(Points &points);
  mlir::SmallVector<mlir::Value> nest(Points &points, mlir::ArrayRef<int> loops, const RowGroup &group, mlir::SmallVector<mlir::Value> carried);
  mlir::SmallVector<mlir::Value> sweep(PointEvaluator &row, const RowGroup &group, mlir::SmallVector<mlir::Value> carried);
  bool addsProducts(const Node &node, mlir::Value accumulator, SumOfProducts &products) const;
  void step(mlir::MutableArrayRef<PointEvaluator> points, const RowGroup &group, mlir::MutableArrayRef<mlir::Value> carried);
  void readShortRows(const PointEvaluator &at, int64_t lanes);
  void writeShortRows(const PointEvaluator &at, int64_t lanes);
  void eachElement(const PointEvaluator &at, const Access &access, const ScratchRow &tile, int64_t count, int64_t rows,
                   llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, mlir::Value, mlir::Value)> body);
  ScratchRow shortTile(const Access &access);
  bool isShortRow(const Output &output) const;
  void columnPieces(PointEvaluator &row, mlir::Value begin, mlir::Value end, bool last);
  /// A piece of the lane atom: whole strips, followed by the rest if it is the last piece.
  struct Piece {
    mlir::Value begin, end, isLast;
  };
  static void inBranch(PointEvaluator &at, mlir::Value condition, llvm::function_ref<void()> body);
  void emitBlocks(PointEvaluator &at, mlir::Value begin);
  void emitTiles(PointEvaluator &at, const Piece &piece);
  void tileRows(PointEvaluator &at, mlir::ArrayRef<int> loops, const RowGroup &group, const Piece &piece, mlir::ArrayRef<ScratchRow> sums);
  mlir::SmallVector<mlir::Type> accumulatorTypes(const RowGroup &group) const;
  /// Appends the vectors of `lanes` elements of the lane atom, starting at `base`.
  void columnPoints(const PointEvaluator &at, mlir::Value base, int64_t lanes, Points &points);
  void alongPiece(PointEvaluator &at, const Piece &piece, llvm::function_ref<void(Points &)> body);
  mlir::Value maskOf(PointEvaluator &at, int64_t lanes);
  mlir::Value start(PointEvaluator &at, const Node &node, int result, bool vector);
  mlir::SmallVector<mlir::Value> combine(PointEvaluator &at, const Node &node, mlir::ArrayRef<mlir::Value> left, mlir::ArrayRef<mlir::Value> right);
  mlir::SmallVector<mlir::Value> combineLanes(PointEvaluator &at, const Node &node, mlir::ArrayRef<mlir::Value> left, mlir::ArrayRef<mlir::Value> right);
  mlir::SmallVector<mlir::Value> finishReduction(PointEvaluator &at, const Node &node, mlir::SmallVector<mlir::Value> values);
  bool knowsIdentity(const Node &node) const;
  bool maySplit(const Node &node) const;
  mlir::Value keptMemory(mlir::Value value, unsigned slot, mlir::Type type, int64_t elements);
  bool isExtremum(const Node &node, const RowGroup &group) const;
  bool isExtremum(const Node &node) const;
  unsigned carriedBy(const Node &node, const RowGroup &group) const { return isExtremum(node, group) ? 3 : node.op->getNumResults(); }
  mlir::SmallVector<mlir::Value> startExtremum(PointEvaluator &at, const Node &node);
  void stepExtremum(mlir::MutableArrayRef<PointEvaluator> points, const Node &node, mlir::MutableArrayRef<mlir::Value> carried, unsigned slot);
  mlir::Value finishExtremum(PointEvaluator &at, const Node &node, mlir::ArrayRef<mlir::SmallVector<mlir::Value>> slots);
  void askAhead(PointEvaluator &point, const RowGroup &group, int64_t lanesBefore);
  bool hasLanes(const RowGroup &group) const { return plan_.column || group.lane >= 0; }

  mlir::func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  RowPlan plan_;
  mlir::func::FuncOp shell;
  std::unique_ptr<Scratch> scratch;
  std::map<std::pair<void *, unsigned>, mlir::Value> kept;
  std::map<const Access *, mlir::Value> shortTiles;
  mlir::SmallVector<std::pair<const Access *, ScratchRow>> shortReads; ///< of rows that are in the lanes
  std::string why;
};

} // namespace millrace::lowering
