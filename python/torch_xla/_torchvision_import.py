# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`import torchvision` beside a PyTorch that its compiled half was not built for.

PyPI's torchvision is built for CUDA. Where its library cannot be loaded (a CPU build of PyTorch), the import fails while it describes
operators that the library would have registered. With their schemas defined at that moment, everything that is written in Python
works: models, transforms, data sets. Calling these operators stays an error on the CPU; the xla device has `nms` and `roi_align`, and
with them the detection models. A torchvision whose library is loaded is left alone."""
import importlib.machinery
import sys

import torch

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


class _Loader:
    """Another loader, with something done before and after the module runs."""

    def __init__(self, loader, before, after):
        self._loader, self._before, self._after = loader, before, after

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._before()
        self._loader.exec_module(module)
        self._after()


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name not in ("torchvision", "torchvision._meta_registrations"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        nothing = lambda: None  # noqa: E731
        if name == "torchvision":
            spec.loader = _Loader(spec.loader, nothing, lambda: _library and _use())
        else:
            spec.loader = _Loader(spec.loader, _define, nothing)
        return spec


def install():
    """For imports from now on. Once: a second call changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
