# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with weights of 8 bits, and of 4 bits kept in bytes: a scale per output channel, or per block of inputs."""
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  torch.ops.quantized_decomposed, with which the weights are made


def pack_4bit(x: torch.Tensor, dtype: torch.dtype = torch.int8) -> torch.Tensor:
    """Packs pairs of 4-bit integers along the last dimension into bytes; the first of a pair is in the low bits.

    Args:
      x: A tensor of int8 with values from -8 to 7, whose last size is even.
      dtype: Must be torch.int8.

    Returns:
      A tensor of int8 with half as many elements.

    Raises:
      ValueError: The type is another one, or the last size is odd.
    """
    if dtype != torch.int8 or x.dtype != torch.int8 or x.size(-1) % 2:
        raise ValueError(f"expects int8 with a last dim of even size, but got {x.dtype} of sizes {tuple(x.shape)}")
    pairs = x.unflatten(-1, (-1, 2))
    return (pairs[..., 1] << 4) | (pairs[..., 0] & 0xF)


def unpack_4bit(x: torch.Tensor, dtype: torch.dtype = torch.int8) -> torch.Tensor:
    """Returns the integers that pack_4bit() packed.

    Args:
      x: A tensor of int8.
      dtype: Must be torch.int8.

    Raises:
      ValueError: The type is another one.
    """
    if dtype != torch.int8 or x.dtype != torch.int8:
        raise ValueError(f"expects int8, but got {x.dtype}")
    return torch.stack([(x << 4) >> 4, x >> 4], dim=-1).flatten(-2)


