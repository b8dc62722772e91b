# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch/XLA's tests of its kernels ask (test_pallas.py, test_gmm.py, test_ragged_paged_attention_kernel.py and their neighbours), on this device:
programs of ours, one class per file there, beside PyTorch's operations in float64 or a loop over sequences. docs/guide/kernels.md counts them."""
import itertools
import math

import numpy as np
import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch_xla.experimental import custom_kernel, xla_quantized_matmul
from torch_xla.experimental.splash_attention import SplashAttentionConfig, splash_attention


def attention(q, k, v, causal=False, q_ids=None, kv_ids=None, scale=1.0, ab=None, cap=None, window=None):
    """Attention of any number of leading dimensions in float64."""
    scores = q.double() @ k.double().transpose(-1, -2)
    scores = (scores if ab is None else scores + ab.double()) * scale
    scores = scores if cap is None else cap * torch.tanh(scores / cap)
    rows, columns = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])[None]
    hidden = torch.zeros(scores.shape[-2:], dtype=torch.bool)
    if causal:
        hidden = hidden | (columns > rows)
    if window is not None:
        hidden = hidden | ((rows - columns).abs() > window)
    if q_ids is not None:
        hidden = hidden | (q_ids.unsqueeze(-2).unsqueeze(-1) != kv_ids.unsqueeze(-2).unsqueeze(-2))
    return (scores.masked_fill(hidden, -1e30).softmax(-1) @ v.double()).to(q.dtype)


def close(got, want, tolerance=1e-4):
    torch.testing.assert_close(got.cpu().to(want.dtype), want, rtol=tolerance, atol=tolerance)


def on(device, *tensors):
    return [t.to(device) if isinstance(t, torch.Tensor) else t for t in tensors]


class TestFlashAttention:
    """test_pallas.py: the tests of flash_attention(); test_flash_attention.py."""

    @pytest.mark.parametrize("causal, has_ids, has_ab, scale", [case for case in itertools.product([False, True], [False, True], [False, True], [1.0, 0.3])])
    @pytest.mark.parametrize("lengths", [(128, 128), (96, 160)])
    def test_values_and_gradients(self, causal, has_ids, has_ab, scale, lengths, no_fallback):
        torch.manual_seed(0)
        q, k, v = (torch.randn(2, 2, length, 16) / 2 for length in (lengths[0], lengths[1], lengths[1]))
        ab = torch.randn(2, 2, *lengths) if has_ab else None
        ids = [torch.arange(length).div(32, rounding_mode="floor").expand(2, -1).contiguous() for length in lengths] if has_ids else [None, None]
        results = []
        for device in ("cpu", "xla"):
            given = [t.clone().to(device).requires_grad_() if t is not None else None for t in (q, k, v, ab)]
            if device == "cpu":
                made = attention(*given[:3], causal, *ids, scale, given[3])
            else:
                made = custom_kernel.flash_attention(*given[:3], causal, *on(device, *ids), scale, ab=given[3])
            made.square().sum().backward()
            results.append([made.detach(), *(t.grad for t in given if t is not None)])
        for want, got in zip(*results):
            close(got, want, 2e-3)

    def test_two_batch_dimensions(self, no_fallback):
        q, k, v = (torch.randn(2, 3, 2, 16, 8) for _ in range(3))
        ids = torch.arange(16).div(8, rounding_mode="floor").expand(2, 3, -1)
        close(custom_kernel.flash_attention(*on("xla", q, k, v), True, *on("xla", ids, ids)), attention(q, k, v, True, ids, ids))

    def test_dynamo(self, no_fallback):
        q, k, v = (torch.randn(1, 2, 32, 8) for _ in range(3))
        compiled = torch.compile(lambda q, k, v: torch.ops.xla.flash_attention(q, k, v, True) * 2, backend="openxla", fullgraph=True)
        close(compiled(*on("xla", q, k, v)), attention(q, k, v, True) * 2)

    def test_ahead_of_time(self, no_fallback):
        from functorch.compile import aot_function, make_boxed_func
        q, k, v = (torch.randn(1, 2, 32, 8) for _ in range(3))
        compiled = aot_function(custom_kernel.flash_attention, fw_compiler=lambda graph, _: make_boxed_func(graph))
        device, host = ([t.clone().to(where).requires_grad_() for t in (q, k, v)] for where in ("xla", "cpu"))
        got, want = compiled(*device, True), attention(*host, True)
        close(got, want)
        got.sum().backward()
        want.sum().backward()
        for a, b in zip(device, host):
            close(a.grad, b.grad, 1e-3)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    def test_types(self, dtype, no_fallback):
        q, k, v = (torch.randn(1, 2, 32, 8).to(dtype) for _ in range(3))
        got = custom_kernel.flash_attention(*on("xla", q, k, v), causal=True)
        assert got.dtype == dtype
        close(got, attention(q, k, v, True), 2e-2)

    def test_autograd_function(self, no_fallback):
        q, k, v = (torch.randn(1, 2, 16, 8) for _ in range(3))
        device = [t.to("xla").requires_grad_() for t in (q, k, v)]
        close(custom_kernel.FlashAttention.apply(*device, True, None, None, 0.5, None, None, None), attention(q, k, v, True, scale=0.5))


