# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of torch_xla's SPMD interface that other tests here do not come by, each with what it does, on 8 virtual devices."""
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
from torch_xla.distributed.spmd import Mesh, ShardingType, XLAShardedTensor, api, debugging, xla_sharding

XLAC = torch_xla._XLAC
ROWS = "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"
VALUE = torch.arange(96.).reshape(8, 12)


@pytest.fixture(autouse=True)
def spmd():
    xr.use_spmd()
    xs.set_global_mesh(None)


@pytest.fixture
def mesh():
    return Mesh(np.arange(8), (2, 4), ("x", "y"))


def close(got, want, **tolerance):
    torch.testing.assert_close(got.detach().cpu(), want.detach(), **tolerance)


def spec(t):
    return XLAC._get_xla_sharding_spec(t)


def split(mesh, *partition_spec, value=VALUE):
    return xs.mark_sharding(value.to("xla"), mesh, partition_spec)


#===-- Meshes ------------------------------------------------------------------===


def test_get_jax_mesh():
    """In a process of its own: JAX has to know of the 8 devices before it begins."""
    import subprocess
    import sys
    pytest.importorskip("jax")
    code = """
import jax, numpy as np, torch_xla, torch_xla.runtime as xr
from torch_xla.distributed.spmd import Mesh
jax.config.update("jax_num_cpu_devices", 8)
xr.use_spmd()
made = Mesh([5, 4, 7, 6, 1, 0, 3, 2], (2, 4), ("x", "y")).get_jax_mesh()
assert made.axis_names == ("x", "y") and [device.id for device in made.devices[1]] == [1, 0, 3, 2], made
assert Mesh(np.arange(4), (4,)).get_jax_mesh().axis_names == ("axis_0",)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)


def test_first_use_of_dtensor():
    """In a process of its own: DTensor.from_local() before anything else of SPMD."""
    import subprocess
    import sys
    code = """
import torch, torch_xla
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, zeros
mesh = init_device_mesh("xla", (8,))
made = DTensor.from_local(torch.ones(8, 4), mesh, [Shard(0)])
assert made.sharding_spec.startswith("{devices=[8,1]") and type(zeros(8, device_mesh=mesh)) is type(made), type(made)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)


def test_runtime_names():
    assert xr.is_spmd() and xr.device_type() == "CPU"
    assert (xr.global_runtime_device_count(), xr.addressable_runtime_device_count()) == (8, 8)
    assert [xr.local_device_count(), xr.addressable_device_count(), xr.global_device_count(), xr.world_size()] == [1] * 4, "one virtual device"
    assert [xr.global_ordinal(), xr.local_ordinal(), xr.process_index(), xr.host_index()] == [0] * 4
    assert xr.process_count() == xr.local_process_count() == 1
    assert [known["name"] for known in xr.global_runtime_device_attributes()] == [f"CPU:{i}" for i in range(8)]
    assert xr.runtime_device_attributes("CPU:7") == {"name": "CPU:7", "process_index": 0}
    with pytest.raises(RuntimeError, match="but got 'CPU:8'"):
        xr.runtime_device_attributes("CPU:8")


def test_conversions_of_dtensor(mesh):
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import Partial, Replicate, Shard
    made = api.convert_to_xla_mesh(DeviceMesh("xla", [[0, 1], [6, 7]], mesh_dim_names=("a", "b")))
    assert made.get_logical_mesh().tolist() == [[0, 1], [6, 7]] and made.axis_names == ("a", "b")
    with pytest.raises(ValueError, match='of the device type "xla", but got \'cpu\''):
        api.convert_to_xla_mesh(DeviceMesh("cpu", torch.arange(8), _init_backend=False, _rank=0))
    for placements, wanted in (([Shard(1), Replicate()], (None, 0)), ([Shard(0), Shard(0)], ((0, 1), None)),
                               ([Shard(-1), Shard(0)], (1, 0))):
        assert api.convert_to_xla_partition_spec(VALUE, placements) == wanted
    with pytest.raises(NotImplementedError, match="expects Shard and Replicate"):
        api.convert_to_xla_partition_spec(VALUE, [Replicate(), Partial()])
    with pytest.raises(AssertionError, match="a number that divides them, but got one of 7"):
        api.convert_to_xla_mesh(DeviceMesh("xla", list(range(7))))
    with pytest.raises(ValueError, match="one for each of the mesh's 2 axes"):
        api.convert_to_xla_partition_spec(VALUE, [Shard(0)], mesh)


