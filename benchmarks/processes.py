# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives between processes of one host, beside those of JAX on XLA:CPU (Gloo), of torch.distributed (Gloo) and of Open MPI.

  python -m benchmarks.processes [--processes N] [--peers millrace,xla_cpu,torch_gloo,open_mpi] [--largest BYTES] [--markdown FILE]

Each process has one device and one thread; the size is that of one process's operand. Times are medians in microseconds over calls that begin
together, of the slowest process. millrace and xla_cpu run the same JAX program; needs millrace-jax installed (PYTHONPATH=build/python-site). Open MPI (scripts/setup --bench) works
on NumPy's arrays, by mpi4py."""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time

SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20]
OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]
PEERS = ["millrace", "xla_cpu", "torch_gloo", "open_mpi"]


def repeats(size: int) -> int:
    return max(5, min(200, (256 << 20) // size))


def jax_worker(rank: int, size: int, port: int, sizes: list[int]) -> dict[str, float]:
    """Seconds of each operation and size, in this process."""
    import jax
    import numpy as np
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
    jax.distributed.initialize(f"localhost:{port}", size, rank)
    mesh = jax.make_mesh((size,), ("x",), axis_types=(AxisType.Auto,))
    bodies = {"all_reduce": lambda v: jax.lax.psum(v, "x"), "all_gather": lambda v: jax.lax.all_gather(v, "x", tiled=True),
              "reduce_scatter": lambda v: jax.lax.psum_scatter(v, "x", tiled=True),
              "all_to_all": lambda v: jax.lax.all_to_all(v, "x", 0, 0, tiled=True)}
    times = {}
    for count in sizes:
        elements = count // 4
        x = jax.make_array_from_callback((elements * size,), NamedSharding(mesh, P("x")), lambda _, n=elements: np.ones(n, np.float32))
        for name, body in bodies.items():
            call = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))
            times[f"{name} {count}"] = measure(lambda call=call, x=x: call(x).block_until_ready(), repeats(count))
    return times


def torch_worker(rank: int, size: int, port: int, sizes: list[int]) -> dict[str, float]:
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=size)
    times = {}
    for count in sizes:
        elements = count // 4
        x, whole, part = torch.ones(elements), torch.empty(elements * size), torch.empty(elements // size)
        same = torch.empty(elements)
        calls = {"all_reduce": lambda: dist.all_reduce(same.copy_(x)), "all_gather": lambda: dist.all_gather_into_tensor(whole, x),
                 "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, x), "all_to_all": lambda: dist.all_to_all_single(same, x)}
        for name, call in calls.items():
            try:
                times[f"{name} {count}"] = measure(call, repeats(count))
            except (RuntimeError, ValueError):  # Gloo lacks it
                pass
    dist.destroy_process_group()
    return times


def mpi_worker(rank: int, size: int, port: int, sizes: list[int]) -> dict[str, float]:
    import numpy as np
    from mpi4py import MPI
    world, times = MPI.COMM_WORLD, {}
    assert world.Get_size() == size
    for count in sizes:
        elements = count // 4
        x, whole = np.ones(elements, np.float32), np.empty(elements * size, np.float32)
        same, part = np.empty(elements, np.float32), np.empty(elements // size, np.float32)
        calls = {"all_reduce": lambda: world.Allreduce(x, same), "all_gather": lambda: world.Allgather(x, whole),
                 "reduce_scatter": lambda: world.Reduce_scatter_block(x, part), "all_to_all": lambda: world.Alltoall(x, same)}
        for name, call in calls.items():
            times[f"{name} {count}"] = measure(call, repeats(count))
    return times


def measure(call, count: int) -> float:
    for _ in range(2):
        call()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run(peer: str, processes: int, sizes: list[int]) -> dict[str, float]:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    environment = dict(os.environ, OMP_NUM_THREADS="1", JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES="1", MILLRACE_JAX="1" if peer == "millrace" else "0")
    if peer == "open_mpi":
        return run_mpi(processes, sizes, environment)
    workers = [subprocess.Popen([sys.executable, "-m", "benchmarks.processes", "--worker", json.dumps([peer, rank, processes, port, sizes])],
                                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(processes)]
    results: list[dict[str, float]] = []
    for worker in workers:
        output, errors = worker.communicate()
        if worker.returncode:
            sys.exit(f"processes: {peer} failed\n{errors[-3000:]}")
        results.append(json.loads(output.splitlines()[-1]))
    return {name: max(each[name] for each in results) for name in results[0]}


def run_mpi(processes: int, sizes: list[int], environment: dict[str, str]) -> dict[str, float]:
    """mpirun starts the processes, each with a processor where there are as many."""
    command = ["mpirun", "-n", str(processes), "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--mca",
               "btl_base_warn_component_unused", "0", sys.executable, "-m", "benchmarks.processes", "--worker", json.dumps(["open_mpi", 0, processes, 0, sizes])]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"processes: open_mpi failed\n{ran.stderr[-3000:]}")
    results, text = [], ran.stdout.strip()
    while text:  # mpirun may join their lines
        made, end = json.JSONDecoder().raw_decode(text)
        results.append(made)
        text = text[end:].strip()
    assert len(results) == processes, ran.stdout
    return {name: max(each[name] for each in results) for name in results[0]}


def text_of(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--largest", type=int, default=SIZES[-1], metavar="BYTES")
    parser.add_argument("--markdown", metavar="FILE", help="also write the table there")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        peer, rank, processes, port, sizes = json.loads(options.worker)
        workers = {"torch_gloo": torch_worker, "open_mpi": mpi_worker}
        sys.stdout.write(json.dumps(workers.get(peer, jax_worker)(rank, processes, port, sizes)) + "\n")
        sys.stdout.flush()
        if peer == "open_mpi":
            return  # MPI wants to be told
        os._exit(0)
    sizes, peers = [size for size in SIZES if size <= options.largest], options.peers.split(",")
    times = {}
    for peer in peers:
        print(f"processes: {peer}", file=sys.stderr)
        times[peer] = run(peer, options.processes, sizes)
    lines = ["| us | " + " | ".join(peers) + " |", "|---|" + "---:|" * len(peers)]
    for name in OPERATIONS:
        for size in sizes:
            cells = [times[peer].get(f"{name} {size}") for peer in peers]
            lines.append(f"| {name} {text_of(size)} | " + " | ".join("-" if cell is None else f"{cell * 1e6:.0f}" for cell in cells) + " |")
    print("\n".join(lines))
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
