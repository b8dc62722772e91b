# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.xla`, and the places of PyTorch that ask a device for its module: random state, serialization, FakeTensor."""
import functools
import types

import torch


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
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    module.is_available = lambda: True
    module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.synchronize = lambda device=None: xlac._sync(True)
    module.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    torch._register_device_module("xla", module)

    # torch.manual_seed knows a fixed list of devices: ours is told by a wrapper around it.
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
        lambda obj, location: obj if location.startswith("xla") else None)

    _swap_when_modules_move()


def _swap_when_modules_move():
    """Weights keep their identity, and tied weights stay tied, when a module moves to the device. Only then: load_state_dict, which
    asks for the same switch, copies in place and so works while a loss still holds the graph."""
    original, future = torch.nn.Module._apply, torch.__future__

    @functools.wraps(original)
    def apply(self, fn, recurse=True):
        if future.get_swap_module_params_on_conversion():
            return original(self, fn, recurse)
        future.set_swap_module_params_on_conversion(True)
        try:
            return original(self, fn, recurse)
        finally:
            future.set_swap_module_params_on_conversion(False)

    torch.nn.Module._apply = apply
