# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Appends the metrics report to a file: at every step barrier to that of XLA_METRICS_FILE."""
import os
import sys
import threading

from . import metrics
from .. import _world

_lock = threading.Lock()
_steps: dict[str, int] = {}


def save_metrics(metrics_file: str | None = None) -> None:
    """Appends the report to `metrics_file`, by default to the file of XLA_METRICS_FILE (FILE.RANK if there are several processes); STDOUT and
    STDERR are no files, but the process's own. Without either nothing happens."""
    if not metrics_file and (metrics_file := os.environ.get("XLA_METRICS_FILE")) and metrics_file not in ("STDOUT", "STDERR"):
        metrics_file = _world.of_process(metrics_file)
    if not metrics_file:
        return
    if metrics_file in ("STDOUT", "STDERR"):
        print(metrics.metrics_report(), file=sys.stdout if metrics_file == "STDOUT" else sys.stderr, flush=True)
        return
    with _lock:
        step = _steps[metrics_file] = _steps.get(metrics_file, -1) + 1
        with open(metrics_file, "a") as file:
            file.write(f"[MetricsData; step={step}]\n{metrics.metrics_report()}\n")
