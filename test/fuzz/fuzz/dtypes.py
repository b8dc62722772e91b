# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types as the fuzzer needs them: StableHLO name, NumPy type, kind, tolerance of inexact results."""
import ml_dtypes
import numpy as np

INTEGERS = ["i2", "i4", "i8", "i16", "i32", "i64"]
UNSIGNED = ["ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
SMALL_FLOATS = ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ", "f8E4M3", "f8E3M4"]
COMPLEX = ["complex<f32>", "complex<f64>"]
ALL = ["i1", *INTEGERS, *UNSIGNED, *FLOATS, *SMALL_FLOATS, *COMPLEX]

NUMPY = {
    "i1": np.bool_, "i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4, "complex<f32>": np.complex64, "complex<f64>": np.complex128,
}
# Relative to the largest finite magnitude of the tensor: a few operations after one another, sums in any order.
TOLERANCE = {"f64": 1e-9, "complex<f64>": 1e-9, "f32": 1e-4, "complex<f32>": 1e-3, "f16": 3e-2, "bf16": 2e-1}


def is_integer(dtype):
    return dtype in INTEGERS or dtype in UNSIGNED


def is_float(dtype):
    return dtype in FLOATS or dtype in SMALL_FLOATS


def bits(dtype):
    if dtype.startswith("complex"):
        return 2 * bits(dtype[8:-1])
    if dtype.startswith("f8"):
        return 8
    return 16 if dtype == "bf16" else int("".join(c for c in dtype if c.isdigit()))


def int_range(dtype):
    width = bits(dtype)
    return (0, 2 ** width - 1) if dtype in UNSIGNED else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def spell(dtype, shape):
    return f"tensor<{''.join(f'{d}x' for d in shape)}{dtype}>"


def random_array(random, dtype, shape, special):
    """Values that try corners: `special` adds infinities, NaN, signed zeros and extremes to floats."""
    if dtype == "i1":
        return random.random(shape) < 0.5
    if is_integer(dtype):
        low, high = int_range(dtype)
        small = random.integers(max(low, -8), min(high, 8), shape, endpoint=True)
        wide = np.uint64 if dtype == "ui64" else np.int64
        corners = random.choice(np.array([low, high, low + 1, high - 1], dtype=wide), shape)
        return np.asarray(np.where(random.random(shape) < 0.15, corners, small.astype(wide))).astype(NUMPY[dtype])
    if dtype.startswith("complex"):
        part = dtype[8:-1]
        return (random_array(random, part, shape, special) + 1j * random_array(random, part, shape, special)).astype(NUMPY[dtype])
    values = np.where(random.random(shape) < 0.3, random.integers(-3, 4, shape).astype(np.float64), random.uniform(-2, 2, shape))
    if special:
        corners = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-5, -1e-30, 3e4, 0.5, -1.5, 2.5]
        values = np.where(random.random(shape) < 0.2, random.choice(corners, shape), values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(NUMPY[dtype])


def for_file(array):
    """What np.savez can hold: types that NumPy lacks travel as raw bytes of their size."""
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    if array.dtype.isbuiltin != 1:
        return array.view(f"V{array.dtype.itemsize}")
    return array


def from_file(array, dtype):
    """The array under its real type, whatever stand-in the file used."""
    want = np.dtype(NUMPY[dtype])
    if array.dtype == want:
        return array
    if array.dtype.itemsize != want.itemsize:
        raise ValueError(f"expects {dtype}, but the file has {array.dtype}")
    return array.view(want)


def difference(dtype, exact, want, got):
    """None if equal: bit for bit up to NaN payloads and zero's sign if `exact`, else within the tolerance; else a phrase."""
    if want.shape != got.shape:
        return f"expects shape {want.shape}, but got {got.shape}"
    if want.size == 0:
        return None
    if dtype == "i1" or is_integer(dtype):
        a, b = want.astype(object), got.astype(object)
        bad = np.asarray(a != b)
    else:
        wide = np.complex128 if dtype.startswith("complex") else np.float64
        a, b = want.astype(wide), got.astype(wide)
        with np.errstate(all="ignore"):
            if exact:
                bad = ~((a == b) | (np.isnan(a) & np.isnan(b)))
            else:
                finite = np.abs(a[np.isfinite(a)])
                scale = float(np.max(finite)) if finite.size else 0.0
                near = np.abs(a - b) <= TOLERANCE.get(dtype, 0.5) * (np.abs(a) + scale) + 1e-30
                bad = ~((a == b) | near | (np.isnan(a) & np.isnan(b)) | (~np.isfinite(a) & ~np.isfinite(b) & (dtype[0] == "c")))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {want.size} elements differ, first at {list(at)}: expects {want[at]}, but got {got[at]}"
