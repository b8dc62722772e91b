# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorts, scans and transforms that the runtime computes: the orders of comparators, and shapes that take its different ways."""
import numpy as np
import pytest

from benchmarks import tools

jax = pytest.importorskip("jax")
X64 = True  # see conftest.py
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

RANDOM = np.random.default_rng(11)
FLOATS = [np.float32, np.float64, np.float16, jnp.bfloat16]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def program(function, arguments, tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(jax.jit(function).trace(*arguments).lower(lowering_platforms=("cpu",)).as_text())
    return str(path)


def check(function, *arguments, tmp_path, compare=np.testing.assert_array_equal, executed="custom_call"):
    """`function(*arguments)` by xla-run, on one thread and on two, is what JAX says, and `executed` is among the operations that ran."""
    path = program(function, arguments, tmp_path)
    want = jax.tree_util.tree_leaves(jax.jit(function)(*arguments))
    results = {}
    for threads in (1, 2):
        results[threads], process = tools.run_file(path, jax.tree_util.tree_leaves(arguments), "--stats",
                                                   environment={"MILLRACE_NUM_THREADS": str(threads)})
        assert executed in process.stdout + process.stderr
    assert len(want) == len(results[1])
    for expected, one, two in zip(want, results[1], results[2]):
        expected = np.asarray(expected)
        bits = f"V{expected.dtype.itemsize}"
        assert np.array_equal(np.ascontiguousarray(one).view(bits), np.ascontiguousarray(two).view(bits))
        compare(np.asarray(one).view(expected.dtype), expected)


def same_bits(got, want):
    """NaNs may differ in their bits: XLA canonicalizes some."""
    isnan = np.isnan(want.astype(np.float64)) if want.dtype.kind in "fV" else np.zeros(want.shape, bool)
    assert np.array_equal(np.isnan(got.astype(np.float64)), isnan) if isnan.any() else True
    kind = f"u{want.dtype.itemsize}"
    np.testing.assert_array_equal(np.where(isnan, 0, np.ascontiguousarray(got).view(kind)),
                                  np.where(isnan, 0, np.ascontiguousarray(want).view(kind)))


def keys(dtype, *shape):
    """Many equal elements; for floats zeros of both signs, infinities and NaNs of both signs."""
    x = (RANDOM.integers(-100, 100, shape) / 4).astype(dtype) if np.dtype(dtype).kind != "u" else RANDOM.integers(0, 250, shape).astype(dtype)
    if dtype in FLOATS:
        flat = x.reshape(-1)
        for value, start in ((np.nan, 3), (-np.nan, 5), (np.inf, 7), (-np.inf, 11), (0.0, 2), (-0.0, 13)):
            flat[start::17] = value
    return x


def test_every_type_of_key(tmp_path):
    """Elements alone, their positions, and both, of lines that are sorted in one of three ways each."""
    arguments = [keys(dtype, *shape) for dtype in FLOATS + INTEGERS for shape in ((3, 40), (2, 300), (1, 5000))]

    def sorts(*xs):
        return [(lax.sort(x), jnp.argsort(x), lax.sort((x, lax.iota(np.int32, x.shape[1])[None].repeat(x.shape[0], 0)), num_keys=1)) for x in xs]

    check(sorts, *arguments, tmp_path=tmp_path, compare=same_bits)


@pytest.mark.parametrize("k", [1, 5, 16, 17, 65, 120, 601])
def test_the_first_few(k, tmp_path):
    """The largest elements with their positions and without, every type; few are kept in order, more in a heap, a good part of a row is found by
    counting digits; odd ends of rows."""
    arguments = [keys(dtype, *shape) for dtype in FLOATS + INTEGERS for shape in ((3, 601), (1, 5000))]

    def selections(*xs):
        return [made for x in xs for made in (*lax.top_k(x, k), lax.top_k(x[:, ::-1], k)[0], lax.top_k(x, k)[1])]

    check(selections, *arguments, tmp_path=tmp_path, compare=same_bits)


@pytest.mark.parametrize("length", [2, 7, 16, 33, 100, 255])
def test_short_lines_side_by_side(length, tmp_path):
    """Lines in the lanes of vectors, a rest of them, and few that are not worth it; along the last dimension and another one."""
    many = 4096 // length + 5  # few elements are sorted by a kernel
    arguments = [keys(dtype, *shape) for dtype in FLOATS + INTEGERS for shape in ((many, length), (length, many))]

    def sorts(*xs):
        return [made for x in xs for axis in [int(x.shape[0] == length)]
                for made in (lax.sort(x, dimension=1 - axis), jnp.argsort(x, axis=1 - axis), jnp.sort(x, axis=1 - axis, descending=True))]

    check(sorts, *arguments, tmp_path=tmp_path, compare=same_bits)


def test_orders(tmp_path):
    """Several keys, payloads of other types, dimensions that are not the last one, descending."""
    x, y, z = keys(np.float32, 70, 6, 5), keys(np.int16, 70, 6, 5), keys(np.float64, 70, 6, 5)

    def sorts(x, y, z):
        return (lax.sort((x, y, z), dimension=0, num_keys=2), lax.sort((y, z, x), dimension=0, num_keys=3),
                lax.sort((y, x + 1j * z), dimension=1, num_keys=1), jnp.sort(x, axis=0, descending=True),
                jnp.argsort(y, axis=0, descending=True), lax.sort((z, z), dimension=0, num_keys=1), jnp.sort(y > 3, axis=0))

    check(sorts, x, y, z, tmp_path=tmp_path, compare=lambda a, b: np.testing.assert_array_equal(a, b))


def test_lines_that_all_threads_sort(tmp_path):
    x, y = keys(np.float32, 70001), RANDOM.integers(-2**62, 2**62, 66000)
    check(lambda x, y: (jnp.sort(x), jnp.argsort(x), jnp.sort(y), jnp.argsort(y)), x, y, tmp_path=tmp_path, compare=same_bits)


SORT = """  %{name}:2 = "stablehlo.sort"(%x, %i) <{{dimension = 1 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<{type}>, %b: tensor<{type}>, %c: tensor<i64>, %d: tensor<i64>):
{body}    stablehlo.return %0 : tensor<i1>
  }}) : (tensor<2x50x{type}>, tensor<2x50xi64>) -> (tensor<2x50x{type}>, tensor<2x50xi64>)
"""
COMPARE = "    %{name} = stablehlo.compare {direction}, %{lhs}, %{rhs}, {kind} : (tensor<{type}>, tensor<{type}>) -> tensor<i1>\n"


def sorts(element, bodies):
    """One program that sorts its argument and the positions with every comparator."""
    tensors = [f"tensor<2x50x{element}>", "tensor<2x50xi64>"] * len(bodies)
    text = f"func.func @main(%x: tensor<2x50x{element}>) -> ({', '.join(tensors)}) {{\n  %i = stablehlo.iota dim = 1 : tensor<2x50xi64>\n"
    text += "".join(SORT.format(name=f"s{n}", type=element, body=body) for n, body in enumerate(bodies))
    return text + f"  return {', '.join(f'%s{n}#0, %s{n}#1' for n in range(len(bodies)))} : {', '.join(tensors)}\n}}\n"


@pytest.mark.parametrize("kind", ("FLOAT", "TOTALORDER", "NAN_LAST"))
def test_comparators(kind, tmp_path):
    """Native orders against the evaluator's calls of the comparators: both directions, both orders of the arguments."""
    bodies = []
    for direction in ("LT", "GT"):
        for lhs, rhs in ("ab", "ba"):
            one = lambda name, how, x, y: COMPARE.format(name=name, direction=how, lhs=x, rhs=y, type="f32",
                                                         kind="FLOAT" if kind == "NAN_LAST" else kind)
            if kind != "NAN_LAST":
                bodies.append(one("0", direction, lhs, rhs))
                continue
            parts = [one("1", "LT", lhs, rhs), one("2", "NE", rhs, rhs), one("3", "EQ", lhs, lhs),
                     "    %4 = stablehlo.and %3, %2 : tensor<i1>\n", "    %0 = stablehlo.or %4, %1 : tensor<i1>\n"]
            bodies.append("".join(parts))
    path = tmp_path / "sort.mlir"
    path.write_text(sorts("f32", bodies))
    x = keys(np.float32, 2, 50)
    if kind == "FLOAT":  # NaNs are unordered
        x = np.where(np.isnan(x), np.float32(2), x)
    got, process = tools.run_file(str(path), [x], "--stats")
    assert "custom_call" in process.stdout + process.stderr and "stablehlo.sort" not in process.stdout + process.stderr
    want, _ = tools.run_file(str(path), [x], "--backend=interpreter")
    for ours, theirs in zip(got, want):
        np.testing.assert_array_equal(ours.view(np.uint32), theirs.view(np.uint32))


def test_another_comparator_stays(tmp_path):
    path = tmp_path / "sort.mlir"
    body = ("    %1 = stablehlo.multiply %a, %a : tensor<i32>\n    %2 = stablehlo.multiply %b, %b : tensor<i32>\n" +
            COMPARE.format(name="0", direction="LT", lhs="1", rhs="2", kind="SIGNED", type="i32"))
    path.write_text(sorts("i32", [body]))
    x = RANDOM.integers(-9, 9, (2, 50)).astype(np.int32)
    got, process = tools.run_file(str(path), [x], "--stats")
    assert "custom_call" not in process.stdout + process.stderr
    order = np.argsort(x * x, axis=1, kind="stable")
    np.testing.assert_array_equal(got[1], order)
    np.testing.assert_array_equal(got[0], np.take_along_axis(x, order, 1))


# Lines of groups and the rest of one; with neighbouring points in vectors; along the last axis and before it; cut into matrices; with a large prime factor.
SHAPES = [((19, 24), 1), ((24, 19), 0), ((3, 100, 21), 1), ((5, 77), 1), ((1, 4096), 1), ((1, 9240), 1), ((2, 16384), 1), ((9, 67), 1),
          ((1, 2018), 1), ((17, 1), 1), ((8, 125), 1), ((19, 512), 1), ((33, 64), 1), ((64, 48), 0), ((20, 1000), 1), ((5, 160), 1),
          ((21, 128), 1), ((5, 240), 1), ((7, 200), 1), ((3, 400), 1), ((18, 256), 1), ((2, 1536), 1), ((3, 2048), 1), ((1, 6000), 1), ((2, 8192), 1), ((6, 89), 1),
          ((1, 1009), 1), ((2, 1187), 1), ((1, 1501), 1), ((3, 3034), 1), ((20, 97), 1), ((1009, 3), 0), ((1187, 1), 0)]


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_transforms(dtype, tmp_path):
    arguments = [(RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)).astype(np.result_type(dtype, 1j)) for shape, _ in SHAPES]

    def transforms(*xs):
        made = []
        for x, (shape, axis) in zip(xs, SHAPES):
            made += [jnp.fft.fft(x, axis=axis), jnp.fft.ifft(x, axis=axis)]
            if axis + 1 == len(shape):
                made += [jnp.fft.rfft(x.real), jnp.fft.irfft(x, n=2 * shape[-1]), jnp.fft.irfft(x, n=2 * shape[-1] - 1)]
        return made

    def close(got, want):
        scale = np.abs(want).max()
        np.testing.assert_allclose(got / scale, want / scale, rtol=0, atol=2e-6 if dtype == np.float32 else 1e-13)

    path = program(transforms, arguments, tmp_path)
    wide = [x.astype(np.complex128) for x in arguments]
    want = [np.asarray(w) for w in jax.jit(transforms)(*wide)]
    one, _ = tools.run_file(path, arguments, environment={"MILLRACE_NUM_THREADS": "1"})
    two, process = tools.run_file(path, arguments, "--stats", environment={"MILLRACE_NUM_THREADS": "2"})
    assert "custom_call" in process.stdout + process.stderr
    for expected, a, b in zip(want, one, two):
        assert np.array_equal(a, b)
        close(np.asarray(a), expected)


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_transforms_of_images(dtype, tmp_path):
    """Tiny images, several at a time, and larger ones, a few and many: the number of threads changes nothing. Along other axes, too."""
    shapes = [(1001, 4, 4), (9, 1, 100), (3, 9, 1, 100), (5, 600, 2), (2, 2, 64), (1, 3, 128), (3, 3, 128), (40, 3, 5, 4), (2, 2, 4096), (37, 17, 12)]
    arguments = [(RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)).astype(np.result_type(dtype, 1j)) for shape in shapes]

    def transforms(*xs):
        made = []
        for x in xs:
            size = 2 * x.shape[-1]
            made += [jnp.fft.fft2(x), jnp.fft.ifft2(x, axes=(-3, -1)), jnp.fft.rfft2(x.real), jnp.fft.irfft2(x, s=(x.shape[-2], size))]
        return made

    path = program(transforms, arguments, tmp_path)
    want = [np.asarray(w) for w in jax.jit(transforms)(*[x.astype(np.complex128) for x in arguments])]
    results = [tools.run_file(path, arguments, environment={"MILLRACE_NUM_THREADS": str(threads)})[0] for threads in (1, 2, 3, 8)]
    for expected, *got in zip(want, *results):
        assert all(np.array_equal(got[0], other) for other in got[1:])
        scale = np.abs(expected).max()
        np.testing.assert_allclose(np.asarray(got[0]) / scale, expected / scale, rtol=0, atol=2e-6 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_few_terms(dtype, tmp_path):
    """Images made larger and smaller, their gradients, rows of every width; a NaN and infinities spoil what they would in a product."""
    spoiled = RANDOM.standard_normal((3, 20, 24, 19)).astype(dtype)
    spoiled[1, 3, 5, 7], spoiled[1, 9, 2, 3], spoiled[2, 19, 23, 18] = np.nan, np.inf, -np.inf
    arguments = [RANDOM.standard_normal(shape).astype(dtype) for shape in ((2, 28, 33, 16), (2, 28, 33, 85), (1, 64, 64, 8))] + [spoiled]

    def resized(*xs):
        made = []
        for x in xs:
            n, h, w, c = x.shape
            shapes = (n, 2 * h, 3 * w, c), (n, h + 7, w - 5, c)
            methods = ("bilinear",) if x is xs[-1] else ("bilinear", "cubic")  # which cubic weights are zeros, XLA says otherwise
            made += [jax.image.resize(x, shape, method) for shape in shapes for method in methods]
            made += [jax.grad(lambda y: (jax.image.resize(y, shapes[0], "bilinear") ** 2).sum())(x)]
        return made

    def close(got, want):
        np.testing.assert_allclose(got, want, rtol=0, atol=2e-4 if dtype == np.float32 else 1e-12)

    check(resized, *arguments, tmp_path=tmp_path, compare=close)


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_few_terms_of_short_rows(dtype, tmp_path):
    """One to fifteen channels, or none, behind what is resized; 1 to 70 images side by side; many terms, tables that are evaluated, dots alone."""
    shapes = [(3, 20, 45, c) for c in (1, 2, 3, 4, 15)] + [(2, 5, 37, 41), (70, 1, 50, 1), (1, 1, 300, 260)]
    arguments = [RANDOM.standard_normal(shape).astype(dtype) for shape in shapes]

    def resized(*xs):
        made = []
        for x in xs:
            first = 1 if x.shape[1] == 20 else 2
            for scale, more in ((.3, 0), (1, 7)):
                size = tuple(int(s * scale) + more if d in (first, first + 1) else s for d, s in enumerate(x.shape))
                made.append(jax.image.resize(x, size, "bilinear"))
        return made

    def close(got, want):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 if dtype == np.float32 else 1e-12)

    check(resized, *arguments, tmp_path=tmp_path, compare=close)
    spoiled = arguments[2].copy()  # every place of the four numbers that are loaded at once, a row of the last, shorter tile
    for place, value in (((0, 1, 2, 0), np.nan), ((1, 5, 13, 1), np.inf), ((2, 19, 44, 2), -np.inf), ((2, 7, 0, 0), np.nan)):
        spoiled[place] = value
    check(lambda x: (jax.image.resize(x, (3, 20, 20, 3), "bilinear"), jax.image.resize(x, (3, 30, 91, 3), "bilinear")), spoiled, tmp_path=tmp_path,
          compare=close)


