// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Handler.h - Foreign functions as custom calls -----------------------===//
#pragma once
#include "runtime/base/Status.h"
#include "runtime/ffi/Abi.h"

#include <string>

namespace millrace::runtime::ffi {

/// Makes `bundle` the handler of custom calls named `target`. Asks it for its version first: FailedPrecondition if it
/// was compiled for an interface that we do not speak, InvalidArgument if it cannot execute. The stage `instantiate` runs
/// when a program is loaded, the others at every call, in order.
Status registerHandler(std::string target, const abi::Bundle &bundle);

/// `function` is called as the older interfaces are, by the api_version of the call: 1 = f(out, in),
/// 2 = f(out, in, status), 3 = f(out, in, config, configSize, status). `out` is the result, or with several an array.
void registerUntypedHandler(std::string target, void *function);

} // namespace millrace::runtime::ffi
