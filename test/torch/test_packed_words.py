# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of four bits in words, unpacked in PyTorch as the reference implementations of GPTQ, AWQ and NF4 do it: a module that is moved to the device
has the values of the CPU, by one program without a matrix of floats; the tokens of a model of such modules are those of the CPU."""
import copy

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met

OUTPUTS, INPUTS, GROUP = 512, 1024, 128
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # which output is in each place of a word
AWQ_REVERSE_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)
NF4 = (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
       0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
       0.7229568362236023, 1.0)


def words_of(codes):
    """Eight codes of the last dimension in an int32."""
    return (codes.long() << torch.arange(0, 32, 4)).sum(-1).to(torch.int32)


class Packed(torch.nn.Module):
    """Stands for torch.nn.Linear: random codes in words, scales and zero points."""

    def __init__(self, inputs=INPUTS, outputs=OUTPUTS, group=GROUP, seed=0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.in_features, self.out_features, self.group = inputs, outputs, group
        codes = torch.randint(0, 16, (inputs, outputs), generator=generator)
        zeros = torch.randint(4, 12, (inputs // group, outputs), generator=generator)
        scales = (0.5 + torch.rand(inputs // group, outputs, generator=generator)) / 8 / inputs ** 0.5
        self.pack(codes, zeros, scales, generator)

    def keep(self, **tensors):
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self, x):
        return x @ self.weights()


class GPTQ(Packed):
    """Eight neighbouring inputs in a word; `g_idx` has the group of each input."""
    is_in_order = False

    def pack(self, codes, zeros, scales, generator):
        groups = torch.arange(self.in_features) // self.group
        if not self.is_in_order:
            groups = groups[torch.randperm(self.in_features, generator=generator)]
        self.keep(qweight=words_of(codes.reshape(-1, 8, self.out_features).mT), qzeros=words_of((zeros - 1).reshape(len(scales), -1, 8)), scales=scales,
                  g_idx=groups.to(torch.int32), wf=torch.arange(0, 32, 4, dtype=torch.int32))

    def shifts(self):
        return self.wf

    def unpacked(self):
        shifts = self.shifts()
        zeros = torch.bitwise_right_shift(self.qzeros.unsqueeze(2).expand(-1, -1, 8), shifts.view(1, 1, -1)).to(torch.int8)
        zeros = (torch.bitwise_and(zeros, 15) + 1).reshape(self.scales.shape)
        codes = torch.bitwise_right_shift(self.qweight.unsqueeze(1).expand(-1, 8, -1), shifts.view(1, -1, 1)).to(torch.int8)
        return torch.bitwise_and(codes, 15), zeros

    def weights(self):
        codes, zeros = self.unpacked()
        groups = self.g_idx.long()
        return self.scales[groups] * (codes.reshape(-1, self.out_features) - zeros[groups])


class GPTQOfConstants(GPTQ):
    """The same with amounts of shifts that are constants of the program."""

    def shifts(self):
        return torch.arange(0, 32, 4, dtype=torch.int32, device=self.scales.device)


class GPTQInOrder(GPTQ):
    """The same where groups are neighbours."""
    is_in_order = True

    def weights(self):
        codes, zeros = self.unpacked()
        codes = codes.reshape(-1, self.group, self.out_features)
        return (self.scales[:, None] * (codes - zeros[:, None])).reshape(-1, self.out_features)


class GPTQInOrderOfConstants(GPTQOfConstants, GPTQInOrder):
    """Both."""


class AWQ(Packed):
    """Eight outputs in a word, in AWQ's order."""

    def pack(self, codes, zeros, scales, generator):
        self.keep(**{name: words_of(numbers.reshape(len(numbers), -1, 8)[:, :, AWQ_ORDER]) for name, numbers in (("qweight", codes), ("qzeros", zeros))},
                  scales=scales)

    def order(self):
        return torch.arange(self.out_features, device=self.scales.device).view(-1, 8)[:, AWQ_REVERSE_ORDER].view(-1)

    def weights(self):
        shifts, order = torch.arange(0, 32, 4, device=self.scales.device), self.order()
        codes, zeros = (torch.bitwise_right_shift(words[:, :, None], shifts[None, None, :]).to(torch.int8).view(len(words), -1)[:, order]
                        for words in (self.qweight, self.qzeros))
        codes, zeros = torch.bitwise_and(codes, 15), torch.bitwise_and(zeros, 15)
        return (codes - zeros.repeat_interleave(self.group, dim=0)) * self.scales.repeat_interleave(self.group, dim=0)


