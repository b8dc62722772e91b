# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Manual computations over one axis of the mesh whose collectives together do what one operation does on one device: nothing, or a
reduction. For scripts/fuzz --devices."""
from fuzz import dtypes as dt
from fuzz.rare import called


class Body:
    """The lines of a manual computation: each collective among the devices of the axis, with a channel of its own."""

    def __init__(self, spread, axis, number):
        self.groups, self.channel, self.lines = spread.groups(axis), 1000 + 10 * number, []
        rows = ", ".join("[" + ", ".join(map(str, g)) + "]" for g in self.groups)
        self.replica_groups = f"replica_groups = dense<[{rows}]> : tensor<{len(self.groups)}x{len(self.groups[0])}xi64>"

    def line(self, text):
        self.lines.append(f"      {text}\n")

    def collective(self, result, name, operand, attributes, from_, to, computation="", groups=None):
        self.channel += 1
        handle = f"channel_handle = #stablehlo.channel_handle<handle = {self.channel}, type = 1>"
        inside = ", ".join(filter(None, [attributes, groups or self.replica_groups, handle]))
        self.line(f'{result} = "stablehlo.{name}"({operand}) <{{{inside}}}>{computation} : ({from_}) -> {to}')


def computation(kind, dtype):
    s = dt.spell(dtype, ())
    return f" ({{\n      ^bb0(%p: {s}, %q: {s}):\n        %o = stablehlo.{kind} %p, %q : {s}\n        stablehlo.return %o : {s}\n      }})"


def axis_for(p, spread, tag, *sizes):
    """An axis that divides all sizes, if possible one of several devices."""
    fitting = [name for name, n in spread.sizes.items() if all(size % n == 0 for size in sizes)]
    fitting = [name for name in fitting if spread.sizes[name] > 1] or fitting
    return str(spread.random(tag).choice(fitting)) if fitting else None


def _value(p, dtypes, rank=None):
    rank = int(p.random.integers(1, 4)) if rank is None else rank
    fitting = [v for v in p.values if v.dtype in dtypes and len(v.shape) == rank and 0 not in v.shape and max(v.shape) > 1]
    if fitting and p.random.random() < 0.3:
        return fitting[int(p.random.integers(len(fitting)))]
    return p.argument(str(p.random.choice(dtypes)), [int(p.random.choice([2, 3, 4, 5, 6, 8, 12, 16])) for _ in range(rank)])


def manual(v, result, before, after, axis, local, body, returned):
    """`before`, `after`: the dimension that the axis cuts, or None."""
    def sharding(rank, cut):
        return "<@mesh, [" + ", ".join(f'{{"{axis}"}}' if d == cut else "{}" for d in range(rank)) + "]>"
    return (f"sdy.manual_computation({{0}}) in_shardings=[{sharding(len(v.shape), before)}] out_shardings=[{sharding(len(result[1]), after)}] "
            f'manual_axes={{"{axis}"}} (%x: {local}) {{\n' + "".join(body.lines)
            + f"      sdy.return {returned[0]} : {returned[1]}\n    }} : ({v.type}) -> {dt.spell(*result)}")


def moved(p):
    """There and back again; devices differ on the way."""
    kind = str(p.random.choice(["all_gather", "reduce_scatter", "all_to_all", "collective_permute", "collective_broadcast", "replica_id",
                                "cross-replica-sum"]))
    arithmetic = kind in ("reduce_scatter", "collective_broadcast", "replica_id", "cross-replica-sum")
    v = _value(p, ["i32", "ui32", "i64"] if arithmetic else ["i32", "f32", "i8", "i1", "bf16"], 2 if kind == "all_to_all" else None)
    d, number = int(p.random.integers(len(v.shape))), len(p.operations)
    tag = f"manual{number}"

    def spread(s):
        axis = axis_for(p, s, tag, v.shape[d], *([v.shape[1 - d]] if kind == "all_to_all" else []))
        if axis is None:
            return None
        n, body, whole = s.sizes[axis], Body(s, axis, number), v.type
        def cut(dim):
            return dt.spell(v.dtype, [size // n if at == dim else size for at, size in enumerate(v.shape)])
        before, after, x, y = d, d, cut(d), cut(d)
        if kind == "all_gather":
            after, y = None, whole
            body.collective("%y", kind, "%x", f"all_gather_dim = {d} : i64, use_global_device_ids", x, y)
        elif kind == "reduce_scatter":
            before, x = None, whole
            body.collective("%y", kind, "%x", f"scatter_dimension = {d} : i64, use_global_device_ids", x, y, computation("maximum", v.dtype))
        elif kind == "all_to_all":
            after, y = 1 - d, cut(1 - d)
            body.collective("%y", kind, "%x", f"split_dimension = {1 - d} : i64, concat_dimension = {d} : i64, split_count = {n} : i64", x, y)
        elif kind == "collective_permute":
            shift = int(s.random(tag + "by").integers(0, n + 1))
            for result, operand, by in (("%m", "%x", shift), ("%y", "%m", -shift)):
                pairs = ", ".join(f"[{g[i]}, {g[(i + by) % n]}]" for g in body.groups for i in range(n))
                body.collective(result, kind, operand, "", x, x, groups=f"source_target_pairs = dense<[{pairs}]> : tensor<{len(body.groups) * n}x2xi64>")
        elif kind == "collective_broadcast":
            # What each has besides is the number of the device; all get the first one's, and it goes again.
            before, after, x, y = None, None, whole, whole
            body.line("%i = stablehlo.partition_id : tensor<ui32>")
            body.line(f"%c = stablehlo.convert %i : (tensor<ui32>) -> {dt.spell(v.dtype, ())}")
            body.line(f"%w = stablehlo.broadcast_in_dim %c, dims = [] : ({dt.spell(v.dtype, ())}) -> {x}")
            body.line(f"%s = stablehlo.add %x, %w : {x}")
            body.collective("%t", kind, "%s", "", x, x)
            body.collective("%u", kind, "%w", "", x, x)
            body.line(f"%y = stablehlo.subtract %t, %u : {x}")
        elif kind == "replica_id":
            body.line("%i = stablehlo.replica_id : tensor<ui32>")
            body.line(f"%c = stablehlo.convert %i : (tensor<ui32>) -> {dt.spell(v.dtype, ())}")
            body.line(f"%w = stablehlo.broadcast_in_dim %c, dims = [] : ({dt.spell(v.dtype, ())}) -> {x}")
            body.line(f"%y = stablehlo.add %x, %w : {x}")
        else:
            body.line(f'%y = "stablehlo.cross-replica-sum"(%x) <{{replica_groups = dense<0> : tensor<1x1xi64>}}> : ({x}) -> {x}')
        return manual(v, (v.dtype, v.shape), before, after, axis, x, body, ("%y", y))

    p.emit(kind, "control_flow", [v], [(v.dtype, v.shape)], f"stablehlo.reshape {{0}} : ({v.type}) -> {v.type}", spread=spread)


def reduced(p):
    """A dimension that the axis cuts: each device reduces its part, then all together."""
    v = _value(p, ["i32", "ui16", "i64"])
    d, number, kind = int(p.random.integers(len(v.shape))), len(p.operations), str(p.random.choice(["add", "maximum", "multiply"]))
    rooted, tag, s0 = bool(p.random.random() < 0.4) and kind == "add", f"manual{len(p.operations)}", dt.spell(v.dtype, ())
    neutral = {"add": 0, "multiply": 1, "maximum": dt.int_range(v.dtype)[0]}[kind]
    shape = [n for at, n in enumerate(v.shape) if at != d]
    out = dt.spell(v.dtype, shape)

    def lines(operand, from_):
        return [f"%z = stablehlo.constant dense<{neutral}> : {s0}",
                f"%m = stablehlo.reduce({operand} init: %z) applies stablehlo.{kind} across dimensions = [{d}] : ({from_}, {s0}) -> {out}"]

    def spread(s):
        axis = axis_for(p, s, tag, v.shape[d])
        if axis is None:
            return None
        body = Body(s, axis, number)
        local = dt.spell(v.dtype, [size // s.sizes[axis] if at == d else size for at, size in enumerate(v.shape)])
        for line in lines("%x", local):
            body.line(line)
        if rooted:  # the others have zeros
            body.collective("%t", "collective_reduce", "%m", "use_global_device_ids", out, out, computation(kind, v.dtype))
        body.collective("%y", "all_reduce", "%t" if rooted else "%m", "use_global_device_ids", out, out, computation(kind, v.dtype))
        return manual(v, (v.dtype, shape), d, None, axis, local, body, ("%y", out))

    called(p, "all_reduce", [v], [(v.dtype, shape)], lines("%a0", v.type), "%m", spread=spread)


MANUAL = [moved, moved, moved, reduced]
