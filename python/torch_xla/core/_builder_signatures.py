# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the methods of torch_xla.core.xla_builder.Op that record one operation each are called, and what their docstrings say."""
from collections.abc import Mapping, Sequence
from typing import Any

# What the parameters of the methods that _method() makes mean, for their docstrings.
_PARAMETERS = {
    "b": "The right-hand sides, one per column (per row without left_side).",
    "batch_dimension": "The dimension of the batch.",
    "batch_group_count": "The number of groups that the batch is divided into.",
    "config": "Per dimension a triple: elements before, after, and between two elements.",
    "dimension": "The dimension, from 0.",
    "dimensions": "Dimensions of this value, from 0: those to reverse, the order in which a reshape reads them, or, for broadcast_in_dim, their "
                  "places in the result.",
    "dimno": "The dimension that is sliced, from 0.",
    "false_value": "The elements where this value is false.",
    "feature_dimension": "The dimension of the features.",
    "feature_group_count": "The number of groups that the features are divided into.",
    "index": "The position in the tuple, from 0.",
    "inferred_dimension": "Has no effect.",
    "input_batch_dimension": "The dimension of this value that is the batch.",
    "input_feature_dimension": "The dimension of this value that is the features.",
    "input_spatial_dimensions": "The other dimensions of this value.",
    "kernel": "The weights, an Op of the same rank.",
    "kernel_input_feature_dimension": "The dimension of the weights that is the features of this value.",
    "kernel_output_feature_dimension": "The dimension of the weights that is the features of the result.",
    "kernel_size": "The sizes of the window: one per dimension, or one per spatial dimension.",
    "kernel_spatial_dimensions": "The other dimensions of the weights.",
    "left_side": "Whether this matrix stands left of the unknowns.",
    "lhs_dilation": "The distance of two elements of this value in the convolution, per spatial dimension; 1 adds nothing between them.",
    "limit_index": "The index after the last one.",
    "lower": "Whether the lower triangle is read.",
    "max_value": "The upper bounds, an Op.",
    "min_value": "The lower bounds, an Op.",
    "other": "The second operand, an Op.",
    "output_batch_dimension": "The dimension of the result that is the batch.",
    "output_feature_dimension": "The dimension of the result that is the features.",
    "output_spatial_dimensions": "The other dimensions of the result.",
    "padding": "'valid' (none), 'same' (ceil(size / stride) windows), or a pair (before, after) of elements per windowed dimension.",
    "permutation": "Per dimension of the result the dimension of this value.",
    "precision_config": "Has no effect.",
    "rhs_dilation": "The distance of two elements of the window, per spatial dimension; 1 leaves nothing out.",
    "size": "The new size, an Op.",
    "sizes": "The sizes of the result; for broadcast, the sizes of the dimensions that are added in front.",
    "spatial_dimensions": "The dimensions that the window moves over.",
    "start_index": "The first index.",
    "stride": "The distance of two indices, or of two windows per dimension.",
    "to_type": "A name of Type.",
    "transpose_a": "Whether this matrix is transposed first.",
    "true_value": "The elements where this value is true.",
    "unit_diagonal": "Whether the diagonal counts as ones, whatever it holds.",
    "value": "The scalar that is filled in, an Op.",
    "window_strides": "The distance of two windows, per spatial dimension.",
}


class Signature:
    """The parameters of a method that records one operation.

    Args:
      name: The operation, as mkop() takes it.
      parameters: Its parameters in order: operands, whose names begin with "$" here, and attributes.
      defaults: The values of parameters that are left out.
    """

    def __init__(self, name: str, parameters: Sequence[str], defaults: Mapping[str, Any]) -> None:
        self._name, self._defaults = name, defaults
        self._names = [parameter.lstrip("$") for parameter in parameters]
        self._operands = [parameter[1:] for parameter in parameters if parameter.startswith("$")]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Returns the operands, and the attributes by name, that a call gives.

        Args:
          args: The positional arguments of the call.
          kwargs: Its keyword arguments.

        Raises:
          TypeError: An argument is missing, or is none of this operation's.
        """
        if len(args) > len(self._names):
            raise TypeError(f"{self._name} takes {len(self._names)} arguments, but {len(args)} were given")
        given = {**self._defaults, **dict(zip(self._names, args)), **kwargs}
        missing = [name for name in self._names if name not in given] + [name for name in given if name not in self._names]
        if missing:
            raise TypeError(f"{self._name} takes the arguments {self._names}; wrong or missing: {missing}")
        return [given[name] for name in self._operands], {name: value for name, value in given.items() if name not in self._operands}

    def docstring(self) -> str:
        """Returns the docstring of the method."""
        described = ["", "Args:", *(f"  {name}: {_PARAMETERS[name]}" for name in self._names)] if self._names else []
        return "\n".join([f"Records XLA's operation {self._name} on this value, and returns its result.", *described])
