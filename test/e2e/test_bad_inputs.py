# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input gets one clear error that names the place, exit status 1, and leaves nothing half-written."""
import os
import re
import subprocess

import numpy as np
import pytest

from benchmarks import tools

GOOD = """func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
UNPARSABLE = GOOD.replace("stablehlo.add %a, %b", "stablehlo.add %a %b")
UNKNOWN_OP = GOOD.replace("stablehlo.add", "stablehlo.addd")
UNVERIFIABLE = """func.func @main(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
"""
UNKNOWN_TARGET = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @no_such_target(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
NO_ENTRY = """func.func @f() -> tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32> }
func.func @g() -> tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32> }
"""
A, B = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)


def run(tool, *arguments, environment=None):
    return subprocess.run([tools.tool(tool), *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, **(environment or {})))


def assert_one_error(process, pattern):
    assert process.returncode == 1, f"exit status {process.returncode}\n{process.stderr}"
    assert len(re.findall(r"\berror:|^xla-\w+: ", process.stderr, re.M)) >= 1, process.stderr
    # An operation may break two rules at once; all messages name one place.
    places = set(re.findall(r"^(.*?:\d+:\d+): error:", process.stderr, re.M))
    assert len(places) <= 1, f"errors at more than one place\n{process.stderr}"
    assert re.search(pattern, process.stderr), process.stderr
    assert "Stack dump" not in process.stderr and "Assertion" not in process.stderr


PROGRAMS = [
    ("unparsable", UNPARSABLE, r"p\.mlir:2:\d+: error: "),
    ("unknown-op", UNKNOWN_OP, r"p\.mlir:2:\d+: error: .*addd"),
    ("unverifiable", UNVERIFIABLE, r"p\.mlir:2:\d+: error: .*permutation"),
    ("no-entry", NO_ENTRY, r"main"),
    ("empty", "", r"."),
    ("binary", "\x00\x01ML\xefR\x52 not a program \x7f", r"."),
]


@pytest.mark.parametrize("tool", ["xla-compile", "xla-run"])
@pytest.mark.parametrize("name, text, pattern", PROGRAMS, ids=[p[0] for p in PROGRAMS])
def test_bad_program(tmp_path, tool, name, text, pattern):
    path, out = tmp_path / "p.mlir", tmp_path / ("out.mr" if tool == "xla-compile" else "out.npz")
    path.write_text(text)
    assert_one_error(run(tool, path, *(["-o", out] if tool == "xla-compile" else [f"--out={out}"])), pattern)
    assert not out.exists(), "a failed run wrote its output"
    assert os.listdir(tmp_path) == ["p.mlir"]


ARGUMENTS = [
    ("count", [A], r"2.*1|1.*2"),
    ("count-too-many", [A, B, B], r"2.*3|3.*2"),
    ("shape", [A, np.ones((3, 2), np.float32)], r"2, ?3.*3, ?2|2x3.*3x2"),
    ("rank", [A, np.ones((6,), np.float32)], r"2, ?3.*6|2x3.*6"),
    ("dtype", [A, np.ones((2, 3), np.float64)], r"f32.*f64|f64.*f32"),
    ("dtype-int", [A, np.ones((2, 3), np.int32)], r"f32.*i32|s32|i32.*f32"),
]


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
@pytest.mark.parametrize("name, arrays, pattern", ARGUMENTS, ids=[a[0] for a in ARGUMENTS])
def test_bad_arguments(tmp_path, backend, name, arrays, pattern):
    path, source, out = tmp_path / "p.mlir", tmp_path / "a.npz", tmp_path / "out.npz"
    path.write_text(GOOD)
    tools.save_arguments(source, arrays)
    assert_one_error(run("xla-run", path, f"--args={source}", f"--out={out}", f"--backend={backend}"), pattern)
    assert not out.exists()


def test_missing_files(tmp_path):
    path = tmp_path / "p.mlir"
    assert_one_error(run("xla-run", path), r"p\.mlir")
    assert_one_error(run("xla-compile", path), r"p\.mlir")
    path.write_text(GOOD)
    assert_one_error(run("xla-run", path, f"--args={tmp_path}/none.npz"), r"none\.npz")


def test_damaged_argument_file(tmp_path):
    path, source = tmp_path / "p.mlir", tmp_path / "a.npz"
    path.write_text(GOOD)
    tools.save_arguments(source, [A, B])
    whole = source.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 5):
        source.write_bytes(whole[:length])
        assert_one_error(run("xla-run", path, f"--args={source}"), r"a\.npz")


def test_unwritable_places(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(GOOD)
    (tmp_path / "file").write_text("")
    # A folder below a plain file cannot be made, not even by root.
    assert_one_error(run("xla-run", path, f"--cache-dir={tmp_path}/file/cache"), r"file/cache")
    assert_one_error(run("xla-run", path, f"--out={tmp_path}/file/out.npz"), r"out\.npz")
    assert_one_error(run("xla-compile", path, "-o", f"{tmp_path}/file/out.mr"), r"out\.mr")


def test_unknown_custom_call_target(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(UNKNOWN_TARGET)
    assert_one_error(run("xla-run", path), r"no_such_target")


def test_damaged_program(tmp_path):
    path, program = tmp_path / "p.mlir", tmp_path / "p.mr"
    path.write_text(GOOD)
    assert run("xla-compile", path, "-o", program).returncode == 0
    assert run("xla-run", program).returncode == 0
    whole = program.read_bytes()
    program.write_bytes(b"")  # nothing says that this was a program: an empty module
    assert_one_error(run("xla-run", program), r"p\.mr|@main")
    for length in (40, len(whole) // 2, len(whole) - 1):
        program.write_bytes(whole[:length])
        assert_one_error(run("xla-run", program), r"p\.mr")
    program.write_bytes(whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 0x40]) + whole[len(whole) // 2 + 1 :])
    assert_one_error(run("xla-run", program), r"p\.mr")
