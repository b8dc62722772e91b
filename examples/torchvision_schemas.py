# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`import torchvision` beside a PyTorch that its compiled half was not built for.

PyPI's torchvision is built for CUDA. Where its library cannot be loaded (a CPU build of PyTorch), the import fails while it describes
operators that the library would have registered: `torchvision::nms` and `qnms`. With their schemas defined first, everything that is
written in Python works: models, transforms, data sets. Calling these two operators stays an error on the
CPU; the xla device has `nms`.
"""
import sys

_library = None


def load():
    """The module torchvision."""
    global _library
    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        import torch
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        _library = torch.library.Library("torchvision", "FRAGMENT")
        _library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision
    return torchvision
