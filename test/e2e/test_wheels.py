# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/wheels refuses what users could not load. What it accepts, the parts jax and torch of scripts/check and scripts/try-wheels run."""
import base64
import csv
import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheels():
    """scripts/wheels as a module."""
    sys.path.insert(0, str(ROOT / "scripts"))
    loader = importlib.machinery.SourceFileLoader("wheels", str(ROOT / "scripts" / "wheels"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("wheels", loader))
    loader.exec_module(module)
    return module


def library(folder, code, *flags):
    """A wheel with one library of `code`."""
    source, binary, wheel = folder / "x.c", folder / "libx.so", folder / "x-1-py3-none-linux_x86_64.whl"
    source.write_text(code)
    subprocess.run(["clang-22", "-shared", "-fPIC", "-o", binary, source, *flags], check=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(binary, "millrace/lib/libx.so")
    return str(wheel)


def test_a_library_of_ours_passes(wheels, tmp_path):
    assert wheels.audit("millrace", library(tmp_path, "int millrace_x(void) { return 1; }",
                                           "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN")).startswith("manylinux_2_17_")


@pytest.mark.parametrize("code,flags,message", [
    ("int LLVMContextCreate(void) { return 1; }", [], "shows symbols that other libraries of a process may have too: LLVMContextCreate"),
    ("double deflate(void); double millrace_x(void) { return deflate(); }", ["-lz"], "needs libz.so.1, which users may not have"),
    ("int millrace_x;", ["-Wl,-rpath,/usr/lib/llvm-22/lib"], "looks for libraries outside of the package: /usr/lib/llvm-22/lib"),
    ("int millrace_x;", ["-Wl,--disable-new-dtags", "-Wl,-rpath,/usr/lib/llvm-22/lib"], "outside of the package: /usr/lib/llvm-22/lib"),
    ("int millrace_x;", ["-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"], "looks for libraries in LD_LIBRARY_PATH first"),
    ("unsigned arc4random(void); unsigned millrace_x(void) { return arc4random(); }", [], "needs GLIBC_2.36 of libc.so.6"),
])
def test_what_users_could_not_load_is_refused(wheels, tmp_path, code, flags, message):
    with pytest.raises(SystemExit) as refused:
        wheels.audit("millrace", library(tmp_path, code, *flags))
    assert "millrace cannot be given away" in str(refused.value) and message in str(refused.value)


def test_the_libraries_of_the_build_tree_are_refused(wheels, tmp_path):
    wheel = tmp_path / "millrace-0-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(os.path.realpath(ROOT / "build" / "lib" / "libmillrace.so"), "millrace/lib/libmillrace.so.0")
    with pytest.raises(SystemExit, match="needs libMLIR"):
        wheels.audit("millrace", str(wheel))


def test_a_wheel_that_is_too_large_is_refused(wheels, tmp_path, monkeypatch):
    monkeypatch.setitem(wheels.LARGEST_INSTALLED_MB, "millrace", 0.001)
    with pytest.raises(SystemExit, match="installed 0.0 MB, expected at most 0.001"):
        wheels.audit("millrace", library(tmp_path, "int millrace_x;"))


def test_notices_of_others_are_in_the_wheel(wheels, tmp_path):
    wheel, info = tmp_path / "x-1-py3-none-any.whl", "x-1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        program = zipfile.ZipInfo("x/bin/x")
        program.external_attr = 0o100755 << 16
        archive.writestr(program, "program")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.4\nName: x\nVersion: 1\nLicense-File: LICENSE\n\nWords.\n")
        archive.writestr(f"{info}/licenses/LICENSE", "ours")
        archive.writestr(f"{info}/RECORD", "")
    wheels.add_notices(str(wheel))
    with zipfile.ZipFile(wheel) as archive:
        record = list(csv.reader(archive.read(f"{info}/RECORD").decode().splitlines()))
        assert [name for name, _, _ in record] == archive.namelist() and record[-1] == [f"{info}/RECORD", "", ""]
        for name, digest, size in record[:-1]:
            text = archive.read(name)
            assert size == str(len(text)) and digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
        assert archive.getinfo("x/bin/x").external_attr == 0o100755 << 16
        assert b"LLVM" in archive.read(f"{info}/licenses/llvm-22-dev/copyright")
        head, _, body = archive.read(f"{info}/METADATA").decode().partition("\n\n")
        assert body == "Words.\n" and {"License-File: LICENSE", "License-File: libzstd-dev/copyright"} <= set(head.splitlines())


def test_a_notice_that_is_not_there_is_named(wheels, tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "COPYRIGHTS", str(tmp_path))
    with pytest.raises(SystemExit, match="no notice of the package llvm-22-dev .*llvm-22-dev/copyright: No such file"):
        wheels.notices()


def test_usage_is_said():
    ran = subprocess.run([ROOT / "scripts" / "wheels", "--only", "nonsense"], capture_output=True, text=True)
    assert ran.returncode == 2 and "invalid choice: 'nonsense'" in ran.stderr


def test_several_pythons_are_named_at_once(wheels, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["wheels", "--only", "torch_xla", "--torch", "/no/python-a", "/no/python-b", "--build", str(tmp_path)])
    monkeypatch.setattr(wheels, "torch_of", lambda python: None if python == "/no/python-b" else "2.13.0")
    for name in ("build", "pip_wheel", "finish"):
        monkeypatch.setattr(wheels, name, lambda *_: None)
    with pytest.raises(SystemExit, match="/no/python-b has no torch"):
        wheels.main()


def test_a_second_run_in_a_build_tree_waits(wheels, tmp_path, capsys):
    entered = threading.Event()

    def second():
        with wheels.alone_in(str(tmp_path)):
            entered.set()

    with wheels.alone_in(str(tmp_path)):
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.5)
    thread.join(60)
    assert entered.is_set() and f"another run is at work in {tmp_path}: waiting" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/usr/bin/python3"), reason="no Python of Debian's")
def test_the_python_of_another_system_runs_here(tmp_path):
    """The launcher of scripts/debian-python, with this machine as the other system."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import clean_system

    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = subprocess.run(["/usr/bin/python3", "-c", ask], capture_output=True, text=True).stdout.strip()
    prefix = tmp_path / "other python"
    base = clean_system.launcher("/", version, str(prefix))
    assert base == str(prefix / "bin" / f"python{version}")
    subprocess.run([base, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    ask = "import ssl, sys, sysconfig; print(sys.executable, sys.prefix, sys.base_prefix, sysconfig.get_paths()['include'], sys.argv[1], sep='|')"
    told = subprocess.run([tmp_path / "env" / "bin" / "python", "-c", ask, "two words"], capture_output=True, text=True)
    assert told.stdout.strip().split("|") == [f"{tmp_path}/env/bin/python", f"{tmp_path}/env", str(prefix), f"{prefix}/include/python{version}",
                                              "two words"], told.stderr
    with pytest.raises(SystemExit, match="has no dynamic linker ld-linux"):
        clean_system.launcher(str(tmp_path), version, str(tmp_path / "none"))


def test_the_guide_has_what_is_tried_in_clean_systems():
    """scripts/try-wheels types what docs/guide/install.md says, and waits for what it shows."""
    sys.path.insert(0, str(ROOT / "scripts"))
    loader = importlib.machinery.SourceFileLoader("try_wheels", str(ROOT / "scripts" / "try-wheels"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("try_wheels", loader))
    loader.exec_module(module)
    commands = {section: module.guide_commands(section) for section in ("Install", "Check", "Uninstall")}
    assert "python3 -m venv env\n" in commands["Install"] and commands["Install"].count("-cp311-") == 1
    assert len(re.findall("# .+$", commands["Check"], re.M)) == 3 and "pip uninstall -y" in commands["Uninstall"]
    for script in commands.values():
        assert subprocess.run(["sh", "-n", "-c", script], capture_output=True, text=True).stderr == ""
    with pytest.raises(SystemExit, match="has no section Nonsense"):
        module.guide_commands("Nonsense")


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("debootstrap") is not None, reason="here it would begin to make systems")
def test_what_clean_systems_need_is_said():
    ran = subprocess.run([ROOT / "scripts" / "try-wheels"], capture_output=True, text=True)
    assert ran.returncode == 1 and re.search("needs root|apt-get install debootstrap", ran.stderr)


def test_a_wheel_replaces_older_ones_with_other_tags(wheels, tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "audit", lambda *_: None)
    dist = tmp_path / "dist"
    dist.mkdir()
    stay = ["millrace-0.9.0-py3-none-manylinux_2_34_aarch64.whl", "torch_xla-2.14.0-cp311-cp311-manylinux_2_34_x86_64.whl",
            "torch_xla-2.13.0-cp312-cp312-manylinux_2_34_x86_64.whl", "millrace_jax-0.9.0-py3-none-any.whl"]
    for name in [*stay, "millrace-0.8.0-py3-none-manylinux_2_36_x86_64.whl", "millrace-0.9.0-py3-none-linux_x86_64.whl",
                 "torch_xla-2.13.1-cp311-cp311-manylinux_2_36_x86_64.whl"]:
        (dist / name).touch()
    new = ["millrace-0.9.0-py3-none-manylinux_2_34_x86_64.whl", "torch_xla-2.13.0-cp311-cp311-manylinux_2_34_x86_64.whl"]
    for name in new:
        (tmp_path / name).touch()
        wheels.finish(name.split("-")[0], str(tmp_path / name), str(dist), "x86_64")
    assert sorted(os.listdir(dist)) == sorted([*stay, *new])
