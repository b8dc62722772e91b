# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PT_XLA_DEBUG says of the metrics after every step barrier, and of operators on the CPU when the program ends. The findings are
PyTorch/XLA's, word by word; each is followed by the line of the user's program that it comes from most."""
import atexit
import collections
import logging
import os
import sys
from collections.abc import Mapping

from .. import _load, _world

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_STEPS_BEFORE, _MOST_PER_STEP = 10, 0.5  # no finding before that many steps; so many samples per step are frequent
_SLOW = {"CompileTime": 300.0, "ExecuteTime": 30.0}  # seconds
_READS = "aten::_local_scalar_dense"
_reports_at_end = False


def is_on() -> bool:
    """Whether PT_XLA_DEBUG is on, or PT_XLA_DEBUG_LEVEL at least 2, and this is the first process of its machine: the others do the same."""
    if os.environ.get("PT_XLA_DEBUG", "").upper() not in ("1", "ON", "YES", "TRUE", "Y"):
        try:
            if int(os.environ.get("PT_XLA_DEBUG_LEVEL") or 0) < 2:
                return False
        except ValueError:
            return False
    return _world.local_rank() == 0


def findings(counters: Mapping[str, int], samples: Mapping[str, tuple], places: Mapping[tuple[str, str], int]) -> list[str]:
    """The lines of one report. `counters` and `samples` (number, sum, [(seconds, value)], times in ns) are those of the metrics; `places` says how
    often something happened at a line of the user's program: {("compile", "train.py:12"): 3}."""
    lines = []
    steps = counters.get("MarkStep", 0)

    def add(text, *what):
        lines.append(text)
        if place := _most_frequent(places, what):
            lines.append(f"  most often at {place}")

    for name, steps_before, what in (("CompileTime", _STEPS_BEFORE, "compile"), ("TransferFromDeviceTime", 0, "read")):
        count = samples[name][0] if name in samples else 0
        if steps > steps_before and count / steps > _MOST_PER_STEP:
            add(f"{name} too frequent: {count} counts during {steps} steps", what)
    for name, limit in _SLOW.items():
        longest = max((value for _, value in samples[name][2]), default=0) if name in samples else 0
        if longest > limit * 1e9:
            from . import metrics
            add(f"{name} too slow: longest instance took {metrics._duration(longest)}. "
                "Please open a GitHub issue with the graph dump for our team to optimize.")
    if on_cpu := [name for name in counters if name.startswith("aten::") and name != _READS]:
        add("Op(s) not lowered: " + "".join(f"{name}, " for name in on_cpu) +
            " Please open a GitHub issue with the above op lowering requests.", *on_cpu)
    return lines


def _most_frequent(places, what):
    """"train.py:12 (3 of 4 times)", or "" if no line is known."""
    counts = collections.Counter()
    for (kind, place), count in places.items():
        if kind in what:
            counts[place] += count
    known = [(place, count) for place, count in counts.most_common() if place]
    return f"{known[0][0]} ({known[0][1]} of {sum(counts.values())} times)" if known else ""


def after_step() -> None:
    """Writes what there is to say to stdout, or appends it to PT_XLA_DEBUG_FILE."""
    global _reports_at_end
    if not _reports_at_end:
        _reports_at_end = True
        atexit.register(_at_end)
    lines = findings(_XLAC._counters(), _XLAC._samples(), _XLAC._counted_places())
    if not lines:
        return
    text = "".join(f"pt-xla-profiler: {line}\n" for line in lines)
    if path := os.environ.get("PT_XLA_DEBUG_FILE"):
        with open(path, "a") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def unlowered_summary(places: Mapping[tuple[str, str], int]) -> str:
    """The lines of the user's program whose operators ran on the CPU, the most frequent first; "" if there are none."""
    counts: collections.Counter[str] = collections.Counter()
    names = collections.defaultdict(set)
    for (what, place), count in places.items():
        if what.startswith("aten::"):
            counts[place] += count
            names[place].add(what)
    if not counts:
        return ""
    text = f"{'=' * 80}\nUnlowered Op usage summary (more of these ops, lower performance)\n{'-' * 80}\n"
    for place, count in counts.most_common():
        text += f"FRAME (count={count}):\n  {', '.join(sorted(names[place]))} ({place or 'unknown place'})\n"
    return text


def _at_end():
    if text := unlowered_summary(_XLAC._counted_places()):
        logger = logging.getLogger("pt-xla-profiler")
        if not logger.handlers:
            logger.addHandler(logging.StreamHandler(sys.stderr))
        logger.setLevel(logging.INFO)
        logger.info(text)
