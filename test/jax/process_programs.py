# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the processes of test_processes.py do: `python process_programs.py NAME ADDRESS SIZE RANK [ARGUMENT]` runs one of the functions below in a
job of SIZE processes and prints what it returns, as JSON."""
import json
import os
import signal
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P


def global_mesh(*shape, names="xyz"):
    shape = shape or (len(jax.devices()),)
    return jax.make_mesh(shape, tuple(names[:len(shape)]), axis_types=(AxisType.Auto,) * len(shape))


def put(array, *spec, mesh=None):
    """`array`, which every process has whole, over all devices."""
    array = np.asarray(array)
    return jax.make_array_from_callback(array.shape, NamedSharding(mesh or global_mesh(), P(*spec)), lambda index: array[index], dtype=array.dtype)


def bits(array):
    """The bytes of the parts that this process has, by their place."""
    return {str(shard.index): np.asarray(shard.data).tobytes().hex() for shard in array.addressable_shards}


def joins(_):
    """How many devices there are, or why there are none, and the seconds until then. SECRETS: one for each process."""
    os.environ["MILLRACE_SECRET"] = os.environ["SECRETS"].split()[int(sys.argv[4])]
    began = time.monotonic()
    try:
        result = len(jax.devices())
    except RuntimeError as error:
        result = str(error)
    print(json.dumps([result, time.monotonic() - began]), flush=True)
    os._exit(0)  # without JAX's own waiting for the other processes


def leave_early(_):
    """Sums of the groups 0 and 3, 1 and 2; the second group comes when the first has got its sum, and left."""
    psum = jax.jit(jax.shard_map(lambda v: jax.lax.psum(v, "x", axis_index_groups=[[0, 3], [1, 2]]), mesh=global_mesh(), in_specs=P("x"),
                                 out_specs=P("x"), check_vma=False))
    x = put(np.arange(4, dtype=np.float32), "x")
    bits(psum(x))
    if jax.process_index() in (1, 2):
        time.sleep(2)
    return np.asarray(psum(x).addressable_shards[0].data).tolist()


def topology(_):
    return {"ids": [d.id for d in jax.devices()], "own": [d.id for d in jax.local_devices()], "of": [d.process_index for d in jax.devices()],
            "local ids": [d.local_hardware_id for d in jax.local_devices()], "process": [jax.process_index(), jax.process_count()],
            "slices": [getattr(d, "slice_index", None) for d in jax.devices()]}


def collectives(_):
    """Each of the seven, of values whose sums depend on the order."""
    mesh = global_mesh()
    n = len(jax.devices())
    data = np.random.RandomState(0).randn(n * 4, n * 2) * 10.0 ** np.random.RandomState(1).randint(-3, 4, (n * 4, n * 2))
    out = {}
    for dtype in (jnp.float32, jnp.bfloat16, jnp.int8):
        x = put(data.astype(dtype), "x", mesh=mesh)
        bodies = {
            "psum": lambda v: jax.lax.psum(v, "x"), "pmax": lambda v: jax.lax.pmax(v, "x"),
            "all_gather": lambda v: jax.lax.all_gather(v, "x", axis=1, tiled=True),
            "psum_scatter": lambda v: jax.lax.psum_scatter(v, "x", scatter_dimension=1, tiled=True),
            "all_to_all": lambda v: jax.lax.all_to_all(v, "x", 1, 0, tiled=True),
            "ppermute": lambda v: jax.lax.ppermute(v, "x", [(i, (i + 1) % n) for i in range(n - 1)]),
            "groups": lambda v: jax.lax.psum(v, "x", axis_index_groups=[[i, n - 1 - i] for i in range(n // 2)]),
        }
        for name, body in bodies.items():
            y = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))(x)
            out[f"{name} {np.dtype(dtype).name}"] = bits(y)
    return out


def training(spec):
    """Losses of 20 steps of a small network, and the parts of its weights, sharded as `spec` says: data, tensor or both."""
    n = len(jax.devices())
    shape = {"data": (n, 1), "tensor": (1, n), "both": (n // 2, 2)}[spec]
    mesh = global_mesh(*shape)
    random = np.random.RandomState(0)
    weights = [put(random.randn(32, 64).astype("f") * .1, None, "y", mesh=mesh), put(random.randn(64, 8).astype("f") * .1, "y", None, mesh=mesh)]
    batch = put(random.randn(64, 32).astype("f"), "x", None, mesh=mesh)
    target = put(random.randn(64, 8).astype("f"), "x", None, mesh=mesh)

    def loss(weights, x, y):
        return ((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2).mean()

    @jax.jit
    def step(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return [w - .1 * g for w, g in zip(weights, gradients)], value
    losses = []
    for _ in range(20):
        weights, value = step(weights, batch, target)
        losses.append(np.float32(value).tobytes().hex())
    return {"losses": losses, "weights": [bits(w) for w in weights]}


def helpers(_):
    rank = jax.process_index()
    local = np.full((jax.local_device_count(), 2), rank, np.float32)
    whole = multihost_utils.host_local_array_to_global_array(local, global_mesh(), P("x"))
    from_local = jax.make_array_from_process_local_data(NamedSharding(global_mesh(), P("x")), local)
    multihost_utils.assert_equal(np.arange(5), "all have the same")
    try:
        multihost_utils.assert_equal(np.arange(5) + rank, "these differ")
        unequal = "not noticed"
    except AssertionError as error:
        unequal = str(error)
    multihost_utils.sync_global_devices("here")
    random = jax.jit(lambda: jax.random.uniform(jax.random.key(3), (len(jax.devices()) * 2,)), out_shardings=NamedSharding(global_mesh(), P("x")))()
    return {"gathered": multihost_utils.process_allgather(np.array([rank * 10])).ravel().tolist(),
            "from first": multihost_utils.broadcast_one_to_all(np.array([rank + 7])).tolist(),
            "sum": float(jax.jit(jnp.sum)(whole)), "sum of parts": float(jax.jit(jnp.sum)(from_local)), "unequal": "these differ" in unequal,
            "random": bits(random), "whole": whole.shape}


def local_programs(_):
    """Programs of one device, and of this process's devices, beside those of all."""
    own = jax.local_devices()
    alone = float(jax.jit(lambda v: v.sum())(jax.device_put(jnp.arange(4.0), own[-1])))
    mesh = jax.sharding.Mesh(np.array(own), ("x",))
    x = jax.device_put(jnp.arange(float(4 * len(own))), NamedSharding(mesh, P("x")))
    here = float(jax.jit(jnp.sum)(x))
    return {"alone": alone, "here": here}


