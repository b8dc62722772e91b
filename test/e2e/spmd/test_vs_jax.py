# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for eight devices, traced by JAX in both partitioners' forms, partitioned and run by us, against JAX's results."""
import os
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import tools

pytest.importorskip("jax")
HERE = os.path.dirname(os.path.realpath(__file__))


def names():
    with open(os.path.join(HERE, "jax_programs.py")) as file:
        return [line.split('"')[1] for line in file if line.startswith('@program("')]


@pytest.fixture(scope="module", params=["shardy", "gspmd"])
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    process = subprocess.run([sys.executable, os.path.join(HERE, "jax_programs.py"), request.param, str(folder)],
                             capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr[-4000:]
    return folder


def check(program, exported, name):
    with np.load(exported / f"{name}.args.npz") as archive:
        arguments = [archive[f"arg{i}"] for i in range(len(archive.files))]
    results, _ = tools.run_file(str(program), arguments)
    want = tools.load_results(str(exported / f"{name}.want.npz"))
    assert len(results) == len(want)
    for result, expected in zip(results, want):
        assert result.shape == expected.shape and result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("name", names())
def test_equals_jax(exported, name):
    check(exported / f"{name}.mlir", exported, name)


# All 31 programs do; these have manual computations, loops and parts that do not divide.
@pytest.mark.parametrize("exported", ["shardy"], indirect=True, scope="module")
@pytest.mark.parametrize("name", ["nested_manual", "manual_among_others", "scan", "uneven_constraint"])
@pytest.mark.parametrize("pipeline", ["xla-sdy-round-trip-export-pipeline", "xla-sdy-stablehlo-export-pipeline"])
def test_forms_for_hlo_equal_jax(exported, name, pipeline, tmp_path):
    """sdy written as text in frontend attributes, and as strings over devices."""
    program = tmp_path / "program.mlir"
    subprocess.run([tools.tool("xla-opt"), str(exported / f"{name}.mlir"), f"-{pipeline}", "-o", str(program)], check=True)
    assert "sdy.mesh @" not in program.read_text()
    check(program, exported, name)
