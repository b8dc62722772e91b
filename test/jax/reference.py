# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process of conftest.Reference: reads (name, arguments, x64), answers the leaves of programs.name(*arguments)."""
import os
import pickle
import struct
import sys

import jax
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402

assert "illrace" not in jax.devices()[0].client.platform_version
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what programs print must not mix with the answers
while len(header := sys.stdin.buffer.read(8)) == 8:
    name, arguments, x64 = pickle.loads(sys.stdin.buffer.read(struct.unpack("<q", header)[0]))
    jax.config.update("jax_enable_x64", x64)
    try:
        answer = [np.asarray(x) for x in jax.tree.leaves(getattr(programs, name)(*arguments))]
    except Exception as error:
        answer = RuntimeError(f"XLA:CPU: {type(error).__name__}: {error}")
    data = pickle.dumps(answer)
    answers.write(struct.pack("<q", len(data)) + data)
    answers.flush()
