// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cost.h - Estimate the work of a program -----------------------------===//
#pragma once
#include "runtime/program/Program.h"

namespace millrace::runtime {

struct ProgramCost {
  double flops = 0, bytesAccessed = 0;
};

/// Returns the work of one execution on one device, as the sum over its kernels: a kernel that is called twelve times counts twelve times, the body
/// of a loop counts once (its trip count is not known), and of several branches the most expensive one counts.
ProgramCost costOf(const Program &program);

} // namespace millrace::runtime
