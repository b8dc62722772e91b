# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What jax.profiler promises, on our plug-in: servers, sessions, options, annotations, memory profiles, and the files that come of them.

A case per behaviour that JAX's own tests of the profiler ask for (its tests of GPUs and TPUs aside), and some that they leave out."""
import concurrent.futures
import ctypes
import gzip
import json
import multiprocessing
import os
import pathlib
import re
import socket
import sys
import time

import jax
import jax.numpy as jnp
import millrace
import pytest
from millrace_jax import versions

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "harness"))
from profile_files import fields_of, hlo_protos, varint  # noqa: E402

pytestmark = pytest.mark.skipif(not versions.takes_profiler(jax.lib.__version__), reason="this jaxlib's profiler takes another table")
DEVICE = "/device:CUSTOM:Millrace CPU:"


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


@jax.jit
def work(x):
    return jnp.tanh(x @ x).sum()


def run(size=32):
    return work(jnp.ones((size, size))).block_until_ready()


def only_file(folder):
    path, = pathlib.Path(folder).rglob("*.xplane.pb")
    return path


def planes_of(folder):
    """{plane: {line: [event]}}"""
    planes = {}
    for plane in jax.profiler.ProfileData.from_file(str(only_file(folder))).planes:
        for line in plane.lines:
            planes.setdefault(plane.name, {}).setdefault(line.name, []).extend(line.events)
    return planes


def events_of(folder, name):
    return [event for lines in planes_of(folder).values() for events in lines.values() for event in events if event.name == name]


def executions(folder):
    return sum(len(lines["XLA Modules"]) for name, lines in planes_of(folder).items() if name.startswith(DEVICE))


# Servers.


def test_a_server_starts_and_stops_and_starts_again():
    for _ in range(2):
        port = free_port()
        jax.profiler.start_server(port)
        with socket.create_connection(("localhost", port), timeout=10):
            pass
        jax.profiler.stop_server()


def test_one_server_at_a_time():
    jax.profiler.start_server(free_port())
    try:
        with pytest.raises(ValueError, match="Only one profiler server can be active at a time."):
            jax.profiler.start_server(free_port())
    finally:
        jax.profiler.stop_server()


def test_no_server_no_stop():
    with pytest.raises(ValueError, match="No active profiler server."):
        jax.profiler.stop_server()


# Sessions.


def test_a_session_has_host_devices_and_python(tmp_path):
    jax.profiler.start_trace(str(tmp_path))
    run()
    jax.profiler.stop_trace()
    planes = planes_of(tmp_path)
    assert "/host:CPU" in planes and DEVICE + "0" in planes
    assert b"test_profiler_cases.py" in only_file(tmp_path).read_bytes(), "the Python tracer names functions by their files"


@pytest.mark.parametrize("as_path", [str, pathlib.Path])
def test_a_context_is_a_session_in_a_folder_of_either_kind(tmp_path, as_path):
    with jax.profiler.trace(as_path(tmp_path)):
        run()
    assert executions(tmp_path) >= 1


def test_an_exception_ends_the_session_of_its_context(tmp_path):
    with pytest.raises(ZeroDivisionError), jax.profiler.trace(tmp_path):
        run()
        1 / 0
    assert executions(tmp_path) >= 1
    with pytest.raises(RuntimeError, match="No profile started"):
        jax.profiler.stop_trace()


def test_sessions_do_not_nest(tmp_path):
    with pytest.raises(RuntimeError, match="No profile started"):
        jax.profiler.stop_trace()
    jax.profiler.start_trace(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="Profile has already been started. Only one profile may be run at a time."):
            jax.profiler.start_trace(tmp_path)
    finally:
        jax.profiler.stop_trace()


def test_a_session_without_programs_is_written(tmp_path):
    with jax.profiler.trace(tmp_path):
        with jax.profiler.TraceAnnotation("nothing but this"):
            pass
    assert len(events_of(tmp_path, "nothing but this")) == 1
    assert not any(name.startswith(DEVICE) and "XLA Modules" in lines for name, lines in planes_of(tmp_path).items())


def test_what_threads_run_is_in_the_session(tmp_path):
    run()
    with jax.profiler.trace(tmp_path), concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(run) for _ in range(12)]:
            done.result()
    modules = planes_of(tmp_path)[DEVICE + "0"]["XLA Modules"]
    assert len([event for event in modules if dict(event.stats)["hlo_module"] == "jit_work"]) == 12


def test_what_ran_before_and_after_is_not(tmp_path):
    run(16)
    with jax.profiler.trace(tmp_path):
        run(48)
    run(24)
    modules = [event for event in planes_of(tmp_path)[DEVICE + "0"]["XLA Modules"] if dict(event.stats)["hlo_module"] == "jit_work"]
    assert len(modules) == 1


