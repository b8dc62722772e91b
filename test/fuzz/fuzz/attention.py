# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""softmax(q k^T) v and its like, as PyTorch, JAX and models written by hand say it, and its gradients, in sizes that fill no tile."""
from fuzz import dtypes as dt


def emit(p, kind, operands, dtype, shape, attributes="", body=None):
    names = ", ".join("{%d}" % i for i in range(len(operands)))
    types = ", ".join(o.type for o in operands)
    properties = f" <{{{attributes}}}>" if attributes else ""
    text = body or f'"stablehlo.{kind}"({names}){properties} : ({types}) -> {dt.spell(dtype, shape)}'
    return p.emit(kind, "contraction", operands, [(dtype, shape)], text, exact=False, magnitude=1e5)[0]


def constant(p, dtype, shape, number):
    return emit(p, "constant", [], dtype, shape,
                body=f'"stablehlo.constant"() <{{value = dense<{number}> : {dt.spell(dtype, shape)}}}> : () -> {dt.spell(dtype, shape)}')


def broadcast(p, value, shape, dims):
    return emit(p, "broadcast_in_dim", [value], value.dtype, shape, f"broadcast_dimensions = array<i64{': ' if dims else ''}{', '.join(map(str, dims))}>")


def product(p, a, b, dtype, shape, batch_a, batch_b, sum_a, sum_b):
    return emit(p, "dot_general", [a, b], dtype, shape,
                f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {batch_a}, rhs_batching_dimensions = {batch_b}, "
                f"lhs_contracting_dimensions = [{sum_a}], rhs_contracting_dimensions = [{sum_b}]>")


def reduce(p, value, kind, init):
    """Along the last dimension."""
    scalar, shape = dt.spell(value.dtype, ()), list(value.shape[:-1])
    start = constant(p, value.dtype, (), init)
    return emit(p, "reduce", [value, start], value.dtype, shape,
                body=f'stablehlo.reduce({{0}} init: {{1}}) applies stablehlo.{kind} across dimensions = [{len(shape)}] : '
                     f'({value.type}, {scalar}) -> {dt.spell(value.dtype, shape)}')


def transposed(p, value, order):
    return emit(p, "transpose", [value], value.dtype, [value.shape[i] for i in order], f"permutation = array<i64: {', '.join(map(str, order))}>")


def given(p, dtype, shape, may_repeat=True):
    """An argument, or what is made of one: of another order, times a number, the same along some dimension."""
    r, shape = p.random, tuple(shape)
    if r.random() < 0.25:
        order = [int(i) for i in r.permutation(len(shape))]
        value = transposed(p, p.argument(dtype, tuple(shape[order.index(i)] for i in range(len(shape)))), order)
    elif may_repeat and r.random() < 0.2:
        at = int(r.integers(len(shape)))
        dims = [d for d in range(len(shape)) if d != at]
        value = broadcast(p, p.argument(dtype, tuple(shape[d] for d in dims)), shape, dims)
    else:
        value = p.argument(dtype, shape)
    if r.random() < 0.25:
        value = emit(p, "multiply", [value, broadcast(p, p.argument(dtype, ()), shape, [])], dtype, shape)
    return value


def reshape(p, value, shape):
    return emit(p, "reshape", [value], value.dtype, shape)


def attention(p):
    """Nobody else reads what lies in between, for the most part: it would have to be written then."""
    before, first = list(p.values), len(p.operations)
    results = pattern(p)
    p.values = before + results
    if p.random.random() < 0.9:
        for op in p.operations[first:]:
            for value in op.results:
                value.hidden = all(value is not result for result in results)


