# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records operators for which no emission exists as PyTorch's decompositions into operators for which one does."""
import torch

from . import _torchvision

# The decompositions of these operators read values, or are slower than the CPU's kernel.
_NOT = {"aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive",
        "aten::equal", "aten::is_nonzero", "aten::allclose", "aten::bincount", "aten::_local_scalar_dense", "aten::item",
        "aten::_to_copy", "aten::copy", "aten::clone", "aten::detach", "aten::alias", "aten::empty_like",
        "aten::lift_fresh", "aten::lift", "aten::index_select", "aten::_softmax", "aten::_log_softmax",
        "aten::index_add", "aten::masked_fill", "aten::complex", "aten::rrelu_with_noise", "aten::adaptive_max_pool2d", "aten::adaptive_max_pool3d",
        # PyTorch's decompositions of these operators end in a primitive that calls the operator again.
        "aten::i0", "aten::igamma", "aten::igammac", "aten::as_strided_scatter", "aten::special_i0e", "aten::special_i1",
        "aten::special_i1e", "aten::special_erfcx", "aten::special_ndtri", "aten::special_zeta",
        "aten::special_bessel_j0", "aten::special_bessel_j1", "aten::special_spherical_bessel_j0"}

# PyTorch's kernel of these operators for all devices ends on the CPU.
_RATHER = {"aten::nan_to_num", "aten::eye", "aten::eye.m", "aten::linspace", "aten::logspace", "aten::addbmm",
           "aten::index_fill.int_Scalar", "aten::index_fill.int_Tensor"}


def _rrelu_with_noise(x, noise, lower=1 / 8, upper=1 / 3, training=False, generator=None):
    """Slopes below zero are random while training; `noise` remembers them for the gradient."""
    if not training:
        return torch.ops.aten.leaky_relu(x, (lower + upper) / 2)
    slopes = torch.where(x <= 0, torch.empty_like(x).uniform_(lower, upper, generator=generator), torch.ones_like(x))
    noise.copy_(slopes)
    return x * slopes


def _into(targets, results):
    for target, result in zip(targets, results):
        target.resize_(result.shape).copy_(result)
    return targets


def _filled(function):
    """Returns a factory's form with out=; PyTorch's fills the memory of the CPU."""
    return lambda *args, out: _into([out], [function(*args, dtype=out.dtype, device=out.device)])[0]


# These are in-place and out= forms for which PyTorch has kernels of other devices only.
_WRITING = {
    "rrelu_with_noise_": lambda x, noise, *args, **named: x.copy_(torch.ops.aten.rrelu_with_noise(x, noise, *args, **named)),
    "conj_physical_": lambda x: x.copy_(torch.ops.aten._conj_physical(x)),
    "mode.values": lambda *args, values, indices: tuple(_into([values, indices], torch.mode(*args))),
    "_native_batch_norm_legit.out": lambda *args, out, save_mean, save_invstd: tuple(
        _into([out, save_mean, save_invstd], torch.ops.aten._native_batch_norm_legit(*args))),
    "_cummax_helper": lambda x, values, indices, dim: _into([values, indices], torch.cummax(x, dim)) and None,
    "_cummin_helper": lambda x, values, indices, dim: _into([values, indices], torch.cummin(x, dim)) and None,
    "eye.out": _filled(torch.eye), "eye.m_out": _filled(torch.eye),
    **{f"{name}.{form}out": _filled(getattr(torch, name)) for name in ("linspace", "logspace")
       for form in ("", "Tensor_Tensor_", "Tensor_Scalar_", "Scalar_Tensor_")},
}
# nn.TransformerEncoder asks whether it could make a nested tensor of what a mask leaves. There are none on this device: the mask
# need not be read.
_OURS = {"rrelu_with_noise": _rrelu_with_noise, "_nested_tensor_from_mask_left_aligned": lambda x, mask: False,
         "_masked_scale": lambda x, mask, scale: x * (mask.to(x.dtype) * scale)}  # the gradient of _fused_dropout, whose mask is of bytes

# Operators whose gradient PyTorch gives no types for on the meta device: those of the argument that it is the gradient of.
_LIKE_ARGUMENT = {"multi_margin_loss_backward": 1, "multilabel_margin_loss_backward": 1, "_ctc_loss_backward": 1,
                  "fractional_max_pool3d_backward": 1}


def _multilabel_margin_loss(x, target, reduction):
    """Types of the loss: PyTorch's own for the meta device give that of one row a dimension, its kernels none."""
    from torch._decomp import decomposition_table
    loss, is_target = decomposition_table[torch.ops.aten.multilabel_margin_loss_forward.default](x, target, reduction)
    return loss.reshape(()) if x.dim() < 2 else loss, is_target


