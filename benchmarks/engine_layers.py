# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a model's time goes in Millrace and in other engines, layer by layer: python -m benchmarks.engines --layers MODEL …

Each kernel of Millrace with a contraction (convolution or product) stands beside the layers of OpenVINO and ONNX Runtime that compute the same:
a contraction is known by the number of its results and of the products in each, whatever the order of its dimensions. Kernels without one are
added up as pools and reductions, and as elementwise operations and copies. Rows are sorted by what Millrace loses to the faster engine, and say
how near it comes to the peak of multiply-adds, which a probe measures before and after. Times are the least of many runs, microseconds per call of
the model: what a busy machine disturbs least. Millrace's times come from a recording of `xla-run`, with the model's weights prepared once; OpenVINO's
from PERF_COUNT, ONNX Runtime's from its profiler, whose own cost is in its figures (a microsecond or two per layer).
"""
import collections
import dataclasses
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from typing import Any, Optional

from benchmarks import profile, tools

Contraction = tuple[int, int]  # results, products in each
POOLS, OTHERS = "pools and reductions", "elementwise and copies"
PEERS = ("openvino", "onnxruntime")
_REDUCING = re.compile(r"reduce|pool|softmax|mvn|norm|cumsum|select_and_scatter|sort|topk|top_k|argm", re.IGNORECASE)
_TENSORS = r" : \(tensor<([^>]*)>, tensor<([^>]*)>\) -> tensor<([^>]*)>"
_CONVOLUTION = re.compile(r"stablehlo\.convolution\(.*dim_numbers = \[[^\]]*\]x\[([^\]]*)\]->.*?" + _TENSORS)
_PRODUCT = re.compile(r"stablehlo\.dot_general .*contracting_dims = \[([\d, ]*)\] x .*?" + _TENSORS)
_FUNCTION = re.compile(r"func\.func (?:private )?@([\w.]+)\(")


@dataclasses.dataclass
class Layer:
    """A kernel of Millrace, or a layer of a peer: the least microseconds of all its calls in one execution."""
    name: str
    kind: str
    contractions: tuple[Contraction, ...]
    us: float
    calls: int = 1


@dataclasses.dataclass
class Row:
    """A line of the table: `us` has Millrace's and the peers' microseconds; a peer without such a layer is missing."""
    what: str
    calls: int
    flops: float
    us: dict[str, float]

    def lost(self) -> float:
        """Returns the microseconds that the fastest peer takes less; negative where Millrace is ahead, 0 where there is no peer to compare."""
        others = [us for name, us in self.us.items() if name != "millrace"]
        return self.us.get("millrace", 0.0) - min(others) if others and "millrace" in self.us else 0.0


def sizes(tensor: str) -> list[int]:
    """Returns the sizes of `1x56x56x64xf32`."""
    return [int(word) for word in tensor.split("x")[:-1]]


def contraction_of(line: str) -> Optional[tuple[Contraction, str]]:
    """Returns (results, products in each) of a convolution or product in StableHLO text, and a description; None for another line."""
    if found := _CONVOLUTION.search(line):
        order, image, kernel, result = [word.strip() for word in found.group(1).split(",")], *map(sizes, found.groups()[1:])
        terms = math.prod(kernel) // kernel[order.index("o")]
        window = "x".join(str(size) for size, name in zip(kernel, order) if name not in "oi")
        text = f"conv {window or '1'} {'x'.join(map(str, image))} -> {'x'.join(map(str, result))}"
    elif found := _PRODUCT.search(line):
        left, right, result = map(sizes, found.groups()[1:])
        terms = math.prod(left[int(dim)] for dim in found.group(1).split(",") if dim.strip())
        text = f"dot {'x'.join(map(str, left))} * {'x'.join(map(str, right))}"
    else:
        return None
    return (math.prod(result), terms), text


def kernels_of(text: str) -> dict[str, list[tuple[Contraction, str]]]:
    """Returns the contractions in each function of a module's text (the stop `fused`), by the function's name."""
    functions: dict[str, list[tuple[Contraction, str]]] = collections.defaultdict(list)
    name = ""
    for line in text.splitlines():
        if found := _FUNCTION.search(line):
            name = found.group(1)
        if contraction := contraction_of(line):
            functions[name].append(contraction)
    return functions


def kind_of(words: list[str]) -> str:
    """Returns what a layer without contraction is counted as, from the names of its operations."""
    return POOLS if any(_REDUCING.search(word) for word in words) else OTHERS


def table(ours: list[Layer], peers: dict[str, list[Layer]], texts: dict[tuple[Contraction, ...], str]) -> list[Row]:
    """Puts the layers that compute the same into rows, those first that lose most.

    A kernel with several contractions (attention) is compared with as many layers. A peer's contractions that no kernel of ours has, because one of
    both was rewritten, are rows of their own.
    """
    groups: dict[Any, Row] = {}
    for layer in ours:
        key = layer.contractions or layer.kind
        row = groups.setdefault(key, Row(texts.get(layer.contractions, layer.kind), 0, 0.0, {"millrace": 0.0}))
        row.calls += layer.calls
        row.flops += layer.calls * sum(2.0 * results * terms for results, terms in layer.contractions)
        row.us["millrace"] += layer.us
    for peer, layers in peers.items():
        open_layers: dict[Any, list[Layer]] = collections.defaultdict(list)
        for layer in layers:
            open_layers[layer.contractions or layer.kind].append(layer)
        for key, row in groups.items():
            if isinstance(key, str) or key in open_layers:
                row.us[peer] = sum(layer.us for layer in open_layers.pop(key, []))
        for key, row in groups.items():  # several contractions: a layer for each
            if isinstance(key, str) or peer in row.us or any((part,) not in open_layers for part in key):
                continue
            row.us[peer] = sum(statistics.mean(layer.us for layer in open_layers[(part,)]) * row.calls for part in key)
            for part in key:
                del open_layers[(part,)][:row.calls]
        for key, left in open_layers.items():
            if left:
                text = key if isinstance(key, str) else "only there: " + ", ".join(f"{results} results of {terms} products" for results, terms in key)
                row = groups.setdefault(("left", key), Row(text, len(left), 0.0, {}))
                row.us[peer] = sum(layer.us for layer in left)
    return sorted(groups.values(), key=lambda row: -row.lost())


def run_millrace(name: str, batch: int, threads: int, runs: int, folder: str) -> tuple[list[Layer], dict[tuple[Contraction, ...], str]]:
    """Returns the kernels of the model and what their contractions are called; the program is made at the first call and kept in `folder`."""
    path, arguments = os.path.join(folder, "model.mlir"), os.path.join(folder, "model.npz")
    if not os.path.exists(path):
        subprocess.run([sys.executable, "-m", "benchmarks.engine_layers", "--write", name, str(batch), folder], cwd=tools.ROOT, check=True,
                       stdout=subprocess.DEVNULL, env=child_environment(threads))
    with open(os.path.join(folder, "constants")) as file:
        constants = file.read()
    return measure_text(path, arguments, constants, threads, runs, os.path.join(folder, "cache"))


def measure_text(path: str, arguments: Optional[str], constants: str, threads: int, runs: int, cache: str
                 ) -> tuple[list[Layer], dict[tuple[Contraction, ...], str]]:
    """Returns the kernels of a StableHLO text and what their contractions are called; `constants`: numbers of the parameters that are weights."""
    environment = dict(os.environ, MILLRACE_NUM_THREADS=str(threads))
    flags = [path, f"--constant={constants}"]
    fused = subprocess.run([tools.tool("xla-compile"), *flags, f"--target-threads={threads}", "--emit=fused"], capture_output=True, text=True, check=True,
                           env=environment).stdout
    functions = kernels_of(fused)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tools.tool("xla-run"), *flags, *([f"--args={arguments}"] if arguments else []), "--quiet", f"--repeat={runs}",
                        f"--cache-dir={cache}"], capture_output=True, text=True, check=True, env=dict(environment, MILLRACE_PROFILE=folder))
        (path,) = glob.glob(os.path.join(folder, "*.trace.json"))
        with open(path) as file:
            found = launches_of(json.load(file))
    layers, texts = [], {}
    for name, (us, calls, operations) in found.items():
        contractions = sorted(functions.get(name.rsplit("_", 1)[0], []))  # without the digest of its code
        key = tuple(contraction for contraction, _ in contractions)
        texts[key] = "; ".join(text for _, text in contractions)
        layers.append(Layer(name, kind_of(operations), key, us * calls, calls))
    texts.pop((), None)
    return layers, texts


def launches_of(trace: Any) -> dict[str, tuple[float, int, list[str]]]:
    """Returns of each kernel in a recording the microseconds of its fastest call, its calls in one execution, and its operations."""
    durations: dict[str, list[float]] = collections.defaultdict(list)
    calls: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    operations = {}
    for event in trace if isinstance(trace, list) else trace["traceEvents"]:
        about = event.get("args") or {}
        if "hlo_category" not in about or about["hlo_module"].endswith(".prepare"):
            continue
        durations[event["name"]].append(event["dur"])
        calls[event["name"]][about["run_id"]] += 1
        operations[event["name"]] = about.get("operations", "").split(", ")
    return {name: (min(times), max(calls[name].values()), operations[name]) for name, times in durations.items()}


def write(name: str, batch: int, folder: str) -> None:
    """Writes the model as StableHLO text, its arguments, and which of these are weights."""
    from benchmarks import engine_models, torch_text
    module, inputs = engine_models.make(name, batch)
    program = torch_text.inference(module, *inputs)
    text, values = torch_text.trace(program)
    given = {value.data_ptr() for value in inputs}
    weights = [index for index, value in enumerate(values) if value.data_ptr() not in given]
    with open(os.path.join(folder, "model.mlir"), "w") as file:
        file.write(text)
    tools.save_arguments(os.path.join(folder, "model.npz"), [torch_text.to_numpy(value) for value in values])
    with open(os.path.join(folder, "constants"), "w") as file:
        file.write(",".join(map(str, weights)))


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    """Returns the least time of each layer."""
    return {name: min(run[name] for run in runs if name in run) for name in runs[0]}


def run_openvino(name: str, batch: int, threads: int, runs: int) -> list[Layer]:
    """Runs in the child: the layers of OpenVINO; their contractions by the operations of the model that they were made from."""
    import openvino
    import torch

    from benchmarks import engine_models
    module, inputs = engine_models.make(name, batch)
    with torch.no_grad():
        model = openvino.convert_model(module, example_input=tuple(inputs))
    model.reshape({port: list(t.shape) for port, t in zip(model.inputs, inputs)})
    known = {}
    for op in model.get_ordered_ops():
        kind, shapes = op.get_type_name(), lambda: [list(port.get_shape()) for port in op.inputs()]
        if kind in ("Convolution", "MatMul"):
            results, last = math.prod(op.output(0).get_shape()), shapes()
            transposed = kind == "MatMul" and op.get_attributes()["transpose_a"]
            terms = math.prod(last[1][1:]) if kind == "Convolution" else last[0][-2 if transposed and len(last[0]) > 1 else -1]
            known[op.get_friendly_name()] = ((results, terms),)
        elif kind == "GroupConvolution":  # [groups, outputs, inputs, window]
            known[op.get_friendly_name()] = ((math.prod(op.output(0).get_shape()), math.prod(shapes()[1][2:])),)
        elif kind == "ScaledDotProductAttention":
            query, key, value = shapes()[:3]
            scores = math.prod(query[:-1]) * key[-2]
            known[op.get_friendly_name()] = tuple(sorted([(scores, query[-1]), (math.prod(query[:-1]) * value[-1], key[-2])]))
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY",
                                                            "INFERENCE_NUM_THREADS": threads, "PERF_COUNT": True})
    origins = {op.get_friendly_name(): str(op.get_rt_info()["originalLayersNames"].value).split(",") if "originalLayersNames" in op.get_rt_info() else []
               for op in compiled.get_runtime_model().get_ordered_ops()}
    request, arguments, times, kinds = compiled.create_infer_request(), [t.numpy() for t in inputs], [], {}
    for _ in range(runs):
        request.infer(arguments)
        found = [info for info in request.profiling_info if info.real_time.total_seconds() > 0 or info.exec_type != "unknown"]
        times.append({info.node_name: info.real_time.total_seconds() * 1e6 for info in found})
        kinds.update({info.node_name: info.node_type for info in found})
    layers = []
    for node, us in least(times).items():
        contractions = tuple(part for origin in [*origins.get(node, []), node] for part in known.pop(origin, ()))
        layers.append(Layer(node, kind_of([kinds[node]]), contractions, us))
    return layers


def run_onnxruntime(name: str, batch: int, threads: int, runs: int) -> list[Layer]:
    """Runs in the child: the layers of ONNX Runtime, by its profiler; their contractions by the names of the graph."""
    import onnx
    import onnxruntime
    import torch

    from benchmarks import engine_models
    module, inputs = engine_models.make(name, batch)
    times: list[dict[str, float]] = []
    details: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with torch.no_grad():
            torch.onnx.export(module, tuple(inputs), path, dynamo=True, verbose=False)
        known = onnx_contractions(onnx.load(path, load_external_data=False).graph)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = threads
        options.enable_profiling, options.profile_file_prefix = True, os.path.join(folder, "profile")
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        arguments = {port.name: t.numpy() for port, t in zip(session.get_inputs(), inputs)}
        for _ in range(runs):
            session.run(None, arguments)
        with open(session.end_profiling()) as file:
            for event in json.load(file):
                if event.get("name") == "model_run":
                    times.append({})  # an event is written when it ends: this is the one before the next run's
                elif event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                    node = event["name"].removesuffix("_kernel_time")
                    if not times or node in times[-1]:
                        times.append({})
                    times[-1][node] = event["dur"]
                    details[node] = event["args"]
    layers = []
    for node, us in least([run for run in times if run]).items():
        args = details[node]
        is_contraction = any(word in args["op_name"] for word in ("Conv", "MatMul", "Gemm", "Attention"))
        layers.append(Layer(node, kind_of([args["op_name"]]), known.get(node.removesuffix("_nchwc").removesuffix("_bn"), ()) if is_contraction else (), us))
    return layers


def onnx_contractions(graph: Any) -> dict[str, tuple[Contraction, ...]]:
    """Returns the contractions of an ONNX graph by the names of what is computed from them without another contraction, and of their nodes: ONNX
    Runtime names its layers by one of these, whatever it has fused, and rounds the sizes that it notes up to whole vectors."""
    shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in [*graph.value_info, *graph.input, *graph.output]}
    shapes.update({value.name: list(value.dims) for value in graph.initializer})
    readers = collections.Counter(name for node in graph.node for name in node.input)
    found: dict[str, tuple[Contraction, ...]] = {}
    for node in graph.node:
        operands, result = [shapes.get(name, []) for name in node.input], node.output[0]
        key: tuple[Contraction, ...] = ()
        if node.op_type == "Conv":
            key = ((math.prod(shapes[result]), math.prod(operands[1][1:])),)
        elif node.op_type in ("MatMul", "Gemm"):
            transposed = any(attribute.name == "transA" and attribute.i for attribute in node.attribute)
            key = ((math.prod(shapes[result]), operands[0][0 if transposed else -1]),)
        elif node.op_type == "Attention" and all(operands[:3]) and len(operands[0]) == 4:
            rows, (keys, values) = math.prod(operands[0][:-1]), operands[2][-2:]
            key = tuple(sorted([(rows * keys, operands[0][-1]), (rows * values, keys)]))
        elif node.input and readers[node.input[0]] == 1:
            key = found.get(node.input[0], ())  # an activation, a normalization or a sum behind a contraction
        found[node.name] = found[result] = key
    return found


def child_environment(threads: int) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), os.path.join(tools.ROOT, "python"), tools.ROOT]))
    return dict(os.environ, PYTHONPATH=path, OMP_NUM_THREADS=str(threads), JAX_PLATFORMS="cpu")


def run_peer(peer: str, name: str, batch: int, threads: int, runs: int) -> list[Layer]:
    """Returns the layers of a peer, which runs in a process of its own; raises RuntimeError with the end of what it said."""
    process = subprocess.run([sys.executable, "-m", "benchmarks.engine_layers", "--peer", peer, name, *map(str, (batch, threads, runs))], cwd=tools.ROOT,
                             capture_output=True, text=True, env=child_environment(threads))
    if process.returncode:
        raise RuntimeError(process.stderr.strip()[-300:])
    return [Layer(**{**layer, "contractions": tuple(map(tuple, layer["contractions"]))}) for layer in json.loads(process.stdout.splitlines()[-1])]


def fastest(rounds: list[list[Layer]]) -> list[Layer]:
    """Returns the layers with their least times of several rounds."""
    times = least([{layer.name: layer.us for layer in one} for one in rounds])
    return [dataclasses.replace(layer, us=times[layer.name]) for layer in rounds[0]]


def lines(rows: list[Row], peers: list[str], peak: float, most: int) -> list[str]:
    """The table as lines of text; `most` rows beside the sums."""
    found = [f"{'lost us':>9} {'calls':>5} " + " ".join(f"{name:>11}" for name in ["millrace", *peers]) + f" {'GFLOP/s':>8} {'of peak':>7}  layer"]

    def line(row: Row) -> str:
        cells = " ".join(f"{row.us[name]:11.1f}" if name in row.us else f"{'-':>11}" for name in ["millrace", *peers])
        rate = row.flops / row.us["millrace"] / 1e3 if row.flops and row.us.get("millrace") else 0.0
        return f"{row.lost():9.1f} {row.calls:5d} {cells} " + (f"{rate:8.1f} {100 * rate / peak:6.0f} %" if rate else f"{'-':>8} {'-':>8}") + f"  {row.what}"
    found += [line(row) for row in rows[:most]]
    if len(rows) > most:
        found.append(f"… and {len(rows) - most} rows")
    total = {name: sum(row.us.get(name, 0.0) for row in rows) for name in ["millrace", *peers]}
    return [*found, line(Row("all", sum(row.calls for row in rows), sum(row.flops for row in rows), total))]


def report(names: list[str], batches: list[int], peers: list[str], threads: int, rounds: int, runs: int = 30, most: int = 25,
           results: Optional[str] = None) -> int:
    """Prints the table of each model; returns the exit status.

    Args:
        names: models of benchmarks.engine_models.
        batches: sizes of the batch.
        peers: engines that are compared, of `PEERS`.
        threads: the number of threads of all engines.
        rounds: turns of each engine; the least times count.
        runs: executions in a turn.
        most: rows of a table.
        results: a folder for layers.json with all rows, if given.
    """
    everything, failed = {}, False
    for name in names:
        for batch in batches:
            with tempfile.TemporaryDirectory(prefix="millrace-layers-") as folder:
                peak = profile.probe(threads, "flops")["f32_gflops"]
                ours, texts, others = [], {}, collections.defaultdict(list)
                for _ in range(rounds):
                    layers, texts = run_millrace(name, batch, threads, runs, folder)
                    ours.append(layers)
                    for peer in peers:
                        try:
                            others[peer].append(run_peer(peer, name, batch, threads, runs))
                        except RuntimeError as error:
                            print(f"{name}, {batch}: {peer}: {error}", flush=True)
                            failed = True
                peak = max(peak, profile.probe(threads, "flops")["f32_gflops"])
            rows = table(fastest(ours), {peer: fastest(found) for peer, found in others.items()}, texts)
            print(f"\n{name}, batch {batch}, {threads} threads: microseconds per call, peak {peak:.0f} GFLOP/s")
            print("\n".join(lines(rows, list(others), peak, most)), flush=True)
            everything[f"{name}, {batch}"] = {"peak_gflops": peak, "rows": [{**dataclasses.asdict(row), "lost_us": row.lost()} for row in rows]}
    if results:
        os.makedirs(results, exist_ok=True)
        with open(os.path.join(results, "layers.json"), "w") as file:
            json.dump(everything, file, indent=1)
    return 1 if failed else 0


def main() -> None:
    if sys.argv[1] == "--write":
        write(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        peer, name, batch, threads, runs = sys.argv[2], sys.argv[3], *map(int, sys.argv[4:7])
        out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # what libraries print
        print(json.dumps([dataclasses.asdict(layer) for layer in globals()[f"run_{peer}"](name, batch, threads, runs)]), file=out, flush=True)


if __name__ == "__main__":
    main()
