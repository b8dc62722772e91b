# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Behaviour that PyTorch/XLA's own tests of its profiler, metrics and debug output ask for, and that no other test here has.

docs/guide/profiling.md lists their cases with the tests of ours that stand for them."""
import json
import os
import re
import subprocess
import sys
import threading

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
import torch_xla.debug.profiler as xp
from test_processes import environment, free_port, results_of, start

DEVICE = "/device:CUSTOM:Millrace CPU:0"


def run_program(text, **variables):
    """What the program prints, in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", text], env=environment(**variables), capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def only_recording(folder):
    """The bytes of the only xplane file below a folder, and its name."""
    file, = folder.rglob("*.xplane.pb")
    return file.read_bytes(), file.name


# Metrics.


def test_metrics_are_cleared_and_count_again():
    torch.tensor(156, device="xla")
    assert met.metric_data("TensorToData")[0] > 0 and "Metric: TensorToData" in met.metrics_report()
    met.clear_metrics()
    assert met.metric_names() == [] and met.metric_data("TensorToData") is None and "TensorToData" not in met.metrics_report()
    torch.tensor(200, device="xla")
    assert met.metric_data("TensorToData")[0] == 1 and "TensorToData" in met.metric_names()


def test_counters_and_metrics_are_cleared_apart():
    (torch.tensor(3, device="xla") * 5).cpu()
    met.clear_counters()
    assert met.counter_names() == [] and "TensorToData" in met.metric_names()
    (torch.tensor(3, device="xla") * 5).cpu()
    met.clear_metrics()
    assert met.metric_names() == [] and met.counter_value("xla::mul") == 1


def test_a_report_counts_tensors_that_are_made_and_destroyed():
    met.clear_all()
    x = torch.tensor(2077, device="xla")
    y = x * 2
    torch_xla.sync()
    made = met.counter_value("CreateXlaTensor")
    assert made >= 2
    del x, y
    report = met.metrics_report()
    assert met.counter_value("DestroyXlaTensor") >= 2 and "Counter: DestroyXlaTensor" in report and "Counter: DeviceDataCacheMiss" in report


def test_the_short_report_tells_of_programs_that_were_there_and_of_fallbacks():
    x, kept = torch.ones(3, 74).to("xla"), []  # a shape that no other test has
    met.clear_all()
    for _ in range(3):
        kept.append(x * 7)
        torch_xla.sync()
    report = met.short_metrics_report()
    assert met.counter_value("CachedCompile") == 2 and "Counter: CachedCompile\n  Value: 2\n" in report and "Metric: ExecuteTime" in report
    if kept[0].sum() > 0:
        assert "aten::_local_scalar_dense" in met.short_metrics_report()


def test_a_process_begins_without_metrics_and_a_round_trip_has_those_of_the_client():
    printed = run_program("""
import json
import torch, torch_xla
import torch_xla.debug.metrics as met
import torch_xla.debug.metrics_compare_utils as mcu
before = met.metrics_report()
torch.rand(3, 3, device="xla").cpu()
points = mcu.get_data_points_from_metrics_reports([met.metrics_report()])
print(json.dumps([before, sorted({name.split("__")[0] for name in points})]))
""")
    before, names = json.loads(printed)
    assert before == ""
    assert {"CompileTime", "CreateCompileHandles", "CreateDataHandles", "ExecuteTime", "InboundData", "OutboundData", "TransferFromDeviceTime",
            "TransferToDeviceTime"} <= set(names)


# The profiler.


def test_sessions_follow_each_other_beside_a_server(tmp_path):
    server = xp.start_server(0)
    layers = torch.nn.Linear(10, 5).to("xla"), torch.nn.Linear(5, 10).to("xla")
    for turn in range(2):
        folder = tmp_path / str(turn)
        xp.start_trace(str(folder))
        for _ in range(4):
            x = torch.randn(10, 10).to("xla")
            for k, layer in enumerate(layers):
                with xp.Trace(f"layer{turn}{k}"):
                    x = layer(x)
            x.cpu()
        xp.stop_trace()
        data, _ = only_recording(folder)
        assert all(f"layer{turn}{k}".encode() in data for k in range(2)) and DEVICE.encode() in data
        assert f"layer{1 - turn}0".encode() not in data, "the other session's"
    assert server.port > 0


def test_a_process_records_itself_through_its_own_server(tmp_path):
    server = xp.start_server(0)
    x = torch.ones(5)
    asked = threading.Thread(target=xp.trace, args=(f"localhost:{server.port}", str(tmp_path)), kwargs={"duration_ms": 1500, "num_tracing_attempts": 20})
    asked.start()
    turn = 0
    while asked.is_alive():  # until the file is there: however late the recording began, it has steps
        turn += 1
        y = x.to("xla") + turn
        torch_xla.sync()
        if turn % 50 == 1:
            z = torch.ones(turn).to("xla") * 3  # another shape: compiled while it records
            torch_xla.sync()
            del z
    asked.join()
    del y
    data, name = only_recording(tmp_path)
    assert name == f"localhost_{server.port}.xplane.pb"
    for method in ("TransferToDevice", "Compile", "ExecuteComputation"):
        assert f"PjRtComputationClient::{method}".encode() in data, method


