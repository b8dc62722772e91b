# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad uses raise on the device what eager PyTorch raises on the CPU: the same type with the same words."""
import copy
import os
import re
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
import torch_xla  # noqa: F401


HARNESS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "harness", "torch_refusals.py")


def backward_twice(x):
    y = (x.requires_grad_() ** 2).exp().sum()
    y.backward()
    y.backward()


def changed_before_backward(x):
    y = x.requires_grad_().exp()
    y.add_(1)
    y.sum().backward()


def leaf_in_place(x):
    x.requires_grad_().add_(1)


BAD = {
    "mm": lambda x: x @ x,
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "addmm": lambda x: torch.addmm(x, x, x),
    "dot": lambda x: x[0].dot(x[0, :2]),
    "linear": lambda x: F.linear(x, x[:, :2]),
    "broadcast": lambda x: x + x[:, :2],
    "in_place_broadcast": lambda x: x[0].clone().add_(x),
    "where": lambda x: torch.where(x > 0, x, x[:, :3]),
    "view": lambda x: x.view(5, 2),
    "view_of_transposed": lambda x: x.t().view(-1),
    "expand": lambda x: x.expand(2, 4),
    "cat": lambda x: torch.cat([x, x[:, :2]]),
    "stack": lambda x: torch.stack([x, x[:2]]),
    "cat_nothing": lambda x: torch.cat([]),
    "split": lambda x: x.split([1, 1]),
    "permute": lambda x: x.permute(0, 0),
    "squeeze_dim": lambda x: x.squeeze(3),
    "sum_dim": lambda x: x.sum(2),
    "sum_dim_twice": lambda x: x.sum((0, 0)),
    "select": lambda x: x.select(0, 5),
    "narrow": lambda x: x.narrow(0, 1, 5),
    "unfold": lambda x: x.unfold(0, 7, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (200, 200)),
    "index_dims": lambda x: x[0, 0, 0],
    "index_type": lambda x: x[x],
    "mask_shape": lambda x: x[torch.ones(2, 2, dtype=torch.bool, device=x.device)],
    "gather_type": lambda x: x.gather(0, x),
    "gather_shape": lambda x: x.gather(0, torch.zeros(2, 2, 2, dtype=torch.long, device=x.device)),
    "scatter_type": lambda x: x.scatter(0, torch.zeros(1, 1, dtype=torch.long, device=x.device), x.double()),
    "index_select": lambda x: x.index_select(0, torch.zeros(1, 1, dtype=torch.long, device=x.device)),
    "embedding": lambda x: F.embedding(x, x),
    "mean_of_integers": lambda x: x.long().mean(),
    "softmax_of_integers": lambda x: x.long().softmax(0),
    "exp_into_integers": lambda x: x.long().exp_(),
    "add_into_integers": lambda x: x.long().add_(0.5),
    "minus_of_booleans": lambda x: (x > 0) - (x > 0),
    "negative_boolean": lambda x: -(x > 0),
    "bitwise_of_floats": lambda x: x & 1,
    "mm_types": lambda x: x @ x.t().double(),
    "complex_order": lambda x: x.to(torch.complex64) < 1,
    "complex_max": lambda x: x.to(torch.complex64).max(),
    "integer_division": lambda x: x.long().div_(2),
    "out_type": lambda x: torch.add(x, x, out=x.long()),
    "out_type_exact": lambda x: torch.gather(x, 0, torch.zeros(1, 1, dtype=torch.long, device=x.device), out=x.double()),
    "matmul_out_type": lambda x: torch.mm(x, x.t(), out=x.double()),
    "conv_channels": lambda x: F.conv2d(torch.ones(1, 3, 8, 8, device=x.device), torch.ones(4, 2, 3, 3, device=x.device)),
    "conv_size": lambda x: F.conv2d(torch.ones(1, 2, 2, 2, device=x.device), torch.ones(4, 2, 3, 3, device=x.device)),
    "conv_stride": lambda x: F.conv2d(torch.ones(1, 2, 8, 8, device=x.device), torch.ones(4, 2, 3, 3, device=x.device), stride=0),
    "pool_size": lambda x: F.max_pool2d(torch.ones(1, 2, 2, 2, device=x.device), 5),
    "pool_padding": lambda x: F.avg_pool2d(torch.ones(1, 2, 9, 9, device=x.device), 2, padding=2),
    "layer_norm": lambda x: F.layer_norm(x, (3,)),
    "batch_norm": lambda x: F.batch_norm(x, torch.ones(3, device=x.device), torch.ones(3, device=x.device)),
    "batch_norm_of_one": lambda x: F.batch_norm(x[:1], None, None, training=True),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.zeros(2, dtype=torch.long, device=x.device)),
    "mse": lambda x: F.mse_loss(x, x[:, :3]),
    "attention": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None, :, :2], x[None, None]),
    "dropout": lambda x: F.dropout(x, 1.5),
    "cholesky": lambda x: torch.linalg.cholesky(x),
    "cholesky_values": lambda x: torch.linalg.cholesky(-torch.eye(3, device=x.device)),
    "inverse_values": lambda x: torch.linalg.inv(torch.zeros(3, 3, device=x.device)),
    "solve": lambda x: torch.linalg.solve(x[:, :3], x[:2]),
    "item": lambda x: x.item(),
    "truth": lambda x: bool(x),
    "arange": lambda x: torch.arange(5, 1, 1, device=x.device),
    "negative_size": lambda x: torch.zeros(-1, device=x.device),
    "repeat": lambda x: x.repeat(2),
    "kthvalue": lambda x: x.kthvalue(9),
    "topk": lambda x: x.topk(9),
    "sort": lambda x: x.sort(5),
    "bernoulli": lambda x: torch.empty(3, device=x.device).bernoulli_(1.5),
    "normal": lambda x: torch.empty(3, device=x.device).normal_(0, -1),
    "multinomial": lambda x: torch.multinomial(x.abs(), 9),
    "view_type": lambda x: x[:, :3].contiguous().view(torch.float64),
    "numpy_of_gradient": lambda x: x.requires_grad_().cpu().numpy(),
    "backward_twice": backward_twice,
    "backward_of_many": lambda x: x.requires_grad_().exp().backward(),
    "backward_of_none": lambda x: x.sum().backward(),
    "gradient_shape": lambda x: x.requires_grad_().exp().backward(x[0].detach()),
    "gradient_unused": lambda x: torch.autograd.grad(x.sum() + torch.ones(2, device=x.device, requires_grad=True).sum(), torch.ones(3, device=x.device, requires_grad=True)),
    "changed_before_backward": changed_before_backward,
    "leaf_in_place": leaf_in_place,
    "requires_grad_of_integers": lambda x: x.long().requires_grad_(),
}


