# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that update arrays where a condition holds: the values of JAX, and time in proportion to the turns."""
import random
import resource

import numpy as np
import pytest

from benchmarks import tools

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

N = 24  # elements: more than live in registers, so that arrays are memory


class Body:
    """Random statements on two arrays of integers and a number; the same ones whenever JAX traces them again."""

    def __init__(self, seed, data, depth=2):
        self.draw, self.seed, self.data, self.depth = random.Random(seed), seed, data, depth

    def number(self, a, b, s, i):
        d = self.draw
        return d.choice([lambda: s, lambda: i, lambda: i + s, lambda: a[self.index(s, i)], lambda: b[self.index(s, i)] + 1, lambda: s * 3 - i,
                         lambda: jnp.int32(d.randrange(-9, 9))])()

    def index(self, s, i):
        d = self.draw
        return d.choice([lambda: i % N, lambda: N - 1 - i, lambda: (i * 7 + d.randrange(N)) % N, lambda: self.data["idx"][i % N], lambda: s % N,
                         lambda: i + d.randrange(4)])()

    def condition(self, s, i):
        d = self.draw
        return d.choice([lambda: self.data["p"][i % N], lambda: s % 3 == 1, lambda: (i % 4 > 1) & self.data["p"][(i * 5) % N]])()

    def update(self, x, value, s, i):
        d = self.draw
        kind = d.randrange(5)
        if kind == 0:
            return lax.dynamic_update_slice(x, jnp.stack([value, value + 1, s]), (self.index(s, i),))
        if kind == 1:
            places = jnp.stack([self.index(s, i), self.index(s, i)])
            return x.at[places].add(jnp.stack([value, s]), mode=d.choice(["drop", "clip"]))
        at = x.at[self.index(s, i)]
        return getattr(at, d.choice(["set", "set", "add", "max", "multiply"]))(value, mode=d.choice([None, "drop", "clip"]))

    def statement(self, a, b, s, i):
        d = self.draw
        kind = d.choice(["read", "update", "where", "where", "mask", "two", "cond", "switch", "loop", "swap", "chain"])
        inner = d.random() < 0.9 and self.depth > 0
        value = self.number(a, b, s, i)
        if kind == "update":
            return self.update(a, value, s, i), b, s
        if kind == "where":
            sides = [self.update(a, value, s, i), a]
            d.shuffle(sides)
            return jnp.where(self.condition(s, i), *sides), b, s
        if kind == "mask":
            return a, jnp.where(self.data["m"] & self.condition(s, i), self.update(b, value, s, i), b), s
        if kind == "two":
            c, e = self.update(a, b[self.index(s, i)], s, i), self.update(b, a[self.index(s, i)], s, i)
            return c, jnp.where(self.condition(s, i), e, self.update(b, value, s, i)), s + a[self.index(s, i)] + c[self.index(s, i)]
        if kind == "chain":
            c = self.update(a, value, s, i)
            e = self.update(c, c[self.index(s, i)] + value, s, i)
            return jnp.where(self.condition(s, i), e, a), b, s + value
        if kind == "swap":
            return b, a, s
        if kind == "cond" and inner:
            return lax.cond(self.condition(s, i), self.nested(1), d.choice([lambda a, b, s, i: (a, b, s), self.nested(2)]), a, b, s, i)
        if kind == "switch" and inner:
            return lax.switch(s % 3, [self.nested(3), lambda a, b, s, i: (a, b, s), self.nested(4)], a, b, s, i)
        if kind == "loop" and inner:
            turn = self.nested(5)
            return lax.fori_loop(0, i % 3, lambda j, state: turn(*state, i + j), (a, b, s))
        return a, b, s * 5 + value

    def nested(self, number):
        seed = self.seed * 6 + number + self.draw.randrange(1000) * 7919
        return lambda a, b, s, i: Body(seed, self.data, self.depth - 1).statements(1, a, b, s, i)

    def statements(self, count, a, b, s, i):
        for _ in range(count):
            a, b, s = self.statement(a, b, s, i)
        return a, b, s


