// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCompiler.h - Kernel functions to object code -----------------===//
#pragma once

#include "lowering/cpu/ObjectEmitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <string>
#include <vector>

namespace millrace::lowering {

struct KernelOptions {
  CpuTarget target;
  bool genericOnly = false;
  bool contract = false; ///< a multiplication and the addition of its result may round once (FMA) ///< no emitters: the reference path
  unsigned threads = 1;
  /// Receives the text of each kernel at the stops "linalg", "vector", "llvm", "asm" if set. One call at a time.
  std::function<void(llvm::StringRef stop, llvm::StringRef kernel, llvm::StringRef text)> onStop;
  /// Told before each kernel: "kernel 12 of 40". One call at a time.
  std::function<void(llvm::StringRef)> onProgress;
};

/// Machine code of one kernel and what its callers must know.
struct CompiledKernel {
  std::string symbol, object, emitter;
  std::vector<std::string> ops; ///< stablehlo operations inside
  int64_t rangeEnd = 1, granularity = 1, scratchBytes = 0;
  double picosPerIteration = 0;
  double milliseconds = 0;
};

/// A name for the kernel's meaning: equal for kernels that differ in name and locations only.
std::string fingerprintKernel(mlir::func::FuncOp kernel);

/// Compiles `kernels` (stablehlo on tensors, see xla-fuse-kernels), each under the symbol of the same index, spread over
/// threads. Diagnostics go to the handlers of the context; the error names the kernel that failed.
llvm::Expected<std::vector<CompiledKernel>> compileKernels(llvm::ArrayRef<mlir::func::FuncOp> kernels,
                                                           llvm::ArrayRef<std::string> symbols,
                                                           const KernelOptions &options);

} // namespace millrace::lowering
