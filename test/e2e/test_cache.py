# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compilation cache as xla-run uses it: hit after restart, explained miss, damage, two writers, read-only, off; single kernels."""
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from benchmarks import tools

TEXT = """func.func @main(%a: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.tanh %a : tensor<4x5xf32>
  %1 = stablehlo.add %0, %a : tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
"""
INPUT = np.linspace(-2, 2, 20, dtype=np.float32).reshape(4, 5)


class Place:
    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        self.program = folder / "p.mlir"
        self.program.write_text(TEXT)

    def run(self, mode=None, check=True, flags=(), variables=None):
        """(hit or not, what the tool printed); the result is compared with NumPy every time."""
        environment = {"MILLRACE_CACHE": mode or "rw", **(variables or {})}
        results, process = tools.run_file(str(self.program), [INPUT], f"--cache-dir={self.cache}", "--time", *flags,
                                          environment=environment)
        np.testing.assert_allclose(results[0], np.tanh(INPUT) + INPUT, rtol=1e-6)
        text = process.stdout + process.stderr
        return bool(re.search(r"cache\b.*\bhit", text)), text

    def entries(self):
        """Of programs."""
        return sorted(self.cache.rglob("*.mrc"))

    def kernels(self):
        return sorted(self.cache.rglob("*.mrk"))

    def run_text(self, text):
        """Runs another program; how many of its kernels were compiled before, and how many it has."""
        self.program.write_text(text)
        results, process = tools.run_file(str(self.program), [INPUT], f"--cache-dir={self.cache}", "--stats", "--quiet", "--no-fusion",
                                          environment={"MILLRACE_CACHE": "rw"})
        found = re.search(r"cache: miss.*; (\d+) of (\d+) kernels were compiled before", process.stdout)
        return results, tuple(map(int, found.groups())) if found else "hit", process.stdout + process.stderr


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_hit_after_restart(place):
    hit, _ = place.run()
    assert not hit and len(place.entries()) == 1
    hit, text = place.run()
    assert hit, text


def test_other_program_misses(place):
    place.run()
    place.program.write_text(TEXT.replace("stablehlo.tanh", "stablehlo.negate").replace("stablehlo.add", "stablehlo.multiply"))
    _, process = tools.run_file(str(place.program), [INPUT], f"--cache-dir={place.cache}", "--time", environment={"MILLRACE_CACHE": "rw"})
    assert not re.search(r"cache\b.*\bhit", process.stdout + process.stderr)
    assert len(place.entries()) == 2


def test_a_program_whose_lines_have_moved_is_a_hit_with_its_own_lines(place):
    def profile():
        """Whether it was a hit, and the lines in names of kernels and in what was recorded."""
        recorded = place.folder / "recorded"
        shutil.rmtree(recorded, ignore_errors=True)
        hit, text = place.run(flags=("--profile=-",), variables={"MILLRACE_PROFILE": str(recorded)})
        ran = subprocess.run([tools.tool("xla-prof"), str(recorded), "--json"], capture_output=True, text=True, timeout=60, check=True)
        sources = {row["source"] for row in json.loads(ran.stdout)["steps"]}
        names = {int(line) for line in re.findall(r"\b(?:add|tanh)_(\d+)_[0-9a-f]{8}\b", text)}
        assert sources == {f"{place.program}:{line}" for line in names} and names, (sources, text)
        return hit, names
    _, first = profile()
    place.program.write_text("// A comment.\n\n" + TEXT.replace("  %1", "\n  %1"))
    hit, moved = profile()
    assert hit and len(place.entries()) == 1
    assert moved == {line + 3 for line in first}
    place.program.write_text(TEXT)
    assert profile() == (True, first)


UNKNOWN_CALL = """func.func @main(%a: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.custom_call @nobody_has_this(%a) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
"""


