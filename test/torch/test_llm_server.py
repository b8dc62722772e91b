# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Continuous batching: torch_xla.experimental.serving by itself, and examples/llm_server.py by HTTP."""
import concurrent.futures
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from language_models import model, prompts  # noqa: E402
from paths import PYTHONPATH, ROOT  # noqa: E402
import torch_xla.debug.metrics as met  # noqa: E402
from torch_xla.experimental.serving import Engine, PagePool, Request, sample  # noqa: E402

EVERY_REQUEST = dict(temperature=0, ignore_eos=True)


#===-- pages ---------------------------------------------------------------===


def test_pages_are_shared_by_their_tokens():
    pool = PagePool(4, 2)
    first, second = pool.allocate(), pool.allocate()
    names = [pool.digest(b"", [5, 6]), pool.digest(pool.digest(b"", [5, 6]), [7, 8])]
    assert pool.share(names) == []
    pool.publish(first, names[0])
    pool.publish(second, names[1])
    assert pool.share(names) == [first, second] and pool.used == 2
    assert pool.digest(b"", [7, 8]) != names[1], "the name of a page depends on what is before it"
    pool.release([first, second])
    pool.release([first, second])
    assert pool.used == 0 and pool.share(names[:1]) == [first], "a released page is known until its memory is needed"
    assert 0 not in [pool.allocate() for _ in range(2)] and pool.free == 0
    assert pool.share(names) == [first]
    with pytest.raises(MemoryError):
        pool.allocate()
    with pytest.raises(ValueError, match="not in use"):
        pool.release([0])


def test_a_page_whose_memory_is_taken_is_forgotten():
    pool = PagePool(2, 2)
    page, name = pool.allocate(), pool.digest(b"", [1, 2])
    pool.publish(page, name)
    pool.release([page])
    assert pool.allocate() == page
    assert pool.share([name]) == []


#===-- the engine ----------------------------------------------------------===


class Recording(Engine):
    """Keeps the logits after which each token was chosen."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.logits = {}

    def _compute(self, plan):
        logits = super()._compute(plan)
        for row, (request, count) in enumerate(plan):
            if request.computed + count == request.length:
                self.logits.setdefault(request, []).append(logits[row].clone())
        return logits

    def of(self, requests):
        self.run(requests)
        return [torch.stack(self.logits[request]) for request in requests]


@pytest.mark.parametrize("kind, more", [("Llama", {}), ("Qwen2", {}), ("Gemma3", dict(head_dim=16, sliding_window=32,
                                                                                     layer_types=["sliding_attention", "full_attention"]))])
def test_tokens_are_those_of_generate(kind, more, no_fallback):
    reference, given = model(kind, **more), prompts(6, 90)
    wants = [reference.generate(torch.tensor([p]), attention_mask=torch.ones(1, len(p), dtype=torch.long), max_new_tokens=12, do_sample=False)[0, len(p):].tolist()
             for p in given]
    engine = Engine(model(kind, **more), pages=65, max_running=8)
    assert engine.run(Request(p, max_tokens=12) for p in given) == wants
    assert engine.pool.used == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bits_do_not_depend_on_the_batch(dtype):
    """Alone, among others, with shared beginnings, and after its pages were taken from it and given back."""
    given = prompts(10, 120, seed=3)
    given += [given[-1] + [9, 8, 7], given[-1][:], given[0] * 3]
    alone = Recording(model().to(dtype), pages=129)
    wants = [alone.of([Request(p, max_tokens=24)])[0] for p in given]
    many = Recording(model().to(dtype), pages=129, max_running=32)
    gots = many.of([Request(p, max_tokens=24) for p in given])
    assert all(torch.equal(got, want) for got, want in zip(gots, wants)), [int((g != w).any(-1).sum()) for g, w in zip(gots, wants)]
    assert many.shared_tokens > 0 and many.steps < alone.steps / 4
    few = Recording(model().to(dtype), pages=24, max_running=32)
    gots = few.of([Request(p, max_tokens=24) for p in given])
    assert few.preemptions > 0 and few.most_pages <= 23
    assert all(torch.equal(got, want) for got, want in zip(gots, wants)), [int((g != w).any(-1).sum()) for g, w in zip(gots, wants)]


def test_few_programs():
    engine = Engine(model(), pages=129, max_running=32)
    met.clear_all()
    engine.run(Request(p, max_tokens=8) for p in prompts(40, 200))
    compiled, sizes = met.counter_value("UncachedCompile") or 0, len(engine.sizes)
    assert compiled <= sizes + 2 and sizes <= 12, (compiled, engine.sizes)
    engine.run(Request(p, max_tokens=8) for p in prompts(40, 200, seed=2))
    assert (met.counter_value("UncachedCompile") or 0) - compiled <= len(engine.sizes) - sizes


def test_pages_are_written_in_place():
    """A step's processor time does not depend on the memory that it does not touch: copies of 268 MB would take a tenth of a second."""
    def step_s(pages):
        engine = Engine(model(), pages=pages)
        request = Request([5] * 20, max_tokens=30)
        engine.submit(request)
        times = []
        while request.reason is None:
            before = time.process_time()
            engine.step()
            times.append(time.process_time() - before)
        return min(times)
    assert step_s(32769) < 2 * step_s(65) + 0.02


