# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portable artifacts against jaxlib's reader and writer: the same bytes, the same programs; what JAX exports, old and new."""
import os
import re
import subprocess

import numpy as np
import pytest

import artifacts
import every_op
from benchmarks import tools

pytest.importorskip("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P  # noqa: E402
import jax._src.interpreters.mlir as jax_mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.dialects import stablehlo  # noqa: E402
from jaxlib.mlir.passmanager import PassManager  # noqa: E402

CONTEXT = jax_mlir.make_ir_context()
LONG = bool(os.environ.get("MILLRACE_LONG"))
# Versions on both sides of the changes of operations, and of the bytecode format.
VERSIONS = ["0.9.0", "1.4.0", "1.17.0"]
if LONG:
    VERSIONS += ["0.16.0", "1.0.0", "1.8.4", "0.10.0", "0.12.0", "0.14.0", "0.15.0", "0.18.0", "0.19.0", "0.20.0", "1.1.0", "1.3.0", "1.5.0",
                 "1.6.0", "1.9.0", "1.10.0", "1.11.0", "1.12.0", "1.13.7", "1.15.0", "1.16.0"]


def programs():
    folders = [os.path.join(artifacts.LIT, "dialects", "stablehlo"), os.path.join(artifacts.LIT, "passes", "vhlo"),
               os.path.join(tools.ROOT, "benchmarks", "model")]
    if LONG:
        folders += [os.path.join(artifacts.LIT, "passes", name) for name in ("simplify", "fusion", "chlo", "loops")]
        folders += [artifacts.CONFORMANCE]
    found = {name: text for folder in folders for name, text in artifacts.text_programs(folder).items()}
    # jaxlib aborts when it prints dimension numbers that no convolution has.
    return {name: text for name, text in found.items() if "conv<raw" not in text}


def jaxlib_module(text, strip=True):
    with CONTEXT, ir.Location.unknown(CONTEXT):
        module = ir.Module.parse(text, CONTEXT)
        if strip:
            PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
        return module


def jaxlib_serialize(text, version, mixed=False, strip=True):
    """jaxlib's artifact, None if it has none."""
    try:
        return stablehlo.serialize_portable_artifact(jaxlib_module(text, strip), version, mixed)
    except (ValueError, ir.MLIRError):
        return None


def jaxlib_text(artifact):
    """What jaxlib reads in the artifact, spelled as our tools spell it."""
    # With locations: the short form of reduce depends on them.
    module = stablehlo.deserialize_portable_artifact(CONTEXT, artifact)
    text = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)
    process = subprocess.run([tools.tool("xla-opt"), "--allow-unregistered-dialect"], input=text, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[:2000]
    return process.stdout.strip()


def our_text(artifact):
    process = artifacts.translate("--deserialize", code=artifact)
    assert process.returncode == 0, process.stderr.decode()[:2000]
    return process.stdout.decode().strip()


def newer_forms(theirs, ours):
    """Operations that jaxlib left in a newer form than that in which ours has them."""
    found = [sorted((int(form), name) for name, form in re.findall(rb"([a-z_]+)_v(\d+)", artifact)) for artifact in (theirs, ours)]
    newest = [{name: form for form, name in names} for names in found]
    return [name for name, form in newest[0].items() if form > newest[1].get(name, form)]


@pytest.mark.parametrize("version", VERSIONS)
def test_writes_the_bytes_that_jaxlib_writes(version):
    names, texts = zip(*programs().items())
    ours = artifacts.in_parallel(
        lambda text: artifacts.translate("--serialize", "--strip-debuginfo", f"--target={version}", code=text), texts)
    same, wrong = 0, []
    for name, text, process in zip(names, texts, ours):
        theirs = jaxlib_serialize(text, version)
        if theirs is None:
            continue  # what jaxlib does not know (quant in text, tests' own dialects) or the version cannot say
        # Inside of a scatter that it rewrites, for versions before 1.1, jaxlib leaves operations in their new form (sine_v2, tanh_v2):
        # no reader of that version could read it.
        if "stablehlo.scatter" in text and newer_forms(theirs, process.stdout):
            continue
        same += process.returncode == 0 and process.stdout == theirs
        if process.returncode != 0 or process.stdout != theirs:
            wrong.append(f"{name}: {process.stderr.decode()[:300] or 'other bytes'}")
    print(f"{same} of {len(names)} programs identical, jaxlib refuses the rest")
    assert not wrong, "\n".join(wrong)
    assert same >= 45


#===-- Every operation, attribute and type, for every version -------------===#

# jaxlib 0.10.2 takes result_tilings, which came with 1.18, for an attribute of nobody and drops it, lets chlo.constant pass as
# stablehlo.constant, and does not refuse the futures in custom_call that came with 1.17 to older versions. A mesh is an operation of sdy.
NOT_COMPARED = ("custom_call_of_tilings", "chlo_constant", "custom_call_of_future")
MINORS = [f"0.{minor}.0" for minor in range(9, 21)] + [f"1.{minor}.0" for minor in range(18)]


@pytest.fixture(scope="module")
def every_function():
    """name -> (text, jaxlib's module without locations); what has quantized types comes to jaxlib in an artifact."""
    found = {}
    for name, text in every_op.functions().items():
        if "@mesh" in text or name in NOT_COMPARED:
            continue
        try:
            if "!quant" in text:
                code = artifacts.translate("--serialize", "--strip-debuginfo", "--target=1.17.0", code=text).stdout
                with CONTEXT:
                    module = stablehlo.deserialize_portable_artifact(CONTEXT, code)
            else:
                module = jaxlib_module(text)
        except ir.MLIRError:
            continue  # newer than jaxlib
        found[name] = (text, module)
    return found


def module_bytes(module, version):
    try:
        return stablehlo.serialize_portable_artifact(module, version)
    except (ValueError, ir.MLIRError):
        return None


@pytest.mark.parametrize("version", MINORS)
def test_writes_every_operation_as_jaxlib_does(version, every_function):
    """All functions that the version can say in one file, which takes one process; if it has other bytes, each alone."""
    sayable = {name: (text, theirs) for name, (text, module) in every_function.items() if (theirs := module_bytes(module, version))}
    flags = ["--serialize", "--strip-debuginfo", f"--target={version}"]
    plain = {name: text for name, (text, _) in sayable.items() if "!quant" not in text}
    everything = every_op.together(plain.values())
    process = artifacts.translate(*flags, code=everything)
    same = process.returncode == 0 and process.stdout == jaxlib_serialize(everything, version)
    alone = [name for name in sayable if not same or name not in plain]
    written = artifacts.in_parallel(lambda name: artifacts.translate(*flags, code=sayable[name][0]), alone)
    wrong = [f"{name}: {ours.stderr.decode()[:300] or 'other bytes'}" for name, ours in zip(alone, written)
             if ours.returncode != 0 or ours.stdout != sayable[name][1]]
    assert not wrong, "\n".join(wrong)
    assert same, process.stderr.decode()[:2000] or "every function alone has jaxlib's bytes, but all of them together have not"
    assert len(sayable) >= 240


@pytest.mark.parametrize("version", ["0.9.0", "1.17.0"])
def test_reads_the_programs_that_jaxlib_reads(version):
    written = {name: jaxlib_serialize(text, version) for name, text in programs().items()}
    written = {name: artifact for name, artifact in written.items() if artifact}
    theirs = artifacts.in_parallel(jaxlib_text, written.values())
    ours = artifacts.in_parallel(our_text, written.values())
    assert [name for name, a, b in zip(written, ours, theirs) if a != b] == []
    assert len(written) >= 45


def test_jaxlib_reads_ours_and_writes_them_again():
    """The other direction, for what jaxlib's text parser does not take: quantized types."""
    text = """func.func @f(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:4}>>, %y: tensor<2x!quant.uniform<u8:f32, 0.5>>)
        -> tensor<2x!quant.uniform<u8:f32, 0.5>> { %0 = stablehlo.add %y, %y : tensor<2x!quant.uniform<u8:f32, 0.5>>
        %1 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:4}>>) -> tensor<2xf32>
        %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> tensor<2x!quant.uniform<u8:f32, 0.5>>
        return %2 : tensor<2x!quant.uniform<u8:f32, 0.5>> }"""
    for version in ("0.18.0", "1.17.0"):
        artifact = artifacts.translate("--serialize", "--strip-debuginfo", f"--target={version}", code=text).stdout
        with CONTEXT:
            module = stablehlo.deserialize_portable_artifact(CONTEXT, artifact)
            assert stablehlo.serialize_portable_artifact(module, version) == artifact


#===-- What JAX exported over the years ----------------------------------===#

def test_back_compat_modules_are_read_and_written_as_jaxlib_does():
    modules = artifacts.back_compat_modules()
    assert len(modules) >= 136
    texts = artifacts.in_parallel(lambda m: our_text(m.artifact), modules.values())
    # Variants of one program for other types are alike: every third is compared unless there is time.
    compared = list(zip(modules, texts, modules.values()))[::1 if LONG else 3]
    theirs = artifacts.in_parallel(lambda entry: jaxlib_text(entry[2].artifact), compared)
    assert [name for (name, text, _), wanted in zip(compared, theirs) if text != wanted] == []
    again = artifacts.in_parallel(
        lambda entry: artifacts.translate("--serialize", "--allow-other-dialects", "--strip-debuginfo", "--target=1.17.0",
                                          code=entry[1]).stdout, compared)
    other = [name for (name, text, _), a in zip(compared, again) if a != jaxlib_serialize(text, "1.17.0", mixed=True)]
    assert other == []


# Vectors that belong to eigenvalues are unique up to a factor; what follows from it differs between LAPACK libraries.
NOT_UNIQUE = ("geev", "syev", "gees")
RUNNABLE = {name: module for name, module in artifacts.back_compat_modules().items()
            if module.platform == "cpu" and all(target.startswith("lapack_") for target in module.targets)
            and (LONG or name.endswith(("f32", "c128")))}


def test_back_compat_modules_to_run_are_found():
    assert len(RUNNABLE) >= 20


@pytest.mark.parametrize("name", sorted(RUNNABLE))
def test_back_compat_module_runs(name, tmp_path):
    module = RUNNABLE[name]
    results, message = artifacts.run(module.artifact, module.inputs, tmp_path, name)
    assert results is not None, message
    expected = [np.asarray(output) for output in module.outputs]
    assert [r.shape for r in results] == [e.shape for e in expected]
    for result, want in zip(results, expected):
        if any(kind in name for kind in NOT_UNIQUE):
            if want.ndim == 1:  # eigenvalues, in any order
                np.testing.assert_allclose(np.sort_complex(result), np.sort_complex(want), rtol=1e-3, atol=1e-3)
        else:
            np.testing.assert_allclose(result, want, rtol=1e-3, atol=1e-3)


#===-- What JAX exports today, with shardings ----------------------------===#

MESH = AbstractMesh((4, 2), ("x", "y"))


def sharding(*axes):
    return NamedSharding(MESH, P(*axes))


def constraints(x, w):
    y = lax.with_sharding_constraint(x @ w, sharding("x", "y"))
    z = lax.with_sharding_constraint(jnp.sin(y), sharding(None, "y"))
    return jnp.sum(z * y, axis=0)


def constraints_of_one_value(x):
    y = jnp.sin(x)
    parts = [lax.with_sharding_constraint(y, sharding(*axes)) for axes in (("x",), (None, "y"), ("y",))]
    return sum(parts) + y + y


def manual(x):
    return jax.shard_map(lambda b: lax.psum(b * 2, "x") + lax.axis_index("y"), mesh=MESH, in_specs=P("x", "y"),
                         out_specs=P(None, "y"))(x)


def manual_of_two(a, b):
    inner = jax.shard_map(lambda u, v: (u + v, u), mesh=MESH, in_specs=(P("x"), P("x")), out_specs=(P("x"), P("x")))
    return inner(a, b), a * b


def gradient(x):
    inner = jax.shard_map(lambda a: jnp.sin(a) * lax.psum(jnp.sum(a), ("x", "y")), mesh=MESH, in_specs=P("x", "y"),
                          out_specs=P("x", "y"))
    return jax.grad(lambda x: jnp.sum(inner(x) ** 2))(x)


def loops(x):
    x = lax.while_loop(lambda c: c[0] < 3,
                       lambda c: (c[0] + 1, lax.with_sharding_constraint(jnp.tanh(c[1]), sharding("x", None))), (0, x))[1]
    return lax.scan(lambda c, t: (lax.with_sharding_constraint(c + t, sharding(None)), c * t), x[0], x)


SHARDED = {"constraints": (constraints, 2), "constraints_of_one_value": (constraints_of_one_value, 1), "manual": (manual, 1),
           "manual_of_two": (manual_of_two, 2), "gradient": (gradient, 1), "loops": (loops, 1)}


@pytest.mark.parametrize("name", sorted(SHARDED))
def test_mixed_artifact(name):
    function, arity = SHARDED[name]
    arguments = [jax.ShapeDtypeStruct((8, 8), jnp.float32)] * arity
    jitted = jax.jit(function, in_shardings=(sharding("x"),) * arity)
    module = jitted.trace(*arguments).lower(lowering_platforms=("cpu",)).compiler_ir()
    # With locations: those of casts are ours to choose.
    text = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)
    for version in ("1.13.7", "1.17.0"):
        theirs = jaxlib_serialize(text, version, mixed=True, strip=False)
        process = artifacts.translate("--serialize", "--allow-other-dialects", f"--target={version}", code=text)
        assert process.stdout == theirs, process.stderr.decode()[:2000]
    exported = jax.export.export(jitted)(*arguments).mlir_module_serialized
    assert our_text(exported) == jaxlib_text(exported)
    refused = artifacts.translate("--serialize", "--target=1.17.0", code=text)
    assert refused.returncode != 0 and b"allow-other-dialects" in refused.stderr


def test_what_a_newer_version_writes_is_refused_by_name(tmp_path):
    """What the reader does not know is named by MLIR; that the file is from a newer version is the explanation."""
    artifact = jaxlib_serialize("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                                "  %0 = stablehlo.tanh %x : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}", "1.4.0")
    path = tmp_path / "new.mlirbc"
    path.write_bytes(artifact)
    run = [tools.tool("xla-run"), str(path)]
    assert subprocess.run(run, capture_output=True).returncode == 0
    path.write_bytes(artifact.replace(b"StableHLO_v1.4.0", b"StableHLO_v1.9.9"))
    assert subprocess.run(run, capture_output=True).returncode == 0, "another version that says nothing new is read"
    path.write_bytes(artifact.replace(b"StableHLO_v1.4.0", b"StableHLO_v9.4.0").replace(b"tanh_v1", b"tanh_v7"))
    for command in (run, [tools.tool("xla-translate"), "--interpret", str(path)]):
        refused = subprocess.run(command, capture_output=True, text=True)
        assert refused.returncode == 1 and "vhlo.tanh_v7" in refused.stderr
        assert "written for StableHLO 9.4.0, this reader knows versions up to 1." in refused.stderr
