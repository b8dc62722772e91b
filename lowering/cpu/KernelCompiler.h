// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCompiler.h - Compile kernel functions to object code ---------===//
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
  bool genericOnly = false; ///< no emitters, only the generic path
  bool contract = false;    ///< a multiplication and the addition of its result may round once (FMA)
  bool relaxed = false;     ///< CompileOptions::relaxed
  bool quick = false;       ///< CompileOptions::quick
  unsigned threads = 1;
  /// Receives the text of each kernel at the stops "linalg" (kernels of windows have none), "vector", "llvm", "asm" if set. Calls are
  /// serialized.
  std::function<void(llvm::StringRef stop, llvm::StringRef kernel, llvm::StringRef text)> onStop;
  /// Called before each kernel with text such as "kernel 12 of 40". Calls are serialized.
  std::function<void(llvm::StringRef)> onProgress;
  std::function<void(LateKernel)> onLateKernel; ///< CompileOptions::onLateKernel
  /// The store of kernels that other programs and processes share. Not used if `onStop` is set, because a stored kernel passes no stops.
  runtime::ByteStore store;
  /// What a kernel's machine code depends on besides the kernel and these options: the versions of the compiler.
  runtime::ByteStore::Key versions;
  /// The lowerings for the requests' context; null: every thread creates its own.
  KernelLoweringsPool *lowerings = nullptr;
};

struct CompiledKernel : runtime::KernelEntry {
  std::vector<std::string> ops; ///< stablehlo operations inside
  KernelSource source = KernelSource::Compiled;
  bool isLate = false; ///< onLateKernel was called for it
  double milliseconds = 0;
};

/// A kernel to compile.
struct KernelRequest {
  mlir::func::FuncOp function;
  std::string fingerprint;
  std::string symbol; ///< of the entry point
};

/// Adds the passes from stablehlo to the linalg that emitters read.
void addLinalgPasses(mlir::OpPassManager &pm);

/// Returns a hash of 64 hexadecimal digits, equal for kernels that differ only in names and locations.
std::string fingerprintKernel(mlir::func::FuncOp kernel);

/// Compiles `kernels` (stablehlo on tensors, see xla-fuse-kernels), or finds that they were compiled before; spread over threads. Diagnostics go to
/// the handlers of the context; the error names the kernel that failed.
llvm::Expected<std::vector<CompiledKernel>> compileKernels(llvm::ArrayRef<KernelRequest> kernels, const KernelOptions &options);

} // namespace millrace::lowering
