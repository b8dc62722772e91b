# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.core.xla_model (xm): devices, the step barrier, step closures, collectives, saving, random state."""
import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

import torch

from .. import _composites, _devices, _load, _step, _world, runtime
from .._devices import xla_device  # noqa: F401
from .._step import _run_step_closures, add_step_closure  # noqa: F401
from ..utils import utils as xu
from . import _collectives, _files
from ._collectives import (REDUCE_AND, REDUCE_MAX, REDUCE_MIN, REDUCE_MUL, REDUCE_OR, REDUCE_SUM,  # noqa: F401
                           CoalescingBuckets, Groups, all_gather, all_gather_bucketized, all_reduce, all_reduce_bucketized_gradients,
                           all_to_all, collective_broadcast, collective_permute, recv, reduce_scatter, reduce_scatter_bucketized,
                           send)

_XLAC = _load.sys.modules["torch_xla._XLAC"]
XLA_LIB = torch.library.Library("xla", "FRAGMENT")  # for operators that the user defines: XLA_LIB.define(...)


class MemoryInfo(dict):
    """The memory use of a device, in bytes: a dict with bytes_used, bytes_limit and peak_bytes_used."""


#===-- Devices ---------------------------------------------------------------===


def get_xla_supported_devices(max_devices: Any = None, devkind: Any = None) -> list[str] | None:
    """Returns the names of this process's devices, such as "xla:0".

    Args:
      max_devices: At most so many. (A kind is taken here, too: it once stood first.)
      devkind: The kind, or kinds, that the devices must be of. Only "CPU" exists.

    Returns:
      The names; None if no device is of this kind.
    """
    if isinstance(max_devices, (str, list)):  # the kind was the first parameter once
        max_devices, devkind = None, max_devices
    if not _devices.is_kind_supported(devkind):
        return None
    return [str(device) for device in _devices.devices()][:max_devices]


def xla_device_hw(device: torch.device | str | int | None) -> str:
    """Returns the hardware of a device: "CPU".

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    return "CPU"


def xla_device_kind(device: torch.device | str | int | None = None) -> str:
    """Returns the kind of a device's hardware in the runtime: "cpu".

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    return "cpu"


def xla_real_devices(devices: Iterable[torch.device | str] | None = None) -> list[str]:
    """Returns the names in the runtime of these devices, or of all.

    Raises:
      RuntimeError: There is no such device.
    """
    names = _devices.real_devices()
    return [names[_devices.index_of(device)] for device in devices] if devices else names


def parse_xla_device(device: str) -> tuple[str, int] | None:
    """Returns ("CPU", 3) for "CPU:3", the name of a device in the runtime; None for anything else."""
    kind, colon, index = device.partition(":")
    return (kind, int(index)) if colon and kind.isupper() and index.isdigit() else None


def xla_replication_devices(local_devices: Iterable[torch.device | str] | None = None) -> list[str]:
    """Returns the names in the runtime of all devices that replicate with these."""
    return xla_real_devices(local_devices)


def set_replication(device: torch.device | str | int | None, devices: Iterable[torch.device | str]) -> None:
    """Accepts the devices that a device replicates with. Unlike in PyTorch/XLA it has no effect: each process is one replica.

    Args:
      device: The device.
      devices: The devices that it replicates with.

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    for other in devices:
        _devices.index_of(other)


def is_xla_tensor(tensor: torch.Tensor) -> bool:
    """Returns whether the tensor is on the xla device."""
    return tensor.device.type == "xla"


def get_memory_info(device: torch.device | str | int | None = None) -> MemoryInfo:
    """Returns the memory use of a device, in bytes.

    Returns:
      bytes_used, bytes_limit (MILLRACE_MEMORY_LIMIT, else the host's memory) and peak_bytes_used.

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    used, peak, limit = _XLAC._memory_stats()
    return MemoryInfo(bytes_used=used, bytes_limit=limit or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), peak_bytes_used=peak)


