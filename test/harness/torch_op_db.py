#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own samples of every operator (op_db), on the device and on the CPU: torch_op_db.py [--samples N] [--match RE]

A sample passes if values, types and shapes agree and no operator ran on the CPU; `fallback` if one did; `skipped` if the CPU
itself cannot run it. Random operators are compared by type and shape only. The last line sums up.
"""
import argparse
import collections
import re
import sys
import time
import warnings

import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map_only

# Their results depend on random numbers or on uninitialized memory.
RANDOM = re.compile(r"rand|normal|dropout|bernoulli|multinomial|empty|uniform|cauchy|exponential|geometric|poisson|resize|"
                    r"as_strided_scatter|multi_head_attention|fractional|alpha|svd|lowrank|qr|eig|lobpcg|histogram|unique|geqrf|rrelu")


def outcome(op, sample, device_of):
    inputs = (sample.input, sample.args, sample.kwargs)
    try:
        want = op(tree_map_only(torch.Tensor, torch.clone, inputs[0]), *tree_map_only(torch.Tensor, torch.clone, inputs[1]), **inputs[2])
    except Exception:
        return "skipped", ""
    try:
        moved = tree_map_only(torch.Tensor, lambda t: t.detach().clone().to("xla"), inputs)
    except (NotImplementedError, RuntimeError):
        return "skipped", ""  # sparse and other layouts
    kwargs = {k: torch.device("xla") if isinstance(v, (torch.device, str)) and str(v) == "cpu" else v for k, v in moved[2].items()}
    met.clear_all()
    try:
        got = op(moved[0], *moved[1], **kwargs)
        leaves = [t.cpu() if isinstance(t, torch.Tensor) else t for t in tree_leaves(got)]
        expected = tree_leaves(want)
        if len(leaves) != len(expected):
            return "failed", f"{len(leaves)} results instead of {len(expected)}"
        for a, b in zip(leaves, expected):
            if not isinstance(b, torch.Tensor):
                if a != b and not (isinstance(b, float) and abs(a - b) < 1e-4):
                    return "failed", f"{a} instead of {b}"
            elif RANDOM.search(op.name):
                if a.shape != b.shape or a.dtype != b.dtype:
                    return "failed", f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
            else:
                torch.testing.assert_close(a, b.detach(), rtol=1e-3, atol=1e-4, equal_nan=True, check_stride=False)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
    ran = met.executed_fallback_ops()
    return ("fallback", " ".join(ran)) if ran else ("passed", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--match", default="")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--least", type=float, default=0, help="percentage of applicable samples that must pass")
    parser.add_argument("--each", type=int, default=1, help="every n-th operator only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, fallbacks, start = collections.Counter(), collections.Counter(), time.time()
    for op in op_db[::arguments.each]:
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if not re.search(arguments.match, name) or torch.float32 not in op.dtypes or time.time() - start > arguments.seconds:
            continue
        try:
            torch.manual_seed(0)
            samples = list(op.sample_inputs("cpu", torch.float32))[:arguments.samples]
        except Exception as error:
            print(f"{name}: no samples: {error}")
            continue
        for index, sample in enumerate(samples):
            how, why = outcome(op, sample, None)
            counts[how] += 1
            if how == "fallback":
                fallbacks.update(why.split())
            if how in ("failed", "fallback"):
                print(f"{how} {name} #{index}: {why}", flush=True)
    print("fallbacks:", ", ".join(f"{n} {c}" for n, c in fallbacks.most_common()))
    applicable = counts["passed"] + counts["failed"] + counts["fallback"]
    rate = 100 * counts["passed"] / max(1, applicable)
    print(f"{rate:.1f} % of {applicable} samples pass; {time.time() - start:.0f} s")
    print(f"{counts['passed']} passed, {counts['failed'] + counts['fallback']} failed, {counts['skipped']} skipped")
    return rate < arguments.least


if __name__ == "__main__":
    sys.exit(main())
