# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks.iopddl accepts as a solution, and that the solver's are accepted."""
import copy
import gzip
import json
import os
import subprocess
import sys

import pytest

from benchmarks import iopddl, tools

# Two nodes that are live together at time 2, one that never is; the pair (0, 0) is impossible.
PROBLEM = {"name": "three", "usage_limit": 10,
           "nodes": {"intervals": [[0, 3], [2, 5], [4, 4]], "costs": [[1, 2], [3, 4], [5]], "usages": [[6, 4], [6, 2], [100]]},
           "edges": {"nodes": [[0, 1]], "costs": [[10**18, 7, 8, 9]]}}
SOLVER = tools.tool("solve-sharding")
needs_solver = pytest.mark.skipif(not os.path.exists(SOLVER), reason="solve-sharding is not built")


def test_costs_and_bytes_are_added():
    assert iopddl.check(PROBLEM, [1, 0, 0]) == iopddl.Checked(cost=2 + 3 + 5 + 8, peak=10)
    assert iopddl.check(PROBLEM, [0, 1, 0]) == iopddl.Checked(cost=1 + 4 + 5 + 7, peak=8)


@pytest.mark.parametrize("choices, message", [
    ([0, 0, 0], "edge 0: choices 0 of node 0 and 0 of node 1 are impossible together"),
    ([1, 0], "expected 3 choices, but got 2"),
    ([2, 0, 0], "node 0: expected a choice from 0 to 1, but got 2"),
    ([0, -1, 0], "node 1: expected a choice from 0 to 1, but got -1"),
])
def test_what_is_no_solution_is_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        iopddl.check(PROBLEM, choices)


def test_the_limit_holds_at_every_time():
    tight = copy.deepcopy(PROBLEM) | {"usage_limit": 9}
    with pytest.raises(ValueError, match="time 2: expected at most 9 bytes, but 10 are live"):
        iopddl.check(tight, [1, 0, 0])


def test_impossible_choices_are_refused():
    problem = copy.deepcopy(PROBLEM)
    problem["nodes"]["costs"][2][0] = 10**18
    with pytest.raises(ValueError, match="node 2: choice 0 is impossible"):
        iopddl.check(problem, [1, 0, 0])


def test_the_score_is_the_contests():
    rows = [{"cost": 90, "best": 90, "winner": 100}, {"cost": 200, "best": 100, "winner": None}]
    assert iopddl.score(rows).startswith("score over 2 problems: ours 1.500, winner 1.900")


@needs_solver
def test_a_problem_of_the_contest_is_solved_to_optimality(tmp_path):
    with gzip.open(os.path.join(iopddl.tools.ROOT, "benchmarks", "problems", "B.json.gz"), "rb") as file:
        (tmp_path / "B.json").write_bytes(file.read())
    process = subprocess.run([SOLVER, str(tmp_path / "B.json"), "--iterations=60", "--quiet"], capture_output=True, text=True, check=True)
    result = json.loads(process.stdout)
    checked = iopddl.check(json.loads((tmp_path / "B.json").read_text())["problem"], result["choices"])
    assert checked.cost == result["cost"] == result["bound"] == 532843 and result["stop"] == "optimal"


@needs_solver
def test_the_table_has_a_row_per_file(tmp_path):
    (tmp_path / "three.json").write_text(json.dumps({"problem": PROBLEM}))
    process = subprocess.run([sys.executable, "-m", "benchmarks.iopddl", str(tmp_path / "three.json"), "--share-of-time=0.001", "--threads=1"],
                             cwd=tools.ROOT, capture_output=True, text=True, check=True)
    assert "| three | 3/1 | 17 |" in process.stdout


@needs_solver
def test_a_run_that_was_ended_goes_on(tmp_path):
    for name in ("three", "four"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"problem": PROBLEM}))
    rows = tmp_path / "rows.json"

    def run(*extra):
        command = [sys.executable, "-m", "benchmarks.iopddl", "--share-of-time=0.001", "--threads=1", f"--json={rows}", *extra]
        return subprocess.run(command, cwd=tools.ROOT, capture_output=True, text=True, check=True).stdout

    run(str(tmp_path / "three.json"))
    marked = json.loads(rows.read_text())
    marked[0]["seconds"] = 4321.0  # whoever solves it again takes less
    rows.write_text(json.dumps(marked))
    both = [str(tmp_path / "four.json"), str(tmp_path / "three.json")]
    assert "| 4321 |" not in run(*both, "--resume", "--seed=2")  # another search
    assert [row["name"] for row in json.loads(rows.read_text())] == ["four", "three"]
    rows.write_text(json.dumps(marked))
    out = run(*both, "--resume")
    assert "| 4321 |" in out and out.count("| 3/1 | 17 |") == 2
    assert run(*both, "--estimate").splitlines()[-1] == "2 files: 1 s, 0.0 hours"


@needs_solver
def test_a_malformed_file_is_refused(tmp_path):
    (tmp_path / "bad.json").write_text(json.dumps({"problem": PROBLEM | {"usage_limit": -1}}))
    process = subprocess.run([SOLVER, str(tmp_path / "bad.json")], capture_output=True, text=True)
    assert process.returncode == 2 and "expected a usage limit of at least 0, but got -1" in process.stderr
