# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs, compiled code against the evaluator.

  scripts/fuzz [--seconds=60] [--programs=N] [--seed=1] [--index=K] [--plant=FAMILY|all] [--jobs=2] [--in-process]
  scripts/fuzz --devices=N|any [--programs=300] [--compiled] [--auto] [--seconds=60] [--seed=1] [--index=K]

Program K of seed S is always the same one. Where the two backends differ, the program is shrunk (results dropped, operations
replaced by arguments that hold the evaluator's values) and kept under build/fuzz/. --plant asks xla-run for a deliberate bug
in one family of operations and passes if the fuzzer finds it. --in-process: one process per job for all programs, four times as fast.
Last line: N passed, N failed.

--devices compares one device with N (any: 2 to 16, another number for each program) under random meshes and shardings of
arguments, results and values in between (module shardings); both sides are evaluated, by build/bin/fuzz-devices, with --compiled
N devices run machine code, with --auto what is not annotated is sharded automatically (passes/autosharding). Results in f16 or bf16 that differ do not count if the same (shrunk) program agrees in f32: then partial sums
were rounded. It fails too if an operation of StableHLO did not occur among 2000 programs or more.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

from fuzz import attention, devices, dtypes, elementwise, manual, more, program, rare, shardings, structure, updates, wider

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
BUILD = os.path.realpath(os.environ.get("MILLRACE_BUILD") or os.path.join(ROOT, "build"))
FAMILIES = ["elementwise", "data_movement", "indexing", "contraction", "reduction", "control_flow"]


class Backend:
    """xla-run with one backend; `plant` asks the compiled one for a bug."""

    def __init__(self, name, plant=None):
        self.flags = [f"--backend={name}"] + ([f"--plant-bug={plant}"] if plant and name == "compiled" else [])

    def run(self, text, arrays, results):
        """(list of arrays, None) or (None, message)."""
        with tempfile.TemporaryDirectory(prefix="millrace-fuzz-") as folder:
            path, source, target = (os.path.join(folder, n) for n in ("p.mlir", "in.npz", "out.npz"))
            with open(path, "w") as file:
                file.write(text)
            command = [os.path.join(BUILD, "bin", "xla-run"), path, f"--out={target}", *self.flags]
            if arrays:
                np.savez(source, **{f"arg{i}": dtypes.for_file(a) for i, a in enumerate(arrays)})
                command.append(f"--args={source}")
            try:
                process = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120,
                                         stdin=subprocess.DEVNULL, env=dict(os.environ, MILLRACE_CACHE="off"))
            except subprocess.TimeoutExpired:
                return None, "no answer within 120 s"
            if process.returncode:
                lines = [line for line in process.stderr.strip().splitlines() if line.strip()]
                return None, f"exit status {process.returncode}: " + "\n".join(lines[:6])[:1500]
            with np.load(target) as archive:
                names = sorted(archive.files, key=lambda n: int("".join(c for c in n if c.isdigit()) or 0))
                arrays = [archive[name] for name in names]
        if len(arrays) != len(results):
            return None, f"expects {len(results)} results, but got {len(arrays)}"
        try:
            return [dtypes.from_file(a, r.dtype) for a, r in zip(arrays, results)], None
        except ValueError as error:
            return None, str(error)


class Tools:
    """Compares the evaluator with machine code, each in processes of its own."""

    def __init__(self, plant=None):
        self.compiled, self.interpreter = Backend("compiled", plant), Backend("interpreter")

    def pair(self, case):
        """(the evaluator's results or None, message, machine code's results or None, message)."""
        return (*self.interpreter.run(case.text(), case.arrays, case.results),
                *self.compiled.run(case.text(case.spread), case.arrays, case.results))

    def values(self, case):
        return self.interpreter.run(case.text(), case.arrays, case.results)


