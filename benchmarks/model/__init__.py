# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model programs. `python -m benchmarks.model` writes the StableHLO text of programs() beside this file (--check compares); that of
generated() is made when it is measured."""


def programs():
    from benchmarks.model import loops, resnet, training, transformer

    return [p for module in (resnet, transformer, loops, training) for p in module.PROGRAMS]


def generated():
    from benchmarks.model import language, others, transformer, vision

    return [p for module in (vision, language, others) for p in module.PROGRAMS] + transformer.LARGER
