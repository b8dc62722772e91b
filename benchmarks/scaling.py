# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How programs gain from threads: python -m benchmarks.scaling [model|op|REGEX ...] [--texts=FOLDER] [--threads=1,2,4,8,16] [--peers=xla_cpu]

Runs each program with xla-run on each number of threads, compiled for that number, and prints the least time in milliseconds, the speed-up over
one thread and the kernels that lose most against an even share of their time on one thread: those keep the program from being faster. With
--peers=xla_cpu the same text runs with jaxlib on as many processors. Arguments are random; the results are those of the other tests, which say
that bits do not depend on threads. --texts measures the StableHLO files of a folder, which needs neither PyTorch nor the models: for a machine
that has only xla-run (--xla-run=PATH), Python, NumPy and perhaps JAX. The JSON file has every kernel's time.

--predict=FILE,... says what the programs would take on the machines of benchmarks/machines, on each number of --threads that they have: the
kernels are cut as for so many threads, their pieces timed one after the other on this machine's core, and scheduled (benchmarks/prediction.py).
Numbers of threads that this machine has are measured as well, beside the prediction for the first FILE, which is to describe this machine.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

from benchmarks import prediction

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
KEPT = ("name", "emitter", "calls", "flops", "bytes_read", "bytes_written", "min_us", "median_us")


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["model"])
    parser.add_argument("--texts", help="measure this folder's *.mlir instead of the catalogue's programs; WHAT are regular expressions of names")
    parser.add_argument("--threads", default=",".join(str(2**n) for n in range(11) if 2**n <= len(os.sched_getaffinity(0))))
    parser.add_argument("--peers", default="", help="xla_cpu, on the least and on the greatest number of threads")
    parser.add_argument("--xla-run", default=os.path.join(os.environ.get("MILLRACE_BUILD") or os.path.join(ROOT, "build"), "bin", "xla-run"))
    parser.add_argument("--seconds", type=float, default=0.5, help="for each program and number of threads")
    parser.add_argument("--minutes", type=float, default=math.inf, help="measure no further program after this time")
    parser.add_argument("--kernels", type=int, default=3, help="so many kernels per program that lose most")
    parser.add_argument("--predict", help="files of machines, separated by commas: predict their times instead of comparing with a peer")
    parser.add_argument("--json")
    parser.add_argument("--measure-xla", help=argparse.SUPPRESS)  # this process is the peer: it measures the given text
    return parser.parse_args(arguments)


def texts_of(options, folder):
    """Pairs of name and path of a StableHLO text."""
    if options.texts:
        for name in sorted(os.listdir(options.texts)):
            if name.endswith(".mlir") and (options.what == ["model"] or any(re.search(word, name) for word in options.what)):
                yield name[:-len(".mlir")], os.path.join(options.texts, name)
        return
    from benchmarks import catalog
    from benchmarks import program as bench

    for _, program in catalog.choose(options.what):
        path = os.path.join(folder, program.name + ".mlir")
        with open(path, "w") as file:
            file.write(bench.text_and_arguments(program)[0])
        yield program.name, path


def run_ours(options, path, threads, cache, with_kernels):
    """{"min_ms", "median_ms", "kernels"} on so many threads; {"error"} with what xla-run said."""
    environment = dict(os.environ, MILLRACE_NUM_THREADS=str(threads))
    command = [options.xla_run, path, "--quiet", f"--cache-dir={cache}"]

    def call(*flags):
        process = subprocess.run([*command, *flags], capture_output=True, text=True, env=environment)
        times = re.search(r"run: min ([\d.]+) ms, median ([\d.]+) ms", process.stdout + process.stderr)
        if process.returncode or not times:
            raise RuntimeError((process.stderr or process.stdout).strip()[-300:])
        return float(times.group(1)), float(times.group(2))

    try:
        count = int(min(max(5, options.seconds * 1e3 / max(call("--repeat=3")[0], 1e-3)), 2000))
        result = dict(zip(("min_ms", "median_ms"), call(f"--repeat={count}")))
        if with_kernels:
            with tempfile.NamedTemporaryFile(suffix=".json") as file:
                call(f"--repeat={max(3, count // 3)}", f"--profile={file.name}")
                result["kernels"] = [{key: kernel[key] for key in KEPT} for kernel in json.load(file)]
        return result
    except RuntimeError as error:
        return {"error": str(error)}


