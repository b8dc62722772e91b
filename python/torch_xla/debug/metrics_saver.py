# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Appends the metrics report to a file: at every step barrier to that of XLA_METRICS_FILE."""
import os
import threading

from . import metrics
from .. import _world

_lock, _steps = threading.Lock(), {}


def save_metrics(metrics_file=None):
    """Appends the report to `metrics_file`, by default to the file of XLA_METRICS_FILE (FILE.RANK if there are several processes); without
    either nothing happens."""
    if not metrics_file and (metrics_file := os.environ.get("XLA_METRICS_FILE")):
        metrics_file = _world.of_process(metrics_file)
    if not metrics_file:
        return
    with _lock:
        step = _steps[metrics_file] = _steps.get(metrics_file, -1) + 1
        with open(metrics_file, "a") as file:
            file.write(f"[MetricsData; step={step}]\n{metrics.metrics_report()}\n")
