# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tiered mode: quick machine code first, better code while the program runs; the same bits before and after, and in the caches what
the compiler would have made without it. (That quick code computes the
same bits is in test_ops.py and test_models.py.)"""
import re

import numpy as np
import pytest

from benchmarks import tools

# Contraction, rows, a reduction, a sort and a loop whose kernels are a list of calls.
TEXT = """func.func @main(%x: tensor<37x64xf32>, %w: tensor<64x128xf32>) -> (tensor<37x128xf32>, tensor<128xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<37x64xf32>, tensor<64x128xf32>) -> tensor<37x128xf32>
  %1 = stablehlo.tanh %0 : tensor<37x128xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<37x128xf32>, tensor<f32>) -> tensor<128xf32>
  %3 = "stablehlo.sort"(%2) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<128xf32>) -> tensor<128xf32>
  %start = stablehlo.constant dense<1.0> : tensor<f32>
  %limit = stablehlo.constant dense<1.0e3> : tensor<f32>
  %4 = stablehlo.while(%s = %start) : tensor<f32>
    cond {
      %less = stablehlo.compare LT, %s, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %sine = stablehlo.sine %s : tensor<f32>
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      %next = stablehlo.add %s, %sine : tensor<f32>
      %more = stablehlo.add %next, %two : tensor<f32>
      stablehlo.return %more : tensor<f32>
    }
  return %1, %3, %4 : tensor<37x128xf32>, tensor<128xf32>, tensor<f32>
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(TEXT)
    random = np.random.default_rng(3)
    return str(path), [random.standard_normal(shape).astype(np.float32) for shape in ((37, 64), (64, 128))]


def run_until_all_are_better(path, inputs, *flags):
    """Runs longer and longer until every kernel was replaced before the last execution."""
    for repeat in (100, 1000, 10000, 100000):
        results, process = tools.run_file(path, inputs, "--tiered", "--stats", f"--repeat={repeat}", *flags)
        tiers = re.search(r"^tiers: (\d+) of (\d+) kernels have got better code$", process.stdout, re.M)
        if not tiers:  # the run before left all of it in the cache
            return results, 0
        done, count = map(int, tiers.groups())
        if done == count:
            return results, count
    pytest.fail(f"{done} of {count} kernels are better after {repeat} executions")


def as_bytes(results):
    return [result.tobytes() for result in results]


def test_same_bits_before_and_after(program):
    want, _ = tools.run_file(*program, "--cache-dir=off")
    np.testing.assert_allclose(want[0], np.tanh(program[1][0] @ program[1][1]), rtol=1e-4, atol=1e-5)
    first, process = tools.run_file(*program, "--quick", "--stats", "--cache-dir=off")
    assert "tiers:" not in process.stdout
    last, count = run_until_all_are_better(*program, "--cache-dir=off")
    assert count == 3
    assert as_bytes(want) == as_bytes(first) == as_bytes(last)


def test_quick_code_is_quick_code(program):
    """Not the same machine code: what would be compared otherwise?"""
    sizes = []
    for flags in ((), ("--quick",)):
        _, process = tools.run_file(*program, "--stats", "--cache-dir=off", *flags)
        sizes.append(int(re.search(r"(\d+)  code", process.stdout).group(1)))
    assert sizes[0] != sizes[1]


def kernel_files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*.mrk")}


def test_caches_keep_the_better_code(program, tmp_path):
    tools.run_file(*program, f"--cache-dir={tmp_path / 'plain'}", "--quiet")
    run_until_all_are_better(*program, f"--cache-dir={tmp_path / 'tiered'}")
    plain, tiered = kernel_files(tmp_path / "plain"), kernel_files(tmp_path / "tiered")
    assert plain and plain.keys() == tiered.keys()
    # The whole program, too, as soon as it has all of them; then nothing is left to be replaced.
    _, process = tools.run_file(*program, "--tiered", "--stats", f"--cache-dir={tmp_path / 'tiered'}")
    assert "cache: hit" in process.stdout and "tiers:" not in process.stdout
    (one,), (other,) = (sorted(p.name for p in (tmp_path / f).rglob("*.mrc")) for f in ("plain", "tiered"))
    assert one == other


def test_known_kernels_are_not_made_quickly(program, tmp_path):
    cache = f"--cache-dir={tmp_path / 'cache'}"
    tools.run_file(*program, cache, "--quiet")
    other = tmp_path / "other.mlir"
    other.write_text(TEXT.replace("return %1, %3, %4", "return %0, %3, %4"))  # %0 leaves: some kernels are new
    _, process = tools.run_file(str(other), program[1], "--tiered", "--stats", cache)
    (known,) = re.search(r"cache: miss.*; (\d+) of \d+ kernels were compiled before", process.stdout).groups()
    assert int(known) > 0
    for entry in (tmp_path / "cache").rglob("*.mrc"):
        entry.unlink()
    _, process = tools.run_file(*program, "--tiered", "--stats", cache)  # all of them
    assert "cache: miss" in process.stdout and "tiers:" not in process.stdout


def test_a_process_does_not_wait_for_better_code(tmp_path):
    """Sixty contractions: better code for all of them takes longer than anybody waits at the end."""
    sizes = [(3 + 2 * i, 5 + 3 * (i % 40)) for i in range(60)]
    arguments = ", ".join(f"%x{i}: tensor<{m}x{n}xf32>" for i, (m, n) in enumerate(sizes))
    lines = "\n".join(f"  %r{i} = stablehlo.dot_general %x{i}, %x{i}, contracting_dims = [1] x [1] : (tensor<{m}x{n}xf32>, "
                      f"tensor<{m}x{n}xf32>) -> tensor<{m}x{m}xf32>" for i, (m, n) in enumerate(sizes))
    types = ", ".join(f"tensor<{m}x{m}xf32>" for m, _ in sizes)
    path = tmp_path / "many.mlir"
    path.write_text(f"func.func @main({arguments}) -> ({types}) {{\n{lines}\n  return {', '.join(f'%r{i}' for i in range(60))} : {types}\n}}\n")
    _, process = tools.run_file(str(path), None, "--tiered", "--stats", "--quiet", "--cache-dir=off")
    done, count = map(int, re.search(r"^tiers: (\d+) of (\d+)", process.stdout, re.M).groups())
    assert done < count == 60

