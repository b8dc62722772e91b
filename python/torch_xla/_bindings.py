# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of torch_xla._XLAC that programs and PyTorch/XLA's tests use, in terms of its own functions and of this package's."""
import enum
import functools
import hashlib
import os
import re
from typing import Any

import torch

from . import _bindings_graphs, _bindings_lowering, _devices, _load, _preemption, _versions
from . import runtime as xr
from ._bindings_table import Table
from ._hlo_text import annotated
from .core import xla_model as xm
from .debug import metrics as met
from .distributed.spmd._input_sharding import XlaShardingSpec
from .distributed.spmd.mesh import OpSharding, type_of

_XLAC = _load.sys.modules["torch_xla._XLAC"]
bound = Table()
_replaced: dict[str, Any] = {}  # the compiled module's own functions of the names that the table takes
_hashes: dict[bytes, bytes] = {}  # from hashes that also contain donations or shardings to the hashes of the programs alone


class EmitMode(enum.Enum):
    """Forms of a program that _get_xla_tensors_hlo() gives."""
    HLO_READABLE = 0
    HLO_PROTO = 1
    STABLEHLO_READABLE = 2
    STABLEHLO_BYTECODE = 3


#===-- Devices -----------------------------------------------------------------===


@bound
def _xla_get_default_device():
    return str(xm.xla_device())


@bound
def _xla_get_default_device_ordinal():
    return _XLAC._current_device()


@bound
def _xla_set_default_device(device):
    before = str(xm.xla_device())
    _XLAC._set_current_device(_devices.index_of(device))
    return before


@bound
def _xla_runtime_is_initialized():
    return _XLAC._has_started() and _XLAC._memory_stats()[1] > 0  # memory of the device was allocated


@bound
def _xla_get_devices():
    return xm.xla_real_devices()


@bound
def _xla_get_all_devices():
    return xm.xla_real_devices()  # those of all processes: one


@bound
def _xla_num_devices():
    return xr.addressable_device_count()


@bound
def _xla_num_runtime_devices():
    return xr.addressable_runtime_device_count()


@bound
def _xla_real_devices(devices=None):
    return xm.xla_real_devices(devices)


@bound
def _xla_device_kind(device=None):
    return xm.xla_device_kind(device or None)


@bound
def _xla_get_replication_devices():
    return []


@bound
def _xla_set_replication_devices(devices):
    for device in devices:
        if device not in xm.xla_real_devices():
            raise RuntimeError(f"expects devices of {xm.xla_real_devices()}, but got {device}")


@bound
def _xla_memory_info(device=None):
    return dict(xm.get_memory_info(device or None))


@bound
def _get_git_revs():
    return {"torch": torch.version.git_version, "xla": _versions.version_for(torch.__version__)}


#===-- Barriers and transfers --------------------------------------------------===


@bound
def _xla_step_marker(device="", devices=(), wait=False, reset_scope=True):
    _XLAC._count("MarkStep")
    _XLAC._sync(bool(wait))
    if reset_scope:
        _XLAC._reset_scopes()


@bound
def _xla_sync_multi(tensors, devices=(), wait=False, sync_xla_data=True):
    tensors = list(tensors)
    _replaced["_xla_sync_multi"](tensors, not sync_xla_data)  # only step barriers donate automatically
    if wait:
        for tensor in tensors:
            if not _XLAC._is_placeholder(tensor):  # its memory was donated
                _XLAC._await_tensor(tensor)


@bound
def _xla_wait_device_ops(devices=()):
    _XLAC._wait()


@bound
def _xla_tensors_from_aten(tensors, devices, shardings=None):
    made = []
    for tensor, device, spec in zip(tensors, devices, shardings or [None] * len(tensors)):
        sharding = getattr(spec, "sharding", None)
        made.append(tensor.to(torch.device(device or "xla")) if sharding is None else
                    _XLAC._spmd_upload(tensor, str(sharding), sharding.mesh and sharding.mesh.plain(), bool(spec.minibatch)))
    return made


@bound
def _xla_get_cpu_tensors(tensors):
    _replaced["_xla_sync_multi"](list(tensors))
    return [tensor.cpu() for tensor in tensors]


@bound
def _xla_get_rng_seed(device=""):
    return xm.get_rng_state()


@bound
def _xla_set_rng_seed(seed, device=""):
    xm.set_rng_state(seed)


@bound
def _on_ready_callback(tensor, callback):
    """callback() on another thread, when the tensor has been computed."""
    from .experimental.callback import call_when_ready
    if not callable(callback):
        raise TypeError(f"expects a function to call, but got a {type(callback).__name__}")
    call_when_ready(tensor, callback)


#===-- Metrics -----------------------------------------------------------------===


@bound
def _xla_user_computation(opname, inputs, computation):
    from .core import xla_builder
    return xla_builder.user_computation(opname, inputs, computation)


#===-- Graphs ------------------------------------------------------------------===


