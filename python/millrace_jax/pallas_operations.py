# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operations of Pallas that exist for TPUs and GPUs only compute, as functions of arrays."""
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core, dtypes
from jax._src.state import discharge, indexing

# The state of a core's random generator: two words of a threefry key, and how many draws there were since it was seeded.
GENERATOR = core.ShapedArray((3,), np.dtype(np.uint32))


def seeded(seeds: Sequence[Any]) -> Any:
    """Returns the state of a random generator after pltpu.prng_seed().

    Args:
      seeds: Integers, or one typed key, which may be of pltpu.to_pallas_key().
    """
    words: list[Any] = []
    for seed in seeds:
        if jax.dtypes.issubdtype(jnp.asarray(seed).dtype, jax.dtypes.prng_key):
            data = jax.random.key_data(seed).reshape(-1)
            words += [data[index] for index in range(data.shape[0])]
        else:
            words.append(jnp.asarray(seed).astype(jnp.uint32))
    key = jax.random.key(0, impl="threefry2x32")
    for word in words:
        key = jax.random.fold_in(key, word)
    return jnp.concatenate([jax.random.key_data(key).reshape(2), jnp.zeros(1, jnp.uint32)])


def random_bits(state: Any, shape: Sequence[int]) -> tuple[Any, Any]:
    """Returns the bits of pltpu.prng_random_bits() as int32, and the next state.

    The bits depend on the seed and on the number of draws since. They are not those of a TPU.

    Args:
      state: The state of the generator.
      shape: The sizes of the result.
    """
    key = jax.random.fold_in(jax.random.wrap_key_data(state[:2], impl="threefry2x32"), state[2])
    bits = lax.bitcast_convert_type(jax.random.bits(key, tuple(shape), jnp.uint32), jnp.int32)
    return bits, state + jnp.asarray([0, 0, 1], jnp.uint32)


def key_words(key: Any) -> list[Any]:
    """Returns the words of a key for Pallas as scalars.

    Args:
      key: A typed key whose data are (1, words).
    """
    data = jax.random.key_data(key).reshape(-1)
    return [data[index] for index in range(data.shape[0])]


def key_of_words(*words: Any, impl: Any) -> list[Any]:
    """Returns the key that consists of these words.

    Args:
      *words: Scalars of uint32.
      impl: The kind of key.
    """
    data = jnp.stack([jnp.asarray(word, jnp.uint32) for word in words]).reshape(impl.key_shape)
    return [jax.random.wrap_key_data(data, impl=impl)]


def stochastic_round(x: Any, random_bits: Any, *, target_dtype: Any) -> list[Any]:
    """Rounds to one of the two neighbours in a narrower type, to each with the probability that makes the mean exact.

    Args:
      x: Values of float32.
      random_bits: Bits of uint32, of the same sizes.
      target_dtype: The type of the result.
    """
    nearest = x.astype(target_dtype)
    width = dtypes.itemsize_bits(target_dtype)
    words = jnp.dtype(f"uint{width}")
    sign = np.array(1 << (width - 1)).astype(words)
    magnitude = lax.bitcast_convert_type(nearest, words) & ~sign

    def number(bits: Any) -> Any:
        return lax.bitcast_convert_type(bits, jnp.dtype(target_dtype)).astype(jnp.float32)

    size, rounded = jnp.abs(x), number(magnitude)
    low = jnp.where(rounded > size, magnitude - np.array(1, words), magnitude)
    high = low + np.array(1, words)
    share = (size - number(low)) / (number(high) - number(low))
    chance = random_bits.astype(jnp.float32) * np.float32(2.0 ** -32)
    chosen = jnp.where(chance < share, high, low)
    # Values that the type has, and those beyond its largest one, have no two neighbours.
    is_between = (rounded != size) & jnp.isfinite(number(high)) & jnp.isfinite(rounded)
    chosen = jnp.where(is_between, chosen, magnitude)
    signed = chosen | (lax.bitcast_convert_type(nearest, words) & sign)
    return [lax.bitcast_convert_type(signed, jnp.dtype(target_dtype))]


def packed(*parts: Any, packed_dtype: Any) -> list[Any]:
    """Returns words that hold one element of each part, that of the first one in the lowest bits.

    Args:
      *parts: Arrays of the same sizes.
      packed_dtype: The type of an element in the word; integers are truncated to it.
    """
    wide, narrow = dtypes.itemsize_bits(parts[0].dtype), dtypes.itemsize_bits(packed_dtype)
    words = jnp.dtype(f"uint{wide}")
    made = None
    for index, part in enumerate(parts):
        if jnp.issubdtype(packed_dtype, jnp.floating):
            bits = lax.bitcast_convert_type(part.astype(packed_dtype), jnp.dtype(f"uint{narrow}")).astype(words)
        else:
            bits = lax.bitcast_convert_type(part, words) & np.array((1 << narrow) - 1).astype(words)
        bits = bits << np.array(index * narrow).astype(words)
        made = bits if made is None else made | bits
    return [made]