#===-- Annotations -------------------------------------------------------------===


def test_annotate_custom_sharding(mesh):
    """The value is split another way where it is used; the tensor stays as it is marked when it is written to."""
    x = split(mesh, "x", None).global_tensor
    moved = met.metric_data("OutboundData")
    made = xs.annotate_custom_sharding(x, mesh, (None, "y"))
    assert isinstance(made, XLAShardedTensor) and XLAC._check_tensor_need_materialization([x])[0] and met.metric_data("OutboundData") == moved
    z = x + 1
    torch_xla.sync()
    assert spec(z) == "{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"
    close(z, VALUE + 1)
    x.add_(1)
    torch_xla.sync()
    assert spec(x) == ROWS
    close(x, VALUE + 1)
    with pytest.raises(ValueError, match="annotate_custom_sharding of x .*: expects a partition spec with 2 entries"):
        xs.annotate_custom_sharding(x, mesh, ("x",))
    with pytest.raises(ValueError, match="expects a tensor of the xla device, but got one of cpu"):
        xs.annotate_custom_sharding(VALUE, mesh, ("x", None))


@pytest.mark.parametrize("make", [lambda x, m: xla_sharding.aot_mark_sharding(x, str(m), str(("x", "y"))),
                                  lambda x, m: torch.ops.xla.aot_mark_sharding(x, str(m), str(("x", "y"))),
                                  lambda x, m: xs.MarkShardingFunction.apply(x, m, ("x", "y")),
                                  lambda x, m: xs.mark_sharding_with_gradients(x, m, ("x", "y"))],
                         ids=["aot_mark_sharding", "operator", "MarkShardingFunction", "mark_sharding_with_gradients"])
@pytest.mark.parametrize("compiled", [False, True])
def test_value_and_gradient(mesh, make, compiled):
    wanted = "{devices=[2,4]0,1,2,3,4,5,6,7}"
    x = VALUE.to("xla").requires_grad_()

    def run(x):
        y = make(torch.sin(x), mesh)
        return y, (y * y).sum()
    if compiled:
        run = torch.compile(run, backend="openxla")
    y, total = run(x)
    total.backward()
    torch_xla.sync()
    assert spec(y) == wanted and spec(x) in ("", "{replicated}")
    assert spec(x.grad) == wanted
    expected = VALUE.clone().requires_grad_()
    torch.sin(expected).square().sum().backward()
    close(total, torch.sin(VALUE).square().sum()), close(x.grad, expected.grad)


def test_expanded_tensors(mesh):
    """A mask of one row, say: it gets memory of its own."""
    row = torch.randn(1, 12)
    base = row.to("xla").requires_grad_()
    for wrap in (lambda t: t, XLAShardedTensor):
        base.grad = None
        mask = wrap(base.expand(8, 12))
        made = xs.mark_sharding(mask, mesh, ("x", "y"))
        assert spec(mask) == made.sharding_spec == "{devices=[2,4]0,1,2,3,4,5,6,7}"
        close(mask + 1, row.expand(8, 12) + 1)
        (made * 2).sum().backward()
        close(base.grad, torch.full((1, 12), 16.))


def test_sharded_tensors_are_saved_whole(mesh, tmp_path):
    t = split(mesh, "x", "y")
    torch.save({"t": t}, tmp_path / "saved")
    loaded = torch.load(tmp_path / "saved")["t"]
    assert type(loaded) is torch.Tensor and loaded.device.type == "xla"
    close(loaded, VALUE)


def test_aot_mark_sharding_fake(mesh):
    from torch._subclasses import FakeTensorMode
    with FakeTensorMode():
        made = torch.ops.xla.aot_mark_sharding(torch.empty(3, 4, dtype=torch.bfloat16), str(mesh), "(0, 1)")
        assert made.shape == (3, 4) and made.dtype == torch.bfloat16
        assert xla_sharding.aot_mark_sharding_fake(torch.empty(3, 4), str(mesh), "(0, 1)").shape == (3, 4)
    with pytest.raises(ValueError, match=r"expects str\(\) of a Mesh, but got 'nothing'"):
        torch.ops.xla.aot_mark_sharding(VALUE.to("xla"), "nothing", "(0, 1)")


