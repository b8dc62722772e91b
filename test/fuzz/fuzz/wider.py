# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A second look at differences that come of rounding, with wider types.

Between devices, in f16 or bf16: each device rounds its partial sums to the element type. Where a sum cancels, or a partial sum overflows and
the whole one does not, the results differ by more than any tolerance, and rightly. A wrong partition differs in f32, too.

On one device, in f32: a product that overflows alone does not where it is fused with the sum that it joins.
"""
import copy
import re
import types

import numpy as np

from fuzz import dtypes

NARROW = ("bf16", "f16")  # a pattern in this order: b?f16


def widened(case, narrow, wide):
    """The case with type `wide` in place of types `narrow`. A program for which that makes no sense (bits of floats) does not parse, or differs."""
    twin = copy.copy(case)
    twin.text = lambda spread=None: re.sub(rf"({'|'.join(narrow)})\b", wide, case.text(spread))
    twin.arrays = [np.asarray(a, dtypes.NUMPY[wide]) if a.dtype in [dtypes.NUMPY[n] for n in narrow] else a for a in case.arrays]
    twin.results = []
    for result in case.results:
        dtype = wide if result.dtype in narrow else result.dtype
        twin.results.append(types.SimpleNamespace(dtype=dtype, shape=result.shape, exact=result.exact, op=result.op,
                                                  type=dtypes.spell(dtype, result.shape)))
    return twin


def only_rounding(case, found, backends):
    """Whether `found`, what case.compare said, is a difference of 16-bit results that is gone in f32."""
    index, _ = found
    return index is not None and case.results[index].dtype in NARROW and widened(case, NARROW, "f32").compare(backends) is None


def right_in_f64(case, found, backends):
    """Whether the f32 result of `found` is right but for numbers where the evaluator has none, and those are what it gives with f64 all the way."""
    index, _ = found
    if index is None or case.results[index].dtype != "f32" or case.results[index].exact:
        return False
    narrow, error, compiled, other = backends.pair(case)
    wide, error_in_f64, _, _ = backends.pair(widened(case, ["f32"], "f64"))
    if error or other or error_in_f64:
        return False
    want, got = narrow[index], compiled[index]
    with np.errstate(over="ignore"):
        want = np.where(np.isnan(want) & ~np.isnan(got), wide[index].astype(np.float32), want)
    return dtypes.difference("f32", False, want, got) is None
