# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strides and memory formats are those that PyTorch has on the CPU; values do not depend on them."""
import copy

import pytest
import torch
import torch.nn.functional as F
import torch_xla

CL = torch.channels_last
IMAGE = torch.arange(2 * 3 * 4 * 5, dtype=torch.float32).view(2, 3, 4, 5)
MATRIX = torch.arange(12.0).view(3, 4)

PROGRAMS = {
    "to": lambda d: IMAGE.to(d).to(memory_format=CL),
    "contiguous": lambda d: IMAGE.to(d).contiguous(memory_format=CL),
    "moved": lambda d: IMAGE.to(memory_format=CL).to(d),
    "moved and converted": lambda d: IMAGE.to(memory_format=CL).to(d, torch.float64),
    "3d": lambda d: torch.ones(2, 3, 2, 2, 2, device=d).to(memory_format=torch.channels_last_3d),
    "clone": lambda d: IMAGE.to(d).to(memory_format=CL).clone(),
    "clone as contiguous": lambda d: IMAGE.to(d).to(memory_format=CL).clone(memory_format=torch.contiguous_format),
    "clone of a transposed one": lambda d: MATRIX.to(d).t().clone(),
    "clone of a part": lambda d: MATRIX.to(d).t()[1:].clone(),
    "clone of an expanded one": lambda d: MATRIX.to(d)[:1].expand(3, 4).clone(),
    "transposed, moved": lambda d: MATRIX.t().to(d),
    "part, moved": lambda d: MATRIX[:, ::2].t().to(d, copy=True),
    "converted": lambda d: MATRIX.to(d).t().double(),
    "empty_like": lambda d: torch.zeros_like(IMAGE.to(d).to(memory_format=CL)),
    "empty": lambda d: torch.empty(2, 3, 4, 5, device=d, memory_format=CL).fill_(2),
    "sum of two": lambda d: IMAGE.to(d).to(memory_format=CL) + IMAGE.to(d).to(memory_format=CL),
    "relu": lambda d: F.relu(IMAGE.to(d).to(memory_format=CL) - 9),
    "convolution": lambda d: F.conv2d(IMAGE.to(d).to(memory_format=CL), torch.ones(4, 3, 2, 2, device=d)),
    "pooling": lambda d: F.max_pool2d(IMAGE.to(d).to(memory_format=CL), 2),
    "in place": lambda d: IMAGE.to(d).to(memory_format=CL).add_(1).mul_(2),
    "write to a part": lambda d: IMAGE.to(d).to(memory_format=CL).index_fill_(1, torch.tensor([1], device=d), 7.0),
    "view of": lambda d: IMAGE.to(d).to(memory_format=CL)[:, 1:, ::2],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_on_the_cpu(name):
    want, got = PROGRAMS[name]("cpu"), PROGRAMS[name]("xla")
    assert (got.size(), got.stride(), got.storage_offset()) == (want.size(), want.stride(), want.storage_offset())
    for format in (torch.contiguous_format, CL, torch.channels_last_3d):
        if got.dim() == {CL: 4, torch.channels_last_3d: 5}.get(format, got.dim()):
            assert got.is_contiguous(memory_format=format) == want.is_contiguous(memory_format=format)
    torch.testing.assert_close(got.cpu(), want)
    torch_xla.sync()
    torch.testing.assert_close((got + 0).cpu(), want)
    if want.is_contiguous() or want.untyped_storage().nbytes() == want.nbytes:
        assert got.cpu().stride() == want.stride()


def test_wrong_ranks():
    for make in (lambda d: MATRIX.to(d).to(memory_format=CL), lambda d: torch.empty(3, device=d, memory_format=CL),
                 lambda d: IMAGE.to(d).clone(memory_format=torch.channels_last_3d)):
        texts = []
        for device in ("cpu", "xla"):
            with pytest.raises(RuntimeError) as raised:
                make(device)
            texts.append(str(raised.value).split("\n")[0])
        assert texts[0] == texts[1]


def test_a_network_in_channels_last_trains():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(2),
                                torch.nn.Flatten(), torch.nn.Linear(16, 2)).to(memory_format=CL)
    moved = copy.deepcopy(model).to("xla", memory_format=CL)
    x = torch.randn(2, 3, 8, 8).to(memory_format=CL)
    for m, device in ((model, "cpu"), (moved, "xla")):
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            m(x.to(device)).square().sum().backward()
            optimizer.step()
            torch_xla.sync()
    for p, q in zip(model.parameters(), moved.parameters()):
        assert q.stride() == p.stride()
        torch.testing.assert_close(q.cpu(), p, rtol=1e-4, atol=1e-5)
