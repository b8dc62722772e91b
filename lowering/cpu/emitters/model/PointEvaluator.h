// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointEvaluator.h - Emit values of a kernel at one point or vector ---===//
// Emits the code that computes a value of the kernel where the atoms have given indices. One atom may run along the lanes of a vector. A value is
// computed in the outermost scope in which all its operands are available, once per scope.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/model/KernelModel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <memory>

namespace millrace::lowering {
struct KernelTarget;

/// Insertion points, outermost first. Scopes may share a block.
struct Scope {
  mlir::Block *block = nullptr;
  mlir::Operation *inner = nullptr; ///< the loop being filled in this block: code goes before it
  AtomSet available = 0;            ///< atoms bound here and in outer scopes
  AtomSet own = 0;                  ///< atoms bound here
  llvm::DenseMap<int, mlir::Value> indices;
  llvm::DenseMap<mlir::Value, mlir::Value> values;  ///< tensor value -> scalar or vector
  llvm::DenseMap<mlir::Value, mlir::Value> splats;  ///< scalar -> vector
  llvm::DenseMap<const Access *, mlir::Value> addresses;
  llvm::DenseMap<const Access *, mlir::Value> loads;
  llvm::DenseMap<int64_t, mlir::Value> constants;       ///< index constants, in the outermost scope
  llvm::DenseMap<mlir::Attribute, mlir::Value> numbers; ///< other constants, in the outermost scope
};

/// A row of values in scratch memory, addressed like a buffer.
struct ScratchRow {
  mlir::Value memref;
  LinearExpr address;
  bool alongLanes = false; ///< consecutive lanes are consecutive elements
  mlir::Value origin;      ///< the address of the first element; 0 if null
};

class PointEvaluator {
public:
  PointEvaluator(const KernelModel &model, const KernelTarget &target, mlir::func::FuncOp fn, int64_t lanes);

  // Scopes. A copy of the evaluator shares the scopes entered so far.
  void enter(mlir::Block *block);
  void enterLoop(mlir::scf::ForOp loop) { enterRegion(loop, loop.getBody()); }
  void enterRegion(mlir::Operation *op, mlir::Block *block);
  void leave();
  void bindIndex(int atom, mlir::Value index);
  void bindTask() { scopes.back()->available |= kInsideTask; }
  /// Binds `value` (a tensor of the kernel) to the scalar or vector `bound` in this scope and inner ones.
  void bind(mlir::Value value, mlir::Value bound) { scopes.back()->values[value] = bound; }
  /// Binds the result of reading `access` in this scope.
  void bindLoad(const Access &access, mlir::Value loaded) { scopes.back()->loads[&access] = loaded; }
  // Values kept in scratch: keepIn sets the place, storeKept stores the value at this point, readKept makes later evaluations read it.
  void keepIn(mlir::Value value, ScratchRow row) { keeping[value] = row; }
  void storeKept(mlir::Value value, mlir::Value computed) { storeScratch(keeping[value], computed); }
  void readKept(mlir::Value value) { scratch[value] = keeping[value]; }
  /// Sets the atom that runs along lanes: its bound index is that of lane 0. `count` lanes exist, all without a mask.
  void setLanes(int atom, mlir::Value mask = {}, mlir::Value count = {});
  int laneAtom() const { return vectorAtom; }
  mlir::Value laneMask() const { return mask; }
  int64_t lanes() const { return width; }

  // Values.
  mlir::Value evaluate(const Operand &operand); ///< scalar if it is the same for all lanes
  mlir::Value evaluateVector(const Operand &operand);
  /// Returns the arguments of the node's body for its inputs.
  mlir::SmallVector<mlir::Value> inputsOf(const Node &node);
  /// Clones the body with the given block arguments (scalars or vectors) in the current scope.
  mlir::SmallVector<mlir::Value> cloneBody(const Node &node, mlir::ArrayRef<mlir::Value> args);
  mlir::Value cloneOn(mlir::Operation *op, mlir::ArrayRef<mlir::Value> operands);
  /// Evaluates a value of the body that does not depend on block arguments given as null.
  mlir::Value evaluateInBody(const Node &node, mlir::Value value, mlir::ArrayRef<mlir::Value> args);
  mlir::Value splat(mlir::Value scalar);
  mlir::Value broadcastTo(mlir::Value value, mlir::Type like);

