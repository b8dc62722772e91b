# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the dev preset and runs the parts below in order; called by scripts/check, which runs scripts/setup first.

  lint         scripts/lint
  lit          lit/ (text in, text out)
  unit         every build/bin/unit-* (gtest); the math functions and the emitters also for each level of x86-64 that the machine has
  e2e          pytest over test/e2e and test/python
  conformance  test/conformance three times: compiled, evaluator, negative control (of f32 and i8; of all types with --long);
               a third of the programs (with --long all) compiled for each level of x86-64 that the machine has; with --long 300 programs
               on emulated 64-bit Arm
  jax          build/python-site gets both wheels; pytest over test/jax, and JAX's primitive harnesses, on the plug-in
  torch        build/python-site gets the wheel of torch_xla too; pytest over test/torch with PyTorch as oracle; skipped where torch is
               not installed (scripts/setup --torch)
  fuzz         damaged bytecode files (build/bin/fuzz-bytecode), scripts/fuzz for a bounded time, then one planted bug per
               operation family that it must find

--wheels: the parts e2e, conformance, jax and torch test what scripts/wheels writes into dist/ (release, self-contained) instead of the build
tree; so does --long.

Tests of pytest that fail run once more alone; up to three of a part that pass then are named UNSTABLE at the end and do not fail the run (with --long
they do).

