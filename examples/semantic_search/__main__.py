# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks sentences by meaning: python -m examples.semantic_search ["query" ["sentence" …]] (scripts/demo sets it up)."""
import os
import re
import subprocess
import sys
import time

import jax
import numpy as np

from benchmarks import tools
from examples.semantic_search import minilm

QUERY = "How do I make my program run faster?"
SENTENCES = [
    "Compilers translate source code into efficient machine code.",
    "Fusing loops saves memory traffic.",
    "A cache keeps results that were computed before.",
    "Profile first, then optimize the slowest function.",
    "The recipe calls for two cups of flour and an egg.",
    "Bread needs time to rise before baking.",
    "The mountain trail is closed in winter.",
    "She bought a train ticket to Vienna.",
    "The cat sleeps on the warm windowsill.",
    "Quarterly revenue grew by nine percent.",
    "The orchestra rehearsed until midnight.",
]
REPEAT = 7


def say(text=""):
    print(text, flush=True)


def show_tool_output(text):
    """The lines of xla-run that a reader of the demo wants: time per stop, cache; kernels are counted, not listed."""
    kernels = 0
    in_kernels = False
    for line in text.splitlines():
        in_kernels = in_kernels and line.startswith(" ") or line.startswith("compile time per kernel")
        if in_kernels:
            kernels += line.startswith(" ")
        elif line.strip() and not line.startswith("run "):
            say("    " + line)
    if kernels:
        say(f"    ({kernels} kernels; xla-run --time lists them)")


def run_times(text):
    """Milliseconds per run, from xla-run's lines 'run K: X ms'."""
    return [float(value) for value in re.findall(r"^run \d+: ([\d.]+) ms", text, re.M)]


def main():
    query, sentences = (sys.argv[1] if len(sys.argv) > 1 else QUERY), (sys.argv[2:] or SENTENCES)
    try:
        folder = minilm.model_folder()
    except FileNotFoundError as error:
        sys.exit(f"demo: {error}")
    work = os.path.join(tools.BUILD, "demo")
    os.makedirs(work, exist_ok=True)
    cache = os.environ.get("MILLRACE_CACHE_DIR") or os.path.join(work, "cache")

    weights = minilm.load_weights(folder)
    ids, mask = minilm.tokenize(folder, [query, *sentences])
    rows, length = ids.shape
    say(f"all-MiniLM-L6-v2, {rows} sentences of up to {length} tokens, {len(os.sched_getaffinity(0))} cores")

    inputs = (weights, ids, mask)
    jitted = jax.jit(minilm.embed, keep_unused=True)
    start = time.perf_counter()
    lowered = jitted.lower(*inputs)
    program = os.path.join(work, f"minilm_{rows}x{length}_f32.mlir")
    text = lowered.as_text()
    with open(program, "w") as file:
        file.write(text)
    say(f"exported by JAX {jax.__version__} in {time.perf_counter() - start:.2f} s: {os.path.relpath(program)} "
        f"({text.count('stablehlo.')} operations, {len(jax.tree_util.tree_leaves(inputs))} arguments)")

    start = time.perf_counter()
    compiled = lowered.compile()
    jax_compile = time.perf_counter() - start
    times = []
    on_device = jax.device_put(inputs)
    for _ in range(REPEAT):
        start = time.perf_counter()
        want = np.asarray(jax.block_until_ready(compiled(*on_device)))
        times.append((time.perf_counter() - start) * 1e3)

    say("Millrace:")
    try:
        results, process = tools.run_file(program, jax.tree_util.tree_leaves(inputs), "--time", f"--repeat={REPEAT}",
                                          f"--cache-dir={cache}", timeout=900)
    except AssertionError as error:
        sys.exit(f"demo: {error}")
    except subprocess.TimeoutExpired as error:
        sys.exit(f"demo: {error}")
    show_tool_output(process.stdout + process.stderr)
    got = results[0]
    ours = run_times(process.stdout + process.stderr)

    difference = float(np.max(np.abs(got - want)))
    say(f"largest absolute difference to JAX's CPU backend: {difference:.2e}")
    if ours:
        say(f"run time, median of {REPEAT}: Millrace {np.median(ours):.2f} ms, JAX {np.median(times):.2f} ms; "
            f"JAX compiled in {jax_compile:.2f} s")
    say(f'\nclosest to "{query}":')
    scores = got[1:] @ got[0]
    for index in np.argsort(-scores):
        say(f"  {scores[index]:6.3f}  {sentences[index]}")
    if not difference < 1e-4:
        sys.exit(f"demo: expects a difference below 1e-4, but got {difference:.2e}")


main()
