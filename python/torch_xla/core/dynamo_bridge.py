# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.compile(backend="openxla") calls: PyTorch's own registration of that name imports this module."""


def extract_compiled_graph(model, args):
    """Runs the FX graph `model` as one program per call, cut off from what was recorded before."""
    from ..torch_xla import sync

    def run(*args):
        sync()
        result = model(*args)
        sync()
        return result

    return run
