# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Solves problems of the ASPLOS 2025 contest on intra-operator parallelism (google/iopddl) and compares with the best known solutions.

  python -m benchmarks.iopddl [FILE.json[.gz] ...] [--share-of-time=1.0] [--threads=2] [--processor-time] [--seed=1] [--solver=PATH] [--json=FILE] [--out=FILE.md]
                              [--resume] [--estimate]

Without files: all of the folder MILLRACE_IOPDDL, or else of benchmarks/problems, which has problem B alone. Each problem gets the contest's time, 60 to 300 seconds by its
letter, times 8 / threads, because the contest had eight cores, times --share-of-time; other names get 60 seconds.
With --processor-time the same number of seconds is measured on the processors, for a machine that does other work. The solver is build/bin/solve-sharding.

A whole run takes hours. --estimate prints how long each file will take; files can be named one by one; with --resume the rows that FILE of --json
has already for the same seed, threads and seconds are taken from there, and what is still missing is solved: a run that was ended goes on.

Every solution is checked here from the file alone, with NumPy and whole numbers: one valid choice per node, no impossible cost, bytes at every time
within the limit, and the sum of costs. A solution that fails ends the command with status 1, as does none.

best: best known cost (benchmarks/results/iopddl_best_known.json says where from). ratio: cost / best. bound: what no solution can cost less than,
proved by the solver. gap: cost / bound - 1. peak: bytes as a share of the limit. memory: peak of the solver's process, MiB. cpu: its processor seconds.
The contest's score of a team is the sum over problems of best team's cost / its cost: the winner's costs are taken as the best of the teams where they
are known, else the best known ones, which makes the score smaller.
"""
from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks import tools

IMPOSSIBLE = 10**18  # a cost at or above it; the contest's statement
OTHER_SECONDS = 60  # for problems that are not the contest's
PROBLEMS = os.environ.get("MILLRACE_IOPDDL") or os.path.join(tools.ROOT, "benchmarks", "problems")
KNOWN = os.path.join(tools.ROOT, "benchmarks", "results", "iopddl_best_known.json")


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a solution is worth: the exact sum of costs, and the most bytes live at a time."""
    cost: int
    peak: int


def check(problem: dict[str, Any], choices: list[int]) -> Checked:
    """Evaluates choices, one per node. Raises ValueError, which names the node, edge or time, if they are no solution."""
    nodes, edges = problem["nodes"], problem["edges"]
    if len(choices) != len(nodes["costs"]):
        raise ValueError(f"expected {len(nodes['costs'])} choices, but got {len(choices)}")
    costs, usages = [], []
    for node, (choice, cost, usage) in enumerate(zip(choices, nodes["costs"], nodes["usages"])):
        if not 0 <= choice < len(cost):
            raise ValueError(f"node {node}: expected a choice from 0 to {len(cost) - 1}, but got {choice}")
        if cost[choice] >= IMPOSSIBLE:
            raise ValueError(f"node {node}: choice {choice} is impossible")
        costs.append(cost[choice])
        usages.append(usage[choice])
    for edge, ((a, b), cost) in enumerate(zip(edges["nodes"], edges["costs"])):
        paid = cost[choices[a] * len(nodes["costs"][b]) + choices[b]]
        if paid >= IMPOSSIBLE:
            raise ValueError(f"edge {edge}: choices {choices[a]} of node {a} and {choices[b]} of node {b} are impossible together")
        costs.append(paid)
    intervals = np.array(nodes["intervals"], dtype=np.int64).reshape(-1, 2)
    live = intervals[:, 0] < intervals[:, 1]
    times = np.unique(intervals[live])
    changes = np.zeros(len(times) + 1, dtype=object)  # Python's integers: sums may exceed 64 bits
    bytes_ = np.array(usages, dtype=object)
    np.add.at(changes, np.searchsorted(times, intervals[live, 0]), bytes_[live])
    np.add.at(changes, np.searchsorted(times, intervals[live, 1]), -bytes_[live])
    loads = np.cumsum(changes)
    worst = max(range(len(loads)), key=lambda at: loads[at])
    if loads[worst] > problem["usage_limit"]:
        raise ValueError(f"time {times[worst]}: expected at most {problem['usage_limit']} bytes, but {loads[worst]} are live")
    return Checked(sum(costs), int(loads[worst]))


