# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Versions: ours, and the minor ones of PyTorch that this source can be built for. One build is for one of them, because PyTorch's C++
interface changes with each. CMake reads the line TORCH too (csrc/CMakeLists.txt), and pip gets the metadata of a wheel from here."""
import importlib.metadata
from collections.abc import Mapping

MILLRACE = "0.1.0"
TORCH = ("2.13", "2.14", "2.15")


def minor_of(torch: str) -> str:
    """2.14.1+cpu -> 2.14"""
    return ".".join(torch.split(".")[:2])


def version_for(torch: str) -> str:
    """Returns the version of torch_xla that is built for this version of torch."""
    return f"{minor_of(torch)}.0+millrace{MILLRACE}"


def dynamic_metadata(field: str, _settings: Mapping[str, object] | None = None) -> str | list[str]:
    """Called by scikit-build-core: what is built depends on the torch of the environment, and pip must know."""
    torch = importlib.metadata.version("torch")
    if field == "version":
        return version_for(torch)
    assert field == "dependencies", field
    return [f"millrace=={MILLRACE}", f"torch=={minor_of(torch)}.*"]
