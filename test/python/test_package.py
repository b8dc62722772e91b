# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package millrace: where its parts are, and what it says when a library cannot be loaded."""
import glob
import os
import platform
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
import millrace  # noqa: E402  from the source tree

TOO_OLD = "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /x/libmillrace.so.0)"


def message(error, monkeypatch, libc=("glibc", "2.31")):
    monkeypatch.setattr(millrace, "library_path", lambda name: "/x/" + name)
    monkeypatch.setattr(millrace.ctypes, "CDLL", lambda path: (_ for _ in ()).throw(OSError(error)))
    monkeypatch.setattr(platform, "libc_ver", lambda: libc)
    with pytest.raises(millrace.MissingDependency) as raised:
        millrace.load_library("libmillrace.so")
    return str(raised.value)


def test_a_glibc_that_is_too_old_is_named(monkeypatch):
    text = message(TOO_OLD, monkeypatch)
    assert "cannot load /x/libmillrace.so: " + TOO_OLD in text
    assert "needs glibc 2.34 or newer" in text and "this system has glibc 2.31" in text


def test_musl_is_named(monkeypatch):
    assert "musl, as in Alpine, is not supported" in message("Error loading shared library ld-linux-x86-64.so.2", monkeypatch, ("", ""))


@pytest.mark.parametrize("missing,advice", [("libMLIR.so.22.1: cannot open", "apt-get install libmlir-22 libllvm22"),
                                            ("libstdc++.so.6: cannot open", "apt-get install libstdc++6")])
def test_missing_libraries_are_named(missing, advice, monkeypatch):
    assert advice in message(missing, monkeypatch)


def test_other_errors_stay_as_they_are(monkeypatch):
    assert message("/x/libmillrace.so: file too short", monkeypatch) == "millrace: cannot load /x/libmillrace.so: /x/libmillrace.so: file too short"


def test_cmake_prefix_path(tmp_path, monkeypatch):
    monkeypatch.setenv("MILLRACE_BUILD", str(tmp_path))
    config = tmp_path / "lib" / "cmake" / "Millrace" / "MillraceConfig.cmake"
    config.parent.mkdir(parents=True)
    config.write_text("")
    assert millrace.cmake_prefix_path() == str(tmp_path)
    config.unlink()
    monkeypatch.setattr(millrace, "_roots", lambda: iter([str(tmp_path)]))
    with pytest.raises(millrace.MissingDependency, match="none of these files exists: .*MillraceConfig.cmake"):
        millrace.cmake_prefix_path()


@pytest.mark.parametrize("python", ["3.10", "3.12", "3.13", "3.14"])
def test_other_pythons_read_the_sources(python):
    """The wheel has no compiled part of Python: what can go wrong is syntax and imports."""
    paths = glob.glob(f"/usr/bin/python{python}") + glob.glob(os.path.expanduser(f"~/.pyenv/versions/{python}.*/bin/python"))
    if not paths:
        pytest.skip(f"Python {python} is not installed")
    code = "import ast, sys, millrace, millrace.tools; [ast.parse(open(path).read()) for path in sys.argv[1:]]; print(millrace.__version__)"
    folders = [os.path.join(ROOT, "python", name) for name in ("millrace", "millrace_jax")]
    files = [os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name.endswith(".py")]
    ran = subprocess.run([paths[0], "-c", code, *files], capture_output=True, text=True,
                         env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python")))
    assert ran.returncode == 0 and ran.stdout.strip() == millrace.__version__, ran.stderr