def test_bindings(mesh):
    t = split(mesh, "x", None)
    sharding = XLAC._get_xla_op_sharding(t)
    assert isinstance(sharding, XLAC.OpSharding) and sharding == mesh.get_op_sharding(("x", None)) and str(sharding) == ROWS
    assert XLAC._get_xla_op_sharding(VALUE.to("xla")) is None
    u = VALUE.to("xla")
    XLAC._xla_mark_sharding(u, sharding)
    assert XLAC._get_xla_sharding_specs([t, u]) == [ROWS, ROWS] and XLAC._get_xla_sharding_type(u) == ShardingType.PARTIAL
    places = XLAC._get_local_shard_replica_and_indices([t, split(mesh, None, ("y", "x"))])
    assert places[0][5] == (1, [slice(4, 8, 1), slice(0, 12, 1)]) and [replica for replica, _ in places[0]] == [0, 1, 2, 3] * 2
    assert [index[1].start for _, index in places[1]] == [0, 4, 8, 12, 2, 6, 10, 12], "the last parts are empty"
    for assignment, kind, text in (([[0, 1], [2, 3], [4, 5], [6, 7]], 3, "{devices=[4,2]0,1,2,3,4,5,6,7}"), ([], 0, "{replicated}")):
        v = VALUE.to("xla")
        assert spec(XLAC._xla_mark_sharding_dynamo_custom_op(v, assignment, [], [], kind)) == text == spec(v)
    v = VALUE.to("xla")
    XLAC._xla_mark_sharding_dynamo_custom_op(v, [], [[0], [1]], [[0, 1, 2, 3], [4, 5, 6, 7]], 5)
    assert spec(v) == ROWS
    for given in ((VALUE, [[0, 1], [2, 3], [4, 5], [6, 7]], [], [], 3, False), (VALUE, XLAC.OpSharding([[0, 1], [2, 3], [4, 5], [6, 7]], [], [], 3))):
        made, = XLAC._xla_tensors_from_aten([VALUE], ["xla:0"], [XLAC.XlaShardingSpec(*given)])
        assert spec(made) == "{devices=[4,2]0,1,2,3,4,5,6,7}"
        close(made, VALUE)
    minibatch = xs.ShardingSpec(mesh, ("x", None), minibatch=True).xla_spec(VALUE)
    assert minibatch.minibatch and str(minibatch.sharding) == ROWS


def test_trees_are_sharded_alike(mesh):
    a = {"p": VALUE.to("xla"), "q": [torch.ones(16, 4).to("xla"), None]}
    b = {"p": VALUE.to("xla") * 2, "q": [split(mesh, "y", None, value=torch.ones(16, 4)), None]}
    xs.mark_sharding(a["p"], mesh, ("x", "y"))
    left, right = xs.shard_as(a, b)
    torch_xla.sync()
    assert left["q"][1] is None and right["q"][1] is None
    assert spec(right["p"]) == "{devices=[2,4]0,1,2,3,4,5,6,7}" and spec(left["q"][0]) == "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"
    close(right["p"], VALUE * 2)
    with pytest.raises(ValueError, match="shard_as: expects two trees of one structure"):
        xs.shard_as([VALUE], [VALUE, VALUE])
    with pytest.raises(ValueError, match="None in both trees"):
        xs.shard_as([None, a["p"]], [VALUE, VALUE])
    with pytest.raises(ValueError, match=r"shard_as of a\[\"p\"\] .*: expects two tensors of one rank, 2, but got one of 1"):
        xs.shard_as(a["p"], torch.ones(3).to("xla"))


