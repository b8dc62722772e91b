# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the user's own, written with XLA's operations: xb.Op values are combined by methods and operators, and
create_computation() makes a function of StableHLO of them. torch_xla.core.xla_op_registry calls such functions on tensors;
call_jax() does so for functions of JAX. docs/guide/torch-custom-operations.md"""
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .. import _load
from .._bindings_graphs import _TYPES
from . import _builder, _builder_ops

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class Type:
    """Names of element types."""
    F32, F64, BF16, F16 = "f32", "f64", "bf16", "f16"
    U8, S8, U16, S16, U32, S32, U64, S64 = "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"
    C64, C128, PRED = "c64", "c128", "pred"


_PT_XLA_TYPE_MAP = {getattr(torch, name): kind for name, kind in _TYPES.items()}  # PyTorch's types by those names, and back
_XLA_PT_TYPE_MAP = {kind: dtype for dtype, kind in _PT_XLA_TYPE_MAP.items()}


class Shape:
    """Type and sizes of a value, or a list of shapes for a tuple."""

    def __init__(self, shape: Any) -> None:
        self._shape = shape

    @classmethod
    def create(cls, dtype: Any, sizes: Sequence[int], dynamic_dimensions: Sequence[bool] | None = None) -> "Shape":
        """A tensor's."""
        made = {"type": str(dtype), "sizes": tuple(sizes)}
        if dynamic_dimensions is not None:
            made["dynamic_dimensions"] = tuple(dynamic_dimensions)
        return Shape(made)

    @property
    def shape(self) -> Any:
        """{"type": ..., "sizes": ...}, or a list of them."""
        return self._shape

    def is_tuple(self) -> bool:
        """Whether it is a tuple's."""
        return isinstance(self._shape, (list, tuple))

    def _of(self, want_tuple):
        if self.is_tuple() != want_tuple:
            raise RuntimeError(f"expects the shape of a {'tuple' if want_tuple else 'tensor'}, but got {self._shape}")
        return self._shape

    def tuple_size(self) -> int:
        """How many parts the tuple has."""
        return len(self._of(True))

    def tuple_shape(self, index: int) -> "Shape":
        """The shape of a part."""
        return self._of(True)[index]

    def is_dynamic(self) -> bool:
        """Whether sizes are known at run time only."""
        return "dynamic_dimensions" in self._of(False)

    def as_scalar(self) -> "Shape":
        """That of one element."""
        return Shape.create(self.dtype, ())

    rank = property(lambda self: len(self.sizes), doc="Number of dims.")
    sizes = property(lambda self: self._of(False)["sizes"], doc="The sizes of the dims.")
    dtype = property(lambda self: self._of(False)["type"], doc="The name of the element type.")
    dynamic_dimensions = property(lambda self: self._of(False).get("dynamic_dimensions"), doc="Which dims are dynamic, or None.")

    def __repr__(self):
        return f"Shape({self._shape})"


def _raw(value):
    return value.op if isinstance(value, Op) else value


def _method(name, *parameters, **defaults):
    """A method of Op for the operation `name`: operands first, then these parameters (with these defaults)."""
    operands = [p[1:] for p in parameters if p.startswith("$")]
    names = [p.lstrip("$") for p in parameters]

    def run(self, *args, **kwargs):
        if len(args) > len(names):
            raise TypeError(f"{name} takes {len(names)} arguments, but {len(args)} were given")
        given = {**defaults, **dict(zip(names, args)), **kwargs}
        missing = [n for n in names if n not in given] + [n for n in given if n not in names]
        if missing:
            raise TypeError(f"{name} takes the arguments {names}; wrong or missing: {missing}")
        rest = {k: v for k, v in given.items() if k not in operands}
        return mkop(name, (self.op, *(given[n].op for n in operands)), **rest)
    run.__doc__ = f"XLA's operation {name}" + (f" with {', '.join(names)}." if names else ".")
    return run


_CONV = ("input_batch_dimension", "input_feature_dimension", "kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "output_batch_dimension", "output_feature_dimension", "input_spatial_dimensions", "kernel_spatial_dimensions",
         "output_spatial_dimensions")
