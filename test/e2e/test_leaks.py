# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clients of the PJRT plug-in leave no memory behind: its unit tests under LeakSanitizer, which needs no special build."""
import os
import subprocess

import pytest

from benchmarks import tools

PROGRAM = os.path.join(tools.ROOT, "build", "bin", "unit-pjrt")


def run(*arguments):
    checker = subprocess.run(["gcc", "-print-file-name=liblsan.so"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(checker) or not os.path.exists(PROGRAM):
        pytest.skip("needs GCC's liblsan.so and build/bin/unit-pjrt")
    return subprocess.run([PROGRAM, "--gtest_brief=1", *arguments], capture_output=True, text=True, timeout=600,
                          env=dict(os.environ, LD_PRELOAD=checker))


def test_nothing_is_left_behind():
    process = run()
    assert process.returncode == 0, process.stdout + process.stderr[-4000:]


def test_a_leak_would_be_found():
    process = run("--gtest_also_run_disabled_tests", "--gtest_filter=*DISABLED_LeaksABuffer")
    assert process.returncode != 0 and "LeakSanitizer" in process.stderr, process.stdout + process.stderr
