// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PredictMemory.h - The memory of a program before it is compiled -----===//
#pragma once

#include "lowering/Compile.h"
#include "passes/autosharding/Memory.h"

namespace millrace {

/// Returns a function that takes a copy of a program through the stops "simplified" and "fused", in a context of its own, and reads which values get
/// memory when, as the program builder will plan it. No kernel is compiled. Values are recognized by the locations of their operations. The function
/// and its copies remember their answers together, as long as one of them lives; one thread at a time may call them.
autosharding::MemoryOf memoryPredictor(const PipelineOptions &options = {});

} // namespace millrace
