# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that test_fsdp.py runs in several processes: `fsdp_programs.py NAME`, with torchrun's variables set. Each prints what it returns as
JSON."""
import contextlib
import copy
import functools
import glob
import json
import os
import pickle
import sys

import torch
import torch.distributed.checkpoint
import torch.distributed.fsdp
import torch.nn as nn
import torch.nn.functional as F
import torch.optim.swa_utils
import torch.utils.checkpoint
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch_xla import _transformers_import
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP
from torch_xla.distributed.fsdp import checkpoint_module, consolidate_sharded_model_checkpoints, consolidate_sharded_state_dicts
from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy
from torch_xla.experimental.distributed_checkpoint import CheckpointManager, SPMDSavePlanner, prime_optimizer

BATCH, WIDTH, WORDS = 8, 24, 50


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm(x))


class Model(nn.Module):
    """A Transformer whose last layer shares the weights of the first. `remat`: by which way its blocks are computed again, if they are."""

    def __init__(self, layers=3):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.tensor(0.5))
        self.remat = None

    def forward(self, ids):
        x = self.embed(ids) * self.scale
        for block in self.blocks:
            x = block(x) if self.remat is None else torch.utils.checkpoint.checkpoint(block, x, use_reentrant=self.remat == "reentrant")
        return self.head(x)


POLICY = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})


def batch(step, rank=0, size=1):
    """The part of a step's batch that a rank gets."""
    ids = torch.randint(0, WORDS, (BATCH, 9), generator=torch.Generator().manual_seed(step))
    return ids[rank * BATCH // size:(rank + 1) * BATCH // size]


def loss_of(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).float().flatten(0, 1), ids[:, 1:].flatten())


def model_of(make=Model, **options):
    torch.manual_seed(0)
    return make(**options)


def train(model, steps=4, accumulate=1, no_sync=False, clip=None, loss_of=loss_of, ends=lambda model: None):
    """The losses of a wrapped model, the mean of all ranks, as hex texts. `accumulate`: backward passes for a step, with or without no_sync()."""
    rank, size = xr.global_ordinal(), xr.world_size()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        for part in range(accumulate):
            last = part == accumulate - 1
            with model.no_sync() if no_sync and not last else contextlib.nullcontext():
                loss = loss_of(model, batch(step * accumulate + part, rank, size).to("xla"))
                (loss / accumulate).backward()
        if clip:
            model.clip_grad_norm_(clip)
        optimizer.step()
        losses.append(xm.all_reduce(xm.REDUCE_SUM, loss.detach(), 1.0 / size).item().hex())
        torch_xla.sync()
    return losses


def native(model, steps=4, accumulate=1, clip=None, loss_of=loss_of):
    """The losses of plain PyTorch."""
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        for part in range(accumulate):
            loss = loss_of(model, batch(step * accumulate + part))
            (loss / accumulate).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


def remat(way, **options):
    model = model_of()
    model.remat = way
    return FSDP(model, **options)


def of_inner_checkpoints():
    model = model_of()
    for block in model.blocks:
        checkpoint_module(block)
    return FSDP(model)


WRAPPED = {
    "zero3": lambda: FSDP(model_of(), auto_wrap_policy=POLICY),
    "zero2": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, reshard_after_forward=False),
    "reshard root": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, disable_reshard_on_root=False),
    "one unit": lambda: FSDP(model_of()),
    "flat": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, flatten_parameters=True),
    "dim 0": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, shard_param_on_dim_0=True),
    "buckets": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, reduce_scatter_bucket_size_mb=1, coalesce_all_gather_ops=True,
                            shard_param_on_dim_0=True, pin_layout_in_collective_ops=False),
    "no barriers": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, optimization_barrier_in_forward=False, optimization_barrier_in_backward=False),
    "sync at the end": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, sync_on_finalization=True),
    "checkpoint_module": lambda: FSDP(model_of(), auto_wrap_policy=POLICY,
                                      auto_wrapper_callable=lambda part, **options: FSDP(checkpoint_module(part), **options)),
    "checkpoint inside": of_inner_checkpoints,
    "checkpoint outside, reentrant": lambda: remat("reentrant", auto_wrap_policy=POLICY),
    "checkpoint outside": lambda: remat("other", auto_wrap_policy=POLICY),
    "checkpoint in one unit": lambda: remat("other"),
    "bf16": lambda: FSDP(model_of(), auto_wrap_policy=POLICY, compute_dtype=torch.bfloat16, fp32_reduce_scatter=True),
}


