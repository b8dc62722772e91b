#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models on the device and on the CPU: torchvision's and transformers' in small, with random weights.

    torch_models.py [--from vision,text] [--what forward,train,generate] [--match RE] [--each N] [--json FILE]

forward: results in evaluation mode. train: two steps of SGD; losses, parameters and buffers after them. generate: greedy
words of a decoder. A result may lie as far from what the CPU computes in double precision as ten times the CPU's own
single precision, and a ten-thousandth. Training may lie farther where the device computes the same in double precision: a
value that single precision cannot tell from zero goes either way through a ReLU, and normalization makes much of it.
Failures: an operator that ran on the CPU, a last run (the second, mostly) that compiles, more graphs than the program reads
values, and one. One line per model, with the seconds of processor that both runs took (the first compiles); exit status 1
if one failed. A model for which the machine has too little memory left is skipped.
"""
import argparse
import contextlib
import copy
import gc
import json
import os
import re
import sys
import time
import traceback
import unittest.mock
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import torch_model_zoo  # noqa: E402

WHATS = ("forward", "train", "generate")
FACTOR, LEAST, IN_DOUBLES = 10, 1e-4, 1e-9


def on(tree, device, dtype):
    return tree_map(lambda t: t.to(device, dtype if t.is_floating_point() else t.dtype, copy=True) if isinstance(t, torch.Tensor) else t, tree)


def distance(results, exact, start=None):
    """Largest distance of a tensor from the exact one, relative to the root of the mean square of that; inf if shapes differ.
    With `start` of the changes since then: a parameter that should have moved and did not is seen."""
    if len(results) != len(exact) or any(a.shape != b.shape for a, b in zip(results, exact)):
        return float("inf")
    worst = 0.0
    for i, (a, b) in enumerate(zip(results, exact)):
        if b.is_floating_point() and b.numel():
            a, b = a.double(), b.double()
            if start:
                a, b = a - start[i].double(), b - start[i].double()
            scale = b.square().mean().sqrt().clamp(min=1e-3)
            worst = max(worst, ((a - b).square().mean().sqrt() / scale).nan_to_num(float("inf")).item())
        elif not torch.equal(a, b):
            worst = float("inf")
    return worst


class Run:
    """One model on one device: a function per kind that can be called twice, and what it gave."""

    def __init__(self, subject, model, inputs, device, dtype):
        import torch
        self.subject, self.device = subject, device
        self.model = copy.deepcopy(model).to(device, dtype)
        self.inputs = on(inputs, device, dtype)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-2)
        self.losses = []

    def barrier(self):
        if self.device != "cpu":
            import torch_xla
            torch_xla.sync()

    def forward(self):
        import torch
        self.model.eval()
        with torch.no_grad():
            self.results = self.subject.call(self.model, self.inputs)
        self.barrier()

    def train(self):
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.subject.loss(self.model, self.inputs)
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.detach())
        self.barrier()

    def generate(self):
        self.model.eval()
        self.results = [self.subject.generate(self.model, self.inputs)]
        self.barrier()

    def made(self, what):
        results = self.losses + list(self.model.parameters()) + list(self.model.buffers()) if what == "train" else self.results
        return [t.detach().cpu() for t in results]


class Reads(TorchDispatchMode):
    """Counts how often the program asks for values, on the CPU: each is the end of a graph on the device."""
    ASKING = {"_local_scalar_dense", "equal", "nonzero", "masked_select", "_unique2", "unique_consecutive", "unique_dim", "bincount", "nms"}

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        byMask = name in ("index", "index_put", "index_put_") and any(t is not None and t.dtype in (torch.bool, torch.uint8) for t in args[1])
        self.count += name in self.ASKING or byMask or (name == "repeat_interleave" and function._overloadname == "Tensor")
        return function(*args, **(kwargs or {}))

    @contextlib.contextmanager
    def lists(self):
        """Counts lists of values too, which PyTorch takes from the CPU's memory without an operator."""
        original = torch.Tensor.tolist

        def tolist(tensor):
            self.count += 1
            return original(tensor)
        with unittest.mock.patch.object(torch.Tensor, "tolist", tolist):
            yield


def repeated(make, what, times, around=contextlib.nullcontext):
    """(what a Run made, what `around` gave) after several runs, nothing else of which stays in memory."""
    run = make()
    given = []
    for _ in range(times):
        with around() as one:
            getattr(run, what)()
        given.append(one)
    made = run.made(what)
    del run
    gc.collect()
    return made, given


def bytes_needed(what, model):
    """At most at one time, about: the model, results in single precision, and the CPU's run in double precision."""
    sizes = [t.numel() for t in [*model.parameters(), *model.buffers()]]
    return 2e9 + (4 + 4 + 4 + 16 if what == "train" else 4 + 8) * sum(sizes)


