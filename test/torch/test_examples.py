# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of examples/ run and say what they promise (those that are acceptance rows: test_acceptance.py)."""
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def command(*arguments):
    ran = subprocess.run([sys.executable, os.path.join("examples", arguments[0]), *arguments[1:]], cwd=ROOT, text=True,
                         capture_output=True, timeout=500)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize("flags, compilations", [((), 2), (("--no_barrier",), 1)])
def test_unet(flags, compilations):
    """One program for all steps with a barrier, one for the whole loop without; the second run compiles nothing."""
    text = command("diffusion_unet.py", "--steps=4", "--compare", *flags)
    made = [int(count) for count in re.findall(r"run of 4 steps: .* s, (\d+) compilations", text)]
    assert made[0] <= compilations and made[1] == 0, text
    assert float(re.search(r"largest difference to the CPU: (\S+)", text).group(1)) < 1e-2, text
