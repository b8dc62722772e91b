# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks.engine_layers finds the contractions of kernels and puts them beside those of other engines."""
from types import SimpleNamespace as Part

import pytest

from benchmarks import engine_layers as layers

CONVOLUTION = ("    %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} "
               "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x58x58x64xf32>, tensor<3x3x64x128xf32>) -> tensor<1x28x28x128xf32>")
PRODUCT = ("    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
           "(tensor<12x197x64xf32>, tensor<12x64x197xf32>) -> tensor<12x197x197xf32>")
TEXT = """
func.func @main(%x: tensor<1x8x20x20xf32>, %w: tensor<32x8x3x3xf32>, %v: tensor<32x40xf32>) -> (tensor<1x40xf32>, tensor<1x32x18x18xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
         {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x20x20xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x18x18xf32>
  %1 = stablehlo.tanh %0 : tensor<1x32x18x18xf32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x32x18x18xf32>, tensor<f32>) -> tensor<1x32xf32>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0] : (tensor<1x32xf32>, tensor<32x40xf32>) -> tensor<1x40xf32>
  return %3, %1 : tensor<1x40xf32>, tensor<1x32x18x18xf32>
}
"""


def layer(name, us, *contractions, kind=layers.OTHERS, calls=1):
    return layers.Layer(name, kind, tuple(contractions), us, calls)


def test_reads_contractions():
    assert layers.contraction_of(CONVOLUTION) == ((28 * 28 * 128, 9 * 64), "conv 3x3 1x58x58x64 -> 1x28x28x128")
    depthwise = CONVOLUTION.replace("3x3x64x128", "3x3x1x64").replace("28x128xf32", "28x64xf32")
    assert layers.contraction_of(depthwise)[0] == (28 * 28 * 64, 9)
    torch_order = CONVOLUTION.replace("x[0, 1, i, o]", "x[o, i, 0, 1]").replace("3x3x64x128", "128x64x3x3")
    assert layers.contraction_of(torch_order)[0] == (28 * 28 * 128, 9 * 64)
    assert layers.contraction_of(PRODUCT) == ((12 * 197 * 197, 64), "dot 12x197x64 * 12x64x197")
    assert layers.contraction_of("    %4 = stablehlo.add %3, %2 : tensor<4xf32>") is None
    found = layers.kernels_of("func.func private @conv_1(%arg0: tensor<2xf32>) {\n" + CONVOLUTION + "\n}\nfunc.func private @add_2() {\n}\n")
    assert {name: [one for one, _ in inside] for name, inside in found.items()} == {"conv_1": [(28 * 28 * 128, 9 * 64)]}


def test_measures_kernels(tmp_path):
    (tmp_path / "model.mlir").write_text(TEXT)
    found, texts = layers.measure_text(str(tmp_path / "model.mlir"), None, "1-2", 1, 3, str(tmp_path / "cache"))
    contractions = sorted(one for kernel in found for one in kernel.contractions)
    assert contractions == [(40, 32), (32 * 18 * 18, 72)]
    assert texts[((32 * 18 * 18, 72),)].startswith("conv 3x3 ") and all(kernel.us > 0 for kernel in found)
    assert any(kernel.kind == layers.POOLS for kernel in found if not kernel.contractions)


def test_reads_onnx_graphs():
    """As onnx.GraphProto has them, which the tests' environment lacks."""
    def value(name, *dims):
        return Part(name=name, dims=dims, type=Part(tensor_type=Part(shape=Part(dim=[Part(dim_value=dim) for dim in dims]))))

    def node(name, kind, operands, result, **attributes):
        return Part(name=name, op_type=kind, input=operands, output=[result], attribute=[Part(name=key, i=number) for key, number in attributes.items()])
    graph = Part(input=[value("x", 1, 64, 56, 56), value("q", 2, 12, 197, 64), value("k", 2, 12, 100, 64), value("v", 2, 12, 100, 32)],
                 output=[value("o", 2, 12, 197, 32)],
                 value_info=[value("c", 1, 40, 28, 28), value("n", 1, 40, 28, 28), value("r", 1, 40, 28, 28), value("m", 197, 300), value("a", 64, 197)],
                 initializer=[value("w", 40, 64, 3, 3), value("u", 64, 300)],
                 node=[node("conv", "Conv", ["x", "w"], "c"), node("norm", "BatchNormalization", ["c"], "n"), node("relu", "Relu", ["n"], "r"),
                       node("sum", "Add", ["r", "c2"], "s"), node("more", "Neg", ["r"], "t"), node("gemm", "Gemm", ["a", "u"], "m", transA=1),
                       node("attention", "Attention", ["q", "k", "v"], "o")])
    found = layers.onnx_contractions(graph)
    assert found["conv"] == found["n"] == found["r"] == ((40 * 28 * 28, 576),)
    assert found["s"] == found["t"] == (), "several layers read the sum"
    assert found["gemm"] == found["m"] == ((197 * 300, 64),)
    assert found["attention"] == tuple(sorted([(24 * 197 * 100, 64), (24 * 197 * 32, 100)]))


def test_puts_equal_layers_into_rows():
    big, small, scores, mixed = (1000, 64), (500, 9), (300, 16), (400, 30)
    ours = [layer("a", 30, big, calls=2), layer("b", 5, small), layer("c", 40, scores, mixed), layer("d", 3), layer("e", 2, kind=layers.POOLS)]
    peers = {"x": [layer("1", 9, big), layer("2", 11, big), layer("3", 8, small), layer("4", 10, scores), layer("5", 12, mixed), layer("6", 1), layer("7", 1),
                   layer("8", 4, (77, 7))],
             "y": [layer("1", 25, big), layer("2", 17, scores, mixed)]}
    rows = layers.table(ours, peers, {(big,): "big"})
    by_flops = {row.flops: row for row in rows if row.flops}
    assert by_flops[2 * 2 * 64000].us == {"millrace": 30, "x": 20, "y": 25} and by_flops[2 * 2 * 64000].what == "big"
    assert by_flops[2 * 4500].us == {"millrace": 5, "x": 8} and by_flops[2 * 4500].lost() == -3
    assert by_flops[2 * (4800 + 12000)].us == {"millrace": 40, "x": 22, "y": 17}
    assert {row.what: row.us for row in rows if not row.flops} == {
        layers.OTHERS: {"millrace": 3, "x": 2, "y": 0}, layers.POOLS: {"millrace": 2, "x": 0, "y": 0}, "only there: 77 results of 7 products": {"x": 4}}
    assert [row.lost() for row in rows] == sorted((row.lost() for row in rows), reverse=True) and rows[0].lost() == 23
    printed = layers.lines(rows, ["x", "y"], peak=10.0, most=1)
    assert len(printed) == 4 and "and 5 rows" in printed[2] and printed[1].split()[:3] == ["23.0", "1", "40.0"]
    assert float(printed[3].split()[2]) == pytest.approx(80)


def test_takes_the_least_of_all_rounds():
    found = layers.fastest([[layer("a", 3), layer("b", 5)], [layer("a", 4), layer("b", 2)]])
    assert [(one.name, one.us) for one in found] == [("a", 3), ("b", 2)]
