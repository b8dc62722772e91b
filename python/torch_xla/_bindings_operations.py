# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of torch_xla._XLAC that few programs use: functions of XLA's operations, optimizer steps, collectives of lists, sizes from
tensors. Added at the first request for a name that does not exist: an import pays nothing for them."""
import json
import re

import torch

from . import _load
from ._bindings_table import Table
from .amp.syncfree import _functional
from .core import _builder, _builder_ops, _collective_programs, xla_builder
from .core import _collectives as collectives

_XLAC = _load.sys.modules["torch_xla._XLAC"]
bound = Table()


#===-- Functions of XLA's operations -------------------------------------------===


@bound
def _xla_op_tensor_shape(tensor, device=""):
    return xla_builder.tensor_shape(tensor, device).shape


@bound
def _xla_op_param(builder, param_no, shape):
    return builder.parameter(param_no, shape)


@bound
def _xla_op_create(builder, opname, operands, args):
    if opname not in _builder_ops.OPS:
        raise RuntimeError(f"there is no operation {opname!r}")
    return _builder_ops.OPS[opname](builder, list(operands), dict(args))


@bound
def _xla_op_build(name, root):
    return root.builder.build(name, root)


@bound
def _xla_op_shape(op):
    return op.shape


@bound
def _xla_op_builder(op):
    return op.builder


#===-- Optimizers --------------------------------------------------------------===


@bound
def _xla_sgd_optimizer_step_(found_inf, step, param, buf, d_p, weight_decay, momentum, lr, dampening, nesterov, maximize):
    _functional.sgd_step(found_inf, [step], [param], [d_p], [buf], weight_decay=weight_decay, momentum=momentum, lr=lr,
                         dampening=dampening, nesterov=nesterov, maximize=maximize)


@bound
def _xla_adam_optimizer_step_(found_inf, step, param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, beta1, beta2, lr, weight_decay,
                              eps, amsgrad, maximize, use_adamw):
    _functional.adam_step(found_inf, [step], [param], [grad], [exp_avg], [exp_avg_sq], [max_exp_avg_sq], amsgrad=amsgrad,
                          beta1=beta1, beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps, maximize=maximize,
                          use_adamw=use_adamw)


#===-- Collectives: results, then the token ------------------------------------===


@bound
def _xla_all_gather_out(output, input, token, dim, shard_count, groups, pin_layout=True):
    collectives.all_gather(input, dim, groups or None, output, pin_layout)
    return token


@bound
def _xla_all_gather_coalesced(tensors, token, dim, shard_count, groups, pin_layout=True):
    return [*collectives.all_gather(list(tensors), dim, groups or None, None, pin_layout), token]


@bound
def _xla_all_gather_coalesced_out(outputs, inputs, token, dim, shard_count, groups, pin_layout=True):
    collectives.all_gather(list(inputs), dim, groups or None, list(outputs), pin_layout)
    return token


@bound
def _xla_reduce_scatter_out(reduce_type, output, input, token, scale, scatter_dim, shard_count, groups, pin_layout=True):
    collectives.reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups or None, output, pin_layout)
    return token


@bound
def _xla_reduce_scatter_coalesced(reduce_type, inputs, token, scale, scatter_dim, shard_count, groups, pin_layout=True):
    return [*collectives.reduce_scatter(reduce_type, list(inputs), scale, scatter_dim, shard_count, groups or None, None, pin_layout),
            token]


@bound
def _xla_reduce_scatter_coalesced_out(reduce_type, outputs, inputs, token, scale, scatter_dim, shard_count, groups,
                                      pin_layout=True):
    collectives.reduce_scatter(reduce_type, list(inputs), scale, scatter_dim, shard_count, groups or None, list(outputs), pin_layout)
    return token


@bound
def _xla_send(input, token, channel_id):
    return _collective_programs.send(input, channel_id), token


@bound
def _xla_recv(output, token, channel_id):
    return _collective_programs.recv(output, channel_id), token


#===-- Numbers of few bits -----------------------------------------------------===


@bound
def _xla_cast_int4(weight, int4_weight_values):
    """Weights of 4 bits, given as bytes and as a list of numbers: the list, as a tensor of the weight's sizes."""
    if len(int4_weight_values) != weight.numel() or not all(-8 <= value <= 7 for value in int4_weight_values):
        raise RuntimeError(f"expects {weight.numel()} numbers from -8 to 7")
    return torch.tensor(int4_weight_values, dtype=torch.int8).reshape(weight.shape).to(weight.device)


