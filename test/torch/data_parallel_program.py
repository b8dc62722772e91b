# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process of three devices whose threads are replicas (test_data_parallel.py); prints what it finds as JSON."""
import json
import sys

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.data_parallel as dp
import torch_xla.runtime as xr

DEVICES = xm.get_xla_supported_devices()
COUNT = len(DEVICES)


def replicas(work, loader=()):
    """work(rank) in all replicas."""
    return dp.DataParallel(torch.nn.Identity(), device_ids=DEVICES)(lambda model, loader, device, context: work(xm.get_ordinal()), loader)


def tensor(rank, *sizes):
    return (torch.arange(torch.Size(sizes).numel(), dtype=torch.float32).reshape(sizes) + 10 * rank + 1).to(torch_xla.device())


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.BatchNorm1d(16, affine=True, track_running_stats=False, eps=10.), torch.nn.Linear(16, 3))


def batches():
    generator = torch.Generator().manual_seed(2)
    return [(torch.randn(8, 5, generator=generator), torch.randint(0, 3, (8,), generator=generator)) for _ in range(4 * COUNT + 1)]


def training():
    """Losses and parameters of four steps in all replicas, the same again, and of one process with larger batches."""
    def loop(model, loader, device, context):
        optimizer = context.getattr_or("optimizer", lambda: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
        losses = []
        for inputs, labels in loader:
            assert inputs.device == device == torch_xla.device()
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            xm.optimizer_step(optimizer)
            losses.append(loss.detach())
        assert (xr.world_size(), xm.xrt_world_size(), device.index) == (COUNT, COUNT, xr.global_ordinal())
        return [float(loss) for loss in losses], [p.detach().cpu().tolist() for p in model.parameters()]
    parallel = dp.DataParallel(model, device_ids=DEVICES)
    first = parallel(loop, batches())
    compiled = met.counter_value("UncachedCompile")
    parallel(loop, batches())
    alone, rows = model(), batches()
    optimizer = torch.optim.SGD(alone.parameters(), lr=0.1, momentum=0.9)
    for step in range(4):
        optimizer.zero_grad()
        for inputs, labels in rows[step * COUNT:(step + 1) * COUNT]:
            (torch.nn.functional.cross_entropy(alone(inputs), labels) / COUNT).backward()
        optimizer.step()
    return {"steps": [len(losses) for losses, _ in first], "equal": all(weights == first[0][1] for _, weights in first),
            "compiled": met.counter_value("UncachedCompile") - compiled, "outside": [xr.world_size(), str(torch_xla.device())],
            "error": max(float((p - torch.tensor(q)).abs().max()) for p, q in zip(alone.parameters(), first[0][1]))}


def collectives():
    """Every collective beside what it should give."""
    def work(rank):
        every = [tensor(each, 3, 6).cpu() for each in range(COUNT)]
        found, own = {}, tensor(rank, 3, 6)

        def check(name, value, expected):
            found[name] = bool(torch.equal(value.cpu(), expected))
        check("sum", xm.all_reduce("sum", own, scale=0.5), sum(every) * 0.5)
        check("max of a group", xm.all_reduce("max", own, groups=[[0, 2], [1]]), every[2] if rank != 1 else every[1])
        check("mul", xm.all_reduce("mul", own), every[0] * every[1] * every[2])
        narrow = [each.bfloat16() / 3 for each in every]
        check("sum of bf16", xm.all_reduce("sum", own.bfloat16() / 3), sum(each.float() for each in narrow).bfloat16())
        pair = [tensor(rank, 2), tensor(rank, 3).int()]
        xm.all_reduce("sum", pair)
        check("list", pair[0], sum(tensor(each, 2).cpu() for each in range(COUNT)))
        check("list of integers", pair[1], sum(tensor(each, 3).int().cpu() for each in range(COUNT)).int())
        check("gather", xm.all_gather(own, 1), torch.cat(every, 1))
        check("scatter", xm.reduce_scatter("sum", own, 1.0, 1, COUNT), sum(every)[:, 2 * rank:2 * rank + 2])
        check("exchange", xm.all_to_all(own, 1, 0, COUNT), torch.cat([each[:, 2 * rank:2 * rank + 2] for each in every]))
        check("permute", xm.collective_permute(own, [[0, 1], [1, 2]]), torch.zeros(3, 6) if rank == 0 else every[rank - 1])
        xm.collective_broadcast([own], 1)
        check("broadcast", own, every[1])
        found["rendezvous"] = [each.decode() for each in xm.rendezvous("here", str(rank).encode() * rank)] == ["", "1", "22"]
        found["mesh_reduce"] = xm.mesh_reduce("all", rank, sum) == 3
        done = []
        xm.do_on_ordinals(done.append, (rank,), ordinals=(1,))
        found["do_on_ordinals"] = done == ([1] if rank == 1 else [])
        return found
    return replicas(work)


def errors():
    """What the caller is told where replicas call different functions, or fail."""
    def barrier(rank):
        xm.mark_step() if rank else xm.all_reduce("sum", tensor(rank, 2))

    def ended(rank):
        if rank != 1:
            xm.all_reduce("sum", tensor(rank, 2))

    def fails(rank):
        if rank == 2:
            raise KeyError("the third one")
        xm.rendezvous("never")

    def shapes(rank):
        xm.all_reduce("sum", tensor(rank, 2 + rank))

    def channel(rank):
        xm.send(tensor(rank, 2), 1)

    def uneven(rank):  # step barriers are those of who is left
        for _ in range(rank):
            tensor(rank, 2) + 1
            xm.mark_step()
        return rank
    found = {}
    for work in (barrier, ended, fails, shapes, channel):
        try:
            replicas(work)
            found[work.__name__] = "nothing"
        except Exception as error:
            found[work.__name__] = f"{type(error).__name__}: {error}"
    found["uneven"] = replicas(uneven)
    for name, wrong in {"twice": ["xla:0", "xla:0"], "missing": ["xla:0", "xla:7"]}.items():
        try:
            dp.DataParallel(model, device_ids=wrong)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def loader_of_one():
    """A loader that keeps one batch per device, of which four are taken between barriers."""
    def loop(model, loader, device, context):
        return [float(batch.sum()) for batch in loader]
    return dp.DataParallel(torch.nn.Identity(), device_ids=DEVICES, batches_per_execution=4, loader_prefetch_size=1,
                           device_prefetch_size=1)(loop, [torch.full((2,), float(n)) for n in range(20)])


print(json.dumps(globals()[sys.argv[1]]()))
