# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/torch-operators.md says what the code does."""
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


@pytest.mark.skipif(os.environ.get("MILLRACE_LONG") != "1", reason="every new operator changes the table: MILLRACE_LONG=1")
def test_table_of_operators_is_current():
    process = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "gen-torch-operators"), "--check"], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-2000:]
