# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.core.xla_model (xm): devices, the step barrier, step closures, collectives of a world of one."""
import sys
import threading

import torch

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]

REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX = "sum", "mul", "and", "or", "min", "max"
_closures, _async_closures = [], []


def xla_device(n=None, devkind=None):
    from ..torch_xla import device
    return device(n)


def get_xla_supported_devices(devkind=None, max_devices=None):
    return ["xla:0"]


def xla_device_hw(device):
    return "CPU"


def xla_real_devices(devices=None):
    return ["CPU:0"]


def _barrier(wait):
    _XLAC._sync(bool(wait))
    closures, asynchronous = list(_closures), list(_async_closures)
    _closures.clear()
    _async_closures.clear()
    for closure, args in closures:
        closure(*args)
    if asynchronous:
        def run():
            for closure, args in asynchronous:
                closure(*args)
        threading.Thread(target=run, daemon=True).start()


def mark_step(wait=False, reset_scope=True):
    """The step barrier, see torch_xla.sync()."""
    _barrier(wait)


def wait_device_ops(devices=()):
    """Waits for everything that was started."""
    _XLAC._wait()


def unlazy(tensors):
    _XLAC._xla_sync_multi(list(tensors))


def add_step_closure(closure, args=(), run_async=False):
    """Runs closure(*args) after the next step barrier."""
    (_async_closures if run_async else _closures).append((closure, args))


def optimizer_step(optimizer, barrier=False, optimizer_args={}, groups=None, pin_layout=True):
    """The step of an optimizer whose gradients are reduced over all replicas (here: one)."""
    loss = optimizer.step(**optimizer_args)
    if barrier:
        mark_step()
    return loss


def reduce_gradients(optimizer, groups=None, pin_layout=True):
    """Nothing to reduce in a world of one."""


def is_xla_tensor(tensor):
    return tensor.device.type == "xla"


def get_ordinal(defval=0):
    return 0


def get_local_ordinal(defval=0):
    return 0


def xrt_world_size(defval=1):
    return 1


def is_master_ordinal(local=True):
    return True


def master_print(*args, fd=None, local=False, flush=False):
    print(*args, file=fd or sys.stdout, flush=flush)


def broadcast_master_param(model):
    mark_step()


def _check_world(groups):
    if groups not in (None, [], [[0]]):
        raise ValueError(f"groups {groups} name replicas that are not there: the world has one")


def all_reduce(reduce_type, inputs, scale=1.0, groups=None, pin_layout=True):
    """Reduction over replicas: the inputs times `scale`. A list is changed in place."""
    _check_world(groups)
    if isinstance(inputs, torch.Tensor):
        return inputs * scale if scale != 1.0 else inputs.clone()
    for tensor in inputs:
        if scale != 1.0:
            tensor.mul_(scale)
    return inputs


def all_gather(value, dim=0, groups=None, output=None, pin_layout=True, channel_id=None, use_global_device_ids=None):
    _check_world(groups)
    result = value.clone() if value.dim() else value.reshape(1)
    return output.copy_(result) if output is not None else result


def reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups=None, output=None, pin_layout=True):
    if shard_count != 1:
        raise ValueError(f"shard_count is {shard_count}, but the world has one replica")
    result = all_reduce(reduce_type, input, scale, groups)
    return output.copy_(result) if output is not None else result


def all_to_all(value, split_dimension, concat_dimension, split_count, groups=None, pin_layout=True):
    if split_count != 1:
        raise ValueError(f"split_count is {split_count}, but the world has one replica")
    return value.clone()


def collective_permute(value, pairs):
    if any(pair != [0, 0] and pair != (0, 0) for pair in pairs):
        raise ValueError(f"pairs {pairs} name replicas that are not there: the world has one")
    return value.clone() if pairs else torch.zeros_like(value)


def rendezvous(tag, payload=b"", replicas=()):
    """Where all processes meet: the payloads of all of them."""
    return [payload]


def mesh_reduce(tag, data, reduce_fn):
    """reduce_fn over the data of all processes, as CPU values."""
    return reduce_fn([_to_cpu(data)])


def _to_cpu(data):
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.cpu(), data)


def save(data, file_or_path, master_only=True, global_master=False, sync=True):
    """torch.save of `data` with its tensors on the CPU."""
    torch.save(_to_cpu(data), file_or_path)


def send_cpu_data_to_device(datas, device, input_sharding=None):
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(device), datas)


def get_memory_info(device=None):
    raise NotImplementedError("xm.get_memory_info is not there yet")


def get_rng_state(device=None):
    """The seed of the device's random numbers."""
    return _XLAC._rng_state()[0]


def set_rng_state(seed, device=None):
    _XLAC._set_seed(int(seed) & (1 << 64) - 1)


def get_stablehlo(tensors=None):
    """StableHLO text of what computes these tensors (None: everything pending)."""
    return _XLAC._stablehlo(tensors)


def get_stablehlo_bytecode(tensors=None):
    """The same as a portable artifact."""
    return _XLAC._get_stablehlo_bytecode(tensors)


def _tensors_hlo(tensors, emit_mode=None):
    return _XLAC._hlo(list(tensors))
