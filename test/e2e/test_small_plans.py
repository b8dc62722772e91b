# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of small programs, whose messages and reshards take as long as their work: it is never behind the program that nothing splits,
nor behind one whose batch is split by hand."""
import math

import pytest

import small_plans
from benchmarks import auto_sharding


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("programs")
    small_plans.write_elsewhere(str(made))
    return str(made)


def taken_of(planned):
    taken, = (each for each in planned["planned"]["candidates"] if each["taken"])
    return taken


@pytest.mark.parametrize("machine", small_plans.MACHINES)
@pytest.mark.parametrize("name", small_plans.NAMES)
def test_not_behind_plans_by_hand(folder, name, machine):
    planned, others = small_plans.compare(folder, name, machine)
    assert planned["seconds"] <= 1.0001 * min(others.values()), (planned["planned"]["candidates"], others)
    candidates = planned["planned"]["candidates"]
    taken = taken_of(planned)
    assert math.isclose(taken["seconds"], planned["seconds"], rel_tol=1e-9), "the step that was compared is that of the program"
    assert taken["seconds"] == min(each["seconds"] for each in candidates if "why_not" not in each)
    alone, = (each for each in candidates if each["name"] == "the program as annotated")
    assert math.isclose(alone["seconds"], others["whole"], rel_tol=1e-9), "without annotations that is the program of one device"


@pytest.mark.parametrize("machine", small_plans.MACHINES)
@pytest.mark.parametrize("name", small_plans.NAMES)
def test_annotated_programs_are_not_behind_themselves(folder, name, machine):
    """The planner decides what the annotations of the batch leave open, and is not taken where propagation alone is faster."""
    for kind in ("batch", "data"):
        path = f"{folder}/{name}-{kind}.mlir"
        plain = auto_sharding.simulated(path, [f"--machine={machine}"])[0]
        planned = auto_sharding.simulated(path, ["--auto-sharding", f"--machine={machine}"])[0]
        assert planned["seconds"] <= (1 + 1e-9) * plain["seconds"], (kind, planned["planned"]["candidates"])
        alone = planned["planned"]["candidates"][-1]
        assert alone["name"] == "the program as annotated" and math.isclose(alone["seconds"], plain["seconds"], rel_tol=1e-9)


def test_the_annotated_program_is_taken_where_the_plan_takes_longer(folder):
    planned = auto_sharding.simulated(f"{folder}/batch_norm-batch.mlir", ["--auto-sharding", "--machine=virtual"])[0]
    assert taken_of(planned)["name"] == "the program as annotated"
    assert min(each["seconds"] for each in planned["planned"]["candidates"][:-1]) > 1.001 * planned["seconds"]


def test_slices_that_readers_compute_have_no_kernels(folder):
    """Where an operand is whole and its reader split, each device reads its own slice in the reader's kernel: splitting takes no longer."""
    planned, others = small_plans.compare(folder, "slices", "virtual")
    assert not planned["collectives"] and planned["seconds"] < 0.5 * others["whole"]
