# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks.prediction: schedules of pieces, roofs of memory, and the profile that xla-run --pieces writes."""
import dataclasses
import json
import os
import subprocess
import sys

import pytest

from benchmarks import prediction, tools

MACHINE = prediction.Machine("a machine", threads=64, wake_us=2, join_us=1, near_bytes=1e6, shared_bytes=32e6, core_gbs=30, shared_gbs=60,
                             memory_gbs=300, source="invented")


def test_schedules():
    assert prediction.makespan([5.0, 7.0], 1, MACHINE) == 12, "one thread runs all pieces, and nobody is woken"
    assert prediction.makespan([50.0], 64, MACHINE) == 50
    assert prediction.makespan([10.0, 10.0], 2, MACHINE) == 2 + 10 + 1
    assert prediction.makespan([1.0, 1.0], 2, MACHINE) == 2 + 1, "who is called has done both before the other one comes"
    assert prediction.makespan([10.0] * 4, 4, MACHINE) == 4 + 10 + 1, "the third and the fourth thread are woken by others"
    assert prediction.makespan([10.0, 10.0, 30.0], 2, MACHINE) == 10 + 30 + 1


def test_roofs():
    assert MACHINE.least_us(1e6, 1) == 0, "near the core"
    assert MACHINE.least_us(30e6, 1) == pytest.approx(500) and MACHINE.least_us(30e6, 2) == pytest.approx(250)
    assert MACHINE.least_us(300e6, 64) == pytest.approx(1000), "what the memory delivers to all cores"
    row = {"name": "copy", "emitter": "row", "calls": 2, "bytes_read": 300e6, "bytes_written": 300e6, "min_us": 1,
           "pieces": [{"launches": 2, "us": [100.0] * 64}]}
    (kernel,) = prediction.kernels([row], MACHINE, 64)
    assert kernel.at_roof and kernel.together == pytest.approx(2 * 1000) and kernel.alone == pytest.approx(2 * 10000)


def test_machines(tmp_path):
    folder = os.path.join(tools.ROOT, "benchmarks", "machines")
    assert len([prediction.Machine.load(os.path.join(folder, name)) for name in os.listdir(folder)]) >= 2
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(dataclasses.asdict(MACHINE) | {"memory_gbs": 0}))
    with pytest.raises(ValueError, match="machine.json: expected a positive number for memory_gbs, but got 0"):
        prediction.Machine.load(str(path))


def test_pieces_cover_the_program(tmp_path):
    """The pieces of a product, cut for 8 threads and timed on one, are as many as 8 threads share, and their times add up."""
    text, path = tmp_path / "product.mlir", tmp_path / "profile.json"
    text.write_text("""func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      return %0 : tensor<512x512xf32>
    }""")
    subprocess.run([tools.tool("xla-run"), str(text), "--quiet", "--pieces=8", "--target-threads=8", f"--profile={path}", "--repeat=3", "--verify"], check=True)
    (row,) = (row for row in json.loads(path.read_text()) if row["emitter"] == "contraction")
    (group,) = row["pieces"]
    assert group["launches"] == 1 and len(group["us"]) >= 8
    assert 0 < sum(group["us"]) <= row["median_us"] * 1.5 + 100
    wrong = subprocess.run([tools.tool("xla-run"), str(text), "--pieces=8"], capture_output=True, text=True)
    assert wrong.returncode and "--pieces requires --profile" in wrong.stderr


def test_command(tmp_path):
    machines = os.path.join(tools.ROOT, "benchmarks", "machines")
    process = subprocess.run([sys.executable, "-m", "benchmarks.scaling", "gemm_33x65x127_f32", "--threads=1,2,16", "--seconds=0.01",
                              f"--predict={machines}/two-cores.json,{machines}/epyc-9554.json", f"--json={tmp_path}/out.json"],
                             cwd=tools.ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "measured" in process.stdout and "times as fast on 16 threads" in process.stdout and "predicted over measured" in process.stdout
    (row,) = json.loads((tmp_path / "out.json").read_text()).values()
    assert len(row["machines"]) == 2
