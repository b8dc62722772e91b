# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of complex numbers where they are hard: all pairs of 13 parts from infinity over the largest and subnormal numbers to zero.

The evaluator and compiled code against NumPy in a wider type (complex128 for complex64, 80 bits or more for complex128), and
mpmath where NumPy's formula cancels. Within 3 ULP for each part; infinities and NaN where the oracle has them. The oracle follows
annex G of C99, but for exp, sin and cos of numbers that have no angle: NaN, as XLA and StableHLO's own tests have it."""
import subprocess

import mpmath
import numpy as np
import pytest

from benchmarks import tools

PARTS = {np.complex64: np.float32, np.complex128: np.float64}
WIDE = {np.complex64: np.complex128, np.complex128: np.clongdouble}
NAMES = {np.complex64: "complex<f32>", np.complex128: "complex<f64>"}
ULP = 3

pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="NumPy has no type wider than f64 here")


def parts(part):
    info = np.finfo(part)
    positive = [info.smallest_subnormal, np.sqrt(info.tiny) * part(0.875), part(1.5), np.nextafter(info.max, part(0)), info.max, part(np.inf)]
    return np.array([-x for x in reversed(positive)] + [part(0)] + positive, part)


def samples(dtype):
    values = parts(PARTS[dtype])
    return np.array([complex(re, im) for im in values for re in values], dtype)


def without_angle(z, value, hopeless):
    """`value` with NaN in both parts where `hopeless`."""
    return np.where(hopeless, complex(np.nan, np.nan), value)


def exp(z):
    return without_angle(z, np.where(z.imag == 0, np.exp(z.real) + 0j, np.exp(z)), ~np.isfinite(z.imag))


def sin(z):
    return without_angle(z, np.sin(z), np.isinf(z.real) & np.isinf(z.imag))


def cos(z):
    return without_angle(z, np.cos(z), np.isinf(z.real) & np.isinf(z.imag))


def by_mpmath(function, limit):
    def apply(z):
        with mpmath.workprec(4000):
            return np.array([complex(function(mpmath.mpc(complex(v)))) if np.isfinite(v) else complex(limit(v)) for v in z])
    return apply


log1p = by_mpmath(lambda z: mpmath.log(1 + z), np.log1p)
# (x - y)(x + y): infinite parts of one size have no difference.
square = by_mpmath(lambda z: z * z, lambda z: complex((z.real - z.imag) * (z.real + z.imag), 2 * (z.real * z.imag)))

FUNCTIONS = {
    "stablehlo.sqrt": np.sqrt, "stablehlo.log": np.log, "stablehlo.log_plus_one": log1p, "stablehlo.exponential": exp, "stablehlo.tan": np.tan,
    "stablehlo.tanh": np.tanh, "stablehlo.sine": sin, "stablehlo.cosine": cos, "chlo.square": square, "chlo.asin": np.arcsin, "chlo.acos": np.arccos,
    "chlo.atan": np.arctan, "chlo.asinh": np.arcsinh, "chlo.acosh": np.arccosh, "chlo.atanh": np.arctanh,
}


def dense(array):
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}">'


def program(op, dtype, x, expected):
    t = f"tensor<{x.size}x{NAMES[dtype]}>"
    return f"""func.func @main() {{
  %x = stablehlo.constant {dense(x)} : {t}
  %b = stablehlo.optimization_barrier %x : {t}
  %e = stablehlo.constant {dense(expected)} : {t}
  %r = {op} %b : {t if op.startswith('stablehlo') else f'{t} -> {t}'}
  stablehlo.custom_call @check.expect_close(%r, %e) {{has_side_effect = true, max_ulp_difference = {ULP} : i64}} : ({t}, {t}) -> ()
  func.return
}}"""


def oracle(op, dtype, x):
    with np.errstate(all="ignore"):
        return FUNCTIONS[op](x.astype(WIDE[dtype])).astype(dtype)


@pytest.mark.parametrize("dtype", PARTS, ids=["complex64", "complex128"])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_grid(op, dtype, tmp_path):
    x = samples(dtype)
    path = tmp_path / "grid.mlir"
    path.write_text(program(op, dtype, x, oracle(op, dtype, x)))
    # As upstream's tests take them: evaluated, and expanded and evaluated.
    expanded = subprocess.run([tools.tool("xla-opt"), "-stablehlo-complex-math-expander", "-chlo-legalize-to-stablehlo", str(path)],
                              capture_output=True, text=True, check=True).stdout
    for how, flags, text in (("evaluated", [tools.tool("xla-translate"), "--interpret", "-"], path.read_text()),
                             ("expanded", [tools.tool("xla-translate"), "--interpret", "-"], expanded),
                             ("compiled", [tools.tool("xla-run"), "--quiet", "-"], path.read_text())):
        process = subprocess.run(flags, input=text, capture_output=True, text=True)
        assert process.returncode == 0, f"{how}: {process.stderr[-600:]}"
