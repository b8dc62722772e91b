# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each model of benchmarks/model runs compiled and equals JAX's CPU result, computed here, within its dtype's tolerance; on any number of threads and in
every execution with the same bits."""
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
    for threads, repeat in ((1, 2), (5, 3)):
        again, _ = tools.run_file(bench.model_path(model), bench.flatten(inputs), f"--repeat={repeat}",
                                  environment={"MILLRACE_NUM_THREADS": str(threads)})
        assert all(a.tobytes() == b.tobytes() for a, b in zip(again, got, strict=True)), f"other bits on {threads} threads in execution {repeat}"
    # As JAX and PyTorch compile it, where products and sums may round once; and both tiers of that.
    fused, quick = (tools.run_file(bench.model_path(model), bench.flatten(inputs), "--xla-semantics", *flags)[0] for flags in ((), ("--quick",)))
    assert bench.disagreement(model, want, fused) is None
    assert all(a.tobytes() == b.tobytes() for a, b in zip(quick, fused, strict=True)), "other bits of the first tier"
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


def test_lstm_differs_from_the_evaluator_only_by_chaos():
    """With weights from [-1, 1), as --seed gives them, 256 units amplify each other: one unit in the last place of the first
    input grows like the difference between compiled code and evaluator. With small weights neither grows."""
    path = bench.model_path(next(p for n, p in MODELS.items() if n.startswith("lstm")))
    random = np.random.default_rng(1)
    weights = [random.uniform(-1, 1, shape).astype(np.float32) for shape in ((256, 1024), (256, 1024))]
    rest = [random.uniform(-1, 1, shape).astype(np.float32) for shape in ((1024,), (64, 16, 256))]
    for scale in (1, 1 / 16):
        arguments = [np.float32(scale) * w for w in weights] + rest
        nudged = [*arguments[:3], arguments[3].copy()]
        nudged[3][0] = np.nextafter(nudged[3][0], np.float32(2))
        compiled, evaluated, moved = (tools.run_file(path, given, f"--backend={backend}")[0][0] for given, backend in
                                      ((arguments, "compiled"), (arguments, "interpreter"), (nudged, "compiled")))
        difference, chaos = (np.abs(compiled - other).max(axis=(1, 2)) for other in (evaluated, moved))
        assert difference[0] < 4e-6
        if scale == 1:
            assert chaos[32] > 1e-3 and np.all(difference < 10 * chaos + 4e-6)
        else:
            assert np.all(difference < 1e-6)
