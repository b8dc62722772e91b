# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding beside the plans that people write, on modelled machines.

  python -m benchmarks.auto_sharding [MODEL ...] [--meshes=2x2,2x4,4x4,8x8,16x32] [--machine=FILE] [--json=FILE]
  python -m benchmarks.auto_sharding --measure [MODEL ...] [--machine=FILE] [--rounds=7] [--clock=wall|processor] [--json=FILE]
  python -m benchmarks.auto_sharding --scaling [gpt3 llama70b] [--devices=8,64,512,4096] [--machine=h100]

Each model's training step is lowered once without annotations, for `xla-compile --auto-sharding`, and once for each hand-written plan (data
parallel, fully sharded, Megatron-LM's tensor parallelism, both in two dimensions). All of them are partitioned, and `xla-compile --simulate` says
what a step of the partitioned program takes: milliseconds of the modelled step, and of automatic sharding the ratio to the best of the others
(below 1: it is faster) and the seconds that planning took. Nothing is executed, so sizes are those of real models.

--measure runs small sizes of the models on 8 virtual devices (2x4) with xla-run instead, plans for these (for the machine of --machine: a file that
`python -m benchmarks.collectives --calibrate` has written, say), and prints the milliseconds of a step beside the modelled ones. All plans of a model
are run in --rounds turns, in another order each time; a plan's time is the median of its turns' least times, and its noise the range of the middle
half of them. Below the table stands for how many pairs of plans the model and the clock agree which one is faster, first of all pairs, then of
those whose times differ by more than the noise of both: of the others no model can be right. Devices of one process share its processors, so what is
split over devices is not faster for it: measured is what plans add, not what they gain. --clock=processor takes the processor time of all threads,
divided by the cores: for a machine that does other work; waits in which no thread runs are not in it.
"""
from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks import progress

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
COLUMNS = ("data", "fsdp", "tensor", "2-d")
# Sizes at which a step takes some milliseconds on two cores.
SMALL: dict[str, dict[str, int]] = {
    "gpt2": dict(layers=2, width=256, heads=8, words=2048, length=128, batch=16), "bert": dict(layers=2, width=256, heads=8, words=2048, length=128, batch=16),
    "llama": dict(layers=2, width=256, heads=8, inner=768, words=2048, length=128, batch=16),
    "gemma": dict(layers=2, width=256, heads=4, inner=1024, words=2048, length=128, batch=16, depth=64),
    "experts": dict(layers=1, width=128, heads=8, count=8, inner=256, length=64, batch=16), "resnet50": dict(batch=8, size=32),
    "unet": dict(batch=16, size=32, width=16)}


def compiler() -> str:
    return os.path.join(os.environ.get("MILLRACE_BUILD") or os.path.join(ROOT, "build"), "bin", "xla-compile")


def simulated(path: str, extra: list[str], cache: str = "off") -> tuple[dict[str, Any], float]:
    """What --simulate says of the StableHLO file, and the seconds that took. `cache`: the folder that plans are kept in."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        done = subprocess.run([compiler(), path, "--simulate", f"--cache-dir={cache}", "-o", out, *extra], capture_output=True, text=True, timeout=3600)
        if done.returncode:
            raise RuntimeError(f"xla-compile {path} {' '.join(extra)}: {done.stderr.strip()[-2000:]}")
        with open(out) as file:
            return json.load(file), time.monotonic() - began


def run_once(path: str, extra: list[str], repeat: int, cache: str, clock: str) -> float:
    """The least seconds of an execution on virtual devices; with the clock "processor" those of all threads, divided by the cores."""
    command = [os.path.join(os.path.dirname(compiler()), "xla-run"), path, "--quiet", f"--repeat={repeat}", f"--cache-dir={cache}", *extra]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    found = re.search(("processor" if clock == "processor" else "run") + r": min ([0-9.]+) ms", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-600:]}")
    return float(found[1]) / 1e3 / ((os.cpu_count() or 1) if clock == "processor" else 1)


def measure_in_turns(plans: dict[str, tuple[str, list[str]]], rounds: int, seconds: float, clock: str, cache: str) -> dict[str, list[float]]:
    """For each plan (a file, and what else xla-run is to be told) its least seconds of each round. The order of the plans rotates."""
    repeats = {name: min(200, max(3, int(seconds / max(run_once(path, extra, 2, cache, "wall"), 1e-4)))) for name, (path, extra) in plans.items()}
    times: dict[str, list[float]] = {name: [] for name in plans}
    names = list(plans)
    for number in range(rounds):
        for name in names[number % len(names):] + names[:number % len(names)]:
            path, extra = plans[name]
            times[name].append(run_once(path, extra, repeats[name], cache, clock))
    return times


