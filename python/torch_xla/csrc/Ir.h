// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ir.h - What functions of _XLAC about recorded graphs set ------------===//
#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <atomic>
#include <cstdint>

namespace millrace::torch_shim {

/// Whether the place of an operation may be in a library, if that is the innermost one (Frames.cpp).
void countLibraries(bool enabled);
/// Whether operations that this thread records in a backward pass have the innermost user's line, not that of the forward operation; returns what was
/// so before.
bool followFrames(bool enabled);

/// Which numbers of the user's program are constants of the compiled one, and not its parameters (Calls.cpp).
enum class Numbers : uint8_t { NoneConstant, SpecialConstant, AllConstant };
/// SpecialConstant: 0 and 1, which simplifies much (XLA_NO_SPECIAL_SCALARS=1: NoneConstant).
std::atomic<Numbers> &numbersSetting();

extern PyMethodDef irMethods[];

} // namespace millrace::torch_shim
