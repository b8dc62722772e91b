# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized programs, compiled, against NumPy. Scales are powers of two, so that every step is exact and one code off is a bug."""
import os
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
from benchmarks import tools  # noqa: E402
from millrace import core  # noqa: E402

rng = np.random.RandomState(5)


def quantize(x, scale, zero, low=-128, high=127):
    """As the specification writes it: ties are those of x / scale + zero, and NaN, which clip keeps, becomes 0."""
    return np.nan_to_num(np.rint(np.clip(x / scale + zero, low, high)))


def dequantize(q, scale, zero):
    return ((q - zero) * scale).astype(np.float32)


def run(text, *arguments):
    return core.Client().compile(text)(*arguments)


def through(x, scale, zero, low=-128, high=127):
    """What of x survives quantization."""
    return dequantize(quantize(x, scale, zero, low, high), scale, zero)


Q = "!quant.uniform<i8:f32, 0.0625:-3>"
OUT = "!quant.uniform<i8:f32, 0.25:5>"


@pytest.mark.parametrize("op, function", [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply),
                                          ("maximum", np.maximum), ("minimum", np.minimum)])
def test_binary(op, function):
    x, y = (rng.randn(4, 9).astype(np.float32) * 4 for _ in range(2))
    result, = run(f"""func.func @main(%x: tensor<4x9xf32>, %y: tensor<4x9xf32>) -> tensor<4x9xf32> {{
      %a = stablehlo.uniform_quantize %x : (tensor<4x9xf32>) -> tensor<4x9x{Q}>
      %b = stablehlo.uniform_quantize %y : (tensor<4x9xf32>) -> tensor<4x9x{Q}>
      %r = stablehlo.{op} %a, %b : (tensor<4x9x{Q}>, tensor<4x9x{Q}>) -> tensor<4x9x{OUT}>
      %f = stablehlo.uniform_dequantize %r : (tensor<4x9x{OUT}>) -> tensor<4x9xf32>
      return %f : tensor<4x9xf32> }}""", x, y)
    expected = through(function(through(x, 1 / 16, -3), through(y, 1 / 16, -3)), 0.25, 5)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("op, function", [("negate", np.negative), ("abs", np.abs), ("ceil", np.ceil), ("floor", np.floor)])
def test_unary(op, function):
    x = rng.randn(33).astype(np.float32) * 4
    result, = run(f"""func.func @main(%x: tensor<33xf32>) -> tensor<33xf32> {{
      %a = stablehlo.uniform_quantize %x : (tensor<33xf32>) -> tensor<33x{Q}>
      %r = stablehlo.{op} %a : (tensor<33x{Q}>) -> tensor<33x{Q}>
      %f = stablehlo.uniform_dequantize %r : (tensor<33x{Q}>) -> tensor<33xf32>
      return %f : tensor<33xf32> }}""", x)
    np.testing.assert_array_equal(result, through(function(through(x, 1 / 16, -3)), 1 / 16, -3))


@pytest.mark.parametrize("storage, low, high", [("i8", -128, 127), ("i8<-127:127>", -127, 127), ("u8", 0, 255), ("i4", -8, 7),
                                                ("i16", -32768, 32767)])
def test_saturates(storage, low, high):
    x = np.array([-1e6, -9, -0.5, -0.25, 0, 0.25, 0.75, 9, 300, 1e6], np.float32)
    result, = run(f"""func.func @main(%x: tensor<10xf32>) -> tensor<10xf32> {{
      %a = stablehlo.uniform_quantize %x : (tensor<10xf32>) -> tensor<10x!quant.uniform<{storage}:f32, 0.5:1>>
      %f = stablehlo.uniform_dequantize %a : (tensor<10x!quant.uniform<{storage}:f32, 0.5:1>>) -> tensor<10xf32>
      return %f : tensor<10xf32> }}""", x)
    np.testing.assert_array_equal(result, through(x, 0.5, 1, low, high))


def test_requantize():
    x = rng.randn(50).astype(np.float32) * 5
    result, = run(f"""func.func @main(%x: tensor<50xf32>) -> tensor<50xi8> {{
      %a = stablehlo.uniform_quantize %x : (tensor<50xf32>) -> tensor<50x{Q}>
      %b = stablehlo.uniform_quantize %a : (tensor<50x{Q}>) -> tensor<50x{OUT}>
      %i = stablehlo.bitcast_convert %b : (tensor<50x{OUT}>) -> tensor<50xi8>
      return %i : tensor<50xi8> }}""", x)
    np.testing.assert_array_equal(result, quantize(through(x, 1 / 16, -3), 0.25, 5).astype(np.int8))


