# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.distributed.tensor over DeviceMesh("xla", ...), of all devices, of some, and of parts of other meshes."""
import copy

import pytest
import torch
import torch.distributed.tensor as dt
import torch.nn as nn
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard

XLAC = torch_xla._XLAC
VALUE = torch.arange(96.).reshape(8, 12)


@pytest.fixture(autouse=True)
def spmd():
    xr.use_spmd()


def close(got, want, **tolerance):
    torch.testing.assert_close(got.detach().cpu(), want.detach(), **tolerance)


def spec(t):
    return XLAC._get_xla_sharding_spec(t)


def held(t):
    """What each device holds."""
    return [shard.unpadded_data for shard in xs.wrap_as_sharded_tensor(t).local_shards]


@pytest.mark.parametrize("devices, placements", [
    ([0, 1, 2, 3], [Shard(0)]), ([4, 5, 6, 7], [Shard(1)]), ([6, 1], [Shard(-1)]), ([3], [Replicate()]),
    ([[0, 2], [4, 6]], [Shard(0), Shard(1)]), ([[0, 2], [4, 6]], [Shard(1), Shard(1)]), ([[7, 5, 3, 1]], [Replicate(), Shard(0)]),
])
def test_some_of_the_devices(devices, placements):
    """They hold the parts that the placements say; the others hold copies of these."""
    mesh = DeviceMesh("xla", torch.tensor(devices))
    made = distribute_tensor(VALUE, mesh, placements)
    close(made, VALUE)
    wanted = tuple(Shard(p.dim % 2) if p.is_shard() else p for p in placements)
    assert made.placements == (wanted if mesh.size() > 1 else (Replicate(),)) and made.device_mesh is mesh
    for place in torch.cartesian_prod(*(torch.arange(size) for size in mesh.shape)).reshape(-1, mesh.ndim).tolist():
        part = VALUE
        for index, size, placement in zip(place, mesh.shape, placements):
            part = part.chunk(size, placement.dim)[index] if placement.is_shard() else part
        assert torch.equal(held(made)[mesh.mesh[tuple(place)].item()], part)
    close(made.t() @ made, VALUE.t() @ VALUE, rtol=1e-5, atol=1e-3)
    again = DTensor.from_local(VALUE.to("xla"), mesh, placements)
    assert spec(again) == made.sharding_spec


def test_parts_of_a_mesh():
    """mesh["tp"] is a dim of the mesh that it comes from: tensors on both meet without being sent."""
    whole = init_device_mesh("xla", (2, 4), mesh_dim_names=("dp", "tp"))
    rows, columns = distribute_tensor(VALUE, whole["dp"], [Shard(0)]), distribute_tensor(VALUE.t().contiguous(), whole["tp"], [Shard(1)])
    assert rows.sharding_spec == distribute_tensor(VALUE, whole, [Shard(0), Replicate()]).sharding_spec
    assert columns.sharding_spec == distribute_tensor(VALUE.t().contiguous(), whole, [Replicate(), Shard(1)]).sharding_spec
    assert rows.placements == (Shard(0),) and rows.device_mesh == whole["dp"] and whole["dp"].mesh.tolist() == [0, 4]
    product = rows @ columns
    assert "all_gather" not in xs.partitioned([product]) and "all_to_all" not in xs.partitioned([product])
    close(product, VALUE @ VALUE.t(), rtol=1e-5, atol=1e-3)
    cube = init_device_mesh("xla", (2, 2, 2), mesh_dim_names=("pp", "dp", "tp"))
    for names, placements, all_three in ((("dp", "tp"), [Shard(0), Shard(1)], [Replicate(), Shard(0), Shard(1)]),
                                         (("pp", "tp"), [Shard(1), Shard(0)], [Shard(1), Replicate(), Shard(0)])):
        assert distribute_tensor(VALUE, cube[names], placements).sharding_spec == distribute_tensor(VALUE, cube, all_three).sharding_spec
    flat = cube["pp", "dp"]._flatten("data")
    assert distribute_tensor(VALUE, flat, [Shard(0)]).sharding_spec == distribute_tensor(VALUE, cube, [Shard(0), Shard(0), Replicate()]).sharding_spec
    assert flat.get_coordinate() == (0,) and flat.get_local_rank(0) == 0
    with pytest.raises(RuntimeError, match="no process groups"):
        whole.get_group("dp")