@pytest.mark.parametrize("call, message", [
    (lambda w, m: xs.mark_sharding(w, object(), (None, None)), "of w .*: expects a torch_xla.distributed.spmd.Mesh, but got a object"),
    (lambda w, m: xs.mark_sharding(w, None, (None, None)), r"of w .*: expects a mesh, or one from set_global_mesh\(\), but got None"),
    (lambda w, m: xs.mark_sharding([1, 2], m, (None, None)), "mark_sharding: expects a tensor, but got list"),
    (lambda w, m: xs.mark_sharding(w, m, "xy"), "of w .*: expects a tuple with an entry per dim as partition spec, but got 'xy'"),
    (lambda w, m: xs.mark_sharding(w, m, None), "expects a tuple with an entry per dim as partition spec, but got None"),
    (lambda w, m: xs.mark_sharding(t=w, mesh=m, partition_spec=("x",)), r"of w \(float32\[8, 12\]\): expects a partition spec with 2 entries"),
    (lambda w, m: xs.mark_sharding(w, m, (0, -1)), "of w .*: expects axes of the mesh .*, but got -1 for dim 1"),
    (lambda w, m: xs.mark_sharding(w, m, ("x", ("y", "x"))), "every axis of the mesh at most once, but got 'x' for dims 0 and 1"),
    (lambda w, m: xs.mark_sharding(w, m, ("x", (("y",),))), "no tuples in the tuples"),
    (lambda w, m: xs.ShardingSpec(m, ("x", "nope")), r"names\.py:\d+: ShardingSpec: expects axes of the mesh .* but got 'nope' for dim 1"),
    (lambda w, m: xs.ShardingSpec(m, (None, "x"), minibatch=True), "a batch dim .0. that is sharded, because minibatch is set"),
    (lambda w, m: xs.wrap_as_sharded_tensor(w, (2, 4), (0, 5)), "expects axes of the mesh .*, but got 5 for dim 1"),
    (lambda w, m: xs.HybridMesh(ici_mesh_shape=(2, 2), dcn_mesh_shape=(1,)), r"as many sizes between slices as inside \(2\), but got \(1,\)"),
    (lambda w, m: xs.HybridMesh(ici_mesh_shape=(2, 2)), r"expects 1 slices of 4 devices, but got \[4, 4\]"),
])
def test_more_mistakes(mesh, call, message):
    with pytest.raises(ValueError, match=message):
        call(VALUE.to("xla"), mesh)


#===-- XLAShardedTensor ----------------------------------------------------------===


def test_members_of_sharded_tensors(mesh):
    t = split(mesh, "y", "x", value=torch.arange(80.).reshape(10, 8))
    assert t.mesh_shape == (2, 4) and t.partition_spec == (1, 0) and t.sharding_type is ShardingType.TILED
    shards = t.local_shards
    assert [(s.shard_device, s.indices, s.replica_id, tuple(s.unpadded_data.shape)) for s in shards][3] == (
        "CPU:3", [slice(9, 10, 1), slice(0, 4, 1)], 0, (1, 4)) and all(s.data.shape == (3, 4) for s in shards)
    for shard in shards:
        shard.unpadded_data = shard.unpadded_data * 2
    t.load_local_shards_(shards)
    twice = torch.arange(80.).reshape(10, 8) * 2
    close(t, twice)
    before = t.placements
    t.invalidate_spec_cache()
    assert t.placements == before
    xs.mark_sharding(t, mesh, ("x", None))
    assert t.placements != before and t.sharding_spec == ROWS and t.partition_spec == (0, None), "nothing old is remembered"
    assert debugging.construct_v1_sharding_str(t) == ROWS and debugging.construct_v1_sharding_str(VALUE.to("xla")) == ""
    again = xs.wrap_as_sharded_tensor(VALUE.to("xla"), (4, 2), (1, 0))
    assert again.sharding_spec == "{devices=[2,4]0,2,4,6,1,3,5,7}" and xs.unwrap_sharded_tensor(again) is not again
    assert xs.wrap_if_sharded(3) == 3 and isinstance(xs.wrap_if_sharded(again.global_tensor), XLAShardedTensor)
    assert not isinstance(xs.wrap_if_sharded(VALUE.to("xla")), XLAShardedTensor)


#===-- Linear layers --------------------------------------------------------------===


def gradients(net, x):
    net(x).square().sum().backward()
    torch_xla.sync()
    return [p.grad.cpu() for p in net.parameters()] + [x.grad.cpu()]


