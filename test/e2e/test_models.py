# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each model of benchmarks/model runs compiled and equals JAX's CPU result, computed here, within its dtype's tolerance."""
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import program as bench
from benchmarks import tools
from benchmarks.model import programs

MODELS = {p.name: p for p in programs()}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_equals_jax(name):
    import jax

    model = MODELS[name]
    inputs = model.inputs(7)
    want = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(jax.jit(model.function)(*inputs))]
    # A result of zeros or infinities would agree with much that is wrong.
    assert all(np.isfinite(w).all() for w in want) and any(np.abs(w).max() > 1e-3 for w in want)
    got, process = tools.run_file(bench.model_path(model), bench.flatten(inputs), "--backend=compiled")
    assert bench.disagreement(model, want, got) is None
    other = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(jax.jit(model.function)(*model.inputs(8)))]
    assert bench.disagreement(model, other, got) is not None, "the comparison accepts results of other inputs"


def test_exported_text_is_current():
    process = subprocess.run([sys.executable, "-m", "benchmarks.model", "--check"], cwd=tools.ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr


def test_compiling_bert_needs_less_than_a_gibibyte(tmp_path):
    path = bench.model_path(next(p for n, p in MODELS.items() if n.startswith("bert")))
    # A small process in between: a child's peak counts from its fork, when it still is a copy of this one with JAX in it.
    peak = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    process = subprocess.run([sys.executable, "-c", peak, tools.tool("xla-compile"), path, "--cache-dir=off", "-o",
                              str(tmp_path / "bert.mr")],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    kibibytes = int(process.stdout.split()[-1])
    assert 20 * 1024 < kibibytes < 1024 * 1024, f"{kibibytes / 1024:.0f} MiB"
