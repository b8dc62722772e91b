# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Environment variables that say what is written about graphs and programs."""
import importlib
import json
import os
import re
import subprocess
import sys

import pytest
import torch
import torch_xla

PROGRAM = """
import torch, torch_xla, torch_xla.core.xla_model as xm

def forward(x):
    return x.sin() + 1

y = forward(torch.arange(6., device="xla").reshape(2, 3))
print(torch_xla._XLAC._get_xla_tensors_text([y]))
print("=====")
print(torch_xla._XLAC._get_xla_tensors_hlo([y]))
print("=====")
print(xm.get_stablehlo([y]))
print("=====")
try:
    torch_xla._XLAC._program("module { func.func @main() -> nonsense }")
except RuntimeError as error:
    print(error)
"""


def run(folder, **environment):
    program = folder / "program.py"
    program.write_text(PROGRAM)
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, **environment))
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("=====\n")


def test_lines_of_the_user(tmp_path):
    graph, hlo, stablehlo, error = run(tmp_path, XLA_IR_DEBUG="1", XLA_HLO_DEBUG="1", XLA_DUMP_HLO_GRAPH="1",
                                       XLA_SAVE_HLO_FILE=str(tmp_path / "bad.txt"))
    assert re.search(r"aten::sin\(.*location=forward@program\.py:5,", graph), graph
    assert re.search(r'sine\(.*metadata=\{.*source_file="[^"]*program\.py" source_line=5', hlo), hlo
    assert re.search(r"stablehlo\.sine.* loc\(", stablehlo) and "program.py" in stablehlo
    assert "-> nonsense" in error and "cannot be parsed" in error
    assert re.match(r"\[.*cannot be parsed(.|\n)*\]\nmodule \{ func\.func @main\(\) -> nonsense \}\n", (tmp_path / "bad.txt").read_text())


def test_without_them(tmp_path):
    graph, hlo, stablehlo, error = run(tmp_path)
    assert "location" not in graph and "metadata" not in hlo and "loc(" not in stablehlo
    assert "-> nonsense" not in error and "cannot be parsed" in error


def test_devices_that_are_not_there():
    for make in (lambda: torch.ones(2, device="xla:1"), lambda: torch.ones(2).to("xla:1"), lambda: torch.ones(2, device="xla").to("xla:3")):
        with pytest.raises(RuntimeError, match=r"there is no device xla:\d: this process has xla:0"):
            make()
    assert torch.ones(2, device="xla:0").device == torch_xla.device()


def test_safetensors(tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    model = torch.nn.Linear(3, 2).to("xla")
    safetensors.save_file(model.state_dict(), tmp_path / "weights")
    loaded = safetensors.load_file(tmp_path / "weights")
    assert torch.equal(loaded["weight"], model.weight.detach().cpu())
    with pytest.raises(RuntimeError, match="share memory"):
        safetensors.save_file({"a": model.weight.detach(), "b": model.weight.detach().view(-1)}, tmp_path / "shared")


SWITCHES = """
import json, torch, torch_xla, torch_xla.debug.metrics as met
from torch_xla import _XLAC
x = torch.ones(400, 400, device="xla")
torch_xla.sync()
found = {"numbers and x": _XLAC._get_xla_tensors_hlo([x + 1]).split("ENTRY")[1].count("parameter(")}
waits, sync = [], _XLAC._sync
_XLAC._sync = lambda wait: (waits.append(wait), sync(wait))
for _ in range(4):
    y = x @ x * 0.0025
    torch_xla.sync()
found["waits"] = waits[:]
x += 1
torch_xla.sync(wait=True)
for name in ("DonatedBuffers", "PersistentCacheHit", "PersistentCacheMiss"):
    found[name] = met.counter_value(name) or 0
found["percentiles"] = next(line for line in met.metrics_report().splitlines() if "Percentiles" in line)
print(json.dumps(found))
"""


def switches(**environment):
    ran = subprocess.run([sys.executable, "-c", SWITCHES], capture_output=True, text=True, timeout=200, env=dict(os.environ, **environment))
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout), ran.stderr


def test_switches_of_barriers_and_programs(tmp_path):
    folder = str(tmp_path / "programs")
    on, errors = switches(XLA_NO_SPECIAL_SCALARS="1", XLA_SYNC_WAIT="1", XLA_ENABLE_PARAM_ALIASING="0", XLA_EMIT_STEPLOG="1",
                          XLA_METRICS_PERCENTILES="0.25:0.5", XLA_PERSISTENT_CACHE_PATH=folder)
    kept = sorted(file for _, _, files in os.walk(folder) for file in files)
    off, quiet = switches(XLA_PERSISTENT_CACHE_PATH=folder, XLA_PERSISTENT_CACHE_READ_ONLY="1")
    assert on["numbers and x"] > 1 == off["numbers and x"], "XLA_NO_SPECIAL_SCALARS"
    assert on["waits"] == [True] * 4 and off["waits"] == [False] * 4, "XLA_SYNC_WAIT"
    assert on["DonatedBuffers"] == 0 and off["DonatedBuffers"] == 1, "XLA_ENABLE_PARAM_ALIASING"
    assert errors.count("torch_xla: step barrier") == 6 and "step barrier" not in quiet, "XLA_EMIT_STEPLOG"
    assert all(part in on["percentiles"] for part in ("25%=", "50%=")) and "1%=" in off["percentiles"], "XLA_METRICS_PERCENTILES"
    assert on["PersistentCacheHit"] == 0 and on["PersistentCacheMiss"] >= 2 and kept, "XLA_PERSISTENT_CACHE_PATH"
    # Numbers are constants again: other programs, but for those without any. None is stored.
    assert off["PersistentCacheHit"] >= 1 and off["PersistentCacheMiss"] >= 1, "XLA_PERSISTENT_CACHE_PATH"
    assert sorted(file for _, _, files in os.walk(folder) for file in files) == kept, "XLA_PERSISTENT_CACHE_READ_ONLY"


