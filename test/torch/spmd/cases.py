# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SPMD on 8 virtual devices; test_spmd.py runs this file in a process that has them."""
import copy
import os
import re
import warnings

import numpy as np
import pytest
import torch
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch_xla.distributed.spmd import Mesh, XLAShardedTensor

N = 8
LIST = ",".join(map(str, range(N)))
XLAC = torch_xla._XLAC


@pytest.fixture(autouse=True)
def spmd():
    xr.use_spmd()
    xs.set_global_mesh(None)
    yield


def grid(*shape, names=None):
    return Mesh(np.arange(N), shape, names)


def spec(t):
    return XLAC._get_xla_sharding_spec(t)


def close(got, want, **tolerance):
    torch.testing.assert_close(got.cpu(), want, **tolerance)


#===-- Mesh ------------------------------------------------------------------===


def test_mesh():
    mesh = grid(4, 2, names=("x", "y"))
    assert mesh.get_logical_mesh().tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]] and mesh.size() == 8
    assert str(mesh.shape()) == "OrderedDict({'x': 4, 'y': 2})" or str(mesh.shape()) == "OrderedDict([('x', 4), ('y', 2)])"
    assert mesh.get_axis_name_idx("y") == 1 and mesh.get_axis_name_idx("z") is None
    again = Mesh.from_str(str(mesh))
    assert again.shape() == mesh.shape() and again.device_ids.tolist() == mesh.device_ids.tolist()
    assert Mesh.from_str("nothing") is None
    assert xs.get_1d_mesh("data").shape() == {"data": 8} and xs.get_1d_mesh().axis_names is None
    assert xs.get_global_mesh() is None
    xs.set_global_mesh(mesh)
    assert xs.get_global_mesh() is mesh


