# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives as recorded operations: StableHLO of one operation each, for the groups of replicas that are named.

Replicas are the processes of the world, or under SPMD the devices of the one program that runs on all of them. A world of one replica needs
none of them, and computes without. They are recorded where a program asks to see them (XLA_ALWAYS_ALLREDUCE=1), and for groups of more
replicas than there are, whose graphs can be printed but not run."""
import os

import torch

from .. import _load, _replicas, _world
from . import _builder

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_COMBINE = {"sum": "add", "mul": "multiply", "and": "and", "or": "or", "min": "minimum", "max": "maximum"}
_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>"


def wanted():
    """Returns whether collectives of one replica are recorded, too."""
    return os.environ.get("XLA_ALWAYS_ALLREDUCE", "").lower() in ("1", "true", "yes", "on", "y")


vars(wanted)["_dynamo_marked_constant"] = True


def _rows(groups):
    return [list(group) for group in groups] if groups else [list(range(_world.size()))]


def _groups(groups):
    rows = _rows(groups)
    longest = max(map(len, rows))
    rows = [row + [-1] * (longest - len(row)) for row in rows]
    return f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{longest}xi64>"


def _devices(groups):
    """Groups of devices of the one program that runs on all of them under SPMD."""
    return f"{_groups(groups)}, {_CHANNEL.format(1)}, use_global_device_ids"


def of_devices(groups):
    """Returns whether `groups` are devices of this process: parts that enable_manual_sharding() gives are exchanged among them. ValueError where they
    are not groups of one size that name every device once."""
    from .. import runtime as xr
    rows = [list(group) for group in groups or ()]
    if rows in ([], [[0]]) or not xr.is_spmd():
        return False
    count = xr.global_runtime_device_count()
    if sorted(device for row in rows for device in row) != list(range(count)) or len({len(row) for row in rows}) != 1:
        raise ValueError(f"expects groups of one size in which each of the {count} devices is named once, but got {rows}")
    return True


def _named_groups(groups):
    return _devices(groups) if of_devices(groups) else _groups(groups)


def count(groups):
    """Replicas of this one's group."""
    return len(next((row for row in _rows(groups) if _world.rank() in row), _rows(groups)[0]))


def _reducer(kind, dtype):
    scalar = _builder.tensor_type(dtype, ())
    return (f'({{\n    ^bb0(%x: {scalar}, %y: {scalar}):\n      %z = "stablehlo.{_COMBINE[kind]}"(%x, %y) : ({scalar}, {scalar}) -> {scalar}\n'
            f'      "stablehlo.return"(%z) : ({scalar}) -> ()\n    }})')


def _embed(name, text, tensors, groups):
    """Records the program `text` on tensors. Where its groups are processes of this world, these take part in it."""
    if _world.size() > 1 and not of_devices(groups) and all(rank < _world.size() for row in _rows(groups) for rank in row):
        return _XLAC._exchange(f"xla::{name}", text, tensors)
    return _XLAC._embed(f"xla::{name}", text, tensors)


def _resized(tensor, dim, size):
    sizes = list(tensor.shape)
    sizes[dim] = size
    return sizes


