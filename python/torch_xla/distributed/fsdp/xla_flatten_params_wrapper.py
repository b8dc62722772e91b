# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module between XlaFullyShardedDataParallel and what it wraps. It gives a name to parameters that are one vector, `flat_param_0`, and keeps its
own name out of state dicts."""
import dataclasses
import itertools
from typing import Any

import torch
import torch.nn as nn

_OWN = "_fpw_module."


@dataclasses.dataclass
class FlatParameter:
    """The parameters that are concatenated in one vector, in its order."""
    names: list[str]
    shapes: list[torch.Size]


class XlaFlattenParamsWrapper(nn.Module):
    """The module between XlaFullyShardedDataParallel and the wrapped one, which gives names to flat parameters.

    Args:
      module: The wrapped module; XlaFullyShardedDataParallel sets its parameters while it runs.
      flat_params: Which parameters are concatenated in each vector; the vectors are no parameters of this module.
    """

    def __init__(self, module: nn.Module, flat_params: list[FlatParameter] | None = None):
        super().__init__()
        self._fpw_module = module
        self.flat_params = flat_params or []
        self._register_state_dict_hook(_without_own_name)
        self.register_load_state_dict_pre_hook(_with_own_name)

    @property
    def module(self) -> nn.Module:
        """The wrapped module."""
        return self._fpw_module

    def metadata(self, index: int) -> tuple[list[str], list[torch.Size], list[int]]:
        """Returns the names, shapes and numbers of elements of the parameters in one vector.

        Args:
          index: The number of the vector.

        Raises:
          IndexError: There is no such vector.
        """
        flat = self.flat_params[index]
        return list(flat.names), list(flat.shapes), [shape.numel() for shape in flat.shapes]

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_fpw_module":
                raise
            return getattr(self._fpw_module, name)

    def __getitem__(self, key: Any) -> Any:
        return self._fpw_module[key]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the wrapped module, and returns its result.

        Args:
          *args: Its positional arguments.
          **kwargs: Its keyword arguments.
        """
        return self._fpw_module(*args, **kwargs)


def _renamed(state_dict, prefix, old, new):
    for key in list(state_dict):
        if key.startswith(prefix + old):
            state_dict[prefix + new + key[len(prefix + old):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    for key in list(metadata or ()):
        if key == (prefix + old)[:-1] or key.startswith(prefix + old) and old:
            metadata[(prefix + new + key[len(prefix + old):]).rstrip(".")] = metadata.pop(key)


def _without_own_name(module, state_dict, prefix, local_metadata):
    _renamed(state_dict, prefix, _OWN, "")


def _with_own_name(module, state_dict, prefix, *args):
    own = {name for name, _ in itertools.chain(module.named_parameters(recurse=False), module.named_buffers(recurse=False))}
    for key in list(state_dict):
        if key.startswith(prefix) and key[len(prefix):] not in own and not key.startswith(prefix + _OWN):
            state_dict[prefix + _OWN + key[len(prefix):]] = state_dict.pop(key)
