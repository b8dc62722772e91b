# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A language model behind OpenAI's HTTP interface, on the loopback address: continuous batching on device xla, keys and values in pages.

    python3 examples/llm_server.py --port 8000                       a tiny Llama with random weights, whose tokens are bytes
    python3 examples/llm_server.py --model FOLDER --dtype bfloat16   a folder of transformers' save_pretrained(); bytes without a tokenizer
    curl 127.0.0.1:8000/v1/completions -d '{"prompt": "Once", "max_tokens": 16, "stream": true}'

POST /v1/completions and /v1/chat/completions (also with "stream": true), GET /v1/models, /metrics (OpenMetrics) and /health. A client that goes
away ends its request. SIGTERM and SIGINT end the server when what it has begun is done, at most --grace seconds later.
"""
import argparse
import asyncio
import bisect
import codecs
import contextlib
import json
import os
import signal
import sys
import time
import traceback
import uuid

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import torchvision_schemas  # noqa: E402

torchvision_schemas.load()  # transformers imports it
import transformers  # noqa: E402
from torch_xla.experimental.serving import Engine, Request  # noqa: E402

MAX_HEAD = 16384  # bytes of a request's first line and headers
TEXTS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 413: "Content Too Large",
         429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error", 503: "Service Unavailable"}


class ByteTokenizer:
    """Tokens are bytes, after three for the padding, the beginning and the end."""
    pad, begin, end, vocabulary = 0, 1, 2, 259

    def encode(self, text):
        return [self.begin, *(byte + 3 for byte in text.encode())]

    def chat(self, messages):
        return self.encode("".join(f"{message['role']}: {message['content']}\n" for message in messages) + "assistant: ")

    def stream(self):
        """A function from a token to the text that it completes; None: the rest."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def text(token):
            if token is None or token >= self.vocabulary:  # of a model that has more tokens
                return decoder.decode(b"", True) + ("" if token is None else f"<{token}>")
            return decoder.decode(bytes([token - 3]) if token >= 3 else b"")
        return text


class ModelTokenizer:
    """The tokenizer that a model's folder has."""

    def __init__(self, folder):
        self.of = transformers.AutoTokenizer.from_pretrained(folder)
        self.end = self.of.eos_token_id

    def encode(self, text):
        return self.of(text)["input_ids"]

    def chat(self, messages):
        return self.of.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"]

    def stream(self):
        tokens, shown = [], ""

        def text(token):
            nonlocal shown
            tokens.extend([] if token is None else [token])
            now = self.of.decode(tokens, skip_special_tokens=True)
            if token is not None and now.endswith("\N{REPLACEMENT CHARACTER}"):
                return ""  # a character whose bytes are not all there
            new, shown = now[len(shown):], now
            return new
        return text


class Histogram:
    """Counts of seconds by size."""
    bounds = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

    def __init__(self, name, text):
        self.name, self.text, self.counts, self.total = name, text, [0] * (len(self.bounds) + 1), 0.0

    def add(self, seconds):
        self.counts[bisect.bisect_left(self.bounds, seconds)] += 1
        self.total += seconds

    def lines(self):
        yield f"# TYPE {self.name} histogram\n# UNIT {self.name} seconds\n# HELP {self.name} {self.text}"
        count = 0
        for bound, more in zip((*self.bounds, "+Inf"), self.counts):
            count += more
            yield f'{self.name}_bucket{{le="{bound}"}} {count}'
        yield f"{self.name}_count {count}\n{self.name}_sum {self.total:.9g}"


class Refused(Exception):
    """An answer other than 200."""

    def __init__(self, status, message, **headers):
        super().__init__(message)
        self.status, self.headers = status, headers


def get(body, name, kind, default, low=None, high=None):
    """A field of a request's JSON."""
    value = body.get(name)
    if value is None:
        return default
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Refused(400, f"expects {name!r} of type {kind.__name__}, but got {type(value).__name__}")
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise Refused(400, f"expects {name!r} {f'from {low} to {high}' if high is not None else f'of at least {low}'}, but got {value}")
    return value


