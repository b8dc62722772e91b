# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long automatic sharding plans a program of many operations.

  python -m benchmarks.planning_time [--operations=1000,10000,100000] [--meshes=2x4,2x2x2,2x2x2x2] [--rows=4096] [--width=1024] [--limit=0.8]
                                     [--machine=h100] [--seconds=3600] [--write=FILE]

The program is the training step of a network of layers tanh(x W + b) beside x, written out layer by layer: 14 operations each, forward and
backward, whose arguments are the weights and whose results are the updated ones. `--rows=4099 --width=1021` gives sizes that no mesh divides.
`xla-compile --auto-sharding --simulate` plans it for each mesh, with --limit once more with this share of the bytes that the first plan takes.
Prints for every program and mesh the seconds of the process, its largest memory, the modelled step, how far the plan may be above the best one, and
values that are computed again, or the error.
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import auto_sharding, progress

# Forward and backward, of each layer.
OPERATIONS_OF_LAYER = 14


def lines_of_step(layers: int, rows: int, width: int) -> Iterator[str]:
    """StableHLO of the training step with so many layers, line by line."""
    value, weight, row = f"tensor<{rows}x{width}xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{width}xf32>"

    def dot(name: str, one: str, other: str, contracted: str, types: str) -> str:
        return f"  {name} = stablehlo.dot_general {one}, {other}, contracting_dims = {contracted} : {types}"
    arguments = [f"%x: {value}"] + [f"%w{i}: {weight}, %b{i}: {row}" for i in range(layers)]
    yield f"func.func @main({', '.join(arguments)}) -> ({', '.join([f'{weight}, {row}'] * layers)}) {{"
    yield f"  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n  %one = stablehlo.constant dense<1.0> : {value}"
    for i in range(layers):
        before = f"%y{i - 1}" if i else "%x"
        yield dot(f"%p{i}", before, f"%w{i}", "[1] x [0]", f"({value}, {weight}) -> {value}")
        yield f"  %c{i} = stablehlo.broadcast_in_dim %b{i}, dims = [1] : ({row}) -> {value}"
        yield f"  %s{i} = stablehlo.add %p{i}, %c{i} : {value}"
        yield f"  %t{i} = stablehlo.tanh %s{i} : {value}"
        yield f"  %y{i} = stablehlo.add {before}, %t{i} : {value}"
    for i in reversed(range(layers)):
        after = f"%g{i + 1}" if i + 1 < layers else f"%y{i}"
        yield f"  %q{i} = stablehlo.multiply %t{i}, %t{i} : {value}"
        yield f"  %d{i} = stablehlo.subtract %one, %q{i} : {value}"
        yield f"  %e{i} = stablehlo.multiply {after}, %d{i} : {value}"
        yield dot(f"%dw{i}", f"%y{i - 1}" if i else "%x", f"%e{i}", "[0] x [0]", f"({value}, {value}) -> {weight}")
        yield f"  %db{i} = stablehlo.reduce(%e{i} init: %zero) applies stablehlo.add across dimensions = [0] : ({value}, tensor<f32>) -> {row}"
        yield dot(f"%h{i}", f"%e{i}", f"%w{i}", "[1] x [1]", f"({value}, {weight}) -> {value}")
        yield f"  %g{i} = stablehlo.add {after}, %h{i} : {value}"
        yield f"  %nw{i} = stablehlo.subtract %w{i}, %dw{i} : {weight}"
        yield f"  %nb{i} = stablehlo.subtract %b{i}, %db{i} : {row}"
    results = ", ".join(f"%nw{i}, %nb{i}" for i in range(layers))
    yield f"  return {results} : {', '.join([f'{weight}, {row}'] * layers)}\n}}"


def planned(path: str, extra: list[str], seconds: float) -> tuple[dict[str, Any] | str, float, float]:
    """What `xla-compile --simulate` says of the program, or its error; the seconds of its process, and its largest memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        began = time.monotonic()
        process = subprocess.Popen([auto_sharding.compiler(), path, "--auto-sharding", "--simulate", "--cache-dir=off", "-o", out, *extra],
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds))))
        assert process.stderr is not None
        error = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            return f"exit status {process.returncode}: " + (error.strip() or "no message")[-400:], time.monotonic() - began, used.ru_maxrss / 1024
        with open(out) as file:
            return json.load(file), time.monotonic() - began, used.ru_maxrss / 1024


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=numbers, default=[1000, 10000, 100000], help="numbers of operations")
    parser.add_argument("--meshes", type=lambda text: text.split(","), default=["2x4", "2x2x2", "2x2x2x2"], help="sizes of axes: 2x4,2x2x2")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--limit", type=float, default=0, help="share of the first plan's bytes for a second one")
    parser.add_argument("--machine", default="h100")
    parser.add_argument("--seconds", type=float, default=3600, help="limit of the processor time of one plan")
    parser.add_argument("--write", help="write the first program to this file, and do nothing else")
    given = parser.parse_args()

    def program(operations: int) -> Iterator[str]:
        return lines_of_step(max(1, round(operations / OPERATIONS_OF_LAYER)), given.rows, given.width)
    if given.write:
        with open(given.write, "w") as file:
            file.writelines(line + "\n" for line in program(given.operations[0]))
        return
    print(f"{'operations':>10}{'mesh':>12}{'limit':>14}{'seconds':>9}{'MiB':>8}{'step ms':>12}{'gap':>8}{'again':>7}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for operations in given.operations:
            path = os.path.join(folder, f"{operations}.mlir")
            with open(path, "w") as file:
                file.writelines(line + "\n" for line in program(operations))
            for mesh in given.meshes:
                axes = ",".join(f"{name}={size}" for name, size in zip("abcdefgh", mesh.split("x"), strict=False))
                limit = 0
                for _ in range(2 if given.limit else 1):
                    progress.show(f"{operations} operations, {mesh}")
                    extra = [f"--mesh={axes}", f"--machine={given.machine}", *([f"--memory-per-device={limit}"] if limit else [])]
                    found, seconds, memory = planned(path, extra, given.seconds)
                    begin = f"{operations:>10}{mesh:>12}{limit or '':>14}{seconds:>9.1f}{memory:>8.0f}"
                    if isinstance(found, str):
                        print(begin + f"  {found}", flush=True)
                        break
                    plan = found["planned"]
                    gap = "-" if plan["gap"] is None else f"{plan['gap']:.2%}"
                    print(begin + f"{1e3 * found['seconds']:>12.3f}{gap:>8}{plan['recomputed_values']:>7}", flush=True)
                    limit = int(given.limit * (found["compiled_peak_bytes"] or found["peak_bytes"]))


if __name__ == "__main__":
    main()
