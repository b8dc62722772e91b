# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that hardly any program for many devices contains, in functions that hold what they need: shapes that are operands, tuples,
tokens, composites, quantized values. For scripts/fuzz --devices."""
from fuzz import dtypes as dt
from fuzz.structure import ANY, ints


def called(p, kind, operands, results, lines, returned, **options):
    """A call of a function of `lines`, in which operands are %a0, %a1… and which returns the values `returned`."""
    name = f"@{kind}{len(p.operations)}"
    types, out = ", ".join(o.type for o in operands), ", ".join(dt.spell(*r) for r in results)
    arguments = ", ".join(f"%a{i}: {o.type}" for i, o in enumerate(operands))
    functions = (f"  func.func private {name}({arguments}) -> ({out}) {{\n" + "".join(f"    {line}\n" for line in lines)
                 + f"    func.return {returned} : {out}\n  }}\n")
    text = f"func.call {name}({', '.join('{%d}' % i for i in range(len(operands)))}) : ({types}) -> ({out})"
    return p.emit(kind, "control_flow", operands, results, text, functions=functions, **options)


def numbers(name, values):
    return f"{name} = stablehlo.constant dense<[{', '.join(str(int(v)) for v in values)}]> : tensor<{len(values)}xi64>"


def _several(p, accepted=ANY, most=3):
    v = p.pick(accepted, minimum_rank=1, nonempty=True)
    return v if len(v.shape) <= most else p.argument(v.dtype, v.shape[:most])


def dynamic_shape(p):
    """Reversed dimensions as an operand; or more of them."""
    v = _several(p)
    shape, rank = v.shape[::-1], len(v.shape)
    if p.random.random() < 0.5:
        lines = [numbers("%s", shape), f"%r = stablehlo.dynamic_reshape %a0, %s : ({v.type}, tensor<{rank}xi64>) -> {dt.spell(v.dtype, shape)}"]
        called(p, "dynamic_reshape", [v], [(v.dtype, shape)], lines, "%r")
        return
    shape = (int(p.random.integers(1, 5)), *v.shape)
    lines = [numbers("%s", shape), f"%r = stablehlo.dynamic_broadcast_in_dim %a0, %s, dims = [{', '.join(str(d + 1) for d in range(rank))}] : "
             f"({v.type}, tensor<{rank + 1}xi64>) -> {dt.spell(v.dtype, shape)}"]
    called(p, "dynamic_broadcast_in_dim", [v], [(v.dtype, shape)], lines, "%r")


def dynamic_edges(p):
    """Something around it, or a part of it."""
    v = _several(p, ["i32", "f32", "i8", "ui16"])
    rank = len(v.shape)
    vector = f"tensor<{rank}xi64>"
    if p.random.random() < 0.5:
        low, high, inner = ([int(p.random.integers(0, 3)) for _ in v.shape] for _ in range(3))
        shape = [(n - 1) * (k + 1) + 1 + a + b for n, a, b, k in zip(v.shape, low, high, inner)]
        lines = [numbers("%l", low), numbers("%h", high), numbers("%i", inner),
                 f"%z = stablehlo.constant dense<{'3.0' if dt.is_float(v.dtype) else 3}> : {dt.spell(v.dtype, ())}",
                 f"%r = stablehlo.dynamic_pad %a0, %z, %l, %h, %i : ({v.type}, {dt.spell(v.dtype, ())}, {vector}, {vector}, {vector}) -> "
                 f"{dt.spell(v.dtype, shape)}"]
        called(p, "dynamic_pad", [v], [(v.dtype, shape)], lines, "%r")
        return
    starts = [int(p.random.integers(0, n)) for n in v.shape]
    limits = [int(p.random.integers(a + 1, n + 1)) for a, n in zip(starts, v.shape)]
    strides = [int(p.random.integers(1, 3)) for _ in v.shape]
    shape = [-(-(b - a) // s) for a, b, s in zip(starts, limits, strides)]
    lines = [numbers("%b", starts), numbers("%e", limits), numbers("%s", strides),
             f"%r = stablehlo.real_dynamic_slice %a0, %b, %e, %s : ({v.type}, {vector}, {vector}, {vector}) -> {dt.spell(v.dtype, shape)}"]
    called(p, "real_dynamic_slice", [v], [(v.dtype, shape)], lines, "%r")


def dynamic_numbers(p):
    """Positions and sizes, added to a value."""
    v = _several(p, ["i32"])
    dim, rank = int(p.random.integers(len(v.shape))), len(v.shape)
    lines = [numbers("%s", v.shape), f"%i = stablehlo.dynamic_iota %s, dim = {dim} : (tensor<{rank}xi64>) -> {v.type}",
             f"%n = stablehlo.get_dimension_size %a0, dim = {dim} : ({v.type}) -> tensor<i32>",
             f"%w = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> {v.type}",
             f"%x = stablehlo.add %i, %w : {v.type}", f"%r = stablehlo.add %a0, %x : {v.type}"]
    called(p, "dynamic_iota", [v], [("i32", v.shape)], lines, "%r")


def dynamic_indices(p):
    """Rows by numbers; or a convolution: with sizes as operands."""
    if p.random.random() < 0.5:
        v = p.argument(str(p.random.choice(["i32", "f32", "i8"])), [int(n) for n in p.random.integers(2, 9, 2)])
        indices = p.argument("i32", (int(p.random.integers(1, 6)), 1))
        shape = (indices.shape[0], v.shape[1])
        lines = [numbers("%s", [1, v.shape[1]]), '%r = "stablehlo.dynamic_gather"(%a0, %a1, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
                 "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : "
                 f"({v.type}, {indices.type}, tensor<2xi64>) -> {dt.spell(v.dtype, shape)}"]
        called(p, "dynamic_gather", [v, indices], [(v.dtype, shape)], lines, "%r")
        return
    n, size, f, k, window = (int(p.random.integers(low, 7)) for low in (1, 3, 1, 1, 1))
    window = min(window, size)
    low, high = (int(p.random.integers(0, 3)) for _ in range(2))
    x, w = p.argument("i32", (n, size, f)), p.argument("i32", (window, f, k))
    shape = (n, size + low + high - window + 1, k)
    lines = [f"%p = stablehlo.constant dense<[[{low}, {high}]]> : tensor<1x2xi64>",
             '%r = "stablehlo.dynamic_conv"(%a0, %a1, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, '
             f"window_strides = {ints([1])}, lhs_dilation = {ints([1])}, rhs_dilation = {ints([1])}, feature_group_count = 1 : i64, "
             f"batch_group_count = 1 : i64}}> : ({x.type}, {w.type}, tensor<1x2xi64>) -> {dt.spell('i32', shape)}"]
    called(p, "dynamic_conv", [x, w], [("i32", shape)], lines, "%r")


def tuples(p):
    """Two values in a tuple, and tokens, which hold none."""
    v, w = p.pick(ANY), p.pick(ANY)
    both = f"tuple<{v.type}, {w.type}>"
    lines = ["%s = stablehlo.create_token : !stablehlo.token", "%t = stablehlo.after_all %s, %s : !stablehlo.token",
             f"%p = stablehlo.tuple %a0, %a1 : {both}", f"%y = stablehlo.get_tuple_element %p[1] : ({both}) -> {w.type}",
             f"%x = stablehlo.get_tuple_element %p[0] : ({both}) -> {v.type}"]
    called(p, "tuple", [v, w], [(w.dtype, w.shape), (v.dtype, v.shape)], lines, "%y, %x")


def composite(p):
    """Its decomposition is a function like any other."""
    v = p.pick(["i32", "i8", "ui64"])
    name = f"@part{len(p.operations)}"
    functions = (f"  func.func private {name}(%a0: {v.type}) -> {v.type} {{\n    %r = stablehlo.multiply %a0, %a0 : {v.type}\n"
                 f"    func.return %r : {v.type}\n  }}\n")
    p.emit("composite", "control_flow", [v], [(v.dtype, v.shape)],
           f'stablehlo.composite "fuzz.square" {{0}} {{decomposition = {name}}} : ({v.type}) -> {v.type}', functions=functions)


def rng(p):
    """Which numbers come is the implementation's, but not from where to where they go, nor that devices agree: they add up."""
    v = p.pick(["i32"], minimum_rank=1, nonempty=True)
    low, high = int(p.random.integers(-5, 1)), int(p.random.integers(1, 6))
    lines = [f"%l = stablehlo.constant dense<{low}> : tensor<i32>", f"%h = stablehlo.constant dense<{high}> : tensor<i32>",
             numbers("%s", v.shape), f"%d = stablehlo.rng %l, %h, %s, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<{len(v.shape)}xi64>) -> {v.type}",
             f"%c = stablehlo.constant dense<{low}> : {v.type}", f"%e = stablehlo.constant dense<{high}> : {v.type}",
             f"%p = stablehlo.compare GE, %d, %c, SIGNED : ({v.type}, {v.type}) -> {dt.spell('i1', v.shape)}",
             f"%q = stablehlo.compare LT, %d, %e, SIGNED : ({v.type}, {v.type}) -> {dt.spell('i1', v.shape)}",
             f"%x = stablehlo.and %p, %q : {dt.spell('i1', v.shape)}",
             f"%r = stablehlo.select %x, %a0, %d : {dt.spell('i1', v.shape)}, {v.type}"]
    called(p, "rng", [v], [("i32", v.shape)], lines, "%r")


