# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla._XLAC.lowering and .profiler, and names of _XLAC about numbers, placeholders, programs given as text, and collectives."""
import json
import types

import torch
from . import _load
from . import runtime as xr
from ._bindings_table import Table
from ._hlo_text import annotated
from .core import _collectives as collectives
from .core import xla_model as xm

_XLAC = _load.sys.modules["torch_xla._XLAC"]
bound = Table()


class LoweringContext:
    """The program that computes some tensors, and which tensors its parameters are."""

    def __init__(self, name="PyLoweringContext"):
        self._name, self._tensors, self._leaves, self._module = str(name), None, (), None

    def set_name_string(self, name):
        self._name = str(name)

    def get_name_string(self):
        return self._name

    GetNameString = get_name_string

    def build(self, tensors):
        """Makes the program of `tensors`, none of which is computed."""
        self._tensors = list(tensors)
        self._leaves = _XLAC._get_tensors_xla_device_data_node(self._tensors)[1]
        text = annotated(_XLAC._hlo(self._tensors))
        self._module = _XLAC._hlo_module(text, self._name)

    def buildforiloop(self, tensors, additional_inputs_list=()):
        """build(): programs of loops are made by fori_loop and while_loop themselves."""
        self.build(tensors)

    def _built(self):
        if self._module is None:
            raise RuntimeError("expects LoweringContext.build() to be called before")
        return self._module

    def hlo(self):
        """HloModuleProto, serialized."""
        return self._built()

    def hlo_text(self):
        """HloModuleProto in the text format of protocol buffers."""
        return _XLAC._hlo_module_text(self._built())

    def hlo_json(self):
        """HloModuleProto as JSON, with the places of its instructions."""
        made = json.loads(_XLAC._hlo_module_json(self._built()))
        made["stackFrameIndex"] = {"fileNames": [], "functionNames": [], "fileLocations": [], "stackFrames": []}
        return json.dumps(made)

    def parameter_id_tensor_mapping(self):
        """Returns {number of a parameter: its value, on the CPU}"""
        self._built()
        return {index: leaf.cpu() for index, leaf in enumerate(self._leaves)}

    def device_parameter_id_tensor_mapping(self):
        """Returns {number of a parameter: its tensor, on the device}"""
        self._built()
        return dict(enumerate(self._leaves))

    def tensor_parameter_id(self, tensor):
        """Returns the number of the parameter that a tensor is, or -1."""
        self._built()
        wanted = _XLAC._unique_id_for_ir_and_data(tensor)
        return next((i for i, leaf in enumerate(self._leaves) if _XLAC._unique_id_for_ir_and_data(leaf) == wanted), -1)


class ScopePusher:
    """Names what is recorded while it lives."""

    def __init__(self, name):
        self._active = True
        _XLAC._push_scope(name)

    def __del__(self):
        if self.__dict__.pop("_active", False):
            _XLAC._pop_scope()


class TraceMe(torch.profiler.record_function):
    """A named region of the host's program."""

    def __init__(self, name, **kwargs):
        self._details = ", ".join(f"{key}={value}" for key, value in kwargs.items())
        super().__init__(name, self._details or None)

    def __enter__(self):
        _XLAC._profile_begin_region(self.name, self._details)
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        left = super().__exit__(kind, value, trace)
        _XLAC._profile_end_region()
        return left

    @staticmethod
    def is_enabled():
        return torch.autograd._profiler_enabled() or _XLAC._profile_is_on()


def _start_server(port):
    from .debug import profiler as xp
    return xp.start_server(port, only_on_master=False)


def _trace(*args, **kwargs):
    from .debug import profiler as xp
    xp.trace(*args, **kwargs)


#===-- Numbers -----------------------------------------------------------------===


@bound
def _set_xla_all_numbers_special_scalars(all_numbers_special_scalars):
    _XLAC._set_numbers(bool(all_numbers_special_scalars), _XLAC._get_numbers()[1])


@bound
def _get_xla_all_numbers_special_scalars():
    return _XLAC._get_numbers()[0]


