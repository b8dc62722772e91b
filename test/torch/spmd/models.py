# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to train one model on 8 virtual devices, against the CPU: FSDPv2, tensor parallelism, activations that are computed again, layers in a loop,
torch.compile."""
import copy
import functools

import numpy as np
import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch_xla.distributed.fsdp import checkpoint_module
from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy
from torch_xla.experimental.scan import scan
from torch_xla.experimental.scan_layers import scan_layers
from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2
from torch_xla.utils.checkpoint import checkpoint

spec = torch_xla._XLAC._get_xla_sharding_spec


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.ModuleList(Block() for _ in range(3)), nn.Linear(16, 4)
        self.run = lambda blocks, x: functools.reduce(lambda x, block: block(x), blocks, x)

    def forward(self, x):
        return self.head(self.run(self.blocks, x))


def mesh():
    return xs.Mesh(np.arange(8), (4, 2), ("fsdp", "model"))


def blocks_wrapped(net, **options):
    return FSDPv2(net, mesh=mesh(), auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}), **options)


def tensor_parallel(net, run=None):
    for block in net.to("xla").blocks:
        xs.mark_sharding(block.up.weight, mesh(), ("model", None)), xs.mark_sharding(block.up.bias, mesh(), ("model",))
        xs.mark_sharding(block.down.weight, mesh(), (None, "model"))
    net.run = run or net.run
    return net


def again(blocks, x):
    for block in blocks:
        x = checkpoint(block, x.requires_grad_() if x.is_leaf else x)
    return x


def again_by_torch(blocks, x):
    for block in blocks:
        x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    return x


def on_global_mesh(net):
    xs.set_global_mesh(mesh())
    return FSDPv2(net, extra_data_axis="model")


WAYS = {
    "fsdp": lambda net: FSDPv2(net, mesh()),
    "fsdp on the global mesh": on_global_mesh,
    "fsdp of blocks": blocks_wrapped,
    "fsdp of blocks, computed again": lambda net: blocks_wrapped(net, auto_wrapper_callable=lambda part, **options: FSDPv2(checkpoint_module(part), **options)),
    "fsdp, compiled": lambda net: torch.compile(FSDPv2(net, mesh()), backend="openxla"),
    "tensor parallel": tensor_parallel,
    "tensor parallel, computed again": lambda net: tensor_parallel(net, again),
    "tensor parallel, computed again by torch": lambda net: tensor_parallel(net, again_by_torch),
    "tensor parallel, in a loop": lambda net: tensor_parallel(net, scan_layers),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("optimizer", [functools.partial(torch.optim.AdamW, lr=0.01), functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9)], ids=["AdamW", "SGD"])
def test_training(way, optimizer):
    if optimizer.func is torch.optim.SGD and way not in ("fsdp of blocks", "tensor parallel"):
        pytest.skip("one optimizer is enough here")
    xr.use_spmd()
    xs.set_global_mesh(None)
    torch.manual_seed(1)
    plain = Net()
    made = WAYS[way](copy.deepcopy(plain))
    optimizers = optimizer(plain.parameters()), optimizer(made.parameters())
    for _ in range(2):
        x, target = torch.randn(8, 6, 16), torch.randn(8, 6, 4)
        there = xs.mark_sharding(x.to("xla"), mesh(), ("fsdp", None, None)).global_tensor
        losses = []
        for net, each, value, wanted in ((plain, optimizers[0], x, target), (made, optimizers[1], there, target.to("xla"))):
            each.zero_grad()
            losses.append(F.mse_loss(net(value), wanted))
            losses[-1].backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            each.step()
        torch_xla.sync()
        torch.testing.assert_close(losses[1].detach().cpu(), losses[0].detach(), rtol=1e-4, atol=1e-5)
    inner = getattr(made, "_orig_mod", made)
    weight = inner.blocks[1].up.weight
    wanted = "{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}" if "fsdp" in way else "{devices=[2,1,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}"
    assert spec(weight) == wanted and all(spec(value) == wanted for value in optimizers[1].state[weight].values() if value.dim() == 2)


def test_which_parts_are_wrapped():
    """A policy hears of the parameters that no part has wrapped yet."""
    from torch_xla.distributed.fsdp.wrap import lambda_auto_wrap_policy, recursive_wrap, size_based_auto_wrap_policy
    xr.use_spmd()
    blocks = FSDPv2(Net(), mesh(), auto_wrap_policy=functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda part: isinstance(part, nn.Linear) and part.out_features == 64))
    assert [isinstance(block.up, FSDPv2) for block in blocks.blocks] == [True] * 3 and not isinstance(blocks.blocks[0].down, FSDPv2)
    large = FSDPv2(Net(), mesh(), auto_wrap_policy=functools.partial(size_based_auto_wrap_policy, min_num_params=1024))
    assert isinstance(large.blocks[0].up, FSDPv2) and isinstance(large.blocks[0].down, FSDPv2) and not isinstance(large.blocks[0], FSDPv2), "32 are left of it"
    seen = []

    class Wrapped(nn.Module):
        def __init__(self, part, tag):
            super().__init__()
            self.part = part
            seen.append(tag)
    net = Net()
    made, count = recursive_wrap(net, functools.partial(size_based_auto_wrap_policy, min_num_params=1024), Wrapped, ignored_modules=[net.blocks[0]],
                                 ignored_params=[net.blocks[1].up.weight], tag="here")
    assert made is net and seen == ["here"] * 3 and isinstance(net.blocks[1].down, Wrapped) and isinstance(net.blocks[2].up, Wrapped)
    assert isinstance(net.blocks[0], Block) and not isinstance(net.blocks[1].up, Wrapped)
    assert count == sum(p.numel() for part in (net.blocks[1].down, net.blocks[2].up, net.blocks[2].down) for p in part.parameters())


def test_annotations_inside_of_a_loop():
    xr.use_spmd()

    def step(carry, weight):
        carry = xs.mark_sharding_with_gradients(torch.tanh(carry @ weight), mesh(), ("fsdp", "model"))
        return carry, carry.sum(0)
    first, weights = torch.randn(8, 16), torch.randn(5, 16, 16) / 4
    plain = [first.clone().requires_grad_(), weights.clone().requires_grad_()]
    carry, sums = plain[0], []
    for weight in plain[1]:
        carry = torch.tanh(carry @ weight)
        sums.append(carry.sum(0))
    (carry.sum() + torch.stack(sums).sum()).backward()
    there = [xs.mark_sharding(weights.to("xla"), mesh(), (None, None, "model")).global_tensor.requires_grad_(), first.to("xla").requires_grad_()]
    last, stacked = scan(step, there[1], there[0])
    (last.sum() + stacked.sum()).backward()
    torch_xla.sync()
    torch.testing.assert_close(last.detach().cpu(), carry.detach(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(there[0].grad.cpu(), plain[1].grad, rtol=1e-3, atol=1e-4)
    assert "devices=" in spec(there[0].grad) and "devices=[1,1,2" in spec(there[0])
