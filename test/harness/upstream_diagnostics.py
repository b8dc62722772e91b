# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics of our verifiers and parsers against upstream's, which jaxlib has: the same module, the same messages.

    python test/harness/upstream_diagnostics.py [--dialect=stablehlo] [--match=REGEX] [--per-op=40] [--seed=0] [--show=20]

Programs are the split parts of lit/dialects/, as they are, and mutants of the single operations in them: another rank, size or
element type, numbers of attributes out of range, attributes, regions, operands and results that are missing or doubled.
Equal means that upstream's `expected-error` lines accept our messages. Ends with `N equal, N different in N ways, N with a reason`.
"""
import argparse
import bisect
import collections
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, ROOT)
from benchmarks import tools  # noqa: E402

SPLIT = re.compile(r"^// -----.*$", re.M)
BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
ELEMENTS = ["f32", "i32", "f64", "i64", "ui8", "i1", "complex<f32>", "f16", "index", "!quant.uniform<i8:f32, 1.0:17>"]


def parts(path):
    """The programs of a lit file, without what lit and FileCheck read."""
    with open(path) as file:
        text = file.read()
    for part in SPLIT.split(text):
        lines = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
        if any(line.strip() for line in lines):
            yield "\n".join(lines) + "\n"


def seeds(dialect):
    for path in sorted(glob.glob(f"{ROOT}/lit/dialects/{dialect}/*.mlir")):
        for part in parts(path):
            yield os.path.relpath(path, ROOT), part


# --- the two sides -------------------------------------------------------------------------------------------------------


class Upstream:
    """jaxlib's parser and verifiers in a process of their own, because some invalid programs crash them."""

    CRASH = "upstream crashes"

    def __init__(self):
        self.process = None

    def ask(self, **question):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, os.path.realpath(__file__), "--worker"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (json.JSONDecodeError, BrokenPipeError):
            self.process.wait()
            self.process = None
            return {"errors": [self.CRASH], "operations": []}

    def errors(self, text):
        return self.ask(text=text)["errors"]

    def operations(self, text, dialect):
        """The operations of a dialect in a valid program, each in its generic form."""
        return self.ask(text=text, dialect=dialect)["operations"]


def is_note(message):
    """Whether a note counts: --verify-diagnostics wants them expected, too, but the operation is shown only without it."""
    return not message.startswith("see current operation")


def worker():
    import jax._src.interpreters.mlir as jax_mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    from jaxlib.mlir.passmanager import PassManager

    stablehlo.register_stablehlo_passes()
    context = jax_mlir.make_ir_context()
    context.load_all_available_dialects()
    with context, ir.Location.unknown():
        # A pass brings dialects along that have no registration of their own in Python: quant, shape, vhlo.
        PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)").run(ir.Module.create().operation)
    context.allow_unregistered_dialects = False
    for line in sys.stdin:
        question = json.loads(line)
        errors, operations = [], []
        try:
            with context, ir.Location.unknown():
                module = ir.Module.parse(question["text"])

                def visit(op):
                    if op.name.startswith(question["dialect"] + ".") and not op.name.endswith(".return"):
                        operations.append(op.get_asm(print_generic_op_form=True, use_local_scope=True, assume_verified=True))
                    return ir.WalkResult.ADVANCE

                if "dialect" in question:
                    module.operation.walk(visit)
        except ir.MLIRError as error:
            errors = [text for d in error.error_diagnostics for text in [d.message, *(f"note: {note.message}" for note in d.notes if is_note(note.message))]]
        print(json.dumps({"errors": errors, "operations": operations}), flush=True)


def ours(programs, *flags):
    """Errors of every program; a crash is the only message of the program that caused it."""
    found = []
    for first in range(0, len(programs), 250):
        found += ours_of_batch(programs[first:first + 250], flags)
    return found


