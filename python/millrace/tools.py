# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command-line tools, as console scripts of the distribution."""
import os
import sys
from typing import NoReturn

from millrace import tool_path


def _replace_process(name: str) -> NoReturn:
    """Executes a tool in place of this process, with the arguments of the command line."""
    path = tool_path(name)
    os.execv(path, [name, *sys.argv[1:]])


def xla_opt() -> NoReturn:
    """Executes xla-opt in place of this process."""
    _replace_process("xla-opt")


def xla_translate() -> NoReturn:
    """Executes xla-translate in place of this process."""
    _replace_process("xla-translate")


def xla_compile() -> NoReturn:
    """Executes xla-compile in place of this process."""
    _replace_process("xla-compile")


def xla_run() -> NoReturn:
    """Executes xla-run in place of this process."""
    _replace_process("xla-run")


def xla_prof() -> NoReturn:
    """Executes xla-prof in place of this process."""
    _replace_process("xla-prof")
