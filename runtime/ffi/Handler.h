// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Handler.h - Foreign functions as custom calls -----------------------===//
#pragma once
#include "runtime/base/Status.h"
#include "runtime/ffi/Abi.h"

#include <string>

namespace millrace::runtime::ffi {

/// Registers `bundle` as the handler of custom calls named `target`. The stage `instantiate` runs when a program is loaded, the others at every call,
/// in order. Errors: FailedPrecondition if the handler's version of the interface is not supported, InvalidArgument if it has no execute stage.
Status registerHandler(std::string target, const abi::Bundle &bundle);

/// Registers `function` with the untyped signature that the call's api_version selects: 1 = f(out, in), 2 = f(out, in, status), 3 = f(out, in,
/// config, configSize, status). `out` is the result, or an array of several results.
void registerUntypedHandler(std::string target, void *function);

} // namespace millrace::runtime::ffi