def reset_peak_memory(device: torch.device | str | int | None = None) -> None:
    """Lets peak_bytes_used of get_memory_info() count from now on. Waits for what still runs.

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    wait_device_ops()
    _XLAC._clear_memory_stats()


#===-- Waiting for and reading what was recorded -----------------------------===


def mark_step(wait: bool = False, reset_scope: bool = True) -> None:
    """Executes the step barrier; see torch_xla.sync(). (tracing/reports/Analysis.cpp finds this function by its name and file.)

    Args:
      wait: Whether it returns after the execution.
      reset_scope: Whether to leave all name scopes.

    Raises:
      RuntimeError: The barrier stands inside of an xp.Trace, unless reset_scope is False.
    """
    _step._barrier(wait, reset_scope=reset_scope)


def wait_device_ops(devices: Iterable[torch.device | str] = []) -> None:
    """Waits for everything that was started on these devices, or on all.

    Raises:
      RuntimeError: There is no such device.
    """
    for device in devices:
        _devices.index_of(device)
    _XLAC._wait()


def unlazy(tensors: Iterable[torch.Tensor]) -> None:
    """Compiles and runs, as one program, what these tensors need, and waits for their values."""
    _XLAC._xla_sync_multi(list(tensors))
    _XLAC._wait()


def optimization_barrier_(tensors: Iterable[torch.Tensor]) -> None:
    """Keeps the compiler from moving operations across: what uses these tensors from now on is computed after all of them."""
    _XLAC._xla_optimization_barrier_(list(tensors))


def optimization_barrier(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """Returns new tensors with the values of `tensors`, without their gradients, each of which is computed after all of them."""
    return _XLAC._behind_optimization_barrier(list(tensors))


def get_stablehlo(tensors: Iterable[torch.Tensor] | None = None) -> str:
    """Returns the StableHLO text of a pending program.

    Args:
      tensors: What the program computes; everything pending by default.
    """
    return _composites.rewrite(_XLAC._get_xla_tensors_stablehlo(list(tensors) if tensors else None))


def get_stablehlo_bytecode(tensors: Iterable[torch.Tensor] | None = None) -> bytes:
    """Returns the program of get_stablehlo() as a portable artifact."""
    return _XLAC._artifact(get_stablehlo(tensors), "current")


#===-- Replicas --------------------------------------------------------------===


def get_ordinal(defval: int = 0) -> int:
    """Returns the index of this replica among all; see xr.global_ordinal(). `defval` has no effect."""
    return runtime.global_ordinal()


def get_local_ordinal() -> int:
    """Returns the index of this replica on its host."""
    return runtime.local_ordinal()


def xrt_world_size(defval: int = 1) -> int:
    """Returns the number of replicas; see xr.world_size(). `defval` has no effect."""
    return runtime.world_size()


def is_master_ordinal(local: bool = True) -> bool:
    """Returns whether this is the first replica of its host (`local`), or of all."""
    return (get_local_ordinal() if local else get_ordinal()) == 0


def master_print(*args: Any, fd: TextIO | None = None, local: bool = False, flush: bool = False) -> None:
    """Prints on the first replica only.

    Args:
      *args: As of print().
      fd: The file, sys.stdout by default.
      local: Whether the first replica of every host prints.
      flush: As of print().
    """
    if is_master_ordinal(local=local):
        print(*args, file=fd or sys.stdout, flush=flush)


def broadcast_master_param(model: torch.nn.Module) -> None:
    """Gives all replicas the parameters and buffers of the first one; a step barrier follows."""
    tensors = [parameter.data for parameter in model.parameters()] + [buffer.data for buffer in model.buffers()]
    collective_broadcast(tensors)
    mark_step()


def _fetch_gradients(optimizer):
    """Returns the gradients of the optimizer's parameters that are still those of this replica. accelerate calls this name."""
    reduced = {id(p) for each in _collectives.reducing_in_backward for p in each.reduced_parameters()}
    return [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None and id(p) not in reduced]


def reduce_gradients(optimizer: torch.optim.Optimizer, groups: Groups = None, pin_layout: bool = True) -> None:
    """Replaces the gradients of the optimizer's parameters by their means over all replicas. Gradients of shards of an XlaFullyShardedDataParallel,
    which the backward pass has reduced, stay as they are.

    Args:
      optimizer: Has the parameters.
      groups: Groups of replicas that reduce among themselves; the sum is divided by the number of all replicas.
      pin_layout: Has no effect.

    Raises:
      ValueError: The groups do not name every replica once, this one among them.
    """
    _collectives.check_groups(groups)
    count = xrt_world_size()
    if count > 1:
        all_reduce(REDUCE_SUM, _fetch_gradients(optimizer), scale=1.0 / count, groups=groups, pin_layout=pin_layout)