def test_switches_of_barriers_in_a_process_that_runs(monkeypatch, capfd):
    """Every barrier asks for them: what os.environ says meanwhile counts."""
    waits, sync = [], torch_xla._XLAC._sync
    monkeypatch.setattr(torch_xla._XLAC, "_sync", lambda wait: (waits.append(wait), sync(wait)))
    for value, is_on in ((None, False), ("1", True), ("off", False), ("yes", True), ("", False), ("True", True), (None, False)):
        for name in ("XLA_EMIT_STEPLOG", "XLA_SYNC_WAIT"):
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        capfd.readouterr()
        torch_xla.sync()
        assert waits.pop() is is_on and ("torch_xla: step barrier" in capfd.readouterr().err) is is_on, value


def test_a_process_that_begins_on_all_devices():
    code = ("import torch, torch_xla.runtime as xr; torch.ones(2, device='xla').tolist()\n"
            "print(xr.is_spmd(), xr.global_runtime_device_count())")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, XLA_USE_SPMD="1", CPU_NUM_DEVICES="2"))
    assert ran.stdout.split() == ["True", "2"], ran.stderr


def test_a_process_that_begins_in_eager_mode(monkeypatch):
    from torch_xla.experimental import eager
    try:
        for value, expected in (("0", False), ("1", True)):
            monkeypatch.setenv("XLA_USE_EAGER_DEBUG_MODE", value)
            importlib.reload(eager)
            assert eager.is_eager_mode() is expected
    finally:
        eager.eager_mode(False)
    assert "torch_xla.experimental.eager" in sys.modules                 # imported with torch_xla: the variable always counts


def test_the_device_that_is_chosen(monkeypatch, caplog):
    import torch_xla.runtime as xr
    monkeypatch.setenv("PJRT_DEVICE", "")
    monkeypatch.setenv("PJRT_SELECT_DEFAULT_DEVICE", "0")
    assert xr.device_type() is None
    with pytest.raises(RuntimeError, match=r"PJRT_DEVICE is not set, and PJRT_SELECT_DEFAULT_DEVICE=0 .*\(PJRT_DEVICE=CPU\)"):
        torch_xla._XLAC._device_type()
    monkeypatch.delenv("PJRT_SELECT_DEFAULT_DEVICE")
    assert not caplog.records and xr.device_type() == xr.device_type() == "CPU" and os.environ["PJRT_DEVICE"] == "CPU"
    assert [record.getMessage() for record in caplog.records] == ["torch_xla: PJRT_DEVICE is not set, so the device is CPU"]


def test_plugins_are_known_and_not_loaded(monkeypatch):
    from torch_xla.experimental import plugins

    class Toaster(plugins.DevicePlugin):
        def library_path(self):
            return "/nowhere/toaster.so"
    plugin = Toaster()
    assert plugin.physical_chip_count() == 1 and plugin.host_index() == 0 and plugin.client_create_options() == {}
    with pytest.warns(UserWarning, match="TOASTER.*cannot choose it"):
        plugins.register_plugin("toaster", plugin)
    monkeypatch.setenv("PJRT_DEVICE", "TOASTER")
    with pytest.raises(RuntimeError, match="Unknown PJRT_DEVICE 'TOASTER': the only device available is CPU"):
        plugins.default()
    monkeypatch.setenv("PJRT_DEVICE", "CPU")
    with pytest.raises(KeyError):
        plugins.default()
    monkeypatch.setenv("PJRT_DYNAMIC_PLUGINS", "0")
    torch.ones(2, device="xla").tolist()
    with pytest.raises(RuntimeError, match="a device was used already"):
        plugins.use_dynamic_plugins()
    plugins.register_installed_plugins()                                # none is installed here


def test_report_of_pending_tensors():
    from torch_xla.debug import profiler as xp
    before = torch_xla._XLAC._get_ir_debug()
    try:
        for debug in (True, False):
            torch_xla._XLAC._set_ir_debug(debug)
            with xp.Trace("some_region"):
                kept = torch.ones(3, device="xla") * 3
            report = torch_xla._XLAC._xla_tensors_report(0, "xla:0")
            assert "aten::mul" in report and ("scope=some_region.1" in report) is debug
            assert bool(re.search(r"Frames:\n  test_report_of_pending_tensors \(test_environment.py:\d+\)", report)) is debug
            del kept
            torch_xla.sync()
    finally:
        torch_xla._XLAC._set_ir_debug(before)
