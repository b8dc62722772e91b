#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own samples of every operator (op_db), on the device and on the CPU.

    torch_op_db.py [--samples N] [--match RE] [--dtypes f32,bf16] [--backward] [--jobs 2] [--json FILE] [--expected FILE]

A sample passes if values, types and shapes agree and no operator ran on the CPU meanwhile. What else may come of it:
  wrong      another value, type, shape or number of results
  fallback   an `aten::` counter rose: names of the operators
  exception  the device raised what the CPU did not
  crash      the process ended, or the operator took more than --timeout seconds
  skipped    not applicable: the CPU itself cannot run it, or the layout is sparse
Random operators are compared by type and shape only. --backward compares gradients (of inputs that require one) instead of
values. --json writes one entry per sample that did not pass. --expected compares with such a list: exit status 1 if a sample
fails that is not in it. The last lines sum up.
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

DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "i32": "int32", "i64": "int64",
          "u8": "uint8", "bool": "bool", "c64": "complex64"}
TOLERANCE = {"float64": (1e-7, 1e-7), "float32": (1e-3, 1e-4), "bfloat16": (5e-2, 2e-2), "float16": (1e-2, 5e-3),
             "complex64": (1e-3, 1e-4), "complex128": (1e-7, 1e-7)}

# Their values come from a generator or from uninitialized memory.
RANDOM = re.compile(r"^(.*rand.*|.*normal|normal\..*|nn\.functional\..*dropout.*|bernoulli|multinomial|(new_)?empty.*|uniform|cauchy|"
                    r"exponential|geometric|log_normal|.*lowrank|nn\.functional\.(fractional.*|rrelu)|"
                    r"nn\.functional\.(multi_head_attention_forward|scaled_dot_product_attention)\.dropout)$")
# Runs of the CPU's factorizations may differ by a factor of size one per vector, and by the order of equal values: what is
# the same for all of them is compared instead.
UNIQUE_PART = {
    "linalg.svd": lambda r, sample: [r[1], (r[0] * r[1].unsqueeze(-2).to(r[0].dtype)) @ r[2]] if r[0].shape[-1] == r[2].shape[-2] else [r[1]],
    "svd": lambda r, sample: [r[1], (r[0] * r[1].unsqueeze(-2).to(r[0].dtype)) @ r[2].mH] if r[0].shape[-1] == r[2].shape[-1] else [r[1]],
    "linalg.qr": lambda r, sample: [r[0] @ r[1]] if r[0].numel() else [r[1].abs()],
    "qr": lambda r, sample: [r[0] @ r[1]] if r[0].numel() else [r[1].abs()],
    "linalg.eigh": lambda r, sample: [r[0], (r[1] * r[0].unsqueeze(-2).to(r[1].dtype)) @ r[1].mH],
    "linalg.eig": lambda r, sample: [(r[1] * r[0].unsqueeze(-2)) @ r[1].pinverse()],
    "linalg.eigvals": lambda r, sample: [_byParts(r[0])],
    "geqrf": lambda r, sample: [r[0].triu().abs()],
    "linalg.ldl_factor": lambda r, sample: [r[0].diagonal(dim1=-2, dim2=-1), r[1]],
    "argsort": lambda r, sample: [_ordered(r[0], sample)],
    "kthvalue": lambda r, sample: _values(r, sample, 1),
    "median": lambda r, sample: _values(r, sample, 0),
    "nanmedian": lambda r, sample: _values(r, sample, 0),
}


def _ordered(positions, sample):
    """The elements in that order."""
    import torch
    dim = sample.kwargs.get("dim", sample.args[0] if sample.args else -1)
    return torch.gather(sample.input.detach(), dim, positions) if sample.input.dim() else positions


def _values(results, sample, dimAt):
    """Positions of equal elements may differ: values, and the elements at the positions."""
    import torch
    if len(results) < 2 or sample.input.dim() == 0:
        return results[:1]
    dim = sample.kwargs.get("dim", sample.args[dimAt] if len(sample.args) > dimAt else -1)
    positions = results[1] if results[1].dim() == sample.input.dim() else results[1].unsqueeze(dim)
    return [results[0], torch.gather(sample.input.detach(), dim, positions)]


def _byParts(values):
    """Complex numbers in an order that rounding errors do not change."""
    import torch
    key = values.real.round(decimals=2) * 1000 + values.imag
    return values.gather(-1, torch.argsort(key, -1))