def optimizer_step(optimizer: torch.optim.Optimizer, barrier: bool = False, optimizer_args: dict[str, Any] = {}, groups: Groups = None,
                   pin_layout: bool = True) -> Any:
    """Reduces the gradients and updates the parameters.

    Args:
      optimizer: Its step() is called.
      barrier: Whether a step barrier follows.
      optimizer_args: Arguments of step().
      groups: See reduce_gradients().
      pin_layout: Has no effect.

    Returns:
      What step() returns.
    """
    reduce_gradients(optimizer, groups=groups, pin_layout=pin_layout)
    loss = optimizer.step(**optimizer_args)
    if barrier:
        mark_step()
    return loss


def rendezvous(tag: str, payload: bytes = b"", replicas: Iterable[int] = []) -> list[bytes]:
    """Waits for all processes and exchanges payloads; see xla_rendezvous().

    Args:
      tag: A name for the rendezvous, without effect.
      payload: The bytes of this replica.
      replicas: All replicas, or none.

    Returns:
      The payloads of all replicas, by rank.

    Raises:
      TypeError: The payload is not of the type bytes.
      ValueError: `replicas` are not all replicas.
    """
    return xla_rendezvous(payload, list(replicas) or None, tag=tag)


def xla_rendezvous(payload: bytes = b"", ordinals: Iterable[int] | None = None, tag: str | None = None) -> list[bytes]:
    """Waits until all replicas have called it, and exchanges their payloads.

    Args:
      payload: What this replica gives.
      ordinals: All replicas, if given.
      tag: A name for the meeting, without effect.

    Returns:
      The payloads of all replicas, by ordinal.

    Raises:
      TypeError: The payload is not of the type bytes.
      ValueError: `ordinals` are not all replicas.
    """
    if not isinstance(payload, bytes):
        raise TypeError(f"expects the payload as bytes, but got {type(payload).__name__}")
    world = xrt_world_size()
    if ordinals and set(ordinals) != set(range(world)):
        raise ValueError(f"ordinals {list(ordinals)} are not all replicas: the world has {'one' if world == 1 else world}, and all of them take part")
    if world == 1:
        if _world.process_count() > 1:  # under SPMD the processes are one replica, but they wait for each other
            mark_step()
            _world.meet()
        return [payload]
    mark_step()
    sizes = all_gather(torch.tensor([len(payload)], device="xla"), pin_layout=False).tolist()
    longest = max(sizes)
    if longest == 0:
        return [b""] * world
    padded = torch.frombuffer(bytearray(payload.ljust(longest, b"\0")), dtype=torch.uint8).to("xla")
    everything = all_gather(padded, pin_layout=False).cpu().numpy().tobytes()
    return [everything[rank * longest:rank * longest + size] for rank, size in enumerate(sizes)]


def mesh_reduce(tag: str, data: Any, reduce_fn: Callable[[list[Any]], Any]) -> Any:
    """Reduces a value of every process with a function of Python.

    Args:
      tag: A name, without effect.
      data: This process's value; its tensors are moved to the CPU.
      reduce_fn: Gets the list of all values.

    Returns:
      What reduce_fn returns.
    """
    own = _to_cpu(data)
    if xrt_world_size() == 1:
        return reduce_fn([own])
    written = io.BytesIO()
    torch.save(own, written)
    # The processes of one program trust each other, so that unpickling executes only their own code.
    return reduce_fn([torch.load(io.BytesIO(each), weights_only=False) for each in xla_rendezvous(written.getvalue(), tag=tag)])


def do_on_ordinals(target: Callable[..., Any], data: Sequence[Any] = (), ordinals: Iterable[int] = (0,)) -> None:
    """Calls a function on some replicas; the others wait.

    Args:
      target: The function.
      data: Its arguments, whose tensors are moved to the CPU.
      ordinals: The replicas that call it.
    """
    if get_ordinal() in ordinals:
        target(*_to_cpu(data))
    rendezvous("torch_xla.core.xla_model.do_on_ordinals")