Freed memory is overwritten in all parts (FREED_MEMORY below). Fixed seeds, no timing assertion. Every part has a time limit and counts as one
failure if it ends badly without having named one. The last line sums the parts: N passed, N failed, N skipped. --long runs everything without the
time boxes.
"""
import argparse
import functools
import glob
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor

import psutil

import build_tree  # beside this file
from x86_levels import x86_levels

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# The most time of a part's pytest. Unit: seconds. Source: torch, the longest part, takes 1022 on two cores with little beside it; on a CI machine
# half as fast it had not ended after 1800. All parts together have 5400.
MOST_SECONDS_OF_PYTEST = 3000
# The most time of one test before it counts as one that hangs. Unit: seconds. Source: the slowest takes 40 on two idle cores; a shared machine and a
# second worker make that four times as long.
MOST_SECONDS_OF_TEST = 400
MOST_UNSTABLE = 3  # tests of one part that may fail beside others and pass alone; more of them have a cause of their own
CONFORMANCE = os.path.join(ROOT, "test", "conformance")
NEEDED_GIGABYTES = 4  # a clone with .venv, build and caches had 2.7 after all tests; the rest is for what tests keep while they run
PARTS = ["lint", "lit", "unit", "e2e", "conformance", "jax", "torch", "fuzz"]


# glibc overwrites what is freed, also small pieces, which threads would keep as they are: who reads freed memory fails each time instead of rarely.
FREED_MEMORY = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}

unstable = []  # "part: test" of each test that failed beside others and passed alone


class Count:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def __iadd__(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def say(text):
    print(f"check: {text}", flush=True)


def free_gigabytes():
    return shutil.disk_usage(ROOT).free / 1e9


def run(command, limit, **options):
    """Runs `command` in its own process group with a time limit in seconds; returns (status, output or None).

    The output is echoed as it comes unless `quiet`. A command past its limit is ended with its children: status 124.
    """
    quiet = options.pop("quiet", False)
    process = subprocess.Popen(command, cwd=options.pop("cwd", ROOT), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, **options)
    deadline, lines = time.time() + limit, []

    expired = threading.Event()

    def stop():
        expired.set()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    timer = threading.Timer(max(1, deadline - time.time()), stop)
    timer.start()
    try:
        for line in process.stdout:
            lines.append(line)
            if not quiet:
                sys.stdout.write(line)
                sys.stdout.flush()
        status = process.wait()
    finally:
        timer.cancel()
    if expired.is_set():
        say(f"time limit of {limit:.0f} s reached: {' '.join(command)}")
        status = 124
    return status, "".join(lines)


def at_least_one_failure(count, status, what):
    """A command that ended badly without a failed test of its own is a failure all the same."""
    if status != 0 and count.failed == 0:
        say(f"{what} ended with status {status}")
        count.failed += 1
    if status == 0 and count.passed + count.failed + count.skipped == 0:
        say(f"{what} ran no test")
        count.failed += 1
    return count


def closing_line(output):
    found = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", output, re.M)
    return Count(*(int(n or 0) for n in found[-1])) if found else Count()


def build():
    folder, environment = os.path.join(ROOT, "build"), build_tree.environment()
    if configure := build_tree.configure("dev", folder):
        status, _ = run(configure, 300, env=environment)
        if status:
            return False
    status, _ = run(["ninja", "-C", folder, "-k", "0"], 3000, env=environment)
    return status == 0


def part_lint(arguments):
    status, output = run([sys.executable, "scripts/lint"], 120)
    return Count(passed=1) if status == 0 else Count(failed=1)


def part_lit(arguments):
    result = os.path.join(ROOT, "build", "lit-result.json")
    if os.path.exists(result):
        os.remove(result)
    command = [sys.executable, "/usr/lib/llvm-22/bin/lit", "-v", "-j2", "--no-progress-bar", "--order=lexical",
               "--output", result, "lit"]
    if arguments.long:
        command[3:3] = ["--param", "long=1"]
    status, output = run(command, 7200 if arguments.long else 1200, quiet=True,
                         env=dict(os.environ, MILLRACE_PYTHON=sys.executable))
    # Passing tests would drown the others: print what is not PASS.
    keep, printing = [], False
    for line in output.splitlines():
        if re.match(r"(PASS|UNSUPPORTED|XFAIL): ", line):
            printing = False
        elif re.match(r"(FAIL|XPASS|UNRESOLVED|TIMEOUT): ", line):
            printing = True
        if printing or line.startswith(("lit:", "error:")):
            keep.append(line)
    print("\n".join(keep[:400]))
    count = Count()
    if os.path.exists(result):
        for test in json.load(open(result))["tests"]:
            if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
                count.passed += 1
            elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
                count.skipped += 1
            else:
                count.failed += 1
    return at_least_one_failure(count, status, "lit")


def side_by_side(calls):
    """The sum of the counts of `calls`, two running at a time; for parts whose commands keep one core busy."""
    total = Count()
    with ThreadPoolExecutor(2) as pool:
        for count in pool.map(lambda call: call(), calls):
            total += count
    return total


def part_unit(arguments):
    def unit(program, target=None):
        name = os.path.basename(program) + (f"-{target}" if target else "")
        result = os.path.join(ROOT, "build", f"{name}.json")
        if os.path.exists(result):
            os.remove(result)
        status, output = run([program, f"--gtest_output=json:{result}", "--gtest_brief=1"], 600, quiet=True,
                             env=dict(os.environ, MILLRACE_TEST_TARGET=target or ""))
        print(output, end="", flush=True)
        count = Count()
        if os.path.exists(result):
            for suite in json.load(open(result))["testsuites"]:
                for test in suite["testsuite"]:
                    if test["status"] == "NOTRUN" or test["result"] == "SKIPPED":
                        count.skipped += 1
                    elif test.get("failures"):
                        count.failed += 1
                    else:
                        count.passed += 1
        return at_least_one_failure(count, status, name)

    programs = sorted(glob.glob(os.path.join(ROOT, "build/bin/unit-*")))
    # Those that run code of emitters: once more for each level, of which this machine may be none.
    of_levels = [program for program in programs if os.path.basename(program) in ("unit-math", "unit-emitters")]
    again = [(program, level) for program in of_levels for level in x86_levels()]
    return side_by_side([functools.partial(unit, p) for p in programs] + [functools.partial(unit, *each) for each in again]) if programs else Count(failed=1)


def part_e2e(arguments):
    folders = [f for f in ("test/e2e", "test/python")
               if glob.glob(os.path.join(ROOT, f, "**", "test_*.py"), recursive=True)]
    # JAX is an oracle here: it stays on XLA:CPU even where millrace-jax is installed.
    environment = dict(os.environ, MILLRACE_BUILD=tested_tree(arguments), PYTHONPATH=ROOT, JAX_PLATFORMS="cpu",
                       MILLRACE_JAX="0", MILLRACE_CACHE_DIR=os.path.join(ROOT, "build", "e2e-cache"))
    return run_pytest("pytest", folders, environment, arguments.long)


class LeastMemory(threading.Thread):
    """Watches how much memory the machine has left while a block runs: a worker that dies without a word was killed for lack of it, or was not."""

    def __init__(self):
        super().__init__(daemon=True)
        self.gigabytes, self.over = self.available(), threading.Event()

    @staticmethod
    def available():
        return psutil.virtual_memory().available / 1e9

    def run(self):
        while not self.over.wait(1):
            self.gigabytes = min(self.gigabytes, self.available())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.join()


def run_pytest(name, folders, environment, long, python=sys.executable):
    result = os.path.join(ROOT, "build", f"{name}.xml")
    if os.path.exists(result):
        os.remove(result)
    # Folders of tests that passed go at once: together they are gigabytes.
    command = [python, "-m", "pytest", "-q", "--tb=short", "-n2", "--dist=worksteal", "-p", "no:cacheprovider",
               "-o", "tmp_path_retention_policy=failed", f"--junitxml={result}", "--durations=8", *folders]
    if long:
        environment["MILLRACE_LONG"] = "1"
    else:
        # A test that hangs ends its worker and counts as one failed test; the others go on.
        command += ["-o", f"faulthandler_timeout={MOST_SECONDS_OF_TEST}", "-o", "faulthandler_exit_on_timeout=true"]
    with LeastMemory() as memory:
        status, output = run(command, 7200 if long else MOST_SECONDS_OF_PYTEST, env=environment)
    say(f"{name}: at least {memory.gigabytes:.1f} GB of memory were free")
    # What a worker wrote when it died stands far above the test that it ran.
    for crash in re.finditer(r"^(?:Fatal Python error|Timeout \().*?(?=^Extension modules|^\[gw|\Z)", output, re.M | re.S):
        say(f"{name}: a process crashed or hung\n" + "\n".join(crash.group().splitlines()[:60]))
    count = Count()
    if os.path.exists(result):
        for suite in xml.etree.ElementTree.parse(result).getroot().iter("testsuite"):
            tests, bad = int(suite.get("tests")), int(suite.get("failures")) + int(suite.get("errors"))
            skipped = int(suite.get("skipped"))
            count += Count(tests - bad - skipped, bad, skipped)
    if count.failed and not long and status == 1:
        count = without_unstable(name, count, failed_tests(output), environment, python)
        status = 1 if count.failed else 0
    return at_least_one_failure(count, status, name)


def failed_tests(output):
    """The names of the tests that pytest's closing summary says failed, each once: "FAILED test/torch/test_x.py::test_y[case] - reason"."""
    return list(dict.fromkeys(re.findall(r"^(?:FAILED|ERROR) (\S+?::.*?)(?: - .*)?$", output, re.M)))


