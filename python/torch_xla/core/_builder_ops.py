# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of torch_xla.core.xla_builder in StableHLO, by the names that mkop() takes."""
from collections.abc import Callable
from typing import Any

import torch

from ._builder import NAMES, TORCH_TYPES, Builder, Node, array, padding_of, pairs, tensor_type, window_sizes

OPS: dict[str, Callable[..., Any]] = {}  # op(builder, operands, attributes) by name
_FLOATS = ("f32", "f64", "bf16", "f16")


def _op(*names):
    def register(function):
        for name in names:
            OPS[name] = function
        return function
    return register


#===-- One value per element -------------------------------------------------===

_UNARY = {"Neg": "negate", "Not": "not", "Ceil": "ceil", "Cos": "cosine", "Exp": "exponential", "Expm1": "exponential_minus_one",
          "Floor": "floor", "Log": "log", "Log1p": "log_plus_one", "Sqrt": "sqrt", "Rsqrt": "rsqrt", "Sin": "sine", "Tan": "tan",
          "Tanh": "tanh", "Clz": "count_leading_zeros", "Acos": "chlo.acos", "Asin": "chlo.asin", "Atan": "chlo.atan",
          "Cosh": "chlo.cosh", "Sinh": "chlo.sinh", "Erf": "chlo.erf", "Erfc": "chlo.erfc", "ErfInv": "chlo.erf_inv",
          "Conj": "chlo.conj", "Abs": "abs", "Sign": "sign", "Logistic": "logistic", "Cbrt": "cbrt"}
_BINARY = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide", "Pow": "power", "Rem": "remainder", "And": "and",
           "Or": "or", "Xor": "xor", "Max": "maximum", "Min": "minimum", "Atan2": "atan2", "ShiftLeft": "shift_left"}
_COMPARE = ("Eq", "Ne", "Le", "Lt", "Ge", "Gt")


def _full(name):
    return name if "." in name else f"stablehlo.{name}"


def unary(builder, name, x):
    """Adds an operation that keeps type and sizes, and returns its result."""
    return builder.one(_full(_UNARY[name]), [x], x.dtype, x.sizes)


def broadcast_in_dim(builder, x, sizes, dimensions):
    """x with its dims at `dimensions` of `sizes`."""
    return builder.one("stablehlo.broadcast_in_dim", [x], x.dtype, sizes, f"broadcast_dimensions = {array(list(dimensions))}")


def _alike(builder, a, b):
    """Scalars, and dims of one element between equal ranks, are spread."""
    if a.dtype != b.dtype:
        raise RuntimeError(f"expects operands of one type, but got {a.dtype} and {b.dtype}")
    if a.sizes == b.sizes:
        return a, b
    if a.sizes and b.sizes and len(a.sizes) != len(b.sizes):
        raise RuntimeError(f"expects operands of equal sizes, but got {a.sizes} and {b.sizes}")
    sizes = [max(m, n) if 1 in (m, n) and 0 not in (m, n) else min(m, n) for m, n in zip(a.sizes, b.sizes)] or a.sizes or b.sizes
    made = []
    for x in (a, b):
        if any(m not in (1, n) for m, n in zip(x.sizes, sizes)):
            raise RuntimeError(f"expects operands of equal sizes, but got {a.sizes} and {b.sizes}")
        made.append(x if x.sizes == tuple(sizes) else broadcast_in_dim(builder, x, sizes, range(len(x.sizes))))
    return made


def binary(builder, name, a, b):
    """Arithmetic, or a comparison."""
    a, b = _alike(builder, a, b)
    if name in _COMPARE:
        return builder.one("stablehlo.compare", [a, b], "pred", a.sizes,
                           f"comparison_direction = #stablehlo<comparison_direction {name.upper()}>")
    if name == "ShiftRight":
        return builder.one(f"stablehlo.shift_right_{'logical' if a.dtype.startswith('u') else 'arithmetic'}", [a, b], a.dtype, a.sizes)
    return builder.one(_full(_BINARY[name]), [a, b], a.dtype, a.sizes)


