# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From torch.export.ExportedProgram to StableHLO text.

The graph is run on stand-ins of the device, which records it; nothing is computed and no weight is copied. Dimensions that
are open are given several sizes, one recording each: what differs between them becomes a function of the sizes."""
import dataclasses
import json
import warnings
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch.utils import _pytree as pytree
from torch.utils.weak import WeakTensorKeyDictionary

from . import _composites, _load, _open_sizes, _quantized
from .experimental import mark_pattern_utils as _marks  # noqa: F401  (registers the operator of the marks)
from .experimental import xla_mlir_debuginfo as _notes  # noqa: F401  (registers its operator)

_XLAC = _load.sys.modules["torch_xla._XLAC"]
# The operators that PyTorch puts into graphs for assert statements, torch._check() and the ranges of sizes. By name: not every release has all.
_CHECKS = frozenset(f"aten::{name}" for name in (
    "_assert_async", "_assert_scalar", "_assert_tensor_metadata", "_functional_assert_async", "_functional_assert_scalar", "sym_constrain_range",
    "sym_constrain_range_for_size", "_functional_sym_constrain_range", "_functional_sym_constrain_range_for_size"))


@dataclasses.dataclass
class Source:
    """A parameter of the program: an input by position, or a weight by name."""
    kind: str
    position: int
    name: str
    tensor: torch.Tensor
    dynamic: list


@dataclasses.dataclass
class Traced:
    text: str
    sources: list
    constants: list  # tensors of the device: parameters after the sources
    results: list    # (tensor, dynamic dims)
    input_spec: str
    output_spec: str
    open_sizes: list  # for each symbol the places of it in inputs: [position, dim, factor, offset]


_library = torch.library.Library("aten", "IMPL")
_checks: list[Any] = []  # error codes that the exported operator would check: not zero where a factorization failed


def _check_errors(info, api_name, *, is_matrix):
    """An exported program cannot raise: results of matrices that cannot be factorized become NaN there, see _poisoned()."""
    if _quantized.known_values is not None:
        _checks.append(info)
    else:
        torch.ops.aten._linalg_check_errors.default._op_dk(torch._C.DispatchKey.CompositeExplicitAutograd, info, api_name,
                                                           is_matrix=is_matrix)


_library.impl("_linalg_check_errors", _check_errors, "XLA")


def _poisoned(result):
    """Returns a result with NaN for the matrices of which a factorization failed."""
    if not isinstance(result, torch.Tensor) or not (result.is_floating_point() or result.is_complex()):
        return result
    for info in _checks:
        failed = info != 0
        if result.shape[:info.dim()] == info.shape:
            failed = failed.reshape(*info.shape, *[1] * (result.dim() - info.dim()))
        else:
            failed = failed.any()
        result = torch.where(failed, float("nan"), result)
    return result


def _view_of_any_strides(tensor, size):
    """aten.view of a graph that was exported on another device, whose operators may give their results other strides than ours do:
    attention on the CPU gives a transposed tensor. What is no view here is copied."""
    try:
        return torch.ops.aten.view.default(tensor, size)
    except RuntimeError:
        return torch.ops.aten.reshape.default(tensor, size)  # wrong sizes are still an error


def _is_check(target):
    return isinstance(target, torch._ops.OpOverload) and target._schema.name in _CHECKS


def _drop_checks(graph):
    """Removes the checks of a graph, because an exported program cannot raise, and what only they read: a value that a check compares
    (`assert lengths.max().item() <= n`) is not known while the graph is recorded."""
    unread = [node for node in graph.nodes if node.op == "call_function" and _is_check(node.target)]
    while unread:
        node = unread.pop()
        if not node.users and node.op == "call_function" and not node._erased and (_is_check(node.target) or not node.is_impure()):
            inputs = node.all_input_nodes
            graph.erase_node(node)
            unread.extend(inputs)


class _Interpreter(fx.Interpreter):
    """Runs an exported graph on the device, whatever device it was exported on. Operators of the namespaces `called` are not run:
    they become custom calls of their names."""

    def __init__(self, module, options):
        super().__init__(module)
        self._called = options.custom_ops_allowed_in_graph if options else ()
        self._is_annotated = bool(options and options.export_node_metadata)

    def run_node(self, node):
        made = super().run_node(node)
        if self._is_annotated and node.op == "call_function" and isinstance(made, torch.Tensor) and made.device.type == "xla":
            return torch.ops.xla.write_mlir_debuginfo(made, _metadata(node))
        return made

    def call_function(self, target, args, kwargs):
        if isinstance(target, torch._ops.OpOverload) and target.namespace in self._called:
            return _custom_call(target, args, kwargs)
        if _is_check(target):
            return None  # one whose result another operator names, as a token
        args, kwargs = pytree.tree_map_only(torch.device, lambda device: torch.device("xla:0"), (args, dict(kwargs)))
        schema = getattr(target, "_schema", None)
        if schema is not None and kwargs.get("device") is None and any(a.name == "device" for a in schema.arguments) \
                and not any(isinstance(v, torch.Tensor) for v in pytree.tree_leaves((args, kwargs))):
            kwargs["device"] = torch.device("xla:0")
        _checks.clear()
        made = super().call_function(_view_of_any_strides if target is torch.ops.aten.view.default else target, args, kwargs)
        made = pytree.tree_map(_poisoned, made) if _checks else made
        _checks.clear()
        return made


def _metadata(node):
    """What PyTorch remembers of where a node comes from, as JSON."""
    return json.dumps({"stack_trace": node.meta.get("stack_trace"),
                       "nn_module_stack": {key: str(value[0]) for key, value in (node.meta.get("nn_module_stack") or {}).items()},
                       "source_fn_stack": [[name, str(target)] for name, target in node.meta.get("source_fn_stack") or ()]})


def _custom_call(op, args, kwargs):
    """A call of what is named like the operator; its meta kernel says which results there are."""
    from .experimental.stablehlo_custom_call import stablehlo_custom_call
    tensors = pytree.tree_leaves((args, kwargs))
    if not all(isinstance(t, torch.Tensor) for t in tensors):
        raise NotImplementedError(f"{op} as a custom call: expects tensors only, but got {[t for t in tensors if not isinstance(t, torch.Tensor)]}")
    made = op(*pytree.tree_map_only(torch.Tensor, lambda t: t.to("meta"), args), **pytree.tree_map_only(torch.Tensor, lambda t: t.to("meta"), kwargs))
    results = made if isinstance(made, (tuple, list)) else [made]
    return stablehlo_custom_call(tensors, str(op), [r.shape for r in results], [r.dtype for r in results])


def _size(value, symbols):
    """Returns a size of the exported program for these values of its symbols."""
    if isinstance(value, torch.SymInt):
        return int(value.node.expr.xreplace(symbols))
    return int(value)


def _symbol_of(expr):
    """Returns (symbol, factor, offset) of a size that is factor * symbol + offset, else (None, 0, 0)."""
    if len(expr.free_symbols) == 1:
        symbol = next(iter(expr.free_symbols))
        polynomial = expr.as_poly(symbol)
        if polynomial is not None and polynomial.degree() == 1:
            factor, offset = (*polynomial.all_coeffs(), 0)[:2]
            return symbol, int(factor), int(offset)
    return None, 0, 0


def _open_symbols(program, placeholders):
    """Symbols of open sizes and where each can be read: {symbol: (parameter, dim, factor, offset)}."""
    found, wanted = {}, set()
    for index, (_, value) in enumerate(placeholders):
        if not isinstance(value, torch.Tensor):
            continue
        for dim, size in enumerate(value.shape):
            if not isinstance(size, torch.SymInt):
                continue
            expr = size.node.expr
            wanted |= expr.free_symbols
            symbol, factor, offset = _symbol_of(expr)
            if symbol is not None and symbol not in found:
                found[symbol] = (index, dim, factor, offset)
    missing = wanted - set(found)
    if missing:
        raise NotImplementedError(f"the sizes {sorted(map(str, missing))} cannot be read from the shape of an input")
    return found


def _places(sources):
    """Where the inputs have each open size: they have to agree."""
    found: dict[Any, list] = {}
    for source in sources:
        for dim in source.dynamic:
            symbol, factor, offset = _symbol_of(source.tensor.shape[dim].node.expr)
            if source.kind == "input" and symbol is not None:
                found.setdefault(symbol, []).append([source.position, dim, factor, offset])
    return list(found.values())


def _record(program, placeholders, symbols, options):
    """Returns one recording: (text, constants, results, which tensor each parameter of the text is)."""
    arguments = []
    for _, value in placeholders:
        if isinstance(value, torch.Tensor):
            shape = [_size(size, symbols) for size in value.shape]
            arguments.append(torch.empty(shape, dtype=value.dtype, device="xla"))
        else:
            arguments.append(value)
    scope, stand_ins = _XLAC._graph_begin(tuple(arguments))
    _quantized.known_values = WeakTensorKeyDictionary()
    for stand_in, (_, value) in zip(stand_ins, placeholders):
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
            _quantized.known_values[stand_in] = value
    try:
        with torch.no_grad():
            results = _Interpreter(program.graph_module, options).run(*stand_ins)
        user = [value for value, spec in zip(results, program.graph_signature.output_specs)
                if spec.kind == OutputKind.USER_OUTPUT]
        for value in user:
            if not isinstance(value, torch.Tensor):
                raise NotImplementedError(f"a result of an exported program is {value!r}: only tensors can be results")
        user = [value if value.device.type == "xla" else value.to("xla") for value in user]
        text, constants, order = _XLAC._graph_export(scope, user)
    finally:
        _quantized.known_values = None
        _XLAC._graph_end(scope)
    return _composites.rewrite(text), constants, user, order


def _dumped(spec):
    try:
        text = pytree.treespec_dumps(spec)
        return text if pytree.treespec_loads(text) == spec else None
    except (NotImplementedError, TypeError):
        return None  # a user's class or keys, which a file cannot name


def trace(program, options):
    program = program.run_decompositions({})
    _drop_checks(program.graph)
    program.graph_module.recompile()
    mutated = [spec.target for spec in program.graph_signature.output_specs
               if spec.kind not in (OutputKind.USER_OUTPUT,)]
    if mutated:
        warnings.warn(f"the exported program changes {', '.join(map(str, mutated))}; its StableHLO does not return that",
                      stacklevel=3)
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    placeholders, sources, position = [], [], 0
    given = pytree.tree_leaves((options.override_tracing_arguments, options.override_tracing_kwargs or {})) \
        if options.override_tracing_arguments is not None else None
    for node, spec in zip(nodes, program.graph_signature.input_specs):
        if spec.kind == InputKind.USER_INPUT:
            value = given[position] if given is not None else node.meta.get("val")
            if isinstance(spec.arg, ConstantArgument):
                value = spec.arg.value
            placeholders.append((node.name, value))
            if isinstance(spec.arg, TensorArgument):
                dynamic = [d for d, size in enumerate(value.shape) if isinstance(size, torch.SymInt)]
                sources.append(Source("input", position, node.name, value, dynamic))
            position += 1
            continue
        if spec.kind not in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            raise NotImplementedError(f"an exported program with an input of kind {spec.kind.name}")
        tensor = program.state_dict[spec.target] if spec.target in program.state_dict else program.constants[spec.target]
        placeholders.append((node.name, tensor))
        sources.append(Source("weight", -1, spec.target, tensor, []))
    tensors = [index for index, (_, value) in enumerate(placeholders) if isinstance(value, torch.Tensor)]
    symbols = _open_symbols(program, placeholders)
    divisions = _open_sizes.Divisions(_open_sizes.expressions(program.graph) if symbols else [], symbols)
    samples = _open_sizes.samples(list(symbols), divisions, _open_sizes.guards_of(value for _, value in placeholders if isinstance(value, torch.Tensor)),
                                  program.range_constraints) if symbols else [[]]
    values = [dict(zip(symbols, map(_open_sizes.integer, sample))) for sample in samples]
    made = [_record(program, placeholders, each, options) for each in values]
    text, constants, results, order = made[0]
    dynamic = [[] for _ in results]
    if symbols:
        for _, others, _, its_order in made[1:]:
            if its_order != order:
                raise NotImplementedError("which operators are recorded depends on the sizes")
            if len(others) != len(constants) or any(a.shape != b.shape or not torch.equal(a.cpu(), b.cpu())
                                                    for a, b in zip(constants, others)):
                raise NotImplementedError("a table of constants depends on the sizes")
        text = _XLAC._generalize([m[0] for m in made], [sample + divisions.values(each) for sample, each in zip(samples, values)],
                                 [(order.index(tensors.index(p)), dim, factor, offset) for p, dim, factor, offset in symbols.values()] +
                                 divisions.described)
        dynamic = [[d for d in range(result.dim()) if len({m[2][i].shape[d] for m in made}) > 1]
                   for i, result in enumerate(results)]
    return Traced(text, [sources[position] for position in order], constants, list(zip(results, dynamic)), _dumped(program.call_spec.in_spec),
                  _dumped(program.call_spec.out_spec), _places(sources))
