// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionEmitter.h - State of the attention emitter ----------------===//
#pragma once

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/model/SumOfProducts.h"

#include <optional>

namespace millrace::lowering::attention {

/// Vectors of a row that are computed at a time, so that sums have independent dependence chains. Unit: vectors. Source: judgement, not measured
/// alone; commit d11828a has the figures of the whole change.
constexpr int64_t kVectorsOfStrip = 2;

/// Rows of a result block of AMX tiles: two registers of 16. Unit: rows. Source: arithmetic: two by two registers of sums and two of each operand are
/// all eight.
constexpr int64_t kUnitRows = 32;
/// Columns of a result block of AMX tiles: two registers of 16. Unit: columns. Source: arithmetic, as kUnitRows.
constexpr int64_t kUnitColumns = 32;
/// Fact: terms of a sum that one AMX instruction adds: pairs of bf16 in the 16 rows of a register.
constexpr int64_t kUnitDepth = 32;

/// Rows, and vectors of columns, of the sums that are in registers.
struct RegisterTile {
  int64_t rows = 1, vectors = 1;
};

/// A causal or similar mask: one value replaces the scores wherever n >= limit, or is added to them, if it is -inf.
struct Mask {
  mlir::Value chosen;           ///< the masked scores
  const struct Source *scores = nullptr, *other = nullptr; ///< gradients of the weights, in a backward pass
  mlir::SmallVector<mlir::Value, 2> conditions;            ///< booleans that are false for n >= limit
  const Operand *low = nullptr; ///< the value of masked scores
  bool isSum = false;
  LinearExpr limit; ///< in the indices of the row
};

/// A matrix in scratch: element (i, j) is at base + i * stride + j * step.
struct Matrix {
  mlir::Value memory;
  int64_t stride = 0, step = 1;
};

/// A contraction of query rows and keys: the scores, or in a backward pass the gradients of their weights, too.
struct Source {
  SumOfProducts sum;
  Factor query, keys;
  int k = -1; ///< the contracted index
  bool inUnit = false; ///< computed by AMX in bf16: keys and queries are packed for it
  mlir::Value packedKeys;
  Matrix queryRows; ///< the packed query rows of a tile
};

/// A contraction of weights, which are computed from the sources, and values.
struct Product {
  SumOfProducts sum;
  Factor weights, values;
  int d = -1;          ///< the index that only the values have
  bool isSumOfRows = false; ///< summed over the rows, adding in each tile; else over the keys
  bool inUnit = false;      ///< computed by AMX with bf16 values and `narrowWeights`
  int64_t parts = 1;        ///< inUnit: bf16 values whose sum is a weight: three for f32
  mlir::SmallVector<const Output *> outputs;
  RegisterTile tile;
  int64_t piece = 1;
  unsigned slot = 0;        ///< of the weights
  mlir::Value packedValues; ///< packed along the keys
  Matrix valueRows;         ///< isSumOfRows: the packed value rows of a tile
  Matrix sums;              ///< of a tile, or isSumOfRows: of all keys
  Matrix narrowWeights;     ///< inUnit: the weights of a tile, with parts next to each other
  mlir::Value wideValues;   ///< parts > 1: packed along the keys, for values that are not finite: 0 * infinity is not 0
  RegisterTile wideTile;    ///< the register tile of wideValues
};

inline bool haveSameWeights(const Product &a, const Product &b) {
  return a.weights.operand->value == b.weights.operand->value && a.weights.converts == b.weights.converts;
}

class AttentionEmitter {
public:
  AttentionEmitter(mlir::func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  /// Returns success if run() supports the kernel; a remark gives the reason otherwise.
  mlir::LogicalResult can();
  mlir::FailureOr<EmittedKernel> run();

private:
  mlir::LogicalResult fail(const llvm::Twine &message) {
    why = message.str();
    return mlir::failure();
  }
  mlir::LogicalResult match();
  mlir::LogicalResult classify();
  mlir::LogicalResult findKeys();
  mlir::LogicalResult classifySources();
  mlir::LogicalResult classifyProducts();
  mlir::LogicalResult classifyOutputs();
  /// The sources and products on which a value depends.
  struct Reach {
    uint32_t sources = 0, products = 0; ///< as bits
  };
  Reach reachOf(const Operand &operand) const;
  Reach reachOf(const Node &node) const { return reach[&node - model.nodes.data()]; }
  bool dependsOnScores(const Operand &operand) const { return reachOf(operand).sources; }
  const Source *sourceOf(mlir::Value tensor) const;
  bool sumsRows() const {
    return llvm::any_of(products, [](const Product &product) { return product.isSumOfRows; });
  }
  bool isForward() const { return sources.size() == 1 && products.size() == 1 && !products[0].isSumOfRows; }
  AtomSet reads(const Operand &operand) const;
  bool isContiguous(const Operand &operand, int atom) const;
  RegisterTile chooseTile(int64_t rows, int64_t columns) const;
  void chooseSlots();
  void chooseGroups(int64_t rows, int64_t packed);
  double cyclesOfProducts() const;
  void chooseBlocks();
  // AttentionUnit.cpp
  const Operand *narrowOf(const Factor &factor) const;
  void chooseUnit();
  bool usesUnit() const;
  void packPairs(PointEvaluator &unit, const Operand &operand, int column, int depth, mlir::Value memory);
  void packNarrowRows(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows, const Operand &operand, int atom, const Matrix &to);
  void narrowWeights(PointEvaluator &tile, mlir::Value rows, const Product &product);
  void multiplyInUnit(PointEvaluator &tile, mlir::Value rows, const Matrix &a, int64_t parts, mlir::Value panels, mlir::Value columnsEnd,
                      mlir::Value depthEnd, int64_t depth, const Matrix &c);
  mlir::SmallVector<mlir::Value> liveAfter(int level) const;
  void matchMask();
  bool areScores(const Operand &operand) const;
  std::optional<Mask> maskOf(const Node &node, const Operand *&condition) const;
  bool followsFrom(const Mask &mask, const Operand &operand) const;
  bool canLeaveOut(const Mask &mask) const;
  std::optional<std::vector<bool>> linearIn(const Source &source) const;
  std::optional<LinearExpr> linearOf(const Operand &operand) const;
  std::optional<LinearExpr> linearOf(const Node &node, mlir::Value value) const;
  std::optional<LinearExpr> marginOf(const Operand &operand) const;

  bool emit();
  void takeScratch();
  void bindLanes(PointEvaluator &at, int atom, mlir::Value begin, int64_t step);
  void packColumns(PointEvaluator &unit, const SumOfProducts &sum, const Factor &factor, int column, int depth, mlir::Value memory, int64_t vectors);
  mlir::Value areUnitsOrdinary(PointEvaluator &unit);
  mlir::Value areRowsOrdinary(PointEvaluator &tile, mlir::Value rows);
  mlir::Value areOrdinary(PointEvaluator &unit, const Matrix &numbers, mlir::Value rows, int64_t width);
  void packRows(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows, const SumOfProducts &sum, const Factor &factor, int atom, const Matrix &to);
  mlir::Value reachOfRows(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows);
  void multiply(PointEvaluator &at, const RegisterTile &tile, const Matrix &a, mlir::Value aBase, const Matrix &panel, mlir::Value panelBase,
                mlir::Value kBegin, mlir::Value kEnd, const Matrix &c, mlir::Value cBase, bool isSumming);
  void multiplyTile(PointEvaluator &tile, mlir::Value rows, const Source &source, const Matrix &to);
  void packValues(PointEvaluator &unit);
  void multiplyValues(PointEvaluator &tile, mlir::Value rows, const Product &product);
  void multiplyWideValues(PointEvaluator &tile, mlir::Value rows, const Product &product);
  void multiplyRows(PointEvaluator &tile, mlir::Value rows, const Product &product);
  mlir::Value sweepRows(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows);
  void atMaskedPoints(PointEvaluator &row, llvm::function_ref<void(PointEvaluator &)> check);
  void clearBehind(PointEvaluator &row, mlir::Value rowBase);
  void isZero(PointEvaluator &at, mlir::Value number);
  mlir::Value computeTile(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows);
  void computeUnmasked(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows, mlir::Value reach, mlir::Value areNumbers);
  mlir::SmallVector<mlir::Value> sweep(PointEvaluator &row, mlir::SmallVector<mlir::Value> carried,
                                       llvm::function_ref<void(PointEvaluator &, mlir::MutableArrayRef<mlir::Value>)> step);
  void bindHeld(PointEvaluator &point, mlir::Value rowBase);
  void hold(PointEvaluator &point, mlir::Value rowBase, unsigned slot, mlir::Value vector);
  mlir::SmallVector<mlir::Value> placeInSlots(mlir::ArrayRef<mlir::Value> live) const;
  void reduceRow(PointEvaluator &row, int level, mlir::Value rowBase);
  void leaveWeights(PointEvaluator &row, mlir::Value rowBase);
  void clear(PointEvaluator &unit, const Matrix &numbers, int64_t count);
  void finish(PointEvaluator &at, const Product &product, mlir::Value count, llvm::function_ref<void(PointEvaluator &, mlir::Value)> bindRow);

  mlir::func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::string why;

  mlir::SmallVector<Source, 2> sources;
  mlir::SmallVector<Product, 3> products;
  std::vector<Reach> reach; ///< of each node
  AtomSet batch = 0, rowAtoms = 0;
  mlir::SmallVector<int> batchOrder, rowOrder;
  int n = -1; ///< index of the keys
  int lastLevel = 0;
  mlir::SmallVector<const Output *> rowOutputs;
  mlir::Type type; ///< of all sums

  int64_t lanes = 1, tileRows = 1, groupRows = 1, groups = 1;
  RegisterTile scoreTile;
  mlir::func::FuncOp shell;
  mlir::SmallVector<Matrix, 3> slots;    ///< values of a tile with the shape of the scores
  mlir::SmallVector<mlir::Value, 3> held; ///< the tensor whose elements each slot holds, null if none
  std::optional<Mask> mask;
  mlir::Value keysEnd;   ///< the keys of the current tile are [0, keysEnd): all, or a multiple of `keyStep`
  int64_t keyStep = 1;
  mlir::Value maskedIsZero; ///< i1: keys from keysEnd on have changed nothing in the current row so far
  mlir::Value areParts;   ///< i1: values are finite, so that weights may be multiplied in parts; null if no product needs it
  mlir::Value floatControl; ///< for FloatControl.h
  mlir::Value unitFormat; ///< configuration of the AMX tiles, if used
  int64_t scratchBytes = 0;
};

} // namespace millrace::lowering::attention
