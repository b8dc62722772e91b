# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xla:0 to xla:3 of one process with CPU_NUM_DEVICES=4, in a process of its own: how many there are is decided when it starts."""
import os
import subprocess
import sys

import pytest
from paths import PYTHONPATH

HERE = os.path.dirname(os.path.realpath(__file__))
COUNT = 4

if "MILLRACE_TEST_DEVICES" in os.environ:
    import torch
    import torch_xla
    import torch_xla.core.xla_model as xm
    import torch_xla.distributed.parallel_loader as pl
    import torch_xla.runtime as xr
    from torch_xla import _XLAC

    VALUE = torch.arange(6.).reshape(2, 3)

    def device_of(*tensors):
        return {str(tensor.device) for tensor in tensors}

    def test_names():
        assert torch_xla.devices() == [torch.device(f"xla:{i}") for i in range(COUNT)] and torch_xla.device() == torch.device("xla:0")
        assert torch_xla.device(3) == torch.device("xla:3") and torch_xla.device_count() == torch.xla.device_count() == COUNT
        assert torch_xla.real_devices() == _XLAC._xla_get_devices() == _XLAC._xla_get_all_devices() == [f"CPU:{i}" for i in range(COUNT)]
        assert xm.get_xla_supported_devices() == [f"xla:{i}" for i in range(COUNT)] and xm.xla_real_devices(["xla:2"]) == ["CPU:2"]
        assert [xm.parse_xla_device(name) for name in ("CPU:2", "xla:2", "CPU")] == [("CPU", 2), None, None]
        assert [xr.local_device_count(), xr.addressable_device_count(), xr.global_device_count(), xr.world_size()] == [COUNT] * 3 + [1]
        assert _XLAC._xla_num_devices() == COUNT and _XLAC._xla_get_device_ordinal("xla:3") == 3
        with pytest.raises(IndexError, match="expects the index of a device, 0 to 3, but got 4"):
            torch_xla.device(4)
        with pytest.raises(RuntimeError, match="there is no device xla:4: this process has xla:0 to xla:3"):
            torch.ones(2, device="xla:4")
        with pytest.raises(RuntimeError, match="expects a device of xla:0 to xla:3, but got xla:9"):
            xm.get_memory_info("xla:9")

    @pytest.mark.parametrize("make", [
        lambda device: torch.ones(2, 3, device=device), lambda device: torch.arange(3, device=device), lambda device: torch.randn(3, device=device),
        lambda device: torch.full((2,), 3.0, device=device), lambda device: torch.tensor([1, 2], device=device),
        lambda device: torch.eye(3, device=device), lambda device: torch.linspace(0, 1, 4, device=device),
        lambda device: torch.randperm(5, device=device), lambda device: VALUE.to(device), lambda device: VALUE.t().to(device),
        lambda device: torch.ones(2).to("xla:1").to(device), lambda device: torch.empty_strided((2, 2), (1, 2), device=device),
        lambda device: torch.zeros_like(VALUE, device=device), lambda device: torch.randint(5, (3,), device=device)])
    def test_factories(make):
        for index in (0, 3, 1):
            made = make(f"xla:{index}")
            assert made.device.index == index and device_of(made + made, made.clone(), made[:1], made.unsqueeze(0).sum()) == {f"xla:{index}"}

    @pytest.mark.parametrize("run", [
        lambda x: x @ x.t(), lambda x: x.exp().max(dim=1), lambda x: torch.cat([x, x]), lambda x: x.nonzero(), lambda x: x[x > 2],
        lambda x: torch.nn.functional.dropout(x), lambda x: x.sort(), lambda x: torch.where(x > 1, x, 0), lambda x: x.new_zeros(3),
        lambda x: x.split(1), lambda x: torch.linalg.det(x @ x.t()), lambda x: torch._foreach_add([x, x], 1), lambda x: x.int().bincount()
        if x.dim() == 1 else x.unique(), lambda x: torch.nn.functional.batch_norm(x, None, None, training=True), lambda x: x.cumsum(0),
        lambda x: torch.bernoulli(x / 9), lambda x: torch.multinomial(x + 1, 2), lambda x: torch.ones_like(x).cauchy_(),
        lambda x: torch.ops.aten._test_optional_intlist(x[0].int(), [1, 2, 3]), lambda x: torch.compile(lambda y: y.sin() + 1, backend="openxla")(x)])
    def test_results_are_on_the_device_of_the_arguments(run):
        made = run(VALUE.to("xla:2"))
        for tensor in [made] if isinstance(made, torch.Tensor) else made:
            assert str(tensor.device) == "xla:2"
            tensor.cpu()

    def test_loops():
        from torch._higher_order_ops.while_loop import while_loop
        from torch_xla.experimental.scan import scan
        carry, ys = scan(lambda c, x: (c + x, c * x), torch.zeros(3, device="xla:1"), VALUE.to("xla:1"))
        assert device_of(carry, ys) == {"xla:1"} and carry.tolist() == [3.0, 5.0, 7.0]
        last, = while_loop(lambda x: x.sum() < 100, lambda x: (x * 2,), (VALUE.to("xla:3"),))
        assert device_of(last) == {"xla:3"} and last.sum().item() == 120

    def test_tensors_of_several_devices_are_one_program():
        import torch_xla.debug.metrics as met
        torch_xla.sync()
        met.clear_all()
        made = [(VALUE + i).to(f"xla:{i}") * 2 for i in range(COUNT)]
        torch_xla.sync()
        assert met.metric_data("ExecuteTime")[0] == 1
        for i, tensor in enumerate(made):
            assert str(tensor.device) == f"xla:{i}" and torch.equal(tensor.cpu(), (VALUE + i) * 2)

    def test_they_do_not_mix():
        a, b = VALUE.to("xla:0"), VALUE.to("xla:1")
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two devices, xla:0 and xla:1!"):
            a + b
        a.copy_(b * 3)
        assert torch.equal(a.cpu(), VALUE * 3) and device_of(a, a + 1) == {"xla:0"}
        b += b.to("xla:0").to("xla:1") + 1.5
        assert torch.equal(b.cpu(), VALUE * 2 + 1.5)

    def test_training_on_the_third_device():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).to("xla:2")
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        losses, seen = [], set()

        class Identity(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, gradient):
                seen.add((str(gradient.device), torch_xla.device().index))
                return gradient
        for _ in range(20):
            optimizer.zero_grad()
            loss = (Identity.apply(model(torch.ones(5, 3, device="xla:2") * torch.arange(5, device="xla:2")[:, None])) - 1).square().mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            losses.append(loss.item())
        assert losses[-1] < losses[0] / 2 and seen == {("xla:2", 2)}
        assert device_of(*model.parameters(), *(p.grad for p in model.parameters()), *model.buffers()) == {"xla:2"}

    def test_the_device_of_a_thread():
        import threading
        with torch.xla.device(2):
            assert torch.xla.current_device() == 2 and device_of(torch.ones(1, device="xla"), VALUE.to("xla")) == {"xla:2"}
            other = []
            thread = threading.Thread(target=lambda: other.append(str(torch.ones(1, device="xla").device)))
            thread.start()
            thread.join()
            assert other == ["xla:0"]
        assert str(torch.ones(1, device="xla").device) == "xla:0"
        assert _XLAC._xla_set_default_device("xla:1") == "xla:0" and _XLAC._xla_get_default_device_ordinal() == 1
        assert _XLAC._xla_set_default_device("xla:0") == "xla:1"
        with torch.device("xla:3"):
            assert device_of(torch.zeros(2), torch.nn.Linear(2, 2).weight) == {"xla:3"}

    def test_loaders():
        devices = torch_xla.devices()
        loader = pl.ParallelLoader([VALUE + i for i in range(8)], devices)
        found = {str(device): [(str(x.device), x[0, 0].item()) for x in loader.per_device_loader(device)] for device in devices}
        assert [len(found[str(device)]) for device in devices] == [2] * COUNT
        assert all(where == name for name, batches in found.items() for where, _ in batches)
        assert sorted(value for batches in found.values() for _, value in batches) == [float(i) for i in range(8)]

    def test_spmd_makes_one_of_them():
        xr.use_spmd()
        assert os.environ["XLA_USE_SPMD"] == "1"
        assert torch_xla.device_count() == xr.global_device_count() == 1 and xr.global_runtime_device_count() == COUNT
        with pytest.raises(RuntimeError, match="there is no device xla:1: this process has xla:0$"):
            torch.ones(2, device="xla:1")
        xr.use_spmd(enable=False)
        assert torch_xla.device_count() == COUNT and "XLA_USE_SPMD" not in os.environ
else:
    def test_four_devices():
        root = os.path.dirname(os.path.dirname(HERE))
        ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.realpath(__file__)],
                             capture_output=True, text=True, timeout=600, cwd=root,
                             env=dict(os.environ, CPU_NUM_DEVICES=str(COUNT), MILLRACE_TEST_DEVICES="1",
                                      PYTHONPATH=PYTHONPATH))
        assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
