// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Repeat.cpp - repeat_interleave: sizes that are values ---------------===//
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Shim.h"

#include <ATen/Functions.h>

namespace millrace::torch_shim {
namespace {

/// i stands repeats[i] times in the result. How long that is must be known now, unless the user says so.
Tensor repeatInterleave(const Tensor &repeats, std::optional<int64_t> outputSize) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt, "repeats has to be Long or Int tensor");
  if (repeats.size(0) == 0)
    return at::empty_like(repeats);
  Tensor ends = repeats.cumsum(0, at::kLong);
  int64_t total = outputSize ? *outputSize : 0;
  if (!outputSize) {
    auto [least, last] = std::pair{repeats.min(), ends[-1]};
    TORCH_CHECK(least.item().toLong() >= 0, "repeats can not be negative");
    total = last.item().toLong();
  }
  return at::searchsorted(ends, at::arange(total, ends.options()), false, true).to(repeats.scalar_type());
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XLA, m) { m.impl("repeat_interleave.Tensor", MILLRACE_KERNEL(repeatInterleave)); }

} // namespace millrace::torch_shim
