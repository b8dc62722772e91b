# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The evaluator against an outside oracle, op by op and type by type: NumPy in a wider type, ml_dtypes, JAX on its CPU backend.

Expected values are written into the program, which checks them itself. Tolerances: integers, data movement, comparisons
and correctly rounded functions (+ - * / sqrt) must be equal; transcendental functions of types up to f32 within 1 ULP of
the value that NumPy computes in f64; of f64 within 2 ULP of NumPy's f64 (its own error); sums and dots as said per test.
"""
import subprocess

import numpy as np
import pytest

from benchmarks import tools

ml_dtypes = pytest.importorskip("ml_dtypes")

INTS = {"i4": (ml_dtypes.int4, 4), "i8": (np.int8, 8), "i16": (np.int16, 16), "i32": (np.int32, 32), "i64": (np.int64, 64)}
UINTS = {"ui4": (ml_dtypes.uint4, 4), "ui8": (np.uint8, 8), "ui16": (np.uint16, 16), "ui32": (np.uint32, 32), "ui64": (np.uint64, 64)}
FLOATS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
          "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
          "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "f8E4M3": ml_dtypes.float8_e4m3, "f8E3M4": ml_dtypes.float8_e3m4}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-3, 7.25, -3.75]


def kind(array, name):
    element = {"c64": "complex<f32>", "c128": "complex<f64>"}.get(name, name)
    return "tensor<" + "".join(f"{n}x" for n in array.shape) + element + ">"


def literal(array, name):
    """`dense<...> : tensor<...>` of a NumPy array; narrow types as a list, the others as bytes."""
    if name in ("i1", "i4", "ui4"):
        values = ", ".join(str(bool(v)).lower() if name == "i1" else str(int(v)) for v in array.ravel())
        return f"dense<[{values}]> : {kind(array, name)}"
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : {kind(array, name)}'


def program(inputs, body, expected, ulp):
    """One function: constants, `body` (which defines %r from %0, %1, ...), a check of %r."""
    lines = ["func.func @main() {"]
    for i, (array, name) in enumerate(inputs):
        lines.append(f"  %{i} = stablehlo.constant {literal(array, name)}")
    array, name = expected
    lines += [f"  {body}", f"  %e = stablehlo.constant {literal(array, name)}"]
    check, attributes = ("check.expect_close", f", max_ulp_difference = {ulp} : i64, min_ulp_difference = 0 : i64") if name[0] in "fbc" else ("check.expect_eq", "")
    t = kind(array, name)
    lines += [f"  stablehlo.custom_call @{check}(%r, %e) {{has_side_effect = true{attributes}}} : ({t}, {t}) -> ()", "  func.return", "}"]
    return "\n".join(lines)


def run(tmp_path, programs):
    assert programs
    path = tmp_path / "programs.mlir"
    path.write_text("\n// -----\n".join(programs))
    process = subprocess.run([tools.tool("xla-translate"), "--interpret", "--split-input-file", str(path)], capture_output=True, text=True, timeout=300)
    errors = [line[line.find("error:"):][:300] for line in process.stderr.splitlines() if "error:" in line]
    assert process.returncode == 0 and not errors, "\n".join(errors[:10]) or process.stderr[:500]


def ints(name, count=64, seed=0):
    dtype, bits = {**INTS, **UINTS}[name]
    low = 0 if name.startswith("u") else -(1 << bits - 1)
    rng = np.random.default_rng(seed)
    values = [low, low + 1, 0, 1, 2, (1 << bits) + low - 1] + [int.from_bytes(rng.bytes(8), "little") % (1 << bits) + low for _ in range(count - 6)]
    return np.array([values[i] for i in rng.permutation(count)], dtype=object), dtype, bits, low


def wrapped(values, dtype, bits, low):
    return np.array([(int(v) - low) % (1 << bits) + low for v in values], dtype=object).astype(np.int64 if low else np.uint64).astype(dtype)


def divide(a, b):
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INT_BINARY = {
    "add": lambda a, b, w: a + b, "subtract": lambda a, b, w: a - b, "multiply": lambda a, b, w: a * b,
    "divide": lambda a, b, w: divide(a, b), "remainder": lambda a, b, w: a if b == 0 else a - b * divide(a, b),
    "maximum": lambda a, b, w: max(a, b), "minimum": lambda a, b, w: min(a, b), "and": lambda a, b, w: a & b, "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b, "shift_left": lambda a, b, w: a << b if 0 <= b < w else 0,
    "shift_right_logical": lambda a, b, w: (a % (1 << w)) >> b if 0 <= b < w else 0,
    "shift_right_arithmetic": lambda a, b, w: ((a + (1 << w - 1)) % (1 << w) - (1 << w - 1)) >> (b if 0 <= b < w else w - 1),
}
INT_UNARY = {
    "negate": lambda a, w, s: -a, "not": lambda a, w, s: ~a, "abs": lambda a, w, s: abs(a), "sign": lambda a, w, s: (a > 0) - (a < 0),
    "popcnt": lambda a, w, s: bin(a % (1 << w)).count("1"), "count_leading_zeros": lambda a, w, s: w - (a % (1 << w)).bit_length(),
}


@pytest.mark.parametrize("op", INT_BINARY)
def test_int_binary(op, tmp_path):
    """Python's integers of any size, wrapped."""
    programs = []
    for name in {**INTS, **UINTS}:
        a, dtype, bits, low = ints(name, seed=1)
        b, *_ = ints(name, seed=2)
        if op.startswith("shift"):
            b = np.array([int(v) % (2 * bits) if i % 2 else int(v) for i, v in enumerate(b)], dtype=object)
            b = np.array([int(v) for v in wrapped(b, dtype, bits, low)], dtype=object)
        expected = wrapped([INT_BINARY[op](int(x), int(y), bits) for x, y in zip(a, b)], dtype, bits, low)
        inputs = [(wrapped(a, dtype, bits, low), name), (wrapped(b, dtype, bits, low), name)]
        programs.append(program(inputs, f"%r = stablehlo.{op} %0, %1 : tensor<64x{name}>", (expected, name), 0))
    run(tmp_path, programs)


