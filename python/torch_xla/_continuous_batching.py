# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transformers' ContinuousBatchingManager for models on the device; _generate_batch.py imports it when transformers is there.

The manager's thread, queues, results and states of requests are transformers' own; what computes between them is experimental.serving's engine. Their
processor of batches wants streams and kernels of a GPU, and joins keys and values to tensors of another length in each step. Tokens are chosen on the
CPU, by the processors of logits that generate() has for the same configuration, with all tokens of the request."""
import contextlib
import copy
import functools
import threading
from collections.abc import Iterator
from typing import Any

import torch
from transformers import GenerationConfig
from transformers.generation.continuous_batching.continuous_api import ContinuousBatchingManager
from transformers.generation.continuous_batching.requests import RequestStatus
from transformers.generation.continuous_batching.utils import drain_queue

from ._size_classes import size_class
from .experimental.serving import ATTENTION, Engine, Request

_PER_REQUEST = {"temperature": float, "top_k": int, "top_p": float}  # what a request may have of its own with per_request_processors
_PAGE = 16  # tokens of a page; what the configuration says of pages is a number of tokens
_RUNNING = 64  # requests in a step at most, where nobody says
_TOKENS = 1 << 16  # tokens in the cache at most, where nobody says
_PROMPT_TOKENS = 64  # tokens of prompts in a step, where nobody says


def _ids(token: int | list[int] | None) -> list[int]:
    """The ids that end a sequence; -1 is transformers' word for none."""
    return [] if token is None else [int(each) for each in (token if isinstance(token, (list, tuple)) else [token]) if each >= 0]


class ManagedRequest(Request):
    """A request of the engine for one of transformers' states."""

    def __init__(self, state: Any, limit: int, ends: list[int], seed: int, processors: Any) -> None:
        super().__init__([int(token) for token in state.initial_tokens], limit, seed=seed, stop_ids=frozenset(ends))
        self.state, self.processors = state, processors
        self.logprob: float | None = None  # of the token that was chosen last


class ManagedEngine(Engine):
    """Chooses tokens as generate() does; a processor that fails ends its request only."""

    def __init__(self, model: Any, do_sample: bool, wants_logprobs: bool, shares_pages: bool, **sizes: int) -> None:
        super().__init__(model, str(next(model.parameters()).device), page_size=_PAGE, **sizes)
        self.do_sample, self.wants_logprobs, self.shares_pages = do_sample, wants_logprobs, shares_pages

    def _begin(self, request: Any) -> None:
        if request.state.status == RequestStatus.PENDING:
            request.state.status = RequestStatus.PREFILLING
        super()._begin(request)

    def _publish(self, request: Any) -> None:
        if self.shares_pages:
            super()._publish(request)

    def _choose(self, logits: torch.Tensor, request: Any) -> int:
        try:
            scores = logits
            if request.processors:
                scores = request.processors(torch.tensor([request.tokens(0, request.length)]), logits[None].clone())[0]
            if self.do_sample:
                if request.generator is None:
                    request.generator = torch.Generator().manual_seed(request.seed)
                token = int(torch.multinomial(torch.softmax(scores, -1), 1, generator=request.generator))
            else:
                token = int(scores.argmax())
            request.logprob = float(torch.log_softmax(scores, -1)[token]) if self.wants_logprobs else None
        except Exception as error:
            request.state.error = str(error) or type(error).__name__
            raise RuntimeError(request.state.error) from error
        return token


class Steps:
    """What transformers' loop asks of its processor of batches."""
    use_async_batching = False
    inputs_and_outputs = None

    def __init__(self, manager: Any, engine: Any) -> None:
        self.manager, self.engine = manager, engine
        self._requests: dict[str, Any] = {}
        self._outputs: list[Any] = []

    def reset(self) -> None:
        """Called before a thread begins."""
        self._requests.clear()
        self.engine.forget()

    def prepare_next_batch(self) -> bool:
        """Takes what is new. Returns whether there is something to compute."""
        status = self.manager.background_thread_status
        status.update_with_tp_status(status.local_status)
        if status.tp_status == status.HARD_STOP:
            return False
        if status.is_pause_requested():
            status.pause_and_wait()
            self.engine.forget()  # weights may have changed
        for state in drain_queue(self.manager.input_queue):
            self._add(state)
        for name in drain_queue(self.manager.cancel_queue):
            if name in self._requests:
                self.engine.cancel(self._requests[name])
        return self.has_pending_requests()

    def update_batch(self) -> None:
        """Computes a step and hands over what it gave."""
        self.engine.step()
        outputs, self._outputs = self._outputs, []
        if outputs:
            self.manager.output_router.deliver_batch(outputs)

    def has_pending_requests(self) -> bool:
        """Returns whether a request waits or runs."""
        return bool(self.engine.waiting or self.engine.running)

    def fail_all_requests(self, error: Exception) -> None:
        """Ends all requests with an error."""
        requests = list(self._requests.values())
        for request in requests:
            self._handle_request_error(error, request.state)
            self.engine.cancel(request)
        self.engine._drop_cancelled()
        self._requests.clear()

    def _handle_request_error(self, error: Exception, state: Any) -> None:
        self.manager.output_router.fail_and_deliver(state, error)

    def _add(self, state: Any) -> None:
        children = [state.fork(f"{state.request_id}__child#{number}") for number in range(state.num_children)]
        for each in (*children, state):
            each.num_children = 0
            try:
                request = self.manager._as_request(each, self.engine.max_length)
                request.on_token = functools.partial(self._note, request)
                self.engine.submit(request)
            except Exception as error:  # of this request; the others go on
                self._handle_request_error(error, each)
            else:
                self._requests[each.request_id] = request

    def _note(self, request: Any, token: int | None) -> None:
        """In the engine's step: the next token of a request, or its end."""
        state = request.state
        if token is not None:
            if not state.generated_tokens:
                state.status = RequestStatus.DECODING
            is_finished = state.update_and_check_completion(token, request.logprob)
            if state.streaming or is_finished:
                self._outputs.append(state.to_generation_output())
            return
        if self._requests.get(state.request_id) is request:
            del self._requests[state.request_id]
        if request.reason == "error":
            state.error = state.error or "the model's logits are not finite"
            state.status = RequestStatus.FAILED
            self._outputs.append(state.to_generation_output())


