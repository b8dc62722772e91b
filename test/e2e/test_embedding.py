# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/embedding as a user's project: configured against an install tree, built, run; the header in C and C++."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MILLRACE_BUILD", ROOT / "build"))


def run(*command, **kwargs):
    process = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Folder of the built example; the libraries it uses are those of the install tree, not of the build tree."""
    folder = tmp_path_factory.mktemp("embedding")
    if (BUILD / "CMakeCache.txt").exists():
        run("cmake", "--install", BUILD, "--prefix", folder / "install")
    else:  # an installed wheel
        (folder / "install").symlink_to(BUILD)
    source = shutil.copytree(ROOT / "examples" / "embedding", folder / "source")
    compilers = ["-DCMAKE_C_COMPILER=" + (shutil.which("clang-22") or "cc"),
                 "-DCMAKE_CXX_COMPILER=" + (shutil.which("clang++-22") or "c++")]
    run("cmake", "-G", "Ninja", "-S", source, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'install'}", *compilers)
    run("cmake", "--build", folder / "build")
    return folder


def test_compile_run_and_load_without_the_compiler(project, tmp_path):
    environment = dict(os.environ, MILLRACE_CACHE_DIR=str(tmp_path / "cache"))
    program = tmp_path / "matmul.mr"
    for _ in range(2):  # the second time from the cache
        out = run(project / "build" / "compile_and_run", program, env=environment)
        assert out.split() == ["4", "5", "10", "11"]
    assert len(list((tmp_path / "cache").rglob("*.mrc"))) == 1
    assert run(project / "build" / "run_program", program).split() == ["3"] * 4
    needed = run("ldd", project / "build" / "run_program")
    assert "libmillrace_runtime" in needed and "MLIR" not in needed
    assert str(project / "install") in needed


def test_recorded_graph(project, tmp_path):
    out = run(project / "build" / "record_graph", env=dict(os.environ, MILLRACE_CACHE_DIR=str(tmp_path)))
    assert "stablehlo.dot_general" in out and out.count("func.func") == 1
    assert out.splitlines()[-2:] == ["8 12 18 26, 1 programs"] * 2


def test_damaged_program_is_an_error(project, tmp_path):
    bad = tmp_path / "bad.mr"
    bad.write_bytes(b"MILLRACE" + bytes(200))
    process = subprocess.run([str(project / "build" / "run_program"), str(bad)], capture_output=True, text=True)
    assert process.returncode == 1
    assert process.stderr.startswith("error: ") and "damaged" in process.stderr
