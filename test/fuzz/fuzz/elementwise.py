# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations. Each function appends one operation (and what keeps its operands in range) to a Program."""
from fuzz import dtypes as dt

F = "elementwise"
ORDINARY = dt.INTEGERS + dt.UNSIGNED + dt.FLOATS + dt.SMALL_FLOATS


def unary(p, name, value, dtype=None, exact=None, magnitude=None):
    result = (dtype or value.dtype, value.shape)
    text = f'"stablehlo.{name}"({{0}}) : ({value.type}) -> {dt.spell(*result)}'
    return p.emit(name, F, [value], [result], text, exact, magnitude)[0]


def binary(p, name, a, b, exact=None, magnitude=None, dtype=None, attributes=""):
    result = (dtype or a.dtype, a.shape)
    text = f'"stablehlo.{name}"({{0}}, {{1}}) {attributes}: ({a.type}, {b.type}) -> {dt.spell(*result)}'
    return p.emit(name, F, [a, b], [result], text, exact, magnitude)[0]


def scalar_constant(p, dtype, number, shape):
    """A splat; numbers are written as this dtype prints them."""
    literal = {"i1": "true" if number else "false"}.get(dtype, f"{number}" if dt.is_integer(dtype) else f"{float(number):e}")
    if dtype.startswith("complex"):
        literal = f"({float(number):e}, 0.0)"
    type_ = dt.spell(dtype, shape)
    return p.emit("constant", "data_movement", [], [(dtype, shape)], f"stablehlo.constant dense<{literal}> : {type_}", True,
                  abs(number))[0]


def calm(p, value, limit=30.0):
    """`value`, passed through tanh if it may be large: keeps what is smooth away from overflow and steep slopes."""
    if value.magnitude <= limit or value.dtype not in dt.FLOATS:
        return value
    return unary(p, "tanh", value, exact=False, magnitude=1.0)


def pair(p, accepted, **options):
    a = p.pick(accepted, **options)
    return a, p.pick([a.dtype], shape=a.shape)


def arithmetic(p):
    name = str(p.random.choice(["add", "subtract", "multiply", "maximum", "minimum"]))
    accepted = ORDINARY + (dt.COMPLEX if name in ("add", "subtract") else [])
    a, b = pair(p, accepted)
    magnitude = a.magnitude * b.magnitude if name == "multiply" else a.magnitude + b.magnitude
    if magnitude > 1e3:
        a, b, magnitude = calm(p, a), calm(p, b), 900
    binary(p, name, a, b, magnitude=magnitude)


def logical(p):
    name = str(p.random.choice(["and", "or", "xor"]))
    binary(p, name, *pair(p, ["i1"] + dt.INTEGERS + dt.UNSIGNED))


def bit_unary(p):
    name = str(p.random.choice(["not", "popcnt", "count_leading_zeros"]))
    unary(p, name, p.pick((["i1"] if name == "not" else []) + dt.INTEGERS + dt.UNSIGNED))


def sign_unary(p):
    name = str(p.random.choice(["abs", "negate", "sign"]))
    accepted = dt.INTEGERS + dt.FLOATS + dt.SMALL_FLOATS + (dt.UNSIGNED + dt.COMPLEX if name == "negate" else [])
    unary(p, name, p.pick(accepted, exact=name == "sign"))


def rounding(p):
    name = str(p.random.choice(["floor", "ceil", "round_nearest_even", "round_nearest_afz"]))
    unary(p, name, p.pick(dt.FLOATS + dt.SMALL_FLOATS, exact=True))


def shift(p):
    name = str(p.random.choice(["shift_left", "shift_right_logical", "shift_right_arithmetic"]))
    binary(p, name, *pair(p, dt.INTEGERS + dt.UNSIGNED))


def division(p):
    """Integers divide by something odd: division by zero is left open by the specification."""
    name = str(p.random.choice(["divide", "remainder"]))
    if p.random.random() < 0.5:
        a, b = pair(p, [d for d in dt.INTEGERS + dt.UNSIGNED if dt.bits(d) > 2])
        one = scalar_constant(p, b.dtype, 1, b.shape)
        # |b| | 1 is positive or the lowest value: never 0, never -1.
        b = unary(p, "abs", b) if b.dtype in dt.INTEGERS else b
        binary(p, name, a, binary(p, "or", b, one))
        return
    a, b = pair(p, dt.FLOATS, exact=True)
    if not b.exact:
        b = p.pick([a.dtype], shape=a.shape, exact=True, reuse=0)
    binary(p, name, a, b, magnitude=1e4)


def compare(p):
    a, b = pair(p, ["i1"] + ORDINARY, exact=True)
    if not b.exact:
        b = p.pick([a.dtype], shape=a.shape, reuse=0)
    direction = str(p.random.choice(["EQ", "NE", "LT", "LE", "GT", "GE"]))
    kind = "FLOAT" if dt.is_float(a.dtype) else "UNSIGNED" if a.dtype in dt.UNSIGNED + ["i1"] else "SIGNED"
    if kind == "FLOAT" and p.random.random() < 0.2:
        kind = "TOTALORDER"
    attributes = f"<{{comparison_direction = #stablehlo<comparison_direction {direction}>, compare_type = #stablehlo<comparison_type {kind}>}}> "
    binary(p, "compare", a, b, dtype="i1", attributes=attributes)


