# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lit configuration: `lit -sv lit` or `lit -v lit/passes/simplify/name.mlir`, no generated site file needed.

The build folder is <root>/build; `--param build=DIR` or MILLRACE_BUILD name another one.
Substitutions: %root %build %python; FileCheck, not, count, split-file and our tools come by PATH.
Features: jax, torch, iree (importable by %python), long (`--param long=1`), ninja (the build folder is Ninja's).
"""
import importlib.util
import os
import subprocess
import sys

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
build = os.path.realpath(lit_config.params.get("build") or os.environ.get("MILLRACE_BUILD") or os.path.join(root, "build"))
llvm_bin = os.environ.get("MILLRACE_LLVM_BIN") or "/usr/lib/llvm-22/bin"
if not os.path.isdir(llvm_bin):
    lit_config.fatal(f"{llvm_bin} does not exist: run scripts/setup, or name LLVM 22's tools with MILLRACE_LLVM_BIN")
if not os.path.isdir(build):
    lit_config.fatal(f"build folder {build} does not exist: cmake --preset dev && ninja -C build")


def find_python():
    for candidate in (os.environ.get("MILLRACE_PYTHON"), os.path.join(root, ".venv/bin/python")):
        if candidate and os.path.exists(candidate):
            return candidate
    return sys.executable


python = find_python()

config.name = "millrace"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.realpath(__file__))
config.test_exec_root = os.path.join(build, "lit")

config.substitutions += [("%root", root), ("%build", build), ("%python", python)]
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm_bin, os.environ.get("PATH", "")])
config.environment["MILLRACE_BUILD"] = build
# Tests never read or fill the user's cache.
config.environment["MILLRACE_CACHE_DIR"] = os.path.join(build, "lit", "cache")
config.environment["XDG_CACHE_HOME"] = os.path.join(build, "lit", "xdg-cache")
for name in ("OMP_NUM_THREADS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME", "CI", "JAX_PLATFORMS",
             "CCACHE_DIR", "MILLRACE_PYTHON"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

probe = subprocess.run([python, "-c", "import importlib.util as u\nfor m, f in (('jax', 'jax'), ('torch', 'torch'), "
                        "('iree.compiler', 'iree'), ('tokenizers', 'tokenizers')):\n"
                        "    try:\n        if u.find_spec(m): print(f)\n    except ImportError: pass"],
                       capture_output=True, text=True)
config.available_features.update(probe.stdout.split())
sys.path.insert(0, os.path.join(root, "scripts"))
from x86_levels import x86_levels  # noqa: E402

config.available_features.update(x86_levels())
if os.path.exists(os.path.join(build, "build.ninja")):
    config.available_features.add("ninja")
if lit_config.params.get("long"):
    config.available_features.add("long")
# One hung test must not hang the run; lit needs psutil for that (scripts/check runs it with .venv's Python, which has it).
if importlib.util.find_spec("psutil"):
    lit_config.maxIndividualTestTime = int(lit_config.params.get("timeout", 600))
