# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What recording costs: nothing to speak of while it is off, little while it is on, and how large what it writes becomes.

    PYTHONPATH=build/python-site:. python -m benchmarks.recording_cost [--rounds=15] [--seconds=60] [--only=off,on,size]

off   a tiny program of JAX: the places that ask whether somebody records, counted in a recording of it, times what one question costs
      (benchmarks/recorder_probe.cpp), in percent of an execution. Goal: at most 0.5 % of a program of 10 us.
on    processes that record and processes that do not, in turns: BERT and the tiny program. Goal: at most 5 % of BERT.
size  a training that is recorded for --seconds: bytes of the files, seconds to write them at the end of the process, and to make tables and page.

The last lines are the verdicts; the exit status is 1 where a goal is missed. Figures of a busy machine are too high, not too low.
"""
import argparse
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks import tools, turns

TINY_US = 10.0
OFF_GOAL, ON_GOAL = 0.5, 5.0  # percent


def child(name: str) -> None:
    """Serves steps of one program (turns.serve); with MILLRACE_PROFILE they are recorded."""
    def prepare():
        import jax
        import numpy as np

        if name == "tiny":
            arguments = (jax.device_put(np.arange(256, dtype=np.float32)),)
            compiled = jax.jit(lambda x: x * 2 + 1).lower(*arguments).compile()
        else:
            from benchmarks import catalog
            program = catalog.find("model", "bert_base_l12_1x128_f32")
            arguments = jax.device_put(program.inputs(0))
            compiled = jax.jit(program.function).lower(*arguments).compile()
        last = [None]

        def step():
            last[0] = compiled(*arguments)
            if name != "tiny":
                jax.block_until_ready(last[0])
            return []
        return step, lambda: jax.block_until_ready(last[0])
    turns.serve(prepare)


def trainer(seconds: float) -> None:
    """Trains a small network for some time; prints steps, and the time when the last one was done."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    generator = np.random.default_rng(0)
    weights = [jnp.asarray(generator.normal(0, 0.05, shape).astype(np.float32)) for shape in ((784, 256), (256, 256), (256, 10))]

    def loss(weights, x, y):
        for w in weights[:-1]:
            x = jax.nn.relu(x @ w)
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ weights[-1]) * y, axis=1))

    @jax.jit
    def step(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return value, [w - 0.01 * g for w, g in zip(weights, gradients)]
    batches = [(generator.random((64, 784), np.float32), np.eye(10, dtype=np.float32)[generator.integers(0, 10, 64)]) for _ in range(16)]
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        value, weights = step(weights, *batches[steps % len(batches)])
        steps += 1
        if steps % 100 == 0:
            value.block_until_ready()
    jax.block_until_ready(weights)
    print(steps, time.time(), flush=True)


def question_ns() -> float:
    """Nanoseconds of one question whether somebody records."""
    source = os.path.join(tools.ROOT, "benchmarks", "recorder_probe.cpp")
    with tempfile.TemporaryDirectory(prefix="millrace-probe-") as folder:
        binary = os.path.join(folder, "probe")
        subprocess.run(["clang++-22", "-std=c++20", "-O2", f"-I{tools.ROOT}", source, "-o", binary], check=True)
        return float(subprocess.run([binary], capture_output=True, text=True, check=True).stdout)


def processes(name: str, folder: str) -> tuple[turns.Process, turns.Process]:
    """(one that records into `folder`, one that does not)"""
    threads = len(os.sched_getaffinity(0))
    environment = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "1"}
    off = turns.Process("benchmarks.recording_cost", (name,), threads, {**environment, "MILLRACE_PROFILE": ""})
    on = turns.Process("benchmarks.recording_cost", (name,), threads, {**environment, "MILLRACE_PROFILE": folder})
    for each in (off, on):
        if "error" in each.state:
            raise RuntimeError(f"{name}: {each.state['error']} (MILLRACE_BENCH_STDERR=1 shows all of it)")
    return on, off


def overhead(on: turns.Process, off: turns.Process) -> float:
    """Percent that recording adds: the median over the turns of pairs, which a change of the machine's speed meets alike."""
    return 100 * (statistics.median(a / b for a, b in zip(on.times, off.times)) - 1)


