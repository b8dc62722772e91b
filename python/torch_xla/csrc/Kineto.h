// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Kineto.h - Our devices in the profiles of torch.profiler -------------===//
#pragma once

namespace millrace::torch_shim {

/// If torch.profiler keeps an account of this thread's memory, tells it what other threads have taken and given back since the last call: those of the
/// devices, and of whoever waits for a program. To be called where this thread launches programs or has waited for them.
void tellTorchOfMemory();

} // namespace millrace::torch_shim
