#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs StableHLO programs that carry their own expected values.

  test/conformance/run.py --tool build/bin/xla-run [--tool-arg=--backend=interpreter] [--regex '^dot'] [-j 2]

Each file of test/conformance/programs holds one module. Its @main calls @inputs and @expected and checks the result with
  stablehlo.custom_call @check.expect_eq          exact; NaN is never equal
  stablehlo.custom_call @check.expect_close       at most 3 ULP per element; NaN equals NaN; infinities bitwise
  stablehlo.custom_call @check.expect_almost_eq   |a - b| <= 1e-3; NaN equals NaN
The tool is called as TOOL [ARGS] FILE and must exit with 0 if, and only if, every check holds.

--negative-control corrupts the expected values first. A program then passes only if the tool reports a mismatch (an exit
status from 1 to 127, no crash): this catches a tool that checks nothing.

The last line is: N passed, N failed, N skipped.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = os.path.dirname(os.path.realpath(__file__))
LITERAL = re.compile(r"true|false|0x[0-9A-F]+|-?\d+(\.\d+)?([eE][-+]?\d+)?")


class Outcome(NamedTuple):
    """What became of one program: `kind` is "ok", "skip" or says what is wrong; `error` is the tool's standard error."""
    name: str
    kind: str
    error: str


def corrupted_hex(literal: str, element: str) -> str:
    """Returns another value for a quoted literal of hexadecimal digits ("0x…", little endian) of this element type."""
    digits = literal[3:-1]
    if element[0] in "fb":
        # The highest bits of the exponent stand in the last byte of an element. Another exponent is another value, of NaN as well.
        at = {"f64": 16, "f32": 8}.get(element, 4) - 2
        digits = f"{digits[:at]}{int(digits[at], 16) ^ 4:X}{digits[at + 1:]}"
    else:
        digits = f"{digits[0]}{int(digits[1], 16) ^ 1:X}{digits[2:]}"
    return f'"0x{digits}"'


def corrupted_number(literal: str, is_float: bool) -> str | None:
    """Returns the literals of a dense attribute with another first number, or None where that is a hexadecimal integer."""
    found = LITERAL.search(literal)
    if found is None:
        return None
    first = found.group(0)
    if first in ("true", "false"):
        other = "false" if first == "true" else "true"
    elif is_float:
        other = "1.0" if first.startswith("0x") or abs(float(first) - 1) > 0.5 else "5.0"
    elif first.startswith("0x"):
        return None
    else:
        other = str(int(first) ^ 1)
    return literal[:found.start()] + other + literal[found.end():]


def corrupt(text: str) -> str | None:
    """Returns the program with another first element of the constant that @expected returns, so that no check may accept the
    result; None if the program has no such constant."""
    start = text.find("func.func private @expected")
    if start < 0:
        return None
    constants = list(re.finditer(r"dense<([^:]*)> : tensor<([^>]*>?)>", text[start:text.find("\n  }", start)]))
    if not constants:
        return None
    constant = constants[-1]
    literal, type_ = constant.groups()
    complex_ = re.search(r"complex<(\w+)", type_)
    element = complex_.group(1) if complex_ else type_.rstrip(">").split("x")[-1]
    changed = corrupted_hex(literal, element) if literal.startswith('"0x') else corrupted_number(literal, element[0] in "fb")
    if changed is None:
        return None
    return text[:start + constant.start(1)] + changed + text[start + constant.end(1):]


def run_program(arguments: argparse.Namespace, name: str, scratch: str) -> Outcome:
    """Runs the tool on one program; `scratch` is a folder for the corrupted ones."""
    path = os.path.join(arguments.dir, name)
    if arguments.negative_control:
        with open(path, encoding="utf-8") as file:
            text = corrupt(file.read())
        if text is None:
            return Outcome(name, "skip", "")
        path = os.path.join(scratch, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    try:
        result = subprocess.run([arguments.tool, *arguments.tool_arg, path], capture_output=True, text=True, timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        return Outcome(name, "timeout", "")
    has_crashed = result.returncode < 0 or result.returncode > 127
    if arguments.negative_control:
        is_good = result.returncode != 0 and not has_crashed
        return Outcome(name, "ok" if is_good else "accepted a wrong value or crashed", result.stderr)
    return Outcome(name, "ok" if result.returncode == 0 else "crash" if has_crashed else "failed", result.stderr)


def main() -> int:
    """Runs the programs that the command line selects and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--tool-arg", action="append", default=[])
    parser.add_argument("--dir", default=os.path.join(HERE, "programs"))
    parser.add_argument("--regex", default=".", help="only programs whose file names it matches")
    parser.add_argument("--timeout", type=float, default=60, help="seconds per program")
    parser.add_argument("--negative-control", action="store_true")
    parser.add_argument("--show", type=int, default=20, help="failures to print in full")
    parser.add_argument("-j", type=int, default=2, help="programs at a time")
    arguments = parser.parse_args()
    names = sorted(name for name in os.listdir(arguments.dir) if name.endswith(".mlir") and re.search(arguments.regex, name))
    kinds: collections.Counter[str] = collections.Counter()
    by_operation: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for name, kind, error in pool.map(lambda each: run_program(arguments, each, scratch), names):
            kinds[kind] += 1
            if kind in ("ok", "skip"):
                continue
            if sum(by_operation.values()) < arguments.show:
                print(f"{kind}: {name}\n    " + "\n    ".join(error.strip().splitlines()[:4]))
            by_operation[re.sub(r"_(bfloat|float|complex|uint|int|bool).*", "", name)] += 1
    if by_operation:
        print("failing by operation:", ", ".join(f"{name} {count}" for name, count in by_operation.most_common()))
    print("kinds:", dict(kinds))
    failed = sum(by_operation.values())
    print(f"{kinds['ok']} passed, {failed} failed, {kinds['skip']} skipped")
    return 1 if failed or not kinds["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