def test_hybrid_mesh(monkeypatch):
    for made in (xs.HybridMesh((1, 4, 1), (2, 1, 1), ("data", "fsdp", "tensor")),
                 xs.HybridMesh(ici_mesh_shape=(1, 4, 1), dcn_mesh_shape=(2, 1, 1), axis_names=("data", "fsdp", "tensor"))):
        assert dict(made.shape()) == {"data": 2, "fsdp": 4, "tensor": 1}
        assert made.get_logical_mesh()[1, :, 0].tolist() == [4, 5, 6, 7]
    assert xs.HybridMesh((2, 2), (1, 2)).get_logical_mesh().tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]
    places = {2: (0, 0), 1: (1, 0), 0: (0, 1), 3: (1, 1), 4: (0, 0), 7: (1, 0), 6: (0, 1), 5: (1, 1)}
    known = [{"name": f"TPU:{device}", "coords": [*place, 0], "slice_index": device // 4} for device, place in places.items()]
    monkeypatch.setattr(xr, "global_runtime_device_attributes", lambda: known)
    assert xs.HybridMesh(ici_mesh_shape=(2, 2), dcn_mesh_shape=(2, 1)).get_logical_mesh().tolist() == [[2, 1], [0, 3], [4, 7], [6, 5]]


@pytest.mark.parametrize("mesh, partition_spec, text, short", [
    (lambda: grid(1, 8), (0, 1), "{devices=[1,8]%s}" % LIST, "{devices=[1,8]<=[8]}"),
    (lambda: grid(2, 4), (0, None), "{devices=[2,1,4]%s last_tile_dim_replicate}" % LIST,
     "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"),
    (lambda: grid(2, 4), (1, 0), "{devices=[4,2]0,4,1,5,2,6,3,7}", "{devices=[4,2]<=[2,4]T(1,0)}"),
    (lambda: grid(2, 4), ((0, 1),), "{devices=[8]%s}" % LIST, "{devices=[8]<=[8]}"),
    (lambda: grid(2, 4), ((1, 0),), "{devices=[8]0,4,1,5,2,6,3,7}", "{devices=[8]<=[2,4]T(1,0)}"),
    (lambda: grid(1, 2, 4, names=("r", "b", "m")), (None, ("r", "m")), "{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}",
     "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"),
    (lambda: grid(2, 4), (None, None), "{replicated}", "{replicated}"),
    (lambda: Mesh(np.arange(N)[::-1], (1, 8)), (0, 1), "{devices=[1,8]7,6,5,4,3,2,1,0}", "{devices=[1,8]7,6,5,4,3,2,1,0}"),
])
def test_sharding_texts(mesh, partition_spec, text, short):
    mesh = mesh()
    assert str(mesh.get_op_sharding(partition_spec)) == text
    assert str(mesh.get_op_sharding_v2(partition_spec)) == short
    t = torch.randn([16] * len(partition_spec)).to("xla")
    before = t.cpu()
    assert spec(t) == ""
    xt = xs.mark_sharding(t, mesh, partition_spec)
    assert isinstance(xt, XLAShardedTensor) and spec(t) == text == xt.sharding_spec
    assert torch.equal(t.cpu(), before)


#===-- One program on all devices ------------------------------------------------===


def test_matmul_runs_on_all_devices():
    a, b = torch.randn(16, 32), torch.randn(32, 24)
    xa, xb = a.to("xla"), b.to("xla")
    xs.mark_sharding(xa, grid(2, 4, names=("data", "model")), ("data", "model"))
    y = xa @ xb
    text = XLAC._get_stablehlo([y])
    assert "mhlo.num_partitions = 8" in text and '"data"=2' in text
    assert "all_reduce" in xs.partitioned([y])
    assert "sharding={devices=[2,4]<=[8]}" in XLAC._get_xla_tensors_hlo([y])
    before = XLAC._compilations()
    torch_xla.sync()
    assert XLAC._compilations() == before + 1, "one compilation serves all devices"
    close(y, a @ b, rtol=1e-5, atol=1e-5)
    assert spec(y).startswith("{devices=[2,1,4]"), "results keep the sharding that propagation found"
    explained = xs.explain()
    assert "argument 0 of @main" in explained and "all_reduce" in explained and '"data"' in explained
    marked, product = (next(i for i, text in enumerate(open(__file__), 1) if text.strip().startswith(start)) for start in
                       ('xs.mark_sharding(xa, grid(2, 4, names=("data"', "y = xa @ xb"))
    assert f"cases.py:{marked})" in explained and f"cases.py:{product})" in explained, explained


def test_pending_values_and_writes():
    x = torch.arange(16.0).to("xla")
    y = x * 2
    xs.mark_sharding(y, grid(8), (0,))
    assert "Sharding" in XLAC._get_xla_tensors_hlo([y]) and spec(y) == "{devices=[8]%s}" % LIST
    y.add_(1)
    assert spec(y) == "{devices=[8]%s}" % LIST, "what is written keeps the sharding"
    torch_xla.sync()
    assert spec(y) == "{devices=[8]%s}" % LIST
    close(y, torch.arange(16.0) * 2 + 1)
    y[3:5] = 7
    z = y.clone()
    close(z, torch.tensor([1., 3, 5, 7, 7, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]))
    assert spec(y) == spec(copy.deepcopy(y)) == "{devices=[8]%s}" % LIST
    y.copy_(torch.ones(16))
    assert spec(y) == "{devices=[8]%s}" % LIST and y.sum().item() == 16


def test_unannotated_programs():
    t = torch.randn(4, 4)
    a = t.to("xla") @ t.to("xla")
    torch_xla.sync()
    assert spec(a) == "{replicated}"
    close(a, t @ t)


def test_several_results_and_scalars():
    t = torch.randn(8, 8)
    x = xs.mark_sharding(t.to("xla"), grid(8, 1), (0, 1)).global_tensor
    values, indices = torch.max(x, 1)
    xs.mark_sharding(values, grid(8), (0,))
    assert spec(values) and not spec(indices)
    torch_xla.sync()
    close(values, t.max(1).values), close(indices, t.max(1).indices)
    scalar = xs.mark_sharding(torch.tensor(1.0).to("xla"), grid(1, 8), ())
    assert scalar.sharding_spec == "{replicated}" and [s.replica_id for s in scalar.local_shards] == list(range(8))
    assert all(s.indices is Ellipsis for s in scalar.local_shards)


def test_annotated_again_and_cleared():
    t = torch.randn(16, 8)
    x = t.to("xla")
    for mesh, partition_spec in ((grid(8), (0, None)), (grid(2, 4), (1, 0)), (grid(8), (None, None)), (grid(2, 4), (None, (0, 1)))):
        xs.mark_sharding(x, mesh, partition_spec)
        assert spec(x) == str(mesh.get_op_sharding(partition_spec))
        close(x + 1, t + 1)
    assert xs.clear_sharding(x).device.type == "xla" and spec(x) == ""
    close(x, t)
    assert xs.clear_sharding(x + 1) is not None


def test_two_meshes_in_one_program():
    a, b = torch.randn(8, 8), torch.randn(8, 8)
    xa = xs.mark_sharding(a.to("xla"), grid(8, names=("p",)), (0, None)).global_tensor
    xb = xs.mark_sharding(b.to("xla"), Mesh(np.arange(N)[::-1], (2, 4), ("q", "r")), ("r", "q")).global_tensor
    close(xa @ xb + xb, a @ b + b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [1, 7, 9, 13])
def test_uneven(size):
    t = torch.randn(size, 5)
    x = t.to("xla")
    xt = xs.mark_sharding(x, grid(8, names=("data",)), ("data", None))
    part = -(-size // 8)
    assert [tuple(s.data.shape) for s in xt.local_shards] == [(part, 5)] * 8
    assert torch.equal(torch.cat([s.unpadded_data for s in xt.local_shards]), t)
    close(x.t() @ x, t.t() @ t, rtol=1e-5, atol=1e-5)
    close(x.mean(0), t.mean(0), rtol=1e-5, atol=1e-5)
    x.mul_(2)
    torch_xla.sync()
    assert spec(x) == "{devices=[8,1]%s}" % LIST
    close(x, t * 2)


def test_programs_that_cannot_be_partitioned(capfd):
    """The number of positions is a value: such programs run on one device, and say so."""
    t = torch.tensor([0., 1, 0, 2, 3, 0, 0, 4])
    x = xs.mark_sharding(t.to("xla"), grid(8), (0,)).global_tensor
    close(torch.nonzero(x), torch.nonzero(t)), close(x[x > 0] * 2, t[t > 0] * 2)
    close(x, t)
    assert spec(x) == "{devices=[8]%s}" % LIST


def test_off_and_on():
    t = torch.randn(8, 8)
    x = xs.mark_sharding(t.to("xla"), grid(8), (0, None)).global_tensor
    torch_xla.sync()
    xr.use_spmd(enable=False)
    assert not xr.is_spmd()
    close(x + 1, t + 1)
    close(x, t)
    with pytest.raises(RuntimeError, match="use_spmd"):
        xs.mark_sharding(x, grid(8), (0, None))
    xr.use_spmd()
    close(x * 2, t * 2)
    assert xr.global_runtime_device_count() == xr.addressable_runtime_device_count() == 8
    assert xr.addressable_device_count() == xr.global_device_count() == xr.world_size() == 1
    assert xm.xla_device() == torch.device("xla:0") and xr.is_spmd()


def test_auto_keeps_small_inputs_whole_beside_parameters_in_parts(monkeypatch):
    """From the second step on the parameters are annotated with axes of a mesh, and the batch is not planned with them any more."""
    monkeypatch.setenv("XLA_AUTO_SPMD_MESH", "2,4")
    xr.use_spmd(auto=True)
    try:
        torch.manual_seed(0)
        plain = nn.Sequential(nn.Linear(9, 96), nn.Tanh(), nn.Linear(96, 131))
        split = copy.deepcopy(plain).to("xla")
        optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (plain, split)]
        for _ in range(3):
            batch, losses = torch.randn(16, 9), []
            for model, optimizer in zip((plain, split), optimizers):
                optimizer.zero_grad()
                loss = model(batch.to(next(model.parameters()).device)).pow(2).mean()
                loss.backward()
                optimizer.step()
                torch_xla.sync()
                losses.append(loss.item())
            assert losses[0] == pytest.approx(losses[1], rel=1e-4)
        assert any("devices" in spec(parameter) for parameter in split.parameters())
    finally:
        xr.use_spmd()


def test_dropout_is_the_same_as_on_one_device():
    x = torch.ones(64, 8)
    made = []
    for mesh in (None, grid(8)):
        torch_xla.manual_seed(5)
        t = x.to("xla")
        if mesh:
            xs.mark_sharding(t, mesh, (0, None))
        made.append(torch.nn.functional.dropout(t, 0.5).cpu())
    assert torch.equal(*made) and 0 < made[0].eq(0).sum() < 512


def collectives(*tensors):
    """Kinds of the collectives of each device, sorted."""
    return sorted(re.findall(r"^  (\w+) tensor.* among", xs.explain(list(tensors)), re.M))


def test_rows_that_are_looked_up_by_their_own_number_stay():
    """gather, scatter and losses have an index that only counts rows: nothing is sent for it."""
    mesh = grid(8, names=("data",))
    rows = lambda t: xs.mark_sharding(t.to("xla"), mesh, ("data",) + (None,) * (t.dim() - 1)).global_tensor
    x, at, logits, classes = torch.randn(16, 5, 7), torch.randint(0, 7, (16, 5, 2)), torch.randn(16, 9), torch.randint(0, 9, (16,))
    xx, xat, xlogits, xclasses = rows(x), rows(at), rows(logits).requires_grad_(), rows(classes)
    for make in (lambda x, at: x.gather(-1, at), lambda x, at: torch.zeros_like(x).scatter(-1, at[:, :, :1], x[:, :, :1]),
                 lambda x, at: torch.take_along_dim(x, at, -1), lambda x, at: x[torch.arange(16, device=x.device)[:, None], :, at[:, 0]]):
        result = make(xx, xat)
        assert collectives(result) == []
        close(result, make(x, at))
    loss = nn.functional.cross_entropy(xlogits, xclasses)
    assert collectives(loss) == ["all_reduce"]
    loss.backward()
    wanted = logits.clone().requires_grad_()
    nn.functional.cross_entropy(wanted, classes).backward()
    close(xlogits.grad, wanted.grad)


def test_batch_and_heads_stay_apart():
    """PyTorch merges both for a product and passes through one dimension for views; split along an axis each, they need no gather."""
    mesh = grid(2, 4, names=("data", "model"))
    q, k, v = torch.randn(4, 8, 6, 2), torch.randn(4, 4, 6, 2), torch.randn(4, 4, 6, 2)

    def attend(q, k, v):
        k, v = (t[:, :, None].expand(4, 4, 2, 6, 2).reshape(4, 8, 6, 2) for t in (k, v))
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return out.transpose(1, 2).reshape(4, 6, 16)
    expected = [t.clone().requires_grad_() for t in (q, k, v)]
    attend(*expected).square().sum().backward()
    split = [xs.mark_sharding(t.to("xla"), mesh, ("data", "model", None, None)).global_tensor.requires_grad_() for t in (q, k, v)]
    attend(*split).square().sum().backward()
    assert collectives(*[t.grad for t in split]) == []
    for got, want in zip(split, expected):
        close(got.grad, want.grad, rtol=1e-4, atol=1e-5)


def test_a_split_sequence_stays_split():
    """Linear layers, losses and look-ups merge batch and sequence. With the sequence split, only sums of gradients and losses are sent."""
    mesh = grid(2, 4, names=("data", "seq"))
    x, classes = torch.randint(0, 11, (4, 12)), torch.randint(0, 11, (4, 12))
    net = nn.Sequential(nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 20), nn.GELU(), nn.Linear(20, 11))
    twin = copy.deepcopy(net).to("xla")

    def loss_of(net, x, classes):
        return nn.functional.cross_entropy(net(x).flatten(0, 1), classes.flatten())
    split = [xs.mark_sharding(t.to("xla"), mesh, ("data", "seq")).global_tensor for t in (x, classes)]
    for parameter in twin.parameters():
        xs.mark_sharding(parameter, mesh, (None,) * parameter.dim())
    loss, wanted = loss_of(twin, *split), loss_of(net, x, classes)
    loss.backward()
    wanted.backward()
    found = collectives(loss, *[p.grad for p in twin.parameters()])
    assert found == ["all_reduce", "all_reduce"], found
    close(loss, wanted)
    for got, want in zip(twin.parameters(), net.parameters()):
        close(got.grad, want.grad, rtol=1e-4, atol=1e-5)


def test_sequence_parallel_layers():
    """Megatron's sequence parallelism: activations are gathered on the way into a layer's products, and scattered behind them."""
    mesh = grid(8, names=("model",))
    x = torch.randn(2, 16, 8)
    net = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 8))
    twin = copy.deepcopy(net).to("xla")
    xs.mark_sharding(twin[1].weight, mesh, ("model", None)), xs.mark_sharding(twin[1].bias, mesh, ("model",))
    xs.mark_sharding(twin[3].weight, mesh, (None, "model"))
    split = xs.mark_sharding(x.to("xla"), mesh, (None, "model", None)).global_tensor
    hidden = xs.mark_sharding(twin[0](split), mesh, (None, None, None)).global_tensor
    out = xs.mark_sharding(twin[3](twin[2](xs.mark_sharding(twin[1](hidden), mesh, (None, None, "model")).global_tensor)), mesh,
                           (None, "model", None)).global_tensor
    assert collectives(out) == ["all_gather", "reduce_scatter"]
    close(out, net(x), rtol=1e-4, atol=1e-5)


