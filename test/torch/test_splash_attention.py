# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.splash_attention against PyTorch's attention on the CPU, values and gradients."""
import pytest
import torch
import torch.nn.functional as F
import torch_xla  # noqa: F401
from torch_xla.experimental.splash_attention import SplashAttentionConfig, splash_attention

LENGTH = 12
SEGMENTS = torch.tensor([[0] * 5 + [1] * 7, [2] * 12])


def masks():
    before = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    near = before.triu(-3)
    return {"causal": before[None, None], "all": torch.ones(1, 1, LENGTH, LENGTH, dtype=torch.bool), "window": near[None, None],
            "segments": before & (SEGMENTS[:, None, :, None] == SEGMENTS[:, None, None, :])}


def run(function, tensors, device):
    tensors = [t.to(device).requires_grad_() for t in tensors]
    made = function(*tensors)
    weights = torch.linspace(-1, 1, made.numel()).reshape(made.shape).to(device)
    return [t.detach().cpu() for t in (made, *torch.autograd.grad(made, tensors, weights))]


@pytest.mark.parametrize("kind", ["causal", "all", "window", "segments"])
@pytest.mark.parametrize("key_heads", [4, 2])
def test_masks(kind, key_heads, no_fallback):
    torch.manual_seed(0)
    tensors = [torch.randn(2, 4, LENGTH, 8), torch.randn(2, key_heads, LENGTH, 8), torch.randn(2, key_heads, LENGTH, 8)]
    config = SplashAttentionConfig(attentiontype_local_sliding=kind == "window", slide_window_size=3)

    def ours(q, k, v):
        return splash_attention(q, k, v, config.to_json(), SEGMENTS.to(q.device) if kind == "segments" else None, causal=kind != "all")

    def theirs(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, masks()[kind], scale=1.0, enable_gqa=True)

    for got, want in zip(run(ours, tensors, "xla"), run(theirs, tensors, "cpu")):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_soft_cap(no_fallback):
    torch.manual_seed(0)
    tensors = [torch.randn(1, 2, LENGTH, 8) for _ in range(3)]

    def theirs(q, k, v):
        scores = 2 * torch.tanh(q @ k.transpose(-1, -2) / 2)
        return torch.softmax(scores.masked_fill(~masks()["causal"], float("-inf")), -1) @ v

    def ours(q, k, v):
        return splash_attention(q, k, v, SplashAttentionConfig().to_json(), attn_logits_soft_cap=2.0)

    for got, want in zip(run(ours, tensors, "xla"), run(theirs, tensors, "cpu")):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_config_and_errors():
    config = SplashAttentionConfig(mesh="x", qkv_partition_spec=(("data", "fsdp"), None, "model", None), slide_window_size=5)
    assert SplashAttentionConfig.from_json(config.to_json()) == config
    x = torch.zeros(1, 4, 3, 2)
    with pytest.raises(ValueError, match="which divide those of q, but got 4, 3 and 3"):
        splash_attention(x, x[:, :3], x[:, :3], SplashAttentionConfig().to_json())
    with pytest.raises(ValueError, match="slide_window_size"):
        splash_attention(x, x, x, SplashAttentionConfig(attentiontype_local_sliding=True).to_json())