def losses():
    """Of every way to wrap the model, and of plain PyTorch."""
    names = json.loads(os.environ["NAMES"])
    return dict({name: train(WRAPPED[name]()) for name in names}, native=native(model_of()))


class Mixed(nn.Module):
    """A recurrent layer, BatchNorm, a frozen layer, a parameter without a use, one without dims."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 16)
        self.lstm = nn.LSTM(16, 16, batch_first=True)
        self.norm = nn.BatchNorm1d(16)
        self.frozen = nn.Linear(16, 16).requires_grad_(False)
        self.head = nn.Linear(16, WORDS)
        self.unused = nn.Parameter(torch.ones(3))
        self.gain = nn.Parameter(torch.tensor(1.5))

    def forward(self, ids):
        x = self.lstm(self.embed(ids))[0]
        return self.head(self.norm(torch.tanh(self.frozen(x)).transpose(1, 2)).transpose(1, 2) * self.gain)


def every_layer(module, recurse, unwrapped_params):
    return recurse or isinstance(module, (nn.LSTM, nn.Linear, nn.BatchNorm1d))


def without_statistics(model):
    """BatchNorm sees the batch of one rank: the statistics of training would differ."""
    return model.eval()


def mixed():
    """Losses with each flat, by parts, in dim 0; and natively."""
    made = {}
    for name, options in {"parts": {}, "flat": {"flatten_parameters": True}, "dim 0": {"shard_param_on_dim_0": True}}.items():
        model = FSDP(without_statistics(model_of(Mixed)), auto_wrap_policy=every_layer, **options)
        made[name] = train(model)
        unused = [parameter for name, parameter in model.get_original_names_and_sharded_parameters() if name == "unused"]
        made[name + " unused"] = [parameter.grad is None for parameter in unused]
    made["native"] = native(without_statistics(model_of(Mixed)))
    return made


def accumulated():
    """Losses with gradients of several backward passes, reduced each time and once, clipped and not."""
    made = {f"{clip} {no_sync}": train(FSDP(model_of(layers=1), auto_wrap_policy=POLICY), steps=3, accumulate=2, no_sync=no_sync, clip=clip)
            for clip, no_sync in ((None, True), (0.5, False), (0.5, True))}
    return dict(made, **{f"{clip} native": native(model_of(layers=1), steps=3, accumulate=2, clip=clip) for clip in (None, 0.5)})


def state(model):
    return {name: value.cpu() for name, value in model.state_dict().items()}


class Saved(Model):
    def save_pretrained(self):
        """What PEFT's looks at: which modules there are."""
        return [name for name, _ in self.named_modules()]


def checkpoints():
    """What is wrong with saved shards, loaded and joined again."""
    wrong, folder, rank, size = [], os.environ["FOLDER"], xr.global_ordinal(), xr.world_size()
    for name in ("zero3", "flat", "dim 0"):
        model = FSDP(model_of(Saved), auto_wrap_policy=POLICY, **{"flat": {"flatten_parameters": True}, "dim 0": {"shard_param_on_dim_0": True}}.get(name, {}))
        before = train(model, steps=2)
        prefix = os.path.join(folder, name.replace(" ", "_"))
        xm.save({"model": model.state_dict(), "shard_metadata": model.get_shard_metadata()}, f"{prefix}-rank-{rank}-of-{size}.pth", master_only=False)
        xm.rendezvous("saved")
        again = WRAPPED[name]()
        saved = torch.load(f"{prefix}-rank-{rank}-of-{size}.pth", weights_only=True)
        again.load_state_dict(saved["model"])
        if any(not torch.equal(value, state(again)[key]) for key, value in state(model).items()):
            wrong.append(f"{name}: loaded")
        if any("_fpw_module." in key for key in saved["model"]):
            wrong.append(f"{name}: names {list(saved['model'])[:3]}")
        if rank == 0:
            whole, _ = consolidate_sharded_model_checkpoints(f"{prefix}-rank-", save_model=False)
            plain = model_of()
            plain.load_state_dict(whole)
            saved_alone = consolidate_sharded_state_dicts([torch.load(path, weights_only=True)["model"] for path in sorted(
                glob.glob(f"{prefix}-rank-*-of-*.pth"))], saved["shard_metadata"])
            if any(not torch.equal(value, saved_alone[key]) for key, value in whole.items()) or len(before) != 2:
                wrong.append(f"{name}: joined")
            torch.save(plain.state_dict(), f"{prefix}-plain.pt")
        with _transformers_import._saving_by_plain_names(model):
            seen = model.module.module.save_pretrained()
        if sorted(set(seen)) != sorted(name for name, _ in Saved().named_modules()) or "save_pretrained" in vars(model.module.module):
            wrong.append(f"{name}: modules {seen}")
        names = [name for name, _ in model.get_original_names_and_sharded_parameters()]
        if "flat" not in name and sorted(names) != sorted(dict(model_of().named_parameters())):
            wrong.append(f"{name}: {names}")
    return wrong