#===-- Shards ------------------------------------------------------------------===


def test_local_shards():
    t = torch.arange(256.0).reshape(16, 16)
    xt = xs.mark_sharding(t.to("xla"), grid(4, 2), (None, 1))
    assert xt.sharding_type == xs.ShardingType.PARTIAL
    for i, shard in enumerate(xt.local_shards):
        begin = i % 2 * 8
        assert shard.indices == [slice(0, 16, 1), slice(begin, begin + 8, 1)] and shard.replica_id == i // 2
        assert shard.shard_device == f"CPU:{i}" and torch.equal(shard.data, t[tuple(shard.indices)])
    tiled = xs.mark_sharding(torch.arange(8.0).to("xla"), grid(8), (0,))
    assert [s.replica_id for s in tiled.local_shards] == [0] * 8 and tiled.sharding_type == xs.ShardingType.TILED


def test_load_local_shards():
    t = torch.arange(1.0, 9)
    xt = xs.mark_sharding(t.to("xla"), grid(8), (0,))
    shards = xt.local_shards
    for shard in shards:
        shard.data *= -1
    xt.load_local_shards_(shards)
    assert torch.equal(xt.cpu(), -t) and xt.sharding_spec == "{devices=[8]%s}" % LIST
    with pytest.raises(RuntimeError, match="expects 8 shards"):
        xt.load_local_shards_(shards[:-1])
    shards[0].data = torch.randn(2)
    with pytest.raises(RuntimeError, match="expects \\[1\\]"):
        xt.load_local_shards_(shards)
    whole = xs.mark_sharding(t.to("xla"), grid(8), (None,))
    with pytest.raises(RuntimeError):
        whole.load_local_shards_(whole.local_shards)


