# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Creation, transfers, printing, views and in-place operations, against eager PyTorch on the CPU."""
import copy
import io
import pickle

import pytest
import torch
import torch_xla.core.xla_model as xm


def test_first_line(no_fallback):
    x = torch.ones(3, device="xla")
    assert torch.equal((x + x).cpu(), torch.full((3,), 2.0))


def test_printing_is_exact():
    t1, t2 = torch.tensor(100, device="xla"), torch.tensor(200, device=xm.xla_device())
    assert str(t1 + t2) == "tensor(300, device='xla:0')"
    assert repr(torch.ones(2, device="xla") * 2.5) == "tensor([2.5000, 2.5000], device='xla:0')"


def test_views_and_in_place(no_fallback):
    cpu = torch.arange(12.0).reshape(3, 4)
    xla = cpu.to("xla")
    for t in (cpu, xla):
        row, reshaped = t[1], t.view(4, 3)
        row.add_(10)
        t[:, 2] = -1
        reshaped[0].mul_(2)
        t.t()[0].zero_()
        t.unsqueeze_(0)
        t.squeeze_(0)
        t[::2, 1:3] += 0.5
        t.diagonal().neg_()
    assert torch.equal(cpu, xla.cpu())
    assert torch.equal(cpu.t()[1:, ::2], xla.t()[1:, ::2].cpu())
    assert torch.equal(cpu.unfold(1, 2, 1), xla.unfold(1, 2, 1).cpu())
    assert torch.equal(cpu[None].expand(5, 3, 4), xla[None].expand(5, 3, 4).cpu())


def test_detach_shares_memory():
    x = torch.ones(3, device="xla")
    x.detach().mul_(0)
    assert x.cpu().abs().sum() == 0


def test_dtypes(no_fallback):
    for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
                  torch.float32, torch.float64, torch.complex64):
        cpu = torch.tensor([0, 1, 3]).to(dtype)
        assert torch.equal(cpu.to("xla").cpu(), cpu)
        assert torch.equal(torch.tensor([0, 1, 3], device="xla").to(dtype).cpu(), cpu)


def test_type_promotion():
    def programs(device):
        i, f, h = (torch.ones(2, dtype=d, device=device) for d in (torch.int32, torch.float32, torch.bfloat16))
        return [i * 1.5, i + 2, i / 2, h * 2.5, h + f, h * torch.tensor(2.0), f > i, i == 1.0, i // 2, torch.where(f > 0, i, 2)]
    for cpu, xla in zip(programs("cpu"), programs("xla")):
        assert cpu.dtype == xla.dtype and torch.equal(cpu, xla.cpu())


def test_numbers_are_rounded_where_the_cpu_rounds_them():
    functions = [lambda x, n: x + n, lambda x, n: n - x, lambda x, n: x.clone().sub_(n), lambda x, n: x * n, lambda x, n: x / n, lambda x, n: n / x,
                 lambda x, n: x // n, lambda x, n: n // x, lambda x, n: x % n, torch.fmod, lambda x, n: x <= n,
                 lambda x, n: x + torch.tensor(n, device=x.device), lambda x, n: torch._foreach_add([x], n)[0],
                 lambda x, n: torch.lerp(x, x.flip(0), n), lambda x, n: torch.addcmul(x, x, x, value=n)]
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.tensor([1.0, 2.5, -3.0, 100.0, 0.1, 7.0, -0.3], dtype=dtype)
        for number in (257, 0.1, 3.3, 1.0009765):
            for i, function in enumerate(functions):
                assert torch.equal(function(x.to("xla"), number).cpu(), function(x, number)), (dtype, number, i)


def test_fill_refuses_what_does_not_fit():
    for dtype, number in ((torch.int8, 300), (torch.float16, 1e5), (torch.int32, 1 << 40)):
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.zeros(2, dtype=dtype).fill_(number)
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.zeros(2, dtype=dtype, device="xla").fill_(number)


def test_errors_are_those_of_pytorch():
    x = torch.ones(3, device="xla")
    with pytest.raises(RuntimeError, match="must match the size"):
        x + torch.ones(2, device="xla")
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(torch.ones(2, 3, device="xla"))
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        torch.ones(3, dtype=torch.int32, device="xla").add_(1.5)
    with pytest.raises(RuntimeError, match="Input tensor is not an XLA tensor: torch.FloatTensor"):
        x + torch.ones(3)


def test_save_load_pickle_deepcopy():
    model = torch.nn.Linear(2, 2).to("xla")
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    assert torch.load(file)["weight"].device.type == "xla"
    file.seek(0)
    assert torch.load(file, map_location="cpu")["weight"].device.type == "cpu"
    x = torch.ones(2, device="xla")
    assert pickle.loads(pickle.dumps(x)).device == x.device == copy.deepcopy(x).device


def test_copy_between_devices():
    x = torch.zeros(3, device="xla")
    x.copy_(torch.ones(3))
    c = torch.zeros(3)
    c.copy_(x + 1)
    assert torch.equal(c, torch.full((3,), 2.0)) and x.sum().item() == 3


def test_long_chain_is_freed():
    x = torch.ones(2, device="xla")
    for _ in range(20000):
        x = x + 1
    del x


def test_autograd(no_fallback):
    x = torch.randn(3, device="xla", requires_grad=True)
    (g,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    g.sum().backward()
    assert torch.allclose(x.grad.cpu(), 6 * x.detach().cpu())
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
