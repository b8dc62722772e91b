# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that print the progress of training programs and write their summaries for TensorBoard."""
import functools
import time
from collections.abc import Callable
from typing import Any

from .. import runtime as xr
from ..core import xla_model as xm
from ..debug import metrics as met


def now(format: str = "%H:%M:%S") -> str:
    """Returns the time of day as text.

    Args:
      format: The form, as for time.strftime().
    """
    return time.strftime(format)


def _spec(device: Any) -> str:
    return f"{device}/{xr.global_ordinal()}"


def get_summary_writer(logdir: str | None) -> Any:
    """Returns a SummaryWriter of tensorboardX for a folder.

    Args:
      logdir: The folder.

    Returns:
      The writer; None without a folder, and on other replicas than the first.

    Raises:
      ImportError: tensorboardX is not installed.
    """
    if logdir and xm.is_master_ordinal(local=False):
        from tensorboardX import SummaryWriter
        return SummaryWriter(logdir)
    return None


def write_to_summary(summary_writer: Any, global_step: int | None = None, dict_to_write: dict[str, float] = {}, write_xla_metrics: bool = False) -> None:
    """Writes numbers for TensorBoard.

    Args:
      summary_writer: The writer; None: nothing is written.
      global_step: The step that the numbers belong to.
      dict_to_write: The numbers by name.
      write_xla_metrics: Whether the counters and totals of the metrics are written, too.
    """
    if summary_writer is None:
        return
    for name, value in dict_to_write.items():
        summary_writer.add_scalar(name, value, global_step)
    if write_xla_metrics:
        for name in met.counter_names():
            summary_writer.add_scalar(name, met.counter_value(name), global_step)
        for name in met.metric_names():
            if data := met.metric_data(name):
                summary_writer.add_scalar(name, data[1], global_step)


def close_summary_writer(summary_writer: Any) -> None:
    """Writes what is left and closes a writer; None is accepted.

    Args:
      summary_writer: The writer.
    """
    if summary_writer is not None:
        summary_writer.flush()
        summary_writer.close()


def print_training_update(device: Any, step: int, loss: float, rate: float, global_rate: float, epoch: int | None = None,
                          summary_writer: Any = None) -> None:
    """Prints a line about a training step.

    "| Training Device=xla:0/0 Epoch=1 Step=0 Loss=6.89059 Rate=2.82 GlobalRate=2.82 Time=06:13:23"

    Args:
      device: The device.
      step: The number of the step.
      loss: The loss.
      rate: Examples per second at present.
      global_rate: Examples per second since the beginning.
      epoch: The number of the epoch; None: it is left out.
      summary_writer: A writer that gets the rates; None: nothing is written.
    """
    parts = [f"Training Device={_spec(device)}"]
    if epoch is not None:
        parts.append(f"Epoch={epoch}")
    parts += [f"Step={step}", f"Loss={loss:.5f}", f"Rate={rate:.2f}", f"GlobalRate={global_rate:.2f}", f"Time={now()}"]
    print("| " + " ".join(parts), flush=True)
    if summary_writer is not None:
        write_to_summary(summary_writer, dict_to_write={"examples/sec": rate, "average_examples/sec": global_rate})


def print_test_update(device: Any, accuracy: float | None, epoch: int | None = None, step: int | None = None) -> None:
    """Prints a line about a test.

    "| Test Device=xla:0/0 Step=0 Epoch=1 Accuracy=97.50 Time=06:13:23"

    Args:
      device: The device.
      accuracy: The accuracy in percent; None: it is left out.
      epoch: The number of the epoch; None: it is left out.
      step: The number of the step; None: it is left out.
    """
    parts = [f"Test Device={_spec(device)}"]
    if step is not None:
        parts.append(f"Step={step}")
    if epoch is not None:
        parts.append(f"Epoch={epoch}")
    if accuracy is not None:
        parts.append(f"Accuracy={accuracy:.2f}")
    print("| " + " ".join([*parts, f"Time={now()}"]), flush=True)


def mp_test(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates the function of a spawned process: all processes wait for each other at its end, whether it failed or not.

    Args:
      func: The function: func(rank, *args, **kwargs).
    """
    @functools.wraps(func)
    def run(rank: int, *args: Any, **kwargs: Any) -> Any:
        try:
            return func(rank, *args, **kwargs)
        finally:
            xm.rendezvous("mp_test")
    return run
