# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The user's own operations on tensors, each of which a function of xla_builder values describes."""
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from ..utils import utils as xu
from . import xla_builder as xb


class Op:
    """An operation on tensors that a function of xla_builder values describes; register() makes the objects.

    A call op(*tensors, **kwargs) returns a tensor of the device, or several. It is thread-safe. The function runs once per combination of sizes,
    element types and keyword arguments. XLA_OP_PRINT_COMPUTATIONS=1 prints the HLO text of each.

    Args:
      name: The name of the operation in the graph.
      opfn: The function: opfn(*ops, **kwargs) gets an xla_builder.Op per tensor, and returns one.
    """

    def __init__(self, name: str, opfn: Callable[..., Any]) -> None:
        self._name, self._function, self._lock = name, opfn, threading.Lock()
        self._computations: dict[Any, Any] = {}

    def __call__(self, *args, **kwargs):
        """Returns the tensor, or the tuple of tensors, for these tensors. `kwargs`: numbers; other values mean another program."""
        shapes = xb.tensor_shape(args)
        key = tuple((shape.dtype, shape.sizes) for shape in shapes), tuple(sorted((name, repr(v)) for name, v in kwargs.items()))
        with self._lock:
            computation = self._computations.get(key)
            if computation is None:
                computation = self._computations[key] = xb.create_computation(self._name, self._function, shapes, **kwargs)
                if "XLA_OP_PRINT_COMPUTATIONS" in os.environ and xu.getenv_as("XLA_OP_PRINT_COMPUTATIONS", bool, False):
                    print(xb.get_computation_hlo(computation), file=sys.stderr)
        made = xb.user_computation(f"xla::_op_{self._name}", args, computation)
        return made[0] if len(made) == 1 else made


def register(name: str, opfn: Callable[..., Any]) -> Op:
    """Returns the operation on tensors that a function of xla_builder values describes.

    Args:
      name: The name of the operation in the graph.
      opfn: The function, see Op.
    """
    return Op(name, opfn)
