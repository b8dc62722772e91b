# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.profiler.profile: what runs on our devices is in its traces and tables."""
import collections
import gzip
import json
import os
import threading

import torch
import torch_xla
import torch_xla.debug.profiler as xp
from torch.profiler import ProfilerActivity, profile, schedule

DEVICE = 5_000_000  # the number of device 0 in Kineto's traces
PRIVATE_USE = 20  # c10::DeviceType::PrivateUse1


def trained(count, profiler=None):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).to("xla")
    x = torch.randn(32, 64).to("xla")
    torch_xla.sync(wait=True)
    for number in range(count):
        with xp.StepTrace("train", step_num=number):
            loss = model(x).square().mean()
            loss.backward()
            model.zero_grad()
            loss.item()
        if profiler:
            profiler.step()


def trace_of(profiler, path):
    profiler.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    return [event for event in events if event["ph"] != "M"], [event for event in events if event["ph"] == "M"]


def test_kernels_launches_and_memory_are_in_the_trace(tmp_path):
    trained(1)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        trained(3)
    events, names = trace_of(recorded, tmp_path / "trace.json")
    assert {"Millrace CPU:0"} == {event["args"]["name"] for event in names if event["name"] == "process_name" and event["pid"] == DEVICE}
    lines = {event["tid"]: event["args"]["name"] for event in names if event["name"] == "thread_name" and event["pid"] == DEVICE}
    assert lines == {1: "XLA Modules", 2: "XLA Ops", 3: "_counters_"}
    by_line = collections.defaultdict(list)
    for event in events:
        if event["pid"] == DEVICE and event["ph"] == "X":
            by_line[lines[event["tid"]]].append(event)
    runs = {event["args"]["run_id"] for event in by_line["XLA Modules"]}
    assert len(runs) == len(by_line["XLA Modules"]) >= 3
    assert {event["args"]["run_id"] for event in by_line["XLA Ops"]} == runs
    assert any(os.path.basename(__file__) in event["args"].get("source", "") and event["dur"] > 0 for event in by_line["XLA Ops"])
    assert any(event["args"]["purpose"] == "upload" and os.path.basename(__file__) in event["args"]["source"]
               for event in by_line["_counters_"] if event["args"]["change"] > 0)
    flows = collections.Counter((event["id"], event["ph"]) for event in events if event.get("cat") == "ac2g")
    assert {number for number, _ in flows} >= runs and all((number, "s") in flows and (number, "f") in flows for number in runs)
    # Launches stand in the row of the thread that calls, beside its operators; regions are there once, as torch recorded them.
    thread = threading.get_native_id()
    assert len([event for event in events if event["name"] == "PjRtComputationClient::ExecuteComputation" and event["tid"] == thread]) == len(runs)
    assert len([event for event in events if event["name"] == "train"]) == 3


def test_kernels_are_rows_of_the_tables():
    trained(1)
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        trained(2)
    rows = {row.key: row for row in recorded.key_averages()}
    kernels = [row for name, row in rows.items() if name.startswith(("dot_general", "tanh", "multiply", "add"))]
    assert kernels and all(row.self_cpu_time_total >= 0 and row.count >= 2 for row in kernels)
    assert rows["train"].count == 2 and rows["PjRtComputationClient::ExecuteComputation"].count >= 2
    assert "ExecuteComputation" in recorded.key_averages().table(sort_by="self_cpu_time_total")


def test_memory_of_our_device_is_in_the_tables_and_over_time(tmp_path):
    size = 4 * 512 * 512
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True) as recorded:
        with torch.profiler.record_function("makes values"):
            kept = torch.ones(512, 512).to("xla")
            torch_xla.sync(wait=True)
            product = kept @ kept
            torch_xla.sync(wait=True)
        with torch.profiler.record_function("drops one"):
            del product
    rows = {row.key: row for row in recorded.key_averages()}
    assert 2 * size <= rows["makes values"].device_memory_usage < 3 * size, "an upload and a result"
    assert rows["drops one"].device_memory_usage == -size
    # The upload's copy in the host's memory is not counted as that of the device.
    assert rows["makes values"].cpu_memory_usage < 2 * size
    assert "makes values" in recorded.key_averages().table(sort_by="self_device_memory_usage")
    # Over time, as torch draws it.
    recorded.export_memory_timeline(str(tmp_path / "memory.raw.json.gz"), device="privateuseone:0")
    with gzip.open(tmp_path / "memory.raw.json.gz") as file:
        assert [entry[2] for entry in json.load(file) if abs(entry[2]) == size] == [size, size, -size]
    events, _ = trace_of(recorded, tmp_path / "trace.json")
    told = [event["args"] for event in events if event["name"] == "[memory]" and event["args"].get("Device Type") == PRIVATE_USE]
    assert [args["Bytes"] for args in told if abs(args["Bytes"]) == size] == [size, size, -size]
    assert all(args["Device Id"] == 0 and args["Total Allocated"] >= 0 for args in told)


def test_memory_that_other_threads_give_back_is_told_where_this_one_waits():
    values = [torch.ones(512, 512).to("xla")]
    torch_xla.sync(wait=True)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        with torch.profiler.record_function("lets a thread drop it"):
            other = threading.Thread(target=values.clear)
            other.start()
            other.join()
        with torch.profiler.record_function("waits"):
            torch_xla.sync(wait=True)
    rows = {row.key: row for row in recorded.key_averages()}
    assert rows["lets a thread drop it"].device_memory_usage == 0
    assert rows["waits"].device_memory_usage == -4 * 512 * 512


def test_profiles_come_one_after_the_other_and_with_a_schedule(tmp_path):
    trained(1)
    ready = []
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                 on_trace_ready=ready.append) as recorded:
        trained(8, recorded)
    assert len(ready) == 2
    events, _ = trace_of(recorded, tmp_path / "trace.json")
    assert len([event for event in events if event["name"] == "train"]) == 2
    assert len([event for event in events if event["pid"] == DEVICE and event.get("tid") == 1 and event["ph"] == "X"]) >= 2


def test_a_recording_of_ours_goes_on_beside_it(tmp_path):
    trained(1)
    xp.start_trace(str(tmp_path))
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        trained(1)
    xp.stop_trace()
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))
    assert any(row.key == "SyncTensorsGraph" for row in recorded.key_averages())