ACROSS = {"zero3": {}, "flat": {"flatten_parameters": True}, "dim 0": {"shard_param_on_dim_0": True}}


def optimizer_of(model):
    """AdamW in two groups, matrices and the rest; in one where the parameters of a layer are one vector."""
    dims = {name: parameter.dim() for name, parameter in model_of().named_parameters()}
    named = model.get_original_names_and_sharded_parameters() if isinstance(model, FSDP) else list(model.named_parameters())
    groups = [{"params": [p for name, p in named if (dims.get(name, 1) > 1) == is_matrix], "name": "matrices" if is_matrix else "rest"} for is_matrix in (True, False)]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=1e-2)


def steps_of(model, optimizer, first, last):
    rank, size = (xr.global_ordinal(), xr.world_size()) if isinstance(model, FSDP) else (0, 1)
    losses = []
    for step in range(first, last):
        optimizer.zero_grad()
        loss = loss_of(model, batch(step, rank, size).to("xla" if isinstance(model, FSDP) else "cpu"))
        loss.backward()
        optimizer.step()
        losses.append(xm.all_reduce(xm.REDUCE_SUM, loss.detach(), 1.0 / size).item() if isinstance(model, FSDP) else loss.item())
        torch_xla.sync()
    return losses


def same_states(one, other):
    return one["param_groups"] == other["param_groups"] and one["state"].keys() == other["state"].keys() and all(
        torch.equal(value, other["state"][name][key]) for name, state in one["state"].items() for key, value in state.items())


def begins():
    """Two steps of each kind of shards; rank 0 saves the whole model and the whole state of the optimizer. What plain PyTorch's four steps lose."""
    folder, rank = os.environ["FOLDER"], xr.global_ordinal()
    for name, options in [(name, ACROSS[name]) for name in json.loads(os.environ["NAMES"])]:
        model = FSDP(model_of(), auto_wrap_policy=POLICY, **options)
        optimizer = optimizer_of(model)
        steps_of(model, optimizer, 0, 2)
        path = os.path.join(folder, name.replace(" ", "_"))
        xm.save({"model": model.state_dict(), "shard_metadata": model.get_shard_metadata(), "optimizer": optimizer.state_dict()}, f"{path}-rank-{rank}.pth",
                master_only=False)
        full = FSDP.full_optim_state_dict(model, optimizer)
        assert bool(full) == (rank == 0), "only rank 0 has it"
        xm.save(full, f"{path}-optimizer.pth")
        xm.rendezvous("saved")
        if rank == 0:
            consolidate_sharded_model_checkpoints(f"{path}-rank-")
    plain = model_of()
    return steps_of(plain, optimizer_of(plain), 0, 4)