def test_global_tensor_from_cpu_shards():
    make, sharding = XLAC._global_tensor_from_cpu_shards, grid(8).get_op_sharding((0,))
    parts = [torch.arange(8) + 8 * i for i in range(8)]
    assert torch.equal(make(parts, sharding).cpu(), torch.arange(64))
    assert torch.equal(make(parts, sharding, torch.Size((60,))).cpu(), torch.arange(60))
    for size in ((65,), (56,), (1,), (1, 64)):
        with pytest.raises(RuntimeError):
            make(parts, sharding, torch.Size(size))
    with pytest.raises(RuntimeError):
        make(parts[:-1], sharding)
    two = [torch.LongTensor([[i]]) for i in range(2)] * 4
    assert torch.equal(make(two, grid(4, 2).get_op_sharding((None, 1))).cpu(), torch.arange(2).reshape(1, 2))
    raw = XLAC.OpSharding([[0, 1, 2, 3, 4, 5, 6, 7]], [], [], xs.ShardingType.TILED)
    assert str(raw) == "{devices=[1,8]%s}" % LIST


def test_sharded_tensor():
    t = torch.randn(8, 8)
    xt = xs.mark_sharding(t.to("xla"), grid(2, 4, names=("a", "b")), ("b", None))
    assert "XLAShardedTensor" in repr(xt) and "XLAShardedTensor" in str(xt * 2) and "XLAShardedTensor" not in str(xt.global_tensor)
    from torch.distributed.tensor import Replicate, Shard
    assert xt.placements == (Replicate(), Shard(0)) and xt.device_mesh.mesh_dim_names == ("a", "b")
    moved = xt.redistribute(xt.device_mesh, (Shard(1), Replicate()))
    assert moved.sharding_spec.startswith("{devices=[1,2,4]") and xt.sharding_spec.startswith("{devices=[4,1,2]")
    close(moved, t)
    assert isinstance(xs.wrap_if_sharded(xt.global_tensor), XLAShardedTensor) and xs.unwrap_sharded_tensor(xt).__class__ is torch.Tensor
    weight = nn.Parameter(t.to("xla"))
    (xs.mark_sharding(weight, grid(8), (0, None)) * 2).sum().backward()
    close(weight.grad, torch.full((8, 8), 2.0))


def test_sharded_tensors_are_dtensors():
    from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate, Shard, distribute_tensor
    device_mesh = DeviceMesh("xla", torch.arange(8))
    t = torch.randn(16, 8)
    xt = distribute_tensor(t, device_mesh, [Shard(0)])
    assert isinstance(xt, DTensor) and xt.placements == (Shard(0),) and xt._spec is xt._spec
    assert xt._spec.mesh.shape == (8,) and xt._spec.tensor_meta.shape == t.shape
    assert (xt.mesh_shape, xt.partition_spec) == ((8,), (0, None))
    for whole in (xt.full_tensor(), xt.to_local()):
        assert whole.__class__ is torch.Tensor
        close(whole, t)
    moved = xt.redistribute(grid(2, 4), [Replicate(), Shard(1)])
    assert moved.partition_spec == (None, 1) and moved.placements == (Replicate(), Shard(1))
    close(moved, t)
    for kind, placements in ((IndexError, [Shard(2)]), (ValueError, [Shard(0), Shard(1)]), (NotImplementedError, [Partial()])):
        with pytest.raises(kind):
            xt.redistribute(grid(8), placements)
    with pytest.raises(ValueError, match="placements: expects a sharded tensor"):
        (xt + xt)._spec
    with pytest.raises(ValueError, match="placements: expects a sharded tensor"):
        (moved + moved).placements
    with pytest.raises(AttributeError):
        xs.mark_sharding(torch.tensor(1.0).to("xla"), grid(8), ()).mesh_shape
    local = DTensor.from_local(t, device_mesh, [Shard(1)])
    assert isinstance(local, XLAShardedTensor) and local.partition_spec == (None, 0)
    close(local + 1, t + 1)
    wrapped = xs.wrap_as_sharded_tensor(t.to("xla"), mesh_shape=(2, 4), partition_spec=(0, 1))
    assert (wrapped.mesh_shape, wrapped.partition_spec) == ((2, 4), (0, 1))
    with pytest.raises(AssertionError):
        distribute_tensor(t, DeviceMesh("xla", torch.arange(7)), [Shard(0)])


