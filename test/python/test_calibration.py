# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is made of measurements: descriptions of machines by benchmarks.calibration, and the comparison of modelled and measured plans."""
import json
import os
import subprocess

import pytest

from benchmarks import auto_sharding, calibration, tools

MACHINE = {"flops_per_second": 2e10, "narrow_flops_per_second": 5e10, "bytes_per_second": 4e9, "kernel_seconds": 2e-5, "meeting_seconds": 5e-5,
           "cache_bytes": 1 << 20, "cache_bytes_per_second": 1e10,
           "links": [{"devices": 65536, "bytes_per_second": 3e9, "cache_bytes_per_second": 9e9, "seconds": 1e-5}]}
needs_tools = pytest.mark.skipif(not os.path.exists(tools.tool("xla-run")), reason="xla-run is not built")


def test_a_machine_is_found_by_its_own_times():
    found = calibration.probes(8, 16)
    for probe in found:
        probe.seconds = calibration.modelled(probe, MACHINE, wait=2e-5)
    described, wait = calibration.describe(found, 8, "a test")
    assert wait == pytest.approx(2e-5, rel=0.02)
    for key in ("flops_per_second", "narrow_flops_per_second", "bytes_per_second", "kernel_seconds", "meeting_seconds", "cache_bytes", "cache_bytes_per_second"):
        assert described[key] == pytest.approx(MACHINE[key], rel=0.01), key
    for key in ("bytes_per_second", "cache_bytes_per_second", "seconds"):
        assert described["links"][0][key] == pytest.approx(MACHINE["links"][0][key], rel=0.01), key
    assert described["shared_memory"] is True and described["source"] == "a test"


def test_no_coefficient_is_negative():
    """Seconds that fall with the second column."""
    constant, falling = calibration.fit([[1, 1], [1, 2], [1, 3]], [3, 2, 1])
    assert constant > 0 and falling == 0


def test_groups_are_of_neighbours_or_apart():
    assert calibration.groups_of(8, 4, apart=False) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert calibration.groups_of(8, 4, apart=True) == [[0, 2, 4, 6], [1, 3, 5, 7]]


@needs_tools
@pytest.mark.parametrize("kind", calibration.KINDS)
def test_collectives_run_and_cost_what_is_modelled(kind, tmp_path):
    """xla-compile counts the same seconds for the program as the fit does for the description."""
    probe = calibration.collective(8, kind, 4, True, 64, 3)
    path, machine = tmp_path / "probe.mlir", tmp_path / "machine.json"
    path.write_text(probe.text)
    machine.write_text(json.dumps(MACHINE | {"shared_memory": True, "memory_bytes": 1e9}))
    subprocess.run([tools.tool("xla-run"), str(path), "--quiet", "--cache-dir=off"], check=True, capture_output=True, timeout=300)
    found, _ = auto_sharding.simulated(str(path), [f"--machine={machine}"])
    assert found["seconds"] == pytest.approx(3 * calibration.modelled(probe, MACHINE), rel=1e-6)


def test_pairs_below_the_noise_are_counted_apart():
    def plan(modelled, measured, noise=0.1):
        return {"seconds": modelled, "measured": measured, "noise": noise}
    rows = [{"plans": {"a": plan(1, 5), "b": plan(2, 6), "c": plan(3, 5.95)}}]
    lines = auto_sharding.agreement(rows)
    assert lines[0].startswith("2 of 3 pairs") and lines[1].startswith("2 of 2 pairs")
    assert "Kendall 0.33" in lines[2] and "Spearman 0.50" in lines[2]


def test_noise_is_the_range_of_the_middle_half():
    assert auto_sharding.noise_of([5, 1, 2, 3, 100, 4, 6, 7]) == 6 - 3
    assert auto_sharding.noise_of([2.0]) == 0
