# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes under Shardy's names against jaxlib's copy of Shardy, which runs them in this process: the same module comes out."""
import re
import subprocess

import pytest

from benchmarks import tools

pytest.importorskip("jax")
import jax._src.interpreters.mlir as jax_mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.passmanager import PassManager  # noqa: E402

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>\n'

PROGRAMS = {
    "sum": MESH + """
        func.func @main(%arg0: tensor<16x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>})
            -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
          %0 = stablehlo.constant dense<0.0> : tensor<f32>
          %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<16x4x8xf32>, tensor<f32>) -> tensor<16x8xf32>
          %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
          return %2 : tensor<16x8xf32>
        }""",
    "back_and_forth": MESH + """
        func.func @main(%arg0: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
            -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
          %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"x"}]> : tensor<16x4xf32>
          %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]> : tensor<16x4xf32>
          return %1 : tensor<16x4xf32>
        }""",
    "two_exchanges": MESH + """
        func.func @main(%arg0: tensor<8x4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>})
            -> (tensor<8x4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {"y"}]>}) {
          %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}, {"x"}, {}]> : tensor<8x4x8x4xf32>
          %1 = sdy.reshard %0 <@mesh, [{}, {}, {"x"}, {"y"}]> : tensor<8x4x8x4xf32>
          return %1 : tensor<8x4x8x4xf32>
        }""",
    "pending_product": MESH + """
        func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", "z"}]>},
                        %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "z"}, {}]>})
            -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
          %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
            {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y", "z"}>]>} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
          %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}], unreduced={"z"}>]>} : tensor<8x16xf32>
          return %1 : tensor<8x16xf32>
        }""",
    "gathered_product": MESH + """
        func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                        %arg1: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
            -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
          %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
            {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
          return %0 : tensor<8x16xf32>
        }""",
    "constraints": MESH + """
        func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>})
            -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
          %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
          %2 = stablehlo.sine %0 : tensor<8x8xf32>
          %3 = sdy.sharding_constraint %2 <@mesh, [{}, {?}]> : tensor<8x8xf32>
          %4 = sdy.sharding_constraint %arg0 <@mesh, [{"z"}, {"y"}]> : tensor<8x8xf32>
          %5 = stablehlo.add %3, %4 : tensor<8x8xf32>
          return %1, %5 : tensor<8x8xf32>, tensor<8x8xf32>
        }""",
    "manual": MESH + """
        func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
          %1 = sdy.manual_computation(%0, %arg0) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x", ?}, {"z"}]>]
              out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
            %2 = stablehlo.add %a, %b : tensor<4x8xf32>
            sdy.return %2 : tensor<4x8xf32>
          } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          %3 = stablehlo.sine %0 : tensor<8x8xf32>
          %4 = sdy.sharding_constraint %3 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
          %5 = sdy.sharding_constraint %4 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
          %6 = stablehlo.add %3, %1 : tensor<8x8xf32>
          %7 = sdy.sharding_constraint %6 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
          return %7 : tensor<8x8xf32>
        }""",
}

COLLECTIVES = "sdy-export-pipeline{enable-insert-explicit-collectives=true"
PIPELINES = {
    "export": "sdy-export-pipeline",
    "collectives": COLLECTIVES + "}",
    "without_products": COLLECTIVES + " remove-all-gather-reduce-scatter-for-cmv1=true}",
    "again": "sdy-export-pipeline{avoid-export-for-partitioning=true}",
    "origins": "sdy-add-data-flow-edges,sdy-apply-sharding-constraints{debug-sharding-origins=true},"
               "sdy-aggressive-propagate{debug-sharding-origins=true},sdy-sink-data-flow-edges{sink-debug-sharding-origins=true}",
    "steps": "sdy-add-data-flow-edges,sdy-apply-sharding-constraints{debug-propagation-edge-sharding=true},"
             "sdy-aggressive-propagate{debug-propagation-edge-sharding=true},sdy-sink-data-flow-edges{sink-debug-propagation-edge-sharding=true}",
    "propagation": "sdy-propagation-pipeline",
}
# Passes that run on functions there.
ON_FUNCTIONS = ("sdy-sink-data-flow-edges",)


def ours(source, pipeline):
    flags = []
    for one in re.findall(r"[^,{}]+(?:\{[^}]*\})?", pipeline):
        name, _, options = one.rstrip("}").partition("{")
        # This jaxlib is older than the pass.
        if name == "sdy-export-pipeline":
            options += " disable-split-resharding-dimensions=true"
        flags.append(f"--{name}={options}" if options else f"--{name}")
    run = subprocess.run([tools.tool("xla-opt"), "-", *flags], input=source, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def theirs(source, pipeline):
    for name in ON_FUNCTIONS:
        pipeline = re.sub(name + r"(\{[^}]*\})?", lambda match: f"func.func({match[0]})", pipeline)
    context = jax_mlir.make_ir_context()
    context.enable_multithreading(False)  # a diagnostic from another thread would wait for this one's lock
    with context:
        module = ir.Module.parse(source)
        PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
        # A copy of the mesh that JAX wants to see beside it.
        return re.sub(r" \{stablehlo\.mesh = .*\}$", "", module.operation.get_asm(), flags=re.M) + "\n"


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_module(name, pipeline):
    assert ours(PROGRAMS[name], PIPELINES[pipeline]) == theirs(PROGRAMS[name], PIPELINES[pipeline])