def test_gradients_of_sharded_tensors():
    from torch.distributed.tensor import DeviceMesh, Shard, distribute_tensor
    device_mesh = DeviceMesh("xla", torch.arange(8))
    weight = torch.randn(8, 8).to("xla").requires_grad_()
    alias = distribute_tensor(weight, device_mesh, [Shard(0)])
    assert alias.is_leaf and alias.requires_grad
    (alias * 3).sum().backward()
    close(alias.grad, torch.full((8, 8), 3.0))
    close(weight.grad, torch.full((8, 8), 3.0))
    cpu = torch.randn(8, 8, requires_grad=True)
    noted = XLAShardedTensor(cpu, device_mesh, [Shard(0)])
    noted.sum().backward()
    assert noted.placements == (Shard(0),) and torch.equal(noted.to_local().grad, torch.ones(8, 8))


def test_a_mesh_of_some_devices():
    a, b = torch.randn(4, 4), torch.randn(4, 4)
    for devices in ([0, 1], [2, 3], [5, 1]):
        some = Mesh(devices, (1, 2), ("x", "y"))
        x = a.to("xla")
        x += 2
        xs.mark_sharding(x, some, ("x", "y"))
        assert spec(x).startswith("{devices=[1,2,4]%d," % devices[0])
        close(x @ b.to("xla"), (a + 2) @ b)


def test_counters():
    torch_xla.sync()
    met.clear_all()
    t = torch.arange(16.0).reshape(1, 16)
    sharded, = xm.send_cpu_data_to_device([t], "xla", input_sharding=xs.ShardingSpec(grid(1, 8), (0, 1)))
    assert met.metric_data("OutboundData")[:2] == (1, 64)
    for _ in range(2):
        xs.mark_sharding(t.to("xla"), (mesh := grid(1, 8)), (0, 1))
        xs.mark_sharding(t.to("xla"), mesh, (0, 1))
    assert met.counter_value("CreateOpSharding") == 3 and met.counter_value("VirtualDeviceUsage") == 4
    sharded += 1
    torch_xla.sync()
    assert met.counter_value("ExecuteReplicated") == met.counter_value("UncachedOutputSharding") == 1
    assert met.metric_data("InputOutputAliasCount")[0] == 1
    info = torch_xla._XLAC._get_xla_tensor_debug_info(sharded)
    assert "Device: SPMD:0" in info and "xla::device_data" in info and "XLAShardedData" in info and "NumShards: 8" in info
    assert "Tensor on host: with size [1, 16]" in torch_xla._XLAC._get_xla_tensor_debug_info(t.to("xla"))


def test_classes_in_floats():
    logits = torch.randn(6, 3)
    classes = torch.tensor([0.0, 2.0, 1.0, 1.0, 0.0, 2.0])
    x = logits.to("xla").requires_grad_()
    loss = nn.functional.cross_entropy(x, classes.to("xla"))
    loss.backward()
    expected = logits.clone().requires_grad_()
    nn.functional.cross_entropy(expected, classes.long()).backward()
    close(loss, nn.functional.cross_entropy(logits, classes.long()))
    close(x.grad, expected.grad)


def test_backward_barrier_of_an_expanded_gradient():
    layer = nn.Linear(4, 2).to("xla")
    xs.xla_sharding.apply_backward_optimization_barrier(layer)
    layer(torch.ones(3, 4).to("xla")).sum().backward()
    close(layer.weight.grad, torch.full((2, 4), 3.0))


#===-- Gradients, groups, manual parts ---------------------------------------------===


def test_mark_sharding_with_gradients():
    x = torch.randn(8, 8).to("xla").requires_grad_()
    y = xs.mark_sharding_with_gradients(x, grid(8), (0, None))
    (y * y).sum().backward()
    assert "devices=[8,1]" in spec(x.grad)
    close(x.grad, 2 * x.detach().cpu())


def test_shard_as():
    a, b = torch.randn(8, 8), torch.randn(8, 8)
    xa = xs.mark_sharding(a.to("xla"), grid(8), (0, None)).global_tensor
    ya, yb = xs.shard_as(xa * 2, b.to("xla") * 2)
    torch_xla.sync()
    assert spec(ya) == spec(yb) and "devices=[8,1]" in spec(yb)
    close(yb, b * 2)


def test_manual_sharding():
    xs.set_global_mesh(grid(1, 8))
    t = torch.randn(8, 8)
    part = xs.enable_manual_sharding(t.to("xla"), (0, 1))
    assert part.shape == (8, 1) and part.sharding_spec == "{manual}"
    whole = xs.disable_manual_sharding(part + 1, (0, 1), t.shape)
    assert whole.shape == (8, 8)
    close(whole, t + 1)
    with pytest.raises(RuntimeError, match="expects a pending tensor"):
        xs._mark_manual_sharding(torch.zeros(3, 2).to("xla"))


#===-- Batches ------------------------------------------------------------------===


def test_send_cpu_data_to_device():
    data, label = torch.randn(16, 3, 4, 4), torch.arange(16)
    met.clear_all()
    images = xs.ShardingSpec(grid(8, names=("data",)), ("data", None, None, None))
    made = xm.send_cpu_data_to_device((data, label), xm.xla_device(), input_sharding=images)
    assert spec(made[0]).startswith("{devices=[8,1,1,1]") and spec(made[1]) == ""
    close(made[0], data), close(made[1], label)
    named = xm.send_cpu_data_to_device([{"x": data, "y": label}], xm.xla_device(),
                                       input_sharding={"x": images, "y": xs.ShardingSpec(images.mesh, ("data",), minibatch=True)})[0]
    assert spec(named["y"]).startswith("{devices=[8]") and spec(named["x"]) == spec(made[0])
    with pytest.raises(ValueError, match="no entry for"):
        xm.send_cpu_data_to_device([{"x": data, "z": label}], xm.xla_device(), input_sharding={"x": images})
    assert images.can_apply(data) and not images.can_apply(label) and images.xla_spec(label) is None


