# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant arguments (xla-run --constant) change no bit of a result: products and convolutions with panels that are prepared once give what the same
kernels give when they pack in every call, on each level of x86-64, on one thread and on two, and what the evaluator says."""
import re
import subprocess

import numpy as np
import pytest

from benchmarks import tools

F32, BF16, I8 = "f32", "bf16", "i8"


def product(m: int, n: int, k: int, rhs: str, element: str = F32) -> str:
    """x times weights that lie by rows (`kn`) or by columns (`nk`), a bias, and a second kernel of the result."""
    shape, dim = (f"{k}x{n}", 0) if rhs == "kn" else (f"{n}x{k}", 1)
    made = "i32" if element == I8 else F32
    t = f"tensor<{m}x{n}x{made}>"
    return f"""
func.func @main(%x: tensor<{m}x{k}x{element}>, %w: tensor<{shape}x{element}>, %b: tensor<{n}x{made}>) -> {t} {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [{dim}] : (tensor<{m}x{k}x{element}>, tensor<{shape}x{element}>) -> {t}
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<{n}x{made}>) -> {t}
  %2 = stablehlo.add %0, %1 : {t}
  return %2 : {t}
}}
"""


def batch(count: int, m: int, n: int, k: int, rhs: str, element: str = F32) -> str:
    """Products of a batch in two dimensions, of which the weights have the second one first or last, and the sums of the results with a bias."""
    x, rows = f"tensor<{count}x{m}x2x{k}x{element}>", f"2x{k}x{count}x{n}" if rhs == "kn" else f"{n}x{count}x2x{k}"
    dims = "[0, 2] x [2, 0], contracting_dims = [3] x [1]" if rhs == "kn" else "[0, 2] x [1, 2], contracting_dims = [3] x [3]"
    made = "i32" if element == I8 else F32
    t = f"tensor<{count}x2x{m}x{n}x{made}>"
    return f"""
func.func @main(%x: {x}, %w: tensor<{rows}x{element}>, %b: tensor<{n}x{made}>) -> {t} {{
  %0 = stablehlo.dot_general %x, %w, batching_dims = {dims} : ({x}, tensor<{rows}x{element}>) -> {t}
  %1 = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<{n}x{made}>) -> {t}
  %2 = stablehlo.add %0, %1 : {t}
  return %2 : {t}
}}
"""


def convolution(size: int, channels: int, features: int, window: int, stride: int = 1, groups: int = 1) -> str:
    """As PyTorch writes it: channels first, weights by features."""
    pad = window // 2
    out = (size + 2 * pad - window) // stride + 1
    x, w, y = f"tensor<1x{channels}x{size}x{size}xf32>", f"tensor<{features}x{channels // groups}x{window}x{window}xf32>", f"tensor<1x{features}x{out}x{out}xf32>"
    return f"""
