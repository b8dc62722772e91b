# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.distributed's backend "xla", and the init methods xla:// and pjrt://. Importing this module is enough:
torch.distributed.init_process_group("xla", init_method="xla://").

In a world of several processes its groups are of the C++ class behind _XLAC._make_backend() (csrc/Backend.cpp). ProcessGroupXla is that of a
world of one. A group of more processes than the runtime has (a test that says so of torch.distributed.group.WORLD) records its collectives:
their graphs can be printed, not run."""
import datetime
import functools
import inspect
import itertools
import os
import urllib.parse
from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

import torch
import torch.distributed as dist

from .. import _load, _world
from .. import runtime as xr
from ..core import _collective_programs as programs
from ..core import xla_model as xm


_XLAC = _load.sys.modules["torch_xla._XLAC"]
_Options = TypeVar("_Options")


_times = itertools.count()  # the number of initializations of torch.distributed with xla://, which is equal in all processes


def _check_place(rank: int, size: int) -> None:
    """ValueError if `rank` and `size` (-1: not given) contradict what started the processes. A process that was started alone has any place."""
    index, count = _world.process_index(), _world.process_count()
    if count == 1 or (rank in (-1, index) and size in (-1, count)):
        return
    given = ", ".join(f"{name}={number}" for name, number in (("rank", rank), ("world_size", size)) if number != -1)
    raise ValueError(f"init_process_group({given}): this is process {index} of {count}, as what started it (torchrun's RANK and WORLD_SIZE, xmp.spawn, mpirun, "
                     "srun) says; leave rank and world_size out, or give these")


def _rendezvous(url, timeout=None, **kwargs):
    """Rank and size come from the runtime. Under SPMD, where all processes are one replica, they are those of processes: a group of the CPU."""
    asked = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)  # the arguments rank= and world_size=, which PyTorch adds to the URL
    _check_place(*(int(asked.get(name, ["-1"])[0]) for name in ("rank", "world_size")))
    # Each initialization has keys of its own: otherwise Gloo would find the addresses of a group that has been destroyed.
    store = dist.HashStore() if xr.process_count() == 1 else dist.PrefixStore(f"c10d/{next(_times)}", _world.job_store())
    yield store, xr.process_index(), xr.process_count()


def _check_device_ids(construct):
    """DistributedDataParallel's constructor, which says what is wrong with device_ids=[local_rank]."""
    @functools.wraps(construct)
    def checked(self, module, device_ids=None, *args, **kwargs):
        for device in device_ids or () if any(parameter.device.type == "xla" for parameter in module.parameters()) else ():
            index = device if isinstance(device, int) else torch.device(device).index
            if index:
                raise ValueError(f"DistributedDataParallel(device_ids={list(device_ids)}): each process has one device, xla:0; leave device_ids out, whatever "
                                 "the local rank is")
        construct(self, module, device_ids, *args, **kwargs)
    checked._checks_xla_devices = True
    return checked


_DDP = torch.nn.parallel.DistributedDataParallel
if not hasattr(_DDP.__init__, "_checks_xla_devices"):
    _DDP.__init__ = _check_device_ids(_DDP.__init__)


def _names_xla(backend) -> bool:
    return "xla" in str(backend).lower().replace(":", ",").split(",")


