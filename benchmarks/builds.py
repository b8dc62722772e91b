# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kind of build costs and gains: start-up, compile time and run time of several trees, in turns.

  python -m benchmarks.builds [--rounds N] NAME=TREE…     TREE has bin/ and lib/: build, build/wheel, an installed wheel's folder millrace

Compile times are those of `xla-compile` without a cache, of the whole process; runs are those of a program in a warm process through
millrace.core, and are mostly the code that the compiler emits, except where runtime/ has the kernel (sort, FFT, LU factors). All numbers
are medians in milliseconds. Prints a table."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
MODELS = ["bert_base_l12_1x128_f32", "resnet50_1x224x224x3_f32", "mlp_adam_b128_784x512x512x10_f32", "conv_train_32x28x28x1_f32"]
RUNS = {
    "sort 1M f32": ("tensor<1048576xf32>", """%0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<1048576xf32>) -> tensor<1048576xf32>""", "tensor<1048576xf32>"),
    "FFT 256 x 1000": ("tensor<256x1000xcomplex<f32>>", "%0 = stablehlo.fft %x, type = FFT, length = [1000] : "
                       "(tensor<256x1000xcomplex<f32>>) -> tensor<256x1000xcomplex<f32>>", "tensor<256x1000xcomplex<f32>>"),
    "Cholesky 64 x 96 x 96": ("tensor<64x96x96xf32>", "%0 = stablehlo.cholesky %x, lower = true : tensor<64x96x96xf32>", "tensor<64x96x96xf32>"),
}
RUN = """
import json, sys, time, numpy as np, millrace.core
runs, times = json.load(sys.stdin), {}
random = np.random.default_rng(0)
for name, (operand, code, result) in runs.items():
    program = millrace.core.Client().compile(f"func.func @main(%x: {operand}) -> {result} {{ {code}\\n return %0 : {result} }}")
    *dims, kind = operand[len("tensor<"):-1].replace("complex<f32>", "c").split("x")
    x = random.standard_normal([int(d) for d in dims]).astype(np.complex64 if kind == "c" else np.float32)
    if "cholesky" in code:
        x = x @ x.swapaxes(-1, -2) + 100 * np.eye(x.shape[-1], dtype=np.float32)
    for _ in range(3): program(x)
    times[name] = []
    for _ in range(15):
        start = time.perf_counter(); program(x); times[name].append((time.perf_counter() - start) * 1e3)
print(json.dumps({name: sorted(values)[len(values) // 2] for name, values in times.items()}))
"""


def process_ms(command: list[str], **environment: str) -> float:
    """Wall time of a process that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, **environment))
    return (time.perf_counter() - start) * 1e3


def measure(tree: str) -> dict[str, float]:
    """One round of everything."""
    binary = os.path.join(tree, "bin")
    times = {"start: xla-opt --version": process_ms([os.path.join(binary, "xla-opt"), "--version"]),
             "start: import millrace.core, first program": process_ms(
                 [sys.executable, "-c", "import millrace.core as c; c.Client().compile('func.func @main(%x: tensor<f32>) -> tensor<f32> "
                  "{ return %x : tensor<f32> }')"], MILLRACE_BUILD=tree, MILLRACE_CACHE="off", PYTHONPATH=os.path.join(ROOT, "python"))}
    for model in MODELS:
        times[f"compile: {model}"] = process_ms([os.path.join(binary, "xla-compile"), os.path.join(ROOT, "benchmarks", "model", model + ".mlir"),
                                                 "-o", "/dev/null", "--cache-dir=off"])
    ran = subprocess.run([sys.executable, "-c", RUN], input=json.dumps(RUNS), text=True, check=True, stdout=subprocess.PIPE,
                         env=dict(os.environ, MILLRACE_BUILD=tree, MILLRACE_CACHE="off", PYTHONPATH=os.path.join(ROOT, "python")))
    return times | {f"run: {name}": value for name, value in json.loads(ran.stdout).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", metavar="NAME=TREE")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    trees = {name: os.path.realpath(path) for name, path in (pair.split("=", 1) for pair in options.trees)}
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
    for number in range(options.rounds):
        for name, tree in trees.items():
            rounds[name].append(measure(tree))
            print(f"builds: round {number + 1} of {options.rounds}: {name}", file=sys.stderr)
    print("| ms | " + " | ".join(trees) + " |\n|---|" + "---:|" * len(trees))
    for what in rounds[next(iter(trees))][0]:
        print(f"| {what} | " + " | ".join(f"{statistics.median(one[what] for one in rounds[name]):.4g}" for name in trees) + " |")


if __name__ == "__main__":
    main()
