// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCompiler.h - Kernel functions to object code -----------------===//
#pragma once

#include "lowering/cpu/KernelCache.h"
#include "lowering/cpu/LateKernel.h"
#include "lowering/cpu/ObjectEmitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <string>
#include <vector>

namespace millrace::lowering {

class KernelLoweringsPool;

struct KernelOptions {
  CpuTarget target;
  bool genericOnly = false; ///< no emitters: the reference path
  bool contract = false;    ///< a multiplication and the addition of its result may round once (FMA)
  bool relaxed = false;     ///< CompileOptions::relaxed
  bool quick = false;       ///< CompileOptions::quick
  unsigned threads = 1;
  /// Receives the text of each kernel at the stops "linalg", "vector", "llvm", "asm" if set. One call at a time.
  std::function<void(llvm::StringRef stop, llvm::StringRef kernel, llvm::StringRef text)> onStop;
  /// Told before each kernel: "kernel 12 of 40". One call at a time.
  std::function<void(llvm::StringRef)> onProgress;
  std::function<void(LateKernel)> onLateKernel; ///< CompileOptions::onLateKernel
  /// Where kernels of other programs and processes are, and these go. Not looked at when `onStop` wants to see how they are made.
  runtime::ByteStore store;
  /// Everything besides a kernel and these options that its machine code depends on: the versions of the compiler.
  runtime::ByteStore::Key versions;
  /// What lowers kernels of the requests' context; null: every thread makes its own.
  KernelLoweringsPool *lowerings = nullptr;
};

struct CompiledKernel : runtime::KernelEntry {
  std::vector<std::string> ops; ///< stablehlo operations inside
  KernelSource source = KernelSource::Compiled;
  bool isLate = false; ///< onLateKernel was told
  double milliseconds = 0;
};

/// A kernel to compile.
struct KernelRequest {
  mlir::func::FuncOp function;
  std::string fingerprint;
  std::string symbol; ///< of the entry point
};

/// From stablehlo to the linalg that emitters read.
void addLinalgPasses(mlir::OpPassManager &pm);

/// The kernel's meaning in 64 hexadecimal digits: equal for kernels that differ in name and locations only.
std::string fingerprintKernel(mlir::func::FuncOp kernel);

/// Compiles `kernels` (stablehlo on tensors, see xla-fuse-kernels), or finds that they were compiled before; spread over threads. Diagnostics go to the handlers of the context; the error names the kernel that failed.
llvm::Expected<std::vector<CompiledKernel>> compileKernels(llvm::ArrayRef<KernelRequest> kernels, const KernelOptions &options);

} // namespace millrace::lowering
