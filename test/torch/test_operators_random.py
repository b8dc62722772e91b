# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers by rejection: their distribution, and that they stay on the device."""
import math

import pytest
import torch
import torch_xla  # noqa: F401

COUNT = 20000


def drawn(distribution, *parameters):
    torch.manual_seed(3)
    return distribution(*[torch.tensor(float(p), device="xla") for p in parameters]).sample((COUNT,)).cpu().double()


def near(sample, mean, variance, fourth):
    """Within five standard errors; `fourth` is the fourth central moment."""
    assert abs(sample.mean() - mean) <= 5 * math.sqrt(variance / COUNT) + 1e-9
    assert abs(sample.var() - variance) <= 5 * math.sqrt(max(fourth - variance ** 2, 0) / COUNT) + 1e-9


@pytest.mark.parametrize("shape", [0.3, 1.0, 2.5, 80.0])
def test_gamma(shape, no_fallback):
    sample = drawn(torch.distributions.Gamma, shape, 2.0)
    assert sample.min() > 0
    near(sample * 2, shape, shape, 3 * shape ** 2 + 6 * shape)
    expected = torch.special.gammainc(torch.tensor(shape, dtype=torch.float64), sample * 2)  # uniform, if it is that distribution
    near(expected, 0.5, 1 / 12, 1 / 80)


@pytest.mark.parametrize("rate", [0.0, 0.7, 9.5, 10.5, 3000.0])
def test_poisson(rate, no_fallback):
    sample = drawn(torch.distributions.Poisson, rate)
    assert (sample == sample.floor()).all() and sample.min() >= 0
    near(sample, rate, rate, rate * (1 + 3 * rate))
    assert abs((sample == 0).double().mean() - math.exp(-rate)) < 0.02


@pytest.mark.parametrize("count, probability", [(10, 0.3), (10, 0.8), (500, 0.4), (500, 0.99), (5, 0.0), (5, 1.0), (0, 0.5)])
def test_binomial(count, probability, no_fallback):
    torch.manual_seed(3)
    sample = torch.binomial(torch.full((COUNT,), float(count), device="xla"), torch.full((COUNT,), probability, device="xla")).cpu().double()
    assert (sample == sample.floor()).all() and sample.min() >= 0 and sample.max() <= count
    pq = probability * (1 - probability)
    near(sample, count * probability, count * pq, count * pq * (1 + 3 * (count - 2) * pq))


def test_dirichlet_and_beta(no_fallback):
    torch.manual_seed(3)
    sample = torch.distributions.Dirichlet(torch.tensor([0.5, 1.0, 2.5], device="xla")).sample((COUNT,)).cpu()
    torch.testing.assert_close(sample.sum(-1), torch.ones(COUNT))
    torch.testing.assert_close(sample.mean(0), torch.tensor([0.125, 0.25, 0.625]), rtol=0, atol=0.01)
    torch.testing.assert_close(drawn(torch.distributions.Beta, 2.0, 6.0).mean(), torch.tensor(0.25, dtype=torch.float64), rtol=0, atol=0.01)


def test_gradient_of_gamma(no_fallback):
    alpha = torch.tensor([0.1, 0.5, 1.0, 2.0, 7.0, 30.0, 200.0]).repeat_interleave(20)
    sample = torch._standard_gamma(alpha)
    torch.testing.assert_close(torch._standard_gamma_grad(alpha.to("xla"), sample.to("xla")).cpu(), torch._standard_gamma_grad(alpha, sample), rtol=1e-3, atol=1e-5)
    rate = torch.tensor([2.0, 3.0], device="xla", requires_grad=True)
    torch.distributions.Gamma(rate, 1.0).rsample().sum().backward()
    assert (rate.grad.cpu() > 0).all()


def test_seeds():
    rate = torch.full((100,), 30.0, device="xla")
    torch.manual_seed(7)
    first = torch.poisson(rate).cpu()
    second = torch.poisson(rate).cpu()
    torch.manual_seed(7)
    assert torch.equal(torch.poisson(rate).cpu(), first) and not torch.equal(first, second)


def test_masks_of_bytes(no_fallback):
    """PyTorch's older dropout: its mask is of bytes, and so is what its gradient gets."""
    x = torch.ones(1000, device="xla", requires_grad=True)
    made, mask = torch._fused_dropout(x, 0.75)
    assert mask.dtype == torch.uint8 and 600 < mask.sum().item() < 900
    made.sum().backward()
    torch.testing.assert_close(x.grad.cpu(), mask.cpu() / 0.75)
    torch.testing.assert_close(made.detach().cpu(), x.grad.cpu())
    torch.testing.assert_close(torch.ops.aten.native_dropout_backward(made.detach(), mask, 2.0).cpu(), made.detach().cpu() * mask.cpu() * 2)
