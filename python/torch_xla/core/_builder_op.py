# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of functions under construction: the class Op of torch_xla.core.xla_builder, and the functions that make its objects."""
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _builder, _builder_ops
from ._builder_shapes import Shape
from ._builder_signatures import Signature


def _raw(value):
    return value.op if isinstance(value, Op) else value


def _method(name: str, *parameters: str, **defaults: Any) -> Callable[..., Any]:
    """Returns a method of Op that records the operation `name`, whose parameters Signature describes."""
    signature = Signature(name, parameters, defaults)

    def run(self: "Op", *args: Any, **kwargs: Any) -> "Op":
        operands, attributes = signature.bind(args, kwargs)
        return mkop(name, (self.op, *(operand.op for operand in operands)), **attributes)
    run.__doc__ = signature.docstring()
    return run


_CONV = ("input_batch_dimension", "input_feature_dimension", "kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "output_batch_dimension", "output_feature_dimension", "input_spatial_dimensions", "kernel_spatial_dimensions",
         "output_spatial_dimensions")
_GROUPS = {"feature_group_count": 1, "batch_group_count": 1, "precision_config": None}


class Op:
    """A value of a function under construction, or a tuple of such values.

    The operators of Python and the methods record XLA's operations on it. Binary operations take operands of one element type, whose sizes are
    equal or differ by scalars and unit dimensions; other operands raise RuntimeError. Objects of this class belong to one Builder, which one
    thread uses at a time.

    Args:
      op: The value in the form that mkop() takes, as the attribute `op` of another Op.
    """

    __hash__ = object.__hash__

    def __init__(self, op: Any) -> None:
        self.op = op

    def shape(self) -> Shape:
        """Returns the element type and the sizes of this value."""
        return Shape(self.op.shape)

    def builder(self) -> _builder.Builder:
        """Returns the function under construction that defines this value."""
        return self.op.builder

    def build(self, name: str) -> _builder.Computation:
        """Returns the computation whose result is this value.

        Args:
          name: The name of the computation, which appears in the StableHLO text.

        Raises:
          RuntimeError: The numbers of the parameters have a gap; the message names the first one that is missing.
        """
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

    def slice(self, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> "Op":
        """Returns the elements from start_indices to limit_indices.

        Args:
          start_indices: The first index per dimension.
          limit_indices: The index after the last one per dimension.
          strides: The distance of two indices per dimension; None: 1 everywhere.

        Returns:
          A value of the same rank; dimension d has ceil((limit - start) / stride) elements.
        """
        return mkop("Slice", (self.op,), start_indices=start_indices, limit_indices=limit_indices,
                    strides=strides or [1] * len(start_indices))

    def dynamic_slice(self, start_indices: Sequence["Op"], slice_sizes: Sequence[int]) -> "Op":
        """Returns a slice that begins at computed indices.

        Args:
          start_indices: One scalar of an integer type per dimension. As in XLA, an index is clamped so that the slice lies inside.
          slice_sizes: The number of elements per dimension.

        Returns:
          A value of the sizes `slice_sizes`.
        """
        return mkop("DynamicSlice", (self.op,), start_indices=[x.op for x in start_indices], slice_sizes=slice_sizes)

    def dynamic_update_slice(self, update: "Op", start_indices: Sequence["Op"]) -> "Op":
        """Returns this value with a slice replaced.

        Args:
          update: The new elements, of the same rank and element type.
          start_indices: One scalar of an integer type per dimension. As in XLA, an index is clamped so that the slice lies inside.

        Returns:
          A value of the sizes of this one.
        """
        return mkop("DynamicUpdateSlice", (self.op, update.op), start_indices=[x.op for x in start_indices])

    def gather(self, start_indices: "Op", offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int], start_index_map: Sequence[int],
               index_vector_dim: int, indices_are_sorted: bool | None = None, slice_sizes: Sequence[int] | None = None) -> "Op":
        """Returns slices that are read at computed indices, XLA's operation Gather.

        Args:
          start_indices: The indices, an integer tensor; the vectors along `index_vector_dim` are the starts of the slices.
          offset_dims: The dimensions of the result that a slice has.
          collapsed_slice_dims: The dimensions of a slice, each of size 1, that the result lacks.
          start_index_map: Per element of an index vector the dimension of this value that it is an index of.
          index_vector_dim: The dimension of `start_indices` along which the index vectors lie; its rank: every element is an index.
          indices_are_sorted: A promise that the indices ascend; None: no promise.
          slice_sizes: The sizes of a slice; None: 1 in the collapsed dimensions, all elements in the others.

        Returns:
          A value whose rank is the number of index dimensions plus that of `offset_dims`.
        """
        sizes = slice_sizes or [1 if i in collapsed_slice_dims else n for i, n in enumerate(self.op.sizes)]
        return mkop("Gather", (self.op, start_indices.op), offset_dims=offset_dims, collapsed_slice_dims=collapsed_slice_dims,
                    start_index_map=start_index_map, index_vector_dim=index_vector_dim, indices_are_sorted=indices_are_sorted,
                    slice_sizes=sizes)

    def scatter(self, scatter_indices: "Op", updates: "Op", computation: "Callable[..., Any] | _builder.Computation",
                update_window_dims: Sequence[int], inserted_window_dims: Sequence[int], scatter_dims_to_operand_dims: Sequence[int],
                index_vector_dim: int, indices_are_sorted: bool | None = None, unique_indices: bool | None = None) -> "Op":
        """Returns this value with updates at computed indices, XLA's operation Scatter.

        Args:
          scatter_indices: The indices, an integer tensor; the vectors along `index_vector_dim` are the starts of the windows.
          updates: The windows of new elements, of the element type of this value.
          computation: Combines an old element and an update: a function of two Op, both scalars, or a computation of that form.
          update_window_dims: The dimensions of `updates` that a window has.
          inserted_window_dims: The dimensions of this value that a window lacks.
          scatter_dims_to_operand_dims: Per element of an index vector the dimension of this value that it is an index of.
          index_vector_dim: The dimension of `scatter_indices` along which the index vectors lie.
          indices_are_sorted: A promise that the indices ascend; None: no promise.
          unique_indices: A promise that no element is updated twice; None: no promise.

        Returns:
          A value of the sizes of this one. Updates outside of it have no effect, as in XLA.
        """
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

    def reduce(self, init_value: "Op", computation: "Callable[..., Any] | _builder.Computation", dimensions: Sequence[int]) -> "Op":
        """Returns the reduction of some dimensions.

        Args:
          init_value: A scalar of the same element type, the neutral element of the computation.
          computation: Combines two elements: a function of two Op, both scalars, or a computation of that form. Its order of evaluation is
            not specified.
          dimensions: The dimensions that are reduced.

        Returns:
          A value of the other dimensions.
        """
        return mkop("Reduce", (self.op, init_value.op), computation=self._of_scalars("Reduce", computation), dimensions=dimensions)

    def reduce_all(self, init_value: "Op", computation: "Callable[..., Any] | _builder.Computation") -> "Op":
        """Returns the reduction of all dimensions, a scalar.

        Args:
          init_value: A scalar of the same element type, the neutral element of the computation.
          computation: Combines two elements: a function of two Op, both scalars, or a computation of that form.
        """
        return mkop("ReduceAll", (self.op, init_value.op), computation=self._of_scalars("ReduceAll", computation))

    def reduce_window(self, init_value: "Op", computation: "Callable[..., Any] | _builder.Computation", window_dimensions: Sequence[int],
                      window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]] = "valid") -> "Op":
        """Returns the reduction of every window of this value.

        Args:
          init_value: A scalar of the same element type, the neutral element of the computation, which the padding is filled with.
          computation: Combines two elements: a function of two Op, both scalars, or a computation of that form.
          window_dimensions: The sizes of the window, one per dimension of this value.
          window_strides: The distance of two windows, one per dimension.
          padding: "valid" (none), "same" (as many windows as ceil(size / stride)), or a pair (before, after) of elements per dimension.

        Returns:
          A value of the same rank, with one element per window.

        Raises:
          ValueError: `padding` is another string.
        """
        return mkop("ReduceWindow", (self.op, init_value.op), computation=self._of_scalars("ReduceWindow", computation),
                    window_dimensions=window_dimensions, window_strides=window_strides, padding=padding)

    def select_and_scatter(self, source: "Op", init_value: "Op", window_dimensions: Sequence[int], window_strides: Sequence[int],
                           select_computation: "Callable[..., Any] | _builder.Computation",
                           scatter_computation: "Callable[..., Any] | _builder.Computation",
                           padding: str | Sequence[tuple[int, int]] = "valid") -> "Op":
        """Returns the elements of `source`, each combined into the element that is selected in its window: the gradient of a pooling.

        Args:
          source: One element per window.
          init_value: A scalar, the value of the elements that no window selects.
          window_dimensions: The sizes of the window, one per dimension of this value.
          window_strides: The distance of two windows, one per dimension.
          select_computation: Returns for two elements whether the first is preferred: a function of two Op, both scalars, or a computation.
          scatter_computation: Combines two elements that arrive at one place: a function of two Op, both scalars, or a computation.
          padding: "valid", "same", or a pair (before, after) of elements per dimension.

        Returns:
          A value of the sizes of this one.

        Raises:
          ValueError: `padding` is another string.
        """
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

    def conditional(self, true_operand: "Op", false_operand: "Op", true_computation: "Callable[..., Any] | _builder.Computation",
                    false_computation: "Callable[..., Any] | _builder.Computation") -> "Op":
        """Returns the result of one of two computations; this value, a scalar of the type pred, decides which.

        Args:
          true_operand: The argument of `true_computation`; the elements of a tuple become separate arguments of a function.
          false_operand: The argument of `false_computation`.
          true_computation: Computes the result where this value is true: a function of Op, or a computation.
          false_computation: Computes the result otherwise.

        Raises:
          RuntimeError: The computations return different types.
        """
        return mkop("Conditional", (self.op, true_operand.op, false_operand.op),
                    true_computation=Op.make_computation("CondTrue", true_computation, (true_operand,)),
                    false_computation=Op.make_computation("CondFalse", false_computation, (false_operand,)))

    def mkconditional(self, ops: Sequence["Op"], true_fn: Callable[..., Any], false_fn: Callable[..., Any], **kwargs: Any) -> "Op":
        """Returns conditional() of two functions of the same operands.

        Args:
          ops: The arguments of both functions.
          true_fn: Computes the result where this value, a scalar of the type pred, is true.
          false_fn: Computes the result otherwise.
          **kwargs: Have no effect, as in PyTorch/XLA.

        Raises:
          RuntimeError: The functions return different types.
        """
        operands = Op.tuple(ops)
        return self.conditional(operands, operands, true_fn, false_fn)

    def while_loop(self, condition_computation: "Callable[..., Any] | _builder.Computation",
                   body_computation: "Callable[..., Any] | _builder.Computation") -> "Op":
        """Returns the value after a loop that begins with this value.

        Args:
          condition_computation: Returns for a value whether the body runs once more, a scalar of the type pred: a function of Op (of the
            elements, for a tuple), or a computation.
          body_computation: Returns the value of the next iteration, of the same types as this one.

        Raises:
          RuntimeError: The body returns other types.
        """
        return mkop("While", (self.op,), condition_computation=Op.make_computation("Condition", condition_computation, (self,)),
                    body_computation=Op.make_computation("Body", body_computation, (self,)))

    @classmethod
    def mkwhile(cls, ops: Sequence["Op"], condition_fn: Callable[..., Any], body_fn: Callable[..., Any], **kwargs: Any) -> "Op":
        """Returns while_loop() of several values.

        Args:
          ops: The values before the first iteration.
          condition_fn: Returns for these values whether the body runs once more, a scalar of the type pred.
          body_fn: Returns the values of the next iteration.
          **kwargs: Have no effect, as in PyTorch/XLA.

        Returns:
          The tuple of the values after the loop.

        Raises:
          RuntimeError: The body returns other types.
        """
        return cls.tuple(ops).while_loop(condition_computation=condition_fn, body_computation=body_fn)

    @classmethod
    def wrap_function(cls, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that takes the elements of a tuple as separate arguments, and returns several results as one tuple.

        Args:
          fn: A function of Op that returns an Op, or a list or tuple of them.
        """
        def run(*args, **kwargs):
            if len(args) == 1 and args[0].shape().is_tuple():
                args = [args[0].get_tuple_element(i) for i in range(args[0].shape().tuple_size())]
            made = fn(*args, **kwargs)
            return Op.tuple(made) if isinstance(made, (tuple, list)) else made
        return run

    @classmethod
    def make_computation(cls, name: str, computation: Any, args_or_shapes: Sequence[Any], **kwargs: Any) -> Any:
        """Returns a computation for a function; a computation is returned unchanged.

        Args:
          name: The name of the new computation.
          computation: A function of Op, or a computation.
          args_or_shapes: An Op or a Shape per argument.
          **kwargs: Further arguments of the function, which it gets unchanged.
        """
        if not callable(computation):
            return computation
        shapes = [arg if isinstance(arg, Shape) else arg.shape() for arg in args_or_shapes]
        return create_computation(name, cls.wrap_function(computation), shapes, **kwargs)

    #===-- Values --------------------------------------------------------------===

    def scalar_like(self, value: complex) -> "Op":
        """Returns a splat of the element type and sizes of this value.

        Args:
          value: Every element of the result.
        """
        return Op.scalar(self.builder(), value, dtype=self.shape().dtype).broadcast(self.shape().sizes)

    def zeros_like(self) -> "Op":
        """Returns a value of the same element type and sizes, full of zeros."""
        return self.scalar_like(0)

    def ones_like(self) -> "Op":
        """Returns a value of the same element type and sizes, full of ones."""
        return self.scalar_like(1)

    @classmethod
    def tuple(cls, ops: Sequence["Op"], builder: _builder.Builder | None = None) -> "Op":
        """Returns the tuple of some values.

        Args:
          ops: The elements.
          builder: The function under construction; None: that of the elements.

        Raises:
          ValueError: There is neither an element nor a builder.
        """
        return mkop("Tuple", [x.op for x in ops], builder=builder)

    @classmethod
    def concat_in_dim(cls, ops: Sequence["Op"], dimension: int, builder: _builder.Builder | None = None) -> "Op":
        """Returns the concatenation of values along one dimension.

        Args:
          ops: Values of one element type, whose sizes are equal in the other dimensions.
          dimension: The dimension, from 0.
          builder: The function under construction; None: that of the values.

        Raises:
          ValueError: There is neither a value nor a builder.
        """
        return mkop("ConcatInDim", [x.op for x in ops], builder=builder, dimension=dimension)

    @classmethod
    def call(cls, computation: Any, ops: Sequence["Op"], builder: _builder.Builder | None = None) -> "Op":
        """Returns the result of a call.

        Args:
          computation: A computation, or a function of Op, which becomes one.
          ops: The arguments.
          builder: The function under construction; None: that of the arguments.

        Raises:
          ValueError: There is neither an argument nor a builder.
        """
        return mkop("Call", [x.op for x in ops], computation=cls.make_computation("Call", computation, ops), builder=builder)

    @classmethod
    def constant(cls, builder: _builder.Builder, value: torch.Tensor) -> "Op":
        """Returns a constant.

        Args:
          builder: The function under construction that the constant becomes part of.
          value: A tensor on the CPU, whose elements are copied into the function.
        """
        return mkleaf("Constant", builder, value=value)

    @classmethod
    def scalar(cls, builder: _builder.Builder, value: complex, dtype: str | None = None) -> "Op":
        """Returns a constant scalar.

        Args:
          builder: The function under construction that the constant becomes part of.
          value: Its value, a Python number.
          dtype: A name of Type; None: "f32".

        Raises:
          KeyError: `dtype` is no name of Type.
        """
        return mkleaf("Constant", builder, value=torch.tensor(value, dtype=cls.to_torch_type(dtype)))

    @classmethod
    def zero(cls, builder: _builder.Builder, dtype: str | None = None) -> "Op":
        """Returns the constant scalar 0.

        Args:
          builder: The function under construction that the constant becomes part of.
          dtype: A name of Type; None: "f32".
        """
        return cls.scalar(builder, 0, dtype=dtype)

    @classmethod
    def one(cls, builder: _builder.Builder, dtype: str | None = None) -> "Op":
        """Returns the constant scalar 1.

        Args:
          builder: The function under construction that the constant becomes part of.
          dtype: A name of Type; None: "f32".
        """
        return cls.scalar(builder, 1, dtype=dtype)

    @classmethod
    def iota(cls, builder: _builder.Builder, shape: Shape, iota_dimension: int) -> "Op":
        """Returns a value whose every element is its own index in one dimension.

        Args:
          builder: The function under construction that the value becomes part of.
          shape: The element type and sizes of the result.
          iota_dimension: The dimension, from 0.
        """
        return mkleaf("Iota", builder, shape=shape.shape, iota_dimension=iota_dimension)

    @classmethod
    def sort(cls, ops: Sequence["Op"], comparator: Any, dimension: int | None = None, is_stable: bool | None = None) -> "Op":
        """Returns values that are sorted together along one dimension. Unlike PyTorch/XLA, it takes a function as comparator.

        Args:
          ops: Values of equal sizes; all are permuted alike.
          comparator: Returns whether the first of two elements comes before the second: a function of two Op per value, all scalars (first and
            second of the first value, then those of the next), or a computation of that form.
          dimension: The dimension, negative ones from the end; None: the last one.
          is_stable: Whether equal elements keep their order; None: they need not.

        Returns:
          The sorted value; for several values, their tuple.
        """
        scalars = [op.shape().as_scalar() for op in ops for _ in range(2)]
        return mkop("Sort", [x.op for x in ops], comparator=cls.make_computation("Compare", comparator, scalars),
                    dimension=dimension, is_stable=is_stable)

    @classmethod
    def map(cls, ops: Sequence["Op"], computation: Any, dimensions: Sequence[int], static_operands: Sequence[Any] = (),
            builder: _builder.Builder | None = None) -> "Op":
        """Returns the results of a computation of scalars for every element.

        Args:
          ops: Values of equal sizes.
          computation: A function of one Op per value, all scalars, or a computation of that form.
          dimensions: All dimensions, in ascending order, as XLA's operation Map demands.
          static_operands: Have no effect.
          builder: The function under construction; None: that of the values.

        Returns:
          A value of the sizes of the operands and of the element type that the computation returns.
        """
        made = cls.make_computation("Map", computation, [op.shape().as_scalar() for op in ops])
        return mkop("Map", [x.op for x in ops], builder=builder, computation=made, dimensions=dimensions)

    @classmethod
    def to_torch_type(cls, dtype: str | None) -> torch.dtype:
        """Returns PyTorch's element type for a name of Type; torch.float32 for None.

        Args:
          dtype: The name, such as "bf16".

        Raises:
          KeyError: `dtype` is no name of Type.
        """
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


def create_builder(name: str) -> _builder.Builder:
    """Returns an empty function under construction.

    Args:
      name: The name of the function.
    """
    return _builder.Builder(name)


def mkop(name: str, ops: Sequence[Any], **kwargs: Any) -> Op:
    """Records an operation by its name.

    Args:
      name: The name of XLA's operation as PyTorch/XLA spells it, such as "BroadcastInDim".
      ops: The operands: the attribute `op` of each Op.
      **kwargs: The attributes of the operation by name, and `builder`, the function under construction, which an operation without
        operands needs.

    Returns:
      The result of the operation.

    Raises:
      ValueError: There is neither an operand nor a builder.
      RuntimeError: There is no operation of that name, or the operands do not fit together.
      NotImplementedError: The operation is SetDimensionSize; unlike XLA, a function has no values of dynamic shape.
    """
    builder = kwargs.pop("builder", None)
    if builder is None:
        if not ops:
            raise ValueError(f"{name} needs an operand, or a builder")
        builder = next(leaf.builder for op in ops for leaf in op.leaves())
    if name not in _builder_ops.OPS:
        raise RuntimeError(f"there is no operation {name!r}")
    return Op(_builder_ops.OPS[name](builder, [_raw(op) for op in ops], kwargs))


def mkleaf(name: str, builder: _builder.Builder, **kwargs: Any) -> Op:
    """Records an operation that has no operands.

    Args:
      name: The name of XLA's operation: "Constant" or "Iota".
      builder: The function under construction.
      **kwargs: The attributes of the operation by name.

    Raises:
      RuntimeError: There is no operation of that name.
    """
    return mkop(name, (), builder=builder, **kwargs)


def mkparam(builder: _builder.Builder, param_no: int, shape: Shape) -> Op:
    """Adds a parameter to a function under construction, and returns its value.

    Args:
      builder: The function under construction.
      param_no: The number of the parameter, from 0; a second parameter of that number replaces the first one.
      shape: The element type and sizes of the parameter, or the shapes of a tuple's elements.
    """
    return Op(builder.parameter(param_no, shape.shape))


def create_computation(name: str, fn: Callable[..., Any], shapes: Sequence[Shape], **kwargs: Any) -> _builder.Computation:
    """Returns the computation that a Python function describes.

    Args:
      name: The name of the computation.
      fn: A function that gets one Op per shape, and `kwargs`, and returns an Op. It runs once, in the calling thread.
      shapes: The shapes of the parameters.
      **kwargs: Further arguments of `fn`, which it gets unchanged.

    Returns:
      A function of StableHLO for user_computation(), get_computation_hlo() and Op.call().
    """
    builder = create_builder(name)
    return fn(*[mkparam(builder, number, shape) for number, shape in enumerate(shapes)], **kwargs).build(name)
