# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that run on Millrace and on XLA:CPU alike; each returns arrays. What a JAX user writes, small."""
import functools

import jax
import jax.numpy as jnp
from jax import lax


# --- training -------------------------------------------------------------------------------------------------------

def train_flax_linen(steps):
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(8, (3, 3))(x)
            x = nn.relu(nn.GroupNorm(num_groups=4)(x))
            x = nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1)
            return nn.Dense(10)(nn.gelu(nn.Dense(32)(x)))

    net, key = Net(), jax.random.key(0)
    images = jax.random.normal(key, (16, 8, 8, 3))
    labels = jnp.arange(16) % 10
    parameters = net.init(key, images)
    optimizer = optax.adamw(1e-3)
    state = optimizer.init(parameters)

    @jax.jit
    def step(parameters, state):
        def loss(p):
            return optax.softmax_cross_entropy_with_integer_labels(net.apply(p, images), labels).mean()
        value, gradient = jax.value_and_grad(loss)(parameters)
        update, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, update), state, value

    losses = []
    for _ in range(steps):
        parameters, state, value = step(parameters, state)
        losses.append(value)
    return jnp.stack(losses)


def train_flax_nnx(steps):
    from flax import nnx
    import optax

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.a, self.norm = nnx.Linear(6, 32, rngs=rngs), nnx.BatchNorm(32, rngs=rngs)
            self.drop, self.b = nnx.Dropout(0.2, rngs=rngs), nnx.Linear(32, 3, rngs=rngs)

        def __call__(self, x):
            return self.b(self.drop(nnx.relu(self.norm(self.a(x)))))

    model = Model(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.05, momentum=0.9), wrt=nnx.Param)
    x = jax.random.normal(jax.random.key(1), (32, 6))
    y = jnp.tanh(x[:, :3] * 2)

    @nnx.jit
    def step(model, optimizer):
        value, gradient = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        optimizer.update(model, gradient)
        return value

    return jnp.stack([step(model, optimizer) for _ in range(steps)])


def train_rnn_with_scan(steps):
    def cell(w, carry, x):
        h, c = carry
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), h

    key = jax.random.key(3)
    xs = jax.random.normal(key, (12, 4, 5))
    w = jax.random.normal(key, (13, 32)) * 0.3

    def loss(w):
        (h, _), hs = lax.scan(functools.partial(cell, w), (jnp.zeros((4, 8)), jnp.zeros((4, 8))), xs)
        return jnp.mean((hs - 0.5) ** 2) + jnp.mean(h ** 2)

    @jax.jit
    def step(w):
        value, gradient = jax.value_and_grad(loss)(w)
        return w - 0.5 * gradient, value

    values = []
    for _ in range(steps):
        w, value = step(w)
        values.append(value)
    return w, jnp.stack(values)


# --- control flow ---------------------------------------------------------------------------------------------------

def collatz(n):
    def body(state):
        n, count = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1
    return jax.jit(lambda n: lax.while_loop(lambda s: s[0] != 1, body, (n, jnp.int32(0))))(jnp.int32(n))


def conditionals(x):
    @jax.jit
    def f(x):
        a = lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, x)
        b = lax.switch(jnp.int32(x.sum()) % 3, [jnp.sin, jnp.cos, jnp.tanh], x)
        return a, b, lax.fori_loop(0, 5, lambda i, v: v * 0.5 + i, x), lax.map(lambda v: v ** 2, x)
    return f(x)


def vmapped_while(x):
    def root(v):
        return lax.while_loop(lambda s: jnp.abs(s * s - v) > 1e-3, lambda s: 0.5 * (s + v / s), v)
    return jax.jit(jax.vmap(root))(x)


def associative_scans(x):
    return (jax.jit(lambda x: lax.associative_scan(jnp.add, x))(x), jnp.cumsum(x), jnp.cumprod(x), lax.cummax(x),
            lax.cumlogsumexp(x))


