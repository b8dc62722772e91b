# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.core.xla_model, torch_xla.core.functions and torch_xla.runtime: values, errors, barriers."""
import io
import os
import subprocess
import sys
import threading

import pytest
import torch
import torch_xla
import torch_xla.core.functions as xf
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
import torch_xla.utils.utils as xu


def device_tensor(*values):
    return torch.tensor(values, device="xla")


def test_devices_by_kind_and_index():
    assert xm.get_xla_supported_devices("CPU") == xm.get_xla_supported_devices(devkind=["CPU"], max_devices=3) == ["xla:0"]
    assert xm.get_xla_supported_devices(devkind="TPU") is None and xm.get_xla_supported_devices(max_devices=0) == []
    assert xm.xla_device_hw("xla:0") == xm.xla_device_hw(torch.device("xla")) == "CPU"
    assert xm.xla_real_devices(["xla:0"]) == xm.xla_replication_devices() == torch_xla.real_devices() == ["CPU:0"]
    assert torch.device(xm.xla_device()) == torch_xla.device(0) and torch_xla.devices() == [torch_xla.device()]
    for wrong in (lambda: torch_xla.device(1), lambda: xm.xla_device(devkind="TPU"), lambda: xm.xla_device_hw("cpu"),
                  lambda: xr.runtime_device_attributes("CPU:7")):
        with pytest.raises(RuntimeError, match="expects|no device"):
            wrong()
    assert xr.runtime_device_attributes("CPU:0")["name"] == "CPU:0"


def test_memory_info_follows_tensors():
    torch_xla.sync(wait=True)
    before = xm.get_memory_info()
    big = torch.ones(1 << 20, device="xla") * 1.5
    torch_xla.sync(wait=True)
    after = xm.get_memory_info(torch_xla.device())
    assert after["bytes_used"] - before["bytes_used"] >= 4 << 20 and after["peak_bytes_used"] >= after["bytes_used"]
    assert after["bytes_limit"] > after["bytes_used"]
    del big
    assert xm.get_memory_info()["bytes_used"] < after["bytes_used"]


