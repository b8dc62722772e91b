# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.attention.varlen.varlen_attn() on the device, with gradients, beside attention of each sequence in float64."""
import itertools

import pytest
import torch
import torch_xla
from torch_xla.experimental import _grouped, _ragged_attention, custom_kernel

varlen = pytest.importorskip("torch.nn.attention.varlen")


def one(q, k, v, window, scale):
    """Attention of (rows, heads, dim) over (keys, key heads, dim); the last row stands at the last key."""
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = torch.einsum("qhd,khd->hqk", q, k) * scale
    place, key = torch.arange(q.shape[0])[:, None] + k.shape[0] - q.shape[0], torch.arange(k.shape[0])
    hidden = torch.zeros(scores.shape[1:], dtype=torch.bool)
    hidden = hidden if window[0] < 0 else hidden | (key < place - window[0])
    hidden = hidden if window[1] < 0 else hidden | (key > place + window[1])
    return torch.einsum("hqk,khd->qhd", scores.masked_fill(hidden, -1e30).softmax(-1), v), scores.masked_fill(hidden, -torch.inf).logsumexp(-1)


def case(lengths_q, lengths_k, heads, dtype=torch.float32):
    torch.manual_seed(0)
    ends = [torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32) for lengths in (lengths_q, lengths_k)]
    q, k, v = (torch.randn(sum(lengths), count, 16).to(dtype) for lengths, count in ((lengths_q, heads[0]), (lengths_k, heads[1]), (lengths_k, heads[1])))
    return q, k, v, *ends


def reference(q, k, v, ends_q, ends_k, window, scale):
    parts = [one(q[a:b], k[c:d], v[c:d], window, scale) for a, b, c, d in zip(ends_q, ends_q[1:], ends_k, ends_k[1:])]
    return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts], 1)


