# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives as recorded operations: StableHLO of one operation each, for the groups of replicas that are named.

A world of one replica needs none of them, and computes without. They are recorded where a program asks to see them
(XLA_ALWAYS_ALLREDUCE=1), and for groups of more replicas than there are, whose graphs can be printed but not run."""
import os

import torch

from .. import _load
from . import _builder

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_COMBINE = {"sum": "add", "mul": "multiply", "and": "and", "or": "or", "min": "minimum", "max": "maximum"}
_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>"


def wanted():
    """Whether collectives of one replica are recorded, too."""
    return os.environ.get("XLA_ALWAYS_ALLREDUCE", "").lower() in ("1", "true", "yes", "on", "y")


def _groups(groups):
    rows = [list(group) for group in groups] if groups else [[0]]
    return f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


def _devices(groups):
    """Groups of devices of the one program that runs on all of them under SPMD."""
    return f"{_groups(groups)}, {_CHANNEL.format(1)}, use_global_device_ids"


def of_devices(groups):
    """Whether `groups` are devices of this process: parts that enable_manual_sharding() gives are exchanged among them. ValueError where they are not
    groups of one size that name every device once."""
    from .. import runtime as xr
    rows = [list(group) for group in groups or ()]
    if rows in ([], [[0]]) or not xr.is_spmd():
        return False
    count = xr.global_runtime_device_count()
    if sorted(device for row in rows for device in row) != list(range(count)) or len({len(row) for row in rows}) != 1:
        raise ValueError(f"expects groups of one size in which each of the {count} devices is named once, but got {rows}")
    return True


def _replicas(groups):
    return _devices(groups) if of_devices(groups) else _groups(groups)


def _count(groups):
    return len(groups[0]) if groups else 1


def _reducer(kind, dtype):
    scalar = _builder.tensor_type(dtype, ())
    return (f'({{\n    ^bb0(%x: {scalar}, %y: {scalar}):\n      %z = "stablehlo.{_COMBINE[kind]}"(%x, %y) : ({scalar}, {scalar}) -> {scalar}\n'
            f'      "stablehlo.return"(%z) : ({scalar}) -> ()\n    }})')


def _record(name, tensor, sizes, attributes, reduction=None):
    builder = _builder.Builder(name)
    given = builder.parameter(0, {"type": _builder.NAMES[tensor.dtype], "sizes": tuple(tensor.shape)})
    made = builder.one(f"stablehlo.{name}", [given], given.dtype, sizes, attributes, _reducer(reduction, given.dtype) if reduction else "")
    return _XLAC._embed(f"xla::{name}", builder.build(name, made).text(), [tensor])[0]


def _resized(tensor, dim, size):
    sizes = list(tensor.shape)
    sizes[dim] = size
    return sizes


def all_reduce(kind, tensor, groups=None):
    """The reduction of the tensors of a group's replicas."""
    return _record("all_reduce", tensor, tensor.shape, _replicas(groups), kind)


def all_gather(tensor, dim, groups=None):
    """The tensors of a group's replicas along `dim`."""
    dim %= tensor.dim()
    return _record("all_gather", tensor, _resized(tensor, dim, tensor.size(dim) * _count(groups)), f"all_gather_dim = {dim} : i64, {_replicas(groups)}")


def reduce_scatter(kind, tensor, dim, groups=None):
    """The part along `dim` of the reduction that this replica of the group gets."""
    dim %= tensor.dim()
    if tensor.size(dim) % _count(groups):
        raise ValueError(f"expects a dim {dim} that {_count(groups)} replicas divide, but got sizes {tuple(tensor.shape)}")
    return _record("reduce_scatter", tensor, _resized(tensor, dim, tensor.size(dim) // _count(groups)),
                   f"scatter_dimension = {dim} : i64, {_replicas(groups)}", kind)


def all_to_all(tensor, split, concat, groups):
    """The pieces along `split` that the devices of a group have for this one, joined along `concat`."""
    split, concat, count = split % tensor.dim(), concat % tensor.dim(), _count(groups)
    if tensor.size(split) % count:
        raise ValueError(f"expects a dim {split} that {count} devices divide, but got sizes {tuple(tensor.shape)}")
    sizes = _resized(tensor, split, tensor.size(split) // count)
    sizes[concat] *= count
    return _record("all_to_all", tensor, sizes, f"split_dimension = {split} : i64, concat_dimension = {concat} : i64, split_count = {count} : i64, "
                                                f"{_groups(groups)}, {_CHANNEL.format(1)}")


def collective_permute(tensor, pairs):
    """What the source of this device in `pairs` has; zeros where it has none."""
    rows = [list(pair) for pair in pairs]
    return _record("collective_permute", tensor, tensor.shape,
                   f"source_target_pairs = dense<{rows}> : tensor<{len(rows)}x2xi64>, {_CHANNEL.format(1)}")


def _transfer(name, tensor, channel, line, result):
    """Records a transfer over a channel; `line` sees %x, the token %t and the types {type} and {channel}."""
    type_ = _builder.tensor_type(_builder.NAMES[tensor.dtype], tensor.shape)
    line = line.format(type=type_, channel=f"{{{_CHANNEL.format(int(channel))}, is_host_transfer = false}}")
    text = (f"module @{name} {{\n  func.func @main(%x: {type_}) -> {type_} {{\n"
            '    %t = "stablehlo.create_token"() : () -> !stablehlo.token\n'
            f"    {line}\n    func.return {result} : {type_}\n  }}\n}}\n")
    return _XLAC._embed(f"xla::{name}", text, [tensor])[0]


def send(tensor, channel):
    """The tensor, after it was sent over a channel."""
    return _transfer("send", tensor, channel,
                     '%s = "stablehlo.send"(%x, %t) {channel} : ({type}, !stablehlo.token) -> !stablehlo.token', "%x")


def recv(tensor, channel):
    """What comes over a channel, of the sizes and type of `tensor`."""
    return _transfer("recv", tensor, channel, '%r:2 = "stablehlo.recv"(%t) {channel} : (!stablehlo.token) -> ({type}, !stablehlo.token)', "%r#0")


def mesh_of(ranks, world_size):
    """The groups that a world of so many replicas falls into if `ranks` is one of them: neighbours or a column of a grid.

    ValueError if it is neither: every replica must know the groups of all others."""
    ranks = [int(rank) for rank in ranks]
    if len(ranks) == world_size:
        return [ranks]
    if len(ranks) == 1:
        return [[rank] for rank in range(world_size)]
    stride = ranks[1] - ranks[0]
    is_even = all(b - a == stride for a, b in zip(ranks, ranks[1:]))
    if is_even and stride == 1 and world_size % len(ranks) == 0 and ranks[0] % len(ranks) == 0:
        return [list(range(first, first + len(ranks))) for first in range(0, world_size, len(ranks))]
    if is_even and stride > 1 and stride * len(ranks) == world_size and ranks[0] < stride:
        return [list(range(first, world_size, stride)) for first in range(stride)]
    raise ValueError(f"expects ranks that divide a world of {world_size} into groups of neighbours or into columns, but got {ranks}")