_library = None
_known = None


def _table():
    """Returns {name: (operator, function)} of everything that may be decomposed."""
    from torch._decomp import decomposition_table
    known = {}
    for op, function in decomposition_table.items():
        if not isinstance(op, torch._ops.OpOverload):
            continue
        schema = op._schema
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        if schema.name in _NOT or schema.is_mutable or any(argument.alias_info for argument in schema.arguments):
            continue  # the C++ shim implements views
        known[name] = (op, function)
    return known


# These operators belong to another library, which may be loaded later than this module.
_FOREIGN = {"torchvision::nms": _torchvision.nms, "torchvision::roi_align": _torchvision.roi_align,
            "torchvision::_roi_align_backward": _torchvision.roi_align_backward}


def __getattr__(name):
    """`installed`: names of operators that are decomposed here where they have no emission."""
    if name != "installed":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return list(_OURS) + _copied + [full[len("aten::"):] for full in _table() if full.startswith("aten::") and (
        full in _RATHER or not (has(full, "CompositeImplicitAutograd") or has(full, "CompositeExplicitAutograd")))]


def _register(name):
    """Registers the decomposition of an operator as an operator of its own: its name, or None. Called once per operator."""
    global _known, _library
    if _known is None:
        _known = _table()
        _library = torch.library.Library("millrace_decompositions", "FRAGMENT")
    if name in _FOREIGN:
        namespace, _, packet = name.partition("::")
        op, function, own = getattr(getattr(torch.ops, namespace), packet).default, _FOREIGN[name], f"{namespace}_{packet}"
    elif name in _known:
        op, function = _known[name]
        own = name[len("aten::"):].replace(".", "_")
    else:
        return None
    schema = str(op._schema)
    _library.define(own + schema[schema.index("("):])
    _library.impl(own, function, "CompositeExplicitAutograd")
    return "millrace_decompositions::" + own


def _no_sparse_tensors(*args, **named):
    raise NotImplementedError("the xla device has no sparse tensors, which the gradient of this embedding would be: leave out sparse=True")


def _convolution_gradients(gradient, x, weight, stride, padding, dilation, transposed, output_padding, groups, mask):
    features = weight.size(1) * groups if transposed else weight.size(0)
    return torch.ops.aten.convolution_backward(gradient, x, weight, [features], stride, padding, dilation, transposed, output_padding,
                                               groups, mask)


def install(xlac):
    _copies.impl("embedding_sparse_backward", _no_sparse_tensors, "XLA")
    # torch._convolution() calls this operator for devices that are not PyTorch's own.
    _copies.impl("convolution_overrideable", lambda *args: torch.ops.aten.convolution(*args), "XLA")
    _copies.impl("convolution_backward_overrideable", _convolution_gradients, "XLA")
    xlac._set_decomposer(_register)
    emitted = set(xlac._op_names())
    for name, function in {**_OURS, **_WRITING}.items():
        _copies.impl(name, function, "XLA")
    for name, index in _LIKE_ARGUMENT.items():
        _copies.impl(name, lambda *args, _index=index, **_: torch.empty_like(args[_index]), "Meta")
    _copies.impl("multilabel_margin_loss_forward", _multilabel_margin_loss, "Meta", allow_override=True)
    for name in _RATHER:
        if name not in emitted:
            xlac._route(name[len("aten::"):])
    names = {full.split(".")[0] for full in torch._C._dispatch_get_all_op_names() if full.startswith("aten::")}
    for full in names:
        if full.endswith("_copy") and full[:-len("_copy")] in names:
            _install_copies(full[len("aten::"):], emitted)


_copies = torch.library.Library("aten", "IMPL")
_copied: list[str] = []


def _copied_from(view):
    """Returns the function that gives copies of a view, or of each view in a list of them."""
    def run(*args, **kwargs):
        made = view(*args, **kwargs)
        return made.clone() if isinstance(made, torch.Tensor) else [part.clone() for part in made]
    return run


def _install_copies(name, emitted):
    """view_copy, split_copy and their like: the views, copied. Graphs of functional programs have them."""
    packet, views = getattr(torch.ops.aten, name), getattr(torch.ops.aten, name[:-len("_copy")])
    for overload in packet.overloads():
        full = name if overload == "default" else f"{name}.{overload}"
        returns = getattr(packet, overload)._schema.returns
        if overload.endswith("out") or overload not in views.overloads() or f"aten::{full}" in emitted or torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{full}", "XLA"):
            continue
        if [str(r.type) for r in returns] in (["Tensor"], ["List[Tensor]"]) and any(a.alias_info for a in getattr(views, overload)._schema.arguments):
            _copies.impl(full, _copied_from(getattr(views, overload)), "XLA")
            _copied.append(full)