@pytest.mark.parametrize("op", INT_UNARY)
def test_int_unary(op, tmp_path):
    programs = []
    for name in {**INTS, **UINTS}:
        if name.startswith("u") and op in ("abs", "sign", "negate"):
            continue
        a, dtype, bits, low = ints(name, seed=3)
        expected = wrapped([INT_UNARY[op](int(x), bits, low) for x in a], dtype, bits, low)
        programs.append(program([(wrapped(a, dtype, bits, low), name)], f"%r = stablehlo.{op} %0 : tensor<64x{name}>", (expected, name), 0))
    run(tmp_path, programs)


def floats(dtype, seed, positive=False):
    rng = np.random.default_rng(seed)
    values = np.concatenate([SPECIAL, rng.normal(size=40) * 3, np.exp(rng.normal(size=12) * 4)])
    values = values.astype(np.float64).astype(dtype)
    return np.abs(values.astype(np.float64)).astype(dtype) if positive else values


# function, exact (correctly rounded in the wide type, so equal after rounding)
FLOAT_UNARY = {
    "negate": (np.negative, True), "abs": (np.abs, True), "sqrt": (np.sqrt, True), "floor": (np.floor, True), "ceil": (np.ceil, True),
    "round_nearest_even": (np.rint, True), "exponential": (np.exp, False), "exponential_minus_one": (np.expm1, False),
    "log": (np.log, False), "log_plus_one": (np.log1p, False), "sine": (np.sin, False), "cosine": (np.cos, False), "tan": (np.tan, False),
    "tanh": (np.tanh, False), "cbrt": (np.cbrt, False), "logistic": (lambda x: 1 / (1 + np.exp(-x)), False),
    "rsqrt": (lambda x: 1 / np.sqrt(x), False),
}
FLOAT_BINARY = {
    "add": (np.add, True), "subtract": (np.subtract, True), "multiply": (np.multiply, True), "divide": (np.divide, True),
    "remainder": (np.fmod, True), "power": (np.power, False), "atan2": (np.arctan2, False), "maximum": (np.maximum, True),
    "minimum": (np.minimum, True),
}