def test_sampling():
    logits = torch.tensor([0.0, 3.0, 2.0, -1.0])

    def draws(**options):
        request = Request([1], seed=7, **options)
        return [sample(logits, request) for _ in range(200)]
    assert set(draws()) == {1} and set(draws(temperature=1.0, top_k=1)) == {1} and set(draws(temperature=1.0, top_p=0.0)) == {1}
    assert set(draws(temperature=1.0, top_k=2)) == {1, 2} and set(draws(temperature=1.0, top_p=0.9)) == {1, 2}
    assert set(draws(temperature=5.0)) == {0, 1, 2, 3}
    assert draws(temperature=1.0) == draws(temperature=1.0), "one seed, one sequence"


def test_requests_are_checked():
    engine = Engine(model(), pages=9, max_waiting=1)
    for request, message in ((Request([]), "at least one token"), (Request([1], max_tokens=0), "max_tokens"), (Request([300]), "0 to 258"),
                             (Request([1] * 120, max_tokens=9), "at most 128 tokens")):
        with pytest.raises(ValueError, match=message):
            engine.submit(request)
    engine.submit(Request([1]))
    with pytest.raises(OverflowError):
        engine.submit(Request([1]))
    engine.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        engine.submit(Request([1]))


#===-- HTTP ----------------------------------------------------------------===


class Served:
    def __init__(self, *flags):
        self.process = subprocess.Popen([sys.executable, os.path.join(ROOT, "examples/llm_server.py"), "--port=0", *flags], stdout=subprocess.PIPE,
                                        text=True, cwd=ROOT, env=dict(os.environ, PYTHONPATH=PYTHONPATH))
        line = self.process.stdout.readline()
        self.port = int(re.fullmatch(r"serving tiny-llama on http://127.0.0.1:(\d+)\n", line)[1])

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body if isinstance(body, (bytes, type(None))) else json.dumps(body), headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        finally:
            connection.close()

    def post(self, **body):
        status, data, _ = self.ask("POST", "/v1/completions", body)
        assert status == 200, data
        return json.loads(data)

    def metric(self, name):
        text = self.ask("GET", "/metrics")[1].decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)[1])

    def stream(self, body):
        """A socket that has read the answer's head, and a file of the rest."""
        data = json.dumps({**body, "stream": True}).encode()
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=120)
        connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
        file = connection.makefile("rb")
        while file.readline().strip():
            pass
        return connection, file

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        output, _ = self.process.communicate(timeout=60)
        return self.process.returncode, output


@pytest.fixture(scope="module")
def served():
    server = Served("--pages=513", "--waiting=64", "--max-body=20000")
    yield server
    assert server.end() == (0, "stopping\n")