def generate(seed, index, focus=None, spread=False):
    """Program `index` of `seed`; every third one takes special values and exact operations only. `spread`: for many devices."""
    random = np.random.default_rng([seed, index])
    special = index % 3 == 0
    p = program.Program(random, special)
    groups = {"elementwise": elementwise.EXACT + ([] if special else elementwise.SMOOTH), "data_movement": structure.DATA_MOVEMENT,
              "indexing": structure.INDEXING, "contraction": structure.CONTRACTION + ([] if special else [attention.attention]), "reduction": structure.REDUCTION,
              "control_flow": structure.CONTROL_FLOW}
    weights = np.array([0.45, 0.2, 0.1, 0.07, 0.12, 0.06])
    if spread:
        groups["more"], groups["rare"], groups["manual"] = more.MORE, rare.RARE, manual.MANUAL
        weights = np.array([0.2, 0.18, 0.11, 0.08, 0.11, 0.06, 0.18, 0.04, 0.04])
    # Everything of one shape or two, updated in part and read again.
    updating = not focus and not spread and index % 6 == 1
    if updating:
        updates.narrow(p)
        groups, weights = {"updates": updates.UPDATES}, np.array([1.0])
    families = list(groups)
    if focus:
        weights = weights * 0.5 + np.array([0.5 if f == focus else 0 for f in FAMILIES])
    count = int(random.integers(3, 14))
    while len(p.operations) < count:
        group = groups[families[int(random.choice(len(families), p=weights / weights.sum()))]]
        with np.errstate(all="ignore"):
            group[int(random.integers(len(group)))](p)
        if special:
            # Sums of infinities in any order agree, but rounded sums next to 3e4 do not: keep only exact values as operands.
            p.values = [v for v in p.values if v.exact]
    used = {id(o) for op in p.operations for o in op.operands}
    results = [r for op in p.operations for r in op.results if id(r) not in used]
    inner = [r for op in p.operations for r in op.results if id(r) in used and not r.hidden]
    results += [r for r in inner if random.random() < (0.6 if updating else 0.1)]
    return p, results[:12]


class Case:
    """A program to compare: operations, arguments with data, results."""

    def __init__(self, data, results, cut=(), spread=None):
        self.data, self.results, self.cut = data, results, dict(cut)  # cut: id(value) -> array that replaces it
        self.spread = spread  # Shardings of the compiled program, or None
        operations, arguments, seen = [], [], set()

        def visit(value):
            if id(value) in seen:
                return
            seen.add(id(value))
            if value.op is None or id(value) in self.cut:
                arguments.append(value)
                return
            for operand in value.op.operands:
                visit(operand)
            if id(value.op) not in seen:
                seen.add(id(value.op))
                operations.append(value.op)

        for result in results:
            visit(result)
        self.operations, self.arguments = operations, arguments
        self.arrays = [self.cut[id(a)] if id(a) in self.cut else data[id(a)] for a in arguments]

    def text(self, spread=None):
        names, lines = {id(a): f"%a{i}" for i, a in enumerate(self.arguments)}, []
        for index, op in enumerate(self.operations):
            for k, result in enumerate(op.results):
                # A cut result of an operation that stays for another result keeps its argument name.
                names.setdefault(id(result), f"%v{index}_{k}")
            shown = {id(r): (names[id(r)] if names[id(r)].startswith("%v") else f"%unused{index}_{k}")
                     for k, r in enumerate(op.results)}
            lines.append(op.render({**names, **shown}, spread))
            for result in op.results if spread else []:
                name = names[id(result)]
                if name.startswith("%v") and (sharding := spread.wish(result)):
                    lines.append(f"    {name}_s = sdy.sharding_constraint {name} {sharding} : {result.type}")
                    names[id(result)] = name + "_s"
        functions = "".join(op.functions for op in self.operations)
        if spread:
            head = ", ".join(f"{names[id(a)]}: {a.type}{spread.attribute(a)}" for a in self.arguments)
            types = ", ".join(f"{r.type}{spread.attribute(r, 'result')}" for r in self.results)
            plain = ", ".join(r.type for r in self.results)
            return (f"{spread.head}  func.func @main({head}) -> ({types}) {{\n" + "\n".join(lines)
                    + f"\n    func.return {', '.join(names[id(r)] for r in self.results)} : {plain}\n  }}\n{functions}}}\n")
        head = ", ".join(f"{names[id(a)]}: {a.type}" for a in self.arguments)
        types = ", ".join(r.type for r in self.results)
        return (f"func.func @main({head}) -> ({types}) {{\n" + "\n".join(lines)
                + f"\n    func.return {', '.join(names[id(r)] for r in self.results)} : {types}\n}}\n{functions}")

    def compare(self, backends):
        """None, or (index of the result or None, message)."""
        want, error, got, other = backends.pair(self)
        if error and other:
            return None, f"both sides reject the program: {error}"
        if error or other:
            return None, f"{'evaluator' if error else 'compiled'}: {error or other}"
        for index, (result, a, b) in enumerate(zip(self.results, want, got)):
            message = dtypes.difference(result.dtype, result.exact, a, b)
            if message:
                return index, f"{result.op.kind if result.op else 'argument'} {result.type}: {message}"
        return None


