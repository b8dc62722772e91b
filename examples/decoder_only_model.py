# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A language model of decoder layers, as Llama's: RMS norms, rotary positions, grouped heads, a gated MLP."""
import dataclasses

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclasses.dataclass
class DecoderOnlyConfig:
    hidden_size: int = 1024
    num_hidden_layers: int = 2
    num_attention_heads: int = 8
    num_key_value_heads: int = 4
    intermediate_size: int = 32 * 1024
    vocab_size: int = 3200


class RMSNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


def rotate(x, base=10000.0):
    """Pairs of the last dim turned by an angle that grows with the position (dim -2)."""
    length, half = x.shape[-2], x.shape[-1] // 2
    rates = base ** (-torch.arange(half, device=x.device) / half)
    angles = torch.arange(length, device=x.device)[:, None] * rates
    left, right = x[..., :half], x[..., half:]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.groups = config.num_attention_heads, config.num_key_value_heads
        self.size = config.hidden_size // self.heads
        self.q = nn.Linear(config.hidden_size, self.heads * self.size, bias=False)
        self.k = nn.Linear(config.hidden_size, self.groups * self.size, bias=False)
        self.v = nn.Linear(config.hidden_size, self.groups * self.size, bias=False)
        self.o = nn.Linear(self.heads * self.size, config.hidden_size, bias=False)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (linear(x).view(batch, length, -1, self.size).transpose(1, 2) for linear in (self.q, self.k, self.v))
        q, k = rotate(q), rotate(k)
        k, v = (t.repeat_interleave(self.heads // self.groups, dim=1) for t in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(mixed.transpose(1, 2).reshape(batch, length, -1))


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class DecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention, self.mlp = Attention(config), MLP(config)
        self.before_attention, self.before_mlp = RMSNorm(config.hidden_size), RMSNorm(config.hidden_size)

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class DecoderOnlyModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.vocab_size = config.vocab_size
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))
