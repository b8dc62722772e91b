# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/bench's rows say: ratios, geometric means, tables."""
import math

from benchmarks import plot


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def usable(entry, key):
    return entry is not None and "error" not in entry and not entry.get("wrong") and bool(entry.get(key))


def figures(row, by):
    """The ratios of one row, each above one where Millrace is ahead, but compile time and memory, where it is below one; None is unknown."""
    ours, theirs = row["peers"].get("millrace"), row["peers"].get("xla_cpu")
    best = plot.speed_against_best(row, by)
    both = lambda key: usable(ours, key) and usable(theirs, key)
    found = {"best": best[0] if best else None, "best_peer": best[1] if best else None,
             "xla_cpu": theirs[by] / ours[by] if both(by) else None,
             "compile": ours["compile_s"] / theirs["compile_s"] if both("compile_s") else None,
             "compile_warm": ours["compile_warm_s"] / theirs["compile_s"] if both("compile_s") else None}
    memory = lambda e: max(1.0, e["peak_mib"] - e["base_mib"])
    # The processes of operations have run others before: their peaks say nothing.
    found["memory"] = memory(ours) / memory(theirs) if both("peak_mib") and group_of(row) == "model" else None
    planned = ours["flags"].get("bytes", {}) if usable(ours, by) else {}
    bound = planned.get("largest sum of live temporaries")
    found["arena"] = planned["temporaries"] / bound if bound else None
    return found


def group_of(row):
    return row.get("group", "op")


def summary(rows, by):
    """{group: {figure: {"mean", "programs", "worst", "of"}}}: geometric means; the worst program and its name."""
    out = {}
    for group in ("model", "op", "all"):
        chosen = [r for r in rows if group in ("all", group_of(r))]
        out[group] = {}
        for key, worst_of in (("best", min), ("xla_cpu", min), ("compile", max), ("compile_warm", max), ("memory", max), ("arena", max)):
            values = [(value, r["name"]) for r in chosen if (value := figures(r, by)[key])]
            if values:
                worst, name = worst_of(values)
                out[group][key] = {"mean": geometric_mean([v for v, _ in values]), "programs": len(values), "worst": worst, "of": name}
    return {group: found for group, found in out.items() if found}


TITLES = {"best": "speed against the best peer", "xla_cpu": "speed against XLA:CPU", "compile": "compile time, XLA:CPU's = 1",
          "compile_warm": "the same from the disk cache", "memory": "peak memory, XLA:CPU's = 1", "arena": "arena, live bytes = 1"}


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def cell(entry, by="median_ms"):
    if entry is None or "error" in entry:
        return "-"
    if entry.get("wrong"):
        return "WRONG"
    return f"{entry['median_ms']:.3f} ({entry['min_ms']:.3f})"


def print_tables(rows, peers, by):
    width = max(len(r["name"]) for r in rows) + 1
    for title, show in (("run time, ms: median (minimum)", cell),
                        ("compile time, s", lambda e: number(e["compile_s"], 3) if usable(e, "compile_s") else "-")):
        columns = [p for p in peers if not (title.startswith("compile") and p == "torch_eager")]
        print(f"\n{title}\n{'':{width}}" + "".join(f"{p:>22}" for p in columns))
        for row in rows:
            print(f"{row['name']:{width}}" + "".join(f"{show(row['peers'].get(p)):>22}" for p in columns))
    print(f"\nspeed by {by.removesuffix('_ms')} against XLA:CPU and the best peer (above 1: Millrace is faster); compile time against XLA:CPU's, cold "
          "and warm; peak memory, MiB, without the process's base: Millrace, XLA:CPU, Millrace's compiler; arena / largest sum of live bytes")
    for row in rows:
        found, ours, theirs = figures(row, by), row["peers"].get("millrace", {}), row["peers"].get("xla_cpu", {})
        best = f"{number(found['best']):>8} {found['best_peer'] or '':<11}"
        line = f"{row['name']:{width}}{number(found['xla_cpu']):>8}{best}   compile {number(found['compile']):>6} {number(found['compile_warm']):>6}"
        if found["memory"]:
            line += (f"   memory {ours['peak_mib'] - ours['base_mib']:6.0f} {theirs['peak_mib'] - theirs['base_mib']:6.0f} "
                     f"{ours['flags'].get('peak_compile_mib', 0):4.0f}   arena {number(found['arena'])}")
        print(line)
    for group, found in summary(rows, by).items():
        for key, value in found.items():
            print(f"{group}: geometric mean of {TITLES[key]}: {value['mean']:.2f} over {value['programs']} programs; "
                  f"{'lowest' if key in ('best', 'xla_cpu') else 'highest'} {value['worst']:.2f}, {value['of']}")
    for row in rows:
        for peer, entry in row["peers"].items():
            if "error" in entry:
                print(f"{row['name']}: {peer}: {entry['error'].splitlines()[0]}")
            elif entry.get("wrong"):
                print(f"{row['name']}: {peer}: WRONG: {entry['wrong']}")
