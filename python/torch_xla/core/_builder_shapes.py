# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element types and shapes of torch_xla.core.xla_builder, by XLA's names."""
from collections.abc import Sequence
from typing import Any

import torch

from .._bindings_graphs import _TYPES
from . import _builder


class Type:
    """The names of XLA's element types, as Shape.create() and Op.cast() take them."""
    F32, F64, BF16, F16 = "f32", "f64", "bf16", "f16"
    U8, S8, U16, S16, U32, S32, U64, S64 = "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"
    C64, C128, PRED = "c64", "c128", "pred"


_PT_XLA_TYPE_MAP = {getattr(torch, name): kind for name, kind in _TYPES.items()}  # from PyTorch's element types to these names
_XLA_PT_TYPE_MAP = {kind: dtype for dtype, kind in _PT_XLA_TYPE_MAP.items()}


class Shape:
    """The element type and the sizes of a value, or the shapes of a tuple's elements.

    Args:
      shape: A dict {"type": name, "sizes": sizes} of a tensor, with the key "dynamic_dimensions" if sizes are dynamic, or a list of
        such dicts for a tuple.
    """

    def __init__(self, shape: Any) -> None:
        self._shape = shape

    @classmethod
    def create(cls, dtype: str, sizes: Sequence[int], dynamic_dimensions: Sequence[bool] | None = None) -> "Shape":
        """Returns the shape of a tensor.

        Args:
          dtype: A name of Type, such as "f32".
          sizes: The number of elements per dimension; () for a scalar.
          dynamic_dimensions: Per dimension whether its size is known at run time only; None: all sizes are static. Unlike PyTorch/XLA,
            no operation of this module computes with a dynamic dimension.

        Returns:
          The Shape; no element of `dtype` or `sizes` is checked before an operation uses them.
        """
        made = {"type": str(dtype), "sizes": tuple(sizes)}
        if dynamic_dimensions is not None:
            made["dynamic_dimensions"] = tuple(dynamic_dimensions)
        return Shape(made)

    @property
    def shape(self) -> Any:
        """The dict {"type": ..., "sizes": ...} of a tensor, or a list of them for a tuple."""
        return self._shape

    def is_tuple(self) -> bool:
        """Returns whether this is the shape of a tuple."""
        return isinstance(self._shape, (list, tuple))

    def _of(self, want_tuple):
        if self.is_tuple() != want_tuple:
            raise RuntimeError(f"expects the shape of a {'tuple' if want_tuple else 'tensor'}, but got {self._shape}")
        return self._shape

    def tuple_size(self) -> int:
        """Returns the number of elements of the tuple.

        Raises:
          RuntimeError: This is the shape of a tensor.
        """
        return len(self._of(True))

    def tuple_shape(self, index: int) -> Any:
        """Returns the shape of one element of the tuple, as it was given: a dict or a list of dicts.

        Args:
          index: The position in the tuple, from 0.

        Raises:
          RuntimeError: This is the shape of a tensor.
          IndexError: The tuple has no such element.
        """
        return self._of(True)[index]

    def is_dynamic(self) -> bool:
        """Returns whether a size is known at run time only.

        Raises:
          RuntimeError: This is the shape of a tuple.
        """
        return "dynamic_dimensions" in self._of(False)

    def as_scalar(self) -> "Shape":
        """Returns the shape of a scalar of the same element type.

        Raises:
          RuntimeError: This is the shape of a tuple.
        """
        return Shape.create(self.dtype, ())

    @property
    def rank(self) -> int:
        """The number of dimensions; RuntimeError for a tuple."""
        return len(self.sizes)

    @property
    def sizes(self) -> Sequence[int]:
        """The number of elements per dimension; RuntimeError for a tuple."""
        return self._of(False)["sizes"]

    @property
    def dtype(self) -> str:
        """The element type, a name of Type; RuntimeError for a tuple."""
        return self._of(False)["type"]

    @property
    def dynamic_dimensions(self) -> Sequence[bool] | None:
        """Per dimension whether its size is known at run time only, or None if all are static; RuntimeError for a tuple."""
        return self._of(False).get("dynamic_dimensions")

    def __repr__(self):
        return f"Shape({self._shape})"


def mkshape(dtype: str, sizes: Sequence[int], dynamic_dimensions: Sequence[bool] | None = None) -> Shape:
    """Returns the shape of a tensor, as Shape.create() does.

    Args:
      dtype: A name of Type, such as "f32".
      sizes: The number of elements per dimension; () for a scalar.
      dynamic_dimensions: Per dimension whether its size is known at run time only; None: all sizes are static.
    """
    return Shape.create(dtype, sizes, dynamic_dimensions=dynamic_dimensions)


def tensor_shape(tensor: Any, device: str = "") -> Any:
    """Returns the Shape of a tensor, or the list of shapes of a list or tuple of tensors.

    Args:
      tensor: A tensor on any device, or a list or tuple of them, of any depth.
      device: Has no effect: a shape does not depend on the device.

    Raises:
      KeyError: XLA has no name for the tensor's element type.
    """
    if isinstance(tensor, (list, tuple)):
        return [tensor_shape(t, device) for t in tensor]
    return Shape.create(_builder.NAMES[tensor.dtype], tuple(tensor.shape))
