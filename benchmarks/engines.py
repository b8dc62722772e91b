# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inference of PyTorch's models by the engines that people would pick: Millrace (millrace: torch.compile(backend="openxla"), with Dynamo's guards in
every call; millrace_export: torch.export and torch_xla.stablehlo, an exported program as OpenVINO and ONNX Runtime have one), OpenVINO, ONNX Runtime, Inductor, eager PyTorch, XLA:CPU (jaxlib, by the StableHLO that torch_xla exports) and, where it is named, IREE.

    PYTHONPATH=python:. python -m benchmarks.engines [--batch 1,8] [--only millrace,openvino] [--rounds 5] [--first | --layers] [--results FOLDER] [MODEL …]

Everything is f32 exactly, on the same number of threads; a call gets its inputs and waits for its results. Every engine runs in a process
of its own; the processes take turns. The results of every engine are compared with eager PyTorch's. --first measures instead how long it
takes from the start of a process to its first result, without and with what the engine keeps on disk. --layers prints instead where the time goes,
layer by layer, in Millrace, OpenVINO and ONNX Runtime (benchmarks/engine_layers.py). OpenVINO, ONNX Runtime and timm:
`pip install --no-deps -r requirements/engines.txt`. An engine that cannot run a model says why and stays out of that row."""
import argparse
import json
import math
import os
import platform
import statistics
import sys
import tempfile
import time

from benchmarks import turns

OURS = ("millrace", "millrace_export")
ENGINES = (*OURS, "openvino", "onnxruntime", "inductor", "eager", "xla_cpu", "iree")
USUAL = ENGINES[:-1]  # IREE compiles for minutes
TOLERANCE = 2e-3  # relative to the largest value of a result
NO_WAIT = (lambda: None)


def run_millrace(module, inputs, threads):
    import torch
    import torch_xla
    import torch_xla.core.xla_model as xm
    module, inputs = module.to("xla"), [t.to("xla") for t in inputs]
    compiled = torch.compile(module, backend="openxla")

    def call():
        with torch.no_grad():
            result = compiled(*inputs)
        torch_xla.sync()  # what Dynamo leaves out of its graphs (nn.LSTM) is recorded, not executed
        xm.wait_device_ops()
        return [result]
    return call


def run_millrace_export(module, inputs, threads):
    import torch
    import torch_xla.core.xla_model as xm
    from torch_xla.stablehlo import exported_program_to_stablehlo
    with torch.no_grad():
        program = exported_program_to_stablehlo(torch.export.export(module, tuple(inputs)))
    arguments = [t.to("xla") for t in inputs]

    def call():
        result = program(*arguments)
        xm.wait_device_ops()
        return [result]
    return call


def run_eager(module, inputs, threads):
    import torch

    def call():
        with torch.no_grad():
            return [module(*inputs)]
    return call


def run_inductor(module, inputs, threads):
    import torch
    return run_eager(torch.compile(module), inputs, threads)


def run_openvino(module, inputs, threads):
    import openvino
    import torch
    with torch.no_grad():
        model = openvino.convert_model(module, example_input=tuple(inputs))
    # Sizes are as static as they are for everybody else.
    model.reshape({port: list(t.shape) for port, t in zip(model.inputs, inputs)})
    cache = os.environ.get("MILLRACE_ENGINE_CACHE")
    compiled = openvino.Core().compile_model(model, "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
        **({"CACHE_DIR": os.path.join(cache, "openvino")} if cache else {})})
    arguments = [t.numpy() for t in inputs]
    return lambda: [torch.from_numpy(compiled(arguments)[0])]


def run_onnxruntime(module, inputs, threads):
    import onnxruntime
    import torch
    cache = os.environ.get("MILLRACE_ENGINE_CACHE")
    kept = os.path.join(cache, "model.onnx") if cache else None
    with tempfile.TemporaryDirectory() as folder:
        path = kept or os.path.join(folder, "model.onnx")
        if not os.path.exists(path):  # who uses ONNX Runtime exports a model once
            with torch.no_grad():
                torch.onnx.export(module, tuple(inputs), path, dynamo=True, verbose=False)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    arguments = {port.name: t.numpy() for port, t in zip(session.get_inputs(), inputs)}
    return lambda: [torch.from_numpy(session.run(None, arguments)[0])]


def stablehlo(module, inputs):
    """(bytecode of the program in StableHLO, its arguments in order)"""
    import torch
    from torch_xla.stablehlo import exported_program_to_stablehlo
    program = exported_program_to_stablehlo(torch.export.export(module, tuple(inputs)))
    weights = program._bundle.state_dict
    constants = program._bundle.additional_constants
    from torch_xla.stablehlo import VariableType
    arguments = []
    for place in program._bundle.stablehlo_funcs[0].meta.input_locations:
        if place.type_ == VariableType.INPUT_ARG:
            arguments.append(inputs[place.position].numpy())
        else:
            arguments.append(weights[place.name] if place.type_ == VariableType.PARAMETER else constants[place.position])
    return program.get_stablehlo_bytecode(), arguments


def run_xla_cpu(module, inputs, threads):
    import jax
    import numpy
    import torch
    from jax._src import compiler
    from jax.interpreters import mlir
    from jaxlib import xla_client
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo as dialect
    jax.config.update("jax_enable_x64", True)
    bytecode, arguments = stablehlo(module, inputs)
    device = jax.devices("cpu")[0]
    placed = [jax.device_put(numpy.asarray(a), device) for a in arguments]
    with mlir.make_ir_context() as context:
        module = ir.Module.parse(dialect.deserialize_portable_artifact(context, bytecode).operation.get_asm(binary=True))
        executable = device.client.compile_and_load(module, xla_client.DeviceList((device,)),
                                                    compiler.get_compile_options(num_replicas=1, num_partitions=1))

    def call():
        arrays = jax.block_until_ready(executable.execute_sharded(placed).disassemble_into_single_device_arrays())
        return [torch.from_numpy(numpy.asarray(arrays[0][0]))]
    return call


def run_iree(module, inputs, threads):
    import iree.compiler
    import iree.runtime
    import numpy
    import torch
    bytecode, arguments = stablehlo(module, inputs)
    binary = iree.compiler.compile_str(bytecode, target_backends=["llvm-cpu"], input_type="stablehlo",
                                       extra_args=["--iree-opt-level=O3", "--iree-opt-data-tiling", "--iree-llvmcpu-target-cpu=host"])
    iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
    config = iree.runtime.Config("local-task")
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, binary))
    main = next(m for n, m in context.modules.items() if n != "hal")["main"]
    placed = [iree.runtime.asdevicearray(config.device, numpy.asarray(a)) for a in arguments]
    return lambda: [torch.from_numpy(numpy.array(main(*placed)))]


def child(engine, name, batch, threads):
    if engine == "xla_cpu":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # XLA:CPU has no flag for its threads: it counts the cores

    def prepare():
        import torch
        torch.set_num_threads(threads)
        from benchmarks import engine_models
        module, inputs = engine_models.make(name, batch)
        return globals()[f"run_{engine}"](module, inputs, threads), NO_WAIT
    turns.serve(prepare, is_each_timed=True)


def start(engine, name, batch, threads, environment=None):
    return turns.Process("benchmarks.engines", (engine, name, batch, threads), threads, environment)


def measure(name, batch, engines, rounds, threads):
    """{engine: {"ms", "best_ms", "first_s", "difference"} or {"error"}}"""
    # One after the other: compiling is not disturbed, and the processes are idle until their turn comes.
    processes = {engine: start(engine, name, batch, threads) for engine in engines}
    turns.take_turns(processes.values(), rounds)
    rows = {}
    for engine, process in processes.items():
        row = rows[engine] = {"error": process.state["error"]} if "error" in process.state else \
            {"ms": statistics.median(process.times), "best_ms": min(process.times), "first_s": process.spawn_s}
        if "ms" in row and "results" in processes.get("eager", process).state:
            row["difference"] = turns.difference(process.state["results"], processes.get("eager", process).state["results"])
    return rows


def measure_first(name, batch, engines, threads):
    """{engine: {"cold_s", "warm_s"}}: from the start of a process to its first result; the second process finds what the first one kept."""
    rows = {}
    for engine in engines:
        with tempfile.TemporaryDirectory() as folder:
            environment = {"MILLRACE_CACHE_DIR": os.path.join(folder, "millrace"), "MILLRACE_CACHE": "rw", "MILLRACE_ENGINE_CACHE": folder,
                           "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor")}
            times = []
            for _ in range(2):
                process = start(engine, name, batch, threads, environment)
                process.close()
                times.append(process.spawn_s)
            rows[engine] = {"error": process.state["error"]} if "error" in process.state else {"cold_s": times[0], "warm_s": times[1]}
    return rows


def best_other(rows):
    """(name, ms) of the fastest engine beside Millrace, or None."""
    others = [(row["ms"], engine) for engine, row in rows.items() if engine not in OURS and "ms" in row and row.get("difference", 0) <= TOLERANCE]
    return min(others)[::-1] if others else None


def ratio(rows, ours="millrace"):
    """Time of the best other engine over Millrace's by the way `ours`: above 1 Millrace is ahead."""
    best = best_other(rows)
    return best[1] / rows[ours]["ms"] if best and "ms" in rows.get(ours, {}) else None


