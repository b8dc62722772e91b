# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that test_processes.py runs in several processes: `process_programs.py NAME`, under torchrun or with its variables set. Each prints what
it returns as JSON."""
import copy
import functools
import json
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.runtime as xr
import torch_xla.distributed.xla_backend  # noqa: F401
from torch.nn.parallel import DistributedDataParallel as DDP

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16, "u8": torch.uint8, "i8": torch.int8,
          "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "i1": torch.bool, "c64": torch.complex64}


def values(rank, dtype, count=12):
    """What a rank brings: numbers whose sum depends on the order of the terms."""
    generator = torch.Generator().manual_seed(100 + rank)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=generator).bool()
    if dtype.is_complex:
        return torch.complex(torch.randn(count, generator=generator), torch.randn(count, generator=generator))
    if not dtype.is_floating_point:
        return torch.randint(0, 100, (count,), generator=generator).to(dtype)
    return (torch.randn(count, generator=generator) * 10.0 ** torch.randint(-3, 4, (count,), generator=generator)).to(dtype)


def bits(tensor):
    """The bytes of a tensor."""
    tensor = tensor.detach().cpu().contiguous()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1).view(torch.uint8).tolist()


def world():
    """Where this process is."""
    return {"rank": xr.global_ordinal(), "size": xr.world_size(), "local": [xm.get_local_ordinal(), xr.local_process_count()],
            "index": [xr.process_index(), xr.process_count()], "master": [xm.is_master_ordinal(), xm.is_master_ordinal(local=False)],
            "devices": [xr.addressable_device_count(), xr.global_device_count(), xr.local_device_count()]}


def xm_collectives():
    """Every collective of xm, against what it is of the values of all ranks."""
    rank, size = xr.global_ordinal(), xr.world_size()
    all_values = {name: [values(r, dtype) for r in range(size)] for name, dtype in DTYPES.items()}
    reductions = {xm.REDUCE_SUM: torch.add, xm.REDUCE_MUL: torch.mul, xm.REDUCE_MIN: torch.minimum, xm.REDUCE_MAX: torch.maximum}
    wrong = []

    def check(what, actual, expected):
        if bits(actual) != bits(expected):
            wrong.append([what, actual.tolist(), expected.tolist()])

    for name, every in all_values.items():
        own = every[rank].to("xla")
        for kind, combine in reductions.items():
            if (name == "i1") or (name == "c64" and kind != xm.REDUCE_SUM):
                continue
            expected = functools.reduce(combine, every)
            if name in ("bf16", "f16") and kind == xm.REDUCE_SUM:  # added up as f32, and rounded once
                expected = functools.reduce(torch.add, [each.float() for each in every]).to(every[0].dtype)
            check(f"all_reduce {kind} {name}", xm.all_reduce(kind, own), expected)
            check(f"reduce_scatter {kind} {name}", xm.reduce_scatter(kind, own, 1.0, 0, size), expected.chunk(size)[rank])
        check(f"all_gather {name}", xm.all_gather(own), torch.cat(every))
        check(f"all_gather dim 1 {name}", xm.all_gather(own.reshape(3, 4), dim=1), torch.cat([each.reshape(3, 4) for each in every], 1))
        check(f"all_to_all {name}", xm.all_to_all(own, 0, 0, size), torch.cat([each.chunk(size)[rank] for each in every]))
        check(f"all_to_all dims {name}", xm.all_to_all(own.reshape(-1, size), 1, 0, size),
              torch.cat([each.reshape(-1, size)[:, rank:rank + 1] for each in every]))
        check(f"collective_permute {name}", xm.collective_permute(own, [[r, (r + 1) % size] for r in range(size)]), every[(rank - 1) % size])
        shown = own.clone()
        xm.collective_broadcast([shown], root_ordinal=size - 1)
        check(f"collective_broadcast {name}", shown, every[-1])
    for kind, combine in ((xm.REDUCE_AND, torch.logical_and), (xm.REDUCE_OR, torch.logical_or)):
        check(f"all_reduce {kind}", xm.all_reduce(kind, all_values["i1"][rank].to("xla")), functools.reduce(combine, all_values["i1"]))
    floats = all_values["f32"]
    many = [floats[rank].to("xla"), all_values["i32"][rank].to("xla"), (floats[rank] * 2).to("xla")]
    smaller = torch.zeros(24, device="xla")
    xm.reduce_scatter(xm.REDUCE_SUM, torch.ones(12, device="xla"), 1.0, 0, size, output=smaller)
    check("an output of another size", smaller, torch.full((12 // size,), float(size)))
    returned = xm.all_reduce(xm.REDUCE_SUM, many, scale=1.0 / size)
    assert returned is many
    check("list, scaled", many[0], functools.reduce(torch.add, floats) * (1.0 / size))
    check("list, another", many[2], functools.reduce(torch.add, [each * 2 for each in floats]) * (1.0 / size))
    check("number", xm.all_gather(torch.tensor(float(rank), device="xla")), torch.arange(float(size)))
    nobody = xm.collective_permute(floats[rank].to("xla"), [[0, 1]])
    check("who is no target", nobody, floats[0] if rank == 1 else torch.zeros(12))
    output = torch.zeros(12 * size, device="xla")
    assert xm.all_gather(floats[rank].to("xla"), output=output) is output
    check("output=", output, torch.cat(floats))
    buckets = [torch.full((1000,), float(rank + i), device="xla") for i in range(5)]
    for gathered, i in zip(xm.all_gather_bucketized(buckets, bucket_cap_mb=0.005), range(5)):
        check(f"bucket {i}", gathered, torch.cat([torch.full((1000,), float(r + i)) for r in range(size)]))
    if size == 4:
        groups = [[0, 2], [1, 3]]
        own = next(group for group in groups if rank in group)
        check("groups", xm.all_reduce(xm.REDUCE_SUM, floats[rank].to("xla"), groups=groups), functools.reduce(torch.add, [floats[r] for r in own]))
        check("gather of nothing", xm.all_gather(torch.zeros(0, 2, device="xla"), groups=groups), torch.zeros(0, 2))
        check("gather of empty rows", xm.all_gather(torch.zeros(3, 0, device="xla"), groups=groups), torch.zeros(3 * len(own), 0))
        check("gather in groups", xm.all_gather(floats[rank].to("xla"), groups=groups), torch.cat([floats[r] for r in own]))
        uneven = [[0, 1, 2], [3]]
        own = next(group for group in uneven if rank in group)
        check("uneven groups", xm.all_reduce(xm.REDUCE_SUM, floats[rank].to("xla"), groups=uneven), functools.reduce(torch.add, [floats[r] for r in own]))
    return wrong


def meetings():
    """rendezvous, mesh_reduce, do_on_ordinals, save, broadcast_master_param."""
    rank = xr.global_ordinal()
    met_payloads = [payload.decode() for payload in xm.rendezvous("here", b"x" * rank + str(rank).encode())]
    empty = [payload.decode() for payload in xm.rendezvous("there")]
    reduced = xm.mesh_reduce("sum", {"value": torch.full((2,), float(rank), device="xla")}, lambda all_: sum(each["value"] for each in all_)).tolist()
    done = []
    xm.do_on_ordinals(lambda tensor: done.append(tensor.tolist()), (torch.ones(1, device="xla"),), ordinals=(1,))
    torch.manual_seed(rank)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).to("xla")
    xm.broadcast_master_param(model)
    return {"payloads": met_payloads, "empty": empty, "reduced": reduced, "done": done, "weights": [bits(p) for p in model.state_dict().values()]}


def train_with_optimizer_step():
    """20 steps of training by xm.optimizer_step; losses and weights, and how many all_reduces the program of a step has."""
    rank, size = xr.global_ordinal(), xr.world_size()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    generator, losses, reduces = torch.Generator().manual_seed(1), [], 0
    for step in range(20):
        x, y = torch.randn(4 * size, 6, generator=generator), torch.randn(4 * size, 3, generator=generator)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x[rank::size].to("xla")), y[rank::size].to("xla"))
        loss.backward()
        torch_xla.sync()  # the program that train_as_one_process() has: another one may round the loss otherwise
        if step == 3:
            xm.reduce_gradients(optimizer)
            text = torch_xla._XLAC._get_xla_tensors_hlo([p.grad for p in model.parameters()])
            reduces = text.count(" all-reduce(")
            optimizer.step()
        else:
            xm.optimizer_step(optimizer)
        torch_xla.sync()
        losses.append(bits(loss))
    return {"losses": losses, "weights": [bits(p) for p in model.parameters()], "reduces": reduces}


def train_as_one_process():
    """The same, with the gradients of every rank's batch computed one after the other in this process."""
    size = int(os.environ["RANKS"])
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    generator, losses = torch.Generator().manual_seed(1), []
    for _ in range(20):
        x, y = torch.randn(4 * size, 6, generator=generator), torch.randn(4 * size, 3, generator=generator)
        gradients, of_ranks = [], []
        for rank in range(size):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x[rank::size].to("xla")), y[rank::size].to("xla"))
            loss.backward()
            torch_xla.sync()
            gradients.append([p.grad for p in model.parameters()])
            of_ranks.append(bits(loss))
        for index, p in enumerate(model.parameters()):
            p.grad = functools.reduce(torch.add, [each[index] for each in gradients]) * (1.0 / size)
        torch_xla.sync()
        optimizer.step()
        torch_xla.sync()
        losses.append(of_ranks)
    return {"losses": losses, "weights": [bits(p) for p in model.parameters()]}


