# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed checkpoints on 8 virtual devices; test_spmd.py runs this file in a process that has them."""
import os
import signal

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch.distributed.checkpoint import CheckpointException
from torch.distributed.checkpoint.default_planner import create_default_global_save_plan
from torch_xla.experimental.distributed_checkpoint import CheckpointManager, SPMDLoadPlanner, SPMDSavePlanner, prime_optimizer
from torch_xla.experimental.distributed_checkpoint._helpers import _CpuShards, _sharded_cpu_state_dict, flatten_state_dict

N = 8


@pytest.fixture(autouse=True, scope="module")
def group(tmp_path_factory):
    xr.use_spmd()
    dist.init_process_group("gloo", init_method=f"file://{tmp_path_factory.mktemp('group')}/meet", world_size=1, rank=0)
    yield
    dist.destroy_process_group()


def grid(*shape):
    return xs.Mesh(np.arange(N), shape, ("a", "b")[:len(shape)])


def model(spec=None, mesh=None, seed=0):
    """Two layers; 37 rows do not divide by the devices."""
    torch.manual_seed(seed)
    layers = nn.Sequential(nn.Linear(16, 37), nn.Tanh(), nn.Linear(37, 8)).to("xla")
    if spec:
        xs.mark_sharding(layers[0].weight, mesh, spec)
        xs.mark_sharding(layers[2].weight, mesh, spec)
        xs.mark_sharding(layers[2].bias, mesh, (None,))
    return layers


def values(module):
    return [p.detach().cpu() for p in module.parameters()]


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(values(a), values(b)))


WAYS = {"whole": (None, ()), "rows": ((0, None), (8,)), "columns, copies": ((None, "a"), (2, 4)), "both": (("b", "a"), (4, 2)),
        "rows, copies": (("b", None), (4, 2))}


@pytest.mark.parametrize("saved,loaded,on_cpu", [("whole", "rows", False), ("rows", "whole", True), ("both", "columns, copies", False),
                                                 ("rows, copies", "both", True), ("columns, copies", "rows, copies", False)])
def test_saved_in_one_way_loaded_in_another(tmp_path, saved, loaded, on_cpu):
    (spec, shape), (other, other_shape) = WAYS[saved], WAYS[loaded]
    first, second = model(spec, shape and grid(*shape)), model(other, other_shape and grid(*other_shape), seed=1)
    state = first.state_dict()
    dcp.save(_sharded_cpu_state_dict(state) if on_cpu else state, checkpoint_id=tmp_path, planner=SPMDSavePlanner(), no_dist=True)
    assert not same(first, second)
    before = [xs.wrap_if_sharded(p) for p in second.parameters()]
    specs = [getattr(p, "sharding_spec", "") or "{replicated}" for p in before]
    dcp.load(second.state_dict(), checkpoint_id=tmp_path, planner=SPMDLoadPlanner(), no_dist=True)
    assert same(first, second)
    assert [getattr(xs.wrap_if_sharded(p), "sharding_spec", "") or "{replicated}" for p in second.parameters()] == specs
    for p in second.parameters():  # copies agree, too
        for shard in getattr(xs.wrap_if_sharded(p), "local_shards", []):
            part = p.detach().cpu() if shard.indices is Ellipsis else p.detach().cpu()[tuple(shard.indices)]
            assert torch.equal(shard.unpadded_data, part)


def test_torch_loads_it_without_a_device(tmp_path):
    first = model((0, None), grid(8))
    dcp.save(first.state_dict(), checkpoint_id=tmp_path, planner=SPMDSavePlanner(), no_dist=True)
    plain = nn.Sequential(nn.Linear(16, 37), nn.Tanh(), nn.Linear(37, 8))
    dcp.load(state := plain.state_dict(), checkpoint_id=tmp_path, no_dist=True)
    plain.load_state_dict(state)
    assert same(first, plain)


def test_every_part_is_written_once():
    planner = SPMDSavePlanner()
    planner.set_up_planner({"net": model(("b", None), grid(4, 2)).state_dict()}, True)
    assert sorted(planner.sharded_state_dict) == ["net.0.weight", "net.2.weight"]
    assert sorted(planner.unsharded_state_dict) == ["net.0.bias", "net.2.bias"]  # one of them is marked, but whole
    plan = planner.create_local_plan()
    parts = [item for item in plan.items if item.index.fqn == "net.0.weight"]
    assert [tuple(item.index.offset) for item in parts] == [(0, 0), (19, 0)] and len(plan.items) == 2 + 2 + 2
    assert [planner.resolve_data(item).shape[0] for item in parts] == [19, 18]
    metadata = create_default_global_save_plan([plan])[1]
    other = SPMDLoadPlanner()
    other.set_up_planner({"net": model((0, None), grid(8)).state_dict()}, metadata, True)
    reads = [item for item in other.create_local_plan().items if item.dest_index.fqn == "net.0.weight"]
    assert len(reads) == 9  # rows 15..20 of the fourth device come from both parts


