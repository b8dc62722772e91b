# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla in a process in which JAX runs on Millrace too."""
import os
import subprocess
import sys

import pytest

pytest.importorskip("millrace_jax")

PROGRAM = """
import jax, jax.numpy as jnp, torch, torch_xla
assert jax.jit(lambda x: x + 1)(jnp.ones(2)).tolist() == [2, 2]
try:
    torch.linalg.cholesky(-torch.eye(3, device="xla"))
except torch.linalg.LinAlgError as error:
    print("refused")
four = lambda: torch.linalg.cholesky(16 * torch.eye(2, device="xla")).cpu()[0, 0].item()
print(four(), jnp.linalg.cholesky(16 * jnp.eye(2))[0, 0], four())
"""


def test_factorizations_before_and_after_jax_uses_its_own():
    """jaxlib's LAPACK handlers may only be called once JAX has initialized them."""
    process = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300,
                             env=dict(os.environ, JAX_PLATFORMS="cpu"))
    assert process.stdout.split() == ["refused", "4.0", "4.0", "4.0"], process.stderr[-3000:]
