# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks.tiny_programs: its figures are there; no figure is compared with a limit."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_compile_times_beside_those_of_xla() -> None:
    """Two programs, of which XLA:CPU compiles one by its code generator and calls a library for the other."""
    ran = subprocess.run([sys.executable, "-m", "benchmarks.tiny_programs", "--only=exp,product 8x8", "--rounds=1"], cwd=ROOT,
                         capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    rows = re.findall(r"^(.+?) +([\d.]+) +([\d.]+) +([\d.]+)$", ran.stdout, re.M)
    assert [row[0] for row in rows] == ["exp", "product 8x8"]
    for _, ours, peer, ratio in rows:
        assert float(ours) > 0 and float(peer) > 0 and abs(float(ours) / float(peer) - float(ratio)) < 0.2 * float(ratio) + 0.02
    assert "2 programs: geometric mean" in ran.stdout