def ours_of_batch(programs, flags):
    """One process for all programs, as parts of one file; halves where it crashes."""
    text, starts = "", []
    for program in programs:
        starts.append(text.count("\n") + 1)
        text += program.rstrip("\n") + "\n// -----\n"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as file:
        file.write(text)
    try:
        process = subprocess.run([tools.tool("xla-opt"), file.name, "-split-input-file", "-o", os.devnull, *flags], capture_output=True,
                                 text=True)
    finally:
        os.unlink(file.name)
    if process.returncode not in (0, 1):
        if len(programs) == 1:
            reason = [line for line in process.stderr.splitlines() if "Assertion" in line or "LLVM ERROR" in line]
            return [[f"ours crashes: {reason[0] if reason else process.returncode}"]]
        half = len(programs) // 2
        return ours_of_batch(programs[:half], flags) + ours_of_batch(programs[half:], flags)
    found = [[] for _ in programs]
    for line in process.stderr.splitlines():
        match = re.match(r"(?:within split at )?\S*?:(\d+)(?: offset :\d+:\d+|:\d+)?: (error: |note: )(.*)", line)
        if match and (match[2] == "error: " or is_note(match[3])):
            found[bisect.bisect_right(starts, int(match[1])) - 1].append(match[2].removeprefix("error: ") + match[3])
    return found


# --- mutants -------------------------------------------------------------------------------------------------------------


def close(text, start):
    """Index behind the bracket that closes the one at `start`; strings and `->` are skipped."""
    depth, i = 0, start
    while i < len(text):
        c = text[i]
        if c == '"':
            i = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, i).end()
            continue
        if text.startswith("->", i):
            i += 2
            continue
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    raise ValueError("no closing bracket")


def split_types(text):
    """Types of a comma-separated list."""
    found, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{<":
            depth += 1
        elif c in ")]}>" and text[i - 1:i + 1] != "->":
            depth -= 1
        elif c == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    return found + [text[start:].strip()] if text.strip() else []


class Single:
    """One operation in its generic form, with operands that are arguments of a function."""

    def __init__(self, text):
        match = re.match(r'(?:%\S+ = )?"([\w.-]+)"\(', text)
        self.name = match[1]
        end = close(text, match.end() - 1)
        tail = self.last_signature(text, end)
        self.body = text[end:tail].rstrip()  # properties, regions, attributes
        arrow = close(text, tail + 3)
        self.operands = split_types(text[tail + 4:arrow - 1])
        results = text[arrow:].strip()[2:].strip()
        self.results = split_types(results[1:close(results, 0) - 1]) if results.startswith("(") else [results]

    @staticmethod
    def last_signature(text, start):
        i = start
        while True:
            while text[i].isspace():
                i += 1
            if text.startswith(" : (", i - 1) and text[i] == ":":
                return i - 1
            if text[i] in "<{(":
                i = close(text, i)
            else:
                raise ValueError("no signature")

    def text(self):
        arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(self.operands))
        names = ", ".join(f"%a{i}" for i in range(len(self.operands)))
        left = f"%r:{len(self.results)} = " if self.results else ""
        return (f'func.func @f({arguments}) {{\n  {left}"{self.name}"({names}){self.body} : ({", ".join(self.operands)}) -> '
                f'({", ".join(self.results)})\n  func.return\n}}\n')

    def copy(self):
        other = object.__new__(Single)
        other.name, other.body, other.operands, other.results = self.name, self.body, list(self.operands), list(self.results)
        return other


def other_type(rng, text):
    match = re.fullmatch(r"tensor<((?:(?:\d+|\?)x)*)(.*)>", text, re.S)
    if not match:
        return rng.choice(["tensor<f32>", "!stablehlo.token", "tensor<2x3xi32>"])
    sizes, element = match[1].split("x")[:-1], match[2]
    encoding = ""
    kind = rng.randrange(7)
    if kind == 0 and sizes:
        i = rng.randrange(len(sizes))
        sizes[i] = rng.choice(["0", "1", "2", "5", "7"])
    elif kind == 1 and sizes:
        sizes[rng.randrange(len(sizes))] = "?"
    elif kind == 2:
        sizes.insert(rng.randint(0, len(sizes)), rng.choice(["1", "3"]))
    elif kind == 3 and sizes:
        del sizes[rng.randrange(len(sizes))]
    elif kind == 4 and len(sizes) > 1:
        i = rng.randrange(len(sizes) - 1)
        sizes[i], sizes[i + 1] = sizes[i + 1], sizes[i]
    elif kind == 5:
        return rng.choice(["!stablehlo.token", "tuple<tensor<f32>>", "f32", "tensor<*xf32>"])
    else:
        element = rng.choice(ELEMENTS)
    return "tensor<" + "".join(s + "x" for s in sizes) + element + encoding + ">"


