# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's functional collectives (torch.ops._c10d_functional) on tensors of the device. For the group "default" or "", which
PyTorch/XLA takes for all replicas, or before torch.distributed is initialized, they are among all replicas of the world."""
import torch
import torch.distributed as dist

from . import _world

_ONE = {
    "broadcast": lambda x, src, group: x.clone(),
    "all_reduce": lambda x, op, group: x.clone(),
    "all_gather_into_tensor": lambda x, size, group: x.clone(),
    "reduce_scatter_tensor": lambda x, op, size, group: x.clone(),
    "all_to_all_single": lambda x, output_sizes, input_sizes, group: x.clone(),
}


_KINDS = {"sum": "sum", "avg": "sum", "product": "mul", "min": "min", "max": "max", "band": "and", "bor": "or"}


def _reduced(op, run):
    if op.lower() not in _KINDS:
        raise ValueError(f"expects a reduction of {', '.join(_KINDS)}, but got {op!r}")
    made = run(_KINDS[op.lower()])
    return made / _world.size() if op.lower() == "avg" else made


def _all_to_all(x, output_sizes, input_sizes, group):
    from .core import _collective_programs as programs
    if len(set(output_sizes or [0])) > 1 or len(set(input_sizes or [0])) > 1:
        raise NotImplementedError("all_to_all_single of several sizes before torch.distributed is initialized")
    return programs.all_to_all(x, 0, 0, None)


def _of_world(name):
    """Returns the operator among all replicas."""
    from .core import _collective_programs as programs
    return {"broadcast": lambda x, src, group: programs.collective_broadcast(x, src),
            "all_reduce": lambda x, op, group: _reduced(op, lambda kind: programs.all_reduce(kind, x)),
            "all_gather_into_tensor": lambda x, size, group: programs.all_gather(x, 0),
            "reduce_scatter_tensor": lambda x, op, size, group: _reduced(op, lambda kind: programs.reduce_scatter(kind, x, 0)),
            "all_to_all_single": _all_to_all}[name]


def _kernel(name, alone):
    def run(*args):
        if not dist.is_initialized() or args[-1] in ("", "default"):
            return alone(*args) if _world.size() == 1 else _of_world(name)(*args)
        # This is PyTorch's kernel for all devices, which calls the process group.
        return getattr(torch.ops._c10d_functional, name).default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), *args)
    return run


def install():
    """Registers the kernels."""
    global _library
    if dist.is_available():
        _library = torch.library.Library("_c10d_functional", "IMPL")
        for name, alone in _ONE.items():
            _library.impl(name, _kernel(name, alone), "XLA")
