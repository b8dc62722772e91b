# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factorizations as JAX's rules for CPUs emit them (lapack_*_ffi custom calls), compiled and run on OpenBLAS by xla-run.

Judged by NumPy: Q R = A, eigenvectors with eigenvalues, and so on, so that signs and orders may differ from JAX's.
"""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import tools

X64 = True
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
BATCHES = [(), (3,), (2, 2)]


def tolerance(dtype):
    return 2e-4 if np.dtype(dtype) in (np.float32, np.complex64) else 1e-10


def random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    value = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        value = value + 1j * rng.standard_normal(shape)
    return value.astype(dtype)


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def hermitian(shape, dtype):
    x = random(shape, dtype)
    return x + adjoint(x)


def positive(shape, dtype):
    x = random(shape, dtype)
    return (x @ adjoint(x) + 2 * shape[-1] * np.eye(shape[-1])).astype(dtype)


def run(function, *arguments, tmp_path, target=""):
    """Results of `function(*arguments)` by xla-run; its program has to call the custom call `target`."""
    text = jax.jit(function).trace(*arguments).lower(lowering_platforms=("cpu",)).as_text()
    assert target in text
    path = tmp_path / "program.mlir"
    path.write_text(text)
    results, _ = tools.run_file(str(path), jax.tree_util.tree_leaves(arguments))
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(jax.eval_shape(function, *arguments)), results)


def run_cases(function, make, tmp_path, target):
    """(dtype, batch, arguments, results) for all element types and batches: one program, compiled once."""
    keys = [(dtype, batch) for dtype in DTYPES for batch in BATCHES]
    arguments = [make(dtype, batch) for dtype, batch in keys]
    results = run(lambda *all: [function(*one) for one in all], *arguments, tmp_path=tmp_path, target=target)
    return [(dtype, batch, one, result) for (dtype, batch), one, result in zip(keys, arguments, results)]


def close(got, want, dtype, scale=1):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert np.isfinite(got).all()
    limit = tolerance(dtype) * scale * max(1, np.abs(want).max(initial=0))
    difference = np.abs(got - want).max(initial=0)
    assert difference <= limit, f"differs by {difference}, at most {limit} is allowed"


def test_cholesky(tmp_path):
    for dtype, _, (a,), lower in run_cases(jax.lax.linalg.cholesky, lambda dtype, batch: (positive(batch + (5, 5), dtype),),
                                           tmp_path, "potrf_ffi"):
        close(lower @ adjoint(lower), a, dtype)
        close(np.triu(lower, 1), np.zeros_like(a), dtype)


@pytest.mark.parametrize("n", [1, 3, 8, 16, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_small_cholesky(n, dtype, tmp_path):
    """Matrices in the lanes of vectors and a rest of them; one that has no factor spoils nothing but its own. Both triangles."""
    a = positive((37, n, n), dtype)
    a[20, n // 2, n // 2] = -1
    for symmetrize in (True, False):
        lower = run(lambda x: jax.lax.linalg.cholesky(x, symmetrize_input=symmetrize), a, tmp_path=tmp_path, target="potrf_ffi")
        assert np.isnan(lower[20][np.tril_indices(n)]).all()
        rest = np.delete(np.arange(37), 20)
        close(lower[rest], np.linalg.cholesky(a[rest].astype(np.float64)).astype(dtype), dtype)


def test_cholesky_of_an_indefinite_matrix_is_nan(tmp_path):
    a = np.stack([-np.eye(4), np.eye(4)]).astype(np.float32)
    lower = run(jax.lax.linalg.cholesky, a, tmp_path=tmp_path)
    assert np.isnan(lower[0][np.tril_indices(4)]).all() and np.array_equal(lower[1], np.eye(4, dtype=np.float32))


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)], ids=str)
def test_lu(shape, tmp_path):
    k = min(shape)
    for dtype, _, (a,), (lu, _, permutation) in run_cases(
            jax.lax.linalg.lu, lambda dtype, batch: (random(batch + shape, dtype),), tmp_path, "getrf_ffi"):
        lower = np.tril(lu[..., :, :k], -1) + np.eye(shape[0], k, dtype=dtype)
        close(lower @ np.triu(lu[..., :k, :]), np.take_along_axis(a, permutation[..., None], -2), dtype)


def check_orthonormal_columns(q, dtype):
    close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), q.shape[:-2] + (q.shape[-1],) * 2), dtype)


@pytest.mark.parametrize("shape,full", [((5, 3), True), ((5, 3), False), ((3, 5), False)], ids=str)
def test_qr(shape, full, tmp_path):
    for dtype, _, (a,), (q, r) in run_cases(lambda x: jax.lax.linalg.qr(x, full_matrices=full),
                                            lambda dtype, batch: (random(batch + shape, dtype),), tmp_path, "geqrf_ffi"):
        close(q @ r, a, dtype)
        check_orthonormal_columns(q, dtype)
        close(np.tril(r, -1), np.zeros_like(r), dtype)


def test_pivoted_qr(tmp_path):
    for dtype, _, (a,), (q, r, columns) in run_cases(
            lambda x: jax.lax.linalg.qr(x, pivoting=True, full_matrices=False),
            lambda dtype, batch: (random(batch + (5, 4), dtype),), tmp_path, "geqp3_ffi"):
        close(q @ r, np.take_along_axis(a, columns[..., None, :], -1), dtype)
        diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
        assert (diagonal[..., :-1] >= diagonal[..., 1:] * (1 - 1e-5)).all()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_ormqr(left, transpose, tmp_path):
    from jax._src.lax import linalg

    def function(a, c):
        reflectors, tau = linalg.geqrf(a)
        q = jax.lax.linalg.householder_product(reflectors, tau)
        return q, linalg.ormqr(reflectors, tau, c, left=left, transpose=transpose)

    for dtype, _, (_, c), (q, got) in run_cases(
            function, lambda dtype, batch: (random(batch + (4, 4), dtype),
                                            random(batch + ((4, 3) if left else (3, 4)), dtype, seed=1)),
            tmp_path, "mqr_ffi"):
        q = adjoint(q) if transpose else q
        close(got, q @ c if left else c @ q, dtype)


@pytest.mark.parametrize("shape,full,algorithm", [((5, 3), True, None), ((3, 5), False, None), ((4, 4), False, "QR"),
                                                  ((5, 3), True, "QR")], ids=str)
def test_svd(shape, full, algorithm, tmp_path):
    k = min(shape)
    chosen = getattr(jax.lax.linalg.SvdAlgorithm, algorithm) if algorithm else None
    for dtype, _, (a,), (u, s, vt) in run_cases(
            lambda x: jax.lax.linalg.svd(x, full_matrices=full, algorithm=chosen),
            lambda dtype, batch: (random(batch + shape, dtype),), tmp_path, "gesvd_ffi" if algorithm else "gesdd_ffi"):
        close((u[..., :k] * s[..., None, :]) @ vt[..., :k, :], a, dtype)
        close(s, np.linalg.svd(a, compute_uv=False), dtype)
        check_orthonormal_columns(u, dtype)
        check_orthonormal_columns(adjoint(vt), dtype)


def test_singular_values(tmp_path):
    for dtype, _, (a,), (s,) in run_cases(lambda x: (jax.lax.linalg.svd(x, compute_uv=False),),
                                          lambda dtype, batch: (random(batch + (6, 4), dtype),), tmp_path, "gesdd_ffi"):
        close(s, np.linalg.svd(a, compute_uv=False), dtype)


@pytest.mark.parametrize("lower", [True, False])
def test_eigh(lower, tmp_path):
    for dtype, _, (a,), (v, w) in run_cases(lambda x: jax.lax.linalg.eigh(x, lower=lower, symmetrize_input=False),
                                            lambda dtype, batch: (hermitian(batch + (5, 5), dtype),), tmp_path, "evd_ffi"):
        close(a @ v, v * w[..., None, :], dtype)
        close(w, np.linalg.eigvalsh(a), dtype)


def test_eig(tmp_path):
    for dtype, _, (a,), (w, left, right) in run_cases(
            lambda x: jax.lax.linalg.eig(x), lambda dtype, batch: (random(batch + (5, 5), dtype),), tmp_path, "geev_ffi"):
        assert (np.abs(w.imag) > 1e-3).any(), "a pair of complex eigenvalues is what this tests"
        close(a @ right, right * w[..., None, :], dtype)
        close(adjoint(left) @ a, w[..., :, None] * adjoint(left), dtype)


def test_eig_of_nan_is_nan(tmp_path):
    w, _, _ = run(lambda x: jax.lax.linalg.eig(x), np.full((3, 3), np.nan, np.float32), tmp_path=tmp_path)
    assert np.isnan(w).all()


def test_schur(tmp_path):
    for dtype, _, (a,), (t, z) in run_cases(lambda x: jax.lax.linalg.schur(x),
                                            lambda dtype, batch: (random(batch + (4, 4), dtype),), tmp_path, "gees_ffi"):
        close(z @ t @ adjoint(z), a, dtype)
        close(np.tril(t, -2), np.zeros_like(t), dtype)
        check_orthonormal_columns(z, dtype)


def test_hessenberg(tmp_path):
    def function(x):
        h, tau = jax.lax.linalg.hessenberg(x)
        return h, jax.lax.linalg.householder_product(h[..., 1:, :-1], tau)

    for dtype, _, (a,), (h, q) in run_cases(function, lambda dtype, batch: (random(batch + (5, 5), dtype),), tmp_path,
                                            "gehrd_ffi"):
        whole = np.zeros_like(a)
        whole[..., 0, 0] = 1
        whole[..., 1:, 1:] = q
        close(whole @ np.triu(h, -1) @ adjoint(whole), a, dtype)


def test_tridiagonal(tmp_path):
    for dtype, _, (a,), (_, d, e, _) in run_cases(lambda x: jax.lax.linalg.tridiagonal(x, lower=True),
                                                  lambda dtype, batch: (hermitian(batch + (5, 5), dtype),), tmp_path,
                                                  "trd_ffi"):
        whole = np.zeros(d.shape + d.shape[-1:], d.dtype)
        for i in range(5):
            whole[..., i, i] = d[..., i]
        for i in range(4):
            whole[..., i, i + 1] = whole[..., i + 1, i] = e[..., i]
        close(np.linalg.eigvalsh(whole), np.linalg.eigvalsh(a), dtype)


@pytest.mark.parametrize("left,lower,transpose,conjugate,unit", [
    (True, True, False, False, False), (True, False, True, False, False), (False, True, True, True, False),
    (False, False, False, False, True)], ids=str)
def test_triangular_solve(left, lower, transpose, conjugate, unit, tmp_path):
    def function(a, b):
        return jax.lax.linalg.triangular_solve(a, b, left_side=left, lower=lower, transpose_a=transpose,
                                               conjugate_a=conjugate, unit_diagonal=unit)

    for dtype, _, (a, b), x in run_cases(
            function, lambda dtype, batch: (positive(batch + (4, 4), dtype),
                                            random(batch + ((4, 3) if left else (3, 4)), dtype, seed=1)),
            tmp_path, "trsm_ffi"):
        t = np.tril(a) if lower else np.triu(a)
        if unit:
            t = t - t * np.eye(4) + np.eye(4)
        if conjugate:
            t = t.conj()
        if transpose:
            t = np.swapaxes(t, -1, -2)
        close(t @ x if left else x @ t, b, dtype, scale=max(10, np.abs(x).max() * np.abs(t).max()))


def test_solve_inverse_determinant(tmp_path):
    for dtype, _, (a, b), (x, inverse, determinant) in run_cases(
            lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.det(a)),
            lambda dtype, batch: (random(batch + (4, 4), dtype), random(batch + (4, 2), dtype, seed=1)), tmp_path,
            "getrf_ffi"):
        close(a @ x, b, dtype, scale=10)
        close(a @ inverse, np.broadcast_to(np.eye(4), a.shape), dtype, scale=10)
        close(determinant, np.linalg.det(a), dtype, scale=10)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_expm(dtype, tmp_path):
    a = hermitian((4, 4), dtype)
    got = run(jax.scipy.linalg.expm, a, tmp_path=tmp_path)
    w, v = np.linalg.eigh(a)
    close(got, (v * np.exp(w)) @ adjoint(v), dtype)


@pytest.mark.parametrize("perturb", [False, True])
def test_tridiagonal_solve(perturb, tmp_path):
    n = 6

    def make(dtype, batch):
        lower, upper = random(batch + (n,), dtype, 1), random(batch + (n,), dtype, 2)
        lower[..., 0] = upper[..., -1] = 0
        return lower, random(batch + (n,), dtype, 3), upper, random(batch + (n, 2), dtype, 4)

    for dtype, batch, (lower, middle, upper, b), x in run_cases(
            lambda *operands: jax.lax.linalg.tridiagonal_solve(*operands, perturb_singular=perturb), make, tmp_path,
            "tridiagonal_solve_perturbed_ffi" if perturb else "gtsv_ffi"):
        whole = np.zeros(batch + (n, n), dtype)
        for i in range(n):
            whole[..., i, i] = middle[..., i]
            if i:
                whole[..., i, i - 1], whole[..., i - 1, i] = lower[..., i], upper[..., i - 1]
        close(whole @ x, b, dtype, scale=10 * max(1, np.abs(x).max()))


def test_singular_tridiagonal_matrix_gives_a_null_vector(tmp_path):
    n = 5
    lower, middle, upper = np.full(n, -1.0), np.full(n, 2.0), np.full(n, -1.0)
    lower[0] = upper[-1] = 0
    middle -= 2 - 2 * np.cos(np.pi / (n + 1))  # an eigenvalue
    x = run(lambda *operands: jax.lax.linalg.tridiagonal_solve(*operands, perturb_singular=True), lower, middle, upper,
            np.ones((n, 1)), tmp_path=tmp_path)
    assert np.isfinite(x).all() and np.abs(x).max() > 1e10
    vector = x[:, 0] / np.linalg.norm(x)
    want = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    assert np.allclose(np.abs(vector), want / np.linalg.norm(want), atol=1e-8)


def test_exactly_singular_tridiagonal_matrix_gives_finite_numbers(tmp_path):
    for dtype in DTYPES:
        ones = np.ones(2, dtype)
        x = run(lambda *operands: jax.lax.linalg.tridiagonal_solve(*operands, perturb_singular=True),
                np.array([0, 1], dtype), ones, np.array([1, 0], dtype), np.array([[1], [2]], dtype), tmp_path=tmp_path)
        assert np.isfinite(x).all() and np.abs(x).max() > 1e6


def test_missing_library_says_what_to_install(tmp_path):
    a = positive((3, 3), np.float32)
    path = tmp_path / "program.mlir"

    def process_of(function):
        path.write_text(jax.jit(function).trace(a).lower(lowering_platforms=("cpu",)).as_text())
        return tools.run_file(str(path), [a], check=False, environment={"MILLRACE_OPENBLAS": "/nowhere/libopenblas.so"})[1]

    assert process_of(jax.lax.linalg.cholesky).returncode == 0  # needs none
    process = process_of(jax.lax.linalg.eigh)
    assert process.returncode != 0
    assert "needs OpenBLAS" in process.stderr and "apt install libopenblas0" in process.stderr


def test_sparse_product(tmp_path):
    from jax.experimental import sparse

    def make(dtype):
        matrix = np.where(np.random.default_rng(3).random((6, 4)) < 0.5, 0, random((6, 4), dtype)).astype(dtype)
        return sparse.BCSR.fromdense(matrix), random((4, 2), dtype, 1), random((4,), dtype, 2)

    arguments = [make(dtype) for dtype in DTYPES]
    results = run(lambda *all: [(m @ b, m @ x) for m, b, x in all], *arguments, tmp_path=tmp_path,
                  target="cpu_csr_sparse_dense_ffi")
    for dtype, (m, b, x), (by_matrix, by_vector) in zip(DTYPES, arguments, results):
        close(by_matrix, m.todense() @ b, dtype)
        close(by_vector, m.todense() @ x, dtype)


def test_approx_top_k(tmp_path):
    x = random((3, 50), np.float32)
    values, indices = run(lambda x: jax.lax.approx_max_k(x, 5), x, tmp_path=tmp_path, target="@ApproxTopK")
    order = np.argsort(-x, axis=-1)[:, :5]
    assert np.array_equal(indices, order) and np.array_equal(values, np.take_along_axis(x, order, -1))
    values, indices = run(lambda x: jax.lax.approx_min_k(x, 4, reduction_dimension=0), x.T, tmp_path=tmp_path,
                          target="@ApproxTopK")
    order = np.argsort(x.T, axis=0)[:4]
    assert np.array_equal(indices, order) and np.array_equal(values, np.take_along_axis(x.T, order, 0))


def test_qr_of_unknown_platforms(tmp_path):
    """What JAX writes for a platform that it does not know."""
    text = """
