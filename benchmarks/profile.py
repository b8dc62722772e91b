# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where Millrace's time goes in each program, kernel by kernel, against what the machine can do (benchmarks/probe.cpp)."""
import json
import os
import subprocess
import sys
import tempfile

from benchmarks import tools

SHOWN_SHARE = 0.95  # kernels below the first so much of the time are counted, not listed


def probe(threads, *only):
    """Peaks of this machine now: {"f32_gflops", "f64_gflops", "bf16_gflops", "bandwidth": [{"bytes", "read_gbs", "copy_gbs"}]}.

    `only` "flops" or a working set in bytes: nothing else is measured."""
    source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "probe.cpp")
    binary = os.path.join(tools.BUILD, "bin", "bench-probe")
    if not os.path.exists(binary) or os.path.getmtime(binary) < os.path.getmtime(source):
        subprocess.run(["clang++-22", "-std=c++20", "-O2", "-march=x86-64-v3", "-pthread", source, "-o", binary], check=True)
    return json.loads(subprocess.run([binary, str(threads), *map(str, only)], capture_output=True, text=True, check=True).stdout)


def best_of(first, second):
    """The higher figure of two probes: one before, one after the programs."""
    best = dict(first, **{k: max(first[k], second[k]) for k in ("f32_gflops", "f64_gflops", "bf16_gflops")})
    best["bandwidth"] = [{"bytes": a["bytes"], **{k: max(a[k], b[k]) for k in ("read_gbs", "copy_gbs")}}
                         for a, b in zip(first["bandwidth"], second["bandwidth"])]
    return best


def bandwidth(peaks, working_set, written_share):
    """GB/s of the probe with this working set: that of reading, the more so of copying the more is written."""
    rows = [r for r in peaks["bandwidth"] if r["bytes"] >= working_set] or peaks["bandwidth"][-1:]
    copies = min(1.0, 2 * written_share)
    return rows[0]["read_gbs"] * (1 - copies) + rows[0]["copy_gbs"] * copies


def judge(kernel, peaks):
    """Adds the rates and how near they come to what arithmetic or memory allows: `bound` says which of both is the limit."""
    seconds = max(kernel["median_us"], 1e-3) / 1e6
    moved = kernel["bytes_read"] + kernel["bytes_written"]
    kernel["gflops"], kernel["gbs"] = kernel["flops"] / seconds / 1e9, moved / seconds / 1e9
    arithmetic = kernel["flops"] / (peaks["f32_gflops"] * 1e9)
    memory = moved / (bandwidth(peaks, moved / max(kernel["calls"], 1), kernel["bytes_written"] / moved) * 1e9) if moved else 0
    kernel["bound"] = "flops" if arithmetic > memory else "bytes"
    kernel["of_peak"] = max(arithmetic, memory) / seconds


def run_command(command, result, **environment):
    """The kernels of an xla-run command, which writes them to the file `result`."""
    subprocess.run([*command, f"--profile={result}"], capture_output=True, text=True, check=True,
                   env=dict(os.environ, MILLRACE_CACHE="rw", **environment))
    with open(result) as file:
        return json.load(file)


def run(item, group, threads, seconds):
    """The profile of one program: total and kernels, slowest first."""
    with tempfile.TemporaryDirectory(prefix="millrace-profile-") as folder:
        path, arguments, result = (os.path.join(folder, name) for name in (item.name + ".mlir", item.name + ".npz", "profile.json"))
        subprocess.run([sys.executable, "-m", "benchmarks.catalog", group, item.name, folder], cwd=tools.ROOT, capture_output=True, text=True,
                       check=True, env=dict(os.environ, PYTHONPATH=tools.ROOT, JAX_PLATFORMS="cpu"))

        def call(repeat):
            command = [tools.tool("xla-run"), path, f"--args={arguments}", f"--repeat={repeat}", "--quiet", f"--cache-dir={folder}/cache"]
            return run_command(command, result, OMP_NUM_THREADS=str(threads))

        once = sum(kernel["median_us"] for kernel in call(2)) / 1e6
        return call(max(3, min(200, int(seconds / max(once, 1e-5)))))


def print_program(name, kernels):
    total = sum(k["median_us"] for k in kernels)
    generic = [k for k in kernels if k["emitter"] == "generic"]
    print(f"\n{name}: {total / 1e3:.3f} ms in {len(kernels)} kernels and steps; generic path: {len(generic)} kernels, "
          f"{100 * sum(k['median_us'] for k in generic) / max(total, 1e-9):.1f} % of the time")
    reached = 0
    for kernel in kernels:
        if reached > SHOWN_SHARE * total:
            break
        reached += kernel["median_us"]
        print(f"  {kernel['median_us']:10.1f} us {100 * kernel['median_us'] / max(total, 1e-9):5.1f} % {kernel['calls']:6d} x "
              f"{kernel['gflops']:8.1f} GFLOP/s {kernel['gbs']:7.1f} GB/s {100 * kernel['of_peak']:5.0f} % of {kernel['bound']}  "
              f"{kernel['emitter']:12} {kernel['name']}")


def profile(chosen, threads, seconds):
    """Profiles (group, program) pairs and prints them; returns {"peaks", "programs"} for the JSON file."""
    before, found = probe(threads), []
    for group, item in chosen:
        print(f"bench: {item.name}: profile", file=sys.stderr, flush=True)
        try:
            found.append((item, run(item, group, threads, seconds)))
        except subprocess.CalledProcessError as error:
            print(f"bench: {item.name}: {error.stderr.strip()[-300:]}", file=sys.stderr)
    peaks = best_of(before, probe(threads))
    print(f"peak of the machine in this run, {threads} threads: {peaks['f32_gflops']:.0f} GFLOP/s in f32, " + ", ".join(
        f"{r['bytes'] >> 10} KiB {r['read_gbs']:.0f}/{r['copy_gbs']:.0f}" for r in peaks["bandwidth"]) + " GB/s reading/copying")
    for item, kernels in found:
        for kernel in kernels:
            judge(kernel, peaks)
        print_program(item.name, kernels)
    return {"peaks": peaks, "programs": [{"name": item.name, "source": item.source, "kernels": kernels} for item, kernels in found]}