SCALES = [0.03125, 0.0625, 0.125, 0.25]
PER_AXIS = "!quant.uniform<i8<-127:127>:f32:{axis}, {{" + ", ".join(map(str, SCALES)) + "}}>"


def test_dot_general_per_axis():
    x, w = rng.randn(5, 8).astype(np.float32), rng.randn(8, 4).astype(np.float32)
    weight = PER_AXIS.format(axis=1)
    result, = run(f"""func.func @main(%x: tensor<5x8xf32>, %w: tensor<8x4xf32>) -> tensor<5x4xf32> {{
      %a = stablehlo.uniform_quantize %x : (tensor<5x8xf32>) -> tensor<5x8x{Q}>
      %b = stablehlo.uniform_quantize %w : (tensor<8x4xf32>) -> tensor<8x4x{weight}>
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x8x{Q}>, tensor<8x4x{weight}>) -> tensor<5x4x{OUT}>
      %f = stablehlo.uniform_dequantize %r : (tensor<5x4x{OUT}>) -> tensor<5x4xf32>
      return %f : tensor<5x4xf32> }}""", x, w)
    kept = through(w, np.array(SCALES), 0, -127, 127)
    np.testing.assert_array_equal(result, through(through(x, 1 / 16, -3) @ kept, 0.25, 5))


def test_hybrid_dot():
    """Float activations, quantized weights."""
    x, w = np.rint(rng.randn(5, 8)).astype(np.float32), rng.randn(8, 4).astype(np.float32)
    result, = run("""func.func @main(%x: tensor<5x8xf32>, %w: tensor<8x4xf32>) -> tensor<5x4xf32> {
      %b = stablehlo.uniform_quantize %w : (tensor<8x4xf32>) -> tensor<8x4x!quant.uniform<i8<-127:127>:f32, 0.0625>>
      %r = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<5x8xf32>, tensor<8x4x!quant.uniform<i8<-127:127>:f32, 0.0625>>) -> tensor<5x4xf32>
      return %r : tensor<5x4xf32> }""", x, w)
    np.testing.assert_array_equal(result, x @ through(w, 0.0625, 0, -127, 127))


def test_convolution_per_axis():
    x, w = rng.randn(2, 6, 6, 3).astype(np.float32), rng.randn(3, 3, 3, 4).astype(np.float32)
    weight = PER_AXIS.format(axis=3)
    result, = run(f"""func.func @main(%x: tensor<2x6x6x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32> {{
      %a = stablehlo.uniform_quantize %x : (tensor<2x6x6x3xf32>) -> tensor<2x6x6x3x{Q}>
      %b = stablehlo.uniform_quantize %w : (tensor<3x3x3x4xf32>) -> tensor<3x3x3x4x{weight}>
      %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{pad = [[1, 1], [1, 1]]}}
        {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<2x6x6x3x{Q}>, tensor<3x3x3x4x{weight}>) -> tensor<2x6x6x4x{OUT}>
      %f = stablehlo.uniform_dequantize %r : (tensor<2x6x6x4x{OUT}>) -> tensor<2x6x6x4xf32>
      return %f : tensor<2x6x6x4xf32> }}""", x, w)
    # Padding is the zero point: it stands for 0.0.
    padded = np.pad(through(x, 1 / 16, -3), ((0, 0), (1, 1), (1, 1), (0, 0)))
    kept = through(w, np.array(SCALES), 0, -127, 127)
    exact = sum(padded[:, i:i + 6, j:j + 6, :] @ kept[i, j] for i in range(3) for j in range(3))
    np.testing.assert_array_equal(result, through(exact, 0.25, 5))


