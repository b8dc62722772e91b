# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How near programs come to what this machine can do: python -m benchmarks.peaks [REGEX ...] [--rounds=20] [--threads=1,2]

In every round each program runs once directly after a probe (benchmarks/probe.cpp) of what bounds it: multiply-adds in registers, or
copying and reading in the mix and with the working set of the program. The figure is the median over the rounds of (least time that the
probe's peak allows) / (median time of the program): slow phases of the machine hit both. Operations and bytes are those that the compiler
counts (xla-run --profile). The column "asked for" is the goal of its kind of program; no test compares a figure with it.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

from benchmarks import catalog, profile, tools

# program: (what bounds it, {threads: least share of the peak})
EVERY = {1: 0.85, 2: 0.85}
ASKED = {
    "gemm_1024x1024x1024_f32": ("flops", {1: 0.93, 2: 0.90}),
    "gemm_128x768x3072_f32": ("flops", EVERY),
    "gemm_1024x1024x1024_bf16": ("flops", {1: 0.90, 2: 0.90}),
    "resnet50_1x224x224x3_f32": ("flops", {2: 0.65}),
    "resnet50_1x3x224x224_f32": ("flops", {2: 0.65}),
    "bert_base_l12_1x128_f32": ("flops", {2: 0.65}),
    "gpt2_decode_l12_1x1024_f32": ("bytes", {1: 0.80, 2: 0.80}),
    **{name: ("bytes", EVERY) for name in (
        "gemm_1x4096x4096_f32", "add_4096x1024_f32", "add_16777216_f32", "add_row_4096x1024_f32", "sum_rows_2048x2048_f32",
        "sum_columns_2048x2048_f32", "sum_all_2048x2048_f32", "softmax_1024x1024_f32", "rms_norm_256x4096_f32", "exp_4096x1024_f32",
        "transpose_2048x2048_f32", "concatenate_2x1024x1024_f32", "pad_8x56x56x64_f32", "adam_1000000_f32")},
}


class Program:
    """One program, compiled once: what it computes and moves, and how long it takes now."""

    def __init__(self, group, item, folder, seconds):
        self.name, self.seconds = item.name, seconds
        subprocess.run([sys.executable, "-m", "benchmarks.catalog", group, item.name, folder], cwd=tools.ROOT, capture_output=True, text=True,
                       check=True, env=dict(os.environ, PYTHONPATH=tools.ROOT, JAX_PLATFORMS="cpu"))
        self.command = [tools.tool("xla-run"), f"{folder}/{item.name}.mlir", f"--args={folder}/{item.name}.npz", "--quiet",
                        f"--cache-dir={folder}/cache"]
        kernels = profile.run_command([*self.command, "--repeat=2"], os.path.join(folder, "profile.json"))
        self.flops, self.read, self.written = (sum(k[key] for k in kernels) for key in ("flops", "bytes_read", "bytes_written"))

    def milliseconds(self, threads, repeat):
        out = subprocess.run([*self.command, f"--repeat={repeat}"], capture_output=True, text=True, check=True,
                             env=dict(os.environ, OMP_NUM_THREADS=str(threads), MILLRACE_CACHE="rw"))
        return float(re.search(r"median ([\d.]+) ms", out.stdout + out.stderr)[1])

    def share(self, threads, bound):
        """Of the peak of a probe that runs now."""
        moved = self.read + self.written
        peaks = profile.probe(threads, "flops" if bound == "flops" else moved)
        if bound == "flops":
            least = self.flops / peaks["bf16_gflops" if self.name.endswith("_bf16") else "f32_gflops"] / 1e6
        else:
            least = moved / profile.bandwidth(peaks, moved, self.written / moved) / 1e6
        return least / self.milliseconds(threads, max(5, min(500, int(self.seconds * 1e3 / max(least, 1e-3)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="REGEX", help="of the programs' names (default: all that a figure is asked for)")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=0.2, help="of each program in each round")
    arguments = parser.parse_args()
    chosen = [(group, item) for group, items in catalog.groups().items() for item in items
              if item.name in ASKED and any(re.search(w, item.name) for w in arguments.what or [""])]
    if not chosen:
        sys.exit(f"no program of {', '.join(ASKED)} matches {' '.join(arguments.what)}")
    with tempfile.TemporaryDirectory(prefix="millrace-peaks-") as folder:
        programs = []
        for group, item in chosen:
            print(f"peaks: {item.name}: compiles", file=sys.stderr, flush=True)
            programs.append(Program(group, item, folder, arguments.seconds))
        rows = [(program, threads) for program in programs for threads in map(int, arguments.threads.split(","))
                if threads in ASKED[program.name][1]]
        shares = {row: [] for row in rows}
        for number in range(arguments.rounds):
            print(f"peaks: round {number + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
            for row in rows:
                shares[row].append(row[0].share(row[1], ASKED[row[0].name][0]))
    print(f"| program | threads | bound by | share of the probe's peak, median of {arguments.rounds} | least, greatest | asked |\n"
          "|---|---|---|---|---|---|")
    for (program, threads), found in shares.items():
        bound, asked = ASKED[program.name]
        print(f"| {program.name} | {threads} | {bound} | {statistics.median(found):.2f} | {min(found):.2f}, {max(found):.2f} | "
              f"{asked[threads]:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
