# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's samples of its operators: a fixed part of them here, more with MILLRACE_LONG=1 (scripts/check --long):
the first of each operator; other types and gradients for names a-m, linalg and fft.

What may fail stands in op_db_expected.json with its reason; the harness (test/harness/torch_op_db.py) says how a sample fails.
"""
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
HARNESS = os.path.join(HERE, "..", "harness", "torch_op_db.py")
EXPECTED = os.path.join(HERE, "op_db_expected.json")
LONG = os.environ.get("MILLRACE_LONG") == "1"


def run(*flags, timeout):
    process = subprocess.run([sys.executable, HARNESS, f"--expected={EXPECTED}", *flags], capture_output=True, text=True, timeout=timeout)
    print(process.stdout[-3000:], process.stderr[-2000:])
    assert process.returncode == 0, process.stdout[-2000:]
    return process.stdout


@pytest.mark.skipif(LONG, reason="all of them run")
@pytest.mark.parametrize("flags, least", [(["--each=12", "--samples=1"], 45), (["--each=23", "--samples=1", "--backward"], 12)],
                         ids=["forward", "backward"])
def test_part(flags, least):
    output = run(*flags, timeout=200)
    assert int(output.splitlines()[-1].split()[0]) > least, "samples were not run"


FIRST_HALF = "--match=^(?!nn\\.|special|[n-z])"


@pytest.mark.skipif(not LONG, reason="takes long: MILLRACE_LONG=1")
@pytest.mark.parametrize("flags", [["--dtypes=f32"], ["--dtypes=f64,bf16,i64,bool,c64", FIRST_HALF], ["--backward", FIRST_HALF]],
                         ids=["f32", "types", "backward"])
def test_all(flags):
    run("--samples=1", "--jobs=2", *flags, timeout=7000)


def test_every_exception_has_a_reason():
    with open(EXPECTED) as file:
        expected = json.load(file)
    assert set(expected) == {"forward", "backward"}
    for entry in expected["forward"] + expected["backward"]:
        assert entry["op"] and entry["dtype"] and len(entry["reason"]) > 10