def unpacked(x: Any, *, index: int, packed_dtype: Any, unpacked_dtype: Any) -> list[Any]:
    """Returns one of the elements that packed() put into each word, widened.

    Args:
      x: The words.
      index: Which element of a word; 0 is in the lowest bits.
      packed_dtype: The type of an element in the word.
      unpacked_dtype: The type of the result, as wide as a word.
    """
    wide, narrow = dtypes.itemsize_bits(unpacked_dtype), dtypes.itemsize_bits(packed_dtype)
    words = jnp.dtype(f"uint{wide}")
    top = lax.bitcast_convert_type(x, words) << np.array(wide - (index + 1) * narrow).astype(words)
    if jnp.issubdtype(packed_dtype, jnp.floating):
        bits = (top >> np.array(wide - narrow).astype(words)).astype(jnp.dtype(f"uint{narrow}"))
        return [lax.bitcast_convert_type(bits, jnp.dtype(packed_dtype)).astype(unpacked_dtype)]
    if jnp.issubdtype(packed_dtype, jnp.unsignedinteger):
        return [(top >> np.array(wide - narrow).astype(words)).astype(unpacked_dtype)]
    signed = jnp.dtype(f"int{wide}")
    return [(lax.bitcast_convert_type(top, signed) >> np.array(wide - narrow).astype(signed)).astype(unpacked_dtype)]


_ATOMIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, new: old + new, "max": jnp.maximum, "min": jnp.minimum, "and": lambda old, new: old & new,
    "or": lambda old, new: old | new, "xor": lambda old, new: old ^ new, "xchg": lambda old, new: new,
}


def atomic(kind: str, array: Any, indexer: Any, value: Any, mask: Any, window: Any) -> tuple[Any, Any]:
    """Returns the old elements and the new array of an atomic operation of Triton.

    Args:
      kind: "add", "max", "min", "and", "or", "xor" or "xchg".
      array: The memory.
      indexer: The NDIndexer of the elements.
      value: The second operand of each element.
      mask: Which elements are changed; None: all.
      window: The indexer as (starts, sizes, dimensions that vanish), or None where it is none.
    """
    old = discharge.transform_array(array, [indexer])
    value = jnp.broadcast_to(value, old.shape)
    if window is not None:
        new = _ATOMIC[kind](old, value)
        return old, discharge.transform_swap_array(array, [indexer], new if mask is None else jnp.where(mask, new, old))[1]
    # Elements that are indexed twice are changed twice, one after the other.
    places = discharge.transform_array(jnp.arange(array.size, dtype=jnp.int32).reshape(array.shape), [indexer]).reshape(-1)
    flags = jnp.ones(places.shape, bool) if mask is None else jnp.broadcast_to(mask, old.shape).reshape(-1)
    places = jnp.where(flags, places, array.size)
    flat, values = array.reshape(-1), value.reshape(-1)
    if kind in ("add", "max", "min"):
        made = getattr(flat.at[places], kind)(values, mode="drop")
    else:
        def step(index: Any, now: Any) -> Any:
            where = places[index]
            return now.at[where].set(_ATOMIC[kind](now.at[where].get(mode="clip"), values[index]), mode="drop")

        made = lax.fori_loop(0, values.shape[0], step, flat)
    return old, made.reshape(array.shape)


def copied(source: Any, given: Any, destination: Any, taken: Any, is_sum: bool) -> Any:
    """Returns a destination after a copy whose sizes are known when the program runs.

    The work is that of the largest such copy: of as many elements as both have.

    Args:
      source: The array that is copied from.
      given: Its NDIndexer, of scalars and slices with stride 1.
      destination: The array that is copied to.
      taken: Its NDIndexer, of as many slices.
      is_sum: Whether the elements are added.
    """
    slices_in = [dimension for dimension, index in enumerate(given.indices) if isinstance(index, indexing.Slice)]
    slices_out = [dimension for dimension, index in enumerate(taken.indices) if isinstance(index, indexing.Slice)]
    part = source
    for dimension, index in reversed(list(enumerate(given.indices))):
        if not isinstance(index, indexing.Slice):
            part = lax.dynamic_index_in_dim(part, jnp.asarray(index, jnp.int32), dimension, keepdims=False)
    starts = [jnp.asarray(0 if isinstance(index, indexing.Slice) else index, jnp.int32) for index in taken.indices]
    sizes = [1] * destination.ndim
    mask = None
    for place, (dimension_in, dimension) in enumerate(zip(slices_in, slices_out, strict=True)):
        from_where, to_where = given.indices[dimension_in], taken.indices[dimension]
        length = min(source.shape[dimension_in], destination.shape[dimension])
        start, count = jnp.asarray(to_where.start, jnp.int32), jnp.asarray(to_where.size, jnp.int32)
        begin = jnp.clip(start, 0, destination.shape[dimension] - length)
        offset = begin + jnp.arange(length, dtype=jnp.int32) - start
        part = jnp.take(part, jnp.asarray(from_where.start, jnp.int32) + offset, axis=place, mode="clip")
        is_inside = lax.broadcast_in_dim((offset >= 0) & (offset < count), [length if d == dimension else 1 for d in range(destination.ndim)],
                                         (dimension,))
        mask = is_inside if mask is None else mask & is_inside
        starts[dimension], sizes[dimension] = begin, length
    part = part.reshape(sizes)
    old = lax.dynamic_slice(destination, starts, sizes)
    part = part + old if is_sum else part
    return lax.dynamic_update_slice(destination, part if mask is None else jnp.where(mask, part, old), starts)