def test_a_sharding_per_entry():
    """Batches of tensors of different ranks; the last one is smaller, and the devices do not divide it."""
    mesh = grid(8, names=("data",))
    data = torch.utils.data.TensorDataset(torch.randn(29, 3), torch.arange(29))
    specs = [xs.ShardingSpec(mesh, ("data", None)), xs.ShardingSpec(mesh, ("data",))]
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    for (x, y), (u, v) in zip(pl.MpDeviceLoader(loader, "xla", input_sharding=specs), loader):
        assert spec(x).startswith("{devices=[8,1]") and spec(y).startswith("{devices=[8]")
        close(x.sum(1) * y, u.sum(1) * v)
    for batch, wanted in (((torch.ones(8, 3),), "2 entries, but got one of 1"), (torch.ones(8, 3), "but got a Tensor")):
        with pytest.raises(ValueError, match=wanted):
            xm.send_cpu_data_to_device([batch], "xla", specs)
    with pytest.raises(ValueError, match="expects a ShardingSpec, or a dict or list of them, but got 'data'"):
        xm.send_cpu_data_to_device([torch.ones(8)], "xla", "data")


def test_loaders():
    batches = [(torch.randn(8, 4), torch.arange(8)) for _ in range(3)]
    sharding = xs.ShardingSpec(grid(8), (0, None))
    for (data, label), (wanted, _) in zip(pl.MpDeviceLoader(batches, xm.xla_device(), input_sharding=sharding), batches):
        assert spec(data).startswith("{devices=[8,1]") and "devices" not in spec(label)
        close(data * 2, wanted * 2)
    named = [{"x": data, "y": label} for data, label in batches]
    specs = {"x": sharding, "y": None}
    loader = pl.ParallelLoader(named, [xm.xla_device()], input_sharding=specs)
    assert [sorted(batch) for batch in loader.per_device_loader(xm.xla_device())] == [["x", "y"]] * 3


#===-- torch.distributed.tensor, FSDP, torch.compile --------------------------------===


def test_distribute_tensor():
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    mesh = DeviceMesh("xla", list(range(8)))
    big = torch.randn(100, 88)
    made = distribute_tensor(big, mesh, [Shard(0)])
    assert isinstance(made, XLAShardedTensor) and made.sharding_spec == "{devices=[8,1]%s}" % LIST
    close(made, big)
    two = DeviceMesh("xla", torch.arange(8).reshape(2, 4), mesh_dim_names=("dp", "tp"))
    assert distribute_tensor(big, two, [Shard(0), Shard(0)]).sharding_spec == "{devices=[8,1]%s}" % LIST
    assert distribute_tensor(big.to("xla"), two, [Replicate(), Shard(-1)]).sharding_spec.startswith("{devices=[1,4,2]")
    assert distribute_tensor(big, two).sharding_spec == "{replicated}"


def test_distribute_module():
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import Shard, distribute_module, distribute_tensor
    mesh = DeviceMesh("xla", list(range(8)))

    def partition(name, module, mesh):
        for key, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, key, nn.Parameter(distribute_tensor(parameter.data, mesh, [Shard(0)])))
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
    x = torch.randn(4, 16)
    model = distribute_module(copy.deepcopy(plain), mesh, partition)
    assert isinstance(model[0].weight.data, torch.Tensor) and spec(model[0].weight).startswith("{devices=[8,1]")
    close(model(x.to("xla")).detach(), plain(x).detach(), rtol=1e-4, atol=1e-5)
    from torch_xla.distributed.spmd import auto_policy
    try:
        model = distribute_module(copy.deepcopy(plain), mesh, auto_policy)
        assert XLAC._xla_get_auto_sharding()
        close(model(x.to("xla")).detach(), plain(x).detach(), rtol=1e-4, atol=1e-5)
        many = torch.randn(8192, 16)  # examples enough to share them out
        given = many.to("xla")
        close(model(given).detach(), plain(many).detach(), rtol=1e-4, atol=1e-5)
        assert "devices=[8,1]" in spec(given)
    finally:
        xr.use_spmd()


def test_compiled_function():
    mesh = grid(8)
    a, b = torch.randn(8, 16), torch.randn(16, 8)
    xa = xs.mark_sharding(a.to("xla"), mesh, (0, None)).global_tensor
    xb = b.to("xla")

    @torch.compile(backend="openxla")
    def run(p, q):
        y = xs.mark_sharding(p @ q, mesh, (None, 0))
        return y.relu()
    for _ in range(2):
        y = run(xa, xb)
        assert "devices=[1,8]" in spec(y)
        close(y, (a @ b).relu(), rtol=1e-5, atol=1e-5)
    assert XLAC._get_xla_sharding_specs([xa, xb]) == [spec(xa), "{replicated}"] and "devices=[8,1]" in spec(xa)
    marked = torch.compile(lambda p: torch.ops.xla.dynamo_mark_sharding(p * 2, list(range(8)), [2, 4], "('x', 'y')", "('y', None)"),
                           backend="openxla", fullgraph=True)(xa)
    assert spec(marked) == spec(xs.mark_sharding(b.to("xla"), grid(2, 4), (1, None)))
    close(marked, a * 2)


def test_shardings_of_results_are_found_once():
    layer, x = nn.Linear(16, 8), torch.randn(4, 16)
    twin = copy.deepcopy(layer).to("xla")
    xs.mark_sharding(twin.weight, grid(1, 8), (1, 0))
    run = torch.compile(twin.eval(), backend="openxla")
    met.clear_all()
    for _ in range(2):
        close(run(x.to("xla")), layer(x), rtol=1e-5, atol=1e-6)
        assert met.counter_value("UncachedOutputSharding") == 1


def test_flash_attention():
    from torch_xla.experimental.custom_kernel import flash_attention
    q, k, v = (torch.randn(8, 2, 16, 4) for _ in range(3))
    xs.set_global_mesh(grid(8, names=("fsdp",)))
    parts = [t.to("xla").requires_grad_() for t in (q, k, v)]
    out = flash_attention(*parts, causal=True, partition_spec=("fsdp", None, None, None))
    out.sum().backward()
    torch_xla.sync()
    assert spec(out).startswith("{devices=[8,1,1,1]") and spec(parts[0].grad).startswith("{devices=[8,1,1,1]")
    close(out.detach(), nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0), rtol=1e-4, atol=1e-5)


