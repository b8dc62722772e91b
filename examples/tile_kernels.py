# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of a user's: softmax, a product of matrices, and flash attention, each beside PyTorch's own operation on the device.

    python -m examples.tile_kernels [--rows 4096] [--size 1024] [--length 1024] [--block 256] [--repeat 20]"""
import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import torch_xla
from torch_xla.experimental.assume_pure import assume_pure
from torch_xla.experimental.kernel import Block, Memory, kernel, num_programs, program_id


@assume_pure
def softmax(x: torch.Tensor, rows: int = 16) -> torch.Tensor:
    """softmax of the rows of x (any, columns), whose number `rows` divides."""
    def body(x, out):
        e = torch.exp(x[...] - x[...].amax(-1, keepdim=True))
        out[...] = e / e.sum(-1, keepdim=True)

    block = Block((rows, x.shape[1]), lambda i: (i, 0))
    return kernel(body, grid=(x.shape[0] // rows,), in_specs=[block], out_specs=block, out_shape=(x.shape, x.dtype))(x)


@assume_pure
def matmul(x: torch.Tensor, y: torch.Tensor, size: int = 256) -> torch.Tensor:
    """x (m, k) @ y (k, n), whose sizes `size` divides."""
    (m, k), n = x.shape, y.shape[1]

    def body(x, y, out, total):
        product = x[...] @ y[...]
        total[...] = product if program_id(2) == 0 else total[...] + product
        if program_id(2) == num_programs(2) - 1:
            out[...] = total[...]

    return kernel(body, grid=(m // size, n // size, k // size),
                  in_specs=[Block((size, size), lambda i, j, k: (i, k)), Block((size, size), lambda i, j, k: (k, j))],
                  out_specs=Block((size, size), lambda i, j, k: (i, j)), out_shape=((m, n), x.dtype), scratch=[Memory((size, size))])(x, y)


def attend(q: Any, k: Any, v: Any, best: Any, total: Any, result: Any, is_first: bool, is_diagonal: bool) -> None:
    """Adds a block of keys to rows' greatest scores, sums of exponentials and weighted sums of values; on the diagonal, later keys are hidden."""
    scores = q[...] @ k[...].T
    if is_diagonal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -1e30)
    high = scores.amax(-1, keepdim=True)
    new = high if is_first else torch.maximum(best[...], high)
    p = torch.exp(scores - new)
    old = 0.0 if is_first else torch.exp(best[...] - new)
    total[...] = p.sum(-1, keepdim=True) + (0.0 if is_first else total[...] * old)
    result[...] = p @ v[...] + (0.0 if is_first else result[...] * old)
    best[...] = new


