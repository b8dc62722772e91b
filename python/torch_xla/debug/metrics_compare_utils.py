# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads metrics reports back, and tells what of a new one is out of line with older ones."""
import re
import statistics

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
          "B": 1.0, "KB": 2.0 ** 10, "MB": 2.0 ** 20, "GB": 2.0 ** 30, "TB": 2.0 ** 40}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|ns|d|h|m|s|[KMGT]?B)?")


def _number(text, dehumanize):
    """(value, its unit: "sec", "mb" or ""); the text itself if it is not to be read."""
    text = text.strip()
    if not dehumanize:
        return text, ""
    parts = _PART.findall(text)
    units = {unit for _, unit in parts if unit}
    value = sum(float(number) * _UNITS.get(unit, 1.0) for number, unit in parts)
    if any(unit.endswith("B") for unit in units):
        return value / 2 ** 20, "mb"
    return value, "sec" if units else ""


def parse_metrics_report(report, dehumanize=True):
    """{"CompileTime__TotalSamples": 2.0, "CompileTime__Percentile_50_sec": 0.1, "CachedCompile__Value": 1.0, ...}. Times are in
    seconds (key ends on _sec), sizes in MB (_mb); `dehumanize` False leaves the text, and no ending."""
    points, name = {}, None

    def add(key, text):
        value, unit = _number(text, dehumanize)
        points[f"{name}__{key}" + (f"_{unit}" if unit else "")] = value

    for line in report.splitlines():
        if match := re.match(r"(Metric|Counter): (\S.*)$", line):
            name = match[2].strip()
        elif name and (match := re.match(r"\s+(TotalSamples|Accumulator|Counter|Value): (\S+)", line)):
            add(match[1], match[2])
        elif name and (match := re.match(r"\s+(ValueRate|Rate): (\S+) / second", line)):
            add(match[1], match[2])
        elif name and line.lstrip().startswith("Percentiles:"):
            for percent, text in re.findall(r"(\d+(?:\.\d+)?)%=([^;\s]+)", line):
                add(f"Percentile_{percent}", text)
    return points


def get_data_points_from_metrics_reports(metrics_reports):
    """{key: [its value in each report that has it]}."""
    points = {}
    for report in metrics_reports:
        for key, value in parse_metrics_report(report).items():
            points.setdefault(key, []).append(value)
    return points


def compare_metrics(data_points, metrics_report, config={"base_expression": "v <= v_mean + (v_stddev * 2.0)"}):
    """Lines about values of the report for which the expression is false; empty text if there are none.

    The expression is over v, v_mean and v_stddev of the data points. `config`: {"base_expression": ...} for all keys, and
    {key: expression, or None to leave it out}. Keys without data points are not compared."""
    text = ""
    for key, value in parse_metrics_report(metrics_report).items():
        expression = config.get(key, config.get("base_expression"))
        values = data_points.get(key)
        if not values or not expression:
            continue
        names = {"v": value, "v_mean": statistics.fmean(values), "v_stddev": statistics.pstdev(values)}
        if not eval(expression, {"__builtins__": {}}, names):  # the caller's expression
            text += f"{key} failed its expression {expression} with " + \
                ", ".join(f"{name}={number:.6g}" for name, number in names.items()) + "\n"
    return text
