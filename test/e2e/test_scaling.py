# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks.scaling measures the texts of a folder and says what keeps a program from being faster on more threads."""
import json
import os
import subprocess
import sys

import pytest

from benchmarks import scaling, tools

TEXT = """
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.tanh %0 : tensor<256x256xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  return %2 : tensor<256xf32>
}
"""


def measure(*arguments):
    return subprocess.run([sys.executable, "-m", "benchmarks.scaling", *arguments], cwd=tools.ROOT, capture_output=True, text=True, timeout=300)


def test_measures_a_folder(tmp_path):
    (tmp_path / "product.mlir").write_text(TEXT)
    (tmp_path / "other.mlir").write_text(TEXT)
    target = tmp_path / "out.json"
    process = measure("^product", f"--texts={tmp_path}", "--threads=1,3", "--peers=xla_cpu", "--seconds=0.02", f"--json={target}")
    assert process.returncode == 0, process.stderr
    assert "other" not in process.stdout and "geometric mean of 1 speed-ups" in process.stdout and "its time over ours on 3 threads" in process.stdout
    row = json.loads(target.read_text())["product"]
    for threads in ("1", "3"):
        assert 0 < row["threads"][threads]["min_ms"] <= row["threads"][threads]["median_ms"]
        assert sum(kernel["flops"] for kernel in row["threads"][threads]["kernels"]) >= 2 * 256**3
    assert row["xla_cpu"]["3"]["min_ms"] > 0


def test_what_does_not_compile_is_an_error(tmp_path):
    (tmp_path / "broken.mlir").write_text(TEXT.replace("stablehlo.tanh", "stablehlo.nothing"))
    process = measure(f"--texts={tmp_path}", "--threads=1", "--seconds=0.02")
    assert process.returncode == 1 and "broken: " in process.stdout and "stablehlo.nothing" in process.stdout


def test_kernels_that_lose_most_come_first():
    one = [{"name": "a_1", "min_us": 80.0}, {"name": "b_1", "min_us": 40.0}, {"name": "gone_1", "min_us": 1.0}]
    many = [{"name": "a_2", "min_us": 20.0}, {"name": "b_2", "min_us": 35.0}]
    assert [(lost, kernel["name"], gain) for lost, kernel, gain in scaling.losses(one, many, 8)] == [(30.0, "b_2", 40 / 35), (10.0, "a_2", 4.0)]


@pytest.mark.skipif(not os.path.exists(os.path.join(tools.ROOT, "benchmarks", "model")), reason="no catalogue")
def test_measures_the_catalogue():
    process = measure("^add_8_f32$", "--threads=1", "--seconds=0.02")
    assert process.returncode == 0 and "add_8_f32" in process.stdout, process.stderr