def without_unstable(name, count, failed, environment, python):
    """`count` after the `failed` tests ran once more, one after the other and beside nothing else. A test that passes then counts as passed, and its
    name is kept for the end of the run: two cores that run two workers delay a thread by more than some tests can tell from an error."""
    if not failed or len(failed) != count.failed or len(failed) > MOST_UNSTABLE:
        return count
    for test in failed:
        status, _ = run([python, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", test], 300, env=environment)
        if status == 0:
            unstable.append(f"{name}: {test}")
            count += Count(passed=1, failed=-1)
    return count


SITE = os.path.join(ROOT, "build", "python-site")
installed = set()


def tested_tree(arguments):
    """The folder whose bin/ and lib/ are tested."""
    return os.path.join(SITE, "millrace") if arguments.wheels else os.path.join(ROOT, "build")


def torch_minor():
    """The minor version of the torch that runs the tests, such as 2.13."""
    return ".".join(importlib.metadata.version("torch").split(".")[:2])


def install_release_wheels():
    """What scripts/wheels writes, into SITE."""
    has_torch = importlib.util.find_spec("torch") is not None
    names = ["millrace", "millrace-jax"] + ["torch_xla"] * has_torch
    status, _ = run([sys.executable, "scripts/wheels", *(f"--only={name}" for name in names)], 7200)
    if status:
        return False
    shutil.rmtree(SITE, ignore_errors=True)
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    patterns = ["millrace-*_x86_64.whl", "millrace_jax-*.whl"] + [f"torch_xla-{torch_minor()}.*-{tag}-*.whl"] * has_torch
    wheels = [path for pattern in patterns for path in glob.glob(os.path.join(ROOT, "dist", pattern))]
    status, _ = run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", SITE, *wheels], 300)
    installed.update([".", "./python/millrace_jax", "./python/torch_xla"])
    return status == 0


def install_wheel(folder):
    """The distribution of `folder`, and with another one millrace's first, made of what is built, into SITE; as a user's pip would."""
    if folder in installed:
        return True
    if not installed:
        shutil.rmtree(SITE, ignore_errors=True)
    if folder != "." and not install_wheel("."):
        return False
    build = os.path.join(ROOT, "build")
    if folder == ".":
        status, _ = run(["ninja", "-C", build, "wheel_libraries"], 900)
        if status:
            return False
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check",
               "--target", SITE, "--upgrade", folder]
    if folder != "./python/millrace_jax":
        command += ["--config-settings", f"cmake.define.MILLRACE_PREBUILT={build}",
                    "--config-settings", f"build-dir={build}/wheel-{os.path.basename(folder)}"]
    status, _ = run(command, 300)
    if status:
        say(f"the wheel of {folder} could not be installed")
        return False
    installed.add(folder)
    return True


def environment_for(name, packages):
    """Python of build/venv-NAME, an environment with `packages`, made where it is not there; None where that fails."""
    folder = os.path.join(ROOT, "build", f"venv-{name}")
    python, stamp = os.path.join(folder, "bin", "python"), os.path.join(folder, "complete")
    if not os.path.exists(stamp):
        say(f"making the environment {folder}")
        for command in ([sys.executable, "-m", "venv", "--clear", folder], [python, "-m", "pip", "install", "--quiet", *packages]):
            if run(command, 1800)[0]:
                say(f"no environment {name}")
                return None
        open(stamp, "w", encoding="utf-8").close()
    return python


def part_jax(arguments):
    if not install_wheel("./python/millrace_jax"):
        return Count(failed=1)
    python = sys.executable
    if arguments.jax:
        python = environment_for(f"jax-{arguments.jax}", [f"jax=={arguments.jax}", f"jaxlib=={arguments.jax}", "scipy", "pytest", "pytest-xdist",
                                                          "ml_dtypes", "absl-py", "mpmath", "flatbuffers", "flax", "optax"])
    if not python:
        return Count(failed=1)
    environment = dict(os.environ, PYTHONPATH=SITE, JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES="8",
                       MILLRACE_CACHE_DIR=os.path.join(ROOT, "build", "jax-cache"))
    for name in ("MILLRACE_BUILD", "MILLRACE_JAX"):
        environment.pop(name, None)
    total = run_pytest("jax", ["test/jax"], dict(environment), arguments.long, python)
    sample = [] if arguments.long else ["--sample=500"]
    environment["JAX_NUM_CPU_DEVICES"] = "1"
    status, output = run([python, "test/harness/jax_primitives.py", *sample], 3600, env=environment)
    total += at_least_one_failure(closing_line(output), status, "JAX's primitive harnesses")
    return total


def part_conformance(arguments):
    runner = os.path.join(CONFORMANCE, "run.py")
    total = Count()
    environment = dict(os.environ, MILLRACE_CACHE_DIR=os.path.join(ROOT, "build", "conformance-cache"), MILLRACE_CACHE="off")
    # The negative control is of the comparison, which types decide: two of them do for every day.
    sample = [] if arguments.long else ["--regex=float32|int8"]
    for extra in ([], ["--tool-arg=--backend=interpreter"], ["--negative-control", *sample]):
        start = time.time()
        status, output = run([sys.executable, runner, "--tool", os.path.join(tested_tree(arguments), "bin/xla-run"), "-j", "2", *extra],
                             900, env=environment)
        say(f"conformance {' '.join(extra) or 'compiled'}: {time.time() - start:.0f} s")
        total += at_least_one_failure(closing_line(output), status, "conformance " + " ".join(extra))
    # What depends on the instruction set: each level gets other programs, all together all of them.
    levels = x86_levels()
    for number, level in enumerate(levels):
        folder = os.path.join(ROOT, "build", "conformance-" + level)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        data = os.path.join(CONFORMANCE, "programs")
        for i, name in enumerate(sorted(os.listdir(data))):
            if arguments.long or i % 3 == number % 3:
                os.symlink(os.path.join(data, name), os.path.join(folder, name))
        start = time.time()
        status, output = run([sys.executable, runner, "--tool", os.path.join(tested_tree(arguments), "bin/xla-run"), "-j", "2", f"--dir={folder}",
                              f"--tool-arg=--target={level}"], 900, env=environment)
        say(f"conformance for {level}: {time.time() - start:.0f} s")
        total += at_least_one_failure(closing_line(output), status, "conformance for " + level)
    if arguments.long:
        status, output = run([sys.executable, "scripts/aarch64", "--sample=300"], 3600)
        total += at_least_one_failure(closing_line(output), status, "conformance in qemu")
    return total


def pinned(file):
    """Lines of requirements/FILE without those that belong to one version of torch."""
    with open(os.path.join(ROOT, "requirements", file), encoding="utf-8") as lines:
        return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip() and not line.startswith("torch")]


