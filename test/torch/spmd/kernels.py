# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels under SPMD: partition_spec of flash_attention() (PyTorch/XLA's test_pallas_spmd.py), grouped products and paged attention of sharded tensors."""
import pytest
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from test_pallas_upstream import attention, by_groups, ragged
from torch_xla.experimental import custom_kernel


@pytest.fixture(scope="module", autouse=True)
def mesh():
    xr.use_spmd()
    count = xr.global_runtime_device_count()
    xs.set_global_mesh(xs.Mesh(range(count), (count, 1), ("data", "model")))
    return xs.get_global_mesh()


@pytest.mark.parametrize("has_ids", [False, True])
@pytest.mark.parametrize("dims", [4, 5])
def test_flash_attention(mesh, has_ids, dims):
    count = xr.global_runtime_device_count()
    batch = (count,) if dims == 4 else (count, 2)
    q, k, v = (torch.randn(*batch, 2, 16, 8) for _ in range(3))
    ids = torch.arange(16).div(4, rounding_mode="floor").expand(*batch, -1) if has_ids else None
    device = [t.to("xla").requires_grad_() for t in (q, k, v)]
    given = [ids if ids is None else ids.to("xla")] * 2
    result = custom_kernel.flash_attention(*device, True, *given, partition_spec=("data", *[None] * (dims - 1)), mesh=mesh)
    assert torch_xla._XLAC._get_xla_sharding_spec(result).startswith(f"{{devices=[{count},1,1,1")
    result.square().sum().backward()
    grads = [t.grad for t in device]
    torch_xla.sync()
    for gradient in grads:
        assert torch_xla._XLAC._get_xla_sharding_spec(gradient).startswith(f"{{devices=[{count},1,1,1")
    host = [t.clone().requires_grad_() for t in (q, k, v)]
    want = attention(*host, True, ids, ids)
    want.square().sum().backward()
    torch.testing.assert_close(result.cpu(), want, rtol=1e-4, atol=1e-4)
    for a, b in zip(grads, host):
        torch.testing.assert_close(a.cpu(), b.grad, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("sizes, offset", [([3, 0, 29], None), ([16, 16], None), ([5, 11, 16], 1)])
def test_grouped_products(mesh, sizes, offset):
    """Rows are sharded: every device multiplies its own."""
    lhs, rhs = torch.randn(32, 8), torch.randn(len(sizes) - (offset or 0), 8, 6)
    x, w = lhs.to("xla"), rhs.to("xla").requires_grad_()
    xs.mark_sharding(x, mesh, ("data", None))
    made = custom_kernel.gmm(x, w, torch.tensor(sizes, dtype=torch.int32), group_offset=offset)
    torch.testing.assert_close(made.detach().cpu(), by_groups(lhs, rhs, sizes, offset or 0), rtol=1e-4, atol=1e-4)
    made.sum().backward()
    ends = torch.tensor([0, *sizes]).cumsum(0).tolist()
    want = torch.stack([lhs[ends[g]:ends[g + 1]].sum(0)[:, None].expand(8, 6) for g in range(offset or 0, len(sizes))])
    torch.testing.assert_close(w.grad.cpu(), want, rtol=1e-4, atol=1e-4)


def test_ragged_paged_attention(mesh):
    given, reference = ragged([(9, 40), (1, 18)], (4, 2))
    got = custom_kernel.ragged_paged_attention(*(t.to("xla") for t in given))
    torch.testing.assert_close(got.cpu(), reference(), rtol=1e-4, atol=1e-4)