def test_every_session_has_a_folder_of_its_own(tmp_path):
    for _ in range(2):
        options = jax.profiler.ProfileOptions()
        options.session_id = f"run_{_}"
        with jax.profiler.trace(tmp_path, profiler_options=options):
            run()
    assert sorted(path.parent.name for path in tmp_path.rglob("*.xplane.pb")) == ["run_0", "run_1"]


@pytest.mark.parametrize("wanted", [{}, {"session_id": ""}])
def test_a_session_without_a_name_gets_one(tmp_path, wanted):
    traced(tmp_path, **wanted)
    name, = (path.name for path in (tmp_path / "plugins" / "profile").iterdir())
    assert re.fullmatch(r"\d{4}(_\d\d){5}", name)


def test_a_profile_for_the_compiler_can_be_taken():
    from jax._src import profiler
    jax.profiler.start_trace("unused")
    run()
    assert profiler.stop_and_get_fdo_profile() is not None
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_and_get_fdo_profile()


def _child(port, started):
    jax.profiler.start_server(port, requires_backend=False)
    started.put(True)
    while True:
        with jax.profiler.TraceAnnotation("of the child"):
            time.sleep(0.02)


def test_another_process_can_be_part_of_a_session(tmp_path):
    context = multiprocessing.get_context("spawn")
    port, started = free_port(), context.Queue()
    child = context.Process(target=_child, args=(port, started), daemon=True)
    child.start()
    try:
        assert started.get(timeout=120)
        forget = jax.profiler.register_subprocess(child.pid, port)
        options = jax.profiler.ProfileOptions()
        options.advanced_configuration = {"profile_subprocesses": True}
        with jax.profiler.trace(tmp_path, profiler_options=options):
            run()
            with jax.profiler.TraceAnnotation("of the parent"):
                time.sleep(0.5)
        forget()
        planes = planes_of(tmp_path)
        assert f"/host:CPU [{child.pid}]" in planes
        assert events_of(tmp_path, "of the child") and len(events_of(tmp_path, "of the parent")) == 1
        assert executions(tmp_path) >= 1
    finally:
        child.terminate()
        child.join(60)


# Options.


def traced(folder, **wanted):
    options = jax.profiler.ProfileOptions()
    for name, value in wanted.items():
        setattr(options, name, value)
    with jax.profiler.trace(folder, profiler_options=options), jax.profiler.TraceAnnotation("region of the host"):
        run()
    return only_file(folder).read_bytes()


def test_python_functions_are_left_out_on_request(tmp_path):
    assert b"test_profiler_cases.py:" in traced(tmp_path / "with", python_tracer_level=1).replace(b"$", b"")
    without = planes_of_bytes(traced(tmp_path / "without", python_tracer_level=0))
    assert not any("test_profiler_cases.py" in event.name for plane in without for line in plane.lines for event in line.events)


def planes_of_bytes(data):
    return list(jax.profiler.ProfileData.from_serialized_xspace(data).planes)


def test_the_hosts_regions_are_left_out_on_request(tmp_path):
    traced(tmp_path / "with", host_tracer_level=2)
    traced(tmp_path / "without", host_tracer_level=0)
    assert events_of(tmp_path / "with", "region of the host") and not events_of(tmp_path / "without", "region of the host")
    assert executions(tmp_path / "without") >= 1, "devices are there all the same"


def test_what_the_client_does_is_left_out_at_the_level_of_the_users_regions(tmp_path):
    for level, has_regions, has_launches in ((0, False, False), (1, True, False), (2, True, True), (3, True, True)):
        folder = tmp_path / str(level)
        traced(folder, host_tracer_level=level)
        assert bool(events_of(folder, "region of the host")) is has_regions, level
        assert bool(events_of(folder, "ExecuteComputation")) is has_launches, level
        assert bool(events_of(folder, "MemoryAllocation")) is has_launches, level
        assert executions(folder) >= 1, "devices are there all the same"


def collected(options):
    """The planes that the plug-in hands out for a serialized ProfileOptions, {name: [event]}, by the calls that jaxlib makes."""
    library = millrace.load_library("libmillrace_pjrt.so")
    library.GetPjrtApi.restype = ctypes.c_void_p

    def word(address):
        return ctypes.c_uint64.from_address(address).value
    extension = word(library.GetPjrtApi() + 8)
    while ctypes.c_int32.from_address(extension + 8).value != 1:
        extension = word(extension + 16)
    create, destroy, start, stop, collect = (ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(word(word(extension + 24) + at)) for at in range(40, 80, 8))

    def call(function, *arguments):
        words = (ctypes.c_uint64 * (1 + len(arguments)))(8 * (1 + len(arguments)), *arguments)
        assert not function(ctypes.addressof(words))
        return words
    text = ctypes.create_string_buffer(options, len(options))
    profiler = call(create, ctypes.addressof(text), len(options), 0)[3]
    try:
        call(start, profiler)
        run()
        call(stop, profiler)
        _, _, data, size = call(collect, profiler, 0, 0)
        planes = planes_of_bytes(ctypes.string_at(data, size)) if size else []
        return {plane.name: [event.name for line in plane.lines for event in line.events] for plane in planes}
    finally:
        call(destroy, profiler)


