# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms, factorizations, solvers."""
import jax.numpy as jnp
from jax import lax

from benchmarks.op.case import case, in_torch


def positive_definite(a):
    return a @ jnp.swapaxes(a, -1, -2) + a.shape[-1] * jnp.eye(a.shape[-1], dtype=a.dtype)


def torch_positive_definite(torch, a):
    return a @ a.transpose(-1, -2) + a.shape[-1] * torch.eye(a.shape[-1])


def spectrum(x):
    y = jnp.fft.rfft(x)
    return y.real * y.real + y.imag * y.imag


def solve(a, b):
    return lax.linalg.triangular_solve(jnp.tril(a) + 64 * jnp.eye(a.shape[0], dtype=a.dtype), b, left_side=True, lower=True)


def programs():
    cholesky = in_torch(lambda torch, F, a: torch.linalg.cholesky(torch_positive_definite(torch, a)))
    return [
        case("fft_256x1024_c64", lambda a, b: jnp.abs(jnp.fft.fft(a + 1j * b)), (256, 1024), (256, 1024), atol=1e-2, rtol=1e-3,
             source="spectra", torch_function=in_torch(lambda torch, F, a, b: torch.fft.fft(torch.complex(a, b)).abs())),
        case("rfft_3000x400_f32", spectrum, (3000, 400), atol=1e-1, rtol=1e-3, source="Whisper, spectrogram",
             torch_function=in_torch(lambda torch, F, x: torch.fft.rfft(x).abs().square())),
        case("cholesky_256x256_f32", lambda a: lax.linalg.cholesky(positive_definite(a)), (256, 256), rtol=1e-3, atol=1e-3,
             source="a Gaussian process", torch_function=cholesky),
        case("cholesky_64x64x64_f32", lambda a: lax.linalg.cholesky(positive_definite(a)), (64, 64, 64), rtol=1e-3, atol=1e-3,
             source="many small systems", torch_function=cholesky),
        case("triangular_solve_512x512x64_f32", solve, (512, 512), (512, 64), rtol=1e-3, atol=1e-3, source="a Gaussian process",
             torch_function=in_torch(lambda torch, F, a, b: torch.linalg.solve_triangular(
                 torch.tril(a) + 64 * torch.eye(512), b, upper=False))),
        case("qr_256x128_f32", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), (256, 128), rtol=1e-2, atol=1e-2, source="least squares",
             torch_function=in_torch(lambda torch, F, a: torch.linalg.qr(a).R.abs())),
        case("eigenvalues_128x128_f32", lambda a: jnp.linalg.eigvalsh(a + a.T), (128, 128), rtol=1e-3, atol=1e-3,
             source="principal components", torch_function=in_torch(lambda torch, F, a: torch.linalg.eigvalsh(a + a.T))),
    ]