def records_per_execution(folder: str) -> float:
    """Of all recordings of the folder: events, without those of programs' texts and those that repeat counters for XProf, for each execution."""
    import jax

    events = executions = 0
    for path in glob.glob(os.path.join(folder, "*.xplane.pb")):
        for plane in jax.profiler.ProfileData.from_file(path).planes:
            if plane.name == "/host:metadata":
                continue
            for line in plane.lines:
                if line.name.startswith("memory of "):
                    continue
                count = sum(1 for _ in line.events)
                events += count
                executions += count if line.name == "XLA Modules" else 0
    if not executions:
        raise RuntimeError(f"{folder}: no execution was recorded; is the plug-in there (PYTHONPATH=build/python-site)?")
    return events / executions


def measure_size(seconds: float, folder: str) -> None:
    """Prints sizes and times of a training's recording."""
    environment = dict(os.environ, JAX_PLATFORMS="cpu", MILLRACE_PROFILE=folder)
    ran = subprocess.run([sys.executable, "-m", "benchmarks.recording_cost", "--trainer", str(seconds)], env=environment, cwd=tools.ROOT,
                         capture_output=True, text=True)
    ended = time.time()
    if ran.returncode:
        raise RuntimeError(ran.stderr[-2000:])
    if not glob.glob(os.path.join(folder, "*.xplane.pb")):
        raise RuntimeError("nothing was recorded; is the plug-in there (PYTHONPATH=build/python-site)?")
    steps, last = int(ran.stdout.split()[0]), float(ran.stdout.split()[1])
    sizes = {kind: sum(os.path.getsize(path) for path in glob.glob(os.path.join(folder, f"*{kind}"))) / 1e6 for kind in (".xplane.pb", ".trace.json")}
    lost = [line for line in ran.stderr.splitlines() if "lost" in line]
    print(f"training of {seconds:.0f} s, {steps} steps: {sizes['.xplane.pb']:.1f} MB *.xplane.pb, {sizes['.trace.json']:.1f} MB *.trace.json, "
          f"written in {ended - last:.1f} s" + (f"; {lost[0]}" if lost else ""))
    for what, arguments in (("tables", [folder]), ("page", ["pages", folder])):
        start = time.perf_counter()
        subprocess.run([tools.tool("xla-prof"), *arguments], capture_output=True, check=True)
        print(f"  {what}: {time.perf_counter() - start:.1f} s")
    print(f"  page.html: {os.path.getsize(os.path.join(folder, 'page.html')) / 1e6:.1f} MB")


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
        return 0
    if sys.argv[1:2] == ["--trainer"]:
        trainer(float(sys.argv[2]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=60, help="of the training that is recorded")
    parser.add_argument("--only", default="off,on,size")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    verdicts: list[tuple[str, float, float]] = []
    with tempfile.TemporaryDirectory(prefix="millrace-cost-") as folder:
        if "off" in chosen:
            place = os.path.join(folder, "tiny")
            on, off = processes("tiny", place)
            turns.take_turns([on, off], arguments.rounds)
            records, question = records_per_execution(place), question_ns()
            microseconds = 1e3 * statistics.median(off.times)
            print(f"tiny program: {microseconds:.2f} us per execution, {records:.1f} records when it is recorded, which adds {overhead(on, off):.1f} %; "
                  f"one question {question:.2f} ns")
            verdicts.append((f"off, of a program of {TINY_US:.0f} us", 100 * records * question / 1e3 / TINY_US, OFF_GOAL))
        if "on" in chosen:
            on, off = processes("bert", os.path.join(folder, "bert"))
            turns.take_turns([on, off], arguments.rounds)
            print(f"BERT: {statistics.median(off.times):.2f} ms, recorded {statistics.median(on.times):.2f} ms")
            verdicts.append(("on, of BERT", overhead(on, off), ON_GOAL))
        if "size" in chosen:
            measure_size(arguments.seconds, os.path.join(folder, "training"))
    for what, percent, goal in verdicts:
        print(f"{what}: {percent:.3f} %, at most {goal} %: {'kept' if percent <= goal else 'MISSED'}")
    return int(any(percent > goal for _, percent, goal in verdicts))


if __name__ == "__main__":
    sys.exit(main())
