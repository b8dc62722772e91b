# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Five rows on four devices: what fills the last part up must not get into a sum. That scripts/fuzz --devices would notice is shown by
planting the mistake: zeros hide it, NaN and ones do not."""
import os
import sys

import numpy as np
import pytest

from benchmarks import tools

sys.path.insert(0, os.path.join(tools.ROOT, "test", "fuzz"))
from fuzz import devices, program  # noqa: E402

SUM = """func.func @main(%x: tensor<5x3x{0}>) -> tensor<3x{0}> {{
{1}  %z = stablehlo.constant dense<0{2}> : tensor<{0}>
  %r = stablehlo.reduce({3} init: %z) applies stablehlo.add across dimensions = [0] : (tensor<5x3x{0}>, tensor<{0}>) -> tensor<3x{0}>
  return %r : tensor<3x{0}>
}}
"""
MESH = 'module attributes {mhlo.num_partitions = 4 : i32} {\nsdy.mesh @mesh = <["a"=4]>\n'


class Case:
    spread = True

    def __init__(self, dtype):
        self.dtype, self.point = dtype, ".0" if dtype[0] == "f" else ""
        self.arrays = [np.arange(15).reshape(5, 3).astype(devices.dtypes.NUMPY[dtype])]
        self.results = [program.Value("%r", dtype, (3,))]

    def text(self, spread=None):
        if not spread:
            return SUM.format(self.dtype, "", self.point, "%x")
        split = f'  %s = sdy.sharding_constraint %x <@mesh, [{{"a"}}, {{}}]> : tensor<5x3x{self.dtype}>\n'
        return MESH + SUM.format(self.dtype, split, self.point, "%s") + "}"


def sums(dtype, *flags):
    """Of one device, and of four."""
    grid = devices.Grid(os.path.dirname(os.path.dirname(tools.tool("fuzz-devices"))), flags)
    one, message, four, other = grid.pair(Case(dtype))
    assert not message and not other, message or other
    grid.close()
    return one[0].tolist(), four[0].tolist()


@pytest.mark.parametrize("dtype", ["f32", "i32"])
def test_planted_mistake_is_found(dtype):
    one, four = sums(dtype)
    assert one == four == [30, 35, 40]
    assert sums(dtype, "--omit-masks", "--keep-zeros")[1] == one
    spoiled = sums(dtype, "--omit-masks")[1]
    assert np.isnan(spoiled).all() if dtype == "f32" else spoiled == [33, 38, 43]  # three rows of ones more
