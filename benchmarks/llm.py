# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models by the engines that people would pick: tokens per second of decoding and of prompts, and how near decoding is to what memory allows.

    PYTHONPATH=python:. python -m benchmarks.llm [--models llama-1b,qwen-0.5b,gemma-1b] [--precisions f32,bf16,int8,int4,q8_0,q4_k] [--batch 1,8]
                                                 [--peers millrace,eager,…] [--quick] [--markdown FILE] [--results FILE]

Weights are random. Every engine runs in a process of its own, one after the other, on the same number of threads; an engine that is not there, or
that has no such precision, says so (`pip install --no-deps -r requirements/engines.txt -r requirements/llm.txt`). A prompt is one call; a decoding
step is one token of every sequence after it, logits on the host. Engines that are given a graph keep keys and values in buffers of prompt + steps
tokens; llama.cpp keeps f16 of the real length.

int8: a scale per row, int4: per 32 weights of a row (torchao's Int8WeightOnly and IntxWeightOnly; ONNX Runtime's MatMulNBits); q8_0: 8 bits and a
scale per 32. llama.cpp has Q8_0 for int8 and q8_0, Q4_0 for int4, Q4_K for q4_k, and rounds activations to 8 bits, unlike the others. The bound is
the bytes of all weights of products and of the keys and values, divided by the rate at which this machine reads memory in the same minute. --quick:
two layers, a quarter of the width, differences of logits to f64."""
import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks import llm_models
from benchmarks.llm_models import SHAPES, Shape

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PEERS = ("millrace", "eager", "inductor", "xla_cpu", "openvino", "onnxruntime", "llama_cpp")
# Bits of a weight of a product with its share of scales, as the engine with the least reads it.
BITS = {"f32": 32.0, "bf16": 16.0, "int8": 8.0, "int4": 4.5, "q8_0": 8.5, "q4_k": 4.5}
ATTENTION = "benchmark_cache"


class Absent(Exception):
    """An engine that is not there, or lacks what is asked for."""


def _attention(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, dropout: float = 0.0,
               sliding_window: int | None = None, step: Any = None, **kwargs: Any) -> Any:
    import torch
    k, v = step.take(module.layer_idx, key, value)
    keys = torch.arange(k.shape[2], device=k.device)
    visible = keys <= step.positions[:, None]
    if sliding_window is not None:
        visible = visible & (keys > step.positions[:, None] - sliding_window)
    groups = query.shape[1] // k.shape[1]
    out = torch.nn.functional.scaled_dot_product_attention(query, k.repeat_interleave(groups, 1) if groups > 1 else k,
                                                           v.repeat_interleave(groups, 1) if groups > 1 else v, visible, scale=scaling)
    return out.transpose(1, 2), None


def step_module(model: Any, in_place: bool) -> Any:
    """A module (ids (batch, tokens), start (1), *caches) -> logits of the last token; not `in_place`: and the new caches."""
    import torch
    transformers = llm_models.import_transformers()
    transformers.AttentionInterface.register(ATTENTION, _attention)
    model.set_attn_implementation(ATTENTION)

    class State:
        def __init__(self, positions: Any, caches: Any):
            self.positions, self.caches = positions, list(caches)

        def take(self, layer: int, key: Any, value: Any) -> tuple[Any, Any]:
            for place, new in ((2 * layer, key), (2 * layer + 1, value)):
                if in_place:
                    self.caches[place].index_copy_(2, self.positions, new)
                else:
                    self.caches[place] = self.caches[place].index_copy(2, self.positions, new)
            return self.caches[2 * layer], self.caches[2 * layer + 1]

    class Step(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any, start: Any, *caches: Any) -> Any:
            positions = start + torch.arange(ids.shape[1], device=ids.device)
            state = State(positions, caches)
            logits = self.model(input_ids=ids, position_ids=positions[None].expand(ids.shape[0], -1), use_cache=False, logits_to_keep=1, step=state).logits[:, -1]
            return logits if in_place else (logits, *state.caches)
    return Step()


def caches_of(shape: Shape, batch: int, length: int, dtype: Any) -> list[Any]:
    import torch
    return [torch.zeros(batch, shape.kv_heads, length, shape.head_dim, dtype=dtype) for _ in range(2 * shape.layers)]


def in_precision(model: Any, precision: str) -> Any:
    """The model with the weights of its products so."""
    import torch
    if precision in ("f32", "bf16"):
        return model.to(torch.float32 if precision == "f32" else torch.bfloat16)
    try:
        from torchao.quantization import Int8WeightOnlyConfig, IntxWeightOnlyConfig, quantize_
        from torchao.quantization.granularity import PerGroup
    except ImportError:
        raise Absent("torchao is not installed") from None
    config = {"int8": lambda: Int8WeightOnlyConfig(), "q8_0": lambda: Int8WeightOnlyConfig(granularity=PerGroup(32)),
              "int4": lambda: IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))}.get(precision)
    if config is None:
        raise Absent(f"torchao has no {precision}")
    quantize_(model, config())
    return model


class Engine:
    """`call(ids, start)` gives the logits after ids, whose first one has the position `start`, and keeps keys and values."""

    def __init__(self, shape: Shape, model: Any, job: dict[str, Any]):
        self.shape, self.model, self.job = shape, model, job
        self.threads, self.batch, self.length = job["threads"], job["batch"], job["prompt"] + job["steps"]


class Eager(Engine):
    def __init__(self, shape: Shape, model: Any, job: dict[str, Any]):
        import torch
        super().__init__(shape, model, job)
        self.step = step_module(in_precision(model, job["precision"]), True)
        self.dtype = torch.bfloat16 if job["precision"] == "bf16" else torch.float32
        self.caches = caches_of(shape, self.batch, self.length, self.dtype)

    def call(self, ids: Any, start: int) -> Any:
        import torch
        with torch.no_grad():
            return self.step(ids, torch.tensor([start]), *self.caches).float()


class Inductor(Eager):
    def __init__(self, shape: Shape, model: Any, job: dict[str, Any]):
        import torch
        super().__init__(shape, model, job)
        torch._dynamo.config.automatic_dynamic_shapes = False
        self.step = torch.compile(self.step)


class Millrace(Eager):
    def __init__(self, shape: Shape, model: Any, job: dict[str, Any]):
        import torch
        try:
            import torch_xla
        except ImportError as error:
            raise Absent(f"torch_xla: {error}") from None
        super().__init__(shape, model, job)
        self.sync = torch_xla.sync
        self.step.to("xla")
        self.caches = [cache.to("xla") for cache in self.caches]
        torch._dynamo.config.automatic_dynamic_shapes = False
        self.step = torch.compile(self.step, backend="openxla")

    def call(self, ids: Any, start: int) -> Any:
        import torch
        with torch.no_grad():
            return self.step(ids.to("xla"), torch.tensor([start]).to("xla"), *self.caches).float().cpu()


class Exported(Engine):
    """Engines that are given a graph with caches as arguments and results, once for prompts and once for single tokens."""

    def __init__(self, shape: Shape, model: Any, job: dict[str, Any]):
        import torch
        super().__init__(shape, model, job)
        self.step = step_module(self.given(model, job["precision"]), False).eval()
        self.caches: list[Any] = [cache.numpy() for cache in caches_of(shape, self.batch, self.length, torch.float32)]
        self.made: dict[int, Callable[..., Any]] = {}

    def given(self, model: Any, precision: str) -> Any:
        if precision != "f32":
            raise Absent(f"not measured with {precision}")
        return model

    def call(self, ids: Any, start: int) -> Any:
        import numpy
        import torch
        if ids.shape[1] not in self.made:
            example = (ids, torch.tensor([start]), *caches_of(self.shape, self.batch, self.length, torch.float32))
            self.made[ids.shape[1]] = self.compiled(example)
        logits, *self.caches = self.made[ids.shape[1]](ids.numpy(), numpy.array([start]), *self.caches)
        return torch.from_numpy(numpy.asarray(logits))


class OpenVino(Exported):
    def given(self, model: Any, precision: str) -> Any:
        try:
            import openvino  # noqa: F401
        except ImportError:
            raise Absent("openvino is not installed") from None
        if precision not in ("f32", "bf16"):
            raise Absent(f"{precision} needs nncf")
        return model

    def compiled(self, example: Any) -> Callable[..., Any]:
        import openvino
        import torch
        with torch.no_grad():
            model = openvino.convert_model(torch.export.export(self.step, example, strict=False))
        compiled = openvino.Core().compile_model(model, "CPU", {
            "INFERENCE_PRECISION_HINT": self.job["precision"], "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": self.threads})
        request = compiled.create_infer_request()

        def call(*arguments: Any) -> Any:
            request.infer(list(arguments), share_inputs=True)
            return [request.get_output_tensor(number).data.copy() for number in range(len(compiled.outputs))]
        return call


class OnnxRuntime(Exported):
    def given(self, model: Any, precision: str) -> Any:
        try:
            import onnx  # noqa: F401
            import onnxruntime  # noqa: F401
            import onnxscript  # noqa: F401
        except ImportError as error:
            raise Absent(f"{error.name} is not installed") from None
        if precision not in ("f32", "int8", "int4", "q8_0"):
            raise Absent(f"not measured with {precision}")
        return model

    def compiled(self, example: Any) -> Callable[..., Any]:
        import onnxruntime
        import torch
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            with torch.no_grad():
                torch.onnx.export(self.step, example, path, dynamo=True, verbose=False, external_data=True)
            if self.job["precision"] != "f32":
                # The quantizer takes products with initializers; those of the exporter have Transpose between, which basic optimization computes.
                folding = onnxruntime.SessionOptions()
                folding.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
                folding.optimized_model_filepath = path + ".folded"
                folding.add_session_config_entry("session.optimized_model_external_initializers_file_name", "model.folded.data")
                onnxruntime.InferenceSession(path, folding, providers=["CPUExecutionProvider"])
                path += ".folded"
                from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
                quantizer = MatMulNBitsQuantizer(path, bits=4 if self.job["precision"] == "int4" else 8, block_size=32, is_symmetric=True, accuracy_level=1)
                quantizer.process()
                quantizer.model.save_model_to_file(path + ".q", use_external_data_format=True)
                path += ".q"
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [port.name for port in session.get_inputs()]
        return lambda *arguments: session.run(None, dict(zip(names, arguments)))


class XlaCpu(Exported):
    def given(self, model: Any, precision: str) -> Any:
        try:
            import jaxlib  # noqa: F401
            import torch_xla  # noqa: F401
        except ImportError as error:
            raise Absent(f"{error.name} is not installed") from None
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:self.threads])  # XLA:CPU counts the cores
        return super().given(model, precision)

    def compiled(self, example: Any) -> Callable[..., Any]:
        import jax
        import numpy
        from jax._src import compiler
        from jax.interpreters import mlir
        from jaxlib import xla_client
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo as dialect
        import torch
        from torch_xla.stablehlo import VariableType, exported_program_to_stablehlo
        jax.config.update("jax_enable_x64", True)
        program = exported_program_to_stablehlo(torch.export.export(self.step, example, strict=False))
        weights, constants = program._bundle.state_dict, program._bundle.additional_constants
        places = program._bundle.stablehlo_funcs[0].meta.input_locations
        device = jax.devices("cpu")[0]
        self.weights = getattr(self, "weights", {})

        def weight(place: Any) -> Any:
            if place.type_ != VariableType.PARAMETER:
                return jax.device_put(numpy.asarray(constants[place.position]), device)
            if place.name not in self.weights:  # one copy for both programs
                self.weights[place.name] = jax.device_put(numpy.asarray(weights[place.name]), device)
            return self.weights[place.name]
        fixed = [None if place.type_ == VariableType.INPUT_ARG else weight(place) for place in places]
        with mlir.make_ir_context() as context:
            module = ir.Module.parse(dialect.deserialize_portable_artifact(context, program.get_stablehlo_bytecode()).operation.get_asm(binary=True))
            executable = device.client.compile_and_load(module, xla_client.DeviceList((device,)), compiler.get_compile_options(num_replicas=1, num_partitions=1))

        def call(*arguments: Any) -> Any:
            placed = [jax.device_put(arguments[place.position], device) if value is None else value for value, place in zip(fixed, places)]
            return [array[0] for array in executable.execute_sharded(placed).disassemble_into_single_device_arrays()]
        return call


ENGINES = {"millrace": Millrace, "eager": Eager, "inductor": Inductor, "openvino": OpenVino, "onnxruntime": OnnxRuntime, "xla_cpu": XlaCpu}


def prompt_ids(shape: Shape, batch: int, tokens: int) -> Any:
    import torch
    return torch.randint(3, shape.vocabulary, (batch, tokens), generator=torch.Generator().manual_seed(1))


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """In the child: times of one engine."""
    import torch
    torch.set_num_threads(job["threads"])
    shape = Shape(**job["shape"])
    model = llm_models.make(shape, job["prompt"] + job["steps"])
    ids = prompt_ids(shape, job["batch"], job["prompt"])
    if job["peer"] == "llama_cpp":
        return measure_llama_cpp(job, shape, model, ids)
    want = None
    if job["compare"]:
        exact = step_module(llm_models.make(shape, job["prompt"] + job["steps"]).double(), True)
        with torch.no_grad():
            want = exact(ids, torch.tensor([0]), *caches_of(shape, job["batch"], job["prompt"] + job["steps"], torch.float64))
        del exact
        gc.collect()
    start = time.perf_counter()
    engine = ENGINES[job["peer"]](shape, model, job)
    del model
    loaded_s = time.perf_counter() - start

    def timed(ids: Any, position: int) -> tuple[float, Any]:
        start = time.perf_counter()
        logits = engine.call(ids, position)
        return time.perf_counter() - start, logits
    first_s, logits = timed(ids, 0)
    prefill_s = min(timed(ids, 0)[0] for _ in range(job["rounds"]))
    token = logits.argmax(-1, keepdim=True)
    first_token_s, after = timed(token, job["prompt"])
    times = []
    for number in range(1, job["steps"]):
        token = after.argmax(-1, keepdim=True)
        seconds, after = timed(token, job["prompt"] + number)
        times.append(seconds)
    step_s = statistics.median(times)
    row = {"load_s": loaded_s, "compile_s": max(0.0, first_s - prefill_s) + max(0.0, first_token_s - step_s),
           "prefill_tokens_s": ids.numel() / prefill_s, "decode_tokens_s": job["batch"] / step_s, "step_s": step_s}
    if want is not None:
        row["difference"] = float((logits.double() - want).abs().max() / want.abs().max())
    return row


def measure_llama_cpp(job: dict[str, Any], shape: Shape, model: Any, ids: Any) -> dict[str, Any]:
    """By llama.cpp's server in this process: its own times."""
    import concurrent.futures
    try:
        import gguf  # noqa: F401
        import xllamacpp
    except ImportError as error:
        raise Absent(f"{error.name} is not installed") from None
    kind = {"f32": "f32", "bf16": "bf16", "int8": "q8_0", "q8_0": "q8_0", "int4": "q4_0", "q4_k": "q4_k"}[job["precision"]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        llm_models.write_gguf(model, shape, kind, path)
        del model
        gc.collect()
        start = time.perf_counter()
        server = xllamacpp.Server(llama_cpp_parameters(path, job["threads"], job["batch"], job["batch"] * (job["prompt"] + job["steps"] + 8)))
        loaded_s = time.perf_counter() - start

        def complete(row: list[int]) -> Any:
            answer = server.handle_completions({"prompt": row, "max_tokens": job["steps"], "ignore_eos": True, "temperature": 0, "cache_prompt": False})
            return json.loads(answer) if isinstance(answer, (str, bytes)) else answer
        with concurrent.futures.ThreadPoolExecutor(job["batch"]) as pool:
            best: dict[str, float] = {}
            for _ in range(job["rounds"]):
                timings = [answer["timings"] for answer in pool.map(complete, ids.tolist())]
                prefill = ids.numel() / max(t["prompt_ms"] for t in timings) * 1e3
                decode = sum(t["predicted_n"] for t in timings) / max(t["predicted_ms"] for t in timings) * 1e3
                best = {"prefill_tokens_s": max(prefill, best.get("prefill_tokens_s", 0)), "decode_tokens_s": max(decode, best.get("decode_tokens_s", 0))}
    return {"load_s": loaded_s, "compile_s": 0.0, **best, "step_s": job["batch"] / best["decode_tokens_s"]}


def llama_cpp_parameters(path: str, threads: int, parallel: int, context: int) -> Any:
    """Of llama.cpp's server."""
    import xllamacpp
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx, parameters.n_parallel, parameters.n_gpu_layers = context, parallel, 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.warmup = True
    return parameters


def child(job: dict[str, Any]) -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print
    try:
        row = measure(job)
    except Absent as absent:
        row = {"absent": str(absent)}
    except Exception as error:
        import traceback
        traceback.print_exc()
        row = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
    row["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(row), file=out, flush=True)
    if job["peer"] == "llama_cpp":
        os._exit(0)  # its server's threads would keep the process
    sys.exit(0)  # a profile is written at the end


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One engine in a process of its own."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(job["threads"]), JAX_PLATFORMS="cpu", MILLRACE_JAX="0", PJRT_DEVICE="CPU",
                       TORCHINDUCTOR_FREEZING="1")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), os.path.join(ROOT, "python"), ROOT]))
    with tempfile.TemporaryDirectory() as folder:
        environment.update(MILLRACE_CACHE_DIR=folder, TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"))
        ran = subprocess.run([sys.executable, "-m", "benchmarks.llm", "--child", json.dumps(job)], env=environment, cwd=ROOT, text=True,
                             stdout=subprocess.PIPE, stderr=None if os.environ.get("MILLRACE_BENCH_STDERR") else subprocess.DEVNULL, check=False)
    lines = ran.stdout.splitlines()
    return json.loads(lines[-1]) if lines else {"error": f"the process ended, status {ran.returncode}"}


def read_rate(threads: int, size: int) -> float:
    """GB/s at which this machine reads so many bytes now: the best of three probes, since other programs disturb each of them."""
    from benchmarks import profile
    return max(profile.probe(threads, size)["bandwidth"][-1]["read_gbs"] for _ in range(3))


def bytes_of_step(job: dict[str, Any]) -> float:
    shape = Shape(**job["shape"])
    cache = 2 if job["precision"] == "bf16" else 4
    return shape.linear_weights() * BITS[job["precision"]] / 8 + job["batch"] * shape.cache_elements(job["prompt"] + job["steps"]) * cache


def table(rows: list[dict[str, Any]]) -> str:
    """A markdown table of each model and batch."""
    lines = []
    for model, batch in dict.fromkeys((row["model"], row["batch"]) for row in rows):
        chosen = [row for row in rows if (row["model"], row["batch"]) == (model, batch)]
        lines += [f"{model}, batch {batch}:", "", "| precision | engine | decode tokens/s | GB/s | of the bound | prefill tokens/s | load s | compile s | peak MB | difference to f64 |",
                  "|---|---|" + "---:|" * 8]
        for row in chosen:
            if "step_s" not in row:
                lines.append(f"| {row['precision']} | {row['peer']} | - ({row.get('absent') or row.get('error')}) |" + " |" * 7)
                continue
            lines.append(f"| {row['precision']} | {row['peer']} | {row['decode_tokens_s']:.1f} | {row['gb_s']:.1f} | {row['of_bound']:.2f} | "
                         f"{row['prefill_tokens_s']:.0f} | {row['load_s']:.1f} | {row['compile_s']:.1f} | {row['peak_mb']:.0f} | "
                         + (f"{row['difference']:.1e} |" if "difference" in row else "- |"))
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(SHAPES))
    parser.add_argument("--precisions", default="f32,bf16,int8,int4,q8_0,q4_k")
    parser.add_argument("--batch", default="1,8")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--prompt", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", metavar="FILE", help="also write the tables there")
    parser.add_argument("--results", metavar="FILE", help="also write all figures there, as JSON")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(json.loads(options.child))
    rows = []
    for model in options.models.split(","):
        shape = SHAPES[model].reduced() if options.quick else SHAPES[model]
        for batch in map(int, options.batch.split(",")):
            for precision in options.precisions.split(","):
                for peer in options.peers.split(","):
                    job = {"peer": peer, "precision": precision, "batch": batch, "threads": options.threads, "shape": vars(shape),
                           "prompt": options.prompt or (64 if options.quick else 512), "steps": options.steps or (16 if options.quick else 128),
                           "rounds": 2 if options.quick else 3, "compare": options.quick}
                    row = run(job)
                    if "step_s" in row:
                        size = bytes_of_step(job)
                        rate = read_rate(options.threads, int(size))
                        row.update(gb_s=size / row["step_s"] / 1e9, read_gb_s=rate, of_bound=size / row["step_s"] / 1e9 / rate)
                    rows.append({"model": model + (" reduced" if options.quick else ""), **{key: job[key] for key in ("peer", "precision", "batch")}, **row})
                    print(f"llm: {model} batch {batch} {precision} {peer}: " + (f"{row['decode_tokens_s']:.1f} tokens/s, {row['of_bound']:.2f} of the bound"
                          if "step_s" in row else row.get("absent") or row["error"]), file=sys.stderr, flush=True)
    text = table(rows)
    print(text)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(text)
    if options.results:
        with open(options.results, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
