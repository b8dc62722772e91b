// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExplicitBatching.h - gather and scatter that look up their own row -===//
#pragma once

#include "mlir/IR/Operation.h"

namespace millrace::sharding {

/// Makes those of the concatenated indices of a gather or scatter that count along a dimension of the indices batching dimensions, so that
/// rules tie the rows of both. Returns false, and changes nothing, for all other operations.
bool makeBatchingExplicit(mlir::Operation *op);

} // namespace millrace::sharding
