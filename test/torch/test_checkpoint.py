# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpointing lowers the bytes that the compiled program needs, and changes no gradient."""
import copy
import re

import pytest
import torch
import torch.utils.checkpoint
import torch_xla
import torch_xla.utils.checkpoint

WAYS = {
    "none": lambda layer, x: layer(x),
    "torch": lambda layer, x: torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False),
    "torch, reentrant": lambda layer, x: torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=True),
    "torch, sequential": lambda layer, x: torch.utils.checkpoint.checkpoint_sequential(layer, 2, x, use_reentrant=False),
    "torch_xla": lambda layer, x: torch_xla.utils.checkpoint.checkpoint(layer, x),
    "torch_xla, not reentrant": lambda layer, x: torch_xla.utils.checkpoint.checkpoint(layer, x, use_reentrant=False),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    torch.manual_seed(0)
    original = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Dropout(0.2), torch.nn.GELU(), torch.nn.Linear(64, 16),
                                                        torch.nn.Tanh()) for _ in range(6)])
    x = torch.randn(256, 16)
    known = {}  # two ways may be one program, which is compiled and reported once

    def run(way):
        layers, h = copy.deepcopy(original).to("xla"), x.to("xla").requires_grad_()
        torch_xla.manual_seed(1)
        torch_xla.sync(wait=True)
        file = tmp_path / way
        for layer in layers:
            h = WAYS[way](layer, h)
        h.square().sum().backward()
        with monkeypatch.context() as patch:
            patch.setenv("PT_XLA_DEBUG_LEVEL", "1")
            patch.setenv("PT_XLA_DEBUG_FILE", str(file))
            torch_xla.sync(wait=True)
        graph = torch_xla._XLAC._last_graph()
        if graph not in known:
            (size,) = re.findall(r"Intermediate tensor size: ([\d.]+) GB", file.read_text())
            known[graph] = float(size)
        return known[graph], [p.grad.cpu() for p in layers.parameters()]
    return run


def test_every_way_needs_less_memory(run):
    most, want = run("none")
    for way in list(WAYS)[1:]:
        size, gradients = run(way)
        assert size < 0.85 * most, f"{way}: {size} GB of {most} GB"
        for a, b in zip(gradients, want):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
