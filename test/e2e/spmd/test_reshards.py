# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From every way to split a tensor over a small mesh to every other one: the compile path (xla-spmd-partition) brings no device more
bytes than sdy-reshard-to-collectives followed by sdy-convert-global-to-local, and the elements arrive where they belong."""
import itertools
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import tools

sys.path.insert(0, os.path.join(tools.ROOT, "test", "fuzz"))
from fuzz import devices, program  # noqa: E402

MOVES = r"stablehlo\.(all_gather|all_to_all|collective_permute|collective_broadcast|all_reduce|reduce_scatter)\b"


def splits(axes, rank):
    """Every sharding of a tensor of that rank by some of the axes, in every order."""
    for count in range(len(axes) + 1):
        for used in itertools.permutations(axes, count):
            for cuts in itertools.combinations_with_replacement(range(count + 1), rank - 1):
                ends = (0, *cuts, count)
                dims = (", ".join(f'"{axis}"' for axis in used[begin:end]) for begin, end in zip(ends, ends[1:]))
                yield "[" + ", ".join("{" + dim + "}" for dim in dims) + "]"


def module(mesh, body):
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.items())
    return f"module attributes {{mhlo.num_partitions = {math.prod(mesh.values())} : i32}} {{\nsdy.mesh @mesh = <[{axes}]>\n{body}}}"


def received(line):
    """Bytes that an operation brings to a device that gets all from others; the programs have only i32."""
    kind = re.search(MOVES, line)[1]
    size = 4 * math.prod(map(int, re.search(r"-> tensor<((?:\d+x)+)i32>", line)[1].split("x")[:-1]))
    together = int(re.search(r"tensor<\d+x(\d+)xi64>", line)[1])
    return {"collective_permute": size, "all_gather": size * (together - 1) // together, "all_to_all": size * (together - 1) // together}[kind]


def bytes_of(modules, *flags):
    process = subprocess.run([tools.tool("xla-opt"), "-", "-split-input-file", *flags], input="\n// -----\n".join(modules), capture_output=True,
                             text=True, timeout=300)
    assert process.returncode == 0 and not process.stderr, process.stderr[-2000:]
    found = process.stdout.split("// -----")
    assert len(found) == len(modules)
    return [sum(received(line) for line in text.splitlines() if re.search(MOVES, line)) for text in found]


MESHES = pytest.mark.parametrize("mesh,shape,pairs", [({"a": 4, "b": 2}, (16, 16), 110), ({"a": 3, "b": 2, "c": 2}, (12, 12), 2352),
                                                     ({"a": 4, "b": 2, "c": 2}, (16, 16), 2352)], ids=["4x2", "3x2x2", "4x2x2"])


@MESHES
def test_no_more_than_named_pass(mesh, shape, pairs):
    ways = list(itertools.permutations(splits(mesh, len(shape)), 2))
    assert len(ways) == pairs
    type = f"tensor<{'x'.join(map(str, shape))}xi32>"

    def texts(body):
        return [module(mesh, f"func.func @main(%x: {type} {{sdy.sharding = #sdy.sharding<@mesh, {before}>}}) -> ({type} {{sdy.sharding = "
                       f"#sdy.sharding<@mesh, {after}>}}) {{\n{body.format(after=after, type=type)}}}\n") for before, after in ways]
    ours = bytes_of(texts("  return %x : {type}\n"), "-xla-spmd-partition")
    named = bytes_of(texts("  %0 = sdy.reshard %x <@mesh, {after}> : {type}\n  return %0 : {type}\n"), "-sdy-reshard-to-collectives",
                     "-sdy-convert-global-to-local")
    more = [f"{before} -> {after}: {mine} bytes, named pass {theirs}" for (before, after), mine, theirs in zip(ways, ours, named) if mine > theirs]
    assert not more, f"{len(more)} of {pairs}:\n" + "\n".join(more)
    assert any(ours) and sum(ours) <= sum(named)


class Case:
    """One value after the other, given to every sharding and brought back to all devices."""

    spread = True

    def __init__(self, mesh, shape, ways):
        self.mesh, self.ways, self.type = mesh, ways, f"tensor<{'x'.join(map(str, shape))}xi32>"
        self.arrays = [np.arange(math.prod(shape), dtype=np.int32).reshape(shape)]
        self.results = [program.Value(f"%r{i}", "i32", shape) for i in range(len(ways))]

    def text(self, spread=None):
        lines = []
        for i, (before, after) in enumerate(self.ways):
            lines += [f"%c{i} = stablehlo.constant dense<{i}> : {self.type}", f"%a{i} = stablehlo.add %x, %c{i} : {self.type}"]
            last = f"%a{i}"
            for name, way in ((f"%b{i}", before), (f"%t{i}", after)) if spread else ():
                lines.append(f"{name} = sdy.sharding_constraint {last} <@mesh, {way}> : {self.type}")
                last = name
            lines.append(f"%r{i} = stablehlo.multiply {last}, {last} : {self.type}")
        types = ", ".join([self.type] * len(self.ways))
        body = "\n".join([f"func.func @main(%x: {self.type}) -> ({types}) {{", *lines,
                          f"return {', '.join(result.name for result in self.results)} : {types}", "}"])
        return module(self.mesh, body) if spread else body


@MESHES
def test_elements_arrive(mesh, shape, pairs):
    ways = list(itertools.permutations(splits(mesh, len(shape)), 2))[::max(1, pairs // 110)]
    case = Case(mesh, shape, ways)
    text = case.text(True)
    process = subprocess.run([tools.tool("xla-opt"), "-", "-xla-spmd-partition"], input=text, capture_output=True, text=True, timeout=300)
    for kind in ("all_gather", "all_to_all", "collective_permute"):
        assert process.stdout.count(f"stablehlo.{kind}") >= len(ways) // 10, process.stderr[-2000:]
    grid = devices.Grid(os.path.dirname(os.path.dirname(tools.tool("fuzz-devices"))))
    one, message, many, other = grid.pair(case)
    assert not message and not other, message or other
    grid.close()
    assert len(one) == len(ways)
    for i, (way, single, spread) in enumerate(zip(ways, one, many)):
        np.testing.assert_array_equal(single, (case.arrays[0] + i) ** 2)
        np.testing.assert_array_equal(spread, single, err_msg=" -> ".join(way))
