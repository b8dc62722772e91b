# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.kernel: kernels over a grid of blocks, on the device and on PyTorch's CPU, beside PyTorch's own operations."""
import inspect

import pytest
import torch
import torch.nn.functional as F
from torch_xla.experimental.kernel import Block, Memory, kernel, num_programs, program_id


def softmax(x, rows=16):
    def body(x, out):
        e = torch.exp(x[...] - x[...].amax(-1, keepdim=True))
        out[...] = e / e.sum(-1, keepdim=True)

    block = Block((rows, x.shape[1]), lambda i: (i, 0))
    return kernel(body, grid=(x.shape[0] // rows,), in_specs=[block], out_specs=block, out_shape=(x.shape, x.dtype))(x)


def matmul(x, y, size=32):
    (m, k), n = x.shape, y.shape[1]

    def body(x, y, out, total):
        product = x[...] @ y[...]
        total[...] = product if program_id(2) == 0 else total[...] + product
        if program_id(2) == num_programs(2) - 1:
            out[...] = total[...]

    return kernel(body, grid=(m // size, n // size, k // size),
                  in_specs=[Block((size, size), lambda i, j, k: (i, k)), Block((size, size), lambda i, j, k: (k, j))],
                  out_specs=Block((size, size), lambda i, j, k: (i, j)), out_shape=((m, n), x.dtype), scratch=[Memory((size, size))])(x, y)


def flash_attention(q, k, v, causal, size=32):
    batch, heads, length, dim = q.shape
    groups = heads // k.shape[1]

    def body(q, k, v, out, best, total, result):
        i, j = program_id(2), program_id(3)
        if not causal or j <= i:
            scores = q[...] @ k[...].T
            if causal and i == j:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -1e30)
            high = scores.amax(-1, keepdim=True)
            new = high if j == 0 else torch.maximum(best[...], high)
            p = torch.exp(scores - new)
            if j == 0:
                total[...], result[...] = p.sum(-1, keepdim=True), p @ v[...]
            else:
                old = torch.exp(best[...] - new)
                total[...], result[...] = total[...] * old + p.sum(-1, keepdim=True), result[...] * old + p @ v[...]
            best[...] = new
        if j == num_programs(3) - 1:
            out[...] = result[...] / total[...]

    rows = Block((None, None, size, dim), lambda b, h, i, j: (b, h, i, 0))
    keys = Block((None, None, size, dim), lambda b, h, i, j: (b, h // groups, j, 0))
    return kernel(body, grid=(batch, heads, length // size, k.shape[2] // size), in_specs=[rows, keys, keys], out_specs=rows,
                  out_shape=(q.shape, q.dtype), scratch=[Memory((size, 1)), Memory((size, 1)), Memory((size, dim))])(q, k, v)


@pytest.mark.parametrize("function", [softmax, matmul, flash_attention])
def test_kernels_are_short(function):
    assert len(inspect.getsource(function).splitlines()) <= 40


@pytest.mark.parametrize("device", ["cpu", "xla"])
def test_softmax(device, no_fallback):
    x = torch.randn(64, 100)
    torch.testing.assert_close(softmax(x.to(device)).cpu(), x.softmax(-1))


@pytest.mark.parametrize("device", ["cpu", "xla"])
def test_matmul(device, no_fallback):
    x, y = torch.randn(64, 96), torch.randn(96, 128)
    torch.testing.assert_close(matmul(x.to(device), y.to(device)).cpu(), x @ y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_flash_attention_and_its_gradients(causal, kv_heads, no_fallback):
    q, k, v = torch.randn(2, 4, 96, 16) / 2, torch.randn(2, kv_heads, 96, 16), torch.randn(2, kv_heads, 96, 16)
    device, host = ([t.clone().to(where).requires_grad_() for t in (q, k, v)] for where in ("xla", "cpu"))
    result = flash_attention(*device, causal)
    expected = F.scaled_dot_product_attention(*host, is_causal=causal, scale=1.0, enable_gqa=True)
    torch.testing.assert_close(result.cpu(), expected, rtol=1e-4, atol=1e-4)
    result.square().sum().backward()
    expected.square().sum().backward()
    for got, want in zip(device, host):
        torch.testing.assert_close(got.grad.cpu(), want.grad, rtol=1e-3, atol=1e-3)


def test_memory_from_cell_to_cell():
    def body(x, out, total):
        total[...] = x[...] if program_id(0) == 0 else total[...] + x[...]
        out[...] = total[...]

    block = Block((None, 8), lambda i: (i, 0))
    x = torch.randn(5, 8)
    result = kernel(body, grid=(5,), in_specs=[block], out_specs=block, out_shape=((5, 8), torch.float32), scratch=[Memory((8,))])(x.to("xla"))
    torch.testing.assert_close(result.cpu(), x.cumsum(0))


def test_parts_of_blocks_and_two_outputs():
    def body(x, first, second):
        first[...] = x[...]
        first[1, 2:4] = x[0, 2:4] * 10
        first[0:1, 0] = x[0:1, 0] + 1
        second[...] = x[...].sum(-1).to(torch.int32)

    x = torch.arange(32.0).reshape(4, 8)
    first, second = kernel(body, grid=(2,), in_specs=[Block((2, 8), lambda i: (i, 0))],
                           out_specs=[Block((2, 8), lambda i: (i, 0)), Block((2,), lambda i: (i,))],
                           out_shape=[((4, 8), torch.float32), ((4,), torch.int32)])(x.to("xla"))
    expected = x.clone()
    expected[1::2, 2:4] = x[0::2, 2:4] * 10
    expected[0::2, 0] += 1
    assert torch.equal(first.cpu(), expected) and second.tolist() == [28, 92, 156, 220]


def test_numbers_of_parallel_cells_are_tensors():
    def body(x, out):
        i = program_id(0)
        assert not isinstance(i, int)
        out[...] = x[...] + (2 * i + 1) + torch.where(i * 8 + torch.arange(8) >= 8, 100.0, 0.0)

    result = one(body)
    assert result[:8].eq(2).all() and result[8:].eq(104).all()


def one(body, shape=(16, 8), block=(8, 8), grid=(2,), **options):
    spec = Block(block, lambda i: (i, 0))
    return kernel(body, grid=grid, in_specs=[spec], out_specs=spec, out_shape=(shape, torch.float32), **options)(torch.ones(shape))


def test_errors_name_the_users_line():
    def shape(x, out):
        out[...] = x[...].sum(0)

    def dtype(x, out):
        out[...] = x[...].double()

    def writes(x, out):
        x[...] = x[...] + 1

    def early(x, out, memory):
        out[...] = memory[...]

    def nothing(x, out):
        pass

    def line(function):
        return f"test_kernel.py:{inspect.getsourcelines(function)[1] + 1}: "

    for function, message in ((shape, r"expects the shape \(8, 8\) for output 0 of shape, but got \(8,\)"),
                              (writes, "input 0 of writes is an input")):
        with pytest.raises(ValueError, match=line(function) + message):
            one(function)
    with pytest.raises(TypeError, match=line(dtype) + "expects torch.float32 for output 0 of dtype, but got torch.float64"):
        one(dtype)
    with pytest.raises(ValueError, match=line(early) + "scratch 0 of early is read before it was written"):
        one(early, scratch=[Memory((8, 8))])
    with pytest.raises(ValueError, match="no cell writes 1 of them"):
        one(nothing)
    with pytest.raises(ValueError, match="sizes that blocks divide"):
        one(shape, block=(5, 8))
    with pytest.raises(ValueError, match=r"ints below \(2, 1\) of the index map for the cell \(2,\)"):
        one(shape, grid=(3,))
    with pytest.raises(RuntimeError, match="for bodies"):
        program_id(0)