class Server:
    """The HTTP side of an engine."""

    def __init__(self, engine, tokenizer, name, max_body=1 << 20, default_tokens=16, read_s=10.0):
        self.engine, self.tokenizer, self.name = engine, tokenizer, name
        self.max_body, self.default_tokens, self.read_s = max_body, default_tokens, read_s
        self.first = Histogram("llm_time_to_first_token_seconds", "From the arrival of a request to its first token.")
        self.each = Histogram("llm_time_per_output_token_seconds", "Of the tokens after the first, the mean of a request.")
        self.ended = dict.fromkeys(("length", "stop", "cancelled", "error", "refused"), 0)
        self.open = set()

    async def start(self, port):
        self.loop = asyncio.get_running_loop()
        self.server = await asyncio.start_server(self.connection, "127.0.0.1", port, limit=MAX_HEAD)
        self.engine.start()
        return self.server.sockets[0].getsockname()[1]

    async def stop(self, grace_s):
        """No new connections; what has begun may end."""
        self.server.close()
        await asyncio.to_thread(self.engine.stop, grace_s)
        if self.open:
            await asyncio.wait(self.open, timeout=5)

    async def connection(self, reader, writer):
        task = asyncio.current_task()
        self.open.add(task)
        try:
            await self.answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            self.open.discard(task)
            writer.close()

    async def read(self, reader, writer):
        """(method, path, body) of a request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.LimitOverrunError:
            raise Refused(431, f"expects a head of at most {MAX_HEAD} bytes") from None
        line, *fields = head.split("\r\n")
        words = line.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise Refused(400, "expects a request line of HTTP/1.1")
        headers = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields if field)}
        if "transfer-encoding" in headers:
            raise Refused(400, "expects a Content-Length, not a Transfer-Encoding")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise Refused(400, f"expects a number as Content-Length, but got {length!r}")
        if len(length) > 18 or int(length) > self.max_body:
            raise Refused(413, f"expects a body of at most {self.max_body} bytes, but got {length}")
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return words[0], words[1].split("?")[0], await reader.readexactly(int(length))

    async def answer(self, reader, writer):
        try:
            try:
                method, path, data = await asyncio.wait_for(self.read(reader, writer), self.read_s)
            except asyncio.TimeoutError:
                raise Refused(408, f"expects a request within {self.read_s} seconds") from None
            routes = {"/v1/completions": "POST", "/v1/chat/completions": "POST", "/v1/models": "GET", "/metrics": "GET", "/health": "GET"}
            if path not in routes:
                raise Refused(404, f"no {path}: there are {', '.join(routes)}")
            if method != routes[path]:
                raise Refused(405, f"expects {routes[path]} for {path}, but got {method}", Allow=routes[path])
            if path == "/metrics":
                await self.send(writer, 200, self.metrics(), "application/openmetrics-text; version=1.0.0; charset=utf-8")
            elif path == "/v1/models":
                await self.send(writer, 200, {"object": "list", "data": [{"id": self.name, "object": "model", "created": 0, "owned_by": "local"}]})
            elif path == "/health":
                await self.send(writer, 200, {"status": "ok"})
            else:
                await self.complete(reader, writer, self.parse(data), path.endswith("chat/completions"))
        except (ConnectionError, asyncio.IncompleteReadError):
            raise
        except Exception as error:
            if not isinstance(error, Refused):
                traceback.print_exc()
            refused = error if isinstance(error, Refused) else Refused(500, f"{type(error).__name__}: {error}")
            self.ended["refused"] += 1
            kind = "invalid_request_error" if refused.status < 500 and refused.status != 429 else "server_error"
            await self.send(writer, refused.status, {"error": {"message": str(refused), "type": kind, "code": refused.status}}, **refused.headers)
            with contextlib.suppress(asyncio.TimeoutError):  # a connection that is closed before all is read is reset, and the answer lost
                await asyncio.wait_for(self.discard(reader), 1.0)

    async def discard(self, reader):
        while await reader.read(1 << 16):
            pass

    def parse(self, data):
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"the body is no JSON: {error}") from None
        if not isinstance(body, dict):
            raise Refused(400, f"expects an object as body, but got {type(body).__name__}")
        return body

    def prompt(self, body, is_chat):
        if not is_chat:
            prompt = body.get("prompt")
            if isinstance(prompt, list) and prompt and all(isinstance(token, int) and not isinstance(token, bool) for token in prompt):
                return prompt
            if not isinstance(prompt, str):
                raise Refused(400, "expects 'prompt', a text or a list of ids")
            return self.tokenizer.encode(prompt)
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(
                isinstance(message, dict) and isinstance(message.get("role"), str) and isinstance(message.get("content"), str) for message in messages):
            raise Refused(400, "expects 'messages', a list of objects with the texts 'role' and 'content'")
        return self.tokenizer.chat(messages)

    async def complete(self, reader, writer, body, is_chat):
        """Answers with what the model adds; see OpenAI's reference for the fields."""
        if (name := body.get("model", self.name)) != self.name:
            raise Refused(404, f"no model {name!r}: there is {self.name}")
        if get(body, "n", int, 1) != 1:
            raise Refused(400, "expects 'n' to be 1")
        stream, events = get(body, "stream", bool, False), asyncio.Queue()
        stops = body.get("stop") or []
        stops = [stops] if isinstance(stops, str) else stops
        if not isinstance(stops, list) or len(stops) > 4 or not all(isinstance(stop, str) and stop for stop in stops):
            raise Refused(400, "expects 'stop', a text or a list of at most 4 texts")
        try:
            prompt = self.prompt(body, is_chat)
        except Refused:
            raise
        except Exception as error:  # of a tokenizer or of a model's template
            raise Refused(400, f"the prompt has no tokens: {type(error).__name__}: {error}") from None
        limit = get(body, "max_completion_tokens", int, get(body, "max_tokens", int, self.default_tokens, 1), 1)
        request = Request(
            prompt, limit, get(body, "temperature", float, 1.0, 0.0, 2.0), get(body, "top_k", int, 0, 0), get(body, "top_p", float, 1.0, 0.0, 1.0),
            get(body, "seed", int, uuid.uuid4().int & (1 << 63) - 1, 0, (1 << 63) - 1),
            frozenset() if body.get("ignore_eos") else frozenset([self.tokenizer.end]),
            on_token=lambda token: self.loop.call_soon_threadsafe(events.put_nowait, token))
        try:
            self.engine.submit(request)
        except ValueError as error:
            raise Refused(400, str(error)) from None
        except OverflowError as error:
            raise Refused(429, str(error), **{"Retry-After": "1"}) from None
        except RuntimeError as error:
            raise Refused(503, str(error)) from None
        gone = asyncio.ensure_future(reader.read(1))  # nothing more comes but the end of the connection
        try:
            await self.deliver(writer, request, events, gone, stops, stream, is_chat)
        finally:
            gone.cancel()
            self.engine.cancel(request)
            while request.reason is None:
                await events.get()
            self.count(request)

    async def deliver(self, writer, request, events, gone, stops, stream, is_chat):
        kind = "chat.completion" if is_chat else "text_completion"
        head = {"id": f"cmpl-{uuid.uuid4().hex}", "object": kind + (".chunk" if is_chat and stream else ""), "created": int(time.time()), "model": self.name}

        def choice(text, reason):
            content = {"delta" if stream else "message": {"role": "assistant", "content": text}} if is_chat else {"text": text}
            return {**head, "choices": [{"index": 0, **content, "logprobs": None, "finish_reason": reason}]}
        if stream:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n")
        piece, text, sent, reason = self.tokenizer.stream(), "", 0, None
        longest = max(map(len, stops), default=1) - 1  # so much may be the beginning of a stop
        while reason is None:
            waiting = asyncio.ensure_future(events.get())
            await asyncio.wait((waiting, gone), return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not waiting.done():
                waiting.cancel()
                raise ConnectionResetError
            token = waiting.result()
            text += "" if token in request.stop_ids else piece(token)
            found = [place for stop in stops if (place := text.find(stop, max(0, sent - longest))) >= 0]
            if found:
                text, reason = text[:min(found)], "stop"
            elif token is None:
                reason = request.reason
            ready = len(text) if reason else max(sent, len(text) - longest)
            if stream and ready > sent:
                writer.write(f"data: {json.dumps(choice(text[sent:ready], None))}\n\n".encode())
                await writer.drain()
            sent = ready
        if reason in ("error", "cancelled") and not stream:
            raise Refused(503, "the server is stopping" if reason == "cancelled" else "the engine failed")
        usage = {"prompt_tokens": len(request.prompt), "completion_tokens": len(request.generated), "total_tokens": request.length,
                 "prompt_tokens_details": {"cached_tokens": request.shared}}
        if stream:
            writer.write(f"data: {json.dumps({**choice('', reason), 'usage': usage})}\n\ndata: [DONE]\n\n".encode())
            await writer.drain()
        else:
            await self.send(writer, 200, {**choice(text, reason), "usage": usage})

    def count(self, request):
        self.ended[request.reason] += 1
        if request.first_s is not None:
            self.first.add(request.first_s - request.arrived_s)
            if len(request.generated) > 1:
                self.each.add((request.last_s - request.first_s) / (len(request.generated) - 1))

    def metrics(self):
        engine = self.engine
        lines = [*self.first.lines(), *self.each.lines(), "# TYPE llm_requests counter"]
        lines += [f'llm_requests_total{{end="{end}"}} {count}' for end, count in self.ended.items()]
        for name, value in (("steps", engine.steps), ("prompt_tokens", engine.prompt_tokens), ("shared_tokens", engine.shared_tokens),
                            ("generated_tokens", engine.generated_tokens), ("preemptions", engine.preemptions)):
            lines += [f"# TYPE llm_{name} counter", f"llm_{name}_total {value}"]
        for name, value in (("pages_used", engine.pool.used), ("most_pages_used", engine.most_pages), ("pages", engine.pool.pages - 1), ("queue", engine.waiting), ("running", engine.running),
                            ("step_sizes", len(engine.sizes))):
            lines += [f"# TYPE llm_{name} gauge", f"llm_{name} {value}"]
        return "\n".join([*lines, "# EOF", ""])

    async def send(self, writer, status, body, kind="application/json", **headers):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        fields = {"Content-Type": kind, "Content-Length": len(data), "Connection": "close", **headers}
        writer.write(f"HTTP/1.1 {status} {TEXTS[status]}\r\n".encode() + "".join(f"{k}: {v}\r\n" for k, v in fields.items()).encode() + b"\r\n" + data)
        await writer.drain()


def tiny_model(seed=0):
    """A Llama for trying and for tests, whose weights are random."""
    torch.manual_seed(seed)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=ByteTokenizer.vocabulary, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=1024, bos_token_id=ByteTokenizer.begin, eos_token_id=ByteTokenizer.end, pad_token_id=ByteTokenizer.pad))