def random_loop(seed, by_steps, a, b, p, m, idx):
    """`by_steps`: something in the loop is computed of whole arrays, so that the loop cannot be one kernel on scalars."""
    draw = random.Random(seed)
    data = {"p": p, "m": m, "idx": idx}
    count, kind = draw.randrange(2, 5), draw.choice(["fori", "scan", "while"])

    def turn(i, state):
        *state, whole = state
        a, b, s = Body(seed, data).statements(count, *state, i)
        return a, b, s, whole * 3 + s if by_steps else whole

    start = (a, b, jnp.int32(1), idx)
    if kind == "fori":
        return lax.fori_loop(0, N - 2, turn, start)
    if kind == "scan":
        def step(state, i):
            state = turn(i, state)
            return state, state[2] + state[0][3]
        return lax.scan(step, start, jnp.arange(N - 3, dtype=jnp.int32))
    return lax.while_loop(lambda state: (state[0] < N) & (state[1][2] % 19 != 7), lambda state: (state[0] + 1, turn(state[0], state[1])), (jnp.int32(0), start))


def arguments(batch, seed=1):
    r = np.random.default_rng(seed)
    shape = (batch, N) if batch else (N,)
    return (r.integers(-50, 50, shape, np.int32), r.integers(-50, 50, shape, np.int32), r.random(shape) < 0.5, r.random(shape) < 0.5,
            r.integers(-3, N + 3, shape, np.int32))


def export(function, inputs, path):
    path.write_text(jax.jit(function, keep_unused=True).trace(*inputs).lower(lowering_platforms=("cpu",)).as_text())
    return str(path)


def check(function, inputs, path, *flags):
    got, process = tools.run_file(export(function, inputs, path), inputs, "--quiet", *flags)
    want = jax.tree_util.tree_leaves(jax.jit(function)(*inputs))
    assert len(got) == len(want)
    for number, (ours, theirs) in enumerate(zip(got, want)):
        theirs = np.asarray(theirs)
        tolerance = 1e-4 if theirs.dtype.kind == "f" else 0
        np.testing.assert_allclose(np.asarray(ours).view(theirs.dtype), theirs, rtol=tolerance, atol=tolerance, err_msg=f"result {number}")
    return process


@pytest.mark.parametrize("by_steps", [False, True])
@pytest.mark.parametrize("batch", [0, 3])
@pytest.mark.parametrize("block", range(3))
def test_random_loops(block, batch, by_steps, tmp_path):
    """Eight loops per program; vmapped, conditions become selects and loops of unknown length keep what has ended."""
    def function(*inputs):
        def one(seed):
            return lambda *xs: random_loop(seed, by_steps, *xs)
        return [(jax.vmap(one(seed)) if batch else one(seed))(*inputs) for seed in range(block * 8, block * 8 + 8)]

    check(function, arguments(batch, block), tmp_path / "loops.mlir")


def random_gradient(seed, w, a, p, k):
    """Of a scan whose steps read, write and choose at random."""
    draw = random.Random(seed)
    chosen = [(draw.choice(["set", "set", "add"]), draw.choice(["plain", "where", "cond", "switch", "two"]), *(draw.randrange(N) for _ in range(3)), draw.randrange(4))
              for _ in range(draw.randrange(1, 4))]

    def step(a, i):
        ys = []
        for how, kind, x, y, z, place in chosen:
            at = [i % N, (i * 5 + x) % N, N - 1 - i % N, x][place]
            value = jnp.sin(a[(i + y) % N] * w) + 0.3
            if kind == "cond":
                value = lax.cond(p[i % N], lambda: a[z] * w, lambda: value * a[(i * 7) % N])
            elif kind == "switch":
                value = lax.switch(k[i % N] % 3, [lambda: a[z] * 0.5, lambda: w * 2.0, lambda: a[(i + z) % N] + w])
            b = getattr(a.at[at], how)(value)
            if kind == "two":
                b = lax.dynamic_update_slice(b, lax.dynamic_slice(a, (y % (N - 3),), (3,)) * w, (z % (N - 3),))
            ys.append(b[z] * a[x])
            a = jnp.where(p[(i + x) % N], b, a) if kind == "where" else b
        return a, sum(ys)

    def loss(w, a):
        a, ys = lax.scan(step, a, jnp.arange(N - 4))
        return jnp.sum(a ** 2) + jnp.sum(jnp.cos(ys))
    return jax.grad(loss, argnums=(0, 1))(w, a)


