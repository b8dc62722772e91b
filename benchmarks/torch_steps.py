# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Step times of PyTorch programs: lazy and torch.compile(backend="openxla") on the device `xla`, eager PyTorch and Inductor on the CPU.

    PYTHONPATH=python:. python -m benchmarks.torch_steps [--rounds 5] [--only lazy,eager] [--results FOLDER] [PROGRAM …]

Every way runs in a process of its own with as many threads; the processes take turns, so that a busy machine disturbs all alike. A step
does not wait for the device before the next one begins; the last one is waited for, and the times are per step. The results of the first
three steps are compared with eager PyTorch's. MILLRACE_BUILD names the build folder (default: build; build-release is the fair one)."""
import argparse
import json
import os
import statistics
import sys
import time

from benchmarks import turns

WAYS = ("lazy", "openxla", "eager", "inductor")
TOLERANCE = 2e-3


def child(way, name, threads):
    def prepare():
        import torch
        torch.set_num_threads(threads)
        from benchmarks import seed_programs, torch_programs
        programs = {**torch_programs.PROGRAMS, **seed_programs.PROGRAMS}
        device, wait, barrier = "cpu", lambda: None, lambda: None
        if way in ("lazy", "openxla"):
            import torch_xla
            import torch_xla.core.xla_model as xm
            device, wait, barrier = "xla", xm.wait_device_ops, torch_xla.sync
        backend = {"openxla": "openxla", "inductor": "inductor"}.get(way)
        torch.manual_seed(0)
        step = programs[name](device, (lambda f: torch.compile(f, backend=backend)) if backend else (lambda f: f))

        def one():
            result = step()
            barrier()
            return result
        return one, wait
    turns.serve(prepare)


def measure(name, ways, rounds, threads):
    processes = {way: turns.Process("benchmarks.torch_steps", (way, name, threads), threads) for way in ways}
    turns.take_turns(processes.values(), rounds)
    rows = {}
    for way, process in processes.items():
        row = rows[way] = {"error": process.state["error"]} if "error" in process.state else \
            {"ms": statistics.median(process.times), "best_ms": min(process.times), "first_s": process.state["first_s"]}
        if "ms" in row and "eager" in processes and "results" in processes["eager"].state:
            row["difference"] = turns.difference(process.state["results"], processes["eager"].state["results"])
    return rows


def line(name, rows, ways):
    cells, eager = [f"{name:22}"], rows.get("eager", {}).get("ms")
    for way in ways:
        row = rows[way]
        if "error" in row:
            cells.append(f"{'failed':>16}")
        else:
            ratio = f" ({row['ms'] / eager:4.2f}x)" if eager and way != "eager" else " " * 8
            cells.append(f"{row['ms']:8.2f}{ratio}")
    differences = [r["difference"] for w, r in rows.items() if "difference" in r and w != "eager"]
    cells.append(f"{max(differences):.0e}" if differences else "-")
    return "  ".join(cells)


def write(folder, everything, ways, arguments):
    """All numbers as JSON, the medians as a table for people."""
    import platform

    import torch
    os.makedirs(folder, exist_ok=True)
    about = {"threads": arguments.threads, "rounds": arguments.rounds, "torch": torch.__version__, "machine": platform.machine(),
             "date": time.strftime("%Y-%m-%d"), "build": os.environ.get("MILLRACE_BUILD", "build"), "load": os.getloadavg()[0]}
    with open(os.path.join(folder, "torch_steps.json"), "w") as file:
        json.dump({"about": about, "programs": everything}, file, indent=1)
        file.write("\n")

    def cell(rows, way):
        row, eager = rows[way], rows.get("eager", {}).get("ms")
        if "error" in row:
            return "failed"
        return f"{row['ms']:.2f}" + (f" ({row['ms'] / eager:.2f}x)" if eager and way != "eager" else "")
    with open(os.path.join(folder, "torch_steps.md"), "w") as file:
        file.write("<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->\n# Step times of PyTorch programs\n\n"
                   f"Milliseconds per step, median of {arguments.rounds} turns of each process, taken in turn, {arguments.threads} threads "
                   "(times eager PyTorch's).\n`python -m benchmarks.torch_steps --results FOLDER` wrote this on "
                   f"{about['date']}; load of the machine at its end: {about['load']:.1f}.\n\n")
        file.write(f"| program | {' | '.join(ways)} |\n|---|{'---|' * len(ways)}\n")
        for name, rows in everything.items():
            file.write(f"| {name} | {' | '.join(cell(rows, way) for way in ways)} |\n")


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    from benchmarks.torch_programs import PROGRAMS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--only", default=",".join(WAYS), help="the ways to measure")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--results", help="also write torch_steps.json and torch_steps.md into this folder")
    arguments = parser.parse_args()
    ways = arguments.only.split(",")
    unknown = [p for p in arguments.programs if p not in PROGRAMS] + [w for w in ways if w not in WAYS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    print(f"ms per step, {arguments.threads} threads, median of {arguments.rounds} turns (times eager PyTorch's); "
          "difference: largest to eager, of the first three steps")
    print("  ".join([f"{'':22}"] + [f"{way:>8}{'':8}" for way in ways] + ["difference"]))
    everything, failed = {}, False
    for name in arguments.programs:
        rows = everything[name] = measure(name, ways, arguments.rounds, arguments.threads)
        print(line(name, rows, ways), flush=True)
        for way, row in rows.items():
            if "error" in row:
                print(f"  {way}: {row['error']}")
                failed = failed or way != "inductor"  # it needs a C++ compiler and Python.h
            elif row.get("difference", 0) > TOLERANCE:
                print(f"  {way}: expects a difference of at most {TOLERANCE}, but got {row['difference']:.1e}")
                failed = True
    if arguments.results:
        write(arguments.results, everything, ways, arguments)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