def select(p):
    a, b = pair(p, ["i1"] + ORDINARY + dt.COMPLEX)
    shape = a.shape if p.random.random() < 0.7 else ()
    chosen = p.pick(["i1"], shape=shape)
    text = f'"stablehlo.select"({{0}}, {{1}}, {{2}}) : ({chosen.type}, {a.type}, {b.type}) -> {a.type}'
    p.emit("select", F, [chosen, a, b], [(a.dtype, a.shape)], text, magnitude=max(a.magnitude, b.magnitude))


def clamp(p):
    value = p.pick(ORDINARY)
    low, high = (p.pick([value.dtype], shape=value.shape if p.random.random() < 0.5 else ()) for _ in range(2))
    text = f'"stablehlo.clamp"({{0}}, {{1}}, {{2}}) : ({low.type}, {value.type}, {high.type}) -> {value.type}'
    p.emit("clamp", F, [low, value, high], [(value.dtype, value.shape)], text, magnitude=max(low.magnitude, value.magnitude, high.magnitude))


def convert(p):
    value = p.pick(["i1"] + ORDINARY, exact=True)
    targets = ["i1"] + ORDINARY + (dt.COMPLEX if value.dtype in dt.FLOATS else [])
    target = str(p.random.choice(targets))
    if dt.is_float(value.dtype) and dt.is_integer(target):
        # Out of range and NaN are left open by the specification: only values made of integers go back to integers.
        source = p.pick(["i8"], shape=value.shape)
        value = unary(p, "convert", source, dtype=str(p.random.choice(["f32", "f64"])), magnitude=128.0)
        target = str(p.random.choice(["i8", "i16", "i32", "i64"]))
    unary(p, "convert", value, dtype=target, magnitude=min(value.magnitude, 1e3))


def bitcast(p):
    """Between types of one width, from integers only: a NaN's payload is not fixed by arithmetic."""
    value = p.pick(["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64"])
    group = {8: ["i8", "ui8"], 16: ["i16", "ui16"], 32: ["i32", "ui32"], 64: ["i64", "ui64"]}[dt.bits(value.dtype)]
    unary(p, "bitcast_convert", value, dtype=str(p.random.choice(group)))


def parts(p):
    if p.random.random() < 0.5:
        a, b = pair(p, ["f32", "f64"])
        binary(p, "complex", a, b, dtype=f"complex<{a.dtype}>")
        return
    value = p.pick(dt.COMPLEX)
    unary(p, str(p.random.choice(["real", "imag"])), value, dtype=value.dtype[8:-1])


def is_finite(p):
    unary(p, "is_finite", p.pick(dt.FLOATS, exact=True), dtype="i1")


def reduce_precision(p):
    value = p.pick(["f32", "f64", "f16", "bf16"], exact=True)
    exponent, mantissa = int(p.random.integers(3, 9)), int(p.random.integers(1, 11))
    if value.dtype == "f16":
        exponent = min(exponent, 5)
    text = (f'"stablehlo.reduce_precision"({{0}}) <{{exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32}}> : '
            f"({value.type}) -> {value.type}")
    p.emit("reduce_precision", F, [value], [(value.dtype, value.shape)], text)


def smooth_unary(p):
    """Functions whose last bits may differ; their operands are kept in range."""
    name = str(p.random.choice(["exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "sine", "cosine",
                                "cbrt", "sqrt", "rsqrt", "tan"]))
    value = calm(p, p.pick(dt.FLOATS), 4.0)
    if name in ("log", "sqrt", "rsqrt", "log_plus_one", "cbrt"):
        value = binary(p, "add", unary(p, "abs", value), scalar_constant(p, value.dtype, 1, value.shape), magnitude=value.magnitude + 1)
    if name == "tan":
        value = unary(p, "logistic", value, exact=False, magnitude=1.0)
    bound = {"exponential": 60.0, "exponential_minus_one": 60.0}.get(name, 4.0)
    unary(p, name, value, exact=False, magnitude=bound)


def smooth_binary(p):
    name = str(p.random.choice(["power", "atan2"]))
    a = calm(p, p.pick(dt.FLOATS), 4.0)
    b = calm(p, p.pick([a.dtype], shape=a.shape), 4.0)
    one = scalar_constant(p, a.dtype, 1, a.shape)
    positive = binary(p, "add", unary(p, "abs", a), one, magnitude=a.magnitude + 1)
    if name == "power":
        binary(p, name, positive, unary(p, "tanh", b, exact=False, magnitude=1.0), exact=False, magnitude=8.0)
    else:
        binary(p, name, b, positive, exact=False, magnitude=3.2)


def complex_product(p):
    a, b = pair(p, dt.COMPLEX)
    binary(p, "multiply", a, b, exact=False, magnitude=min(a.magnitude * b.magnitude * 2, 1e3))


def integer_power(p):
    a, b = pair(p, ["i8", "i16", "i32", "i64", "ui8", "ui32"])
    seven = scalar_constant(p, b.dtype, 7, b.shape)
    binary(p, "power", a, binary(p, "and", b, seven))


EXACT = [arithmetic, arithmetic, logical, bit_unary, sign_unary, rounding, shift, division, compare, select, clamp, convert, bitcast,
         parts, is_finite, reduce_precision, integer_power]
SMOOTH = [smooth_unary, smooth_unary, smooth_binary, complex_product]