class RateTracker:
    """Samples per second of a training loop: add(count) per step, rate() since the last call (smoothed), global_rate() since
    the beginning. `smooth_factor`: weight of the past, 0.4 by default, or the environment variable RATE_TRACKER_SMOOTHING."""

    def __init__(self, smooth_factor: float | None = None) -> None:
        self._smooth = xu.getenv_as("RATE_TRACKER_SMOOTHING", float, 0.4) if smooth_factor is None else smooth_factor
        self._start = self._last = time.monotonic()
        self._last_rate: float | None = None
        self._last_count, self._total = 0.0, 0.0

    def add(self, count: float) -> None:
        """Counts so many samples more."""
        self._total += count

    def rate(self) -> float:
        """Returns the samples per second since the last call, smoothed with the past."""
        now = time.monotonic()
        seconds, samples = now - self._last, self._total - self._last_count
        rate = samples / seconds if seconds > 0 else 0.0
        if self._last_rate is not None:
            rate = (1 - self._smooth) * rate + self._smooth * self._last_rate
        self._last, self._last_count, self._last_rate = now, self._total, rate
        return rate

    def global_rate(self) -> float:
        """Returns the samples per second since the beginning."""
        seconds = time.monotonic() - self._start
        return self._total / seconds if seconds > 0 else 0.0


#===-- Transfers -------------------------------------------------------------===


class ToXlaTensorArena:
    """Converts the selected values in nested data, all with one call.

    Args:
      convert_fn: Returns for a list of values the list of their replacements.
      select_fn: Returns whether a value is selected.
    """

    def __init__(self, convert_fn: Callable[[list[Any]], list[Any]], select_fn: Callable[[Any], bool]) -> None:
        self._convert, self._select = convert_fn, select_fn

    def transform(self, inputs: Any) -> Any:
        """Returns a copy of `inputs` with the converted values in the place of the selected."""
        selected: list[Any] = []
        xu.for_each_instance(inputs, self._select, selected.append)
        converted = {id(value): new for value, new in zip(selected, self._convert(selected))} if selected else {}
        return xu.for_each_instance_rewrite(inputs, self._select, lambda value: converted[id(value)])


def check_view_sharing(obj: Any) -> None:
    """Checks that no two tensors in nested data share memory: they would be saved, or moved, as separate ones.

    Raises:
      RuntimeError: Two of them do.
    """
    owners: dict[int, torch.Tensor] = {}

    def check(tensor):
        other = owners.setdefault(tensor.untyped_storage()._cdata, tensor)
        if other is not tensor:
            raise RuntimeError(f"two tensors, of sizes {tuple(other.shape)} and {tuple(tensor.shape)}, share their memory")

    xu.for_each_instance(obj, lambda value: isinstance(value, torch.Tensor), check)


def _to_cpu_tensor(tensor):
    cpu = tensor.detach().cpu()
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(cpu, requires_grad=tensor.requires_grad)
    return cpu.requires_grad_(tensor.requires_grad) if tensor.requires_grad else cpu


def _to_cpu(data):
    made = {}  # aliases on the device, such as tied parameters, are aliases on the CPU

    def moved(tensor):
        key = (type(tensor), tensor.untyped_storage()._cdata, tensor.storage_offset(), tensor.size(), tensor.stride(), tensor.dtype, tensor.requires_grad)
        if key not in made:
            made[key] = _to_cpu_tensor(tensor)
        return made[key]

    def convert(tensors):
        _XLAC._xla_sync_multi([tensor for tensor in tensors])
        return [moved(tensor) for tensor in tensors]
    return ToXlaTensorArena(convert, lambda value: isinstance(value, torch.Tensor) and is_xla_tensor(value)).transform(data)


def _maybe_convert_to_cpu(data, convert=True):
    """`data` with its tensors on the CPU, or as it is without `convert`; accelerate and Lightning save checkpoints by it."""
    return _to_cpu(data) if convert else data


def save(data: Any, file_or_path: Any, master_only: bool = True, global_master: bool = False, sync: bool = True) -> None:
    """Saves nested data with torch.save(), its tensors moved to the CPU.

    A file gets its name when it is complete; until then, and where the disk is full or the process is killed, an older file of that name stays.

    Args:
      data: What is saved.
      file_or_path: A path, or an open file.
      master_only: Whether only the first replica of this host writes; otherwise every replica needs a file of its own.
      global_master: Whether, with master_only, the first replica of all writes.
      sync: Whether all replicas wait until it is written.
    """
    if not master_only or is_master_ordinal(local=not global_master):
        _files.save(_to_cpu(data), file_or_path)
    if sync:
        rendezvous("torch_xla.core.xla_model.save")


