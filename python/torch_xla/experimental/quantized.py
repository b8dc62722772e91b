# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization per tensor and per channel: real values to integers and back."""
import torch


def _along(values, axis, like):
    shape = [1] * like.dim()
    shape[axis] = -1
    return torch.as_tensor(values, device=like.device).reshape(shape)


def xla_quantize_per_tensor(input: torch.Tensor, scale: float | torch.Tensor, zero_point: int | torch.Tensor, quant_min: int, quant_max: int,
                            dtype: torch.dtype) -> torch.Tensor:
    """Quantizes a tensor: clamp(round(input / scale) + zero_point, quant_min, quant_max).

    Args:
      input: A tensor of floating point.
      scale: The distance of two quantized values.
      zero_point: The integer that stands for 0.
      quant_min: The least integer.
      quant_max: The largest integer.
      dtype: The integer type of the result.

    Returns:
      A tensor of the sizes of `input`. Halves are rounded to the even neighbour.
    """
    return torch.clamp(torch.round(input / scale) + zero_point, quant_min, quant_max).to(dtype)


def xla_quantize_per_channel(input: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int, quant_min: int, quant_max: int,
                             dtype: torch.dtype) -> torch.Tensor:
    """Quantizes a tensor as xla_quantize_per_tensor() does, with a scale and a zero point per index of one dimension.

    Args:
      input: A tensor of floating point.
      scale: The distance of two quantized values, one per channel.
      zero_point: The integer that stands for 0, one per channel.
      axis: The dimension of the channels.
      quant_min: The least integer.
      quant_max: The largest integer.
      dtype: The integer type of the result.
    """
    return xla_quantize_per_tensor(input, _along(scale, axis, input), _along(zero_point, axis, input), quant_min, quant_max, dtype)


def xla_dequantize_per_tensor(input: torch.Tensor, scale: float | torch.Tensor, zero_point: int | torch.Tensor, quant_min: int, quant_max: int,
                              dtype: torch.dtype) -> torch.Tensor:
    """Returns the real values of quantized ones: (input - zero_point) * scale, of float32.

    Args:
      input: A tensor of integers.
      scale: The distance of two quantized values.
      zero_point: The integer that stands for 0.
      quant_min: Has no effect.
      quant_max: Has no effect.
      dtype: Has no effect; it names the type of `input`.
    """
    return (input.to(torch.float32) - zero_point) * scale


def xla_dequantize_per_channel(input: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int, quant_min: int, quant_max: int,
                               dtype: torch.dtype) -> torch.Tensor:
    """Returns the real values of quantized ones, with a scale and a zero point per index of one dimension.

    Args:
      input: A tensor of integers.
      scale: The distance of two quantized values, one per channel.
      zero_point: The integer that stands for 0, one per channel.
      axis: The dimension of the channels.
      quant_min: Has no effect.
      quant_max: Has no effect.
      dtype: Has no effect; it names the type of `input`.
    """
    return xla_dequantize_per_tensor(input, _along(scale, axis, input), _along(zero_point, axis, input), quant_min, quant_max, dtype)
