# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models of torchvision and transformers on the device and on the CPU (test/harness/torch_models.py): a few here, all
with MILLRACE_LONG=1 (scripts/check --long)."""
import importlib.util
import os
import subprocess
import sys

import pytest
import torch
import torch_xla  # noqa: F401

HARNESS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "harness", "torch_models.py")
sys.path.insert(0, os.path.dirname(HARNESS))
LONG = os.environ.get("MILLRACE_LONG") == "1"


def run(*flags, timeout):
    for name in ("torchvision", "transformers"):
        if not importlib.util.find_spec(name):
            pytest.skip(f"no {name}")
    process = subprocess.run([sys.executable, HARNESS, *flags], capture_output=True, text=True, timeout=timeout)
    print(process.stdout[-3000:], process.stderr[-2000:])
    failed = [line for line in process.stdout.splitlines() if line.startswith("FAILED")]
    assert process.returncode == 0, "\n".join([f"status {process.returncode}", *failed, process.stdout[-300:]])
    return process.stdout


@pytest.mark.skipif(LONG, reason="all of them run")
def test_some():
    """Vision without a cut, and a decoder that reads whether its mask hides anything."""
    output = run("--match=^(squeezenet1_1|gpt2)$", "--what=forward,train", timeout=200)
    assert output.splitlines()[-1].startswith("4 passed"), output


@pytest.mark.skipif(not LONG, reason="takes long: MILLRACE_LONG=1")
@pytest.mark.parametrize("source", ["vision", "text"])
def test_all(source):
    run(f"--from={source}", timeout=10000)


@pytest.mark.parametrize("shapes, ends", [(((12, 4), (3, 4, 8)), [2, 2, 12]), (((3, 8, 4), (4, 12)), [4, 4, 12]), (((4, 12), (12, 8)), [4, 4, 12]), (((3, 8, 4), (3, 4, 8)), None)],
                         ids=["rows", "columns", "sums", "all"])
def test_products_of_groups(no_fallback, shapes, ends):
    """Where the groups end is not read; the second one is empty."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(shape, generator=generator) for shape in shapes)
    results = []
    for device in ("cpu", "xla"):
        x, y = (t.clone().to(device).requires_grad_() for t in (a, b))
        offsets = None if ends is None else torch.tensor(ends, dtype=torch.int32, device=device)
        made = torch.nn.functional.grouped_mm(x, y, offs=offsets)
        results.append([made, *torch.autograd.grad((made * made).sum(), (x, y))])
    for want, got in zip(*results):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5, check_stride=False)


class Experts(torch.nn.Module):
    """Products of rows with their expert's matrix, as transformers computes them in graphs of float32 and float64."""

    def forward(self, rows, matrices, ends):
        return torch.ops.transformers.grouped_mm_fallback(rows, matrices, ends)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_experts_of_transformers_are_compiled(no_fallback, dtype):
    """The second expert has no rows, and the last row no expert."""
    pytest.importorskip("transformers")
    import transformers.integrations.moe  # noqa: F401  (defines the operator)
    from torch_xla.stablehlo import exported_program_to_stablehlo
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(shape, generator=generator, dtype=dtype) for shape in ((12, 4), (3, 4, 8))]
    ends = torch.tensor([2, 2, 11], dtype=torch.int32)
    results = []
    for device, model in (("cpu", Experts()), ("xla", torch.compile(Experts(), backend="openxla", fullgraph=True))):
        rows, matrices = (t.clone().to(device).requires_grad_() for t in given)
        made = model(rows, matrices, ends.to(device))
        results.append([made, *torch.autograd.grad((made * made).sum(), (rows, matrices))])
    close = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-13, "atol": 1e-13}
    for want, got in zip(*results):
        torch.testing.assert_close(got.cpu(), want, **close, check_stride=False)
    exported = exported_program_to_stablehlo(torch.export.export(Experts(), (*given, ends)))
    torch.testing.assert_close(exported(*given, ends).cpu(), results[0][0].detach(), **close, check_stride=False)


@pytest.mark.parametrize("count, threshold", [(0, 0.5), (1, 0.5), (40, 0.0), (40, 0.3), (40, 0.7)])
def test_suppression_of_boxes(no_fallback, count, threshold):
    """torchvision.ops.nms; scores are equal in tens, and boxes in some of them."""
    if not importlib.util.find_spec("torchvision"):
        pytest.skip("no torchvision")
    import torch_model_zoo
    torch_model_zoo.vision()
    import torchvision.ops
    generator = torch.Generator().manual_seed(0)
    corners = (torch.rand(count, 2, generator=generator) * 5).round() * 8
    boxes = torch.cat([corners, corners + 8 + (torch.rand(count, 2, generator=generator) * 3).round() * 8], 1)
    scores = (torch.rand(count, generator=generator) * 10).round()
    want = torchvision.ops.nms(boxes, scores, threshold)
    got = torchvision.ops.nms(boxes.to("xla"), scores.to("xla"), threshold)
    assert got.device.type == "xla" and torch.equal(got.cpu(), want)


@pytest.mark.parametrize("ratio, aligned", [(2, False), (-1, False), (-1, True)])
def test_regions_of_images(no_fallback, ratio, aligned):
    """torchvision.ops.roi_align in words of PyTorch is what counts; samples outside of the image are zero, which those words leave out."""
    if not importlib.util.find_spec("torchvision"):
        pytest.skip("no torchvision")
    import torch_model_zoo
    torch_model_zoo.vision()
    import torchvision.ops
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(2, 3, 9, 11, generator=generator, dtype=torch.float64)
    corner = torch.rand(5, 2, generator=generator, dtype=torch.float64) * 10
    boxes = torch.cat([torch.tensor([[0], [1], [1], [0], [1]]), corner, corner + torch.rand(5, 2, generator=generator) * 11], 1)
    boxes[4] = torch.tensor([1, 30, 30, 41, 41])
    results = []
    for device in ("cpu", "xla"):
        x = images.to(device).requires_grad_()
        made = torchvision.ops.roi_align(x, boxes.to(device), (4, 3), 0.5, ratio, aligned)
        weights = torch.linspace(-1, 1, made[:4].numel(), dtype=made.dtype, device=device).view(made[:4].shape)
        results.append([made[:4], torch.autograd.grad((made[:4] * weights).sum(), x)[0]])
    for want, got in zip(*results):
        torch.testing.assert_close(got.cpu(), want, check_stride=False)
    assert not made[4].any()
    assert torchvision.ops.roi_align(images.to("xla"), boxes[:0].to("xla"), 2).shape == (0, 3, 2, 2)
