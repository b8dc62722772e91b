# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main job: scripts/demo's program on the real weights ranks, agrees with JAX and hits the cache the second time."""
import os
import re
import subprocess
import sys

import pytest

from benchmarks import tools
from examples.semantic_search import minilm


def run_demo(cache, *arguments):
    return subprocess.run([sys.executable, "-m", "examples.semantic_search", *arguments], cwd=tools.ROOT, text=True,
                          capture_output=True, timeout=900,
                          env=dict(os.environ, PYTHONPATH=tools.ROOT, JAX_PLATFORMS="cpu", MILLRACE_CACHE_DIR=str(cache)))


def test_demo(tmp_path):
    try:
        minilm.model_folder()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    arguments = ("A man is eating food.", "The girl is carrying a baby.", "A man is eating a piece of bread.")
    first = run_demo(tmp_path, *arguments)
    assert first.returncode == 0, first.stdout + first.stderr
    assert float(re.search(r"largest absolute difference .*: (\S+)", first.stdout).group(1)) < 1e-4
    # The published similarity of this pair with this model is 0.7553.
    ranked = re.findall(r"^ +(-?[\d.]+)  (.*)$", first.stdout[first.stdout.index("closest to"):], re.M)
    assert [s for _, s in ranked] == [arguments[2], arguments[1]]
    assert abs(float(ranked[0][0]) - 0.7553) < 2e-3
    second = run_demo(tmp_path, *arguments)
    assert second.returncode == 0, second.stdout + second.stderr
    assert re.search(r"cache.*miss", first.stdout) and re.search(r"cache.*hit", second.stdout), first.stdout + second.stdout
