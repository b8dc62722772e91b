# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An MLP and a Transformer of two layers, sharded in the usual ways, lose as on one device. SPMD_STEPS: how many steps."""
import os

import numpy as np
import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2

STEPS = int(os.environ.get("SPMD_STEPS", "3"))
N = int(os.environ["CPU_NUM_DEVICES"])


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 8)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))

    def split(self, mesh, axis):
        """Megatron's way: the first layer by columns, the second by rows."""
        xs.mark_sharding(self.up.weight, mesh, (axis, None)), xs.mark_sharding(self.up.bias, mesh, (axis,))
        xs.mark_sharding(self.down.weight, mesh, (None, axis))


class Block(nn.Module):
    def __init__(self, width=16, heads=8):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2, self.mlp = nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.blocks, self.head = nn.Embedding(32, 16), nn.Sequential(Block(), Block()), nn.Linear(16, 32)

    def forward(self, tokens):
        return self.head(self.blocks(self.embedding(tokens)))

    def split(self, mesh, axis):
        for block in self.blocks:
            xs.mark_sharding(block.qkv.weight, mesh, (axis, None)), xs.mark_sharding(block.out.weight, mesh, (None, axis))
            xs.mark_sharding(block.mlp[0].weight, mesh, (axis, None)), xs.mark_sharding(block.mlp[2].weight, mesh, (None, axis))


def train(kind, how):
    torch.manual_seed(0)
    model = kind()
    batch = [(torch.randn(8, 16), torch.randn(8, 8)) if kind is Mlp else
             (torch.randint(0, 32, (8, 4)), torch.randint(0, 32, (8, 4))) for _ in range(2)]
    device = torch.device("cpu") if how is None else torch.device("xla")
    model = model.to(device)
    mesh = data = None
    if how == "data":
        mesh, data = xs.Mesh(np.arange(N), (N,), ("data",)), "data"
    elif how == "tensor":
        mesh = xs.Mesh(np.arange(N), (N,), ("model",))
        model.split(mesh, "model")
    elif how == "2d":
        mesh, data = xs.Mesh(np.arange(N), (max(N // 2, 1), min(N, 2)), ("data", "model")), "data"
        model.split(mesh, "model")
    elif how == "fsdp":
        mesh, data = xs.Mesh(np.arange(N), (N, 1), ("fsdp", "model")), "fsdp"
        model = FSDPv2(model, mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses, counts = [], []
    for step in range(STEPS):
        x, y = (t.to(device) for t in batch[step % 2])
        if data:
            xs.mark_sharding(x, mesh, (data,) + (None,) * (x.dim() - 1)), xs.mark_sharding(y, mesh, (data,) + (None,) * (y.dim() - 1))
        optimizer.zero_grad()
        out = model(x)
        loss = F.mse_loss(out, y) if kind is Mlp else F.cross_entropy(out.flatten(0, 1), y.flatten())
        loss.backward()
        optimizer.step()
        if how:
            torch_xla.sync()
            counts.append(torch_xla._XLAC._compilations())
        losses.append(loss.item())
    return losses, model, counts


WAYS = [(kind, how) for kind in (Mlp, Transformer) for how in ("data", "tensor", "2d", "fsdp")]


@pytest.mark.parametrize("kind, how", WAYS if STEPS > 3 else [(Mlp, "data"), (Mlp, "tensor"), (Mlp, "2d"), (Mlp, "fsdp"), (Transformer, "2d")])
def test_losses_are_those_of_one_device(kind, how):
    wanted, plain, _ = train(kind, None)
    xr.use_spmd()
    before = torch_xla._XLAC._compilations()
    losses, model, counts = train(kind, how)
    np.testing.assert_allclose(losses, wanted, rtol=2e-3, atol=1e-5)
    assert losses[0] != losses[-1]
    # The first step makes the optimizer's state, the second one finds it; what it finds in parts stays in these parts.
    assert counts[0] == before + 1 and set(counts[1:]) == {before + 2}, f"compiled more than two programs: {before}, {counts}"
    for (name, got), want in zip(model.named_parameters(), plain.parameters()):
        if how == "fsdp" and N > 1 and got.dim() == 2:
            assert f"{N}" in torch_xla._XLAC._get_xla_sharding_spec(got), name


def test_megatron_mlp_needs_one_all_reduce():
    if N == 1:
        pytest.skip("one device")
    xr.use_spmd()
    model = Mlp().to("xla")
    model.split(xs.Mesh(np.arange(N), (N,), ("model",)), "model")
    x = torch.randn(8, 16).to("xla")
    text = xs.partitioned([model(x)])
    assert text.count("stablehlo.all_reduce") == 1 and "all_gather" not in text, xs.explain([model(x)])
