# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/setup with stand-ins for the programs that would change the machine: what it says, runs and refuses."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bash", "dirname", "basename", "grep", "cmp", "cp", "env", "mkdir", "chmod", "cat")
PROXY = "http://127.0.0.1:3128"

# A stand-in writes its name, arguments and proxy to the log.
LOG = '#!/bin/bash\necho "$(basename "$0") $* proxy=${http_proxy:-}" >>"$LOG"\n'
STAND_INS = {
    "apt-get": LOG,
    "apt-cache": LOG + '[[ " ${UNKNOWN:-} " == *" $2 "* ]] && echo "  Candidate: (none)" || echo "  Candidate: 1:22.1"\n',
    "dpkg-query": '#!/bin/bash\nfor p in "${@:3}"; do [[ " ${MISSING:-} " == *" $p "* ]] || echo "$p installed"; done\n',
    "id": '#!/bin/bash\necho "${USER_ID:-1000}"\n',
    # Like the real one, it drops the proxy unless told to preserve it.
    "sudo": LOG + '[[ $1 == --preserve-env=*http_proxy* ]] || unset http_proxy\n[[ $1 == -* ]] && shift\n"$@"\n',
    "python3": LOG + '[[ $1 == -c ]] && exit "${PYTHON_UNSUITED:-0}"\n[[ $1 == -V ]] && echo "Python 3.9"\n'
    '[[ $2 == venv ]] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"\nexit 0\n',
}


class Machine:
    """A copy of the script and its requirement files, with a PATH of stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "clone"
        self.bin = folder / "bin"
        self.log = folder / "log"
        (self.root / "scripts").mkdir(parents=True)
        self.bin.mkdir()
        self.release = folder / "os-release"
        # The script has no switch for this: with one, it could install another system's packages on a real machine.
        text = (ROOT / "scripts" / "setup").read_text()
        assert text.count("os_release=/etc/os-release") == 1
        (self.root / "scripts" / "setup").write_text(text.replace("os_release=/etc/os-release", f"os_release='{self.release}'"))
        shutil.copytree(ROOT / "requirements", self.root / "requirements")
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, text in STAND_INS.items():
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        self.system("debian", "12")

    def system(self, name: str, version: str) -> None:
        """Makes it a machine of that distribution."""
        self.release.write_text(f'ID={name}\nVERSION_ID="{version}"\n')

    def setup(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs the script as an unprivileged user, unless USER_ID says otherwise."""
        env = {"PATH": str(self.bin), "LOG": str(self.log), **environment}
        return subprocess.run(["bash", "scripts/setup", *arguments], cwd=self.root, env=env, capture_output=True, text=True, timeout=60)

    def commands(self) -> list[str]:
        """What the stand-ins were called with, without questions that change nothing."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if not re.match(r"apt-cache policy|python3 -[cV]", line)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A fresh Debian 12 that has all packages."""
    return Machine(tmp_path)


def test_dry_run_says_all_and_changes_nothing(machine: Machine) -> None:
    before = sorted(machine.root.rglob("*"))
    result = machine.setup("--dry-run", "--torch", MISSING="mold")
    assert result.returncode == 0, result.stderr
    assert machine.commands() == [] and sorted(machine.root.rglob("*")) == before
    assert re.search(r"already there: .*\bcmake\b", result.stderr) and not re.search(r"already there: .*\bmold\b", result.stderr)
    assert re.search(r"would run: sudo .*apt-get install .* mold$", result.stderr, re.M)
    assert re.search(r"would run: \S*python3 -m venv .venv$", result.stderr, re.M)
    for name in "dev", "torch":
        assert re.search(rf"would run: .*pip install .*-r requirements/{name}.txt", result.stderr)


def test_all_packages_there_needs_no_sudo(machine: Machine) -> None:
    (machine.bin / "sudo").unlink()
    result = machine.setup()
    assert result.returncode == 0, result.stderr
    assert [line.split()[0] for line in machine.commands()] == ["python3", "python"]
    machine.log.unlink()
    assert machine.setup().returncode == 0 and machine.commands() == [], "a second run has nothing to do"


