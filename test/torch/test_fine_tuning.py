# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fine-tuning on the device: PEFT's adapters on frozen weights of every precision, losses over large vocabularies in blocks of rows."""
import os
import subprocess
import sys

import pytest
import torch
import torch_xla
from torch_xla.experimental.xla_quantized_matmul import XlaQuantizedLinear, quantize_linear, quantize_linears

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples"))
import lora  # noqa: E402


def programs():
    return torch_xla._XLAC._compilations()


def train(device, precision, steps=5, accumulate=1, clip=0.0, checkpoint=False):
    """Losses of steps on the tiny model, its adapters afterwards, and the programs compiled behind the second step."""
    block = 16 if precision == "int4" else -1
    model = lora.make_model("tiny", precision, block=block)
    if checkpoint:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    batches = [ids.to(device) for ids in lora.make_batches(model, accumulate, 2, 16)]
    model = model.to(device)
    adapters = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    step = lora.make_step(model, torch.optim.AdamW(adapters.values(), lr=5e-3), accumulate, clip,
                          torch_xla.sync if device == "xla" else lambda: None)
    losses, before = [], 0
    for number in range(steps):
        if number == 2:
            before = programs()
        losses.append(step(batches).item())
    return losses, {name: value.detach().float().cpu() for name, value in adapters.items()}, programs() - before


@pytest.mark.parametrize("precision, tolerance", [("f32", 1e-4), ("bf16", 2e-2), ("int8", 1e-4), ("int4", 1e-4)])
def test_adapters_learn_as_on_the_cpu(precision, tolerance):
    pytest.importorskip("peft")
    pytest.importorskip("transformers")
    want, want_adapters, _ = train("cpu", precision)
    got, adapters, compiled = train("xla", precision)
    assert compiled == 0
    assert want[-1] < want[0] - 0.05
    torch.testing.assert_close(torch.tensor(got), torch.tensor(want), rtol=tolerance, atol=tolerance)
    if precision != "bf16":  # AdamW makes steps of one size of gradients that bf16 rounds to zero or not
        for name, value in adapters.items():
            torch.testing.assert_close(value, want_adapters[name], rtol=1e-2, atol=2e-3, msg=lambda text, name=name: f"{name}: {text}")


def test_frozen_weights_stay_and_adapters_are_f32():
    pytest.importorskip("peft")
    pytest.importorskip("transformers")
    model = lora.make_model("tiny", "bf16").to("xla")
    before = {name: value.detach().cpu().clone() for name, value in model.named_parameters()}
    adapters = [value for value in model.parameters() if value.requires_grad]
    assert {value.dtype for value in adapters} == {torch.float32}
    step = lora.make_step(model, torch.optim.AdamW(adapters, lr=5e-3), barrier=torch_xla.sync)
    for _ in range(2):
        step([ids.to("xla") for ids in lora.make_batches(model, 1, 2, 16)])
    for name, value in model.named_parameters():
        assert torch.equal(value.detach().cpu(), before[name]) == (not value.requires_grad), name