class XlaContinuousBatchingManager(ContinuousBatchingManager):
    """transformers' manager, whose steps are an Engine's."""

    def __init__(self, model: Any, generation_config: Any, continuous_batching_config: Any, workload_hints: Any = None) -> None:
        self._asked, self._hints, self._pauses, self._pausing = copy.copy(continuous_batching_config), workload_hints, 0, threading.Lock()
        was_training = model.training
        super().__init__(model, GenerationConfig(), continuous_batching_config, workload_hints)  # no processors: each request has its own
        model.train(was_training)
        self._was_training = was_training
        self.generation_config = copy.copy(generation_config)
        if self.generation_config.eos_token_id is None:
            self.generation_config.eos_token_id = -1  # as transformers has it: without one, the model's is not taken
        self.num_return_sequences = getattr(generation_config, "num_return_sequences", None) or 1
        seed = self._asked.seed if self._asked.seed is not None else int(torch.randint(1 << 62, ()))  # depends on torch.manual_seed()
        self._seeds = torch.Generator().manual_seed(seed)

    def switch_to_cb_friendly_attn(self, model: Any, auto_switch_to_flash: bool = True) -> None:
        """The model's attention is another while steps are computed; see start()."""

    def warmup(self) -> None:
        """Does nothing: a program is compiled when a step first has its sizes, and comes from the cache of programs later."""
        self.warmed_up = True

    def start(self) -> None:
        """Starts the thread; what the engine does not know of the model is said here."""
        if not self.is_running():
            self._was_training, self._plain_attention = self.model.training, self.model.config._attn_implementation
            try:
                self.batch_processor = self._create_batch_processor()
                self._use_paged_attention()
            except BaseException:
                self._use_plain_attention()
                raise
        super().start()

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        """Inside, no step is computed, and the model is as it was before start()."""
        with super().pause():
            with self._pausing:
                self._pauses += 1
                if self._pauses == 1:
                    self._use_plain_attention()
            try:
                yield
            finally:
                with self._pausing:
                    self._pauses -= 1
                    if not self._pauses:
                        self._use_paged_attention()

    def _use_paged_attention(self) -> None:
        self.model.eval().set_attn_implementation(ATTENTION)

    def _use_plain_attention(self) -> None:
        self.model.set_attn_implementation(self._plain_attention)
        self.model.train(self._was_training)

    def _run_generation_loop(self) -> None:
        try:
            super()._run_generation_loop()
        finally:
            self._use_plain_attention()

    def _generation_step(self) -> None:
        """Nothing: Steps.update_batch() computes and hands over."""

    def _create_batch_processor(self) -> Any:
        steps = getattr(self, "batch_processor", None)
        if steps is None:
            return Steps(self, self._make_engine())
        steps.reset()
        return steps

    def _make_engine(self) -> Any:
        asked, hints = self._asked, self._hints
        positions = self.model.config.get_text_config().max_position_embeddings
        length = positions
        if hints is not None and hints.max_prompt_length and hints.max_generated_length:
            length = hints.max_prompt_length + hints.max_generated_length
        running = min(asked.max_requests_per_batch or _RUNNING, hints.num_requests if hints is not None and hints.num_requests else 1 << 20)
        if asked.num_blocks:
            pages = asked.num_blocks * asked.page_size // _PAGE
        else:
            pages = size_class(min(running * -(-length // _PAGE), max(_TOKENS, length) // _PAGE))
        prompt_tokens = max(1, (asked.max_batch_tokens or _PROMPT_TOKENS) // _PAGE) * _PAGE
        most = asked.max_requests_per_batch or size_class(running)
        return ManagedEngine(self.model, bool(self.generation_config.do_sample), asked.return_logprobs, asked.allow_block_sharing, pages=1 + pages,
                             max_length=size_class(length), max_running=most, prefill_tokens=prompt_tokens, max_waiting=1 << 62)

    def _as_request(self, state: Any, longest: int) -> Any:
        """The engine's request for a state.

        Raises:
          ValueError, TypeError: It asks for what the manager does not do.
        """
        given, prompt = state.logit_processor_kwargs, len(state.initial_tokens)
        if given and not self._asked.per_request_processors:
            raise ValueError(f"{', '.join(given)} of one request: expects ContinuousBatchingConfig(per_request_processors=True)")
        for name, value in given.items():
            if name not in _PER_REQUEST:
                raise ValueError(f"expects {', '.join(_PER_REQUEST)} of one request, but got {name}")
            if not isinstance(value, _PER_REQUEST[name]):
                raise TypeError(f"expects {name} of type {_PER_REQUEST[name].__name__}, but got {value!r}")
        limit = state.max_new_tokens if state.max_new_tokens is not None else max(1, longest - prompt)
        ends = _ids(state.eos_token_id)
        config = copy.copy(self.generation_config)
        for name, value in given.items():
            setattr(config, name, value)
        config.eos_token_id, config.max_length = ends or None, prompt + limit
        self.model._prepare_special_tokens(config, device="cpu")
        processors = self.model._get_logits_processor(config, input_ids_seq_length=prompt, device="cpu")
        seed = int(torch.randint(1 << 62, (), generator=self._seeds))
        return ManagedRequest(state, limit, ends, seed, processors)
