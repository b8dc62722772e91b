# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark's programs whose source is PyTorch (benchmarks/torch_text.py): recorded without torch_xla in the process before."""
import json
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


@pytest.mark.skipif("MILLRACE_LONG" not in os.environ, reason="half a minute; with MILLRACE_LONG")
def test_training_ends_where_pytorch_does():
    """Rows of benchmarks/convergence.py, after few steps; it fails where a loss differs."""
    process = subprocess.run([sys.executable, "-m", "benchmarks.convergence", "--tasks=text", "--ways=native,xla", "--steps=4", "--seeds=1"], cwd=ROOT,
                             capture_output=True, text=True, timeout=300, env={name: value for name, value in os.environ.items() if name != "RANK"})
    assert process.returncode == 0, process.stderr
    head, _, *rows = process.stdout.splitlines()
    assert head == "| text, 4 steps of 64, 1 seeds | training loss | test loss | test accuracy, % |"
    (first, native), (second, xla) = ((row.split(" | ")[0], [float(cell.split(" ± ")[0]) for cell in row.strip("| ").split(" | ")[1:]]) for row in rows)
    assert (first, second) == ("| native", "| xla") and 2 < native[0] < 4.5 and native[2] > 2
    assert all(abs(a - b) < 0.01 for a, b in zip(native[:2], xla[:2]))


@pytest.mark.skipif("MILLRACE_LONG" not in os.environ, reason="half a minute; with MILLRACE_LONG")
def test_language_models_have_the_logits_of_f64(tmp_path):
    """Rows of benchmarks/llm.py, of reduced models."""
    process = subprocess.run([sys.executable, "-m", "benchmarks.llm", "--quick", "--models=llama-1b,gemma-1b", "--precisions=f32", "--batch=2",
                              "--peers=millrace,eager", f"--results={tmp_path}/rows.json"], cwd=ROOT, capture_output=True, text=True, timeout=400)
    assert process.returncode == 0, process.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [(row["model"], row["peer"]) for row in rows] == [(f"{model} reduced", peer) for model in ("llama-1b", "gemma-1b") for peer in ("millrace", "eager")]
    assert all(row["difference"] < 1e-4 and row["decode_tokens_s"] > 0 and row["of_bound"] > 0 for row in rows), rows


@pytest.mark.skipif("MILLRACE_LONG" not in os.environ, reason="half a minute; with MILLRACE_LONG")
def test_serving_loses_nothing():
    """benchmarks/llm_serving.py with a reduced model: it fails where a request is lost."""
    process = subprocess.run([sys.executable, "-m", "benchmarks.llm_serving", "--quick", "--peers=millrace", "--clients=12"], cwd=ROOT, capture_output=True,
                             text=True, timeout=400)
    assert process.returncode == 0, process.stderr
    assert re.search(r"^\| millrace \| \d+\.\d+ \| \d+ \|.*\| 0 \| \d+ \| \d+\.\d+ \|$", process.stdout, re.M), process.stdout
