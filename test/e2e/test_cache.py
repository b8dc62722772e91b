# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compilation cache as xla-run uses it: hit after restart, explained miss, damage, two writers, read-only, off."""
import os
import re
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

    def run(self, mode=None, check=True, flags=()):
        """(hit or not, what the tool printed); the result is compared with NumPy every time."""
        environment = {"MILLRACE_CACHE": mode} if mode else {"MILLRACE_CACHE": "rw"}
        results, process = tools.run_file(str(self.program), [INPUT], f"--cache-dir={self.cache}", "--time", *flags,
                                          environment=environment)
        np.testing.assert_allclose(results[0], np.tanh(INPUT) + INPUT, rtol=1e-6)
        text = process.stdout + process.stderr
        return bool(re.search(r"cache\b.*\bhit", text)), text

    def entries(self):
        return sorted(p for p in self.cache.rglob("*") if p.is_file() and p.stat().st_size > 512) if self.cache.exists() else []


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
