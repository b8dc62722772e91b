# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The textual form of every operation against jaxlib's StableHLO: what it prints we read and print again, and of the ways to write
an operation's types we read each that it reads."""
import re
import subprocess

import pytest

import every_op
from benchmarks import tools

pytest.importorskip("jax")
import jax._src.interpreters.mlir as jax_mlir  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.dialects import stablehlo  # noqa: E402

CONTEXT = jax_mlir.make_ir_context()
# jaxlib 0.10.2 has StableHLO 1.17, and registers no quantized types for its text.
NEWER = {"collective_broadcast_of_root", "collective_reduce"}


def jaxlib_module(text):
    """jaxlib's module, None if it does not read the text."""
    with CONTEXT, ir.Location.unknown(CONTEXT):
        try:
            return ir.Module.parse(text, CONTEXT)
        except ir.MLIRError:
            return None


def asm(module, **flags):
    # Our tools write f32 infinities and locations alike; the module's line numbers are of no interest.
    return module.operation.get_asm(**flags)


def ours(text, *flags):
    """What xla-opt prints; fails the test if it does not read the text."""
    process = subprocess.run([tools.tool("xla-opt"), *flags], input=text, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[:3000]
    return process.stdout


def functions_of(text):
    """name -> text of the functions of a printed module. MLIR 22 has two spaces before enumerations where jaxlib's has one."""
    found = {}
    for piece in re.split(r"(?m)^  (?=func\.func)", text)[1:]:
        found[re.search(r"@(\w+)", piece).group(1)] = " ".join(re.sub(r"(?m)^\}\s*\Z", "", piece).split())
    return found


@pytest.fixture(scope="module")
def known():
    """name -> jaxlib's module of each function that jaxlib reads."""
    modules = {name: jaxlib_module(text) for name, text in every_op.functions().items()}
    refused = {name for name, module in modules.items() if module is None}
    assert refused == NEWER | {name for name, text in every_op.functions().items() if "!quant" in text}
    return {name: module for name, module in modules.items() if module is not None}


@pytest.mark.parametrize("form", ["pretty", "generic"])
def test_prints_what_jaxlib_prints(known, form):
    module = jaxlib_module(every_op.together(text for name, text in every_op.functions().items() if name in known))
    flags = [] if form == "pretty" else ["--mlir-print-op-generic"]
    theirs = asm(module, print_generic_op_form=form == "generic")
    if form == "generic":
        assert ours(theirs, *flags).strip() == theirs.strip()
        return
    expected, got = functions_of(theirs), functions_of(ours(theirs))
    assert set(expected) >= set(known)
    # MLIR 22 gives variadic results names of their own; what jaxlib prints is read all the same.
    different = {name: (got[name], expected[name]) for name in expected if got[name] != expected[name]}
    assert {name: texts for name, texts in different.items() if name != "chlo_scan"} == {}


def test_jaxlib_reads_what_we_print(known):
    # jaxlib does not read the lone comma that it prints itself, and drops the property result_tilings, which came with 1.18.
    # Of chlo.scan we leave out is_reverse where it is false.
    unlike = ("dynamic_slice_of_scalar", "custom_call_of_tilings", "chlo_scan")
    text = every_op.together(text for name, text in every_op.functions().items() if name in known and name not in unlike)
    module = jaxlib_module(text)
    for flags in ([], ["--mlir-print-op-generic"]):
        again = jaxlib_module(ours(text, *flags))
        assert again is not None
        assert asm(again) == asm(module)


def spellings(line, operands, results):
    """Other ways to write the types of an operation, whose line ends with them."""
    head, _, _ = line.rpartition(" : ")
    if not head or line.endswith("{"):
        return
    yield f"{head} : ({', '.join(operands)}) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"
    for types in ([results[-1]] if results else [], operands, results, operands[:1], [*operands[:1], *results], operands[:2]):
        if types:
            yield f"{head} : {', '.join(types)}"


def test_reads_every_spelling_of_types_that_jaxlib_reads(known):
    tried, accepted = {}, {}
    for name, module in known.items():
        function = next(f for f in module.body.operations if f.OPERATION_NAME == "func.func" and f.attributes["sym_name"].value == name)
        ops = [op.operation for op in function.regions[0].blocks[0].operations]
        if len(ops) != 2 or ops[0].name.split(".")[0] not in ("stablehlo", "chlo"):
            continue
        lines = str(function).split("\n")
        operands, results = [str(v.type) for v in ops[0].operands], [str(v.type) for v in ops[0].results]
        if len(lines) != 4:
            continue  # with regions
        for spelling in dict.fromkeys(spellings(lines[1], operands, results)):
            text = "\n".join([lines[0], spelling, *lines[2:]])
            if "@identity" in text:
                text += "\n" + every_op.PRELUDE["@identity"]
            theirs = jaxlib_module(text)
            tried[text] = name
            if theirs is not None:
                accepted[text] = functions_of(asm(theirs))[name]
    assert len(accepted) > 250 and len(tried) > len(accepted) + 250
    # Names are numbered, so that one module holds all.
    numbered = [re.sub(r"@(\w+)", rf"@\1__{i}", text, count=1) for i, text in enumerate(accepted)]
    got = functions_of(ours(every_op.together(numbered)))
    for i, (text, expected) in enumerate(accepted.items()):
        assert got[f"{tried[text]}__{i}"].replace(f"__{i}", "", 1) == expected


def test_quantized_functions_through_artifacts():
    """jaxlib's text has no quantized types, its artifacts have: it prints what it reads in ours."""
    for name, text in every_op.functions().items():
        if "!quant" not in text or name in NEWER:
            continue
        process = subprocess.run([tools.tool("xla-translate"), "--serialize", "--target=1.17.0", "-"], input=text.encode(), capture_output=True)
        assert process.returncode == 0, (name, process.stderr.decode()[:500])
        with CONTEXT:
            module = stablehlo.deserialize_portable_artifact(CONTEXT, process.stdout)
        theirs = asm(module)
        assert ours(theirs).strip() == theirs.strip(), name
        assert ours(asm(module, print_generic_op_form=True)).strip() == theirs.strip(), name
