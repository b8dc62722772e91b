# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No CHLO function is less exact than XLA:CPU's: Millrace's largest error over some points against the figures of XLA:CPU over
many, as docs/chlo-accuracy.md has them, and that table itself."""
import importlib.machinery
import importlib.util
import os
import re

import pytest

from benchmarks import tools

X64 = True
TABLE = os.path.join(tools.ROOT, "docs", "chlo-accuracy.md")


def load():
    path = os.path.join(tools.ROOT, "scripts", "chlo-accuracy")
    loader = importlib.machinery.SourceFileLoader("chlo_accuracy", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("chlo_accuracy", loader))
    loader.exec_module(module)
    return module


def rows():
    """name -> [Millrace f32, XLA:CPU f32, Millrace f64, XLA:CPU f64], each (largest error, the same of large values)."""
    with open(TABLE) as file:
        lines = [line.split("|") for line in file if line.startswith("| ")][1:]
    return {cells[1].strip(): [tuple(map(float, re.findall(r"[\d.e+]+", cell))) for cell in cells[3:7]] for cells in lines}


accuracy = load()


@pytest.mark.parametrize("name", sorted(accuracy.FUNCTIONS))
def test_is_as_exact_as_xla(name):
    _, single, _, double = rows()[name]
    measured = accuracy.measure(name, 200)
    for dtype, other in (("f32", single), ("f64", double)):
        mine = measured[dtype][0]
        assert mine[0] > 0.1, "no point was measured"
        assert not accuracy.is_worse(mine, other), f"{dtype}: {mine} ulp, XLA:CPU {other}"


def test_table_is_complete_and_never_worse():
    table = rows()
    assert list(table) == list(accuracy.FUNCTIONS)
    for name, (mine32, other32, mine64, other64) in table.items():
        assert not accuracy.is_worse(mine32, other32) and not accuracy.is_worse(mine64, other64), name