def full_name(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def moved_to_device(inputs):
    """The inputs on the device; tensors that require a gradient do so there too."""
    import torch
    from torch.utils._pytree import tree_map

    def move(value):
        if isinstance(value, torch.Tensor):
            return value.detach().clone().to("xla").requires_grad_(value.requires_grad)
        if isinstance(value, torch.device) and value.type == "cpu":
            return torch.device("xla")
        return value
    made = tree_map(move, inputs)
    if str(made[2].get("device", "")) == "cpu":
        made[2]["device"] = "xla"
    return made


def results_of(op, sample, inputs):
    from torch.utils._pytree import tree_leaves
    return tree_leaves(sample.output_process_fn_grad(op(inputs[0], *inputs[1], **inputs[2])))


def gradients_of(op, sample, inputs):
    """Gradients of all inputs that require one, for fixed weights of the results; None if nothing is differentiable."""
    import torch
    from torch.utils._pytree import tree_leaves
    leaves = [t for t in tree_leaves(inputs) if isinstance(t, torch.Tensor) and t.requires_grad]
    outputs = [t for t in results_of(op, sample, inputs) if isinstance(t, torch.Tensor) and t.requires_grad]
    if not leaves or not outputs:
        return None
    generator = torch.Generator().manual_seed(0)
    weights = [torch.randn(t.shape, generator=generator, dtype=torch.complex128 if t.is_complex() else torch.float64)
               .to(t.dtype).to(t.device) for t in outputs]
    return list(torch.autograd.grad(outputs, leaves, weights, allow_unused=True))


def difference(got, want, name, dtype, rng, sample, backward):
    """What is not equal, or None."""
    import torch
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for a, b in zip(got, want):
        if not isinstance(b, torch.Tensor) or not isinstance(a, torch.Tensor):
            if type(a) is not type(b) or (a != b and not (isinstance(b, (float, complex)) and (abs(a - b) < 1e-4 or (a != a and b != b)))):
                return f"{a} instead of {b}"
        elif a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
    if rng:
        return None
    if name in UNIQUE_PART and not backward and all(isinstance(b, torch.Tensor) for b in want) and len(want) == len(got):
        try:
            got, want = UNIQUE_PART[name](got, sample), UNIQUE_PART[name](want, sample)
        except (IndexError, RuntimeError, TypeError):
            pass  # a result that was processed already
    for a, b in zip(got, want):
        if isinstance(b, torch.Tensor):
            rtol, atol = TOLERANCE.get(str(b.dtype)[6:], (0, 0))
            if str(b.dtype)[6:] == "float32" and dtype in ("bfloat16", "float16"):
                rtol, atol = TOLERANCE[dtype]
            try:
                torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
            except AssertionError as error:
                return " ".join(str(error).split())[:300]
    return None


def outcome(op, sample, dtype, backward):
    """(how, why) of one sample."""
    import torch
    import torch_xla.debug.metrics as met
    from torch.utils._pytree import tree_map_only
    run = gradients_of if backward else results_of
    inputs = (sample.input, sample.args, dict(sample.kwargs))

    def kept(values):
        return [t.detach().to("cpu", copy=True).resolve_conj().resolve_neg() if isinstance(t, torch.Tensor) else t for t in values]
    try:
        moved = moved_to_device(inputs)
    except (NotImplementedError, RuntimeError) as error:
        return "skipped", f"not on this device: {str(error).splitlines()[0][:100]}"
    try:
        copies = tree_map_only(torch.Tensor, lambda t: t.detach().clone().requires_grad_(t.requires_grad), inputs)
        torch.manual_seed(0)
        want = run(op, sample, copies)
        if want is None:
            return "skipped", "nothing to differentiate"
        want = kept(want)
    except Exception as error:
        return "skipped", f"the CPU: {str(error).splitlines()[0][:100] if str(error) else type(error).__name__}"
    met.clear_all()
    try:
        torch.manual_seed(0)
        got = run(op, sample, moved)
        if got is None:
            return "wrong", "nothing to differentiate"
        got = kept(got)
    except Exception as error:
        ran = met.executed_fallback_ops()
        return "exception", f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:200]}" + (f" (after {' '.join(ran)})" if ran else "")
    ran = met.executed_fallback_ops()
    why = difference(got, want, full_name(op), dtype, bool(RANDOM.match(full_name(op))), sample, backward)
    if why:
        return "wrong", why + (f" (after {' '.join(ran)})" if ran else "")
    return ("fallback", " ".join(ran)) if ran else ("passed", "")


def run_operator(op, dtypes, samples, backward):
    """[(dtype, index, how, why)] of one operator."""
    import torch
    made = []
    for short in dtypes:
        dtype = getattr(torch, DTYPES[short])
        usable = op.supported_backward_dtypes("cpu") if backward else op.supported_dtypes("cpu")
        if dtype not in usable or (backward and not op.supports_autograd):
            continue
        try:
            torch.manual_seed(0)
            taken = list(op.sample_inputs("cpu", dtype, requires_grad=backward))
        except Exception as error:
            made.append((short, -1, "skipped", f"no samples: {error}"))
            continue
        for index, sample in enumerate(taken[:samples] if samples else taken):
            made.append((short, index, *outcome(op, sample, DTYPES[short], backward)))
    return made