def group_collectives(size):
    """torch.distributed's collectives, each against what it is."""
    rank, wrong = dist.get_rank(), []

    def check(what, actual, expected):
        if actual.cpu().tolist() != expected:
            wrong.append([what, actual.cpu().tolist(), expected])

    def on(*numbers):
        return torch.tensor(numbers, device="xla")

    for op, expected in ((dist.ReduceOp.SUM, size * (size + 1) / 2), (dist.ReduceOp.AVG, (size + 1) / 2), (dist.ReduceOp.MIN, 1.0), (dist.ReduceOp.MAX, float(size)),
                         (dist.ReduceOp.PRODUCT, float(functools.reduce(lambda a, b: a * b, range(1, size + 1))))):
        x = on(1.0 + rank)
        dist.all_reduce(x, op)
        check(f"all_reduce {op}", x, [expected])
    for op, combine in ((dist.ReduceOp.BAND, int.__and__), (dist.ReduceOp.BOR, int.__or__), (dist.ReduceOp.BXOR, int.__xor__)):
        x = on(5 + rank)
        dist.all_reduce(x, op)
        check(f"all_reduce {op}", x, [functools.reduce(combine, [5 + r for r in range(size)])])
    x = torch.tensor([1.0 + rank])
    dist.all_reduce(x)
    check("all_reduce on the CPU", x, [size * (size + 1) / 2])
    x, y = on(1.0), on(2.0)
    dist.all_reduce_coalesced([x, y])
    check("all_reduce_coalesced", torch.cat([x, y]), [1.0 * size, 2.0 * size])
    x = on(float(rank))
    dist.broadcast(x, src=size - 1)
    check("broadcast", x, [size - 1.0])
    x = on(1.0 + rank)
    dist.reduce(x, dst=1)
    check("reduce", x, [size * (size + 1) / 2 if rank == 1 else 1.0 + rank])
    parts = [torch.zeros(2, device="xla") for _ in range(size)]
    dist.all_gather(parts, on(float(rank), 1.0))
    check("all_gather", torch.cat(parts), [v for r in range(size) for v in (float(r), 1.0)])
    parts = [torch.zeros(r + 1, device="xla") for r in range(size)]
    dist.all_gather(parts, torch.full((rank + 1,), float(rank), device="xla"))
    check("all_gather of several sizes", torch.cat(parts), [float(r) for r in range(size) for _ in range(r + 1)])
    x = torch.zeros(2 * size, device="xla")
    dist.all_gather_into_tensor(x, on(float(rank), 1.0))
    check("all_gather_into_tensor", x, [v for r in range(size) for v in (float(r), 1.0)])
    x = torch.zeros(size, 2, device="xla")
    dist.all_gather_into_tensor(x, on(float(rank), 1.0))
    check("all_gather_into_tensor, stacked", x, [[float(r), 1.0] for r in range(size)])
    x = torch.zeros(2, device="xla")
    dist.reduce_scatter_tensor(x, torch.arange(2.0 * size, device="xla"))
    check("reduce_scatter_tensor", x, [size * 2.0 * rank, size * (2.0 * rank + 1)])
    x = torch.zeros(2, device="xla")
    dist.reduce_scatter(x, [torch.full((2,), float(r), device="xla") for r in range(size)])
    check("reduce_scatter", x, [size * float(rank)] * 2)
    x = torch.zeros(2, device="xla")
    dist.reduce_scatter(x, [torch.arange(2.0 * size, device="xla")])
    check("reduce_scatter of one tensor", x, [size * 2.0 * rank, size * (2.0 * rank + 1)])
    x = torch.zeros(size, device="xla")
    dist.all_to_all_single(x, torch.arange(float(size), device="xla") + 10 * rank)
    check("all_to_all_single", x, [10.0 * r + rank for r in range(size)])
    x = torch.zeros((rank + 1) * size, device="xla")
    given = torch.cat([torch.full((r + 1,), 10.0 * rank + r, device="xla") for r in range(size)])
    dist.all_to_all_single(x, given, [rank + 1] * size, [r + 1 for r in range(size)])
    check("all_to_all_single of several sizes", x, [10.0 * r + rank for r in range(size) for _ in range(rank + 1)])
    parts = [torch.zeros(1, device="xla") for _ in range(size)]
    dist.all_to_all(parts, [on(10.0 * rank + r) for r in range(size)])
    check("all_to_all", torch.cat(parts), [10.0 * r + rank for r in range(size)])
    parts = [torch.zeros(1, device="xla") for _ in range(size)] if rank == 1 else None
    dist.gather(on(float(rank)), parts, dst=1)
    if rank == 1:
        check("gather", torch.cat(parts), [float(r) for r in range(size)])
    x = torch.zeros(1, device="xla")
    dist.scatter(x, [on(float(r)) for r in range(size)] if rank == 0 else None, src=0)
    check("scatter", x, [float(rank)])
    if rank == 0:
        dist.send(on(5.0), 1)
    if rank == 1:
        dist.recv(x, 0)
        check("recv", x, [5.0])
    ring = [dist.P2POp(dist.irecv, x, (rank - 1) % size), dist.P2POp(dist.isend, on(float(rank)), (rank + 1) % size)]
    for work in dist.batch_isend_irecv(ring):
        work.wait()
    check("batch_isend_irecv", x, [float((rank - 1) % size)])
    received = dist.irecv(x, (rank + 1) % size)
    dist.isend(on(rank + 0.5), (rank - 1) % size).wait()
    received.wait()
    check("irecv", x, [(rank + 1) % size + 0.5])
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in range(size)]
    objects = [["something"] if rank == 0 else None]
    dist.broadcast_object_list(objects, src=0)
    assert objects == [["something"]]
    pair = dist.new_group([0, size - 1])
    if rank in (0, size - 1):  # the others take no part
        x = on(1.0 + rank)
        dist.all_reduce(x, group=pair)
        check("all_reduce of two", x, [1.0 + size])
        x = torch.zeros(2, device="xla")
        dist.all_gather_into_tensor(x, on(float(rank)), group=pair)
        check("all_gather of two", x, [0.0, size - 1.0])
        x = torch.zeros(1, device="xla")
        dist.reduce_scatter_tensor(x, on(1.0, 2.0), group=pair)
        check("reduce_scatter of two", x, [2.0 if rank == 0 else 4.0])
        dist.broadcast(x, src=size - 1, group=pair)
        check("broadcast of two", x, [4.0])
    import torch.distributed._functional_collectives as functional
    check("functional all_reduce", functional.all_reduce(on(1.0 + rank), "sum", dist.group.WORLD), [size * (size + 1) / 2])
    check("functional all_gather", functional.all_gather_tensor(on(1.0 + rank), 0, dist.group.WORLD), [1.0 + r for r in range(size)])
    check("functional reduce_scatter", functional.reduce_scatter_tensor(torch.arange(float(size), device="xla"), "sum", 0, dist.group.WORLD), [float(size * rank)])
    check("functional all_to_all", functional.all_to_all_single(torch.arange(float(size), device="xla") + 10 * rank, None, None, dist.group.WORLD),
          [10.0 * r + rank for r in range(size)])
    future = dist.all_reduce(on(1.0), async_op=True).get_future()
    check("future", future.wait()[0], [float(size)])
    dist.barrier()
    return wrong


