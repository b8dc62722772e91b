# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sdy dialect against jaxlib's copy: the same text, bytecode that each reads of the other, the same objections; and what Shardy's
debugging says of where axes come from."""
import io
import re
import subprocess

import pytest

from benchmarks import tools

pytest.importorskip("jax")
import jax._src.interpreters.mlir as jax_mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>\n'

PROGRAMS = {
    "meshes": """
        sdy.mesh @empty = <[]>
        sdy.mesh @single = <[], device_ids=[3]>
        sdy.mesh @one = <["a"=1]>
        sdy.mesh @in_order = <["a"=2, "b"=2], device_ids=[0, 1, 2, 3]>
        sdy.mesh @permuted = <["a"=2, "b b"=2], device_ids=[0,2,1,3]>""",
    "shardings": MESH + """
        func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {"b":(1)2}], replicated={"c"}>},
                     %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{}, {?}p2]>}) {
          %0 = sdy.sharding_constraint %arg0 <@mesh, [{"c"}, {?}], unreduced={"a"}, replicated={"b"}> : tensor<8x8xf32>
          %1 = sdy.reshard %0 <@mesh, [{"b":(2)2, "a"}, {"b":(1)2}p0]> : tensor<8x8xf32>
          sdy.sharding_group %1 group_id=5 : tensor<8x8xf32>
          %2 = sdy.constant dense<1.0> : tensor<8x8xf32>
          %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8x8xf32>
          %4 = sdy.func_data_flow_edge %arg1 : tensor<f32>
          return %3 : tensor<8x8xf32>
        }""",
    "collectives": MESH + """
        func.func @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = sdy.all_slice [{"a", "b"}, {}] %arg0 out_sharding=<@mesh, [{"a", "b"}, {}]> : tensor<8x8xf32>
          %1 = sdy.all_to_all [{"b":(2)2}: 0->1] %0 out_sharding=<@mesh, [{"a", "b":(1)2}, {"b":(2)2}]> : tensor<8x8xf32>
          %2 = sdy.all_gather [{"b":(1)2}, {"b":(2)2}] %1 out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
          %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
          %4 = sdy.all_reduce {"a"} %3 out_sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
          %5 = sdy.reduce_scatter [{"a"}, {}] %4 out_sharding=<@mesh, [{"c", "a"}, {}]> : tensor<8x8xf32>
          %6 = sdy.replicated_to_unreduced {"b"} %5 out_sharding=<@mesh, [{"c", "a"}, {}], unreduced={"b"}> : tensor<8x8xf32>
          %7 = sdy.sharded_to_unreduced [{"a"}, {}] %6 out_sharding=<@mesh, [{"c"}, {}], unreduced={"a", "b"}> : tensor<8x8xf32>
          return %7 : tensor<8x8xf32>
        }""",
    "regions": MESH + """
        func.func @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {}]>]
              manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
            %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{}, {"b"}]>] out_shardings=[<@mesh, [{}, {"b"}]>]
                manual_axes={"b"} (%arg2: tensor<4x2xf32>) {
              sdy.return %arg2 : tensor<4x2xf32>
            } : (tensor<4x8xf32>) -> tensor<4x8xf32>
            sdy.return %1 : tensor<4x8xf32>
          } : (tensor<8x8xf32>) -> tensor<8x8xf32>
          sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
            sdy.return
          } : () -> ()
          %1:2 = sdy.named_computation<"g">(%0, %0) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>]
              out_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>] (%arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>) {
            sdy.return %arg1, %arg2 : tensor<8x8xf32>, tensor<8x8xf32>
          } : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
          %2 = sdy.data_flow_edge %1#0 sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
          return %2 : tensor<8x8xf32>
        }""",
    "attributes": """
        module attributes {test.a = #sdy<manual_axes{"a"}>, test.b = #sdy<axis_ref"a":(1)2>, test.e = #sdy<axis_ref_list{"a", "b"}>,
          test.c = #sdy<dimension_sharding{"a",?}p1>, test.d = #sdy<list_of_axis_ref_lists[{"a"}, {}]>,
          test.f = #sdy<tensor_mapping[i, jk]>, test.g = #sdy<all_to_all_param_list[{"a"}: 0->1, {"b"}: 2->3]>,
          test.h = #sdy<sub_axis_info(1)2>, test.i = #sdy<mesh_axis"a"=2>, test.l = #sdy.mesh<["a"=2], device_ids=[1, 0]>,
          test.j = #sdy.sharding_per_value<[<@m, [{}], unreduced={"b"}>, <@m, []>]>,
          test.k = #sdy.op_sharding_rule<([ij,kl])->([i,jk,z_1]) {i=4,j=2,k=1,l=8} reduction={l} need_replication={k} permutation={i} blocked_propagation={i,j}>,
          test.n = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>} {}""",
}

# Both must refuse, for the same reason.
REFUSED = {
    "axis_size": 'sdy.mesh @m = <["a"=0]>',
    "duplicate": 'sdy.mesh @m = <["a"=2, "a"=2]>',
    "ids": 'sdy.mesh @m = <["a"=2, "b"=2], device_ids=[0, 1, 2, 4]>',
    "ids_without_axes": 'sdy.mesh @m = <[], device_ids=[1, 0]>',
    "rank": MESH + 'func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) { return }',
    "unknown_axis": MESH + 'func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { return }',
    "overlap": MESH + 'func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}], replicated={"b":(1)2}>}) { return }',
    "priority": MESH + 'func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p01]>}) { return }',
    "not_divisible": MESH + """func.func @f(%x: tensor<9xf32>) {
        sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[] manual_axes={"a"} (%y: tensor<4xf32>) {
          sdy.return
        } : (tensor<9xf32>) -> ()
        return }""",
    "gather": MESH + """func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
        %0 = sdy.all_gather [{"b"}] %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
        return }""",
}


def ours(source, *flags, check=True):
    """Standard output and standard error of xla-opt."""
    source = source.encode() if isinstance(source, str) else source
    run = subprocess.run([tools.tool("xla-opt"), "-", *flags], input=source, capture_output=True)
    assert run.returncode == 0 or not check, run.stderr.decode()
    return run.stdout, run.stderr.decode()


def theirs(source):
    with jax_mlir.make_ir_context():
        return ir.Module.parse(source).operation.get_asm() + "\n"


def their_bytecode(source):
    with jax_mlir.make_ir_context():
        out = io.BytesIO()
        ir.Module.parse(source).operation.write_bytecode(out)
        return out.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_text(name):
    assert ours(PROGRAMS[name])[0].decode() == theirs(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_read_our_bytecode(name):
    assert theirs(ours(PROGRAMS[name], "--emit-bytecode")[0]) == theirs(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_we_read_their_bytecode(name):
    assert ours(their_bytecode(PROGRAMS[name]))[0].decode() == theirs(PROGRAMS[name])


@pytest.mark.parametrize("name", REFUSED)
def test_same_objection(name):
    ours_says = ours(REFUSED[name], check=False)[1]
    with pytest.raises(Exception) as refusal:
        theirs(REFUSED[name])
    message = re.search(r'error: (?:"-":\d+:\d+: )?(.*)', str(refusal.value)).group(1)
    message = message.removeprefix("custom op 'sdy.mesh' ")  # a prefix that depends on how the parser is generated
    assert message.strip() in ours_says


MAXIMUM = MESH + """
    func.func @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = sdy.all_reduce max {"a"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
      %1 = sdy.reduce_scatter min [{"a"}, {}] %0 out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }"""


def test_other_reductions_than_sums():
    """This jaxlib knows sums only: it must refuse a file with others instead of adding up. We read what we write."""
    text, bytecode = ours(MAXIMUM)[0].decode(), ours(MAXIMUM, "--emit-bytecode")[0]
    assert "sdy.all_reduce max {" in text and "sdy.reduce_scatter min [" in text
    assert ours(bytecode)[0].decode() == text
    with pytest.raises(Exception, match="TensorShardingAttr"):
        theirs(bytecode)


# One @main each: what gives an axis first, and who counts as having annotated it.
ORIGINS = {
    "result_before_argument": """
        func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {?}]>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}) {
          %0 = stablehlo.add %x, %x : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }""",
    "part_grows": """
        func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", ?}]>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b":(1)2, ?}]>}) {
          %0 = stablehlo.add %x, %x : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }""",
    "constrained_argument": """
        func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", ?}, {?}]>}) -> tensor<8x8xf32> {
          %0 = sdy.sharding_constraint %x <@mesh, [{?}, {"a"}]> : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }""",
    "applied_constraint": """
        func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = stablehlo.add %x, %y : tensor<8x8xf32>
          %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {"b"}]> : tensor<8x8xf32>
          return %1 : tensor<8x8xf32>
        }""",
    "manual_axes": """
        func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = stablehlo.negate %x : tensor<8x8xf32>
          %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"a", ?}, {"b", ?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>]
              manual_axes={"a"} (%y: tensor<4x8xf32>) {
            %2 = stablehlo.add %y, %y : tensor<4x8xf32>
            sdy.return %2 : tensor<4x8xf32>
          } : (tensor<8x8xf32>) -> tensor<8x8xf32>
          return %1 : tensor<8x8xf32>
        }""",
    "nested_manual": """
        func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>]
              manual_axes={"a"} (%y: tensor<4x8xf32>) {
            %1 = sdy.manual_computation(%y) in_shardings=[<@mesh, [{?}, {"b", ?}]>] out_shardings=[<@mesh, [{?}, {"b", ?}]>]
                manual_axes={"b"} (%z: tensor<4x2xf32>) {
              sdy.return %z : tensor<4x2xf32>
            } : (tensor<4x8xf32>) -> tensor<4x8xf32>
            sdy.return %1 : tensor<4x8xf32>
          } : (tensor<8x8xf32>) -> tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }""",
    "returned_twice": """
        func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>},
                                                 tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {?}]>}) {
          return %x, %x : tensor<8x8xf32>, tensor<8x8xf32>
        }""",
    "loop": """
        func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}, %n: tensor<i32>)
            -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", ?}]>}) {
          %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<8x4xf32>
          cond {
            %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %1 : tensor<i1>
          } do {
            %1 = stablehlo.add %y, %y : tensor<8x4xf32>
            stablehlo.return %i, %1 : tensor<i32>, tensor<8x4xf32>
          }
          return %0#1 : tensor<8x4xf32>
        }""",
    "merged_parts": """
        func.func @main(%x: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b":(1)2, ?}, {"b":(2)2, ?}]>}) -> tensor<8xf32> {
          %0 = stablehlo.reshape %x : (tensor<2x4xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }""",
    "conflict": """
        func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {?}]>},
                        %w: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", "c"}]>}) -> tensor<8x16xf32> {
          %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
          return %0 : tensor<8x16xf32>
        }""",
}


OPTIONS = {"debug-sharding-origins", "debug-propagation-edge-sharding"}


# jaxlib's verifier refuses its own edges of loops, whose nodes have two operands.
@pytest.mark.parametrize("name, option", [(name, option) for name in ORIGINS for option in sorted(OPTIONS)
                                          if (name, option) != ("loop", "debug-propagation-edge-sharding")])
def test_same_origins(name, option):
    from jaxlib.mlir import passmanager
    pipeline = ("builtin.module(sdy-add-data-flow-edges,sdy-apply-sharding-constraints,sdy-aggressive-propagate{%s=true},"
                "func.func(sdy-sink-data-flow-edges{sink-%s=true sink-%s=false}))" % (option, option, *(OPTIONS - {option})))
    context = jax_mlir.make_ir_context()
    context.enable_multithreading(False)  # a diagnostic of another thread would wait for this one
    with context:
        module = ir.Module.parse(MESH + ORIGINS[name])
        passmanager.PassManager.parse(pipeline).run(module.operation)
        want = module.operation.get_asm()
    attribute = "origin" if option == "debug-sharding-origins" else "propagation_edges"
    assert attribute in want
    # Ours is a pass of functions.
    have = ours(MESH + ORIGINS[name], "-pass-pipeline=" + pipeline)[0].decode()
    # Both in one spelling: printers differ by spaces.
    assert have == ours(want)[0].decode()