#===-- Pictures and explanations -------------------------------------------------===


def test_visualize(tmp_path, capsys):
    from torch_xla.distributed.spmd.debugging import visualize_sharding, visualize_tensor_sharding
    visualize_sharding("{devices=[2,2,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}", use_color=False)
    text = capsys.readouterr().out
    assert re.search(r"CPU \[0, 1\] +│ +CPU \[2, 3\]", text) and re.search(r"CPU \[4, 5\] +│ +CPU \[6, 7\]", text)
    visualize_sharding("{devices=[2,4]<=[8]}", use_color=False)
    assert capsys.readouterr().out.splitlines()[2].rstrip() == "│  CPU 0  │  CPU 1  │  CPU 2  │  CPU 3  │".replace("  ", " ")
    t = xs.mark_sharding(torch.randn(8, 4, 4).to("xla"), grid(2, 4), (0, 1, None))
    assert len(visualize_tensor_sharding(t, use_color=True)) == 2
    for name in ("picture.svg", "picture.html"):
        path = visualize_tensor_sharding(t, file=str(tmp_path / name))
        picture = open(path).read()
        assert picture.count("<rect") == 8 and ">CPU 7<" in picture
    with pytest.raises(ValueError, match="nonsense"):
        visualize_sharding("nonsense")


def test_explain_names_tensors():
    """A module's parameters by their names, others by the expression that was annotated; everything is there, also what is whole."""
    mesh = grid(2, 4, names=("data", "model"))
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16, bias=False)).to("xla")
    xs.mark_sharding(model[0].weight, mesh, ("model", None))
    batch = xs.mark_sharding(torch.randn(8, 16).to("xla"), mesh, ("data", None)).global_tensor
    result = model(batch)
    named, plain = xs.explain([result], names=model), xs.explain([result])
    first = r'^argument (\d+) of @main "%s" : tensor<32x16xf32> #sdy\.sharding<@\w+, \[\{"model"\}, \{\}\]>  \(.*cases\.py:\d+\)$'
    assert re.search(first % r"0\.weight", named, re.M) and re.search(first % r"model\[0\]\.weight", plain, re.M)
    assert re.search(r'of @main "2\.weight" : tensor<16x32xf32> ', named) and re.search(r'of @main "0\.bias" : tensor<32xf32> ', named)
    assert re.search(r'of @main "torch\.randn\(8, 16\)\.to\("xla"\)" : tensor<8x16xf32> ', named), "an expression"
    assert re.search(r"from argument \d+ of @main \"0\.weight\" \(.*\), through stablehlo\.", named)
    assert re.search(r"^  rule of stablehlo\.dot_general \(.*cases\.py:\d+\): .* reduction=\{", named, re.M)
    dictionary = xs.explain([result], names={"first layer": model[0].weight})
    assert '"first layer"' in dictionary
    with pytest.raises(ValueError, match="together with pending tensors"):
        xs.explain(names=model)
    torch_xla.sync()
    assert '"model[0].weight"' in xs.explain(), "of the program that was compiled last"


def test_explain_page(tmp_path):
    x = xs.mark_sharding(torch.randn(8, 8).to("xla"), grid(8, names=("data",)), ("data", None)).global_tensor
    text = xs.explain([x.sum()], file=str(tmp_path / "page.html"))
    page = open(tmp_path / "page.html").read()
    assert "all_reduce" in text and "all_reduce" in page and "&lt;" not in text
    assert "<summary>annotated (1)</summary>" in page


def test_explain_one_tensor():
    x = xs.mark_sharding(torch.randn(8, 8).to("xla"), grid(8, names=("data",)), ("data", None)).global_tensor
    total = x.sum()
    assert xs.explain(total) == xs.explain([total]) and xs.explain(total).count("all_reduce") == 1
    assert xs.partitioned(total) == xs.partitioned([total])


#===-- Mistakes ------------------------------------------------------------------===


@pytest.mark.parametrize("mesh, partition_spec, expected, actual", [
    (lambda: grid(8), (0,), "2 entries", "1: (0,)"),
    (lambda: grid(2, 4, names=("x", "y")), ("x", "z"), "axes of the mesh (['x', 'y'])", "'z' for dim 1"),
    (lambda: grid(2, 4), (0, 5), "indices below 2", "5 for dim 1"),
    (lambda: grid(2, 4, names=("x", "y")), ("x", "x"), "every axis of the mesh at most once", "'x' for dims 0 and 1"),
    (lambda: Mesh(range(3), (3,)), (0, None), "a mesh of all 8 devices, or of a number that divides them", "one of 3"),
    (lambda: grid(8), (1.5, None), "names and indices of axes", "1.5 for dim 0"),
])
def test_mistakes(mesh, partition_spec, expected, actual):
    weight = torch.randn(8, 8).to("xla")
    for kind in (ValueError, AssertionError, RuntimeError):
        with pytest.raises(kind) as raised:
            xs.mark_sharding(weight, mesh(), partition_spec)
    message = str(raised.value)
    line = next(i for i, text in enumerate(open(__file__), 1) if "xs.mark_sharding(weight, mesh(), partition_spec)" in text)
    assert message.startswith(f"{__file__}:{line}: mark_sharding of weight (float32[8, 8]): expects ") and expected in message
    assert f"but got {actual}" in message, message
    assert spec(weight) == ""


def test_mistakes_of_a_mesh():
    for arguments, words in ((([0, 1], (3,)), "3 devices"), (([0, 0], (2,)), "every device once"),
                             (([0, 1], (2,), ("x", "y")), "one axis name"), ((range(4), (2, 2), ("x", "x")), "different names"),
                             (([0, 1, 2, 3, 4, 5, 6, 9], (8,)), r"device ids from 0 to 7, but got \[9\]"),
                             ((range(16), (16,)), "a mesh of the 8 devices that there are, but got one of 16")):
        with pytest.raises(ValueError, match=words):
            Mesh(*arguments)
    with pytest.raises(ValueError, match="a tensor of the xla device"):
        xs.mark_sharding(torch.ones(8), grid(8), (0,))