def error_of(function, device, raises=True):
    x = torch.tensor([[0.5, -1.5, 2.0, 0.25], [3.0, -0.25, 1.0, -2.0], [1.5, 0.75, -3.0, 4.0]]).to(device)
    if not raises:
        torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().cpu(), function(x))
        return None
    with pytest.raises(Exception) as caught:
        made = function(x)
        torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().cpu(), made)
        return None, f"nothing raised: {made}"
    text = str(caught.value).strip().splitlines()[0]
    for theirs, ours in (("XLAFloatType", "torch.FloatTensor"), ("xla:0", "cpu"), ("xla", "cpu"), ("XLA", "CPU")):
        text = text.replace(theirs, ours)
    return type(caught.value), text


@pytest.mark.parametrize("name", BAD)
def test_the_same_error(name):
    assert error_of(BAD[name], "xla") == error_of(BAD[name], "cpu")


# A number that is fine, and one that the CPU's kernel refuses: what is known of the operator from the first call must not hide the second.
NUMBERS = {
    "power": (lambda x, n: x.long() ** n, 2, -2),
    "power_of_booleans": (lambda x, n: torch.pow(x > 0, n), 2, -1),
    "power_in_place": (lambda x, n: x.int().pow_(n), 3, -1),
    "power_out": (lambda x, n: torch.pow(x.long(), n, out=x.long()), 3, -1),
    "power_of_many": (lambda x, n: torch._foreach_pow([x.long(), x.int()], n), 2, -1),
    "floor_division": (lambda x, n: x.long() // n, 3, 0),
    "floor_division_by_a_tensor_of_the_host": (lambda x, n: x.long() // torch.tensor(n), 3, 0),
    "floor_division_in_place": (lambda x, n: x.int().floor_divide_(n), 3, 0),
    "remainder": (lambda x, n: x.long() % n, 3, 0),
    "fmod": (lambda x, n: torch.fmod(x.short(), n), 3, 0),
    "division_trunc": (lambda x, n: torch.div(x.int(), n, rounding_mode="trunc"), 3, 0),
    "division_floor_in_place": (lambda x, n: x.int().div_(n, rounding_mode="floor"), 3, 0),
    "random_of_a_type": (lambda x, n: torch.empty(3, dtype=torch.uint8, device=x.device).random_(0, n), 200, 1000),
    "random_below_a_type": (lambda x, n: torch.empty(3, dtype=torch.uint8, device=x.device).random_(n, 100), 0, -1),
    "random_half": (lambda x, n: torch.empty(3, dtype=torch.half, device=x.device).random_(3, n), 100, 3),
    "random_empty": (lambda x, n: torch.randint(3, n, (2,), device=x.device), 5, 3),
    "index_of_the_host": (lambda x, n: x[torch.tensor([0, n])], 2, 3),
    "index_of_the_host_below": (lambda x, n: x[:, torch.tensor([0, n])], -4, -5),
    "index_put_of_the_host": (lambda x, n: x.index_put_((torch.tensor([n]), torch.tensor([1])), torch.ones(1, device=x.device)), 2, 3),
    "rate": (lambda x, n: torch.empty(3, device=x.device).exponential_(n), 1.0, -1.0),
    "bounds": (lambda x, n: torch.empty(3, device=x.device).uniform_(0, n), 1.0, -1.0),
    "deviation": (lambda x, n: torch.normal(0.0, n, (3,), device=x.device), 1.0, -1.0),
    "probability": (lambda x, n: torch.empty(3, device=x.device).geometric_(n), 0.5, 1.0),
    "steps": (lambda x, n: torch.linspace(0, 1, n, device=x.device), 3, -1),
    "log_steps": (lambda x, n: torch.logspace(0, 1, n, device=x.device), 3, -1),
    "repeats": (lambda x, n: x.repeat_interleave(n), 2, -1),
    "samples": (lambda x, n: torch.multinomial(x.abs(), n), 2, 0),
    "counts": (lambda x, n: torch.bincount(torch.tensor([0, n], device=x.device)), 2, -1),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_refused_after_a_good_one(name):
    function, good, bad = NUMBERS[name]
    for _ in range(2):
        assert error_of(lambda x: function(x, good), "xla", raises=False) is None
        assert error_of(lambda x: function(x, bad), "xla") == error_of(lambda x: function(x, bad), "cpu")


def test_numbers_that_the_cpu_refuses():
    """In some of PyTorch's samples."""
    names = ("pow|floor_divide|remainder|native_group_norm|linspace|as_strided|cummax|diagonal_scatter|select_scatter|randint|"
             "nn.functional.(conv_transpose2d|interpolate.linear|avg_pool1d)")
    ran = subprocess.run([sys.executable, HARNESS, "--samples=1", f"--match=^({names})$"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr[-2000:]
    assert int(ran.stdout.splitlines()[-1].split()[0]) >= 60, "numbers were not tried"


def test_numbers_that_only_look_bad():
    x = torch.tensor([[1, 2], [3, 4]])
    for function in (lambda x: x.float() ** -2, lambda x: x.float() // 0, lambda x: x / 0, lambda x: torch.div(x, 0), lambda x: x[:0] // 0,
                     lambda x: torch.pow(2, -x), lambda x: torch.pow(x, torch.full_like(x, -1)), lambda x: x.float() % 0, lambda x: x ** -2.0):
        torch.testing.assert_close(function(x.to("xla")).cpu(), function(x), equal_nan=True)


def test_errors_say_what_the_operator_was_given():
    """In lines of their own: the first one has PyTorch's words."""
    tensors = torch.rand(2, 2, 4, 4), torch.rand(2, 2)
    for function, words, given in (
            (lambda a, b: a + b, "The size of tensor a (4) must match the size of tensor b (2) at non-singleton dimension 3",
             ["aten::add.Tensor was given", "self: f32[2,2,4,4], other: f32[2,2]"]),
            (lambda a, b: torch.mm(b, a[0, 0]), "mat1 and mat2 shapes cannot be multiplied (2x2 and 4x4)",
             ["aten::mm was given", "self: f32[2,2], mat2: f32[4,4]"]),
            (lambda a, b: torch.cat([b, a[0, 0]]), "Sizes of tensors must match except in dimension 0. Expected size 2 but got size 4 for tensor number 1 in the list.",
             ["aten::cat was given", "tensors: [f32[2,2], f32[4,4]]"])):
        with pytest.raises(RuntimeError, match=re.escape(words)) as expected:  # PyTorch 2.15 says "mm: mat1 and mat2 …"
            function(*tensors)
        with pytest.raises(RuntimeError) as caught:
            function(*(tensor.to("xla") for tensor in tensors))
        lines = str(caught.value).splitlines()
        assert lines[0] == str(expected.value).splitlines()[0] and [line.strip() for line in lines[1:]] == given


def test_devices_do_not_mix():
    x, y = torch.ones(2, 2, device="xla"), torch.ones(2, 2)
    for function in (lambda: x + y, lambda: x @ y, lambda: torch.cat([x, y]), lambda: torch.where(x > 0, x, y), lambda: F.linear(x, y), lambda: y.add_(x)):
        with pytest.raises(RuntimeError):
            function()


def test_sparse_gradients_are_refused_in_clear_words():
    loss = torch.nn.Embedding(5, 3, sparse=True).to("xla")(torch.tensor([[1, 3]], device="xla")).sum()
    with pytest.raises(NotImplementedError, match="no sparse tensors.* leave out sparse=True"):
        loss.backward()


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_sparse_gradients_of_bags_are_dense(mode):
    bags = torch.nn.EmbeddingBag(5, 3, sparse=True, mode=mode)
    moved = copy.deepcopy(bags).to("xla")
    indices = torch.tensor([[1, 3], [3, 3]])
    for module, device in ((bags, "cpu"), (moved, "xla")):
        module(indices.to(device)).square().sum().backward()
    assert bags.weight.grad.is_sparse and not moved.weight.grad.is_sparse
    torch.testing.assert_close(moved.weight.grad.cpu(), bags.weight.grad.to_dense())


def test_classes_in_floats():
    """One bad use is none here: PyTorch/XLA has always taken classes in floats, and programs written for it give them."""
    x, classes = torch.randn(4, 5), torch.tensor([0., 3., 4., 1.])
    on_device = x.to("xla").requires_grad_()
    loss = F.cross_entropy(on_device, classes.to("xla"))
    loss.backward()
    x.requires_grad_()
    F.cross_entropy(x, classes.long()).backward()
    torch.testing.assert_close(on_device.grad.cpu(), x.grad)