def custom_gradients(x):
    @jax.custom_vjp
    def clipped(x):
        return x
    clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1. + jnp.exp(x))
    log1pexp.defjvp(lambda p, t: (log1pexp(*p), (1 - 1 / (1 + jnp.exp(p[0]))) * t[0]))
    return jax.jit(jax.grad(lambda x: jnp.sum(clipped(x) ** 2)))(x), jax.jit(jax.vmap(jax.grad(log1pexp)))(x)


def derivatives(x):
    f = lambda x: jnp.sum(jnp.sin(x) ** 3 * jnp.exp(-x))
    checkpointed = jax.checkpoint(lambda x: jnp.sum(jnp.tanh(jnp.sin(x) @ jnp.outer(x, x))))
    return (jax.jit(jax.hessian(f))(x), jax.jacfwd(jnp.cumsum)(x), jax.jit(jax.grad(checkpointed))(x),
            jax.jvp(f, (x,), (jnp.ones_like(x),)), jax.linearize(f, x)[1](x))


# --- array library --------------------------------------------------------------------------------------------------

def indexing(x):
    x = jnp.asarray(x)
    i = jnp.array([2, 0, -1])
    return (x[i], x[:, i], x[i, 1], x[::-1, 1::2], x.at[i].add(1.0), x.at[i, 2].set(9.0), x.at[:, 1:3].multiply(3.0),
            x.at[i].max(0.5), jnp.take_along_axis(x, jnp.argsort(x, 1), 1), jnp.where(x > 0, x, 0),
            jnp.take(x, jnp.array([7, -9]), axis=0, mode="fill"), jnp.select([x < 0, x > 1], [x, -x], 5.0))


def sorting(x):
    return (jnp.sort(x, 0), jnp.argsort(x, 1), lax.top_k(x, 3), jnp.unique(jnp.round(x), size=8), jnp.median(x, 1),
            jnp.percentile(x, 30.0), jnp.searchsorted(jnp.sort(x[0]), x[1]), lax.sort((x, -x), num_keys=1), jnp.lexsort((x, -x)),
            lax.approx_max_k(x, 2), jnp.partition(x, 2)[:, 2], jax.nn.one_hot(jnp.argmax(x, 1), 7))


def places_of_extrema(x):
    return [f(x, axis) for f in (jnp.argmax, jnp.argmin) for axis in (0, 1, None)]


def einsums(a, b):
    return (jnp.einsum("bij,bjk->bik", a, b), jnp.einsum("bij,cjk->ik", a, b), jnp.tensordot(a, b, ((2,), (1,))),
            jnp.kron(a[0], b[0]), jax.jit(lambda a, b: a @ b, donate_argnums=())(a, b),
            lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))), precision="highest"))


def transforms(x):
    return (jnp.fft.fft(x), jnp.fft.rfft2(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fftn(x + 1j * x), jnp.fft.ifft(x),
            jnp.convolve(x[0], x[1]), jax.scipy.signal.convolve(x, x[:3, :3]), jax.image.resize(x, (5, 9), "cubic"))


def special_functions(x):
    s = jax.scipy.special
    return (s.gammaln(x), s.digamma(x), s.erf(x), s.erfinv(jnp.tanh(x)), s.i0e(x), s.i1e(x), s.betainc(x + 1, 2.0, 0.3),
            s.gammainc(x + 1, 0.7), s.zeta(x + 2, 1.5), s.polygamma(1, x + 1), s.logsumexp(x), s.xlogy(x, x), s.ndtri(jax.nn.sigmoid(x)),
            jax.scipy.stats.norm.logcdf(x), jax.nn.gelu(x), jax.nn.silu(x), jnp.sinc(x), jnp.arctan2(x, 0.3), jnp.cbrt(x))


def attention(q, k, v):
    return (jax.nn.dot_product_attention(q, k, v), jax.nn.dot_product_attention(q, k, v, is_causal=True),
            jax.grad(lambda q: jax.nn.dot_product_attention(q, k, v, is_causal=True).sum())(q))


def small_types(x):
    x = jnp.asarray(x)
    out = []
    for name in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "int8", "uint8"):
        y = jnp.clip(x, 0, 6).astype(name)
        out += [(y + y).astype(jnp.float32), jnp.max(y.astype(jnp.float32))]
    return out


