# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators without an emission of their own run PyTorch's decompositions into ones that have."""
import torch

# Their decompositions ask for values, or are slower than the CPU's own kernel.
_NOT = {"aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive",
        "aten::equal", "aten::is_nonzero", "aten::allclose", "aten::bincount", "aten::_local_scalar_dense", "aten::item",
        "aten::_to_copy", "aten::copy", "aten::clone", "aten::detach", "aten::alias", "aten::empty_like",
        "aten::lift_fresh", "aten::lift", "aten::rrelu_with_noise"}

_library = None


def install(xlac):
    global _library
    from torch._decomp import decomposition_table
    _library = torch.library.Library("aten", "IMPL")
    emitted = set(xlac._op_names())
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    for op, function in decomposition_table.items():
        if not isinstance(op, torch._ops.OpOverload):
            continue
        name = op._schema.name + ("." + op._schema.overload_name if op._schema.overload_name else "")
        if not name.startswith("aten::") or name in emitted or op._schema.name in _NOT or op._schema.is_mutable:
            continue
        if any(argument.alias_info for argument in op._schema.arguments):
            continue  # a view is the C++ shim's business
        if has(name, "CompositeImplicitAutograd") or has(name, "XLA") or has(name, "CompositeExplicitAutograd"):
            continue
        _library.impl(name[len("aten::"):], function, "XLA")