for _name in _UNARY:
    OPS[_name] = lambda builder, ops, kw, name=_name: unary(builder, name, ops[0])
for _name in (*_BINARY, *_COMPARE, "ShiftRight"):
    OPS[_name] = lambda builder, ops, kw, name=_name: binary(builder, name, ops[0], ops[1])


def _component(name):
    def make(builder, ops, kw):
        return builder.one(name, ops, {"c64": "f32", "c128": "f64"}.get(ops[0].dtype, ops[0].dtype), ops[0].sizes)
    return make


OPS["Real"], OPS["Imag"] = _component("stablehlo.real"), _component("stablehlo.imag")


@_op("Convert")
def _convert(builder, ops, kw):
    return ops[0] if ops[0].dtype == kw["to_type"] else builder.one("stablehlo.convert", ops, kw["to_type"], ops[0].sizes)


@_op("BitcastConvert")
def _bitcast(builder, ops, kw):
    x, dtype = ops[0], kw["to_type"]
    before, after = (TORCH_TYPES[d].itemsize for d in (x.dtype, dtype))
    sizes = x.sizes if before == after else (*x.sizes, before // after) if before > after else x.sizes[:-1]
    return builder.one("stablehlo.bitcast_convert", [x], dtype, sizes)


@_op("Select")
def _select(builder, ops, kw):
    condition, yes, no = ops
    yes, no = _alike(builder, yes, no)
    if condition.sizes and not yes.sizes:
        yes, no = (broadcast_in_dim(builder, x, condition.sizes, []) for x in (yes, no))
    return builder.one("stablehlo.select", [condition, yes, no], yes.dtype, yes.sizes)


@_op("Clamp")
def _clamp(builder, ops, kw):
    x, low, high = ops
    return builder.one("stablehlo.clamp", [low, x, high], x.dtype, x.sizes)


#===-- Constants -------------------------------------------------------------===


def _number(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"({_number(value.real)}, {_number(value.imag)})"
    return str(value) if isinstance(value, int) else value.hex()


def _literal(tensor):
    """Returns the text of a dense attribute. Floats are written as their bits: nothing is rounded."""
    tensor = tensor.detach().cpu().contiguous()
    bits = {torch.float32: torch.int32, torch.float64: torch.int64, torch.bfloat16: torch.int16, torch.float16: torch.int16}

    def text(value, width):
        return f"0x{value & (1 << width) - 1:0{width // 4}X}"
    if tensor.dtype in bits:
        width = tensor.element_size() * 8
        flat = [text(value, width) for value in tensor.view(bits[tensor.dtype]).flatten().tolist()]
    elif tensor.is_complex():
        pairs_ = torch.view_as_real(tensor)
        width = pairs_.element_size() * 8
        flat = [f"({text(a, width)}, {text(b, width)})" for a, b in pairs_.view(bits[pairs_.dtype]).reshape(-1, 2).tolist()]
    else:
        flat = [_number(value) for value in tensor.flatten().tolist()]

    def nested(sizes, values):
        if not sizes:
            return values[0]
        step = len(values) // sizes[0]
        return "[" + ", ".join(nested(sizes[1:], values[i * step:(i + 1) * step]) for i in range(sizes[0])) + "]"
    return nested(list(tensor.shape), flat) if flat else ""


def constant(builder, tensor):
    """Returns a tensor as part of the program."""
    dtype = NAMES[tensor.dtype]
    type_ = tensor_type(dtype, tensor.shape)
    return builder.one("stablehlo.constant", [], dtype, tensor.shape, f"value = dense<{_literal(tensor)}> : {type_}")


OPS["Constant"] = lambda builder, ops, kw: constant(builder, kw["value"])
OPS["Iota"] = lambda builder, ops, kw: builder.one("stablehlo.iota", [], kw["shape"]["type"], kw["shape"]["sizes"],
                                                   f"iota_dimension = {kw['iota_dimension']} : i64")


#===-- Movement --------------------------------------------------------------===


@_op("Reshape", "DynamicReshape")
def _reshape(builder, ops, kw):
    x = ops[0]
    if kw.get("dimensions") is not None and list(kw["dimensions"]) != list(range(len(x.sizes))):
        x = _transpose(builder, [x], {"permutation": kw["dimensions"]})
    return builder.one("stablehlo.reshape", [x], x.dtype, kw["sizes"])


@_op("Broadcast")
def _broadcast(builder, ops, kw):
    x, added = ops[0], list(kw["sizes"])
    return broadcast_in_dim(builder, x, [*added, *x.sizes], range(len(added), len(added) + len(x.sizes)))


OPS["BroadcastInDim"] = lambda builder, ops, kw: broadcast_in_dim(builder, ops[0], kw["sizes"], kw["dimensions"])


def _slice(builder, x, start, limit, strides):
    sizes = [max(0, -(-(b - a) // s)) for a, b, s in zip(start, limit, strides)]
    return builder.one("stablehlo.slice", [x], x.dtype, sizes, f"start_indices = {array(list(start))}, limit_indices = "
                       f"{array(list(limit))}, strides = {array(list(strides))}")


OPS["Slice"] = lambda builder, ops, kw: _slice(builder, ops[0], kw["start_indices"], kw["limit_indices"], kw["strides"])


@_op("SliceInDim")
def _slice_in_dim(builder, ops, kw):
    x, dim = ops[0], kw["dimno"]
    start, limit, strides = [0] * len(x.sizes), list(x.sizes), [1] * len(x.sizes)
    start[dim], limit[dim], strides[dim] = kw["start_index"], kw["limit_index"], kw["stride"]
    return _slice(builder, x, start, limit, strides)


@_op("DynamicSlice")
def _dynamic_slice(builder, ops, kw):
    return builder.one("stablehlo.dynamic_slice", [ops[0], *kw["start_indices"]], ops[0].dtype, kw["slice_sizes"],
                       f"slice_sizes = {array(list(kw['slice_sizes']))}")


@_op("DynamicUpdateSlice")
def _dynamic_update_slice(builder, ops, kw):
    return builder.one("stablehlo.dynamic_update_slice", [*ops, *kw["start_indices"]], ops[0].dtype, ops[0].sizes)


@_op("Pad")
def _pad(builder, ops, kw):
    x, config = ops[0], [tuple(entry) for entry in kw["config"]]
    low, high, interior = ([entry[i] for entry in config] for i in range(3))
    sizes = [n + a + b + max(0, n - 1) * i for n, a, b, i in zip(x.sizes, low, high, interior)]
    return builder.one("stablehlo.pad", ops, x.dtype, sizes, f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
                       f"interior_padding = {array(interior)}")


@_op("Transpose")
def _transpose(builder, ops, kw):
    x, order = ops[0], list(kw["permutation"])
    return builder.one("stablehlo.transpose", [x], x.dtype, [x.sizes[i] for i in order], f"permutation = {array(order)}")


OPS["Rev"] = lambda builder, ops, kw: builder.one("stablehlo.reverse", ops, ops[0].dtype, ops[0].sizes,
                                                  f"dimensions = {array(list(kw['dimensions']))}")


@_op("ConcatInDim")
def _concat(builder, ops, kw):
    sizes, dim = list(ops[0].sizes), kw["dimension"]
    sizes[dim] = sum(x.sizes[dim] for x in ops)
    return builder.one("stablehlo.concatenate", list(ops), ops[0].dtype, sizes, f"dimension = {dim} : i64")


@_op("Gather")
def _gather(builder, ops, kw):
    x, indices = ops
    sizes, vector = list(kw["slice_sizes"]), kw["index_vector_dim"]
    collapsed, offset = list(kw["collapsed_slice_dims"]), list(kw["offset_dims"])
    batch = [n for i, n in enumerate(indices.sizes) if i != vector]
    window = [n for i, n in enumerate(sizes) if i not in collapsed]
    made = [(window if i in offset else batch).pop(0) for i in range(len(batch) + len(window))]
    return builder.one("stablehlo.gather", ops, x.dtype, made, "dimension_numbers = #stablehlo.gather<offset_dims = "
                       f"{offset}, collapsed_slice_dims = {collapsed}, start_index_map = {list(kw['start_index_map'])}, "
                       f"index_vector_dim = {vector}>, slice_sizes = {array(sizes)}, "
                       f"indices_are_sorted = {_number(bool(kw.get('indices_are_sorted')))}")


@_op("Scatter")
def _scatter(builder, ops, kw):
    scalar = Node(builder, None, ops[0].dtype)
    return builder.one("stablehlo.scatter", ops, ops[0].dtype, ops[0].sizes, "scatter_dimension_numbers = #stablehlo.scatter<"
                       f"update_window_dims = {list(kw['update_window_dims'])}, inserted_window_dims = "
                       f"{list(kw['inserted_window_dims'])}, scatter_dims_to_operand_dims = "
                       f"{list(kw['scatter_dims_to_operand_dims'])}, index_vector_dim = {kw['index_vector_dim']}>, "
                       f"indices_are_sorted = {_number(bool(kw.get('indices_are_sorted')))}, "
                       f"unique_indices = {_number(bool(kw.get('unique_indices')))}",
                       f"({builder.region(kw['computation'], [scalar, scalar])})")


OPS["GetDimensionSize"] = lambda builder, ops, kw: constant(builder, torch.tensor(ops[0].sizes[kw["dimension"]], dtype=torch.int32))


@_op("SetDimensionSize")
def _set_dimension_size(builder, ops, kw):
    raise NotImplementedError("SetDimensionSize: a program has no values of dynamic shape")


#===-- Contractions ----------------------------------------------------------===


@_op("Dot")
def _dot(builder, ops, kw):
    a, b = ops
    if not a.sizes or not b.sizes or len(a.sizes) > 2 or len(b.sizes) > 2 or a.sizes[-1] != b.sizes[0]:
        raise RuntimeError(f"expects vectors or matrices that can be multiplied, but got {a.sizes} and {b.sizes}")
    return builder.one("stablehlo.dot_general", ops, a.dtype, [*a.sizes[:-1], *b.sizes[1:]],
                       "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = "
                       f"[{len(a.sizes) - 1}], rhs_contracting_dimensions = [0]>")


def _spatial(rank, batch, feature):
    return [i for i in range(rank) if i not in (batch, feature)]


@_op("Conv", "ConvWithGeneralPadding", "ConvWithGeneralDimensions", "ConvGeneral", "ConvGeneralDilated")
def _conv(builder, ops, kw):
    x, kernel = ops
    rank = len(x.sizes)
    input_ = [kw.get("input_batch_dimension", 0), kw.get("input_feature_dimension", 1)]
    weight = [kw.get("kernel_output_feature_dimension", 0), kw.get("kernel_input_feature_dimension", 1)]
    output = [kw.get("output_batch_dimension", 0), kw.get("output_feature_dimension", 1)]
    in_space = list(kw.get("input_spatial_dimensions") or _spatial(rank, *input_))
    weight_space = list(kw.get("kernel_spatial_dimensions") or _spatial(rank, *weight))
    out_space = list(kw.get("output_spatial_dimensions") or _spatial(rank, *output))
    strides, count = list(kw["window_strides"]), len(in_space)
    base, dilation = list(kw.get("lhs_dilation") or [1] * count), list(kw.get("rhs_dilation") or [1] * count)
    sizes, window = [x.sizes[i] for i in in_space], [kernel.sizes[i] for i in weight_space]
    padding = padding_of(kw.get("padding", "valid"), sizes, window, strides)
    made = [0] * rank
    made[output[0]], made[output[1]] = x.sizes[input_[0]] // kw["batch_group_count"], kernel.sizes[weight[0]]
    for i, size in zip(out_space, window_sizes(sizes, window, strides, padding, base, dilation)):
        made[i] = size

    def layout(first, second, letters, space):
        names = {first: letters[0], second: letters[1], **{dim: str(i) for i, dim in enumerate(space)}}
        return "[" + ", ".join(names[i] for i in range(rank)) + "]"
    numbers = (f"#stablehlo.conv<{layout(*input_, 'bf', in_space)}x{layout(*weight, 'oi', weight_space)}->"
               f"{layout(*output, 'bf', out_space)}>")
    return builder.one("stablehlo.convolution", ops, x.dtype, made, f"window_strides = {array(strides)}, padding = {pairs(padding)}, "
                       f"lhs_dilation = {array(base)}, rhs_dilation = {array(dilation)}, dimension_numbers = {numbers}, "
                       f"feature_group_count = {kw['feature_group_count']} : i64, batch_group_count = {kw['batch_group_count']} : i64")


@_op("TriangularSolve")
def _triangular_solve(builder, ops, kw):
    a, b = ops
    return builder.one("stablehlo.triangular_solve", ops, b.dtype, b.sizes,
                       f"left_side = {_number(bool(kw.get('left_side')))}, lower = {_number(bool(kw.get('lower')))}, "
                       f"unit_diagonal = {_number(bool(kw.get('unit_diagonal')))}, transpose_a = #stablehlo<transpose "
                       f"{'TRANSPOSE' if kw.get('transpose_a') else 'NO_TRANSPOSE'}>")


#===-- Reductions and windows ------------------------------------------------===


def _scalars(builder, x, count=2):
    return [Node(builder, None, x.dtype)] * count


@_op("Reduce", "ReduceAll")
def _reduce(builder, ops, kw):
    x, dims = ops[0], list(kw.get("dimensions", range(len(ops[0].sizes))))
    return builder.one("stablehlo.reduce", ops, x.dtype, [n for i, n in enumerate(x.sizes) if i not in dims],
                       f"dimensions = {array(dims)}", f"({builder.region(kw['computation'], _scalars(builder, x))})")


@_op("ReduceWindow")
def _reduce_window(builder, ops, kw):
    x, window, strides = ops[0], list(kw["window_dimensions"]), list(kw["window_strides"])
    padding = padding_of(kw["padding"], x.sizes, window, strides)
    return builder.one("stablehlo.reduce_window", ops, x.dtype, window_sizes(x.sizes, window, strides, padding),
                       f"window_dimensions = {array(window)}, window_strides = {array(strides)}, padding = {pairs(padding)}",
                       f"({builder.region(kw['computation'], _scalars(builder, x))})")


@_op("MaxPool")
def _max_pool(builder, ops, kw):
    x = ops[0]
    lowest = torch.tensor(-torch.inf if x.dtype in _FLOATS else torch.iinfo(TORCH_TYPES[x.dtype]).min, dtype=TORCH_TYPES[x.dtype])
    maximum = Builder("Max")
    pair = [maximum.parameter(number, {"type": x.dtype, "sizes": ()}) for number in range(2)]
    combine = maximum.build("Max", OPS["Max"](maximum, pair, {}))
    window, strides = list(kw["kernel_size"]), list(kw["stride"])
    if len(window) != len(x.sizes):  # the window has the spatial dimensions only
        spatial = list(kw["spatial_dimensions"])
        window = [window[spatial.index(i)] if i in spatial else 1 for i in range(len(x.sizes))]
        strides = [strides[spatial.index(i)] if i in spatial else 1 for i in range(len(x.sizes))]
    return _reduce_window(builder, [x, constant(builder, lowest)], {"window_dimensions": window, "window_strides": strides,
                                                                    "padding": kw["padding"], "computation": combine})


@_op("SelectAndScatter", "SelectAndScatterWithGeneralPadding")
def _select_and_scatter(builder, ops, kw):
    x, window, strides = ops[0], list(kw["window_dimensions"]), list(kw["window_strides"])
    padding = padding_of(kw["padding"], x.sizes, window, strides)
    regions = ", ".join(builder.region(kw[name], _scalars(builder, x)) for name in ("select_computation", "scatter_computation"))
    return builder.one("stablehlo.select_and_scatter", ops, x.dtype, x.sizes, f"window_dimensions = {array(window)}, window_strides = "
                       f"{array(strides)}, padding = {pairs(padding)}", f"({regions})")


@_op("Sort")
def _sort(builder, ops, kw):
    given = [Node(builder, None, x.dtype) for x in ops for _ in range(2)]
    dim = -1 if kw.get("dimension") is None else kw["dimension"]
    made = builder.emit("stablehlo.sort", list(ops), [(x.dtype, x.sizes) for x in ops],
                        f"dimension = {dim % len(ops[0].sizes)} : i64, is_stable = {_number(bool(kw.get('is_stable')))}",
                        f"({builder.region(kw['comparator'], given)})")
    return made[0] if len(made) == 1 else Node(builder, None, parts=made)


@_op("Map")
def _map(builder, ops, kw):
    result = kw["computation"].root
    return builder.one("stablehlo.map", list(ops), result.dtype, ops[0].sizes, f"dimensions = {array(list(kw['dimensions']))}",
                       f"({builder.region(kw['computation'], [Node(builder, None, x.dtype) for x in ops])})")


#===-- Tuples and control flow -----------------------------------------------===

OPS["Tuple"] = lambda builder, ops, kw: Node(builder, None, parts=list(ops))
OPS["GetTupleElement"] = lambda builder, ops, kw: ops[0].parts[kw["index"]]


def _rebuilt(builder, like, values):
    """Returns the nodes `values` (an iterator) in the structure of `like`."""
    return next(values) if like.parts is None else Node(builder, None, parts=[_rebuilt(builder, part, values) for part in like.parts])


def _spread_results(builder, op, operands, like, attributes, regions=""):
    made = builder.emit(op, operands, [(leaf.dtype, leaf.sizes) for leaf in like.leaves()], attributes, regions)
    return _rebuilt(builder, like, iter(made))


@_op("Call")
def _call(builder, ops, kw):
    computation = kw["computation"]
    builder.use(computation)
    return _spread_results(builder, "func.call", [leaf for x in ops for leaf in x.leaves()], computation.root,
                           f"callee = @{computation.symbol}")


@_op("Conditional")
def _conditional(builder, ops, kw):
    condition, yes, no = ops
    branches = [(kw["true_computation"], yes), (kw["false_computation"], no)]
    if [leaf.type for leaf in branches[0][0].root.leaves()] != [leaf.type for leaf in branches[1][0].root.leaves()]:
        raise RuntimeError("expects both branches to return the same types")
    regions = []
    for computation, operand in branches:
        builder.use(computation)
        results = computation.root.leaves()
        names = builder.fresh()
        made, given = [next(names) for _ in results], operand.leaves()
        types = ", ".join(leaf.type for leaf in results)
        regions.append(f'{{\n      {", ".join(made)} = "func.call"({", ".join(g.name for g in given)}) {{callee = '
                       f'@{computation.symbol}}} : ({", ".join(g.type for g in given)}) -> ({types})\n'
                       f'      "stablehlo.return"({", ".join(made)}) : ({types}) -> ()\n    }}')
    return _spread_results(builder, "stablehlo.if", [condition], branches[0][0].root, "", f"({', '.join(regions)})")


@_op("While")
def _while(builder, ops, kw):
    given = ops[0].leaves()
    body = kw["body_computation"]
    if [leaf.type for leaf in body.root.leaves()] != [leaf.type for leaf in given]:
        raise RuntimeError(f"expects the body of a loop to return {[x.type for x in given]}, but got "
                           f"{[x.type for x in body.root.leaves()]}")
    regions = ", ".join(builder.region(computation, given) for computation in (kw["condition_computation"], body))
    return _spread_results(builder, "stablehlo.while", given, ops[0], "", f"({regions})")
