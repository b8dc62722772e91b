# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small programs, lowered for 8 devices without annotations and with a batch that is split by hand, for test_small_plans.py: twelve of common
operations, and two whose values need slices when they are split.

  python test/e2e/small_plans.py FOLDER       # writes NAME-auto.mlir, NAME-whole.mlir, NAME-batch.mlir and NAME-data.mlir
  python test/e2e/small_plans.py FOLDER table # also compares their modelled steps
"""
from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

NAMES = ("mlp", "batch_norm", "scan", "convolution", "attention", "embedding", "sort", "cumsum", "reduce", "gather", "two_layer", "softmax",
         "scan_gradient", "slices")
PLANS = ("whole", "batch", "data")
MACHINES = ("h100", "virtual")


def programs() -> dict[str, tuple[Any, list[Any], int]]:
    """Name: function, arguments without values, and how many of the first arguments have the batch as their first dimension."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def of(*shape: int, dtype: str = "float32") -> Any:
        return jax.ShapeDtypeStruct(shape, dtype)

    def mlp(x: Any, up: Any, down: Any) -> Any:
        return jax.grad(lambda weights: jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1]) ** 2))((up, down))

    def batch_norm(x: Any, scale: Any, offset: Any) -> Any:
        def loss(scale: Any, offset: Any) -> Any:
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            return jax.nn.relu((x - mean) * lax.rsqrt(variance + 1e-5) * scale + offset).sum()
        return jax.grad(loss, (0, 1))(scale, offset)

    def scan(x: Any, weights: Any) -> Any:
        return lax.scan(lambda value, weight: (jnp.tanh(value @ weight), None), x, weights)[0]

    def convolution(x: Any, kernel: Any) -> Any:
        return jax.nn.relu(lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))).mean((1, 2))

    def attention(x: Any, queries: Any, keys: Any, values: Any) -> Any:
        q, k, v = (jnp.einsum("btd,dhe->bhte", x, weight) for weight in (queries, keys, values))
        return jnp.einsum("bhts,bhse->bthe", jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0), v)

    def embedding(tokens: Any, table: Any, weight: Any) -> Any:
        return table[tokens].mean(1) @ weight

    return {
        "mlp": (mlp, [of(256, 128), of(128, 512), of(512, 128)], 1),
        "batch_norm": (batch_norm, [of(32, 16, 16, 64), of(64), of(64)], 1),
        "scan": (scan, [of(64, 128), of(6, 128, 128)], 1),
        "convolution": (convolution, [of(16, 32, 32, 16), of(3, 3, 16, 32)], 1),
        "attention": (attention, [of(8, 64, 128), of(128, 4, 32), of(128, 4, 32), of(128, 4, 32)], 1),
        "embedding": (embedding, [of(64, 32, dtype="int32"), of(1000, 64), of(64, 64)], 1),
        "sort": (lambda x: jnp.sort(x * 2, axis=1), [of(64, 1024)], 1),
        "cumsum": (lambda x: jnp.cumsum(x, axis=1) - x, [of(64, 1024)], 1),
        "reduce": (lambda x: (x.sum(0), x.max(1)), [of(512, 1024)], 1),
        "gather": (lambda x, rows: x[rows] * 2, [of(1024, 256), of(512, dtype="int32")], 1),
        "two_layer": (lambda x, up, down: jnp.tanh(x @ up) @ down, [of(8, 1024), of(1024, 4096), of(4096, 1024)], 1),
        "scan_gradient": (jax.grad(lambda weights, x: scan(x, weights).sum()), [of(5, 16, 16), of(6, 16)], 0),
        "slices": (lambda x: (x[:, :5] * 2, x[3:, :] * 3), [of(64, 40)], 1),
        "softmax": (lambda x: jax.nn.softmax(x, axis=-1), [of(128, 2048)], 1),
    }


def write(folder: str) -> None:
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec
    jax.config.update("jax_num_cpu_devices", 8)
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    whole = NamedSharding(mesh, PartitionSpec())
    for name, (function, arguments, batches) in programs().items():
        axes = {"whole": None, "batch": ("data", "model"), "data": ("data",)}
        given: dict[str, Any] = {kind: [NamedSharding(mesh, PartitionSpec(split))] * batches + [whole] * (len(arguments) - batches)
                                 for kind, split in axes.items()}
        for kind, shardings in ({"auto": None} | given).items():
            jitted = jax.jit(function) if shardings is None else jax.jit(function, in_shardings=shardings)
            with open(os.path.join(folder, f"{name}-{kind}.mlir"), "w") as file:
                file.write(jitted.lower(*arguments).as_text())


def write_elsewhere(folder: str) -> None:
    """Calls write() in a process of its own, whose JAX has 8 devices of jaxlib's client."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    environment = dict(os.environ, JAX_PLATFORMS="cpu", MILLRACE_JAX="0", PYTHONPATH=root)
    subprocess.run([sys.executable, os.path.realpath(__file__), folder], env=environment, check=True, timeout=300, cwd=root)


def compare(folder: str, name: str, machine: str) -> tuple[dict[str, Any], dict[str, float]]:
    """What `--simulate` says of the automatic plan, and the seconds of the others."""
    from benchmarks import auto_sharding

    def path(kind: str) -> str:
        return os.path.join(folder, f"{name}-{kind}.mlir")
    planned = auto_sharding.simulated(path("auto"), ["--auto-sharding", "--mesh=data=2,model=4", f"--machine={machine}"])[0]
    return planned, {kind: auto_sharding.simulated(path(kind), [f"--machine={machine}"])[0]["seconds"] for kind in PLANS}


def main(folder: str, *what: str) -> None:
    write(folder)
    if "table" not in what:
        return
    for machine in MACHINES:
        for name in NAMES:
            planned, others = compare(folder, name, machine)
            taken = next(each["name"] for each in planned["planned"]["candidates"] if each["taken"])
            best = min(others.values())
            print(f"{machine:8} {name:12}" + "".join(f" {kind} {1e6 * seconds:9.2f}" for kind, seconds in others.items()) +
                  f" auto {1e6 * planned['seconds']:9.2f} us  ratio {planned['seconds'] / best:.3f}  {taken}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
