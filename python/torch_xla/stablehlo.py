# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of torch.export as StableHLO: torch_xla.stablehlo.

A bundle is a folder: functions/NAME.mlir (text), functions/NAME.bytecode (portable artifact), functions/NAME.meta (JSON: which
weight or input is which parameter, their types), data/WEIGHT and constants/NUMBER (NumPy arrays)."""
import dataclasses
import enum
import functools
import io
import json
import operator
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from . import _load
from ._export import trace

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class VariableType(enum.Enum):
    """The kinds of a program's parameters."""
    INPUT_ARG = "input_arg"
    PARAMETER = "parameter"
    CONSTANT = "constant"


@dataclasses.dataclass
class VariableSignature:
    """The type of a parameter or a result; the sizes of `dynamic_dims` are None in `shape`."""
    shape: list
    dtype: str
    dynamic_dims: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class InputLocation:
    """Where the value of a parameter comes from: a weight, by name, or an input or a constant, by position."""
    type_: VariableType
    position: int = -1
    name: str = ""

    @classmethod
    def parameter(cls, name: str) -> "InputLocation":
        """Returns the location of a weight."""
        return cls(VariableType.PARAMETER, -1, name)

    @classmethod
    def input_arg(cls, position: int) -> "InputLocation":
        """Returns the location of an input."""
        return cls(VariableType.INPUT_ARG, position)

    @classmethod
    def constant(cls, position: int) -> "InputLocation":
        """Returns the location of a constant."""
        return cls(VariableType.CONSTANT, position)


@dataclasses.dataclass
class StableHLOFunctionMeta:
    """What is known of a function beside its code: its parameters and results, and the structure of its inputs and outputs.

    `open_sizes` has for each size that a call chooses the places where it is read: [input, dimension, factor, offset], where the dimension is
    factor * size + offset."""
    name: str
    stablehlo_version: str
    input_signature: list
    output_signature: list
    input_locations: list
    unused_inputs: list
    input_pytree_spec: str | None = None
    output_pytree_spec: str | None = None
    open_sizes: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class StableHLOFunc:
    """A function, as a portable artifact and as text."""
    meta: StableHLOFunctionMeta
    bytecode: bytes
    text: str


@dataclasses.dataclass
class StableHLOModelBundle:
    """Functions with their weights by name (NumPy arrays) and their constants by position."""
    state_dict: dict
    additional_constants: list
    stablehlo_funcs: list


@dataclasses.dataclass
class StableHLOExportOptions:
    """How a program is exported.

    Attributes:
      include_human_readable_text: Whether .mlir is written beside .bytecode.
      override_tracing_arguments: Arguments whose sizes are traced instead of those of the exported program.
      override_tracing_kwargs: The same for keyword arguments.
      save_weights: Whether data/ is written.
      inline_all_constant: Has no effect.
      export_node_metadata: Whether locations contain what PyTorch knows of each operation's origin.
      custom_ops_allowed_in_graph: Namespaces whose operators become custom calls of their names.
      target_version: The version of StableHLO, for old readers.
    """
    include_human_readable_text: bool = True
    override_tracing_arguments: tuple | None = None
    override_tracing_kwargs: dict | None = None
    save_weights: bool = True
    inline_all_constant: bool = True
    export_node_metadata: bool = False
    custom_ops_allowed_in_graph: set = dataclasses.field(default_factory=set)
    target_version: str = "current"


class StableHLOJSONSerializer(json.JSONEncoder):
    """Writes the classes of this module as JSON."""
    def default(self, obj: Any) -> Any:
        """Returns the object in terms of JSON's types."""
        if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
            return dataclasses.asdict(obj)
        if isinstance(obj, enum.Enum):
            return obj.value
        return super().default(obj)


def stablehlo_obj_hook(dct: dict[str, Any]) -> Any:
    """Returns the object that StableHLOJSONSerializer has written as this dict."""
    if "type_" in dct:
        return InputLocation(VariableType(dct["type_"]), dct["position"], dct["name"])
    if "shape" in dct and "dtype" in dct:
        return VariableSignature(**dct)
    if "input_signature" in dct:
        return StableHLOFunctionMeta(**dct)
    return dct


_NUMPY_HAS_NOT = {torch.bfloat16: torch.uint16, torch.float8_e4m3fn: torch.uint8, torch.float8_e5m2: torch.uint8,
                  torch.float8_e4m3fnuz: torch.uint8, torch.float8_e5m2fnuz: torch.uint8}

_TENSOR = frozenset({torch.Tensor})


