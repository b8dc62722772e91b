# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks of training in several processes share: ways to train take turns, each in a job of its own that torchrun starts."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable

STEPS = 20


def write(result: dict[str, Any]) -> None:
    """In a worker: writes what it reports to the folder that BENCHMARK_RESULTS names."""
    with open(os.path.join(os.environ["BENCHMARK_RESULTS"], os.environ["RANK"]), "w", encoding="utf-8") as file:
        json.dump(result, file)


def report(step: Callable[[], Any], wait: Callable[[], None], **more: float) -> None:
    """In a worker: reports losses of the first four steps, seconds per step of those after, and `more`."""
    losses = [step().item() for _ in range(4)]
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
    wait()
    write(dict(more, seconds=(time.perf_counter() - begin) / STEPS, losses=losses))


def run(module: str, way: str, processes: int, arguments: list[str], **environment: str) -> list[dict[str, Any]]:
    """What the workers of one job report, which have these variables."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={processes}", "--standalone", "-m", module, "--worker", way, *arguments]
        ran = subprocess.run(command, env=dict(os.environ, OMP_NUM_THREADS="1", BENCHMARK_RESULTS=folder, **environment), capture_output=True, text=True, check=False,
                             timeout=900)
        if ran.returncode:
            sys.exit(f"{module}: {way} failed\n{ran.stderr[-3000:]}")
        results = []
        for rank in range(processes):
            with open(os.path.join(folder, str(rank)), encoding="utf-8") as file:
                results.append(json.load(file))
        return results


def compare(module: str, ways: list[str], processes: int, rounds: int, arguments: list[str], title: str, units: dict[str, str], tolerance: float) -> None:
    """Prints the median over rounds, of the slowest process each, of milliseconds per step and of `units` (result: its column and unit). Ends the
    program where the losses of two ways differ by more than `tolerance`."""
    measured: dict[str, dict[str, list[float]]] = {way: {} for way in ways}
    losses = {}
    for turn in range(rounds):
        for way in ways:
            print(f"{module}: round {turn + 1} of {rounds}, {way}", file=sys.stderr)
            results = run(module, way, processes, arguments)
            for name in ["seconds", *units]:
                measured[way].setdefault(name, []).append(max(each[name] for each in results))
            losses[way] = [each["losses"] for each in results]
    for way in ways[1:]:
        for own, first in zip(losses[way], losses[ways[0]]):
            if max(abs(a - b) for a, b in zip(own, first)) > tolerance:
                sys.exit(f"{module}: {way} computes the losses {own}, {ways[0]} {first}")
    print(f"| {title} | ms per step | {' | '.join(units.values())} |\n|---|---:|{'---:|' * len(units)}")
    for way in ways:
        more = " | ".join(f"{statistics.median(measured[way][name]):.2f}" for name in units)
        print(f"| {way} | {statistics.median(measured[way]['seconds']) * 1e3:.1f} | {more} |")


def transformer_layer(width: int, head: int) -> type:
    """The class of a causal layer, made without arguments: [batch, words, width] -> the same, with attention heads of `head` numbers."""
    from torch import nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
            self.joint, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            q, k, v = (each.unflatten(-1, (-1, head)).transpose(1, 2) for each in self.joint(self.norms[0](x)).chunk(3, dim=-1))
            x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
            return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))
    return Layer
