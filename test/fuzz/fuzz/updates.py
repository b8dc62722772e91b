# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that are updated in part, in branches and loops too, while others still read them: what compiled code may do in place, and when it
must not. All arrays of such a program have one of two shapes, so that its operations meet."""
from fuzz import elementwise, native, structure
from fuzz.structure import ints

TYPES = ["i32", "f32", "ui8", "bf16"]


def narrow(p):
    """Makes `p` choose from two types and two shapes, which differ in the first dimension, and rather values that it has than new ones."""
    rank = int(p.random.choice([1, 2, 3], p=[0.4, 0.4, 0.2]))
    one = tuple(int(p.random.choice([2, 3, 5, 8, 17])) for _ in range(rank))
    other = (int(p.random.choice([1, 4, 9])), *one[1:])
    types = {str(t) for t in p.random.choice(TYPES, 2)} | {"i32"}
    pick = p.pick

    def narrowed(accepted, *rest, **options):
        return pick([t for t in accepted if t in types] or accepted, *rest, **{"reuse": 0.9, **options})

    p.shape = lambda: one if p.random.random() < 0.8 else other
    p.pick = narrowed


def _part(p, whole):
    return p.pick([whole.dtype], shape=[int(p.random.integers(1, n + 1)) for n in whole.shape])


def branches(p):
    """Of three branches one updates what the others return."""
    a = p.pick(TYPES, minimum_rank=1, nonempty=True)
    b, u = p.pick([a.dtype], shape=a.shape), _part(p, a)
    which, at = p.pick(["i32"], shape=()), p.pick(["i32"], shape=())
    starts = ", ".join(["{4}"] * len(a.shape))
    types = ", ".join([a.type, u.type] + ["tensor<i32>"] * len(a.shape))
    updated = (f'      %w = "stablehlo.dynamic_update_slice"({{1}}, {{3}}, {starts}) : ({types}) -> {a.type}\n'
               f"      stablehlo.return %w : {a.type}\n")
    regions = [updated, f"      stablehlo.return {{1}} : {a.type}\n", f"      stablehlo.return {{2}} : {a.type}\n"]
    p.random.shuffle(regions)
    text = ('"stablehlo.case"({0}) (' + ", ".join("{\n" + region + "    }" for region in regions) + f") : (tensor<i32>) -> {a.type}")
    p.emit("case", "control_flow", [which, a, b, u, at], [(a.dtype, a.shape)], text, magnitude=max(a.magnitude, b.magnitude, u.magnitude))


def loop(p):
    """Two carried arrays, updated with parts of each other and of one from outside, changing places or not."""
    a = p.pick(TYPES, minimum_rank=1, nonempty=True)
    b, c, u = p.pick([a.dtype], shape=a.shape), p.pick([a.dtype], shape=a.shape), _part(p, a)
    start = p.emit("constant", "data_movement", [], [("i32", ())], "stablehlo.constant dense<0> : tensor<i32>")[0]
    i, t, rank = "tensor<i32>", a.type, len(a.shape)
    starts, indices = ", ".join(["%i"] * rank), ", ".join([i] * rank)
    read, kept = ("%s", "%t") if p.random.random() < 0.5 else ("%t", "%s")
    source = str(p.random.choice([read, kept, "{3}"]))
    order = ["%w", kept] if p.random.random() < 0.5 else [kept, "%w"]
    text = (f'"stablehlo.while"({{0}}, {{1}}, {{2}}) ({{\n    ^bb0(%i: {i}, %s: {t}, %t: {t}):\n'
            f"      %n = stablehlo.constant dense<{int(p.random.integers(0, 5))}> : {i}\n"
            f"      %c = stablehlo.compare LT, %i, %n, SIGNED : ({i}, {i}) -> tensor<i1>\n      stablehlo.return %c : tensor<i1>\n"
            f"    }}, {{\n    ^bb0(%i: {i}, %s: {t}, %t: {t}):\n"
            f"      %o = stablehlo.constant dense<1> : {i}\n      %j = stablehlo.add %i, %o : {i}\n"
            f'      %p = "stablehlo.dynamic_slice"({source}, {starts}) <{{slice_sizes = {ints(u.shape)}}}> : ({t}, {indices}) -> {u.type}\n'
            f"      %q = stablehlo.maximum %p, {{4}} : {u.type}\n"
            f'      %w = "stablehlo.dynamic_update_slice"({read}, %q, {starts}) : ({t}, {u.type}, {indices}) -> {t}\n'
            f"      stablehlo.return %j, {order[0]}, {order[1]} : {i}, {t}, {t}\n    }}) : ({i}, {t}, {t}) -> ({i}, {t}, {t})")
    p.emit("while", "control_flow", [start, a, b, c, u], [("i32", ()), (a.dtype, a.shape), (a.dtype, a.shape)], text,
           magnitude=max(v.magnitude for v in (a, b, c, u)))


UPDATES = [branches, branches, loop, loop, structure.dynamic_update_slice, structure.dynamic_update_slice, structure.scatter, structure.scatter,
           native.scatter_rows, structure.if_, structure.case, structure.while_, native.array_loop, structure.barrier, structure.reshape,
           structure.reverse, structure.slice_, structure.dynamic_slice, elementwise.bit_unary, elementwise.sign_unary, elementwise.select]
