# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose source is PyTorch: the text is what the device `xla` records (benchmarks/torch_text.py)."""
import os
import sys

from benchmarks.program import Program

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "examples"))


def torchvision():
    import torchvision_schemas
    return torchvision_schemas.load()


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