def test_every_redistribution():
    mesh = init_device_mesh("xla", (2, 4), mesh_dim_names=("a", "b"))
    kinds = [Shard(0), Shard(1), Replicate(), Partial(), Partial("max"), Partial("avg")]
    for first in kinds:
        for second in kinds:
            made = distribute_tensor(VALUE, mesh, [first, second])
            assert made.placements == (first, second)
            close(made.full_tensor(), VALUE)
            moved = made.redistribute(mesh, [second, first])
            assert moved.placements == (second, first)
            close(moved, VALUE)
            assert made.placements == (first, second), "the tensor itself stays"
    assert made.redistribute(placements=[Shard(1), Replicate()]).device_mesh is mesh
    few = DeviceMesh("xla", [0, 1, 2, 3])
    elsewhere = made.redistribute(few, [Shard(0)])
    assert elsewhere.device_mesh is few and elsewhere.placements == (Shard(0),)
    assert made.redistribute(mesh, [Shard(0), Replicate()], forward_dtype=torch.bfloat16).dtype == torch.bfloat16
    strided = distribute_tensor(VALUE, mesh, [_StridedShard(0, split_factor=4), Shard(0)])
    assert [part[0, 0].item() for part in held(strided)] == [0., 24, 48, 72, 12, 36, 60, 84], "along b first"
    assert strided.placements == (_StridedShard(0, split_factor=4), Shard(0))
    close(strided, VALUE)


def test_gradients():
    mesh = init_device_mesh("xla", (8,))
    made = distribute_tensor(nn.Parameter(VALUE.clone()), mesh, [Shard(0)])
    moved = made.redistribute(mesh, [Replicate()], backward_dtype=torch.bfloat16)
    (moved * moved).sum().backward()
    close(made.grad, (2 * VALUE).bfloat16().float())
    for take in (made.to_local, made.full_tensor):
        made.grad = None
        value = take(grad_placements=[Shard(1)])
        value.retain_grad()
        (value * 3).sum().backward()
        assert "devices=[1,8]" in spec(value.grad)
        close(value.grad, torch.full_like(VALUE, 3))


def test_results_know_their_mesh():
    """Of a value that is still to be computed, the compiler is asked."""
    mesh = init_device_mesh("xla", (2, 4), mesh_dim_names=("a", "b"))
    made = distribute_tensor(VALUE, mesh, [Shard(0), Shard(1)])
    for value, placements in ((made + 1, (Shard(0), Shard(1))), (made.t(), (Shard(1), Shard(0))), (made.sum(0), (Replicate(), Shard(0))),
                              (made.sum(), (Replicate(), Replicate()))):
        before = XLAC._compilations()
        assert value.placements == placements and value.device_mesh is mesh
        assert XLAC._compilations() == before and XLAC._check_tensor_need_materialization([value])[0], "nothing is run for that"
    assert value.redistribute(placements=[Replicate(), Replicate()]).device_mesh is mesh
    twin = copy.deepcopy(made)
    assert twin.placements == made.placements and twin.device_mesh is mesh


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_inside_of_compiled_functions():
    mesh = init_device_mesh("xla", (8,))
    for step in (lambda a: a.redistribute(mesh, [Shard(1)]) * 2, lambda a: distribute_tensor(a * 1, mesh, [Shard(1)]) * 2):
        made = torch.compile(step, backend="openxla")(distribute_tensor(torch.ones(16, 8), mesh, [Shard(0)]))
        close(made, torch.full((16, 8), 2.))
        assert "devices=[1,8]" in spec(made)