def _quantized(kind, input, scales, zero_points, quant_min, quant_max, dtype, axis):
    from torch.ao.quantization.fx import _decomposed  # noqa: F401
    storage = getattr(torch, dtype) if isinstance(dtype, str) else dtype
    operators = torch.ops.quantized_decomposed
    if axis in (-1, None) and len(scales) == 1:
        return getattr(operators, f"{kind}_per_tensor")(input, scales[0], int(zero_points[0]), quant_min, quant_max, storage)
    scale = torch.tensor(scales).to(input.device)
    zero_point = torch.tensor(zero_points, dtype=torch.int64).to(input.device)
    return getattr(operators, f"{kind}_per_channel")(input, scale, zero_point, axis, quant_min, quant_max, storage)


@bound
def _xla_quantize_tensor(input, scale_list, zero_point_list, quant_min, quant_max, dtype, axis):
    return _quantized("quantize", input, scale_list, zero_point_list, quant_min, quant_max, dtype, axis)


@bound
def _xla_dequantize_tensor(input, scale_list, zero_point_list, quant_min, quant_max, dtype, axis):
    return _quantized("dequantize", input, scale_list, zero_point_list, quant_min, quant_max, dtype, axis)


#===-- Tensors -----------------------------------------------------------------===


@bound
def _xla_mark_tensor(input, info):
    """See torch.ops.xla.mark_tensor: `info` has its arguments as JSON."""
    from .experimental import mark_pattern_utils  # noqa: F401
    about = json.loads(info)
    attributes = about.get("attr")
    return torch.ops.xla.mark_tensor(input, about["name"], about["pos"], about["id"], about["is_input"],
                                     json.dumps(attributes) if isinstance(attributes, dict) else attributes)


def _with_size_of(size, source, source_dim, target_dim, factor=1):
    made = list(size)
    made[target_dim] = int(source.size(source_dim) * factor)
    return made


@bound
def _xla_dynamic_expand(input, size, src_tensor, src_dim, target_dim):
    return input.expand(_with_size_of(size, src_tensor, src_dim, target_dim))


@bound
def _xla_dynamic_view(input, size, src_tensor, src_dim, target_dim, mul_scaler=1):
    return input.view(_with_size_of(size, src_tensor, src_dim, target_dim, mul_scaler))


@bound
def _check_device_tensor_need_materialization(device=""):
    return _XLAC._check_tensor_need_materialization(_XLAC._live_tensors())


@bound
def _xla_tensors_report(nodes_threshold=100, device=""):
    """Returns the graphs of the tensors that are still to be computed and need more than so many operations. XLA_IR_DEBUG or XLA_HLO_DEBUG:
    with the regions (xp.Trace) and the lines of the user in which operations were recorded."""
    made = []
    for tensor in _XLAC._live_tensors():
        text = _XLAC._get_xla_tensors_text([tensor])
        count = text.count(" = ")
        if count > nodes_threshold:
            if _XLAC._get_ir_debug():
                places = re.findall(r"location=(.*?)@(.*?:\d+)", text)
                text += "Frames:\n" + "".join(f"  {function} ({place})\n" for function, place in dict.fromkeys(places))
            else:
                text = re.sub(r", scope=[^,\n]*", "", text)
            made.append(f"{tuple(tensor.shape)} {tensor.dtype}: {count} nodes\n{text}")
    return "\n".join(made)


@bound
def _xla_tpu_custom_call(tensors, payload, output_shapes, output_dtypes):
    from .experimental._pallas import run_payload
    return run_payload(tensors, payload, output_shapes, output_dtypes)


def install(xlac):
    """Adds the names to the compiled module."""
    bound.install(xlac)
    xlac.XlaBuilder, xlac.XlaOp, xlac.XlaComputation = _builder.Builder, _builder.Node, _builder.Computation
    xlac._xla_op_create_builder = xla_builder.create_builder
    xlac._xla_op_computation_from_module_proto = xla_builder.computation_from_module_proto
