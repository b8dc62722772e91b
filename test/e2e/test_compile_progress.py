# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiles for longer than a second says so, where somebody looks; checkpoints of JAX lower the memory that a step needs."""
import os
import pty
import re
import subprocess

import pytest

from benchmarks import tools

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402


def compile_long(tmp_path, stderr, environment=None):
    """Compiles more and more different kernels on one thread until that takes well over a second: (exit status, seconds)."""
    path = tmp_path / "long.mlir"
    for count in (60, 120, 240, 480):
        sizes = [(3 + 2 * i, 5 + 3 * (i % 40)) for i in range(count)]
        arguments = ", ".join(f"%x{i}: tensor<{m}x{n}xf32>" for i, (m, n) in enumerate(sizes))
        lines = "\n".join(f"  %r{i} = stablehlo.dot_general %x{i}, %x{i}, contracting_dims = [1] x [1] : (tensor<{m}x{n}xf32>, "
                          f"tensor<{m}x{n}xf32>) -> tensor<{m}x{m}xf32>" for i, (m, n) in enumerate(sizes))
        types = ", ".join(f"tensor<{m}x{m}xf32>" for m, _ in sizes)
        path.write_text(f"func.func @main({arguments}) -> ({types}) {{\n{lines}\n  return {', '.join(f'%r{i}' for i in range(count))} : {types}\n}}\n")
        command = [tools.tool("xla-compile"), str(path), "--cache-dir=off", "--compile-threads=1", "--time", "-o", str(tmp_path / "long.mr")]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=dict(os.environ, **(environment or {})), check=True)
        if float(re.search(r"([\d.]+)  total", process.stdout).group(1)) > 1500:
            return process
    pytest.fail("no program takes long enough")


def test_progress_on_a_terminal(tmp_path):
    ours, theirs = pty.openpty()
    compile_long(tmp_path, theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert re.search(rb"\r\x1b\[K1 s: kernel \d+ of \d+", shown)
    assert shown.endswith(b"\r\x1b[K"), "the line is wiped"


def test_progress_only_where_somebody_looks(tmp_path):
    assert compile_long(tmp_path, subprocess.PIPE).stderr == ""
    lines = compile_long(tmp_path, subprocess.PIPE, {"MILLRACE_PROGRESS": "1"}).stderr
    assert re.match(r"1 s: kernel \d+ of \d+\n", lines)


@pytest.mark.parametrize("is_scan", (False, True))
def test_checkpoints_lower_the_memory(is_scan, tmp_path):
    def temporaries(wrap):
        def layer(x, w):
            return jnp.tanh(jax.nn.gelu(x @ w) @ w.T) + x

        def loss(weights, x):
            f = wrap(layer)
            if is_scan:
                x, _ = jax.lax.scan(lambda c, w: (f(c, w), None), x, weights)
            else:
                for w in weights:
                    x = f(x, w)
            return (x * x).sum()

        weights = jnp.zeros((8, 64, 256)) if is_scan else [jnp.zeros((64, 256))] * 8
        path = tmp_path / "step.mlir"
        path.write_text(jax.jit(jax.grad(loss)).trace(weights, jnp.zeros((1024, 64))).lower(lowering_platforms=("cpu",)).as_text())
        process = subprocess.run([tools.tool("xla-compile"), str(path), "--memory", "--cache-dir=off", "-o", str(tmp_path / "step.mr")],
                                 capture_output=True, text=True, check=True)
        return int(re.search(r"(\d+)  temporaries", process.stdout).group(1))

    assert temporaries(jax.checkpoint) < 0.5 * temporaries(lambda f: f)
