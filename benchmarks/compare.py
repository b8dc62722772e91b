# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs scripts/bench: its peers in turns, one program after the other (benchmarks/arguments.py says how to call it)."""
import datetime
import functools
import hashlib
import json
import os
import re
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import catalog, plot, report, tools
from benchmarks import profile as profiler
from benchmarks import program as bench
from benchmarks.arguments import PEERS, command_line

ALONE = ("millrace", "xla_cpu")  # their compile time counts: nothing else runs meanwhile


class Worker:
    """A benchmarks.peers process; `ask` sends a line and waits for the answer."""

    def __init__(self, peer, threads, keep, folder, patience, environment=None):
        self.patience = patience
        environment = dict(os.environ, PYTHONPATH=tools.ROOT, JAX_PLATFORMS="cpu", OMP_NUM_THREADS=str(threads), **(environment or {}))
        if keep:
            environment.update(MILLRACE_BENCH_KEEP=keep, TORCHINDUCTOR_CACHE_DIR=os.path.join(keep, "inductor"))
        else:
            environment.update(TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"), TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
        self.alive = True
        self.stderr = tempfile.TemporaryFile("w+")  # not a pipe, which could fill up
        self.process = subprocess.Popen([sys.executable, "-m", "benchmarks.peers", peer, str(threads)], cwd=tools.ROOT, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.stderr, text=True, env=environment)

    def send(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says so

    def answer(self):
        # Nothing is read ahead: every question has one line as its answer.
        if not select.select([self.process.stdout], [], [], self.patience)[0]:
            self.process.kill()
            self.process.wait()
            self.alive = False
            return {"error": f"no answer within {self.patience:g} s"}
        line = self.process.stdout.readline()
        if not line:
            self.alive = False
            self.stderr.seek(0)
            return {"error": f"ended, status {self.process.wait()}: " + " ".join(self.stderr.read().split())[-300:]}
        return json.loads(line)

    def ask(self, line):
        self.send(line)
        return self.answer()

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:  # it has answered everything; beside other work its end may take longer than we wait
            self.process.kill()
            self.process.wait()
        self.stderr.close()


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
    if os.path.basename(tools.BUILD) == "millrace" and not os.path.exists(os.path.join(tools.BUILD, "CMakeCache.txt")):
        return "Wheel"
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


class Workers:
    """The processes of all peers. A model gets new ones, so that memory and compile time are its own; operations share theirs."""

    def __init__(self, peers, threads, keep, patience):
        self.peers, self.threads, self.keep, self.patience, self.running = peers, threads, keep, patience, {}
        self.folder = tempfile.TemporaryDirectory(prefix="millrace-bench-cache-")

    def open(self, group, item, folder):
        """{peer: first answer}: those whose compile time counts one by one; with `keep` the others at once."""
        if group == "model":
            self.close()
        answers, line = {}, f"open {group} {item.name} {folder}"
        together = [p for p in self.peers if self.keep and p not in ALONE]
        for peer in [p for p in self.peers if p not in together]:
            print(f"bench: {item.name}: {peer} compiles", file=sys.stderr, flush=True)
            answers[peer] = self.of(peer).ask(line)
        for peer in together:
            print(f"bench: {item.name}: {peer} compiles", file=sys.stderr, flush=True)
            self.of(peer).send(line)
        answers.update((peer, self.of(peer).answer()) for peer in together)
        return {peer: answers[peer] for peer in self.peers}

    def of(self, peer):
        if peer not in self.running or not self.running[peer].alive:
            self.running[peer] = Worker(peer, self.threads, self.keep, self.folder.name, self.patience)
        return self.running[peer]

    def close(self):
        for worker in self.running.values():
            worker.close()
        self.running = {}


@functools.cache
def kept_programs(keep, recorded):
    """Where texts and inputs are kept that this state of what makes them has made; `recorded`: from PyTorch, by our device."""
    sources = [f"benchmarks/{name}" for name in ("model", "op", "more", "catalog.py", "program.py", "tools.py")]
    if recorded:
        sources += ["benchmarks/torch_text.py", "benchmarks/torch_programs.py", "examples", "tracing", "python"]
    state = git("rev-parse", *(f"HEAD:{path}" for path in sources)) + git("diff", "HEAD", "--", *sources)
    return os.path.join(keep, "programs-" + hashlib.sha256(state.encode()).hexdigest()[:16])


def make(item, group, folder, keep):
    """Writes text and inputs of a program to `folder`, or links the kept ones; what went wrong, else None."""
    files = [item.name + ".mlir", item.name + ".npz"]
    store = kept_programs(keep, item.torch_program is not None) if keep else None
    if not store or not all(os.path.exists(os.path.join(store, name)) for name in files):
        made = subprocess.run([sys.executable, "-m", "benchmarks.catalog", group, item.name, folder], cwd=tools.ROOT, capture_output=True,
                              text=True, env=dict(os.environ, PYTHONPATH=tools.ROOT, JAX_PLATFORMS="cpu"))
        if made.returncode:
            return made.stderr.strip().splitlines()[-1][:200]
        if not store:
            return None
        os.makedirs(store, exist_ok=True)
        for name in files:
            shutil.move(os.path.join(folder, name), os.path.join(store, name + ".new"))
            os.rename(os.path.join(store, name + ".new"), os.path.join(store, name))
    for name in files:
        os.symlink(os.path.join(store, name), os.path.join(folder, name))
    return None


def prepare(chosen, arguments, threads):
    """Makes what --keep keeps; returns the number of programs without a text."""
    slow = [p for p in arguments.peers if p not in ALONE and p != "torch_eager"]
    failed, workers = 0, Workers(slow, threads, arguments.keep, arguments.patience)
    for group, item in chosen:
        with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
            error = make(item, group, folder, arguments.keep)
            found = {"text": error} if error else {peer: answer.get("error") for peer, answer in workers.open(group, item, folder).items()}
            failed += error is not None
            for what, why in found.items():
                if why:
                    print(f"bench: {item.name}: {what}: {why}", file=sys.stderr)
    workers.close()
    return failed


def measure(item, group, workers, arguments, folder):
    threads = workers.threads
    row = {"name": f"{item.name}_t{threads}", "group": group, "threads": threads, "source": item.source, "peers": {}}
    if error := make(item, group, folder, arguments.keep):
        row["peers"] = {peer: {"error": "no StableHLO text: " + error} for peer in arguments.peers}
        return row
    counts = {}
    for peer, entry in workers.open(group, item, folder).items():
        row["peers"][peer] = entry
        if "error" not in entry:
            warm = workers.of(peer).ask("run 1")
            if "error" in warm:
                entry["error"] = warm["error"]
            else:
                counts[peer] = max(2, min(300, int(arguments.seconds * 1e3 / max(0.01, warm["run_ms"][0]))))
                entry["run_ms"] = []
    for _ in range(arguments.rounds):
        for peer in counts:
            entry = row["peers"][peer]
            if "error" not in entry:
                got = workers.of(peer).ask(f"run {counts[peer]}")
                entry["run_ms"] += got.get("run_ms", [])
                if "error" in got:
                    entry["error"] = got["error"]
    for peer, entry in row["peers"].items():
        if "error" not in entry:
            entry.update(workers.of(peer).ask("memory"))
    results = {peer: tools.load_results(path) for peer in row["peers"] if os.path.exists(path := os.path.join(folder, f"{item.name}.{peer}.npz"))}
    reference = next((p for p in ("xla_cpu", "torch_eager") if p in results), None)
    for peer, entry in row["peers"].items():
        if "error" in entry:
            print(f"bench: {item.name}: {peer}: {entry['error']}", file=sys.stderr)
            continue
        times = entry.pop("run_ms")
        entry["runs"], entry["median_ms"], entry["min_ms"] = len(times), statistics.median(times), min(times)
        if reference is not None:
            want = results[reference]
            got = [np.asarray(g).reshape(np.shape(w)) if np.size(g) == np.size(w) else g for g, w in zip(results[peer], want)]
            got += results[peer][len(want):]
            entry["wrong"] = bench.disagreement(item, want, got)
            entry["difference"] = bench.max_difference(want, got) if entry["wrong"] is None else None
    return row


def save(path, value):
    """As JSON, complete or not at all, one line per program."""
    rest = json.dumps({key: part for key, part in value.items() if key != "results"}, indent=1)
    rows = ",\n".join(json.dumps(row) for row in value.get("results", []))
    with open(path + ".new", "w") as file:
        file.write(f'{rest[:-2]},\n "results": [\n{rows}\n]}}\n')
    os.rename(path + ".new", path)


def main():
    parser = command_line()
    arguments = parser.parse_args()
    arguments.peers = [p for p in arguments.peers.split(",") if p]
    unknown = [p for p in arguments.peers if p not in PEERS]
    if unknown:
        parser.error(f"unknown peer '{unknown[0]}', expected some of {', '.join(PEERS)}")
    threads = [int(word) for word in arguments.threads.split(",")]
    cores = sorted(os.sched_getaffinity(0))
    if max(threads) > len(cores):
        parser.error(f"{max(threads)} threads, but the process may use {len(cores)} cores")
    chosen = catalog.choose(arguments.what)
    if not chosen:
        parser.error(f"no program matches {' '.join(arguments.what)}")
    if arguments.keep:
        arguments.keep = os.path.realpath(arguments.keep)
        os.makedirs(arguments.keep, exist_ok=True)
    if arguments.prepare:
        if not arguments.keep:
            parser.error("--prepare needs --keep=FOLDER")
        failed = max(prepare(chosen, arguments, count) for count in threads)
        print(f"bench: {len(chosen) - failed} of {len(chosen)} programs are in {arguments.keep}")
        sys.exit(failed > 0)
    path = arguments.json or os.path.join(tools.BUILD, "profile.json" if arguments.profile else "bench.json")
    found = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": git("rev-parse", "HEAD"),
             "changed_files": len(git("status", "--porcelain", "--untracked-files=no").splitlines()), "command": sys.argv,
             "build_type": build_type(), "machine": machine(), "threads": threads, "by": arguments.by + "_ms",
             "xla_opt_version_ms": start_up_ms(), "results": []}
    if arguments.profile:
        os.sched_setaffinity(0, cores[: threads[0]])
        found.update(profiler.profile(chosen, threads[0], arguments.seconds))
        found["machine"]["load_after"] = os.getloadavg()[0]
        save(path, found)
        print(f"\n{path}")
        return
    if arguments.resume and os.path.exists(path):
        with open(path) as file:
            before = json.load(file)
        found["results"] = before["results"]
        found["earlier"] = before.get("earlier", []) + [{key: before[key] for key in ("date", "commit", "command")}]
    done = {row["name"] for row in found["results"]}
    started, left = time.time(), 0
    for count in threads:
        workers = Workers(arguments.peers, count, arguments.keep, arguments.patience)
        for group, item in chosen:
            if f"{item.name}_t{count}" in done:
                continue
            begun = time.time()
            if arguments.minutes is not None and begun - started >= 60 * arguments.minutes:
                left += 1
                continue
            with tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder:
                found["results"].append(measure(item, group, workers, arguments, folder))
            found["results"][-1]["took_s"] = round(time.time() - begun, 1)
            found["machine"]["load_after"] = os.getloadavg()[0]
            found["summary"] = report.summary(found["results"], found["by"])
            save(path, found)
        workers.close()
    print(f"commit {found['commit'][:12]}, {found['build_type']} build, {found['machine']['cpu']}, threads: {arguments.threads}, "
          f"load before {found['machine']['load_before']:.1f}; xla-opt --version: {found['xla_opt_version_ms']} ms")
    if left:
        print(f"bench: {left} programs are left: the same command with --resume goes on")
    if not found["results"]:
        return
    report.print_tables(found["results"], arguments.peers, found["by"])
    picture = os.path.splitext(path)[0] + ".svg"
    with open(picture, "w") as file:
        file.write(plot.svg(found["results"], f"speed against the best of {', '.join(p for p in arguments.peers if p != 'millrace')}; "
                                              f"{found['machine']['cpu']}, {found['commit'][:12]}", found["by"]))
    print(f"\n{path}\n{picture}")
    bad = [r["name"] for r in found["results"] if r["peers"].get("millrace", {}).get("wrong")]
    failed = [r["name"] for r in found["results"] if "error" in r["peers"].get("millrace", {})]
    if bad or failed:
        sys.exit(f"bench: wrong results: {', '.join(bad) or 'none'}; not run by Millrace: {', '.join(failed) or 'none'}")


if __name__ == "__main__":
    main()