@pytest.mark.parametrize("op", FLOAT_UNARY)
def test_float_unary(op, tmp_path):
    function, exact = FLOAT_UNARY[op]
    programs = []
    for name, dtype in FLOATS.items():
        x = floats(dtype, 4)
        with np.errstate(all="ignore"):
            expected = function(x.astype(np.float64)).astype(dtype)
        ulp = 0 if exact else 2 if name == "f64" else 1
        programs.append(program([(x, name)], f"%r = stablehlo.{op} %0 : tensor<{len(x)}x{name}>", (expected, name), ulp))
    run(tmp_path, programs)


@pytest.mark.parametrize("op", FLOAT_BINARY)
def test_float_binary(op, tmp_path):
    function, exact = FLOAT_BINARY[op]
    programs = []
    for name, dtype in FLOATS.items():
        x, y = floats(dtype, 5), np.roll(floats(dtype, 6), 5)
        with np.errstate(all="ignore"):
            expected = function(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
        ulp = 0 if exact else 2 if name == "f64" else 1
        programs.append(program([(x, name), (y, name)], f"%r = stablehlo.{op} %0, %1 : tensor<{len(x)}x{name}>", (expected, name), ulp))
    run(tmp_path, programs)


@pytest.mark.parametrize("direction", ["EQ", "NE", "GE", "GT", "LE", "LT"])
def test_compare(direction, tmp_path):
    function = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less}[direction]
    programs = []
    for name, dtype in FLOATS.items():
        x, y = floats(dtype, 7), np.roll(floats(dtype, 7), 1)
        expected = function(x.astype(np.float64), y.astype(np.float64))
        t = f"tensor<{len(x)}x{name}>"
        programs.append(program([(x, name), (y, name)], f"%r = stablehlo.compare {direction}, %0, %1 : ({t}, {t}) -> tensor<{len(x)}xi1>", (expected, "i1"), 0))
    run(tmp_path, programs)


@pytest.mark.parametrize("source", FLOATS)
def test_convert_between_floats(source, tmp_path):
    """ml_dtypes through f64, which holds every value of every type."""
    x = floats(FLOATS[source], 8)
    programs = []
    for target, dtype in FLOATS.items():
        with np.errstate(all="ignore"):
            expected = x.astype(np.float64).astype(dtype)
        programs.append(program([(x, source)], f"%r = stablehlo.convert %0 : (tensor<{len(x)}x{source}>) -> tensor<{len(x)}x{target}>", (expected, target), 0))
    run(tmp_path, programs)


def test_convert_ints(tmp_path):
    programs = []
    for source in {**INTS, **UINTS}:
        a, dtype, bits, low = ints(source, seed=9)
        x = wrapped(a, dtype, bits, low)
        for target, (other, other_bits) in {**INTS, **UINTS}.items():
            other_low = 0 if target.startswith("u") else -(1 << other_bits - 1)
            expected = wrapped(a, other, other_bits, other_low)
            programs.append(program([(x, source)], f"%r = stablehlo.convert %0 : (tensor<64x{source}>) -> tensor<64x{target}>", (expected, target), 0))
        for target in ("f32", "f64"):
            expected = np.array([np.dtype(FLOATS[target]).type(int(v)) for v in a], FLOATS[target])
            programs.append(program([(x, source)], f"%r = stablehlo.convert %0 : (tensor<64x{source}>) -> tensor<64x{target}>", (expected, target), 0))
        f = floats(np.float64, 10)
        saturated = [0 if np.isnan(v) else int(np.clip(np.trunc(v), -1e30, 1e30)) for v in f]
        saturated = [min(max(v, low), (1 << bits) + low - 1) for v in saturated]
        programs.append(program([(f, "f64")], f"%r = stablehlo.convert %0 : (tensor<{len(f)}xf64>) -> tensor<{len(f)}x{source}>", (wrapped(saturated, dtype, bits, low), source), 0))
    run(tmp_path, programs)


COMPLEX_UNARY = {"sqrt": np.sqrt, "exponential": np.exp, "log": np.log, "sine": np.sin, "cosine": np.cos, "tan": np.tan, "tanh": np.tanh,
                 "exponential_minus_one": np.expm1, "log_plus_one": np.log1p, "negate": np.negative}


