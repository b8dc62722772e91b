# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures programs with Millrace and its peers in one run, in turns, with an output-equality check.

  scripts/bench [model|op|REGEX ...] [--peers=…] [--threads=2] [--rounds=3] [--seconds=1] [--json=FILE]
  scripts/bench --profile [model|op|REGEX ...]    Millrace only: kernels by time and how near they come to the machine's peak

Run time: median and minimum over all rounds in milliseconds; in every round each peer runs for about `--seconds` before the
next one does, so that a slow phase of the machine hits all. Compile time: in seconds, from StableHLO (or the torch function)
to something that runs, cold; Millrace's also warm, from its cache. Peak memory is that of the process in MiB, of which `base_mib` was
there before the program was. A result that differs from XLA:CPU's is marked WRONG and its time is not shown. Beside the JSON file
lies a plot of the same name, an SVG.
"""
import argparse
import datetime
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import plot
from benchmarks import profile as profiler
from benchmarks import program as bench
from benchmarks import tools
from benchmarks.peers import PEERS


class Worker:
    """A benchmarks.peers process; `ask` sends a line and waits for the answer."""

    def __init__(self, peer, group, name, folder, threads):
        environment = dict(os.environ, PYTHONPATH=tools.ROOT, JAX_PLATFORMS="cpu", OMP_NUM_THREADS=str(threads),
                           TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"), TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
        self.process = subprocess.Popen([sys.executable, "-m", "benchmarks.peers", peer, group, name, folder, str(threads)],
                                        cwd=tools.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            return {"error": "ended: " + self.process.stderr.read().strip()[-300:]}
        return json.loads(line)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"error": "ended"}
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def machine():
    info = {"cores": len(os.sched_getaffinity(0))}
    with open("/proc/cpuinfo") as file:
        text = file.read()
    info["cpu"] = re.search(r"model name\s*: (.*)", text).group(1)
    flags = re.search(r"flags\s*: (.*)", text).group(1).split()
    info["features"] = [f for f in flags if f.startswith(("avx", "fma", "amx", "vnni", "f16c"))]
    info["load_before"] = os.getloadavg()[0]
    return info


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=tools.ROOT, capture_output=True, text=True).stdout.strip()


def build_type():
    with open(os.path.join(tools.BUILD, "CMakeCache.txt")) as file:
        return re.search(r"CMAKE_BUILD_TYPE:\w+=(.*)", file.read()).group(1)


def start_up_ms():
    """Median wall time of `xla-opt --version`."""
    if not os.path.exists(tools.tool("xla-opt")):
        return None
    times = []
    for _ in range(15):
        start = time.perf_counter()
        subprocess.run([tools.tool("xla-opt"), "--version"], capture_output=True, check=True)
        times.append((time.perf_counter() - start) * 1e3)
    return round(statistics.median(times), 1)


def measure(item, group, arguments, folder):
    inputs = item.inputs(0)
    if group == "model":
        shutil.copy(bench.model_path(item), os.path.join(folder, item.name + ".mlir"))
    else:
        with open(os.path.join(folder, item.name + ".mlir"), "w") as file:
            file.write(bench.export_text(item))
    tools.save_arguments(os.path.join(folder, item.name + ".npz"), bench.flatten(inputs))
    del inputs
    row, workers, counts = {"name": f"{item.name}_t{arguments.threads}", "source": item.source, "peers": {}}, {}, {}
    for peer in arguments.peers:
        print(f"bench: {item.name}: {peer} compiles", file=sys.stderr, flush=True)
        worker = Worker(peer, group, item.name, folder, arguments.threads)
        entry = row["peers"][peer] = worker.answer()
        if "error" not in entry:
            warm = worker.ask("run 1")
            if "error" in warm:
                entry["error"] = warm["error"]
            else:
                counts[peer] = max(2, min(300, int(arguments.seconds * 1e3 / max(0.01, warm["run_ms"][0]))))
                entry["run_ms"] = []
                workers[peer] = worker
    for _ in range(arguments.rounds):
        for peer, worker in workers.items():
            entry = row["peers"][peer]
            if "error" not in entry:
                got = worker.ask(f"run {counts[peer]}")
                entry["run_ms"] += got.get("run_ms", [])
                if "error" in got:
                    entry["error"] = got["error"]
    for peer, worker in workers.items():
        row["peers"][peer].update(worker.ask("memory"))
        worker.close()
    reference = os.path.join(folder, f"{item.name}.xla_cpu.npz")
    want = tools.load_results(reference) if os.path.exists(reference) else None
    for peer, entry in row["peers"].items():
        path = os.path.join(folder, f"{item.name}.{peer}.npz")
        if "error" in entry:
            print(f"bench: {item.name}: {peer}: {entry['error']}", file=sys.stderr)
            continue
        times = entry.pop("run_ms")
        entry["runs"], entry["median_ms"], entry["min_ms"] = len(times), statistics.median(times), min(times)
        if want is not None:
            got = [np.asarray(g).reshape(np.shape(w)) if np.size(g) == np.size(w) else g
                   for g, w in zip(tools.load_results(path), want)]
            entry["wrong"] = bench.disagreement(item, want, got)
            entry["difference"] = bench.max_difference(want, got) if entry["wrong"] is None else None
    return row


def cell(entry):
    if entry is None or "error" in entry:
        return "-"
    if entry.get("wrong"):
        return "WRONG"
    return f"{entry['median_ms']:.3f} ({entry['min_ms']:.3f})"


def print_table(rows, peers, by):
    width = max(len(r["name"]) for r in rows) + 1
    for title, show in (("run time, ms: median (minimum)", cell),
                        ("compile time, s", lambda e: "-" if e is None or "error" in e else f"{e['compile_s']:.3f}")):
        columns = [p for p in peers if not (title.startswith("compile") and p == "torch_eager")]
        print(f"\n{title}\n{'':{width}}" + "".join(f"{p:>22}" for p in columns))
        for row in rows:
            print(f"{row['name']:{width}}" + "".join(f"{show(row['peers'].get(p)):>22}" for p in columns))
    print(f"\nspeed by {by.removesuffix('_ms')} against XLA:CPU and the best peer (above 1: Millrace is faster); compile time against XLA:CPU's, cold and warm; "
          "peak memory in MiB, Millrace and XLA:CPU, of the process without its base; of compiling")
    against = {"XLA:CPU": [], "the best peer": []}
    for row in rows:
        ours, theirs = row["peers"].get("millrace", {}), row["peers"].get("xla_cpu", {})
        line = ""
        if by in ours and by in theirs:
            against["XLA:CPU"].append(theirs[by] / ours[by])
            line += (f"{against['XLA:CPU'][-1]:8.2f}{{best}}   compile {ours['compile_s'] / max(theirs['compile_s'], 1e-9):6.2f} "
                     f"{ours['compile_warm_s'] / max(theirs['compile_s'], 1e-9):6.2f}   memory "
                     f"{ours['peak_mib'] - ours['base_mib']:6.0f} {theirs['peak_mib'] - theirs['base_mib']:6.0f}   of compiling "
                     f"{ours['flags'].get('peak_compile_mib', 0):4.0f}")
        best = plot.speed_against_best(row, by)
        if best:
            against["the best peer"].append(best[0])
        if line:
            print(f"{row['name']:{width}}{line.format(best=f'{best[0]:8.2f} {best[1]:<11}' if best else '')}")
    for title, ratios in against.items():
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"geometric mean against {title}: {mean:.2f} over {len(ratios)} programs, lowest {min(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["model"])
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--json")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--by", choices=["median", "min"], default="median", help="what ratios compare: min on a machine with other work")
    arguments = parser.parse_args()
    arguments.peers = [p for p in arguments.peers.split(",") if p]
    unknown = [p for p in arguments.peers if p not in PEERS]
    if unknown:
        parser.error(f"unknown peer '{unknown[0]}', expected some of {', '.join(PEERS)}")
    cores = sorted(os.sched_getaffinity(0))
    if arguments.threads > len(cores):
        parser.error(f"{arguments.threads} threads, but the process may use {len(cores)} cores")
    os.sched_setaffinity(0, cores[: arguments.threads])  # XLA:CPU has no flag for its threads: it counts the cores

    from benchmarks.model import programs as models
    from benchmarks.op import programs as ops

    groups = {"model": models(), "op": ops()}
    chosen = [(group, item) for group, items in groups.items() for item in items
              if any(w == group or (w not in groups and re.search(w, item.name)) for w in arguments.what)]
    if not chosen:
        parser.error(f"no program matches {' '.join(arguments.what)}")
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": git("rev-parse", "HEAD"),
              "changed_files": len(git("status", "--porcelain", "--untracked-files=no").splitlines()), "command": sys.argv,
              "build_type": build_type(), "machine": machine(), "threads": arguments.threads,
              "xla_opt_version_ms": start_up_ms(), "results": []}
    path = arguments.json or os.path.join(tools.BUILD, "profile.json" if arguments.profile else "bench.json")
    if arguments.profile:
        report.update(profiler.profile(chosen, arguments.threads, arguments.seconds))
        report["machine"]["load_after"] = os.getloadavg()[0]
        with open(path, "w") as file:
            json.dump(report, file, indent=1)
        print(f"\n{path}")
        return
    for group, item in chosen:
        with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
            report["results"].append(measure(item, group, arguments, folder))
        with open(path, "w") as file:
            json.dump(report, file, indent=1)
    report["machine"]["load_after"] = os.getloadavg()[0]
    with open(path, "w") as file:
        json.dump(report, file, indent=1)
    print(f"commit {report['commit'][:12]}, {report['build_type']} build, {report['machine']['cpu']}, {arguments.threads} threads, "
          f"load before {report['machine']['load_before']:.1f}; xla-opt --version: {report['xla_opt_version_ms']} ms")
    by = arguments.by + "_ms"
    print_table(report["results"], arguments.peers, by)
    picture = os.path.splitext(path)[0] + ".svg"
    with open(picture, "w") as file:
        file.write(plot.svg(report["results"], f"speed against the best of {', '.join(p for p in arguments.peers if p != 'millrace')}; "
                                               f"{report['machine']['cpu']}, {arguments.threads} threads, {report['commit'][:12]}", by))
    print(f"\n{path}\n{picture}")
    bad = [r["name"] for r in report["results"] for e in r["peers"].values() if e.get("wrong")]
    failed = [r["name"] for r in report["results"] if "error" in r["peers"].get("millrace", {})]
    if bad or failed:
        sys.exit(f"bench: wrong results: {', '.join(bad) or 'none'}; not run by Millrace: {', '.join(failed) or 'none'}")


if __name__ == "__main__":
    main()