def of_others(_):
    """Programs on devices that are not this process's, which all processes trace."""
    half = jax.devices()[len(jax.devices()) // 2:]
    one = jax.make_mesh((1,), ("x",), devices=half[-1:], axis_types=(AxisType.Auto,))
    some = jax.make_mesh((len(half),), ("x",), devices=half, axis_types=(AxisType.Auto,))
    x = put(np.arange(8.0, dtype=np.float32), mesh=one)
    moved = jax.jit(lambda v: (v * 2).astype(jnp.int32))(x)
    total = jax.jit(jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=some, in_specs=P("x"), out_specs=P()))(put(np.arange(8.0), "x", mesh=some))
    compiled = jax.jit(lambda v: v + 1).lower(x).compile()
    later = jax.jit(lambda v: v.sum())(put(np.arange(8.0), "x"))  # of all: launches are still numbered alike
    return {"parts": [bits(array) for array in (moved, total, compiled(x))], "later": float(later), "shape": list(moved.shape)}


def checkpoint(folder):
    import orbax.checkpoint as ocp
    tree = {"w": put(np.arange(64.0, dtype=np.float32).reshape(8, 8), "x"), "step": 3}
    path = os.path.join(folder, "state")
    with ocp.StandardCheckpointer() as saver:
        saver.save(path, tree)
    with ocp.StandardCheckpointer() as loader:
        template = {"w": jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=NamedSharding(global_mesh(), P(None, "x"))), "step": 0}
        back = loader.restore(path, template)
    return {"w": bits(back["w"]), "step": int(back["step"])}


def state_of(step, mesh, rows, columns):
    """A training state whose weights are split as these two specs say, and what it is, by name."""
    random = np.random.RandomState(step)
    whole = {"w": random.randn(32, 64).astype("f"), "m": random.randn(32, 64).astype("f"), "b": random.randn(64).astype(jnp.bfloat16),
             "odd": random.randn(7, 3).astype("f"), "count": np.asarray(step, np.int32)}
    specs = {"w": (rows, columns), "m": (columns, rows), "b": (columns,), "odd": (), "count": ()}
    return {name: put(whole[name], *specs[name], mesh=mesh) for name in whole}, whole


