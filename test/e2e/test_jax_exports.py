# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that JAX exported over the years, as portable artifacts with their inputs and results (JAX ships them as test
data): read, compiled and run by xla-run, with LAPACK on OpenBLAS."""
import importlib
import pkgutil

import jax._src.internal_test_util.export_back_compat_test_data as data
import numpy as np
import pytest
from jax._src.internal_test_util import export_back_compat_test_util  # noqa: F401  what the data files import

from benchmarks import tools

X64 = True
CHOSEN = sorted(name for _, name, _ in pkgutil.iter_modules(data.__path__)
                if name.startswith("cpu_") or name in ("annotate_data_placement", "shardy_sharding_ops_with_different_meshes"))


def exports(value):
    """All artifacts in a data file, which nests them in dictionaries by type, and lists."""
    if isinstance(value, dict) and "mlir_module_serialized" in value:
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from exports(inner)


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


def check_vectors(name, a, got, want, tolerance):
    """Vectors are free in sign, and all of a common eigenvalue in more: values are compared, vectors are tried out."""
    if "eigh" in name:
        (v, w), w_want = got, want[1]
        residual = a @ v - v * w[..., None, :]
    elif "eig" in name:
        (w, _, v), w_want = got, want[0]
        residual = a @ v - v * w[..., None, :]
    else:
        t, z = got
        assert np.abs(z @ t @ adjoint(z) - a).max() <= tolerance * np.abs(a).max()
        return
    np.testing.assert_allclose(np.sort(np.abs(w)), np.sort(np.abs(w_want)), atol=tolerance * np.abs(a).max())
    assert np.abs(residual).max() <= tolerance * np.abs(a).max()


@pytest.mark.parametrize("name", CHOSEN)
def test_export(name, tmp_path):
    module = importlib.import_module(f"{data.__name__}.{name}")
    count = 0
    for attribute in sorted(vars(module)):
        if not attribute.startswith("data"):
            continue
        for export in exports(getattr(module, attribute)):
            path = tmp_path / f"{count}.mlirbc"
            path.write_bytes(export["mlir_module_serialized"])
            inputs = [np.asarray(x) for x in export["inputs"]]
            want = export["expected_outputs"]
            want = [np.asarray(x) for x in (want if isinstance(want, (list, tuple)) else [want])]
            got, _ = tools.run_file(str(path), inputs)
            assert [(x.shape, x.dtype) for x in got] == [(x.shape, x.dtype) for x in want]
            single = any(x.dtype in (np.float32, np.complex64) for x in want)
            tolerance = 2e-5 if single else 1e-12
            count += 1
            if "eig" in name or "schur" in name:
                check_vectors(name, matrix_of(name, inputs, want), got, want, 20 * tolerance)
                continue
            for x, y in zip(got, want):
                if np.issubdtype(y.dtype, np.inexact):  # a factor may have another sign with another library
                    x, y = np.abs(x), np.abs(y)
                np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * np.abs(y).max(initial=1))
    assert count > 0


def matrix_of(name, inputs, want):
    """The matrix that was decomposed: the argument, or what the exported results say that it was."""
    if inputs:
        return inputs[0]
    if "eigh" in name:
        v, w = want
        return v * w[..., None, :] @ adjoint(v)
    return np.arange(16.0).reshape(4, 4).astype(want[0].dtype)
