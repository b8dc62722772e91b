# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement, indexing, contractions, reductions, control flow."""
from fuzz import dtypes as dt
from fuzz import native
from fuzz.elementwise import ORDINARY, calm, scalar_constant

ANY = ["i1"] + ORDINARY + dt.COMPLEX


def ints(values):
    values = [int(v) for v in values]
    return "array<i64: " + ", ".join(map(str, values)) + ">" if values else "array<i64>"


def simple(p, kind, family, operands, result, attributes, **options):
    arguments = ", ".join("{%d}" % i for i in range(len(operands)))
    types = ", ".join(o.type for o in operands)
    text = f'"stablehlo.{kind}"({arguments}) <{{{attributes}}}> : ({types}) -> {dt.spell(*result)}'
    return p.emit(kind, family, operands, [result], text, **options)[0]


# --- data movement ---------------------------------------------------------------------------------------------------

def transpose(p):
    v = p.pick(ANY)
    order = p.random.permutation(len(v.shape))
    simple(p, "transpose", "data_movement", [v], (v.dtype, [v.shape[i] for i in order]), f"permutation = {ints(order)}")


def reverse(p):
    v = p.pick(ANY)
    dims = [d for d in range(len(v.shape)) if p.random.random() < 0.5]
    simple(p, "reverse", "data_movement", [v], (v.dtype, v.shape), f"dimensions = {ints(dims)}")


def reshape(p):
    v = p.pick(ANY)
    size, dims = 1, []
    for d in v.shape:
        size *= d
    for factor in (2, 3, 4, 7):
        if size > 0 and size % factor == 0 and p.random.random() < 0.5:
            dims.append(factor)
            size //= factor
    dims.append(size)
    if p.random.random() < 0.3:
        dims.insert(0, 1)
    if dims == [1] and p.random.random() < 0.5:
        dims = []
    text = f'"stablehlo.reshape"({{0}}) : ({v.type}) -> {dt.spell(v.dtype, dims)}'
    p.emit("reshape", "data_movement", [v], [(v.dtype, dims)], text)