def pages(lengths, kv_heads, page_size, dim, per_sequence, seed=0):
    """Keys and values (kv heads, pages, page size, dim), the table, and a function of a sequence that returns its keys and values."""
    torch.manual_seed(seed)
    count = len(lengths) * per_sequence
    k, v = torch.randn(kv_heads, count, page_size, dim), torch.randn(kv_heads, count, page_size, dim)
    table = torch.randperm(count).reshape(len(lengths), per_sequence).to(torch.int32)

    def sequence(i):
        return tuple(which[:, table[i].long()].reshape(kv_heads, -1, dim)[:, :lengths[i]].double() for which in (k, v))

    return k, v, table, sequence


def last_rows(q, k, v, window=None, cap=None, scale=1.0):
    """Attention of the rows (rows, heads, dim), the last ones of their sequence, over k and v (kv heads, length, dim)."""
    rows, heads, _ = q.shape
    k, v = (t.repeat_interleave(heads // t.shape[0], 0) for t in (k, v))
    scores = torch.einsum("qhd,hkd->hqk", q.double(), k) * scale
    scores = scores if cap is None else cap * torch.tanh(scores / cap)
    place, key = torch.arange(k.shape[1] - rows, k.shape[1])[:, None], torch.arange(k.shape[1])[None]
    hidden = (key > place) if window is None else (key > place) | (key <= place - window)
    return torch.einsum("hqk,hkd->qhd", scores.masked_fill(hidden, -1e30).softmax(-1), v).to(q.dtype)


class TestPagedAttention:
    """test_pallas.py: paged_attention(); test_multi_queries_paged_attention_kernel.py."""

    @pytest.mark.parametrize("heads", [(4, 4), (8, 2)])
    @pytest.mark.parametrize("cap", [None, 2.0])
    @pytest.mark.parametrize("page_size, per_sequence", [(4, 9), (16, 20), (256, 2)])
    def test_one_query(self, heads, cap, page_size, per_sequence, no_fallback):
        lengths = [5, min(300, page_size * per_sequence), 1, 33]
        k, v, table, sequence = pages(lengths, heads[1], page_size, 8, per_sequence)
        q = torch.randn(4, heads[0], 8)
        got = custom_kernel.paged_attention(*on("xla", q, k, v, torch.tensor(lengths, dtype=torch.int32), table), 4, attn_logits_soft_cap=cap)
        want = torch.cat([last_rows(q[i:i + 1], *sequence(i), cap=cap) for i in range(4)])
        close(got, want)

    @pytest.mark.parametrize("mode", [None, "batch", "kv_head"])
    def test_modes_and_dynamo(self, mode, no_fallback):
        k, v, table, sequence = pages([9, 4], 2, 4, 8, 3)
        q, lengths = torch.randn(2, 4, 8), torch.tensor([9, 4], dtype=torch.int32)
        compiled = torch.compile(lambda *given: torch.ops.xla.paged_attention(*given, pages_per_compute_block=1, megacore_mode=mode), backend="openxla")
        want = torch.cat([last_rows(q[i:i + 1], *sequence(i)) for i in range(2)])
        close(compiled(*on("xla", q, k, v, lengths, table)), want)

    @pytest.mark.parametrize("heads", [(4, 4), (8, 1)])
    @pytest.mark.parametrize("queries", [1, 4, 40])
    @pytest.mark.parametrize("cap", [None, 2.0])
    @pytest.mark.parametrize("use_kernel", [False, True])
    def test_several_queries(self, heads, queries, cap, use_kernel, no_fallback):
        lengths, effective = [40, 77, 50], [queries, max(1, queries - 3), 1]
        k, v, table, sequence = pages(lengths, heads[1], 8, 8, 12)
        q = torch.randn(3, queries, heads[0], 8)
        given = on("xla", q, k, v, torch.tensor(lengths, dtype=torch.int32), table, torch.tensor(effective, dtype=torch.int32))
        got = custom_kernel.multi_queries_paged_attention(*given, 4, 8, use_kernel, cap).cpu()
        for i, count in enumerate(effective):
            close(got[i, :count], last_rows(q[i, :count], *sequence(i), cap=cap))


def ragged(sequences, heads, page_size=8, dim=8, rows=None, slots=None, dtype=torch.float32, seed=0):
    """Arguments of ragged_paged_attention() for (number of queries, length) of sequences, and what it should return."""
    slots = slots or len(sequences)
    per_sequence = max(-(-length // page_size) for _, length in sequences)
    k, v, table, sequence = pages([length for _, length in sequences], heads[1], page_size, dim, per_sequence, seed)
    table = torch.cat([table, torch.zeros(slots - len(sequences), per_sequence, dtype=torch.int32)])
    ends = torch.tensor([0, *itertools.accumulate(count for count, _ in sequences)])
    ends = torch.cat([ends, ends[-1:].expand(slots - len(sequences))]).to(torch.int32)
    total = int(ends[-1])
    q = torch.randn(rows or total, heads[0], dim).to(dtype)
    lengths = torch.tensor([length for _, length in sequences] + [0] * (slots - len(sequences)), dtype=torch.int32)
    combined = torch.stack([k, v], 1).flatten(0, 1).permute(1, 2, 0, 3).contiguous().to(dtype)
    number = torch.tensor([len(sequences)], dtype=torch.int32)

    def reference(**options):
        made, at = torch.zeros_like(q), 0
        for i, (count, _) in enumerate(sequences):
            made[at:at + count] = last_rows(q[at:at + count], *sequence(i), **options)
            at += count
        return made

    return [q, combined, lengths, table, ends, number], reference


class TestRaggedPagedAttention:
    """test_ragged_paged_attention_kernel.py and the tests of ragged_paged_attention() in test_pallas.py."""

    @pytest.mark.parametrize("sequences", [[(19, 130), (5, 18), (50, 56)], [(1, 132), (1, 18), (1, 17)], [(30, 30)], [(1, 1), (17, 90), (1, 64), (2, 2), (33, 40)]])
    @pytest.mark.parametrize("heads", [(4, 4), (8, 2), (8, 1)])
    @pytest.mark.parametrize("window, cap", [(None, None), (5, None), (None, 10.0), (64, 10.0)])
    def test_values(self, sequences, heads, window, cap, no_fallback):
        given, reference = ragged(sequences, heads)
        got = custom_kernel.ragged_paged_attention(*on("xla", *given), sm_scale=0.5, sliding_window=window, soft_cap=cap)
        close(got, reference(scale=0.5, window=window, cap=cap))

    @pytest.mark.parametrize("rows, slots", [(128, 4), (75, 16)])
    def test_rows_and_sequences_that_are_not_there(self, rows, slots, no_fallback):
        given, reference = ragged([(19, 130), (1, 18), (50, 56)], (4, 2), rows=rows, slots=slots)
        got = custom_kernel.ragged_paged_attention(*on("xla", *given)).cpu()
        close(got, reference())
        assert not got[70:].any()

    def test_what_a_query_gets_does_not_depend_on_the_batch(self, no_fallback):
        """Bit for bit: alone, with others, in another place of the batch, and with memory for more sequences."""
        sequences = [(1, 333), (37, 200), (1, 20), (16, 16)]
        given, _ = ragged(sequences, (8, 2), rows=64, slots=8)
        together = custom_kernel.ragged_paged_attention(*on("xla", *given)).cpu()
        q, kv, lengths, table, ends, number = given
        for order in ([0], [1], [2, 1], [3, 0, 1]):
            rows = torch.cat([torch.arange(int(ends[i]), int(ends[i + 1])) for i in order])
            some_ends = torch.tensor([0, *itertools.accumulate(sequences[i][0] for i in order)], dtype=torch.int32)
            alone = custom_kernel.ragged_paged_attention(*on("xla", q[rows], kv, lengths[order], table[order], some_ends, torch.tensor([len(order)])))
            assert torch.equal(alone.cpu(), together[rows])

    def test_work_follows_the_lengths(self, no_fallback):
        """The program has loops over pieces of queries and keys; a table of pages that is not used changes neither values nor their number."""
        given, reference = ragged([(3, 20), (1, 9)], (4, 2))
        given[3] = torch.nn.functional.pad(given[3], (0, 200))
        got = custom_kernel.ragged_paged_attention(*on("xla", *given))
        text = torch_xla._XLAC._get_xla_tensors_hlo([got])
        assert text.count("while(") >= 2 and f"{given[0].shape[0]},{given[3].numel() * 8}" not in text
        close(got, reference())

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn])
    def test_types(self, dtype, no_fallback):
        given, reference = ragged([(9, 40), (1, 18)], (4, 2))
        want = reference(scale=0.5)
        scale = 1.0 if dtype == torch.bfloat16 else 0.5
        device = on("xla", *given)
        device[1] = (given[1] / scale).to(dtype).to("xla")
        scales = {} if dtype == torch.bfloat16 else dict(k_scale=scale, v_scale=scale)
        close(custom_kernel.ragged_paged_attention(*device, sm_scale=0.5, **scales), want, 5e-2 if dtype == torch.bfloat16 else 3e-1)

    @pytest.mark.parametrize("use_kernel", [False, True])
    def test_dynamo(self, use_kernel, no_fallback):
        given, reference = ragged([(9, 40), (1, 18)], (4, 2))
        compiled = torch.compile(lambda *a: torch.ops.xla.ragged_paged_attention(*a, sm_scale=0.5, use_kernel=use_kernel, num_kv_pages_per_block=2,
                                                                                 num_queries_per_block=8, vmem_limit_bytes=1 << 20), backend="openxla")
        close(compiled(*on("xla", *given)), reference(scale=0.5))

    def test_gradients(self, no_fallback):
        given, _ = ragged([(9, 20), (1, 18)], (4, 2))
        grads = []
        for device in ("cpu", "xla"):
            tensors = on(device, *given)
            tensors[0], tensors[1] = (t.detach().requires_grad_() for t in tensors[:2])
            custom_kernel.ragged_paged_attention(*tensors).square().sum().backward()
            grads.append([t.grad for t in tensors[:2]])
        for want, got in zip(*grads):
            close(got, want, 1e-3)

    def test_mistakes(self):
        given, _ = ragged([(2, 4)], (3, 2))
        with pytest.raises(ValueError, match="the number of key heads divides"):
            custom_kernel.ragged_paged_attention(*given)


def by_groups(lhs, rhs, sizes, offset=0):
    """One product per group."""
    made, at = torch.zeros(lhs.shape[0], rhs.shape[-1], dtype=torch.float64), 0
    for group, size in enumerate(sizes):
        if 0 <= group - offset < rhs.shape[0]:
            made[at:at + size] = lhs[at:at + size].double() @ rhs[group - offset].double()
        at += size
    return made.to(lhs.dtype)


GROUPS = [([128], 128), ([0, 70, 0, 58], 128), ([1] * 16, 16), ([3, 0, 5, 1, 0, 0, 60, 9], 90), ([0, 0, 7], 7), ([0, 0], 5)]


class TestGroupedProducts:
    """test_gmm.py."""

    @pytest.mark.parametrize("sizes, rows", GROUPS)
    @pytest.mark.parametrize("transposed", [False, True])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
    def test_values(self, sizes, rows, transposed, dtype, no_fallback):
        torch.manual_seed(0)
        lhs, rhs = torch.randn(rows, 24).to(dtype), torch.randn(len(sizes), 24, 40).to(dtype)
        given = rhs.transpose(1, 2).contiguous() if transposed else rhs
        got = custom_kernel.gmm(lhs.to("xla"), given.to("xla"), torch.tensor(sizes, dtype=torch.int32), transpose_rhs=transposed)  # sizes on the CPU
        assert got.dtype == dtype
        close(got, by_groups(lhs, rhs, sizes), 1e-4 if dtype == torch.float32 else 2e-2)

    @pytest.mark.parametrize("sizes, rows", GROUPS)
    def test_products_of_columns(self, sizes, rows, no_fallback):
        lhs, rhs = torch.randn(24, rows), torch.randn(rows, 40)
        ends = [0, *itertools.accumulate(sizes)]
        want = torch.stack([lhs[:, a:b] @ rhs[a:b] for a, b in zip(ends, ends[1:])])
        close(custom_kernel.tgmm(*on("xla", lhs, rhs, torch.tensor(sizes, dtype=torch.int32))), want, 1e-3)

    @pytest.mark.parametrize("offset", [0, 1, 2])
    def test_some_of_the_groups(self, offset, no_fallback):
        sizes, lhs, rhs = [5, 0, 9, 4], torch.randn(20, 8), torch.randn(2, 8, 6)
        group_sizes, start = on("xla", torch.tensor(sizes, dtype=torch.int32), torch.tensor([offset]))
        close(custom_kernel.gmm(*on("xla", lhs, rhs), group_sizes, group_offset=start), by_groups(lhs, rhs, sizes, offset))
        close(custom_kernel.gmm(*on("xla", lhs, rhs), group_sizes, group_offset=offset), by_groups(lhs, rhs, sizes, offset))
        other, ends = torch.randn(20, 6), [0, 5, 5, 14, 18]
        want = torch.stack([lhs[ends[g]:ends[g + 1]].T @ other[ends[g]:ends[g + 1]] for g in range(offset, offset + 2)])
        close(custom_kernel.tgmm(lhs.T.to("xla"), other.to("xla"), group_sizes, group_offset=start, num_actual_groups=2), want)

    @pytest.mark.parametrize("sizes, rows", GROUPS[1:4])
    @pytest.mark.parametrize("which", ["GMM", "gmm", "operator", "transposed"])
    def test_gradients(self, sizes, rows, which, no_fallback):
        torch.manual_seed(0)
        results = []
        for device in ("cpu", "xla"):
            generator = torch.Generator().manual_seed(0)
            lhs = torch.randn(rows, 8, generator=generator).to(device).requires_grad_()
            rhs = torch.randn(len(sizes), 8, 6, generator=generator).to(device).requires_grad_()
            counts = torch.tensor(sizes, dtype=torch.int32).to(device)
            if device == "cpu":
                ends = [0, *itertools.accumulate(sizes)]
                made = torch.cat([lhs[a:b] @ rhs[i] for i, (a, b) in enumerate(zip(ends, ends[1:]))] + [torch.zeros(rows - ends[-1], 6)])
            elif which == "transposed":
                made = custom_kernel.gmm(lhs, rhs.transpose(1, 2), counts, transpose_rhs=True)
            else:
                made = {"GMM": custom_kernel.GMM.apply, "gmm": custom_kernel.gmm, "operator": torch.ops.xla.gmm}[which](lhs, rhs, counts)
            made.square().sum().backward()
            results.append([made.detach(), lhs.grad, rhs.grad])
        for want, got in zip(*results):
            close(got, want, 1e-3)

    def test_backward_function(self, no_fallback):
        sizes, lhs, rhs, gradient = [3, 0, 9], torch.randn(12, 8), torch.randn(3, 8, 6), torch.randn(12, 6)
        left, right = custom_kernel.gmm_backward(*on("xla", gradient, lhs, rhs, torch.tensor(sizes, dtype=torch.int32)))
        close(left, by_groups(gradient, rhs.transpose(1, 2), sizes))
        close(right, torch.stack([lhs[a:b].T @ gradient[a:b] for a, b in ((0, 3), (3, 3), (3, 12))]))

    def test_dynamo(self, no_fallback):
        sizes, lhs, rhs = [3, 0, 9], torch.randn(12, 8), torch.randn(3, 8, 6)
        compiled = torch.compile(lambda *given: torch.ops.xla.gmm(*given) + 1, backend="openxla")
        close(compiled(*on("xla", lhs, rhs, torch.tensor(sizes, dtype=torch.int32))), by_groups(lhs, rhs, sizes) + 1)

    def test_one_loop_whatever_the_number_of_groups(self, no_fallback):
        lhs, rhs = torch.randn(64, 8).to("xla"), torch.randn(32, 8, 6).to("xla")
        text = torch_xla._XLAC._get_xla_tensors_hlo([custom_kernel.gmm(lhs, rhs, torch.full((32,), 2, dtype=torch.int32))])
        assert text.count("while(") == 1 and text.count(" dot(") == 1

    @pytest.mark.parametrize("repeats, length", [([2, 0, 1], 3), ([2, 0, 1], 5), ([4, 4, 4], 6)])
    def test_repetition(self, repeats, length, no_fallback):
        x = torch.tensor([5, 6, 7])
        want = torch.repeat_interleave(x, torch.tensor(repeats))
        want = torch.cat([want, want.new_full((max(0, length - len(want)),), 7)])[:length]
        got = custom_kernel.repeat_with_fixed_output_size(*on("xla", x, torch.tensor(repeats)), length)
        assert got.tolist() == want.tolist()


class TestQuantizedMatmul:
    """test_quantized_matmul_pallas_kernel.py and test_pallas.py's tests of the wrapper."""

    @pytest.mark.parametrize("rows, inputs, outputs", [(16, 128, 256), (64, 192, 64), (33, 70, 50)])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
    @pytest.mark.parametrize("quantize_activation", [False, True])
    def test_values(self, rows, inputs, outputs, dtype, quantize_activation, no_fallback):
        torch.manual_seed(0)
        x, w = torch.randn(rows, inputs).to(dtype), torch.randn(outputs, inputs)
        scale = w.abs().amax(-1) / 127
        codes = torch.round(w / scale[:, None]).clamp(-128, 127).to(torch.int8)
        got = custom_kernel.quantized_matmul_int8(*on("xla", x, codes, scale.to(dtype)), quantize_activation=quantize_activation, batch_block_size=128,
                                                  out_block_size=128, in_block_size=128)
        want = x.double() @ (codes.double() * scale[:, None]).T
        assert got.dtype == dtype and got.shape == want.shape
        assert float((got.cpu().double() - want).norm() / want.norm()) < (3e-2 if quantize_activation or dtype == torch.bfloat16 else 1e-5)

    @pytest.mark.parametrize("quantize_activation", [False, True])
    def test_dynamo(self, quantize_activation, no_fallback):
        x, codes, scale = torch.randn(4, 16), torch.randint(-128, 127, (8, 16), dtype=torch.int8), torch.rand(8)
        compiled = torch.compile(lambda *given: torch.ops.xla.quantized_matmul_int8(*given, quantize_activation=quantize_activation), backend="openxla")
        want = x @ (codes * scale[:, None]).T
        got = compiled(*on("xla", x, codes, scale)).cpu()
        assert float((got - want).norm() / want.norm()) < 3e-2

    def test_blocks_of_inputs(self, no_fallback):
        x, codes, scale = torch.randn(4, 32), torch.randint(-128, 127, (4, 8, 6), dtype=torch.int8), torch.rand(4, 6)
        got = custom_kernel.quantized_matmul_int8(*on("xla", x, codes, scale), quant_block_size=8)
        close(got, x @ (codes * scale[:, None]).flatten(0, 1), 1e-3)
        assert torch.equal(got.cpu(), xla_quantized_matmul.quantized_matmul_xla(*on("xla", x, codes, scale), block_size=8).cpu())


class TestSplashAttention:
    """test_splash_attention.py, without its devices (test_splash_attention.py of ours has those)."""

    @pytest.mark.parametrize("heads", [(4, 4), (4, 2)])
    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize("cap, window", [(None, None), (5.0, None), (None, 16)])
    def test_values_and_gradients(self, heads, causal, cap, window, no_fallback):
        torch.manual_seed(0)
        config = SplashAttentionConfig(attentiontype_local_sliding=window is not None, slide_window_size=window).to_json()
        q, k, v = torch.randn(2, heads[0], 64, 16) / 2, torch.randn(2, heads[1], 64, 16), torch.randn(2, heads[1], 64, 16)
        ids = torch.arange(64).div(24, rounding_mode="floor").expand(2, -1).contiguous()
        results = []
        for device in ("cpu", "xla"):
            given = [t.clone().to(device).requires_grad_() for t in (q, k, v)]
            if device == "cpu":
                wide = [t.repeat_interleave(heads[0] // heads[1], 1) for t in given[1:]]
                made = attention(given[0], *wide, causal, ids, ids, cap=cap, window=window)
            else:
                made = splash_attention(*given, config, ids.to(device), causal, cap)
            made.sum().backward()
            results.append([made.detach(), *(t.grad for t in given)])
        for want, got in zip(*results):
            close(got, want, 1e-3)


class TestPallasCalls:
    """test_pallas.py: kernels of a user's (make_kernel_from_pallas, trace_pallas, several results, the cache)."""

    @pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bfloat16, torch.float16, torch.int64, torch.uint8])
    @pytest.mark.parametrize("size", [1, 2, 37])
    def test_sums(self, dtype, size):
        jax = pytest.importorskip("jax")
        pytest.importorskip("millrace_jax")
        from jax.experimental import pallas as pl

        def plus(x, y):
            return pl.pallas_call(lambda x, y, out: out.__setitem__(..., x[...] + y[...]), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)

        kernel = custom_kernel.make_kernel_from_pallas(plus, lambda x, y: [(x.shape, x.dtype)])
        x = (torch.randn(size, size) * 5).to(dtype)
        assert torch.equal(kernel(*on("xla", x, x)).cpu(), x + x)

    def test_the_cache_counts(self):
        jax = pytest.importorskip("jax")
        pytest.importorskip("millrace_jax")
        from jax.experimental import pallas as pl

        def plus_one(x):
            return pl.pallas_call(lambda x, out: out.__setitem__(..., x[...] + 1), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

        x = torch.ones(8, device="xla")
        before = met.counter_value("trace_pallas_cache_hit") or 0
        for _ in range(3):
            payload, tensors = custom_kernel.trace_pallas(plus_one, x, use_cache=True)
        assert met.counter_value("trace_pallas_cache_hit") == before + 2
        close(torch_xla._XLAC._xla_tpu_custom_call(tensors, payload, [x.shape], [x.dtype])[0], torch.full((8,), 2.0))


def test_numbers_of_pieces():
    """Groups have as many pieces as they need."""
    from torch_xla.experimental import _tiles
    counts = torch.tensor([5, 0, 16, 17], dtype=torch.int32)
    visits = _tiles.Visits(counts, 8)
    assert int(visits.total) == sum(math.ceil(c / 8) for c in counts.tolist())
    assert [tuple(map(int, visits.at(torch.tensor(i, dtype=torch.int32)))) for i in range(int(visits.total))] == [
        (0, 0), (2, 0), (2, 8), (3, 0), (3, 8), (3, 16)]
    assert np.array_equal(_tiles.picked(counts, torch.tensor(2)).numpy(), 16)
