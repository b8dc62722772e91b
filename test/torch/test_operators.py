# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators on the device against eager PyTorch on the CPU."""
import pytest
import torch
import torch.nn.functional as F
import torch_xla  # noqa: F401
import torch_xla.debug.metrics as met


def both(function, *tensors, rtol=1e-5, atol=1e-5):
    want = function(*[t.clone() for t in tensors])
    got = function(*[t.to("xla") for t in tensors])
    for a, b in zip(torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(want)):
        assert a.device.type == "xla"
        torch.testing.assert_close(a.cpu(), b, rtol=rtol, atol=atol, check_stride=False)


X = torch.tensor([[0.5, -1.5, 2.0, 0.0], [3.0, -0.25, 1.0, -2.0], [1.5, 0.75, -3.0, 4.0]])


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_inverse_functions_are_not_the_identity(dtype):
    z = torch.complex(X[:, :2], 4 * X[:, 2:]).to(dtype)
    both(lambda z: [z.exp().log(), z.log().exp(), (z * z).sqrt(), z.cos().acos(), z.sinh().asinh(), (z ** 2) ** 0.5], z, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name, function", [
    ("exp", lambda x: [x.exp(), x.expm1(), x.sigmoid(), x.tanh(), x.sin(), x.cos(), x.abs(), x.neg(), x.sign()]),
    ("logs", lambda x: [(x.abs() + 1).log(), (x.abs() + 1).log2(), x.abs().log1p(), (x.abs() + 1).rsqrt()]),
    ("rounding", lambda x: [x.floor(), x.ceil(), x.round(), x.trunc(), x // 0.7, x % 0.7, torch.fmod(x, 0.7)]),
    ("activations", lambda x: [F.relu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.leaky_relu(x), F.elu(x),
                               F.softplus(x), F.hardswish(x), F.mish(x), F.hardtanh(x)]),
    ("powers", lambda x: [x ** 2, x ** 3, x.abs() ** 0.5, 2 ** x, x.abs() ** 1.7]),
    ("reductions", lambda x: [x.sum(), x.sum(0), x.mean(1, keepdim=True), x.prod(1), x.amax(0), x.min(), x.std(), x.var(1),
                              x.norm(), x.norm(dim=1), x.logsumexp(1), x.max(1)[0], x.max(1)[1], x.argmin(0), x.argmax()]),
    ("truths", lambda x: [(x > 0).any(), (x > 0).all(1), x.isnan(), x.isfinite(), (x > 0) & (x < 2), ~(x > 0)]),
    ("scans", lambda x: [x.cumsum(0), x.cumprod(1), x.cumsum(-1)]),
    ("movement", lambda x: [torch.cat([x, x]), torch.stack([x, x], 1), x.roll(1, 0), x.flip(0), x.tril(), x.triu(1),
                            F.pad(x, (1, 2)), x.repeat(2, 3), x.t().contiguous(), x[:, ::2], x[1], x.diagonal(), *x.split(2, 1)]),
    ("indexing", lambda x: [x[torch.tensor([2, 0])], x[:, torch.tensor([1, -1])], x.gather(1, x.argsort(1)), x.index_select(1, torch.tensor([3, 0], device=x.device)),
                            x.take_along_dim(x.argsort(0), 0)]),
    ("sorting", lambda x: [*x.sort(1), *x.sort(0, descending=True), *x.topk(2), x.argsort(), x.median(), x.kthvalue(2)[0]]),
    ("softmax", lambda x: [x.softmax(-1), x.log_softmax(0), F.layer_norm(x, (4,)), F.normalize(x)]),
    ("products", lambda x: [x @ x.t(), torch.einsum("ij,kj->ik", x, x), x.mv(x[0]), torch.outer(x[0], x[1]), x[0].dot(x[1])]),
    ("where", lambda x: [torch.where(x > 0, x, -1.0), x.masked_fill(x < 0, 9), x.clamp(-1, 1), x.clamp(min=0.5), torch.lerp(x, -x, 0.3)]),
])
def test_values(name, function):
    met.clear_all()
    both(function, X)
    assert met.executed_fallback_ops() == []


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int32, torch.int64, torch.uint8, torch.bool])
def test_types(no_fallback, dtype):
    x = X.abs().to(dtype)
    both(lambda x: [x + x, x * x, x.sum(), x.max(), x == x, x.sort(1)[0] if dtype != torch.bool else x, x.to(torch.float32) / 3,
                    torch.cat([x, x])], x)
    if dtype.is_floating_point:
        both(lambda x: [x.exp(), x.softmax(1), x @ x.t(), x.mean(), F.gelu(x)], x, rtol=1e-2 if dtype.itemsize == 2 else 1e-6)


