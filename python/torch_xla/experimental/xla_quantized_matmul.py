# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with weights of 8 bits, a scale per output channel."""
import torch


def _check(weight, block_size, int4_weight):
    if block_size != -1 or int4_weight:
        raise NotImplementedError("weights in blocks and of 4 bits are not there yet")
    if weight.dtype != torch.int8:
        raise TypeError(f"expects weights of int8, but got {weight.dtype}")


def quantized_matmul_xla(x, w, scaler, zero_point=None, block_size=-1, int4_weight=False, quantize_activation=False):
    """x @ w.T * scaler - x.sum(-1) * zero_point, for w of int8 (outputs, inputs), scaler and zero_point (outputs).

    `quantize_activation`: rounds x to 8 bits, a scale per row."""
    _check(w, block_size, int4_weight)
    if quantize_activation:
        scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        quantized = torch.round(x / scale)
        product = torch.nn.functional.linear(quantized.to(torch.float32), w.to(torch.float32)).to(x.dtype) * scale
    else:
        product = torch.nn.functional.linear(x, w.to(x.dtype))
    product = product * scaler
    return product if zero_point is None else product - x.sum(-1, keepdim=True) * zero_point


quantized_matmul = quantized_matmul_xla


class XlaQuantizedLinear(torch.nn.Module):
    """A linear layer with weights of int8, from load_quantized_weight(). `is_symmetric`: no zero points."""

    def __init__(self, input_dim, output_dim, is_symmetric=False, block_size=-1, int4_weight=False, quantize_activation=False):
        super().__init__()
        if block_size != -1 or int4_weight:
            raise NotImplementedError("weights in blocks and of 4 bits are not there yet")
        self.quantize_activation = quantize_activation
        self.register_buffer("weight", torch.zeros(output_dim, input_dim, dtype=torch.int8))
        self.register_buffer("weight_scaler", torch.zeros(output_dim))
        self.register_buffer("zero_point", None if is_symmetric else torch.zeros(output_dim))

    def load_quantized_weight(self, weight, weight_scaler, zero_point=None):
        """weight: int8 (outputs, inputs); weight_scaler and zero_point: (outputs)."""
        _check(weight, -1, False)
        if weight.shape != self.weight.shape:
            raise ValueError(f"expects weights of sizes {tuple(self.weight.shape)}, but got {tuple(weight.shape)}")
        if (zero_point is None) != (self.zero_point is None):
            raise ValueError("expects zero points exactly if the layer is not symmetric")
        self.weight, self.weight_scaler, self.zero_point = weight, weight_scaler, zero_point

    def forward(self, x):
        """x: (..., inputs)."""
        return quantized_matmul_xla(x, self.weight, self.weight_scaler, self.zero_point, quantize_activation=self.quantize_activation)
