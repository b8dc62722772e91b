# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a benchmark program is: a JAX function, its inputs from a seed, a tolerance, and (where easy) the same in torch."""
import os
import re
from typing import Callable, NamedTuple, Optional

import numpy as np


class Program(NamedTuple):
    """One measured program. `name` says what runs: family, shapes, dtype.

    `function(*inputs(seed))` is pure JAX; all arrays, weights included, are arguments. `rtol`/`atol` bound the
    difference of two correct results. `torch_function(*inputs)` gets the same arrays as torch tensors. `source` names the model
    whose shapes these are; `large` programs move more than 64 MiB and are no tests. Where `torch_program()` is given, it makes the
    program and its inputs (benchmarks.torch_text.TorchProgram), and there is no `function`, `inputs` and `torch_function`.
    """

    name: str
    function: Optional[Callable]
    inputs: Optional[Callable[[int], tuple]]
    rtol: float = 2e-4
    atol: float = 2e-4
    torch_function: Optional[Callable] = None
    source: str = ""
    large: bool = False
    torch_program: Optional[Callable] = None


class Weights:
    """Draws float32 weights from a seed: matrices scaled by their fan-in, so that activations stay near one."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def normal(self, *shape, scale=1.0):
        return (self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)).astype(np.float32)

    def matrix(self, *shape):
        return self.normal(*shape, scale=1.0 / np.sqrt(np.prod(shape[:-1])))

    def around(self, center, *shape, spread=0.1):
        return (np.float32(center) + self.normal(*shape, scale=spread)).astype(np.float32)

    def positive(self, *shape):
        return (self.random.random(shape, dtype=np.float32) + np.float32(0.5)).astype(np.float32)


def flatten(tree):
    """The arrays of a nested tuple/list/dict in JAX's order (dict keys sorted)."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in flatten(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for item in tree for leaf in flatten(item)]
    return [tree]


def export_text(program: Program) -> str:
    """The program as StableHLO text, weights as arguments in the order of `flatten(inputs)`, no locations."""
    import jax

    # keep_unused: argument k of @main is always leaf k of the inputs.
    inputs = program.inputs(0)
    with jax.enable_x64(any(np.asarray(leaf).dtype.itemsize == 8 and np.asarray(leaf).dtype.kind in "fiu" for leaf in flatten(inputs))):
        text = jax.jit(program.function, keep_unused=True).lower(*inputs).as_text()
    return text if text.endswith("\n") else text + "\n"


def model_path(program: Program) -> str:
    return os.path.join(os.path.dirname(os.path.realpath(__file__)), "model", program.name + ".mlir")


def text_and_arguments(program: Program):
    """StableHLO text and the values of its parameters as NumPy arrays, bfloat16 as ml_dtypes has it."""
    if program.torch_program is None:
        path = model_path(program)
        if not os.path.exists(path):
            return export_text(program), [np.asarray(a) for a in flatten(program.inputs(0))]
        with open(path) as file:
            return file.read(), [np.asarray(a) for a in flatten(program.inputs(0))]
    from benchmarks import torch_text

    text, values = torch_text.trace(program.torch_program())
    return text, [torch_text.to_numpy(value) for value in values]


_TYPES = {"i1": "bool", "bf16": "bfloat16", **{f"f{n}": f"float{n}" for n in (16, 32, 64)}, **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)},
          **{f"ui{n}": f"uint{n}" for n in (8, 16, 32, 64)}, "complex<f32>": "complex64", "complex<f64>": "complex128"}


def signature(text):
    """(types of the parameters, types of the results) of @main, as NumPy's and ml_dtypes' names."""
    start = text.index("@main(")
    line = text[start:text.index("\n", start)]
    # What stands after the arrow are results; attributes of parameters hold no arrow.
    parameters, _, results = line.partition(" -> ")
    kinds = [[_TYPES[kind] for kind in re.findall(r"tensor<(?:\d+x)*([a-z]+\d+|complex<f\d+>)[>,]", part)] for part in (parameters, results)]
    return kinds[0], kinds[1]


def changed(before, after):
    """The number of the first array whose bytes are no longer what they were, or None."""
    return next((i for i, (a, b) in enumerate(zip(before, after, strict=True)) if np.asarray(a).tobytes() != np.asarray(b).tobytes()), None)


def typed(arrays, types):
    """`arrays` with the types that NumPy's files do not know (bfloat16: raw bytes of its size) given back to them."""
    import ml_dtypes

    assert len(arrays) == len(types), f"{len(arrays)} arrays, but {len(types)} types"
    return [a.view(ml_dtypes.bfloat16) if kind == "bfloat16" and a.dtype != ml_dtypes.bfloat16 else a for a, kind in zip(arrays, types)]


def comparable(array):
    """`array` in a type that NumPy can write and subtract: small floating point types as float32, which holds their values exactly."""
    array = np.asarray(array)
    assert array.dtype.name != "void16", "raw bytes: typed() gives them their type"
    return array.astype(np.float32) if array.dtype.kind == "V" or array.dtype == np.float16 else array


def as_like(got, want):
    """`got` as an array of the type of `want`, if it is the raw bits of one that NumPy does not know (bfloat16)."""
    got, want = np.asarray(got), np.asarray(want)
    raw = want.dtype.kind == "V" and got.dtype.kind in "uV" and got.dtype != want.dtype and got.dtype.itemsize == want.dtype.itemsize
    return got.view(want.dtype) if raw else got


def max_difference(want, got):
    """Largest absolute difference over all leaves, and the largest |difference| / (|want| * rtol + atol) needs no more."""
    largest = 0.0
    for a, b in zip(want, got):
        a, b = np.asarray(a), as_like(b, a)
        if a.dtype.kind in "biu":
            largest = max(largest, float(np.max(a.astype(np.int64) != b.astype(np.int64), initial=0)))
        elif a.size:
            largest = max(largest, float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))))
    return largest


def disagreement(program: Program, want, got) -> Optional[str]:
    """None if `got` equals `want` within the program's tolerance, else what differs first."""
    if len(want) != len(got):
        return f"expects {len(want)} results, but got {len(got)}"
    for index, (a, b) in enumerate(zip(want, got)):
        a, b = np.asarray(a), as_like(b, a)
        if a.shape != b.shape:
            return f"result {index}: expects shape {a.shape}, but got {b.shape}"
        if a.dtype.kind in "biu":
            bad = int(np.sum(a.astype(np.int64) != b.astype(np.int64)))
            # Integer results of floating point loops (Mandelbrot's counts) may differ where rounding decides an iteration.
            if bad > program.rtol * a.size:
                return f"result {index}: {bad} of {a.size} integers differ"
        elif not np.allclose(b.astype(np.float64), a.astype(np.float64), rtol=program.rtol, atol=program.atol, equal_nan=True):
            return f"result {index}: largest difference {np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))):.3g}"
    return None
