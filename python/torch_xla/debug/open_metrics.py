# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metrics, counters and memory of this process for Prometheus and its like: `server = open_metrics.start_server(9100)`, or
MILLRACE_METRICS_PORT=9100 in the environment; then http://127.0.0.1:9100/metrics answers in the text format of OpenMetrics 1.0."""
import errno
import functools
import http.server
import os
import sys
import threading
import warnings
import weakref
from typing import Any

from . import metrics
from .. import _load, _world

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_QUANTILES = (0.5, 0.9, 0.99)


def _label(text):
    """`text` as the value of a label."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def report() -> str:
    """All metrics as families of summaries (times in seconds, sizes in bytes, other values), all counters as one family, bytes in use and
    their peak. Quantiles are those of the samples that are kept."""
    families: dict[str, tuple[str, float, list[Any]]] = {"millrace_time_seconds": ("seconds", 1e-9, []), "millrace_size_bytes": ("bytes", 1, []), "millrace_value": ("", 1, [])}
    for name, data in _XLAC._samples().items():
        shown = metrics._shown(name)
        key = {metrics._duration: "millrace_time_seconds", metrics._bytes: "millrace_size_bytes"}.get(shown, "millrace_value")
        families[key][2].append((name, data))
    lines = []
    for family, (unit, scale, members) in families.items():
        if not members:
            continue
        lines.append(f"# TYPE {family} summary")
        if unit:
            lines.append(f"# UNIT {family} {unit}")
        for name, (count, total, samples) in members:
            label = f'name="{_label(name)}"'
            ordered = sorted(value for _, value in samples)
            for quantile in _QUANTILES if ordered else ():
                value = ordered[min(len(ordered) - 1, int(quantile * len(ordered)))]
                lines.append(f'{family}{{{label},quantile="{quantile}"}} {value * scale:.9g}')
            lines += [f"{family}_count{{{label}}} {count}", f"{family}_sum{{{label}}} {total * scale:.9g}"]
    counters = _XLAC._counters()
    if counters:
        lines.append("# TYPE millrace_events counter")
        lines += [f'millrace_events_total{{name="{_label(name)}"}} {value}' for name, value in counters.items()]
    if counters.get("CreateDataHandles"):  # asking begins the runtime, which is not for a reader to do
        used, peak, _ = _XLAC._memory_stats()
        lines += ["# TYPE millrace_memory_bytes gauge", "# UNIT millrace_memory_bytes bytes",
                  f'millrace_memory_bytes{{kind="in_use"}} {used}', f'millrace_memory_bytes{{kind="peak"}} {peak}']
    return "\n".join([*lines, "# EOF", ""])


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = 10  # seconds; a reader that sends nothing keeps a thread no longer

    def do_GET(self):
        if self.path.split("?")[0] not in ("/", "/metrics"):
            self.send_error(404, "expects /metrics")
            return
        body = report().encode()
        self.send_response(200)
        self.send_header("Content-Type", _CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Says nothing: the program's standard error is its own."""


class _HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, _Handler)
        self.port = self.server_address[1]
        self.sockets = weakref.WeakSet([self.socket])  # its own and those of readers

    def get_request(self):
        request, address = super().get_request()
        self.sockets.add(request)
        return request, address

    def handle_error(self, request, client_address):
        """Says nothing of readers that go away, for the program's standard error is its own; an error of ours is a warning."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            warnings.warn(f"open_metrics: {type(error).__name__}: {error}", stacklevel=2)


_servers: weakref.WeakSet["Server"] = weakref.WeakSet()


def _close_in_child():
    """A forked child, as a DataLoader's worker, has none of the threads that answer; while it held the socket, nobody could listen at the port
    after its parent has closed the server."""
    for server in list(_servers):
        for each in list(server._server.sockets):
            if (descriptor := each.detach()) >= 0:  # close() would wait for the files that a handler has made of it
                os.close(descriptor)


os.register_at_fork(after_in_child=_close_in_child)


class Server:
    """Answers until close(), or until the process ends; not in a forked child."""

    def __init__(self, port: int) -> None:
        try:
            self._server = _HttpServer(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            what = "is taken" if getattr(error, "errno", None) == errno.EADDRINUSE else f"cannot be listened at: {error}"
            raise RuntimeError(f"open_metrics.start_server: port {port} of 127.0.0.1 {what}") from None
        self._process = os.getpid()
        _servers.add(self)
        threading.Thread(target=self._server.serve_forever, name="open_metrics", daemon=True).start()

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return self._server.port

    def close(self) -> None:
        """Ends the server; nothing is left to end in a forked child."""
        if os.getpid() != self._process:
            return
        self._server.shutdown()
        self._server.server_close()


def start_server(port: int) -> Server:
    """Listens at `port` of 127.0.0.1 (0: at any that is free). RuntimeError if the port is taken."""
    return Server(port)


@functools.cache
def start_from_environment(port: str) -> Server | None:
    """The server of MILLRACE_METRICS_PORT, begun by the first step barrier; the processes of one machine take that port and those that follow
    it. A port that cannot be had is a warning: the program goes on."""
    try:
        if not port.isdigit() or not 0 < int(port) < 65536:
            raise RuntimeError(f"expects a port from 1 to 65535, but got '{port}'")
        return start_server(int(port) + _world.local_rank())
    except RuntimeError as error:
        warnings.warn(f"MILLRACE_METRICS_PORT: {error}", stacklevel=2)
        return None
