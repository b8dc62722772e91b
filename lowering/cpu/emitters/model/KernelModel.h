// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModel.h - A kernel as loop indices, accesses and bodies ------===//
// What the emitters read of a kernel, as plain data: which loop indices (atoms) each value depends on, at which linear address each operation reads
// its buffers, and which scalar body it evaluates. Transposes, reshapes, broadcasts and slices of buffers have become addresses; the atoms are as
// coarse as all addresses allow.
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/stablehlo/IndexAtoms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <string>

namespace millrace::lowering {

using stablehlo::AtomList;
using stablehlo::IndexAtoms;

/// Bit i stands for atom i.
using AtomSet = uint64_t;
/// Fact: a flag in a set of atoms, not an atom: set for values that depend on a reduction, which exist only inside the loop over the range.
inline constexpr AtomSet kInsideTask = AtomSet(1) << 63;
/// Fact: bits of an AtomSet without the flag.
inline constexpr int kMaxAtoms = 62;

/// The expression offset + sum of atom * coefficient.
struct LinearExpr {
  mlir::SmallVector<std::pair<int, int64_t>, 4> terms;
  int64_t offset = 0;

  void add(int atom, int64_t coefficient);
  int64_t coefficient(int atom) const;
  AtomSet atoms() const;
};

/// The bound of a padded dimension: the element exists if 0 <= index < size.
struct Guard {
  LinearExpr index;
  int64_t size = 0;
};

/// A flat buffer and an address in it.
struct Access {
  int buffer = -1;
  mlir::Type elementType; ///< of the tensor; i1 is stored as i8
  int64_t numElements = 1;
  LinearExpr address;
  mlir::SmallVector<Guard, 2> guards;
  mlir::TypedAttr padding; ///< the element if a guard does not hold

  AtomSet atoms() const;
};

/// An operand of an operation: another operation's result, a buffer, or a scalar.
struct Operand {
  enum Kind { None, Intermediate, Buffer, Scalar } kind = None;
  mlir::Value value; ///< Intermediate
  Access access;     ///< Buffer
  mlir::TypedAttr scalar;
  mlir::Type elementType;
};

/// An element that a body reads at computed indices (gathers): `access` is the part of the address that is linear in the loops, the rest are values
/// of the body times strides.
struct Read {
  mlir::Operation *op = nullptr; ///< tensor.extract
  Access access;
  mlir::SmallVector<std::pair<mlir::Value, int64_t>, 2> computed;
  bool isIndex = false; ///< used only by indices of other reads
};

/// One operation of the kernel.
struct Node {
  mlir::Operation *op = nullptr;
  mlir::Block *body = nullptr; ///< null: the result is the operand (a reshape)
  mlir::SmallVector<Operand, 4> inputs;
  mlir::SmallVector<Operand, 2> inits;     ///< parallel to the results
  mlir::SmallVector<std::pair<mlir::Value, Operand>, 1> captured; ///< scalars defined outside of the body, elements it extracts at its loop indices
  mlir::SmallVector<Read, 0> reads;        ///< at computed indices
  mlir::SmallVector<int, 0> indexBuffers;  ///< buffers of captured elements used only by indices of reads
  mlir::SmallVector<LinearExpr, 4> loops;  ///< loop dimension of linalg.index -> atoms
  AtomSet iteration = 0;
  AtomSet kept = 0;      ///< atoms of the results
  AtomSet depends = 0;   ///< kept, and kInsideTask if it depends on a reduction
  bool reduction = false;
  bool usesIndex = false;
  int level = 0;         ///< number of reductions on which the value depends in sequence
  double cost = 0;       ///< scalar operations per iteration point, without those on indices
  AtomSet reduced() const { return iteration & ~kept; }
};

struct Output {
  Operand value;
  Access store;
};

struct KernelModel {
  std::vector<Node> nodes; ///< in program order
  llvm::DenseMap<mlir::Value, std::pair<int, int>> producer; ///< value -> node, result index
  mlir::SmallVector<Output, 2> outputs;
  mlir::SmallVector<int64_t> atomSizes;
  mlir::SmallVector<int64_t> bufferElements; ///< inputs, then outputs
  mlir::SmallVector<mlir::Type> bufferTypes; ///< storage element types
  AtomSet allAtoms = 0;
  int rowAtom = -1;       ///< of a kernel for a run-time number of rows: the atom that has the rows outermost; what is behind the last one is not needed
  int64_t rowIndices = 0; ///< so many indices of it are one row
  int maxElementBits = 8; ///< widest element computed or stored

  const Node &nodeOf(const Operand &operand) const { return nodes[producer.find(operand.value)->second.first]; }
  /// Returns the atoms (and kInsideTask) that must be bound to evaluate the operand.
  AtomSet depends(const Operand &operand) const;
  int level(const Operand &operand) const;
  int64_t product(AtomSet atoms) const;
  /// Returns true if some body reads at computed indices.
  bool hasComputedReads() const;
  /// Calls `visit` for every access of operations and outputs (`isStore` for the latter).
  void forEachAccess(llvm::function_ref<void(const Access &, bool isStore)> visit) const;
  /// Returns the scalar operations of all points of the kernel; the bytes of all buffers, as far as they are read.
  double totalOperations() const;
  double totalBytes() const;
};

/// Builds the model of a kernel. On failure `why` names what the model cannot express.
mlir::FailureOr<KernelModel> buildKernelModel(mlir::func::FuncOp fn, std::string &why);

/// Returns the operation that combines a reduction's accumulator with the next element, if the body is exactly
/// `yield combine(accumulator, f(inputs))`; `element` is set to f's value. Null otherwise.
mlir::Operation *matchCombiner(mlir::Block *body, unsigned numInputs, mlir::Value &element);

/// Returns the members of a set, ascending.
mlir::SmallVector<int> members(AtomSet set);
inline AtomSet atomBit(int atom) { return atom < 0 ? 0 : AtomSet(1) << atom; }

} // namespace millrace::lowering