def part_torch_of(arguments):
    """The part torch with the version --torch, in an environment of its own (MILLRACE_TORCH_PYTHON names one that is there)."""
    python = os.environ.get("MILLRACE_TORCH_PYTHON") or environment_for(
        f"torch-{arguments.torch}", [f"torch=={arguments.torch}", "torchvision", *pinned("torch.txt"), *pinned("dev.txt")])
    if not python:
        return Count(failed=1)
    site, dist = os.path.join(ROOT, "build", f"python-site-torch-{arguments.torch}"), os.path.join(ROOT, "build", f"dist-torch-{arguments.torch}")
    shutil.rmtree(dist, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    status, _ = run([sys.executable, "scripts/wheels", "--build=build", f"--dist={dist}", f"--torch={python}"], 3600)
    if status or run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, *glob.glob(os.path.join(dist, "*.whl"))], 300)[0]:
        say(f"the wheels for torch {arguments.torch} cannot be made or installed")
        return Count(failed=1)
    return test_torch(site, arguments.long, python)


def test_torch(site, long, python=sys.executable, tree="build"):
    """test/torch with the packages in `site`, which were made of what is built in `tree`."""
    environment = dict(os.environ, PYTHONPATH=site + os.pathsep + ROOT, PJRT_DEVICE="CPU", MILLRACE_PREBUILT=os.path.join(ROOT, tree),
                       MILLRACE_CACHE_DIR=os.path.join(ROOT, "build", "torch-cache"))
    environment.pop("MILLRACE_BUILD", None)
    return run_pytest("torch", ["test/torch"], environment, long, python)