@pytest.mark.parametrize("lengths", [([5, 140, 1, 33], None), ([20, 3], [150, 40]), ([1, 1, 1], [130, 7, 1]), ([70], None)])
@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (8, 1)])
@pytest.mark.parametrize("window", [(-1, -1), (-1, 0), (8, 0), (5, 3)])
def test_values_and_gradients(lengths, heads, window, no_fallback):
    lengths_q, lengths_k = lengths[0], lengths[1] or lengths[0]
    q, k, v, ends_q, ends_k = case(lengths_q, lengths_k, heads)
    host = [t.double().requires_grad_() for t in (q, k, v)]
    want, sums = reference(*host, ends_q.tolist(), ends_k.tolist(), window, 16 ** -0.5)
    weights = torch.randn_like(q)
    (want * weights).sum().backward()
    device = [t.to("xla").requires_grad_() for t in (q, k, v)]
    got, lse = varlen.varlen_attn(*device, ends_q.to("xla"), ends_k.to("xla"), max(lengths_q), max(lengths_k), window_size=window,
                                  enable_gqa=heads[0] != heads[1], return_aux=varlen.AuxRequest(lse=True))
    (got * weights.to("xla")).sum().backward()
    torch.testing.assert_close(got.detach().cpu(), want.detach().float(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(lse.detach().cpu(), sums.detach().float(), rtol=1e-4, atol=1e-4)
    for a, b in zip(device, host):
        torch.testing.assert_close(a.grad.cpu(), b.grad.float(), rtol=1e-3, atol=1e-4)


def test_pages(no_fallback):
    q, k, v, ends_q, _ = case([3, 1, 20], [40, 7, 64], (4, 2))
    pages = [torch.zeros(12, 16, 2, 16) for _ in range(2)]
    table = torch.randperm(12).reshape(3, 4).to(torch.int32)
    for i, (start, length) in enumerate(((0, 40), (40, 7), (47, 64))):
        for pool, given in zip(pages, (k, v)):
            padded = torch.zeros(64, 2, 16)
            padded[:length] = given[start:start + length]
            pool[table[i].long()] = padded.view(4, 16, 2, 16)
    used = torch.tensor([40, 7, 64], dtype=torch.int32)
    with torch.no_grad():
        got = varlen.varlen_attn(*(t.to("xla") for t in (q, *pages, ends_q)), None, 20, 64, scale=0.3, window_size=(-1, 0), enable_gqa=True,
                                 seqused_k=used.to("xla"), block_table=table.to("xla"))
    want = reference(q.double(), k.double(), v.double(), ends_q.tolist(), [0, 40, 47, 111], (-1, 0), 0.3)[0]
    torch.testing.assert_close(got.cpu(), want.float(), rtol=1e-4, atol=1e-4)


def test_types_and_dynamo(no_fallback):
    q, k, v, ends, _ = case([5, 40, 1], [5, 40, 1], (4, 4), torch.bfloat16)
    compiled = torch.compile(lambda *given: varlen.varlen_attn(*given, 40, 40, window_size=(-1, 0)), backend="openxla")
    got = compiled(*(t.to("xla") for t in (q, k, v, ends, ends)))
    assert got.dtype == torch.bfloat16
    want = reference(q.double(), k.double(), v.double(), ends.tolist(), ends.tolist(), (-1, 0), 16 ** -0.5)[0]
    torch.testing.assert_close(got.cpu().float(), want.float(), rtol=2e-2, atol=2e-2)


def test_what_a_sequence_gets_does_not_depend_on_the_others(no_fallback):
    q, k, v, ends, _ = case([5, 140, 1, 33], [5, 140, 1, 33], (4, 2))
    options = dict(window_size=(-1, 0), enable_gqa=True)

    def run(rows, *lengths):
        ends_ = torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32).to("xla")
        return varlen.varlen_attn(*(t[rows].to("xla") for t in (q, k, v)), ends_, ends_, max(lengths), max(lengths), **options).cpu()

    together = run(slice(None), 5, 140, 1, 33)
    for first, length in ((0, 5), (5, 140), (145, 1), (146, 33)):
        assert torch.equal(run(slice(first, first + length), length), together[first:first + length])
    text = torch_xla._XLAC._get_xla_tensors_hlo([varlen.varlen_attn(*(t.to("xla") for t in (q, k, v, ends, ends)), 140, 140, **options)])
    assert "179,179" not in text


def test_wrong_ends():
    """Numbers that no tensor has are read nowhere and cost no more than all rows and keys; what is certainly wrong is an error."""
    q, k, v, ends, _ = case([100, 44], [100, 44], (4, 4))
    device = [t.to("xla") for t in (q, k, v)]
    sequences = _ragged_attention.Sequences(ends[:-1], *(torch.tensor(numbers) for numbers in ([100, 2**31 - 1], [0, 0], [-5, 10**6])), 144, 80)
    assert sequences.counts.tolist() == [100, 144] and sequences.lengths.tolist() == [0, 80]
    want = varlen.varlen_attn(*device, ends.to("xla"), ends.to("xla"), 100, 100)
    for wrong in ([0, 100, 10**6], [0, 100, 50], [0, 100, -2**31]):
        wrong = torch.tensor(wrong, dtype=torch.int32, device="xla")
        assert torch.equal(varlen.varlen_attn(*device, wrong, wrong, 100, 100)[:50], want[:50])
    none = torch.zeros(1, dtype=torch.int32, device="xla")
    empty = [t.detach().requires_grad_() for t in device]
    got = varlen.varlen_attn(*empty, none, none, 1, 1)
    got.sum().backward()
    assert not got.any() and not any(t.grad.any() for t in empty)
    for q_ends, k_ends, values, message in ((ends, ends[:2], v, "as many sequences of keys as of queries, but got 1 and 2"), (ends[None], ends[None], v, "vectors"),
                                            (ends[:0], ends[:0], v, "vectors"), (ends, ends, v[:100], "as many keys as values")):
        with pytest.raises(ValueError, match=message):
            varlen.varlen_attn(*device[:2], values.to("xla"), q_ends.to("xla"), k_ends.to("xla"), 100, 100)


def test_wrong_pages():
    q, (k, v) = torch.randn(3, 8, 64, device="xla"), torch.randn(2, 4, 10, 16, 64, device="xla")
    table, lengths = torch.randint(0, 10, (3, 6), device="xla"), torch.tensor([5, 96, 33], device="xla")
    want = custom_kernel.paged_attention(q, k, v, lengths, table, 4)
    for number in (10, -1, 2**31 - 1, -2**31):
        other = table.clone()
        other[::2] = number
        assert torch.equal(custom_kernel.paged_attention(q, k, v, lengths, other, 4)[1], want[1])
        other = torch.tensor([number, 96, number], device="xla")
        assert torch.equal(custom_kernel.paged_attention(q, k, v, other, table, 4)[1], want[1])
    for numbers, pages, keys in ((lengths[:2], table, k), (lengths, table[:2], k), (lengths, table[0], k), (lengths, table, k[:, :9])):
        with pytest.raises(ValueError, match="expects"):
            custom_kernel.paged_attention(q, keys, v, numbers, pages, 4)
        with pytest.raises(ValueError, match="expects"):
            custom_kernel.multi_queries_paged_attention(q[:, None], keys, v, numbers, pages, torch.ones_like(lengths), 4, 4)
    with pytest.raises(ValueError, match="expects numbers of 3 sequences"):
        custom_kernel.ragged_paged_attention(q, torch.cat([k, v]).permute(1, 2, 0, 3), lengths[:2], table, torch.tensor([0, 1, 2, 3], device="xla"),
                                             torch.tensor([3], device="xla"))


def test_wrong_sizes_of_groups():
    lhs, rhs = torch.randn(40, 16), torch.randn(3, 16, 8)
    for sizes in ([10, 2**31 - 1, 2], [10, -2**31, 2], [10, 2**40, 2**33]):
        groups = _grouped._Groups(torch.tensor(sizes), None, 3, 40)
        assert 0 <= int(groups.visits.total) <= 3 * -(-40 // groups.size)
        got = custom_kernel.gmm(lhs.to("xla"), rhs.to("xla"), torch.tensor(sizes, device="xla"))
        torch.testing.assert_close(got[:10].cpu(), lhs[:10] @ rhs[0], rtol=1e-4, atol=1e-4)
    small = torch.tensor([100, 20, 0], dtype=torch.int8)
    wide = torch.randn(300, 16)
    torch.testing.assert_close(custom_kernel.gmm(wide.to("xla"), rhs.to("xla"), small.to("xla"))[:120].cpu(), torch.cat([wide[:100] @ rhs[0], wide[100:120] @ rhs[1]]),
                               rtol=1e-4, atol=1e-4)
