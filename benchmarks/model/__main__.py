# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports every model program with JAX to benchmarks/model/NAME.mlir; --check only says which file is not current."""
import sys

from benchmarks import program
from benchmarks.model import programs


def main():
    stale = 0
    for item in programs():
        text = program.export_text(item)
        path = program.model_path(item)
        try:
            with open(path) as file:
                current = file.read() == text
        except FileNotFoundError:
            current = False
        if current:
            continue
        if "--check" in sys.argv:
            stale += 1
            print(f"{path} is not what JAX exports: python -m benchmarks.model")
        else:
            with open(path, "w") as file:
                file.write(text)
            print(f"{path}: {len(text)} bytes, {text.count('stablehlo.')} operations")
    return 1 if stale else 0


sys.exit(main())