def goes_on():
    """The losses of two further steps, in another number of processes; and what is said of states that do not belong there."""
    folder, size, losses, said = os.environ["FOLDER"], xr.world_size(), {}, []
    for name, options in [(name, ACROSS[name]) for name in json.loads(os.environ["NAMES"])]:
        path = os.path.join(folder, name.replace(" ", "_"))
        model = model_of()
        model.load_state_dict(torch.load(f"{path}-rank-_consolidated.pth", weights_only=True)["model"])
        model = FSDP(model, auto_wrap_policy=POLICY, **options)
        optimizer = optimizer_of(model)
        full = torch.load(f"{path}-optimizer.pth", weights_only=True)
        optimizer.load_state_dict(FSDP.shard_full_optim_state_dict(full, model, optimizer))
        assert same_states(FSDP.full_optim_state_dict(model, optimizer, rank0_only=False), full), "what was loaded is what was saved"
        losses[name] = steps_of(model, optimizer, 2, 4)
        own = torch.load(f"{path}-rank-0.pth", weights_only=True)["optimizer"]
        if name == "zero3":
            damaged = dict(full, state={key: dict(value, exp_avg=torch.zeros(3)) if key == "embed.weight" else value for key, value in full["state"].items()})
            for state in (own, damaged, dict(full, param_groups=[dict(full["param_groups"][0], params=["embed.weight"])])):
                try:
                    FSDP.shard_full_optim_state_dict(state, model, optimizer)
                except ValueError as error:
                    said.append(str(error))
            optimizer.load_state_dict(own)
            try:
                steps_of(model, optimizer, 2, 3)
            except RuntimeError as error:
                said.append(str(error))
    return [losses, said, size]


def managed():
    """Losses of four steps, and of two that go on from a checkpoint of the second: shards under a name of each rank."""
    torch.distributed.init_process_group("gloo", init_method="xla://")
    own, made = f"rank{xr.global_ordinal()}", []
    manager = CheckpointManager(os.environ["FOLDER"], save_interval=1, chkpt_on_preemption=False)
    for first in (0, 2):
        model = WRAPPED["zero3"]()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        if first:
            prime_optimizer(optimizer)
            state = {own: {"model": model.state_dict(), "optimizer": optimizer.state_dict()}}
            assert manager.restore(first - 1, state) == 1
            model.load_state_dict(state[own]["model"])
            optimizer.load_state_dict(state[own]["optimizer"])
        losses = []
        for step in range(first, 4):
            optimizer.zero_grad()
            loss = loss_of(model, batch(step, xr.global_ordinal(), xr.world_size()).to("xla"))
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            if not first:
                manager.save_async(step, {own: {"model": model.state_dict(), "optimizer": optimizer.state_dict()}})
            losses.append(loss.item().hex())
        manager.join()
        made.append(losses)
    return made


def meta():
    """The norm of parameters that are made shard by shard."""
    seen = []

    def make(part):
        seen.append(type(part).__name__)
        part.to_empty(device="cpu", recurse=False)
        with torch.no_grad():
            for parameter in part.parameters(recurse=False):
                parameter.fill_(0.25)

    with torch.device("meta"):
        plain = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8, bias=False))
    model = FSDP(copy.deepcopy(plain), auto_wrap_policy=every_layer)
    of_reset = sum(parameter.square().sum() for parameter in model.parameters()).item() > 0
    model = FSDP(plain, param_init_fn=make)
    total = xm.all_reduce(xm.REDUCE_SUM, sum(parameter.sum() for parameter in model.parameters())).item()
    with torch.device("meta"):
        attention = nn.Sequential(nn.MultiheadAttention(8, 2), nn.Linear(8, 8))
    try:
        FSDP(attention)
    except TypeError as error:
        return [of_reset, total, seen, str(error)]
    return [of_reset, total, seen]