def saves_states(folder):
    """Three steps' states, in the background, of which two are kept."""
    import orbax.checkpoint as ocp
    mesh = global_mesh(len(jax.devices()) // 2, 2)
    options = ocp.CheckpointManagerOptions(max_to_keep=2, save_interval_steps=1, enable_async_checkpointing=True)
    with ocp.CheckpointManager(folder, options=options) as manager:
        for step in (1, 2, 3):
            manager.save(step, args=ocp.args.StandardSave(state_of(step, mesh, "x", "y")[0]))
        manager.wait_until_finished()
        return sorted(manager.all_steps())


def restores_state(folder):
    """The latest state, on other devices and split in another way: which step it is, what of it differs, and a program that uses it."""
    import orbax.checkpoint as ocp
    mesh = global_mesh()
    with ocp.CheckpointManager(folder) as manager:
        step = manager.latest_step()
        like, whole = state_of(step, mesh, None, "x")
        template = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding), like)
        back = manager.restore(step, args=ocp.args.StandardRestore(template))
    differ = [name for name in whole for shard in back[name].addressable_shards
              if np.asarray(shard.data).tobytes() != whole[name][shard.index].tobytes() or back[name].sharding != like[name].sharding]
    total = jax.jit(lambda state: jnp.sum(state["w"] - state["m"]))(back)
    return {"step": step, "differ": differ, "sum": abs(float(total) - float((whole["w"] - whole["m"]).sum())) < 1e-3}


class Fish(BaseException):
    """Nobody catches it."""


def fail_with(what):
    """Repeats an all-reduce until it fails, while something happens to the last process; the text of the error, and how long it took to come."""
    how, _, size = what.partition(" ")
    mesh = global_mesh()
    x = put(np.ones((len(jax.devices()), int(size or 4)), np.float32), "x", mesh=mesh)
    add = jax.jit(jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))
    add(x).block_until_ready()
    is_last = jax.process_index() == jax.process_count() - 1
    multihost_utils.sync_global_devices("all are ready")
    began = time.time()
    try:
        for number in range(100000):
            if is_last and number == 5:
                if how in ("SIGKILL", "SIGSTOP"):
                    os.kill(os.getpid(), getattr(signal, how))
                elif how == "exit":
                    os._exit(0)
                elif how == "raise":
                    raise SystemExit("this process ends by itself")
                elif how == "fish":
                    raise Fish("the rate is a fish")
                elif how == "other":
                    jax.jit(jax.shard_map(lambda v: jax.lax.pmax(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x")))(x).block_until_ready()
                elif how == "constant":  # with the same collective
                    jax.jit(jax.shard_map(lambda v: jax.lax.psum(v * 3, "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x"),
                                          check_vma=False))(x).block_until_ready()
            began = time.time()
            add(x).block_until_ready()
        text = "nothing"
    except Exception as error:  # pylint: disable=broad-except
        text = str(error)
    print(json.dumps({"text": text, "seconds": time.time() - began, "pid": os.getpid()}), flush=True)
    os._exit(0)  # what follows would wait for the one that is gone


def nobody_catches(_):
    """The last process is killed, and the error ends the others."""
    total = jax.jit(lambda v: v.sum())
    x = put(np.ones((len(jax.devices()),), np.float32), "x", mesh=global_mesh())
    assert total(x) == len(jax.devices())
    if jax.process_index() == jax.process_count() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    while True:
        total(x).block_until_ready()


def ends_in_order(_):
    """Process 1 leaves the last result that it takes part in unread, and ends; arrays that its module refers to live on. What process 0 says after that."""
    global kept
    kept = put(np.ones((len(jax.devices()),), np.float32), "x", mesh=global_mesh())
    total = jax.jit(lambda v: v.sum())
    if jax.process_index() == 1:
        total(kept)
        sys.exit()
    time.sleep(1)
    assert total(kept) == len(jax.devices())
    began = time.time()
    try:
        text = str(jax.jit(lambda v: (v * 2).sum())(kept))
    except Exception as error:  # pylint: disable=broad-except
        text = str(error)
    return {"text": text, "seconds": time.time() - began}


def only_the_first(_):
    """A collective under `if rank == 0`."""
    mesh = global_mesh()
    x = put(np.ones((len(jax.devices()),), np.float32), "x", mesh=mesh)
    text = "nothing"
    if jax.process_index() == 0:
        try:
            jax.jit(jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))(x).block_until_ready()
        except Exception as error:  # pylint: disable=broad-except
            text = str(error)
        print(json.dumps({"text": text}), flush=True)
        os._exit(0)
    time.sleep(60)


def main():
    name, address, size, rank, *rest = sys.argv[1:]
    if int(size) > 1:
        jax.distributed.initialize(address, int(size), int(rank))
    print(json.dumps(globals()[name](rest[0] if rest else None)), flush=True)


if __name__ == "__main__":
    main()
