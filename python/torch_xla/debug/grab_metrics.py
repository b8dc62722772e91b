# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m torch_xla.debug.grab_metrics [FILE ...]` reads a log with metrics reports, as that of XLA_METRICS_FILE, and prints how each counter
and the count of each metric went on from report to report. Its options are those of PyTorch/XLA's scripts/grab_metrics.py."""
import argparse
import fileinput
import os
import re
import sys
from collections.abc import Iterable, Sequence

Points = list[tuple[int, float]]  # (number of the report, value)


def parse_metrics(lines: Iterable[str]) -> dict[str, Points]:
    """Returns the values of counters and metrics in a log with reports.

    A report begins at the line of torch_xla.debug.metrics_saver, or where a name comes again; other lines may stand between.

    Args:
      lines: The lines of the log.

    Returns:
      By name the pairs (number of the report from 0, value); of metrics the value is TotalSamples.
    """
    found: dict[str, Points] = {}
    number = 0
    names: set[str] = set()
    name = key = None
    for line in lines:
        if match := re.match(r"(Counter|Metric): (\S+)", line):
            name, key = match[2], "Value" if match[1] == "Counter" else "TotalSamples"
        elif name and (match := re.match(rf"\s*{key}: (\S+)", line)):
            if name in names:
                number, names = number + 1, set()
            names.add(name)
            found.setdefault(name, []).append((number, float(match[1])))
            name = None
        elif names and line.startswith("[MetricsData; step="):
            number, names = number + 1, set()
    return found


def synthesized(expression: str, metrics: dict[str, Points]) -> Points:
    """Returns the values of an expression over names of metrics, for the reports that have all of them.

    Args:
      expression: An expression of Python without calls, such as "CreateDataHandles - DestroyDataHandles".
      metrics: The values by name, from parse_metrics().

    Raises:
      ValueError: A name is unknown, the text is no expression or names no metric, or it has no value in a report.
    """
    try:
        code = compile(expression.strip(), "expression", "eval")
    except SyntaxError as error:
        raise ValueError(f"{expression!r} is no expression: {error.msg}") from None
    if unknown := [name for name in code.co_names if name not in metrics]:
        raise ValueError(f"no report has {', '.join(unknown)}")
    values = {name: dict(metrics[name]) for name in code.co_names}
    if not values:
        raise ValueError(f"{expression!r} names no metric")
    points = []
    for number in sorted(set.intersection(*(set(each) for each in values.values()))):
        try:
            points.append((number, float(eval(code, {"__builtins__": {}}, {name: each[number] for name, each in values.items()}))))
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"{expression!r} has no value at report {number}: {error}") from None
    return points


def picture(name: str, points: Points) -> str:
    """Returns an SVG that shows values as a line over the numbers of the reports.

    Args:
      name: The heading.
      points: The pairs (number of the report, value), at least one.
    """
    xs, ys = [x for x, _ in points], [y for _, y in points]
    width, height, left, top = 640, 360, 90, 40
    across, up = max(xs) - min(xs) or 1, max(ys) - min(ys) or 1
    line = " ".join(f"{left + (x - min(xs)) / across * width:.1f},{top + height - (y - min(ys)) / up * height:.1f}" for x, y in points)
    title = name.replace("&", "&amp;").replace("<", "&lt;")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + left + 20}" height="{height + top + 40}" font-family="sans-serif" font-size="13">'
            f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="22" font-size="16">{title}</text>'
            f'<path d="M{left} {top}v{height}h{width}" fill="none" stroke="gray"/>'
            f'<text x="{left - 6}" y="{top + 10}" text-anchor="end">{max(ys):g}</text><text x="{left - 6}" y="{top + height}" text-anchor="end">{min(ys):g}</text>'
            f'<text x="{left}" y="{top + height + 20}">{min(xs)}</text><text x="{left + width}" y="{top + height + 20}" text-anchor="end">report {max(xs)}</text>'
            f'<polyline points="{line}" fill="none" stroke="steelblue" stroke-width="2"/></svg>\n')


def main(argv: Sequence[str] | None = None) -> int:
    """Executes the command line.

    Args:
      argv: The arguments; None: those of the process.

    Returns:
      The exit status: 1 for files that cannot be read and for --synth that has no values.
    """
    parser = argparse.ArgumentParser(prog="grab_metrics", description="Prints how metrics go on in a log with reports of them.")
    parser.add_argument("--metrics", action="append", metavar="REGEX", help="only those whose names begin like this; may be given again")
    parser.add_argument("--synth", action="append", default=[], metavar="NAME:EXPRESSION",
                        help="also the values of an expression, as 'LiveHandles:CreateDataHandles - DestroyDataHandles'; may be given again")
    parser.add_argument("--image_path", metavar="FOLDER", help="also writes a picture of each there, NAME.svg")
    parser.add_argument("files", nargs="*", metavar="FILE", help="logs; the standard input if there is none")
    arguments = parser.parse_args(argv)
    try:
        with fileinput.input(arguments.files, errors="replace") as lines:
            metrics = parse_metrics(lines)
        shown = {name: points for name, points in metrics.items() if not arguments.metrics or any(re.match(each, name) for each in arguments.metrics)}
        for synth in arguments.synth:
            name, colon, expression = synth.partition(":")
            if not colon:
                raise ValueError(f"--synth expects NAME:EXPRESSION, but got {synth!r}")
            shown[name] = synthesized(expression, metrics)
        for name, points in shown.items():
            print(f"[{name}]", *(f"{number}\t{value}" for number, value in points), "", sep="\n")
        if arguments.image_path:
            os.makedirs(arguments.image_path, exist_ok=True)
            for name, points in shown.items():
                if points:
                    with open(os.path.join(arguments.image_path, re.sub(r"[^\w.-]", "_", name) + ".svg"), "w") as file:
                        file.write(picture(name, points))
    except (OSError, ValueError, re.error) as error:
        print(f"grab_metrics: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
