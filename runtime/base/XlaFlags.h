// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XlaFlags.h - The environment variable XLA_FLAGS --------------------===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::runtime {

/// The value of `--name=value` in XLA_FLAGS; "true" for `--name` alone, empty where it is not there. The last one counts.
std::string xlaFlag(std::string_view name);
/// Whether it is there and is neither "false" nor "0".
bool isXlaFlagOn(std::string_view name);

/// One line per flag of `flags` that has no effect here; one that resembles a flag that has is told of it. Flags of other hardware (xla_gpu_,
/// xla_tpu_) are passed over.
std::vector<std::string> unknownXlaFlags(std::string_view flags);
/// Tells standard error of those of XLA_FLAGS, once per process.
void warnOfUnknownXlaFlags();

} // namespace millrace::runtime
