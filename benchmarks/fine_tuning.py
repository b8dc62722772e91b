# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and memory of a step of fine-tuning with LoRA: our device beside eager PyTorch and Inductor.

    PYTHONPATH=python:. python -m benchmarks.fine_tuning [--quick] [--layers N] [--precisions f32,bf16] [--ways xla,eager,inductor] [--rounds 5]

The model and the step are those of examples/lora.py: 2 x 256 tokens through the shapes of Qwen2.5-0.5B with random weights, adapters of rank 8
on all linear layers, AdamW; forward, loss over 151936 words, backward, optimizer. Every way runs in a process of its own; the processes take
turns. Memory is the peak of resident bytes of the process during the timed steps, as the kernel counts it. --quick: a tiny model, for tests.
PEFT is needed (pip install peft)."""
import argparse
import contextlib
import os
import statistics
import sys
import time
from typing import Any

from benchmarks import turns

WAYS = ("xla", "eager", "inductor")
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def child(way: str, name: str, precision: str, layers: int, batch: int, length: int, threads: int) -> None:
    def prepare() -> tuple[Any, Any]:
        import torch
        torch.set_num_threads(threads)
        sys.path.insert(0, os.path.join(ROOT, "examples"))
        import torchvision_schemas
        torchvision_schemas.load()
        import lora
        model = lora.make_model(name, precision, layers=layers or None)
        batches = lora.make_batches(model, 1, batch, length)
        barrier, wait = (lambda: None), (lambda: None)
        if way == "xla":
            import torch_xla
            import torch_xla.core.xla_model as xm
            barrier, wait = torch_xla.sync, xm.wait_device_ops
            model, batches = model.to("xla"), [ids.to("xla") for ids in batches]
        optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-3)
        called = torch.compile(model) if way == "inductor" else model
        step = lora.make_step(called, optimizer, barrier=barrier)
        return (lambda: [step(batches)]), wait
    turns.serve(prepare)


def memory(process: turns.Process, field: str) -> float:
    """Megabytes of the process: VmRSS now, VmHWM at the peak."""
    with open(f"/proc/{process.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":")) / 1024


def measure(arguments: argparse.Namespace, precision: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    processes = {}
    for way in arguments.ways:
        given = (way, arguments.model, precision, arguments.layers, arguments.batch, arguments.length, arguments.threads)
        processes[way] = turns.Process("benchmarks.fine_tuning", given, arguments.threads)
        if "error" not in processes[way].state:
            with contextlib.suppress(OSError):
                with open(f"/proc/{processes[way].process.pid}/clear_refs", "w") as file:
                    file.write("5")  # the peak begins anew
    for keep in [False] * 2 + [True] * arguments.rounds:
        for process in processes.values():
            process.turn(keep)
    for way, process in processes.items():
        if "error" in process.state:
            rows[way] = {"error": process.state["error"]}
        else:
            rows[way] = {"ms": statistics.median(process.times), "peak_mb": memory(process, "VmHWM"), "first_s": process.state["first_s"],
                         "losses": [loss[0][0] for loss in process.state["results"]]}
        process.close()
    return rows


def table(results: dict[str, dict[str, dict[str, Any]]], tokens: int) -> str:
    lines = ["| weights | way | ms per step | tokens/s | peak memory, MiB | first three steps, s | loss of step 3 |", "|---|---|---:|---:|---:|---:|---:|"]
    for precision, rows in results.items():
        for way, row in rows.items():
            if "error" in row:
                lines.append(f"| {precision} | {way} | failed: {row['error'][:100]} | | | | |")
            else:
                lines.append(f"| {precision} | {way} | {row['ms']:.1f} | {tokens / row['ms'] * 1e3:.0f} | {row['peak_mb']:.0f} | {row['first_s']:.1f} "
                             f"| {row['losses'][-1]:.4f} |")
    return "\n".join(lines)


def main() -> int | None:
    if sys.argv[1:2] == ["--child"]:
        way, name, precision, *numbers = sys.argv[2:]
        child(way, name, precision, *map(int, numbers))
        return None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--layers", type=int, default=0, help="fewer layers than the model has")
    parser.add_argument("--precisions", default="f32", type=lambda text: text.split(","))
    parser.add_argument("--ways", default=WAYS, type=lambda text: text.split(","))
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    unknown = [way for way in arguments.ways if way not in WAYS]
    if unknown:
        parser.error(f"expects ways among {', '.join(WAYS)}, but got {unknown[0]}")
    arguments.model = "tiny" if arguments.quick else "qwen2.5-0.5b"
    if arguments.quick:
        arguments.length, arguments.rounds = min(arguments.length, 32), min(arguments.rounds, 2)
    results = {precision: measure(arguments, precision) for precision in arguments.precisions}
    print(f"{time.strftime('%Y-%m-%d')}, {arguments.model}{f', {arguments.layers} layers' if arguments.layers else ''}, {arguments.batch} x "
          f"{arguments.length} tokens, {arguments.threads} threads, load at the end {os.getloadavg()[0]:.1f}.\n")
    print(table(results, arguments.batch * arguments.length))
    return 1 if any("error" in row for rows in results.values() for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
