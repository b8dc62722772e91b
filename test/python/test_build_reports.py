# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said about builds: scripts/rebuild-cost and benchmarks.builds, on the build tree that is there."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
needs_records = pytest.mark.skipif(not (ROOT / "build" / ".ninja_log").exists(), reason="the build tree has no records")


def output(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@needs_records
def test_the_slowest_steps_come_first():
    lines = output("scripts/rebuild-cost", "--slowest", "3").splitlines()
    seconds = [float(re.search(r"[\d.]+", line)[0]) for line in lines]
    assert len(lines) == 3 and seconds == sorted(seconds, reverse=True)


@needs_records
def test_a_header_costs_more_than_a_source():
    def steps(file):
        return int(re.search(rf"{file}`? \| (\d+) \|", output("scripts/rebuild-cost", file))[1])
    assert steps("runtime/base/Status.h") > steps("pjrt/Execute.cpp") >= 1


def test_builds_are_compared():
    table = output(sys.executable, "-m", "benchmarks.builds", "--rounds", "1", f"tree={os.environ.get('MILLRACE_BUILD', 'build')}")
    rows = [row.split("|")[1:-1] for row in table.splitlines() if row.startswith("|")]
    assert rows[0][1].strip() == "tree" and len(rows) > 5
    assert all(float(row[1]) > 0 for row in rows[2:])


def test_programs_are_compared_between_builds():
    build = os.environ.get("MILLRACE_BUILD", "build")
    table = output(sys.executable, "-m", "benchmarks.trees", "^gemm_33x65x127_f32$", "--trees", f"old={build}", f"new={build}", "--rounds", "1",
                   "--seconds", "0.01")
    row = next(row for row in table.splitlines() if row.startswith("| gemm_33x65x127_f32"))
    assert "other bits" not in row
    old, new, ratios = ([float(number) for number in cell.split("/")] for cell in row.split("|")[2:5])
    assert old[0] >= old[1] > 0 and new[0] >= new[1] > 0 and ratios[0] == pytest.approx(old[0] / new[0], rel=0.01)
    assert "1 programs, geometric mean old/new" in table