def test_made_on_a_mesh():
    mesh = init_device_mesh("xla", (8,))
    for make, wanted in ((dt.zeros, torch.zeros), (dt.ones, torch.ones)):
        made = make((16, 4), device_mesh=mesh, placements=[Shard(0)], dtype=torch.float64)
        assert made.placements == (Shard(0),) and made.sharding_spec.startswith("{devices=[8,1]")
        close(made, wanted(16, 4, dtype=torch.float64))
    close(dt.full((16, 4), 3., device_mesh=mesh), torch.full((16, 4), 3.))
    drawn = dt.randn((64, 64), device_mesh=mesh, placements=[Shard(1)], requires_grad=True)
    assert drawn.requires_grad and drawn.placements == (Shard(1),) and 0.9 < drawn.std().item() < 1.1
    assert dt.rand((64,), device_mesh=mesh, placements=[Shard(0)]).min() >= 0


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))


@pytest.mark.parametrize("arguments", [2, 3])
def test_distribute_module(arguments):
    mesh = init_device_mesh("xla", (8,))

    def partition(name, module, mesh):
        for key, parameter in list(module.named_parameters(recurse=False)):
            module.register_parameter(key, nn.Parameter(distribute_tensor(parameter, mesh, [Shard(0)])))
    enter = lambda inputs, mesh: (distribute_tensor(inputs[0], mesh, [Shard(0)]),)
    leave = lambda outputs, mesh: outputs.redistribute(mesh, [Replicate()])
    if arguments == 3:
        enter, leave = (lambda m, i, mesh, f=enter: f(i, mesh)), (lambda m, o, mesh, f=leave: f(o, mesh))
    plain, made = net(), distribute_module(net(), mesh, partition, enter, leave)
    x = torch.randn(16, 16)
    y = made(x)
    assert y.placements == (Replicate(),) and made[0].weight.placements == (Shard(0),)
    close(y, plain(x), rtol=1e-4, atol=1e-5)
    for model, value in ((made, x), (plain, x)):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        model(value).square().sum().backward()
        optimizer.step()
    torch_xla.sync()
    for got, want in zip(made.parameters(), plain.parameters()):
        close(got, want, rtol=1e-3, atol=1e-3)
    assert spec(made[0].weight).startswith("{devices=[8,1]")