def _dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def _to_numpy(tensor):
    """Types that NumPy has not got are stored as unsigned integers; the meta file says what they are."""
    tensor = tensor.detach().cpu().contiguous()
    return tensor.view(_NUMPY_HAS_NOT[tensor.dtype]).numpy() if tensor.dtype in _NUMPY_HAS_NOT else tensor.numpy()


def _from_numpy(array, dtype):
    tensor = torch.from_numpy(np.array(array))
    wanted = getattr(torch, dtype)
    return tensor.view(wanted) if wanted in _NUMPY_HAS_NOT else tensor


@dataclasses.dataclass
class _Compiled:
    """A method's program with its weights and constants, its inputs in the program's order as (position, type), the places of its open sizes by
    parameter, and the structures of arguments and results, where they are known. What __call__() asks in every call is derived from them once."""
    program: Any
    inputs: list
    sizes: list
    given: Any
    output: Any

    def __post_init__(self):
        # The number of arguments, where all of them are tensors one after the other; -1: any number, as nothing is known; None: they have a structure.
        self.num_tensors = -1 if self.given is None else self.given.num_leaves
        if self.given is not None and self.given != pytree.tree_structure(((0,) * self.num_tensors, {})):
            self.num_tensors = None
        self.build = _build_of(self.output)


def _build_of(output):
    """Returns the function from the list of a program's results to what a call returns, by its structure, if that is known."""
    if output is None:
        return lambda results: results[0] if len(results) == 1 else tuple(results)
    if output == pytree.tree_structure(0):
        return operator.itemgetter(0)
    for kind in (tuple, list):
        if output == pytree.tree_structure(kind((0,) * output.num_leaves)):
            return kind
    return functools.partial(pytree.tree_unflatten, treespec=output)


def _structure(spec):
    try:
        return pytree.treespec_loads(spec) if spec else None
    except NotImplementedError:
        return None  # a class that this process has not registered


def _in_order(given, args, kwargs):
    """Returns the inputs of a program in its order. Dicts and keywords are in any order; what has no structure is already in order."""
    try:
        return given.flatten_up_to((args, kwargs))
    except ValueError as error:
        if not kwargs and len(args) == given.num_leaves and not any(isinstance(each, (tuple, list, dict)) for each in args):
            return list(args)
        raise ValueError(f"expects the arguments that the program was exported with: {error}") from error


def _check_sizes(sizes, inputs):
    """Raises ValueError where the inputs disagree about an open size: the program reads it in one place only."""
    for places in sizes:
        first = None
        for index, position, dim, factor, offset in places:
            if dim >= inputs[index].dim():
                continue  # of another number of dimensions, which is an error of the call
            size, rest = divmod(inputs[index].shape[dim] - offset, factor)
            if rest:
                raise ValueError(f"expects a size of {factor} * n + {offset} in dimension {dim} of input {position}, but got {inputs[index].shape[dim]}")
            if first is None:
                first = size, position, dim
            elif size != first[0]:
                raise ValueError(f"expects {first[0] * factor + offset} in dimension {dim} of input {position}, as dimension {first[2]} of input "
                                 f"{first[1]} says, but got {inputs[index].shape[dim]}")


