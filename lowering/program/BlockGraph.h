// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlockGraph.h - A block of kernel calls as a graph of steps ----------===//
#pragma once

#include "lowering/program/StepOrder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>

namespace millrace::lowering {

/// Everything that reads the memory of `value`, itself or under other names: of renames (fusion::isAlias), and of loops that do not change it.
void readersOf(mlir::Value value, llvm::SmallVectorImpl<mlir::OpOperand *> &readers);

/// What `value` is another name of.
mlir::Value rootOf(mlir::Value value);

/// What is known of kernels before they are compiled.
class KernelTraits {
public:
  struct Kernel {
    llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace; ///< {operand, result} that the kernel updates
    std::vector<std::pair<unsigned, unsigned>> pointwise;     ///< {operand, result} that may be one buffer (PointwisePairs.h)
    bool isPart = false;                                      ///< its result is a range of the operand's bytes (Parts.h)
    bool isJoin = false;                                      ///< its result is the operands' bytes
  };
  explicit KernelTraits(mlir::ModuleOp module) : symbols(module) {}
  /// Null for calls of other functions than kernels.
  const Kernel *of(mlir::Operation *call);

private:
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::StringAttr, std::unique_ptr<Kernel>> known;
};

/// Where what a block returns goes.
struct BlockTargets {
  enum Kind {
    Elsewhere, ///< nowhere that is there before: its terminator reads the values
    Inner,     ///< the next state of a loop, the results of a branch: kernels of the block write there
    Function,  ///< the results of a function
  } kind = Elsewhere;
  /// Of a function: for each result the donated argument that it replaces, or null. Empty: none does.
  llvm::SmallVector<mlir::BlockArgument> replaced;
};

/// The operations of `block` but the terminator as steps with the memory that FunctionBuilder gives their values. `innerPeak` gives the
/// bytes that an operation's regions, or the function that it calls, take beside. Nothing if sizes are not known.
///
/// Beside uses of values, edges are: from one operation with effects that others can see (collectives, transfers, custom calls) to the next;
/// from readers of a value to what updates it in place, where the reader comes first in the block already; from what computes the operands of
/// a collective to readers of the collective before it, likewise: that is the work that communication hides behind.
std::optional<StepGraph> graphOf(mlir::Block &block, const BlockTargets &targets, KernelTraits &kernels,
                                 llvm::function_ref<uint64_t(mlir::Operation *)> innerPeak);

} // namespace millrace::lowering