def load():
    warnings.simplefilter("ignore")
    import torch
    import torch_xla  # noqa: F401
    from torch.testing._internal.common_methods_invocations import op_db
    torch.set_num_threads(1)
    return op_db


def worker(arguments):
    """Reads positions in op_db, one a line, and answers with a line of JSON each."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print does not disturb
    op_db = load()
    for line in sys.stdin:
        rows = run_operator(op_db[int(line)], arguments.dtypes, arguments.samples, arguments.backward)
        channel.write(json.dumps(rows) + "\n")
        channel.flush()


class Worker:
    def __init__(self, arguments):
        flags = ["--worker", f"--samples={arguments.samples}", f"--dtypes={','.join(arguments.dtypes)}"]
        flags += ["--backward"] if arguments.backward else []
        self.process = subprocess.Popen([sys.executable, __file__, *flags], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=lambda: os.nice(19))
        self.index, self.since = None, 0

    def give(self, index):
        self.index, self.since = index, time.time()
        try:
            self.process.stdin.write(f"{index}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # seen when its answer is read


def in_workers(arguments, indices):
    """(index, rows) of all, as they are done; a process that ends or hangs costs only its operator."""
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
                elif w.process.stdout in ready or time.time() - w.since > arguments.timeout:
                    late = w.process.stdout not in ready
                    w.process.kill()
                    yield w.index, [("", -1, "crash", f"more than {arguments.timeout:.0f} s" if late else f"the process ended with status {w.process.wait()}")]
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


def summary(rows):
    """Operators by what went wrong, the most frequent first."""
    groups = collections.defaultdict(collections.Counter)
    for name, _, _, how, why in rows:
        if how == "fallback":
            for ran in why.split():
                groups["fallback " + ran][name] += 1
        elif how not in ("passed", "skipped"):
            groups[how][name] += 1
    for group, names in sorted(groups.items(), key=lambda item: -sum(item[1].values())):
        print(f"{sum(names.values()):5} {group}: " + ", ".join(f"{n} {c}" for n, c in names.most_common()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=3, help="of each operator; 0: all")
    parser.add_argument("--match", default="", help="regular expression over names")
    parser.add_argument("--dtypes", default="f32", type=lambda text: text.split(","), help="of " + ",".join(DTYPES))
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--timeout", type=float, default=240, help="of one operator in a worker")
    parser.add_argument("--least", type=float, default=0, help="percentage of applicable samples that must pass")
    parser.add_argument("--each", type=int, default=1, help="every n-th operator only")
    parser.add_argument("--jobs", type=int, default=0, help="worker processes; 0: in this one")
    parser.add_argument("--json", help="file for the samples that did not pass")
    parser.add_argument("--expected", help="file of the samples that need not pass")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    if arguments.jobs:
        from torch.testing._internal.common_methods_invocations import op_db
    else:
        op_db = load()
    start, rows = time.time(), []
    indices = [i for i in range(0, len(op_db), arguments.each) if re.search(arguments.match, full_name(op_db[i]))]
    if arguments.jobs:
        runs = in_workers(arguments, indices)
    else:
        runs = ((i, run_operator(op_db[i], arguments.dtypes, arguments.samples, arguments.backward)) for i in indices)
    for index, made in runs:
        name = full_name(op_db[index])
        for dtype, sample, how, why in made:
            rows.append((name, dtype, sample, how, why))
            if how not in ("passed", "skipped"):
                print(f"{how} {name} {dtype} #{sample}: {why}", flush=True)
        if time.time() - start > arguments.seconds:
            break
    summary(rows)
    failed = [dict(zip(("op", "dtype", "sample", "how", "why"), row)) for row in rows if row[3] not in ("passed", "skipped")]
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(failed, file, indent=0)
    counts = collections.Counter(row[3] for row in rows)
    applicable = len(rows) - counts["skipped"]
    rate = 100 * counts["passed"] / max(1, applicable)
    unexpected = 0
    if arguments.expected:
        with open(arguments.expected) as file:
            known = {(e["op"], e["dtype"]) for e in json.load(file)["backward" if arguments.backward else "forward"]}
        unexpected = [f"{row['op']} {row['dtype']}" for row in failed if (row["op"], row["dtype"]) not in known]
        print(f"{len(unexpected)} unexpected: {', '.join(sorted(set(unexpected)))}")
    print(f"{rate:.2f} % of {applicable} samples pass; {time.time() - start:.0f} s")
    print(f"{counts['passed']} passed, {applicable - counts['passed']} failed, {counts['skipped']} skipped")
    return rate < arguments.least or bool(unexpected)


if __name__ == "__main__":
    sys.exit(main())