@pytest.mark.parametrize("op", COMPLEX_UNARY)
def test_complex_unary(op, tmp_path):
    """c64 against NumPy's c128, finite moderate values: 1 ULP in each part."""
    rng = np.random.default_rng(11)
    z = ((rng.normal(size=60) + 1j * rng.normal(size=60)) * 2).astype(np.complex64)
    expected = COMPLEX_UNARY[op](z.astype(np.complex128)).astype(np.complex64)
    run(tmp_path, [program([(z, "c64")], f"%r = stablehlo.{op} %0 : tensor<60xcomplex<f32>>", (expected, "c64"), 1)])


@pytest.mark.parametrize("length", [1, 2, 3, 8, 12, 15, 32])
def test_fft(length, tmp_path):
    """numpy.fft in f64, compared as c64: 1e-12 absolute on values of size 1 to 30."""
    rng = np.random.default_rng(length)
    z = (rng.normal(size=(3, length)) + 1j * rng.normal(size=(3, length))).astype(np.complex128)
    programs = []
    for fft, function in (("FFT", np.fft.fft), ("IFFT", np.fft.ifft)):
        t = f"tensor<3x{length}xcomplex<f64>>"
        text = program([(z, "c128")], f"%r = stablehlo.fft %0, type = {fft}, length = [{length}] : ({t}) -> {t}", (function(z), "c128"), 0)
        text = text.replace("check.expect_close", "check.expect_almost_eq").replace("max_ulp_difference = 0 : i64, min_ulp_difference = 0 : i64", "tolerance = 1.0e-12 : f64")
        programs.append(text)
    x, half = z.real.copy(), length // 2 + 1
    for body, inputs, expected in (
            (f"%r = stablehlo.fft %0, type = RFFT, length = [{length}] : (tensor<3x{length}xf64>) -> tensor<3x{half}xcomplex<f64>>", (x, "f64"), (np.fft.rfft(x), "c128")),
            (f"%r = stablehlo.fft %0, type = IRFFT, length = [{length}] : (tensor<3x{half}xcomplex<f64>>) -> tensor<3x{length}xf64>", (np.fft.rfft(x), "c128"), (np.fft.irfft(np.fft.rfft(x), length), "f64"))):
        programs.append(program([inputs], body, expected, 0).replace("check.expect_close", "check.expect_almost_eq").replace(
            "max_ulp_difference = 0 : i64, min_ulp_difference = 0 : i64", "tolerance = 1.0e-12 : f64"))
    run(tmp_path, programs)


@pytest.mark.parametrize("algorithm,dtype", [("THREE_FRY", t) for t in ("ui8", "ui16", "ui32", "ui64")] + [("PHILOX", t) for t in ("ui8", "ui16", "ui32", "ui64")])
def test_rng_bits_as_jax(algorithm, dtype, tmp_path):
    jax = pytest.importorskip("jax")
    state = np.array([0x12345678, 0x9abcdef0, 0xfffffffe, 0xffffffff], np.uint32)
    programs = []
    with jax.enable_x64(True):
        for shape in [(), (4,), (5,), (3, 4), (3, 5), (2, 3, 4)]:
            key = state.view(np.uint64) if algorithm == "THREE_FRY" else state
            generate = jax.jit(lambda k: jax.lax.rng_bit_generator(k, shape, dtype=UINTS[dtype][0], algorithm=getattr(jax.lax.RandomAlgorithm, f"RNG_{algorithm}")))
            bits = np.asarray(generate(key)[1])
            t = "tensor<" + "".join(f"{n}x" for n in shape) + dtype + ">"
            body = f"%n, %r = stablehlo.rng_bit_generator %0, algorithm = {algorithm} : (tensor<2xui64>) -> (tensor<2xui64>, {t})"
            if shape == ():
                bits = bits.reshape(1)
                body = body.replace("%r", "%s") + f"\n  %r = stablehlo.reshape %s : ({t}) -> tensor<1x{dtype}>"
            programs.append(program([(state.view(np.uint64), "ui64")], body, (bits, dtype), 0))
    run(tmp_path, programs)


def test_planted_error_is_found(tmp_path):
    """The harness itself: a wrong expected value must fail."""
    x = np.array([1.0, 2.0], np.float32)
    with pytest.raises(AssertionError, match="elements differ"):
        run(tmp_path, [program([(x, "f32")], "%r = stablehlo.negate %0 : tensor<2xf32>", (x, "f32"), 0)])
