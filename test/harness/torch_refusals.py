#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the CPU refuses because of the value of a number, the device must refuse, too, with the same words.

    torch_refusals.py [--match RE] [--dtypes f32,i64] [--samples N] [--list] [--json FILE]

Each number among the arguments of PyTorch's samples (one at a time; also inside of lists) is replaced by each of VALUES. What the CPU
then raises, the device has to raise after it has run the sample itself: what is known of its signature must not hide a bad number.
Errors about the values of tensors are none of the device's (docs/guide/torch-troubleshooting.md), and are left out, as are words about the device of an argument.
--list: only what the CPU raises. Exit status 1 if the device differs. The last line sums up.
"""
import argparse
import json
import os
import re
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from torch_op_db import DTYPES, listed  # noqa: E402
from torch_samples import moved  # noqa: E402

VALUES = (-1, -2, 0, 5, -0.5, 1.5, float("nan"))
OF_VALUES = re.compile(r"index -?\d+ is out of bounds|Found an invalid max index|tensor_split expected|stft\(")
MOST_ELEMENTS = 1 << 12  # of a sample's tensors: bad sizes do not become large results


def places(tree, path=()):
    """(path, number) of every number in nested arguments."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields") else ()
    for key, value in items:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield (*path, key), value
        else:
            yield from places(value, (*path, key))


def replaced(tree, path, value):
    """A copy of nested arguments with another value in one place."""
    if not path:
        return value
    if isinstance(tree, dict):
        return {**tree, path[0]: replaced(tree[path[0]], path[1:], value)}
    made = [replaced(item, path[1:], value) if index == path[0] else item for index, item in enumerate(tree)]
    return type(tree)(made) if not hasattr(tree, "size") else made


def error_of(op, inputs, device):
    """(type, first line) of what the operator raises on the device, or None."""
    import torch
    try:
        x, args, kwargs = moved(inputs, device)
        made = op(x, *args, **kwargs)
        torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().to("cpu", copy=True), made)
    except Exception as error:
        text = (str(error).strip().splitlines() or [""])[0]
        for theirs, ours in (("XLA", "CPU"), ("xla:0", "cpu"), ("xla", "cpu")):
            text = text.replace(theirs, ours)
        return type(error).__name__, text
    return None


def cases(op, dtype, most):
    """(sample's inputs, the same with a bad number, the number, its place)."""
    import torch
    for index, sample in enumerate(op.sample_inputs("cpu", dtype)):
        if most and index >= most:
            return
        tensors = [t for t in torch.utils._pytree.tree_leaves((sample.input, sample.args, sample.kwargs)) if isinstance(t, torch.Tensor)]
        if sum(t.numel() for t in tensors) > MOST_ELEMENTS or any(t.layout != torch.strided for t in tensors):
            continue
        good = (sample.input, tuple(sample.args), dict(sample.kwargs))
        for path, number in places(list(good)):
            for value in VALUES:
                if value != number and not (isinstance(number, int) and isinstance(value, float)):
                    yield good, tuple(replaced(list(good), path, value)), value, path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default="", help="regular expression over names")
    parser.add_argument("--dtypes", default="f32,i64", type=listed(DTYPES), help="of " + ",".join(DTYPES))
    parser.add_argument("--samples", type=int, default=4, help="of each operator and type; 0: all")
    parser.add_argument("--list", action="store_true", help="what the CPU raises, without the device")
    parser.add_argument("--json", help="file for the differences")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)
    if not arguments.list:
        import torch_xla  # noqa: F401
    from torch.testing._internal.common_methods_invocations import op_db
    passed, different, seen = 0, [], set()
    for op in op_db:
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if not re.search(arguments.match, name):
            continue
        for short in arguments.dtypes:
            dtype = getattr(torch, DTYPES[short])
            if dtype not in op.supported_dtypes("cpu"):
                continue
            ran = None
            for good, bad, value, path in cases(op, dtype, arguments.samples):
                want = error_of(op, bad, "cpu")
                if want is None or OF_VALUES.match(want[1]):
                    continue
                key = (name, short, path, *want)
                if key in seen:
                    continue
                seen.add(key)
                if arguments.list:
                    print(f"{name} {short} {path} = {value}: {': '.join(want)}", flush=True)
                    continue
                if ran is not good:
                    error_of(op, good, "xla")
                    ran = good
                got = error_of(op, bad, "xla")
                if got == want:
                    passed += 1
                    continue
                different.append({"op": name, "dtype": short, "path": list(path), "value": repr(value), "want": want, "got": got})
                print(f"{name} {short} {path} = {value}: expects {want}, but got {got}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(different, file, indent=0)
    print(f"{passed} passed, {len(different)} failed")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