@torch.library.custom_op("xla::cast_int4", mutates_args=())
def _widened_4bit(w: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Bytes that are -8 to 7 as `dtype`, by way of 4 bits: programs show how small the numbers are."""
    if w.device.type != "xla":
        return w.to(dtype)
    from .. import _load
    from ..core import _builder
    sizes = "".join(f"{size}x" for size in w.shape)
    wide = _builder.ELEMENTS[_builder.NAMES[dtype]]
    text = (f"module @cast_int4 {{\n  func.func @main(%x: tensor<{sizes}i8>) -> tensor<{sizes}{wide}> {{\n"
            f"    %0 = stablehlo.convert %x : (tensor<{sizes}i8>) -> tensor<{sizes}i4>\n"
            f"    %1 = stablehlo.convert %0 : (tensor<{sizes}i4>) -> tensor<{sizes}{wide}>\n"
            f"    func.return %1 : tensor<{sizes}{wide}>\n  }}\n}}\n")
    return _load.sys.modules["torch_xla._XLAC"]._embed("xla::cast_int4", text, [w])[0]


@_widened_4bit.register_fake
def _(w, dtype):
    return torch.empty_like(w, dtype=dtype)


@torch.library.custom_op("xla::linear_product", mutates_args=())
def _product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """x @ w.T as one product, without a transposed copy of the weights."""
    if x.device.type != "xla":
        return torch.nn.functional.linear(x, w)
    from .. import _load
    return _load.sys.modules["torch_xla._XLAC"]._xla_dot_general(x, w, (([-1], [-1]), ()))


@_product.register_fake
def _(x, w):
    return x.new_empty(*x.shape[:-1], w.size(0))


_product.register_autograd(lambda ctx, gradient: (gradient @ ctx.saved_tensors[0], None),
                           setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[1]))


def _check(w, scaler, inputs, block_size):
    """Sizes of weights and scales: (outputs, inputs) and (outputs), or (blocks, block size, outputs) and (blocks, outputs)."""
    if w.dtype != torch.int8:
        raise TypeError(f"expects weights of int8, but got {w.dtype}")
    if block_size == -1:
        fits = w.dim() == 2 and w.size(1) == inputs and tuple(scaler.shape) == (w.size(0),)
    else:
        fits = w.dim() == 3 and w.size(0) * w.size(1) == inputs and w.size(1) == block_size and scaler.shape == (w.size(0), w.size(2))
    if not fits:
        raise ValueError(f"expects weights and scales for {inputs} inputs{'' if block_size == -1 else f' in blocks of {block_size}'}, but got "
                         f"{tuple(w.shape)} and {tuple(scaler.shape)}")


def quantized_matmul_xla(x: torch.Tensor, w: torch.Tensor, scaler: torch.Tensor, zero_point: torch.Tensor | None = None, block_size: int = -1,
                         int4_weight: bool = False, quantize_activation: bool = False) -> torch.Tensor:
    """Multiplies by a quantized matrix: x @ w.T * scaler - x.sum(-1) * zero_point.

    Args:
      x: The activations, (..., inputs).
      w: The weights of int8, (outputs, inputs), or with a block size (blocks, block size, outputs).
      scaler: The scale of each output, (outputs), or with a block size (blocks, outputs).
      zero_point: What is subtracted from each scaled weight, of the sizes of `scaler`; None: nothing.
      block_size: The number of inputs that share a scale; -1: all of them.
      int4_weight: Whether the weights are from -8 to 7, which the program shows as 4-bit integers.
      quantize_activation: Whether x is rounded to int8, with a scale per row; the products are sums of integers then.

    Returns:
      A tensor (..., outputs) of the type of x.

    Raises:
      TypeError: `w` is not of int8.
      ValueError: The sizes do not fit together.
    """
    _check(w, scaler, x.size(-1), block_size)
    scale = None
    given = x
    if quantize_activation:
        scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        given = torch.round(x / scale).to(torch.int8)  # the compiler sees int8 operands, and sums integers
    dtype = torch.float32 if quantize_activation else x.dtype
    weight = torch.ops.xla.cast_int4(w, dtype) if int4_weight else w.to(dtype)
    given = given.to(weight.dtype)
    if block_size == -1:
        product = torch.ops.xla.linear_product(given, weight).to(x.dtype) * scaler
        shift = None if zero_point is None else x.sum(-1, keepdim=True) * zero_point
    elif quantize_activation:
        product = (given @ (weight * scaler.to(weight.dtype).unsqueeze(1)).flatten(0, 1)).to(x.dtype)
        shift = None if zero_point is None else x.unflatten(-1, (-1, block_size)).sum(-1) @ zero_point
    else:
        blocks = torch.einsum("...kb,kbn->...kn", given.unflatten(-1, (-1, block_size)), weight).to(x.dtype)
        product = (blocks * scaler).sum(-2)
        shift = None if zero_point is None else x.unflatten(-1, (-1, block_size)).sum(-1) @ zero_point
    if scale is not None:
        product = product * scale
    return product if shift is None else product - shift


quantized_matmul = quantized_matmul_xla
_OPERATOR = ("quantized_matmul(Tensor x, Tensor w, Tensor scale, Tensor? zero_point=None, int? block_size=-1, bool? int4_weight=False, "
             "bool? quantize_activation=False) -> Tensor")
_library = torch.library.Library("xla", "FRAGMENT")
_library.define(_OPERATOR)
_library.impl("quantized_matmul", quantized_matmul_xla, "CompositeImplicitAutograd")


class XlaQuantizedLinear(torch.nn.Module):
    """A linear layer with weights of int8, which load_quantized_weight() sets; it has no bias. The sizes are those of quantized_matmul_xla().

    Args:
      input_dim: The number of inputs.
      output_dim: The number of outputs.
      is_symmetric: Whether the layer has no zero points; load_quantized_weight() without them makes it so.
      block_size: The number of inputs that share a scale; -1: all of them.
      int4_weight: Whether the weights are from -8 to 7.
      quantize_activation: Whether activations are rounded to int8, with a scale per row.

    Raises:
      ValueError: The block size does not divide the number of inputs.
    """

    def __init__(self, input_dim: int, output_dim: int, is_symmetric: bool = False, block_size: int = -1, int4_weight: bool = False,
                 quantize_activation: bool = False) -> None:
        super().__init__()
        if block_size != -1 and input_dim % block_size:
            raise ValueError(f"expects a number of inputs that {block_size} divides, but got {input_dim}")
        self.input_dim, self.output_dim, self.block_size = input_dim, output_dim, block_size
        self.is_symmetric, self.int4_weight, self.quantize_activation = is_symmetric, int4_weight, quantize_activation
        blocks = () if block_size == -1 else (input_dim // block_size,)
        weight = (output_dim, input_dim) if block_size == -1 else (*blocks, block_size, output_dim)
        self.register_buffer("weight", torch.zeros(weight, dtype=torch.int8))
        self.register_buffer("weight_scaler", torch.zeros(*blocks, output_dim))
        self.register_buffer("zero_point", None if is_symmetric else torch.zeros(*blocks, output_dim))

    def load_quantized_weight(self, weight: torch.Tensor, weight_scaler: torch.Tensor, zero_point: torch.Tensor | None = None) -> None:
        """Sets the weights; the tensors are not copied.

        Args:
          weight: Integers of int8.
          weight_scaler: Their scales.
          zero_point: Their zero points; None: the layer has none.

        Raises:
          TypeError: The weights are not of int8.
          ValueError: The sizes do not fit the layer, or it is symmetric and gets zero points.
        """
        _check(weight, weight_scaler, self.input_dim, self.block_size)
        if weight.size(0 if self.block_size == -1 else 2) != self.output_dim:
            raise ValueError(f"expects weights for {self.output_dim} outputs, but got sizes {tuple(weight.shape)}")
        if self.is_symmetric and zero_point is not None:
            raise ValueError("expects no zero points for a symmetric layer")
        self.weight, self.weight_scaler, self.zero_point = weight, weight_scaler, zero_point

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the outputs, (..., outputs).

        Args:
          x: The activations, (..., inputs).
        """
        return torch.ops.xla.quantized_matmul(x, self.weight, self.weight_scaler, self.zero_point, self.block_size, self.int4_weight,
                                              self.quantize_activation)

    @property
    def in_features(self) -> int:
        """The number of inputs, under the name of torch.nn.Linear; PEFT asks for it."""
        return self.input_dim

    @property
    def out_features(self) -> int:
        """The number of outputs, under the name of torch.nn.Linear."""
        return self.output_dim


class _Biased(torch.nn.Module):
    """A quantized layer and the bias that it does not have."""

    def __init__(self, linear: XlaQuantizedLinear, bias: torch.Tensor):
        super().__init__()
        self.linear, self.bias = linear, torch.nn.Parameter(bias.detach(), requires_grad=False)

    in_features = property(lambda self: self.linear.in_features)
    out_features = property(lambda self: self.linear.out_features)
    weight = property(lambda self: self.linear.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + self.bias


def quantize_linear(linear: torch.nn.Linear, bits: int = 8, block_size: int = -1) -> torch.nn.Module:
    """Rounds the weights of a linear layer to codes around zero.

    Args:
      linear: Any layer of floats; it stays as it is.
      bits: 8 or 4. Codes of 4 bits are kept in bytes.
      block_size: So many inputs share a scale of each output; -1: all of them.

    Returns:
      A layer that computes the same with these weights, and gradients of its inputs, but not of its weights.

    Raises:
      ValueError: `bits` is something else, or `block_size` does not divide the inputs.
    """
    if bits not in (4, 8):
        raise ValueError(f"expects 4 or 8 bits, but got {bits}")
    weight = linear.weight.detach().float()
    made = XlaQuantizedLinear(weight.size(1), weight.size(0), is_symmetric=True, block_size=block_size, int4_weight=bits == 4)
    if block_size != -1:
        weight = weight.t().unflatten(0, (-1, block_size))
    scale = weight.abs().amax(1).clamp(min=1e-12) / (2 ** (bits - 1) - 1)
    codes = (weight / scale.unsqueeze(1)).round().to(torch.int8)
    made.load_quantized_weight(codes.contiguous(), scale.to(linear.weight.dtype))
    made = made if linear.bias is None else _Biased(made, linear.bias)
    return made.train(linear.training)


def quantize_linears(model: torch.nn.Module, bits: int = 8, block_size: int = -1, skip: tuple[str, ...] = ("lm_head",)) -> torch.nn.Module:
    """Replaces the linear layers of a model by quantized ones (quantize_linear()), one after the other.

    Args:
      model: Is changed in place.
      bits: See quantize_linear().
      block_size: See quantize_linear(). Layers whose inputs it does not divide get one scale per output.
      skip: Last parts of the names of layers that stay as they are. Output layers do by default: their weights are often those of the
        embedding, too.

    Returns:
      `model`.
    """
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, torch.nn.Linear) and name not in skip:
                fits = block_size != -1 and child.in_features % block_size == 0
                setattr(module, name, quantize_linear(child, bits, block_size if fits else -1))
    return model


def lora_layers() -> dict[type, type]:
    """Returns the layers that PEFT makes adapters for beside its own, for LoraConfig(...)._register_custom_module(lora_layers()).

    Returns:
      PEFT's class of adapters for each class of quantized layers.

    Raises:
      ImportError: PEFT is not installed.
    """
    from peft.tuners.lora import Linear
    return {XlaQuantizedLinear: Linear, _Biased: Linear}
