// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EntryLayouts.h - Arguments and results in other layouts -------------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <vector>

namespace millrace::pjrt {

struct EntryLayouts {
  /// Minor-to-major lists; an empty list is row-major.
  std::vector<std::vector<int64_t>> arguments, results;
};

/// Reads mhlo.layout_mode ("{0,1}", "default", "auto") of the arguments and results of `entry` and rewrites the function: an argument (result) with a
/// layout that is not row-major gets the type that it has in memory and a transpose after (before) it. Fails with a diagnostic for tiles and
/// malformed text. A program of several partitions must have been partitioned before, since its layouts are those of shards.
mlir::FailureOr<EntryLayouts> applyLayouts(mlir::func::FuncOp entry);

/// Returns true if applyLayouts would rewrite the function, or fail.
bool hasLayouts(mlir::func::FuncOp entry);

/// Converts layouts to "{0,1};;{1,0}" for the arguments, "|", and the same for the results; and back (false if malformed).
std::string layoutsToText(const EntryLayouts &layouts);
bool layoutsFromText(llvm::StringRef text, EntryLayouts &layouts);

} // namespace millrace::pjrt
