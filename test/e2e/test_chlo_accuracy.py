# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No CHLO function is less exact than XLA:CPU's: scripts/chlo-accuracy over fewer points, and its table."""
import importlib.machinery
import importlib.util
import os

import pytest

from benchmarks import tools


def load():
    path = os.path.join(tools.ROOT, "scripts", "chlo-accuracy")
    loader = importlib.machinery.SourceFileLoader("chlo_accuracy", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("chlo_accuracy", loader))
    loader.exec_module(module)
    return module


accuracy = load()


@pytest.mark.parametrize("name", sorted(accuracy.FUNCTIONS))
def test_is_as_exact_as_xla(name):
    for dtype, (mine, other) in accuracy.measure(name, 250).items():
        assert mine[0] > 0.1, "no point was measured"
        assert not accuracy.is_worse(mine, other), f"{dtype}: {mine} ulp, XLA:CPU {other}"


def test_table_is_complete():
    with open(os.path.join(tools.ROOT, "docs", "chlo-accuracy.md")) as file:
        rows = [line.split("|")[1].strip() for line in file if line.startswith("| ")]
    assert rows[1:] == list(accuracy.FUNCTIONS)
    with open(os.path.join(tools.ROOT, "docs", "chlo-accuracy.md")) as file:
        assert file.read().count("**") == 2, "a cell is worse than XLA:CPU's"  # the legend's own
