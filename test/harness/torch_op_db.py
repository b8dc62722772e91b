#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own samples of every operator, module and optimizer, on the device and on the CPU.

    torch_op_db.py [--db op,foreach,refs,module,optim] [--what forward,backward,inplace,out,errors,export] [--dtypes f32,bf16]
                   [--samples N] [--match RE] [--each N] [--jobs 2] [--json FILE] [--expected FILE]

--what: values of the results, gradients of inputs that require one (--backward for short), what the form in place leaves in
its argument, what out= gets, what the StableHLO of the exported operator gives (export), and errors: a bad use must raise what the CPU raises. torch_samples.py says what may come of a
sample; `crash` stands for a process that ended, or more than --timeout seconds
of a processor. --json writes one entry per sample that did
not pass. --expected compares with such a list: exit status 1 if a sample fails that is not in it, with --strict also if
nothing fails any more that is in it. The last lines sum up, with one rate per database and kind.
"""
import argparse
import collections
import json
import os
import re
import select
import subprocess
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import torch_databases  # noqa: E402
import torch_samples  # noqa: E402

DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "i8": "int8", "i16": "int16", "i32": "int32",
          "i64": "int64", "u8": "uint8", "bool": "bool", "c64": "complex64", "c128": "complex128"}
WHATS = ["forward", "backward", "inplace", "out", "errors", "export"]


def listed(allowed):
    def parse(text):
        names = text.split(",")
        unknown = set(names) - set(allowed)
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not among {', '.join(allowed)}")
        return names
    return parse


def run_subject(subject, arguments):
    """[(what, dtype, index, how, why)] of one subject."""
    import torch
    made = []
    for what in arguments.what:
        for short in arguments.dtypes:
            dtype = getattr(torch, DTYPES[short])
            torch.manual_seed(0)
            try:
                for index, case in enumerate(subject.cases(dtype, what) if what in subject.WHATS else ()):
                    if arguments.samples and index >= arguments.samples and what != "errors":
                        break
                    how, why = torch_samples.error_outcome(case) if what == "errors" else torch_samples.outcome(case, DTYPES[short])
                    made.append((what, short, index, how, why))
            except Exception as error:
                made.append((what, short, -1, "skipped", f"no samples: {error}"))
    return made


def load(arguments):
    """Subjects of the databases, (database, subject) each."""
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)
    return [(db, subject) for db in arguments.db for subject in torch_databases.DATABASES[db]()]


def worker(arguments):
    """Reads positions among the subjects, one a line, and answers with a line of JSON each."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print does not disturb
    import torch_xla  # noqa: F401
    subjects = load(arguments)
    for line in sys.stdin:
        channel.write(json.dumps(run_subject(subjects[int(line)][1], arguments)) + "\n")
        channel.flush()


