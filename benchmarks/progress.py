# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a benchmark says while it runs."""
import shutil
import sys


def show(text: str) -> None:
    """Shows `text` in the last line of the terminal, in the place of what was shown there before. A file or a pipe gets nothing: it would keep all."""
    if sys.stderr.isatty():
        print(f"\r{text[:shutil.get_terminal_size().columns - 1]}\x1b[K", end="\r", file=sys.stderr, flush=True)
