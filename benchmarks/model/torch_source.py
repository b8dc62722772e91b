# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose source is PyTorch: the text is what the device `xla` records (benchmarks/torch_text.py)."""
import importlib
import os
import sys
import types

from benchmarks.program import Program
from benchmarks.tools import ROOT

sys.path.insert(0, os.path.join(ROOT, "examples"))


def torchvision():
    """The module, beside a PyTorch that its compiled half was not built for: by torch_xla's hook, but without torch_xla, which has no
    business in the processes of its peers."""
    package = types.ModuleType("torch_xla_hooks")  # the folder, whose __init__.py does not run
    package.__path__ = [os.path.join(ROOT, "python", "torch_xla")]
    sys.modules[package.__name__] = package
    importlib.import_module("torch_xla_hooks._torchvision_import").install()
    import torchvision
    return torchvision


def transformers():
    os.environ["HF_HUB_OFFLINE"] = "1"
    torchvision()  # transformers imports it
    import transformers
    return transformers


def model(name, make, source, rtol=1e-3, atol=1e-3, seed=0):
    """A Program from `make(torch, torch_text)`, which draws weights and inputs from PyTorch's generator and gives a TorchProgram."""

    def torch_program():
        import torch

        from benchmarks import torch_text
        torch.manual_seed(seed)
        return make(torch, torch_text)

    return Program(name, None, None, rtol, atol, None, source, True, torch_program)