#===-- What PyTorch/XLA's tests look at --------------------------------------===


def test_loaders_say_that_values_are_whole():
    whole, = xm.send_cpu_data_to_device(torch.randn(8, 4), xm.xla_device())
    assert spec(whole) == "{replicated}"
    mesh = xs.get_1d_mesh("x")
    with pytest.raises(KeyError, match="no entry for"):
        xm.send_cpu_data_to_device([{"x": torch.ones(8), "y": torch.ones(8)}], xm.xla_device(), {"x": xs.ShardingSpec(mesh, ("x",))})


def test_fsdp_keeps_backward_passes_apart():
    from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2
    mesh = grid(8, 1, names=("fsdp", "tensor"))
    layers = FSDPv2(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1)), mesh)
    layers(torch.randn(16, 16).to("xla")).sum().backward()
    assert "opt-barrier" in XLAC._get_xla_tensors_hlo([layers[2].weight.grad])
    with pytest.raises(ValueError, match="The provided ddp axis is not in the mesh"):
        FSDPv2(nn.Linear(8, 8), mesh, extra_data_axis="ddp")


def test_fsdp_of_modules_whose_inputs_need_no_gradients():
    """PyTorch's full backward hooks warn for such a module, and run before its backward pass."""
    from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2

    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer = nn.Embedding(16, 8), nn.Linear(8, 8)

        def forward(self, numbers, scale):
            found = self.table(numbers) * scale
            return self.layer(found), found, "name"
    mesh, numbers = grid(8, 1, names=("fsdp", "tensor")), torch.arange(16).reshape(8, 2)
    plain = Pair()
    model = copy.deepcopy(plain).to("xla")
    model = FSDPv2(model, mesh)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for module, device in ((plain, "cpu"), (model, "xla")):
            made, found, name = module(numbers.to(device), 2.0)
            (made.square().sum() + found.sum()).backward()
            assert name == "name"
        with torch.no_grad():
            close(model(numbers.to("xla"), 2.0)[0], plain(numbers, 2.0)[0])
    assert "opt-barrier" in XLAC._get_xla_tensors_hlo([model.layer.weight.grad])
    for ours, theirs in zip(model.parameters(), plain.parameters()):
        close(ours.grad, theirs.grad)


def test_fsdp_splits_what_the_devices_divide():
    from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2
    mesh = grid(8, 1, names=("fsdp", "tensor"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = FSDPv2(nn.Sequential(FSDPv2(nn.Embedding(51, 16), mesh), nn.Linear(16, 51), nn.Linear(51, 9)), mesh)
        optimizer = torch.optim.AdamW(model.parameters())
        model(torch.ones(8, 4, dtype=torch.int64).to("xla")).sum().backward()  # neither an input nor a hook of modules needs a gradient
        optimizer.step()
        torch_xla.sync()
    assert [str(each.message) for each in caught if "FSDPv2" in str(each.message) or "hook" in str(each.message)] == []
    assert [spec(parameter)[:14] for parameter in model.parameters()] == ["{devices=[1,8]", "{devices=[1,8]", "{devices=[8]0,", "{devices=[1,8]", "{devices=[8]0,"]
    assert spec(optimizer.state[model[0].module.weight]["exp_avg"]).startswith("{devices=[1,8]")
    with pytest.warns(UserWarning, match=r"no dimension of the parameter weight of the Linear, \(1023, 257\), is a multiple of the 8 devices .* A size of 1024 in place of 1023"):
        FSDPv2(nn.Sequential(FSDPv2(nn.Linear(257, 1023), mesh)), mesh)


def test_saved_programs_name_shardings_of_results(tmp_path):
    import subprocess
    import sys
    code = """
import torch, torch_xla, torch_xla.runtime as xr, torch_xla.distributed.spmd as xs
xr.use_spmd()
x = xs.mark_sharding(torch.ones(8, 32).to("xla"), xs.get_1d_mesh("a"), ("a", None))
y = x + 1
torch_xla.sync()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200,
                   env=dict(os.environ, XLA_SAVE_TENSORS_FILE=str(tmp_path / "saved"), XLA_SAVE_TENSORS_FMT="hlo"))
    lines = (tmp_path / "saved.0").read_text().splitlines()
    assert lines[-2:] == ["#OUTPUT_SHARDING_END", ""] and f"f32[8,32] {{devices=[8,1]{LIST}}}" in lines


def test_text_after_partitioning(monkeypatch):
    a, b = torch.ones(1, 128).to("xla"), torch.ones(128, 1).to("xla")
    xs.mark_sharding(a, grid(1, 8), (0, 1))
    assert "all-reduce" not in XLAC._get_xla_tensors_hlo([a @ b])
    monkeypatch.setenv("XLA_DUMP_POST_OPTIMIZATIONS", "1")
    text = XLAC._get_xla_tensors_hlo([a @ b])
    assert "all-reduce" in text and "f32[1,16]" in text


def test_serialized_modules_have_shardings():
    client = pytest.importorskip("jax._src.lib").xla_client
    a, b, c = (torch.zeros(16, 8, device="xla") for _ in range(3))
    xs.mark_sharding(a, grid(2, 4, names=("x", "y")), ("x", None))
    xs.mark_sharding(b, grid(2, 4, names=("x", "y")), ("y", "x"))
    context = XLAC.lowering.LoweringContext("marked")
    context.build([a + 1, b + c])
    assert "replicate_on_last_tile_dim: true" in context.hlo_text() and 'custom_call_target: "Sharding"' in context.hlo_text()
    read = client.XlaComputation(context.hlo()).as_hlo_text()
    for tiles in ("[2,1,4]<=[8] last_tile_dim_replicate", "[4,2]<=[2,4]T(1,0)"):
        assert "sharding={devices=" + tiles + "}" in read, read