def quantized(p):
    """To eight bits and back, with a movement in between."""
    v = p.argument("f32", p.shape(int(p.random.integers(1, 4))))
    if p.special:
        p.data[-1] = (p.random.integers(-30, 31, v.shape) / 8).astype("float32")  # infinities have no quantized value
    order = [int(i) for i in p.random.permutation(len(v.shape))]
    shape = [v.shape[i] for i in order]
    kind = "!quant.uniform<i8:f32, 5.000000e-01:3>"
    lines = [f"%q = stablehlo.uniform_quantize %a0 : ({v.type}) -> {dt.spell(kind, v.shape)}",
             f"%t = stablehlo.transpose %q, dims = [{', '.join(map(str, order))}] : ({dt.spell(kind, v.shape)}) -> {dt.spell(kind, shape)}",
             f"%r = stablehlo.uniform_dequantize %t : ({dt.spell(kind, shape)}) -> {dt.spell('f32', shape)}"]
    called(p, "uniform_quantize", [v], [("f32", shape)], lines, "%r")


def sharding_call(p):
    """@Sharding, GSPMD's way of asking for tiles."""
    v = p.pick(ANY, minimum_rank=1, nonempty=True)
    tag, dim = f"call{len(p.operations)}", int(p.random.integers(len(v.shape)))

    def spread(s):
        order = ",".join(str(int(i)) for i in s.random(tag).permutation(s.devices))
        tiles = ",".join(str(s.devices if d == dim else 1) for d in range(len(v.shape)))
        return f'stablehlo.custom_call @Sharding({{0}}) {{mhlo.sharding = "{{devices=[{tiles}]{order}}}"}} : ({v.type}) -> {v.type}'

    p.emit("custom_call", "control_flow", [v], [(v.dtype, v.shape)], f"stablehlo.reshape {{0}} : ({v.type}) -> {v.type}", spread=spread)


RARE = [dynamic_shape, dynamic_edges, dynamic_numbers, dynamic_indices, tuples, composite, rng, quantized, sharding_call]
