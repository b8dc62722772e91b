# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`import torchvision` beside a PyTorch that its compiled half was not built for: torch_xla makes it possible (_torchvision_import.py).
For programs that may run before torch_xla is imported."""


def load():
    """The module torchvision."""
    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        import sys
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        import torch_xla  # noqa: F401
        import torchvision
    return torchvision
