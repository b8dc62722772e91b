# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names under which PyTorch/XLA's programs look for what happened, and how much of it."""
import os
import subprocess
import sys
import time

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met


def test_operators_are_counted():
    x = torch.tensor(100, device="xla")
    met.clear_counters()
    assert met.counter_names() == [] and met.counter_value("xla::add") is None
    x += 2
    torch.relu(x + 1)
    assert met.counter_value("xla::add") == 2 and met.counter_value("xla::relu") == 1
    assert "Counter: xla::add\n  Value: 2\n" in met.metrics_report()
    torch.nn.BatchNorm1d(3).to("xla")(torch.rand(4, 3).to("xla"))
    assert met.counter_value("xla::native_batch_norm") == 1


def test_a_compiled_function_records_nothing():
    compiled = torch.compile(lambda x, y: torch.cos(x) + torch.sin(y), backend="openxla")
    x, y = torch.rand(3, 2, device="xla"), torch.rand(3, 2, device="xla")
    compiled(x, y)
    assert "xla::add" in met.counter_names()
    met.clear_counters()
    compiled(x, y)
    assert "xla::add" not in met.counter_names() and "xla::cos" not in met.counter_names()


def test_names_of_a_step():
    met.clear_all()
    x = torch.tensor(2077, device="xla")
    y = x * 2 + 100
    xm.mark_step()
    y.cpu()
    for name in ("CompileTime", "ExecuteTime", "TensorsGraphSize", "InputOutputAliasCount", "TensorToData", "UnwrapXlaData", "WrapXlaData",
                 "DeviceLockWait", "LazyTracing", "InboundData", "OutboundData", "TransferToDeviceTime", "TransferFromDeviceTime"):
        assert met.metric_data(name) and met.metric_data(name)[0] > 0, name
    for name in ("DeviceDataCacheMiss", "CreateXlaTensor", "UncachedCompile", "MarkStep", "CreateCompileHandles"):
        assert met.counter_value(name) > 0, name
    assert met.metric_data("LazyTracing")[0] > 1 and met.metric_data("TensorsGraphSize")[1] >= 2
    assert met.metric_data("OutboundData")[1] >= 8 and met.metric_data("InboundData")[1] == 8
    del x


def test_random_numbers_are_sent_and_results_are_handles():
    """A program without any data of the user's: its seed is."""
    torch_xla.manual_seed(0x5eed5eed5eed)  # a number that was sent before is none that is sent
    met.clear_all()
    torch.rand(7, 11, 13, device="xla").cpu()
    for name in ("OutboundData", "InboundData", "TransferToDeviceTime", "TransferFromDeviceTime", "CompileTime", "ExecuteTime"):
        assert met.metric_data(name) and met.metric_data(name)[0] == 1, name
    assert met.counter_value("CreateDataHandles") == 2  # the seed, the result
    assert "Counter: CreateDataHandles" in met.metrics_report() and "Metric: OutboundData" in met.metrics_report()
    x = torch.ones(4).to("xla")
    assert met.counter_value("CreateDataHandles") == 3 and met.metric_data("OutboundData")[0] == 2
    del x


def test_short_report():
    x = torch.tensor(100, device="xla")
    y = x * 3
    torch_xla.sync()
    y.cpu()
    report = met.short_metrics_report()
    assert "MarkStep" in report and "CompileTime" in report and "TensorToData" not in report
    report = met.short_metrics_report(counter_names=["CreateCompileHandles"])
    assert "CreateCompileHandles" in report and "MarkStep" not in report and "CompileTime" in report
    report = met.short_metrics_report(counter_names=["CreateCompileHandles"], metric_names=["InboundData", "InputOutputAliasCount"])
    assert "CompileTime" not in report and "InboundData" in report and "InputOutputAliasCount" in report
    if y > 0:
        assert "aten::_local_scalar_dense" in met.short_metrics_report(counter_names=["CreateCompileHandles"], metric_names=["InboundData"])
    assert "aten::_local_scalar_dense" not in met.executed_fallback_ops()  # no operator that is missing


def aliases():
    return met.metric_data("InputOutputAliasCount")[:2]


def test_memory_that_is_taken_over():
    a, b = torch.randn(4, 2, 2).to("xla"), torch.randn(4, 2, 2).to("xla")
    torch_xla.sync()
    met.clear_all()
    c = a + b
    a *= 2.0
    b += 2.0
    torch_xla.sync()
    assert aliases() == (1, 2.0)
    met.clear_all()
    x = torch.randn(4, 7).to("xla")
    x += 1
    torch_xla.sync()
    assert aliases()[1] == 1.0
    x *= 100
    torch_xla.sync()
    assert aliases()[1] == 2.0
    del c