def test_lines_do_not_touch_each_other(tmp_path):
    """A NaN or a huge number in one real line leaves the others as they are."""
    x = RANDOM.standard_normal((16, 64)).astype(np.float32)
    spoiled = x.copy()
    spoiled[3, 5], spoiled[9] = np.nan, 1e30
    path = program(jnp.fft.rfft, [x], tmp_path)
    (want,), _ = tools.run_file(path, [x])
    (got,), _ = tools.run_file(path, [spoiled])
    kept = np.delete(np.arange(16), [3, 9])
    np.testing.assert_array_equal(np.asarray(got)[kept], np.asarray(want)[kept])
    assert np.isnan(got[3]).all()


def test_scans(tmp_path):
    """Lines side by side and a rest of them, along other dimensions, from the end, long ones in blocks, every type."""
    reals = [keys(dtype, *shape) for dtype in (np.float32, np.float64) for shape in ((19, 130), (70, 19))]
    whole = [RANDOM.integers(-2**30, 2**30, shape).astype(dtype) for dtype in (np.int32, np.uint64) for shape in ((19, 130), (5, 70, 3))]
    long_lines = [RANDOM.integers(-2**30, 2**30, 70001).astype(np.int32), RANDOM.integers(-2**60, 2**60, (2, 69632)).astype(np.int64),
                  keys(np.float32, 70003), keys(np.float64, 2, 65537), RANDOM.standard_normal(73728).astype(np.float32)]

    def scans(*xs):
        made = []
        for x in xs:
            for axis in range(x.ndim):
                made += [f(x, axis=axis, reverse=reverse) for f in (lax.cummax, lax.cummin) for reverse in (False, True)]
                if x.dtype.kind in "iu":
                    made += [lax.cumsum(x, axis=axis), lax.cumprod(x, axis=axis, reverse=True)]
        return made

    check(scans, *reals, *whole, *long_lines, tmp_path=tmp_path, compare=same_bits)
    x = RANDOM.standard_normal((9, 700)).astype(np.float32)
    line = RANDOM.standard_normal(150000)

    def close(got, want):
        np.testing.assert_allclose(got, want, rtol=1e-4 if want.dtype == np.float32 else 1e-10, atol=1e-4 if want.dtype == np.float32 else 1e-10)

    check(lambda x, line: (jnp.cumsum(x, axis=1), lax.cumsum(x, axis=0, reverse=True), jnp.cumprod(1 + x / 100, axis=1), jnp.cumsum(line),
                           lax.cumsum(line, reverse=True)), x, line, tmp_path=tmp_path, compare=close)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("shape", [(70, 1019), (70003,)])
