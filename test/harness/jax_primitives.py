# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs JAX's own primitive harnesses (in the jax wheel: jax._src.internal_test_util.test_harnesses) on Millrace and compares
every result with XLA:CPU's.

    python test/harness/jax_primitives.py [--mode=text|plugin] [--sample=N] [--match=REGEX] [--jobs=2] [--json=FILE]

text: lowered by JAX for its own CPU backend, then compiled and run through the C ABI in the same process.
plugin: a process whose JAX runs on the plug-in, against values written by a process on XLA:CPU.
A worker that dies costs the harness it was in; the others go on in a new one. Ends with `N passed, N failed, N skipped`.
"""
import argparse
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What XLA:CPU and Millrace may both do in their own way; the reason stands beside each.
NOT_COMPARED = {
    r"^sort_multiple_arrays_.*isstable_False": "the order of equal keys is free, and XLA:CPU's is another one (ours is stable)",
    r"^rng_bit_generator_.*algo=(RNG_DEFAULT|rng_default)": "the default algorithm is the implementation's choice",
}


def load(match, sample):
    import numpy as np

    np.random.seed(0)  # some harnesses draw their arrays from the global generator, when they are defined or made
    from jax._src.internal_test_util import test_harnesses

    wanted = [h for h in test_harnesses.all_harnesses if h.filter("cpu") and re.search(match, h.fullname)]
    if sample and len(wanted) > sample:  # evenly over the list: every primitive is in it somewhere
        step = len(wanted) / sample
        wanted = [wanted[int(i * step)] for i in range(sample)]
    return wanted


def prepare(harness, transform):
    """The function to jit and its arguments."""
    import jax
    import numpy as np

    np.random.seed(0)
    arguments = harness.dyn_args_maker(np.random.RandomState(42))
    function = harness.dyn_fun
    if transform == "vmap":
        others = harness.dyn_args_maker(np.random.RandomState(43))
        arguments = jax.tree.map(lambda x, y: np.stack([np.asarray(x), np.asarray(y)]), arguments, others)
        return jax.vmap(function), arguments
    if transform == "grad":
        def gradient(*arguments):
            flat, tree = jax.tree.flatten(arguments)
            smooth = [i for i, x in enumerate(flat) if jax.numpy.issubdtype(jax.numpy.asarray(x).dtype, jax.numpy.inexact)]

            def of_smooth(*values):
                whole = list(flat)
                for i, value in zip(smooth, values):
                    whole[i] = value
                return [y for y in jax.tree.leaves(function(*jax.tree.unflatten(tree, whole)))
                        if jax.numpy.issubdtype(y.dtype, jax.numpy.inexact)]

            value, back = jax.vjp(of_smooth, *[jax.numpy.asarray(flat[i]) for i in smooth])
            return back(jax.tree.map(lambda y: jax.numpy.ones(y.shape, y.dtype), value))
        return gradient, arguments
    return function, arguments


def leaves(value):
    import jax
    import numpy as np

    out = []
    for leaf in jax.tree.leaves(value):
        if hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        out.append(np.asarray(leaf))
    return out


def different(actual, expected):
    """None, or a line that says how the values differ; tolerances are those of JAX's tests."""
    import numpy as np
    from jax._src import public_test_util

    if len(actual) != len(expected):
        return f"{len(actual)} results, expected {len(expected)}"
    for k, (a, e) in enumerate(zip(actual, expected)):
        if a.dtype != e.dtype or a.shape != e.shape:
            return f"result {k} is {a.dtype}{list(a.shape)}, expected {e.dtype}{list(e.shape)}"
        tolerance = public_test_util.default_tolerance().get(np.dtype(e.dtype), 0)
        if a.tobytes() == e.tobytes():
            continue
        if not np.issubdtype(e.dtype, np.inexact) and not tolerance:
            if np.array_equal(a, e):
                continue
            return f"result {k}: {np.sum(a != e)} of {e.size} elements differ"
        wide = np.complex128 if e.dtype.kind == "c" else np.float64
        x, y = a.astype(wide), e.astype(wide)
        # Sums of large terms may cancel: the absolute error is measured by the largest element.
        scale = max(1.0, float(np.max(np.abs(y[np.isfinite(y)]), initial=0)))
        close = np.isclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        if not np.all(close):
            at = np.unravel_index(np.argmin(close), close.shape)
            return f"result {k}: {np.sum(~close)} of {close.size} elements differ, at {list(map(int, at))}: {a[at]}, expected {e[at]}"
    return None


def product_of_factor(lower):
    """The matrix that a Cholesky factor belongs to: factors differ by the condition of it, and above their diagonal by the implementation."""
    import numpy as np
    factor = np.tril(lower)
    wide = factor.astype(np.complex128 if factor.dtype.kind == "c" else np.float64)
    return (wide @ wide.conj().swapaxes(-1, -2)).astype(factor.dtype)