def test_parallelize_module():
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    whole = init_device_mesh("xla", (2, 4), mesh_dim_names=("dp", "tp"))
    plain, made = net(), parallelize_module(net(), whole["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    x = torch.randn(4, 16)
    y = made(distribute_tensor(x, whole["dp"], [Shard(0)]).to_local())
    assert "devices=[4,1,2]" in spec(made[0].weight) and "devices=[1,4,2]" in spec(made[2].weight)
    text = xs.partitioned([y])
    assert text.count("stablehlo.all_reduce") == 1 and "all_gather" not in text
    close(y, plain(x), rtol=1e-4, atol=1e-5)
    assert "devices=[2,1,4]" in spec(y), "a mesh of tp says nothing of dp"
    y.square().sum().backward(), plain(x).square().sum().backward()
    for got, want in zip(made.parameters(), plain.parameters()):
        close(got.grad, want.grad, rtol=1e-3, atol=1e-4)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return self.down(torch.relu(self.up(self.norm(x))))


@pytest.mark.parametrize("style", ["sequence", "prepared input", "sharded tensors between"])
def test_parallel_styles(style):
    from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module
    plan = {"sequence": {"norm": SequenceParallel(), "up": ColwiseParallel(input_layouts=Shard(1)), "down": RowwiseParallel(output_layouts=Shard(1))},
            "prepared input": {"norm": PrepareModuleInput(input_layouts=(Replicate(),), desired_input_layouts=(Shard(1),), use_local_output=True),
                               "up": ColwiseParallel(output_layouts=Replicate()), "down": RowwiseParallel(input_layouts=Replicate())},
            "sharded tensors between": {"up": ColwiseParallel(use_local_output=False), "down": RowwiseParallel(use_local_output=False)}}[style]
    torch.manual_seed(0)
    plain = Mlp()
    made = parallelize_module(copy.deepcopy(plain).to("xla"), init_device_mesh("xla", (2, 4), mesh_dim_names=("dp", "tp"))["tp"], plan)
    x = torch.randn(2, 8, 16)
    y = made(x.to("xla"))
    y.square().sum().backward(), plain(x).square().sum().backward()
    close(y, plain(x), rtol=1e-4, atol=1e-5)
    for got, want in zip(made.parameters(), plain.parameters()):
        close(got.grad, want.grad, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mesh, placements, expected", [
    (lambda: DeviceMesh("xla", [0, 3, 5]), [Shard(0)], "a mesh of all 8 devices, or of a number that divides them, but got one of 3"),
    (lambda: DeviceMesh("xla", [0, 11]), [Shard(0)], "device ids from 0 to 7, but got [11], which no process can address"),
    (lambda: DeviceMesh("xla", list(range(9))), [Shard(0)], "a mesh of the 8 devices that there are, but got one of 9"),
    (lambda: DeviceMesh("xla", [0, 0]), [Shard(0)], "every device once, but got [0, 0]"),
    (lambda: DeviceMesh("xla", list(range(8))), [Shard(2)], "dims below 2, but got S(2)"),
    (lambda: DeviceMesh("xla", list(range(8))), [Shard(-3)], "dims below 2, but got S(-3)"),
    (lambda: DeviceMesh("xla", list(range(8))), [Shard(0), Shard(1)], "one placement for each of the mesh's 1 axes"),
    (lambda: DeviceMesh("xla", [[0, 1, 2, 3], [4, 5, 6, 7]]), [_StridedShard(0, split_factor=3), Shard(0)], "a split factor that is the product"),
])
def test_mistakes(mesh, placements, expected):
    weight = VALUE.clone()
    made, moved = (next(number for number, text in enumerate(open(__file__), 1) if text.startswith(start)) for start in
                   ("        distribute_tensor(weight, mesh(), placements)", "        weight.redistribute(mesh(), placements)"))
    with pytest.raises(ValueError) as raised:
        distribute_tensor(weight, mesh(), placements)
    assert str(raised.value).startswith(f"{__file__}:{made}: distribute_tensor of weight (float32[8, 12]): expects ") and expected in str(raised.value)
    weight = distribute_tensor(VALUE, DeviceMesh("xla", list(range(8))), [Shard(0)])
    with pytest.raises(ValueError) as raised:
        weight.redistribute(mesh(), placements)
    assert str(raised.value).startswith(f"{__file__}:{moved}: redistribute of weight (float32[8, 12]): expects ") and expected in str(raised.value)


def test_more_mistakes():
    weight = distribute_tensor(VALUE, DeviceMesh("xla", list(range(8))), [Shard(0)])
    with pytest.raises(ValueError, match=r"redistribute of weight .*: expects placements, but got None"):
        weight.redistribute()
    with pytest.raises(ValueError, match="a DeviceMesh of the device type \"xla\", but got 'cpu'"):
        weight.redistribute(DeviceMesh("cpu", torch.arange(8), _init_backend=False, _rank=0), [Shard(0)])
    with pytest.raises(ValueError, match=r"load_local_shards_ of weight .*: expects 8 shards, one per device of this process, but got 7"):
        weight.load_local_shards_(weight.local_shards[:7])
    with pytest.raises(ValueError, match="placements: expects a sharded tensor"):
        xs.wrap_as_sharded_tensor(torch.ones(2).to("xla")).placements
