// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedCode.h - Kernels that differ in numbers only ------------------===//
// Convolutions over other distances, products of other lengths, pads of other sizes: the emitters write the same operations for them, with
// other constants. LLVM takes most of the time of compiling a kernel, and does it once for all of these: what is different becomes a number
// that the code reads when it is called, and each kernel an entry point that knows its numbers.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/KernelForm.h"

#include <optional>
#include <vector>

namespace millrace::lowering {

/// A kernel in buffer form as two lists. Kernels whose forms are equal can share code.
struct KernelSkeleton {
  std::vector<uint64_t> form;   ///< operations, types, and the constants that machine code should know
  std::vector<int64_t> numbers; ///< the other constants, use by use in the order of the operations
};

/// None where the code depends on more than its operations say (sizes of buffers), or is not an emitter's.
std::optional<KernelSkeleton> skeletonOf(const BufferKernel &kernel);

/// `kernel`, the first of `alike`, becomes code for all of them: it gets an argument (index) for every number in which some differ; what is
/// the same in all of them stays a constant. Returns the arguments' values for each.
std::vector<std::vector<int64_t>> shareCode(BufferKernel &kernel, llvm::ArrayRef<const KernelSkeleton *> alike);

} // namespace millrace::lowering
