# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers take their foreach form by default, as on the other accelerators: one dispatch for all parameters."""
import importlib

import torch.utils._foreach_utils as foreach


def install():
    original = foreach._get_foreach_kernels_supported_devices

    def devices():
        return original() + ["xla"]

    foreach._get_foreach_kernels_supported_devices = devices
    importlib.import_module("torch.optim.optimizer")._get_foreach_kernels_supported_devices = devices
