# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's functional collectives (torch.ops._c10d_functional) on tensors of the device before torch.distributed is initialized: the
world has one replica then, whatever its group is called. Afterwards they are those of the process group."""
import torch
import torch.distributed as dist

_ONE = {
    "broadcast": lambda x, src, group: x.clone(),
    "all_reduce": lambda x, op, group: x.clone(),
    "all_gather_into_tensor": lambda x, size, group: x.clone(),
    "reduce_scatter_tensor": lambda x, op, size, group: x.clone(),
    "all_to_all_single": lambda x, output_sizes, input_sizes, group: x.clone(),
}


def _kernel(name, alone):
    def run(*args):
        if not dist.is_initialized():
            return alone(*args)
        # The kernel for all devices, which asks the process group.
        return getattr(torch.ops._c10d_functional, name).default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), *args)
    return run


def install():
    """Registers the kernels."""
    global _library
    if dist.is_available():
        _library = torch.library.Library("_c10d_functional", "IMPL")
        for name, alone in _ONE.items():
            _library.impl(name, _kernel(name, alone), "XLA")
