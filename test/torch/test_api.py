# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that programs written for PyTorch/XLA use."""
import re
import subprocess
import sys

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_multiprocessing as xmp
import torch_xla.runtime as xr


def test_devices():
    assert torch_xla.device() == xm.xla_device() == torch.device("xla:0")
    assert xm.get_xla_supported_devices() == ["xla:0"] and xr.device_type() == "CPU"
    assert xr.world_size() == xm.xrt_world_size() == 1 and xr.global_ordinal() == xm.get_ordinal() == 0


def test_one_program_for_all_iterations():
    met.clear_all()
    x = torch.ones(5, device="xla")
    z = torch.zeros(5, device="xla")
    xm.mark_step()
    before = torch_xla._XLAC._compilations()
    for _ in range(6):
        z = z + x
        xm.mark_step()
    assert torch_xla._XLAC._compilations() - before <= 1 and z.cpu().tolist() == [6.0] * 5


def test_metrics_report():
    met.clear_all()
    (torch.ones(7, device="xla") + 1.25).cpu()
    report = met.metrics_report()
    assert re.search(r"Metric: ExecuteTime\n  TotalSamples: 1\n  Accumulator: \d", report)
    assert re.search(r"Counter: (Unc|C)achedCompile\n  Value: 1\n", report)
    assert "aten::" not in report and met.counter_value("no such counter") is None
    met.clear_all()
    assert met.metrics_report() == ""


def test_step_closures_and_loader():
    seen = []
    batches = [(torch.full((2,), float(i)), i) for i in range(3)]
    for tensor, index in pl.MpDeviceLoader(batches, torch_xla.device()):
        assert tensor.device.type == "xla"
        total = tensor.sum()
        xm.add_step_closure(lambda t, i: seen.append((t.item(), i)), args=(total, index))
    assert seen == [(0.0, 0), (2.0, 1), (4.0, 2)]


def test_spawn_and_collectives():
    def work(index, answers):
        t = torch.full((2,), 3.0, device=xm.xla_device())
        answers += [index, xm.all_reduce(xm.REDUCE_SUM, t).cpu().tolist(), xm.mesh_reduce("t", 4, sum), xm.rendezvous("r")]
    answers = []
    xmp.spawn(work, args=(answers,), nprocs=1)
    torch_xla.launch(work, args=(answers,))
    assert answers == [0, [3.0, 3.0], 4, [b""]] * 2


def test_graph_texts():
    x = torch.ones(2, device="xla")
    torch_xla.sync()
    y = x * 2 + 3
    assert "aten::mul(" in torch_xla._XLAC._get_xla_tensors_text([y])
    assert "stablehlo.multiply" in xm.get_stablehlo([y])
    hlo = torch_xla._XLAC._get_xla_tensors_hlo([y])
    assert "HloModule" in hlo and "multiply(" in hlo


def test_compile_function():
    @torch_xla.compile
    def double(x):
        return x * 2
    assert double(torch.ones(2, device="xla")).cpu().tolist() == [2.0, 2.0]

    def peeks(x):
        return x * x.sum().item()
    with pytest.raises(RuntimeError, match="full_graph"):
        torch_xla.compile(peeks, full_graph=True)(torch.ones(3, device="xla"))


@pytest.mark.parametrize("training", [False, True])
def test_openxla_backend(training):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2))
    x = torch.randn(3, 4)
    want = model(x)
    want.sum().backward()
    grads = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    compiled = torch.compile(model.to("xla"), backend="openxla")
    if training:
        got = compiled(x.to("xla"))
        got.sum().backward()
        for p, g in zip(model.parameters(), grads):
            torch.testing.assert_close(p.grad.cpu(), g, rtol=1e-4, atol=1e-5)
    else:
        with torch.no_grad():
            got = compiled(x.to("xla"))
    torch.testing.assert_close(got.detach().cpu(), want.detach(), rtol=1e-4, atol=1e-5)


def test_persistent_cache(tmp_path):
    code = ("import torch, torch_xla, torch_xla.runtime as xr, torch_xla.debug.metrics as met\n"
            f"xr.initialize_cache({str(tmp_path)!r})\n"
            "print((torch.arange(6., device='xla') * 2.5).sum().item())\n"
            "print(met.counter_value('PersistentCacheHit'), met.counter_value('PersistentCacheMiss'))\n")
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200) for _ in range(2)]
    assert [r.stdout.split() for r in runs] == [["37.5", "None", "1"], ["37.5", "1", "None"]], runs[0].stderr + runs[1].stderr
