// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loader.h - Object code -> callable kernels --------------------------===//
// Links the relocatable objects of a program into memory with JITLink. Code pages are never writable and executable at
// the same time. The only symbols that code can reach outside its program are those of runtime/kernels/Symbols.h.
#pragma once
#include "runtime/program/Program.h"

#include <atomic>
#include <mutex>

namespace millrace::runtime {

struct KernelEntry;

using KernelFunction = int32_t (*)(void **buffers, const int64_t *dims, int64_t begin, int64_t end);
/// Where the code of a kernel is: it may change to better code at any time.
using KernelSlot = std::atomic<KernelFunction>;

struct LoaderOptions {
  std::string dumpFolder; ///< --jit-dump: every object is written there as <program>-<number>.o
  bool perfMap = false;   ///< appends symbols to /tmp/perf-<pid>.map
  bool gdb = false;       ///< registers objects with the GDB JIT interface
};

/// Options from MILLRACE_JIT_DUMP, MILLRACE_PERF_MAP and MILLRACE_GDB.
LoaderOptions loaderOptionsFromEnvironment();

/// The machine code of one program; unmapped when destroyed. Kernels for which Program::upgrades brings better code change to it, also while
/// they run: a call that has begun ends in the old code, which stays.
class LoadedCode {
public:
  /// Errors: FailedPrecondition if the host lacks a feature of `program.target` (all are named), NotFound for a symbol
  /// that no object defines, InvalidArgument for a malformed object.
  static StatusOr<std::shared_ptr<LoadedCode>> load(const Program &program, const LoaderOptions &options);
  ~LoadedCode();
  LoadedCode(const LoadedCode &) = delete;

  /// `index` as in Program::kernels.
  KernelFunction kernel(size_t index) const { return slot(index).load(std::memory_order_acquire); }
  const KernelSlot &slot(size_t index) const { return kernels[index]; }
  /// Bytes of machine code and its constants in memory, better code and what it replaces.
  uint64_t codeBytes() const { return bytes.load(std::memory_order_relaxed); }

private:
  LoadedCode() = default;
  /// Changes kernels with the symbol of `kernel` to its code. Code that cannot be linked is not used: what there was is as right.
  void upgrade(const KernelEntry &kernel, const LoaderOptions &options);

  void *library = nullptr; ///< llvm::orc::JITDylib
  std::unique_ptr<KernelSlot[]> kernels;
  std::vector<std::string> symbols; ///< of `kernels`, where upgrades may come
  Target target;                    ///< the same
  std::mutex mutex;
  std::vector<std::shared_ptr<LoadedCode>> better; ///< guarded by mutex; the old code stays, it may be running
  std::atomic<uint64_t> bytes = 0;
};

/// LLVM names of the features of this processor, sorted.
const std::vector<std::string> &hostFeatures();
/// LLVM name of this processor, "znver4".
std::string hostCpu();
std::string hostTriple();
/// Ok, or an error that lists the features of `target` which `available` lacks.
Status checkFeatures(const Target &target, const std::vector<std::string> &available);

} // namespace millrace::runtime
