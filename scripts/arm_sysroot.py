# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Debian's packages of 64-bit Arm, unpacked into build-aarch64/ for cross-building and qemu; for the scripts beside this file."""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
FOLDER = os.path.join(ROOT, "build-aarch64")
SYSROOT = os.path.join(FOLDER, "sysroot")
RUNTIME_PACKAGES = ["libllvm22", "libabsl-dev", "libc6-dev", "libstdc++-12-dev", "zlib1g-dev"]
COMPILER_PACKAGES = ["llvm-22-dev", "libmlir-22-dev", "libzstd-dev"]


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"aarch64: {' '.join(command)}\n{done.stdout[-3000:]}aarch64: the command above ended with {done.returncode}")
    return done.stdout


def apt(architecture, *command, **options):
    """apt-get with lists, cache and status of its own: what it finds is not mixed with this machine's packages."""
    state = os.path.join(FOLDER, "apt-" + architecture)
    for folder in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(state, folder), exist_ok=True)
    open(os.path.join(state, "status"), "a", encoding="utf-8").close()
    settings = {"APT::Architecture": architecture, "APT::Architectures::": architecture, "Dir::State": f"{state}/state",
                "Dir::State::status": f"{state}/status", "Dir::Cache": f"{state}/cache", "APT::Sandbox::User": "root", "Debug::NoLocking": "1"}
    run(["apt-get", *(f"-o{name}={value}" for name, value in settings.items()), *command], **options)
    return os.path.join(state, "cache", "archives")


def unpack(packages, folder):
    for package in packages:
        run(["dpkg", "-x", package, folder])
    # libm.so -> /lib/…/libm.so.6 means this folder's, not this machine's; else the linker takes libm.a.
    for parent, _, names in os.walk(folder):
        for path in (os.path.join(parent, name) for name in names):
            if os.path.islink(path) and os.path.isabs(target := os.readlink(path)):
                os.remove(path)
                os.symlink(os.path.relpath(folder + target, parent), path)


def fill(packages: list[str]) -> None:
    """Unpacks `packages` and what they depend on into SYSROOT, and qemu-user-static into FOLDER/qemu; nothing where that was done."""
    stamp = os.path.join(FOLDER, "unpacked")
    done = open(stamp, encoding="utf-8").read().split() if os.path.exists(stamp) else []
    if set(packages) <= set(done):
        return
    print(f"aarch64: fetching Debian's arm64 packages {', '.join(packages)} and qemu-user-static", file=sys.stderr)
    apt("arm64", "update")
    archives = apt("arm64", "install", "-y", "--download-only", "--no-install-recommends", *packages)
    unpack(glob.glob(os.path.join(archives, "*.deb")), SYSROOT)
    apt("amd64", "update")
    archives = os.path.join(FOLDER, "apt-amd64", "cache", "archives")
    apt("amd64", "download", "qemu-user-static", cwd=archives)
    unpack(glob.glob(os.path.join(archives, "qemu-user-static_*.deb")), os.path.join(FOLDER, "qemu"))
    # Headers without machine code, which Debian ships once per architecture.
    os.makedirs(os.path.join(SYSROOT, "usr", "include"), exist_ok=True)
    run(["cp", "-r", "/usr/include/flatbuffers", os.path.join(SYSROOT, "usr", "include")])
    with open(stamp, "w", encoding="utf-8") as file:
        file.write("\n".join({*done, *packages}) + "\n")


def emulator(*libraries: str) -> list[str]:
    """The command before a program of Arm that runs it here; `libraries` are the folders where it finds shared libraries."""
    command = [os.path.join(FOLDER, "qemu", "usr", "bin", "qemu-aarch64-static"), "-cpu", "cortex-a57", "-L", SYSROOT]
    return command + ["-E", "LD_LIBRARY_PATH=" + os.pathsep.join(libraries)] if libraries else command
