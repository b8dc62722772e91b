// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - From global programs to programs of one device ----------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace millrace::spmd {

/// Fewer are joined, more are cut: against the time of the message its latency, 0.1 ms, does not count, and longer messages hold more memory at once.
/// Unit: bytes of an all_reduce of several operands. Source: `python -m benchmarks.processes`, AMD EPYC: 16 MB take 2.7 ms between two processes of
/// one host.
inline constexpr int64_t kMostReduceBytes = 16 << 20;

/// Integer attribute of an argument: the result in whose place it is.
inline constexpr llvm::StringLiteral kAlias = "tf.aliasing_output";

#define GEN_PASS_DECL
#include "passes/spmd/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/spmd/Passes.h.inc"

} // namespace millrace::spmd
