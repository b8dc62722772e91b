# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step in several processes: DistributedDataParallel and xm.optimizer_step on the device `xla`, and PyTorch's DDP on CPU tensors with Gloo.

  PYTHONPATH=python:. python -m benchmarks.torch_ddp [--processes 2] [--ways xla_ddp,xla_step,gloo_ddp] [--image 64] [--batch 8] [--rounds 3]

ResNet-18 on fake images, `--batch` of them per process, each process with one thread; torchrun starts the processes. Times are medians over rounds
in which the ways take turns: milliseconds per step of the slowest process, over steps that do not wait for each other. The losses of the
first steps of all ways are compared. Also measured: how long processes need from the import's end until the first collective has been done."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

WAYS = ["xla_ddp", "xla_step", "gloo_ddp"]
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TOLERANCE = 2e-3
STEPS = 20


def worker(way: str, image: int, batch: int) -> None:
    """Writes this process's times and losses to the folder that BENCHMARK_RESULTS names."""
    import torch
    import torch.distributed as dist
    sys.path.insert(0, os.path.join(ROOT, "examples"))
    import torchvision_schemas
    torch.set_num_threads(1)
    device, barrier, wait = "cpu", lambda: None, lambda: None
    if way != "gloo_ddp":
        import torch_xla
        import torch_xla.core.xla_model as xm
        import torch_xla.distributed.xla_backend  # noqa: F401
        device, barrier, wait = "xla", torch_xla.sync, xm.wait_device_ops
    begin = time.perf_counter()
    if way == "xla_step":
        xm.rendezvous("ready")
    else:
        dist.init_process_group(*(("xla", "xla://") if way == "xla_ddp" else ("gloo",)))
        dist.all_reduce(torch.ones(1, device=device))
        barrier()
        wait()
    ready = time.perf_counter() - begin
    rank = int(os.environ["RANK"])
    torch.manual_seed(0)
    model = torchvision_schemas.load().models.resnet18(num_classes=10).to(device)
    if way != "xla_step":
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    generator = torch.Generator().manual_seed(rank)
    images = torch.randn(batch, 3, image, image, generator=generator).to(device)
    classes = torch.randint(0, 10, (batch,), generator=generator).to(device)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), classes)
        loss.backward()
        if way == "xla_step":
            xm.optimizer_step(optimizer)
        else:
            optimizer.step()
        barrier()
        return loss

    losses = [step().item() for _ in range(4)]
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
    wait()
    seconds = (time.perf_counter() - begin) / STEPS
    with open(os.path.join(os.environ["BENCHMARK_RESULTS"], str(rank)), "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "ready": ready, "losses": losses}, file)


def run(way: str, processes: int, image: int, batch: int) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={processes}", "--standalone", "-m", "benchmarks.torch_ddp",
                   "--worker", way, f"--image={image}", f"--batch={batch}"]
        ran = subprocess.run(command, env=dict(os.environ, OMP_NUM_THREADS="1", BENCHMARK_RESULTS=folder), capture_output=True, text=True, check=False, timeout=900)
        if ran.returncode:
            sys.exit(f"torch_ddp: {way} failed\n{ran.stderr[-3000:]}")
        results = []
        for rank in range(processes):
            with open(os.path.join(folder, str(rank)), encoding="utf-8") as file:
                results.append(json.load(file))
        return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--image", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.image, options.batch)
        return
    ways, seconds, ready, losses = options.ways.split(","), {}, {}, {}
    for turn in range(options.rounds):
        for way in ways:
            print(f"torch_ddp: round {turn + 1} of {options.rounds}, {way}", file=sys.stderr)
            results = run(way, options.processes, options.image, options.batch)
            seconds.setdefault(way, []).append(max(each["seconds"] for each in results))
            ready.setdefault(way, []).append(max(each["ready"] for each in results))
            losses[way] = [each["losses"] for each in results]
    for way in ways[1:]:
        for own, first in zip(losses[way], losses[ways[0]]):
            if max(abs(a - b) for a, b in zip(own, first)) > TOLERANCE:
                sys.exit(f"torch_ddp: {way} computes the losses {own}, {ways[0]} {first}")
    print(f"| ResNet-18, {options.processes} processes x {options.batch} images of {options.image} | ms per step | ready after s |\n|---|---:|---:|")
    for way in ways:
        print(f"| {way} | {statistics.median(seconds[way]) * 1e3:.1f} | {statistics.median(ready[way]):.2f} |")


if __name__ == "__main__":
    main()
