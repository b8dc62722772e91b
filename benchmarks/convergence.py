# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether training ends at the same place however it is run: scikit-learn's digits with a small convolutional network, and the characters of README.md
with a small Transformer, by PyTorch on the CPU and by the device xla in one process, in two (DDP, FSDP) and on two devices (FSDPv2).

  PYTHONPATH=python:. python -m benchmarks.convergence [--tasks digits,text] [--ways native,xla,...] [--steps N] [--seeds 3]

All ways begin with the same weights and see the same batches: each of two processes gets one half of every batch. Losses and accuracies are those of
the model after the last step, over all training data and over what was held back, means over the seeds; behind ± is half of the range. Ends with an
error where a way ends at another training loss than PyTorch with the same seed. A process has one thread; torchrun starts them. The digits are
read from scikit-learn's files (requirements/bench.txt)."""
import argparse
import contextlib
import functools
import importlib.util
import os
import sys

from benchmarks import torch_processes

# A way: how many processes and devices of each process it has. Those with bf16 compute in it, and keep weights in float32.
WAYS = {"native": (1, 1), "native_bf16": (1, 1), "xla": (1, 1), "xla_bf16": (1, 1), "ddp": (2, 1), "fsdp": (2, 1), "fsdp_bf16": (2, 1), "fsdpv2": (1, 2)}
TASKS = {"digits": 400, "text": 80}  # steps; README.md is short: after more of them the small Transformer knows it by heart
BATCH, LENGTH, WIDTH = 64, 32, 64
COLUMNS = {"train_loss": "training loss", "test_loss": "test loss", "test_accuracy": "test accuracy, %"}
README = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "README.md")


def tolerance(way: str, loss: float) -> float:
    """By how much a training loss may differ from PyTorch's with the same seed: errors of rounding grow over hundreds of steps."""
    return 0.02 + (0.1 if "bf16" in way else 0.03) * loss


def digits_file() -> str:
    """Where scikit-learn has its digits; it is not imported. ModuleNotFoundError without it."""
    found = importlib.util.find_spec("sklearn")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("the digits are scikit-learn's: scripts/setup --bench, or pip install scikit-learn")
    return os.path.join(found.submodule_search_locations[0], "datasets", "data", "digits.csv.gz")


def data_of(task: str):
    """(training inputs, targets, held back inputs, targets): [rows, 1, 8, 8] of float32 and [rows], or [rows, LENGTH] of int64 twice."""
    import numpy as np
    import torch
    if task == "digits":
        rows = torch.from_numpy(np.loadtxt(digits_file(), delimiter=",", dtype=np.float32))  # 64 pixels from 0 to 16, and which digit it is
        images, targets = rows[:, :64].view(-1, 1, 8, 8) / 16, rows[:, 64].long()
        return images[:1440], targets[:1440], images[1440:], targets[1440:]
    with open(README, encoding="utf-8") as file:
        text = file.read()
    known = {character: index for index, character in enumerate(sorted(set(text)))}
    ids = torch.tensor([known[character] for character in text])
    inputs, targets = (ids[at:at + (len(ids) - 1) // LENGTH * LENGTH].view(-1, LENGTH) for at in (0, 1))
    held = torch.arange(len(inputs)) % 10 == 9  # of every part of the text
    return inputs[~held], targets[~held], inputs[held], targets[held]


def model_of(task: str, words: int):
    """(a model, the classes of its layers that are split by themselves). `words`: how many characters there are."""
    import torch
    import torch.nn as nn
    Layer = torch_processes.transformer_layer(WIDTH, head=16)

    class Characters(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.layers = nn.Sequential(Layer(), Layer())
            self.head = nn.Linear(WIDTH, words)

        def forward(self, ids):
            return self.head(self.layers(self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))))
    if task == "text":
        return Characters(), {Layer}
    net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, 10))
    return net, {nn.Conv2d, nn.Linear}


def wrapped(way: str, model, layers: set[type]):
    """The model, as the way runs it."""
    import torch
    if way.startswith("native"):
        return model
    from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls=layers)
    if way == "fsdpv2":
        import torch_xla.distributed.spmd as xs
        from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel
        return SpmdFullyShardedDataParallel(model.to("xla"), mesh=xs.get_1d_mesh("fsdp"), auto_wrap_policy=policy)
    if way.startswith("fsdp"):
        from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel
        options = {"compute_dtype": torch.bfloat16, "fp32_reduce_scatter": True} if way == "fsdp_bf16" else {}
        return XlaFullyShardedDataParallel(model, auto_wrap_policy=policy, **options)
    model = model.to("xla")
    return torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True) if way == "ddp" else model


