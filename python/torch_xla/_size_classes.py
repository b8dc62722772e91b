# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes to which lengths are rounded up, so that few programs serve all of them."""

_SMALLEST = 16


def size_class(length: int) -> int:
    """Returns the least of 16, 32, 48, 64, 96, 128, 192, … (powers of two and halfway to the next) that `length` fits into."""
    size = _SMALLEST
    while size < length:
        if size > _SMALLEST and size * 3 // 2 >= length:
            return size * 3 // 2
        size *= 2
    return size
