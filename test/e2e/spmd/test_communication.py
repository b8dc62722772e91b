# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Well-known ways to share a network out need no more messages than somebody counted by hand."""
import os
import subprocess
import sys

import pytest

from benchmarks import tools

pytest.importorskip("jax")


def test_least_communication():
    process = subprocess.run([sys.executable, "-m", "benchmarks.communication", "--no-xla"],
                             capture_output=True, text=True, timeout=300, cwd=tools.ROOT, env=dict(os.environ, MILLRACE_JAX="0"))
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    assert "0 of 14 programs differ from the least" in process.stdout


def test_picture_of_memory():
    """A line per number of devices through its peaks, in a file that XML readers take; what fits a limit is counted from the same rows."""
    from xml.dom import minidom

    from benchmarks import communication
    rows = [(batch, count, 0, 0, 100 + 40 * batch // count) for batch in (4, 8) for count in (1, 2, 4, 8)]
    picture = minidom.parseString(communication.memory_plot(rows, limit=300))
    lines = picture.getElementsByTagName("polyline")
    heights = [[float(point.split(",")[1]) for point in line.getAttribute("points").split()] for line in lines]
    assert len(lines) == 4 and heights == sorted(heights) and all(first > last for first, last in heights)
    assert communication.fits(rows, 300) == {1: 4, 2: 8, 4: 8, 8: 8}
    assert communication.memory_table(rows)[2] == "| 4 | 1 | 0 | 0 | 260 |"