def test_dynamo_in_the_analysis(tmp_path):
    path = tmp_path / "debug.txt"
    program = """
import torch, torch_xla
x = torch.randn(4, 4, device="xla")
compiled = torch.compile(lambda x: x * 100, backend="openxla")
compiled(x)
compiled(x)
"""
    saved = tmp_path / "graphs"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120, env=dict(
        os.environ, PT_XLA_DEBUG="1", PT_XLA_DEBUG_FILE=str(path), XLA_SAVE_TENSORS_FILE=str(saved)))
    lines = [line.split(": ", 1)[1] if ": " in line else line for line in path.read_text().split("\n")]
    causes = [(lines[i].split()[0], lines[i + 1].strip()) for i in range(len(lines)) if lines[i].endswith(" Cause")]
    entering, running = "mark_step when dynamo processing input graphs", "dynamo is executing a compiled program"
    assert causes == [("Compilation", entering), ("Execution", entering), ("Compilation", "dynamo is compiling a FX graph to HLO"),
                      ("Execution", running), ("Execution", running)]
    infos = [lines[i + 1:i + 4] for i in range(len(lines)) if lines[i].startswith("Graph Info:")]
    assert infos[0] == infos[1] and infos[2] == infos[3] == infos[4]
    assert infos[2][1].strip() == "Number of Graph Inputs: 2" and infos[2][2].strip() == "Number of Graph Outputs: 1"
    assert (tmp_path / "graphs.0").read_text().count("BEGIN_GRAPH") == 3


def test_the_time_of_a_program_is_that_until_its_end():
    x = torch.randn(600, 600).to("xla")
    for _ in range(20):
        x = x @ x * 1e-3
    torch_xla.sync(wait=True)  # compiled
    for _ in range(20):
        x = x @ x * 1e-3
    met.clear_all()
    torch_xla.sync()
    assert met.metric_data("ExecuteTime")[0] == 1  # counts at once
    torch_xla._XLAC._wait()
    while not met.metric_data("ExecuteTime")[2]:  # who waits may be there first
        time.sleep(0.01)
    total, took, samples = met.metric_data("ExecuteTime")
    assert total == len(samples) == 1 and took == samples[0][1]
    assert took > 5e6  # nanoseconds for 9 GFLOP; to start them takes 0.1 ms


def test_what_happens_to_values_and_programs():
    x = torch.arange(6.0).to("xla")
    torch_xla.sync(wait=True)
    met.clear_all()
    made = [x + 1.25, x * 3.75]
    torch_xla.sync(wait=True)
    assert met.counter_value("SyncTensorsToData") == 2 and met.counter_value("ExecuteComputation") == 1 == met.metric_data("ExecuteTime")[0]
    assert met.metric_data("IrValueTensorToXlaData")[0] == 1  # the two numbers, together
    assert [t.tolist() for t in made] == [[n + 1.25 for n in range(6)], [n * 3.75 for n in range(6)]]
    assert met.counter_value("ExecuteComputation") == 1, "what is there is read, not computed"


def test_the_cache_on_disk_is_timed(tmp_path):
    program = """
import torch, torch_xla, torch_xla.debug.metrics as met
(torch.arange(5.0).to("xla") * 2.5).sum().item()
times = [met.metric_data(name) for name in ("PersistentCacheLoad", "PersistentCacheStore")]
print([time[0] if time else 0 for time in times], all(time[1] > 0 for time in times if time), "PersistentCacheStore" in met.metrics_report())
"""
    environment = dict(os.environ, MILLRACE_CACHE="rw", MILLRACE_CACHE_DIR=str(tmp_path))
    first, second = (subprocess.run([sys.executable, "-c", program], check=True, timeout=120, env=environment, capture_output=True, text=True).stdout
                     for _ in range(2))
    assert first == "[0, 1] True True\n" and second == "[1, 0] True False\n"


def test_the_environment_says_how_many_samples_are_kept():
    program = """
import torch, torch_xla, torch_xla.debug.metrics as met
for n in range(9):
    torch.tensor(n).to("xla")
number, total, kept = met.metric_data("TensorToData")
report = met.metrics_report()
print(number, len(kept), total > sum(value for _, value in kept), "Percentiles: 25%=" in report, "; 75%=" in report, "50%" in report)
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, timeout=120, capture_output=True, text=True,
                         env=dict(os.environ, XLA_METRICS_SAMPLES="4", XLA_METRICS_PERCENTILES="0.25:0.75"))
    assert ran.stdout == "9 4 True True True False\n"


@pytest.mark.parametrize("given", ["half", "0.5:", "0.5:50", "-0.5", "nan"])
def test_percentiles_that_are_none_are_said_once(given, monkeypatch, capfd):
    torch.ones(2, device="xla").tolist()
    monkeypatch.setenv("XLA_METRICS_PERCENTILES", given)
    for _ in range(2):
        assert "Percentiles: 1%=" in met.metrics_report()
    assert capfd.readouterr().err == (f"millrace: warning: XLA_METRICS_PERCENTILES expects numbers from 0 to 1 with colons between, but got '{given}'; "
                                      "it counts as not set\n")


def test_marks_are_counted():
    from torch_xla.experimental.mark_pattern_utils import StableHLOCompositeBuilder
    met.clear_counters()
    builder = StableHLOCompositeBuilder("sample.double")
    x, = (builder.mark_inputs(torch.ones(3, device="xla")),)
    builder.mark_outputs(x + x)
    assert met.counter_value("XlaMarkTensor") == 2
