# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long programs of one to five operations take to compile, beside XLA:CPU: what JAX pays where it dispatches op by op.

  PYTHONPATH=build/python-site python -m benchmarks.tiny_programs [--only=NAMES] [--rounds=5] [--processor-time] [--worst=10]

In each round a process with the plug-in and one with jaxlib's own CPU client compile every program once, in turns, without any cache on
disk; what JAX traces and lowers before is not counted, nor is the first compilation of a process. Printed are the median milliseconds of each, their ratio (below 1: ours is faster), and over all programs the geometric
mean and the worst ratio. --processor-time counts the processor time of all threads instead, which a busy machine changes less.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any


def programs() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Name, function and example arguments (arrays of numpy) of each program."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    generator = np.random.default_rng(0)

    def array(*shape: int) -> np.ndarray:
        return generator.uniform(0.1, 0.9, shape).astype(np.float32)

    line, square, batch, image = array(8), array(256, 256), array(8, 64, 64), array(1, 16, 16, 8)
    counts, wide = generator.integers(1, 7, 8).astype(np.int32), array(64, 1024)
    for name in ("abs", "negative", "exp", "exp2", "expm1", "log", "log1p", "log2", "sqrt", "cbrt", "square", "sign", "sin", "cos", "tan",
                 "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arctanh", "floor", "ceil", "rint", "trunc", "isnan",
                 "isfinite", "reciprocal", "sinc", "deg2rad"):
        yield name, getattr(jnp, name), (line,)
    for name in ("erf", "erfc", "lgamma", "digamma", "rsqrt", "logistic"):
        yield f"lax.{name}", getattr(lax, name), (line,)
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "arctan2", "hypot", "fmod", "remainder",
                 "logaddexp", "nextafter", "equal", "less", "copysign"):
        yield name, getattr(jnp, name), (line, line)
    for name in ("add", "multiply", "floor_divide", "remainder", "bitwise_and", "bitwise_xor", "left_shift", "right_shift", "gcd"):
        yield f"{name} i32", getattr(jnp, name), (counts, counts)
    for name in ("invert", "abs", "sum", "cumsum", "sort", "argmax", "unique"):
        if name != "unique":  # its size is known to a run only
            yield f"{name} i32", getattr(jnp, name), (counts,)
    for name in ("sum", "prod", "max", "min", "mean", "std", "var", "argmax", "argmin", "any", "all", "median", "ptp", "count_nonzero"):
        yield f"{name} 256x256", getattr(jnp, name), (square,)
    for name in ("sum", "max", "mean", "argmax", "cumsum", "cumprod", "sort", "argsort"):
        yield f"{name} of rows", lambda x, name=name: getattr(jnp, name)(x, axis=1), (wide,)
        yield f"{name} of columns", lambda x, name=name: getattr(jnp, name)(x, axis=0), (wide,)
    yield "softmax", jax.nn.softmax, (wide,)
    yield "log_softmax", jax.nn.log_softmax, (wide,)
    yield "logsumexp", lambda x: jax.nn.logsumexp(x, axis=1), (wide,)
    yield "normalized rows", lambda x: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5), (wide,)
    for name in ("relu", "gelu", "silu", "sigmoid", "softplus", "elu"):
        yield name, getattr(jax.nn, name), (line,)
    yield "product 8x8", jnp.matmul, (array(8, 8), array(8, 8))
    yield "product 256x256", jnp.matmul, (square, square)
    yield "product of a vector", jnp.matmul, (square, array(256))
    yield "inner product", jnp.dot, (array(256), array(256))
    yield "outer product", jnp.outer, (array(256), array(256))
    yield "product of batches", jnp.matmul, (batch, batch)
    yield "product, transposed", lambda x, y: x.T @ y, (square, square)
    yield "product and bias", lambda x, y, b: jax.nn.relu(x @ y + b), (square, square, array(256))
    yield "product bf16", lambda x, y: (x.astype(jnp.bfloat16) @ y.astype(jnp.bfloat16)).astype(jnp.float32), (square, square)
    yield "einsum", lambda x, y: jnp.einsum("bij,bkj->bik", x, y), (batch, batch)
    yield "convolution", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), (
        image, array(3, 3, 8, 16))
    yield "max_pool", lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (image,)
    for name, function in (("transpose", jnp.transpose), ("flip", jnp.flip), ("ravel", jnp.ravel), ("tril", jnp.tril), ("trace", jnp.trace),
                           ("diagonal", jnp.diagonal), ("roll", lambda x: jnp.roll(x, 3, 1)), ("pad", lambda x: jnp.pad(x, 1)),
                           ("slice", lambda x: x[3:90, ::2]), ("tile", lambda x: jnp.tile(x, (2, 2))), ("squares", lambda x: x @ x.T),
                           ("clip", lambda x: jnp.clip(x, 0.2, 0.5)), ("to bf16", lambda x: x.astype(jnp.bfloat16)),
                           ("to i32", lambda x: x.astype(jnp.int32)), ("norm", jnp.linalg.norm), ("where", lambda x: jnp.where(x > 0.5, x, 0)),
                           ("top_k", lambda x: lax.top_k(x, 5)), ("cov", jnp.cov)):
        yield name, function, (square,)
    yield "concatenate", lambda x, y: jnp.concatenate([x, y]), (square, square)
    yield "stack", lambda x, y: jnp.stack([x, y]), (line, line)
    yield "iota", lambda: jnp.arange(100), ()
    yield "eye", lambda: jnp.eye(64), ()
    yield "one_hot", lambda x: jax.nn.one_hot(x, 10), (counts,)
    yield "take", lambda x, i: x[i], (square, counts)
    yield "take_along_axis", lambda x, i: jnp.take_along_axis(x, i[:, None], 1), (wide[:8], counts)
    yield "at.set", lambda x, i: x.at[i].set(0.0), (square, counts)
    yield "at.add", lambda x, i: x.at[i].add(1.0), (square, counts)
    yield "dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i[0], 0), (4, 256)), (square, counts)
    yield "segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 8), (line, counts)
    yield "searchsorted", jnp.searchsorted, (np.sort(array(256)), line)
    yield "histogram", lambda x: jnp.histogram(x, 10)[0], (array(256),)
    yield "interp", jnp.interp, (line, np.sort(array(16)), array(16))
    yield "fft", jnp.fft.fft, (array(64),)
    yield "uniform", lambda: jax.random.uniform(jax.random.key(0), (100,)), ()
    yield "normal", lambda: jax.random.normal(jax.random.key(0), (100,)), ()
    yield "cholesky", lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(16)), (array(16, 16),)
    yield "solve", lambda x, y: jnp.linalg.solve(x + jnp.eye(16), y), (array(16, 16), array(16))
    yield "loop", lambda x: lax.fori_loop(0, 10, lambda _, y: y * 1.5, x), (line,)
    yield "scan", lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x), (line,)
    yield "cond", lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), (line,)
    yield "gradient", jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)), (line,)