def noise_of(times: list[float]) -> float:
    """The range of the middle half."""
    ordered = sorted(times)
    quarter = len(ordered) // 4
    return ordered[len(ordered) - 1 - quarter] - ordered[quarter]


def agreement(rows: list[dict[str, Any]]) -> list[str]:
    """How often the model and the clock order two plans of a model alike, and Kendall's and Spearman's rank correlation of each model's plans."""
    pairs = [pair for each in rows for pair in itertools.combinations(each["plans"].values(), 2)]
    agreed = [(one["seconds"] < other["seconds"]) == (one["measured"] < other["measured"]) for one, other in pairs]
    clear = [abs(one["measured"] - other["measured"]) > max(one["noise"], other["noise"]) for one, other in pairs]
    lines = [f"{sum(agreed)} of {len(pairs)} pairs of plans: the model and the clock agree which is faster",
             f"{sum(a for a, c in zip(agreed, clear) if c)} of {sum(clear)} pairs whose times differ by more than the noise of both plans"]
    kendall, spearman = [], []
    for each in rows:
        plans = list(each["plans"].values())
        modelled, clock = [plan["seconds"] for plan in plans], [plan["measured"] for plan in plans]
        if len(plans) > 2:
            signs = [(1 if (one["seconds"] < other["seconds"]) == (one["measured"] < other["measured"]) else -1)
                     for one, other in itertools.combinations(plans, 2)]
            kendall.append(sum(signs) / len(signs))
            ranks = [[sorted(values).index(value) for value in values] for values in (modelled, clock)]
            count = len(plans)
            spearman.append(1 - 6 * sum((a - b) ** 2 for a, b in zip(*ranks)) / (count * (count**2 - 1)))
    if kendall:
        lines.append(f"rank correlation of a model's plans, mean of {len(kendall)} models: Kendall {statistics.mean(kendall):.2f}, "
                     f"Spearman {statistics.mean(spearman):.2f}")
    return lines


