// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.h - Attributes <-> their portable form ------------------===//
#pragma once
#include "dialects/vhlo/Builtin.h"

namespace millrace::vhlo {

/// Returns the portable form of `attr`, which may be portable already; null if there is none. With `allowOthers`, attributes without one are returned
/// unchanged, also inside arrays and dictionaries.
mlir::Attribute toVhlo(mlir::Attribute attr, bool allowOthers = false);
/// Returns the counterpart of the portable `attr`; null after an error. Other attributes are returned unchanged.
mlir::Attribute fromVhlo(mlir::Attribute attr, EmitError emitError);

/// Returns the elements of a portable list of i64; nullopt for any other attribute. Lists have few elements (dimensions of a tensor); the bound
/// prevents that a file chooses how much memory is used.
inline constexpr int64_t maxListSize = 1 << 16;
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Attribute attr);
/// Return a portable i64, and a portable list of i64.
mlir::Attribute integerToVhlo(mlir::MLIRContext *context, int64_t value);
mlir::Attribute integersToVhlo(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> values);

} // namespace millrace::vhlo
