# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaled dot product attention in its variants, values and gradients against the CPU."""
import pytest
import torch
import torch.nn.functional as F
import torch_xla  # noqa: F401


def inputs(*, heads=4, keys=4, length=5, source=7, width=8, dims=4, dtype=torch.float32):
    torch.manual_seed(0)
    shape = [(2, heads, length, width), (2, keys, source, width), (2, keys, source, width)]
    return [torch.randn(s[4 - dims:] if dims < 4 else s, dtype=torch.float64).to(dtype) for s in shape]


def allowed(length=5, source=7):
    mask = torch.ones(2, 1, length, source, dtype=torch.bool).tril(1)
    mask[0, 0, 0] = False  # a row that may see nothing
    return mask


VARIANTS = {
    "plain": ({}, {}),
    "scale": ({}, {"scale": 0.3}),
    "causal": ({}, {"is_causal": True}),
    "boolean_mask": ({}, {"attn_mask": allowed()}),
    "added_mask": ({}, {"attn_mask": torch.linspace(-2, 2, 35).reshape(5, 7)}),
    "grouped_queries": ({"heads": 6, "keys": 2}, {"enable_gqa": True}),
    "grouped_queries_causal": ({"heads": 6, "keys": 2, "source": 5}, {"enable_gqa": True, "is_causal": True}),
    "three_dims": ({"dims": 3}, {}),
    "two_dims": ({"dims": 2}, {"is_causal": True}),
    "one_key": ({"source": 1}, {}),
    "no_key": ({"source": 0}, {}),
    "bf16": ({"dtype": torch.bfloat16}, {"is_causal": True}),
    "f64": ({"dtype": torch.float64}, {"attn_mask": allowed()}),
}


def run(function, tensors, kwargs, device):
    tensors = [t.to(device).requires_grad_() for t in tensors]
    kwargs = {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in kwargs.items()}
    made = function(*tensors, **kwargs)
    made = made[0] if isinstance(made, tuple) else made
    weights = torch.linspace(-1, 1, made.numel(), dtype=torch.float64).reshape(made.shape).to(made.dtype).to(device)
    return [t.detach().cpu() for t in (made, *torch.autograd.grad(made, tensors, weights))]


@pytest.mark.parametrize("name", VARIANTS)
def test_variants(name, no_fallback):
    shape, kwargs = VARIANTS[name]
    tensors = inputs(**shape)
    tolerance = 3e-2 if tensors[0].dtype == torch.bfloat16 else 1e-5
    for got, want in zip(run(F.scaled_dot_product_attention, tensors, kwargs, "xla"), run(F.scaled_dot_product_attention, tensors, kwargs, "cpu")):
        torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kwargs", [{}, {"is_causal": True}, {"attn_mask": torch.linspace(-2, 2, 35).reshape(5, 7)}, {"scale": 0.3}], ids=["plain", "causal", "mask", "scale"])
def test_flash_attention_of_the_cpu(kwargs, no_fallback):
    """Programs that were traced on the CPU call it by its own name."""
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    for got, want in zip(run(flash, inputs(), kwargs, "xla"), run(flash, inputs(), kwargs, "cpu")):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_dropout(no_fallback):
    """Weights are left out at random, the others grow: the mean over many draws is the result without."""
    query, key, value = [t.to("xla") for t in inputs()]
    want = F.scaled_dot_product_attention(query, key, value)
    draws = torch.stack([F.scaled_dot_product_attention(*(t.expand(200, *t.shape[1:]) for t in (q, k, v)), dropout_p=0.25)
                         for q, k, v in zip(query[:, None], key[:, None], value[:, None])])
    assert not torch.equal(draws[0, 0].cpu(), draws[0, 1].cpu())
    torch.testing.assert_close(draws.mean(1).cpu(), want.cpu(), rtol=0, atol=0.25)
