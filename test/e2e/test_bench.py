# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/bench end to end on a tiny program: the figures are there and consistent; no figure is compared with a limit."""
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import ml_dtypes
import numpy as np

from benchmarks import plot, profile, report, tables, tools
from benchmarks import program as programs


def bench(*arguments):
    environment = dict(os.environ, MILLRACE_BUILD=tools.BUILD, PYTHONPATH=tools.ROOT, JAX_PLATFORMS="cpu")
    return subprocess.run([sys.executable, "-m", "benchmarks.compare", *arguments], cwd=tools.ROOT, capture_output=True, text=True,
                          env=environment)


def test_help_needs_nothing(tmp_path):
    """Neither a build nor an environment: a folder with the script and the file that knows its options."""
    for name in ("scripts/bench", "benchmarks/arguments.py"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(os.path.join(tools.ROOT, name), tmp_path / name)
    process = subprocess.run([tmp_path / "scripts/bench", "op", "--help"], capture_output=True, text=True, timeout=60)
    assert process.returncode == 0 and process.stdout.startswith("usage: scripts/bench") and "--resume" in process.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["benchmarks", "scripts"]


def test_compares_and_plots(tmp_path):
    path = tmp_path / "result.json"
    process = bench("add_8_f32", "--peers=millrace,xla_cpu", "--rounds=1", "--seconds=0.05", f"--json={path}")
    assert process.returncode == 0, process.stderr
    (row,) = json.loads(path.read_text())["results"]
    assert row["name"].startswith("add_8_f32_t") and row["source"]
    for peer in ("millrace", "xla_cpu"):
        entry = row["peers"][peer]
        assert entry["wrong"] is None and 0 < entry["min_ms"] <= entry["median_ms"]
        assert entry["peak_mib"] > entry["base_mib"] > 1 and entry["compile_s"] > 0
    assert 0 < row["peers"]["millrace"]["compile_warm_s"] < row["peers"]["millrace"]["compile_s"]
    assert "geometric mean of speed against XLA:CPU" in process.stdout
    xml.etree.ElementTree.fromstring((tmp_path / "result.svg").read_text())
    assert row["name"] in (tmp_path / "result.svg").read_text()


def test_ends_peers_that_take_too_long(tmp_path):
    path = tmp_path / "result.json"
    process = bench("add_8_f32", "add_4096_f32", "--peers=xla_cpu", "--patience=0.01", "--rounds=1", f"--json={path}")
    assert process.returncode == 0, process.stderr
    rows = json.loads(path.read_text())["results"]
    assert [row["peers"]["xla_cpu"] for row in rows] == 2 * [{"error": "no answer within 0.01 s"}]  # the second got a process of its own


def test_prepares_and_stops(tmp_path):
    keep, path = tmp_path / "keep", tmp_path / "result.json"
    common = ("add_8_f32", "--peers=millrace", f"--keep={keep}", f"--json={path}")
    assert bench(*common, "--prepare").returncode == 0 and not path.exists()
    (text,) = keep.glob("programs-*/add_8_f32.mlir")
    text.write_text(text.read_text().replace("stablehlo.add", "stablehlo.multiply"))
    stopped = bench(*common, "--minutes=0")
    assert stopped.returncode == 0 and "1 programs are left" in stopped.stdout and not path.exists()
    measured = bench(*common, "--resume", "--rounds=1", "--seconds=0.01")
    assert measured.returncode == 0, measured.stderr
    assert json.loads(path.read_text())["results"][0]["peers"]["millrace"]["runs"] >= 2
    assert "stablehlo.multiply" in text.read_text()  # the kept text was taken, not made again


def test_layers_compile_once_and_programs_are_ready_from_the_cache():
    process = subprocess.run([sys.executable, "-m", "benchmarks.compile_time", "--layers=2,6", "--width=96", "--rounds=1", "lstm_scan_t64_16x256_f32"],
                             cwd=tools.ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in process.stdout.splitlines() if re.match(r"\| [0-9a-z]", line)]
    growth = {(row[0], row[1]): int(row[3]) for row in rows if len(row) == 5 and row[0].isdigit()}
    for kind in ("func.call", "flat text"):
        assert growth["6", kind] == growth["2", kind] > 3, "six equal layers have the kernels of two"
    (cold, cached, artifact), = ([float(cell) for cell in row[1:]] for row in rows if row[0].startswith("lstm"))
    assert artifact > 0 and cached < cold / 2


def test_profiles(tmp_path):
    path = tmp_path / "profile.json"
    process = bench("--profile", "gemm_33x65x127_f32", "--seconds=0.05", "--threads=1", f"--json={path}")
    assert process.returncode == 0, process.stderr
    report = json.loads(path.read_text())
    (kernel,) = report["programs"][0]["kernels"]
    assert kernel["flops"] == 2 * 33 * 65 * 127 and kernel["emitter"] == "contraction" and kernel["calls"] == 1
    assert kernel["bytes_read"] == 4 * (33 * 65 + 65 * 127) and kernel["bytes_written"] == 4 * 33 * 127
    assert kernel["gflops"] == pytest.approx(kernel["flops"] / kernel["median_us"] / 1e3)
    assert report["peaks"]["f32_gflops"] > 1 and all(r["read_gbs"] > 0.1 for r in report["peaks"]["bandwidth"])


def test_shares_of_the_peak():
    """One with each kind of probe; the share itself is the machine's business."""
    process = subprocess.run([sys.executable, "-m", "benchmarks.peaks", "gemm_128x768x3072_f32", "concatenate", "--rounds=2", "--seconds=0.01",
                              "--threads=2"], cwd=tools.ROOT, capture_output=True, text=True,
                             env=dict(os.environ, MILLRACE_BUILD=tools.BUILD, PYTHONPATH=tools.ROOT))
    assert process.returncode == 0, process.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in process.stdout.splitlines()[2:]]
    assert [(row[0], row[2]) for row in rows] == [("gemm_128x768x3072_f32", "flops"), ("concatenate_2x1024x1024_f32", "bytes")]
    for row in rows:
        least, greatest = map(float, row[4].split(", "))
        assert 0 < least <= float(row[3]) <= greatest
    process = subprocess.run([sys.executable, "-m", "benchmarks.peaks", "nothing"], cwd=tools.ROOT, capture_output=True, text=True,
                             env=dict(os.environ, MILLRACE_BUILD=tools.BUILD, PYTHONPATH=tools.ROOT))
    assert process.returncode != 0 and "gpt2_decode" in process.stderr