def slice_(p):
    v = p.pick(ANY)
    low, high, step, dims = [], [], [], []
    for d in v.shape:
        a = int(p.random.integers(0, d + 1)) if d else 0
        b = int(p.random.integers(a, d + 1))
        s = int(p.random.integers(1, 4))
        low.append(a), high.append(b), step.append(s), dims.append(-(-(b - a) // s))
    simple(p, "slice", "data_movement", [v], (v.dtype, dims),
           f"start_indices = {ints(low)}, limit_indices = {ints(high)}, strides = {ints(step)}")


def pad(p):
    v = p.pick(ANY)
    filler = p.pick([v.dtype], shape=())
    low, high, inner, dims = [], [], [], []
    for d in v.shape:
        i = int(p.random.choice([0, 0, 1, 2]))
        a, b = int(p.random.integers(-1, 4)), int(p.random.integers(-1, 4))
        total = d + max(d - 1, 0) * i + a + b
        if total < 0:
            a = b = 0
            total = d + max(d - 1, 0) * i
        low.append(a), high.append(b), inner.append(i), dims.append(total)
    simple(p, "pad", "data_movement", [v, filler], (v.dtype, dims),
           f"edge_padding_low = {ints(low)}, edge_padding_high = {ints(high)}, interior_padding = {ints(inner)}",
           magnitude=max(v.magnitude, filler.magnitude))


def concatenate(p):
    v = p.pick(ANY, minimum_rank=1)
    dim = int(p.random.integers(len(v.shape)))
    values = [v]
    for _ in range(int(p.random.integers(1, 3))):
        shape = list(v.shape)
        shape[dim] = int(p.random.integers(0, 6))
        values.append(p.pick([v.dtype], shape=shape if p.random.random() < 0.5 else v.shape))
    shape = list(v.shape)
    shape[dim] = sum(o.shape[dim] for o in values)
    simple(p, "concatenate", "data_movement", values, (v.dtype, shape), f"dimension = {dim} : i64",
           magnitude=max(o.magnitude for o in values))


def broadcast_in_dim(p):
    v = p.pick(ANY)
    rank = int(p.random.integers(len(v.shape), max(len(v.shape), min(len(v.shape) + 2, 4)) + 1))
    places = sorted(int(i) for i in p.random.choice(rank, len(v.shape), replace=False))
    if p.random.random() < 0.2:
        p.random.shuffle(places)
    dims = [int(p.random.integers(1, 5)) for _ in range(rank)]
    for source, place in zip(v.shape, places):
        dims[place] = source if source != 1 or p.random.random() < 0.5 else dims[place]
    simple(p, "broadcast_in_dim", "data_movement", [v], (v.dtype, dims), f"broadcast_dimensions = {ints(places)}")


def iota(p):
    shape = p.shape()
    while not shape:
        shape = p.shape()
    dim = int(p.random.integers(len(shape)))
    dtype = str(p.random.choice([d for d in ORDINARY if dt.bits(d) >= 16]))
    simple(p, "iota", "data_movement", [], (dtype, shape), f"iota_dimension = {dim} : i64", magnitude=40.0, exact=True)


# --- indexing --------------------------------------------------------------------------------------------------------

def starts(p, count):
    dtype = str(p.random.choice(["i32", "i64", "ui32", "i8"]))
    return [p.pick([dtype], shape=(), reuse=0.5) for _ in range(count)]


def dynamic_slice(p):
    v = p.pick(ANY)
    sizes = [int(p.random.integers(0, d + 1)) for d in v.shape]
    simple(p, "dynamic_slice", "indexing", [v, *starts(p, len(sizes))], (v.dtype, sizes), f"slice_sizes = {ints(sizes)}",
           magnitude=v.magnitude)


def dynamic_update_slice(p):
    v = p.pick(ANY)
    update = p.pick([v.dtype], shape=[int(p.random.integers(0, d + 1)) for d in v.shape])
    operands = [v, update, *starts(p, len(v.shape))]
    types = ", ".join(o.type for o in operands)
    names = ", ".join("{%d}" % i for i in range(len(operands)))
    p.emit("dynamic_update_slice", "indexing", operands, [(v.dtype, v.shape)],
           f'"stablehlo.dynamic_update_slice"({names}) : ({types}) -> {v.type}', magnitude=max(v.magnitude, update.magnitude))


def gather(p):
    """Whole slices along one axis at indices that may be out of range (they clamp)."""
    v = p.pick(ANY, minimum_rank=1, nonempty=True)
    axis = int(p.random.integers(len(v.shape)))
    count = int(p.random.integers(1, 9))
    indices = p.pick([str(p.random.choice(["i32", "i64"]))], shape=(count, 1), reuse=0.5)
    sizes = [1 if d == axis else n for d, n in enumerate(v.shape)]
    offsets = list(range(1, len(v.shape)))
    shape = [count] + [n for d, n in enumerate(v.shape) if d != axis]
    numbers = (f"#stablehlo.gather<offset_dims = [{', '.join(map(str, offsets))}], collapsed_slice_dims = [{axis}], "
               f"start_index_map = [{axis}], index_vector_dim = 1>")
    simple(p, "gather", "indexing", [v, indices], (v.dtype, shape),
           f"dimension_numbers = {numbers}, slice_sizes = {ints(sizes)}, indices_are_sorted = false", magnitude=v.magnitude)


def scatter(p):
    """Whole slices added (or written, at distinct indices) along one axis; indices out of range are skipped."""
    v = p.pick(["i8", "i32", "i64", "ui16", "f32", "f64"], minimum_rank=1, nonempty=True)
    axis, count = int(p.random.integers(len(v.shape))), int(p.random.integers(1, 7))
    indices = p.pick(["i32"], shape=(count, 1), reuse=0.5)
    updates = p.pick([v.dtype], shape=[count] + [n for d, n in enumerate(v.shape) if d != axis])
    windows = list(range(1, len(v.shape)))
    scalar = dt.spell(v.dtype, ())
    kind = str(p.random.choice(["add", "maximum", "minimum"]))
    numbers = (f"#stablehlo.scatter<update_window_dims = [{', '.join(map(str, windows))}], inserted_window_dims = [{axis}], "
               f"scatter_dims_to_operand_dims = [{axis}], index_vector_dim = 1>")
    text = (f'"stablehlo.scatter"({{0}}, {{1}}, {{2}}) <{{scatter_dimension_numbers = {numbers}, indices_are_sorted = false, '
            f"unique_indices = false}}> ({{\n    ^bb0(%x: {scalar}, %y: {scalar}):\n      %z = stablehlo.{kind} %x, %y : {scalar}\n"
            f"      stablehlo.return %z : {scalar}\n    }}) : ({v.type}, {indices.type}, {updates.type}) -> {v.type}")
    exact = v.exact and updates.exact and (dt.is_integer(v.dtype) or kind != "add")
    p.emit("scatter", "indexing", [v, indices, updates], [(v.dtype, v.shape)], text, exact, v.magnitude + count * updates.magnitude)


# --- contraction -----------------------------------------------------------------------------------------------------

def dot_general(p):
    dtype = str(p.random.choice(["f32", "f32", "f64", "bf16", "f16", "i8", "i32", "ui8", "complex<f32>"]))
    batch = [int(p.random.integers(1, 4)) for _ in range(int(p.random.choice([0, 0, 1])))]
    m, k, n = (int(p.random.choice([1, 2, 3, 5, 8, 16, 17, 33])) for _ in range(3))
    free_a, free_b = p.random.random() < 0.85, p.random.random() < 0.85
    other, result = dtype, dtype
    if dtype in ("i8", "ui8") and p.random.random() < 0.7:  # instructions for bytes: of both signs, sums longer than a vector
        other, result, k = str(p.random.choice(["i8", "ui8"])), "i32", int(p.random.choice([k, 4, 32, 64, 65, 130, 257]))
        n = int(p.random.choice([n, 64, 100]))
    a_shape = batch + ([m] if free_a else []) + [k]
    b_first = p.random.random() < 0.5
    b_shape = batch + ([k, n] if b_first else [n, k]) if free_b else batch + [k]
    a = calm(p, p.pick([dtype], shape=a_shape))
    b = calm(p, p.pick([other], shape=b_shape))
    count = len(batch)
    a_dim = len(a_shape) - 1
    b_dim = count if b_first or not free_b else count + 1
    shape = batch + ([m] if free_a else []) + ([n] if free_b else [])
    numbers = (f"#stablehlo.dot<lhs_batching_dimensions = {list(range(count))}, rhs_batching_dimensions = {list(range(count))}, "
               f"lhs_contracting_dimensions = [{a_dim}], rhs_contracting_dimensions = [{b_dim}]>")
    simple(p, "dot_general", "contraction", [a, b], (result, shape), f"dot_dimension_numbers = {numbers}",
           exact=dt.is_integer(dtype) and a.exact and b.exact, magnitude=min(1e4, a.magnitude * b.magnitude * k))


def convolution(p):
    """One to three spatial dimensions in any layout. Special values meet no inserted zeros: only the evaluator multiplies by those."""
    dtype = str(p.random.choice(["f32", "f64", "i32", "bf16"]))
    spatial = int(p.random.choice([1, 2, 2, 3]))
    groups, batches = (int(n) for n in p.random.choice([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2)]))
    n, channels = batches * int(p.random.integers(1, 3)), groups * int(p.random.integers(1, 5))
    features = groups * batches * int(p.random.choice([1, 2, 3, 7, 8, 9, 16, 17]))
    size = [int(p.random.integers(3, 9 if spatial < 3 else 5)) for _ in range(spatial)]
    window = [int(p.random.integers(1, 4)) for _ in range(spatial)]
    stride = [int(p.random.integers(1, 3)) for _ in range(spatial)]
    left = [int(p.random.integers(-1, 3)) for _ in range(spatial)]
    right = [int(p.random.integers(-1, 3)) for _ in range(spatial)]
    dilate = [int(p.random.integers(1, 3)) for _ in range(spatial)]
    inner = [int(p.random.integers(1, 2 if p.special else 4)) for _ in range(spatial)]
    reverse = [bool(p.random.integers(0, 4) == 0) for _ in range(spatial)]
    if p.random.random() < 0.5:
        stride = [1] * spatial
    out = []
    for i in range(spatial):
        have = (size[i] - 1) * inner[i] + 1 + left[i] + right[i]
        reach = (window[i] - 1) * dilate[i] + 1
        out.append(max(0, (have - reach) // stride[i] + 1) if have >= reach else 0)

    def ordered(sizes, names):
        order = p.random.permutation(len(sizes)) if p.random.random() < 0.7 else range(len(sizes))
        return [sizes[d] for d in order], "[" + ", ".join(names[d] for d in order) + "]"
    places = [str(d) for d in range(spatial)]
    x_shape, x_names = ordered([n, *size, channels], ["b", *places, "f"])
    w_shape, w_names = ordered([*window, channels // groups, features], [*places, "i", "o"])
    y_shape, y_names = ordered([n // batches, *out, features], ["b", *places, "f"])
    x = calm(p, p.pick([dtype], shape=x_shape))
    w = calm(p, p.pick([dtype], shape=w_shape))
    numbers = f"#stablehlo.conv<{x_names}x{w_names}->{y_names}>"
    padding = "[" + ", ".join(f"[{a}, {b}]" for a, b in zip(left, right)) + "]"
    work = channels
    for d in window:
        work *= d
    flags = ", ".join(str(flag).lower() for flag in reverse)
    simple(p, "convolution", "contraction", [x, w], (dtype, y_shape),
           f"dimension_numbers = {numbers}, window_strides = {ints(stride)}, padding = dense<{padding}> : tensor<{spatial}x2xi64>, "
           f"lhs_dilation = {ints(inner)}, rhs_dilation = {ints(dilate)}, window_reversal = array<i1: {flags}>, "
           f"feature_group_count = {groups} : i64, batch_group_count = {batches} : i64",
           exact=dt.is_integer(dtype) and x.exact and w.exact, magnitude=min(1e4, x.magnitude * w.magnitude * work))


# --- reduction -------------------------------------------------------------------------------------------------------

def reducer(p, dtype):
    if dtype == "i1":
        return str(p.random.choice(["and", "or", "xor"]))
    return str(p.random.choice(["add", "maximum", "minimum"]))


def region(kind, dtype):
    scalar = dt.spell(dtype, ())
    return (f"({{\n    ^bb0(%x: {scalar}, %y: {scalar}):\n      %z = stablehlo.{kind} %x, %y : {scalar}\n"
            f"      stablehlo.return %z : {scalar}\n    }})")


def initial(p, dtype, kind):
    """A neutral element: any other value may be applied more than once."""
    if kind in ("add", "or", "xor"):
        return scalar_constant(p, dtype, 0, ())
    if kind == "and":
        return scalar_constant(p, dtype, 1, ())
    if dt.is_integer(dtype):
        return scalar_constant(p, dtype, dt.int_range(dtype)[0 if kind == "maximum" else 1], ())
    bound = {"f16": 60000, "bf16": 1e30, "f32": 1e30, "f64": 1e300}[dtype]
    return scalar_constant(p, dtype, -bound if kind == "maximum" else bound, ())


def reduce(p):
    v = p.pick(["i1"] + [d for d in dt.INTEGERS + dt.UNSIGNED if dt.bits(d) >= 8] + dt.FLOATS)
    dims = [d for d in range(len(v.shape)) if p.random.random() < 0.6]
    kind = reducer(p, v.dtype)
    if not dims and dt.is_float(v.dtype):
        kind = "add"  # over nothing, the initial value need not be met: the bounds below are not neutral for infinities
    init = initial(p, v.dtype, kind)
    shape = [n for d, n in enumerate(v.shape) if d not in dims]
    text = (f'"stablehlo.reduce"({{0}}, {{1}}) <{{dimensions = {ints(dims)}}}> {region(kind, v.dtype)} : '
            f"({v.type}, {init.type}) -> {dt.spell(v.dtype, shape)}")
    count = 1
    for d in dims:
        count *= max(1, v.shape[d])
    exact = v.exact and (kind != "add" or not dt.is_float(v.dtype))
    p.emit("reduce", "reduction", [v, init], [(v.dtype, shape)], text, exact,
           v.magnitude * count if kind == "add" else v.magnitude)


def reduce_window(p):
    v = p.pick(["i8", "i32", "ui16", "f32", "f64", "bf16"], minimum_rank=1, nonempty=True)
    kind = reducer(p, v.dtype)
    init = initial(p, v.dtype, kind)
    window, stride, pads, shape, count = [], [], [], [], 1
    for d in v.shape:
        w, s = int(p.random.integers(1, min(d, 3) + 1)), int(p.random.integers(1, 3))
        a, b = int(p.random.integers(0, 2)), int(p.random.integers(0, 2))
        window.append(w), stride.append(s), pads.append((a, b)), shape.append((d + a + b - w) // s + 1)
        count *= w
    padding = "[" + ", ".join(f"[{a}, {b}]" for a, b in pads) + "]"
    text = (f'"stablehlo.reduce_window"({{0}}, {{1}}) <{{window_dimensions = {ints(window)}, window_strides = {ints(stride)}, '
            f"padding = dense<{padding}> : tensor<{len(pads)}x2xi64>}}> {region(kind, v.dtype)} : "
            f"({v.type}, {init.type}) -> {dt.spell(v.dtype, shape)}")
    exact = v.exact and (kind != "add" or not dt.is_float(v.dtype))
    p.emit("reduce_window", "reduction", [v, init], [(v.dtype, shape)], text, exact, v.magnitude * (count if kind == "add" else 1))


def select_and_scatter(p):
    """Every source goes to the first greatest element of its window; windows reach at least one element."""
    rank = int(p.random.integers(1, 5))
    shape = [int(p.random.choice([1, 2, 3, 5, 8, 17])) for _ in range(rank)]
    v = p.pick(["i32", "f32", "f64"], shape=shape, exact=True)
    window, stride, pads, out = [], [], [], []
    for d in shape:
        w, s = int(p.random.integers(1, min(d, 3) + 1)), int(p.random.integers(1, 4))
        a, b = int(p.random.integers(0, w)), int(p.random.integers(0, w))
        window.append(w), stride.append(s), pads.append((a, b)), out.append((d + a + b - w) // s + 1)
    source = p.pick([v.dtype], shape=out)
    init = scalar_constant(p, v.dtype, 0, ())
    padding = "[" + ", ".join(f"[{a}, {b}]" for a, b in pads) + "]"
    scalar = dt.spell(v.dtype, ())
    order = "FLOAT" if dt.is_float(v.dtype) else "SIGNED"
    text = (f'"stablehlo.select_and_scatter"({{0}}, {{1}}, {{2}}) <{{window_dimensions = {ints(window)}, window_strides = {ints(stride)}, '
            f"padding = dense<{padding}> : tensor<{rank}x2xi64>}}> ({{\n    ^bb0(%x: {scalar}, %y: {scalar}):\n"
            f"      %z = stablehlo.compare GE, %x, %y, {order} : ({scalar}, {scalar}) -> tensor<i1>\n      stablehlo.return %z : tensor<i1>\n"
            f"    }}, {region('add', v.dtype)[1:-1]}) : ({v.type}, {source.type}, {init.type}) -> {v.type}")
    p.emit("select_and_scatter", "reduction", [v, source, init], [(v.dtype, shape)], text, source.exact and not dt.is_float(v.dtype),
           source.magnitude * 9)


def sort(p):
    """Keys with a payload, stable, by LT or GT; integer keys, or floats in total order."""
    v = p.pick(["i8", "i32", "ui8", "i64", "f32", "f64"], minimum_rank=1, exact=True)
    payload = p.pick(["i32", "f32", "i1"], shape=v.shape)
    dim = int(p.random.integers(len(v.shape)))
    direction = str(p.random.choice(["LT", "GT"]))
    kind = "TOTALORDER" if dt.is_float(v.dtype) else "UNSIGNED" if v.dtype in dt.UNSIGNED else "SIGNED"
    a, b = dt.spell(v.dtype, ()), dt.spell(payload.dtype, ())
    text = (f'"stablehlo.sort"({{0}}, {{1}}) <{{dimension = {dim} : i64, is_stable = true}}> ({{\n'
            f"    ^bb0(%x: {a}, %y: {a}, %u: {b}, %w: {b}):\n      %z = stablehlo.compare {direction}, %x, %y, {kind} : ({a}, {a}) -> tensor<i1>\n"
            f"      stablehlo.return %z : tensor<i1>\n    }}) : ({v.type}, {payload.type}) -> ({v.type}, {payload.type})")
    p.emit("sort", "reduction", [v, payload], [(v.dtype, v.shape), (payload.dtype, payload.shape)], text)


def map_(p):
    v = p.pick(["i32", "f32", "i8"])
    w = p.pick([v.dtype], shape=v.shape)
    s = dt.spell(v.dtype, ())
    text = (f'"stablehlo.map"({{0}}, {{1}}) <{{dimensions = {ints(range(len(v.shape)))}}}> ({{\n    ^bb0(%x: {s}, %y: {s}):\n'
            f"      %z = stablehlo.subtract %x, %y : {s}\n      stablehlo.return %z : {s}\n    }}) : ({v.type}, {w.type}) -> {v.type}")
    p.emit("map", "reduction", [v, w], [(v.dtype, v.shape)], text, magnitude=v.magnitude + w.magnitude)


# --- control flow ----------------------------------------------------------------------------------------------------

def if_(p):
    a = p.pick(ANY)
    b = p.pick([a.dtype], shape=a.shape)
    chosen = p.pick(["i1"], shape=())
    text = (f'"stablehlo.if"({{0}}) ({{\n      stablehlo.return {{1}} : {a.type}\n    }}, {{\n      stablehlo.return {{2}} : {a.type}\n'
            f"    }}) : (tensor<i1>) -> {a.type}")
    p.emit("if", "control_flow", [chosen, a, b], [(a.dtype, a.shape)], text, magnitude=max(a.magnitude, b.magnitude))


def case(p):
    a = p.pick(["i32", "f32", "i1", "bf16"])
    others = [a, *(p.pick([a.dtype], shape=a.shape) for _ in range(2))]
    chosen = p.pick(["i32"], shape=())
    regions = ", ".join("{\n      stablehlo.return {%d} : %s\n    }" % (i + 1, a.type) for i in range(3))
    p.emit("case", "control_flow", [chosen, *others], [(a.dtype, a.shape)],
           f'"stablehlo.case"({{0}}) ({regions}) : (tensor<i32>) -> {a.type}', magnitude=max(o.magnitude for o in others))


def while_(p):
    """x := x - y (wrapping integers: always exact), a fixed or data-dependent number of times."""
    x = p.pick(["i32", "i8", "ui16", "i64"])
    y = p.pick([x.dtype], shape=x.shape)
    limit = p.pick(["i8"], shape=())
    bound = int(p.random.integers(0, 6))
    i = "tensor<i8>"
    text = (f'"stablehlo.while"({{0}}, {{1}}, {{2}}) ({{\n    ^bb0(%i: {i}, %s: {x.type}, %t: {x.type}):\n'
            f"      %n = stablehlo.constant dense<{bound}> : {i}\n      %c = stablehlo.compare LT, %i, %n, SIGNED : ({i}, {i}) -> tensor<i1>\n"
            f"      stablehlo.return %c : tensor<i1>\n    }}, {{\n    ^bb0(%i: {i}, %s: {x.type}, %t: {x.type}):\n"
            f"      %o = stablehlo.constant dense<1> : {i}\n      %j = stablehlo.maximum %i, %o : {i}\n      %k = stablehlo.add %j, %o : {i}\n"
            f"      %d = stablehlo.subtract %s, %t : {x.type}\n      stablehlo.return %k, %d, %s : {i}, {x.type}, {x.type}\n"
            f"    }}) : ({i}, {x.type}, {x.type}) -> ({i}, {x.type}, {x.type})")
    p.emit("while", "control_flow", [limit, x, y], [("i8", ()), (x.dtype, x.shape), (x.dtype, x.shape)], text)


def barrier(p):
    v, w = p.pick(ANY), p.pick(ANY)
    text = f'"stablehlo.optimization_barrier"({{0}}, {{1}}) : ({v.type}, {w.type}) -> ({v.type}, {w.type})'
    p.emit("optimization_barrier", "control_flow", [v, w], [(v.dtype, v.shape), (w.dtype, w.shape)], text)


DATA_MOVEMENT = [transpose, reverse, reshape, slice_, pad, concatenate, broadcast_in_dim, iota]
INDEXING = [dynamic_slice, dynamic_update_slice, gather, scatter, native.scatter_rows]
CONTRACTION = [dot_general, convolution]
REDUCTION = [reduce, reduce, reduce_window, select_and_scatter, sort, native.sort_keys, native.cumulative, map_]
CONTROL_FLOW = [if_, case, while_, native.array_loop, barrier]