def bytes_available():
    with open("/proc/meminfo") as file:
        return 1024 * int(re.search(r"^MemAvailable: *(\d+) kB", file.read(), re.M)[1])


class TooLarge(Exception):
    """There is too little memory for the model at present."""


@contextlib.contextmanager
def measured():
    """Processor seconds, compiled and executed graphs of what is done meanwhile, once it is done."""
    import torch_xla.debug.metrics as met

    def count():
        return time.process_time(), met.counter_value("UncachedCompile") or 0, (met.metric_data("ExecuteTime") or (0,))[0]
    numbers, before = [], count()
    yield numbers
    numbers += [after - earlier for after, earlier in zip(count(), before)]


def examine(subject, what):
    """(what is wrong or "", measured numbers) of one model."""
    import torch_xla
    import torch_xla.debug.metrics as met
    torch.manual_seed(0)
    model, inputs = subject.make(), subject.inputs()
    # The copies of the model that are still to come.
    needed, available = bytes_needed(what, model), bytes_available()
    if needed > available:
        raise TooLarge(f"{needed / 1e9:.1f} GB of memory are needed, {available / 1e9:.1f} GB are available")
    times = 2 + subject.settling

    def on_device(dtype=torch.float64 if subject.doubles else torch.float32):
        made = Run(subject, model, inputs, "xla", dtype)
        torch_xla.sync()
        met.clear_all()
        return made

    @contextlib.contextmanager
    def reading():
        reads = Reads()
        with reads, reads.lists():
            yield reads
    got, numbers = repeated(on_device, what, times, measured)
    ran = met.executed_fallback_ops()
    rounded, reads = repeated(lambda: Run(subject, model, inputs, "cpu", torch.float32), what, times, reading)
    want = rounded if subject.isSingle else repeated(lambda: Run(subject, model, inputs, "cpu", torch.float64), what, times)[0]
    seconds, compiled, executed = (list(column) for column in zip(*numbers))
    count = reads[-1].count
    start = [torch.zeros(())] * times + [t.detach() for t in [*model.parameters(), *model.buffers()]] if what == "train" else None
    own, cpu = distance(got, want, start), distance(rounded, want, start)
    wrong = []
    if own > (1e-3 if subject.isSingle else LEAST) + FACTOR * (0 if subject.doubles else cpu):
        text = f"distance {own:.1e} (the CPU's {cpu:.1e})"
        if what == "train" and own < 1 and not subject.doubles and not subject.isSingle:
            inDoubles = distance(repeated(lambda: on_device(torch.float64), what, times)[0], want, start)
            text = "" if inDoubles < IN_DOUBLES else f"{text}, in double precision {inDoubles:.1e}"
        wrong += [text] * bool(text)
    if ran:
        wrong.append("on the CPU ran " + " ".join(ran))
    if compiled[-1] and not (what == "train" and subject.reshapes):
        wrong.append(f"run {len(compiled)} compiled {compiled[-1]} graphs")
    if max(executed) > 1 + count:
        wrong.append(f"{executed} graphs ran though values are read {count} times")
    return "; ".join(wrong), {"distance": own, "cpu": cpu, "seconds": seconds, "compiled": compiled, "executed": executed, "reads": count}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="source", default="vision,text")
    parser.add_argument("--what", default="forward,train,generate")
    parser.add_argument("--match", default="", help="regular expression over names")
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if not arguments.list:
        import torch_xla  # noqa: F401
    subjects = [s for source in arguments.source.split(",") for s in getattr(torch_model_zoo, source)() if re.search(arguments.match, s.name)]
    subjects, rows, skipped = subjects[::arguments.each], [], 0
    for subject in subjects:
        if arguments.list:
            print(subject.name)
            continue
        for what in arguments.what.split(","):
            if what == "generate" and not subject.decodes:
                continue
            try:
                wrong, numbers = examine(subject, what)
            except TooLarge as reason:
                print(f"skipped {subject.name} {what}: {reason}", flush=True)
                skipped += 1
                continue
            except Exception as error:
                wrong, numbers = f"{type(error).__name__}: {str(error)[:300]}", {}
                if os.environ.get("TORCH_MODELS_TRACEBACK"):
                    traceback.print_exc()
            text = ""
            if numbers:
                text = (f" distance {numbers['distance']:.0e} (CPU {numbers['cpu']:.0e}), processor seconds {numbers['seconds'][0]:.1f} {numbers['seconds'][-1]:.1f}, "
                        f"compiled {numbers['compiled']}, graphs {numbers['executed']}, reads {numbers['reads']}")
            print(f"{'FAILED' if wrong else 'passed'} {subject.name} {what}:{text}{' ' + wrong if wrong else ''}", flush=True)
            rows.append({"name": subject.name, "what": what, "wrong": wrong, **numbers})
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=0)
    failed = sum(bool(row["wrong"]) for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
