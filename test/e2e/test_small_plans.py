# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of small programs, whose messages and reshards take as long as their work: it is never behind the program that nothing splits,
nor behind one whose batch is split by hand."""
import math

import pytest

import small_plans


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("programs")
    small_plans.write_elsewhere(str(made))
    return str(made)


@pytest.mark.parametrize("machine", small_plans.MACHINES)
@pytest.mark.parametrize("name", small_plans.NAMES)
def test_not_behind_plans_by_hand(folder, name, machine):
    planned, others = small_plans.compare(folder, name, machine)
    assert planned["seconds"] <= 1.0001 * min(others.values()), (planned["planned"]["candidates"], others)
    candidates = planned["planned"]["candidates"]
    taken, = (each for each in candidates if each["taken"])
    assert math.isclose(taken["seconds"], planned["seconds"], rel_tol=1e-9), "the step that was compared is that of the program"
    assert taken["seconds"] == min(each["seconds"] for each in candidates if "why_not" not in each)
    alone, = (each for each in candidates if each["name"] == "the program as annotated")
    assert math.isclose(alone["seconds"], others["whole"], rel_tol=1e-9), "without annotations that is the program of one device"
