# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Building blocks of the programs in this folder."""
import ml_dtypes
import numpy as np

from benchmarks.program import Program, Weights


def case(name, function, *specs, source, rtol=1e-4, atol=1e-4, torch_function=None, large=False):
    """A Program whose inputs are normal float32 arrays of the shapes `specs`; a spec may be a function of Weights."""

    def inputs(seed):
        draw = Weights(seed)
        return tuple(spec(draw) if callable(spec) else draw.normal(*spec) for spec in specs)

    return Program(name, function, inputs, rtol, atol, torch_function, source, large)


def integers(limit, *shape, dtype=np.int32):
    return lambda draw: draw.random.integers(0, limit, shape).astype(dtype)


def int8(*shape):
    return lambda draw: draw.random.integers(-128, 128, shape).astype(np.int8)


def bf16(*shape):
    return lambda draw: draw.normal(*shape).astype(ml_dtypes.bfloat16)


def matrix(*shape):
    """Scaled by its fan-in."""
    return lambda draw: draw.matrix(*shape)


def positive(*shape):
    return lambda draw: draw.positive(*shape)


def scalar(value):
    return lambda draw: np.asarray(value)


def in_torch(expression):
    """Defers the import of torch: the names `torch` and `F` are bound when the function runs."""

    def function(*arrays):
        import torch
        import torch.nn.functional as F

        return expression(torch, F, *arrays)

    return function
