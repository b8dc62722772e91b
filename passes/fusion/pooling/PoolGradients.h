// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PoolGradients.h - Find gradients of padded pooling in a block -------===//
#pragma once

#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/FusionPlan.h"

namespace millrace::fusion {

/// `pad` puts elements around the operand of `scatter`, which has no padding of its own, and `slice` takes just these off the result.
bool isPaddedAround(stablehlo::SelectAndScatterOp scatter, stablehlo::PadOp pad, stablehlo::SliceOp slice);

/// Each select_and_scatter of the block with the pad by a constant before it and the slice behind, if nothing else uses what they compute.
std::vector<Cluster> findPoolGradients(mlir::Block &block);

} // namespace millrace::fusion
