# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_spmd_processes.py runs in several processes, each with CPU_NUM_DEVICES devices: `python spmd_process_programs.py NAME`. The last line
of the output is what the function returns, as JSON. It does not depend on how many processes the devices are spread over, unless its name ends in
"_here"."""
import hashlib
import json
import os
import signal
import sys
import threading
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch import nn
from torch_xla.experimental.distributed_checkpoint import CheckpointManager, SPMDLoadPlanner, SPMDSavePlanner, prime_optimizer

xr.use_spmd()


def digest(tensor):
    return hashlib.sha256(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()[:16]


def grid(*sizes):
    """All devices; None stands for what is left."""
    count = xr.global_runtime_device_count()
    rest = count // int(np.prod([size for size in sizes if size], dtype=int))
    return xs.Mesh(np.arange(count), tuple(size or rest for size in sizes), ("data", "model")[:len(sizes)])


def outcome_of(function):
    """[what the function returns, as text, or the text of its error]"""
    try:
        return [str(function())]
    except RuntimeError as error:
        return [str(error)]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(16, 32), nn.Linear(32, 8), nn.LayerNorm(32)

    def forward(self, x):
        return self.second(F.dropout(self.norm(F.relu(self.first(x))), 0.1, self.training))


def train(mesh, weights):
    """20 steps; losses and parameters, to the last bit."""
    torch.manual_seed(0)
    torch_xla.manual_seed(7)
    net = Net().to("xla")
    for parameter, spec in weights(net).items():
        xs.mark_sharding(parameter, mesh, spec)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    generator, losses = torch.Generator().manual_seed(1), []
    for _ in range(20):
        x = torch.randn(16, 16, generator=generator)
        x, target = x.to("xla"), x[:, :8].argmax(1).to("xla")
        if "data" in mesh.axis_names:
            xs.mark_sharding(x, mesh, ("data", None))
            xs.mark_sharding(target, mesh, ("data",))
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        losses.append(loss.item().hex())
    return {"losses": losses, "parameters": {name: digest(parameter) for name, parameter in net.named_parameters()},
            "states": [digest(state["exp_avg"]) for state in optimizer.state.values()]}


def data_parallel():
    return train(grid(None), lambda net: {})


def tensor_parallel():
    mesh = xs.Mesh(np.arange(xr.global_runtime_device_count()), (xr.global_runtime_device_count(),), ("model",))
    return train(mesh, lambda net: {net.first.weight: ("model", None), net.second.weight: (None, "model")})


def both():
    return train(grid(None, 2), lambda net: {net.first.weight: ("model", None), net.second.weight: (None, "model")})


def fully_sharded():
    mesh = grid(None)
    return train(mesh, lambda net: {net.first.weight: ("data", None), net.second.weight: ("data", None)})


def values():
    """Reads of whole tensors, before and after programs, in all kinds of parts."""
    count = xr.global_runtime_device_count()
    mesh, line = grid(None, 2), grid(None)
    made = torch.arange(float(count * 24)).reshape(count * 2, 12)
    cases = {"rows": (line, ("data", None)), "columns": (mesh, (None, "model")), "both": (mesh, ("data", "model")), "copies": (mesh, ("model", None)),
             "whole": (line, (None, None)), "turned": (mesh, ("model", "data")), "together": (mesh, (("data", "model"), None))}
    seen = {}
    for name, (where, spec) in cases.items():
        t = made.to("xla")
        xs.mark_sharding(t, where, spec)
        seen[name] = [bool((t.cpu() == made).all()), bool(((t * 2).cpu() == made * 2).all()), bool((t.cpu() == made).all())]
        t += 1
        torch_xla.sync()
        seen[name] += [bool((t.cpu() == made + 1).all()), t.sum().item() == (made + 1).sum().item(), t[1, 3].item()]
    uneven = torch.arange(float(count * 2 - 1)).to("xla")  # the last part is filled up
    xs.mark_sharding(uneven, line, ("data",))
    seen["uneven"] = (uneven * 3).tolist()
    moved = made.to("xla")
    xs.mark_sharding(moved, line, ("data", None))
    moved = moved * 2
    torch_xla.sync()
    xs.mark_sharding(moved, mesh, (None, "model"))
    seen["moved"] = digest(moved)
    return seen


def shards_here():
    """What this process holds."""
    count, each = xr.global_runtime_device_count(), xr.addressable_runtime_device_count()
    first = xr.process_index() * each
    t = torch.arange(float(count * 2)).to("xla")
    t = xs.mark_sharding(t, grid(None), ("data",))
    doubled = xs.wrap_as_sharded_tensor((t * 2).as_subclass(torch.Tensor))
    torch_xla.sync()
    held = [[shard.shard_device, shard.data.tolist(), [part.start for part in shard.indices]] for shard in doubled.local_shards]
    assert held == [[f"CPU:{device}", [4.0 * device, 4.0 * device + 2], [2 * device]] for device in range(first, first + each)], held
    shards = t.local_shards
    for shard in shards:
        shard.data += 100
    t.load_local_shards_(shards)
    assert t.cpu().tolist() == [100.0 + i for i in range(count * 2)], t.cpu()
    assert (t + 1).cpu().tolist() == [101.0 + i for i in range(count * 2)]
    return []


def minibatch():
    """Each process gives its share."""
    count, each, rank = xr.global_runtime_device_count(), xr.addressable_runtime_device_count(), xr.process_index()
    batch = torch.arange(float(count * 4 * 3)).reshape(count * 4, 3)
    share = batch[rank * each * 4:(rank + 1) * each * 4]
    seen = []
    for mesh, spec in ((grid(None), ("data", None)), (grid(None, 2), ("data", None)), (grid(None, 2), ("data", "model"))):
        if "model" in spec:
            share, batch = share.repeat(1, 2), batch.repeat(1, 2)
        t = xm.send_cpu_data_to_device([share], "xla", xs.ShardingSpec(mesh, spec, minibatch=True))[0]
        seen.append([list(t.shape), digest(t), (t * t).sum().item(), bool((t.cpu() == batch).all()), bool(((t + 1).cpu() == batch + 1).all())])
    try:
        xm.send_cpu_data_to_device([torch.zeros(each * 2 + 1, 3)], "xla", xs.ShardingSpec(grid(None), ("data", None), minibatch=True))
        assert each == 1
    except ValueError as error:
        assert f"a multiple of {each} rows" in str(error), error
    loader = pl.MpDeviceLoader([torch.zeros(each * 2 + 1, 3)], "xla", input_sharding=xs.ShardingSpec(grid(None), ("data", None), minibatch=True))
    try:
        line = sys._getframe().f_lineno + 1
        for t in loader:
            assert each == 1 and len(t) == count * 3
    except ValueError as error:  # found by a thread in the background
        assert str(error).startswith(f"{__file__}:{line}: input_sharding of a tensor float32[{each * 2 + 1}, 3] with minibatch=True: expects"), error
    return seen


WAYS = {"rows": ((None,), ("data", None)), "columns": ((None, 2), (None, "model")), "both": ((None, 2), ("data", "model")), "copies": ((None, 2), ("model", None)),
        "copies of processes": ((2, None), ("model", None)), "uneven": ((None,), (None, "data"))}


def in_parts(way, seed):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 4)).to("xla")
    for layer in net if way else ():
        xs.mark_sharding(layer.weight, grid(*WAYS[way][0]), WAYS[way][1])
    return net


def saves_here():
    """Checkpoints of all kinds, in the folder that the environment names."""
    dist.init_process_group("gloo", init_method="xla://")
    digests = {}
    for way in WAYS:
        net = in_parts(way, seed=len(way))
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.mul_(2)
        torch_xla.sync()
        dcp.save({"net": net.state_dict(), "step": 3}, storage_writer=dcp.FileSystemWriter(os.path.join(os.environ["FOLDER"], way)), planner=SPMDSavePlanner())
        digests[way] = [digest(parameter) for parameter in net.parameters()]
    dist.destroy_process_group()
    return digests


def loads_here():
    dist.init_process_group("gloo", init_method="xla://")
    digests = {}
    for saved, way in zip(WAYS, [None, *WAYS]):
        net = in_parts(way, seed=99)
        state = {"net": net.state_dict(), "step": 0}
        dcp.load(state, storage_reader=dcp.FileSystemReader(os.path.join(os.environ["FOLDER"], saved)), planner=SPMDLoadPlanner())
        assert state["step"] == 3
        digests[saved] = [digest(parameter) for parameter in net.parameters()]
        with torch.no_grad():
            twice = [digest(parameter * 2) for parameter in net.parameters()]
            assert twice == [digest(parameter.cpu() * 2) for parameter in net.parameters()]
    dist.destroy_process_group()
    return digests


def managed(way, seed):
    """Parameters and an optimizer's state in parts, as a state dict, and all their tensors."""
    net = in_parts(way, seed)
    optimizer = prime_optimizer(torch.optim.AdamW(net.parameters(), lr=0.1))
    state = {"net": net.state_dict(), "optim": optimizer.state_dict()}
    return state, [*net.parameters(), *(each["exp_avg"] for each in optimizer.state.values())]


