# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of equal structure as one loop over their stacked weights: the program has one layer, whatever their number."""
import torch

from .scan import default_partition, scan


def scan_layers(layers, input_data, partition_fn=default_partition, is_layer_pure=False):
    """What torch.nn.Sequential(*layers)(input_data) computes. All layers have the same parameters, by name, size and type. A layer
    that returns a tuple gets it as its arguments. `partition_fn`: see scan()."""
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

    def apply(data, state):
        return torch.func.functional_call(layers[0], state, data if isinstance(data, tuple) else (data,)), None
    stacked = {name: torch.stack([state[name] for state in states]) for name in first}
    return scan(apply, input_data, stacked, partition_fn=partition_fn)[0]


def _without_state(layers, data):
    for layer in layers:
        data = layer(*data) if isinstance(data, tuple) else layer(data)
    return data