@pytest.mark.parametrize("batch", [0, 3])
@pytest.mark.parametrize("block", range(3))
def test_random_gradients(block, batch, tmp_path):
    draw = np.random.default_rng(block)
    shape = (batch, N) if batch else (N,)
    inputs = (np.float32(0.7), draw.random(shape, np.float32), draw.random(shape) < 0.5, draw.integers(0, 5, shape, np.int32))

    def function(*xs):
        def one(seed):
            return lambda *ys: random_gradient(seed, *ys)
        return [(jax.vmap(one(seed), (None, 0, 0, 0)) if batch else one(seed))(*xs) for seed in range(block * 8, block * 8 + 8)]

    check(function, inputs, tmp_path / "gradients.mlir")


# Programs of n turns whose arrays have n elements: a copy per turn makes them quadratic.
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def flags(n, seed=0):
    return np.random.default_rng(seed).random(n) < 0.5


def zeros(*shape):
    return np.zeros(shape, np.float32)


@program
def where_scalar(n):
    return lambda p, a: lax.fori_loop(0, n, lambda i, a: jnp.where(p[i], a.at[i].set(2.0), a), a), flags(n), zeros(n)


@program
def where_two_updates(n):
    return (lambda p, a: lax.fori_loop(0, n, lambda i, a: jnp.where(p[i], a.at[i].set(2.0).at[(i * 7) % n].set(3.0), a), a)), flags(n), zeros(n)


@program
def where_nested(n):
    def body(p, q, i, a):
        b = jnp.where(q[i], a.at[i].set(1.0), a.at[n - 1 - i].set(4.0))
        return jnp.where(p[i], b.at[(i * 7) % n].multiply(3.0), a)
    return lambda p, q, a: lax.fori_loop(0, n, lambda i, a: body(p, q, i, a), a), flags(n), flags(n, 1), zeros(n)


@program
def where_mask(n):
    return lambda m, a: lax.fori_loop(0, n, lambda i, a: jnp.where(m, a.at[i].set(2.0), a), a), flags(n), zeros(n)


@program
def where_rows(n):
    n //= 4  # rows are long
    return lambda p, a: lax.fori_loop(0, n, lambda i, a: jnp.where(p[i], a.at[i].set(a[i] * 2 + 1), a), a), flags(n), zeros(n, 20)


@program
def where_reads_its_update(n):
    """The choice, and the next update, need the array after its update."""
    def body(p, i, a):
        b = a.at[i].set(a[n - 1 - i] + 1.0)
        return jnp.where(p[i] & (b[(i * 3) % n] < 5.0), b.at[(i * 5) % n].set(b[(i * 7) % n] + 1.0), a)
    return lambda p, a: lax.fori_loop(0, n, lambda i, a: body(p, i, a), a), flags(n), zeros(n)


@program
def where_rows_read_their_update(n):
    n //= 4  # rows are long
    def body(p, i, a):
        b = a.at[i].add(a[(i * 7) % n] + 1.0)
        return jnp.where(p[i] | (jnp.sum(b[n - 1 - i]) > 3.0), a, b)
    return lambda p, a: lax.fori_loop(0, n, lambda i, a: body(p, i, a), a), flags(n), zeros(n, 20)