def _check_arguments(initialize):
    """init_process_group(), which takes device_id= of a device of this side (PyTorch knows only the accelerators that it was built for), and compares
    rank= and world_size= with the environment before a process waits for one that does not exist."""
    signature = inspect.signature(initialize)

    @functools.wraps(initialize)
    def checked(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        backend, device = given.get("backend"), given.get("device_id")
        if isinstance(device, int) and torch.accelerator.current_accelerator(check_available=True) is None and (backend is None or _names_xla(backend)):
            device = torch.device("xla", device)
        if isinstance(device, torch.device) and device.type == "xla":
            if device.index:
                raise ValueError(f"init_process_group(device_id={given['device_id']!r}): each process has one device, xla:0; leave device_id out, whatever "
                                 "the local rank is")
            if backend is None:
                given["backend"] = backend = "xla"
            del given["device_id"]
        if backend is not None and _names_xla(backend):
            _check_place(given.get("rank", -1), given.get("world_size", -1))
            if _world.process_count() > 1 and given.get("store") is None and str(given.get("init_method") or "env://").startswith("env://"):
                _world.job_store()  # the store is the same as PyTorch's, but its error names the missing process in time
        return initialize(*bound.args, **bound.kwargs)
    checked._checks_arguments = True
    return checked


def _know_xla_without_name(construct):
    """BackendConfig's constructor. Where no backend is named, tensors of the device have theirs beside the one of the CPU that PyTorch finds; not
    under SPMD, where the processes have no groups on the device."""
    @functools.wraps(construct)
    def known(self, backend):
        construct(self, backend)
        if str(backend) == dist.Backend.UNDEFINED and not xr.is_spmd():
            self.device_backend_map.setdefault("xla", dist.Backend("xla"))
    known._knows_xla = True
    return known


if not hasattr(dist.init_process_group, "_checks_arguments"):
    dist.init_process_group = dist.distributed_c10d.init_process_group = _check_arguments(dist.init_process_group)
if not hasattr(dist.distributed_c10d.BackendConfig.__init__, "_knows_xla"):
    dist.distributed_c10d.BackendConfig.__init__ = _know_xla_without_name(dist.distributed_c10d.BackendConfig.__init__)


dist.register_rendezvous_handler("xla", _rendezvous)
dist.register_rendezvous_handler("pjrt", _rendezvous)  # its name in PyTorch/XLA 2.0


class _Done(dist._Work):
    """Work that was recorded: the device runs it in order, so that no wait is needed."""

    def __init__(self, result):
        super().__init__()
        self._future = torch.futures.Future()
        self._future.set_result(result)

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True

    def is_success(self):
        return True

    def get_future(self):
        return self._future

    def result(self):
        return self._future.value()


_REDUCTIONS = {dist.ReduceOp.SUM: xm.REDUCE_SUM, dist.ReduceOp.PRODUCT: xm.REDUCE_MUL, dist.ReduceOp.BAND: xm.REDUCE_AND,
               dist.ReduceOp.BOR: xm.REDUCE_OR, dist.ReduceOp.MIN: xm.REDUCE_MIN, dist.ReduceOp.MAX: xm.REDUCE_MAX,
               dist.ReduceOp.AVG: xm.REDUCE_SUM}


def _check_reduction(options: Any) -> str:
    """Returns xm's name of a reduction, which `options` is or names; ValueError for one that the device does not have."""
    op = getattr(options, "reduceOp", options)
    for known, kind in _REDUCTIONS.items():
        if op == known:
            return kind
    raise ValueError(f"the xla backend has no reduction {op}")


def _world_size():
    """Processes of the world, as torch.distributed says it."""
    return dist.group.WORLD.size() if dist.is_initialized() else 1


def _asked(name: str, options: _Options | None) -> _Options:
    """Returns the options of a collective; NotImplementedError without any."""
    if options is None:
        raise NotImplementedError(f"{name} on the backend xla without options")
    return options


class ProcessGroupXla(dist.ProcessGroup):
    """The collectives of torch.distributed on tensors of the device in a world of one process; torch.distributed makes the objects.

    A group of more processes than the runtime has records its collectives, so that their graphs can be printed, but not run. So does a group of one
    with XLA_ALWAYS_ALLREDUCE=1; otherwise a group of one copies its operands. Every method returns a dist.Work that is complete: the device
    runs recorded operations in order, so that nothing waits for it. PyTorch/XLA has this class in worlds of several processes, too.

    Args:
      prefix_store: The store that torch.distributed made for the group; it is kept, and not used.
      rank: The number of this process in the group.
      size: The number of processes of the group.
      timeout: The longest time that a collective may take, a timedelta; it is kept, and not used.

    Raises:
      RuntimeError: The group is larger than the world of torch.distributed.
    """

    def __init__(self, prefix_store: Any, rank: int, size: int, timeout: Any) -> None:
        if size > _world_size():
            raise RuntimeError(f"ProcessGroupXla is for a world of one process, but got {size}: torch.distributed.init_process_group() makes groups of more")
        super().__init__(rank, size)
        self._prefix_store, self._timeout = prefix_store, timeout
        self._mesh = None  # all groups of the world, this one among them; None: one group of all ranks

    def _records(self):
        return self.size() > 1 or programs.wanted()

    def getBackendName(self) -> str:
        """Returns "xla"."""
        return "xla"

    def _check(self, rank):
        if not 0 <= rank < self.size():
            raise ValueError(f"rank {rank} does not exist: the world has one process" if self.size() == 1 else f"rank {rank} is not in the group")

    #===-- One tensor in, one out ----------------------------------------------===

    def allreduce(self, tensors: list[torch.Tensor], all_reduce_options: dist.AllreduceOptions | dist.ReduceOp) -> dist.Work:
        """Reduces each tensor over the processes of the group, in place.

        Args:
          tensors: Tensors of the device.
          all_reduce_options: A reduction, or options whose field reduceOp names it. AVG, which PyTorch/XLA does not have, is recorded as the sum.

        Raises:
          ValueError: The backend does not have this reduction.
        """
        kind = _check_reduction(all_reduce_options)
        if self._records():
            for tensor in tensors:
                tensor.copy_(programs.all_reduce(kind, tensor, self._mesh))
        return _Done(tensors)

    def allreduce_coalesced(self, tensors: list[torch.Tensor], options: dist.AllreduceCoalescedOptions | None = None) -> dist.Work:
        """Reduces each tensor of a list over the processes of the group, in place. PyTorch/XLA does not have this collective.

        Args:
          tensors: Tensors of the device.
          options: The field reduceOp names the reduction.

        Raises:
          NotImplementedError: There are no options.
          ValueError: The backend does not have this reduction.
        """
        _asked("allreduce_coalesced", options)
        return self.allreduce(tensors, options)

    def reduce(self, tensors: list[torch.Tensor], opts: dist.ReduceOptions | None = None) -> dist.Work:
        """Leaves the tensors as they are, which is their reduction over one process; a larger group records nothing. PyTorch/XLA does not have this
        collective.

        Args:
          tensors: Tensors of the device.
          opts: The fields rootRank and reduceOp, which are checked.

        Raises:
          NotImplementedError: There are no options.
          ValueError: The group has no such rank, or the backend does not have this reduction.
        """
        opts = _asked("reduce", opts)
        self._check(opts.rootRank)
        _check_reduction(opts)
        return _Done(tensors)

    def broadcast(self, tensors: list[torch.Tensor], opts: dist.BroadcastOptions) -> dist.Work:
        """Overwrites each tensor with that of the root. It is recorded as the sum of the root's tensor and of zeros, as in PyTorch/XLA.

        Args:
          tensors: Tensors of the device, of equal sizes in all processes.
          opts: The field rootRank names the root.

        Raises:
          ValueError: The group has no such rank.
        """
        self._check(opts.rootRank)
        if self._records():  # a broadcast is the sum of the root's tensor and of zeros
            for tensor in tensors:
                given = tensor if self.rank() == opts.rootRank else torch.zeros_like(tensor)
                tensor.copy_(programs.all_reduce(xm.REDUCE_SUM, given, self._mesh))
        return _Done(tensors)

    def barrier(self, opts: dist.BarrierOptions | None = None) -> dist.Work:
        """Returns at once: recorded operations run in the same order on every rank.

        Args:
          opts: Has no effect.
        """
        return _Done([])

    def monitored_barrier(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises an error: PyTorch offers a barrier that names missing processes for the backend gloo alone.

        Args:
          *args: Have no effect.
          **kwargs: Have no effect.

        Raises:
          NotImplementedError: Always.
        """
        raise NotImplementedError("monitored_barrier on the backend xla")

    #===-- Lists and flat tensors ----------------------------------------------===

    def allgather(self, output_tensors_list: Sequence[Sequence[torch.Tensor]], input_tensors: list[torch.Tensor], opts: Any = None) -> dist.Work:
        """Gathers the tensors of all ranks: output_tensors_list[i][rank] becomes input_tensors[i] of that rank.

        Args:
          output_tensors_list: Per input one tensor per rank, of the sizes of the input; they are overwritten.
          input_tensors: Tensors of the device.
          opts: Has no effect.
        """
        for outputs, value in zip(output_tensors_list, input_tensors):
            parts = programs.all_gather(value, 0, self._mesh).split(value.size(0)) if self._records() and value.dim() else [value]
            for output, part in zip(outputs, parts):
                output.copy_(part)
        return _Done(output_tensors_list)

    def allgather_coalesced(self, output_tensors_list: list[list[torch.Tensor]], input_tensors: list[torch.Tensor], opts: Any = None) -> dist.Work:
        """Gathers lists of tensors of all ranks.

        Args:
          output_tensors_list: output_tensors_list[i][rank] becomes input_tensors[i] of that rank, which is PyTorch/XLA's order; where the sizes fit
            only PyTorch's order, output_tensors_list[rank][i] does.
          input_tensors: Tensors of the device.
          opts: Has no effect.
        """
        by_input = len(output_tensors_list) == len(input_tensors) and all(
            output.shape == value.shape for outputs, value in zip(output_tensors_list, input_tensors) for output in outputs)
        return self.allgather(output_tensors_list if by_input else list(zip(*output_tensors_list)), input_tensors)

    def _flat(self, output, value):
        output.copy_(value.reshape(output.shape))
        return _Done([output])

    def _allgather_base(self, output, value, opts=None):
        return self._flat(output, value)

    def all_gather_single(self, output: torch.Tensor, value: torch.Tensor, opts: Any = None) -> dist.Work:
        """Copies `value`, reshaped, to `output`: the concatenation of the tensors of one rank.

        Args:
          output: A tensor with as many elements as `value`; it is overwritten.
          value: A tensor of the device.
          opts: Has no effect.

        Raises:
          RuntimeError: The numbers of elements differ.
        """
        return self._flat(output, value)

    def all_gather_single_coalesced(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any = None) -> dist.Work:
        """Does for each pair of tensors what all_gather_single() does for one.

        Args:
          outputs: Tensors with as many elements as those of `inputs`; they are overwritten.
          inputs: Tensors of the device.
          opts: Has no effect.

        Raises:
          RuntimeError: The numbers of elements of a pair differ.
        """
        return self.allgather_into_tensor_coalesced(outputs, inputs, opts)

    def allgather_into_tensor_coalesced(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any = None) -> dist.Work:
        """Does for each pair of tensors what all_gather_single() does for one; PyTorch 2 calls it by this name.

        Args:
          outputs: Tensors with as many elements as those of `inputs`; they are overwritten.
          inputs: Tensors of the device.
          opts: Has no effect.

        Raises:
          RuntimeError: The numbers of elements of a pair differ.
        """
        for output, value in zip(outputs, inputs):
            self._flat(output, value)
        return _Done(outputs)

    def reduce_scatter(self, output_tensors: list[torch.Tensor], input_tensors_list: Sequence[Sequence[torch.Tensor]],
                       opts: dist.ReduceScatterOptions) -> dist.Work:
        """Reduces lists of tensors over the ranks; output_tensors[i] becomes the reduction of input_tensors_list[i][rank] of this rank.

        Args:
          output_tensors: Tensors of the device; they are overwritten.
          input_tensors_list: Per output one tensor per rank, of the sizes of the output.
          opts: The field reduceOp names the reduction.

        Raises:
          ValueError: The backend does not have this reduction.
        """
        kind = _check_reduction(opts)
        for output, inputs in zip(output_tensors, input_tensors_list):
            output.copy_(programs.reduce_scatter(kind, torch.cat(list(inputs)), 0, self._mesh) if self._records() and output.dim() else inputs[0])
        return _Done(output_tensors)

    def reduce_scatter_coalesced(self, output_tensors: list[torch.Tensor], input_tensors_list: Sequence[Sequence[torch.Tensor]],
                                 opts: dist.ReduceScatterOptions) -> dist.Work:
        """Does what reduce_scatter() does, which takes lists already.

        Args:
          output_tensors: Tensors of the device; they are overwritten.
          input_tensors_list: Per output one tensor per rank, of the sizes of the output.
          opts: The field reduceOp names the reduction.

        Raises:
          ValueError: The backend does not have this reduction.
        """
        return self.reduce_scatter(output_tensors, input_tensors_list, opts)

    def _reduce_scatter_base(self, output, value, opts):
        _check_reduction(opts)
        return self._flat(output, value)

    def reduce_scatter_single(self, output: torch.Tensor, value: torch.Tensor, opts: dist.ReduceScatterOptions) -> dist.Work:
        """Copies `value`, reshaped, to `output`: the shard of one rank of the reduction.

        Args:
          output: A tensor with as many elements as `value`; it is overwritten.
          value: A tensor of the device.
          opts: The field reduceOp names the reduction, which is checked.

        Raises:
          RuntimeError: The numbers of elements differ.
          ValueError: The backend does not have this reduction.
        """
        _check_reduction(opts)
        return self._flat(output, value)

    def reduce_scatter_single_coalesced(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any = None) -> dist.Work:
        """Copies each tensor of `inputs`, reshaped, to that of `outputs`.

        Args:
          outputs: Tensors with as many elements as those of `inputs`; they are overwritten.
          inputs: Tensors of the device.
          opts: Has no effect: any reduction of one tensor is the tensor.

        Raises:
          RuntimeError: The numbers of elements of a pair differ.
        """
        return self.reduce_scatter_tensor_coalesced(outputs, inputs, opts)

    def reduce_scatter_tensor_coalesced(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any = None) -> dist.Work:
        """Copies each tensor of `inputs`, reshaped, to that of `outputs`; PyTorch 2 calls it by this name.

        Args:
          outputs: Tensors with as many elements as those of `inputs`; they are overwritten.
          inputs: Tensors of the device.
          opts: Has no effect: any reduction of one tensor is the tensor.

        Raises:
          RuntimeError: The numbers of elements of a pair differ.
        """
        for output, value in zip(outputs, inputs):
            self._flat(output, value)
        return _Done(outputs)

    def alltoall(self, output_tensor_list: list[torch.Tensor], input_tensor_list: list[torch.Tensor] | None = None, opts: Any = None) -> dist.Work:
        """Copies the one input tensor to the one output tensor: with one rank, every tensor stays where it is. PyTorch/XLA does not have this
        collective.

        Args:
          output_tensor_list: One tensor of the device; it is overwritten.
          input_tensor_list: One tensor of the same sizes.
          opts: Has no effect.

        Raises:
          NotImplementedError: There is no input.
        """
        output_tensor_list[0].copy_(_asked("alltoall", input_tensor_list)[0])
        return _Done(output_tensor_list)

    def alltoall_base(self, output: torch.Tensor, input: torch.Tensor | None = None, output_split_sizes: Sequence[int] = (),
                      input_split_sizes: Sequence[int] = (), opts: Any = None) -> dist.Work:
        """Copies `input`, reshaped, to `output`: with one rank, every block of a tensor stays where it is.

        Args:
          output: A tensor with as many elements as `input`; it is overwritten.
          input: A tensor of the device.
          output_split_sizes: Has no effect.
          input_split_sizes: Has no effect.
          opts: Has no effect.

        Raises:
          NotImplementedError: There is no input.
          RuntimeError: The numbers of elements differ.
        """
        _asked("alltoall_base", input)
        return self._flat(output, input)

    def all_to_all_single(self, output: torch.Tensor, input: torch.Tensor, output_split_sizes: Sequence[int], input_split_sizes: Sequence[int],
                          opts: Any = None) -> dist.Work:
        """Copies `input`, reshaped, to `output`, as alltoall_base() does.

        Args:
          output: A tensor with as many elements as `input`; it is overwritten.
          input: A tensor of the device.
          output_split_sizes: Has no effect.
          input_split_sizes: Has no effect.
          opts: Has no effect.

        Raises:
          RuntimeError: The numbers of elements differ.
        """
        return self._flat(output, input)

    def gather(self, output_tensors_list: list[list[torch.Tensor]], input_tensor_list: list[torch.Tensor],
               opts: dist.GatherOptions | None = None) -> dist.Work:
        """Copies input_tensor_list[i] to output_tensors_list[i][0]: the gathered tensors of one rank. PyTorch/XLA does not have this collective.

        Args:
          output_tensors_list: Per input one tensor of its sizes; they are overwritten.
          input_tensor_list: Tensors of the device.
          opts: The field rootRank names the root, which is checked.

        Raises:
          NotImplementedError: There are no options.
          ValueError: The group has no such rank.
        """
        opts = _asked("gather", opts)
        self._check(opts.rootRank)
        for outputs, value in zip(output_tensors_list, input_tensor_list):
            outputs[0].copy_(value)
        return _Done(output_tensors_list)

    def scatter(self, output_tensor_list: list[torch.Tensor], input_tensors_list: list[list[torch.Tensor]],
                opts: dist.ScatterOptions | None = None) -> dist.Work:
        """Copies input_tensors_list[i][0] to output_tensor_list[i]: what the root has for one rank. PyTorch/XLA does not have this collective.

        Args:
          output_tensor_list: Tensors of the device; they are overwritten.
          input_tensors_list: Per output one tensor of its sizes.
          opts: The field rootRank names the root, which is checked.

        Raises:
          NotImplementedError: There are no options.
          ValueError: The group has no such rank.
        """
        opts = _asked("scatter", opts)
        self._check(opts.rootRank)
        for output, inputs in zip(output_tensor_list, input_tensors_list):
            output.copy_(inputs[0])
        return _Done(output_tensor_list)

    def make_send_channel_id(self, dst_rank: int, tag: int) -> int:
        """Returns the number of the channel over which send() sends; a subclass that records transfers overrides it, as in PyTorch/XLA.

        Args:
          dst_rank: The rank that receives.
          tag: Distinguishes the transfers between two ranks.

        Raises:
          NotImplementedError: Always in this class, whose world has one process.
        """
        raise NotImplementedError("send on the backend xla: the world has one process")

    def make_recv_channel_id(self, src_rank: int, tag: int) -> int:
        """Returns the number of the channel over which recv() receives; a subclass that records transfers overrides it, as in PyTorch/XLA.

        Args:
          src_rank: The rank that sends.
          tag: Distinguishes the transfers between two ranks.

        Raises:
          NotImplementedError: Always in this class, whose world has one process.
        """
        raise NotImplementedError("recv on the backend xla: the world has one process")

    def send(self, tensors: list[torch.Tensor], dst_rank: int, tag: int = 0) -> dist.Work:
        """Records that tensors are sent over the channel of make_send_channel_id().

        Args:
          tensors: Tensors of the device; each becomes the result of the transfer, which keeps its value.
          dst_rank: The rank that receives.
          tag: Distinguishes the transfers between two ranks.

        Raises:
          NotImplementedError: make_send_channel_id() is not overridden.
        """
        for tensor in tensors:
            tensor.copy_(programs.send(tensor, self.make_send_channel_id(dst_rank, tag)))
        return _Done(tensors)

    def recv(self, out_tensors: list[torch.Tensor], src_rank: int, tag: int = 0) -> dist.Work:
        """Records that tensors are received over the channel of make_recv_channel_id().

        Args:
          out_tensors: Tensors of the device, which are overwritten.
          src_rank: The rank that sends.
          tag: Distinguishes the transfers between two ranks.

        Raises:
          NotImplementedError: make_recv_channel_id() is not overridden.
        """
        for tensor in out_tensors:
            tensor.copy_(programs.recv(tensor, self.make_recv_channel_id(src_rank, tag)))
        return _Done(out_tensors)

    def recv_anysource(self, *args: Any) -> NoReturn:
        """Raises an error: a world of one process has no other process to receive from.

        Args:
          *args: Have no effect.

        Raises:
          NotImplementedError: Always.
        """
        raise NotImplementedError("recv on the backend xla: the world has one process")


def _check_not_spmd():
    if xr.is_spmd():
        raise RuntimeError("XLA backend is not supported with SPMD. Please use a CPU process group instead.")


def _be_in_world_of(store, rank, size):
    """The world is that of torch.distributed, if the environment names none: a program that passes rank and world_size."""
    if _world.process_count() == 1 and not _XLAC._has_started():
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(size))
        _world.use_store(store)
    if (_world.process_index(), _world.process_count()) != (rank, size):
        raise RuntimeError(f"torch.distributed says that this is process {rank} of {size}, but the device is in use by process {_world.process_index()} of "
                           f"{_world.process_count()}: call init_process_group() before the first use of the device, or start the processes with torchrun")


def _create(about=None, options=None, *, prefix_store=None, rank=None, size=None, timeout=None):
    """Returns a group: from what torch.distributed knows about it, or from the parts that its old interface has."""
    if about is not None:
        prefix_store, rank, size, timeout = about.store, about.group_rank, about.group_size, about.timeout
        if size > 1 and not dist.is_initialized():
            _be_in_world_of(prefix_store, rank, size)
        if _world.process_count() > 1:
            _check_not_spmd()
            if timeout and not _XLAC._has_started():  # the timeout of connecting, and of collectives that belong to no group
                os.environ.setdefault("MILLRACE_COLLECTIVE_TIMEOUT", str(timeout.total_seconds()))
            if not dist.is_initialized():  # all processes make the first group, and perhaps only some of them a later one
                _XLAC._connect_world()
            return _XLAC._make_backend(rank, list(about.global_ranks_in_group) or list(range(size)), about.group_id,
                                       timeout.total_seconds() if timeout else 0)
    group = ProcessGroupXla(prefix_store, rank, size, timeout)
    if about is not None and about.global_ranks_in_group:
        group._mesh = programs.mesh_of(about.global_ranks_in_group, _world_size())
    group._set_group_name("xla")
    return group


if "xla" not in dist.Backend.backend_list:
    dist.Backend.register_backend("xla", _create, extended_api=True, devices=["xla", "cpu"])


def new_xla_process_group(ranks: list[int] | None = None, timeout: datetime.timedelta | None = None, backend: str | None = None,
                          pg_options: Any = None) -> Any:
    """Makes a group of processes, as torch.distributed.new_group() does, with the backend xla.

    Args:
      ranks: The members; None: all processes.
      timeout: The longest time that a collective may take; None: PyTorch's default.
      backend: The name of another backend; None: "xla".
      pg_options: Passed on to torch.distributed.new_group().

    Returns:
      The dist.ProcessGroup, or dist.GroupMember.NON_GROUP_MEMBER in a process that is no member.
    """
    return dist.new_group(ranks=ranks, timeout=timeout, backend=backend or "xla", pg_options=pg_options)
