# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m torch_xla.debug.capture_profile --service_addr HOST:PORT --logdir FOLDER` asks programs that run for recordings (xp.trace): one, one
whenever Enter is pressed, or several at intervals. Its options are those of PyTorch/XLA's scripts/capture_profile.py."""
import argparse
import sys
import time
from collections.abc import Sequence

from . import profiler


def _arguments(argv):
    parser = argparse.ArgumentParser(prog="capture_profile", description="Asks processes that serve recordings (xp.start_server) for them.")
    parser.add_argument("--service_addr", required=True, help="HOST:PORT of a server, or several with commas")
    parser.add_argument("--logdir", required=True, help="folder in the file system of those processes")
    parser.add_argument("--duration_ms", type=int, default=10000, help="records for so long (%(default)s)")
    parser.add_argument("--start_time", type=float, default=0, help="begins so many seconds later")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--interactive", choices=("once", "loop"), help="waits for Enter before the recording; loop: again and again, until q")
    kinds.add_argument("--automatic", nargs=2, type=int, metavar=("COUNT", "GAP"), help="makes COUNT recordings, GAP seconds after each other")
    arguments = parser.parse_args(argv)
    if arguments.start_time < 0:
        parser.error(f"--start_time expects at least 0 seconds, but got {arguments.start_time:g}")
    if arguments.automatic and (arguments.automatic[0] < 1 or arguments.automatic[1] < 0):
        parser.error("--automatic expects a COUNT of at least 1 and a GAP of at least 0 seconds")
    return arguments


def _is_wanted():
    """Whether Enter is pressed. False: q, or there is no more input."""
    while True:
        try:
            answer = input("Enter records, q ends: ").strip().lower()
        except EOFError:
            return False
        if answer in ("", "q", "quit"):
            return not answer
        print(f"expects Enter or q, but got {answer!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Does what the command line says; returns its exit status: 1 if a recording could not be had."""
    arguments = _arguments(argv)
    count, gap = arguments.automatic or (1, 0)
    time.sleep(arguments.start_time)
    done = 0
    while (done < count or arguments.interactive == "loop") and (not arguments.interactive or _is_wanted()):
        if done and gap:
            print(f"The next recording begins in {gap} s", flush=True)
            time.sleep(gap)
        try:
            profiler.trace(arguments.service_addr, arguments.logdir, duration_ms=arguments.duration_ms)
        except (RuntimeError, ValueError) as error:
            print(f"capture_profile: {error}", file=sys.stderr)
            return 1
        print(f"Recorded into {arguments.logdir}", flush=True)
        done += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