def line(name, rows, engines, keys):
    cells = [f"{name:32}"]
    for engine in engines:
        row = rows[engine]
        cells.append(f"{'failed':>14}" if "error" in row else f"{'/'.join(f'{row[key]:.2f}' for key in keys):>14}")
    if keys == ("ms",):
        values = [f"{value:.2f}" for ours in OURS if ours in engines and (value := ratio(rows, ours))]
        cells.append(f"{'/'.join(values):>10} {best_other(rows)[0]}" if values else "-")
    return "  ".join(cells)


def summary(everything):
    """What the rows say together: two lines for each way to run Millrace that was measured."""
    lines = []
    for ours in OURS:
        found = {name: value for name, rows in everything.items() if (value := ratio(rows, ours))}
        if not found:
            continue
        mean = math.exp(sum(map(math.log, found.values())) / len(found))
        worst = min(found, key=found.get)
        below = sorted(name for name, value in found.items() if value < 1)
        lines += [f"{ours}, {len(found)} rows: the best other engine takes {mean:.2f} times as long (geometric mean), least {found[worst]:.2f} ({worst})",
                  f"below 1.0: {len(below)}: {', '.join(below)}"]
    return lines


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    from benchmarks.engine_models import MODELS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--batch", default="1,8", help="batch sizes, by commas")
    parser.add_argument("--only", default=",".join(USUAL), help=f"engines, of {','.join(ENGINES)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--first", action="store_true", help="times to the first result, cold/with what is kept on disk, in seconds")
    parser.add_argument("--layers", action="store_true", help="microseconds of each layer beside those of OpenVINO and ONNX Runtime, the least of all runs")
    parser.add_argument("--results", help="also write engines.json (with --layers layers.json) into this folder")
    arguments = parser.parse_args()
    engines, names = arguments.only.split(","), arguments.models or list(MODELS)
    unknown = [m for m in names if m not in MODELS] + [e for e in engines if e not in ENGINES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    batches = [int(word) for word in arguments.batch.split(",")]
    if arguments.layers:
        from benchmarks import engine_layers
        return engine_layers.report(names, batches, [engine for engine in engines if engine in engine_layers.PEERS], arguments.threads,
                                    arguments.rounds, results=arguments.results)
    keys = ("cold_s", "warm_s") if arguments.first else ("ms",)
    print("seconds from the start of a process to its first result, cold/warm" if arguments.first else
          f"ms per call, {arguments.threads} threads, median calls, of these the median of {arguments.rounds} turns; last: best other engine over Millrace", flush=True)
    print("  ".join([f"{'model, batch':32}"] + [f"{engine:>14}" for engine in engines]))
    everything, failed = {}, False
    for name in names:
        for batch in batches:
            label = f"{name}, {batch}"
            rows = everything[label] = measure_first(name, batch, engines, arguments.threads) if arguments.first else \
                measure(name, batch, engines, arguments.rounds, arguments.threads)
            print(line(label, rows, engines, keys), flush=True)
            for engine, row in rows.items():
                if "error" in row:
                    print(f"  {engine}: {row['error']}", flush=True)
                    failed = failed or engine in OURS
                elif row.get("difference", 0) > TOLERANCE:
                    print(f"  {engine}: expects a difference of at most {TOLERANCE} to eager PyTorch, but got {row['difference']:.1e}", flush=True)
                    failed = failed or engine in OURS
    if not arguments.first:
        print("\n".join(summary(everything)))
    if arguments.results:
        os.makedirs(arguments.results, exist_ok=True)
        with open(os.path.join(arguments.results, "engines.json"), "w") as file:
            json.dump({"about": {"threads": arguments.threads, "rounds": arguments.rounds, "machine": platform.processor() or platform.machine(),
                                 "date": time.strftime("%Y-%m-%d"), "load": os.getloadavg()[0]}, "models": everything}, file, indent=1)
            file.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
