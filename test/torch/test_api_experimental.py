# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental: attention kernels against attention written out, and the smaller modules."""
import math
import re
import threading
import types

import pytest
import torch
import torch.nn.functional as F
import torch_xla
from torch_xla.experimental import (callback, custom_kernel, deprecation, gradient_accumulation, gru, quantized,
                                    xla_quantized_matmul)


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_is_attention(no_fallback, causal):
    torch.manual_seed(0)
    tensors = [torch.randn(2, 3, 6, 8) for _ in range(3)]
    grads = []
    for device in ("cpu", "xla"):
        q, k, v = (t.to(device).clone().requires_grad_() for t in tensors)
        if device == "cpu":
            out = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=0.25)
        else:
            out = custom_kernel.flash_attention(q, k, v, causal=causal, sm_scale=0.25)
        out.square().sum().backward()
        grads.append([out.detach().cpu(), *[t.grad.cpu() for t in (q, k, v)]])
    for want, got in zip(*grads):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_flash_attention_segments_and_bias(no_fallback):
    torch.manual_seed(0)
    q, k, v, ab = torch.randn(1, 2, 4, 8), torch.randn(1, 2, 6, 8), torch.randn(1, 2, 6, 8), torch.randn(1, 2, 4, 6)
    q_ids, kv_ids = torch.tensor([[0, 0, 1, 1]]), torch.tensor([[0, 0, 0, 1, 1, 1]])
    mask = (q_ids[:, None, :, None] == kv_ids[:, None, None, :])
    want = ((q @ k.transpose(-1, -2) + ab) * 0.5).masked_fill(~mask, -math.inf).softmax(-1) @ v
    got = custom_kernel.flash_attention(*[t.to("xla") for t in (q, k, v)], False, q_ids.to("xla"), kv_ids.to("xla"), 0.5, ab=ab.to("xla"))
    torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(custom_kernel.flash_attention(q, k, v, False, q_ids, kv_ids, 0.5, ab=ab), want, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="both, or none"):
        custom_kernel.flash_attention(q, k, v, q_segment_ids=q_ids)
    with pytest.raises(ValueError, match="4 dims"):
        custom_kernel.flash_attention(q[0], k, v)


def pages(batch=3, heads=4, kv_heads=2, dim=8, page=4, per_sequence=3):
    torch.manual_seed(0)
    count = batch * per_sequence
    k_pages, v_pages = torch.randn(kv_heads, count, page, dim), torch.randn(kv_heads, count, page, dim)
    indices = torch.randperm(count).reshape(batch, per_sequence).to(torch.int32)
    lengths = torch.tensor([5, 12, 1], dtype=torch.int32)

    def sequence(which, i):
        gathered = torch.cat([which[:, int(p)] for p in indices[i]], dim=1)[:, :int(lengths[i])]  # (kv heads, length, dim)
        return gathered.repeat_interleave(heads // kv_heads, 0)
    return k_pages, v_pages, indices, lengths, sequence


@pytest.mark.parametrize("cap", [None, 2.0])
def test_paged_attention(no_fallback, cap):
    k_pages, v_pages, indices, lengths, sequence = pages()
    q = torch.randn(3, 4, 8)
    want = torch.empty(3, 4, 8)
    for i in range(3):
        scores = torch.einsum("hd,hkd->hk", q[i], sequence(k_pages, i))
        scores = cap * torch.tanh(scores / cap) if cap else scores
        want[i] = torch.einsum("hk,hkd->hd", scores.softmax(-1), sequence(v_pages, i))
    arguments = [q, k_pages, v_pages, lengths, indices]
    got = custom_kernel.paged_attention(*[t.to("xla") for t in arguments], pages_per_compute_block=1, attn_logits_soft_cap=cap)
    torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="megacore_mode"):
        custom_kernel.paged_attention(*arguments, 1, megacore_mode="both")