@pytest.mark.parametrize("options", [dict(accumulate=3), dict(clip=0.05), dict(checkpoint=True)], ids=["accumulation", "clipping", "checkpoints"])
def test_recipes_of_training(options):
    pytest.importorskip("peft")
    pytest.importorskip("transformers")
    want, want_adapters, _ = train("cpu", "f32", **options)
    got, adapters, compiled = train("xla", "f32", **options)
    assert compiled == 0
    torch.testing.assert_close(torch.tensor(got), torch.tensor(want), rtol=1e-4, atol=1e-4)
    for name, value in adapters.items():
        torch.testing.assert_close(value, want_adapters[name], rtol=1e-2, atol=2e-3, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("bits, bound", [(8, 0.02), (4, 0.25)])
@pytest.mark.parametrize("block", [-1, 16])
def test_linear_layers_are_quantized(bits, bound, block):
    torch.manual_seed(0)
    linear = torch.nn.Linear(64, 24)
    made = quantize_linear(linear, bits, block).to("xla")
    x = torch.randn(5, 64)
    on_device = x.to("xla").requires_grad_()
    y = made(on_device)
    y.sum().backward()
    want = x.clone().requires_grad_()
    linear(want).sum().backward()
    assert (y.cpu() - linear(x)).abs().max() < bound
    assert (on_device.grad.cpu() - want.grad).abs().max() < bound * 2
    assert (made.in_features, made.out_features) == (64, 24)


def test_models_are_quantized_but_for_what_is_skipped():
    model = torch.nn.ModuleDict({"up": torch.nn.Linear(8, 16, bias=False), "lm_head": torch.nn.Linear(16, 4)})
    quantize_linears(model)
    assert isinstance(model["up"], XlaQuantizedLinear) and isinstance(model["lm_head"], torch.nn.Linear)
    with pytest.raises(ValueError, match="expects 4 or 8 bits, but got 3"):
        quantize_linear(torch.nn.Linear(2, 2), bits=3)


# Logits of 128 MiB, in bf16, too: values of at least 128 MiB are computed in blocks of rows.
LOSS = """
import sys, torch, torch.nn.functional as F, torch_xla, torch_xla.core.xla_model as xm, torch_xla.debug.metrics as met
torch.manual_seed(0)
kind = sys.argv[1]
tokens, features, words = 16384 if kind == "upcast" else 8192, 64, 4096
h, w, bias, y = torch.randn(tokens, features), torch.randn(words, features) * 0.1, torch.randn(words) * 0.1, torch.randint(0, words, (tokens,))
y[::7] = -100

def loss_of(h, w, bias, y):
    if kind == "chunked":
        return F.linear_cross_entropy(h, w, y, linear_bias=bias)
    if kind == "upcast":
        logits = F.linear(h.bfloat16(), w.bfloat16(), bias.bfloat16()).view(2, -1, words).float()
        return F.cross_entropy(logits.view(-1, words), y)
    if kind == "smoothed":
        return F.cross_entropy(F.linear(h, w, bias), y, label_smoothing=0.1)
    return F.cross_entropy(F.linear(h, w, bias), y)

def run(device):
    leaves = [x.detach().to(device).requires_grad_() for x in (h, w, bias)]
    target = y.to(device)
    if device == "xla":
        torch_xla.sync()
        xm.reset_peak_memory()
        before = xm.get_memory_info()["bytes_used"]
    loss = loss_of(*leaves, target)
    loss.backward()
    peak = 0
    if device == "xla":
        torch_xla.sync(wait=True)
        peak = xm.get_memory_info()["peak_bytes_used"] - before
    return [x.cpu() for x in (loss.detach(), *(x.grad for x in leaves))], peak

want, _ = run("cpu")
got, peak = run("xla")
bound = 2e-2 if kind == "upcast" else 1e-5
print([bool((a - b).abs().max() <= bound * b.abs().max()) for a, b in zip(got, want)], peak / (tokens * words * 4))
"""


@pytest.mark.parametrize("kind", ["plain", "chunked", "upcast", "smoothed"])
def test_logits_are_never_whole(kind):
    ran = subprocess.run([sys.executable, "-c", LOSS, kind], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    agrees, peak = ran.stdout.strip().rsplit(" ", 1)
    assert agrees == "[True, True, True, True]", ran.stdout
    # Whole, at least one copy of the logits is there at the peak, and most losses have two.
    assert float(peak) < 0.75


def test_the_example(tmp_path):
    pytest.importorskip("peft")
    pytest.importorskip("transformers")
    ran = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "lora.py"), "--steps=6", "--precision=int4", "--block=16"], cwd=ROOT,
                         capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = dict(line.split(": ", 1) for line in ran.stdout.splitlines())
    assert float(lines["step 5"].split()[1]) < float(lines["step 0"].split()[1]), ran.stdout
    assert lines["compilations after step 2"] == "0" and "tokens/s" in lines["rate"] and "MiB" in lines["peak memory"], ran.stdout


def test_the_benchmark():
    pytest.importorskip("peft")
    pytest.importorskip("transformers")
    ran = subprocess.run([sys.executable, "-m", "benchmarks.fine_tuning", "--quick", "--ways=xla,eager"], cwd=ROOT, capture_output=True, text=True,
                         timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    losses = [float(line.rsplit("|", 2)[1]) for line in ran.stdout.splitlines() if line.startswith("| f32")]
    assert len(losses) == 2 and abs(losses[0] - losses[1]) < 1e-3, ran.stdout
