# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/guide/jax.md: every Python snippet runs in a process of its own and prints what its comments say."""
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GUIDE = open(os.path.join(ROOT, "docs", "guide", "jax.md")).read()
SNIPPETS = re.findall(r"```python\n(.*?)```", GUIDE, re.S)


def run(code, **environment):
    process = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True, timeout=300,
                             env=dict(os.environ, **environment))
    assert process.returncode == 0, process.stderr
    return process


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet(number):
    code = SNIPPETS[number] if "import jax" in SNIPPETS[number] else "import jax\n" + SNIPPETS[number]
    process = run(code)
    for value in re.findall(r"#\s*(-?\d+\.\d+)$", SNIPPETS[number], re.M):
        assert value in process.stdout, process.stdout
    assert process.stderr == "", "a first-time user sees a warning"


def test_explained_program():
    """What the guide saves, and the commands that it shows."""
    run(next(code for code in SNIPPETS if "debug_info=True" in code))
    commands = re.findall(r"^(xla-compile /tmp/mlp.mlir .*?)\s+#", GUIDE, re.M)
    path = os.path.join(os.path.realpath(os.environ.get("MILLRACE_BUILD") or os.path.join(ROOT, "build")), "bin")
    text, page, program = (subprocess.run(command, shell=True, check=True, capture_output=True, text=True,
                                          env=dict(os.environ, PATH=path + os.pathsep + os.environ["PATH"])).stdout for command in commands)
    assert """argument 0 of @main "params['w1']" : tensor<16x64xf32> #sdy.sharding<@mesh, [{}, {"model"}]>""" in text
    assert "from sdy.sharding_constraint (" in text and "1 collective, 384 bytes" in text
    with open("/tmp/mlp.html") as file:
        assert page == "" and "params[&apos;w1&apos;]" in file.read()
    assert program.count("stablehlo.all_reduce") == 1


def test_relaxed_convolutions():
    """docs/accuracy.md: 3x3 convolutions from fewer products, about as exactly."""
    with open(os.path.join(ROOT, "docs", "accuracy.md")) as file:
        code, = re.findall(r"```python file=relaxed_jax.py\n(.*?)```", file.read(), re.S)
    assert run(code).stdout == "True True\n"
    assert run(code.replace("millrace_relaxed", "xla_cpu_enable_fast_math")).stdout == "True True\n"
    assert run(code.replace('"millrace_relaxed": True', '"millrace_relaxed": False')).stdout == "False True\n"


def test_first_program_names_millrace_and_warns_of_nothing():
    process = run("import jax; print(jax.devices()[0].client.platform_version); print(jax.numpy.arange(3) + 1)")
    assert "illrace" in process.stdout and "[1 2 3]" in process.stdout and process.stderr == ""


def test_switched_off():
    assert "illrace" not in run("import jax; print(jax.devices()[0].client.platform_version)", MILLRACE_JAX="0").stdout


def test_missing_library_is_explained(tmp_path):
    """A build whose library needs one that is not there: JAX goes on with XLA:CPU, and the log names the package."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmillrace_pjrt.so").write_bytes(b"")
    broken = tmp_path / "broken.c"
    broken.write_text("void missing(void); void GetPjrtApi(void) { missing(); }")
    missing = tmp_path / "missing.c"
    missing.write_text("void missing(void) {}")
    name = "libMLIR-of-another-age.so"
    subprocess.run(["clang-22", "-shared", "-fPIC", "-o", tmp_path / name, missing], check=True)
    subprocess.run(["clang-22", "-shared", "-fPIC", "-o", tmp_path / "lib" / "libmillrace_pjrt.so", broken, f"-L{tmp_path}", f"-l:{name}"],
                   check=True)
    (tmp_path / name).unlink()
    process = run("import jax; print(jax.numpy.arange(3) + 1)", MILLRACE_BUILD=str(tmp_path))
    assert "[1 2 3]" in process.stdout and "apt-get install libmlir-22" in process.stderr


@pytest.mark.parametrize("code,message", [
    ("raise ModuleNotFoundError(\"No module named 'millrace'\")", "but No module named 'millrace': install the wheel of millrace"),
    ("", "/millrace/__init__.py is another program: pip uninstall millrace, and install the wheel"),
])
def test_without_the_distribution_millrace(tmp_path, code, message):
    """millrace was uninstalled, or is PyPI's package of that name: one line says so, and JAX goes on with XLA:CPU."""
    (tmp_path / "millrace").mkdir()
    (tmp_path / "millrace" / "__init__.py").write_text(code)
    process = run("import jax; print(jax.numpy.arange(3) + 1)", PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert "[1 2 3]" in process.stdout and "Traceback" not in process.stderr
    assert "millrace-jax needs Millrace's distribution millrace" in process.stderr and message in process.stderr


def test_cache_is_shared_read_only(tmp_path):
    """The guide's two commands: the second process finds what the first compiled, and may not write."""
    code = "import jax; jax.jit(lambda x: jax.numpy.sin(x) * 3 + 1)(jax.numpy.ones(5))"
    run(code, MILLRACE_CACHE_DIR=str(tmp_path))
    entries = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}
    assert entries
    run("import jax; jax.jit(lambda x: jax.numpy.cos(x) - 7)(jax.numpy.ones(6))", MILLRACE_CACHE_DIR=str(tmp_path), MILLRACE_CACHE="ro")
    run(code, MILLRACE_CACHE_DIR=str(tmp_path), MILLRACE_CACHE="ro")
    assert {p for p in tmp_path.rglob("*") if p.is_file()} == set(entries)
