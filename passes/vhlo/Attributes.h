// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.h - Attributes <-> their portable form ------------------===//
#pragma once
#include "dialects/vhlo/Builtin.h"

namespace millrace::vhlo {

/// The portable form of `attr`, which may be portable already; null if there is none. With `allowOthers`, attributes
/// without one are their own form, also inside of arrays and dictionaries.
mlir::Attribute toVhlo(mlir::Attribute attr, bool allowOthers = false);
/// What the portable `attr` stands for, null after an error; other attributes stand for themselves.
mlir::Attribute fromVhlo(mlir::Attribute attr, EmitError emitError);

/// The elements of a portable list of i64; none for anything else. Lists have few elements (dimensions of a tensor): a file
/// that says otherwise does not get to choose how much memory is used.
inline constexpr int64_t maxListSize = 1 << 16;
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Attribute attr);
/// A portable i64, list of i64.
mlir::Attribute integerToVhlo(mlir::MLIRContext *context, int64_t value);
mlir::Attribute integersToVhlo(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> values);

} // namespace millrace::vhlo
