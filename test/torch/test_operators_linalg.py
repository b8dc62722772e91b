# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra, and results whose size is a value, on the device against eager PyTorch on the CPU."""
import pytest
import torch
import torch_xla  # noqa: F401
import torch_xla.debug.metrics as met

pytestmark = pytest.mark.usefixtures("no_fallback")


def both(function, *tensors, rtol=1e-4, atol=1e-4):
    want = function(*[t.clone() for t in tensors])
    got = function(*[t.to("xla") for t in tensors])
    for a, b in zip(torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(want)):
        assert a.device.type == "xla"
        torch.testing.assert_close(a.cpu(), b, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)


def matrices(*sizes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    return torch.randn(*sizes, dtype=dtype, generator=generator)


def positive(a):
    return a @ a.mH + torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)


DTYPES = [torch.float32, torch.float64, torch.complex64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(4, 4), (2, 3, 5, 5), (0, 3, 3)])
def test_square(sizes, dtype):
    def program(a):
        lu, pivots = torch.linalg.lu_factor(a)
        values = torch.linalg.eigvalsh(a + a.mH)
        return [torch.linalg.inv(a), torch.linalg.det(a), *torch.linalg.slogdet(a), torch.linalg.cholesky(positive(a)),
                torch.linalg.solve(a, a.mT), torch.linalg.solve(a, a[..., 0]), torch.linalg.solve(a, a, left=False), lu, pivots,
                *torch.linalg.lu(a), torch.cholesky_inverse(torch.linalg.cholesky(positive(a))), values,
                torch.linalg.solve_triangular(a.tril(), a, upper=False), torch.matrix_exp(a)]
    both(program, matrices(*sizes, dtype=dtype), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (2, 4, 4), (0, 3), (2, 3, 0)])
def test_rectangles(sizes, dtype):
    def program(a):
        q, r = torch.linalg.qr(a)
        square, _ = torch.linalg.qr(a, "complete")
        u, s, vh = torch.linalg.svd(a, full_matrices=False)
        return [q @ r, q.mH @ q, square.mH @ square, s, torch.linalg.svdvals(a), (u * s.unsqueeze(-2).to(u.dtype)) @ vh]
    both(program, matrices(*sizes, dtype=dtype), rtol=1e-3, atol=1e-3)


def test_least_squares():
    a, b = matrices(2, 5, 3), matrices(2, 5, 2)
    both(lambda a, b: [torch.linalg.lstsq(a, b).solution, torch.linalg.lstsq(a, b).rank,
                       *torch.linalg.lstsq(a, b, driver="gelsd"), torch.linalg.pinv(a), torch.linalg.matrix_rank(a)], a, b)


def test_exponential_of_large_matrices():
    a = matrices(3, 4, 4, dtype=torch.float64) * torch.tensor([0.1, 3, 30], dtype=torch.float64).view(3, 1, 1)
    both(torch.matrix_exp, a, rtol=1e-9, atol=0)


def test_gradients():
    def program(a):
        a = a.detach().requires_grad_()
        spd = positive(a)
        total = torch.linalg.inv(spd).sum() + torch.linalg.det(spd) + torch.linalg.cholesky(spd).sum() + torch.linalg.slogdet(spd)[1]
        other = a + 3 * torch.eye(4, dtype=a.dtype, device=a.device)  # not symmetric: transposition matters
        total = total + torch.linalg.solve(other, a[0]).sum() + torch.linalg.solve(other.t(), a, left=False).sum() + torch.linalg.det(other)
        total = total + torch.linalg.slogdet(other)[1] + torch.linalg.solve(spd, a).pow(2).sum() + torch.linalg.eigvalsh(spd).pow(2).sum() + torch.linalg.svdvals(a).sum()
        return [torch.autograd.grad(total, a)[0]]
    both(program, matrices(4, 4, dtype=torch.float64), rtol=1e-8, atol=1e-8)


def test_errors():
    a = -torch.eye(3)
    for program in (torch.linalg.cholesky, torch.linalg.inv, lambda a: torch.linalg.solve(a, a[:2]), lambda a: torch.linalg.inv(a[:2])):
        singular = torch.zeros(3, 3) if program is torch.linalg.inv else a
        with pytest.raises(RuntimeError) as want:
            program(singular)
        with pytest.raises(RuntimeError) as got:
            program(singular.to("xla"))
        assert str(got.value).splitlines()[0] == str(want.value).splitlines()[0]


X = torch.tensor([[2.0, 0.0, 2.0, float("nan")], [-1.0, 0.0, 2.0, 5.0]])


@pytest.mark.parametrize("x", [X, X[:, :3] > 0, X[0, :0], torch.tensor(3.0), X.t()[1:], X.nan_to_num().to(torch.int32)],
                         ids=["floats", "bools", "empty", "number", "strided", "ints"])
def test_selection(x):
    def program(x):
        flat = x.reshape(-1)
        return [x.nonzero(), torch.argwhere(x), x[x == x], x.masked_select(x != 0), torch.unique_consecutive(flat, return_counts=True),
                flat.nan_to_num().unique(return_inverse=True, return_counts=True), *x.nonzero(as_tuple=True)]
    both(program, x)


def test_unique_rows():
    x = torch.tensor([[1, 2, 1], [0, 5, 0], [1, 2, 1], [0, 4, 9]])
    both(lambda x: [torch.unique(x, dim=0, return_inverse=True, return_counts=True), torch.unique(x, dim=1, return_inverse=True),
                    torch.unique_consecutive(x, dim=0, return_counts=True), torch.bincount(x.view(-1)),
                    torch.bincount(x.view(-1), x.view(-1) * 0.5, minlength=20)], x)


def test_one_cut_per_unknown_size():
    x = X.to("xla")
    torch_xla.sync()
    met.clear_all()
    y = (x * 2)[x > 1] + 1
    assert met.metric_data("ExecuteTime")[0] == 1
    assert y.cpu().tolist() == [5, 5, 5, 11]
    assert met.metric_data("ExecuteTime")[0] == 2


def test_order_statistics():
    x = torch.tensor([[3.0, 1.0, 3.0, float("nan"), 0.5], [2.0, -1.0, float("inf"), 4.0, 7.0]])
    both(lambda x: [x.median(), x.nanmedian(), x.median(1), x.nanmedian(1), x.kthvalue(2, 1), (x > 1).to(torch.int32).mode(1), x.cummax(1), x.cummin(1),
                    x.logcumsumexp(1), torch.searchsorted(torch.arange(0, 9.0, device=x.device), x),
                    torch.searchsorted(x[0, :0], x[1, :0], sorter=torch.arange(0, device=x.device)),
                    torch.bucketize(x, torch.arange(0, 99.0, device=x.device), right=True), torch.histc(x.nan_to_num(0, 9, -9), 4)], x)
