# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operator torch.ops.xla.mark_tensor(tensor, name, pos, id, is_input, attr) and the text of its attributes."""
import json
from typing import Any

from .mark_pattern_utils import StableHLOCompositeBuilder  # noqa: F401  (registers the operator)


def serialize_composite_attr(attr: dict[str, Any] | None) -> str | None:
    """Returns the attributes of a composite as the text that mark_tensor takes; None for None.

    Args:
      attr: The attributes by name.

    Raises:
      TypeError: It is no dict with strings as keys, or a value has no form in JSON.
    """
    if attr is None:
        return None
    if not isinstance(attr, dict) or not all(isinstance(name, str) for name in attr):
        raise TypeError(f"expects a dict with strings as keys, but got {attr!r}")
    return json.dumps(dict(sorted(attr.items())))


def deserialize_composite_attr(serialized_attr: str | None) -> dict[str, Any]:
    """Returns the attributes that serialize_composite_attr() wrote; {} for None.

    Args:
      serialized_attr: The text.
    """
    return json.loads(serialized_attr) if serialized_attr else {}
