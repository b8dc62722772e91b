# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what this machine's virtual devices do and writes a description for automatic sharding: `python -m benchmarks.collectives --calibrate=FILE`.

Everything is measured while all devices of a process run, because they share the cores: products of several sizes (their rate and the seconds of a
launch), elementwise operations (bytes written), and each kind of collective from 4 KB to --megabytes among groups of 2 devices up to all, of
neighbours and of devices that stand apart. Each program is a chain of operations and is run in --rounds turns with all others between; its time is the
median of the turns' least times. --clock=processor takes the processor time of all threads, divided by the cores: for a machine that does other work;
waits in which no thread runs are not in it.

The collectives are fitted with the relative error as what is least: a meeting, a message per other device, and the bytes that a device reads and writes,
at one rate up to some size that caches hold (of those in CACHES the one with the least error), at another beyond it (passes/autosharding/Machine.h).
To a meeting belongs what devices wait that come from work: products with a sum behind each take longer than both alone.
The table says how far each measurement is from the fit.
"""
from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import tempfile
from typing import Any

import numpy as np

from benchmarks import progress, tools

KINDS = ("all_reduce", "all_to_all", "collective_permute", "all_gather, reduce_scatter")
WIDTH = 256  # columns of what collectives move
CACHES = tuple(1 << bits for bits in range(17, 23))  # bytes: where the rate may change from the caches' to the memory's
ADD = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) """


@dataclasses.dataclass
class Probe:
    """A program, and what an operation of it asks of a device."""
    name: str
    text: str
    count: int  # operations in the chain
    flops: float = 0.0  # of one
    written: float = 0.0  # bytes, of an elementwise one
    meetings: float = 0.0  # of one: collectives
    messages: float = 0.0
    traffic: float = 0.0  # bytes that a device reads and writes in it
    seconds: float = 0.0  # measured, of one operation

    @property
    def is_collective(self) -> bool:
        return self.meetings > 0

    @property
    def follows_work(self) -> bool:
        return self.is_collective and self.flops > 0


def groups_of(devices: int, size: int, apart: bool) -> list[list[int]]:
    """Groups of `size` of all devices: neighbours, or those that stand `devices / size` apart."""
    count = devices // size
    return [[start + count * i for i in range(size)] if apart else [start * size + i for i in range(size)] for start in range(count)]


