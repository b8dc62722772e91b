# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Millrace beside everything else that carries LLVM, Abseil or protobuf: in one process, in any order, each with right values."""
import importlib.util
import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, numpy as np
def xla():
    import torch, torch_xla
    x = torch.ones(8, 8, device="xla")
    assert abs(float(torch.tanh(x @ x).sum()) - 64) < 1e-3 and x.device.type == "xla"
def compiled():
    import torch, torch_xla
    f = torch.compile(lambda x: torch.linalg.solve(x, x), backend="openxla")
    assert torch.allclose(f(torch.eye(5, device="xla") * 3).cpu(), torch.eye(5))
def eager():
    import torch
    assert float((torch.ones(8, 8) @ torch.ones(8, 8)).sum()) == 512.0
    assert torch.linalg.svdvals(torch.eye(3) * 2).tolist() == [2.0, 2.0, 2.0]
def jax():
    import jax, jax.numpy as jnp
    version = jax.devices()[0].client.platform_version
    assert ("illrace" in version) == ({ours}), version
    assert abs(float(jax.jit(lambda x: jnp.tanh(x @ x).sum())(jnp.ones((8, 8)))) - 64) < 1e-3
    assert np.allclose(jnp.linalg.inv(jnp.eye(3) * 2), np.eye(3) / 2)
def core():
    import millrace.core
    program = millrace.core.Client().compile("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{ return %x : tensor<2xf32> }}")
    assert program(np.ones(2, np.float32))[0].tolist() == [1.0, 1.0]
def scipy():
    import scipy.linalg
    assert np.allclose(scipy.linalg.inv(np.eye(3) * 2), np.eye(3) / 2)
for step in 2 * [{order}]: step()
print("fine")
"""
ORDERS = ["xla, jax, core, compiled, eager, scipy", "jax, scipy, xla, eager, core, compiled", "eager, core, jax, compiled, xla, scipy"]


@pytest.mark.parametrize("ours", [True, False], ids=["jax on Millrace", "jax on XLA"])
@pytest.mark.parametrize("order", ORDERS)
def test_all_in_one_process(order, ours):
    for package in ("jax", "scipy"):
        if not importlib.util.find_spec(package):
            pytest.skip(f"{package} is not installed")
    process = subprocess.run([sys.executable, "-c", PROGRAM.format(order=order, ours=ours)], capture_output=True, text=True, timeout=300,
                             env=dict(os.environ, JAX_PLATFORMS="cpu", MILLRACE_JAX=str(int(ours))))
    assert process.returncode == 0 and process.stdout.strip().endswith("fine"), process.stdout + process.stderr
