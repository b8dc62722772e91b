# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of equal structure as one loop over their stacked weights: the program has one layer, whatever their number."""
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch

from .scan import default_partition, scan

# From the first of pure layers to the function that scan() gets, by partition function and modes: with an equal function scan() finds its recording.
_ONE_LAYER_CACHE: Any = weakref.WeakKeyDictionary()


def _function_of(layer, partition_fn, is_pure):
    """apply(data, state) of a layer. That of a pure one holds the layer weakly: it lives as long as the layer does."""
    known = _ONE_LAYER_CACHE.setdefault(layer, {}) if is_pure else {}
    what = (partition_fn, tuple(module.training for module in layer.modules()))
    if what not in known:
        layer_of = weakref.ref(layer) if is_pure else lambda: layer

        def apply(data, state):
            return torch.func.functional_call(layer_of(), state, data if isinstance(data, tuple) else (data,)), None
        known[what] = apply
    return known[what]


def scan_layers(layers: Iterable[torch.nn.Module], input_data: Any, partition_fn: Callable[..., Any] = default_partition,
                is_layer_pure: bool = False) -> Any:
    """Computes what torch.nn.Sequential(*layers)(input_data) computes, as one loop over the stacked weights of the layers.

    Args:
      layers: Modules of one class and mode, whose parameters and buffers agree by name, size and type. A layer gets a tuple that the one before it
        returns as its arguments.
      input_data: The arguments of the first layer: a tensor, or a tuple of tensors.
      partition_fn: What is kept for the backward pass, see scan().
      is_layer_pure: A promise that what the layers compute depends on their state and arguments only, so that the first one is recorded once for all
        calls with tensors of the same types.

    Returns:
      What the last layer returns.

    Raises:
      ValueError: The layers differ; the message says where.
    """
    layers = list(layers)
    if not layers:
        return input_data
    states = [{**dict(layer.named_parameters()), **dict(layer.named_buffers())} for layer in layers]
    first = states[0]
    for number, (layer, state) in enumerate(zip(layers, states)):
        if state.keys() != first.keys():
            raise ValueError(f"layers 0 and {number} have mismatched keys: {sorted(state.keys() ^ first.keys())} are in one of them only")
        for name, tensor in state.items():
            if tensor.shape != first[name].shape or tensor.dtype != first[name].dtype:
                raise ValueError(f"Shape mismatch of {name!r}: {tuple(first[name].shape)} of {first[name].dtype} in layer 0, but "
                                 f"{tuple(tensor.shape)} of {tensor.dtype} in layer {number}")
        if type(layer) is not type(layers[0]) or layer.training != layers[0].training:
            raise ValueError(f"expects layer {number} to be a {type(layers[0]).__name__} in the same mode as layer 0")
    if not first:
        return _without_state(layers, input_data)

    stacked = {name: torch.stack([state[name] for state in states]) for name in first}
    apply = _function_of(layers[0], partition_fn, is_layer_pure)
    return scan(apply, input_data, stacked, partition_fn=partition_fn, is_fn_pure=is_layer_pure)[0]


def _without_state(layers, data):
    for layer in layers:
        data = layer(*data) if isinstance(data, tuple) else layer(data)
    return data