func.func @main(%a: tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x5x3xf64>) {
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>)
  %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<2x5x3xf64>, tensor<2x3xf64>) -> tensor<2x5x3xf64>
  return %0#0, %1 : tensor<2x5x3xf64>, tensor<2x5x3xf64>
}"""
    path = tmp_path / "qr.mlir"
    path.write_text(text)
    a = random((2, 5, 3), np.float64)
    (packed, q), _ = tools.run_file(str(path), [a])
    close(q @ np.triu(packed)[:, :3], a, np.float64)
    check_orthonormal_columns(q, np.float64)


def test_row_out_of_range_is_an_error(tmp_path):
    text = """
func.func @main(%v: tensor<2xf32>, %s: tensor<3xi32>, %c: tensor<2xi32>, %b: tensor<4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%v, %s, %c, %b) {mhlo.backend_config = {}} : (tensor<2xf32>, tensor<3xi32>, tensor<2xi32>, tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
    path = tmp_path / "sparse.mlir"
    path.write_text(text)
    arguments = [np.ones(2, np.float32), np.array([0, 1, 2], np.int32), np.array([0, 4], np.int32), np.ones(4, np.float32)]
    _, process = tools.run_file(str(path), arguments, check=False)
    assert process.returncode != 0 and "element 1 is in column 4, but there are 4" in process.stderr


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, jnp.bfloat16, np.int8, np.uint16, np.int64],
                         ids=lambda d: np.dtype(d).name)
def test_top_k_of_long_rows(dtype, tmp_path):
    """Selected, not sorted; many equal elements, and for floats zeros of both signs, infinities and NaNs."""
    x = (np.random.default_rng(5).integers(-100, 100, (7, 900)) / 4).astype(dtype)
    if jnp.issubdtype(dtype, jnp.floating):
        x[0, 17:60:7], x[1, 3:700:31], x[2, 5], x[3, :] = np.inf, np.nan, -np.inf, np.where(np.arange(900) % 2, 0.0, -0.0)
    want_values, want = jax.lax.top_k(jnp.asarray(x), 12)
    values, positions = run(lambda x: jax.lax.top_k(x, 12), x, tmp_path=tmp_path)
    assert np.array_equal(positions, want)
    assert np.array_equal(np.asarray(values).view(dtype), np.asarray(want_values), equal_nan=dtype not in (np.int8, np.uint16, np.int64))
    _, process = tools.run_file(str(tmp_path / "program.mlir"), [x], "--stats")
    assert "custom_call" in process.stdout + process.stderr
