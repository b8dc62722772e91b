# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.debug.open_metrics: what Prometheus reads."""
import contextlib
import os
import re
import socket
import struct
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import torch
import torch_xla
from torch_xla.debug import metrics as met
from torch_xla.debug import open_metrics

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? (-?[0-9.e+-]+)')


def read(port, path="/metrics"):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def parsed(text):
    """{family: {labels: value}}; every line must be one of the format, and samples follow the type of their family."""
    assert text.endswith("\n# EOF\n") or text == "# EOF\n"
    families, values = [], {}
    for line in text.splitlines()[:-1]:
        if match := re.fullmatch(r"# TYPE (\w+) (summary|counter|gauge)", line):
            families.append(match[1])
        elif match := re.fullmatch(r"# UNIT (\w+) (seconds|bytes)", line):
            assert match[1] == families[-1] and match[1].endswith(match[2])
        else:
            match = SAMPLE.fullmatch(line)
            assert match and match[1].startswith(families[-1]), line
            values.setdefault(match[1], {})[match[2]] = float(match[3])
    assert len(families) == len(set(families))
    return values


def test_a_reader_gets_times_sizes_counters_and_memory():
    met.clear_all()
    (torch.ones(256, device="xla") * 3).sin().cpu()
    torch_xla.sync()
    server = open_metrics.start_server(0)
    try:
        kind, text = read(server.port)
        assert kind.startswith("application/openmetrics-text; version=1.0.0")
        values = parsed(text)
        assert values["millrace_size_bytes_sum"]['name="InboundData"'] == 1024
        assert values["millrace_time_seconds_count"]['name="ExecuteTime"'] >= 1
        assert 0 < values["millrace_time_seconds"]['name="ExecuteTime",quantile="0.5"'] < 60
        assert values["millrace_events_total"]['name="MarkStep"'] == met.counter_value("MarkStep") == 1
        assert values["millrace_events_total"]['name="xla::sin"'] == 1
        assert values["millrace_memory_bytes"]['kind="peak"'] >= values["millrace_memory_bytes"]['kind="in_use"'] >= 0
        with pytest.raises(urllib.error.HTTPError, match="404"):
            read(server.port, "/other")
        with pytest.raises(RuntimeError, match=f"port {server.port} of 127.0.0.1 is taken"):
            open_metrics.start_server(server.port)
    finally:
        server.close()
    with pytest.raises(OSError):
        read(server.port)


def test_labels_are_escaped():
    assert open_metrics._label('a"b\\c\nd') == 'a\\"b\\\\c\\nd'


def test_the_environment_begins_it_at_the_first_step():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = ("import torch, torch_xla, urllib.request\n"
            "x = torch.ones(3, device='xla') + 1\n"
            "torch_xla.sync()\n"
            f"print(urllib.request.urlopen('http://127.0.0.1:{port}/metrics').read().decode())\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, MILLRACE_METRICS_PORT=str(port)))
    assert ran.returncode == 0, ran.stderr
    assert 'millrace_events_total{name="MarkStep"} 1' in ran.stdout
    wrong = subprocess.run([sys.executable, "-c", "import torch_xla; torch_xla.sync(); print('goes on')"], capture_output=True, text=True, timeout=200,
                           env=dict(os.environ, MILLRACE_METRICS_PORT="http"))
    assert wrong.stdout == "goes on\n" and "MILLRACE_METRICS_PORT: expects a port from 1 to 65535, but got 'http'" in wrong.stderr


def test_readers_that_go_away_are_no_news(capfd):
    server = open_metrics.start_server(0)
    try:
        for request in (b"", b"GET /metrics HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00" * 50, b"GET /metrics HTTP/1.0\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as reader:
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its end is a reset
                reader.sendall(request)
        assert read(server.port)[1].endswith("# EOF\n")
    finally:
        server.close()
    assert capfd.readouterr().err == ""


def _open_files():
    names = set()
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing has gone
            names.add(os.readlink(f"/proc/self/fd/{each}"))
    return names


def test_a_forked_child_holds_no_port():
    server = open_metrics.start_server(0)
    port = server.port
    with socket.create_connection(("127.0.0.1", port), timeout=30) as reader:
        reader.sendall(b"GET /metrics HTTP/1.0\r\n")  # a handler reads the rest
        read(port)
        held = {os.readlink(f"/proc/self/fd/{each.fileno()}") for each in server._server.sockets if each.fileno() >= 0}
        assert len(held) >= 2  # the listener and the reader's
        waits, ends = os.pipe()
        runs, begins = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ends)
            os.close(begins)
            fine = os.read(waits, 1) == b"" and not held & _open_files()
            server.close()  # does not wait for a thread of the parent
            os._exit(0 if fine else 1)
        os.close(waits)
        os.close(begins)
        assert os.read(runs, 1) == b""  # until the child runs: the parent may come first
        os.close(runs)
        try:
            assert read(port)[1].endswith("# EOF\n")  # the parent goes on
            server.close()
            open_metrics.start_server(port).close()
        finally:
            os.close(ends)
            status = os.waitpid(child, 0)[1]
    assert status == 0