@program
def windows_of_elements(n):
    """Of a window, elements are chosen: by a mask, and by what they are."""
    def body(m, i, a):
        b = jnp.where(m, lax.dynamic_update_slice(a, a[i] + jnp.arange(8, dtype=jnp.float32), (i,)), a)
        return jnp.where(b < i * 0.5, lax.dynamic_update_slice(b, lax.dynamic_slice(b, (n - i,), (8,)) + 1.0, (n - i,)), b)
    return lambda m, a: lax.fori_loop(0, n, lambda i, a: body(m, i, a), a), flags(n), zeros(n)


@program
def where_tree(n):
    """A step that is made or not, as of a scan over sequences of different lengths; parts of it are loops."""
    def body(p, i, state):
        def inner(j, a):
            return a.at[(i + j) % n].add(a[j])
        step = (lax.fori_loop(0, i % 5, inner, state[0]), lax.fori_loop(0, 3, inner, state[1]), state[2].at[i].set(state[0][i]), state[3] + 1)
        return jax.tree.map(lambda new, old: jnp.where(p[i], new, old), step, state)
    return lambda p, a, b, c: lax.fori_loop(0, n, lambda i, s: body(p, i, s), (a, b, c, 0)), flags(n), zeros(n) + 0.001, zeros(n) + 0.001, zeros(n)


@program
def cond_scalar(n):
    return lambda p, a: lax.fori_loop(0, n, lambda i, a: lax.cond(p[i], lambda: a.at[i].set(2.0), lambda: a), a), flags(n), zeros(n)


@program
def cond_rows(n):
    n //= 4  # rows are long
    return lambda p, a: lax.fori_loop(0, n, lambda i, a: lax.cond(p[i], lambda a: a.at[i].set(a[i] * 2 + 1), lambda a: a, a), a), flags(n), zeros(n, 20)


@program
def cond_reads_and_writes(n):
    def body(p, i, a):
        return lax.cond(p[i], lambda: a.at[i].set(a[n - 1 - i] + 1), lambda: a.at[n - 1 - i].set(a[i] * 0.5))
    return lambda p, a: lax.fori_loop(0, n, lambda i, a: body(p, i, a), a), flags(n), zeros(n)


@program
def cond_several(n):
    def body(p, i, state):
        a, b, k = state
        return lax.cond(p[i], lambda: (a.at[i].set(b[i]), b.at[k].set(a[k] + 1), k + 1), lambda: (a, b, k))
    return lambda p, a, b: lax.fori_loop(0, n, lambda i, s: body(p, i, s), (a, b, 0)), flags(n), zeros(n), zeros(n)


@program
def switch(n):
    def body(k, i, a):
        return lax.switch(k[i], [lambda a: a, lambda a: a.at[i].set(1.0), lambda a: a.at[n - 1 - i].add(a[i]), lambda a: a.at[i].set(3.0).at[0].set(a[5])], a)
    return lambda k, a: lax.fori_loop(0, n, lambda i, a: body(k, i, a), a), np.arange(n, dtype=np.int32) % 5, zeros(n)


@program
def scan_keeps(n):
    def step(p):
        return lambda a, i: (jnp.where(p[i], lax.dynamic_update_slice(a, jnp.full((1,), 2.0), (i,)), a), a[i])
    return lambda p, a: lax.scan(step(p), a, jnp.arange(n)), flags(n), zeros(n)


@program
def exchange(n):
    def body(i, state):
        a, b = state
        return a.at[i].set(b[n - 1 - i]), b.at[n - 1 - i].set(a[i])
    return lambda a, b: lax.fori_loop(0, n, body, (a, b)), np.arange(n, dtype=np.float32), zeros(n)


@program
def swapped(n):
    return lambda a, b: lax.fori_loop(0, n, lambda i, s: (s[1].at[i].set(s[0][i] + 1.0), s[0]), (a, b)), zeros(n), np.arange(n, dtype=np.float32)


