# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One peer measuring one program in a process of its own; scripts/bench drives several of them in turns.

Started as `python -m benchmarks.peers PEER THREADS`; answers every line on stdin by one with a JSON object. "open GROUP NAME FOLDER", where
FOLDER holds NAME.mlir and NAME.npz (the inputs): {"compile_s", "flags", "version"} after compiling and one warm-up run whose results went to
FOLDER/NAME.PEER.npz; "run COUNT": {"run_ms": [...]}; "memory": {"peak_mib", "base_mib"}. A failure is {"error": ...}. Where MILLRACE_BENCH_KEEP names a folder, what IREE and Inductor compiled is kept there for the next time.
"""
import contextlib
import ctypes
import gc
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import catalog, tools
from benchmarks import program as bench
from benchmarks.arguments import PEERS


class CannotRun(Exception):
    """Why this peer does not run this program, in a line."""


def given(program, folder):
    """(text, arguments with their types, types of the results)"""
    with open(os.path.join(folder, program.name + ".mlir")) as file:
        text = file.read()
    parameters, results = bench.signature(text)
    return text, bench.typed(tools.load_results(os.path.join(folder, program.name + ".npz")), parameters), results


def timed(call, count):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def peak_of_this_process():
    """Peak resident memory since the start or since forget_peak(), in MiB."""
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) / 1024


def forget_peak():
    """What compiling and preparing needed is given back; from here on the peak is that of running."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak_of(command):
    """Peak resident memory of `command` in MiB."""
    # A small process in between: a child's peak counts from its fork, when it still is a copy of this one.
    peak = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    process = subprocess.run([sys.executable, "-c", peak, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return round(int(process.stdout.split()[-1]) / 1024, 1)


class Jax:
    """The text compiled by jaxlib as JAX does it."""

    def __init__(self, program, folder, threads):
        import jax
        from jax._src import compiler
        from jax.interpreters import mlir
        from jaxlib import xla_client
        from jaxlib.cpu import _lapack
        from jaxlib.mlir import ir

        _lapack.initialize()  # JAX does it when it traces cholesky and the like; a text that calls them needs it, too
        jax.config.update("jax_enable_x64", True)  # else device_put makes small integers of large ones
        device = jax.devices("cpu")[0]
        text, arguments, _ = given(program, folder)
        self.inputs = [jax.device_put(a) for a in arguments]
        jax.block_until_ready(self.inputs)
        del arguments
        forget_peak()
        before = peak_of_this_process()
        self.base_mib = before - sum(a.nbytes for a in self.inputs) / 2**20
        start = time.perf_counter()
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
        self.executable = device.client.compile_and_load(module, xla_client.DeviceList((device,)),
                                                         compiler.get_compile_options(num_replicas=1, num_partitions=1))
        self.compile_s = time.perf_counter() - start
        del module
        self.jax = jax
        self.flags = {"XLA_FLAGS": os.environ.get("XLA_FLAGS", ""), "peak_compile_mib": round(peak_of_this_process() - before, 1)}
        self.version = f"jax {jax.__version__}"

    def call(self):
        return self.jax.block_until_ready(self.executable.execute_sharded(self.inputs).disassemble_into_single_device_arrays())

    def results(self):
        return [np.asarray(shards[0]) for shards in self.call()]

    def run(self, count):
        return timed(self.call, count)

    def memory(self):
        forget_peak()
        self.run(2)
        return peak_of_this_process()


class Iree:
    FLAGS = ["--iree-opt-level=O3", "--iree-opt-data-tiling", "--iree-llvmcpu-target-cpu=host"]

    def __init__(self, program, folder, threads):
        import iree.compiler
        import iree.compiler.version
        import iree.runtime

        self.base_mib = peak_of_this_process()
        text, arguments, self.types = given(program, folder)
        self.version = f"iree {iree.compiler.version.VERSION}"
        self.flags = {"compiler": self.FLAGS, "driver": "local-task"}
        start = time.perf_counter()
        binary = self.compile(iree.compiler, text)
        if "kept" not in self.flags:
            self.compile_s = time.perf_counter() - start
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        config = iree.runtime.Config("local-task")
        context = iree.runtime.SystemContext(config=config)
        context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, binary))
        module = next(m for n, m in context.modules.items() if n != "hal")
        self.main = module["main"]
        try:
            self.arguments, self.inputs = arguments, [iree.runtime.asdevicearray(config.device, a) for a in arguments]
        except KeyError as error:
            raise CannotRun(f"IREE's runtime has no arrays of NumPy's type {error}") from error

    def compile(self, compiler, text):
        """Machine code, compiled or from an earlier run: `compile_s` is measured only where it was compiled."""
        self.compile_s = None
        folder = os.environ.get("MILLRACE_BENCH_KEEP")
        key = hashlib.sha256("\n".join([text, self.version, *self.FLAGS]).encode()).hexdigest()[:24]
        path = os.path.join(folder, f"{key}.vmfb") if folder else None
        if path and os.path.exists(path):
            self.flags["kept"] = True
            with open(path, "rb") as file:
                return file.read()
        try:
            binary = compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=self.FLAGS)
        except compiler.CompilerToolError as error:
            lines = [line for line in str(error).splitlines() if "error:" in line]
            raise CannotRun("IREE does not compile it: " + (lines[0].split("error:")[1].strip() if lines else str(error))[:200]) from error
        if path:
            with open(path + ".new", "wb") as file:
                file.write(binary)
            os.rename(path + ".new", path)
        return binary

    def call(self):
        out = self.main(*self.inputs)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    def results(self):
        results = [np.asarray(r.to_host()) for r in self.call()]
        changed = bench.changed(self.arguments, [np.asarray(x.to_host()) for x in self.inputs])
        if changed is not None:  # an update in place that nobody asked for: its time is not that of the program
            raise CannotRun(f"IREE overwrites argument {changed} of the program")
        return bench.typed(results, self.types)

    def run(self, count):
        return timed(self.call, count)  # the synchronous call: it returns after the fence has been reached

    def memory(self):
        return peak_of_this_process()


