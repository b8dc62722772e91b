# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes of devices, and the shardings that partition specs mean on them."""
import collections
import itertools
import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ... import _XLAC
from ... import runtime as xr
from ._places import error


COPIES = "_copies"  # the axis along which devices repeat the work of a mesh of fewer devices
PartitionSpec = Sequence[Any]  # per dimension the index or name of an axis, a tuple of them, or None


class ShardingType(IntEnum):
    """Kinds of shardings, with the numbers of XLA's OpSharding."""
    REPLICATED = 0
    MAXIMAL = 1
    TUPLE = 2
    TILED = 3
    MANUAL = 4
    PARTIAL = 5
    UNKNOWN = 6


class OpSharding:
    """A sharding in the form of XLA; str() returns the text.

    Args:
      tile_assignment: With TILED, nested lists of device ids, one level per dimension of the tensor.
      group_assignment: With PARTIAL, nested lists of numbers of groups, one level per dimension of the tensor.
      replication_groups: With PARTIAL, the devices of each group, which hold the same shard.
      sharding_type: A ShardingType, or its number. REPLICATED and MAXIMAL need no assignment.
    """

    def __init__(self, tile_assignment: Any = (), group_assignment: Any = (), replication_groups: Any = (),
                 sharding_type: Any = ShardingType.REPLICATED) -> None:
        self.type: ShardingType | None = ShardingType(sharding_type)
        self.mesh: Any = None  # the Mesh, if of() made this object
        if self.type is ShardingType.TILED:
            grid = np.array(tile_assignment)
            self.text = _tiles_text(grid.shape, 1, grid.flatten())
        elif self.type is ShardingType.PARTIAL:
            groups = np.array(group_assignment)
            members = [replication_groups[group] for group in groups.flatten()]
            self.text = _tiles_text(groups.shape, len(members[0]), itertools.chain.from_iterable(members))
        elif self.type is ShardingType.MANUAL:
            self.text = "{manual}"
        elif self.type is ShardingType.UNKNOWN:
            self.text = "{unknown}"
        else:  # MAXIMAL on one device, or REPLICATED
            self.text = "{replicated}"

    @classmethod
    def of(cls, mesh: "Mesh | None", text: str) -> "OpSharding":
        """Returns a sharding over the axes of a mesh.

        Args:
          mesh: The mesh, or None.
          text: The text of the sharding.
        """
        made = cls()
        made.mesh, made.text, made.type = mesh, text, type_of(text)
        return made

    def tiles(self, rank: int) -> list[int]:
        """Returns the number of shards along each dimension of a tensor of that rank."""
        found = re.match(r"\{devices=\[([\d,]+)\]", self.text)
        return [int(n) for n in found.group(1).split(",")][:rank] if found else [1] * rank

    def __str__(self):
        return self.text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, OpSharding) and self.text == other.text

    def __hash__(self):
        return hash(self.text)


def _tiles_text(tiles, copies, devices):
    if np.prod(tiles) == 1:
        return "{replicated}"
    dims = list(tiles) + ([copies] if copies > 1 else [])
    return (f"{{devices=[{','.join(str(int(d)) for d in dims)}]{','.join(str(int(d)) for d in devices)}"
            f"{' last_tile_dim_replicate' if copies > 1 else ''}}}")


def type_of(text: str) -> ShardingType | None:
    """Returns the ShardingType of a sharding's text; None of an empty one."""
    if not text:
        return None
    if text == "{replicated}":
        return ShardingType.REPLICATED
    if text == "{manual}":
        return ShardingType.MANUAL
    if text == "{unknown}":
        return ShardingType.UNKNOWN
    return ShardingType.PARTIAL if "last_tile_dim" in text else ShardingType.TILED