def worker(chosen: list[str]) -> None:
    """Compiles what it is told on standard input: a program's name, or `?` for all names; answers a line of JSON each."""
    import jax

    table = {name: (function, arguments) for name, function, arguments in programs() if not chosen or name in chosen}
    jax.jit(lambda x: x + 1)(1.0).block_until_ready()
    for line in sys.stdin:
        if line.strip() == "?":
            answer: Any = list(table)
        else:
            function, arguments = table[line.strip()]
            lowered = jax.jit(function).lower(*arguments)
            start, processor = time.perf_counter(), time.process_time()
            lowered.compile()
            answer = (1000 * (time.perf_counter() - start), 1000 * (time.process_time() - processor))
        print(json.dumps(answer), flush=True)


class Worker:
    """A process that compiles; `platform` says for whom."""

    def __init__(self, platform: str, chosen: list[str]):
        environment = dict(os.environ, MILLRACE_CACHE="off", JAX_ENABLE_COMPILATION_CACHE="0")
        environment |= {"ours": {"JAX_PLATFORMS": "cpu"}, "XLA:CPU": {"JAX_PLATFORMS": "cpu", "MILLRACE_JAX": "0"}}[platform]
        self.process = subprocess.Popen([sys.executable, "-m", "benchmarks.tiny_programs", "--worker", ",".join(chosen)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, line: str) -> Any:
        assert self.process.stdin and self.process.stdout
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process that compiles ended at {line!r}")
        return json.loads(answer)

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tiny_programs", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of programs, separated by commas; default all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processor-time", action="store_true", help="processor time of all threads instead of elapsed time")
    parser.add_argument("--worst", type=int, default=0, help="print only so many, the worst ratios")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        worker([name for name in arguments.worker.split(",") if name])
        return
    chosen = [name for name in arguments.only.split(",") if name]
    times: dict[str, dict[str, list[float]]] = {}
    for done in range(arguments.rounds):
        workers = {name: Worker(name, chosen) for name in ("ours", "XLA:CPU")}
        for name in workers["ours"].ask("?"):
            for platform, process in workers.items():
                times.setdefault(name, {}).setdefault(platform, []).append(process.ask(name)[arguments.processor_time])
        for process in workers.values():
            process.end()
        print(f"round {done + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
    rows = []
    for name, of in times.items():
        ours, peer = statistics.median(of["ours"]), statistics.median(of["XLA:CPU"])
        rows.append((ours / peer, name, ours, peer))
    shown = sorted(rows, reverse=True)[:arguments.worst] if arguments.worst else rows
    print(f"{'program':24}{'ours ms':>10}{'XLA:CPU ms':>12}{'ratio':>8}")
    for ratio, name, ours, peer in shown:
        print(f"{name:24}{ours:10.1f}{peer:12.1f}{ratio:8.2f}")
    mean = math.exp(statistics.fmean(math.log(row[0]) for row in rows))
    print(f"{len(rows)} programs: geometric mean {mean:.2f}, worst {max(rows)[0]:.2f} ({max(rows)[1]})")


if __name__ == "__main__":
    main()