def c10d():
    """group_collectives() of the group that BACKEND and INIT name."""
    dist.init_process_group(os.environ.get("BACKEND", "xla"), init_method=os.environ.get("INIT", "xla://"))
    wrong = group_collectives(dist.get_world_size())
    dist.destroy_process_group()
    return wrong


def of_arguments():
    """A world that torch.distributed is told of by arguments, not by variables."""
    rank, size = int(sys.argv[2]), int(sys.argv[3])
    dist.init_process_group("xla", init_method=f"tcp://localhost:{sys.argv[4]}", rank=rank, world_size=size)
    x = torch.tensor([1.0 + rank], device="xla")
    dist.all_reduce(x)
    return [x.item(), xr.global_ordinal(), xr.world_size()]


def initializing():
    """What init_process_group() says to arguments that cannot be, and that it does without a backend's name, with device_id= and again after a destroyed
    group, whose addresses are still in the store."""
    index, count = xr.process_index(), xr.process_count()
    said = []
    for arguments in (dict(world_size=3, rank=index), dict(init_method="xla://", world_size=1), dict(rank=1 - index, world_size=count),
                      dict(device_id=torch.device("xla", 1)), dict(device_id=1)):
        try:
            dist.init_process_group("xla", **arguments)
        except ValueError as error:
            said.append(str(error))
    for arguments in (dict(), dict(device_id=torch.device("xla", 0)), dict(device_id=0), dict(backend="cpu:gloo,xla:xla", init_method="xla://"),
                      dict(backend="cpu:gloo,xla:xla", init_method="xla://", rank=index, world_size=count, device_id=torch.device("xla"))):
        dist.init_process_group(**{"init_method": "xla://", **arguments})
        for device in ("xla", "cpu"):
            x = torch.tensor([1.0 + index], device=device)
            dist.all_reduce(x)
            dist.all_reduce(x, group=dist.new_group([0, 1]))
            said.append(x.item())
        dist.destroy_process_group()
    return said


