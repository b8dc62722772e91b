# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a process holds after it has run many programs, beside XLA:CPU.

  python -m benchmarks.resident [--only=REGEX] [--rounds=2]

Every case runs in a process of its own: with Millrace as JAX's backend, with XLA:CPU, and, for the cases of PyTorch, on the device xla. A line
has MiB of resident memory more than before the first program (JAX imported, one program compiled): at the end, and at most; then, for Millrace,
what its device says of itself: bytes in use, and those with what it keeps for reuse. All programs stay. `--rounds`: each runs that many times, in turns.
"""
import argparse
import gc
import os
import re
import subprocess
import sys

MIB = 1 << 20
HELD = []  # programs, which a process that goes on would use again


def status(field):
    with open("/proc/self/status") as file:
        return int(re.search(rf"{field}:\s+(\d+)", file.read()).group(1)) / 1024


def batches(rounds):
    """Ten batch sizes of one model: two layers of 1024 and an activation, 1000 to 10000 rows of 784."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def model(x, a, b, c):
        return jax.nn.softmax(jax.nn.gelu(jax.nn.gelu(x @ a) @ b) @ c)

    HELD.append(model)
    a, b, c = jnp.ones((784, 1024)), jnp.ones((1024, 1024)), jnp.ones((1024, 10))
    for _ in range(rounds):
        for rows in range(1000, 11000, 1000):
            model(jnp.ones((rows, 784)), a, b, c).block_until_ready()
    return 10


def mlp(rounds):
    """Sixteen batch sizes of the gradient of an MLP of eight layers of 512: 512 to 8192 rows."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(weights, x):
        def loss(weights):
            y = x
            for w in weights:
                y = jnp.tanh(y @ w)
            return (y * y).mean()

        return jax.value_and_grad(loss)(weights)

    HELD.append(step)
    weights = [jnp.full((512, 512), 0.01)] * 8
    for _ in range(rounds):
        for rows in range(512, 16 * 512 + 1, 512):
            jax.block_until_ready(step(weights, jnp.ones((rows, 512))))
    return 16


def lengths(rounds):
    """A text of 1 to 64 tokens, a program for each length: two layers of attention of width 256 on all tokens, 8 texts at a time."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def model(x, weights):
        for q, k, v, a, b in weights:
            scores = jnp.einsum("bij,bkj->bik", x @ q, x @ k) / 16
            x = x + jax.nn.softmax(scores) @ (x @ v)
            x = x + jax.nn.gelu(x @ a) @ b
        return x[:, -1]

    HELD.append(model)
    weights = [[jnp.full(shape, 0.01) for shape in ((256, 256),) * 3 + ((256, 1024), (1024, 256))]] * 2
    for _ in range(rounds):
        for length in range(1, 65):
            model(jnp.ones((8, length, 256)), weights).block_until_ready()
    return 64


def tiny(rounds):
    """A thousand programs of two or three operations on some numbers, as test suites have them."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    functions = [lambda x: x + 1, lambda x: jnp.sin(x) * 2, lambda x: x.sum(), lambda x: jnp.where(x > 0, x, 0), lambda x: x.reshape(-1)[::-1]]
    HELD.extend(jax.jit(functions[i % len(functions)]) for i in range(1000))
    for _ in range(rounds):
        for i, function in enumerate(HELD):
            function(np.ones((1 + i // 5,), np.float32)).block_until_ready()
    return 1000


def generate(rounds):
    """transformers' GPT-2 with random weights, 2 layers of width 128, on PyTorch's device xla: 48 tokens, one after the other, without a cache."""
    import torch
    import torch_xla
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=4, vocab_size=1000, n_positions=128)).eval().to("xla")
    for _ in range(rounds):
        tokens = torch.ones((4, 1), dtype=torch.long, device="xla")
        with torch.no_grad():
            for _ in range(48):
                logits = model(tokens, use_cache=False).logits[:, -1]
                tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], 1)
                torch_xla.sync(wait=True)
    return 48


CASES = {case.__name__: case for case in (batches, mlp, lengths, tiny, generate)}
OF_TORCH = ("generate",)


def measure(name, rounds):
    """In a process of its own: prints the line's numbers."""
    if name in OF_TORCH:
        import torch
        import torch_xla

        (torch.ones(3, device="xla") + 1).cpu()
    else:
        import jax
        import jax.numpy as jnp

        jax.jit(lambda x: x * 3 + 1)(jnp.ones(7)).block_until_ready()
    gc.collect()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak counts from here
    before = status("VmRSS")
    programs = CASES[name](rounds)
    gc.collect()
    after, peak = status("VmRSS") - before, status("VmHWM") - before
    own = ""
    if name in OF_TORCH:
        own = f"{torch_xla._XLAC._memory_stats()[0] / MIB:.1f} in use"
    elif stats := jax.devices()[0].memory_stats():
        own = f"{stats['bytes_in_use'] / MIB:.1f} in use, {stats['pool_bytes'] / MIB:.1f} with what is kept"
    print(f"{programs} programs: {after:.1f} MiB at the end, {peak:.1f} at most, {after * 1024 / programs:.0f} KiB per program; {own}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return measure(options.case, options.rounds)
    for name in CASES:
        if not re.search(options.only, name):
            continue
        print(f"{name}: {CASES[name].__doc__}")
        ways = {"millrace": {}} if name in OF_TORCH else {"millrace": {}, "xla_cpu": {"MILLRACE_JAX": "0"}}
        for way, environment in ways.items():
            ran = subprocess.run([sys.executable, "-m", "benchmarks.resident", f"--case={name}", f"--rounds={options.rounds}"],
                                 env=os.environ | environment, capture_output=True, text=True)
            print(f"  {way:9} {ran.stdout.strip() or ran.stderr.strip()[-300:]}")
    return None


if __name__ == "__main__":
    main()
