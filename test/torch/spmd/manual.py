# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts that each device computes with as they stand, and the collectives that the user writes between them."""
import numpy as np
import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr

XLAC = torch_xla._XLAC
ALL, ROWS = [list(range(8))], [[0, 1, 2, 3], [4, 5, 6, 7]]
VALUE = torch.arange(128.).reshape(16, 8)


@pytest.fixture(autouse=True)
def spmd():
    xr.use_spmd()
    xs.set_global_mesh(xs.Mesh(np.arange(8), (2, 4), ("d", "m")))


def close(got, want, **tolerance):
    torch.testing.assert_close(got.detach().cpu(), want.detach(), **tolerance)


def part(value, *spec):
    return xs.enable_manual_sharding(value, spec).global_tensor


def whole(value, shape, *spec):
    return xs.disable_manual_sharding(value, spec, shape)


@pytest.mark.parametrize("inside, collective, outside, expected", [
    (("m", None), lambda v: xm.all_reduce(xm.REDUCE_SUM, v, groups=ROWS), (None, None), VALUE.reshape(4, 4, 8).sum(0)),
    (("m", None), lambda v: xm.all_reduce(xm.REDUCE_MAX, v, scale=0.5, groups=ROWS), (None, None), VALUE.reshape(4, 4, 8).amax(0) / 2),
    (("m", None), lambda v: xm.all_gather(v, 0, groups=ROWS), (None, None), VALUE),
    ((None, "m"), lambda v: xm.all_gather(v, -1, groups=ROWS), (None, None), VALUE),
    ((None, None), lambda v: xm.reduce_scatter(xm.REDUCE_SUM, v, 1.0, 1, 4, groups=ROWS), (None, "m"), VALUE * 4),
    (("m", None), lambda v: xm.all_to_all(v, 1, 0, 4, groups=ROWS), (None, "m"), VALUE),
    (("m", None), lambda v: xm.collective_permute(v, [[i, i & 4 | i + 1 & 3] for i in range(8)]), ("m", None), VALUE.roll(4, 0)),
    (("m", None), lambda v: xm.collective_permute(v, [[0, 1], [4, 5]]), ("m", None), torch.cat([VALUE[:4] * 0, VALUE[:4], VALUE[:8] * 0])),
], ids="all_reduce maximum all_gather all_gather_columns reduce_scatter all_to_all permute permute_of_one".split())
def test_collectives(inside, collective, outside, expected):
    made = whole(collective(part(VALUE.to("xla"), *inside)), expected.shape, *outside)
    close(made, expected)
    compiled = XLAC._compilations()
    close(whole(collective(part(VALUE.to("xla"), *inside)), expected.shape, *outside), expected)
    assert XLAC._compilations() == compiled, "the same program"


def test_among_collectives_of_the_compiler():
    w = torch.randn(8, 8)
    split = xs.mark_sharding(w.to("xla"), xs.get_global_mesh(), (None, "m")).global_tensor
    product, wanted = VALUE.to("xla") @ split, VALUE @ w
    rows = xs.enable_manual_sharding(product, (("d", "m"), None)).global_tensor
    total, most = [rows.clone()], xm.all_reduce(xm.REDUCE_MAX, rows * 2, groups=ALL)
    xm.all_reduce(xm.REDUCE_SUM, total, groups=ALL)
    half = xm.all_reduce(xm.REDUCE_SUM, total[0] + most, scale=0.5, groups=ROWS)
    made = whole(half, (2, 8), None, None)
    parts = wanted.reshape(8, 2, 8)
    close(made, (parts.sum(0) + (parts * 2).amax(0)) * 2, rtol=1e-4, atol=1e-2)
    close((made.global_tensor.sum() + product.t() @ product), (parts.sum(0) + (parts * 2).amax(0)).sum() * 2 + wanted.t() @ wanted, rtol=1e-3, atol=1)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return xm.all_reduce(xm.REDUCE_SUM, x, groups=ROWS)

    @staticmethod
    def backward(ctx, grad):
        return grad


class _Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return xm.all_reduce(xm.REDUCE_SUM, grad, groups=ROWS)