def _module(devices: int, arguments: str, results: str, lines: list[str], last: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return (f"module attributes {{mhlo.num_partitions = {devices} : i32}} {{\nfunc.func @main({arguments}) -> ({results}) {{\n{body}\n"
            f"  return {last} : {results}\n}}\n}}\n")


def product(devices: int, size: int, count: int, dtype: str = "f32") -> Probe:
    """A chain of products of square matrices, one per device."""
    kind = f"tensor<{size}x{size}x{dtype}>"
    lines = [f"%p{i + 1} = stablehlo.dot_general %p{i}, %w, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}" for i in range(count)]
    return Probe(f"product of {size} x {size}, {dtype}", _module(devices, f"%p0: {kind}, %w: {kind}", kind, lines, f"%p{count}"), count, flops=2.0 * size**3)


def elementwise(devices: int, kilobytes: int, count: int) -> Probe:
    """A chain of elementwise operations, each a kernel of its own: the barriers keep them apart."""
    kind = f"tensor<{kilobytes}x{WIDTH}xf32>"
    lines = []
    for i in range(count):
        lines.append(f"%n{i} = stablehlo.negate %x{i} : {kind}")
        lines.append(f"%x{i + 1} = stablehlo.optimization_barrier %n{i} : {kind}")
    return Probe(f"negate of {kilobytes} KB", _module(devices, f"%x0: {kind}", kind, lines, f"%x{count}"), count, written=kilobytes * 1024.0)


def collective(devices: int, kind: str, size: int, apart: bool, kilobytes: int, count: int) -> Probe:
    """A chain of collectives whose largest tensor has `kilobytes` on a device. A gather and a scatter take turns, so that shapes stay as they are."""
    groups = groups_of(devices, size, apart)
    ids = f"replica_groups = dense<{groups}> : tensor<{len(groups)}x{size}xi64>"
    rows = max(kilobytes, size)  # of a KB each
    big, small = f"tensor<{rows}x{WIDTH}xf32>", f"tensor<{rows // size}x{WIDTH}xf32>"
    kind_in = small if kind.startswith("all_gather") else big
    lines: list[str] = []

    def add(name: str, attributes: str, body: str, before: str, after: str) -> None:
        number = len(lines)
        handle = f"channel_handle = #stablehlo.channel_handle<handle = {number + 1}, type = 1>"
        lines.append(f'%x{number + 1} = "stablehlo.{name}"(%x{number}) <{{{attributes}, {handle}}}> {body}: ({before}) -> {after}')

    for _ in range(count):
        if kind == "all_reduce":
            add(kind, f"use_global_device_ids, {ids}", ADD, big, big)
        elif kind == "all_to_all":
            add(kind, f"split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = {size} : i64, {ids}", "", big, big)
        elif kind == "collective_permute":
            pairs = [[group[i], group[(i + 1) % size]] for group in groups for i in range(size)]
            add(kind, f"source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>", "", big, big)
        else:
            add("all_gather", f"all_gather_dim = 0 : i64, use_global_device_ids, {ids}", "", small, big)
            add("reduce_scatter", f"scatter_dimension = 0 : i64, use_global_device_ids, {ids}", ADD, big, small)
    text = _module(devices, f"%x0: {kind_in}", kind_in, lines, f"%x{len(lines)}")
    whole, part, both = rows * 1024.0, (rows // size) * 1024.0, kind.startswith("all_gather")
    messages = 1 if kind == "collective_permute" else size - 1
    return Probe(f"{kind} of {rows} KB among {size}{' apart' if apart else ''}", text, count, meetings=2 if both else 1,
                 messages=(2 if both else 1) * messages, traffic=2 * whole + (whole + part if both else 0))


def after_work(devices: int, size: int, side: int, count: int) -> Probe:
    """A chain of products of square matrices, each followed by an all_reduce of its result: what devices wait until the last one has done its work, with
    a core for some of them only, is seen there and not in a chain of collectives."""
    alone, sums = product(devices, side, 1), collective(devices, "all_reduce", size, False, side * side // WIDTH, 1)
    kind, groups = f"tensor<{side}x{side}xf32>", groups_of(devices, size, apart=False)
    lines = []
    for i in range(count):
        lines.append(f"%p{i} = stablehlo.dot_general %x{i}, %w, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}")
        lines.append(f'%x{i + 1} = "stablehlo.all_reduce"(%p{i}) <{{use_global_device_ids, replica_groups = dense<{groups}> : '
                     f"tensor<{len(groups)}x{size}xi64>, channel_handle = #stablehlo.channel_handle<handle = {i + 1}, type = 1>}}> {ADD}: ({kind}) -> {kind}")
    text = _module(devices, f"%x0: {kind}, %w: {kind}", kind, lines, f"%x{count}")
    return Probe(f"product of {side} x {side}, all_reduce among {size}", text, count, flops=alone.flops, meetings=1, messages=sums.messages, traffic=sums.traffic)


def probes(devices: int, megabytes: int) -> list[Probe]:
    """All programs."""
    found = [product(devices, size, count) for size, count in ((8, 64), (64, 64), (128, 32), (256, 16), (512, 4), (1024, 1))]
    found += [product(devices, 512, 4, "bf16")]
    found += [elementwise(devices, kilobytes, max(2, min(32, 16384 // kilobytes))) for kilobytes in (64, 512, 4096)]
    sizes = [kilobytes for kilobytes in (4, 64, 1024, 8192, 65536) if kilobytes <= megabytes * 1024]
    for kind in KINDS:
        size = 2
        while size <= devices:
            for apart in (False, True) if size < devices else (False,):
                for kilobytes in sizes:
                    if not apart or kilobytes == 64:
                        found.append(collective(devices, kind, size, apart, kilobytes, 16 if kilobytes <= 1024 else 2))
            size *= 2
    found += [after_work(devices, size, side, 8) for side in (256, 512) for size in (2, devices)]
    return found


def run(path: str, repeat: int, clock: str, cache: str) -> float:
    """The least seconds of an execution."""
    command = [tools.tool("xla-run"), path, "--quiet", f"--repeat={repeat}", f"--cache-dir={cache}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    found = re.search(("processor" if clock == "processor" else "run") + r": min ([\d.]+) ms", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-600:]}")
    return float(found[1]) / 1e3 / ((os.cpu_count() or 1) if clock == "processor" else 1)


def measure(found: list[Probe], rounds: int, clock: str, seconds: float) -> None:
    """Fills in the seconds of one operation of each: medians over the rounds, in which all programs take turns."""
    times: list[list[float]] = [[] for _ in found]
    with tempfile.TemporaryDirectory() as folder:
        paths, repeats = [], []
        for number, probe in enumerate(found):
            paths.append(os.path.join(folder, f"{number}.mlir"))
            with open(paths[-1], "w") as file:
                file.write(probe.text)
            repeats.append(min(200, max(3, int(seconds / max(run(paths[-1], 2, "wall", folder), 1e-5)))))
        for turn in range(rounds):
            for number, path in enumerate(paths):
                progress.show(f"round {turn + 1} of {rounds}: {found[number].name} ...")
                times[number].append(run(path, repeats[number], clock, folder))
    for probe, each in zip(found, times):
        probe.seconds = statistics.median(each) / probe.count


def fit(rows: list[list[float]], seconds: list[float]) -> list[float]:
    """Coefficients of at least 0 with which rows x coefficients is nearest to the seconds, relative to these. One that would be negative is 0, and the
    rest is fitted without it."""
    matrix = np.array(rows) / np.array(seconds)[:, None]
    columns = list(range(matrix.shape[1]))
    while True:
        solution = np.linalg.lstsq(matrix[:, columns], np.ones(len(seconds)), rcond=None)[0]
        if (solution >= 0).all():
            break
        columns.pop(int(np.argmin(solution)))
    result = [0.0] * matrix.shape[1]
    for column, value in zip(columns, solution):
        result[column] = float(value)
    return result


def processor_name() -> str:
    """As the system calls it."""
    try:
        with open("/proc/cpuinfo") as file:
            found = re.search(r"model name\s*: (.*)", file.read())
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def describe(found: list[Probe], devices: int, source: str) -> tuple[dict[str, Any], float]:
    """The machine's description by what was measured, and the seconds of a meeting in it for which a device waits that comes from work: a median of what
    collectives after products take more than products and collectives alone."""
    products = [probe for probe in found if "f32" in probe.name]
    kernel, per_flop = fit([[1, probe.flops] for probe in products], [probe.seconds for probe in products])
    narrow = [probe for probe in found if "bf16" in probe.name]
    per_narrow = statistics.median(max(probe.seconds - kernel, probe.seconds / 10) / probe.flops for probe in narrow)
    writes = [probe for probe in found if probe.written]
    exchanges = [probe for probe in found if probe.is_collective and not probe.follows_work]
    alone = {probe.flops: probe.seconds for probe in products}

    def split(count: float, cache: int) -> list[float]:
        return [min(count, cache), count - min(count, cache)]

    def fits(cache: int) -> tuple[list[float], list[float], float]:
        """Coefficients of elementwise operations and of collectives, and the sum of squared relative errors."""
        rows = [[1.0, *split(probe.written, cache)] for probe in writes], [
            [probe.meetings, probe.messages, *(probe.meetings * part for part in split(probe.traffic / probe.meetings, cache))] for probe in exchanges]
        seconds = [probe.seconds for probe in writes], [probe.seconds for probe in exchanges]
        coefficients = [fit(each, times) for each, times in zip(rows, seconds)]
        error = sum(float(((np.array(each) @ np.array(known) / np.array(times) - 1) ** 2).sum())
                    for each, times, known in zip(rows, seconds, coefficients))
        return coefficients[0], coefficients[1], error

    cache = min(CACHES, key=lambda size: fits(size)[2])
    (_, near, far), (meeting, message, near_moved, far_moved), _ = fits(cache)
    waits = []
    for probe in found:
        if probe.follows_work:
            near_bytes, far_bytes = split(probe.traffic, cache)
            collective_alone = meeting + message * probe.messages + near_bytes * near_moved + far_bytes * far_moved
            waits.append(probe.seconds - alone[probe.flops] - collective_alone)
    wait = max(statistics.median(waits), 0.0)
    machine = {"name": f"virtual: {devices} devices of one process on {os.cpu_count()} cores of {processor_name()}", "source": source, "shared_memory": True,
               "flops_per_second": 1 / max(per_flop, 1e-18), "narrow_flops_per_second": 1 / max(per_narrow, 1e-18), "bytes_per_second": 1 / max(far, 1e-15),
               "cache_bytes": cache, "cache_bytes_per_second": 1 / max(near, 1e-15), "memory_bytes": 4294967296, "kernel_seconds": max(kernel, 1e-9),
               "meeting_seconds": max(meeting + wait, 1e-9),
               "links": [{"devices": 65536, "bytes_per_second": 1 / max(far_moved, 1e-15), "cache_bytes_per_second": 1 / max(near_moved, 1e-15),
                          "seconds": max(message, 1e-9)}]}
    rounded = {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in machine.items()}
    return rounded | {"links": [{key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in machine["links"][0].items()}]}, wait


def modelled(probe: Probe, machine: dict[str, Any], wait: float = 0.0) -> float:
    """Seconds of one operation by the description, as passes/autosharding counts them. `wait`: of a meeting, where devices come from work."""
    link = machine["links"][0]

    def moved(count: float, level: dict[str, Any]) -> float:
        near = min(count, machine["cache_bytes"])
        return near / level["cache_bytes_per_second"] + (count - near) / level["bytes_per_second"]

    if probe.is_collective:
        operations = probe.meetings  # of one size each, but for the scatter's result
        meeting = machine["meeting_seconds"] - (0 if probe.follows_work else wait)
        work = machine["kernel_seconds"] + probe.flops / machine["flops_per_second"] if probe.follows_work else 0
        return work + operations * (meeting + moved(probe.traffic / operations, link)) + probe.messages * link["seconds"]
    if probe.flops:
        rate = machine["narrow_flops_per_second" if "bf16" in probe.name else "flops_per_second"]
        return machine["kernel_seconds"] + probe.flops / rate
    return moved(probe.written, machine)


def calibrate(path: str, devices: int, megabytes: int, rounds: int, clock: str, seconds: float, command: str) -> list[str]:
    """Measures, writes the description to `path`, and returns the lines of a table."""
    found = probes(devices, megabytes)
    measure(found, rounds, clock, seconds)
    source = (f"measured by `{command}`, {datetime.date.today()}, {processor_name()}, {os.cpu_count()} cores, {devices} devices, "
              f"{'processor time' if clock == 'processor' else 'wall-clock time'}, medians of {rounds} turns")
    machine, wait = describe(found, devices, source)
    with open(path, "w") as file:
        json.dump(machine, file, indent=2)
        file.write("\n")
    lines = ["| operation | measured, us | modelled, us | error |", "|---|---:|---:|---:|"]
    errors: dict[bool, list[float]] = {True: [], False: []}
    for probe in found:
        expected = modelled(probe, machine, wait)
        errors[probe.is_collective].append(expected / probe.seconds - 1)
        lines.append(f"| {probe.name} | {probe.seconds * 1e6:.1f} | {expected * 1e6:.1f} | {100 * errors[probe.is_collective][-1]:+.0f} % |")
    lines.append(f"of a meeting, {wait * 1e6:.1f} us are waits of devices that come from work")
    for is_collective, each in errors.items():
        lines.append(f"{'collectives' if is_collective else 'kernels'}: median absolute error {100 * statistics.median(map(abs, each)):.0f} %, "
                     f"largest {100 * max(map(abs, each)):.0f} %, of {len(each)}")
    return lines