def events(file):
    lines = [line[6:].strip() for line in file if line.startswith(b"data: ")]
    assert lines[-1] == b"[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_answers(served):
    answer = served.post(prompt="Once upon", max_tokens=12, **EVERY_REQUEST)
    assert answer["object"] == "text_completion" and answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["prompt_tokens"] == 10 and answer["usage"]["completion_tokens"] == 12
    assert served.post(prompt=[1, *(byte + 3 for byte in b"Once upon")], max_tokens=12, **EVERY_REQUEST)["choices"] == answer["choices"]
    connection, file = served.stream(dict(prompt="Once upon", max_tokens=12, **EVERY_REQUEST))
    parts = events(file)
    connection.close()
    assert "".join(part["choices"][0]["text"] for part in parts) == answer["choices"][0]["text"]
    assert len(parts) > 3 and parts[-1]["choices"][0]["finish_reason"] == "length" and parts[-1]["usage"] == {
        **answer["usage"], "prompt_tokens_details": parts[-1]["usage"]["prompt_tokens_details"]}
    text = answer["choices"][0]["text"]
    stop = text[len(text) // 2:len(text) // 2 + 2]
    stopped = served.post(prompt="Once upon", max_tokens=12, stop=stop, **EVERY_REQUEST)["choices"][0]
    assert stopped["text"] == text[:text.index(stop)] and stopped["finish_reason"] == "stop"
    seeded = [served.post(prompt="Once", max_tokens=12, seed=seed, ignore_eos=True)["choices"] for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]


def test_chat_and_models(served):
    status, data, _ = served.ask("POST", "/v1/chat/completions", dict(messages=[dict(role="user", content="Hi")], max_tokens=4, **EVERY_REQUEST))
    answer = json.loads(data)
    assert status == 200 and answer["object"] == "chat.completion" and answer["choices"][0]["message"]["role"] == "assistant"
    assert [entry["id"] for entry in json.loads(served.ask("GET", "/v1/models")[1])["data"]] == ["tiny-llama"]
    assert served.ask("GET", "/health")[0] == 200


@pytest.mark.parametrize("method, path, body, status, message", [
    ("POST", "/v1/completions", b"{no", 400, "the body is no JSON"),
    ("POST", "/v1/completions", b"[1]", 400, "expects an object as body, but got list"),
    ("POST", "/v1/completions", {}, 400, "expects 'prompt'"),
    ("POST", "/v1/completions", {"prompt": "\ud800"}, 400, "the prompt has no tokens"),
    ("POST", "/v1/completions", {"prompt": [1, True]}, 400, "expects 'prompt'"),
    ("POST", "/v1/completions", {"prompt": [7777]}, 400, "ids from 0 to 258"),
    ("POST", "/v1/completions", {"prompt": "a", "max_tokens": "b"}, 400, "expects 'max_tokens' of type int, but got str"),
    ("POST", "/v1/completions", {"prompt": "a", "max_tokens": 5000}, 400, "at most 1024 tokens"),
    ("POST", "/v1/completions", {"prompt": "a", "max_tokens": 0}, 400, "of at least 1"),
    ("POST", "/v1/completions", {"prompt": "a", "temperature": 3}, 400, "from 0.0 to 2.0"),
    ("POST", "/v1/completions", b'{"prompt": "a", "temperature": NaN}', 400, "from 0.0 to 2.0"),
    ("POST", "/v1/completions", {"prompt": "a", "model": "other"}, 404, "there is tiny-llama"),
    ("POST", "/v1/chat/completions", {"messages": [{"role": "user"}]}, 400, "expects 'messages'"),
    ("POST", "/v1/completions", b"x" * 30000, 413, "at most 20000 bytes, but got 30000"),
    ("GET", "/v1/completions", None, 405, "expects POST"),
    ("GET", "/other", None, 404, "there are /v1/completions"),
])
def test_what_is_refused(served, method, path, body, status, message):
    got, data, _ = served.ask(method, path, body)
    assert got == status and message in json.loads(data)["error"]["message"], data


def test_damaged_heads_are_refused(served):
    for head, status in ((b"nonsense\r\n\r\n", 400), (b"POST /v1/completions HTTP/1.1\r\nContent-Length: -4\r\n\r\n", 400),
                         (b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nx: " + b"y" * 40000, 431)):
        with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
            connection.sendall(head)
            assert connection.makefile("rb").readline().split()[1] == b"%d" % status


def test_a_client_that_goes_away_frees_its_pages(served):
    connection, file = served.stream(dict(prompt="a" * 200, max_tokens=700, **EVERY_REQUEST))
    assert file.readline().startswith(b"data: ") and served.metric("llm_pages_used") > 10
    before = served.metric('llm_requests_total{end="cancelled"}')
    file.close()
    connection.close()
    end = time.monotonic() + 20
    while served.metric("llm_pages_used") and time.monotonic() < end:
        time.sleep(0.05)
    assert served.metric("llm_pages_used") == 0 and served.metric('llm_requests_total{end="cancelled"}') == before + 1


def test_load(served):
    """32 requests at once of 16 to 512 tokens: nothing is lost, and everybody's text is that of one after the other."""
    numbers = random.Random(5)
    bodies = [dict(prompt="".join(numbers.choice("abcdef ") for _ in range(numbers.randint(1, 300))), max_tokens=numbers.choice([16, 32, 64, 128, 512]),
                   **EVERY_REQUEST) for _ in range(32)]
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda body: served.post(**body), bodies))
    assert [answer["usage"]["completion_tokens"] for answer in answers] == [body["max_tokens"] for body in bodies]
    for body, answer in list(zip(bodies, answers))[::8]:
        assert served.post(**{**body, "max_tokens": 16})["choices"][0]["text"][:8] == answer["choices"][0]["text"][:8]
    assert served.metric("llm_pages_used") == 0 and served.metric("llm_queue") == 0 and served.metric("llm_step_sizes") <= 12
    count = served.metric("llm_time_to_first_token_seconds_count")
    assert count >= 32 and served.metric('llm_time_to_first_token_seconds_bucket{le="+Inf"}') == count
    assert served.ask("GET", "/metrics")[1].decode().endswith("# EOF\n")


def test_a_full_queue_and_a_graceful_stop():
    server = Served("--running=1", "--waiting=1", "--grace=30")
    streams = [server.stream(dict(prompt="a", max_tokens=300, **EVERY_REQUEST))]
    assert streams[0][1].readline().startswith(b"data: ")  # it runs
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        second = pool.submit(server.post, prompt="b", max_tokens=200, **EVERY_REQUEST)
        while server.metric("llm_queue") < 1:
            time.sleep(0.01)
        status, data, headers = server.ask("POST", "/v1/completions", dict(prompt="c", **EVERY_REQUEST))
        assert status == 429 and headers["Retry-After"] == "1" and "wait already" in json.loads(data)["error"]["message"]
        assert server.end() == (0, "stopping\n")
        assert second.result()["usage"]["completion_tokens"] == 200
    assert events(streams[0][1])[-1]["usage"]["completion_tokens"] == 300
