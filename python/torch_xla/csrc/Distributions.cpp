// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Distributions.cpp - Random numbers made from uniform and normal ones ===//
#include "python/torch_xla/csrc/Shim.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <cmath>

namespace millrace::torch_shim {
namespace {

using Gen = std::optional<at::Generator>;

/// In [0, 1), in a float type that holds the numbers of `like`.
Tensor uniform(const Tensor &like, at::IntArrayRef sizes) {
  return at::empty(sizes, like.options().dtype(like.scalar_type() == at::kDouble ? at::kDouble : at::kFloat)).uniform_(0, 1);
}

Tensor &cauchy(Tensor &self, double median, double sigma, Gen generator) {
  DrawFrom scope(generator);
  TORCH_CHECK(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified ", self.dtype());
  return self.copy_(((uniform(self, self.sizes()) - 0.5) * M_PI).tan() * sigma + median);
}

Tensor &geometric(Tensor &self, double p, Gen generator) {
  DrawFrom scope(generator);
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  Tensor positive = 1 - uniform(self, self.sizes()); // in (0, 1]
  return self.copy_((positive.log() / std::log1p(-p)).ceil().clamp_min(1));
}

Tensor &logNormal(Tensor &self, double mean, double deviation, Gen generator) {
  DrawFrom scope(generator);
  TORCH_CHECK(deviation > 0.0, "log_normal_ expects std > 0.0, but found std=", deviation);
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "log_normal_ is only supported for floating point types");
  Tensor normal = at::empty(self.sizes(), self.options().dtype(self.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
  return self.copy_(normal.normal_(mean, deviation).exp());
}

/// With replacement: where uniform numbers fall among the running sums. Without: the largest quotients by exponential ones.
Tensor multinomial(const Tensor &self, int64_t samples, bool replaces, Gen generator) {
  DrawFrom scope(generator);
  at::multinomial(at::zeros(self.sizes(), self.options().device(c10::kMeta)), samples, replaces);
  Tensor weights = self.scalar_type() == at::kDouble ? self : self.to(at::kFloat);
  if (!replaces || samples == 1) {
    Tensor keys = weights / at::empty_like(weights).exponential_(1);
    return samples == 1 ? keys.argmax(-1, true) : std::get<1>(keys.topk(samples, -1));
  }
  Tensor sums = weights.cumsum(-1);
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.back() = samples;
  Tensor found = at::searchsorted(sums, uniform(weights, sizes) * sums.narrow(-1, self.size(-1) - 1, 1), false, /*right=*/true);
  return found.clamp_max(self.size(-1) - 1);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XLA, m) {
  m.impl("cauchy_", TORCH_FN(cauchy));
  m.impl("geometric_", TORCH_FN(geometric));
  m.impl("log_normal_", TORCH_FN(logNormal));
  m.impl("multinomial", TORCH_FN(multinomial));
}

} // namespace millrace::torch_shim
