# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configures and builds a tree with a preset of CMakePresets.json, showing progress; for the scripts beside this file."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def environment() -> dict[str, str]:
    """Variables for cmake and ninja: objects of ccache are the same in every clone, and ninja estimates the time that is left if it can."""
    version = subprocess.run(["ninja", "--version"], capture_output=True, text=True, check=True).stdout
    estimates = tuple(map(int, version.split(".")[:2])) >= (1, 12)
    variables = dict(os.environ, NINJA_STATUS="[%f/%t, %W left] " if estimates else "[%f/%t, %es] ")
    variables.setdefault("CCACHE_BASEDIR", ROOT)
    variables.setdefault("CCACHE_NOHASHDIR", "1")
    return variables


def configure(preset: str, folder: str) -> list[str] | None:
    """The command that configures `folder`, or None where that was done."""
    return None if os.path.exists(os.path.join(folder, "build.ninja")) else ["cmake", "--preset", preset, "-B", folder]