def test_errors_of_a_program_from_the_cache_name_the_line_of_who_asked(place):
    source = place.folder / "in.npz"
    tools.save_arguments(source, [INPUT])
    for above in (0, 3):
        place.program.write_text("\n" * above + UNKNOWN_CALL)
        ran = subprocess.run([tools.tool("xla-run"), str(place.program), f"--args={source}", f"--cache-dir={place.cache}"], capture_output=True, text=True,
                             timeout=120, env=dict(os.environ, MILLRACE_CACHE="rw"), check=False)
        assert ran.returncode != 0 and f"p.mlir:{2 + above}:" in ran.stderr, ran.stderr
    assert len(place.entries()) == 1


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign"])
def test_damaged_entry_is_a_miss_with_a_warning(place, damage):
    place.run()
    (entry,) = place.entries()
    data = entry.read_bytes()
    middle = len(data) // 2
    entry.write_bytes({"truncate": data[:middle], "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
                       "empty": b"", "foreign": b"something else entirely " * 100}[damage])
    hit, text = place.run()
    assert not hit and "warning" in text, text
    hit, text = place.run()
    assert hit, "the damaged entry was not replaced: " + text


def test_read_only_mode_writes_nothing(place):
    hit, _ = place.run(mode="ro")
    assert not hit and not place.entries()
    place.run()
    hit, _ = place.run(mode="ro")
    assert hit


def test_off_reads_and_writes_nothing(place):
    place.run()
    before = place.entries()
    hit, _ = place.run(mode="off")
    assert not hit and place.entries() == before


def test_concurrent_writers(place):
    environment = dict(os.environ, MILLRACE_CACHE="rw")
    source = place.folder / "in.npz"
    tools.save_arguments(source, [INPUT])
    command = [tools.tool("xla-run"), str(place.program), f"--args={source}", f"--cache-dir={place.cache}"]
    processes = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(6)]
    for process in processes:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    assert len(place.entries()) == 1
    hit, _ = place.run()
    assert hit


# A kernel for each operation, as it is run (--no-fusion).
SEVERAL = """func.func @main(%a: tensor<4x5xf32>) -> tensor<4x4xf32> {
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
"""


def expected(sign):
    product = INPUT @ INPUT.T
    return product + sign * product.sum(1, keepdims=True)


def test_a_program_that_differs_in_one_kernel_compiles_only_that(place):
    results, (found, kernels), _ = place.run_text(SEVERAL)
    assert found == 0 and kernels >= 2 and len(place.kernels()) == kernels
    np.testing.assert_allclose(results[0], expected(-1), rtol=1e-5, atol=1e-5)
    results, (found, of), _ = place.run_text(SEVERAL.replace("stablehlo.subtract", "stablehlo.add"))
    assert (found, of) == (kernels - 1, kernels) and len(place.kernels()) == kernels + 1
    np.testing.assert_allclose(results[0], expected(1), rtol=1e-5, atol=1e-5)
    # Other names, and one more kernel: the others are the same.
    more = SEVERAL.replace("%0", "%product").replace("@main", "@other").replace(
        "return %3", "%4 = stablehlo.tanh %3 : tensor<4x4xf32>\n  return %4")
    results, (found, of), _ = place.run_text(more)
    assert (found, of) == (kernels, kernels + 1)
    np.testing.assert_allclose(results[0], np.tanh(expected(-1)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "other kernel"])
def test_damaged_kernels_are_compiled_again(place, damage):
    _, (_, kernels), _ = place.run_text(SEVERAL)
    first, second = place.kernels()[:2]
    data = first.read_bytes()
    middle = len(data) // 2
    first.write_bytes({"truncate": data[:middle], "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
                       "empty": b"", "other kernel": second.read_bytes()}[damage])
    for program in place.entries():
        program.unlink()
    results, (found, _), text = place.run_text(SEVERAL)
    assert found == kernels - 1 and "warning" in text, text
    np.testing.assert_allclose(results[0], expected(-1), rtol=1e-5, atol=1e-5)
    for program in place.entries():
        program.unlink()
    assert place.run_text(SEVERAL)[1] == (kernels, kernels)
