# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations at the edges of their types: compiled code against definitions written out in Python.

One program per element type applies every operation to all pairs of edge values; integers must agree exactly, floats in
every bit (NaN with NaN) unless the operation is a function, which has a tolerance.
"""
import itertools
import math
import pathlib
import subprocess

import numpy as np
import pytest

from benchmarks import tools

ml_dtypes = pytest.importorskip("ml_dtypes")

INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
            "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def wrap(value, dtype):
    bits = np.iinfo(dtype).bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if np.iinfo(dtype).min < 0 and value >> (bits - 1) else value


def divide(a, b, dtype):
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b, dtype):
    return a if b == 0 else a - b * divide(a, b, dtype)


def power(a, b, dtype):
    if b < 0:
        return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    return pow(a, b, 1 << 64)


def shift_left(a, b, dtype):
    bits = np.iinfo(dtype).bits
    return a << b if 0 <= b < bits else 0


def shift_right_logical(a, b, dtype):
    bits = np.iinfo(dtype).bits
    return (a & (1 << bits) - 1) >> b if 0 <= b < bits else 0


def shift_right_arithmetic(a, b, dtype):
    bits = np.iinfo(dtype).bits
    signed = a - (1 << bits) if a >= 1 << (bits - 1) else a
    return signed >> (b if 0 <= b < bits else bits - 1)


INTEGER_BINARY = {
    "add": lambda a, b, d: a + b, "subtract": lambda a, b, d: a - b, "multiply": lambda a, b, d: a * b,
    "divide": divide, "remainder": remainder, "power": power,
    "maximum": lambda a, b, d: max(a, b), "minimum": lambda a, b, d: min(a, b),
    "and": lambda a, b, d: a & b, "or": lambda a, b, d: a | b, "xor": lambda a, b, d: a ^ b,
    "shift_left": shift_left, "shift_right_logical": shift_right_logical,
    "shift_right_arithmetic": shift_right_arithmetic,
}
INTEGER_UNARY = {
    "abs": lambda a, d: abs(a), "negate": lambda a, d: -a, "not": lambda a, d: ~a,
    "sign": lambda a, d: (a > 0) - (a < 0),
    "popcnt": lambda a, d: bin(a & (1 << np.iinfo(d).bits) - 1).count("1"),
    "count_leading_zeros": lambda a, d: np.iinfo(d).bits - (a & (1 << np.iinfo(d).bits) - 1).bit_length(),
}


def program(name, arguments, results, body):
    signature = ", ".join(f"%{n}: {t}" for n, t in arguments)
    returned = ", ".join(f"%r{i}" for i in range(len(results)))
    return (f"func.func @main({signature}) -> ({', '.join(results)}) {{\n{body}"
            f"  return {returned} : {', '.join(results)}\n}}\n")


def run(tmp_path, arguments, results, body, arrays):
    path = tmp_path / "edges.mlir"
    path.write_text(program("edges", arguments, results, body))
    return tools.run_file(str(path), arrays, "--backend=compiled")[0]


def integer_edges(dtype):
    info = np.iinfo(dtype)
    return sorted({info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, info.bits - 1, info.bits, info.bits + 1,
                   info.max // 2} | ({-1, -2, -3, -7} if info.min < 0 else {200}))


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, tmp_path):
    dtype = INTEGERS[name]
    pairs = list(itertools.product(integer_edges(dtype), repeat=2))
    a = np.array([p[0] for p in pairs], dtype)
    b = np.array([p[1] for p in pairs], dtype)
    unary = dict(INTEGER_UNARY)
    if np.iinfo(dtype).min == 0:
        for operation in ("abs", "negate", "sign"):
            unary.pop(operation)
    tensor = f"tensor<{len(pairs)}x{name}>"
    body, results, names = "", [], []
    for operation in INTEGER_BINARY:
        body += f"  %r{len(names)} = stablehlo.{operation} %a, %b : {tensor}\n"
        names.append(operation), results.append(tensor)
    for operation in unary:
        body += f"  %r{len(names)} = stablehlo.{operation} %a : {tensor}\n"
        names.append(operation), results.append(tensor)
    got = run(tmp_path, [("a", tensor), ("b", tensor)], results, body, [a, b])
    for operation, values in zip(names, got):
        for x, y, value in zip(a.tolist(), b.tolist(), values.tolist()):
            function = INTEGER_BINARY.get(operation)
            want = function(x, y, dtype) if function else unary[operation](x, dtype)
            assert value == wrap(want, dtype), f"{operation} {name} {x} {y}"


def float_edges(dtype):
    info = np.finfo(dtype)
    positive = [0.0, float(info.smallest_subnormal), float(info.tiny), 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.49999997, 8388609.0,
                float(info.max), math.inf]
    return np.array([s * v for v in positive for s in (1, -1)] + [math.nan], dtype)


def same(got, want):
    return got.dtype == want.dtype and (np.isnan(got) & np.isnan(want) | (got == want) & (np.signbit(got) == np.signbit(want)))


def total_order_key(values):
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[values.dtype.itemsize]
    key = values.view(bits).astype(object)
    return np.array([k if k >= 0 else -(k & np.iinfo(bits).max) - 1 for k in key], object)


def maximum(a, b):
    picked = np.where((a > b) | (a == b) & ~np.signbit(a), a, b)
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), picked)


def away_from_zero(a):
    return np.copysign(np.floor(np.abs(a.astype(np.float64)) + 0.5), a).astype(a.dtype)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats(name, tmp_path):
    dtype = FLOATS[name]
    edges = float_edges(dtype)
    pairs = list(itertools.product(edges, repeat=2))
    a = np.array([p[0] for p in pairs], dtype)
    b = np.array([p[1] for p in pairs], dtype)
    tensor, booleans = f"tensor<{len(pairs)}x{name}>", f"tensor<{len(pairs)}xi1>"
    body, results, want = "", [], {}

    def emit(key, line, type_, value):
        nonlocal body
        body += f"  %r{len(results)} = stablehlo.{line}\n"
        results.append(type_)
        want[key] = value

    for operation, function in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
                                "remainder": np.fmod, "maximum": maximum,
                                "minimum": lambda x, y: -maximum(-x, -y)}.items():
        emit(operation, f"{operation} %a, %b : {tensor}", tensor, function(a, b))
    for operation, function in {"abs": np.abs, "negate": np.negative, "floor": np.floor, "ceil": np.ceil, "sqrt": np.sqrt,
                                "round_nearest_even": np.rint, "round_nearest_afz": away_from_zero,
                                "sign": lambda x: np.where((x == 0) | np.isnan(x), x, np.sign(x))}.items():
        if operation != "round_nearest_afz" or name != "f64":
            emit(operation, f"{operation} %a : {tensor}", tensor, function(a))
    body += f"  %half = stablehlo.constant dense<0.5> : {tensor}\n"
    # The power of -0 is 0, that of -inf inf.
    emit("power of half", f"power %a, %half : {tensor}", tensor, np.where(a == -math.inf, dtype(math.inf), np.sqrt(a + dtype(0))))
    emit("is_finite", f"is_finite %a : ({tensor}) -> {booleans}", booleans, np.isfinite(a))
    comparisons = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
                   "GE": np.greater_equal}
    for direction, function in comparisons.items():
        emit(direction, f"compare {direction}, %a, %b, FLOAT : ({tensor}, {tensor}) -> {booleans}", booleans, function(a, b))
        emit(f"total {direction}", f"compare {direction}, %a, %b, TOTALORDER : ({tensor}, {tensor}) -> {booleans}", booleans,
             function(total_order_key(a), total_order_key(b)).astype(bool))
    for integer, kind in INTEGERS.items():
        info = np.iinfo(kind)
        values = [0 if math.isnan(x) else info.max if x >= info.max else info.min if x <= info.min else int(x) for x in a.tolist()]
        to = f"tensor<{len(pairs)}x{integer}>"
        emit(f"to {integer}", f"convert %a : ({tensor}) -> {to}", to, np.array(values, kind))
    emit("to i1", f"convert %a : ({tensor}) -> {booleans}", booleans, a != 0)
    for other, kind in FLOATS.items():
        to = f"tensor<{len(pairs)}x{other}>"
        emit(f"to {other}", f"convert %a : ({tensor}) -> {to}", to, a.astype(kind))
    got = run(tmp_path, [("a", tensor), ("b", tensor)], results, body, [a, b])
    for (key, expected), values in zip(want.items(), got):
        agree = same(values, expected) if expected.dtype.kind == "f" else values == expected
        wrong = np.flatnonzero(~agree)
        assert wrong.size == 0, f"{key} {name} of {a[wrong[0]]}, {b[wrong[0]]}: {values[wrong[0]]}, not {expected[wrong[0]]}"


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("size", [3, 16, 31, 32, 65, 1000])
def test_extremes_of_rows(name, size, tmp_path):
    """Rows with a few numbers out of edges: NaN anywhere wins, and +0 is greater than -0. Also of what the kernel computes, and of rows of rows."""
    dtype, generator = FLOATS[name], np.random.default_rng(size)
    edges = np.concatenate([float_edges(dtype), -float_edges(dtype)[-1:]])
    rows = 8 * 24
    a = np.empty((rows, size), dtype)
    for row in range(rows):
        # One value nearly everywhere: of signed zeros, infinities and NaN alone, too.
        some = generator.choice(edges if row % 3 else edges[:4], 3)
        a[row] = generator.choice(some, size, p=[0.9, 0.05, 0.05])
        a[row, generator.integers(size)] = generator.choice(some)
        if row % 3 == 0 and row % 2:
            a[row] = -abs(a[row]) if row % 4 == 1 else abs(a[row])
    whole, few = f"tensor<{rows}x{size}x{name}>", f"tensor<8x24x{size}x{name}>"
    body, results, want = "", [], []
    for operation, start, sign in (("maximum", "0xFF800000" if name == "f32" else "0xFFF0000000000000", 1),
                                   ("minimum", "0x7F800000" if name == "f32" else "0x7FF0000000000000", -1)):
        def extreme(x):
            least = np.full(x.shape[:-1], -np.inf, dtype)
            for column in np.moveaxis(x, -1, 0):
                least = maximum(least, sign * column)
            return sign * least
        body += f"  %i{len(results)} = stablehlo.constant dense<{start}> : tensor<{name}>\n"
        for value, type_, dims, kept in (("%a", whole, "1", f"{rows}"), ("%n", whole, "1", f"{rows}"), ("%f", few, "1, 2", "8")):
            body += f"  %n{len(results)} = stablehlo.negate %a : {whole}\n  %f{len(results)} = stablehlo.reshape %a : ({whole}) -> {few}\n"
            operand = value if value == "%a" else f"{value}{len(results)}"
            body += (f"  %r{len(results)} = stablehlo.reduce({operand} init: %i{len(results) // 3 * 3}) applies stablehlo.{operation} across "
                     f"dimensions = [{dims}] : ({type_}, tensor<{name}>) -> tensor<{kept}x{name}>\n")
            results.append(f"tensor<{kept}x{name}>")
            x = a if value == "%a" else -a if value == "%n" else a.reshape(8, -1)
            want.append(extreme(x))
    got = run(tmp_path, [("a", whole)], results, body, [a])
    for number, (values, expected) in enumerate(zip(got, want)):
        wrong = np.flatnonzero(~same(values, expected))
        assert wrong.size == 0, f"result {number}, row {wrong[0]}: {values[wrong[0]]}, not {expected[wrong[0]]}"


@pytest.mark.parametrize("name", FLOATS)
def test_integers_to_floats_round_once(name, tmp_path):
    """Halfway cases of every magnitude, where rounding twice goes wrong."""
    values = [s * ((1 << p) + d) for p in range(1, 63) for q in range(0, p) for d in (0, (1 << q) - 1, 1 << q, (1 << q) + 1)
              for s in (1, -1)]
    a = np.array(sorted(set(values)), np.int64)
    source, to = f"tensor<{a.size}xi64>", f"tensor<{a.size}x{name}>"
    got, = run(tmp_path, [("a", source)], [to], f"  %r0 = stablehlo.convert %a : ({source}) -> {to}\n", [a])
    digits = {"f16": 11, "f32": 24, "f64": 53}[name]

    def rounded(v):
        m = abs(v)
        drop = max(m.bit_length() - digits, 0)
        kept, rest, half = m >> drop, m & ((1 << drop) - 1), (1 << drop) >> 1
        kept += drop > 0 and (rest > half or rest == half and kept & 1)
        return math.copysign(kept << drop, v)

    largest = float(np.finfo(FLOATS[name]).max)
    for v, result in zip(a.tolist(), got.tolist()):
        want = rounded(v)
        assert result == (math.copysign(math.inf, v) if abs(want) > largest else want), v


@pytest.mark.parametrize("backend", ["compiled", "interpreter"])
def test_total_order_of_small_floats(backend, tmp_path):
    """Every pair of f8 values: ordered by sign, then magnitude. The only NaN of a type without -0 is negative, and f8E8M0FNU has no signs."""
    a, b = (x.ravel() for x in np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8)))
    names = ["f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"]
    bits, booleans = f"tensor<{a.size}xui8>", f"tensor<{a.size}xi1>"
    body = ""
    for i, name in enumerate(names):
        floats = f"tensor<{a.size}x{name}>"
        body += "".join(f"  %{v}{i} = stablehlo.bitcast_convert %{v} : ({bits}) -> {floats}\n" for v in "ab")
        body += f"  %r{i} = stablehlo.compare LT, %a{i}, %b{i}, TOTALORDER : ({floats}, {floats}) -> {booleans}\n"

    def key(x, name):
        if name == "f8E8M0FNU":
            return x.astype(int)
        negative = -1 - (x & 127).astype(int)
        return np.where(x == 128, -1000 if "FNUZ" in name else -1, np.where(x > 127, negative, x.astype(int)))

    path = tmp_path / "order.mlir"
    path.write_text(program("order", [("a", bits), ("b", bits)], [booleans] * len(names), body))
    got = tools.run_file(str(path), [a, b], f"--backend={backend}")[0]
    for name, values in zip(names, got):
        # Payloads of NaN are not kept.
        one, other = (x.view(getattr(ml_dtypes, f"float8_{name[2:].lower()}")).astype(np.float32) for x in (a, b))
        wrong = np.flatnonzero((values.astype(bool) != (key(a, name) < key(b, name))) & ~(np.isnan(one) & np.isnan(other) & (a // 128 == b // 128)))
        assert wrong.size == 0, f"{name}: {a[wrong[0]]:#x} < {b[wrong[0]]:#x} is {values[wrong[0]]}"


@pytest.mark.parametrize("k", [8, 64, 96])
@pytest.mark.parametrize("target", ["host", "avx2"])
def test_subnormal_factors_of_bf16(k, target, tmp_path):
    """Factors below 2^-126 count in products of bf16, but where the processor's own instructions for bf16 take them for 0 (docs/accuracy.md)."""
    tiny, large = 1e-39, 1e38
    path, artifact = tmp_path / "tiny.mlir", tmp_path / "tiny.mr"
    a, b, c = f"tensor<16x{k}xbf16>", f"tensor<{k}x16xbf16>", "tensor<16x16xf32>"
    path.write_text(program("tiny", [("a", a), ("b", b)], [c],
                            f"  %r0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}\n"))
    factors = [np.full((16, k), tiny, ml_dtypes.bfloat16), np.full((k, 16), large, ml_dtypes.bfloat16)]
    exact = k * float(factors[0][0, 0]) * float(factors[1][0, 0])
    subprocess.run([tools.tool("xla-compile"), str(path), "-o", str(artifact), f"--target={target}"], check=True)
    got = tools.run_file(str(artifact), factors)[0][0]
    has_own_products = target == "host" and any(f in pathlib.Path("/proc/cpuinfo").read_text() for f in (" amx_bf16", " avx512_bf16"))
    allowed = (0, exact) if has_own_products else (exact,)
    assert all(any(math.isclose(v, each, rel_tol=1e-5) for each in allowed) for v in np.unique(got)), (np.unique(got), exact)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("target", ["host", "avx2"])
