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

/// Appends all uses that read the memory of `value`, directly or through aliases: renames (fusion::isAlias), and loops that do not change it.
void readersOf(mlir::Value value, llvm::SmallVectorImpl<mlir::OpOperand *> &readers);

/// Returns the value of which `value` is an alias.
mlir::Value rootOf(mlir::Value value);

/// The properties of kernels that are known before they are compiled.
class KernelTraits {
public:
  struct Kernel {
    llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace; ///< {operand, result} that the kernel updates
    std::vector<std::pair<unsigned, unsigned>> pointwise;     ///< {operand, result} that may be one buffer (PointwisePairs.h)
    bool isPart = false;                                      ///< its result is a contiguous range of the operand's bytes (Parts.h)
    bool isJoin = false;                                      ///< its result consists of the operands' bytes
  };
  explicit KernelTraits(mlir::ModuleOp module) : symbols(module) {}
  /// Returns null for calls of functions that are not kernels.
  const Kernel *of(mlir::Operation *call);

private:
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::StringAttr, std::unique_ptr<Kernel>> known;
};

/// Where the values that a block returns are stored.
struct BlockTargets {
  enum Kind {
    Elsewhere, ///< in no memory allocated before; the terminator reads the values
    Inner,     ///< in the next state of a loop or the results of a branch, where kernels of the block write
    Function,  ///< in the results of a function
  } kind = Elsewhere;
  /// For each result of a function the donated argument whose memory it takes, or null. Empty if there is none.
  llvm::SmallVector<mlir::BlockArgument> replaced;
};

/// The values for which the memory of a StepGraph is.
struct GraphValues {
  std::vector<mlir::Value> ofBuffers; ///< by buffer: the first of the values that share it
  struct Extra {
    uint32_t step;
    mlir::Value value;
    uint64_t bytes;
  };
  std::vector<Extra> extras; ///< what steps have for values in addition to buffers, without what is inside of them
  std::vector<mlir::Value> elsewhere; ///< values that steps compute in memory of results or arguments, for which no buffer stands
};

/// Returns the operations of `block` except the terminator as steps, with the memory that FunctionBuilder gives their values. `innerPeak` gives the
/// bytes that the regions of an operation, or the function that it calls, take in addition. Nothing if sizes are dynamic.
///
/// Besides uses of values, edges are: from an operation with visible effects (collectives, transfers, custom calls) to the next one; from readers of
/// a value to its in-place update, if the reader comes first in the block already; from the computation of a collective's operands to readers of the
/// preceding collective, likewise: that is the work that overlaps with communication. `values` receives for which values the memory is.
std::optional<StepGraph> graphOf(mlir::Block &block, const BlockTargets &targets, KernelTraits &kernels,
                                 llvm::function_ref<uint64_t(mlir::Operation *)> innerPeak, GraphValues *values = nullptr);

} // namespace millrace::lowering
