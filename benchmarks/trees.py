# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of scripts/bench with several builds in turns, to see what a change has made slower or faster.

  python -m benchmarks.trees [PROGRAM…] --trees OLD=BUILD NEW=BUILD [--threads N] [--rounds N] [--seconds S] [--keep FOLDER] [--minutes M]

PROGRAM is a group (model, op, more) or a regular expression for a name; BUILD is a build folder (build, build-release, or that of another
checkout). In every round each build runs a program for about S seconds, in a process of its own. Printed are medians and minima over all
rounds in milliseconds and their ratios, first build by last build, so that 1.05 means that the last one is 5 % faster; then the geometric
means, and what differs by more than 5 % in both. A program whose results differ from the first build's bit for bit is marked."""
import argparse
import math
import os
import statistics
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks import catalog, compare, tools

LARGE = 0.05  # Differences of the median and of the minimum that are listed. Unit: share of the time. Source: turns of one build differ by 3 %.


def same_bits(folder: str, name: str, trees: list[str]) -> bool:
    """Returns true if the builds' results in the folder are equal bit for bit."""
    results = [tools.load_results(os.path.join(folder, tree, f"{name}.millrace.npz")) for tree in trees]
    return all(len(other) == len(results[0]) and all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(results[0], other))
               for other in results[1:])


def measure(group: str, item: Any, trees: dict[str, str], options: argparse.Namespace) -> dict[str, Any]:
    """Returns {"times": {tree: milliseconds of all runs}, "same": whether results have the same bits}, or {"error": text}."""
    with tempfile.TemporaryDirectory(prefix="millrace-trees-") as folder:
        if error := compare.make(item, group, folder, options.keep):
            return {"error": f"no StableHLO text: {error}"}
        workers, counts = {}, {}
        times: dict[str, list[float]] = {tree: [] for tree in trees}
        try:
            for tree, build in trees.items():
                own = os.path.join(folder, tree)
                os.makedirs(own)
                for ending in (".mlir", ".npz"):
                    os.symlink(os.path.join(folder, item.name + ending), os.path.join(own, item.name + ending))
                workers[tree] = compare.Worker("millrace", options.threads, None, own, options.patience, {"MILLRACE_BUILD": build})
                answer = workers[tree].ask(f"open {group} {item.name} {own}")
                warm = answer if "error" in answer else workers[tree].ask("run 1")
                if "error" in warm:
                    return {"error": f"{tree}: {warm['error']}"}
                counts[tree] = max(2, min(300, int(options.seconds * 1e3 / max(0.01, warm["run_ms"][0]))))
            for _ in range(options.rounds):
                for tree, worker in workers.items():
                    answer = worker.ask(f"run {counts[tree]}")
                    if "error" in answer:
                        return {"error": f"{tree}: {answer['error']}"}
                    times[tree] += answer["run_ms"]
            return {"times": times, "same": same_bits(folder, item.name, list(trees))}
        finally:
            for worker in workers.values():
                worker.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=["model", "op", "more"], metavar="PROGRAM")
    parser.add_argument("--trees", nargs="+", required=True, metavar="NAME=BUILD")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--patience", type=float, default=300, help="seconds for which a build may compile or run a program")
    parser.add_argument("--keep", help="folder for texts and inputs, for a later call")
    parser.add_argument("--minutes", type=float, help="ends before the next program after so much time")
    options = parser.parse_args()
    trees = {name: os.path.realpath(path) for name, path in (pair.split("=", 1) for pair in options.trees)}
    if options.keep:
        options.keep = os.path.realpath(options.keep)
        os.makedirs(options.keep, exist_ok=True)
    chosen = catalog.choose(options.programs)
    if not chosen:
        parser.error(f"no program matches {' '.join(options.programs)}")
    first, last = next(iter(trees)), list(trees)[-1]
    medians, minima, large, failed, left = [], [], [], [], 0
    begun = time.monotonic()
    print(f"| program, {options.threads} threads, median/least ms | " + " | ".join(trees) + f" | {first}/{last} |\n|---|" + "---:|" * (len(trees) + 1), flush=True)
    for number, (group, item) in enumerate(chosen):
        if options.minutes is not None and time.monotonic() - begun >= 60 * options.minutes:
            left = len(chosen) - number
            break
        print(f"trees: {number + 1} of {len(chosen)}: {item.name}", file=sys.stderr, flush=True)
        found = measure(group, item, trees, options)
        if "error" in found:
            failed.append(item.name)
            print(f"| {item.name} | {found['error'][:200]} |", flush=True)
            continue
        times = found["times"]
        median = statistics.median(times[first]) / statistics.median(times[last])
        least = min(times[first]) / min(times[last])
        medians.append(median)
        minima.append(least)
        if min(abs(math.log(median)), abs(math.log(least))) > math.log1p(LARGE) and (median > 1) == (least > 1):
            large.append(f"{item.name} {median:.2f}/{least:.2f}")
        print(f"| {item.name}{'' if found['same'] else ' (other bits)'} | "
              + " | ".join(f"{statistics.median(one):.4g}/{min(one):.4g}" for one in times.values()) + f" | {median:.3f}/{least:.3f} |", flush=True)
    if medians:
        print(f"\n{len(medians)} programs, geometric mean {first}/{last}: {statistics.geometric_mean(medians):.3f} of medians, "
              f"{statistics.geometric_mean(minima):.3f} of minima; more than {LARGE:.0%}: {', '.join(large) or 'none'}")
    if left:
        print(f"{left} programs are left")
    if failed:
        sys.exit(f"trees: not run: {', '.join(failed)}")


if __name__ == "__main__":
    main()
