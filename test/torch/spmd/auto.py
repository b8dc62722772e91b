# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding, xr.use_spmd(auto=True), on 8 virtual devices; test_spmd.py runs this file in a process that has them."""
import copy
import os
import re

import numpy as np
import pytest
import torch
import torch.nn as nn
import torch_xla
import torch_xla.debug.metrics as met
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch.distributed.tensor import distribute_module

XLAC = torch_xla._XLAC


@pytest.fixture(autouse=True)
def spmd():
    xr.use_spmd()
    xs.set_global_mesh(None)
    yield


def spec(t):
    return XLAC._get_xla_sharding_spec(t)


def close(got, want, **tolerance):
    torch.testing.assert_close(got.cpu(), want, **tolerance)


def test_auto(monkeypatch):
    xr.use_spmd(auto=True)
    try:
        t, small = torch.randn(64, 128), torch.randn(4)
        x, y = t.to("xla"), small.to("xla")
        z = x.sum(0)[:4] + y
        close(z, t.sum(0)[:4] + small, rtol=1e-5, atol=1e-5)
        assert "devices" not in spec(y)  # too small to be split
        for sizes in ("2,4", "4,2", "8,1", "2,2,2"):
            monkeypatch.setenv("XLA_AUTO_SPMD_MESH", sizes)
            x, w = torch.randn(4096, 64), torch.randn(64, 64)
            made, weight = x.to("xla"), w.to("xla")
            close(made @ weight, x @ w, rtol=1e-4, atol=1e-4)
            # Rows of data and no communication, whatever the axes are called.
            assert spec(made).startswith("{devices=[8,1]"), spec(made)
        for sizes in ("2,2", "8,", "x", "-2,-4"):
            monkeypatch.setenv("XLA_AUTO_SPMD_MESH", sizes)
            with pytest.raises(RuntimeError, match=f"XLA_AUTO_SPMD_MESH: expects sizes of a mesh of 8 devices.*got \"{sizes}\""):
                (t.to("xla") + 1).sum().item()
    finally:
        xr.use_spmd()


def test_auto_plans_once_where_a_value_is_held(monkeypatch):
    """What else is held becomes a result of the program, before it is planned."""
    monkeypatch.setenv("XLA_AUTO_SPMD_MESH", "2,4")
    xr.use_spmd(auto=True)
    try:
        x, w = torch.randn(2048, 64), torch.randn(64, 64)
        made, weight = x.to("xla"), w.to("xla")
        met.clear_all()
        held = made @ weight
        assert (held * held).sum().item() == pytest.approx((x @ w).square().sum().item(), rel=1e-4)
        plans = [met.counter_value(f"AutoShardingPlan{kind}") or 0 for kind in ("Hit", "Miss")]
        assert sum(plans) == 1 and met.counter_value("CompileWithAutoSharding") == 1, plans
        close(held, x @ w, rtol=1e-4, atol=1e-4)
        assert met.counter_value("CompileWithAutoSharding") == 1  # it was a result
    finally:
        xr.use_spmd()


def test_auto_keeps_what_is_marked():
    xr.use_spmd(auto=True)
    try:
        x = torch.randn(4096, 64).to("xla")
        xs.mark_sharding(x, xs.Mesh(np.arange(8), (8,)), (None, 0))
        close(x * 2, x.cpu() * 2)
        assert spec(x).startswith("{devices=[1,8]")
    finally:
        xr.use_spmd()


def test_auto_trains_as_one_device_does(monkeypatch):
    monkeypatch.setenv("XLA_AUTO_SPMD_MESH", "2,4")
    xr.use_spmd(auto=True)
    try:
        torch.manual_seed(0)
        plain = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 64))
        split = copy.deepcopy(plain).to("xla")
        optimizers = [torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9) for model in (plain, split)]
        met.clear_all()
        for _ in range(5):
            batch, losses = torch.randn(64, 64), []
            for model, optimizer in zip((plain, split), optimizers):
                optimizer.zero_grad()
                given = batch.to(next(model.parameters()).device)
                loss = (model(given) - given).pow(2).mean()
                loss.backward()
                optimizer.step()
                torch_xla.sync()
                losses.append(loss.item())
            assert losses[0] == pytest.approx(losses[1], rel=1e-5)
        # The first step has no momentum yet; from the second one on there is one program.
        assert met.counter_value("UncachedCompile") <= 3
        assert any("devices" in spec(parameter) for parameter in split.parameters())
    finally:
        xr.use_spmd()


def test_auto_policy_plans_over_the_mesh_of_the_module(monkeypatch):
    """XLA_AUTO_SPMD_MESH goes first. A mesh of a part of the devices, or in another order, is not planned over, so it is an error."""
    monkeypatch.setenv("XLA_AUTO_SPMD_MESH", "")
    try:
        meshes = [torch.distributed.device_mesh.init_device_mesh("xla", sizes) for sizes in ((2, 4), (4, 2))]
        for mesh, sizes in zip(meshes, ("2,4", "4,2")):
            distribute_module(nn.Linear(64, 64), mesh, xs.auto_policy)
            assert os.environ["XLA_AUTO_SPMD_MESH"] == sizes and XLAC._xla_get_auto_sharding()
        x, w = torch.randn(256, 64), torch.randn(64, 64)
        close(x.to("xla") @ w.to("xla"), x @ w, rtol=1e-4, atol=1e-4)
        os.environ["XLA_AUTO_SPMD_MESH"] = "8"
        distribute_module(nn.Linear(64, 64), meshes[0], xs.auto_policy)
        assert os.environ["XLA_AUTO_SPMD_MESH"] == "8"
        os.environ["XLA_AUTO_SPMD_MESH"] = ""
        for devices in ([0, 1, 2, 3], [7, 6, 5, 4, 3, 2, 1, 0]):
            with pytest.raises(xs.ShardingError, match="auto_policy.*a mesh of all 8 devices in their order"):
                distribute_module(nn.Linear(64, 64), torch.distributed.device_mesh.DeviceMesh("xla", devices), xs.auto_policy)
    finally:
        xr.use_spmd()