@pytest.mark.parametrize("how", ["EinsumLinear", "apply_xla_patch_to_nn_linear", "compiled"])
def test_linear_layers_keep_dims_apart(mesh, how):
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4, bias=False))
    x = torch.randn(8, 4, 16)
    if how == "EinsumLinear":
        made = nn.Sequential(xla_sharding.EinsumLinear(16, 32), nn.ReLU(), xla_sharding.EinsumLinear(32, 4, bias=False))
        made.load_state_dict(plain.state_dict())
    else:
        made = xs.apply_xla_patch_to_nn_linear(copy.deepcopy(plain))
        assert made[0].forward.__func__ is xs.xla_patched_nn_linear_forward
    made = made.to("xla")
    split_x = split(mesh, "x", "y", None, value=x).global_tensor
    run = torch.compile(made, backend="openxla") if how == "compiled" else made
    if how != "compiled":
        text = XLAC._get_stablehlo([made(split_x)])
        assert "stablehlo.reshape" not in text, "batch and sequence are merged for no product"
    for got, want in zip(gradients(run, split_x.requires_grad_()), gradients(plain, x.clone().requires_grad_())):
        close(got, want, rtol=1e-3, atol=1e-3)


def test_patched_linear(mesh):
    """XLAPatchedLinear itself: value and gradients with one leading dim, with none, with and without a bias, in half precision under autocast."""
    torch.manual_seed(0)
    weight, bias = torch.randn(4, 12), torch.randn(4)
    for x in (VALUE / 50, VALUE[0] / 50, torch.randn(2, 3, 5, 12)):
        for with_bias in (True, False):
            given = [t for t in (x, weight, bias if with_bias else None) if t is not None]
            on = [t.to("xla").requires_grad_() for t in given]
            host = [t.clone().requires_grad_() for t in given]
            y, want = xs.XLAPatchedLinear.apply(*on), nn.functional.linear(*host)
            close(y, want, rtol=1e-4, atol=1e-4)
            y.sin().sum().backward(), want.sin().sum().backward()
            for got, expected in zip(on, host):
                close(got.grad, expected.grad, rtol=1e-4, atol=1e-4)
    x, w = split(mesh, "x", None).global_tensor, weight.to("xla").requires_grad_()
    with torch.autocast("xla", dtype=torch.bfloat16):
        y = xs.XLAPatchedLinear.apply(x, w)
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    assert w.grad.dtype == torch.float32
    close(w.grad, VALUE.sum(0).expand(4, 12), rtol=1e-2, atol=1e-2)
    x = torch.rand(3, 12, device="xla", requires_grad=True)
    xs.XLAPatchedLinear.apply(x, weight.to("xla")).sum().backward()
    close(x.grad, weight.sum(0).expand(3, 12), rtol=1e-4, atol=1e-4)


#===-- Tools of the implementation that others import ----------------------------===


def test_shard(mesh):
    """What an XLAShard says of tensors whose parts are filled up, and of whole ones."""
    value = torch.arange(1., 61.).reshape(5, 12)
    shards = split(mesh, "y", "x", value=value).local_shards
    assert all(isinstance(shard, xs.XLAShard) for shard in shards) and [shard.shard_device for shard in shards] == [f"CPU:{i}" for i in range(8)]
    # Rows in four parts of two, of which the third has one and the fourth none; columns in two.
    for device, shard in enumerate(shards):
        column, row = divmod(device, 4)
        part = value[2 * row:2 * row + 2, 6 * column:6 * column + 6]
        assert shard.data.shape == (2, 6) and torch.equal(shard.unpadded_data, part) and shard.replica_id == 0
        assert shard.data.sum() == part.sum(), "the rest is zeros"
    made = xs.XLAShard(torch.zeros(2, 6), [slice(4, 5, 1), slice(0, 6, 1)], "CPU:2", 0)
    made.unpadded_data = torch.ones(1, 6)
    assert made.data.tolist() == [[1.] * 6, [0.] * 6]
    everywhere = split(mesh, None, None).local_shards[3]
    assert everywhere.indices is Ellipsis and everywhere.replica_id == 3 and torch.equal(everywhere.unpadded_data, VALUE)