def test_quotients_by_constants(dtype, target, tmp_path):
    """Every bit of x / c, where products stand for it: of bytes, of sums with a constant, of anything, edges and tiny numbers among them."""
    numpy = FLOATS[dtype]
    random = np.random.default_rng(7)
    divisors = [255.0, 0.229, 0.224, 127.5, 3.7, -1e-3, 1.0000001, 16777215.0, 1 / 3, 7.0]
    info = np.finfo(numpy)
    edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, info.tiny, -info.tiny / 4, info.max, -info.max, 1e-30, 1e-38, 0.45, 0.22], numpy)
    with np.errstate(all="ignore"):
        x = np.concatenate([edges, random.standard_normal(997).astype(numpy), (0.22 * random.integers(-9, 9, 512)).astype(numpy),
                            np.ldexp(random.standard_normal(500), random.integers(-160, 120, 500)).astype(numpy)])
    u = np.tile(np.arange(256, dtype=np.uint8), 5)
    floats, bytes_, wide = f"tensor<{x.size}x{dtype}>", f"tensor<{u.size}xui8>", f"tensor<{u.size}x{dtype}>"
    body, want, results = f"  %n = stablehlo.convert %b : ({bytes_}) -> {wide}\n", [], []
    number = u.astype(numpy)
    for k, c in enumerate(divisors):
        d = numpy(c)
        body += f"  %c{k} = stablehlo.constant dense<{float(d)!r}> : {floats}\n  %d{k} = stablehlo.constant dense<{float(d)!r}> : {wide}\n"
        body += f"  %h{k} = stablehlo.constant dense<0.45> : {floats}\n  %s{k} = stablehlo.subtract %a, %h{k} : {floats}\n"
        body += f"  %r{3 * k} = stablehlo.divide %a, %c{k} : {floats}\n  %r{3 * k + 1} = stablehlo.divide %s{k}, %c{k} : {floats}\n"
        body += f"  %r{3 * k + 2} = stablehlo.divide %n, %d{k} : {wide}\n"
        with np.errstate(all="ignore"):
            want += [x / d, (x - numpy(0.45)) / d, number / d]
        results += [floats, floats, wide]
    path, artifact = tmp_path / "quotients.mlir", tmp_path / "quotients.mr"
    path.write_text(program("quotients", [("a", floats), ("b", bytes_)], results, body))
    subprocess.run([tools.tool("xla-compile"), str(path), "-o", str(artifact), f"--target={target}"], check=True)
    bits = np.dtype(f"u{np.dtype(numpy).itemsize}")
    for k, (got, expected) in enumerate(zip(tools.run_file(str(artifact), [x, u])[0], want, strict=True)):
        wrong = np.nonzero((got.view(bits) != expected.view(bits)) & ~(np.isnan(got) & np.isnan(expected)))[0]
        assert wrong.size == 0, f"{k}: {[(got[i], expected[i]) for i in wrong[:5]]}"