_GROUPS = {"feature_group_count": 1, "batch_group_count": 1, "precision_config": None}


class Op:
    """A value of a function under construction, or a tuple of such values. `op`: what mkop() takes."""

    __hash__ = object.__hash__

    def __init__(self, op: Any) -> None:
        self.op = op

    def shape(self) -> Any:
        """Its Shape."""
        return Shape(self.op.shape)

    def builder(self) -> Any:
        """The function that it is part of."""
        return self.op.builder

    def build(self, name: str) -> Any:
        """The function that returns it."""
        return self.op.builder.build(name, self.op)

    #===-- Movement ------------------------------------------------------------===

    reshape = _method("Reshape", "sizes", "dimensions", "inferred_dimension", dimensions=None, inferred_dimension=None)
    dynamic_reshape = _method("DynamicReshape", "sizes")
    broadcast = _method("Broadcast", "sizes")
    broadcast_in_dim = _method("BroadcastInDim", "sizes", "dimensions")
    slice_in_dim = _method("SliceInDim", "start_index", "limit_index", "dimno", "stride", stride=1)
    transpose = _method("Transpose", "permutation")
    rev = _method("Rev", "dimensions")
    pad = _method("Pad", "$value", "config")
    cast = _method("Convert", "to_type")
    bitcast = _method("BitcastConvert", "to_type")
    get_tuple_element = _method("GetTupleElement", "index")
    get_dimension_size = _method("GetDimensionSize", "dimension")
    set_dimension_size = _method("SetDimensionSize", "$size", "dimension")

    def slice(self, start_indices: Any, limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> "Op":
        """The elements from start_indices to limit_indices."""
        return mkop("Slice", (self.op,), start_indices=start_indices, limit_indices=limit_indices,
                    strides=strides or [1] * len(start_indices))

    def dynamic_slice(self, start_indices: Any, slice_sizes: Sequence[int] | None) -> "Op":
        """slice_sizes elements from start_indices, scalars, on."""
        return mkop("DynamicSlice", (self.op,), start_indices=[x.op for x in start_indices], slice_sizes=slice_sizes)

    def dynamic_update_slice(self, update: "Op", start_indices: Any) -> "Op":
        """With `update` from start_indices, scalars, on."""
        return mkop("DynamicUpdateSlice", (self.op, update.op), start_indices=[x.op for x in start_indices])

    def gather(self, start_indices: Any, offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int], start_index_map: Sequence[int], index_vector_dim: int,
               indices_are_sorted: bool | None = None, slice_sizes: Sequence[int] | None = None) -> "Op":
        """Slices at indices; slice_sizes by default: one element of the collapsed dims, all of the others."""
        sizes = slice_sizes or [1 if i in collapsed_slice_dims else n for i, n in enumerate(self.op.sizes)]
        return mkop("Gather", (self.op, start_indices.op), offset_dims=offset_dims, collapsed_slice_dims=collapsed_slice_dims,
                    start_index_map=start_index_map, index_vector_dim=index_vector_dim, indices_are_sorted=indices_are_sorted,
                    slice_sizes=sizes)

    def scatter(self, scatter_indices: "Op", updates: "Op", computation: Any, update_window_dims: Sequence[int], inserted_window_dims: Sequence[int],
                scatter_dims_to_operand_dims: Sequence[int], index_vector_dim: int, indices_are_sorted: bool | None = None, unique_indices: bool | None = None) -> "Op":
        """With the updates at indices, combined by a computation of two scalars."""
        return mkop("Scatter", (self.op, scatter_indices.op, updates.op), computation=self._of_scalars("Scatter", computation),
                    update_window_dims=update_window_dims, inserted_window_dims=inserted_window_dims,
                    scatter_dims_to_operand_dims=scatter_dims_to_operand_dims, index_vector_dim=index_vector_dim,
                    indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)

    #===-- Contractions --------------------------------------------------------===

    conv = _method("Conv", "$kernel", "window_strides", *_GROUPS, "padding", padding="valid", **_GROUPS)
    conv_with_general_padding = _method("ConvWithGeneralPadding", "$kernel", "window_strides", "padding", *_GROUPS, **_GROUPS)
    conv_with_general_dimensions = _method("ConvWithGeneralDimensions", "$kernel", "window_strides", *_CONV, "padding", *_GROUPS,
                                           padding="valid", **_GROUPS)
    conv_general = _method("ConvGeneral", "$kernel", "window_strides", "padding", *_CONV, *_GROUPS, **_GROUPS)
    conv_general_dilated = _method("ConvGeneralDilated", "$kernel", "window_strides", "padding", "lhs_dilation", "rhs_dilation",
                                   *_CONV, *_GROUPS, **_GROUPS)
    triangualr_solve = _method("TriangularSolve", "$b", "left_side", "lower", "unit_diagonal", "transpose_a", left_side=None,
                               lower=None, unit_diagonal=None, transpose_a=None)
    triangular_solve = triangualr_solve  # the first spelling is the original's

    #===-- Reductions and windows ----------------------------------------------===

    def _of_scalars(self, name, computation):
        scalar = self.shape().as_scalar()
        return Op.make_computation(name, computation, (scalar, scalar))

    def reduce(self, init_value: "Op", computation: Any, dimensions: Sequence[int]) -> "Op":
        """The dims `dimensions` combined by a computation of two scalars, from init_value on."""
        return mkop("Reduce", (self.op, init_value.op), computation=self._of_scalars("Reduce", computation), dimensions=dimensions)

    def reduce_all(self, init_value: "Op", computation: Any) -> "Op":
        """reduce() of all dims."""
        return mkop("ReduceAll", (self.op, init_value.op), computation=self._of_scalars("ReduceAll", computation))

    def reduce_window(self, init_value: "Op", computation: Any, window_dimensions: Sequence[int], window_strides: Sequence[int], padding: str = "valid") -> "Op":
        """The windows that go over it, each reduced."""
        return mkop("ReduceWindow", (self.op, init_value.op), computation=self._of_scalars("ReduceWindow", computation),
                    window_dimensions=window_dimensions, window_strides=window_strides, padding=padding)

    def select_and_scatter(self, source: "Op", init_value: "Op", window_dimensions: Sequence[int], window_strides: Sequence[int], select_computation: Any, scatter_computation: Any,
                           padding: str = "valid") -> "Op":
        """For every window the value of `source`, added by scatter_computation to the element that select_computation prefers."""
        return mkop("SelectAndScatter", (self.op, source.op, init_value.op), window_dimensions=window_dimensions,
                    window_strides=window_strides, select_computation=self._of_scalars("Select", select_computation),
                    scatter_computation=self._of_scalars("Scatter", scatter_computation), padding=padding)

    select_and_scatter_with_general_padding = select_and_scatter
    max_pool = _method("MaxPool", "kernel_size", "stride", "batch_dimension", "feature_dimension", "spatial_dimensions", "padding",
                       padding="valid")
    select = _method("Select", "$true_value", "$false_value")
    clamp = _method("Clamp", "$min_value", "$max_value")
    atan2, max, min = _method("Atan2", "$other"), _method("Max", "$other"), _method("Min", "$other")

    #===-- Control flow --------------------------------------------------------===

    def conditional(self, true_operand: "Op", false_operand: "Op", true_computation: Any, false_computation: Any) -> "Op":
        """true_computation(true_operand) where this scalar holds, else the other."""
        return mkop("Conditional", (self.op, true_operand.op, false_operand.op),
                    true_computation=Op.make_computation("CondTrue", true_computation, (true_operand,)),
                    false_computation=Op.make_computation("CondFalse", false_computation, (false_operand,)))

    def mkconditional(self, ops: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], **kwargs: Any) -> "Op":
        """true_fn(*ops) or false_fn(*ops)."""
        operands = Op.tuple(ops)
        return self.conditional(operands, operands, true_fn, false_fn)

    def while_loop(self, condition_computation: Any, body_computation: Any) -> "Op":
        """The body applied to this as long as the condition holds."""
        return mkop("While", (self.op,), condition_computation=Op.make_computation("Condition", condition_computation, (self,)),
                    body_computation=Op.make_computation("Body", body_computation, (self,)))

    @classmethod
    def mkwhile(cls, ops: Any, condition_fn: Callable[..., Any], body_fn: Callable[..., Any], **kwargs: Any) -> "Op":
        """A loop over the tuple of `ops`."""
        return cls.tuple(ops).while_loop(condition_computation=condition_fn, body_computation=body_fn)

    @classmethod
    def wrap_function(cls, fn: Callable[..., Any]) -> Callable[..., Any]:
        """`fn` with the parts of a tuple as arguments, and a tuple of several results."""
        def run(*args, **kwargs):
            if len(args) == 1 and args[0].shape().is_tuple():
                args = [args[0].get_tuple_element(i) for i in range(args[0].shape().tuple_size())]
            made = fn(*args, **kwargs)
            return Op.tuple(made) if isinstance(made, (tuple, list)) else made
        return run

    @classmethod
    def make_computation(cls, name: str, computation: Any, args_or_shapes: Any, **kwargs: Any) -> Any:
        """A function as a computation for arguments of these shapes; a computation as it is."""
        if not callable(computation):
            return computation
        shapes = [arg if isinstance(arg, Shape) else arg.shape() for arg in args_or_shapes]
        return create_computation(name, cls.wrap_function(computation), shapes, **kwargs)

    #===-- Values --------------------------------------------------------------===

    def scalar_like(self, value: Any) -> "Op":
        """A tensor of this shape, full of `value`."""
        return Op.scalar(self.builder(), value, dtype=self.shape().dtype).broadcast(self.shape().sizes)

    def zeros_like(self) -> "Op":
        """Zeros of this shape."""
        return self.scalar_like(0)

    def ones_like(self) -> "Op":
        """Ones of this shape."""
        return self.scalar_like(1)

    @classmethod
    def tuple(cls, ops: Any, builder: Any = None) -> "Op":
        """The tuple of these values."""
        return mkop("Tuple", [x.op for x in ops], builder=builder)

    @classmethod
    def concat_in_dim(cls, ops: Any, dimension: int | None, builder: Any = None) -> "Op":
        """The values, one after the other along a dim."""
        return mkop("ConcatInDim", [x.op for x in ops], builder=builder, dimension=dimension)

    @classmethod
    def call(cls, computation: Any, ops: Any, builder: Any = None) -> "Op":
        """A computation, or a function, of these values."""
        return mkop("Call", [x.op for x in ops], computation=cls.make_computation("Call", computation, ops), builder=builder)

    @classmethod
    def constant(cls, builder: Any, value: Any) -> "Op":
        """A CPU tensor as part of the function."""
        return mkleaf("Constant", builder, value=value)

    @classmethod
    def scalar(cls, builder: Any, value: Any, dtype: Any = None) -> "Op":
        """A number of a type, f32 by default."""
        return mkleaf("Constant", builder, value=torch.tensor(value, dtype=cls.to_torch_type(dtype)))

    @classmethod
    def zero(cls, builder: Any, dtype: Any = None) -> "Op":
        """The number 0."""
        return cls.scalar(builder, 0, dtype=dtype)

    @classmethod
    def one(cls, builder: Any, dtype: Any = None) -> "Op":
        """The number 1."""
        return cls.scalar(builder, 1, dtype=dtype)

    @classmethod
    def iota(cls, builder: Any, shape: Any, iota_dimension: int) -> "Op":
        """Every element its index in a dim."""
        return mkleaf("Iota", builder, shape=shape.shape, iota_dimension=iota_dimension)

    @classmethod
    def sort(cls, ops: Any, comparator: Any, dimension: int | None = None, is_stable: bool | None = None) -> "Op":
        """The values sorted together, the last dim by default, by a comparator of a pair of scalars per value."""
        scalars = [op.shape().as_scalar() for op in ops for _ in range(2)]
        return mkop("Sort", [x.op for x in ops], comparator=cls.make_computation("Compare", comparator, scalars),
                    dimension=dimension, is_stable=is_stable)

    @classmethod
    def map(cls, ops: Any, computation: Any, dimensions: Sequence[int], static_operands: Any = (), builder: Any = None) -> "Op":
        """A computation of scalars, applied to every element."""
        made = cls.make_computation("Map", computation, [op.shape().as_scalar() for op in ops])
        return mkop("Map", [x.op for x in ops], builder=builder, computation=made, dimensions=dimensions)

    @classmethod
    def to_torch_type(cls, dtype: Any) -> Any:
        """The type of PyTorch with that name; float32 for None."""
        return _builder.TORCH_TYPES[dtype] if dtype else torch.float32


