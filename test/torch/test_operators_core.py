# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator that PyTorch calls core lowers to StableHLO: none runs on the CPU, values are those of the CPU."""
import pytest
import torch
import torch_xla  # noqa: F401
import torch_xla.debug.metrics as met

aten = torch.ops.aten
torch.manual_seed(0)
X = torch.randn(3, 4)
P = X.abs() + 0.5                       # positive
U = torch.rand(3, 4) * 1.8 - 0.9        # in (-1, 1)
I = torch.tensor([[5, -3, 7, 2], [1, 9, -4, 6], [3, 8, 2, -7]])
J = torch.tensor([[2, 3, 1, 4], [5, 2, 3, 1], [1, 6, 4, 2]])
B = X > 0
IMAGE = torch.randn(2, 3, 6, 8)
CUBE = torch.randn(2, 3, 4, 6, 8)
LINE = torch.randn(2, 3, 8)
KERNEL = torch.randn(4, 3, 3, 3)
ROWS = torch.tensor([2, 0, 1, 2])
CHANNEL = torch.rand(3) + 0.5
RANDOM = {"aten.native_dropout.default", "aten.rand.default", "aten.randn.default", "aten.randperm.default", "aten.empty.memory_format",
          "aten.empty_strided.default"}
# What else they return is for their gradients, and differs between PyTorch's own devices.
FIRST_ONLY = {"aten._embedding_bag.default", "aten._native_batch_norm_legit_no_training.default"}
# They ask about a tensor, they do not compute: no kernel of a device is involved.
QUESTIONS = {"aten.sym_size.int", "aten.sym_stride.int", "aten.sym_numel.default", "aten.sym_storage_offset.default",
             "aten.sym_is_contiguous.default"}

CALLS = {}
for names, arguments in [
    ("abs cos cosh sin sinh tan tanh exp expm1 ceil floor round trunc sign neg relu sigmoid erf elu leaky_relu hardtanh asinh atan gelu "
     "isinf isnan clone alias", (X,)),
    ("acos asin atanh", (U,)),
    ("log log10 log1p log2 sqrt rsqrt reciprocal", (P,)),
    ("acosh", (P + 1,)),
    ("add.Tensor sub.Tensor mul.Tensor div.Tensor maximum minimum fmod.Tensor remainder.Tensor eq.Tensor ne.Tensor lt.Tensor "
     "le.Tensor gt.Tensor ge.Tensor", (X, P)),
    ("atan2 atan2.out", (X, P)),
    ("add.Scalar sub.Scalar mul.Scalar div.Scalar fmod.Scalar remainder.Scalar eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar",
     (X, 0.7)),
    ("pow.Tensor_Scalar", (P, 1.7)), ("pow.Tensor_Tensor", (P, X)), ("pow.Scalar", (2.5, X)),
    ("bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor", (I, J)),
    ("bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar", (I, 6)),
    ("bitwise_not", (I,)), ("logical_not", (B,)), ("logical_and logical_or logical_xor", (B, U > 0)),
    ("clamp", (X, -0.5, 0.5)), ("clamp.Tensor", (X, U - 1, U + 1)), ("where.self", (B, X, P)), ("masked_scatter", (X, B, P)),
    ("sum.dim_IntList mean.dim amax amin any.dims", (X, [1])), ("any prod mean", (P,)), ("any.dim prod.dim_int", (X, 1)),
    ("argmax argmin max.dim min.dim", (X, 1)), ("var.dim", (X, [1])), ("cumsum", (X, 1)), ("sort", (X, 1)), ("topk", (X, 2)),
    ("_softmax _log_softmax", (X, 1, False)),
    ("mm", (X, X.t().contiguous())), ("addmm", (X[0, :3].contiguous(), X, X.t().contiguous())), ("bmm", (LINE, LINE.transpose(1, 2).contiguous())),
    ("_cdist_forward", (X, P, 2.0, None)), ("_pdist_forward", (X, 2.0)),
    ("embedding", (X, ROWS)), ("embedding_dense_backward", (torch.randn(4, 5), ROWS, 3, -1, False)),
    ("_embedding_bag", (X, ROWS, torch.tensor([0, 2]))),
    ("index.Tensor", (X, [ROWS])), ("index_put", (X, [ROWS[:2]], P[:2])), ("index_select", (X, 0, ROWS)), ("gather", (X, 1, J.clamp(max=3))),
    ("scatter.src", (X, 1, torch.tensor([[1, 0], [2, 3], [0, 1]]), P)), ("scatter.value", (X, 1, torch.tensor([[1, 0], [2, 3], [0, 1]]), 7.0)),
    ("scatter_add", (X, 1, J.clamp(max=3), P)), ("scatter_reduce.two", (X, 1, J.clamp(max=3), P, "amax")),
    ("select.int", (X, 1, 2)), ("slice.Tensor", (X, 1, 1, 4, 2)), ("select_scatter", (X, P[0], 0, 1)), ("slice_scatter", (X, P[:, :2].contiguous(), 1, 0, 4, 2)),
    ("split_with_sizes", (X, [1, 3], 1)), ("squeeze.dim", (X[:, None], 1)), ("squeeze.dims", (X[:, None, :, None], [1, 3])), ("unsqueeze", (X, 1)),
    ("permute", (X, [1, 0])), ("expand", (X[:, None], [3, 2, 4])), ("repeat", (X, [2, 1])), ("view", (X, [2, 6])), ("as_strided", (X, [2, 3], [1, 4])),
    ("diagonal", (X,)), ("flip", (X, [0])), ("cat", ([X, P], 1)), ("constant_pad_nd", (X, [1, 2], 0.5)), ("fill.Scalar", (X, 3.0)),
    ("full", ([2, 3], 4.0)), ("full_like", (X, 5.0)), ("scalar_tensor", (2.5,)), ("arange.start_step", (1, 9, 2)), ("nonzero", (B,)),
    ("copy", (X, P)), ("_to_copy", (X,)), ("_local_scalar_dense", (X[0, 0],)), ("resize_", (X.clone(), [2, 2])),
    ("reflection_pad1d", (LINE, [2, 1])), ("reflection_pad2d replication_pad2d", (IMAGE, [2, 1, 1, 3])),
    ("reflection_pad3d replication_pad3d", (CUBE, [2, 1, 1, 3, 0, 2])),
    ("avg_pool1d", (LINE, [2])), ("avg_pool2d max_pool2d_with_indices", (IMAGE, [2, 2])), ("avg_pool3d max_pool3d_with_indices", (CUBE, [2, 2, 2])),
    ("adaptive_avg_pool1d", (LINE, [3])), ("_adaptive_avg_pool2d", (IMAGE, [4, 3])), ("_adaptive_avg_pool3d", (CUBE, [2, 4, 3])),
    ("_adaptive_avg_pool2d_backward", (torch.randn(2, 3, 4, 3), IMAGE)),
    ("avg_pool2d_backward", (torch.randn(2, 3, 3, 4), IMAGE, [2, 2], [2, 2], [0, 0], False, True, None)),
    ("max_pool2d_with_indices_backward", (torch.randn(2, 3, 3, 4), IMAGE, [2, 2], [2, 2], [0, 0], [1, 1], False,
                                          aten.max_pool2d_with_indices(IMAGE, [2, 2])[1])),
    ("convolution", (IMAGE, KERNEL, torch.randn(4), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)),
    ("convolution_backward", (torch.randn(2, 4, 6, 8), IMAGE, KERNEL, [4], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True] * 3)),
    ("col2im", (torch.randn(2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1])),
    ("grid_sampler_2d", (IMAGE, torch.rand(2, 4, 5, 2) * 2 - 1, 0, 0, False)),
    ("upsample_bilinear2d.vec", (IMAGE, [9, 5], False, None)), ("upsample_nearest2d.vec", (IMAGE, [9, 5], None)),
    ("native_layer_norm", (X, [4], torch.rand(4), torch.rand(4), 1e-5)),
    ("native_layer_norm_backward", (P, X, [4], X.mean(1, keepdim=True), 1 / X.std(1, keepdim=True), torch.rand(4), torch.rand(4), [True] * 3)),
    ("native_group_norm", (IMAGE, CHANNEL, CHANNEL, 2, 3, 48, 3, 1e-5)),
    ("native_group_norm_backward", (IMAGE.flip(0), IMAGE, torch.zeros(2, 3), torch.ones(2, 3), CHANNEL, 2, 3, 48, 3, [True] * 3)),
    ("_native_batch_norm_legit", (IMAGE, CHANNEL, CHANNEL, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5)),
    ("_native_batch_norm_legit.no_stats", (IMAGE, CHANNEL, CHANNEL, True, 0.1, 1e-5)),
    ("_native_batch_norm_legit_no_training", (IMAGE, CHANNEL, CHANNEL, torch.zeros(3), torch.ones(3), 0.1, 1e-5)),
    ("_fft_r2c", (LINE, [2], 0, True)), ("_fft_c2r", (torch.fft.rfft(LINE), [2], 2, 8)),
    ("native_dropout", (X, 0.5, True)), ("rand randn", ([2, 3],)), ("randperm", (5,)), ("empty.memory_format", ([2, 3],)), ("empty_strided", ([2, 3], [3, 1])),
]:
    for name in names.split():
        CALLS["aten." + (name if "." in name else name + ".default")] = (arguments, {})
