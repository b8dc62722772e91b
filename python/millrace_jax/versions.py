# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions of JAX that millrace-jax works with, and what differs among them."""
from collections.abc import Callable
from typing import Any

# Minor versions; the newest one has been tested, later ones have not. pyproject.toml says the same to pip.
OLDEST, NEWEST = (0, 8), (0, 10)


def unsupported(version: str) -> str | None:
    """Returns why JAX of this version cannot be used and what to do, or None if it can.

    Args:
      version: The version, such as "0.10.2".
    """
    minor = tuple(int(part) for part in version.split(".")[:2])
    if OLDEST <= minor <= NEWEST:
        return None
    return (f"this millrace-jax is for JAX {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}, but JAX {version} is installed: "
            f"pip install 'jax>={OLDEST[0]}.{OLDEST[1]},<{NEWEST[0]}.{NEWEST[1] + 1}'" +
            (", or a newer millrace-jax" if minor > NEWEST else ""))


def takes_profiler(version: str) -> bool:
    """Returns whether jaxlib of this version takes the table of PJRT's profiler extension unchanged (pjrt/Profiler.cpp).

    A jaxlib that expects another size would call through null pointers when a profile begins. 0.8.0, 0.9.0 and 0.10.2 have been tried.

    Args:
      version: The version, such as "0.10.2".
    """
    return (0, 8) <= tuple(int(part) for part in version.split(".")[:2]) <= (0, 10)


def register_type_handler(handler: Callable[[bytes | str, Any], None]) -> None:
    """Registers a function that jaxlib calls with the types of custom calls for the platform cpu.

    Args:
      handler: Gets the name of a type, and a capsule, or a dictionary of capsules (since JAX 0.9).
    """
    from jaxlib import xla_client

    register = getattr(xla_client, "register_custom_type_handler", None) or xla_client.register_custom_type_id_handler
    register("cpu", handler)
