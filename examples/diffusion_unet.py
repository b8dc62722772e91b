# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A diffusion-style loop: a small U-Net with attention and time embedding denoises an image in many steps.

    python3 examples/diffusion_unet.py --steps 50               a step barrier after every step: one small program, run 50 times
    python3 examples/diffusion_unet.py --steps 50 --no_barrier  none: the whole loop is one program
"""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    """Two convolutions around the time's shift, and a short cut."""

    def __init__(self, inputs, outputs, time_size):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, inputs), nn.GroupNorm(8, outputs)
        self.conv1, self.conv2 = nn.Conv2d(inputs, outputs, 3, padding=1), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(time_size, outputs)
        self.short = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(t))[:, :, None, None]
        return self.conv2(F.silu(self.norm2(h))) + self.short(x)


class Attention(nn.Module):
    def __init__(self, channels, heads=4):
        super().__init__()
        self.heads, self.norm = heads, nn.GroupNorm(8, channels)
        self.qkv, self.out = nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, 3, self.heads, channels // self.heads, height * width).unbind(1)
        mixed = F.scaled_dot_product_attention(q.transpose(2, 3), k.transpose(2, 3), v.transpose(2, 3))
        return x + self.out(mixed.transpose(2, 3).reshape(batch, channels, height, width))


class UNet(nn.Module):
    """Predicts the noise in `x` at time `t`. `channels`: per resolution, each half the one before."""

    def __init__(self, channels=(32, 64, 128), image_channels=4, time_size=128):
        super().__init__()
        self.time_size = time_size
        self.time = nn.Sequential(nn.Linear(time_size, time_size), nn.SiLU(), nn.Linear(time_size, time_size))
        self.first = nn.Conv2d(image_channels, channels[0], 3, padding=1)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        for index, size in enumerate(channels):
            before = channels[max(0, index - 1)]
            self.down.append(nn.ModuleList([Block(before, size, time_size), Attention(size) if index else nn.Identity(),
                                            nn.Conv2d(size, size, 3, stride=2, padding=1)]))
            self.up.insert(0, nn.ModuleList([Block(2 * size, before, time_size),
                                             Attention(before) if index > 1 else nn.Identity()]))
        self.middle = nn.ModuleList([Block(channels[-1], channels[-1], time_size), Attention(channels[-1]),
                                     Block(channels[-1], channels[-1], time_size)])
        self.last = nn.Sequential(nn.GroupNorm(8, channels[0]), nn.SiLU(),
                                  nn.Conv2d(channels[0], image_channels, 3, padding=1))

    def forward(self, x, t):
        half = self.time_size // 2
        rates = torch.exp(torch.arange(half, device=x.device) * (-9.2 / half))
        angles = t[:, None] * rates
        t = self.time(torch.cat((angles.sin(), angles.cos()), dim=1))
        x, kept = self.first(x), []
        for block, attention, smaller in self.down:
            x = attention(block(x, t))
            kept.append(x)
            x = smaller(x)
        first, attention, second = self.middle
        x = second(attention(first(x, t)), t)
        for block, attention in self.up:
            x = F.interpolate(x, scale_factor=2.0, mode="nearest")
            x = attention(block(torch.cat((x, kept.pop()), dim=1), t))
        return self.last(x)


def schedule(steps):
    """Fraction of signal left at each step, from almost none to almost all, and the times 999 … 0."""
    times = torch.linspace(999, 0, steps)
    return torch.cos(times / 1000 * torch.pi / 2).clamp(0.02, 0.999) ** 2, times


@torch.no_grad()
def denoise(model, x, steps, barrier=None):
    """`steps` deterministic (DDIM) steps from noise `x`; `barrier()` after each."""
    signals, times = schedule(steps)
    for index in range(steps):
        signal, after = signals[index].item(), signals[min(index + 1, steps - 1)].item()
        t = torch.full((x.shape[0],), times[index].item(), device=x.device)
        noise = model(x, t)
        image = (x - (1 - signal) ** 0.5 * noise) / signal ** 0.5
        x = after ** 0.5 * image + (1 - after) ** 0.5 * noise
        if barrier:
            barrier()
    return x


def main():
    import torch_xla
    import torch_xla.debug.metrics as met

    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--no_barrier", action="store_true")
    parser.add_argument("--size", type=int, default=16, help="edge of the image")
    parser.add_argument("--compare", action="store_true", help="also run on the CPU and print the largest difference")
    flags = parser.parse_args()
    torch.manual_seed(0)
    model = UNet().eval()
    noise = torch.randn(1, 4, flags.size, flags.size)
    want = denoise(model, noise, flags.steps) if flags.compare else None
    model, noise = model.to("xla"), noise.to("xla")
    torch_xla.sync(wait=True)
    for name in ("first", "second"):
        met.clear_all()
        start = time.perf_counter()
        image = denoise(model, noise, flags.steps, None if flags.no_barrier else torch_xla.sync).cpu()
        seconds = time.perf_counter() - start
        compiled = met.metric_data("CompileTime")
        print(f"{name} run of {flags.steps} steps: {seconds:.2f} s, {met.counter_value('UncachedCompile') or 0} compilations in "
              f"{(compiled[1] if compiled else 0) / 1e9:.2f} s", flush=True)
    if want is not None:
        print(f"largest difference to the CPU: {(image - want).abs().max().item():.1e}")


if __name__ == "__main__":
    main()