def test_a_nan_among_running_extremes_keeps_its_bits(shape, sign, tmp_path):
    """Sign and payload: what sorts in a total order afterwards sees them."""
    x = RANDOM.standard_normal(shape)
    x[..., 11:] = np.where(RANDOM.random(x[..., 11:].shape) < 0.01, np.nan, x[..., 11:])
    bits = x.view(np.int64)
    bits[np.isnan(x)] = np.array(np.copysign(np.nan, sign)).view(np.int64) | 0x1234
    path = program(lambda x: [f(x, axis=x.ndim - 1, reverse=back) for f in (lax.cummax, lax.cummin) for back in (False, True)], [x], tmp_path)
    results, process = tools.run_file(path, [x], "--stats")
    assert "custom_call" in process.stdout + process.stderr
    for got in results:
        assert set(got[np.isnan(got)].view(np.int64)) == set(bits[np.isnan(x)])


def test_products_that_leave_the_range_in_parts(tmp_path):
    """0 * 1000^31 is 0 and 1e-20 * 1e20 * 1e20 is 1e20, whatever the last factors give without the first."""
    lines = np.ones((40, 700), np.float32)
    lines[0, 1:40] = 1000
    lines[0, 0] = 0
    lines[1, :3] = 1e-20, 1e20, 1e20
    lines[2, 20:40] = 1e-5
    lines[2, 40:60] = 1e5
    path = program(lambda x: (jnp.cumprod(x, axis=1), lax.cumprod(x, axis=1, reverse=True)), [lines], tmp_path)
    (forward, backward), process = tools.run_file(path, [lines], "--stats")
    assert "custom_call" in process.stdout + process.stderr
    np.testing.assert_allclose(forward, np.cumprod(lines, axis=1), rtol=1e-5)
    np.testing.assert_allclose(backward, np.cumprod(lines[:, ::-1], axis=1)[:, ::-1], rtol=1e-5)


def test_products_of_bytes(tmp_path):
    """All bytes, odd sizes, both layouts of the right-hand side: by generated code on every processor."""
    a, b, c = (RANDOM.integers(-128, 128, shape).astype(np.int8) for shape in ((77, 301), (301, 131), (131, 301)))

    def products(a, b, c):
        return lax.dot(a, b, preferred_element_type=np.int32), lax.dot_general(a, c, (((1,), (1,)), ((), ())), preferred_element_type=np.int32)

    check(products, a, b, c, tmp_path=tmp_path, executed="dot_general")
