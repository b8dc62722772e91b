# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions in place of PyTorch's that need kernels which this device does not have, or that handle devices of other kinds than this one."""
import functools
import threading
import warnings
from collections.abc import Callable

import torch

_library = None
_moving = threading.local()


def install():
    """Once, at the import of torch_xla."""
    global _library
    from . import _recurrent
    from .utils import checkpoint
    from .amp import grad_scaler
    _library = torch.library.Library("aten", "IMPL")
    grad_scaler.install(_library)
    _recurrent.install()
    checkpoint.install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's warning that the shim's kernels are replaced
        _library.impl("_grouped_mm", _grouped_mm, "XLA")
        _library.impl("_flash_attention_forward", _flash_attention_forward, "XLA")
        _library.impl("_flash_attention_backward", _flash_attention_backward, "XLA")
    _library.impl("_weight_norm_interface_backward", torch.ops.aten._weight_norm_differentiable_backward.default, "XLA")
    _draw_indices(_library)
    _exchange_with_dlpack()
    _keep_parameters()
    _keep_norms()
    if torch.distributed.is_available():
        from . import _sync_batch_norm
        _have_all_devices()
        _sync_batch_norm.install()


def _grouped_mm(a, b, offs=None, bias=None, out_dtype=None):
    from .experimental._grouped import grouped_mm
    return grouped_mm(a, b, offs, bias, out_dtype)


def _flash_attention_forward(*args, **kwargs):
    from .experimental._ragged_attention import flash_forward
    return flash_forward(*args, **kwargs)


def _flash_attention_backward(*args, **kwargs):
    from .experimental._ragged_attention import flash_backward
    return flash_backward(*args, **kwargs)