def train(way: str, task: str, steps: int, seed: int) -> dict[str, float]:
    """What a process ends with: COLUMNS."""
    import torch
    rank, size, device, barrier, place = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "cpu", lambda: None, torch.Tensor.contiguous
    if not way.startswith("native"):
        import torch_xla
        device, barrier = "xla", torch_xla.sync
    if way == "fsdpv2":
        import torch_xla.distributed.spmd as xs
        mesh = xs.get_1d_mesh("fsdp")

        def place(rows: torch.Tensor) -> torch.Tensor:
            xs.mark_sharding(rows, mesh, ("fsdp", *[None] * (rows.dim() - 1)))
            return rows
    inputs, targets, held_inputs, held_targets = data_of(task)
    torch.manual_seed(seed)
    model = wrapped(way, *model_of(task, max(int(targets.max()), int(held_targets.max())) + 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(seed)
    narrow = functools.partial(torch.autocast, device, torch.bfloat16) if way in ("native_bf16", "xla_bf16") else contextlib.nullcontext

    def logits(rows: torch.Tensor) -> torch.Tensor:
        with narrow():
            return model(rows).float().flatten(0, -2)
    for _ in range(steps):
        chosen = torch.randint(len(inputs), (BATCH,), generator=generator)[rank * BATCH // size:(rank + 1) * BATCH // size]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits(place(inputs[chosen].to(device))), targets[chosen].to(device).flatten())
        loss.backward()
        optimizer.step()
        barrier()
    model.eval()

    def measured(rows: torch.Tensor, wanted: torch.Tensor) -> tuple[float, float]:
        """(loss, accuracy in per cent)."""
        with torch.no_grad():
            said, wanted = logits(rows.to(device)), wanted.to(device).flatten()
            return torch.nn.functional.cross_entropy(said, wanted).item(), 100 * (said.argmax(1) == wanted).float().mean().item()
    test_loss, accuracy = measured(held_inputs, held_targets)
    return {"train_loss": measured(inputs, targets)[0], "test_loss": test_loss, "test_accuracy": accuracy}


def worker(way: str, task: str, steps: int, seeds: int) -> None:
    """One process of a job."""
    import torch
    torch.set_num_threads(1)
    if not way.startswith("native"):
        import torch_xla.distributed.xla_backend  # noqa: F401
        import torch_xla.runtime as xr
        if way == "fsdpv2":
            xr.use_spmd()
        elif int(os.environ["WORLD_SIZE"]) > 1:
            torch.distributed.init_process_group("xla", "xla://")
    torch_processes.write({"seeds": [train(way, task, steps, seed) for seed in range(seeds)]})


def compare(task: str, ways: list[str], steps: int, seeds: int) -> list[str]:
    """Prints the table of a task; what is wrong with the losses."""
    ended, wrong = {}, []
    for way in ways:
        print(f"benchmarks.convergence: {task}, {way}", file=sys.stderr)
        processes, devices = WAYS[way]
        results = torch_processes.run("benchmarks.convergence", way, processes, [f"--tasks={task}", f"--steps={steps}", f"--seeds={seeds}"],
                                      **{"CPU_NUM_DEVICES": str(devices)} if devices > 1 else {})
        ended[way] = results[0]["seeds"]
        if any(each != results[0] for each in results):
            wrong.append(f"{task}, {way}: processes end with different models: {results}")
        for seed, (own, native) in enumerate(zip(ended[way], ended[ways[0]])):
            expected = native["train_loss"]
            if not abs(own["train_loss"] - expected) <= tolerance(way, expected):
                wrong.append(f"{task}, seed {seed}: {way} ends at a training loss of {own['train_loss']:.4f}, {ways[0]} at {expected:.4f}")
    print(f"| {task}, {steps} steps of {BATCH}, {seeds} seeds | {' | '.join(COLUMNS.values())} |\n|---|{'---:|' * len(COLUMNS)}")
    for way, results in ended.items():
        cells = []
        for name in COLUMNS:
            values, digits = [each[name] for each in results], 2 if name == "test_accuracy" else 4
            cells.append(f"{sum(values) / len(values):.{digits}f} ± {(max(values) - min(values)) / 2:.{digits}f}")
        print(f"| {way} | {' | '.join(cells)} |")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--ways", default=",".join(WAYS), help="the first one is what the others are compared with")
    parser.add_argument("--steps", type=int, help="by default 400 for digits, 80 for text")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.tasks, options.steps, options.seeds)
        return
    wrong = []
    for task in options.tasks.split(","):
        wrong += compare(task, options.ways.split(","), options.steps or TASKS[task], options.seeds)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
