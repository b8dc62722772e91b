# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A batch that does not fit one device's memory runs on four."""
import os
import re
import subprocess
import sys

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

def f(x, a, b):
    return jnp.tanh(jnp.tanh(x @ a) @ b).sum(axis=1)

random = np.random.default_rng(0)
x, a, b = (random.standard_normal(shape, dtype=np.float32) / 16 for shape in ((4096, 256), (256, 1024), (1024, 1024)))
want = np.tanh(np.tanh(x @ a) @ b).sum(axis=1)
def run(count):
    mesh = jax.make_mesh((count,), ("data",), devices=jax.devices()[:count], axis_types=(jax.sharding.AxisType.Auto,))
    put = lambda value, spec: jax.device_put(value, NamedSharding(mesh, spec))
    return np.asarray(jax.jit(f)(put(x, P("data")), put(a, P()), put(b, P())))
for count in (1, 4):
    try:
        print(count, "equal" if np.allclose(run(count), want, rtol=1e-4, atol=1e-4) else "wrong")
    except Exception as error:
        print(count, str(error).split(" cannot")[0])
"""


def test_four_devices_run_what_one_cannot():
    """Two layers of 16 MB each; one device has 24 MB."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300,
                         env=dict(os.environ, MILLRACE_MEMORY_LIMIT="24000000", XLA_FLAGS="--xla_force_host_platform_device_count=4"))
    assert ran.stdout.splitlines() == ["1 RESOURCE_EXHAUSTED: CpuDevice(id=0):", "4 equal"], ran.stdout + ran.stderr


LOOP = """
import jax
import jax.numpy as jnp
import numpy as np

f = jax.jit(lambda x, a: (jnp.tanh(x @ a) @ a).sum())
a = jax.device_put(np.eye(1024, dtype=np.float32))
sums = [f(jax.device_put(np.full((1024, 1024), i, np.float32)), a) for i in range(12)]
print(all(np.allclose(s, 2**20 * np.tanh(i), rtol=1e-3) for i, s in enumerate(sums)))
"""


def test_batches_wait_for_steps_in_flight():
    """Batches of 4 MB, uploaded far faster than steps run: all of them do not fit, those in flight give theirs back."""
    ran = subprocess.run([sys.executable, "-c", LOOP], capture_output=True, text=True, timeout=300,
                         env=dict(os.environ, MILLRACE_MEMORY_LIMIT="24000000"))
    assert ran.stdout == "True\n", ran.stdout + ran.stderr


def test_a_limit_that_is_no_number():
    ran = subprocess.run([sys.executable, "-c", "import jax; jax.devices()"], capture_output=True, text=True, timeout=300,
                         env=dict(os.environ, MILLRACE_MEMORY_LIMIT="1 GB"))
    assert ran.returncode != 0 and "MILLRACE_MEMORY_LIMIT: expects a number of bytes, but got '1 GB'" in ran.stderr, ran.stderr


def test_resnet_under_a_limit():
    """ResNet-50, 8 images of 224 x 224: 102 MB of weights and 58 MB of temporaries do not fit 140 MB; with their rows on four devices, 16 MB
    of temporaries do. The message has the device, what it asked for, and the limit."""
    from benchmarks import tools

    ran = subprocess.run([sys.executable, "-m", "benchmarks.communication", "--limit=140000000", "--batch=8"], capture_output=True, text=True,
                         timeout=300, cwd=tools.ROOT)
    one, two, four = ran.stdout.splitlines()
    failed = re.fullmatch(r"8 images on 1 device: RESOURCE_EXHAUSTED: CpuDevice\(id=0\): cannot allocate (\d+) bytes: (\d+) are in use, and the limit is 140000000", one)
    assert failed and int(failed[1]) + int(failed[2]) > 140000000, ran.stdout + ran.stderr
    for line, count in ((two, 2), (four, 4)):
        runs = re.fullmatch(f"8 images on {count} devices: runs, relative difference (\\S+)", line)
        assert runs and float(runs[1]) < 1e-4, ran.stdout + ran.stderr
