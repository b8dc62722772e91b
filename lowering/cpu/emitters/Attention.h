// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attention.h - The emitter of attention, for its own files ----------===//
#pragma once

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/SumOfProducts.h"

#include <optional>

namespace millrace::lowering::attention {

/// Vectors of a row at a time: sums do not wait for each other.
constexpr int64_t kStrip = 2;

/// Rows and vectors of columns whose sums are in registers.
struct RegisterTile {
  int64_t rows = 1, vectors = 1;
};

/// One number instead of the scores wherever n >= limit (causal masks), or added to them, if it is -inf.
struct Mask {
  mlir::Value chosen;           ///< the tensor of scores and that number
  const Operand *low = nullptr; ///< the number
  bool isSum = false;
  LinearExpr limit; ///< of the row's indices
};

/// Numbers in scratch: element (i, j) is at base + i * stride + j * step.
struct Matrix {
  mlir::Value memory;
  int64_t stride = 0, step = 1;
};

class AttentionEmitter {
public:
  AttentionEmitter(mlir::func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  mlir::FailureOr<EmittedKernel> run();

private:
  mlir::LogicalResult fail(const llvm::Twine &message) {
    why = message.str();
    return mlir::failure();
  }
  mlir::LogicalResult match();
  mlir::LogicalResult classify();
  bool dependsOnScores(const Operand &operand) const;
  AtomSet reads(const Operand &operand) const;
  bool isContiguous(const Operand &operand, int atom) const;
  RegisterTile chooseTile(int64_t rows, int64_t columns) const;
  void chooseBlocks();
  mlir::Value liveAfter(int level) const;
  void matchMask();
  bool areScores(const Operand &operand) const;
  std::optional<Mask> maskOf(const Node &node, const Operand *&condition) const;
  bool followsFrom(mlir::Value tensor, const Operand &operand) const;
  std::optional<LinearExpr> linearOf(const Operand &operand) const;
  std::optional<LinearExpr> linearOf(const Node &node, mlir::Value value) const;
  std::optional<LinearExpr> marginOf(const Operand &operand) const;

  bool emit();
  void bindLanes(PointEvaluator &at, int atom, mlir::Value begin, int64_t step);
  void packColumns(PointEvaluator &unit, const SumOfProducts &sum, const Factor &factor, int column, int depth, mlir::Value memory, int64_t vectors);
  mlir::Value areOrdinary(PointEvaluator &unit, const Matrix &numbers, mlir::Value rows, int64_t width);
  mlir::Value packRows(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows);
  void multiply(PointEvaluator &at, const RegisterTile &tile, const Matrix &a, mlir::Value aBase, mlir::Value panel, mlir::Value panelBase, mlir::Value kBegin,
                mlir::Value kEnd, const Matrix &c, mlir::Value cBase, bool isSumming);
  void multiplyTile(PointEvaluator &tile, mlir::Value rows);
  void multiplyValues(PointEvaluator &tile, mlir::Value rows);
  mlir::Value sweepRows(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows);
  PointEvaluator maskedPoint(PointEvaluator &row);
  void isZero(PointEvaluator &at, mlir::Value number);
  mlir::Value computeTile(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows);
  void computeUnmasked(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows, mlir::Value reach, mlir::Value areNumbers);
  mlir::SmallVector<mlir::Value> sweep(PointEvaluator &row, mlir::SmallVector<mlir::Value> carried,
                                       llvm::function_ref<void(PointEvaluator &, mlir::MutableArrayRef<mlir::Value>)> step);
  void bindHeld(PointEvaluator &point, mlir::Value rowBase);
  void hold(PointEvaluator &point, mlir::Value rowBase, mlir::Value vector);
  void reduceRow(PointEvaluator &row, int level, mlir::Value rowBase);
  void finishRows(PointEvaluator &tile, mlir::Value rowBegin, mlir::Value rows);

  mlir::func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::string why;

  SumOfProducts scores, result;
  Factor query, keys, weights, values;
  AtomSet batch = 0, rowAtoms = 0;
  mlir::SmallVector<int> batchOrder, rowOrder;
  int n = -1, k = -1, d = -1;
  int lastLevel = 0;
  mlir::SmallVector<const Output *> rowOutputs, outputs;
  mlir::Type type; ///< of all sums

  int64_t lanes = 1, tileRows = 1, groupRows = 1, groups = 1, piece = 1;
  RegisterTile scoreTile, valueTile;
  mlir::func::FuncOp shell;
  mlir::Value packedKeys, packedValues;
  Matrix queryRows, tileScores, sums;
  mlir::Value held; ///< the tensor whose elements `tileScores` holds
  std::optional<Mask> mask;
  mlir::Value keysEnd;   ///< the keys of the current tile are [0, keysEnd): all, or a multiple of `keyStep`
  int64_t keyStep = 1;
  mlir::Value maskedIsZero; ///< i1: so far, keys from keysEnd on change nothing in the current row
  int64_t scratchBytes = 0;
};

} // namespace millrace::lowering::attention
