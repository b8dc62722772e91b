# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views, writes to views and copies do what they do on the CPU, before and after step barriers; what they cost is counted."""
import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met

XLAC = torch_xla._XLAC


def writes_to_a_chain(d):
    x = torch.zeros(4, 6, device=d)
    part = x.view(2, 12)[:, 3:9]
    yield x
    part.t().add_(1)
    yield part
    x.mul_(3)
    yield x, part


def writes_to_an_old_view(d):
    x = torch.zeros(4, device=d)
    v = x[1:3]
    yield x
    v.fill_(7)
    yield x
    x.add_(1)
    yield v


def writes_to_parts(d):
    x = torch.zeros(6, device=d)
    a, b = x.split(3)
    a.add_(1)
    b.sub_(1)
    yield x
    m = torch.zeros(3, 3, device=d)
    m.unbind()[0].fill_(3)
    m.diagonal().fill_(2)
    m.select(1, 1).copy_(torch.arange(3.0))
    yield m
    s = torch.zeros(6, device=d)
    s.as_strided((2, 2), (3, 1), 1).fill_(1)
    s.unfold(0, 2, 4)[:, 0] = 9
    yield s


def writes_of_one_value_to_an_expanded_tensor(d):
    x = torch.zeros(3, 1, device=d)
    x.expand(3, 4).fill_(2)
    yield x
    x.expand(3, 4).zero_()
    x[1:].expand(2, 5).fill_(4)
    yield x


def takes_data_over(d):
    a, b = torch.zeros(3, device=d), torch.ones(3, device=d)
    a.data = b
    b.add_(1)
    yield a
    torch.utils.swap_tensors(a, c := torch.full((2,), 5.0, device=d))
    yield a, c
    e = torch.arange(6.0, device=d)
    e.resize_(2, 2)
    yield e


def copies_and_converts(d):
    a = torch.zeros(3, device=d, dtype=torch.int32)
    a.copy_(torch.tensor([1.7, 2.2, -1.5]))
    yield a
    cpu = torch.zeros(3)
    cpu[1:].copy_(torch.full((2,), 4.0, device=d))
    yield cpu
    x = torch.arange(4.0, device=d)
    x[:2].copy_(x[2:])
    yield x


def gradients_through_writes(d):
    x = torch.ones(4, device=d, requires_grad=True)
    y = x * 2
    y[1:3].mul_(3)
    y.sum().backward()
    yield x.grad


def boolean_masks(d):
    x = torch.tensor([0, 1, 2.0], device=d)
    yield x[x > 0], x.nonzero()
    x[x > 0] = torch.tensor([5.0, 6.0], device=d)
    x[x == 0] = -1
    yield x


PROGRAMS = [writes_to_a_chain, writes_to_an_old_view, writes_to_parts, writes_of_one_value_to_an_expanded_tensor, takes_data_over,
            copies_and_converts, gradients_through_writes, boolean_masks]