for _name, _kind in {"__add__": "Add", "__sub__": "Sub", "__mul__": "Mul", "__matmul__": "Dot", "__truediv__": "Div", "__pow__": "Pow",
                     "__mod__": "Rem", "__and__": "And", "__or__": "Or", "__xor__": "Xor", "__eq__": "Eq", "__ne__": "Ne",
                     "__le__": "Le", "__lt__": "Lt", "__ge__": "Ge", "__gt__": "Gt", "__lshift__": "ShiftLeft",
                     "__rshift__": "ShiftRight"}.items():
    setattr(Op, _name, _method(_kind, "$other"))
for _name in ("acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "log", "log1p", "sqrt", "real",
              "imag", "clz", "conj", "rsqrt", "sin", "sinh", "tan", "tanh", "abs", "sign", "logistic", "cbrt"):
    setattr(Op, _name, _method(_name.capitalize()))
for _name, _kind in {"erfinf": "ErfInv", "erfinv": "ErfInv",  # the first spelling is the original's
                     "__neg__": "Neg", "__not__": "Not", "__invert__": "Not"}.items():
    setattr(Op, _name, _method(_kind))


#===-- Functions -------------------------------------------------------------===


def create_builder(name: str) -> Any:
    """An empty function."""
    return _builder.Builder(name)