def test_without_sudo_names_the_administrators_command(machine: Machine) -> None:
    (machine.bin / "sudo").unlink()
    result = machine.setup(MISSING="mold ccache")
    assert result.returncode == 1 and machine.commands() == []
    assert re.search(r"administrator has to run: apt-get update -q && env DEBIAN_FRONTEND=.* apt-get install .* mold ccache$", result.stderr, re.M)
    assert result.stderr.count("administrator") == 1 and "installing" not in result.stderr, "it stops before it tries"


@pytest.mark.parametrize("user", ["0", "1000"])
def test_proxy_reaches_apt_and_pip(machine: Machine, user: str) -> None:
    result = machine.setup(MISSING="mold", USER_ID=user, http_proxy=PROXY)
    assert result.returncode == 0, result.stderr
    calls = [line for line in machine.commands() if line.startswith(("apt-get", "python "))]
    assert [line.split()[1] for line in calls] == ["update", "install", "-m"]
    assert all(line.endswith(f"proxy={PROXY}") for line in calls)
    assert any(line.startswith("sudo") for line in machine.commands()) == (user != "0")
    assert PROXY not in result.stderr, "a proxy's address may hold a password"


@pytest.mark.parametrize(("name", "version"), [("fedora", "43"), ("debian", "11"), ("ubuntu", "22.04")])
def test_unknown_system(machine: Machine, name: str, version: str) -> None:
    machine.system(name, version)
    result = machine.setup(MISSING="mold")
    assert result.returncode == 1 and machine.commands() == []
    assert f"unknown system '{name} {version}'" in result.stderr and "expected Debian 12 or 13" in result.stderr
    assert "install its wheels (docs/guide/install.md)" in result.stderr and (ROOT / "docs/guide/install.md").exists()


def test_every_known_system_is_expected(machine: Machine) -> None:
    known = re.findall(r'^  "(debian|ubuntu) ([\d.]+)"\)', (ROOT / "scripts" / "setup").read_text(), re.M)
    machine.system("fedora", "43")
    expected = re.search("expected .*", machine.setup().stderr)[0]
    assert len(known) >= 6 and re.findall(r"[\d.]+", expected) == [version for _, version in known]


def test_release_without_a_number(machine: Machine) -> None:
    machine.release.write_text("ID=debian\nVERSION_CODENAME=forky\n")
    assert "unknown system 'debian forky'" in machine.setup().stderr


@pytest.mark.parametrize(("name", "version", "library"), [
    ("debian", "12", "libstdc++-12-dev"), ("debian", "13", "libstdc++-14-dev"), ("ubuntu", "24.04", "libstdc++-14-dev"),
    ("ubuntu", "26.04", "libstdc++-15-dev"),
])
def test_library_of_each_system(machine: Machine, name: str, version: str, library: str) -> None:
    machine.system(name, version)
    result = machine.setup(MISSING="libstdc++-12-dev libstdc++-14-dev libstdc++-15-dev", USER_ID="0")
    assert result.returncode == 0, result.stderr
    assert any(line.split()[-2:-1] == [library] for line in machine.commands() if line.startswith("apt-get install"))


@pytest.mark.parametrize(("name", "version", "source"), [
    ("debian", "13", "trixie-security"), ("ubuntu", "24.04", "llvm-toolchain-noble-22"), ("ubuntu", "26.04", "resolute universe"),
])
def test_system_without_mlir_names_its_source(machine: Machine, name: str, version: str, source: str) -> None:
    machine.system(name, version)
    result = machine.setup(MISSING="libmlir-22-dev mold", UNKNOWN="libmlir-22-dev", USER_ID="0")
    assert result.returncode == 1
    assert "no source of this system has libmlir-22-dev;" in result.stderr and source in result.stderr
    assert [line.split()[1] for line in machine.commands()] == ["update"], "nothing is installed"


def test_unsuited_python(machine: Machine) -> None:
    result = machine.setup(PYTHON_UNSUITED="1")
    assert result.returncode == 1 and "Python 3.11 to 3.14 expected, but got Python 3.9" in result.stderr
    assert machine.commands() == []