@pytest.mark.parametrize("barrier", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_on_the_cpu(program, barrier):
    for got, want in zip(program("xla"), program("cpu"), strict=True):
        pairs = zip(got, want) if isinstance(got, tuple) else [(got, want)]
        for a, b in pairs:
            torch.testing.assert_close(a.detach().cpu(), b.detach(), rtol=0, atol=0)
        if barrier:
            torch_xla.sync()


def test_writes_to_repeated_elements_are_refused():
    texts = []
    for device in ("cpu", "xla"):
        with pytest.raises(RuntimeError) as raised:
            torch.zeros(3, 1, device=device).expand(3, 4).add_(1)
        texts.append(str(raised.value).split("\n")[0])
    assert texts[0] == texts[1]


def executions():
    return (met.metric_data("ExecuteTime") or (0,))[0]


def test_executions_are_those_of_pytorch_xla():
    x = torch.rand(3, device="xla")
    torch_xla.sync()
    before = executions()
    y = x * 2
    z = y + 1
    torch_xla.sync()
    z.cpu(), y.cpu(), str(z)
    assert executions() - before == 1, "read after the barrier"
    total = (x * 5).sum()
    total.item(), total.item(), str(total)
    assert executions() - before == 2
    torch_xla.sync(), torch_xla.sync()
    assert executions() - before == 2, "nothing was pending"


def test_functions_of_xlac():
    x = torch.rand(4, device="xla")
    torch_xla.sync()
    same, other = XLAC._get_graph_hash([x * 2.5]) == XLAC._get_graph_hash([x * 3.5]), XLAC._get_graph_hash([x + 1])
    assert same and other != XLAC._get_graph_hash([x * 2.5])
    assert XLAC._xla_get_tensor_view_alias_id(x) == XLAC._xla_get_tensor_view_alias_id(x[1:])
    assert XLAC._xla_get_tensor_id(x) != XLAC._xla_get_tensor_id(x[1:])
    a, b = x + 1, x + 2
    XLAC._xla_sync_multi([a], devices=[], wait=True, sync_xla_data=True)
    assert XLAC._check_tensor_need_materialization([a, b]) == [False, True]
    pointer = XLAC._unsafe_buffer_pointer(x)
    torch_xla.sync()
    assert pointer == XLAC._unsafe_buffer_pointer(x) != XLAC._unsafe_buffer_pointer(a)
    v = x[1:]
    XLAC._replace_xla_tensor(x, a)
    assert torch.equal(x.cpu(), a.cpu()) and torch.equal(v.cpu(), a.cpu()[1:])


@pytest.mark.parametrize("source", [torch.tensor([1 + 2j, 3 - 4j]), torch.tensor([5.0, 6.0]), torch.tensor([1 - 1j])])
def test_a_conjugated_tensor_shows_what_replaces_it(source):
    """The tensor keeps its lazy conjugation or negation, and shows the value of the source through it."""
    x, y = torch.tensor([7j, 8j], device="xla"), torch.tensor([9 + 1j, 2j], device="xla")
    conjugated, negated = x.conj(), y.conj().imag
    assert conjugated.is_conj() and negated.is_neg()
    if conjugated.shape != source.shape:  # memory of its own: x stays
        XLAC._replace_xla_tensor(conjugated, source.to("xla"))
        assert torch.equal(conjugated.cpu(), source) and x.tolist() == [7j, 8j]
        return
    XLAC._replace_xla_tensor(conjugated, source.to("xla"))
    assert torch.equal(conjugated.cpu(), source.to(torch.complex64)) and torch.equal(x.cpu(), source.to(torch.complex64).conj())
    if source.is_complex():
        with pytest.raises(RuntimeError, match="result type ComplexFloat can't be cast to the desired output type Float"):
            XLAC._replace_xla_tensor(negated, source.to("xla"))
    else:
        XLAC._replace_xla_tensor(negated, source.to("xla"))
        assert torch.equal(negated.cpu(), source) and y.tolist() == [9 - 5j, -6j]


@pytest.mark.parametrize("index", [(slice(1, None), slice(None, None, 2)), (slice(0, 3, 2), slice(1, 4, 2)), (slice(None), slice(2, None, 3))])
def test_steps_are_slices(index):
    x = torch.arange(20.0).reshape(4, 5)
    y = x.to("xla")
    assert "gather" not in torch_xla._XLAC._get_xla_tensors_stablehlo([y[index].t() + 1])
    assert torch.equal(y[index].t().cpu(), x[index].t())
    x[index].t().neg_()
    y[index].t().neg_()
    assert "scatter" not in torch_xla._XLAC._get_xla_tensors_stablehlo([y])
    assert torch.equal(y.cpu(), x)


def test_dense_views_of_a_flat_storage_are_runs():
    """At any offset, in any order of dims: read and written without an index per element."""
    generator = torch.Generator().manual_seed(0)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        sizes, strides, step = [3, 4, 5], [0, 0, 0], 1
        for dim in reversed(order):
            strides[dim], step = step, step * sizes[dim]
        for offset in (0, 7, 41):
            plain = torch.randn(101, generator=generator)
            ours, values = plain.clone().to("xla"), torch.randn(sizes, generator=generator)
            ours.as_strided(sizes, strides, offset).copy_(values.to("xla"))
            plain.as_strided(sizes, strides, offset).copy_(values)
            made = ours.as_strided(sizes, strides, offset + 0) * 2
            text = torch_xla._XLAC._get_xla_tensors_stablehlo([ours, made])
            assert "stablehlo.scatter" not in text and "stablehlo.gather" not in text
            assert torch.equal(ours.cpu(), plain) and torch.equal(made.cpu(), plain.as_strided(sizes, strides, offset) * 2)


def test_elements_are_replaced_where_they_are():
    """index_copy and x[:, i] = v along inner dims transpose nothing: what changes does not depend on the size of what is left alone."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 4, 9, 5, generator=generator)
    few = torch.tensor([5, 0])
    for key in ((slice(None), few), (slice(None), slice(None), torch.tensor([[1, 3], [0, -1]])), (slice(None), torch.tensor([1, 2]), few),
                (slice(None), torch.tensor([[1], [2]]), few, slice(1, 3)), (..., torch.tensor([4, 1])), (slice(None), torch.tensor([1, 0]), slice(None), few % 4)):
        x, key = x % 3, tuple(part % 4 if isinstance(part, torch.Tensor) and part.dim() and place == 1 else part for place, part in enumerate(key))
        y, values = x.to("xla"), torch.randn(x[key].shape, generator=generator)
        x[key] = values
        y[tuple(part.to("xla") if isinstance(part, torch.Tensor) else part for part in key)] = values.to("xla")
        text = torch_xla._XLAC._get_xla_tensors_stablehlo([y])
        assert "stablehlo.scatter" in text and (not any("2x4x9x5" in line for line in text.splitlines() if "stablehlo.transpose" in line)), text
        assert torch.equal(y.cpu(), x)
    for dim in (1, 2, 3):
        index = torch.randperm(x.size(dim), generator=generator)[:3]
        values = torch.randn(x.index_select(dim, index).shape, generator=generator)
        y = x.to("xla").index_copy(dim, index.to("xla"), values.to("xla"))
        assert "stablehlo.transpose" not in torch_xla._XLAC._get_xla_tensors_stablehlo([y])
        assert torch.equal(y.cpu(), x.index_copy(dim, index, values))
