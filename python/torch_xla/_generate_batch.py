# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transformers' generate_batch() for models on the device: by experimental.serving's engine. Their own manager wants streams and kernels of a GPU, and
joins keys and values to tensors of another length in each step."""
import functools
import time
from typing import Any

import torch

from ._size_classes import size_class

_CONFIGURED = ("repetition_penalty", "min_length", "min_new_tokens", "no_repeat_ngram_size", "bad_words_ids", "typical_p", "min_p", "epsilon_cutoff",
               "eta_cutoff", "forced_bos_token_id", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens", "sequence_bias", "guidance_scale",
               "num_beams", "stop_strings", "max_time", "watermarking_config", "prompt_lookup_num_tokens", "top_h", "encoder_repetition_penalty",
               "exponential_decay_length_penalty", "force_words_ids", "constraints", "assistant_early_exit", "penalty_alpha")
_WITHOUT_EFFECT = (None, 0, 1, 1.0, 0.0)


def _note_time(times: list[float], token: int | None) -> None:
    """Records the time of a token; None is the end of the sequence."""
    if token is not None:
        times.append(time.perf_counter())


def _refuse_what_is_missing(config: Any, batching: Any, others: dict[str, Any]) -> None:
    wanted = [f"{name}={value!r}" for name in _CONFIGURED if (value := getattr(config, name, None)) not in _WITHOUT_EFFECT]
    wanted += [f"{name}={value!r}" for name, value in others.items()]
    if getattr(batching, "return_logprobs", False):
        wanted.append("return_logprobs=True")
    if wanted:
        raise NotImplementedError(f"generate_batch() on device xla does not support {', '.join(wanted)}: use generate() (docs/guide/language-models.md)")


def _generate_batch(model: Any, inputs: list[list[int]], generation_config: Any, batching: Any, max_new_tokens: int | None, timestamps: bool) -> dict[str, Any]:
    from transformers.generation.continuous_batching.requests import GenerationOutput, RequestStatus
    from .experimental.serving import Engine, Request
    config = generation_config if generation_config is not None else model.generation_config
    limit = max_new_tokens if max_new_tokens is not None else config.max_new_tokens
    longest = max(len(prompt) for prompt in inputs)
    if limit is None:
        limit = model.config.get_text_config().max_position_embeddings - longest
    ends = config.eos_token_id
    ends = frozenset(() if ends is None else ends if isinstance(ends, list) else [ends])
    copies = config.num_return_sequences or 1
    sampling: dict[str, Any] = {}
    if config.do_sample:
        sampling = dict(temperature=config.temperature or 1.0, top_k=config.top_k or 0, top_p=1.0 if config.top_p is None else config.top_p)
    requests, times = [], []
    for prompt in inputs:
        for _ in range(copies):
            seed = int(torch.randint(1 << 62, ())) if config.do_sample else 0  # the seed depends on torch.manual_seed()
            spent: list[float] = []
            times.append(spent)
            requests.append(Request([int(token) for token in prompt], limit, **sampling, seed=seed, stop_ids=ends,
                                    on_token=functools.partial(_note_time, spent)))
    page = 16
    running = min(len(requests), getattr(batching, "max_requests_per_batch", None) or 64)
    wanted = 1 + sum(sorted(-(-(len(request.prompt) + limit) // page) for request in requests)[-running:])
    begun, before, was_training = time.perf_counter(), model.config._attn_implementation, model.training
    try:
        engine = Engine(model, str(next(model.parameters()).device), size_class(wanted), page, size_class(longest + limit),
                        max_running=size_class(running), max_waiting=len(requests))
        engine.run(requests)
    finally:
        model.set_attn_implementation(before)
        model.train(was_training)
    results = {}
    for number, (request, spent) in enumerate(zip(requests, times)):
        parent, child = divmod(number, copies)
        name = f"req_{parent}" if child == copies - 1 else f"req_{parent}__child#{child}"
        results[name] = GenerationOutput(
            request_id=name, prompt_ids=request.prompt, generated_tokens=request.generated, error=None if request.reason in ("stop", "length") else request.reason,
            status=RequestStatus.FINISHED if request.reason in ("stop", "length") else RequestStatus.FAILED, created_time=begun,
            lifespan=(begun, spent[-1] if spent else begun), timestamps=spent if timestamps else None)
    return results


def use(mixin: Any) -> None:
    """`mixin`: transformers.GenerationMixin."""
    original, original_manager = getattr(mixin, "generate_batch", None), getattr(mixin, "init_continuous_batching", None)
    if original is None or original_manager is None:
        return

    def is_ours(model: Any) -> bool:
        parameter = next(model.parameters(), None)
        return parameter is not None and parameter.device.type == "xla"

    @functools.wraps(original)
    def generate_batch(self: Any, inputs: Any, generation_config: Any = None, continuous_batching_config: Any = None, record_timestamps: bool = False,
                       progress_bar: bool = False, persistent_manager: bool = False, warmup: bool = True, **kwargs: Any) -> Any:
        if not is_ours(self):
            return original(self, inputs, generation_config=generation_config, continuous_batching_config=continuous_batching_config,
                            record_timestamps=record_timestamps, progress_bar=progress_bar, persistent_manager=persistent_manager, warmup=warmup, **kwargs)
        if not inputs:
            return {}
        limit = kwargs.pop("max_new_tokens", None)
        _refuse_what_is_missing(generation_config if generation_config is not None else self.generation_config, continuous_batching_config, kwargs)
        return _generate_batch(self, inputs, generation_config, continuous_batching_config, limit, record_timestamps)
    mixin.generate_batch = generate_batch

    @functools.wraps(original_manager)
    def init_continuous_batching(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_ours(self):
            raise NotImplementedError("transformers' ContinuousBatchingManager does not run on device xla: use model.generate_batch(), or "
                                      "torch_xla.experimental.serving.Engine, whose requests join and leave while it runs (docs/guide/language-models.md)")
        return original_manager(self, *args, **kwargs)
    mixin.init_continuous_batching = init_continuous_batching