@bound
def _set_xla_handle_special_scalars(handle_special_scalars):
    _XLAC._set_numbers(_XLAC._get_numbers()[0], bool(handle_special_scalars))


@bound
def _get_xla_handle_special_scalars():
    return _XLAC._get_numbers()[1]


#===-- Tensors -----------------------------------------------------------------===


@bound
def _get_tensors_handle(tensors):
    made = []
    for tensor in tensors:
        if _XLAC._check_tensor_need_materialization([tensor])[0]:
            raise RuntimeError("expects tensors with data, but got a pending one")
        if _XLAC._is_placeholder(tensor) and _XLAC._get_buffer_donation(tensor):
            raise RuntimeError("expects tensors with data, but got one whose buffer was donated and is deleted")
        node, index = map(int, _XLAC._unique_id_for_ir_and_data(tensor).split(", "))
        made.append(node + index)  # node numbers leave room for the indices of results
    return made


@bound
def _xla_get_device_hw_type(tensor):
    return xm.xla_device_hw(tensor.device)


@bound
def _to_dlpack(tensor):
    from .utils import dlpack
    return dlpack.to_dlpack(tensor)


@bound
def _from_dlpack(capsule):
    from .utils import dlpack
    return dlpack.from_dlpack(capsule)


@bound
def _has_cuda_support():
    return False


#===-- Devices -----------------------------------------------------------------===


@bound
def _xla_get_all_runtime_devices():
    return [known["name"] for known in xr.global_runtime_device_attributes()]


@bound
def _xla_computation_cache_is_initialized():
    return _XLAC._xla_get_num_cached_compilation_graph() > 0


@bound
def _xla_force_spmd_device():
    xr.use_spmd()


@bound
def _xla_set_auto_sharding():
    xr.use_spmd(auto=True)


#===-- Programs ----------------------------------------------------------------===


@bound
def _run_stablehlo(bytecode, graph_inputs):
    text = bytecode if isinstance(bytecode, str) else _XLAC._artifact_text(bytes(bytecode))
    return _XLAC._run_program(_XLAC._program(text), list(graph_inputs))


#===-- Collectives -------------------------------------------------------------===


@bound
def _xla_all_reduce(reduce_type, input, scale, groups, pin_layout=True):
    return collectives.all_reduce(reduce_type, input, scale, groups or None, pin_layout)


@bound
def _xla_all_reduce_inplace(reduce_type, tensors, scale, groups, pin_layout=True):
    collectives.all_reduce(reduce_type, list(tensors), scale, groups or None, pin_layout)


@bound
def _xla_all_gather(input, dim, shard_count, groups, pin_layout=True):
    return collectives.all_gather(input, dim, groups or None, pin_layout=pin_layout)


@bound
def _xla_all_to_all(input, token, split_dimension, concat_dimension, split_count, groups, pin_layout=True):
    return collectives.all_to_all(input, split_dimension, concat_dimension, split_count, groups or None, pin_layout), token


@bound
def _xla_collective_permute(input, token, pairs):
    return collectives.collective_permute(input, pairs), token


@bound
def _xla_reduce_scatter(reduce_type, input, token, scale, scatter_dim, shard_count, groups, pin_layout=True):
    return collectives.reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups or None, pin_layout=pin_layout), token


def install(xlac):
    """Adds the names to the compiled module; after those of _bindings and _bindings_graphs."""
    bound.install(xlac)
    xlac.lowering = types.SimpleNamespace(LoweringContext=LoweringContext)
    xlac.profiler = types.SimpleNamespace(scope_pusher=ScopePusher, ScopePusher=ScopePusher, TraceMe=TraceMe, start_server=_start_server,
                                          trace=_trace)
    for verb in ("set", "get"):
        setattr(xlac, f"_xla_{verb}_should_alias_with_buffer_donor_config", getattr(xlac, f"_xla_{verb}_enable_alias_with_buffer_donor_config"))
        # These are former names of the limit of graphs per function.
        for former in ("num_different_graphs_allowed", "allowed_traces"):
            setattr(xlac, f"_dynamic_shape_detector_{verb}_max_{former}", getattr(xlac, f"_dynamic_shape_detector_{verb}_max_different_graphs"))
