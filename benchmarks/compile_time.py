# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How compile time grows with a program, and how fast a program that was compiled before is ready.

  python -m benchmarks.compile_time [--layers=12,48] [--width=768] [--rounds=5]

First table: identical layers of an encoder (sizes of BERT-base), each a call of one function, or all of them as one flat text: milliseconds
from the file to the executable without any cache, kernels that were compiled, time against that of the fewest layers. Second: the same for
each PROGRAM of benchmarks/model as text and as a compiled artifact (.mr), with what the cache on disk has: `ready` as xla-run --time prints
it, from opening the file to an executable that can be run. Medians; programs take turns.
"""
import argparse
import functools
import glob
import os
import re
import statistics
import subprocess
import tempfile

from benchmarks import tools


def layers(count, kind, width):
    """The text of `count` encoder layers; kind: call or flat."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp

    from benchmarks.model.transformer import encoder_layer

    def shape(*sizes):
        return jax.ShapeDtypeStruct(sizes, jnp.float32)

    weights = {f"{name}_{part}": shape(width, width) if part == "w" else shape(width) for name in "qkvo" for part in "wb"}
    weights |= {"i_w": shape(width, 4 * width), "i_b": shape(4 * width), "f_w": shape(4 * width, width), "f_b": shape(width)}
    weights |= {f"{name}_{part}": shape(width) for name in ("n1", "n2") for part in "sb"}
    layer = functools.partial(encoder_layer, heads=12, epsilon=1e-12)
    if kind == "call":
        layer = jax.jit(layer)

    def encoder(x, bias, parameters):
        for w in parameters:
            x = layer(x, bias, w)
        return x

    return jax.jit(encoder).lower(shape(1, 128, width), shape(1, 1, 1, 128), [weights] * count).as_text()


def ready(path, *flags):
    """(milliseconds from the file to the executable, number of kernels compiled, whether the cache had the program)"""
    process = subprocess.run([tools.tool("xla-run"), path, "--repeat=1", "--time", "--stats", "--quiet", *flags], capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError(f"xla-run {path}: {process.stderr.strip()[-500:]}")
    kernels = re.findall(r"^ +[\d.]+  \w+ +\w+_[0-9a-f]{8}$", process.stdout, re.M)
    return float(re.search(r"^ready: ([\d.]+) ms", process.stdout, re.M).group(1)), len(kernels), "cache: hit" in process.stdout


def grow(counts, width, rounds, folder):
    times = {}
    for kind in ("call", "flat"):
        for count in counts:
            with open(os.path.join(folder, f"{kind}{count}.mlir"), "w") as file:
                file.write(layers(count, kind, width))
            times[kind, count] = []
    for _ in range(rounds):
        for (kind, count), found in times.items():
            found.append(ready(os.path.join(folder, f"{kind}{count}.mlir"), "--cache-dir=off"))
    print("| layers | as | ms | kernels | times the fewest |\n|---|---|---:|---:|---:|")
    for (kind, count), found in times.items():
        least = statistics.median(t for t, _, _ in times[kind, counts[0]])
        median = statistics.median(t for t, _, _ in found)
        print(f"| {count} | {'func.call' if kind == 'call' else 'flat text'} | {median:.1f} | {found[0][1]} | {median / least:.2f} |", flush=True)


def warm(names, rounds, folder):
    cache = os.path.join(folder, "cache")
    paths = {name: os.path.join(tools.ROOT, "benchmarks", "model", name + ".mlir") for name in names}
    cold, found, loaded = {}, {name: [] for name in names}, {name: [] for name in names}
    for name, path in paths.items():
        cold[name], _, hit = ready(path, f"--cache-dir={cache}")
        assert not hit, f"{name}: the cache was to be empty"
        subprocess.run([tools.tool("xla-compile"), path, f"--cache-dir={cache}", "-o", os.path.join(folder, name + ".mr")], check=True)
    for _ in range(rounds):
        for name, path in paths.items():
            time, _, hit = ready(path, f"--cache-dir={cache}")
            assert hit, f"{name}: the cache was to have it"
            found[name].append(time)
            loaded[name].append(ready(os.path.join(folder, name + ".mr"))[0])
    print("\n| program | cold, ms | text, from the cache | .mr |\n|---|---:|---:|---:|")
    for name in names:
        print(f"| {name} | {cold[name]:.1f} | {statistics.median(found[name]):.2f} | {statistics.median(loaded[name]):.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="of benchmarks/model; bert_base_l12_1x128_f32 unless named")
    parser.add_argument("--layers", default="12,48")
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    known = [os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(tools.ROOT, "benchmarks", "model", "*.mlir"))]
    for name in arguments.programs:
        if name not in known:
            parser.error(f"unknown program '{name}', expected some of {', '.join(sorted(known))}")
    with tempfile.TemporaryDirectory(prefix="millrace-compile-") as folder:
        grow([int(word) for word in arguments.layers.split(",")], arguments.width, arguments.rounds, folder)
        warm(arguments.programs or ["bert_base_l12_1x128_f32"], arguments.rounds, folder)


if __name__ == "__main__":
    main()