def test_what_does_not_fit_is_named(tmp_path):
    dcp.save(model((0, None), grid(8)).state_dict(), checkpoint_id=tmp_path, planner=SPMDSavePlanner(), no_dist=True)
    wrong = xs.mark_sharding(torch.zeros(40, 16).to("xla"), grid(8), (0, None))
    with pytest.raises(CheckpointException, match=r"0\.weight: expects \[40, 16\] in the checkpoint, but got \[37, 16\]"):
        dcp.load({"0.weight": wrong}, checkpoint_id=tmp_path, planner=SPMDLoadPlanner(), no_dist=True)
    with pytest.raises(CheckpointException, match="expects 9.weight in the checkpoint, but it has only: 0.bias, 0.weight"):
        dcp.load({"9.weight": wrong}, checkpoint_id=tmp_path, planner=SPMDLoadPlanner(), no_dist=True)
    with pytest.raises(TypeError, match="shards on the CPU"):
        SPMDLoadPlanner().set_up_planner({"x": _sharded_cpu_state_dict(wrong)})
    with pytest.raises(ValueError, match="two"):
        flatten_state_dict({"a.b": 1, "a": {"b": 2}})


def step(net, optimizer, x):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
    torch_xla.sync()


def test_training_goes_on_where_it_was(tmp_path):
    x = torch.randn(8, 16).to("xla")
    first = model((0, None), grid(8))
    optimizer = torch.optim.AdamW(first.parameters(), lr=0.01)
    manager = CheckpointManager(str(tmp_path), save_interval=2, chkpt_on_preemption=False)
    for number in range(1, 5):
        step(first, optimizer, x)
        state = {"net": first.state_dict(), "optim": optimizer.state_dict(), "note": f"after {number}"}
        assert manager.save_async(number, state) == (number in (2, 4))
    manager.join()
    assert manager.all_steps() == [2, 4]
    again = CheckpointManager(str(tmp_path), save_interval=2, chkpt_on_preemption=False)
    second = model(("a", "b"), grid(2, 4), seed=3)
    other = prime_optimizer(torch.optim.AdamW(second.parameters(), lr=0.5))
    state = {"net": second.state_dict(), "optim": other.state_dict(), "note": None}
    again.restore(2, state)
    assert state["note"] == "after 2"
    other.load_state_dict(state["optim"])
    for _ in range(2):
        step(second, other, x)
    for a, b in zip(values(first), values(second)):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_what_is_kept(tmp_path):
    state = model((0, None), grid(8)).state_dict()
    manager = CheckpointManager(str(tmp_path), save_interval=10, max_to_keep=2, chkpt_on_preemption=False)
    assert not manager.save(5, state) and manager.save(5, state, force=True)
    for number, steps in [(20, [5, 20]), (10, [10, 20]), (20, [10, 20]), (30, [20, 30])]:  # the one written first goes
        assert manager.save(number, state) and manager.all_steps() == steps
    (tmp_path / "40").mkdir()  # somebody was interrupted
    again = CheckpointManager(str(tmp_path), save_interval=10, max_to_keep=2, chkpt_on_preemption=False)
    assert again.all_steps() == [20, 30] and again.save(10, state) and again.all_steps() == [10, 30]
    with pytest.raises(AssertionError, match=r"a step that was saved \(\[10, 30\]\), but got 20"):
        again.restore(20, state)
    with pytest.raises(AssertionError, match="save_interval to be positive, but got 0"):
        CheckpointManager(str(tmp_path), save_interval=0)


def test_an_error_in_the_background_is_not_lost(tmp_path):
    manager = CheckpointManager(str(tmp_path / "run"), save_interval=1, chkpt_on_preemption=False)
    (tmp_path / "run").rmdir()
    (tmp_path / "run").write_text("in the way")
    assert manager.save_async(3, {"x": torch.zeros(2).to("xla")})
    with pytest.raises(CheckpointException, match="Not a directory: '.*/run/'"):
        manager.join()
    assert manager.all_steps() == []


def test_told_to_end(tmp_path):
    state = {"x": xs.mark_sharding(torch.arange(16.).to("xla"), grid(8), (0,))}
    assert isinstance(_sharded_cpu_state_dict(state)["x"], _CpuShards)
    manager = CheckpointManager(str(tmp_path), save_interval=100)
    try:
        assert not manager.save(7, state)
        os.kill(os.getpid(), signal.SIGTERM)
        assert manager.save(8, state) and manager.reached_preemption(8) and not manager.reached_preemption(9)
        assert manager.all_steps() == [8]
    finally:
        torch_xla._XLAC._deactivate_preemption_sync_manager()
    with pytest.raises(RuntimeError, match="expects the preemption sync manager to be active"):
        torch_xla._XLAC._sync_point_reached(9)
