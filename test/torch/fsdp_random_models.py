# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models, wrapped at random, beside plain PyTorch: `fsdp_random_models.py FIRST LAST`, in several processes. Prints what is wrong as JSON."""
import contextlib
import copy
import json
import pickle
import random
import sys

import torch
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch.utils.checkpoint import checkpoint
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP
from torch_xla.distributed.fsdp import checkpoint_module, consolidate_sharded_state_dicts


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Twice(nn.Module):
    """The same layer two times."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(torch.tanh(self.inner(x)))


class Again(nn.Module):
    """Activations are computed again."""

    def __init__(self, inner, reentrant):
        super().__init__()
        self.inner, self.reentrant = inner, reentrant

    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=self.reentrant)


class Branches(nn.Module):
    def __init__(self, left, right):
        super().__init__()
        self.left, self.right, self.gain = left, right, nn.Parameter(torch.tensor(0.3))

    def forward(self, x):
        return self.left(x) * self.gain + torch.relu(self.right(x))


def random_model(choose, width, depth, wraps):
    """A model from vectors to vectors. `wraps`: gets (part, how, options of the wrapper) of those that are wrapped."""
    def inner():
        return random_model(choose, width, depth - 1, wraps)
    kind = choose.choice(["linear", "linear", "norm", "sequence", "residual", "twice", "again", "branches", "convolution", "frozen", "mlp"]) \
        if depth else choose.choice(["linear", "norm"])
    made = {
        "linear": lambda: nn.Linear(width, width, bias=choose.random() < 0.7), "norm": lambda: nn.LayerNorm(width),
        "sequence": lambda: nn.Sequential(*[inner() for _ in range(choose.randint(1, 3))]), "residual": lambda: Residual(inner()),
        "twice": lambda: Twice(inner()), "again": lambda: Again(inner(), choose.random() < 0.5), "branches": lambda: Branches(inner(), inner()),
        "convolution": lambda: nn.Sequential(nn.Unflatten(-1, (1, width)), nn.Conv1d(1, 2, 3, padding=1), nn.Flatten(-2), nn.Linear(2 * width, width)),
        "frozen": lambda: nn.Linear(width, width).requires_grad_(False),
        "mlp": lambda: nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))}[kind]()
    if choose.random() < 0.4:
        wraps[id(made)] = (choose.random() < 0.3, {
            "reshard_after_forward": choose.random() < 0.7, "flatten_parameters": choose.random() < 0.3, "shard_param_on_dim_0": choose.random() < 0.3,
            "optimization_barrier_in_forward": choose.random() < 0.8, "optimization_barrier_in_backward": choose.random() < 0.8})
    return made


def wrapped(part, wraps):
    """The part, with what is marked wrapped, from the inside out."""
    for name, child in list(part.named_children()):
        made = wrapped(child, wraps)
        if made is not child:
            setattr(part, name, made)
    if id(part) not in wraps:
        return part
    again, options = wraps[id(part)]
    return FSDP(checkpoint_module(part) if again else part, execute_sharding_on_init=False, **options)


def check(seed):
    """What is wrong with the model of a seed, or None."""
    choose, rank, size = random.Random(seed), xr.global_ordinal(), xr.world_size()
    torch.manual_seed(seed)
    width, wraps = choose.choice([6, 8, 16]), {}
    model = nn.Sequential(nn.Linear(width, width), random_model(choose, width, 3, wraps), nn.Linear(width, 3))
    plain = copy.deepcopy(model)
    model = FSDP(wrapped(model, wraps), disable_reshard_on_root=choose.random() < 0.5, flatten_parameters=choose.random() < 0.3)
    make = choose.choice([lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9), lambda parameters: torch.optim.AdamW(parameters, lr=1e-2)])
    optimizers = [make([p for p in each.parameters() if p.requires_grad]) for each in (model, plain)]
    passes, no_sync, clip, twice = choose.choice([1, 1, 2]), choose.random() < 0.5, choose.choice([None, None, 0.7]), choose.random() < 0.2

    def loss_of(each, x):
        loss = each(x).square().mean()
        return loss + each(x * 0.5).square().mean() if twice else loss
    for step in range(3):
        for number in range(passes):
            x = torch.randn(4, width, generator=torch.Generator().manual_seed(seed * 100 + step * 10 + number))
            with model.no_sync() if no_sync and number < passes - 1 else contextlib.nullcontext():
                loss = loss_of(model, x[rank * 4 // size:(rank + 1) * 4 // size].to("xla"))
                loss.backward()
            expected = loss_of(plain, x)
            expected.backward()
        if clip:
            model.clip_grad_norm_(clip)
            nn.utils.clip_grad_norm_(plain.parameters(), clip)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        mean = xm.all_reduce(xm.REDUCE_SUM, loss.detach(), 1.0 / size).item()
        torch_xla.sync()
        if abs(mean - expected.item()) > 2e-3 * max(1.0, abs(expected.item())):
            return f"seed {seed}, step {step}: {mean} <> {expected.item()}"
    own = {name: value.cpu() for name, value in model.state_dict().items()}
    shards = [pickle.loads(each) for each in xm.rendezvous(f"shards of {seed}", pickle.dumps(own))]
    whole = consolidate_sharded_state_dicts(shards, model.get_shard_metadata())
    if set(whole) != set(plain.state_dict()):
        return f"seed {seed}: {set(whole) ^ set(plain.state_dict())}"
    largest = max((whole[name] - value).abs().max().item() for name, value in plain.state_dict().items())
    return f"seed {seed}: weights differ by {largest}" if largest > 2e-2 else None


if __name__ == "__main__":
    print(json.dumps([wrong for seed in range(int(sys.argv[1]), int(sys.argv[2])) if (wrong := check(seed))]), flush=True)
