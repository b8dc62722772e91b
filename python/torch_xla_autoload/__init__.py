# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entry point of torch.backends: `import torch` is enough for the device xla. A package of its own, because PyTorch imports the package of
an entry point before it calls it, and an exception on the way ends `import torch`: a torch_xla that does not fit would take PyTorch away from
programs that do not use it."""
import warnings


def load() -> None:
    """Imports torch_xla. If that fails, PyTorch stays usable: a RuntimeWarning gives the reason, which `import torch_xla` raises again."""
    try:
        import torch_xla  # noqa: F401
    except Exception as error:  # any exception would end the import of torch
        warnings.warn(f"PyTorch goes on without the device xla: torch_xla cannot be imported ({type(error).__name__}: {error}). "
                      "TORCH_DEVICE_BACKEND_AUTOLOAD=0 leaves it out without this warning", RuntimeWarning, stacklevel=2)
