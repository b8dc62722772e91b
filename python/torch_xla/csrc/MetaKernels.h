// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MetaKernels.h - PyTorch's compiled shape functions -------------------===//
// The dispatcher's Meta kernels of most operators are functions in Python, whose first call imports torch._dynamo: a second of every
// process. Structured operators have a function in C++ as well (namespace at::meta), which gives the same types of results, and the
// CPU's words for an error.
#pragma once
#include <string>

namespace c10 {
class KernelFunction;
}

namespace millrace::torch_shim {

/// The compiled shape function of the operator with that name ("aten::mul.Tensor"); null if PyTorch has none. Any thread.
const c10::KernelFunction *metaKernelOf(const std::string &name);

} // namespace millrace::torch_shim