def mutate_number(rng, text):
    """Another value for one number of the attributes, outside of types and of regions' operations."""
    spots = [m for m in re.finditer(r"(?<![\w%.#^x<])-?\d+(?![\w.x])", text)]
    if not spots:
        return None
    spot = rng.choice(spots)
    old = int(spot[0])
    new = rng.choice([v for v in (-1, 0, 1, 2, 3, 9, old + 1, old - 1) if v != old])
    return text[:spot.start()] + str(new) + text[spot.end():]


def mutate_array(rng, text):
    """A list of an attribute with an entry more or less."""
    spots = [m for m in re.finditer(r"array<i(?:64|1): ([^>]*)>|(?<=\[)([-\d, ]+)(?=\])", text)]
    if not spots:
        return None
    spot = rng.choice(spots)
    group = 1 if spot[1] else 2
    entries = spot[group].split(", ")
    if rng.random() < 0.5:
        entries.insert(rng.randint(0, len(entries)), rng.choice(entries))
    else:
        del entries[rng.randrange(len(entries))]
    inner = ", ".join(entries)
    if not entries and group == 1:
        return text[:spot.start()] + spot[0].split(":")[0] + ">" + text[spot.end():]
    return text[:spot.start(group)] + inner + text[spot.end(group):]


def attribute_entries(text):
    """(start, end) of every entry of the properties `<{...}>` at the beginning."""
    begin = text.find("<{")
    if begin < 0 or text[:begin].strip():
        return begin, []
    inner_end = close(text, begin) - 2
    entries, depth, start, i = [], 0, begin + 2, begin + 2
    while i < inner_end:
        c = text[i]
        if c == '"':
            i = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, i).end()
            continue
        if c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
        elif c == "," and depth == 0:
            entries.append(text[start:i].strip())
            start = i + 1
        i += 1
    entries.append(text[start:inner_end].strip())
    return begin, entries


def mutate_attribute(rng, text):
    """An attribute less, or of another kind."""
    begin, entries = attribute_entries(text)
    if not entries:
        return None
    i = rng.randrange(len(entries))
    if rng.random() < 0.5:
        del entries[i]
    else:
        name = entries[i].split(" ")[0]
        entries[i] = name + " = " + rng.choice(['"text"', "1 : i32", "true", "1.5 : f32", "array<i64: 1, 2>", "dense<[1, 2]> : tensor<2xi64>", "[]"])
    rest = text[close(text, begin):]
    return " <{" + ", ".join(entries) + "}>" + rest if entries else " " + rest


def mutate_region(rng, text):
    """Another type somewhere in the regions, or no regions."""
    begin = text.find("({")
    if begin < 0:
        return None
    if rng.random() < 0.1:
        return text[:begin] + text[close(text, begin):]
    types = [m for m in re.finditer(r"tensor<[^<>]*>", text) if m.start() > begin]
    if not types:
        return None
    spot = rng.choice(types)
    new = other_type(rng, spot[0])
    if rng.random() < 0.5:
        return text[:begin] + text[begin:].replace(spot[0], new)
    return text[:spot.start()] + new + text[spot.end():]


BODY_MUTATIONS = {7: mutate_number, 8: mutate_array, 9: mutate_attribute, 10: mutate_region}


