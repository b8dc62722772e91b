# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytecode files for the fuzzer: bytecode_corpus.py FOLDER

The artifacts in JAX's own back-compatibility tests (2022 to today, format versions 0, 1 and 6), and bytecode that xla-opt
writes of our tests and benchmarks in every format version, and xla-translate as portable artifacts. Nothing of it is kept in this repository.
"""
import argparse
import glob
import importlib
import os
import pkgutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILD = os.path.realpath(os.environ.get("MILLRACE_BUILD") or os.path.join(ROOT, "build"))
OWN = ["benchmarks/model/*.mlir", "lit/dialects/stablehlo/*.mlir", "lit/dialects/chlo/*.mlir", "lit/lowering/linalg/*.mlir",
       "lit/passes/simplify/*quant*.mlir", "lit/dialects/sdy/*.mlir", "lit/passes/spmd/*.mlir"]
MAX_BYTES = 60000  # larger ones make the fuzzer slow without reaching more code


def jax_artifacts():
    try:
        import jax._src.internal_test_util.export_back_compat_test_data as data
    except ImportError:
        return

    def modules_in(value):
        if hasattr(value, "mlir_module_serialized"):
            yield value.mlir_module_serialized
        elif isinstance(value, dict) and "mlir_module_serialized" in value:
            yield value["mlir_module_serialized"]
        elif isinstance(value, (dict, list, tuple)):
            for item in value.values() if isinstance(value, dict) else value:
                yield from modules_in(item)

    for module in pkgutil.walk_packages(data.__path__, data.__name__ + "."):
        if module.ispkg:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if not name.startswith("__"):
                for i, artifact in enumerate(modules_in(value)):
                    yield f"jax-{module.name.rsplit('.', 1)[-1]}-{name}-{i}", artifact


def own_bytecode():
    opt = os.path.join(BUILD, "bin", "xla-opt")
    files = sorted(path for pattern in OWN for path in glob.glob(os.path.join(ROOT, pattern)) if "invalid" not in path)
    for i, path in enumerate(files):
        # Tests with several modules stand in one file; the first is enough.
        with open(path, encoding="utf-8") as file:
            text = file.read().split("// -----")[0]
        version = i % 7
        process = subprocess.run([opt, "--emit-bytecode", f"--emit-bytecode-version={version}", "-o", "-"], input=text.encode(),
                                 capture_output=True, check=False)
        if process.returncode == 0:
            yield f"own-v{version}-{os.path.relpath(path, ROOT).replace('/', '-')}", process.stdout


def own_artifacts():
    translate = os.path.join(BUILD, "bin", "xla-translate")
    files = sorted(path for pattern in OWN for path in glob.glob(os.path.join(ROOT, pattern)) if "invalid" not in path)
    for i, path in enumerate(files):
        with open(path, encoding="utf-8") as file:
            text = file.read().split("// -----")[0]
        version = ["0.9.0", "0.14.0", "1.0.0", "1.15.0", "current"][i % 5]
        process = subprocess.run([translate, "--serialize", f"--target={version}", "-o", "-"], input=text.encode(),
                                 capture_output=True, check=False)
        if process.returncode == 0:
            yield f"vhlo-{version}-{os.path.relpath(path, ROOT).replace('/', '-')}", process.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    for old in glob.glob(os.path.join(arguments.folder, "*.bc")):
        os.remove(old)
    sizes = []
    for source in (jax_artifacts(), own_bytecode(), own_artifacts()):
        for name, content in source:
            if len(content) <= MAX_BYTES:
                sizes.append(len(content))
                with open(os.path.join(arguments.folder, name + ".bc"), "wb") as file:
                    file.write(content)
    print(f"{len(sizes)} files, {sum(sizes)} bytes in {arguments.folder}")


if __name__ == "__main__":
    main()
