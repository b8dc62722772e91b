# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls our tools from tests, the demo and scripts/bench: arrays in and out through .npz files."""
import os
import subprocess
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
BUILD = os.path.realpath(os.environ.get("MILLRACE_BUILD") or os.path.join(ROOT, "build"))


def tool(name):
    """Path of an executable of ours; those for tests alone are in no wheel, they come from the build tree."""
    path = os.path.join(BUILD, "bin", name)
    return path if os.path.exists(path) else os.path.join(ROOT, "build", "bin", name)


def levels():
    """The levels of x86-64 whose instructions this machine has, as names of targets."""
    with open("/proc/cpuinfo") as info:
        flags = set(next((line for line in info if line.startswith("flags")), "").split())
    return ["x86-64"] + ["x86-64-v3"] * ("avx2" in flags) + ["x86-64-v4"] * ("avx512f" in flags)


def save_arguments(path, arrays):
    """arg0, arg1, ...: xla-run takes them in this order. bfloat16 and other ml_dtypes travel as raw bytes of their size."""
    np.savez(path, **{f"arg{index}": np.asarray(array) for index, array in enumerate(arrays)})


def load_results(path):
    """The results in order, whatever names the archive gives them (out0, out1, ...)."""
    if path.endswith(".npy"):
        return [np.load(path)]
    with np.load(path) as archive:
        names = sorted(archive.files, key=lambda n: int("".join(c for c in n if c.isdigit()) or 0))
        return [archive[name] for name in names]


def run_file(path, arrays, *flags, timeout=300, environment=None, check=True):
    """Runs `path` (StableHLO text or .mr) on `arrays`; returns (results, completed process).

    Raises AssertionError with the tool's message if it fails and `check` is set.
    """
    with tempfile.TemporaryDirectory(prefix="millrace-") as folder:
        source, target = os.path.join(folder, "args.npz"), os.path.join(folder, "out.npz")
        command = [tool("xla-run"), path, f"--out={target}", *flags]
        if arrays is not None:
            save_arguments(source, arrays)
            command.append(f"--args={source}")
        process = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                                 env=dict(os.environ, **(environment or {})))
        if process.returncode != 0:
            assert not check, f"{' '.join(command)}\nexit status {process.returncode}\n{process.stderr[-4000:]}"
            return None, process
        return load_results(target), process
