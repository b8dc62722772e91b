// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchNorm.cpp - Batch normalization, which writes its statistics ----===//
// tracing/ knows the forms that return the new running statistics; the ones that write them are made of these.
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Shim.h"

#include <ATen/ops/_native_batch_norm_legit_no_training_ops.h>
#include <ATen/ops/_native_batch_norm_legit_ops.h>

namespace millrace::torch_shim {
namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;
using Optional = std::optional<Tensor>;

bool isGiven(const Optional &tensor) { return tensor && tensor->defined(); }

Three nativeBatchNorm(const Tensor &input, const Optional &weight, const Optional &bias, const Optional &mean,
                      const Optional &variance, bool training, double momentum, double eps) {
  if (!training) {
    TORCH_CHECK(isGiven(mean) && isGiven(variance), "Expected running_mean and running_var to be defined when training=False");
    Tensor result = std::get<0>(
        at::_ops::_native_batch_norm_legit_no_training::call(input, weight, bias, *mean, *variance, momentum, eps));
    Tensor nothing = at::empty({0}, mean->options()); // nothing is saved, as on the CPU
    return {result, nothing, nothing};
  }
  if (!isGiven(mean) || !isGiven(variance))
    return at::_ops::_native_batch_norm_legit_no_stats::call(input, weight, bias, true, momentum, eps);
  auto [result, savedMean, savedScale, newMean, newVariance] = at::_ops::_native_batch_norm_legit_functional::call(
      input, weight, bias, *mean, *variance, true, momentum, eps);
  assign(*mean, newMean);
  assign(*variance, newVariance);
  return {result, savedMean, savedScale};
}

Three legitBatchNorm(const Tensor &input, const Optional &weight, const Optional &bias, Tensor &mean, Tensor &variance,
                     bool training, double momentum, double eps) {
  return nativeBatchNorm(input, weight, bias, mean, variance, training, momentum, eps);
}

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

/// With what other devices keep for the gradient: nothing here.
Four withReserve(const Tensor &input, Three made) {
  return {std::get<0>(made), std::get<1>(made), std::get<2>(made), at::empty({0}, input.options().dtype(at::kByte))};
}
Four batchNormWithUpdate(const Tensor &input, const Optional &weight, const Optional &bias, Tensor &mean, Tensor &variance,
                         double momentum, double eps) {
  return withReserve(input, nativeBatchNorm(input, weight, bias, mean, variance, true, momentum, eps));
}
Four batchNormNoUpdate(const Tensor &input, const Optional &weight, const Optional &bias, const Optional &mean,
                       const Optional &variance, double momentum, double eps) {
  return withReserve(input, nativeBatchNorm(input, weight, bias, mean, variance, false, momentum, eps));
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XLA, m) {
  m.impl("native_batch_norm", MILLRACE_KERNEL(nativeBatchNorm));
  m.impl("_native_batch_norm_legit", MILLRACE_KERNEL(legitBatchNorm));
  m.impl("_batch_norm_with_update", MILLRACE_KERNEL(batchNormWithUpdate));
  m.impl("_batch_norm_no_update", MILLRACE_KERNEL(batchNormNoUpdate));
}

} // namespace millrace::torch_shim
