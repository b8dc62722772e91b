// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selection.h - Operators whose results have a size that is a value ---===//
#pragma once
#include "python/torch_xla/csrc/Calls.h"

namespace millrace::torch_shim {

/// The rows of `self` where `mask`, whose sizes are the first ones of `self`, is set. Cuts the graph; no program depends on how many there are.
Tensor rowsOfMask(const Tensor &self, const Tensor &mask);

/// x[mask]: the rows there are, without a program for each number of them. The mask covers the leading dims.
bool tryMaskedRead(const OpInfo &info, torch::jit::Stack *stack);

} // namespace millrace::torch_shim
