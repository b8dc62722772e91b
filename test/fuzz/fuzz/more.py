# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose partitioning differs from that of their relatives in structure.py; for scripts/fuzz --devices."""
from fuzz import dtypes as dt
from fuzz.elementwise import calm, scalar_constant, unary
from fuzz.structure import ANY, initial, ints, reducer, region, simple


def _small(p, dtypes, rank, low=2, high=7):
    """A value with dimensions of at least `low`."""
    fitting = [v for v in p.values if v.dtype in dtypes and len(v.shape) == rank and all(low <= n for n in v.shape)]
    if fitting and p.random.random() < 0.6:
        return fitting[int(p.random.integers(len(fitting)))]
    return p.argument(str(p.random.choice(dtypes)), [int(p.random.integers(low, high + 1)) for _ in range(rank)])


def dilated_windows(p):
    """reduce_window with holes in windows and between elements, of one or two values."""
    v = _small(p, ["i32", "f32", "i8"], int(p.random.integers(1, 4)))
    kind = reducer(p, v.dtype)
    init = initial(p, v.dtype, kind)
    window, stride, pads, base, holes, shape = [], [], [], [], [], []
    for n in v.shape:
        w, s, b, h = (int(p.random.integers(1, k)) for k in (4, 4, 3, 3))
        low, high = int(p.random.integers(-1, 4)), int(p.random.integers(0, 4))
        have, reach = (n - 1) * b + 1 + low + high, (w - 1) * h + 1
        if have < reach:
            w, h, reach = 1, 1, 1
        window.append(w), stride.append(s), pads.append((low, high)), base.append(b), holes.append(h)
        shape.append((have - reach) // s + 1)
    text = (f'"stablehlo.reduce_window"({{0}}, {{1}}) <{{window_dimensions = {ints(window)}, window_strides = {ints(stride)}, '
            f"base_dilations = {ints(base)}, window_dilations = {ints(holes)}, "
            f"padding = dense<[{', '.join(f'[{a}, {b}]' for a, b in pads)}]> : tensor<{len(pads)}x2xi64>}}> {region(kind, v.dtype)} : "
            f"({v.type}, {init.type}) -> {dt.spell(v.dtype, shape)}")
    exact = v.exact and (kind != "add" or not dt.is_float(v.dtype))
    p.emit("reduce_window", "reduction", [v, init], [(v.dtype, shape)], text, exact, v.magnitude * (64 if kind == "add" else 1))


def batch_norm(p):
    v = calm(p, _small(p, ["f32", "f64"], int(p.random.integers(2, 5))))
    feature = int(p.random.integers(len(v.shape)))
    list_ = dt.spell(v.dtype, (v.shape[feature],))
    attributes = f"<{{epsilon = 0.01 : f32, feature_index = {feature} : i64}}>"
    scale, offset = (calm(p, p.pick([v.dtype], shape=(v.shape[feature],))) for _ in range(2))
    kind = str(p.random.choice(["inference", "training", "grad"]))
    if kind == "training":
        text = f'"stablehlo.batch_norm_training"({{0}}, {{1}}, {{2}}) {attributes} : ({v.type}, {list_}, {list_}) -> ({v.type}, {list_}, {list_})'
        p.emit("batch_norm_training", "reduction", [v, scale, offset], [(v.dtype, v.shape)] + [(v.dtype, (v.shape[feature],))] * 2, text,
               False, 100.0)
        return
    mean = offset
    variance = unary(p, "abs", p.pick([v.dtype], shape=(v.shape[feature],)))
    if kind == "inference":
        text = (f'"stablehlo.batch_norm_inference"({{0}}, {{1}}, {{2}}, {{3}}, {{4}}) {attributes} : '
                f"({v.type}, {list_}, {list_}, {list_}, {list_}) -> {v.type}")
        p.emit("batch_norm_inference", "reduction", [v, scale, offset, mean, variance], [(v.dtype, v.shape)], text, False, 100.0)
        return
    gradient = calm(p, p.pick([v.dtype], shape=v.shape))
    text = (f'"stablehlo.batch_norm_grad"({{0}}, {{1}}, {{2}}, {{3}}, {{4}}) {attributes} : '
            f"({v.type}, {list_}, {list_}, {list_}, {v.type}) -> ({v.type}, {list_}, {list_})")
    p.emit("batch_norm_grad", "reduction", [v, scale, mean, variance, gradient], [(v.dtype, v.shape)] + [(v.dtype, (v.shape[feature],))] * 2,
           text, False, 1000.0)


def variadic_reduce(p):
    """Values with their numbers: the largest and where it is."""
    v = p.pick(["i32", "f32", "i8"], minimum_rank=1, exact=True, nonempty=True)
    at = p.pick(["i32"], shape=v.shape)
    dim = int(p.random.integers(len(v.shape)))
    first = initial(p, v.dtype, "maximum")
    second = scalar_constant(p, "i32", 0, ())
    a, b = dt.spell(v.dtype, ()), "tensor<i32>"
    kind = "FLOAT" if dt.is_float(v.dtype) else "SIGNED"
    shape = [n for d, n in enumerate(v.shape) if d != dim]
    text = (f'"stablehlo.reduce"({{0}}, {{1}}, {{2}}, {{3}}) <{{dimensions = {ints([dim])}}}> ({{\n'
            f"    ^bb0(%x: {a}, %i: {b}, %y: {a}, %j: {b}):\n      %g = stablehlo.compare GT, %x, %y, {kind} : ({a}, {a}) -> tensor<i1>\n"
            f"      %e = stablehlo.compare EQ, %x, %y, {kind} : ({a}, {a}) -> tensor<i1>\n      %l = stablehlo.minimum %i, %j : {b}\n"
            f"      %v = stablehlo.select %g, %x, %y : tensor<i1>, {a}\n      %m = stablehlo.select %g, %i, %j : tensor<i1>, {b}\n"
            f"      %n = stablehlo.select %e, %l, %m : tensor<i1>, {b}\n      stablehlo.return %v, %n : {a}, {b}\n    }}) : "
            f"({v.type}, {at.type}, {a}, {b}) -> ({dt.spell(v.dtype, shape)}, {dt.spell('i32', shape)})")
    if not at.exact or any("nan" in str(x) for x in ([] if v.op else [0])):
        return
    if dt.is_float(v.dtype) and (p.special or v.op is not None):
        return  # NaN has no largest
    p.emit("reduce", "reduction", [v, at, first, second], [(v.dtype, shape), ("i32", shape)], text)


def dot(p):
    dtype = str(p.random.choice(["f32", "i32", "f64"]))
    m, k, n = (int(p.random.choice([1, 3, 5, 8, 17])) for _ in range(3))
    a, b = calm(p, p.pick([dtype], shape=(m, k))), calm(p, p.pick([dtype], shape=(k, n)))
    text = f'"stablehlo.dot"({{0}}, {{1}}) : ({a.type}, {b.type}) -> {dt.spell(dtype, (m, n))}'
    p.emit("dot", "contraction", [a, b], [(dtype, (m, n))], text, dt.is_integer(dtype) and a.exact and b.exact,
           min(1e4, a.magnitude * b.magnitude * k))


def einsum(p):
    b, i, j, k = (int(p.random.integers(1, 7)) for _ in range(4))
    x, y = p.pick(["i32"], shape=(b, i, k)), p.pick(["i32"], shape=(b, k, j))
    p.emit("einsum", "contraction", [x, y], [("i32", (b, i, j))],
           f'"stablehlo.einsum"({{0}}, {{1}}) <{{einsum_config = "bik,bkj->bij"}}> : ({x.type}, {y.type}) -> {dt.spell("i32", (b, i, j))}')


def unary_einsum(p):
    x = _small(p, ["i32", "f32"], 2)
    p.emit("unary_einsum", "contraction", [x], [(x.dtype, x.shape[::-1])],
           f'"stablehlo.unary_einsum"({{0}}) <{{einsum_config = "ab->ba"}}> : ({x.type}) -> {dt.spell(x.dtype, x.shape[::-1])}')


def torch_index_select(p):
    x, indices = _small(p, ["i32", "f32"], 2), p.pick(["i32"], shape=(int(p.random.integers(1, 6)),))
    dim = int(p.random.integers(2))
    inside = p.emit("clamp", "elementwise", [scalar_constant(p, "i32", 0, ()), indices, scalar_constant(p, "i32", x.shape[dim] - 1, ())],
                    [("i32", indices.shape)], f'"stablehlo.clamp"({{0}}, {{1}}, {{2}}) : (tensor<i32>, {indices.type}, tensor<i32>) -> {indices.type}')[0]
    shape = [indices.shape[0] if d == dim else n for d, n in enumerate(x.shape)]
    simple(p, "torch_index_select", "indexing", [x, inside], (x.dtype, shape), f"dim = {dim} : i64, batch_dims = 0 : i64", magnitude=x.magnitude)


def convolution_backward(p):
    """The shape of a gradient by the kernel: windows as large as the output was; batches as features. Or batch groups."""
    dtype = str(p.random.choice(["i32", "f32"]))
    size, window = int(p.random.integers(4, 10)), int(p.random.integers(3, 6))
    window = min(window, size)
    groups = int(p.random.choice([1, 2, 3]))
    n, f = int(p.random.integers(1, 4)) * groups, int(p.random.integers(1, 4))
    k = groups * int(p.random.integers(1, 3))
    low, high, stride, inner = (int(p.random.integers(0, 3)), int(p.random.integers(0, 3)), int(p.random.integers(1, 4)), int(p.random.integers(1, 4)))
    have = (size - 1) * inner + 1 + low + high
    out = (have - window) // stride + 1
    x, w = calm(p, p.pick([dtype], shape=(f, size, n))), calm(p, p.pick([dtype], shape=(window, f, k)))
    numbers = "#stablehlo.conv<[f, 0, b]x[0, i, o]->[0, b, f]>"
    simple(p, "convolution", "contraction", [x, w], (dtype, [out, n // groups, k]),
           f"dimension_numbers = {numbers}, window_strides = {ints([stride])}, padding = dense<[[{low}, {high}]]> : tensor<1x2xi64>, "
           f"lhs_dilation = {ints([inner])}, rhs_dilation = {ints([1])}, feature_group_count = 1 : i64, batch_group_count = {groups} : i64",
           exact=dt.is_integer(dtype) and x.exact and w.exact, magnitude=min(1e4, x.magnitude * w.magnitude * f * window))


def gather_windows(p):
    """Windows of several elements, or one row per batch."""
    if p.random.random() < 0.5:
        v = _small(p, ["i32", "f32", "i8"], 2, 2, 9)
        n, sizes = int(p.random.integers(1, 6)), [int(p.random.integers(1, d + 1)) for d in v.shape]
        indices = p.pick([str(p.random.choice(["i32", "ui8"]))], shape=(2, n), reuse=0.3)
        numbers = "#stablehlo.gather<offset_dims = [0, 2], start_index_map = [1, 0], index_vector_dim = 0>"
        simple(p, "gather", "indexing", [v, indices], (v.dtype, [sizes[0], n, sizes[1]]),
               f"dimension_numbers = {numbers}, slice_sizes = {ints(sizes)}, indices_are_sorted = false", magnitude=v.magnitude)
        return
    v = _small(p, ["i32", "f32", "i8"], 3, 2, 9)
    n = int(p.random.integers(1, 6))
    indices = p.pick(["i64"], shape=(v.shape[0], n, 1), reuse=0.3)
    numbers = ("#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], "
               "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>")
    simple(p, "gather", "indexing", [v, indices], (v.dtype, [v.shape[0], n, v.shape[2]]),
           f"dimension_numbers = {numbers}, slice_sizes = {ints([1, 1, v.shape[2]])}, indices_are_sorted = false", magnitude=v.magnitude)


def scatter_windows(p):
    """Windows written over the operand, or one row per batch; what does not fit is skipped."""
    v = _small(p, ["i32", "i8", "ui16"], 2 if p.random.random() < 0.5 else 3, 2, 9)
    scalar = dt.spell(v.dtype, ())
    n = int(p.random.integers(1, 5))
    if len(v.shape) == 2:
        sizes = [int(p.random.integers(1, d + 1)) for d in v.shape]
        indices = p.pick(["i32"], shape=(n, 2), reuse=0.3)
        updates = p.pick([v.dtype], shape=(n, *sizes))
        numbers = ("#stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>")
    else:
        indices = p.pick(["i64"], shape=(n, v.shape[0], 1), reuse=0.3)
        updates = p.pick([v.dtype], shape=(n, v.shape[0], v.shape[2]))
        numbers = ("#stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], "
                   "scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>")
    kind = str(p.random.choice(["add", "maximum", "multiply"]))
    text = (f'"stablehlo.scatter"({{0}}, {{1}}, {{2}}) <{{scatter_dimension_numbers = {numbers}, indices_are_sorted = false, '
            f"unique_indices = false}}> ({{\n    ^bb0(%x: {scalar}, %y: {scalar}):\n      %z = stablehlo.{kind} %x, %y : {scalar}\n"
            f"      stablehlo.return %z : {scalar}\n    }}) : ({v.type}, {indices.type}, {updates.type}) -> {v.type}")
    p.emit("scatter", "indexing", [v, indices, updates], [(v.dtype, v.shape)], text)


def linear_algebra(p):
    """Batches of matrices that are well conditioned."""
    batch, n, k = int(p.random.integers(1, 6)), int(p.random.integers(1, 6)), int(p.random.integers(1, 6))
    dtype = str(p.random.choice(["f32", "f64"]))
    a = calm(p, p.pick([dtype], shape=(batch, n, n)), 3.0)
    half = unary(p, "tanh", a, exact=False, magnitude=1.0)
    numbers = "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>"
    square = simple(p, "dot_general", "contraction", [half, half], (dtype, half.shape), f"dot_dimension_numbers = {numbers}", exact=False)
    rows, columns = (simple(p, "iota", "data_movement", [], ("i32", half.shape), f"iota_dimension = {d} : i64", exact=True) for d in (1, 2))
    same = p.emit("compare", "elementwise", [rows, columns], [("i1", half.shape)],
                  f'"stablehlo.compare"({{0}}, {{1}}) <{{comparison_direction = #stablehlo<comparison_direction EQ>}}> : '
                  f"({rows.type}, {columns.type}) -> {dt.spell('i1', half.shape)}")[0]
    large, zero = scalar_constant(p, dtype, 8, half.shape), scalar_constant(p, dtype, 0, half.shape)
    diagonal = p.emit("select", "elementwise", [same, large, zero], [(dtype, half.shape)],
                      f'"stablehlo.select"({{0}}, {{1}}, {{2}}) : ({same.type}, {large.type}, {zero.type}) -> {half.type}')[0]
    spd = p.emit("add", "elementwise", [square, diagonal], [(dtype, half.shape)],
                 f'"stablehlo.add"({{0}}, {{1}}) : ({half.type}, {half.type}) -> {half.type}', exact=False, magnitude=16.0)[0]
    if p.random.random() < 0.5:
        simple(p, "cholesky", "contraction", [spd], (dtype, half.shape), "lower = true", exact=False, magnitude=4.0)
        return
    left = p.random.random() < 0.5
    b = calm(p, p.pick([dtype], shape=(batch, n, k) if left else (batch, k, n)))
    way = str(p.random.choice(["NO_TRANSPOSE", "TRANSPOSE"]))
    simple(p, "triangular_solve", "contraction", [spd, b], (dtype, b.shape),
           f"left_side = {'true' if left else 'false'}, lower = {'true' if p.random.random() < 0.5 else 'false'}, unit_diagonal = false, "
           f"transpose_a = #stablehlo<transpose {way}>", exact=False, magnitude=b.magnitude)


def fft(p):
    shape = [int(p.random.integers(1, 6)), int(p.random.integers(1, 9)), int(p.random.integers(2, 9))]
    kind = str(p.random.choice(["FFT", "IFFT", "RFFT"]))
    lengths = shape[int(p.random.integers(1, 3)):]
    v = p.argument("f32" if kind == "RFFT" else "complex<f32>", shape)
    out = shape[:-1] + [shape[-1] // 2 + 1] if kind == "RFFT" else shape
    simple(p, "fft", "reduction", [v], ("complex<f32>", out), f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {ints(lengths)}",
           exact=False, magnitude=100.0)


def rng_bit_generator(p):
    state = p.pick(["ui64"], shape=(2,))
    dtype, shape = str(p.random.choice(["ui32", "ui64"])), p.shape(2)
    text = (f'"stablehlo.rng_bit_generator"({{0}}) <{{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}}> : ({state.type}) -> '
            f"({state.type}, {dt.spell(dtype, shape)})")
    p.emit("rng_bit_generator", "reduction", [state], [("ui64", (2,)), (dtype, shape)], text, exact=True, magnitude=1e9)


def broadcast(p):
    v = p.pick(ANY)
    if len(v.shape) > 3:
        return
    sizes = [int(p.random.integers(1, 6)) for _ in range(int(p.random.integers(1, min(2, 4 - len(v.shape)) + 1)))]
    simple(p, "broadcast", "data_movement", [v], (v.dtype, [*sizes, *v.shape]), f"broadcast_sizes = {ints(sizes)}")


def loop_of_products(p):
    """A carried value that is large, and a constant one that every iteration reads."""
    n, m = int(p.random.integers(1, 9)), int(p.random.integers(1, 9))
    x, w = p.pick(["i32"], shape=(m, n)), p.pick(["i32"], shape=(n, n))
    s, i = "tensor<i32>", scalar_constant(p, "i32", 0, ())
    types = f"{s}, {x.type}, {w.type}"
    text = (f'"stablehlo.while"({{0}}, {{1}}, {{2}}) ({{\n    ^bb0(%i: {s}, %x: {x.type}, %w: {w.type}):\n'
            f"      %n = stablehlo.constant dense<3> : {s}\n      %c = stablehlo.compare LT, %i, %n, SIGNED : ({s}, {s}) -> tensor<i1>\n"
            f"      stablehlo.return %c : tensor<i1>\n    }}, {{\n    ^bb0(%i: {s}, %x: {x.type}, %w: {w.type}):\n"
            f"      %o = stablehlo.constant dense<1> : {s}\n      %j = stablehlo.add %i, %o : {s}\n"
            f"      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({x.type}, {w.type}) -> {x.type}\n"
            f"      %z = stablehlo.reverse %y, dims = [{int(p.random.integers(2))}] : {x.type}\n"
            f"      stablehlo.return %j, %z, %w : {types}\n    }}) : ({types}) -> ({types})")
    p.emit("while", "control_flow", [i, x, w], [("i32", ()), ("i32", (m, n)), ("i32", (n, n))], text)


MORE = [dilated_windows, batch_norm, variadic_reduce, dot, einsum, unary_einsum, torch_index_select, convolution_backward,
        gather_windows, scatter_windows, linear_algebra, fft, rng_bit_generator, broadcast, loop_of_products]