class StableHLOGraphModule:
    """An exported model, which can be called, inspected and saved."""

    def __init__(self, bundle: StableHLOModelBundle) -> None:
        self._bundle = bundle
        self._name_to_stablehlo = {function.meta.name: function for function in bundle.stablehlo_funcs}
        self._default_method = bundle.stablehlo_funcs[0].meta.name if bundle.stablehlo_funcs else None
        self._programs: dict[str, _Compiled] = {}
        self._fixed: dict[tuple, torch.Tensor] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Returns what copies and pickles take: the bundle. Programs and weights on the device belong to this process, and are made again by the next call."""
        return {**self.__dict__, "_programs": {}, "_fixed": {}}

    def _name_of(self, method_name: str | None) -> str:
        """Returns the name of a method, or of the default one. KeyError if there is no such method."""
        name = method_name or self._default_method
        if name is None or name not in self._name_to_stablehlo:
            raise KeyError(f"expects one of the methods {list(self._name_to_stablehlo)}, but got {name!r}")
        return name

    def _fixed_argument(self, location, signature):
        """Returns a weight or a constant, on the device, once."""
        key = (location.type_, location.position, location.name)
        if key not in self._fixed:
            array = (self._bundle.state_dict[location.name] if location.type_ == VariableType.PARAMETER
                     else self._bundle.additional_constants[location.position])
            self._fixed[key] = _from_numpy(array, signature.dtype).to("xla")
        return self._fixed[key]

    def evaluate(self, method_name: str, args: Sequence[Any]) -> list[torch.Tensor]:
        """Runs a method.

        Args:
          method_name: The method.
          args: Its inputs, as a flat list.

        Returns:
          The results, on the device.

        Raises:
          ValueError: An input is missing, or inputs disagree about an open size.
        """
        return self._run(self._compiled(method_name), args)

    def _run(self, compiled, args):
        inputs, here = [], _XLAC._current_device()
        for position, dtype in compiled.inputs:
            if position >= len(args):
                raise ValueError(f"expects at least {position + 1} inputs, but got {len(args)}")
            arg = args[position]
            # Three operators are called only where they make another tensor than the argument.
            if type(arg) is not torch.Tensor or arg.dtype is not dtype or not arg.is_xla or arg.get_device() != here:
                arg = torch.as_tensor(arg, dtype=dtype).detach().to("xla")
            inputs.append(arg)
        if compiled.sizes:
            _check_sizes(compiled.sizes, inputs)
        return _XLAC._run_bound(compiled.program, inputs)

    def _compiled(self, name):
        compiled = self._programs.get(name)
        if compiled is None:
            compiled = self._programs[name] = self._compile(self._name_to_stablehlo[name])
        return compiled

    def _compile(self, function):
        """Weights are the same in every call, so that what depends on them alone is computed once."""
        inputs = []
        arguments: list[torch.Tensor | None] = []
        for location, signature in zip(function.meta.input_locations, function.meta.input_signature):
            if location.type_ == VariableType.INPUT_ARG:
                inputs.append((location.position, getattr(torch, signature.dtype)))
                arguments.append(None)
            else:
                arguments.append(self._fixed_argument(location, signature))
        index = {position: number for number, (position, _) in enumerate(inputs)}
        sizes = [[(index[place[0]], *place) for place in places if place[0] in index] for places in function.meta.open_sizes]
        spec = function.meta.output_pytree_spec
        return _Compiled(_XLAC._bind_program(function.text, arguments), inputs, sizes, _structure(function.meta.input_pytree_spec),
                         pytree.treespec_loads(spec) if spec else None)

    def __call__(self, *args: Any, method_name: str | None = None, **kwargs: Any) -> Any:
        """Runs a method, the only one by default, with the arguments of the module that was exported, or all tensors of theirs one after the other.

        Returns:
          The results in the structure of the module's.

        Raises:
          ValueError: The arguments have another structure, or sizes that do not fit together.
        """
        name = self._name_of(method_name)
        compiled = self._compiled(name)
        if not kwargs and compiled.num_tensors in (-1, len(args)) and _TENSOR.issuperset(map(type, args)):
            flat = args  # what pytree would say, which takes longer than the rest of the call
        else:
            flat, structure = pytree.tree_flatten((args, kwargs))
            if compiled.given is not None and structure != compiled.given:
                flat = _in_order(compiled.given, args, kwargs)
        return compiled.build(self._run(compiled, flat))

    def get_stablehlo_text(self, method_name: str | None = None) -> str:
        """Returns the StableHLO text of a method, the only one by default."""
        return self._name_to_stablehlo[self._name_of(method_name)].text

    def get_stablehlo_bytecode(self, method_name: str | None = None) -> bytes:
        """Returns a method, the only one by default, as a portable artifact."""
        return self._name_to_stablehlo[self._name_of(method_name)].bytecode

    def save(self, directory_path: str | os.PathLike, options: StableHLOExportOptions | None = None) -> None:
        """Writes the bundle to a folder.

        Args:
          directory_path: The folder, which is made.
          options: Whether weights and text are written; None: the default ones.
        """
        options = options or StableHLOExportOptions()
        for folder in ("functions", "constants") + (("data",) if options.save_weights else ()):
            os.makedirs(os.path.join(directory_path, folder), exist_ok=True)

        def write(folder, name, content):
            with open(os.path.join(directory_path, folder, name), "wb") as file:
                file.write(content)

        def array(value):
            content = io.BytesIO()
            np.save(content, value, allow_pickle=False)
            return content.getvalue()
        if options.save_weights:
            for name, value in self._bundle.state_dict.items():
                write("data", name, array(value))
        for position, value in enumerate(self._bundle.additional_constants):
            write("constants", str(position), array(value))
        for function in self._bundle.stablehlo_funcs:
            write("functions", function.meta.name + ".meta",
                  json.dumps(function.meta, cls=StableHLOJSONSerializer, indent=1).encode())
            write("functions", function.meta.name + ".bytecode", function.bytecode)
            if options.include_human_readable_text:
                write("functions", function.meta.name + ".mlir", function.text.encode())

    @classmethod
    def load(cls, directory_path: str | os.PathLike) -> "StableHLOGraphModule":
        """Returns the bundle that save() has written to a folder."""
        def arrays(folder):
            path = os.path.join(directory_path, folder)
            return {name: np.load(os.path.join(path, name), allow_pickle=False)
                    for name in (os.listdir(path) if os.path.isdir(path) else ())}
        constants = arrays("constants")
        functions, folder = [], os.path.join(directory_path, "functions")
        for name in sorted(n[:-len(".meta")] for n in os.listdir(folder) if n.endswith(".meta")):
            with open(os.path.join(folder, name + ".meta")) as file:
                meta = json.load(file, object_hook=stablehlo_obj_hook)
            with open(os.path.join(folder, name + ".bytecode"), "rb") as artifact:
                bytecode = artifact.read()
            functions.append(StableHLOFunc(meta, bytecode, _XLAC._artifact_text(bytecode)))
        return cls(StableHLOModelBundle(arrays("data"), [constants[str(i)] for i in range(len(constants))], functions))


def _signature(tensor, dynamic=()):
    return VariableSignature([None if d in dynamic else int(size) for d, size in enumerate(tensor.shape)],
                             _dtype_name(tensor.dtype), list(dynamic))


def exported_program_to_stablehlo(exported_model: torch.export.ExportedProgram,
                                  options: StableHLOExportOptions | None = None) -> StableHLOGraphModule:
    """Converts an exported program to StableHLO. A dimension that is a torch.export.Dim is a dynamic one.

    Args:
      exported_model: The result of torch.export.export().
      options: The default ones, if not given.
    """
    options = options or StableHLOExportOptions()
    traced = trace(exported_model, options)
    weights, locations, signatures = {}, [], []
    for source in traced.sources:
        if source.kind == "input":
            locations.append(InputLocation.input_arg(source.position))
        else:
            locations.append(InputLocation.parameter(source.name))
            weights[source.name] = _to_numpy(source.tensor)
        signatures.append(_signature(source.tensor, source.dynamic))
    for position, tensor in enumerate(traced.constants):
        locations.append(InputLocation.constant(position))
        signatures.append(_signature(tensor))
    meta = StableHLOFunctionMeta(
        name="forward", stablehlo_version="1.0.0" if options.target_version == "current" else options.target_version,
        input_signature=signatures, output_signature=[_signature(t, dynamic) for t, dynamic in traced.results],
        input_locations=locations, unused_inputs=[], input_pytree_spec=traced.input_spec, output_pytree_spec=traced.output_spec,
        open_sizes=traced.open_sizes)
    function = StableHLOFunc(meta, _XLAC._artifact(traced.text, options.target_version), traced.text)
    return StableHLOGraphModule(StableHLOModelBundle(weights, [_to_numpy(t) for t in traced.constants], [function]))


def _run_decompositions(exported_model):
    """Returns the exported program in terms of core operators, as exported_program_to_stablehlo() reads it."""
    return exported_model.run_decompositions({})


def save_as_stablehlo(exported_model: torch.export.ExportedProgram, stablehlo_dir: str | os.PathLike,
                      options: StableHLOExportOptions | None = None) -> None:
    """Converts an exported program to StableHLO and saves it to a folder; see exported_program_to_stablehlo().

    Args:
      exported_model: The program.
      stablehlo_dir: The folder, which is made.
      options: The options of the export; None: the default ones.
    """
    options = options or StableHLOExportOptions()
    exported_program_to_stablehlo(exported_model, options).save(stablehlo_dir, options)


def save_torch_model_as_stablehlo(torchmodel: Any, args: Sequence[Any], path: str | os.PathLike,
                                  options: StableHLOExportOptions | None = None) -> None:
    """Exports a module or a function and saves its StableHLO to a folder.

    Args:
      torchmodel: The module or function.
      args: Arguments of the sizes for which it is exported.
      path: The folder.
      options: The default ones, if not given.
    """
    if not isinstance(torchmodel, torch.nn.Module):
        function = torchmodel

        class Wrapped(torch.nn.Module):
            def forward(self, *inputs):
                return function(*inputs)
        torchmodel = Wrapped()
    with torch.no_grad():
        exported = torch.export.export(torchmodel, tuple(args), strict=False)
    save_as_stablehlo(exported, path, options)
