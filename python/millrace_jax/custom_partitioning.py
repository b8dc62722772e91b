# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.experimental.custom_partitioning: JAX hands the program of each device to the plug-in as bytecode in StableHLO's own encoding, whose
meaning differs between versions. The plug-in gets text instead."""


class _Mlir:
    """JAX's module `mlir` with another module_to_bytecode()."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)

    def module_to_bytecode(self, module):
        return self._module.module_to_string(module).encode()


def install() -> None:
    """Makes jax.experimental.custom_partitioning hand over text; millrace_jax calls it once."""
    from jax._src import custom_partitioning

    custom_partitioning.mlir = _Mlir(custom_partitioning.mlir)