@program
def swapped_both_updated(n):
    """Odd turns: what the arrays hold is not where it began."""
    def body(i, state):
        a, b = state
        return b.at[i].set(a[i] + 1.0), lax.cond(a[i] > 3.0, lambda a: a.at[n - 1 - i].set(b[i]), lambda a: a, a)
    return lambda a, b: lax.fori_loop(0, n - 1, body, (a, b)), zeros(n), np.arange(n, dtype=np.float32)


@program
def rotated(n):
    def body(i, state):
        a, b, c = state
        return b.at[i].set(a[i] + c[i]), c, a
    return lambda a, b, c: lax.fori_loop(0, n, body, (a, b, c)), zeros(n), np.arange(n, dtype=np.float32), zeros(n) + 0.5


@program
def swapped_in_rows(n):
    """Two rows of a table in turns, each made by a loop of its own, and the table."""
    m = 32  # columns
    def body(i, state):
        before, now, table = state
        now = lax.fori_loop(1, m, lambda j, row: row.at[j].set(jnp.minimum(before[j - 1], row[j - 1]) + 1.0), now.at[0].set(i * 1.0))
        return now, before, lax.dynamic_update_slice(table, now[None], (i, 0))
    return lambda a, b: lax.fori_loop(0, n // m, body, (a, b, jnp.zeros((n // m, m), jnp.float32))), zeros(m), zeros(m)


@program
def vmapped(n):
    def one(p, idx, a):
        return lax.fori_loop(0, n, lambda i, a: lax.cond(p[i], lambda: a.at[idx[i]].add(2.0), lambda: a), a)
    return jax.vmap(one), np.stack([flags(n), flags(n, 1)]), np.stack([np.arange(n)] * 2).astype(np.int32), zeros(2, n)


@program
def vmapped_windows(n):
    """Windows of four, clamped into the array."""
    def one(p, a):
        return lax.fori_loop(0, n, lambda i, a: jnp.where(p[i], lax.dynamic_update_slice(a, lax.dynamic_slice(a, (i,), (4,)) + 1.0, (i,)), a), a)
    return jax.vmap(one), np.stack([flags(n), flags(n, 1)]), zeros(2, n)


@program
def vmapped_while(n):
    def one(limit, a):
        def body(state):
            i, a = state
            x, y = a[i], a[n - 1 - i]
            return i + 1, a.at[i].set(y + 1).at[n - 1 - i].set(x)
        return lax.while_loop(lambda state: state[0] < limit, body, (0, a))[1]
    return jax.vmap(one), np.asarray([n - 1, n // 2], np.int32), zeros(2, n)


@program
def adaptive_integrator(n):
    def body(state):
        t, dt, y, i, ys, turns = state
        k1 = jnp.sin(t) - y
        k2 = jnp.sin(t + dt) - (y + dt * k1)
        error = jnp.max(jnp.abs(dt * (k2 - k1) / 2))
        ok = error < 1e-4
        following = y + dt * (k1 + k2) / 2
        return (jnp.where(ok, t + dt, t), dt * jnp.clip(0.9 * jnp.sqrt(1e-4 / (error + 1e-12)), 0.2, 2.0), jnp.where(ok, following, y), i + ok.astype(jnp.int32),
                jnp.where(ok, ys.at[i].set(following), ys), turns + 1)
    start = (jnp.float32(0), jnp.float32(0.01), jnp.ones(3, jnp.float32), 0, jnp.zeros((n, 3), jnp.float32), 0)
    return lambda n1: lax.while_loop(lambda s: (s[3] < n1) & (s[5] < 3 * n1), body, start)[3:5], np.int32(n)


@program
def sampler(n):
    def step(state, _):
        x, kept, count, bits = state
        bits = (bits ^ (bits >> 13)) * np.uint32(0x5BD1E995) + np.uint32(12345)
        proposed = x + (bits >> 20).astype(jnp.int32) - 2048
        ok = (bits >> 7) % 3 != 0
        x = jnp.where(ok, proposed, x)
        return (x, lax.cond(ok, lambda k: k.at[count].set(x), lambda k: k, kept), count + ok.astype(jnp.int32), bits), None
    return lambda kept: lax.scan(step, (jnp.int32(0), kept, 0, np.uint32(7)), None, length=n)[0], np.zeros(n, np.int32)


@program
def event_queue(n):
    """A binary heap: pushes at half of the turns."""
    def push(heap, size, key):
        def up(state):
            i, heap = state
            return (i - 1) // 2, heap.at[i].set(heap[(i - 1) // 2])
        i, heap = lax.while_loop(lambda s: (s[0] > 0) & (s[1][(s[0] - 1) // 2] > key), up, (size, heap))
        return heap.at[i].set(key), size + 1

    def step(state, x):
        key, takes = x
        state = lax.cond(takes, lambda heap, size: push(heap, size, key), lambda heap, size: (heap, size), *state)
        return state, state[0][0]
    return lambda keys, takes: lax.scan(step, (jnp.full(n, np.inf, jnp.float32), 0), (keys, takes)), np.random.default_rng(0).random(n, np.float32), flags(n)


@program
def gradient(n):
    """Of a loop that writes and reads elements: sums with arrays that are zero but for one element."""
    def loss(w, x, a):
        a, ys = lax.scan(lambda a, i: (a.at[i].set(jnp.sin(w * x[i])), a[i]), a, jnp.arange(n))
        return jnp.sum(a) + jnp.sum(ys)
    return jax.grad(loss, argnums=(0, 1, 2)), np.float32(0.5), np.random.default_rng(0).random(n, np.float32), zeros(n)


@program
def gradient_of_squares(n):
    """What the backward loop begins with can hold -0.0, and so can what it adds."""
    def loss(w, x, a):
        a, ys = lax.scan(lambda a, i: (a.at[i].set(jnp.sin(w * x[i])), a[i]), a, jnp.arange(n))
        return jnp.sum(a * a) + jnp.sum(ys * ys)
    return jax.grad(loss, argnums=(0, 1, 2)), np.float32(0.5), np.random.default_rng(0).random(n, np.float32), zeros(n) + 0.5


@program
def gradient_of_distance(n):
    def loss(w, a, target):
        a, _ = lax.scan(lambda a, i: (a.at[i].set(jnp.tanh(w * a[i - 1]) + 0.1), None), a, jnp.arange(1, n))
        return jnp.mean((a - target) ** 2)
    return jax.grad(loss, argnums=(0, 1)), np.float32(0.5), zeros(n), np.random.default_rng(0).random(n, np.float32)


@program
def gradient_of_recurrence(n):
    def loss(w, a):
        a, _ = lax.scan(lambda a, i: (a.at[i].set(jnp.tanh(w * a[i - 1]) + 0.1), None), a, jnp.arange(1, n))
        return a[n - 1]
    return jax.grad(loss, argnums=(0, 1)), np.float32(0.5), zeros(n)


@program
def gradient_where(n):
    """Gradients of choices are choices between arrays and zeros."""
    def loss(w, p, a):
        return jnp.sum(lax.scan(lambda a, i: (jnp.where(p[i], a.at[i].set(w * i), a), None), a, jnp.arange(n))[0])
    return jax.grad(loss, argnums=(0, 2)), np.float32(0.5), flags(n), zeros(n)


@program
def gradient_where_reads(n):
    def loss(w, p, a):
        a, _ = lax.scan(lambda a, i: (jnp.where(p[i], a.at[i].set(w * a[n - 1 - i]), a), None), a, jnp.arange(n))
        return jnp.sum(a ** 2)
    return jax.grad(loss, argnums=(0, 2)), np.float32(0.5), flags(n), zeros(n) + 0.1


@program
def gradient_of_branches(n):
    """Each branch reads another element, one of them always the same, one none."""
    def loss(w, k, a):
        def step(a, i):
            y = lax.switch(k[i], [lambda: jnp.sin(a[n - 1 - i]) * w, lambda: 2.0 * w, lambda: a[i] * w, lambda: a[1] * 0.5])
            return a.at[i].set(y), None
        return jnp.sum(lax.scan(step, a, jnp.arange(n))[0] ** 2)
    return jax.grad(loss, argnums=(0, 2)), np.float32(0.5), np.arange(n, dtype=np.int32) % 5, zeros(n) + 0.1


@program
def gradient_of_rows(n):
    n //= 4  # rows are long
    def loss(w, a):
        a, _ = lax.scan(lambda a, i: (a.at[i].set(jnp.tanh(a[i - 1] * w)), None), a, jnp.arange(1, n))
        return jnp.sum(a[n - 1])
    return jax.grad(loss, argnums=(0, 1)), np.float32(0.5), zeros(n, 20) + 1


@program
def gradient_of_table(n):
    def loss(x, idx):
        return lax.fori_loop(0, n, lambda i, s: s * 0.9 + jnp.sin(x[idx[i]]), jnp.float32(0))
    return jax.grad(loss), np.random.default_rng(0).random(n, np.float32), np.random.default_rng(1).integers(0, n, n, np.int32)


@program
def gradient_of_neighbours(n):
    """Several elements per turn, some of them twice."""
    def loss(x, idx):
        return lax.fori_loop(0, n, lambda i, s: s * 0.9 + jnp.sum(jnp.sin(x[idx[i]])), jnp.float32(0))
    idx = np.random.default_rng(1).integers(0, n, (n, 4), np.int32)
    idx[:, 3] = idx[:, 1]
    return jax.grad(loss), np.random.default_rng(0).random(n, np.float32), idx


@program
def gradient_vmapped(n):
    def loss(w, x, a):
        def one(x, a):
            return lax.scan(lambda a, i: (a.at[i].set(jnp.tanh(w * a[i - 1] + x[i])), None), a, jnp.arange(1, n))[0][n - 1]
        return jnp.sum(jax.vmap(one)(x, a))
    return jax.grad(loss, argnums=(0, 1)), np.float32(0.5), np.random.default_rng(0).random((2, n), np.float32), zeros(2, n)


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 13])
@pytest.mark.parametrize("width", [1, 3])
def test_signs_of_zeros(turns, width, tmp_path):
    """Sums with arrays that are zero but for windows, of an array that begins with -0.0 here and there: after each turn it has NumPy's bits."""
    def places(i):
        return (i * 5) % 3 * 2, (i * 7) % 4 * 2  # often the same window again, and windows that overlap

    def window(v, at):
        return lax.dynamic_update_slice(jnp.zeros(N, jnp.float32), v, (at,))

    def loop(a, v, w, u):
        def body(i, state):
            a, seen = state
            seen = lax.dynamic_update_slice(seen, a[None], (i, 0))
            first, second = places(i)
            a = a.at[second].set(0.0) + window(v[i], first)
            a = lax.dynamic_update_slice(a, u[i], (second + 1,))
            return window(w[i], second) + a, seen
        a, seen = lax.fori_loop(0, turns, body, (a, jnp.zeros((16, N), jnp.float32)))
        return a, seen

    draw = np.random.default_rng(turns)
    a = draw.choice(np.float32([-0.0, -0.0, 0.0, 1.0]), N)
    v, w, u = (draw.choice(np.float32([-0.0, -0.0, -0.0, 0.0, 1.0, -1.0]), (16, width)) for _ in range(3))
    got, _ = tools.run_file(export(loop, (a, v, w, u), tmp_path / "zeros.mlir"), (a, v, w, u), "--quiet")
    seen = np.zeros((16, N), np.float32)

    def added(a, v, at):
        b = np.zeros(N, np.float32)
        b[at:at + width] = v
        return a + b
    for i in range(turns):
        seen[i] = a
        first, second = places(i)
        a = a.copy()
        a[second] = 0
        a = added(a, v[i], first)
        a[second + 1:second + 1 + width] = u[i]
        a = added(a, w[i], second)
    for ours, numpys in zip(got, (a, seen)):
        np.testing.assert_array_equal(np.asarray(ours).view(np.uint32), numpys.view(np.uint32))


def milliseconds(path, inputs):
    """Processor time of an execution: that of several without what one takes, start and arguments. Other processes do not count."""
    def processor_time(executions):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        tools.run_file(path, inputs, "--quiet", f"--repeat={executions}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1e3 * (after.ru_utime - before.ru_utime)

    processor_time(1)  # compiles
    return (processor_time(9) - processor_time(1)) / 8


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name, tmp_path):
    function, *inputs = PROGRAMS[name](500)
    if name == "adaptive_integrator":  # which steps are accepted depends on the last bits: the number of results does not
        check(lambda *xs: function(*xs)[0], inputs, tmp_path / "count.mlir")
    else:
        check(function, inputs, tmp_path / "loop.mlir")


def check_linear(few, many, tmp_path):
    """`many` does four times the turns of `few`, in less than eight times the time; a copy of an array per turn would take sixteen times."""
    programs = [(export(function, inputs, tmp_path / f"{place}.mlir"), inputs) for place, (function, *inputs) in enumerate((few, many))]
    times = [0.0, np.inf]
    # What is quadratic takes seconds whenever it runs. Differences of processor times may be negative on a noisy machine: of few turns the greatest counts.
    for _ in range(3):
        times = [choose(before, milliseconds(path, inputs)) for choose, before, (path, inputs) in zip((max, min), times, programs)]
        if times[1] < 8 * times[0] + 10:
            return
    pytest.fail(f"{times[0]} ms, {times[1]} ms for four times the turns")


@pytest.mark.parametrize("name", PROGRAMS)
def test_linear_time(name, tmp_path):
    check_linear(PROGRAMS[name](16384), PROGRAMS[name](65536), tmp_path)


def benchmark_loops(factor):
    """The loops of benchmarks/, with `factor` times a number of turns that takes some milliseconds."""
    from benchmarks.model import loops as models
    from benchmarks.op import loops as ops

    draw = np.random.default_rng(0)

    def normal(*shape):
        return draw.standard_normal(shape).astype(np.float32)

    lstm, mandelbrot = models.lstm(steps=16 * factor), models.mandelbrot(size=128, limit=50 * factor)
    return {
        "newton": (lambda x: ops.newton(x, turns=20000 * factor), np.float32(5)),
        # A power of two takes as many turns as its exponent.
        "collatz": (ops.collatz, np.full(100000, 1 << (7 * factor), np.int32)),
        "power_iteration": (lambda a, x: ops.power_iteration(a, x, turns=20 * factor), abs(normal(512, 512)), abs(normal(512))),
        "gated_recurrence": (ops.gated_recurrence, normal(8, 128), normal(32 * factor, 8, 128), normal(2, 128, 128) / 10, normal(2, 128, 128) / 10),
        "game_of_life": (lambda board: ops.game_of_life(board, turns=10 * factor), draw.integers(0, 2, (256, 256), np.int32)),
        "heat": (lambda x: ops.heat(x, turns=20 * factor), normal(256, 256)),
        "lstm": (lstm.function, *lstm.inputs(0)),
        "mandelbrot": (mandelbrot.function, *mandelbrot.inputs(0)),
    }


@pytest.mark.parametrize("name", ["newton", "collatz", "power_iteration", "gated_recurrence", "game_of_life", "heat", "lstm", "mandelbrot"])
def test_benchmarks_are_linear(name, tmp_path):
    check_linear(benchmark_loops(1)[name], benchmark_loops(4)[name], tmp_path)