def message(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except BaseException as error:  # such as CheckpointException
        return f"{type(error).__name__}: {error}"
    return ""


def errors():
    """What is said where something does not go together."""
    torch.distributed.init_process_group("gloo", init_method="xla://")
    wrapped = FSDP(nn.Linear(4, 4))
    inner = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    inner[1].weight = inner[0].weight
    inner[0] = FSDP(inner[0])
    outer = FSDP(nn.Sequential(FSDP(nn.Linear(4, 4)), nn.Linear(4, 4)))
    outer(torch.ones(1, 4, device="xla"))
    vector = FSDP(nn.Linear(4, 4), flatten_parameters=True)
    return {
        "twice": message(FSDP, wrapped), "list": message(FSDP, nn.ModuleList([nn.Linear(4, 4)])),
        "type": message(FSDP, nn.Linear(4, 4).double()), "dtype": message(FSDP, nn.Linear(4, 4), compute_dtype=torch.int8),
        "groups": message(FSDP, nn.Linear(4, 4), sharding_groups=[[0, 1]]), "shared": message(FSDP, inner),
        "policy": message(FSDP, nn.Sequential(FSDP(nn.Linear(4, 4))), auto_wrap_policy=every_layer),
        "pytorch's": [message(each, nn.Linear(4, 4).to("xla")) for each in (torch.distributed.fsdp.FullyShardedDataParallel, torch.distributed.fsdp.fully_shard)],
        "planner": message(torch.distributed.checkpoint.save, {"model": outer.state_dict()}, checkpoint_id=os.environ["FOLDER"], planner=SPMDSavePlanner()),
        "pytorch's planner": message(torch.distributed.checkpoint.save, {"model": outer.state_dict()}, checkpoint_id=os.environ["FOLDER"]),
        "copy": message(copy.deepcopy, wrapped.module), "pickle": message(pickle.dumps, wrapped), "used": message(lambda: wrapped.module.weight + 1), "inner": message(outer[0].clip_grad_norm_, 1.0),
        "inside": message(FSDP, wrapped.module), "whole": message(wrapped.load_state_dict, nn.Linear(4, 4).state_dict()),
        "sizes": message(wrapped.load_state_dict, FSDP(nn.Linear(5, 4)).state_dict()), "rank": message(wrapped.load_state_dict, other_rank(wrapped)),
        "full": message(get_model_state_dict, wrapped, options=StateDictOptions(full_state_dict=True)),
        "summon": message(torch.distributed.fsdp.FullyShardedDataParallel.summon_full_params, wrapped),
        "old optimizer": message(step_of_old_optimizer), "vector": message(vector.module.weight.requires_grad_, False),
        "changed": message(backward_after_step, outer), "cpu": message(lambda: FSDP(nn.Linear(4, 4)).cpu()(torch.ones(1, 4))),
        "shape": [list(wrapped.module.weight.shape), str(wrapped.module.weight.dtype), wrapped.module.weight.device.type]}


def other_rank(wrapped):
    """The state dict of a wrapper, as the other rank has it and has saved it."""
    xm.save({"model": wrapped.state_dict()}, f"{os.environ['FOLDER']}/of-{xr.global_ordinal()}.pth", master_only=False)
    state = torch.load(f"{os.environ['FOLDER']}/of-{xr.global_ordinal()}.pth")["model"]
    state._metadata[""]["shards"]["rank"] = 1 - xr.global_ordinal()
    return state


def step_of_old_optimizer():
    layer = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    FSDP(layer)(torch.ones(1, 4, device="xla")).sum().backward()
    optimizer.step()


def backward_after_step(model):
    x = torch.ones(1, 4, device="xla", requires_grad=True)
    first, second = model(x).sum(), model(x).sum()
    second.backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    first.backward()


class Odd(nn.Module):
    """Parameters without elements, and with one."""

    def __init__(self):
        super().__init__()
        self.layer, self.empty, self.rows = nn.Linear(8, 8), nn.Parameter(torch.zeros(0)), nn.Parameter(torch.zeros(0, 3))
        self.scalar, self.one = nn.Parameter(torch.tensor(1.5)), nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.layer(x) * self.scalar + self.one + self.empty.sum() + self.rows.sum()


def unusual():
    """By how much weights and losses differ from plain PyTorch's, for what is done to wrapped models: {what: [differences]}."""
    rank, size = xr.global_ordinal(), xr.world_size()

    def layers():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))

    def wrapped(model, **options):
        model[0], model[2] = FSDP(checkpoint_module(model[0]), **options), FSDP(model[2], **options)
        return FSDP(model, **options)

    def difference(model, plain):
        shards = [pickle.loads(each) for each in xm.rendezvous("shards", pickle.dumps({name: value.cpu() for name, value in model.state_dict().items()}))]
        whole = consolidate_sharded_state_dicts(shards, model.get_shard_metadata())
        assert set(whole) == set(plain.state_dict())
        return max((whole[name] - value).abs().max().item() for name, value in plain.state_dict().items() if value.numel())

    def steps(model, plain, before=lambda each, step: None, count=3):
        optimizers = [torch.optim.SGD(each.parameters(), lr=0.1, momentum=0.9) for each in (model, plain)]
        for step in range(count):
            x = torch.randn(8, 8, generator=torch.Generator().manual_seed(step))
            for each, inputs, optimizer in ((model, x[rank * 8 // size:(rank + 1) * 8 // size].to("xla"), optimizers[0]), (plain, x, optimizers[1])):
                before(each, step)
                optimizer.zero_grad()
                each(inputs).square().mean().backward()
                optimizer.step()
            torch_xla.sync()
        return difference(model, plain)

    made = {}
    for name, options in (("parts", {}), ("flat", {"flatten_parameters": True}), ("dim 0", {"shard_param_on_dim_0": True})):
        plain = model_of(Odd)
        made[f"sizes of 0 and 1, {name}"] = [steps(FSDP(copy.deepcopy(plain), **options), plain)]
        if name != "parts":
            continue
        plain = layers()
        model = wrapped(layers(), **options)
        one = steps(model, plain)
        other, plain_other = copy.deepcopy(model), copy.deepcopy(plain)
        made[f"copies, {name}"] = [one, steps(other, plain_other, count=2), difference(model, plain), steps(model, plain, count=1), difference(other, plain_other)]
    plain = layers()
    model = wrapped(layers())

    def freeze(each, step):  # a part of the root, by its module and by its parameter, then an inner wrapper
        each[4].requires_grad_(step == 1)
        each[4].bias.requires_grad = step > 0
        each[0].requires_grad_(step != 1)
    made["frozen"] = [steps(model, plain, freeze)]
    averages = [torch.optim.swa_utils.AveragedModel(each) for each in (model, plain)]
    made["averaged"] = [steps(model, plain, lambda each, step: averages[each is plain].update_parameters(each)), difference(averages[0].module, averages[1].module)]
    return made


def groups():
    """Parameters split inside of pairs: the losses of each rank, the sizes of its shards."""
    rank = xr.global_ordinal()
    model = FSDP(model_of(), auto_wrap_policy=POLICY, sharding_groups=[[0, 1], [2, 3]], sharding_rank=rank % 2, sharding_world_size=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    made = []
    for step in range(3):
        optimizer.zero_grad()
        loss = loss_of(model, batch(step, rank % 2, 2).to("xla"))
        loss.backward()
        optimizer.step()
        made.append((xm.all_reduce(xm.REDUCE_SUM, loss.detach(), 0.25)).item().hex())
    return [made, sum(parameter.numel() for parameter in model.parameters())]


class Layers(nn.Module):
    """Layers that are large beside their activations."""

    def __init__(self, count, width=256):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width)) for _ in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


def memory():
    """Steps of models of several depths, whose programs are dumped (XLA_FLAGS)."""
    for count in (4, 8):
        model = FSDP(Layers(count), auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={nn.Sequential}))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2):
            optimizer.zero_grad()
            x = torch.ones(4, 256, device="xla")
            torch_xla.sync()
            model(x).square().mean().backward()
            optimizer.step()
            torch_xla.sync()
            xm.wait_device_ops()
    return [xr.global_ordinal()]


