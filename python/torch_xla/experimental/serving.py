# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Continuous batching for language models of transformers: requests join and leave a batch between two steps.

Keys and values are in pages, which requests with a common beginning share. A step computes at most so many tokens: first one token of every
request that is generating, then parts of prompts. Sizes of a step come from a few classes, so that few programs are compiled. A token's
values do not depend on what else is in its step. `examples/llm_server.py` serves this by HTTP."""
import collections
import dataclasses
import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

ATTENTION = "paged_xla"  # its name in transformers' AttentionInterface
QUERIES = 16  # the number of rows of one request in a block of a prompt
LEAST_ROWS = 32  # the least number of rows of a step: contractions of at most 16 rows add in an order that depends on their number (docs/accuracy.md)


class PagePool:
    """The pages of a cache by number: how often each is in use, and which ones hold the keys and values of known tokens.

    A page is in use while its count is not 0. A full page is known by the hash of its tokens and of all before them, until its memory is
    allocated again: the page that was released first is allocated first. Page 0 is never allocated; unused rows of a step are written there.
    Not thread-safe: the Engine calls it in its own thread.

    Args:
      pages: The number of pages, with page 0.
      page_size: The number of tokens of a page.

    Raises:
      ValueError: There are fewer than 2 pages, or a page has no token.
    """

    def __init__(self, pages: int, page_size: int) -> None:
        if pages < 2 or page_size < 1:
            raise ValueError(f"expects at least 2 pages of at least 1 token, but got {pages} of {page_size}")
        self.pages, self.page_size = pages, page_size
        self.counts = [0] * pages
        self._free = collections.OrderedDict.fromkeys(range(1, pages))
        self._known: dict[bytes, int] = {}
        self._hashes: dict[int, bytes] = {}
        self._forgotten = 0
        self.root = b""  # the hash before a sequence's first page

    @property
    def free(self) -> int:
        """The number of pages that can be allocated."""
        return len(self._free)

    @property
    def used(self) -> int:
        """The number of pages that are in use."""
        return self.pages - 1 - len(self._free)

    def allocate(self) -> int:
        """Returns a page that only the caller uses; its old contents are no longer known.

        Raises:
          MemoryError: No page is free.
        """
        if not self._free:
            raise MemoryError(f"all {self.pages - 1} pages are in use")
        page, _ = self._free.popitem(last=False)
        if (digest := self._hashes.pop(page, None)) is not None:
            del self._known[digest]
        self.counts[page] = 1
        return page

    def release(self, pages: Iterable[int]) -> None:
        """Reduces the count of each page by 1. Of a sequence that is released, the last pages are allocated again before the first ones.

        Args:
          pages: Numbers of pages, in the order of their tokens.

        Raises:
          ValueError: A page is not in use.
        """
        for page in reversed(list(pages)):
            if self.counts[page] < 1:
                raise ValueError(f"page {page} is not in use")
            self.counts[page] -= 1
            if self.counts[page] == 0:
                self._free[page] = None

    def forget(self) -> None:
        """From now on no page is known, and what begins with another `root` is another page. Those in use stay so."""
        self._known.clear()
        self._hashes.clear()
        self._forgotten += 1
        self.root = self._forgotten.to_bytes(8, "little")

    def digest(self, before: bytes, tokens: Sequence[int]) -> bytes:
        """Returns the hash that a full page is known by, 16 bytes.

        Args:
          before: The hash of the page before it in the sequence; `root` for the first page.
          tokens: The ids of its tokens, below 2**32.
        """
        return hashlib.blake2b(before + b"".join(int(token).to_bytes(4, "little") for token in tokens), digest_size=16).digest()

    def share(self, digests: Iterable[bytes]) -> list[int]:
        """Returns the pages of the first digests, as many as are known, and increases the count of each by 1.

        Args:
          digests: The hashes of a sequence's full pages, in order.
        """
        found = []
        for digest in digests:
            page = self._known.get(digest)
            if page is None:
                break
            if self.counts[page] == 0:
                del self._free[page]
            self.counts[page] += 1
            found.append(page)
        return found

    def publish(self, page: int, digest: bytes) -> None:
        """Records that a page is complete and which tokens it holds. A second page with the same tokens is not recorded.

        Args:
          page: The number of the page.
          digest: The hash of its tokens and of those before them.
        """
        if digest not in self._known and page not in self._hashes:
            self._known[digest], self._hashes[page] = page, digest


@dataclasses.dataclass(eq=False)
class Request:
    """One sequence to be continued.

    Args:
      prompt: The ids of its first tokens.
      max_tokens: How many tokens are generated at most.
      temperature: 0 takes the most likely token; otherwise logits are divided by it before one is drawn.
      top_k, top_p: Tokens that may be drawn: the `top_k` most likely ones (0: all), and of those the fewest that have probability `top_p`.
      seed: Of the random numbers.
      stop_ids: Tokens after which the sequence ends.
      on_token: Called with each token, and with None at the end, in the engine's thread.
    """
    prompt: list[int]
    max_tokens: int = 16
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    stop_ids: frozenset[int] = frozenset()
    on_token: Callable[[int | None], None] = lambda token: None
    generated: list[int] = dataclasses.field(default_factory=list)
    reason: str | None = None  # "length", "stop", "cancelled" or "error"; None: the request has not ended
    pages: list[int] = dataclasses.field(default_factory=list)
    digests: list[bytes] = dataclasses.field(default_factory=list)  # the hashes of its full pages that are published
    root: bytes = b""  # the hash before its first page
    computed: int = 0  # tokens whose keys and values are in pages
    shared: int = 0  # those among the computed tokens that were found in shared pages
    arrived_s: float = dataclasses.field(default_factory=time.monotonic)
    first_s: float | None = None
    last_s: float | None = None
    generator: torch.Generator | None = None

    @property
    def length(self) -> int:
        """The number of tokens of the prompt and its continuation so far."""
        return len(self.prompt) + len(self.generated)

    def tokens(self, start: int, end: int) -> list[int]:
        """Returns the tokens from `start` to `end` - 1.

        Args:
          start: The index of the first token; those of the continuation follow those of the prompt.
          end: The index after the last token.
        """
        prompt = len(self.prompt)
        return self.prompt[start:end] + self.generated[max(0, start - prompt):max(0, end - prompt)]


class _Rows:
    """What the rows of one step are, for attention: first `single` rows of one request each, then blocks of QUERIES rows."""

    def __init__(self, caches: list[tuple[torch.Tensor, torch.Tensor]], single: int, page_size: int, slots: torch.Tensor,
                 positions: torch.Tensor, tables: torch.Tensor) -> None:
        self.caches, self.single, self.page_size = caches, single, page_size
        self.slots, self.positions, self.tables = slots, positions, tables


def _attend(q: torch.Tensor, caches: tuple[torch.Tensor, torch.Tensor], tables: torch.Tensor, positions: torch.Tensor, page_size: int,
            kv_heads: int, scale: float, window: int | None, cap: float | None) -> torch.Tensor:
    """q (blocks, queries, heads, dim) at `positions` (blocks, queries) with the keys and values of `tables` (blocks, pages)."""
    blocks, queries, heads, dim = q.shape
    pages = caches[0].shape[0] // page_size // kv_heads  # the number of pages of one head
    tables = (tables.reshape(1, -1) + pages * torch.arange(kv_heads, device=q.device)[:, None]).reshape(-1)
    k, v = (cache.view(-1, page_size * cache.shape[-1]).index_select(0, tables).view(kv_heads, blocks, -1, cache.shape[-1]) for cache in caches)
    q = q.view(blocks, queries, kv_heads, heads // kv_heads, dim).permute(2, 0, 3, 1, 4).reshape(kv_heads, blocks, -1, dim)
    keys = torch.arange(k.shape[2], device=q.device)
    visible = keys <= positions[..., None]
    if window is not None:
        visible = visible & (keys > positions[..., None] - window)
    visible = visible[:, None].expand(-1, heads // kv_heads, -1, -1).reshape(1, blocks, -1, k.shape[2])
    scores = torch.matmul(q, k.transpose(-1, -2)).float() * scale
    if cap is not None:
        scores = cap * torch.tanh(scores / cap)
    weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), -1).to(v.dtype)
    result = torch.matmul(weights, v).view(kv_heads, blocks, heads // kv_heads, queries, -1)
    return result.permute(1, 3, 0, 2, 4).reshape(blocks, queries, heads, -1)


def _paged_attention(module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, scaling: float | None = None,
                     dropout: float = 0.0, sliding_window: int | None = None, softcap: float | None = None, paged_rows: _Rows | None = None,
                     **kwargs: Any) -> tuple[torch.Tensor, None]:
    """transformers' interface: query (1, heads, rows, dim), key and value (1, key heads, rows, dim) -> (1, rows, heads, dim)."""
    if paged_rows is None:
        raise ValueError(f"attention {ATTENTION!r} expects the rows of a step: call the model through torch_xla.experimental.serving.Engine")
    rows, caches = paged_rows, paged_rows.caches[module.layer_idx]
    kv_heads = key.shape[1]
    # Rows are copied along the first dimension, so that the update is in place.
    slots = (rows.slots + caches[0].shape[0] // kv_heads * torch.arange(kv_heads, device=key.device)[:, None]).reshape(-1)
    for cache, new in zip(caches, (key, value)):
        cache.index_copy_(0, slots, new[0].reshape(-1, new.shape[-1]).to(cache.dtype))
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    query = query[0].transpose(0, 1)
    parts, first = [], 0
    blocks = (query.shape[0] - rows.single) // QUERIES
    for count, queries in ((rows.single, 1), (blocks, QUERIES)):
        if count:
            end = first + count * queries
            table = rows.tables[:count] if queries == 1 else rows.tables[rows.single:]
            parts.append(_attend(query[first:end].view(count, queries, *query.shape[1:]), caches, table, rows.positions[first:end].view(count, queries),
                                 rows.page_size, kv_heads, scale, sliding_window, softcap).flatten(0, 1))
            first = end
    return torch.cat(parts)[None], None


def smallest_class(count: int, classes: Sequence[int]) -> int:
    """Returns the smallest class that is large enough.

    Args:
      count: The number that must fit.
      classes: Sizes in increasing order.

    Raises:
      StopIteration: All classes are smaller.
    """
    return next(size for size in classes if size >= count)


def _classes(largest: int, first: int) -> list[int]:
    """first, 4 * first, 16 * first, ... and `largest`."""
    sizes = []
    while first < largest:
        sizes.append(first)
        first *= 4
    return [*sizes, largest]


def sample(logits: torch.Tensor, request: Request) -> int:
    """Returns the next token of a request.

    Args:
      logits: The values of all tokens, a vector on the CPU.
      request: Its temperature, top_k, top_p and seed decide; it gets a random generator at the first draw.

    Raises:
      RuntimeError: A token is drawn, and the logits are not finite.
    """
    if request.temperature <= 0:
        return int(logits.argmax())
    if request.generator is None:
        request.generator = torch.Generator().manual_seed(request.seed)
    logits = logits.double() / request.temperature
    if request.top_k and request.top_k < logits.numel():
        logits = logits.masked_fill(logits < torch.topk(logits, request.top_k).values[-1], float("-inf"))
    probabilities = torch.softmax(logits, -1)
    if request.top_p < 1:
        ordered, order = torch.sort(probabilities, descending=True, stable=True)
        ordered[1:][(ordered.cumsum(0) - ordered)[1:] >= request.top_p] = 0
        probabilities = torch.zeros_like(probabilities).scatter(0, order, ordered)
    return int(torch.multinomial(probabilities, 1, generator=request.generator))


class Engine:
    """Runs requests on a model, all that are there in one batch.

    submit() and cancel() may be called from any thread. Steps are made by step(), or by a thread between start() and stop().

    Args:
      model: A causal model of transformers whose attention goes through its AttentionInterface (Llama, Qwen, Gemma, Mistral, …). It is moved to
        `device`, and its attention implementation is set.
      device: Of PyTorch.
      pages: How many pages the cache has; page 0 is not for tokens.
      page_size: Tokens of a page.
      max_length: Tokens of one sequence at most; by default what the model and the pages allow.
      max_running: Requests in one step at most.
      prefill_tokens: Tokens of prompts in one step at most; a multiple of QUERIES.
      max_waiting: Requests that wait at most.
    """

    def __init__(self, model: Any, device: str = "xla", pages: int = 257, page_size: int = 16, max_length: int | None = None,
                 max_running: int = 32, prefill_tokens: int = 64, max_waiting: int = 64) -> None:
        import transformers
        if prefill_tokens < QUERIES or prefill_tokens % QUERIES:
            raise ValueError(f"expects prefill_tokens to be a multiple of {QUERIES}, but got {prefill_tokens}")
        transformers.AttentionInterface.register(ATTENTION, _paged_attention)
        config = model.config.get_text_config()
        self.device, self.max_running, self.max_waiting = torch.device(device), max_running, max_waiting
        self.pool = PagePool(pages, page_size)
        limit = min(config.max_position_embeddings, (pages - 1) * page_size)
        self.max_length = limit if max_length is None else min(limit, max_length)
        self.vocabulary = config.vocab_size
        self.model = model.eval().to(self.device)
        self.model.set_attn_implementation(ATTENTION)
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        dtype = next(model.parameters()).dtype
        self._caches = [tuple(torch.zeros(heads * pages * page_size, dim, dtype=dtype, device=self.device) for _ in range(2))
                        for _ in range(config.num_hidden_layers)]
        self._end_of_program()
        self._single_classes = _classes(max(max_running, LEAST_ROWS), LEAST_ROWS)
        self._block_classes = [0, prefill_tokens // QUERIES]
        self._page_classes = _classes(-(-self.max_length // page_size), min(8, -(-self.max_length // page_size)))
        self._changed = threading.Condition()
        self._waiting: collections.deque[Request] = collections.deque()
        self._running: list[Request] = []
        self._cancelled: set[Request] = set()
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        self.failure: BaseException | None = None
        self.steps = self.prompt_tokens = self.shared_tokens = self.generated_tokens = self.preemptions = self.most_pages = 0
        self.sizes: set[tuple[int, int, int]] = set()  # the sizes of steps so far: single rows, blocks, pages per sequence

    @property
    def cache_bytes(self) -> int:
        """Bytes of all keys and values."""
        return sum(t.numel() * t.element_size() for pair in self._caches for t in pair)

    @property
    def waiting(self) -> int:
        """The number of requests that have not begun."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """The number of requests that take part in steps."""
        return len(self._running)

    def submit(self, request: Request) -> None:
        """Adds a request, which begins as soon as a step has room for it.

        Raises:
          ValueError: It is empty, too long, or has ids that the model does not have.
          OverflowError: Too many requests wait already.
          RuntimeError: The engine has stopped.
        """
        if not request.prompt:
            raise ValueError("expects a prompt of at least one token")
        if request.max_tokens < 1:
            raise ValueError(f"expects max_tokens of at least 1, but got {request.max_tokens}")
        if len(request.prompt) + request.max_tokens > self.max_length:
            raise ValueError(f"expects at most {self.max_length} tokens, but got {len(request.prompt)} of the prompt and max_tokens {request.max_tokens}")
        if not all(0 <= token < self.vocabulary for token in request.prompt):
            raise ValueError(f"expects ids from 0 to {self.vocabulary - 1}")
        with self._changed:
            if self._is_stopping or self.failure is not None:
                raise RuntimeError("the engine has stopped")
            if len(self._waiting) >= self.max_waiting:
                raise OverflowError(f"{len(self._waiting)} requests wait already")
            self._waiting.append(request)
            self._changed.notify()

    def cancel(self, request: Request) -> None:
        """Ends a request before the next step; one that has ended stays as it is. May be called from any thread.

        Args:
          request: The request, which was submitted.
        """
        with self._changed:
            self._cancelled.add(request)
            self._changed.notify()

    def start(self) -> None:
        """Starts the thread that runs steps, and returns at once."""
        self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
        self._thread.start()

    def stop(self, grace_s: float = 0.0) -> None:
        """Accepts no more requests, waits for the present ones, cancels the rest and ends the thread.

        Args:
          grace_s: The longest time to wait, in seconds.
        """
        end = time.monotonic() + grace_s
        with self._changed:
            self._is_stopping = True
            while self._thread is not None and (self._waiting or self._running) and (left := end - time.monotonic()) > 0:
                self._changed.wait(min(left, 0.1))
            self._cancelled.update(self._waiting, self._running)
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        else:
            self._drop_cancelled()

    def run(self, requests: Iterable[Request]) -> list[list[int]]:
        """Generates the continuations of requests in the calling thread, without start().

        Args:
          requests: The requests, at most `max_waiting` of them.

        Returns:
          The generated tokens per request.

        Raises:
          ValueError: A request is invalid, see submit().
          OverflowError: There are more than `max_waiting` requests.
        """
        requests = list(requests)
        for request in requests:
            self.submit(request)
        while any(request.reason is None for request in requests):
            self.step()
        return [request.generated for request in requests]

    def _serve(self) -> None:
        try:
            while True:
                with self._changed:
                    while not (self._waiting or self._running or self._cancelled or self._is_stopping):
                        self._changed.wait()
                    self._changed.notify_all()
                    if self._is_stopping and not (self._waiting or self._running):
                        return
                self.step()
        except BaseException as error:  # a request that waits for a dead thread would wait forever
            self.failure = error
            with self._changed:
                left = [*self._running, *self._waiting]
                self._running.clear()
                self._waiting.clear()
            for request in left:
                self._end(request, "error")
            raise

    def _end(self, request: Request, reason: str) -> None:
        self.pool.release(request.pages)
        request.pages, request.reason = [], reason
        request.on_token(None)

    def _drop_cancelled(self) -> None:
        with self._changed:
            cancelled, self._cancelled = self._cancelled, set()
            self._running = [request for request in self._running if request not in cancelled]
            self._waiting = collections.deque(request for request in self._waiting if request not in cancelled)
        for request in cancelled:
            if request.reason is None:
                self._end(request, "cancelled")

    def _begin(self, request: Request) -> None:
        """Finds the pages of the request's first tokens that others computed. At least one token is left to compute."""
        size, digests = self.pool.page_size, []
        before = request.root = self.pool.root
        for end in range(size, request.length, size):
            before = self.pool.digest(before, request.tokens(end - size, end))
            digests.append(before)
        request.pages = self.pool.share(digests)
        request.digests = digests[:len(request.pages)]
        request.computed = request.shared = len(request.pages) * size
        self.shared_tokens += request.shared

    def _reserve(self, request: Request, end: int) -> bool:
        """Returns whether the request has pages for its tokens before `end` now; requests that came later lose theirs for it."""
        while len(request.pages) * self.pool.page_size < end:
            if not self.pool.free:
                last = self._running[-1]
                if last is request:
                    return False
                self._running.pop()
                self._pause(last)
                continue
            request.pages.append(self.pool.allocate())
        return True

    def _pause(self, request: Request) -> None:
        """Back to the front of the queue: its tokens are computed again later, as far as its pages are gone by then."""
        self.pool.release(request.pages)
        request.pages, request.digests, request.computed = [], [], 0
        self.preemptions += 1
        with self._changed:
            self._waiting.appendleft(request)

    def _plan(self) -> list[tuple[Request, int]]:
        """Returns (request, number of its next tokens) for this step."""
        plan, before = [], self.preemptions
        for request in list(self._running):  # the oldest first
            if request in self._running and request.length - request.computed == 1 and request.computed >= len(request.prompt):
                if self._reserve(request, request.length):
                    plan.append((request, 1))
                else:
                    self._running.remove(request)
                    self._pause(request)
        blocks = self._block_classes[-1]
        while blocks and self.preemptions == before:  # otherwise there is no memory for more
            begun = {id(request) for request, _ in plan}
            running = next((r for r in self._running if id(r) not in begun), None)
            if running is not None:
                request = running
            else:
                with self._changed:
                    if not self._waiting or len(self._running) >= self.max_running:
                        break
                    request = self._waiting.popleft()
                    self._running.append(request)
                self._begin(request)
            count = min(request.length - request.computed, blocks * QUERIES)
            if not self._reserve(request, request.computed + count):
                self._running.remove(request)
                self._pause(request)
                break
            plan.append((request, count))
            blocks -= -(-count // QUERIES)
        return [(request, count) for request, count in plan if request in self._running]  # without those that lost their pages

    def step(self) -> int:
        """Runs one step in the calling thread; not while the thread of start() runs.

        Returns:
          The number of tokens that were computed; 0 if there was nothing to do.
        """
        self._drop_cancelled()
        plan = self._plan()
        self.most_pages = max(self.most_pages, self.pool.used)
        if not plan:
            return 0
        logits = self._compute(plan)
        now, row = time.monotonic(), 0
        for request, count in plan:
            self.prompt_tokens += min(count, max(0, len(request.prompt) - request.computed))
            request.computed += count
            self._publish(request)
            if request.computed == request.length:
                try:
                    token = self._choose(logits[row], request)
                except RuntimeError:  # the model's logits are not finite
                    with self._changed:
                        self._running.remove(request)
                    self._end(request, "error")
                else:
                    self._accept(request, token, now)
            row += 1
        self.steps += 1
        return sum(count for _, count in plan)

    def _choose(self, logits: torch.Tensor, request: Request) -> int:
        """The next token of a request; RuntimeError ends it."""
        return sample(logits, request)

    def forget(self) -> None:
        """Keys and values so far are no longer shared with requests that begin later; for weights that have changed. Not while a step runs."""
        self.pool.forget()

    def _publish(self, request: Request) -> None:
        size = self.pool.page_size
        while (len(request.digests) + 1) * size <= request.computed:
            number = len(request.digests)
            digest = self.pool.digest(request.digests[-1] if number else request.root, request.tokens(number * size, (number + 1) * size))
            request.digests.append(digest)
            self.pool.publish(request.pages[number], digest)

    def _accept(self, request: Request, token: int, now: float) -> None:
        request.generated.append(token)
        request.first_s, request.last_s = request.first_s or now, now
        self.generated_tokens += 1
        request.on_token(token)
        if token in request.stop_ids or len(request.generated) == request.max_tokens:
            with self._changed:
                self._running.remove(request)
            self._end(request, "stop" if token in request.stop_ids else "length")

    def _compute(self, plan: list[tuple[Request, int]]) -> torch.Tensor:
        """Logits after the last token of each request of the plan, on the CPU."""
        page_size = self.pool.page_size
        singles = [(request, count) for request, count in plan if request.computed >= len(request.prompt) and count == 1]
        blocks = [(request, start, min(QUERIES, request.computed + count - start)) for request, count in plan if (request, count) not in singles
                  for start in range(request.computed, request.computed + count, QUERIES)]
        single, many = smallest_class(len(singles), self._single_classes), smallest_class(len(blocks), self._block_classes)
        width = smallest_class(max(len(request.pages) for request, _ in plan), self._page_classes)
        self.sizes.add((single, many, width))
        rows = single + many * QUERIES
        ids, positions, slots = ([0] * rows for _ in range(3))
        tables = [[0] * width for _ in range(single + many)]
        last: dict[int, int] = {}
        places = [(place, place, request, request.computed, 1) for place, (request, _) in enumerate(singles)]
        places += [(single + place * QUERIES, single + place, request, start, count) for place, (request, start, count) in enumerate(blocks)]
        for row, table, request, start, count in places:
            tables[table][:len(request.pages)] = request.pages
            for offset, token in enumerate(request.tokens(start, start + count)):
                position = start + offset
                ids[row + offset], positions[row + offset] = token, position
                slots[row + offset] = request.pages[position // page_size] * page_size + position % page_size
            last[id(request)] = row + count - 1
        chosen = [last[id(request)] for request, _ in plan]
        chosen += [0] * (single + many - len(chosen))
        given = [torch.tensor(values).to(self.device) for values in (ids, positions, slots, chosen, tables)]
        with torch.no_grad():
            paged = _Rows(self._caches, single, page_size, given[2], given[1], given[4])
            logits = self.model(input_ids=given[0][None], position_ids=given[1][None], use_cache=False, logits_to_keep=given[3],
                                paged_rows=paged).logits[0].float()
            if self.device.type == "xla":
                logits = logits.clone()  # a clone, because reading a view of a result would need a program of its own
            self._end_of_program()
        return logits.cpu()

    def _end_of_program(self) -> None:
        """What was recorded, and no more, is one program."""
        if self.device.type == "xla":
            from .. import _step
            _step._barrier(wait=False)
