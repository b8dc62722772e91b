# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokens chosen on the device, as part of the step: generate(do_sample=True) then reads one integer per sequence and token.

transformers' loop stays as it is. forward() (torch_xla._generate) samples from its logits and gives the loop logits in which the token
alone is possible; the loop has no processors left and takes the largest."""
import contextlib
import copy
import dataclasses
import functools
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch

_PROCESSORS = ("TemperatureLogitsWarper", "TopKLogitsWarper", "TopPLogitsWarper", "MinPLogitsWarper")


class _State:
    is_enabled = False
    has_warned = False


class _Switch(contextlib.AbstractContextManager["_Switch"]):
    """The state before comes back at the end of a `with` statement."""

    def __init__(self, enabled: bool):
        self.before, _State.is_enabled = _State.is_enabled, enabled

    def __exit__(self, *_: object) -> None:
        _State.is_enabled = self.before


def sample_on_device(enabled: bool = True) -> _Switch:
    """Lets generate(do_sample=True) of models on device xla choose tokens on the device, or no longer.

    Off by default: tokens are chosen on the CPU, with the numbers of torch.manual_seed(), and are those of PyTorch's CPU. On, the numbers
    are the device's: torch_xla.manual_seed() makes them again. Temperature, top-k, top-p and min-p run on the device; a generate() with
    another processor of logits, or one that returns scores or logits, chooses on the CPU and warns once.

    Args:
      enabled: Whether tokens are chosen on the device from now on.

    Returns:
      A context manager whose end restores what was set before; it may be left unused.
    """
    return _Switch(bool(enabled))


@dataclasses.dataclass
class Sampler:
    """What sampling applies to logits, in this order; None: nothing."""
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    least: int = 1  # the least number of tokens that stay possible
    scores: torch.Tensor | None = None  # the scores that the loop gets, which are reused for each token
    chosen: torch.Tensor | None = None

    def choose(self, logits: torch.Tensor) -> torch.Tensor:
        """Tokens [batch] of logits [batch, vocabulary], on their device."""
        # Scalars that are tensors are arguments of the program, so that another temperature compiles no program.
        def number(value: float) -> torch.Tensor:
            return torch.tensor(value, dtype=torch.float32)
        scores = logits.to(torch.float32)
        if self.temperature is not None:
            scores = scores / number(self.temperature)
        places = None
        if self.top_k is not None and self.top_k < scores.shape[-1]:
            scores, places = scores.topk(self.top_k)
        elif self.top_p is not None:
            scores, places = scores.sort(descending=True)
        if self.top_p is not None:
            if places is None:
                scores, places = scores.sort(descending=True)
            shares = scores.softmax(-1)
            # The first token is always possible, and so is the one that reaches the sum.
            scores = scores.masked_fill(self._is_beyond(shares.cumsum(-1) - shares >= number(self.top_p)), float("-inf"))
        if self.min_p is not None:
            shares = scores.softmax(-1)
            scores = scores.masked_fill(self._is_beyond(shares < number(self.min_p) * shares.amax(-1, keepdim=True), shares), float("-inf"))
        # Exponential variables whose rates are the tokens' probabilities: each token has the smallest one with its probability.
        clocks = -torch.log1p(-torch.rand(scores.shape, device=scores.device))
        place = (scores.softmax(-1) / clocks.clamp(min=1e-30)).argmax(-1, keepdim=True)
        return (place if places is None else places.gather(-1, place))[:, 0]

    def _is_beyond(self, mask: torch.Tensor, order: torch.Tensor | None = None) -> torch.Tensor:
        """`mask` without the `least` best tokens; those stand first unless `order` is given."""
        if order is None or self.least > 1 and order.shape[-1] > self.least:
            kept = torch.arange(mask.shape[-1], device=mask.device) < self.least if order is None \
                else order >= order.topk(self.least).values[:, -1:]
            return mask & ~kept
        return mask  # the best token never falls below its own threshold

    def as_scores(self, tokens: torch.Tensor, vocabulary: int) -> torch.Tensor:
        """Logits [batch, 1, vocabulary] of the CPU in which these tokens are the largest."""
        tokens = tokens.reshape(-1, 1, 1)
        if self.scores is None or self.scores.shape != (tokens.shape[0], 1, vocabulary):
            self.scores = torch.zeros(tokens.shape[0], 1, vocabulary)
        elif self.chosen is not None:
            self.scores.scatter_(-1, self.chosen, 0.0)
        self.chosen = tokens
        return self.scores.scatter_(-1, tokens, 1.0)


def sampler_for(processors: Any, config: Any) -> Sampler | None:
    """Returns the sampler that does what `processors` do; None, and a warning, where the device cannot."""
    other = next((type(each).__name__ for each in processors if type(each).__name__ not in _PROCESSORS
                  or getattr(each, "filter_value", float("-inf")) != float("-inf")), None)
    names = [type(each).__name__ for each in processors]
    if other is None and [name for name in _PROCESSORS if name in names] != names:
        other = "an unusual order of processors"
    if other is None and config.return_dict_in_generate and (config.output_scores or config.output_logits):
        other = "output_scores and output_logits"
    if other is not None:
        if not _State.has_warned:
            _State.has_warned = True
            warnings.warn(f"tokens are chosen on the CPU although sample_on_device() is on, because of {other}: the device supports temperature, "
                          "top_k, top_p and min_p.", UserWarning, stacklevel=2)
        return None
    sampler = Sampler()
    for each in processors:
        sampler.least = max(sampler.least, getattr(each, "min_tokens_to_keep", 1))
        for name in ("temperature", "top_k", "top_p", "min_p"):
            if hasattr(each, name):
                setattr(sampler, name, getattr(each, name))
    return sampler


def install(mixin: Any, call_of: Any) -> None:
    """Lets generate() of `mixin` sample on the device. `call_of`: of a model, what has a place for the sampler; None for others."""
    original = mixin._sample

    @functools.wraps(original)
    def sample(self: Any, input_ids: Any, logits_processor: Any, stopping_criteria: Any, generation_config: Any, **kwargs: Any) -> Any:
        call = call_of(self)
        sampler = None
        if call is not None and _State.is_enabled and generation_config.do_sample and not generation_config.is_assistant:
            sampler = sampler_for(logits_processor, generation_config)
        if sampler is None:
            return original(self, input_ids, logits_processor=logits_processor, stopping_criteria=stopping_criteria,
                            generation_config=generation_config, **kwargs)
        largest = copy.copy(generation_config)
        largest.do_sample = False
        with _sampling(call, sampler):
            return original(self, input_ids, logits_processor=sys.modules["transformers.generation.logits_process"].LogitsProcessorList(),
                            stopping_criteria=stopping_criteria, generation_config=largest, **kwargs)
    mixin._sample = sample


@contextlib.contextmanager
def _sampling(call: Any, sampler: Sampler) -> Iterator[None]:
    call.sampler = sampler
    try:
        yield
    finally:
        call.sampler = None
