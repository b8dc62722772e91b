# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the stacks in a file of XLA_SAVE_TENSORS_FILE: python3 -m torch_xla.debug.frame_parser_util FILE"""
import collections
import re
import sys
from collections.abc import Iterable

Frame = tuple[str, str, int]  # function, file, line
_FRAME = re.compile(r"^\s*(?P<function>\S.*?) \((?P<file>[^()]+):(?P<line>\d+)\)\s*$")


def parse_frame_content(line: str) -> Frame | None:
    """"  function (file:line)" as (function, file, line), or None if the line is none of a frame."""
    match = _FRAME.match(line.split("[MetricsFrame]")[-1].split("pt-xla-profiler:")[-1])
    return (match["function"], match["file"], int(match["line"])) if match else None


def parse_frames(lines: Iterable[str]) -> list[tuple[Frame, ...]]:
    """The stacks in these lines, innermost frame first: lists of frames that follow each other without another line between."""
    stacks: list[tuple[Frame, ...]] = []
    current: list[Frame] = []
    for line in lines:
        frame = parse_frame_content(line)
        if frame:
            current.append(frame)
        elif current:
            stacks.append(tuple(current))
            current = []
    return stacks + [tuple(current)] if current else stacks


def create_report(frames: Iterable[tuple[Frame, ...]]) -> str:
    """Stacks with their number, the most frequent first, as text."""
    text = ""
    for stack, count in collections.Counter(frames).most_common():
        text += f"Count: {count}\n" + "".join(f"  {function} ({file}:{line})\n" for function, file, line in stack) + "\n"
    return text


def process_frames(fname: str) -> str:
    """create_report() of a file."""
    with open(fname) as file:
        return create_report(parse_frames(file))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m torch_xla.debug.frame_parser_util FILE")
    sys.stdout.write(process_frames(sys.argv[1]))
