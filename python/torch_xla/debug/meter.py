# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.debug.meter: what a training loop does with its time and its memory."""
import functools
import sys
import time
from typing import Any, Callable, Iterable, TextIO

import torch
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from .. import _XLAC
from ..core import xla_model as xm

PROBE_WIDTH = 1536  # edge of the matrices that measure the peak: 7 GFLOP, and more than the last cache of a core holds


@functools.cache
def peak_flops(dtype: torch.dtype = torch.float32) -> float:
    """FLOP/s of this process: the best of three products of matrices of this type. Takes part of a second, once per process and type."""
    a = torch.ones(PROBE_WIDTH, PROBE_WIDTH, dtype=dtype, device="xla")
    seconds = []
    for _ in range(4):  # the first one compiles
        xm.wait_device_ops()
        begin = time.perf_counter()
        b = a @ a
        xm.mark_step()
        xm.wait_device_ops()
        seconds.append(time.perf_counter() - begin)
        del b
    return 2 * PROBE_WIDTH ** 3 / min(seconds[1:])


def count_flops(step: Callable[[], Any]) -> int:
    """Floating-point operations of products, convolutions and attention that `step()` calls, forward and backward, of this process. Activations
    that are computed again count again."""
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    """Bytes of tensors of the device; those that share memory count once."""
    seen = {}
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.device.type == "xla":
            seen[tensor.untyped_storage()._cdata] = tensor.numel() * tensor.element_size()
    return sum(seen.values())


def bytes_by_purpose(model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None) -> dict[str, int]:
    """Returns the memory of this process in bytes, by purpose.

    Args:
      model: The module, whose parameters (of XlaFullyShardedDataParallel: the shards), buffers and gradients are counted.
      optimizer: The optimizer, whose state is counted; None: none.

    Returns:
      `parameters`, `buffers`, `gradients` and `optimizer`, which exist between steps, and what there was besides at the peak since the last
      xm.reset_peak_memory(): `gathers`, results of all_gather (as many as the compiled program that has most of them holds at once), and
      `activations`, the rest: activations, and results before they replaced older values. A tensor that SPMD shards counts with all its elements.
    """
    parameters = list(model.parameters())
    made = {"parameters": _bytes(parameters), "buffers": _bytes(model.buffers()),
            "gradients": _bytes(parameter.grad for parameter in parameters if parameter.grad is not None),
            "optimizer": _bytes(tree_leaves(list(optimizer.state.values()))) if optimizer else 0}
    step = max(0, xm.get_memory_info()["peak_bytes_used"] - sum(made.values()))
    made["gathers"] = min(step, _XLAC._gathered_bytes())
    made["activations"] = step - made["gathers"]
    return made


class Meter:
    """Prints a line every so many steps:

        step 20: 41.3 ms, 12393 words/s, 3.1 GFLOP per step, 62 % of 121 GFLOP/s; MB: parameters 50, gradients 50, optimizer 100, activations 34

    Call step() once per step, after torch_xla.sync(). It waits for the device where it prints, so the time is that of finished steps; the first line
    covers compilations, too. Not thread-safe.

    Args:
      model: The module whose memory is counted.
      optimizer: The optimizer whose state is counted; None: none.
      every: The number of steps per line.
      unit: The name of what step() counts, such as words or images.
      flops_per_step: The floating-point operations of a step of this process, from count_flops() or a formula; None: no utilization is printed.
      dtype: The type of the contractions, for the peak.
      file: The file that the lines are written to; None: standard output.

    Raises:
      ValueError: `every` is below 1.
    """

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None, every: int = 10, unit: str = "samples",
                 flops_per_step: float | None = None, dtype: torch.dtype = torch.float32, file: TextIO | None = None):
        if every < 1:
            raise ValueError(f"expects to print every step or less often, but got every={every}")
        self._model, self._optimizer, self._every, self._unit = model, optimizer, every, unit
        self._flops, self._dtype, self._file = flops_per_step, dtype, file
        self._steps, self._count = 0, 0.0
        if flops_per_step:
            peak_flops(dtype)  # not inside of the first interval
        xm.reset_peak_memory()
        self._begin = time.perf_counter()

    def step(self, count: float = 0) -> str | None:
        """Counts a step, and prints a line if it is due.

        Args:
          count: The number of units that the step worked on.

        Returns:
          The line, or None if none was printed.
        """
        self._steps += 1
        self._count += count
        if self._steps % self._every:
            return None
        xm.wait_device_ops()
        now = time.perf_counter()
        line = self._line((now - self._begin) / self._every)
        print(line, file=self._file or sys.stdout, flush=True)
        self._count = 0.0
        xm.reset_peak_memory()
        self._begin = time.perf_counter()
        return line

    def _line(self, seconds):
        parts = [f"step {self._steps}: {seconds * 1e3:.1f} ms"]
        if self._count:
            parts.append(f"{self._count / self._every / seconds:.0f} {self._unit}/s")
        if self._flops:
            peak = peak_flops(self._dtype)
            parts += [f"{self._flops / 1e9:.1f} GFLOP per step", f"{100 * self._flops / seconds / peak:.0f} % of {peak / 1e9:.0f} GFLOP/s"]
        memory = bytes_by_purpose(self._model, self._optimizer)
        return ", ".join(parts) + "; MB: " + ", ".join(f"{name} {size / 1e6:.0f}" for name, size in memory.items() if size or name == "activations")
