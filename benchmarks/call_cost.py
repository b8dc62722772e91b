# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one call of a compiled program costs beyond its kernels, for PyTorch (torch.compile and lazy tensors) and JAX.

    PYTHONPATH=build/python-site:. python -m benchmarks.call_cost [--only compile,unguarded,lazy,jax,jaxlib] [--names TEXT] [--rounds 15]
                                                                  [--threads 1] [--processor-time] [--json FILE]

Every row runs in a process of its own; the processes take turns, and every figure is the median of the turns, in microseconds per call.
With --processor-time they are processor time of all threads, which a busy machine changes less; `program` and `kernels` stay elapsed time.

`compile`: torch.compile(backend="openxla") in torch.no_grad(); each call waits for its result. `dynamo` is what PyTorch does before and after it
calls us (guards, bytecode, AOTAutograd), `ours` what happens in our call until the result is there. `program` and `kernels` are the time of the
program and that of its kernels, elapsed, from a recording of the same process (docs/guide/profiling.md); `cost` is all but the program, where the
machine was quiet enough for a recording that says less than the calls.
`unguarded`: the same where Dynamo is told to trust modules (torch.compiler.skip_guard_on_all_nn_modules_unsafe).
`lazy`: a training step: `record` until its barrier, `barrier`, and `wait` for its end.
`jax`: jax.jit of a function with 1, 50 and 200 arguments, each call waited for, through the plug-in; `jaxlib`: through
jaxlib's own CPU client.
"""
import argparse
import glob
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CALLS = 100  # per turn
RECORDED = 30  # calls that are recorded for the kernels' time

Timed = dict[str, float]
CLOCKS: dict[str, Callable[[], float]] = {"elapsed": time.perf_counter, "processor": time.process_time}


def recorded(run: Callable[[], None]) -> Timed:
    """Microseconds of one call that the program takes, and its kernels alone, by the profiler: the least of all calls, because other
    processes can only add to it."""
    import torch_xla.debug.profiler as xp
    with tempfile.TemporaryDirectory() as folder:
        xp.start_trace(folder)
        for _ in range(RECORDED):
            run()
        xp.stop_trace()
        trace, = glob.glob(os.path.join(folder, "plugins/profile/*/*.trace.json.gz"))
        with gzip.open(trace) as file:
            events = json.load(file)["traceEvents"]
    sums: dict[str, dict[int, float]] = {"program": {}, "kernels": {}}
    for event in events:
        details = event.get("args", {})
        if event["ph"] == "X" and "run_id" in details and event["name"] != "PjRtComputationClient::ExecuteComputation":
            kind = sums["kernels" if "hlo_category" in details else "program"]
            kind[details["run_id"]] = kind.get(details["run_id"], 0.0) + event["dur"]
    return {kind: min(found.values()) for kind, found in sums.items()}


def networks() -> dict[str, Callable[[], tuple[Any, Any]]]:
    """By name, what makes a network and its input."""
    import torch

    class Chain(torch.nn.Module):
        """Small layers, each with two parameters."""

        def __init__(self, layers: int, width: int = 16) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(layers))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = torch.relu(layer(x))
            return x

    def mobilenet(name: str, size: int) -> tuple[Any, Any]:
        import torchvision
        return getattr(torchvision.models, name)(), torch.rand(1, 3, size, size)

    return {"mlp, 4 parameters": lambda: (Chain(2), torch.rand(4, 16)),
            "chain, 200 parameters": lambda: (Chain(100), torch.rand(4, 16)),
            "mobilenet_v3_small 64x64": lambda: mobilenet("mobilenet_v3_small", 64),
            "mobilenet_v3_large 224x224": lambda: mobilenet("mobilenet_v3_large", 224)}


def compiled(name: str, clock: Callable[[], float], guards: Callable[[Any], list[bool]] | None = None) -> tuple[Callable[[], Timed], dict[str, float]]:
    import torch
    import torch_xla
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from torch_xla._dynamo.dynamo_bridge import extract_compiled_graph

    inside = [0.0]

    def compiler(graph: Any, _: Any) -> Any:
        """As PyTorch's own backend `openxla`, with a clock around our call."""
        known = None

        def call(*args: Any) -> Any:
            nonlocal known
            start = clock()
            if known is None:
                known = extract_compiled_graph(graph, args)
            made = known(*args)
            inside[0] += clock() - start
            return made
        return make_boxed_func(call)

    import torch_xla.core.xla_model as xm
    torch.manual_seed(0)
    model, x = networks()[name]()
    model, x = model.eval().to("xla"), x.to("xla")
    torch_xla.sync()
    options = {"guard_filter_fn": guards} if guards else None
    function = torch.compile(model, backend=aot_autograd(fw_compiler=compiler), options=options)

    def run() -> None:
        function(x)
        xm.wait_device_ops()

    def turn() -> Timed:
        waited = inside[0] = 0.0
        start = clock()
        for _ in range(CALLS):
            function(x)
            before = clock()
            xm.wait_device_ops()
            waited += clock() - before
        total = clock() - start
        scale = 1e6 / CALLS
        return {"total": total * scale, "ours": (inside[0] + waited) * scale, "dynamo": (total - inside[0] - waited) * scale}
    grad = torch.no_grad()
    grad.__enter__()
    for _ in range(20):
        run()
    return turn, recorded(run)


def unguarded(name: str, clock: Callable[[], float]) -> tuple[Callable[[], Timed], dict[str, float]]:
    import torch
    return compiled(name, clock, torch.compiler.skip_guard_on_all_nn_modules_unsafe)


