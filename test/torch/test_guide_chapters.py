# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python of the guide's chapters runs, each chapter in one process, and prints what it should."""
import os
import re
import subprocess
import sys

import pytest
from paths import SITE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


@pytest.mark.parametrize("page, printed", [
    ("torch-training.md", "learned: True compiled: [01]\n2 losses\naccuracy above 0.8: True\ncpu xla:0\n"
                         r"(step [12]0: .* ms, \d+ rows/s, .*; MB: parameters 0, gradients 0, activations \d+\n){2}"),
    ("torch-caching.md", r"True found: 0 compiled: [1-9]\d*\nTrue found: [1-9]\d* compiled: 0\n"
                         r"factors: \[[01], 0, 0\]\nsizes: \[1, 1\]\n"),
    ("torch-troubleshooting.md", "RuntimeError\n" * 3 + "Integers to negative integer powers are not allowed.\nZeroDivisionError\n"
                                 r"index 5 is out of bounds for dimension 0 with size 3\ntensor\(\[1.\], device='xla:0'\)\n" "Linear agrees: True\nGELU agrees: True\nLinear agrees: True\n"
                                 "programs in the step: 1\nsum is positive: True\nprograms in the step: 2\n"),
    ("kernels.md", r"True\nTrue\nTrue\nTrue\nTrue\n\(1, 4, 512, 64\)\nexpects the shape \(8, 128\) for output 0 of wrong, but got \(128,\)\n"),
    ("language-models.md", "same tokens: True programs so far: 2\n" * 2 + "again: True as on the CPU: False\nsame tokens: True\nprograms: at most 4\n"
                           "same tokens: True programs: [1-3]\nsame tokens: True True\none more each time: True\nsame tokens: True True pages in use: 0\nclose: True\n"
                           "programs for six sizes: 2\n"),
    ("fine-tuning.md", "learns: True programs after the second step: 0\n" * 2 + "learns: True torch.bfloat16 torch.float32 torch.float32\n"),
    ("metrics.md", r"Metric: CompileTime\nsteps: 5 graphs: [1-3] \[\]\nexecutions: 5 True True\n\[\]\n"
                   r"pt-xla-profiler: CompileTime too frequent: 12 counts during 12 steps\npt-xla-profiler:   most often at .*loop.py:5 \(12 of 12 times\)\n"
                   r"CompileTime__TotalSamples\nTrue True\n"),
    ("memory.md", r"one more: 4194304\nagain: 0\nthe product lived: True\nchapter.py:30 \d\d\.\d MB\nTrue True\n"),
    ("profiling.md", r"read\n3 \[2, 3, 4\]\nTrue\nTrue True\n"),
    ("torch-custom-operations.md", r"\[\[5.0, 5.0\]\]\nTrue\n6.0\n4.0\n"),
    ("torch-spmd.md", r"\{devices=\[4,2\]0,1,2,3,4,5,6,7\}\n\[\(8,\), \(8,\)\] \(Shard\(dim=0\), Shard\(dim=0\)\)\n"
                      r"\[\[0.0, 1.0, 2.0\], \[3.0, 4.0, 5.0\], \[6.0, 7.0, 8.0\], \[9.0\]\]\n"
                      r"True \(1,\) 120.0\n"
                      r"\{devices=\[4,2\]0,1,2,3,4,5,6,7\}\n\{devices=\[4,1,2\]0,1,2,3,4,5,6,7 last_tile_dim_replicate\}\n"
                      r"\{devices=\[1,2,4\]0,2,4,6,1,3,5,7 last_tile_dim_replicate\}\n"
                      r"\(Shard\(dim=0\), Shard\(dim=1\)\) \(Partial\(sum\), Shard\(dim=0\)\)\n1\n"
                      r"torch.Size\(\[2, 32\]\) True\n"
                      r"learned: True \{devices=\[8,1\]0,1,2,3,4,5,6,7\}\n"
                      r"\['\{devices=\[8,1\]', '\{devices=\[8,1\]', '\{devices=\[1,8\]', '\{devices=\[1,8\]'\] True\n\{devices=\[8,1\]0,1,2,3,4,5,6,7\}\n\['The plan: .*', 'Of the candidates .* was taken: .*'\]\n\[20, 30\]\n30\nTrue\nTrue\nall_reduce tensor<32x32xf32> among 4: .*\nTrue\n"
                      r"(?s:.*CPU 0.*CPU 7.*)mark_sharding of x \(float32\[16, 32\]\): expects every axis of the mesh at most once, but got "
                      r"'data' for dims 0 and 1\n"),
])
def test_chapter(page, printed, tmp_path):
    if page == "fine-tuning.md":
        pytest.importorskip("peft")
    with open(os.path.join(ROOT, "docs/guide", page)) as file:
        code = "\n".join(re.findall(r"```python\n(.*?)```", file.read(), re.S))
    script = tmp_path / "chapter.py"
    script.write_text(code)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, cwd=tmp_path,
                         env=dict(os.environ, PYTHONPATH=SITE, MILLRACE_CACHE_DIR=str(tmp_path)))
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(printed, ran.stdout), ran.stdout


def test_relaxed_convolutions(tmp_path):
    """docs/accuracy.md: the program computes 3x3 convolutions from fewer products where the variable says so, about as exactly."""
    with open(os.path.join(ROOT, "docs", "accuracy.md")) as file:
        code, = re.findall(r"```python file=relaxed_torch.py\n(.*?)```", file.read(), re.S)
    printed = [subprocess.run([sys.executable, "-c", "import torch; torch.manual_seed(0)\n" + code], capture_output=True, text=True, timeout=300, check=True,
                              env=dict(os.environ, PYTHONPATH=SITE, MILLRACE_CACHE_DIR=str(tmp_path), XLA_FLAGS=flags)).stdout.split()
               for flags in ("", "--xla_cpu_enable_fast_math", "--xla_cpu_enable_fast_math=1", "--xla_cpu_enable_fast_math=false")]
    assert [fits for _, fits in printed] == ["True"] * 4
    (strict, _), (relaxed, _), (by_number, _), (off, _) = printed
    assert strict == off != relaxed == by_number