def to_torch(array):
    import torch

    array = np.ascontiguousarray(array).reshape(np.shape(array))  # the first makes a vector of a scalar
    return torch.tensor(array.view(np.int16)).view(torch.bfloat16) if array.dtype.name == "bfloat16" else torch.tensor(array)


class Torch:
    inductor = False

    def __init__(self, program, folder, threads):
        if program.torch_function is None and program.torch_program is None:
            raise CannotRun("no PyTorch version of this program")
        import torch
        from torch.utils import _pytree

        if self.inductor:
            torch._dynamo.reset()
        self.base_mib = peak_of_this_process()
        torch.set_num_threads(threads)
        self.compile_s = 0.0
        self.version = f"torch {torch.__version__}"
        self.flags = {"mode": "inductor" if self.inductor else "eager"}
        compiled = torch.compile if self.inductor else lambda f: f
        if program.torch_program is not None:
            self.guard, self.call = contextlib.nullcontext, program.torch_program().start(compiled)
        else:
            self.guard = contextlib.nullcontext if self.needs_grad(program) else torch.no_grad
            inputs = _pytree.tree_map(to_torch, program.inputs(0))
            function = compiled(program.torch_function)
            self.call = lambda: function(*inputs)
        start = time.perf_counter()
        with self.guard():
            self.first = self.numbers(self.call())  # steps of training change their state: the first one's results count
        if self.inductor:
            self.compile_s = time.perf_counter() - start
            if "MILLRACE_BENCH_KEEP" in os.environ:
                self.compile_s, self.flags["kept"] = None, True

    @staticmethod
    def needs_grad(program):
        return "adam" in program.name or "train" in program.name

    @staticmethod
    def numbers(results):
        found = [r.detach().resolve_conj() for r in bench.flatten(results)]
        return [(r.float() if r.element_size() == 2 and r.is_floating_point() else r).numpy().copy() for r in found]

    def results(self):
        return self.first

    def run(self, count):
        with self.guard():
            return timed(self.call, count)

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
        with open(self.path) as file:
            self.types = bench.signature(file.read())[1]
        start = time.perf_counter()
        self.first = self.call("--repeat=1", "--time", "--quiet", f"--out={self.target}")
        wall = time.perf_counter() - start
        second = self.call("--repeat=1", "--time", "--quiet", "--stats")
        # From the text to an executable, as the other peers count it.
        self.compile_s, self.compile_warm_s = (float(re.search(r"^ready: ([\d.]+) ms", text, re.M).group(1)) / 1e3 for text in (self.first, second))
        self.flags = {"wall_first_s": round(wall, 3), "peak_compile_mib": self.peak_of_compiling(), "bytes": self.planned(second)}
        self.version = "millrace " + subprocess.run([tools.tool("xla-run"), "--version"], capture_output=True,
                                                    text=True).stdout.strip().split("\n")[0]

    @staticmethod
    def planned(text):
        """Bytes of arguments, outputs, temporaries (the arena), constants, ..., as --stats prints them."""
        return {what: int(number) for number, what in re.findall(r"^ +(\d+)  (\w[\w ]*)", text, re.M)}

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
        return bench.typed(tools.load_results(self.target), self.types)

    def run(self, count):
        text = self.call(f"--repeat={count + 2}", "--time", "--quiet")
        times = [float(value) for value in re.findall(r"^run \d+: ([\d.]+) ms", text, re.M)]
        if len(times) != count + 2:
            raise RuntimeError(f"xla-run: expects {count + 2} lines 'run K: X ms', but got {len(times)}")
        return times[2:]  # every call starts a process: its first two runs warm up what the other peers keep warm


CLASSES = dict(zip(PEERS, (Millrace, Jax, Iree, Torch, Inductor), strict=True))


def open_program(peer, group, name, folder, threads):
    """(subject, answer): compiled, run once, its results in a file; (None, {"error": ...}) if that did not work."""
    try:
        subject = CLASSES[peer](catalog.find(group, name), folder, threads)
        np.savez(os.path.join(folder, f"{name}.{peer}.npz"), **{f"out{i}": bench.comparable(r) for i, r in enumerate(subject.results())})
        return subject, {"compile_s": subject.compile_s, "compile_warm_s": getattr(subject, "compile_warm_s", None), "flags": subject.flags,
                         "version": subject.version}
    except CannotRun as reason:
        return None, {"error": str(reason)}
    except Exception as error:
        if os.environ.get("MILLRACE_BENCH_STDERR"):
            raise
        return None, {"error": f"{type(error).__name__}: {str(error)[:600]}"}


def main():
    peer, threads = sys.argv[1], int(sys.argv[2])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # XLA:CPU has no flag for its threads: it counts the cores
    out = os.fdopen(os.dup(1), "w")  # what libraries print must not mix with the answers
    os.dup2(2, 1)
    subject = None
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "open":
            del subject  # its memory goes before the next one's comes
            gc.collect()
            subject, value = open_program(peer, *rest, threads)
        else:
            try:
                value = {"run_ms": subject.run(int(rest[0]))} if word == "run" else {"peak_mib": subject.memory(), "base_mib": subject.base_mib}
            except Exception as error:
                value = {"error": f"{type(error).__name__}: {str(error)[:600]}"}
        out.write(json.dumps(value) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
