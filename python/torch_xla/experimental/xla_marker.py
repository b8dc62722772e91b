# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operator torch.ops.xla.mark_tensor(tensor, name, pos, id, is_input, attr) and the text of its attributes."""
import json

from .mark_pattern_utils import StableHLOCompositeBuilder  # noqa: F401  (registers the operator)


def serialize_composite_attr(attr):
    """Attributes of a composite, a dict, as the text that mark_tensor takes; None for None."""
    if attr is None:
        return None
    if not isinstance(attr, dict) or not all(isinstance(name, str) for name in attr):
        raise TypeError(f"expects a dict with strings as keys, but got {attr!r}")
    return json.dumps(dict(sorted(attr.items())))


def deserialize_composite_attr(serialized_attr):
    """What serialize_composite_attr() was given; {} for None."""
    return json.loads(serialized_attr) if serialized_attr else {}