@pytest.mark.parametrize("limit, expected", [("1000000", "1000000: CpuDevice(id=0): cannot allocate 4194304 bytes: "), ("", "no limit"), ("1 GB", "expects a number of bytes, but got '1 GB'")])
def test_memory_limit(limit, expected):
    """MILLRACE_MEMORY_LIMIT is the device's limit; what takes more is an error."""
    code = """
import os, torch, torch_xla, torch_xla.core.xla_model as xm
limit = None
try:
    limit = xm.get_memory_info()["bytes_limit"]
    x = torch.ones(1 << 20, device="xla") * 1.5
    print(x.sum().item() if limit == 1000000 else "no limit")
except RuntimeError as error:
    print(limit, error, sep=": ")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ, MILLRACE_MEMORY_LIMIT=limit))
    assert expected in ran.stdout, ran.stdout + ran.stderr


def test_virtual_devices_of_the_runtime():
    code = "import torch_xla.runtime as xr; print(xr.global_runtime_device_count(), xr.addressable_device_count(), xr.world_size())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ, CPU_NUM_DEVICES="4"))
    assert ran.stdout == "4 4 1\n", ran.stderr


def test_cache_must_come_first(tmp_path):
    code = ("import torch, torch_xla, torch_xla.runtime as xr\n(torch.ones(2, device='xla') + 1).cpu()\n"
            f"try: xr.initialize_cache({str(tmp_path)!r})\nexcept RuntimeError as error: print(error)\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "initialize_cache must come before the first computation" in ran.stdout, ran.stderr
    # Read only: what a process compiles itself is not kept.
    code = ("import os, torch, torch_xla, torch_xla.runtime as xr, torch_xla.debug.metrics as met\n"
            f"xr.initialize_cache({str(tmp_path)!r}, readonly=True)\n(torch.ones(2, device='xla') * 3).cpu()\n"
            f"print(met.counter_value('PersistentCacheMiss'), [f for _, _, files in os.walk({str(tmp_path)!r}) for f in files])\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "1 []\n", ran.stderr


def test_closures_run_after_the_barrier_in_order():
    seen, thread = [], []
    x = device_tensor(1.0) * 3
    xm.add_step_closure(lambda t, name: seen.append((name, t.item())), args=(x, "first"))
    xm.add_step_closure(lambda: seen.append("second"))
    done = threading.Event()
    xm.add_step_closure(lambda: (thread.append(threading.current_thread()), done.set()), run_async=True)
    assert seen == []
    met.clear_all()
    xm.mark_step()
    assert seen == [("first", 3.0), "second"] and met.metric_data("ExecuteTime")[0] == 1
    assert done.wait(10) and thread[0] is not threading.current_thread()
    xm.mark_step()
    assert len(seen) == 2

    def fails():
        raise KeyError("from a closure")
    xm.add_step_closure(fails, run_async=True)
    xm.mark_step()
    torch_xla._step._async_handler._queue.join()
    xm.add_step_closure(lambda: None, run_async=True)
    with pytest.raises(KeyError, match="from a closure"):
        xm.mark_step()


def test_collectives_of_one():
    x = device_tensor(1.0, 2.0)
    assert xm.all_reduce(xm.REDUCE_MAX, x, scale=0.5).tolist() == [0.5, 1.0] and x.tolist() == [1.0, 2.0]
    both = [x, x.clone()]
    assert xm.all_reduce(xm.REDUCE_SUM, both, scale=2.0, groups=[[0]]) is both and [t.tolist() for t in both] == [[2.0, 4.0]] * 2
    out = torch.zeros(2, device="xla")
    assert xm.all_gather(x, output=out) is out and out.tolist() == [2.0, 4.0] and xm.all_gather(x[0]).tolist() == [2.0]
    assert xm.reduce_scatter(xm.REDUCE_SUM, x, 0.5, 0, 1).tolist() == [1.0, 2.0]
    assert xm.all_to_all(x, 0, 0, 1).tolist() == xm.collective_permute(x, [[0, 0]]).tolist() == [2.0, 4.0]
    assert xm.collective_permute(x, []).tolist() == [0.0, 0.0]
    many = [torch.full((1 << 18,), float(i), device="xla") for i in range(4)]  # one MB each
    assert [t[0].item() for t in xm.all_gather_bucketized(many, bucket_cap_mb=2)] == [0.0, 1.0, 2.0, 3.0]
    assert [t[0].item() for t in xm.reduce_scatter_bucketized(xm.REDUCE_SUM, many, 2.0, 0, 1, bucket_cap_mb=1)] == [0.0, 2.0, 4.0, 6.0]
    xm.all_reduce_bucketized_gradients(many, 0.5, None, True, bucket_cap_mb=1)
    assert many[3][0].item() == 1.5
    sizes = []
    buckets = xm.CoalescingBuckets(lambda tensors, outputs, indices: sizes.append(indices), many, bucket_cap_mb=2)
    for i, tensor in enumerate(many):
        buckets.add(tensor, i)
    buckets.flush()
    assert sizes == [[0, 1], [2, 3]]
    for wrong in (lambda: xm.all_reduce(xm.REDUCE_SUM, x, groups=[[0, 1]]), lambda: xm.all_reduce("mean", x),
                  lambda: xm.all_to_all(x, 0, 0, 2), lambda: xm.reduce_scatter("sum", x, 1.0, 0, 2),
                  lambda: xm.collective_permute(x, [[0, 1]]), lambda: xm.xla_rendezvous(ordinals=[0, 1]),
                  lambda: xm.collective_broadcast([x], root_ordinal=1)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(NotImplementedError):
        xm.send(x, 0)


def test_processes_meet():
    assert xm.rendezvous("tag", b"abc") == xm.xla_rendezvous(b"abc", tag="tag") == [b"abc"]
    assert xm.mesh_reduce("tag", {"a": device_tensor(2.0)}, lambda all: all[0]["a"].device.type) == "cpu"
    called = []
    xm.do_on_ordinals(lambda t: called.append(t.device.type), data=(device_tensor(1.0),))
    xm.do_on_ordinals(lambda: called.append("never"), ordinals=(1,))
    assert called == ["cpu"] and xm.is_master_ordinal() and xm.is_master_ordinal(local=False)


def test_master_print_and_rates(capsys):
    xm.master_print("loss", 2.5)
    assert capsys.readouterr().out == "loss 2.5\n"
    stream = io.StringIO()
    xm.master_print("x", fd=stream)
    assert stream.getvalue() == "x\n"
    tracker = xm.RateTracker(smooth_factor=0.0)
    tracker.add(10)
    first = tracker.rate()
    assert first > 0 and tracker.global_rate() > 0 and tracker.rate() < first  # nothing was added since


def test_optimizer_step_and_broadcast():
    model = torch.nn.Linear(2, 1).to("xla")
    xm.broadcast_master_param(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    weight = model.weight.detach().cpu().clone()
    model(torch.ones(1, 2, device="xla")).sum().backward()
    met.clear_all()
    assert xm.optimizer_step(optimizer, barrier=True, optimizer_args={"closure": lambda: 7}) == 7
    assert met.metric_data("ExecuteTime")[0] == 1
    torch.testing.assert_close(model.weight.detach().cpu(), weight - 0.5)


def test_arena_keeps_the_structure():
    class Batch:
        def __init__(self, x):
            self.x, self.name = x, "batch"

    shared = torch.ones(2)
    data = {"a": [shared, 3], "b": (shared, {"c": torch.zeros(1)}), "batch": Batch(torch.full((1,), 5.0)), "none": None}
    made = xm.send_cpu_data_to_device(data, "xla")
    assert made["a"][0] is made["b"][0] and made["a"][0].device.type == "xla" and made["a"][1] == 3
    assert made["batch"].x.item() == 5.0 and made["batch"].name == "batch" and data["batch"].x.device.type == "cpu"
    assert isinstance(made["b"], tuple) and made["none"] is None
    assert [t.device.type for t in xm.send_cpu_data_to_device(torch.ones(1), "xla")] == ["xla"]

    class Wrapped(xu.DataWrapper):
        def __init__(self, tensors):
            self.tensors = tensors

        def get_tensors(self):
            return self.tensors

        def from_tensors(self, tensors):
            return Wrapped(tensors)
    assert xm.send_cpu_data_to_device([Wrapped([torch.ones(1)])], "xla")[0].tensors[0].device.type == "xla"
    with pytest.raises(RuntimeError, match="share their memory"):
        xm.check_view_sharing([shared, shared[:1]])
    xm.check_view_sharing([shared, shared])


def test_save_is_on_the_cpu(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).to("xla")
    met.clear_all()
    xm.save(model.state_dict(), tmp_path / "model.pt")
    assert met.metric_data("ExecuteTime") is None or met.metric_data("ExecuteTime")[0] == 1
    loaded = torch.load(tmp_path / "model.pt")
    assert all(value.device.type == "cpu" for value in loaded.values())
    for name, value in model.state_dict().items():
        assert torch.equal(loaded[name], value.cpu())
    tied = torch.nn.Sequential(torch.nn.Embedding(3, 4), torch.nn.Linear(4, 3, bias=False)).to("xla")
    tied[1].weight = tied[0].weight
    xm.save({**tied.state_dict(), "part": tied[0].weight.detach()[1:]}, tmp_path / "tied.pt")
    loaded = torch.load(tmp_path / "tied.pt")
    assert loaded["0.weight"].data_ptr() == loaded["1.weight"].data_ptr() and torch.equal(loaded["part"], loaded["0.weight"][1:])
    buffer = io.BytesIO()
    xm.save([model[0].weight], buffer, master_only=False, global_master=True)
    buffer.seek(0)
    parameter = torch.load(buffer, weights_only=False)[0]
    assert isinstance(parameter, torch.nn.Parameter) and parameter.requires_grad


def test_random_states():
    xm.set_rng_state(42)
    first = torch.rand(3, device="xla").tolist()
    with xm.fork_rng():
        torch.rand(5, device="xla")
    second = torch.rand(3, device="xla").tolist()
    xm.set_rng_state(42)
    assert xm.get_rng_state() == 42
    assert torch.rand(3, device="xla").tolist() == first and torch.rand(3, device="xla").tolist() == second
    torch_xla.manual_seed(42)
    assert torch.rand(3, device="xla").tolist() == first


def test_barrier_of_the_compiler():
    x = device_tensor(2.0)
    torch_xla.sync()
    y, z = x * 3, x + 1
    xm.optimization_barrier_([y, z])
    assert "stablehlo.optimization_barrier" in xm.get_stablehlo([y + z])
    assert xm.get_stablehlo_bytecode([y])[:4] == b"ML\xefR" and b"optimization_barrier" in xm.get_stablehlo_bytecode()
    assert (y + z).item() == 9.0


def test_gradients_through_collectives():
    x = torch.tensor([1.0, 2.0], device="xla", requires_grad=True)
    (xf.all_reduce(xm.REDUCE_SUM, x, scale=0.5) * xf.all_gather(x)).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
    w = torch.randn(3, 2)
    assert torch.allclose(xf.distributed_mm(w.to("xla"), torch.eye(2, device="xla"), split=2).cpu(), w)


def test_sync_batch_norm():
    torch.manual_seed(0)
    theirs, ours = torch.nn.BatchNorm2d(3), xf.SyncBatchNorm(3).to("xla")
    for _ in range(3):
        batch = torch.randn(4, 3, 5, 5)
        a, b = batch.clone().requires_grad_(), batch.to("xla").requires_grad_()
        want, got = theirs(a), ours(b)
        (want * want.sigmoid()).sum().backward()
        (got * got.sigmoid()).sum().backward()
        torch.testing.assert_close(got.detach().cpu(), want.detach(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(b.grad.cpu(), a.grad, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(ours.running_var.cpu(), theirs.running_var, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours.eval()(batch.to("xla")).detach().cpu(), theirs.eval()(batch).detach(), rtol=1e-4, atol=1e-4)


def test_loader_barriers_and_errors():
    for per_execution, runs in ((1, 6), (3, 3)):  # as PyTorch/XLA: the last of so many batches comes after the barrier
        met.clear_all()
        total = torch.zeros(2, device="xla")
        torch_xla.sync()
        start = (met.metric_data("ExecuteTime") or (0,))[0]
        for batch, in pl.MpDeviceLoader([(torch.full((2,), float(i)),) for i in range(6)], "xla", batches_per_execution=per_execution):
            total = total + batch
        assert total.tolist() == [15.0, 15.0] and met.metric_data("ExecuteTime")[0] - start == runs

    def broken():
        yield torch.ones(1)
        raise OSError("disk")
    loader, seen = pl.MpDeviceLoader(broken(), torch_xla.device()), []
    with pytest.raises(OSError, match="disk"):
        for batch in loader:
            seen.append(batch.item())
    assert seen == [1.0]
    loader = pl.MpDeviceLoader([torch.ones(1)] * 1000, "xla")
    for batch in loader:
        break
    loader.close()
    assert len(loader) == 1000
    parallel = pl.ParallelLoader(cpu_loader=[torch.ones(1)] * 5, devices=[torch_xla.device()])
    assert sum(batch.item() for batch in parallel.per_device_loader(torch_xla.device())) == 5.0
    assert parallel.per_device_samples() == 5
    with pytest.raises(RuntimeError, match="expects one of the devices"):
        parallel.per_device_loader("cpu")


def test_loader_of_accelerate_is_not_read_ahead():
    """It says of the batch that is used whether it is the last one. Its attributes are those of the loader on the device."""
    class Loader:
        gradient_state, dataset, given = object(), "data", 0

        def __iter__(self):
            for i in range(4):
                self.given = i
                yield torch.full((2,), float(i)), {"mask": torch.ones(1)}

        def __len__(self):
            return 4
    for per_execution in (1, 2):
        loader = pl.MpDeviceLoader(Loader(), "xla", batches_per_execution=per_execution, loader_prefetch_size=2)
        assert loader.dataset == "data" and len(loader) == 4
        seen = [(batch.tolist(), more["mask"].device.type, loader.given) for batch, more in loader]
        assert seen == [([float(i)] * 2, "xla", i) for i in range(4)]
    with pytest.raises(AttributeError, match="nothing"):
        loader.nothing


LEFT_EARLY = """
import itertools, torch, torch_xla
from torch_xla.distributed.parallel_loader import ParallelLoader
endless = (torch.ones(512, 512) for _ in itertools.count())
loader = ParallelLoader(endless, [torch_xla.device()], device_prefetch_size=100000, host_to_device_transfer_threads=4)
next(iter(loader.per_device_loader(torch_xla.device())))
"""


def test_a_program_ends_while_batches_are_uploaded():
    ran = subprocess.run([sys.executable, "-c", LEFT_EARLY], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_devices_that_are_not_there():
    from torch_xla.distributed.data_parallel import DataParallel
    with pytest.raises(RuntimeError, match="expects a device of xla:0 to xla:0, but got xla:1"):
        DataParallel(torch.nn.Linear(2, 2), ["xla:0", "xla:1"])
    with pytest.raises(RuntimeError, match="expects a device of xla:0 to xla:0, but got xla:1"):
        pl.ParallelLoader([], ["xla:0", "xla:1"])
    with pytest.raises(ValueError, match="expects at least one device"):
        pl.ParallelLoader([], [])
