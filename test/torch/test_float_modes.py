# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results do not depend on the floating-point modes, or the locale, of the thread that asks for them (docs/accuracy.md), nor does what is kept."""
import json
import locale
import os
import shutil
import subprocess
import sys

import pytest
import torch
import torch_xla

DENORMALS = pytest.mark.skipif(not torch.set_flush_denormal(False), reason="this processor has no mode in which subnormal numbers are zeros")

CONSTANTS = """
import json, sys, torch, torch_xla
import torch_xla.debug.metrics as met
torch.set_flush_denormal(sys.argv[1] == "flush")

def step(x):
    small, tiny = torch.full((3,), 1.5e-38, device=x.device), torch.full((3,), 1e-40, device=x.device)
    wide = torch.full((3,), 3e-310, dtype=torch.float64, device=x.device)
    return small / 4, tiny > 0, tiny.sum(), torch.sqrt(tiny), torch.exp(tiny) - 1, wide * 0.5, (tiny.bfloat16() * 2), tiny * 1e30

made = torch.compile(step, backend="openxla")(torch.ones(3, device="xla"))
bits = [t.cpu().contiguous().reshape(-1).view(torch.uint8).tolist() for t in made]
print(json.dumps([bits, met.counter_value("PersistentCacheHit") or 0]))
"""


def constants(mode, folder):
    done = subprocess.run([sys.executable, "-c", CONSTANTS, mode], capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, MILLRACE_CACHE="rw", MILLRACE_CACHE_DIR=str(folder)))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@DENORMALS
def test_what_is_folded_is_kept_for_every_thread(tmp_path):
    flushed, hits = constants("flush", tmp_path / "cache")
    assert not hits
    read, hits = constants("normal", tmp_path / "cache")
    assert hits
    alone, hits = constants("normal", tmp_path / "other")
    assert not hits and flushed == read == alone
    assert read[1] == [1, 1, 1] and any(read[0]) and any(read[5])


@pytest.fixture
def flushing():
    assert torch.set_flush_denormal(True)
    yield
    torch.set_flush_denormal(False)


def results(x):
    x = x.to("xla")
    made = [x / 4, x > 0, x * 1e-3, torch.sqrt(x), x.sum(), x.double() * 1e-300, x.bfloat16() + x.bfloat16(), torch.full_like(x, 1e-40) * x.sign()]
    return [t.cpu().contiguous().reshape(-1).view(torch.uint8).tolist() for t in made]


@DENORMALS
def test_arguments(flushing):
    x = torch.tensor([0x00000001, 0x000116c2, 0x00a3545f, 0x3f800000], dtype=torch.int32).view(torch.float32)
    flushed = results(x)
    assert torch.tensor([1e-40]).mul(1).item() == 0  # PyTorch on the CPU still does as it was told
    torch.set_flush_denormal(False)
    assert flushed == results(x)
    assert flushed[1] == [1, 1, 1, 1]


@pytest.fixture
def decimal_comma(tmp_path, monkeypatch):
    """The process's locale writes 1.5 as 1,5."""
    if not shutil.which("localedef"):
        pytest.skip("there is no localedef to make a locale with")
    source = tmp_path / "comma.txt"
    source.write_text('comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n')
    subprocess.run(["localedef", "-c", "-i", str(source), str(tmp_path / "comma")], capture_output=True)
    before = locale.setlocale(locale.LC_NUMERIC)
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    locale.setlocale(locale.LC_NUMERIC, "comma")
    assert locale.localeconv()["decimal_point"] == ","
    yield lambda: locale.setlocale(locale.LC_NUMERIC, before)
    locale.setlocale(locale.LC_NUMERIC, before)


def texts_and_value():
    # A constant of bf16 is written with as many digits as tell it from others.
    program = """func.func @main() -> tensor<3xbf16> {
      %0 = stablehlo.constant dense<[1.0625, -0.1, 3.0e-39]> : tensor<3xbf16>
      return %0 : tensor<3xbf16> }"""
    y = torch.nn.functional.gelu(torch.ones(3, device="xla")) * 1234.5
    return torch_xla._XLAC._program_hlo(program), torch_xla._XLAC._get_xla_tensors_hlo([y]), y.cpu().tolist()


def test_a_decimal_comma_changes_nothing(decimal_comma):
    with_comma = texts_and_value()
    assert "{1.06, -0.1, 3e-39}" in with_comma[0], with_comma[0]
    decimal_comma()
    assert locale.localeconv()["decimal_point"] == "."
    assert texts_and_value() == with_comma