def test_devices_are_left_out_on_request():
    """jaxlib 0.10.2 asks a plug-in for device level 1 whatever its ProfileOptions say, so this speaks to the plug-in itself, as captures do."""
    def options(host, device):
        return bytes([0x10, host, 0x18, device, 0x28, 1])
    run()
    whole, host, device = collected(options(2, 1)), collected(options(2, 0)), collected(options(0, 1))
    assert whole[DEVICE + "0"] and {"ExecuteComputation", "MemoryAllocation"} <= set(whole["/host:CPU"])
    assert not [name for name in host if name.startswith(DEVICE)] and "ExecuteComputation" in host["/host:CPU"]
    assert "MemoryAllocation" not in host["/host:CPU"], "memory is that of a device"
    assert device[DEVICE + "0"] and "/host:CPU" not in device
    assert collected(options(0, 0)) == {}
    assert collected(b"")[DEVICE + "0"], "without a version the defaults count"


def test_memory_is_there_as_xprof_reads_it(tmp_path):
    size = 4 * 300 * 300
    with jax.profiler.trace(tmp_path):
        kept = [jnp.full((300, 300), number, jnp.float32).block_until_ready() for number in range(3)]
        kept.pop().delete()
    allocations, deallocations = ([dict(event.stats) for event in events_of(tmp_path, name)] for name in ("MemoryAllocation", "MemoryDeallocation"))
    ours = [stats for stats in allocations if stats["requested_bytes"] == size]
    assert len(ours) >= 3 and all(stats["allocator_name"] == "Millrace CPU:0" and stats["region_type"] == "result" for stats in ours[:3])
    assert any(stats["requested_bytes"] == size and stats["addr"] == ours[2]["addr"] for stats in deallocations)
    for stats in allocations:
        assert stats["peak_bytes_in_use"] >= stats["bytes_allocated"] >= stats["allocation_bytes"] == stats["requested_bytes"] > 0
    counters = [event for name, lines in planes_of(tmp_path).items() if name == DEVICE + "0" for event in lines["_counters_"]]
    assert max(stats["bytes_allocated"] for stats in allocations) == max(dict(event.stats)["bytes in use"] for event in counters)


def test_programs_are_left_out_on_request(tmp_path):
    protos = hlo_protos(traced(tmp_path / "with", enable_hlo_proto=True))
    ours = {title: proto for title, proto in protos.items() if title.startswith("jit_work(")}
    assert ours and all(1 in dict(fields_of(proto)) for proto in ours.values())
    assert not any(title.startswith("jit_work(") for title in hlo_protos(traced(tmp_path / "without", enable_hlo_proto=False)))


def test_advanced_options_are_kept():
    options, wanted = jax.profiler.ProfileOptions(), {"tpu_trace_mode": "TRACE_COMPUTE", "tpu_num_sparse_cores_to_trace": 1, "enableFwThrottleEvent": True}
    options.advanced_configuration = wanted
    assert options.advanced_configuration == wanted


def test_options_of_other_hardware_do_no_harm(tmp_path):
    traced(tmp_path, advanced_configuration={"tpu_trace_mode": "TRACE_ONLY_HOST", "gpu_max_callback_api_events": 1000})
    assert executions(tmp_path) >= 1


def test_a_trace_for_perfetto_stands_beside_the_planes(tmp_path):
    with jax.profiler.trace(tmp_path, create_perfetto_trace=True):
        run()
    path, = tmp_path.rglob("perfetto_trace.json.gz")
    with gzip.open(path) as file:
        trace = json.load(file)
    assert any(DEVICE in str(event.get("args", {}).get("name", "")) for event in trace["traceEvents"])


# Annotations.


def test_annotations_nest_and_say_what_they_are_given(tmp_path):
    with jax.profiler.trace(tmp_path):
        with jax.profiler.TraceAnnotation("outer", number=7, text="seven"):
            with jax.profiler.TraceAnnotation("inner"):
                run()
    (outer,), (inner,) = events_of(tmp_path, "outer"), events_of(tmp_path, "inner")
    assert dict(outer.stats)["number"] == 7 and dict(outer.stats)["text"] == "seven"
    assert outer.start_ns <= inner.start_ns and inner.start_ns + inner.duration_ns <= outer.start_ns + outer.duration_ns + 1