def ddp():
    """Models trained with every kind of DistributedDataParallel, against training on the CPU with the whole batch."""
    dist.init_process_group(os.environ.get("BACKEND", "xla"), init_method="xla://")
    rank, size = dist.get_rank(), dist.get_world_size()
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
    from torch.distributed.optim import ZeroRedundancyOptimizer

    def train(options, hook=None, optimizer=None, norm=False, accumulates=False, rtol=1e-4, atol=1e-5):
        torch.manual_seed(0)
        reference = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8) if norm else torch.nn.Identity(), torch.nn.Tanh(), torch.nn.Linear(8, 3))
        net = copy.deepcopy(reference)
        model = DDP((torch.nn.SyncBatchNorm.convert_sync_batchnorm(net) if norm else net).to("xla"), **options)
        if hook:
            model.register_comm_hook(None, hook)
        made = {torch.optim.SGD: lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9), torch.optim.Adam: torch.optim.Adam}
        kind = torch.optim.Adam if optimizer else torch.optim.SGD
        own = optimizer(model.parameters()) if optimizer else made[kind](model.parameters())
        its = made[kind](reference.parameters())
        generator = torch.Generator().manual_seed(1)
        for _ in range(4):
            x, y = torch.randn(4 * size, 6, generator=generator), torch.randn(4 * size, 3, generator=generator)
            xs, ys = x[rank * 4:rank * 4 + 4].to("xla"), y[rank * 4:rank * 4 + 4].to("xla")
            own.zero_grad()
            if accumulates:
                with model.no_sync():
                    torch.nn.functional.mse_loss(model(xs), ys).backward()
            torch.nn.functional.mse_loss(model(xs), ys).backward()
            own.step()
            torch_xla.sync()
            its.zero_grad()
            (torch.nn.functional.mse_loss(reference(x), y) * (2 if accumulates else 1)).backward()
            its.step()
        for a, b in zip(model.parameters(), reference.parameters()):
            torch.testing.assert_close(a.detach().cpu(), b.detach(), rtol=rtol, atol=atol)
        for a, b in zip(model.buffers(), reference.buffers()):
            torch.testing.assert_close(a.cpu(), b, rtol=rtol, atol=atol)

    train({})
    train({"static_graph": True})
    train({"gradient_as_bucket_view": True})
    train({"find_unused_parameters": True})
    train({"bucket_cap_mb": 0.0001})
    train({}, accumulates=True)
    train({}, hook=default_hooks.allreduce_hook)
    train({}, hook=default_hooks.fp16_compress_hook, rtol=2e-2, atol=1e-2)
    train({}, optimizer=lambda parameters: ZeroRedundancyOptimizer(parameters, torch.optim.Adam))
    train({}, norm=True)
    # Uneven batches: the rank that is done takes part in the collectives of the others.
    torch.manual_seed(0)
    model = DDP(torch.nn.Linear(2, 1).to("xla"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with model.join():
        for _ in range(2 + rank):
            optimizer.zero_grad()
            model(torch.ones(1, 2, device="xla")).sum().backward()
            optimizer.step()
            torch_xla.sync()
    weights = [bits(p) for p in model.parameters()]
    dist.barrier()
    dist.destroy_process_group()
    return {"joined": weights, "fallbacks": met.executed_fallback_ops()}


def collectives_of_different_graphs():
    """Each rank computes and looks at other things between the same collectives."""
    rank = xr.global_ordinal()
    x = torch.full((4,), 1.0 + rank, device="xla")
    first = xm.all_reduce(xm.REDUCE_SUM, x)
    extra = (x * 3).sum() if rank == 0 else None
    second = xm.all_reduce(xm.REDUCE_SUM, x * 2)
    seen = second.tolist() if rank == 0 else None  # needs the second one only, and runs the first as well
    third = xm.all_reduce(xm.REDUCE_MAX, first + second)
    xm.all_reduce(xm.REDUCE_SUM, torch.ones(4, device="xla") * 7)  # nobody looks at it
    fourth = xm.all_reduce(xm.REDUCE_SUM, torch.ones(4, device="xla"))
    torch_xla.sync()
    return [first.tolist(), second.tolist(), third.tolist(), fourth.tolist(), seen, extra.item() if rank == 0 else None]


def alone_within():
    """A rank that never meets the others, and one that does all by itself: neither waits."""
    x = torch.ones(3, device="xla") * xr.global_ordinal()
    return x.tolist()


def compiled():
    """torch.compile of functions with collectives: of xm as one graph for any sizes, of torch.distributed without and with a process group."""
    rank, size = xr.global_ordinal(), xr.world_size()

    def exchanged(x):
        return (xm.all_gather(x, dim=0), xm.all_reduce(xm.REDUCE_SUM, x * 2), xm.reduce_scatter(xm.REDUCE_SUM, x, 1.0, 0, size), xm.all_to_all(x, 0, 0, size),
                xm.collective_permute(x, [[r, (r + 1) % size] for r in range(size)]), torch.ops._c10d_functional.broadcast(x, 1, "default"))

    for dynamic in (False, True):
        torch._dynamo.reset()
        step = torch.compile(exchanged, backend="openxla", fullgraph=True, dynamic=dynamic)
        for count in (2 * size, 4 * size):
            x = torch.arange(float(count), device="xla") + 10 * rank
            for actual, expected in zip(step(x), exchanged(x)):
                assert actual.tolist() == expected.tolist(), (dynamic, count, actual, expected)
    assert torch.ops._c10d_functional.all_reduce(torch.ones(2, device="xla"), "avg", "default").tolist() == [1.0, 1.0]
    dist.init_process_group("xla", init_method="xla://")
    import torch.distributed._functional_collectives as functional

    @torch.compile(backend="openxla")
    def step(x):
        y = functional.all_reduce(x * 2, "sum", dist.group.WORLD)
        return y + functional.all_gather_tensor(x, 0, dist.group.WORLD).sum()

    x = torch.full((3,), 1.0 + dist.get_rank(), device="xla")
    made = [step(x).tolist() for _ in range(2)]

    @torch.compile(backend="openxla")
    def gathered(x):
        whole, parts = torch.empty(3 * size), [torch.empty(3) for _ in range(size)]  # on the CPU
        dist.all_gather_into_tensor(whole, x)
        dist.all_gather(parts, x)
        return whole, torch.cat(parts)

    for each in gathered(x):
        assert each.device.type == "cpu" and each.tolist() == [1.0 + r for r in range(size) for _ in range(3)], each
    dist.destroy_process_group()
    return made


def differentiable():
    """Collectives of torch_xla.core.functions: gradients are those of the own loss."""
    import torch_xla.core.functions as xf
    rank, size = xr.global_ordinal(), xr.world_size()
    made = []
    for function in (lambda x: xf.all_reduce(xm.REDUCE_SUM, x, scale=0.5), lambda x: xf.all_reduce(xm.REDUCE_MAX, x), lambda x: xf.all_reduce(xm.REDUCE_MUL, x), xf.all_gather):
        x = torch.full((2,), 1.0 + rank, device="xla", requires_grad=True)
        (function(x) * (rank + 1)).sum().backward()
        made.append(x.grad.tolist()[0])
    return made + [xf.distributed_mm(torch.full((2, 3), 1.0 + rank, device="xla"), torch.ones(3 * size, 4, device="xla"), split=2).tolist()[1][3]]


def device_mesh():
    """Meshes of processes: DTensor, tensor parallel layers, DistributedDataParallel on a part of a mesh."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    dist.init_process_group("xla", init_method="xla://")
    rank, size = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("xla", (size,))
    assert (mesh.get_local_rank(), mesh.get_group().size()) == (rank, size)
    x = torch.arange(8.0 * size).reshape(4 * size, 2)
    split = distribute_tensor(x.to("xla"), mesh, [Shard(0)])
    assert type(split) is DTensor and split.to_local().tolist() == x.chunk(size)[rank].tolist()
    assert split.full_tensor().tolist() == split.redistribute(mesh, [Replicate()]).to_local().tolist() == x.tolist()
    assert (split * 2).sum().full_tensor().item() == x.sum() * 2
    assert DTensor.from_local(torch.ones(2, device="xla"), mesh, [Shard(0)]).shape == (2 * size,)
    torch.manual_seed(0)
    reference = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    model = parallelize_module(copy.deepcopy(reference).to("xla"), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    inputs = torch.randn(3, 4)
    outputs, expected = model(inputs.to("xla")), reference(inputs)
    torch.testing.assert_close(outputs.detach().cpu(), expected.detach(), rtol=1e-4, atol=1e-5)
    outputs.sum().backward(), expected.sum().backward()
    for own, its in zip(model.parameters(), reference.parameters()):
        torch.testing.assert_close(own.grad.full_tensor().cpu(), its.grad, rtol=1e-4, atol=1e-5)
    whole = distribute_module(torch.nn.Linear(2, 2).to("xla"), mesh)
    assert all(type(p.data) is DTensor for p in whole.parameters())
    grid = init_device_mesh("xla", (1, size), mesh_dim_names=("rows", "columns"))
    ddp = DDP(torch.nn.Linear(2, 1).to("xla"), device_mesh=grid["columns"])
    ddp(torch.full((1, 2), float(rank), device="xla")).sum().backward()
    return [grid["columns"].get_local_rank(), ddp.module.weight.grad.tolist()]


def only_some_meet():
    """The first collective is one of a part of the processes; the others do something else meanwhile."""
    dist.init_process_group("xla", init_method="xla://")
    rank, pair = dist.get_rank(), dist.new_group([1, 2])
    begin = time.monotonic()
    if rank == 0:
        time.sleep(4)
        return [0.0, 0.0]
    x = torch.full((1,), float(rank), device="xla")
    dist.all_reduce(x, group=pair)
    return [x.item(), time.monotonic() - begin]


def one_never_joins():
    """Rank 1 ends without a collective, for which the others come."""
    if xr.global_ordinal() == 1:
        return "gone"
    try:
        xm.all_reduce(xm.REDUCE_SUM, torch.ones(1, device="xla"))
    except Exception as error:
        return str(error)


def worker_ends():
    """The sum of ranks. Rank 1 has read data in a process of its own, started anew with its environment, before it joins the others."""
    rank = xr.global_ordinal()
    if rank == 1:
        loader = torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2, num_workers=1, multiprocessing_context="spawn")
        assert [part.tolist() for part in loader] == [[0, 1], [2, 3]]
    return xm.all_reduce(xm.REDUCE_SUM, torch.tensor(float(rank), device="xla")).item()


def divergent():
    """The ranks do different things: ARGUMENT says what."""
    rank, what = xr.global_ordinal(), os.environ["ARGUMENT"]
    x = torch.ones(4, device="xla")
    xm.all_reduce(xm.REDUCE_SUM, x).tolist()
    try:
        if what == "operation":
            made = xm.all_reduce(xm.REDUCE_SUM, x) if rank == 0 else xm.all_gather(x)
        elif what == "reduction":
            made = xm.all_reduce(xm.REDUCE_SUM if rank == 0 else xm.REDUCE_MAX, x)
        elif what == "shape":
            made = xm.all_reduce(xm.REDUCE_SUM, x if rank == 0 else torch.ones(5, device="xla"))
        elif what == "type":
            made = xm.all_reduce(xm.REDUCE_SUM, x if rank == 0 else x.int())
        elif what == "order":
            a, b = (lambda: xm.all_reduce(xm.REDUCE_SUM, x)), (lambda: xm.all_gather(x))
            first = a() if rank == 0 else b()
            made = b() if rank == 0 else a()
            first.tolist()
        elif what == "missing":
            made = xm.all_reduce(xm.REDUCE_SUM, x) if rank == 0 else x
        elif what == "root":
            xm.collective_broadcast([x], root_ordinal=rank)
            made = x
        elif what == "group":  # two of the same ranks
            dist.init_process_group("xla", init_method="xla://")
            groups = [dist.new_group([0, 1]) for _ in range(2)]
            made = torch.ones(4, device="xla")
            dist.all_reduce(x, group=groups[rank])
            dist.all_reduce(made, group=groups[1 - rank])
        made.tolist()
        return "nothing"
    except Exception as error:
        return str(error)


def first_lines():
    """A program whose lines stand in the cache..."""
    return xm.all_reduce(xm.REDUCE_SUM, torch.ones(3).to("xla")).tolist()


def other_lines():
    """...and another one that finds it there, but differs on rank 1."""
    try:
        return xm.all_reduce(xm.REDUCE_SUM, torch.ones(3 + 2 * xr.global_ordinal()).to("xla")).tolist()
    except Exception as error:
        return str(error)


def forever():
    """All ranks meet until something happens; says when the first meeting is over, and what happened how long after the last one."""
    x, said = torch.ones(4, device="xla"), False
    while True:
        begin = time.monotonic()
        try:
            xm.all_reduce(xm.REDUCE_SUM, x).tolist()
        except Exception as error:
            return [str(error), time.monotonic() - begin]
        if not said:
            said = True
            open(f"{os.environ['ARGUMENT']}.{xr.global_ordinal()}", "w").close()
        time.sleep(0.01)


def large_collectives():
    """Messages from some KB to some MB, and several under way at once; what was wrong."""
    rank, size, wrong = xr.global_ordinal(), xr.world_size(), []
    for count in (8191, 8192, 1 << 20, 3 << 20):
        x = torch.arange(count, dtype=torch.float32) + rank
        each = [torch.arange(count, dtype=torch.float32) + other for other in range(size)]
        total, both = xm.all_reduce(xm.REDUCE_SUM, x.to("xla")), xm.all_gather(x.to("xla"))
        parts = xm.all_to_all(torch.stack([x] * size).to("xla"), 0, 0, size)
        total, both, parts = total.cpu(), both.cpu(), parts.cpu()
        if not torch.equal(total, sum(each[1:], each[0])) or not torch.equal(both, torch.cat(each)) or not torch.equal(parts, torch.stack(each)):
            wrong.append(count)
    return wrong


def carrier_error():
    try:
        xm.all_reduce(xm.REDUCE_SUM, torch.ones(1, device="xla")).tolist()
        return ["a value"]
    except RuntimeError as error:
        return [str(error)]


def world_that_meets():
    """Comes late, if the environment says so; the error, and how long it took."""
    time.sleep(float(os.environ["DELAY"]))
    print("meets the others", file=sys.stderr, flush=True)
    began = time.monotonic()
    try:
        return [xm.all_reduce(xm.REDUCE_SUM, torch.ones(3, device="xla")).tolist(), 0]
    except RuntimeError as error:
        return [str(error), time.monotonic() - began]


def forks():
    """Children of a process of the job, which end in several ways: they are no members of it."""
    import io
    x = torch.ones(3, device="xla")
    xm.all_reduce(xm.REDUCE_SUM, x).tolist()
    said = []
    for way in ("exit", "raise", "collective"):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            if way == "raise":
                sys.stderr = io.StringIO()
                raise ValueError("the child is a fish")
            if way == "collective":
                try:
                    xm.all_reduce(xm.REDUCE_SUM, torch.ones(3, device="xla"))[0].item()
                except RuntimeError as error:
                    os.write(writer, str(error).encode())
            sys.stdout = io.StringIO()
            sys.exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with open(reader, "rb") as answer:
            said.append(answer.read().decode())
        assert xm.all_reduce(xm.REDUCE_SUM, x).tolist() == [2.0] * 3
    return said


def interrupted():
    """Ctrl-C in rank 0 while it waits, for a process to connect or for a collective, as the environment says; how long it took."""
    is_first = xr.process_index() == 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it starts in the background
    if os.environ["WHILE"] == "meeting":
        xm.all_reduce(xm.REDUCE_SUM, torch.ones(3, device="xla")).tolist()
    if not is_first:
        time.sleep(6)
        os._exit(0)
    began = time.monotonic()
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        xm.all_reduce(xm.REDUCE_SUM, torch.ones(3, device="xla")).tolist()
        return ["a value", 0]
    except KeyboardInterrupt:
        return ["KeyboardInterrupt", time.monotonic() - began]


def timeouts():
    """Rank 1 does not come: how long the others wait for it, in Work.wait(), in a barrier with a timeout and in one of several groups of the same ranks,
    each of which has a timeout of its own."""
    import datetime
    dist.init_process_group("xla", init_method="xla://", timeout=datetime.timedelta(seconds=60))
    impatient = dist.new_group([0, 1], timeout=datetime.timedelta(seconds=2))
    patient = dist.new_group([0, 1], timeout=datetime.timedelta(seconds=30))
    dist.all_reduce(x := torch.ones(3, device="xla"), group=impatient)
    dist.all_reduce(torch.ones(3, device="xla"), group=patient)
    said = [x.tolist()]
    if dist.get_rank() == 0:
        of_group = {"all_reduce": lambda: (dist.all_reduce(x, group=impatient), x.tolist()), "recv": lambda: (dist.recv(x, src=1, group=impatient), x.tolist()),
                    "broadcast": lambda: (dist.broadcast(x, src=1, group=impatient), x.tolist())}
        limits = (lambda: dist.all_reduce(x, async_op=True, group=impatient).wait(datetime.timedelta(seconds=0.5)),
                  lambda: dist.barrier(impatient, timeout=datetime.timedelta(seconds=0.25)))
        what = os.environ["ARGUMENT"]
        for wait in (*limits * (what == "all_reduce"), of_group[what]):
            began = time.monotonic()
            try:
                wait()
                said.append("a value")
            except RuntimeError as error:
                said.append([str(error), time.monotonic() - began])
    else:
        time.sleep(5)
    return said


def victim():
    """Rank 1 ends, in the way that ARGUMENT says, while the others wait in a collective."""
    rank, how = xr.global_ordinal(), os.environ["ARGUMENT"]
    count = int(os.environ.get("ELEMENTS", "4"))
    x = torch.ones(count, device="xla")
    xm.all_reduce(xm.REDUCE_SUM, x)[0].item()
    if rank == int(os.environ.get("VICTIM", "1")):
        time.sleep(0.3)  # the others have their first result by then, and wait for the second one
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if how == "exit":
            sys.exit(0)
        raise ValueError("the learning rate is a fish")
    begin = time.monotonic()
    try:
        xm.all_reduce(xm.REDUCE_SUM, x)[0].item()
        return "nothing"
    except Exception as error:
        return [str(error), time.monotonic() - begin]


def unread_steps():
    """Rank 0 steps on and reads nothing, after rank 1 has left; what a step says."""
    x = torch.ones(4, device="xla")
    for step in range(200):
        if xr.global_ordinal() == 1 and step == 3:
            return "left"
        x = xm.all_reduce(xm.REDUCE_SUM, x, scale=0.5)
        try:
            torch_xla.sync()
        except RuntimeError as error:
            return str(error)
        time.sleep(0.05)
    return "nothing"


def unread_end():
    """Rank 0 ends after a step that rank 1 takes no part in, and reads nothing."""
    x = xm.all_reduce(xm.REDUCE_SUM, torch.ones(4, device="xla"))
    torch_xla.sync()
    if xr.global_ordinal() == 0:
        x = xm.all_reduce(xm.REDUCE_SUM, x)
        torch_xla.sync()
    return "end"


def joins():
    """A sum of all processes, or why there is none, and the seconds until then. Rank 1 comes once the file that ARGUMENT names is there, if it names one."""
    rank, path = int(os.environ["RANK"]), os.environ.get("ARGUMENT")
    while rank and path and not os.path.exists(path):
        time.sleep(0.05)
    begin = time.monotonic()
    try:
        result = xm.all_reduce(xm.REDUCE_SUM, torch.ones(2, device="xla")).tolist()
    except RuntimeError as error:
        result = str(error)
    return [result, time.monotonic() - begin]


def late():
    """Rank 1 comes later than others are silent about."""
    x = torch.ones(1, device="xla")
    xm.all_reduce(xm.REDUCE_SUM, x).tolist()
    time.sleep(7 * xr.global_ordinal())
    return xm.all_reduce(xm.REDUCE_SUM, x).tolist()


def waits_elsewhere():
    """Rank 0 records a collective and waits for something else, which rank 1 does when it has read the collective's value."""
    path, rank = os.environ["ARGUMENT"], xr.global_ordinal()
    x = xm.all_reduce(xm.REDUCE_SUM, torch.full((2,), 1.0 + rank, device="xla"))
    if rank == 1:
        value = x.tolist()
        open(path, "w").close()
    else:
        end = time.monotonic() + 30
        while not os.path.exists(path):
            if time.monotonic() > end:
                return "waited in vain"
            time.sleep(0.05)
        value = x.tolist()
    return value


def victim_at_work():
    """Rank VICTIM ends, in the way that ARGUMENT says, while it does what WHEN says; the others meet all the time."""
    rank, how, when = xr.global_ordinal(), os.environ["ARGUMENT"], os.environ["WHEN"]
    x = torch.ones((16 << 20) if when == "large" else 4, device="xla")
    xm.all_reduce(xm.REDUCE_SUM, x)[0].item()

    def end():
        time.sleep(0.2)
        os.kill(os.getpid(), {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}[how]) if how != "exit" else os._exit(0)

    if rank == int(os.environ["VICTIM"]):
        threading.Thread(target=end, daemon=True).start()
        if when == "compiling":
            y = torch.ones(64, 64, device="xla")
            for i in range(400):
                y = torch.tanh(y @ y) + i
            y.sum().item()
        elif when == "saving":
            while True:
                torch.save(x.cpu().repeat(1 << 20), os.devnull)
    last = begin = time.monotonic()
    try:
        while True:
            begin = time.monotonic()
            xm.all_reduce(xm.REDUCE_SUM, x)[0].item()
            last = time.monotonic()
            if last - begin > 60:
                return "nothing"
    except Exception as error:
        return [str(error), time.monotonic() - last]


def counts_compilations():
    """How many programs this process compiled, with the cache of initialize_cache()."""
    train_with_optimizer_step()
    return met.counter_value("PersistentCacheMiss") or 0


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()), flush=True)