def part_torch(arguments):
    """The PyTorch front end. Its compiled part is no part of the normal build."""
    if arguments.torch:
        return part_torch_of(arguments)
    if importlib.util.find_spec("torch") is None:
        say("torch is not installed (scripts/setup --torch): the tests of torch_xla count as skipped")
        return Count(skipped=1)
    if not arguments.wheels and run(["ninja", "-C", "build", "torch_xla_shim"], 1800)[0]:
        say("torch_xla_shim cannot be built: is MILLRACE_TORCH on?")
        return Count(failed=1)
    if not install_wheel("./python/torch_xla") or not install_wheel("./python/millrace_jax"):  # test_coexistence wants both
        return Count(failed=1)
    total = test_torch(SITE, arguments.long, tree="build-release" if arguments.wheels else "build")
    if arguments.long:
        status, output = run([sys.executable, "scripts/torch-sanitizers"], 7200)
        total += at_least_one_failure(closing_line(output), status, "the sanitizers of torch_xla")
    return total


def fuzz_bytecode(arguments):
    """Every damaged artifact ends in an error: counts as one test, like a family of programs below."""
    corpus = os.path.join(ROOT, "build", "bytecode-corpus")
    status, _ = run([sys.executable, "test/fuzz/bytecode_corpus.py", corpus], 300)
    program, amount = "fuzz-bytecode", ["--mutations=150000", "--seed=1"]
    if arguments.long:
        program, amount = "fuzz-bytecode-asan", ["--mutations=300000", "--seed=2"]
        status = status or run(["ninja", "-C", "build", program], 600)[0]
    # Leaks are MLIR's interned objects; the validation allocates nothing that outlives it.
    status = status or run([os.path.join("build", "bin", program), corpus, "--keep=build", *amount], 3600,
                           env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))[0]
    return Count(failed=1) if status else Count(passed=1)


