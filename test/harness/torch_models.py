#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models on the device and on the CPU: torchvision's and transformers' in small, with random weights.

    torch_models.py [--from vision,text] [--what forward,train,generate] [--match RE] [--each N] [--json FILE]

forward: results in evaluation mode. train: two steps of SGD; losses, parameters and buffers after them. generate: greedy
words of a decoder. A result may lie as far from what the CPU computes in double precision as ten times the CPU's own
single precision, and a ten-thousandth. Failures: an operator that ran on the CPU, a last run (the second, mostly) that
compiles, more graphs than the program reads values, and one. One line per model, with
the seconds of processor that both runs took (the first compiles); exit status 1 if one failed.
"""
import argparse
import copy
import json
import os
import re
import sys
import time
import traceback
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import torch_model_zoo  # noqa: E402

WHATS = ("forward", "train", "generate")
FACTOR, LEAST = 10, 1e-4


def on(tree, device, dtype):
    return tree_map(lambda t: t.to(device, dtype if t.is_floating_point() else t.dtype) if isinstance(t, torch.Tensor) else t, tree)


def distance(results, exact):
    """Largest distance of a tensor from the exact one, relative to the root of the mean square of that; inf if shapes differ."""
    if len(results) != len(exact) or any(a.shape != b.shape for a, b in zip(results, exact)):
        return float("inf")
    worst = 0.0
    for a, b in zip(results, exact):
        if b.is_floating_point() and b.numel():
            b = b.double()
            scale = b.square().mean().sqrt().clamp(min=1e-3)
            worst = max(worst, ((a.double() - b).square().mean().sqrt() / scale).nan_to_num(float("inf")).item())
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


def changes(after, before):
    """What training moved, so that a parameter that should have moved and did not is seen."""
    return [a - b if a.is_floating_point() else a for a, b in zip(after, before)]


def examine(subject, what):
    """(what is wrong or "", measured numbers) of one model."""
    import torch_xla
    import torch_xla.debug.metrics as met
    torch.manual_seed(0)
    model, inputs = subject.make(), subject.inputs()
    exact, single = Run(subject, model, inputs, "cpu", torch.float64), Run(subject, model, inputs, "cpu", torch.float32)
    if subject.isSingle:
        exact = single
    device = Run(subject, model, inputs, "xla", torch.float64 if subject.doubles else torch.float32)
    torch_xla.sync()
    met.clear_all()
    seconds, compiled, executed = [], [], []
    for _ in range(2 + subject.settling):
        start = time.process_time()
        before = met.counter_value("UncachedCompile") or 0, (met.metric_data("ExecuteTime") or (0,))[0]
        getattr(device, what)()
        seconds.append(time.process_time() - start)
        compiled.append((met.counter_value("UncachedCompile") or 0) - before[0])
        executed.append((met.metric_data("ExecuteTime") or (0,))[0] - before[1])
        reads = Reads()
        with reads:
            getattr(single, what)()
        if exact is not single:
            getattr(exact, what)()
    ran = met.executed_fallback_ops()
    got, want, rounded = (run.made(what) for run in (device, exact, single))
    if what == "train":
        start = [torch.zeros(())] * len(seconds) + [t.detach().double() for t in [*model.parameters(), *model.buffers()]]
        got, want, rounded = (changes([t.double() if t.is_floating_point() else t for t in made], start) for made in (got, want, rounded))
    own, cpu = distance(got, want), distance(rounded, want)
    wrong = []
    if own > (1e-3 if subject.isSingle else LEAST) + FACTOR * (0 if subject.doubles else cpu):
        wrong.append(f"distance {own:.1e} (the CPU's {cpu:.1e})")
    if ran:
        wrong.append("on the CPU ran " + " ".join(ran))
    if compiled[-1]:
        wrong.append(f"run {len(compiled)} compiled {compiled[-1]} graphs")
    if max(executed) > 1 + reads.count:
        wrong.append(f"{executed} graphs ran though values are read {reads.count} times")
    return "; ".join(wrong), {"distance": own, "cpu": cpu, "seconds": seconds, "compiled": compiled, "executed": executed, "reads": reads.count}


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
    subjects, rows = subjects[::arguments.each], []
    for subject in subjects:
        if arguments.list:
            print(subject.name)
            continue
        for what in arguments.what.split(","):
            if what == "generate" and not subject.decodes:
                continue
            try:
                wrong, numbers = examine(subject, what)
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
    print(f"{len(rows) - failed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
