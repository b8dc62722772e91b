# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.lax.ragged_all_to_all, for which StableHLO has no operation: every device gathers what the others have and takes its rows. (XLA:CPU has no
code for it.)"""


def _take_rows(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name, axis_index_groups):
    """`output`, with the rows that the other devices of the group send to this one in their places. Offsets and sizes have the same number of
    entries for each device of the group."""
    from jax import lax
    from jax import numpy as jnp

    gathered = lambda value: lax.all_gather(value, axis_name, axis_index_groups=axis_index_groups)
    rows = gathered(operand)
    count = rows.shape[0]
    mine = lax.axis_index(axis_name)
    if axis_index_groups is not None:
        place = [0] * sum(map(len, axis_index_groups))
        for group in axis_index_groups:
            for index, member in enumerate(group):
                place[member] = index
        mine = jnp.array(place)[mine]
    # Indices are [sender, chunk]: the rows that each device sends to this one.
    begins, sizes, targets = (gathered(value).reshape(count, count, -1)[:, mine] for value in (input_offsets, send_sizes, output_offsets))
    at = jnp.arange(output.shape[0])
    made = output
    for sender in range(count):
        for chunk in range(begins.shape[1]):
            distance = at - targets[sender, chunk]
            comes = (distance >= 0) & (distance < sizes[sender, chunk])
            value = jnp.take(rows[sender], jnp.clip(begins[sender, chunk] + distance, 0, max(operand.shape[0] - 1, 0)), axis=0)
            made = jnp.where(comes.reshape(-1, *(1,) * (output.ndim - 1)), value, made)
    return made


def install() -> None:
    """Registers the lowering of jax.lax.ragged_all_to_all for the CPU; millrace_jax calls it once."""
    from jax._src.interpreters import mlir
    from jax._src.lax import parallel

    mlir.register_lowering(parallel.ragged_all_to_all_p, mlir.lower_fun(_take_rows, multiple_results=False), platform="cpu")