def pattern(p):
    r = p.random
    dtype = str(r.choice(["f32", "f32", "f32", "f64", "bf16", "f16"]))
    wide = "f32" if dtype in ("bf16", "f16") and r.random() < 0.7 else dtype
    heads, groups = int(r.choice([1, 2, 3, 5, 6, 6])), int(r.choice([1, 1, 1, 2]))
    rows, keys = (int(r.choice([16, 17, 23, 31, 33, 40, 64, 70])) for _ in range(2))
    if r.random() < 0.1:  # masks of this size are not folded
        heads, groups, rows, keys = int(r.choice([1, 4])), 1, 270, 265
    depth, width = (int(r.choice([2, 5, 8, 16, 19, 24])) for _ in range(2))
    # [heads, length, width] or [length, heads, width]; rows of several heads may share keys.
    inner = r.random() < 0.5
    place = (lambda length, size: [length, heads, size]) if inner else (lambda length, size: [heads, length, size])
    at, along = (1, 0) if inner else (0, 1)
    shared = groups > 1
    q_shape = [heads, groups, rows, depth] if shared else place(rows, depth)
    wants_gradients = not shared and r.random() < 0.6
    q, k = (given(p, dtype, s) for s in (q_shape, place(keys, depth)))
    v = given(p, dtype, place(keys, width), not wants_gradients)  # gradients for equal values are nothing but rounding
    full = ([heads, groups] if shared else [heads]) + [rows, keys]
    last = len(full) - 1
    s = product(p, q, k, wide, full, [0] if shared else [at], [at], len(q_shape) - 1, 2)
    flat = list(full)
    if heads == 6:  # PyTorch's products know one batch dimension
        full = [2, 3] + full[1:]
        last = len(full) - 1
        s = reshape(p, s, full)
    plain = s
    s = emit(p, "multiply", [s, constant(p, wide, full, round(float(r.uniform(0.1, 1)), 3))], wide, full)
    allowed = None
    mask = str(r.choice(["none", "bias", "row bias", "choice", "causal", "causal", "added"]))
    if mask.endswith("bias"):
        shape = full if mask == "bias" else [keys]
        s = emit(p, "add", [s, broadcast(p, p.argument(wide, tuple(shape)), full, list(range(len(full))) if mask == "bias" else [last])], wide, full)
    elif mask != "none":
        if mask != "choice":
            line, column = (emit(p, "iota", [], "i32", [rows, keys], body=f'"stablehlo.iota"() <{{iota_dimension = {d} : i64}}> : () -> tensor<{rows}x{keys}xi32>')
                            for d in (0, 1))
            shift = int(r.integers(-3, max(1, keys - rows) + 1))
            if shift:
                line = emit(p, "add", [line, constant(p, "i32", [rows, keys], shift)], "i32", [rows, keys])
            allowed = emit(p, "compare", [line, column], "i1", [rows, keys],
                           f"comparison_direction = #stablehlo<comparison_direction {r.choice(['GE', 'GT'])}>")
        else:
            allowed = p.argument("i1", (rows, keys))
        low = str(r.choice(["-1.0e+4", "-6.0e+4", "0xFC00" if wide == "f16" else {"f64": "0xFFF0000000000000", "bf16": "0xFF80"}.get(wide, "0xFF800000")]))
        if mask == "added":
            zero, number = constant(p, wide, [rows, keys], "0.0"), constant(p, wide, (), low)
            bias = emit(p, "select", [allowed, zero, broadcast(p, number, [rows, keys], [])], wide, [rows, keys])
            s = emit(p, "add", [plain if r.random() < 0.7 else s, broadcast(p, bias, full, [last - 1, last])], wide, full)
        else:
            s = emit(p, "select", [broadcast(p, allowed, full, [last - 1, last]), s, constant(p, wide, full, low)], wide, full)
    outer = list(range(last))
    minus = {"f16": "0xFC00", "bf16": "0xFF80", "f64": "0xFFF0000000000000"}.get(wide, "0xFF800000")
    if r.random() < 0.9:
        s = emit(p, "subtract", [s, broadcast(p, reduce(p, s, "maximum", minus), full, outer)], wide, full)
    e = emit(p, "exponential", [s], wide, full)
    if r.random() < 0.9:
        total = broadcast(p, reduce(p, e, "add", "0.0"), full, outer)
        e = emit(p, "divide", [e, total], wide, full)
    weights = e
    narrow = lambda value: reshape(p, value if wide == dtype else emit(p, "convert", [value], dtype, full), flat)
    e = narrow(e)
    results = []
    if wants_gradients:
        results = gradients(p, q, k, v, weights, e, narrow, allowed if mask in ("choice", "causal") and r.random() < 0.5 else None, given(p, dtype, place(rows, width)), at)
        if r.random() < 0.4:
            return results
    full, last = flat, len(flat) - 1
    if r.random() < 0.6:
        o = product(p, e, v, dtype, full[:-1] + [width], [0], [at], last, along)
    else:
        o = product(p, v, e, dtype, [heads, width] + full[1:-1], [at], [0], along, last)
    return results + [perhaps_transposed(p, o)]


def perhaps_transposed(p, value):
    if p.random.random() < 0.5:
        return value
    return transposed(p, value, [int(i) for i in p.random.permutation(len(value.shape))])


def gradients(p, q, k, v, weights, e, narrow, allowed, g, at):
    """Of some of v, q and k, for the gradient `g` of the result; `e`: the weights as they are multiplied with v."""
    r, dtype, wide, full, along = p.random, g.dtype, weights.dtype, list(weights.shape), 1 - at
    (heads, rows, keys), last = e.shape, len(full) - 1
    width, depth = v.shape[2], q.shape[2]
    d = reshape(p, product(p, g, v, wide, [heads, rows, keys], [at], [at], 2, 2), full)
    average = reduce(p, emit(p, "multiply", [weights, d], wide, full), "add", "0.0")
    # A softmax takes all of it, and of rows with one large weight only rounding is left.
    average = emit(p, "multiply", [average, constant(p, wide, full[:-1], "0.5")], wide, full[:-1])
    d = emit(p, "subtract", [d, broadcast(p, average, full, list(range(last)))], wide, full)
    d = emit(p, "multiply", [weights, d], wide, full)
    if allowed is not None:
        d = emit(p, "select", [broadcast(p, allowed, full, [last - 1, last]), d, constant(p, wide, full, "0.0")], wide, full)
    d = narrow(emit(p, "multiply", [d, constant(p, wide, full, round(float(r.uniform(0.1, 1)), 3))], wide, full))

    def summed(a, b, dim, columns):
        """Over dimension `dim` of a [heads, rows, keys]; b's dimension of the same length is `along`."""
        left = a.shape[3 - dim]
        if r.random() < 0.5:
            return perhaps_transposed(p, product(p, a, b, dtype, [heads, left, columns], [0], [at], dim, along))
        return perhaps_transposed(p, product(p, b, a, dtype, [heads, columns, left], [at], [0], along, dim))
    made = [lambda: summed(e, g, 1, width), lambda: summed(d, k, 2, depth), lambda: summed(d, q, 1, depth)]
    return [made[i]() for i in r.permutation(3) if r.random() < 0.85]
