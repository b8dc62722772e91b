# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of the device: torch_xla.backends."""
_precision = "default"


def set_mat_mul_precision(precision: str) -> None:
    """Sets the least precision of contractions of float32. Unlike on a TPU, they are computed in float32 with all three.

    Args:
      precision: "default", "high" or "highest".

    Raises:
      ValueError: It is another text.
    """
    global _precision
    if precision not in ("default", "high", "highest"):
        raise ValueError(f"expects 'default', 'high' or 'highest', but got {precision!r}")
    _precision = precision


def get_mat_mul_precision() -> str:
    """Returns what set_mat_mul_precision() set last, or "default"."""
    return _precision