def test_auto_is_explained(monkeypatch):
    """xs.explain() and xs.partitioned() of a pending program, and of the last one, are about the plan."""
    monkeypatch.setenv("XLA_AUTO_SPMD_MESH", "2,4")
    xr.use_spmd(auto=True)
    try:
        x, w, small = torch.randn(4096, 64), torch.randn(64, 64), torch.randn(64)
        made, weight, offset = x.to("xla"), w.to("xla"), small.to("xla")
        product = made @ weight + offset
        explained = xs.explain(product, names={"rows": made, "offset": offset})
        assert "The plan:" in explained and " was taken: " in explained and "the program as annotated: " in explained, explained
        head = next(line for line in explained.splitlines() if '"rows"' in line)
        assert head.startswith('argument') and '"' in head.split("tensor<4096x64xf32>")[1].split("bytes")[0], head  # split over axes of the mesh
        assert next(line for line in explained.splitlines() if '"offset"' in line).split("tensor<64xf32>")[1].startswith(" [{}]"), "too small"
        assert "tensor<512x64xf32>" in xs.partitioned(product)
        close(product, x @ w + small, rtol=1e-4, atol=1e-4)
        assert "The plan:" in xs.explain() and "tensor<512x64xf32>" in xs.partitioned()
    finally:
        xr.use_spmd()
    assert "The plan:" not in xs.explain((torch.randn(8, 8).to("xla") @ torch.randn(8, 8).to("xla")))


def test_auto_sharding_is_part_of_a_graphs_hash(monkeypatch):
    t = torch.ones(2, 2).to("xla")
    assert not XLAC._xla_get_auto_sharding()
    hashes = [XLAC._get_graph_hash([t + 0])]
    xr.use_spmd(auto=True)
    try:
        assert XLAC._xla_get_auto_sharding()
        hashes.append(XLAC._get_graph_hash([t + 0]))
        monkeypatch.setenv("XLA_AUTO_SPMD_MESH", "2,4")
        hashes.append(XLAC._get_graph_hash([t + 0]))
        assert len(set(hashes)) == 3
        met.clear_all()
        (torch.ones(64, 48).to("xla") @ torch.ones(48, 80).to("xla")).sum().item()
        assert met.counter_value("CompileWithAutoSharding") >= 1
        # The program is planned before its tensors are split, and not again when it is compiled.
        met.clear_all()
        a, b = torch.ones(512, 256).to("xla"), torch.ones(256, 512).to("xla")
        total = (a @ b).sum().item()
        assert total == 512 * 512 * 256
        assert "devices=" in XLAC._get_xla_sharding_spec(a)
        counts = {kind: met.counter_value(kind) or 0 for kind in ("AutoShardingPlanHit", "AutoShardingPlanMiss", "CompileWithAutoSharding")}
        assert counts["AutoShardingPlanHit"] + counts["AutoShardingPlanMiss"] == counts["CompileWithAutoSharding"] == 1, counts
    finally:
        xr.use_spmd()


def test_auto_keeps_a_limit_of_memory(monkeypatch):
    """The limit is one of the compiled program; what no plan keeps is an error, and another limit is another program."""
    monkeypatch.setenv("XLA_AUTO_SPMD_MESH", "2,4")
    monkeypatch.setenv("XLA_AUTO_SPMD_MACHINE", "h100")
    xr.use_spmd(auto=True)
    try:
        layers = [torch.randn(128, 128) / 11 for _ in range(4)]
        rows = torch.randn(4096, 128)

        def value(rows, layers):
            for weight in layers:
                rows = rows + torch.tanh(rows @ weight)
            return rows.square().mean()

        def peak():
            """Bytes on a device that the compiler plans for the pending program."""
            pending = value(rows.to("xla"), [weight.to("xla") for weight in layers])
            return int(re.search(r"; ([0-9]+) bytes of values at the worst time", xs.explain(pending))[1])
        free = peak()
        monkeypatch.setenv("XLA_AUTO_SPMD_MEMORY", str(free))
        compiled = peak()
        assert compiled < free  # most values are computed within the kernels of their readers
        monkeypatch.setenv("XLA_AUTO_SPMD_MEMORY", str(compiled))
        assert peak() <= compiled
        met.clear_all()
        for limit in (str(compiled), "1G"):
            monkeypatch.setenv("XLA_AUTO_SPMD_MEMORY", limit)
            close(value(rows.to("xla"), [weight.to("xla") for weight in layers]), value(rows, layers), rtol=1e-4, atol=1e-4)
        assert met.counter_value("UncachedCompile") >= 2
        for name, setting, message in (("MEMORY", "1K", "automatic sharding finds no plan"), ("MEMORY", "much", "XLA_AUTO_SPMD_MEMORY expects a number of bytes"),
                                       ("MEMORY", "-1", "XLA_AUTO_SPMD_MEMORY expects a number of bytes"),
                                       ("MACHINE", "abacus", "XLA_AUTO_SPMD_MACHINE: expects a file or one of .*, but got 'abacus'")):
            with monkeypatch.context() as settings, pytest.raises(RuntimeError, match=message):
                settings.setenv(f"XLA_AUTO_SPMD_{name}", setting)
                value(rows.to("xla"), [weight.to("xla") for weight in layers]).item()
    finally:
        xr.use_spmd()