def seconds_for(name: str, known: dict[str, Any], threads: int, share: float) -> float:
    """Wall-clock seconds that the problem gets."""
    contest = next((seconds for letters, seconds in known["contest_seconds"].items() if name in letters), OTHER_SECONDS)
    return contest * known["contest_cores"] / threads * share


def problem_name(path: str) -> str:
    """The letter of a problem of the contest, by its file."""
    return os.path.basename(path).split(".")[0]


def estimate(files: list[str], known: dict[str, Any], arguments: argparse.Namespace) -> list[str]:
    """A line per file with the seconds that solving it will take, and one for all of them. Reading and checking come on top, about 30 MB a second."""
    lines, total = [], 0.0
    for path in files:
        seconds = seconds_for(problem_name(path), known, arguments.threads, arguments.share_of_time)
        total += seconds
        lines.append(f"{problem_name(path)}: {seconds:.0f} s, {os.path.getsize(path) / 1e6:.0f} MB as it is stored")
    return [*lines, f"{len(files)} files: {total:.0f} s, {total / 3600:.1f} hours"]


def finished_rows(path: str, arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Rows without an error of an earlier run with the same options, by name. What they were limited to is compared by the caller."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    same = {"seed": arguments.seed, "threads": arguments.threads, "processor_time": arguments.processor_time}
    return {row["name"]: row for row in rows if not row["error"] and all(row.get(key) == value for key, value in same.items())}


def write_rows(path: str, rows: list[dict[str, Any]], finished: dict[str, dict[str, Any]]) -> None:
    """Writes the rows, and behind them finished ones of files that are not among them yet, at once: a run that is ended leaves a whole file."""
    names = {row["name"] for row in rows}
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump([*rows, *(row for name, row in finished.items() if name not in names)], file, indent=1)
    os.replace(path + ".new", path)


def solve(path: str, seconds: float, arguments: argparse.Namespace) -> dict[str, Any]:
    """The solver's line for a file, with the processor seconds and the MiB of its process. Raises RuntimeError with the solver's words if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = f"--processor-seconds={seconds * arguments.threads:g}" if arguments.processor_time else f"--seconds={seconds:g}"
    command = [arguments.solver, path, limit, f"--threads={arguments.threads}", f"--seed={arguments.seed}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=None if arguments.verbose else subprocess.PIPE, text=True)
    out, err = process.communicate()
    if process.returncode not in (0, 1) or not out:
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}\n{err or ''}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # ru_maxrss of children is the largest one so far, so that each problem is measured in an own process (`measure`).
    return json.loads(out) | {"cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "mib": after.ru_maxrss / 1024}


def measure(path: str, known: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Solves and checks one file; the row of the table. `error` says what is wrong with the solution, if anything is."""
    name = problem_name(path)
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        text = file.read()
    seconds = seconds_for(name, known, arguments.threads, arguments.share_of_time)
    with tempfile.NamedTemporaryFile(suffix=".json") as unpacked:
        unpacked.write(text)
        unpacked.flush()
        start = time.monotonic()
        result = solve(unpacked.name, seconds, arguments)
        wall = time.monotonic() - start
    problem = json.loads(text)["problem"]
    row = {"name": name, "limit_seconds": seconds, "seconds": wall, "nodes": len(problem["nodes"]["costs"]), "edges": len(problem["edges"]["costs"]),
           "seed": arguments.seed, "threads": arguments.threads, "processor_time": arguments.processor_time, "cost": None, "bound": result["bound"], "cpu": result["cpu"], "mib": result["mib"], "stop": result["stop"], "error": None}
    row |= {key: known["problems"].get(name, {}).get(key) for key in ("best", "winner")}
    try:
        if not result["found"]:
            raise ValueError(result["message"])
        checked = check(problem, result["choices"])
        if checked.cost != result["cost"]:
            raise ValueError(f"expected the solver's cost to be {checked.cost}, but it says {result['cost']}")
        if result["bound"] > checked.cost:
            raise ValueError(f"expected a bound of at most the cost, {checked.cost}, but it is {result['bound']}")
        row |= {"cost": checked.cost, "peak": checked.peak / problem["usage_limit"] if problem["usage_limit"] else 0.0}
    except ValueError as problem_found:
        row["error"] = str(problem_found)
    return row


HEADER = """| file | nodes/edges | cost | best known | ratio | bound | gap | peak | seconds | cpu | memory |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def line(row: dict[str, Any]) -> str:
    """A row of the table in Markdown."""
    if row["error"]:
        return f"| {row['name']} | {row['nodes']}/{row['edges']} | WRONG: {row['error']} | | | | | | {row['seconds']:.0f} | {row['cpu']:.0f} | {row['mib']:.0f} |"
    best, ratio = (f"{row['best']:.9g}", f"{row['cost'] / row['best']:.4f}") if row["best"] else ("", "")
    gap = f"{100 * (row['cost'] / row['bound'] - 1):.2f} %" if row["bound"] else ""
    return (f"| {row['name']} | {row['nodes']}/{row['edges']} | {row['cost']} | {best} | {ratio} | {row['bound']} | {gap} | {row['peak']:.4f} "
            f"| {row['seconds']:.0f} | {row['cpu']:.0f} | {row['mib']:.0f} |")


def score(rows: list[dict[str, Any]]) -> str:
    """The contest's score of ours and of the winner, with ours among the teams."""
    ours, winner, count, assumed = 0.0, 0.0, 0, 0
    for row in rows:
        theirs = row["winner"] or row["best"]
        if not theirs:
            continue
        count += 1
        assumed += not row["winner"]
        cost = row["cost"] or float("inf")
        best = min(cost, theirs)
        ours += best / cost
        winner += best / theirs
    return (f"score over {count} problems: ours {ours:.3f}, winner {winner:.3f}"
            + (f" (for {assumed} of them the winner is given the best known cost)" if assumed else ""))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.iopddl", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--share-of-time", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processor-time", action="store_true", help="limit the processor's seconds of all threads instead of the clock's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver", default=tools.tool("solve-sharding"))
    parser.add_argument("--json", help="also write the rows there")
    parser.add_argument("--out", help="also write the table there")
    parser.add_argument("--resume", action="store_true", help="take finished rows from the file of --json")
    parser.add_argument("--estimate", action="store_true", help="print the seconds that each file will take, and solve nothing")
    parser.add_argument("--verbose", action="store_true", help="the solver's progress")
    arguments = parser.parse_args()
    if arguments.threads < 1 or arguments.share_of_time <= 0:
        parser.error("expected at least one thread and a share of the time above 0")
    if arguments.resume and not arguments.json:
        parser.error("--resume expects --json=FILE, where finished rows are")
    if not os.path.exists(arguments.solver) and not arguments.estimate:
        parser.error(f"{arguments.solver} does not exist; `ninja -C build solve-sharding` makes it")
    files = arguments.files or sorted(os.path.join(PROBLEMS, name) for name in os.listdir(PROBLEMS) if name.endswith(".json.gz"))
    with open(KNOWN, encoding="utf-8") as file:
        known = json.load(file)
    if arguments.estimate:
        print("\n".join(estimate(files, known, arguments)))
        return 0
    finished = finished_rows(arguments.json, arguments) if arguments.resume else {}
    rows = []
    print(HEADER, flush=True)
    for path in files:
        name = problem_name(path)
        limit = seconds_for(name, known, arguments.threads, arguments.share_of_time)
        kept = finished.get(name)
        rows.append(kept if kept and kept["limit_seconds"] == limit else measure_apart(path, known, arguments))
        print(line(rows[-1]), flush=True)
        if arguments.json:
            write_rows(arguments.json, rows, finished)
    print("\n" + score(rows))
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write("\n".join([HEADER, *map(line, rows), "", score(rows), ""]))
    return 1 if any(row["error"] for row in rows) else 0


def measure_apart(path: str, known: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """`measure` in a process of its own, whose only child is the solver, so that the memory is that child's."""
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (path, known, arguments))


if __name__ == "__main__":
    sys.exit(main())
