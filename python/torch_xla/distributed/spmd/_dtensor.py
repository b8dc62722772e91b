# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DTensor.from_local(), zeros(), rand() and their like of torch.distributed.tensor on a DeviceMesh of xla devices. Importing this module installs
them."""
import torch
from torch.distributed.tensor import DTensor, _api

from .api import xla_distribute_tensor


def _from_local(local_tensor, device_mesh=None, placements=None, **options):
    """DTensor.from_local() on a mesh of the type "xla": one process has all devices, so its tensor is the whole."""
    if device_mesh is None or device_mesh.device_type != "xla":
        return _from_local_of_torch(local_tensor, device_mesh, placements, **options)
    return xla_distribute_tensor(local_tensor, device_mesh, placements, what="DTensor.from_local")


def _made_on(init_op, size, device_mesh=None, placements=None, **kwargs):
    """zeros(), rand() and their like of torch.distributed.tensor on a mesh of the type "xla"."""
    mesh = device_mesh or _api._mesh_resources.get_current_mesh()
    if mesh.device_type != "xla":
        return _made_of_torch(init_op, size, device_mesh, placements, **kwargs)
    requires_grad = kwargs.pop("requires_grad", False)
    value = init_op(size, *((kwargs.pop("fill_value"),) if init_op is torch.full else ()), **kwargs, device="xla")
    return xla_distribute_tensor(value, mesh, placements, what=init_op.__name__).requires_grad_(requires_grad)


_made_of_torch, _api._dtensor_init_helper = _api._dtensor_init_helper, _made_on
_from_local_of_torch, DTensor.from_local = DTensor.from_local, staticmethod(_from_local)
