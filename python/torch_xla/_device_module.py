# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module torch.xla, which PyTorch asks about the device: random state, serialization, FakeTensor."""
import functools
import types

import torch


class _ForDevice(torch.UntypedStorage):
    """Bytes on the CPU that torch.load(map_location="xla") read: tensors over them go to the device, each in its own type."""


def _on_device(storage):
    if storage.device.type == "cpu":
        storage.__class__ = _ForDevice
        storage.copies = {}
    return storage


def _load_to_device():
    rebuild = torch._utils._rebuild_tensor

    @functools.wraps(rebuild)
    def rebuilt(storage, storage_offset, size, stride):
        bytes = storage._untyped_storage
        if not isinstance(bytes, _ForDevice):
            return rebuild(storage, storage_offset, size, stride)
        if storage.dtype not in bytes.copies:  # tensors that share this memory get one copy, so that they share memory on the device, too
            bytes.copies[storage.dtype] = torch.empty(0, dtype=storage.dtype).set_(bytes).to("xla")
        made = torch.empty(0, dtype=storage.dtype, device="xla")
        return made.set_(bytes.copies[storage.dtype].untyped_storage(), storage_offset, size, stride)

    torch._utils._rebuild_tensor = rebuilt


class _Device:
    """torch.xla.device(index): the device on which this thread makes tensors for "xla", in a `with` block."""
    _xlac = None

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self._outer = self._xlac._current_device()
        self._xlac._set_current_device(_index(self.device, self._outer))
        return self

    def __exit__(self, *exception):
        self._xlac._set_current_device(self._outer)
        return False


def _index(device, current):
    if device is None or isinstance(device, int):
        return current if device is None else device
    found = torch.device(device)
    return current if found.index is None else found.index


def install(xlac):
    module = types.ModuleType("torch.xla")

    def get_rng_state(device=None):
        return torch.tensor([v - (1 << 64) if v >> 63 else v for v in xlac._rng_state()], dtype=torch.int64).view(torch.uint8)

    def set_rng_state(state, device=None):
        seed, offset = state.view(torch.int64).tolist()
        xlac._set_rng_state(seed & (1 << 64) - 1, offset & (1 << 64) - 1)

    def manual_seed(seed):
        xlac._set_seed(int(seed) & (1 << 64) - 1)

    module.get_rng_state, module.set_rng_state = get_rng_state, set_rng_state
    module.manual_seed = module.manual_seed_all = manual_seed
    module.device_count = xlac._device_count
    module.current_device = xlac._current_device
    module.is_available = lambda: True
    module.is_initialized = lambda: True
    module._initialized = True  # torch.utils.checkpoint saves the random state of devices that are marked as initialized
    module.set_device = lambda device: xlac._set_current_device(_index(device, xlac._current_device()))
    _Device._xlac = xlac
    module.device = _Device
    module._is_in_bad_fork = lambda: False
    module.synchronize = lambda device=None: xlac._sync(True)
    module.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    torch._register_device_module("xla", module)

    # torch.manual_seed seeds a fixed list of devices: a wrapper around it seeds this one.
    original = torch.manual_seed

    def seed_all(seed):
        """Seeds the CPU's generator and the one of every device, xla included."""
        generator = original(seed)
        manual_seed(seed)
        return generator

    torch.manual_seed = torch.random.manual_seed = seed_all
    manual_seed(torch.initial_seed())

    torch.serialization.register_package(
        15, lambda obj: "xla:0" if obj.device.type == "xla" else None,
        lambda obj, location: _on_device(obj) if location.startswith("xla") else None)
    _load_to_device()