class Mesh:
    """The devices as a grid.

    Args:
      device_ids: The devices, in row-major order of the grid.
      mesh_shape: The sizes of the grid.
      axis_names: A name per axis.

    Raises:
      ShardingError: The arguments do not fit one another, or a device is missing or named twice.
    """

    def __init__(self, device_ids: npt.ArrayLike, mesh_shape: Sequence[int], axis_names: Sequence[str] | None = None) -> None:
        device_ids = np.array(device_ids).flatten()
        mesh_shape = tuple(int(size) for size in mesh_shape)
        axis_names = None if axis_names is None else tuple(axis_names)
        if axis_names is not None and len(axis_names) != len(mesh_shape):
            raise error("Mesh", f"one axis name for each of {len(mesh_shape)} axes", axis_names,
                        rule=f"Number of axis names {len(axis_names)} must match mesh dimensions {len(mesh_shape)}")
        if axis_names is not None and len(set(axis_names)) != len(axis_names):
            raise error("Mesh", "different names of axes", axis_names, rule="Axis names must be unique")
        if len(device_ids) != np.prod(mesh_shape):
            raise error("Mesh", f"{int(np.prod(mesh_shape))} devices for the shape {mesh_shape}", f"{len(device_ids)}",
                        rule=f"Number of device IDs {len(device_ids)} must match mesh size {int(np.prod(mesh_shape))}")
        if len(np.unique(device_ids)) != len(device_ids):
            raise error("Mesh", "every device once", device_ids.tolist(), rule="Device IDs must be unique")
        self.device_ids, self.mesh_shape, self.axis_names = device_ids, mesh_shape, axis_names
        self.text = str({"device_ids": device_ids.tolist(), "mesh_shape": mesh_shape, "axis_names": axis_names})  # which a compiler can see, not call
        if xr.is_spmd():
            self.check_devices("Mesh")
        self._specs: dict[tuple, OpSharding] = {}
        self._all: Mesh | None = None

    def size(self) -> int:
        """Returns the number of devices."""
        return int(np.prod(self.mesh_shape))

    def shape(self) -> collections.OrderedDict[Any, int]:
        """Returns the sizes by axis name, or by index where axes have no names."""
        names = range(len(self.mesh_shape)) if self.axis_names is None else self.axis_names
        return collections.OrderedDict(zip(names, self.mesh_shape))

    def get_logical_mesh(self) -> np.ndarray:
        """Returns the device ids as an array of the mesh's shape."""
        return self.device_ids.reshape(self.mesh_shape)

    def get_axis_name_idx(self, name: str) -> int | None:
        """Returns the index of an axis; None if no axis has this name."""
        return self.axis_names.index(name) if self.axis_names and name in self.axis_names else None

    @classmethod
    def from_str(cls, mesh_str: str) -> "Mesh | None":
        """Returns the mesh whose str() is given: "{'device_ids': [0, 1], 'mesh_shape': (2,), 'axis_names': ('x',)}"; None for another text."""
        found = re.fullmatch(r"\s*\{'device_ids': \[([\d, ]*)\], 'mesh_shape': \(([\d, ]*)\), "
                             r"'axis_names': (?:None|\(([^()]*)\))\}\s*", mesh_str)
        if not found:
            return None
        ids, shape = ([int(n) for n in re.findall(r"\d+", part)] for part in found.group(1, 2))
        names = None if found.group(3) is None else re.findall(r"'([^']*)'", found.group(3))
        return cls(ids, shape, names)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"Mesh({self})"

    def get_op_sharding(self, partition_spec: PartitionSpec) -> OpSharding:
        """Returns the OpSharding of a tensor with a partition spec.

        Raises:
          ShardingError: The spec names an axis that the mesh does not have, or one twice.
        """
        spec = _frozen(partition_spec)
        found = self._specs.get(spec)
        if found is None:
            _XLAC._count("CreateOpSharding")
            found = self._specs[spec] = OpSharding.of(self, self._text(self.axes_of(spec)))
        return found

    def get_op_sharding_v2(self, partition_spec: PartitionSpec) -> OpSharding:
        """Returns get_op_sharding(), with the list of devices as a transposed iota (`<=[2,4]T(1,0)`) where it is one."""
        sharding = self.get_op_sharding(partition_spec)
        order = [axis for axes in self.axes_of(partition_spec) for axis in axes]
        order += [axis for axis in range(len(self.mesh_shape)) if axis not in order]
        iota = np.arange(self.size())
        if sharding.type not in (ShardingType.TILED, ShardingType.PARTIAL) or not np.array_equal(self.device_ids, iota):
            return sharding
        order = [axis for axis in order if self.mesh_shape[axis] > 1]  # axes of size 1 shard nothing
        sizes = [size for size in self.mesh_shape if size > 1]
        order = np.argsort(np.argsort(order)).tolist()
        short = f"<=[{self.size()}]"
        if order != sorted(order):
            short = f"<=[{','.join(map(str, sizes))}]T({','.join(map(str, order))})"
        return OpSharding.of(self, re.sub(r"\](\d+,)+\d+", "]" + short, sharding.text))

    def axes_of(self, partition_spec: PartitionSpec, what: str = "partition spec") -> list[list[int]]:
        """Returns per dimension of the tensor the indices of the axes that shard it, major to minor.

        Args:
          partition_spec: An entry per dimension.
          what: The function that the user has called, for the error message.

        Raises:
          ShardingError: The spec names an axis that the mesh does not have, or one twice.
        """
        used: dict[int, int] = {}
        dims = []
        for dim, entry in enumerate(partition_spec):
            axes = []
            for axis in entry if isinstance(entry, (tuple, list)) else () if entry is None else (entry,):
                if isinstance(axis, (tuple, list)):
                    raise error(what, "no tuples in the tuples of a partition spec", partition_spec)
                if isinstance(axis, str):
                    index = self.get_axis_name_idx(axis)
                elif isinstance(axis, (int, np.integer)) and not isinstance(axis, bool):
                    index = int(axis) if 0 <= axis < len(self.mesh_shape) else None
                elif axis is None:
                    continue
                else:
                    raise error(what, "names and indices of axes, tuples of them, and None", f"{axis!r} for dim {dim}")
                if index is None:
                    known = list(self.axis_names) if self.axis_names else f"indices below {len(self.mesh_shape)}"
                    raise error(what, f"axes of the mesh ({known})", f"{axis!r} for dim {dim}")
                if index in used:
                    raise error(what, "every axis of the mesh at most once", f"{axis!r} for dims {used[index]} and {dim}")
                used[index] = dim
                axes.append(index)
            dims.append(axes)
        return dims

    def _text(self, dims):
        order = [axis for axes in dims for axis in axes]
        rest = [axis for axis in range(len(self.mesh_shape)) if axis not in order]
        tiles = [int(np.prod([self.mesh_shape[axis] for axis in axes], dtype=int)) for axes in dims]
        copies = int(np.prod([self.mesh_shape[axis] for axis in rest], dtype=int))
        return _tiles_text(tiles, copies, self.get_logical_mesh().transpose(order + rest).flatten()) if dims else "{replicated}"

    def check_devices(self, what: str) -> None:
        """Checks that the devices of the mesh exist.

        Raises:
          ShardingError: One does not. The message begins with `what`.
        """
        check_devices(self.device_ids, dict(self.shape()), what)

    def over_all(self, what: str) -> "tuple[Mesh, int]":
        """Returns a mesh of all devices whose last axes are this one's. The devices that this mesh lacks do the same as its own, in as many groups as
        fit.

        Returns:
          The mesh, and the number of axes before this one's.

        Raises:
          ShardingError: A device does not exist, or the number of all is no multiple of this mesh's. The message begins with `what`.
        """
        self.check_devices(what)
        count = xr.global_runtime_device_count()
        if self.size() == count:
            return self, 0
        if count % self.size():
            raise error(what, f"a mesh of all {count} devices, or of a number that divides them", f"one of {self.size()}: {dict(self.shape())}")
        if self._all is None:
            others = [device for device in range(count) if device not in self.device_ids]
            names = None if self.axis_names is None else (COPIES, *self.axis_names)
            self._all = Mesh([*self.device_ids, *others], (count // self.size(), *self.mesh_shape), names)
        return self._all, 1

    def plain(self) -> tuple[list[str], list[int], list[int]]:
        """Returns (names, sizes, devices), as the compiled part takes a mesh."""
        names = self.axis_names or [f"axis_{index}" for index in range(len(self.mesh_shape))]
        return [str(name) for name in names], list(self.mesh_shape), self.device_ids.tolist()

    def get_jax_mesh(self) -> Any:
        """Returns the same mesh for JAX, over JAX's devices."""
        import jax
        devices = np.array(jax.devices())[self.get_logical_mesh()]
        return jax.sharding.Mesh(devices, self.plain()[0])


def shift_axes(partition_spec: PartitionSpec, by: int) -> tuple:
    """Returns the partition spec for a mesh that has more axes in front.

    Args:
      partition_spec: The partition spec; numbers of axes in it grow, and names stay.
      by: The number of axes in front.
    """
    move = lambda axis: axis + by if isinstance(axis, (int, np.integer)) else axis
    return tuple(tuple(map(move, entry)) if isinstance(entry, (tuple, list)) else move(entry) for entry in partition_spec)


def _frozen(partition_spec):
    return tuple(tuple(entry) if isinstance(entry, list) else entry for entry in partition_spec)


_global_mesh = None


def set_global_mesh(mesh: Mesh | None) -> None:
    """Makes `mesh` the default of functions that take one."""
    global _global_mesh
    _global_mesh = mesh


def get_global_mesh() -> Mesh | None:
    """Returns the mesh of set_global_mesh(), or None."""
    return _global_mesh


def get_1d_mesh(axis_name: str | None = None) -> Mesh:
    """Returns a mesh with all devices along one axis."""
    count = xr.global_runtime_device_count()
    return Mesh(np.arange(count), (count,), None if axis_name is None else (axis_name,))


class HybridMesh(Mesh):
    """Slices of devices with fast connections inside and slow ones between them. Axis k has ici_mesh_shape[k] * dcn_mesh_shape[k] devices.
    Where the runtime does not say which slice a device is in, neighbours are in one.

    Args:
      ici_mesh_shape: The sizes of a slice.
      dcn_mesh_shape: The number of slices along each axis, all 1 by default.
      axis_names: A name per axis.

    Raises:
      ShardingError: The sizes do not fit the devices.
    """

    def __init__(self, ici_mesh_shape: Sequence[int], dcn_mesh_shape: Sequence[int] | None = None,
                 axis_names: Sequence[str] | None = None) -> None:
        if dcn_mesh_shape is None:
            dcn_mesh_shape = (1,) * len(ici_mesh_shape)
        if len(ici_mesh_shape) != len(dcn_mesh_shape):
            raise error("HybridMesh", f"as many sizes between slices as inside ({len(ici_mesh_shape)})", tuple(dcn_mesh_shape))
        self.ici_mesh_shape, self.dcn_mesh_shape = tuple(ici_mesh_shape), tuple(dcn_mesh_shape)
        self.device_attributes = sorted(xr.global_runtime_device_attributes(), key=lambda known: int(known["name"].rpartition(":")[2]))
        inside, between = int(np.prod(ici_mesh_shape)), int(np.prod(dcn_mesh_shape))
        slices = collections.defaultdict(list)
        for index, known in enumerate(self.device_attributes):
            slices[known.get("slice_index", index // inside)].append(index)
        if len(slices) != between or any(len(devices) != inside for devices in slices.values()):
            raise error("HybridMesh", f"{between} slices of {inside} devices", [len(devices) for devices in slices.values()])
        grids = [self._inside(devices) for _, devices in sorted(slices.items())]
        blocks: np.ndarray = np.empty(dcn_mesh_shape, dtype=object)
        for number, place in enumerate(np.ndindex(*dcn_mesh_shape)):
            blocks[place] = grids[number]
        shape = tuple(i * d for i, d in zip(ici_mesh_shape, dcn_mesh_shape))
        super().__init__(np.block(blocks.tolist()).flatten(), shape, axis_names)

    def _inside(self, devices):
        """Returns the devices of a slice as a grid of ici_mesh_shape; along the wires, where devices have coordinates."""
        if "coords" not in self.device_attributes[devices[0]]:
            return np.array(devices).reshape(self.ici_mesh_shape)
        places = [tuple(self.device_attributes[device]["coords"]) for device in devices]
        wires = np.empty(np.max(places, axis=0) + 1, dtype=int)
        for place, device in zip(places, devices):
            wires[place] = device
        # Axes with most traffic come last: they choose first, and take as many directions as there are.
        free, chosen = set(range(wires.ndim)), {}
        for axis in reversed(range(len(self.ici_mesh_shape))):
            sizes = self.ici_mesh_shape[axis]
            found = next((pick for count in range(3, 0, -1) for pick in itertools.combinations(sorted(free), count)
                          if np.prod([wires.shape[i] for i in pick]) == sizes), None)
            if found is None and sizes > 1:
                raise NotImplementedError(f"axis {axis} of size {sizes} does not fit any directions of the slice's grid {wires.shape}")
            chosen[axis] = found or ()
            free -= set(chosen[axis])
        order = [i for axis in range(len(self.ici_mesh_shape)) for i in chosen[axis]]
        return wires.transpose(order + sorted(free)).reshape(self.ici_mesh_shape)


def check_devices(ids: Iterable[int], shape: Any, what: str) -> None:
    """Checks that the process has these devices.

    Args:
      ids: The devices.
      shape: The mesh's shape, for the error message.
      what: The function that the user has called, for the error message.

    Raises:
      ShardingError: There are too many, one does not exist, or one is named twice.
    """
    count, ids = xr.global_runtime_device_count(), [int(device) for device in ids]
    rule = f"Device IDs has to be subset of addressable_devices; got: {ids}"
    if len(ids) > count:
        raise error(what, f"a mesh of the {count} devices that there are", f"one of {len(ids)}: {shape}", rule=rule)
    missing = [device for device in ids if not 0 <= device < count]
    if missing:
        raise error(what, f"device ids from 0 to {count - 1}", f"{missing}, which no process can address", rule=rule)
    if len(set(ids)) != len(ids):
        raise error(what, "every device once", ids, rule="Device IDs must be unique")


def mesh_and_axes(device_mesh: Any, what: str) -> tuple[Mesh, list[tuple[int, ...]]]:
    """Returns the Mesh of a DeviceMesh of torch.distributed.

    A part of another DeviceMesh (mesh["tp"]) is written in the axes of that one: its groups stay apart, and what is on one of them meets what is on
    another without moving.

    Args:
      device_mesh: The DeviceMesh.
      what: The operation, for the message of an error.

    Returns:
      The Mesh, and for each dimension of `device_mesh` the axes of the Mesh, major first.

    Raises:
      ShardingError: The mesh has devices that do not exist, or one twice.
    """
    root = device_mesh._get_root_mesh()
    grid, names = root.mesh, root.mesh_dim_names
    check_devices(grid.flatten().tolist(), dict(zip(names or range(grid.dim()), grid.shape)), what)
    mesh = Mesh(grid.flatten().tolist(), tuple(grid.shape), names)
    if root is device_mesh:
        return mesh, [(axis,) for axis in range(grid.dim())]
    places = device_mesh._layout.remap_to_tensor(torch.arange(grid.numel(), dtype=torch.int))[0].numpy()
    return mesh, [_axes_along(np.moveaxis(places, dim, 0).reshape(places.shape[dim], -1)[:, 0], grid.shape) for dim in range(places.ndim)]


def _axes_along(places, shape):
    """Which axes of a grid a row of its places (numbers in row-major order) walks over, major first."""
    steps = np.array(np.unravel_index(places, shape))
    moving = [axis for axis in range(len(shape)) if steps[axis].any()]
    return tuple(sorted(moving, key=lambda axis: -int(np.argmax(steps[axis] > 0))))


def mesh_of_dtensor(device_mesh: Any) -> Mesh:
    """Returns the Mesh of the devices of a torch.distributed DeviceMesh."""
    grid = device_mesh.mesh
    return Mesh(grid.flatten().tolist(), tuple(grid.shape), device_mesh.mesh_dim_names)
