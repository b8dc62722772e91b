# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for eight devices as JAX traces them, with JAX's own results: `jax_programs.py shardy|gspmd FOLDER`.

A process of its own because the number of JAX's CPU devices is fixed at start-up. Writes NAME.mlir, NAME.args.npz and
NAME.want.npz per program.
"""
import os
import sys
from functools import partial

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402

jax.config.update("jax_num_cpu_devices", 8)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec as P  # noqa: E402

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
CUBE = jax.make_mesh((2, 2, 2), ("x", "y", "z"), axis_types=(jax.sharding.AxisType.Auto,) * 3)
# The same devices in another order.
ODD = jax.sharding.Mesh(np.array(jax.devices())[[3, 1, 0, 2, 7, 5, 6, 4]].reshape(2, 4), ("data", "model"))
RANDOM = np.random.default_rng(1)
PROGRAMS = {}


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def program(name, *arguments, out=None, shardings=(), mesh=MESH, donate=()):
    """Registers a function; `shardings` are PartitionSpecs of the arguments (None: unspecified), `out` of the results."""

    def register(function):
        def named(spec):
            return None if spec is None else NamedSharding(mesh, spec)
        specs = list(shardings) + [None] * (len(arguments) - len(shardings))
        options = {} if out is None else {"out_shardings": jax.tree.map(named, out, is_leaf=lambda x: x is None or isinstance(x, P))}
        PROGRAMS[name] = (jax.jit(function, donate_argnums=donate, **options), arguments, [named(spec) for spec in specs])
        return function
    return register


def manual(in_specs, out_specs, mesh=MESH, **options):
    return partial(jax.shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


# --- jit with NamedSharding -------------------------------------------------------------------------------------------
@program("matmul_contracting", f32(8, 16), f32(16, 32), shardings=[P("data", "model"), P("model", None)])
def _(x, w):
    y = lax.with_sharding_constraint(x @ w, NamedSharding(MESH, P("data", None)))
    return jnp.tanh(y).sum(axis=1)


@program("matmul_all_ways", f32(8, 16), f32(16, 24), shardings=[P("data", None), P(None, "model")], out=P("model", "data"))
def _(x, w):
    return x @ w + 1


@program("conflicting_axes", f32(8, 8), f32(8, 8), shardings=[P("data", None), P(None, "data")])
def _(x, y):
    return x @ y, x + y, x * y.T


@program("mlp_gradients", f32(16, 8), f32(8, 32), f32(32, 4), f32(16, 4),
         shardings=[P("data", None), P(None, "model"), P("model", None), P("data", None)],
         out=(P(None, "model"), P("model", None), P()))
def _(x, w1, w2, y):
    def loss(w1, w2):
        return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)
    value, (d1, d2) = jax.value_and_grad(loss, argnums=(0, 1))(w1, w2)
    return w1 - 0.1 * d1, w2 - 0.1 * d2, value


@program("attention", f32(4, 8, 4, 8), f32(4, 8, 4, 8), f32(4, 8, 4, 8), shardings=[P("data", None, "model", None)] * 3)
def _(q, k, v):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(8).astype(np.float32)
    scores = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), scores, -1e9)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, axis=-1), v).reshape(4, 8, 32)


@program("reductions", f32(8, 16), shardings=[P("data", "model")])
def _(x):
    return (x.sum(), x.max(axis=0), x.min(axis=1), jnp.prod(x, axis=1), (x > 0).all(axis=0), (x > 2).any(axis=1),
            jnp.argmax(x, axis=1), x.mean(axis=0), jnp.sort(x, axis=0), jnp.cumsum(x, axis=1))


@program("integer_reductions", RANDOM.integers(-50, 50, (8, 16)).astype(np.int8), shardings=[P("data", "model")])
def _(x):
    return x.max(), x.min(axis=1), x.sum(axis=0), (x > 0).any(), jnp.prod(x.astype(np.int32) | 1, axis=0)


@program("data_movement", f32(8, 16), f32(8, 16), shardings=[P("data", "model"), P("model", "data")])
def _(x, y):
    return (x.T, x.reshape(8, 4, 4), x.reshape(2, 4, 16), x.reshape(128), jnp.concatenate([x, y], axis=0),
            jnp.concatenate([x, y], axis=1), x[1:5], x[:, ::2], jnp.pad(x, ((0, 0), (1, 2))), x[::-1], jnp.stack([x, y]),
            jnp.broadcast_to(x[:, None], (8, 3, 16)), jnp.roll(x, 3, axis=1), x[:, None, :], jnp.tile(x, (2, 1)))


@program("indexing", f32(8, 16), np.array([3, 0, 7, 3], np.int32), np.int32(2), f32(4, 16), shardings=[P(None, "model"), P("data")])
def _(x, i, at, u):
    return (x[i], x[:, i], lax.dynamic_slice(x, (at, 0), (3, 16)), lax.dynamic_slice(x, (0, at), (8, 5)), x.at[i].set(u),
            x.at[i].add(u), lax.dynamic_update_slice(x, u, (at, 0)), jnp.take_along_axis(x, jnp.zeros((8, 1), np.int32) + at, axis=1))


@program("batched_indexing", f32(8, 5, 16), RANDOM.integers(0, 5, (8,)).astype(np.int32), shardings=[P("data", None, "model"), P("data")])
def _(x, i):
    return jax.vmap(lambda row, index: row[index])(x, i), jax.vmap(lambda row, index: row.at[index].mul(2.0))(x, i)


@program("convolution", f32(8, 8, 8, 4), f32(3, 3, 4, 8), shardings=[P("data", None, None, None), P(None, None, None, "model")])
def _(x, k):
    y = lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y, lax.reduce_window(y, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program("linear_algebra", f32(8, 4, 4), f32(8, 16), shardings=[P("data", None, None), P("data", "model")])
def _(a, x):
    spd = a @ a.swapaxes(1, 2) + 4 * jnp.eye(4)
    return lax.linalg.triangular_solve(jnp.tril(spd), a, left_side=True, lower=True), jnp.fft.fft(x, axis=1)


@program("scan", f32(8, 16), f32(16, 16), shardings=[P("data", "model"), P("model", None)], out=(P("data", None), None))
def _(x, w):
    return lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=3)


@program("scan_from_zeros", f32(6, 8, 16), shardings=[P(None, "data", "model")])
def _(xs):
    return lax.scan(lambda c, x: (c + x, c * x), jnp.zeros((8, 16)), xs)


@program("while_loop", f32(8, 8), shardings=[P("data", None)])
def _(x):
    return lax.while_loop(lambda c: c[1].sum() < 200, lambda c: (c[0] + 1, c[1] * 1.5 + 0.5), (0, jnp.abs(x)))


@program("branches", f32(8, 8), np.int32(1), shardings=[P("data", "model")])
def _(x, i):
    return lax.switch(i, [lambda x: x, lambda x: x.T * 2, lambda x: jnp.zeros_like(x)], x), lax.cond(i > 0, jnp.sin, lambda x: x @ x, x)


@program("random", np.array([1, 2], np.uint32), out=(P("data", "model"), None))
def _(key):
    bits = jax.random.wrap_key_data(key)
    return jax.random.normal(bits, (8, 16)), jax.random.permutation(bits, 8)


@program("three_axes", f32(8, 4, 6), shardings=[P(("z", "x"), "y", None)], mesh=CUBE, out=(P("y", ("x", "z"), None), P("x", None, "z")))
def _(x):
    return x * 2, lax.with_sharding_constraint(x + 1, NamedSharding(CUBE, P(None, "z", ("x")))) - x


@program("device_order", f32(8, 16), shardings=[P("data", "model")], mesh=ODD, out=(P(("model", "data"), None), P("data", "model"), None))
def _(x):
    return x + 1, (x - 1).astype(jnp.bfloat16).astype(np.float32), x.sum(axis=0)


@program("donated", f32(8, 16), f32(8, 16), shardings=[P("data", "model"), P("data", None)], donate=(0, 1))
def _(x, y):
    return jnp.exp(x), x.sum() + y


@program("uneven_constraint", f32(6, 10), shardings=[P("data", None)])
def _(x):
    return lax.with_sharding_constraint(x * 3, NamedSharding(MESH, P("model", "data"))).sum(axis=0)


@program("shifted_tiles", f32(64, 3), np.float32(2.5), shardings=[P(("data", "model"))], out=(P(("data", "model")),) * 5)
def _(x, fill):
    odd = lax.with_sharding_constraint(x[3:60], NamedSharding(MESH, P(("data", "model"))))
    return (lax.pad(x, fill, [(4, 4, 0), (0, 0, 0)]), lax.pad(x, fill, [(-5, -3, 0), (1, 0, 0)]), lax.pad(x, fill, [(6, 3, 1), (0, 0, 0)]),
            x[5:53:2], lax.pad(odd * 2, fill, [(9, -2, 0), (0, 0, 0)]))


@program("no_shardings_on_arguments", f32(8, 16))
def _(x):
    return lax.with_sharding_constraint(jnp.sin(x), NamedSharding(MESH, P("data", "model"))).T


@program("complex", f32(8, 8), f32(8, 8), shardings=[P("data", "model"), P("data", "model")])
def _(a, b):
    c = a + 1j * b
    return jnp.abs(c @ c), (c.sum(axis=0)).real


# --- shard_map --------------------------------------------------------------------------------------------------------
@program("psum", f32(8, 16), f32(16, 32), shardings=[P("data", "model"), P("model", None)])
@manual((P("data", "model"), P("model", None)), P("data", None))
def _(a, b):
    return lax.psum(a @ b, "model")


@program("collectives", f32(8, 16), shardings=[P("data", "model")])
@manual(P("data", "model"), (P(None, "model"), P("data", None), P("model", "data"), P("data", "model"), P("data", "model"), P("model")),
        check_vma=False)
def _(x):
    return (lax.all_gather(x, "data", axis=0, tiled=True), lax.all_gather(x, "model", axis=1, tiled=True),
            lax.all_to_all(lax.all_gather(x, "data", axis=0, tiled=True), "model", 0, 1, tiled=True)[:, :8],
            lax.ppermute(x, "model", [(0, 1), (1, 2), (2, 3), (3, 0)]), lax.pmax(x, "data") + lax.axis_index("model"),
            lax.psum_scatter(lax.psum(x, "data"), "model", scatter_dimension=0, tiled=True))


@program("resharded_on_entry", f32(8, 16), shardings=[P("model", "data")])
@manual(P("data", "model"), P("data", "model"))
def _(x):
    return x * 2 + lax.axis_index("data").astype(np.float32)


@program("partly_manual", f32(8, 16), shardings=[P("data", "model")])
@manual(P("data", None), P("data", None), axis_names={"data"})
def _(x):
    return lax.ppermute(x * 2, "data", [(0, 1), (1, 0)]) + lax.axis_index("data").astype(np.float32) + x.sum(axis=1, keepdims=True)


@program("nested_manual", f32(8, 16), shardings=[P("data", "model")])
@manual(P("data", None), P("data", None), axis_names={"data"})
def _(x):
    @manual(P(None, "model"), P(None, None), mesh=None, axis_names={"model"}, check_vma=False)
    def inner(y):
        return lax.all_gather(y, "model", axis=1, tiled=True) + lax.psum(y.sum(), "model")
    return lax.psum(inner(jnp.tanh(x)), "data") + x


@program("manual_among_others", f32(8, 16), f32(16, 4), shardings=[P("data", "model"), P(None, None)])
def _(x, w):
    inner = manual((P("data", "model"), P("model", None)), P("data", None))(lambda a, b: lax.psum(a @ b, "model"))
    y = inner(jnp.sin(x), w * 2)
    return jnp.cos(y).sum(axis=0), manual(P("model"), P("model"))(lambda z: z[::-1])(y)


@program("manual_scan", f32(8, 16), shardings=[P("data", "model")])
@manual(P("data", "model"), P("data", "model"))
def _(x):
    step = lambda c, _: (lax.ppermute(c, "model", [(i, (i + 1) % 4) for i in range(4)]) + x, None)
    return lax.scan(step, x, None, length=4)[0]


def main():
    mode, folder = sys.argv[1:]
    jax.config.update("jax_use_shardy_partitioner", mode == "shardy")
    for name, (function, arguments, shardings) in PROGRAMS.items():
        placed = [jax.ShapeDtypeStruct(np.shape(a), a.dtype, sharding=s) if s else jax.ShapeDtypeStruct(np.shape(a), a.dtype)
                  for a, s in zip(arguments, shardings)]
        with open(os.path.join(folder, name + ".mlir"), "w") as file:
            file.write(function.lower(*placed).as_text(debug_info=False))
        values = [jax.device_put(a, s) if s else a for a, s in zip(arguments, shardings)]
        results = [np.asarray(r) for r in jax.tree.leaves(function(*values))]
        np.savez(os.path.join(folder, name + ".args.npz"), **{f"arg{i}": a for i, a in enumerate(arguments)})
        np.savez(os.path.join(folder, name + ".want.npz"), **{f"out{i}": r for i, r in enumerate(results)})


if __name__ == "__main__":
    main()
