// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loader.h - Load object code as callable kernels ---------------------===//
// The loader links the relocatable objects of a program in memory with JITLink. Code pages are never writable and executable at the same time. The
// only symbols outside of its program that code can use are those of runtime/kernels/Symbols.h.
#pragma once
#include "runtime/program/Program.h"

#include <atomic>
#include <mutex>

namespace millrace::runtime {

struct KernelEntry;

using KernelFunction = int32_t (*)(void **buffers, const int64_t *dims, int64_t begin, int64_t end);
/// The address of a kernel's code, which better code may replace at any time.
using KernelSlot = std::atomic<KernelFunction>;

struct LoaderOptions {
  std::string dumpFolder; ///< MILLRACE_JIT_DUMP: every object is written there as <program>-<number>.o
  bool perfMap = false;   ///< appends symbols to /tmp/perf-<pid>.map
  bool gdb = false;       ///< registers objects with the GDB JIT interface
};

/// Reads the options from MILLRACE_JIT_DUMP, MILLRACE_PERF_MAP and MILLRACE_GDB.
LoaderOptions loaderOptionsFromEnvironment();

/// The machine code of one program; unmapped when destroyed. Better code that Program::upgrades delivers replaces a kernel's code, also during
/// executions: a call that has begun ends in the old code, which stays mapped.
class LoadedCode {
public:
  /// Errors: FailedPrecondition if the host lacks a feature of `program.target` (all are named), NotFound for a symbol
  /// that no object defines, InvalidArgument for a malformed object.
  static StatusOr<std::shared_ptr<LoadedCode>> load(const Program &program, const LoaderOptions &options);
  ~LoadedCode();
  LoadedCode(const LoadedCode &) = delete;

  /// Returns the code of a kernel; `index` is that of Program::kernels.
  KernelFunction kernel(size_t index) const { return slot(index).load(std::memory_order_acquire); }
  const KernelSlot &slot(size_t index) const { return kernels[index]; }
  /// Returns the bytes of machine code and its constants in memory, including better code and the code that it replaces.
  uint64_t codeBytes() const { return bytes.load(std::memory_order_relaxed); }

private:
  LoadedCode() = default;
  /// Replaces the code of kernels with the symbol of `kernel`. Code that cannot be linked is ignored, because the current code is correct, too.
  void upgrade(const KernelEntry &kernel, const LoaderOptions &options);

  void *library = nullptr; ///< llvm::orc::JITDylib
  std::unique_ptr<KernelSlot[]> kernels;
  std::vector<std::string> symbols; ///< symbols of `kernels`, if there may be upgrades
  Target target;                    ///< target of the program, if there may be upgrades
  std::mutex mutex;
  std::vector<std::shared_ptr<LoadedCode>> better; ///< guarded by mutex; replaced code stays, because it may be running
  std::atomic<uint64_t> bytes = 0;
};

/// Returns LLVM's names of the features of this processor, sorted.
const std::vector<std::string> &hostFeatures();
/// Returns LLVM's name of this processor, for example "znver4".
std::string hostCpu();
std::string hostTriple();
/// Returns Ok, or an error with the features of `target` that `available` lacks.
Status checkFeatures(const Target &target, const std::vector<std::string> &available);

} // namespace millrace::runtime
