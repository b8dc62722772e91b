# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portable artifacts and where to find some: ours, jaxlib's, those that JAX keeps to test its own compatibility."""
import concurrent.futures
import dataclasses
import importlib
import os
import pkgutil
import re
import subprocess

import numpy as np

from benchmarks import tools

LIT = os.path.join(tools.ROOT, "lit")
CONFORMANCE = os.path.join(tools.ROOT, "test", "conformance", "programs")


def translate(*flags, code):
    """xla-translate on `code` (text or bytes); returns the completed process, output as bytes."""
    return subprocess.run([tools.tool("xla-translate"), *flags, "-"], input=code if isinstance(code, bytes) else code.encode(),
                          capture_output=True, timeout=120)


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def text_programs(folder):
    """{name: text} of the valid programs in a folder; files with several programs or functions give several: what one
    function needs of a version says nothing about the others. (A function that needs another is no program alone.)"""
    programs = {}
    for name in sorted(n for n in os.listdir(folder) if n.endswith(".mlir") and "invalid" not in n):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for number, piece in enumerate(re.split(r"^// -----.*$", file.read(), flags=re.M)):
                programs[f"{os.path.basename(folder)}/{name}#{number}"] = piece
                functions = re.split(r"^(?=func\.func)", piece, flags=re.M)[1:]
                if len(functions) > 1:
                    programs.update({f"{os.path.basename(folder)}/{name}#{number}.{i}": f for i, f in enumerate(functions)})
    return programs


@dataclasses.dataclass
class BackCompat:
    """An artifact that some version of JAX exported, with what it computed."""
    platform: str
    artifact: bytes
    inputs: tuple
    outputs: tuple
    targets: list


def back_compat_modules():
    """{name: BackCompat} of everything in JAX's own compatibility tests."""
    from jax._src.internal_test_util import export_back_compat_test_data as data

    found = {}

    def collect(name, value):
        if isinstance(value, dict) and "mlir_module_serialized" in value:
            found[name] = BackCompat(value["platform"], value["mlir_module_serialized"], value["inputs"],
                                     value["expected_outputs"], value["custom_call_targets"])
        elif isinstance(value, dict):
            for key, part in value.items():
                collect(f"{name}_{key}", part)
        elif isinstance(value, (list, tuple)):
            for number, part in enumerate(value):
                collect(f"{name}_{number}", part)

    def visit(package):
        for module in pkgutil.iter_modules(package.__path__):
            imported = importlib.import_module(f"{package.__name__}.{module.name}")
            if module.ispkg:
                visit(imported)
                continue
            for name, value in vars(imported).items():
                if not name.startswith("__"):
                    collect(f"{module.name}/{name}", value)

    visit(data)
    return found


def run(artifact, inputs, tmp_path, name):
    """Compiles and runs the artifact; returns (results, message)."""
    path = os.path.join(tmp_path, name.replace("/", "_") + ".bc")
    with open(path, "wb") as file:
        file.write(artifact)
    results, process = tools.run_file(path, [np.asarray(x) for x in inputs], "--cache-dir=off", "--quiet", check=False)
    return results, process.stderr