@bound
def _get_stablehlo(tensors, device="", devices=(), emit_mode=EmitMode.STABLEHLO_READABLE):
    return _get_xla_tensors_hlo(list(tensors) if tensors else None, emit_mode)


@bound
def _get_xla_tensors_hlo(tensors, emit_mode=EmitMode.HLO_READABLE):
    if emit_mode is EmitMode.STABLEHLO_READABLE:
        return _XLAC._get_xla_tensors_stablehlo(tensors)
    if emit_mode is EmitMode.STABLEHLO_BYTECODE:
        return _XLAC._get_stablehlo_bytecode(tensors)
    if emit_mode is EmitMode.HLO_PROTO:
        raise NotImplementedError("XLA's HLO protocol buffers are not written; its text is")
    if os.environ.get("XLA_DUMP_POST_OPTIMIZATIONS") == "1" and xr.is_spmd():
        # The text is that of the program that each device runs, with its collectives.
        return annotated(_XLAC._program_hlo(_XLAC._spmd_partitioned(None if tensors is None else list(tensors))))
    return re.sub(r"\bArg_(\d+)\.\d+\b", lambda found: f"p{found[1]}.{int(found[1]) + 1}", annotated(_XLAC._hlo(list(tensors))))


@bound
def _get_xla_tensor_debug_info(tensor):
    if tensor.device.type != "xla":
        return "Not a XLATensor\n"
    is_spmd, text, shape = xr.is_spmd(), _XLAC._spmd_text(tensor), _bindings_graphs.shape_text(tensor)
    device = "SPMD:0" if is_spmd else xm.xla_real_devices()[0]
    lines = [f"TensorID: {_XLAC._xla_get_tensor_id(tensor)}", f"AliasID: {_XLAC._xla_get_tensor_view_alias_id(tensor)}",
             f"Device: {device}", f"XLA Shape: {shape}", f"ShardingSpec: {text or None}"]
    if operation := _XLAC._operation(tensor):
        lines += [f"IR: [] {operation}, xla_shape={shape}", "XLAData: None", "Tensor on host: None"]
    elif is_spmd and not text:
        # A pending tensor is on no device before a program or an annotation determines it.
        lines += ["IR: None", "XLAData: None", f"Tensor on host: with size {list(tensor.shape)}"]
    elif is_spmd:
        lines += [f"IR: [] xla::device_data, xla_shape={shape}", "XLAShardedData:", "  Data Device: SPMD:0", f"  Data Shape: {shape}", f"  OpSharding: {text}",
                  f"  NumShards: {xr.global_runtime_device_count()}", "Tensor on host: None"]
    else:
        handle = "Deleted" if _XLAC._is_placeholder(tensor) else _XLAC._get_tensors_handle([tensor])[0]
        lines += ["IR: None", "XLAData:", f"  Data Device: {device}", f"  Data Shape: {shape}",
                  f"  Data Handle: {handle}", "Tensor on host: None"]
    return "XLATensor {\n" + "\n".join(lines) + "\n}\n"


#===-- Shardings ---------------------------------------------------------------===


@bound
def _xla_mark_sharding(tensor, sharding):
    _XLAC._count("XlaMarkSharding")
    _XLAC._spmd_mark(tensor, str(sharding), sharding.mesh and sharding.mesh.plain())


@bound
def _xla_annotate_custom_sharding(tensor, sharding):
    _XLAC._count("XlaAnnotateCustomSharding")
    _XLAC._spmd_annotate(tensor, str(sharding), sharding.mesh and sharding.mesh.plain())


@bound
def _xla_mark_sharding_dynamo_custom_op(input, tile_assignment, group_assignment, replication_groups, sharding_type):
    _xla_mark_sharding(input, OpSharding(tile_assignment, group_assignment, replication_groups, sharding_type))
    return input


@bound
def _mark_manual_sharding(tensor, sharding):
    if not _XLAC._check_tensor_need_materialization([tensor])[0]:
        raise RuntimeError("expects a pending tensor, but got one with data, whose shards on the devices are not known")
    _XLAC._spmd_mark(tensor, "{manual}", None)


@bound
def _xla_clear_sharding(tensor):
    _XLAC._spmd_clear(tensor)


@bound
def _get_xla_sharding_spec(tensor):
    return _XLAC._spmd_text(tensor)


@bound
def _get_xla_sharding_specs(tensors):
    return [_XLAC._spmd_text(tensor) for tensor in tensors]


@bound
def _get_xla_sharding_type(tensor):
    found = type_of(_XLAC._spmd_text(tensor))
    return None if found is None else int(found)


@bound
def _get_xla_op_sharding(tensor):
    text = _XLAC._spmd_text(tensor)
    return OpSharding.of(None, text) if text else None


@bound
def _get_local_shards(tensors):
    return [[(part, f"CPU:{device}") for part, *_, device in _XLAC._spmd_shards(tensor)] for tensor in tensors]


