// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelForm.h - The buffer form of kernels --------------------------===//
//
// Every code generator ends in the same form, the *buffer form*, so that entry points, lowering to LLVM and the program builder are independent of
// the generator:
//
//   func.func private @name_body(inputs..., outputs..., memref<?xi8> scratch, index begin, index end)
//
// on identity-layout memrefs, computing the iterations [begin, end) of the kernel's parallel range.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/program/KernelEntry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace millrace::lowering {

/// A kernel in buffer form with the properties that the program builder reads.
struct BufferKernel {
  mlir::func::FuncOp body;
  unsigned numInputs = 0;
  unsigned numOutputs = 0;
  int64_t rangeEnd = 1;         ///< iterations of the parallel range
  int64_t granularity = 1;      ///< pieces of the range begin at multiples of this
  int64_t scratchBytes = 0;     ///< per call
  double picosPerIteration = 0; ///< estimate; 0 = unknown, not worth threads
  bool heavyLoops = false;      ///< scalar loops over many elements: worth LLVM's vectorizer
  std::string emitter;          ///< "contraction", "row", "movement" or "generic": for --time and remarks
  runtime::RowRange rows;       ///< of a kernel for a run-time number of rows
  bool takesRows = false;       ///< that number is an argument of the body, index, behind all others
  unsigned numNumbers = 0;      ///< additional index arguments of the body, for code shared by kernels (SharedCode.h)
};

/// Canonicalization that keeps while loops in the form that lowering gave them, whose condition passes every carried value on. The upstream patterns
/// prune and permute these values, after which a loop on tensors can no longer carry its buffers.
void addKernelCanonicalizer(mlir::OpPassManager &pm);

/// The generic path: `fn` maps tensors to tensors in linalg, tensor, scf, arith, math and complex. Fuses linalg operations, bufferizes into the
/// caller's buffers, lowers to loops and moves temporaries to scratch. Replaces `fn` by its buffer form. Independent rows of the outermost dimension
/// become the parallel range. An instance lowers many kernels, on one thread.
class GenericLowering {
public:
  /// `verifyEach`: the verifier runs after every pass.
  GenericLowering(mlir::MLIRContext *context, bool verifyEach);
  mlir::FailureOr<BufferKernel> run(mlir::func::FuncOp fn);

private:
  mlir::PassManager fuse, shareDestinations, bufferize;
};

/// Adds the entry point `symbol` with the kernel ABI (docs/kernel-abi.md),
///   int32_t symbol(void **buffers, const int64_t *dims, int64_t begin, int64_t end),
/// that unpacks the buffers and run-time dimensions (in the order of the `?` of inputs, then outputs) and calls the body.
void addEntryPoint(const BufferKernel &kernel, llvm::StringRef symbol);

/// The entry point of one of the kernels that share code.
struct SharedEntry {
  std::string symbol;
  std::vector<int64_t> numbers; ///< the kernel's values of the BufferKernel::numNumbers arguments
};

/// Adds the entry points of kernels that share code. Another object of a program may define some of them, too; their definitions are equivalent.
void addSharedEntryPoints(const BufferKernel &kernel, llvm::ArrayRef<SharedEntry> entries);

/// Attribute of the LLVM function that all entry points of a group call.
inline constexpr llvm::StringLiteral kSharedAttr = "millrace-shared";

} // namespace millrace::lowering
