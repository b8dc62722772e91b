# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization per tensor and per channel: real values to integers and back."""
import torch


def _along(values, axis, like):
    shape = [1] * like.dim()
    shape[axis] = -1
    return torch.as_tensor(values, device=like.device).reshape(shape)


def xla_quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    """round(input / scale) + zero_point, within [quant_min, quant_max], as `dtype`."""
    return torch.clamp(torch.round(input / scale) + zero_point, quant_min, quant_max).to(dtype)


def xla_quantize_per_channel(input, scale, zero_point, axis, quant_min, quant_max, dtype):
    """xla_quantize_per_tensor() with a scale and a zero point per index of dim `axis`."""
    return xla_quantize_per_tensor(input, _along(scale, axis, input), _along(zero_point, axis, input), quant_min, quant_max, dtype)


def xla_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    """(input - zero_point) * scale. `dtype` is that of the input."""
    return (input.to(torch.float32) - zero_point) * scale


def xla_dequantize_per_channel(input, scale, zero_point, axis, quant_min, quant_max, dtype):
    """xla_dequantize_per_tensor() with a scale and a zero point per index of dim `axis`."""
    return xla_dequantize_per_tensor(input, _along(scale, axis, input), _along(zero_point, axis, input), quant_min, quant_max, dtype)
