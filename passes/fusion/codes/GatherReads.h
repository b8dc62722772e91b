// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GatherReads.h - How a gather reads its operand ---------------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <cstdint>

namespace millrace::fusion {

/// How a gather reads its operand. Table: a number for each index. Rows: all of the operand but for one dimension, along which one index is chosen for
/// each of the result's.
enum class Reads { Otherwise, Table, Rows };

Reads readsOf(stablehlo::GatherOp gather);

/// Returns the dimension of the result along which a gather of rows goes over its indices.
int64_t dimOfIndices(stablehlo::GatherOp gather);

} // namespace millrace::fusion
