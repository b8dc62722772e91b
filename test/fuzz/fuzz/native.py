# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the size and form that native code takes over: sorts by several keys, running sums, scattered rows, loops on scalars
over an array."""
from fuzz import dtypes as dt


def numbers(p, shape, dtypes):
    return p.argument(str(p.random.choice(dtypes)), tuple(shape))


def compare(name, direction, dtype, x, y):
    kind = "TOTALORDER" if dt.is_float(dtype) else "UNSIGNED" if dtype in dt.UNSIGNED else "SIGNED"
    scalar = dt.spell(dtype, ())
    return f"      {name} = stablehlo.compare {direction}, {x}, {y}, {kind} : ({scalar}, {scalar}) -> tensor<i1>\n"


def sort_keys(p):
    """Two or three keys in any direction, many of them equal, and positions."""
    shape = [int(p.random.integers(17, 70)), int(p.random.integers(1, 6))]
    p.random.shuffle(shape)
    dim = int(p.random.integers(2))
    keys = [numbers(p, shape, ["i8", "ui8", "i64", "f32", "f64", "bf16"]) for _ in range(int(p.random.integers(2, 4)))]
    for key in keys[:-1]:
        if dt.is_integer(key.dtype):
            at = p.arguments.index(key)
            p.data[at] = (p.data[at] % 3).astype(p.data[at].dtype)
    position = ("i32", tuple(shape))
    arguments = ", ".join(f"%p{n}: {dt.spell(k.dtype, ())}, %q{n}: {dt.spell(k.dtype, ())}" for n, k in enumerate(keys))
    body, last = "", None
    for n in reversed(range(len(keys))):
        x, y = (f"%p{n}", f"%q{n}") if p.random.random() < 0.5 else (f"%q{n}", f"%p{n}")
        body += compare(f"%l{n}", str(p.random.choice(["LT", "GT"])), keys[n].dtype, x, y)
        if last:
            body += compare(f"%e{n}", "EQ", keys[n].dtype, x, y)
            body += f"      %t{n} = stablehlo.and %e{n}, {last} : tensor<i1>\n      %r{n} = stablehlo.or %l{n}, %t{n} : tensor<i1>\n"
        last = f"%r{n}" if last else f"%l{n}"
    iota = p.emit("iota", "data_movement", [], [position], f'"stablehlo.iota"() <{{iota_dimension = {dim} : i64}}> : () -> {dt.spell(*position)}')[0]
    operands = [*keys, iota]
    types = ", ".join(o.type for o in operands)
    text = (f'"stablehlo.sort"({", ".join("{%d}" % i for i in range(len(operands)))}) <{{dimension = {dim} : i64, is_stable = true}}> ({{\n'
            f"    ^bb0({arguments}, %i0: tensor<i32>, %i1: tensor<i32>):\n{body}      stablehlo.return {last} : tensor<i1>\n"
            f"    }}) : ({types}) -> ({types})")
    p.emit("sort", "reduction", operands, [(o.dtype, o.shape) for o in operands], text)


def cumulative(p):
    shape = [int(p.random.integers(60, 80)), int(p.random.integers(60, 130))]
    dim, reverse = int(p.random.integers(2)), bool(p.random.random() < 0.5)
    v = numbers(p, shape, ["i32", "ui32", "i64", "ui64", "f32", "f64"])
    kind = str(p.random.choice(["maximum", "minimum"] if dt.is_float(v.dtype) else ["add", "multiply", "maximum", "minimum"]))
    start = "0" if kind in ("add", "maximum") else "1"
    init = p.emit("constant", "data_movement", [], [(v.dtype, ())],
                  f"stablehlo.constant dense<{start + '.0' if dt.is_float(v.dtype) else start}> : {dt.spell(v.dtype, ())}")[0]
    window, pads = [1, 1], ["[0, 0]", "[0, 0]"]
    window[dim] = shape[dim]
    pads[dim] = f"[0, {shape[dim] - 1}]" if reverse else f"[{shape[dim] - 1}, 0]"
    s = dt.spell(v.dtype, ())
    text = (f'"stablehlo.reduce_window"({{0}}, {{1}}) <{{window_dimensions = array<i64: {window[0]}, {window[1]}>, '
            f"padding = dense<[{', '.join(pads)}]> : tensor<2x2xi64>}}> ({{\n    ^bb0(%x: {s}, %y: {s}):\n"
            f"      %z = stablehlo.{kind} %x, %y : {s}\n      stablehlo.return %z : {s}\n    }}) : ({v.type}, {init.type}) -> {v.type}")
    p.emit("reduce_window", "reduction", [v, init], [(v.dtype, v.shape)], text)


def scatter_rows(p):
    """Rows that are cut into parts; some of the indices lie outside."""
    width, rows, count = int(p.random.integers(128, 300)), int(p.random.integers(1, 9)), 256
    v = numbers(p, (rows, width), ["i32", "ui16", "i64"])
    updates = p.argument(v.dtype, (count, width))
    indices = p.argument("i8", (count, 1))
    kind, s = str(p.random.choice(["add", "maximum"])), dt.spell(v.dtype, ())
    numbers_ = "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
    text = (f'"stablehlo.scatter"({{0}}, {{1}}, {{2}}) <{{scatter_dimension_numbers = {numbers_}, indices_are_sorted = false, unique_indices = false}}> ({{\n'
            f"    ^bb0(%x: {s}, %y: {s}):\n      %z = stablehlo.{kind} %x, %y : {s}\n      stablehlo.return %z : {s}\n"
            f"    }}) : ({v.type}, {indices.type}, {updates.type}) -> {v.type}")
    p.emit("scatter", "indexing", [v, indices, updates], [(v.dtype, v.shape)], text)


def array_loop(p):
    """A recurrence over an array that changes on the way; wrapping integers, always exact."""
    n, dtype = int(p.random.integers(17, 90)), str(p.random.choice(["i32", "ui16", "i64"]))
    a, x = p.argument(dtype, (n,)), p.pick([dtype], shape=())
    i, s, one, t = "tensor<i32>", x.type, dt.spell(dtype, (1,)), a.type
    step, last = int(p.random.integers(1, 4)), int(p.random.integers(1, 2 * n))
    start = p.emit("constant", "data_movement", [], [("i32", ())], "stablehlo.constant dense<0> : tensor<i32>")[0]
    text = (f'"stablehlo.while"({{0}}, {{1}}, {{2}}) ({{\n    ^bb0(%i: {i}, %s: {s}, %t: {t}):\n'
            f"      %n = stablehlo.constant dense<{last}> : {i}\n      %c = stablehlo.compare LT, %i, %n, SIGNED : ({i}, {i}) -> tensor<i1>\n"
            f"      stablehlo.return %c : tensor<i1>\n    }}, {{\n    ^bb0(%i: {i}, %s: {s}, %t: {t}):\n"
            f"      %o = stablehlo.constant dense<{step}> : {i}\n      %j = stablehlo.add %i, %o : {i}\n"
            f'      %v = "stablehlo.dynamic_slice"(%t, %i) <{{slice_sizes = array<i64: 1>}}> : ({t}, {i}) -> {one}\n'
            f"      %w = stablehlo.reshape %v : ({one}) -> {s}\n      %y = stablehlo.multiply %s, %w : {s}\n      %z = stablehlo.subtract %y, %w : {s}\n"
            f"      %u = stablehlo.reshape %z : ({s}) -> {one}\n"
            f'      %r = "stablehlo.dynamic_update_slice"(%t, %u, %j) : ({t}, {one}, {i}) -> {t}\n'
            f"      stablehlo.return %j, %z, %r : {i}, {s}, {t}\n    }}) : ({i}, {s}, {t}) -> ({i}, {s}, {t})")
    p.emit("while", "control_flow", [start, x, a], [("i32", ()), (dtype, ()), (dtype, (n,))], text)