def mutants(rng, single, count):
    seen = set()
    for _ in range(count * 4):
        if len(seen) >= count:
            break
        new = single.copy()
        kind = rng.randrange(12)
        if kind <= 2 and new.operands:
            i = rng.randrange(len(new.operands))
            new.operands[i] = other_type(rng, new.operands[i])
        elif kind <= 4 and new.results:
            i = rng.randrange(len(new.results))
            new.results[i] = other_type(rng, new.results[i])
        elif kind == 5 and new.operands:
            if rng.random() < 0.5:
                del new.operands[rng.randrange(len(new.operands))]
            else:
                new.operands.append(rng.choice(new.operands))
        elif kind == 6 and new.results:
            if rng.random() < 0.5:
                new.results.pop()
            else:
                new.results.append(rng.choice(new.results))
        elif kind in BODY_MUTATIONS:
            body = BODY_MUTATIONS[kind](rng, new.body)
            if body is None:
                continue
            new.body = body
        elif new.operands:
            old = rng.choice(new.operands)
            changed = other_type(rng, old)
            new.operands = [changed if t == old else t for t in new.operands]
            new.results = [changed if t == old else t for t in new.results]
        text = new.text()
        if text not in seen:
            seen.add(text)
            yield text


def valid_programs(upstream):
    """Programs of the lit tests, function by function where a file has something that jaxlib does not know yet; conformance data."""
    paths = glob.glob(f"{ROOT}/lit/**/*.mlir", recursive=True)
    paths += glob.glob(f"{ROOT}/test/conformance/programs/*.mlir")
    for path in sorted(paths):
        for part in parts(path):
            if not upstream.errors(part):
                yield part
            else:
                yield from re.split(r"(?m)^(?=func\.func)", part)


def singles(upstream, dialect, match):
    """Operations of the dialect in valid programs; of every operation those that differ by more than sizes."""
    found = {}
    for part in valid_programs(upstream):
        for text in upstream.operations(part, dialect):
            try:
                single = Single(text)
            except (ValueError, AttributeError, TypeError):
                continue  # a region that uses values from outside has no form of its own
            if not re.search(match, single.name) or len(text) > 4000:
                continue
            kind = re.sub(r"\d+", "0", single.text())
            if kind not in found.get(single.name, {}) and not upstream.errors(single.text()):
                found.setdefault(single.name, {})[kind] = single
    return found


TEXT_MUTATIONS = [
    (r"(?<![\w.])\d+(?![\w])", lambda rng, m: str(rng.choice([0, 1, 2, 3, 4, 5, 7, 9, 16]))),
    (r'"(\w)"', lambda rng, m: '"' + rng.choice("abcxyzw") + '"'),
    (r"\{[^{}\n]*\}", lambda rng, m: rng.choice(["", "{}", m[0] + ", " + m[0], "{?}"])),
    (r"tensor<[^<>]*>", lambda rng, m: other_type(rng, m[0])),
    (r"\b(reduction|need_replication|permutation|blocked_propagation|custom|replicated|unreduced|open|device_ids|in_shardings|out_shardings|manual_axes|out_sharding)\b",
     lambda rng, m: rng.choice(["", "replicated", "permutation", "reduction"])),
    (r"[\]\[<>(),=:]", lambda rng, m: rng.choice(["", ",", "]", ">"])),
    (r"\[[^\[\]\n]*\]", lambda rng, m: rng.choice(["[]", m[0] + ", " + m[0], ""])),
    (r"@\w+", lambda rng, m: rng.choice(["@mesh", "@other", "@foo"])),
]


def text_mutants(rng, text, count):
    """Programs with one place of their text changed: for dialects whose text is in attributes."""
    for _ in range(count):
        pattern, change = rng.choice(TEXT_MUTATIONS)
        spots = list(re.finditer(pattern, text))
        if spots:
            spot = rng.choice(spots)
            yield text[:spot.start()] + change(rng, spot) + text[spot.end():]


# --- comparison ----------------------------------------------------------------------------------------------------------