def worker(options):
    """Reads harness names on stdin, answers a line of JSON for each."""
    import jax

    jax.config.update("jax_enable_x64", True)
    by_name = {h.fullname: h for h in load(options.match, 0)}
    client = None
    expected = pickle.load(open(options.expected, "rb")) if options.expected else {}
    computed = {}
    if options.worker == "text":
        sys.path.insert(0, os.path.join(ROOT, "python"))
        import millrace.core
        client = millrace.core.Client()
    if options.worker == "plugin":
        version = jax.devices()[0].client.platform_version
        assert "illrace" in version, f"JAX runs on {version!r}, not on Millrace"
    for name in sys.stdin.read().split("\n"):
        if not name:
            continue
        print(json.dumps({"start": name}), flush=True)
        answer = {"name": name}
        begin = time.time()
        try:
            function, arguments = prepare(by_name[name], options.transform)
            jitted = jax.jit(function)
            if options.worker == "text":
                try:
                    wanted = leaves(jitted(*arguments))
                except Exception as error:
                    print(json.dumps({"name": name, "skipped": f"XLA:CPU: {error}"[:300]}), flush=True)
                    continue
                lowered = jitted.lower(*arguments)
                text = lowered.as_text()
                kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
                flat = leaves(jax.tree.leaves(arguments))
                avals = jax.tree.leaves(lowered.in_avals)
                inputs = [flat[i].astype(avals[i].dtype) for i in kept]
                actual = client.compile(text)(*inputs)
                answer["difference"] = different(actual, wanted)
            else:
                actual = leaves(jitted(*arguments))
                if name.startswith("cholesky_"):
                    actual = [product_of_factor(each) for each in actual]
                if options.worker == "reference":
                    computed[name] = actual
                else:
                    answer["difference"] = different(actual, expected[name])
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"[:2000]
        answer["seconds"] = round(time.time() - begin, 3)
        print(json.dumps(answer), flush=True)
    if options.worker == "reference":
        with open(options.expected_out, "wb") as file:
            pickle.dump(computed, file)


def run_worker(names, mode, extra, environment, timeout=120):
    """[answer] of one list of harnesses, starting a new process after each one that died or hung."""
    answers, todo = [], list(names)
    while todo:
        process = subprocess.Popen([sys.executable, os.path.abspath(__file__), f"--worker={mode}", *extra], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
                                   env=environment)
        try:
            out, err = process.communicate("\n".join(todo), timeout=60 + timeout + len(todo) * 5)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err = "(time limit) " + err
        started = None
        for line in out.splitlines():
            if not line.startswith("{"):
                continue
            answer = json.loads(line)
            if "start" in answer:
                started = answer["start"]
            else:
                answers.append(answer)
                todo.remove(answer["name"])
                started = None
        if process.returncode == 0 or not todo:
            break
        if started is None:
            return answers + [{"name": n, "error": f"worker ended with {process.returncode}: {err[-1500:]}"} for n in todo]
        answers.append({"name": started, "error": f"CRASH {process.returncode}: {err[-1500:]}"})
        todo.remove(started)
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=["text", "plugin"], default="plugin")
    parser.add_argument("--transform", choices=["none", "vmap", "grad"], default="none", help="of every function, before jit")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--match", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--expected", help=argparse.SUPPRESS)
    parser.add_argument("--expected-out", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options)
    environment = dict(os.environ, JAX_PLATFORMS="cpu", MILLRACE_JAX="0")
    from concurrent.futures import ThreadPoolExecutor

    names = [h.fullname for h in load(options.match, options.sample)]
    names = sorted(set(names), key=names.index)
    skipped = [n for n in names if any(re.search(r, n) for r in NOT_COMPARED)]
    names = [n for n in names if n not in skipped]
    size = max(1, min(100, -(-len(names) // options.jobs)))
    batches = [names[i:i + size] for i in range(0, len(names), size)]
    shared = [f"--match={options.match}", f"--transform={options.transform}"]
    done = 0

    def one(batch):
        nonlocal done
        if options.mode == "text":
            answers = run_worker(batch, "text", shared, environment)
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "expected")
                broken = {a["name"] for a in run_worker(batch, "reference", [f"--expected-out={path}", *shared], environment)
                          if "error" in a}
                batch = [n for n in batch if n not in broken]
                answers = [{"name": n, "skipped": "XLA:CPU cannot run it"} for n in broken]
                if batch:
                    answers += run_worker(batch, "plugin", [f"--expected={path}", *shared], dict(environment, MILLRACE_JAX="1"))
        done += len(answers)
        print(f"harnesses: {done} of {len(names)}", file=sys.stderr, flush=True)
        return answers

    with ThreadPoolExecutor(options.jobs) as pool:
        answers = [a for result in pool.map(one, batches) for a in result]
    bad = [a for a in answers if a.get("error") or a.get("difference")]
    for answer in bad:
        print(f"FAIL {answer['name']}: {(answer.get('error') or answer['difference'])[:600]}")
    if options.json:
        json.dump(answers, open(options.json, "w"), indent=1)
    skip = len(skipped) + sum("skipped" in a for a in answers)
    print(f"{len(answers) - len(bad) - (skip - len(skipped))} passed, {len(bad)} failed, {skip} skipped")
    sys.exit(1 if bad or not answers else 0)


if __name__ == "__main__":
    main()