def processor_seconds(pid):
    """What the process has used: a busy machine may leave it none for minutes."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    def __init__(self, arguments):
        flags = ["--worker", f"--samples={arguments.samples}"]
        flags += [f"--{name}={','.join(getattr(arguments, name))}" for name in ("dtypes", "db", "what")]
        self.process = subprocess.Popen([sys.executable, __file__, *flags], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.index, self.since = None, 0.0

    def give(self, index):
        self.index, self.since = index, processor_seconds(self.process.pid)
        try:
            self.process.stdin.write(f"{index}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # seen when its answer is read


def in_workers(arguments, indices):
    """(index, rows) of all, as they are done; a process that ends or hangs costs only its subject."""
    waiting, workers = list(reversed(indices)), []
    try:
        while waiting or workers:
            while waiting and len(workers) < arguments.jobs:
                workers.append(Worker(arguments))
                workers[-1].give(waiting.pop())
            ready = select.select([w.process.stdout for w in workers], [], [], 5)[0]
            for w in list(workers):
                line = w.process.stdout.readline() if w.process.stdout in ready else ""
                if line:
                    yield w.index, [tuple(row) for row in json.loads(line)]
                elif w.process.stdout in ready or processor_seconds(w.process.pid) - w.since > arguments.timeout:
                    late = w.process.stdout not in ready
                    w.process.kill()
                    status = w.process.wait()
                    yield w.index, [(arguments.what[0], arguments.dtypes[0], -1, "crash", f"more than {arguments.timeout:.0f} s" if late else f"the process ended with status {status}")]
                    workers.remove(w)
                    continue
                else:
                    continue
                if waiting:
                    w.give(waiting.pop())
                else:
                    w.process.stdin.close()
                    w.process.wait()
                    workers.remove(w)
    finally:
        for w in workers:
            w.process.kill()


FIELDS = ("db", "op", "what", "dtype", "sample", "how", "why")


def summary(rows):
    """Subjects by what went wrong, the most frequent first."""
    groups = collections.defaultdict(collections.Counter)
    for row in rows:
        if row["how"] == "fallback":
            for ran in row["why"].split():
                groups["fallback " + ran][row["op"]] += 1
        elif row["how"] not in ("passed", "skipped"):
            groups[row["how"]][row["op"]] += 1
    for group, names in sorted(groups.items(), key=lambda item: -sum(item[1].values())):
        print(f"{sum(names.values()):5} {group}: " + ", ".join(f"{n} {c}" for n, c in names.most_common()))


def rate_of(rows):
    """(percentage, passed, applicable, skipped)"""
    counts = collections.Counter(row["how"] for row in rows)
    applicable = len(rows) - counts["skipped"]
    return 100 * counts["passed"] / max(1, applicable), counts["passed"], applicable, counts["skipped"]


def compared(arguments, rows):
    """Number of entries and samples in which this run differs from the list of --expected, where the type may be `any`. What `varies` from
    processor to processor may pass though listed."""
    with open(arguments.expected) as file:
        entries = {(e["db"], e["op"], e["what"], e["dtype"]): e.get("varies", False) for e in json.load(file)}
    known = set(entries) | {(*key[:3], short) for key in entries if key[3] == "any" for short in DTYPES}
    seen = collections.defaultdict(bool)
    for row in rows:
        if row["how"] != "skipped":
            seen[row["db"], row["op"], row["what"], row["dtype"]] |= row["how"] != "passed"
    unexpected = sorted(" ".join(key) for key, failed in seen.items() if failed and key not in known)
    print(f"{len(unexpected)} unexpected: {', '.join(unexpected)}")
    runs = collections.defaultdict(list)
    for key, failed in seen.items():
        for listed in (key, (*key[:3], "any")):
            runs[listed].append(failed)
    stale = sorted(" ".join(key) for key, varies in entries.items() if not varies and runs[key] and not any(runs[key]))
    if arguments.strict:
        print(f"{len(stale)} pass though listed: {', '.join(stale)}")
    return len(unexpected) + (len(stale) if arguments.strict else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", default="op", type=listed(torch_databases.DATABASES), help="of " + ",".join(torch_databases.DATABASES))
    parser.add_argument("--what", default="forward", type=listed(WHATS), help="of " + ",".join(WHATS))
    parser.add_argument("--backward", action="store_true", help="--what=backward")
    parser.add_argument("--samples", type=int, default=3, help="of each subject; 0: all")
    parser.add_argument("--match", default="", help="regular expression over names")
    parser.add_argument("--dtypes", default="f32", type=listed(DTYPES), help="of " + ",".join(DTYPES))
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--timeout", type=float, default=240, help="of a processor for one subject in a worker")
    parser.add_argument("--least", type=float, default=0, help="percentage of applicable samples that must pass")
    parser.add_argument("--each", type=int, default=1, help="every n-th subject only")
    parser.add_argument("--jobs", type=int, default=0, help="worker processes; 0: in this one")
    parser.add_argument("--json", help="file for the samples that did not pass")
    parser.add_argument("--expected", help="file of the samples that need not pass")
    parser.add_argument("--strict", action="store_true", help="and of no others")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.backward:
        arguments.what = ["backward"]
    if arguments.worker:
        return worker(arguments)
    if not arguments.jobs:
        import torch_xla  # noqa: F401
    subjects = load(arguments)
    start, rows = time.time(), []
    indices = [i for i in range(0, len(subjects), arguments.each) if re.search(arguments.match, subjects[i][1].name)]
    runs = in_workers(arguments, indices) if arguments.jobs else ((i, run_subject(subjects[i][1], arguments)) for i in indices)
    for index, made in runs:
        db, subject = subjects[index]
        for row in made:
            rows.append(dict(zip(FIELDS, (db, subject.name, *row))))
            what, dtype, sample, how, why = row
            if how not in ("passed", "skipped"):
                print(f"{how} {subject.name} {what} {dtype} #{sample}: {why}", flush=True)
        if time.time() - start > arguments.seconds:
            break
    summary(rows)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump([row for row in rows if row["how"] not in ("passed", "skipped")], file, indent=0)
    different = compared(arguments, rows) if arguments.expected else 0
    for db in arguments.db:
        for what in arguments.what:
            rate, passed, applicable, skipped = rate_of([r for r in rows if r["db"] == db and r["what"] == what])
            if applicable:
                print(f"{db} {what}: {rate:.2f} % ({passed} of {applicable} samples; {skipped} not applicable)")
    rate, passed, applicable, skipped = rate_of(rows)
    print(f"{rate:.2f} % of {applicable} samples pass; {time.time() - start:.0f} s")
    print(f"{passed} passed, {applicable - passed} failed, {skipped} skipped")
    return rate < arguments.least or bool(different)


if __name__ == "__main__":
    sys.exit(main())
