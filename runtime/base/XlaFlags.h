// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XlaFlags.h - The environment variable XLA_FLAGS --------------------===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::runtime {

/// Returns the value of `--name=value` in XLA_FLAGS; "true" for `--name` alone, empty if it is not set. The last occurrence counts.
std::string xlaFlag(std::string_view name);
/// Returns true if the flag is set and is neither "false" nor "0".
bool isXlaFlagOn(std::string_view name);

/// Returns one line per flag of `flags` that has no effect here; the line names a similar flag that has one, if any. Flags of other hardware
/// (xla_gpu_, xla_tpu_) are ignored.
std::vector<std::string> unknownXlaFlags(std::string_view flags);
/// Prints the lines for XLA_FLAGS on standard error, once per process.
void warnOfUnknownXlaFlags();

} // namespace millrace::runtime
