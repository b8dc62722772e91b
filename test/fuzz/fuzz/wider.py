# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A second look at a difference between devices in f16 or bf16.

Each device rounds its partial sums to the element type. Where a sum cancels, or a partial sum overflows and the whole one does not, the
results differ by more than any tolerance, and rightly. A wrong partition differs in f32, too.
"""
import copy
import re
import types

import numpy as np

from fuzz import dtypes

NARROW = ("f16", "bf16")


def widened(case):
    """The case with f32 in place of f16 and bf16. A program for which that makes no sense (bits of floats) does not parse, or differs."""
    twin = copy.copy(case)
    twin.text = lambda spread=None: re.sub(r"b?f16\b", "f32", case.text(spread))
    twin.arrays = [np.asarray(a, np.float32) if a.dtype in [dtypes.NUMPY[n] for n in NARROW] else a for a in case.arrays]
    twin.results = []
    for result in case.results:
        dtype = "f32" if result.dtype in NARROW else result.dtype
        twin.results.append(types.SimpleNamespace(dtype=dtype, shape=result.shape, exact=result.exact, op=result.op,
                                                  type=dtypes.spell(dtype, result.shape)))
    return twin


def only_rounding(case, found, backends):
    """Whether `found`, what case.compare said, is a difference of 16-bit results that is gone in f32."""
    index, _ = found
    return index is not None and case.results[index].dtype in NARROW and widened(case).compare(backends) is None
