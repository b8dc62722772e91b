# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a function is run once per process: one process, here."""
from ..distributed import xla_multiprocessing as xmp


def run_multiprocess(fn, *args, start_method="spawn", **kwargs):
    """{ordinal: fn(*args, **kwargs)} of all processes; several are not there yet."""
    made = {}
    xmp.spawn(lambda index: made.update({index: fn(*args, **kwargs)}), start_method=start_method)
    return made


def spawn(fn, nprocs=None, start_method="spawn", args=()):
    """See xmp.spawn()."""
    return xmp.spawn(fn, args=args, nprocs=nprocs, start_method=start_method)


def spawn_threads(fn, args=()):
    """fn(index, *args) once per device of this process, of which there is one."""
    fn(0, *args)


def initialize_singleprocess():
    """Nothing: one process needs no introduction."""


def initialize_multiprocess(local_rank, local_world_size):
    """NotImplementedError for more than one process."""
    if (local_rank, local_world_size) != (0, 1):
        raise NotImplementedError(f"process {local_rank} of {local_world_size}: several processes are not there yet")