def test_judges_by_the_nearer_limit():
    peaks = {"f32_gflops": 100, "bandwidth": [{"bytes": 1000, "read_gbs": 50, "copy_gbs": 20}, {"bytes": 9000, "read_gbs": 10, "copy_gbs": 5}]}
    reads = {"median_us": 1, "calls": 1, "flops": 10, "bytes_read": 1000, "bytes_written": 0}
    profile.judge(reads, peaks)
    assert reads["bound"] == "bytes" and reads["of_peak"] == pytest.approx(1000 / 50e9 / 1e-6)
    copies = {"median_us": 1, "calls": 1, "flops": 10, "bytes_read": 1000, "bytes_written": 1000}
    profile.judge(copies, peaks)
    assert copies["of_peak"] == pytest.approx(2000 / 5e9 / 1e-6)
    computes = {"median_us": 1, "calls": 1, "flops": 90_000, "bytes_read": 100, "bytes_written": 0}
    profile.judge(computes, peaks)
    assert computes["bound"] == "flops" and computes["of_peak"] == pytest.approx(0.9)


def test_best_peer_ignores_wrong_results():
    row = {"peers": {"millrace": {"median_ms": 2.0}, "a": {"median_ms": 1.0, "wrong": "differs"}, "b": {"median_ms": 3.0}}}
    assert plot.speed_against_best(row) == (1.5, "b")


def test_who_overwrites_an_argument_is_found():
    before = [np.array([1.0, np.nan]), np.array(3), np.zeros((2, 0))]
    assert programs.changed(before, [a.copy() for a in before]) is None
    assert programs.changed(before, [before[0], np.array(4), before[2]]) == 1
    assert programs.changed(before, [-before[0], before[1], before[2]]) == 0


def test_types_of_a_program():
    text = ("module {\n  func.func public @main(%arg0: tensor<2x3xbf16> {jax.arg = \"x\"}, %arg1: tensor<i32>, %arg2: tensor<4xcomplex<f32>>) -> "
            "(tensor<2xui8> {jax.result_info = \"y\"}, tensor<f16>) {\n    %0 = stablehlo.add %a, %b : tensor<f64>\n")
    assert programs.signature(text) == (["bfloat16", "int32", "complex64"], ["uint8", "float16"])


def test_small_floats_are_compared_as_numbers(tmp_path):
    item = programs.Program("x", None, None, rtol=1e-2, atol=0)
    want = [np.array([1, 2, 3], ml_dtypes.bfloat16)]
    np.savez(tmp_path / "x.npz", out0=want[0])
    (raw,) = tools.load_results(str(tmp_path / "x.npz"))
    assert raw.dtype.name == "void16"
    with pytest.raises(AssertionError, match="raw bytes"):
        programs.comparable(raw)
    got = [programs.comparable(a) for a in programs.typed([raw], ["bfloat16"])]
    assert got[0].dtype == np.float32 and programs.disagreement(item, [programs.comparable(want[0])], got) is None
    assert "largest difference 1" in programs.disagreement(item, got, [got[0] + 1])


def test_summary_names_the_worst():
    def row(name, ours, theirs):
        entry = lambda ms, memory: {"median_ms": ms, "compile_s": 0.1 * ms, "compile_warm_s": 0.01, "peak_mib": memory, "base_mib": 10,
                                    "flags": {"bytes": {"temporaries": 300, "largest sum of live temporaries": 200}}}
        return {"name": name, "group": "model", "peers": {"millrace": entry(ours, 30), "xla_cpu": entry(theirs, 50), "iree": {"error": "no"}}}
    found = report.summary([row("a", 1, 4), row("b", 2, 2)], "median_ms")["model"]
    assert found["xla_cpu"]["mean"] == pytest.approx(2) and found["xla_cpu"]["of"] == "b" and found["best"]["worst"] == 1
    assert found["compile"]["mean"] == pytest.approx(0.5) and found["memory"]["mean"] == pytest.approx(0.5)
    assert found["arena"]["worst"] == 1.5


def test_tables_are_those_of_the_results():
    process = subprocess.run([sys.executable, "-m", "benchmarks.tables", "--check"], cwd=tools.ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr


def test_a_table_follows_its_numbers():
    steps = {"about": {"date": "2026-01-01", "threads": 2, "torch": "2", "load": 0.1}, "programs": {"mlp": {"lazy": {"ms": 1.5}, "eager": {"ms": 3.0}}}}
    text = "before\n<!-- table: torch_steps -->\nold\n<!-- end of table -->\nafter\n"
    new = tables.filled(text, {"torch_steps": tables.torch_steps(steps)})
    assert "| mlp | 1.50 (0.50) | 3.00 |" in new and "old" not in new and new.startswith("before") and new.endswith("after\n")
    with pytest.raises(KeyError):
        tables.filled(text, {})
