# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One peer measuring one program in a process of its own; scripts/bench drives several of them in turns.

Started as `python -m benchmarks.peers PEER GROUP NAME FOLDER THREADS`; FOLDER holds NAME.mlir and NAME.npz (the inputs).
Prints one JSON object per line: first {"compile_s", "flags", "version"} after compiling and one warm-up run whose results
went to FOLDER/NAME.PEER.npz, then for every line "run COUNT" on stdin {"run_ms": [...]}, for "memory" {"peak_mib", "base_mib"}. A
failure is {"error": ...}.
"""
import contextlib
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import program as bench
from benchmarks import tools


def find(group, name):
    if group == "model":
        from benchmarks.model import programs
    else:
        from benchmarks.op import programs
    return next(p for p in programs() if p.name == name)


def timed(call, count):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def peak_of_this_process():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak_of(command):
    """Peak resident memory of `command` in MiB."""
    # A small process in between: a child's peak counts from its fork, when it still is a copy of this one.
    peak = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    process = subprocess.run([sys.executable, "-c", peak, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return round(int(process.stdout.split()[-1]) / 1024, 1)


class Jax:
    def __init__(self, program, folder, threads):
        import jax

        self.base_mib = peak_of_this_process()
        self.jax, inputs = jax, program.inputs(0)
        lowered = jax.jit(program.function, keep_unused=True).lower(*inputs)
        start = time.perf_counter()
        self.compiled = lowered.compile()
        self.compile_s = time.perf_counter() - start
        self.inputs = jax.device_put(inputs)
        self.flags = {"XLA_FLAGS": os.environ.get("XLA_FLAGS", "")}
        self.version = f"jax {jax.__version__}"

    def results(self):
        return [np.asarray(r) for r in self.jax.tree_util.tree_leaves(self.compiled(*self.inputs))]

    def run(self, count):
        return timed(lambda: self.jax.block_until_ready(self.compiled(*self.inputs)), count)

    def memory(self):
        return peak_of_this_process()


class Iree:
    FLAGS = ["--iree-opt-level=O3", "--iree-opt-data-tiling", "--iree-llvmcpu-target-cpu=host"]

    def __init__(self, program, folder, threads):
        import iree.compiler
        import iree.runtime

        self.base_mib = peak_of_this_process()
        with open(os.path.join(folder, program.name + ".mlir")) as file:
            text = file.read()
        start = time.perf_counter()
        binary = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=self.FLAGS)
        self.compile_s = time.perf_counter() - start
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        config = iree.runtime.Config("local-task")
        context = iree.runtime.SystemContext(config=config)
        context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, binary))
        module = next(m for n, m in context.modules.items() if n != "hal")
        self.main = module["main"]
        self.inputs = [iree.runtime.asdevicearray(config.device, np.asarray(a)) for a in bench.flatten(program.inputs(0))]
        self.flags = {"compiler": self.FLAGS, "driver": "local-task"}
        self.version = f"iree {iree.compiler.version.VERSION}" if hasattr(iree.compiler, "version") else "iree"

    def call(self):
        out = self.main(*self.inputs)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    def results(self):
        return [np.asarray(r.to_host()) for r in self.call()]

    def run(self, count):
        return timed(self.call, count)  # the synchronous call: it returns after the fence has been reached

    def memory(self):
        return peak_of_this_process()


class Torch:
    inductor = False

    def __init__(self, program, folder, threads):
        if program.torch_function is None:
            raise NotImplementedError("no torch version of this program")
        import torch
        from torch.utils import _pytree

        self.base_mib = peak_of_this_process()
        torch.set_num_threads(threads)
        self.torch, self.function = torch, program.torch_function
        self.inputs = _pytree.tree_map(lambda a: torch.tensor(np.asarray(a)), program.inputs(0))
        self.compile_s = 0.0
        self.version = f"torch {torch.__version__}"
        self.flags = {"mode": "eager"}
        if self.inductor:
            self.function = torch.compile(program.torch_function, fullgraph=False)
            start = time.perf_counter()
            with torch.no_grad() if not self.needs_grad(program) else contextlib.nullcontext():
                self.function(*self.inputs)
            self.compile_s = time.perf_counter() - start
            self.flags = {"mode": "inductor"}
        self.guard = contextlib.nullcontext if self.needs_grad(program) else torch.no_grad

    @staticmethod
    def needs_grad(program):
        return "adam" in program.name or "train" in program.name

    def results(self):
        with self.guard():
            return [np.asarray(r.detach()) for r in bench.flatten(self.function(*self.inputs))]

    def run(self, count):
        with self.guard():
            return timed(lambda: self.function(*self.inputs), count)

    def memory(self):
        return peak_of_this_process()


class Inductor(Torch):
    inductor = True


class Millrace:
    """xla-run in a child process; the times are the ones it measures itself. Compiled once, later calls load from the cache."""

    def __init__(self, program, folder, threads):
        self.base_mib = peak_of([tools.tool("xla-run"), "--version"])
        self.path = os.path.join(folder, program.name + ".mlir")
        self.arguments = os.path.join(folder, program.name + ".npz")
        self.cache = tempfile.mkdtemp(prefix="millrace-bench-", dir=folder)
        self.target = os.path.join(folder, "millrace-out.npz")
        self.environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MILLRACE_CACHE="rw")
        start = time.perf_counter()
        self.first = self.call("--repeat=1", "--time", "--quiet", f"--out={self.target}")
        wall = time.perf_counter() - start
        total = re.search(r"([\d.]+)\s+total", self.first)
        self.compile_s = float(total.group(1)) / 1e3 if total else wall
        second = self.call("--repeat=1", "--time", "--quiet")
        self.compile_warm_s = sum(float(re.search(pattern, second).group(1)) for pattern in (r"([\d.]+)\s+total", r"load: ([\d.]+) ms")) / 1e3
        self.flags = {"wall_first_s": round(wall, 3), "peak_compile_mib": self.peak_of_compiling()}
        self.version = "millrace " + subprocess.run([tools.tool("xla-run"), "--version"], capture_output=True,
                                                    text=True).stdout.strip().split("\n")[0]

    def peak_of_compiling(self):
        """Peak resident memory of xla-compile in MiB, weights not loaded."""
        return peak_of([tools.tool("xla-compile"), self.path, "--cache-dir=off", "-o", self.target + ".mr"])

    def memory(self):
        return peak_of([tools.tool("xla-run"), self.path, f"--args={self.arguments}", f"--cache-dir={self.cache}", "--repeat=2", "--quiet"])

    def call(self, *flags):
        process = subprocess.run([tools.tool("xla-run"), self.path, f"--args={self.arguments}", f"--cache-dir={self.cache}", *flags],
                                 capture_output=True, text=True, env=self.environment, timeout=900)
        if process.returncode:
            raise RuntimeError(f"xla-run: exit status {process.returncode}: {process.stderr.strip()[-500:]}")
        return process.stdout + process.stderr

    def results(self):
        return tools.load_results(self.target)

    def run(self, count):
        text = self.call(f"--repeat={count + 2}", "--time", "--quiet")
        times = [float(value) for value in re.findall(r"^run \d+: ([\d.]+) ms", text, re.M)]
        if len(times) != count + 2:
            raise RuntimeError(f"xla-run: expects {count + 2} lines 'run K: X ms', but got {len(times)}")
        return times[2:]  # every call starts a process: its first two runs warm up what the other peers keep warm


PEERS = {"millrace": Millrace, "xla_cpu": Jax, "iree": Iree, "torch_eager": Torch, "inductor": Inductor}


def main():
    peer, group, name, folder, threads = sys.argv[1:6]
    program = find(group, name)
    out, sys.stdout = sys.stdout, io.StringIO()  # what libraries print must not mix with the answers

    def answer(value):
        out.write(json.dumps(value) + "\n")
        out.flush()

    try:
        subject = PEERS[peer](program, folder, int(threads))
        results = subject.results()
        np.savez(os.path.join(folder, f"{name}.{peer}.npz"), **{f"out{i}": r for i, r in enumerate(results)})
        answer({"compile_s": subject.compile_s, "compile_warm_s": getattr(subject, "compile_warm_s", None), "flags": subject.flags,
                "version": subject.version})
        for line in sys.stdin:
            if line.startswith("memory"):
                answer({"peak_mib": subject.memory(), "base_mib": subject.base_mib})
            else:
                answer({"run_ms": subject.run(int(line.split()[1]))})
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {str(error)[:600]}"})


if __name__ == "__main__":
    main()
