# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings of MILLRACE_PROFILE, torch_xla.debug.profiler and jax.profiler: what they say, and the page that shows it."""
from __future__ import annotations

import html
import json
import os
import subprocess
import tempfile
import webbrowser

from . import tool_path

__all__ = ["Recording"]


class Recording:
    """A recording in a folder, of all processes together, or in one file *.xplane.pb.

    print() shows the first three findings; in a notebook the object is shown as the page.

    Args:
      path: The folder or file.

    Raises:
      FileNotFoundError: It does not exist.
      RuntimeError: In a method, if xla-prof cannot read it; with xla-prof's message.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not os.path.exists(self.path):
            raise FileNotFoundError(f"no recording at {self.path}: xp.start_trace, jax.profiler.trace or MILLRACE_PROFILE=FOLDER makes one")
        self._views: dict | None = None

    def _run(self, *arguments: str) -> str:
        ran = subprocess.run([tool_path("xla-prof"), *arguments, self.path], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(ran.stderr.strip() or f"xla-prof ended with status {ran.returncode}")
        return ran.stdout

    def views(self) -> dict:
        """Returns everything that the page shows: findings, split, compilations, collectives, owners, memory. Times are in nanoseconds."""
        if self._views is None:
            self._views = json.loads(self._run("--findings"))
        return self._views

    @property
    def findings(self) -> list[dict]:
        """What is worth changing, the most valuable first.

        Each finding is a dict: kind ("recompile", "read", "fallback", "imbalance", "serial", "leak", "cache", "kernel", "host"), title, source
        ("train.py:12"), evidence, advice, and ns, the nanoseconds that it costs."""
        return self.views()["findings"]

    def html(self) -> str:
        """Returns the page as HTML, which needs no network."""
        with tempfile.TemporaryDirectory(prefix="millrace-page-") as folder:
            self.save(os.path.join(folder, "page.html"))
            with open(os.path.join(folder, "page.html"), encoding="utf-8") as file:
                return file.read()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the page to a file.

        Args:
          file: The path, which ends with .html.
        """
        self._run("--out", os.fspath(file))

    def open(self) -> str:
        """Writes the page beside the recording, shows it in the browser, and returns its path."""
        page = os.path.join(self.path, "page.html") if os.path.isdir(self.path) else self.path + ".html"
        self.save(page)
        webbrowser.open("file://" + os.path.abspath(page))
        return page

    def __str__(self) -> str:
        if not self.findings:
            return "Nothing stands out."
        return "\n".join(f"{number}. {found['title']}" + (f" ({found['source']})" if found["source"] else "") + f"\n   {found['evidence']} {found['advice']}"
                         for number, found in enumerate(self.findings[:3], 1))

    def __repr__(self) -> str:
        return f"<Recording {self.path}>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html())}" style="width: 100%; height: 720px; border: 0" title="{html.escape(self.path)}"></iframe>'