TRAINING = """
import sys
import torch, torch_xla
import torch_xla.debug.profiler as xp
server = xp.start_server(int(sys.argv[1]))
model = torch.nn.Linear(16, 4).to("xla")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
step = 0
while True:
    with xp.StepTrace("train_mnist", step_num=step):
        with xp.Trace("build_graph"):
            optimizer.zero_grad()
            loss = model(torch.ones(2 + step % 400, 16).to("xla")).square().mean()  # other shapes in every step
            loss.backward()
        optimizer.step()
        loss.item()
    step += 1
    if step == 15:
        print("started", flush=True)
"""


def test_a_training_that_compiles_and_reads_is_recorded_and_warned_of(tmp_path):
    program, warnings = tmp_path / "train.py", tmp_path / "metrics.txt"
    program.write_text(TRAINING)
    port = free_port()
    process = subprocess.Popen([sys.executable, program, str(port)], stdout=subprocess.PIPE, text=True,
                               env=environment(PT_XLA_DEBUG="1", PT_XLA_DEBUG_FILE=str(warnings), MILLRACE_CACHE_DIR=str(tmp_path / "cache")))
    try:
        assert process.stdout.readline() == "started\n"
        for duration in (500, 2000, 8000, 32000):  # a recording has the steps that begin and end in it, and a busy machine is slow
            xp.trace(f"localhost:{port}", str(tmp_path / str(duration)), duration_ms=duration, num_tracing_attempts=5, delay_ms=100)
            data, _ = only_recording(tmp_path / str(duration))
            if b"train_mnist" in data:
                break
    finally:
        process.kill()
        process.communicate()
    assert b"train_mnist" in data and b"build_graph" in data
    text = warnings.read_text()
    assert "CompileTime too frequent" in text and "TransferFromDeviceTime too frequent" in text


# PT_XLA_DEBUG.


@pytest.fixture
def causes(tmp_path, monkeypatch):
    """What caused compilations and executions since the last call: (kind, cause, hash of the graph)."""
    torch_xla.sync()
    path = tmp_path / "debug.txt"
    monkeypatch.setenv("PT_XLA_DEBUG_FILE", str(path))
    monkeypatch.setenv("PT_XLA_DEBUG_LEVEL", "2")

    def read():
        text = path.read_text() if path.exists() else ""
        path.write_text("")
        return re.findall(r"(Compilation|Execution) Cause\n.*?Analysis:   (.*)\n(?:.*\n)*?.*Graph Hash: (\w+)", text)
    return read


def test_the_end_of_a_step_is_a_cause(causes):
    with xp.StepTrace("train_pt_xla_debug"):
        x = torch.randn(3, 71, device="xla")
    found = causes()
    assert [kind for kind, _, _ in found] == ["Compilation", "Execution"] and len({digest for _, _, digest in found}) == 1
    assert all("when exiting a profiler StepTrace region" in cause for _, cause, _ in found)
    del x


def test_a_print_is_a_cause(causes, capsys):
    print(torch.randn(5, 72, device="xla"))
    found = causes()
    assert found and all("user code trying to access tensor value" in cause for _, cause, _ in found)
    assert found[0][2] == next(digest for kind, _, digest in found if kind == "Execution")
    assert "tensor(" in capsys.readouterr().out


def test_batches_of_a_loader_are_compiled_once_and_run_each(causes):
    import torch_xla.distributed.parallel_loader as pl
    batches = [torch.zeros(4, 73) for _ in range(10)]
    for batch in pl.MpDeviceLoader(batches, torch.device("xla"), loader_prefetch_size=8, device_prefetch_size=4, host_to_device_transfer_threads=1):
        kept = batch + 100
    found = causes()
    assert [kind for kind, _, _ in found].count("Compilation") == 1 and [kind for kind, _, _ in found].count("Execution") == 10
    assert len({digest for _, _, digest in found}) == 1 and all("in parallel loader at step end" in cause for _, cause, _ in found)
    del kept


OF_TWO = """
import json, os
import torch, torch_xla
import torch_xla.core.xla_model as xm
x = torch.randn(10, 10, device="xla") * 100
torch_xla.sync()
xm.wait_device_ops()
print(json.dumps(xm.get_ordinal()))
"""


def test_one_process_of_a_machine_writes_the_analysis(tmp_path):
    program, path = tmp_path / "program.py", tmp_path / "debug.txt"
    program.write_text(OF_TWO)
    assert results_of(start("two", 2, program, PT_XLA_DEBUG="1", PT_XLA_DEBUG_FILE=str(path))) == [0, 1]
    text = path.read_text()
    assert text.count("Execution Cause") == 1 and text.count("Compilation Cause") == 1 and text.count("Python Frame Triggered Execution") == 2
    assert os.listdir(tmp_path) and "user torch_xla.sync" in text
