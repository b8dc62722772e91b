// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EntryLayouts.h - Arguments and results in other layouts -------------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <vector>

namespace millrace::pjrt {

struct EntryLayouts {
  /// Minor-to-major lists; empty = row-major.
  std::vector<std::vector<int64_t>> arguments, results;
};

/// Reads mhlo.layout_mode ("{0,1}", "default", "auto") of the arguments and results of `entry` and rewrites the function:
/// an argument (result) with another layout than row-major gets the type that it has in memory and a transpose behind
/// (before) it. Fails with a diagnostic for tiles and malformed text. A program of several partitions must have been
/// partitioned before: layouts are those of the parts.
mlir::FailureOr<EntryLayouts> applyLayouts(mlir::func::FuncOp entry);

/// True if applyLayouts would rewrite the function, or fail.
bool hasLayouts(mlir::func::FuncOp entry);

/// "{0,1};;{1,0}" for the arguments, "|", the same for the results; and back (false if malformed).
std::string layoutsToText(const EntryLayouts &layouts);
bool layoutsFromText(llvm::StringRef text, EntryLayouts &layouts);

} // namespace millrace::pjrt