def shrink(case, found, backends):
    """A smaller case that still fails: one result, then operations cut off and replaced by the evaluator's values."""
    if found[0] is not None:
        smaller = Case(case.data, [case.results[found[0]]], spread=case.spread)
        again = smaller.compare(backends)
        if again:
            case, found = smaller, again
    deadline = time.time() + 60
    values = [r for op in case.operations for r in op.results]
    known, error = backends.values(Case(case.data, values))
    if error:
        return case, found
    for value, array in reversed(list(zip(values, known))):
        if any(value is r for r in case.results) or time.time() > deadline:
            continue
        smaller = Case(case.data, case.results, {**case.cut, id(value): array}, case.spread)
        if len(smaller.operations) >= len(case.operations):
            continue
        again = smaller.compare(backends)
        if again:
            case, found = smaller, again
    return case, found


def spread_case(arguments, index):
    """Program `index` with its shardings."""
    p, results = generate(arguments.seed, index, spread=True)
    count = None if arguments.devices == "any" else int(arguments.devices)
    if p.special:
        # Devices add in another order: sums of numbers near the largest overflow in one and not in the other.
        results = [r for r in results if r.exact]
    return Case({id(a): d for a, d in zip(p.arguments, p.data)}, results, spread=shardings.Shardings(arguments.seed, index, count))


def check(seed, index, backends, focus=None):
    """(coverage entries, None or (case, found))."""
    p, results = generate(seed, index, focus)
    case = Case({id(a): d for a, d in zip(p.arguments, p.data)}, results)
    covered = [(op.family, op.kind, (op.operands or op.results)[0].dtype, len((op.operands or op.results)[0].shape))
               for op in case.operations]
    found = case.compare(backends) if results else None
    if found:
        case, found = shrink(case, found, backends)
    if found and wider.right_in_f64(case, found, backends):
        print(f"program {index} of seed {seed} overflows in the evaluator only: {found[1]}", flush=True)
        found = None
    return covered, ((case, found) if found else None)


def report(seed, index, case, found):
    folder = os.path.join(BUILD, "fuzz")
    os.makedirs(folder, exist_ok=True)
    stem = os.path.join(folder, f"failure-{seed}-{index}")
    with open(stem + ".mlir", "w") as file:
        file.write(case.text(case.spread))
    np.savez(stem + ".npz", **{f"arg{i}": dtypes.for_file(a) for i, a in enumerate(case.arrays)})
    print(f"\nprogram {index} of seed {seed}: {found[1]}\n  shrunk to {len(case.operations)} operations: {stem}.mlir, {stem}.npz")
    print("  " + case.text(case.spread).replace("\n", "\n  ").rstrip(), flush=True)


def print_coverage(coverage):
    print("\ncoverage: operation: runs, element types of the first operand, ranks")
    by_op = collections.defaultdict(list)
    for (family, kind, dtype, rank), count in coverage.items():
        by_op[(FAMILIES.index(family), kind)].append((dtype, rank, count))
    for (_, kind), entries in sorted(by_op.items()):
        types = sorted({d for d, _, _ in entries}, key=dtypes.ALL.index)
        ranks = "".join(str(r) for r in sorted({r for _, r, _ in entries}))
        print(f"  {kind:24} {sum(c for _, _, c in entries):5}  ranks {ranks:5}  {len(types):2} types: {' '.join(types)}")


class InProcess:
    """Tools for several threads: a process of fuzz-devices for each."""

    def __init__(self):
        self.own = threading.local()

    def _grid(self):
        if not hasattr(self.own, "grid"):
            self.own.grid = devices.Grid(BUILD, ["--compiled"])
        return self.own.grid

    def pair(self, case):
        return self._grid().pair(case)

    def values(self, case):
        return self._grid().values(case)


