# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our shared libraries load beside jaxlib and torch, which carry other copies of LLVM and MLIR, and export only ours."""
import ctypes
import importlib.util
import os
import re
import subprocess
import sys

import pytest

from benchmarks import tools

# A wheel has no links: there the name that programs ask for is the file's.
LIBRARIES = [path if os.path.exists(path := os.path.join(tools.BUILD, "lib", name)) else path + ".0"
             for name in ("libmillrace_runtime.so", "libmillrace.so")]
# What cmake/exports.map lets out: our namespace, type identities of our classes in MLIR's templates, the C API.
OURS = re.compile(r"_Z(N[KOR]*|T[ISV]N|GVN|TINS_|GRN)[0-9]*8?millrace|_Z\w*8millrace|millrace_|GetPjrtApi$")

PROGRAM = """
import ctypes, sys
def compute_with_jax():
    import jax, jax.numpy as jnp
    assert float(jax.jit(lambda x: jnp.tanh(x @ x).sum())(jnp.ones((8, 8)))) == 64.0
def compute_with_torch():
    import torch
    assert float((torch.ones(8, 8) @ torch.ones(8, 8)).sum()) == 512.0
def load():
    for path in {libraries!r}:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL if {everything} else ctypes.RTLD_LOCAL)
peer = compute_with_{peer}
for step in ({order}): step()
peer()
print("fine")
"""


@pytest.mark.parametrize("everything", [False, True], ids=["local", "global"])
@pytest.mark.parametrize("order", ["load, peer", "peer, load"])
@pytest.mark.parametrize("peer", ["jax", "torch"])
def test_loads_beside(peer, order, everything):
    if not importlib.util.find_spec(peer):
        pytest.skip(f"{peer} is not installed (scripts/setup --bench)")
    program = PROGRAM.format(libraries=LIBRARIES, peer=peer, order=order, everything=everything)
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300,
                             env=dict(os.environ, JAX_PLATFORMS="cpu"))
    assert process.returncode == 0 and process.stdout.strip() == "fine", process.stdout + process.stderr


@pytest.mark.parametrize("library", LIBRARIES, ids=os.path.basename)
def test_exports_only_ours(library):
    listing = subprocess.run(["/usr/lib/llvm-22/bin/llvm-nm", "-D", "--defined-only", "--format=just-symbols", library],
                             capture_output=True, text=True, check=True).stdout.split()
    assert listing, "exports nothing"
    foreign = [symbol for symbol in listing if not OURS.match(symbol)]
    assert not foreign, f"{len(foreign)} of {len(listing)} symbols are not ours: {foreign[:10]}"


def test_plugin_exports_its_entry_only():
    library = os.path.join(tools.BUILD, "lib", "libmillrace_pjrt.so")
    listing = subprocess.run(["/usr/lib/llvm-22/bin/llvm-nm", "-D", "--defined-only", "--format=just-symbols", library],
                             capture_output=True, text=True, check=True).stdout.split()
    if os.path.exists(os.path.join(tools.BUILD, "CMakeCache.txt")):
        assert listing == ["GetPjrtApi"]
    else:  # in a wheel libmillrace.so has it, on which the plug-in depends
        assert listing == []
        ctypes.CDLL(library).GetPjrtApi  # raises AttributeError
