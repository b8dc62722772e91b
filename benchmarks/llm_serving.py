# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serving of a language model: many clients at once, examples/llm_server.py beside llama.cpp's server (the package xllamacpp).

    PYTHONPATH=python:. python -m benchmarks.llm_serving [--model qwen-0.5b] [--precision f32|bf16] [--clients 32] [--quick] [--peers millrace,llama_cpp] [--markdown FILE]

All clients send one request each at once: prompts of random ids, 16 to 512 tokens to generate; the same requests, weights and threads for both servers,
one server after the other, each warmed up by the same load. Both answer token by token. TTFT: from the request to its first token; TPOT: the mean time of a request's later
tokens. --quick: a model of two layers and shorter texts."""
import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks import llm, llm_models
from benchmarks.llm_models import SHAPES

PEERS = ("millrace", "llama_cpp")
CONTEXT = 1024


def requests(shape: llm_models.Shape, clients: int, longest_prompt: int, longest: int) -> list[dict[str, Any]]:
    """Bodies of requests; a third of them begin with the same 64 tokens."""
    numbers = random.Random(7)
    common = [numbers.randrange(3, shape.vocabulary) for _ in range(64)]
    bodies = []
    for number in range(clients):
        prompt = [numbers.randrange(3, shape.vocabulary) for _ in range(numbers.randint(16, longest_prompt))]
        bodies.append({"prompt": (common if number % 3 == 0 else []) + prompt, "max_tokens": numbers.choice([n for n in (16, 32, 64, 128, 256, 512) if n <= longest]),
                       "temperature": 0, "ignore_eos": True, "stream": True})
    return bodies


async def one(port: int, body: dict[str, Any]) -> dict[str, Any]:
    """Times of one request, and its tokens as far as the server counts them."""
    data, start = json.dumps(body).encode(), time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
    first, last, tokens, status = None, start, 0, int((await reader.readline()).split()[1])
    while (line := await reader.readline()) and line.strip() != b"data: [DONE]":
        if line.startswith(b"data: "):
            answer = json.loads(line[6:])
            first, last = first or time.perf_counter(), time.perf_counter()
            tokens = (answer.get("usage") or {}).get("completion_tokens", tokens)
    writer.close()
    return {"status": status, "tokens": tokens, "want": body["max_tokens"], "first_s": (first or last) - start, "each_s": (last - (first or last)) / max(1, tokens - 1)}


async def load(port: int, bodies: list[dict[str, Any]]) -> tuple[float, list[dict[str, Any]]]:
    start = time.perf_counter()
    results = await asyncio.gather(*(one(port, body) for body in bodies))
    return time.perf_counter() - start, results


def quantile(values: list[float], share: float) -> float:
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def llama_cpp_server(path: str, threads: int, clients: int) -> None:
    """In a process of its own: serves until its standard input ends."""
    import xllamacpp
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    parameters = llm.llama_cpp_parameters(path, threads, clients, clients * CONTEXT)
    parameters.cache_prompt = True
    server = xllamacpp.Server(parameters)
    print(f"serving on {server.listening_address}", file=out, flush=True)
    sys.stdin.read()
    os._exit(0)


def start(peer: str, folder: str, options: argparse.Namespace) -> tuple[subprocess.Popen[str], int]:
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), os.path.join(llm.ROOT, "python"), llm.ROOT]))
    if peer == "millrace":
        pages = 1 + options.clients * CONTEXT // 16 // 2  # half of what the clients could need at most
        command = [os.path.join(llm.ROOT, "examples/llm_server.py"), f"--model={folder}/hf", "--port=0", f"--pages={pages}", f"--running={options.clients}",
                   f"--waiting={2 * options.clients}", f"--dtype={'bfloat16' if options.precision == 'bf16' else 'float32'}"]
    else:
        command = ["-m", "benchmarks.llm_serving", "--llama-cpp-server", f"{folder}/model.gguf", f"--threads={options.threads}", f"--clients={options.clients}"]
    process = subprocess.Popen([sys.executable, *command], env=environment, cwd=llm.ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=None if os.environ.get("MILLRACE_BENCH_STDERR") else subprocess.DEVNULL)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
    if not found:
        raise RuntimeError(f"{peer}: the server did not start: {line!r}")
    return process, int(found[1])


def measure(peer: str, folder: str, bodies: list[dict[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    begun = time.perf_counter()
    process, port = start(peer, folder, options)
    started_s = time.perf_counter() - begun
    try:
        begun = time.perf_counter()
        asyncio.run(load(port, [{**body, "prompt": body["prompt"][::-1]} for body in bodies]))  # programs are compiled here; other tokens
        warm_s = time.perf_counter() - begun
        seconds, results = asyncio.run(load(port, bodies))
        with open(f"/proc/{process.pid}/status") as file:
            peak = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024  # type: ignore[index]
        firsts, each = [r["first_s"] for r in results], [r["each_s"] for r in results]
        row = {"peer": peer, "start_s": started_s, "warm_s": warm_s, "seconds": seconds, "requests_s": len(bodies) / seconds,
               "tokens_s": sum(r["tokens"] for r in results) / seconds, "lost": sum(r["status"] != 200 or r["tokens"] != r["want"] for r in results),
               "ttft_s": [quantile(firsts, share) for share in (0.5, 0.95, 0.99)], "tpot_s": [quantile(each, share) for share in (0.5, 0.95, 0.99)], "peak_mb": peak}
        if peer == "millrace":
            row["metrics"] = asyncio.run(fetch(port))
        return row
    finally:
        if peer == "millrace":
            process.terminate()
        process.communicate()


async def fetch(port: int) -> dict[str, float]:
    """Gauges and counters of our server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    text = (await reader.read()).decode()
    writer.close()
    return {name: float(value) for name, value in re.findall(r"^(llm_(?:most_pages_used|pages|step_sizes|preemptions_total|shared_tokens_total)) (\S+)$", text, re.M)}


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| server | requests/s | tokens/s | TTFT 50 / 95 / 99 %, s | TPOT 50 / 95 / 99 %, ms | lost | peak MB | first load, s |", "|---|" + "---:|" * 7]
    for row in rows:
        if "absent" in row:
            lines.append(f"| {row['peer']} | - ({row['absent']}) |" + " |" * 6)
            continue
        ttft, tpot = " / ".join(f"{s:.2f}" for s in row["ttft_s"]), " / ".join(f"{s * 1e3:.1f}" for s in row["tpot_s"])
        lines.append(f"| {row['peer']} | {row['requests_s']:.2f} | {row['tokens_s']:.0f} | {ttft} | {tpot} | {row['lost']} | {row['peak_mb']:.0f} | {row['warm_s']:.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="qwen-0.5b", choices=SHAPES)
    parser.add_argument("--precision", default="f32", choices=("f32", "bf16"))
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", metavar="FILE", help="also write the table there")
    parser.add_argument("--llama-cpp-server", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.llama_cpp_server:
        llama_cpp_server(options.llama_cpp_server, options.threads, options.clients)
    shape = SHAPES[options.model].reduced() if options.quick else SHAPES[options.model]
    bodies = requests(shape, options.clients, 128 if options.quick else 384, 128 if options.quick else 512)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = llm_models.make(shape, CONTEXT)
        for peer in options.peers.split(","):
            if peer == "millrace":
                model.save_pretrained(f"{folder}/hf")
            else:
                try:
                    import gguf  # noqa: F401
                    import xllamacpp  # noqa: F401
                except ImportError as error:
                    rows.append({"peer": peer, "absent": f"{error.name} is not installed"})
                    continue
                llm_models.write_gguf(model, shape, options.precision, f"{folder}/model.gguf")
            rows.append(measure(peer, folder, bodies, options))
            print(f"llm_serving: {json.dumps(rows[-1])}", file=sys.stderr, flush=True)
    text = table(rows)
    print(text)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(text)
    if any(row.get("lost") for row in rows if row["peer"] == "millrace"):
        sys.exit("llm_serving: requests were lost")


if __name__ == "__main__":
    main()
