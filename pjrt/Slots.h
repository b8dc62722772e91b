// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Slots.h - The functions of the table, as C++ ------------------------===//
// Each is implemented in the file of its object. Api.cpp wraps them: a Status becomes an Error, an exception too.
#pragma once
#include "pjrt/Objects.h"

namespace millrace::pjrt::slots {

#define MILLRACE_PJRT_DECLARE(name, size) rt::Status name(name##_Args &args);
MILLRACE_PJRT_VOID_SLOTS(MILLRACE_PJRT_DECLARE)
MILLRACE_PJRT_SLOTS(MILLRACE_PJRT_DECLARE)
#undef MILLRACE_PJRT_DECLARE

} // namespace millrace::pjrt::slots
