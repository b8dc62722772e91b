# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More names of torch_xla._XLAC that programs and PyTorch/XLA's tests use: the runtime, graphs that are run by their hash, tokens."""
import os
from typing import Any

import torch
from . import _devices, _load
from . import runtime as xr
from ._bindings_table import Table

_XLAC = _load.sys.modules["torch_xla._XLAC"]
bound = Table()


_TYPES = {"bool": "pred", "uint8": "u8", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64", "uint16": "u16", "uint32": "u32",
          "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64",
          "complex128": "c128"}
_names = {"graph": "", "prefixes": {}}
_replaced: dict[str, Any] = {}  # the compiled module's own functions of the names that the table takes
_tokens: dict[str, Any] = {}


class Token:
    """The order of the collectives of a device. Programs of one process keep theirs anyway."""

    def __init__(self, device):
        self.device = device


def shape_text(tensor):
    """Returns the type of a tensor as XLA writes it: f32[16,4]{1,0}."""
    name = str(tensor.dtype).removeprefix("torch.")
    layout = ",".join(map(str, reversed(range(tensor.dim()))))
    return f"{_TYPES.get(name, name)}[{','.join(map(str, tensor.shape))}]" + (f"{{{layout}}}" if layout else "")


#===-- The runtime -------------------------------------------------------------===


@bound
def _init_computation_client():
    _XLAC._runtime_device_count()


@bound
def _prepare_to_exit():
    _XLAC._wait()


@bound
def _xla_get_spmd_config_is_locked():
    """Returns whether tensors exist that use_spmd() would have to move, if they were not on the host anyway."""
    return _XLAC._xla_runtime_is_initialized()


@bound
def _xla_get_process_index():
    return xr.process_index()


@bound
def _xla_get_num_processes():
    return xr.process_count()


@bound
def _xla_get_runtime_devices():
    return [known["name"] for known in xr.global_runtime_device_attributes()]


@bound
def _xla_num_global_devices():
    return xr.global_runtime_device_count()


@bound
def _xla_get_replication_devices_count():
    return len(_XLAC._xla_get_replication_devices())


@bound
def _xla_get_device_ordinal(device=""):
    return _devices.index_of(device or None)


@bound
def _xla_get_device_attributes(device=""):
    return xr.runtime_device_attributes(str(torch.device(device or "xla")))


@bound
def _xla_get_all_device_attributes():
    return xr.global_runtime_device_attributes()


#===-- Graphs ------------------------------------------------------------------===


@bound
def _warm_up_cache(tensors, devices=()):
    return _XLAC._xla_warm_up_cache(list(tensors), list(devices))


@bound
def _get_tensor_ids(tensors):
    return [_XLAC._xla_get_tensor_id(tensor) for tensor in tensors]


@bound
def _get_tensors_xla_device_data_node(tensors, inputs=()):
    """Returns (ids, tensors): the inputs of the graph of these tensors; those of `inputs` that are among them, and not new tensors for them."""
    ids, leaves = _replaced["_get_tensors_xla_device_data_node"](tensors)
    given = {_XLAC._unique_id_for_ir_and_data(tensor): tensor for tensor in inputs or () if tensor.device.type == "xla"}
    for index, leaf in enumerate(leaves if given else ()):
        same = given.get(_XLAC._unique_id_for_ir_and_data(leaf))
        if same is not None:
            ids[index], leaves[index] = _XLAC._xla_get_tensor_id(same), same
    return ids, leaves


@bound
def _xla_sync_live_tensors(device="", devices=(), wait=True):
    _XLAC._sync(bool(wait))


@bound
def _set_current_graph_name(graph_name):
    _names["graph"] = str(graph_name)


@bound
def _get_current_graph_name():
    return _names["graph"]


@bound
def _set_ir_debug(enabled):
    os.environ["XLA_IR_DEBUG"] = os.environ["XLA_HLO_DEBUG"] = "1" if enabled else "0"
    _XLAC._count_libraries(bool(enabled))


@bound
def _get_ir_debug():
    return os.environ.get("XLA_IR_DEBUG", "").upper() in ("1", "ON", "YES", "TRUE", "Y")


@bound
def _xla_get_tensor_dimension_size(tensor, dim):
    if tensor.device.type != "xla":
        raise RuntimeError("expects a tensor of the xla device")
    return torch.tensor(tensor.size(dim), dtype=torch.int32).to(tensor.device)


@bound
def _xla_mark_dynamic(tensor, dim):
    raise NotImplementedError("a recorded graph has static shapes; torch.export with dynamic_shapes and exported_program_to_stablehlo "
                              "make a program of dynamic shapes")


@bound
def _partial_xla_sync(tensors, devices=(), wait=False):
    _XLAC._xla_sync_multi(list(tensors), list(devices), wait)


@bound
def _get_all_reduce_token(device=""):
    key = str(torch.device(device or "xla:0"))
    return _tokens.setdefault(key, Token(key))


@bound
def _set_all_reduce_token(device, token):
    _tokens[str(torch.device(device or "xla:0"))] = token


def install(xlac):
    """Adds the names to the compiled module; after those of _bindings."""
    _replaced["_get_tensors_xla_device_data_node"] = xlac._get_tensors_xla_device_data_node
    bound.install(xlac)