def fuzz(arguments):
    backends = InProcess() if arguments.in_process else Tools()
    coverage, passed, failed = collections.Counter(), 0, 0
    deadline = time.time() + arguments.seconds
    indices = [arguments.index] if arguments.index is not None else range(arguments.programs)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running, numbers, last = {}, iter(indices), time.time()
        while True:
            while len(running) < arguments.jobs and (time.time() < deadline or arguments.index is not None):
                index = next(numbers, None)
                if index is None:
                    break
                running[pool.submit(check, arguments.seed, index, backends)] = index
            if not running:
                break
            for future in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                index = running.pop(future)
                covered, failure = future.result()
                coverage.update(covered)
                passed, failed = passed + (failure is None), failed + (failure is not None)
                if failure and failed <= arguments.show:
                    report(arguments.seed, index, *failure)
            if time.time() - last > 15:
                last = time.time()
                print(f"fuzz: {passed + failed} programs, {failed} failed, {max(0, deadline - last):.0f} s left", file=sys.stderr, flush=True)
            if failed >= arguments.stop_after:
                deadline = 0
                numbers = iter(())
    print_coverage(coverage)
    return passed, failed


def fuzz_devices(arguments):
    """Programs one after the other until their number or the time is used up."""
    backends = devices.Grid(BUILD, [flag for flag, wanted in (("--compiled", arguments.compiled), ("--auto-sharding", arguments.auto)) if wanted])
    coverage, passed, failed, rounded, last, start = devices.Coverage(ROOT), 0, 0, 0, time.time(), time.time()
    indices = [arguments.index] if arguments.index is not None else range(arguments.programs)
    for index in indices:
        if time.time() - start > arguments.seconds:
            break
        case = spread_case(arguments, index)
        found = case.compare(backends) if case.results else None
        coverage.add(case)
        if found:
            case, found = shrink(case, found, backends)
            if wider.only_rounding(case, found, backends):
                print(f"program {index} of seed {arguments.seed} agrees in f32, not in 16 bits: {found[1]}", flush=True)
                found, rounded = None, rounded + 1
        passed, failed = passed + (not found), failed + bool(found)
        if found and failed <= arguments.show:
            report(arguments.seed, index, case, found)
        if time.time() - last > 15:
            last = time.time()
            print(f"fuzz: {passed + failed} programs, {failed} failed, {last - start:.0f} s", file=sys.stderr, flush=True)
        if failed >= arguments.stop_after:
            break
    coverage.print()
    if passed + failed >= 2000 and coverage.missing():
        failed += 1
    print(f"{(time.time() - start) / max(1, passed + failed) * 1e3:.1f} ms per program, {rounded} differ in 16 bits only")
    return passed, failed


def planted(arguments):
    """One planted bug per family: found within 40 programs that favour the family, else the fuzzer is blind there."""
    passed = failed = 0
    for family in FAMILIES if arguments.plant == "all" else [arguments.plant]:
        backends = Tools(family)
        for index in range(40):
            _, failure = check(arguments.seed, index, backends, focus=family)
            if failure and failure[1][0] is not None:
                case, found = failure
                print(f"planted bug in {family}: found by program {index}, shrunk to {len(case.operations)} operations "
                      f"({', '.join(op.kind for op in case.operations)}): {found[1]}", flush=True)
                passed += 1
                break
            if failure and "plant-bug" in failure[1][1]:
                print(f"planted bug in {family}: {failure[1][1]}")
                failed += 1
                break
        else:
            print(f"planted bug in {family}: not found in 40 programs")
            failed += 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("--stop-after", type=int, default=1000)
    parser.add_argument("--plant")
    parser.add_argument("--devices", choices=["any"] + [str(n) for n in range(2, shardings.MOST_DEVICES + 1)])
    parser.add_argument("--programs", type=int, default=10 ** 9)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--print", action="store_true", help="print the program of --index and stop")
    arguments = parser.parse_args()
    if arguments.print:
        if arguments.devices:
            case = spread_case(arguments, arguments.index or 0)
        else:
            p, results = generate(arguments.seed, arguments.index or 0)
            case = Case({id(a): d for a, d in zip(p.arguments, p.data)}, results)
        print(case.text(case.spread))
        return 0
    # What other runs have kept stays, also of one beside this one.
    for old in glob.glob(os.path.join(BUILD, "fuzz", f"failure-{arguments.seed}-*")):
        os.remove(old)
    passed, failed = (planted if arguments.plant else fuzz_devices if arguments.devices else fuzz)(arguments)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