CALLS["aten.var.correction"] = ((X, [1]), {"correction": 1})
CALLS["aten.div.Tensor_mode"] = ((X, P), {"rounding_mode": "floor"})
CALLS["aten.div.Scalar_mode"] = ((X, 0.7), {"rounding_mode": "trunc"})
FACTORIES = {"full", "scalar_tensor", "arange", "rand", "randn", "randperm", "empty", "empty_strided"}


def core():
    made = []
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.removeprefix("aten::").partition(".")
        if name.startswith("aten::") and torch.Tag.core in getattr(getattr(aten, base), overload or "default").tags:
            made.append(f"aten.{base}.{overload or 'default'}")
    return sorted(made)


def run(name, device):
    _, base, overload = name.split(".")
    arguments, options = CALLS[name]
    moved = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.clone().to(device), (arguments, dict(options)))
    if base in FACTORIES:
        moved[1]["device"] = device
    if overload == "out":
        moved[1]["out"] = torch.empty(0, device=device)
    return torch.utils._pytree.tree_leaves(getattr(getattr(aten, base), overload)(*moved[0], **moved[1]))


def test_all_are_called():
    assert set(CALLS) | QUESTIONS == set(core())


@pytest.mark.parametrize("part", range(6))
def test_core_operators(part):
    names = sorted(CALLS)[part::6]
    met.clear_all()
    got = {name: run(name, "xla") for name in names}  # one graph, one compilation
    assert met.executed_fallback_ops() == []
    for name in names:
        want = run(name, "cpu")
        assert len(got[name]) == len(want), name
        for a, b in zip(got[name], want):
            if not isinstance(b, torch.Tensor):
                assert a == pytest.approx(b), name
            elif name in RANDOM:
                assert (a.shape, a.dtype) == (b.shape, b.dtype), name
            elif name not in FIRST_ONLY or b is want[0]:
                torch.testing.assert_close(a.cpu(), b, rtol=1e-4, atol=1e-5, check_stride=False, msg=lambda m: f"{name}: {m}")
    assert met.executed_fallback_ops() == []
