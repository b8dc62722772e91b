# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on Millrace, against JAX on XLA:CPU in a process beside this one.

`scripts/check --only jax` installs both wheels into build/python-site, puts that on PYTHONPATH and asks for 8 devices."""
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


def pytest_sessionstart(session):
    import jax

    version = jax.devices()[0].client.platform_version
    if "illrace" not in version:
        raise pytest.UsageError(f"JAX runs on {version!r}: start these tests with scripts/check --only jax")


class Reference:
    """A process whose JAX runs on XLA:CPU; calls functions of programs.py there."""

    def __init__(self):
        environment = dict(os.environ, MILLRACE_JAX="0")
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "reference.py")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment)

    def __call__(self, name, *arguments, x64=False):
        data = pickle.dumps((name, arguments, x64))
        self.process.stdin.write(struct.pack("<q", len(data)) + data)
        self.process.stdin.flush()
        size, = struct.unpack("<q", self.process.stdout.read(8))
        answer = pickle.loads(self.process.stdout.read(size))
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture(scope="session")
def reference():
    worker = Reference()
    yield worker
    worker.process.stdin.close()
    worker.process.wait(60)


@pytest.fixture(autouse=True)
def precision(request):
    """JAX's 64-bit mode is a switch of the process, but a choice of each test: marker x64."""
    import jax

    jax.config.update("jax_enable_x64", request.node.get_closest_marker("x64") is not None)
    yield
    jax.config.update("jax_enable_x64", False)


def pytest_configure(config):
    config.addinivalue_line("markers", "x64: runs with 64-bit types")


def ulps(actual, expected):
    """Largest distance of two float arrays in units of the last place of their type."""
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[actual.dtype.itemsize]
    def order(x):
        i = x.view(bits).astype(np.int64)
        return np.where(i < 0, np.int64(np.iinfo(bits).min) - i, i)
    same = (np.isnan(actual) & np.isnan(expected)) | (actual == expected)
    return int(np.max(np.where(same, 0, np.abs(order(actual) - order(expected))), initial=0))


@pytest.fixture
def both(reference, request):
    """both(name, *arguments, rtol=..., exact=..., within_ulps=...): calls programs.name here and on XLA:CPU and compares."""
    import jax
    import programs

    def check(name, *arguments, rtol=2e-5, exact=False, within_ulps=None):
        x64 = jax.config.jax_enable_x64
        actual = [np.asarray(x) for x in jax.tree.leaves(getattr(programs, name)(*arguments))]
        expected = reference(name, *arguments, x64=x64)
        assert len(actual) == len(expected)
        for k, (a, e) in enumerate(zip(actual, expected)):
            assert (a.dtype, a.shape) == (e.dtype, e.shape), f"result {k}"
            if exact:
                np.testing.assert_array_equal(a, e, err_msg=f"result {k}")
            elif within_ulps is not None:
                distance = ulps(np.atleast_1d(a), np.atleast_1d(e))
                assert distance <= within_ulps, f"result {k} is {distance} ULP away"
            elif a.dtype.kind in "biu":
                np.testing.assert_array_equal(a, e, err_msg=f"result {k}")
            else:
                scale = float(np.max(np.abs(e[np.isfinite(e)]), initial=1.0)) if e.size else 1.0
                np.testing.assert_allclose(a.astype(np.complex128), e.astype(np.complex128), rtol=rtol, atol=rtol * scale,
                                           err_msg=f"result {k}")
        return actual

    return check
