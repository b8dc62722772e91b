# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark's programs whose source is PyTorch (benchmarks/torch_text.py): recorded without torch_xla in the process before."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


@pytest.mark.parametrize("name", ["squeezenet1_1_1x3x224x224_f32", "unet_step_1x4x32x32_f32"])  # torchvision's, one of examples/
def test_models_are_recorded_with_their_arguments(tmp_path, name):
    process = subprocess.run([sys.executable, "-m", "benchmarks.catalog", "model", name, str(tmp_path)], cwd=ROOT, capture_output=True,
                             text=True, env=dict(os.environ, JAX_PLATFORMS="cpu"))
    assert process.returncode == 0, process.stderr
    signature = re.search(r"@main\((.*?)\) ->", (tmp_path / f"{name}.mlir").read_text(), re.S)[1]
    shapes = [tuple(int(d) for d in dims.split("x")[:-1]) for dims in re.findall(r"tensor<([^>]*)>", signature)]
    with np.load(tmp_path / f"{name}.npz") as arguments:
        assert [arguments[f"arg{i}"].shape for i in range(len(shapes))] == shapes and len(shapes) == len(arguments.files)