def integers(a, b):
    a, b = jnp.asarray(a), jnp.asarray(b)
    return (a // b, a % b, a ^ b, a << 3, a >> 1, jnp.gcd(a, b), lax.population_count(a), lax.clz(a), jnp.bitwise_not(a),
            (a @ b[:, None].astype(a.dtype)) if a.ndim > 1 else a * b, jnp.power(a % 7, 3))


# --- linear algebra -------------------------------------------------------------------------------------------------

def factorizations(a):
    """Values that do not depend on the choice of signs."""
    h = a @ jnp.conj(a.T) + 3 * jnp.eye(a.shape[0], dtype=a.dtype)
    q, r = jnp.linalg.qr(a)
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)
    w, v = jnp.linalg.eigh(h)
    lu, pivots, permutation = lax.linalg.lu(a)
    return (jnp.linalg.cholesky(h), q @ r, jnp.abs(jnp.diag(r)), s, (u * s) @ vh, w, (v * w) @ jnp.conj(v.T), lu, permutation,
            jnp.linalg.det(a), jnp.linalg.inv(h), jnp.linalg.solve(h, a), jnp.linalg.matrix_rank(a), jnp.linalg.pinv(a),
            jax.scipy.linalg.expm(a / 4), jax.scipy.linalg.solve_triangular(r, q, lower=False), jnp.linalg.slogdet(a)[1])


def eigenvalues(a):
    return jnp.sort_complex(jnp.linalg.eigvals(a)), jnp.linalg.eigvalsh(a + a.T)


def linalg_gradients(a):
    h = lambda a: a @ a.T + 3 * jnp.eye(a.shape[0])
    return (jax.grad(lambda a: jnp.linalg.cholesky(h(a)).sum())(a), jax.grad(lambda a: jnp.linalg.inv(h(a)).sum())(a),
            jax.grad(lambda a: jnp.linalg.eigvalsh(h(a)).max())(a), jax.grad(lambda a: jnp.linalg.slogdet(h(a))[1])(a),
            jax.jit(jax.vmap(jnp.linalg.inv))(jnp.stack([h(a), 2 * h(a)])))


# --- random numbers -------------------------------------------------------------------------------------------------

def random_bits(seed):
    k = jax.random.key(seed)
    a, b = jax.random.split(k)
    return (jax.random.bits(k, (100,)), jax.random.bits(a, (7, 5), "uint8"), jax.random.randint(b, (50,), -10, 1000),
            jax.random.uniform(k, (300,)), jax.random.uniform(a, (40,), "bfloat16").astype(jnp.float32),
            jax.random.permutation(b, 31), jax.random.choice(a, 50, (20,)), jax.random.bernoulli(k, 0.3, (60,)),
            jax.random.key_data(jax.random.fold_in(k, 7)), jax.random.randint(k, (), 0, 7, "int8"))


def random_rbg(seed):
    k = jax.random.key(seed, impl="rbg")
    return jax.random.bits(k, (33,)), jax.random.uniform(k, (65,))


def random_floats(seed):
    k = jax.random.key(seed)
    return jax.random.normal(k, (500,)), jax.random.exponential(k, (200,)), jax.random.laplace(k, (200,)), jax.random.cauchy(k, (50,))


def random_with_zeros(seed):
    k = jax.random.key(seed)
    return jax.random.truncated_normal(k, -1.0, 2.0, (200,)), jax.random.gumbel(k, (200,)), jax.random.logistic(k, (200,))


def random_rejection(seed):
    k = jax.random.key(seed)
    return jax.random.gamma(k, 2.5, (200,)), jax.random.beta(k, 2.0, 3.0, (100,)), jax.random.dirichlet(k, jnp.ones(4), (20,))


def random_counts(seed):
    k = jax.random.key(seed)
    return jax.random.poisson(k, 4.0, (100,)), jax.random.categorical(k, jnp.log(jnp.arange(1., 6.)), shape=(80,)), \
        jax.random.binomial(k, 10, 0.4, (50,))
