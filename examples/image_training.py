# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fine-tunes a small residual network on generated images on the device `xla`: python -m examples.image_training [--steps 100]
(scripts/demo --train sets it up). Every ten steps the loss is read and the network is tested, as real programs do."""
import argparse
import collections
import os
import re
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met

SIZE, CLASSES = 32, 4


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                                  nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.short = nn.Sequential() if stride == 1 and inputs == outputs else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def network(width=16):
    """The shape of ResNet-18 (four stages of two blocks), narrower."""
    layers, before = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()], width
    for stage in range(4):
        size = width << stage
        layers += [Block(before, size, 2 if stage else 1), Block(size, size, 1)]
        before = size
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(before, CLASSES))


def images(count, generator):
    """Stripes in one of four directions, of random width and colour, under noise; and the direction."""
    labels = torch.randint(0, CLASSES, (count,), generator=generator)
    angles = labels * (torch.pi / CLASSES)
    row, column = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    along = angles.cos()[:, None, None] * row + angles.sin()[:, None, None] * column
    rate = 0.5 + torch.rand(count, 1, 1, generator=generator)
    colour = torch.rand(count, 3, 1, 1, generator=generator) + 0.2
    noise = 0.3 * torch.randn(count, 3, SIZE, SIZE, generator=generator)
    return colour * (along * rate).sin()[:, None] + noise, labels


def train(steps, batch, device, every=10, report=print):
    """Trains and returns (loss per report, accuracy per report, seconds without the first two reports, steps in them)."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    test_images, test_labels = (t.to(device) for t in images(64, generator))
    losses, accuracies, start, timed = [], [], None, 0
    for step in range(1, steps + 1):
        data, labels = (t.to(device) for t in images(batch, generator))
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), labels)
        loss.backward()
        optimizer.step()
        schedule.step()
        if device == "xla":
            torch_xla.sync()
        if step % every == 0:
            losses.append(loss.item())
            model.eval()
            with torch.no_grad():
                right = (model(test_images).argmax(1) == test_labels).float().mean()
            accuracies.append(right.item())
            report(f"step {step:4}: loss {losses[-1]:.4f}, accuracy {accuracies[-1]:.2f}, learning rate "
                   f"{schedule.get_last_lr()[0]:.5f}")
            if step == 2 * every:
                start = time.perf_counter()
        timed += start is not None and step > 2 * every
    return losses, accuracies, time.perf_counter() - start if timed else 0.0, timed


def cuts(text):
    """(cause, line of this file) -> how often a program was run for it, from what PT_XLA_DEBUG wrote."""
    found = collections.Counter()
    for block in text.split("\n\n"):
        cause = re.search(r"^Execution Analysis: Execution Cause\n\S+ \S+\s+(.*)$", block, re.M)
        line = re.search(rf"{re.escape(os.path.basename(__file__))}:(\d+)\)", block)
        if cause:
            found[cause[1], int(line[1]) if line else 0] += 1
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32)
    flags = parser.parse_args()
    weights = sum(p.numel() for p in network().parameters())
    print(f"residual network of {weights} weights, {flags.batch} images of {SIZE}x{SIZE} per step, AdamW with a cosine schedule")
    debug = tempfile.NamedTemporaryFile("r", prefix="graph-cuts-")
    os.environ.update(PT_XLA_DEBUG="1", PT_XLA_DEBUG_FILE=debug.name)
    met.clear_all()
    _, _, seconds, timed = train(flags.steps, flags.batch, "xla", report=lambda text: print(text, flush=True))
    xm.wait_device_ops()
    if timed:
        print(f"{timed / seconds:.1f} steps per second after the first {flags.steps - timed}")
    compiling = met.metric_data("CompileTime")
    print(f"compilations: {met.counter_value('UncachedCompile') or 0}, {compiling[1] / 1e9 if compiling else 0:.2f} s in all")
    runs = met.metric_data("ExecuteTime")
    print(f"programs run: {runs[0] if runs else 0}, because of")
    for (cause, line), count in cuts(debug.read()).most_common():
        print(f"  {count} x {cause} ({os.path.basename(__file__)}:{line})")
    fallbacks = met.executed_fallback_ops()
    print("on the CPU ran: " + (", ".join(fallbacks) if fallbacks else "nothing"))


if __name__ == "__main__":
    main()
