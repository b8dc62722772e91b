// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Objects.h - The objects behind the handles of the C ABI -------------===//
// lowering/embedding, which makes programs and errors, includes it, too.
#pragma once
#define MILLRACE_C_ABI_ONLY
#include "include/millrace/millrace.h"
#include "runtime/client/Client.h"

struct millrace_error {
  millrace::runtime::Code code;
  std::string message;
};
struct millrace_program {
  std::shared_ptr<const millrace::runtime::Program> program;
};

namespace millrace::runtime {
/// Returns a new error, which the caller owns; nullptr for Ok.
millrace_error *toCError(const Status &status);
} // namespace millrace::runtime
