# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HLO text that we write: XLA's parser accepts it, XLA's own conversion gives the same instructions, and XLA:CPU computes
the same values from it."""
import glob
import os
import re

import numpy as np
import pytest

from benchmarks import tools
import hlo_text

jax = pytest.importorskip("jax")
ml_dtypes = pytest.importorskip("ml_dtypes")

CONFORMANCE = os.path.join(tools.ROOT, "test", "conformance", "programs")
LIT = os.path.join(tools.ROOT, "lit", "lowering", "hlo")
PROGRAMS = 984
# The rest differ by what XLA folds while converting (constants, iota, chlo functions), and one by integers that go into a product as they are;
# fewer means another difference of ours.
SAME_AS_XLA = 874

# What HLO has no form for: run-time shapes, quantized types, a reduction to one member.
INEXPRESSIBLE = {"collective_reduce", "dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota", "dynamic_pad",
                 "real_dynamic_slice", "uniform_quantize", "uniform_dequantize"}


@pytest.fixture(scope="module")
def conformance():
    """{file name: (StableHLO, HLO text)}."""
    names = sorted(name for name in os.listdir(CONFORMANCE) if name.endswith(".mlir"))
    modules = []
    for name in names:
        with open(os.path.join(CONFORMANCE, name)) as file:
            modules.append(file.read())
    texts = []
    for start in range(0, len(modules), 100):
        batch, messages = hlo_text.export(modules[start:start + 100])
        assert None not in batch, messages[-2000:]
        texts += batch
    return dict(zip(names, zip(modules, texts)))


def lit_modules():
    for path in sorted(glob.glob(os.path.join(LIT, "*.mlir"))):
        if not path.endswith("invalid.mlir"):
            with open(path) as file:
                for index, module in enumerate(file.read().split(hlo_text.SPLIT)):
                    yield f"{os.path.basename(path)}:{index}", module


def test_parser_accepts_every_program(conformance):
    assert len(conformance) == PROGRAMS
    for name, (_, text) in conformance.items():
        assert hlo_text.parse(text), name


def test_same_instructions_as_xla(conformance):
    same = sum(hlo_text.digest(hlo_text.parse(text)) == hlo_text.digest(hlo_text.convert_by_xla(module))
               for module, text in conformance.values())
    assert same >= SAME_AS_XLA, f"{same} of {len(conformance)} programs are what XLA's converter makes of them"


def test_digest_tells_modules_apart():
    module = """func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {{
      %0 = stablehlo.{} %x, %y : tensor<2xf32>
      return %0 : tensor<2xf32>
    }}"""
    digests = {hlo_text.digest(hlo_text.convert_by_xla(module.format(op))) for op in ("add", "subtract", "divide")}
    assert len(digests) == 3
    texts, _ = hlo_text.export([module.format("divide")])
    assert hlo_text.digest(hlo_text.parse(texts[0])) == hlo_text.digest(hlo_text.convert_by_xla(module.format("divide")))


def test_parser_accepts_every_operation():
    """The lit tests hold every operation but those that HLO cannot express."""
    names, modules = zip(*lit_modules())
    texts, messages = hlo_text.export(modules)
    used = set()
    for name, module, text in zip(names, modules, texts):
        assert text is not None, f"{name}: {messages[-2000:]}"
        assert hlo_text.parse(text), name
        used.update(re.findall(r"stablehlo\.([a-z][\w-]*)", re.sub(r"//.*|#stablehlo\.\w+|!stablehlo\.\w+", "", module)))
    known = set()
    for path in glob.glob(os.path.join(tools.ROOT, "dialects", "stablehlo", "*Ops.td")):
        with open(path) as file:
            known.update(re.findall(r'^def StableHLO_\w+Op : StableHLO_\w+<"([\w-]+)"', file.read(), re.M))
    assert len(known) > 110
    assert known - used == INEXPRESSIBLE


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz",
                                  "float8_e5m2fnuz", "float8_e4m3", "float8_e3m4", "float32", "float64", "complex64", "complex128"])
def test_literals_keep_their_bits(kind):
    """Every 8- and 16-bit pattern, and edges and random patterns of the wider types, through text, parser and XLA:CPU."""
    dtype = np.dtype(getattr(ml_dtypes, kind, None) or kind)
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    bits = np.dtype(f"u{part.itemsize}")
    if part.itemsize <= 2:
        patterns = np.arange(1 << (8 * part.itemsize), dtype=bits)
    else:
        rng = np.random.default_rng(0)
        top = np.iinfo(bits).max
        patterns = np.concatenate([rng.integers(0, top, 4096, dtype=bits, endpoint=True), np.arange(16, dtype=bits),
                                   np.array([0, top, top // 2 + 1], bits),  # zeros of both signs
                                   np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e16, -2.0 ** 63, 0.1], part).view(bits)])
        patterns = patterns[:len(patterns) // 2 * 2]
    values = patterns.view(part)
    if dtype.kind == "c":
        values = values.view(dtype)
    spelled = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "complex<f32>",
               "complex128": "complex<f64>"}.get(kind) or "f" + kind[5:].upper().replace("_", "")
    type_text = f"tensor<{len(values)}x{spelled}>"
    module = f"""func.func @main() -> {type_text} {{
      %0 = stablehlo.constant dense<"0x{values.tobytes().hex().upper()}"> : {type_text}
      return %0 : {type_text}
    }}"""
    texts, messages = hlo_text.export([module])
    assert texts[0] is not None, messages
    jax.config.update("jax_enable_x64", True)
    got = hlo_text.run_on_xla(texts[0])[0]
    assert got.dtype == dtype
    same = got.view(part).view(bits) == patterns
    with np.errstate(invalid="ignore"):
        nan = np.isnan(values.view(part).astype(np.float64)) & np.isnan(got.view(part).astype(np.float64))
    # Types with one NaN have one text for it, whatever its bits.
    assert np.all(same | nan), [(hex(p), g) for p, g in zip(patterns[~(same | nan)], got.view(part)[~(same | nan)])][:8]
    if kind in ("float16", "bfloat16", "float32", "float64"):
        assert np.all(same), [hex(p) for p in patterns[~same]][:8]


CHECK = re.compile(r"stablehlo\.custom_call @check\.(\w+)\((%[\w#]+), (%[\w#]+)\) \{[^}]*\} : \((.*)\) -> \(\)\n")


def returning_what_it_checks(module):
    """@main gives the operands of its (one) check instead of calling it."""
    check, actual, expected, types = CHECK.search(module).groups()
    module = CHECK.sub("\n", module)
    start = module.index("func.func public @main")
    end = module.index("\n  }", start)
    body = re.sub(r"\n    return [^\n]*", f"\n    return {actual}, {expected} : {types}", module[start:end])
    body = re.sub(r"-> .*? \{\n", f"-> ({types}) {{\n", body, count=1, flags=re.S)
    return check, module[:start] + body + module[end:]


def test_values_of_xla_are_those_expected(conformance):
    """One program in ten, compiled by XLA:CPU from our text. Our own compiler reproduces what they expect (conformance)."""
    names = sorted(name for name, (module, _) in conformance.items() if len(CHECK.findall(module)) == 1)[::10]
    assert len(names) > 90
    checks, modules = zip(*(returning_what_it_checks(conformance[name][0]) for name in names))
    texts, messages = hlo_text.export(modules)
    jax.config.update("jax_enable_x64", True)
    for name, check, text in zip(names, checks, texts):
        assert text is not None, f"{name}: {messages[-2000:]}"
        actual, expected = hlo_text.run_on_xla(text)
        assert actual.shape == expected.shape and actual.dtype == expected.dtype, name
        if actual.dtype.kind in "biu" or actual.dtype.name.startswith(("int", "uint")):
            assert np.array_equal(actual, expected), name
            continue
        wide = np.complex128 if actual.dtype.kind == "c" else np.float64
        # XLA's functions are not ours, and its chlo expansions not those of the data: 2^-6 of the type's digits remain.
        tolerance = 64 * float(ml_dtypes.finfo(actual.dtype if wide == np.float64 else actual.real.dtype).eps)
        np.testing.assert_allclose(actual.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, err_msg=name)
