# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of torch_xla._XLAC that programs and PyTorch/XLA's tests use, in terms of its own functions and of this package's."""
import enum
import functools
import hashlib
import os
import re

import torch



class EmitMode(enum.Enum):
    """Forms of a program that _get_xla_tensors_hlo() gives."""
    HLO_READABLE = 0
    HLO_PROTO = 1
    STABLEHLO_READABLE = 2
    STABLEHLO_BYTECODE = 3


def install(xlac):
    """Adds the names to the module."""
    from . import runtime as xr
    from .core import xla_model as xm
    from .debug import metrics as met
    sync_tensors, hlo_text = xlac._xla_sync_multi, xlac._hlo

    def name(function):
        setattr(xlac, function.__name__, function)
        return function

    xlac.EmitMode = EmitMode

    #===-- Devices -------------------------------------------------------------===

    @name
    def _xla_get_default_device():
        return str(xm.xla_device())

    @name
    def _xla_get_default_device_ordinal():
        return xlac._current_device()

    @name
    def _xla_set_default_device(device):
        before = str(xm.xla_device())
        xlac._set_current_device(xm._check_device(device))
        return before

    @name
    def _xla_runtime_is_initialized():
        return xlac._has_started() and xlac._memory_stats()[1] > 0  # something was put on the device

    @name
    def _xla_get_devices():
        return xm.xla_real_devices()

    @name
    def _xla_get_all_devices():
        return xm.xla_real_devices()  # those of all processes: one

    @name
    def _xla_num_devices():
        return xr.addressable_device_count()

    @name
    def _xla_num_runtime_devices():
        return xr.addressable_runtime_device_count()

    @name
    def _xla_real_devices(devices=None):
        return xm.xla_real_devices(devices)

    @name
    def _xla_device_kind(device=None):
        return xm.xla_device_kind(device or None)

    @name
    def _xla_get_replication_devices():
        return []

    @name
    def _xla_set_replication_devices(devices):
        for device in devices:
            if device not in xm.xla_real_devices():
                raise RuntimeError(f"expects devices of {xm.xla_real_devices()}, but got {device}")

    @name
    def _xla_memory_info(device=None):
        return dict(xm.get_memory_info(device or None))

    @name
    def _get_git_revs():
        from . import __version__
        return {"torch": torch.version.git_version, "xla": __version__}

    #===-- Barriers and transfers ----------------------------------------------===

    @name
    def _xla_step_marker(device="", devices=(), wait=False, reset_scope=True):
        xlac._count("MarkStep")
        xlac._sync(bool(wait))
        if reset_scope:
            xlac._reset_scopes()

    @name
    def _xla_sync_multi(tensors, devices=(), wait=False, sync_xla_data=True):
        tensors = list(tensors)
        sync_tensors(tensors, not sync_xla_data)  # automatic donation is a thing of step barriers
        if wait:
            for tensor in tensors:
                if not xlac._is_placeholder(tensor):  # its memory was given up
                    xlac._await_tensor(tensor)

    @name
    def _xla_wait_device_ops(devices=()):
        xlac._wait()

    @name
    def _xla_tensors_from_aten(tensors, devices, shardings=None):
        made = []
        for tensor, device, spec in zip(tensors, devices, shardings or [None] * len(tensors)):
            sharding = getattr(spec, "sharding", None)
            made.append(tensor.to(torch.device(device or "xla")) if sharding is None else
                        xlac._spmd_upload(tensor, str(sharding), sharding.mesh and sharding.mesh.plain(), bool(spec.minibatch)))
        return made

    @name
    def _xla_get_cpu_tensors(tensors):
        sync_tensors(list(tensors))
        return [tensor.cpu() for tensor in tensors]

    @name
    def _xla_get_rng_seed(device=""):
        return xm.get_rng_state()

    @name
    def _xla_set_rng_seed(seed, device=""):
        xm.set_rng_state(seed)

    @name
    def _on_ready_callback(tensor, callback):
        """callback() on another thread, when the tensor has been computed."""
        from .experimental.callback import call_when_ready
        if not callable(callback):
            raise TypeError(f"expects a function to call, but got a {type(callback).__name__}")
        call_when_ready(tensor, callback)

    #===-- Metrics -------------------------------------------------------------===

    xlac._xla_counter_names, xlac._xla_counter_value = met.counter_names, met.counter_value
    xlac._xla_metric_names, xlac._xla_metric_data = met.metric_names, met.metric_data
    xlac._xla_metrics_report, xlac._short_xla_metrics_report = met.metrics_report, met.short_metrics_report
    xlac._clear_xla_counters, xlac._clear_xla_metrics = met.clear_counters, met.clear_metrics
    xlac._get_executed_fallback_ops = met.executed_fallback_ops

    @name
    def _xla_user_computation(opname, inputs, computation):
        from .core import xla_builder
        return xla_builder.user_computation(opname, inputs, computation)

    #===-- Graphs --------------------------------------------------------------===

    @name
    def _get_stablehlo(tensors, device="", devices=(), emit_mode=EmitMode.STABLEHLO_READABLE):
        return _get_xla_tensors_hlo(list(tensors) if tensors else None, emit_mode)

    @name
    def _get_xla_tensors_hlo(tensors, emit_mode=EmitMode.HLO_READABLE):
        if emit_mode is EmitMode.STABLEHLO_READABLE:
            return xlac._get_xla_tensors_stablehlo(tensors)
        if emit_mode is EmitMode.STABLEHLO_BYTECODE:
            return xlac._get_stablehlo_bytecode(tensors)
        if emit_mode is EmitMode.HLO_PROTO:
            raise NotImplementedError("XLA's HLO protocol buffers are not written; its text is")
        from ._hlo_text import annotated
        if os.environ.get("XLA_DUMP_POST_OPTIMIZATIONS") == "1" and xr.is_spmd():
            # What each device runs, with its collectives.
            return annotated(xlac._program_hlo(xlac._spmd_partitioned(None if tensors is None else list(tensors))))
        return re.sub(r"\bArg_(\d+)\.\d+\b", lambda found: f"p{found[1]}.{int(found[1]) + 1}", annotated(hlo_text(list(tensors))))

    @name
    def _get_xla_tensor_debug_info(tensor):
        from ._bindings_graphs import shape_text
        if tensor.device.type != "xla":
            return "Not a XLATensor\n"
        is_spmd, text, shape = xr.is_spmd(), xlac._spmd_text(tensor), shape_text(tensor)
        device = "SPMD:0" if is_spmd else xm.xla_real_devices()[0]
        lines = [f"TensorID: {xlac._xla_get_tensor_id(tensor)}", f"AliasID: {xlac._xla_get_tensor_view_alias_id(tensor)}",
                 f"Device: {device}", f"XLA Shape: {shape}", f"ShardingSpec: {text or None}"]
        if operation := xlac._operation(tensor):
            lines += [f"IR: [] {operation}, xla_shape={shape}", "XLAData: None", "Tensor on host: None"]
        elif is_spmd and not text:
            # No device has it before a program or an annotation says which.
            lines += ["IR: None", "XLAData: None", f"Tensor on host: with size {list(tensor.shape)}"]
        elif is_spmd:
            lines += [f"IR: [] xla::device_data, xla_shape={shape}", "XLAShardedData:", "  Data Device: SPMD:0", f"  Data Shape: {shape}", f"  OpSharding: {text}",
                      f"  NumShards: {xr.global_runtime_device_count()}", "Tensor on host: None"]
        else:
            handle = "Deleted" if xlac._is_placeholder(tensor) else xlac._get_tensors_handle([tensor])[0]
            lines += ["IR: None", "XLAData:", f"  Data Device: {device}", f"  Data Shape: {shape}",
                      f"  Data Handle: {handle}", "Tensor on host: None"]
        return "XLATensor {\n" + "\n".join(lines) + "\n}\n"

    xlac._is_placecholder = xlac._is_placeholder  # how PyTorch/XLA spells it

    #===-- Shardings -----------------------------------------------------------===

    from .distributed.spmd.mesh import OpSharding, type_of
    from .distributed.spmd.xla_sharding import XlaShardingSpec
    xlac.OpSharding, xlac.XlaShardingSpec = OpSharding, XlaShardingSpec

    @name
    def _xla_mark_sharding(tensor, sharding):
        xlac._spmd_mark(tensor, str(sharding), sharding.mesh and sharding.mesh.plain())

    @name
    def _xla_annotate_custom_sharding(tensor, sharding):
        xlac._spmd_annotate(tensor, str(sharding), sharding.mesh and sharding.mesh.plain())

    @name
    def _xla_mark_sharding_dynamo_custom_op(input, tile_assignment, group_assignment, replication_groups, sharding_type):
        _xla_mark_sharding(input, OpSharding(tile_assignment, group_assignment, replication_groups, sharding_type))
        return input

    @name
    def _mark_manual_sharding(tensor, sharding):
        if not xlac._check_tensor_need_materialization([tensor])[0]:
            raise RuntimeError("expects a tensor that is still to be computed, but got one with data: what each device has of it is not known")
        xlac._spmd_mark(tensor, "{manual}", None)

    @name
    def _xla_clear_sharding(tensor):
        xlac._spmd_clear(tensor)

    @name
    def _get_xla_sharding_spec(tensor):
        return xlac._spmd_text(tensor)

    @name
    def _get_xla_sharding_specs(tensors):
        return [xlac._spmd_text(tensor) for tensor in tensors]

    @name
    def _get_xla_sharding_type(tensor):
        found = type_of(xlac._spmd_text(tensor))
        return None if found is None else int(found)

    @name
    def _get_xla_op_sharding(tensor):
        text = xlac._spmd_text(tensor)
        return OpSharding.of(None, text) if text else None

    @name
    def _get_local_shards(tensors):
        return [[(part, f"CPU:{device}") for part, *_, device in xlac._spmd_parts(tensor)] for tensor in tensors]

    @name
    def _get_local_shard_replica_and_indices(tensors):
        return [[(replica, [slice(start, start + size, 1) for start, size in zip(begin, sizes)])
                 for _, begin, sizes, replica, _ in xlac._spmd_parts(tensor)] for tensor in tensors]

    @name
    def _global_tensor_from_cpu_shards(shards, sharding, global_shape=None):
        tiles = sharding.tiles(shards[0].dim())
        if global_shape is None:
            global_shape = [size * count for size, count in zip(shards[0].shape, tiles)]
        return xlac._spmd_from_parts(list(shards), str(sharding), list(global_shape), sharding.mesh and sharding.mesh.plain())

    @name
    def _load_local_shards(tensor, shards, devices=None):
        shape, mesh = tensor.shape, xlac._spmd_mesh(tensor)[1]
        xlac._spmd_replace(tensor, xlac._spmd_from_parts(list(shards), xlac._spmd_text(tensor), list(shape), mesh))

    @name
    def _spmd_full_to_shard_shape(tensor):
        return xlac._spmd_full_to_shard(tensor)

    @name
    def _spmd_shard_to_full_shape(tensor, sharding, shape, dtype=None):
        return xlac._spmd_shard_to_full(tensor, str(sharding), list(shape))

    @name
    def _xla_spmd_all_reduce(reduce_type, input, scale, groups):
        return xm.all_reduce(reduce_type, input, scale, groups)

    @name
    def _xla_spmd_reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups):
        return xm.reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups)

    @name
    def _xla_get_auto_sharding():
        return xr._auto_sharding[0]

    #===-- The end of a process ------------------------------------------------===

    from . import _preemption
    xlac._activate_preemption_sync_manager, xlac._deactivate_preemption_sync_manager = _preemption.activate, _preemption.deactivate
    xlac._sync_point_reached = _preemption.reached

    @name
    def _ensure_xla_coordinator_initialized(global_rank, world_size, master_addr, master_port=None):
        """Nothing to do: processes agree through torch.distributed."""

    #===-- Donation ------------------------------------------------------------===

    plain_hash, run_graph, hashes = xlac._get_graph_hash, xlac._run_cached_graph, {}

    @name
    def _get_graph_hash(tensors):
        made = plain_hash(tensors)
        if xlac._xla_get_auto_sharding():  # what is split where decides over the program, too
            plain, made = made, hashlib.blake2b(made + os.environ.get("XLA_AUTO_SPMD_MESH", "").encode(), digest_size=16).digest()
            hashes[made] = plain
        if xlac._get_donates_given_up():
            marked = [xlac._get_buffer_donation(leaf) for leaf in xlac._get_tensors_xla_device_data_node(tensors)[1]]
            if any(marked):  # the same program; the caller gives up its inputs
                plain, made = made, hashlib.blake2b(made + bytes(marked), digest_size=16).digest()
                hashes[made] = hashes.get(plain, plain)
        return made

    @name
    def _run_cached_graph(graph_hash, inputs):
        return run_graph(hashes.get(graph_hash, graph_hash), inputs)

    @name
    def _xla_set_enable_alias_with_buffer_donor_config(should_alias):
        xlac._set_donates_given_up(bool(should_alias))

    @name
    def _xla_get_enable_alias_with_buffer_donor_config():
        return xlac._get_donates_given_up()

    from . import _bindings_graphs, _bindings_lowering
    _bindings_graphs.install(xlac)
    _bindings_lowering.install(xlac)

    @functools.cache
    def more():
        from . import _bindings_operations
        _bindings_operations.install(xlac)

    @name
    def __getattr__(wanted):
        if not wanted.startswith("__"):
            more()
            if wanted in vars(xlac):
                return vars(xlac)[wanted]
        raise AttributeError(f"module 'torch_xla._XLAC' has no attribute {wanted!r}")
