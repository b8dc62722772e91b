# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step in several processes: DistributedDataParallel and xm.optimizer_step on the device `xla`, and PyTorch's DDP on CPU tensors with Gloo.

  PYTHONPATH=python:. python -m benchmarks.torch_ddp [--processes 2] [--ways xla_ddp,xla_step,gloo_ddp] [--image 64] [--batch 8] [--rounds 3]

ResNet-18 on fake images, `--batch` of them per process, each process with one thread; torchrun starts the processes. Times are medians over rounds
in which the ways take turns: milliseconds per step of the slowest process, over steps that do not wait for each other. The losses of the
first steps of all ways are compared. Also measured: how long processes need from the import's end until the first collective has been done."""
import argparse
import os
import sys
import time

from benchmarks import torch_processes

WAYS = ["xla_ddp", "xla_step", "gloo_ddp"]
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def worker(way: str, image: int, batch: int) -> None:
    """One process of a job."""
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
    torch.manual_seed(0)
    model = torchvision_schemas.load().models.resnet18(num_classes=10).to(device)
    if way != "xla_step":
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    generator = torch.Generator().manual_seed(int(os.environ["RANK"]))
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

    torch_processes.report(step, wait, ready=ready)


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
    torch_processes.compare("benchmarks.torch_ddp", options.ways.split(","), options.processes, options.rounds,
                            [f"--image={options.image}", f"--batch={options.batch}"],
                            f"ResNet-18, {options.processes} processes x {options.batch} images of {options.image}", {"ready": "ready after s"}, 2e-3)


if __name__ == "__main__":
    main()
