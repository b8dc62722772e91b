# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads metrics reports back, and tells what of a new one is out of line with older ones."""
import math
import re
from collections.abc import Sequence
from typing import Any

# Sizes are read in powers of ten, as in PyTorch/XLA, whose reports they are compared with; reports print them in powers of 1024.
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
          "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|ns|d|h|m|s|[KMGTP]?B)?")


def _number(text: str) -> tuple[float, str]:
    """(value, its unit: "sec", "mb" or "")"""
    parts = _PART.findall(text)
    units = {unit for _, unit in parts if unit}
    if any(unit.endswith("B") for unit in units):
        return sum(float(number) * (_UNITS[unit or "B"] / 1e6) for number, unit in parts), "mb"
    return sum(float(number) * _UNITS.get(unit, 1.0) for number, unit in parts), "sec" if units else ""


def parse_metrics_report(report: str, dehumanize: bool = True) -> dict[str, Any]:
    """Returns the values in a metrics report.

    Args:
      report: The text of the report.
      dehumanize: False returns a pair of the number and its text for each value of a metric.

    Returns:
      Values by key, such as {"CompileTime__TotalSamples": 2.0, "CompileTime__Percentile_50_sec": 0.1, "CachedCompile__Value": 1}. Times are in
      seconds, with keys that end on _sec, and sizes in megabytes, _mb.
    """
    points: dict[str, Any] = {}
    name: str | None = None

    def add(key: str, text: str) -> None:
        value, unit = _number(text)
        points[f"{name}__{key}" + (f"_{unit}" if unit else "")] = value if dehumanize else (value, text)

    for line in report.splitlines():
        if match := re.search(r"\b(Metric|Counter): (\S+)\s*$", line):
            name = match[2]
        elif name and (match := re.match(r"\s+(TotalSamples|Accumulator): (\S+)", line)):
            add(match[1], match[2])
        elif name and (match := re.match(r"\s+Value: (\d+)", line)):
            points[f"{name}__Value"] = int(match[1])
        elif name and line.lstrip().startswith("Percentiles:"):
            for percent, text in re.findall(r"(\d+(?:\.\d+)?)%=([^;\s]+)", line):
                add(f"Percentile_{percent}", text)
    return points


def get_data_points_from_metrics_reports(metrics_reports: Sequence[str]) -> dict[str, list[Any]]:
    """{key: [its value in each report, None where a report does not have it]}."""
    points: dict[str, list[Any]] = {}
    for index, report in enumerate(metrics_reports):
        for key, value in parse_metrics_report(report).items():
            points.setdefault(key, [None] * len(metrics_reports))[index] = value
    return points


def compare_metrics(data_points: dict[str, list[Any]], metrics_report: str,
                    config: dict[str, str] = {"base_expression": "v <= v_mean + (v_stddev * 2.0)"}) -> str:
    """Compares a metrics report with earlier ones.

    Args:
      data_points: The earlier values, from get_data_points_from_metrics_reports().
      metrics_report: The text of the report.
      config: {"base_expression": ...}, an expression over v, v_mean and v_stddev that holds for a usual value, and {KEY_expression: ...} for single
        keys.

    Returns:
      A line for each value whose expression does not hold, and for each operator on the CPU that no earlier report has; "" if there is none.
    """
    text = ""
    for key, value in sorted(parse_metrics_report(metrics_report).items()):
        values = [number for number in data_points.get(key, []) if number is not None]
        if not values:
            text += f"Found new aten counter: {key}: {value}\n" if key.startswith("aten::") else ""
            continue
        expression = config.get(f"{key}_expression") or config["base_expression"]
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((number - mean) ** 2 for number in values) / len(values))
        names = {"v": value, "v_mean": mean, "v_stddev": deviation}
        if not eval(expression, {"__builtins__": {}}, names):  # the caller's expression
            text += f"{key} failed its expression check. Expression: {expression}.  Mean: {mean}.  Stddev: {deviation}.  Actual Value: {value}\n"
    return text