def _sizes(name, tensor, dims, parts):
    """Returns the sizes of a result among so many replicas. `dims`: along which it is gathered; scattered; split and then joined."""
    if name == "all_gather":
        return _resized(tensor, dims[0], tensor.size(dims[0]) * parts)
    if name == "reduce_scatter":
        return _resized(tensor, dims[0], tensor.size(dims[0]) // parts)
    if name == "all_to_all":
        sizes = _resized(tensor, dims[0], tensor.size(dims[0]) // parts)
        sizes[dims[1]] *= parts
        return sizes
    return list(tensor.shape)


def _attributes(name, dims, groups):
    if name == "collective_permute":
        channel = f", {_CHANNEL.format(1)}" if _world.size() == 1 else ""
        return f"source_target_pairs = dense<{groups}> : tensor<{len(groups)}x2xi64>{channel}"
    if name == "all_to_all":
        channel = f", {_CHANNEL.format(1)}" if of_devices(groups) or _world.size() == 1 else ""
        return (f"split_dimension = {dims[0]} : i64, concat_dimension = {dims[1]} : i64, split_count = {count(groups)} : i64, "
                f"{_groups(groups)}{channel}")
    if name == "collective_broadcast":
        return _groups(groups)
    dim = {"all_gather": "all_gather_dim = {} : i64, ", "reduce_scatter": "scatter_dimension = {} : i64, "}.get(name, "")
    return dim.format(*dims) + _named_groups(groups)


def _record(name, tensors, reduction, dims, groups):
    """Records an operation on tensors of one type, and returns as many results."""
    if place := _replicas.current():
        return _replicas.collective(place, name, tensors, reduction, dims, groups)
    builder = _builder.Builder(name)
    given = [builder.parameter(number, {"type": _builder.NAMES[tensor.dtype], "sizes": tuple(tensor.shape)}) for number, tensor in enumerate(tensors)]
    sizes = [_sizes(name, tensor, dims, count(groups) if name != "collective_permute" else 1) for tensor in tensors]
    made = builder.emit(f"stablehlo.{name}", given, [(node.dtype, of) for node, of in zip(given, sizes)], _attributes(name, dims, groups),
                        _reducer(reduction, given[0].dtype) if reduction else "")
    root = made[0] if len(made) == 1 else _builder.Node(builder, None, parts=made)
    ends = groups if name != "collective_permute" or _world.size() > 1 else None
    return _embed(name, builder.build(name, root).text(), list(tensors), ends)


# Dynamo traces this operator, because it cannot trace the recording.
_library = torch.library.Library("xla", "FRAGMENT")
_library.define("collective(str name, Tensor[] tensors, str reduction, int[] dims, int[] ranks, int[] lengths) -> Tensor[]")


def _unflat(ranks, lengths):
    ranks = iter(ranks)
    return [[next(ranks) for _ in range(length)] for length in lengths] or None


def _record_flat(name, tensors, reduction, dims, ranks, lengths):
    return list(_record(name, tensors, reduction, dims, _unflat(ranks, lengths)))


def _shapes_flat(name, tensors, reduction, dims, ranks, lengths):
    parts = 1 if name == "collective_permute" else count(_unflat(ranks, lengths))
    return [tensor.new_empty(_sizes(name, tensor, dims, parts)) for tensor in tensors]


_library.impl("collective", _record_flat, "XLA")
_library.impl("collective", _shapes_flat, "Meta")


def _collective(name, tensors, reduction="", dims=(), groups=None):
    groups = [list(group) for group in groups] if groups else None
    if not torch.compiler.is_dynamo_compiling():
        return _record(name, tensors, reduction, dims, groups)
    ranks = [rank for group in groups or () for rank in group]
    return torch.ops.xla.collective(name, [tensor.detach() for tensor in tensors], reduction, list(dims), ranks, [len(group) for group in groups or ()])


def all_reduce(kind, tensor, groups=None):
    """Returns the reduction of the tensors of a group's replicas."""
    return _collective("all_reduce", [tensor], kind, groups=groups)[0]


def all_reduce_together(kind, tensors, groups=None):
    """all_reduce() of a list, as one operation per element type."""
    made = [None] * len(tensors)
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        indices = [index for index, tensor in enumerate(tensors) if tensor.dtype == dtype]
        for index, result in zip(indices, _collective("all_reduce", [tensors[index] for index in indices], kind, groups=groups)):
            made[index] = result
    return made


def all_gather(tensor, dim, groups=None):
    """Returns the tensors of a group's replicas along `dim`."""
    return _collective("all_gather", [tensor], dims=[dim % tensor.dim()], groups=groups)[0]


def all_gather_together(tensors, groups=None):
    """all_gather() along dim 0 of a list of one element type, as one operation."""
    return _collective("all_gather", list(tensors), dims=[0], groups=groups) if tensors else []


def _check_divides(tensor, dim, groups, what):
    if tensor.size(dim) % count(groups):
        raise ValueError(f"expects a dim {dim} that {count(groups)} {what} divide, but got sizes {tuple(tensor.shape)}")


def reduce_scatter(kind, tensor, dim, groups=None):
    """Returns the part along `dim` of the reduction that this replica of the group gets."""
    dim %= tensor.dim()
    _check_divides(tensor, dim, groups, "replicas")
    return _collective("reduce_scatter", [tensor], kind, [dim], groups)[0]


def all_to_all(tensor, split, concat, groups):
    """Returns the pieces along `split` that the replicas of a group have for this one, joined along `concat`."""
    split, concat = split % tensor.dim(), concat % tensor.dim()
    _check_divides(tensor, split, groups, "devices")
    return _collective("all_to_all", [tensor], dims=[split, concat], groups=groups)[0]


def collective_permute(tensor, pairs):
    """What the source of this replica in `pairs` has; zeros where it has none."""
    return _collective("collective_permute", [tensor], groups=pairs)[0]


def collective_broadcast(tensor, root, groups=None):
    """Returns the tensor of the replica `root`, on all of its group."""
    rows = [[root] + [rank for rank in row if rank != root] if root in row else row for row in _rows(groups)]
    return _collective("collective_broadcast", [tensor], groups=rows)[0]


def _transfer(name, tensor, channel, line, result, attributes):
    """Records a transfer over a channel; `line` sees %x, the token %t and the types {type} and {channel}."""
    type_ = _builder.tensor_type(_builder.NAMES[tensor.dtype], tensor.shape)
    line = line.format(type=type_, channel=f"{{{_CHANNEL.format(int(channel))}, is_host_transfer = false{attributes}}}")
    text = (f"module @{name} {{\n  func.func @main(%x: {type_}) -> {type_} {{\n"
            '    %t = "stablehlo.create_token"() : () -> !stablehlo.token\n'
            f"    {line}\n    func.return {result} : {type_}\n  }}\n}}\n")
    return (_XLAC._exchange if attributes else _XLAC._embed)(f"xla::{name}", text, [tensor])[0]


def _between(source, target):
    if source is None or _world.size() == 1:
        return ""
    return f", source_target_pairs = dense<[[{source}, {target}]]> : tensor<1x2xi64>"


def send(tensor, channel, target=None):
    """Returns the tensor, after it was sent over a channel to the replica `target`."""
    return _transfer("send", tensor, channel,
                     '%s = "stablehlo.send"(%x, %t) {channel} : ({type}, !stablehlo.token) -> !stablehlo.token', "%x",
                     _between(target if target is None else _world.rank(), target))


def recv(tensor, channel, source=None):
    """What comes over a channel from the replica `source`, of the sizes and type of `tensor`."""
    return _transfer("recv", tensor, channel, '%r:2 = "stablehlo.recv"(%t) {channel} : (!stablehlo.token) -> ({type}, !stablehlo.token)', "%r#0",
                     _between(source, _world.rank()))


def mesh_of(ranks, world_size):
    """Returns the groups that a world of so many replicas falls into if `ranks` is one of them: neighbours or a column of a grid.

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
