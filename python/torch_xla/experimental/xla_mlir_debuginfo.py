# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.xla.write_mlir_debuginfo(tensor, text): the text becomes the location of the operation that computes the tensor, in
StableHLO that is exported or shown. The tensor itself stays what it is."""
import torch


@torch.library.custom_op("xla::write_mlir_debuginfo", mutates_args=())
def write_mlir_debuginfo(x: torch.Tensor, data: str) -> torch.Tensor:
    """Returns a copy of a tensor whose defining operation has a text as its location in exported or printed StableHLO.

    Args:
      x: A tensor; on the CPU it is copied.
      data: The text.
    """
    if x.device.type != "xla":
        return x.clone()
    from .stablehlo_custom_call import stablehlo_custom_call
    return stablehlo_custom_call([x], "mark_debuginfo", [x.shape], [x.dtype], backend_config=data)


@write_mlir_debuginfo.register_fake
def _(x, data):
    return torch.empty_like(x)


write_mlir_debuginfo.register_autograd(lambda ctx, gradient: (gradient, None))
