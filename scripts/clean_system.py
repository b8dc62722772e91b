# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clean Debian systems made with debootstrap, in which nothing but Python and pip is installed; for the scripts beside this file."""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
FOLDER = os.path.join(ROOT, "build-roots")
SYSTEMS = {"bookworm": "3.11", "trixie": "3.13", "forky": "3.14", "bullseye": "3.9"}  # name of Debian's release: its Python
MIRROR = "http://deb.debian.org/debian"
# What belongs to this machine's way to PyPI, not to the system that is tried.
REGISTRY = [path for path in ("/etc/ssl/certs", "/etc/xdg/pip", "/opt/wheels", "/opt/pypi", "/opt/pypi-more") if os.path.exists(path)]
HOME = "/home/user"
UPDATE = "apt-get -o Acquire::Check-Valid-Until=false update -q"  # a mirror may lag behind


def say(text: str) -> None:
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr, flush=True)


def stop(text: str) -> None:
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def demand(tools: dict[str, str]) -> None:
    """Ends the program unless it runs as root and all tools are there. tools: name of a program -> Debian's package of it."""
    if os.geteuid() != 0:
        stop("making and entering clean systems needs root")
    for tool, package in tools.items():
        if not shutil.which(tool):
            stop(f"{tool} is not there: apt-get install {package}")


class System:
    """A clean root with an unprivileged user, in whose home scripts run."""

    def __init__(self, name: str, folder: str = FOLDER):
        self.name, self.root = name, os.path.join(folder, name)
        self.python = SYSTEMS[name]
        if not os.path.exists(os.path.join(self.root, "ready")):
            say(f"making {name} with debootstrap (minutes)")
            shutil.rmtree(self.root, ignore_errors=True)
            command = ["debootstrap", "--variant=minbase", "--include=python3,python3-pip,python3-venv,ca-certificates", name, self.root, MIRROR,
                       "/usr/share/debootstrap/scripts/sid"]  # the script of every newer release
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                stop(f"debootstrap failed\n{done.stdout[-3000:]}")
            subprocess.run(["chroot", self.root, "useradd", "--create-home", "user"], check=True)
            for path in REGISTRY:
                os.makedirs(self.root + path, exist_ok=True)
            open(os.path.join(self.root, "ready"), "w", encoding="utf-8").close()
        for path in ("/etc/resolv.conf", "/etc/hosts"):
            shutil.copy(path, self.root + path)

    def own(self) -> None:
        """Gives the files of the user's home to the user."""
        subprocess.run(["chroot", self.root, "chown", "-R", "user:user", HOME], check=True)

    def run(self, script: str, limit: int = 900, user: str = "user", read_only: bool = False, tmp: bool = False,
            **environment: str) -> tuple[int, str]:
        """Runs a shell script inside; status and output. /proc, /dev and the way to PyPI are there for that long; with `tmp` a fresh /tmp."""
        mounts = "".join(f"mount --bind {path} {self.root}{path} && " for path in (*REGISTRY, "/dev"))
        mounts += f"mount -t proc proc {self.root}/proc && "
        if read_only:
            mounts += f"mount --bind {self.root} {self.root} && mount -o remount,bind,ro {self.root} && "
            mounts += f"mount -t proc proc {self.root}/proc && "
            mounts += f"mount --bind /dev {self.root}/dev && "
        if tmp:
            mounts += f"mount -t tmpfs -o mode=1777 tmpfs {self.root}/tmp && "
        passed = {name: value for name, value in os.environ.items() if re.match(r"PIP_|SSL_CERT_|https?_proxy", name, re.I)}
        passed |= {"HOME": HOME if user == "user" else "/root", "PATH": f"{HOME}/env/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8"}
        passed |= environment
        # The inner script gets its text as an argument: no quoting.
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec",
                   f'{mounts} exec chroot --userspec={user} {self.root} /bin/sh -ec "$1"', "sh", f"cd {HOME}\n{script}"]
        done = subprocess.run(["timeout", "-k", "5", str(limit), *command], env=passed | {"PATH": passed["PATH"] + ":" + os.environ["PATH"]},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        return done.returncode, done.stdout


def launcher(root: str, version: str, folder: str) -> str:
    """Makes folder/bin/python3.X, which runs the Python 3.X of the system under `root` on this machine: through that system's dynamic linker,
    with its libraries, since this machine's may be older. `folder` is the prefix that such a Python sees. Returns the path."""
    multiarch = f"{os.uname().machine}-linux-gnu"
    linkers = glob.glob(f"{root}/usr/lib/{multiarch}/ld-linux-*.so.*")
    if not linkers:
        stop(f"{root}/usr/lib/{multiarch} has no dynamic linker ld-linux-*.so.*, expected a Debian system")
    for name in ("bin", "lib", "include"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    for name in (f"python{version}", "python3"):  # the standard library, and Debian's pip
        link = os.path.join(folder, "lib", name)
        if not os.path.islink(link):
            os.symlink(os.path.join(root, "usr", "lib", name), link)
    path = os.path.join(folder, "bin", f"python{version}")
    with open(path, "w", encoding="utf-8") as file:
        # An environment's bin/python is a link to this file: Python knows its environment by $0.
        file.write(f"#!/bin/sh\nexec '{linkers[0]}' --argv0 \"$0\" --library-path '{root}/usr/lib/{multiarch}' "
                   f"'{root}/usr/bin/python{version}' \"$@\"\n")
    os.chmod(path, 0o755)
    return path


def headers(system: System, folder: str) -> None:
    """Puts Python's headers into folder/include, as they come with Debian's libpython3.X-dev: the clean system stays without them."""
    package = f"libpython{system.python}-dev"
    status, output = system.run(f"{UPDATE} && cd /tmp && rm -f {package}_*.deb && apt-get download -q {package}", user="root")
    if status:
        stop(f"{package} of {system.name} cannot be fetched\n{output[-3000:]}")
    unpacked = os.path.join(folder, "unpacked")
    shutil.rmtree(unpacked, ignore_errors=True)
    for archive in glob.glob(f"{system.root}/tmp/{package}_*.deb"):
        subprocess.run(["dpkg-deb", "-x", archive, unpacked], check=True)
        os.remove(archive)
    name = f"python{system.python}"
    shutil.copytree(os.path.join(unpacked, "usr", "include", name), os.path.join(folder, "include", name), dirs_exist_ok=True)
    # Debian's pyconfig.h only includes the one of the processor, from a folder that no compiler would be told of.
    of_processor = os.path.join(unpacked, "usr", "include", f"{os.uname().machine}-linux-gnu", name, "pyconfig.h")
    shutil.copy(of_processor, os.path.join(folder, "include", name))
    shutil.rmtree(unpacked)