def pieces_of(options, path, threads, cache):
    """The profile of the program compiled for so many threads, with the time of every piece; on one thread."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [options.xla_run, path, "--quiet", f"--cache-dir={cache}", f"--target-threads={threads}", f"--pieces={threads}", "--repeat=5",
                   f"--profile={file.name}"]
        process = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, MILLRACE_NUM_THREADS="1"))
        if process.returncode:
            raise RuntimeError((process.stderr or process.stdout).strip()[-300:])
        return json.load(file)


def predict(options, machines, threads, folder):
    """Prints for each program and machine the predicted milliseconds per number of threads, and what bounds it at the largest; the rows."""
    here = len(os.sched_getaffinity(0))
    results, started = {}, time.monotonic()
    for name, path in texts_of(options, folder):
        if time.monotonic() - started > 60 * options.minutes:
            print(f"stopped before {name}: {options.minutes:g} minutes are over")
            break
        profiles = {count: pieces_of(options, path, count, os.path.join(folder, f"cache-{count}")) for count in threads}
        measured = {count: run_ours(options, path, count, os.path.join(folder, f"cache-{count}"), False)["min_ms"] for count in threads if count <= here}
        row = results[name] = {"measured_ms": measured, "machines": {}}
        for index, machine in enumerate(machines):
            counts = [count for count in threads if count <= machine.threads]
            predicted = {count: prediction.kernels(profiles[count], machine, count) for count in counts}
            times = {count: sum(kernel.together for kernel in predicted[count]) / 1e3 for count in counts}
            last = predicted[counts[-1]]
            free = [kernel for kernel in last if not kernel.at_roof]
            gain = sum(kernel.alone for kernel in free) / max(sum(kernel.together for kernel in free), 1e-9)
            row["machines"][machine.name] = {"ms": times, "speedup": gain, "at_roof": [kernel.name for kernel in last if kernel.at_roof]}
            line = " ".join(f"{count}: {times[count]:.3f}" + (f" (measured {measured[count]:.3f})" if index == 0 and count in measured else "") for count in counts)
            print(f"{name}, {machine.name}, ms: {line}; {gain:.1f} times as fast on {counts[-1]} threads"
                  + (f", without {len(last) - len(free)} kernels that wait for memory" if len(free) < len(last) else ""), flush=True)
            for kernel in sorted(last, key=lambda kernel: kernel.together - kernel.alone / counts[-1], reverse=True)[:options.kernels]:
                print(f"    {kernel.together:8.1f} of {kernel.alone:9.1f} us  {kernel.emitter:12} {'memory ' if kernel.at_roof else '       '}{kernel.name}")
    for machine in machines:
        gains = [row["machines"][machine.name]["speedup"] for row in results.values()]
        print(f"{machine.name}: geometric mean of {len(gains)} speed-ups {geometric_mean(gains):.2f}")
    ratios = [row["machines"][machines[0].name]["ms"][count] / time for row in results.values() for count, time in row["measured_ms"].items()]
    if ratios:
        within = sum(abs(ratio - 1) <= 0.15 for ratio in ratios)
        print(f"predicted over measured: geometric mean {geometric_mean(ratios):.2f}, {within} of {len(ratios)} within 15 %")
    return results


def run_xla(options, path, threads):
    processors = sorted(os.sched_getaffinity(0))[:threads]
    environment = dict(os.environ, JAX_PLATFORMS="cpu", MILLRACE_JAX="0", PYTHONPATH=ROOT)
    process = subprocess.run([sys.executable, "-m", "benchmarks.scaling", f"--measure-xla={path}", f"--seconds={options.seconds}"], cwd=ROOT,
                             capture_output=True, text=True, env=environment, preexec_fn=lambda: os.sched_setaffinity(0, processors))
    return json.loads(process.stdout.splitlines()[-1]) if process.returncode == 0 else {"error": process.stderr.strip()[-300:]}


def measure_xla(path, seconds):
    """The text compiled by jaxlib and run on random arguments, in this process."""
    import jax
    import ml_dtypes  # noqa: F401, gives NumPy the small types
    import numpy as np
    from jax._src import compiler
    from jax.interpreters import mlir
    from jaxlib import xla_client
    from jaxlib.mlir import ir

    from benchmarks import program as bench

    jax.config.update("jax_enable_x64", True)
    device = jax.devices("cpu")[0]
    with open(path) as file:
        text = file.read()
    start = text.index("@main(")
    shapes = re.findall(r"tensor<((?:\d+x)*)[^x>][^>]*>", text[start:text.index("\n", start)].partition(" -> ")[0])
    random = np.random.default_rng(0)
    arguments = []
    for dims, kind in zip(shapes, bench.signature(text)[0], strict=True):
        shape = [int(size) for size in dims.split("x") if size]
        values = random.integers(0, 2, shape) if np.dtype(kind).kind in "biu" else random.standard_normal(shape, dtype="float32")
        arguments.append(jax.device_put(np.asarray(values).astype(kind), device))
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
    executable = device.client.compile_and_load(module, xla_client.DeviceList((device,)),
                                                compiler.get_compile_options(num_replicas=1, num_partitions=1))

    def call():
        begin = time.perf_counter()
        jax.block_until_ready(executable.execute_sharded(arguments).disassemble_into_single_device_arrays())
        return (time.perf_counter() - begin) * 1e3

    call()
    times = sorted(call() for _ in range(int(min(max(5, seconds * 1e3 / max(call(), 1e-3)), 2000))))
    return {"min_ms": times[0], "median_ms": times[len(times) // 2], "version": f"jax {jax.__version__}"}


def losses(one, many, threads):
    """Kernels of `many` by the time that they take beyond an even share of their time in `one`: (microseconds lost, kernel, speed-up)."""
    alone = {}
    for kernel in one:  # the digest at the end of a name is that of the code, which differs
        alone[kernel["name"].rsplit("_", 1)[0]] = kernel["min_us"]
    found = []
    for kernel in many:
        before = alone.get(kernel["name"].rsplit("_", 1)[0])
        if before and kernel["min_us"]:
            found.append((kernel["min_us"] - before / threads, kernel, before / kernel["min_us"]))
    return sorted(found, key=lambda item: -item[0])


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def main(arguments=None):
    options = parsed(arguments)
    if options.measure_xla:
        print(json.dumps(measure_xla(options.measure_xla, options.seconds)))
        return 0
    threads = sorted({int(word) for word in options.threads.split(",")})
    most, least = threads[-1], threads[0]
    results, started, failed = {}, time.monotonic(), False
    with tempfile.TemporaryDirectory(prefix="millrace-scaling-") as folder:
        if options.predict:
            found = predict(options, [prediction.Machine.load(path) for path in options.predict.split(",")], threads, folder)
            if options.json:
                with open(options.json, "w") as file:
                    json.dump(found, file, indent=1)
            return 0
        print(f"{'least time of a run, ms':44} " + " ".join(f"{count:>9}" for count in threads) + "   speed-up" + (f"   XLA:CPU {least:>3} {most:>9}  ratio" if options.peers else ""))
        for name, path in texts_of(options, folder):
            if time.monotonic() - started > 60 * options.minutes:
                print(f"stopped before {name}: {options.minutes:g} minutes are over")
                break
            row = results[name] = {"threads": {}}
            for count in threads:
                row["threads"][count] = run_ours(options, path, count, os.path.join(folder, f"cache-{count}"), count in (least, most))
            ours = row["threads"]
            if any("error" in one for one in ours.values()):
                failed = True
                print(f"{name}: " + next(one["error"] for one in ours.values() if "error" in one))
                continue
            speedup = ours[least]["min_ms"] / ours[most]["min_ms"]
            line = f"{name:44} " + " ".join(f"{ours[count]['min_ms']:9.3f}" for count in threads) + f"   {speedup:8.2f}"
            if options.peers:
                row["xla_cpu"] = {count: run_xla(options, path, count) for count in (least, most)}
                if any("error" in one for one in row["xla_cpu"].values()):
                    line += "   " + next(one["error"] for one in row["xla_cpu"].values() if "error" in one)[-100:]
                else:
                    few, many = (row["xla_cpu"][count]["min_ms"] for count in (least, most))
                    line += f"   {few:11.3f} {many:9.3f} {many / ours[most]['min_ms']:6.2f}"
            print(line, flush=True)
            for lost, kernel, gain in losses(ours[least]["kernels"], ours[most]["kernels"], most)[:options.kernels]:
                print(f"    {lost:8.1f} us lost: {kernel['emitter']:12} x{kernel['calls']:<4} speed-up {gain:5.1f}  {kernel['name']}")
            if options.json:
                with open(options.json, "w") as file:
                    json.dump(results, file, indent=1)
    measured = [row for row in results.values() if all("error" not in one for one in row["threads"].values())]
    if measured:
        print(f"geometric mean of {len(measured)} speed-ups: {geometric_mean([row['threads'][least]['min_ms'] / row['threads'][most]['min_ms'] for row in measured]):.2f}")
    compared = [row for row in measured if row.get("xla_cpu") and all("error" not in one for one in row["xla_cpu"].values())]
    if compared:
        print(f"XLA:CPU's: {geometric_mean([row['xla_cpu'][least]['min_ms'] / row['xla_cpu'][most]['min_ms'] for row in compared]):.2f}; "
              f"its time over ours on {most} threads: {geometric_mean([row['xla_cpu'][most]['min_ms'] / row['threads'][most]['min_ms'] for row in compared]):.2f}")
    return 1 if failed or not measured else 0


if __name__ == "__main__":
    sys.exit(main())