def test_with_xla_turns_spmd_on():
    """In a process of its own, where SPMD is off."""
    import subprocess
    import sys
    code = """
import torch_xla.runtime as xr
from torch_xla.distributed.spmd import api

@api.with_xla
def run(a, *, b):
    'What it says.'
    return a, b, xr.is_spmd()

assert not xr.is_spmd()
assert run(1, b=2) == (1, 2, True) and xr.is_spmd()
assert run(1, b=2) == (1, 2, True), "once more, where it is on"
assert run.__name__ == "run" and run.__doc__ == "What it says."
"""
    off = {name: value for name, value in os.environ.items() if name != "XLA_USE_SPMD"}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200, env=off)


def test_no_dispatch():
    """Within it __torch_dispatch__ of subclasses is not asked."""
    from torch_xla.distributed.spmd.xla_sharded_tensor import no_dispatch

    class Counted(torch.Tensor):
        seen = 0

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            Counted.seen += 1
            with no_dispatch():
                return func(*args, **(kwargs or {}))

    x = torch.ones(3).as_subclass(Counted)
    y = x + 1
    assert Counted.seen == 1 and y.tolist() == [2.] * 3
    seen = Counted.seen
    with no_dispatch():
        x + 1
    assert Counted.seen == seen
    x + 1
    assert Counted.seen == seen + 1


#===-- The environment --------------------------------------------------------------===


@pytest.mark.parametrize("value, in_shardy", [(None, True), ("1", True), ("0", False), ("false", False)])
def test_convert_shlo_to_shardy(mesh, monkeypatch, value, in_shardy):
    if value is not None:
        monkeypatch.setenv("CONVERT_SHLO_TO_SHARDY", value)
    a = split(mesh, "x", None).global_tensor
    y = a @ VALUE.t().contiguous().to("xla")
    xs.mark_sharding(y, mesh, ("x", "y"))
    whole = y + 1
    xs.mark_sharding(whole, mesh, (None, None))
    text = XLAC._get_stablehlo([whole])
    assert ("sdy" in text) == in_shardy and ("mhlo.sharding" in text) != in_shardy and ("@Sharding" in text) != in_shardy
    close(whole, VALUE @ VALUE.t() + 1)
    assert spec(y) == "{devices=[2,4]0,1,2,3,4,5,6,7}" and spec(whole) == "{replicated}"


@pytest.mark.parametrize("value, moves", [(None, 1), ("1", 1), ("0", 4)])
def test_xla_auto_use_group_sharding(monkeypatch, value, moves):
    """Parameters are split all at once, or one by one."""
    if value is not None:
        monkeypatch.setenv("XLA_AUTO_USE_GROUP_SHARDING", value)
    xr.use_spmd(auto=True)
    try:
        values = [torch.randn(4096, 8) for _ in range(4)]
        on_device = [value.to("xla") for value in values]
        met.clear_all()
        close(sum(torch.sin(each) for each in on_device), sum(torch.sin(each) for each in values), rtol=1e-4, atol=1e-4)
        assert met.counter_value("ReshardParameters") == moves
        assert all("devices" in spec(each) for each in on_device)
    finally:
        xr.use_spmd()


#===-- Pictures ------------------------------------------------------------------===


@pytest.mark.parametrize("sharding, cells", [
    ("{replicated}", [(0, 1, 2, 3, 4, 5, 6, 7)]), ("{manual}", [tuple(range(8))]), ("", [tuple(range(8))]), ("{maximal device=3}", [(3,)]),
    ("{devices=[8]7,6,5,4,3,2,1,0}", [(7,), (6,), (5,), (4,), (3,), (2,), (1,), (0,)]), ("{devices=[2,2]<=[2,2]T(1,0)}", [(0,), (2,), (1,), (3,)]),
    ("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", [(0, 1, 2, 3), (4, 5, 6, 7)]), ("{devices=[2,2,2]<=[8]}", [(i,) for i in range(8)]),
])
def test_pictures(sharding, cells, tmp_path, capsys):
    assert list(debugging.parse(sharding).flat) == cells
    debugging.visualize_sharding(sharding, use_color=False)
    printed = capsys.readouterr().out
    for name in ("a.svg", "a.html"):
        assert debugging.visualize_sharding(sharding, file=tmp_path / name) == tmp_path / name
        page = (tmp_path / name).read_text()
        assert page.count("<rect") == len(cells) and page.startswith("<!DOCTYPE html>" if name == "a.html" else "<svg")
        for devices in cells:
            assert f">CPU {list(devices) if len(devices) > 1 else devices[0]}<" in page
    assert all(str(devices[-1]) in printed for devices in cells)


