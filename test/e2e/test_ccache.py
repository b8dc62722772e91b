# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two clones share compilations through ccache: building the second one hits for more than 95 % of the files. Only in --long."""
import os
import subprocess

import pytest

from benchmarks import tools

TARGETS = ["millrace_runtime", "MillraceStablehlo", "MillraceLayout"]  # the last two by precompiled headers


@pytest.mark.skipif(not os.environ.get("MILLRACE_LONG"), reason="scripts/check --long")
def test_second_clone_hits(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CCACHE_")}
    environment["CCACHE_DIR"] = str(tmp_path / "ccache")

    def build(name):
        clone = tmp_path / name
        subprocess.run(["git", "clone", "-q", tools.ROOT, clone], check=True)
        for command in (["ccache", "-z"], ["cmake", "--preset", "dev"], ["ninja", "-C", "build", *TARGETS]):
            subprocess.run(command, cwd=clone, env=environment, check=True, capture_output=True, timeout=3000)
        counts = dict(line.split("\t") for line in subprocess.run(["ccache", "--print-stats"], env=environment, check=True, text=True,
                                                                  capture_output=True).stdout.splitlines())
        hits = int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])
        return hits, int(counts["cache_miss"])

    hits, misses = build("first")
    assert misses > 20 and hits == 0
    hits, misses = build("second")
    assert hits > 0.95 * (hits + misses), f"{hits} hits, {misses} misses"
