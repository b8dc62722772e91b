# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of a model as stablehlo.composite: what is between mark_inputs() and mark_outputs() becomes a function of its own in the
StableHLO that is exported or shown, called under the composite's name. Programs that run are the same without the marks."""
import json
import uuid
from typing import Any, Optional

import torch

from .. import _load


@torch.library.custom_op("xla::mark_tensor", mutates_args=())
def _mark(x: torch.Tensor, name: str, pos: int, id: str, is_input: bool, attr: Optional[str] = None) -> torch.Tensor:
    if x.device.type != "xla":
        return x.clone()
    from .stablehlo_custom_call import stablehlo_custom_call
    _load.sys.modules["torch_xla._XLAC"]._count("XlaMarkTensor")
    config = json.dumps({"name": name, "pos": pos, "id": id, "is_input": is_input, "attr": json.loads(attr or "{}")})
    return stablehlo_custom_call([x], "mark_tensor", [x.shape], [x.dtype], backend_config=config)


@_mark.register_fake
def _(x, name, pos, id, is_input, attr=None):
    return torch.empty_like(x)


_mark.register_autograd(lambda ctx, gradient: (gradient, None, None, None, None, None))


class StableHLOCompositeBuilder:
    """Marks one use of a composite.

    Args:
      name: The name of the composite, such as "my.attention".
      attr: Its attributes: numbers, strings, booleans, or lists of them.
    """

    def __init__(self, name: str, attr: dict[str, Any] | None = None) -> None:
        self.name, self.attr, self.id = name, json.dumps(attr or {}), uuid.uuid4().hex

    def _marked(self, tensors, is_input):
        if not tensors or not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
            raise TypeError("expects tensors")
        made = [torch.ops.xla.mark_tensor(t, self.name, i, self.id, is_input, self.attr) for i, t in enumerate(tensors)]
        return made[0] if len(made) == 1 else tuple(made)

    def mark_inputs(self, *tensors: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """Returns the tensors as inputs of the composite; the operations of the composite must use what is returned.

        Args:
          *tensors: The inputs in order.

        Raises:
          TypeError: There is no tensor, or something else.
        """
        return self._marked(tensors, True)

    def mark_outputs(self, *tensors: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """Returns the tensors as results of the composite; the operations after it must use what is returned.

        Args:
          *tensors: The results in order.

        Raises:
          TypeError: There is no tensor, or something else.
        """
        return self._marked(tensors, False)
