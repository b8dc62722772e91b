# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command-line tools, as console scripts of the distribution."""
import os
import sys

from millrace import tool_path


def _replace_process(name):
    path = tool_path(name)
    os.execv(path, [name, *sys.argv[1:]])


def xla_opt():
    _replace_process("xla-opt")


def xla_translate():
    _replace_process("xla-translate")


def xla_compile():
    _replace_process("xla-compile")


def xla_run():
    _replace_process("xla-run")


def xla_prof():
    _replace_process("xla-prof")