def test_tensor_parallel_training_by_hand():
    """Megatron's layer as its authors write it: columns, rows, one sum forward and one backward."""
    torch.manual_seed(0)
    plain = [(torch.randn(sizes) / 4).requires_grad_() for sizes in ((8, 32), (32, 8), (4, 8))]
    w1, w2, x = [t.detach().to("xla").requires_grad_() for t in plain]
    inner = torch.relu(_Copy.apply(part(x, None, None)) @ part(w1, None, "m")) @ part(w2, "m", None)
    y = whole(_Sum.apply(inner), (4, 8), None, None)
    wanted = torch.relu(plain[2] @ plain[0]) @ plain[1]
    y.square().sum().backward(), wanted.square().sum().backward()
    text = xs.partitioned([y, x.grad, w1.grad, w2.grad])
    assert text.count("stablehlo.all_reduce") == 2 and "all_gather" not in text
    close(y, wanted, rtol=1e-4, atol=1e-4)
    for got, want in zip((w1, w2, x), plain):
        close(got.grad, want.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("how", ["in a loop", "compiled", "mesh of some devices"])
def test_where_parts_may_be(how):
    """Nothing else in these programs is annotated."""
    from torch_xla.experimental.scan import scan
    mesh = xs.Mesh(np.arange(8)[::-1], (8,), ("r",)) if how != "mesh of some devices" else xs.Mesh([1, 3, 5, 7], (4,), ("r",))
    w = (torch.randn(3, 8, 8) / 3)

    def step(carry, w):
        inner = xs.unwrap_sharded_tensor(xs.enable_manual_sharding(carry @ w, ("r", None), mesh=mesh))
        made = xs.unwrap_sharded_tensor(xs.disable_manual_sharding(torch.tanh(inner) * inner.mean(), ("r", None), (16, 8), mesh=mesh))
        return made, made.sum(0)

    def plain(carry, w):
        parts = [torch.tanh(part) * part.mean() for part in (carry @ w).chunk(mesh.size())]
        return torch.cat(parts)
    start = (VALUE / 100).requires_grad_()
    there = (VALUE / 100).to("xla").requires_grad_()
    if how == "in a loop":
        made, wanted = scan(step, there, w.to("xla"))[0], plain(plain(plain(start, w[0]), w[1]), w[2])
    else:
        run = torch.compile(step, backend="openxla") if how == "compiled" else step
        made, wanted = run(there, w[0].to("xla"))[0], plain(start, w[0])
    close(made, wanted, rtol=1e-4, atol=1e-5)
    made.square().sum().backward(), wanted.square().sum().backward()
    close(there.grad, start.grad, rtol=1e-3, atol=1e-5)


def test_a_loop_whose_body_alone_is_annotated():
    from torch_xla.experimental.scan import scan
    w = torch.randn(3, 8, 8)
    mesh = xs.get_global_mesh()
    made, sums = scan(lambda c, w: (xs.mark_sharding(c @ w, mesh, ("d", "m")).global_tensor, c.sum(0)), VALUE.to("xla"), w.to("xla"))
    assert "mhlo.num_partitions = 8" in xs.partitioned([made])
    torch_xla.sync()
    assert "devices=[2,4]" in XLAC._get_xla_sharding_spec(made)
    close(made, VALUE @ w[0] @ w[1] @ w[2], rtol=1e-3, atol=1e-1)


def test_names_of_pytorch_xla():
    xs.set_global_mesh(xs.Mesh(np.arange(8), (1, 8)))
    x = torch.ones(8, 8).to("xla")
    scattered = XLAC._xla_spmd_reduce_scatter(xm.REDUCE_SUM, part(x, None, None), 1.0, -1, 8, ALL)
    made = whole(scattered, scattered.shape, None, None)
    assert "replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, dimensions={1}" in XLAC._get_xla_tensors_hlo([made])
    close(made, torch.full((8, 1), 8.))
    close(whole(XLAC._xla_spmd_all_reduce(xm.REDUCE_SUM, part(x, None, None), 0.25, ALL), (8, 8), None, None), torch.full((8, 8), 2.))
    value = VALUE.to("xla")
    xs.mark_sharding(value, xs.get_global_mesh(), (1, None))
    rows = XLAC._spmd_full_to_shard_shape(value)
    assert rows.shape == (2, 8) and XLAC._get_xla_sharding_spec(rows) == "{manual}"
    more = rows + 1
    XLAC._mark_manual_sharding(more, XLAC.OpSharding([], [], [], xs.ShardingType.MANUAL))
    close(XLAC._spmd_shard_to_full_shape(more, xs.get_global_mesh().get_op_sharding((1, None)), (16, 8), torch.float32), VALUE + 1)
    with pytest.raises(RuntimeError, match="mark_sharding.* comes first"):
        XLAC._spmd_full_to_shard_shape(x)
    with pytest.raises(RuntimeError, match="expects a tensor that is manually sharded"):
        XLAC._spmd_shard_to_full_shape(x + 1, xs.get_global_mesh().get_op_sharding((1, None)), (64, 8), torch.float32)


@pytest.mark.parametrize("call, message", [
    (lambda x: xs.enable_manual_sharding(x[:15], ("d", None)), r"x\[:15\] .*: expects sizes that are multiples of \[2, 1\].* but got \[15, 8\]"),
    (lambda x: xs.enable_manual_sharding(x, ("d",)), r"of x .*: expects a partition spec with 2 entries, one per dim, but got 1"),
    (lambda x: xs.enable_manual_sharding(x, ("q", None)), r"of x .*: expects axes of the mesh \(\['d', 'm'\]\), but got 'q' for dim 0"),
    (lambda x: xs.disable_manual_sharding(x, ("d", None), (32, 8)), r"of x .*: expects a shard that is computed .*, but got a tensor with data"),
    (lambda x: xs.disable_manual_sharding(part(x, "d", None), ("d", None), (18, 8)), r"expects a shard of \[9, 8\] of a tensor of \[18, 8\], but got \[8, 8\]"),
    (lambda x: xm.all_reduce(xm.REDUCE_SUM, x, groups=[[0, 1]]), r"groups of one size in which each of the 8 devices is named once, but got \[\[0, 1\]\]"),
    (lambda x: xm.all_reduce(xm.REDUCE_SUM, x, groups=[[0, 1, 2], [3, 4, 5, 6, 7]]), "groups of one size"),
    (lambda x: xm.reduce_scatter(xm.REDUCE_SUM, x, 1.0, 0, 8, groups=ROWS), "shard_count is 8, but groups have 4 devices each"),
    (lambda x: xm.reduce_scatter(xm.REDUCE_SUM, x[:3], 1.0, 0, 4, groups=ROWS), r"a dim 0 that 4 replicas divide, but got sizes \(3, 8\)"),
    (lambda x: xm.all_to_all(x[:3], 0, 1, 4, groups=ROWS), r"a dim 0 that 4 devices divide, but got sizes \(3, 8\)"),
    (lambda x: xm.collective_permute(x, [[0, 8]]), "name replicas that do not exist"),
])
def test_mistakes(call, message):
    with pytest.raises(ValueError, match=message):
        call(VALUE.to("xla"))
