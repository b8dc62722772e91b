# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which versions of JAX millrace-jax takes, and what it says about others."""
import os
import sys
import tomllib

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
from millrace_jax import versions  # noqa: E402  from the source tree


@pytest.mark.parametrize("version", ["0.8.0", "0.8.3", "0.9.0.1", "0.10.2"])
def test_supported(version):
    assert versions.unsupported(version) is None


@pytest.mark.parametrize("version,more", [("0.7.2", ""), ("0.11.0", ", or a newer millrace-jax"), ("1.0.0.dev3", ", or a newer millrace-jax")])
def test_others_are_named_with_what_helps(version, more):
    assert versions.unsupported(version) == (f"this millrace-jax is for JAX 0.8 to 0.10, but JAX {version} is installed: "
                                             f"pip install 'jax>=0.8,<0.11'{more}")


def test_the_metadata_says_the_same():
    with open(os.path.join(ROOT, "python/millrace_jax/pyproject.toml"), "rb") as file:
        needs = tomllib.load(file)["project"]["dependencies"]
    assert {"jax>=0.8,<0.11", "jaxlib>=0.8,<0.11"} <= set(needs)
