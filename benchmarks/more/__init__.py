# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs beside those of `op` and `model`: other operations, sizes, types, networks. What the first two lists were tuned for must hold here, too."""


def programs():
    from benchmarks.more import elements, learning, movement, networks, products, reductions, steps

    return [program for module in (products, reductions, elements, movement, steps, networks, learning) for program in module.programs()]
