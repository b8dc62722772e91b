# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.debug.metrics (met): counters and samples, and their report in PyTorch/XLA's format."""
import functools
import os
import sys
from typing import TYPE_CHECKING

from .. import _load

if TYPE_CHECKING:
    from millrace.recordings import Recording

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_READS = "aten::_local_scalar_dense"  # values that the program asked for: no operator that the device lacks
_PERCENTILES = "0.01:0.05:0.1:0.2:0.5:0.8:0.9:0.95:0.99"


def counter_names() -> list[str]:
    """Names of the counters that were counted since clear_counters()."""
    return list(_XLAC._counters())


def counter_value(name: str) -> int | None:
    """The value, or None if nothing was counted under that name."""
    return _XLAC._counters().get(name)


def metric_names() -> list[str]:
    """Names of the metrics with samples since clear_metrics()."""
    return list(_XLAC._samples())


def metric_data(name: str) -> tuple[int, float, list[tuple[float, float]]] | None:
    """(number of samples, their sum, [(time in seconds, value), ...]), or None."""
    return _XLAC._samples().get(name)


def clear_counters() -> None:
    """Forgets all counters."""
    _XLAC._clear_counters()


def clear_metrics() -> None:
    """Forgets all samples."""
    _XLAC._clear_metrics()


def clear_all() -> None:
    """Forgets counters and samples."""
    clear_metrics()
    clear_counters()


def executed_fallback_ops() -> list[str]:
    """Operators that ran on the CPU, as aten::name."""
    return [name for name in counter_names() if name.startswith("aten::") and name != _READS]


def _duration(nanoseconds):
    """1234567 -> 01ms234.567us"""
    whole, text, started = int(nanoseconds), "", False
    for unit, size in (("d", 86400 * 10**9), ("h", 3600 * 10**9), ("m", 60 * 10**9), ("s", 10**9), ("ms", 10**6)):
        count, whole = divmod(whole, size)
        if count or started:
            text += f"{count:03d}{unit}" if unit == "ms" else f"{count:02d}{unit}"
            started = True
    return text + f"{whole / 1000:07.3f}us"


def _bytes(value):
    """1536 -> 1.50KB"""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if value < 1024:
            return f"{value:.2f}{unit}"
        value /= 1024
    return f"{value:.2f}PB"


# What is no time by its name, and what is one nevertheless.
_SIZES = ("InboundData", "OutboundData")
_TIMES = ("LazyTracing", "DeviceLockWait", "UnwrapXlaData", "WrapXlaData", "TensorToData", "IrValueTensorToXlaData",
          "PersistentCacheLoad", "PersistentCacheStore")


def _shown(name):
    """How values of the metric are printed."""
    if name in _SIZES:
        return _bytes
    return _duration if name.endswith("Time") or name in _TIMES else lambda value: f"{value:.2f}"


@functools.cache  # says once what is wrong
def _shares(text):
    try:
        shares = [float(share) for share in text.split(":")]
    except ValueError:
        shares = [-1.0]
    if all(0 <= share <= 1 for share in shares):
        return shares
    print(f"millrace: warning: XLA_METRICS_PERCENTILES expects numbers from 0 to 1 with colons between, but got '{text}'; it counts as not set", file=sys.stderr)
    return _shares(_PERCENTILES)


def _metric_text(name, data):
    total, accumulated, samples = data
    show = _shown(name)
    text = f"Metric: {name}\n  TotalSamples: {total}\n  Accumulator: {show(accumulated)}\n"
    if samples:
        seconds = max(samples)[0] - min(samples)[0]
        if seconds > 0:
            text += f"  ValueRate: {show(sum(v for _, v in samples) / seconds)} / second\n"
            text += f"  Rate: {len(samples) / seconds:.6g} / second\n"
        ordered = sorted(value for _, value in samples)
        shares = _shares(os.environ.get("XLA_METRICS_PERCENTILES") or _PERCENTILES)
        text += "  Percentiles: " + "; ".join(
            f"{100 * share:g}%={show(ordered[min(len(ordered) - 1, int(share * len(ordered)))])}" for share in shares) + "\n"
    return text


def metrics_report() -> str:
    """All metrics and counters as text."""
    counters, samples = _XLAC._counters(), _XLAC._samples()
    return "".join(_metric_text(name, samples[name]) for name in samples) + "".join(
        f"Counter: {name}\n  Value: {counters[name]}\n" for name in counters) + _stored_types()


def _stored_types():
    """A line per switch of the environment that makes the device keep tensors in smaller types than they report."""
    effects = {"XLA_USE_BF16": "float32 and float64 as bfloat16", "XLA_DOWNCAST_BF16": "float32 as bfloat16, float64 as float32",
               "XLA_USE_FP16": "float32 and float64 as float16", "XLA_DOWNCAST_FP16": "float32 as float16, float64 as float32",
               "XLA_USE_32BIT_LONG": "64-bit integers in 32 bits"}
    return "".join(f"Note: {name} is on: the device keeps {effect}\n" for name, effect in effects.items()
                   if os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE", "Y"))


def short_metrics_report(counter_names: list[str] | None = None, metric_names: list[str] | None = None) -> str:
    """Returns some metrics and counters as text; counters of operators that ran on the CPU are always among them.

    Args:
      counter_names: The counters; None: CachedCompile, UncachedCompile and MarkStep.
      metric_names: The metrics; None: the times of compilations, executions and transfers.
    """
    counters, samples = _XLAC._counters(), _XLAC._samples()
    if not metric_names:
        metric_names = ["CompileTime", "ExecuteTime", "ExecuteReplicatedTime", "TransferToDeviceTime", "TransferFromDeviceTime",
                        "DynamoSyncInputExecuteTime"]
    if not counter_names:
        counter_names = ["CachedCompile", "UncachedCompile", "MarkStep"]
    counter_names = [*counter_names, *(name for name in counters if name.startswith("aten::") and name not in counter_names)]
    return "".join(_metric_text(name, samples[name]) for name in metric_names if name in samples) + "".join(
        f"Counter: {name}\n  Value: {counters[name]}\n" for name in counter_names if name in counters)


def dashboard(path: str | os.PathLike[str] | None = None) -> "Recording":
    """What a recording says is worth changing, the three most valuable things first: print it, show it in a notebook, or `.open()` its page.
    `path`: a folder that was recorded to, by MILLRACE_PROFILE or xp.start_trace, or a file *.xplane.pb; None: what xp.stop_trace wrote last.
    RuntimeError if nothing was recorded yet, or the recording cannot be read."""
    from millrace.recordings import Recording
    profiler = sys.modules.get(f"{__package__}.profiler")  # Without it nothing was recorded. The step barrier, which it calls, imports this module.
    path = path if path is not None else getattr(profiler, "last_recording", None)
    if path is None:
        raise RuntimeError("met.dashboard: nothing was recorded in this process: expects a folder, or xp.start_trace and xp.stop_trace before")
    return Recording(path)
