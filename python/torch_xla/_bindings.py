# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of torch_xla._XLAC that programs and PyTorch/XLA's tests use, in terms of its own functions and of this package's."""
import enum
import weakref

import torch

state = {"donor_config": False}
_donations = {}  # id of a marked tensor's memory -> (a weak reference to the tensor, the mark)


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
        return 0

    @name
    def _xla_set_default_device(device):
        xm._check_device(device)
        return str(xm.xla_device())

    @name
    def _xla_get_devices():
        return xm.xla_real_devices()

    @name
    def _xla_get_all_devices():
        return [known["name"] for known in xr.global_runtime_device_attributes()]

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
        xlac._sync(bool(wait))

    @name
    def _xla_sync_multi(tensors, devices=(), wait=False, sync_xla_data=True):
        tensors = list(tensors)
        sync_tensors(tensors)
        if wait:
            for tensor in tensors:
                xlac._await_tensor(tensor)

    @name
    def _xla_wait_device_ops(devices=()):
        xlac._wait()

    @name
    def _xla_tensors_from_aten(tensors, devices, shardings=None):
        if shardings and any(sharding is not None for sharding in shardings):
            raise NotImplementedError("shardings: SPMD is not there yet")
        return [tensor.to(torch.device(device or "xla")) for tensor, device in zip(tensors, devices)]

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

    #===-- Metrics -------------------------------------------------------------===

    xlac._xla_counter_names, xlac._xla_counter_value = met.counter_names, met.counter_value
    xlac._xla_metric_names, xlac._xla_metric_data = met.metric_names, met.metric_data
    xlac._xla_metrics_report, xlac._short_xla_metrics_report = met.metrics_report, met.short_metrics_report
    xlac._clear_xla_counters, xlac._clear_xla_metrics = met.clear_counters, met.clear_metrics
    xlac._get_executed_fallback_ops = met.executed_fallback_ops

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
        return hlo_text(list(tensors))

    @name
    def _get_xla_tensor_debug_info(tensor):
        lines = [f"Tensor ID: {xlac._xla_get_tensor_id(tensor)}", f"Alias ID: {xlac._xla_get_tensor_view_alias_id(tensor)}",
                 f"Device: {xm.xla_real_devices()[0]}", f"XLA Shape: {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}",
                 "IR: " + ("pending" if xlac._check_tensor_need_materialization([tensor])[0] else "none, the tensor has data")]
        return "XLATensor {\n" + "\n".join(lines) + "\n}"

    #===-- Donation ------------------------------------------------------------===

    @name
    def _set_buffer_donation(tensor, should_donate):
        if not xm.is_xla_tensor(tensor) or xlac._check_tensor_need_materialization([tensor])[0]:
            return False
        place = xlac._xla_get_tensor_view_alias_id(tensor)
        _donations[place] = weakref.ref(tensor, lambda _: _donations.pop(place, None)), bool(should_donate)
        return True

    @name
    def _get_buffer_donation(tensor):
        return _donations.get(xlac._xla_get_tensor_view_alias_id(tensor), (None, False))[1]

    @name
    def _xla_set_enable_alias_with_buffer_donor_config(should_alias):
        state["donor_config"] = bool(should_alias)

    @name
    def _xla_get_enable_alias_with_buffer_donor_config():
        return state["donor_config"]

