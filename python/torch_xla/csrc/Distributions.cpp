// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Distributions.cpp - Random numbers made from uniform and normal ones ===//
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Shim.h"

#include <ATen/ExpandUtils.h>
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
  DrawFrom scope(generator, self);
  TORCH_CHECK(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified ", self.dtype());
  return self.copy_(((uniform(self, self.sizes()) - 0.5) * M_PI).tan() * sigma + median);
}

Tensor &geometric(Tensor &self, double p, Gen generator) {
  DrawFrom scope(generator, self);
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  Tensor positive = 1 - uniform(self, self.sizes()); // in (0, 1]
  return self.copy_((positive.log() / std::log1p(-p)).ceil().clamp_min(1));
}

Tensor &logNormal(Tensor &self, double mean, double deviation, Gen generator) {
  DrawFrom scope(generator, self);
  TORCH_CHECK(deviation > 0.0, "log_normal_ expects std > 0.0, but found std=", deviation);
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "log_normal_ is only supported for floating point types");
  Tensor normal = at::empty(self.sizes(), self.options().dtype(self.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
  return self.copy_(normal.normal_(mean, deviation).exp());
}

/// With replacement: where uniform numbers fall among the running sums. Without: the largest quotients by exponential ones.
Tensor categories(const Tensor &self, int64_t samples, bool replaces, Gen generator) {
  DrawFrom scope(generator, self);
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(replaces || samples <= self.size(-1), "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TORCH_CHECK(self.size(-1) <= (1 << 24), "number of categories cannot exceed 2^24");
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

Tensor &categoriesOut(const Tensor &self, int64_t samples, bool replaces, Gen generator, Tensor &out) {
  TORCH_CHECK(out.scalar_type() == at::kLong, "multinomial expects Long tensor out, got: ", out.scalar_type());
  Tensor made = categories(self, samples, replaces, generator);
  resizeTo(out, made.sizes());
  assign(out, made);
  return out;
}

/// A random number per element of the parameters, in the type of `like`; the kernel computes in double precision.
Tensor sampled(const char *name, const Tensor &like, std::vector<Tensor> parameters, const Gen &generator) {
  DrawFrom scope(generator, like);
  std::vector<Value> operands = {nextRandomKey()};
  std::vector<tracing::Arg> args = {tracing::Operand{0}};
  for (const Tensor &parameter : parameters) {
    args.push_back(tracing::Operand{int32_t(operands.size())});
    operands.push_back(valueOf(parameter));
  }
  return wrap(node(name, std::move(operands), std::move(args), {dtypeOf(like.scalar_type()), like.sizes().vec()}));
}

Tensor standardGamma(const Tensor &concentration, Gen generator) {
  return sampled("millrace::standard_gamma", concentration, {concentration}, generator);
}
Tensor poisson(const Tensor &rate, Gen generator) { return sampled("millrace::poisson", rate, {rate}, generator); }
Tensor binomial(const Tensor &count, const Tensor &probability, Gen generator) {
  auto [counts, probabilities] = at::expand_outplace(count, probability);
  return sampled("millrace::binomial", *counts, {*counts, *probabilities}, generator);
}
/// Gamma numbers over their sum.
Tensor dirichlet(const Tensor &concentration, Gen generator) {
  Tensor gammas = standardGamma(concentration.to(at::kDouble), generator);
  return (gammas / gammas.sum(-1, true)).to(concentration.scalar_type());
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XLA, m) {
  m.impl("cauchy_", MILLRACE_KERNEL(cauchy));
  m.impl("geometric_", MILLRACE_KERNEL(geometric));
  m.impl("log_normal_", MILLRACE_KERNEL(logNormal));
  m.impl("_standard_gamma", MILLRACE_KERNEL(standardGamma));
  m.impl("_sample_dirichlet", MILLRACE_KERNEL(dirichlet));
  m.impl("poisson", MILLRACE_KERNEL(poisson));
  m.impl("binomial", MILLRACE_KERNEL(binomial));
  m.impl("multinomial", MILLRACE_KERNEL(categories));
  m.impl("multinomial.out", MILLRACE_KERNEL(categoriesOut));
}

} // namespace millrace::torch_shim