  // Memory, in the current scope.
  mlir::Value load(const Access &access);
  void store(const Access &access, mlir::Value value);
  /// Stores to all `outputs`; whole vectors if the outputs are interleaved along the lanes.
  void storeAll(mlir::ArrayRef<const Output *> outputs, mlir::ArrayRef<mlir::Value> values);
  mlir::Value loadScratch(const ScratchRow &row, mlir::Type elementType);
  void storeScratch(const ScratchRow &row, mlir::Value value);
  /// Returns the address with all bound atoms.
  mlir::Value address(const Access &access);
  mlir::Value linear(const LinearExpr &expr);
  /// Returns the terms of the atoms `which`, without the offset.
  mlir::Value terms(const LinearExpr &expr, AtomSet which);
  mlir::Value index(int atom) { return indexOf(atom); }

  /// Returns true if a value was needed where it is not available (a fault of the emitter): the generated code is unusable.
  bool broken() const { return *faulty; }

  // Access to the insertion point.
  mlir::OpBuilder builder() const;
  mlir::Location loc() const { return location; }
  mlir::Value constant(int64_t value);
  mlir::Value number(mlir::TypedAttr attr);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value addConstant(mlir::Value a, int64_t b);
  mlir::Value mulConstant(mlir::Value a, int64_t b);
  mlir::Block *block() const { return scopes.back()->block; }
  mlir::Value buffer(int index) const { return fn.getArgument(index); }
  const KernelModel &kernel() const { return model; }
  mlir::VectorType vectorOf(mlir::Type element) const { return mlir::VectorType::get({width}, element); }

private:
  using Known = llvm::DenseMap<mlir::Value, mlir::Value>;
  mlir::Value outside(const Node &node, mlir::Value value);
  mlir::Value valueInBody(const Node &node, mlir::Value value, mlir::ArrayRef<mlir::Value> args, Known &known);
  mlir::Value computeInBody(const Node &node, mlir::Value value, mlir::ArrayRef<mlir::Value> args, Known &known);
  mlir::Value scratchAddress(const ScratchRow &row);
  mlir::Value loopIndex(const LinearExpr &expr);
  mlir::Value readAt(const Node &node, const Read &read, mlir::ArrayRef<mlir::Value> args, Known &known);
  mlir::Value gatherShared(mlir::Value memref, mlir::Value at, mlir::Value perLane, int64_t elements);
  std::optional<AtomSet> atomsInBody(const Node &node, mlir::Value value) const;
  mlir::Value faultyNumber(mlir::Type type);
  mlir::OpBuilder builderAt(Scope &scope) const;
  int scopeFor(AtomSet need) const;
  mlir::Value indexOf(int atom);
  mlir::Value loadVector(mlir::Value memref, mlir::Value address, int64_t stride, mlir::Type element,
                         mlir::Value laneGuard, mlir::Value padding);
  mlir::Value fromStorage(mlir::Value stored, mlir::Type element);
  mlir::Value toStorage(mlir::Value value);

  const KernelModel &model;
  const KernelTarget &target;
  mutable mlir::func::FuncOp fn; // handles have no const accessors
  mlir::Location location;
  int64_t width;
  int vectorAtom = -1;
  mlir::Value mask, laneCount;
  std::vector<std::shared_ptr<Scope>> scopes;
  std::shared_ptr<bool> faulty = std::make_shared<bool>(false);
  llvm::DenseMap<mlir::Value, ScratchRow> scratch, keeping;
};

} // namespace millrace::lowering