def matrix_losses(model, optimizer, advance=lambda optimizer: optimizer.step(), share=None):
    """Losses of 20 steps; the mean of all ranks. `share`: what this process gives of a batch, by default its rank's part."""
    rank, size, losses = xr.global_ordinal(), xr.world_size(), []
    for step in range(20):
        optimizer.zero_grad()
        loss = loss_of(model, batch(step, rank, size).to("xla") if share is None else share(batch(step)))
        loss.backward()
        advance(optimizer)
        losses.append(xm.all_reduce(xm.REDUCE_SUM, loss.detach(), 1.0 / size))
        torch_xla.sync()
    return [loss.item().hex() for loss in losses]


def with_remat(remat):
    model = model_of()
    model.remat = remat
    return model


def matrix():
    """Losses of 20 steps with each way to share the work among processes, checkpointed and not; and of plain PyTorch."""
    import torch.distributed as dist
    import torch_xla.distributed.xla_backend  # noqa: F401
    from torch.nn.parallel import DistributedDataParallel as DDP
    from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
    dist.init_process_group("xla", init_method="xla://")
    made = {}
    for remat in (None, "reentrant"):
        adam = functools.partial(torch.optim.AdamW, lr=1e-2)
        model = with_remat(remat).to("xla")
        made[f"replicas {remat}"] = matrix_losses(model, adam(model.parameters()), xm.optimizer_step)
        model = DDP(with_remat(remat).to("xla"), gradient_as_bucket_view=True, static_graph=remat is not None)
        made[f"ddp {remat}"] = matrix_losses(model, adam(model.parameters()))
        model = with_remat(remat).to("xla")
        made[f"zero1 {remat}"] = matrix_losses(model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, grad_clipping=False, lr=1e-2))
        for way, reshards in (("zero2", False), ("zero3", True)):
            model = FSDP(with_remat(remat), auto_wrap_policy=POLICY, reshard_after_forward=reshards)
            made[f"{way} {remat}"] = matrix_losses(model, adam(model.parameters()))
    made["native"] = native(model_of(), steps=20)
    return made