def test_complex():
    def program(x):
        z = torch.complex(x, x.flip(0))
        return [z.conj(), z.conj() * z, torch.view_as_real(z), z.real, z.imag, z.conj().imag, z.abs(), torch.fft.ifft(z), torch.fft.ihfft(x), torch.fft.ihfft2(x)]
    both(program, X)


def test_fourier(no_fallback):
    def program(x):
        z = torch.complex(x, x.flip(0))
        return [torch.fft.fft(x), torch.fft.ifft(z), torch.fft.rfft2(x), torch.fft.irfft(z, n=6), torch.fft.fftn(z, norm="ortho"),
                torch.fft.irfft2(torch.fft.rfft2(x), s=x.shape), torch.fft.hfft(z)]
    both(program, X)


def test_writes():
    def program(x):
        y = x.clone()
        y[torch.tensor([0, 2])] = 7.0
        y.index_add_(0, torch.tensor([1, 1], device=x.device), x[:2])
        y.scatter_(1, torch.tensor([[0], [1], [2]], device=x.device), 5.0)
        y.scatter_add_(1, torch.tensor([[0, 0], [1, 1], [2, 3]], device=x.device), x[:, :2].contiguous())
        y.index_put_((torch.tensor([0, 0], device=x.device), torch.tensor([1, 1], device=x.device)), torch.ones(2, device=x.device), accumulate=True)
        y[y > 6] = -1
        y.masked_fill_(y < -2, 3)
        return [y, y[y > 0], y.nonzero(), *torch.unique(y, return_counts=True)]
    both(program, X)


def test_convolutions(no_fallback):
    def program(x, w):
        x.requires_grad_()
        w.requires_grad_()
        outs = [F.conv2d(x, w), F.conv2d(x, w, stride=2, padding=1), F.conv2d(x, w, dilation=2, padding=2),
                F.conv2d(x, w[:, :1].expand(-1, 1, -1, -1).contiguous(), groups=4), F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
                F.max_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, 2), F.interpolate(x, scale_factor=2)]
        sum(o.pow(2).sum() for o in outs).backward()
        return [o.detach() for o in outs] + [x.grad, w.grad]
    torch.manual_seed(0)
    both(program, torch.randn(2, 4, 9, 9), torch.randn(4, 4, 3, 3), rtol=1e-4, atol=1e-3)


def test_attention(no_fallback):
    def program(q, k, v):
        for t in (q, k, v):
            t.requires_grad_()
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        out.sum().backward()
        return [out.detach(), q.grad, k.grad, v.grad]
    torch.manual_seed(0)
    both(program, *[torch.randn(2, 3, 5, 8) for _ in range(3)])


def test_random_numbers(no_fallback):
    torch.manual_seed(7)
    first = [torch.randn(1000, device="xla"), torch.rand(1000, device="xla"), torch.randint(3, 9, (1000,), device="xla"),
             torch.randperm(50, device="xla"), torch.bernoulli(torch.full((1000,), 0.3, device="xla")),
             F.dropout(torch.ones(1000, device="xla"), 0.25)]
    torch.manual_seed(7)
    assert torch.equal(first[0].cpu(), torch.randn(1000, device="xla").cpu())
    normal, uniform, integers, order, coins, dropped = [t.cpu() for t in first]
    assert abs(normal.mean()) < 0.2 and abs(normal.std() - 1) < 0.1
    assert 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.05
    assert integers.min() == 3 and integers.max() == 8
    assert sorted(order.tolist()) == list(range(50)) and order.tolist() != list(range(50))
    assert abs(coins.mean() - 0.3) < 0.06
    assert dropped.unique().tolist() == pytest.approx([0, 4 / 3])
    state = torch.xla.get_rng_state()
    a = torch.rand(4, device="xla").cpu()
    torch.xla.set_rng_state(state)
    assert torch.equal(a, torch.rand(4, device="xla").cpu())


def test_autocast():
    layer = torch.nn.Linear(3, 3).to("xla")
    with torch.autocast("xla", dtype=torch.bfloat16):
        assert layer(torch.randn(2, 3, device="xla")).dtype == torch.bfloat16


def test_fallbacks_are_counted():
    met.clear_all()
    made = torch.ops.aten._test_optional_intlist(torch.ones(2, dtype=torch.int32, device="xla"), [3, 4])
    assert made.cpu().tolist() == [4, 5]
    assert met.executed_fallback_ops() == ["aten::_test_optional_intlist"]