def mkshape(dtype: Any, sizes: Sequence[int], dynamic_dimensions: Sequence[bool] | None = None) -> Shape:
    """A Shape."""
    return Shape.create(dtype, sizes, dynamic_dimensions=dynamic_dimensions)


def mkop(name: str, ops: Any, **kwargs: Any) -> Op:
    """The operation with that name on `ops` (Op.op each)."""
    builder = kwargs.pop("builder", None)
    if builder is None:
        if not ops:
            raise ValueError(f"{name} needs an operand, or a builder")
        builder = next(leaf.builder for op in ops for leaf in op.leaves())
    if name not in _builder_ops.OPS:
        raise RuntimeError(f"there is no operation {name!r}")
    return Op(_builder_ops.OPS[name](builder, [_raw(op) for op in ops], kwargs))


def mkleaf(name: str, builder: Any, **kwargs: Any) -> Op:
    """An operation without operands."""
    return mkop(name, (), builder=builder, **kwargs)


def mkparam(builder: Any, param_no: int, shape: Any) -> Op:
    """The parameter `param_no` of a function."""
    return Op(builder.parameter(param_no, shape.shape))


def tensor_shape(tensor: Any, device: str = "") -> Any:
    """The Shape of a tensor; of a list of tensors, a list."""
    if isinstance(tensor, (list, tuple)):
        return [tensor_shape(t, device) for t in tensor]
    return Shape.create(_builder.NAMES[tensor.dtype], tuple(tensor.shape))