async def serve(server, port, grace_s):
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    print(f"serving {server.name} on http://127.0.0.1:{await server.start(port)}", flush=True)
    await stop.wait()
    print("stopping", flush=True)
    await server.stop(grace_s)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="FOLDER", help="of a model and its tokenizer; by default a tiny one with random weights")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--device", default="xla")
    parser.add_argument("--port", type=int, default=8000, help="0: a free one, which the first line says")
    parser.add_argument("--pages", type=int, default=257, help="of 16 tokens")
    parser.add_argument("--running", type=int, default=32, help="requests in one step at most")
    parser.add_argument("--waiting", type=int, default=64, help="requests that wait at most; more are refused (429)")
    parser.add_argument("--prefill", type=int, default=64, help="tokens of prompts in one step at most")
    parser.add_argument("--max-body", type=int, default=1 << 20, metavar="BYTES", help="of a request; larger ones are refused (413)")
    parser.add_argument("--grace", type=float, default=10.0, metavar="SECONDS", help="that requests may take when the server ends")
    options = parser.parse_args()
    if options.model:
        model = transformers.AutoModelForCausalLM.from_pretrained(options.model, dtype=getattr(torch, options.dtype))
        has_tokenizer = any(os.path.exists(os.path.join(options.model, file)) for file in ("tokenizer.json", "tokenizer.model", "tokenizer_config.json"))
        tokenizer, name = ModelTokenizer(options.model) if has_tokenizer else ByteTokenizer(), os.path.basename(os.path.normpath(options.model))
    else:
        model, tokenizer, name = tiny_model().to(getattr(torch, options.dtype)), ByteTokenizer(), "tiny-llama"
    engine = Engine(model, options.device, options.pages, max_running=options.running, prefill_tokens=options.prefill, max_waiting=options.waiting)
    asyncio.run(serve(Server(engine, tokenizer, name, options.max_body), options.port, options.grace))


if __name__ == "__main__":
    main()