func.func @main(%x: {x}, %w: {w}, %s: tensor<{features}xf32>) -> {y} {{
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {{stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]]}}
    {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : ({x}, {w}) -> {y}
  %r = stablehlo.sqrt %s : tensor<{features}xf32>
  %1 = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<{features}xf32>) -> {y}
  %2 = stablehlo.multiply %0, %1 : {y}
  return %2 : {y}
}}
"""


CASES = {
    "product_by_rows": product(200, 70, 100, "kn"),
    "product_by_columns": product(200, 70, 100, "nk"),
    "product_of_blocks": product(130, 257, 2600, "kn"),
    "product_of_blocks_by_columns": product(130, 100, 2600, "nk"),
    "product_bf16": product(64, 96, 256, "kn", BF16),
    "product_bf16_by_columns": product(64, 96, 256, "nk", BF16),
    "product_i8": product(64, 96, 256, "kn", I8),
    "window_1": convolution(14, 64, 100, 1),
    "window_3": convolution(14, 48, 70, 3),
    "window_3_of_blocks": convolution(7, 512, 96, 3),
    "window_7": convolution(32, 3, 64, 7, 2),
    "groups": convolution(14, 32, 64, 3, 1, 4),
    "wide_groups": convolution(14, 128, 144, 3, 1, 4),
    "groups_of_blocks": convolution(7, 1024, 96, 3, 1, 2),
    "batch_by_rows": batch(3, 70, 40, 100, "kn"),
    "batch_by_columns": batch(3, 70, 72, 100, "nk"),
    "batch_of_blocks": batch(3, 70, 100, 2600, "nk"),
    "batch_bf16": batch(3, 64, 96, 256, "kn", BF16),
    "batch_i8": batch(3, 64, 96, 256, "nk", I8),
}
PREPARED = [name for name in CASES if name not in ("groups", "window_1")]  # these get no panels


def arguments(text: str) -> list[np.ndarray]:
    """Random values for the function's arguments; a scale is positive."""
    random = np.random.default_rng(7)
    made = []
    for name, shape, element in re.findall(r"%(\w): tensor<([\dx]+)x(f32|bf16|i8|i32)>", text.split("{")[0]):
        dims = [int(size) for size in shape.split("x")]
        if element in ("i8", "i32"):
            made.append(random.integers(-100, 100, dims).astype(np.int8 if element == "i8" else np.int32))
        elif element == "bf16":
            import ml_dtypes
            made.append(random.standard_normal(dims).astype(ml_dtypes.bfloat16))
        else:
            made.append((np.abs(random.standard_normal(dims)) if name == "s" else random.standard_normal(dims)).astype(np.float32))
    return made


def run(path: str, values: list[np.ndarray], *flags: str, threads: int = 1) -> np.ndarray:
    results, _ = tools.run_file(path, values, *flags, environment={"MILLRACE_NUM_THREADS": str(threads)})
    return results[0]


@pytest.mark.parametrize("target", ["host", "x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("name", CASES)
def test_no_bit_changes(name: str, target: str, tmp_path) -> None:
    path, values = tmp_path / "program.mlir", arguments(CASES[name])
    path.write_text(CASES[name])
    want = run(str(path), values, f"--target={target}")
    for threads in (1, 2):
        got = run(str(path), values, f"--target={target}", "--constant=1,2", "--repeat=3", threads=threads)
        np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))


@pytest.mark.parametrize("name", CASES)
def test_the_evaluator_agrees(name: str, tmp_path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(CASES[name])
    result = subprocess.run([tools.tool("xla-run"), str(path), "--constant=1,2", "--verify", "--repeat=2"], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout[-500:] + result.stderr[-1500:]


@pytest.mark.parametrize("name", PREPARED)
def test_something_is_prepared(name: str, tmp_path) -> None:
    """Else the tests above would compare a program with itself."""
    path = tmp_path / "program.mlir"
    path.write_text(CASES[name])
    # Panels of bf16 are prepared for processors that multiply bf16; others convert the operand while they pack it.
    target = ["--target=sapphirerapids"] if "bf16" in name else []
    text = subprocess.run([tools.tool("xla-compile"), str(path), "--constant=1,2", "--emit=fused", "--cache-dir=off", *target], capture_output=True, text=True,
                          timeout=300, check=True).stdout
    assert "millrace.prepare = @prepare" in text and "millrace.panels" in text, text


def test_files_hold_the_recipe(tmp_path) -> None:
    """A compiled program prepares what it is given, and is no larger than the code for it."""
    text = CASES["window_3_of_blocks"]
    path, compiled, values = tmp_path / "program.mlir", tmp_path / "program.mr", arguments(text)
    path.write_text(text)
    subprocess.run([tools.tool("xla-compile"), str(path), "--constant=1", "-o", str(compiled), "--cache-dir=off"], check=True, timeout=300)
    assert compiled.stat().st_size < values[1].nbytes
    np.testing.assert_array_equal(run(str(compiled), values), run(str(path), values))