def lowered(model: Any, plan: tuple[Any, Any] | None, mesh: Any) -> str:
    """The step's StableHLO; with the plan's annotations, if there is one."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    arguments = (model.parameters, model.parameters, *model.batch)
    if plan is None:
        return jax.jit(model.step(), donate_argnums=(0, 1)).lower(*arguments).as_text()
    axes, split = plan
    shardings = jax.tree.map(lambda each: NamedSharding(mesh, PartitionSpec(*each)), axes, is_leaf=lambda each: isinstance(each, tuple))
    batch = NamedSharding(mesh, PartitionSpec(split))

    def place(x: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(x, batch) if split else x

    inputs = (shardings, shardings, *(batch for _ in model.batch))
    outputs = (shardings, shardings, NamedSharding(mesh, PartitionSpec()))
    return jax.jit(model.step(place), in_shardings=inputs, out_shardings=outputs, donate_argnums=(0, 1)).lower(*arguments).as_text()


def row(name: str, shape: tuple[int, int], machine: list[str], folder: str, measure: argparse.Namespace | None = None) -> dict[str, Any]:
    """Modelled seconds of every plan for one model and mesh; with `measure` (the command's options) of its small size, with measured seconds beside."""
    import jax
    import numpy as np
    from benchmarks import planned_models

    model = planned_models.MODELS[name](**(SMALL[name] if measure else {}))
    sizes = {"data": shape[0], "model": shape[1]}
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:shape[0] * shape[1]]).reshape(shape), ("data", "model"))
    result: dict[str, Any] = {"model": name, "mesh": f"{shape[0]}x{shape[1]}", "plans": {}}
    files: dict[str, tuple[str, list[str]]] = {}

    def simulate(kind: str, text: str, extra: list[str]) -> float:
        path = os.path.join(folder, f"{name}-{kind}.mlir")
        with open(path, "w") as file:
            file.write(text)
        result["plans"][kind], seconds = simulated(path, [*machine, *extra])
        files[kind] = path, [*machine, *extra] if extra else []
        return seconds

    for kind, plan in planned_models.plans(model, sizes).items():
        simulate(kind, lowered(model, plan, mesh), [])
    result["planning"] = simulate("auto", lowered(model, None, mesh), ["--auto-sharding", f"--mesh=data={shape[0]},model={shape[1]}"])
    if measure:
        for kind, times in measure_in_turns(files, measure.rounds, measure.seconds, measure.clock, folder).items():
            result["plans"][kind] |= {"measured": statistics.median(times), "noise": noise_of(times), "rounds": times}
    return result


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.auto_sharding", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=[])
    parser.add_argument("--meshes", default="2x2,2x4,4x4,8x8,16x32")
    parser.add_argument("--machine", help="file that describes devices and links (default: virtual devices of one process)")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--rounds", type=int, default=7, help="with --measure: turns in which all plans of a model are run")
    parser.add_argument("--seconds", type=float, default=1.0, help="with --measure: of a plan in a turn")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="with --measure: processor time on a machine with other work")
    parser.add_argument("--scaling", action="store_true", help="blocks of GPT-3 175B and Llama-2-70B on many devices, and published numbers")
    parser.add_argument("--devices", default="8,64,512,4096", help="with --scaling: numbers of devices, multiples of 8")
    parser.add_argument("--json")
    options = parser.parse_args()
    os.environ["JAX_PLATFORMS"], os.environ["MILLRACE_JAX"] = "cpu", "0"
    if options.scaling:
        import jax
        from benchmarks import auto_sharding_scaling

        numbers = [int(each) for each in options.devices.split(",")]
        kinds = options.models or list(auto_sharding_scaling.KINDS)
        if any(number < 8 or number % 8 for number in numbers):
            parser.error(f"--devices expects multiples of 8, but got {options.devices}")
        if unknown := set(kinds) - set(auto_sharding_scaling.KINDS):
            parser.error(f"--scaling expects {' or '.join(auto_sharding_scaling.KINDS)}, but got {', '.join(sorted(unknown))}")
        jax.config.update("jax_num_cpu_devices", max(64, *numbers))
        found = auto_sharding_scaling.main(numbers, options.machine or "h100", kinds)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(found, file, indent=1)
        return 0
    meshes = [tuple(int(size) for size in each.split("x")) for each in ("2x4" if options.measure else options.meshes).split(",")]
    import jax

    jax.config.update("jax_num_cpu_devices", max(a * b for a, b in meshes))
    from benchmarks import planned_models

    unknown = [name for name in options.models if name not in planned_models.MODELS]
    if unknown:
        parser.error(f"unknown model {unknown[0]}; there are {', '.join(planned_models.MODELS)}")
    rows = []
    print(f"{'model':<10}{'mesh':>6}" + "".join(f"{name:>11}" for name in (*COLUMNS, "auto")) + f"{'ratio':>8}{'planning s':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models or planned_models.MODELS:
            for shape in meshes:
                progress.show(f"{name} {shape} ...")
                each = row(name, shape, [f"--machine={options.machine}"] if options.machine else [], folder, options if options.measure else None)
                rows.append(each)
                if options.measure:
                    for label, key in (("model", "seconds"), ("noise", "noise")):
                        values = {kind: found[key] for kind, found in each["plans"].items()}
                        print(f"{name:<10}{label:>6}" + "".join(f"{values[kind] * 1e3:>11.2f}" if kind in values else f"{'-':>11}"
                                                                for kind in (*COLUMNS, "auto")))
                seconds = {kind: found["measured" if options.measure else "seconds"] for kind, found in each["plans"].items()}
                others = [value for kind, value in seconds.items() if kind != "auto"]
                each["ratio"] = seconds["auto"] / min(others) if others else None  # a batch may be too small for all of them
                ratio = f"{each['ratio']:.3f}" if others else "-"
                cells = "".join(f"{seconds[kind] * 1e3:>11.2f}" if kind in seconds else f"{'-':>11}" for kind in (*COLUMNS, "auto"))
                print(f"{name:<10}{each['mesh']:>6}{cells}{ratio:>8}{each['planning']:>12.1f}", flush=True)
    rows = [each for each in rows if each["ratio"] is not None]
    kept = sum(each["ratio"] <= 1 for each in rows)
    if options.measure:
        print("\n".join(agreement(rows)))
    print(f"{len(rows)} rows: {kept} at or below the best hand-written plan, worst ratio {max(each['ratio'] for each in rows):.3f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