def matrix_spmd():
    """The same with FSDPv2, over the devices of all processes."""
    import numpy as np
    import torch_xla.distributed.spmd as xs
    from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2
    xr.use_spmd()
    count = xr.global_runtime_device_count()
    mesh = xs.Mesh(np.arange(count), (count,), ("fsdp",))
    whole = xs.ShardingSpec(mesh, ("fsdp", None))
    made = {}
    for remat in (None, "reentrant"):
        model = FSDPv2(with_remat(remat), mesh, auto_wrap_policy=POLICY, shard_output=lambda output, mesh: xs.mark_sharding(output, mesh, ("fsdp", None, None))
                       if output.dim() == 3 else None)
        made[f"fsdpv2 {remat}"] = matrix_losses(model, torch.optim.AdamW(model.parameters(), lr=1e-2),
                                                share=lambda ids: xm.send_cpu_data_to_device([ids], "xla", whole)[0])
    return made


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count, seed):
        self.ids = torch.randint(0, 64, (count, 17), generator=torch.Generator().manual_seed(seed))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def accelerated():
    """Losses of a wrapped model with accelerate, those behind a checkpoint again after it is loaded, and what is said of its own plug-in."""
    import accelerate
    said = message(accelerate.Accelerator, fsdp_plugin=accelerate.FullyShardedDataParallelPlugin())
    accelerator = accelerate.Accelerator(gradient_accumulation_steps=2)
    model = FSDP(model_of(), auto_wrap_policy=POLICY)
    data = torch.cat([batch(step) for step in range(5)])
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-2), torch.utils.data.DataLoader(data, batch_size=4))

    def train(batches):
        for ids in batches:
            with accelerator.accumulate(model):
                loss = loss_of(model, ids)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            yield accelerator.gather(loss.detach()).mean().item().hex()
    losses = []
    for loss in train(loader):
        losses.append(loss)
        if len(losses) == 2:
            accelerator.save_state(os.environ["FOLDER"])
    accelerator.load_state(os.environ["FOLDER"])
    return [losses, list(train(accelerator.skip_first_batches(loader, 2))), said]


def trainer():
    """Losses of Hugging Face's Trainer: OPTIONS of TrainingArguments, RESUME from the last checkpoint in FOLDER for STEPS in all."""
    from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
    options = json.loads(os.environ["OPTIONS"])
    if "fsdp_config" in options and options["fsdp_config"].get("xla_fsdp_v2"):
        xr.use_spmd()
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=3, num_attention_heads=4,
                                         num_key_value_heads=2, max_position_embeddings=64))
    arguments = TrainingArguments(
        os.environ["FOLDER"], max_steps=int(os.environ["STEPS"]), per_device_train_batch_size=8 // xr.world_size(), logging_steps=1, learning_rate=1e-2,
        save_steps=4, report_to=[], lr_scheduler_type="constant", dataloader_pin_memory=False, disable_tqdm=True, **options)
    made = Trainer(model, arguments, train_dataset=Sentences(64, 1))
    made.train(resume_from_checkpoint=bool(os.environ.get("RESUME")) or None)
    return [entry["loss"] for entry in made.state.log_history if "loss" in entry]


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()), flush=True)