class AWQOfConstants(AWQ):
    """The same with an order that is a constant of the program."""

    def order(self):
        return torch.arange(self.out_features, device=self.scales.device).view(-1, 2, 4).mT.reshape(-1)


class BitsAndBytes(Packed):
    """NF4: two codes in a byte, the first one in its high half; numbers from a table, a scale for each block of 64 in row-major order."""

    def pack(self, codes, zeros, scales, generator):
        pairs = codes.T.reshape(-1, 2)
        absmax = (0.5 + torch.rand(codes.numel() // 64, generator=generator)) / self.in_features ** 0.5
        self.keep(packed=(pairs[:, 0] << 4 | pairs[:, 1]).to(torch.uint8), absmax=absmax, table=torch.tensor(NF4))

    def weights(self):
        codes = torch.stack([self.packed >> 4, self.packed & 15], -1).reshape(-1)
        return (self.table[codes.long()].view(-1, 64) * self.absmax[:, None]).reshape(self.out_features, self.in_features).T


FORMS = [GPTQ, GPTQOfConstants, GPTQInOrder, AWQ, AWQOfConstants, BitsAndBytes]


def executions():
    return (met.metric_data("ExecuteTime") or (0,))[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 2, 3, 16, 70])
def test_values(form, rows, no_fallback):
    module = form()
    x = torch.randn(rows, INPUTS, generator=torch.Generator().manual_seed(rows))
    want = x.double() @ copy.deepcopy(module).weights().double()
    assert want.abs().max() > 0.1
    torch.testing.assert_close(module(x).double(), want, rtol=1e-4, atol=1e-4)  # the reference is what it says
    module, given = module.to("xla"), x.to("xla")
    torch_xla.sync(wait=True)
    ran = executions()
    got = module(given)
    torch_xla.sync()
    torch.testing.assert_close(got.cpu().double(), want, rtol=0, atol=float(want.abs().max()) * 3e-6)
    assert executions() == ran + 1, "unpacking and the product are one program"


@pytest.mark.parametrize("form", [GPTQOfConstants, GPTQInOrder, AWQOfConstants, BitsAndBytes])
def test_one_row_needs_no_matrix_of_floats(form):
    """Memory at its highest, over what is there anyway."""
    module, given = form().to("xla"), torch.randn(1, INPUTS).to("xla")

    def run():
        out = module(given)
        torch_xla.sync(wait=True)
        return out
    run()
    xm.reset_peak_memory()
    before = xm.get_memory_info()["bytes_used"]
    run()
    assert xm.get_memory_info()["peak_bytes_used"] - before < OUTPUTS * INPUTS, "less than a byte for each weight"


@pytest.mark.parametrize("form", [GPTQ, AWQ, BitsAndBytes])
def test_tokens_of_a_model(form, no_fallback):
    """A Llama whose linear layers unpack words, generates as on the CPU."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=96, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
        max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)).eval()
    for number, (name, part) in enumerate(list(model.named_modules())):
        if isinstance(part, torch.nn.Linear) and name != "lm_head":
            packed = form(part.in_features, part.out_features, 32, seed=number)
            model.get_submodule(name.rpartition(".")[0]).register_module(name.rpartition(".")[2], packed)
    ids = torch.randint(3, 96, (1, 7), generator=torch.Generator().manual_seed(0))
    options = dict(attention_mask=torch.ones_like(ids), max_new_tokens=12, min_new_tokens=12, do_sample=False)
    want = model.generate(ids, **options)
    model.to("xla")
    before = torch_xla._XLAC._compilations()
    assert torch.equal(model.generate(ids, **options), want)
    assert torch_xla._XLAC._compilations() - before <= 2


@pytest.mark.parametrize("rows", [1, 16])
def test_zero_points_of_bytes_are_part_of_the_program(rows, no_fallback):
    """Nibbles minus 8 times rows that are rounded to 8 bits: sums of integers, exact, without a matrix of bytes."""
    generator = torch.Generator().manual_seed(3)
    codes = torch.randint(-8, 8, (OUTPUTS, INPUTS), generator=generator)
    stored = (codes + 8).to(torch.uint8)
    packed, scales = (stored[:, 0::2] | stored[:, 1::2] << 4).to("xla"), torch.rand(OUTPUTS, INPUTS // GROUP, generator=generator)
    x, on_device = torch.randn(rows, INPUTS, generator=generator), scales.to("xla")

    def product(given):
        step = given.abs().amax(-1, keepdim=True) / 127
        rounded = torch.round(given / step).to(torch.int8).to(torch.float32) * step
        weights = torch.stack([packed & 15, packed >> 4], -1).reshape(OUTPUTS, -1).to(torch.int8) - 8
        weights = weights.reshape(OUTPUTS, -1, GROUP).to(torch.float32) * on_device[..., None]
        return rounded @ weights.reshape(OUTPUTS, -1).T
    given = x.to("xla")
    for _ in range(2):
        torch_xla.sync(wait=True)
        xm.reset_peak_memory()
        before = xm.get_memory_info()["bytes_used"]
        got = product(given)
        torch_xla.sync(wait=True)
    assert xm.get_memory_info()["peak_bytes_used"] - before < OUTPUTS * INPUTS // 2
    step = x.abs().amax(-1, keepdim=True) / 127
    want = torch.round(x / step).double() * step.double() @ (codes.reshape(OUTPUTS, -1, GROUP) * scales.double()[..., None]).reshape(OUTPUTS, -1).T
    torch.testing.assert_close(got.cpu().double(), want, rtol=0, atol=float(want.abs().max()) * 3e-6)


class OfBytes(torch.nn.Module):
    """Rounds rows to 8 bits before it multiplies them with weights in words."""

    def __init__(self, packed):
        super().__init__()
        self.packed = packed

    def forward(self, x):
        step = x.abs().amax(-1, keepdim=True) / 127
        return self.packed(torch.round(x / step).to(torch.int8).to(torch.float32) * step)


@pytest.mark.parametrize("form", [GPTQ, GPTQOfConstants, GPTQInOrder, GPTQInOrderOfConstants, AWQ, AWQOfConstants])
@pytest.mark.parametrize("rows", [1, 16, 40])
def test_rows_of_bytes(form, rows, no_fallback):
    """The values of the CPU, whatever path a form takes. Compiled, so that buffers of the module are constant arguments."""
    torch._dynamo.reset()
    module = OfBytes(form()).eval()
    x = torch.randn(rows, INPUTS, generator=torch.Generator().manual_seed(rows))
    step = x.abs().amax(-1, keepdim=True) / 127
    want = torch.round(x / step).double() * step.double() @ copy.deepcopy(module.packed).weights().double()
    with torch.no_grad():
        torch.testing.assert_close(module(x).double(), want, rtol=1e-4, atol=1e-4)
        compiled, given = torch.compile(module.to("xla"), backend="openxla"), x.to("xla")
        for _ in range(3):
            got = compiled(given).cpu().double()
            torch.testing.assert_close(got, want, rtol=0, atol=float(want.abs().max()) * 3e-6)


@pytest.mark.parametrize("form, is_compiled", [(GPTQInOrderOfConstants, False), (AWQOfConstants, False), (GPTQInOrderOfConstants, True), (AWQOfConstants, True), (GPTQOfConstants, True)])
@pytest.mark.parametrize("rows", [1, 40])
def test_rows_of_bytes_read_codes(form, is_compiled, rows):
    """One kernel reads the words, and the weights are in no other form in memory; those of g_idx and AWQ are once more, as words of neighbours in a
    column and a group, where they are constant arguments."""
    torch._dynamo.reset()
    module = OfBytes(form()).eval().to("xla")
    run, given = torch.compile(module, backend="openxla") if is_compiled else module, torch.randn(rows, INPUTS).to("xla")
    torch_xla.sync(wait=True)
    before = xm.get_memory_info()["bytes_used"]
    codes = OUTPUTS * INPUTS // 2
    with torch.no_grad():
        for _ in range(3):  # the first calls compile and prepare
            run(given).cpu()
        torch_xla.sync(wait=True)
        kept = xm.get_memory_info()["bytes_used"] - before
        assert kept < (1.25 if is_compiled and form is not GPTQInOrderOfConstants else 0.25) * codes
        xm.reset_peak_memory()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as recorded:
            run(given).cpu()
        assert xm.get_memory_info()["peak_bytes_used"] - before - kept < codes
    names = {row.key: row.count for row in recorded.key_averages()}
    products = [event for event in recorded.events() if event.name.startswith("coded_product")]
    # A kernel is an event of each thread that has a part in it: all begin while the longest one, which waits for the others, goes on.
    longest = max((event.time_range for event in products), key=lambda time: time.end - time.start)
    assert len({event.name for event in products}) == 1, names
    assert all(longest.start <= event.time_range.start <= longest.end for event in products), [(event.time_range.start, event.time_range.end) for event in products]
    assert not any(name.startswith(("dot_general", "sort")) for name in names), names
