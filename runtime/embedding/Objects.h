// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Objects.h - What the handles of the C ABI point to ------------------===//
// Also for lowering/embedding, which makes programs and errors.
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
/// nullptr for Ok. The caller owns the result.
millrace_error *toCError(const Status &status);
} // namespace millrace::runtime
