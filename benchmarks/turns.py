# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to run one program that take turns, each in a process of its own: a busy machine disturbs all of them alike.

A benchmark starts itself once per way (`Process`), and the child calls `serve` with what prepares the program. The child's first answer
comes after three steps; from then on every line on its standard input is a number of steps to time."""
import json
import os
import statistics
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TARGET_S = 0.25  # duration of one turn of a process, about
FEWEST_TIMED_STEPS = 5  # of a turn whose steps are timed each: the first ones after another process's turn are slower, and the median leaves them out
FIRST_STEPS = 3  # their results are compared: those of a training differ from step to step
MOST_VALUES = 20000  # per tensor, that are compared


def serve(prepare, is_each_timed=False):
    """Runs in the child: `prepare()` gives (step, wait), where `step()` starts one step and gives its results, and `wait()` ends when
    all steps are done. A turn's time is the mean of its steps; with `is_each_timed`, for steps that wait for their results, the median step: what
    interrupts a few steps on a busy machine does not count. Answers go to the real standard output; what libraries print goes to the error output."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**values):
        print(json.dumps(values), file=out, flush=True)
    try:
        start = time.perf_counter()
        step, wait = prepare()
        prepared_s = time.perf_counter() - start
        start = time.perf_counter()
        first = [[t.detach().cpu().double().flatten()[:MOST_VALUES].tolist() for t in step()] for _ in range(FIRST_STEPS)]
        wait()
        answer(prepared_s=prepared_s, first_s=time.perf_counter() - start, results=first)
        for line in sys.stdin:
            count = int(line)
            seconds = []
            start = time.perf_counter()
            for _ in range(count):
                before = time.perf_counter()
                step()
                seconds.append(time.perf_counter() - before)
            wait()
            answer(ms=1e3 * (statistics.median(seconds) if is_each_timed else (time.perf_counter() - start) / count),
                   fewest=FEWEST_TIMED_STEPS if is_each_timed else 1)
    except Exception as error:
        traceback.print_exc()
        answer(error=f"{type(error).__name__}: {str(error)[:300]}")


class Process:
    """One way to run one program. `state` is its first answer, or {"error": …}; `times` are milliseconds per step, one per turn that is
    kept; `spawn_s` is the time from the start of the process to its first answer."""

    def __init__(self, module, arguments, threads, environment=None):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), **(environment or {}))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), os.path.join(ROOT, "python"), ROOT]))
        self.count, self.times = 1, []
        start = time.perf_counter()
        self.process = subprocess.Popen([sys.executable, "-m", module, "--child", *map(str, arguments)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=None if os.environ.get("MILLRACE_BENCH_STDERR") else
                                        subprocess.DEVNULL, text=True, cwd=ROOT, env=environment)
        self.state = self.read()
        self.spawn_s = time.perf_counter() - start

    def read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"the process ended, status {self.process.wait()}"}

    def turn(self, keep=True):
        if "error" in self.state:
            return
        self.process.stdin.write(f"{self.count}\n")
        self.process.stdin.flush()
        got = self.read()
        if "error" in got:
            self.state = got
        elif keep:
            self.times.append(got["ms"])
        else:
            self.count = max(got["fewest"], int(TARGET_S * 1e3 / got["ms"]))

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def take_turns(processes, rounds):
    """Two turns of each process that say how many steps a turn has, then `rounds` that count; all processes are closed."""
    for keep in [False] * 2 + [True] * rounds:
        for process in processes:
            process.turn(keep)
    for process in processes:
        process.close()


def difference(got, want):
    """Largest difference of two children's results, relative to the largest value of each tensor."""
    worst = 0.0
    for a, b in zip(got, want):
        for x, y in zip(a, b):
            scale = max(1e-6, max(abs(v) for v in y))
            worst = max(worst, max(abs(p - q) for p, q in zip(x, y)) / scale if len(x) == len(y) else float("inf"))
    return worst
