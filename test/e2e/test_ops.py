# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each program of benchmarks/op runs compiled and equals JAX's CPU result, computed here, within its tolerance; on any number of threads, for
any sizes of caches and in every execution with the same bits."""
import numpy as np
import pytest

from benchmarks import program as bench
from benchmarks import tools
from benchmarks.op import programs

OPS = {p.name: p for p in programs() if not p.large}


@pytest.mark.parametrize("name", sorted(OPS))
def test_equals_jax(name, tmp_path):
    import jax

    op = OPS[name]
    inputs = op.inputs(7)
    want = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(jax.jit(op.function)(*inputs))]
    # A result of zeros or infinities would agree with much that is wrong.
    assert all(np.isfinite(w).all() for w in want) and any(np.abs(w).max() > 1e-3 for w in want)
    path = tmp_path / f"{name}.mlir"
    path.write_text(bench.export_text(op))
    got, process = tools.run_file(str(path), bench.flatten(inputs), "--backend=compiled")
    assert bench.disagreement(op, want, got) is None
    # Kernels are cut for the machine: another one has other pieces, and the same bits.
    for machine, repeat in ({"MILLRACE_NUM_THREADS": "1"}, 2), ({"MILLRACE_NUM_THREADS": "5", "MILLRACE_TARGET_THREADS": "5", "MILLRACE_TARGET_CACHES": "16K/4,128K/8"}, 3):
        again, _ = tools.run_file(str(path), bench.flatten(inputs), f"--repeat={repeat}", environment=machine)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(again, got, strict=True)), f"other bits in execution {repeat} for {machine}"
    # As JAX and PyTorch compile it, where products and sums may round once; and both tiers of that.
    fused, quick = (tools.run_file(str(path), bench.flatten(inputs), "--xla-semantics", *flags)[0] for flags in ((), ("--quick",)))
    assert bench.disagreement(op, want, fused) is None
    assert all(a.tobytes() == b.tobytes() for a, b in zip(quick, fused, strict=True)), "other bits of the first tier"
    other = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(jax.jit(op.function)(*op.inputs(8)))]
    assert bench.disagreement(op, other, got) is not None, "the comparison accepts results of other inputs"