class MissingSharding(KeyError, ValueError):
    """A batch has an entry that the dict of shardings lacks."""

    __str__ = ValueError.__str__


def _send_by_name(batch, device, specs):
    """Returns a batch that is a dict, with a sharding per key."""
    if not isinstance(batch, dict):
        raise ValueError(f"input_sharding is a dict: expects batches that are dicts too, but got a {type(batch).__name__}")
    missing = [key for key in batch if key not in specs]
    if missing:
        raise MissingSharding(f"input_sharding has no entry for {missing} of a batch; it has {list(specs)}")
    return type(batch)((key, send_cpu_data_to_device([value], device, specs[key])[0]) for key, value in batch.items())


def _send_by_place(batch, device, specs):
    """Returns a batch that is a list or tuple, with a sharding per entry."""
    if not isinstance(batch, (list, tuple)) or len(batch) != len(specs):
        actual = f"one of {len(batch)}" if isinstance(batch, (list, tuple)) else f"a {type(batch).__name__}"
        raise ValueError(f"input_sharding is a list: expects batches that are lists or tuples of {len(specs)} entries, but got {actual}")
    sent = [send_cpu_data_to_device([value], device, spec)[0] for value, spec in zip(batch, specs)]
    return type(batch)(*sent) if hasattr(batch, "_fields") else type(batch)(sent)


def _replicated(cpu):
    """Returns a copy of a CPU tensor that every device holds, and that is known to be so."""
    made = cpu.to(xla_device())
    _XLAC._spmd_mark(made, "{replicated}", None)
    return made


def send_cpu_data_to_device(datas: Any, device: torch.device | str, input_sharding: Any = None) -> list[Any]:
    """Copies nested data, its CPU tensors moved to the device.

    Args:
      datas: A list of batches. A single tensor is taken as a list of one.
      device: The device.
      input_sharding: A ShardingSpec for tensors of its rank, while others are replicated; a dict of them (or of None) for batches that are dicts
        with the same keys; or a list of them for batches that are lists or tuples. The devices get their shards directly.

    Returns:
      The copies, in a list.

    Raises:
      ValueError: A batch does not have the form that input_sharding asks for; MissingSharding if a key is missing.
    """
    if type(datas) is torch.Tensor:
        datas = [datas]
    if isinstance(input_sharding, dict):
        return [_send_by_name(data, device, input_sharding) for data in datas]
    if isinstance(input_sharding, (list, tuple)):
        return [_send_by_place(data, device, input_sharding) for data in datas]
    if input_sharding is not None and not hasattr(input_sharding, "upload"):
        raise ValueError(f"input_sharding: expects a ShardingSpec, or a dict or list of them, but got {input_sharding!r}")

    def copies(tensors):
        if input_sharding is not None:
            return [input_sharding.upload(tensor) for tensor in tensors]
        if not _XLAC._spmd_partitions():
            return [tensor.to(device) for tensor in tensors]
        return [_replicated(tensor) for tensor in tensors]
    return ToXlaTensorArena(copies, lambda value: isinstance(value, torch.Tensor) and value.device.type == "cpu").transform(datas)


#===-- Random numbers --------------------------------------------------------===


def get_rng_state(device: torch.device | str | int | None = None) -> int:
    """Returns the state of the device's random numbers: set_rng_state() of it gives the numbers that come next again.

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    seed, draws = _XLAC._rng_state()
    return (seed + 0x9e3779b97f4a7c15 * draws) & (1 << 64) - 1  # a draw depends on this sum only (csrc/Generator.cpp)


def set_rng_state(seed: int, device: torch.device | str | int | None = None) -> None:
    """Sets the seed of the device's random numbers.

    Args:
      seed: The seed, of which the lowest 64 bits count.
      device: The device; all devices of a process share the generator.

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    _XLAC._set_seed(int(seed) & (1 << 64) - 1)


@contextlib.contextmanager
def fork_rng(device: torch.device | str | int | None = None, enabled: bool = True) -> Iterator[None]:
    """Returns a context manager at whose end the device's random numbers are as they were at its beginning.

    Args:
      device: The device.
      enabled: Whether it has this effect.

    Raises:
      RuntimeError: There is no such device.
    """
    _devices.index_of(device)
    state = _XLAC._rng_state()
    try:
        yield
    finally:
        if enabled:
            _XLAC._set_rng_state(*state)
