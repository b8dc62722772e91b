# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures programs with Millrace and its peers in one run, in turns, with an output-equality check.

  scripts/bench [model|op|REGEX ...] [--peers=…] [--threads=1,2] [--rounds=3] [--seconds=1] [--json=FILE] [--resume] [--keep=FOLDER]
  scripts/bench --prepare --keep=FOLDER [model|op|REGEX ...]    what needs no idle machine: programs' texts, what IREE and Inductor compile
  scripts/bench --profile [model|op|REGEX ...]    Millrace only: kernels by time and how near they come to the machine's peak

Run time: median and minimum over all rounds in milliseconds; in every round each peer runs for about `--seconds` before the
next one does, so that a slow phase of the machine hits all. Compile time: in seconds, from StableHLO (or the torch function)
to something that runs, cold; Millrace's also warm, from its cache. Peak memory is that of the process in MiB, of which `base_mib` was
there before the program was. A result that differs from XLA:CPU's (without it, eager PyTorch's) is marked WRONG and its time is not shown.
The JSON file is written after every program: --resume skips those that are in it, --minutes ends the run after the program that is being
measured then. --keep keeps programs' texts and inputs, and what IREE and Inductor compiled (and then shows no compile time for them), never
a result. Beside the JSON file lies a plot of the same name, an SVG.
"""
import argparse
import os

PEERS = ("millrace", "xla_cpu", "iree", "torch_eager", "inductor")


def command_line():
    """The parser. This file needs Python alone, so that scripts/bench --help works where nothing is built or installed."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["model"])
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--threads", default=str(len(os.sched_getaffinity(0))), help="1,2: each program on one and on two threads")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--json")
    parser.add_argument("--resume", action="store_true", help="go on with the programs that are not in the JSON file yet")
    parser.add_argument("--minutes", type=float, help="measure no further program after this time")
    parser.add_argument("--patience", type=float, default=900,
                        help="seconds for which a peer may compile, or run, before it is ended: IREE sorts a million numbers for hours")
    parser.add_argument("--prepare", action="store_true", help="make what --keep keeps, measure nothing")
    parser.add_argument("--keep", help="folder for texts, inputs and what IREE and Inductor compile, for runs that do not ask for their compile time")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--by", choices=["median", "min"], default="median", help="what ratios compare: min on a machine with other work")
    return parser


if __name__ == "__main__":
    command_line().parse_args()
