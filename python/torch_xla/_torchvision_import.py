# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`import torchvision` beside a PyTorch that its compiled half was not built for.

PyPI's torchvision is built for CUDA. Where its library cannot be loaded (a CPU build of PyTorch), the import fails while it describes
operators that the library would have registered. With their schemas defined at that moment, everything that is written in Python
works: models, transforms, data sets. Calling these operators stays an error on the CPU; the xla device has `nms` and `roi_align`, and
with them the detection models. A torchvision whose library is loaded is left alone."""
import sys

import torch

from . import _import_hooks

_library = None
_REGIONS = "float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
_SCHEMAS = [
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align(Tensor input, Tensor rois, {_REGIONS}int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward(Tensor grad, Tensor rois, {_REGIONS}SymInt batch_size, SymInt channels, SymInt height, SymInt width, "
    "int sampling_ratio, bool aligned) -> Tensor"]


def _define():
    """Before torchvision describes its operators: those that are missing."""
    global _library
    if _library is None and not hasattr(torch.ops.torchvision, "nms"):
        _library = torch.library.Library("torchvision", "FRAGMENT")
        for schema in _SCHEMAS:
            _library.define(schema)


def _use():
    """After the import: functions of torchvision.ops call the operators on every device; roi_align has its gradient."""
    import torchvision._autograd_registrations as gradients
    for name, module in list(sys.modules.items()):
        if name.startswith("torchvision.") and hasattr(module, "_assert_has_ops"):
            module._assert_has_ops = lambda: None
    torch.library.register_autograd("torchvision::roi_align", gradients._roi_align_backward,
                                    setup_context=gradients._roi_align_setup_context, lib=_library)


def install():
    """For imports from now on. Once: a second call changes nothing."""
    _import_hooks.add("torchvision", after=lambda module: _library and _use())
    _import_hooks.add("torchvision._meta_registrations", before=_define)