def part_fuzz(arguments):
    """Damaged bytecode, random programs for a bounded time, one planted bug per operation family that must be found, random shardings."""
    seconds = 1800 if arguments.long else 45

    def programs(*flags):
        status, output = run(["scripts/fuzz", *flags], seconds + 600, env=dict(os.environ, MILLRACE_PYTHON=sys.executable), quiet=True)
        print(output, end="", flush=True)
        return at_least_one_failure(closing_line(output), status, "fuzz " + " ".join(flags))

    return side_by_side([functools.partial(programs, f"--seconds={seconds}", "--seed=1", "--in-process", "--programs=10000"),
                         functools.partial(fuzz_bytecode, arguments),
                         functools.partial(programs, "--plant=all", "--seed=2"),
                         functools.partial(programs, f"--programs={10000 if arguments.long else 300}", f"--seconds={seconds}", "--seed=1",
                                           "--devices=any")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="everything, without the time boxes")
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated parts")
    parser.add_argument("--no-build", action="store_true", help="test what is built")
    parser.add_argument("--jax", metavar="VERSION", help="run the part jax with this version of JAX, such as 0.8.0")
    parser.add_argument("--torch", metavar="VERSION", help="run the part torch with this version of PyTorch, such as 2.14.1")
    parser.add_argument("--wheels", action="store_true", help="test the release wheels instead of the build tree; --long implies it")
    arguments = parser.parse_args()
    total, table, begin = Count(), [], time.time()
    say(f"{free_gigabytes():.1f} GB free on the disk; build and tests take up to {NEEDED_GIGABYTES}")
    parts = arguments.only.split(",")
    unknown = [p for p in parts if p not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]}, expected one of {', '.join(PARTS)}")
    if not arguments.no_build:
        say("building (preset dev)")
        if not build():
            say("the build failed; tests run with what there is")
            total.failed += 1
        table.append(("build", time.time() - begin, "failed" if total.failed else "done"))
    arguments.wheels |= arguments.long
    if arguments.wheels and {"e2e", "conformance", "jax", "torch"} & set(parts):
        start = time.time()
        say("building and installing the release wheels")
        if not install_release_wheels():
            say("the wheels cannot be built or installed")
            total.failed += 1
        table.append(("wheels", time.time() - start, "failed" if total.failed else "done"))
    os.environ.update(FREED_MEMORY)
    for part in parts:
        start = time.time()
        say(f"{part} ...")
        try:
            count = globals()["part_" + part](arguments)
        except Exception as error:  # a broken result file must not hide the other parts
            say(f"{part}: {type(error).__name__}: {error}")
            count = Count(failed=1)
        say(f"{part}: {count} ({time.time() - start:.0f} s)")
        if free_gigabytes() < 0.5:
            say("the disk is full: what failed above may have failed because of that")
        table.append((part, time.time() - start, count))
        total += count
    print()
    for part, seconds, count in table:
        print(f"  {part:12} {seconds:7.1f} s  {count}")
    print(f"  {'all':12} {time.time() - begin:7.1f} s")
    for test in unstable:
        say(f"UNSTABLE {test} failed beside other tests and passed alone: to be mended")
    print(total, flush=True)
    sys.exit(1 if total.failed or not total.passed else 0)


if __name__ == "__main__":
    main()