@assume_pure
def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, size: int = 256) -> torch.Tensor:
    """softmax(q @ k.T) @ v for q (batch, heads, length, dim), k and v (batch, kv heads, length, dim); `size` divides the length."""
    batch, heads, length, dim = q.shape
    groups = heads // k.shape[1]

    def body(q, k, v, out, best, total, result):
        i, j = program_id(2), program_id(3)
        if not causal or j <= i:
            attend(q, k, v, best, total, result, j == 0, causal and i == j)
        if j == num_programs(3) - 1:
            out[...] = result[...] / total[...]

    rows = Block((None, None, size, dim), lambda b, h, i, j: (b, h, i, 0))
    keys = Block((None, None, size, dim), lambda b, h, i, j: (b, h // groups, j, 0))
    return kernel(body, grid=(batch, heads, length // size, k.shape[2] // size), in_specs=[rows, keys, keys], out_specs=rows,
                  out_shape=(q.shape, q.dtype), scratch=[Memory((size, 1)), Memory((size, 1)), Memory((size, dim))])(q, k, v)


@assume_pure
def forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """flash_attention(), and the logarithm of each row's sum of exponentials: all that its gradients need beside the result."""
    groups, (batch, heads, length, _) = q.shape[1] // k.shape[1], q.shape

    def body(q, k, v, out, sums, best, total, result):
        i, j = program_id(2), program_id(3)
        if not causal or j <= i:
            attend(q, k, v, best, total, result, j == 0, causal and i == j)
        if j == num_programs(3) - 1:
            out[...] = result[...] / total[...]
            sums[...] = best[...] + torch.log(total[...])

    def rows(width):
        return Block((None, None, size, width), lambda b, h, i, j: (b, h, i, 0))

    keys = Block((None, None, size, q.shape[3]), lambda b, h, i, j: (b, h // groups, j, 0))
    return kernel(body, grid=(batch, heads, length // size, k.shape[2] // size), in_specs=[rows(q.shape[3]), keys, keys],
                  out_specs=[rows(q.shape[3]), rows(1)], out_shape=[(q.shape, q.dtype), ((*q.shape[:3], 1), q.dtype)],
                  scratch=[Memory((size, 1)), Memory((size, 1)), Memory((size, q.shape[3]))])(q, k, v)


@assume_pure
def backward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sums: torch.Tensor, shares: torch.Tensor, grad: torch.Tensor, causal: bool,
             size: int) -> tuple[torch.Tensor, ...]:
    """The gradients of forward()'s result, for what it got; `shares`: (result * grad).sum(-1). No scores of all rows are kept."""
    groups, cells = q.shape[1] // k.shape[1], (q.shape[0], q.shape[1])

    def both(i, j, q, k, v, sums, shares, grad):
        scores = q[...] @ k[...].T
        if causal and i == j:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -1e30)
        p = torch.exp(scores - sums[...])
        return p, p * (grad[...] @ v[...].T - shares[...])

    def of_queries(q, k, v, sums, shares, grad, dq):
        i, j = program_id(2), program_id(3)
        if not causal or j <= i:
            made = both(i, j, q, k, v, sums, shares, grad)[1] @ k[...]
            dq[...] = made if j == 0 else dq[...] + made

    def of_keys(q, k, v, sums, shares, grad, dk, dv):
        j, i = program_id(2), program_id(3)
        if not causal or j <= i:
            p, ds = both(i, j, q, k, v, sums, shares, grad)
            is_first = i == (j if causal else 0)
            dk[...] = ds.T @ q[...] if is_first else dk[...] + ds.T @ q[...]
            dv[...] = p.T @ grad[...] if is_first else dv[...] + p.T @ grad[...]

    def run(body, queries, keys, outs, inner, outer):
        rows, one, columns = (Block((None, None, size, w), at) for w, at in ((q.shape[3], queries), (1, queries), (
            q.shape[3], lambda b, h, *c: (b, h // groups, *keys(b, h, *c)[2:]))))
        return kernel(body, grid=(*cells, outer // size, inner // size), in_specs=[rows, columns, columns, one, one, rows],
                      out_specs=[Block((None, None, size, q.shape[3]), lambda b, h, i, j: (b, h, i, 0))] * outs,
                      out_shape=[((*cells, outer, q.shape[3]), q.dtype)] * outs)(q, k, v, sums, shares, grad)

    here, there = (lambda b, h, i, j: (b, h, i, 0)), (lambda b, h, i, j: (b, h, j, 0))
    dq, = run(of_queries, here, there, 1, k.shape[2], q.shape[2])
    return dq, *(d.unflatten(1, (-1, groups)).sum(2) for d in run(of_keys, there, here, 2, q.shape[2], k.shape[2]))


class FlashAttention(torch.autograd.Function):
    """flash_attention() whose gradients are kernels, too."""

    @staticmethod
    def forward(ctx, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, size: int = 256) -> torch.Tensor:
        """The result; its arguments are flash_attention()'s."""
        result, sums = forward(q, k, v, causal, size)
        ctx.save_for_backward(q, k, v, sums, result)
        ctx.causal, ctx.size = causal, size
        return result

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of q, k and v."""
        q, k, v, sums, result = ctx.saved_tensors
        return *backward(q, k, v, sums, (result * grad).sum(-1, keepdim=True), grad, ctx.causal, ctx.size), None, None


def with_gradients(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The function and what autograd makes of it: all gradients of the sum of squares, one after the other in one vector."""
    def run(*tensors: torch.Tensor) -> torch.Tensor:
        tensors = [tensor.detach().requires_grad_() for tensor in tensors]
        gradients = torch.autograd.grad(function(*tensors).square().sum(), tensors)
        return torch.cat([gradient.flatten() for gradient in gradients])
    return run


def compare(name: str, mine: Callable[..., torch.Tensor], own: Callable[..., torch.Tensor], tensors: list[torch.Tensor], repeat: int) -> None:
    """Prints the times of both, by turns, and the largest difference of their results."""
    times: dict[Callable[..., torch.Tensor], list[float]] = {mine: [], own: []}
    for turn in range(repeat + 2):
        for function, taken in times.items():
            begin = time.perf_counter()
            result = function(*tensors)
            torch_xla.sync(wait=True)
            if turn >= 2:
                taken.append(time.perf_counter() - begin)
            del result
    medians = [sorted(taken)[len(taken) // 2] * 1e3 for taken in times.values()]
    difference = (mine(*tensors) - own(*tensors)).abs().max().item()
    print(f"{name:28s} kernel {medians[0]:8.2f} ms, PyTorch's {medians[1]:8.2f} ms, ratio {medians[1] / medians[0]:.2f}, difference {difference:.1e}")


def main() -> None:
    """Compares all kernels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rows", 4096), ("size", 1024), ("length", 1024), ("block", 256), ("repeat", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    torch.manual_seed(0)

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape).to("xla")

    compare("softmax", softmax, assume_pure(lambda x: x.softmax(-1)), [some(given.rows, 1024)], given.repeat)
    compare("matmul", lambda x, y: matmul(x, y, given.block), assume_pure(torch.matmul), [some(given.size, given.size) for _ in range(2)],
            given.repeat)
    q, k, v = (some(1, 8, given.length, 64) / 2 for _ in range(3))
    for causal in (False, True):
        def mine(q, k, v, causal=causal):
            return flash_attention(q, k, v, causal, given.block)

        own = assume_pure(lambda q, k, v, causal=causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=1.0))
        compare("causal attention" if causal else "attention", mine, own, [q, k, v], given.repeat)
        compare("  and its gradients", with_gradients(mine), with_gradients(own), [q, k, v], given.repeat)

        def kernels(q, k, v, causal=causal):
            return FlashAttention.apply(q, k, v, causal, given.block)

        compare("  gradients by kernels", with_gradients(kernels), with_gradients(own), [q, k, v], given.repeat)


if __name__ == "__main__":
    main()
