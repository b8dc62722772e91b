// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XlaFlags.h - The environment variable XLA_FLAGS --------------------===//
#pragma once

#include <string>
#include <string_view>

namespace millrace::tracing {

/// The value of `--name=value` in XLA_FLAGS; "true" for `--name` alone, empty where it is not there. The last one counts.
std::string xlaFlag(std::string_view name);

} // namespace millrace::tracing