def create_computation(name: str, fn: Callable[..., Any], shapes: Any, **kwargs: Any) -> Any:
    """The function of StableHLO that `fn` describes: it gets an Op per shape, and kwargs, and returns an Op."""
    builder = create_builder(name)
    return fn(*[mkparam(builder, number, shape) for number, shape in enumerate(shapes)], **kwargs).build(name)


def computation_from_module_proto(name: str, proto: bytes) -> Any:
    """A computation from StableHLO: its text, or a portable artifact. XLA's protocol buffers are not read."""
    text = proto if isinstance(proto, str) else _XLAC._artifact_text(bytes(proto))
    return Program(name, text)


def get_computation_hlo(computation: Any) -> str:
    """The HLO text of a computation."""
    return _XLAC._program_hlo(computation.text())


class Program:
    """A computation given as StableHLO text, whose function is main."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self._text = name, text

    def text(self) -> str:
        """The StableHLO module."""
        return self._text


def user_computation(name: str, tensors: Any, computation: Any) -> Any:
    """The tensors that a computation returns for these, as one operation of the graph."""
    from ..experimental._control_flow import _to_device
    return _XLAC._embed(name, computation.text(), [_to_device(tensor) for tensor in tensors])


def create_placeholder_tensor(shape: Any, dtype: Any) -> torch.Tensor:
    """A tensor of the device that stands for a value: graphs can be recorded with it, but not run."""
    return _XLAC._create_placeholder_tensor(tuple(shape), dtype)


#===-- JAX -------------------------------------------------------------------===

# What functions of JAX, and functions that are assumed to be pure, have become: by function, then by arguments.
_JAX_TO_XLA_COMPUTATION_CACHE: Any = weakref.WeakKeyDictionary()


def _jax_to_xla_computation_cache_elements():
    return sum(len(known) for known in _JAX_TO_XLA_COMPUTATION_CACHE.values())


def _lowered(jax, jax_func, leaves, spec, statics):
    """(StableHLO text, structure of the results) of a function of JAX."""
    shapes = [jax.ShapeDtypeStruct(tuple(leaf.shape), jax.numpy.dtype(str(leaf.dtype).removeprefix("torch."))) for leaf in leaves]
    layout = []

    def flat(*given):
        values = iter(given)
        args, kwargs = pytree.tree_unflatten([next(values) if static is _TENSOR else static for static in statics], spec)
        made, structure = jax.tree_util.tree_flatten(jax_func(*args, **kwargs))
        layout[:] = [structure]
        return made
    is_wide = any(leaf.dtype.itemsize == 8 and leaf.dtype != torch.complex64 for leaf in leaves)
    with jax.enable_x64(True if is_wide else jax.config.jax_enable_x64), _pallas_rule():
        text = jax.jit(flat, keep_unused=True).lower(*shapes).as_text()
    return text, layout[0]


def _pallas_rule():
    """A context in which kernels of Pallas are lowered: where the program uses Pallas, and the package millrace-jax is there."""
    import contextlib
    import sys
    if "jax._src.pallas.pallas_call" in sys.modules:
        try:
            from millrace_jax import pallas_hook
            return pallas_hook.registered()
        except ImportError:
            pass  # functions without kernels need no rule; JAX's says what it does not do
    return contextlib.nullcontext()


_TENSOR = object()


def _configuration(jax):
    """All settings of JAX, with those of context managers of this thread: they decide about what a function becomes."""
    return tuple(value if isinstance(value, (bool, int, float, str, type(None))) else repr(value) for value in jax.config.values.values())


def call_jax(jax_func: Callable[..., Any], args: Any, kwargs: dict[str, Any] | None = None, name: str | None = None) -> Any:
    """What `jax_func`, a function of JAX, returns for `args` and `kwargs`: nested lists, tuples and dicts with tensors of the
    device. Its operations become part of the graph; it is traced once per combination of sizes, types, other arguments and settings of
    JAX (jax.config, and context managers such as jax.default_matmul_precision).

    Random numbers of JAX depend on their key: one that is made in the function gives the same numbers in every call, one among the
    arguments (its words: a tensor of the type uint32) those of its value."""
    try:
        import jax
    except ImportError:
        raise RuntimeError("call_jax needs the package jax: pip install jax") from None
    flat, spec = pytree.tree_flatten((tuple(args), dict(kwargs or {})))
    leaves = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
    statics = [_TENSOR if isinstance(leaf, torch.Tensor) else leaf for leaf in flat]
    key = (str(spec), tuple(statics), tuple((tuple(leaf.shape), leaf.dtype) for leaf in leaves), _configuration(jax))
    known = _JAX_TO_XLA_COMPUTATION_CACHE.setdefault(jax_func, {})
    if key not in known:
        known[key] = _lowered(jax, jax_func, leaves, spec, statics)
    text, layout = known[key]
    made = user_computation(f"xla::{name or getattr(jax_func, '__name__', 'jax')}", leaves, Program(name or "jax", text))
    return jax.tree_util.tree_unflatten(layout, made)
