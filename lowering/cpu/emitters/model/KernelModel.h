// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModel.h - A kernel as loop indices, accesses and bodies ------===//
// What the emitters need to know of a kernel, as plain data: which loop indices (atoms) each value depends on, at which
// linear address each operation reads its buffers, and which scalar body it evaluates. Transposes, reshapes, broadcasts
// and slices of buffers have become addresses; the atoms are as coarse as all addresses allow.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/model/IndexAtoms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <string>

namespace millrace::lowering {

/// Bit i stands for atom i.
using AtomSet = uint64_t;
/// Fact: a mark in a set of atoms, not an atom: set for values that depend on a reduction, which exist only inside the loop over the range.
inline constexpr AtomSet kInsideTask = AtomSet(1) << 63;
/// Fact: bits of an AtomSet without the mark.
inline constexpr int kMaxAtoms = 62;

/// offset + sum of atom * coefficient.
struct LinearExpr {
  mlir::SmallVector<std::pair<int, int64_t>, 4> terms;
  int64_t offset = 0;

  void add(int atom, int64_t coefficient);
  int64_t coefficient(int atom) const;
  AtomSet atoms() const;
};

/// Where padding begins: the element exists if 0 <= index < size.
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
  mlir::TypedAttr padding; ///< the element where a guard does not hold

  AtomSet atoms() const;
};

/// What an operation reads: another operation's result, a buffer, or one number.
struct Operand {
  enum Kind { None, Intermediate, Buffer, Scalar } kind = None;
  mlir::Value value; ///< Intermediate
  Access access;     ///< Buffer
  mlir::TypedAttr scalar;
  mlir::Type elementType;
};

/// An element that a body reads at indices it computes (gathers): what is linear in the loops is `access`, the rest are values of
/// the body times strides.
struct Read {
  mlir::Operation *op = nullptr; ///< tensor.extract
  Access access;
  mlir::SmallVector<std::pair<mlir::Value, int64_t>, 2> computed;
  bool isIndex = false; ///< only other reads' indices depend on it
};

/// One operation of the kernel.
struct Node {
  mlir::Operation *op = nullptr;
  mlir::Block *body = nullptr; ///< null: the result is the operand (a reshape)
  mlir::SmallVector<Operand, 4> inputs;
  mlir::SmallVector<Operand, 2> inits;     ///< parallel to the results
  mlir::SmallVector<std::pair<mlir::Value, Operand>, 1> captured; ///< scalars from outside the body, elements it extracts at its loops
  mlir::SmallVector<Read, 0> reads;        ///< at computed indices
  mlir::SmallVector<int, 0> indexBuffers;  ///< of captured elements that only indices of reads depend on
  mlir::SmallVector<LinearExpr, 4> loops;  ///< loop dimension of linalg.index -> atoms
  AtomSet iteration = 0;
  AtomSet kept = 0;      ///< atoms of the results
  AtomSet depends = 0;   ///< kept, and kInsideTask if it depends on a reduction
  bool reduction = false;
  bool usesIndex = false;
  int level = 0;         ///< number of reductions before the value exists
  double cost = 0;       ///< scalar operations per iteration point, without those on indices
  AtomSet reduced() const { return iteration & ~kept; }
};

struct Output {
  Operand value;
  Access store;
};

struct KernelModel {
  std::vector<Node> nodes; ///< in program order
  llvm::DenseMap<mlir::Value, std::pair<int, int>> producer; ///< value -> node, result number
  mlir::SmallVector<Output, 2> outputs;
  mlir::SmallVector<int64_t> atomSizes;
  mlir::SmallVector<int64_t> bufferElements; ///< inputs, then outputs
  mlir::SmallVector<mlir::Type> bufferTypes; ///< storage element types
  AtomSet allAtoms = 0;
  int maxElementBits = 8; ///< widest number computed or stored

  const Node &nodeOf(const Operand &operand) const { return nodes[producer.find(operand.value)->second.first]; }
  /// Atoms (and kInsideTask) that must be known to evaluate the operand.
  AtomSet depends(const Operand &operand) const;
  int level(const Operand &operand) const;
  int64_t product(AtomSet atoms) const;
  /// Some body reads at indices it computes.
  bool hasComputedReads() const;
  /// Calls `visit` for every access of operations and outputs (`isStore` for the latter).
  void forEachAccess(llvm::function_ref<void(const Access &, bool isStore)> visit) const;
  /// Scalar operations for all points of the kernel; bytes of all buffers, as far as they are read.
  double totalOperations() const;
  double totalBytes() const;
};

/// Reads the kernel. On failure `why` tells what the model cannot express.
mlir::FailureOr<KernelModel> buildKernelModel(mlir::func::FuncOp fn, std::string &why);

/// The operation that combines a reduction's accumulator with the next element, if the body is exactly
/// `yield combine(accumulator, f(inputs))`; `element` receives f's value. Null otherwise.
mlir::Operation *matchCombiner(mlir::Block *body, unsigned numInputs, mlir::Value &element);

/// Members of a set, ascending.
mlir::SmallVector<int> members(AtomSet set);
inline AtomSet atomBit(int atom) { return atom < 0 ? 0 : AtomSet(1) << atom; }

} // namespace millrace::lowering