def test_attention_of_several_queries(no_fallback):
    k_pages, v_pages, indices, lengths, sequence = pages()
    q, q_lens = torch.randn(3, 4, 4, 8), torch.tensor([4, 3, 1], dtype=torch.int32)
    got = custom_kernel.multi_queries_paged_attention(*[t.to("xla") for t in (q, k_pages, v_pages, lengths, indices, q_lens)], 1, 1).cpu()
    flat_q = torch.cat([q[i, :int(n)] for i, n in enumerate(q_lens)])
    ends = torch.tensor([0, 4, 7, 8], dtype=torch.int32)
    combined = torch.stack([k_pages, v_pages], dim=1).flatten(0, 1).permute(1, 2, 0, 3)  # k and v of a head next to each other
    ragged = custom_kernel.ragged_paged_attention(*[t.to("xla") for t in (torch.cat([flat_q, torch.ones(2, 4, 8)]), combined, lengths, indices,
                                                                            ends, torch.tensor([3], dtype=torch.int32))]).cpu()
    assert ragged[8:].abs().max() == 0
    row = 0
    for i in range(3):
        k, v = sequence(k_pages, i), sequence(v_pages, i)
        for j in range(int(q_lens[i])):
            last = int(lengths[i]) - int(q_lens[i]) + j + 1
            scores = torch.einsum("hd,hkd->hk", q[i, j], k[:, :last])
            want = torch.einsum("hk,hkd->hd", scores.softmax(-1), v[:, :last])
            torch.testing.assert_close(got[i, j], want, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(ragged[row], want, rtol=1e-4, atol=1e-5)
            row += 1


def test_grouped_products(no_fallback):
    torch.manual_seed(0)
    lhs, rhs, sizes = torch.randn(10, 4), torch.randn(3, 4, 5), torch.tensor([3, 0, 5], dtype=torch.int32)
    want = torch.cat([lhs[:3] @ rhs[0], lhs[3:8] @ rhs[2], torch.zeros(2, 5)])
    device = [t.to("xla") for t in (lhs, rhs, sizes)]
    torch.testing.assert_close(custom_kernel.gmm(*device).cpu(), want, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(custom_kernel.gmm(device[0], device[1].transpose(1, 2), device[2], transpose_rhs=True).cpu(), want, rtol=1e-4, atol=1e-5)
    a, b = device[0].clone().requires_grad_(), device[1].clone().requires_grad_()
    custom_kernel.GMM.apply(a, b, device[2]).square().sum().backward()
    c, d = lhs.clone().requires_grad_(), rhs.clone().requires_grad_()
    torch.cat([c[:3] @ d[0], c[3:8] @ d[2], torch.zeros(2, 5)]).square().sum().backward()
    torch.testing.assert_close(a.grad.cpu(), c.grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(b.grad.cpu(), d.grad, rtol=1e-4, atol=1e-4)
    repeated = custom_kernel.repeat_with_fixed_output_size(torch.tensor([5, 6, 7], device="xla"), torch.tensor([2, 0, 1], device="xla"), 5)
    assert repeated.tolist() == [5, 5, 7, 7, 7]


def test_callbacks():
    event = callback.on_ready_event(torch.ones(3, device="xla") * 2)
    assert event.wait(20)
    seen = []
    x = torch.full((2,), 4.0, device="xla") + 1
    done = callback.on_ready_event(x)
    callback.on_ready_callback(x, lambda: seen.append(x[0].item()))
    assert done.wait(20)
    told = threading.Event()
    callback.on_ready_callback(x, lambda tensor: tensor is x and told.set())
    assert told.wait(20)


def test_deprecated_names(caplog):
    module = types.ModuleType("some.module")

    def new(x):
        return x + 1

    @deprecation.register_deprecated(module, new)
    def old():
        pass

    @deprecation.mark_deprecated(new, extra_msg="Soon gone.")
    def other(x):
        return x * 10
    assert module.old(1) == 2 and other(2) == 3 and deprecation.deprecated(module, new, old_name="name")(1) == 2 and new(1) == 2
    words = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(words) == 3 and words[0].startswith("some.module.old is deprecated: use ") and words[0].endswith("new instead.")
    assert words[1].endswith("Soon gone.") and words[2].startswith("some.module.name ")


def test_gru_is_pytorchs():
    torch.manual_seed(0)
    ours = gru.GRU(3, 4, num_layers=2)
    theirs = torch.nn.GRU(3, 4, num_layers=2)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(5, 2, 3)
    want, got = theirs(x), ours.to("xla")(x.to("xla"))
    for a, b in zip(want, got):
        torch.testing.assert_close(b.detach().cpu(), a.detach(), rtol=1e-4, atol=1e-5)
    # PyTorch/XLA's class and PyTorch's are told apart by these names; a module of either is one of both here, in both directions too.
    assert type(gru.GRU(3, 4, bidirectional=True)) is torch.nn.GRU._orig is torch.nn.GRU is gru.GRU


def test_gradient_accumulation():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    data, target = torch.randn(4, 2, 3), torch.randn(4, 2, 1)
    want = sum(F.mse_loss(model(x), y) / 4 for x, y in zip(data, target))
    want.backward()
    device_model = torch.nn.Linear(3, 1).to("xla")
    device_model.load_state_dict(model.state_dict())

    def step(x, y, count):
        return F.mse_loss(device_model(x), y), count + 1
    torch_xla.sync()
    total, count = gradient_accumulation.gradient_accumulation(step, (data.to("xla"), target.to("xla")), device_model,
                                                               (torch.zeros((), device="xla"),))
    torch.testing.assert_close(total.cpu(), want.detach())
    torch.testing.assert_close(device_model.weight.grad.cpu(), model.weight.grad)
    assert count.item() == 4.0
    with pytest.raises(ValueError, match="as many batches"):
        gradient_accumulation.gradient_accumulation(step, (data, target[:2]), model)


@pytest.mark.parametrize("int4", [False, True])
@pytest.mark.parametrize("block", [-1, 32])
def test_rounded_activations_are_bytes(block, int4):
    """The compiler sees rows of bytes, and multiplies them as integers."""
    generator = torch.Generator().manual_seed(0)
    low = -8 if int4 else -128
    shape = (128, 256) if block == -1 else (256 // block, block, 128)
    weight = torch.randint(low, -low, shape, dtype=torch.int8, generator=generator)
    scale = torch.rand(128 if block == -1 else (256 // block, 128), generator=generator) + 0.5
    x = torch.randn(3, 256, generator=generator)
    options = dict(block_size=block, int4_weight=int4, quantize_activation=True)
    got = xla_quantized_matmul.quantized_matmul(x.to("xla"), weight.to("xla"), scale.to("xla"), **options)
    assert "s8[3,256]" in torch_xla._XLAC._get_xla_tensors_hlo([got])
    want = xla_quantized_matmul.quantized_matmul(x.double(), weight, scale.double(), **options)
    assert (got.cpu() - want).abs().max() <= want.abs().max() * 1e-5


def test_quantization():
    x = torch.tensor([[-1.0, 0.26, 3.0], [0.5, -0.5, 100.0]])
    want = torch.ops.quantized_decomposed.quantize_per_tensor if hasattr(torch.ops.quantized_decomposed, "quantize_per_tensor") else None
    q = quantized.xla_quantize_per_tensor(x.to("xla"), 0.5, 1, -128, 127, torch.int8)
    assert q.dtype == torch.int8 and q.tolist() == [[-1, 2, 7], [2, 0, 127]] and (want is None or q.tolist() == want(x, 0.5, 1, -128, 127, torch.int8).tolist())
    assert quantized.xla_dequantize_per_tensor(q, 0.5, 1, -128, 127, torch.int8).tolist() == [[-1.0, 0.5, 3.0], [0.5, -0.5, 63.0]]
    per = quantized.xla_quantize_per_channel(x.to("xla"), torch.tensor([0.5, 1.0], device="xla"), torch.tensor([0, 1], device="xla"), 0, -128, 127, torch.int8)
    assert per.tolist() == [[-2, 1, 6], [1, 1, 101]]
    layer = xla_quantized_matmul.XlaQuantizedLinear(3, 2)
    weight, scale, zero = torch.randint(-128, 127, (2, 3), dtype=torch.int8), torch.tensor([0.1, 0.2]), torch.tensor([1.0, -2.0])
    layer.load_quantized_weight(weight, scale, zero)
    torch.testing.assert_close(layer.to("xla")(x.to("xla")).cpu(), x @ (weight.float() * scale[:, None]).t() - x.sum(-1, keepdim=True) * zero,
                               rtol=1e-4, atol=1e-4)
    rounded = xla_quantized_matmul.quantized_matmul(x, weight, scale, quantize_activation=True)
    torch.testing.assert_close(rounded, x @ (weight.float() * scale[:, None]).t(), rtol=0.05, atol=5.0)
    whole = torch.arange(-8, 8, dtype=torch.int8).reshape(2, 8)
    assert torch.equal(xla_quantized_matmul.unpack_4bit(xla_quantized_matmul.pack_4bit(whole)), whole)
    a, gradient = x.to("xla").requires_grad_(), torch.ones(2, 2)
    product = torch.ops.xla.quantized_matmul(a, weight.to("xla"), scale.to("xla"))
    assert re.search(r"dot\(f32\[2,3\]\{1,0\} %\S+, s8\[2,3\]", torch_xla._XLAC._get_xla_tensors_hlo([product])), "the weights stay small"
    product.backward(gradient.to("xla"))
    torch.testing.assert_close(a.grad.cpu(), (gradient * scale) @ weight.float(), rtol=1e-4, atol=1e-4)
    blocks, scales = torch.randint(-8, 8, (3, 1, 2), dtype=torch.int8), torch.rand(3, 2)
    layer4 = xla_quantized_matmul.XlaQuantizedLinear(3, 2, block_size=1, int4_weight=True)
    layer4.load_quantized_weight(blocks, scales)
    torch.testing.assert_close(layer4.to("xla")(x.to("xla")).cpu(), x @ (blocks[:, 0].float() * scales), rtol=1e-4, atol=1e-4)
    for wrong in (lambda: layer.load_quantized_weight(weight[:1], scale, zero), lambda: layer.load_quantized_weight(weight.t(), scale, zero)):
        with pytest.raises(ValueError):
            wrong()
