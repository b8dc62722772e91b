// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - StableHLO module to runtime program --------------------===//
#pragma once

#include "lowering/cpu/LateKernel.h"
#include "lowering/cpu/ObjectEmitter.h"
#include "runtime/base/ByteStore.h"
#include "runtime/program/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace millrace {

class PreparedPasses;

/// The options that decide which passes a program goes through.
struct PipelineOptions {
  lowering::CpuTarget target = lowering::CpuTarget::host();
  bool fold = true;         ///< evaluate constant subexpressions; off where machine code is what is to be tested
  bool genericOnly = false; ///< no emitters: the reference path of code generation
  bool fuse = true;         ///< off: one kernel per operation, for tests
  /// The meaning that XLA gives to programs where StableHLO's specification has another: scatter windows (passes/xla), and
  /// fused multiply-add. On for programs from JAX and PyTorch/XLA.
  bool xlaSemantics = false;

  bool operator==(const PipelineOptions &) const = default;
  /// Sums and products of floats may be regrouped, convolutions computed from fewer products, divisions be products with reciprocals, and zeros lose
  /// their sign: faster, and no longer the same bits as the specification's order gives. NaN and infinities stay what they are, but reach the
  /// neighbouring results of such a convolution; results still do not depend on threads.
  bool relaxed = false;
};

struct CompileOptions : PipelineOptions {
  std::string entry; ///< function to run; empty: @main, else the only public function
  /// Passes that were prepared in the module's context (CompilerSession.h); null: they are made for this compilation.
  PreparedPasses *prepared = nullptr;
  /// Kernels that other programs and processes compiled; runtime::kernelStore() is one. A process also remembers its own.
  runtime::ByteStore kernelStore;
  /// Machine code without LLVM's optimizations: made in two thirds of the time, several times slower, the same bits of results.
  bool quick = false;
  unsigned threads = 0;     ///< of the compiler; 0 = what the process may use
  /// Receives the program at each stop (docs/tour.md): "sharded", "partitioned", "simplified", "fused" with the kernel
  /// name empty, then "linalg", "vector", "llvm", "asm" per kernel, then "program".
  std::function<void(llvm::StringRef stop, llvm::StringRef kernel, llvm::StringRef text)> onStop;
  /// Called from time to time with a line for a waiting person: "kernel 12 of 40".
  std::function<void(llvm::StringRef)> onProgress;
  /// If set: kernels that are nowhere yet are compiled as if `quick`, and what makes their better code is given here. One call at a time.
  std::function<void(lowering::LateKernel)> onLateKernel;
};

/// Where compile time went, in milliseconds.
struct CompileReport {
  std::vector<std::pair<std::string, double>> stops;
  struct Kernel {
    std::string name, emitter;
    double milliseconds;
  };
  std::vector<Kernel> kernels;
  unsigned kernelsFromMemory = 0, kernelsFromDisk = 0; ///< of `kernels`: not compiled, but found
  double total = 0;
};

/// Adds every dialect, interface and translation that compile() needs.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// Loads the dialects that code generation builds; compile() does so itself.
void loadCompilerDialects(mlir::MLIRContext &context);

/// The function that a module without further instructions runs: @main, else its only non-private function, else its
/// only function. Null if there is none.
std::string findEntry(mlir::ModuleOp module);

/// Compiles `module` (stablehlo; changed in place) for this process's CPU. On failure the error has one line and the
/// details went to the diagnostic handlers of the context. Thread-safe for different contexts.
llvm::Expected<runtime::Program> compile(mlir::ModuleOp module, const CompileOptions &options,
                                         CompileReport *report = nullptr);

} // namespace millrace
