# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of README.md and docs/benchmarks.md from benchmarks/results/*.json: python -m benchmarks.tables [--check]

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`; --check only says which is not what the results say."""
import json
import os
import re
import sys

from benchmarks import report, seeds, tools
from benchmarks.arguments import PEERS

FILES = ("README.md", "docs/benchmarks.md")


def load(folder, name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


def columns(names):
    return f"| {' | '.join(names)} |\n|---|{'---:|' * (len(names) - 1)}\n"


def about(found):
    machine = found["machine"]
    versions = sorted({entry["version"] for row in found["results"] for peer, entry in row["peers"].items()
                       if peer != "millrace" and "version" in entry})
    missing = "" if "load_after" not in machine else f", load {machine['load_before']:.1f} before and {machine['load_after']:.1f} after"
    return (f"{found['date'][:10]}, commit {found['commit'][:12]} ({found['build_type']} build), {machine['cpu']}, {machine['cores']} cores"
            f"{missing}; times compared by their {'minimum' if found['by'] == 'min_ms' else 'median'}; {', '.join(versions)}.\n")


def summary(found):
    """Geometric means of the models, the operations and both."""
    groups = report.summary(found["results"], found["by"])
    lines = [about(found) + "\n", columns(["geometric mean (worst)", *(f"{'all' if g == 'all' else g + 's'}" for g in groups)])]
    for key, title in report.TITLES.items():
        cells = [f"{f[key]['mean']:.2f} ({f[key]['worst']:.2f}), {f[key]['programs']} programs" if key in f else "-" for f in groups.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |\n")
    return "".join(lines)


def programs(found, group):
    """One line per program: milliseconds of each peer and the ratios."""
    by, lines = found["by"], [columns(["program", "from", *PEERS, "/ best", "/ XLA:CPU", "compile", "memory"])]
    for row in found["results"]:
        if report.group_of(row) != group:
            continue

        def cell(peer):
            entry = row["peers"].get(peer)
            return "wrong" if entry and entry.get("wrong") else f"{entry[by]:.3g}" if report.usable(entry, by) else "-"
        ratios = report.figures(row, by)
        lines.append(f"| {row['name']} | {row['source']} | {' | '.join(map(cell, PEERS))} | "
                     + " | ".join(report.number(ratios[key]) for key in ("best", "xla_cpu", "compile", "memory")) + " |\n")
    return "".join(lines)


def torch_steps(found):
    ways = list(next(iter(found["programs"].values())))
    info = found["about"]
    lines = [f"{info['date']}, {info['threads']} threads, torch {info['torch']}, load at the end {info['load']:.1f}.\n\n",
             columns(["ms per step (times eager's)", *ways])]
    for name, rows in found["programs"].items():
        def cell(way):
            if "error" in rows[way]:
                return "failed"
            return f"{rows[way]['ms']:.2f}" + ("" if way == "eager" else f" ({rows[way]['ms'] / rows['eager']['ms']:.2f})")
        lines.append(f"| {name} | {' | '.join(map(cell, ways))} |\n")
    return "".join(lines)


def scaling(found):
    """One line per program of benchmarks.scaling: least times on the least and on the greatest number of threads, XLA:CPU beside."""
    about, programs = found["about"], found["programs"]
    first = next(iter(programs.values()))
    few, many = sorted(first["threads"], key=int)[0], sorted(first["threads"], key=int)[-1]
    lines = [f"{about['date']}, commit {about['commit']}, {about['cpu']}; jax {about['jax']}; `{about['command']}`.\n\n",
             columns(["ms", f"{few} thread", f"{many} threads", "speed-up", f"XLA:CPU {few}", f"XLA:CPU {many}", "its speed-up", "/ XLA:CPU"])]
    gains, theirs, ratios = [], [], []
    for name, row in programs.items():
        ours, xla = ([row[peer][count]["min_ms"] for count in (few, many)] for peer in ("threads", "xla_cpu"))
        gains.append(ours[0] / ours[1])
        theirs.append(xla[0] / xla[1])
        ratios.append(xla[1] / ours[1])
        lines.append(f"| {name} | {ours[0]:.3g} | {ours[1]:.3g} | {gains[-1]:.2f} | {xla[0]:.3g} | {xla[1]:.3g} | {theirs[-1]:.2f} | {ratios[-1]:.2f} |\n")
    mean = report.geometric_mean
    lines.append(f"| geometric mean | | | {mean(gains):.2f} | | | {mean(theirs):.2f} | {mean(ratios):.2f} |\n")
    return "".join(lines)


def seeds_dynamo(found, kind):
    """One line per model of benchmarks.seeds: inference or training in each way, and the quotient of which PyTorch/XLA's guide prints its own."""
    guide = {"inference": seeds.SEED_INFERENCE, "training": seeds.SEED_TRAINING}[kind]
    rows, ways = found["dynamo"][kind], ["lazy", "openxla", "eager", "inductor"]
    lines = [seeds.about_line(found["about"]["dynamo"]) + "\n\n",
             columns([f"{kind}, ms per step", *ways, "eager / openxla", "Inductor / openxla", "lazy / openxla", "the same on a TPU"])]
    quotients = {"eager": [], "inductor": [], "lazy": []}
    for name, measured in rows.items():
        ms = {way: measured[way]["ms"] for way in ways}
        for way, values in quotients.items():
            values.append(ms[way] / ms["openxla"])
        cells = [f"{value:.1f}" for value in ms.values()] + [f"{values[-1]:.2f}" for values in quotients.values()] + [f"{guide[name]:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |\n")
    means = [report.geometric_mean(values) for values in (*quotients.values(), [guide[name] for name in rows])]
    return "".join(lines) + f"| geometric mean | | | | | {' | '.join(f'{mean:.2f}' for mean in means)} |\n"


def tables(folder):
    steps = load(folder, "torch_steps.json")
    made = {"torch_steps": torch_steps(steps), "scaling": scaling(load(folder, "scaling.json"))}
    made |= {f"seeds_{kind}": seeds_dynamo(load(folder, "seeds.json"), kind) for kind in ("inference", "training")}
    if os.path.exists(os.path.join(folder, "bench.json")):
        bench = load(folder, "bench.json")
        made |= {"summary": summary(bench), "models": programs(bench, "model"), "operations": programs(bench, "op")}
    for machine in ("znver3", "znver4"):
        if os.path.exists(os.path.join(folder, f"bench_{machine}.json")):
            bench = load(folder, f"bench_{machine}.json")
            made |= {f"summary_{machine}": summary(bench), f"models_{machine}": programs(bench, "model")}
    if os.path.exists(os.path.join(folder, "bench_one_thread.json")):
        bench = load(folder, "bench_one_thread.json")
        made |= {"summary_one_thread": summary(bench), "models_one_thread": programs(bench, "model"), "operations_one_thread": programs(bench, "op")}
    return made


def filled(text, made):
    """`text` with its tables replaced by those of the results; a KeyError names one that there are no results for."""
    return re.sub(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", lambda m: m[1] + made[m[2]] + m[3], text, flags=re.S)


def main():
    made, stale = tables(os.path.join(tools.ROOT, "benchmarks", "results")), 0
    for name in FILES:
        with open(path := os.path.join(tools.ROOT, name)) as file:
            text = file.read()
        if (new := filled(text, made)) == text:
            continue
        if "--check" in sys.argv:
            print(f"{name}: its tables are not what benchmarks/results says: python -m benchmarks.tables")
            stale = 1
        else:
            with open(path, "w") as file:
                file.write(new)
    return stale


if __name__ == "__main__":
    sys.exit(main())
