# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model programs. `python -m benchmarks.model` writes each one's StableHLO text beside this file (--check compares)."""


def programs():
    from benchmarks.model import loops, resnet, training, transformer

    return [p for module in (resnet, transformer, loops, training) for p in module.PROGRAMS]
