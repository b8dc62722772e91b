# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SPMD, in processes with 8 devices each: how many there are is decided when a process starts."""
import os
import subprocess
import sys

import pytest
from paths import PYTHONPATH

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


LONG = os.environ.get("MILLRACE_LONG")


def run(*files, devices, **environment):
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(os.path.join(HERE, "spmd", name) for name in files)],
                         capture_output=True, text=True, timeout=3000, cwd=ROOT,
                         env=dict(os.environ, CPU_NUM_DEVICES=str(devices),
                                  PYTHONPATH=PYTHONPATH, **environment))
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]


@pytest.mark.parametrize("files", ["auto.py cases.py checkpoint.py documents.py training.py", "dtensor.py kernels.py manual.py models.py names.py"])
def test_eight_devices(files):
    run(*files.split(), devices=8)


@pytest.mark.skipif(not LONG, reason="takes long: MILLRACE_LONG=1")
@pytest.mark.parametrize("devices", [1, 2, 4, 8])
def test_twenty_steps(devices):
    run("training.py", devices=devices, SPMD_STEPS="20")
