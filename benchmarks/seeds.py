# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables that the seeds promise, measured here: python -m benchmarks.seeds [--quick] [--results FOLDER] [--parts dynamo,data_parallel,language]

    PYTHONPATH=python:. python -m benchmarks.seeds --results benchmarks/results

* dynamo: ten models, inference and training, lazy against torch.compile(backend="openxla") against eager PyTorch and Inductor, beside what
  PyTorch/XLA's guide measured on a TPU v4-8 (its figures are quotients of lazy's time and openxla's: nothing else can be compared).
* data_parallel: images per second of ResNet-18 with xm.optimizer_step, DistributedDataParallel on `xla` and Gloo's on CPU tensors, and how one
  process and several compare (the seed's: ResNet-50 on a TPU v3-8).
* language: tokens per second and model FLOP/s utilization of GPT-2 and of a Llama of 135 million numbers; of the peak that benchmarks/probe.cpp
  measures on this machine now.

Writes seeds.json and seeds.html, one page with plots; parts that are not measured stay as the files there have them, each with its own date and load.
`python -m benchmarks.tables` writes the tables of docs/benchmarks.md from it. --quick: small sizes, few models, one round, some minutes: it shows that all works, and its
figures mean nothing. MILLRACE_BUILD names the build folder; build-release is the fair one. The machine should have nothing else to do."""
from __future__ import annotations

import argparse
import html
import json
import math
import os
import platform
import re
import statistics
import sys
import time
from typing import Any

from benchmarks import torch_steps

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PARTS = ("dynamo", "data_parallel", "language")
# Quotients lazy / openxla that the guide "TorchDynamo integration in PyTorch/XLA" prints, on a TPU v4-8 (seed 003).
SEED_INFERENCE = {"resnet18": 2.59, "resnet50": 2.64, "resnext50_32x4d": 1.91, "alexnet": 1.28, "mobilenet_v2": 18.62, "mnasnet1_0": 2.68, "vgg16": 1.33,
                  "BERT_pytorch": 7.49, "squeezenet1_1": 2.29, "timm_vision_transformer": 3.52}
SEED_TRAINING = {"resnet50": 1.33, "resnet18": 1.33, "BERT_pytorch": 3.07, "resnext50_32x4d": 1.43, "alexnet": 1.12, "mobilenet_v2": 1.4, "mnasnet1_0": 1.19,
                 "vgg16": 0.81, "timm_vision_transformer": 1.87, "squeezenet1_1": 1.41}
# Images per second of ResNet-50 on a TPU v3-8, median (seed 003, "Resnet50 with fake data").
SEED_IMAGES = {"xla_step": 419.22, "xla_ddp": 395.54}
# MFU that seed 001 reports of SPMD on GPUs ("~50% MFU"): other hardware, another size.
SEED_MFU = "about 50 % MFU with SPMD on GPUs (seed 001)"


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def measure_dynamo(options: argparse.Namespace) -> dict[str, Any]:
    """{"inference" and "training": {model: {way: {"ms", "difference"} or {"error"}}}}."""
    from benchmarks.seed_programs import TEN
    found: dict[str, Any] = {}
    for kind in ("inference", "training"):
        found[kind] = {}
        for name in options.models or TEN:
            rows = torch_steps.measure(f"{name}_{kind}", options.ways, options.rounds, options.threads)
            found[kind][name] = rows
            print(torch_steps.line(f"{name} {kind}", rows, options.ways), flush=True)
    return found


def measure_data_parallel(options: argparse.Namespace) -> dict[str, Any]:
    """{way: {processes: images per second}}; `batch` and `image` of each process."""
    from benchmarks import torch_processes
    image, batch = (32, 2) if options.quick else (64, 8)
    ways = ["xla_step", "xla_ddp", "gloo_ddp"]
    rates: dict[str, dict[int, list[float]]] = {way: {} for way in ways}
    for _ in range(options.rounds):
        for processes in (1, options.processes):
            for way in ways:
                results = torch_processes.run("benchmarks.torch_ddp", way, processes, [f"--image={image}", f"--batch={batch}"])
                rates[way].setdefault(processes, []).append(processes * batch / max(each["seconds"] for each in results))
    medians = {way: {str(count): statistics.median(values) for count, values in found.items()} for way, found in rates.items()}
    for way, found in medians.items():
        print(f"{way:10} " + ", ".join(f"{count} processes {rate:.1f} images/s" for count, rate in found.items()), flush=True)
    return {"image": image, "batch": batch, "images_per_second": medians}


def measure_language(options: argparse.Namespace) -> dict[str, Any]:
    """{model: {"tokens": per step, "flops_per_token", "peak_gflops", way: {"ms", "tokens_per_second", "mfu"}}}."""
    from benchmarks import profile
    from benchmarks.seed_programs import LANGUAGE_BATCH, WORDS, flops_per_token, language
    peak = profile.probe(options.threads, "flops")["f32_gflops"]
    found: dict[str, Any] = {}
    for name in ("gpt2", "llama"):
        model = language(name)
        tokens, per_token = LANGUAGE_BATCH * WORDS, flops_per_token(model, WORDS)
        del model
        rows = torch_steps.measure(f"{name}_tokens", options.ways, options.rounds, options.threads)
        for row in rows.values():
            if "ms" in row:
                row["tokens_per_second"] = tokens / row["ms"] * 1e3
                row["mfu"] = row["tokens_per_second"] * per_token / (peak * 1e9)
        found[name] = {"tokens": tokens, "flops_per_token": per_token, "peak_gflops": peak, "ways": rows}
        print(torch_steps.line(name, rows, options.ways) + "  " +
              ", ".join(f"{way} {row['tokens_per_second']:.0f} tokens/s, {row['mfu']:.0%} MFU" for way, row in rows.items() if "mfu" in row), flush=True)
    return found


def page_style() -> str:
    """The style that all pages share (runtime/base/PageStyle.h)."""
    with open(os.path.join(ROOT, "runtime", "base", "PageStyle.h"), encoding="utf-8") as file:
        found = re.search(r'kPageStyle\[\] = R"page\((.*?)\)page"', file.read(), re.S)
    if not found:
        raise ValueError("runtime/base/PageStyle.h has no kPageStyle")
    return found[1]


COLOURS = {"lazy": "#3f7fbf", "openxla": "#d08a3c", "eager": "#8f8f8f", "inductor": "#8a6fc2", "seed": "#4f9d69"}


def bars(rows: list[tuple[str, dict[str, float | None]]], unit: str) -> str:
    """A plot as SVG: a group of bars per row, one per key, with their values."""
    most = max((value for _, group in rows for value in group.values() if value), default=1.0)
    left, width, high, y, out = 190, 480, 13, 8, []
    for name, group in rows:
        out.append(f'<text x="{left - 8}" y="{y + high}" text-anchor="end">{html.escape(name)}</text>')
        for key, value in group.items():
            if value is None:
                out.append(f'<text x="{left + 4}" y="{y + 10}">{html.escape(key)}: not measured or failed</text>')
            else:
                out.append(f'<rect x="{left}" y="{y}" width="{max(1.0, value / most * width):.1f}" height="{high - 3}" fill="{COLOURS.get(key, "#3f7fbf")}"/>'
                           f'<text x="{left + value / most * width + 5:.1f}" y="{y + 10}">{html.escape(key)} {value:.3g} {unit}</text>')
            y += high
        y += 7
    return f'<svg viewBox="0 0 860 {y}" width="860" height="{y}" role="img">{"".join(out)}</svg>'


def _ms(rows: dict[str, Any], way: str) -> float | None:
    return rows.get(way, {}).get("ms")


def table(columns: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f'<td class="{"n" if k else ""}">{html.escape(cell)}</td>' for k, cell in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def dynamo_part(found: dict[str, Any]) -> str:
    out = ["<h2>torch.compile against lazy tensors: ten models</h2><p>The guide prints the quotient of lazy's time and that of "
           "<code>backend=\"openxla\"</code>, of single steps that are waited for, on a TPU v4-8. There a model's execution takes a fraction of a "
           "millisecond and the time of tracing shows; on a processor it takes longer, so that quotients near 1 are no loss. Only the quotient can be "
           "compared, and only in this way. Times below are of steps that do not wait for each other.</p>"]
    for kind, seed in (("inference", SEED_INFERENCE), ("training", SEED_TRAINING)):
        ratios: dict[str, float | None] = {}
        rows = []
        for name, measured in found[kind].items():
            lazy, dynamo = _ms(measured, "lazy"), _ms(measured, "openxla")
            ratios[name] = lazy / dynamo if lazy and dynamo else None
            rows.append([name, *(f"{ms:.2f}" if (ms := _ms(measured, way)) else measured.get(way, {}).get("error", "")[:60] for way in torch_steps.WAYS),
                         f"{ratios[name]:.2f}" if ratios[name] else "", f"{seed[name]:.2f}"])
        both = [name for name, ratio in ratios.items() if ratio]
        rows.append(["geometric mean", "", "", "", "", f"{geometric_mean([ratios[name] or 1 for name in both]):.2f}", f"{geometric_mean([seed[name] for name in both]):.2f}"])
        out.append(f"<h3>{kind.capitalize()}: milliseconds per step</h3>" +
                   table(["model", *(f"{way}, ms" for way in torch_steps.WAYS), "lazy / openxla here", "on the TPU (seed)"], rows) +
                   bars([(name, {way: _ms(measured, way) for way in torch_steps.WAYS if way in measured}) for name, measured in found[kind].items()], "ms"))
    return "".join(out)


def data_parallel_part(found: dict[str, Any]) -> str:
    rates = found["images_per_second"]
    rows = []
    for way, measured in rates.items():
        counts = sorted(measured, key=int)
        one, many = measured[counts[0]], measured[counts[-1]]
        seed = f"{SEED_IMAGES[way]:.0f}" if way in SEED_IMAGES else ""
        rows.append([way, f"{one:.1f}", f"{many:.1f}", f"{many / one / int(counts[-1]):.0%}", seed])
    quotient = 1 - list(rates["xla_ddp"].values())[-1] / list(rates["xla_step"].values())[-1]
    return (f"<h2>Data parallelism</h2><p>ResNet-18 on fake images of {found['image']} x {found['image']}, {found['batch']} per process, a thread each. The seed's "
            "figures are of ResNet-50 on eight TPU v3 cores: rates cannot be compared. The loss by the wrapper DistributedDataParallel can: the seed has "
            f"{1 - 395.97 / 418.54:.1%}, here it is {quotient:.1%}. Processes share the processor's memory and turbo, so that efficiency below 100 % is no "
            "loss in communication alone.</p>" +
            table(["way", "1 process, images/s", f"{max(map(int, rates['xla_ddp']))} processes, images/s", "efficiency", "seed, images/s (TPU v3-8, ResNet-50)"], rows) +
            bars([(way, dict(zip((f"{count} processes" for count in measured), measured.values()))) for way, measured in rates.items()], "images/s"))


def language_part(found: dict[str, Any]) -> str:
    rows = []
    for name, of in found.items():
        for way, row in of["ways"].items():
            rows.append([f"{name}, {way}", f"{row['ms']:.1f}" if "ms" in row else row.get("error", "")[:60],
                         *((f"{row['tokens_per_second']:.0f}", f"{row['mfu']:.1%}") if "mfu" in row else ("", ""))])
    first = next(iter(found.values()))
    return (f"<h2>Language models: tokens per second and MFU</h2><p>Training steps of float32, {first['tokens']} tokens each. Utilization is of "
            f"{first['peak_gflops']:.0f} GFLOP/s, the multiply-adds in registers that this machine reaches now (benchmarks/probe.cpp). The seeds have {SEED_MFU}: "
            "a share of another machine's peak, in bfloat16, with batches that are larger by orders of magnitude.</p>" +
            table(["model", "ms per step", "tokens/s", "MFU"], rows) +
            bars([(name, {way: row.get("tokens_per_second") for way, row in of["ways"].items()}) for name, of in found.items()], "tokens/s"))


def about_line(about: dict[str, Any]) -> str:
    """What a part was measured on and with, without markup."""
    return (f"{about['date']}, {about['processor']}, {about['threads']} threads, torch {about['torch']}, build {about['build']}, median of "
            f"{about['rounds']} turns, load at the end {about['load']:.1f}.")


def page(results: dict[str, Any]) -> str:
    """The page of the parts that `results` has; results["about"] has an entry per part."""
    makers = {"dynamo": dynamo_part, "data_parallel": data_parallel_part, "language": language_part}
    quick = any(about["quick"] for about in results["about"].values())
    warning = "<p class=\"warning\">--quick: small sizes, one round. These figures show that it works, and nothing else.</p>" if quick else ""
    parts = [make(results[name]) + f'<p class="faint">{html.escape(about_line(results["about"][name]))}</p>' for name, make in makers.items() if name in results]
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>The seeds' tables</title><style>{page_style()}</style></head><body><h1>The seeds' tables, measured here</h1>{warning}"
            "<p class=\"faint\"><code>python -m benchmarks.seeds</code> writes this page.</p>" + "".join(parts) + "</body></html>\n")


def with_earlier_parts(results: dict[str, Any], path: str) -> dict[str, Any]:
    """`results` and the parts that only the file at `path` has; sizes of --quick are not mixed with whole ones."""
    if not os.path.exists(path):
        return results
    with open(path, encoding="utf-8") as file:
        earlier = json.load(file)
    quick = {about["quick"] for about in results["about"].values()}
    kept = [part for part, about in earlier["about"].items() if part not in results and {about["quick"]} == quick]
    return {**{part: earlier[part] for part in kept}, **results, "about": {**{part: earlier["about"][part] for part in kept}, **results["about"]}}


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return re.search(r"model name\s*: (.*)", file.read())[1]  # type: ignore[index]
    except (OSError, TypeError):
        return platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", help="the folder for seeds.json and seeds.html")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--models", type=lambda text: text.split(","), help="of the ten")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=None, help=", ".join(torch_steps.WAYS))
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--page", metavar="FILE.json", help="measure nothing: make seeds.html of what was measured before")
    options = parser.parse_args()
    if options.page:
        with open(options.page, encoding="utf-8") as file:
            text = page(json.load(file))
        with open(os.path.join(os.path.dirname(options.page) or ".", "seeds.html"), "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    from benchmarks.seed_programs import TEN
    chosen = options.parts.split(",")
    unknown = [part for part in chosen if part not in PARTS] + [name for name in options.models or [] if name not in TEN]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; parts are {', '.join(PARTS)}, models {', '.join(TEN)}")
    if options.quick:
        # Set before a child imports seed_programs; a model of 32 x 32 images and two layers compiles in seconds.
        os.environ.update(MILLRACE_SEEDS_IMAGE="64", MILLRACE_SEEDS_WORDS="16", MILLRACE_SEEDS_LAYERS="2")
        import importlib

        from benchmarks import seed_programs
        importlib.reload(seed_programs)
        options.models = options.models or ["resnet18", "BERT_pytorch"]
    options.rounds = options.rounds or (1 if options.quick else 7)
    options.ways = options.ways or (["lazy", "openxla", "eager"] if options.quick else list(torch_steps.WAYS))
    measures = {"dynamo": measure_dynamo, "data_parallel": measure_data_parallel, "language": measure_language}
    import torch
    results: dict[str, Any] = {"about": {}}
    for part in chosen:
        results[part] = measures[part](options)
        results["about"][part] = {"quick": options.quick, "threads": options.threads, "rounds": options.rounds, "torch": torch.__version__,
                                  "processor": processor(), "date": time.strftime("%Y-%m-%d"), "build": os.environ.get("MILLRACE_BUILD", "build"),
                                  "load": os.getloadavg()[0]}
    if options.results:
        os.makedirs(options.results, exist_ok=True)
        results = with_earlier_parts(results, os.path.join(options.results, "seeds.json"))
        for name, text in (("seeds.json", json.dumps(results, indent=1) + "\n"), ("seeds.html", page(results))):
            with open(os.path.join(options.results, name), "w", encoding="utf-8") as file:
                file.write(text)
    failures = [f"{name} {kind} {way}: {row['error']}" for kind, models in results.get("dynamo", {}).items() for name, rows in models.items()
                for way, row in rows.items() if "error" in row and way != "inductor"]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
