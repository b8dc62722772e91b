# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla on Millrace: the device `xla` for PyTorch. Operations are recorded, compiled as one program at the next step
barrier (torch_xla.sync()) or when a value is read, and run asynchronously. See docs/guide/torch.md."""

import torch as _torch

from . import _load as _loading
from . import _versions

__version__ = _versions.version_for(_torch.__version__)

_loading.check_original(__path__[0])
_XLAC = _loading.loaded() or _loading.load()

from . import _ending as _ending  # noqa: E402
from ._load import once as _once  # noqa: E402

_once("ending", _ending.install, _XLAC._begin_ending)

from millrace import _interrupts as _interrupts  # noqa: E402

_once("interrupts", _interrupts.install, _XLAC.__file__)

from . import _world as _world  # noqa: E402

_once("world", _world.install)

from . import _frames as _frames  # noqa: E402

_once("frames", _frames.install, _XLAC)

from . import _device_module as _device_module  # noqa: E402

_once("device module", _device_module.install, _XLAC)

from . import _decompositions as _decompositions  # noqa: E402

_once("decompositions", _decompositions.install, _XLAC)

from . import _quantized as _quantized  # noqa: E402

_once("quantized", _quantized.install)

from . import _functional_collectives as _functional_collectives  # noqa: E402

_once("functional collectives", _functional_collectives.install)

from . import _optimizers as _optimizers  # noqa: E402

_once("optimizers", _optimizers.install)

from . import _dynamo as _dynamo  # noqa: E402

_once("dynamo", _dynamo.install)

from .torch_xla import (compile, device, device_count, devices, launch, manual_seed, real_devices,  # noqa: E402
                        set_custom_compile_options, step, sync)
from . import debug, runtime  # noqa: E402
from .core import xla_model  # noqa: E402
from .core import xla_model as xm  # noqa: E402, F401
from . import runtime as xr  # noqa: E402, F401
from . import _bindings as _bindings  # noqa: E402

_once("bindings", _bindings.install, _XLAC)

from . import _bindings_products as _bindings_products  # noqa: E402

_once("bindings of products", _bindings_products.install, _XLAC)

from .experimental import _control_flow as _control_flow  # noqa: E402

_once("control flow", _control_flow.install)


from . import _patches as _patches  # noqa: E402

_once("patches", _patches.install)

from . import _dynamo_later as _dynamo_later  # noqa: E402

_once("Dynamo later", _dynamo_later.install)

if _torch.distributed.is_available():
    from .distributed import xla_backend as _xla_backend  # noqa: E402, F401  the backend xla, and init_method="xla://"

from . import _torchvision_import as _torchvision_import  # noqa: E402

_once("torchvision", _torchvision_import.install)

from . import _generate as _generate  # noqa: E402
from . import _transformers_import as _transformers_import  # noqa: E402

_once("transformers", _transformers_import.install)
_once("generate", _generate.install)

from . import _torchao_import as _torchao_import  # noqa: E402

_once("torchao", _torchao_import.install)

from . import _accelerate_import as _accelerate_import  # noqa: E402

_once("accelerate", _accelerate_import.install)

from . import _lightning_import as _lightning_import  # noqa: E402

_once("lightning", _lightning_import.install)

from . import _torch_fsdp_import as _torch_fsdp_import  # noqa: E402

_once("torch fsdp", _torch_fsdp_import.install)
runtime._follow_environment()

_EXPORT = ("save_as_stablehlo", "save_torch_model_as_stablehlo")


def __getattr__(name):
    """What is imported when it is asked for: an import of torch_xla stays short. And parts that an earlier import has loaded, which
    failed after them: Python gives them to no second package."""
    import importlib
    import sys
    if name in _EXPORT:
        return getattr(importlib.import_module(".stablehlo", __name__), name)
    if name in ("stablehlo", "amp", "backends"):
        return importlib.import_module("." + name, __name__)
    if f"{__name__}.{name}" in sys.modules:
        return sys.modules[f"{__name__}.{name}"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
