# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of transformers' continuous batching, generate_batch() and init_continuous_batching(): for models on the device with a manager of ours."""
import functools
import inspect
from typing import Any

# What generate() does with these is more than a processor of logits, or needs an encoder.
_REFUSED = ("guidance_scale", "num_beams", "stop_strings", "max_time", "prompt_lookup_num_tokens", "encoder_repetition_penalty",
            "encoder_no_repeat_ngram_size", "force_words_ids", "constraints", "assistant_early_exit", "penalty_alpha")
_WITHOUT_EFFECT = (None, 0, 1, 1.0, 0.0)


def _refuse_what_is_missing(config: Any, others: dict[str, Any]) -> None:
    wanted = [f"{name}={value!r}" for name in _REFUSED if (value := getattr(config, name, None)) not in _WITHOUT_EFFECT]
    wanted += [f"{name}={value!r}" for name, value in others.items()]
    if wanted:
        raise NotImplementedError(f"continuous batching on device xla does not support {', '.join(wanted)}: use generate() (docs/guide/language-models.md)")


def use(mixin: Any) -> None:
    """`mixin`: transformers.GenerationMixin."""
    original_batch, original_init = getattr(mixin, "generate_batch", None), getattr(mixin, "init_continuous_batching", None)
    if original_batch is None or original_init is None:
        return

    def is_ours(model: Any) -> bool:
        parameter = next(model.parameters(), None)
        return parameter is not None and parameter.device.type == "xla"

    @functools.wraps(original_init)
    def init_continuous_batching(self: Any, generation_config: Any = None, continuous_batching_config: Any = None, workload_hints: Any = None) -> Any:
        if not is_ours(self):
            return original_init(self, generation_config=generation_config, continuous_batching_config=continuous_batching_config,
                                 workload_hints=workload_hints)
        from transformers.generation.configuration_utils import ContinuousBatchingConfig

        from ._continuous_batching import XlaContinuousBatchingManager
        kept = getattr(self, "_cached_continuous_batching_manager", None)
        if isinstance(kept, XlaContinuousBatchingManager):
            return kept
        config = generation_config if generation_config is not None else self.generation_config
        batching = continuous_batching_config
        if batching is None:
            batching = getattr(config, "continuous_batching_config", None) or ContinuousBatchingConfig()
        _refuse_what_is_missing(config, {})
        return XlaContinuousBatchingManager(self, config, batching, workload_hints)
    mixin.init_continuous_batching = init_continuous_batching

    @functools.wraps(original_batch)
    def generate_batch(self: Any, inputs: Any, generation_config: Any = None, *args: Any, **kwargs: Any) -> Any:
        if is_ours(self):  # transformers ignores what it does not know
            known = inspect.signature(original_batch).parameters
            _refuse_what_is_missing(generation_config if generation_config is not None else self.generation_config,
                                    {name: value for name, value in kwargs.items() if name not in known and name != "max_new_tokens"})
        return original_batch(self, inputs, generation_config, *args, **kwargs)
    mixin.generate_batch = generate_batch
