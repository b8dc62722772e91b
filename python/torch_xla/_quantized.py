# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's quantized_decomposed operators (those of pt2e quantization): computed as PyTorch defines them, shown and exported as
stablehlo.uniform_quantize and uniform_dequantize on quantized types.

What is recorded is PyTorch's arithmetic and a mark over its result, mark_quantized(input, result), which says scales and zero
points; rewrite() puts the operation in its place. Scales that are not known yet, because the graph computes them, get no mark."""
import json

import torch

from . import _load
from ._mark_text import Op, config, rename

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_STORAGE = {torch.int8: "i8", torch.uint8: "u8", torch.int16: "i16", torch.int32: "i32"}

# The values of tensors of which the graph under export has only shapes (_export.py); None: no export runs.
known_values = None


def _numbers(value):
    """Returns a scale or a zero point as a list; None if it is not known yet."""
    if not isinstance(value, torch.Tensor):
        return [value]
    if value.device.type == "xla":
        if known_values is not None:
            value = known_values.get(value)
        elif _XLAC._is_placeholder(value) or _XLAC._check_tensor_need_materialization([value])[0]:
            return None
    return None if value is None else value.detach().cpu().reshape(-1).tolist()


def _marked(kind, x, made, scale, zero_point, axis, lowest, highest, storage):
    from .experimental.stablehlo_custom_call import stablehlo_custom_call
    scales, zero_points = _numbers(scale), [0] if zero_point is None else _numbers(zero_point)
    bounds = [_numbers(lowest), _numbers(highest)]
    if scales is None or zero_points is None or None in bounds or storage not in _STORAGE:
        return made
    config = {"kind": kind, "storage": _STORAGE[storage], "bounds": [bound[0] for bound in bounds], "axis": axis, "scales": scales,
              "zero_points": [int(zero_point) for zero_point in zero_points] * (1 if len(zero_points) == len(scales) else len(scales))}
    return stablehlo_custom_call([x, made], "mark_quantized", [made.shape], [made.dtype], backend_config=json.dumps(config))


def _kernel(name, kind, has_axis):
    def run(x, scale, zero_point, *rest, **named):
        from torch.ao.quantization.fx import _decomposed
        axis, (lowest, highest, dtype) = (rest[0], rest[1:4]) if has_axis else (-1, rest[:3])
        made = getattr(_decomposed, name)(x, scale, zero_point, *rest, **named)
        return _marked(kind, x, made, scale, zero_point, axis, lowest, highest, dtype)
    return run


def install():
    """Registers the kernels; the operators may be defined later."""
    global _library
    _library = torch.library.Library("quantized_decomposed", "IMPL")
    for kind in ("quantize", "dequantize"):
        for form, function in (("", ""), (".tensor", "_tensor"), (".tensor2", "_tensor2")):
            _library.impl(f"{kind}_per_tensor{form}", _kernel(f"{kind}_per_tensor{function}", kind, False), "XLA")
        _library.impl(f"{kind}_per_channel", _kernel(f"{kind}_per_channel", kind, True), "XLA")


#===-- Text ------------------------------------------------------------------===


_LIMITS = {"i8": (-128, 127), "u8": (0, 255), "i16": (-32768, 32767), "i32": (-2 ** 31, 2 ** 31 - 1)}


def _real(value):
    """As MLIR prints it, with more digits where these do not say which number of single precision it is."""
    short = f"{value:e}"
    same = torch.tensor([float(short), value], dtype=torch.float32)
    return short if same[0] == same[1] else f"{value:.16e}"


def _quantized_type(type_, expressed, config):
    """`type_`, a tensor's, with quantized elements."""
    dims = type_[len("tensor<"):-1].split("x")[:-1]
    low_high = tuple(config["bounds"])
    storage = config["storage"] + ("" if low_high == _LIMITS[config["storage"]] else "<%d:%d>" % low_high)
    each = [_real(scale) + (f":{zero_point}" if zero_point else "") for scale, zero_point in zip(config["scales"], config["zero_points"])]
    if config["axis"] < 0:
        element = f"!quant.uniform<{storage}:{expressed}, {each[0]}>"
    else:
        element = f"!quant.uniform<{storage}:{expressed}:{config['axis']}, {{{','.join(each)}}}>"
    return f"tensor<{''.join(d + 'x' for d in dims)}{element}>"


def _element(type_):
    return type_[len("tensor<"):-1].split("x")[-1]


def rewrite(ops):
    """Returns the operations (_mark_text.Op) with marks replaced."""
    made, quantized = [], {}  # from an integer value to the quantized value with the same bits and its type
    real = {}  # from an integer value and its types to the dequantized value, which is computed once
    for number, op in enumerate(ops):
        if not op.call or op.call[0] != "mark_quantized":
            made.append(op)
            continue
        (x, _), what, result, fresh = op.call[1], config(op.call[2]), op.results[0], f"%quantized{number}"
        x_type, type_ = op.call[3].split(", ")[0], op.call[4]
        if what["kind"] == "quantize":
            q_type = _quantized_type(x_type, _element(x_type), what)
            made += [Op(f"    {fresh} = stablehlo.uniform_quantize {x} : ({x_type}) -> {q_type}{op.place}"),
                     Op(f"    {result} = stablehlo.bitcast_convert {fresh} : ({q_type}) -> {type_}{op.place}")]
            quantized[result] = (fresh, q_type)
            continue
        q_type = _quantized_type(x_type, _element(type_), what)
        if quantized.get(x, (None, None))[1] != q_type:
            made.append(Op(f"    {fresh} = stablehlo.bitcast_convert {x} : ({x_type}) -> {q_type}{op.place}"))
            quantized[x] = (fresh, q_type)
        if (x, q_type, type_) in real:
            rename(ops, result, real[x, q_type, type_])
            continue
        real[x, q_type, type_] = result
        made.append(Op(f"    {result} = stablehlo.uniform_dequantize {quantized[x][0]} : ({q_type}) -> {type_}{op.place}"))
    return made
