# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operation, or one fusion, per program; shapes and dtype are in the name. Exported by JAX when measured."""


def programs():
    from benchmarks.op import contraction, convolution, linear_algebra, loops, movement, ordering, pointwise, rows, training

    modules = (contraction, convolution, rows, pointwise, movement, ordering, linear_algebra, loops, training)
    return [program for module in modules for program in module.programs()]