def test_the_backward_barrier_groups_gradients_of_a_module():
    """Those of its parameters and of its input are one group, those of its output another."""
    model = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 1)).to("xla")
    xs.xla_sharding.apply_backward_optimization_barrier(model[2])
    x = torch.randn(2, 8)
    model(x.to("xla")).sum().backward()
    hlo = XLAC._get_xla_tensors_hlo([model[2].weight.grad])
    assert re.search(r"opt-barrier\S* = \(f32\[1,6\]\S*, f32\[1\]\S*, f32\[2,6\]\S*\) opt-barrier\(\(f32\[1,6\]\S*, f32\[1\]\S*, f32\[2,6\]\S*\) %tuple", hlo), hlo
    assert re.search(r"opt-barrier\S* = f32\[2,1\]\S* opt-barrier\(f32\[2,1\]", hlo), hlo
    plain = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 1))
    plain.load_state_dict({name: value.cpu() for name, value in model.state_dict().items()})
    plain(x).sum().backward()
    for ours, theirs in zip(model.parameters(), plain.parameters()):
        close(ours.grad, theirs.grad)


def test_the_environment_says_it_too():
    """Programs ask XLA_USE_SPMD, and processes that this one starts begin in the same way."""
    import subprocess
    import sys
    code = "import torch_xla, torch_xla.runtime as xr; print(xr.is_spmd(), torch_xla._XLAC._xla_get_auto_sharding())"

    def child():
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=200).stdout.split()
    try:
        xr.use_spmd()
        assert os.environ["XLA_USE_SPMD"] == "1" and "XLA_AUTO_SPMD" not in os.environ and child() == ["True", "False"]
        xr.use_spmd(auto=True)
        assert os.environ["XLA_USE_SPMD"] == os.environ["XLA_AUTO_SPMD"] == "1" and child() == ["True", "True"]
        xr.use_spmd(enable=False)
        assert "XLA_USE_SPMD" not in os.environ and "XLA_AUTO_SPMD" not in os.environ and child() == ["False", "False"]
    finally:
        xr.use_spmd()


def test_a_program_that_turns_spmd_on_is_sharded_automatically_where_the_environment_says_so():
    """The program calls use_spmd() itself, as most do, and XLA_AUTO_SPMD=1 is set by whoever runs it."""
    import subprocess
    import sys
    ask = "print(torch_xla._XLAC._xla_get_auto_sharding(), os.environ.get('XLA_AUTO_SPMD')); "
    code = (f"import os, torch_xla, torch_xla.runtime as xr; xr.use_spmd(); {ask}xr.use_spmd(); {ask}"
            f"del os.environ['XLA_AUTO_SPMD']; xr.use_spmd(); {ask}os.environ['XLA_AUTO_SPMD'] = '1'; xr.use_spmd(); {ask}"
            f"xr.use_spmd(enable=False); {ask}xr.use_spmd(auto=True); xr.use_spmd(); {ask}")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=200, env=dict(os.environ, XLA_AUTO_SPMD="1"))
    assert done.stdout.split("\n")[:-1] == ["True 1", "True 1", "False None", "True 1", "False None", "False None"]


def test_an_input_with_another_sharding_is_one_compilation(mesh):
    """A compiled function is compiled once for each way in which its input is split, and for no other reason."""
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 1)).to("xla")
    inputs = [VALUE.to("xla") for _ in range(3)]
    torch_xla.sync()
    compiled = torch.compile(model, backend="openxla")
    want = model(inputs[0]).cpu().detach()
    met.clear_all()
    counts = []
    for x, partition_spec in ((inputs[0], None), (inputs[0], None), (inputs[0], ("y", "x")), (inputs[0], None), (inputs[1], (("x", "y"), None)),
                              (inputs[2], ("y", "x"))):
        if partition_spec is not None:
            xs.mark_sharding(x, mesh, partition_spec)
        made = compiled(x)
        counts.append(met.metric_data("CompileTime")[0])
        close(made, want, rtol=1e-4, atol=1e-4)
    assert counts == [1, 1, 2, 2, 3, 3]
