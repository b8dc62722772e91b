# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds and loads the compiled part: beside this file when installed, else in the build folder of this source tree."""
import importlib.machinery
import importlib.util
import os
import sys


def load():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    build = os.environ.get("MILLRACE_BUILD") or os.path.join(root, "build")
    candidates = [os.path.join(here, "_XLAC.so"), os.path.join(build, "python", "torch_xla", "_XLAC.so")]
    for path in candidates:
        if os.path.exists(path):
            name = "torch_xla._XLAC"
            loader = importlib.machinery.ExtensionFileLoader(name, path)
            spec = importlib.util.spec_from_file_location(name, path, loader=loader)
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
            sys.modules[name] = module
            return module
    raise ImportError("torch_xla's compiled part _XLAC.so is neither at " + " nor at ".join(candidates) +
                      ": build it with `ninja -C build torch_xla_shim`")