# Where ours differs on purpose or because jaxlib's copy is older; searched in "operation: upstream's <> ours".
KNOWN = [
    (r"upstream crashes", "upstream crashes on it"),
    (r"collective_reduce|collective_broadcast|has_dynamic_root|async_done|result_tilings", "a form that StableHLO got after jaxlib's version of it"),
    (r":  <> .*(torch_index_select|rng_bit_generator|dynamic_conv|duplicate (sources|targets)|dot algorithm not known|"
     r"in type '|source_target_pairs|rank equal to the number of elements|bitcast_convert|window-reversal|"
     r"output_operand_alias|initial state|do not broadcast|broadcast_dimensions)",
     "upstream does not check what the specification demands"),
    (r"<> .*but got 'tensor<\*x", "upstream takes tensors without a rank in chlo and custom calls"),
    (r"must be (variadic of )?tensor of .* <> .* must be (variadic of )?ranked tensor of", "upstream takes tensors without a rank there, so it does not say ranked"),
    (r"per-tensor integer quantized values.* <> .*or per-axis integer quantized", "upstream takes fewer tensors that are quantized per axis"),
    (r"dynamic_reshape|dynamic_broadcast_in_dim|real_dynamic_slice", "upstream prints an unknown size as a number"),
    (r"expects at least one (input|operand)", "without inputs upstream complains of what follows from that"),
    (r"chlo.square|chlo.bessel_i1e", "more element types here, or fewer"),
    (r"stablehlo.broadcast'|the body to be a single collective|dynamic_conv|uniform_(de)?quantize|chlo.broadcast_|chlo.next_after|"
     r"named_computation|replicated_to_unreduced|edges|manual_axes|quantization", "another constraint of several that are broken is named first"),
    (r"attribute '\w+' failed to satisfy constraint|expected '|custom op|DenseArray|unknown attribute|does not refer|integer value", "text of MLIR, whose versions differ"),
]


def normal(messages):
    return [re.sub(r"\s+", " ", m).strip() for m in messages]


def matches(theirs, own):
    """Whether upstream's `expected-error` lines would accept ours: one message for each of theirs, which contains it."""
    return len(theirs) == len(own) and all(a in b for a, b in zip(theirs, own))


def reason(where, theirs, own):
    if any(message.startswith("ours crashes") for message in own):
        return None
    text = f"{where}: {' ; '.join(theirs)} <> {' ; '.join(own)}"
    return next((why for pattern, why in KNOWN if re.search(pattern, text)), None)


def programs(upstream, options):
    rng = random.Random(options.seed)
    for where, part in seeds(options.dialect):
        if re.search(options.match, part):
            yield where, part
    if options.dialect == "sdy":
        for where, part in seeds(options.dialect):
            if re.search(options.match, part) and not upstream.errors(part):
                for text in text_mutants(rng, part, options.per_op):
                    yield "mutant of " + where, text
        return
    for name, texts in sorted(singles(upstream, options.dialect, options.match).items()):
        forms = list(texts.values())
        rng.shuffle(forms)
        forms = forms[:options.per_op]
        for single in forms:
            for text in mutants(rng, single, max(1, options.per_op // len(forms))):
                yield name, text


def compare(options):
    """(number of cases, [(where, program, upstream's messages, ours)])."""
    upstream = Upstream()
    cases = list(dict.fromkeys(programs(upstream, options)))
    theirs = [normal(upstream.errors(text)) for _, text in cases]
    own = [normal(messages) for messages in ours([text for _, text in cases])]
    different = [(where, text, a, b) for (where, text), a, b in zip(cases, theirs, own) if not matches(a, b)]
    return len(cases), different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialect", default="stablehlo", choices=["stablehlo", "chlo", "sdy"])
    parser.add_argument("--match", default="")
    parser.add_argument("--per-op", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker()
    count, different = compare(options)
    groups, known = collections.defaultdict(list), collections.Counter()
    for case in different:
        why = reason(case[0], case[2], case[3])
        if why:
            known[why] += 1
        else:
            groups[tuple(re.sub(r"\d+|'[^']*'|tensor<.*>", "N", m) for m in case[2] + ["<>"] + case[3])].append(case)
    for cases in sorted(groups.values(), key=len, reverse=True)[:options.show]:
        where, text, theirs, own = min(cases, key=lambda case: len(case[1]))
        print(f"--- {len(cases)} x {where}\n{text.strip()}\n  upstream: {theirs}\n  ours:     {own}")
    for why, number in known.most_common():
        print(f"{number} differ: {why}")
    other = sum(map(len, groups.values()))
    print(f"{count - len(different)} equal, {other} different in {len(groups)} ways, {sum(known.values())} with a reason")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
