# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step of a Transformer that is split among processes: XlaFullyShardedDataParallel, and PyTorch's own fully_shard (FSDP2) on CPU tensors
with Gloo.

  PYTHONPATH=python:. python -m benchmarks.torch_fsdp [--processes 2] [--ways xla_zero3,...] [--layers 6] [--width 512] [--batch 2] [--rounds 3]

`--batch` sequences of 128 words per process, each process with one thread; torchrun starts the processes. Times are medians over rounds in which the
ways take turns: milliseconds per step of the slowest process, over steps that do not wait for each other. The losses of the first steps of all ways
are compared. The memory is the largest resident size of a process during these steps, beside that after the imports, in MB."""
import argparse
import functools
import os
import threading
import time

from benchmarks import torch_processes

WAYS = ["xla_zero3", "xla_zero2", "xla_replicas", "gloo_fsdp2", "gloo_replicas"]
WORDS, LENGTH = 8192, 128


def resident() -> float:
    """MB of memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def model_of(layers: int, width: int) -> tuple[object, type]:
    """(a decoder-only Transformer, the class of its layers)."""
    import torch
    import torch.nn as nn
    Layer = torch_processes.transformer_layer(width, head=64)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(LENGTH, width)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, WORDS, bias=False)

        def forward(self, ids):
            x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))
    torch.manual_seed(0)
    return Model(), Layer


def wrapped(way: str, model, layer: type):
    """The model, as the way splits it."""
    import torch
    if way in ("xla_zero3", "xla_zero2"):
        from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel
        from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy
        policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={layer})
        return XlaFullyShardedDataParallel(model, auto_wrap_policy=policy, reshard_after_forward=way == "xla_zero3")
    if way == "gloo_fsdp2":
        from torch.distributed.fsdp import fully_shard
        mesh = torch.distributed.init_device_mesh("cpu", (torch.distributed.get_world_size(),))
        for each in model.layers:
            fully_shard(each, mesh=mesh)
        return fully_shard(model, mesh=mesh)
    model = model.to("xla" if way == "xla_replicas" else "cpu")
    return torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)


def worker(way: str, layers: int, width: int, batch: int) -> None:
    """One process of a job."""
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    device, barrier, wait = "cpu", lambda: None, lambda: None
    if way.startswith("xla"):
        import torch_xla
        import torch_xla.core.xla_model as xm
        import torch_xla.distributed.xla_backend  # noqa: F401
        device, barrier, wait = "xla", torch_xla.sync, xm.wait_device_ops
        dist.init_process_group("xla", "xla://")
    else:
        dist.init_process_group("gloo")
    before = resident()
    model = wrapped(way, *model_of(layers, width))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(int(os.environ["RANK"]))
    ids = torch.randint(0, WORDS, (batch, LENGTH + 1), generator=generator).to(device)
    peak, ended = [before], threading.Event()

    def watch() -> None:
        while not ended.wait(0.005):
            peak[0] = max(peak[0], resident())

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        barrier()
        return loss

    step()
    wait()
    time.sleep(0.1)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    step()
    wait()
    ended.set()
    thread.join()
    torch_processes.report(step, wait, memory=peak[0] - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.layers, options.width, options.batch)
        return
    torch_processes.compare("benchmarks.torch_fsdp", options.ways.split(","), options.processes, options.rounds,
                            [f"--layers={options.layers}", f"--width={options.width}", f"--batch={options.batch}"],
                            f"{options.layers} layers of {options.width}, {options.processes} processes x {options.batch} x {LENGTH} words",
                            {"memory": "MB"}, 5e-3)


if __name__ == "__main__":
    main()
