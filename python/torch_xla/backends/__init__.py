# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of the device: torch_xla.backends."""
_precision = "default"


def set_mat_mul_precision(precision: str) -> None:
    """"default", "high" or "highest": how exact products of float32 are at least. They are computed in float32 with all of them."""
    global _precision
    if precision not in ("default", "high", "highest"):
        raise ValueError(f"expects 'default', 'high' or 'highest', but got {precision!r}")
    _precision = precision


def get_mat_mul_precision() -> str:
    """What set_mat_mul_precision() was given last; "default" before."""
    return _precision