def lazy(name: str, clock: Callable[[], float]) -> tuple[Callable[[], Timed], dict[str, float]]:
    import torch
    import torch_xla
    import torch_xla.core.xla_model as xm

    torch.manual_seed(0)
    model, x = networks()[name]()
    model, x = model.to("xla"), x.to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def record() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    def run() -> None:
        record()
        torch_xla.sync()
        xm.wait_device_ops()

    def turn() -> Timed:
        times = [0.0, 0.0, 0.0]
        for _ in range(CALLS // 5):
            stamps = [clock()]
            record()
            stamps.append(clock())
            torch_xla.sync()
            stamps.append(clock())
            xm.wait_device_ops()
            stamps.append(clock())
            for i in range(3):
                times[i] += stamps[i + 1] - stamps[i]
        scale = 1e6 / (CALLS // 5)
        return {"total": sum(times) * scale, "record": times[0] * scale, "barrier": times[1] * scale, "wait": times[2] * scale}
    for _ in range(5):
        run()
    return turn, recorded(run)


def jitted(count: str, clock: Callable[[], float]) -> tuple[Callable[[], Timed], dict[str, float]]:
    import jax
    import jax.numpy as jnp

    arguments = [jnp.full((8, 8), 1.0 + i) for i in range(int(count))]

    @jax.jit
    def function(*values: Any) -> Any:
        return sum(values[1:], values[0]) * 2

    for _ in range(20):
        function(*arguments).block_until_ready()

    def turn() -> Timed:
        start = clock()
        for _ in range(CALLS):
            function(*arguments).block_until_ready()
        return {"total": (clock() - start) * 1e6 / CALLS}
    return turn, {}


KINDS = {"compile": compiled, "unguarded": unguarded, "lazy": lazy, "jax": jitted, "jaxlib": jitted}
NETWORKS = ["mlp, 4 parameters", "chain, 200 parameters", "mobilenet_v3_small 64x64", "mobilenet_v3_large 224x224"]
ROWS = {"compile": NETWORKS, "unguarded": NETWORKS, "lazy": NETWORKS[:2], "jax": ["1", "50", "200"], "jaxlib": ["1", "50", "200"]}


def child(kind: str, name: str, threads: int, clock: str) -> None:
    """Answers every line of the standard input with the times of one turn; the first answer is what does not change."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value: Any) -> None:
        print(json.dumps(value), file=out, flush=True)
    try:
        if not kind.startswith("jax"):
            import torch
            torch.set_num_threads(threads)
        turn, fixed = KINDS[kind](name, CLOCKS[clock])
        answer(fixed)
        for _ in sys.stdin:
            answer(turn())
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {str(error)[:300]}"})
        raise


class Child:
    """A row in a process of its own."""

    def __init__(self, kind: str, name: str, threads: int, clock: str) -> None:
        self.kind, self.name = kind, name
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MILLRACE_NUM_THREADS=str(threads), PJRT_DEVICE="CPU", JAX_PLATFORMS="cpu")
        if kind == "jaxlib":
            environment["MILLRACE_JAX"] = "0"
        self.process = subprocess.Popen([sys.executable, "-m", "benchmarks.call_cost", "--child", kind, name, str(threads), clock], cwd=ROOT, text=True,
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=None if os.environ.get("MILLRACE_BENCH_STDERR") else subprocess.DEVNULL)
        self.turns: list[Timed] = []
        self.fixed = self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"the process ended, status {self.process.wait()}"}

    def turn(self) -> None:
        if "error" in self.fixed:
            return
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        times = self.read()
        if "error" in times:
            self.fixed = times
        else:
            self.turns.append(times)

    def close(self) -> dict[str, Any]:
        """The row: medians of the turns."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(60)
        row = dict(self.fixed, kind=self.kind, name=self.name)
        if self.turns:
            row |= {key: statistics.median(turn[key] for turn in self.turns) for key in self.turns[0]}
        if "ours" in row and row["program"] <= row["ours"]:  # else the machine was too busy for the recording
            row["cost"] = row["total"] - row["program"]
        return row


OF_COMPILE = ["total", "dynamo", "ours", "program", "kernels", "cost"]
COLUMNS = {"compile": OF_COMPILE, "unguarded": OF_COMPILE, "lazy": ["total", "record", "barrier", "wait", "program", "kernels"],
           "jax": ["total"], "jaxlib": ["total"]}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown, a table per kind."""
    lines: list[str] = []
    for kind, names in COLUMNS.items():
        chosen = [row for row in rows if row["kind"] == kind]
        if chosen:
            lines += [f"| {kind}, us per call | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
            lines += [f"| {row['name']} | {row['error']} |" if "error" in row else
                      f"| {row['name']} | {' | '.join(f'{row[key]:.1f}' if key in row else '-' for key in names)} |" for row in chosen]
            lines.append("")
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="compile,unguarded,lazy,jax,jaxlib", help="kinds of rows")
    parser.add_argument("--names", default="", help="rows whose name contains this")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processor-time", action="store_true", help="of all threads, instead of elapsed time")
    parser.add_argument("--json", help="also write the rows into this file")
    arguments = parser.parse_args()
    clock = "processor" if arguments.processor_time else "elapsed"
    children = [Child(kind, name, arguments.threads, clock) for kind in arguments.only.split(",") for name in ROWS[kind] if arguments.names in name]
    for _ in range(arguments.rounds):
        for each in children:
            each.turn()
    rows = [each.close() for each in children]
    print(f"{arguments.threads} threads, {clock} time, medians of {arguments.rounds} turns of {CALLS} calls, load {os.getloadavg()[0]:.1f}\n")
    print(table(rows))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
