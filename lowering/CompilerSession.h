// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompilerSession.h - Contexts and pipelines for many compilations ---===//
// A small program spends most of its compile time on what does not depend on it: loading dialects, collecting and freezing patterns,
// building pass managers. A session keeps a context with all of these from one compilation to the next.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/Compile.h"
#include "lowering/cpu/KernelLowerings.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <mutex>
#include <vector>

namespace millrace {

/// The pipelines of one context, each made when it is first asked for. For one compilation at a time.
class PreparedPasses {
public:
  explicit PreparedPasses(mlir::MLIRContext &context) : context(context) {}

  /// The passes of the stops "simplified" and "fused" for `options`.
  mlir::PassManager &simplification(const PipelineOptions &options);
  mlir::PassManager &fusion(const PipelineOptions &options);

  lowering::KernelLoweringsPool kernels;

private:
  struct Pipelines {
    Pipelines(mlir::MLIRContext &context, const PipelineOptions &options);
    PipelineOptions options;
    mlir::PassManager simplification, fusion;
  };
  Pipelines &of(const PipelineOptions &options);

  mlir::MLIRContext &context;
  std::vector<std::unique_ptr<Pipelines>> pipelines;
};

/// A context with the compiler's dialects and its prepared passes, for one compilation: taken from the process's pool, and given back by the
/// destructor unless so much is interned in it that a new one is better. Everything that was made in the context must be gone by then.
/// Threads may have sessions at the same time.
class CompilerSession {
public:
  /// `programBytes`: the size of the program that is read, constants included; it stands for what will stay interned.
  explicit CompilerSession(size_t programBytes);
  ~CompilerSession();
  CompilerSession(const CompilerSession &) = delete;
  CompilerSession &operator=(const CompilerSession &) = delete;

  mlir::MLIRContext &context() { return state->context; }
  PreparedPasses &passes() { return state->passes; }

  /// Sessions between two compilations.
  static size_t idleCount();
  /// Sessions between two compilations that are kept: one for each of the threads that usually compile at the same time. Unit: sessions. Source:
  /// judgement, not measured alone; commit 5c9136a has the figures of the whole change.
  static constexpr size_t kMostIdle = 2;
  /// A session ends after so many programs: types, attributes and locations stay interned in a context for its life. So many share the cost of a
  /// context well enough: it is that of two of them. Unit: programs. Source: commit 5c9136a, AMD Zen 4, processor time through PJRT: 8-element add
  /// 11.1 to 6.8 ms.
  static constexpr size_t kMostPrograms = 64;
  /// A session ends after programs of so many bytes together, for the same reason. Unit: bytes. Source: judgement, not measured alone; commit 5c9136a
  /// has the figures of the whole change.
  static constexpr size_t kMostProgramBytes = size_t(1) << 20;

private:
  struct State {
    State();
    mlir::MLIRContext context;
    PreparedPasses passes;
    size_t programs = 0, bytes = 0;
  };
  struct Pool;
  static Pool &pool();

  std::unique_ptr<State> state;
};

} // namespace millrace
