# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with donated arguments compute what they compute without: results that replace arguments are written
at the right time, whatever else reads or returns those arguments."""
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def random_program(seed, num_results):
    def program(*arguments):
        choose = random.Random(seed)
        values = list(arguments)
        for _ in range(choose.randint(0, 8)):
            a, b, row = choose.choice(values), choose.choice(values), choose.randint(0, 3)
            values.append(choose.choice([
                lambda: a + b,
                lambda: jnp.sin(a),
                lambda: a.at[row].set(b[0]),
                lambda: (a @ b) * 0.1,
                lambda: a.reshape(2, 8).reshape(4, 4),
                lambda: jax.lax.dynamic_update_slice(a, b[:1] * 2, (row, 0)),
                lambda: jax.lax.fori_loop(0, 3, lambda i, c: c.at[i].add(b[i]), a),
            ])())
        return tuple(choose.choice(values) for _ in range(num_results))
    return program


@pytest.mark.parametrize("seed", range(25))
def test_donation_changes_no_value(seed):
    choose = random.Random(1000 + seed)
    count, num_results = choose.randint(1, 4), choose.randint(1, 5)
    inputs = [np.random.RandomState(seed * 10 + i).rand(4, 4).astype(np.float32) for i in range(count)]
    program = random_program(seed, num_results)
    expected = [np.array(x) for x in jax.jit(program)(*inputs)]
    donated = tuple(i for i in range(count) if choose.random() < 0.8)
    actual = jax.jit(program, donate_argnums=donated, keep_unused=True)(*[jnp.asarray(x) + 0 for x in inputs])
    for k, (a, e) in enumerate(zip(actual, expected)):
        np.testing.assert_array_equal(a, e, err_msg=f"result {k} of {num_results}, donated {donated}")


def test_exchange():
    a, b = jnp.arange(4.0) + 0, jnp.arange(4.0) + 10
    x, y = jax.jit(lambda a, b: (b, a), donate_argnums=(0, 1))(a, b)
    assert a.is_deleted() and b.is_deleted()
    np.testing.assert_array_equal(x, np.arange(4) + 10)
    np.testing.assert_array_equal(y, np.arange(4))


def test_cache_is_updated_where_it_is():
    update = jax.jit(lambda cache, row, i: (cache.at[i].set(row), (cache.at[i].set(row)).sum()), donate_argnums=0)
    cache = jnp.zeros((512, 64)) + 0
    where = cache.unsafe_buffer_pointer()
    peak = update.lower(cache, jnp.ones(64), 3).compile().memory_analysis().temp_size_in_bytes
    cache, total = update(cache, jnp.ones(64), 3)
    assert cache.unsafe_buffer_pointer() == where and total == 64
    assert peak < 4 * 512 * 64, "a second cache"
