# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MILLRACE_TIERED=1: quick machine code first; better code, the same bits, while steps run."""
import os
import subprocess
import sys

PROGRAM = """
import glob, os, pickle, time
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import serialize_executable

def step(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return [w - 0.01 * x.sum() for w in weights], jnp.sort(x.sum(0))

random = np.random.default_rng(1)
weights = [random.standard_normal((64, 64), np.float32) for _ in range(3)]
x = random.standard_normal((8, 64), np.float32)
bits = lambda result: b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree_util.tree_leaves(result))
seen = set()

run = jax.jit(step)
begin, entries = time.time(), []
while not entries and time.time() - begin < 100:
    entries = glob.glob(os.environ["MILLRACE_CACHE_DIR"] + "/**/*.mrc", recursive=True) # written with better code alone
    seen.add(bits(run(weights, x)))
assert entries

other = jax.jit(lambda weights, x: step(weights, x + 1)).lower(weights, x).compile()
child = os.fork() # while better code is being made
if child == 0: # where nobody makes it: quick code is not kept
    try:
        serialize_executable.serialize(other)
    except Exception as error:
        os._exit(0 if "some kernels of the tiered program have no optimized code" in str(error) else 2)
    os._exit(0 if os.environ["MILLRACE_TIERED"] == "0" else 1)
assert os.waitpid(child, 0)[1] == 0
loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(other), execution_devices=jax.devices()[:1])
assert bits(loaded(weights, x)) == bits(other(weights, x))
assert len(seen) == 1, len(seen)
print(seen.pop().hex())
"""


def test_steps_have_the_same_bits(tmp_path):
    outputs = []
    for tiered in ("0", "1"):
        process = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=300,
                                 env=dict(os.environ, MILLRACE_TIERED=tiered, MILLRACE_CACHE="rw", MILLRACE_CACHE_DIR=str(tmp_path / tiered)))
        assert process.returncode == 0, process.stderr
        outputs.append(process.stdout)
    assert outputs[0] == outputs[1] and len(outputs[0]) > 1000
