// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Refusals.h - Numbers that PyTorch's kernels refuse -------------------===//
// An operator is looked at once per signature, and numbers are parameters of the program: they are no part of it. What a kernel of the
// CPU refuses because of the value of a number that the host knows is refused here, in every call and in the kernel's words. Values of
// tensors on the device are not looked at: that would need a synchronization (docs/guide/torch-troubleshooting.md).
#pragma once
#include <ATen/core/ivalue.h>

#include <string>

namespace millrace::torch_shim {

/// Whether PyTorch's kernel may refuse these arguments of an operator: then it is asked, on tensors without values, and raises its error.
/// Raises that itself where the values of tensors on the host decide.
using Suspicion = bool (*)(c10::ArrayRef<c10::IValue> args);

/// Of the operator with that name ("aten::pow.Tensor_Scalar"), null for most.
Suspicion suspicionOf(const std::string &name);

} // namespace millrace::torch_shim