def manages_here():
    """CheckpointManager, with saving in the background."""
    dist.init_process_group("gloo", init_method="xla://")
    manager = CheckpointManager(os.environ["FOLDER"], save_interval=2, max_to_keep=2)
    (state, tensors), digests = managed("both", seed=1), {}
    for step in range(1, 9):
        with torch.no_grad():
            for tensor in tensors:
                tensor.add_(step)
        torch_xla.sync()
        if manager.save_async(step, state):
            digests[step] = [digest(tensor) for tensor in tensors]
    manager.join()
    assert manager.all_steps() == [6, 8], manager.all_steps()
    other, tensors = managed("rows", seed=5)
    manager.restore(6, other)
    assert [digest(tensor) for tensor in tensors] == digests[6]
    dist.destroy_process_group()
    return digests[8]


def restores_here():
    """What manages_here() has left, in other parts."""
    dist.init_process_group("gloo", init_method="xla://")
    state, tensors = managed("copies of processes", seed=7)
    assert CheckpointManager(os.environ["FOLDER"], save_interval=2).restore(None, state) == 8
    dist.destroy_process_group()
    return [digest(tensor) for tensor in tensors]


def world_here():
    count, processes = xr.global_runtime_device_count(), int(os.environ.get("WORLD_SIZE", "1"))
    attributes = xr.global_runtime_device_attributes()
    rank = int(os.environ.get("RANK", "0"))
    assert (xr.process_index(), xr.process_count()) == (rank, processes)
    assert (xr.world_size(), xr.global_ordinal(), xr.local_ordinal(), xm.xrt_world_size(), xm.get_ordinal()) == (1, 0, 0, 1, 0)
    assert (count, xr.addressable_runtime_device_count()) == (4, 4 // processes)
    assert [known["process_index"] for known in attributes] == [device * processes // 4 for device in range(4)]
    slices = int(os.environ.get("SLICES", "1"))
    assert [known.get("slice_index") for known in attributes] == ([None] * 4 if slices == 1 else [0, 0, 1, 1]), attributes
    xm.rendezvous("together")
    if slices == 2:
        mesh = xs.HybridMesh(ici_mesh_shape=(1, 2), dcn_mesh_shape=(2, 1), axis_names=("data", "model"))
        assert mesh.get_logical_mesh().tolist() == [[0, 1], [2, 3]]
        try:
            xs.HybridMesh(ici_mesh_shape=(2, 2))
            raise AssertionError("a mesh of one slice")
        except ValueError as error:
            assert "1 slices of 4 devices" in str(error), error
        t = torch.arange(8.0).reshape(2, 4).to("xla")
        xs.mark_sharding(t, mesh, ("data", "model"))
        assert (t * 2).cpu().flatten().tolist() == [2.0 * i for i in range(8)]
    return []


def one_reads_here():
    """Process 0 reads a split tensor alone: it has a value, and nobody waits."""
    count = xr.global_runtime_device_count()
    t = torch.arange(float(count * 2)).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    t = t * 2
    torch_xla.sync()
    alone = []
    if xr.process_index() == 0:
        alone = [t.cpu().tolist(), t.cpu().tolist()]
        assert alone == [[2.0 * i for i in range(count * 2)]] * 2
    else:
        time.sleep(1)
    t = t + 1
    torch_xla.sync()
    assert t.cpu().tolist() == [2.0 * i + 1 for i in range(count * 2)]
    xm.rendezvous("end")
    return []


def alone_again_here():
    """Reads by all, one later than the other, and by one alone, in both orders; of tensors that no program has made, too."""
    rank, count = xr.process_index(), xr.global_runtime_device_count()
    expected = [2.0 * i for i in range(count * 2)]
    for late in (0, 1):
        for alone in (0, 1):
            for is_new in (False, True):
                t = torch.arange(float(count * 2)) * (2 if is_new else 1)
                t = t.to("xla")
                xs.mark_sharding(t, grid(None), ("data",))
                if not is_new:
                    t = t * 2
                    torch_xla.sync()
                time.sleep(0.3 if rank == late else 0)
                assert t.cpu().tolist() == expected
                torch_xla._world.meet()
                if rank == alone:
                    assert t.cpu().tolist() == expected and t.cpu().tolist() == expected
                torch_xla._world.meet()
                assert t.cpu().tolist() == expected
                torch_xla._world.meet()
    return []


def alone_then_all_here():
    """Process 0 prints a tensor, then all read it, and it is gone at once on those that come first."""
    for _ in range(20):
        t = torch.arange(8.0).to("xla")
        xs.mark_sharding(t, grid(None), ("data",))
        t = t * 2
        torch_xla.sync()
        if xr.process_index() == 0:
            assert t.cpu()[1] == 2
            time.sleep(0.05)
        assert t.cpu().tolist() == [2.0 * i for i in range(8)]
    return []


def launches_alone_here():
    """Process 0 runs a program with a collective that the others do not run; they go on and read."""
    try:
        for _ in range(3):
            t = torch.arange(8.0).to("xla")
            xs.mark_sharding(t, grid(None), ("data",))
            t = t * 2
            torch_xla.sync()
            if xr.process_index() == 0:
                t[0].item()
            t.cpu()
        return ["a value"]
    except RuntimeError as error:
        return [str(error)]


def last_line_here():
    """Process 0 reads when the others have come to their end."""
    global kept
    kept = torch.arange(8.0).to("xla")
    xs.mark_sharding(kept, grid(None), ("data",))
    kept = kept * 2
    torch_xla.sync()
    if xr.process_index():
        return []
    time.sleep(1.5)
    return kept.cpu().tolist()


def small_here():
    """Tensors with fewer elements than there are devices: some processes have all of them."""
    for count in (1, 2, 3):
        t = torch.arange(float(count)).to("xla")
        xs.mark_sharding(t, grid(None), ("data",))
        assert t.cpu().tolist() == list(range(count))
        u = torch.arange(8.0).to("xla")
        xs.mark_sharding(u, grid(None), ("data",))
        assert (u * 3).sum().item() == 84 and (t + 1).cpu().tolist() == [1.0 + i for i in range(count)]
    return []


def threads_here():
    """Several threads read tensors of which nobody has the whole, and which have no name yet."""
    each, rank = xr.addressable_runtime_device_count(), xr.process_index()
    for _ in range(10):
        share = torch.arange(float(each * 2)).reshape(each, 2) + rank * each * 2
        t = xm.send_cpu_data_to_device([share], "xla", xs.ShardingSpec(grid(None), ("data", None), minibatch=True))[0]
        seen, gate = [], threading.Barrier(4)

        def read(t=t, seen=seen, gate=gate):
            gate.wait()
            seen.append(t.cpu().flatten().tolist())
        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert seen == [[float(i) for i in range(8)]] * 4, seen
    return []


def read_often_here():
    """Process 0 reads a tensor 300 times: nothing is kept for that by anybody."""
    t = torch.arange(float(1 << 16)).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    t = t * 2
    torch_xla.sync()
    for _ in range(300 if xr.process_index() == 0 else 0):
        t.cpu()
    xm.rendezvous("read")
    assert len(os.listdir("/proc/self/fd")) < 100, os.listdir("/proc/self/fd")
    return []


def different_tensors_here():
    """The processes give a tensor different values, in the way that the environment says."""
    way, own = os.environ["WAY"], 1.0 + xr.process_index()
    w = torch.full((8, 2), own, device="xla") if way == "made" else torch.full((8, 2), own).to("xla")
    if way == "split":
        xs.mark_sharding(w, grid(None), ("data", None))
    other = torch.ones(8, 2).to("xla")
    xs.mark_sharding(other, grid(None), ("data", None))
    torch_xla.sync()
    return outcome_of(lambda: (w * other).sum().item())


def raises_here():
    t = torch.arange(8.0).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    t.sum().item()
    if xr.process_index():
        raise ValueError("the data is a fish")
    return outcome_of(lambda: (t * 2).sum().item())


def too_late_here():
    """Process 0 reads what the others have given up."""
    count = xr.global_runtime_device_count()
    t = torch.arange(float(count * 2)).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    t = t * 2
    torch_xla.sync()
    if xr.process_index():
        del t
        torch_xla._world.meet()
        torch_xla._world.meet()
        return []
    torch_xla._world.meet()
    try:
        t.cpu()
        return ["a value"]
    except RuntimeError as error:
        return [str(error)]
    finally:
        torch_xla._world.meet()


def different_programs_here():
    t = torch.arange(8.0).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    return outcome_of(lambda: (t.sum() if xr.process_index() else t.max()).item())


def different_shares_here():
    share = torch.ones(8 >> xr.process_index(), 2)
    t, = xm.send_cpu_data_to_device([share], "xla", xs.ShardingSpec(grid(None), ("data", None), minibatch=True))
    return outcome_of(lambda: t.sum().item())


def lost_while_meeting_here():
    t = torch.arange(8.0).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    t.sum().item()  # all are connected
    if xr.process_index():
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    return outcome_of(lambda: xm.rendezvous("here"))


def different_numbers_here():
    t = torch.arange(8.0).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    return outcome_of(lambda: (t * (1.5 + xr.process_index())).sum().item())


def different_history_here():
    """Process 1 runs a program more, without a collective that would meet nobody."""
    t = torch.arange(8.0).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    if xr.process_index():
        other = t + 5
        torch_xla.sync()
        del other
    t = t * 2
    torch_xla.sync()
    try:
        return [str(t.cpu())]
    except RuntimeError as error:
        return [str(error)]
    finally:
        torch_xla._world.meet()


def lost_here():
    """Process 1 ends without a word."""
    t = torch.arange(8.0).to("xla")
    xs.mark_sharding(t, grid(None), ("data",))
    t = t * 2
    torch_xla.sync()
    if xr.process_index():
        xm.wait_device_ops()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1)
    return outcome_of(t.cpu)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
