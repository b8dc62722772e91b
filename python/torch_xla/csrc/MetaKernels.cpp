// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MetaKernels.cpp - PyTorch's compiled shape functions -----------------===//
#include "python/torch_xla/csrc/MetaKernels.h"

#include <ATen/core/boxing/KernelFunction.h>
#include <torch_xla_meta_kernels.inc> // meta_kernels.py writes it for the PyTorch that is built against

#include <unordered_map>

namespace millrace::torch_shim {

namespace {
template <typename Operator>
c10::KernelFunction kernel(typename Operator::schema *function) {
  return c10::KernelFunction::makeFromUnboxedRuntimeFunction(function);
}
} // namespace

const c10::KernelFunction *metaKernelOf(const std::string &name) {
  // The table stays for as long as the process: operators point into it.
  static const auto *table = new std::unordered_map<std::string, c10::KernelFunction>{MILLRACE_META_KERNELS};
  auto found = table->find(name);
  return found == table->end() ? nullptr : &found->second;
}

} // namespace millrace::torch_shim
