# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Well-known ways to share a network out need no more messages than somebody counted by hand."""
import os
import subprocess
import sys

import pytest

from benchmarks import tools

pytest.importorskip("jax")


def test_least_communication():
    process = subprocess.run([sys.executable, "-m", "benchmarks.communication", "--no-xla", "--only=mlp|attention|data_parallel|fsdp"],
                             capture_output=True, text=True, timeout=300, cwd=tools.ROOT, env=dict(os.environ, MILLRACE_JAX="0"))
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    assert "0 of 6 programs differ from the least" in process.stdout
