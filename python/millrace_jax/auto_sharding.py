# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA_AUTO_SPMD=1: every program of several devices is sharded automatically, as if each jax.jit had compiler_options={"millrace_auto_sharding": ...},
with millrace_machine of XLA_AUTO_SPMD_MACHINE and millrace_memory_per_device of XLA_AUTO_SPMD_MEMORY."""
import functools
import math
import os
import warnings
from typing import Any


def _option(num_partitions: int) -> str | None:
    """Returns the value of millrace_auto_sharding for a program of so many devices, by XLA_AUTO_SPMD and XLA_AUTO_SPMD_MESH; None to leave it away.

    Raises:
        ValueError: XLA_AUTO_SPMD_MESH is no list of sizes.
    """
    if num_partitions < 2 or os.environ.get("XLA_AUTO_SPMD", "0").lower() in ("", "0", "false"):
        return None
    text = os.environ.get("XLA_AUTO_SPMD_MESH", "")
    if not text:
        return "auto"  # over the program's own mesh, or all devices in a row
    try:
        sizes = [int(size) for size in text.split(",")]
    except ValueError:
        sizes = [0]
    if min(sizes) < 1:
        raise ValueError(f'XLA_AUTO_SPMD_MESH expects the sizes of a mesh, as "2,4", but is {text!r}')
    if math.prod(sizes) == num_partitions:
        return ",".join(f"auto{i}={size}" for i, size in enumerate(sizes))
    # Programs of another number of devices, such as some of them, are left unchanged.
    import jax

    if math.prod(sizes) != jax.device_count():
        _warn(f"XLA_AUTO_SPMD_MESH={text} is a mesh of {math.prod(sizes)} devices, but there are {jax.device_count()}: programs of "
              f"{num_partitions} devices are not sharded automatically")
    return None


def _with_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Adds what XLA_AUTO_SPMD_MACHINE and XLA_AUTO_SPMD_MEMORY say to the options of a program that is sharded automatically."""
    if str(options["millrace_auto_sharding"]).lower() in ("false", "0"):
        return options
    settings = {"millrace_machine": os.environ.get("XLA_AUTO_SPMD_MACHINE", ""), "millrace_memory_per_device": os.environ.get("XLA_AUTO_SPMD_MEMORY", "")}
    return {name: value for name, value in settings.items() if value} | options


@functools.cache
def _warn(message: str) -> None:
    """Warns once in a process."""
    warnings.warn(message, stacklevel=2)


def install() -> None:
    """Adds the option to what JAX hands to the compiler. What a program's compiler_options say goes first."""
    from jax._src import compiler

    before = compiler.get_compile_options

    @functools.wraps(before)
    def with_option(num_replicas: int, num_partitions: int, *arguments: Any, **options: Any) -> Any:
        if value := _option(num_partitions):
            given = options.get("env_options_overrides") or {}
            options["env_options_overrides"] = _with_settings({"millrace_auto_sharding": value} | given)
        return before(num_replicas, num_partitions, *arguments, **options)

    compiler.get_compile_options = with_option
