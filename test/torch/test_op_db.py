# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's samples of its operators, modules and optimizers: a fixed part of them here, all with MILLRACE_LONG=1
(scripts/check --long): two of each operator, in every type, and their gradients.

What may fail stands in op_db_expected.json with its reason, and `varies` where that depends on the processor; the harness
(test/harness/torch_op_db.py) says how a sample fails.
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
HARNESS = os.path.join(HERE, "..", "harness", "torch_op_db.py")
EXPECTED = os.path.join(HERE, "op_db_expected.json")
LONG = os.environ.get("MILLRACE_LONG") == "1"
TYPES = "--dtypes=f64,bf16,f16,i64,i32,bool,c64"


def run(*flags, timeout):
    process = subprocess.run([sys.executable, HARNESS, f"--expected={EXPECTED}", *flags], capture_output=True, text=True, timeout=timeout)
    print(process.stdout[-3000:], process.stderr[-2000:])
    assert process.returncode == 0, process.stdout[-2000:]
    return process.stdout


@pytest.mark.skipif(LONG, reason="all of them run")
@pytest.mark.parametrize("flags, least", [(["--each=37", "--what=forward,backward,errors"], 28), (["--db=module,optim", "--each=23", "--what=forward,backward"], 8)],
                         ids=["operators", "modules"])
def test_part(flags, least):
    output = run("--samples=1", *flags, timeout=200)
    assert int(output.splitlines()[-1].split()[0]) >= least, "samples were not run"


@pytest.mark.skipif(not LONG, reason="takes long: MILLRACE_LONG=1")
@pytest.mark.parametrize("flags", [["--least=99"], ["--least=99", "--backward"], ["--samples=1", TYPES], ["--db=foreach", "--what=forward,inplace"],
                                   ["--db=module", "--what=forward,backward,errors", "--samples=0"], ["--db=optim", "--samples=0"],
                                   ["--what=errors"], ["--what=inplace,out", "--samples=1"]],
                         ids=["forward", "backward", "types", "foreach", "modules", "optimizers", "errors", "targets"])
def test_all(flags):
    run("--samples=2", "--jobs=1", "--strict", *flags, timeout=7000)


def test_strict_comparison(capsys):
    spec = importlib.util.spec_from_file_location("torch_op_db", HARNESS)
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)

    def compared(*outcomes):
        rows = [{"db": "op", "op": "chalf", "what": "forward", "dtype": dtype, "how": how} for dtype, how in outcomes]
        return harness.compared(argparse.Namespace(expected=EXPECTED, strict=True), rows)
    assert compared(("f32", "exception"), ("i8", "passed")) == 0
    assert compared(("f32", "skipped")) == 0
    assert compared(("f32", "passed"), ("i8", "passed")) == 1 and "1 pass though listed: op chalf forward any" in capsys.readouterr().out
    rows = [{"db": "op", "op": "nn.functional.conv_transpose3d", "what": "forward", "dtype": "bf16", "how": how} for how in ("passed", "wrong")]
    assert [harness.compared(argparse.Namespace(expected=EXPECTED, strict=True), [row]) for row in rows] == [0, 0]


def test_every_exception_has_a_reason():
    with open(EXPECTED) as file:
        expected = json.load(file)
    for entry in expected:
        assert set(entry) - {"varies"} == {"db", "op", "what", "dtype", "reason"} and len(entry["reason"]) > 10, entry
