// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cost.h - Work of a whole program ------------------------------------===//
#pragma once
#include "runtime/program/Program.h"

namespace millrace::runtime {

struct ProgramCost {
  double flops = 0, bytesAccessed = 0;
};

/// Work of one execution on one device, counted from its kernels: a kernel that is called twelve times counts twelve
/// times; the body of a loop counts once (its trip count is not known), of several branches the most expensive one.
ProgramCost costOf(const Program &program);

} // namespace millrace::runtime
