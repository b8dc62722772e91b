# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of equal structure as one loop over their stacked weights: the program has one layer, whatever their number."""
import torch

from .scan import default_partition, scan


def scan_layers(layers, input_data, partition_fn=default_partition, is_layer_pure=False):
    """What torch.nn.Sequential(*layers)(input_data) computes. All layers have the same parameters, by name, size and type."""
    layers = list(layers)
    if not layers:
        return input_data
    first = {**dict(layers[0].named_parameters()), **dict(layers[0].named_buffers())}
    states = [{**dict(layer.named_parameters()), **dict(layer.named_buffers())} for layer in layers]
    for number, (layer, state) in enumerate(zip(layers, states)):
        if {k: (v.shape, v.dtype) for k, v in state.items()} != {k: (v.shape, v.dtype) for k, v in first.items()}:
            raise ValueError(f"expects layer {number} to have the parameters of layer 0, by name, size and type")
        if type(layer) is not type(layers[0]) or layer.training != layers[0].training:
            raise ValueError(f"expects layer {number} to be a {type(layers[0]).__name__} in the same mode as layer 0")
    stacked = {name: torch.stack([state[name] for state in states]) for name in first}
    return scan(lambda data, state: (torch.func.functional_call(layers[0], state, (data,)), None), input_data, stacked)[0] \
        if stacked else _without_state(layers, input_data)


def _without_state(layers, data):
    for layer in layers:
        data = layer(data)
    return data
