# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs with open sizes. PyTorch/XLA rewrites them before it lowers them; here exported_program_to_stablehlo() takes
them as they are."""
from torch.utils import _pytree as pytree


def exported_program_has_symbolic_input_shape(ep):
    """Whether a size of an input is open."""
    import torch
    values = [node.meta.get("val") for node in ep.graph.nodes if node.op == "placeholder"]
    return any(isinstance(size, torch.SymInt) for value in pytree.tree_leaves(values) if isinstance(value, torch.Tensor)
               for size in value.shape)


def process_exported_program_with_symbolic_input(ep, extra_passes=()):
    """Runs `extra_passes` on its graph module; nothing else is needed."""
    for extra in extra_passes:
        extra(ep.graph_module)
