# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modelled steps of very large decoders on 8 to 4096 devices, and what published measurements say: `python -m benchmarks.auto_sharding --scaling`.

Two blocks with the dimensions of GPT-3 175B (width 12288, 96 heads) or Llama-2-70B (width 8192, 64 heads, 8 of keys and values) stand for all 96 or
80, without vocabulary; every device has two sequences of 2048. Data parallel, fully sharded, Megatron-LM's tensor parallelism over all devices, that
over the 8 nearest with data parallelism over the rest, and automatic sharding on the same mesh: modelled milliseconds per block and, in brackets, the
share of the machine's narrow arithmetic that products use. A star: parameters and momenta of all blocks do not fit in a device's memory (only these
are counted). Below: measurements that others published beside the model's answers. `--devices=8` is the quick way to these alone.
"""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks import progress
from benchmarks.auto_sharding import COLUMNS, lowered, simulated

KINDS: dict[str, dict[str, Any]] = {"gpt3": dict(width=12288, heads=96, whole=96),
                                    "llama70b": dict(width=8192, heads=64, groups=8, inner=28672, whole=80)}
NEAR = 8  # devices of a host
# One V100 as Megatron-LM measured it in products (62.4 TFLOP/s, nv-adlr.github.io/MegatronLMV1), NVSwitch of a DGX-2H.
V100 = {"name": "V100s of a DGX-2H", "flops_per_second": 1.57e13, "narrow_flops_per_second": 6.24e13, "bytes_per_second": 9e11, "memory_bytes": 3.2e10,
        "links": [{"devices": 16, "bytes_per_second": 1.5e11, "seconds": 5e-6}]}

# The same GPU eight times in a host of AWS (p3.16xlarge: 300 GB/s of NVLink both ways together), 16 GB each.
P3 = V100 | {"name": "V100s of a p3.16xlarge", "memory_bytes": 1.6e10}
# What Alpa (OSDI 2022) measured with one micro-batch on one host: seconds of a step of its automatic sharding, on the best of the meshes that it tried,
# and fully sharded as ZeRO-3 is (github.com/alpa-projects/alpa, osdi22_artifact/results_intra_ablation.tsv, medians of three; sizes:
# benchmark/alpa/exp_intra_ablation.py). Sequences of 1024, eight of them; fp16, with recomputing in both.
ALPA: list[tuple[str, int, dict[str, Any], float, float]] = [
    ("gpt", 2, dict(layers=8, width=3072, heads=24), 0.536731, 0.635418), ("gpt", 4, dict(layers=8, width=4096, heads=32), 0.433094, 0.497435),
    ("gpt", 8, dict(layers=8, width=5760, heads=40), 0.453829, 0.521920), ("experts", 2, dict(layers=8, width=1280, heads=40, count=16, inner=5120), 0.426092, 0.788447),
    ("experts", 4, dict(layers=8, width=1536, heads=24, count=16, inner=6144), 0.267226, 0.513239),
    ("experts", 8, dict(layers=8, width=1536, heads=24, count=32, inner=6144), 0.162212, 0.549701)]


def step(model: Any, plan: str, shape: tuple[int, int], machine: str, folder: str) -> dict[str, Any] | None:
    """What --simulate says of the model with that plan on a mesh of `shape`; None where the plan is none (more devices than sequences)."""
    import jax
    import numpy as np
    from benchmarks import planned_models

    mesh = jax.sharding.Mesh(np.array(jax.devices()[:shape[0] * shape[1]]).reshape(shape), ("data", "model"))
    sizes = {"data": shape[0], "model": shape[1]}
    chosen = None if plan == "auto" else planned_models.plans(model, sizes).get(plan)
    if plan != "auto" and chosen is None:
        return None
    path = os.path.join(folder, f"{plan}.mlir")
    with open(path, "w") as file:
        file.write(lowered(model, chosen, mesh))
    extra = ["--auto-sharding", f"--mesh=data={shape[0]},model={shape[1]}"] if plan == "auto" else []
    return simulated(path, [f"--machine={machine}", *extra])[0]


def table(kind: str, devices: list[int], machine: str, rate: float, memory: float, folder: str) -> list[dict[str, Any]]:
    """Prints and returns the rows. `rate`: FLOP/s of the machine in narrow products; `memory`: its bytes."""
    from benchmarks import planned_models

    sizes = dict(KINDS[kind])
    whole, count, rows = sizes.pop("whole"), 2, []
    print(f"{kind:<10}{'devices':>8}" + "".join(f"{name:>18}" for name in (*COLUMNS, "auto")) + f"{'ratio':>8}", flush=True)
    for number in devices:
        model = planned_models.blocks(layers=count, batch=2 * number, name=kind, **sizes)
        row: dict[str, Any] = {"model": kind, "devices": number, "plans": {}}
        cells = ""
        for plan in (*COLUMNS, "auto"):
            progress.show(f"{kind} {number} {plan} ...")
            found = step(model, plan, (number // NEAR, NEAR), machine, folder)
            if found is None:
                cells += f"{'-':>18}"
                continue
            row["plans"][plan] = found | {"used": found["flops"] / rate / found["seconds"],
                                          "fits": found["argument_bytes"] * whole / count <= memory}
            star = " " if row["plans"][plan]["fits"] else "*"
            cells += f"{found['seconds'] / count * 1e3:>10.2f}{star}({100 * row['plans'][plan]['used']:>3.0f}%)"
            cells += " "
        row["ratio"] = row["plans"]["auto"]["seconds"] / min(each["seconds"] for name, each in row["plans"].items() if name != "auto")
        print(f"{'':<10}{number:>8}{cells}{row['ratio']:>8.3f}", flush=True)
        rows.append(row)
    return rows


def published(folder: str) -> list[dict[str, Any]]:
    """Prints and returns what was measured elsewhere beside what the model says. Nothing of the model was fitted to these numbers, but for the speed
    of a single V100."""
    from benchmarks import planned_models

    rows = []

    def say(what: str, source: str, measured: float, modelled: float) -> None:
        rows.append({"what": what, "source": source, "measured": measured, "modelled": modelled})
        print(f"{what:<100}{100 * measured:>8.1f} %{100 * modelled:>8.1f} %{100 * (modelled / measured - 1):>+8.1f} %", flush=True)

    print(f"{'':<100}{'measured':>10}{'modelled':>10}{'error':>10}")
    machine = os.path.join(folder, "v100.json")
    with open(machine, "w") as file:
        json.dump(V100, file)
    rates = []
    for devices, width, heads in ((1, 1536, 16), (8, 3072, 32)):
        model = planned_models.blocks(layers=2, width=width, heads=heads, batch=8, length=1024)
        found = step(model, "tensor" if devices > 1 else "auto", (1, devices), machine, folder)
        assert found is not None
        # On one device products alone decide, as they did in the measurement of 62.4 TFLOP/s.
        rates.append(found["flops"] / found["seconds"])
    say("Megatron-LM, 8-way tensor parallelism: FLOP/s per GPU to those of one GPU", "nv-adlr.github.io/MegatronLMV1", 0.796, rates[1] / rates[0])
    sizes = {key: value for key, value in KINDS["llama70b"].items() if key != "whole"}
    for plan, what in (("fsdp", "fully sharded"), ("auto", "automatic sharding on 8x8")):
        found = step(planned_models.blocks(layers=2, batch=4 * 64, **sizes), plan, (8, 8), "tpu-v4", folder)
        assert found is not None
        overlapped = max(found["computing"], found["seconds"] - found["computing"])
        for how, seconds in (("", found["seconds"]), (", transfers beside computing", overlapped)):
            say(f"MaxText, Llama-2-70B, 64 TPU v4: use of arithmetic; {what}{how}", "MaxText, Run_Llama2.md", 0.57, found["flops"] / 2.75e14 / seconds)
    rows += alpa(folder, say)
    return rows


def alpa(folder: str, say: Callable[[str, str, float, float], None]) -> list[dict[str, Any]]:
    """Tells `say` what Alpa measured beside what the model says: a step of automatic sharding as a share of a fully sharded one. Returns the modelled
    seconds. Recomputing and GPT's vocabulary are not modelled."""
    import jax.numpy as jnp
    from benchmarks import planned_models

    machine = os.path.join(folder, "p3.json")
    with open(machine, "w") as file:
        json.dump(P3, file)
    rows = []
    for kind, devices, sizes, auto, zero3 in ALPA:
        model = (planned_models.blocks(batch=8, length=1024, **sizes) if kind == "gpt"
                 else planned_models.experts(batch=8, length=1024, kind=jnp.bfloat16, **sizes))
        fully = step(model, "fsdp", (1, devices), machine, folder)
        meshes = [(one, devices // one) for one in (1, 2, 4, 8) if one < devices]
        tried = [step(model, "auto", mesh, machine, folder) for mesh in meshes]
        seconds = [found["seconds"] for found in tried if found]
        assert fully is not None and seconds
        rows.append({"what": f"alpa {kind}", "devices": devices, "fsdp": fully["seconds"], "auto": min(seconds), "measured": [auto, zero3]})
        say(f"Alpa, {'GPT' if kind == 'gpt' else 'mixture of experts'}, {devices} V100: step of automatic sharding to that of ZeRO-3",
            "alpa-projects/alpa, osdi22_artifact/results_intra_ablation.tsv", auto / zero3, min(seconds) / fully["seconds"])
    return rows


def main(devices: list[int], machine: str, kinds: list[str]) -> list[dict[str, Any]]:
    """All tables. `machine`: a known name or a file."""
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    path = os.path.join(root, "passes", "autosharding", "machines", f"{machine}.json")
    with open(path if os.path.exists(path) else machine) as file:
        description = json.load(file)
    rate = description.get("narrow_flops_per_second", description["flops_per_second"])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            rows += table(kind, devices, machine, rate, description["memory_bytes"], folder)
        rows += published(folder)
    return rows
