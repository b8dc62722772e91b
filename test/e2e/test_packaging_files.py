# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""packaging/ names scripts, versions and wheels that exist. Nothing of it is built here."""
import pathlib
import re
import subprocess
import tomllib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_dockerfile_runs_what_is_there():
    text = (ROOT / "packaging" / "Dockerfile").read_text()
    scripts = re.findall(r"scripts/(\w+)((?: --\w+)*)", text)
    assert {name for name, _ in scripts} == {"setup", "wheels"}
    for name, flags in scripts:
        script = ROOT / "scripts" / name
        assert all(flag in script.read_text() for flag in flags.split())
        assert script.stat().st_mode & 0o111
    assert "USER 1000" in text.split("FROM python", 1)[1], "the image does not run as root"
    versions = (ROOT / "python" / "torch_xla" / "_versions.py").read_text()
    assert all(f'"{minor}"' in versions for minor in re.findall(r"torch(?:==|_xla-)(\d+\.\d+)\.", text))


def test_recipe_fits_the_wheel():
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == PROJECT["version"] and recipe["package"]["name"] == PROJECT["name"]
    needs = {need.replace(" ", "") for need in recipe["requirements"]["run"]}
    assert set(PROJECT["dependencies"]) <= needs and f"python{PROJECT['requires-python']}" in needs
    wheels = (ROOT / "scripts" / "wheels").read_text()
    glibc = tuple(map(int, re.search(r"^NEWEST_GLIBC = \((\d+), (\d+)\)", wheels, re.M).groups()))
    assert "__glibc>={}.{}".format(*glibc) in needs and "manylinux_{}_{}_x86_64".format(*glibc) in recipe["build"]["script"]


def test_dockerfile_parses(tmp_path):
    """Every instruction is one that Docker knows; lines that go on do so."""
    lines = re.sub(r"\\\n(\s*#.*\n)*", " ", (ROOT / "packaging" / "Dockerfile").read_text()).splitlines()
    words = {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}
    assert words <= {"FROM", "SHELL", "WORKDIR", "COPY", "RUN", "USER", "ENV", "CMD"}
    for line in lines:
        if line.startswith("RUN"):
            code = re.sub(r"^RUN( --mount=\S+)*", "", line)
            assert subprocess.run(["bash", "-n", "-c", code], capture_output=True, text=True).stderr == ""
