# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.kernel: kernels over a grid of blocks, on the device and on PyTorch's CPU, beside PyTorch's own operations."""
import inspect

import pytest
import torch
import torch.nn.functional as F
from examples import tile_kernels as kernels
from torch_xla.experimental.kernel import Block, Memory, kernel, program_id


# The examples' kernels, without what spares calls of them from being recorded again.
softmax, matmul, flash_attention = (inspect.unwrap(function) for function in (kernels.softmax, kernels.matmul, kernels.flash_attention))


@pytest.mark.parametrize("function", [softmax, matmul, flash_attention, inspect.unwrap(kernels.forward), inspect.unwrap(kernels.backward)])
def test_kernels_are_short(function):
    assert len(inspect.getsource(function).splitlines()) <= 40


@pytest.mark.parametrize("device", ["cpu", "xla"])
def test_softmax(device, no_fallback):
    x = torch.randn(64, 100)
    torch.testing.assert_close(softmax(x.to(device)).cpu(), x.softmax(-1))


@pytest.mark.parametrize("device", ["cpu", "xla"])
def test_matmul(device, no_fallback):
    x, y = torch.randn(64, 96), torch.randn(96, 128)
    torch.testing.assert_close(matmul(x.to(device), y.to(device), size=32).cpu(), x @ y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kv_heads", [4, 2])
@pytest.mark.parametrize("flash_attention", [flash_attention, kernels.FlashAttention.apply], ids=["autograd", "kernels"])
def test_flash_attention_and_its_gradients(causal, kv_heads, flash_attention, no_fallback):
    q, k, v = torch.randn(2, 4, 96, 16) / 2, torch.randn(2, kv_heads, 96, 16), torch.randn(2, kv_heads, 96, 16)
    device, host = ([t.clone().to(where).requires_grad_() for t in (q, k, v)] for where in ("xla", "cpu"))
    result = flash_attention(*device, causal, 32)
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


@pytest.mark.parametrize("device", ["cpu", "xla"])
@pytest.mark.parametrize("rows, columns", [(50, 33), (16, 7), (3, 64)])
def test_blocks_that_reach_beyond_the_tensor(device, rows, columns, no_fallback):
    """What is beyond can be masked, is NaN where it is not, and is not written; gradients stay inside."""
    def masked(x, out):
        inside = program_id(1) * 8 + torch.arange(8, device=x[...].device) < columns
        row = torch.where(inside, x[...], torch.zeros((), device=x[...].device)).sum(-1)
        out[...] = row if program_id(1) == 0 else out[...] + row

    def plain(x, out):
        out[...] = x[...].sum(-1) if program_id(1) == 0 else out[...] + x[...].sum(-1)

    x = torch.randn(rows, columns)
    options = dict(grid=(-(-rows // 16), -(-columns // 8)), in_specs=[Block((16, 8), lambda i, j: (i, j))], out_specs=Block((16,), lambda i, j: (i,)),
                   out_shape=((rows,), torch.float32))
    given = x.to(device).requires_grad_()
    result = kernel(masked, **options)(given)
    torch.testing.assert_close(result.cpu(), x.sum(-1), rtol=1e-4, atol=1e-5)
    result.sum().backward()
    assert torch.equal(given.grad.cpu(), torch.ones(rows, columns))
    unmasked = kernel(plain, **options)(x.to(device)).cpu()
    if columns % 8:
        assert unmasked.isnan().all()
    else:
        torch.testing.assert_close(unmasked, x.sum(-1), rtol=1e-4, atol=1e-5)


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
    with pytest.raises(ValueError, match=r"ints below \(2, 1\) of the index map for the cell \(2,\)"):
        one(shape, grid=(3,))
    with pytest.raises(RuntimeError, match="for bodies"):
        program_id(0)
