# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples in the docstrings of the installed JAX on Millrace; those that XLA:CPU passes must pass.

    python test/harness/jax_doctests.py [--match=REGEX] [--jobs=2]

Ends with `N passed, N failed, N skipped`; an example is one docstring, skipped where XLA:CPU fails it as well.
"""
import argparse
import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
AREAS = r"^jax\._src\.(numpy|scipy|nn|lax|random|image|ops|api|tree|dtypes|custom_|ad_checkpoint|callback|debugging|ffi|array|pjit|core$)"


def modules(match):
    import jax

    names = []
    for info in pkgutil.walk_packages(jax.__path__, "jax.", onerror=lambda name: None):
        if re.search(AREAS, info.name) and re.search(match, info.name) and not re.search(r"test|pallas|mosaic|lib\.|internal", info.name):
            names.append(info.name)
    return names


def worker():
    """Reads module names on stdin; a line of JSON with the result of every docstring."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for name in sys.stdin.read().split():
        try:
            module = importlib.import_module(name)
            tests = doctest.DocTestFinder(recurse=True, exclude_empty=True).find(module, name)
        except Exception as error:
            print(json.dumps({"module": name, "import": str(error)}), flush=True)
            continue
        for test in tests:
            if not test.examples:
                continue
            text = []
            test.globs = dict(test.globs, jax=jax, jnp=jnp, np=np)
            print(json.dumps({"start": test.name}), flush=True)
            result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=text.append, clear_globs=False)
            print(json.dumps({"name": test.name, "failed": result.failed, "text": "".join(text)[-1500:]}), flush=True)


def run(names, environment):
    todo, results = list(names), {}
    while todo:
        process = subprocess.run([sys.executable, os.path.abspath(__file__), "--worker"], input="\n".join(todo), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=1800)
        started = None
        for line in process.stdout.splitlines():
            if not line.startswith("{"):
                continue
            answer = json.loads(line)
            if "name" in answer:
                results[answer["name"]] = answer
                started = None
            elif "start" in answer:
                started = answer["start"]
        if process.returncode == 0 or started is None:
            break
        results[started] = {"name": started, "failed": 1, "text": f"CRASH {process.returncode}: {process.stderr[-1000:]}"}
        # Go on with the module after the one that died.
        died = max((n for n in todo if started.startswith(n)), key=len)
        todo = todo[todo.index(died) + 1:]
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--match", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker()
    names = modules(options.match)
    size = max(1, -(-len(names) // (options.jobs * 3)))
    batches = [names[i:i + size] for i in range(0, len(names), size)]
    environments = [dict(os.environ, JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES="8", MILLRACE_JAX=flag) for flag in "01"]
    with ThreadPoolExecutor(options.jobs) as pool:
        expected, actual = [{k: v for part in pool.map(lambda b: run(b, e), batches) for k, v in part.items()} for e in environments]
    passed = failed = skipped = 0
    for name, result in sorted(expected.items()):
        if result["failed"]:
            skipped += 1
        elif name not in actual or actual[name]["failed"]:
            failed += 1
            print(f"FAIL {name}: {actual.get(name, {}).get('text', 'not run')}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