@bound
def _get_local_shard_replica_and_indices(tensors):
    return [[(replica, [slice(start, start + size, 1) for start, size in zip(begin, sizes)])
             for _, begin, sizes, replica, _ in _XLAC._spmd_shards(tensor)] for tensor in tensors]


@bound
def _global_tensor_from_cpu_shards(shards, sharding, global_shape=None):
    tiles = sharding.tiles(shards[0].dim())
    if global_shape is None:
        global_shape = [size * count for size, count in zip(shards[0].shape, tiles)]
    return _XLAC._spmd_from_shards(list(shards), str(sharding), list(global_shape), sharding.mesh and sharding.mesh.plain())


@bound
def _load_local_shards(tensor, shards, devices=None):
    shape, mesh = tensor.shape, _XLAC._spmd_mesh(tensor)[1]
    _XLAC._spmd_replace(tensor, _XLAC._spmd_from_shards(list(shards), _XLAC._spmd_text(tensor), list(shape), mesh))


@bound
def _spmd_full_to_shard_shape(tensor):
    return _XLAC._spmd_full_to_shard(tensor)


@bound
def _spmd_shard_to_full_shape(tensor, sharding, shape, dtype=None):
    return _XLAC._spmd_shard_to_full(tensor, str(sharding), list(shape))


@bound
def _xla_spmd_all_reduce(reduce_type, input, scale, groups):
    return xm.all_reduce(reduce_type, input, scale, groups)


@bound
def _xla_spmd_reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups):
    return xm.reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups)


@bound
def _xla_get_auto_sharding():
    return xr._auto_sharding[0]


#===-- The end of a process ----------------------------------------------------===


@bound
def _ensure_xla_coordinator_initialized(global_rank, world_size, master_addr, master_port=None):
    """Nothing to do: processes agree through torch.distributed."""


#===-- Donation ----------------------------------------------------------------===


@bound
def _get_graph_hash(tensors):
    made = _replaced["_get_graph_hash"](tensors)
    if _XLAC._xla_get_auto_sharding():  # with automatic sharding the program depends on the shardings, too
        settings = "\n".join((os.environ.get("XLA_AUTO_SPMD_MESH", ""), os.environ.get("XLA_AUTO_SPMD_MACHINE", ""), os.environ.get("XLA_AUTO_SPMD_MEMORY", "")))
        plain, made = made, hashlib.blake2b(made + settings.encode(), digest_size=16).digest()
        _hashes[made] = plain
    if _XLAC._get_donates_given_up():
        marked = [_XLAC._get_buffer_donation(leaf) for leaf in _XLAC._get_tensors_xla_device_data_node(tensors)[1]]
        if any(marked):  # the program is the same, but the caller donates its inputs
            plain, made = made, hashlib.blake2b(made + bytes(marked), digest_size=16).digest()
            _hashes[made] = _hashes.get(plain, plain)
    return made


@bound
def _run_cached_graph(graph_hash, inputs):
    return _replaced["_run_cached_graph"](_hashes.get(graph_hash, graph_hash), inputs)


@bound
def _xla_set_enable_alias_with_buffer_donor_config(should_alias):
    _XLAC._set_donates_given_up(bool(should_alias))


@bound
def _xla_get_enable_alias_with_buffer_donor_config():
    return _XLAC._get_donates_given_up()


#===-- Installation ------------------------------------------------------------===


@functools.cache
def _install_rare_names():
    from . import _bindings_operations
    _bindings_operations.install(_XLAC)


def _rare_name(wanted):
    """Installs the names that few programs use when one of them is read, as the compiled module's __getattr__()."""
    if not wanted.startswith("__"):
        _install_rare_names()
        if wanted in vars(_XLAC):
            return vars(_XLAC)[wanted]
    raise AttributeError(f"module 'torch_xla._XLAC' has no attribute {wanted!r}")


def install(xlac):
    """Adds the names to the compiled module."""
    for name in ("_xla_sync_multi", "_get_graph_hash", "_run_cached_graph"):
        _replaced[name] = getattr(xlac, name)
    bound.install(xlac)
    for name in ("counter_names", "counter_value", "metric_names", "metric_data", "metrics_report"):
        setattr(xlac, f"_xla_{name}", getattr(met, name))
    xlac._short_xla_metrics_report, xlac._get_executed_fallback_ops = met.short_metrics_report, met.executed_fallback_ops
    xlac._clear_xla_counters, xlac._clear_xla_metrics = met.clear_counters, met.clear_metrics
    xlac.EmitMode, xlac.OpSharding, xlac.XlaShardingSpec = EmitMode, OpSharding, XlaShardingSpec
    xlac._is_placecholder = xlac._is_placeholder  # the spelling of PyTorch/XLA
    xlac._activate_preemption_sync_manager, xlac._deactivate_preemption_sync_manager = _preemption.activate, _preemption.deactivate
    xlac._sync_point_reached = _preemption.reached
    _bindings_graphs.install(xlac)
    _bindings_lowering.install(xlac)
    xlac.__getattr__ = _rare_name
