# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA_FLAGS=--xla_dump_to and MILLRACE_DEBUG=1."""
import os
import subprocess
import sys

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np

@jax.jit
def named(x):
    return jnp.tanh(x @ x) + 1

@jax.jit
def called(x):
    return jax.pure_callback(lambda value: np.asarray(value) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

print(float(named(jnp.ones((4, 4))).sum()))
print(float(named(jnp.ones((5, 5))).sum()))
print(float(called(jnp.ones(3)).sum()))
"""


def run(tmp_path, **environment):
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300,
                         env={**os.environ, "MILLRACE_CACHE": "rw", "MILLRACE_CACHE_DIR": str(tmp_path / "cache"), **environment})
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == 3 and ran.stdout.endswith("6.0\n")
    return ran.stderr


def test_programs_are_written(tmp_path):
    run(tmp_path, XLA_FLAGS=f"--xla_dump_to={tmp_path / 'dump'} --xla_dump_hlo_module_re=jit_named")
    files = sorted(os.listdir(tmp_path / "dump"))
    names = {name.split(".", 1)[1] for name in files}
    assert names == {f"jit_named.{suffix}" for suffix in ("before_optimizations.txt", "before_optimizations.mlir", "after_optimizations.txt",
                                                           "after_optimizations.mlir", "ir-with-opt.ll", "s")}
    assert len(files) == 2 * len(names)  # of two shapes
    text = (tmp_path / "dump" / "module_0001.jit_named.before_optimizations.txt").read_text()
    assert "HloModule jit_named" in text and "tanh" in text


def test_compilations_are_explained(tmp_path):
    first, second = (run(tmp_path, MILLRACE_DEBUG="1") for _ in range(2))
    lines = [line for line in first.splitlines() if line.startswith("Compilation Analysis: jit_named: ")]
    assert len(lines) == 2 and all("s, compiled (" in line and "kernels were compiled before" in line for line in lines), first
    assert "differ" in lines[1] or "nearest" in lines[1], lines
    assert "leaves compiled code for" in first and "callback" in first
    assert "never seen input type signature" in first or "TRACING CACHE MISS" in first.upper(), first
    assert len([line for line in second.splitlines() if line.startswith("Compilation Analysis: jit_named: ") and "found in the cache" in line]) == 2
    assert "Compilation Analysis" not in run(tmp_path, MILLRACE_DEBUG="0")
