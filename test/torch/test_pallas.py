# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of JAX's Pallas on tensors of the device, and torch.ops.xla's names of kernels."""
import os
import subprocess
import sys

import pytest
import torch
import torch_xla
from torch_xla.experimental import custom_kernel

jax = pytest.importorskip("jax")
pytest.importorskip("millrace_jax")
import jax.numpy as jnp  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402


def add_kernel(x, y, out):
    out[...] = x[...] + y[...]


def add(x, y):
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    return pl.pallas_call(add_kernel, grid=(x.shape[0] // 8,), in_specs=[spec, spec], out_specs=spec,
                          out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)


def two(x, scale=2.0):
    def kernel(x, plus, times):
        plus[...] = x[...] + scale
        times[...] = x[...] * scale

    return pl.pallas_call(kernel, out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype)] * 2)(x)


def test_make_kernel_from_pallas(no_fallback):
    x, y = torch.randn(32, 128), torch.randn(32, 128)
    kernel = custom_kernel.make_kernel_from_pallas(add, lambda x, y: [(x.shape, x.dtype)])
    result = kernel(x.to("xla"), y.to("xla"))
    assert isinstance(result, torch.Tensor) and result.device.type == "xla"
    torch.testing.assert_close(result.cpu(), x + y)
    plus, times = custom_kernel.make_kernel_from_pallas(two, lambda x, scale: [(x.shape, x.dtype)] * 2)(x.to("xla"), 3.0)
    torch.testing.assert_close(plus.cpu(), x + 3)
    torch.testing.assert_close(times.cpu(), x * 3)


def test_kernels_are_part_of_the_graph():
    x = torch.randn(32, 128)
    kernel = custom_kernel.make_kernel_from_pallas(add, lambda x, y: [(x.shape, x.dtype)])
    compiled = torch_xla.compile(lambda a: kernel(a * 2, a).relu() + 1)
    torch.testing.assert_close(compiled(x.to("xla")).cpu(), (x * 3).relu() + 1)


def test_wrong_shapes_are_named():
    kernel = custom_kernel.make_kernel_from_pallas(add, lambda x, y: [((1, 2), x.dtype)])
    with pytest.raises(ValueError, match=r"expects results of the shapes and types \[\(\(1, 2\), torch.float32\)\], but the kernel's are"):
        kernel(torch.ones(8, 128, device="xla"), torch.ones(8, 128, device="xla"))
    with pytest.raises(AssertionError, match="list"):
        custom_kernel.make_kernel_from_pallas(add, lambda x, y: (x.shape, x.dtype))(torch.ones(8, 128, device="xla"),
                                                                                  torch.ones(8, 128, device="xla"))


@pytest.mark.parametrize("use_cache", [False, True])
def test_payloads(use_cache):
    x, y = torch.randn(16, 128), torch.randn(16, 128)
    payload, tensors = custom_kernel.trace_pallas(add, x.to("xla"), y.to("xla"), use_cache=use_cache)
    assert len(tensors) == 2
    result, = torch_xla._XLAC._xla_tpu_custom_call(tensors, payload, [x.shape], [x.dtype])
    torch.testing.assert_close(result.cpu(), x + y)
    with pytest.raises(RuntimeError, match="make_kernel_from_pallas"):
        torch_xla._XLAC._xla_tpu_custom_call(tensors, "TUzvUg==", [x.shape], [x.dtype])
    with pytest.raises(RuntimeError, match="at least one tensor"):
        torch_xla._XLAC._xla_tpu_custom_call([], payload, [x.shape], [x.dtype])


def test_dtypes():
    assert custom_kernel.convert_torch_dtype_to_jax(torch.bfloat16) is jnp.bfloat16
    struct = custom_kernel.to_jax_shape_dtype_struct(torch.zeros(2, 3, dtype=torch.int8))
    assert struct.shape == (2, 3) and struct.dtype == jnp.int8
    with pytest.raises(ValueError, match="Unsupported dtype"):
        custom_kernel.convert_torch_dtype_to_jax(torch.complex64)
    assert custom_kernel.safe_empty_like(None) is None and custom_kernel.generate_ctx_need_grad(None, torch.ones(1)) == [False, False]


def test_shipped_flash_attention_on_tensors():
    from jax.experimental.pallas.ops.tpu import flash_attention as shipped
    q, k, v = (torch.randn(1, 2, 128, 64) for _ in range(3))
    kernel = custom_kernel.make_kernel_from_pallas(lambda q, k, v: shipped.flash_attention(q, k, v, causal=True),
                                                   lambda q, k, v: [(q.shape, q.dtype)])
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
    torch.testing.assert_close(kernel(*(t.to("xla") for t in (q, k, v))).cpu(), expected, rtol=1e-4, atol=1e-4)


def test_operators():
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 16, 8) for _ in range(3))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
    device = [t.to("xla").requires_grad_() for t in (q, k, v)]
    result = torch.ops.xla.flash_attention(*device, casual=True)
    torch.testing.assert_close(result.cpu(), expected, rtol=1e-4, atol=1e-4)
    result.sum().backward()
    assert device[0].grad is not None
    sizes = torch.tensor([2, 0, 4], dtype=torch.int32)
    a, b = torch.randn(6, 8), torch.randn(3, 8, 5)
    expected = torch.cat([a[:2] @ b[0], a[2:] @ b[2]])
    torch.testing.assert_close(torch.ops.xla.gmm(a.to("xla"), b.to("xla"), sizes.to("xla")).cpu(), expected, rtol=1e-4, atol=1e-4)
    meta = torch.ops.xla.gmm(a.to("meta"), b.to("meta"), sizes.to("meta"))
    assert meta.shape == (6, 5)
    for name in ("paged_attention", "multi_queries_paged_attention", "ragged_paged_attention", "quantized_matmul_int8"):
        assert hasattr(torch.ops.xla, name)


def test_constants_of_flash_attention():
    attention = custom_kernel.FlashAttention
    assert (attention.MIN_BLOCK_SIZE, attention.NUM_LANES, attention.NUM_SUBLANES) == (128, 128, 8)
    assert len(attention.DEFAULT_BLOCK_SIZES) == 11 and attention.DEFAULT_MASK_VALUE == -0.7 * torch.finfo(torch.float32).max
    rows, columns = attention.prepare_segment_ids(torch.zeros(2, 3, device="xla"), torch.ones(2, 5, device="xla"))
    assert rows.shape == (2, 3, 128) and columns.shape == (2, 8, 5)
    assert attention.prepare_segment_ids(None, None) == (None, None)


def test_jax_of_its_own_keeps_its_rule():
    """Where JAX stays on XLA:CPU, kernels on tensors are compiled all the same, and JAX's own calls are refused as ever."""
    program = """
import torch, torch_xla, jax, jax.numpy as jnp
from jax.experimental import pallas as pl
from torch_xla.experimental.custom_kernel import make_kernel_from_pallas
def kernel(x, out): out[...] = x[...] + 1
call = lambda x: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
print(make_kernel_from_pallas(call, lambda x: [(x.shape, x.dtype)])(torch.ones(2, 128, device="xla")).sum().item())
try:
    jax.jit(call)(jnp.ones((2, 128)))
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ, MILLRACE_JAX="0"))
    assert done.stdout.split("\n")[:2] == ["512.0", "Only interpret mode is supported on CPU backend."], done.stderr
