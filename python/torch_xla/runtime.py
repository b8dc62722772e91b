# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.runtime (xr): the process's place in the world and the devices it has."""
import os

from . import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def device_type():
    """"CPU". PJRT_DEVICE may say so; nothing else is available."""
    wanted = os.environ.get("PJRT_DEVICE", "CPU")
    if wanted != "CPU":
        raise RuntimeError(f"PJRT_DEVICE is {wanted}, but the only device available is CPU")
    return "CPU"


def is_bf16_supported():
    return True


def using_pjrt():
    return True


def world_size():
    return 1


def global_ordinal():
    return 0


def local_ordinal():
    return 0


def process_index():
    return 0


def process_count():
    return 1


def local_process_count():
    return 1


def local_device_count():
    return 1


def addressable_device_count():
    return 1


def addressable_runtime_device_count():
    return 1


def global_device_count():
    return 1


def global_runtime_device_count():
    return 1


def host_index():
    return 0


def initialize_cache(path, readonly=False):
    """Keeps compiled programs in the folder `path`; before the first computation."""
    _XLAC._initialize_cache(os.fspath(path), bool(readonly))


def use_spmd(auto=False):
    raise NotImplementedError("SPMD on several devices is not there yet")


def is_spmd():
    return False