def _draw_indices(library: torch.library.Library) -> None:
    """torch.randperm and torch.randint take a generator of the CPU for a tensor of the device, too: they draw there, and the result moves.
    Samplers of DataLoader, and random_split, make such a generator and expect the device to be the CPU, which it is not after
    torch.set_default_device("xla"). Draws of other distributions refuse the generator of another device, as PyTorch does."""
    def drawing(draw: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def drawn(*bounds_and_size, generator: torch.Generator | None, dtype: torch.dtype | None = None, layout: torch.layout | None = None,
                  device: torch.device | None = None, pin_memory: bool | None = None) -> torch.Tensor:
            dtype = torch.int64 if dtype is None else dtype
            if generator is not None and generator.device.type == "cpu":
                return draw(*bounds_and_size, generator=generator, dtype=dtype, device="cpu").to(device)
            return draw(*bounds_and_size, generator=generator, out=torch.empty(
                bounds_and_size[-1] if isinstance(bounds_and_size[-1], (list, tuple)) else bounds_and_size[0], dtype=dtype, device=device))
        return drawn
    library.impl("randperm.generator", drawing(torch.randperm), "XLA")
    library.impl("randint.generator", drawing(torch.randint), "XLA")
    library.impl("randint.low_generator", drawing(torch.randint), "XLA")


def _have_all_devices():
    """In a world of one the process has all devices of a DeviceMesh("xla", ...): it needs no process group to know its place, and may be sliced.
    In one of several each process is a place of the mesh, with process groups, as on other devices."""
    from . import _world
    from ._spmd_exception import without_exception
    from torch.distributed.device_mesh import DeviceMesh
    make_with_groups = without_exception(DeviceMesh.__init__)
    make, whole, group, local_rank = DeviceMesh.__init__, DeviceMesh.mesh, DeviceMesh.get_group, DeviceMesh.get_local_rank

    def is_ours(mesh):
        return mesh._device_type == "xla" and _world.size() == 1

    @functools.wraps(make)
    def made(self, *args, **kwargs):
        device_type = args[0] if args else kwargs.get("device_type")
        if device_type == "xla" and _world.size() > 1 and torch.distributed.is_initialized():
            return make_with_groups(self, *args, **kwargs)
        make(self, *args, **kwargs)
        if is_ours(self):
            from .distributed.spmd import _dtensor  # noqa: F401  programs with a DeviceMesh make DTensors on it
            self._rank, self._dim_group_names, self._coordinate_on_dim = 0, [], (0,) * len(self._layout)

    def mesh(self):
        return whole.fget(self) if not is_ours(self) else self._layout.remap_to_tensor(self._rank_map)[0]

    @functools.wraps(group)
    def get_group(self, mesh_dim=None):
        if is_ours(self):
            raise RuntimeError("a DeviceMesh of the type xla has no process groups: one process has all of its devices")
        return group(self, mesh_dim)

    @functools.wraps(local_rank)
    def get_local_rank(self, mesh_dim=None):
        return 0 if is_ours(self) else local_rank(self, mesh_dim)

    DeviceMesh.__init__, DeviceMesh.get_group, DeviceMesh.get_local_rank = made, get_group, get_local_rank
    DeviceMesh.mesh = property(mesh, doc=whole.__doc__)


def _keep_norms():
    """The norm of no gradients at all is a zero on the device of the parameters; PyTorch's is one on the CPU."""
    clip = torch.nn.utils.clip_grad_norm_

    @functools.wraps(clip)
    def clip_grad_norm_(parameters, *args, **kwargs):
        parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        norm = clip(parameters, *args, **kwargs)
        where = next((p.device for p in parameters if p.device.type == "xla"), norm.device)
        return norm if norm.device.type == "xla" or any(p.grad is not None for p in parameters) else norm.to(where)
    torch.nn.utils.clip_grad_norm_ = clip_grad_norm_


def _exchange_with_dlpack():
    """Tensors of the device are memory of the host: numpy.from_dlpack() and others may look at them. PyTorch knows only of
    devices of GPUs behind `xla`."""
    to, device_of = torch.Tensor.__dlpack__, torch.Tensor.__dlpack_device__

    @functools.wraps(to)
    def to_dlpack(self, *args, **kwargs):
        if self.device.type != "xla" or torch.overrides.has_torch_function_unary(self):
            return to(self, *args, **kwargs)
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        from . import _load
        return _load.sys.modules["torch_xla._XLAC"]._to_cpu_alias(self).__dlpack__(*args, **kwargs)

    @functools.wraps(device_of)
    def dlpack_device(self):
        if self.device.type != "xla" or torch.overrides.has_torch_function_unary(self):
            return device_of(self)
        return torch.utils.dlpack.DLDeviceType.kDLCPU, 0

    torch.Tensor.__dlpack__, torch.Tensor.__dlpack_device__ = to_dlpack, dlpack_device


def _keep_parameters():
    """Parameters keep their identity, and tied ones stay tied, when a module moves to or from the device: PyTorch exchanges the
    tensors behind them. Its switch for that is on for such moves only: other modules behave as without torch_xla."""
    apply, to, to_empty = torch.nn.Module._apply, torch.nn.Module.to, torch.nn.Module.to_empty

    def applied(self, fn, recurse):
        """An exchanged parameter of a lazy module is still without a shape."""
        lazy = {name: type(p) for name, p in self._parameters.items() if torch.nn.parameter.is_lazy(p)}
        try:
            return apply(self, fn, recurse)
        finally:
            for name, kind in lazy.items():
                self._parameters[name].__class__ = kind

    @functools.wraps(apply)
    def moved(self, fn, recurse=True):
        if getattr(_moving, "inside", False) or torch.__future__.get_swap_module_params_on_conversion():
            return applied(self, fn, recurse)
        if not (getattr(_moving, "target", False) or any(p.device.type == "xla" for p in self.parameters())):
            return applied(self, fn, recurse)
        _moving.inside = True
        torch.__future__.set_swap_module_params_on_conversion(True)
        try:
            return applied(self, fn, recurse)
        except RuntimeError as error:
            if "Couldn't swap" not in str(error):
                raise
        finally:
            torch.__future__.set_swap_module_params_on_conversion(False)
            _moving.inside = False
        # If an object such as a compiled function holds a parameter, it stays, and each module gets a new one. Modules that shared one parameter
        # share the new one.
        places = {}
        for module in self.modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    places.setdefault(parameter, []).append((module, name))
        try:
            return applied(self, fn, recurse)
        finally:
            for (first, name), *others in places.values():
                for module, other in others:
                    module._parameters[other] = first._parameters[name]

    def to_target(device, call):
        before, _moving.target = getattr(_moving, "target", False), device is not None and torch.device(device).type == "xla"
        try:
            return call()
        finally:
            _moving.target = before

    @functools.wraps(to)
    def module_to(self, *args, **kwargs):
        return to_target(torch._C._nn._parse_to(*args, **kwargs)[0], lambda: to(self, *args, **kwargs))

    @functools.wraps(to_empty)
    def module_to_empty(self, *, device, recurse=True):
        return to_target(device, lambda: to_empty(self, device=device, recurse=recurse))

    torch.nn.Module._apply, torch.nn.Module.to, torch.nn.Module.to_empty = moved, module_to, module_to_empty