def test_steps_have_numbers(tmp_path):
    with jax.profiler.trace(tmp_path):
        for number in range(3):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                run()
    steps = sorted(events_of(tmp_path, "train"), key=lambda event: event.start_ns)
    assert [dict(event.stats)["step_num"] for event in steps] == [0, 1, 2]
    modules = planes_of(tmp_path)[DEVICE + "0"]["XLA Modules"]
    for step in steps:  # each has its execution
        assert any(step.start_ns <= event.start_ns <= step.start_ns + step.duration_ns for event in modules)


def test_functions_are_annotated_by_their_names_or_others(tmp_path):
    @jax.profiler.annotate_function
    def plain(x):
        return x + 1

    def other(x, *, y):
        return x * y
    named = jax.profiler.annotate_function(other, name="another name", detail="y")
    with jax.profiler.trace(tmp_path):
        assert plain(2) == 3 and named(3, y=4) == 12
    assert len(events_of(tmp_path, plain.__qualname__)) == 1 and plain.__name__ == "plain"
    event, = events_of(tmp_path, "another name")
    assert dict(event.stats)["detail"] == "y"


def test_annotations_outside_of_sessions_do_nothing():
    with jax.profiler.TraceAnnotation("unseen", number=1), jax.profiler.StepTraceAnnotation("unseen", step_num=1):
        assert float(run(4)) == pytest.approx(16 * 0.99932929, rel=1e-4)


# Memory.


def pprof_of(data):
    """(sum of bytes of each kind, labels) of a profile of memory."""
    profile = list(fields_of(gzip.decompress(data)))
    texts = [value.decode() for number, value in profile if number == 6]
    sums, devices = {}, set()
    for number, sample in profile:
        if number != 2:
            continue
        values = []
        for name, value in fields_of(sample):
            if name == 2:
                at = 0
                while isinstance(value, bytes) and at < len(value):  # packed: count, bytes
                    number, at = varint(value, at)
                    values.append(number)
        labels = {texts[label[1]]: texts[label.get(2, 0)] for label in (dict(fields_of(value)) for name, value in fields_of(sample) if name == 3)}
        sums[labels.get("kind")] = sums.get(labels.get("kind"), 0) + values[1]
        devices.add(labels.get("device"))
    return sums, devices


def test_a_memory_profile_counts_what_lives():
    before, _ = pprof_of(jax.profiler.device_memory_profile())
    kept = jnp.arange(1 << 16, dtype=jnp.float32).block_until_ready()
    during, devices = pprof_of(jax.profiler.device_memory_profile())
    assert during["buffer"] - before.get("buffer", 0) >= kept.nbytes
    assert any(device for device in devices)
    del kept
    after, _ = pprof_of(jax.profiler.device_memory_profile())
    assert after.get("buffer", 0) <= during["buffer"] - (1 << 18)
    run()
    assert pprof_of(jax.profiler.device_memory_profile())[0].get("executable", 0) > 0, "programs have code"


def test_deleted_buffers_are_in_no_memory_profile():
    client = jax.devices()[0].client
    kept = jax.device_put(jnp.zeros(1 << 16, jnp.float32)).block_until_ready()
    with_it, _ = pprof_of(gzip.compress(client.heap_profile()))
    kept.delete()
    without, _ = pprof_of(gzip.compress(client.heap_profile()))
    assert with_it["buffer"] - without.get("buffer", 0) >= 4 << 16


def test_a_memory_profile_becomes_a_file(tmp_path):
    jax.profiler.save_device_memory_profile(tmp_path / "memory.prof")
    assert pprof_of((tmp_path / "memory.prof").read_bytes())


# The files, read by JAX.


def test_profile_data_goes_through_planes_lines_events_and_stats(tmp_path):
    with jax.profiler.trace(tmp_path):
        run()
    path = only_file(tmp_path)
    data = jax.profiler.ProfileData.from_file(str(path))
    again = jax.profiler.ProfileData.from_serialized_xspace(path.read_bytes())
    assert [plane.name for plane in data.planes] == [plane.name for plane in again.planes]
    device = data.find_plane_with_name(DEVICE + "0")
    assert device.name == DEVICE + "0" and data.find_plane_with_name("no such plane") is None
    names = [line.name for line in device.lines]
    assert names == ["XLA Modules", "XLA Ops", "_counters_"]
    modules, ops, _ = device.lines
    module, = (event for event in modules.events if dict(event.stats)["hlo_module"] == "jit_work")
    assert module.duration_ns > 0 and module.name.startswith("jit_work(")
    inside = [event for event in ops.events if dict(event.stats)["hlo_module"] == "jit_work"]
    assert inside and all(module.start_ns <= event.start_ns for event in inside)
    task = dict(data.find_plane_with_name("Task Environment").stats)
    assert 0 <= module.start_ns <= task["profile_stop_time"] - task["profile_start_time"], "times are those of the session"