def test_data_movement_keeps_codes():
    x = rng.randn(4, 6).astype(np.float32) * 3
    result, = run(f"""func.func @main(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {{
      %a = stablehlo.uniform_quantize %x : (tensor<4x6xf32>) -> tensor<4x6x{Q}>
      %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6x{Q}>) -> tensor<6x4x{Q}>
      %r = stablehlo.reverse %t, dims = [0] : tensor<6x4x{Q}>
      %s = stablehlo.reshape %r : (tensor<6x4x{Q}>) -> tensor<3x8x{Q}>
      %f = stablehlo.uniform_dequantize %s : (tensor<3x8x{Q}>) -> tensor<3x8xf32>
      return %f : tensor<3x8xf32> }}""", x)
    np.testing.assert_array_equal(result, through(x, 1 / 16, -3).T[::-1].reshape(3, 8))


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
def test_ties_and_nan(backend, tmp_path):
    """An odd zero point moves ties; NaN and 0 / 0 are the integer 0, which is not the zero point."""
    x = np.array([0.25, 0.75, -0.25, 1.25, np.nan, np.inf, -np.inf, 0.1, -0.6], np.float32)
    text = """func.func @main(%x: tensor<9xf32>) -> (tensor<9xi8>, tensor<9xi8>) {
      %a = stablehlo.uniform_quantize %x : (tensor<9xf32>) -> tensor<9x!quant.uniform<i8:f32, 0.5:3>>
      %i = stablehlo.bitcast_convert %a : (tensor<9x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<9xi8>
      %z = stablehlo.subtract %a, %a : (tensor<9x!quant.uniform<i8:f32, 0.5:3>>, tensor<9x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<9x!quant.uniform<i8:f32, 0.5:3>>
      %q = stablehlo.divide %a, %z : (tensor<9x!quant.uniform<i8:f32, 0.5:3>>, tensor<9x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<9x!quant.uniform<i8:f32, 0.5:3>>
      %j = stablehlo.bitcast_convert %q : (tensor<9x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<9xi8>
      return %i, %j : tensor<9xi8>, tensor<9xi8> }"""
    path = tmp_path / "p.mlir"
    path.write_text(text)
    tools.save_arguments(tmp_path / "in.npz", [x])
    subprocess.run([tools.tool("xla-run"), str(path), f"--args={tmp_path}/in.npz", f"--out={tmp_path}/out.npz", "--quiet"]
                   + (["--backend=interpreter"] if backend == "interpreter" else []), check=True)
    results = tools.load_results(str(tmp_path / "out.npz"))
    codes = quantize(x, 0.5, 3)
    np.testing.assert_array_equal(results[0], codes)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(results[1], quantize(dequantize(codes, 0.5, 3) / np.float32(0), 0.5, 3))


@pytest.mark.parametrize("expressed, storage", [("f32", "i8"), ("f32", "i32"), ("bf16", "i16"), ("f16", "i16"), ("f64", "i32"), ("f32", "i8<5:100>")])
def test_compiled_is_evaluated(expressed, storage, tmp_path):
    """Every step rounds to the expressed type: what is compiled and what is evaluated have the same codes, and dequantized the same bits."""
    kind = f"!quant.uniform<{storage}:{expressed}, 0.1:17>"
    text = f"""func.func @main(%x: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {{
      %c = stablehlo.convert %x : (tensor<4096xf32>) -> tensor<4096x{expressed}>
      %a = stablehlo.uniform_quantize %c : (tensor<4096x{expressed}>) -> tensor<4096x{kind}>
      %b = stablehlo.multiply %a, %a : (tensor<4096x{kind}>, tensor<4096x{kind}>) -> tensor<4096x{kind}>
      %d = stablehlo.uniform_dequantize %a : (tensor<4096x{kind}>) -> tensor<4096x{expressed}>
      %e = stablehlo.uniform_dequantize %b : (tensor<4096x{kind}>) -> tensor<4096x{expressed}>
      %f = stablehlo.convert %d : (tensor<4096x{expressed}>) -> tensor<4096xf32>
      %g = stablehlo.convert %e : (tensor<4096x{expressed}>) -> tensor<4096xf32>
      return %f, %g : tensor<4096xf32>, tensor<4096xf32> }}"""
    path = tmp_path / "p.mlir"
    path.write_text(text)
    x = (np.random.RandomState(7).randint(-4000, 4000, 4096) * np.float32(0.05)).astype(np.float32)  # many near ties
    x[::97] = np.nan
    tools.save_arguments(tmp_path / "in.npz", [x])
    outputs = []
    for flags in ([], ["--backend=interpreter"]):
        subprocess.run([tools.tool("xla-run"), str(path), f"--args={tmp_path}/in.npz", f"--out={tmp_path}/out.npz", "--quiet", *flags], check=True)
        outputs.append(tools.load_results(str(tmp_path / "out.npz")))
    for compiled, evaluated in zip(*outputs):
        np.testing.assert_array_equal(compiled, evaluated)
