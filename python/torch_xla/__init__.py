# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla on Millrace: the device `xla` for PyTorch. Operations are recorded, compiled as one program at the next step
barrier (torch_xla.sync()) or when a value is read, and run asynchronously. See docs/guide/torch.md."""


import torch as _torch

__version__ = "2.13.0+millrace0.1.0"

_WANTED = "2.13."
if not _torch.__version__.startswith(_WANTED):
    raise ImportError(f"this torch_xla is built for PyTorch {_WANTED}x, but torch {_torch.__version__} is installed: "
                      "install torch==2.13.0, or rebuild torch_xla against the torch you have (ninja torch_xla_shim)")

from . import _load as _loading  # noqa: E402

_XLAC = _loading.load()

from . import _device_module as _device_module  # noqa: E402

_device_module.install(_XLAC)

from . import _decompositions as _decompositions  # noqa: E402

_decompositions.install(_XLAC)

from . import _dynamo as _dynamo  # noqa: E402

_dynamo.install()

from .torch_xla import (compile, device, device_count, devices, launch, manual_seed, real_devices, step,  # noqa: E402
                        sync)
from . import debug, runtime  # noqa: E402
from .core import xla_model  # noqa: E402

from .experimental import _control_flow as _control_flow  # noqa: E402

_control_flow.install()

_XLAC._get_xla_tensors_hlo = xla_model._tensors_hlo
_XLAC._xla_get_default_device = lambda: str(device())


def _autoload():
    """The entry point of torch.backends: importing torch is enough."""



