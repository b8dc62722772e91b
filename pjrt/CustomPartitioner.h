// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomPartitioner.h - Custom calls that clients split themselves ----===//
#pragma once
#include "passes/spmd/Partition.h"
#include "pjrt/PjrtTypes.h"

namespace millrace::pjrt {

/// Returns the extension (2) by which clients register partitioners, with `next` behind it in the chain.
Extension *customPartitionerExtension(Extension *next);

/// Returns the partitioner that calls the functions that clients registered for a call's target. Thread-safe; bodies are read into the call's
/// context.
spmd::CallPartitioner &callPartitioner();

} // namespace millrace::pjrt
