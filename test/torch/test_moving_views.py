# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Another part of a tensor in every step is one program more, not one for each part; the results are the CPU's."""
import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met

ROWS = 9


def compilations():
    return met.counter_value("UncachedCompile") or 0


def rows(x, i):
    return x[i] * 2


def pieces(x, i):
    return x[i // 3 * 3:i // 3 * 3 + 3].sum(0)


def columns(x, i):
    return x[:, i:i + 2].t() + 1


def elements(x, i):
    return x[i, 3]


def planes(x, i):
    return x.view(3, 3, 12)[1:, i % 3, 2:5]


@pytest.mark.parametrize("part", [rows, pieces, columns, elements, planes])
def test_reads(part):
    cpu = torch.randn(ROWS, 12)
    x = cpu.to("xla")
    torch_xla.sync()
    before = compilations()
    for i in range(ROWS):
        y = part(x, i)
        torch_xla.sync()
        torch.testing.assert_close(y.cpu(), part(cpu, i))
    assert compilations() - before == 2
    for i in range(ROWS):
        torch.testing.assert_close(part(x, i).cpu(), part(cpu, i))
    assert compilations() - before == 2


def test_writes():
    cpu = torch.zeros(ROWS, 4)
    x = cpu.to("xla")
    torch_xla.sync()
    before = compilations()
    for i in range(ROWS):
        for t in (x, cpu):
            t[i] += i + 2 + t[ROWS - 1 - i].sum()
        torch_xla.sync()
        torch.testing.assert_close(x.cpu(), cpu)
    assert compilations() - before <= 3  # once the two rows are one


def test_writes_to_columns_and_planes():
    cpu = torch.zeros(2, 3, 4)
    x = cpu.to("xla")
    torch_xla.sync()
    before = compilations()
    for i in range(12):
        for t in (x, cpu):
            t.permute(2, 0, 1)[i % 4].copy_(torch.full((2, 3), 2. + i).to(t.device).cumsum(0))
            t[:, i % 3].transpose(0, 1)[1:3] *= 2
        torch_xla.sync()
        torch.testing.assert_close(x.cpu(), cpu)
    assert compilations() - before <= 3


def test_iteration():
    steps = torch.arange(8, device="xla")
    torch_xla.sync()
    before = compilations()
    for i, t in enumerate(steps):
        x = torch.ones(4, device="xla") * t[None]
        torch_xla.sync()
        assert x[0].item() == i
    assert compilations() - before <= 4  # two of the product, and the reads of x[0]


def test_places_that_do_not_move_stay_constants():
    flat = torch.randn(40).to("xla")
    torch_xla.sync()
    before = compilations()
    for _ in range(3):
        a, b = flat[:20].view(4, 5), flat[20:].view(4, 5)
        y = a @ b.t()
        assert "dynamic_slice" not in torch_xla._XLAC._get_xla_tensors_stablehlo([y])
        torch_xla.sync()
    assert compilations() - before == 1
